/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/socket.h>
#include <syslog.h>

#include "proxy.h"
#include "journal.h"
#include "sandbox.h"
#include "unit-status.h"

#define LOGIN_DESTINATION "org.freedesktop.login1"

typedef struct Proxy {
        sd_event *event;
        const ProxyTargets *targets;
        sd_bus *manager;
        sd_bus *systemd, *login; /* connections to PID 1 and logind; each is NULL until the first call to it */
} Proxy;

int bus_new_at(int *fd, bool server, sd_bus **ret) {
        _cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
        sd_id128_t id;
        int r;

        r = sd_id128_randomize(&id);
        if (r >= 0)
                r = sd_bus_new(&bus);
        if (r >= 0 && server)
                r = sd_bus_set_server(bus, true, id);
        if (r >= 0)
                r = sd_bus_set_fd(bus, *fd, *fd);
        if (r < 0)
                return r;

        /* The connection now owns the descriptor. */
        (void) TAKE_FD(*fd);
        *ret = TAKE_PTR(bus);
        return 0;
}

int proxy_open(Broker *broker, sd_bus **ret) {
        _cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
        _cleanup_close_ int ours = -EBADF, theirs = -EBADF;
        int fds[2], r;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
                return -errno;
        ours = fds[0];
        theirs = fds[1];

        r = broker_fork(broker, BROKER_PROXY, theirs);
        if (r >= 0)
                r = bus_new_at(&ours, false, &bus);
        if (r >= 0)
                r = sd_bus_start(bus);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(bus);
        return 0;
}

/* ---- calls and signals ---- */

typedef struct Call {
        const char *path, *interface, *member, *signature;
        bool below; /* `path` is a prefix of the object path */
        bool login; /* the call goes to logind; false: to PID 1 */
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

/* Returns true if the call requests the lock that delays sleep. Other kinds of lock could block a shutdown. */
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

static int forward(sd_bus_message *m, sd_bus *to, const char *destination) {
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

        /* Keeps the message until the reply handler has used it. */
        (void) sd_bus_message_ref(m);
        (void) sd_bus_slot_set_destroy_callback(slot, unref_message);
        (void) sd_bus_slot_set_floating(slot, true);
        (void) sd_bus_slot_unref(slot);
        return 0;
}

static int on_job(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *signal = NULL;
        Proxy *a = userdata;
        int r;

        r = sd_bus_message_new_signal(a->manager, &signal, sd_bus_message_get_path(m), sd_bus_message_get_interface(m),
                                      sd_bus_message_get_member(m));
        if (r >= 0)
                r = sd_bus_message_copy(signal, m, true);
        if (r >= 0)
                (void) sd_bus_send(NULL, signal, NULL);
        return 0;
}

/* Exits when any of the connections ends, so that the manager notices the end of the signals and starts a new proxy.
 * sd_bus_set_exit_on_disconnect() is not used: it makes the event loop of newer versions of libsystemd return an error. */
static int on_disconnected(sd_bus_message *m _unused_, void *userdata, sd_bus_error *error _unused_) {
        Proxy *a = userdata;

        return sd_event_exit(a->event, EXIT_SUCCESS);
}

static int proxy_listen(Proxy *a, sd_bus *bus) {
        int r;

        r = sd_bus_match_signal(bus, NULL, "org.freedesktop.DBus.Local", NULL, "org.freedesktop.DBus.Local",
                                "Disconnected", on_disconnected, a);
        if (r >= 0)
                r = sd_bus_attach_event(bus, a->event, SD_EVENT_PRIORITY_NORMAL);
        return r;
}

static int proxy_connect(Proxy *a, bool login) {
        static const char *const signals[] = { "JobNew", "JobRemoved" };
        _cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
        int r;

        if (login ? a->login : a->systemd)
                return 0;

        r = login ? a->targets->open_bus(&bus) : a->targets->open_systemd(&bus);
        if (r >= 0)
                r = proxy_listen(a, bus);
        for (size_t i = 0; i < ELEMENTSOF(signals) && r >= 0 && !login; i++)
                r = sd_bus_match_signal(bus, NULL, NULL, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER_INTERFACE, signals[i],
                                        on_job, a);
        if (r < 0)
                return r;

        *(login ? &a->login : &a->systemd) = TAKE_PTR(bus);
        return 0;
}

/* Forwards permitted calls. sd-bus itself rejects all other calls, since no object handles them. */
static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        const Call *call = find_call(m);
        Proxy *a = userdata;
        int r;

        if (!call || (call->login && !delays_sleep(m)))
                return 0;

        r = proxy_connect(a, call->login);
        if (r >= 0)
                r = call->login ? forward(m, a->login, LOGIN_DESTINATION) : forward(m, a->systemd, SYSTEMD_DESTINATION);
        if (r < 0)
                (void) sd_bus_reply_method_errno(m, r, NULL);
        return 1;
}

/* ---- the process ---- */

int proxy_serve(int fd, const ProxyTargets *targets) {
        _cleanup_close_ int manager_fd = fd;
        Proxy a = { .targets = targets };
        int r;

        r = sd_event_new(&a.event);
        if (r >= 0)
                r = bus_new_at(&manager_fd, true, &a.manager);
        if (r >= 0)
                r = sd_bus_negotiate_fds(a.manager, true);
        if (r >= 0)
                r = sd_bus_add_filter(a.manager, NULL, on_message, &a);
        if (r >= 0)
                r = sd_bus_start(a.manager);
        if (r >= 0)
                r = proxy_listen(&a, a.manager);
        if (r >= 0)
                r = sd_event_loop(a.event);

        (void) sd_bus_close_unref(a.manager);
        (void) sd_bus_close_unref(a.systemd);
        (void) sd_bus_close_unref(a.login);
        sd_event_unref(a.event);
        return r;
}

_Noreturn void proxy_main(int fd) {
        static const ProxyTargets targets = { systemd_open_private, sd_bus_open_system };
        int r;

        r = sandbox_proxy();
        if (r >= 0)
                r = proxy_serve(fd, &targets);
        if (r < 0)
                journal_log(LOG_ERR, "The proxy to systemd and logind failed: %s", strerror(-r));
        _exit(r < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}
