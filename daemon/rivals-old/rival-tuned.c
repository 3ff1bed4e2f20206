/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* tuned: the active profiles with those that they include; a later one's option takes the place of an earlier one's in the
 * section of the same name (tuned 2.20, profiles/loader.py, plugins/plugin_disk.py and plugin_scsi_host.py). */

#include <fnmatch.h>
#include <stdio.h>

#include "lines.h"
#include "rival.h"
#include "text.h"

#define ACTIVE_PROFILE "/etc/tuned/active_profile"
#define INCLUDES_MAX 16U

typedef struct Option {
        char *section, *key, *value, *file;
        unsigned line;
} Option;

typedef struct Profile {
        const Rivals *rivals;
        Presence presence;
        Option *items;
        size_t n_items;
} Profile;

static void option_done(Option *o) {
        free(o->section);
        free(o->key);
        free(o->value);
        free(o->file);
}

static void profile_done(Profile *p) {
        for (size_t i = 0; i < p->n_items; i++)
                option_done(&p->items[i]);
        free(p->items);
}

static Option *find(const Profile *p, const char *section, const char *key) {
        for (size_t i = 0; i < p->n_items; i++)
                if (streq(p->items[i].section, section) && streq(p->items[i].key, key))
                        return &p->items[i];

        return NULL;
}

static int store(Profile *p, const char *file, unsigned line, const char *section, const char *key, const char *value) {
        Option o = {
                .section = strdup(section),
                .key = strdup(key),
                .value = strdup(value),
                .file = strdup(file),
                .line = line,
        };
        Option *known = find(p, section, key), *items;

        if (!o.section || !o.key || !o.value || !o.file) {
                option_done(&o);
                return -ENOMEM;
        }
        if (known) {
                option_done(known);
                *known = o;
                return 0;
        }

        items = reallocarray(p->items, p->n_items + 1, sizeof(Option));
        if (!items) {
                option_done(&o);
                return -ENOMEM;
        }
        p->items = items;
        p->items[p->n_items++] = o;
        return 0;
}

static int read_profiles(Profile *p, const char *names, unsigned depth);

static int read_lines(Profile *p, const char *file, const char *text, bool includes, unsigned depth) {
        _cleanup_free_ char *line = NULL, *section = strdup("");
        Lines lines = { .next = text };
        int k;

        if (!section)
                return -ENOMEM;

        for (k = lines_next(&lines, false, &line); k > 0; k = lines_next(&lines, false, &line)) {
                char *key = line, *value = strchr(line, '='), *hash = strstr(line, " #");

                if (*line == '#' || *line == ';')
                        continue;
                if (hash)
                        *hash = '\0';
                if (*line == '[') {
                        free(section);
                        section = strndup(line + 1, strcspn(line + 1, "]"));
                        if (!section)
                                return -ENOMEM;
                        continue;
                }
                if (!value)
                        continue;

                *value++ = '\0';
                key = text_strip(key);
                value = text_strip(value);
                if (includes && streq(section, "main") && streq(key, "include"))
                        k = read_profiles(p, value, depth + 1);
                else if (!includes)
                        k = store(p, file, lines.line, section, key, value);
                if (k < 0)
                        return k;
        }

        return k;
}

static int read_profile(Profile *p, const char *name, unsigned depth) {
        static const char *const directories[] = { "/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles",
                                                   "/usr/lib/tuned" };
        int k = 0;

        if (strchr(name, '/') || depth > INCLUDES_MAX)
                return 0;

        for (size_t i = 0; i < ELEMENTSOF(directories) && k == 0; i++) {
                _cleanup_free_ char *path = NULL, *text = NULL;
                size_t size;

                if (asprintf(&path, "%s/%s/tuned.conf", directories[i], name) < 0) {
                        path = NULL;
                        return -ENOMEM;
                }
                k = tree_read(p->rivals->tree, path, &text, &size);
                if (k <= 0)
                        continue;
                k = read_lines(p, path, text, true, depth);
                if (k >= 0)
                        k = read_lines(p, path, text, false, depth);
                return k;
        }

        return k;
}

/* Names with blanks or commas between them. */
static int read_profiles(Profile *p, const char *names, unsigned depth) {
        _cleanup_free_ char *copy = strdup(names);
        int k = copy ? 0 : -ENOMEM;

        for (char *saved, *w = k < 0 ? NULL : strtok_r(copy, " \t\n,;", &saved); w && k >= 0;
             w = strtok_r(NULL, " \t\n,;", &saved))
                k = read_profile(p, w, depth);
        return k;
}

/* "sd*, !sda": any of the first, none of those with a '!'; nothing but the latter: all others. */
static bool means_devices(const void *userdata, const Drive *d) {
        const char *devices = userdata;
        bool any = false, fits = false;
        char pattern[128];

        for (const char *s = devices; s && *s; s += strcspn(s, " \t,")) {
                bool not_it;
                size_t n;

                s += strspn(s, " \t,");
                n = strcspn(s, " \t,");
                not_it = *s == '!';
                (void) snprintf(pattern, sizeof pattern, "%.*s", (int) (n - not_it), s + not_it);
                if (not_it && fnmatch(pattern, d->name, 0) == 0)
                        return false;
                if (!not_it && n > 0) {
                        any = true;
                        fits = fits || fnmatch(pattern, d->name, 0) == 0;
                }
        }

        return fits || !any;
}

static int claim_option(const Profile *p, const Option *o) {
        static const struct {
                const char *type, *option, *key;
        } rows[] = {
                { "disk", "apm", "apm" },
                { "disk", "spindown", "spindown_time" },
                { "disk", "elevator", "scheduler" },
                { "disk", "readahead", "read_ahead_kb" },
                { "scsi_host", "alpm", "link_power_management" },
        };
        const Option *type = find(p, o->section, "type"), *devices = find(p, o->section, "devices"),
                     *regex = find(p, o->section, "devices_udev_regex");
        Claim c = {
                .level = COMPLAINT_WARNING,
                .who = "tuned",
                .when = "by this line of its active profile, when it starts and when a drive appears",
                .cure = "take it out in a profile of your own (tuned.conf(5)), or leave that setting to tuned",
                .file = o->file,
                .line = o->line,
                .means = means_devices,
                .userdata = devices && !regex ? devices->value : NULL,
        };
        char value[64];

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                const char *v = o->value + strspn(o->value, "><= ");

                if (!streq(type ? type->value : o->section, rows[i].type) || !streq(o->key, rows[i].option) ||
                    *v == '\0')
                        continue;
                /* In KiB, or "4096 s" in sectors of 512 bytes. */
                (void) snprintf(value, sizeof value, "%.*s", (int) strcspn(v, " "), v);
                if (streq(o->key, "readahead") && strchr(v, 's'))
                        (void) snprintf(value, sizeof value, "%lu", strtoul(v, NULL, 10) / 2);
                c.key = rows[i].key;
                /* "$var", and ">4096" is only the least */
                c.value = strchr(v, '$') || v != o->value ? NULL : value;
                claim_by_presence(&c, p->presence);
                return claim_check(p->rivals, &c);
        }

        return 0;
}

int rival_tuned(const Rivals *r) {
        static const char *const units[] = { "tuned.service", NULL };
        _cleanup_(profile_done) Profile p = { .rivals = r };
        _cleanup_free_ char *names = NULL;
        size_t size;
        int k;

        k = presence_of_units(r, units, &p.presence);
        if (k < 0 || p.presence == PRESENCE_INACTIVE)
                return k;
        k = tree_read(r->tree, ACTIVE_PROFILE, &names, &size);
        if (k <= 0)
                return k;

        k = read_profiles(&p, names, 0);
        for (size_t i = 0; i < p.n_items && k >= 0; i++)
                k = claim_option(&p, &p.items[i]);
        return k;
}
