/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A drive that is looked after and may sleep: the visitor, the clock, the counters, the tracer and the journal are the test's, and so is
 * /sys/class/block (stand_ins in meson.build). */

#include <limits.h>
#include <stdarg.h>

#include "attribute.h"
#include "done-log.h"
#include "fake-visitor.h"
#include "inventory.h"
#include "stack.h"
#include "target-standby.h"
#include "test-cli.h"

#define SECOND 1000000ULL
#define SYSPATH "/sys/devices/pci0/ata1/host2/target2:0:1/2:0:1:3/block/sda"
#define SPIN "{ match = {}; spindown_time = \"20min\"; }"
#define SPIN_PATIENCE (1280 * SECOND) /* a sixteenth more, and five seconds */
#define APM "{ match = {}; apm = 128; }"
#define KERNEL "{ match = {}; spindown_time = \"20min\"; read_ahead_kb = 512; }"

/* ---- the tracer ---- */

static int watch_error; /* < 0: it cannot watch */
static WatchDrive watched;

int tracer_watch(_unused_ Tracer *t, const WatchDrive *d) {
        note("watch");
        watched = *d;
        return watch_error;
}
static Tracing tracing;
Tracing tracer_tracing(_unused_ const Tracer *t) {
        return tracing;
}
void tracer_unwatch(_unused_ Tracer *t, WatchDevice disk) {
        note("unwatch:%u:%u", disk.major, disk.minor);
}

/* ---- /sys/class/block ---- */

static int above_error; /* < 0: what lies on a drive cannot be read */

/* The same in the directory that the check stands in. */
static const char *moved(const char *path) {
        return starts_with(path, INVENTORY_CLASSDIR "/") ? path + strlen(INVENTORY_CLASSDIR "/") : path;
}

int __real_attribute_read(char *buf, size_t size, const char *format, ...) _printf_(3, 4);
int __wrap_attribute_read(char *buf, size_t size, const char *format, ...) _printf_(3, 4);
int __wrap_attribute_read(char *buf, size_t size, const char *format, ...) {
        char path[PATH_MAX];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(path, sizeof path, format, ap);
        va_end(ap);
        return __real_attribute_read(buf, size, "%s", moved(path));
}
bool __real_attribute_exists(const char *format, ...) _printf_(1, 2);
bool __wrap_attribute_exists(const char *format, ...) _printf_(1, 2);
bool __wrap_attribute_exists(const char *format, ...) {
        char path[PATH_MAX];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(path, sizeof path, format, ap);
        va_end(ap);
        return __real_attribute_exists("%s", moved(path));
}
int __real_stack_above(const char *classdir, const char *name, char ***ret);
int __wrap_stack_above(const char *classdir, const char *name, char ***ret);
int __wrap_stack_above(const char *classdir, const char *name, char ***ret) {
        if (above_error < 0)
                return above_error;
        return __real_stack_above(streq(classdir, INVENTORY_CLASSDIR) ? "." : classdir, name, ret);
}

/* ---- a drive ---- */

static void setup(void) {
        static char part;

        scratch_make();
        file_make("sda/dev", "8:0\n");
        env.tracer = (Tracer *) &part;
}

/* The visit's worker tells this; POWER_UNKNOWN: nothing. */
static void answer(Target *t, PowerMode power) {
        ck_assert_ptr_nonnull(t->visit.job);
        if (!visitor.working)
                visitor.events->ready(t);
        ck_assert(visitor.working);
        tell(t, VERDICT_UNCHANGED);
        if (power != POWER_UNKNOWN)
                visitor.events->power(t, power);
        visitor.events->ended(t, VISIT_OVER, NULL);
}

/* The visit that puts the drive into standby has its worker, and ends. */
static void sleep_over(Target *t, Verdict verdict, const char *reason) {
        Step s = { .wish = t->visit.selected.items + t->visit.selected.n_items - 1, .verdict = verdict };

        ck_assert(t->visit.sleeps);
        ck_assert_str_eq(s.wish->name, "standby");
        ck_assert(s.wish->value.type == VALUE_BOOL && s.wish->value.number == 1);
        ck_assert(!t->visit.memories[t->visit.selected.n_items - 1].sent.known);
        ck_assert(visitor.active);
        (void) snprintf(s.reason, sizeof s.reason, "%s", reason);
        visitor.events->step(t, &s);
        visitor.events->ended(t, VISIT_OVER, NULL);
}

/* From its beginning. */
static _unused_ void sleep_ends(Target *t, Verdict verdict, const char *reason) {
        visitor.events->ready(t);
        sleep_over(t, verdict, reason);
}

static Target *look_after_other(const char *drives, WakeLog log, Transport transport, bool rotational) {
        Target *t = watch(drives, transport);

        t->files->config->wake_log = log;
        t->drive->rotational = rotational;
        free(t->drive->syspath);
        t->drive->syspath = strdup(SYSPATH);
        t->wear_asked = now_usec(); /* unless a check is about that */
        target_visit(t, VISIT_BOOT);
        if (t->visit.job)
                answer(t, POWER_UNKNOWN);
        target_standby_rested(t);
        n_told = 0;
        return t;
}

static Target *look_after(const char *drives, WakeLog log) {
        return look_after_other(drives, log, TRANSPORT_SATA, true);
}

/* Check's clock is that one, too. */
static void leave(Target *t) {
        end(t);
        passed = 0;
}

/* When all of its time without use is over, or it is to be looked at, if that is later. */
static uint64_t patience_ends(const Target *t) {
        return MAX(target_standby_due(t), t->standby.quiet_since + (t->standby.patience << t->standby.n_looks));
}

/* It is to be looked at next so long after `since`. */
static _unused_ void assert_look(const Target *t, uint64_t since, uint64_t usec) {
        ck_assert_uint_ge(target_standby_due(t), since + usec);
        ck_assert_uint_le(target_standby_due(t), monotonic_usec() + usec);
        ck_assert_uint_le(target_due(t), target_standby_due(t));
}

/* It is to be asked when it was not used for so long: the time began after `since`. */
static _unused_ void assert_patience(const Target *t, uint64_t since, uint64_t usec) {
        ck_assert_uint_ne(target_standby_due(t), UINT64_MAX);
        ck_assert_uint_ge(patience_ends(t), since + usec);
        ck_assert_uint_le(patience_ends(t), monotonic_usec() + usec);
        ck_assert_uint_le(target_due(t), target_standby_due(t));
}

/* Until it is looked at next. Returns whether it is visited then. */
static bool next_look(Target *t) {
        unsigned before = n_visits;

        ck_assert_uint_ne(target_standby_due(t), UINT64_MAX);
        target_tick(t);
        ck_assert_uint_eq(n_visits, before);
        passed += (time_t) ((target_standby_due(t) - monotonic_usec()) / SECOND) + 1;
        target_tick(t);
        return n_visits > before;
}

/* Until it is visited, or is found to be in use, or its time without use is over. Returns whether it is visited. */
static _unused_ bool wait_out(Target *t) {
        uint64_t end = patience_ends(t), since = t->standby.quiet_since;
        bool visited;

        do
                visited = next_look(t);
        while (!visited && target_standby_due(t) != UINT64_MAX && t->standby.quiet_since == since &&
               monotonic_usec() < end);
        return visited;
}
