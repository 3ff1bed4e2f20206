/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One drive that the service looks after: what it is, what the files want of it, what is known of each setting, the visit that is
 * pending, and the visit under way. This file holds the data, and what every file above it needs. Above it:
 *
 *   target-guard, -controller, -temporary, -power, -trace, -use, -together, -spin-down, readers: the parts, each with data of its own (TargetPart)
 *   target-visit: a visit, from its beginning to its end
 *   target-wishes: what the drive should have now
 *   target-trigger: what may have changed a drive's settings
 *   target-life: a drive comes and goes, with its parts
 *   target-decide: when its visit begins
 *
 * A part asks for a visit by target_visit(), and for a call at a time by its `due`. A drive has no timer of its own. */

#include <systemd/sd-bus.h>
#include <systemd/sd-id128.h>

#include "files.h"
#include "fsck-wait.h"
#include "guard.h"
#include "journal.h"
#include "pending.h"
#include "power-watch.h"
#include "drive-record.h"
#include "scope.h"
#include "standby-timer.h"
#include "tracer.h"
#include "visit-job.h"

typedef struct Target Target;
typedef struct TargetPart TargetPart;

/* What all drives share; outlives them. */
typedef struct TargetEnv {
        sd_event *event;
        Broker *broker;
        FsckWait *fsck_wait;
        Guard *guard;
        const SettingTable *settings;
        Files *files;   /* in force now */
        Tracer *tracer; /* NULL: spin-ups are not traced */
        bool on_battery;
        char boot_id[SD_ID128_STRING_MAX];
        const char *forbidden_by;       /* the word on the kernel's command line that forbids all writing; NULL: none */
        Target *drives;                 /* by ->next */
        const TargetPart *const *parts; /* NULL-terminated (target-env.h) */

        /* What the caller of target_new() has to do. `userdata` is its own. */
        const struct TargetEvents {
                /* ->pending or ->update has more: decide when that begins. */
                void (*requested)(Target *t, VisitWork work);
                /* A visit is over, and all is reported. `identified`: which drive is behind its bridge is known now. */
                void (*visited)(Target *t, bool identified);
                /* A visit is over, was withdrawn, or is deferred for as long as a check takes. */
                void (*rested)(void *userdata, Target *t);
                /* target_due() may be earlier now: call target_tick() then. A visit may be ready for a worker: call target_work()
                 * when there is one. */
                void (*changed)(void *userdata, Target *t);
        } * events;
        void *userdata;
} TargetEnv;

/* The visit that waits for its worker, or has one. */
typedef struct CurrentVisit {
        VisitJob *job;    /* NULL: there is no visit */
        Pending pending;  /* what it does, and why */
        Wishes selected;  /* its wishes; with WORK_SPIN_DOWN the last one is the standby command … */
        Memory *memories; /* … one per wish of these */
        VisitSummary summary;
        bool ready;          /* waits for a worker */
        bool active;         /* there was I/O just now, so that the drive cannot be in standby */
        bool identified;     /* which drive is behind its bridge was found out */
        char *reported_wait; /* the check that the journal knows the drive waits for; also of the visits before */
        bool lost_before;    /* the worker of the visit before died */
} CurrentVisit;

/* What the next visit begins with: applied when no worker is at the drive. */
typedef struct TargetUpdate {
        Drive *drive;  /* as a later event of udev describes it; NULL: as before */
        Pending files; /* the wishes may be others now: what to do if they are; nothing: they are not */
} TargetUpdate;

/* So often in so long a time may events that are not its user's lead to a visit. */
#define DISTURBANCES 5U
#define DISTURBANCES_USEC (10ULL * 60 * 1000 * 1000)

typedef struct Disturbances {
        uint64_t since; /* they are counted from then (CLOCK_MONOTONIC, µs) … */
        unsigned n;     /* … up to DISTURBANCES, and one more when it is logged that there are too many */
        /* The last visit that took the drive's state for lost makes up for all events up to this one; UINT64_MAX: that visit has
         * not sent its first command yet. */
        uint64_t handled_until;
} Disturbances;

/* The record could not be written to /run, or not yet. */
typedef struct TargetSaving {
        bool new_verdicts; /* the record has verdicts that the last one written had not */
        uint64_t again_at; /* CLOCK_MONOTONIC, µs; 0: it was written */
} TargetSaving;

struct Target {
        const TargetEnv *env;
        Drive *drive;
        TargetUpdate update;
        Wishes wishes;
        Files *files; /* the ones that the wishes point into; a reference of its own */
        DriveRecord *record;
        TargetSaving saving;
        Pending pending;
        CurrentVisit visit;
        Disturbances disturbances;
        Target *next;  /* TargetEnv.drives */
        void *parts[]; /* their data, in the order of TargetEnv.parts */
};

/* ---- parts ---- */

/* A part keeps what it has to know of a drive, and is told what happens to the drive. It has no access to other parts' data. NULL:
 * of no interest. The calls go in the order of the list, `leave` and `done` in the other. */
struct TargetPart {
        size_t size; /* of its data, zeroed when the drive comes */
        /* The drive is there, or which drive it is became known; `again`: udev describes the same drive anew. */
        int (*attach)(Target *t, bool again);
        void (*detach)(Target *t);        /* it was unplugged */
        void (*done)(Target *t);          /* free the data's members */
        uint64_t (*due)(const Target *t); /* when to call `tick`, CLOCK_MONOTONIC, µs; UINT64_MAX: never */
        void (*tick)(Target *t);          /* maybe earlier than that */
        void (*wishes_changed)(Target *t);
        void (*visit_begins)(
                        Target *t);    /* a worker is about to begin: it may still be withdrawn from ->visit.pending */
        void (*visit_ends)(Target *t); /* the worker has ended */
        bool (*settled)(Target *t);    /* no visit is under way, or the wishes changed; true: the record changed */
        void (*power)(Target *t, const PowerNews *n);
};

#define FOREACH_PART(part, t) for (const TargetPart *const *part = (t)->env->parts; *part; part++)

/* The data of this part. */
void *target_part(const Target *t, const TargetPart *part);

/* ---- requests ---- */

/* Visits the drive, now or after the present visit, for the work of this reason. A drive that no rule wants anything of is sent nothing.
 * Errors are logged. */
void target_visit(Target *t, VisitReason reason);
/* The same for other work. */
void target_visit_for(Target *t, VisitReason reason, VisitWork work);
/* `not_before`: CLOCK_MONOTONIC, µs. */
void target_visit_later(Target *t, VisitReason reason, VisitWork work, uint64_t not_before);

/* The files, the power source or the temporary values changed: visits the drive if that changes its wishes. */
void target_reconfigure(Target *t, VisitReason reason);

static inline void target_changed(Target *t) {
        t->env->events->changed(t->env->userdata, t);
}

/* ---- what is known ---- */

static inline bool target_has_worker(const Target *t) {
        return t->visit.job && visit_job_has_worker(t->visit.job);
}

/* Is one of these pending, or under way? */
static inline bool target_is_about(const Target *t, VisitWork work) {
        return (t->pending.work | (t->visit.job ? t->visit.pending.work : 0)) & work;
}

/* Is it a drive that can be in standby, and be asked for that? */
bool target_can_sleep(const Target *t);

/* What spins it down after a time without I/O, or should; the kernel aside. */
SpinDown target_spin_down(const Target *t);

/* Is it the service that spins it down? */
bool target_spins_down(const Target *t);

/* May the files want something of the drive for what only the drive itself can say, and was that not asked yet? */
bool target_wants_identity(const Target *t);

/* Are settings deferred until the drive is active? */
bool target_has_deferred(const Target *t);

/* ---- the record; nothing here leads to a visit ---- */

/* Writes the record to /run, for others to read. */
void target_save(Target *t);

/* A setting has its verdict. -ENOMEM. */
int target_note_step(Target *t, const Step *s);

/* A text of the record; NULL: none. */
void target_note_text(Target *t, char **field, const char *text);

/* One more of this word, in a tally of the record's (tally_add()). */
void target_count(const Target *t, char **tally, const char *word);

/* Visits that only look after what was in order report nothing of what still is, nor of what they could not look at: is this step
 * news, also without a verdict yet? */
bool target_finds_news(const Target *t, VisitWork work, const Step *s);
