/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is kept of a measurement: as text and back, and as files in a directory that another user may have had a hand in. */

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "result.h"
#include "statistics.h"
#include "test-cli.h"

static Result make(const char *name, uint64_t when) {
        Drive d = { .name = (char *) "sda",
                    .wwn = (char *) "0x5000",
                    .serial = (char *) "5YD1",
                    .model = (char *) "ST\x1b[2J" };
        Result r = result_new(&d, when);
        Measured *m;

        free(r.name);
        r.name = strdup(name);
        ck_assert_ptr_nonnull(r.name);
        result_add_setting(&r, &d, "apm", "254");
        result_add_setting(&r, &d, "lookahead", "on");
        m = bench_add(&r.bench, figure_find("random_latency"));
        for (size_t i = 0; i < 7; i++)
                measured_add(m, 0.008 + 1e-9 * (double) i);
        m->n_others = 3;
        m->n_cached = 2;
        bench_add(&r.bench, figure_find("buffered"))->n_failed = 9;
        r.bench.counted = true;
        return r;
}

START_TEST(test_text) {
        _cleanup_(result_done) Result a = make("x", 1764190865000000), b = {};
        _cleanup_free_ char *text = result_format(&a), *again = NULL;

        ck_assert_ptr_nonnull(strstr(text, "\"unit\": \"s\""));
        ck_assert_ptr_nonnull(strstr(text, "\"median\": 0.0080000"));
        ck_assert_ptr_nonnull(strstr(text, "\"low\": null"));
        ck_assert_ptr_null(strchr(text, '\x1b'));
        ck_assert_int_eq(result_parse(text, &b), 0);
        ck_assert_str_eq(b.drive, "sda");
        ck_assert_str_eq(b.key, "0x5000");
        ck_assert_str_eq(b.model, "ST\x1b[2J");
        ck_assert_str_eq(b.serial, "5YD1");
        ck_assert_ptr_null(b.firmware);
        ck_assert_ptr_nonnull(b.kernel);
        ck_assert_uint_eq(b.when, 1764190865000000);
        ck_assert(b.bench.counted);
        ck_assert_uint_eq(b.n_settings, 2);
        ck_assert_str_eq(b.settings[1].name, "lookahead");
        ck_assert_str_eq(b.settings[1].key, "0x5000");
        ck_assert_uint_eq(b.bench.n_items, 2);
        ck_assert_uint_eq(b.bench.items[0].n_samples, 7);
        ck_assert_double_eq(b.bench.items[0].samples[6], a.bench.items[0].samples[6]);
        ck_assert_uint_eq(b.bench.items[0].n_others, 3);
        ck_assert_uint_eq(b.bench.items[0].n_cached, 2);
        ck_assert_uint_eq(b.bench.items[1].n_failed, 9);
        again = result_format(&b);
        ck_assert_str_eq(text, again);
}
END_TEST

/* What it is called, and by what it is known again. */
static const struct {
        Drive drive;
        const char *property, *value, *key;
} keys[] = {
        { { .name = (char *) "sda", .wwn = (char *) "0x5", .serial = (char *) "S" }, NULL, NULL, "0x5" },
        { { .name = (char *) "sda", .serial = (char *) "S" }, NULL, NULL, "S" },
        { { .name = (char *) "vda" }, NULL, NULL, "vda" },
        { { .name = (char *) "dm-3" }, "DM_UUID", "LVM-x", "LVM-x" },
        { { .name = (char *) "md127" }, "MD_UUID", "12:34", "12:34" },
};

START_TEST(test_new) {
        Drive d = keys[_i].drive;
        _cleanup_(result_done) Result r = {};

        ck_assert_int_eq(setenv("TZ", "UTC", 1), 0);
        if (keys[_i].property)
                ck_assert_int_eq(drive_add_property(&d, keys[_i].property, keys[_i].value), 0);
        r = result_new(&d, 1764190865000000);
        ck_assert_str_eq(r.key, keys[_i].key);
        ck_assert(starts_with(r.name, d.name) && ends_with(r.name, "-20251126-210105"));
        free(d.properties);
}
END_TEST

static const char *const bad[] = {
        "",
        "{",
        "[]",
        "7",
        "null",
        "{}",
        "{ \"version\": 2, \"drive\": \"sda\", \"key\": \"k\" }",
        "{ \"version\": 1, \"drive\": \"sda\" }",
        "{ \"version\": 1, \"drive\": 7, \"key\": \"k\" }",
};

START_TEST(test_bad) {
        Result r;

        ck_assert_int_eq(result_parse(bad[_i], &r), -EBADMSG);
}
END_TEST

/* What this version does not know, or what makes no sense, is left out, and the rest is read. */
START_TEST(test_strange) {
        _cleanup_(result_done) Result r = {};

        ck_assert_int_eq(
                        result_parse("{ \"version\": 1, \"drive\": \"sda\", \"key\": \"k\", \"new\": [], \"settings\": [ 7, {}, { \"drive\": "
                                     "\"sda\", \"key\": \"k\", \"name\": \"apm\", \"value\": \"1\" } ], \"figures\": [ null, {}, { \"name\": \"new\" }, { \"name\": "
                                     "\"buffered\", \"samples\": [ 5, -1, 0, \"x\", null, 1e300, 6.5 ], \"others\": -4 } ] }",
                                     &r),
                        0);
        ck_assert_uint_eq(r.n_settings, 1);
        ck_assert_uint_eq(r.bench.n_items, 1);
        ck_assert_uint_eq(r.bench.items[0].n_samples, 2);
        ck_assert_double_eq(r.bench.items[0].samples[1], 6.5);
        ck_assert_uint_eq(r.bench.items[0].n_others, 0);
}
END_TEST

/* Far more samples than any measurement has: the time to work on them grows with their square. */
START_TEST(test_many) {
        _cleanup_(result_done) Result r = {};
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        ck_assert_ptr_nonnull(f);
        fputs("{ \"version\": 1, \"drive\": \"sda\", \"key\": \"k\", \"figures\": [ { \"name\": \"buffered\", \"samples\": [ 7",
              f);
        for (unsigned i = 0; i < 5000; i++)
                fputs(", 8", f);
        fputs(" ] }, { \"name\": \"buffered\", \"samples\": [ 9 ] } ] }", f);
        ck_assert_int_eq(fclose(f), 0);
        ck_assert_int_eq(result_parse(text, &r), 0);
        ck_assert_uint_eq(r.bench.n_items, 1);
        ck_assert_uint_eq(r.bench.items[0].n_samples, SAMPLES_MAX);
}
END_TEST

START_TEST(test_files) {
        _cleanup_(result_done) Result a = make("sda-2", 20), b = make("sda-1", 30), c = make("sdb-1", 10), one = {};
        _cleanup_(results_done) Results all = {};

        ck_assert_int_eq(results_load("lib/bench", &all), 0);
        ck_assert_uint_eq(all.n_items, 0);

        /* The directory is made, and the one above. */
        ck_assert_int_eq(result_save("lib/bench", &a), 0);
        ck_assert_int_eq(result_save("lib/bench", &b), 0);
        ck_assert_int_eq(result_save("lib/bench", &c), 0);
        file_make("lib/bench/other.json", "{}");
        file_make("lib/bench/README", "no measurement");

        ck_assert_int_eq(results_load("lib/bench", &all), 0);
        ck_assert_uint_eq(all.n_items, 3);
        ck_assert_str_eq(all.items[0].name, "sdb-1");
        ck_assert_str_eq(all.items[1].name, "sda-2");
        ck_assert_str_eq(all.items[2].name, "sda-1");

        ck_assert_int_eq(result_load("lib/bench", "sda-2", &one), 0);
        ck_assert_uint_eq(one.when, 20);
        result_done(&one);
        ck_assert_int_eq(result_load("none", "lib/bench/sda-1.json", &one), 0);
        ck_assert_uint_eq(one.when, 30);
        ck_assert_int_eq(result_load("lib/bench", "none", &a), -ENOENT);
        ck_assert_int_eq(result_load("none", "sda-1", &a), -ENOENT);
        ck_assert_int_eq(result_load("lib/bench", "other", &a), -EBADMSG);
        ck_assert_int_eq(results_load("lib/bench/README", &all), -ENOTDIR);
}
END_TEST

/* Whoever has the directory above leads nobody elsewhere. */
START_TEST(test_led_elsewhere) {
        _cleanup_(result_done) Result r = make("sda-1", 20);
        char text[64];

        file_make("victim/file", "precious");
        file_make("lib/x", "");
        ck_assert_int_eq(symlink("../victim", "lib/bench"), 0);
        ck_assert_int_lt(result_save("lib/bench", &r), 0);
        ck_assert_int_eq(access("victim/sda-1.json", F_OK), -1);

        ck_assert_int_eq(unlink("lib/bench"), 0);
        ck_assert_int_eq(mkdir("lib/bench", 0755), 0);
        ck_assert_int_eq(symlink("../../victim/file", "lib/bench/sda-1.json"), 0);
        ck_assert_int_eq(result_save("lib/bench", &r), -EEXIST);
        ck_assert_int_eq(result_load("lib/bench", "sda-1", &r), -ELOOP);
        ck_assert_int_eq(unlink("lib/bench/sda-1.json"), 0);
        ck_assert_int_eq(link("victim/file", "lib/bench/sda-1.json"), 0);
        ck_assert_int_eq(result_save("lib/bench", &r), -EEXIST);
        file_read("victim/file", text, sizeof text);
        ck_assert_str_eq(text, "precious");
}
END_TEST

START_TEST(test_full) {
        _cleanup_(result_done) Result r = make("sda-1", 20);
        struct rlimit before;
        int k;

        ck_assert_ptr_ne(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
        ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 100, before.rlim_max }), 0);
        k = result_save("bench", &r);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
        ck_assert_int_eq(k, -ENOSPC);
        ck_assert_int_eq(access("bench/sda-1.json", F_OK), -1);
}
END_TEST

int main(void) {
        TCase *c = tcase_create("result");

        tcase_add_checked_fixture(c, scratch_make, scratch_remove);
        tcase_add_test(c, test_text);
        tcase_add_loop_test(c, test_new, 0, ELEMENTSOF(keys));
        tcase_add_loop_test(c, test_bad, 0, ELEMENTSOF(bad));
        tcase_add_test(c, test_strange);
        tcase_add_test(c, test_many);
        tcase_add_test(c, test_files);
        tcase_add_test(c, test_led_elsewhere);
        tcase_add_test(c, test_full);
        return test_main("result", c);
}
