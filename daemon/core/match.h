/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which drives a block means. The only code that sees both what a drive is and what the file says. Pure. */

#include "drive.h"

typedef enum MatchKey {
        MATCH_NODE, /* a node or any udev link below /dev */
        MATCH_MODEL,
        MATCH_SERIAL,
        MATCH_WWN,
        MATCH_FIRMWARE,
        MATCH_VENDOR,
        MATCH_TRANSPORT,
        MATCH_ROTATIONAL,
        MATCH_REMOVABLE,
        MATCH_PROPERTY, /* any udev property, named in capitals */
        _MATCH_KEY_MAX,
        _MATCH_KEY_INVALID = -1,
} MatchKey;

/* One key; it holds when any of its patterns (globs, fnmatch(3)) does. */
typedef struct Criterion {
        MatchKey key;
        char *property; /* MATCH_PROPERTY: its name */
        GROWING_ARRAY(char *, patterns);
} Criterion;

/* All criteria must hold. None at all: every drive. */
typedef struct Match {
        GROWING_ARRAY(Criterion, criteria);
} Match;

const char *match_key_to_string(MatchKey k);
MatchKey match_key_from_string(const char *s);

/* -EINVAL: a pattern that can fit nothing: empty or overlong, a node not below /dev, an unknown transport, a boolean
 * that is none. */
int match_add(Match *m, MatchKey key, const char *property, const char *pattern);
void match_done(Match *m);

/* Does it mean this drive? *ret_link (may be NULL): the link by which a node pattern fitted, the drive's own rather than a stacked
 * one; NULL: there is no such pattern, or it fitted the node of a drive that does not have it among its links. */
bool match_drive(const Match *m, const Drive *d, const DriveLink **ret_link);

/* What the drive says of the criterion's key, for explanations; NULL: nothing, or it is a matter of nodes and links. */
const char *match_fact(const Criterion *c, const Drive *d);

/* The criterion that does not hold, for explanations; NULL when all do, and then *ret_link is as above. */
const Criterion *match_failing(const Match *m, const Drive *d, const DriveLink **ret_link);

/* Does it go by what only the drive itself can say: model, serial, firmware or WWN? */
bool match_needs_identity(const Match *m);

/* A rule for a class of drives, as against one that names its drives: by node, link, serial or WWN, without a glob. */
bool match_is_general(const Match *m);

/* Is every drive that `narrow` is for one that `wide` is for, as far as can be told from their texts? */
bool match_includes(const Match *wide, const Match *narrow);
