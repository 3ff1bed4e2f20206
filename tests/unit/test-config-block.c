/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parsing of three kinds of keys: keys for the whole block, two keys for one setting, and settings that are never
 * written. */

#include "config-dump.h"
#include "suite.h"

/* clang-format off */
static const struct {
        const char *text, *dump;
        Expected complaints[EXPECTED_MAX];
} files[] = {
        /* Settings that exclude each other are no error: which setting is written depends on the drive's support. */
        { "drives = ({ match = {}; apm = 1;\nepc = true; lookahead = true })", "1: > apm=1 epc=on lookahead=on\n", {} },
        { "drives = ({ match = {}; epc = true; apm = 1; on_battery = { epc = true; apm = 2 } })",
          "1: > epc=on apm=1 battery:epc=on battery:apm=2\n", {} },
        /* If two keys of a block, such as read_ahead_kb and read_ahead_sect, set the same setting, the later value
         * wins. */
        { "drives = ({ match = {}; apm = 1; read_ahead_kb = 512; epc = true; read_ahead_sect = 256 })",
          "1: > apm=1 epc=on read_ahead_kb=128 KiB\n",
          { { 1, 67, 'w', "\"read_ahead_sect\" overrides \"read_ahead_kb\" in line 1: both change the same setting, and the later one wins" } } },
        { "drives = ({ match = {}; apm = = 1; epc = true; apm = 2 })", "1! > epc=! apm=!\n", { { 1, 31, 'e', "\"=\" is repeated here" } } },
        { "drives = ({ match = {}; epc = true; apm = 300 })", "1: > epc=on apm=!\n",
          { { 1, 43, 'e', "out of range" } } },
        { "drives = ({ match = {}; epc = true; on_battery = { apm = 1 } })", "1: > epc=on battery:apm=1\n", {} },

        /* A setting that drivekeep never writes causes a warning with the reason. Other settings of the block are not
         * affected. */
        { "drives = ({ match = {}; chipset_pio_mode = 4; apm = 1 })", "1: > chipset_pio_mode=(not kept) apm=1\n",
          { { 1, 25, 'w', "\"chipset_pio_mode\" is never written: the kernel chooses it" } } },
        { "drives = ({ match = {}; security_unlock = \"secret\"; apm = 1 })", "1: > security_unlock=(not kept) apm=1\n",
          { { 1, 25, 'w', "a password does not belong here" } } },
        { "drives = ({ match = {}; chipset_pio_mode = \"keep\" })", "1: > chipset_pio_mode=keep\n", {} },

        /* Keys for the whole block are accepted. An invalid value of a key that narrows the match, such as
         * only_in_raid, breaks the block. */
        { "drives = ({ match = {}; apm = 1; only_in_raid = true; permanent = true })", "1: > apm=1\n", {} },
        { "drives = ({ match = {}; apm = 1; only_in_raid = 5 })", "1! > apm=!\n",
          { { 1, 49, 'e', "5 is out of range for only_in_raid" } } },
        { "drives = ({ match = {}; apm = 1; only_in_rade = true })", "1! > apm=!\n",
          { { 1, 34, 'e', "did you mean \"only_in_raid\"?" } } },
        { "drives = ({ match = {}; apm = 1; permanent = 5 })", "1: > apm=1\n",
          { { 1, 46, 'e', "5 is out of range for permanent" } } },
        { "drives = ({ match = {}; apm = 1; permanant = true })", "1: > apm=1\n",
          { { 1, 34, 'e', "did you mean \"permanent\"?" } } },
        { "drives = ({ match = {}; apm = 1; on_battery = { permanent = true } })", "1! > apm=!\n",
          { { 1, 49, 'e', "on_battery holds only settings, not permanent" } } },

        { "drives = ({ match = {}; spindown_time = \"1h\"; spindown_by = \"auto\"; on_battery = { spindown_time = \"3min\" } })",
          "1: > spindown_time=1 h battery:spindown_time=3 min\n", {} },
        { "drives = ({ match = {}; spindown_time = \"1h\"; spindown_by = \"me\" })", "1: > spindown_time=1 h\n",
          { { 1, 61, 'e', "spindown_by" } } },
        { "drives = ({ match = {}; spindown_time = \"1h\"; spindown_bye = \"auto\" })", "1: > spindown_time=1 h\n",
          { { 1, 47, 'e', "did you mean \"spindown_by\"?" } } },
        { "drives = ({ match = {}; spindown_time = \"1h\"; on_battery = { spindown_by = \"auto\" } })", "1! > spindown_time=!\n",
          { { 1, 62, 'e', "on_battery holds only settings, not spindown_by" } } },

        /* The unclosed block contains brackets, as in "(true)". The ")" in line 2 nevertheless ends the list of
         * drives. */
        { "drives = ({ match = {}; lookahead = (true); apm = 1;\n)\nfsck_wait = \"1min\";", "1! > lookahead=! apm=!\n",
          { { 1, 11, 'e', "this block is not closed; write \"}\" before \")\" in line 2" }, { 1, 37, 'e', "not a group or a list" } } },
};
/* clang-format on */

START_TEST(test_file) {
        assert_file(files[_i].text, files[_i].dump, files[_i].complaints);
}
END_TEST

START_TEST(test_options) {
        static const char text[] = "drives = ({ match = {}; apm = 1; permanent = true },\n"
                                   "{ match = {}; apm = 2; allow_dangerous = \"yes\"; only_in_raid = true })";
        _cleanup_(config_freep) Config *c = parse(text, strlen(text));

        ck_assert(c->blocks[0].permanent && !c->blocks[0].allow_dangerous && !c->blocks[0].only_in_raid);
        ck_assert(!c->blocks[1].permanent && c->blocks[1].allow_dangerous && c->blocks[1].only_in_raid);
}
END_TEST

static const struct {
        const char *word;
        SpindownBy by;
} spindowns[] = {
        { "", SPINDOWN_BY_DRIVE },
        { "spindown_by = \"drive\";", SPINDOWN_BY_DRIVE },
        { "spindown_by = \"service\";", SPINDOWN_BY_SERVICE },
        { "spindown_by = \"Auto\";", SPINDOWN_BY_AUTO },
        { "spindown_by = 1;", SPINDOWN_BY_DRIVE },
        { "spindown_by = true;", SPINDOWN_BY_DRIVE },
        { "wake_together = \"auto\";", SPINDOWN_BY_DRIVE },
};

START_TEST(test_spindown_by) {
        _cleanup_(config_freep) Config *c = NULL;
        char text[128];

        (void) snprintf(text, sizeof text, "drives = ({ match = {}; spindown_time = \"1h\"; %s })", spindowns[_i].word);
        c = parse(text, strlen(text));
        ck_assert_int_eq(c->blocks[0].spindown_by, spindowns[_i].by);
        ck_assert(!c->blocks[0].broken && !c->blocks[0].wake_together);
}
END_TEST

/* No complaint quotes a password. */
START_TEST(test_secrets_are_not_quoted) {
        static const char *const texts[] = {
                "drives = ({ match = {}; security_unlock = \"hunter2\" })",
                "drives = ({ match = {}; security_unlock = [ \"hunter2\" ] })",
                "drives = ({ match = {}; security_unlock = \"hunter2\"; security_unlock = \"hunter2\" })",
                "drives = ({ match = {}; security_unlock hunter2 })",
                "drives = ({ match = {}; security_unlock = \"hunter2 })",
                "drives = ({ match = {}; security_unlok = \"hunter2\" })",
                "security_unlock = \"hunter2\"",
                "drives = ({ match = {}; security_unlock = hunter2 })",
                "drives = ({ match = {}; security_unlock = 'hunter2'; apm = 1 })",
                "drives = ({ match = {}; security_unlock = 1 hunter2; })",
                "drives = ({ match = {}; security_unlock =\nhunter2; apm = 1 })",
                "drives = ({ match = {}; security_unlock = \"a\" hunter2; apm = 1 })",
                "drives = ({ match = {}; security_unlock = a;hunter2; apm = 1 })",
                "drives = ({ match = {}; security_unlok = hunter2; apm = 1 })",
                "drives = ({ match = {}; user-master = }hunter2 })",
                "drives = ({ match = {}; user-master = (hunter2, \"hunter2\" hunter2) })",
                /* Files of other programs. By chance, each file contains one of drivekeep's keys. */
                "timeout = 30\nusername = joe\npassword = hunter2\n",
                "scheduler = x\npassword = \"hunter2\n[more]\n",
        };
        _cleanup_(config_freep) Config *c = parse(texts[_i], strlen(texts[_i]));

        ck_assert_uint_gt(c->complaints.n_items, 0);
        for (size_t i = 0; i < c->complaints.n_items; i++)
                ck_assert_msg(strstr(c->complaints.items[i].sentence, "hunter2") == NULL, "%s: %s", texts[_i],
                              c->complaints.items[i].sentence);
}
END_TEST

/* A wanted setting has the options (permanent, allow_dangerous) of the block that sets its value. */
START_TEST(test_resolve) {
        static const char text[] = "drives = ({ match = {}; apm = 1; lookahead = true; permanent = true },\n"
                                   "{ match = {}; apm = 2; allow_dangerous = true; only_in_raid = true })";
        _cleanup_(config_freep) Config *c = parse(text, strlen(text));
        _cleanup_(wishes_done) Wishes alone = {}, member = {};
        Drive d = { .name = (char *) "sda", .node = (char *) "/dev/sda" };

        ck_assert_int_eq(config_resolve(c, &d, false, &alone), 0);
        ck_assert_int_eq(wishes_find(&alone, "apm")->value.number, 1);
        ck_assert(wishes_find(&alone, "apm")->permanent && !wishes_find(&alone, "apm")->allow_dangerous);

        d.raid = true;
        ck_assert_int_eq(config_resolve(c, &d, false, &member), 0);
        ck_assert_int_eq(wishes_find(&member, "apm")->value.number, 2);
        ck_assert(!wishes_find(&member, "apm")->permanent && wishes_find(&member, "apm")->allow_dangerous);
        ck_assert(wishes_find(&member, "lookahead")->permanent);
        ck_assert(!wishes_equal(&alone, &member, &fake_table));
}
END_TEST

int main(void) {
        Suite *suite = suite_create("config-block");
        TCase *tc = tcase_create("config-block");

        tcase_add_loop_test(tc, test_file, 0, ELEMENTSOF(files));
        tcase_add_test(tc, test_options);
        tcase_add_loop_test(tc, test_spindown_by, 0, ELEMENTSOF(spindowns));
        tcase_add_loop_test(tc, test_secrets_are_not_quoted, 0, 18);
        tcase_add_test(tc, test_resolve);
        suite_add_tcase(suite, tc);

        return suite_run(suite);
}
