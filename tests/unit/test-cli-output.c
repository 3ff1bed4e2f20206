/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <locale.h>

#include "output.h"
#include "test-cli.h"
#include "verdict-word.h"

/* clang-format off */
static const Column columns[] = {
        { "drive", "DRIVE" },
        { "model", "MODEL", .wrap = true },
        { "wwn", "WWN", .hide_rank = 1 },
        { "size", "SIZE", .right = true },
};
/* clang-format on */

/* Adds a row with one cell for each column. */
static void row_add(Output *o, const char *const *cells) {
        output_row(o);
        for (size_t i = 0; i < ELEMENTSOF(columns); i++)
                output_cell(o, columns[i].key, cells[i]);
        output_end(o);
}

static Output *table_example(void) {
        Output *o = output_new(false, columns, ELEMENTSOF(columns));

        row_add(o, (const char *const[]){ "sda", "ST2000DL003-9VT166", "0x5000c500", "2.0 TB" });
        row_add(o, (const char *const[]){ "sdb", "QEMU", NULL, "" });
        return o;
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
        _cleanup_(output_freep) Output *o = table_example();
        _cleanup_free_ char *text = NULL;

        text = strdup(output_format_table(o, cases[_i].width, false));
        ck_assert_str_eq(text, cases[_i].text);
}
END_TEST

/* The column with the lowest hide_rank is hidden first. Of columns with the same hide_rank, the rightmost is hidden first. */
START_TEST(test_hidden_columns) {
        /* clang-format off */
        static const Column ranked[] = {
                { "name", "NAME" }, { "firmware", "FIRMWARE", .hide_rank = 2 }, { "power", "POWER", .hide_rank = 4 },
                { "a", "AAA", .hide_rank = 1 }, { "b", "BBB", .hide_rank = 1 },
        };
        static const char *const heads[] = { "NAME FIRMWARE POWER AAA BBB\n", "NAME FIRMWARE POWER AAA\n", "NAME FIRMWARE POWER\n",
                                             "NAME POWER\n", "NAME\n" };
        /* clang-format on */
        _cleanup_(output_freep) Output *o = output_new(false, ranked, ELEMENTSOF(ranked));

        output_row(o);
        output_end(o);
        ck_assert_msg(starts_with(output_format_table(o, strlen(heads[_i]) - 1, false), heads[_i]), "%s",
                      output_format_table(o, 0, false));
}
END_TEST

/* At every width that fits the headings, no line is longer than the width. */
START_TEST(test_width) {
        _cleanup_(output_freep) Output *o = table_example();
        _cleanup_free_ char *text = NULL;

        text = strdup(output_format_table(o, (size_t) _i, false));
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
                ck_assert_uint_le(strlen(line), (size_t) _i);
}
END_TEST

/* Text is wrapped at blanks if every word fits the column. Wrapping loses no text. */
START_TEST(test_words) {
        static const Column two[] = { { "name", "SETTING" }, { "reason", "REMARK", .wrap = true } };
        static const char reason[] = "the drive counts this time in a way of its own, says that it cannot be read";
        _cleanup_(output_freep) Output *o = output_new(false, two, ELEMENTSOF(two));
        _cleanup_free_ char *text = NULL, *joined = NULL;
        size_t size;
        FILE *f = open_memstream(&joined, &size);

        output_row(o);
        output_cell(o, "name", "apm");
        output_cell(o, "reason", reason);
        output_end(o);
        text = strdup(output_format_table(o, 8 + (size_t) _i, false));
        for (char *line = strtok(strchr(text, '\n'), "\n"); line; line = strtok(NULL, "\n")) {
                size_t n = strlen(line);

                while (n > 8 && line[n - 1] == ' ')
                        n--;
                fprintf(f, "%s%.*s", ftell(f) > 0 ? " " : "", (int) (n - 8), line + 8);
        }
        (void) fclose(f);
        ck_assert_str_eq(joined, reason);
}
END_TEST

START_TEST(test_empty) {
        _cleanup_(output_freep) Output *o = output_new(false, columns, ELEMENTSOF(columns));
        _cleanup_free_ char *text = NULL;
        FILE *f = catch_begin(stdout);

        output_print(o);
        text = catch_end(stdout, f);
        ck_assert_str_eq(text, "");
}
END_TEST

/* Without the legend, only rows are printed: no headings and no notes. */
START_TEST(test_no_legend) {
        _cleanup_(output_freep) Output *o = NULL;
        _cleanup_free_ char *text = NULL;
        FILE *f = catch_begin(stdout);

        output_hide_legend();
        o = table_example();
        output_note(o, "%s", "a note");
        output_print(o);
        text = catch_end(stdout, f);
        ck_assert(starts_with(text, "sda "));
        /* Only the beginning of the row is compared, since versions of libsmartcols differ in the width of the first column. */
        ck_assert(starts_with(strchr(text, '\n'), "\nsdb "));
        ck_assert_ptr_nonnull(strstr(text, " QEMU               -               -\n"));
        ck_assert_str_eq(strstr(text, " -\n"), " -\n");
}
END_TEST

/* At every width, the coloured table without its colour sequences equals the plain table. */
START_TEST(test_colored) {
        /* clang-format off */
        static const Column colored[] = {
                { "drive", "DRIVE" },
                { "model", "MODEL", .wrap = true },
                { "wwn", "WWN", .hide_rank = 1 },
                { "size", "SIZE", .right = true, .verdict = true },
        };
        /* clang-format on */
        static const char *const rows[][4] = { { "sda", "ST2000DL003-9VT166", "0x5000c500", "applied" },
                                               { "sdb", "QEMU", NULL, "" } };
        _cleanup_(output_freep) Output *o = NULL, *plain = NULL;
        _cleanup_free_ char *text = NULL, *expected = NULL, *again = NULL;
        unsigned n = 0;
        char *to;

        o = output_new(false, colored, ELEMENTSOF(colored));
        plain = output_new(false, columns, ELEMENTSOF(columns));
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                row_add(o, rows[i]);
                row_add(plain, rows[i]);
        }
        text = strdup(output_format_table(o, (size_t) _i, true));
        again = strdup(output_format_table(o, (size_t) _i, false));
        expected = strdup(output_format_table(plain, (size_t) _i, false));

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

/* Returns the colour of `text` in a column of verdicts; NULL: `text` has no colour. */
static const char *color_of(const char *text) {
        static const Column column[] = { { "verdict", "VERDICT", .verdict = true } };
        static const struct {
                const char *name, *sequence;
        } colors[] = { { "red", "31m" }, { "green", "32m" }, { "yellow", "33m" } };
        _cleanup_(output_freep) Output *o = NULL;
        _cleanup_free_ char *shown = NULL;

        o = output_new(false, column, 1);
        output_row(o);
        output_cell(o, "verdict", text);
        output_end(o);
        shown = strdup(output_format_table(o, 0, true));
        for (size_t i = 0; i < ELEMENTSOF(colors); i++)
                if (strstr(shown, colors[i].sequence))
                        return colors[i].name;

        ck_assert_ptr_null(strchr(shown, '\x1b'));
        return NULL;
}

/* A verdict is green if the drive has the wanted value. All other verdicts have another colour, and other words have no colour. */
START_TEST(test_verdict_colors) {
        for (Verdict v = 0; v < _VERDICT_MAX; v++) {
                const char *color = color_of(verdict_to_string(v));

                ck_assert_ptr_nonnull(color);
                ck_assert_int_eq(streq(color, "green"), verdict_is_wanted(v));
        }
        ck_assert_ptr_null(color_of("write"));
        ck_assert_ptr_null(color_of("-"));
}
END_TEST

/* A column with .path prints file names without their directories. */
START_TEST(test_path) {
        static const Column rule[] = { { "rule", "RULE", .path = true } };
        static const struct {
                const char *rule, *shown;
        } rules[] = {
                { NULL, "-" },
                { "drivekeep.conf:12", "drivekeep.conf:12" },
                { "/etc/drivekeep/drivekeep.conf:12", "drivekeep.conf:12" },
                { "/run/drivekeep/drivekeep.conf.d/10-a.conf:3", "10-a.conf:3" },
        };

        for (size_t i = 0; i < ELEMENTSOF(rules); i++) {
                _cleanup_(output_freep) Output *o = NULL;
                _cleanup_free_ char *text = NULL;

                o = output_new(false, rule, 1);
                output_row(o);
                output_cell(o, "rule", rules[i].rule);
                output_end(o);
                text = strdup(output_format_table(o, 0, false));
                ck_assert_str_eq(strchr(text, '\n') + 1, rules[i].shown);
        }
}
END_TEST

/* Control characters in a drive's text are escaped in every locale. */
START_TEST(test_hostile) {
        static const char *const locales[] = { "C", "C.UTF-8" };
        char hostile[4 * 255 + 1], *p = hostile;

        ck_assert_ptr_nonnull(setlocale(LC_CTYPE, locales[_i]));
        for (unsigned i = 1; i < 256; i++)
                p += sprintf(p, "%c\x1b[%c", (int) i, (int) (256 - i));
        *p = '\0';

        for (size_t width = 0; width < 200; width += 37) {
                _cleanup_(output_freep) Output *o = NULL;
                _cleanup_free_ char *text = NULL;

                o = output_new(false, columns, ELEMENTSOF(columns));
                row_add(o, (const char *const[]){ hostile, hostile, hostile, hostile });
                text = strdup(output_format_table(o, width, false));

                for (const unsigned char *c = (const unsigned char *) text; *c; c++)
                        ck_assert(*c == '\n' || (*c >= 0x20 && *c < 0x7f));
                ck_assert_ptr_nonnull(width == 0 ? strstr(text, "\\x1b[") : text);
        }
}
END_TEST

/* ---- numbers and times ---- */

/* clang-format off */
static const struct {
        uint64_t bytes;
        const char *text;
} sizes[] = {
        { 0,                           NULL         },
        { 512,                         "512 B"      },
        { 999,                         "999 B"      },
        { 1000,                        "1.0 kB"     },
        { 1474560,                     "1.5 MB"     },
        { UINT64_C(999949999999),      "999.9 GB"   },
        { UINT64_C(999950000000),      "1.0 TB"     },
        { UINT64_C(2000398934016),     "2.0 TB"     },
        { UINT64_MAX,                  "18.4 EB"    },
};

#define NOW UINT64_C(1763692751123456) /* 2025-11-21 02:39:11 UTC */
#define HOUR UINT64_C(3600000000)

static const struct {
        uint64_t when;
        const char *brief, *rfc3339;
} times[] = {
        { 0,                           NULL,     NULL                   },
        { 1,                           "1970",   "1970-01-01T00:00:00Z" },
        { NOW,                         "02:39",  "2025-11-21T02:39:11Z" },
        { NOW - 2 * HOUR,              "00:39",  "2025-11-21T00:39:11Z" },
        { NOW - 3 * HOUR,              "Nov 20", "2025-11-20T23:39:11Z" },
        { NOW - 365 * 24 * HOUR,       "2024",   "2024-11-21T02:39:11Z" },
        { UINT64_C(253402300799999999), "9999",  "9999-12-31T23:59:59Z" },
};

static const struct {
        uint64_t usec;
        const char *text;
} durations[] = {
        { 999999,                      "0 s"        },
        { 250 * HOUR / 3600,           "4 min 10 s" },
        { HOUR - 1,                    "59 min 59 s" },
        { HOUR + 59 * HOUR / 3600,     "1 h"        },
        { 3 * HOUR + HOUR / 5,         "3 h 12 min" },
        { 75 * HOUR,                   "75 h"       },
        { UINT64_MAX,                  "5124095576 h 1 min" },
};
/* clang-format on */

static void assert_text(const char *text, const char *expected) {
        if (expected)
                ck_assert_str_eq(text, expected);
        else
                ck_assert_ptr_null(text);
}

START_TEST(test_size) {
        char buf[HUMAN_MAX];

        assert_text(capacity_format(sizes[_i].bytes, buf), sizes[_i].text);
}
END_TEST

START_TEST(test_time) {
        char buf[HUMAN_MAX];

        ck_assert_int_eq(setenv("TZ", "UTC", 1), 0);
        assert_text(time_format_short(times[_i].when, NOW, buf), times[_i].brief);
        assert_text(time_format_rfc3339(times[_i].when, buf), times[_i].rfc3339);
}
END_TEST

START_TEST(test_duration) {
        char buf[VALUE_TEXT_MAX];

        assert_text(duration_format_short(durations[_i].usec, buf), durations[_i].text);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("table");

        tcase_add_loop_test(t, test_hidden_columns, 0, 5);
        tcase_add_loop_test(t, test_format, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_width, 25, 60);
        tcase_add_loop_test(t, test_colored, 25, 60);
        tcase_add_loop_test(t, test_colored, 0, 1);
        tcase_add_test(t, test_verdict_colors);
        tcase_add_test(t, test_path);
        tcase_add_loop_test(t, test_words, 8, 80);
        tcase_add_test(t, test_empty);
        tcase_add_test(t, test_no_legend);
        tcase_add_loop_test(t, test_hostile, 0, 2);
        tcase_add_loop_test(t, test_size, 0, ELEMENTSOF(sizes));
        tcase_add_loop_test(t, test_time, 0, ELEMENTSOF(times));
        tcase_add_loop_test(t, test_duration, 0, ELEMENTSOF(durations));
        return test_main("cli-output", t);
}
