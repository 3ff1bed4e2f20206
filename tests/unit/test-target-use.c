/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is learnt of a drive's use over twelve weeks, of patterns of use that are recorded or made. All else: scripts/use. */

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

int main(void) {
        TCase *t = tcase_create("target-use");

        source = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        tcase_add_checked_fixture(t, setup, scratch_remove);
        tcase_add_loop_test(t, test_patterns, 0, 2 * ELEMENTSOF(patterns));

        return test_main("target-use", t);
}
