/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "ata.h"
#include "plan.h"

void ata_reading_level(Reading *r, const Setting *s, uint32_t level) {
        r->value.number = level;
        if (r->value.number != s->range.off)
                return;

        r->value = (Value){ .type = VALUE_NAME };
        (void) snprintf(r->value.name, sizeof r->value.name, "%" PRIu32, level);
}

static bool all_set(const Device *d, const IdentifyField *f) {
        while (f->word != 0 && identify_field(d->identify, f) != 0)
                f++;
        return f->word == 0;
}

int ata_feature_read(Device *d, const Setting *s, Reading *ret) {
        const AtaFeature *f = s->detail;
        bool enabled;
        int r;

        r = ata_identify(d);
        if (r < 0)
                return r;

        *ret = (Reading){
                .supported = all_set(d, f->supported),
                .value = { .type = s->range.type, .number = s->range.off },
                .saved.type = s->range.type,
        };
        if (!ret->supported)
                /* A drive before ATA-4 says nothing of its features, and may have it. */
                ret->known = identify_word_valid(d->identify, 83) && identify_word_valid(d->identify, 87);
        if (!ret->supported || f->enabled[0].word == 0)
                return 0;

        /* A bridge may have answered IDENTIFY from its memory. */
        ret->repeated = d->bridge.repeats_identify || (d->drive->transport == TRANSPORT_USB && d->identify_repeated);
        ret->known = !d->bridge.repeats_identify && identify_word_valid(d->identify, f->enabled[0].word);

        enabled = all_set(d, f->enabled);
        if (s->range.type == VALUE_BOOL)
                ret->value.number = enabled;
        /* The level counts only while the feature is enabled. */
        else if (enabled && f->level.word != 0)
                ata_reading_level(ret, s, identify_field(d->identify, &f->level));
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
