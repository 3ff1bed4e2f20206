/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "ata-identify.h"
#include "ata.h"
#include "plan.h"

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
        assert(d->identify_valid && r->supported);

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

        r = ata_reading(d, s, f->supported, ret);
        if (r <= 0 || f->enabled.word == 0)
                return MIN(r, 0);

        ret->known = identify_word_valid(d->identify, f->enabled.word);
        ata_reading_judge(d, ret);
        enabled = identify_bit(d->identify, f->enabled.word, f->enabled.bit);
        if (s->range.type == VALUE_BOOL)
                ret->value.number = enabled;
        /* The high byte may hold anything, and the low one counts only while the feature is enabled. */
        else if (enabled && f->level != 0)
                ata_reading_level(ret, s, d->identify[f->level] >> (f->level_high ? 8 : 0) & 0xFF);
        return 0;
}

int ata_feature_write(Device *d, const Setting *s, const Value *v) {
        const AtaFeature *f = s->detail;
        bool off = v->number == s->range.off;
        Taskfile tf = off ? f->off : f->on;

        if (off && f->no_off)
                return device_fail(d, STEP_UNSUPPORTED, "%s", f->no_off);

        if (tf.command == 0)
                tf.command = ATA_CMD_SET_FEATURES;
        if (!off && v->type != VALUE_BOOL)
                tf.count = v->number;
        return ata_command(d, &tf, NULL);
}
