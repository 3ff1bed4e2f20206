/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* When a drive was asleep and when awake, day by day, as far as records of its wakes tell. Pure: the records and the time come from
 * the caller; the local time zone says what a day is. Times are CLOCK_REALTIME in µs. */

#include "record.h"
#include "wake-records.h"

#define STRIP_DAYS 7U

typedef enum StripState {
        STRIP_UNKNOWN,
        STRIP_AWAKE,
        STRIP_ASLEEP,
        _STRIP_STATE_MAX,
        STRIP_NONE = -1, /* time to come, or an hour that the day does not have */
} StripState;

typedef struct StripSpan {
        uint64_t begin, end;
        StripState state; /* awake or asleep: nothing is known of what is in no span */
} StripSpan;

/* Of one drive. Borrows the records and their texts. */
typedef struct Strip {
        const char *name, *serial;                /* serial may be NULL */
        GROWING_ARRAY(StripSpan, spans);          /* in order of time; they do not overlap */
        GROWING_ARRAY(const WakeRecord *, wakes); /* as the journal has them */
} Strip;

/* `record`: what the service says of the drive now, NULL: nothing; it said so at `told`. */
Strip strip_make(const WakeRecords *records, const char *name, const char *serial, const DriveRecord *record,
                 uint64_t told);
void strip_done(Strip *s);

/* A cell is a quarter of an hour on the clock. On the day on which summer time ends, four cells have two quarters. */
#define STRIP_CELLS 96U
#define STRIP_CELLS_PER_HOUR (STRIP_CELLS / 24)

typedef struct StripCell {
        uint64_t usec[_STRIP_STATE_MAX]; /* how long the drive was in each state, up to now */
        size_t n_wakes;
} StripCell;

#define STRIP_TEXT_MAX 64U

typedef struct StripDay {
        char label[STRIP_TEXT_MAX]; /* "Fri 20 Nov" */
        int year, yday;             /* as in struct tm */
        StripCell cells[STRIP_CELLS];
} StripDay;

/* The local day that was `ago` days before that of `now`. */
void strip_day(const Strip *s, uint64_t now, unsigned ago, StripDay *ret);

/* The cells as one. */
StripCell strip_day_sum(const StripDay *d, size_t first, size_t n);

/* What it is drawn as: not known where of any time in it nothing is known, or else what it was for most of the time. */
StripState strip_cell_state(const StripCell *c);

/* How long the drive was asleep, rounded down: "7.5 h". NULL: nothing is known of this time. */
const char *strip_cell_asleep(const StripCell *c, char buf[static STRIP_TEXT_MAX]);

/* Seconds since midnight on the clock of that day. Negative: it is of another day, or still to come. */
int strip_day_second(const StripDay *d, uint64_t now, uint64_t when);
