/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <fnmatch.h>

#include "emit.h"
#include "text.h"

#define WIDTH 100U

typedef struct Emitter {
        FILE *out;
        const SettingTable *table;
        const Links *links;
} Emitter;

/* A sentence as a comment, broken into lines between words; a further line of it stands further in. */
static int put_comment(Emitter *e, const char *indent, const char *sentence) {
        _cleanup_free_ char *shown = text_escape(sentence, NULL);
        const char *s = shown;

        if (!shown)
                return -ENOMEM;

        while (*s) {
                size_t n = strlen(s), room = WIDTH - strlen(indent);

                if (n > room) {
                        for (n = room; n > 0 && s[n] != ' '; n--)
                                ;
                        if (n == 0)
                                n = strcspn(s, " ");
                }
                fprintf(e->out, "%s// %s%.*s\n", indent, s == shown ? "" : "  ", (int) n, s);
                s += n;
                s += strspn(s, " ");
        }

        return 0;
}

static int put_remarks(Emitter *e, const char *indent, const Remarks *remarks) {
        int r = 0;

        for (size_t i = 0; i < remarks->n_items && r >= 0; i++)
                r = put_comment(e, indent, remarks->items[i]);
        return r;
}

/* A string of the configuration: its escapes stay as they are written, so only a quote and a backslash that is to be one
 * need another before them. */
static int put_string(Emitter *e, const char *s) {
        _cleanup_free_ char *shown = text_escape(s, NULL);

        if (!shown)
                return -ENOMEM;

        fputc('"', e->out);
        for (const char *p = shown; *p; p++) {
                if (*p == '"' || (*p == '\\' && !(p[1] == 'x' && isxdigit((unsigned char) p[2]))))
                        fputc('\\', e->out);
                fputc(*p, e->out);
        }
        fputc('"', e->out);
        return 0;
}

static int put_patterns(Emitter *e, const Criterion *c) {
        int r = 0;

        if (c->n_patterns > 1)
                fputs("( ", e->out);
        for (size_t i = 0; i < c->n_patterns && r >= 0; i++) {
                if (i > 0)
                        fputs(", ", e->out);
                if (c->key == MATCH_ROTATIONAL || c->key == MATCH_REMOVABLE)
                        fputs(c->patterns[i], e->out);
                else
                        r = put_string(e, c->patterns[i]);
        }
        if (c->n_patterns > 1)
                fputs(" )", e->out);
        return r;
}

static int put_match(Emitter *e, const char *prefix, const Match *m) {
        int r = 0;

        fprintf(e->out, "        %smatch = ", prefix);
        if (m->n_criteria == 1 && m->criteria[0].key == MATCH_NODE)
                r = put_patterns(e, &m->criteria[0]);
        else {
                fputs("{ ", e->out);
                for (size_t i = 0; i < m->n_criteria && r >= 0; i++) {
                        const Criterion *c = &m->criteria[i];

                        fprintf(e->out, "%s = ", c->property ?: match_key_to_string(c->key));
                        r = put_patterns(e, c);
                        fputs("; ", e->out);
                }
                fputc('}', e->out);
        }
        fputs(";\n", e->out);
        return r;
}

/* The names of a match by the node alone; NULL: it is no such match. */
static const Criterion *node_names(const Match *m) {
        return m->n_criteria == 1 && m->criteria[0].key == MATCH_NODE ? &m->criteria[0] : NULL;
}

/* Is it a name, or some, by which the kernel calls another drive after the next start? What fits any drive is for any. */
static bool is_fleeting(const char *node) {
        const char *some = strchr(node, '[');

        return starts_with(node, "/dev/") && !strchr(node + strlen("/dev/"), '/') && !strpbrk(node, "*?") &&
               !(some && strpbrk(some, "-!^"));
}

static int put_stable_names(Emitter *e, const Match *m) {
        const Criterion *c = node_names(m);
        int r = 0;

        for (size_t i = 0; c && i < c->n_patterns && r >= 0; i++) {
                _cleanup_free_ char *sentence = NULL;
                const char *node = c->patterns[i], *link;

                link = is_fleeting(node) ? links_best(e->links, node) : NULL;
                if (!link)
                        continue;
                if (asprintf(&sentence,
                             "%s can be another drive after the next start; the one that has this name now is always match = \"%s\";",
                             node, link) < 0) {
                        sentence = NULL;
                        return -ENOMEM;
                }
                r = put_comment(e, "        ", sentence);
        }

        return r;
}

static bool needs_advice(const Emitter *e, const ImportRule *rule) {
        const Criterion *c = node_names(&rule->match);

        for (size_t i = 0; c && i < c->n_patterns && rule->n_wishes > 0; i++)
                if (is_fleeting(c->patterns[i]) && !links_best(e->links, c->patterns[i]))
                        return true;

        return false;
}

static int put_advice(Emitter *e, const Import *import) {
        for (size_t i = 0; i < import->n_rules; i++)
                if (needs_advice(e, &import->rules[i]))
                        return put_comment(
                                        e, "    ",
                                        "names such as /dev/sda can be those of other drives after the next start; a "
                                        "link below /dev/disk/by-id names a drive for good");

        return 0;
}

/* What becomes of one wish. */
typedef struct Judgement {
        const Setting *row; /* NULL: no value of a known setting */
        Value value;
        bool stands; /* else it is a comment, and its remarks say why */
} Judgement;

static bool has_control(const char *s) {
        for (; *s; s++)
                if (iscntrl((unsigned char) *s))
                        return true;

        return false;
}

static int judge(Emitter *e, ImportWish *w, Judgement *ret) {
        const Setting *row = setting_find(e->table, w->key);
        char range[256], buf[VALUE_TEXT_MAX];
        Value v;
        int r;

        *ret = (Judgement){};
        if (!row)
                return remark(&w->remarks, "this drivekeep has no setting %s", w->key);

        /* A tab between number and unit is a blank to some programs; a string of the configuration has none. */
        r = has_control(w->value) ? -EINVAL : value_parse(&row->range, w->value, &v);
        if (r < 0)
                return remark(&w->remarks, "\"%.40s\" is no value of %s (%s)", w->value, w->key,
                              value_range_format(&row->range, range, sizeof range));

        *ret = (Judgement){ .row = row, .value = v, .stands = !w->offered };
        if (row->flags & (SETTING_DEAD | SETTING_EXCLUDED)) {
                ret->stands = ret->stands && (row->flags & SETTING_DEAD);
                return remark(&w->remarks, "%s is never written: %s", row->name, row->instead);
        }
        if (setting_is_dangerous(row, &v)) {
                ret->stands = false;
                return remark(&w->remarks,
                              "dangerous: %s; whoever means it takes it out of the comment and adds allow_dangerous = "
                              "true;",
                              row->danger);
        }
        if (r == 0)
                return 0;
        return remark(&w->remarks, "%.40s becomes %s", w->value, value_format(&row->range, &v, buf));
}

static int put_value(Emitter *e, const ImportWish *w, const Judgement *j) {
        char buf[VALUE_TEXT_MAX];
        int r = 0;

        if (j->row && j->value.type == VALUE_BOOL) {
                fputs(j->value.number ? "true;" : "false;", e->out);
                return 0;
        }

        if (*w->value && strspn(w->value, "0123456789") == strlen(w->value) && strlen(w->value) < 18)
                fputs(w->value, e->out);
        else
                r = put_string(e, w->value);
        fputc(';', e->out);

        /* The units that people think in. */
        if (j->row && j->row->range.type != VALUE_ANY && !streq(value_format(&j->row->range, &j->value, buf), w->value))
                fprintf(e->out, " // %s", buf);
        return r;
}

static int put_wish(Emitter *e, const ImportWish *w, const Judgement *j, bool live) {
        int r;

        r = put_remarks(e, "        ", &w->remarks);
        if (r < 0)
                return r;

        fprintf(e->out, "        %s%s = ", live && j->stands ? "" : "// ", w->key);
        r = put_value(e, w, j);
        fputc('\n', e->out);
        return r;
}

/* Is what one of the two wants a state that the other leaves no room for? Such a block is refused as configuration. */
static bool exclude_each_other(const Judgement *a, const Judgement *b) {
        return setting_rules_out(a->row, &a->value, b->row, &b->value) ||
               setting_rules_out(b->row, &b->value, a->row, &a->value);
}

/* The last word stands, as it does with the program that was told both. */
static int settle_exclusions(ImportRule *rule, Judgement *judgements) {
        int r = 0;

        for (size_t last = rule->n_wishes; last-- > 0;)
                for (size_t i = 0; i < last && judgements[last].stands && r >= 0; i++) {
                        if (!judgements[i].stands || !exclude_each_other(&judgements[i], &judgements[last]))
                                continue;
                        judgements[i].stands = false;
                        r = remark(&rule->wishes[i].remarks, "%s = \"%.40s\" comes later and excludes it",
                                   rule->wishes[last].key, rule->wishes[last].value);
                }

        return r;
}

/* A block in which nothing can stand as it is becomes a comment as a whole. */
static int put_block(Emitter *e, ImportRule *rule) {
        _cleanup_free_ Judgement *judgements = NULL;
        const char *prefix;
        bool live = false;
        int r = 0;

        judgements = calloc(rule->n_wishes, sizeof(Judgement));
        if (!judgements)
                return -ENOMEM;
        for (size_t i = 0; i < rule->n_wishes && r >= 0; i++) {
                r = judge(e, &rule->wishes[i], &judgements[i]);
                live = live || (judgements[i].stands && !rule->offered && !rule->conditional);
        }
        if (r >= 0)
                r = settle_exclusions(rule, judgements);
        if (r < 0)
                return r;

        prefix = live ? "" : "// ";
        fprintf(e->out, "    %s{\n", prefix);
        r = put_stable_names(e, &rule->match);
        if (r >= 0)
                r = put_match(e, prefix, &rule->match);
        for (size_t i = 0; i < rule->n_wishes && r >= 0; i++)
                r = put_wish(e, &rule->wishes[i], &judgements[i], live);
        fprintf(e->out, "    %s},\n", prefix);
        return r;
}

static int put_rule(Emitter *e, ImportRule *rule) {
        int r;

        if (rule->n_wishes == 0 && rule->remarks.n_items == 0)
                return 0;

        fprintf(e->out, "\n    // line %u\n", rule->line);
        r = put_remarks(e, "    ", &rule->remarks);
        return r < 0 || rule->n_wishes == 0 ? r : put_block(e, rule);
}

static int put_import(Emitter *e, const Import *import) {
        _cleanup_free_ char *name = text_escape(import->file, NULL);
        bool told = false;
        int r;

        if (!name)
                return -ENOMEM;

        fprintf(e->out, "\n    // ---- %s ----\n", name);
        r = put_remarks(e, "    ", &import->remarks);
        if (r >= 0)
                r = put_advice(e, import);
        for (size_t i = 0; i < import->n_rules && r >= 0; i++) {
                told = told || import->rules[i].n_wishes > 0 || import->rules[i].remarks.n_items > 0;
                r = put_rule(e, &import->rules[i]);
        }
        if (!told)
                fputs("    // it asks for nothing\n", e->out);
        return r;
}

int emit(FILE *f, const Import *imports, size_t n_imports, const SettingTable *table, const Links *links) {
        Emitter e = { .out = f, .table = table, .links = links };
        int r = 0;

        fputs("// Written by drivekeep import. Later blocks win, setting by setting; see drivekeep.conf(5).\n"
              "\n"
              "drives = (\n",
              f);
        for (size_t i = 0; i < n_imports && r >= 0; i++)
                r = put_import(&e, &imports[i]);
        fputs("\n);\n", f);

        return r < 0 ? r : ferror(f) ? -EIO : 0;
}
