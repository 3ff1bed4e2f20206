/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <limits.h>
#include <stdio.h>

#include "attribute.h"
#include "stack.h"

char **names_free(char **names) {
        for (char **n = names; n && *n; n++)
                free(*n);
        free(names);
        return NULL;
}

bool names_contain(char *const *names, const char *name) {
        return names && str_in_set(name, (const char *const *) names);
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
        /* A disk has some thirty other entries, and this is asked often. */
        return starts_with(name, disk) && attribute_exists("%s/%s/%s/partition", classdir, disk, name);
}

/* Adds the entries of classdir/name/sub. A missing directory has nothing in it. */
static int add_entries(const char *classdir, const char *name, const char *sub, bool partitions_only, char ***names) {
        _cleanup_(directory_closep) DIR *dir = directory_open("%s/%s/%s", classdir, name, sub);
        const char *entry;
        int r = 0;

        if (!dir)
                return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;

        while (r >= 0 && (entry = directory_next(dir)))
                if (!partitions_only || stack_is_partition(classdir, name, entry))
                        r = names_add(names, entry);

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
        _cleanup_free_ char *real = NULL;
        char parent[PATH_MAX];

        if (!attribute_exists("%s/%s/partition", classdir, name))
                return 0;

        (void) snprintf(parent, sizeof parent, "%s/%s/..", classdir, name);
        real = realpath(parent, NULL);
        if (!real)
                return -errno;

        *ret = strdup(base_name(real));
        return *ret ? 1 : -ENOMEM;
}

int stack_disks_below(const char *classdir, const char *name, char ***ret) {
        _cleanup_(names_freep) char **seen = NULL, **disks = NULL;
        int r;

        r = names_add(&seen, name);
        for (size_t i = 0; r >= 0 && seen[i]; i++) {
                _cleanup_(names_freep) char **slaves = NULL;
                _cleanup_free_ char *parent = NULL;

                r = partition_parent(classdir, seen[i], &parent);
                if (r < 0)
                        return r;
                if (parent) {
                        r = names_add(&seen, parent);
                        continue;
                }

                r = add_entries(classdir, seen[i], "slaves", false, &slaves);
                if (r >= 0 && !slaves)
                        r = names_add(&disks, seen[i]);
                for (char **s = slaves; r >= 0 && s && *s; s++)
                        r = names_add(&seen, *s);
        }
        if (r < 0)
                return r;

        *ret = TAKE_PTR(disks);
        return 0;
}

bool stack_is_held(const char *classdir, const char *name) {
        _cleanup_(names_freep) char **holders = NULL;

        return add_entries(classdir, name, "holders", false, &holders) >= 0 && holders;
}

bool stack_hangs_on(const char *disk_syspath, const char *device_syspath) {
        const char *subsystem_end = strrchr(disk_syspath, '/'), *controller = strrchr(device_syspath, '/');
        _cleanup_free_ char *target = NULL;
        size_t n = strlen(device_syspath);
        char link[PATH_MAX];

        if (starts_with(disk_syspath, device_syspath) && disk_syspath[n] == '/')
                return true;
        if (!subsystem_end || !controller)
                return false;

        (void) snprintf(link, sizeof link, "%.*s%s", (int) (subsystem_end - disk_syspath), disk_syspath, controller);
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
