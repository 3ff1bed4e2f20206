/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the command asks of the daemon, over D-Bus (org.drivekeep1). Only the daemon writes to drives. */

#include <systemd/sd-bus.h>

#include "device.h"
#include "records.h"

/* Opens the way to the daemon: for root its own socket, which works without a bus; for others, or where there is no such
 * socket, the system bus. */
int request_open(sd_bus **ret);

/* Where its methods are, for sd_bus_call_method(); drivekeepd(8) says what each does. */
#define DAEMON "org.drivekeep1", "/org/drivekeep1", "org.drivekeep1.Manager"

/* Visits may wait for an fsck, and the daemon bounds that wait itself; this only keeps us from waiting for ever. */
#define VISIT_TIMEOUT_USEC (UINT64_C(3600) * 1000 * 1000)

/* Has the daemon visit these drives (NULL-terminated kernel names; none: all) by `method`, "Apply" or another one that takes names, and
 * returns when that is over, which can take as long as a file system check. The caller frees *ret_visited and its strings: strv_freep(). */
int request_visit(sd_bus *bus, const char *method, char *const *names, char ***ret_visited, sd_bus_error *ret_error);

static inline void strv_freep(char ***p) {
        for (char **s = *p; s && *s; s++)
                free(*s);
        free(*p);
}

/* Has the daemon read its files anew; with `wait` returns after the visits that follow. Returns EXIT_WANTED, or prints the cause on
 * stderr. */
ExitStatus request_reload(sd_bus *bus, bool wait);

/* Says on stderr why it did not work: `r` is what opening the bus or a call returned. */
ExitStatus request_explain(int r, const sd_bus_error *error);

/* ---- has the service visit drives, waits until it has, and shows what came of it: for `apply`, `sleep`, `try` and `status --now` ---- */

/* Shows on stdout what came of the visits to the first `n` of these records' drives, which were requested at `asked` (CLOCK_REALTIME,
 * µs). Returns an ExitStatus, or a negative errno. */
typedef int (*VisitedShowFn)(const Options *o, const Records *records, size_t n, uint64_t requested);

/* Visits these drives, or those that the command line names. Both return an ExitStatus, or a negative errno. */
int visit_drives(const Options *o, sd_bus *bus, const char *method, char *const *names, VisitedShowFn show);
int visit_named_drives(const Options *o, const char *method, VisitedShowFn show);

/* The permission to read drives. While the service runs, it is asked before every command, so that neither a visit nor a file
 * system check uses the drive at that time. Without the service, no file system check may be queued or running on any drive. */
typedef struct Permission {
        sd_bus *bus;        /* to the service; NULL: it does not run */
        DeviceIO io;        /* points here: not to be moved */
        sd_bus_error error; /* why the service has refused */
} Permission;

/* For all of these drives, which are kept free of visits until permission_done(). Returns EXIT_WANTED, another ExitStatus when that
 * cannot be (and it was said why), or a negative errno. */
int permission_get(Permission *p, const char *state_dir, Drive *const *drives, size_t n);
void permission_done(Permission *p);
