/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests temporary values: their file, and how they replace wanted values of the configuration. */

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "facts.h"
#include "fake-settings.h"
#include "scratch.h"
#include "suite.h"
#include "temporary.h"

static TemporaryValues *values;

/* Sets a temporary value. "apm=128": the value lasts until the next boot. "apm=128/254": the drive had the value 254 before.
 * "-apm=128": the value belongs to a client. "<apm=128" or "-<apm=128": the value has ended. */
static void set(const char *text) {
        char name[64], value[64], before[64] = "";
        bool client = *text == '-', ended = text[client] == '<';
        TemporaryValue v = { .until_boot = !client, .restoring = ended };

        ck_assert_int_ge(sscanf(text + client + ended, "%63[^=]=%63[^/]/%63s", name, value, before), 2);
        v.setting = setting_find(&fake_table, name);
        ck_assert_ptr_nonnull(v.setting);
        ck_assert_int_eq(value_parse(&v.setting->range, value, &v.value), 0);
        if (before[0]) {
                v.before_text = before;
                ck_assert_int_eq(value_parse(&v.setting->range, before, &v.before), 0);
        }
        ck_assert_int_eq(temporary_set(values, &v), 0);
}

static const char *format(const TemporaryValues *t) {
        static char text[512];
        size_t n = 0;

        text[0] = '\0';
        for (const TemporaryValue *v = t->items; v < t->items + t->n_items; v++)
                n += (size_t) snprintf(text + n, sizeof text - n, "%s%s%s%s=%s%s%s", n > 0 ? " " : "",
                                       v->until_boot ? "" : "-", v->restoring ? "<" : "", v->name, v->text,
                                       v->before_text ? "/" : "", v->before_text ?: "");
        return text;
}

static void setup(void) {
        values = calloc(1, sizeof *values);
}

static void teardown(void) {
        values = temporary_free(values);
}

/* ---- several values ---- */

START_TEST(test_set) {
        set("apm=128/254");
        set("-apm=1");
        set("lookahead=off");
        ck_assert_str_eq(format(values), "apm=128/254 -apm=1 lookahead=off");
        /* A new value until boot replaces the old value until boot of the same setting, and moves to the end of the list. */
        set("apm=64");
        ck_assert_str_eq(format(values), "-apm=1 lookahead=off apm=64");
        ck_assert_ptr_eq(temporary_find(values, "apm", false), values->items);
        ck_assert_ptr_null(temporary_find(values, "epc", true));
        ck_assert_ptr_null(temporary_find(NULL, "apm", true));
        temporary_drop(values, values->items);
        ck_assert_str_eq(format(values), "lookahead=off apm=64");
}
END_TEST

START_TEST(test_copy) {
        TemporaryValues *copy, *none;

        set("-<read_ahead_kb=1MiB/128KiB");
        set("apm=128");
        values->items[1].allow_dangerous = values->items[1].wake = values->items[1].accepted = true;
        values->items[0].unaccepted = true;
        values->diskseq = 7;
        ck_assert_int_eq(temporary_copy(values, &fake_table, &copy), 0);
        ck_assert_str_eq(format(copy), "-<read_ahead_kb=1 MiB/128 KiB apm=128");
        ck_assert_uint_eq(copy->diskseq, 7);
        ck_assert(copy->items[1].allow_dangerous && copy->items[1].wake && copy->items[1].accepted &&
                  copy->items[0].unaccepted);
        ck_assert_int_eq(copy->items[0].before.number, 128 * 1024);
        copy = temporary_free(copy);

        ck_assert_int_eq(temporary_copy(NULL, &fake_table, &none), 0);
        ck_assert_uint_eq(none->n_items, 0);
        (void) temporary_free(none);
}
END_TEST

/* ---- hostile files ---- */

#define VALUE(name, text) "VERSION=1\nVALUES=1\nVALUE_0_NAME=" name "\nVALUE_0_TEXT=" text "\nVALUE_0_UNTIL_BOOT=1\n"

static const struct {
        const char *text, *expected; /* expected: the resulting values; NULL: the file is rejected */
} texts[] = {
        { VALUE("apm", "128"), "apm=128" },
        { VALUE("apm", "128") "VALUE_0_BEFORE=254\n", "apm=128/254" },
        { VALUE("apm", "0"), "" },                        /* dropped: not a value of this setting */
        { VALUE("apm", "128") "VALUE_0_BEFORE=0\n", "" }, /* dropped: VALUE_0_BEFORE is not a value of this setting */
        { VALUE("nosuch", "1"), "" },
        { VALUE("apm_battery", "128"), "" },    /* dropped: an alias */
        { VALUE("chipset_pio_mode", "1"), "" }, /* dropped: a setting with SETTING_DEAD is never written */
        { VALUE("security_unlock", "1"), "" },  /* dropped: a setting with SETTING_EXCLUDED is never written */
        { "VERSION=1\nVALUES=1\nVALUE_0_NAME=apm\n", "" },
        { "VERSION=1\nVALUES=1\nVALUE_0_TEXT=128\n", "" },
        { "VERSION=1\nVALUES=0\n", "" },
        { "VERSION=2\n", NULL },
        { "nonsense", NULL },
};

START_TEST(test_parse) {
        TemporaryValues *t = NULL;
        int r = temporary_parse(texts[_i].text, strlen(texts[_i].text), &fake_table, &t);

        ck_assert_int_eq(r < 0, !texts[_i].expected);
        if (r >= 0)
                ck_assert_str_eq(format(t), texts[_i].expected);
        (void) temporary_free(t);
}
END_TEST

static const Fact facts[] = { { "ID_MODEL", "M" }, { "ID_SERIAL_SHORT", "S1" }, { "diskseq", "9" }, {} };

START_TEST(test_files) {
        char path[PATH_MAX];
        _cleanup_free_ char *name = NULL, *text = NULL;
        const DriveLookup lookup = { fact, (void *) facts };
        Drive *d;
        TemporaryValues *t;
        FILE *f;

        ck_assert_int_eq(drive_new("sda", "/dev/sda", "/sys/block/sda", &lookup, &d), 0);
        ck_assert_int_eq(temporary_name(d, &name), 0);
        ck_assert(starts_with(name, TEMPORARY_PREFIX));
        ck_assert_int_eq(temporary_read(scratch, d, &fake_table, &t), 0);
        ck_assert_ptr_null(t);

        set("apm=128");
        set("-epc=on/off");
        values->diskseq = d->diskseq;
        ck_assert_int_eq(temporary_serialize(values, &text), 0);
        (void) snprintf(path, sizeof path, "%s/%s", scratch, name);
        f = fopen(path, "we");
        fputs(text, f);
        (void) fclose(f);
        ck_assert_int_eq(temporary_read(scratch, d, &fake_table, &t), 0);
        ck_assert_str_eq(format(t), "apm=128 -epc=on/off");
        (void) temporary_free(t);

        /* A drive that was detached and attached again has a new diskseq: the values of clients have ended. */
        d->diskseq++;
        ck_assert_int_eq(temporary_read(scratch, d, &fake_table, &t), 0);
        ck_assert_str_eq(format(t), "apm=128");
        (void) temporary_free(t);

        ck_assert_int_eq(truncate(path, 5), 0);
        ck_assert_int_eq(temporary_read(scratch, d, &fake_table, &t), -EBADMSG);
        ck_assert_int_eq(temporary_read_file("/nonexistent", name, &fake_table, &t), 0);
        (void) drive_free(d);
}
END_TEST

/* ---- wishes ---- */

static const struct {
        const char *file; /* value of apm in the configuration, or "error"; NULL: none */
        const char *values[3];
        const char *expected; /* expected wanted settings, each with the command of the temporary value, or its origin */
} overlays[] = {
        { NULL, { NULL }, "" },
        { "64", { NULL }, "apm=64 a.conf" },
        { "64", { "apm=128" }, "apm=128 try" },
        { NULL, { "apm=128" }, "apm=128 try" },
        { "error", { "apm=128" }, "apm=128 try" },
        { "64", { "-apm=128/254" }, "apm=128 tune" },
        /* A client's value has priority over a value that lasts until boot, even if the client's value is older. */
        { "64", { "-apm=1/64", "apm=128/64" }, "apm=1 tune" },
        /* After a temporary value has ended, the configuration's value is wanted. If the configuration has no value,
         * the value that the drive had before the temporary value is wanted. */
        { "64", { "<apm=128/254" }, "apm=64 a.conf" },
        { "error", { "<apm=128/254" }, "apm=254 drivekeep try" },
        { NULL, { "<apm=128/254" }, "apm=254 drivekeep try" },
        { NULL, { "<apm=128" }, "" },
        { NULL, { "apm=128", "lookahead=off" }, "apm=128 try lookahead=off try" },
};

START_TEST(test_overlay) {
        const Setting *apm = setting_find(&fake_table, "apm");
        char text[256] = "", value[VALUE_TEXT_MAX];
        Wishes w = {};
        size_t n = 0;

        if (overlays[_i].file) {
                Wish rule = { .name = "apm",
                              .file = "a.conf",
                              .line = 3,
                              .permanent = true,
                              .withheld = streq(overlays[_i].file, "error") };

                ck_assert(rule.withheld || value_parse(&apm->range, overlays[_i].file, &rule.value) == 0);
                ck_assert_int_eq(wishes_add(&w, &rule), 0);
        }
        for (const char *const *v = overlays[_i].values; *v; v++)
                set(*v);
        ck_assert_int_eq(temporary_overlay(values, &w), 0);
        for (const Wish *i = w.items; i < w.items + w.n_items; i++) {
                n += (size_t) snprintf(text + n, sizeof text - n, "%s%s=%s %s", n > 0 ? " " : "", i->name,
                                       value_format(&setting_find(&fake_table, i->name)->range, &i->value, value),
                                       i->temporary ? temporary_to_string(i->temporary) : i->file);
                /* A drive does not save a temporary value. */
                ck_assert_int_eq(i->permanent, streq(i->file, "a.conf"));
        }
        ck_assert_str_eq(text, overlays[_i].expected);
        wishes_done(&w);
        ck_assert_int_eq(temporary_overlay(NULL, &w), 0);
}
END_TEST

static const struct {
        Verdict verdict;
        bool barred, no_effect, no_effect_after_change;
} verdicts[] = {
        { VERDICT_UNSUPPORTED, true, true, true }, { VERDICT_FORBIDDEN, true, true, true },
        { VERDICT_QUARANTINED, true, true, true }, { VERDICT_REFUSED, false, true, false },
        { VERDICT_IGNORED, false, true, false },   { VERDICT_APPLIED, false, false, false },
        { VERDICT_DEFERRED, false, false, false },
};

START_TEST(test_no_effect) {
        ck_assert(temporary_is_barred(verdicts[_i].verdict) == verdicts[_i].barred);
        ck_assert(temporary_has_no_effect(verdicts[_i].verdict, true) == verdicts[_i].no_effect);
        ck_assert(temporary_has_no_effect(verdicts[_i].verdict, false) == verdicts[_i].no_effect_after_change);
}
END_TEST

int main(void) {
        Suite *s = suite_create("temporary");
        TCase *t = tcase_create("temporary");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_test(t, test_set);
        tcase_add_test(t, test_copy);
        tcase_add_loop_test(t, test_parse, 0, ELEMENTSOF(texts));
        tcase_add_test(t, test_files);
        tcase_add_loop_test(t, test_overlay, 0, ELEMENTSOF(overlays));
        tcase_add_loop_test(t, test_no_effect, 0, ELEMENTSOF(verdicts));
        suite_add_tcase(s, t);
        return suite_run(s);
}
