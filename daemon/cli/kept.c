/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>

#include "kept.h"
#include "must.h"
#include "wake.h"
#include "wakes.h"

void kept_read(const Records *records, const DriveRecord *r, WakeRecords *ret) {
        _cleanup_(wake_journal_closep) sd_journal *j = NULL;
        _cleanup_free_ char *match = NULL;
        WakeRecords all = {};

        if (!r || !records->served || r->kept_when == 0)
                return;
        match = must_format("DRIVEKEEP_ACTIVE_WHEN=%" PRIu64, r->kept_when);
        if (wake_journal_open(RECORDS_OF_ACTIVE, match, &j) < 0 || wake_records_read(j, &all) < 0)
                return;
        for (WakeRecord *w = all.items; w < all.items + all.n_items; w++)
                if (wake_record_is_of(w, r->name, r->serial)) {
                        must_grow(ret, items);
                        ret->items[ret->n_items++] = *w;
                        *w = (WakeRecord){};
                }
        wake_records_done(&all);
}

char *kept_format(const WakeRecord *w) {
        char text[WAKE_USE_MAX];

        return must(strdup(wake_format_use(w->process, w->thread, w->unit, w->what, (uint64_t) w->times.number,
                                           (uint64_t) w->usec.number, text)));
}

const char *kept_advice(const DriveRecord *r, const WakeRecord *w) {
        const char *advice;

        /* Advice for wakers, such as "smartctl -n standby", is no remedy here: the drive is active. */
        if (streq_ptr(w->kind, "command"))
                return r->spindown_served
                                       ? "remove commands_are_use from the drive's block, so that commands do not postpone the spin-down"
                                       : "make the interval longer than the spin-down time, or set spindown_by = \"service\", so that "
                                         "commands do not postpone the spin-down";
        advice = wake_advice(w);
        if (!advice && w->unit && ends_with(w->unit, ".service"))
                return "move its files to another drive, or stop the unit while the drive should be in standby";
        return advice;
}

static void print_program(Output *o, const DriveRecord *r, const WakeRecord *w, const char *path) {
        output_object(o, NULL);
        wake_print_access(o, w);
        output_text(o, "path", path);
        output_number(o, "times", w->times.known, w->times.number);
        output_number(o, "seconds", w->usec.known, w->usec.number / 1000000);
        output_text(o, "advice", kept_advice(r, w));
        output_end(o);
}

void kept_print_json(Output *o, const DriveRecord *r, const WakeRecords *kept, const Records *records,
                     const ChangedFiles *files) {
        if (kept->n_items == 0) {
                output_text(o, "kept_active", NULL);
                return;
        }

        output_object(o, "kept_active");
        output_time(o, "time", r->kept_when);
        output_array(o, "programs");
        for (size_t i = 0; i < kept->n_items; i++)
                print_program(o, r, kept->items + i, changed_files_path(files, records, kept->items + i));
        output_end(o);
        output_end(o);
}
