/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "config.h"
#include "text.h"

/* From here up a drive does not spin down by its APM level (ACS-4, SET FEATURES, APM levels). */
#define APM_FIRST_WITHOUT_STANDBY 128
/* A drive that tries as long as it likes does so for two minutes and more (https://raid.wiki.kernel.org, Timeout Mismatch). */
#define PATIENCE_MS (2 * 60 * 1000)
/* `b` has the file, and `at` the place in it: the block itself, or something in it. */
#define warn(c, b, at, ...) \
        complain(&(c)->complaints, COMPLAINT_WARNING, (b)->file, (at)->line, (at)->column, __VA_ARGS__)
/* More than anybody writes by hand; each is compared with each. */
#define COMPARED_MAX 2000U

static bool block_includes(const Block *wide, const Block *narrow) {
        return match_includes(&wide->match, &narrow->match) && (!wide->only_in_raid || narrow->only_in_raid);
}

/* What decides on this state for the drives of the block, off battery or on it: the last assignment in it, or in a block for more
 * drives. What is not said for battery goes for both. NULL: nothing does. */
static const Assignment *find_deciding(const Config *c, size_t block, const char *name, bool on_battery, size_t *ret) {
        for (size_t i = c->n_blocks; i-- > 0;) {
                const Block *b = &c->blocks[i];
                const Assignment *a = on_battery ? block_find(b, name, true) : NULL;

                a = a ?: block_find(b, name, false);
                if (a && (i == block || block_includes(b, &c->blocks[block]))) {
                        *ret = i;
                        return a;
                }
        }

        return NULL;
}

static void check_wins(Config *c, size_t block, const Assignment *a) {
        const Assignment *winner;
        size_t i = block;

        winner = find_deciding(c, block, a->name, a->on_battery, &i);
        if (winner && i != block && !c->blocks[i].broken)
                warn(c, &c->blocks[block], a,
                     "%s never wins here: %s:%u sets it for all drives of this block; general rules come first",
                     a->name, c->blocks[i].file, winner->line);
}

static bool is_in_force(const Assignment *a) {
        return !a->keep && !a->withheld;
}

/* The assignment of the block that excludes `a`, an earlier one; NULL: none does. An assignment for battery excludes none on mains. */
static const Assignment *find_excluding(const Block *b, const Assignment *a) {
        bool inside = a >= b->assignments && a < b->assignments + b->n_assignments;

        for (const Assignment *x = inside ? a + 1 : b->assignments; x < b->assignments + b->n_assignments; x++)
                if (is_in_force(x) && x->on_battery <= a->on_battery && (!inside || x->on_battery == a->on_battery) &&
                    settings_exclude(x->row, &x->value, a->row, &a->value))
                        return x;

        return NULL;
}

/* A notice, as a drive may support only one of the two; a warning for parts of one setting, which a drive has together. */
static void check_excluded(Config *c, size_t block, const Assignment *a) {
        const Block *b = &c->blocks[block];
        size_t own;

        /* What a later block replaces or cancels is written nowhere. */
        if (find_deciding(c, block, a->name, a->on_battery, &own) != a)
                return;
        for (size_t i = block; i < c->n_blocks; i++) {
                const Block *later = &c->blocks[i];
                const Assignment *x = later->broken || !block_includes(later, b) ? NULL : find_excluding(later, a);
                size_t deciding;

                if (!x || find_deciding(c, block, x->name, a->on_battery, &deciding) != x)
                        continue;
                complain(&c->complaints,
                         (a->row->flags | x->row->flags) & SETTING_SAME ? COMPLAINT_WARNING : COMPLAINT_NOTICE, b->file,
                         a->line, a->column,
                         "%s is written only where %s is not: the two exclude each other, and the later wins (%s:%u)",
                         a->name, x->name, later->file, x->line);
                return;
        }
}

/* Whether each block serves the drives that support its setting. */
static bool blocks_exclude(const Block *before, const Block *b) {
        for (const Assignment *a = before->assignments; a < before->assignments + before->n_assignments; a++)
                if (is_in_force(a) && find_excluding(b, a))
                        return true;

        return false;
}

static void check_twin(Config *c, size_t block) {
        const Block *b = &c->blocks[block];

        for (size_t i = 0; i < block; i++) {
                const Block *before = &c->blocks[i];

                /* A drop-in is there to add to what other files say. */
                if (before->broken || !streq(before->file, b->file) || !block_includes(before, b) ||
                    !block_includes(b, before))
                        continue;
                /* What a block says of all of its settings is a reason for another. */
                if (before->allow_dangerous != b->allow_dangerous || before->permanent != b->permanent ||
                    before->wake != b->wake || before->spindown_by != b->spindown_by ||
                    before->wake_together != b->wake_together || before->commands_are_use != b->commands_are_use ||
                    blocks_exclude(before, b))
                        continue;
                warn(c, b, b, "this block is for the same drives as the one in %s:%u; one block would do", before->file,
                     before->line);
                return;
        }
}

static bool rows_have(const SettingTable *t, const char *name, SettingFlags flag) {
        SETTING_TABLE_FOREACH(s, t)
                if (streq(s->name, name) && (s->flags & flag))
                        return true;

        return false;
}

static void check_permanent(Config *c, const SettingTable *t, const Block *b) {
        bool saves = !b->permanent;

        for (size_t i = 0; i < b->n_assignments; i++)
                saves = saves || rows_have(t, b->assignments[i].name, SETTING_SAVEABLE);
        if (!saves)
                warn(c, b, b, "permanent = true changes nothing here: no drive can save what this block sets");
}

static bool rows_spin_down(const SettingTable *t, const char *name) {
        SETTING_TABLE_FOREACH(s, t)
                if (streq(s->name, name) && s->spins_down)
                        return true;

        return false;
}

static void check_spindown(Config *c, const SettingTable *t, const Block *b) {
        const char *key = b->spindown_by != SPINDOWN_BY_DRIVE ? "spindown_by"
                          : b->wake_together                  ? "wake_together"
                          : b->commands_are_use               ? "commands_are_use"
                                                              : NULL;
        bool spins_down = !key;

        for (size_t i = 0; i < b->n_assignments; i++)
                spins_down = spins_down || rows_spin_down(t, b->assignments[i].name);
        if (!spins_down)
                warn(c, b, b, "%s changes nothing here: this block sets no spindown_time, standby_y or standby_z", key);
}

static bool timers_clash(const Value *apm, const Value *timer _unused_) {
        return apm->number >= 1 && apm->number < APM_FIRST_WITHOUT_STANDBY;
}

static bool temperatures_clash(const Value *light, const Value *heavy) {
        return heavy->number >= 0 && light->number >= heavy->number;
}

static bool timeouts_clash(const Value *timeout, const Value *recovery) {
        return timeout->number <= recovery->number;
}

static bool caches_clash(const Value *cache, const Value *forced) {
        return streq(forced->name, cache->number ? "off" : "on");
}

static bool use_is_hidden(const Value *timer, const Value *counts) {
        return timer->number > 0 && !counts->number;
}

#define HIDDEN_USE                                                                                                  \
        "the service does not spin down a drive whose reads and writes the kernel does not count: remove this, or " \
        "the iostats = false of"

/* Each is sensible alone. The sentence stands at the first, and ends with the place of the second. */
static const struct {
        const char *first, *second;
        bool (*clash)(const Value *first, const Value *second);
        const char *sentence;
        bool by_service; /* only where the service spins the drive down, and judges its use by reads and writes alone */
} pairs[] = {
        { "apm", "spindown_time", timers_clash,
          "apm below 128 has a timer of its own (128 or more leaves that to spindown_time), and the drive may spin down long "
          "before the spindown_time of" },
        { "thermal_light", "thermal_heavy", temperatures_clash,
          "thermal_light is not written, as it is not below the thermal_heavy of" },
        { "timeout", "error_recovery", timeouts_clash,
          "the kernel resets the drive after this timeout, and has to wait longer than the error_recovery of" },
        { "write_cache", "write_cache_forced", caches_clash,
          "a drive takes no notice of this write_cache while it has the write_cache_forced of" },
        { "spindown_time", "iostats", use_is_hidden, HIDDEN_USE, .by_service = true },
        { "standby_y", "iostats", use_is_hidden, HIDDEN_USE, .by_service = true },
        { "standby_z", "iostats", use_is_hidden, HIDDEN_USE, .by_service = true },
};

/* The value that decides in the block, or for it in an earlier one; NULL: there is none that is written. */
static const Assignment *find_value(const Config *c, size_t block, const char *name, bool on_battery, size_t *ret) {
        const Assignment *a = find_deciding(c, block, name, on_battery, ret);

        return !a || *ret > block || c->blocks[*ret].broken || a->withheld || a->keep ? NULL : a;
}

/* `a` is one of the two; the other may stand in an earlier block. */
static void check_pair(Config *c, size_t block, const Assignment *a, size_t pair, bool on_battery) {
        const Assignment *first, *second;
        size_t i, k;

        first = find_value(c, block, pairs[pair].first, on_battery, &i);
        second = first ? find_value(c, block, pairs[pair].second, on_battery, &k) : NULL;
        if (!second || (a != first && (a != second || i == block)) || !pairs[pair].clash(&first->value, &second->value))
                return;
        if (pairs[pair].by_service && (c->blocks[i].spindown_by == SPINDOWN_BY_DRIVE || c->blocks[i].commands_are_use))
                return;
        /* What is the same on battery was said before. */
        if (on_battery && !first->on_battery && !second->on_battery)
                return;
        warn(c, &c->blocks[i], first, "%s %s:%u", pairs[pair].sentence, c->blocks[k].file, second->line);
}

static void check_pairs(Config *c, size_t block, const Assignment *a) {
        for (size_t i = 0; i < ELEMENTSOF(pairs); i++)
                if (streq(a->name, pairs[i].first) || streq(a->name, pairs[i].second)) {
                        check_pair(c, block, a, i, false);
                        check_pair(c, block, a, i, true);
                }
}

/* ---- values that are written as they are wanted, and can do harm: which ones, and to whom, stands in the settings' rows ---- */

/* Of the rows that share the name. */
static const Harm *find_harm(const SettingTable *t, const char *name, const Value *v) {
        SETTING_TABLE_FOREACH(s, t)
                if (s->harm && streq(s->name, name) && v->type == s->range.type && v->number >= s->harm->from &&
                    v->number <= s->harm->to)
                        return s->harm;

        return NULL;
}

/* Does each of its criteria fit whatever there is? */
static bool match_is_universal(const Match *m) {
        for (size_t i = 0; i < m->n_criteria; i++) {
                const Criterion *c = &m->criteria[i];
                bool any = false;

                for (size_t k = 0; k < c->n_patterns; k++)
                        any = any || STR_IN_SET(c->patterns[k], "*", "/dev/*");
                if (!any)
                        return false;
        }

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
        return STR_IN_SET(name, "error_recovery_fallback_timeout", "timeout", "io_timeout") &&
               v->type == VALUE_DURATION && v->number >= PATIENCE_MS;
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

/* ---- all of it ---- */

/* The kernel may have another one from a module of its own, so it is written all the same. */
static void check_known(Config *c, const Block *b, const Assignment *a) {
        Nearest near = { .typed = a->value.name };
        const char *const *name = a->row->known;

        for (; name && *name; name++) {
                if (streq(*name, a->value.name))
                        return;
                nearest_offer(&near, *name);
        }
        if (a->row->known)
                warn(c, b, a, "Linux has no %s \"%s\" of its own; did you mean \"%s\"?", a->name, a->value.name,
                     near.word ?: *a->row->known);
}

/* Warns of a setting with the name of a match key, which may have been meant to choose drives. A match that has this key, or that names
 * its drives, leaves nothing to choose. */
static void check_choosing(Config *c, const Block *b, const Assignment *a) {
        MatchKey key = match_key_from_string(a->row->name);

        if (key < 0 || key == MATCH_PROPERTY || !match_is_general(&b->match))
                return;
        for (size_t i = 0; i < b->match.n_criteria; i++)
                if (b->match.criteria[i].key == key)
                        return;
        warn(c, b, a,
             "%s is written to all drives of this block; did you mean it inside match = { ... }? If both are meant, "
             "write it there, too",
             a->row->name);
}

/* What one value says alone. Of the rows that share the name, danger in any of them is worth the word. */
static void check_value(Config *c, const SettingTable *t, const Block *b, const Assignment *a) {
        const Harm *h = find_harm(t, a->name, &a->value);

        SETTING_TABLE_FOREACH(s, t)
                if (!b->allow_dangerous && streq(s->name, a->name) && setting_is_dangerous(s, &a->value)) {
                        warn(c, b, a,
                             "%s is dangerous (%s), so it is not written without allow_dangerous = true in this block",
                             a->name, s->danger);
                        break;
                }

        if (rows_have(t, a->name, SETTING_NONVOLATILE))
                complain(&c->complaints, COMPLAINT_NOTICE, b->file, a->line, a->column,
                         "the drive itself keeps %s, so it is compared at every visit, and written only by 'drivekeep apply "
                         "--permanent'",
                         a->name);
        check_known(c, b, a);
        check_choosing(c, b, a);
        if (h && harms(h, b))
                warn(c, b, a, "%s can do harm here: %s", a->name, h->why);
}

static void check_block(Config *c, const SettingTable *t, size_t block) {
        const Block *b = &c->blocks[block];
        bool compare = c->n_blocks <= COMPARED_MAX;

        if (compare)
                check_twin(c, block);
        check_permanent(c, t, b);
        check_spindown(c, t, b);

        for (const Assignment *a = b->assignments; a < b->assignments + b->n_assignments; a++) {
                if (compare && !a->withheld)
                        check_wins(c, block, a);
                if (a->withheld || a->keep)
                        continue;
                if (compare) {
                        check_pairs(c, block, a);
                        check_excluded(c, block, a);
                }
                check_value(c, t, b, a);
        }
}

int config_check(Config *c, const SettingTable *t) {
        /* What is in error was said, and nothing of it is applied. */
        for (size_t i = 0; i < c->n_blocks; i++)
                if (!c->blocks[i].broken)
                        check_block(c, t, i);

        config_check_kind(c, t);
        return c->complaints.error;
}

static void check_member(Config *c, const SettingTable *t, const Drive *d, const Wishes *w) {
        for (const Wish *x = w->items; x < w->items + w->n_items; x++)
                if (!x->withheld && is_patient(x->name, &x->value))
                        return;

        for (const Wish *x = w->items; x < w->items + w->n_items; x++) {
                const Harm *h = x->withheld ? NULL : find_harm(t, x->name, &x->value);

                if (h && h->scope == HARM_MEMBER &&
                    !complaints_have(&c->complaints, x->file, x->line, x->column, h->why))
                        warn(c, x, x, "%s can do harm to %s, which is a member of an array: %s", x->name, d->node,
                             h->why);
        }
}

/* The two settings may come from two rules that share only some of their drives. */
static int check_hidden_use(Config *c, const SettingTable *t, const Drive *d, const Wishes *w) {
        const Wish *counts = wishes_find(w, "iostats");

        for (const Wish *x = w->items; counts && !counts->withheld && x < w->items + w->n_items; x++) {
                _cleanup_free_ char *place = NULL;

                if (x->withheld || !rows_spin_down(t, x->name) || x->spindown_by == SPINDOWN_BY_DRIVE ||
                    x->commands_are_use || !use_is_hidden(&x->value, &counts->value))
                        continue;
                if (asprintf(&place, "the iostats = false of %s:%u", counts->file, counts->line) < 0)
                        return -ENOMEM;
                if (!complaints_have(&c->complaints, x->file, x->line, x->column, place))
                        warn(c, x, x,
                             "the service does not spin down %s, whose reads and writes the kernel does not count: "
                             "remove this, or %s",
                             d->node, place);
        }

        return 0;
}

int config_check_drive(Config *c, const SettingTable *t, const Drive *d) {
        _cleanup_(wishes_done) Wishes w = {};
        int r;

        r = config_resolve(c, d, false, &w);
        if (r < 0)
                return r;

        if (d->raid)
                check_member(c, t, d, &w);
        config_check_kind_of(c, t, d, &w);
        r = check_hidden_use(c, t, d, &w);
        return r < 0 ? r : c->complaints.error;
}
