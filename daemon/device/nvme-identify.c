/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "nvme-identify.h"

static uint16_t word(const uint8_t *p) {
        return (uint16_t) (p[0] | p[1] << 8);
}

NvmeController nvme_controller_parse(const uint8_t id[static NVME_IDENTIFY_SIZE]) {
        NvmeController c = {
                .valid = true,
                .save_features = word(id + 520) & 1 << 4,
                .write_cache = id[525] & 1,
                .apst = id[265] & 1,
                .thermal = word(id + 322) & 1,
                .power_states = MIN(id[263], (uint8_t) 31),
                .warning = word(id + 266),
                .thermal_min = word(id + 324),
                .thermal_max = word(id + 326),
        };

        /* The power state descriptors, of 32 bytes each. */
        for (unsigned i = 0; i <= c.power_states; i++)
                if (id[2048 + 32 * i + 3] & 1 << 1)
                        c.idle_states |= 1U << i;

        return c;
}
