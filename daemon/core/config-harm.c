/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Values that are written as they are wanted, and can do harm: which ones, and to whom, stands in the settings' rows. */

#include "config-check.h"

/* A drive that tries as long as it likes does so for two minutes and more (https://raid.wiki.kernel.org, Timeout Mismatch). */
#define PATIENCE_MS (2 * 60 * 1000)

/* Of the rows that share the name. */
static const Harm *find_harm(const SettingTable *t, const char *name, const Value *v) {
        SETTING_TABLE_FOREACH(s, t)
                if (s->harm && streq(s->name, name) && v->type == s->range.type && v->number >= s->harm->from &&
                    v->number <= s->harm->to)
                        return s->harm;

        return NULL;
}

/* Does it fit whatever there is? */
static bool criterion_is_universal(const Criterion *c) {
        for (size_t i = 0; i < c->n_patterns; i++) {
                const char *p = c->patterns[i];

                if (c->key == MATCH_NODE && starts_with(p, "/dev/"))
                        p += strlen("/dev/");
                if (p[strspn(p, "*?")] == '\0' && strchr(p, '*'))
                        return true;
        }

        return false;
}

static bool match_is_universal(const Match *m) {
        for (size_t i = 0; i < m->n_criteria; i++)
                if (!criterion_is_universal(&m->criteria[i]))
                        return false;

        return true;
}

/* As far as its text tells: of a name or a model nobody knows that. */
static bool match_may_turn(const Match *m) {
        for (size_t i = 0; i < m->n_criteria; i++) {
                const Criterion *c = &m->criteria[i];

                if (c->n_patterns == 1 &&
                    ((c->key == MATCH_ROTATIONAL && streq(c->patterns[0], "false")) ||
                     (c->key == MATCH_TRANSPORT && streq(c->patterns[0], transport_to_string(TRANSPORT_NVME)))))
                        return false;
        }

        return true;
}

static bool is_patient(const char *name, const Value *v) {
        static const char *const names[] = { "error_recovery_fallback_timeout", "timeout", "io_timeout" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (streq(name, names[i]))
                        return v->type == VALUE_DURATION && v->number >= PATIENCE_MS;

        return false;
}

static bool block_is_patient(const Block *b) {
        for (size_t i = 0; i < b->n_assignments; i++) {
                const Assignment *a = b->assignments + i;

                if (!a->keep && !a->on_battery && is_patient(a->name, &a->value))
                        return true;
        }

        return false;
}

static bool harms(const Harm *h, const Block *b) {
        switch (h->scope) {
        case HARM_ANY:
                return true;
        case HARM_TURNING:
                return match_may_turn(&b->match);
        case HARM_MEMBER:
                return b->only_in_raid && !block_is_patient(b);
        case HARM_UNIVERSAL:
                return !b->only_in_raid && match_is_universal(&b->match);
        }

        return false;
}

int config_check_harm(Config *c, const SettingTable *t, const Block *b, const Assignment *a) {
        const Harm *h = find_harm(t, a->name, &a->value);

        if (!h || !harms(h, b))
                return 0;

        return complain(&c->complaints, COMPLAINT_WARNING, b->file, a->line, a->column, "%s can do harm here: %s",
                        a->name, h->why);
}

/* One rule may be for many drives. */
static bool is_told(const Complaints *c, const Wish *w, const Harm *h) {
        for (size_t i = 0; i < c->n_items; i++)
                if (c->items[i].line == w->line && c->items[i].column == w->column &&
                    streq(c->items[i].file, w->file) && ends_with(c->items[i].sentence, h->why))
                        return true;

        return false;
}

int config_check_drive(Config *c, const SettingTable *t, const Drive *d) {
        _cleanup_(wishes_done) Wishes w = {};
        bool patient = false;
        int r;

        r = d->raid ? config_resolve(c, d, false, &w) : 0;
        for (size_t i = 0; i < w.n_items; i++)
                patient = patient || (!w.items[i].withheld && is_patient(w.items[i].name, &w.items[i].value));

        for (size_t i = 0; i < w.n_items && r >= 0 && !patient; i++) {
                const Wish *x = w.items + i;
                const Harm *h = x->withheld ? NULL : find_harm(t, x->name, &x->value);

                if (h && h->scope == HARM_MEMBER && !is_told(&c->complaints, x, h))
                        r = complain(&c->complaints, COMPLAINT_WARNING, x->file, x->line, x->column,
                                     "%s can do harm to %s, which is a member of an array: %s", x->name, d->node,
                                     h->why);
        }

        return r < 0 ? r : 0;
}
