/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep apply`: asks the daemon to visit drives now, waits until it has, and shows what came of it. */

#include "choice.h"
#include "request.h"
#include "status-table.h"

static int apply_run(const Options *o) {
        return visit_named_drives(o, o->permanent ? "ApplyPermanent" : "Apply", visited_show_status);
}

const Verb verb_apply = {
        .name = "apply",
        .changes = true,
        .summary = "Have the settings applied now, and show what came of it",
        .arguments = "[DRIVE...]",
        .help = "Has drivekeep.service apply the settings of the drives now, waits for it, and shows what came of it."
                "\v" DRIVE_IS "; none means all drives. "
                "A file system check that runs on a drive is waited for. Needs root.",
        .options = OPTION_PERMANENT | OPTION_VERBOSE | OPTION_JSON | OPTION_STATE_DIR,
        .run = apply_run,
};
