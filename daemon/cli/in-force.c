/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>

#include "config.h"
#include "in-force.h"
#include "output.h"
#include "settings.h"

static char *read_in_force(const char *state_dir) {
        _cleanup_close_ int fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char *text = NULL;
        size_t size;

        if (fd < 0 || !record_directory_is_locked(fd) ||
            must_not_fail(record_file_read(fd, CONFIG_IN_FORCE_FILE, TEXT_FILE_MAX, &text, &size)) < 0)
                return NULL;
        return text;
}

/* Can this user read all files? The service may read others. */
static bool may_read(const Config *c) {
        for (const Complaint *x = c->complaints.items; x < c->complaints.items + c->complaints.n_items; x++)
                if (x->line == 0 && access(x->file, R_OK) < 0 && errno == EACCES)
                        return false;
        return true;
}

static void tell_errors(const Config *c, bool changed) {
        const Complaint *x = c->complaints.items;
        size_t n = c->complaints.n_errors;

        while (x->level != COMPLAINT_ERROR)
                x++;
        warn_complaint(x);
        if (changed)
                warnx("the configuration has %zu error%s and is not in force: what the service read before stays in force; "
                      "'drivekeep check' names all",
                      n, n == 1 ? "" : "s");
        else
                warnx("the configuration has %zu error%s, and %s not in force; 'drivekeep check' names all", n,
                      n == 1 ? "" : "s", n == 1 ? "the part in error is" : "the parts in error are");
}

void in_force_tell(const char *state_dir, const char *const *roots) {
        static const char *const news[] = {
                [CONFIG_CHANGED] = "has changed since drivekeep.service read it, and is not in force",
                [CONFIG_NEW] = "was not there when drivekeep.service read its files, and is not in force",
                [CONFIG_GONE] = "is not there any more, and is still in force",
        };
        _cleanup_free_ char *in_force = read_in_force(state_dir), *file = NULL;
        _cleanup_(config_freep) Config *c = NULL;
        int r;

        if (!in_force)
                return;
        must_work(config_new(&c));
        must_work(config_load(c, &all_settings, roots));
        if (!may_read(c))
                return;

        r = must_not_fail(config_compare_in_force(c, in_force, &file));
        if (r < 0)
                return;
        if (c->complaints.n_errors > 0)
                tell_errors(c, r != CONFIG_SAME);
        else if (r != CONFIG_SAME)
                warn_escaped("%s %s until 'drivekeep reload'", file, news[r]);
}
