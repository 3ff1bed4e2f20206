/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Temporary values, which override the configuration until the next boot (`drivekeep try`) or while a client is connected
 * (`drivekeep tune`). The service keeps one file per drive next to the state files (drive-record.h), and the command reads that file. The
 * file name contains the crash guard's key, so the file outlives a detach. Readers treat the file as hostile. */

#include "config.h"
#include "guard-rules.h"
#include "verdict-word.h"

#define TEMPORARY_PREFIX ".temporary-" /* prefix of the file names */

/* Wish.file of wishes with temporary values; the drive's record shows this text as the rule. */
#define TEMPORARY_RULE_BOOT "drivekeep try"
#define TEMPORARY_RULE_CLIENT "drivekeep tune"

typedef struct TemporaryValue {
        char *name;               /* setting_state() of the setting */
        char *text, *before_text; /* value_format() of `value` and `before`; before_text is NULL if `before` is not known */
        bool until_boot; /* true: valid until boot; false: valid while a client is connected, and overrides a value until boot */
        bool allow_dangerous, wake; /* as in a block of the configuration */
        bool restoring;             /* the value ended, and the service restores `before` */
        bool accepted;              /* the drive accepted this value, or an earlier temporary value of the setting */
        bool unaccepted;            /* the drive was visited and has accepted no temporary value of the setting yet */

        /* The file does not contain these members. */
        const Setting *setting; /* defines the range of the values */
        Value value;            /* the temporary value */
        Value before;           /* the drive's value before the first temporary value for this setting */
        bool restored;          /* the drive has the value `before` again */
} TemporaryValue;

typedef struct TemporaryValues {
        char *drive;      /* description of the drive, for people */
        uint64_t diskseq; /* disk sequence number of the drive's attach when the file was written */
        TemporaryValue *items;
        size_t n_items;
} TemporaryValues;

TemporaryValues *temporary_free(TemporaryValues *t);
DEFINE_CLEANUP(TemporaryValues *, temporary_free);

/* Copies the members that the file contains. If `t` is NULL, the copy is empty. */
int temporary_copy(const TemporaryValues *t, const SettingTable *settings, TemporaryValues **ret);

/* Finds the temporary value of a setting. NULL: the setting has no temporary value with this `until_boot`. */
TemporaryValue *temporary_find(const TemporaryValues *t, const char *name, bool until_boot);

/* Appends a copy of `v`, and drops the old value of the same setting and duration. The order matters: of two values that exclude each
 * other, the later one wins. The name and the texts of the copy are derived from `setting` and the values. If v->before_text is NULL,
 * `before` is not known. Returns 0, -E2BIG or -ENOMEM. */
int temporary_set(TemporaryValues *t, const TemporaryValue *v);
void temporary_drop(TemporaryValues *t, TemporaryValue *v);

/* Replaces the wishes of the configuration by the temporary values. A `before` value is restored only if the configuration does not set
 * the setting. */
int temporary_overlay(const TemporaryValues *t, Wishes *w);

/* Returns the name of the rule for the wish (Wish.file). */
const char *temporary_rule(const TemporaryValue *v);

/* Returns true if the verdict means that the drive does not accept the value. `same`: the visit did not change the drive's value. */
bool temporary_has_no_effect(Verdict v, bool same);

/* Returns true if the verdict means that no command will be sent for the value. */
bool temporary_is_barred(Verdict v);

/* Writes the name of the drive's file to *ret; the caller frees it. */
int temporary_name(const Drive *d, char **ret);

/* Read temporary values. *ret is NULL if there is no file. Invalid values are left out; temporary_read() also leaves out values that a
 * client set during an earlier attach of the drive. -EBADMSG: the file has another format. */
int temporary_read_file(const char *dir, const char *name, const SettingTable *settings, TemporaryValues **ret);
int temporary_read(const char *dir, const Drive *d, const SettingTable *settings, TemporaryValues **ret);
int temporary_parse(const char *text, size_t size, const SettingTable *settings, TemporaryValues **ret);
int temporary_serialize(const TemporaryValues *t, char **ret);
