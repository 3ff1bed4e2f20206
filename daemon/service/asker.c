/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/epoll.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include "asker.h"
#include "peer.h"
#include "unit-status.h"

#define LOGIN_DESTINATION "org.freedesktop.login1"

/* The manager has two connections at a time. */
#define CLIENTS_MAX 8U

typedef struct Asker Asker;

typedef struct Client Client;
struct Client {
        Asker *asker;
        sd_bus *bus, *systemd, *login; /* the last two from the first call on */
        bool gone;                     /* freed when its connection is not being dispatched any more */
        Client *next;
};

struct Asker {
        sd_event *event;
        const AskerTargets *targets;
        bool (*accepts)(int fd);
        Client *clients;
};

int asker_open(sd_bus **ret) {
        return systemd_open_socket("unix:path=" ASKER_SOCKET, ret);
}

/* ---- what is passed on ---- */

typedef struct Call {
        const char *path, *interface, *member, *signature;
        bool below; /* the object is below the path */
        bool login; /* logind's, and not PID 1's */
} Call;

static const Call calls[] = {
        { SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER_INTERFACE, "ListUnitsByPatterns", "asas", false, false },
        { SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER_INTERFACE, "ListUnitsByNames", "as", false, false },
        { SYSTEMD_UNIT_PATH "/", "org.freedesktop.DBus.Properties", "Get", "ss", true, false },
        { "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "Inhibit", "ssss", false, true },
};

static const Call *find_call(sd_bus_message *m) {
        const char *path = sd_bus_message_get_path(m);

        for (const Call *c = calls; c < calls + ELEMENTSOF(calls); c++)
                if (sd_bus_message_is_method_call(m, c->interface, c->member) > 0 &&
                    sd_bus_message_has_signature(m, c->signature) > 0 &&
                    (c->below ? strncmp(path, c->path, strlen(c->path)) == 0 : streq(path, c->path)))
                        return c;
        return NULL;
}

/* A lock of another kind could keep the machine from being switched off. */
static bool delays_sleep(sd_bus_message *m) {
        const char *what, *who, *why, *mode;

        return sd_bus_message_read(m, "ssss", &what, &who, &why, &mode) >= 0 && streq(what, "sleep") &&
               streq(mode, "delay") && sd_bus_message_rewind(m, true) >= 0;
}

static int on_reply(sd_bus_message *reply, void *userdata, sd_bus_error *error _unused_) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *answer = NULL;
        sd_bus_message *m = userdata;
        int r;

        if (sd_bus_message_is_method_error(reply, NULL)) {
                (void) sd_bus_reply_method_error(m, sd_bus_message_get_error(reply));
                return 0;
        }

        r = sd_bus_message_new_method_return(m, &answer);
        if (r >= 0)
                r = sd_bus_message_copy(answer, reply, true);
        if (r >= 0)
                r = sd_bus_send(NULL, answer, NULL);
        if (r < 0)
                (void) sd_bus_reply_method_errno(m, r, NULL);
        return 0;
}

static void unref_message(void *m) {
        (void) sd_bus_message_unref(m);
}

static int pass_on(sd_bus_message *m, sd_bus *to, const char *destination) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL;
        sd_bus_slot *slot;
        int r;

        r = sd_bus_message_new_method_call(to, &call, destination, sd_bus_message_get_path(m),
                                           sd_bus_message_get_interface(m), sd_bus_message_get_member(m));
        if (r >= 0)
                r = sd_bus_message_copy(call, m, true);
        if (r >= 0)
                r = sd_bus_call_async(to, &slot, call, on_reply, m, 0);
        if (r < 0)
                return r;

        /* The question lives as long as the call. */
        (void) sd_bus_message_ref(m);
        (void) sd_bus_slot_set_destroy_callback(slot, unref_message);
        (void) sd_bus_slot_set_floating(slot, true);
        (void) sd_bus_slot_unref(slot);
        return 0;
}

static int on_job(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *signal = NULL;
        Client *c = userdata;
        int r;

        r = sd_bus_message_new_signal(c->bus, &signal, sd_bus_message_get_path(m), sd_bus_message_get_interface(m),
                                      sd_bus_message_get_member(m));
        if (r >= 0)
                r = sd_bus_message_copy(signal, m, true);
        if (r >= 0)
                (void) sd_bus_send(c->bus, signal, NULL);
        return 0;
}

static int client_connect(Client *c, bool login) {
        static const char *const signals[] = { "JobNew", "JobRemoved" };
        sd_bus **bus = login ? &c->login : &c->systemd;
        int r;

        if (*bus)
                return 0;

        r = login ? c->asker->targets->open_bus(bus) : c->asker->targets->open_systemd(bus);
        if (r >= 0)
                r = sd_bus_attach_event(*bus, c->asker->event, SD_EVENT_PRIORITY_NORMAL);
        for (size_t i = 0; i < ELEMENTSOF(signals) && r >= 0 && !login; i++)
                r = sd_bus_match_signal(*bus, NULL, NULL, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER_INTERFACE, signals[i],
                                        on_job, c);
        return r;
}

/* What is not passed on sd-bus refuses, there being no object. */
static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        const Call *call = find_call(m);
        Client *c = userdata;
        int r;

        if (!call || (call->login && !delays_sleep(m)))
                return 0;

        r = client_connect(c, call->login);
        if (r >= 0)
                r = call->login ? pass_on(m, c->login, LOGIN_DESTINATION) : pass_on(m, c->systemd, SYSTEMD_DESTINATION);
        if (r < 0)
                (void) sd_bus_reply_method_errno(m, r, NULL);
        return 1;
}

/* ---- connections ---- */

static void client_free(Client *c) {
        (void) sd_bus_close_unref(c->systemd);
        (void) sd_bus_close_unref(c->login);
        (void) sd_bus_close_unref(c->bus);
        free(c);
}

static void clients_sweep(Asker *a, bool all) {
        for (Client **p = &a->clients; *p;) {
                Client *c = *p;

                if (!all && !c->gone) {
                        p = &c->next;
                        continue;
                }
                *p = c->next;
                client_free(c);
        }
}

static size_t clients_count(const Asker *a) {
        size_t n = 0;

        for (const Client *c = a->clients; c; c = c->next)
                n += !c->gone;
        return n;
}

/* Whoever is about to connect finds the next one: systemd listens. */
static int on_gone(sd_bus_message *m _unused_, void *userdata, sd_bus_error *error _unused_) {
        Client *c = userdata;

        c->gone = true;
        if (clients_count(c->asker) == 0)
                (void) sd_event_exit(c->asker->event, 0);
        return 0;
}

static int client_start(Client *c, int fd) {
        sd_id128_t id;
        int r;

        r = sd_id128_randomize(&id);
        if (r >= 0)
                r = sd_bus_new(&c->bus);
        if (r >= 0)
                r = sd_bus_set_fd(c->bus, fd, fd);
        if (r < 0) {
                (void) close(fd);
                return r;
        }

        /* From here on the connection owns the descriptor. */
        r = sd_bus_set_server(c->bus, true, id);
        if (r >= 0)
                r = sd_bus_negotiate_fds(c->bus, true);
        if (r >= 0)
                r = sd_bus_add_filter(c->bus, NULL, on_message, c);
        if (r >= 0)
                r = sd_bus_match_signal(c->bus, NULL, "org.freedesktop.DBus.Local", NULL, "org.freedesktop.DBus.Local",
                                        "Disconnected", on_gone, c);
        if (r >= 0)
                r = sd_bus_start(c->bus);
        if (r >= 0)
                r = sd_bus_attach_event(c->bus, c->asker->event, SD_EVENT_PRIORITY_NORMAL);
        return r;
}

static int on_listen(sd_event_source *source _unused_, int listen_fd, uint32_t revents _unused_, void *userdata) {
        Asker *a = userdata;
        Client *c;
        int fd, r;

        clients_sweep(a, false);
        fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
                return 0;

        c = clients_count(a) < CLIENTS_MAX && a->accepts(fd) ? calloc(1, sizeof *c) : NULL;
        if (!c) {
                (void) close(fd);
                return 0;
        }

        c->asker = a;
        r = client_start(c, fd);
        if (r < 0) {
                client_free(c);
                return 0;
        }
        c->next = a->clients;
        a->clients = c;
        return 0;
}

int asker_serve(int listen_fd, const AskerTargets *targets, bool (*accepts)(int fd)) {
        Asker a = { .targets = targets, .accepts = accepts };
        sd_event_source *listen = NULL;
        int r;

        r = sd_event_new(&a.event);
        if (r >= 0)
                r = sd_event_add_io(a.event, &listen, listen_fd, EPOLLIN, on_listen, &a);
        if (r >= 0)
                r = sd_event_loop(a.event);

        clients_sweep(&a, true);
        sd_event_source_disable_unref(listen);
        sd_event_unref(a.event);
        return r;
}

static int open_bus(sd_bus **ret) {
        return sd_bus_open_system(ret);
}

int asker_run(void) {
        static const AskerTargets targets = { systemd_open_private, open_bus };

        if (sd_listen_fds(true) != 1)
                return -EINVAL;
        return asker_serve(SD_LISTEN_FDS_START, &targets, peer_owns_socket);
}
