/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A process that brings files to stable storage, or removes them, and ends: its exit status is 0 or an errno. */

#include "macro.h"

#define NOTE_FILES_MAX 64U

typedef struct NoteFile {
        const char *name;
        const char *text; /* NULL: it is to be removed */
        bool moved; /* … but only when all the texts that come with it are on stable storage: one of them was its own */
} NoteFile;

/* It begins when the process `after` has ended (0: at once). Each file with a text holds either what it held before or all of
 * `text`, and when the process has ended well, `text`, whatever happens to the machine; or has gone, and does not come back. It ends well
 * when that is so of all of them; at most NOTE_FILES_MAX. */
int note_writer_start(const char *dir, const NoteFile *files, size_t n, pid_t after, pid_t *ret);

/* Waits for the end of the process, until this time of CLOCK_MONOTONIC at most: then -ETIMEDOUT. */
int note_writer_wait(pid_t pid, uint64_t until_usec);
