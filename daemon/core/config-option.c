/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config-option.h"

/* clang-format off */
const ConfigOption config_options[] = {
        { "fsck_wait", { .type = VALUE_DURATION, .min = 1000, .max = INT64_C(24) * 3600 * 1000 },
          offsetof(Config, fsck_wait_ms) },
        {}
};
/* clang-format on */
