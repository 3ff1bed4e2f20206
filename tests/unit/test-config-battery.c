/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parsing of on_battery = { … } and apm_battery. test-resolve.c tests their effect on a drive. */

#include "config-dump.h"
#include "suite.h"

/* clang-format off */
static const struct {
        const char *text, *dump;
        Expected complaints[EXPECTED_MAX];
} files[] = {
#define BATTERY(inside) "drives = ({ match = {}; apm = 1; on_battery = { " inside " }; lookahead = true })"
        { BATTERY("apm = 2; write_cache = \"keep\"; spindown_time = \"5min\""),
          "1: > apm=1 battery:apm=2 battery:write_cache=keep battery:spindown_time=5 min lookahead=on\n", {} },
        { "drives = ({ on_battery: { apm: 2, }, match: {} }, { match = {};\n on_battery =\n{\napm = 1\n} })",
          "1: > battery:apm=2\n1: > battery:apm=1\n", {} },
        { "drives = ({ match = {}; apm = 1; apm_battery = 2 }, { match = {}; apm_battery = \"keep\" });",
          "1: > apm=1 battery:apm=2\n1: > battery:apm=keep\n", {} },
        { BATTERY("read_ahead_sect = 1024"), "1: > apm=1 battery:read_ahead_kb=512 KiB lookahead=on\n", {} },
        { BATTERY(""), "1: > apm=1 lookahead=on\n", { { 1, 47, 'w', "this on_battery is empty" } } },
        { BATTERY("apm = 300;\n write_cache = \"maybe\"; scheduler = \"none\""),
          "1: > apm=1 battery:apm=! battery:write_cache=! battery:scheduler=none lookahead=on\n",
          { { 1, 55, 'e', "300 is out of range for apm" }, { 2, 16, 'e', "\"maybe\" is not a valid value for write_cache" } } },
        { BATTERY("apm = (2)"), "1: > apm=1 battery:apm=! lookahead=on\n", { { 1, 55, 'e', "not a group or a list" } } },
        { BATTERY("apm = [ \"a\" \"b\" ]"), "1: > apm=1 battery:apm=! lookahead=on\n",
          { { 1, 55, 'e', "not a group or a list" } } },
        { BATTERY("amp = 2"), "1: > apm=1 battery:apm=! lookahead=on\n", { { 1, 49, 'e', "did you mean \"apm\"?" } } },
        { BATTERY("amp = 2; apm = 3"), "1: > apm=1 battery:apm=3 lookahead=on\n",
          { { 1, 49, 'e', "did you mean \"apm\"?" } } },
        { BATTERY("colour = 2; apm = 3"), "1: > apm=1 battery:apm=3 lookahead=on\n",
          { { 1, 49, 'e', "unknown setting \"colour\"" } } },
        { "drives = ({ match = {}; apm = 1; apm_batery = 2 });", "1: > apm=1 battery:apm=!\n",
          { { 1, 34, 'e', "did you mean \"apm_battery\"?" } } },
        { "drives = ({ match = {}; apm = 1; apm_battery = 300 });", "1: > apm=1 battery:apm=!\n",
          { { 1, 48, 'e', "300 is out of range for apm_battery" } } },

        /* A setting given twice for the same power source is an error. A value for mains and a value for battery are no error. */
        { BATTERY("apm = 2; apm = 3"), "1: > apm=1 battery:apm=! lookahead=on\n",
          { { 1, 58, 'e', "\"apm\" is set twice in this block" } } },
        { BATTERY("apm = 2; apm_battery = 3"), "1: > apm=1 battery:apm=3 lookahead=on\n",
          { { 1, 58, 'w', "\"apm_battery\" overrides \"apm\" in line 1: both change the same setting" } } },
        { "drives = ({ match = {}; apm_battery = 2;\n on_battery = { lookahead = true; };\n on_battery = { timeout = 3; }; })",
          "1! > battery:apm=! battery:lookahead=! battery:timeout=!\n",
          { { 3, 2, 'e', "\"on_battery\" is given twice in this block" },
            { 3, 27, 'e', "write \"3 s\"" } } },

        /* Keys that are not allowed in on_battery break the block. */
        { BATTERY("match = \"/dev/sda\"; apm = 2"), "1! > apm=! battery:apm=! lookahead=!\n",
          { { 1, 49, 'e', "on_battery holds only settings, not match" } } },
        { BATTERY("allow_dangerous = true; apm = 2"), "1! > apm=! battery:apm=! lookahead=!\n",
          { { 1, 49, 'e', "on_battery holds only settings, not allow_dangerous" } } },
        { BATTERY("on_battery = { apm = 2 }; timeout = \"2s\""),
          "1! > apm=! battery:timeout=! lookahead=!\n",
          { { 1, 49, 'e', "on_battery holds only settings, not on_battery" } } },
        { BATTERY("apm = 2; serial = \"x\""), "1! > apm=! battery:apm=! lookahead=!\n",
          { { 1, 58, 'e', "write it inside match" } } },

        /* It is an error if on_battery is not a group, is mistyped, lacks its "=", or is outside a block. */
        { "drives = ({ match = {}; apm = 1; sometimes = { apm = 2 } })", "1! > apm=!\n",
          { { 1, 34, 'e', "unknown setting \"sometimes\"" } } },
        { "drives = ({ match = {}; apm = 1; on_battery = 128 })", "1! > apm=!\n",
          { { 1, 47, 'e', "on_battery is a group of settings" } } },
        { "drives = ({ match = {}; on_battery = (\"apm\") })", "1! >\n",
          { { 1, 38, 'e', "on_battery is a group of settings" } } },
        { "drives = ({ match = {}; apm = 1; on_battry = { apm = 2; amp = 3 } })", "1! > apm=!\n",
          { { 1, 34, 'e', "unknown setting \"on_battry\"; did you mean \"on_battery\"?" } } },
        { "drives = ({ match = {}; apm = 1; on_battry = 2 })", "1! > apm=!\n",
          { { 1, 34, 'e', "did you mean \"on_battery\"?" } } },
        { "drives = ({ match = {}; apm = 1; ap_battery = { apm = 2 } })", "1! > apm=! battery:apm=!\n",
          { { 1, 34, 'e', "did you mean \"apm_battery\"?" } } },
        { "drives = ({ match = {}; apm = 1; on_battery { apm = 2 }; timeout = \"2s\" })", "1! > apm=! timeout=!\n",
          { { 1, 34, 'e', "\"=\" is missing after \"on_battery\"" } } },
        { "drives = (\n" GOOD "\n);\non_battery = { apm = 1 };", GOOD_DUMP(2),
          { { 4, 1, 'e', "\"on_battery\" is a drive setting" } } },
        { "on_battery = { apm = 1 }; drives = ();", "", { { 1, 1, 'e', "\"on_battery\" is a drive setting" } } },

        /* A syntax error inside or outside on_battery breaks the whole block: its values are applied neither on mains nor on battery. */
        { BROKEN("  { match = \"/dev/sda\"; apm = 3; on_battery = { apm = on; timeout = \"2s\" } }"),
          BROKEN_DUMP("3! node=/dev/sda > apm=! battery:apm=! battery:timeout=!\n"),
          { { 3, 55, 'e', "\"on\" is not a valid value for apm, which takes 1...254, or off" } } },
        { BROKEN("  { match = \"/dev/sda\"; on_battery = { apm 3; } }"),
          BROKEN_DUMP("3! node=/dev/sda > battery:apm=!\n"), { { 3, 40, 'e', "\"=\" is missing" } } },
        { BROKEN("  { match = \"/dev/sda\"; on_battery = { apm = 3; }"),
          BROKEN_DUMP("3! node=/dev/sda > battery:apm=!\n"),
          { { 3, 38, 'e', "this on_battery or its block is not closed" } } },
        { BROKEN("  { match = \"/dev/sda\"; on_battery = { apm = 3; permanent = true; lookahead = true; }"),
          BROKEN_DUMP("3! node=/dev/sda >\n"),
          { { 3, 38, 'e', "this on_battery is not closed; write \"};\" after its last key, before \"permanent\" in line 3" } } },
        { BROKEN("  { match = \"/dev/sda\"; on_battery = { apm = 3; }; lookahead = true;"),
          BROKEN_DUMP("3! node=/dev/sda > battery:apm=! lookahead=!\n"), { { 3, 3, 'e', "this block is not closed; write" } } },
        { BROKEN("  { match = \"/dev/sda\"; on_battery = { apm = 3; ); }; }"),
          BROKEN_DUMP("3! node=/dev/sda > battery:apm=!\n"), { { 3, 49, 'e', "\")\" is not expected" } } },
        { BROKEN("  { match = \"/dev/sda\"; apm = 3; ) on_battery = { timeout = \"2s\"; } }"),
          BROKEN_DUMP("3! node=/dev/sda > apm=! battery:timeout=!\n"), { { 3, 34, 'e', "\")\" is not expected" } } },
        { BROKEN("  { match = \"/dev/sda\"; apm = 3}; apm_battery = 2; }"),
          BROKEN_DUMP("3! node=/dev/sda > apm=! battery:apm=!\n"),
          { { 3, 32, 'e', "delete this \"}\": the block continues after it" } } },
        /* Either the "}" after "apm = 3;" or the "}" after "2s" may be surplus. The complaint is at the later of the
         * two brackets. */
        { BROKEN("  { match = \"/dev/sda\"; on_battery = { apm = 3; } timeout = \"2s\"; }; }"),
          BROKEN_DUMP("3! node=/dev/sda > battery:apm=! timeout=!\n"),
          { { 3, 67, 'e', "delete this \"}\": the block continues after it" } } },
};
/* clang-format on */

START_TEST(test_file) {
        assert_file(files[_i].text, files[_i].dump, files[_i].complaints);
}
END_TEST

/* A file that is cut after any byte causes no crash. */
START_TEST(test_file_cut) {
        read_file_cut(files[_i].text);
}
END_TEST

START_TEST(test_position) {
        static const char text[] = "drives = (\n\t{ match = {};\n  on_battery = {\n    apm = 1 } });";
        _cleanup_(config_freep) Config *c = parse(text, strlen(text));

        ck_assert_uint_eq(c->blocks[0].n_assignments, 1);
        ck_assert_uint_eq(c->blocks[0].assignments[0].line, 4);
        ck_assert_uint_eq(c->blocks[0].assignments[0].column, 5);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("config-battery");
        TCase *tc = tcase_create("config-battery");

        tcase_add_loop_test(tc, test_file, 0, ELEMENTSOF(files));
        tcase_add_loop_test(tc, test_file_cut, 0, ELEMENTSOF(files));
        tcase_add_test(tc, test_position);
        suite_add_tcase(suite, tc);

        return suite_run(suite);
}
