/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Dumps a Config as one line per block, and compares the complaints of the Config with a list, so that a test case is one row. */

#include <check.h>
#include <stdio.h>

#include "config.h"
#include "fake-settings.h"

#define EXPECTED_MAX 12

/* clang-format off */
/* A valid block. A broken block before or after it must not change its meaning. */
#define GOOD "  { match = \"/dev/good\"; apm = 1; }"
#define GOOD_DUMP(line) #line ": node=/dev/good > apm=1\n"
#define BROKEN(middle) "drives = (\n" GOOD ",\n" middle ",\n" GOOD "\n);\n"
#define BROKEN_DUMP(middle) GOOD_DUMP(2) middle GOOD_DUMP(4)
/* clang-format on */

/* An expected complaint, and text that the complaint must contain. In the last row of a list, `contains` is NULL. */
typedef struct Expected {
        unsigned line, column;
        char level; /* first letter of the level: e: error; w: warning; n: notice */
        const char *contains;
} Expected;

static inline Config *parse(const char *text, size_t size) {
        Config *c;

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_parse(c, &fake_table, "f", text, size), 0);
        return c;
}

static inline void dump_match(FILE *f, const Match *m) {
        for (size_t i = 0; i < m->n_criteria; i++) {
                const Criterion *c = &m->criteria[i];

                fprintf(f, " %s%s", match_key_to_string(c->key), c->property ? ":" : "");
                fprintf(f, "%s=", c->property ?: "");
                for (size_t k = 0; k < c->n_patterns; k++)
                        fprintf(f, "%s%s", k > 0 ? "|" : "", c->patterns[k]);
        }
}

/* Returns text such as "1: node=/dev/sda > apm=127 lookahead=! battery:apm=1": line number, match and settings. "!"
 * stands for a withheld value, and "1!" for a broken block in line 1. */
static inline char *config_dump(const Config *c) {
        char *text = NULL, buf[VALUE_TEXT_MAX];
        size_t size;
        FILE *f;

        f = open_memstream(&text, &size);
        ck_assert_ptr_nonnull(f);
        for (size_t i = 0; i < c->n_blocks; i++) {
                const Block *b = &c->blocks[i];

                fprintf(f, "%u%s", b->line, b->broken ? "!" : ":");
                dump_match(f, &b->match);
                fputs(b->allow_dangerous ? " >>" : " >", f);
                for (size_t k = 0; k < b->n_assignments; k++) {
                        const Assignment *a = &b->assignments[k];
                        const char *value;

                        if (a->withheld)
                                value = "!";
                        else if (a->keep)
                                value = "keep";
                        else
                                value = value_format(&setting_find(&fake_table, a->name)->range, &a->value, buf);
                        fprintf(f, " %s%s=%s", a->on_battery ? "battery:" : "", a->name, value);
                }
                fputc('\n', f);
        }
        ck_assert_int_eq(fclose(f), 0);

        return text;
}

static inline void assert_complaints(const Complaints *c, const Expected *expected) {
        size_t n = 0;

        for (; expected[n].contains; n++) {
                _cleanup_free_ char *s = NULL;

                ck_assert_msg(n < c->n_items, "missing: %u:%u: %s", expected[n].line, expected[n].column,
                              expected[n].contains);
                s = complaint_format(&c->items[n]);
                ck_assert_msg(c->items[n].line == expected[n].line && c->items[n].column == expected[n].column &&
                                              *complaint_level_to_string(c->items[n].level) == expected[n].level &&
                                              strstr(s, expected[n].contains),
                              "expected %u:%u: %s, got %s", expected[n].line, expected[n].column, expected[n].contains,
                              s);
        }

        ck_assert_msg(n == c->n_items, "not expected: %u:%u: %s", c->items[n].line, c->items[n].column,
                      c->items[n].sentence);
}

static inline void assert_file(const char *text, const char *expected, const Expected *complaints) {
        _cleanup_(config_freep) Config *c = parse(text, strlen(text));
        _cleanup_free_ char *dump = config_dump(c);

        assert_complaints(&c->complaints, complaints);
        ck_assert_str_eq(dump, expected);
}

/* Parses each beginning of the text: the empty text, the first byte, the first two bytes, and so on. */
static inline _unused_ void read_file_cut(const char *text) {
        for (size_t size = 0; size < strlen(text); size++) {
                _cleanup_free_ char *copy = memcpy(malloc(size + 1), text, size);
                _cleanup_(config_freep) Config *c = parse(copy, size);

                for (size_t i = 0; i < c->complaints.n_items; i++)
                        ck_assert_uint_ge(c->complaints.items[i].line, 1);
        }
}
