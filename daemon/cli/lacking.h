/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What drives lack that a rule for a class of them wants, where something can be done about it: a line for each rule, however many drives
 * it is for. What nothing can be done about is shown with -v only. */

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
