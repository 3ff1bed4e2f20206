/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"
#include "settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(config_freep) Config *config = NULL;

        if (config_new(&config) >= 0)
                (void) config_parse(config, &all_settings, "fuzz", (const char *) data, size);
        return 0;
}
