/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What `drivekeep tune` shows of a setting that saves power: the table, its sentences, the JSON and the picture. What is measured:
 * test-tune.c. */

#include <math.h>

#include "settings.h"
#include "test-cli.h"
#include "tuning.h"

static Drive drive = {
        .name = (char *) "sda", .model = (char *) "DISK", .serial = (char *) "S1", .transport = TRANSPORT_SATA
};
static Options options;
static Subject subject = { .options = &options, .drive = &drive };

static const int64_t levels[] = { 64, 127, 254 };

/* In ms, by level and time without use. The second level stays just below three times the usual 13 ms; of the last one some are
 * missing. */
static const double latencies[3][2][2] = {
        { { 12, 512 }, { 520, 530 } },
        { { 11, 14 }, { 36, 37 } },
        { { NAN, NAN }, { 13, NAN } },
};

static double nothing[] = { NAN, NAN };
static Trial trials[3] = { { nothing, NULL }, { nothing, NULL }, { nothing, NULL } };
static size_t indices[] = { 0, 1, 2 };
static Value values[3];
static Curve curves[3];
static Tuning tuning;
static Tunings all = { &tuning, 1 };

static void setup(void) {
        scratch_make();
        options = (Options){};
        for (size_t i = 0; i < 3; i++) {
                values[i] = (Value){ .type = VALUE_INT, .number = levels[i] };
                curves[i] = (Curve){ .after = calloc(2, sizeof(Measured)),
                                     .n_waits = 4,
                                     .cycles = { i < 2, i == 0 ? 3 : 0 } };
                ck_assert_ptr_nonnull(curves[i].after);
                for (size_t k = 0; k < 2; k++)
                        for (size_t n = 0; n < 2; n++)
                                if (!isnan(latencies[i][k][n]))
                                        measured_add(curves[i].after + k, latencies[i][k][n] * 1e-3);
        }
        tuning = (Tuning){ .subject = &subject,
                           .tunable = tunable_find("apm"),
                           .setting = setting_for_backends(&all_settings, "apm", 1U << BACKEND_ATA),
                           .goal = figure_find("first_read"),
                           .values = { .items = values, .n_items = 3, .current = 2 },
                           .tune = { .trials = trials,
                                     .curves = curves,
                                     .n_idle = 2,
                                     .values = indices,
                                     .n_trials = 3,
                                     .n_rounds = 2,
                                     .n_used = 9,
                                     .n_others = 1,
                                     .contest.current = 2,
                                     .pick.index = 2,
                                     .counted = true } };
}

static void teardown(void) {
        for (size_t i = 0; i < 3; i++) {
                for (size_t k = 0; k < 2; k++)
                        measured_done(curves[i].after + k);
                free(curves[i].after);
        }
        scratch_remove();
}

static char *show(void) {
        FILE *out = catch_begin(stdout);

        tune_show(&options, &subject, &all);
        return catch_end(stdout, out);
}

START_TEST(test_table) {
        _cleanup_free_ char *text = show();

        ck_assert_str_eq(
                        text,
                        "apm: first read after a time without use, by how long that time is\n"
                        "apm         1 s     2 s  LOAD CYCLES\n"
                        " 64 -    262 ms  525 ms 3 in 4 waits\n"
                        "127 -   12.5 ms 36.5 ms 0 in 4 waits\n"
                        "254 now       - 13.0 ms            -\n"
                        "apm = 64: after 2 s without use, the first read is slow: it takes 525 ms\n"
                        "apm = 127: up to 2 s without use, no first read is slow\n"
                        "apm = 254: there are too few samples to tell\n"
                        "what saves more power makes the first read slower, so no value is best: it stays as it is (254)\n"
                        "of apm alone, --budget=1h has room for times without use up to 300 s\n"
                        "samples that are left out: 1 as others used the drive, 0 from the page cache, 0 for errors\n"
                        "\n"
                        "All stays as it is.\n");
}
END_TEST

static const struct { size_t value, slow; } slow[] = { { 0, 1 }, { 1, 2 }, { 2, 2 } };

static const struct {
        double first[2], last[2]; /* ms, with the first level */
        const char *told;
} sentences[] = {
        { { 505, 515 },
          { 5050, 5150 },
          "apm = 64: from 1 s without use on, the first read is slow: it takes 510 ms then, and 5.10 s after 2 s" },
        { { 505, 515 },
          { 12, 5150 },
          "apm = 64: some first reads are slow, and others after as long a time or a longer one are not" },
        { { 12, 14 }, { 13, 15 }, "apm = 64: up to 2 s without use, no first read is slow" },
};

START_TEST(test_sentences) {
        _cleanup_free_ char *text = NULL;

        for (size_t i = 0; i < 2; i++) {
                curves[0].after[0].samples[i] = sentences[_i].first[i] * 1e-3;
                curves[0].after[1].samples[i] = sentences[_i].last[i] * 1e-3;
        }
        text = show();
        ck_assert_msg(strstr(text, sentences[_i].told), "%s", text);
}
END_TEST

START_TEST(test_slow) {
        ck_assert_uint_eq(tune_find_slow(&tuning.tune, slow[_i].value), slow[_i].slow);
}
END_TEST

/* Beside others, a setting that saves power has no more of the time for its values than they have. */
START_TEST(test_share) {
        Tuning other = tuning;

        ck_assert_uint_eq(tuning_share(&tuning), 3000);
        other.goal = figure_find("deep_rate");
        other.cost = figure_find("deep_latency_p99");
        ck_assert_uint_eq(tuning_share(&other), 3000);
        other.goal = figure_find("buffered");
        other.cost = figure_find("mapped_latency");
        ck_assert_uint_eq(tuning_share(&other), 3000);
        other.cost = NULL;
        ck_assert_uint_eq(tuning_share(&other), 1500);
        other.lacking = (char *) "it sleeps";
        ck_assert_uint_eq(tuning_share(&other), 0);
}
END_TEST

/* No level is picked, so there is nothing to keep. */
START_TEST(test_json) {
        _cleanup_free_ char *text = NULL;
        _cleanup_(json_putp) struct json_object *told = NULL;
        struct json_object *setting, *items, *value, *idle;

        options.json = true;
        text = show();
        told = json_tokener_parse(text);
        ck_assert_ptr_nonnull(told);
        ck_assert_uint_eq(json_object_array_length(json_object_object_get(told, "block")), 0);
        setting = json_object_array_get_idx(json_object_object_get(told, "settings"), 0);
        ck_assert_str_eq(json_object_get_string(json_object_object_get(setting, "reason")), "curve");
        ck_assert_str_eq(json_object_get_string(json_object_object_get(setting, "picked")), "254");
        items = json_object_object_get(setting, "values");
        ck_assert_uint_eq(json_object_array_length(items), 3);

        value = json_object_array_get_idx(items, 0);
        idle = json_object_object_get(value, "idle");
        ck_assert_uint_eq(json_object_array_length(idle), 2);
        idle = json_object_array_get_idx(idle, 1);
        ck_assert_int_eq(json_object_get_int(json_object_object_get(idle, "seconds")), 2);
        ck_assert_double_eq_tol(json_object_get_double(json_object_object_get(idle, "median")), 0.525, 1e-9);
        ck_assert_uint_eq(json_object_array_length(json_object_object_get(idle, "samples")), 2);
        ck_assert_int_eq(json_object_get_int(json_object_object_get(value, "slow_after")), 2);
        ck_assert_int_eq(json_object_get_int(json_object_object_get(value, "load_cycles")), 3);
        ck_assert_int_eq(json_object_get_int(json_object_object_get(value, "waits")), 4);

        value = json_object_array_get_idx(items, 2);
        ck_assert_ptr_null(json_object_object_get(value, "slow_after"));
        ck_assert_ptr_null(json_object_object_get(value, "load_cycles"));
        idle = json_object_array_get_idx(json_object_object_get(value, "idle"), 0);
        ck_assert_ptr_null(json_object_object_get(idle, "median"));
}
END_TEST

START_TEST(test_picture) {
        char text[8192];

        options.svg = "curves.svg";
        ck_assert_int_eq(tune_write_svg(&subject, &all), EXIT_WANTED);
        file_read("curves.svg", text, sizeof text);
        ck_assert_ptr_nonnull(strstr(text, "apm: first read after a time without use (less is better)"));
        ck_assert_ptr_nonnull(strstr(text, ">254 (now)</text>"));
        ck_assert_ptr_nonnull(strstr(text, ">2 s</text>"));
        /* Of the last level one time is known: a point, and no line. */
        ck_assert_ptr_nonnull(strstr(text, "<path d=\"M472.5 "));
}
END_TEST

int main(void) {
        TCase *c = tcase_create("curves");

        tcase_add_checked_fixture(c, setup, teardown);
        tcase_add_test(c, test_table);
        tcase_add_loop_test(c, test_sentences, 0, ELEMENTSOF(sentences));
        tcase_add_loop_test(c, test_slow, 0, ELEMENTSOF(slow));
        tcase_add_test(c, test_share);
        tcase_add_test(c, test_json);
        tcase_add_test(c, test_picture);
        return test_main("cli-curves", c);
}
