/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How a drive that is to spin down is used, and what that costs it: the times without use, and what the drive counts of its own wear.
 * From these it follows how often another timer would have spun the drive up. Part of the drive's record (drive-record.h); kept over boots,
 * and begun anew when another timer is set. Pure. */

#include "value.h"

/* What a drive counts of its own wear, in its whole life: plain data, which crosses from one process to another.
 *
 * ATA: attributes in the data of SMART READ DATA (ACS-3). What an attribute counts is left to the maker there: its ID and its place
 * are those of SFF-8035i, the meaning is that of makers' manuals. SCSI: parameters of the log pages 0Eh, Start-Stop Cycle Counter,
 * and 0Dh, Temperature (SPC-4). */
typedef struct Wear {
        KnownNumber load_cycles; /* the heads were unloaded and loaded again. ATA: 193, else 225 of older drives; SCSI: 0Eh/0006h */
        KnownNumber start_stops;       /* the spindle was started. ATA: 4; SCSI: 0Eh/0004h */
        KnownNumber rated_load_cycles; /* what the drive is made for. ATA drives do not say it; SCSI: 0Eh/0005h */
        KnownNumber rated_start_stops; /* the same of the spindle. SCSI: 0Eh/0003h */
        KnownNumber temperature;       /* °C, of now. ATA: the lowest byte of 194; SCSI: 0Dh/0000h */
} Wear;

/* The timers of which it can be told: bounds of the times without use that are counted, in minutes. */
#define USE_TIMERS 18U
extern const unsigned use_timers[USE_TIMERS];

/* What a drive is taken to be made for that does not say it. Data sheets of most drives of 3.5 inches say 300,000 or 600,000. */
#define USE_RATED_LOAD_CYCLES 600000
/* A drive that would be worn out sooner is warned of. */
#define USE_LEAST_YEARS 5

typedef struct DriveUse {
        char *setting; /* "20 min, by the service": the timer that was set meanwhile, for people; NULL: none was */
        char *key; /* … and to compare by (spin_down_key()); NULL: a version of this program without keys noted it */
        uint64_t since; /* CLOCK_REALTIME, µs */

        uint64_t watched;    /* s in which times without use were counted … */
        uint64_t known_from; /* … of which shorter ones than this may have been missed; s */
        uint64_t gaps[USE_TIMERS]; /* how many were at least as long as use_timers[i] and no longer than the next; thousandths … */
        uint64_t gap_times[USE_TIMERS]; /* … and their sum; s */

        uint64_t spin_ups; /* that were seen … */
        uint64_t asleep;   /* … and how long it had slept; s */

        Wear first_wear, wear;               /* read first, and last … */
        uint64_t first_wear_when, wear_when; /* … CLOCK_REALTIME, µs; 0: never */
        bool warned;                         /* the journal knows that the drive would not last long */
} DriveUse;

void drive_use_done(DriveUse *u);

/* Another timer is set: all begins anew, but for what was read last. -ENOMEM. */
int drive_use_begin(DriveUse *u, const char *setting, const char *key, uint64_t now);

/* A time without use has ended; it was as long as something between the two, in µs. */
void drive_use_gap(DriveUse *u, uint64_t least, uint64_t most);

/* The drive has told how worn it is. */
void drive_use_wear(DriveUse *u, const Wear *w, uint64_t now);

/* How long it was watched, in days. */
double drive_use_days(const DriveUse *u);

/* What would have come of another timer in the time that was watched. */
typedef struct UsePrediction {
        double spin_ups_per_day;
        double hours_asleep_per_day;
} UsePrediction;

/* Of a timer of so many minutes. False: nobody knows, since it is none of use_timers, less than a day was watched, or shorter times
 * without use were missed. */
bool drive_use_predict(const DriveUse *u, unsigned minutes, UsePrediction *ret);

/* What the drive counted since the timer was set, by its first and its last reading. */
typedef struct WearRate {
        double per_day;
        int64_t count, rated;
        bool assumed; /* the drive does not say for how many it is made */
        double years; /* until `rated` is reached; INFINITY: never */
} WearRate;

typedef enum WearKind {
        WEAR_LOAD_CYCLES,
        WEAR_START_STOPS,
        _WEAR_KIND_MAX,
} WearKind;

const char *wear_kind_to_string(WearKind k); /* "load cycles" */
KnownNumber wear_count(const Wear *w, WearKind k);
KnownNumber wear_rated(const Wear *w, WearKind k);

/* False: there are no two readings at least a day apart, or nobody knows for how many the drive is made. */
bool drive_use_wear_rate(const DriveUse *u, WearKind k, WearRate *ret);
