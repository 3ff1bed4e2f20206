/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Values that a drive has for a while, in place of what the files want: until the next boot (`drivekeep try`), or while a client is
 * connected (`drivekeep tune`). The service keeps them in one file for each drive, beside the drives' state files (drive-record.h), and the
 * command reads it. The file belongs to the drive, not to its attach: the crash guard's key is in its name. It is read as hostile. */

#include "config.h"
#include "guard-rules.h"
#include "verdict-word.h"

#define TEMPORARY_PREFIX ".temporary-" /* of such a file's name */

/* The rules of these wishes (Wish.file), and so of the drive's record. */
#define TEMPORARY_RULE_BOOT "drivekeep try"
#define TEMPORARY_RULE_CLIENT "drivekeep tune"

typedef struct TemporaryValue {
        char *name;               /* of the state (setting_state()) */
        char *text, *before_text; /* `value` and `before` as value_format() says them; before_text NULL: nobody knows it */
        bool until_boot;          /* … and not while a client is connected, whose values come before these */
        bool allow_dangerous, wake; /* as in a block of the files */
        bool returns;               /* it has ended, and the drive gets back what it had */
        bool given;                 /* a visit has seen the drive take it, or an earlier value */
        bool spared; /* not given, and the last visit deferred it or found that the drive does not take it */

        /* Not in the file. */
        const Setting *setting; /* whose range the values are of */
        Value value;            /* that the drive gets … */
        Value before;           /* … and what it had before the first of these for this setting */
        bool returned;          /* it has that again */
} TemporaryValue;

typedef struct TemporaryValues {
        char *drive;      /* which it is, for people */
        uint64_t diskseq; /* of its attach when that was written down */
        TemporaryValue *items;
        size_t n_items;
} TemporaryValues;

TemporaryValues *temporary_free(TemporaryValues *t);
DEFINE_CLEANUP(TemporaryValues *, temporary_free);

/* A copy without what is not in the file. NULL: an empty one. */
int temporary_copy(const TemporaryValues *t, const SettingTable *settings, TemporaryValues **ret);

/* NULL: there is none. */
TemporaryValue *temporary_find(const TemporaryValues *t, const char *name, bool until_boot);

/* Drops the one for the same setting and time, and puts a copy of `v` behind the others: of two that exclude each other the later one
 * wins. It has no `before` where `before_text` is NULL; its name and texts follow from `setting` and the values. -E2BIG, -ENOMEM. */
int temporary_set(TemporaryValues *t, const TemporaryValue *v);
void temporary_drop(TemporaryValues *t, TemporaryValue *v);

/* Puts them in place of what the files want. What returns is not wanted where the files want another value. */
int temporary_overlay(const TemporaryValues *t, Wishes *w);

/* The rule by which it is wanted. */
const char *temporary_rule(const TemporaryValue *v);

/* Will the drive not take the value? `same`: after the visit it had what it had before. */
bool temporary_has_no_effect(Verdict v, bool same);

/* Does the verdict say so before a command is sent? */
bool temporary_is_barred(Verdict v);

/* The name of the drive's file; the caller frees it. */
int temporary_name(const Drive *d, char **ret);

/* *ret is NULL where there are none. What is no value of a setting is left out, and in temporary_read() what a client has set at another
 * attach of the drive. -EBADMSG: it is no such file. */
int temporary_read_file(const char *dir, const char *name, const SettingTable *settings, TemporaryValues **ret);
int temporary_read(const char *dir, const Drive *d, const SettingTable *settings, TemporaryValues **ret);
int temporary_parse(const char *text, size_t size, const SettingTable *settings, TemporaryValues **ret);
int temporary_serialize(const TemporaryValues *t, char **ret);
