/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fnmatch.h>
#include <regex.h>

#include "reader.h"
#include "text.h"

static void wish_done(ImportWish *w) {
        free(w->key);
        free(w->value);
        free(w->comment_reason);
}

static void conditions_done(ImportConditions *c) {
        for (size_t i = 0; i < c->n_items; i++) {
                free(c->items[i].key);
                free(c->items[i].attribute);
                free(c->items[i].value);
        }
        free(c->items);
}

static void rule_done(ImportRule *r) {
        for (size_t i = 0; i < r->n_wishes; i++)
                wish_done(&r->wishes[i]);
        free(r->wishes);
        conditions_done(&r->conditions);
        free(r->comment_reason);
        match_done(&r->match);
        match_done(&r->except);
}

void import_done(Import *i) {
        for (size_t k = 0; k < i->n_rules; k++)
                rule_done(&i->rules[k]);
        free(i->rules);
        for (size_t k = 0; k < i->n_jumps; k++)
                conditions_done(&i->jumps[k].conditions);
        free(i->jumps);
        for (size_t k = 0; k < i->n_polls; k++) {
                match_done(&i->polls[k].match);
                match_done(&i->polls[k].except);
        }
        free(i->polls);
        for (size_t k = 0; k < i->n_notes; k++) {
                free(i->notes[k].sentence);
                free(i->notes[k].lines);
        }
        free(i->notes);
        free(i->file);
        *i = (Import){};
}

char *import_escape(char *text) {
        _cleanup_free_ char *own = text;

        return must(text_escape(own, NULL));
}

void import_take_note(Import *i, unsigned line, char *sentence) {
        Note *n = i->notes;

        while (n < i->notes + i->n_notes && !streq(n->sentence, sentence))
                n++;
        if (n < i->notes + i->n_notes)
                free(sentence);
        else {
                must_grow(i, notes);
                n = &i->notes[i->n_notes++];
                *n = (Note){ .sentence = sentence };
        }

        if (n->n_lines > 0 && n->lines[n->n_lines - 1] == line)
                return;
        must_grow(n, lines);
        n->lines[n->n_lines++] = line;
}

/* Limit on the number of notes that quote the file. With more such notes, the user would overlook the rules. */
#define QUOTED_MAX 30U

void import_not_understood(Import *i, unsigned line, const char *why, const char *text) {
        size_t before = i->n_notes;

        if (i->n_quoted < QUOTED_MAX)
                import_note(i, line, "%s: %.100s", why ?: "not understood", text);
        else
                import_note(i, line, "not understood; only the first 30 such lines are quoted");
        i->n_quoted += i->n_notes - before;
}

ImportRule *import_add_rule(Import *i, unsigned line) {
        must_grow(i, rules);
        i->rules[i->n_rules] = (ImportRule){ .line = line };
        return &i->rules[i->n_rules++];
}

void import_drop_rule(Import *i) {
        rule_done(&i->rules[--i->n_rules]);
}

ImportWish *import_find_wish(const ImportRule *r, const char *key, bool on_battery) {
        for (size_t i = 0; i < r->n_wishes; i++)
                if (r->wishes[i].on_battery == on_battery && streq(r->wishes[i].key, key))
                        return &r->wishes[i];

        return NULL;
}

void import_drop_wish(ImportRule *r, const char *key, bool on_battery) {
        ImportWish *w = import_find_wish(r, key, on_battery);

        if (!w)
                return;
        wish_done(w);
        memmove(w, w + 1, (size_t) (r->wishes + r->n_wishes - (w + 1)) * sizeof(ImportWish));
        r->n_wishes--;
}

ImportWish *import_add_wish(ImportRule *r, unsigned line, const char *key, char *value, bool on_battery) {
        /* The new wish goes to the end: of two wishes that exclude each other, the later wish wins. */
        import_drop_wish(r, key, on_battery);
        must_grow(r, wishes);
        r->wishes[r->n_wishes] = (ImportWish){ must(strdup(key)), value, NULL, on_battery, line };
        return &r->wishes[r->n_wishes++];
}

void import_take_reason(char **reason, char *why) {
        if (*reason)
                free(why);
        else
                *reason = why;
}

bool import_match_add(Match *m, MatchKey key, const char *property, const char *pattern) {
        _cleanup_free_ char *shown = must(text_escape(pattern, NULL));

        return streq(shown, pattern) && must_not_fail(match_add(m, key, property, pattern)) >= 0;
}

bool import_add_match(ImportRule *r, MatchKey key, char *pattern) {
        _cleanup_free_ char *own = pattern;

        if (import_match_add(&r->match, key, NULL, own))
                return true;
        import_comment_out_drives(r, "\"%.60s\" is not a drive name", own);
        return false;
}

void import_match_copy(Match *to, const Match *from) {
        for (size_t i = 0; i < from->n_criteria; i++)
                for (size_t k = 0; k < from->criteria[i].n_patterns; k++)
                        (void) must_not_fail(match_add(to, from->criteria[i].key, from->criteria[i].property,
                                                       from->criteria[i].patterns[k]));
}

const Criterion *import_nodes(const Match *m) {
        return m->n_criteria == 1 && m->criteria[0].key == MATCH_NODE ? &m->criteria[0] : NULL;
}

bool import_same_match(const Match *a, const Match *b) {
        return match_includes(a, b) && match_includes(b, a);
}

/* ---- joining ---- */

/* Returns the number of wishes of `b` whose key is also in `a`. `same`: counts only keys with the same value and comment_reason in both
 * rules. */
static size_t count_shared(const ImportRule *a, const ImportRule *b, bool same) {
        size_t n = 0;

        for (size_t i = 0; i < b->n_wishes; i++) {
                const ImportWish *y = &b->wishes[i], *x = import_find_wish(a, y->key, y->on_battery);

                n += x && (!same || (streq(x->value, y->value) && streq_ptr(x->comment_reason, y->comment_reason)));
        }
        return n;
}

static bool same_conditions(const Import *import, const ImportRule *a, const ImportRule *b) {
        const ImportConditions *p = &a->conditions, *q = &b->conditions;
        bool same = a->never == b->never && a->jumps == b->jumps && p->n_items == q->n_items &&
                    import_same_match(&a->except, &b->except);

        for (size_t i = 0; same && i < p->n_items; i++) {
                const ImportCondition *x = &p->items[i], *y = &q->items[i];

                same = streq(x->key, y->key) && streq(x->attribute, y->attribute) && streq(x->value, y->value) &&
                       x->negated == y->negated;
        }
        for (const ImportJump *j = import->jumps; same && j < import->jumps + import->n_jumps; j++)
                same = (j->line < a->line) == (j->line < b->line) && (j->until > a->line) == (j->until > b->line);
        return same;
}

/* Merges `rule` into `last`, the rule before it. Returns false if the rules cannot be merged. */
static bool join_rule(ImportRule *last, ImportRule *rule) {
        size_t same = count_shared(last, rule, true);

        if (!streq_ptr(last->comment_reason, rule->comment_reason) || last->drives_unknown != rule->drives_unknown)
                return false;
        /* Commented-out rules from different lines are not merged. They may be in different branches of a script, or for different
         * drives whose names are not known. */
        if (rule->comment_reason && last->line != rule->line)
                return false;
        /* A commented-out rule must not lose a wish by the merge. */
        if (import_same_match(&last->match, &rule->match) &&
            (!rule->comment_reason || same == count_shared(last, rule, false))) {
                for (ImportWish *w = rule->wishes; w < rule->wishes + rule->n_wishes; w++)
                        import_add_wish(last, w->line, w->key, TAKE_PTR(w->value), w->on_battery)->comment_reason =
                                        TAKE_PTR(w->comment_reason);
                return true;
        }
        if (!import_nodes(&last->match) || !import_nodes(&rule->match) || last->n_wishes != same ||
            rule->n_wishes != same)
                return false;
        import_match_copy(&last->match, &rule->match);
        return true;
}

/* Merges adjacent rules for the same drives, or with the same wishes. */
static void join_rules(Import *i) {
        size_t n = 0;

        for (size_t k = 0; k < i->n_rules; k++)
                if (n > 0 && same_conditions(i, &i->rules[n - 1], &i->rules[k]) &&
                    join_rule(&i->rules[n - 1], &i->rules[k]))
                        rule_done(&i->rules[k]);
                else
                        i->rules[n++] = i->rules[k];
        i->n_rules = n;
}

/* ---- kinds of files ---- */

/* clang-format off */
static const struct {
        const char *name, *title;
        void (*read)(const char *text, Import *ret);
        const char *glob;   /* extended glob(7), compared with the path after a leading '/' */
        const char *begins; /* extended regular expression; fits the text after leading comments only in this kind; NULL: none */
} kinds[_IMPORT_KIND_MAX] = {
        [IMPORT_HDPARM_CONF] = { "hdparm.conf", "an hdparm.conf", hdparm_conf_read, "*/hdparm.conf",
          "^/dev/[^ \t\n{]+\\s*\\{\\s*(#[^\n]*\\s+)*(quiet|apm|apm_battery|spindown_time|write_cache|lookahead|read_ahead_sect|"
          "mult_sect_io|dma|io32_support|acoustic_management|poweron_standby|keep_[a-z_]+|transfer_mode|[a-z_]*standby)\\>" },
        [IMPORT_CONF_D] = { "conf.d", "Gentoo's file for hdparm", conf_d_read, "*/conf.d/hdparm", NULL },
        [IMPORT_UDISKS] = { "udisks2", "a file of udisks2", udisks_read, "*/udisks2/*.conf", "^\\[ATA]" },
        [IMPORT_TLP] = { "tlp", "a file of TLP", tlp_read,
          "*/@(tlp.conf|tlp.d/*.conf|default/tlp|tlp/defaults.conf)", NULL },
        [IMPORT_LAPTOP_MODE] = { "laptop-mode", "a file of laptop-mode-tools", laptop_mode_read, "*/@(laptop-mode.conf|laptop-mode/conf.d/*.conf)", NULL },
        [IMPORT_TUNED] = { "tuned", "a file of tuned", tuned_read, "*/tuned.conf", NULL },
        [IMPORT_SMARTD] = { "smartd.conf", "a smartd.conf", smartd_read, "*/smartd.conf", NULL },
        [IMPORT_HD_IDLE] = { "hd-idle", "a file of hd-idle", hd_idle_read, "*/@(default|sysconfig)/hd-idle", NULL },
        [IMPORT_MDADM] = { "mdadm.conf", "an mdadm.conf", mdadm_conf_read, "*/@(mdadm.conf|mdadm.conf.d/*)", NULL },
        [IMPORT_SCRIPT] = { "script", "a script", script_file_read, "*@(.sh|/rc.local|/rc.local.local)",
          "^(#![^\n]*[/ ](ba|da|a)?sh\\s|(hdparm|smartctl) -[-A-Za-z])" },
        [IMPORT_CRONTAB] = { "crontab", "a crontab", crontab_read, "*/@(crontab|cron.d/*|crontabs/*)",
          "^(@reboot |([0-9*,/-]+[ \t]+){5})" },
        [IMPORT_UNIT] = { "unit", "a unit of systemd", unit_read, "*.service@(|.d/*.conf)", "^\\[(Unit|Service)]" },
        [IMPORT_UDEV_RULES] = { "udev-rules", "a file of udev's rules", udev_rules_read, "*.rules", "^((ACTION|SUBSYSTEM)[!=]=|KERNEL==)\"" },
        [IMPORT_TMPFILES] = { "tmpfiles", "a file of tmpfiles.d", tmpfiles_read, "*/tmpfiles.d/*.conf", NULL },
        [IMPORT_SYSFS_CONF] = { "sysfs.conf", "a sysfs.conf", sysfs_conf_read, "*/@(sysfs.conf|sysfs.d/*.conf)", NULL },
};
/* clang-format on */

ImportKind import_kind_from_string(const char *s) {
        for (ImportKind k = 0; k < _IMPORT_KIND_MAX; k++)
                if (streq(kinds[k].name, s))
                        return k;

        return _IMPORT_KIND_INVALID;
}

static ImportKind kind_by_name(const char *file) {
        _cleanup_free_ char *path = must_format("/%s", file);

        for (ImportKind k = 0; k < _IMPORT_KIND_MAX; k++)
                if (fnmatch(kinds[k].glob, path, FNM_EXTMATCH) == 0)
                        return k;

        return _IMPORT_KIND_INVALID;
}

/* Returns the text after leading blanks and comments. */
static const char *skip_comments(const char *s) {
        for (;;) {
                s += strspn(s, " \t\r\n");
                if (*s != '#')
                        return s;
                s += strcspn(s, "\n");
        }
}

static bool reader_fits(const char *text, const char *expression) {
        regex_t regex;
        bool found;

        if (regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB) != 0)
                (void) must(NULL);
        found = regexec(&regex, text, 0, NULL, 0) == 0;
        regfree(&regex);
        return found;
}

static ImportKind kind_by_text(const char *text) {
        const char *first = starts_with(text, "#!") ? text : skip_comments(text);

        for (ImportKind k = 0; k < _IMPORT_KIND_MAX; k++)
                if (kinds[k].begins && reader_fits(first, kinds[k].begins))
                        return k;

        return _IMPORT_KIND_INVALID;
}

static bool has_drives(const char *text) {
        return reader_fits(text, "(^|\n)[ \t]*drives\\s*[=:]?\\s*\\(");
}

char *import_describe(const char *file, const char *text, size_t size) {
        ImportKind kind = kind_by_name(file);

        if (memchr(text, '\0', size) || has_drives(text))
                return NULL;
        if (kind == _IMPORT_KIND_INVALID)
                kind = kind_by_text(text);
        if (kind != _IMPORT_KIND_INVALID)
                return must_format("this is %s; 'drivekeep import %s' translates it", kinds[kind].title, file);
        if (reader_fits(text, "(^|\n)(---\\s|-[ \t]+[a-z_]+:\\s|[a-z_]+:[ \t]*\r?\n[ \t]*-? *[a-z_]+:)"))
                return must(strdup("this is YAML; drivekeep reads libconfig files: see drivekeep.conf(5)"));
        if (reader_fits(text, "^\\s*[[{]\\s*(\\{\\s*)?\"[a-z_]+\"\\s*:"))
                return must(strdup("this is JSON; drivekeep reads libconfig files: see drivekeep.conf(5)"));
        return NULL;
}

char *import_describe_line(const char *file, const char *text, unsigned line) {
        static const struct {
                ImportKind kind;
                const char *begins; /* the beginning of a line, unique to this kind */
        } lines[] = {
                { IMPORT_HDPARM_CONF, "^/dev/[^ \t{};\"]+[ \t]*\\{" },
                { IMPORT_TLP, "^(TLP|DISK|SATA_LINKPWR|AHCI_RUNTIME_PM)_[A-Z0-9_]+=" },
                { IMPORT_UDEV_RULES, "^(ACTION|SUBSYSTEM|KERNEL|(ATTR|ENV)\\{[^}]+\\})[!=]?=\"" },
                { IMPORT_SCRIPT,
                  "^(sudo[ \t]+)?(/[^ \t]*/)?((hdparm|smartctl|sdparm|blockdev|hd-idle)[ \t]+-|nvme[ \t]+set-feature)" },
        };
        _cleanup_free_ char *found = NULL;
        const char *at = text;

        for (; line > 1 && at; line--) {
                at = strchr(at, '\n');
                at += at != NULL;
        }
        if (!at)
                return NULL;
        at += strspn(at, " \t");
        found = must(strndup(at, strcspn(at, "\n")));

        for (size_t i = 0; i < ELEMENTSOF(lines); i++)
                if (reader_fits(found, lines[i].begins))
                        return has_drives(text)
                                               ? must_format("this is a line of %s; move such lines to another FILE, and run "
                                                             "'drivekeep import --format=%s FILE'",
                                                             kinds[lines[i].kind].title, kinds[lines[i].kind].name)
                                               : must_format("this is a line of %s; 'drivekeep import --format=%s %s' "
                                                             "translates the file",
                                                             kinds[lines[i].kind].title, kinds[lines[i].kind].name,
                                                             file);
        return NULL;
}

int import_read(const char *file, const char *text, size_t size, ImportKind kind, Import *ret,
                const char **ret_objection) {
        const char *objection = NULL;

        if (kind == _IMPORT_KIND_INVALID)
                kind = kind_by_name(file);
        if (kind == _IMPORT_KIND_INVALID)
                kind = kind_by_text(text);
        if (memchr(text, '\0', size))
                objection = "the file is not UTF-8 text: it has a NUL byte";
        else if (kind == _IMPORT_KIND_INVALID && *skip_comments(text))
                objection = "the kind of this file is not recognized; give the kind with --format=KIND";
        else if (kind == IMPORT_SCRIPT && starts_with(text, "#!") && kind_by_text(text) != IMPORT_SCRIPT)
                objection = "the first line does not name a supported shell (sh, ash, bash or dash)";
        if (objection) {
                *ret_objection = objection;
                return 1;
        }

        *ret = (Import){ .file = must(strdup(file)) };
        if (kind != _IMPORT_KIND_INVALID)
                kinds[kind].read(text, ret);
        join_rules(ret);
        return 0;
}
