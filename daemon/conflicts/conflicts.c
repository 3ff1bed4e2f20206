/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fnmatch.h>
#include <stdio.h>

#include "wish-conflict.h"
#include "conflicts.h"
#include "tree.h"
#include "words.h"

#define DEBIAN_RULES LIBS "udev/rules.d/85-hdparm.rules"

/* Programs that may write drive settings. power-profiles-daemon is not listed, since it sets no drive settings. */
/* clang-format off */
static const OtherProgram conflicts[] = {
        { "udisks2", "by this line, when the drive appears and after suspend",
          "remove the line, or leave the setting to udisks2",
          IMPORT_UDISKS, "/etc/udisks2/*.conf", .active = UNITS "udisks2.service" },
        { "Debian's hdparm package", "by this line, when a drive appears (apm and spindown_time also after suspend)",
          "remove the package, which also sets apm to 254 on drives without an apm in /etc/hdparm.conf; "
          "'drivekeep import' translates that file",
          IMPORT_HDPARM_CONF, "{" DEBIAN_RULES ",/etc/hdparm.conf}", .active = DEBIAN_RULES, .joined = true },
        { "TLP", "by this line, at boot, after suspend and when the power source changes",
          "set this variable to \"keep\" in /etc/tlp.conf (SATA_ and AHCI_ variables: to \"\")",
          IMPORT_TLP, "{/usr/share/tlp/defaults.conf,/etc/{tlp.d/*,tlp}.conf}", .active = "tlp", .joined = true },
        { "laptop-mode-tools", "by this line, at boot, after suspend and when the power source changes",
          "set the CONTROL_ variable of this setting to 0",
          IMPORT_LAPTOP_MODE, "/etc/laptop-mode/{conf.d/*,laptop-mode}.conf", .active = "laptop-mode", .joined = true },
        { "tuned", "by this line of its active profile, when tuned starts and when a drive appears",
          "remove the line in a profile of your own (tuned.conf(5)), or leave the setting to tuned",
          IMPORT_TUNED, "/etc/tuned/active_profile", .active = "tuned", .joined = true },
        { "smartd", "by this line, when smartd starts or reloads", "remove the directive from this line",
          IMPORT_SMARTD, "/etc/{,smartmontools/}smartd.conf", .program = "smartd" },
        { "hd-idle", "by spinning idle drives down itself",
          "use only one of the two: \"systemctl disable --now hd-idle\" leaves spin-down to drivekeep",
          IMPORT_SCRIPT, .program = "hd-idle", .variable = "START_HD_IDLE" },
        { "PowerTOP", "by --auto-tune, when this unit starts", "disable this unit, or remove --auto-tune",
          IMPORT_SCRIPT, .program = "powertop" },
        { "mdadm", "by this line, when the array starts", "remove the value from this line",
          IMPORT_MDADM, "/etc/{mdadm,mdadm/mdadm,mdadm.conf.d/*,mdadm/mdadm.conf.d/*}.conf" },
        { "systemd-tmpfiles", "by this line at boot", "remove this line",
          IMPORT_TMPFILES, LIBS "tmpfiles.d/*.conf", .below = "/tmpfiles.d/" },
        { "sysfsutils", "by this line at boot", "remove this line",
          IMPORT_SYSFS_CONF, "/etc/{sysfs.conf,sysfs.d/*.conf}", .active = "/etc/init.d/sysfsutils" },
        { "this line", "when udev runs it", NULL, IMPORT_UDEV_RULES, LIBS "udev/rules.d/*.rules", .below = "/udev/" },
        { "this line", "at boot", NULL, IMPORT_SCRIPT, "/etc/{,rc.d/}rc.local" },
        { "this line", "whenever this unit starts", NULL,
          IMPORT_UNIT },
        { "this line", "before and after suspend", NULL, IMPORT_SCRIPT, "/usr/lib/systemd/system-sleep/*" },
        { "this line", "when cron runs it", NULL,
          IMPORT_CRONTAB, "{/etc/crontab,/etc/cron.d/*,/var/spool/cron/crontabs/*,/var/spool/cron/*}" },
        { "this line", "when cron runs it", NULL, IMPORT_SCRIPT, "/etc/cron.{hourly,daily,weekly,monthly}/*" },
};
/* clang-format on */

static void check_files(ConflictCheck *r, const OtherProgram *row, const char *options, char *const *files,
                        size_t n_files);

/* Checks the local scripts whose paths are in `text`. A script is local if its path is outside the directories of
 * packages. */
static void check_scripts(ConflictCheck *r, OtherProgram row, const char *text) {
        static const char own[] = "@(/usr/local|/opt|/etc|/root|/srv|/home|/var)/*", ends[] = " \t\"'`=;&|()<>";
        _cleanup_free_ char *line = NULL;
        Lines l = { .next = text };

        row.kind = IMPORT_SCRIPT;
        row.below = NULL;
        while (lines_next(&l, true, &line)) {
                const char *parts = strstr(line, "run-parts ") ? "/*" : "";

                for (char *p, *w = strtok_r(line, ends, &p); w && *w != '#'; w = strtok_r(NULL, ends, &p)) {
                        _cleanup_(words_done) Words found = {};

                        w += strspn(w, "@-+!:"); /* skips the prefixes of commands in units, such as "-" */
                        if (fnmatch(own, w, FNM_EXTMATCH) == 0 && !strpbrk(w, "*?[{$"))
                                found = tree_glob(r->root, w, parts, "");
                        for (size_t i = 0; i < found.n_items; i++)
                                check_files(r, &row, NULL, &found.items[i], 1);
                }
        }
}

static void check_text(ConflictCheck *r, Source *s, const char *file, const char *text) {
        const OtherProgram *row = s->row;
        const char *objection;

        (void) import_read(file, text, strlen(text), row->kind, &s->import, &objection);
        for (size_t i = 0; i < s->import.n_rules; i++)
                for (size_t w = 0; w < s->import.rules[i].n_wishes; w++)
                        conflict_check(r, s, i, &s->import.rules[i].wishes[w]);
        polls_check(r, file, s->options, &s->import);
        if (!row->remedy)
                check_scripts(r, *row, text);
        import_done(&s->import);
}

/* Compares the configuration with the settings in `files`, the files of another program. `options`: command line of the
 * program; NULL: not known. */
static void check_files(ConflictCheck *r, const OtherProgram *row, const char *options, char *const *files,
                        size_t n_files) {
        const char *key = strstr(files[0], row->below ?: "") ?: files[0];
        _cleanup_free_ char *text = NULL;
        Source s = { .row = row, .files = files, .options = options };
        bool script = row->kind == IMPORT_SCRIPT, debian = row->kind == IMPORT_HDPARM_CONF;
        size_t size;
        FILE *f;

        /* Skips a file if a file with the same `key` was checked before. The earlier file masks this file, or scripts
         * call each other. */
        if (!words_add_new(&r->seen, key))
                return;

        f = must(open_memstream(&text, &size));
        for (size_t i = 0; i < n_files; i++) {
                _cleanup_free_ char *found = tree_read(r->root, files[i], script);
                /* Debian's udev rule sets apm = 254 without a line in hdparm.conf. */
                const char *part = debian && ends_with(files[i], ".rules") ? "apm = 254" : found ?: "";

                fprintf(f, "%s\n", part);
                words_add(&s.texts, part, SIZE_MAX);
        }
        must_close(f);
        check_text(r, &s, files[0], text);
        words_done(&s.texts);
}

/* Returns true if the command runs a program that has a row in the table `conflicts`. */
static bool is_known_program(const char *command) {
        for (size_t i = 0; i < ELEMENTSOF(conflicts); i++)
                if (conflicts[i].program && command_runs(command, conflicts[i].program))
                        return true;
        return false;
}

/* Checks the commands that a unit runs when it starts. */
static void check_unit(ConflictCheck *r, const OtherProgram *row, const Unit *u) {
        _cleanup_(unit_lines_done) UnitLines from = {};
        _cleanup_free_ char *text = NULL;
        Source s = { .row = row };
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        UNIT_LINES_FOREACH(l, &u->lines) {
                UnitLine command;

                if (!STR_IN_SET(l->key, "ExecStart", "ExecStartPre", "ExecStartPost") || is_known_program(l->value))
                        continue;
                command = unit_command(u, l);
                fprintf(f, "%s=%s\n", l->key, command.value);
                must_grow(&from, items);
                from.items[from.n_items++] = command;
        }
        must_close(f);
        s.lines = from.items;
        check_text(r, &s, u->name, text);
}

static bool has_option(const char *command, const char *const *options) {
        _cleanup_(words_done) Words words = {};
        bool has = false;

        words_split(&words, command);
        for (size_t i = 1; i < words.n_items; i++)
                has = has || str_in_set(words.items[i], options);
        return has;
}

/* Checks the command line of a program, or its configuration files. */
static void check_program(ConflictCheck *r, const OtherProgram *row) {
        static const char *const shows[] = { "-h", "--help", "--usage", "-V", "--version", NULL };
        UnitLine command = {};
        const Unit *unit = units_find_command(&r->units, row->program, &command);
        const UnitLine *variable = unit && row->variable ? unit_last(&unit->variables, row->variable) : NULL;
        _cleanup_free_ char *own = NULL;
        _cleanup_(words_done) Words files = {};
        bool acts;

        if (!unit)
                return;
        /* With one of the options in `shows`, the program prints something and exits. */
        acts = !has_option(command.value, shows) && !(variable && streq(variable->value, "false"));
        if (acts && row->files) {
                own = command_option(command.value, "-c", "--configfile");
                if (own)
                        words_add(&files, own, strlen(own));
                else
                        files = tree_glob(r->root, row->files, "", "");
        } else if (acts)
                check_text(r, &(Source){ .row = row, .lines = &command }, "", command.value);
        for (size_t i = 0; i < files.n_items; i++)
                check_files(r, row, command.value, &files.items[i], 1);
        unit_line_done(&command);
}

/* Adds the files of the tuned profiles in `names`. The files of included profiles precede the file that includes them.
 * `*left`: how many more profiles may be included. */
static void add_profiles(const ConflictCheck *r, char *names, int *left, Words *ret) {
        static const char ends[] = " \t\n,;";

        for (char *p, *name = strtok_r(names, ends, &p); name; name = strtok_r(NULL, ends, &p)) {
                _cleanup_(words_done) Words found =
                                tree_glob(r->root, "/{etc,usr/lib}/tuned/{profiles/,}", name, "/tuned.conf");
                _cleanup_free_ char *text = found.n_items > 0 ? tree_read(r->root, *found.items, false) : NULL;
                _cleanup_(pairs_done) Pairs pairs = pairs_read(text ?: "", false);
                const Pair *include = pairs_last(&pairs, NULL, "include");

                if (include && --*left > 0)
                        add_profiles(r, include->value, left, ret);
                if (text)
                        words_add(ret, found.items[0], strlen(found.items[0]));
        }
}

static void check_row(ConflictCheck *r, const OtherProgram *row) {
        _cleanup_free_ char *profiles = row->kind == IMPORT_TUNED ? tree_read(r->root, row->files, false) : NULL;
        _cleanup_(words_done) Words files = {};

        if (row->active && !unit_is_active(&r->units, row->active, ".service"))
                return;
        if (row->program)
                check_program(r, row);
        for (size_t i = 0; i < r->units.n_services && row->kind == IMPORT_UNIT; i++)
                check_unit(r, row, &r->units.services[i]);
        if (row->program || row->kind == IMPORT_UNIT)
                return;
        if (profiles)
                add_profiles(r, profiles, &(int){ 20 }, &files);
        else
                files = tree_glob(r->root, row->files, "", "");
        for (size_t i = 0, n = row->joined ? files.n_items : 1; i < files.n_items; i += n)
                check_files(r, row, NULL, &files.items[i], n);
}

void conflicts_check(const char *root, Config *c, const SettingTable *t, Drive *const *drives, size_t n_drives) {
        ConflictCheck r = { .root = root, .config = c, .table = t, .drives = drives, .n_drives = n_drives };

        r.units = units_read(root);
        for (size_t i = 0; i < ELEMENTSOF(conflicts); i++)
                check_row(&r, &conflicts[i]);
        words_done(&r.seen);
        wakers_check(&r);
        units_done(&r.units);
}
