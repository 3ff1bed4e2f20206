/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <limits.h>
#include <stdio.h>

#include "stack.h"

char **names_free(char **names) {
        for (char **n = names; n && *n; n++)
                free(*n);
        free(names);
        return NULL;
}

bool names_contain(char *const *names, const char *name) {
        for (; names && *names; names++)
                if (streq(*names, name))
                        return true;
        return false;
}

/* Returns 1 when it is new. */
static int names_add(char ***names, const char *name) {
        size_t n = 0;
        char **p;

        if (names_contain(*names, name))
                return 0;

        while (*names && (*names)[n])
                n++;

        p = reallocarray(*names, n + 2, sizeof *p);
        if (!p)
                return -ENOMEM;
        *names = p;
        p[n + 1] = NULL;
        p[n] = strdup(name);
        return p[n] ? 1 : -ENOMEM;
}

/* The kernel names them after their disk (add_partition() in block/partitions/core.c). */
bool stack_is_partition(const char *classdir, const char *disk, const char *name) {
        char mark[PATH_MAX];

        /* A disk has some thirty other entries, and this is asked often. */
        if (strncmp(name, disk, strlen(disk)) != 0)
                return false;

        (void) snprintf(mark, sizeof mark, "%s/%s/%s/partition", classdir, disk, name);
        return access(mark, F_OK) >= 0;
}

/* Adds what `select` takes of classdir/name/sub. A missing directory has nothing in it. */
static int add_entries(const char *classdir, const char *name, const char *sub, bool partitions_only, char ***names) {
        _cleanup_free_ char *path = NULL;
        struct dirent *e;
        DIR *dir;
        int r = 0;

        if (asprintf(&path, "%s/%s/%s", classdir, name, sub) < 0)
                return -ENOMEM;

        dir = opendir(path);
        if (!dir)
                return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;

        while (r >= 0 && (e = readdir(dir))) {
                if (e->d_name[0] == '.' || (partitions_only && !stack_is_partition(classdir, name, e->d_name)))
                        continue;

                r = names_add(names, e->d_name);
        }

        (void) closedir(dir);
        return MIN(r, 0);
}

int stack_partitions(const char *classdir, const char *name, char ***ret) {
        _cleanup_(names_freep) char **names = NULL;
        int r;

        r = add_entries(classdir, name, "", true, &names);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(names);
        return 0;
}

int stack_above(const char *classdir, const char *name, char ***ret) {
        _cleanup_(names_freep) char **names = NULL;
        int r;

        /* The list is its own queue: what is appended is looked at in turn. Names are never added twice, so it ends. */
        for (size_t i = 0;; name = names[i++]) {
                r = add_entries(classdir, name, "", true, &names);
                if (r >= 0)
                        r = add_entries(classdir, name, "holders", false, &names);
                if (r < 0)
                        return r;

                if (!names || !names[i])
                        break;
        }

        *ret = TAKE_PTR(names);
        return 0;
}

/* sda1 -> sda, by the directory that the class link leads to: …/block/sda/sda1. */
static int partition_parent(const char *classdir, const char *name, char **ret) {
        _cleanup_free_ char *link = NULL, *real = NULL, *mark = NULL;
        char *slash;

        if (asprintf(&mark, "%s/%s/partition", classdir, name) < 0 || asprintf(&link, "%s/%s", classdir, name) < 0)
                return -ENOMEM;
        if (access(mark, F_OK) < 0)
                return 0;

        real = realpath(link, NULL);
        if (!real)
                return -errno;

        slash = strrchr(real, '/');
        *slash = '\0';
        slash = strrchr(real, '/');
        if (!slash)
                return -EINVAL;

        *ret = strdup(slash + 1);
        return *ret ? 1 : -ENOMEM;
}

int stack_disks_below(const char *classdir, const char *name, char ***ret) {
        _cleanup_(names_freep) char **seen = NULL, **disks = NULL;
        int r;

        r = names_add(&seen, name);
        if (r < 0)
                return r;

        for (size_t i = 0; seen[i]; i++) {
                _cleanup_(names_freep) char **slaves = NULL;
                _cleanup_free_ char *parent = NULL;

                r = partition_parent(classdir, seen[i], &parent);
                if (r < 0)
                        return r;
                if (parent) {
                        r = names_add(&seen, parent);
                        if (r < 0)
                                return r;
                        continue;
                }

                r = add_entries(classdir, seen[i], "slaves", false, &slaves);
                if (r < 0)
                        return r;
                if (!slaves)
                        r = names_add(&disks, seen[i]);
                for (char **s = slaves; r >= 0 && s && *s; s++)
                        r = names_add(&seen, *s);
                if (r < 0)
                        return r;
        }

        *ret = TAKE_PTR(disks);
        return 0;
}

bool stack_is_held(const char *classdir, const char *name) {
        _cleanup_(names_freep) char **holders = NULL;

        return add_entries(classdir, name, "holders", false, &holders) >= 0 && holders;
}

bool stack_hangs_on(const char *disk_syspath, const char *device_syspath) {
        _cleanup_free_ char *link = NULL, *target = NULL;
        const char *subsystem_end = strrchr(disk_syspath, '/'), *controller = strrchr(device_syspath, '/');
        size_t n = strlen(device_syspath);

        if (strncmp(disk_syspath, device_syspath, n) == 0 && disk_syspath[n] == '/')
                return true;
        if (!subsystem_end || !controller)
                return false;

        if (asprintf(&link, "%.*s%s", (int) (subsystem_end - disk_syspath), disk_syspath, controller) < 0) {
                link = NULL;
                return false;
        }
        target = realpath(link, NULL);
        return target && streq(target, device_syspath);
}

size_t stack_scsi_host(const char *syspath, const char **ret) {
        size_t found = 0;

        for (const char *p = syspath; (p = strstr(p, "/host")); p++) {
                size_t n = strlen("host"), digits = strspn(p + 1 + n, "0123456789");

                /* Others begin with that word, too: "host1x@50000000". */
                if (digits > 0 && p[1 + n + digits] == '/') {
                        found = n + digits;
                        *ret = p + 1;
                }
        }

        return found;
}
