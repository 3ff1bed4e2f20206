/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which drives and settings the user means. DRIVE… is a kernel name, a node or any link to it, a partition of it, a serial number or
 * a WWN. */

#include "drive.h"
#include "records.h"
#include "setting.h"

/* A drive that can be meant. Borrowed strings; serial and wwn may be NULL. */
typedef struct Candidate {
        const char *name, *serial, *wwn;
        bool chosen;
        void *item; /* the caller's */
} Candidate;

/* The index of the candidate that `argument` means. `root` stands before /dev and /sys ("" outside tests). -ENODEV: none does;
 * -ENOTUNIQ: several have that serial number or WWN. */
int candidate_find(const Candidate *candidates, size_t n, const char *argument, const char *root);

/* What is said where there is nothing to show. */
#define NO_DRIVES \
        "no drive that drivekeep supports is present; drivekeep(1) describes these drives under 'drivekeep list'"
#define NO_RULES \
        "no rule of the configuration matches these drives, so no setting is managed; drivekeep.conf(5) describes rules"

/* Puts those that are meant first, in their order, and tells how many they are: all when `arguments` (NULL-terminated) is NULL.
 * Returns EXIT_WANTED, or EXIT_BAD_INPUT: at least one argument means no drive or more than one, and each has been told on stderr. */
int candidates_choose(Candidate *candidates, size_t n, char *const *arguments, const char *root, size_t *ret_n);

/* The same for drives that are here, and for records. */
int drives_choose(Drive **drives, size_t n, char *const *arguments, size_t *ret_n);
int records_choose(Records *records, char *const *arguments, size_t *ret_n);

/* Is there a setting of that name? EXIT_WANTED, or EXIT_BAD_INPUT, having said so. */
int setting_choose(const SettingTable *t, const char *name);

/* A drive that is not here. `description` is "KEY=VALUE,...", with the keys of match in drivekeep.conf(5) and raid;
 * what it does not say is not known. Returns EXIT_WANTED, or EXIT_BAD_INPUT: it cannot be understood, and that was said on
 * stderr. */
int drive_describe(const char *description, Drive **ret);
