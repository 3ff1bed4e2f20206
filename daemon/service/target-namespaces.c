/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "device.h"
#include "target.h"

/* What both have in common and disagree about, from that wish of `t` on; NULL: nothing more. */
static const Wish *next_disagreement(const Target *t, const Target *other, size_t *i, const Wish **ret_theirs) {
        while (*i < t->visit.selected.n_items) {
                const Wish *mine = t->visit.selected.items + (*i)++, *theirs = wishes_find(&other->wishes, mine->name);
                const Setting *s = setting_for_backends(t->env->settings, mine->name, drive_backends(t->drive));

                if (s && (s->flags & SETTING_CONTROLLER) && theirs && !mine->withheld && !theirs->withheld &&
                    !value_equal(&mine->value, &theirs->value)) {
                        *ret_theirs = theirs;
                        return mine;
                }
        }

        return NULL;
}

static void yield_to(const Target *t, const Target *other) {
        const Wish *mine, *theirs;

        for (size_t i = 0; (mine = next_disagreement(t, other, &i, &theirs));) {
                Memory *m = t->visit.memories + (mine - t->visit.selected.items);

                if (!m->overruled[0])
                        (void) snprintf(m->overruled, sizeof m->overruled, "%s wants another value of it (%s:%u)",
                                        other->drive->name, theirs->file, theirs->line);
        }
}

/* It has been told already, or is about to. */
static bool knows_its_place(const Target *other, const char *name) {
        const SettingRecord *s = drive_record_find(other->record, name);

        return other->visit.job ? !target_has_worker(other) : s && s->verdict == VERDICT_FORBIDDEN;
}

static void have_ones_way(const Target *t, Target *other) {
        const Wish *mine, *theirs;

        for (size_t i = 0; (mine = next_disagreement(t, other, &i, &theirs));)
                if (!knows_its_place(other, mine->name)) {
                        target_visit(other, VISIT_CHANGE);
                        return;
                }
}

void target_note_shared(Target *t) {
        /* Only namespaces share anything: a thousand SCSI drives need not look at each other. */
        if (t->drive->transport != TRANSPORT_NVME)
                return;

        for (Target *other = t->env->drives; other; other = other->next) {
                if (other == t || !drive_shares_controller(t->drive, other->drive))
                        continue;
                if (drive_name_compare(other->drive->name, t->drive->name) < 0)
                        yield_to(t, other);
                else
                        have_ones_way(t, other);
        }
}
