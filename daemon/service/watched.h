/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One drive that the daemon looks after: what it is, what the files want of it, what is known of each setting, and the
 * visit it has at present. Knows nothing of other drives. */

#include "files.h"
#include "gate.h"
#include "journal.h"
#include "record.h"
#include "visitor.h"

typedef struct Watched Watched;

/* What all drives share; outlives them. */
typedef struct WatchedEnv {
        sd_event *event;
        Gate *gate;
        const SettingTable *settings;
        Files *files; /* in force now */
        bool on_battery;
        const char *state_dir;
        const char *boot_id;

        /* The gate is open for it: call watched_work() when a worker may be started. */
        void (*wants_worker)(void *userdata, Watched *w);
        /* Its visit is over (and then it may be freed from here), or deferred for as long as a check takes. */
        void (*rested)(void *userdata, Watched *w);
        void *userdata;
} WatchedEnv;

struct Watched {
        const WatchedEnv *env;
        Drive *drive;
        Drive *successor; /* the same drive, as a later event describes it; taken over when no visit looks at the old one */
        Wishes wishes;
        Files *files; /* the ones that the wishes point into; a reference of its own */
        DriveRecord *record;

        Visitor *visitor; /* NULL: it rests */
        Memory *memories; /* of the present visit, one per wish */
        VisitReason reason;
        bool again; /* visit once more when this one is over … */
        VisitReason again_reason;
        bool stale; /* … after asking the files again what they want, because of … */
        VisitReason stale_reason;
        VisitSummary summary;

        bool ready;         /* waits for a worker */
        char *told_waiting; /* the unit that the journal knows it waits for */
        bool gone;          /* unplugged while a worker was at it: nothing of it may be written down any more */

        Watched *next; /* the manager's list */
};

/* Takes over `drive`. What an earlier run of the daemon knew of this attach of the drive is taken from its state file. */
int watched_new(const WatchedEnv *env, Drive *drive, Watched **ret);
Watched *watched_free(Watched *w);

/* Visits it, now or after the present visit. A drive that no rule wants anything of is sent nothing. */
int watched_visit(Watched *w, VisitReason reason);
int watched_work(Watched *w);

/* udev told of it again (takes over `drive`): visit it if that changes what the files want of it. */
int watched_update(Watched *w, Drive *drive);

/* The files or the power source are others now: visit it if that changes what is wanted of it. */
int watched_reconfigure(Watched *w, VisitReason reason);

/* It was unplugged: tells so of what was under way. Returns true when a worker is still at it; it is to be freed when it
 * rests. */
bool watched_leave(Watched *w);
