/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <err.h>

#include "attribute.h"
#include "choice.h"
#include "clock.h"
#include "output.h"
#include "record-sum.h"
#include "settings.h"
#include "status-table.h"
#include "temporary.h"

/* ---- settings that drives lack ---- */

void lacking_add(Lacking *l, const char *rule, const char *setting, const char *drive, const char *reason) {
        for (LackingLine *i = l->items; i < l->items + l->n_items; i++)
                if (streq(i->rule, rule) && streq(i->setting, setting)) {
                        i->n_drives++;
                        return;
                }

        must_grow(l, items);
        l->items[l->n_items++] = (LackingLine){ must(strdup(rule)), must(strdup(setting)), must(strdup(drive)),
                                                must(strdup(reason)), 1 };
}

void lacking_print(const Lacking *l, Output *o) {
        for (const LackingLine *i = l->items; i < l->items + l->n_items; i++) {
                _cleanup_free_ char *more = i->n_drives > 1 ? must_format(" and %zu more", i->n_drives - 1) : NULL;

                output_note(o, "%s: %s is unsupported by %s%s: %s", i->rule, i->setting, i->drive, more ?: "",
                            i->reason);
        }
}

void lacking_done(Lacking *l) {
        for (LackingLine *i = l->items; i < l->items + l->n_items; i++) {
                free(i->rule);
                free(i->setting);
                free(i->drive);
                free(i->reason);
        }
        free(l->items);
}

/* ---- the table ---- */

static bool is_not_kept(const SettingRecord *s) {
        return !verdict_is_fine(s->verdict, s->optional);
}

/* clang-format off */
static const Column columns[] = {
        { "drive", "DRIVE" },
        { "model", "MODEL", .hide_rank = 1 },
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
                output_note(o, "%s: visit queued", d->name);
        else if (d->state == DRIVE_VISITING)
                output_note(o, "%s: visit in progress", d->name);
}

static void note_not_spun_down(Output *o, const DriveRecord *d) {
        if (d->spindown && d->active_reason && !drive_record_in_standby(d))
                output_note(o, "%s: not spun down: %s", d->name, d->active_reason);
}

static void note_suspended(Output *o, const DriveRecord *d, KnownPower power, uint64_t now) {
        char since[HUMAN_MAX];
        const char *text = time_format_short(power.since, now, since);

        if (power.mode == POWER_SUSPENDED)
                output_note(o, "%s: runtime-suspended by the kernel%s%s", d->name, text ? " since " : "", text ?: "");
}

/* Returns why the drive reports no power mode, as a clause. NULL: it reports a power mode, the cause is not known, or the drive does not
 * rotate. */
static const char *power_obstacle(const DriveRecord *d) {
        const Bridge *b = &d->bridge;
        const char *obstacle = b->fragile             ? "the USB bridge failed at an ATA command"
                               : b->uas_blocks        ? "the uas driver blocks ATA commands"
                               : b->without_sat       ? "the USB bridge passes no ATA commands"
                               : b->without_registers ? "the USB bridge returns no ATA registers"
                                                      : NULL;
        char rotational[2];

        if (obstacle && attribute_read(rotational, sizeof rotational, "/sys/block/%s/queue/rotational", d->name) >= 0 &&
            streq(rotational, "0"))
                return NULL;
        return obstacle;
}

static void note_power_obstacle(Output *o, const DriveRecord *d, const char *obstacle) {
        _cleanup_free_ char *show =
                        d->bridge.uas_blocks ? must_format("'drivekeep show %s' names the remedy", d->name) : NULL;

        if (d->n_settings > 0 && obstacle)
                output_note(o,
                            "%s: reports no power mode: %s; the service notices only its own spin-downs (spindown_by = "
                            "\"service\"); %s",
                            d->name, obstacle, show ?: "try another bridge");
}

/* Prints how a drive without a WWN is identified, because its rules may also apply to other drives, such as any drive at the same port. */
static void note_identity(Output *o, const DriveRecord *d) {
        if (d->dock_model || d->dock_serial)
                output_note(o, "%s: %s (serial %s), behind the USB bridge %s (serial %s)", d->name, strna(d->model),
                            strna(d->serial), strna(d->dock_model), strna(d->dock_serial));

        if (d->n_settings > 0 && d->identity == IDENTITY_SERIAL)
                output_note(o, "%s: identified by serial number and model, because the drive has no WWN", d->name);
        else if (d->n_settings > 0 && d->identity == IDENTITY_PATH)
                output_note(o, "%s: identified only by its port: the drive has neither a WWN nor a %s", d->name,
                            d->serial ? "model name" : "serial number");
}

typedef struct StatusPrinter {
        Output *output;
        const Options *options;
        uint64_t now;
        bool served; /* the service runs and updates the records */
        Lacking lacking;
        bool accepted; /* the drive accepted the value of a printed setting, and the value cannot be read back */
} StatusPrinter;

static bool is_shown(const StatusPrinter *t, const SettingRecord *s) {
        if (t->options->failed)
                return is_not_kept(s);
        return t->options->json || t->options->verbose || !verdict_is_absent(s->verdict, s->optional);
}

static void print_row(Output *o, const DriveRecord *d, const SettingRecord *s) {
        output_row(o);
        output_cell(o, "drive", d->name);
        output_cell(o, "model", d->model);
        output_text(o, "name", s->name);
        output_text(o, "wanted", s->wanted);
        output_text(o, "before", s->before);
        output_text(o, "actual", s->actual);
        output_text(o, "verdict", verdict_to_string(s->verdict));
        output_text(o, "reason", s->reason);
        output_text(o, "rule", s->rule);
        output_text(o, "temporary", temporary_to_string(s->temporary));
        output_boolean(o, "optional", s->optional);
        output_boolean(o, "remediable", s->remediable);
        output_time(o, "when", s->when);
        output_text(o, "drift_from", s->drift_from);
        output_text(o, "drift_to", s->drift_to);
        output_time(o, "drift_when", s->drift_when);
        output_end(o);
}

static void print_setting(StatusPrinter *t, const DriveRecord *d, const SettingRecord *s) {
        char drift_when[HUMAN_MAX];

        print_row(t->output, d, s);
        t->accepted = t->accepted || s->accepted;
        if (s->reason && !s->accepted)
                output_note(t->output, "%s %s: %s", d->name, s->name, s->reason);
        if (s->drift_to)
                output_note(t->output,
                            "%s %s: changed from %s to %s outside drivekeep, noticed at %s; 'drivekeep check' names possible causes",
                            d->name, s->name, strna(s->drift_from), s->drift_to,
                            strna(time_format_rfc3339(s->drift_when, drift_when)));
}

/* Prints the row of a drive without settings. If the drive is not idle, the row shows its state. */
static void print_bare_row(Output *o, const DriveRecord *d) {
        output_row(o);
        output_cell(o, "drive", d->name);
        output_cell(o, "model", d->model);
        output_cell(o, "verdict", d->state == DRIVE_IDLE ? NULL : drive_state_to_string(d->state));
        output_end(o);
}

static void print_drive(StatusPrinter *t, const DriveRecord *d) {
        Output *o = t->output;
        KnownPower power = records_power(t->served, d->name, d, t->now);
        const char *obstacle = power_obstacle(d);
        size_t n_shown = 0;

        for (size_t i = 0; i < d->n_settings; i++)
                n_shown += is_shown(t, d->settings + i);
        if (t->options->failed && n_shown == 0 && d->state == DRIVE_IDLE)
                return;
        if (!t->options->json && (d->state != DRIVE_IDLE || (n_shown == 0 && t->options->verbose)))
                print_bare_row(o, d);

        output_object(o, NULL);
        output_text(o, "name", d->name);
        output_text(o, "node", d->node);
        output_text(o, "model", d->model);
        output_text(o, "serial", d->serial);
        output_text(o, "wwn", d->wwn);
        output_text(o, "dock_model", d->dock_model);
        output_text(o, "dock_serial", d->dock_serial);
        output_text(o, "identity", identity_kind_to_string(d->identity));
        output_text(o, "power", power_mode_to_string(power.mode));
        output_time(o, "power_since", power.since);
        output_text(o, "power_obstacle", obstacle);
        output_text(o, "state", drive_state_to_string(d->state));
        output_text(o, "waiting_kind", d->waiting_kind == WAIT_NOTHING ? NULL : wait_kind_to_string(d->waiting_kind));
        output_text(o, "waiting_for", d->waiting_for);
        output_text(o, "visit_reason", d->visit_reason);
        note_state(o, d);
        note_suspended(o, d, power, t->now);
        note_power_obstacle(o, d, obstacle);
        note_not_spun_down(o, d);
        note_identity(o, d);

        output_array(o, "settings");
        for (const SettingRecord *s = d->settings; s < d->settings + d->n_settings; s++)
                if (is_shown(t, s))
                        print_setting(t, d, s);
                else if (s->remediable && s->optional && !t->options->failed)
                        lacking_add(&t->lacking, strna(s->rule), s->name, d->name, strna(s->reason));
        output_end(o);
        output_end(o);
}

/* Prints the summary of all selected drives, including drives without a row in the table. */
static void print_sum(Output *o, const RecordSum *sum) {
        char line[RECORD_SUM_MAX];

        output_head(o, "%s", record_sum_format(sum, line));
}

/* Prints notes on hidden settings and on the age of the records. */
static void print_footer(const StatusPrinter *t, const Records *records, const RecordSum *sum) {
        bool one = sum->n_absent == 1, one_drive = sum->n_drives == 1;
        char since[HUMAN_MAX];

        if (sum->n_absent > 0 && !t->options->verbose)
                output_note(t->output, "%zu setting%s that the drive%s lack%s %s hidden; -v shows %s", sum->n_absent,
                            one ? "" : "s", one_drive ? "" : "s", one_drive ? "s" : "", one ? "is" : "are",
                            one ? "it" : "them");
        if (!records->served && sum->n_drives > 0)
                output_note(t->output, "last update: %s; the service does not run",
                            strna(time_format_short(records->changed, t->now, since)));
}

void status_print_empty(const Records *records, size_t n) {
        if (records->n_items == 0 && records->n_damaged == 0)
                warnx(NO_DRIVES);

        for (size_t i = 0; i < n; i++)
                if (records->items[i]->n_settings > 0 || records->items[i]->state != DRIVE_IDLE)
                        return;
        if (n > 0)
                warnx(NO_RULES);
}

ExitStatus status_print(const Records *records, size_t n, uint64_t now, const Options *options) {
        _cleanup_(output_freep) Output *o = output_new(options->json, columns, ELEMENTSOF(columns));
        StatusPrinter t = { .output = o, .options = options, .now = now, .served = records->served };
        /* An unreadable record leads to EXIT_NOT_WANTED, because a setting in the record may not be as wanted. */
        ExitStatus status = records->n_damaged == 0 ? EXIT_WANTED : EXIT_NOT_WANTED;
        RecordSum sum = {};

        status_print_empty(records, n);
        for (size_t i = 0; i < n; i++)
                record_sum_add(&sum, records->items[i]);
        if (n > 0)
                print_sum(o, &sum);

        output_document(o, "drives");
        for (size_t i = 0; i < n; i++) {
                const DriveRecord *d = records->items[i];

                print_drive(&t, d);
                for (size_t k = 0; k < d->n_settings; k++)
                        status = exit_worse(status, exit_of_verdict(d->settings[k].verdict, d->settings[k].optional));
                /* The verdicts are of the previous visit. A pending or running visit may change the verdicts, so it leads to
                 * EXIT_LATER. */
                status = exit_worse(status, d->state == DRIVE_IDLE ? EXIT_WANTED : EXIT_LATER);
        }

        lacking_print(&t.lacking, o);
        lacking_done(&t.lacking);
        if (t.accepted)
                output_note(o, "unverifiable: the drive accepted the value, which cannot be read back");
        print_footer(&t, records, &sum);
        output_print(o);
        return status;
}

/* Returns true if the visit that was requested at `requested` has read all values that a visit without writes can read. A visit without
 * writes reads no setting with a failed verdict, and no setting whose support depends on another setting (`unless`). */
static bool was_read(const DriveRecord *d, uint64_t requested) {
        for (const SettingRecord *s = d->settings; s < d->settings + d->n_settings; s++) {
                const Setting *row = setting_find(&all_settings, s->name);

                if (s->actual && s->when < requested && verdict_is_in_order(s->verdict) && row && !row->unless)
                        return false;
        }
        return true;
}

int visited_show_status(const Options *o, const Records *records, size_t n, uint64_t requested) {
        for (size_t i = 0; i < n && o->now; i++)
                if (!was_read(records->items[i], requested))
                        warnx("%s was not read now: the drive is in standby, is being checked by fsck, or does not answer; "
                              "the column WHEN shows each value's time",
                              records->items[i]->name);
        return status_print(records, n, now_usec(), o);
}
