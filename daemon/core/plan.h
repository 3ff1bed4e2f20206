/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Decides which settings to write to a drive, and derives the verdicts from the results. Pure: works on wishes and readings of any
 * backend. */

#include "config.h"
#include "setting.h"
#include "verdict-word.h"

#define STEP_REASON_MAX 256U
#define STEP_NOTE_MAX 192U

/* What earlier visits found about one setting since the drive was attached and last lost power. */
typedef struct Memory {
        KnownNumber sent;    /* the value last sent and accepted; of the wish's type, but never VALUE_NAME */
        KnownNumber settled; /* the value that the drive chose for `sent`; sending `sent` again would not change it */
        KnownNumber read;    /* the value last read */
        /* SETTING_CONTROLLER: clause with the value and the rule of another namespace that overrides this wish; empty: none. */
        char overruled[128];
        char quarantined[STEP_REASON_MAX / 2]; /* clause: why the value must not be written again; empty: none */
} Memory;

typedef struct Step {
        const Wish *wish;
        const Setting *setting;       /* NULL: drives of this kind do not have the setting */
        const Remedy *remedy;         /* advice for an unsupported setting; NULL: none */
        Value wanted;                 /* the wish's value, in the form in which this drive reports it */
        Reading before, after;        /* readings before and after the write */
        const struct Step *winner;    /* the step that excludes this step, so this step is not written; NULL: none */
        bool remembered;              /* the verdict relies on Memory only; a loss of settings invalidates it */
        bool lost;                    /* a reading showed a loss of settings, so Memory.sent is invalid */
        bool remedied;                /* a rule sets one of the settings in `remedy` */
        bool remediable;              /* the setting is unsupported, and `reason` names a remedy */
        bool write;                   /* true if the visit must write the value */
        bool saving;                  /* the drive should also save the value */
        bool written;                 /* the value was sent and accepted */
        bool failed;                  /* the value was sent, at least in part, and rejected */
        bool accepted;                /* the verdict is `unverifiable`, only because the value cannot be read back */
        bool by_service;              /* the verdict is `unchanged`: the service spins down instead of this timer */
        Verdict end;                  /* the verdict of a failed read or write; VERDICT_APPLIED: both succeeded */
        int error;                    /* negative errno if `end` is VERDICT_FAILED */
        Verdict verdict;              /* _VERDICT_INVALID: not yet decided */
        char note[STEP_NOTE_MAX];     /* the row's remark about a successful write; empty: none */
        char reason[STEP_REASON_MAX]; /* explanation of the verdict; empty: not needed */
} Step;

typedef struct Plan {
        Step *steps;
        size_t n_steps;
        bool lost; /* a reading showed that the drive lost its settings, or that another program changed them */
} Plan;

/* Reasons of `unverifiable` that apply to every drive. */
#define STEP_ACCEPTED "accepted; the value cannot be read back"
#define STEP_SENT_BEFORE "sent earlier, after the drive was attached; the value cannot be read"
/* Reason of `unchanged` for the standby timer of a drive that the service spins down. */
#define STEP_BY_SERVICE "the service spins the drive down; the timer of the drive is not changed"

/* Returns true if reading or writing the setting failed. */
static inline bool step_has_error(const Step *s) {
        return s->end != VERDICT_APPLIED;
}

/* Creates one step per wish, in the order of writing. Decides only the wishes for "off" whose setting this kind of drive does not have.
 * `backends`: mask of 1 << Backend. Steps point into `w`, which must outlive the plan. */
int plan_new(const Wishes *w, const SettingTable *t, unsigned backends, Plan *ret);
void plan_done(Plan *p);

/* Decides a step that needs no reading (forbidden, unsupported, or sent earlier and unreadable). Returns true if the step has a
 * verdict; otherwise the caller must read `before`. `memory` may be NULL. */
bool step_settle(Step *s, const Memory *memory);

/* Returns true if the two wishes exclude each other on a drive that supports both settings. */
bool steps_exclude(const Step *a, const Step *b);
/* Returns true if the wish of another step excludes the wish of `s`. */
bool plan_excludes(const Plan *p, const Step *s);

/* Decides whether another step excludes `s`: the later wish wins, if the drive supports the setting of that wish. Call this function after
 * all conflicting steps are read or settled, for the latest wish first, and decide each step before the next. Returns true if `s` loses;
 * `s` then has a verdict. */
bool plan_exclude(const Plan *p, Step *s);

/* Returns true if the reading differs from the last one, so that the drive may have lost its volatile settings. */
bool step_shows_loss(const Step *s, const Memory *memory);

/* Handles a loss of the drive's settings: withdraws a verdict that relies on Memory (`remembered`), and prevents such a verdict later. */
void step_handle_loss(Step *s);

/* Returns true if the wanted value is not "off" and the drive has that value. In a dry run, a value that would be written counts, too. */
bool step_is_in_force(const Step *s);

/* Decides a step whose row has `unless`. `other`: the decided step of the state in `unless`; NULL if no rule sets that state. Returns true
 * if `s` is not needed because `other` is in force; `s` then has a verdict. */
bool step_settle_unneeded(Step *s, const Step *other);

typedef enum DecideFlags {
        DECIDE_STANDBY = 1 << 0,   /* the drive is in standby, and writing the setting would spin it up */
        DECIDE_PERMANENT = 1 << 1, /* settings that the drive keeps over power cycles may be written */
        DECIDE_READ_ONLY = 1 << 2, /* write nothing: only check for drift */
        DECIDE_UNCLEAR = 1 << 3,   /* with DECIDE_STANDBY: the power mode is not known */
        DECIDE_SUSPENDED = 1 << 4, /* with DECIDE_STANDBY: the kernel has runtime-suspended the drive */
} DecideFlags;

/* Sets `write`, or the verdict if nothing must be written. The caller has set `before`. */
void step_decide(Step *s, const Memory *memory, DecideFlags flags);

/* Sets the verdict, and the reason if it is empty. The caller has set `written`, `end`, `error` and `after`. */
void step_judge(Step *s);

/* Returns "file:line", or only Wish.file if Wish.line is 0. The caller frees the text. NULL: out of memory. */
char *wish_format_rule(const Wish *w);
