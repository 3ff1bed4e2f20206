/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The service reads its configuration from three directories, and logs each complaint. The configuration lives until
 * its last reference is dropped. The test supplies the content of the files. */

#include <stdio.h>
#include <sys/stat.h>

#include "done-log.h"
#include "files.h"
#include "inject.h"
#include "journal.h"
#include "scratch.h"
#include "settings.h"
#include "suite.h"

static const char *text;
static int load_error, check_error;
static bool no_memory; /* makes the first allocation after a logged complaint fail */

int config_load(Config *c, const SettingTable *t, const char *const *roots) {
        for (const char *const *r = roots; *r; r++)
                note("%s", *r);
        if (load_error < 0)
                return load_error;
        return config_parse(c, t, "f", text, strlen(text));
}
int config_check(Config *c, const SettingTable *t) {
        ck_assert_ptr_eq(t, &all_settings);
        return check_error < 0 ? check_error : complain(&c->complaints, COMPLAINT_NOTICE, "f", 1, 1, "checked");
}
void journal_complaint(const Complaint *c) {
        note("%s:%u", complaint_level_to_string(c->level), c->line);
        if (no_memory)
                inject_arm(INJECT_MEMORY, 1);
}

#define ROOTS "/etc /run /usr/lib "
#define RULE(key) "{ match = {}; " key " = 1; }"

static const struct {
        const char *text, *done, *first; /* first: beginning of what files_first_error() returns; NULL: no error */
} rows[] = {
        { "", ROOTS "notice:1 ", NULL },
        { "drives = ( " RULE("apm") " );", ROOTS "notice:1 ", NULL },
        { "drives = (\n" RULE("apmm") " );", ROOTS "notice:1 error:2 ", "f:2:" },
        { "recheck = 1;\ndrives = (\n" RULE("apmm") ",\n" RULE("xyz") " );", ROOTS "notice:1 error:1 error:3 error:4 ",
          "f:1:" },
};

/* Valid parts of a file apply despite errors elsewhere. */
START_TEST(test_load) {
        _cleanup_free_ char *sentence = NULL;
        Files *f, *other;

        text = rows[_i].text;
        ck_assert_int_eq(files_load(&f), 0);
        ck_assert_str_eq(all_done(), rows[_i].done);
        ck_assert_ptr_nonnull(f->config);

        sentence = files_first_error(f);
        if (rows[_i].first)
                ck_assert_msg(starts_with(sentence, rows[_i].first), "%s", sentence);
        else
                ck_assert_ptr_null(sentence);
        if (_i == 2)
                ck_assert_ptr_null(strstr(sentence, "more"));
        if (_i == 3)
                ck_assert_msg(ends_with(sentence, " (and 2 more)"), "%s", sentence);

        /* The configuration lives until the last reference is dropped. */
        other = files_ref(f);
        ck_assert_ptr_eq(other, f);
        ck_assert_ptr_null(files_unref(f));
        ck_assert_uint_eq(other->config->complaints.n_errors, _i < 2 ? 0 : (unsigned) (2 * _i - 3));
        ck_assert_ptr_null(files_unref(other));
        ck_assert_ptr_null(files_unref(NULL));
}
END_TEST

/* If memory runs out in config_load() or config_check(), no files are returned, and nothing is logged. */
START_TEST(test_no_memory) {
        Files *f = NULL;

        text = rows[2].text;
        *(_i ? &check_error : &load_error) = -ENOMEM;
        ck_assert_int_eq(files_load(&f), -ENOMEM);
        ck_assert_ptr_null(f);
        ck_assert_str_eq(all_done(), ROOTS);
}
END_TEST

START_TEST(test_no_memory_late) {
        Files *f = NULL;
        int r;

        text = "";
        no_memory = true;
        r = files_load(&f);
        ck_assert(inject_disarm());
        ck_assert_int_eq(r, -ENOMEM);
        ck_assert_ptr_null(f);
}
END_TEST

/* If the list of the loaded files cannot be written, the earlier list is removed, since an outdated list would be
 * wrong. */
START_TEST(test_in_force) {
        char read[128] = "";
        FILE *f;
        Files *files;

        text = "recheck = \"1h\";";
        ck_assert_int_eq(files_load(&files), 0);
        scratch_make();
        files_write_in_force(files, ".");
        f = fopen(CONFIG_IN_FORCE_FILE, "re");
        ck_assert_ptr_nonnull(f);
        ck_assert_ptr_nonnull(fgets(read, sizeof read, f));
        ck_assert_uint_eq(strspn(read, "0123456789abcdef"), 16);
        ck_assert_str_eq(read + 16, " f\n");
        ck_assert_ptr_null(fgets(read, sizeof read, f));
        (void) fclose(f);

        /* Makes the write of the new list fail: a directory has the path of the temporary file. */
        ck_assert_int_eq(mkdir(CONFIG_IN_FORCE_FILE ".new~", 0755), 0);
        files_write_in_force(files, ".");
        ck_assert_int_eq(access(CONFIG_IN_FORCE_FILE, F_OK), -1);
        files_write_in_force(files, "missing");
        ck_assert_ptr_null(files_unref(files));
        scratch_remove();
}
END_TEST

int main(void) {
        Suite *s = suite_create("files");
        TCase *t = tcase_create("files");

        tcase_add_loop_test(t, test_load, 0, ELEMENTSOF(rows));
        tcase_add_loop_test(t, test_no_memory, 0, 2);
        tcase_add_test(t, test_no_memory_late);
        tcase_add_test(t, test_in_force);
        suite_add_tcase(s, t);

        return suite_run(s);
}
