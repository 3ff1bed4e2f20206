/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A drive that is looked after, and its visits: the visitor, the guard, the counters, the clock and the state file are the test's. Whoever
 * wants a worker has one at once. */

#include <check.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>

#include "clock.h"
#include "fake-target.h"
#include "settings.h"
#include "state.h"
#include "suite.h"

/* ---- stand-ins ---- */

static struct VisitJob {
        const VisitJobEvents *events;
        void *userdata;
        bool working, active, permanent, no_wake, look, ata_sleep, ask_power, ask_wear;
        uint64_t patience;
} visitor;
static size_t n_wishes; /* of the last visit */
static unsigned n_visits, n_rested, n_vanished;
static int visit_error; /* < 0: it cannot be made */

int visit_job_new(_unused_ sd_event *event, _unused_ Broker *broker, _unused_ FsckWait *fsck_wait, const Visit *visit,
                  uint64_t patience, const VisitJobEvents *events, void *userdata, VisitJob **ret) {
        bool settings = visit->work & WORK_SETTINGS;

        if (visit_error < 0)
                return visit_error;
        visitor = (struct VisitJob){ .events = events,
                                     .userdata = userdata,
                                     .permanent = visit->work & WORK_PERMANENT,
                                     .no_wake = settings && !(visit->work & WORK_WAKE),
                                     .look = settings && !(visit->work & (WORK_WRITE_KERNEL | WORK_WRITE)),
                                     .ask_power = visit->work & (WORK_POWER | WORK_WEAR),
                                     .ask_wear = visit->work & WORK_WEAR,
                                     .ata_sleep = visit->ata_sleep,
                                     .patience = patience };
        n_wishes = visit->wishes->n_items;
        n_visits++;
        *ret = &visitor;
        return 0;
}

VisitJob *visit_job_free(_unused_ VisitJob *v) {
        return NULL;
}

bool visit_job_has_worker(const VisitJob *v) {
        return v->working;
}

static int work_error; /* < 0: no worker can be made */

int visit_job_work(VisitJob *v, bool active) {
        if (work_error < 0)
                return work_error;
        v->working = true;
        v->active = active;
        return 0;
}

void visit_job_vanish(_unused_ const VisitJob *v) {
        n_vanished++;
}

static unsigned n_quarantined;
unsigned guarded_release(_unused_ GuardedDrive *d, _unused_ const char *setting) {
        return n_quarantined;
}

static uint64_t activity = 1; /* reads and writes of the drive; 0: not known */
static int uncounted
                [26]; /* -ENODATA: the kernel does not count those of sda, sdb, …; another error: its counters cannot be read */
int activity_read(const char *syspath, uint64_t *ret) {
        char letter = syspath[strlen(syspath) - 1];

        if (letter >= 'a' && letter <= 'z' && uncounted[letter - 'a'] < 0)
                return uncounted[letter - 'a'];
        *ret = activity;
        return activity > 0 ? 0 : -ENOENT;
}

static uint64_t commands = 1; /* of all programs to the drive; 0: not known */
int activity_commands(_unused_ const char *syspath, uint64_t *ret) {
        *ret = commands;
        return commands > 0 ? 0 : -ENOENT;
}

static uint64_t last_event;

uint64_t activity_last_event(void) {
        return last_event;
}

static time_t passed;      /* s, since the test began, by its own clock */
static time_t slept;       /* s, more than this machine */
static time_t preempted;   /* s, that others run before this program's next look at the clock of all time since boot */
static time_t run_so_late; /* s, that others have run so */

int clock_gettime(clockid_t clock, struct timespec *ts) {
        int r = (int) syscall(SYS_clock_gettime, clock, ts);

        if (clock == CLOCK_BOOTTIME) {
                run_so_late += preempted;
                preempted = 0;
                ts->tv_sec += slept;
        }
        ts->tv_sec += run_so_late + passed;
        return r;
}

static const char *state_file; /* NULL: there is none */

int state_read(_unused_ const char *dir, _unused_ const char *name, DriveRecord **ret) {
        return state_file ? drive_record_parse(state_file, strlen(state_file), ret) : -ENOENT;
}

static int state_error;
static bool written_sent; /* the last one says that something was sent */
static DriveState written_state;
static unsigned n_written;

int state_write(_unused_ const char *dir, const DriveRecord *record) {
        n_written++;
        if (state_error < 0)
                return state_error;
        written_sent = false;
        written_state = record->state;
        for (size_t i = 0; i < record->n_settings; i++)
                written_sent = written_sent || record->settings[i].sent.known;
        return 0;
}

static unsigned n_logged;

void journal_log(_unused_ int priority, _unused_ const char *format, ...) {
        n_logged++;
}
static unsigned n_storms;
void journal_storm(_unused_ const Drive *d, _unused_ VisitReason reason, unsigned minutes) {
        ck_assert_uint_eq(minutes, 10);
        n_storms++;
}
static unsigned n_told;
static VisitSummary told_summary;
void journal_visit(_unused_ const Drive *d, _unused_ VisitReason reason, const VisitSummary *summary) {
        n_told++;
        told_summary = *summary;
}
static unsigned n_workers_told;
void journal_worker(_unused_ const Drive *d, _unused_ const char *format, ...) {
        n_workers_told++;
}

static const _unused_ Wait check_x = { WAIT_CHECK, "systemd-fsck@x.service" };

/* ---- a drive and its files ---- */

static unsigned n_places; /* that were asked for */

static bool has_places = true;

/* Whoever wants a worker has one at once, where there is a place. */
static void on_changed(_unused_ void *userdata, Target *t) {
        n_places += t->visit.ready;
        if (t->visit.ready && has_places)
                ck_assert_int_eq(target_work(t), 0);
}

static void on_rested(_unused_ void *userdata, _unused_ Target *t) {
        n_rested++;
}

static TargetEnv env = {
        .settings = &all_settings,
        .rested = on_rested,
        .changed = on_changed,
};

static void files_become(const char *drives) {
        (void) files_unref(env.files);
        env.files = files_of(drives);
}

static Drive *disk(Transport transport, const char *link) {
        Drive *d = calloc(1, sizeof *d);

        ck_assert_ptr_nonnull(d);
        *d = (Drive){ .name = strdup("sda"),
                      .node = strdup("/dev/sda"),
                      .syspath = strdup("/sys/x/host0/block/sda"),
                      .transport = transport,
                      .ata = transport == TRANSPORT_SATA };
        if (link)
                ck_assert_int_eq(drive_add_link(d, link, LINK_OWN), 0);
        return d;
}

static _unused_ Target *watch(const char *drives, Transport transport) {
        Target *t;

        files_become(drives);
        n_rested = 0;
        ck_assert_int_eq(target_new(&env, disk(transport, NULL), &t), 0);
        return t;
}

static void end(Target *t) {
        (void) target_free(t);
        env.files = files_unref(env.files);
}

/* All that the visit is about has this verdict. */
static void tell_known(Target *t, Verdict v, bool known) {
        for (size_t i = 0; i < t->visit.selected.n_items; i++) {
                const Wish *wish = t->visit.selected.items + i;
                Step s = { .wish = wish,
                           .setting = setting_for_backends(&all_settings, wish->name, drive_backends(t->drive)),
                           .before = { .known = known, .value = wish->value },
                           .verdict = v };

                visitor.events->step(t, &s);
        }
}

static _unused_ void tell(Target *t, Verdict v) {
        tell_known(t, v, true);
}

static _unused_ void visit_whole(Target *t, VisitReason reason) {
        target_visit(t, reason);
        visitor.events->ready(t);
        tell(t, VERDICT_UNCHANGED);
        visitor.events->ended(t, VISIT_OVER, NULL);
        ck_assert_ptr_null(t->visit.job);
}

static _unused_ bool is_due(const Target *t) {
        return target_due(t) != UINT64_MAX;
}

/* So many seconds go by. */
static _unused_ void pass(Target *t, time_t s) {
        passed += s;
        if (target_due(t) <= monotonic_usec())
                target_tick(t);
}

#define TWO "{ match = \"/dev/sda\"; apm = 128; read_ahead_kb = 512; }"
