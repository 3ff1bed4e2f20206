/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The settings that a SCSI drive keeps in its mode pages. A field is read from the page's current values, and written by
 * sending the whole page back with that field changed, where the page of changeable values allows it. */

#include "cache.h"
#include "plan.h"
#include "scsi.h"
#include "settings.h"

typedef struct ModeField {
        uint8_t page;
        uint8_t byte, bit;  /* the bit that enables it; 0, 0: there is none */
        uint8_t timer, len; /* the number that goes with it, big-endian; len 0: there is none */
        uint8_t scale;      /* milliseconds in one of it */
        bool disables;      /* the bit, which then has no number, is set for "off" */
} ModeField;

static size_t field_end(const ModeField *f) {
        return MAX((size_t) f->timer + f->len, f->byte + 1U);
}

static bool field_has_bit(const ModeField *f) {
        return f->byte > 0;
}

static uint64_t field_number(const ModeField *f, const ModePage *p) {
        uint64_t n = 0;

        for (size_t i = 0; i < f->len; i++)
                n = n << 8 | p->bytes[f->timer + i];
        return n;
}

static Value field_get(const Setting *s, const ModePage *p) {
        const ModeField *f = s->detail;
        bool enabled = !field_has_bit(f) || (p->bytes[f->byte] & 1U << f->bit);
        Value v = { .type = s->range.type };

        if (f->len == 0)
                v.number = enabled != f->disables;
        else if (!enabled)
                v.number = s->range.off;
        else {
                v.number = (int64_t) field_number(f, p) * f->scale;
                /* Enabled with no time at all is no value that a file can ask for. */
                if (field_has_bit(f) && v.number == s->range.off)
                        v.number = -1;
        }
        return v;
}

static void field_set(const Setting *s, const Value *v, ModePage *p) {
        const ModeField *f = s->detail;
        bool enable = f->len == 0 ? (bool) v->number != f->disables : v->number != s->range.off;
        uint64_t n = v->number / MAX(f->scale, 1);

        if (field_has_bit(f)) {
                p->bytes[f->byte] &= ~(1U << f->bit);
                p->bytes[f->byte] |= enable << f->bit;
        }

        /* A timer that is turned off keeps its time. */
        if (f->len > 0 && (enable || !field_has_bit(f)))
                for (size_t i = 0; i < f->len; i++)
                        p->bytes[f->timer + i] = n >> 8 * (f->len - 1 - i);
}

static int mode_read(Device *d, const Setting *s, Reading *ret) {
        const ModeField *f = s->detail;
        ModePage now, saved;
        int r;

        r = mode_sense(d, f->page, MODE_CURRENT, field_end(f), &now);
        if (r < 0)
                return r;

        *ret = (Reading){ .supported = true, .known = true, .value = field_get(s, &now) };
        if (!d->permanent || !now.saveable)
                return 0;

        r = mode_sense(d, f->page, MODE_SAVED, field_end(f), &saved);
        if (r == STEP_UNSUPPORTED || r == STEP_REFUSED)
                return 0;
        if (r < 0)
                return r;

        ret->saved_known = true;
        ret->saved = field_get(s, &saved);
        return 0;
}

/* All bits that differ have to be changeable. */
static int mode_changeable(Device *d, const ModeField *f, const ModePage *from, const ModePage *to) {
        ModePage mask;
        int r;

        r = mode_sense(d, f->page, MODE_CHANGEABLE, field_end(f), &mask);
        if (r < 0)
                return r;

        for (size_t i = 2; i < MIN(MIN(from->len, to->len), mask.len); i++)
                if ((from->bytes[i] ^ to->bytes[i]) & ~mask.bytes[i])
                        return device_fail(
                                        d, STEP_REFUSED,
                                        "the drive does not let this be changed, or not to this value (mode page %02Xh)",
                                        f->page);
        return 0;
}

/* Returns the page as it was sent, too. */
static int mode_write_page(Device *d, const Setting *s, const Value *v, ModePage *ret) {
        const ModeField *f = s->detail;
        Value limit = { .type = s->range.type, .number = ((1LL << 8 * f->len) - 1) * f->scale };
        char most[VALUE_TEXT_MAX];
        ModePage now;
        int r;

        if (f->len > 0 && v->number > limit.number)
                return device_fail(d, STEP_REFUSED, "a SCSI drive's mode page %02Xh holds %s at most", f->page,
                                   value_format(&s->range, &limit, most));

        r = mode_sense(d, f->page, MODE_CURRENT, field_end(f), &now);
        if (r < 0)
                return r;
        *ret = now;
        field_set(s, v, ret);

        r = mode_changeable(d, f, &now, ret);
        /* SPC: SP for a page that cannot be saved is an error. */
        return r < 0 ? r : mode_select(d, ret, d->save && now.saveable);
}

static int mode_write(Device *d, const Setting *s, const Value *v) {
        ModePage page;

        return mode_write_page(d, s, v, &page);
}

static int mode_cache_read(Device *d, const Setting *s, Reading *ret) {
        int r;

        r = mode_read(d, s, ret);
        if (r >= 0)
                cache_reading_judge(d, ret);
        return r;
}

static int mode_cache_write(Device *d, const Setting *s, const Value *v) {
        bool was_unknown = v->number && cache_kernel_view(d) == 0;
        ModePage page;
        int r;

        r = mode_write_page(d, s, v, &page);
        if (r < 0)
                return r;

        r = cache_settle(d, v->number, was_unknown, scsi_synchronize_cache);
        if (r != -ETIME)
                return r;

        /* The page that it has just taken: nothing is asked that might fail now. */
        field_set(s, &VALUE_BOOLEAN(false), &page);
        r = mode_select(d, &page, d->save && page.saveable);
        if (r >= 0)
                r = scsi_synchronize_cache(d);
        return r < 0 ? r : cache_was_turned_off(d);
}

static const Harm no_reallocation_harm = {
        .scope = HARM_ANY,
        .why = "the drive reports a write as failed that it could have put elsewhere, and a file system on it stops; leave it on",
};

/* clang-format off */
/* What all rows have in common; the arguments behind the functions are the members of the ModeField. */
#define MODE(key, field, from, read_, write_, ...) \
        .name = key, .backend = BACKEND_SCSI_MODE, .flags = SETTING_SAVEABLE, .equivalent = "sdparm --set " field, \
        .lost_by = "power, reset; unless saved", .source = from, .read = read_, .write = write_, \
        .detail = &(const ModeField) { __VA_ARGS__ }

#define BIT(key, order_, what, field, from, ...) \
        MODE(key, field, "SBC-3 " from, mode_read, mode_write, __VA_ARGS__), .range = RANGE_BOOL, .order = order_, .summary = what

#define CONDITION(key, field, order_, byte_, bit_, timer_) \
        { \
                MODE(key, field, "SPC-4 power condition mode page 1Ah", mode_read, mode_write, .page = 0x1A, .byte = byte_, \
                     .bit = bit_, .timer = timer_, .len = 4, .scale = 100), \
                .range = { .type = VALUE_DURATION, .min = 100, .max = 0xFFFFFFFFLL * 100, .step = 100, .has_off = true }, \
                .order = order_, .summary = "how long the drive is idle before it goes to " key \
        }

const Setting scsi_settings[] = {
        {
                MODE("write_cache", "WCE", "SBC-3 caching mode page 08h, WCE", mode_cache_read, mode_cache_write, .page = 0x08,
                     .byte = 2, .bit = 2),
                .range = RANGE_BOOL,
                .order = 100, /* the kernel revalidates the disk afterwards */
                .summary = "volatile write cache",
        },
        {
                MODE("error_recovery", "RTL", "SBC-3 read-write error recovery mode page 01h, recovery time limit",
                     mode_read, mode_write, .page = 0x01, .timer = 10, .len = 2, .scale = 1),
                .range = RANGE_RECOVERY,
                .order = 130,
                .summary = "how long the drive tries to recover a sector before it reports an error (65.5 s at most; off: its own limit)",
        },
        { BIT("read_cache", 101, "whether reads may be answered from the drive's cache", "RCD",
              "caching mode page 08h, RCD (off sets it)", .page = 0x08, .byte = 2, .bit = 0, .disables = true) },
        { BIT("lookahead", 110, "the drive's own read-ahead", "DRA", "caching mode page 08h, DRA (off sets it)",
              .page = 0x08, .byte = 12, .bit = 5, .disables = true) },
        { BIT("auto_reallocate_write", 131, "whether the drive takes another sector for one that it cannot write", "AWRE",
              "read-write error recovery mode page 01h, AWRE", .page = 0x01, .byte = 2, .bit = 7),
          .harm = &no_reallocation_harm },
        { BIT("auto_reallocate_read", 132, "whether the drive takes another sector for one that it could hardly read", "ARRE",
              "read-write error recovery mode page 01h, ARRE", .page = 0x01, .byte = 2, .bit = 6) },
        CONDITION("idle_a", "IDLE_A=1,IACT=…", 200, 3, 1, 4),
        CONDITION("idle_b", "IDLE_B=1,IBCT=…", 201, 3, 2, 12),
        CONDITION("idle_c", "IDLE_C=1,ICCT=…", 202, 3, 3, 16),
        CONDITION("standby_y", "STANDBY_Y=1,SYCT=…", 203, 2, 0, 20),
        CONDITION("standby_z", "STANDBY_Z=1,SZCT=…", 204, 3, 0, 8),
        {},
};
/* clang-format on */
