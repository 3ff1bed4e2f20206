/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Determines which values the configuration sets for one drive. */

#include "config.h"

Wish *wishes_find(const Wishes *w, const char *name) {
        for (size_t i = 0; i < w->n_items; i++)
                if (streq(w->items[i].name, name))
                        return &w->items[i];

        return NULL;
}

const Wish *wishes_find_disturbed(const Wishes *w, const SettingTable *t) {
        for (size_t i = 0; i < w->n_items; i++) {
                const Wish *wish = &w->items[i];
                const Setting *s = setting_find(t, wish->name);

                if (s && !wish->withheld &&
                    (streq(wish->name, "apm") || setting_spin_down_ms(s, &wish->value) != UINT64_MAX))
                        return wish;
        }
        return NULL;
}

static void remove_wish(Wishes *w, const char *name) {
        Wish *wish = wishes_find(w, name);

        if (wish) {
                free(wish->via_stacked);
                memmove(wish, wish + 1, (w->items + --w->n_items - wish) * sizeof *wish);
        }
}

int wishes_add(Wishes *w, const Wish *wish) {
        remove_wish(w, wish->name);
        if (!GREW(w, items))
                return -ENOMEM;
        w->items[w->n_items++] = *wish;
        return 0;
}

static int apply_assignment(Wishes *w, const Block *b, const Assignment *a, const DriveLink *link) {
        Wish wish = {
                .name = a->name,
                .value = a->value,
                .withheld = a->withheld,
                .allow_dangerous = b->allow_dangerous,
                .permanent = b->permanent,
                .optional = match_is_general(&b->match) || (link && link->via == LINK_STACKED),
                .wake = b->wake,
                .spindown_by = b->spindown_by,
                .wake_together = b->wake_together,
                .commands_are_use = b->commands_are_use,
                .file = b->file,
                .line = a->line,
                .column = a->column,
        };
        int r;

        if (a->keep && !a->withheld) {
                remove_wish(w, a->name);
                return 0;
        }

        if (link && link->via == LINK_STACKED) {
                wish.via_stacked = strdup(link->path);
                if (!wish.via_stacked)
                        return -ENOMEM;
        }
        r = wishes_add(w, &wish);
        if (r < 0)
                free(wish.via_stacked);
        return r;
}

/* Marks all wishes as withheld (not written), because the unreadable block may have changed any of them. */
static void withhold_all(Wishes *w, const Block *b) {
        for (size_t i = 0; i < w->n_items; i++) {
                w->items[i].withheld = true;
                w->items[i].file = b->file;
                w->items[i].line = b->line;
                w->items[i].column = b->column;
        }
}

/* Returns true if the assignment applies on this power source. In a broken block, the "}" of on_battery may be missing,
 * so the result is true for all assignments of the block; none of them is written. */
static bool assignment_is_in_force(const Block *b, const Assignment *a, bool on_battery) {
        return !a->on_battery || on_battery || b->broken;
}

/* Returns true if the assignment suits the kind of drive. A general rule writes the settings of optical drives to
 * optical drives only, and all other settings to other drives only. A rule that names single drives always applies. */
static bool assignment_suits(const Block *b, const Assignment *a, const Drive *d) {
        return (a->row->backend == BACKEND_OPTICAL) == d->optical || !match_is_general(&b->match);
}

/* Applies a block. The assignments in on_battery are applied last, so that they override the other assignments. */
static int apply_block(Wishes *w, const Block *b, const Drive *d, const DriveLink *link, bool on_battery) {
        int r;

        if (b->obscure)
                withhold_all(w, b);

        for (int battery = 0; battery <= 1; battery++)
                for (size_t i = 0; i < b->n_assignments; i++) {
                        const Assignment *a = &b->assignments[i];

                        if (a->on_battery != battery || !assignment_is_in_force(b, a, on_battery) ||
                            !assignment_suits(b, a, d))
                                continue;

                        r = apply_assignment(w, b, a, link);
                        if (r < 0)
                                return r;
                }

        return 0;
}

int config_resolve(const Config *c, const Drive *d, bool on_battery, Wishes *ret) {
        _cleanup_(wishes_done) Wishes w = {};
        int r;

        for (size_t i = 0; i < c->n_blocks; i++) {
                const Block *b = &c->blocks[i];
                const DriveLink *link;

                if (!match_drive(&b->match, d, &link) || (b->only_in_raid && !d->raid))
                        continue;

                r = apply_block(&w, b, d, link, on_battery);
                if (r < 0)
                        return r;
        }

        *ret = w;
        w = (Wishes){};
        return 0;
}

bool config_uses_battery(const Config *c) {
        for (size_t i = 0; i < c->n_blocks; i++) {
                const Block *b = &c->blocks[i];

                for (size_t k = 0; k < b->n_assignments; k++)
                        if (!assignment_is_in_force(b, &b->assignments[k], false))
                                return true;
        }

        return false;
}

void wishes_done(Wishes *w) {
        for (size_t i = 0; i < w->n_items; i++)
                free(w->items[i].via_stacked);
        free(w->items);
        *w = (Wishes){};
}

bool wishes_exclude(const Wish *a, const Wish *b, const SettingTable *t) {
        const Setting *x = setting_find(t, a->name), *y = setting_find(t, b->name);

        return x && y && !a->withheld && !b->withheld && settings_exclude(x, &a->value, y, &b->value);
}

/* Returns true if the wish a->items[item] wins over the same wishes in `b` as in `a`. Of two wishes that exclude each
 * other, the later wish wins. So a wish that loses in `a` must not come after the winning wish in `b`. */
static bool wins_over_same(const Wishes *a, size_t item, const Wishes *b, const SettingTable *t) {
        const Wish *wish = wishes_find(b, a->items[item].name);

        for (size_t i = 0; i < item; i++)
                if (wishes_exclude(a->items + i, a->items + item, t) && wishes_find(b, a->items[i].name) > wish)
                        return false;

        return true;
}

bool wishes_equal(const Wishes *a, const Wishes *b, const SettingTable *t) {
        if (a->n_items != b->n_items)
                return false;

        for (size_t i = 0; i < a->n_items; i++) {
                const Wish *x = &a->items[i], *y = wishes_find(b, x->name);

                if (!y || x->withheld != y->withheld || x->allow_dangerous != y->allow_dangerous ||
                    x->permanent != y->permanent || x->optional != y->optional || x->wake != y->wake ||
                    x->spindown_by != y->spindown_by || x->wake_together != y->wake_together ||
                    x->commands_are_use != y->commands_are_use ||
                    (!x->withheld && !value_equal(&x->value, &y->value)) || !wins_over_same(a, i, b, t))
                        return false;
        }

        return true;
}
