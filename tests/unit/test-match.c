/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <limits.h>
#include <time.h>

#include "match.h"
#include "suite.h"

static DriveLink links[] = {
        { (char *) "/dev/sda", LINK_OWN },
        { (char *) "/dev/disk/by-id/ata-ST2000DL003-9VT166_5YD1AAAA", LINK_OWN },
        { (char *) "/dev/disk/by-id/ata-ST2000DL003-9VT166_5YD1AAAA-part1", LINK_PARTITION },
        { (char *) "/dev/sda1", LINK_PARTITION },
        { (char *) "/dev/disk/by-label/my\\x20disk\\x2fold\\x2a", LINK_PARTITION },
        { (char *) "/dev/md0", LINK_STACKED },
        { (char *) "/dev/disk/by-label/both", LINK_STACKED },
        { (char *) "/dev/disk/by-label/both", LINK_PARTITION },
};

static char properties[] = "ID_BUS=ata\0ID_FS_LABEL_ENC=my\\x20disk\\x5c";

static const Drive drive = {
        .name = (char *) "sda",
        .node = (char *) "/dev/sda",
        .model = (char *) "ST2000DL003  9VT166",
        .serial = (char *) "  5YD1AAAA_",
        .wwn = (char *) "0x5000c50012345678",
        .vendor = (char *) "ATA     ",
        .transport = TRANSPORT_SATA,
        .rotational = true,
        .properties = properties,
        .properties_size = sizeof properties,
        .links = links,
        .n_links = ELEMENTSOF(links),
};

/* clang-format off */
static const struct {
        MatchKey key;
        const char *property;
        const char *pattern;
        bool fits;
        const char *link; /* expected link; NULL: no link */
} criteria[] = {
        { MATCH_NODE, NULL, "/dev/sda",                                   true,  "/dev/sda" },
        { MATCH_NODE, NULL, "/dev/sd[a-e]",                               true,  "/dev/sda" },
        { MATCH_NODE, NULL, "/dev/sd[!a]",                                false, NULL },
        { MATCH_NODE, NULL, "/dev/sd*",                                   true,  "/dev/sda" }, /* /dev/sda is preferred to /dev/sda1 */
        { MATCH_NODE, NULL, "/dev/*",                                     true,  "/dev/sda" }, /* /dev/sda is preferred to sda1 and md0 */
        { MATCH_NODE, NULL, "/dev/disk/*",                                false, NULL }, /* '*' does not match '/' */
        { MATCH_NODE, NULL, "/dev/sda?",                                  true,  "/dev/sda1" },
        { MATCH_NODE, NULL, "/dev/disk/by-id/ata-ST2000DL003-*",          true,
          "/dev/disk/by-id/ata-ST2000DL003-9VT166_5YD1AAAA" },
        { MATCH_NODE, NULL, "/dev/disk/by-id/*-part1",                    true,
          "/dev/disk/by-id/ata-ST2000DL003-9VT166_5YD1AAAA-part1" },
        { MATCH_NODE, NULL, "/dev/md0",                                   true,  "/dev/md0" },
        { MATCH_NODE, NULL, "/dev/md1",                                   false, NULL },
        /* A label with udev's escapes matches in escaped and in decoded form. */
        { MATCH_NODE, NULL, "/dev/disk/by-label/my\\x20disk\\x2fold\\x2a", true,
          "/dev/disk/by-label/my\\x20disk\\x2fold\\x2a" },
        { MATCH_NODE, NULL, "/dev/disk/by-label/my disk*",                true,
          "/dev/disk/by-label/my\\x20disk\\x2fold\\x2a" },
        { MATCH_NODE, NULL, "/dev/disk/by-label/my\\x2a",                 false, NULL }, /* \x2a stands for '*' itself, not for any text */
        { MATCH_NODE, NULL, "/dev/disk/by-label/my disk\\x2Fold\\*",      false, NULL }, /* udev's \x2f is not decoded to '/' */

        { MATCH_MODEL, NULL, "ST2000DL003 9VT166",                        true,  NULL },
        { MATCH_MODEL, NULL, "ST2000DL003_9VT166",                        true,  NULL },
        { MATCH_MODEL, NULL, " ST2000* ",                                 true,  NULL },
        { MATCH_MODEL, NULL, "ST2000",                                    false, NULL },
        { MATCH_MODEL, NULL, "st2000*",                                   false, NULL },
        { MATCH_SERIAL, NULL, "5YD1AAAA",                                 true,  NULL },
        { MATCH_SERIAL, NULL, "5YD1????",                                 true,  NULL },
        { MATCH_VENDOR, NULL, "ATA",                                      true,  NULL },
        { MATCH_FIRMWARE, NULL, "*",                                      false, NULL }, /* no pattern matches firmware that is not known */
        { MATCH_WWN, NULL, "0x5000c50012345678",                          true,  NULL },
        { MATCH_WWN, NULL, "5000C50012345678",                            true,  NULL },
        { MATCH_WWN, NULL, "naa.5000c50012345678",                        true,  NULL },
        { MATCH_WWN, NULL, "eui.5000c5*",                                 true,  NULL },
        { MATCH_WWN, NULL, "0x5000C5001234567\\8",                        true,  NULL },
        { MATCH_WWN, NULL, "0x5000c50012345679",                          false, NULL },
        { MATCH_TRANSPORT, NULL, "sata",                                  true,  NULL },
        { MATCH_TRANSPORT, NULL, "?ata",                                  true,  NULL },
        { MATCH_TRANSPORT, NULL, "usb",                                   false, NULL },
        { MATCH_ROTATIONAL, NULL, "true",                                 true,  NULL },
        { MATCH_ROTATIONAL, NULL, "YES",                                  true,  NULL },
        { MATCH_ROTATIONAL, NULL, "off",                                  false, NULL },
        { MATCH_REMOVABLE, NULL, "no",                                    true,  NULL },
        { MATCH_PROPERTY, "ID_BUS", "a*",                                 true,  NULL },
        { MATCH_PROPERTY, "ID_BUS", "scsi",                               false, NULL },
        { MATCH_PROPERTY, "ID_NONE", "*",                                 false, NULL },
        { MATCH_PROPERTY, "ID_FS_LABEL_ENC", "my disk\\\\",               true,  NULL },
        { MATCH_PROPERTY, "ID_FS_LABEL_ENC", "my\\x20disk\\x5c",          true,  NULL },
};

static const struct {
        MatchKey key;
        const char *pattern;
} bad[] = {
        { MATCH_NODE, "sda" }, { MATCH_NODE, "*" }, { MATCH_NODE, "" }, { MATCH_NODE, "disk/by-id/x" },
        { MATCH_TRANSPORT, "ide" }, { MATCH_TRANSPORT, "SATA" }, { MATCH_ROTATIONAL, "maybe" },
        { MATCH_REMOVABLE, "2" }, { MATCH_SERIAL, "" },
};

static const struct {
        const char *pattern, *text;
        bool fits;
} loose[] = {
        { "WDC WD*EFRX*",   "WDC_WD20EFRX-68EUZN0",   true  },
        { "WDC WD*EFRX*",   "WDC  WD20EFRX-68EUZN0 ", true  },
        { "WDC_WD20EFRX",   "WDC WD20EFRX",           true  },
        { "WDC __ WD20",    "WDC_WD20",               true  },
        { "__WD20",         "WD20",                   true  },
        { "WD 20",          "WD20",                   false },
        { "WD[ _]20",       "WD 20",                  true  },
        { "WD[1-3]0",       "WD20",                   true  },
        { "WD\\*",          "WD20",                   false },
        { "WD\\*",          "WD*",                    true  },
        { "WD\\",           "WD20",                   false }, /* a backslash at the end escapes nothing */
        { "WD\\x00",        "WD",                     false }, /* \x00 is not decoded */
        { "WD\\xZZ",        "WD\\xZZ",                true  }, /* \xZZ is no escape, and stays as it is */
        { "WD\\x2a",        "WD20",                   false },
        { "_",              " _ ",                    true  },
};

static const struct {
        struct {
                MatchKey key;
                const char *pattern;
        } criteria[2];
        bool general;
} generals[] = {
        { {},                                                                      true  },
        { { { MATCH_MODEL, "WDC WD20EFRX" } },                                     true  },
        { { { MATCH_TRANSPORT, "sata" }, { MATCH_ROTATIONAL, "true" } },           true  },
        { { { MATCH_NODE, "/dev/sda" } },                                          false },
        { { { MATCH_NODE, "/dev/sda" }, { MATCH_NODE, "/dev/sdb" } },              false },
        { { { MATCH_NODE, "/dev/sda" }, { MATCH_NODE, "/dev/sd[bc]" } },           true  },
        { { { MATCH_NODE, "/dev/sd[bc]" }, { MATCH_NODE, "/dev/sda" } },           true  },
        { { { MATCH_NODE, "/dev/sd*" } },                                          true  },
        { { { MATCH_NODE, "/dev/sd*" }, { MATCH_SERIAL, "X1" } },                  false },
        { { { MATCH_SERIAL, "WD-WCC4*" } },                                        true  },
        { { { MATCH_WWN, "0x5000c50012345678" } },                                 false },
};
/* clang-format on */

START_TEST(test_criterion) {
        _cleanup_(match_done) Match m = {};
        const DriveLink *link = &links[0];

        ck_assert_int_eq(match_add(&m, criteria[_i].key, criteria[_i].property, criteria[_i].pattern), 0);
        ck_assert_int_eq(match_drive(&m, &drive, &link), criteria[_i].fits);
        ck_assert_ptr_eq(match_failing(&m, &drive, NULL), criteria[_i].fits ? NULL : &m.criteria[0]);
        if (criteria[_i].fits)
                ck_assert_msg(streq_ptr(link ? link->path : NULL, criteria[_i].link), "%s",
                              link ? link->path : "no link");
}
END_TEST

START_TEST(test_bad_pattern) {
        _cleanup_(match_done) Match m = {};

        ck_assert_int_eq(match_add(&m, bad[_i].key, NULL, bad[_i].pattern), -EINVAL);
        ck_assert_uint_eq(m.n_criteria, 0);
}
END_TEST

static bool model_fits(const char *pattern, char *text) {
        const Drive d = { .model = text };
        _cleanup_(match_done) Match m = {};

        ck_assert_int_eq(match_add(&m, MATCH_MODEL, NULL, pattern), 0);
        return match_drive(&m, &d, NULL);
}

START_TEST(test_blanks_and_escapes) {
        ck_assert_int_eq(model_fits(loose[_i].pattern, (char *) loose[_i].text), loose[_i].fits);
}
END_TEST

START_TEST(test_general) {
        _cleanup_(match_done) Match m = {};

        for (size_t i = 0; i < 2 && generals[_i].criteria[i].pattern; i++)
                ck_assert_int_eq(match_add(&m, generals[_i].criteria[i].key, NULL, generals[_i].criteria[i].pattern),
                                 0);
        ck_assert_int_eq(match_is_general(&m), generals[_i].general);
}
END_TEST

/* A drive matches if all criteria hold. A criterion holds if one of its patterns matches. */
START_TEST(test_combination) {
        _cleanup_(match_done) Match m = {};

        ck_assert(match_drive(&m, &drive, NULL));

        ck_assert_int_eq(match_add(&m, MATCH_NODE, NULL, "/dev/sdb"), 0);
        ck_assert_int_eq(match_add(&m, MATCH_NODE, NULL, "/dev/sda"), 0);
        ck_assert_int_eq(match_add(&m, MATCH_PROPERTY, "ID_BUS", "ata"), 0);
        ck_assert_uint_eq(m.n_criteria, 2);
        ck_assert(match_drive(&m, &drive, NULL));

        ck_assert_int_eq(match_add(&m, MATCH_PROPERTY, "ID_NONE", "*"), 0);
        ck_assert_uint_eq(m.n_criteria, 3);
        ck_assert(!match_drive(&m, &drive, NULL));
        ck_assert_ptr_eq(match_failing(&m, &drive, NULL), &m.criteria[2]);
}
END_TEST

/* A link of the drive itself is preferred to a link that several drives share. */
START_TEST(test_best_link) {
        _cleanup_(match_done) Match m = {};
        const DriveLink *link;

        ck_assert_int_eq(match_add(&m, MATCH_NODE, NULL, "/dev/disk/by-label/both"), 0);
        ck_assert(match_drive(&m, &drive, &link));
        ck_assert_int_eq(link->via, LINK_PARTITION);

        ck_assert_int_eq(match_add(&m, MATCH_NODE, NULL, "/dev/disk/by-id/*"), 0);
        ck_assert(match_drive(&m, &drive, &link));
        ck_assert_int_eq(link->via, LINK_OWN);
}
END_TEST

START_TEST(test_keys) {
        for (MatchKey k = 0; k < MATCH_PROPERTY; k++)
                ck_assert_int_eq(match_key_from_string(match_key_to_string(k)), k);

        ck_assert_int_eq(match_key_from_string("ID_BUS"), MATCH_PROPERTY);
        ck_assert_int_eq(match_key_from_string("property"), _MATCH_KEY_INVALID);
        ck_assert_int_eq(match_key_from_string("Model"), _MATCH_KEY_INVALID);
        ck_assert_int_eq(match_key_from_string(""), _MATCH_KEY_INVALID);
}
END_TEST

/* match_fact() returns the drive's value for each key, or NULL if the value is not known. */
START_TEST(test_facts) {
        static const struct {
                MatchKey key;
                const char *is, *bare_is;
        } facts[] = {
                { MATCH_MODEL, "ST2000DL003  9VT166", NULL },
                { MATCH_SERIAL, "  5YD1AAAA_", NULL },
                { MATCH_VENDOR, "ATA     ", NULL },
                { MATCH_FIRMWARE, NULL, NULL },
                { MATCH_WWN, "0x5000c50012345678", NULL },
                { MATCH_TRANSPORT, "sata", "unknown" },
                { MATCH_ROTATIONAL, "true", "false" },
                { MATCH_REMOVABLE, "false", "true" },
                { MATCH_PROPERTY, "ata", NULL },
                { MATCH_NODE, NULL, NULL },
        };
        const Drive bare = { .node = (char *) "/dev/sdb", .removable = true };
        const Drive untold = { .rotational_unknown = true, .removable_unknown = true };

        for (size_t i = 0; i < ELEMENTSOF(facts); i++) {
                const Criterion c = { .key = facts[i].key, .property = (char *) "ID_BUS" };

                ck_assert_msg(streq_ptr(match_fact(&c, &drive), facts[i].is), "%zu", i);
                ck_assert_msg(streq_ptr(match_fact(&c, &bare), facts[i].bare_is), "%zu", i);
        }
        ck_assert_ptr_null(match_fact(&(Criterion){ .key = MATCH_ROTATIONAL }, &untold));
        ck_assert_ptr_null(match_fact(&(Criterion){ .key = MATCH_REMOVABLE }, &untold));
        ck_assert_ptr_null(match_key_to_string(_MATCH_KEY_INVALID));
        ck_assert_ptr_null(match_key_to_string(_MATCH_KEY_MAX));
}
END_TEST

/* If a rule matches by model, serial number, firmware or WWN, the identity of a drive behind a bridge must be known. */
START_TEST(test_needs_identity) {
        for (MatchKey k = 0; k < _MATCH_KEY_MAX; k++) {
                Criterion both[] = { { .key = MATCH_TRANSPORT }, { .key = k } };
                const Match m = { .criteria = both, .n_criteria = 2 };

                ck_assert_int_eq(match_needs_identity(&m),
                                 k == MATCH_MODEL || k == MATCH_SERIAL || k == MATCH_FIRMWARE || k == MATCH_WWN);
        }
}
END_TEST

/* A hostile pattern is compared in a short time. */
START_TEST(test_hostile_pattern) {
        static const char *const parts[] = { "*a", "*?", "*[!b]", "?*", "*", "[a", "\\x2" };
        _cleanup_(match_done) Match m = {};
        char pattern[600] = "", text[601];
        clock_t start = clock();

        memset(text, 'a', sizeof text);
        text[sizeof text - 1] = '\0';
        while (strlen(pattern) < 500)
                strcat(pattern, parts[_i]);
        strcat(pattern, "b");

        ck_assert(!model_fits(pattern, text));
        ck_assert_int_lt(clock() - start, 2 * CLOCKS_PER_SEC);

        memset(pattern, 'a', 513);
        pattern[513] = '\0';
        ck_assert_int_eq(match_add(&m, MATCH_MODEL, NULL, pattern), -EINVAL);
}
END_TEST

/* No pattern matches a text that is longer than PATH_MAX. */
START_TEST(test_lengthy_text) {
        char text[PATH_MAX + 1];

        memset(text, 'a', sizeof text);
        text[PATH_MAX - 10] = '\0';
        ck_assert(model_fits("a*", text));
        text[PATH_MAX - 10] = 'a';
        text[PATH_MAX] = '\0';
        ck_assert(!model_fits("a*", text));
}
END_TEST

int main(void) {
        Suite *suite = suite_create("match");
        TCase *tc = tcase_create("match");

        tcase_add_loop_test(tc, test_criterion, 0, ELEMENTSOF(criteria));
        tcase_add_loop_test(tc, test_bad_pattern, 0, ELEMENTSOF(bad));
        tcase_add_loop_test(tc, test_blanks_and_escapes, 0, ELEMENTSOF(loose));
        tcase_add_loop_test(tc, test_general, 0, ELEMENTSOF(generals));
        tcase_add_test(tc, test_combination);
        tcase_add_test(tc, test_best_link);
        tcase_add_test(tc, test_keys);
        tcase_add_test(tc, test_facts);
        tcase_add_test(tc, test_needs_identity);
        tcase_add_loop_test(tc, test_hostile_pattern, 0, 7);
        tcase_add_test(tc, test_lengthy_text);
        suite_add_tcase(suite, tc);

        return suite_run(suite);
}
