/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A program that applies a worker's sandbox to itself, and prints which files it can still open. The scenario "sandbox" runs the program
 * in a guest with Landlock.
 *     confined NODE SYSPATH PATH...
 * prints one line for each PATH: "r" or "-" for reading, then "w" or "-" for writing. If NODE is "-", the program applies
 * no sandbox. */

#include <fcntl.h>
#include <stdio.h>

#include "sandbox.h"

static char can(const char *path, int flags, char yes) {
        int fd = open(path, flags | O_NONBLOCK | O_CLOEXEC);

        if (fd < 0)
                return '-';
        (void) close(fd);
        return yes;
}

int main(int argc, char **argv) {
        _cleanup_free_ char *own = NULL;
        int r;

        if (argc < 4)
                return EXIT_FAILURE;

        if (!streq(argv[1], "-")) {
                own = strndup(argv[2], sandbox_own(argv[2]));
                r = own ? sandbox_worker(argv[1], NULL, own) : -ENOMEM;
                if (r < 0) {
                        fprintf(stderr, "cannot close the sandbox of %s, %s: %s\n", argv[1], own, strerror(-r));
                        return EXIT_FAILURE;
                }
        }

        for (int i = 3; i < argc; i++)
                printf("%c%c %s\n", can(argv[i], O_RDONLY, 'r'), can(argv[i], O_WRONLY, 'w'), argv[i]);
        return 0;
}
