/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When root opens a directory by its path, other users cannot redirect the path. In these tests, a directory that all users can write to
 * stands for a directory of another user. */

#include <fcntl.h>

#include "root-files.h"
#include "safe-file.h"
#include "scratch.h"
#include "suite.h"

uid_t geteuid(void) {
        return 0;
}

/* An attacker can write to "theirs", where the link "planted" leads to "etc", the target of the attack. Only root can
 * write to the other directories, including "theirs/roots". */
static void setup(void) {
        static const char *const directories[] = { "etc", "ours", "ours/deep", "theirs", "theirs/roots" };
        static const char *const links[][2] = {
                { "../etc", "theirs/planted" }, { "../etc", "theirs/roots/link" },
                { "theirs", "to-theirs" },      { "theirs/planted", "to-planted" },
                { "deep", "ours/link" },        { "to-ours", "twice" },
                { "ours", "to-ours" },          { "around", "around" },
                { "missing", "dangling" },      { "/proc/self/../self/cwd", "absolute" },
        };

        scratch_make();
        (void) umask(0022);
        for (size_t i = 0; i < ELEMENTSOF(directories); i++)
                ck_assert_int_eq(mkdir(directories[i], 0755), 0);
        ck_assert_int_eq(chmod("theirs", 0777), 0);
        for (size_t i = 0; i < ELEMENTSOF(links); i++)
                ck_assert_int_eq(symlink(links[i][0], links[i][1]), 0);
        ck_assert_int_eq(mknod("file", S_IFREG | 0644, 0), 0);
}

/* clang-format off */
static const struct { const char *path, *same; int r; } paths[] = {
        /* If only root owns the links in a path, the directory is opened. The directory itself may belong to another
         * user. */
        { "", "." }, { "/", "/" }, { ".", "." }, { "ours//deep/", "ours/deep" }, { "ours/link", "ours/deep" },
        { "twice/link/../deep", "ours/deep" }, { "theirs", "theirs" }, { "to-theirs", "theirs" }, { "theirs/roots", "theirs/roots" },
        { "absolute/ours", "ours" }, { "theirs/../etc", "etc" }, { "/proc/self/cwd", "." },
        /* A path through a link in "theirs" fails with -ELOOP, since the attacker may have made the link. */
        { "theirs/planted", .r = -ELOOP }, { "theirs/planted/.", .r = -ELOOP }, { "to-theirs/planted", .r = -ELOOP },
        { "to-planted", .r = -ELOOP },
        /* The link in "theirs/roots" is followed, since only root can write to "theirs/roots". */
        { "theirs/roots/link", "theirs/etc" },
        { "around", .r = -ELOOP }, { "dangling", .r = -ENOENT }, { "ours/none", .r = -ENOENT }, { "file", .r = -ENOTDIR },
        { "file/x", .r = -ENOTDIR },
};
/* clang-format on */

START_TEST(test_open) {
        _cleanup_close_ int fd = -EBADF;
        struct stat st, same;

        ck_assert_int_eq(mkdir("theirs/etc", 0755), 0);
        fd = directory_open(paths[_i].path);
        if (paths[_i].r < 0) {
                ck_assert_int_eq(fd, paths[_i].r);
                return;
        }
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(fstat(fd, &st), 0);
        ck_assert_int_eq(stat(paths[_i].same, &same), 0);
        ck_assert_uint_eq(st.st_ino, same.st_ino);
        ck_assert_uint_eq(st.st_dev, same.st_dev);
}
END_TEST

/* clang-format off */
static const struct { const char *path; int r; } files[] = {
        { "file", 1 }, { "ours/file", 1 }, { "ours/none", 1 }, { "none/none", 1 }, { "twice/link/../file", 1 }, { "/dev/null", 1 },
        { "ours", 1 }, { "", 1 }, { "dangling", 1 }, { "sticky/ours/file", 1 },
        { "theirs/file", 0 }, { "theirs/none", 0 }, { "to-theirs/file", 0 }, { "theirs/roots/file", 0 }, { "theirs/planted/file", 0 },
        { "to-planted", 0 }, { "theirs/roots/link", 0 }, { "theirs/../file", 0 }, { "sticky/file", 0 }, { "sticky/none", 0 },
        { "sticky/link/file", 0 }, { "to-none-of-theirs", 0 },
        { "around", -ELOOP }, { "file/x", -ENOTDIR },
};
/* clang-format on */

START_TEST(test_safe) {
        static const char make[] = "mkdir -p sticky/ours && chmod 1777 sticky && ln -s ../ours sticky/link && "
                                   "touch ours/file theirs/file theirs/roots/file sticky/file sticky/ours/file && "
                                   "ln -s theirs/none to-none-of-theirs";

        ck_assert_int_eq(system(make), 0);
        ck_assert_msg(path_is_safe(files[_i].path) == files[_i].r, "%s: %d", files[_i].path,
                      path_is_safe(files[_i].path));
}
END_TEST

START_TEST(test_long) {
        char name[NAME_MAX + 2] = "";

        memset(name, 'x', sizeof name - 1);
        ck_assert_int_eq(directory_open(name), -ENAMETOOLONG);
        name[NAME_MAX] = '\0';
        ck_assert_int_eq(directory_open(name), -ENOENT);
}
END_TEST

START_TEST(test_error) {
        ck_assert_str_eq(directory_error(-ENOENT), strerror(ENOENT));
        ck_assert_ptr_nonnull(strstr(directory_error(-ELOOP), "give the directory that the link leads to"));
}
END_TEST

int main(void) {
        Suite *s = suite_create("directory");
        TCase *tc = tcase_create("directory");

        tcase_add_checked_fixture(tc, setup, scratch_remove);
        tcase_add_loop_test(tc, test_open, 0, ELEMENTSOF(paths));
        tcase_add_loop_test(tc, test_safe, 0, ELEMENTSOF(files));
        tcase_add_test(tc, test_long);
        tcase_add_test(tc, test_error);
        suite_add_tcase(s, tc);
        return suite_run(s);
}
