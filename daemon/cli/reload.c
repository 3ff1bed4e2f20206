/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep reload`: `systemctl reload drivekeep.service` runs this command. Waits until the service has read its files. With --wait or
 * on a terminal, also waits for the visits that follow, and prints their results. */

#include <stdio.h>

#include "output.h"
#include "record-sum.h"
#include "reload.h"

/* Returns true if the command waits for visits. The reload job of systemd does not wait for visits, since a file system check would block
 * the job. */
static bool waits(const Options *o) {
        return o->wait || isatty(STDOUT_FILENO);
}

int reload_request(const Options *o, sd_bus *bus, Records *ret_before) {
        /* If the old records cannot be read, every setting counts as new. */
        if (waits(o))
                (void) records_read(o->state_dir, ret_before);
        return request_reload(bus, waits(o));
}

/* Returns true if the setting should be reported: it changed, or failed again. */
static bool is_reportable(const SettingRecord *s, const SettingRecord *before) {
        if (verdict_is_absent(s->verdict, s->optional))
                return false;
        if (!before || !streq_ptr(s->wanted, before->wanted) || !streq_ptr(s->actual, before->actual) ||
            verdict_is_wanted(s->verdict) != verdict_is_wanted(before->verdict))
                return true;
        return !verdict_is_wanted(s->verdict) && s->when != before->when;
}

static ExitStatus put_setting(FILE *f, const SettingRecord *s) {
        bool missed = !verdict_is_wanted(s->verdict);

        fprintf(f, "; %s %s %s", s->name, strna(s->wanted), verdict_to_string(s->verdict) ?: "pending");
        if (missed && s->reason)
                fprintf(f, " (%s)", s->reason);
        return exit_of_verdict(s->verdict, s->optional);
}

/* Prints the changes of the drive on one line. Merges into *status the exit status of each printed setting, and EXIT_LATER if the drive
 * waits. Returns false if there are no changes. */
static bool print_drive(Output *o, const DriveRecord *d, const DriveRecord *before, ExitStatus *status) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        for (const SettingRecord *s = d->settings; s < d->settings + d->n_settings; s++)
                if (is_reportable(s, before ? drive_record_find(before, s->name) : NULL))
                        *status = exit_worse(*status, put_setting(f, s));
        for (size_t i = 0; before && i < before->n_settings; i++)
                if (!drive_record_find(d, before->settings[i].name))
                        fprintf(f, "; %s is no longer managed", before->settings[i].name);
        if (d->state == DRIVE_WAITING) {
                fprintf(f, "; the visit waits for %s", wait_describe((Wait){ d->waiting_kind, d->waiting_for }));
                *status = exit_worse(*status, EXIT_LATER);
        }
        must_close(f);

        if (*text)
                output_line(o, "%s: %s", d->name, text + strlen("; "));
        return *text;
}

int reload_report(const Options *options, const Records *before) {
        _cleanup_(output_freep) Output *o = output_new(false, NULL, 0);
        _cleanup_(records_done) Records now = {};
        ExitStatus status = EXIT_WANTED;
        char line[RECORD_SUM_MAX];
        RecordSum sum = {};
        bool any = false;
        int r;

        if (!waits(options))
                return EXIT_WANTED;
        r = records_read(options->state_dir, &now);
        if (r < 0)
                return r;

        for (size_t i = 0; i < now.n_items; i++) {
                any |= print_drive(o, now.items[i], records_find(before, now.items[i]->name), &status);
                record_sum_add(&sum, now.items[i]);
        }
        output_line(o, "%s%s", any ? "" : "no setting changed; in total: ", record_sum_format(&sum, line));
        return status;
}

static int reload_run(const Options *o) {
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        _cleanup_(records_done) Records before = {};
        int r;

        r = request_open(&bus);
        if (r < 0)
                return request_explain(r, &SD_BUS_ERROR_NULL);
        r = reload_request(o, bus, &before);
        return r == EXIT_WANTED ? reload_report(o, &before) : r;
}

const Verb verb_reload = {
        .name = "reload",
        .changes = true,
        .summary = "Make the service read its files again",
        .help = "Make the service read its files again, and visit the drives whose wanted settings changed. If a file has an error, the "
                "old settings stay in force. On a terminal, or with --wait, wait for the drives, and show the results.",
        .options = OPTION_WAIT | OPTION_STATE_DIR,
        .run = reload_run,
};
