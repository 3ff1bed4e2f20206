/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <locale.h>

#include "color.h"
#include "table.h"
#include "test-cli.h"
#include "verdict.h"

static const Column columns[] = {
        { .name = "DRIVE" },
        { .name = "MODEL", .wrap = true },
        { .name = "WWN", .spared = true },
        { .name = "SIZE", .right = true },
};

static Table *table_example(void) {
        Table *t;

        ck_assert_int_eq(table_new(columns, ELEMENTSOF(columns), &t), 0);
        ck_assert_int_eq(table_add(t, (const char *const[]){ "sda", "ST2000DL003-9VT166", "0x5000c500", "2.0 TB" }), 0);
        ck_assert_int_eq(table_add(t, (const char *const[]){ "sdb", "QEMU", NULL, "" }), 0);
        return t;
}

/* clang-format off */
static const struct {
        size_t width;
        const char *text;
} cases[] = {
        { 0,  "DRIVE MODEL              WWN          SIZE\n"
              "sda   ST2000DL003-9VT166 0x5000c500 2.0 TB\n"
              "sdb   QEMU               -               -" },
        { 42, "DRIVE MODEL              WWN          SIZE\n"
              "sda   ST2000DL003-9VT166 0x5000c500 2.0 TB\n"
              "sdb   QEMU               -               -" },
        { 41, "DRIVE MODEL                SIZE\n"
              "sda   ST2000DL003-9VT166 2.0 TB\n"
              "sdb   QEMU                    -" },
};
/* clang-format on */

START_TEST(test_format) {
        _cleanup_(table_freep) Table *t = table_example();
        _cleanup_free_ char *text = NULL;

        ck_assert_int_eq(table_format(t, cases[_i].width, &text), 0);
        ck_assert_str_eq(text, cases[_i].text);
}
END_TEST

/* Whatever the width, no line is wider, down to where the heads alone fill it, and nothing of a cell is lost. */
START_TEST(test_fits) {
        _cleanup_(table_freep) Table *t = table_example();
        _cleanup_free_ char *text = NULL;

        ck_assert_int_eq(table_format(t, (size_t) _i, &text), 0);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
                ck_assert_uint_le(strlen(line), (size_t) _i);
}
END_TEST

START_TEST(test_empty) {
        _cleanup_(table_freep) Table *t = NULL;
        _cleanup_free_ char *text = NULL;

        ck_assert_int_eq(table_new(columns, ELEMENTSOF(columns), &t), 0);
        ck_assert_int_eq(table_format(t, 80, &text), 0);
        ck_assert_str_eq(text, "");
}
END_TEST

static const char *color_of(const char *cell) {
        return streq(cell, "2.0 TB") ? "green" : NULL;
}

/* At every width the same table, once the colour is taken out, with the cell's own text in it. */
START_TEST(test_colored) {
        static const Column colored[] = {
                { .name = "DRIVE" },
                { .name = "MODEL", .wrap = true },
                { .name = "WWN", .spared = true },
                { .name = "SIZE", .right = true, .color = color_of },
        };
        _cleanup_(table_freep) Table *t = NULL, *plain = table_example();
        _cleanup_free_ char *text = NULL, *expected = NULL, *again = NULL;
        unsigned n = 0;
        char *to;

        ck_assert_int_eq(table_new(colored, ELEMENTSOF(colored), &t), 0);
        ck_assert_int_eq(table_add(t, (const char *const[]){ "sda", "ST2000DL003-9VT166", "0x5000c500", "2.0 TB" }), 0);
        ck_assert_int_eq(table_add(t, (const char *const[]){ "sdb", "QEMU", NULL, "" }), 0);
        ck_assert_int_eq(table_format_colored(t, (size_t) _i, &text), 0);
        ck_assert_int_eq(table_format(t, (size_t) _i, &again), 0);
        ck_assert_int_eq(table_format(plain, (size_t) _i, &expected), 0);

        to = text;
        for (const char *from = text; *from; from++)
                if (*from == '\x1b') {
                        from += strcspn(from, "m");
                        n++;
                } else
                        *to++ = *from;
        *to = '\0';
        ck_assert_str_eq(text, expected);
        ck_assert_str_eq(again, expected);
        ck_assert_uint_ge(n, 2);
}
END_TEST

/* Each verdict has a colour, and no other word has one. */
START_TEST(test_verdict_colors) {
        for (Verdict v = 0; v < _VERDICT_MAX; v++) {
                const char *color = verdict_color(verdict_to_string(v));

                ck_assert_ptr_nonnull(color);
                ck_assert_int_eq(streq(color, "green"), verdict_is_wanted(v));
        }
        ck_assert_ptr_null(verdict_color("write"));
        ck_assert_ptr_null(verdict_color("-"));
}
END_TEST

/* What a drive says of itself is no command for the terminal, in whatever locale. */
START_TEST(test_hostile) {
        static const char *const locales[] = { "C", "C.UTF-8" };
        char hostile[4 * 255 + 1], *p = hostile;

        ck_assert_ptr_nonnull(setlocale(LC_CTYPE, locales[_i]));
        for (unsigned i = 1; i < 256; i++)
                p += sprintf(p, "%c\x1b[%c", (int) i, (int) (256 - i));
        *p = '\0';

        for (size_t width = 0; width < 200; width += 37) {
                _cleanup_(table_freep) Table *t = NULL;
                _cleanup_free_ char *text = NULL;

                ck_assert_int_eq(table_new(columns, ELEMENTSOF(columns), &t), 0);
                ck_assert_int_eq(table_add(t, (const char *const[]){ hostile, hostile, hostile, hostile }), 0);
                ck_assert_int_eq(table_format(t, width, &text), 0);

                for (const unsigned char *c = (const unsigned char *) text; *c; c++)
                        ck_assert(*c == '\n' || (*c >= 0x20 && *c < 0x7f));
                ck_assert_ptr_nonnull(width == 0 ? strstr(text, "\\x1b[") : text);
        }
}
END_TEST

/* Our own texts have characters that an old locale lacks: shown as what it has, and nothing hangs. */
START_TEST(test_locale) {
        static const struct {
                const char *locale, *text;
        } cells[] = {
                { "C", "5...20 us, 70 ?C" },
                { "C.UTF-8", "5…20 µs, 70 °C" },
        };

        ck_assert_ptr_nonnull(setlocale(LC_CTYPE, cells[_i].locale));
        for (size_t width = 0; width < 100; width += 9) {
                _cleanup_(table_freep) Table *t = NULL;
                _cleanup_free_ char *text = NULL;

                ck_assert_int_eq(table_new(columns, ELEMENTSOF(columns), &t), 0);
                for (unsigned i = 0; i < 30; i++)
                        ck_assert_int_eq(table_add(t, (const char *const[]){ "x", "5…20 µs, 70 °C", NULL, NULL }), 0);
                ck_assert_int_eq(table_format(t, width, &text), 0);
                ck_assert(width > 0 || strstr(text, cells[_i].text));
        }
}
END_TEST

int main(void) {
        TCase *t = tcase_create("table");

        tcase_add_loop_test(t, test_format, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_fits, 25, 60);
        tcase_add_loop_test(t, test_colored, 25, 60);
        tcase_add_loop_test(t, test_colored, 0, 1);
        tcase_add_test(t, test_verdict_colors);
        tcase_add_test(t, test_empty);
        tcase_add_loop_test(t, test_hostile, 0, 2);
        tcase_add_loop_test(t, test_locale, 0, 2);
        return test_main("cli-table", t);
}
