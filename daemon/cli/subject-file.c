/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <err.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "output.h"
#include "scratch-file.h"
#include "stack.h"
#include "subject.h"

/* Is it on this drive, and on no other? */
static bool is_on_drive(const Subject *s, const char *device) {
        _cleanup_(names_freep) char **above = NULL, **below = NULL;

        (void) must_not_fail(stack_above(INVENTORY_CLASSDIR, s->drive->name, &above));
        (void) must_not_fail(stack_disks_below(INVENTORY_CLASSDIR, device, &below));
        if (!streq(device, s->drive->name) && !names_contain(above, device))
                return false;
        for (char **disk = below; disk && *disk; disk++)
                if (!names_contain(s->names, *disk))
                        return false;
        return true;
}

/* What is wrong with the directory of --file; a sentence. NULL: nothing. btrfs has numbers of its own, so that it is believed. */
static char *find_fault(const Subject *s, const char *directory) {
        _cleanup_free_ char *device = NULL;
        struct statfs fs;
        struct stat st;

        if (stat(directory, &st) < 0 || !S_ISDIR(st.st_mode) || statfs(directory, &fs) < 0)
                return must_format("'%s' is no directory: --file wants one that is on %s", directory, s->drive->name);
        if (fs.f_type == BTRFS_SUPER_MAGIC)
                return NULL;

        if (must_not_fail(stack_name(st.st_dev, &device)) < 0)
                return must_format("'%s' is on no drive that can be told: --file wants a directory on %s", directory,
                                   s->drive->name);
        if (!is_on_drive(s, device))
                return must_format("'%s' is not on %s alone, so what is written there says nothing about it", directory,
                                   s->drive->name);
        return NULL;
}

int subject_make_file(Subject *s) {
        const char *directory = s->options->file;
        _cleanup_free_ char *fault = directory ? find_fault(s, directory) : NULL;
        int r;

        if (!directory)
                return EXIT_WANTED;
        if (fault) {
                warn_escaped("%s", fault);
                return EXIT_BAD_INPUT;
        }

        r = scratch_file_make(directory, s->stop_fd);
        if (r < 0 && r != -ECANCELED) {
                warn_escaped("no file of %llu MiB can be written in '%s': %s", SCRATCH_FILE_SIZE >> 20, directory,
                             strerror(-r));
                return EXIT_BAD_INPUT;
        }
        s->file = r;
        return EXIT_WANTED;
}
