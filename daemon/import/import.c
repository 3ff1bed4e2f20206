/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"
#include "reader.h"
#include "text.h"

static void wish_done(ImportWish *w) {
        free(w->key);
        free(w->value);
        free(w->held);
}

static void rule_done(ImportRule *r) {
        for (size_t i = 0; i < r->n_wishes; i++)
                wish_done(&r->wishes[i]);
        free(r->wishes);
        free(r->held);
        match_done(&r->match);
}

void import_done(Import *i) {
        for (size_t k = 0; k < i->n_rules; k++)
                rule_done(&i->rules[k]);
        free(i->rules);
        for (size_t k = 0; k < i->n_notes; k++) {
                free(i->notes[k].sentence);
                free(i->notes[k].lines);
        }
        free(i->notes);
        free(i->file);
        *i = (Import){};
}

char *import_shown(char *text) {
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
                must_grow(i->notes, i->n_notes);
                n = &i->notes[i->n_notes++];
                *n = (Note){ .sentence = sentence };
        }

        if (n->n_lines > 0 && n->lines[n->n_lines - 1] == line)
                return;
        must_grow(n->lines, n->n_lines);
        n->lines[n->n_lines++] = line;
}

ImportRule *import_add_rule(Import *i, unsigned line) {
        must_grow(i->rules, i->n_rules);
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
        /* At the end, as of two that exclude each other the last one counts, too. */
        import_drop_wish(r, key, on_battery);
        must_grow(r->wishes, r->n_wishes);
        r->wishes[r->n_wishes] = (ImportWish){ must(strdup(key)), value, NULL, on_battery, line };
        return &r->wishes[r->n_wishes++];
}

void import_take_why(char **held, char *why) {
        if (*held)
                free(why);
        else
                *held = why;
}

bool import_add_match(ImportRule *r, MatchKey key, char *pattern) {
        _cleanup_free_ char *own = pattern, *shown = must(text_escape(own, NULL));

        if (streq(shown, own) && must_not_fail(match_add(&r->match, key, NULL, own)) >= 0)
                return true;
        import_hold_drives(r, "\"%.60s\" is the name of no drive", own);
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

/* How many wishes of `b` are in `a`, too; `same`: with the same value, and both held back alike. */
static size_t count_shared(const ImportRule *a, const ImportRule *b, bool same) {
        size_t n = 0;

        for (size_t i = 0; i < b->n_wishes; i++) {
                const ImportWish *y = &b->wishes[i], *x = import_find_wish(a, y->key, y->on_battery);

                n += x && (!same || (streq(x->value, y->value) && streq_ptr(x->held, y->held)));
        }
        return n;
}

/* Joins the rule to the one before it. False: it stands for itself. */
static bool join_rule(ImportRule *last, ImportRule *rule) {
        size_t same = count_shared(last, rule, true);

        if (!streq_ptr(last->held, rule->held) || last->partial != rule->partial)
                return false;
        /* Of what is held back nothing may be lost. */
        if (import_same_match(&last->match, &rule->match) && (!rule->held || same == count_shared(last, rule, false))) {
                for (ImportWish *w = rule->wishes; w < rule->wishes + rule->n_wishes; w++)
                        import_add_wish(last, w->line, w->key, TAKE_PTR(w->value), w->on_battery)->held =
                                        TAKE_PTR(w->held);
                return true;
        }
        if (!import_nodes(&last->match) || !import_nodes(&rule->match) || last->n_wishes != same ||
            rule->n_wishes != same)
                return false;
        import_match_copy(&last->match, &rule->match);
        return true;
}

void import_join(Import *i) {
        size_t n = 0;

        for (size_t k = 0; k < i->n_rules; k++)
                if (n > 0 && join_rule(&i->rules[n - 1], &i->rules[k]))
                        rule_done(&i->rules[k]);
                else
                        i->rules[n++] = i->rules[k];
        i->n_rules = n;
}
