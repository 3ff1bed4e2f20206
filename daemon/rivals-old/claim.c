/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "claim.h"

/* What the configuration wants of one drive, on mains or else on battery; 1 or 0. */
static int wish_of_drive(const Rivals *r, const Drive *d, const char *state, Meeting *m) {
        for (unsigned on_battery = 0; on_battery < 2; on_battery++) {
                _cleanup_(wishes_done) Wishes wishes = {};
                const Wish *w;
                int k;

                k = config_resolve(r->config, d, on_battery, &wishes);
                if (k < 0)
                        return k;
                w = wishes_find(&wishes, state);
                if (!w || w->withheld)
                        continue;

                m->file = w->file;
                m->line = w->line;
                m->value = w->value;
                return 1;
        }

        return 0;
}

static const Assignment *assignment_of(const Block *b, const char *state) {
        for (size_t i = 0; i < b->n_assignments; i++)
                if (streq(b->assignments[i].name, state) && !b->assignments[i].withheld && !b->assignments[i].keep)
                        return &b->assignments[i];

        return NULL;
}

static const Criterion *plain_nodes(const Match *m) {
        for (size_t i = 0; i < m->n_criteria; i++) {
                const Criterion *c = &m->criteria[i];
                bool plain = c->key == MATCH_NODE;

                for (size_t k = 0; k < c->n_patterns && plain; k++)
                        plain = !strpbrk(c->patterns[k], "*?[\\");
                if (plain)
                        return c;
        }

        return NULL;
}

/* In the same directory, so that different names are different drives. */
static bool siblings(const char *a, const char *b) {
        const char *x = strrchr(a, '/'), *y = strrchr(b, '/');

        return x && y && x - a == y - b && strncmp(a, b, (size_t) (x - a)) == 0;
}

/* Do both name their drives, and not one of them alike? */
static bool are_apart(const Match *a, const Match *b) {
        const Criterion *x = plain_nodes(a), *y = plain_nodes(b);

        if (!x || !y)
                return false;
        for (size_t i = 0; i < x->n_patterns; i++)
                for (size_t k = 0; k < y->n_patterns; k++)
                        if (!siblings(x->patterns[i], y->patterns[k]) || streq(x->patterns[i], y->patterns[k]))
                                return false;

        return true;
}

static bool fits_present(const Rivals *r, const Match *m) {
        for (size_t i = 0; i < r->n_drives; i++)
                if (match_drive(m, r->drives[i], NULL))
                        return true;

        return false;
}

/* A rule that could be for the rival's drives, which have not come. */
static bool find_block(const Rivals *r, const Claim *c, const char *state, Meeting *m) {
        for (size_t i = r->config->n_blocks; i-- > 0;) {
                const Block *b = &r->config->blocks[i];
                const Assignment *a = b->broken ? NULL : assignment_of(b, state);

                if (!a || (c->match && are_apart(c->match, &b->match)))
                        continue;
                /* One that names its drives, and they are here, is for no others. */
                if (r->n_drives > 0 && !match_is_general(&b->match) && fits_present(r, &b->match))
                        continue;

                m->file = b->file;
                m->line = a->line;
                m->value = a->value;
                return true;
        }

        return false;
}

int claim_meets(const Rivals *r, const Claim *c, Meeting *ret) {
        const Setting *s = setting_find(r->table, c->key);
        bool present = false;
        const char *state;
        Meeting m = {};

        if (!s)
                return 0;
        state = setting_state(s);
        m.row = setting_find(r->table, state) ?: s;

        for (size_t i = 0; i < r->n_drives; i++) {
                const Drive *d = r->drives[i];
                Meeting one = {};
                int k;

                if (c->match && !match_drive(c->match, d, NULL))
                        continue;
                present = true;
                if (c->means && !c->means(c->userdata, d))
                        continue;

                k = wish_of_drive(r, d, state, &one);
                if (k < 0)
                        return k;
                if (k > 0 && m.n_drives++ == 0) {
                        m.file = one.file;
                        m.line = one.line;
                        m.value = one.value;
                        m.drive = d;
                }
        }

        if (m.n_drives == 0 && (present || !find_block(r, c, state, &m)))
                return 0;

        *ret = m;
        return 1;
}

const char *meeting_drives(const Meeting *m, char *buf, size_t size) {
        if (m->n_drives == 0)
                *buf = '\0';
        else if (m->n_drives == 1)
                (void) snprintf(buf, size, " for %s", m->drive->node);
        else
                (void) snprintf(buf, size, " for %s and %zu other%s", m->drive->node, m->n_drives - 1,
                                m->n_drives == 2 ? "" : "s");
        return buf;
}

unsigned text_column(const char *text, unsigned line) {
        for (unsigned i = 1; text && i < line; i++) {
                text = strchr(text, '\n');
                text = text ? text + 1 : NULL;
        }

        return text ? (unsigned) strspn(text, " \t") + 1 : 1;
}

/* The rival's value as ours would be written, where it is one. */
static const char *value_text(const Rivals *r, const Claim *c, const Meeting *m, char *buf) {
        const Setting *s = setting_find(r->table, c->key);
        Value v;

        if (s && value_parse(&s->range, c->value, &v) >= 0)
                return value_format(&s->range, &v, buf);
        if (value_parse(&m->row->range, c->value, &v) >= 0)
                return value_format(&m->row->range, &v, buf);

        (void) snprintf(buf, VALUE_TEXT_MAX, "%.*s", (int) VALUE_TEXT_MAX - 1, c->value);
        return buf;
}

/* One line can say the same of several drives that have not come. */
static void drop_twin(Complaints *c) {
        Complaint *last = &c->items[c->n_items - 1];

        for (size_t i = 0; i < c->n_items - 1; i++)
                if (c->items[i].line == last->line && streq(c->items[i].file, last->file) &&
                    streq(c->items[i].sentence, last->sentence)) {
                        free(last->file);
                        free(last->sentence);
                        c->n_items--;
                        return;
                }
}

int claim_check(const Rivals *r, const Claim *c) {
        char drives[128], their_buf[VALUE_TEXT_MAX], our_buf[VALUE_TEXT_MAX];
        const char *theirs, *ours;
        Meeting m;
        int k;

        k = claim_meets(r, c, &m);
        if (k <= 0)
                return k;

        theirs = c->value ? value_text(r, c, &m, their_buf) : "";
        ours = value_format(&m.row->range, &m.value, our_buf);

        k = complain(&r->config->complaints, c->level, c->file, c->line, c->line ? text_column(c->text, c->line) : 0,
                     "%s sets %s%s%s %s, and %s:%u wants %s%s: %s", c->who, setting_state(m.row), *theirs ? " to " : "",
                     theirs, c->when, m.file, m.line, streq(theirs, ours) ? "the same" : ours,
                     meeting_drives(&m, drives, sizeof drives), c->cure);
        if (k < 0)
                return k;

        drop_twin(&r->config->complaints);
        return 0;
}

int claim_import(const Rivals *r, const Claim *template, const Import *import, bool conditions) {
        int k = 0;

        for (size_t i = 0; i < import->n_rules && k >= 0; i++) {
                const ImportRule *rule = &import->rules[i];

                for (size_t w = 0; w < rule->n_wishes && k >= 0; w++) {
                        Claim c = *template;

                        c.line = rule->wishes[w].line;
                        c.match = rule->offered && !conditions ? NULL : &rule->match;
                        c.key = rule->wishes[w].key;
                        c.value = rule->wishes[w].value;
                        k = claim_check(r, &c);
                }
        }

        return k;
}

int presence_of_units(const Rivals *r, const char *const *names, Presence *ret) {
        Presence presence = PRESENCE_ABSENT;

        for (; *names; names++) {
                UnitState state;
                int k;

                k = unit_state(r->tree, *names, &state);
                if (k < 0)
                        return k;
                if (state == UNIT_ENABLED) {
                        *ret = PRESENCE_ACTIVE;
                        return 0;
                }
                if (state != UNIT_ABSENT)
                        presence = PRESENCE_INACTIVE;
        }

        *ret = presence;
        return 0;
}

void claim_by_presence(Claim *c, Presence p) {
        if (p != PRESENCE_ABSENT)
                return;
        c->level = COMPLAINT_NOTICE;
        c->cure = "but it is not installed, so nothing comes of this";
}
