/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is learnt of a drive's use and wear: over twelve weeks of patterns of use, recorded and made, and from then on, over the boots. */

#include <fcntl.h>
#include <math.h>
#include <time.h>

#include "fake-standby.h"
#include "target-spindown.h"
#include "target-use.h"

#define MINUTES(n) ((n) *60.0)
#define HOURS(n) ((n) *3600.0)
#define DAYS 84
#define DAY HOURS(24)

int __wrap_stack_group(const char *classdir, const char *btrfsdir, const char *name, char ***ret);
int __wrap_stack_group(_unused_ const char *classdir, _unused_ const char *btrfsdir, const char *name, char ***ret) {
        *ret = NULL;
        return names_add(ret, name);
}

/* ---- patterns of use ---- */

/* Times at which the drive is used, in s from the first one, in order. */
typedef struct Uses {
        GROWING_ARRAY(double, at);
        uint64_t random;
} Uses;

/* 0 ... 1, the same at each run. */
static double chance(Uses *u) {
        u->random = u->random * 6364136223846793005ULL + 1442695040888963407ULL;
        return (double) (u->random >> 11) / 9007199254740992.0;
}

static double between(Uses *u, double least, double most) {
        return least + (most - least) * chance(u);
}

/* As things come that do not know of each other. */
static double after(Uses *u, double mean) {
        return -log(1 - chance(u)) * mean;
}

static void use(Uses *u, double at) {
        ck_assert(GREW(u, at));
        u->at[u->n_at++] = at;
}

/* `n` reads or writes, so far apart; when the last was. */
static double burst(Uses *u, double at, double n, double apart) {
        for (; n >= 1; n--, at += after(u, apart))
                use(u, at);
        return at;
}

/* A media server: films in the evening, something now and then by day. */
static void films(Uses *u) {
        for (double day = 0; day < DAYS * DAY; day += DAY) {
                for (double n = between(u, 2, 7); n >= 1; n--)
                        use(u, day + between(u, HOURS(7), HOURS(18)));
                for (double at = day + HOURS(18) + between(u, 0, HOURS(1)); at < day + HOURS(23.5);) {
                        double end = at + between(u, MINUTES(20), MINUTES(110));

                        while (at < end)
                                at = burst(u, at, 1, 20);
                        at += after(u, MINUTES(25));
                }
        }
}

/* An office's files: busy on five days a week, and a job each night. */
static void office(Uses *u) {
        for (unsigned day = 0; day < DAYS; day++) {
                double at = day * DAY + HOURS(8);

                use(u, day * DAY + HOURS(2));
                while (day % 7 < 5 && at < day * DAY + HOURS(18))
                        at = burst(u, at + after(u, MINUTES(9)), between(u, 1, 30), 15);
        }
}

/* Backups: each hour a little, and at night all. */
static void backups(Uses *u) {
        for (unsigned hour = 0; hour < DAYS * 24; hour++) {
                double at = burst(u, HOURS(hour) + between(u, 0, 240), between(u, 1, 40), 6);

                if (hour % 24 == 3)
                        (void) burst(u, at, 400, 10);
        }
}

/* What a system does to the drive with its logs. */
static void logs(Uses *u) {
        for (double at = 0; at < DAYS * DAY;)
                at = burst(u, at + after(u, MINUTES(17)), 1, 0);
}

/* Photos: much within minutes, nothing for hours. */
static void photos(Uses *u) {
        for (double at = 0; at < DAYS * DAY;)
                at = burst(u, at + exp(between(u, 2, 9.5)), 1, 0);
}

static int source = -1; /* the source's root; each check stands in a directory of its own */

/* When a line of a recording says that the drive was used; what follows that. */
static const char *recorded_time(const char *line, double *ret) {
        struct tm tm = {};
        const char *rest = strptime(line, "%F %T", &tm);

        if (rest)
                *ret = (double) timegm(&tm);
        return rest;
}

/* A line has one use; or the first and the last one of a time in which the drive was awake all along, and nothing is known of the uses in
 * between: they are taken to be two minutes apart. It is repeated, so that its last use is the first one of the next: all times without
 * use that are longer than these are recorded ones. */
static void recorded(Uses *u, const char *name) {
        size_t begun = u->n_at, n;
        char line[256];
        double start = -1;
        FILE *f;

        (void) snprintf(line, sizeof line, "tests/data/use/%s.txt", name);
        f = fdopen(openat(source, line, O_RDONLY | O_CLOEXEC), "re");
        ck_assert_msg(f, "%s", line);
        while (fgets(line, sizeof line, f)) {
                double at, last;
                const char *rest;

                if (line[0] == '#')
                        continue;
                rest = recorded_time(line, &at);
                ck_assert_msg(rest, "%s", line);
                last = at;
                rest = *rest == ' ' ? recorded_time(rest, &last) : rest;
                ck_assert_msg(rest && streq(rest, "\n"), "%s", line);
                start = start < 0 ? at : start;
                for (; at < last; at += MINUTES(2))
                        use(u, at - start);
                use(u, last - start);
        }
        (void) fclose(f);

        n = u->n_at - begun - 1;
        ck_assert_uint_gt(n, 1);
        for (double length = u->at[u->n_at - 1]; u->at[u->n_at - 1] < DAYS * DAY;)
                use(u, u->at[u->n_at - n] + length);
}

static int compare(const void *a, const void *b) {
        const double *x = a, *y = b;

        return (*x > *y) - (*x < *y);
}

/* ---- over twelve weeks ---- */

/* How often a drive with a timer of its own spins up, and how long it sleeps. */
static unsigned spin_ups(const Uses *u, double timer, double *ret_asleep) {
        unsigned n = 0;

        *ret_asleep = 0;
        for (size_t i = 1; i < u->n_at; i++)
                if (u->at[i] - u->at[i - 1] > timer) {
                        n++;
                        *ret_asleep += u->at[i] - u->at[i - 1] - timer;
                }
        return n;
}

/* The drive is as its timer of five minutes has it, or is told to spin down. */
static void look_at_drive(Target *t, double since_use) {
        if (t->visit.sleeps)
                sleep_ends(t, VERDICT_APPLIED, "");
        else
                answer(t, since_use > MINUTES(5) ? POWER_STANDBY : POWER_AWAKE);
}

static void live(Target *t, const Uses *u, bool *ret_woken) {
        double begun = (double) monotonic_usec() / SECOND, at = begun;

        *ret_woken = false;
        for (size_t i = 0; i < u->n_at; i++) {
                double used = begun + u->at[i];

                for (;;) {
                        uint64_t due = target_standby_due(t);

                        if (due == UINT64_MAX || (double) due / SECOND >= used)
                                break;
                        passed += (time_t) ceil(MAX((double) due / SECOND - (double) monotonic_usec() / SECOND, 0)) + 1;
                        target_tick(t);
                        if (t->visit.job) {
                                /* Nothing is asked of one that sleeps. */
                                *ret_woken = *ret_woken || (t->standby.asleep && visitor.ask_wear);
                                look_at_drive(t, (double) monotonic_usec() / SECOND - at);
                                (void) all_done();
                        }
                }
                at = used;
                passed += (time_t) MAX(used - (double) monotonic_usec() / SECOND, 0);
                activity++;
                if (t->standby.asleep)
                        target_standby_woken(t, &(Wake){ .kind = WAKE_READ });
                (void) all_done();
        }
}

static const struct {
        const char *name;
        void (*make)(Uses *u); /* NULL: it is recorded */
} patterns[] = {
        { "hd-idle", NULL },  { "hdspindown", NULL }, { "syslogd", NULL }, { "films", films },
        { "office", office }, { "backups", backups }, { "logs", logs },    { "photos", photos },
};

static const unsigned timers[] = { 10, 15, 20, 30, 45, 60, 90, 120, 180, 240 };

/* With a timer of five minutes, of the drive's own or of the service: what longer ones would have come to. */
START_TEST(test_patterns) {
        Uses u = { .random = 1 };
        bool by_service = _i >= (int) ELEMENTSOF(patterns), woken;
        size_t p = _i % ELEMENTSOF(patterns);
        Target *t;

        use(&u, 0);
        if (patterns[p].make)
                patterns[p].make(&u);
        else
                recorded(&u, patterns[p].name);
        qsort(u.at, u.n_at, sizeof *u.at, compare);
        t = look_after(by_service ? "{ match = {}; spindown_time = \"5min\"; spindown_by = \"service\"; }"
                                  : "{ match = {}; spindown_time = \"5min\"; }",
                       WAKE_LOG_AUTO);
        live(t, &u, &woken);
        ck_assert(!woken);

        for (size_t i = 0; i < ELEMENTSOF(timers); i++) {
                double asleep, days = (double) t->record->use.watched / DAY, is, want;
                UsePrediction told;

                ck_assert(drive_use_predict(&t->record->use, timers[i], &told));
                want = spin_ups(&u, MINUTES(timers[i]), &asleep);
                is = told.spin_ups_per_day * days;
                /* Of a few, one that is in doubt is more than that. */
                ck_assert_msg(fabs(is - want) <= MAX(want * 0.02, 1), "%s, %u min: %f, not %f", patterns[p].name,
                              timers[i], is, want);
                ck_assert_msg(fabs(told.hours_asleep_per_day * days - asleep / 3600) <= MAX(asleep / 3600 * 0.02, 1),
                              "%s, %u min: %f h, not %f", patterns[p].name, timers[i], told.hours_asleep_per_day * days,
                              asleep / 3600);
        }
        free(u.at);
        leave(t);
}
END_TEST

/* ---- what is counted ---- */

START_TEST(test_spin_ups) {
        Target *t = look_after(SPIN, WAKE_LOG_AUTO);
        const DriveUse *u = &t->record->use;

        ck_assert_str_eq(u->setting, "20 min");
        for (unsigned i = 1; i <= 3; i++) {
                ck_assert(wait_out(t));
                answer(t, POWER_STANDBY);
                passed += 1000;
                target_standby_woken(t, &(Wake){ .kind = WAKE_READ });
                ck_assert_uint_eq(u->spin_ups, i);
                ck_assert_uint_eq(u->asleep, i * 1000);
        }
        ck_assert_uint_ge(u->watched, 3 * (1000 + 1280));
        ck_assert_uint_le(u->watched, 3 * (1000 + 1280 + 10));

        /* The tracer is lost: nobody knows whether it was woken. */
        ck_assert(wait_out(t));
        answer(t, POWER_STANDBY);
        passed += 1000;
        target_standby_lost(t);
        ck_assert_uint_eq(u->spin_ups, 3);
        leave(t);
}
END_TEST

#define BY_SERVICE "{ match = {}; spindown_time = \"20min\"; spindown_by = \"service\"; }"

/* Z: the drive is put into standby, or found so; R: somebody reads, as the tracer reports; r: as only the kernel's count shows; A: it is
 * found awake by chance; L: the tracer is lost; D: the service begins anew. */
static const struct {
        const char *name, *drives, *happens;
        WakeLog log;
        int watch_error;
        unsigned spin_ups; /* for `explain`; the journal and the metrics have as many, unless the files forbid it */
} courses[] = {
        { "traced", SPIN, "ZRZRZR", WAKE_LOG_AUTO, 0, 3 },
        { "traced, by the service", BY_SERVICE, "ZRZR", WAKE_LOG_AUTO, 0, 2 },
        { "the waker is not known", SPIN, "ZAZR", WAKE_LOG_AUTO, 0, 2 },
        { "cannot be traced", BY_SERVICE, "ZrZr", WAKE_LOG_AUTO, -ENOSPC, 2 },
        { "cannot be traced, nor counted", SPIN, "ZrZr", WAKE_LOG_AUTO, -ENOSPC, 0 },
        { "the tracer is lost", SPIN, "ZLZR", WAKE_LOG_AUTO, 0, 1 },
        { "asleep over a restart", SPIN, "ZDZRZR", WAKE_LOG_AUTO, 0, 2 },
        { "awake over a restart", SPIN, "ZRDZR", WAKE_LOG_AUTO, 0, 2 },
        { "wakes are not recorded", BY_SERVICE, "ZrZr", WAKE_LOG_OFF, 0, 2 },
};

static unsigned tallied(const char *tally) {
        unsigned n = 0;

        return tally && sscanf(tally, "unknown %u", &n) == 1 ? n : 0;
}

static void fall_asleep(Target *t) {
        if (target_standby_due(t) != UINT64_MAX)
                ck_assert(wait_out(t));
        else
                target_visit(t, VISIT_REQUEST);
        if (t->visit.sleeps)
                sleep_ends(t, VERDICT_APPLIED, "");
        else
                answer(t, POWER_STANDBY);
}

/* `explain`, `wakes` and the metrics count the same. */
START_TEST(test_one_count) {
        Target *t = look_after(courses[_i].drives, courses[_i].log);

        watch_error = courses[_i].watch_error;
        for (const char *c = courses[_i].happens; *c; c++) {
                switch (*c) {
                case 'Z':
                        fall_asleep(t);
                        break;
                case 'R':
                case 'r':
                        activity++;
                        if (*c == 'R')
                                target_standby_woken(t, &(Wake){ .kind = WAKE_READ });
                        else
                                (void) next_look(t);
                        break;
                case 'A':
                        target_visit(t, VISIT_REQUEST);
                        answer(t, POWER_AWAKE);
                        break;
                case 'L':
                        target_standby_lost(t);
                        break;
                default:
                        t->standby = (TargetStandby){};
                        t->spindown = (TargetSpindown){};
                }
                (void) all_done();
                passed += 1000;
        }
        watch_error = 0;
        ck_assert_msg(t->record->use.spin_ups == courses[_i].spin_ups, "%s: %u", courses[_i].name,
                      (unsigned) t->record->use.spin_ups);
        ck_assert_uint_eq(n_wakes_told, courses[_i].log == WAKE_LOG_OFF ? 0 : courses[_i].spin_ups);
        ck_assert_uint_eq(tallied(t->record->wakes), n_wakes_told);
        ck_assert_uint_le(t->record->use.asleep, t->record->use.watched + 1);
        leave(t);
}
END_TEST

/* Times in which nobody counted were not without use, nor watched. */
START_TEST(test_uncounted) {
        Target *t = look_after(SPIN, WAKE_LOG_AUTO);
        const DriveUse *u = &t->record->use;

        passed += 100;
        activity++;
        (void) next_look(t);
        uncounted[0] = -ENODATA;
        while (passed < 100000 && !t->standby.asleep)
                if (next_look(t))
                        answer(t, _i ? POWER_STANDBY : POWER_AWAKE);
        if (_i) {
                ck_assert(t->standby.asleep);
                passed += 100000;
                target_standby_woken(t, &(Wake){ .kind = WAKE_READ });
        }
        uncounted[0] = 0;
        passed += 100000;
        activity++;
        target_tick(t);
        ck_assert(!t->standby.uncounted);
        ck_assert_uint_eq(u->spin_ups, n_wakes_told);
        ck_assert_uint_eq(u->spin_ups, _i ? 1 : 0);
        ck_assert_uint_lt(u->watched, 2000);
        for (unsigned i = 0; i < USE_TIMERS; i++)
                ck_assert_uint_eq(u->gaps[i], 0);
        leave(t);
}
END_TEST

/* Another timer begins anew; one that holds on battery alone does not. */
START_TEST(test_other_timer) {
        Target *t = look_after(SPIN, WAKE_LOG_AUTO);

        t->record->use.spin_ups = 7;
        env.on_battery = _i;
        files_become("{ match = {}; spindown_time = \"30min\"; }");
        target_reconfigure(t, VISIT_RELOAD);
        answer(t, POWER_AWAKE);
        ck_assert_str_eq(t->record->spindown, "30 min");
        ck_assert_str_eq(t->record->use.setting, _i ? "20 min" : "30 min");
        ck_assert_uint_eq(t->record->use.spin_ups, _i ? 7 : 0);
        env.on_battery = false;
        leave(t);
}
END_TEST

/* A version without keys has kept it: the statistics go on, with the next timer they begin anew. */
START_TEST(test_without_key) {
        Target *t = look_after(SPIN, WAKE_LOG_AUTO);

        ck_assert_str_eq(t->record->use.key, "drive spindown_time 1200000000");
        t->record->use.spin_ups = 7;
        ck_assert_int_eq(string_replace(&t->record->use.key, NULL), 0);
        ck_assert_int_eq(string_replace(&t->record->spindown_key, NULL), 0);
        target_visit(t, VISIT_REQUEST);
        answer(t, POWER_AWAKE);
        ck_assert_str_eq(t->record->spindown_key, "drive spindown_time 1200000000");
        ck_assert_str_eq(t->record->use.key, t->record->spindown_key);
        ck_assert_uint_eq(t->record->use.spin_ups, 7);

        ck_assert_int_eq(string_replace(&t->record->spindown_key, NULL), 0);
        files_become("{ match = {}; spindown_time = \"off\"; }");
        target_reconfigure(t, VISIT_RELOAD);
        answer(t, POWER_AWAKE);
        ck_assert(!t->record->spindown_key && !t->record->spindown);
        leave(t);
}
END_TEST

/* ---- wear ---- */

static void use_it(Target *t) {
        uint64_t due = target_standby_due(t), now = monotonic_usec();

        activity++;
        passed += due > now ? (time_t) ((due - now) / SECOND) + 1 : 0;
        target_tick(t);
}

/* The drive is in use, and tells that it has so many load cycles and starts. */
static void tell_wear(Target *t, int64_t load_cycles, int64_t start_stops) {
        use_it(t);
        ck_assert_ptr_nonnull(t->visit.job);
        ck_assert_int_eq(t->visit.pending.reason, VISIT_WEAR);
        ck_assert(visitor.ask_wear && visitor.ask_power);
        ck_assert_uint_eq(n_wishes, 0);
        visitor.events->ready(t);
        visitor.events->power(t, POWER_AWAKE);
        visitor.events->wear(t, &(Wear){ .load_cycles = { true, load_cycles }, .start_stops = { true, start_stops } });
        visitor.events->ended(t, VISIT_OVER, NULL);
}

/* Once a day, and only when it was used just now. */
START_TEST(test_asked) {
        Target *t = look_after(SPIN, WAKE_LOG_AUTO);

        n_steps_told = 0;
        t->wear_asked = 0;
        ck_assert(wait_out(t));
        ck_assert_int_eq(t->visit.pending.reason, VISIT_STANDBY);
        ck_assert(!visitor.ask_wear);
        answer(t, POWER_STANDBY);
        passed += (time_t) DAY;
        target_standby_woken(t, &(Wake){ .kind = WAKE_READ });
        ck_assert_ptr_null(t->visit.job);

        tell_wear(t, 17, 15);
        ck_assert_int_eq(t->record->use.wear.load_cycles.number, 17);
        for (unsigned i = 0; i < 3; i++) {
                passed += (time_t) HOURS(7);
                use_it(t);
                ck_assert_ptr_null(t->visit.job);
        }
        passed += (time_t) HOURS(4);
        tell_wear(t, 18, 16);
        ck_assert_int_eq(t->record->use.first_wear.load_cycles.number, 17);
        ck_assert_uint_eq(n_told + n_steps_told, 0);
        leave(t);
}
END_TEST

/* A drive that says nothing of it is not asked more often for that. */
START_TEST(test_not_told) {
        Target *t = look_after(SPIN, WAKE_LOG_AUTO);

        t->wear_asked = 0;
        use_it(t);
        ck_assert_int_eq(t->visit.pending.reason, VISIT_WEAR);
        answer(t, POWER_AWAKE);
        passed += (time_t) HOURS(20);
        use_it(t);
        ck_assert_ptr_null(t->visit.job);
        leave(t);
}
END_TEST

#define APM_SPIN "{ match = {}; apm = 1; spindown_time = \"20min\"; }"

static const struct {
        const char *drives;
        int64_t load_cycles, start_stops; /* more in ten days */
        const char *told;                 /* NULL: nothing is */
} wearing[] = {
        { SPIN, 300, 300, NULL },
        { SPIN, 3000, 3000, NULL },
        { SPIN, 6000, 6000,
          "it has 6100 of the 600000 load cycles that it is taken to be made for, and 600 more each day with "
          "spindown_time = 20 min (f:1): so they are used up in 2.7 years." },
        { SPIN, 6000, 10, "spindown_time = 20 min (f:1)" },
        { APM_SPIN, 6000, 6000, "spindown_time = 20 min (f:1)" },
        { APM_SPIN, 6000, 10, "with apm = 1 (f:1)" },
};

START_TEST(test_warned) {
        Target *t = look_after(wearing[_i].drives, WAKE_LOG_AUTO);

        t->wear_asked = 0;
        tell_wear(t, 100, 100);
        ck_assert_uint_eq(n_wear_told, 0);
        for (unsigned i = 1; i <= 3; i++) {
                passed += (time_t) (10 * DAY);
                tell_wear(t, 100 + i * wearing[_i].load_cycles, 100 + i * wearing[_i].start_stops);
                ck_assert_uint_eq(n_wear_told, wearing[_i].told ? 1 : 0);
        }
        if (wearing[_i].told)
                ck_assert_msg(strstr(wear_told, wearing[_i].told), "%s", wear_told);
        leave(t);
}
END_TEST

/* ---- over boots ---- */

/* As at its attach, when it was not known yet here that it rotates. */
static void come_back(Target *t) {
        target_use_attach(t);
        target_use_note(t);
}

START_TEST(test_kept) {
        Target *t = look_after(SPIN, WAKE_LOG_AUTO);
        uint64_t since = t->record->use.since;

        ck_assert_ptr_null(kept_text);
        t->wear_asked = 0;
        t->record->use.gaps[3] = 5000;
        tell_wear(t, 17, 15);
        ck_assert_ptr_nonnull(strstr(kept_text, "WEAR_LOAD_CYCLES=17\n"));
        leave(t);

        /* With this timer it goes on, with another one it begins anew. */
        t = look_after(_i == 0 ? SPIN : "{ match = {}; spindown_time = \"30min\"; }", WAKE_LOG_AUTO);
        come_back(t);
        ck_assert(_i == 0 ? t->record->use.since == since : t->record->use.since > since);
        ck_assert_uint_eq(t->record->use.gaps[3], _i == 0 ? 5000 : 0);
        ck_assert_int_eq(t->record->use.wear.load_cycles.number, 17);
        leave(t);

        free(kept_text);
        kept_text = strdup("VERSION=1\nnonsense");
        t = look_after(SPIN, WAKE_LOG_AUTO);
        come_back(t);
        ck_assert_uint_gt(t->record->use.since, since);
        leave(t);
        free(kept_text);
        kept_text = NULL;
}
END_TEST

int main(void) {
        TCase *t = tcase_create("target-use");

        source = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        tcase_add_checked_fixture(t, setup, scratch_remove);
        tcase_add_loop_test(t, test_patterns, 0, 2 * ELEMENTSOF(patterns));
        tcase_add_test(t, test_spin_ups);
        tcase_add_loop_test(t, test_one_count, 0, ELEMENTSOF(courses));
        tcase_add_loop_test(t, test_uncounted, 0, 2);
        tcase_add_test(t, test_without_key);
        tcase_add_loop_test(t, test_other_timer, 0, 2);
        tcase_add_test(t, test_asked);
        tcase_add_test(t, test_not_told);
        tcase_add_loop_test(t, test_warned, 0, ELEMENTSOF(wearing));
        tcase_add_loop_test(t, test_kept, 0, 2);

        return test_main("target-use", t);
}
