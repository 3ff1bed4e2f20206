/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <err.h>
#include <stdio.h>
#include <time.h>

#include "choice.h"
#include "json-add.h"
#include "report.h"
#include "table.h"

bool record_is_wanted(const DriveRecord *r) {
        for (size_t i = 0; i < r->n_settings; i++)
                if (!verdict_is_wanted(r->settings[i].verdict))
                        return false;

        /* What is listed stands from the visit before: the one that is to come, or under way, may find it otherwise. */
        return r->state == DRIVE_IDLE;
}

size_t record_count_kept(const DriveRecord *r) {
        size_t n = 0;

        for (size_t i = 0; i < r->n_settings; i++)
                n += verdict_is_wanted(r->settings[i].verdict);

        return n;
}

int record_summarize(const DriveRecord *r, char **ret) {
        _cleanup_free_ char *text = NULL;
        size_t counts[_VERDICT_MAX] = {}, pending = 0, size;
        const char *comma = "";
        FILE *f;

        for (size_t i = 0; i < r->n_settings; i++)
                if (r->settings[i].verdict == _VERDICT_INVALID)
                        pending++;
                else
                        counts[r->settings[i].verdict]++;

        f = open_memstream(&text, &size);
        if (!f)
                return -ENOMEM;

        if (r->n_settings == 0)
                fputs("none", f);
        if (record_count_kept(r) > 0) {
                fprintf(f, "%zu kept", record_count_kept(r));
                comma = ", ";
        }
        for (Verdict v = 0; v < _VERDICT_MAX; v++)
                if (counts[v] > 0 && !verdict_is_wanted(v)) {
                        fprintf(f, "%s%zu %s", comma, counts[v], verdict_to_string(v));
                        comma = ", ";
                }
        if (pending > 0)
                fprintf(f, "%s%zu pending", comma, pending);

        if (fclose(f) != 0)
                return -ENOMEM;

        *ret = TAKE_PTR(text);
        return 0;
}

static int report_print_text(const Records *records, const bool *chosen) {
        _cleanup_(table_freep) Table *t = NULL;
        struct timespec now;
        int r;

        (void) clock_gettime(CLOCK_REALTIME, &now);
        r = report_table(records, chosen, (uint64_t) now.tv_sec * 1000000, &t);
        if (r < 0)
                return r;

        r = table_print(t);
        if (r < 0)
                return r;

        return report_notes(records, chosen, stdout);
}

static int report_print_json(const Records *records, const bool *chosen) {
        _cleanup_(json_putp) struct json_object *o = NULL;
        int r;

        r = report_json(records, chosen, &o);
        if (r < 0)
                return r;

        return json_print(o);
}

void report_tell_nothing(const Records *records, const bool *chosen) {
        bool any = false;

        if (records->n_items == 0 && records->n_damaged == 0)
                warnx(NO_DRIVES);

        for (size_t i = 0; i < records->n_items; i++) {
                const DriveRecord *r = records->items[i];

                if (chosen && !chosen[i])
                        continue;
                if (r->n_settings > 0 || r->state != DRIVE_IDLE)
                        return;
                any = true;
        }
        if (any)
                warnx(NO_RULES);
}

int report_print(const Records *records, const bool *chosen, bool json) {
        int r;

        report_tell_nothing(records, chosen);
        r = json ? report_print_json(records, chosen) : report_print_text(records, chosen);
        if (r < 0)
                return r;

        for (size_t i = 0; i < records->n_items; i++)
                if (chosen[i] && !record_is_wanted(records->items[i]))
                        return EXIT_NOT_WANTED;

        /* Of a drive whose record cannot be read nobody can say that all is well. */
        return records->n_damaged > 0 ? EXIT_NOT_WANTED : EXIT_WANTED;
}

int report_choose(const Records *records, char *const *names, bool **ret) {
        _cleanup_free_ Candidate *candidates = NULL;

        candidates = calloc(MAX(records->n_items, 1U), sizeof *candidates);
        if (!candidates)
                return -ENOMEM;

        for (size_t i = 0; i < records->n_items; i++) {
                const DriveRecord *d = records->items[i];

                candidates[i] = (Candidate){ .name = d->name, .serial = d->serial, .wwn = d->wwn };
        }

        return candidates_choose(candidates, records->n_items, names, "", ret);
}
