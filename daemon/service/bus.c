/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>

#include "bus-error.h"
#include "bus.h"
#include "proxy.h"
#include "readers.h"
#include "bus-requests.h"
#include "stack.h"
#include "target-guard.h"
#include "target-rewrite.h"
#include "target-temporary.h"
#include "timer.h"

#define BUS_NAME "org.drivekeep1"
#define BUS_PATH "/org/drivekeep1"
#define BUS_INTERFACE "org.drivekeep1.Manager"
#define RECONNECT_USEC (500ULL * 1000)
#define RETRY_USEC (30ULL * 1000 * 1000)
#define ERROR_BAD_CONFIGURATION "org.drivekeep1.Error.BadConfiguration"

/* A client of the private socket. */
typedef struct BusPeer BusPeer;
struct BusPeer {
        sd_bus *connection;
        Bus *bus;
        BusPeer *next;
};

struct Bus {
        sd_event *event; /* borrowed */
        Manager *manager;
        Monitor *monitor;
        Sleep *sleep;
        BusReloadFn reload;
        void *userdata;
        Requests requests;
        const char *address; /* address of the system bus; borrowed */
        sd_bus *connection;  /* the connection to the system bus; NULL: not connected */
        sd_event_source *reconnect;
        int socket; /* the listening socket for private connections */
        sd_event_source *listen;
        BusPeer *peers;
};

static int method_apply(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        bool permanent = streq(sd_bus_message_get_member(m), "ApplyPermanent");
        Bus *b = userdata;

        monitor_settle(b->monitor);
        return requests_visit(&b->requests, m, permanent ? VISIT_PERMANENT : VISIT_REQUEST, error);
}

static int method_spin_down(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        Bus *b = userdata;

        monitor_settle(b->monitor);
        return requests_visit(&b->requests, m, VISIT_SPIN_DOWN, error);
}

static int method_read(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        Bus *b = userdata;

        monitor_settle(b->monitor);
        return requests_visit(&b->requests, m, VISIT_RECHECK, error);
}

static int method_reload(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        _cleanup_free_ char *sentence = NULL;
        Bus *b = userdata;
        int r;

        r = b->reload(b->userdata, &sentence);
        if (r == -EINVAL)
                return sd_bus_error_set(error, ERROR_BAD_CONFIGURATION, strna(sentence));
        if (r < 0)
                return r;
        return streq(sd_bus_message_get_member(m), "Reload") ? sd_bus_reply_method_return(m, "")
                                                             : requests_wait(&b->requests, m, NULL);
}

/* Reads the first argument, the name of a drive, and finds the drive. */
static int read_drive(Bus *b, sd_bus_message *m, Target **ret, sd_bus_error *error) {
        const char *name;
        int r;

        r = sd_bus_message_read(m, "s", &name);
        if (r < 0)
                return r;
        *ret = manager_find(b->manager, name);
        if (!*ret)
                return sd_bus_error_setf(error, ERROR_NO_SUCH_DRIVE, "There is no drive '%s'.", name);
        return 0;
}

/* Like read_drive(), for methods that need a private connection: on the system bus the service does not notice that a client
 * disconnects. */
static int read_drive_privately(Bus *b, sd_bus_message *m, Target **ret, sd_bus_error *error) {
        if (sd_bus_is_bus_client(sd_bus_message_get_bus(m)) > 0) {
                (void) sd_bus_error_set(error, SD_BUS_ERROR_NOT_SUPPORTED,
                                        "This method is available only on the service's private socket.");
                return -EOPNOTSUPP;
        }
        return read_drive(b, m, ret, error);
}

/* Reads the first two arguments: a drive's name and one of its settings. `*ret_setting` is NULL for "", which means all settings. */
static int read_drive_and_setting(Bus *b, sd_bus_message *m, Target **ret, const char **ret_setting,
                                  sd_bus_error *error) {
        const char *setting;
        int r;

        r = read_drive(b, m, ret, error);
        if (r >= 0)
                r = sd_bus_message_read(m, "s", &setting);
        if (r >= 0)
                *ret_setting = *setting ? setting : NULL;
        return r;
}

static int method_release(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        const char *setting;
        Bus *b = userdata;
        Target *t;
        int r;

        monitor_settle(b->monitor);
        r = read_drive_and_setting(b, m, &t, &setting, error);
        return r < 0 ? r : sd_bus_reply_method_return(m, "u", target_release(t, setting));
}

static int method_get_read_permission(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        Target *t;
        int r;

        r = read_drive_privately(userdata, m, &t, error);
        return r < 0 ? r : readers_request(t, m);
}

static int method_set_temporary(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        const char *setting, *value, *before;
        sd_bus *bus = sd_bus_message_get_bus(m);
        Target *t;
        int r;

        r = read_drive_privately(userdata, m, &t, error);
        if (r >= 0)
                r = sd_bus_message_read(m, "sss", &setting, &value, &before);
        if (r < 0)
                return r;

        /* The read permission of the same caller must not block the visit that writes this value. */
        readers_remove(t, bus);
        r = target_temporary_set(t, bus, setting, value, before, error);
        return r < 0 ? r : sd_bus_reply_method_return(m, "");
}

static int method_end_temporary(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        sd_bus *bus = sd_bus_message_get_bus(m);
        Target *t;
        int r;

        r = read_drive_privately(userdata, m, &t, error);
        if (r < 0)
                return r;
        readers_remove(t, bus);
        target_temporary_end(t, bus);
        return sd_bus_reply_method_return(m, "");
}

static int method_try(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        int allow_dangerous, wake, r;
        char **values = NULL;
        Bus *b = userdata;
        Target *t;

        monitor_settle(b->monitor);
        r = read_drive(b, m, &t, error);
        if (r >= 0)
                r = sd_bus_message_read_strv(m, &values);
        if (r >= 0)
                r = sd_bus_message_read(m, "bb", &allow_dangerous, &wake);
        if (r >= 0)
                r = target_temporary_try(t, values, allow_dangerous, wake, error);
        (void) names_free(values);
        return r < 0 ? r : sd_bus_reply_method_return(m, "");
}

static int method_rewrite(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        _cleanup_(names_freep) char **values = NULL;
        Bus *b = userdata;
        Target *t;
        int r;

        monitor_settle(b->monitor);
        r = read_drive(b, m, &t, error);
        if (r >= 0)
                r = sd_bus_message_read_strv(m, &values);
        /* The read permission of the same caller must not block the visit. */
        if (r >= 0)
                readers_remove(t, sd_bus_message_get_bus(m));
        if (r >= 0)
                r = target_rewrite(t, values, error);
        return r < 0 ? r : requests_rewrite(&b->requests, m, t);
}

static int method_undo(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        const char *setting;
        Bus *b = userdata;
        Target *t;
        int r;

        monitor_settle(b->monitor);
        r = read_drive_and_setting(b, m, &t, &setting, error);
        if (r >= 0)
                r = target_temporary_undo(t, setting, error);
        return r < 0 ? r : requests_wait(&b->requests, m, t);
}

static int method_settle(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        Bus *b = userdata;

        monitor_settle(b->monitor);
        return sd_bus_reply_method_return(m, "");
}

/* Reports only what the service already knows: every user may call this method as often as they like, so the method
 * must not cause I/O. */
static int method_list_drives(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        Bus *b = userdata;
        int r;

        r = sd_bus_message_new_method_return(m, &reply);
        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'a', "(sss)");
        for (Target *t = manager_first(b->manager); t && r >= 0; t = t->next)
                r = sd_bus_message_append(reply, "(sss)", t->drive->name, drive_state_to_string(t->record->state),
                                          identity_kind_to_string(t->record->identity));
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

static int property_version(sd_bus *bus _unused_, const char *path _unused_, const char *interface _unused_,
                            const char *property _unused_, sd_bus_message *reply, void *userdata _unused_,
                            sd_bus_error *error _unused_) {
        return sd_bus_message_append(reply, "s", DRIVEKEEP_VERSION);
}

/* sd-bus lets only root and the service's own user call a method that has no flag SD_BUS_VTABLE_UNPRIVILEGED.
 * ExecReload= of the unit runs as the service's own user. */
static const sd_bus_vtable vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("Apply", SD_BUS_ARGS("as", names), SD_BUS_RESULT("as", visited), method_apply, 0),
        SD_BUS_METHOD_WITH_ARGS("ApplyPermanent", SD_BUS_ARGS("as", names), SD_BUS_RESULT("as", visited), method_apply,
                                0),
        SD_BUS_METHOD_WITH_ARGS("SetTemporary", SD_BUS_ARGS("s", name, "s", setting, "s", value, "s", before),
                                SD_BUS_NO_RESULT, method_set_temporary, 0),
        SD_BUS_METHOD_WITH_ARGS("EndTemporary", SD_BUS_ARGS("s", name), SD_BUS_NO_RESULT, method_end_temporary, 0),
        SD_BUS_METHOD_WITH_ARGS("GetReadPermission", SD_BUS_ARGS("s", name), SD_BUS_NO_RESULT,
                                method_get_read_permission, 0),
        SD_BUS_METHOD_WITH_ARGS("Read", SD_BUS_ARGS("as", names), SD_BUS_RESULT("as", visited), method_read, 0),
        SD_BUS_METHOD_WITH_ARGS("Release", SD_BUS_ARGS("s", name, "s", setting), SD_BUS_RESULT("u", released),
                                method_release, 0),
        SD_BUS_METHOD_WITH_ARGS("Reload", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_reload, 0),
        SD_BUS_METHOD_WITH_ARGS("ReloadAndVisit", SD_BUS_NO_ARGS, SD_BUS_RESULT("as", visited), method_reload, 0),
        SD_BUS_METHOD_WITH_ARGS("Rewrite", SD_BUS_ARGS("s", name, "as", values), SD_BUS_RESULT("a(ssss)", results),
                                method_rewrite, 0),
        SD_BUS_METHOD_WITH_ARGS("SpinDown", SD_BUS_ARGS("as", names), SD_BUS_RESULT("as", visited), method_spin_down,
                                0),
        SD_BUS_METHOD_WITH_ARGS("Try", SD_BUS_ARGS("s", name, "as", values, "b", allow_dangerous, "b", wake),
                                SD_BUS_NO_RESULT, method_try, 0),
        SD_BUS_METHOD_WITH_ARGS("Undo", SD_BUS_ARGS("s", name, "s", setting), SD_BUS_RESULT("as", visited), method_undo,
                                0),
        SD_BUS_METHOD_WITH_ARGS("Settle", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_settle, 0),
        SD_BUS_METHOD_WITH_ARGS("ListDrives", SD_BUS_NO_ARGS, SD_BUS_RESULT("a(sss)", drives), method_list_drives,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_PROPERTY("Version", "s", property_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_VTABLE_END,
};

/* ---- the system bus ---- */

/* Logs the cause if the bus does not give the service its name. sd-bus's default handler would instead close the connection, which is also
 * used for logind. */
static int on_name(sd_bus_message *m, void *userdata _unused_, sd_bus_error *error _unused_) {
        uint32_t reply;

        if (sd_bus_message_is_method_error(m, NULL))
                journal_log(LOG_WARNING,
                            "The system bus refused the name " BUS_NAME ", so only root can call the service: %s",
                            sd_bus_message_get_error(m)->message);
        else if (sd_bus_message_read(m, "u", &reply) >= 0 && reply != 1)
                journal_log(LOG_WARNING,
                            "Another process owns the bus name " BUS_NAME ", so only root can call the service.");
        return 1;
}

void bus_offer(Bus *b, sd_bus *bus) {
        int r;

        r = sd_bus_add_object_vtable(bus, NULL, BUS_PATH, BUS_INTERFACE, vtable, b);
        if (r >= 0)
                r = sd_bus_request_name_async(bus, NULL, BUS_NAME, 0, on_name, b);
        if (r < 0)
                journal_log(LOG_WARNING,
                            "Failed to offer the service on the system bus, so only root can call the service: %s",
                            strerror(-r));
}

static int on_connected(sd_bus_message *m _unused_, void *userdata, sd_bus_error *error _unused_) {
        Bus *b = userdata;

        bus_offer(b, b->connection);
        sleep_bus_connected(b->sleep, b->connection);
        return 0;
}

static int on_reconnect(sd_event_source *source, uint64_t usec, void *userdata);

static void reconnect_later(Bus *b, uint64_t usec) {
        int r = timer_start(b->event, &b->reconnect, usec, 0, on_reconnect, b);

        if (r < 0)
                journal_log(LOG_ERR, "Failed to schedule a new connection to the system bus: %s", strerror(-r));
}

static int on_disconnected(sd_bus_message *m _unused_, void *userdata, sd_bus_error *error _unused_) {
        Bus *b = userdata;

        sleep_bus_lost(b->sleep);
        b->connection = sd_bus_close_unref(b->connection);
        reconnect_later(b, RECONNECT_USEC);
        return 0;
}

static int system_bus_open(Bus *b) {
        _cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
        int r;

        r = sd_bus_new(&bus);
        if (r >= 0)
                r = sd_bus_set_address(bus, b->address);
        if (r >= 0)
                r = sd_bus_set_bus_client(bus, true);
        /* If the bus's socket does not exist yet, sd-bus watches for it by inotify, without polling. */
        if (r >= 0)
                r = sd_bus_set_watch_bind(bus, true);
        if (r >= 0)
                r = sd_bus_set_connected_signal(bus, true);
        /* By default sd-bus flushes the connection when the event loop ends, and this flush can block. */
        if (r >= 0)
                r = sd_bus_set_close_on_exit(bus, false);
        if (r >= 0)
                r = sd_bus_match_signal_async(bus, NULL, "org.freedesktop.DBus.Local", NULL,
                                              "org.freedesktop.DBus.Local", "Connected", on_connected, NULL, b);
        if (r >= 0)
                r = sd_bus_match_signal_async(bus, NULL, "org.freedesktop.DBus.Local", NULL,
                                              "org.freedesktop.DBus.Local", "Disconnected", on_disconnected, NULL, b);
        if (r >= 0)
                r = sd_bus_start(bus);
        if (r >= 0)
                r = sd_bus_attach_event(bus, b->event, BUS_PRIORITY);
        if (r < 0)
                return r;

        b->connection = TAKE_PTR(bus);
        return 0;
}

static int on_reconnect(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Bus *b = userdata;
        int r;

        r = system_bus_open(b);
        if (r < 0) {
                journal_log(LOG_WARNING, "Failed to reconnect to the system bus, retrying: %s", strerror(-r));
                reconnect_later(b, RETRY_USEC);
        }
        return 0;
}

void bus_connect(Bus *b, const char *address, Sleep *sleep) {
        int r;

        b->address = address;
        b->sleep = sleep;

        r = system_bus_open(b);
        /* Without a bus only root can call the service, and the service detects a suspend only after the resume.
         * Everything else works. */
        if (r < 0)
                journal_log(LOG_NOTICE, "Failed to connect to the system bus, ignoring: %s", strerror(-r));
}

/* ---- the private socket ---- */

static BusPeer *peer_free(BusPeer *p) {
        for (Target *t = manager_first(p->bus->manager); t && p->connection; t = t->next)
                readers_remove(t, p->connection);
        /* This function may run while sd-bus dispatches the connection: sd-bus holds its own reference until the
         * dispatch ends. */
        (void) sd_bus_close_unref(p->connection);
        free(p);
        return NULL;
}
DEFINE_CLEANUP(BusPeer *, peer_free);

static int on_peer_disconnected(sd_bus_message *m _unused_, void *userdata, sd_bus_error *error _unused_) {
        _cleanup_(peer_freep) BusPeer *peer = userdata;
        BusPeer **p = &peer->bus->peers;

        for (Target *t = manager_first(peer->bus->manager); t; t = t->next)
                target_temporary_end(t, peer->connection);
        while (*p != peer)
                p = &(*p)->next;
        *p = peer->next;
        return 0;
}

static int peer_start(BusPeer *p, int *fd) {
        int r;

        r = bus_new_at(fd, true, &p->connection);
        if (r >= 0)
                r = sd_bus_negotiate_creds(p->connection, true,
                                           SD_BUS_CREDS_UID | SD_BUS_CREDS_EUID | SD_BUS_CREDS_EFFECTIVE_CAPS);
        if (r >= 0)
                r = sd_bus_add_object_vtable(p->connection, NULL, BUS_PATH, BUS_INTERFACE, vtable, p->bus);
        if (r >= 0)
                r = sd_bus_match_signal(p->connection, NULL, "org.freedesktop.DBus.Local", NULL,
                                        "org.freedesktop.DBus.Local", "Disconnected", on_peer_disconnected, p);
        if (r >= 0)
                r = sd_bus_start(p->connection);
        if (r >= 0)
                r = sd_bus_attach_event(p->connection, p->bus->event, SD_EVENT_PRIORITY_NORMAL);
        return r;
}

static int on_listen(sd_event_source *source _unused_, int listen_fd, uint32_t revents _unused_, void *userdata) {
        _cleanup_close_ int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        _cleanup_(peer_freep) BusPeer *p = NULL;
        Bus *b = userdata;

        if (fd >= 0)
                p = calloc(1, sizeof *p);
        if (!p)
                return 0;
        p->bus = b;
        if (peer_start(p, &fd) < 0)
                return 0;

        p->next = b->peers;
        b->peers = TAKE_PTR(p);
        return 0;
}

/* Creates the private socket. Its mode 0600 lets only root and the service's own user connect. The methods check the caller, too. */
static int socket_listen(const char *path) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd, r;

        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;

        (void) strncpy(address.sun_path, path, sizeof address.sun_path - 1);
        (void) unlink(path);
        if (bind(fd, (const struct sockaddr *) &address, sizeof address) < 0 || chmod(path, 0600) < 0 ||
            listen(fd, 16) < 0) {
                r = -errno;
                (void) close(fd);
                return r;
        }

        return fd;
}

int bus_new(sd_event *event, const char *path, Manager *manager, Monitor *monitor, BusReloadFn reload, void *userdata,
            Bus **ret) {
        Bus *b;
        int r;

        b = calloc(1, sizeof *b);
        if (!b)
                return -ENOMEM;

        *b = (Bus){
                .event = event,
                .manager = manager,
                .monitor = monitor,
                .reload = reload,
                .userdata = userdata,
                .requests = { .manager = manager },
        };
        b->socket = socket_listen(path);
        r = b->socket < 0 ? b->socket : sd_event_add_io(event, &b->listen, b->socket, EPOLLIN, on_listen, b);
        if (r < 0)
                journal_log(LOG_WARNING, "Failed to listen on the private socket %s, ignoring: %s", path, strerror(-r));

        *ret = b;
        return 0;
}

Bus *bus_free(Bus *b) {
        if (!b)
                return NULL;

        sd_event_source_disable_unref(b->reconnect);
        /* Closes without a flush, since a bus that does not answer would delay the end of the service. */
        (void) sd_bus_close_unref(b->connection);
        requests_done(&b->requests);
        sd_event_source_disable_unref(b->listen);
        while (b->peers) {
                BusPeer *p = b->peers;

                b->peers = p->next;
                (void) peer_free(p);
        }
        closep(&b->socket);
        free(b);
        return NULL;
}

void bus_visit_finished(Bus *b) {
        requests_visit_finished(&b->requests);
}
