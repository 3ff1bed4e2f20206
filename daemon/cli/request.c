/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <err.h>

#include "request.h"
#include "text.h"
#include "unit-status.h"

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

/* A method that is told nothing; what it answers is of no interest. */
static int request_plain(sd_bus *bus, const char *method, sd_bus_error *ret_error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, DESTINATION, OBJECT_PATH, INTERFACE, method);
        if (r >= 0)
                r = sd_bus_message_set_auto_start(m, false);
        return r < 0 ? r : sd_bus_call(bus, m, 0, ret_error, NULL);
}

int request_catch_up(sd_bus *bus) {
        return request_plain(bus, "CatchUp", NULL);
}

int request_may_read(sd_bus *bus, const char *name, sd_bus_error *ret_error) {
        return sd_bus_call_method(bus, DESTINATION, OBJECT_PATH, INTERFACE, "MayRead", ret_error, NULL, "s", name);
}

int request_reload(sd_bus *bus, sd_bus_error *ret_error) {
        return request_plain(bus, "Reload", ret_error);
}

int request_release(sd_bus *bus, const char *name, const char *setting, unsigned *ret_n, sd_bus_error *ret_error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
        uint32_t n;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, DESTINATION, OBJECT_PATH, INTERFACE, "Release");
        if (r >= 0)
                r = sd_bus_message_set_auto_start(m, false);
        if (r >= 0)
                r = sd_bus_message_append(m, "ss", name, setting ?: "");
        if (r >= 0)
                r = sd_bus_call(bus, m, 0, ret_error, &reply);
        if (r >= 0)
                r = sd_bus_message_read(reply, "u", &n);
        if (r < 0)
                return r;

        *ret_n = n;
        return 0;
}

int request_apply(sd_bus *bus, char *const *names, bool permanent, char ***ret_visited, sd_bus_error *ret_error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, DESTINATION, OBJECT_PATH, INTERFACE,
                                           permanent ? "ApplyPermanent" : "Apply");
        if (r < 0)
                return r;

        /* Whether the service runs is the administrator's decision, and not a side effect of asking. */
        r = sd_bus_message_set_auto_start(m, false);
        if (r < 0)
                return r;

        r = sd_bus_message_append_strv(m, (char **) names);
        if (r < 0)
                return r;

        r = sd_bus_call(bus, m, APPLY_TIMEOUT_USEC, ret_error, &reply);
        if (r < 0)
                return r;

        return sd_bus_message_read_strv(reply, ret_visited);
}

static bool error_is_any(const sd_bus_error *e, const char *const *names) {
        for (; *names; names++)
                if (sd_bus_error_has_name(e, *names))
                        return true;

        return false;
}

ExitStatus request_explain(int r, const sd_bus_error *error) {
        static const char *const not_running[] = { SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER, NULL };
        static const char *const gone[] = { SD_BUS_ERROR_NO_REPLY, SD_BUS_ERROR_TIMEOUT, SD_BUS_ERROR_DISCONNECTED,
                                            NULL };
        static const char *const denied[] = { SD_BUS_ERROR_ACCESS_DENIED, SD_BUS_ERROR_AUTH_FAILED,
                                              SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED, NULL };
        _cleanup_free_ char *message = NULL;

        if (error_is_any(error, not_running) || (!sd_bus_error_is_set(error) && (r == -ENOENT || r == -ECONNREFUSED))) {
                warnx("drivekeep.service does not run; 'systemctl start drivekeep.service' starts it");
                return EXIT_NO_SERVICE;
        }

        if (error_is_any(error, gone) ||
            (!sd_bus_error_is_set(error) && (r == -ECONNRESET || r == -ENOTCONN || r == -ETIMEDOUT))) {
                warnx("drivekeep.service has not answered; 'systemctl status drivekeep.service' tells more");
                return EXIT_NO_SERVICE;
        }

        if (error_is_any(error, denied) || (!sd_bus_error_is_set(error) && (r == -EACCES || r == -EPERM))) {
                warnx("only root may ask for that; try it with sudo");
                return EXIT_BAD_INPUT;
        }

        message = text_escape(error->message ?: strerror(-r), NULL);
        warnx("drivekeep.service cannot do that: %s", strna(message));
        return EXIT_BAD_INPUT;
}
