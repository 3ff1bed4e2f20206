/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The drive or array that a command measures (`drivekeep bench`, `drivekeep tune`): which one it is, what speaks against that now, and
 * that no visit and no file system check comes between. */

#include "inventory.h"
#include "request.h"
#include "result.h"

typedef struct Subject {
        const Options *options;
        Inventory inventory;
        const Drive *drive;
        bool is_array; /* its disks are others */
        char **names;  /* kernel names of the disks below, or its own */
        Drive **disks; /* the same, of those that drivekeep knows; borrowed */
        size_t n_disks;
        Records records;
        Leave leave;     /* for these disks */
        Result result;   /* has the settings in force */
        uint64_t budget; /* µs */
        uint64_t spent;  /* of it, before what is measured now */
        int file;        /* for what writes; negative: nothing does */
        int stop_fd;     /* readable once the user wants an end, which then does not end the command */
        bool progress;
} Subject;

/* The first name of the command line. Returns EXIT_WANTED, or another ExitStatus, having said why, or a negative errno; then, too,
 * subject_close() is to follow. `budget` is a text: how long to measure where the user does not say. */
int subject_open(const Options *o, const char *verb, const char *budget, Subject *s);
void subject_close(Subject *s);

/* subject-file.c: the file of --file, on this drive, where the user wants one, and has not ended it meanwhile. Returns EXIT_WANTED, or
 * EXIT_BAD_INPUT, having said why. */
int subject_make_file(Subject *s);

/* Is it still the drive that it was in the beginning? Its name may be another one's by now. Where the kernel does not tell: true. */
bool subject_is_here(const Subject *s);

/* The same, for who goes on measuring: EXIT_WANTED, or EXIT_BAD_INPUT, having said that it is gone. */
int subject_stays(const Subject *s);

/* To be measured in the budget, with a progress bar. */
BenchTask subject_task(Subject *s);
void subject_hide_progress(const Subject *s);
