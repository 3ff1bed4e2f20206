/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The measurement of one setting, with a stand-in for fio that is as fast as the value says which is set: in which order values are set,
 * which samples are kept of which, and when it ends. */

#include <math.h>
#include <poll.h>

#include "fake-fio.h"
#include "tune.h"

static int ends[2];
static unsigned n_asked, n_told, may_ask;
static uint64_t spent, longest;

static int may_go_on(_unused_ void *userdata) {
        return n_asked++ < may_ask ? 0 : 7;
}

static void tell(_unused_ void *userdata, uint64_t usec) {
        n_told++;
        longest = MAX(longest, usec - spent);
        spent = usec;
}

/* ---- what is set ---- */

static char order[4096];                   /* the values, a digit each, as they were set */
static size_t refused_value, refused_from; /* that cannot be had, from this call on */
static size_t failing_from;                /* the call that fails; SIZE_MAX: none */

static int set(_unused_ void *userdata, size_t value) {
        size_t n = strlen(order);
        char text[2] = { (char) ('0' + value), '\0' };

        ck_assert_uint_lt(n + 1, sizeof order);
        (void) strcpy(order + n, text);
        if (n >= failing_from)
                return -EBADSLT;
        if (n >= refused_from && value == refused_value)
                return 1;
        file_write("value", text);
        return 0;
}

/* ---- times without use ---- */

static unsigned stop_at; /* this one is interrupted by the user; 0: none is */
static unsigned n_times;

/* They pass at once, and the stand-in for fio finds how long they were, in ms. */
int poll(struct pollfd *fds, nfds_t n, int timeout) {
        char text[16];

        if (timeout < 1000)
                return (int) syscall(SYS_poll, fds, n, timeout);
        if (++n_times == stop_at)
                ck_assert_int_eq(write(ends[1], "x", 1), 1);
        (void) snprintf(text, sizeof text, "%d", timeout);
        file_write("waited", text);
        clock_now += (uint64_t) timeout * 1000;
        return (int) syscall(SYS_poll, fds, n, 0);
}

static size_t lost_value; /* the drive does not keep it */
static unsigned n_looks, cycles;
static bool tells_cycles;

/* The heads are unloaded three times in each turn of the last value. */
static int look(_unused_ void *userdata, KnownNumber *ret_cycles) {
        char value[8];

        file_read("value", value, sizeof value);
        if (n_looks++ % 2 == 1 && value[0] == '2')
                cycles += 3;
        *ret_cycles = (KnownNumber){ tells_cycles, cycles };
        return value[0] == (char) ('0' + lost_value);
}

static TuneTask task;

static void setup(void) {
        scratch_make();
        fake_fio_make();
        file_make("value", "0");
        ck_assert_int_eq(pipe(ends), 0);
        /* Where the stand-in finds it. */
        ck_assert_int_eq(dup2(ends[1], 9), 9);
        task = (TuneTask){ .bench = { .classdir = "class",
                                      .name = "sda",
                                      .node = "/dev/none",
                                      .size = UINT64_C(64) << 30,
                                      .file = -1,
                                      .budget = 16 * 1000 * 1000,
                                      .samples_max = 1000,
                                      .stop_fd = ends[0],
                                      .may_go_on = may_go_on,
                                      .tell = tell },
                           .goal = figure_find("deep_rate"),
                           .cost = figure_find("deep_latency_p99"),
                           .n_values = 3,
                           .set = set };
        n_asked = n_told = 0;
        spent = longest = 0;
        may_ask = UINT32_MAX;
        order[0] = '\0';
        refused_from = failing_from = lost_value = SIZE_MAX;
        stop_at = n_times = n_looks = cycles = 0;
        tells_cycles = true;
}

/* As fast as the value says, and no two runs alike: no interval is narrow. */
#define WIDE "iops=$((100 + 37 * $(wc -l <log) % 90)) bw=$((iops * 10000))\n"
#define BY_VALUE "read -r value <value; iops=$((100 + 50 * value)) p99=$((1000000 + value * 1000))\n"

/* ---- the order ---- */

START_TEST(test_order) {
        _cleanup_(tune_done) Tune x = {};

        failing_from = 10;
        ck_assert_int_eq(tune_run(&task, &x), -EBADSLT);
        ck_assert_str_eq(order, "01221001221");
        /* What there is by then is there. */
        ck_assert_uint_eq(x.n_rounds, 4);
        ck_assert_uint_eq(x.n_trials, 3);
        ck_assert_uint_eq(x.n_used, 10);
        ck_assert(isnan(x.trials[1].goal[3]) && isnan(x.trials[0].goal[3]) && !isnan(x.trials[2].goal[3]));
        ck_assert_uint_eq(n_told, 10);
        ck_assert_uint_eq(n_asked, 10);
}
END_TEST

/* Of three values one cannot be had, from that call on. */
static const struct {
        size_t value, from, current;
        const char *order;
} refusals[] = {
        { 0, 0, 2, "0122112" },
        { 1, 0, 0, "0122002" },
        { 2, 0, 0, "0121001" },
};

START_TEST(test_left_out) {
        _cleanup_(tune_done) Tune x = {};
        size_t k = 0;

        file_make("behaviour", BY_VALUE);
        task.current = refusals[_i].current;
        refused_value = refusals[_i].value;
        refused_from = refusals[_i].from;
        ck_assert_int_eq(tune_run(&task, &x), 0);
        ck_assert_msg(starts_with(order, refusals[_i].order), "%.20s", order);
        ck_assert_uint_eq(x.n_trials, 2);
        for (size_t value = 0; value < 3; value++) {
                if (value == refusals[_i].value)
                        continue;
                ck_assert_uint_eq(x.values[k], value);
                ck_assert_uint_ge(x.n_rounds, 6);
                for (size_t i = 0; i < x.n_rounds; i++)
                        ck_assert_double_eq(x.trials[k].goal[i], 100 + 50 * (double) value);
                k++;
        }
        ck_assert_uint_eq(x.values[x.contest.current], refusals[_i].current);
        ck_assert_uint_eq(x.contest.n_trials, 2);
        ck_assert_ptr_eq(x.contest.trials, x.trials);
        ck_assert_uint_gt(x.pick.reason, PICK_UNKNOWN);
}
END_TEST

/* It could be had before: then those rounds lack it, and the others are used. */
START_TEST(test_refused_later) {
        _cleanup_(tune_done) Tune x = {};

        file_make("behaviour", BY_VALUE);
        task.current = (size_t) _i;
        refused_value = 1;
        refused_from = 3;
        ck_assert_int_eq(tune_run(&task, &x), 0);
        ck_assert_msg(starts_with(order, "012210012210012"), "%.20s", order);
        ck_assert_uint_eq(x.n_trials, 3);
        ck_assert(!isnan(x.trials[1].goal[0]));
        for (size_t i = 1; i < x.n_rounds; i++)
                ck_assert(isnan(x.trials[1].goal[i]) && !isnan(x.trials[0].goal[i - 1]) &&
                          !isnan(x.trials[2].goal[i - 1]));
}
END_TEST

/* The present value cannot be left out. */
START_TEST(test_current_refused) {
        _cleanup_(tune_done) Tune x = {};

        task.current = refused_value = 1;
        refused_from = 0;
        ck_assert_int_eq(tune_run(&task, &x), 1);
        ck_assert_str_eq(order, "01");
}
END_TEST

/* With nothing to compare it with, it is not measured on. */
START_TEST(test_alone) {
        _cleanup_(tune_done) Tune x = {};

        task.n_values = 2;
        refused_value = 1;
        refused_from = 0;
        ck_assert_int_eq(tune_run(&task, &x), 0);
        ck_assert_str_eq(order, "01");
        ck_assert_uint_eq(x.n_trials, 1);
        ck_assert_int_eq(x.pick.reason, PICK_UNKNOWN);
}
END_TEST

/* ---- what is run ---- */

static const struct {
        const char *goal, *cost;
        const char *runs[2];
} jobs_run[] = {
        { "deep_rate", "deep_latency_p99", { "--name=deep ", NULL } },
        { "buffered", "mapped_latency", { "--name=buffered ", "--name=mapped " } },
        { "sequential_small", NULL, { "--name=small ", NULL } },
};

START_TEST(test_jobs) {
        _cleanup_(tune_done) Tune x = {};

        file_make("behaviour", WIDE "ns=2000 p99=$iops");
        task.goal = figure_find(jobs_run[_i].goal);
        task.cost = jobs_run[_i].cost ? figure_find(jobs_run[_i].cost) : NULL;
        failing_from = 6;
        ck_assert_int_eq(tune_run(&task, &x), -EBADSLT);
        for (size_t i = 0; i < ELEMENTSOF(jobs_run[_i].runs) && jobs_run[_i].runs[i]; i++)
                ck_assert_uint_eq(count_runs(jobs_run[_i].runs[i]), 6);
        /* The first is no sample. */
        ck_assert_uint_eq(count_runs("--name="), 1 + (jobs_run[_i].runs[1] ? 12 : 6));
        ck_assert_uint_eq(x.n_used, 6);
        for (size_t i = 0; i < 3; i++) {
                ck_assert(!isnan(x.trials[i].goal[0]) && !isnan(x.trials[i].goal[1]));
                ck_assert_int_eq(x.trials[i].cost != NULL, task.cost != NULL);
                ck_assert(!task.cost || (!isnan(x.trials[i].cost[0]) && !isnan(x.trials[i].cost[1])));
        }
        /* One job tells both, of the same run. */
        if (_i == 0)
                ck_assert_double_eq_tol(x.trials[2].cost[1], x.trials[2].goal[1] * 1e-9, 1e-15);
}
END_TEST

/* All of that option's arguments differ, in all runs that have it but the first, which is no sample. */
static void check_different(const char *option, size_t least) {
        _cleanup_free_ char *log = read_log();
        char *seen[256];
        size_t n = 0;

        for (char *line = strchr(log, '\n'); line; line = strchr(line + 1, '\n')) {
                char *at = strstr(line + 1, option), *end = strchr(line + 1, '\n');

                if (!at || at > end)
                        continue;
                ck_assert_uint_lt(n, ELEMENTSOF(seen));
                seen[n++] = strndup(at, strcspn(at, " \n"));
        }
        ck_assert_uint_ge(n, least);
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < i; k++)
                        ck_assert_str_ne(seen[i], seen[k]);
        for (size_t i = 0; i < n; i++)
                free(seen[i]);
}

/* What was read once may be in the drive's cache. */
START_TEST(test_places) {
        static const char *const goals[] = { "buffered", "sequential_start" };
        _cleanup_(tune_done) Tune x = {};

        file_make("behaviour", WIDE);
        task.goal = figure_find(goals[_i]);
        task.cost = figure_find("mapped_latency");
        failing_from = 24;
        task.bench.budget *= 10;
        ck_assert_int_eq(tune_run(&task, &x), -EBADSLT);
        check_different("--offset=", 24);
        check_different("--randseed=", 48);
}
END_TEST

/* ---- which samples are kept ---- */

/* In one run, the second sample's: that of the second value in the first round. */
#define SECOND "[ $(wc -l <log) -ne 3 ] || "

static const struct {
        const char *goal, *behaviour;
        size_t n_others, n_cached, n_failed;
        const char *complaint;
} missing[] = {
        { "deep_rate", SECOND "extra=4096", 1, 0, 0, NULL },
        { "deep_rate", SECOND "error=5", 0, 0, 1, "Input/output error" },
        { "buffered", SECOND "extra=-528384", 0, 1, 0, NULL },
};

START_TEST(test_missing) {
        _cleanup_(tune_done) Tune x = {};

        file_make("behaviour", missing[_i].behaviour);
        task.goal = figure_find(missing[_i].goal);
        task.cost = streq(missing[_i].goal, "deep_rate") ? task.cost : NULL;
        failing_from = 6;
        ck_assert_int_eq(tune_run(&task, &x), -EBADSLT);
        ck_assert_uint_eq(x.n_used, 5);
        ck_assert_uint_eq(x.n_others, missing[_i].n_others);
        ck_assert_uint_eq(x.n_cached, missing[_i].n_cached);
        ck_assert_uint_eq(x.n_failed, missing[_i].n_failed);
        ck_assert(streq_ptr(x.complaint, missing[_i].complaint));
        for (size_t i = 0; i < 3; i++)
                for (size_t round = 0; round < 2; round++) {
                        ck_assert_int_eq(isnan(x.trials[i].goal[round]) != 0, i == 1 && round == 0);
                        if (task.cost)
                                ck_assert_int_eq(isnan(x.trials[i].cost[round]) != 0, i == 1 && round == 0);
                }
}
END_TEST

/* ---- when it ends ---- */

START_TEST(test_budget) {
        _cleanup_(tune_done) Tune x = {};

        file_make("behaviour", WIDE);
        ck_assert_int_eq(tune_run(&task, &x), 0);
        ck_assert_uint_le(spent, task.bench.budget + longest);
        ck_assert_uint_ge(spent, task.bench.budget - 2 * longest);
        ck_assert_uint_eq(n_told, strlen(order));
        ck_assert_uint_gt(x.n_rounds, 12);
        ck_assert_int_eq(x.pick.reason, PICK_CURRENT);
}
END_TEST

START_TEST(test_most) {
        _cleanup_(tune_done) Tune x = {};

        file_make("behaviour", WIDE);
        task.bench.samples_max = 3;
        ck_assert_int_eq(tune_run(&task, &x), 0);
        ck_assert_uint_eq(x.n_rounds, 3);
}
END_TEST

/* All is known well before. */
START_TEST(test_enough) {
        _cleanup_(tune_done) Tune x = {};

        file_make("behaviour", BY_VALUE);
        ck_assert_int_eq(tune_run(&task, &x), 0);
        ck_assert_uint_le(x.n_rounds, 10);
        ck_assert_uint_lt(spent, task.bench.budget * 3 / 4);
        ck_assert_int_eq(x.pick.reason, PICK_BETTER);
        ck_assert_uint_eq(x.pick.index, 2);
}
END_TEST

/* One of them is not. */
START_TEST(test_not_enough) {
        _cleanup_(tune_done) Tune x = {};

        file_make("behaviour", BY_VALUE "[ $(cat value) = 0 ] || " WIDE);
        ck_assert_int_eq(tune_run(&task, &x), 0);
        ck_assert_uint_ge(spent, task.bench.budget - 2 * longest);
}
END_TEST

static const struct {
        const char *behaviour;
        bool among_others;
        int r;
} busy[] = {
        { WIDE "extra=4096", false, -EBUSY },
        { WIDE "extra=4096", true, 0 },
        /* Every other sample, and the first is not. */
        { WIDE "extra=$(($(wc -l <log) % 2 * 4096))", false, 0 },
};

START_TEST(test_busy) {
        _cleanup_(tune_done) Tune x = {};

        file_make("behaviour", busy[_i].behaviour);
        task.among_others = busy[_i].among_others;
        ck_assert_int_eq(tune_run(&task, &x), busy[_i].r);
        ck_assert_uint_gt(x.n_others, 0);
        if (busy[_i].r < 0)
                ck_assert_str_eq(order, "012210");
        else
                ck_assert_uint_ge(spent, task.bench.budget - 2 * longest);
}
END_TEST

START_TEST(test_refused) {
        _cleanup_(tune_done) Tune x = {};

        may_ask = 4;
        ck_assert_int_eq(tune_run(&task, &x), 7);
        ck_assert_str_eq(order, "01221");
        ck_assert_uint_eq(x.n_used, 4);
}
END_TEST

/* The user wants an end while fio runs: its sample is not kept, and nothing more is set. */
START_TEST(test_stopped) {
        _cleanup_(tune_done) Tune x = {};

        file_make("behaviour",
                  "[ $(wc -l <log) -lt 6 ] || { trap 'exit 1' TERM; echo >&9; while :; do sleep 0.01; done; }\n");
        ck_assert_int_eq(tune_run(&task, &x), 0);
        ck_assert_str_eq(order, "01221");
        ck_assert_uint_eq(x.n_used, 4);
        ck_assert_uint_eq(x.n_failed, 0);
        ck_assert(isnan(x.trials[1].goal[1]));
        ck_assert_int_eq(x.pick.reason, PICK_UNKNOWN);
}
END_TEST

START_TEST(test_stopped_before) {
        _cleanup_(tune_done) Tune x = {};

        ck_assert_int_eq(write(ends[1], "x", 1), 1);
        ck_assert_int_eq(tune_run(&task, &x), 0);
        ck_assert_str_eq(order, "");
        ck_assert_uint_eq(n_asked, 0);
        ck_assert_uint_eq(x.n_used, 0);
}
END_TEST

/* ---- settings that save power ---- */

/* The last value has a read wait from 2 s without use on. */
#define RESTS                                         \
        "t=$(cat waited); echo 0 >waited; max=5000\n" \
        "[ $(cat value) -lt 2 ] || [ $t -lt 2000 ] || max=$((t * 10000))\n"

static void make_curves(const char *behaviour) {
        file_make("waited", "0");
        file_make("behaviour", behaviour);
        task.goal = figure_find("first_read");
        task.cost = NULL;
        task.n_idle = 3;
        task.look = look;
        task.bench.budget = 600 * UINT64_C(1000000);
}

/* The service is asked for the drive again where that is left alone for longer than it waits for us. */
START_TEST(test_long_rest) {
        const Job *job = figure_job(figure_find("first_read"));
        Measured m = { .figure = job->figures };
        Bench b = {};

        make_curves("");
        ck_assert_int_eq(bench_sample(&task.bench, &b, job, &m, 1, 65 * UINT64_C(1000000)), 0);
        ck_assert_uint_eq(n_times, 3);
        ck_assert_uint_eq(n_asked, 2);
        ck_assert_uint_eq(m.n_samples, 1);
        may_ask = 3;
        ck_assert_int_eq(bench_sample(&task.bench, &b, job, &m, 2, 65 * UINT64_C(1000000)), 7);
        ck_assert_uint_eq(m.n_samples, 1);
        measured_done(&m);
}
END_TEST

START_TEST(test_curves) {
        _cleanup_(tune_done) Tune x = {};

        make_curves(RESTS);
        failing_from = 6;
        tells_cycles = _i == 0;
        ck_assert_int_eq(tune_run(&task, &x), -EBADSLT);
        ck_assert_str_eq(order, "0122100");
        ck_assert_uint_eq(count_runs("--number_ios=1"), 6 * 4);
        check_different("--randseed=", 6 * 4);
        ck_assert_uint_eq(n_times, 6 * 3);
        ck_assert_uint_eq(n_looks, 6 * 2);
        ck_assert_uint_eq(x.n_used, 6 * 3);
        for (size_t i = 0; i < 3; i++) {
                const Curve *c = x.curves + i;

                ck_assert_uint_eq(c->n_waits, 6);
                ck_assert_int_eq(c->cycles.known, tells_cycles);
                ck_assert(!tells_cycles || c->cycles.number == (i == 2 ? 6 : 0));
                for (size_t k = 0; k < 3; k++) {
                        ck_assert_uint_eq(c->after[k].n_samples, 2);
                        ck_assert_double_eq_tol(c->after[k].samples[1], i == 2 && k > 0 ? idle_times[k] * 1e-2 : 5e-6,
                                                1e-12);
                }
                ck_assert_uint_eq(tune_find_slow(&x, i), i == 2 ? 1 : 3);
                ck_assert(isnan(x.trials[i].goal[0]) && isnan(x.trials[i].goal[1]));
        }
        ck_assert_int_eq(x.pick.reason, PICK_UNKNOWN);
        ck_assert_uint_eq(x.pick.index, 0);
}
END_TEST

/* The drive does not keep a value: it is left out, with what was measured of it, unless it is the present one. */
START_TEST(test_curves_not_kept) {
        _cleanup_(tune_done) Tune x = {};

        make_curves(RESTS);
        lost_value = 1;
        task.current = (size_t) _i;
        failing_from = 5;
        ck_assert_int_eq(tune_run(&task, &x), _i == 1 ? 1 : -EBADSLT);
        ck_assert_str_eq(order, _i == 1 ? "01" : "012200");
        if (_i == 1)
                return;
        ck_assert_uint_eq(x.n_trials, 2);
        ck_assert_uint_eq(x.values[1], 2);
        ck_assert_uint_eq(x.curves[1].n_waits, 6);
        ck_assert_uint_eq(tune_find_slow(&x, 1), 1);
}
END_TEST

/* Each value is measured four times, however much time there is, as that may wear the drive. */
START_TEST(test_curves_enough) {
        _cleanup_(tune_done) Tune x = {};

        make_curves(RESTS);
        ck_assert_int_eq(tune_run(&task, &x), 0);
        ck_assert_str_eq(order, "012210012210");
        ck_assert_uint_eq(x.curves[1].after[1].n_samples, 4);
}
END_TEST

/* Most of the first turn is left out: it ends before the drive is worn for nothing. */
START_TEST(test_curves_busy) {
        _cleanup_(tune_done) Tune x = {};

        make_curves(RESTS "changes=$(wc -l <log)\n");
        task.among_others = _i;
        failing_from = 3;
        ck_assert_int_eq(tune_run(&task, &x), _i ? -EBADSLT : -EBUSY);
        ck_assert_str_eq(order, _i ? "0122" : "0");
}
END_TEST

/* Reads of a disk take 4 to 22 ms, as they come. */
START_TEST(test_curves_scattered) {
        _cleanup_(tune_done) Tune x = {};

        make_curves("max=$((4000000 + 18000000 * ($(wc -l <log) * 37 % 101) / 101))\n");
        task.n_idle = 5;
        task.bench.budget *= 100;
        failing_from = (size_t) _i * 3;
        ck_assert_int_eq(tune_run(&task, &x), _i == 4 ? 0 : -EBADSLT);
        for (size_t i = 0; i < 3; i++)
                ck_assert_uint_eq(tune_find_slow(&x, i), 5);
}
END_TEST

/* Others use the drive in the time without use before that one read. */
START_TEST(test_curves_others) {
        _cleanup_(tune_done) Tune x = {};

        /* The run that warms it up, the one that begins, and then the second time. */
        make_curves(RESTS "[ $(wc -l <log) -lt 4 ] || changes=1\n");
        failing_from = 3;
        ck_assert_int_eq(tune_run(&task, &x), -EBADSLT);
        ck_assert_uint_eq(x.n_others, 1);
        ck_assert_uint_eq(x.curves[0].after[0].n_samples, 1);
        ck_assert_uint_eq(x.curves[0].after[1].n_samples, 0);
        ck_assert_uint_eq(x.curves[0].after[2].n_samples, 1);
        ck_assert_uint_eq(tune_find_slow(&x, 0), 3);
}
END_TEST

/* In the middle of a time without use. */
START_TEST(test_curves_stopped) {
        _cleanup_(tune_done) Tune x = {};

        make_curves(RESTS);
        stop_at = 5;
        ck_assert_int_eq(tune_run(&task, &x), 0);
        ck_assert_str_eq(order, "01");
        ck_assert_uint_eq(count_runs("--number_ios=1"), 4 + 2);
        ck_assert_uint_eq(x.curves[0].after[2].n_samples, 1);
        /* What there is of a turn is of no use without its end. */
        ck_assert_uint_eq(x.curves[1].after[0].n_samples, 0);
}
END_TEST

/* As many turns as there is time for, and no part of one. */
START_TEST(test_curves_budget) {
        _cleanup_(tune_done) Tune x = {};

        make_curves(RESTS);
        task.bench.budget = 70 * UINT64_C(1000000);
        ck_assert_int_eq(tune_run(&task, &x), 0);
        ck_assert_uint_le(spent, task.bench.budget);
        ck_assert_uint_ge(strlen(order), 6);
        ck_assert_uint_eq(n_times % 3, 0);
}
END_TEST

static const struct {
        unsigned seconds;
        size_t n_values;
        unsigned wake;
        size_t n_times;
} fits[] = {
        { 10, 6, 1, 1 }, /* one at least */
        { 2 * 6 * (3 + 1 + 2 + 2), 6, 1, 2 },
        { 2 * 6 * (3 + 1 + 2 + 2) - 1, 6, 1, 1 },
        { 600, 6, 1, 5 },
        { 600, 6, 10, 3 },
        { 2 * 60 * 60, 6, 1, 9 },
        { 12 * 60 * 60, 6, 10, 9 },
};

START_TEST(test_fits) {
        ck_assert_uint_eq(idle_times_fit(fits[_i].seconds * UINT64_C(1000000), fits[_i].n_values, fits[_i].wake),
                          fits[_i].n_times);
}
END_TEST

int main(void) {
        TCase *c = tcase_create("tune");

        tcase_add_checked_fixture(c, setup, scratch_remove);
        tcase_add_test(c, test_order);
        tcase_add_loop_test(c, test_refused_later, 0, 2);
        tcase_add_loop_test(c, test_left_out, 0, ELEMENTSOF(refusals));
        tcase_add_test(c, test_current_refused);
        tcase_add_test(c, test_alone);
        tcase_add_loop_test(c, test_jobs, 0, ELEMENTSOF(jobs_run));
        tcase_add_loop_test(c, test_places, 0, 2);
        tcase_add_loop_test(c, test_missing, 0, ELEMENTSOF(missing));
        tcase_add_test(c, test_budget);
        tcase_add_test(c, test_most);
        tcase_add_test(c, test_enough);
        tcase_add_test(c, test_not_enough);
        tcase_add_loop_test(c, test_busy, 0, ELEMENTSOF(busy));
        tcase_add_test(c, test_refused);
        tcase_add_test(c, test_stopped);
        tcase_add_test(c, test_stopped_before);
        tcase_add_test(c, test_long_rest);
        tcase_add_loop_test(c, test_curves, 0, 2);
        tcase_add_loop_test(c, test_curves_not_kept, 0, 2);
        tcase_add_test(c, test_curves_enough);
        tcase_add_loop_test(c, test_curves_busy, 0, 2);
        tcase_add_loop_test(c, test_curves_scattered, 1, 5);
        tcase_add_test(c, test_curves_others);
        tcase_add_test(c, test_curves_stopped);
        tcase_add_test(c, test_curves_budget);
        tcase_add_loop_test(c, test_fits, 0, ELEMENTSOF(fits));
        return test_main("tune", c);
}
