/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep status`: what became of every setting. From the state files alone, so that it needs neither privileges nor
 * a bus. */

#include <err.h>

#include "choice.h"
#include "clock.h"
#include "report.h"

static const struct argp_option options[] = { OPTION_JSON, OPTION_STATE_DIR, OPTION_HELP, {} };

static int run(const Options *o) {
        _cleanup_(records_done) Records records = {};
        _cleanup_free_ bool *chosen = NULL;
        int r;

        r = records_read(o->state_dir, &records);
        if (r == -ENOENT) {
                warnx("drivekeep.service does not run, so nothing is known; 'systemctl start drivekeep.service' "
                      "starts it");
                return EXIT_NO_SERVICE;
        }
        if (r < 0)
                return r;

        r = records_choose(&records, o->names, &chosen);
        if (r != EXIT_WANTED)
                return r;

        if (!records.served)
                warnx("drivekeep.service does not run, and this is what it knew when it ended; "
                      "'systemctl start drivekeep.service' starts it");
        r = report_print(&records, chosen, now_usec(), o->json);
        return r < 0 || records.served ? r : EXIT_NO_SERVICE;
}

const Verb verb_status = {
        .name = "status",
        .summary = "Show what became of every setting",
        .arguments = "[DRIVE...]",
        .help = "Shows every setting of the drives: wanted, actual, verdict, when, by which rule, and why."
                "\vDRIVE is a kernel name, a node, a link to it, a serial number or a WWN; none means all drives.",
        .options = options,
        .run = run,
};
