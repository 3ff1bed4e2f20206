/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Declarations shared by the files that simulate the machine for transcripts (transcript-*.c). */

#include <sys/types.h>

#include "macro.h"

/* The linker redirects calls of the command to these functions (redirected_calls in meson.build). */
#define WRAPPED(type, name, ...)         \
        type __real_##name(__VA_ARGS__); \
        type __wrap_##name(__VA_ARGS__); \
        type __wrap_##name(__VA_ARGS__)

/* transcript-files.c: user who runs the command; this user's access to files is simulated. */
extern uid_t world_user;

/* transcript-journal.c: adds an entry ("TIME [COUNT] FIELD=VALUE..."). `comes`: the entry arrives during a later sd_journal_process().
 * Returns the error in the directive, or NULL. */
const char *journal_add(char *const *words, size_t n_words, bool comes);
void journal_reset(bool is_missing);
uint64_t journal_passed(void); /* the time until the last entry arrived, µs */
