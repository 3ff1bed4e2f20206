/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a measurement has left behind: of which drive, with which settings, and every sample. Kept as JSON, a file each. */

#include "bench.h"
#include "drive.h"

#define RESULT_DIR "/var/lib/drivekeep/bench"

typedef struct ResultSetting {
        char *drive, *key; /* of an array also its disks; as below */
        char *name, *value;
} ResultSetting;

typedef struct Result {
        char *name;  /* of its file, without ".json" */
        char *drive; /* kernel name at that time */
        char *key;   /* by which the same drive, or an array of the same drives, is known again */
        char *model, *serial, *firmware, *kernel; /* NULL: not known */
        char *host, *boot_id;                     /* where it was measured, as journald's _HOSTNAME and _BOOT_ID */
        uint64_t when;                            /* CLOCK_REALTIME, µs */
        GROWING_ARRAY(ResultSetting, settings);
        Bench bench;
} Result;

void result_done(Result *r);

/* The number of a volume or an array stays with it, whatever its kernel name is. */
const char *result_drive_key(const Drive *d);

/* By what the drive is; settings and samples are added by the caller. */
Result result_new(const Drive *drive, uint64_t when);
void result_add_setting(Result *r, const Drive *drive, const char *name, const char *value);

/* The caller frees it. */
char *result_format(const Result *r);

/* -EBADMSG: this is none. Figures that this version does not know are left out. */
int result_parse(const char *text, Result *ret);

/* As a new file in this directory, which is made if it is not there. */
int result_save(const char *directory, const Result *r);

/* By the name in the directory, or by a file's path, which has a slash. */
int result_load(const char *directory, const char *name, Result *ret);

typedef struct Results {
        GROWING_ARRAY(Result, items); /* oldest first */
} Results;

/* All that can be read; without the directory there is none. */
int results_load(const char *directory, Results *ret);
void results_done(Results *r);
