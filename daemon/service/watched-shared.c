/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "device.h"
#include "watched.h"

/* What both have in common and disagree about, from that wish of `w` on; NULL: nothing more. */
static const Wish *next_disagreement(const Watched *w, const Watched *other, size_t *i, const Wish **ret_theirs) {
        while (*i < w->visit.selected.n_items) {
                const Wish *mine = w->visit.selected.items + (*i)++, *theirs = wishes_find(&other->wishes, mine->name);
                const Setting *s = setting_for_backends(w->env->settings, mine->name, drive_backends(w->drive));

                if (s && (s->flags & SETTING_CONTROLLER) && theirs && !mine->withheld && !theirs->withheld &&
                    !value_equal(&mine->value, &theirs->value)) {
                        *ret_theirs = theirs;
                        return mine;
                }
        }

        return NULL;
}

static void yield_to(const Watched *w, const Watched *other) {
        const Wish *mine, *theirs;

        for (size_t i = 0; (mine = next_disagreement(w, other, &i, &theirs));) {
                Memory *m = w->visit.memories + (mine - w->visit.selected.items);

                if (!m->overruled[0])
                        (void) snprintf(m->overruled, sizeof m->overruled, "%s wants another value of it (%s:%u)",
                                        other->drive->name, theirs->file, theirs->line);
        }
}

/* It has been told already, or is about to. */
static bool knows_its_place(const Watched *other, const char *name) {
        const SettingRecord *s = drive_record_find(other->record, name);

        return other->visit.visitor ? !watched_has_worker(other) : s && s->verdict == VERDICT_FORBIDDEN;
}

static void have_ones_way(const Watched *w, Watched *other) {
        const Wish *mine, *theirs;

        for (size_t i = 0; (mine = next_disagreement(w, other, &i, &theirs));)
                if (!knows_its_place(other, mine->name)) {
                        watched_visit(other, VISIT_CHANGE);
                        return;
                }
}

void watched_note_shared(Watched *w) {
        Watched *other = NULL;

        /* Only namespaces share anything: a thousand SCSI drives need not look at each other. */
        if (w->drive->transport != TRANSPORT_NVME)
                return;

        while ((other = w->env->next(w->env->userdata, other))) {
                if (other == w || !drive_shares_controller(w->drive, other->drive))
                        continue;
                if (drive_name_compare(other->drive->name, w->drive->name) < 0)
                        yield_to(w, other);
                else
                        have_ones_way(w, other);
        }
}
