/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"
#include "fake-settings.h"
#include "suite.h"

/* Number of branches in the parser that were executed. The parser is built for this test with -fsanitize-coverage=trace-pc, which calls
 * __sanitizer_cov_trace_pc() at every branch. Unlike a time, this count is the same on every machine. */
static size_t n_steps;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {
        n_steps++;
}

/* Replaces memmem() in the objects of the parser, and counts the bytes that memmem() may search. */
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

/* The parser needs up to 200 steps per byte; an algorithm that is quadratic in tokens would need thousands. */
#define STEPS_PER_BYTE 1000

/* Large nonsense causes no crash, no excessive work and no flood of complaints. Blocks in blocks, where recursion would be deepest, have the
 * largest size of a file. */
/* clang-format off */
static const struct {
        const char *head, *part; /* the text: `head`, and `part` repeated up to `size` bytes */
        size_t size, most;       /* most: largest allowed number of complaints */
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
        { "drives = ({ ",                   ") ",       200000,          5   },
        { "drives = ({ a = ",               "(]",       200000,          5   },
        { "drives = (",                     "{},",      200000,          101 },
        { "drives = (",                     "{a=1},",   200000,          101 },
        { "drives = ({ match = {}; ",       "apm=1;",   200000,          101 },
        { "drives = ({ match = {}; ",       "wirte_cahe=1;", 200000,     101 },
        { "drives = ({ match = {}; apm = ", "1,",       200000,          101 },
        { "drives = ({ match = {}; ",       "on_battery = { ",             CONFIG_FILE_MAX, 101 },
        { "drives = ({ match = {}; ",       "on_battery={apm=1};",         200000,          101 },
        { "drives = ({ match = {}; on_battery = { ", "apm=1;",             200000,          101 },
        { "drives = (",                     "{on_battery={apm=1}},",       200000,          101 },
        { "drives = (",                     ") on_battery = {",            200000,          101 },
        { "drives = (",                     "} apm=1; ",                   200000,          101 },
        { "drives = (",                     "x ",       200000,          3   },
        { "drives = (",                     ") , {",    200000,          101 },
        { "",                               "a=1;",     200000,          101 },
        { "",                               "}",        200000,          1   },
        { "",                               "garbage ", 200000,          1   },
        { "",                               "@include", 200000,          1   },
        { "",                               "\"",       200000,          1   },
        { "",                               "\xfe",     200000,          1   },
        { "a = ",                           "9",        200000,          1   },
        { "a = [",                          "9,",       200000,          3   },
        { "",                               "/*\n",     200000,          101 },
        { "",                               "\n",       200000,          0   },
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

/* Pseudo-random texts with fixed seeds cause no crash. The first 100 texts have characters of the grammar, and the last
 * 100 texts have any bytes. */
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
