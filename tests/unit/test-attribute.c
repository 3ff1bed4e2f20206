/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads attribute files in a scratch directory. */

#include <limits.h>

#include "attribute.h"
#include "test-cli.h"

static char too_long[PATH_MAX + 1];

static void setup(void) {
        scratch_make();
        file_write("lines", "one\ntwo\n");
        file_write("bare", "one");
        file_write("empty", "");
        ck_assert_int_eq(symlink("loop", "loop"), 0);
        ck_assert_int_eq(mkdir("dir", 0755), 0);
        (void) memset(too_long, 'x', PATH_MAX);
}

static const struct {
        const char *path;
        size_t size;
        int r;
        const char *first, *all;
} reads[] = {
        { "lines", 16, 0, "one", "one\ntwo\n" },
        { "lines", 9, 0, "one", "one\ntwo\n" },
        { "lines", 8, 0, "one", "one\ntwo" },
        { "lines", 3, 0, "on", "on" },
        { "lines", 1, 0, "", "" },
        { "bare", 16, 0, "one", "one" },
        { "empty", 16, 0, "", "" },
        { "missing", 16, -ENOENT, "", "" },
        { "lines/x", 16, -ENOTDIR, "", "" },
        { "dir", 16, -EISDIR, "", "" },
        { too_long, 16, -ENAMETOOLONG, "", "" },
};

START_TEST(test_read) {
        char text[16];

        (void) memset(text, '#', sizeof text);
        ck_assert_int_eq(attribute_read(text, reads[_i].size, "%s", reads[_i].path), reads[_i].r);
        ck_assert_str_eq(text, reads[_i].first);
        (void) memset(text, '#', sizeof text);
        ck_assert_int_eq(attribute_read_all(text, reads[_i].size, "%s", reads[_i].path), reads[_i].r);
        ck_assert_str_eq(text, reads[_i].all);
        /* The byte after the buffer is unchanged. */
        ck_assert(reads[_i].size == sizeof text || text[reads[_i].size] == '#');
}
END_TEST

static const struct {
        const char *pattern;
        int r;
        size_t n;
} globs[] = {
        { "{lines,bare}", 0, 2 }, { "*e*", 0, 3 },   { "none*", 0, 0 },     { "none/*", 0, 0 },
        { "lines/*", 0, 0 },      { "dir/*", 0, 0 }, { "loop/*", -EIO, 0 }, { too_long, -ENAMETOOLONG, 0 },
};

START_TEST(test_glob) {
        glob_t found;

        ck_assert_int_eq(attribute_glob(&found, "%s", globs[_i].pattern), globs[_i].r);
        ck_assert_uint_eq(found.gl_pathc, globs[_i].n);
        globfree(&found);
        ck_assert(attribute_exists("%s", globs[_i].pattern) == (globs[_i].n > 0));
}
END_TEST

int main(void) {
        TCase *t = tcase_create("attribute");

        tcase_add_checked_fixture(t, setup, scratch_remove);
        tcase_add_loop_test(t, test_read, 0, ELEMENTSOF(reads));
        tcase_add_loop_test(t, test_glob, 0, ELEMENTSOF(globs));
        return test_main("attribute", t);
}
