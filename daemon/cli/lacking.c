/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lacking.h"

void lacking_add(Lacking *l, const char *rule, const char *setting, const char *drive, const char *reason) {
        for (LackingLine *i = l->items; i < l->items + l->n_items; i++)
                if (streq(i->rule, rule) && streq(i->setting, setting)) {
                        i->n_drives++;
                        return;
                }

        must_grow(l, items);
        l->items[l->n_items++] = (LackingLine){ must(strdup(rule)), must(strdup(setting)), must(strdup(drive)),
                                                must(strdup(reason)), 1 };
}

void lacking_tell(const Lacking *l, Output *o) {
        for (const LackingLine *i = l->items; i < l->items + l->n_items; i++) {
                _cleanup_free_ char *more = i->n_drives > 1 ? must_format(" and %zu more", i->n_drives - 1) : NULL;

                output_note(o, "%s: %s is unsupported by %s%s: %s", i->rule, i->setting, i->drive, more ?: "",
                            i->reason);
        }
}

void lacking_done(Lacking *l) {
        for (LackingLine *i = l->items; i < l->items + l->n_items; i++) {
                free(i->rule);
                free(i->setting);
                free(i->drive);
                free(i->reason);
        }
        free(l->items);
}
