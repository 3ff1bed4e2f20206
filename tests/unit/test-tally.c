/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Counts of words in a drive's record. */

#include <stdio.h>

#include "macro.h"
#include "record.h"
#include "suite.h"

static char *all_of(const char *tally) {
        static char text[512];
        size_t n = 0;
        TallyEntry e;

        text[0] = '\0';
        while (tally_next(&tally, &e))
                n += (size_t) snprintf(text + n, sizeof text - n, "%.*s:%llu ", (int) e.len, e.word,
                                       (unsigned long long) e.n);
        return text;
}

START_TEST(test_add) {
        static const char *const words[] = { "boot", "resume", "boot", "boo", "a b\n", "boot" };
        _cleanup_free_ char *tally = NULL;

        ck_assert_str_eq(all_of(NULL), "");
        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                ck_assert_int_eq(tally_add(&tally, words[i]), 0);
        ck_assert_str_eq(tally, "boot 3 resume 1 boo 1 a\\x20b\\x0a 1");
        ck_assert_str_eq(all_of(tally), "boot:3 resume:1 boo:1 a\\x20b\\x0a:1 ");
}
END_TEST

/* Whoever makes ever new words makes no longer text of it. */
START_TEST(test_many) {
        _cleanup_free_ char *tally = NULL;
        const char *rest;
        TallyEntry e;
        size_t n = 0;
        char word[32];

        for (unsigned i = 0; i < 1000; i++) {
                (void) snprintf(word, sizeof word, "run-%u.scope", i);
                ck_assert_int_eq(tally_add(&tally, word), 0);
        }
        ck_assert_int_eq(tally_add(&tally, "run-0.scope"), 0);

        rest = tally;
        while (tally_next(&rest, &e)) {
                bool is_rest = e.len == strlen(TALLY_REST) && starts_with(e.word, TALLY_REST);

                ck_assert_uint_eq(e.n, is_rest ? 1000 - TALLY_WORDS_MAX : n == 0 ? 2 : 1);
                n++;
        }
        ck_assert_uint_eq(n, TALLY_WORDS_MAX + 1);
}
END_TEST

/* clang-format off */
static const struct { const char *tally, *entries; } hostile[] = {
        { "", "" },
        { " ", "" },
        { " 3", "" },
        { "boot", "" },
        { "boot ", "" },
        { "boot x", "" },
        { "boot -1", "" },
        { "boot 1x", "" },
        { "boot  1", "" },
        { "boot 1 ", "boot:1 " },
        { "boot 1 resume", "boot:1 " },
        { "boot 99999999999999999999", "boot:18446744073709551615 " },
};
/* clang-format on */

START_TEST(test_hostile) {
        _cleanup_free_ char *tally = strdup(hostile[_i].tally);

        ck_assert_str_eq(all_of(tally), hostile[_i].entries);
        ck_assert_int_eq(tally_add(&tally, "wake"), 0);
        ck_assert(ends_with(all_of(tally), "wake:1 "));
}
END_TEST

int main(void) {
        Suite *s = suite_create("tally");
        TCase *t = tcase_create("tally");

        tcase_add_test(t, test_add);
        tcase_add_test(t, test_many);
        tcase_add_loop_test(t, test_hostile, 0, ELEMENTSOF(hostile));
        suite_add_tcase(s, t);
        return suite_run(s);
}
