/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which values the files want for one drive. */

#include "config.h"

Wish *wishes_find(const Wishes *w, const char *name) {
        for (size_t i = 0; i < w->n_items; i++)
                if (streq(w->items[i].name, name))
                        return &w->items[i];

        return NULL;
}

/* Takes the place of an earlier block's wish. */
static int apply_assignment(Wishes *w, const Block *b, const Assignment *a, const DriveLink *link) {
        Wish *wish = wishes_find(w, a->name);

        if (wish)
                free(wish->via_stacked);
        if (a->keep && !a->withheld) {
                if (wish)
                        memmove(wish, wish + 1, (w->items + --w->n_items - wish) * sizeof *wish);
                return 0;
        }

        if (!wish) {
                if (!GREW(w, items))
                        return -ENOMEM;
                wish = w->items + w->n_items++;
        }
        *wish = (Wish){
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

        if (link && link->via == LINK_STACKED) {
                wish->via_stacked = strdup(link->path);
                if (!wish->via_stacked)
                        return -ENOMEM;
        }
        return 0;
}

/* Any of them may be what the block was to change. */
static void withhold_all(Wishes *w, const Block *b) {
        for (size_t i = 0; i < w->n_items; i++) {
                w->items[i].withheld = true;
                w->items[i].file = b->file;
                w->items[i].line = b->line;
                w->items[i].column = b->column;
        }
}

/* A broken block is not to be trusted to tell what is for which state, so all it names is withheld in both. */
static bool assignment_counts(const Block *b, const Assignment *a, bool on_battery) {
        return !a->on_battery || on_battery || b->broken;
}

/* A rule for all drives means disks, but for the settings that only optical drives have. One that names its drive means
 * what it says. */
static bool assignment_is_for(const Block *b, const Assignment *a, const Drive *d) {
        return (a->row->backend == BACKEND_OPTICAL) == d->optical || !match_is_general(&b->match);
}

/* The plain assignments of a block first, so that those for battery take their place. */
static int apply_block(Wishes *w, const Block *b, const Drive *d, const DriveLink *link, bool on_battery) {
        int r;

        if (b->obscure)
                withhold_all(w, b);

        for (int battery = 0; battery <= 1; battery++)
                for (size_t i = 0; i < b->n_assignments; i++) {
                        const Assignment *a = &b->assignments[i];

                        if (a->on_battery != battery || !assignment_counts(b, a, on_battery) ||
                            !assignment_is_for(b, a, d))
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
                        if (!assignment_counts(b, &b->assignments[k], false))
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

bool wishes_equal(const Wishes *a, const Wishes *b) {
        if (a->n_items != b->n_items)
                return false;

        for (size_t i = 0; i < a->n_items; i++) {
                const Wish *x = &a->items[i], *y = wishes_find(b, x->name);

                if (!y || x->withheld != y->withheld || x->allow_dangerous != y->allow_dangerous ||
                    x->permanent != y->permanent || x->optional != y->optional || x->wake != y->wake ||
                    x->spindown_by != y->spindown_by || x->wake_together != y->wake_together ||
                    x->commands_are_use != y->commands_are_use || (!x->withheld && !value_equal(&x->value, &y->value)))
                        return false;
        }

        return true;
}
