/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A "checked fixture" of the library Check. Each test starts in a new working directory, `scratch`. */

#include <check.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "macro.h"

static _unused_ char scratch[] = "/tmp/drivekeep-test-XXXXXX";

static inline _unused_ void scratch_make(void) {
        /* Makes the name a template again: without fork (CK_FORK=no), one process runs several tests. */
        strcpy(scratch + strlen(scratch) - 6, "XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(scratch));
        ck_assert_int_eq(chdir(scratch), 0);
}

/* Makes the parent directories of a file, in the scratch directory or elsewhere. */
static inline _unused_ void make_parents(const char *path) {
        char copy[PATH_MAX];

        ck_assert_int_lt(snprintf(copy, sizeof copy, "%s", path), (int) sizeof copy);
        for (char *p = copy + 1; (p = strchr(p, '/')); p++) {
                *p = '\0';
                ck_assert(mkdir(copy, 0755) == 0 || errno == EEXIST);
                *p = '/';
        }
}

static inline int scratch_remove_one(const char *path, _unused_ const struct stat *st, _unused_ int type,
                                     _unused_ struct FTW *ftw) {
        return remove(path);
}

/* Removes a directory and its content. */
static inline _unused_ void tree_remove(const char *path) {
        ck_assert_int_eq(nftw(path, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static inline _unused_ void scratch_remove(void) {
        tree_remove(scratch);
}
