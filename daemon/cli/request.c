/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <err.h>

#include "output.h"
#include "request.h"
#include "unit-status.h"

/* Visits may wait for an fsck, and the daemon bounds that wait itself; this only keeps us from waiting for ever. */
#define APPLY_TIMEOUT_USEC (UINT64_C(3600) * 1000 * 1000)

#define PRIVATE_ADDRESS "unix:path=/run/drivekeep/private"

int request_open(sd_bus **ret) {
        /* It opens to root and to the service's own user, for its ExecReload=. */
        if (systemd_open_socket(PRIVATE_ADDRESS, ret) >= 0)
                return 0;
        return sd_bus_open_system(ret);
}

int request_apply(sd_bus *bus, char *const *names, bool permanent, char ***ret_visited, sd_bus_error *ret_error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, DAEMON, permanent ? "ApplyPermanent" : "Apply");
        if (r >= 0)
                r = sd_bus_message_append_strv(m, (char **) names);
        if (r >= 0)
                r = sd_bus_call(bus, m, APPLY_TIMEOUT_USEC, ret_error, &reply);
        return r < 0 ? r : sd_bus_message_read_strv(reply, ret_visited);
}

ExitStatus request_explain(int r, const sd_bus_error *error) {
        bool answered = sd_bus_error_is_set(error);

        switch (answered ? sd_bus_error_get_errno(error) : -r) {
        case ENOENT:
                /* A daemon that says so of something is one that runs. */
                if (answered)
                        break;
                _fallthrough_;
        case ECONNREFUSED:
        case EHOSTUNREACH: /* the bus knows no such service … */
        case ENXIO:        /* … or nobody has its name */
                warnx("drivekeep.service does not run; 'systemctl start drivekeep.service' starts it");
                return EXIT_NO_SERVICE;
        case ECONNRESET:
        case ENOTCONN:
        case ETIMEDOUT:
                warnx("drivekeep.service has not answered; 'systemctl status drivekeep.service' tells more");
                return EXIT_NO_SERVICE;
        case EACCES:
        case EPERM:
                warnx("only root may ask for that; try it with sudo");
                return EXIT_BAD_INPUT;
        }

        warn_escaped("drivekeep.service cannot do that: %s", error->message ?: strerror(-r));
        return EXIT_BAD_INPUT;
}
