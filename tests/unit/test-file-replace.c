/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* file_replace() replaces the whole file or nothing, and leaves no other file in the directory. */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "safe-file.h"
#include "scratch.h"
#include "suite.h"

static int fd;

static void setup(void) {
        scratch_make();
        fd = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(fd, 0);
}

static void teardown(void) {
        closep(&fd);
        scratch_remove();
}

static void assert_file(const char *text) {
        _cleanup_close_ int file = openat(fd, "a", O_RDONLY | O_CLOEXEC);
        char read_text[64] = "";

        ck_assert_int_ge(file, 0);
        ck_assert_int_ge(read(file, read_text, sizeof read_text - 1), 0);
        ck_assert_str_eq(read_text, text);
}

static size_t count_entries(void) {
        DIR *d = opendir(scratch);
        size_t n = 0;

        while (readdir(d))
                n++;
        (void) closedir(d);
        return n - 2; /* without "." and ".." */
}

START_TEST(test_replace) {
        ck_assert_int_eq(file_replace(fd, "a", "first\n", false), 0);
        assert_file("first\n");
        ck_assert_int_eq(file_replace(fd, "a", "", true), 0);
        assert_file("");
        ck_assert_uint_eq(count_entries(), 1);
}
END_TEST

/* A symbolic link is replaced, not followed. An existing file at the path of the temporary file is replaced and not reused, since another
 * user may have that file open. */
START_TEST(test_links) {
        _cleanup_close_ int planted = -EBADF;

        ck_assert_int_eq(symlinkat("elsewhere", fd, "a"), 0);
        ck_assert_int_eq(file_replace(fd, "a", "x", false), 0);
        assert_file("x");
        ck_assert_int_eq(symlinkat("elsewhere", fd, "a.new~"), 0);
        ck_assert_int_eq(file_replace(fd, "a", "y", false), 0);
        assert_file("y");
        ck_assert_int_lt(faccessat(fd, "elsewhere", F_OK, 0), 0);

        planted = openat(fd, "a.new~", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        ck_assert_int_ge(planted, 0);
        ck_assert_int_eq(file_replace(fd, "a", "z", false), 0);
        ck_assert_int_eq(write(planted, "planted", 7), 7);
        assert_file("z");
        ck_assert_uint_eq(count_entries(), 1);
}
END_TEST

START_TEST(test_like) {
        struct stat like, st;

        ck_assert_int_eq(fstat(fd, &like), 0);
        like.st_mode = S_IFREG | 0600;
        ck_assert_int_eq(file_replace_like(fd, "a", "x", &like), 0);
        assert_file("x");
        ck_assert_int_eq(fstatat(fd, "a", &st, 0), 0);
        ck_assert_uint_eq(st.st_mode, S_IFREG | 0600);
        ck_assert_uint_eq(st.st_uid, like.st_uid);

        like.st_uid = (uid_t) -2;
        if (geteuid() != 0)
                ck_assert_int_eq(file_replace_like(fd, "a", "y", &like), -EPERM);
        else
                ck_assert_int_eq(file_replace_like(fd, "a", "y", &like), 0);
        assert_file(geteuid() != 0 ? "x" : "y");
        ck_assert_uint_eq(count_entries(), 1);
}
END_TEST

START_TEST(test_in_the_way) {
        ck_assert_int_eq(mkdirat(fd, "a", 0755), 0);
        ck_assert_int_eq(file_replace(fd, "a", "x", false), -EISDIR);
        ck_assert_uint_eq(count_entries(), 1);
        ck_assert_int_eq(file_replace(fd, "none/a", "x", false), -ENOENT);
        ck_assert_int_eq(mkdirat(fd, "b.new~", 0755), 0);
        ck_assert_int_eq(file_replace(fd, "b", "x", false), -EISDIR);
}
END_TEST

int main(void) {
        Suite *s = suite_create("file-replace");
        TCase *tc = tcase_create("file-replace");

        tcase_add_checked_fixture(tc, setup, teardown);
        tcase_add_test(tc, test_replace);
        tcase_add_test(tc, test_links);
        tcase_add_test(tc, test_like);
        tcase_add_test(tc, test_in_the_way);
        suite_add_tcase(s, tc);
        return suite_run(s);
}
