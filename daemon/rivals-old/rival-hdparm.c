/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Debian's hdparm package: 85-hdparm.rules sets what /etc/hdparm.conf asks for when a drive appears, and for all drives apm
 * and spindown_time again; its sleep hook sets these two. Every drive with APM that the file names no apm for gets -B254, on
 * battery -B128 without an apm_battery and -S36 without a spindown_time (hdparm 9.65+ds-1; catalogue 5 and 6). */

#include <fnmatch.h>
#include <stdio.h>

#include "hdparm-conf.h"
#include "hdparm-debian.h"
#include "hdparm-keyword.h"
#include "rival.h"
#include "rivals.h"

#define CONF "/etc/hdparm.conf"
#define RULES "85-hdparm.rules"
/* Not "nohdparm" on the kernel's command line: drivekeepd takes that for itself, too. */
#define NOT_AT_ALL                                                              \
        "removing the package stops that; a link from /etc/udev/rules.d/" RULES \
        " to /dev/null stops the rule alone, and not what it does after sleep"

/* The file, and one setting of it. */
typedef struct Look {
        const char *text;
        size_t size;
        const Keyword *keyword;
        bool masked; /* the rule: what is left is the sleep hook's */
} Look;

bool rivals_ask_property(const char *key) {
        return debian_asks_property(key);
}

static bool in_reach(const Drive *d) {
        return fnmatch("[hs]d[a-z]", d->name, 0) == 0;
}

static int follow(void *userdata, const char *path, char **ret) {
        const Drive *d = userdata;

        for (size_t i = 0; i < d->n_links; i++)
                if (d->links[i].via != LINK_STACKED && streq(d->links[i].path, path)) {
                        *ret = strdup(d->node);
                        return *ret ? 1 : -ENOMEM;
                }

        return 0;
}

/* Does the package send an option that begins like this? `apm`: as for a drive that has it, with what nobody asks for. */
static bool sends(const Look *look, const Drive *drive, const char *option, bool apm, bool on_battery) {
        DebianDrive d = {
                .node = drive->node,
                .apm = apm,
                .on_battery = on_battery,
                .follow = follow,
                .userdata = (void *) drive,
        };
        DebianAnswer answer;
        bool found = false;

        if (debian_options(look->text, look->size, &d, &answer) < 0)
                return false;
        if (answer.status == 0)
                for (const char *s = answer.output; s && !found; s = strstr(s, " ")) {
                        s += strspn(s, " ");
                        found = strncmp(s, option, strlen(option)) == 0;
                }
        debian_answer_done(&answer);
        return found;
}

static bool asked_for(const Look *look, const Drive *drive, const char *option) {
        return sends(look, drive, option, false, false) || sends(look, drive, option, false, true);
}

static bool means_keyword(const void *userdata, const Drive *d) {
        const Look *look = userdata;
        const char *option = look->keyword->option;

        if (!in_reach(d) || !option)
                return false;
        if (streq(option, "-S") && asked_for(look, d, "force_spindown_time"))
                return true;
        if ((streq(option, "-S") || streq(option, "-B")) && !debian_finds_apm(d))
                return false;
        return asked_for(look, d, option);
}

static bool means_unasked(const void *userdata, const Drive *d) {
        const Look *look = userdata;

        return in_reach(d) && debian_finds_apm(d) && !asked_for(look, d, "-B");
}

/* What nobody asks for on battery. */
static bool means_unasked_timer(const void *userdata, const Drive *d) {
        const Look *look = userdata;

        return in_reach(d) && debian_finds_apm(d) && !asked_for(look, d, "-S") &&
               !asked_for(look, d, "force_spindown_time");
}

/* Has the machine got a battery? */
static int has_battery(const Rivals *r) {
        _cleanup_(words_done) Words supplies = {};
        int k, found = 0;

        k = tree_list(r->tree, "/sys/class/power_supply", &supplies);
        for (size_t i = 0; i < supplies.n_items && k >= 0 && !found; i++) {
                _cleanup_free_ char *path = NULL, *type = NULL;
                size_t size;

                if (asprintf(&path, "/sys/class/power_supply/%s/type", supplies.items[i]) < 0) {
                        path = NULL;
                        return -ENOMEM;
                }
                k = tree_read(r->tree, path, &type, &size);
                found = k > 0 && strncmp(type, "Battery", strlen("Battery")) == 0;
        }

        return k < 0 ? k : found;
}

/* The one that is there, with a merged /usr or without. */
static const char *find_either(const Rivals *r, const char *path, const char *unmerged,
                               bool (*is_there)(const Tree *t, const char *path)) {
        return is_there(r->tree, path) ? path : is_there(r->tree, unmerged) ? unmerged : NULL;
}

static const char *find_rule(const Rivals *r) {
        return find_either(r, "/usr/lib/udev/rules.d/" RULES, "/lib/udev/rules.d/" RULES, tree_exists);
}

bool rivals_write_at_attach(const char *root) {
        Rivals r = {};
        bool found;
        Tree tree;

        if (tree_open(root, &tree) < 0)
                return false;
        r.tree = &tree;
        found = find_rule(&r) && !tree_masked(&tree, "/etc/udev/rules.d/" RULES);
        tree_done(&tree);
        return found;
}

/* Rule and hook both ask for this word. */
static int is_stopped(const Rivals *r, bool *ret) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        int k;

        *ret = false;
        k = tree_read(r->tree, "/proc/cmdline", &text, &size);
        if (k <= 0)
                return k;

        for (char *saved, *w = strtok_r(text, " \n", &saved); w; w = strtok_r(NULL, " \n", &saved))
                *ret = *ret || streq(w, "nohdparm");
        return 0;
}

/* `file`: what does it. */
static int check_unasked(const Rivals *r, const char *file, const Look *look) {
        _cleanup_free_ char *text = NULL;
        Claim c = {
                .level = COMPLAINT_NOTICE,
                .who = "Debian's hdparm package",
                .when = look->masked ? "(on battery 128) on every drive with APM that " CONF
                                       " names neither apm nor apm_battery for, after sleep"
                                     : "(on battery 128) on every drive with APM that " CONF
                                       " names neither apm nor apm_battery for, when any drive appears and after sleep",
                .cure = look->masked ? "removing the package stops that" : NOT_AT_ALL,
                .file = file,
                .line = 1,
                .means = means_unasked,
                .userdata = look,
                .key = "apm",
                .value = "254",
        };
        size_t size;
        int k;

        k = tree_read(r->tree, file, &text, &size);
        if (k < 0)
                return k;
        c.text = text;
        k = claim_check(r, &c);
        if (k >= 0)
                k = has_battery(r);
        if (k <= 0)
                return k;

        c.when = look->masked ? "on battery on every drive with APM that " CONF " names none for, after sleep"
                              : "on battery on every drive with APM that " CONF
                                " names none for, when any drive appears and after sleep";
        c.means = means_unasked_timer;
        c.key = "spindown_time";
        c.value = "36";
        return claim_check(r, &c);
}

/* NULL: nothing of the package sets it. */
static const char *when_set(const char *key, bool masked) {
        if (streq(key, "apm_battery"))
                return masked ? "by this on battery, after sleep"
                              : "by this on battery, when any drive appears and after sleep";
        if (streq(key, "apm") || streq(key, "spindown_time"))
                return masked ? "by this, after sleep" : "by this, when any drive appears and after sleep";
        return masked ? NULL : "by this, when the drive appears";
}

static int check_conf(const Rivals *r, Look *look, const Import *import, Presence presence) {
        Claim c = {
                .level = COMPLAINT_WARNING,
                .who = "Debian's hdparm package",
                .cure = "take this line out; 'drivekeep import' shows what else there is to take over",
                .file = CONF,
                .text = look->text,
                .means = means_keyword,
                .userdata = look,
        };
        int k = 0;

        claim_by_presence(&c, presence);
        for (size_t i = 0; i < import->n_rules; i++)
                for (size_t w = 0; w < import->rules[i].n_wishes && k >= 0; w++) {
                        const ImportWish *wish = &import->rules[i].wishes[w];

                        look->keyword = keyword_find(wish->key);
                        /* An offer is what Debian does unasked. */
                        if (!look->keyword || wish->offered)
                                continue;
                        c.line = wish->line;
                        c.match = &import->rules[i].match;
                        c.key = wish->key;
                        c.value = wish->value;
                        c.when = when_set(wish->key, look->masked);
                        if (!c.when)
                                continue;
                        k = claim_check(r, &c);
                }

        return k;
}

int rival_hdparm(const Rivals *r) {
        _cleanup_(import_done) Import import = {};
        _cleanup_free_ char *text = NULL;
        const char *doer = find_rule(r);
        bool stopped;
        Look look = {};
        int k;

        k = tree_read(r->tree, CONF, &text, &look.size);
        if (k < 0)
                return k;
        look.text = text ?: "";

        k = hdparm_conf_read(look.text, look.size, NULL, &import);
        if (k < 0)
                return k;
        if (!doer)
                return check_conf(r, &look, &import, PRESENCE_ABSENT);

        k = is_stopped(r, &stopped);
        if (k < 0 || stopped)
                return k;

        look.masked = tree_masked(r->tree, "/etc/udev/rules.d/" RULES);
        if (look.masked)
                doer = find_either(r, "/usr/lib/systemd/system-sleep/hdparm", "/lib/systemd/system-sleep/hdparm",
                                   tree_executable);
        if (!doer)
                return 0;
        k = check_conf(r, &look, &import, PRESENCE_ACTIVE);
        return k < 0 ? k : check_unasked(r, doer, &look);
}
