/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One drive that the daemon looks after: what it is, what the files want of it, what is known of each setting, and the
 * visit it has at present. Knows nothing of other drives. */

#include "files.h"
#include "gate.h"
#include "guard.h"
#include "journal.h"
#include "rate-limit.h"
#include "record.h"
#include "scope.h"
#include "visitor.h"

typedef struct Watched Watched;

/* What all drives share; outlives them. */
typedef struct WatchedEnv {
        sd_event *event;
        Broker *broker;
        Gate *gate;
        Guard *guard;
        const SettingTable *settings;
        Files *files; /* in force now */
        bool on_battery;
        const char *state_dir;
        const char *boot_id;
        const char *forbidden_by; /* the word on the kernel's command line that forbids all writing; NULL: none */

        /* The gate is open for it: call watched_work() when a worker may be started. */
        void (*wants_worker)(void *userdata, Watched *w);
        /* Its visit is over (and then it may be freed from here), or deferred for as long as a check takes. */
        void (*rested)(void *userdata, Watched *w);
        /* The next drive after `w` (NULL: the first) of all that are looked after, or NULL. */
        Watched *(*next)(void *userdata, const Watched *w);
        void *userdata;
} WatchedEnv;

/* So often in so long a time may events that are not its user's lead to a visit. */
#define DISTURBANCES_USEC (10ULL * 60 * 1000 * 1000)
#define DISTURBANCES ((RateLimit){ .usec = DISTURBANCES_USEC, .most = 5 })

struct Watched {
        const WatchedEnv *env;
        Drive *drive;
        Drive *successor; /* the same drive, as a later event describes it; taken over when no visit looks at the old one */
        Wishes wishes;
        Files *files; /* the ones that the wishes point into; a reference of its own */
        DriveRecord *record;

        Visitor *visitor; /* NULL: it rests */
        Wishes selected;  /* what the present visit is about */
        Memory *memories; /* … one per wish of these */
        VisitReason reason;
        bool permanent; /* somebody has asked to save what the drive keeps itself, and no worker has been told yet … */
        bool saves;     /* … but the present visit is to tell it */
        bool again;     /* visit once more when this one is over … */
        VisitReason again_reason;
        bool stale; /* … after asking the files again what they want, because of … */
        VisitReason stale_reason;
        VisitSummary summary;
        bool reads; /* at a recheck: what the drive holds is read, too … */
        bool busy;  /* … as its user keeps it busy */

        bool unveiled;         /* the present visit has found out which drive is behind its bridge */
        bool active;           /* … of one that had been in use just now, and so cannot be asleep … */
        uint64_t active_until; /* … for the next visit either, until then (CLOCK_MONOTONIC, µs) */
        GuardedDrive *guarded;
        bool guard_visit;         /* the guard knows of a visit under way */
        sd_event_source *healthy; /* runs out when the drive has survived what was written to it */
        sd_event_source *steady;  /* … or when one that was lost has stayed for long enough to be visited */
        VisitReason steady_reason;

        bool ready;               /* waits for a worker */
        char *told_waiting;       /* the check that the journal knows it waits for */
        bool gone;                /* unplugged while a worker was at it: nothing of it may be written down any more */
        bool saved;               /* it has been written down … */
        sd_event_source *unsaved; /* … or its state file could not be written, and is tried again */

        RateLimit disturbances; /* watched-use.c */
        sd_event_source *later; /* a visit that would have been one too many, put off … */
        VisitReason later_reason;
        bool told_storm;  /* … and that was told of */
        bool settles;     /* the present visit makes up for no event from now on, … */
        uint64_t made_up; /* … and the last one that took its state for lost for all up to this one */

        bool lost;               /* the worker of the last visit died … */
        sd_event_source *second; /* … and another tries once more */

        Watched *next; /* the manager's list */
};

/* Takes over `drive`. What an earlier run of the daemon knew of this attach of the drive is taken from its state file. */
int watched_new(const WatchedEnv *env, Drive *drive, Watched **ret);
Watched *watched_free(Watched *w);

/* Visits it, now or after the present visit. A drive that no rule wants anything of is sent nothing. */
int watched_visit(Watched *w, VisitReason reason);
int watched_work(Watched *w);

/* Writes down what is known of it, for others to read. */
void watched_save(Watched *w);

/* udev told of it again (takes over `drive`): visit it if that changes what the files want of it. */
int watched_update(Watched *w, Drive *drive);

/* The same drive, read anew (takes over `drive`): it counts from the next watched_reconfigure() or watched_update() on. */
void watched_succeed(Watched *w, Drive *drive);

/* The files or the power source are others now: visit it if that changes what is wanted of it. */
int watched_reconfigure(Watched *w, VisitReason reason);

/* watched-use.c: what comes from outside of drive and kernel, and what their counters tell; nothing of it reaches the
 * drive. */

/* Something may have taken its state: visits it, but not too often. `seqnum`: the number of the event that tells of it
 * (activity_last_event()); 0: none does. */
int watched_disturbed(Watched *w, VisitReason reason, uint64_t seqnum);

/* Whatever the kernel has told up to now of what was lost, the present visit makes up for, if it is for that at all. `userdata` is
 * the Watched. */
void watched_settles(void *userdata);

/* It is visited because the machine slept: that is none of the disturbances, and makes up for those before. */
void watched_resumed(Watched *w);

/* What the kernel noted of its link may be news: then it is visited. What a visit that is under way led to is left to the end of
 * that, which calls this with `visited`: the kernel resets the link of a drive that answers no command. Returns true when the
 * kernel is still at it: look again soon. */
bool watched_look_at_link(Watched *w, bool visited);

/* The same of the time when no daemon looked: was its link lost or reset then? */
bool watched_link_changed(Watched *w);

/* Notes how much the drive has been used up to now. Returns true when that is more than at the last look. */
bool watched_look(Watched *w);

/* A visit is over. When its worker has died (`lost`) there is another soon; when that dies too, at the next event. */
void watched_calm(Watched *w, bool lost);

/* Has it been in use just now, so that it cannot be asleep? */
bool watched_is_active(const Watched *w);

/* Was it put to sleep so deep that any command would reset it, and not used since? */
bool watched_is_deaf(const Watched *w);

/* Is something put off until its user wakes it? */
bool watched_dozes(const Watched *w);

/* Somebody asks for a visit, and wants what cannot be read to be sent: also by the visit that is about to begin. */
void watched_distrust(Watched *w);

/* Looks whether all is as it was left. `busy`: the drive's user keeps it busy. */
int watched_recheck(Watched *w, bool busy);

/* Another program may have written to it just now: looks whether all is as it was left, on the drive too, unless it sleeps; with
 * on_drift = "restore" sets it back, now or when its user has woken it. */
int watched_meddled(Watched *w);

/* watched-tell.c: what its user is told, and what they may not expect of the files. */
void watched_tell_stacked(const Watched *w);
void watched_tell_released(const Watched *w);
/* Visits that only look after what was in order say nothing of what still is, nor of what they could not look at. */
bool watched_is_news(const Watched *w, const Step *s);
/* … the same of a step of such a visit, which may not have a verdict yet. */
bool watched_finds_news(const Watched *w, const Step *s);
/* Found otherwise than it was left, by a visit that no loss explains. */
void watched_tell_drift(const Watched *w, const Step *s);

/* watched-shared.c: notes in the memories of the present visit what other namespaces of the same NVMe controller want of what
 * they have in common. Of two that disagree, the first by name has its way, and the other one, should it have been visited before,
 * is visited again. */
void watched_note_shared(Watched *w);

/* watched-bridge.c: drives behind USB bridges. */

/* May the files want something of it for what only the drive itself can say, and was that not asked yet? */
bool watched_wants_identity(const Watched *w);

/* A visit has found something out (visit.h). `userdata` is the Watched. */
void watched_bridged(void *userdata, const Bridge *bridge, const DriveIdentity *identity);

/* Where a bridge fell off the bus last, at its first ATA command. */
typedef struct BridgeFall {
        char *port;    /* its USB port, a syspath; owned. NULL: nowhere yet */
        uint64_t usec; /* CLOCK_MONOTONIC */
} BridgeFall;

/* It goes away. Just being sent its first ATA command, it may have a bridge that cannot stand that … */
void watched_note_fall(const Watched *w, BridgeFall *fall);
/* … and when it is back soon at the same port, it is sent no more of them. */
void watched_spare_bridge(Watched *w, const BridgeFall *fall);

/* Takes a setting (NULL: all) out of quarantine; how many values that were. When there were any, it is visited. */
unsigned watched_release(Watched *w, const char *setting);

/* It was unplugged: tells so of what was under way. Returns true when a worker is still at it; it is to be freed when it
 * rests. */
bool watched_leave(Watched *w);
