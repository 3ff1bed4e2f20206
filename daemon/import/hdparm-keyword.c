/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "hdparm-keyword.h"

/* clang-format off */
static const Keyword keywords[] = {
        { "read_ahead_sect",          false, 'a', "read_ahead_sect"          },
        { "lookahead",                false, 'A', "lookahead"                },
        { "bus",                      false, 'b', "bus"                      },
        { "apm",                      false, 'B', "apm"                      },
        { "apm_battery",              false, 0,   "apm_battery"              },
        { "io32_support",             false, 'c', "io32_support"             },
        { "dma",                      false, 'd', "dma"                      },
        { "defect_mana",              false, 'D', "defect_mana"              },
        { "cd_speed",                 false, 'E', "cd_speed"                 },
        { "mult_sect_io",             false, 'm', "mult_sect_io"             },
        { "prefetch_sect",            false, 'P', "prefetch_sect"            },
        { "read_only",                false, 'r', "read_only"                },
        { "write_read_verify",        false, 'R', "write_read_verify"        },
        { "spindown_time",            false, 'S', "spindown_time"            },
        { "force_spindown_time",      false, 0,   "spindown_time"            },
        { "poweron_standby",          false, 's', "poweron_standby"          },
        { "interrupt_unmask",         false, 'u', "interrupt_unmask"         },
        { "write_cache",              false, 'W', "write_cache"              },
        { "transfer_mode",            false, 'X', "transfer_mode"            },
        { "acoustic_management",      false, 'M', "acoustic_management"      },
        { "keep_settings_over_reset", false, 'k', "keep_settings_over_reset" },
        { "keep_features_over_reset", false, 'K', "keep_features_over_reset" },
        { "chipset_pio_mode",         false, 'p', "chipset_pio_mode"         },
        { "ROOTFS",                   false, 0,   NULL                       },
        { "quiet",                    true,  0,   NULL                       },
        { "standby",                  true,  0,   "standby"                  },
        { "sleep",                    true,  0,   "sleep"                    },
        { "disable_seagate",          true,  'Z', "disable_seagate"          },
        { "security_freeze",          true,  0,   "security_freeze"          },
        { "queue_depth",              false, 'Q', "queue_depth"              },
};
/* clang-format on */

const Keyword *keyword_find(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(keywords); i++)
                if (streq(keywords[i].name, name))
                        return &keywords[i];

        return NULL;
}

const Keyword *keyword_find_letter(char letter) {
        for (size_t i = 0; i < ELEMENTSOF(keywords); i++)
                if (keywords[i].letter == letter)
                        return &keywords[i];

        return NULL;
}
