/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/stat.h>

#include "must.h"
#include "outlet.h"
#include "tree.h"
#include "unit.h"

/* Default PATH of services: systemd.exec(5). */
#define PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Returns true if this user can see that the file does not exist. */
static bool is_missing(const char *root, const char *path) {
        _cleanup_free_ char *whole = must_format("%s%s", root, path);

        return access(whole, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* Returns true for a file that nobody, including root, can execute. */
static bool is_not_executable(const char *root, const char *path) {
        _cleanup_free_ char *whole = must_format("%s%s", root, path);
        struct stat st;

        return stat(whole, &st) >= 0 && !(st.st_mode & 0111);
}

/* ---- metrics ---- */

/* Returns true if one of the unit's lines with this key contains the word. */
static bool is_listed(const Unit *u, const char *key, const char *word) {
        _cleanup_(words_done) Words words = {};

        UNIT_LINES_FOREACH(l, &u->lines)
                if (streq(l->key, key))
                        words_split(&words, l->value);
        return words_have(&words, word);
}

/* Returns true if systemd creates the directory when it starts the unit. */
static bool is_made(const Unit *u, const char *directory) {
        static const struct {
                const char *key, *above;
        } kinds[] = {
                { "RuntimeDirectory", "/run/" },
                { "StateDirectory", "/var/lib/" },
                { "CacheDirectory", "/var/cache/" },
                { "LogsDirectory", "/var/log/" },
        };

        for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
                if (starts_with(directory, kinds[i].above) &&
                    is_listed(u, kinds[i].key, directory + strlen(kinds[i].above)))
                        return true;
        return false;
}

static void check_metrics(const char *root, const Unit *u, const UnitLine *command, Complaints *to) {
        _cleanup_free_ char *file = command_option(command->value, NULL, "--output"), *directory = NULL;

        /* Skips paths with systemd's specifiers (%), which are not expanded here. */
        if (!file || *file != '/' || strchr(file, '%'))
                return;
        directory = must_directory(file);
        if (is_missing(root, directory) && !is_made(u, directory))
                must_work(complain(to, COMPLAINT_NOTICE, command->file, command->line, 1,
                                   "no metrics are written: " OUTLET_NO_DIRECTORY, directory));
}

/* ---- mail ---- */

static bool has_program(const char *root, const Unit *u, const char *name) {
        const UnitLine *own = unit_last(&u->variables, "PATH");

        for (const char *p = own ? own->value : PATH; *p;) {
                size_t n = strcspn(p, ":");
                _cleanup_free_ char *path = must_format("%.*s/%s", (int) n, p, name);

                if (!is_missing(root, path) && !is_not_executable(root, path))
                        return true;
                p += n + (p[n] == ':');
        }
        return false;
}

static void check_mail(const char *root, const Unit *u, const UnitLine *command, Complaints *to) {
        _cleanup_free_ char *config_root = command_option(command->value, NULL, "--config-root");
        /* If this file exists, units/drivekeep-alert.in runs the file instead of the program "mail". */
        _cleanup_free_ char *own = must_format("%s/drivekeep/alert", config_root ?: "/etc");

        if (!has_program(root, u, "jq"))
                must_work(complain(to, COMPLAINT_NOTICE, command->file, command->line, 1,
                                   "no alerts are sent: the program 'jq' is missing; install the package jq"));
        if (is_missing(root, own) && !has_program(root, u, "mail"))
                must_work(complain(
                                to, COMPLAINT_NOTICE, command->file, command->line, 1,
                                "no alerts are sent: the program 'mail' is missing; install a package such as bsd-mailx or s-nail, or create %s",
                                own));
        if (is_not_executable(root, own))
                must_work(complain(to, COMPLAINT_NOTICE, own, 0, 0,
                                   "no alerts are sent: this file is not executable; run 'chmod +x %s'", own));
}

/* ---- metrics and mail ---- */

void outlets_check(const char *root, Complaints *to) {
        static const struct {
                const char *unit,
                                *verb; /* the verb that the unit runs; a unit that runs another program is not checked */
                void (*check)(const char *root, const Unit *u, const UnitLine *command, Complaints *to);
        } outlets[] = {
                { "drivekeep-metrics", "status", check_metrics },
                { "drivekeep-alert", "alert", check_mail },
        };
        _cleanup_(units_done) Units units = units_find(root);

        for (size_t i = 0; i < ELEMENTSOF(outlets); i++) {
                _cleanup_free_ char *service = must_format("%s.service", outlets[i].unit);
                _cleanup_(words_done) Words words = {};
                _cleanup_(unit_done) Unit u = {};
                _cleanup_(unit_line_done) UnitLine command = {};
                const UnitLine *line;

                if (!unit_is_active(&units, outlets[i].unit, ".path"))
                        continue;
                line = unit_read_started(&units, service, &u) ? unit_last(&u.lines, "ExecStart") : NULL;
                if (!line)
                        continue;
                command = unit_command(&u, line);
                words_split(&words, command.value);
                if (command_runs(command.value, "drivekeep") && words_have(&words, outlets[i].verb))
                        outlets[i].check(root, &u, &command, to);
        }
}
