/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How figures are written, and found by their keys. */

#include "figure.h"
#include "suite.h"

static const struct {
        FigureKind kind;
        double value;
        const char *text;
} texts[] = {
        { FIGURE_SPEED, 187.4e6, "187 MB/s" },  { FIGURE_SPEED, 99.94e6, "99.9 MB/s" },
        { FIGURE_SPEED, 99.96e6, "100 MB/s" },  { FIGURE_SPEED, 9.994e6, "9.99 MB/s" },
        { FIGURE_SPEED, 9.996e6, "10.0 MB/s" }, { FIGURE_SPEED, 7.1e9, "7100 MB/s" },
        { FIGURE_LATENCY, 8.13e-3, "8.13 ms" }, { FIGURE_LATENCY, 85e-6, "85.0 us" },
        { FIGURE_LATENCY, 1.2, "1.20 s" },      { FIGURE_RATE, 81.23, "81.2 /s" },
        { FIGURE_RATE, 512345, "512345 /s" },
};

START_TEST(test_format) {
        char text[FIGURE_TEXT_MAX];

        ck_assert_str_eq(figure_format(texts[_i].kind, texts[_i].value, text), texts[_i].text);
}
END_TEST

START_TEST(test_format_range) {
        char text[FIGURE_TEXT_MAX];

        ck_assert_str_eq(figure_format_range(FIGURE_SPEED, 185.24e6, 189.07e6, text), "185.2 to 189.1 MB/s");
        ck_assert_str_eq(figure_format_range(FIGURE_LATENCY, 0.9996e-3, 1.0004e-3, text), "1.000 to 1.000 ms");
        ck_assert_str_eq(figure_format_range(FIGURE_LATENCY, 84.1e-6, 99.994e-6, text), "84.10 to 99.99 us");
        ck_assert_str_eq(figure_format_range(FIGURE_RATE, 0, 512345, text), "0 to 512345 /s");
}
END_TEST

START_TEST(test_find) {
        ck_assert_str_eq(figure_find("random_latency_p99")->key, "random_latency_p99");
        ck_assert_ptr_null(figure_find("none"));
}
END_TEST

int main(void) {
        Suite *s = suite_create("figure");
        TCase *c = tcase_create("figure");

        tcase_add_loop_test(c, test_format, 0, ELEMENTSOF(texts));
        tcase_add_test(c, test_format_range);
        tcase_add_test(c, test_find);
        suite_add_tcase(s, c);
        return suite_run(s);
}
