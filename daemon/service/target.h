/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A Target is one drive that the service manages: its identity, its wishes (the settings that the configuration
 * requests), the record of each setting, the pending work and the current visit. This file has the data, and the
 * functions that the other files share. The other files are:
 *
 *   target-visit:    one visit, from beginning to end
 *   target-wishes:   the settings that the drive should have now
 *   target-trigger:  events that may have changed the settings of a drive
 *   target-life:     creates and frees a Target and its parts
 *   target-decide:   when the visit of a drive begins
 *   target-guard, -controller, -temporary, -power, -active, -trace, -use, -together, -keep-active, -rewrite,
 *   -spin-down, readers:
 *                    the parts, each with its own data (TargetPart)
 *
 * A part calls target_visit() to request a visit. Its `due` returns the time of the next call of its `tick`. A Target has
 * no timer of its own: one timer of the manager serves all drives. */

#include <systemd/sd-bus.h>
#include <systemd/sd-id128.h>

#include "files.h"
#include "fsck-wait.h"
#include "guard.h"
#include "journal.h"
#include "pending-visit.h"
#include "power-watch.h"
#include "drive-record.h"
#include "scope.h"
#include "standby-timer.h"
#include "tracer.h"
#include "visit-job.h"

typedef struct Target Target;
typedef struct TargetPart TargetPart;

/* Data that all drives share, and that exists longer than any drive. */
typedef struct TargetEnv {
        sd_event *event;
        Broker *broker;
        FsckWait *fsck_wait;
        Guard *guard;
        const SettingTable *settings;
        Files *files;   /* the configuration in force */
        Tracer *tracer; /* NULL if spin-ups are not traced */
        bool on_battery;
        char boot_id[SD_ID128_STRING_MAX];
        const char *forbidden_by; /* the word on the kernel command line that forbids all writing; NULL if writing is permitted */
        Target *drives;           /* the first drive; Target.next is the next one */
        const TargetPart *const *parts; /* the list of parts, which ends with NULL (target-env.h) */

        /* Callbacks to the caller of target_new(). */
        const struct TargetEvents {
                /* Called when Target.pending or Target.update has new work. The callback decides when the visit
                 * begins. */
                void (*requested)(Target *t, VisitWork work);
                /* Called when a visit has ended and its verdicts are reported. `identified`: the visit identified the
                 * drive behind its USB bridge. */
                void (*visited)(Target *t, bool identified);
                /* Called when clients need no longer wait for a visit: it ended, was withdrawn or deferred, waits for a
                 * file system check, or its drive does not answer. */
                void (*visit_finished)(void *userdata, Target *t);
                /* Called when the state of the drive changed. The manager must read target_due() again, which may be
                 * earlier now. If visit.ready is true, the manager must call target_work() when a worker is
                 * available. */
                void (*changed)(void *userdata, Target *t);
        } * events;
        void *userdata;
} TargetEnv;

/* The visit that waits for a worker or has a worker. */
typedef struct CurrentVisit {
        VisitJob *job;    /* NULL: there is no visit */
        Pending pending;  /* the work of the visit, and the reason for it */
        Wishes selected;  /* the wishes of the visit; with WORK_SPIN_DOWN the last wish is the standby command */
        Memory *memories; /* the known state (Memory) of each wish in `selected` */
        VisitSummary summary;
        bool ready;          /* the visit has the permission to send commands, and waits for a worker */
        bool active;         /* the drive is known to be active, for example because it just had I/O */
        bool identified;     /* the worker identified the drive behind its USB bridge */
        char *reported_wait; /* the file system check in the last log entry about a wait. If the visit is withdrawn,
                              * this text is kept, so that the same wait is not logged again. */
        bool lost_before;    /* the worker of the drive's previous visit died */
} CurrentVisit;

/* Changes that wait until the drive has no worker. */
typedef struct TargetUpdate {
        Drive *drive;  /* the drive as described by a later udev event; NULL if there was none */
        Pending files; /* the work to do if a new configuration, power source or temporary value changes the wishes;
                        * empty: nothing has changed */
} TargetUpdate;

/* Events that no user requested lead to at most DISTURBANCES visits in DISTURBANCES_USEC. */
#define DISTURBANCES 5U
#define DISTURBANCES_USEC (10ULL * 60 * 1000 * 1000)

typedef struct Disturbances {
        uint64_t since; /* start of the period in which `n` events are counted; CLOCK_MONOTONIC, µs */
        unsigned n;     /* number of events in the period; DISTURBANCES + 1: more than DISTURBANCES, and this was
                         * logged */
        /* SEQNUM of a uevent: the last visit with WORK_LOST covers all uevents up to this one. The number is read after
         * the first commands of the visit. UINT64_MAX: the visit has not sent its first commands yet. */
        uint64_t handled_until;
} Disturbances;

/* Shows whether the state file in /run has the current record. */
typedef struct TargetSaving {
        bool new_verdicts; /* the record has verdicts that are not in the state file */
        bool shows_visit;  /* the state file shows a visit, or a wait before a visit */
        uint64_t again_at; /* when to retry a failed write of the record; CLOCK_MONOTONIC, µs; 0: the last write succeeded */
} TargetSaving;

struct Target {
        const TargetEnv *env;
        Drive *drive;
        TargetUpdate update;
        Wishes wishes;
        Files *files; /* the configuration that `wishes` points into; an owned reference */
        DriveRecord *record;
        TargetSaving saving;
        Pending pending;
        CurrentVisit visit;
        Disturbances disturbances;
        Target *next;  /* the next drive in the list TargetEnv.drives */
        void *parts[]; /* the data of the parts, in the order of TargetEnv.parts */
};

/* ---- parts ---- */

/* A part is a feature with its own data per drive. Its callbacks are called for events of the drive; each callback may
 * be NULL. A part has no access to the data of other parts. Callbacks run in the order of TargetEnv.parts. Only
 * `detach` and `done` run in reverse order. */
struct TargetPart {
        size_t size; /* size of the part's data per drive, which starts zeroed */
        /* Called when the drive was attached or was identified behind its USB bridge. `again`: called because udev
         * describes the same drive again. */
        int (*attach)(Target *t, bool again);
        void (*detach)(Target *t);        /* called when the drive was unplugged */
        void (*done)(Target *t);          /* frees the members of the data */
        uint64_t (*due)(const Target *t); /* when to call `tick`; CLOCK_MONOTONIC, µs; UINT64_MAX: never */
        void (*tick)(Target *t);          /* called at the time that `due` returns, and possibly earlier */
        void (*wishes_changed)(Target *t);
        void (*visit_begins)(Target *t); /* called before the worker starts; may drop work from visit.pending */
        void (*visit_ends)(Target *t);   /* called when the worker has ended */
        bool (*settled)(Target *t); /* called after each visit, and after an update without a visit; returns true if the record changed */
        void (*power)(Target *t, const PowerNews *n);
};

#define FOREACH_PART(part, t) for (const TargetPart *const *part = (t)->env->parts; *part; part++)

/* Returns the data of this part. */
void *target_part(const Target *t, const TargetPart *part);

/* ---- requests ---- */

/* Requests a visit for the usual work of this reason. The visit begins now, or after the current visit. A drive without
 * a rule gets no commands, except for VISIT_REWRITE. Errors are logged. */
void target_visit(Target *t, VisitReason reason);
/* Like target_visit(), but for `work` instead of the usual work of this reason. */
void target_visit_for(Target *t, VisitReason reason, VisitWork work);
/* Like target_visit_for(), but not before the time `not_before` (CLOCK_MONOTONIC, µs). */
void target_visit_later(Target *t, VisitReason reason, VisitWork work, uint64_t not_before);

/* Visits the drive if a new configuration, power source or temporary value changed its wishes. */
void target_reconfigure(Target *t, VisitReason reason);

static inline void target_changed(Target *t) {
        t->env->events->changed(t->env->userdata, t);
}

/* ---- state ---- */

static inline bool target_has_worker(const Target *t) {
        return t->visit.job && visit_job_has_worker(t->visit.job);
}

/* Returns true if any of the flags in `work` is pending or under way. */
static inline bool target_is_about(const Target *t, VisitWork work) {
        return (t->pending.work | (t->visit.job ? t->visit.pending.work : 0)) & work;
}

/* Returns true if the drive has a motor and reports its power mode. */
bool target_has_standby(const Target *t);

/* Returns what spins the drive down after a time without I/O: its own timer or the service. The kernel's runtime PM is not considered. */
SpinDown target_spin_down(const Target *t);

/* Returns true if the service spins the drive down. */
bool target_spins_down(const Target *t);

/* Returns true if a rule needs the identity of the drive behind a USB bridge, and the bridge was not queried yet. */
bool target_wants_identity(const Target *t);

/* Returns true if settings, or the identification of the drive, are deferred until the drive is active. Returns false
 * during a visit. */
bool target_has_deferred(const Target *t);

/* ---- the record: none of these functions requests a visit ---- */

/* Writes the record to /run, where other programs read it. */
void target_save(Target *t);
/* Writes the record when a visit begins and ends. Does not write it for a visit with WORK_KEEP_ACTIVE alone and without a new verdict: such
 * visits are frequent, and each write starts drivekeep-metrics.service. */
void target_save_progress(Target *t, VisitWork work);

/* Records the verdict of a setting. Returns 0 or -ENOMEM. */
int target_note_step(Target *t, const Step *s);

/* Sets a text field of the record, or clears the field if `text` is NULL. */
void target_note_text(Target *t, char **field, const char *text);

/* Increments the count of `word` in a field of the record that counts words (tally_add()). */
void target_count(const Target *t, char **tally, const char *word);

/* Returns true if the result of a setting must be reported, because it differs from the record. A visit that only
 * checks settings does not report a setting that is still in order or that cannot be read. The step may have no verdict
 * yet. */
bool target_should_report(const Target *t, VisitWork work, const Step *s);
