/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A test directory that looks like sysfs, with one SATA or SCSI disk. Unlike the files of the kernel, the test's files
 * accept any text. */

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "drive.h"
#include "scratch.h"

#define SYSPATH "ata1/host0/target0:0:0/0:0:0:0/block/sda"
#define SYSFS_DISK "device/scsi_disk/0:0:0:0/"

static char root[64];

static inline void path_of(const char *path, char *ret) {
        snprintf(ret, PATH_MAX, "%s/" SYSPATH "/%s", root, path);
        if (strncmp(path, "device/../../", 13) == 0)
                snprintf(ret, PATH_MAX, "%s/ata1/host0/%s", root, path + 13);
        else if (strncmp(path, "device/", 7) == 0)
                snprintf(ret, PATH_MAX, "%s/ata1/host0/target0:0:0/0:0:0:0/%s", root, path + 7);
}

static inline void put_bytes(const char *path, const void *bytes, size_t size) {
        char name[PATH_MAX];
        FILE *f;

        path_of(path, name);
        make_parents(name);
        f = fopen(name, "w");
        ck_assert_ptr_nonnull(f);
        ck_assert_uint_eq(fwrite(bytes, 1, size, f), size);
        ck_assert_int_eq(fclose(f), 0);
}

/* Writes a line to a file. A text that begins with '!' makes the file read-only. */
static inline void put(const char *path, const char *text) {
        char line[PATH_MAX], name[PATH_MAX];

        put_bytes(path, line, (size_t) snprintf(line, sizeof line, "%s\n", text + (*text == '!')));
        path_of(path, name);
        if (*text == '!')
                ck_assert_int_eq(chmod(name, 0444), 0);
}

static inline void make_tree(Drive *d) {
        char path[PATH_MAX];

        strcpy(root, "/tmp/drivekeep-test-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(root));
        snprintf(path, sizeof path, "%s/" SYSPATH "/", root);
        make_parents(path);
        path[strlen(path) - 1] = '\0';
        d->syspath = strdup(path);
        snprintf(path, sizeof path, "%s/device", d->syspath);
        ck_assert_int_eq(symlink("../..", path), 0);
}

/* Makes a disk with this transport, and its directory tree. */
static inline void make_disk(Drive *d, Transport transport) {
        *d = (Drive){ .name = (char *) "sda", .node = (char *) "/dev/sda", .transport = transport, .rotational = true };
        make_tree(d);
}

static inline void drop_tree(Drive *d) {
        free(d->syspath);
        tree_remove(root);
}

static inline void check_text(const char *path, const char *expected) {
        char name[PATH_MAX], text[64] = "";
        FILE *f;

        path_of(path, name);
        f = fopen(name, "r");
        ck_assert_ptr_nonnull(f);
        ck_assert_ptr_nonnull(fgets(text, sizeof text, f));
        fclose(f);
        text[strcspn(text, "\n")] = '\0';
        ck_assert_str_eq(text, expected);
}
