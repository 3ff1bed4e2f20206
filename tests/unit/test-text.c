/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "text.h"
#include "suite.h"

/* clang-format off */
static const struct {
        const char *raw, *escaped;
} cases[] = {
        { "",                          ""                             },
        { "ST2000DL003 9VT166",        "ST2000DL003 9VT166"           },
        { "naïve … 日本 \U0001f4be",   "naïve … 日本 \U0001f4be"      },
        { "a\nb\tc\r",                 "a\\x0ab\\x09c\\x0d"           },
        { "\x1b[31mred\x1b[0m\x7f",    "\\x1b[31mred\\x1b[0m\\x7f"    },
        { "\xc2\x9b;2J",               "\\xc2\\x9b;2J"                }, /* the control character CSI, U+009B */
        { "\xff\xfe",                  "\\xff\\xfe"                   }, /* bytes that never occur in UTF-8 */
        { "\xc0\xaf",                  "\\xc0\\xaf"                   }, /* overlong form of two bytes */
        { "\xe0\x80\x8a",              "\\xe0\\x80\\x8a"              }, /* overlong form of three bytes */
        { "\xed\xa0\x80",              "\\xed\\xa0\\x80"              }, /* surrogate */
        { "\xf4\x90\x80\x80",          "\\xf4\\x90\\x80\\x80"         }, /* above U+10FFFF */
        { "x\xe2\x80",                 "x\\xe2\\x80"                  }, /* truncated */
        { "\xe2\x80\xaegnp.exe",       "\\xe2\\x80\\xaegnp.exe"       }, /* right-to-left override */
        { "\xe2\x81\xa9\xe2\x81\xaa",  "\\xe2\\x81\\xa9\xe2\x81\xaa"  }, /* U+2069 is escaped, U+206A is not */
        { "dev-by\\x2dlabel.device",   "dev-by\\x2dlabel.device"      }, /* unchanged: a backslash is not escaped by default */
        { "\xe2\x80\xa7\xe2\x80\xaf",  "\xe2\x80\xa7\xe2\x80\xaf"  }, /* U+2027 and U+202F are not escaped */
        { "\xe2\x81\xa5\xe2\x82\xa6",  "\xe2\x81\xa5\xe2\x82\xa6"  }, /* U+2065 and U+20A6 are not escaped */
        { "\xc3\x9b \xc2\xa0",        "\xc3\x9b \xc2\xa0"        }, /* unchanged: U+00DB and U+00A0 are not control characters */
};
/* clang-format on */

START_TEST(test_find_invisible) {
        /* clang-format off */
        static const struct {
                const char *text, *name; /* expected name of the invisible character after the "x"; NULL: no such character */
        } texts[] = {
                { "x\xc2\xa0y", "U+00A0, a no-break space" },
                { "x\xef\xbb\xbf", "U+FEFF, a byte order mark" },
                { "x\xe2\x80\x8b", "U+200B, a zero width space" },
                { "x\xe2\x80", NULL },
                { "x y\n", NULL },
                { "x\xc3\xbc\xe2\x80\xa6", NULL },
                { "", NULL },
        };
        /* clang-format on */

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                const char *name = NULL, *found = text_find_invisible(texts[i].text, strlen(texts[i].text), &name);

                ck_assert_ptr_eq(found, texts[i].name ? texts[i].text + 1 : NULL);
                ck_assert(texts[i].name ? streq(name, texts[i].name) : !name);
        }
}
END_TEST

START_TEST(test_name) {
        static const char *const good_names[] = { "sda", "nvme0c1n1", "dm-0", "md_x.y-Z", "read_ahead_kb" };
        static const char *const bad_names[] = { "",       ".",          ".lock",       "sda\nTo: x", "sda b",
                                                 "sd\x1b", "sda/../sdb", "md_\xc3\xb6", "~!sh",       "a;b" };

        for (size_t i = 0; i < ELEMENTSOF(good_names); i++)
                ck_assert_msg(text_is_name(good_names[i]), "%s", good_names[i]);
        for (size_t i = 0; i < ELEMENTSOF(bad_names); i++)
                ck_assert_msg(!text_is_name(bad_names[i]), "%s", bad_names[i]);
}
END_TEST

START_TEST(test_escape) {
        _cleanup_free_ char *escaped = NULL;

        escaped = text_escape(cases[_i].raw, NULL);
        ck_assert_str_eq(escaped, cases[_i].escaped);
}
END_TEST

START_TEST(test_round_trip) {
        _cleanup_free_ char *escaped = NULL, *raw = NULL;

        escaped = text_escape(cases[_i].raw, "\\"); /* the second argument of text_escape() escapes backslashes, too */
        ck_assert_int_eq(text_unescape(escaped, &raw), 0);
        ck_assert_str_eq(raw, cases[_i].raw);
}
END_TEST

START_TEST(test_round_trip_all_bytes) {
        _cleanup_free_ char *escaped = NULL, *raw = NULL;
        char all[2 * 255 + 1];

        for (unsigned i = 1; i < 256; i++) {
                all[i - 1] = (char) i;
                all[2 * 255 - i] = (char) i;
        }
        all[sizeof all - 1] = '\0';

        escaped = text_escape(all, "\\");
        ck_assert_int_eq(text_unescape(escaped, &raw), 0);
        ck_assert_str_eq(raw, all);
}
END_TEST

static const char *const bad[] = { "\\", "\\n", "\\x", "\\x1", "\\xg0", "\\x0g", "\\x00", "\\\\", "a\\x4" };

START_TEST(test_unescape_bad) {
        char *raw;

        ck_assert_int_eq(text_unescape(bad[_i], &raw), -EBADMSG);
}
END_TEST

/* clang-format off */
static const struct {
        const char *words[4];
        int garbled; /* expected index of the garbled option; -1: no option is garbled */
} options[] = {
        { { NULL },                                     -1 },
        { { "status", "--json", "/dev/sd\x1b", NULL },   -1 },
        { { "status", "--json\x1b[31m", NULL },           1 },
        { { "-\xff", NULL },                              0 },
        { { "--naïve", "-\n", NULL },                     1 },
        { { "", "--", "-\n", NULL },                     -1 },
};
/* clang-format on */

START_TEST(test_garbled_option) {
        const char *found = text_find_garbled_option((char *const *) options[_i].words);

        ck_assert_ptr_eq(found, options[_i].garbled < 0 ? NULL : options[_i].words[options[_i].garbled]);
}
END_TEST

START_TEST(test_strip) {
        static const char *const texts[][2] = {
                { "", "" }, { " \t\n", "" }, { "a", "a" }, { "  a b \t", "a b" }, { "a\n", "a" }, { " a", "a" },
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                char text[16];

                (void) strcpy(text, texts[i][0]);
                ck_assert_str_eq(text_strip(text), texts[i][1]);
        }
}
END_TEST

int main(void) {
        Suite *s = suite_create("text");
        TCase *t = tcase_create("text");

        tcase_add_test(t, test_find_invisible);
        tcase_add_test(t, test_name);
        tcase_add_test(t, test_strip);
        tcase_add_loop_test(t, test_escape, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_round_trip, 0, ELEMENTSOF(cases));
        tcase_add_test(t, test_round_trip_all_bytes);
        tcase_add_loop_test(t, test_garbled_option, 0, ELEMENTSOF(options));
        tcase_add_loop_test(t, test_unescape_bad, 0, ELEMENTSOF(bad));
        suite_add_tcase(s, t);

        return suite_run(s);
}
