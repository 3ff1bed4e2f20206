/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Decides what to write, and judges what came of it. Pure: it knows wishes and readings, not ATA from sysfs. */

#include "config.h"
#include "setting.h"
#include "verdict.h"

#define STEP_REASON_MAX 256U

/* Why a drive is visited. Every visit has one, and it reaches the log. */
typedef enum VisitReason {
        VISIT_BOOT,    /* found at the daemon's start */
        VISIT_ATTACH,  /* udev says it is new */
        VISIT_CHANGE,  /* udev says something about it changed */
        VISIT_RESUME,  /* the machine slept */
        VISIT_RELOAD,  /* the files changed */
        VISIT_POWER,   /* the machine went on or off battery */
        VISIT_REQUEST, /* somebody asked (drivekeep apply) */
        VISIT_RETRY,   /* what was deferred is taken up again */
        _VISIT_REASON_MAX,
} VisitReason;

const char *visit_reason_to_string(VisitReason r);

/* What earlier visits to this attach of the drive, since it last lost power, know of one setting. */
typedef struct Memory {
        bool sent; /* `value` was sent and accepted */
        Value value;
        bool adjusted; /* … and the drive made `settled` of it: sending it again would change nothing */
        Value settled;
} Memory;

typedef struct Step {
        const Wish *wish;
        const Setting *setting; /* NULL: no row for this kind of drive */
        Reading before, after;
        bool write;                   /* the plan: send it */
        bool written;                 /* it was sent and accepted */
        bool failed;                  /* it was sent, at least in part, and not accepted */
        int error;                    /* of reading or writing: STEP_… or a negative errno; 0: none */
        Verdict verdict;              /* _VERDICT_INVALID until judged */
        char reason[STEP_REASON_MAX]; /* a sentence, when the verdict needs one; else empty */
} Step;

typedef struct Plan {
        Step *steps;
        size_t n_steps;
} Plan;

/* Ends of reading and writing that have a verdict of their own. Numbers that no system call returns, so that an errno is
 * never taken for one of them: any errno is `failed`. */
#define STEP_REFUSED (-5001)     /* the drive or the kernel answered with an error */
#define STEP_UNSUPPORTED (-5002) /* there is no such thing to ask */
#define STEP_DEFERRED (-5003)    /* not allowed now: a check, a sleeping drive */
#define STEP_VANISHED (-5004)    /* the drive is gone */
#define STEP_FORBIDDEN (-5005)   /* our own policy */

/* One step per wish, in the order of writing; nothing decided yet. `backends`: mask of 1 << Backend. Steps point into
 * `w`, which must outlive the plan. */
int plan_new(const Wishes *w, const SettingTable *t, unsigned backends, Plan *ret);
void plan_done(Plan *p);

/* The verdict of a step that needs no reading (forbidden, unsupported, unreadable and sent before). Returns true when
 * it has one; otherwise `before` is to be read. `memory` may be NULL. */
bool step_settle(Step *s, const Memory *memory);

/* With `before` filled in: set `write`, or the verdict at once. `asleep`: the drive sleeps and this
 * setting would wake it. */
void step_decide(Step *s, const Memory *memory, bool asleep);

/* With `written`, `error` and `after` filled in: the verdict, and a reason unless one is there already. */
void step_judge(Step *s);
