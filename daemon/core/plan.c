/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdarg.h>
#include <stdio.h>

#include "plan.h"
#include "macro.h"

static int step_compare(const void *a, const void *b) {
        const Step *x = a, *y = b;
        unsigned i = x->setting ? x->setting->order : 0, j = y->setting ? y->setting->order : 0;

        if (i != j)
                return i < j ? -1 : 1;
        return strcmp(x->wish->name, y->wish->name);
}

/* Returns true if the verdict shows that the drive's own timer does not work, so that the service spins the drive down instead. */
static bool step_has_service(const Step *s, Verdict v) {
        return s->setting && s->setting->spins_down && s->wish->spindown_by == SPINDOWN_BY_AUTO &&
               setting_is_active(s->setting, &s->wish->value) && !s->winner &&
               (v == VERDICT_UNSUPPORTED || v == VERDICT_REFUSED || v == VERDICT_IGNORED);
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
        s->accepted = false;
        s->by_service = step_has_service(s, v);
        if (s->by_service) {
                char why[STEP_REASON_MAX];

                (void) snprintf(why, sizeof why, "%s", s->reason);
                (void) snprintf(s->reason, sizeof s->reason,
                                "the service spins down the drive, whose timer does not work: %.190s", why);
                s->verdict = VERDICT_UNCHANGED;
        }
        s->remediable = s->remediable && s->verdict == VERDICT_UNSUPPORTED && !s->remedied;
}

/* Ends the step as unverifiable with a common reason. Sets `accepted`, so that `status` can print the reason once for all settings. */
static void step_end_accepted(Step *s, const char *reason) {
        step_end(s, VERDICT_UNVERIFIABLE, "%s", reason);
        s->accepted = true;
}

char *wish_format_rule(const Wish *w) {
        char *rule;

        return asprintf(&rule, w->line > 0 ? "%s:%u" : "%s", w->file, w->line) < 0 ? NULL : rule;
}

/* Returns true if the wish is "off", and a drive with `backends` lacks the feature that the setting switches. */
static bool is_off_without_row(const Wish *w, const SettingTable *t, unsigned backends) {
        const Setting *s = setting_find(t, w->name);

        return s && !w->withheld && s->off_without && !(s->off_without & backends) && !setting_is_active(s, &w->value);
}

bool wishes_remedy(const Wishes *w, const Remedy *r) {
        for (size_t i = 0; i < ELEMENTSOF(r->settings) && r->settings[i]; i++) {
                const Wish *wish = wishes_find(w, r->settings[i]);

                if (wish && !wish->withheld)
                        return true;
        }

        return false;
}

static void step_begin(Step *s, const Wishes *w, const SettingTable *t, unsigned backends) {
        s->remedy = s->setting ? s->setting->remedy : setting_kind_remedy(t, s->wish->name, backends);
        s->remedied = s->remedy && wishes_remedy(w, s->remedy);
        if (!s->setting && is_off_without_row(s->wish, t, backends))
                step_end(s, VERDICT_UNCHANGED, "this kind of drive has no %s, which counts as off", s->wish->name);
}

/* Ends a step as unsupported: its setting does not exist for this kind of drive. */
static void step_end_without_row(Step *s) {
        s->remediable = s->remedy;
        step_end(s, VERDICT_UNSUPPORTED, "%s is not a setting of this kind of drive%s%s", s->wish->name,
                 s->remedy ? ": " : "", s->remedy ? s->remedy->how : "");
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
                        .wanted = w->items[i].value,
                        .verdict = _VERDICT_INVALID,
                };

        qsort(steps, w->n_items, sizeof(Step), step_compare);
        for (size_t i = 0; i < w->n_items; i++) {
                step_begin(steps + i, w, t, backends);
        }
        *ret = (Plan){ .steps = steps, .n_steps = w->n_items };
        return 0;
}

void plan_done(Plan *p) {
        free(p->steps);
        *p = (Plan){};
}

static void step_end_error(Step *s, const char *doing) {
        step_end(s, s->end, "%s failed: %s", doing, strerror(-s->error));
}

/* Returns true if the drive holds the setting until a power loss or a reset. */
static bool step_is_volatile(const Step *s) {
        return !(s->setting->flags & (SETTING_KERNEL | SETTING_NONVOLATILE | SETTING_AT_ATTACH));
}

/* Returns true if the value that was sent last is the wanted value. */
static bool was_sent(const Step *s, const Memory *memory) {
        return memory && memory->sent.known && memory->sent.number == s->wish->value.number;
}

bool step_settle(Step *s, const Memory *memory) {
        if (s->verdict != _VERDICT_INVALID)
                return true;

        if (s->wish->withheld)
                step_end(s, VERDICT_FORBIDDEN, "%s:%u has an error, so %s is not changed until the file is corrected",
                         s->wish->file, s->wish->line, s->wish->name);
        else if (!s->setting)
                step_end_without_row(s);
        else if (s->setting->spins_down && s->wish->spindown_by == SPINDOWN_BY_SERVICE &&
                 setting_is_active(s->setting, &s->wish->value)) {
                step_end(s, VERDICT_UNCHANGED, STEP_BY_SERVICE);
                s->by_service = true;
        } else if (s->setting->flags & (SETTING_EXCLUDED | SETTING_DEAD)) {
                s->remediable = true;
                step_end(s, s->setting->flags & SETTING_DEAD ? VERDICT_UNSUPPORTED : VERDICT_FORBIDDEN, "%s",
                         s->setting->instead);
        } else if (setting_is_dangerous(s->setting, &s->wish->value) && !s->wish->allow_dangerous)
                step_end(s, VERDICT_FORBIDDEN,
                         "the value is dangerous: %s; to allow it, set allow_dangerous = true in the block of %s:%u",
                         s->setting->danger, s->wish->file, s->wish->line);
        else if (memory && memory->overruled[0])
                step_end(s, VERDICT_FORBIDDEN, "the controller has one %s for all its namespaces, and %s",
                         s->wish->name, memory->overruled);
        else if ((s->setting->flags & SETTING_UNREADABLE) && was_sent(s, memory)) {
                step_end_accepted(s, STEP_SENT_BEFORE);
                s->remembered = step_is_volatile(s);
        } else
                return false;

        return true;
}

bool step_shows_loss(const Step *s, const Memory *memory) {
        return memory && memory->read.known && s->before.known && step_is_volatile(s) &&
               s->before.value.type == s->setting->range.type && s->before.value.number != memory->read.number;
}

void step_handle_loss(Step *s) {
        if (s->remembered) {
                s->remembered = false;
                s->verdict = _VERDICT_INVALID;
                s->reason[0] = '\0';
        }
        s->lost = s->verdict == _VERDICT_INVALID && step_is_volatile(s);
}

bool step_is_in_force(const Step *s) {
        const Reading *now = s->written ? &s->after : &s->before;

        if (!s->setting || !setting_is_active(s->setting, &s->wish->value))
                return false;
        if (s->verdict == _VERDICT_INVALID)
                return s->write;
        /* If the drive adjusted the value to "off", the setting is not in force. */
        if (s->verdict == VERDICT_ADJUSTED)
                return !now->known || setting_is_active(s->setting, &now->value);
        return s->verdict == VERDICT_APPLIED || s->verdict == VERDICT_UNCHANGED;
}

bool step_settle_unneeded(Step *s, const Step *other) {
        if (!other || !step_is_in_force(other))
                return false;

        step_end(s, VERDICT_UNCHANGED, "not needed: %s is in force", other->setting->name);
        return true;
}

/* Returns true if the drive should save the wanted value, but has saved another value. */
static bool step_wants_saving(const Step *s) {
        return s->wish->permanent && (s->setting->flags & SETTING_SAVEABLE) && s->before.saved_known &&
               !value_equal(&s->before.saved, &s->wanted);
}

#define CANNOT_SAVE "the drive cannot save the value, so drivekeep writes it again whenever the drive loses it"

/* Ends a step as unchanged: the drive has the wanted value. If the drive has saved another value, the reason says so. */
static void step_end_unchanged(Step *s) {
        char saved[VALUE_TEXT_MAX];

        if (step_wants_saving(s))
                return step_end(s, VERDICT_UNCHANGED,
                                "the drive has saved %s; 'drivekeep apply --permanent' makes the drive save the wanted value",
                                value_format(&s->setting->range, &s->before.saved, saved));
        if (s->wish->permanent && (s->setting->flags & SETTING_SAVEABLE) && !s->before.saved_known)
                return step_end(s, VERDICT_UNCHANGED, CANNOT_SAVE);
        step_end(s, VERDICT_UNCHANGED, NULL);
}

/* ---- two settings that exclude each other ---- */

bool steps_exclude(const Step *a, const Step *b) {
        /* Two steps that write current values again exclude nothing: the drive already has both values. */
        return a->setting && b->setting && !a->wish->withheld && !b->wish->withheld && !a->wish->rewrite &&
               !b->wish->rewrite && settings_exclude(a->setting, &a->wish->value, b->setting, &b->wish->value);
}

bool plan_excludes(const Plan *p, const Step *s) {
        for (const Step *other = p->steps; other < p->steps + p->n_steps; other++)
                if (other != s && steps_exclude(s, other))
                        return true;

        return false;
}

/* Returns true if the drive supports the value, or if the service spins the drive down in place of the drive's
 * timer. */
static bool step_is_possible(const Step *s) {
        if (s->winner)
                return false;

        switch (s->verdict) {
        case _VERDICT_INVALID:
                /* If the read failed temporarily, the drive may support the setting. */
                return step_has_error(s) ? s->end == VERDICT_DEFERRED || s->end == VERDICT_FAILED : s->before.supported;
        case VERDICT_UNSUPPORTED:
        case VERDICT_VANISHED:
                return false;
        case VERDICT_REFUSED: /* a rejected write shows that the drive has the setting; a rejected read does not */
                return s->failed;
        case VERDICT_FORBIDDEN: /* supported if the setting could be read: only the write is forbidden */
                return s->before.supported;
        case VERDICT_UNCHANGED: /* "not needed" (`unless`) does not show that the drive has the setting */
                return !s->setting->unless || s->before.supported;
        default:
                return true;
        }
}

/* Returns true if `s` wins over `other`: the two exclude each other, and `s` has the later wish. If the drive does not support the setting
 * of the later wish, the earlier wish wins. */
static bool step_wins(const Step *s, const Step *other) {
        return steps_exclude(s, other) && step_is_possible(s) && (s->wish > other->wish || !step_is_possible(other));
}

bool plan_exclude(const Plan *p, Step *s) {
        _cleanup_free_ char *rule = NULL, *own = NULL;
        bool possible = step_is_possible(s);
        const Step *w = NULL;

        for (const Step *other = p->steps; other < p->steps + p->n_steps && !w; other++)
                if (step_wins(other, s))
                        w = other;
        s->winner = w;
        if (!w || !possible)
                return false;

        rule = wish_format_rule(w->wish);
        own = wish_format_rule(s->wish);
        s->remembered = false;
        s->reason[0] = '\0';
        s->remediable = false;
        if (w->verdict == VERDICT_DEFERRED && !w->before.known)
                step_end(s, VERDICT_DEFERRED,
                         "%s (%s) comes later and overrides %s (%s) if the drive supports both; the supported settings are known only when the drive is active",
                         w->wish->name, rule ?: w->wish->file, s->wish->name, own ?: s->wish->file);
        else
                /* If the losing rule is for a class of drives, the verdict is not a failure: the winning rule applies to
                 * this drive. */
                step_end(s, s->wish->optional ? VERDICT_UNSUPPORTED : VERDICT_FORBIDDEN,
                         "%s (%s) comes later, so %s (%s) is not written", w->wish->name, rule ?: w->wish->file,
                         s->wish->name, own ?: s->wish->file);
        return true;
}

/* Decides a step whose setting the drive lacks. If the wanted value is "off", the verdict is VERDICT_UNCHANGED. Clears
 * `before.known`, because the drive has no value that it could lose. */
static void step_end_absent(Step *s) {
        const Remedy *r = s->remedy;
        bool is_equal = s->before.known && value_equal(&s->before.value, &s->wanted);
        char value[VALUE_TEXT_MAX];

        s->before.known = false;
        if (is_equal)
                return step_end(s, VERDICT_UNCHANGED, "the drive reports that it has no %s, which counts as %s",
                                s->wish->name, value_format(&s->setting->range, &s->wanted, value));
        s->remediable = r && !r->backends && !step_has_service(s, VERDICT_UNSUPPORTED);
        step_end(s, VERDICT_UNSUPPORTED, "the drive reports that it has no %s%s%s", s->wish->name,
                 s->remediable ? ": " : "", s->remediable ? r->how : "");
}

/* Decides a step whose action was done at an earlier visit and is not repeated. The verdict depends on the current reading. */
static void step_end_action(Step *s) {
        const char *when = s->wish->value.number == AT_RESUME ? "attached or the machine resumed" : "attached";

        if (step_has_error(s) || !s->before.known)
                step_end(s, VERDICT_UNVERIFIABLE, "sent when the drive was %s; the current state is not known", when);
        else if (value_equal(&s->before.value, &s->wanted))
                step_end(s, VERDICT_UNCHANGED, NULL);
        else
                step_end(s, VERDICT_APPLIED,
                         "sent when the drive was %s; the drive became active later, and the value is not sent again",
                         when);
}

/* Returns an addition to the reason if the drive reports its own range and the wanted value is outside the range; "" if not. */
static const char *step_format_range(const Step *s, char buf[static STEP_REASON_MAX]) {
        const Reading *r = &s->before;
        char span[VALUE_SPAN_MAX];

        if (!r->limited || !setting_is_active(s->setting, &s->wanted) ||
            (s->wanted.number >= r->min && s->wanted.number <= r->max))
                return "";
        (void) snprintf(buf, STEP_REASON_MAX, "; the drive's range is %s",
                        value_format_span(s->setting->range.type, r->min, r->max, span));
        return buf;
}

static void step_end_quarantined(Step *s, const Memory *memory) {
        step_end(s, VERDICT_QUARANTINED,
                 "%s; to write the value again, run 'drivekeep release' or change the value in the file",
                 memory->quarantined);
}

/* Decides a step that writes a value again (Wish.rewrite). The value is written only if the drive has it, so that no write changes a
 * value. */
static void step_decide_rewrite(Step *s, const Memory *memory, DecideFlags flags) {
        char now[VALUE_TEXT_MAX];

        if (!setting_may_rewrite(s->setting))
                step_end(s, VERDICT_FORBIDDEN,
                         "a write of %s could have side effects, so the value is not written again", s->wish->name);
        else if (step_has_error(s))
                step_end_error(s, "reading the setting");
        else if (!s->before.supported)
                step_end_absent(s);
        else if (flags & DECIDE_STANDBY)
                step_end(s, VERDICT_DEFERRED, "the drive is not known to be active, so the value is not written again");
        else if (!s->before.known)
                step_end(s, VERDICT_UNVERIFIABLE, "the setting cannot be read now, so the value is not written again");
        else if (!value_equal(&s->before.value, &s->wanted))
                step_end(s, VERDICT_DRIFTED, "the drive now has %s, so the value is not written again",
                         value_format(&s->setting->range, &s->before.value, now));
        else if (flags & DECIDE_READ_ONLY)
                step_end(s, VERDICT_UNCHANGED, NULL);
        else if (memory && memory->quarantined[0])
                step_end_quarantined(s, memory);
        else
                s->write = true;
}

void step_decide(Step *s, const Memory *memory, DecideFlags flags) {
        bool permanent = flags & DECIDE_PERMANENT;

        assert(s->setting && s->verdict == _VERDICT_INVALID);

        if (s->wish->rewrite)
                return step_decide_rewrite(s, memory, flags);

        if ((s->setting->flags & SETTING_AT_ATTACH) && s->end != VERDICT_VANISHED && was_sent(s, memory))
                return step_end_action(s);

        if (step_has_error(s))
                return step_end_error(s, "reading the setting");

        if (!s->before.supported)
                return step_end_absent(s);

        if (s->before.known) {
                if (value_equal(&s->before.value, &s->wanted) && !(permanent && step_wants_saving(s)))
                        return step_end_unchanged(s);

                if (was_sent(s, memory) && memory->settled.known && s->before.value.type == s->wish->value.type &&
                    s->before.value.number == memory->settled.number) {
                        char wanted[VALUE_TEXT_MAX], chosen[VALUE_TEXT_MAX], range[STEP_REASON_MAX];

                        return step_end(s, VERDICT_ADJUSTED, "%s was accepted earlier, but the drive chose %s%s",
                                        value_format(&s->setting->range, &s->wanted, wanted),
                                        value_format(&s->setting->range, &s->before.value, chosen),
                                        step_format_range(s, range));
                }
        }

        /* A value that was accepted earlier and cannot be read now is written again only if the drive adjusted or lost it. */
        if (!s->before.known && was_sent(s, memory) && !memory->settled.known && !s->lost)
                return step_end_accepted(s, STEP_SENT_BEFORE);

        if (memory && memory->quarantined[0])
                return step_end_quarantined(s, memory);

        if ((s->setting->flags & SETTING_NONVOLATILE) && !permanent && !(flags & DECIDE_STANDBY))
                return step_end(s, VERDICT_FORBIDDEN,
                                "the drive keeps this setting over power cycles; only 'drivekeep apply --permanent' writes it");

        /* Later visits for deferred settings do not make the drive save values, so the user must repeat the command. */
        if (permanent && (flags & DECIDE_STANDBY) && (s->wish->permanent || (s->setting->flags & SETTING_NONVOLATILE)))
                return step_end(s, VERDICT_DEFERRED,
                                "the drive is not known to be active; run 'drivekeep apply --permanent' again when it is active");

        if (flags & DECIDE_STANDBY)
                return step_end(s, VERDICT_DEFERRED,
                                flags & DECIDE_UNCLEAR
                                                ? "the power mode of the drive is not known; drivekeep sets the value when the drive is next active"
                                : flags & DECIDE_SUSPENDED
                                                ? "the kernel has runtime-suspended the drive; drivekeep sets the value after the drive resumes"
                                                : "the drive is in standby; drivekeep sets the value when the drive is next active");

        if (flags & DECIDE_READ_ONLY) {
                char now[VALUE_TEXT_MAX];

                if (!s->before.known)
                        return step_end(s, VERDICT_UNVERIFIABLE, "%s",
                                        s->lost ? "the setting cannot be read and may be lost: another setting of the drive has changed"
                                                : "the setting cannot be read now");
                return step_end(s, VERDICT_DRIFTED,
                                "the value changed to %s after the last visit; 'drivekeep apply' writes the wanted value",
                                value_format(&s->setting->range, &s->before.value, now));
        }

        s->write = true;
}

void step_judge(Step *s) {
        char wanted[VALUE_TEXT_MAX], after[VALUE_TEXT_MAX], range[STEP_REASON_MAX];

        if (step_has_error(s))
                return step_end_error(s, s->written ? "reading the setting back" : "writing the setting");

        assert(s->setting); /* a step without a Setting has an error: the drive is gone, or in standby behind its bridge */

        if (!s->after.known && s->after.repeated)
                return step_end(s, VERDICT_UNVERIFIABLE,
                                "accepted; the value cannot be read back, as the bridge appears to answer IDENTIFY from its cache");
        if (!s->after.known)
                return s->note[0] ? step_end(s, VERDICT_UNVERIFIABLE, "%s", s->note)
                                  : step_end_accepted(s, STEP_ACCEPTED);

        (void) value_format(&s->setting->range, &s->wanted, wanted);
        if (s->saving && s->after.saved_known && !value_equal(&s->after.saved, &s->wanted))
                return step_end(s, VERDICT_IGNORED, "the drive should have saved %s, but it saved %s", wanted,
                                value_format(&s->setting->range, &s->after.saved, after));

        if (value_equal(&s->after.value, &s->wanted)) {
                if (s->saving && !s->after.saved_known)
                        return step_end(s, VERDICT_APPLIED, "%s%s" CANNOT_SAVE, s->note, s->note[0] ? "; " : "");
                return step_end(s, VERDICT_APPLIED, s->note[0] ? "%s" : NULL, s->note);
        }

        if (s->after.repeated && s->before.known && value_equal(&s->after.value, &s->before.value)) {
                s->after.known = false;
                return step_end(s, VERDICT_UNVERIFIABLE,
                                "accepted, but the IDENTIFY data did not change: the bridge cached them, or the drive ignored the command");
        }

        (void) value_format(&s->setting->range, &s->after.value, after);
        /* If the value read back is neither the old value nor the wanted value, the drive chose it. If the value is
         * still the old value, the drive ignored the command. */
        if (s->before.known && !value_equal(&s->after.value, &s->before.value))
                return step_end(s, VERDICT_ADJUSTED, "%s was accepted, but the drive chose %s%s", wanted, after,
                                step_format_range(s, range));

        if (s->note[0])
                step_end(s, VERDICT_IGNORED, "%s", s->note);
        else
                step_end(s, VERDICT_IGNORED, "%s was accepted, but the value is still %s%s", wanted, after,
                         step_format_range(s, range));
}
