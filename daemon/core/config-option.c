/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config-option.h"
#include "macro.h"

static const ValueWord on_drift_words[] = {
        { "report", ON_DRIFT_REPORT },
        { "restore", ON_DRIFT_RESTORE },
        {},
};

uint64_t config_option_number(const ConfigOption *o, const Value *v) {
        for (const ValueWord *w = o->range.words; v->type == VALUE_NAME && w->word; w++)
                if (streq(w->word, v->name))
                        return (uint64_t) w->number;

        return (uint64_t) v->number;
}

/* clang-format off */
const ConfigOption config_options[] = {
        { "fsck_wait", { .type = VALUE_DURATION, .min = 1000, .max = INT64_C(24) * 3600 * 1000 },
          offsetof(Config, fsck_wait_ms) },
        { "recheck", { .type = VALUE_DURATION, .min = 60 * 1000, .max = INT64_C(7) * 24 * 3600 * 1000, .has_off = true },
          offsetof(Config, recheck_ms) },
        { "on_drift", { .type = VALUE_NAME, .words = on_drift_words }, offsetof(Config, on_drift) },
        {}
};
/* clang-format on */

const ConfigOption *config_option_find(const char *name) {
        for (const ConfigOption *o = config_options; o->name; o++)
                if (streq(o->name, name))
                        return o;

        return NULL;
}
