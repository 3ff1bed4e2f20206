/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Compares the `match` of a configuration block with the facts in a Drive. Accesses no drive. */

#include "drive.h"

typedef enum MatchKey {
        MATCH_NODE, /* a device node, or a symbolic link of udev below /dev */
        MATCH_MODEL,
        MATCH_SERIAL,
        MATCH_WWN,
        MATCH_FIRMWARE,
        MATCH_VENDOR,
        MATCH_TRANSPORT,
        MATCH_ROTATIONAL,
        MATCH_REMOVABLE,
        MATCH_PROPERTY, /* a udev property; its name is in capitals */
        _MATCH_KEY_MAX,
        _MATCH_KEY_INVALID = -1,
} MatchKey;

/* One key with its patterns (globs, fnmatch(3)). The criterion holds if one of the patterns matches. */
typedef struct Criterion {
        MatchKey key;
        char *property; /* MATCH_PROPERTY: name of the udev property */
        GROWING_ARRAY(char *, patterns);
} Criterion;

/* A drive matches if all criteria hold. A Match without criteria matches every drive. */
typedef struct Match {
        GROWING_ARRAY(Criterion, criteria);
} Match;

const char *match_key_to_string(MatchKey k);
MatchKey match_key_from_string(const char *s);

/* Adds a pattern. -EINVAL: the pattern can match no drive: it is empty, too long, a node outside /dev, an unknown transport or an
 * invalid boolean. */
int match_add(Match *m, MatchKey key, const char *property, const char *pattern);
void match_done(Match *m);

/* Returns true if the drive matches. *ret_link is the path that a node pattern matched. If several paths match, a path
 * of the drive itself comes first, then a path of a partition, then of a stacked device. *ret_link is NULL if no node
 * pattern matched a path in Drive.links. `ret_link` may be NULL. */
bool match_drive(const Match *m, const Drive *d, const DriveLink **ret_link);

/* Returns the drive's value for the criterion's key, for explanations. NULL: not known, or the key is MATCH_NODE. */
const char *match_fact(const Criterion *c, const Drive *d);

/* Returns the first criterion that does not hold, for explanations. NULL: all criteria hold; *ret_link is then set as by match_drive(). */
const Criterion *match_failing(const Match *m, const Drive *d, const DriveLink **ret_link);

/* Returns true if a criterion uses data that only the drive can report: model, serial number, firmware or WWN. */
bool match_needs_identity(const Match *m);

/* Returns true if the rule is for a class of drives. A rule is for single drives if its match has a node, link, serial
 * number or WWN that is written without a glob. */
bool match_is_general(const Match *m);

/* Returns true if the patterns prove that every drive that matches `narrow` also matches `wide`. */
bool match_includes(const Match *wide, const Match *narrow);
