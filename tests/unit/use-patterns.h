/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Twelve weeks of I/O of a drive: recorded patterns (tests/data/use) and generated ones. */

#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "macro.h"
#include "suite.h"

#define MINUTES(n) ((n) *60.0)
#define HOURS(n) ((n) *3600.0)
#define DAYS 84
#define DAY HOURS(24)

/* Times of I/O, in seconds since the first I/O, in order. */
typedef struct Uses {
        GROWING_ARRAY(double, at);
        uint64_t random;
} Uses;

/* Returns a number from 0 to 1. The sequence is the same in each run. */
static double chance(Uses *u) {
        u->random = u->random * 6364136223846793005ULL + 1442695040888963407ULL;
        return (double) (u->random >> 11) / 9007199254740992.0;
}

static double between(Uses *u, double least, double most) {
        return least + (most - least) * chance(u);
}

/* Returns a random time until the next event. The events are independent of each other; `mean` is the average time between two events. */
static double after(Uses *u, double mean) {
        return -log(1 - chance(u)) * mean;
}

static void use(Uses *u, double at) {
        quick_assert(GREW(u, at));
        u->at[u->n_at++] = at;
}

/* Adds `n` reads or writes, which are `apart` seconds apart on average. Returns the time of the next read or write, but
 * does not add it. */
static double burst(Uses *u, double at, double n, double apart) {
        for (; n >= 1; n--, at += after(u, apart))
                use(u, at);
        return at;
}

/* A media server: films in the evening, and single reads during the day. */
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

/* A file server of an office: busy on five days a week, and one job each night. */
static void office(Uses *u) {
        for (unsigned day = 0; day < DAYS; day++) {
                double at = day * DAY + HOURS(8);

                use(u, day * DAY + HOURS(2));
                while (day % 7 < 5 && at < day * DAY + HOURS(18))
                        at = burst(u, at + after(u, MINUTES(9)), between(u, 1, 30), 15);
        }
}

/* A backup server: a small backup each hour, and a full backup each night. */
static void backups(Uses *u) {
        for (unsigned hour = 0; hour < DAYS * 24; hour++) {
                double at = burst(u, HOURS(hour) + between(u, 0, 240), between(u, 1, 40), 6);

                if (hour % 24 == 3)
                        (void) burst(u, at, 400, 10);
        }
}

/* Log files of a system: single writes, 17 minutes apart on average. */
static void logs(Uses *u) {
        for (double at = 0; at < DAYS * DAY;)
                at = burst(u, at + after(u, MINUTES(17)), 1, 0);
}

/* A photo archive: reads that are seconds to hours apart. */
static void photos(Uses *u) {
        for (double at = 0; at < DAYS * DAY;)
                at = burst(u, at + exp(between(u, 2, 9.5)), 1, 0);
}

/* Parses the time of I/O at the beginning of `line`. Returns the rest of the line; NULL: no time. */
static const char *recorded_time(const char *line, double *ret) {
        struct tm tm = {};
        const char *rest = strptime(line, "%F %T", &tm);

        if (rest)
                *ret = (double) timegm(&tm);
        return rest;
}

/* A line of a recording is the time of one I/O, or the first and last time of a period in which the drive was active
 * throughout. The I/O of such a period was not recorded, so one I/O every two minutes is assumed. The recording is
 * repeated until twelve weeks are full. The last I/O of each repetition is the first I/O of the next repetition. Thus only
 * recorded times without I/O are longer than two minutes. */
static void recorded(Uses *u, int root, const char *name) {
        size_t begun = u->n_at, n;
        char line[256];
        double start = -1;
        FILE *f;

        (void) snprintf(line, sizeof line, "tests/data/use/%s.txt", name);
        f = fdopen(openat(root, line, O_RDONLY | O_CLOEXEC), "re");
        quick_assert(f);
        while (fgets(line, sizeof line, f)) {
                double at, last;
                const char *rest;

                if (line[0] == '#')
                        continue;
                rest = recorded_time(line, &at);
                quick_assert(rest);
                last = at;
                rest = *rest == ' ' ? recorded_time(rest, &last) : rest;
                quick_assert(rest && streq(rest, "\n"));
                start = start < 0 ? at : start;
                for (; at < last; at += MINUTES(2))
                        use(u, at - start);
                use(u, last - start);
        }
        (void) fclose(f);

        n = u->n_at - begun - 1;
        quick_assert(n > 1);
        for (double length = u->at[u->n_at - 1]; u->at[u->n_at - 1] < DAYS * DAY;)
                use(u, u->at[u->n_at - n] + length);
}

static int compare_uses(const void *a, const void *b) {
        const double *x = a, *y = b;

        return (*x > *y) - (*x < *y);
}

static const struct {
        const char *name;
        void (*make)(Uses *u); /* NULL: the pattern is a recording in tests/data/use */
} patterns[] = {
        { "hd-idle", NULL },  { "hdspindown", NULL }, { "syslogd", NULL }, { "films", films },
        { "office", office }, { "backups", backups }, { "logs", logs },    { "photos", photos },
};

/* Makes the pattern. `root`: the source directory. Returns false if there is no such pattern. */
static bool uses_make(Uses *u, int root, const char *name) {
        size_t i = 0;

        while (i < ELEMENTSOF(patterns) && !streq(patterns[i].name, name))
                i++;
        if (i == ELEMENTSOF(patterns))
                return false;
        *u = (Uses){ .random = 1 };
        use(u, 0);
        if (patterns[i].make)
                patterns[i].make(u);
        else
                recorded(u, root, name);
        qsort(u->at, u->n_at, sizeof *u->at, compare_uses);
        return true;
}

/* Returns how often a drive with this standby timer (s) spins up. *ret_asleep: time in standby (s). */
static unsigned uses_spin_ups(const Uses *u, double timer, double *ret_asleep) {
        unsigned n = 0;

        *ret_asleep = 0;
        for (size_t i = 1; i < u->n_at; i++)
                if (u->at[i] - u->at[i - 1] > timer) {
                        n++;
                        *ret_asleep += u->at[i] - u->at[i - 1] - timer;
                }
        return n;
}
