/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "attribute.h"
#include "kernel-line.h"

/* No architecture's line is longer (COMMAND_LINE_SIZE). */
#define LINE_SIZE 4097

const char *kernel_line_forbids(const char *path) {
        static const char *const words[] = { "drivekeep=0", "drivekeep=no", "drivekeep=off", "nohdparm" };
        char line[LINE_SIZE], *rest = line, *word;

        if (attribute_read(line, sizeof line, "%s", path) < 0)
                return NULL;

        while ((word = strsep(&rest, " \t")))
                for (size_t i = 0; i < ELEMENTSOF(words); i++)
                        if (streq(word, words[i]))
                                return words[i];

        return NULL;
}
