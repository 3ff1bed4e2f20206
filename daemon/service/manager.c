/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <syslog.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "bridge-fall.h"
#include "clock.h"
#include "inventory.h"
#include "manager.h"
#include "readers.h"
#include "record-sum.h"
#include "stack.h"
#include "state-file.h"
#include "target-guard.h"
#include "target-env.h"
#include "target-decide.h"
#include "target-life.h"
#include "target-trigger.h"
#include "target-use.h"
#include "target-visit.h"
#include "timer.h"

/* The limit on concurrent workers: enough to hide the latency of many drives, and few enough for a machine with a thousand drives. */
#define WORKERS_MAX 16U
#define RETRY_USEC (1000ULL * 1000) /* delay before another attempt to start a worker */

struct Manager {
        TargetEnv env;
        const ManagerEvents *events;
        void *userdata;
        BridgeFall fall;
        bool paused;
        bool lacks_worker; /* when workers were last started, a start failed; the failure has been logged */
        bool judged;       /* the crash guard has judged the notes of earlier runs */
        sd_event_source *settle,
                        *schedule; /* defer sources: each runs at the start of the event loop, and each time it is enabled */
        sd_event_source *timer; /* shared by all drives; armed only while a drive waits for a time */
        uint64_t due;           /* expiry of `timer` (CLOCK_MONOTONIC, µs); UINT64_MAX: not armed */
        uint64_t retry_at;      /* next attempt to start a worker (CLOCK_MONOTONIC, µs); UINT64_MAX: none */
};

/* ---- the list ---- */

Target *manager_first(Manager *m) {
        return m->env.drives;
}

Target *manager_find(Manager *m, const char *name) {
        for (Target *t = m->env.drives; t; t = t->next)
                if (streq(t->drive->name, name))
                        return t;
        return NULL;
}

/* ---- visits ---- */

/* Sends the status line that `systemctl status drivekeep.service` shows. */
static void manager_update_status(const Manager *m) {
        char line[RECORD_SUM_MAX];
        RecordSum sum = {};

        for (const Target *t = m->env.drives; t; t = t->next)
                record_sum_add(&sum, t->record);
        (void) sd_notifyf(false, "STATUS=%s", record_sum_format(&sum, line));
}

static void manager_changed(Manager *m) {
        (void) sd_event_source_set_enabled(m->settle, SD_EVENT_ONESHOT);
}

/* Counts the workers that count toward WORKERS_MAX: all workers that are not stuck in the kernel. */
static unsigned count_busy(const Manager *m) {
        unsigned n = 0;

        for (const Target *t = m->env.drives; t; t = t->next)
                n += t->visit.job && visit_job_is_busy(t->visit.job);
        return n;
}

static void manager_schedule(Manager *m) {
        (void) sd_event_source_set_enabled(m->schedule, SD_EVENT_ONESHOT);
}

static int on_schedule(sd_event_source *source _unused_, void *userdata) {
        Manager *m = userdata;
        unsigned busy = count_busy(m);
        bool lacks_worker = false;

        if (m->paused) {
                if (busy == 0)
                        m->events->quiet(m->userdata);
                return 0;
        }

        for (Target *t = m->env.drives; t && busy < WORKERS_MAX; t = t->next) {
                int r;

                if (!t->visit.ready || readers_any(t))
                        continue;

                m->events->writing(m->userdata);
                r = target_work(t);
                if (r == -ESHUTDOWN) {
                        journal_log(LOG_ERR,
                                    "drivekeep-broker.socket refuses connections; drivekeepd exits, and systemd restarts both.");
                        return sd_event_exit(m->env.event, -ECONNREFUSED);
                }
                busy++;
                if (r >= 0)
                        continue;
                /* The cause may concern this drive alone, such as a request that is too large for the socket. The loop therefore continues
                 * with the other drives. */
                if (!m->lacks_worker && !lacks_worker)
                        journal_log(LOG_ERR,
                                    "%s: failed to start a worker, retrying (see drivekeep-broker.service): %s",
                                    t->drive->name, strerror(-r));
                lacks_worker = true;
                m->retry_at = monotonic_usec() + RETRY_USEC;
                manager_changed(m);
        }
        m->lacks_worker = lacks_worker;
        return 0;
}

static void on_changed(void *userdata, Target *t) {
        Manager *m = userdata;

        manager_changed(m);
        if (t->visit.ready)
                manager_schedule(m);
}

static int on_timer(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Manager *m = userdata;

        m->due = m->retry_at = UINT64_MAX;
        /* Retries visits whose worker could not be started. */
        manager_schedule(m);
        for (Target *t = m->env.drives; t; t = t->next)
                target_tick(t);
        manager_changed(m);
        return 0;
}

/* Sets the timer and the status line. Runs when the event loop has nothing more urgent to do, so that one run covers many changes. */
static int on_settled(sd_event_source *source _unused_, void *userdata) {
        Manager *m = userdata;
        uint64_t due = m->retry_at, now = monotonic_usec();
        int r = 0;

        for (const Target *t = m->env.drives; t; t = t->next)
                due = MIN(due, target_due(t));
        if (due == UINT64_MAX)
                (void) sd_event_source_set_enabled(m->timer, SD_EVENT_OFF);
        else if (due != m->due)
                r = timer_start(m->env.event, &m->timer, due > now ? due - now : 0, 0, on_timer, m);
        if (r < 0)
                journal_log(LOG_ERR, "Failed to start the timer; deferred visits wait for the next event: %s",
                            strerror(-r));
        m->due = due;

        manager_update_status(m);
        return 0;
}

static void on_visit_finished(void *userdata, Target *t) {
        Manager *m = userdata;

        readers_resume(t);
        manager_schedule(m);
        manager_changed(m);
        m->events->visit_finished(m->userdata, t);
}

void manager_visit_all(Manager *m, VisitReason reason) {
        for (Target *t = m->env.drives; t; t = t->next)
                target_visit(t, reason);
}

void manager_reconfigure(Manager *m, Files *files, bool on_battery, VisitReason reason) {
        if (!files && on_battery == m->env.on_battery)
                return;

        if (files) {
                (void) files_unref(m->env.files);
                m->env.files = files_ref(files);
        }
        m->env.on_battery = on_battery;

        for (Target *t = m->env.drives; t; t = t->next)
                target_reconfigure(t, reason);
}

void manager_pause(Manager *m, bool pause) {
        m->paused = pause;

        for (Target *t = m->env.drives; t && pause; t = t->next)
                if (t->visit.job)
                        visit_job_stop(t->visit.job);
        manager_schedule(m);
}

void manager_finish(Manager *m, uint64_t until) {
        for (const Target *t = m->env.drives; t; t = t->next)
                if (target_has_worker(t))
                        journal_worker(t->drive,
                                       "the worker still waits for the kernel, and continues after the service ends.");
        for (Target *t = m->env.drives; t; t = t->next) {
                target_guard_finish(t);
                target_use_keep(t);
        }
        guard_flush(m->env.guard, until);
}

/* ---- drives come and go ---- */

static void manager_remove(Manager *m, Target *t) {
        Target **link = &m->env.drives;

        while (*link != t)
                link = &(*link)->next;
        *link = t->next;

        bridge_fall_note(&m->fall, t);
        target_detach(t);
        (void) state_remove(STATE_DIR, t->drive->name);
        journal_gone(t->drive);
        on_visit_finished(m, t);
        (void) target_free(t);
}

/* Returns true if udev killed its worker, by default after 180 s, or if the worker exited with an error. The event then lacks the identity,
 * the links and all other properties that rules set (systemd, src/udev/udev-manager.c, on_sigchld()). */
static bool udev_failed(const Drive *drive) {
        return drive_property(drive, "UDEV_WORKER_FAILED");
}

/* Returns true if udev could not identify a drive that it had identified before. */
static bool lost_identity(const Drive *before, const Drive *drive) {
        if (udev_failed(drive))
                return before->diskseq == drive->diskseq && streq_ptr(before->syspath, drive->syspath);

        /* ata_id got no answer from the drive. */
        return before->identified && !drive->identified && drive_same(before, drive);
}

/* Adds or updates a drive. Takes ownership of `drive`. `reason`: why a new drive is visited. */
static void manager_add(Manager *m, Drive *drive, VisitReason reason) {
        Target *t, **end;
        int r;

        t = manager_find(m, drive->name);
        if (t && lost_identity(t->drive, drive)) {
                (void) drive_free(drive);
                if (!t->visit.job)
                        target_disturbed(t, VISIT_REVALIDATION, 0);
                return;
        }
        if (t && drive_same(t->drive, drive)) {
                target_update(t, drive);
                return;
        }
        /* The kernel name now belongs to another drive, or the drive has another medium. */
        if (t)
                manager_remove(m, t);
        if (udev_failed(drive)) {
                journal_log(LOG_ERR,
                            "%s: the drive cannot be managed: udev failed to identify it; 'udevadm trigger %s' tries again.",
                            drive->name, drive->node);
                (void) drive_free(drive);
                return;
        }

        r = target_new(&m->env, drive, &t);
        if (r < 0) {
                journal_log(LOG_ERR, "%s: the drive cannot be managed: %s", drive->name, strerror(-r));
                (void) drive_free(drive);
                return;
        }

        bridge_fall_restore(&m->fall, t);
        for (end = &m->env.drives; *end; end = &(*end)->next)
                ;
        *end = t;
        if (m->judged) {
                journal_attached(t->drive);
                target_visit(t, reason);
        }
}

void manager_plugged(Manager *m, struct udev_device *device) {
        Drive *drive;

        if (inventory_drive(device, &drive) < 0)
                return;

        manager_add(m, drive, VISIT_ATTACH);
        fsck_wait_poke(m->env.fsck_wait);
}

void manager_unplugged(Manager *m, const char *name) {
        Target *t = manager_find(m, name);

        if (t)
                manager_remove(m, t);
        fsck_wait_poke(m->env.fsck_wait);
}

/* Matches the drives below this device again, since rules may name a drive by the links of its partitions and of stacked devices. */
void manager_stack_changed(Manager *m, const char *name, bool removed) {
        _cleanup_(names_freep) char **disks = NULL;

        fsck_wait_poke(m->env.fsck_wait);

        if (removed || stack_disks_below(INVENTORY_CLASSDIR, name, &disks) < 0)
                return;

        for (char **n = disks; n && *n; n++) {
                Target *t = manager_find(m, *n);
                Drive *drive;

                if (t && !streq(*n, name) && inventory_drive_by_name(*n, &drive) >= 0)
                        manager_add(m, drive, VISIT_ATTACH);
        }
}

void manager_disturbed(Manager *m, const char *syspath, VisitReason reason, uint64_t seqnum) {
        for (Target *t = m->env.drives; t; t = t->next)
                if (stack_belongs_to(t->drive->syspath, syspath))
                        target_disturbed(t, reason, seqnum);
}

static bool keep_state(void *userdata, const char *name) {
        return manager_find(userdata, name);
}

int manager_enumerate(Manager *m, VisitReason reason) {
        _cleanup_(inventory_done) Inventory i = {};
        Target *next;
        int r;

        r = inventory_read(&i);
        if (r < 0)
                return r;

        for (Target *t = m->env.drives; t; t = next) {
                bool there = false;

                next = t->next;
                for (size_t k = 0; k < i.n_drives && !there; k++)
                        there = streq(i.drives[k]->name, t->drive->name);
                if (!there)
                        manager_remove(m, t);
        }

        for (size_t k = 0; k < i.n_drives; k++)
                manager_add(m, TAKE_PTR(i.drives[k]), reason);

        /* Judges the notes of earlier runs once, before the first visit: the judgement may forbid all commands to a drive. Later notes
         * need no judgement: this run of the service writes them, and observes the end of each visit itself. */
        if (!m->judged) {
                guard_judge(m->env.guard);
                m->judged = true;
                manager_visit_all(m, reason);
        }

        (void) state_prune(STATE_DIR, keep_state, m);
        return 0;
}

/* ---- start and end ---- */

static const struct TargetEvents target_events = {
        .requested = target_requested,
        .visited = target_visited,
        .visit_finished = on_visit_finished,
        .changed = on_changed,
};

int manager_new(sd_event *event, Broker *broker, Files *files, const ManagerEvents *events, void *userdata,
                Manager **ret) {
        _cleanup_(manager_freep) Manager *m = NULL;
        int r;

        m = calloc(1, sizeof *m);
        if (!m)
                return -ENOMEM;
        m->events = events;
        m->userdata = userdata;
        m->due = m->retry_at = UINT64_MAX;
        m->env = (TargetEnv){
                .event = event,
                .broker = broker,
                .files = files_ref(files),
                .events = &target_events,
                .userdata = m,
        };

        r = target_env_init(&m->env);
        if (r >= 0)
                r = sd_event_add_defer(event, &m->schedule, on_schedule, m);
        if (r >= 0)
                r = sd_event_add_defer(event, &m->settle, on_settled, m);
        if (r >= 0)
                r = sd_event_source_set_priority(m->settle, SD_EVENT_PRIORITY_IDLE);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(m);
        return 0;
}

Manager *manager_free(Manager *m) {
        if (!m)
                return NULL;

        target_env_done(&m->env);
        sd_event_source_disable_unref(m->settle);
        sd_event_source_disable_unref(m->schedule);
        sd_event_source_disable_unref(m->timer);
        free(m->fall.port);
        free(m);
        return NULL;
}
