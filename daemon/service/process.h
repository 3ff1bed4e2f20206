/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who a process is, and what of a drive is swap space: from /proc and sysfs. */

#include "waker.h"

/* A ProcessLookup. */
int process_look(void *userdata, pid_t tid, WakeProcess *ret, bool *ret_kernel);

/* The same below another directory than /proc, and without systemd's unit. Exported for tests. */
int process_look_at(const char *proc, pid_t tid, WakeProcess *ret, bool *ret_kernel);

/* Which sectors of the drive, and which devices that lie on it, are swap space now. `swaps`: /proc/swaps; `classdir`: as in
 * stack.h. */
void process_find_swap(const char *swaps, const char *classdir, Watch *w);
