/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Seagate's openSeaChest_PowerControl and openSeaChest_Configure, and SeaChest's (openSeaChest 25.05, their --help). */

#include <fnmatch.h>

#include "command.h"

/* clang-format off */
static const struct {
        const char *option, *key;
        bool timer; /* it takes milliseconds, too */
        const char *word; /* what it stands for without an argument */
} options[] = {
        { "--idle_a",               "idle_a",                true  },
        { "--idle_b",               "idle_b",                true  },
        { "--idle_c",               "idle_c",                true  },
        { "--standby_y",            "standby_y",             true  },
        { "--standby_z",            "standby_z",             true  },
        { "--EPCfeature",           "epc",                   false },
        { "--writeCache",           "write_cache",           false },
        { "--readLookAhead",        "lookahead",             false },
        { "--freeFall",             "free_fall_control",     false },
        { "--setAPMLevel",          "apm",                   false },
        { "--disableAPM",           "apm",                   false, "off" },
};

/* Options with an argument that leave out drives, and options that only show, or change how it is shown. */
static const char narrow[] = "--@(modelMatch|fwMatch|childModelMatch|childFWMatch|onlySeagate|onlyFW|onlyModel)*";
static const char shows[] = "@(-h|-V|-s|-S|-F|-i|--help|--version|--license|--scan*|--Scan*|--deviceInfo|--llInfo|--SATInfo|--show*|--check*|"
                            "--testUnitReady|--usbChildInfo)";
static const char plain[] = "@(-q|-v|--quiet|--verbose|--noBanner|--echoCommandLine|--enableLegacyUSB|--force*|--volatile|--fastDiscovery|[0-4])";
static const char once[] = "--@(transitionPower|spinDown|transitionPowerState)";
/* clang-format on */

static void read_value(Command *c, size_t row, const char *value) {
        if (options[row].timer && *value && !value[strspn(value, "0123456789")])
                /* The drive counts in tenths of a second. */
                command_want_ms(c, options[row].key, strtoll(value, NULL, 10) / 100 * 100);
        else if (streq(options[row].key, "apm") && *value && !value[strspn(value, "0123456789")])
                command_want(c, "apm", "%s", value);
        else if (streq(value, "disable") || (streq(value, "enable") && !options[row].timer))
                command_want(c, options[row].key, streq(value, "enable") ? "on" : "off");
        else
                command_note(c, "%s %.30s is not translated", options[row].option, value);
}

void seachest_command(Command *c) {
        for (size_t i = 0; i < c->n_words; i++) {
                const char *w = c->words[i], *sign = strchr(w, '='), *value = NULL;
                _cleanup_free_ char *option = must_format("%.*s", sign ? (int) (sign - w) : (int) strlen(w), w);
                size_t row = 0;

                while (row < ELEMENTSOF(options) && !streq(option, options[row].option))
                        row++;
                if (row < ELEMENTSOF(options) && options[row].word) {
                        command_want(c, options[row].key, "%s", options[row].word);
                        continue;
                }
                if (row < ELEMENTSOF(options) || STR_IN_SET(option, "-d", "--device"))
                        value = sign ? sign + 1 : i + 1 < c->n_words ? c->words[++i] : "";
                if (row < ELEMENTSOF(options))
                        read_value(c, row, value);
                else if (value && *value != '/' && !script_is_open(value))
                        import_hold_drives(c->rule, "\"-d %.40s\" is no node of a drive", value);
                else if (value)
                        command_device(c, value);
                else if (*w == '/' && i > 0) /* a loop's other drives, behind the first one */
                        command_device(c, w);
                else if (fnmatch(narrow, w, FNM_EXTMATCH) == 0)
                        import_hold_drives(c->rule, "%.40s decides which drives it is for", w);
                else if (fnmatch(shows, w, FNM_EXTMATCH) == 0)
                        command_shows(c);
                else if (fnmatch(once, option, FNM_EXTMATCH) == 0)
                        command_note(c, "%s is done once, and is no setting", option);
                else if (fnmatch(plain, w, FNM_EXTMATCH) != 0 && *w == '-')
                        command_note(c, "not understood: %.40s of openSeaChest", w);
        }
}
