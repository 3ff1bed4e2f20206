/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <err.h>
#include <fcntl.h>

#include "leave.h"
#include "output.h"
#include "plan.h"
#include "request.h"
#include "text-file.h"
#include "unit-status.h"

static bool service_runs(const char *state_dir) {
        _cleanup_close_ int fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return fd >= 0 && record_directory_is_locked(fd);
}

/* DeviceIO.gate(): asks the service before a command. Until the connection is closed the service does not visit the drive. */
static int leave_gate(void *userdata, const Drive *d, const char **ret_why) {
        Leave *l = userdata;
        int r;

        sd_bus_error_free(&l->error);
        r = sd_bus_call_method(l->bus, DAEMON, "MayRead", &l->error, NULL, "s", d->name);
        if (r >= 0)
                return 0;

        *ret_why = r == -ETIMEDOUT ? "a visit to it takes long" : l->error.message ?: strerror(-r);
        return STEP_DEFERRED;
}

static int without_service(void) {
        _cleanup_free_ char *unit = NULL;
        int r;

        r = systemd_find_fsck(&unit);
        if (r == -ENOMEM)
                return r;
        if (r > 0) {
                warnx("%s is queued or running, and no drive is asked anything before it has ended; try again then",
                      unit);
                return EXIT_NOT_WANTED;
        }
        return EXIT_WANTED;
}

int leave_get(Leave *l, const char *state_dir, Drive *const *drives, size_t n) {
        const char *why;
        int r;

        *l = (Leave){ .io = device_io_real };

        /* Who is not root can send drives nothing. */
        if (geteuid() != 0 || !service_runs(state_dir))
                return without_service();

        r = request_open(&l->bus);
        if (r >= 0)
                r = sd_bus_call_method(l->bus, DAEMON, "CatchUp", NULL, NULL, "");
        if (r < 0)
                return request_explain(r, &SD_BUS_ERROR_NULL);

        l->io.gate = leave_gate;
        l->io.userdata = l;
        for (size_t i = 0; i < n; i++)
                if (leave_gate(l, drives[i], &why) < 0) {
                        warn_escaped("%s cannot be read now: %s; try again later", drives[i]->name, why);
                        return EXIT_NOT_WANTED;
                }
        return EXIT_WANTED;
}

void leave_done(Leave *l) {
        sd_bus_error_free(&l->error);
        (void) sd_bus_flush_close_unref(l->bus);
}
