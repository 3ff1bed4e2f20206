/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Decides what to write, and judges what came of it. Pure: it knows wishes and readings, not ATA from sysfs. */

#include "config.h"
#include "setting.h"
#include "verdict-word.h"

#define STEP_REASON_MAX 256U
#define STEP_NOTE_MAX 192U

/* What earlier visits to this attach of the drive, since it last lost power, know of one setting. */
typedef struct Memory {
        KnownNumber sent;    /* this was sent and accepted; of the wish's type, and not of names */
        KnownNumber settled; /* … and the drive made this of it: sending it again would change nothing */
        KnownNumber read;    /* when it was read last, it was this */
        char overruled[128]; /* another namespace of the same controller wants another value, and comes first: what and where,
                              * as a clause; empty: none does */
        char quarantined[STEP_REASON_MAX / 2]; /* why this value may not be written again: a clause; else empty */
} Memory;

typedef struct Step {
        const Wish *wish;
        const Setting *setting; /* NULL: no row for this kind of drive */
        const Remedy *remedy;   /* what to do when the setting is unsupported; NULL: nothing */
        Value wanted;           /* the wish's value, as this drive would read it */
        Reading before, after;
        const struct Step *winner; /* the step that excludes this one, which is not written then; NULL: none */
        bool remembered;           /* the verdict rests on memory alone, and a loss that shows makes it void */
        bool lost;                 /* that it was sent is void, as some reading has shown a loss */
        bool remedied;             /* a rule wants a setting of the remedy, too */
        bool remediable;           /* unsupported, and the reason names a remedy */
        bool write;                /* the plan: send it */
        bool saving;               /* the drive is to save it too */
        bool written;              /* it was sent and accepted */
        bool failed;               /* it was sent, at least in part, and not accepted */
        bool accepted;             /* `unverifiable`, as nothing can read it back, and there is no more to say of it */
        bool by_service;           /* `unchanged`, and the service spins the drive down in place of this timer */
        Verdict end;               /* of reading or writing, if that did not succeed; VERDICT_APPLIED: it did */
        int error;                 /* the errno of VERDICT_FAILED */
        Verdict verdict;           /* _VERDICT_INVALID until judged */
        char note[STEP_NOTE_MAX];  /* what the row says about its success, when there is something to say */
        char reason[STEP_REASON_MAX]; /* a sentence, when the verdict needs one; else empty */
} Step;

typedef struct Plan {
        Step *steps;
        size_t n_steps;
        bool lost; /* a reading has shown that the drive lost its state since the last one, or that somebody changed it */
} Plan;

/* Why something is `unverifiable`, where that is so of every drive. */
#define STEP_ACCEPTED "accepted; the value cannot be read back"
#define STEP_SENT_BEFORE "sent earlier, after the drive was attached; the value cannot be read"
/* … and of a timer, where the service does what it is for. */
#define STEP_BY_SERVICE "the service spins the drive down; the timer of the drive is not changed"

/* Did reading or writing it not succeed? */
static inline bool step_has_error(const Step *s) {
        return s->end != VERDICT_APPLIED;
}

/* One step per wish, in the order of writing, and nothing decided yet but what no row is needed for. `backends`: mask of
 * 1 << Backend. Steps point into `w`, which must outlive the plan. */
int plan_new(const Wishes *w, const SettingTable *t, unsigned backends, Plan *ret);
void plan_done(Plan *p);

/* The verdict of a step that needs no reading (forbidden, unsupported, unreadable and sent before). Returns true when
 * it has one; otherwise `before` is to be read. `memory` may be NULL. */
bool step_settle(Step *s, const Memory *memory);

/* Do the two wishes exclude each other, on a drive that supports both? */
bool steps_exclude(const Step *a, const Step *b);
bool plan_excludes(const Plan *p, const Step *s);

/* Of two that exclude each other the later wish wins, unless the drive does not support it. Call it for each step that has a conflict,
 * the latest wish first, when all of them are read or settled, and decide that step before the next. True: `s` loses, and has its
 * verdict. */
bool plan_exclude(const Plan *p, Step *s);

/* Was it left otherwise than it is read now, so that whatever the drive holds may be lost? */
bool step_shows_loss(const Step *s, const Memory *memory);

/* Of a drive that has lost its state: no verdict from memory (`remembered`), and none to come. */
void step_distrust(Step *s);

/* Has the drive what this step wants, which is not off? In a dry run what would be written is taken to be accepted. */
bool step_is_in_force(const Step *s);

/* A step of a row with `unless`, and the step of that state (NULL: nobody asks for it), which has its verdict: true when
 * the first is not needed, and has its verdict now. */
bool step_spare(Step *s, const Step *other);

typedef enum DecideFlags {
        DECIDE_STANDBY = 1 << 0,   /* the drive sleeps and this setting would wake it */
        DECIDE_PERMANENT = 1 << 1, /* what the drive keeps itself may be written */
        DECIDE_READ_ONLY = 1 << 2, /* nothing may be written: only look whether it is as it was left */
        DECIDE_UNCLEAR = 1 << 3,   /* with DECIDE_STANDBY: nobody knows whether it sleeps */
        DECIDE_SUSPENDED = 1 << 4, /* with DECIDE_STANDBY: the kernel has suspended it */
} DecideFlags;

/* With `before` filled in: set `write`, or the verdict at once. */
void step_decide(Step *s, const Memory *memory, DecideFlags flags);

/* With `written`, `end`, `error` and `after` filled in: the verdict, and a reason unless one is there already. */
void step_judge(Step *s);

/* "file:line", or who else wants it. The caller frees it; NULL: no memory. */
char *wish_format_rule(const Wish *w);
