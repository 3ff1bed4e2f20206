/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Selects the drives and settings that the user names. DRIVE is a kernel name, a device node or any link to one, a partition of the
 * drive, a serial number or a WWN. */

#include "drive.h"
#include "records.h"
#include "setting.h"

/* A drive to select from. The strings are borrowed; serial and wwn may be NULL. */
typedef struct Candidate {
        const char *name, *serial, *wwn;
        bool chosen;
        void *item; /* data of the caller */
} Candidate;

/* Returns the index of the candidate that `argument` names. Returns -ENODEV if there is none, or -ENOTUNIQ if several candidates have
 * this serial number or WWN. `root` is the prefix of /dev and /sys ("" outside tests). */
int candidate_find(const Candidate *candidates, size_t n, const char *argument, const char *root);

/* Messages for empty results. */
#define NO_DRIVES "no supported drive is attached; drivekeep-status(1) describes the kinds of drives that are supported"
#define NO_RULES \
        "no rule of the configuration matches these drives, so no setting is managed; drivekeep.conf(5) describes rules"

/* Moves the candidates that `arguments` (NULL-terminated) name to the front, without a change of their order. Returns their number in
 * *ret_n. If `arguments` is NULL, all candidates are selected. Returns EXIT_WANTED, or EXIT_BAD_INPUT after reporting on stderr each
 * argument that names no drive or several drives. */
int candidates_choose(Candidate *candidates, size_t n, char *const *arguments, const char *root, size_t *ret_n);

/* Like candidates_choose(). drives_choose() selects attached drives, and records_choose() selects records. */
int drives_choose(Drive **drives, size_t n, char *const *arguments, size_t *ret_n);
int records_choose(Records *records, char *const *arguments, size_t *ret_n);

/* Returns EXIT_WANTED if there is a setting of this name, or EXIT_BAD_INPUT after it has reported the error on stderr. */
int setting_choose(const SettingTable *t, const char *name);

/* Makes a drive from "KEY=VALUE,...". A KEY is "raid" or a key of `match` in drivekeep.conf(5). All properties that are not given are
 * unknown. Returns EXIT_WANTED, or EXIT_BAD_INPUT after it has reported a syntax error on stderr. */
int drive_describe(const char *description, Drive **ret);
