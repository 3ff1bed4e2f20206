/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep wakes`: what woke the drives while they slept, from the journal. */

#include <err.h>

#include "choice.h"
#include "clock.h"
#include "output.h"
#include "verb.h"
#include "wakes.h"

/* clang-format off */
static const Column columns[] = {
        { "time", "TIME" },
        { "drive", "DRIVE" },
        { "slept", "SLEPT" },
        { "who", "WHO" },
        { "unit", "UNIT" },
        { "what", "WHAT", .wrap = true },
};
/* clang-format on */

static void tell(Output *o, const WakeRecord *w, uint64_t now) {
        char when[HUMAN_MAX], when_short[HUMAN_MAX], slept[VALUE_TEXT_MAX];

        output_row(o);
        output_text(o, "time", time_format_rfc3339(w->when, when));
        output_cell(o, "time", time_format_short(w->when, now, when_short));
        output_text(o, "drive", w->drive);
        output_text(o, "serial", w->serial);
        output_text(o, "model", w->model);
        output_text(o, "kind", w->kind);
        output_text(o, "process", w->process);
        output_number(o, "pid", w->pid.known, w->pid.number);
        output_cell(o, "who", w->who);
        output_text(o, "unit", w->unit);
        output_text(o, "command_line", w->command_line);
        output_text(o, "thread", w->thread);
        output_text(o, "what", w->what);
        output_text(o, "command", w->command);
        output_number(o, "sector", w->sector.known, w->sector.number);
        output_number(o, "inode", w->inode.known, w->inode.number);
        output_number(o, "slept_seconds", w->slept.known, w->slept.number / 1000000);
        output_cell(o, "slept", w->slept.known ? duration_format_short((uint64_t) w->slept.number, slept) : NULL);
        output_end(o);
}

/* ---- whose records are asked for ---- */

/* The drives that the user may mean. Borrows from both kinds of records. */
typedef struct Drives {
        Candidate *items;
        size_t n_items, n_chosen;
} Drives;

static void drives_done(Drives *d) {
        free(d->items);
}

static void drives_add(Drives *d, const char *name, const char *serial, const char *wwn) {
        must_grow(d->items, d->n_items);
        d->items[d->n_items++] = (Candidate){ .name = name, .serial = serial, .wwn = wwn };
}

static bool drives_have(const Drives *d, size_t n, const WakeRecord *w) {
        for (size_t i = 0; i < n; i++)
                if (wake_record_is_of(w, d->items[i].name, d->items[i].serial))
                        return true;
        return false;
}

/* A drive that is here has its name now; one that is not had it last in the journal. */
static int drives_choose_of(Drives *d, const Records *here, const WakeRecords *records, char *const *names) {
        for (size_t i = 0; i < here->n_items; i++)
                drives_add(d, here->items[i]->name, here->items[i]->serial, here->items[i]->wwn);
        for (size_t i = records->n_items; i-- > 0;) {
                const WakeRecord *w = records->items + i;

                if (!drives_have(d, d->n_items, w))
                        drives_add(d, w->drive, w->serial, w->wwn);
        }
        return candidates_choose(d->items, d->n_items, names, "", &d->n_chosen);
}

/* Without names all are meant, also those that are seen for the first time. */
static bool is_meant(const Drives *d, const Options *o, const WakeRecord *w) {
        return !o->names || drives_have(d, d->n_chosen, w);
}

/* ---- what is shown ---- */

static void show(const Drives *d, const Options *o, const WakeRecords *records) {
        /* Pointers to what the records own. */
        WakeRecords meant = { .items = must(calloc(MAX(records->n_items, 1U), sizeof *meant.items)) };
        uint64_t now = now_usec();

        for (size_t i = 0; i < records->n_items; i++)
                if (is_meant(d, o, records->items + i))
                        meant.items[meant.n_items++] = records->items[i];

        if (meant.n_items == 0)
                warnx("no wake%s has been recorded; drivekeepd records them for drives with a spin-down setting, "
                      "see wake_log in drivekeep.conf(5)",
                      o->names ? " of these drives" : "");
        if (o->summary)
                wake_summary_print(&meant, now, o->json);
        else {
                _cleanup_(output_freep) Output *out = output_new(o->json, columns, ELEMENTSOF(columns));

                output_array(out, NULL);
                for (size_t i = 0; i < meant.n_items; i++)
                        tell(out, meant.items + i, now);
                output_print(out);
        }
        free(meant.items);
}

static int show_one(const Options *o, const WakeRecord *w) {
        _cleanup_(output_freep) Output *out = output_new(o->json, NULL, 0);
        char when[HUMAN_MAX];

        if (o->json)
                tell(out, w, w->when);
        else if (w->message)
                output_line(out, "%s %s", strna(time_format_short(w->when, now_usec(), when)), w->message);
        else
                output_line(out, "%s %s: woken by %s", strna(time_format_short(w->when, now_usec(), when)), w->drive,
                            w->who);
        return output_print_line(out);
}

/* Ends by a signal, or when nobody takes the output any more. */
static int watch(const Drives *d, const Options *o, sd_journal *journal) {
        for (;;) {
                _cleanup_(wake_record_done) WakeRecord w = {};
                int r;

                r = wake_record_wait(journal, &w);
                if (r >= 0 && is_meant(d, o, &w))
                        r = show_one(o, &w);
                if (r < 0)
                        return r;
        }
}

static int run(const Options *o) {
        _cleanup_(wake_journal_closep) sd_journal *journal = NULL;
        _cleanup_(wake_records_done) WakeRecords records = {};
        _cleanup_(records_done) Records here = {};
        _cleanup_(drives_done) Drives drives = {};
        int r;

        if (o->summary && o->watch) {
                warnx("say --summary or --watch: a summary is made of what has been recorded");
                return EXIT_BAD_INPUT;
        }

        r = must_not_fail(wake_journal_open(&journal));
        if (r == -EACCES)
                warnx("the journal cannot be read: only root and members of the groups systemd-journal and adm can read it");
        if (r == -ENOENT)
                warnx("there is no journal of the system: see Storage= in journald.conf(5)");
        if (r == -EACCES || r == -ENOENT)
                return EXIT_BAD_INPUT;
        if (r >= 0)
                r = must_not_fail(wake_records_read(journal, &records));
        if (r < 0)
                return r;

        /* The service need not run, and may never have. */
        (void) records_read(o->state_dir, &here);
        r = drives_choose_of(&drives, &here, &records, o->names);
        if (r != EXIT_WANTED)
                return r;
        if (o->watch)
                return watch(&drives, o, journal);

        show(&drives, o, &records);
        return EXIT_WANTED;
}

const Verb verb_wakes = {
        .name = "wakes",
        .paged = true,
        .summary = "Show what woke the drives while they slept",
        .arguments = "[DRIVE...]",
        .help = "Shows each time that a sleeping drive was woken, and by what, as drivekeep.service has recorded it in the journal."
                "\v" DRIVE_IS
                "; none means all drives. Only root and members of the groups systemd-journal and adm can read "
                "the journal.",
        .options = OPTION_WAKES | OPTION_JSON | OPTION_STATE_DIR,
        .run = run,
};
