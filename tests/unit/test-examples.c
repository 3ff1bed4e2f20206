/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every example of a file in the documentation is one that drivekeep reads without a word. */

#include <stdio.h>

#include "config.h"
#include "settings.h"
#include "suite.h"

static const struct {
        const char *file;
        const char *from, *to; /* the lines around an example; NULL: the whole file is one */
        unsigned n_examples, n_blocks;
} documents[] = {
        { "README.md", "```", "```", 1, 3 },
        { "man/drivekeep.conf.5", ".Bd -literal", ".Ed", 2, 4 },
        { "conf/drivekeep.conf", NULL, NULL, 1, 0 },
};

static char *slurp(const char *path) {
        char *text = calloc(1, 256 * 1024);
        FILE *f = fopen(path, "r");

        ck_assert_msg(f && text, "%s", path);
        ck_assert_uint_gt(fread(text, 1, 256 * 1024 - 1, f), 0);
        fclose(f);
        return text;
}

static unsigned parse(const char *file, const char *text) {
        _cleanup_(config_freep) Config *c = NULL;

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_parse(c, &all_settings, file, text, strlen(text)), 0);
        for (size_t i = 0; i < c->complaints.n_items; i++) {
                _cleanup_free_ char *line = complaint_format(c->complaints.items + i);

                ck_abort_msg("%s\nin:\n%s", line, text);
        }
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
                                /* A block alone stands for a file with it. */
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

int main(void) {
        Suite *suite = suite_create("examples");
        TCase *t = tcase_create("examples");

        tcase_add_loop_test(t, test_document, 0, ELEMENTSOF(documents));
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
