/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <time.h>

#include "must.h"
#include "strip.h"

#define SECOND UINT64_C(1000000)
#define CELL_SECONDS (24 * 3600 / (time_t) STRIP_CELLS)

/* The service writes its record of a wake and what it then says of the drive in this time: it is the same wake. */
#define TOGETHER_USEC (60 * SECOND)

/* ---- from records to spans ---- */

static void add_span(Strip *s, uint64_t begin, uint64_t end, StripState state) {
        if (begin >= end)
                return;
        must_grow(s, spans);
        s->spans[s->n_spans++] = (StripSpan){ begin, end, state };
}

/* Behind the last wake, which was at `end`. */
static void add_present(Strip *s, const WakeRecord *last, uint64_t end, const DriveRecord *record, uint64_t told) {
        bool asleep = drive_record_sleeps(record);
        uint64_t since = record->power_when;
        /* In another boot the machine was off between, and nobody knows what the drive did. */
        bool follows = last && streq_ptr(last->boot_id, record->boot_id);

        if (asleep && since >= end) {
                if (follows)
                        add_span(s, end, since, STRIP_AWAKE);
                add_span(s, since, told, STRIP_ASLEEP);
        }
        /* Much later than the wake: it slept between, and what woke it then is in no record. */
        if (record->power == POWER_AWAKE)
                add_span(s, follows && since <= end + TOGETHER_USEC ? end : MAX(since, end), told, STRIP_AWAKE);
}

Strip strip_make(const WakeRecords *records, const char *name, const char *serial, const DriveRecord *record,
                 uint64_t told) {
        Strip s = { .name = name, .serial = serial };
        const WakeRecord *last = NULL;
        uint64_t end = 0;

        for (const WakeRecord *w = records->items; w < records->items + records->n_items; w++) {
                uint64_t slept, begin;

                if (!wake_record_is_of(w, name, serial))
                        continue;
                must_grow(&s, wakes);
                s.wakes[s.n_wakes++] = w;

                /* Not before the wake before it, whatever the record says; the clock may have been set. */
                slept = w->slept.known ? (uint64_t) w->slept.number : 0;
                begin = MAX(w->when - MIN(w->when, slept), end);
                if (last && w->slept.known && streq_ptr(last->boot_id, w->boot_id))
                        add_span(&s, end, begin, STRIP_AWAKE);
                add_span(&s, begin, w->when, STRIP_ASLEEP);
                end = MAX(end, w->when);
                last = w;
        }
        if (record)
                add_present(&s, last, end, record, told);
        return s;
}

void strip_done(Strip *s) {
        free(s->spans);
        free(s->wakes);
        *s = (Strip){};
}

/* ---- from spans to days ---- */

static void add_time(StripCell *c, const Strip *s, uint64_t begin, uint64_t end) {
        uint64_t known = 0;

        for (const StripSpan *i = s->spans; i < s->spans + s->n_spans && i->begin < end; i++) {
                uint64_t from = MAX(i->begin, begin), to = MIN(i->end, end);

                if (from < to) {
                        c->usec[i->state] += to - from;
                        known += to - from;
                }
        }
        c->usec[STRIP_UNKNOWN] += end - begin - known;
}

static int day_second(const StripDay *d, time_t t) {
        struct tm l;

        if (!localtime_r(&t, &l) || l.tm_year != d->year || l.tm_yday != d->yday)
                return -1;
        return (l.tm_hour * 60 + l.tm_min) * 60 + MIN(l.tm_sec, 59);
}

int strip_day_second(const StripDay *d, uint64_t now, uint64_t when) {
        return when > now ? -1 : day_second(d, (time_t) (when / SECOND));
}

void strip_day(const Strip *s, uint64_t now, unsigned ago, StripDay *ret) {
        time_t t = (time_t) (now / SECOND), begin;
        struct tm midnight = {}, noon;

        *ret = (StripDay){};
        (void) localtime_r(&t, &midnight);
        midnight.tm_mday -= (int) ago;
        midnight.tm_hour = midnight.tm_min = midnight.tm_sec = 0;
        midnight.tm_isdst = -1;
        /* Some days have no midnight, as summer time begins then. */
        noon = midnight;
        noon.tm_hour = 12;
        begin = mktime(&midnight);
        (void) mktime(&noon);
        ret->year = noon.tm_year;
        ret->yday = noon.tm_yday;
        (void) strftime(ret->label, sizeof ret->label, "%a %e %b", &noon);

        /* An hour that comes twice adds to its cells twice, and one that is skipped leaves them empty. Days have up to 25 hours, and
         * mktime() may be off by one where there is no midnight. */
        for (t = begin - 3600; t < begin + (time_t) 26 * 3600; t += CELL_SECONDS) {
                uint64_t from = (uint64_t) t * SECOND;
                int second = day_second(ret, t);

                if (second >= 0 && from < now)
                        add_time(ret->cells + second / CELL_SECONDS, s, from,
                                 MIN(from + (uint64_t) CELL_SECONDS * SECOND, now));
        }
        for (size_t i = 0; i < s->n_wakes; i++) {
                int second = strip_day_second(ret, now, s->wakes[i]->when);

                if (second >= 0)
                        ret->cells[second / CELL_SECONDS].n_wakes++;
        }
}

StripCell strip_day_sum(const StripDay *d, size_t first, size_t n) {
        StripCell sum = {};

        for (size_t i = first; i < first + n; i++) {
                for (size_t k = 0; k < _STRIP_STATE_MAX; k++)
                        sum.usec[k] += d->cells[i].usec[k];
                sum.n_wakes += d->cells[i].n_wakes;
        }
        return sum;
}

StripState strip_cell_state(const StripCell *c) {
        if (c->usec[STRIP_UNKNOWN] > 0)
                return STRIP_UNKNOWN;
        if (c->usec[STRIP_ASLEEP] + c->usec[STRIP_AWAKE] == 0)
                return STRIP_NONE;
        return c->usec[STRIP_ASLEEP] > c->usec[STRIP_AWAKE] ? STRIP_ASLEEP : STRIP_AWAKE;
}

const char *strip_cell_asleep(const StripCell *c, char buf[static STRIP_TEXT_MAX]) {
        uint64_t tenths = c->usec[STRIP_ASLEEP] / (360 * SECOND);

        if (c->usec[STRIP_ASLEEP] + c->usec[STRIP_AWAKE] == 0)
                return NULL;
        (void) snprintf(buf, STRIP_TEXT_MAX, "%u.%u h", (unsigned) (tenths / 10), (unsigned) (tenths % 10));
        return buf;
}
