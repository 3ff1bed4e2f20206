/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "output.h"
#include "test-cli.h"

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
        TCase *t = tcase_create("human");

        tcase_add_loop_test(t, test_size, 0, ELEMENTSOF(sizes));
        tcase_add_loop_test(t, test_time, 0, ELEMENTSOF(times));
        tcase_add_loop_test(t, test_duration, 0, ELEMENTSOF(durations));
        return test_main("cli-human", t);
}
