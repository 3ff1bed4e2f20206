/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <sys/stat.h>

#include "safe-file.h"
#include "draft.h"
#include "output.h"
#include "settings.h"

char *draft_path(const Options *o, const char *name) {
        if (config_is_drop_in(name))
                return must_format("%s/" CONFIG_DROP_IN_DIRECTORY "/%s", o->roots[0], name);

        warn_escaped("'%s' is not the name of a drop-in: the name must end with .conf, must not begin with '.', and must not have a directory",
                     name);
        return NULL;
}

static bool sets_setting(const Config *c, const Assignment *a) {
        for (const Block *b = c->blocks; b < c->blocks + c->n_blocks; b++)
                if (block_find(b, a->name, a->on_battery))
                        return true;
        return false;
}

/* Returns true if the complaint is about a setting of the draft that `fresh` does not set. */
static bool is_old_setting(const Config *c, const Complaint *x, const Config *fresh) {
        for (const Block *b = c->blocks; b < c->blocks + c->n_blocks; b++)
                for (const Assignment *a = b->assignments; a < b->assignments + b->n_assignments; a++)
                        if (streq(b->file, x->file) && a->line == x->line)
                                return !sets_setting(fresh, a);
        return false;
}

int draft_check(const char *const *roots, const ConfigDraft *draft, const Config *fresh, Config **ret) {
        _cleanup_(config_freep) Config *c = NULL;
        int status;

        must_work(config_new(&c));
        must_work(config_load_draft(c, &all_settings, roots, draft));
        must_work(config_check(c, &all_settings));
        must_work(config_check_names(c, NULL, 0));

        for (size_t i = 0; i < c->complaints.n_items; i++) {
                const Complaint *x = c->complaints.items + i;

                if (x->level == COMPLAINT_ERROR ||
                    (streq(x->file, draft->path) && !(fresh && is_old_setting(c, x, fresh))))
                        warn_complaint(x);
        }

        status = c->complaints.n_errors > 0 ? EXIT_BAD_INPUT : EXIT_WANTED;
        *ret = TAKE_PTR(c);
        return status;
}

/* ---- writing ---- */

/* Creates the directory of `path`, and its parent, if they do not exist. Returns a descriptor of the directory, or a negative errno:
 * -EPERM if other users can replace files in the directory. */
static int open_directory(const char *path) {
        _cleanup_free_ char *directory = must_directory(path), *above = must_directory(directory);
        int fd;

        if (path_is_safe(path) <= 0)
                return -EPERM;
        if ((mkdir(above, 0755) < 0 && errno != EEXIST) || (mkdir(directory, 0755) < 0 && errno != EEXIST))
                return -errno;

        fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

int draft_write(const char *path, const char *text) {
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (!text && unlink(path) >= 0)
                return EXIT_WANTED;
        if (!text && errno == ENOENT)
                return EXIT_WANTED;
        r = text ? open_directory(path) : -errno;
        if (r >= 0) {
                fd = r;
                r = must_not_fail(file_replace(fd, base_name(path), text, true));
        }
        if (r >= 0)
                return EXIT_WANTED;

        warn_escaped("%s cannot be %s: %s", path, text ? "written" : "removed",
                     r == -EPERM ? DRAFT_UNSAFE : strerror(-r));
        return EXIT_BAD_INPUT;
}
