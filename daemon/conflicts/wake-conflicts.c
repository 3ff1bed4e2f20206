/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>

#include "wish-conflict.h"
#include "tree.h"

#define COLLECTOR "prometheus-node-exporter-smartmon"
#define FSTAB "/etc/fstab"
#define UPDATEDB_CONF "/etc/updatedb.conf"

/* A line in another program's file that makes the program wake or poll drives. */
typedef struct Waker {
        const char *file;
        unsigned line;
        Match match, except;
        const char *program_name, *remedy;
        char activity[PATH_MAX];
        /* Polling interval in seconds, for a program that skips drives in standby. 0: the program wakes drives. */
        uint64_t interval;
} Waker;

/* ---- drives with a spin-down time ---- */

/* Returns true if the wish is a spin-down time that a waker with this interval disturbs: the waker keeps the time from
 * expiring, or ends the standby. */
static bool is_disturbed(const ConflictCheck *r, const Wish *w, uint64_t interval) {
        const Setting *s = setting_find(r->table, w->name);
        uint64_t ms = s && !w->withheld ? setting_spin_down_ms(s, &w->value) : UINT64_MAX;

        if (ms == UINT64_MAX)
                return false;
        /* Spin-down by the service uses the kernel's counters of reads and writes, which do not include commands such as smartctl's. */
        return interval == 0 ||
               (ms / 1000 >= interval && (w->spindown_by != SPINDOWN_BY_SERVICE || w->commands_are_use));
}

/* Adds a complaint for the first drive whose spin-down the waker prevents or undoes. */
static void waker_check(const ConflictCheck *r, const Waker *waker) {
        /* Tries each drive with the settings for mains, then with the settings for battery. */
        for (size_t n = 0; n < 2 * r->n_drives; n++) {
                _cleanup_(wishes_done) Wishes wishes = {};
                const Drive *d = r->drives[n / 2];
                char time[VALUE_TEXT_MAX];
                const Wish *w;

                if (!d->rotational || !match_drive(&waker->match, d, NULL) ||
                    (waker->except.n_criteria > 0 && match_drive(&waker->except, d, NULL)))
                        continue;
                must_work(config_resolve(r->config, d, n % 2, &wishes));
                w = wishes.items;
                while (w < wishes.items + wishes.n_items && !is_disturbed(r, w, waker->interval))
                        w++;
                if (w == wishes.items + wishes.n_items)
                        continue;
                must_work(complain(&r->config->complaints, COMPLAINT_WARNING, waker->file, waker->line, 1,
                                   "%s disturbs %s by %s, and %s:%u wants %s for %s: %s", waker->program_name, w->name,
                                   waker->activity, w->file, w->line,
                                   value_format(&setting_find(r->table, w->name)->range, &w->value, time), d->node,
                                   waker->remedy));
                return;
        }
}

/* ---- programs that poll drives ---- */

/* Reads "1h30m" (Go) or "15min" (systemd.time(7)). Returns false for other forms. */
static bool interval_read(Waker *w, const char *text) {
        static const ValueRange range = { .type = VALUE_DURATION, .min = 1000, .max = INT64_MAX, .unit = 1000 };
        char time[VALUE_TEXT_MAX];
        Value v;

        if (value_parse(&range, text, &v) < 0)
                return false;
        w->interval = (uint64_t) v.number / 1000;
        (void) snprintf(w->activity, sizeof w->activity, "polling the drive every %s", value_format(&range, &v, time));
        return true;
}

/* Checks Debian's timer for node_exporter's textfile collector. The collector's smartmon.sh skips drives in standby
 * (smartctl -n standby). In an active drive, each poll restarts the standby timer. */
static void collector_check(const ConflictCheck *r) {
        Waker w = {
                .program_name = COLLECTOR ".timer",
                .remedy = "set an interval longer than the configured time with 'systemctl edit " COLLECTOR ".timer'",
        };
        const UnitLine *l;
        Unit u;

        if (!unit_read_started(&r->units, COLLECTOR ".timer", &u))
                return;
        l = unit_last(&u.lines, "OnUnitActiveSec");
        if (l && interval_read(&w, l->value)) {
                w.file = l->file;
                w.line = l->line;
                waker_check(r, &w);
        }
        unit_done(&u);
}

/* Reads the options of smartctl_exporter. Returns false if their effect is not known. */
static bool exporter_read(char *options, Waker *w) {
        const char *interval = "60s", *mode = "standby";
        char *next;

        /* The value of an option is in the same word (NAME=VALUE) or in the next word. */
        for (char *o = strtok_r(options, " \t\"'=", &next); o; o = strtok_r(NULL, " \t\"'=", &next)) {
                /* The values of these options are regular expressions of Go, which are not supported here. */
                if (starts_with(o, "--smartctl.device-"))
                        return false;
                if (streq(o, "--smartctl.interval"))
                        interval = strtok_r(NULL, " \t\"'=", &next) ?: "";
                else if (streq(o, "--smartctl.powermode-check"))
                        mode = strtok_r(NULL, " \t\"'=", &next) ?: "";
                else if (streq(o, "--smartctl.device")) {
                        char *node = strtok_r(NULL, " \t\"'=;", &next);

                        /* The value may have a type: "/dev/sda;sat". */
                        if (!node || must_not_fail(match_add(&w->match, MATCH_NODE, NULL, node)) < 0)
                                return false;
                }
        }
        if (!interval_read(w, interval))
                return false;
        if (STR_IN_SET(mode, "never", "sleep")) {
                w->interval = 0;
                w->remedy = "set --smartctl.powermode-check=standby, and --smartctl.interval longer than the configured time";
        }
        return true;
}

/* Checks smartctl_exporter. When Prometheus requests data, smartctl_exporter polls each drive whose data is older than the interval in
 * --smartctl.interval. By default, the exporter polls with smartctl -n standby (versions 0.8 to 0.14). */
static void exporter_check(const ConflictCheck *r) {
        UnitLine command = {};
        Waker w = {
                .program_name = "smartctl_exporter",
                .remedy = "set --smartctl.interval longer than the configured time",
        };

        if (!units_find_command(&r->units, "?(prometheus-)smartctl[-_]exporter", &command))
                return;
        w.file = command.file;
        w.line = command.line;
        if (exporter_read(command.value, &w))
                waker_check(r, &w);
        match_done(&w.match);
        unit_line_done(&command);
}

void polls_check(const ConflictCheck *r, const char *file, const char *command, const Import *import) {
        _cleanup_free_ char *interval = command_option(command ?: "", "-i", "--interval");

        for (const ImportPoll *p = import->polls; p < import->polls + import->n_polls; p++) {
                const Waker w = {
                        .file = file,
                        .line = p->line,
                        .match = p->match,
                        .except = p->except,
                        .program_name = "smartd",
                        .activity = "polling the drive",
                        .remedy = "set -n standby in this line, and an interval longer than the configured time (smartd -i SECONDS)",
                        .interval = p->skips_standby ? strtoul(interval ?: "1800", NULL, 10) : 0,
                };

                waker_check(r, &w);
        }
}

/* ---- programs that read and write file systems ---- */

/* Returns true if updatedb runs daily. Debian's cron job of plocate does nothing under systemd, where a timer runs updatedb. */
static bool updatedb_runs(const ConflictCheck *r) {
        _cleanup_(words_done) Words jobs = tree_glob(r->root, "/etc/cron.daily/", "{m,p,}locate", "");

        for (size_t i = 0; i < jobs.n_items; i++) {
                _cleanup_free_ char *text = tree_read(r->root, jobs.items[i], true);

                if (text && !strstr(text, "/run/systemd/system"))
                        return true;
        }
        return unit_is_active(&r->units, "{plocate-,mlocate-,}updatedb", ".timer");
}

/* Returns true if the list has the word. A path is also in the list if one of its parent directories is in the list. Upper and lower
 * case are different in paths, but not in other words. */
static bool has_word_or_parent(const Pair *words, const char *word) {
        _cleanup_(words_done) Words w = {};

        words_split(&w, words ? words->value : "");
        for (size_t i = 0; i < w.n_items; i++) {
                size_t n = strlen(w.items[i]);

                while (n > 0 && w.items[i][n - 1] == '/')
                        n--;
                if ((*word == '/' ? strncmp : strncasecmp)(w.items[i], word, n) == 0 &&
                    (word[n] == '\0' || word[n] == '/'))
                        return true;
        }
        return false;
}

/* Adds the source of a mount to the match. Tags such as UUID= (mount(8)) become udev's links. */
static int match_source(Match *m, const char *source) {
        static const char tags[][2][24] = {
                { "UUID=", "by-uuid" },
                { "LABEL=", "by-label" },
                { "PARTUUID=", "by-partuuid" },
                { "PARTLABEL=", "by-partlabel" },
        };
        _cleanup_free_ char *link = NULL;

        for (size_t i = 0; i < ELEMENTSOF(tags) && !link; i++)
                if (starts_with(source, tags[i][0])) {
                        const char *value = source + strlen(tags[i][0]);

                        value += *value == '"';
                        link = must_format("/dev/disk/%s/%.*s", tags[i][1], (int) strcspn(value, "\""), value);
                }
        return must_not_fail(match_add(m, MATCH_NODE, NULL, link ?: source));
}

/* Checks one line of fstab. `pruned`: updatedb's lists of exclusions; NULL: updatedb does not run. */
static void file_system_check(const ConflictCheck *r, const struct mntent *m, unsigned line, const Pairs *pruned) {
        const Pair *paths = pruned ? pairs_last(pruned, NULL, "PRUNEPATHS") : NULL;
        const Pair *types = pruned ? pairs_last(pruned, NULL, "PRUNEFS") : NULL;
        Waker w = { .file = UPDATEDB_CONF, .line = paths ? paths->line : 0 };
        bool known = match_source(&w.match, m->mnt_fsname) >= 0 && *m->mnt_dir == '/';

        /* "/" causes no warning, because users do not exclude it from updatedb's search. A mount with the option "noauto" causes no
         * warning, because updatedb does not search file systems that are not mounted. */
        if (known && pruned && !streq(m->mnt_dir, "/") && !hasmntopt(m, "noauto") &&
            !has_word_or_parent(paths, m->mnt_dir) && !has_word_or_parent(types, m->mnt_type)) {
                w.program_name = "updatedb";
                w.remedy = "add the mount point to PRUNEPATHS";
                (void) snprintf(w.activity, sizeof w.activity, "searching %s", m->mnt_dir);
                waker_check(r, &w);
        }
        /* Only strictatime disables relatime. The option "atime" means the kernel's default, which is relatime. */
        if (known && hasmntopt(m, "strictatime") && !hasmntopt(m, "relatime") && !hasmntopt(m, "noatime") &&
            !hasmntopt(m, "lazytime") && !hasmntopt(m, "ro")) {
                w.file = FSTAB;
                w.line = line;
                w.program_name = "strictatime";
                w.remedy = "remove strictatime: the default, relatime, writes at most once a day for a file that is only read";
                (void) snprintf(w.activity, sizeof w.activity,
                                "writing an access time after each read of a file on %s, even of a cached file",
                                m->mnt_dir);
                waker_check(r, &w);
        }
        match_done(&w.match);
}

static void file_systems_check(const ConflictCheck *r) {
        _cleanup_free_ char *fstab = tree_read(r->root, FSTAB, false), *line = NULL;
        _cleanup_free_ char *conf = updatedb_runs(r) ? tree_read(r->root, UPDATEDB_CONF, false) : NULL;
        _cleanup_(pairs_done) Pairs pairs = pairs_read(conf ?: "", false);
        Lines l = { .next = fstab ?: "" };

        while (lines_next(&l, false, &line)) {
                size_t size = strlen(line) + 1;
                _cleanup_free_ char *buffer = must(malloc(size + 1));
                FILE *f = must(fmemopen(line, size, "r"));
                struct mntent m;

                /* getmntent(3) does not report line numbers, so each line is parsed as a file. */
                if (getmntent_r(f, &m, buffer, (int) size + 1))
                        file_system_check(r, &m, l.line, conf ? &pairs : NULL);
                (void) fclose(f);
        }
}

void wakers_check(const ConflictCheck *r) {
        collector_check(r);
        exporter_check(r);
        file_systems_check(r);
}
