/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A Target is one drive that the service manages: its identity, its wishes (the settings that the files request), the record of each
 * setting, the pending work and the current visit. This file has the data, and the functions that all other files use:
 *
 *   target-visit:    one visit, from beginning to end
 *   target-wishes:   the settings that the drive should have now
 *   target-trigger:  events that may have changed the settings of a drive
 *   target-life:     creates and frees a Target and its parts
 *   target-decide:   when the visit of a drive begins
 *   target-guard, -controller, -temporary, -power, -trace, -use, -together, -spin-down, readers:
 *                    the parts, each with its own data (TargetPart)
 *
 * A part requests a visit by target_visit(), and a call at a given time by its `due`. A Target has no timer: the manager has one for all
 * drives. */

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
        Files *files;   /* the files in force */
        Tracer *tracer; /* NULL if spin-ups are not traced */
        bool on_battery;
        char boot_id[SD_ID128_STRING_MAX];
        const char *forbidden_by; /* the word on the kernel command line that forbids all writing; NULL if writing is permitted */
        Target *drives;           /* the first drive; Target.next is the next one */
        const TargetPart *const *parts; /* NULL-terminated (target-env.h) */

        /* Callbacks to the caller of target_new(). */
        const struct TargetEvents {
                /* Target.pending or Target.update has new work: decide when its visit begins. */
                void (*requested)(Target *t, VisitWork work);
                /* A visit ended, and everything is reported. `identified`: the visit identified the drive behind its USB bridge. */
                void (*visited)(Target *t, bool identified);
                /* A visit ended, was withdrawn, or is deferred until a check ends. Callers no longer wait for the visit. */
                void (*visit_finished)(void *userdata, Target *t);
                /* The state of the drive changed. target_due() may be earlier: call target_tick() at that time. The visit may be ready:
                 * call target_work() when a worker is available. */
                void (*changed)(void *userdata, Target *t);
        } * events;
        void *userdata;
} TargetEnv;

/* The visit that waits for its worker or has one. */
typedef struct CurrentVisit {
        VisitJob *job;    /* NULL: there is no visit */
        Pending pending;  /* the work of the visit, and the reason for it */
        Wishes selected;  /* the wishes of the visit; with WORK_SPIN_DOWN the last wish is the standby command */
        Memory *memories; /* the memory of each wish in `selected` */
        VisitSummary summary;
        bool ready;      /* the visit has the permission to send commands, and waits for a worker */
        bool active;     /* the drive is known not to be in standby, for example because of I/O just now */
        bool identified; /* the worker identified the drive behind its USB bridge */
        char *reported_wait; /* the file system check in the last message about a wait; stays after the visit is withdrawn */
        bool lost_before; /* the worker of the drive's previous visit died */
} CurrentVisit;

/* Changes that wait until the drive has no worker. */
typedef struct TargetUpdate {
        Drive *drive;  /* the drive as described by a later udev event; NULL if there was none */
        Pending files; /* the work to do if new files change the wishes; empty if there are no new files */
} TargetUpdate;

/* Events that no user requested lead to at most DISTURBANCES visits in DISTURBANCES_USEC. */
#define DISTURBANCES 5U
#define DISTURBANCES_USEC (10ULL * 60 * 1000 * 1000)

typedef struct Disturbances {
        uint64_t since; /* begin of the period in which `n` events are counted; CLOCK_MONOTONIC, µs */
        unsigned n; /* number of events from `since` on, at most DISTURBANCES; DISTURBANCES + 1 after the excess was logged */
        /* Number of the last kernel event that is covered by a visit with WORK_LOST. UINT64_MAX if the visit has not sent its first command
         * yet. */
        uint64_t handled_until;
} Disturbances;

/* The state of writing the record to /run. */
typedef struct TargetSaving {
        bool new_verdicts; /* the record has verdicts that are not in the state file */
        uint64_t again_at; /* when to write the record again; CLOCK_MONOTONIC, µs; 0: the record was written */
} TargetSaving;

struct Target {
        const TargetEnv *env;
        Drive *drive;
        TargetUpdate update;
        Wishes wishes;
        Files *files; /* the files that `wishes` points into; an owned reference */
        DriveRecord *record;
        TargetSaving saving;
        Pending pending;
        CurrentVisit visit;
        Disturbances disturbances;
        Target *next;  /* the next drive in the list TargetEnv.drives */
        void *parts[]; /* the data of the parts, in the order of TargetEnv.parts */
};

/* ---- parts ---- */

/* A part is a feature with its own data per drive. Its callbacks report the events of the drive; each may be NULL. A part has no access to
 * the data of other parts. Callbacks run in the order of TargetEnv.parts, `detach` and `done` in reverse order. */
struct TargetPart {
        size_t size; /* size of the part's data per drive, which starts zeroed */
        /* The drive was attached, or identified behind its USB bridge. `again`: udev describes the same drive again. */
        int (*attach)(Target *t, bool again);
        void (*detach)(Target *t);        /* called when the drive was unplugged */
        void (*done)(Target *t);          /* frees the members of the data */
        uint64_t (*due)(const Target *t); /* when to call `tick`; CLOCK_MONOTONIC, µs; UINT64_MAX: never */
        void (*tick)(Target *t);          /* called at the time of `due`, and possibly earlier */
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

/* Requests a visit, now or after the current one, for the work that belongs to this reason. A drive without a rule gets no commands.
 * Errors are logged. */
void target_visit(Target *t, VisitReason reason);
/* Like target_visit(), but for `work` instead of the usual work of this reason. */
void target_visit_for(Target *t, VisitReason reason, VisitWork work);
/* Like target_visit_for(), but not before the time `not_before` (CLOCK_MONOTONIC, µs). */
void target_visit_later(Target *t, VisitReason reason, VisitWork work, uint64_t not_before);

/* Visits the drive if a change of the files, the power source or the temporary values changed its wishes. */
void target_reconfigure(Target *t, VisitReason reason);

static inline void target_changed(Target *t) {
        t->env->events->changed(t->env->userdata, t);
}

/* ---- state ---- */

static inline bool target_has_worker(const Target *t) {
        return t->visit.job && visit_job_has_worker(t->visit.job);
}

/* Returns true if any of this work is pending or under way. */
static inline bool target_is_about(const Target *t, VisitWork work) {
        return (t->pending.work | (t->visit.job ? t->visit.pending.work : 0)) & work;
}

/* Returns true if the drive has a motor and reports its power mode. */
bool target_has_standby(const Target *t);

/* Returns what spins the drive down after a time without I/O: its own timer or the service. The kernel's runtime PM is not considered. */
SpinDown target_spin_down(const Target *t);

/* Returns true if the service spins the drive down. */
bool target_spins_down(const Target *t);

/* Returns true if a rule may match only by the identity of the drive behind a USB bridge, and the bridge was not queried yet. */
bool target_wants_identity(const Target *t);

/* Returns true if settings are deferred until the drive is active. */
bool target_has_deferred(const Target *t);

/* ---- the record: none of these functions requests a visit ---- */

/* Writes the record to /run, where other programs read it. */
void target_save(Target *t);

/* Records the verdict of a setting. Returns 0 or -ENOMEM. */
int target_note_step(Target *t, const Step *s);

/* Sets a text field of the record, or clears the field if `text` is NULL. */
void target_note_text(Target *t, char **field, const char *text);

/* Increments the count of `word` in a tally of the record (tally_add()). */
void target_count(const Target *t, char **tally, const char *word);

/* Returns true if a step must be reported because it differs from the record. A visit that only checks settings does not report settings
 * that are still in order or that cannot be read. The step may have no verdict yet. */
bool target_should_report(const Target *t, VisitWork work, const Step *s);
