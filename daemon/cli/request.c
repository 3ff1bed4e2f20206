/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <err.h>
#include <stdarg.h>

#include "request.h"
#include "unit-status.h"
#include "warning.h"

/* Visits may wait for an fsck, and the daemon bounds that wait itself; this only keeps us from waiting for ever. */
#define APPLY_TIMEOUT_USEC (UINT64_C(3600) * 1000 * 1000)

#define PRIVATE_ADDRESS "unix:path=/run/drivekeep/private"
#define DESTINATION "org.drivekeep1"
#define OBJECT_PATH "/org/drivekeep1"
#define INTERFACE "org.drivekeep1.Manager"

int request_open(sd_bus **ret) {
        /* It opens to root and to the service's own user, for its ExecReload=. */
        if (systemd_open_socket(PRIVATE_ADDRESS, ret) >= 0)
                return 0;
        return sd_bus_open_system(ret);
}

/* Calls a method with arguments as sd_bus_message_append() takes them, or with names. ret_reply: NULL, when nothing is asked.
 * Whether the service runs is the administrator's decision, and not a side effect of asking. */
static int request_call(sd_bus *bus, const char *method, char *const *names, uint64_t timeout,
                        sd_bus_message **ret_reply, sd_bus_error *ret_error, const char *types, ...) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        va_list ap;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, DESTINATION, OBJECT_PATH, INTERFACE, method);
        if (r >= 0)
                r = sd_bus_message_set_auto_start(m, false);
        if (r >= 0 && names)
                r = sd_bus_message_append_strv(m, (char **) names);
        va_start(ap, types);
        if (r >= 0)
                r = sd_bus_message_appendv(m, types, ap);
        va_end(ap);
        return r < 0 ? r : sd_bus_call(bus, m, timeout, ret_error, ret_reply);
}

int request_catch_up(sd_bus *bus) {
        return request_call(bus, "CatchUp", NULL, 0, NULL, NULL, "");
}

int request_may_read(sd_bus *bus, const char *name, sd_bus_error *ret_error) {
        return request_call(bus, "MayRead", NULL, 0, NULL, ret_error, "s", name);
}

int request_reload(sd_bus *bus, sd_bus_error *ret_error) {
        return request_call(bus, "Reload", NULL, 0, NULL, ret_error, "");
}

int request_release(sd_bus *bus, const char *name, const char *setting, unsigned *ret_n, sd_bus_error *ret_error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        int r;

        r = request_call(bus, "Release", NULL, 0, &reply, ret_error, "ss", name, setting ?: "");
        return r < 0 ? r : sd_bus_message_read(reply, "u", ret_n);
}

int request_apply(sd_bus *bus, char *const *names, bool permanent, char ***ret_visited, sd_bus_error *ret_error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        int r;

        r = request_call(bus, permanent ? "ApplyPermanent" : "Apply", names, APPLY_TIMEOUT_USEC, &reply, ret_error, "");
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
