/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* hdparm's flags, as its main() reads them (9.65): letters may stand together, a number behind its letter or alone. */

#include <ctype.h>
#include <strings.h>

#include "command.h"

/* clang-format off */
/* hdparm.8 and hdparm.conf.5 of 9.65 */
static const Keyword keywords[] = {
        { "read_ahead_sect",          false, 'a', 2048, "read_ahead_sect"          },
        { "lookahead",                false, 'A', 1,    "lookahead"                },
        { "bus",                      false, 'b', 2,    "bus"                      },
        { "apm",                      false, 'B', 255,  "apm"                      },
        { "apm_battery",              false, 0,   0,    "apm_battery"              },
        { "io32_support",             false, 'c', 3,    "io32_support"             },
        { "dma",                      false, 'd', 1,    "dma"                      },
        { "defect_mana",              false, 'D', 1,    "defect_mana"              },
        { "cd_speed",                 false, 'E', 255,  "cd_speed"                 },
        { "mult_sect_io",             false, 'm', 64,   "mult_sect_io"             },
        { "prefetch_sect",            false, 'P', 255,  "prefetch_sect"            },
        { "read_only",                false, 'r', 1,    "read_only"                },
        { "write_read_verify",        false, 'R', 3,    "write_read_verify"        },
        { "spindown_time",            false, 'S', 255,  "spindown_time"            },
        { "force_spindown_time",      false, 0,   0,    "spindown_time"            },
        { "poweron_standby",          false, 's', 1,    "poweron_standby"          },
        { "interrupt_unmask",         false, 'u', 1,    "interrupt_unmask"         },
        { "write_cache",              false, 'W', 1,    "write_cache"              },
        { "transfer_mode",            false, 'X', 0,    "transfer_mode"            },
        { "acoustic_management",      false, 'M', 255,  "acoustic_management"      },
        { "keep_settings_over_reset", false, 'k', 1,    "keep_settings_over_reset" },
        { "keep_features_over_reset", false, 'K', 1,    "keep_features_over_reset" },
        { "chipset_pio_mode",         false, 'p', 0,    "chipset_pio_mode"         },
        { "ROOTFS",                   false, 0,   0,    NULL                       },
        { "quiet",                    true,  0,   0,    NULL                       },
        { "standby",                  true,  0,   0,    "standby"                  },
        { "sleep",                    true,  0,   0,    "sleep"                    },
        { "disable_seagate",          true,  'Z', 0,    "disable_seagate"          },
        { "security_freeze",          true,  0,   0,    "security_freeze"          },
        { "queue_depth",              false, 'Q', 1024, "queue_depth"              },
        { "",                         false, 'L', 1,    NULL                       },
        { "",                         false, 'n', 1,    NULL                       },
};
/* clang-format on */

const Keyword *keyword_find(const char *name, char letter) {
        for (size_t i = 0; i < ELEMENTSOF(keywords); i++)
                if (name ? streq(keywords[i].name, name) : keywords[i].letter == letter)
                        return &keywords[i];

        return NULL;
}

/* Without a number the others only show. */
#define NEED_NUMBER "DEKLPsS"

static void read_long(Command *c, const char *name, size_t *i) {
        if (STR_IN_SET(name, "help", "version"))
                command_shows(c);
        else if (streq(name, "security-freeze"))
                command_want(c, "security_freeze", "on");
        else if (strncasecmp(name, "security-", strlen("security-")) == 0 || strcasecmp(name, "user-master") == 0) {
                /* Its argument may be a password. */
                if (*i + 1 < c->n_words && !starts_with(c->words[*i + 1], "/dev/"))
                        ++*i;
                command_note(c, "drivekeep sends no security commands and keeps no passwords");
        } else if (!STR_IN_SET(name, "yes-i-know-what-i-am-doing", "prefer-ata12", "verbose", "direct"))
                command_note(c, "hdparm --%.40s is no setting that can be kept", name);
}

/* A flag that takes a number, `s` being what is behind its letter. Returns what is behind the number; NULL: it is not one that
 * hdparm takes. */
static const char *read_number(Command *c, const Keyword *k, const char *s, size_t *i) {
        const char *next = *i + 1 < c->n_words ? c->words[*i + 1] : "", *end;
        unsigned long number;

        if (!*s && (isdigit((unsigned char) *next) || script_is_open(next))) {
                s = next;
                ++*i;
        }
        end = s + strspn(s, "0123456789");
        if (script_is_open(end)) {
                command_note(c, "the value of hdparm -%c is known only when it runs", k->letter);
                return "";
        }

        number = strtoul(s, NULL, 10);
        if (end > s ? number > k->max : strchr(NEED_NUMBER, k->letter) != NULL)
                return NULL;
        if (end > s && k->key)
                command_want(c, k->key, "%lu", number);
        else if (end > s)
                command_note(c, "hdparm -%c sets nothing that a kernel of today takes", k->letter);
        return end;
}

/* At what it does not take, hdparm ends: of the command nothing is set. */
static void read_letters(Command *c, const char *letters, size_t *i) {
        for (const char *s = letters; s && *s;) {
                char letter = *s++;
                const Keyword *k = keyword_find(NULL, letter);

                if (k && k->max > 0)
                        s = read_number(c, k, s, i);
                else if (k && k->alone)
                        command_want(c, k->key, "on");
                else if (strchr("hV", letter)) {
                        command_shows(c);
                        return;
                } else if (strchr("yY", letter)) /* a rule would do it each time that the drive comes */
                        command_note(c, "hdparm -%c is done once, and is no setting: see spindown_time", letter);
                else if (!strchr("fFtTwzCgHiIqv", letter))
                        s = NULL;
                if (!s)
                        import_hold(c->rule, "hdparm -%.40s is not understood, or changes the drive for good", letters);
        }
}

void hdparm_command(Command *c) {
        bool named = false;

        for (size_t i = 0; i < c->n_words; i++) {
                const char *w = c->words[i];

                if (w[0] != '-') {
                        command_device(c, w);
                        named = true;
                        continue;
                }
                if (named)
                        import_hold(c->rule, "flags stand behind a drive, and are for the next one only");
                if (w[1] == '-')
                        read_long(c, w + 2, &i);
                else
                        read_letters(c, w + 1, &i);
        }
}
