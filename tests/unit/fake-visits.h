/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A machine with drives for the manager: which drives there are, their visits, what the kernel counts and notes, and a log of all that
 * is done. In place of the inventory, the visit jobs, the guard, the state files and the journal; the clock is the test's own. */

#include <stdio.h>

#include "done-log.h"
#include "fake-target.h"
#include "guard.h"
#include "inventory.h"
#include "machine.h"
#include "manager.h"
#include "own-clock.h"
#include "settings.h"
#include "state.h"
#include "suite.h"

#define SECOND 1000000ULL

/* ---- the drives ---- */

static struct {
        const char *name, *port; /* port: NULL: SATA; else a USB host */
        const char *link;        /* NULL: none */
        uint64_t diskseq;
} present[24];
static size_t n_present;

static Drive *disk(const char *name) {
        Drive *d = calloc(1, sizeof *d);
        size_t i = 0;

        while (i < n_present && !streq(present[i].name, name))
                i++;
        ck_assert_uint_lt(i, n_present);
        ck_assert_ptr_nonnull(d);
        *d = (Drive){ .name = strdup(name),
                      .serial = strdup(name),
                      .transport = present[i].port ? TRANSPORT_USB : TRANSPORT_SATA,
                      .ata = !present[i].port,
                      .diskseq = present[i].diskseq };
        ck_assert_int_ge(asprintf(&d->node, "/dev/%s", name), 0);
        ck_assert_int_ge(asprintf(&d->syspath, "/sys/devices/%s/block/%s", present[i].port ?: "p/host0/0:0:0:0", name),
                         0);
        if (present[i].link)
                ck_assert_int_eq(drive_add_link(d, present[i].link, LINK_OWN), 0);
        return d;
}

static int inventory_error;

int inventory_drive(struct udev_device *device, Drive **ret) {
        if (inventory_error < 0)
                return inventory_error;
        *ret = disk((const char *) device);
        return 0;
}

int inventory_drive_by_name(const char *name, Drive **ret) {
        for (size_t i = 0; i < n_present; i++)
                if (streq(present[i].name, name)) {
                        *ret = disk(name);
                        return 0;
                }
        return -ENODEV;
}

int inventory_read(Inventory *ret) {
        if (inventory_error < 0)
                return inventory_error;
        ret->drives = calloc(n_present + 1, sizeof *ret->drives);
        ck_assert_ptr_nonnull(ret->drives);
        for (ret->n_drives = 0; ret->n_drives < n_present; ret->n_drives++)
                ret->drives[ret->n_drives] = disk(present[ret->n_drives].name);
        return 0;
}

void inventory_done(Inventory *i) {
        for (size_t k = 0; k < i->n_drives; k++)
                (void) drive_free(i->drives[k]);
        free(i->drives);
}

/* ---- visits ---- */

struct VisitJob {
        const VisitJobEvents *events;
        Target *target;
        bool working, silent;
};
static int work_error;
static const char *work_fails; /* for the drive of this name alone; NULL: for all */

int visit_job_new(_unused_ sd_event *event, _unused_ Broker *broker, _unused_ FsckWait *fsck_wait,
                  _unused_ const Visit *visit, _unused_ uint64_t patience_usec, const VisitJobEvents *events,
                  void *userdata, VisitJob **ret) {
        Target *t = userdata;
        VisitJob *v = calloc(1, sizeof *v);

        ck_assert_ptr_nonnull(v);
        *v = (VisitJob){ .events = events, .target = t };
        note("%s:%s", t->drive->name, visit_reason_to_string(t->visit.pending.reason));
        *ret = v;
        return 0;
}

VisitJob *visit_job_free(VisitJob *v) {
        free(v);
        return NULL;
}

int visit_job_work(VisitJob *v, _unused_ bool active) {
        if (work_error < 0 && (!work_fails || streq(work_fails, v->target->drive->name)))
                return work_error;
        v->working = true;
        note("%s:works", v->target->drive->name);
        return 0;
}

void visit_job_stop(VisitJob *v) {
        note("%s:stop", v->target->drive->name);
}

void visit_job_vanish(const VisitJob *v) {
        note("%s:vanishes", v->target->drive->name);
}

bool visit_job_has_worker(const VisitJob *v) {
        return v->working;
}

bool visit_job_is_busy(const VisitJob *v) {
        return v->working && !v->silent;
}

/* There is leave to visit it. */
static _unused_ void ready(Target *t) {
        ck_assert_ptr_nonnull(t->visit.job);
        t->visit.job->events->ready(t);
}

/* Its visit ends, and all has this verdict. */
static _unused_ void over(Target *t, Verdict verdict) {
        const VisitJobEvents *events = t->visit.job->events;

        for (size_t i = 0; i < t->visit.selected.n_items; i++) {
                const Wish *wish = t->visit.selected.items + i;
                Step s = { .wish = wish,
                           .setting = setting_for_backends(&all_settings, wish->name, drive_backends(t->drive)),
                           .before = { .known = true, .value = wish->value },
                           .verdict = verdict };

                events->step(t, &s);
        }
        events->ended(t, VISIT_OVER, NULL);
}

/* From its leave to its end. */
static _unused_ void visit_whole(sd_event *event, Target *t, Verdict verdict) {
        ready(t);
        run(event);
        ck_assert(t->visit.job->working);
        over(t, verdict);
        run(event);
        (void) all_done();
}

int fsck_wait_new(_unused_ sd_event *event, _unused_ Broker *broker, FsckWait **ret) {
        *ret = NULL;
        return 0;
}
FsckWait *fsck_wait_free(_unused_ FsckWait *g) {
        return NULL;
}
static unsigned n_pokes;
int fsck_wait_ask(_unused_ FsckWait *g, _unused_ const Drive *drive, _unused_ FsckWaitFn fn, _unused_ void *userdata,
                  _unused_ FsckTicket **ret) {
        return -ENODEV;
}
FsckTicket *fsck_ticket_free(_unused_ FsckTicket *t) {
        return NULL;
}
void fsck_wait_poke(_unused_ FsckWait *g) {
        n_pokes++;
}

/* ---- the guard, which allows all ---- */

int guard_new(_unused_ sd_event *event, _unused_ const char *dir, _unused_ const char *boot_id,
              _unused_ const SettingTable *settings, _unused_ GuardFn stored, Guard **ret) {
        *ret = NULL;
        return 0;
}
Guard *guard_free(_unused_ Guard *g) {
        return NULL;
}
void guard_judge(_unused_ Guard *g) {
        note("judged");
}
static uint64_t flush_until;
void guard_flush(_unused_ Guard *g, uint64_t until) {
        flush_until = until;
        note("flushed");
}
void target_guard_stored(_unused_ void *userdata, _unused_ int error) {
}
void target_guard_rest(Target *t) {
        note("%s:rests", t->drive->name);
}
const GuardRecord *guarded_record(const GuardedDrive *d) {
        return (const GuardRecord *) d;
}
unsigned guarded_release(_unused_ GuardedDrive *d, _unused_ const char *setting) {
        return 0;
}

/* ---- the kernel ---- */

static uint64_t used = 1; /* every drive's count of reads and writes */

int activity_read(_unused_ const char *syspath, uint64_t *ret) {
        *ret = used;
        return 0;
}
int activity_commands(_unused_ const char *syspath, _unused_ uint64_t *ret) {
        return -ENOENT;
}
uint64_t activity_last_event(void) {
        return 100;
}
static const char *forbidden;
const char *kernel_line_forbids(_unused_ const char *path) {
        return forbidden;
}

/* ---- the state files and the journal ---- */

int state_read(_unused_ const char *dir, _unused_ const char *name, _unused_ DriveRecord **ret) {
        return -ENOENT;
}
int state_write(_unused_ const char *dir, _unused_ const DriveRecord *record) {
        return 0;
}
int state_remove(_unused_ const char *dir, const char *name) {
        note("%s:removed", name);
        return 0;
}
int state_prune(_unused_ const char *dir, bool (*keep)(void *userdata, const char *name), void *userdata) {
        static const char *const names[] = { "sda", "sdz" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (!keep(userdata, names[i]))
                        note("%s:pruned", names[i]);
        return 0;
}
static _unused_ int last_priority;
void journal_log(int priority, _unused_ const char *format, ...) {
        last_priority = priority;
}
void journal_storm(const Drive *d, _unused_ VisitReason reason, _unused_ unsigned minutes) {
        note("%s:storm", d->name);
}
void journal_visit(_unused_ const Drive *d, _unused_ VisitReason reason, _unused_ const VisitSummary *summary) {
}
void journal_worker(const Drive *d, _unused_ const char *format, ...) {
        note("%s:worker", d->name);
}

/* ---- the manager ---- */

static sd_event *event;
static Manager *manager;

static void on_rested(_unused_ void *userdata, const Target *t) {
        note("%s:rested", t->drive->name);
}
static void on_quiet(_unused_ void *userdata) {
        note("quiet");
}
static unsigned n_writing;
static void on_writing(void *userdata _unused_) {
        n_writing++;
}

static const ManagerEvents manager_events = {
        .writing = on_writing,
        .rested = on_rested,
        .quiet = on_quiet,
};

static _unused_ Target *drive(const char *name) {
        Target *t = manager_find(manager, name);

        ck_assert_msg(t, "no %s", name);
        return t;
}

#define APM "{ match = {}; apm = 128; }"

static _unused_ void manager_setup_with(const char *drives) {
        Files *files = files_of(drives);

        n_present = 0;
        done[0] = '\0';
        ck_assert_int_eq(sd_event_new(&event), 0);
        ck_assert_int_eq(manager_new(event, NULL, files, &manager_events, NULL, &manager), 0);
        (void) files_unref(files);
}

static _unused_ void manager_teardown(void) {
        manager = manager_free(manager);
        event = sd_event_unref(event);
}

static _unused_ void plug(const char *name) {
        present[n_present++] = (typeof(present[0])){ .name = name };
        manager_plugged(manager, (struct udev_device *) name);
}
