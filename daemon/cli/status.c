/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep status`: what became of every setting. From the state files alone, so that it needs neither privileges nor
 * a bus; with --now the service reads the drives first. */

#include <err.h>
#include <stdio.h>
#include <sys/inotify.h>

#include "choice.h"
#include "clock.h"
#include "in-force.h"
#include "lacking.h"
#include "metrics.h"
#include "outlet.h"
#include "output.h"
#include "plan.h"
#include "record-sum.h"
#include "remote.h"
#include "request.h"
#include "wake-history.h"

static bool is_missed(const SettingRecord *s) {
        return !verdict_is_fine(s->verdict, s->optional);
}

/* clang-format off */
static const Column columns[] = {
        { "drive", "DRIVE" },
        { "model", "MODEL", .spared = 1 },
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

static void note_awake(Output *o, const DriveRecord *d) {
        if (d->spindown && d->awake_reason && !drive_record_sleeps(d))
                output_note(o, "%s: was not spun down: %s", d->name, d->awake_reason);
}

/* Only the weak identities: a drive without a name of its own is whatever sits at that place. */
static void note_identity(Output *o, const DriveRecord *d) {
        if (d->dock_model || d->dock_serial)
                output_note(o, "%s: %s (serial %s), behind the USB bridge %s (serial %s)", d->name, strna(d->model),
                            strna(d->serial), strna(d->dock_model), strna(d->dock_serial));

        if (d->n_settings > 0 && d->identity == IDENTITY_SERIAL)
                output_note(o, "%s: known by serial number and model, as it has no WWN", d->name);
        else if (d->n_settings > 0 && d->identity == IDENTITY_PATH)
                output_note(o, "%s: known only by where it is attached, as it has no WWN and no %s", d->name,
                            d->serial ? "model with its serial number" : "serial number");
}

typedef struct Telling {
        Output *output;
        const Options *options;
        uint64_t now;
        Lacking lacking;
        bool accepted; /* something that is shown was accepted, and cannot be read back */
} Telling;

static bool is_shown(const Telling *t, const SettingRecord *s) {
        if (t->options->failed)
                return is_missed(s);
        return t->options->json || t->options->verbose || !verdict_is_absent(s->verdict, s->optional);
}

static void tell_row(Output *o, const DriveRecord *d, const SettingRecord *s, uint64_t now) {
        char when[HUMAN_MAX], when_short[HUMAN_MAX], drift_when[HUMAN_MAX];

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
        output_boolean(o, "optional", s->optional);
        output_boolean(o, "remediable", s->remediable);
        output_text(o, "when", time_format_rfc3339(s->when, when));
        output_cell(o, "when", time_format_short(s->when, now, when_short));
        output_text(o, "drift_from", s->drift_from);
        output_text(o, "drift_to", s->drift_to);
        output_text(o, "drift_when", time_format_rfc3339(s->drift_when, drift_when));
        output_end(o);
}

static void tell_setting(Telling *t, const DriveRecord *d, const SettingRecord *s) {
        char drift_when[HUMAN_MAX];

        tell_row(t->output, d, s, t->now);
        t->accepted = t->accepted || s->accepted;
        if (s->reason && !s->accepted)
                output_note(t->output, "%s %s: %s", d->name, s->name, s->reason);
        if (s->drift_to)
                output_note(t->output,
                            "%s %s: something changed it from %s to %s, noticed at %s; 'drivekeep check' names programs that do",
                            d->name, s->name, strna(s->drift_from), s->drift_to,
                            strna(time_format_rfc3339(s->drift_when, drift_when)));
}

/* The row of a drive without a setting to show: what it waits for, or, with -v, an empty row. */
static void tell_bare(Output *o, const DriveRecord *d) {
        output_row(o);
        output_cell(o, "drive", d->name);
        output_cell(o, "model", d->model);
        output_cell(o, "verdict", d->state == DRIVE_IDLE ? NULL : drive_state_to_string(d->state));
        output_end(o);
}

static void tell_drive(Telling *t, const DriveRecord *d) {
        Output *o = t->output;
        size_t n_shown = 0;

        for (size_t i = 0; i < d->n_settings; i++)
                n_shown += is_shown(t, d->settings + i);
        if (t->options->failed && n_shown == 0 && d->state == DRIVE_IDLE)
                return;
        if (!t->options->json && (d->state != DRIVE_IDLE || (n_shown == 0 && t->options->verbose)))
                tell_bare(o, d);

        output_object(o, NULL);
        output_text(o, "name", d->name);
        output_text(o, "node", d->node);
        output_text(o, "model", d->model);
        output_text(o, "serial", d->serial);
        output_text(o, "wwn", d->wwn);
        output_text(o, "dock_model", d->dock_model);
        output_text(o, "dock_serial", d->dock_serial);
        output_text(o, "identity", identity_kind_to_string(d->identity));
        output_text(o, "state", drive_state_to_string(d->state));
        output_text(o, "waiting_kind", d->waiting_kind == WAIT_NOTHING ? NULL : wait_kind_to_string(d->waiting_kind));
        output_text(o, "waiting_for", d->waiting_for);
        output_text(o, "visit_reason", d->visit_reason);
        note_state(o, d);
        note_awake(o, d);
        note_identity(o, d);

        output_array(o, "settings");
        for (const SettingRecord *s = d->settings; s < d->settings + d->n_settings; s++)
                if (is_shown(t, s))
                        tell_setting(t, d, s);
                else if (s->remediable && s->optional && !t->options->failed)
                        lacking_add(&t->lacking, strna(s->rule), s->name, d->name, strna(s->reason));
        output_end(o);
        output_end(o);
}

/* Of all drives that were asked for, whether or not they are shown. */
static void tell_sum(Output *o, const RecordSum *sum) {
        char line[RECORD_SUM_MAX];

        output_head(o, "%s", record_sum_format(sum, line));
}

/* Notes on the settings that are not shown, and on the age of the records. */
static void tell_rest(const Telling *t, const Records *records, const RecordSum *sum) {
        bool one = sum->n_absent == 1, one_drive = sum->n_drives == 1;
        char since[HUMAN_MAX];

        if (sum->n_absent > 0 && !t->options->verbose)
                output_note(t->output, "%zu setting%s that the drive%s do%s not have %s shown with -v", sum->n_absent,
                            one ? "" : "s", one_drive ? "" : "s", one_drive ? "es" : "", one ? "is" : "are");
        if (!records->served && sum->n_drives > 0)
                output_note(t->output, "as of %s, and the service has ended",
                            strna(time_format_short(records->changed, t->now, since)));
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

ExitStatus status_print(const Records *records, size_t n, uint64_t now, const Options *options) {
        _cleanup_(output_freep) Output *o = output_new(options->json, columns, ELEMENTSOF(columns));
        Telling t = { .output = o, .options = options, .now = now };
        /* Of a drive whose record cannot be read nobody can say that all is well. */
        ExitStatus status = records->n_damaged == 0 ? EXIT_WANTED : EXIT_NOT_WANTED;
        RecordSum sum = {};

        status_tell_nothing(records, n);
        for (size_t i = 0; i < n; i++)
                record_sum_add(&sum, records->items[i]);
        if (n > 0)
                tell_sum(o, &sum);

        output_document(o, "drives");
        for (size_t i = 0; i < n; i++) {
                const DriveRecord *d = records->items[i];

                tell_drive(&t, d);
                for (size_t k = 0; k < d->n_settings; k++)
                        status = exit_worse(status, exit_of_verdict(d->settings[k].verdict, d->settings[k].optional));
                /* What is listed stands from the visit before: the one that is to come, or under way, may find it otherwise. */
                status = exit_worse(status, d->state == DRIVE_IDLE ? EXIT_WANTED : EXIT_LATER);
        }

        lacking_tell(&t.lacking, o);
        lacking_done(&t.lacking);
        if (t.accepted)
                output_note(o, "unverifiable: the drive has accepted it, and nothing can read it back");
        tell_rest(&t, records, &sum);
        output_print(o);
        return status;
}

static bool is_busy(const Records *records, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (records->items[i]->state != DRIVE_IDLE)
                        return true;
        return false;
}

/* The service renames each record into its place, and with its end the kernel closes the file that it has locked there. */
static int watch_records(const char *dir, int *ret_fd) {
        _cleanup_close_ int fd = inotify_init1(IN_CLOEXEC);

        if (fd < 0 || inotify_add_watch(fd, dir, IN_MOVED_TO | IN_DELETE | IN_CLOSE_WRITE | IN_ONLYDIR) < 0)
                return -errno;
        *ret_fd = TAKE_FD(fd);
        return 0;
}

/* The records that are asked for; with `watch`, as soon as no visit to these drives is under way or to come. */
static int read_records(const Options *o, int watch, Records *ret, size_t *ret_n) {
        char events[4096];

        for (;;) {
                int r = records_read(o->state_dir, ret);

                if (r >= 0)
                        r = records_choose(ret, o->names, ret_n);
                if (r != EXIT_WANTED || watch < 0 || !ret->served || !is_busy(ret, *ret_n))
                        return r;

                records_done(ret);
                if (read(watch, events, sizeof events) < 0 && errno != EINTR)
                        return -errno;
        }
}

/* Does one of the drives spin down, so that its wakers matter? */
static bool wants_wakes(const Records *records, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (records->items[i]->spindown || records->items[i]->tracing != TRACING_FINE)
                        return true;
        return false;
}

static void tell_outlets(void) {
        _cleanup_(complaints_done) Complaints found = {};

        outlets_check("", &found);
        for (size_t i = 0; i < found.n_items; i++)
                warn_escaped("%s", found.items[i].sentence);
}

static int run(const Options *o) {
        _cleanup_(records_done) Records records = {};
        _cleanup_close_ int watch = -EBADF;
        int r = 0;
        size_t n;

        if ((o->output && !o->metrics) || (o->metrics && (o->now || o->json || o->failed))) {
                warnx("--output is for --metrics, which prints all that is known, without --now, --json and --failed");
                return EXIT_BAD_INPUT;
        }
        if (o->host && o->output) {
                warnx("--output is for metrics of this machine, not of another one");
                return EXIT_BAD_INPUT;
        }
        if (o->host)
                return remote_status(o);
        if (o->now) {
                in_force_tell(o->state_dir, o->roots);
                return visit_named_drives(o, "Read", visited_show_status);
        }
        if (o->wait)
                r = watch_records(o->state_dir, &watch);
        if (r >= 0)
                r = read_records(o, watch, &records, &n);
        if (r == -ENOENT && o->metrics)
                return metrics_show(&records, 0, o);
        if (r == -ENOENT) {
                warnx("drivekeep.service does not run, so nothing is known; 'systemctl start drivekeep.service' "
                      "starts it");
                return EXIT_NO_SERVICE;
        }
        if (r != EXIT_WANTED)
                return r;
        if (o->metrics)
                return metrics_show(&records, n, o);

        if (!records.served)
                warnx("drivekeep.service does not run, and this is what it knew when it ended; "
                      "'systemctl start drivekeep.service' starts it");
        else if (wants_wakes(&records, n))
                wake_history_tell_untraced(&records);
        in_force_tell(o->state_dir, o->roots);
        if (records.served)
                tell_outlets();
        r = status_print(&records, n, now_usec(), o);
        return records.served ? r : EXIT_NO_SERVICE;
}

const Verb verb_status = {
        .name = "status",
        .paged = true,
        .summary = "Show what became of every setting",
        .arguments = "[DRIVE...]",
        .help = "Shows every setting of the drives: wanted, actual, verdict, when, by which rule, and why."
                "\v" DRIVE_IS "; none means all drives.",
        .options = OPTION_FAILED | OPTION_WAIT | OPTION_NOW | OPTION_VERBOSE | OPTION_JSON | OPTION_METRICS |
                   OPTION_HOST | OPTION_STATE_DIR,
        .run = run,
};
