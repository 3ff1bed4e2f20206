/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdarg.h>
#include <stdio.h>

#include "import.h"
#include "text.h"

#define REMARKS_MAX 50U

int remark(Remarks *r, const char *format, ...) {
        char **items, *sentence;
        va_list ap;
        int n;

        if (r->n_items > REMARKS_MAX)
                return 0;
        if (r->n_items == REMARKS_MAX)
                format = "there is more of that kind, which is not told";

        items = reallocarray(r->items, r->n_items + 1, sizeof(char *));
        if (!items)
                return -ENOMEM;
        r->items = items;

        va_start(ap, format);
        n = vasprintf(&sentence, format, ap);
        va_end(ap);
        if (n < 0)
                return -ENOMEM;

        r->items[r->n_items++] = sentence;
        return 0;
}

static void remarks_done(Remarks *r) {
        for (size_t i = 0; i < r->n_items; i++)
                free(r->items[i]);
        free(r->items);
}

static void import_wish_done(ImportWish *w) {
        free(w->key);
        free(w->value);
        remarks_done(&w->remarks);
}

void import_rule_done(ImportRule *r) {
        for (size_t i = 0; i < r->n_wishes; i++)
                import_wish_done(&r->wishes[i]);
        free(r->wishes);
        remarks_done(&r->remarks);
        match_done(&r->match);
        *r = (ImportRule){};
}

void import_done(Import *i) {
        for (size_t k = 0; k < i->n_rules; k++)
                import_rule_done(&i->rules[k]);
        free(i->rules);
        remarks_done(&i->remarks);
        free(i->file);
        *i = (Import){};
}

int import_add_rule(Import *i, unsigned line, ImportRule **ret) {
        ImportRule *rules;

        /* In steps that double. */
        if ((i->n_rules & (i->n_rules - 1)) == 0) {
                rules = reallocarray(i->rules, MAX(i->n_rules * 2, 1U), sizeof(ImportRule));
                if (!rules)
                        return -ENOMEM;
                i->rules = rules;
        }

        *ret = &i->rules[i->n_rules++];
        **ret = (ImportRule){ .line = line };
        return 0;
}

ImportWish *import_find_wish(const ImportRule *r, const char *key) {
        for (size_t i = 0; i < r->n_wishes; i++)
                if (streq(r->wishes[i].key, key))
                        return &r->wishes[i];

        return NULL;
}

void import_drop_wish(ImportRule *r, const char *key) {
        ImportWish *w = import_find_wish(r, key);

        if (!w)
                return;
        import_wish_done(w);
        memmove(w, w + 1, (size_t) (r->wishes + r->n_wishes - (w + 1)) * sizeof(ImportWish));
        r->n_wishes--;
}

int import_hold(Import *i, size_t first, const char *format, ...) {
        _cleanup_free_ char *why = NULL;
        va_list ap;
        int r = 0;

        va_start(ap, format);
        if (vasprintf(&why, format, ap) < 0)
                why = NULL;
        va_end(ap);
        if (!why)
                return -ENOMEM;

        for (; first < i->n_rules && r >= 0; first++) {
                ImportRule *rule = &i->rules[first];

                if (rule->n_wishes == 0)
                        continue;
                rule->conditional = true;
                r = remark(&rule->remarks, "%s", why);
        }

        return r;
}

int import_add_wish(ImportRule *r, unsigned line, const char *key, const char *value, ImportWish **ret) {
        ImportWish w = { .line = line }, *wishes;

        wishes = reallocarray(r->wishes, r->n_wishes + 1, sizeof(ImportWish));
        if (!wishes)
                return -ENOMEM;
        r->wishes = wishes;

        w.key = strdup(key);
        w.value = strdup(value);
        if (!w.key || !w.value) {
                import_wish_done(&w);
                return -ENOMEM;
        }

        r->wishes[r->n_wishes] = w;
        *ret = &r->wishes[r->n_wishes++];
        return 0;
}

int import_match(Match *m, MatchKey key, const char *property, const char *pattern) {
        _cleanup_free_ char *shown = text_escape(pattern, NULL);

        if (!shown)
                return -ENOMEM;
        if (!streq(shown, pattern))
                return -EINVAL;
        return match_add(m, key, property, pattern);
}

int import_match_node(ImportRule *r, const char *pattern) {
        int k;

        k = import_match(&r->match, MATCH_NODE, NULL, pattern);
        if (k != -EINVAL)
                return k < 0 ? k : 1;

        r->offered = true;
        k = remark(&r->remarks, "\"%.60s\" is no name below /dev: say here which drive is meant", pattern);
        return k < 0 ? k : 0;
}
