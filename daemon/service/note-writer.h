/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A process that brings one file to stable storage, or removes it, and ends: its exit status is 0 or an errno. */

#include "macro.h"

/* The file holds either what it held before or all of `text`, and when the process has ended well, `text`, whatever happens to the
 * machine; `text` NULL: it has gone then, and does not come back. */
int note_writer_start(const char *dir, const char *name, const char *text, pid_t *ret);

/* Waits for the end of the process, until this time of CLOCK_MONOTONIC at most: then -ETIMEDOUT. */
int note_writer_wait(pid_t pid, uint64_t until_usec);
