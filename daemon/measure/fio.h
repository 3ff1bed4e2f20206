/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* fio(1), which does the reading and the timing. It is asked for JSON. */

#include "macro.h"

struct json_object;

/* Is it installed? */
bool fio_is_installed(void);

/* Runs fio with these arguments (NULL at the end, the first is its name), and waits until it has ended. *ret is what it has told, for
 * json_object_put(). -ECANCELED: `stop_fd` has become readable, fio was told to end, and what it told is not used; one that has not ended
 * then, for want of an answer of the drive's, is left behind. -EIO: it has failed, and *ret_complaint says how, in its own words or the
 * kernel's; the caller frees that. */
int fio_run(char *const *arguments, int stop_fd, struct json_object **ret, char **ret_complaint);

/* A number of its first job; `path` is as in Figure. NAN: there is none. */
double fio_number(struct json_object *told, const char *path);
