/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Warnings of settings that no drive of a kind has, where there is a remedy (Remedy). */

#include "config.h"

#define warn(c, b, at, ...) \
        complain(&(c)->complaints, COMPLAINT_WARNING, (b)->file, (at)->line, (at)->column, __VA_ARGS__)

/* The service spins the drive down itself, or a drive without the setting is as good as off. */
static bool needs_no_drive(const SettingTable *t, const char *name, const Value *v, SpindownBy by) {
        const Setting *s = setting_find(t, name);

        return (by != SPINDOWN_BY_DRIVE && s->spins_down) || (s->off_without && !setting_is_active(s, v));
}

/* The remedy for all transports in the match. NULL: no transport is named, drives of one may have the setting, or there is no remedy. */
static const Remedy *find_remedy(const SettingTable *t, const Match *m, const char *name) {
        const Remedy *r = NULL;

        for (size_t i = 0; i < m->n_criteria; i++) {
                const Criterion *c = &m->criteria[i];

                for (size_t k = 0; c->key == MATCH_TRANSPORT && k < c->n_patterns; k++) {
                        Transport transport = transport_from_string(c->patterns[k]);
                        const Drive d = { .transport = transport,
                                          .ata = transport == TRANSPORT_SATA || transport == TRANSPORT_PATA };

                        r = transport >= 0 ? setting_kind_remedy(t, name, drive_backends(&d)) : NULL;
                        if (!r)
                                return NULL;
                }
        }

        return r;
}

/* Is a setting with the same effect set for all drives of the block? */
static bool is_remedied(const Config *c, const Block *b, const Remedy *r) {
        for (const Block *wide = c->blocks; wide < c->blocks + c->n_blocks; wide++)
                for (size_t k = 0; k < ELEMENTSOF(r->settings) && r->settings[k]; k++)
                        if (block_find(wide, r->settings[k], false) && match_includes(&wide->match, &b->match) &&
                            (!wide->only_in_raid || b->only_in_raid))
                                return true;

        return false;
}

void config_check_kind(Config *c, const SettingTable *t) {
        for (const Block *b = c->blocks; b < c->blocks + c->n_blocks; b++)
                for (const Assignment *a = b->assignments; !b->broken && a < b->assignments + b->n_assignments; a++) {
                        const Remedy *r = a->withheld || a->keep ? NULL : find_remedy(t, &b->match, a->name);

                        if (r && !needs_no_drive(t, a->name, &a->value, b->spindown_by) && !is_remedied(c, b, r))
                                warn(c, b, a, "%s is unsupported by drives of this transport: %s", a->name, r->how);
                }
}

void config_check_kind_of(Config *c, const SettingTable *t, const Drive *d, const Wishes *w) {
        for (const Wish *x = w->items; x < w->items + w->n_items; x++) {
                const Remedy *r = x->withheld ? NULL : setting_kind_remedy(t, x->name, drive_backends(d));

                if (r && !needs_no_drive(t, x->name, &x->value, x->spindown_by) && !wishes_remedy(w, r) &&
                    !complaints_have(&c->complaints, x->file, x->line, x->column, r->how))
                        warn(c, x, x, "%s is unsupported by %s: %s", x->name, d->node, r->how);
        }
}
