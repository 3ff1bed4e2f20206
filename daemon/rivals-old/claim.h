/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a rival says that it sets, and whether the configuration wants that too. */

#include "config.h"
#include "import.h"
#include "tree.h"
#include "units.h"

/* The check under way. */
typedef struct Rivals {
        const Tree *tree;
        Config *config;
        const SettingTable *table;
        Drive *const *drives;
        size_t n_drives;
        Words *scripts; /* those that were looked at */
} Rivals;

typedef struct Claim {
        ComplaintLevel level;
        const char *who;  /* "udisks2" */
        const char *when; /* "when the drive appears" */
        const char *cure; /* what to do about it */
        const char *file;
        const char *text; /* the file's, for the column */
        unsigned line;
        const Match *match; /* which drives; NULL: that cannot be told */
        /* NULL: no more conditions on them */
        bool (*means)(const void *userdata, const Drive *d);
        const void *userdata;
        const char *key;   /* our setting, or an alias of one */
        const char *value; /* as the file has it; NULL: not one */
} Claim;

/* Where the configuration wants that setting too. */
typedef struct Meeting {
        const Setting *row;
        const char *file; /* the rule's */
        unsigned line;
        Value value;
        const Drive *drive; /* the first one; NULL: none that is present */
        size_t n_drives;
} Meeting;

/* 1, 0: it does not, -ENOMEM. */
int claim_meets(const Rivals *r, const Claim *c, Meeting *ret);

/* "for /dev/sda and 2 others", or "" */
const char *meeting_drives(const Meeting *m, char *buf, size_t size);

/* Where the first word of the line stands, from 1. */
unsigned text_column(const char *text, unsigned line);

/* Complains of it when the configuration wants that setting too. */
int claim_check(const Rivals *r, const Claim *c);

/* The same for all that a file of a rival's asks for, each with file, match, key and value from there. Where it only offers
 * a rule, its match is a guess, unless `conditions` says that it is what must hold. */
int claim_import(const Rivals *r, const Claim *template, const Import *import, bool conditions);

/* Whether what belongs to a rival is of any effect. */
typedef enum Presence {
        PRESENCE_ACTIVE,
        PRESENCE_INACTIVE, /* switched off */
        PRESENCE_ABSENT,   /* not installed, and its files are left over */
} Presence;

/* By the unit, of which there may be several names, NULL-terminated. */
int presence_of_units(const Rivals *r, const char *const *names, Presence *ret);

/* What is left over of a rival is worth a notice. */
void claim_by_presence(Claim *c, Presence p);
