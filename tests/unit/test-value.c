/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "macro.h"
#include "value.h"
#include "suite.h"

/* clang-format off */
static const ValueRange boolean  = { .type = VALUE_BOOL };
static const ValueRange apm      = { .type = VALUE_INT, .min = 1, .max = 255, .has_off = true, .off = 255 };
static const ValueRange aam      = { .type = VALUE_INT, .min = 1, .max = 254, .has_off = true, .off = 0 };
static const ValueRange depth    = { .type = VALUE_INT, .min = 1, .max = 32 };
static const ValueRange any      = { .type = VALUE_INT, .min = INT64_MIN, .max = INT64_MAX };
static const ValueRange recovery = { .type = VALUE_DURATION, .min = 100, .max = 6553400, .step = 100,
                                     .has_off = true, .off = 0 };
static const ValueRange wait     = { .type = VALUE_DURATION, .min = 1, .max = INT64_MAX };
static const ValueRange seconds  = { .type = VALUE_DURATION, .min = 1000, .max = 600000, .unit = 1000, .step = 1000 };
static const ValueRange size     = { .type = VALUE_SIZE, .max = INT64_MAX };
static const ValueRange kib      = { .type = VALUE_SIZE, .min = 4096, .max = 1 << 20, .unit = 1024, .step = 1024 };
static const ValueRange sectors  = { .type = VALUE_SIZE, .min = 0, .max = 1 << 20, .unit = 512, .step = 1024 };
static const ValueRange standby  = { .type = VALUE_STANDBY_TIMER, .max = 255, .has_off = true, .off = 0 };
static const ValueRange word     = { .type = VALUE_NAME };
static const ValueWord latencies[] = { { "default", -1 }, {} };
static const ValueRange latency  = { .type = VALUE_MICROSECONDS, .min = 1, .max = 1000000, .unit = 1,
                                     .has_off = true, .off = 0, .words = latencies };
static const ValueWord policies[] = { { "min_power", 0 }, { "write back", 0 }, { "on", 0 }, {} };
static const ValueWord modes[]   = { { "on", 7 }, { "all", 9 }, {} };
static const ValueRange mode     = { .type = VALUE_INT, .min = 1, .max = 5, .has_off = true, .off = 0, .words = modes };
static const ValueRange policy   = { .type = VALUE_NAME, .words = policies };
static const ValueRange either   = { .type = VALUE_NAME, .words = policies, .yes_is = "this or that" };
static const ValueRange celsius  = { .type = VALUE_CELSIUS, .min = 0, .max = 120, .has_off = true, .off = -273 };
static const ValueRange stripes  = { .type = VALUE_SIZE, .max = 1 << 30, .unit = 1024, .stripes = true };
static const ValueRange anything = { .type = VALUE_ANY };

static const struct {
        const ValueRange *range;
        const char *text;
        int r;
        int64_t number;        /* expected number if r >= 0 */
        const char *formatted; /* expected text of the value; NULL: not checked */
} texts[] = {
        { &boolean,  "on",              0,       1,       "on"          },
        { &boolean,  "Off",             0,       0,       "off"         },
        { &boolean,  "TRUE",            0,       1,       "on"          },
        { &boolean,  "false",           0,       0,       "off"         },
        { &boolean,  "Yes",             0,       1,       "on"          },
        { &boolean,  "no",              0,       0,       "off"         },
        { &boolean,  "0",               0,       0,       "off"         },
        { &boolean,  "1",               0,       1,       "on"          },
        { &boolean,  "2",               -ERANGE, 0,       NULL          },
        { &boolean,  "+1",              0,       1,       "on"          },
        { &boolean,  "-0",              0,       0,       "off"         },
        { &boolean,  "maybe",           -EINVAL, 0,       NULL          },
        { &boolean,  "",                -EINVAL, 0,       NULL          },
        { &boolean,  "on ",             -EINVAL, 0,       NULL          },

        { &apm,      "127",             0,       127,     "127"         },
        { &apm,      "0x80",            0,       128,     "128"         },
        { &apm,      "0X80",            0,       128,     "128"         },
        { &apm,      "+127",            0,       127,     "127"         },
        { &apm,      "0x",              -EINVAL, 0,       NULL          },
        { &apm,      "010",             0,       10,      "10"          }, /* decimal, not octal */
        { &apm,      "off",             0,       255,     "off"         },
        { &apm,      "No",              0,       255,     "off"         },
        { &apm,      "255",             0,       255,     "off"         },
        { &apm,      "on",              -EINVAL, 0,       NULL          },
        { &apm,      "0",               -ERANGE, 0,       NULL          },
        { &apm,      "256",             -ERANGE, 0,       NULL          },
        { &apm,      "-1",              -ERANGE, 0,       NULL          },
        { &apm,      "4294967424",      -ERANGE, 0,       NULL          },
        { &apm,      "99999999999999999999", -ERANGE, 0,  NULL          },
        { &apm,      "127x",            -EINVAL, 0,       NULL          },
        { &apm,      "0x",              -EINVAL, 0,       NULL          },
        { &apm,      " 127",            -EINVAL, 0,       NULL          },
        { &apm,      "fast",            -EINVAL, 0,       NULL          },
        { &apm,      "",                -EINVAL, 0,       NULL          },
        { &aam,      "0",               0,       0,       "off"         },
        { &depth,    "off",             -EINVAL, 0,       NULL          },
        { &any,      "9223372036854775807",  0,  INT64_MAX, "9223372036854775807"  },
        { &any,      "-9223372036854775808", 0,  INT64_MIN, "-9223372036854775808" },
        { &any,      "9223372036854775808",  -ERANGE, 0,  NULL          },

        { &recovery, "7s",              0,       7000,    "7 s"         },
        { &recovery, "7.0 s",           0,       7000,    "7 s"         },
        { &recovery, "7.5s",            0,       7500,    "7.5 s"       },
        { &recovery, ".5s",             0,       500,     "500 ms"      },
        { &recovery, "500ms",           0,       500,     "500 ms"      },
        { &recovery, "30 seconds",      0,       30000,   "30 s"        },
        { &recovery, "3 Minutes",       0,       180000,  "3 min"       },
        { &recovery, "1h 30min",        0,       5400000, "1 h 30 min"  },
        { &recovery, "1h30m7.5s",       0,       5407500, "1 h 30 min 7.5 s" },
        { &recovery, "off",             0,       0,       "off"         },
        { &recovery, "0",               0,       0,       "off"         }, /* 0 needs no unit */
        { &recovery, "0s",              0,       0,       "off"         },
        { &recovery, "7.04s",           1,       7000,    "7 s"         },
        { &recovery, "7.05s",           1,       7100,    "7.1 s"       },
        { &recovery, "7.00001s",        1,       7000,    "7 s"         },
        { &recovery, "0.0001s",         -ERANGE, 0,       NULL          }, /* rejected, not rounded to "off" */
        { &recovery, "0.0000000001s",   -ERANGE, 0,       NULL          },
        { &recovery, "40ms",            -ERANGE, 0,       NULL          },
        { &recovery, "6553400ms",       0,       6553400, "1 h 49 min 13.4 s" },
        { &recovery, "2h",              -ERANGE, 0,       NULL          },
        { &recovery, "7",               -ENOMSG, 0,       NULL          },
        { &recovery, "7.5",             -ENOMSG, 0,       NULL          },
        { &recovery, "1h 30",           -ENOMSG, 0,       NULL          },
        { &recovery, "7 parsecs",       -EINVAL, 0,       NULL          },
        { &recovery, "7s!",             -EINVAL, 0,       NULL          },
        { &recovery, "s",               -EINVAL, 0,       NULL          },
        { &recovery, ".s",              -EINVAL, 0,       NULL          },
        { &recovery, "-7s",             -EINVAL, 0,       NULL          },
        { &recovery, "",                -EINVAL, 0,       NULL          },
        { &wait,     "2 days",          0,       172800000, "48 h"      },
        { &wait,     "1ms",             0,       1,       "1 ms"        },
        { &wait,     "1.5ms",           1,       2,       "2 ms"        },
        { &wait,     "9223372036854775807ms", 0, INT64_MAX, NULL        },
        { &wait,     "9223372036854775808ms", -ERANGE, 0, NULL          },
        { &wait,     "9223372036854775807h",  -ERANGE, 0, NULL          },
        { &wait,     "9223372036854775807ms 1ms", -ERANGE, 0, NULL      },
        { &seconds,  "30",              0,       30000,   "30 s"        },
        { &seconds,  "1.2s",            1,       1000,    "1 s"         },

        { &size,     "512KiB",          0,       524288,  "512 KiB"     },
        { &size,     "512 B",           0,       512,     "512 B"       },
        { &size,     "4K",              0,       4096,    "4 KiB"       },
        { &size,     "4kb",             0,       4096,    "4 KiB"       },
        { &size,     "1.5MiB",          0,       1572864, "1536 KiB"    },
        { &size,     "2 TB",            0,       INT64_C(2) << 40, "2 TiB" },
        { &size,     "0",               0,       0,       "0 B"         },
        { &size,     "1.5",             1,       2,       "2 B"         },
        { &size,     "8388608TiB",      -ERANGE, 0,       NULL          },
        { &size,     "1KiB 1KiB",       -EINVAL, 0,       NULL          },
        { &size,     "1XiB",            -EINVAL, 0,       NULL          },
        { &kib,      "512",             0,       524288,  "512 KiB"     },
        { &kib,      "1MiB",            0,       1 << 20, "1 MiB"       },
        { &kib,      "5000B",           1,       5120,    "5 KiB"       },
        { &kib,      "1B",              -ERANGE, 0,       NULL          },
        { &kib,      "2MiB",            -ERANGE, 0,       NULL          },
        { &kib,      "9223372036854775807", -ERANGE, 0,   NULL          },
        { &kib,      "off",             -EINVAL, 0,       NULL          },
        { &sectors,  "256",             0,       131072,  "128 KiB"     },
        { &sectors,  "255",             1,       131072,  "128 KiB"     },

        { &standby,  "off",             0,       0,       "off"         },
        { &standby,  "0s",              0,       0,       "off"         },
        { &standby,  "no",              0,       0,       "off"         },
        { &standby,  "on",              -EINVAL, 0,       NULL          },
        { &standby,  "5s",              0,       1,       "5 s"         },
        { &standby,  "1s",              1,       1,       "5 s"         },
        { &standby,  "5.1s",            1,       2,       "10 s"        },
        { &standby,  "1ms",             1,       1,       "5 s"         },
        { &standby,  "20min",           0,       240,     "20 min"      },
        { &standby,  "20min 1s",        1,       252,     "21 min"      },
        { &standby,  "21min",           0,       252,     "21 min"      },
        { &standby,  "21min 10s",       1,       255,     "21 min 15 s" },
        { &standby,  "21 min 15 s",     0,       255,     "21 min 15 s" },
        { &standby,  "22min",           1,       241,     "30 min"      },
        { &standby,  "30min",           0,       241,     "30 min"      },
        { &standby,  "45min",           1,       242,     "1 h"         },
        { &standby,  "5.5h",            0,       251,     "5 h 30 min"  },
        { &standby,  "5h 31min",        1,       251,     "5 h 30 min"  }, /* rounded down: the next timer is vendor-specific (8 to 12 h) */
        { &standby,  "6h",              1,       251,     "5 h 30 min"  },
        { &standby,  "7h 59min",        1,       251,     "5 h 30 min"  },
        { &standby,  "8h",              1,       253,     "vendor (8 to 12 h)" },
        { &standby,  "12h",             1,       253,     "vendor (8 to 12 h)" },
        { &standby,  "12h 1ms",         -ERANGE, 0,       NULL          },
        { &standby,  "9999999h",        -ERANGE, 0,       NULL          },
        { &standby,  "120",             0,       120,     "10 min"      }, /* hdparm's numeric code */
        { &standby,  "254",             -ERANGE, 0,       NULL          },
        { &standby,  "256",             -ERANGE, 0,       NULL          },
        { &standby,  "1.5",             -ENOMSG, 0,       NULL          },
        { &standby,  "soon",            -EINVAL, 0,       NULL          },
        { &standby,  "5\tmin",          -EINVAL, 0,       NULL          }, /* rejected: a tab is not a blank */

        { &latency,  "75ms",            0,       75000,   "75 ms"       },
        { &latency,  "250us",           0,       250,     "250 us"      },
        { &latency,  "250 µs",          0,       250,     "250 us"      },
        { &latency,  "2000",            0,       2000,    "2 ms"        },
        { &latency,  "1s",              0,       1000000, "1 s"         },
        { &latency,  "2s",              -ERANGE, 0,       NULL          },
        { &latency,  "0.5us",           1,       1,       "1 us"        },
        { &latency,  "off",             0,       0,       "off"         },
        { &latency,  "Default",         0,       -1,      "default"     },
        { &latency,  "-1",              0,       -1,      "default"     },
        { &latency,  "-2",              -ERANGE, 0,       NULL          },
        { &latency,  "2 µ",             -EINVAL, 0,       NULL          },
        { &latency,  "2 min",           -ERANGE, 0,       NULL          },

        { &celsius,  "70",              0,       70,      "70 C"       },
        { &celsius,  "70C",             0,       70,      "70 C"       },
        { &celsius,  "70 °C",           0,       70,      "70 C"       },
        { &celsius,  "off",             0,       -273,    "off"         },
        { &celsius,  "-1",              -ERANGE, 0,       NULL          },
        { &celsius,  "343K",            -EINVAL, 0,       NULL          },
        { &celsius,  "hot",             -EINVAL, 0,       NULL          },
        { &celsius,  "99999999999999999999", -ERANGE, 0,  NULL          },
};

static const struct {
        const char *text;
        int r;
} names[] = {
        { "mq-deadline",                              0       },
        { "none",                                     0       },
        { "bfq_2.0",                                  0       },
        { "on",                                       0       },
        { "",                                         -EINVAL },
        { "mq deadline",                              -EINVAL },
        { "[none]",                                   -EINVAL },
        { "../x",                                     -EINVAL },
        { "x\ny",                                     -EINVAL },
        { "a123456789012345678901234567890123456789", -EINVAL }, /* rejected: longer than 39 characters */
        { "a12345678901234567890123456789012345678",  0       },
};

static const struct {
        const ValueRange *range;
        int64_t n;
        int r;
        int64_t number;
} integers[] = {
        { &boolean,  1,         0,       1      },
        { &boolean,  -1,        -ERANGE, 0      },
        { &apm,      254,       0,       254    },
        { &apm,      255,       0,       255    },
        { &apm,      0,         -ERANGE, 0      },
        { &recovery, 7,         -ENOMSG, 0      },
        { &recovery, 0,         0,       0      },
        { &wait,     0,         -ENOMSG, 0      },
        { &seconds,  30,        0,       30000  },
        { &kib,      512,       0,       524288 },
        { &kib,      INT64_MAX, -ERANGE, 0      },
        { &kib,      INT64_MIN, -ERANGE, 0      },
        { &sectors,  1,         1,       1024   },
        { &standby,  240,       0,       240    },
        { &standby,  253,       0,       253    },
        { &standby,  254,       -ERANGE, 0      },
        { &standby,  255,       0,       255    },
        { &standby,  -1,        -ERANGE, 0      },
        { &word,     1,         -EINVAL, 0      },
        { &latency,  -1,        0,       -1     },
        { &latency,  2000,      0,       2000   },
        { &celsius,  70,        0,       70     },
        { &anything, 70,        0,       0      },
        { &policy,   0,         -EINVAL, 0      },
};

/* If the range has a fixed list of names, a name is accepted in upper or lower case. The value has the spelling of the list. */
static const struct {
        const char *text, *name; /* name: expected name; NULL: not a valid value */
} words[] = {
        { "min_power",  "min_power"  },
        { "Write Back", "write back" },
        { "ON",         "on"         },
        { "max_power",  NULL         },
        { "",           NULL         },
};

static const struct {
        const char *text;
        int r;
        int64_t number;
        const char *formatted;
} stripe_counts[] = {
        { "2 stripes",    0,       2, "2 stripes" },
        { "1 stripe",     0,       1, "1 stripe"  },
        { "3Stripes",     0,       3, "3 stripes" },
        { "0 stripes",    -ERANGE, 0, NULL        },
        { "1025 stripes", -ERANGE, 0, NULL        },
        { "99999999999999999999 stripes", -ERANGE, 0, NULL },
        { "stripes",      -EINVAL, 0, NULL        },
        { "-2 stripes",   -EINVAL, 0, NULL        },
        { "2 stripeses",  -EINVAL, 0, NULL        },
};

static const struct {
        const ValueRange *range;
        bool b;
        int r;
        int64_t number;
} booleans[] = {
        { &boolean,  true,  0,       1   },
        { &boolean,  false, 0,       0   },
        { &apm,      false, 0,       255 },
        { &apm,      true,  -EINVAL, 0   },
        { &depth,    false, -EINVAL, 0   },
        { &standby,  false, 0,       0   },
        { &standby,  true,  -EINVAL, 0   },
        { &recovery, false, 0,       0   },
        { &word,     false, -EINVAL, 0   },
        { &policy,   true,  0,       0   },
        { &policy,   false, -EINVAL, 0   },
        { &either,   true,  -ENOTUNIQ, 0 },
        { &either,   false, -ENOTUNIQ, 0 },
        { &anything, true,  0,       0   },
        { &latency,  false, 0,       0   },
        { &latency,  true,  -EINVAL, 0   },
        { &mode,     true,  0,       7   },
        { &mode,     false, 0,       0   },
};

static const struct {
        const ValueRange *range;
        const char *text;
} ranges[] = {
        { &boolean,  "on or off"                                        },
        { &apm,      "1...254, or off"                                    },
        { &aam,      "1...254, or off"                                    },
        { &depth,    "1...32"                                             },
        { &recovery, "100 ms...1 h 49 min 13.4 s, or off"                 },
        { &kib,      "4...1024 without a unit, 4 KiB...1 MiB"               },
        { &sectors,  "0...2048 without a unit, 0 B...1 MiB"                 },
        { &word,     "a name that the kernel knows, at most 39 characters" },
        { &latency,  "1 us...1 s, or off, or default" },
        { &policy,   "min_power, write back, or on" },
        { &celsius,  "0 C...120 C, or off" },
        { &stripes,  "0...1048576 without a unit, 0 B...1 GiB, or a number of stripes" },
        { &anything, "anything; it has no effect" },
};
/* clang-format on */

START_TEST(test_text) {
        char buf[VALUE_TEXT_MAX];
        Value v = { .number = -77 };

        ck_assert_int_eq(value_parse(texts[_i].range, texts[_i].text, &v), texts[_i].r);
        if (texts[_i].r < 0) {
                ck_assert_int_eq(v.number, -77);
                return;
        }
        ck_assert_int_eq(v.number, texts[_i].number);
        ck_assert_int_eq(v.type, texts[_i].range->type);

        /* The returned text is in `buf`. */
        memset(buf, '#', sizeof buf);
        ck_assert_ptr_eq(value_format(texts[_i].range, &v, buf), buf);
        ck_assert_ptr_nonnull(memchr(buf, '\0', sizeof buf));
        if (texts[_i].formatted)
                ck_assert_str_eq(value_format(texts[_i].range, &v, buf), texts[_i].formatted);
}
END_TEST

/* The text of a value can be parsed and gives the same value. */
START_TEST(test_round_trip) {
        char buf[VALUE_TEXT_MAX];
        Value v, again;

        if (texts[_i].r < 0 || texts[_i].number == 253)
                return; /* the timer code 253 has no fixed duration */
        ck_assert_int_ge(value_parse(texts[_i].range, texts[_i].text, &v), 0);
        ck_assert_int_eq(value_parse(texts[_i].range, value_format(texts[_i].range, &v, buf), &again), 0);
        ck_assert(value_equal(&v, &again));
}
END_TEST

START_TEST(test_name) {
        char buf[VALUE_TEXT_MAX];
        Value v;

        ck_assert_int_eq(value_parse(&word, names[_i].text, &v), names[_i].r);
        if (names[_i].r == 0)
                ck_assert_str_eq(value_format(&word, &v, buf), names[_i].text);
}
END_TEST

START_TEST(test_words) {
        char buf[VALUE_TEXT_MAX];
        Value v;

        ck_assert_int_eq(value_parse(&policy, words[_i].text, &v), words[_i].name ? 0 : -EINVAL);
        if (words[_i].name)
                ck_assert_str_eq(value_format(&policy, &v, buf), words[_i].name);
}
END_TEST

/* Some values that the kernel or a drive reports cannot be written exactly in a configuration file. */
START_TEST(test_exact_text) {
        ck_assert(value_has_exact_text(&kib, &(Value){ .type = VALUE_SIZE, .number = 512 * 1024 }));
        ck_assert(!value_has_exact_text(&kib, &(Value){ .type = VALUE_SIZE, .number = 512 * 1024 + 512 }));
        ck_assert(!value_has_exact_text(&depth, &(Value){ .type = VALUE_INT, .number = 0 }));
        ck_assert(value_has_exact_text(&word, &(Value){ .type = VALUE_NAME, .name = "none" }));
        ck_assert(value_has_exact_text(&apm, &(Value){ .type = VALUE_INT, .number = 255 }));
}
END_TEST

START_TEST(test_stripes) {
        char buf[VALUE_TEXT_MAX];
        Value v;

        ck_assert_int_eq(value_parse(&stripes, stripe_counts[_i].text, &v), stripe_counts[_i].r);
        if (stripe_counts[_i].r < 0)
                return;
        ck_assert_int_eq(v.type, VALUE_STRIPES);
        ck_assert_int_eq(v.number, stripe_counts[_i].number);
        ck_assert_str_eq(value_format(&stripes, &v, buf), stripe_counts[_i].formatted);
}
END_TEST

/* A value of the type VALUE_ANY does not keep its text, since the text may be a password. */
START_TEST(test_anything_is_not_kept) {
        static const Value nothing = { .type = VALUE_ANY };
        char buf[VALUE_TEXT_MAX];
        Value v;

        memset(&v, 0xFF, sizeof v);
        ck_assert_int_eq(value_parse(&anything, "secret", &v), 0);
        ck_assert_mem_eq(&v, &nothing, sizeof v);
        ck_assert_str_eq(value_format(&anything, &v, buf), "(not kept)");
}
END_TEST

START_TEST(test_integer) {
        Value v;

        ck_assert_int_eq(value_from_integer(integers[_i].range, integers[_i].n, &v), integers[_i].r);
        if (integers[_i].r >= 0)
                ck_assert_int_eq(v.number, integers[_i].number);
}
END_TEST

START_TEST(test_boolean) {
        Value v;

        ck_assert_int_eq(value_from_boolean(booleans[_i].range, booleans[_i].b, &v), booleans[_i].r);
        if (booleans[_i].r >= 0)
                ck_assert_int_eq(v.number, booleans[_i].number);
}
END_TEST

START_TEST(test_range) {
        char buf[256];

        ck_assert_str_eq(value_range_format(ranges[_i].range, buf, sizeof buf), ranges[_i].text);
}
END_TEST

START_TEST(test_equal) {
        Value none = { .type = VALUE_NAME, .name = "none" }, bfq = { .type = VALUE_NAME, .name = "bfq" };
        Value on = VALUE_BOOLEAN(true), one = { .type = VALUE_INT, .number = 1 };

        ck_assert(value_equal(&none, &none));
        ck_assert(!value_equal(&none, &bfq));
        ck_assert(value_equal(&on, &on));
        ck_assert(!value_equal(&on, &one));
}
END_TEST

/* Each timer code has a duration that gives the same code again. The vendor-specific code 253 and the reserved code 254
 * have none. */
START_TEST(test_standby_bytes) {
        char buf[VALUE_TEXT_MAX];
        Value v;

        ck_assert_int_gt(strlen(value_format(&standby, &(Value){ VALUE_STANDBY_TIMER, _i, "" }, buf)), 0);
        if (_i == 253 || _i == 254)
                return;
        (void) snprintf(buf, sizeof buf, "%" PRIu64 "s", standby_timer_to_seconds((uint8_t) _i));
        ck_assert_int_eq(value_parse(&standby, buf, &v), 0);
        ck_assert_int_eq(v.number, _i);
}
END_TEST

/* The timer is at least as long as the wanted duration. Between 5 h 30 min and 8 h, only the vendor-specific timer would be
 * long enough: the timer is 5 h 30 min. */
START_TEST(test_standby_seconds) {
        uint64_t last = 0;

        for (uint64_t s = 1; s <= 12 * 3600; s++) {
                char text[32];
                uint64_t got;
                Value v;

                (void) snprintf(text, sizeof text, "%" PRIu64 "s", s);
                ck_assert_int_ge(value_parse(&standby, text, &v), 0);
                ck_assert_int_ne(v.number, 254);
                got = v.number == 253 ? 12 * 3600 : standby_timer_to_seconds((uint8_t) v.number);
                if (s <= 5 * 3600 + 1800 || s >= 8 * 3600)
                        ck_assert_uint_ge(got, s);
                else
                        ck_assert_uint_eq(got, 5 * 3600 + 1800);
                ck_assert_uint_ge(got, last);
                last = got;
        }
}
END_TEST

int main(void) {
        Suite *suite = suite_create("value");
        TCase *tc = tcase_create("value");

        tcase_add_loop_test(tc, test_text, 0, ELEMENTSOF(texts));
        tcase_add_loop_test(tc, test_round_trip, 0, ELEMENTSOF(texts));
        tcase_add_loop_test(tc, test_name, 0, ELEMENTSOF(names));
        tcase_add_loop_test(tc, test_words, 0, ELEMENTSOF(words));
        tcase_add_test(tc, test_exact_text);
        tcase_add_loop_test(tc, test_stripes, 0, ELEMENTSOF(stripe_counts));
        tcase_add_test(tc, test_anything_is_not_kept);
        tcase_add_loop_test(tc, test_integer, 0, ELEMENTSOF(integers));
        tcase_add_loop_test(tc, test_boolean, 0, ELEMENTSOF(booleans));
        tcase_add_loop_test(tc, test_range, 0, ELEMENTSOF(ranges));
        tcase_add_test(tc, test_equal);
        tcase_add_loop_test(tc, test_standby_bytes, 0, 256);
        tcase_add_test(tc, test_standby_seconds);
        suite_add_tcase(suite, tc);

        return suite_run(suite);
}
