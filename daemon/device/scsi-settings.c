/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Settings stored in a SCSI drive's mode pages. A field is read from the current page. To write the field, the whole page is sent back with
 * the field changed, if the page of changeable values allows the change. The setting `standby` is not in a mode page: it spins the drive
 * down. */

#include <assert.h>

#include "cache.h"
#include "settings.h"
#include "sg-io.h"
#include "power-mode.h"

typedef struct ModeField {
        uint8_t page;
        uint8_t byte, bit;  /* position of the enable bit; 0, 0: no enable bit */
        uint8_t timer, len; /* offset and length of a big-endian number; len 0: no number */
        uint8_t scale;      /* milliseconds per unit of the number */
        bool disables;      /* the bit is set for "off"; a field with this bit has no number */
} ModeField;

#define MODE_DATA_MAX 252U

enum {
        SYNCHRONIZE_CACHE_10 = 0x35,
        MODE_SELECT_6 = 0x15,
        MODE_SENSE_6 = 0x1A,
        MODE_SELECT_10 = 0x55,
        MODE_SENSE_10 = 0x5A,
};

#define PAGE_FORMAT 0x10
#define SAVE_PAGES 0x01
#define NO_BLOCK_DESCRIPTORS 0x08
#define PARAMETERS_SAVEABLE 0x80
#define SUBPAGE_FORMAT 0x40

typedef enum ModeControl {
        MODE_CURRENT = 0,
        MODE_CHANGEABLE = 1, /* mask: 1 for each bit of the page that can be changed */
        MODE_SAVED = 3,      /* values after the next power-on */
} ModeControl;

typedef struct ModePage {
        uint8_t bytes[254]; /* page with its header of two bytes; the PS bit is cleared */
        size_t len;
        bool saveable;          /* the PS bit: the drive can save the page */
        bool six_byte_commands; /* the drive supports only 6-byte commands */
} ModePage;

/* Finds the page in the answer, after the header and unrequested block descriptors. Fails if the page is longer than the data received,
 * because bytes beyond that data must not be written back. */
static int mode_page_find(Device *d, const SgRequest *q, uint8_t page, ModePage *ret) {
        bool six_byte = q->cdb_len == 6;
        const uint8_t *data = q->data;
        size_t header = six_byte ? 4 : 8, total = six_byte ? data[0] + 1U : (data[0] << 8 | data[1]) + 2U;
        size_t at = header + (six_byte ? data[3] : (unsigned) (data[6] << 8 | data[7])), len;

        total = MIN(total, sg_received(q));
        if (at + 2 > total || (data[at] & 0x3F) != page || (data[at] & SUBPAGE_FORMAT))
                return device_fail(d, -EBADMSG, "the drive answered MODE SENSE without page %02Xh", page);

        len = data[at + 1] + 2U;
        if (at + len > total || len > sizeof ret->bytes)
                return device_fail(d, -EBADMSG, "the drive answered MODE SENSE with only a part of page %02Xh", page);

        *ret = (ModePage){ .len = len, .saveable = data[at] & PARAMETERS_SAVEABLE, .six_byte_commands = six_byte };
        memcpy(ret->bytes, data + at, len);
        ret->bytes[0] &= 0x3F;
        return 0;
}

/* Reads the field's page without block descriptors. END_UNSUPPORTED: the drive has no such page, or the page is too short. */
static int mode_sense(Device *d, const ModeField *f, ModeControl control, ModePage *ret) {
        uint8_t data[MODE_DATA_MAX] = {};
        SgRequest q = {
                .cdb = { MODE_SENSE_10, NO_BLOCK_DESCRIPTORS, control << 6 | f->page, [8] = sizeof data },
                .cdb_len = 10,
                .data = data,
                .data_len = sizeof data,
                .timeout_ms = SG_TIMEOUT_MS,
        };
        int r;

        r = scsi_command(d, &q);
        if (r == END_REFUSED && sg_is_illegal(&q, ASC_INVALID_OPCODE)) {
                q.cdb[0] = MODE_SENSE_6;
                q.cdb[4] = sizeof data;
                q.cdb[8] = 0;
                q.cdb_len = 6;
                memset(data, 0, sizeof data);
                r = scsi_command(d, &q);
        }
        if (r == END_REFUSED && (sg_is_illegal(&q, ASC_INVALID_OPCODE) || sg_is_illegal(&q, ASC_INVALID_FIELD_IN_CDB) ||
                                 sg_is_illegal(&q, ASC_SAVING_NOT_SUPPORTED)))
                return device_fail(d, END_UNSUPPORTED, "the drive has no %smode page %02Xh",
                                   control == MODE_SAVED ? "saved " : "", f->page);
        if (r < 0)
                return r;

        r = mode_page_find(d, &q, f->page, ret);
        if (r >= 0 && ret->len < MAX((size_t) f->timer + f->len, f->byte + 1U))
                return device_fail(d, END_UNSUPPORTED, "the drive's mode page %02Xh is too short for this setting",
                                   f->page);
        return r;
}

/* Sends the page by MODE SELECT. Sets the SP bit (save pages) only if the user requests saving and the page is saveable. SP is an error for
 * a page that is not saveable (SPC-4). */
static int mode_select(Device *d, const ModePage *page) {
        bool six_byte = page->six_byte_commands;
        size_t header = six_byte ? 4 : 8, len = header + page->len;
        uint8_t data[8 + sizeof page->bytes] = {};
        SgRequest q = {
                .cdb = { six_byte ? MODE_SELECT_6 : MODE_SELECT_10,
                         PAGE_FORMAT | (d->save && page->saveable ? SAVE_PAGES : 0) },
                .cdb_len = six_byte ? 6 : 10,
                .to_device = true,
                .data = data,
                .data_len = len,
                /* A command that turns the write cache off also flushes the cache. */
                .timeout_ms = SG_TIMEOUT_FLUSH_MS,
        };

        assert(page->len <= sizeof page->bytes);
        /* The header remains zero: length, medium type and block descriptors are reserved or ignored by drives. */
        memcpy(data + header, page->bytes, page->len);
        if (!six_byte)
                q.cdb[7] = len >> 8;
        q.cdb[six_byte ? 4 : 8] = len;
        return scsi_command(d, &q);
}

/* Flushes the cache for the whole medium. */
static int scsi_synchronize_cache(Device *d) {
        SgRequest q = {
                .cdb = { SYNCHRONIZE_CACHE_10 },
                .cdb_len = 10,
                .timeout_ms = SG_TIMEOUT_FLUSH_MS,
        };

        return scsi_command(d, &q);
}

static Value field_get(const Setting *s, const ModePage *p) {
        const ModeField *f = s->detail;
        bool enabled = f->byte == 0 || (p->bytes[f->byte] & 1U << f->bit);
        Value v = { .type = s->range.type };

        if (f->len == 0)
                v.number = enabled != f->disables;
        else if (!enabled)
                v.number = s->range.off;
        else {
                for (size_t i = 0; i < f->len; i++)
                        v.number = v.number << 8 | p->bytes[f->timer + i];
                v.number *= f->scale;
                /* A timer of 0 that is enabled is not "off". The value -1 differs from every configurable value. */
                if (f->byte > 0 && v.number == s->range.off)
                        v.number = -1;
        }
        return v;
}

static void field_set(const Setting *s, const Value *v, ModePage *p) {
        const ModeField *f = s->detail;
        bool enable = f->len == 0 ? (bool) v->number != f->disables : v->number != s->range.off;
        uint64_t n = v->number / MAX(f->scale, 1);

        if (f->byte > 0) {
                p->bytes[f->byte] &= ~(1U << f->bit);
                p->bytes[f->byte] |= enable << f->bit;
        }

        /* Turning a timer off leaves its time unchanged. */
        for (size_t i = 0; i < f->len && (enable || f->byte == 0); i++)
                p->bytes[f->timer + i] = n >> 8 * (f->len - 1 - i);
}

static int mode_read(Device *d, const Setting *s, Reading *ret) {
        const ModeField *f = s->detail;
        ModePage now = {}, saved;
        int r;

        r = mode_sense(d, f, MODE_CURRENT, &now);
        if (r == END_UNSUPPORTED)
                return device_fail_with_remedy(d, s);
        if (r < 0)
                return r;

        *ret = (Reading){ .supported = true, .known = true, .value = field_get(s, &now) };
        if (!d->permanent || !now.saveable)
                return 0;

        r = mode_sense(d, f, MODE_SAVED, &saved);
        ret->saved_known = r >= 0;
        if (r >= 0)
                ret->saved = field_get(s, &saved);
        return r == END_UNSUPPORTED || r == END_REFUSED ? 0 : r;
}

/* Writes the field, provided that the drive allows a change of each bit that must change. Returns the sent page in *ret. */
static int mode_write_page(Device *d, const Setting *s, const Value *v, ModePage *ret) {
        const ModeField *f = s->detail;
        ModePage now = {}, mask = {};
        int r;

        if (f->len > 0 && v->number / f->scale >> 8 * f->len > 0)
                return device_fail(d, END_REFUSED, "the time is too long for mode page %02Xh of SCSI drives", f->page);

        r = mode_sense(d, f, MODE_CURRENT, &now);
        if (r >= 0)
                r = mode_sense(d, f, MODE_CHANGEABLE, &mask);
        if (r < 0)
                return r;

        *ret = now;
        field_set(s, v, ret);
        for (size_t i = 2; i < MIN(now.len, mask.len); i++)
                if ((now.bytes[i] ^ ret->bytes[i]) & ~mask.bytes[i])
                        return device_fail(d, END_REFUSED, "the drive does not allow this change (mode page %02Xh)",
                                           f->page);
        return mode_select(d, ret);
}

static int mode_write(Device *d, const Setting *s, const Value *v) {
        return mode_write_page(d, s, v, &(ModePage){});
}

static int mode_cache_read(Device *d, const Setting *s, Reading *ret) {
        int r = mode_read(d, s, ret);

        if (r >= 0)
                cache_check_kernel_view(d, ret);
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

        /* Reuses the accepted page, because another read could fail now. */
        field_set(s, &VALUE_BOOLEAN(false), &page);
        r = mode_select(d, &page);
        if (r >= 0)
                r = scsi_synchronize_cache(d);
        return r < 0 ? r : cache_fail_turned_off(d);
}

/* Always fails with END_UNSUPPORTED and a remedy, because SCSI drives have no timer for spindown_time. */
static int spindown_fail_read(Device *d, const Setting *s, Reading *ret _unused_) {
        d->failure.why[0] = '\0';
        return device_fail_with_remedy(d, s);
}

/* Not reached, because every read of spindown_time fails first. */
static int spindown_fail_write(Device *d, const Setting *s, const Value *v _unused_) {
        return spindown_fail_read(d, s, &(Reading){});
}

static const Harm no_reallocation_harm = {
        .scope = HARM_ANY,
        .why = "without reallocation a write to a bad sector fails, and a file system on the drive stops; leave it on",
};

static const Remedy scsi_timer_remedy = {
        "SCSI drives have standby_z instead of this timer; spindown_by = \"service\" makes the service spin the drive down",
        { "standby_z", "standby_y" },
};

/* clang-format off */
/* Members common to all settings in mode pages. The arguments after `write_` are members of ModeField. */
#define MODE(key, order_, what, field, from, read_, write_, ...) \
        .name = key, .backend = BACKEND_SCSI_MODE, .flags = SETTING_SAVEABLE, .order = order_, .summary = what, \
        .equivalent = "sdparm --set " field, .lost_by = "power, reset; unless saved", .source = from, \
        .read = read_, .write = write_, .detail = &(const ModeField) { __VA_ARGS__ }

#define BIT(key, order_, what, field, from, ...) \
        MODE(key, order_, what, field, "SBC-3 " from, mode_read, mode_write, __VA_ARGS__), .range = RANGE_BOOL

#define CONDITION(key, brief_, field, order_, byte_, bit_, timer_, ...) \
        { .brief = brief_, MODE(key, order_, "idle time before the drive enters " key, field, \
               "SPC-4 power condition mode page 1Ah", mode_read, mode_write, .page = 0x1A, .byte = byte_, .bit = bit_, .timer = timer_, .len = 4, .scale = 100), \
          .range = { .type = VALUE_DURATION, .min = 100, .max = 0xFFFFFFFFLL * 100, .step = 100, .has_off = true }, __VA_ARGS__ }

const Setting scsi_settings[] = {
        /* Written first, because the kernel revalidates the disk after this write. */
        { .brief = "the drive's write cache", .also = "wce vwc wcache write_caching write_back_cache write_cache_enabled ata_write_cache_enabled",
          MODE("write_cache", 100, "volatile write cache", "WCE", "SBC-3 caching mode page 08h, WCE",
               mode_cache_read, mode_cache_write, .page = 0x08, .byte = 2, .bit = 2),
          .range = RANGE_BOOL },
        { .brief = "how long to retry a bad sector", .also = "scterc sct_erc erc tler cctl rtl error_recovery_control time_limited_error_recovery",
          MODE("error_recovery", 130,
               "how long the drive tries to recover a sector before it reports an error (65.5 s at most; off: its own limit)",
               "RTL", "SBC-3 read-write error recovery mode page 01h, recovery time limit",
               mode_read, mode_write, .page = 0x01, .timer = 10, .len = 2, .scale = 1),
          .range = RANGE_RECOVERY,
          .remedy = &recovery_remedy },
        { .brief = "read from the drive's cache", .also = "rcd rcache",
          BIT("read_cache", 101, "whether the drive may answer reads from its cache", "RCD",
              "caching mode page 08h, RCD (off sets it)", .page = 0x08, .byte = 2, .bit = 0, .disables = true) },
        { .brief = "the drive's own read-ahead", .also = "dra read_lookahead read_look_ahead read_lookahead_enabled ata_read_lookahead_enabled",
          BIT("lookahead", 110, "the drive's own read-ahead", "DRA", "caching mode page 08h, DRA (off sets it)",
              .page = 0x08, .byte = 12, .bit = 5, .disables = true) },
        { .brief = "replace unwritable sectors", .also = "awre",
          BIT("auto_reallocate_write", 131, "whether the drive replaces a sector that it cannot write", "AWRE",
              "read-write error recovery mode page 01h, AWRE", .page = 0x01, .byte = 2, .bit = 7),
          .harm = &no_reallocation_harm },
        { .brief = "replace sectors hard to read", .also = "arre",
          BIT("auto_reallocate_read", 132, "whether the drive replaces a sector that it read only after retries", "ARRE",
              "read-write error recovery mode page 01h, ARRE", .page = 0x01, .byte = 2, .bit = 6) },
        CONDITION("idle_a", "idle time before light idle", "IDLE_A=1,IACT=...", 200, 3, 1, 4, .also = "iact"),
        CONDITION("idle_b", "idle time before heads park", "IDLE_B=1,IBCT=...", 201, 3, 2, 12, .also = "ibct"),
        CONDITION("idle_c", "idle time before slower rotation", "IDLE_C=1,ICCT=...", 202, 3, 3, 16, .also = "icct"),
        CONDITION("standby_y", "idle time before light standby", "STANDBY_Y=1,SYCT=...", 203, 2, 0, 20, .also = "syct", .spins_down = true, .remedy = &by_service_remedy),
        CONDITION("standby_z", "idle time before full standby", "STANDBY_Z=1,SZCT=...", 204, 3, 0, 8, .also = "sct szct", .excludes = "spindown_time", .spins_down = true, .remedy = &by_service_remedy),
        { .brief = "idle time before spin-down", .also = "standby spindown_timeout spin_down spin_down_time standby_time standby_timer standby_timeout ata_pm_standby idle_time idle_timeout",
          .name = "spindown_time", .backend = BACKEND_SCSI_MODE, .order = 210, .lost_by = "nothing: the drive does not store it",
          .summary = "idle time before the service spins the drive down, if the drive has no own timer", .equivalent = "hd-idle -i",
          .source = "SBC-3: no such timer except those of the power conditions",
          .range = RANGE_TIMER,
          .spins_down = true,
          .remedy = &scsi_timer_remedy,
          .flags = SETTING_UNREADABLE | SETTING_STANDBY_SAFE | SETTING_READ_SAFE | SETTING_ABSENT,
          .read = spindown_fail_read, .write = spindown_fail_write },
        { KEEP_ACTIVE_ROW(BACKEND_SCSI_MODE) },
        /* Written last, because later commands would spin the drive up. */
        { .brief = "spin down once when attached",
          .name = "standby", .backend = BACKEND_SCSI_MODE, .order = 900, .lost_by = "the first access",
          .summary = "spin the drive down when it is attached; \"resume\": also after each resume of the machine", .equivalent = "sg_start --pc=3",
          .source = "SBC-3 START STOP UNIT 1Bh; SPC-4 REQUEST SENSE 03h",
          .range = RANGE_STANDBY,
          .localize = standby_localize,
          .flags = SETTING_AT_ATTACH | SETTING_STANDBY_SAFE | SETTING_READ_SAFE,
          .read = standby_read, .write = standby_write },
        {},
};
/* clang-format on */
