/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Memory for import, conflicts, measure and cli. Where there is none left the command says so and ends: all that it does itself is to read
 * files and drives, and to write to standard output. */

#include <err.h>
#include <stdio.h>

#include "macro.h"

static inline void *must(void *p) {
        if (!p)
                errx(EXIT_FAILURE, "out of memory");
        return p;
}

/* What a function returns that may return -ENOMEM, when it returns something else. */
static inline int must_not_fail(int r) {
        if (r == -ENOMEM)
                (void) must(NULL);
        return r;
}

/* For what fails for want of memory alone. */
static inline void must_work(int r) {
        if (r < 0)
                (void) must(NULL);
}

/* GREW(); ends the command if it is false. */
#define must_grow(owner, name)             \
        do {                               \
                if (!GREW(owner, name))    \
                        (void) must(NULL); \
        } while (false)

/* asprintf(3); the caller frees what it returns. */
#define must_format(...)                                                         \
        ({                                                                       \
                char *_text;                                                     \
                (char *) must(asprintf(&_text, __VA_ARGS__) < 0 ? NULL : _text); \
        })

/* What stands before the last '/', but for the root itself; "": there is none. The caller frees it. */
static inline char *must_directory(const char *path) {
        size_t n = (size_t) (base_name(path) - path);

        return must(strndup(path, n > 1 ? n - 1 : n));
}

/* A stream of open_memstream(3), of which the text is whole then. */
static inline void must_close(FILE *f) {
        if (fclose(f) != 0)
                (void) must(NULL);
}
