/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <fnmatch.h>

#include "reader.h"
#include "text.h"

/* ---- wishes that are commented out ---- */

/* Comments out each earlier wish that the wish `last` excludes, because the later value also wins in the imported program. */
static void comment_out_excluded(const SettingTable *table, ImportRule *rule, const ImportWish *last,
                                 const Setting *row, const Value *v) {
        for (ImportWish *w = rule->wishes; w < last; w++) {
                const Setting *other = setting_find(table, w->key);
                Value u;

                if (!w->comment_reason && value_parse(&other->range, w->value, &u) >= 0 &&
                    settings_exclude(other, &u, row, v))
                        import_comment_out(w, "excluded by %s, which is set later", last->key);
        }
}

/* Comments out wishes that drivekeep does not write, or whose value it rejects. */
static void check_wishes(const SettingTable *table, ImportRule *rule) {
        for (ImportWish *w = rule->wishes; w < rule->wishes + rule->n_wishes; w++) {
                const Setting *row = setting_find(table, w->key);
                char range[256];
                Value v;

                assert(row);
                if (row->flags & (SETTING_DEAD | SETTING_EXCLUDED))
                        import_comment_out(w, "drivekeep never writes this setting");
                else if (value_parse(&row->range, w->value, &v) < 0)
                        import_comment_out(w, "\"%.40s\" is not a valid value (%s)", w->value,
                                           value_range_format(&row->range, range, sizeof range));
                else if (setting_is_dangerous(row, &v))
                        import_comment_out(w, "dangerous, and needs allow_dangerous = true: %s", row->danger);
                else if (!w->comment_reason)
                        comment_out_excluded(table, rule, w, row, &v);
        }
}

/* Returns true if a drive may match both rules. Returns false only if both rules use kernel names and have no name in common. */
static bool may_overlap(const ImportRule *a, const ImportRule *b) {
        const Criterion *x = import_nodes(&a->match), *y = import_nodes(&b->match);

        if (a->drives_unknown || b->drives_unknown || !x || !y)
                return true;
        for (size_t i = 0; i < x->n_patterns; i++)
                for (size_t k = 0; k < y->n_patterns; k++) {
                        const char *p = x->patterns[i], *q = y->patterns[k];

                        if (strchr(p + strlen("/dev/"), '/') || strchr(q + strlen("/dev/"), '/') ||
                            fnmatch(p, q, 0) == 0 || fnmatch(q, p, 0) == 0 || (strpbrk(p, "*?[") && strpbrk(q, "*?[")))
                                return true;
                }
        return false;
}

/* Comments out a wish if a later wish for the same key is commented out, because the later wish may be an exception for some of the
 * earlier wish's drives. */
static void comment_out_general(Import *import) {
        for (size_t i = import->n_rules; i-- > 0;) {
                const ImportRule *later = &import->rules[i];

                for (const ImportWish *w = later->wishes; w < later->wishes + later->n_wishes; w++)
                        for (ImportRule *r = import->rules; r < later && (later->comment_reason || w->comment_reason);
                             r++) {
                                ImportWish *general = import_find_wish(r, w->key, w->on_battery);

                                if (general && !r->comment_reason && !general->comment_reason &&
                                    !streq(general->value, w->value) && may_overlap(r, later))
                                        import_comment_out(
                                                        general,
                                                        "line %u, which is not imported, may set another value for some of these drives",
                                                        w->line);
                        }
        }
}

/* ---- blocks ---- */

/* Writes the string in quotes. Escapes made by text_escape() stay unchanged, so only quotes and literal backslashes get another
 * backslash. */
void emit_string(FILE *f, const char *s) {
        _cleanup_free_ char *shown = must(text_escape(s, NULL));

        fputc('"', f);
        for (const char *p = shown; *p; p++) {
                if (*p == '"' || (*p == '\\' && !(p[1] == 'x' && isxdigit((unsigned char) p[2]))))
                        fputc('\\', f);
                fputc(*p, f);
        }
        fputc('"', f);
}

static void put_patterns(FILE *f, const Criterion *c) {
        fputs(c->n_patterns > 1 ? "( " : "", f);
        for (size_t i = 0; i < c->n_patterns; i++) {
                fputs(i > 0 ? ", " : "", f);
                if (c->key == MATCH_ROTATIONAL || c->key == MATCH_REMOVABLE)
                        fputs(c->patterns[i], f);
                else
                        emit_string(f, c->patterns[i]);
        }
        fputs(c->n_patterns > 1 ? " )" : "", f);
}

static void put_match(FILE *f, const ImportRule *rule) {
        const Criterion *nodes = import_nodes(&rule->match);

        if (rule->drives_unknown || (rule->comment_reason && rule->match.n_criteria == 0)) {
                fputs("match = \"/dev/disk/by-id/NAME-OF-THE-DRIVE\";\n", f); /* matches no drive */
                return;
        }
        fputs(nodes ? "match = " : "match = { ", f);
        for (size_t i = 0; i < rule->match.n_criteria; i++) {
                const Criterion *c = &rule->match.criteria[i];

                if (!nodes)
                        fprintf(f, "%s = ", c->property ?: match_key_to_string(c->key));
                put_patterns(f, c);
                fputs(nodes ? "" : "; ", f);
        }
        fputs(nodes ? ";\n" : "};\n", f);
}

void emit_wish(FILE *f, const SettingTable *table, const ImportWish *w) {
        bool is_number = *w->value && strspn(w->value, "0123456789") == strlen(w->value) && strlen(w->value) < 18;
        const Setting *row = setting_find(table, w->key);
        Value v = { .type = VALUE_ANY };
        char buf[VALUE_TEXT_MAX];

        (void) value_parse(&row->range, w->value, &v);
        fprintf(f, "%s%s = ", w->comment_reason ? "// " : "", w->key);
        if (!w->comment_reason && v.type == VALUE_BOOL)
                fputs(v.number ? "true" : "false", f);
        else if (is_number)
                fputs(w->value, f);
        else
                emit_string(f, w->value);
        fputc(';', f);

        if (w->comment_reason)
                fprintf(f, " // %s", w->comment_reason);
        else if (is_number && v.type != VALUE_BOOL && !w->on_battery &&
                 !streq(value_format(&row->range, &v, buf), w->value))
                fprintf(f, " // %s", buf); /* the number with its unit */
}

/* Writes the assignment of the key `on_battery`, if the rule has values for battery. `sign`: "// " if the whole block is commented out,
 * else "". */
static void put_battery(FILE *f, const SettingTable *table, const ImportRule *rule, const char *sign) {
        bool any = false;

        for (size_t i = 0; i < rule->n_wishes; i++) {
                if (!rule->wishes[i].on_battery || rule->wishes[i].comment_reason)
                        continue;
                fprintf(f, any ? " " : "    %s    on_battery = { ", sign);
                any = true;
                emit_wish(f, table, &rule->wishes[i]);
        }
        fputs(any ? " };\n" : "", f);
}

static void put_block(FILE *f, const SettingTable *table, const ImportRule *rule) {
        const char *sign = "// ";

        for (size_t i = 0; i < rule->n_wishes; i++)
                if (!rule->comment_reason && !rule->wishes[i].comment_reason)
                        sign = "";
        if (rule->comment_reason)
                fprintf(f, "    // line %u: %s\n", rule->line, rule->comment_reason);
        fprintf(f, "    %s{ // line %u\n    %s    ", sign, rule->line, sign);
        put_match(f, rule);
        if (rule->spindown_by_service)
                fprintf(f, "    %s    spindown_by = \"service\";\n", sign);
        for (size_t i = 0; i < rule->n_wishes; i++) {
                if (rule->wishes[i].on_battery && !rule->wishes[i].comment_reason)
                        continue;
                fprintf(f, "    %s    ", sign);
                emit_wish(f, table, &rule->wishes[i]);
                fputc('\n', f);
        }
        put_battery(f, table, rule, sign);
        fprintf(f, "    %s},\n", sign);
}

/* Writes "lines 3, 4, 9: SENTENCE". */
static void put_note(FILE *f, const Note *note) {
        fputs(note->n_lines > 1 ? "    // lines " : "    // line ", f);
        for (size_t i = 0; i < note->n_lines; i++)
                fprintf(f, "%u%s", note->lines[i], i + 1 < note->n_lines ? ", " : ": ");
        fprintf(f, "%s\n", note->sentence);
}

static void put_import(FILE *f, const SettingTable *table, Import *import) {
        _cleanup_free_ char *file = must(text_escape(import->file, NULL));
        bool any;

        for (size_t i = 0; i < import->n_rules; i++)
                check_wishes(table, &import->rules[i]);
        comment_out_general(import);
        any = import->n_notes > 0;
        fprintf(f, "\n    // ---- %s ----\n", file);
        for (size_t i = 0; i < import->n_notes; i++)
                put_note(f, &import->notes[i]);
        for (size_t i = 0; i < import->n_rules; i++) {
                if (import->rules[i].n_wishes == 0)
                        continue;
                put_block(f, table, &import->rules[i]);
                any = true;
        }
        if (!any)
                fputs("    // the file sets nothing\n", f);
}

int emit(FILE *f, Import *imports, size_t n_imports, const SettingTable *table) {
        fputs("// Written by drivekeep import. Later blocks win, setting by setting; see drivekeep.conf(5).\n\ndrives = (\n",
              f);
        for (size_t i = 0; i < n_imports; i++)
                put_import(f, table, &imports[i]);
        fputs("\n);\n", f);
        return ferror(f) ? -EIO : 0;
}
