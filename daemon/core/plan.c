/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdarg.h>
#include <stdio.h>

#include "plan.h"
#include "macro.h"

/* clang-format off */
static const char *const visit_reason_table[_VISIT_REASON_MAX] = {
        [VISIT_BOOT] = "boot",     [VISIT_ATTACH] = "attach",   [VISIT_CHANGE] = "change", [VISIT_RESUME] = "resume",
        [VISIT_RELOAD] = "reload", [VISIT_POWER] = "power", [VISIT_REQUEST] = "request", [VISIT_RETRY] = "retry",
};
/* clang-format on */

const char *visit_reason_to_string(VisitReason r) {
        return r < _VISIT_REASON_MAX ? visit_reason_table[r] : NULL;
}

static int step_compare(const void *a, const void *b) {
        const Step *x = a, *y = b;
        unsigned i = x->setting ? x->setting->order : 0, j = y->setting ? y->setting->order : 0;

        if (i != j)
                return i < j ? -1 : 1;
        return strcmp(x->wish->name, y->wish->name);
}

int plan_new(const Wishes *w, const SettingTable *t, unsigned backends, Plan *ret) {
        Step *steps;

        steps = calloc(MAX(w->n_items, 1U), sizeof(Step));
        if (!steps)
                return -ENOMEM;

        for (size_t i = 0; i < w->n_items; i++)
                steps[i] = (Step){
                        .wish = w->items + i,
                        .setting = setting_for_backends(t, w->items[i].name, backends),
                        .verdict = _VERDICT_INVALID,
                };

        qsort(steps, w->n_items, sizeof(Step), step_compare);
        *ret = (Plan){ .steps = steps, .n_steps = w->n_items };
        return 0;
}

void plan_done(Plan *p) {
        free(p->steps);
        *p = (Plan){};
}

_printf_(3, 4) static void step_end(Step *s, Verdict v, const char *format, ...) {
        s->write = false;
        s->verdict = v;

        if (s->reason[0] == '\0' && format) {
                va_list ap;

                va_start(ap, format);
                (void) vsnprintf(s->reason, sizeof s->reason, format, ap);
                va_end(ap);
        }
}

static void step_end_error(Step *s, const char *doing) {
        Verdict v;

        switch (s->error) {
        case STEP_REFUSED:
                v = VERDICT_REFUSED;
                break;
        case STEP_UNSUPPORTED:
                v = VERDICT_UNSUPPORTED;
                break;
        case STEP_DEFERRED:
                v = VERDICT_DEFERRED;
                break;
        case STEP_VANISHED:
                v = VERDICT_VANISHED;
                break;
        case STEP_FORBIDDEN:
                v = VERDICT_FORBIDDEN;
                break;
        default:
                v = VERDICT_FAILED;
        }

        step_end(s, v, "%s failed: %s", doing, strerror(-s->error));
}

bool step_settle(Step *s, const Memory *memory) {
        if (s->wish->withheld)
                step_end(s, VERDICT_FORBIDDEN, "%s:%u is in error, so %s is left alone until it is mended",
                         s->wish->file, s->wish->line, s->wish->name);
        else if (!s->setting)
                step_end(s, VERDICT_UNSUPPORTED, "%s is not a setting of this kind of drive", s->wish->name);
        else if ((s->setting->flags & SETTING_UNREADABLE) && memory && memory->sent &&
                 value_equal(&memory->value, &s->wish->value))
                step_end(s, VERDICT_UNVERIFIABLE, "sent before, since the drive was attached; it cannot be read");
        else
                return false;

        return true;
}

void step_decide(Step *s, const Memory *memory, bool asleep) {
        if (s->error < 0)
                return step_end_error(s, "reading it");

        if (!s->before.supported)
                return step_end(s, VERDICT_UNSUPPORTED, "the drive says that it has no %s", s->wish->name);

        if (s->before.known) {
                if (value_equal(&s->before.value, &s->wish->value))
                        return step_end(s, VERDICT_UNCHANGED, NULL);

                if (memory && memory->sent && memory->adjusted && value_equal(&memory->value, &s->wish->value) &&
                    value_equal(&memory->settled, &s->before.value))
                        return step_end(s, VERDICT_ADJUSTED, "the drive made this of it when it was sent");
        }

        if (!s->before.known && memory && memory->sent && value_equal(&memory->value, &s->wish->value))
                return step_end(s, VERDICT_UNVERIFIABLE,
                                "sent before, since the drive was attached; it cannot be read");

        if (asleep)
                return step_end(s, VERDICT_DEFERRED,
                                "the drive sleeps and is not woken for this; its next event takes it up, or 'drivekeep apply' when it is awake");

        s->write = true;
}

void step_judge(Step *s) {
        char wanted[VALUE_TEXT_MAX], after[VALUE_TEXT_MAX];

        if (s->error < 0)
                return step_end_error(s, s->written ? "reading it back" : "writing it");

        if (!s->after.known)
                return step_end(s, VERDICT_UNVERIFIABLE, "accepted; it cannot be read back");

        if (value_equal(&s->after.value, &s->wish->value))
                return step_end(s, VERDICT_APPLIED, NULL);

        (void) value_format(&s->setting->range, &s->wish->value, wanted);
        (void) value_format(&s->setting->range, &s->after.value, after);

        /* A new value that is neither the old nor the wanted one is the drive's own choice; the old one means that
         * nothing happened. */
        if (s->before.known && !value_equal(&s->after.value, &s->before.value))
                return step_end(s, VERDICT_ADJUSTED, "%s was accepted, and the drive made it %s", wanted, after);

        step_end(s, VERDICT_IGNORED, "%s was accepted, but it still reads %s", wanted, after);
}
