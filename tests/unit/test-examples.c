/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All examples of configuration in the documentation are read without complaints. */

#include <stdio.h>

#include "config.h"
#include "settings.h"
#include "suite.h"

static const struct {
        const char *file;
        const char *from, *to; /* the lines before and after an example; NULL: the whole file is an example */
        unsigned n_examples, n_blocks;
} documents[] = {
        { "README.md", "```", "```", 1, 2 },
        { "man/drivekeep.conf.5", ".Bd -literal", ".Ed", 3, 7 },
        { "conf/drivekeep.conf", NULL, NULL, 1, 0 },
        { "tests/vm/demo.conf", NULL, NULL, 1, 4 },
        { "conf/examples/laptop.conf", NULL, NULL, 1, 3 },
        { "conf/examples/nvme-workstation.conf", NULL, NULL, 1, 2 },
        { "conf/examples/old-hdparm.conf", NULL, NULL, 1, 1 },
        { "conf/examples/quiet-home-server.conf", NULL, NULL, 1, 3 },
        { "conf/examples/raid-error-recovery.conf", NULL, NULL, 1, 1 },
};

#define EVERY_SETTING "conf/examples/every-setting.conf"

static char *slurp(const char *path) {
        char *text = calloc(1, 256 * 1024);
        FILE *f = fopen(path, "r");

        ck_assert_msg(f && text, "%s", path);
        ck_assert_uint_gt(fread(text, 1, 256 * 1024 - 1, f), 0);
        fclose(f);
        return text;
}

/* Value of `tolerated` with which every complaint fails the test, even a notice. */
#define NOTHING (COMPLAINT_NOTICE + 1)

/* Checks a text as `drivekeep check` does. Complaints worse than `tolerated` fail the test. */
static Config *check_text(const char *file, const char *text, ComplaintLevel tolerated) {
        Config *c;

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_parse(c, &all_settings, file, text, strlen(text)), 0);
        ck_assert_int_eq(config_check(c, &all_settings), 0);
        for (size_t i = 0; i < c->complaints.n_items; i++)
                if (c->complaints.items[i].level < tolerated) {
                        _cleanup_free_ char *line = complaint_format(c->complaints.items + i);

                        ck_abort_msg("%s\nin:\n%.2048s", line, text);
                }
        return c;
}

static unsigned parse(const char *file, const char *text) {
        _cleanup_(config_freep) Config *c = check_text(file, text, NOTHING);

        return c->n_blocks;
}

START_TEST(test_document) {
        _cleanup_free_ char *text = slurp(documents[_i].file);
        unsigned n_examples = 0, n_blocks = 0;
        char example[8192], whole[8256];
        bool inside = false;

        if (!documents[_i].from) {
                n_blocks = parse(documents[_i].file, text);
                n_examples = 1;
        } else
                for (char *saved, *line = strtok_r(text, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
                        if (!inside) {
                                inside = strncmp(line, documents[_i].from, strlen(documents[_i].from)) == 0;
                                example[0] = '\0';
                        } else if (strncmp(line, documents[_i].to, strlen(documents[_i].to)) == 0) {
                                inside = false;
                                /* Adds "drives = (...)" to an example that is only a block, so that the example is a whole file. */
                                if (strncmp(example, "  { match", 9) == 0) {
                                        snprintf(whole, sizeof whole, "drives = (\n%s);\n", example);
                                        memcpy(example, whole, strlen(whole) + 1);
                                }
                                if (!strstr(example, "drives = ("))
                                        continue;
                                n_blocks += parse(documents[_i].file, example);
                                n_examples++;
                        } else {
                                ck_assert_uint_lt(strlen(example) + strlen(line) + 2, sizeof example);
                                strcat(strcat(example, line), "\n");
                        }
                }

        ck_assert_uint_eq(n_examples, documents[_i].n_examples);
        ck_assert_uint_eq(n_blocks, documents[_i].n_blocks);
}
END_TEST

/* The installed file sets nothing. Its commented-out lines are valid configuration. */
START_TEST(test_installed_file) {
        _cleanup_free_ char *text = slurp("conf/drivekeep.conf");

        for (char *line = text; line; line = strchr(line, '\n')) {
                line += *line == '\n';
                if (strncmp(line, "//  ", 4) == 0)
                        line[0] = line[1] = ' ';
        }
        ck_assert_uint_eq(parse("conf/drivekeep.conf", text), 4);
}
END_TEST

/* Returns the text after "//" if the line is a commented-out setting, else NULL. A line with a single blank after "//" is prose. */
static char *find_commented_setting(char *line) {
        char *name, *end;

        if (strncmp(line, "//", 2) != 0)
                return NULL;
        name = line + 2 + strspn(line + 2, " ");
        end = name + strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789");
        return name != line + 3 && end > name && strncmp(end, " = ", 3) == 0 ? line + 2 : NULL;
}

static bool has_commented_setting(const char *text, const char *name) {
        char needle[128];

        snprintf(needle, sizeof needle, "\n//    %s = ", name);
        return strstr(text, needle);
}

START_TEST(test_every_setting_appears) {
        _cleanup_free_ char *text = slurp(EVERY_SETTING);
        unsigned n = 0;

        SETTING_TABLE_FOREACH(s, &all_settings) {
                bool known = !(s->flags & (SETTING_DEAD | SETTING_EXCLUDED));

                ck_assert_msg(has_commented_setting(text, s->name) == known, "%s", s->name);
                n += known;
        }
        ck_assert_uint_gt(n, 50);
}
END_TEST

START_TEST(test_every_setting_is_valid) {
        _cleanup_free_ char *text = slurp(EVERY_SETTING), *copy = strdup(text);
        _cleanup_(config_freep) Config *as_it_is = check_text(EVERY_SETTING, text, COMPLAINT_WARNING);
        unsigned n = 0;

        for (size_t i = 0; i < as_it_is->n_blocks; i++)
                ck_assert_uint_eq(as_it_is->blocks[i].n_assignments, 0);

        for (char *saved, *line = strtok_r(copy, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
                char *offer = find_commented_setting(line);
                _cleanup_(config_freep) Config *c = NULL;
                size_t n_assignments = 0;

                if (!offer)
                        continue;

                n++;
                text[line - copy] = text[line - copy + 1] = ' ';
                c = check_text(EVERY_SETTING, text, COMPLAINT_WARNING);
                for (size_t i = 0; i < c->n_blocks; i++)
                        n_assignments += c->blocks[i].n_assignments;
                /* A line that assigns no setting must be an option of the file or of a block, such as recheck. */
                ck_assert_msg(n_assignments > 0 || !setting_find(&all_settings, strtok(offer, " =")), "%s", line);
                text[line - copy] = text[line - copy + 1] = '/';
        }
        ck_assert_uint_gt(n, 60);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("examples");
        TCase *t = tcase_create("examples");

        tcase_add_loop_test(t, test_document, 0, ELEMENTSOF(documents));
        tcase_add_test(t, test_installed_file);
        tcase_add_test(t, test_every_setting_appears);
        tcase_add_test(t, test_every_setting_is_valid);
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
