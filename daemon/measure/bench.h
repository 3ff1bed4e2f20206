/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The measurement of one drive as it is: jobs in turn, round after round, so that what changes meanwhile is in all figures alike, until
 * a time is spent. Only reads, but for what is done to a file of its own. */

#include "figure.h"

/* What was measured of one figure. */
typedef struct Measured {
        const Figure *figure;
        GROWING_ARRAY(double, samples); /* that are kept, in the order in which they were taken */
        size_t n_others;                /* left out: others used the drive, … */
        size_t n_cached;                /* … part of it was in the page cache, … */
        size_t n_failed;                /* … or fio or the drive failed */
        char *complaint;                /* of the last one that failed */
} Measured;

typedef struct Bench {
        GROWING_ARRAY(Measured, items);
        bool counted; /* the kernel has counted all that was done, so that others' use was seen */
} Bench;

void bench_done(Bench *b);
Measured *bench_add(Bench *b, const Figure *figure); /* good until the next one is added */
const Measured *bench_find(const Bench *b, const Figure *figure);
size_t bench_count_samples(const Bench *b);
void measured_add(Measured *m, double sample);

typedef struct BenchTask {
        const char *classdir; /* /sys/class/block, or a test's own */
        const char *name, *node;
        uint64_t size;      /* bytes */
        char *const *below; /* kernel names of the disks below an array; NULL: it is a disk */
        int file;           /* for what writes, SCRATCH_FILE_SIZE large; negative: nothing does */
        uint64_t budget;    /* µs … */
        size_t samples_max; /* … and so many samples of each kind, at most */
        int stop_fd;        /* readable: the user wants an end */

        int (*may_go_on)(void *userdata); /* asked before each sample; what is not 0 ends it, and is returned */
        void (*tell)(void *userdata, uint64_t spent);
        void *userdata;
} BenchTask;

/* Its parts, for who measures something else in turns. Both return 0 or a negative errno, as fio_run() does: what failed in fio is told in
 * `m`, one item for each figure of the job, and is no error. `step` says where: no two samples may have the same. Before the job the drive
 * is left alone for `idle` µs, which belong to the sample where others' use is looked for. */
int bench_warm_up(const BenchTask *t, Bench *b);
int bench_sample(const BenchTask *t, Bench *b, const Job *job, Measured *m, uint64_t step, uint64_t idle);
void measured_done(Measured *m);

/* In less, a zone has no room for what is to be read there. */
#define BENCH_SIZE_MIN (4ULL << 30)

/* Measures until the budget is spent or `stop_fd` is readable. Returns 0, what may_go_on() returned, or a negative errno: fio cannot be
 * run. *ret holds what was measured until then in any case. */
int bench_run(const BenchTask *t, Bench *ret);
