/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Between the parts of the machine that transcripts play on. */

#include <sys/types.h>

#include "macro.h"

/* The linker leads calls of the command to these (redirected_calls in meson.build). */
#define WRAPPED(type, name, ...)         \
        type __real_##name(__VA_ARGS__); \
        type __wrap_##name(__VA_ARGS__); \
        type __wrap_##name(__VA_ARGS__)

/* transcript-files.c: who runs the command, which decides what may be read. */
extern uid_t world_user;

/* transcript-journal.c: an entry ("TIME [COUNT] FIELD=VALUE..."), which may come only while somebody waits. Returns what is wrong with it;
 * NULL: nothing. */
const char *journal_add(char *const *words, size_t n_words, bool comes);
void journal_reset(bool is_missing);
