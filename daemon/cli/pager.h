/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Shows long output in a pager, less(1) by default, like systemctl(1). */

#include "verb.h"

/* Calls verb->run() and shows its output in a pager if stdout is a terminal. Returns the result of run() after the pager has ended.
 * Output on stderr bypasses the pager. */
int pager_run(const Verb *verb, const Options *o);
