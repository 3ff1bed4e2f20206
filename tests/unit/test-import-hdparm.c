/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An imported hdparm.conf asks for what Debian has set, and is without error; where Debian did something else, a comment
 * says so. */

#include <ctype.h>
#include <stdio.h>

#include "config.h"
#include "emit.h"
#include "hdparm-keyword.h"
#include "import-case.h"
#include "reader.h"
#include "settings.h"
#include "suite.h"

static char *import_to_text(const char *file, const char *text, size_t size, const Links *links) {
        _cleanup_(import_done) Import import = {};
        const char *objection;
        char *out = NULL;
        size_t out_size;
        FILE *f;

        ck_assert_msg(import_read(file, text, size, _IMPORT_KIND_INVALID, links, &import, &objection) == 0, "%s: %s",
                      file, objection);
        f = open_memstream(&out, &out_size);
        ck_assert_int_eq(emit(f, &import, 1, &all_settings, links), 0);
        ck_assert_int_eq(fclose(f), 0);
        return out;
}

static Config *check_text(const char *file, const char *text) {
        Config *c;

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_parse(c, &all_settings, file, text, strlen(text)), 0);
        if (c->complaints.n_errors > 0) {
                _cleanup_free_ char *line = complaint_format(&c->complaints.items[0]);

                ck_abort_msg("%s\nin:\n%s", line, text);
        }
        return c;
}

/* What Debian's options of the case are in our settings; NULL: none of them. */
static const char *debian_value(const ImportCase *c, const char *name, char buf[static 64]) {
        const char *found = NULL;
        _cleanup_free_ char *options = strdup(c->output);

        for (char *saved, *o = strtok_r(options, " ", &saved); o; o = strtok_r(NULL, " ", &saved)) {
                const char *value = o + 2;
                const Keyword *k;

                if (strncmp(o, "force_spindown_time", strlen("force_spindown_time")) == 0) {
                        k = keyword_find("spindown_time");
                        value = o + strlen("force_spindown_time");
                } else
                        k = o[0] == '-' && o[1] != '-' ? keyword_find_letter(o[1]) : NULL;
                if (!k || !k->key || !streq(k->key, name))
                        continue;

                if (k->form == KEYWORD_FLAG || (k->form == KEYWORD_BOOLEAN && streq(value, "1")))
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
        _cleanup_free_ char *text = import_to_text(c->conf, c->text, c->size, NULL);
        _cleanup_(config_freep) Config *config = check_text(c->conf, text);
        DriveLink link = { (char *) c->link, LINK_PARTITION };
        const Drive drive = {
                .name = (char *) c->disk + 5,
                .node = (char *) c->disk,
                .links = &link,
                .n_links = c->link != NULL,
        };
        _cleanup_(wishes_done) Wishes wishes = {};

        /* Where Debian took less, or other things, than what was meant. */
        if (c->status != 0 || strstr(c->text, "command_line {") || c->disk[strlen(c->disk) - 1] == '/')
                return;

        ck_assert_int_eq(config_resolve(config, &drive, c->on_battery, &wishes), 0);

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                const Setting *row = setting_find(&all_settings, names[i]);
                const Wish *wish = wishes_find(&wishes, setting_state(row));
                char buf[64], ours[VALUE_TEXT_MAX];
                const char *value = debian_value(c, names[i], buf);
                Value v;

                if (!value || value_parse(&row->range, value, &v) < 0)
                        continue; /* nothing, or what hdparm refuses: check_meant() */
                /* Debian reads apm on mains only, and has its own idea on battery; who names one means it always. */
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
static const struct {
        const char *text;
        const char *has[5]; /* pieces of what is written, in this order */
        const char *lacks;
} cases[] = {
        { "/dev/sda {\n\tapm = 127\n\tspindown_time = 240\n}\n",
          { "match = \"/dev/sda\";\n", "apm = 127;\n", "spindown_time = 240; // 20 min\n" } },
        /* As people write it. */
        { "/dev/sda{apm=127;}", { "and ignored it", "\n        apm = 127;\n" } },
        { "/dev/sda\n{\n apm = 127\n}\n", { "gave up in line 1", "\n        apm = 127;\n" } },
        { "/dev/sda {\r\n apm = 127\r\n}\r\n", { "gave up in line 1", "\n        apm = 127;\n" } },
        { "/dev/sda { apm = 127 lookahead = off }", { "\n        apm = 127;\n", "\n        lookahead = false;\n" } },
        { "/dev/sda {\n apm = 127}\n", { "not closed on a line of its own", "\n        apm = 127;\n" } },
        { "sda {\n apm = 127\n}\n", { "Debian wants the whole name, /dev/sda", "match = \"/dev/sda\"" } },
        { "/dev/sda/ {\n apm = 127\n}\n", { "slash at the end", "match = \"/dev/sda\"" } },
        { "/dev/sd[ab] {\n apm = 127\n}\n", { "Debian knows no wildcards", "match = \"/dev/sd[ab]\"" } },
        { "/dev/sd{a,b} {\n apm = 127\n}\n", { "match = ( \"/dev/sda\", \"/dev/sdb\" );\n        apm" } },
        { "/dev/disk/by-id/ata-A\\x20B {\n apm = 1\n}\n", { "match = \"/dev/disk/by-id/ata-A\\x20B\";" } },
        { "/dev/sda {\n apm = \"127\"\n}\n", { "part of the value", "\n        apm = 127;\n" } },
        /* Where Debian did something else. */
        { "/dev/sda {\n write_cache = off # x\n}\n", { "set nothing", "\n        write_cache = false;\n" } },
        { "/dev/sda {\n spindown_time = 340\n}\n", { "checks no values", "no value of", "// spindown_time = 340;\n" } },
        { "/dev/sda {\n lookahead = ON\n}\n/dev/sdb {\n apm = 1\n}\n",
          { "lookahead = true;", "Debian never came here: it gave up in line 2", "apm = 1;" } },
        { "/dev/sda {\n apm = 1\n}\nlookahead = off\n", { "\"/dev/[sh]d[a-z]\"", "lost it", "lookahead = false;" } },
        { "/dev/sda {\n apm = 1\n}\n/dev/sda {\n apm = 2\n spindown_time = 3\n}\n",
          { "apm = 1;", "first block for a drive, that of line 1", "// apm = 2;", "\n        spindown_time = 3;" } },
        { "/dev/sda {\n spindown_time = 3\n}\n", { "nobody asked", "// apm = 254;" } },
        { "lookahead = on\n/dev/sda {\n apm = 1\n}\n", { "for all drives", "lookahead = true", "apm = 1;" } },
        { "/dev/nvme0n1 {\n write_cache = on\n}\n", { "Debian sets nothing of this", "write_cache = true" } },
        { "/dev/sda {\n apm = 1\n apm = 2\n}\n", { "before it was 1", "apm = 2;" } },
        { "/dev/sda {\n force_spindown_time = 36\n}\n", { "\n        spindown_time = 36; // 3 min\n" } },
        { "/dev/sda {\n apm_battery = 1\n}\n", { "\n        apm_battery = 1;\n" } },
        { "/dev/sda {\n APM_level = 127\n}\n", { "knows no \"APM_level\"", "// apm = 127;" } },
        { "/dev/sda {\n mult_sect_io = 16\n}\n", { "hdparm refuses this flag", "// mult_sect_io = 16;" } },
        /* What hdparm refuses costs what it is told in the same call. */
#define COSTS "it ends there, and sets nothing else"
        { "/dev/sda {\n read_ahead_sect = 4096\n write_cache = off\n}\n", { COSTS, "write_cache = false;" } },
        { "/dev/sda {\n acoustic_management = 300\n}\n", { COSTS } },
        { "/dev/sda {\n apm = off\n}\n", { COSTS } },
        { "/dev/sda {\n spindown_time = 1200\n}\n", { COSTS } },
        { "/dev/sda {\n spindown_time =\n}\n", { COSTS } },
        { "/dev/sda {\n force_spindown_time = 300\n}\n", { "hdparm refuses this one" }, COSTS },
        { "/dev/sda {\n io32_support = 4\n}\n", { COSTS, "io32_support = 4;" } },
        { "/dev/sda {\n io32_support = 3\n}\n", { "io32_support = 3;" }, "refuses this one" },
        { "/dev/sda {\n mult_sect_io = 65\n}\n", { COSTS, "// mult_sect_io = 65;" } },
        { "/dev/sda {\n mult_sect_io = 64\n}\n", { "hdparm refuses this flag" }, "refuses this one" },
        { "/dev/sda {\n apm =\n}\n", { "// apm = " }, "refuses" },
        /* What Debian sends on battery stands for all drives at the top, and goes by other keys. */
        { "/dev/sda {\n spindown_time = 60\n}\n",
          { "-B128 unless there is an", "and -S36 unless there is", "on mains Debian set this" }, "on battery 128" },
        { "/dev/sda {\n security_pass = hunter2\n}\n", { "security_pass is not taken over" }, "hunter2" },
        { "/dev/sda {\n security_pass hunter2\n apm = 127\n}\n", { "security_pass is not taken over", "apm = 127" }, "hunter2" },
        { "/dev/sda {\n security_unlok : hunter2 hunter2\n}\n", { "security_unlock is not taken over" }, "hunter2" },
        { "/dev/sda { security_pas = hunter2 }\n/dev/sdb { apm = 127 }\n", { "security_pass is not taken over", "apm = 127" }, "hunter2" },
        { "/dev/sda {\n user-master = hunter2\n}\n", { "user-master is not taken over" }, "hunter2" },
        { "disk {\n apm = 1\n}\n", { "no name below /dev", "    // {\n", "// apm = 1;" } },
        /* Whatever is wrong with a name, what is for one drive is not for all. */
        { "UUID=12-ab {\n apm = 1\n}\n", { "UUID=12-ab for no", "match = \"/dev/disk/by-uuid/12-ab\"", "apm = 1;" }, "[sh]d" },
        { "LABEL=\"a\" {\n apm = 1\n}\n", { "match = \"/dev/disk/by-label/a\"", "apm = 1;" }, "[sh]d" },
        { "SERIAL=12 {\n apm = 1\n}\n", { "    // {\n", "// apm = 1;" }, "[sh]d" },
        { "a = b c {\n apm = 1\n}\n", { "    // {\n", "// apm = 1;" }, "[sh]d" },
        { "disk\n{\n apm = 1\n}\n", { "has no name", "    // {\n", "// apm = 1;" }, "[sh]d" },
        { "{\n standby\n}\n", { "has no name", "    // {\n", "// standby = true;" }, "[sh]d" },
        { "/dev/sda\n apm = 1\n", { "no { behind this name", "match = \"/dev/sda\"", "apm = 1;" }, "[sh]d" },
        { "/dev/sda\n standby\n}\n", { "no { behind this name", "match = \"/dev/sda\"", "standby = true;" }, "[sh]d" },
        { "/dev/sda\n/dev/sdb {\n apm = 1\n}\n",
          { "\"/dev/sda\" is followed by no block", "match = \"/dev/sdb\"", "apm = 1;" }, "[sh]d" },
        { "/dev/sda /dev/sdb {\n apm = 1\n}\n", { "( \"/dev/sda\", \"/dev/sdb\" )", "apm = 1;" }, "[sh]d" },
        { "\"/dev/sda\" {\n apm = 1\n}\n", { "match = \"/dev/sda\"", "apm = 1;" }, "[sh]d" },
        /* The block that Debian took for the drive is what has been in force, whatever others say of it. */
        { "\"/dev/sda\" {\n apm = 127\n}\n/dev/sda {\n apm = 200\n}\n",
          { "took the quotes for part of the name", "match = \"/dev/sda\"", "\n        apm = 200;" }, "first block" },
        { "/dev/sda/ {\n apm = 127\n}\n/dev/sda {\n apm = 200\n}\n", { "\n        apm = 200;" }, "first block" },
        { "sda {\n apm = 127\n}\n/dev/sda {\n apm = 200\n}\n", { "\n        apm = 200;" }, "first block" },
        { "/dev/sda {\n apm = 200\n}\nsda {\n apm = 127\n}\n", { "\n        apm = 200;", "// apm = 127;" } },
        { "/dev/sda {\n apm = 200\n}\n/dev/sd[ab] {\n apm = 127\n}\n", { "\n        apm = 200;", "// apm = 127;" } },
        { "/dev/sda {\n apm = 200\n}\n/dev/sda /dev/sdb {\n apm = 127\n}\n",
          { "\n        apm = 200;", "gave up in line 4", "// apm = 127;" } },
        { "apm = 200\n/dev/sda {\n}\n/dev/sda {\n apm = 100\n}\n",
          { "\n        apm = 200;", "first block for a drive, that of line 2", "has been in force", "// apm = 100;" } },
        { "apm = 200\n/dev/sda {\n security_unlock = x\n}\n/dev/sda {\n apm = 100\n}\n",
          { "first block for a drive, that of line 2", "// apm = 100;" } },
        { "apm = 200\n/dev/sda {\n quiet\n}\n/dev/sda {\n apm = 100\n}\n",
          { "first block for a drive, that of line 2", "// apm = 100;" } },
        { "/dev/sda {\n security_unlock = x\n}\n/dev/sda {\n apm = 100\n}\n",
          { "first block for a drive, that of line 1", "\n        apm = 100;" } },
        { "/dev/sda {\n}\n/dev/sda {\n apm = 100\n}\n",
          { "on a drive with APM Debian takes the first block, that of line 1", "\n        apm = 100;" }, "has been in force" },
        { "/dev/sda {\n ROOTFS = x\n}\n/dev/sda {\n apm = 100\n}\n",
          { "on a drive with APM Debian takes the first block, that of line 1", "\n        apm = 100;" }, "has been in force" },
        { "/dev/sda {\n lookahead = off\n}\n/dev/sda {\n apm = 100\n}\n",
          { "first block for a drive, that of line 1", "\n        apm = 100;" }, "has been in force" },
        { "apm = 200\n/dev/sda {\n}\napm = 100;\n",
          { "line 4 says 100, but stands behind a block", "\n        apm = 200;" }, "part of the value" },
        { "/dev/sda {\n}\napm = 200\napm = 100\n", { "lost it", "before it was 200", "\n        apm = 100;" } },
        { "/dev/sda {\n apm = 9\n}\n/dev/sdb {\n lookahead = on\n}\n/dev/sd[ab] {\n apm = 1\n lookahead = off\n}\n",
          { "that of line 1", "that of line 4", "// apm = 1;", "// lookahead = false;" } },
        { "/dev/sda {\n apm = 1\n}\n/dev/sda {\n spindown_time = 3\n}\n", { "\n        spindown_time = 3;" }, "nobody asked" },
        { "/dev/sda {\n lookahead = on\n}\napm = 9\n/dev/sda {\n apm = 1\n}\n", { "\n        apm = 1;" }, "in force" },
        /* Names as people string them together. */
        { "/dev/sda, /dev/sdb {\n apm = 1\n}\n", { "the comma", "( \"/dev/sda\", \"/dev/sdb\" )", "\n        apm = 1;" } },
        { "/dev/sda,/dev/sdb, \"/dev/sdc\" {\n apm = 1\n}\n",
          { "( \"/dev/sda\", \"/dev/sdb\", \"/dev/sdc\" )", "\n        apm = 1;" } },
        { "/dev/sda, {\n apm = 1\n}\n", { "took the comma for part of the name", "match = \"/dev/sda\"" } },
        { "/dev/sda\n/dev/sdb\n{\n apm = 1\n}\n", { "( \"/dev/sda\", \"/dev/sdb\" )" }, "no block" },
        { "/dev/sda /dev/sdb\n{\n apm = 1\n}\n", { "( \"/dev/sda\", \"/dev/sdb\" )" }, "no block" },
        { "dev/sdc {\n apm = 1\n}\n", { "the whole name, /dev/sdc", "match = \"/dev/sdc\"", "\n        apm = 1;" } },
        /* What is not "key = value" on a line of its own. */
        { "/dev/sda {\n apm 127\n}\n", { "hdparm.conf knows no \"apm\" in this form", "// apm = 127;" }, "is nothing" },
        { "/dev/sda {\n apm : 127\n}\n", { "hdparm.conf knows no \"apm\" in this form", "// apm = 127;" }, "is nothing" },
        { "/dev/sda {\n apm 127\n apm = 5\n}\n", { "\n        apm = 5;" }, "out of the" },
        { "/dev/sda {\n apm: 127\n}\n", { "hdparm.conf knows no \"apm:\";", "// apm = 127;" }, "is nothing" },
        { "/dev/sda { spindown_time = 120; apm = 254 }\n",
          { "never saw this one", "\n        spindown_time = 120;", "\n        apm = 254;" }, "part of the value" },
        { "/dev/sda {\n write_cache = off, apm = 3\n}\n",
          { "comma for part of the value", "write_cache = false;", "never saw this one", "\n        apm = 3;" }, "hdparm's flag" },
        { "/dev/sda {\n queue_depth = 1\n scheduler = none\n nr_requests = 64\n}\n",
          { "knows no \"queue_depth\";", "// queue_depth = 1;", "// scheduler = \"none\";", "// nr_requests = 64;" } },
        /* What people take for comments. */
        { "/dev/sda {\n ; apm = 4\n lookahead = on\n}\n",
          { "line 2 is read as a comment", "gives up in line 2", "lookahead = true;" }, "apm = 4" },
        { "; write_cache = off\n", { "line 1 is read as a comment" }, "write_cache" },
        { "/dev/sda {\n spindown_time = 6 // apm = 9\n}\n", { "\n        spindown_time = 6;" }, "apm = 9" },
        { "/dev/sda {\n spindown_time = 6 ; apm = 9\n}\n", { "\n        spindown_time = 6;" }, "apm = 9" },
        { "/dev/sda {\n // apm = 5\n spindown_time = 6\n}\n",
          { "line 2 is read as a comment", "match = \"/dev/sda\"", "\n        spindown_time = 6;" }, "followed by no block" },
        { "// caf\xe9\n/dev/sda {\n apm = 5\n}\n", { "line 1 is read as a comment", "\n        apm = 5;" } },
        { "/dev/sda { apm = 127 ; spindown_time = 6 ;lookahead = on }",
          { "\n        apm = 127;", "\n        spindown_time = 6;", "\n        lookahead = true;" } },
        /* The old form. */
        { "command_line {\n hdparm -M128 -S12 /dev/sd[abcde]\n}\n",
          { "today's Debian ignores command_line", "match = \"/dev/sd[abcde]\";", "acoustic_management = 128;",
            "spindown_time = 12; // 1 min" } },
        { "/dev/sdb {\n apm = 1\n}\ncommand_line {\napm = 127\nspindown_time = 60\nhdparm -W0 /dev/sda\n}\nlookahead = on\n",
          { "\"/dev/[sh]d[a-z]\"", "\n        apm = 127;", "\n        spindown_time = 60;", "lookahead = true;", "write_cache = false" },
          "lost it" },
        { "command_line {\napm = 127\n}\n", { "line 2 stands in command_line { … }; Debian takes it for all drives" } },
        { "command_line { hdparm -B127 /dev/sda }\n", { "ignores command_line", "\n        apm = 127;\n" } },
        /* Gentoo's. */
        { "sda_args=\"-B127 -S60\"\nall_args=\"-A1\"\n", { "conf.d", "match = \"/dev/sda\"", "apm = 127;" } },
        { "# nothing\n", { "it asks for nothing" } },
        { "", { "it asks for nothing" } },
        { "/dev/sda {\n}\n}\n", { "closes nothing", "// apm = 254;" } },
};
/* clang-format on */

START_TEST(test_meant) {
        _cleanup_free_ char *text = import_to_text("hdparm.conf", cases[_i].text, strlen(cases[_i].text), NULL);
        _cleanup_(config_freep) _unused_ Config *c = check_text("hdparm.conf", text);
        const char *p = text;

        for (size_t i = 0; i < ELEMENTSOF(cases[_i].has) && cases[_i].has[i]; i++) {
                p = strstr(p, cases[_i].has[i]);
                ck_assert_msg(p, "%s is not (or not in its place) in\n%s", cases[_i].has[i], text);
        }
        ck_assert_msg(!cases[_i].lacks || !strstr(text, cases[_i].lacks), "%s", text);
}
END_TEST

START_TEST(test_links) {
        static const char conf[] =
                        "/dev/sda {\n apm = 1\n}\n/dev/disk/by-id/ata-ONE_1 {\n apm = 2\n lookahead = on\n}\n";
        _cleanup_(links_done) Links links = {};
        _cleanup_free_ char *text = NULL;

        ck_assert_int_eq(links_add(&links, "/dev/disk/by-id/wwn-0x5000", "/dev/sda"), 0);
        ck_assert_int_eq(links_add(&links, "/dev/disk/by-id/ata-ONE_1", "/dev/sda"), 0);
        ck_assert_int_eq(links_add(&links, "/dev/disk/by-id/ata-TWO_2", "/dev/sdb"), 0);
        text = import_to_text("hdparm.conf", conf, strlen(conf), &links);

        ck_assert_ptr_nonnull(strstr(text, "\"/dev/disk/by-id/ata-ONE_1\";"));
        ck_assert_ptr_nonnull(strstr(text, "// apm = 2;"));
        ck_assert_ptr_nonnull(strstr(text, "\n        lookahead = true;"));
}
END_TEST

/* What stands in the manual page between ".Bd -literal" and ".Ed" and begins so. */
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

        ck_assert_int_eq(text_file_read("man/drivekeep.1", &page, &size, &objection), 0);
        before = manual_example(page, "/dev/disk");
        after = manual_example(page, "drives = (");
        text = import_to_text("hdparm.conf", before, strlen(before), NULL);

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
        tcase_add_test(t, test_links);
        tcase_add_test(t, test_manual);
        suite_add_tcase(s, t);

        return suite_run(s);
}
