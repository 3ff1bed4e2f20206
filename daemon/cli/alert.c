/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep alert`: starts units/drivekeep-alert, which tells the administrator of settings that have not come true. */

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
        .summary = "Tell root by mail what has not come true since it was told last",
        .help = "Tells root by mail, or whoever /etc/drivekeep/alert tells, of settings that are refused, ignored, failed, quarantined or "
                "drifted, and have not been told of. drivekeep-alert.service runs this."
                "\vOf a drive nobody is told more than once an hour: then the exit status is 75.",
        .options = OPTION_STATE_DIR | OPTION_CONFIG_ROOT,
        .run = alert_run,
};
