/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What can be tuned at all, and which values are tried on a drive, by what a sysfs of our own says of it. */

#include "settings.h"
#include "suite.h"
#include "sysfs-tree.h"
#include "tunable.h"

static Drive drive;

static void setup(void) {
        make_disk(&drive, TRANSPORT_SATA);
}

static void teardown(void) {
        drop_tree(&drive);
}

/* ---- the table ---- */

/* Of each backend that has such a setting. */
static void check_ladder(const Tunable *t, const Setting *row) {
        int64_t before = INT64_MIN;

        for (const char *const *text = t->ladder; text && *text; text++) {
                Value v;

                ck_assert_msg(value_parse(&row->range, *text, &v) == 0, "%s %s", t->setting, *text);
                ck_assert_int_gt(v.number, before);
                before = v.number;
        }
}

START_TEST(test_table) {
        TUNABLES_FOREACH(t) {
                const Setting *row = setting_find(&all_settings, t->setting);
                const Figure *goal = figure_find(t->goal);

                ck_assert_ptr_nonnull(row);
                ck_assert_str_eq(setting_state(row), t->setting);
                ck_assert_ptr_eq(tunable_find(t->setting), t);
                ck_assert(t->ladder || t->attribute);
                for (unsigned b = 0; b < _BACKEND_MAX; b++) {
                        row = setting_for_backends(&all_settings, t->setting, 1U << b);
                        if (row)
                                check_ladder(t, row);
                }

                ck_assert_ptr_nonnull(goal);
                ck_assert_int_eq(tunable_writes(t), STR_IN_SET(t->setting, "write_cache", "wbt_lat_usec"));
                ck_assert_int_eq(figure_job(goal)->place == PLACE_ONCE, t->saves_power);
                if (!t->cost)
                        continue;
                ck_assert_ptr_nonnull(figure_find(t->cost));
                ck_assert_ptr_ne(figure_find(t->cost), goal);
                ck_assert_int_eq(job_writes(figure_job(figure_find(t->cost))), tunable_writes(t));
        }
        ck_assert_ptr_null(tunable_find("timeout"));
}
END_TEST

/* ---- what is tried ---- */

#define READ_AHEAD "128 KiB, 256 KiB, 512 KiB, 1 MiB, 2 MiB, 4 MiB, 8 MiB"

static const struct {
        const char *setting, *present;
        struct {
                const char *path, *text;
        } files[3];
        bool is_array;
        const char *values; /* that which is present with a star */
} cases[] = {
        { "scheduler",
          "mq-deadline",
          { { "queue/scheduler", "none [mq-deadline] bfq" } },
          false,
          "*mq-deadline, none, bfq" },
        { "scheduler", "none", { { "queue/scheduler", "[none]" } }, false, "*none" },
        { "scheduler", "none", {}, false, "*none" },
        { "max_sectors_kb",
          "512KiB",
          { { "queue/max_hw_sectors_kb", "1024" } },
          false,
          "128 KiB, 256 KiB, *512 KiB, 1 MiB" },
        { "max_sectors_kb",
          "1280KiB",
          { { "queue/max_hw_sectors_kb", "32767" } },
          false,
          "128 KiB, 256 KiB, 512 KiB, 1 MiB, *1280 KiB, 2 MiB, 4 MiB" },
        { "max_sectors_kb", "64KiB", { { "queue/max_hw_sectors_kb", "64" } }, false, "*64 KiB" },
        { "max_sectors_kb", "64KiB", {}, false, "*64 KiB" },
        { "read_ahead_kb", "64KiB", {}, false, "*64 KiB, " READ_AHEAD },
        { "read_ahead_kb", "16MiB", {}, false, READ_AHEAD ", *16 MiB" },
        { "read_ahead_kb", "8MiB", {}, false, "128 KiB, 256 KiB, 512 KiB, 1 MiB, 2 MiB, 4 MiB, *8 MiB" },
        { "queue_depth", "31", {}, false, "1, 2, 4, 8, 16, *31, 32" },
        { "lookahead", "on", {}, false, "*on, off" },
        { "write_cache", "off", {}, false, "*off, on" },
        { "wbt_lat_usec", "off", {}, false, "*off, 2 ms, 10 ms, 75 ms" },
        { "wbt_lat_usec", "2ms", {}, false, "*2 ms, off, 10 ms, 75 ms" },
        /* Three disks that have data, with chunks of 512 KiB. */
        { "read_ahead_kb",
          "3MiB",
          { { "queue/minimum_io_size", "524288" }, { "queue/optimal_io_size", "1572864" } },
          true,
          "128 KiB, 256 KiB, 512 KiB, 1 MiB, 1536 KiB, 2 MiB, *3 MiB, 4 MiB, 6 MiB, 8 MiB, 12 MiB" },
        /* Two: stripes that are values anyway. */
        { "read_ahead_kb",
          "128KiB",
          { { "queue/minimum_io_size", "524288" }, { "queue/optimal_io_size", "1048576" } },
          true,
          "*" READ_AHEAD },
        /* Of a disk the sizes are something else, … */
        { "read_ahead_kb",
          "128KiB",
          { { "queue/minimum_io_size", "524288" }, { "queue/optimal_io_size", "1572864" } },
          false,
          "*" READ_AHEAD },
        /* … and these arrays have no stripes. */
        { "read_ahead_kb",
          "128KiB",
          { { "queue/minimum_io_size", "524288" }, { "queue/optimal_io_size", "1572860" } },
          true,
          "*" READ_AHEAD },
        /* What many disks tell beside sectors of 512 bytes is no number of pages: the kernel would have another value. */
        { "read_ahead_kb",
          "128KiB",
          { { "queue/minimum_io_size", "512" }, { "queue/optimal_io_size", "33553920" } },
          true,
          "*" READ_AHEAD },
        { "read_ahead_kb",
          "128KiB",
          { { "queue/minimum_io_size", "4096" }, { "queue/optimal_io_size", "4096" } },
          true,
          "*" READ_AHEAD },
        { "read_ahead_kb",
          "128KiB",
          { { "queue/minimum_io_size", "4096" }, { "queue/optimal_io_size", "0" } },
          true,
          "*" READ_AHEAD },
        { "read_ahead_kb",
          "128KiB",
          { { "queue/minimum_io_size", "0" }, { "queue/optimal_io_size", "4096" } },
          true,
          "*" READ_AHEAD },
        { "read_ahead_kb", "128KiB", {}, true, "*" READ_AHEAD },
        /* Others do not go by stripes. */
        { "nr_requests",
          "256",
          { { "queue/minimum_io_size", "524288" }, { "queue/optimal_io_size", "1572864" } },
          true,
          NULL },
};

START_TEST(test_values) {
        const Setting *row = setting_find(&all_settings, cases[_i].setting);
        const Tunable *t = tunable_find(cases[_i].setting);
        char classdir[PATH_MAX], text[1024] = "";
        size_t n = 0, times = 0;
        Value present;
        Values v;

        for (size_t i = 0; i < ELEMENTSOF(cases[_i].files) && cases[_i].files[i].path; i++)
                put(cases[_i].files[i].path, cases[_i].files[i].text);
        if (cases[_i].is_array)
                drive.transport = TRANSPORT_VIRTUAL;
        ck_assert_int_lt(snprintf(classdir, sizeof classdir, "%.*s",
                                  (int) (strrchr(drive.syspath, '/') - drive.syspath), drive.syspath),
                         (int) sizeof classdir);
        ck_assert_int_eq(value_parse(&row->range, cases[_i].present, &present), 0);

        v = tunable_values(t, row, classdir, &drive, &present);
        for (size_t i = 0; i < v.n_items; i++) {
                char buf[VALUE_TEXT_MAX];

                n += (size_t) snprintf(text + n, sizeof text - n, "%s%s%s", i > 0 ? ", " : "",
                                       i == v.current ? "*" : "", value_format(&row->range, v.items + i, buf));
                times += value_equal(v.items + i, &present);
        }
        ck_assert_uint_eq(times, 1);
        ck_assert(value_equal(v.items + v.current, &present));
        if (cases[_i].values)
                ck_assert_str_eq(text, cases[_i].values);
        else
                ck_assert_uint_eq(v.n_items, 7);
        free(v.items);
}
END_TEST

int main(void) {
        TCase *c = tcase_create("tunable");
        Suite *s = suite_create("tunable");

        tcase_add_checked_fixture(c, setup, teardown);
        tcase_add_test(c, test_table);
        tcase_add_loop_test(c, test_values, 0, ELEMENTSOF(cases));
        suite_add_tcase(s, c);
        return suite_run(s);
}
