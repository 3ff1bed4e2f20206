/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "bus-error.h"
#include "target-guard.h"
#include "target-rewrite.h"
#include "target-visit.h"

typedef struct Result {
        Verdict verdict; /* _VERDICT_INVALID: the visit has not reported a verdict */
        char now[VALUE_TEXT_MAX];
        char reason[STEP_REASON_MAX];
} Result;

typedef struct TargetRewrite {
        bool is_asked; /* a caller waits for the results */
        Wishes wishes;
        Result *results; /* one for each wish */
} TargetRewrite;

static TargetRewrite *rewrite_of(const Target *t) {
        return target_part(t, &rewrite_part);
}

static void rewrite_done(Target *t) {
        wishes_done(&rewrite_of(t)->wishes);
        free(rewrite_of(t)->results);
        *rewrite_of(t) = (TargetRewrite){};
}

static int add_wish(const Target *t, Wishes *w, const char *setting, const char *value, sd_bus_error *error) {
        const Setting *s = setting_for_backends(t->env->settings, setting, drive_backends(t->drive));
        Wish wish = { .rewrite = true, .file = "drivekeep report" };

        if (!s || !setting_may_rewrite(s) || !streq(s->name, setting))
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "%s cannot be written again.", setting);
        if (value_parse(&s->range, value, &wish.value) != 0)
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "%s does not accept this value.", setting);
        wish.name = s->name;
        return wishes_add(w, &wish);
}

int target_rewrite(Target *t, char *const *values, sd_bus_error *error) {
        _cleanup_(wishes_done) Wishes w = {};
        Result *results;
        int r;

        if (rewrite_of(t)->is_asked)
                return sd_bus_error_set(error, ERROR_NOT_NOW,
                                        "Another call of Rewrite() for this drive has not ended; try again later.");
        for (; values && *values; values += 2) {
                r = values[1] ? add_wish(t, &w, values[0], values[1], error) : -EINVAL;
                if (r < 0)
                        return r;
        }
        results = calloc(MAX(w.n_items, 1U), sizeof *results);
        if (!results)
                return -ENOMEM;
        for (size_t i = 0; i < w.n_items; i++)
                results[i].verdict = _VERDICT_INVALID;

        *rewrite_of(t) = (TargetRewrite){ .is_asked = true, .wishes = w, .results = results };
        w = (Wishes){};
        target_visit(t, VISIT_REWRITE);
        return 0;
}

int target_rewrite_select(const Target *t, VisitWork work, Wishes *selected) {
        const Wishes *w = &rewrite_of(t)->wishes;
        int r = 0;

        for (size_t i = 0; i < w->n_items && (work & WORK_ANY) == WORK_REWRITE && r >= 0; i++)
                r = wishes_add(selected, w->items + i);
        return r;
}

void target_rewrite_step(Target *t, const Step *s) {
        const Reading *now = s->written || s->failed ? &s->after : &s->before;
        const Wishes *w = &rewrite_of(t)->wishes;
        const Wish *wish = wishes_find(w, s->wish->name);
        Result *result;

        if (!wish)
                return;
        result = rewrite_of(t)->results + (wish - w->items);
        *result = (Result){ .verdict = s->verdict };
        (void) snprintf(result->reason, sizeof result->reason, "%s", s->reason);
        if (s->setting && now->known)
                (void) value_format(&s->setting->range, &now->value, result->now);
}

bool target_rewrite_is_over(const Target *t) {
        return !target_is_about(t, WORK_REWRITE) || t->record->waiting_kind != WAIT_NOTHING;
}

/* Sets the verdict on a value that the visit has not reached. */
static void result_fill(const Target *t, Result *result) {
        Wait w = { t->record->waiting_kind, t->record->waiting_for };

        result->verdict = target_guard_verdict(t, result->reason);
        if (result->verdict != _VERDICT_INVALID)
                return;
        result->verdict = VERDICT_DEFERRED;
        (void) snprintf(result->reason, sizeof result->reason, "%s%s",
                        w.kind != WAIT_NOTHING ? "the visit waits for "
                                               : "the visit also had other work, or was interrupted",
                        w.kind != WAIT_NOTHING ? wait_describe(w) : "");
}

int target_rewrite_answer(Target *t, sd_bus_message *reply) {
        TargetRewrite *rewrite = rewrite_of(t);
        int r;

        r = sd_bus_message_open_container(reply, 'a', "(ssss)");
        for (size_t i = 0; i < rewrite->wishes.n_items && r >= 0; i++) {
                Result *result = rewrite->results + i;

                if (result->verdict == _VERDICT_INVALID)
                        result_fill(t, result);
                r = sd_bus_message_append(reply, "(ssss)", rewrite->wishes.items[i].name,
                                          verdict_to_string(result->verdict), result->now, result->reason);
        }
        rewrite_done(t);
        target_changed(t);
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

/* Returns true if the caller has its reply, but a visit that waits for its worker would still write the values. */
static bool is_abandoned(const Target *t) {
        return !rewrite_of(t)->is_asked && target_is_about(t, WORK_REWRITE) && !target_has_worker(t);
}

static uint64_t rewrite_due(const Target *t) {
        return is_abandoned(t) ? 0 : UINT64_MAX;
}

static void rewrite_tick(Target *t) {
        if (!is_abandoned(t))
                return;
        if (t->visit.job)
                target_withdraw(t);
        t->pending.work &= ~WORK_REWRITE;
        if (!pending_any(&t->pending))
                t->pending = (Pending){};
}

const TargetPart rewrite_part = {
        .size = sizeof(TargetRewrite),
        .done = rewrite_done,
        .due = rewrite_due,
        .tick = rewrite_tick,
};
