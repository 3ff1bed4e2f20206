/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The write cache of an ATA drive, and what the kernel believes of it. After a visit the kernel never believes that there is no cache,
 * and sends no flushes, while the cache is on. The kernel looks only after the command: what is written in between is flushed by
 * the daemon. */

#include <stdio.h>

#include "ata-identify.h"
#include "ata.h"
#include "cache.h"
#include "plan.h"
#include "settings.h"

static int write_cache_read(Device *d, const Setting *s, Reading *ret) {
        int r;

        r = ata_feature_read(d, s, ret);
        if (r < 0)
                return r;

        cache_reading_judge(d, ret);
        return 0;
}

static int cache_flush(Device *d) {
        bool ext = identify_bit(d->identify, 83, 13);
        Taskfile tf = {
                .command = ext ? ATA_CMD_FLUSH_CACHE_EXT : ATA_CMD_FLUSH_CACHE,
                .ext = ext,
                .timeout_ms = SG_TIMEOUT_FLUSH_MS,
        };

        return ata_nondata(d, &tf, NULL);
}

/* By SET FEATURES, with what must go with it. Returns -ETIME when the kernel goes on believing that there is none over a
 * cache that is on. */
static int cache_set(Device *d, bool enable) {
        bool was_unknown = enable && cache_kernel_view(d) == 0;
        int r;

        r = ata_set_features(d, enable ? 0x02 : 0x82, 0);
        if (r < 0)
                return r;

        return cache_settle(d, enable, was_unknown, cache_flush);
}

/* 1: the drive would accept the command and do nothing, and the note says so. 0: it would not, or that cannot be read. */
static int is_forced_otherwise(Device *d, bool enable) {
        uint16_t state;
        int r;

        if (!sct_has_features(d))
                return 0;

        r = sct_feature_get(d, SCT_WRITE_CACHE, &state);
        if (r == STEP_DEFERRED || r == STEP_VANISHED)
                return r;
        if (r < 0 || state != (enable ? SCT_CACHE_OFF : SCT_CACHE_ON))
                return 0;

        (void) snprintf(d->note, sizeof d->note,
                        "the drive's cache is forced %s (SCT Feature Control), so that it takes no notice of this; "
                        "write_cache_forced = \"normal\" ends that",
                        enable ? "off" : "on");
        return 1;
}

static int write_cache_write(Device *d, const Setting *s _unused_, const Value *v) {
        int r;

        r = is_forced_otherwise(d, v->number);
        if (r != 0)
                return MIN(r, 0);

        r = cache_set(d, v->number);
        if (r == -ETIME) {
                r = cache_set(d, false);
                return r < 0 ? r : cache_was_turned_off(d);
        }
        return r;
}

static const ValueWord forced_words[] = {
        { "normal", SCT_CACHE_NORMAL }, { "on", SCT_CACHE_ON }, { "off", SCT_CACHE_OFF }, {}
};

/* The state of a feature after each power-on: the present one, if that is saved. Else "nothing", which no file can ask for, so that it
 * equals no wish. */
static int read_saved(Device *d, SctFeature feature, Reading *ret) {
        bool saved;
        int r;

        r = sct_feature_is_saved(d, feature, &saved);
        if (r == STEP_DEFERRED || r == STEP_VANISHED)
                return r;

        ret->saved_known = r >= 0;
        ret->saved = r >= 0 && saved ? ret->value : (Value){ .type = VALUE_NAME, .name = "nothing" };
        return 0;
}

/* The state, with `supported` and `known` filled in; 0 when there is none. */
static int read_state(Device *d, const Setting *s, SctFeature feature, Reading *ret, uint16_t *ret_state) {
        int r;

        *ret_state = 0;
        r = ata_identify(d);
        if (r < 0)
                return r;

        *ret = (Reading){ .supported = sct_has_features(d), .value.type = s->range.type };
        if (!ret->supported)
                return 0;

        r = sct_feature_get(d, feature, ret_state);
        return r == -ENODATA ? 0 : r;
}

static int forced_read(Device *d, const Setting *s, Reading *ret) {
        uint16_t state;
        int r;

        r = read_state(d, s, SCT_WRITE_CACHE, ret, &state);
        if (r < 0)
                return r;
        if (!ret->supported) {
                (void) strcpy(ret->value.name, "normal");
                ata_reading_absent(d, ret);
                return 0;
        }

        for (const ValueWord *w = forced_words; w->word; w++)
                if (w->number == state) {
                        ret->known = true;
                        (void) snprintf(ret->value.name, sizeof ret->value.name, "%s", w->word);
                }

        r = d->permanent && ret->known ? read_saved(d, SCT_WRITE_CACHE, ret) : 0;
        if (state == SCT_CACHE_ON && cache_kernel_view(d) == 0)
                (void) snprintf(ret->value.name, sizeof ret->value.name, "%s", CACHE_UNKNOWN_TO_KERNEL);
        return r;
}

static int forced_write(Device *d, const Setting *s _unused_, const Value *v) {
        uint16_t state = SCT_CACHE_NORMAL;
        bool enabled;
        int r;

        for (const ValueWord *w = forced_words; w->word; w++)
                if (streq(w->word, v->name))
                        state = w->number;

        r = sct_feature_set(d, SCT_WRITE_CACHE, state, d->save);
        if (r < 0)
                return r;

        /* The kernel knows nothing of SCT. SET FEATURES that asks for what is so already changes nothing in the drive, and
         * makes the kernel look. */
        device_refresh(d);
        r = ata_identify(d);
        if (r < 0)
                return r;
        /* Forced on it is on, whatever IDENTIFY says of what SET FEATURES had asked for. */
        enabled = state == SCT_CACHE_ON || identify_bit(d->identify, 85, 5);
        r = cache_set(d, enabled);
        if (r != -ETIME)
                return r;

        r = sct_feature_set(d, SCT_WRITE_CACHE, SCT_CACHE_OFF, d->save);
        return r < 0 ? r : cache_was_turned_off(d);
}

static int reordering_read(Device *d, const Setting *s, Reading *ret) {
        uint16_t state;
        int r;

        r = read_state(d, s, SCT_WRITE_CACHE_REORDERING, ret, &state);
        if (r < 0)
                return r;

        ret->known = state == 1 || state == 2;
        ret->value.number = state == 1;
        return d->permanent && ret->known ? read_saved(d, SCT_WRITE_CACHE_REORDERING, ret) : 0;
}

static int reordering_write(Device *d, const Setting *s _unused_, const Value *v) {
        return sct_feature_set(d, SCT_WRITE_CACHE_REORDERING, v->number ? 1 : 2, d->save);
}

/* clang-format off */
const Setting ata_cache_settings[] = {
        {
                ATA_ROW("write_cache", write_cache_read, write_cache_write, .supported = { { 82, 5 } }, .enabled = { 85, 5 }),
                .range = RANGE_BOOL,
                .order = 100, /* the kernel revalidates the disk afterwards */
                .summary = "volatile write cache",
                .equivalent = "hdparm -W",
                .lost_by = LOST_WITHOUT_SSP,
                .source = "ACS-4 SET FEATURES 02h/82h",
        },
        {
                .name = "write_cache_forced",
                .backend = BACKEND_ATA,
                .range = { .type = VALUE_NAME, .words = forced_words },
                .flags = SETTING_SAVEABLE | SETTING_FIRST,
                .order = 95,
                .summary = "the drive's own rule for its write cache: normal obeys write_cache, on and off do not",
                .equivalent = "smartctl -s wcache-sct",
                .lost_by = "power, link reset; unless saved",
                .source = "ACS-4 SCT Feature Control, feature 1",
                .danger = "the drive then takes no notice of what kernel and programs ask of its cache",
                .inert = "normal",
                .read = forced_read,
                .write = forced_write,
        },
        {
                .name = "write_cache_reordering",
                .backend = BACKEND_ATA,
                .range = RANGE_BOOL,
                .flags = SETTING_SAVEABLE,
                .order = 105,
                .summary = "whether the drive may write what is in its cache in another order",
                .equivalent = "smartctl -s wcreorder",
                .lost_by = "power, link reset; unless saved",
                .source = "ACS-4 SCT Feature Control, feature 2",
                .read = reordering_read,
                .write = reordering_write,
        },
        {},
};
/* clang-format on */
