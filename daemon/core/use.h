/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Statistics of a drive that spins down: the lengths of the times without I/O, and the drive's wear counters. The
 * statistics predict how often the drive would spin up with another timer. They are stored in the drive's state file
 * (drive-record.h), kept over boots, and reset when another timer is set. */

#include "value.h"

/* The lifetime wear counters of a drive. Plain data that processes exchange.
 *
 * ATA: attributes in the data of SMART READ DATA (ACS-3). ACS-3 leaves the meaning of attributes to the vendor: the IDs
 * and the layout are from SFF-8035i, and the meanings are from vendors' manuals. SCSI: parameters of the log pages 0Eh,
 * Start-Stop Cycle Counter, and 0Dh, Temperature (SPC-4). */
typedef struct Wear {
        KnownNumber load_cycles;       /* load cycles. ATA: attribute 193, or 225 on older drives; SCSI: 0Eh/0006h */
        KnownNumber start_stops;       /* starts of the spindle. ATA: attribute 4; SCSI: 0Eh/0004h */
        KnownNumber rated_load_cycles; /* load cycles by design. ATA drives do not report them; SCSI: 0Eh/0005h */
        KnownNumber rated_start_stops; /* starts of the spindle by design. SCSI: 0Eh/0003h */
        KnownNumber temperature; /* current temperature, °C. ATA: the lowest byte of attribute 194; SCSI: 0Dh/0000h */
} Wear;

/* The timers whose effect can be predicted, in minutes. Idle periods are counted in classes by their length, and these
 * timers are the limits of the classes. */
#define USE_TIMERS 18U
extern const unsigned use_timers[USE_TIMERS];

/* The number of load cycles that is assumed for a drive without a reported limit. Most data sheets of 3.5-inch drives
 * specify 300,000 or 600,000. */
#define USE_RATED_LOAD_CYCLES 600000
/* The service warns if the drive would reach its rated cycles in less than this number of years. */
#define USE_LEAST_YEARS 5

typedef struct DriveUse {
        char *setting;  /* the timer, for people: "20 min, by the service"; NULL: none */
        char *key;      /* the timer, for comparison (spin_down_key()); NULL: an older version wrote the file */
        uint64_t since; /* when the statistics began for this timer; CLOCK_REALTIME, µs */

        uint64_t watched;          /* total time during which the drive was watched for I/O; s */
        uint64_t known_from;       /* idle periods shorter than this may have been missed; s */
        uint64_t gaps[USE_TIMERS]; /* idle periods that last use_timers[i] to use_timers[i + 1] min; 1000: one period */
        uint64_t gap_times[USE_TIMERS]; /* total length of the idle periods in gaps[i]; s */

        uint64_t spin_ups; /* number of spin-ups seen */
        uint64_t standby;  /* total length of the standby periods that ended with a spin-up; s */

        Wear first_wear, wear;               /* first and last reading */
        uint64_t first_wear_when, wear_when; /* times of first_wear and wear; CLOCK_REALTIME, µs; 0: no reading */
        bool warned;                         /* the journal has a warning about early wear */
} DriveUse;

void drive_use_done(DriveUse *u);

/* Starts the statistics anew, because another timer was set. Keeps the last wear reading. Returns 0 or -ENOMEM. */
int drive_use_begin(DriveUse *u, const char *setting, const char *key, uint64_t now);

/* Counts a time without I/O. Its length is between `least` and `most`, in µs. */
void drive_use_gap(DriveUse *u, uint64_t least, uint64_t most);

/* Records a reading of the wear counters. */
void drive_use_wear(DriveUse *u, const Wear *w, uint64_t now);

/* Returns the time that the drive was watched, in days. */
double drive_use_days(const DriveUse *u);

/* The effect that another timer would have had while the drive was watched. */
typedef struct UsePrediction {
        double spin_ups_per_day;
        double hours_standby_per_day;
} UsePrediction;

/* Predicts the effect of a timer. Returns false if the timer is not in use_timers, if the drive was watched for less
 * than a day, or if idle periods as short as the timer may have been missed. */
bool drive_use_predict(const DriveUse *u, unsigned minutes, UsePrediction *ret);

/* The rate of a wear counter between the first and the last reading since the spin-down timer was set. */
typedef struct WearRate {
        double per_day;
        int64_t count, rated;
        bool assumed; /* `rated` is USE_RATED_LOAD_CYCLES, as the drive reports no rated number */
        double years; /* time until `count` reaches `rated`; INFINITY: never */
} WearRate;

typedef enum WearKind {
        WEAR_LOAD_CYCLES,
        WEAR_START_STOPS,
        _WEAR_KIND_MAX,
} WearKind;

const char *wear_kind_to_string(WearKind k); /* returns "load cycles" or "spindle starts" */
KnownNumber wear_count(const Wear *w, WearKind k);
KnownNumber wear_rated(const Wear *w, WearKind k);

/* Returns false if the first and the last reading are less than a day apart, or if the counter or its rated number is
 * not known. For load cycles, USE_RATED_LOAD_CYCLES replaces an unknown rated number. */
bool drive_use_wear_rate(const DriveUse *u, WearKind k, WearRate *ret);
