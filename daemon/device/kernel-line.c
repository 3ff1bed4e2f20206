/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "kernel-line.h"

static FILE *file_close(FILE *f) {
        (void) fclose(f);
        return NULL;
}
DEFINE_CLEANUP(FILE *, file_close);

const char *kernel_line_forbids(const char *path) {
        static const char *const words[] = { "drivekeep=0", "drivekeep=no", "drivekeep=off", "nohdparm" };
        _cleanup_(file_closep) FILE *f = NULL;
        char *word;

        f = fopen(path, "re");
        if (!f)
                return NULL;

        while (fscanf(f, "%ms", &word) == 1) {
                _cleanup_free_ char *w = word;

                for (size_t i = 0; i < ELEMENTSOF(words); i++)
                        if (streq(w, words[i]))
                                return words[i];
        }

        return NULL;
}
