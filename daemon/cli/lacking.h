/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Settings that drives lack, that a rule for a class of drives wants, and that have a remedy: one line for each rule, whatever the
 * number of drives. Settings without a remedy are shown with -v only. */

#include "output.h"

typedef struct LackingLine {
        char *rule, *setting, *drive, *reason; /* of the first drive */
        size_t n_drives;
} LackingLine;

typedef struct Lacking {
        GROWING_ARRAY(LackingLine, items);
} Lacking;

void lacking_add(Lacking *l, const char *rule, const char *setting, const char *drive, const char *reason);
void lacking_tell(const Lacking *l, Output *o);
void lacking_done(Lacking *l);
