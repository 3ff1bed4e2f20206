/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A stand-in for fio, which tells what the file `behaviour` in the scratch directory says and has the counters of class/sda move; and a
 * clock of the test's own. */

#include <sys/syscall.h>
#include <time.h>

#include "test-cli.h"

#define FIO                                                                                                                                             \
        "#!/bin/sh\n"                                                                                                                                   \
        "bytes=1048576 extra=0 changes=0 error=0 ns=1000 p99=9000 max=5000 ms=500 bw=2000000 iops=70.5 before= end=\n"                                  \
        "for word; do [ -n \"$word\" ] || exit 1; done\n"                                                                                               \
        "echo \"$*\" >>log\n"                                                                                                                           \
        ". ./behaviour\n"                                                                                                                               \
        "read -r reads <reads\n"                                                                                                                        \
        "reads=$((reads + (bytes + extra) / 512))\n"                                                                                                    \
        "echo $reads >reads\n"                                                                                                                          \
        "echo \"1 0 ${counted-$reads} 0 $changes 0 0 0 0 0 0 0 0 0 0 0 0\" >class/sda/stat\n"                                                           \
        "[ -z \"$before\" ] || echo \"$before\"\n"                                                                                                      \
        "[ -z \"$end\" ] || exit 1\n"                                                                                                                   \
        "echo '{ \"jobs\": [ { \"error\": '$error', \"read\": { \"io_bytes\": '$bytes', \"bw_bytes\": '$bw', \"iops\": '$iops', \"runtime\": '$ms','\n" \
        "echo '\"clat_ns\": { \"max\": '$max', \"percentile\": { \"50.000000\": '$ns', \"99.000000\": '$p99' } } },'\n"                                 \
        "echo '\"write\": { \"iops\": 30 }, \"sync\": { \"lat_ns\": { \"percentile\": { \"50.000000\": 5000 } } } } ] }'\n"

/* A tenth of a second passes whenever somebody looks. */
static uint64_t clock_now;

int clock_gettime(clockid_t clock, struct timespec *ts) {
        if (clock != CLOCK_MONOTONIC)
                return (int) syscall(SYS_clock_gettime, clock, ts);
        clock_now += 100000;
        *ts = (struct timespec){ .tv_sec = (time_t) (clock_now / 1000000),
                                 .tv_nsec = (long) (clock_now % 1000000 * 1000) };
        return 0;
}

/* Behind scratch_make(). */
static inline void fake_fio_make(void) {
        _cleanup_free_ char *path = NULL;

        file_make("bin/fio", FIO);
        ck_assert_int_eq(chmod("bin/fio", 0755), 0);
        ck_assert_int_ge(asprintf(&path, "%s/bin:/usr/bin:/bin", scratch), 0);
        ck_assert_int_eq(setenv("PATH", path, 1), 0);
        file_make("reads", "0\n");
        file_make("log", "");
        file_make("behaviour", "");
        file_make("class/sda/stat", "1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
        file_make("class/sda/queue/read_ahead_kb", "128\n");
        file_make("class/sdb/stat", "1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
}

/* A line for each run: its arguments. The caller frees it. */
static inline char *read_log(void) {
        char *text = calloc(1, 65536);

        ck_assert_ptr_nonnull(text);
        file_read("log", text, 65536);
        return text;
}

/* Of which there are so many with this part. */
static inline _unused_ unsigned count_runs(const char *part) {
        _cleanup_free_ char *log = read_log();
        unsigned n = 0;

        for (const char *at = log; (at = strstr(at, part)); at++)
                n++;
        return n;
}
