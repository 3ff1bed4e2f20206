/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep apply`: asks the daemon to visit drives now, waits for the visits, and prints the verdicts. */

#include "choice.h"
#include "request.h"
#include "status-table.h"

static int apply_run(const Options *o) {
        return visit_named_drives(o, o->permanent ? "ApplyPermanent" : "Apply", visited_show_status);
}

const Verb verb_apply = {
        .name = "apply",
        .changes = true,
        .summary = "Apply the settings now, and show the verdicts",
        .arguments = "[DRIVE...]",
        .help = "Make drivekeep.service apply the settings of the drives now, wait for completion, and show the verdicts."
                "\v" DRIVE_IS "; without DRIVE: all drives. "
                "Wait for file system checks that run on a drive. Needs root.",
        .options = OPTION_PERMANENT | OPTION_VERBOSE | OPTION_JSON | OPTION_STATE_DIR,
        .run = apply_run,
};
