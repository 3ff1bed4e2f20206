/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Settings of an ATA drive's write cache. A visit that turns the cache on makes sure that the kernel sends flushes. The kernel notices the
 * new state of the cache only some time after the command. The daemon itself flushes the data that programs wrote in the meantime. */

#include <stdio.h>

#include "ata.h"
#include "cache.h"
#include "settings.h"

static int write_cache_read(Device *d, const Setting *s, Reading *ret) {
        return ata_feature_read(d, s, ret) ?: cache_check_kernel_view(d, ret);
}

static int cache_flush(Device *d) {
        bool ext = identify_bit(d->identify, 83, 13);
        Taskfile tf = {
                .command = ext ? ATA_CMD_FLUSH_CACHE_EXT : ATA_CMD_FLUSH_CACHE,
                .ext = ext,
                .timeout_ms = SG_TIMEOUT_FLUSH_MS,
        };

        return ata_command(d, &tf, NULL);
}

/* Feature codes of SCT Feature Control, and states of the write cache. */
enum {
        SCT_WRITE_CACHE = 1,
        SCT_WRITE_CACHE_REORDERING = 2,

        SCT_CACHE_NORMAL = 1, /* SET FEATURES 02h/82h turns the cache on and off */
        SCT_CACHE_ON = 2,
        SCT_CACHE_OFF = 3,
};

static const ValueWord forced_words[] = {
        { "normal", SCT_CACHE_NORMAL }, { "on", SCT_CACHE_ON }, { "off", SCT_CACHE_OFF }, {}
};
static const ValueWord reordering_words[] = { { "on", 1 }, { "off", 2 }, {} };

/* Returns the names of the feature's SCT states. */
static const ValueWord *sct_states(const Setting *s) {
        return s->range.words ?: reordering_words;
}

static int sct_feature_read(Device *d, const Setting *s, Reading *ret) {
        const AtaFeature *f = s->detail;
        uint16_t state, options;
        int r;

        r = ata_feature_read(d, s, ret);
        if (r < 0)
                return r;
        if (!ret->supported) {
                /* On a drive without SCT Feature Control, write_cache alone decides whether the cache is on. The drive does not report
                 * whether it reorders writes. */
                ret->known = ret->known && s->inert;
                (void) snprintf(ret->value.name, sizeof ret->value.name, "%s", s->inert ?: "");
                return 0;
        }

        r = sct_get(d, SCT_GET_FEATURE, f->code, &state);
        if (r < 0)
                return r == -ENODATA ? 0 : r;

        for (const ValueWord *w = sct_states(s); w->word; w++)
                if (w->number == state) {
                        ret->known = true;
                        if (s->range.type == VALUE_NAME)
                                (void) snprintf(ret->value.name, sizeof ret->value.name, "%s", w->word);
                        else
                                ret->value.number = streq(w->word, "on");
                }
        if (!d->permanent || !ret->known)
                return 0;

        /* If the option SCT_FEATURE_SAVED is set, the current state is also the state after power-on. Otherwise the saved value is
         * "nothing", which cannot be configured and differs from every wanted value. */
        r = sct_get(d, SCT_GET_FEATURE_OPTIONS, f->code, &options);
        if (r == END_DEFERRED || r == END_VANISHED)
                return r;
        ret->saved_known = r >= 0;
        ret->saved = r >= 0 && (options & SCT_FEATURE_SAVED) ? ret->value
                                                             : (Value){ .type = VALUE_NAME, .name = "nothing" };
        return 0;
}

static int sct_feature_write(Device *d, const Setting *s, const Value *v) {
        const AtaFeature *f = s->detail;
        const char *word = v->type == VALUE_NAME ? v->name : v->number ? "on" : "off";
        const ValueWord *w = sct_states(s);

        while (!streq(w->word, word)) /* the parser accepts only words of this list */
                w++;
        return sct_command(d, SCT_SET_FEATURE, f->code, w->number, d->save ? SCT_FEATURE_SAVED : 0, NULL);
}

/* Turns the cache on or off by SET FEATURES, and waits until the kernel has noticed. -ETIME: the cache is on, and the kernel keeps
 * assuming write-through. */
static int cache_send(Device *d, bool enable) {
        Taskfile tf = { .command = ATA_CMD_SET_FEATURES, .feature = enable ? 0x02 : 0x82 };
        bool was_unknown = enable && cache_kernel_view(d) == 0;
        int r;

        r = ata_command(d, &tf, NULL);
        return r < 0 ? r : cache_settle(d, enable, was_unknown, cache_flush);
}

/* Turns the cache on or off, and off again if the kernel keeps assuming write-through. */
static int cache_set(Device *d, bool enable) {
        int r;

        r = cache_send(d, enable);
        if (r != -ETIME)
                return r;
        r = cache_send(d, false);
        return r < 0 ? r : cache_fail_turned_off(d);
}

static int write_cache_write(Device *d, const Setting *s _unused_, const Value *v) {
        bool has_sct = identify_bit(d->identify, 206, 0) && identify_bit(d->identify, 206, 4);
        uint16_t state = SCT_CACHE_NORMAL; /* the default if the state cannot be read */
        int r;

        r = has_sct ? sct_get(d, SCT_GET_FEATURE, SCT_WRITE_CACHE, &state) : 0;
        if (r == END_DEFERRED || r == END_VANISHED)
                return r;
        if (state != (v->number ? SCT_CACHE_OFF : SCT_CACHE_ON))
                return cache_set(d, v->number);

        /* No command is sent: while SCT forces the state of the cache, SET FEATURES would have no effect. */
        (void) snprintf(d->note, sizeof d->note,
                        "no effect: SCT Feature Control forces the write cache %s; set write_cache_forced = \"normal\" first",
                        v->number ? "off" : "on");
        return 0;
}

static int forced_read(Device *d, const Setting *s, Reading *ret) {
        return sct_feature_read(d, s, ret) ?: cache_check_kernel_view(d, ret);
}

/* Makes sure that the cache is off after forced_write() has failed with `r`: the cache may be on, and the kernel sends no flushes. */
static int forced_fail(Device *d, const Setting *s, int r) {
        int turned_off;

        turned_off = sct_feature_write(d, s, &(Value){ .type = VALUE_NAME, .name = "off" });
        if (turned_off >= 0)
                turned_off = cache_flush(d);
        if (r != -ETIME)
                return r;
        return turned_off < 0 ? turned_off : cache_fail_turned_off(d);
}

static int forced_write(Device *d, const Setting *s, const Value *v) {
        bool off = streq(v->name, "off");
        int r;

        r = sct_feature_write(d, s, v);
        if (r < 0)
                return r;

        /* The kernel does not notice SCT commands. A SET FEATURES command for the current state changes nothing in the drive, but makes the
         * kernel revalidate the cache. Until then the cache may be on without flushes by the kernel, so the visit must not stop here. */
        d->committed = true;
        device_refresh(d);
        r = ata_identify(d);
        /* If the wanted value is "on", SCT has forced the cache on, even if IDENTIFY still reports the state of an earlier SET FEATURES. */
        if (r >= 0)
                r = cache_send(d, streq(v->name, "on") || identify_bit(d->identify, 85, 5));
        if (r >= 0)
                return 0;
        if (off || cache_kernel_view(d) != 0)
                return r == -ETIME ? 0 : r;
        return forced_fail(d, s, r);
}

/* clang-format off */
#define SCT_FEATURE(key, read_, write_, order_, how, number, what, feature) \
        ATA_ROW(key, read_, write_, order_, "power, link reset; unless saved", how, "ACS-4 SCT Feature Control, feature " number, \
                what, .supported = { { 206, 0 }, { 206, 4 } }, .code = feature)

const Setting ata_cache_settings[] = {
        /* Written early, because SET FEATURES 02h/82h makes the kernel revalidate the disk. */
        { .brief = "the drive's write cache",
          ATA_ROW("write_cache", write_cache_read, write_cache_write, 100, LOST_WITHOUT_SSP, "hdparm -W",
                  "ACS-4 SET FEATURES 02h/82h",
                  "volatile write cache", .supported = { { 82, 5 } }, .enabled = { { 85, 5 } }),
          .range = RANGE_BOOL },
        { .brief = "override of write_cache (SCT)", .also = "wcache_sct",
          SCT_FEATURE("write_cache_forced", forced_read, forced_write, 95, "smartctl -s wcache-sct", "1",
                      "whether SCT overrides write_cache: on and off force the state, normal obeys write_cache", SCT_WRITE_CACHE),
          .range = { .type = VALUE_NAME, .words = forced_words },
          .flags = SETTING_SAVEABLE | SETTING_FIRST,
          .danger = "the drive then ignores cache commands of the kernel and of programs",
          .inert = "normal" },
        { .brief = "reorder cached writes", .also = "wcreorder wcache_reorder",
          SCT_FEATURE("write_cache_reordering", sct_feature_read, sct_feature_write, 105, "smartctl -s wcreorder", "2",
                      "whether the drive may write cached data in another order", SCT_WRITE_CACHE_REORDERING),
          .range = RANGE_BOOL,
          .flags = SETTING_SAVEABLE },
        {},
};
/* clang-format on */
