/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "macro.h"
#include "power-mode.h"

const char *power_mode_to_string(PowerMode m) {
        static const char *const table[] = {
                [POWER_AWAKE] = "active/idle",
                [POWER_STANDBY] = "standby",
                [POWER_SUSPENDED] = "suspended",
                [POWER_ASLEEP] = "sleep",
        };

        return m >= 0 && (size_t) m < ELEMENTSOF(table) ? table[m] : NULL;
}
