/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Source: hdparm_options in Debian's /lib/hdparm/hdparm-functions (9.65+ds-1). */

#include "debian-keyword.h"

/* clang-format off */
static const DebianKeyword keywords[] = {
        { "read_ahead_sect",          KEYWORD_TEXT,    "-a", "read_ahead_sect"          },
        { "lookahead",                KEYWORD_BOOLEAN, "-A", "lookahead"                },
        { "bus",                      KEYWORD_BOOLEAN, "-b", "bus"                      },
        { "apm",                      KEYWORD_TEXT,    "-B", "apm", KEYWORD_ON_MAINS    },
        { "apm_battery",              KEYWORD_TEXT,    "-B", "apm_battery", KEYWORD_ON_BATTERY },
        { "io32_support",             KEYWORD_TEXT,    "-c", "io32_support"             },
        { "dma",                      KEYWORD_BOOLEAN, "-d", "dma"                      },
        { "defect_mana",              KEYWORD_BOOLEAN, "-D", "defect_mana"              },
        { "cd_speed",                 KEYWORD_TEXT,    "-E", "cd_speed"                 },
        { "mult_sect_io",             KEYWORD_TEXT,    "-m", "mult_sect_io" },
        { "prefetch_sect",            KEYWORD_TEXT,    "-P", "prefetch_sect"            },
        { "read_only",                KEYWORD_BOOLEAN, "-r", "read_only"                },
        { "write_read_verify",        KEYWORD_BOOLEAN, "-R", "write_read_verify"        },
        { "spindown_time",            KEYWORD_TEXT,    "-S", "spindown_time"            },
        { "force_spindown_time",      KEYWORD_TEXT,    "force_spindown_time", "spindown_time" },
        { "poweron_standby",          KEYWORD_BOOLEAN, "-s", "poweron_standby" },
        { "interrupt_unmask",         KEYWORD_BOOLEAN, "-u", "interrupt_unmask"         },
        { "write_cache",              KEYWORD_BOOLEAN, "-W", "write_cache"              },
        { "transfer_mode",            KEYWORD_TEXT,    "-X", "transfer_mode"            },
        { "acoustic_management",      KEYWORD_TEXT,    "-M", "acoustic_management"      },
        { "keep_settings_over_reset", KEYWORD_BOOLEAN, "-k", "keep_settings_over_reset" },
        { "keep_features_over_reset", KEYWORD_BOOLEAN, "-K", "keep_features_over_reset" },
        { "chipset_pio_mode",         KEYWORD_TEXT,    "-p", "chipset_pio_mode"         },
        { "security_unlock",          KEYWORD_SECRET,  "--security-unlock",   NULL      },
        { "security_pass",            KEYWORD_SECRET,  "--security-set-pass", NULL      },
        { "security_disable",         KEYWORD_SECRET,  "--security-disable",  NULL      },
        { "user-master",              KEYWORD_SECRET,  "--user-master",       NULL      },
        { "security_mode",            KEYWORD_SECRET,  "--security-mode",     NULL      },
        { "ROOTFS",                   KEYWORD_TEXT,    NULL, NULL                       },
        { "quiet",                    KEYWORD_FLAG,    NULL, NULL                       },
        { "standby",                  KEYWORD_FLAG,    "-y", "standby"                  },
        { "sleep",                    KEYWORD_FLAG,    "-Y", "sleep"                    },
        { "disable_seagate",          KEYWORD_FLAG,    "-Z", "disable_seagate"          },
        { "security_freeze",          KEYWORD_FLAG,    "--security-freeze", "security_freeze" },
};
/* clang-format on */

const DebianKeyword *debian_keyword(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(keywords); i++)
                if (streq(keywords[i].name, name))
                        return &keywords[i];

        return NULL;
}
