/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "config-dump.h"
#include "safe-file.h"
#include "scratch.h"
#include "suite.h"

static char roots_text[3][64];
static const char *roots[] = { roots_text[0], roots_text[1], roots_text[2], NULL };

static void setup(void) {
        scratch_make();
        for (size_t i = 0; i < 3; i++)
                (void) snprintf(roots_text[i], sizeof roots_text[i], "%s/%zu", scratch, i);
}

/* Creates the parent directories of the configuration file `name` below roots[root], and returns its path. */
static const char *place(unsigned root, const char *name) {
        static char path[256];

        (void) snprintf(path, sizeof path, "%s/%u/drivekeep/%s", scratch, root, name);
        make_parents(path);
        return path;
}

/* Writes a configuration file that sets apm, and returns its path. */
static const char *write_file(unsigned root, const char *name, unsigned apm) {
        const char *path = place(root, name);
        FILE *f = fopen(path, "we");

        ck_assert_ptr_nonnull(f);
        fprintf(f, "drives = ({ match = {}; apm = %u });\n", apm);
        ck_assert_int_eq(fclose(f), 0);
        ck_assert_int_eq(chmod(path, 0644), 0);

        return path;
}

/* Asserts that the files below the roots set apm to `values`, in the order of reading. */
static void assert_read(const char *values, size_t n_complaints) {
        _cleanup_(config_freep) Config *c = NULL;
        char text[128] = "";
        size_t used = 0;

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_load(c, &fake_table, roots), 0);
        for (size_t i = 0; i < c->n_blocks; i++)
                used += snprintf(text + used, sizeof text - used, "%s%d", i > 0 ? " " : "",
                                 (int) c->blocks[i].assignments[0].value.number);
        ck_assert_str_eq(text, values);
        ck_assert_uint_eq(c->complaints.n_items, n_complaints);
}

static void assert_refused(const char *path, const char *contains) {
        _cleanup_(config_freep) Config *c = NULL;
        _cleanup_free_ char *s = NULL;

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_load_file(c, &fake_table, path), 0);
        ck_assert_uint_eq(c->n_blocks, 0);
        ck_assert_uint_eq(c->complaints.n_items, 1);
        ck_assert_uint_eq(c->complaints.n_errors, 1);
        ck_assert_str_eq(c->complaints.items[0].file, path);

        s = complaint_format(&c->complaints.items[0]);
        ck_assert_msg(strstr(s, contains), "%s", s);
}

/* Root refuses a valid file if every user can write to its directory. A user other than root reads the files in a
 * directory that this user owns, whatever the directory's mode. */
START_TEST(test_directory_of_others) {
        const bool root = geteuid() == 0;
        char parent[256];
        const char *slash;

        (void) snprintf(parent, sizeof parent, "%s", write_file(0, "drivekeep.conf", 1));
        slash = strrchr(parent, '/');
        parent[slash - parent] = '\0';
        assert_read("1", 0);
        ck_assert_int_eq(chmod(parent, 0777), 0);
        assert_read(root ? "" : "1", root);
        ck_assert_int_eq(chmod(parent, 0755), 0);
        assert_read("1", 0);

        (void) snprintf(parent, sizeof parent, "%s", write_file(0, "drivekeep.conf.d/10-a.conf", 2));
        slash = strrchr(parent, '/');
        parent[slash - parent] = '\0';
        assert_read("1 2", 0);
        ck_assert_int_eq(chmod(parent, 0757), 0);
        assert_read(root ? "1" : "1 2", root);
        ck_assert_int_eq(chmod(parent, 0755), 0);

        /* A user who can write to the parent directory could replace the configuration directory, so root refuses the
         * files in both directories. The parent directory is reported only once. */
        *strrchr(parent, '/') = '\0';
        ck_assert_int_eq(chmod(parent, 0777), 0);
        assert_read(root ? "" : "1 2", root);
        ck_assert_int_eq(chmod(parent, 0755), 0);
        assert_read("1 2", 0);
}
END_TEST

static void assert_drafted(const char *path, const char *values) {
        static const char text[] = "drives = ({ match = {}; apm = 99 });\n";
        const ConfigDraft draft = { path, text, strlen(text) };
        _cleanup_(config_freep) Config *c = NULL;
        char read[128] = "";
        size_t used = 0;

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_load_draft(c, &fake_table, roots, &draft), 0);
        for (size_t i = 0; i < c->n_blocks; i++)
                used += snprintf(read + used, sizeof read - used, "%s%d", i > 0 ? " " : "",
                                 (int) c->blocks[i].assignments[0].value.number);
        ck_assert_str_eq(read, values);
        ck_assert_uint_eq(c->complaints.n_items, 0);
}

/* A draft is a new text for a configuration file. The draft is read in place of the file, even if the file or its
 * directory does not exist. A file of the same name below an earlier root masks the draft. */
START_TEST(test_draft) {
        char main_file[256], drop_in[256];

        (void) snprintf(main_file, sizeof main_file, "%s/drivekeep/drivekeep.conf", roots[0]);
        (void) snprintf(drop_in, sizeof drop_in, "%s/drivekeep/drivekeep.conf.d/20-b.conf", roots[1]);
        assert_drafted(main_file, "99");
        assert_drafted(drop_in, "99");

        write_file(0, "drivekeep.conf", 1);
        write_file(2, "drivekeep.conf.d/20-b.conf", 20);
        write_file(2, "drivekeep.conf.d/30-c.conf", 30);
        assert_drafted(main_file, "99 20 30");
        assert_drafted(drop_in, "1 99 30");
        write_file(1, "drivekeep.conf.d/20-b.conf", 21);
        assert_drafted(drop_in, "1 99 30");
        write_file(0, "drivekeep.conf.d/20-b.conf", 22);
        assert_drafted(drop_in, "1 22 30");
        assert_drafted("/nowhere/30-c.conf", "1 22 30");
}
END_TEST

/* Root refuses a file of another user even if its mode is safe, since the owner can write to the file. */
START_TEST(test_file_of_others) {
        const char *path = write_file(0, "drivekeep.conf", 1);

        if (geteuid() != 0)
                return;
        ck_assert_int_eq(chown(path, 65534, 0), 0);
        assert_refused(path, "other users can write to it");

        /* The service's user reads files of root, and refuses files of an unrelated user. */
        ck_assert_int_eq(chmod(scratch, 0755), 0);
        ck_assert_int_eq(seteuid(65533), 0);
        assert_refused(path, "other users can write to it");
        ck_assert_int_eq(seteuid(0), 0);
        ck_assert_int_eq(chown(path, 0, 0), 0);
        ck_assert_int_eq(seteuid(65533), 0);
        assert_read("1", 0);
        ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

START_TEST(test_nothing) {
        assert_read("", 0);
}
END_TEST

START_TEST(test_precedence) {
        write_file(2, "drivekeep.conf", 1);
        assert_read("1", 0);

        /* The main file below roots[0] masks the main files below the later roots. */
        write_file(0, "drivekeep.conf", 2);
        assert_read("2", 0);

        /* Drop-ins are read after the main file, in the order of their names, whatever root they are in. Files with
         * other names are not read. */
        write_file(2, "drivekeep.conf.d/10-b.conf", 10);
        write_file(0, "drivekeep.conf.d/20-c.conf", 20);
        write_file(1, "drivekeep.conf.d/05-a.conf", 5);
        write_file(1, "drivekeep.conf.d/06-a.conf~", 6);
        write_file(1, "drivekeep.conf.d/.07.conf", 7);
        write_file(1, "drivekeep.conf.d/README", 8);
        assert_read("2 5 10 20", 0);

        /* A file masks files of the same name below later roots. */
        write_file(1, "drivekeep.conf.d/10-b.conf", 11);
        assert_read("2 5 11 20", 0);
        write_file(0, "drivekeep.conf.d/10-b.conf", 12);
        assert_read("2 5 12 20", 0);
}
END_TEST

START_TEST(test_masks) {
        FILE *empty;

        write_file(1, "drivekeep.conf", 1);
        write_file(2, "drivekeep.conf.d/10-a.conf", 10);
        write_file(2, "drivekeep.conf.d/20-b.conf", 20);
        write_file(2, "drivekeep.conf.d/30-c.conf", 30);

        ck_assert_int_eq(symlink("/dev/null", place(0, "drivekeep.conf")), 0);
        ck_assert_int_eq(symlink("/dev/null", place(0, "drivekeep.conf.d/10-a.conf")), 0);
        empty = fopen(place(1, "drivekeep.conf.d/20-b.conf"), "we");
        ck_assert_int_eq(fclose(empty), 0);
        assert_read("30", 0);
}
END_TEST

/* A file that cannot be read is reported, and still masks files of the same name below later roots. */
START_TEST(test_unreadable) {
        write_file(1, "drivekeep.conf", 1);
        ck_assert_int_eq(symlink("nowhere", place(0, "drivekeep.conf")), 0);
        ck_assert_int_eq(mkdir(place(0, "drivekeep.conf.d/10-a.conf"), 0755), 0);
        write_file(1, "drivekeep.conf.d/10-a.conf", 10);
        write_file(1, "drivekeep.conf.d/20-b.conf", 20);
        assert_read("20", 2);
}
END_TEST

/* If drivekeep.conf.d is a regular file, a complaint is reported, and the main file is read. */
START_TEST(test_no_directory) {
        write_file(0, "drivekeep.conf", 1);
        write_file(0, "drivekeep.conf.d", 2);
        assert_read("1", 1);
}
END_TEST

START_TEST(test_one_broken_file) {
        FILE *f;

        write_file(0, "drivekeep.conf", 1);
        write_file(0, "drivekeep.conf.d/20.conf", 20);
        f = fopen(place(0, "drivekeep.conf.d/10.conf"), "we");
        fputs("this is no configuration", f);
        ck_assert_int_eq(fclose(f), 0);
        assert_read("1 20", 1);
}
END_TEST

START_TEST(test_no_file) {
        assert_refused(place(0, "none.conf"), "cannot be read: No such file");
        assert_refused(scratch, "a directory");
        assert_refused("/dev/zero", "not a regular file");
}
END_TEST

/* A FIFO is refused, without waiting for a writer. */
START_TEST(test_fifo) {
        const char *path = place(0, "fifo.conf");

        ck_assert_int_eq(mkfifo(path, 0600), 0);
        assert_refused(path, "a pipe");
}
END_TEST

START_TEST(test_size) {
        const char *path = write_file(0, "big.conf", 1);

        ck_assert_int_eq(truncate(path, CONFIG_FILE_MAX + 1), 0);
        assert_refused(path, "larger than 1 MiB");
        ck_assert_int_eq(truncate(path, CONFIG_FILE_MAX), 0);
        assert_refused(path, ":2:1: error: this is a NUL byte");
        ck_assert_int_eq(truncate(path, (off_t) 100 << 20), 0);
        assert_refused(path, "larger than 1 MiB");
}
END_TEST

/* /dev/zero stands for a file that grows while it is read: it is refused as too large. */
START_TEST(test_endless) {
        _cleanup_close_ int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
        const char *objection = NULL;
        char *text = NULL;
        size_t size;

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(text_descriptor_read(fd, &text, &size, &objection), 1);
        ck_assert_msg(strstr(objection, "larger than 1 MiB") != NULL, "%s", objection);
        ck_assert_ptr_null(text);
}
END_TEST

/* Root refuses its own file if other users can write to it. A user other than root reads a file that this user owns,
 * whatever the file's mode. */
START_TEST(test_writable_by_others) {
        const char *path = write_file(0, "drivekeep.conf", 1);

        ck_assert_int_eq(chmod(path, 0666), 0);
        if (geteuid() != 0) {
                assert_read("1", 0);
                return;
        }

        assert_refused(path, "other users can write to it");
        ck_assert_int_eq(chmod(path, 0664), 0);
        assert_read("1", 0); /* the group of root is trusted */
        ck_assert_int_eq(chown(path, 0, 1), 0);
        assert_refused(path, "other users can write to it");
        ck_assert_int_eq(chmod(path, 0644), 0);
        assert_read("1", 0);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("config-load");
        TCase *tc = tcase_create("config-load");

        tcase_add_checked_fixture(tc, setup, scratch_remove);
        tcase_add_test(tc, test_nothing);
        tcase_add_test(tc, test_directory_of_others);
        tcase_add_test(tc, test_file_of_others);
        tcase_add_test(tc, test_draft);
        tcase_add_test(tc, test_precedence);
        tcase_add_test(tc, test_masks);
        tcase_add_test(tc, test_unreadable);
        tcase_add_test(tc, test_no_directory);
        tcase_add_test(tc, test_one_broken_file);
        tcase_add_test(tc, test_no_file);
        tcase_add_test(tc, test_fifo);
        tcase_add_test(tc, test_size);
        tcase_add_test(tc, test_endless);
        tcase_add_test(tc, test_writable_by_others);
        suite_add_tcase(suite, tc);

        return suite_run(suite);
}
