/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <time.h>

#include "config-dump.h"
#include "config-text.h"
#include "suite.h"

/* clang-format off */

/* Each token is written as line:column and one letter for its kind: N (name), S (string), W (word) or R (refused). A
 * token of another kind is written as the character itself. */
static const struct {
        const char *text, *tokens;
        Expected complaints[3];
} scans[] = {
        { "a = 1;",                       "1:1N 1:3= 1:5W 1:6;",            {} },
        { "a:\"b\"",                      "1:1N 1:2= 1:3S",                 {} },
        { "\ta\r\n\tb\r\n",               "1:2N 2:2N",                      {} }, /* a tab is one column */
        { "\xef\xbb\xbf" "a",             "1:1N",                           {} },
        { "\"ü…\U0001f4be\" a",           "1:1S 1:7N",                      {} },
        { "# x\n// y\n/* z\n */ a",       "4:5N",                           {} },
        { "a # b\nc//d\ne/*f*/g",         "1:1N 2:1N 3:1N 3:7N",            {} },
        { "a /* b\nc = 1",                "1:1N 2:1N 2:3= 2:5W",            { { 1, 3, 'e', "not closed" } } },
        { "\"a\\\"b\" \"c\\\\\"",         "1:1S 1:8S",                      {} },
        { "\"a\nb = 1;",                  "1:1R 2:1N 2:3= 2:5W 2:6;",       { { 1, 1, 'e', "closing quote" } } },
        { "\"a\\\nb",                     "1:1R 2:1N",                      { { 1, 1, 'e', "closing quote" } } },
        { "a \"a",                        "1:1N 1:3R",                      { { 1, 3, 'e', "closing quote" } } },
        { "\"a\\",                        "1:1R",                           { { 1, 1, 'e', "closing quote" } } },
        { "1 -1 +1 0x1F 1L 1LL 0xFFL",    "1:1W 1:3W 1:6W 1:9W 1:14W 1:17W 1:21W", {} },
        { "1.5 .5 1. -1e5 1.e-5",         "1:1W 1:5W 1:8W 1:11W 1:16W",     {} },
        { "0X1f 1E5 1e+5 1e-5 1e+ 1e 1e5x", "1:1W 1:6W 1:10W 1:15W 1:20W 1:24W 1:27W", {} },
        { "/ /*x*/ /a/ b/", "1:1W 1:9W 1:13W", {} },
        { "20min 1x 0x 1LLL . - 5-3",     "1:1W 1:7W 1:10W 1:13W 1:18W 1:20W 1:22W", {} },
        { "mq-deadline *a a* a.b",        "1:1N 1:13N 1:16N 1:19W",         {} },
        { "/dev/sd*; /dev/disk/by-id/*x", "1:1W 1:9; 1:11W",                {} }, /* a path with a slash and an asterisk begins no comment */
        { "'a b' 'c",                     "1:1W 1:4W 1:7W",                 {} },
        { "@include \"x\" y\nz",          "1:1R 2:1N",                      { { 1, 1, 'e', "drivekeep.conf.d" } } },
        { "a = \"\xff\"; b = \xfe",       "1:1N 1:3= 1:5R 1:8; 1:10N 1:12= 1:14R",
          { { 1, 5, 'e', "UTF-8" }, { 1, 14, 'e', "UTF-8" } } },
        { "# \xff\na",                    "2:1N",                           {} }, /* invalid UTF-8 is accepted in a comment */
        { "\xff\xfe" "a",                 "1:1R",                           { { 1, 1, 'e', "UTF-8" } } },
        { "",                             "",                               {} },
        /* Invisible characters cause an error outside strings, a warning inside strings, and nothing in comments. */
        { "ab\xc2\xa0 = 1",               "1:1R 1:5= 1:7W",                 { { 1, 3, 'e', "U+00A0, a no-break space" } } },
        { "a =\xc2\xa0" "1;",             "1:1N 1:3= 1:4R 1:6;",            { { 1, 4, 'e', "U+00A0" } } },
        { "a\n\xef\xbb\xbf" "b",        "1:1N 2:1R",                      { { 2, 1, 'e', "U+FEFF, a byte order mark" } } },
        { "\"a\xe2\x80\x8b\" b",         "1:1S 1:6N",                      { { 1, 3, 'w', "this string contains U+200B, a zero width space" } } },
        { "# \xc2\xa0\na",               "2:1N",                           {} },
        /* Full-width characters cause an error outside strings, and nothing inside strings. */
        { "a \xef\xbc\x9d 1\xef\xbc\x9b", "1:1N 1:3R 1:5R",                 { { 1, 3, 'e', "this is a full-width \"=\"; write the ASCII character" }, { 1, 6, 'e', "full-width \";\"" } } },
        { "\"\xef\xbc\x9b\"",           "1:1S",                           {} },
};
/* clang-format on */

START_TEST(test_scan) {
        _cleanup_(complaints_done) Complaints complaints = {};
        _cleanup_(config_text_done) ConfigText t = {
                .file = "f",
                .text = scans[_i].text,
                .size = strlen(scans[_i].text),
                .complaints = &complaints,
        };
        char tokens[256] = "";
        size_t used = 0;

        ck_assert_int_eq(config_text_scan(&t), 0);
        for (size_t i = 0; t.tokens[i].type != TOKEN_END; i++) {
                TokenType type = t.tokens[i].type;

                used += snprintf(tokens + used, sizeof tokens - used, "%s%u:%u%c", i > 0 ? " " : "", t.tokens[i].line,
                                 t.tokens[i].column, type < TOKEN_END ? (char) type : "NSWR"[type - TOKEN_NAME]);
        }
        ck_assert_str_eq(tokens, scans[_i].tokens);
        assert_complaints(&complaints, scans[_i].complaints);
}
END_TEST

START_TEST(test_nul) {
        _cleanup_(complaints_done) Complaints complaints = {};
        _cleanup_(config_text_done) ConfigText t = { .file = "f", .text = "a\n b\0c", .size = 6 };
        static const Expected expected[] = { { 2, 3, 'e', "NUL" }, {} };

        t.complaints = &complaints;
        ck_assert_int_eq(config_text_scan(&t), 0);
        ck_assert_int_eq(t.tokens[0].type, TOKEN_END);
        assert_complaints(&complaints, expected);
}
END_TEST

/* A megabyte of each hostile text is scanned quickly. */
START_TEST(test_hostile) {
        static const char *const parts[] = { "/*\n", "'", "' ", "\"\n", "\"\\", "a",
                                             "1",    "/", "/*", "\xff", "\\",   "@include " };
        _cleanup_(complaints_done) Complaints complaints = {};
        _cleanup_free_ char *text = malloc(CONFIG_FILE_MAX);
        _cleanup_(config_text_done) ConfigText t = { .file = "f", .text = text, .size = CONFIG_FILE_MAX };
        size_t n = strlen(parts[_i]);
        clock_t start = clock();

        for (size_t i = 0; i < CONFIG_FILE_MAX; i++)
                text[i] = parts[_i][i % n];
        t.complaints = &complaints;
        ck_assert_int_eq(config_text_scan(&t), 0);
        ck_assert_uint_le(complaints.n_items, 101);
        ck_assert_int_lt(clock() - start, 5 * CLOCKS_PER_SEC);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("config-text");
        TCase *tc = tcase_create("config-text");

        tcase_set_timeout(tc, 60);
        tcase_add_loop_test(tc, test_scan, 0, ELEMENTSOF(scans));
        tcase_add_test(tc, test_nul);
        tcase_add_loop_test(tc, test_hostile, 0, 12);
        suite_add_tcase(suite, tc);

        return suite_run(suite);
}
