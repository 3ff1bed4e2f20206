/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "record-sum.h"

void record_sum_add(RecordSum *s, const DriveRecord *r) {
        s->n_drives++;
        s->n_visits += r->state == DRIVE_QUEUED || r->state == DRIVE_VISITING;
        s->n_waiting += r->state == DRIVE_WAITING;

        for (const SettingRecord *x = r->settings; x < r->settings + r->n_settings; x++)
                if (verdict_is_wanted(x->verdict))
                        s->n_kept++;
                else if (verdict_is_fine(x->verdict, x->optional))
                        s->n_absent++;
                else
                        s->n_missed[x->verdict == _VERDICT_INVALID ? _VERDICT_MAX : x->verdict]++;
}

size_t record_sum_missed(const RecordSum *s) {
        size_t n = 0;

        for (Verdict v = 0; v <= _VERDICT_MAX; v++)
                n += s->n_missed[v];
        return n;
}

/* Appends ", 1 ignored, 1 refused". */
static void put_missed(FILE *f, const RecordSum *s) {
        for (Verdict v = 0; v <= _VERDICT_MAX; v++)
                if (s->n_missed[v] > 0)
                        fprintf(f, "%s%zu %s", ftell(f) > 0 ? ", " : "", s->n_missed[v],
                                verdict_to_string(v) ?: "pending");
}

static int finish(FILE *f, char **text, char **ret) {
        if (fclose(f) != 0) {
                free(*text);
                return -ENOMEM;
        }
        *ret = *text;
        return 0;
}

int record_sum_format(const RecordSum *s, char **ret) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return -ENOMEM;
        fprintf(f, "%zu drive%s, %zu setting%s kept", s->n_drives, s->n_drives == 1 ? "" : "s", s->n_kept,
                s->n_kept == 1 ? "" : "s");
        put_missed(f, s);
        if (s->n_visits > 0)
                fprintf(f, "; %zu being visited", s->n_visits);
        if (s->n_waiting > 0)
                fprintf(f, "; %zu waiting", s->n_waiting);
        return finish(f, &text, ret);
}

int record_sum_format_settings(const RecordSum *s, char **ret) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return -ENOMEM;
        if (s->n_kept > 0)
                fprintf(f, "%zu kept", s->n_kept);
        put_missed(f, s);
        if (ftell(f) == 0)
                fputs("none", f);
        return finish(f, &text, ret);
}
