/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"
#include "fake-settings.h"
#include "suite.h"

/* How much the parser does: it is built once more for this test, with a call of this wherever it branches (trace-pc). What is
 * counted is the same on each machine, a time is not. */
static size_t n_steps;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {
        n_steps++;
}

/* In its objects in the place of memmem(), which may go through all of the text for a few bytes of it. */
void *counted_memmem(const void *text, size_t size, const void *part, size_t part_size);
void *counted_memmem(const void *text, size_t size, const void *part, size_t part_size) {
        n_steps += size;
        return memmem(text, size, part, part_size);
}

static Config *parse(const char *text, size_t size) {
        Config *c;

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_parse(c, &fake_table, "f", text, size), 0);
        return c;
}

/* It needs up to 200; by a step for each pair of tokens it would be some thousands. */
#define STEPS_PER_BYTE 1000

/* Up to a megabyte of what nobody means: no crash, no work without end, no flood of sentences. */
/* clang-format off */
static const struct {
        const char *head, *part; /* the part as often as it fits into `size` */
        size_t size, most;       /* complaints */
} hostile[] = {
        { "",                               "(",        200000,          1   },
        { "",                               "[",        200000,          1   },
        { "",                               "{",        200000,          4   },
        { "drives = ",                      "(",        200000,          3   },
        { "drives = (",                     "{",        200000,          4   },
        { "drives = (",                     "[",        200000,          3   },
        { "drives = ({ match = ",           "(",        200000,          4   },
        { "drives = ({ match = ",           "{",        200000,          5   },
        { "drives = ({ match = {}; a = ",   "[",        200000,          5   },
        { "a = ",                           "{ a = ",   CONFIG_FILE_MAX, 3   },
        { "drives = ({ ",                   "a = { ",   CONFIG_FILE_MAX, 101 },
        { "drives = ({ ",                   "a = ( ",   CONFIG_FILE_MAX, 101 },
        { "drives = ({ ",                   ") ",       CONFIG_FILE_MAX, 5   },
        { "drives = ({ a = ",               "(]",       CONFIG_FILE_MAX, 5   },
        { "drives = (",                     "{},",      CONFIG_FILE_MAX, 101 },
        { "drives = (",                     "{a=1},",   CONFIG_FILE_MAX, 101 },
        { "drives = ({ match = {}; ",       "apm=1;",   CONFIG_FILE_MAX, 101 },
        { "drives = ({ match = {}; ",       "wirte_cahe=1;", CONFIG_FILE_MAX, 101 },
        { "drives = ({ match = {}; apm = ", "1,",       CONFIG_FILE_MAX, 101 },
        { "drives = ({ match = {}; ",       "on_battery = { ",             CONFIG_FILE_MAX, 101 },
        { "drives = ({ match = {}; ",       "on_battery={apm=1};",         CONFIG_FILE_MAX, 101 },
        { "drives = ({ match = {}; on_battery = { ", "apm=1;",             CONFIG_FILE_MAX, 101 },
        { "drives = (",                     "{on_battery={apm=1}},",       CONFIG_FILE_MAX, 101 },
        { "drives = (",                     ") on_battery = {",            CONFIG_FILE_MAX, 101 },
        { "drives = (",                     "} apm=1; ",                   CONFIG_FILE_MAX, 101 },
        { "drives = (",                     "x ",       CONFIG_FILE_MAX, 3   },
        { "drives = (",                     ") , {",    CONFIG_FILE_MAX, 101 },
        { "",                               "a=1;",     CONFIG_FILE_MAX, 101 },
        { "",                               "}",        CONFIG_FILE_MAX, 1   },
        { "",                               "garbage ", CONFIG_FILE_MAX, 1   },
        { "",                               "@include", CONFIG_FILE_MAX, 1   },
        { "",                               "\"",       CONFIG_FILE_MAX, 1   },
        { "",                               "\xfe",     CONFIG_FILE_MAX, 1   },
        { "a = ",                           "9",        CONFIG_FILE_MAX, 1   },
        { "a = [",                          "9,",       CONFIG_FILE_MAX, 3   },
        { "",                               "/*\n",     CONFIG_FILE_MAX, 101 },
        { "",                               "\n",       CONFIG_FILE_MAX, 0   },
};
/* clang-format on */

START_TEST(test_hostile) {
        size_t head = strlen(hostile[_i].head), part = strlen(hostile[_i].part), size = hostile[_i].size;
        _cleanup_(config_freep) Config *c = NULL;
        _cleanup_free_ char *text = malloc(size);

        memcpy(text, hostile[_i].head, head);
        for (size_t i = head; i < size; i++)
                text[i] = hostile[_i].part[(i - head) % part];

        n_steps = 0;
        c = parse(text, size);
        ck_assert_msg(c->complaints.n_items <= hostile[_i].most, "%zu complaints, the second: %s",
                      c->complaints.n_items, c->complaints.items[1].sentence);
        ck_assert_msg((hostile[_i].most == 0) == (c->complaints.n_errors == 0), "%zu", c->complaints.n_errors);
        ck_assert_msg(n_steps > size && n_steps < STEPS_PER_BYTE * size, "%zu steps for %zu bytes", n_steps, size);
}
END_TEST

/* Bytes of a fixed sequence that looks random: of the grammar's own characters, and of all. */
START_TEST(test_noise) {
        static const char alphabet[] = "(){}[]=;,:\"\\/*#\n aapmtch1.xL@'";
        _cleanup_(config_freep) Config *c = NULL;
        size_t size = _i % 2 ? 200 : 100000;
        _cleanup_free_ char *text = malloc(size);
        uint32_t seed = (uint32_t) _i + 1;

        for (size_t i = 0; i < size; i++) {
                seed = seed * 1664525 + 1013904223;
                text[i] = _i < 100 ? alphabet[(seed >> 16) % (sizeof alphabet - 1)] : (char) (seed >> 16);
        }
        c = parse(text, size);
        ck_assert_uint_le(c->complaints.n_items, 101);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("config-hostile");
        TCase *tc = tcase_create("config-hostile");

        tcase_set_timeout(tc, 60);
        tcase_add_loop_test(tc, test_hostile, 0, ELEMENTSOF(hostile));
        tcase_add_loop_test(tc, test_noise, 0, 200);
        suite_add_tcase(suite, tc);

        return suite_run(suite);
}
