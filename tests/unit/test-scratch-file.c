/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/eventfd.h>
#include <sys/stat.h>

#include "scratch-file.h"
#include "test-cli.h"

#define BLOCK 65536U

/* Nothing is twice in it, and it has no name. */
START_TEST(test_made) {
        static uint8_t first[BLOCK], later[BLOCK];
        struct stat st;
        int fd;

        fd = scratch_file_make(".", -EBADF);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(fstat(fd, &st), 0);
        ck_assert_int_eq(st.st_size, SCRATCH_FILE_SIZE);
        ck_assert_uint_eq(st.st_nlink, 0);
        ck_assert_int_eq(pread(fd, first, BLOCK, 0), BLOCK);
        for (off_t at = 1 << 20; at < (off_t) SCRATCH_FILE_SIZE; at *= 2) {
                ck_assert_int_eq(pread(fd, later, BLOCK, at), BLOCK);
                ck_assert_int_ne(memcmp(first, later, BLOCK), 0);
        }
        closep(&fd);
}
END_TEST

START_TEST(test_not_made) {
        int stop = eventfd(1, EFD_CLOEXEC);

        ck_assert_int_eq(scratch_file_make("missing", -EBADF), -ENOENT);
        ck_assert_int_eq(scratch_file_make(".", stop), -ECANCELED);
        closep(&stop);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("scratch-file");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_test(t, test_made);
        tcase_add_test(t, test_not_made);
        return test_main("scratch-file", t);
}
