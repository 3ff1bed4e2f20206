/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Memory allocation for import, conflicts, measure and cli. When memory runs out, the command prints an error and exits. This is safe
 * because the command only reads files and drives and writes to standard output. */

#include <err.h>
#include <stdio.h>

#include "macro.h"

static inline void *must(void *p) {
        if (!p)
                errx(EXIT_FAILURE, "out of memory");
        return p;
}

/* Exits if `r` is -ENOMEM; otherwise returns `r`. */
static inline int must_not_fail(int r) {
        if (r == -ENOMEM)
                (void) must(NULL);
        return r;
}

/* Exits if `r` is negative. For functions whose only error is -ENOMEM. */
static inline void must_work(int r) {
        if (r < 0)
                (void) must(NULL);
}

/* Like GREW(), but exits if memory ran out. */
#define must_grow(owner, name)             \
        do {                               \
                if (!GREW(owner, name))    \
                        (void) must(NULL); \
        } while (false)

/* Like asprintf(3), but returns the text, and exits if memory ran out. The caller frees the text. */
#define must_format(...)                                                         \
        ({                                                                       \
                char *_text;                                                     \
                (char *) must(asprintf(&_text, __VA_ARGS__) < 0 ? NULL : _text); \
        })

/* Returns the part of the path before the last '/'; "/" if the path has only the '/' at its start; "" if the path has no '/'. The caller
 * frees the text. */
static inline char *must_directory(const char *path) {
        size_t n = (size_t) (base_name(path) - path);

        return must(strndup(path, n > 1 ? n - 1 : n));
}

/* Closes a stream of open_memstream(3). The text is complete after the close. */
static inline void must_close(FILE *f) {
        if (fclose(f) != 0)
                (void) must(NULL);
}
