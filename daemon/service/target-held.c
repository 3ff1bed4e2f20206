/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <systemd/sd-bus.h>

#include "device.h"
#include "target-held.h"

#define TRIES_MAX 3U

typedef struct HeldValue {
        const Setting *setting;
        Value value;   /* that it is to have now … */
        Value before;  /* … and after that */
        bool returned; /* it has that again */
} HeldValue;

#define HELD_MAX 8U /* one that is measured, and those that its change may reset */

typedef struct TargetHeld {
        HeldValue *items; /* up to HELD_MAX; NULL: there are none, as with almost all drives at almost any time */
        size_t n_items;
        const sd_bus *holder; /* who asked for them: never used, but compared; NULL: is gone, and `before` is wanted */
        unsigned n_tries;     /* so many visits could not set all of them back */
} TargetHeld;

static TargetHeld *held_of(const Target *t) {
        return target_part(t, &held_part);
}

static HeldValue *held_find(TargetHeld *h, const char *name) {
        for (HeldValue *v = h->items; v < h->items + h->n_items; v++)
                if (streq(setting_state(v->setting), name))
                        return v;
        return NULL;
}

/* ---- the record ---- */

static int note_in_record(Target *t, const TargetHeld *h) {
        char text[HELD_MAX * (SETTING_BRIEF_MAX + VALUE_TEXT_MAX)] = "", value[VALUE_TEXT_MAX];
        size_t n = 0;

        for (const HeldValue *v = h->items; v < h->items + h->n_items; v++)
                n += snprintf(text + n, n < sizeof text ? sizeof text - n : 0, "%s%s=%s", n > 0 ? ";" : "",
                              setting_state(v->setting), value_format(&v->setting->range, &v->before, value));
        if (n >= sizeof text)
                return -ENOBUFS;
        return string_replace(&t->record->held, n > 0 ? text : NULL);
}

/* ---- what may be held ---- */

static int refuse(sd_bus_error *error, const char *setting, const char *why) {
        (void) sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "%s %s.", setting, why);
        return -EINVAL;
}

/* What may be measured, and set back: what can be read, and does no harm. */
static int held_parse(const Target *t, const char *setting, const char *value, const char *before, HeldValue *ret,
                      sd_bus_error *error) {
        const SettingFlags unfit =
                        SETTING_UNREADABLE | SETTING_NONVOLATILE | SETTING_AT_ATTACH | SETTING_DEAD | SETTING_EXCLUDED;
        const Setting *s = setting_for_backends(t->env->settings, setting, drive_backends(t->drive));
        HeldValue v = { .setting = s };

        if (!s)
                return refuse(error, setting, "is not a setting of this kind of drive");
        if (s->flags & unfit)
                return refuse(error, setting, "cannot be set back, and so it cannot be set for a while");
        if (value_parse(&s->range, value, &v.value) != 0 || value_parse(&s->range, before, &v.before) != 0)
                return refuse(error, setting, "does not take this value");
        if (setting_is_dangerous(s, &v.value) || setting_is_dangerous(s, &v.before))
                return refuse(error, setting, "is dangerous, and so it is not set for a while");
        *ret = v;
        return 0;
}

/* A copy of `h`, with one value more, or another one of the same setting. The caller frees ret->items. */
static int held_add(const TargetHeld *h, const HeldValue *v, TargetHeld *ret) {
        HeldValue *items, *old;

        items = calloc(h->n_items + 1, sizeof *items);
        if (!items)
                return -ENOMEM;
        if (h->n_items > 0)
                memcpy(items, h->items, h->n_items * sizeof *items);
        *ret = *h;
        ret->items = items;

        old = held_find(ret, setting_state(v->setting));
        if (!old && h->n_items == HELD_MAX) {
                free(items);
                return -ENOBUFS;
        }
        if (!old)
                old = items + ret->n_items++;
        *old = *v;
        return 0;
}

static void held_replace(Target *t, const TargetHeld *h) {
        free(held_of(t)->items);
        *held_of(t) = *h;
}

int target_hold(Target *t, const sd_bus *holder, const char *setting, const char *value, const char *before,
                sd_bus_error *error) {
        const Wish *wish;
        TargetHeld h;
        HeldValue v;
        int r;

        r = held_parse(t, setting, value, before, &v, error);
        if (r < 0)
                return r;
        if (held_of(t)->n_items > 0 && held_of(t)->holder != holder)
                return sd_bus_error_setf(error, SD_BUS_ERROR_FAILED, "%s of this drive is %s.",
                                         setting_state(held_of(t)->items[0].setting),
                                         held_of(t)->holder ? "being measured already" : "still to be set back");
        wish = wishes_find(&t->wishes, setting_state(v.setting));
        if (wish && wish->withheld)
                return sd_bus_error_setf(error, SD_BUS_ERROR_FAILED, "%s:%u, which sets it, is in error.", wish->file,
                                         wish->line);

        r = held_add(held_of(t), &v, &h);
        if (r < 0)
                return r;
        h.holder = holder;
        /* It is written down before the drive has it: whoever comes after us is to know. */
        r = note_in_record(t, &h);
        if (r < 0) {
                free(h.items);
                return r;
        }
        target_save(t);
        if (t->saving.again_at > 0) {
                free(h.items);
                (void) note_in_record(t, held_of(t));
                return sd_bus_error_set(error, SD_BUS_ERROR_FAILED,
                                        "What it was before cannot be written down in /run.");
        }

        held_replace(t, &h);
        target_reconfigure(t, VISIT_REQUEST);
        return 0;
}

/* ---- the end ---- */

void target_let_go(Target *t, const sd_bus *holder) {
        TargetHeld *h = held_of(t);

        if (h->n_items == 0 || !h->holder || h->holder != holder)
                return;

        h->holder = NULL;
        for (HeldValue *v = h->items; v < h->items + h->n_items; v++)
                v->value = v->before;
        target_reconfigure(t, VISIT_REQUEST);
}

bool target_held_returns(const Target *t) {
        return held_of(t)->n_items > 0 && !held_of(t)->holder;
}

bool target_held_again(Target *t) {
        return target_held_returns(t) && held_of(t)->n_tries++ < TRIES_MAX;
}

/* The record says what an earlier run of the daemon has left so. */
static int held_attach(Target *t, bool again _unused_) {
        _cleanup_free_ char *text = t->record->held ? strdup(t->record->held) : NULL;
        char *rest = text, *setting;

        if (held_of(t)->n_items > 0)
                return 0;
        if (t->record->held && !text)
                return -ENOMEM;
        while ((setting = strsep(&rest, ";"))) {
                _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
                char *before = strchr(setting, '=');
                TargetHeld h;
                HeldValue v;

                if (!before)
                        continue;
                *before++ = '\0';
                if (held_parse(t, setting, before, before, &v, &error) >= 0 && held_add(held_of(t), &v, &h) >= 0)
                        held_replace(t, &h);
        }
        return note_in_record(t, held_of(t));
}

/* ---- what is wanted, and what came of that ---- */

static int overlay(const HeldValue *v, bool returns, Wishes *w) {
        const Wish *old = wishes_find(w, setting_state(v->setting));
        Wish wish = old ? *old : (Wish){ .name = setting_state(v->setting) };

        /* What the files want is what it had before; a rule in error wants nothing. */
        if (old && !old->withheld && returns)
                return 0;
        wish.via_stacked = NULL;
        wish.value = v->value;
        wish.withheld = false;
        wish.file = RECORD_RULE_TUNE;
        wish.line = wish.column = 0;
        return wishes_add(w, &wish);
}

int target_held_overlay(const Target *t, Wishes *w) {
        int r = 0;

        for (const HeldValue *v = held_of(t)->items; v < held_of(t)->items + held_of(t)->n_items && r >= 0; v++)
                r = overlay(v, !held_of(t)->holder, w);
        return r;
}

void target_held_told(Target *t, const Step *s) {
        HeldValue *v = held_find(held_of(t), s->wish->name);

        /* While other wishes wait to be taken over, a visit is about those of before. */
        if (!v || held_of(t)->holder || pending_any(&t->update.files))
                return;
        /* What the files want is their own affair from now on. */
        v->returned = s->wish->line > 0 ? s->verdict != VERDICT_DEFERRED
                                        : verdict_is_wanted(s->verdict) || s->verdict == VERDICT_UNSUPPORTED;
}

bool target_held_ended(Target *t) {
        TargetHeld *h = held_of(t);

        if (h->n_items == 0)
                return false;
        for (const HeldValue *v = h->items; v < h->items + h->n_items; v++)
                if (!v->returned)
                        return false;

        held_replace(t, &(TargetHeld){});
        (void) note_in_record(t, h);
        return true;
}

static void held_done(Target *t) {
        free(held_of(t)->items);
}

const TargetPart held_part = {
        .size = sizeof(TargetHeld),
        .attach = held_attach,
        .done = held_done,
};
