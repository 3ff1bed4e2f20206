/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The program through which people read what does not fit on their terminal: less(1), as with systemctl(1). */

#include "verb.h"

/* Calls verb->run(), and shows what it prints in a pager where that is of use. Returns as it does, when the
 * pager has ended. What it prints on stderr is not held back. */
int pager_run(const Verb *verb, const Options *o);
