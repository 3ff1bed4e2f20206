/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* For which drives, and when, a udev rule does what it does. */

#include "import.h"

/* One KEY{ATTRIBUTE}OP"VALUE" of a rule. */
typedef struct UdevItem {
        char *key, *attribute, *value;
        char op[3];
        char *label; /* of what a GOTO leaves standing: up to where it does */
} UdevItem;

typedef struct UdevRule {
        UdevItem *items;
        size_t n_items;
} UdevRule;

/* What a rule asks for, apart from what every drive of ours meets. */
typedef struct Circumstances {
        Match match;
        const UdevItem *foreign; /* a condition that is no part of the match */
        const UdevItem *other;   /* the one by which it is for something else than drives */
        bool power;              /* and that is the power supply */
        bool drives;             /* it is for drives, or for what they hang on */
} Circumstances;

bool udev_condition(const UdevItem *i);

/* Conditions that every drive of ours meets when drivekeep visits it. */
bool udev_holds_anyway(const UdevItem *i);

/* KEY{ATTRIBUTE}OP"VALUE"; the caller frees it. */
char *udev_item_shown(const UdevItem *i);

/* The conditions of the rule, which must outlive *c, on top of those that are there. */
int circumstances_add(const UdevRule *rule, Circumstances *c);

/* Offers what the match does not say all of, and says why. */
int circumstances_remark(const Circumstances *c, ImportRule *rule);

void circumstances_done(Circumstances *c);
