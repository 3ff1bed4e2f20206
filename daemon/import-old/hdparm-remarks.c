/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fnmatch.h>
#include <stdio.h>

#include "hdparm-remarks.h"
#include "words.h"

#define BLOCKS_MAX 1000U /* more than any machine has drives: behind them a second one is not looked for */

#define PATTERNS_MAX 26U

#define UNASKED                                                                                                     \
        "Although nobody asks for it, Debian's package sends -B254 to every drive with APM that its file names no " \
        "apm for, and on battery -B128 unless there is an apm_battery, and -S36 unless there is a spindown_time. "  \
        "drivekeep sends nothing that stands nowhere"

static const char *only_node(const ImportRule *r) {
        const Match *m = &r->match;

        return m->n_criteria == 1 && m->criteria[0].key == MATCH_NODE && m->criteria[0].n_patterns == 1
                               ? m->criteria[0].patterns[0]
                               : NULL;
}

static int add_node(void *userdata, const char *name) {
        ImportRule *rule = userdata;
        _cleanup_free_ char *node = NULL;
        int k;

        /* "sda {", "dev/sda {": the writer's short forms for it. */
        if (fnmatch("[hs]d[a-z]", name, 0) == 0 || strncmp(name, "dev/", 4) == 0) {
                if (asprintf(&node, "/%s%s", *name == 'd' ? "" : "dev/", name) < 0) {
                        node = NULL;
                        return -ENOMEM;
                }
                k = remark(&rule->remarks, "Debian wants the whole name, %s: it ignored this block", node);
                if (k < 0)
                        return k;
                name = node;
        }

        k = import_match_node(rule, name);
        if (k <= 0)
                return k;

        if (strncmp(name, "/dev/disk/", strlen("/dev/disk/")) == 0) {
                name += strlen("/dev/disk/");
                if (fnmatch("by-id/nvme*", name, 0) == 0)
                        return remark(&rule->remarks, "Debian cuts a link's target at its first digit (/dev/nvme), so "
                                                      "that it never found this drive");
                if (fnmatch("by-uuid/*", name, 0) == 0 || fnmatch("by-label/*", name, 0) == 0)
                        return remark(&rule->remarks, "this names a file system; it means the disk below it");
                return 0;
        }

        if (fnmatch("/dev/[hs]d[a-z]", name, 0) != 0 && !strpbrk(name, "*?["))
                return remark(&rule->remarks,
                              "Debian sets nothing of this: its udev rule is for sda to sdz and hda to hdz only");
        return 0;
}

int hdparm_add_header(ImportRule *rule, const char *header) {
        _cleanup_free_ char *copy = strdup(header);
        const char *extra = NULL, *node;
        char *name = copy;
        size_t n;
        int k = 0;

        if (!copy)
                return -ENOMEM;
        n = strlen(name);
        if (n > 0 && name[n - 1] == ',') {
                name[n - 1] = '\0';
                extra = "the comma";
        }
        name = conf_unquote(name);
        if (name != copy)
                extra = "the quotes";
        n = strlen(name);
        if (n > strlen("/dev/") && name[n - 1] == '/') {
                name[--n] = '\0';
                extra = "the slash at the end";
        }

        if (extra)
                k = remark(&rule->remarks, "Debian took %s for part of the name: no drive has it", extra);
        else if (strpbrk(name, "*?[{"))
                k = remark(&rule->remarks, "Debian knows no wildcards: it took this for a name that no drive has");
        if (k >= 0)
                k = words_expand_braces(name, n, add_node, rule);
        if (k < 0)
                return k;

        node = only_node(rule);
        return node && streq(node, header) && !strpbrk(node, "*?[");
}

int hdparm_tag_node(const char *tag, const char *value, char **ret) {
        static const struct {
                const char *tag, *directory;
        } tags[] = {
                { "UUID", "by-uuid" },
                { "LABEL", "by-label" },
                { "PARTUUID", "by-partuuid" },
                { "PARTLABEL", "by-partlabel" },
        };

        for (size_t i = 0; i < ELEMENTSOF(tags); i++)
                if (streq(tags[i].tag, tag))
                        return asprintf(ret, "/dev/disk/%s/%s", tags[i].directory, value) < 0 ? -ENOMEM : 0;

        *ret = strdup("");
        return *ret ? 0 : -ENOMEM;
}

/* What hdparm itself would refuse (9.65). */
static bool is_refused(const Keyword *k, const char *value) {
        char letter = k->option[1];
        unsigned long most = letter == 'a' ? 2048 : letter == 'c' ? 3 : letter == 'm' ? 64 : 255;

        if (k->form != KEYWORD_TEXT || letter == 'X' || letter == 'p')
                return false;
        if (*value == '\0') /* without a number these only show */
                return !strchr("aBcMm", letter);
        return strspn(value, "0123456789") != strlen(value) || strtoul(value, NULL, 10) > most;
}

/* Debian's script takes -B and -S with up to three digits out of what it hands to hdparm in one call; the package's other
 * script sends them on their own. */
static bool is_apart(const Keyword *k, const char *value) {
        size_t n = strlen(value);

        return (streq(k->option, "-B") || streq(k->key, "spindown_time")) && n >= 1 && n <= 3 &&
               strspn(value, "0123456789") == n;
}

int hdparm_remark_wish(ImportWish *w, const Keyword *k, bool outside) {
        bool refused = is_refused(k, w->value);
        int r = 0;

        if (refused)
                r = remark(&w->remarks, "Debian checks no values, and hdparm refuses this one%s",
                           is_apart(k, w->value)
                                           ? ""
                                           : ": it ends there, and sets nothing else; only apm and spindown_time come apart");
        if (r < 0)
                return r;
        if (outside)
                r = remark(&w->remarks,
                           "line %u stands behind a block: Debian took it for part of that block, and lost it",
                           w->line);
        if (r >= 0 && k->guard && !refused && *w->value && !streq(w->value, "off") && !streq(w->value, "0"))
                r = remark(&w->remarks,
                           "hdparm refuses this flag unless it is told that one knows what one does, which Debian "
                           "does not tell it; it ends there, and %s was not set either",
                           k->guard);
        return r;
}

static bool is_lost(const HdparmFile *f, size_t i) {
        const HdparmBlock *b = &f->blocks[i];

        return b->end == 0 || (f->gives_up > 0 && b->end >= f->gives_up);
}

static bool is_in_force(const ImportRule *r, const char *key, unsigned before) {
        const ImportWish *w = import_find_wish(r, key);

        return w && !w->offered && w->line < before;
}

/* For drivekeep both count and the later wins; Debian reads no further than the first. */
static int remark_second(const HdparmFile *f, size_t i, size_t first) {
        ImportRule *a = &f->import->rules[first], *b = &f->import->rules[i];
        int k;

        k = remark(&b->remarks, "Debian takes the first block for a drive, that of line %u, and ignored this one",
                   a->line);
        for (size_t n = 0; n < b->n_wishes && k >= 0; n++)
                if (is_in_force(a, b->wishes[n].key, b->line) ||
                    is_in_force(&f->import->rules[0], b->wishes[n].key, a->line)) {
                        b->wishes[n].offered = true;
                        k = remark(&b->wishes[n].remarks,
                                   "what stands above, in line %u or for all drives, is what has been in force",
                                   a->line);
                }

        return k;
}

static bool is_for(const HdparmFile *f, const ImportRule *r, const char *node) {
        const Criterion *c = r->match.n_criteria > 0 ? &r->match.criteria[0] : NULL;
        const char *target = links_target(f->links, node) ?: node;
        bool plain = fnmatch("/dev/[hs]d[a-z]", target, 0) == 0;

        for (size_t i = 0; c && i < MIN(c->n_patterns, PATTERNS_MAX); i++) {
                const char *p = c->patterns[i];

                if (streq(p, node) || streq(links_target(f->links, p) ?: p, target) ||
                    (plain && fnmatch(p, target, 0) == 0))
                        return true;
        }

        return false;
}

/* Is there a block before it that Debian took for its drive, or for one of them? 1: there is. */
static int find_second(const HdparmFile *f, size_t i) {
        ImportRule *rules = f->import->rules;
        size_t empty = 0;
        bool found = false;
        int r = 0;

        for (size_t k = 1; k < i && i < BLOCKS_MAX; k++) {
                if (!f->blocks[k].exact || is_lost(f, k) || !is_for(f, &rules[i], only_node(&rules[k])))
                        continue;
                if (!f->blocks[k].sends) {
                        empty = empty ?: k;
                        continue;
                }
                found = true;
                r = remark_second(f, i, k);
                if (r < 0 || f->blocks[i].exact)
                        break;
        }

        if (!found && empty > 0)
                r = remark(&rules[i].remarks,
                           "on a drive with APM Debian takes the first block, that of line %u, although it is empty, "
                           "and ignored this one",
                           rules[empty].line);
        return r < 0 ? r : found || empty > 0;
}

static int remark_lost(const HdparmFile *f, size_t i) {
        ImportRule *r = &f->import->rules[i];

        if (f->gives_up > 0 && f->blocks[i].line > f->gives_up)
                return remark(&r->remarks, "Debian never came here: it gave up in line %u", f->gives_up);
        if (f->gives_up > 0)
                return remark(&r->remarks, "Debian gave up in line %u, before the end of this block, and ignored it",
                              f->gives_up);
        return remark(&r->remarks, "this block is not closed on a line of its own: Debian ignored it");
}

/* What Debian sends without being asked, as an offer. */
static int offer_unasked(const HdparmFile *f, ImportRule *r) {
        ImportWish *w;
        int k;

        if (import_find_wish(&f->import->rules[0], "apm") || import_find_wish(r, "apm"))
                return 0;

        k = import_add_wish(r, r->line, "apm", "254", &w);
        if (k < 0)
                return k;
        w->offered = true;
        return remark(&w->remarks, "nobody asked for it, but on mains Debian set this if the drive has APM");
}

/* Whether Debian found the drive, if it was there. */
static bool is_reached(const ImportRule *r) {
        const char *node = only_node(r);

        return node && !strpbrk(node, "*?[") &&
               (fnmatch("/dev/[hs]d[a-z]", node, 0) == 0 ||
                (fnmatch("/dev/disk/*", node, 0) == 0 && fnmatch("/dev/disk/by-id/nvme*", node, 0) != 0));
}

/* For Debian the apm of a block leaves an apm_battery for all drives alone; for drivekeep a block wins over earlier ones
 * whatever its values are for. */
static int repeat_battery(const HdparmFile *f, ImportRule *r) {
        const ImportWish *global = import_find_wish(&f->import->rules[0], "apm_battery");
        ImportWish *w;
        int k;

        if (!global || !import_find_wish(r, "apm") || import_find_wish(r, "apm_battery"))
                return 0;

        k = import_add_wish(r, global->line, global->key, global->value, &w);
        return k < 0 ? k
                     : remark(&w->remarks, "as line %u says for all drives; the apm of this block would win over it",
                              global->line);
}

static int remark_block(const HdparmFile *f, size_t i) {
        ImportRule *r = &f->import->rules[i];
        int k;

        k = repeat_battery(f, r);
        if (k < 0)
                return k;
        if (is_lost(f, i))
                k = remark_lost(f, i);
        if (k >= 0)
                k = find_second(f, i);
        if (k == 0 && !is_lost(f, i) && is_reached(r))
                k = offer_unasked(f, r);
        return k;
}

static int remark_spindown(const HdparmFile *f) {
        for (size_t i = 0; i < f->import->n_rules; i++)
                if (import_find_wish(&f->import->rules[i], "spindown_time"))
                        return remark(&f->import->remarks,
                                      "Debian sets spindown_time only on drives with APM, unless it is written as "
                                      "force_spindown_time; drivekeep sets it on all that have a standby timer");

        return 0;
}

static int remark_globals(const HdparmFile *f) {
        ImportRule *r = &f->import->rules[0];
        int k;

        if (r->n_wishes == 0)
                return 0;

        k = remark(&r->remarks, "for all drives: those that Debian's udev rule fits; match = { rotational = true; } "
                                "would mean every disk that turns");
        if (k >= 0 && f->gives_up > 0)
                k = remark(&r->remarks, "Debian gave up in line %u; drives without a block before it got nothing",
                           f->gives_up);
        if (k >= 0 && f->gives_up == 0)
                k = offer_unasked(f, r);
        return k;
}

int hdparm_remark_file(const HdparmFile *f) {
        int k;

        k = remark(&f->import->remarks, UNASKED);
        if (k >= 0)
                k = remark_spindown(f);
        if (k >= 0 && f->gives_up > 0)
                k = remark(&f->import->remarks, "Debian's own parser gives up in line %u, and reads nothing behind it",
                           f->gives_up);
        for (size_t i = 1; i < f->import->n_rules && k >= 0; i++)
                if (f->blocks[i].line > 0)
                        k = remark_block(f, i);

        return k < 0 ? k : remark_globals(f);
}
