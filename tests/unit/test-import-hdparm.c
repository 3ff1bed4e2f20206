/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An imported hdparm.conf has no errors and leads to the same settings as in Debian. Lines that Debian ignores get a comment. */

#include <stdio.h>

#include "command.h"
#include "import-case.h"
#include "suite.h"
#include "written-case.h"

/* Returns the value that the hdparm options in the output of Debian's parser give to the drivekeep setting `name`.
 * Returns NULL if no option sets the setting. */
static const char *debian_value(const ImportCase *c, const char *name, char buf[static 64]) {
        const char *found = NULL;
        _cleanup_free_ char *options = strdup(c->output);

        for (char *saved, *o = strtok_r(options, " ", &saved); o; o = strtok_r(NULL, " ", &saved)) {
                const char *value = o + 2;
                const Keyword *k;

                if (strncmp(o, "force_spindown_time", strlen("force_spindown_time")) == 0) {
                        k = keyword_find("spindown_time", '\0');
                        value = o + strlen("force_spindown_time");
                } else
                        k = o[0] == '-' && o[1] != '-' ? keyword_find(NULL, o[1]) : NULL;
                if (!k || !k->key || !streq(k->key, name))
                        continue;

                if (k->alone || (setting_find(&all_settings, name)->range.type == VALUE_BOOL && streq(value, "1")))
                        value = "on";
                (void) snprintf(buf, 64, "%s", value);
                found = buf;
        }

        return found;
}

static bool is_unasked(const ImportCase *c, const char *name, const char *value) {
        return c->apm && ((streq(name, "apm") && streq(value, c->on_battery ? "128" : "254")) ||
                          (c->on_battery && streq(name, "spindown_time") && streq(value, "36")));
}

static void check_same(const ImportCase *c) {
        static const char *const names[] = { "apm",       "spindown_time",       "write_cache",
                                             "lookahead", "acoustic_management", "read_ahead_sect" };
        _cleanup_free_ char *text = import_to_text(c->conf, c->text, c->size, IMPORT_HDPARM_CONF);
        _cleanup_(config_freep) Config *config = check_config(c->conf, text, is_of_values);
        DriveLink link = { (char *) c->link, LINK_PARTITION };
        const Drive drive = {
                .name = (char *) c->disk + 5,
                .node = (char *) c->disk,
                .links = &link,
                .n_links = c->link != NULL,
        };
        _cleanup_(wishes_done) Wishes wishes = {};

        /* Skips a case in which Debian does not apply what the author of the file meant, for example because a value
         * contains a comment. */
        if (streq(c->conf, "joined.conf") || c->status != 0 || strstr(c->text, "command_line {") ||
            c->disk[strlen(c->disk) - 1] == '/')
                return;

        ck_assert_int_eq(config_resolve(config, &drive, c->on_battery, &wishes), 0);

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                const Setting *row = setting_find(&all_settings, names[i]);
                const Wish *wish = wishes_find(&wishes, setting_state(row));
                char buf[64], ours[VALUE_TEXT_MAX];
                const char *value = debian_value(c, names[i], buf);
                Value v;

                if (!value || value_parse(&row->range, value, &v) < 0)
                        continue; /* Debian sets no value, or a value that hdparm rejects: see test_meant() */
                /* Skips the defaults that Debian adds. On mains, Debian adds apm 254. On battery, Debian adds
                 * spindown_time 36, and adds apm 128 even if the file sets apm. */
                if (is_unasked(c, names[i], value) && (!wish || c->on_battery))
                        continue;
                ck_assert_msg(wish && value_equal(&wish->value, &v), "%s %s, battery %d: %s is %s, not %s\n%s", c->conf,
                              c->disk, c->on_battery, names[i],
                              wish ? value_format(&row->range, &wish->value, ours) : "-", value, text);
        }
}

START_TEST(test_same) {
        size_t n = import_cases(import_directories[_i], check_same);

        ck_assert(_i > 0 || n >= 100);
}
END_TEST

/* clang-format off */
static const WrittenCase cases[] = {
#define CONF "/etc/hdparm.conf"
#define IGNORED "Debian ignores lines in this form, so this line had no effect"
#define NOT_IMPORTED(word) "\"" word "\" is not imported in this form"
#define NO_DRIVE "//     match = \"/dev/disk/by-id/NAME-OF-THE-DRIVE\";\n    //     apm = 254;"
        { CONF, "/dev/sda {\n\tapm = 254\n\tspindown_time = 240\n}\n",
          { "match = \"/dev/sda\";\n", "apm = 254;\n", "spindown_time = 240; // 20 min\n" }, IGNORED },
        /* Users write blocks, lines and comments in several forms. If Debian ignores a form, the import adds a
         * comment. */
        { CONF, "/dev/sda{apm=254;}", { "line 1: " IGNORED, "// apm = \"254;\"; // \"254;\" is not a valid value" } },
        { CONF, "/dev/sda\n{\n apm = 254\n}\n", { "line 2: " IGNORED, "\n        apm = 254;\n" } },
        { CONF, "/dev/sda {\r\n apm = 254\r\n}\r\n", { "\n        apm = 254;\n" } },
        { CONF, "/dev/sda { apm = 254 lookahead = off }", { IGNORED, NOT_IMPORTED("apm") }, "254" },
        { CONF, "/dev/sda {\n apm = 254}\n", { "line 2: " IGNORED, "\n        apm = 254;\n" } },
        { CONF, "sda {\n apm = 254\n}\n", { NOT_IMPORTED("sda"), "this block names no drive", NO_DRIVE } },
        { CONF, "dev/sdc {\n apm = 254\n}\n", { NOT_IMPORTED("dev/sdc"), "this block names no drive", NO_DRIVE } },
        { CONF, "/dev/sda/ {\n apm = 254\n}\n", { "line 1: " IGNORED, "match = \"/dev/sda\"" } },
        { CONF, "\"/dev/sda\" {\n apm = 254\n}\n", { "line 1: \"\" is not imported", "this block names no drive", NO_DRIVE } },
        { CONF, "/dev/sd[ab] {\n apm = 254\n}\n", { "line 1: " IGNORED, "match = \"/dev/sd[ab]\"" } },
        { CONF, "/dev/sd{a,b} {\n apm = 254\n}\n", { "line 1: " IGNORED, "this block names no drive", NO_DRIVE } },
        { CONF, "/dev/disk/by-id/ata-A\\x20B {\n apm = 254\n}\n", { "match = \"/dev/disk/by-id/ata-A\\x20B\";" }, IGNORED },
        { CONF, "/dev/sda {\n apm = \"254\"\n write_cache = off,\n}\n", { "\n        apm = 254;\n", "// write_cache = \"off,\"; // \"off,\" is not a valid value" } },
        { CONF, "/dev/sda {\n write_cache = off # x\n spindown_time = 6 # apm = 9\n}\n", { "\n        write_cache = false;\n        spindown_time = 6; // 30 s\n    }" } },
        { CONF, "/dev/sda {\n spindown_time = 6 two hours\n}\n", { NOT_IMPORTED("spindown_time") }, "hours" },
        { CONF, "/dev/sda { spindown_time = 120; apm = 254 }\n", { NOT_IMPORTED("spindown_time") }, "apm" },
        { CONF, "/dev/sda { apm = 254 ; spindown_time = 6 ;lookahead = on }", { NOT_IMPORTED("apm") }, "spindown_time" },
        { CONF, "/dev/sda, /dev/sdb {\n apm = 254\n}\n", { IGNORED, "( \"/dev/sda\", \"/dev/sdb\" )", "\n        apm = 254;" } },
        { CONF, "/dev/sda,/dev/sdb {\n apm = 254\n}\n", { "( \"/dev/sda\", \"/dev/sdb\" )", "\n        apm = 254;" } },
        { CONF, "/dev/sda\n/dev/sdb\n{\n apm = 254\n}\n", { "( \"/dev/sda\", \"/dev/sdb\" )" } },
        { CONF, "/dev/sda {\n ; apm = 4\n lookahead = on\n // apm = 5\n}\n", { "lookahead = true;" }, "apm =" },
        { CONF, "// caf\xe9\n/dev/sda {\n apm = 254\n}\n", { "\n        apm = 254;" } },
        /* Drives with equal settings share a block. The last value in a block wins. Lines before all blocks apply to
         * all drives. */
        { CONF, "/dev/sda {\n apm = 254\n}\n/dev/sdb {\n apm = 254\n}\n", { "( \"/dev/sda\", \"/dev/sdb\" )", "apm = 254;" } },
        { CONF, "/dev/sda {\n apm = 200\n apm = 254\n}\n", { "\n        apm = 254;" }, "200" },
        { CONF, "/dev/sda {\n force_spindown_time = 36\n}\n", { "\n        spindown_time = 36; // 3 min\n" } },
        { CONF, "lookahead = on\n/dev/sda {\n apm = 254\n}\n", { "\"/dev/[sh]d[a-z]\"", "lookahead = true", "\"/dev/sda\"", "apm = 254;" } },
        { CONF, "apm_battery = 254\n/dev/sda {\n apm = 200\n}\n", { "apm_battery = 254;", "apm = 200;\n        apm_battery = 254;" } },
        { CONF, "/dev/sda {\n standby\n sleep\n}\n", { "standby = true;", "// sleep = \"on\"; // dangerous" } },
        /* Debian uses the value from the first block of a drive, and ignores lines after a block. The ignored lines become comments. */
        { CONF, "/dev/sda {\n apm = 254\n}\n/dev/sda {\n apm = 200\n spindown_time = 3\n}\n",
          { "line 5: Debian uses the value from the first block", "\n        apm = 254;", "\n        spindown_time = 3;" }, "200" },
        { CONF, "/dev/sda {\n apm = 254\n}\n/dev/sda {\n lookahead = on\n}\n", { "\n        apm = 254;", "\n        lookahead = true;" } },
        { CONF, "/dev/sda {\n apm = 254\n}\nlookahead = off\n", { "line 4: Debian ignores lines after a block", "\n        apm = 254;" }, "lookahead" },
        { CONF, "/dev/sda {\n apm = 254\n}\n spindown_time = 6\n}\n", { "line 4: Debian ignores lines after a block", "\n        apm = 254;" }, "spindown" },
        { CONF, "/dev/sda {\n {\n }\n apm = 254\n}\n", { "line 4: Debian ignores lines after a block" }, "{ //" },
        { CONF, "apm = 200\n/dev/sda {\n}\napm = 254\n", { "line 4: Debian ignores lines after a block", "\n        apm = 200;" }, "254" },
        /* Values and words that cannot be imported become comments. */
        { CONF, "/dev/sda {\n spindown_time = 340\n lookahead = ON\n}\n", { "// spindown_time = 340; // \"340\" is not a valid value", "lookahead = true;" } },
        { CONF, "/dev/sda {\n apm =\n write_cache = on\n}\n", { "// apm = \"\";", "write_cache = true;" } },
        { CONF, "/dev/sda {\n mult_sect_io = 16\n poweron_standby = on\n}\n", { "// mult_sect_io = 16; // dangerous", "// poweron_standby = \"on\"; // dangerous" } },
        { CONF, "/dev/sda {\n dma = on\n io32_support = 1\n apm = 254\n}\n", { "// dma = \"on\"; // drivekeep never", "// io32_support = 1; // drivekeep never", "\n        apm = 254;" } },
        { CONF, "/dev/sda {\n APM_level = 254\n frob = 1\n}\n",
          { "line 2: " NOT_IMPORTED("APM_level"), "line 3: " NOT_IMPORTED("frob") }, "254" },
        { CONF, "/dev/sda {\n apm 254\n write_cache : off\n}\n", { NOT_IMPORTED("apm"), NOT_IMPORTED("write_cache") }, "254" },
        { CONF, "/dev/sda {\n apm 200\n apm = 254\n}\n", { "\n        apm = 254;" }, "200" },
        { CONF, "/dev/sda {\n security_pass = hunter2\n}\n", { NOT_IMPORTED("security_pass") }, "hunter2" },
        { CONF, "security_pass:hunter2\napm = 254\n", { NOT_IMPORTED("security_pass"), NO_DRIVE }, "hunter2" },
        { CONF, "/dev/sda security_pass=hunter2\napm = 254\n", { "a word that is not a drive name", NO_DRIVE }, "hunter2" },
        { CONF, "/dev/sda {\n \"security_pass\"=\"hunter2\"\n}\n", { NOT_IMPORTED("") }, "hunter2" },
        { CONF, "/dev/sda {\n security_pass hunter2\n apm = 254\n}\n", { NOT_IMPORTED("security_pass"), "apm = 254" }, "hunter2" },
        { CONF, "/dev/sda {\n security_unlok : hunter2 hunter2\n}\n", { NOT_IMPORTED("security_unlok") }, "hunter2" },
        { CONF, "/dev/sda { security_pas = hunter2 }\n/dev/sdb { apm = 254 }\n", { NOT_IMPORTED("security_pas"), "apm = 254" }, "hunter2" },
        { CONF, "/dev/sda {\n user-master = hunter2\n}\n", { NOT_IMPORTED("user-master") }, "hunter2" },
        /* An invalid name must not turn a rule for one drive into a rule for all drives. */
        { CONF, "UUID=12-ab {\n apm = 254\n}\n", { NOT_IMPORTED("UUID"), "names no drive", NO_DRIVE }, "[sh]d" },
        { CONF, "LABEL=\"a\" {\n apm = 254\n}\n", { NOT_IMPORTED("LABEL"), "names no drive", NO_DRIVE }, "[sh]d" },
        { CONF, "SERIAL=12 {\n apm = 254\n}\n", { "names no drive", NO_DRIVE }, "[sh]d" },
        { CONF, "disk {\n apm = 254\n}\n", { NOT_IMPORTED("disk"), "names no drive", NO_DRIVE }, "[sh]d" },
        { CONF, "a = b c {\n apm = 254\n}\n", { NO_DRIVE }, "[sh]d" },
        { CONF, "disk\n{\n apm = 254\n}\n", { "names no drive", NO_DRIVE }, "[sh]d" },
        { CONF, "{\n apm = 254\n}\n", { "names no drive", NO_DRIVE }, "[sh]d" },
        { CONF, "/etc/x {\n apm = 254\n}\n", { "\"/etc/x\" is not a drive name", NO_DRIVE }, "[sh]d" },
        { CONF, "/dev/sda\n apm = 254\n", { "line 1: no opening brace follows the drive name", "//     match = \"/dev/sda\"", "//     apm = 254;" }, "[sh]d" },
        { CONF, "sda\n apm = 254\n", { NOT_IMPORTED("sda"), "names no drive", NO_DRIVE }, "[sh]d" },
        { CONF, "UUID=1 {\n apm = 254\n}\nUUID=2 {\n apm = 200\n}\n", { NOT_IMPORTED("UUID"), NO_DRIVE, "//     apm = 200;" }, "before" },
        { CONF, "sda stands here\n/dev/sda {\n apm = 254\n}\n", { NOT_IMPORTED("sda"), "match = \"/dev/sda\"", "\n        apm = 254;" } },
        { CONF, "/dev/sda \"/dev/sdb\" {\n apm = 254\n}\n", { "the block has a word that is not a drive name", NO_DRIVE } },
        { CONF, "/dev/sda\n apm = 254\n/dev/sdb {\n lookahead = on\n}\n",
          { "no opening brace follows the drive name", "//     apm = 254;", "\n        match = \"/dev/sdb\";\n        lookahead = true;" } },
        { CONF, "; /dev/sda\n; apm = 254\n", { NOT_IMPORTED(";") }, "apm" },
        { CONF, "/dev/sda {\n apm = 254 security_pass = hunter2\n}\n", { NOT_IMPORTED("apm") }, "hunter2" },
        { CONF, "/dev/sda /dev/sdb {\n apm = 254\n}\n", { "( \"/dev/sda\", \"/dev/sdb\" )", "apm = 254;" }, "[sh]d" },
        { CONF, "/dev/sda {\n}\n}\napm = 254\n", { "line 4: Debian ignores lines after a block" }, "{ //" },
        { CONF, "}\napm = 254\n", { "\"/dev/[sh]d[a-z]\"", "\n        apm = 254;" } },
        /* Lines of the obsolete block command_line { } are not imported. */
        { CONF, "command_line {\n hdparm -M128 -S12 /dev/sd[abcde]\n}\n", { NOT_IMPORTED("command_line"), NOT_IMPORTED("hdparm") }, "{ //" },
        { CONF, "/dev/sdb {\n apm = 254\n}\ncommand_line {\nspindown_time = 60\nhdparm -W0 /dev/sda\n}\n",
          { NOT_IMPORTED("hdparm"), "\"/dev/sdb\"", "this block names no drive", "//     spindown_time = 60;" } },
        { CONF, "command_line { hdparm -B254 /dev/sda }\n", { NOT_IMPORTED("hdparm") }, "254" },
        { CONF, "# nothing\n", { "the file sets nothing" } },
        { CONF, "", { "the file sets nothing" } },
};
/* clang-format on */

START_TEST(test_meant) {
        check_written(&cases[_i]);
}
END_TEST

/* Returns the first example of the manual page that begins with the text `begins`. An example is between ".Bd -literal"
 * and ".Ed". */
static char *manual_example(const char *page, const char *begins) {
        for (const char *p = page; (p = strstr(p, ".Bd -literal\n")); p++) {
                const char *text = p + strlen(".Bd -literal\n");

                if (strncmp(text, begins, strlen(begins)) == 0)
                        return strndup(text, (size_t) (strstr(text, ".Ed\n") - text));
        }

        ck_abort_msg("there is no example that begins with %s", begins);
        return NULL;
}

START_TEST(test_manual) {
        _cleanup_free_ char *page = NULL, *before = NULL, *after = NULL, *text = NULL;
        const char *objection;
        char plain[1024];
        size_t size, n = 0;

        ck_assert_int_eq(text_file_read("man/drivekeep-import.1", &page, &size, &objection), 0);
        before = manual_example(page, "/dev/disk");
        after = manual_example(page, "drives = (");
        text = import_to_text("hdparm.conf", before, strlen(before), IMPORT_HDPARM_CONF);

        for (char *saved, *line = strtok_r(text, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved))
                if (strncmp(line + strspn(line, " "), "//", 2) != 0)
                        n += (size_t) snprintf(plain + n, sizeof plain - n, "%s\n", line);
        ck_assert_str_eq(plain, after);
}
END_TEST

int main(void) {
        Suite *s = suite_create("import-hdparm");
        TCase *t = tcase_create("import-hdparm");

        tcase_set_timeout(t, 120);
        tcase_add_loop_test(t, test_same, 0, ELEMENTSOF(import_directories));
        tcase_add_loop_test(t, test_meant, 0, ELEMENTSOF(cases));
        tcase_add_test(t, test_manual);
        suite_add_tcase(s, t);

        return suite_run(s);
}
