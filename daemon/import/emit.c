/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>

#include "reader.h"
#include "text.h"

#define PLACEHOLDER "/dev/disk/by-id/NAME-OF-THE-DRIVE" /* which fits none */

typedef struct Emitter {
        FILE *out;
        const SettingTable *table;
} Emitter;

/* ---- what stands, and what is held back ---- */

/* Of two that leave each other no room the last one stands, as with the program that was told both. */
static void judge_earlier(const Emitter *e, ImportRule *rule, const ImportWish *last, const Setting *row,
                          const Value *v) {
        for (ImportWish *w = rule->wishes; w < last; w++) {
                const Setting *other = setting_find(e->table, w->key);
                Value u;

                if (!w->held && value_parse(&other->range, w->value, &u) >= 0 &&
                    (setting_rules_out(other, &u, row, v) || setting_rules_out(row, v, other, &u)))
                        import_hold(w, "%s comes later and excludes it", last->key);
        }
}

/* Takes out the settings that drivekeep does not write, with a note, and holds back those that cannot stand. */
static void judge(const Emitter *e, Import *import, ImportRule *rule) {
        for (size_t i = 0; i < rule->n_wishes;) {
                ImportWish *w = &rule->wishes[i];
                const Setting *row = setting_find(e->table, w->key);
                char range[256];
                Value v;

                if (!row || row->flags & (SETTING_DEAD | SETTING_EXCLUDED)) {
                        import_note(import, w->line, "left out, as %s",
                                    row && row->flags & SETTING_DEAD ? "no drive or kernel of today takes it"
                                                                     : "drivekeep never writes it");
                        import_drop_wish(rule, w->key, w->on_battery);
                        continue;
                }
                if (value_parse(&row->range, w->value, &v) < 0)
                        import_hold(w, "\"%.40s\" is no value of it (%s)", w->value,
                                    value_range_format(&row->range, range, sizeof range));
                else if (setting_is_dangerous(row, &v))
                        import_hold(w, "dangerous, and needs allow_dangerous = true: %s", row->danger);
                else if (!w->held)
                        judge_earlier(e, rule, w, row, &v);
                i++;
        }
}

/* ---- text ---- */

static void put_text(const Emitter *e, const char *s) {
        _cleanup_free_ char *shown = must(text_escape(s, NULL));

        fputs(shown, e->out);
}

/* "lines 3, 4, 9: SENTENCE" */
static void put_note(const Emitter *e, const Note *note) {
        fputs("    // ", e->out);
        for (size_t i = 0; i < note->n_lines; i++)
                fprintf(e->out, "%s%u", i > 0 ? ", " : note->n_lines > 1 ? "lines " : "line ", note->lines[i]);
        fputs(": ", e->out);
        put_text(e, note->sentence);
        fputc('\n', e->out);
}

/* A string of the configuration: its escapes stay as they are written, so only a quote and a backslash that is to be one
 * need another before them. */
static void put_string(const Emitter *e, const char *s) {
        _cleanup_free_ char *shown = must(text_escape(s, NULL));

        fputc('"', e->out);
        for (const char *p = shown; *p; p++) {
                if (*p == '"' || (*p == '\\' && !(p[1] == 'x' && isxdigit((unsigned char) p[2]))))
                        fputc('\\', e->out);
                fputc(*p, e->out);
        }
        fputc('"', e->out);
}

/* ---- blocks ---- */

static void put_patterns(const Emitter *e, const Criterion *c) {
        fputs(c->n_patterns > 1 ? "( " : "", e->out);
        for (size_t i = 0; i < c->n_patterns; i++) {
                fputs(i > 0 ? ", " : "", e->out);
                if (c->key == MATCH_ROTATIONAL || c->key == MATCH_REMOVABLE)
                        fputs(c->patterns[i], e->out);
                else
                        put_string(e, c->patterns[i]);
        }
        fputs(c->n_patterns > 1 ? " )" : "", e->out);
}

static void put_match(const Emitter *e, const ImportRule *rule) {
        const Criterion *nodes = import_nodes(&rule->match);

        if (rule->partial || (rule->held && rule->match.n_criteria == 0)) {
                fputs("match = \"" PLACEHOLDER "\";", e->out);
                return;
        }
        fputs(nodes ? "match = " : "match = { ", e->out);
        for (size_t i = 0; i < rule->match.n_criteria; i++) {
                const Criterion *c = &rule->match.criteria[i];

                if (!nodes)
                        fprintf(e->out, "%s = ", c->property ?: match_key_to_string(c->key));
                put_patterns(e, c);
                fputs(nodes ? "" : "; ", e->out);
        }
        fputs(nodes ? ";" : "};", e->out);
}

static void put_wish(const Emitter *e, const ImportWish *w) {
        bool is_number = *w->value && strspn(w->value, "0123456789") == strlen(w->value) && strlen(w->value) < 18;
        const Setting *row = setting_find(e->table, w->key);
        Value v = { .type = VALUE_ANY };
        char buf[VALUE_TEXT_MAX];

        (void) value_parse(&row->range, w->value, &v);
        fprintf(e->out, "%s%s = ", w->held ? "// " : "", w->key);
        if (!w->held && v.type == VALUE_BOOL)
                fputs(v.number ? "true" : "false", e->out);
        else if (is_number)
                fputs(w->value, e->out);
        else
                put_string(e, w->value);
        fputc(';', e->out);

        if (w->held) {
                fputs(" // ", e->out);
                put_text(e, w->held);
        } else if (is_number && v.type != VALUE_BOOL && !w->on_battery &&
                   !streq(value_format(&row->range, &v, buf), w->value))
                fprintf(e->out, " // %s", buf); /* the units that people think in */
}

/* `sign`: before each line of a block of which nothing stands. */
static void put_battery(const Emitter *e, const ImportRule *rule, const char *sign) {
        bool any = false;

        for (size_t i = 0; i < rule->n_wishes; i++) {
                if (!rule->wishes[i].on_battery || rule->wishes[i].held)
                        continue;
                fprintf(e->out, any ? " " : "    %s    on_battery = { ", sign);
                any = true;
                put_wish(e, &rule->wishes[i]);
        }
        fputs(any ? " };\n" : "", e->out);
}

static void put_block(const Emitter *e, const ImportRule *rule) {
        const Note why = { .sentence = rule->held, .lines = (unsigned[]){ rule->line }, .n_lines = 1 };
        const char *sign = "// ";

        for (size_t i = 0; i < rule->n_wishes; i++)
                if (!rule->held && !rule->wishes[i].held)
                        sign = "";
        if (rule->held)
                put_note(e, &why);
        fprintf(e->out, "    %s{ // line %u\n    %s    ", sign, rule->line, sign);
        put_match(e, rule);
        fputc('\n', e->out);
        for (size_t i = 0; i < rule->n_wishes; i++) {
                if (rule->wishes[i].on_battery && !rule->wishes[i].held)
                        continue;
                fprintf(e->out, "    %s    ", sign);
                put_wish(e, &rule->wishes[i]);
                fputc('\n', e->out);
        }
        put_battery(e, rule, sign);
        fprintf(e->out, "    %s},\n", sign);
}

static void put_import(const Emitter *e, Import *import) {
        bool any;

        for (size_t i = 0; i < import->n_rules; i++)
                judge(e, import, &import->rules[i]);
        fputs("\n    // ---- ", e->out);
        put_text(e, import->file);
        fputs(" ----\n", e->out);

        for (size_t i = 0; i < import->n_notes; i++)
                put_note(e, &import->notes[i]);
        any = import->n_notes > 0;
        for (size_t i = 0; i < import->n_rules; i++) {
                if (import->rules[i].n_wishes == 0)
                        continue;
                put_block(e, &import->rules[i]);
                any = true;
        }
        if (!any)
                fputs("    // it asks for nothing\n", e->out);
}

int emit(FILE *f, Import *imports, size_t n_imports, const SettingTable *table) {
        const Emitter e = { .out = f, .table = table };

        fputs("// Written by drivekeep import. Later blocks win, setting by setting; see drivekeep.conf(5).\n\ndrives = (\n",
              f);
        for (size_t i = 0; i < n_imports; i++)
                put_import(&e, &imports[i]);
        fputs("\n);\n", f);
        return ferror(f) ? -EIO : 0;
}
