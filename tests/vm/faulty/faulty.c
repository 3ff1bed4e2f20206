/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* faulty overflow|leak|undefined: makes one fault that a sanitizer must report. The scenario "sanitized" runs this program in place
 * of drivekeepd, to show that a report from inside the units' sandboxes reaches the journal. */

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void *volatile memory;

int main(int argc, char *argv[]) {
        volatile int large = INT_MAX;

        if (argc != 2)
                return EXIT_FAILURE;

        memory = malloc(16);
        if (strcmp(argv[1], "overflow") == 0)
                ((volatile char *) memory)[16] = 1;
        if (strcmp(argv[1], "leak") == 0)
                memory = NULL;
        if (strcmp(argv[1], "undefined") == 0)
                large++;
        free(memory);
        return EXIT_SUCCESS;
}
