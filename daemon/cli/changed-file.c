/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "changed-file.h"
#include "must.h"
#include "stack.h"

static bool has_number(const char *classdir, char *const *devices, const char *number) {
        for (; devices && *devices; devices++) {
                char text[32];
                unsigned major, minor;

                if (stack_number(classdir, *devices, &major, &minor) < 0)
                        continue;
                (void) snprintf(text, sizeof text, "%u:%u", major, minor);
                if (streq(text, number))
                        return true;
        }
        return false;
}

/* Returns true if the source of a mount is one of the devices. btrfs needs this test: its mounts have device numbers of their own. */
static bool is_source(char *const *devices, const char *source) {
        _cleanup_free_ char *path = realpath(source, NULL);

        return names_contain(devices, base_name(path ?: source));
}

/* Returns the first mount point of each whole file system in mountinfo (proc(5)). Omits mount points with blanks or with characters that
 * a shell interprets. Blanks are recognized by their backslash: mountinfo writes a blank as "\040". */
static char **mount_points(const char *mountinfo, const char *classdir, char *const *devices) {
        _cleanup_(names_freep) char **numbers = NULL;
        _cleanup_free_ char *line = NULL;
        char **points = NULL;
        size_t size = 0;
        FILE *f;

        f = fopen(mountinfo, "re");
        while (f && getline(&line, &size, f) > 0) {
                char number[32], root[PATH_MAX], point[PATH_MAX], source[PATH_MAX];
                const char *rest = strstr(line, " - ");

                if (!rest || sscanf(line, "%*s %*s %31s %4095s %4095s", number, root, point) != 3 ||
                    sscanf(rest, " - %*s %4095s", source) != 1 || point[strcspn(point, "\\'\"$`*?[;&|<>()#!~")] != '\0')
                        continue;
                if (starts_with(number, "0:") ? is_source(devices, source)
                                              : streq(root, "/") && has_number(classdir, devices, number) &&
                                                                !names_contain(numbers, number)) {
                        (void) must_not_fail(names_add(&numbers, number));
                        (void) must_not_fail(names_add(&points, point));
                }
        }
        if (f)
                (void) fclose(f);
        return points;
}

char *changed_file_command(const char *mountinfo, const char *classdir, const char *drive, const uint64_t *inodes,
                           size_t n_inodes) {
        _cleanup_(names_freep) char **devices = NULL, **points = NULL;
        char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        if (drive) {
                (void) must_not_fail(stack_above(classdir, drive, &devices));
                (void) must_not_fail(names_add(&devices, drive));
                points = mount_points(mountinfo, classdir, devices);
        }

        fputs("find", f);
        for (char **p = points; p && *p; p++)
                fprintf(f, " %s", *p);
        fputs(points ? " -xdev" : " MOUNTPOINT -xdev", f);
        for (size_t i = 0; i < n_inodes; i++)
                fprintf(f, "%s -inum %" PRIu64, i > 0 ? " -o" : "", inodes[i]);
        must_close(f);
        return text;
}
