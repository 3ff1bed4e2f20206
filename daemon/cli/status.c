/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep status`: what became of every setting. From the state files alone, so that it needs neither privileges nor
 * a bus. */

#include <err.h>
#include <stdio.h>

#include "choice.h"
#include "clock.h"
#include "output.h"

size_t record_count_kept(const DriveRecord *r) {
        size_t n = 0;

        for (size_t i = 0; i < r->n_settings; i++)
                n += verdict_is_wanted(r->settings[i].verdict);

        return n;
}

char *record_summarize(const DriveRecord *r) {
        size_t kept = record_count_kept(r), counts[_VERDICT_MAX + 1] = {},
               size; /* the last one: without a verdict yet */
        char *text = NULL;
        FILE *f = must(open_memstream(&text, &size));

        for (const SettingRecord *s = r->settings; s < r->settings + r->n_settings; s++)
                if (!verdict_is_wanted(s->verdict))
                        counts[s->verdict == _VERDICT_INVALID ? _VERDICT_MAX : s->verdict]++;

        if (r->n_settings == 0)
                fputs("none", f);
        else if (kept > 0)
                fprintf(f, "%zu kept", kept);
        for (Verdict v = 0; v <= _VERDICT_MAX; v++)
                if (counts[v] > 0)
                        fprintf(f, "%s%zu %s", ftell(f) > 0 ? ", " : "", counts[v], verdict_to_string(v) ?: "pending");

        must_close(f);
        return text;
}

/* clang-format off */
static const Column columns[] = {
        { "drive", "DRIVE" },
        { "name", "SETTING" },
        { "wanted", "WANTED" },
        { "actual", "ACTUAL" },
        { "verdict", "VERDICT", .verdict = true },
        { "when", "WHEN" },
        { "rule", "RULE", .wrap = true, .path = true },
};
/* clang-format on */

static void note_state(Output *o, const DriveRecord *d) {
        if (d->state == DRIVE_WAITING)
                output_note(o, "%s: waits for %s", d->name, wait_describe((Wait){ d->waiting_kind, d->waiting_for }));
        else if (d->state == DRIVE_QUEUED)
                output_note(o, "%s: waits for its turn", d->name);
        else if (d->state == DRIVE_VISITING)
                output_note(o, "%s: is being visited now", d->name);
}

/* Only the weak identities: a drive without a name of its own is whatever sits at that place. */
static void note_identity(Output *o, const DriveRecord *d) {
        if (d->dock_model || d->dock_serial)
                output_note(o, "%s: %s (serial %s), behind the USB bridge %s (serial %s)", d->name, strna(d->model),
                            strna(d->serial), strna(d->dock_model), strna(d->dock_serial));

        if (d->n_settings > 0 && streq_ptr(d->identity, "serial"))
                output_note(o, "%s: known by serial number and model, as it has no WWN", d->name);
        else if (d->n_settings > 0 && streq_ptr(d->identity, "path"))
                output_note(o, "%s: known only by where it is attached, as it has no WWN and no serial number",
                            d->name);
}

static void tell_setting(Output *o, const DriveRecord *d, const SettingRecord *s, uint64_t now) {
        char when[HUMAN_MAX], when_short[HUMAN_MAX], drift_when[HUMAN_MAX];

        output_row(o);
        output_cell(o, "drive", d->name);
        output_text(o, "name", s->name);
        output_text(o, "wanted", s->wanted);
        output_text(o, "before", s->before);
        output_text(o, "actual", s->actual);
        output_text(o, "verdict", verdict_to_string(s->verdict));
        output_text(o, "reason", s->reason);
        output_text(o, "rule", s->rule);
        output_text(o, "when", time_format_rfc3339(s->when, when));
        output_cell(o, "when", time_format_short(s->when, now, when_short));
        output_text(o, "drift_from", s->drift_from);
        output_text(o, "drift_to", s->drift_to);
        output_text(o, "drift_when", time_format_rfc3339(s->drift_when, drift_when));
        output_end(o);

        if (s->reason)
                output_note(o, "%s %s: %s", d->name, s->name, s->reason);
        if (s->drift_to)
                output_note(o,
                            "%s %s: something changed it from %s to %s, noticed at %s; 'drivekeep check' names programs that do",
                            d->name, s->name, strna(s->drift_from), s->drift_to,
                            strna(time_format_rfc3339(s->drift_when, drift_when)));
}

static void tell_drive(Output *o, const DriveRecord *d, uint64_t now) {
        output_object(o, NULL);
        output_text(o, "name", d->name);
        output_text(o, "node", d->node);
        output_text(o, "model", d->model);
        output_text(o, "serial", d->serial);
        output_text(o, "wwn", d->wwn);
        output_text(o, "dock_model", d->dock_model);
        output_text(o, "dock_serial", d->dock_serial);
        output_text(o, "identity", d->identity);
        output_text(o, "state", drive_state_to_string(d->state));
        output_text(o, "waiting_kind", d->waiting_kind == WAIT_NOTHING ? NULL : wait_kind_to_string(d->waiting_kind));
        output_text(o, "waiting_for", d->waiting_for);
        output_text(o, "visit_reason", d->visit_reason);
        note_state(o, d);
        note_identity(o, d);

        output_array(o, "settings");
        for (size_t i = 0; i < d->n_settings; i++)
                tell_setting(o, d, d->settings + i, now);
        output_end(o);
        output_end(o);
}

void status_tell_nothing(const Records *records, size_t n) {
        if (records->n_items == 0 && records->n_damaged == 0)
                warnx(NO_DRIVES);

        for (size_t i = 0; i < n; i++)
                if (records->items[i]->n_settings > 0 || records->items[i]->state != DRIVE_IDLE)
                        return;
        if (n > 0)
                warnx(NO_RULES);
}

ExitStatus status_print(const Records *records, size_t n, uint64_t now, bool json) {
        _cleanup_(output_freep) Output *o = output_new(json, columns, ELEMENTSOF(columns));
        /* Of a drive whose record cannot be read nobody can say that all is well. */
        bool wanted = records->n_damaged == 0;

        status_tell_nothing(records, n);

        output_array(o, NULL);
        for (size_t i = 0; i < n; i++) {
                const DriveRecord *d = records->items[i];

                /* In the table a drive without settings has a row too, so that nobody looks for it in vain. */
                if (!json && (d->n_settings == 0 || d->state != DRIVE_IDLE)) {
                        output_row(o);
                        output_cell(o, "drive", d->name);
                        output_cell(o, "verdict", d->state == DRIVE_IDLE ? NULL : drive_state_to_string(d->state));
                        output_end(o);
                }
                tell_drive(o, d, now);
                /* What is listed stands from the visit before: the one that is to come, or under way, may find it otherwise. */
                wanted = wanted && record_count_kept(d) == d->n_settings && d->state == DRIVE_IDLE;
        }

        output_print(o);
        return wanted ? EXIT_WANTED : EXIT_NOT_WANTED;
}

static int run(const Options *o) {
        _cleanup_(records_done) Records records = {};
        size_t n;
        int r;

        r = records_read(o->state_dir, &records);
        if (r == -ENOENT) {
                warnx("drivekeep.service does not run, so nothing is known; 'systemctl start drivekeep.service' "
                      "starts it");
                return EXIT_NO_SERVICE;
        }
        if (r >= 0)
                r = records_choose(&records, o->names, &n);
        if (r != EXIT_WANTED)
                return r;

        if (!records.served)
                warnx("drivekeep.service does not run, and this is what it knew when it ended; "
                      "'systemctl start drivekeep.service' starts it");
        r = status_print(&records, n, now_usec(), o->json);
        return records.served ? r : EXIT_NO_SERVICE;
}

const Verb verb_status = {
        .name = "status",
        .paged = true,
        .summary = "Show what became of every setting",
        .arguments = "[DRIVE...]",
        .help = "Shows every setting of the drives: wanted, actual, verdict, when, by which rule, and why."
                "\v" DRIVE_IS "; none means all drives.",
        .options = OPTION_JSON | OPTION_STATE_DIR,
        .run = run,
};
