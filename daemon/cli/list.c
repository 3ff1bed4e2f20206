/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep list`: which drives there are, from udev, and how many of their settings are kept, from the state files
 * when there are any. */

#include <err.h>

#include "choice.h"
#include "inventory.h"
#include "list-view.h"
#include "options.h"
#include "report.h"
#include "verb.h"

static const struct argp_option options[] = { OPTION_JSON, OPTION_STATE_DIR, OPTION_HELP, {} };

static const struct argp argp = {
        .options = options,
        .parser = options_parse,
        .doc = "Shows the drives that drivekeep looks after, whether or not its service runs.",
};

static int run(int argc, char *argv[]) {
        Options o = OPTIONS_DEFAULT;
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(records_done) Records records = {};
        int r;

        (void) argp_parse(&argp, argc, argv, 0, NULL, &o);

        r = inventory_read(NULL, &inventory);
        if (r < 0)
                return r;

        r = records_read(o.state_dir, &records);
        if (r < 0 && r != -ENOENT)
                return r;
        r = records_reveal(&records, inventory.drives, inventory.n_drives);
        if (r < 0)
                return r;

        if (inventory.n_drives == 0)
                warnx(NO_DRIVES);
        else if (records.n_items > 0)
                report_tell_nothing(&records, NULL);

        r = list_view_print(inventory.drives, inventory.n_drives, &records, o.json);
        return r < 0 ? r : EXIT_WANTED;
}

const Verb verb_list = {
        .name = "list",
        .summary = "Show the drives, and how many of their settings are kept",
        .run = run,
};
