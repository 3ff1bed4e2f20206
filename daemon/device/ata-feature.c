/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "ata-identify.h"
#include "ata.h"

void ata_reading_absent(const Device *d, Reading *r) {
        /* A drive before ATA-4 says nothing of its features, and may have it. */
        r->known = identify_word_valid(d->identify, 83) && identify_word_valid(d->identify, 87);
}

int ata_reading(Device *d, const Setting *s, const IdentifyBit *bits, Reading *ret) {
        int r;

        r = ata_identify(d);
        if (r < 0)
                return r;

        *ret = (Reading){
                .supported = true,
                .value = { .type = s->range.type, .number = s->range.off },
                .saved.type = s->range.type,
        };
        for (; bits->word != 0; bits++)
                ret->supported = ret->supported && identify_bit(d->identify, bits->word, bits->bit);
        if (!ret->supported)
                ata_reading_absent(d, ret);
        return ret->supported;
}

void ata_reading_judge(const Device *d, Reading *r) {
        assert(d->identify_state == IDENTIFY_VALID && r->supported);

        r->repeated = d->drive->transport == TRANSPORT_USB && d->identify_repeated;
        if (d->bridge.repeats_identify) {
                r->repeated = true;
                r->known = false;
        }
}

void ata_reading_level(Reading *r, const Setting *s, uint32_t level) {
        r->value.number = level;
        if (r->value.number != s->range.off)
                return;

        r->value = (Value){ .type = VALUE_NAME };
        (void) snprintf(r->value.name, sizeof r->value.name, "%" PRIu32, level);
}

int ata_feature_read(Device *d, const Setting *s, Reading *ret) {
        const AtaFeature *f = s->detail;
        bool enabled;
        int r;

        r = ata_reading(d, s, (const IdentifyBit[]){ f->supported, {} }, ret);
        if (r <= 0)
                return r;

        ret->known = identify_word_valid(d->identify, f->enabled.word);
        ata_reading_judge(d, ret);
        enabled = identify_bit(d->identify, f->enabled.word, f->enabled.bit);
        if (s->range.type == VALUE_BOOL)
                ret->value.number = enabled;
        /* The high byte may hold anything, and the low one counts only while the feature is enabled. */
        else if (enabled)
                ata_reading_level(ret, s, d->identify[f->level] >> (f->level_high ? 8 : 0) & 0xFF);
        return 0;
}

int ata_feature_write(Device *d, const Setting *s, const Value *v) {
        const AtaFeature *f = s->detail;

        if (v->type == VALUE_BOOL)
                return ata_set_features(d, v->number ? f->on : f->off, v->number ? f->on_count : f->off_count);
        if (v->number == s->range.off)
                return ata_set_features(d, f->off, f->off_count);
        return ata_set_features(d, f->on, v->number);
}
