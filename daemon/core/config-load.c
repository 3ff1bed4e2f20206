/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <stdio.h>

#include "config.h"
#include "safe-file.h"

#define MAIN_FILE "drivekeep/drivekeep.conf"
#define DIRECTORY "drivekeep"

#define complain_file(c, path, ...) complain(&(c)->complaints, COMPLAINT_ERROR, path, 0, 0, __VA_ARGS__)

/* Returns the path of `name` below the root. NULL: out of memory. */
static char *path_below(const char *root, const char *name) {
        char *path;

        return asprintf(&path, "%s/%s", root, name) < 0 ? NULL : path;
}

/* Returns 1 if the files in the directory can be trusted; otherwise complains and returns the result of complain(). */
static int check_directory(Config *c, const char *root, const char *name) {
        _cleanup_free_ char *path = path_below(root, name);
        int r;

        if (!path)
                return -ENOMEM;

        r = directory_is_safe(path);
        if (r > 0)
                return r;
        if (complaints_have_error(&c->complaints, path))
                return 0;

        errno = -r;
        return complain_file(
                        c, path,
                        r < 0 ? "the directory cannot be read: %m"
                              : "other users can write to this directory, so its files are not read; make it safe with "
                                "chown root and chmod go-w");
}

int config_load_file(Config *c, const SettingTable *t, const char *path) {
        _cleanup_free_ char *text = NULL;
        const char *objection;
        size_t size;
        int r;

        r = text_file_read(path, &text, &size, &objection);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                errno = -r;
                return complain_file(c, path, "the file cannot be read: %m");
        }
        if (r > 0)
                return complain_file(c, path, "%s", objection);

        return config_parse(c, t, path, text, size);
}

static bool is_draft(const ConfigDraft *draft, const char *path) {
        return draft && streq(draft->path, path);
}

static int load_one(Config *c, const SettingTable *t, const char *path, const ConfigDraft *draft) {
        return is_draft(draft, path) ? config_parse(c, t, path, draft->text, draft->size)
                                     : config_load_file(c, t, path);
}

/* Reads the main file of the first root that has one: /etc comes before /run and /usr/lib. */
static int load_main(Config *c, const SettingTable *t, const char *const *roots, const ConfigDraft *draft) {
        for (; *roots; roots++) {
                _cleanup_free_ char *path = path_below(*roots, MAIN_FILE);
                struct stat st;

                if (!path)
                        return -ENOMEM;

                if (is_draft(draft, path) || lstat(path, &st) >= 0) {
                        int r = check_directory(c, *roots, DIRECTORY);

                        return r <= 0 ? r : load_one(c, t, path, draft);
                }
                if (errno != ENOENT && errno != ENOTDIR)
                        return complain_file(c, path, "the file cannot be read: %m");
        }

        return 0;
}

typedef struct DropIns {
        GROWING_ARRAY(char *, paths);
} DropIns;

static void drop_ins_done(DropIns *d) {
        for (size_t i = 0; i < d->n_paths; i++)
                free(d->paths[i]);
        free(d->paths);
}

/* Inserts a drop-in into the list, which is sorted by name. If the list already has a drop-in of this name, that
 * drop-in is from an earlier root, such as /etc, and masks the new one. */
static int drop_ins_add(DropIns *d, const char *directory, const char *name) {
        size_t i = 0;
        char *path;

        while (i < d->n_paths && strcmp(base_name(d->paths[i]), name) < 0)
                i++;
        if (i < d->n_paths && streq(base_name(d->paths[i]), name))
                return 0;
        if (!GREW(d, paths) || asprintf(&path, "%s/%s", directory, name) < 0)
                return -ENOMEM;

        memmove(d->paths + i + 1, d->paths + i, (d->n_paths++ - i) * sizeof(char *));
        d->paths[i] = path;
        return 0;
}

bool config_is_drop_in(const char *name) {
        return *name != '.' && !strchr(name, '/') && ends_with(name, ".conf");
}

static int is_drop_in(const struct dirent *entry) {
        return config_is_drop_in(entry->d_name);
}

static int find_drop_ins(Config *c, const char *root, const ConfigDraft *draft, DropIns *found) {
        _cleanup_free_ char *directory = path_below(root, CONFIG_DROP_IN_DIRECTORY), *drafted = NULL;
        _cleanup_free_ struct dirent **entries = NULL;
        int n, r = 0;

        if (!directory)
                return -ENOMEM;
        if (draft) {
                drafted = path_below(directory, base_name(draft->path));
                if (!drafted)
                        return -ENOMEM;
                if (streq(drafted, draft->path))
                        r = drop_ins_add(found, directory, base_name(draft->path));
        }
        if (r < 0 || (access(directory, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR)))
                return r;
        /* Check the parent directory, too: a user who can write to it could replace the directory of drop-ins. */
        r = check_directory(c, root, DIRECTORY);
        if (r > 0)
                r = check_directory(c, root, CONFIG_DROP_IN_DIRECTORY);
        if (r <= 0)
                return r;

        n = scandir(directory, &entries, is_drop_in, NULL);
        if (n < 0 && errno == ENOMEM)
                return -ENOMEM;
        if (n < 0)
                return complain_file(c, directory, "the directory cannot be read: %m");

        r = 0;
        for (int i = 0; i < n; i++) {
                r = r < 0 ? r : drop_ins_add(found, directory, entries[i]->d_name);
                free(entries[i]);
        }
        return r;
}

int config_load_draft(Config *c, const SettingTable *t, const char *const *roots, const ConfigDraft *draft) {
        _cleanup_(drop_ins_done) DropIns found = {};
        int r;

        r = load_main(c, t, roots, draft);
        if (r < 0)
                return r;

        for (; *roots; roots++) {
                r = find_drop_ins(c, *roots, draft, &found);
                if (r < 0)
                        return r;
        }

        for (size_t i = 0; i < found.n_paths; i++) {
                r = load_one(c, t, found.paths[i], draft);
                if (r < 0)
                        return r;
        }

        return 0;
}

int config_load(Config *c, const SettingTable *t, const char *const *roots) {
        return config_load_draft(c, t, roots, NULL);
}
