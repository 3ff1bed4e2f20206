/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <check.h>

#include "config-dump.h"

static DriveLink links[] = {
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
        const char *wishes; /* "name=value@line", "!" for a withheld one, and the stacked link */
} cases[] = {
        { "drives = ();", "" },
        { "drives = ({ match = \"/dev/sdb\"; apm = 1 });", "" },
        { "drives = ({ match = \"/dev/sda\"; apm = 1; lookahead = true });", "apm=1@1 lookahead=on@1" },

        /* Later blocks win, setting by setting. */
        { "drives = ({ match = {}; apm = 1; lookahead = true },\n{ match = { serial = \"S1\" }; apm = 2 });",
          "apm=2@2 lookahead=on@1" },
        { "drives = ({ match = \"/dev/sda\"; apm = 2 },\n{ match = {}; apm = 1 });", "apm=1@2" },
        /* An alias sets its target. */
        { "drives = ({ match = {}; read_ahead_kb = 512 },\n{ match = {}; read_ahead_sect = 256 });",
          "read_ahead_kb=128 KiB@2" },

        /* "keep" cancels, also what is withheld; a later value comes through again. */
        { "drives = ({ match = {}; apm = 1; lookahead = true },\n{ match = {}; apm = \"keep\" });", "lookahead=on@1" },
        { "drives = ({ match = {}; apm = 300 },\n{ match = {}; apm = \"keep\" });", "" },
        { "drives = ({ match = {}; apm = \"keep\" },\n{ match = {}; apm = 1 });", "apm=1@2" },

        /* A value in error lets no earlier one through; a sound later one counts. */
        { "drives = ({ match = {}; apm = 1 },\n{ match = \"/dev/sda\"; apm = 300 });", "apm=!@2" },
        { "drives = ({ match = {}; apm = 1 },\n{ match = \"/dev/sda\"; amp = 3 });", "apm=!@2" },
        { "drives = ({ match = \"/dev/sda\"; apm = 300 },\n{ match = \"/dev/sda\"; apm = 3 });", "apm=3@2" },
        { "drives = ({ match = {}; apm = 1; lookahead = true },\n{ match = \"/dev/sda\"; apm = on });",
          "apm=!@2 lookahead=on@1" },
        { "drives = ({ match = {}; apm = 1 },\n{ match = \"/dev/sda\"; apm = \"keep\"; lookahead = on });",
          "apm=!@2 lookahead=!@2" },
        { "drives = ({ match = {}; apm = 1 },\n{ match = \"/dev/sdb\"; apm = on });", "apm=1@1" },
        /* All its names are readable: only those are held back. */
        { "drives = ({ match = {}; apm = 1; lookahead = true },\n{ match = \"/dev/sda\"; apm = = 2 });",
          "apm=!@2 lookahead=on@1" },
        /* A lost match stops the general rules, not those for the drive itself. */
        { "drives = ({ match = {}; apm = 1; lookahead = true },\n{ match = /dev/sda; apm = 2 },\n"
          "{ match = \"/dev/sda\"; apm = 3 });", "apm=3@3 lookahead=!@1" },

        /* By a link above the drive: with a notice. */
        { "drives = ({ match = \"/dev/md0\"; apm = 1 });", "apm=1@1(/dev/md0)" },
        { "drives = ({ match = [\"/dev/md0\", \"/dev/sda\"]; apm = 1 });", "apm=1@1" },
        { "drives = ({ match = [\"/dev/md0\", \"/dev/disk/by-id/*\"]; apm = 1 });", "apm=1@1" },
        { "drives = ({ match = \"/dev/md0\"; apm = 1 },\n{ match = \"/dev/sda\"; apm = 2 });", "apm=2@2" },
};

static const struct {
        const char *a, *b;
        bool equal;
} pairs[] = {
        { "drives = ({ match = {}; apm = 1; lookahead = true });",
          "# moved\ndrives = ({ match = {}; lookahead = true }, { match = \"/dev/sda\"; apm = 1 });", true },
        { "drives = ({ match = {}; apm = 1 });", "drives = ({ match = {}; apm = 2 });", false },
        { "drives = ({ match = {}; apm = 1 });", "drives = ({ match = {}; apm = 300 });", false },
        { "drives = ({ match = {}; apm = 1 });", "drives = ({ match = {}; lookahead = 1 });", false },
        { "drives = ({ match = {}; apm = 1 });", "", false },
        { "drives = ({ match = {}; apm = 400 });", "drives = ({ match = {}; apm = 300 });", true },
        { "drives = ({ match = {}; scheduler = \"none\" });",
          "drives = ({ match = {}; scheduler = \"bfq\" });", false },
};
/* clang-format on */

static Config *parse(const char *text) {
        Config *c;

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_parse(c, &fake_table, "f", text, strlen(text)), 0);
        return c;
}

START_TEST(test_resolve) {
        _cleanup_(config_freep) Config *c = parse(cases[_i].text);
        _cleanup_(wishes_done) Wishes w = {};
        char text[256] = "", buf[VALUE_TEXT_MAX];
        size_t used = 0;

        ck_assert_int_eq(config_resolve(c, &drive, &w), 0);
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
        ck_assert_str_eq(text, cases[_i].wishes);
}
END_TEST

START_TEST(test_equal) {
        _cleanup_(config_freep) Config *a = parse(pairs[_i].a), *b = parse(pairs[_i].b);
        _cleanup_(wishes_done) Wishes x = {}, y = {};

        ck_assert_int_eq(config_resolve(a, &drive, &x), 0);
        ck_assert_int_eq(config_resolve(b, &drive, &y), 0);
        ck_assert_int_eq(wishes_equal(&x, &y), pairs[_i].equal);
        ck_assert_int_eq(wishes_equal(&y, &x), pairs[_i].equal);
        ck_assert(wishes_equal(&x, &x));
}
END_TEST

/* What the files want of the drive with this node for apm; 0: nothing, -1: withheld. */
static int resolve_apm(const Config *c, const char *node) {
        _cleanup_(wishes_done) Wishes w = {};
        const Drive d = { .name = (char *) "x", .node = (char *) node, .transport = TRANSPORT_SATA };

        ck_assert_int_eq(config_resolve(c, &d, &w), 0);
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

/* Every slip of one character in one block of three: whenever there is an error, the general rule does not reach the
 * drive that the block protects, and the third block lives. */
START_TEST(test_slips) {
        static const char *const middle[] = {
                "{ match = \"/dev/sda\"; apm = 1; }",
                "{\n  match = { node = [\"/dev/sda\", \"/dev/sdx\"]; transport = \"sata\"; };\n  # why\n  apm = 1;\n}",
                "{ apm = 1, lookahead = \"off\", match = (\"/dev/sda\") }",
                "{ match = \"/dev/\" \"sda\"; spindown_time = \"20min\"; apm = 0x01 /* low */; }",
        };
        static const char slips[] = "(){}[]=;,:\"'\\/*#\n a1_.";
        static const char head[] = "drives = (\n{ match = {}; apm = 9; },\n";
        static const char tail[] = ",\n{ match = \"/dev/sdb\"; apm = 3; }\n);\n";
        const char *m = middle[_i];

        for (size_t at = 0; at <= strlen(m); at++)
                for (size_t k = 0; k < 2 * sizeof slips; k++) {
                        _cleanup_(config_freep) Config *c = NULL;
                        char text[512], put[] = { slips[k / 2], '\0' }; /* the NUL at its end: leave out only */
                        bool replace = k % 2;

                        if (replace && at == strlen(m))
                                continue;
                        (void) snprintf(text, sizeof text, "%s%.*s%s%s%s", head, (int) at, m, put, m + at + replace,
                                        tail);
                        c = parse(text);
                        if (c->complaints.n_errors > 0)
                                ck_assert_msg(resolve_apm(c, "/dev/sda") != 9, "%s", text);
                        /* But a comment without an end may have been meant to hold the rest. */
                        ck_assert_msg(resolve_apm(c, "/dev/sdb") == 3 || says(c, "comment is not closed"), "%s", text);
                }
}
END_TEST

int main(void) {
        Suite *suite = suite_create("resolve");
        TCase *tc = tcase_create("resolve");
        SRunner *runner;
        int failed;

        tcase_add_loop_test(tc, test_resolve, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(tc, test_equal, 0, ELEMENTSOF(pairs));
        tcase_add_loop_test(tc, test_slips, 0, 4);
        suite_add_tcase(suite, tc);

        runner = srunner_create(suite);
        srunner_run_all(runner, CK_ENV);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);

        return failed > 0;
}
