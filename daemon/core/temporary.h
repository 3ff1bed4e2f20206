/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Temporary values, which override the configuration until the next boot (`drivekeep try`) or while a client is
 * connected (`drivekeep tune`). The service keeps one file per drive next to the state files (drive-record.h), and the
 * command line reads that file. The file name contains the crash guard's key, so the file outlives a detach. Readers
 * treat the file as hostile. */

#include "config.h"
#include "guard-rules.h"
#include "verdict-word.h"

#define TEMPORARY_PREFIX ".temporary-" /* prefix of the file names */

/* The text of Wish.file in a wish with a temporary value. The drive's record shows this text as the rule. */
#define TEMPORARY_RULE_BOOT "drivekeep try"
#define TEMPORARY_RULE_CLIENT "drivekeep tune"

typedef struct TemporaryValue {
        char *name;               /* the setting's name, never that of an alias (setting_state()) */
        char *text, *before_text; /* value_format() of `value` and `before`; before_text is NULL if `before` is not known */
        /* true: valid until the next boot; false: valid while a client is connected. A client's value overrides a value
         * that is valid until the next boot. */
        bool until_boot;
        bool allow_dangerous, wake; /* as in a block of the configuration */
        bool restoring;             /* the value ended, and the service restores `before` */
        bool accepted;              /* the drive accepted this value, or an earlier temporary value of the setting */
        bool unaccepted;            /* the drive was visited, but has accepted no temporary value of the setting yet */

        /* The file does not contain these members. */
        const Setting *setting; /* the setting's row, with the range of its values */
        Value value;            /* the temporary value */
        Value before;           /* the drive's value before the first temporary value for this setting */
        bool restored;          /* the drive has the value `before` again */
} TemporaryValue;

typedef struct TemporaryValues {
        char *drive;      /* description of the drive, for people */
        uint64_t diskseq; /* the drive's disk sequence number (new at each attach) when the file was written */
        TemporaryValue *items;
        size_t n_items;
} TemporaryValues;

TemporaryValues *temporary_free(TemporaryValues *t);
DEFINE_CLEANUP(TemporaryValues *, temporary_free);

/* Copies `t` except the member `restored`, which is not stored in files. If `t` is NULL, the copy is empty. */
int temporary_copy(const TemporaryValues *t, const SettingTable *settings, TemporaryValues **ret);

/* Finds the setting's value that is valid until the next boot or, if `until_boot` is false, the value of a client.
 * NULL: there is no such value. */
TemporaryValue *temporary_find(const TemporaryValues *t, const char *name, bool until_boot);

/* Appends a copy of `v`, and drops the old value of the same setting with the same `until_boot`. The order matters: if
 * two values exclude each other, the later value wins. The name and the texts of the copy are derived from `setting`
 * and the values. If v->before_text is NULL, `before` is not known. Returns 0, -E2BIG or -ENOMEM. */
int temporary_set(TemporaryValues *t, const TemporaryValue *v);
void temporary_drop(TemporaryValues *t, TemporaryValue *v);

/* Replaces the wishes of the configuration by the temporary values. If a rule sets the setting, the rule's value is
 * restored instead of `before`. */
int temporary_overlay(const TemporaryValues *t, Wishes *w);

/* Returns the word for a Temporary; NULL: TEMPORARY_NO, or unknown. */
const char *temporary_to_string(int temporary);

/* Returns the name of the rule for the wish (Wish.file). */
const char *temporary_rule(const TemporaryValue *v);

/* Returns true if the verdict means that the drive does not accept the value. `same`: the visit did not change the drive's value. */
bool temporary_has_no_effect(Verdict v, bool same);

/* Returns true if the verdict means that no command will be sent for the value. */
bool temporary_is_barred(Verdict v);

/* Writes the name of the drive's file to *ret; the caller frees it. */
int temporary_name(const Drive *d, char **ret);

/* Read temporary values. *ret is NULL if there is no file. Invalid values are left out. temporary_read() also leaves
 * out a client's values from before the drive was last unplugged. -EBADMSG: the file has another format. */
int temporary_read_file(const char *dir, const char *name, const SettingTable *settings, TemporaryValues **ret);
int temporary_read(const char *dir, const Drive *d, const SettingTable *settings, TemporaryValues **ret);
int temporary_parse(const char *text, size_t size, const SettingTable *settings, TemporaryValues **ret);
int temporary_serialize(const TemporaryValues *t, char **ret);
