/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "turn.h"

static Turn setting_turn(const Setting *s) {
        if (s && s->unless)
                return TURN_SPARE;
        if (s && s->flags & SETTING_AT_ATTACH)
                return TURN_DEED;
        return s && s->flags & SETTING_FIRST ? TURN_FIRST : TURN_MAIN;
}

Turn plan_turn(const Plan *p, const Step *s) {
        Turn turn = setting_turn(s->setting);

        for (const Step *other = p->steps; other < p->steps + p->n_steps && turn == TURN_MAIN; other++)
                if (steps_exclude(s, other))
                        turn = setting_turn(other->setting);

        return turn;
}

const Step *plan_find_state(const Plan *p, const char *name) {
        const Step *found = NULL;

        for (const Step *step = p->steps; step < p->steps + p->n_steps; step++) {
                const Setting *s = step->setting;

                if (step->winner ||
                    (!streq(step->wish->name, name) && !(s && (s->flags & SETTING_SAME) && streq(s->excludes, name))))
                        continue;
                if (!step_holds(step))
                        return step;
                found = step;
        }

        return found;
}
