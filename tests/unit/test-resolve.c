/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config-dump.h"
#include "suite.h"

static DriveLink links[] = {
        { (char *) "/dev/sda", LINK_OWN },
        { (char *) "/dev/disk/by-id/ata-one", LINK_OWN },
        { (char *) "/dev/md0", LINK_STACKED },
};

static const Drive drive = {
        .name = (char *) "sda",
        .node = (char *) "/dev/sda",
        .serial = (char *) "S1",
        .transport = TRANSPORT_SATA,
        .rotational = true,
        .links = links,
        .n_links = ELEMENTSOF(links),
};

/* clang-format off */
static const struct {
        const char *text;
        const char *wishes; /* expected "name=value@line"; "(LINK)": a stacked device matched; value "!": withheld */
        const char *on_battery; /* expected on battery; NULL: same as `wishes` */
} cases[] = {
        { "drives = ();", "" },
        { "drives = ({ match = \"/dev/sdb\"; apm = 1 });", "" },
        { "drives = ({ match = \"/dev/sda\"; apm = 1; lookahead = true });", "apm=1@1 lookahead=on@1" },

        /* For each setting, the last block that sets it wins. */
        { "drives = ({ match = {}; apm = 1; lookahead = true },\n{ match = { serial = \"S1\" }; apm = 2 });",
          "lookahead=on@1 apm=2@2" },
        { "drives = ({ match = \"/dev/sda\"; apm = 2 },\n{ match = {}; apm = 1 });", "apm=1@2" },
        /* A setting that a later block sets again moves to the end, because the later of two exclusive settings
         * wins. */
        { "drives = ({ match = {}; epc = true; apm = 1 },\n{ match = {}; epc = true });", "apm=1@1 epc=on@2" },
        { "drives = ({ match = {}; apm = 1; on_battery = { epc = true }; lookahead = true });",
          "apm=1@1 lookahead=on@1", "apm=1@1 lookahead=on@1 epc=on@1" },
        /* read_ahead_sect is an alias of read_ahead_kb. Both set the same state, so the alias replaces the earlier
         * value. */
        { "drives = ({ match = {}; read_ahead_kb = 512 },\n{ match = {}; read_ahead_sect = 256 });",
          "read_ahead_kb=128 KiB@2" },

        /* "keep" removes an earlier value, even a withheld value. A block after "keep" can set a value again. */
        { "drives = ({ match = {}; apm = 1; lookahead = true },\n{ match = {}; apm = \"keep\" });", "lookahead=on@1" },
        { "drives = ({ match = {}; apm = 300 },\n{ match = {}; apm = \"keep\" });", "" },
        { "drives = ({ match = {}; apm = \"keep\" },\n{ match = {}; apm = 1 });", "apm=1@2" },

        /* After an invalid value, the setting is withheld: values of earlier blocks do not apply. A valid value in a
         * later block applies. */
        { "drives = ({ match = {}; apm = 1 },\n{ match = \"/dev/sda\"; apm = 300 });", "apm=!@2" },
        { "drives = ({ match = {}; apm = 1 },\n{ match = \"/dev/sda\"; amp = 3 });", "apm=!@2" },
        { "drives = ({ match = \"/dev/sda\"; apm = 300 },\n{ match = \"/dev/sda\"; apm = 3 });", "apm=3@2" },
        { "drives = ({ match = {}; apm = 1; lookahead = true },\n{ match = \"/dev/sda\"; apm = on });",
          "lookahead=on@1 apm=!@2" },
        { "drives = ({ match = {}; apm = 1 },\n{ match = \"/dev/sda\"; apm = \"keep\"; lookahead = on });",
          "apm=!@2 lookahead=!@2" },
        { "drives = ({ match = {}; apm = 1 },\n{ match = \"/dev/sdb\"; apm = on });", "apm=1@1" },
        /* After a syntax error in a block whose setting names are all readable, only the settings with these names are withheld. */
        { "drives = ({ match = {}; apm = 1; lookahead = true },\n{ match = \"/dev/sda\"; apm = = 2 });",
          "lookahead=on@1 apm=!@2" },
        /* A block with an unreadable match withholds all settings of earlier blocks, but no settings of later
         * blocks. */
        { "drives = ({ match = {}; apm = 1; lookahead = true },\n{ match = /dev/sda; apm = 2 },\n"
          "{ match = \"/dev/sda\"; apm = 3 });", "lookahead=!@1 apm=3@3" },

        /* If only a link of a stacked device matches, this link is recorded. */
        { "drives = ({ match = \"/dev/md0\"; apm = 1 });", "apm=1@1(/dev/md0)" },
        { "drives = ({ match = [\"/dev/md0\", \"/dev/sda\"]; apm = 1 });", "apm=1@1" },
        { "drives = ({ match = [\"/dev/md0\", \"/dev/disk/by-id/*\"]; apm = 1 });", "apm=1@1" },
        { "drives = ({ match = \"/dev/md0\"; apm = 1 },\n{ match = \"/dev/sda\"; apm = 2 });", "apm=2@2" },

        /* On battery, a block's values for battery override its plain values, in whichever order the values are
         * written. */
        { "drives = ({ match = {}; on_battery = {\napm = 2 };\napm = 1; lookahead = true });",
          "apm=1@3 lookahead=on@3", "lookahead=on@3 apm=2@2" },
        { "drives = ({ match = {}; apm = 1; on_battery = { lookahead = true } });", "apm=1@1", "apm=1@1 lookahead=on@1" },
        { "drives = ({ match = {}; apm = 1;\napm_battery = 2 });", "apm=1@1", "apm=2@2" },
        { "drives = ({ match = \"/dev/sdb\"; on_battery = { apm = 2 } });", "" },
        { "drives = ({ match = \"/dev/md0\"; on_battery = { apm = 2 } });", "", "apm=2@1(/dev/md0)" },
        { "drives = ({ match = {}; read_ahead_kb = 512; on_battery = { read_ahead_sect = 256 } });",
          "read_ahead_kb=512 KiB@1", "read_ahead_kb=128 KiB@1" },
        /* A value of a later block overrides an earlier block's value for battery. */
        { "drives = ({ match = {}; on_battery = { apm = 2; lookahead = true } },\n{ match = {}; apm = 1 });",
          "apm=1@2", "lookahead=on@1 apm=1@2" },
        { "drives = ({ match = {}; apm = 1 },\n{ match = {}; on_battery = { apm = 2 } });", "apm=1@1", "apm=2@2" },
        { "drives = ({ match = {}; apm_battery = 2 },\n{ match = {}; on_battery = { apm = 3 } });", "", "apm=3@2" },
        { "drives = ({ match = {}; apm = 1 },\n{ match = {}; on_battery = { apm = \"keep\" } });", "apm=1@1", "" },
        { "drives = ({ match = {}; apm = 1; on_battery = { apm = \"keep\" } });", "apm=1@1", "" },
        { "drives = ({ match = {}; apm = \"keep\"; on_battery = { apm = 1 } });", "", "apm=1@1" },
        { "drives = ({ match = {}; on_battery = { apm = 2 } },\n{ match = {}; apm = \"keep\" });", "" },
        /* An invalid value withholds the setting only on the power source for which the value is written. */
        { "drives = ({ match = {}; apm = 1 },\n{ match = {}; apm = 2; on_battery = { apm = 300 } });",
          "apm=2@2", "apm=!@2" },
        { "drives = ({ match = {}; apm = 1 },\n{ match = {}; apm_battery = 300 });", "apm=1@1", "apm=!@2" },
        { "drives = ({ match = {}; apm = 1 },\n{ match = {}; on_battery = { amp = 3 } });", "apm=1@1", "apm=!@2" },
        { "drives = ({ match = {}; apm = 1 },\n{ match = {}; on_battry = { apm = 3 } });", "apm=!@2" },
        { "drives = ({ match = {}; apm = 300; on_battery = { apm = 2 } });", "apm=!@1", "apm=2@1" },
        /* A syntax error withholds the setting on both power sources. */
        { "drives = ({ match = {}; apm = 1 },\n{ match = {}; on_battery = { match = {}; apm = 3 } });", "apm=!@2" },
        { "drives = ({ match = {}; apm = 1; lookahead = true },\n{ match = \"/dev/sda\"; on_battery = { apm = on } });",
          "lookahead=on@1 apm=!@2" },
        { "drives = ({ match = {}; apm = 1; lookahead = true },\n{ match = \"/dev/sda\"; on_battery = 1; });",
          "apm=!@2 lookahead=!@2" },
        { "drives = ({ match = {}; apm = 1; lookahead = true },\n"
          "{ match = \"/dev/sda\"; on_battery { apm = 2 } });", "lookahead=on@1 apm=!@2" },
        /* A block with an unreadable match withholds settings of earlier blocks on both power sources. */
        { "drives = ({ match = {}; on_battery = { apm = 1 } },\n{ match = /dev/sdb; apm = 2 });", "apm=!@1" },
};

static const struct {
        const char *a, *b;
        bool equal;
} pairs[] = {
        { "drives = ({ match = {}; apm = 1; lookahead = true });",
          "# moved\ndrives = ({ match = {}; lookahead = true }, { match = { transport = \"sata\" }; apm = 1 });", true },
        { "drives = ({ match = {}; apm = 1; epc = true });", "drives = ({ match = {}; lookahead = true; apm = 1; epc = true });", false },
        /* The order matters only for two exclusive settings that are both on, because the later setting wins. */
        { "drives = ({ match = {}; apm = 1; epc = true });", "drives = ({ match = {}; epc = true; apm = 1 });", false },
        { "drives = ({ match = {}; apm = 1; epc = true });", "drives = ({ match = {}; apm = 1 }, { match = {}; epc = true });", true },
        { "drives = ({ match = {}; apm = 1; epc = false });", "drives = ({ match = {}; epc = false; apm = 1 });", true },
        { "drives = ({ match = {}; apm = 300; epc = true });", "drives = ({ match = {}; epc = true; apm = 300 });", true },
        /* A rule for a class of drives and a rule for one drive are not equal: only settings of the rule for a class
         * are optional. */
        { "drives = ({ match = {}; apm = 1 });", "drives = ({ match = \"/dev/sda\"; apm = 1 });", false },
        { "drives = ({ match = {}; apm = 1 });", "drives = ({ match = {}; apm = 2 });", false },
        { "drives = ({ match = {}; apm = 1 });", "drives = ({ match = {}; apm = 300 });", false },
        { "drives = ({ match = {}; apm = 1 });", "drives = ({ match = {}; lookahead = 1 });", false },
        { "drives = ({ match = {}; apm = 1 });", "", false },
        { "drives = ({ match = {}; apm = 400 });", "drives = ({ match = {}; apm = 300 });", true },
        { "drives = ({ match = {}; scheduler = \"none\" });",
          "drives = ({ match = {}; scheduler = \"bfq\" });", false },
        { "drives = ({ match = {}; apm = 1 });", "drives = ({ match = {}; allow_dangerous = true; apm = 1 });", false },
        { "drives = ({ match = {}; apm = 1 });", "drives = ({ match = {}; permanent = true; apm = 1 });", false },
        { "drives = ({ match = {}; apm = 1 });", "drives = ({ match = {}; wake = true; apm = 1 });", false },
        { "drives = ({ match = {}; spindown_time = 12 });", "drives = ({ match = {}; spindown_by = \"auto\"; spindown_time = 12 });", false },
        { "drives = ({ match = {}; spindown_time = 12 });", "drives = ({ match = {}; spindown_by = \"drive\"; spindown_time = 12 });", true },
        { "drives = ({ match = {}; spindown_time = 12 });", "drives = ({ match = {}; wake_together = true; spindown_time = 12 });", false },
        { "drives = ({ match = {}; spindown_time = 12 });", "drives = ({ match = {}; commands_are_use = true; spindown_time = 12 });", false },
};
/* clang-format on */

static void assert_wishes(const Config *c, const Drive *d, bool on_battery, const char *expected) {
        _cleanup_(wishes_done) Wishes w = {};
        char text[256] = "", buf[VALUE_TEXT_MAX];
        size_t used = 0;

        ck_assert_int_eq(config_resolve(c, d, on_battery, &w), 0);
        for (size_t i = 0; i < w.n_items; i++) {
                const Wish *x = &w.items[i];
                const ValueRange *range = &setting_find(&fake_table, x->name)->range;

                ck_assert_str_eq(x->file, "f");
                ck_assert_uint_gt(x->column, 0);
                used += snprintf(text + used, sizeof text - used, "%s%s=%s@%u", i > 0 ? " " : "", x->name,
                                 x->withheld ? "!" : value_format(range, &x->value, buf), x->line);
                if (x->via_stacked)
                        used += snprintf(text + used, sizeof text - used, "(%s)", x->via_stacked);
        }
        ck_assert_str_eq(text, expected);
}

START_TEST(test_resolve) {
        _cleanup_(config_freep) Config *c = parse(cases[_i].text, strlen(cases[_i].text));

        assert_wishes(c, &drive, false, cases[_i].wishes);
        assert_wishes(c, &drive, true, cases[_i].on_battery ?: cases[_i].wishes);
}
END_TEST

/* From a general rule, an optical drive gets only the settings for optical drives. From a rule that names the drive,
 * the drive gets all settings. */
static const struct {
        const char *text, *disk, *optical;
} kinds[] = {
        { "drives = ({ match = {}; apm = 1; cd_speed = 8 });", "apm=1@1", "cd_speed=8@1" },
        { "drives = ({ match = { transport = \"sata\" }; apm = 1; on_battery = { cd_speed = 8 } });", "apm=1@1", "" },
        { "drives = ({ match = \"/dev/sda\"; apm = 1; cd_speed = 8 });", "apm=1@1 cd_speed=8@1",
          "apm=1@1 cd_speed=8@1" },
        { "drives = ({ match = {}; cd_speed = 300 });", "", "cd_speed=!@1" },
};

START_TEST(test_optical) {
        _cleanup_(config_freep) Config *c = parse(kinds[_i].text, strlen(kinds[_i].text));
        Drive optical = drive;

        optical.optical = true;
        assert_wishes(c, &drive, false, kinds[_i].disk);
        assert_wishes(c, &optical, false, kinds[_i].optical);
}
END_TEST

/* A setting is optional if the rule that sets its value matches a class of drives. */
static const struct {
        const char *text;
        bool optional;
} classes[] = {
        { "drives = ({ match = {}; apm = 1 });", true },
        { "drives = ({ match = { transport = \"sata\" }; apm = 1 });", true },
        { "drives = ({ match = { rotational = true }; apm = 1 });", true },
        { "drives = ({ match = \"/dev/sd*\"; apm = 1 });", true },
        { "drives = ({ match = { serial = \"S?\" }; apm = 1 });", true },
        { "drives = ({ match = \"/dev/md0\"; apm = 1 });", true }, /* the class of all drives below md0 */
        { "drives = ({ match = \"/dev/sda\"; apm = 1 });", false },
        { "drives = ({ match = { transport = \"sata\"; serial = \"S1\" }; apm = 1 });", false },
        { "drives = ({ match = {}; apm = 2 }, { match = \"/dev/sda\"; apm = 1 });", false },
        { "drives = ({ match = \"/dev/sda\"; apm = 1 }, { match = {}; apm = 2 });", true },
};

START_TEST(test_optional) {
        _cleanup_(config_freep) Config *c = parse(classes[_i].text, strlen(classes[_i].text));
        _cleanup_(wishes_done) Wishes w = {};

        ck_assert_int_eq(config_resolve(c, &drive, false, &w), 0);
        ck_assert_uint_eq(w.n_items, 1);
        ck_assert_int_eq(w.items[0].optional, classes[_i].optional);
}
END_TEST

START_TEST(test_equal) {
        _cleanup_(config_freep) Config *a = parse(pairs[_i].a, strlen(pairs[_i].a)),
                                       *b = parse(pairs[_i].b, strlen(pairs[_i].b));
        _cleanup_(wishes_done) Wishes x = {}, y = {};

        ck_assert_int_eq(config_resolve(a, &drive, false, &x), 0);
        ck_assert_int_eq(config_resolve(b, &drive, false, &y), 0);
        ck_assert_int_eq(wishes_equal(&x, &y, &fake_table), pairs[_i].equal);
        ck_assert_int_eq(wishes_equal(&y, &x, &fake_table), pairs[_i].equal);
        ck_assert(wishes_equal(&x, &x, &fake_table));
}
END_TEST

static const struct {
        const char *text;
        bool uses_battery;
} uses[] = {
        { "", false },
        { "drives = ({ match = {}; apm = 1 });", false },
        { "drives = ({ match = {}; on_battery = {} });", false },
        { "drives = ({ match = {}; apm = 1 }, { match = {}; lookahead = true; on_battery = { apm = 2 } });", true },
        { "drives = ({ match = {}; apm_battery = 2 });", true },
        { "drives = ({ match = {}; on_battery = { apm = 300 } });", true },
        /* A syntax error withholds apm on both power sources, so no value depends on the power source. */
        { "drives = ({ match = {}; on_battery = { apm = on } });", false },
};

START_TEST(test_uses_battery) {
        _cleanup_(config_freep) Config *c = parse(uses[_i].text, strlen(uses[_i].text));

        ck_assert_int_eq(config_uses_battery(c), uses[_i].uses_battery);
}
END_TEST

/* Returns the wanted value of apm for the drive with this node; 0: none; -1: withheld. */
static int resolve_apm(const Config *c, const char *node, bool on_battery) {
        _cleanup_(wishes_done) Wishes w = {};
        const Drive d = { .name = (char *) "x", .node = (char *) node, .transport = TRANSPORT_SATA };

        ck_assert_int_eq(config_resolve(c, &d, on_battery, &w), 0);
        for (size_t i = 0; i < w.n_items; i++)
                if (streq(w.items[i].name, "apm"))
                        return w.items[i].withheld ? -1 : (int) w.items[i].value.number;

        return 0;
}

static bool says(const Config *c, const char *words) {
        for (size_t i = 0; i < c->complaints.n_items; i++)
                if (strstr(c->complaints.items[i].sentence, words))
                        return true;

        return false;
}

/* Calls `check` for the file after each possible slip in its part `middle`: at each place, each character of `slips` is
 * inserted or replaces a character. */
static void try_slips(const char *head, const char *middle, const char *tail,
                      void (*check)(const Config *c, const char *text)) {
        static const char slips[] = "(){}[]=;,:\"'\\/*#\n a1_.";

        for (size_t at = 0; at <= strlen(middle); at++)
                for (size_t k = 0; k < 2 * sizeof slips; k++) {
                        _cleanup_(config_freep) Config *c = NULL;
                        char text[512], put[] = { slips[k / 2],
                                                  '\0' }; /* a slip of NUL inserts nothing, or removes a character */
                        bool replace = k % 2;

                        if (replace && at == strlen(middle))
                                continue;
                        (void) snprintf(text, sizeof text, "%s%.*s%s%s%s", head, (int) at, middle, put,
                                        middle + at + replace, tail);
                        c = parse(text, strlen(text));
                        check(c, text);
                }
}

static void check_plain(const Config *c, const char *text) {
        if (c->complaints.n_errors > 0)
                ck_assert_msg(resolve_apm(c, "/dev/sda", false) != 9, "%s", text);
        /* An unterminated comment may have been meant to include the rest of the file. */
        ck_assert_msg(resolve_apm(c, "/dev/sdb", false) == 3 || says(c, "comment is not closed"), "%s", text);
}

/* After any error in the second block, the general rule in the first block does not apply to the drive of the second
 * block. The third block still applies. */
START_TEST(test_slips) {
        static const char *const middle[] = {
                "{ match = \"/dev/sda\"; apm = 1; }",
                "{\n  match = { node = [\"/dev/sda\", \"/dev/sdx\"]; transport = \"sata\"; };\n  # why\n  apm = 1;\n}",
                "{ apm = 1, lookahead = \"off\", match = (\"/dev/sda\") }",
                "{ match = \"/dev/\" \"sda\"; spindown_time = \"20min\"; apm = 0x01 /* low */; }",
        };

        try_slips("drives = (\n{ match = {}; apm = 9; },\n", middle[_i], ",\n{ match = \"/dev/sdb\"; apm = 3; }\n);\n",
                  check_plain);
}
END_TEST

static void check_battery(const Config *c, const char *text) {
        int mains = resolve_apm(c, "/dev/sda", false), battery = resolve_apm(c, "/dev/sda", true);

        ck_assert_msg(mains != 2 && mains != 8, "%d: %s", mains, text);
        if (c->complaints.n_errors > 0) {
                ck_assert_msg(mains != 9, "%d: %s", mains, text);
                ck_assert_msg(battery == 2 || battery == -1, "%d: %s", battery, text);
        }
        ck_assert_msg((resolve_apm(c, "/dev/sdb", false) == 3 && resolve_apm(c, "/dev/sdb", true) == 4) ||
                                      says(c, "comment is not closed"),
                      "%s", text);
}

/* With any wrong character in the second block, no value for battery applies on mains, and no value for mains applies
 * on battery. */
START_TEST(test_battery_slips) {
        static const char *const middle[] = {
                "{ match = \"/dev/sda\"; apm = 1; on_battery = { apm = 2; }; }",
                "{\n  match = \"/dev/sda\";\n  on_battery = {\n    lookahead = \"off\";\n    apm = 2;\n  };\n  apm = 1;\n}",
                "{ on_battery: { apm: 2, timeout: \"5s\" }, apm: 1, match: { node: \"/dev/sda\" } }",
                "{ match = \"/dev/sda\"; apm = 1; apm_battery = 2; }",
        };

        try_slips("drives = (\n{ match = {}; apm = 9; on_battery = { apm = 8; }; },\n", middle[_i],
                  ",\n{ match = \"/dev/sdb\"; apm = 3; on_battery = { apm = 4; }; }\n);\n", check_battery);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("resolve");
        TCase *tc = tcase_create("resolve");
        tcase_set_timeout(tc, 60);

        tcase_add_loop_test(tc, test_resolve, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(tc, test_optical, 0, ELEMENTSOF(kinds));
        tcase_add_loop_test(tc, test_optional, 0, ELEMENTSOF(classes));
        tcase_add_loop_test(tc, test_equal, 0, ELEMENTSOF(pairs));
        tcase_add_loop_test(tc, test_uses_battery, 0, ELEMENTSOF(uses));
        tcase_add_loop_test(tc, test_slips, 0, 4);
        tcase_add_loop_test(tc, test_battery_slips, 0, 4);
        suite_add_tcase(suite, tc);

        return suite_run(suite);
}
