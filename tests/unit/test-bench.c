/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A measurement, with a stand-in for fio that tells what the test says and has the kernel's counters move: what fio is asked for, which
 * samples are used, and when it ends. */

#include <fcntl.h>

#include "bench.h"
#include "fake-fio.h"
#include "fio.h"

static int ends[2];
static unsigned n_asked, n_told, may_ask;
static uint64_t spent;

static int may_go_on(_unused_ void *userdata) {
        return n_asked++ < may_ask ? 0 : 7;
}

static void tell(_unused_ void *userdata, uint64_t usec) {
        n_told++;
        spent = usec;
}

static BenchTask task = { .classdir = "class",
                          .name = "sda",
                          .node = "/dev/sda",
                          .size = UINT64_C(64) << 30,
                          .budget = 40 * 1000 * 1000,
                          .samples_max = 1000,
                          .may_go_on = may_go_on,
                          .tell = tell };

static void setup(void) {
        scratch_make();
        fake_fio_make();
        ck_assert_int_eq(pipe(ends), 0);
        /* Where the stand-in finds it. */
        ck_assert_int_eq(dup2(ends[1], 9), 9);
        task.stop_fd = ends[0];
        task.file = -1;
        task.below = NULL;
        n_asked = n_told = 0;
        may_ask = UINT32_MAX;
}

static const Measured *figure_of(const Bench *b, const char *key) {
        for (size_t i = 0; i < b->n_items; i++)
                if (streq(b->items[i].figure->key, key))
                        return b->items + i;
        ck_abort_msg("there is no figure %s", key);
}

/* ---- what fio is asked for ---- */

#define HEAD(ms, seed)                                                    \
        "--output-format=json --thread --runtime=" ms " --randseed=" seed \
        " --norandommap --invalidate=0 --fadvise_hint=0 --allow_file_create=0 "
#define READ_ONLY "--readonly "
#define SEQUENTIAL " --rw=read --bs=1M --direct=1 --ioengine=libaio --iodepth=4\n"

/* 64 GiB: a zone is 2 GiB, of which a sample begins in the first. */
START_TEST(test_arguments) {
        _cleanup_(bench_done) Bench b = {};
        _cleanup_free_ char *log = NULL;

        ck_assert_int_eq(bench_run(&task, &b), 0);
        log = read_log();
        ck_assert_ptr_nonnull(strstr(log, HEAD("500ms", "1") READ_ONLY
                                     "--name=start --filename=/dev/sda --offset=0 --size=1073741824" SEQUENTIAL));
        ck_assert_ptr_nonnull(
                        strstr(log, HEAD("500ms", "2") READ_ONLY
                               "--name=start --filename=/dev/sda --offset=662700032 --size=1073741824" SEQUENTIAL));
        ck_assert_ptr_nonnull(
                        strstr(log, HEAD("500ms", "2") READ_ONLY
                               "--name=middle --filename=/dev/sda --offset=35022438400 --size=1073741824" SEQUENTIAL));
        ck_assert_ptr_nonnull(
                        strstr(log, HEAD("500ms", "2") READ_ONLY
                               "--name=end --filename=/dev/sda --offset=67234693120 --size=1073741824" SEQUENTIAL));
        ck_assert_ptr_nonnull(strstr(log, "--name=buffered --filename=/dev/sda --offset="));
        ck_assert_ptr_nonnull(strstr(log, "--size=536870912 --rw=read --bs=128k --direct=0 --ioengine=psync\n"));
        ck_assert_ptr_nonnull(strstr(
                        log, READ_ONLY
                        "--name=latency --filename=/dev/sda --size=68719476736 --time_based --rw=randread --bs=4k --direct=1 --ioengine=psync\n"));
        ck_assert_ptr_nonnull(strstr(
                        log, READ_ONLY
                        "--name=random --filename=/dev/sda --size=68719476736 --time_based --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=32\n"));
        /* Nothing that writes, and nothing that might. */
        ck_assert_ptr_null(strstr(log, "--rw=write"));
        ck_assert_ptr_null(strstr(log, "--rw=randrw"));
        for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n")) {
                ck_assert_ptr_nonnull(strstr(line, READ_ONLY));
                ck_assert_ptr_null(strstr(line, "--invalidate=1"));
        }
}
END_TEST

/* No two samples of one measurement read the same. */
START_TEST(test_places) {
        _cleanup_(bench_done) Bench b = {};
        _cleanup_free_ char *log = NULL;
        char *places[512];
        size_t n = 0;

        task.budget = 160 * 1000 * 1000;
        ck_assert_int_eq(bench_run(&task, &b), 0);
        task.budget = 40 * 1000 * 1000;
        log = read_log();
        for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n")) {
                char *place = strstr(line, "--offset=");

                if (!place)
                        continue;
                place[strcspn(place, " ")] = '\0';
                for (size_t i = 0; i < n; i++)
                        ck_assert_str_ne(places[i], place);
                places[n++] = place;
                ck_assert_uint_lt(n, ELEMENTSOF(places));
        }
        ck_assert_uint_gt(n, 80);
}
END_TEST

/* What a sample reads, the next one does not: a fast drive reads all that it may. */
START_TEST(test_apart) {
        _cleanup_(bench_done) Bench b = {};
        _cleanup_free_ char *log = NULL;
        int64_t last = INT64_MIN, size;
        unsigned n = 0;

        ck_assert_int_eq(bench_run(&task, &b), 0);
        log = read_log();
        for (char *at = log; (at = strstr(at, "--name=buffered ")); at++) {
                int64_t offset = strtoll(strstr(at, "--offset=") + strlen("--offset="), NULL, 10);

                size = strtoll(strstr(at, "--size=") + strlen("--size="), NULL, 10);
                ck_assert_int_eq(size, 512 << 20);
                ck_assert_int_ge(offset, INT64_C(2) << 30);
                ck_assert_int_le(offset + size, INT64_C(6) << 30);
                ck_assert(last == INT64_MIN || llabs(offset - last) >= size);
                last = offset;
                n++;
        }
        ck_assert_uint_gt(n, 5);
}
END_TEST

START_TEST(test_most) {
        _cleanup_(bench_done) Bench b = {};

        task.samples_max = 3;
        ck_assert_int_eq(bench_run(&task, &b), 0);
        task.samples_max = 1000;
        for (const Measured *m = b.items; m < b.items + b.n_items; m++)
                ck_assert_uint_eq(m->n_samples, 3);
}
END_TEST

START_TEST(test_file) {
        _cleanup_(bench_done) Bench b = {};
        _cleanup_free_ char *log = NULL, *fsync = NULL, *mixed = NULL;

        task.file = 5;
        ck_assert_int_eq(bench_run(&task, &b), 0);
        log = read_log();
        ck_assert_int_ge(
                        asprintf(&fsync,
                                 "fadvise_hint=0 --allow_file_create=0 --name=fsync --filename=/proc/%d/fd/5 --size=134217728 --time_based --rw=write --bs=4k --fsync=1 --ioengine=psync\n",
                                 getpid()),
                        0);
        ck_assert_ptr_nonnull(strstr(log, fsync));
        ck_assert_int_ge(
                        asprintf(&mixed,
                                 "fadvise_hint=0 --allow_file_create=0 --name=mixed --filename=/proc/%d/fd/5 --size=134217728 --time_based --rw=randrw --rwmixread=70 --bs=4k --direct=1 "
                                 "--ioengine=libaio --iodepth=8\n",
                                 getpid()),
                        0);
        ck_assert_ptr_nonnull(strstr(log, mixed));
        ck_assert_double_eq(figure_of(&b, "fsync_latency")->samples[0], 5e-6);
        ck_assert_double_eq(figure_of(&b, "mixed_rate")->samples[0], 100.5);
        /* The drive is read all the same, and nothing but the file is written. */
        for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
                ck_assert(!strstr(line, "--filename=/dev/") || strstr(line, READ_ONLY));
}
END_TEST

/* Reads anywhere, while a file is written: the latter alone would be refused by --readonly. */
START_TEST(test_beside) {
        const Job *job = figure_job(figure_find("throttled_latency"));
        Measured m = { .figure = job->figures };
        _cleanup_free_ char *log = NULL, *wanted = NULL;
        Bench b = { .counted = true };

        task.file = 5;
        file_write("behaviour", "extra=4096 changes=1\n");
        ck_assert_int_eq(bench_sample(&task, &b, job, &m, 6, 0), 0);
        log = read_log();
        ck_assert_int_ge(
                        asprintf(&wanted,
                                 HEAD("1000ms",
                                      "7") "--name=throttled --filename=/dev/sda --size=68719476736 --time_based "
                                           "--rw=randread --bs=4k --direct=1 --ioengine=psync --group_reporting --name=beside "
                                           "--group_reporting --filename=/proc/%d/fd/5 --size=134217728 --time_based --rw=write --bs=128k "
                                           "--direct=0 --ioengine=psync --sync_file_range=write:8\n",
                                 getpid()),
                        0);
        ck_assert_str_eq(log, wanted);
        /* What is written is the sample's own, … */
        ck_assert_uint_eq(m.n_samples, 1);
        ck_assert_double_eq_tol(m.samples[0], 1e-6, 1e-12);

        /* … and what others read is not. */
        file_write("behaviour", "extra=2097152\n");
        ck_assert_int_eq(bench_sample(&task, &b, job, &m, 7, 0), 0);
        ck_assert_uint_eq(m.n_samples, 1);
        ck_assert_uint_eq(m.n_others, 1);
        measured_done(&m);
}
END_TEST

/* ---- which samples are used ---- */

static const struct {
        const char *behaviour;
        bool counted;
        /* Of all samples of sequential_start, and of buffered: */
        bool used, used_buffered;
        size_t reason, reason_buffered; /* the count of those that are left out */
        const char *complaint;
} cases[] = {
        { "", true, true, true, 0, 0, NULL },
        { "before='latency: Laying out IO file'", true, true, true, 0, 0, NULL },
        { "extra=4096", true, false, true, offsetof(Measured, n_others), 0, NULL },
        { "extra=524288", true, false, true, offsetof(Measured, n_others), 0, NULL },
        { "extra=528384", true, false, false, offsetof(Measured, n_others), offsetof(Measured, n_others), NULL },
        { "changes=$reads", true, true, true, 0, 0, NULL },
        { "changes=$(wc -l <log)", true, false, false, offsetof(Measured, n_others), offsetof(Measured, n_others),
          NULL },
        { "extra=-524288", true, true, true, 0, 0, NULL },
        { "extra=-528384", true, true, false, 0, offsetof(Measured, n_cached), NULL },
        { "counted=0", false, true, true, 0, 0, NULL },
        /* From the fourth run on, when three samples of 2048 sectors were counted. */
        { "[ $(wc -l <log) -lt 4 ] || { echo 0 >class/sda/queue/iostats; counted=6144; }", false, true, true, 0, 0,
          NULL },
        { "error=5", true, false, false, offsetof(Measured, n_failed), offsetof(Measured, n_failed),
          "Input/output error" },
        { "before='fio: no such engine' end=1", true, false, false, offsetof(Measured, n_failed),
          offsetof(Measured, n_failed), "fio: no such engine" },
        { "end=1", true, false, false, offsetof(Measured, n_failed), offsetof(Measured, n_failed),
          "it ended with exit status 1" },
        { "ms=250", true, true, true, 0, 0, NULL },
        { "ms=249", true, false, false, offsetof(Measured, n_failed), offsetof(Measured, n_failed),
          "all of the place was read in 249 ms, which is too short a time to measure" },
        { "before='{ \"fio version\" : 3' end=1", true, false, false, offsetof(Measured, n_failed),
          offsetof(Measured, n_failed), "it ended with exit status 1" },
};

static void check_figure(const Measured *m, bool used, size_t reason, size_t n) {
        const size_t offsets[] = { offsetof(Measured, n_others), offsetof(Measured, n_cached),
                                   offsetof(Measured, n_failed) };

        ck_assert_uint_eq(m->n_samples, used ? n : 0);
        for (size_t i = 0; i < ELEMENTSOF(offsets); i++)
                ck_assert_uint_eq(*(const size_t *) ((const char *) m + offsets[i]),
                                  !used && offsets[i] == reason ? n : 0);
}

START_TEST(test_used) {
        _cleanup_(bench_done) Bench b = {};
        const Measured *start, *buffered;
        size_t n;

        file_make("behaviour", cases[_i].behaviour);
        ck_assert_int_eq(bench_run(&task, &b), 0);
        ck_assert_int_eq(b.counted, cases[_i].counted);
        ck_assert_uint_eq(b.n_items, 7);
        start = figure_of(&b, "sequential_start");
        buffered = figure_of(&b, "buffered");
        n = start->n_samples + start->n_others + start->n_failed;
        ck_assert_uint_ge(n, 10);
        check_figure(start, cases[_i].used, cases[_i].reason, n);
        check_figure(buffered, cases[_i].used_buffered, cases[_i].reason_buffered,
                     buffered->n_samples + buffered->n_others + buffered->n_failed + buffered->n_cached);
        if (cases[_i].complaint)
                ck_assert_str_eq(start->complaint, cases[_i].complaint);
        else
                ck_assert_ptr_null(start->complaint);
        if (cases[_i].used) {
                ck_assert_double_eq(start->samples[0], 2e6);
                ck_assert_double_eq_tol(figure_of(&b, "random_latency")->samples[0], 1e-6, 1e-12);
                ck_assert_double_eq_tol(figure_of(&b, "random_latency_p99")->samples[0], 9e-6, 1e-12);
                ck_assert_double_eq(figure_of(&b, "random_rate")->samples[0], 70.5);
        }
}
END_TEST

/* Too short a time: nothing has ended in it. */
START_TEST(test_nothing) {
        _cleanup_(bench_done) Bench b = {};

        file_make("behaviour", "ns=0");
        ck_assert_int_eq(bench_run(&task, &b), 0);
        ck_assert_uint_eq(figure_of(&b, "random_latency")->n_samples, 0);
        ck_assert_str_eq(figure_of(&b, "random_latency")->complaint, "fio has measured nothing");
        ck_assert_uint_gt(figure_of(&b, "random_latency_p99")->n_samples, 0);
}
END_TEST

/* What others do with a disk below an array keeps it from reading for the array. */
static const struct {
        const char *behaviour;
        bool used, uncounted;
} below[] = {
        { "echo \"1 0 $(($(cat reads) + 2048)) 0 0 0 0 0 0 0 0 0 0 0 0 0 0\" >class/sdb/stat", true },
        { "echo \"1 0 $(($(cat reads) * 2 + 4096)) 0 0 0 0 0 0 0 0 0 0 0 0 0 0\" >class/sdb/stat", false },
        { "echo \"1 0 0 0 $(wc -l <log) 0 0 0 0 0 0 0 0 0 0 0 0\" >class/sdb/stat", false },
        { "mkdir -p class/sdb/queue; echo 0 >class/sdb/queue/iostats", true, true },
};

START_TEST(test_below) {
        _cleanup_(bench_done) Bench b = {};

        task.below = (char *[]){ (char *) "sdb", NULL };
        file_make("behaviour", below[_i].behaviour);
        ck_assert_int_eq(bench_run(&task, &b), 0);
        ck_assert(b.counted == !below[_i].uncounted);
        ck_assert_int_eq(figure_of(&b, "sequential_start")->n_samples > 0, below[_i].used);
        ck_assert_int_eq(figure_of(&b, "sequential_start")->n_others > 0, !below[_i].used);
}
END_TEST

/* What was read ahead ends with the sample before. */
START_TEST(test_rest) {
        _cleanup_(bench_done) Bench b = {};

        file_make("class/sda/inflight", "       1        0\n");
        file_make("behaviour", "[ $(wc -l <log) -lt 9 ] || echo '0 0' >class/sda/inflight\n");
        ck_assert_int_eq(bench_run(&task, &b), 0);
        ck_assert_uint_gt(figure_of(&b, "sequential_start")->n_samples, 4);
}
END_TEST

/* A part is larger than what is read ahead, so that it is seen when it comes from the page cache. */
START_TEST(test_large_read_ahead) {
        _cleanup_(bench_done) Bench b = {};
        _cleanup_free_ char *log = NULL;

        file_make("class/sda/queue/read_ahead_kb", "16384\n");
        ck_assert_int_eq(bench_run(&task, &b), 0);
        log = read_log();
        ck_assert_ptr_nonnull(strstr(log, " --size=536870912 --rw=read --bs=128k"));
}
END_TEST

/* ---- when it ends ---- */

START_TEST(test_budget) {
        _cleanup_(bench_done) Bench b = {};

        ck_assert_int_eq(bench_run(&task, &b), 0);
        /* A look at the clock here and there, and no sample more. */
        ck_assert_uint_le(spent, task.budget + 100000);
        ck_assert_uint_ge(spent, task.budget - 1000000);
        ck_assert_uint_eq(n_told, n_asked);
}
END_TEST

START_TEST(test_refused) {
        _cleanup_(bench_done) Bench b = {};

        may_ask = 9;
        ck_assert_int_eq(bench_run(&task, &b), 7);
        ck_assert_uint_eq(figure_of(&b, "sequential_start")->n_samples, 2);
        ck_assert_uint_eq(figure_of(&b, "buffered")->n_samples, 1);
}
END_TEST

/* The user wants an end while fio runs: fio is told, its sample is not used, and those before it are. */
START_TEST(test_stopped) {
        _cleanup_(bench_done) Bench b = {};

        file_make("behaviour",
                  "[ $(wc -l <log) -lt 9 ] || { trap 'echo told >told; exit 1' TERM; echo >&9; while :; do sleep 0.01; done; }\n");
        ck_assert_int_eq(bench_run(&task, &b), 0);
        ck_assert_int_eq(access("told", F_OK), 0);
        ck_assert_uint_eq(figure_of(&b, "sequential_start")->n_samples, 2);
        ck_assert_uint_eq(figure_of(&b, "sequential_middle")->n_samples, 1);
        ck_assert_uint_eq(figure_of(&b, "sequential_middle")->n_failed, 0);
}
END_TEST

/* One that waits for the drive does not keep us waiting. */
START_TEST(test_no_end) {
        _cleanup_(bench_done) Bench b = {};

        file_make("behaviour",
                  "[ $(wc -l <log) -lt 9 ] || { trap '' TERM; echo >&9; while :; do sleep 0.01; done; }\n");
        ck_assert_int_eq(bench_run(&task, &b), 0);
        ck_assert_uint_eq(figure_of(&b, "sequential_start")->n_samples, 2);
}
END_TEST

START_TEST(test_stopped_before) {
        _cleanup_(bench_done) Bench b = {};

        ck_assert_int_eq(write(ends[1], "x", 1), 1);
        ck_assert_int_eq(bench_run(&task, &b), 0);
        ck_assert_uint_eq(figure_of(&b, "sequential_start")->n_samples, 0);
        ck_assert_uint_eq(n_asked, 0);
}
END_TEST

START_TEST(test_missing) {
        ck_assert(fio_is_installed());
        ck_assert_int_eq(setenv("PATH", "/none", 1), 0);
        ck_assert(!fio_is_installed());
}
END_TEST

int main(void) {
        TCase *c = tcase_create("bench");

        tcase_add_checked_fixture(c, setup, scratch_remove);
        tcase_add_test(c, test_arguments);
        tcase_add_test(c, test_places);
        tcase_add_test(c, test_apart);
        tcase_add_test(c, test_most);
        tcase_add_test(c, test_file);
        tcase_add_test(c, test_beside);
        tcase_add_loop_test(c, test_used, 0, ELEMENTSOF(cases));
        tcase_add_test(c, test_nothing);
        tcase_add_loop_test(c, test_below, 0, ELEMENTSOF(below));
        tcase_add_test(c, test_rest);
        tcase_add_test(c, test_large_read_ahead);
        tcase_add_test(c, test_budget);
        tcase_add_test(c, test_refused);
        tcase_add_test(c, test_stopped);
        tcase_add_test(c, test_no_end);
        tcase_add_test(c, test_stopped_before);
        tcase_add_test(c, test_missing);
        return test_main("bench", c);
}
