/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "device.h"
#include "target-controller.h"

/* Returns true if the two namespaces should have different values of a setting that they share. */
static bool disagree(const Target *t, const Wish *mine, const Wish *theirs) {
        const Setting *s = setting_for_backends(t->env->settings, mine->name, drive_backends(t->drive));

        return s && (s->flags & SETTING_CONTROLLER) && theirs && !mine->withheld && !theirs->withheld &&
               !value_equal(&mine->value, &theirs->value);
}

/* Returns true if the setting `name` of the namespace `other` is forbidden. Also returns true if a visit to `other`
 * waits for a worker: that visit will forbid the setting. */
static bool has_yielded(const Target *other, const char *name) {
        const SettingRecord *s = drive_record_find(other->record, name);

        return other->visit.job ? !target_has_worker(other) : s && s->verdict == VERDICT_FORBIDDEN;
}

static void note_shared_with(Target *t, Target *other) {
        bool yields = drive_name_compare(other->drive->name, t->drive->name) < 0;

        for (size_t i = 0; i < t->visit.selected.n_items; i++) {
                const Wish *mine = t->visit.selected.items + i, *theirs = wishes_find(&other->wishes, mine->name);
                _cleanup_free_ char *rule = NULL;
                Memory *m = t->visit.memories + i;

                if (!disagree(t, mine, theirs))
                        continue;
                rule = wish_format_rule(theirs);
                if (yields && !m->overruled[0])
                        (void) snprintf(m->overruled, sizeof m->overruled, "%s sets another value (%s)",
                                        other->drive->name, rule ?: theirs->file);
                if (!yields && !has_yielded(other, mine->name)) {
                        target_visit(other, VISIT_CHANGE);
                        return;
                }
        }
}

/* Compares the wishes for shared settings with the wishes of the other namespaces of the NVMe controller. If another
 * namespace comes first by name, notes its rule in visit.memories. If this namespace comes first, visits the other
 * namespace again, unless the setting is already forbidden there. */
static void controller_visit_begins(Target *t) {
        /* Only NVMe namespaces share settings. Other drives, of which there may be a thousand, are not compared with each other. */
        if (t->drive->transport != TRANSPORT_NVME)
                return;

        for (Target *other = t->env->drives; other; other = other->next)
                if (other != t && drive_shares_controller(t->drive, other->drive))
                        note_shared_with(t, other);
}

const TargetPart controller_part = {
        .visit_begins = controller_visit_begins,
};
