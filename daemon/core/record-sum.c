/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdarg.h>
#include <stdio.h>

#include "record-sum.h"

/* Returns true if the service put the drive into standby, and the drive has become active since: the verdict is then about the past. */
static bool standby_is_over(const DriveRecord *r, const SettingRecord *x) {
        return streq(x->name, SETTING_STANDBY) && verdict_is_wanted(x->verdict) && x->wanted &&
               !streq(x->wanted, "off") && (r->power == POWER_ACTIVE || (x->actual && streq(x->actual, "off")));
}

void record_sum_add(RecordSum *s, const DriveRecord *r) {
        s->n_drives++;
        s->n_visits += r->state == DRIVE_QUEUED || r->state == DRIVE_VISITING;
        s->n_waiting += r->state == DRIVE_WAITING;

        for (const SettingRecord *x = r->settings; x < r->settings + r->n_settings; x++) {
                if (standby_is_over(r, x))
                        continue;
                if (verdict_is_wanted(x->verdict))
                        s->n_kept++;
                else if (verdict_is_fine(x->verdict, x->optional))
                        s->n_absent++;
                else
                        s->n_missed[x->verdict == _VERDICT_INVALID ? _VERDICT_MAX : x->verdict]++;
        }
}

size_t record_sum_missed(const RecordSum *s) {
        size_t n = 0;

        for (Verdict v = 0; v <= _VERDICT_MAX; v++)
                n += s->n_missed[v];
        return n;
}

_printf_(3, 4) static void put(char *text, size_t *n, const char *format, ...) {
        va_list ap;
        int r;

        va_start(ap, format);
        r = vsnprintf(text + *n, RECORD_SUM_MAX - *n, format, ap);
        va_end(ap);
        *n = MIN(*n + (size_t) MAX(r, 0), RECORD_SUM_MAX - 1U);
}

/* Appends the numbers of settings without the wanted value, by verdict: ", 1 ignored, 1 refused". */
static void put_missed(char *text, size_t *n, const RecordSum *s) {
        for (Verdict v = 0; v <= _VERDICT_MAX; v++)
                if (s->n_missed[v] > 0)
                        put(text, n, "%s%zu %s", *n > 0 ? ", " : "", s->n_missed[v], verdict_to_string(v) ?: "pending");
}

const char *record_sum_format(const RecordSum *s, char buf[static RECORD_SUM_MAX]) {
        size_t n = 0;

        put(buf, &n, "%zu drive%s, %zu setting%s kept", s->n_drives, s->n_drives == 1 ? "" : "s", s->n_kept,
            s->n_kept == 1 ? "" : "s");
        put_missed(buf, &n, s);
        if (s->n_visits > 0)
                put(buf, &n, "; %zu being visited", s->n_visits);
        if (s->n_waiting > 0)
                put(buf, &n, "; %zu waiting", s->n_waiting);
        return buf;
}

const char *record_sum_format_settings(const RecordSum *s, char buf[static RECORD_SUM_MAX]) {
        size_t n = 0;

        if (s->n_kept > 0)
                put(buf, &n, "%zu kept", s->n_kept);
        put_missed(buf, &n, s);
        if (n == 0)
                put(buf, &n, "none");
        return buf;
}
