/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep reload`: what `systemctl reload drivekeep.service` runs. Waits for the daemon's word on its files. */

#include <err.h>

#include "request.h"

static int run(_unused_ const Options *o) {
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        int r;

        r = request_open(&bus);
        return r < 0 ? request_explain(r, &SD_BUS_ERROR_NULL) : request_reload(bus);
}

const Verb verb_reload = {
        .name = "reload",
        .changes = true,
        .summary = "Have the service read its files anew",
        .help = "Has the service read its files anew, and the drives visited whose wanted settings changed. With an error in "
                "a file the old settings stay in force.",
        .run = run,
};
