/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep wakes`: reads the journal, and prints when drives were woken from standby. */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>

#include "changed-file.h"
#include "clock.h"
#include "inventory.h"
#include "kept.h"
#include "must.h"
#include "output.h"
#include "verb.h"
#include "wake-history.h"
#include "wakes.h"

/* clang-format off */
static const Column columns[] = {
        { "time", "TIME" },
        { "drive", "DRIVE" },
        { "standby", "STANDBY" },
        { "waker", "WAKER" },
        { "unit", "UNIT" },
        { "what", "WHAT", .wrap = true },
};
/* clang-format on */

void wake_print_access(Output *o, const WakeRecord *w) {
        output_text(o, "kind", w->kind);
        output_text(o, "process", w->process);
        output_text(o, "unit", w->unit);
        output_text(o, "thread", w->thread);
        output_text(o, "what", w->what);
        output_text(o, "command", w->command);
        output_number(o, "inode", w->inode.known, w->inode.number);
}

void wake_print(Output *o, const WakeRecord *w) {
        char standby[VALUE_TEXT_MAX];

        wake_print_access(o, w);
        output_number(o, "pid", w->pid.known, w->pid.number);
        output_text(o, "waker", wake_waker(w));
        output_cell(o, "waker", w->waker);
        output_text(o, "command_line", w->command_line);
        output_number(o, "sector", w->sector.known, w->sector.number);
        output_number(o, "standby_seconds", w->standby.known, w->standby.number / 1000000);
        output_cell(o, "standby",
                    w->standby.known ? duration_format_short((uint64_t) w->standby.number, standby) : NULL);
}

static void wakes_print(Output *o, const WakeRecord *w, const char *path) {
        output_row(o);
        output_time(o, "time", w->when);
        output_text(o, "boot_id", w->boot_id);
        output_text(o, "drive", w->drive);
        output_text(o, "serial", w->serial);
        output_text(o, "model", w->model);
        wake_print(o, w);
        output_text(o, "path", path);
        output_end(o);
}

/* Prints the drive's power mode, when the mode began, and when the service last confirmed the mode. A plot of the time between wakes
 * needs these two times. `here`: the service's records. */
static void wakes_print_drive(Output *o, const Candidate *c, const WakeRecords *kept, const Records *here,
                              const ChangedFiles *files) {
        const DriveRecord *record = c->item;
        bool known = record && record->power != POWER_UNKNOWN;

        output_object(o, NULL);
        output_text(o, "name", c->name);
        output_text(o, "serial", c->serial);
        output_text(o, "power", known ? power_mode_to_string(record->power) : NULL);
        output_time(o, "power_since", known ? record->power_when : 0);
        output_time(o, "power_until", !known ? 0 : here->served ? now_usec() : here->changed);
        kept_print_json(o, record, kept, here, files);
        output_end(o);
}

/* ---- programs that keep drives active ---- */

static void print_kept(Output *o, const DriveRecord *r, const WakeRecords *kept) {
        for (size_t i = 0; i < kept->n_items; i++) {
                _cleanup_free_ char *text = kept_format(kept->items + i);
                const char *advice = kept_advice(r, kept->items + i);

                output_note(o, "%s: kept active: %s%s%s", r->name, text, advice ? "; " : "", advice ?: "");
        }
}

/* ---- output ---- */

/* Prints the wakes, and the programs that now keep the drives active. */
static void show_all(const WakeHistory *h, const WakeRecords *chosen, bool json) {
        _cleanup_(output_freep) Output *out = output_new(json, columns, ELEMENTSOF(columns));
        _cleanup_(changed_files_done) ChangedFiles files = {};
        WakeRecords *kept = must(calloc(MAX(h->n_chosen, 1U), sizeof *kept)); /* of each drive */

        for (size_t i = 0; i < h->n_chosen; i++) {
                kept_read(&h->here, h->drives[i].item, kept + i);
                for (size_t k = 0; k < kept[i].n_items; k++)
                        changed_files_add(&files, &h->here, kept[i].items + k);
        }
        for (size_t i = chosen->n_items; i-- > 0;)
                changed_files_add(&files, &h->here, chosen->items + i);
        changed_files_find(&files, "/proc", INVENTORY_CLASSDIR);

        output_document(out, NULL);
        output_array(out, "wakes");
        for (const WakeRecord *w = chosen->items; w < chosen->items + chosen->n_items; w++)
                wakes_print(out, w, changed_files_path(&files, &h->here, w));
        output_end(out);
        output_array(out, "drives");
        for (size_t i = 0; i < h->n_chosen; i++)
                wakes_print_drive(out, h->drives + i, kept + i, &h->here, &files);
        output_end(out);
        for (size_t i = 0; i < h->n_chosen && !json; i++)
                print_kept(out, h->drives[i].item, kept + i);
        changed_files_print(&files, out);
        output_print(out);

        for (size_t i = 0; i < h->n_chosen; i++)
                wake_records_done(kept + i);
        free(kept);
}

static void wakes_show(const WakeHistory *h, const Options *o) {
        const WakeRecords *records = &h->records;
        /* Shallow copies of records; `records` owns the strings. */
        WakeRecords chosen = { .items = must(calloc(MAX(records->n_items, 1U), sizeof *chosen.items)) };

        for (size_t i = 0; i < records->n_items; i++)
                if (wake_history_means(h, o, records->items + i))
                        chosen.items[chosen.n_items++] = records->items[i];

        if (chosen.n_items == 0)
                wake_history_print_empty(o);
        if (o->summary)
                wake_summary_print(&chosen, o->json);
        else
                show_all(h, &chosen, o->json);
        free(chosen.items);
}

static int print_record(const Options *o, const Records *here, const WakeRecord *w) {
        _cleanup_(output_freep) Output *out = output_new(o->json, NULL, 0);
        _cleanup_(changed_files_done) ChangedFiles files = {};
        const char *path;
        char when[HUMAN_MAX];

        changed_files_add(&files, here, w);
        changed_files_find(&files, "/proc", INVENTORY_CLASSDIR);
        path = changed_files_path(&files, here, w);
        output_document(out, "wakes");
        if (o->json)
                wakes_print(out, w, path);
        else if (w->message)
                output_line(out, "%s %s%s%s", strna(time_format_short(w->when, now_usec(), when)), w->message,
                            path ? " File: " : "", path ?: "");
        else
                output_line(out, "%s %s: woken by %s", strna(time_format_short(w->when, now_usec(), when)), w->drive,
                            w->waker);
        return output_print_line(out);
}

/* Runs until a signal arrives, or until the output cannot be written. */
static int watch(const WakeHistory *h, const Options *o) {
        struct pollfd fd;

        for (;;) {
                _cleanup_(wake_record_done) WakeRecord w = {};
                int r;

                r = wake_record_wait(h->journal, &fd, 1, &w);
                if (r >= 0 && wake_history_means(h, o, &w))
                        r = print_record(o, &h->here, &w);
                if (r < 0)
                        return r;
        }
}

static int wakes_run(const Options *o) {
        _cleanup_(wake_history_done) WakeHistory history = {};
        int r;

        if (o->summary && o->watch) {
                warnx("--summary and --watch exclude each other");
                return EXIT_BAD_INPUT;
        }

        r = wake_history_read(&history, RECORDS_OF_WAKES, o);
        if (r != EXIT_WANTED)
                return r;
        wake_history_print_untraced(&history.here);
        if (o->watch)
                return watch(&history, o);

        wakes_show(&history, o);
        return EXIT_WANTED;
}

const Verb verb_wakes = {
        .name = "wakes",
        .paged = true,
        .summary = "Show which programs woke drives, or keep them active",
        .arguments = "[DRIVE...]",
        .help = "Show each wake of a drive from standby and its waker, as recorded in the journal by drivekeep.service. "
                "Also show the programs that now keep drives from their spin-down."
                "\v" DRIVE_IS
                "; without DRIVE: all drives. Only root and members of the groups systemd-journal and adm can read "
                "the journal.",
        .options = OPTION_WAKES | OPTION_JSON | OPTION_STATE_DIR,
        .run = wakes_run,
};
