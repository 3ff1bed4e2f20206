/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests all rows of the settings tables, and `drivekeep settings`. */

#include "settings.h"
#include "test-cli.h"
#include "verb.h"

static char *settings(const char *option, int *ret_status) {
        char *argv[] = { (char *) "drivekeep settings", (char *) option, NULL };
        FILE *f = catch_begin(stdout);

        *ret_status = verb_run(&verb_settings, option ? 2 : 1, argv);
        return catch_end(stdout, f);
}

/* Without a terminal, the table has one line for each name of a setting. Values are not shortened, and no text follows the
 * last line. */
START_TEST(test_table) {
        char values[512];
        _cleanup_free_ char *text = NULL;
        size_t n_lines = 0, n_names = 0;
        int status;

        text = settings(NULL, &status);
        ck_assert_int_eq(status, EXIT_WANTED);
        for (const char *p = strchr(text, '\n'); p && p[1]; p = strchr(p + 1, '\n'))
                n_lines++;
        ck_assert_ptr_null(strstr(text, " \n"));
        SETTING_TABLE_FOREACH(s, &all_settings) {
                char line[64];

                (void) snprintf(line, sizeof line, "\n%s ", s->name);
                ck_assert_msg(strstr(text, line) != NULL, "%s", s->name);
                ck_assert_msg(strstr(strstr(text, line), value_range_format(&s->range, values, sizeof values)), "%s",
                              s->name);
                n_names += setting_find(&all_settings, s->name) == s;
        }
        ck_assert_uint_eq(n_lines, n_names);
}
END_TEST

/* In JSON, each row of the settings tables is an object with all keys. */
START_TEST(test_json) {
        static const char *const keys[] = { "name",     "brief",  "transport", "type",       "range", "unit",
                                            "volatile", "danger", "readable",  "equivalent", "once" };
        _cleanup_(json_putp) struct json_object *array = NULL;
        _cleanup_free_ char *text = NULL;
        size_t n = 0;
        int status;

        text = settings("--json", &status);
        ck_assert_int_eq(status, EXIT_WANTED);
        json_take_list(&text, "settings");
        array = json_tokener_parse(text);
        ck_assert(json_object_is_type(array, json_type_array));

        SETTING_TABLE_FOREACH(s, &all_settings) {
                struct json_object *o = json_object_array_get_idx(array, n++), *v;

                for (size_t i = 0; i < ELEMENTSOF(keys); i++)
                        ck_assert_msg(json_object_object_get_ex(o, keys[i], &v), "%s: %s", s->name, keys[i]);
                ck_assert(json_object_object_get_ex(o, "name", &v));
                ck_assert_str_eq(json_object_get_string(v), s->name);

                /* Each choice is a value. Only I/O schedulers are words that drivekeep does not know. */
                ck_assert(json_object_object_get_ex(o, "choices", &v));
                ck_assert_msg((v != NULL) == (s->range.type == VALUE_BOOL ||
                                              (s->range.type == VALUE_NAME && !streq(s->name, "scheduler"))),
                              "%s", s->name);
                for (size_t i = 0; v && i < json_object_array_length(v); i++) {
                        Value value;

                        ck_assert_int_eq(value_parse(&s->range, json_object_get_string(json_object_array_get_idx(v, i)),
                                                     &value),
                                         0);
                }
        }
        ck_assert_uint_eq(json_object_array_length(array), n);
}
END_TEST

/* Asserts that other rows with the name of `s` have another backend, and permit the same values. */
static void check_namesakes(const Setting *s) {
        SETTING_TABLE_FOREACH(t, &all_settings) {
                if (s == t || !streq(s->name, t->name))
                        continue;
                ck_assert_msg(s->backend != t->backend, "%s: two rows in one backend", s->name);
                ck_assert_msg(s->range.type == t->range.type && s->range.min == t->range.min &&
                                              s->range.max == t->range.max && s->range.unit == t->range.unit &&
                                              s->range.step == t->range.step && s->range.off == t->range.off &&
                                              s->range.has_off == t->range.has_off && s->range.words == t->range.words,
                              "%s: values differ between backends", s->name);
        }
}

/* Each row of the settings tables is complete. */
START_TEST(test_rows) {
        SETTING_TABLE_FOREACH(s, &all_settings) {
                bool written = !(s->flags & (SETTING_DEAD | SETTING_EXCLUDED));

                ck_assert_msg(s->brief && strlen(s->brief) <= SETTING_BRIEF_MAX, "%s: no brief text, or too long",
                              s->name);
                ck_assert_msg(strlen(s->name) <= 31, "%s: too long for a line of 80 columns", s->name);
                ck_assert_msg(s->summary && s->equivalent && s->source, "%s: no text", s->name);
                ck_assert_msg(!written || s->lost_by, "%s: lost_by is missing", s->name);
                ck_assert_msg(written || s->instead, "%s: instead is missing", s->name);
                ck_assert_msg(!written || s->alias_of || (s->read && s->write), "%s: read or write is missing",
                              s->name);
                ck_assert_msg(!s->alias_of || setting_find(&all_settings, s->alias_of), "%s: alias_of is unknown",
                              s->name);
                ck_assert_msg(!s->excludes || setting_find(&all_settings, s->excludes), "%s: excludes is unknown",
                              s->name);
                ck_assert_msg(!s->unless || setting_find(&all_settings, s->unless), "%s: unless is unknown", s->name);

                check_namesakes(s);
        }
}
END_TEST

int main(void) {
        TCase *t = tcase_create("settings");

        tcase_add_test(t, test_table);
        tcase_add_test(t, test_json);
        tcase_add_test(t, test_rows);
        return test_main("cli-settings", t);
}
