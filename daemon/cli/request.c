/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <err.h>

#include "request.h"
#include "unit-status.h"
#include "warning.h"

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

/* What it means that a call did not work, by the error's name, and by errno where there is no such error. */
typedef struct Meaning {
        const char *errors[4];
        int errnos[3];
        const char *sentence;
        ExitStatus status;
} Meaning;

/* clang-format off */
static const Meaning meanings[] = {
        { { SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER }, { ENOENT, ECONNREFUSED },
          "drivekeep.service does not run; 'systemctl start drivekeep.service' starts it", EXIT_NO_SERVICE },
        { { SD_BUS_ERROR_NO_REPLY, SD_BUS_ERROR_TIMEOUT, SD_BUS_ERROR_DISCONNECTED }, { ECONNRESET, ENOTCONN, ETIMEDOUT },
          "drivekeep.service has not answered; 'systemctl status drivekeep.service' tells more", EXIT_NO_SERVICE },
        { { SD_BUS_ERROR_ACCESS_DENIED, SD_BUS_ERROR_AUTH_FAILED, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED }, { EACCES, EPERM },
          "only root may ask for that; try it with sudo", EXIT_BAD_INPUT },
};
/* clang-format on */

static bool meaning_fits(const Meaning *m, int r, const sd_bus_error *error) {
        if (!sd_bus_error_is_set(error))
                return r == -m->errnos[0] || r == -m->errnos[1] || r == -m->errnos[2];

        for (size_t i = 0; m->errors[i]; i++)
                if (sd_bus_error_has_name(error, m->errors[i]))
                        return true;
        return false;
}

ExitStatus request_explain(int r, const sd_bus_error *error) {
        for (size_t i = 0; i < ELEMENTSOF(meanings); i++)
                if (meaning_fits(meanings + i, r, error)) {
                        warnx("%s", meanings[i].sentence);
                        return meanings[i].status;
                }

        warn_escaped("drivekeep.service cannot do that: %s", error->message ?: strerror(-r));
        return EXIT_BAD_INPUT;
}
