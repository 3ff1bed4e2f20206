/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Spinning a drive down at once: the functions of the rows `standby`, by the row's backend. */

#include "device.h"

/* Asks the drive whether it sleeps, and nothing else. */
int standby_read(Device *d, const Setting *s, Reading *ret);

/* A drive reports only whether it is in standby, so "resume" is compared as "on". */
int standby_localize(Device *d, const Setting *s, Value *v);

/* END_DEFERRED: the drive is at something that this would end, and the command was not sent. */
int standby_write(Device *d, const Setting *s, const Value *v);

/* Has the drive spin up, and waits until it has, whether or not it sleeps. It is asked before and after that (power_look()); one that
 * does not say, or that the kernel has suspended, is left as it is. */
int standby_leave(Device *d, Backend by);
