/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep alert`: runs units/drivekeep-alert, which informs the administrator about settings that are not as wanted. */

#include "output.h"
#include "verb.h"

static int alert_run(const Options *o) {
        (void) execl(ALERT_PROGRAM, "drivekeep-alert", o->state_dir, o->roots[0], NULL);
        warn_escaped(ALERT_PROGRAM " cannot be started: %s", strerror(errno));
        return EXIT_BAD_INPUT;
}

const Verb verb_alert = {
        .name = "alert",
        .changes = true,
        .summary = "Send a mail about settings that are not as wanted",
        .help = "Send root a mail, or run /etc/drivekeep/alert instead, about settings that are refused, ignored, failed, quarantined or "
                "drifted and have not been reported yet. drivekeep-alert.service runs this command."
                "\vSend at most one alert an hour per drive; the exit status is 75 if an alert must wait.",
        .options = OPTION_STATE_DIR | OPTION_CONFIG_ROOT,
        .run = alert_run,
};
