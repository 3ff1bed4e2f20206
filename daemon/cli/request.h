/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Requests to the daemon over D-Bus (org.drivekeep1). Only the daemon writes to drives. */

#include <systemd/sd-bus.h>

#include "device.h"
#include "records.h"

/* Connects to the daemon. Root uses the daemon's private socket, which works without a bus. Other users use the system bus. If there is no
 * private socket, root uses the system bus, too. */
int request_open(sd_bus **ret);

/* Arguments of sd_bus_call_method(); org.drivekeep1(5) describes the methods. */
#define DAEMON "org.drivekeep1", "/org/drivekeep1", "org.drivekeep1.Manager"

/* A visit may wait for a file system check, and the daemon limits this wait. VISIT_TIMEOUT_USEC ends the command if the daemon never
 * answers. */
#define VISIT_TIMEOUT_USEC (UINT64_C(3600) * 1000 * 1000)

/* Makes the daemon visit drives by `method`: "Apply" or another method that takes names. `names`: NULL-terminated kernel names; an empty
 * list means all drives. Returns after the visits, which can take as long as a file system check. The caller frees *ret_visited by
 * strv_freep(). */
int request_visit(sd_bus *bus, const char *method, char *const *names, char ***ret_visited, sd_bus_error *ret_error);

static inline void strv_freep(char ***p) {
        for (char **s = *p; s && *s; s++)
                free(*s);
        free(*p);
}

/* Makes the daemon read its files again; with `wait`, returns after the visits that follow. Returns EXIT_WANTED, or another status after
 * it has printed the cause on stderr. */
ExitStatus request_reload(sd_bus *bus, bool wait);

/* Prints the cause of a failure on stderr. `r`: result of opening the bus or of a call. */
ExitStatus request_explain(int r, const sd_bus_error *error);

/* ---- visits with results, for `apply`, `standby`, `try` and `status --now` ---- */

/* Prints the results of visits to the first `n` drives on stdout. The visits were requested at `requested` (CLOCK_REALTIME, µs). Returns
 * an ExitStatus, or a negative errno. */
typedef int (*VisitedShowFn)(const Options *o, const Records *records, size_t n, uint64_t requested);

/* visit_drives() visits the drives in `names`. visit_named_drives() visits the drives that the command line names, or all drives. Both
 * functions return an ExitStatus, or a negative errno. */
int visit_drives(const Options *o, sd_bus *bus, const char *method, char *const *names, VisitedShowFn show);
int visit_named_drives(const Options *o, const char *method, VisitedShowFn show);

/* Permission to read drives. While the service runs, every command to a drive needs the service's permission, so that neither a visit
 * nor a file system check uses the drive at the same time. Without the service, drives are read only if no file system check is queued
 * or running on any drive. */
typedef struct Permission {
        sd_bus *bus;        /* connection to the service; NULL: the service does not run */
        DeviceIO io;        /* contains a pointer to this structure: do not move it */
        sd_bus_error error; /* cause of the last refusal */
} Permission;

/* Gets permission to read all these drives, and prevents visits to the drives until permission_done(). Returns EXIT_WANTED, another
 * ExitStatus after it has printed why permission is not given, or a negative errno. */
int permission_get(Permission *p, const char *state_dir, Drive *const *drives, size_t n);
void permission_done(Permission *p);
