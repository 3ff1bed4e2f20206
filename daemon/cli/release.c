/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep release`: releases settings from quarantine, so that they are written again. */

#include <err.h>
#include <stdio.h>

#include "choice.h"
#include "output.h"
#include "request.h"

static int release(const char *name, const char *setting) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        unsigned n = 0;
        int r;

        r = request_open(&bus);
        if (r >= 0)
                r = sd_bus_call_method(bus, DAEMON, "Release", &error, &reply, "ss", name, setting ?: "");
        if (r >= 0)
                r = sd_bus_message_read(reply, "u", &n);
        if (r < 0)
                return request_explain(r, &error);

        if (n == 0) {
                warn_escaped(setting ? "%s: %s is not in quarantine" : "%s: %s is in quarantine", name,
                             setting ?: "no setting");
                return EXIT_BAD_INPUT;
        }

        printf("%s: released %s from quarantine; the service now visits the drive\n", name, setting ?: "all settings");
        return EXIT_WANTED;
}

static int release_run(const Options *o) {
        _cleanup_(records_done) Records records = {};
        size_t n;
        int r;

        /* An empty SETTING comes from an unset variable in a script. Such a script means one setting, so the command must not release
         * all settings. */
        if (!o->names || (o->names[1] && (o->names[2] || !*o->names[1]))) {
                warnx("give one drive, and at most one setting; usage: 'drivekeep release DRIVE [SETTING]'");
                return EXIT_BAD_INPUT;
        }

        r = records_read(o->state_dir, &records);
        if (r == -ENOENT)
                return request_explain(r, &SD_BUS_ERROR_NULL);
        if (r >= 0)
                r = records_choose(&records, (char *const[]){ o->names[0], NULL }, &n);
        return r == EXIT_WANTED ? release(records.items[0]->name, o->names[1]) : r;
}

const Verb verb_release = {
        .name = "release",
        .changes = true,
        .summary = "Release settings from quarantine",
        .arguments = "DRIVE [SETTING]",
        .help = "Release a setting of this drive from quarantine, or all settings if no SETTING is given, and make drivekeep.service write them now. "
                "A setting is in quarantine if the machine or the drive went down while the setting was being written. If the whole drive is "
                "in quarantine, the release of any SETTING also releases the drive."
                "\v" DRIVE_IS ". 'drivekeep status' shows what is in "
                "quarantine. Needs root.",
        .options = OPTION_STATE_DIR,
        .run = release_run,
};
