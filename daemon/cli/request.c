/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <err.h>
#include <fcntl.h>

#include "choice.h"
#include "clock.h"
#include "must.h"
#include "output.h"
#include "request.h"
#include "safe-file.h"
#include "unit-status.h"

#define PRIVATE_ADDRESS "unix:path=/run/drivekeep/drives/.private"

int request_open(sd_bus **ret) {
        /* The socket accepts root, and the service's own user for ExecReload=. */
        if (systemd_open_socket(PRIVATE_ADDRESS, ret) >= 0)
                return 0;
        return sd_bus_open_system(ret);
}

int request_visit(sd_bus *bus, const char *method, char *const *names, char ***ret_visited, sd_bus_error *ret_error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, DAEMON, method);
        if (r >= 0)
                r = sd_bus_message_append_strv(m, (char **) names);
        if (r >= 0)
                r = sd_bus_call(bus, m, VISIT_TIMEOUT_USEC, ret_error, &reply);
        return r < 0 ? r : sd_bus_message_read_strv(reply, ret_visited);
}

ExitStatus request_explain(int r, const sd_bus_error *error) {
        bool answered = sd_bus_error_is_set(error);
        /* sd-bus maps this error to EACCES, but the service does not use the error for a lack of rights. */
        bool failed = sd_bus_error_has_name(error, SD_BUS_ERROR_FAILED);

        switch (failed ? 0 : answered ? sd_bus_error_get_errno(error) : -r) {
        case ENOENT:
                /* An ENOENT in a reply was sent by the daemon, so the daemon runs. */
                if (answered)
                        break;
                _fallthrough_;
        case ECONNREFUSED:
        case EHOSTUNREACH: /* no such bus name */
        case ENXIO:        /* the bus name has no owner */
                warnx("drivekeep.service does not run; 'systemctl start drivekeep.service' starts it");
                return EXIT_NO_SERVICE;
        case ECONNRESET:
        case ENOTCONN:
        case ETIMEDOUT:
                warnx("drivekeep.service does not answer; 'systemctl status drivekeep.service' shows more");
                return EXIT_NO_SERVICE;
        case EACCES:
        case EPERM:
                warnx("only root may do this");
                return EXIT_BAD_INPUT;
        }

        warn_escaped("drivekeep.service rejected the request: %s", error->message ?: strerror(-r));
        return EXIT_BAD_INPUT;
}

ExitStatus request_reload(sd_bus *bus, bool wait) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, DAEMON, wait ? "ReloadAndVisit" : "Reload");
        if (r >= 0)
                r = sd_bus_call(bus, m, wait ? VISIT_TIMEOUT_USEC : 0, &error, NULL);
        return r < 0 ? request_explain(r, &error) : EXIT_WANTED;
}

/* ---- visits with results ---- */

/* Prints the results for the drives in `names`. If `names` is NULL, there are no results to print. Reports a drive that was removed in
 * the meantime as unknown. */
static int show_visited(const Options *o, uint64_t requested, char *const *names, VisitedShowFn show) {
        _cleanup_(records_done) Records records = {};
        size_t n = 0;
        bool gone;
        int r;

        r = records_read(o->state_dir, &records);
        if (r < 0)
                return r;

        gone = names && records_choose(&records, names, &n) != EXIT_WANTED;
        r = show(o, &records, n, requested);
        return gone ? EXIT_NOT_WANTED : r;
}

int visit_drives(const Options *o, sd_bus *bus, const char *method, char *const *names, VisitedShowFn show) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_(strv_freep) char **visited = NULL;
        uint64_t requested = now_usec();
        int r;

        r = request_visit(bus, method, names, &visited, &error);
        return r < 0 ? (int) request_explain(r, &error) : show_visited(o, requested, visited, show);
}

int visit_named_drives(const Options *o, const char *method, VisitedShowFn show) {
        _cleanup_(records_done) Records records = {};
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        _cleanup_free_ char **names = NULL;
        int opened, r;
        size_t n;

        /* Reports a connection error only after the errors in the arguments. */
        opened = request_open(&bus);
        /* Makes the service process pending udev events, so that a drive that was just plugged in has a record. */
        if (opened >= 0)
                (void) sd_bus_call_method(bus, DAEMON, "Settle", NULL, NULL, "");

        r = records_read(o->state_dir, &records);
        if (r == -ENOENT)
                return request_explain(r, &SD_BUS_ERROR_NULL);
        if (r >= 0)
                r = records_choose(&records, o->names, &n);
        if (r != EXIT_WANTED)
                return r;

        /* Without names the daemon visits all drives, including those without a record. */
        names = must(calloc(n + 1, sizeof *names));
        for (size_t i = 0; i < n && o->names; i++)
                names[i] = records.items[i]->name;

        return opened < 0 ? (int) request_explain(opened, &SD_BUS_ERROR_NULL)
                          : visit_drives(o, bus, method, names, show);
}

/* ---- permission to read drives ---- */

/* Implements DeviceIO.gate(): requests permission from the service before a command. The service does not visit the drive until the
 * connection is closed. */
static int permission_gate(void *userdata, const Drive *d, const char **ret_reason) {
        Permission *p = userdata;
        int r;

        sd_bus_error_free(&p->error);
        r = sd_bus_call_method(p->bus, DAEMON, "GetReadPermission", &p->error, NULL, "s", d->name);
        if (r >= 0)
                return 0;

        *ret_reason = r == -ETIMEDOUT ? "a visit to the drive takes long" : p->error.message ?: strerror(-r);
        return END_DEFERRED;
}

static int check_fsck(void) {
        _cleanup_free_ char *unit = NULL;

        if (must_not_fail(systemd_find_fsck(&unit)) <= 0)
                return EXIT_WANTED;
        warnx("%s is queued or running, and drives are not read until it ends; try again later", unit);
        return EXIT_LATER;
}

int permission_get(Permission *p, const char *state_dir, Drive *const *drives, size_t n) {
        _cleanup_close_ int fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        const char *reason;
        int r;

        *p = (Permission){ .io = device_io_real };

        /* Users other than root cannot send commands to drives, and need no permission. A service that does not run cannot give
         * permission. In both cases only a file system check prevents reading. */
        if (geteuid() != 0 || fd < 0 || !record_directory_is_locked(fd))
                return check_fsck();

        r = request_open(&p->bus);
        if (r >= 0)
                r = sd_bus_call_method(p->bus, DAEMON, "Settle", NULL, NULL, "");
        if (r < 0)
                return request_explain(r, &SD_BUS_ERROR_NULL);

        p->io.gate = permission_gate;
        p->io.userdata = p;
        for (size_t i = 0; i < n; i++)
                if (permission_gate(p, drives[i], &reason) < 0) {
                        warn_escaped("%s cannot be read now: %s; try again later", drives[i]->name, reason);
                        return EXIT_LATER;
                }
        return EXIT_WANTED;
}

void permission_done(Permission *p) {
        sd_bus_error_free(&p->error);
        (void) sd_bus_flush_close_unref(p->bus);
}
