/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An hdparm.conf as its writer meant it. Debian's own parser takes less (hdparm 9.65, hdparm_options in hdparm-functions): where
 * that matters a note says so. */

#include <ctype.h>

#include "command.h"
#include "text.h"

#define IGNORED "Debian does not take this form, and never set it"

typedef struct Reader {
        Import *import;
        unsigned line;
        size_t block; /* the open one's rule; 0: none, and what stands here is for all drives */
        bool named;   /* the block's names have been there, and its brace has not */
} Reader;

#define note(r, ...) import_note((r)->import, (r)->line, __VA_ARGS__)

static ImportRule *begin_block(Reader *r) {
        r->block = r->import->n_rules;
        return import_add_rule(r->import, r->line);
}

/* What comes next is meant for some drive, and not for all. */
static void begin_nameless(Reader *r) {
        ImportRule *rule = begin_block(r);

        import_hold_drives(rule, "this block names no drive");
}

static void read_names(Reader *r, char *s) {
        ImportRule *rule = r->named ? &r->import->rules[r->block] : begin_block(r);

        r->named = true;
        for (char *saved, *name = strtok_r(s, " \t,", &saved); name; name = strtok_r(NULL, " \t,", &saved)) {
                bool slash = ends_with(name, "/");

                if (*name != '/') {
                        import_hold_drives(rule, "beside the name stands what is none");
                        return;
                }
                if (slash)
                        name[strlen(name) - 1] = '\0';
                if (import_match(rule, MATCH_NODE, "%s", name) &&
                    (slash || strpbrk(name, "*?[") || rule->match.criteria[0].n_patterns > 1))
                        note(r, IGNORED);
        }
}

/* Is the block a second one for its drive, and the key set before? To Debian what stands there, or for all drives, counts. */
static bool is_set_before(const Reader *r, const char *key) {
        const ImportRule *global = r->import->rules, *block = global + r->block, *first = global + 1;

        while (first < block && !import_same_match(&first->match, &block->match))
                first++;
        return first < block && !block->partial &&
               (import_find_wish(first, key, false) || import_find_wish(global, key, false));
}

static void want(Reader *r, const Keyword *k, const char *value) {
        ImportRule *global = r->import->rules, *rule = global + r->block;
        const ImportWish *battery = import_find_wish(global, "apm_battery", false);

        if (!k->key)
                return;
        if (is_set_before(r, k->key)) {
                note(r, "this drive has a block before, and to Debian what stands there, or for all drives, counts");
                return;
        }
        /* With a brace too many it may be for one drive. */
        if (rule == global && r->import->n_rules > 1) {
                note(r, "what stands behind a block Debian loses");
                return;
        }

        import_want(rule, r->line, k->key, "%s", value);
        /* For Debian the apm of a block leaves the apm_battery for all drives as it is. */
        if (rule != global && streq(k->key, "apm") && battery && !import_find_wish(rule, battery->key, false))
                import_want(rule, battery->line, battery->key, "%s", battery->value);
}

/* What stands before, between or behind braces: names, "KEY = VALUE", or a word alone. */
static void read_part(Reader *r, char *s) {
        char *value = s;
        const Keyword *k;
        bool is_assigned;

        if (*s == '/') {
                read_names(r, s);
                return;
        }
        if (!*s)
                return;
        if (r->named)
                import_hold(&r->import->rules[r->block], "there is no brace behind the name");
        r->named = false;

        is_assigned = line_split(s, &value);
        k = keyword_find(s, '\0');
        if (k && k->alone != is_assigned && !strpbrk(value, " \t"))
                want(r, k, k->alone ? "on" : value);
        else {
                /* Of the value nothing is shown: it may be a password. */
                note(r, "\"%.*s\" is not taken over in this form", (int) MIN(strcspn(s, " \t=:\"'"), 40U), s);
                /* It may be a name. */
                if (!is_assigned && r->block == 0)
                        begin_nameless(r);
        }
}

static void read_line(Reader *r, char *s) {
        const char *brace;

        for (char *c = strchr(s, '#'); c; c = strchr(c + 1, '#'))
                if (c == s || isblank((unsigned char) c[-1]))
                        *c = '\0';
        if (starts_with(s, "//"))
                return;
        s = text_strip(s);

        /* To Debian "NAME {" and "}" stand alone on their lines. */
        brace = strpbrk(s, "{}");
        if (brace && (brace[1] || (*brace == '{') == (brace == s)))
                note(r, IGNORED);

        while (*s) {
                size_t n = strcspn(s, "{}");
                char sign = s[n];

                s[n] = '\0';
                read_part(r, text_strip(s));
                if (sign == '{' && !r->named)
                        begin_nameless(r);
                if (sign == '}')
                        r->block = 0;
                r->named = r->named && !sign;
                s += n + (sign != '\0');
        }
}

static bool has_pattern(const ImportRule *rule) {
        const Criterion *nodes = import_nodes(&rule->match);

        for (size_t i = 0; nodes && i < nodes->n_patterns; i++)
                if (strpbrk(nodes->patterns[i], "*?["))
                        return true;
        return false;
}

/* hdparm.conf uses the first block of a drive, drivekeep the last one: a block with a pattern, which Debian never applied, moves before
 * all others. An empty block before it may be an exception. */
static void order_patterns(Import *import) {
        for (size_t i = 2; i < import->n_rules; i++) {
                ImportRule rule = import->rules[i];

                if (!has_pattern(&rule))
                        continue;
                for (size_t k = 1; k < i; k++)
                        if (import->rules[k].n_wishes == 0)
                                import_hold(&rule, "the block in line %u may leave out some of these drives",
                                            import->rules[k].line);
                memmove(import->rules + 2, import->rules + 1, (i - 1) * sizeof rule);
                import->rules[1] = rule;
        }
}

void hdparm_conf_read(const char *text, Import *ret) {
        _cleanup_free_ char *line = NULL;
        Reader r = { .import = ret };
        Lines l = { .next = text };

        /* The first rule is for all drives of Debian's udev rule, so that the blocks win. */
        (void) import_match(import_add_rule(ret, 1), MATCH_NODE, "/dev/[sh]d[a-z]");
        while (lines_next(&l, true, &line)) {
                r.line = l.line;
                read_line(&r, line);
        }
        order_patterns(ret);
}
