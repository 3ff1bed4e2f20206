/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <syslog.h>
#include <systemd/sd-daemon.h>

#include "daemon.h"
#include "journal.h"
#include "rescue.h"

const char *argp_program_version = "drivekeepd " DRIVEKEEP_VERSION;

enum {
        OPTION_NOT_IN_RESCUE = 0x100,
};

static int parse_option(int key, char *arg _unused_, struct argp_state *state) {
        bool *not_in_rescue = state->input;

        switch (key) {
        case OPTION_NOT_IN_RESCUE:
                *not_in_rescue = true;
                return 0;
        case ARGP_KEY_ARG:
                argp_usage(state);
                return EINVAL;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

static int run(void) {
        _cleanup_(daemon_freep) Daemon *d = NULL;
        sd_event *event = NULL;
        sigset_t mask;
        int r;

        (void) sigemptyset(&mask);
        (void) sigaddset(&mask, SIGTERM);
        (void) sigaddset(&mask, SIGINT);
        (void) sigaddset(&mask, SIGCHLD);
        if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
                return -errno;

        r = sd_event_default(&event);
        if (r >= 0)
                r = daemon_new(event, &d);
        if (r >= 0) {
                (void) sd_notify(false, "READY=1");
                r = sd_event_loop(event);
        }

        d = daemon_free(d);
        (void) sd_event_unref(event);
        return r;
}

int main(int argc, char *argv[]) {
        static const struct argp_option options[] = {
                { .name = "not-in-rescue",
                  .key = OPTION_NOT_IN_RESCUE,
                  .doc = "Exit at once: 1 in rescue or emergency mode, else 0" },
                {},
        };
        static const struct argp argp = {
                .options = options,
                .parser = parse_option,
                .doc = "Keeps the settings of drives: applies /etc/drivekeep/drivekeep.conf at boot, hotplug and resume.\v"
                       "Started by systemd as drivekeep.service; see drivekeepd(8).",
        };
        bool not_in_rescue = false;
        int r;

        if (argp_parse(&argp, argc, argv, 0, NULL, &not_in_rescue) != 0)
                return EXIT_FAILURE;
        if (not_in_rescue)
                return rescue_mode() > 0 ? EXIT_FAILURE : EXIT_SUCCESS;

        r = run();
        if (r < 0) {
                journal_log(LOG_ERR, "drivekeepd ends: %s", strerror(-r));
                return EXIT_FAILURE;
        }
        return EXIT_SUCCESS;
}
