/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <math.h>
#include <stdio.h>

#include "figure.h"

/* No job has fio empty the page cache ("invalidate" is BLKFLSBUF), as that would write out what others have changed, nor give a hint
 * of how it reads ("fadvise_hint"), as that would double the read-ahead that is to be measured (fio(1)). */
#define SEQUENTIAL "--rw=read --bs=1M --direct=1 --ioengine=libaio --iodepth=4"

#define NS 1e-9

#define SHORT 500U /* ms */
/* A disk that turns does some eighty random reads in it. */
#define LONG 1000U
/* More than a disk needs to spin up. */
#define LONGEST 60000U

/* It tells time in ms, and latencies as one of 64 parts of a power of two, whose middle it is (stat.h, FIO_IO_U_PLAT_BITS). A drive that
 * is fast and small has read all of a place before the time is over. */
#define ERROR_OF_TIME (2.0 / SHORT)
#define ERROR_OF_LATENCY (1.0 / 128)

const char *const figure_units[_FIGURE_KIND_MAX] = {
        [FIGURE_SPEED] = "B/s",
        [FIGURE_LATENCY] = "s",
        [FIGURE_RATE] = "1/s",
};

const Job jobs[] = {
        {
                        .name = "start",
                        .place = PLACE_START,
                        .milliseconds = SHORT,
                        .arguments = SEQUENTIAL,
                        .figures = { { "sequential_start", "sequential, start (outer zone)", FIGURE_SPEED,
                                       "read/bw_bytes", NULL, 1, ERROR_OF_TIME } },
        },
        {
                        .name = "middle",
                        .place = PLACE_MIDDLE,
                        .milliseconds = SHORT,
                        .arguments = SEQUENTIAL,
                        .figures = { { "sequential_middle", "sequential, middle", FIGURE_SPEED, "read/bw_bytes", NULL,
                                       1, ERROR_OF_TIME } },
        },
        {
                        .name = "end",
                        .place = PLACE_END,
                        .milliseconds = SHORT,
                        .arguments = SEQUENTIAL,
                        .figures = { { "sequential_end", "sequential, end (inner zone)", FIGURE_SPEED, "read/bw_bytes",
                                       NULL, 1, ERROR_OF_TIME } },
        },
        {
                        .name = "buffered",
                        .place = PLACE_FRESH,
                        .milliseconds = SHORT,
                        .arguments = "--rw=read --bs=128k --direct=0 --ioengine=psync",
                        .figures = { { "buffered", "sequential, by read-ahead", FIGURE_SPEED, "read/bw_bytes", NULL, 1,
                                       ERROR_OF_TIME } },
        },
        {
                        .name = "latency",
                        .place = PLACE_ANYWHERE,
                        .milliseconds = LONG,
                        .arguments = "--rw=randread --bs=4k --direct=1 --ioengine=psync",
                        .figures = { { "random_latency", "random 4 KiB, median latency", FIGURE_LATENCY,
                                       "read/clat_ns/percentile/50.000000", NULL, NS, ERROR_OF_LATENCY },
                                     { "random_latency_p99", "random 4 KiB, 99 % latency", FIGURE_LATENCY,
                                       "read/clat_ns/percentile/99.000000", NULL, NS, ERROR_OF_LATENCY } },
        },
        {
                        .name = "random",
                        .place = PLACE_ANYWHERE,
                        .milliseconds = SHORT,
                        .arguments = "--rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=32",
                        .figures = { { "random_rate", "random 4 KiB, 32 at once", FIGURE_RATE, "read/iops", NULL, 1,
                                       ERROR_OF_TIME } },
        },
        {
                        .name = "small",
                        .place = PLACE_FRESH,
                        .milliseconds = SHORT,
                        .arguments = "--rw=read --bs=64k --direct=1 --ioengine=psync",
                        .for_settings = true,
                        .figures = { { "sequential_small", "sequential 64 KiB, one at a time", FIGURE_SPEED,
                                       "read/bw_bytes", NULL, 1, ERROR_OF_TIME } },
        },
        {
                        .name = "mapped",
                        .place = PLACE_MAPPED,
                        .milliseconds = SHORT,
                        .arguments = "--rw=randread --bs=4k --ioengine=mmap",
                        .for_settings = true,
                        .figures = { { "mapped_latency", "random 4 KiB, mapped, median latency", FIGURE_LATENCY,
                                       "read/clat_ns/percentile/50.000000", NULL, NS, ERROR_OF_LATENCY } },
        },
        {
                        .name = "deep",
                        .place = PLACE_ANYWHERE,
                        .milliseconds = LONG,
                        .arguments = "--rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=256",
                        .for_settings = true,
                        .figures = { { "deep_rate", "random 4 KiB, 256 at once", FIGURE_RATE, "read/iops", NULL, 1,
                                       ERROR_OF_TIME },
                                     { "deep_latency_p99", "the same, 99 % latency", FIGURE_LATENCY,
                                       "read/clat_ns/percentile/99.000000", NULL, NS, ERROR_OF_LATENCY } },
        },
        {
                        .name = "first",
                        .place = PLACE_ONCE,
                        .milliseconds = LONGEST,
                        .arguments = "--rw=randread --bs=4k --direct=1 --ioengine=psync",
                        .for_settings = true,
                        .figures = { { "first_read", "first read after a time without use", FIGURE_LATENCY,
                                       "read/clat_ns/max", NULL, NS, 0 } },
        },
        {
                        .name = "throttled",
                        .place = PLACE_ANYWHERE,
                        .milliseconds = LONG,
                        .arguments = "--rw=randread --bs=4k --direct=1 --ioengine=psync",
                        /* What is in the page cache is written out without waiting for it: only such writes are throttled. How fast
                         * the drive writes fio does not know then. */
                        .beside = "--rw=write --bs=128k --direct=0 --ioengine=psync --sync_file_range=write:8",
                        .for_settings = true,
                        .figures = { { "throttled_latency", "random 4 KiB beside writes, median latency",
                                       FIGURE_LATENCY, "read/clat_ns/percentile/50.000000", NULL, NS,
                                       ERROR_OF_LATENCY } },
        },
        {
                        .name = "fsync",
                        .place = PLACE_FILE,
                        .milliseconds = SHORT,
                        .arguments = "--rw=write --bs=4k --fsync=1 --ioengine=psync",
                        .figures = { { "fsync_latency", "fsync after 4 KiB, median latency", FIGURE_LATENCY,
                                       "sync/lat_ns/percentile/50.000000", NULL, NS, ERROR_OF_LATENCY } },
        },
        {
                        .name = "mixed",
                        .place = PLACE_FILE,
                        .milliseconds = SHORT,
                        .arguments = "--rw=randrw --rwmixread=70 --bs=4k --direct=1 --ioengine=libaio --iodepth=8",
                        .figures = { { "mixed_rate", "70 % reads, 30 % writes, 8 at once", FIGURE_RATE, "read/iops",
                                       "write/iops", 1, ERROR_OF_TIME } },
        },
        {},
};

const Figure *figure_find(const char *key) {
        JOBS_FOREACH(job)
                FIGURES_FOREACH(f, job)
                        if (streq(f->key, key))
                                return f;
        return NULL;
}

const Job *figure_job(const Figure *figure) {
        JOBS_FOREACH(job)
                FIGURES_FOREACH(f, job)
                        if (f == figure)
                                return job;
        return NULL;
}

typedef struct Unit {
        double one;
        const char *name;
} Unit;

static Unit figure_unit(FigureKind kind, double value) {
        switch (kind) {
        case FIGURE_SPEED:
                return (Unit){ 1e6, "MB/s" };
        case FIGURE_LATENCY:
                return value < 1e-3 ? (Unit){ 1e-6, "us" } : value < 1 ? (Unit){ 1e-3, "ms" } : (Unit){ 1, "s" };
        case FIGURE_RATE:
        case _FIGURE_KIND_MAX:
                break;
        }
        return (Unit){ 1, "/s" };
}

/* How many digits behind the point make so many in all, of a number that is printed with them. */
static int fraction_digits(double n, int all) {
        double limit = 10;
        int digits = all - 1;

        for (; digits > 0 && n >= limit - limit / 2 * pow(10, -all); digits--)
                limit *= 10;
        return digits;
}

char *figure_format(FigureKind kind, double value, char buf[static FIGURE_TEXT_MAX]) {
        Unit u = figure_unit(kind, value);
        double n = value / u.one;

        (void) snprintf(buf, FIGURE_TEXT_MAX, "%.*f %s", fraction_digits(n, 3), n, u.name);
        return buf;
}

char *figure_format_range(FigureKind kind, double low, double high, char buf[static FIGURE_TEXT_MAX]) {
        Unit u = figure_unit(kind, high);
        int digits = fraction_digits(high / u.one, 4);

        (void) snprintf(buf, FIGURE_TEXT_MAX, "%.*f to %.*f %s", digits, low / u.one, digits, high / u.one, u.name);
        return buf;
}
