/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One drive that the daemon looks after: what the drive is, what the files want of it, what is known of each setting, the visit
 * that is next, and the visit that is under way. Has no timer of its own: see TargetEnv.changed. */

#include <systemd/sd-bus.h>

#include "files.h"
#include "fsck-wait.h"
#include "guard.h"
#include "journal.h"
#include "pending.h"
#include "record.h"
#include "scope.h"
#include "tracer.h"
#include "visit-job.h"

typedef struct Target Target;
typedef struct Reader Reader;

/* What all drives share; outlives them. */
typedef struct TargetEnv {
        sd_event *event;
        Broker *broker;
        FsckWait *fsck_wait;
        Guard *guard;
        const SettingTable *settings;
        Files *files;   /* in force now */
        Tracer *tracer; /* NULL: nobody is told who wakes drives */
        bool on_battery;
        const char *boot_id;
        const char *forbidden_by; /* the word on the kernel's command line that forbids all writing; NULL: none */
        Target *drives;           /* all that are looked after, by ->next */

        /* Its visit is over, was withdrawn, or is deferred for as long as a check takes. */
        void (*rested)(void *userdata, Target *t);
        /* Something about it is other than before. target_due() may be earlier: call target_tick() then. The visit may be ready: call
         * target_work() when it may have a worker. */
        void (*changed)(void *userdata, Target *t);
        void *userdata;
} TargetEnv;

/* The visit that waits for its worker, or has one. */
typedef struct CurrentVisit {
        VisitJob *job;    /* NULL: there is no visit */
        Pending pending;  /* what it does, and why */
        Wishes selected;  /* which wishes it is about … */
        Memory *memories; /* … one per wish of these */
        VisitSummary summary;
        bool ready;  /* waits for a worker */
        bool active; /* the drive had been in use just now, and so cannot be asleep */
        uint64_t commands; /* as the kernel counted them when it got its worker, where they are counted (target_used()); else 0 */
        bool revealed; /* found out which drive is behind its bridge */
        bool sleeps;   /* the last of `selected` is no wish of the files', but puts the drive into standby */
} CurrentVisit;

/* What the crash guard does for the drive. */
typedef struct TargetGuard {
        GuardedDrive *drive;
        bool visiting;         /* the guard knows of a visit under way */
        uint64_t healthy_at;   /* by then the drive has survived what was written to it; 0: nothing was */
        uint64_t steady_until; /* the drive was lost, and is not visited before, but on request; 0: it was not lost */
} TargetGuard;

/* So often in so long a time may events that are not its user's lead to a visit. */
#define DISTURBANCES 5U
#define DISTURBANCES_USEC (10ULL * 60 * 1000 * 1000)

/* Whether it sleeps (target-standby.h). */
typedef struct TargetStandby {
        bool asleep;          /* … and the tracer watches it … */
        WatchDevice disk;     /* … by this number … */
        uint64_t since;       /* … from then on (CLOCK_MONOTONIC, µs) */
        Wake *suspect;        /* may have woken it: the drive is being asked … */
        Wake *later;          /* … and meanwhile somebody else may have */
        unsigned harmless;    /* doubtful commands of these kinds (a bit for each WakeKind) have not woken it */
        uint64_t used;        /* the kernel's count when it was last found otherwise … */
        uint64_t quiet_since; /* … which was then (CLOCK_MONOTONIC, µs) … */
        uint64_t used_from;   /* … and not so then: the last use was between the two */
        uint64_t quiet_at;    /* since then it was found without use; 0: it was not looked at yet */
        uint64_t watched_at;  /* what is known of its use (core/use.h) is known up to then; 0: nothing yet */
        bool uncounted;       /* the kernel does not count the drive's I/O */
        uint64_t patience;    /* so long it is to be without use; µs */
        uint64_t look_at;     /* CLOCK_MONOTONIC, µs; 0: never */
        unsigned n_looks;     /* that found it awake, without use between them */
} TargetStandby;

/* What the service does to have it spin down (target-spindown.h). Times are of CLOCK_MONOTONIC, in µs. */
typedef struct TargetSpindown {
        bool spent;           /* before it is used, nothing more is tried */
        bool is_uncounted;    /* left awake because its I/O is not counted; the journal has that */
        uint64_t stopped_at;  /* it was put into standby; 0: it was not, or it was woken since … */
        bool asked;           /* … as somebody asked for that */
        bool spins_up;        /* a visit is to have it spin up, when not too many others do */
        uint64_t turn_until;  /* it has spun up, and counts as one that does until then; 0: it does not */
        unsigned n_short;     /* so many times in a row it was woken soon after the service's own spin-down */
        uint64_t awake_until; /* it is left alone until then, since that was too often */
        Verdict failed;       /* how spinning it down failed, as the journal has it; VERDICT_APPLIED: it did not … */
        int failed_error;     /* … and Step.error */
} TargetSpindown;

/* Values that the drive has for a while only (target-held.h). */
typedef struct HeldValue {
        const Setting *setting;
        Value value;   /* that it is to have now … */
        Value before;  /* … and after that */
        bool returned; /* it has that again */
} HeldValue;

#define HELD_MAX 8U /* one that is measured, and those that its change may reset */

typedef struct TargetHeld {
        HeldValue *items; /* up to HELD_MAX; NULL: there are none, as with almost all drives at almost any time */
        size_t n_items;
        const sd_bus *holder; /* who asked for them: never used, but compared; NULL: is gone, and `before` is wanted */
        unsigned n_tries;     /* so many visits could not set all of them back */
} TargetHeld;

struct Target {
        const TargetEnv *env;
        Drive *drive;
        Drive *successor; /* the same drive, as a later event describes it; taken over when no visit looks at the old one */
        Pending new_files; /* what to do when the files are asked anew for the wishes, then too */
        Wishes wishes;
        Files *files; /* the ones that the wishes point into; a reference of its own */
        DriveRecord *record;
        bool new_verdicts;   /* what was written down last has others */
        uint64_t save_again; /* the record could not be written down, which is tried again then; 0: it could */

        Pending pending;
        CurrentVisit visit;
        char *told_waiting;       /* the check that the journal knows the drive waits for */
        bool lost;                /* the worker of the last visit died */
        bool suspended;           /* at the last poll the kernel had suspended the drive */
        uint64_t disturbed_since; /* target_disturbed() counts from then (CLOCK_MONOTONIC, µs) … */
        unsigned n_disturbances;  /* … up to DISTURBANCES, and one more when it was told that there were too many */
        uint64_t made_up; /* the last visit that took the drive's state for lost makes up for all events up to this one */
        TargetGuard guard;
        TargetStandby standby;
        TargetSpindown spindown;
        TargetHeld held;
        uint64_t wear_asked; /* it was asked how worn it is; CLOCK_REALTIME, µs; 0: not by this daemon */
        Reader *readers;     /* read it beside the service: no visit gets a worker (readers.h) */

        Target *next; /* TargetEnv.drives */
};

/* Takes over `drive`. What an earlier run of the daemon knew of this attach of the drive is taken from its state file. */
int target_new(const TargetEnv *env, Drive *drive, Target **ret);
Target *target_free(Target *t);

/* Visits the drive, now or after the present visit, for the work of this reason. A drive that no rule wants anything of is sent nothing.
 * Errors of this and of all that follows here are logged. */
void target_visit(Target *t, VisitReason reason);

/* The same for other work. */
void target_visit_for(Target *t, VisitReason reason, VisitWork work);

/* When something is to be done without an event, on CLOCK_MONOTONIC; UINT64_MAX: never. */
uint64_t target_due(const Target *t);
void target_tick(Target *t);

/* udev told of the same drive again (takes over `drive`): visits it if that changes what the files want of it. */
void target_update(Target *t, Drive *drive);

/* The files or the power source are others now: visits the drive if that changes what is wanted of it. */
void target_reconfigure(Target *t, VisitReason reason);

/* Takes a setting (NULL: all) out of quarantine; how many values that were. When there were any, the drive is visited. */
unsigned target_release(Target *t, const char *setting);

/* Something may have taken the drive's state: visits it, but not too often. `seqnum`: the number of the event that tells of it
 * (activity_last_event()); 0: none does. */
void target_disturbed(Target *t, VisitReason reason, uint64_t seqnum);

/* What the kernel noted of the drive's link may be news: then the drive is visited. What a visit that is under way led to is left
 * to the end of that, which calls this with `visited`: the kernel resets the link of a drive that answers no command. Returns true
 * when the kernel is still at it: look again soon. */
bool target_look_at_link(Target *t, bool visited);

/* Checks that settings which were in order still are. `in_use`: there is I/O, so that a command more does not keep the drive active. */
void target_recheck(Target *t, bool in_use);

/* Somebody asks what the drive holds now: looks whether all is as it was left, on the drive too, unless it sleeps. Writes nothing. */
void target_read(Target *t);

/* Another program may have written to the drive just now: looks whether all is as it was left, on the drive too, unless it sleeps;
 * with on_drift = "restore" sets it back, now or when its user has woken it. */
void target_meddled(Target *t);

/* The drive was unplugged: tells so of what was under way, and leaves a worker that is still at it to end by itself. */
void target_leave(Target *t);

/* ---- target-visit.c: one visit, from its beginning to its end ---- */

/* Begins what is pending. There is no visit yet. */
int target_begin(Target *t);
/* Ends a visit that has no worker yet; what it was for is pending again. */
void target_withdraw(Target *t);
int target_work(Target *t);
/* Called at its end, when all is told. `identified`: it found out which drive is behind its bridge. */
void target_visited(Target *t, bool identified);

static inline bool target_has_worker(const Target *t) {
        return t->visit.job && visit_job_has_worker(t->visit.job);
}

/* ---- target-record.c: what is known of the drive; nothing here leads to a visit ---- */

/* A setting has its verdict. -ENOMEM. */
int target_note_step(Target *t, const Step *s);

/* One more of this word, in a tally of the record's (tally.h). */
void target_count(const Target *t, char **tally, const char *word);

/* Writes down what is known of the drive, for others to read. */
void target_save(Target *t);

/* May the files want something of the drive for what only the drive itself can say, and was that not asked yet? */
bool target_wants_identity(const Target *t);

/* Visits that only look after what was in order say nothing of what still is, nor of what they could not look at: is this step
 * news, also without a verdict yet? */
bool target_finds_news(const Target *t, VisitWork work, const Step *s);

/* Notes how much the drive has been used up to now. Returns true when that is more than at the last look, or when the kernel has resumed
 * the drive since. */
bool target_look(Target *t);

/* The same at the end of a visit: its own commands are no use of the drive's user. */
void target_note_counters(Target *t);

/* Is something put off until the drive's user wakes it? */
bool target_has_deferred(const Target *t);

/* One more event, or visit, of those of which there may be too many (DISTURBANCES). */
void target_count_disturbance(Target *t);
