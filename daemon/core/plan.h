/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Decides which settings to write to a drive, and derives the verdicts from the results. Works on wishes and readings
 * of any backend, and sends no command. */

#include "config.h"
#include "setting.h"
#include "verdict-word.h"

#define STEP_REASON_MAX 256U
#define STEP_NOTE_MAX 192U

/* What earlier visits found about one setting. Valid until the drive is detached or loses power. */
typedef struct Memory {
        KnownNumber sent;    /* the value last sent and accepted; of the same type as the wish, never VALUE_NAME */
        KnownNumber settled; /* the value that the drive chose for `sent`; sending `sent` again would not change it */
        KnownNumber read;    /* the value last read */
        /* Only for SETTING_CONTROLLER: a clause that names the namespace and the rule whose wish overrides this wish; empty: none. */
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
        bool remembered;              /* the verdict relies on Memory only; invalid after a loss of settings */
        bool lost;                    /* a reading showed a loss of settings, so Memory.sent is invalid */
        bool remedied;                /* a rule sets one of the settings in `remedy` */
        bool remediable;              /* the setting is unsupported, and `reason` names a remedy */
        bool write;                   /* true if the visit must write the value */
        bool saving;                  /* this visit also makes the drive save the value */
        bool written;                 /* the value was sent and accepted */
        bool failed;                  /* the value was sent, at least in part, and rejected */
        bool accepted;                /* the verdict is `unverifiable`, only because the value cannot be read back */
        bool by_service;              /* the service spins the drive down, so its timer is left unchanged */
        Verdict end;                  /* the verdict of a failed read or write; VERDICT_APPLIED: both succeeded */
        int error;                    /* negative errno if `end` is VERDICT_FAILED */
        Verdict verdict;              /* _VERDICT_INVALID: not yet decided */
        char note[STEP_NOTE_MAX];     /* remark of Setting.write() on a successful write; empty: none */
        char reason[STEP_REASON_MAX]; /* explanation of the verdict; empty: not needed */
} Step;

typedef struct Plan {
        Step *steps;
        size_t n_steps;
        bool lost; /* a reading showed that the drive lost its settings, or that another program changed them */
} Plan;

/* Reasons of the verdict `unverifiable`, with the same text for every drive. */
#define STEP_ACCEPTED "accepted; the value cannot be read back"
#define STEP_SENT_BEFORE "already sent since the drive was attached; the value cannot be read"
/* Reason of the verdict `unchanged` for the standby timer of a drive that the service spins down. */
#define STEP_BY_SERVICE "the service spins the drive down; the timer of the drive is not changed"

/* Returns true if reading or writing the setting failed. */
static inline bool step_has_error(const Step *s) {
        return s->end != VERDICT_APPLIED;
}

/* Creates one step per wish, in the order of writing. Sets a verdict only if the wish is "off" and this kind of drive does not have
 * the setting. `backends`: mask of 1 << Backend. Steps point into `w`, which must outlive the plan. */
int plan_new(const Wishes *w, const SettingTable *t, unsigned backends, Plan *ret);
void plan_done(Plan *p);

/* Decides a step that needs no reading (forbidden, unsupported, or sent earlier and unreadable). Returns true if the step has a
 * verdict. False: the caller must read the setting into `before`. `memory` may be NULL. */
bool step_settle(Step *s, const Memory *memory);

/* Returns true if the two wishes exclude each other on a drive that supports both settings. */
bool steps_exclude(const Step *a, const Step *b);
/* Returns true if the wish of another step excludes the wish of `s`. */
bool plan_excludes(const Plan *p, const Step *s);

/* Decides whether another step excludes `s`. The later wish wins if the drive supports its setting. First read
 * or settle all steps that exclude each other. Then call this function for the step of the latest wish, decide that
 * step, and go on with the wish before it. Returns true if `s` loses; `s` then has a verdict. */
bool plan_exclude(const Plan *p, Step *s);

/* Returns true if the reading differs from the last reading: the drive may have lost its volatile settings. */
bool step_shows_loss(const Step *s, const Memory *memory);

/* Call this function for each step after the drive lost its settings. Withdraws the verdict if it relies on Memory
 * (`remembered`). Sets `lost`, so that no later verdict relies on Memory. */
void step_handle_loss(Step *s);

/* Returns true if the wanted value is not "off" and the drive has that value. In a dry run, the drive is assumed to
 * have each value that would be written. */
bool step_is_in_force(const Step *s);

/* Decides a step whose setting is not needed while another setting is in force (Setting.unless). `other`: the decided step
 * of the other setting; NULL: no rule sets that setting. Returns true if `other` is in force; `s` then has a verdict. */
bool step_settle_unneeded(Step *s, const Step *other);

typedef enum DecideFlags {
        DECIDE_STANDBY = 1 << 0,   /* reading or writing the setting would spin up or resume the drive */
        DECIDE_PERMANENT = 1 << 1, /* settings that the drive keeps over power cycles may be written */
        DECIDE_READ_ONLY = 1 << 2, /* write nothing: only check for drift */
        DECIDE_UNCLEAR = 1 << 3,   /* added to DECIDE_STANDBY: the power mode is not known */
        DECIDE_SUSPENDED = 1 << 4, /* added to DECIDE_STANDBY: the kernel has runtime-suspended the drive */
} DecideFlags;

/* Sets `write`, or the verdict if nothing must be written. The caller has set `before`. */
void step_decide(Step *s, const Memory *memory, DecideFlags flags);

/* Sets the verdict. If `reason` is empty, sets the reason, too. The caller has set `written`, `end`, `error` and `after`. */
void step_judge(Step *s);

/* Returns "file:line", or only Wish.file if Wish.line is 0. The caller frees the text. NULL: out of memory. */
char *wish_format_rule(const Wish *w);
