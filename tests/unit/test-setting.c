/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fake-settings.h"
#include "macro.h"
#include "suite.h"

/* clang-format off */
static const struct {
        const char *typed, *nearest; /* nearest: the expected suggestion; NULL: no name is similar */
} mistyped[] = {
        { "amp",                 "apm"                 },
        { "ap",                  "apm"                 },
        { "APM",                 "apm"                 },
        { "map",                 NULL                  }, /* two errors in three letters are too many */
        { "writecache",          "write_cache"         },
        { "write-cache",         "write_cache"         },
        { "Write_Cache",         "write_cache"         },
        { "wirte_cache",         "write_cache"         },
        { "look_ahead",          "lookahead"           },
        { "spindown",            "spindown_time"       },
        { "spindown_timer",      "spindown_time"       },
        { "spindwon_tiem",       "spindown_time"       },
        { "read_ahead_kib",      "read_ahead_kb"       },
        { "read_ahead_sectors",  "read_ahead_sect"     }, /* the suggestion is an alias */
        { "read_ahead_sec",      "read_ahead_sect"     },
        { "accoustic_managment", "acoustic_management" },
        { "sheduler",            "scheduler"           },
        { "colour",              NULL                  },
        /* For a name that another program uses, the suggestion is drivekeep's name. */
        { "APMLevel",            "apm"                 },
        { "power-saving",        "apm"                 },
        { "power_savings",       NULL                  },
        { "IDLE_TIME",           "spindown_time"       },
        { "standby",             "standby"             },
        { "x",                   NULL                  },
        { "",                    NULL                  },
};

static const struct {
        const char *name;
        unsigned backends;
        const char *found; /* name of the expected setting; NULL: none */
        Backend backend;
} for_backends[] = {
        { "write_cache",     1 << BACKEND_ATA,                       "write_cache",   BACKEND_ATA   },
        { "write_cache",     1 << BACKEND_NVME | 1 << BACKEND_BLOCK, "write_cache",   BACKEND_NVME  },
        { "write_cache",     1 << BACKEND_BLOCK,                     NULL,            0             },
        { "read_ahead_sect", 1 << BACKEND_ATA | 1 << BACKEND_BLOCK,  "read_ahead_kb", BACKEND_BLOCK },
        { "read_ahead_sect", 1 << BACKEND_ATA,                       NULL,            0             },
        { "apm",             0,                                      NULL,            0             },
        { "nonsense",        ~0U,                                    NULL,            0             },
};
/* clang-format on */

START_TEST(test_nearest) {
        const char *nearest = setting_nearest(&fake_table, mistyped[_i].typed);

        ck_assert_msg(streq_ptr(nearest, mistyped[_i].nearest), "%s: %s", mistyped[_i].typed, strna(nearest));
}
END_TEST

/* clang-format off */
static const struct {
        const char *setting, *typed, *word; /* word: the expected suggestion; NULL: none */
} mistyped_values[] = {
        { "apm",                "never",    "off"     },
        { "apm",                "Disabled", "off"     },
        { "apm",                "enabled",  NULL      },
        { "apm",                "maybe",    NULL      },
        { "write_cache",        "enabled",  "on"      },
        { "write_cache",        "ture",     "true"    },
        { "write_cache",        "flase",    "false"   },
        { "write_cache_forced", "never",    "off"     },
        { "write_cache_forced", "norml",    "normal"  },
        { "runtime_pm",         "never",    NULL      },
        { "queue_depth",        "none",     NULL      },
};
/* clang-format on */

START_TEST(test_nearest_value) {
        const char *word = setting_nearest_value(&setting_find(&fake_table, mistyped_values[_i].setting)->range,
                                                 mistyped_values[_i].typed);

        ck_assert_msg(streq_ptr(word, mistyped_values[_i].word), "%s: %s", mistyped_values[_i].typed, strna(word));
}
END_TEST

START_TEST(test_nearest_long) {
        char word[4096];

        memset(word, 'a', sizeof word);
        word[sizeof word - 1] = '\0';
        ck_assert_ptr_null(setting_nearest(&fake_table, word));
}
END_TEST

START_TEST(test_for_backends) {
        const Setting *s = setting_for_backends(&fake_table, for_backends[_i].name, for_backends[_i].backends);

        ck_assert(streq_ptr(s ? s->name : NULL, for_backends[_i].found));
        if (s)
                ck_assert_int_eq(s->backend, for_backends[_i].backend);
}
END_TEST

START_TEST(test_find) {
        const Setting *alias = setting_find(&fake_table, "read_ahead_sect");

        ck_assert_str_eq(setting_find(&fake_table, "apm")->name, "apm");
        ck_assert_ptr_null(setting_find(&fake_table, "APM"));
        ck_assert_ptr_null(setting_find(&fake_table, ""));

        ck_assert_int_eq(alias->range.unit, 512);
        ck_assert_str_eq(setting_state(alias), "read_ahead_kb");
        ck_assert_str_eq(setting_state(setting_find(&fake_table, "apm")), "apm");
}
END_TEST

/* A setting excludes the setting that its `excludes` names if both values are other than "off". A setting with SETTING_SAME
 * sets a part of the named setting. Even its value "off" excludes the named setting. */
START_TEST(test_excludes) {
#define SELF .name = "x", .excludes = "x"
        static const Setting sw = { SELF, .range = { .type = VALUE_BOOL } }, part = { SELF, .flags = SETTING_SAME },
                             level = { SELF, .range = { .type = VALUE_INT, .has_off = true, .off = 255 } },
                             number = { SELF, .range = { .type = VALUE_INT } },
                             name = { SELF, .range = { .type = VALUE_NAME } },
                             inert = { SELF, .range = { .type = VALUE_NAME }, .inert = "auto" };
        static const struct {
                const Setting *s;
                Value v;
                bool active;
        } values[] = {
                { &sw, { VALUE_BOOL, 1, "" }, true },       { &sw, { VALUE_BOOL, 0, "" }, false },
                { &level, { VALUE_INT, 254, "" }, true },   { &level, { VALUE_INT, 255, "" }, false },
                { &number, { VALUE_INT, 0, "" }, true },    { &name, { VALUE_NAME, 0, "off" }, false },
                { &name, { VALUE_NAME, 0, "auto" }, true }, { &inert, { VALUE_NAME, 0, "auto" }, false },
                { &inert, { VALUE_NAME, 0, "off" }, true },
        };

        for (size_t i = 0; i < ELEMENTSOF(values); i++) {
                ck_assert_msg(setting_is_active(values[i].s, &values[i].v) == values[i].active, "%zu", i);
                for (size_t k = 0; k < ELEMENTSOF(values); k++) {
                        ck_assert_int_eq(settings_exclude(values[i].s, &values[i].v, values[k].s, &values[k].v),
                                         values[i].active && values[k].active);
                        ck_assert(settings_exclude(&part, &values[i].v, values[k].s, &values[k].v));
                }
        }
}
END_TEST

/* A row excludes the setting that its `excludes` names, and each alias of this setting, but no other setting. */
START_TEST(test_excludes_alias) {
        static const Setting timer = { .name = "standby_z",
                                       .range = { .type = VALUE_INT },
                                       .excludes = "spindown_time" },
                             spindown = { .name = "spindown_time", .range = { .type = VALUE_INT } },
                             alias = { .name = "force_spindown_time",
                                       .range = { .type = VALUE_INT },
                                       .alias_of = "spindown_time" },
                             apm = { .name = "apm", .range = { .type = VALUE_INT } };
        static const Value v = { VALUE_INT, 1, "" };

        ck_assert(settings_exclude(&timer, &v, &spindown, &v));
        ck_assert(settings_exclude(&timer, &v, &alias, &v));
        ck_assert(!settings_exclude(&timer, &v, &apm, &v));
        ck_assert(settings_exclude(&spindown, &v, &timer, &v));
}
END_TEST

START_TEST(test_backend_words) {
        for (Backend b = 0; b < _BACKEND_MAX; b++)
                ck_assert_ptr_nonnull(backend_to_string(b));
        ck_assert_ptr_null(backend_to_string(_BACKEND_MAX));
}
END_TEST

int main(void) {
        Suite *suite = suite_create("setting");
        TCase *tc = tcase_create("setting");

        tcase_add_loop_test(tc, test_nearest, 0, ELEMENTSOF(mistyped));
        tcase_add_loop_test(tc, test_nearest_value, 0, ELEMENTSOF(mistyped_values));
        tcase_add_test(tc, test_nearest_long);
        tcase_add_loop_test(tc, test_for_backends, 0, ELEMENTSOF(for_backends));
        tcase_add_test(tc, test_find);
        tcase_add_test(tc, test_excludes);
        tcase_add_test(tc, test_excludes_alias);
        tcase_add_test(tc, test_backend_words);
        suite_add_tcase(suite, tc);

        return suite_run(suite);
}
