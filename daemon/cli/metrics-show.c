/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <err.h>

#include "config.h"
#include "inventory.h"
#include "metrics.h"
#include "outlet.h"
#include "output.h"
#include "safe-file.h"
#include "settings.h"
#include "stack.h"

static size_t count_errors(const Options *o) {
        _cleanup_(config_freep) Config *c = NULL;

        must_work(config_new(&c));
        must_work(config_load(c, &all_settings, o->roots));
        must_work(config_check(c, &all_settings));
        return c->complaints.n_errors;
}

/* The drive below this directory that sleeps; NULL: none does, or nobody knows which drives are below it (btrfs, ZFS). */
static const char *find_sleeping(const Records *records, int dir_fd) {
        _cleanup_(names_freep) char **disks = NULL;
        _cleanup_free_ char *device = NULL;
        struct stat st;

        if (fstat(dir_fd, &st) < 0 || must_not_fail(stack_name(st.st_dev, &device)) < 0)
                return NULL;
        (void) must_not_fail(stack_disks_below(INVENTORY_CLASSDIR, device, &disks));
        for (size_t i = 0; disks && i < records->n_items; i++)
                if (names_contain(disks, records->items[i]->name) && drive_record_sleeps(records->items[i]))
                        return records->items[i]->name;
        return NULL;
}

static int write_file(const Records *records, const char *text, const Options *o) {
        const char *path = o->output;
        _cleanup_free_ char *parent = must_directory(path);
        _cleanup_close_ int fd = directory_open(parent);
        const char *sleeping = find_sleeping(records, fd);
        int r;

        if (sleeping) {
                /* Where this is told to the journal, that may be on the same drive. */
                if (!o->quiet)
                        warn_escaped("%s stays as it is until %s is awake, as that is the drive it is on", path,
                                     sleeping);
                return EXIT_WANTED;
        }
        r = fd < 0 ? fd : must_not_fail(file_replace(fd, base_name(path), text, false));
        if (r == -ENOENT) {
                warn_escaped("%s cannot be written, as " OUTLET_NO_DIRECTORY, path, parent);
                return EXIT_BAD_INPUT;
        }
        if (r < 0) {
                warn_escaped("%s cannot be written: %s", path, directory_error(r));
                return EXIT_BAD_INPUT;
        }
        return EXIT_WANTED;
}

int metrics_show(const Records *records, size_t n, const Options *o) {
        _cleanup_free_ char *text = metrics_format(records, n, count_errors(o));

        if (o->output)
                return write_file(records, text, o);
        (void) fputs(text, stdout);
        return EXIT_WANTED;
}
