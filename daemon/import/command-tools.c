/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Readers of the commands smartctl, sdparm, nvme, blockdev, idle3ctl, powertop and openSeaChest. The first four parse options with
 * getopt_long(3). */

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <strings.h>

#include "command.h"

/* Returns true if word *i is the option "-x" or "--name". Stores the option's argument in *ret. If the argument is the next word, advances
 * *i to that word. */
static bool take_option(Command *c, size_t *i, char letter, const char *name, const char **ret) {
        const char *w = c->words[*i];
        size_t n = strlen(name);

        if (starts_with(w, name) && (w[n] == '=' || w[n] == '\0'))
                n += w[n] == '=';
        else if (w[0] == '-' && w[1] == letter)
                n = 2;
        else
                return false;
        *ret = w[n] ? w + n : *i + 1 < c->n_words ? c->words[++*i] : "";
        return true;
}

/* Returns true if the whole text is a number of 32 bits. */
static bool read_number(const char *text, int base, unsigned long *ret) {
        char *end;

        *ret = strtoul(text, &end, base);
        return isdigit((unsigned char) *text) && *end == '\0' && *ret <= UINT32_MAX;
}

/* Reads a word that is not an option: a drive, or the argument of an option that sets nothing. */
static void read_operand(Command *c, const char *word) {
        if (word[0] == '/' || (word[0] != '-' && script_is_open(word)))
                command_device(c, word);
}

/* ---- smartctl -s NAME,VALUE and -l scterc,READ,WRITE (smartctl(8), 7.3) ---- */

/* clang-format off */
static const struct {
        const char *name, *key;
        unsigned max; /* largest number; 0: only on and off are valid */
} settings[] = {
        { "aam",        "acoustic_management",            254 },
        { "apm",        "apm",                            254 },
        { "dsn",        "device_statistics_notification", 0   },
        { "lookahead",  "lookahead",                      0   },
        { "rcache",     "read_cache",                     0   },
        { "standby",    "spindown_time",                  255 },
        { "wcache",     "write_cache",                    0   },
        { "wcache-sct", "write_cache_forced",             0   },
        { "wcreorder",  "write_cache_reordering",         0   },
};
/* clang-format on */

static void read_set(Command *c, const char *argument) {
        size_t n = strcspn(argument, ","), i = 0;
        const char *value = argument + n + (argument[n] == ',');
        unsigned long number;

        while (i < ELEMENTSOF(settings) && (strlen(settings[i].name) != n || !starts_with(argument, settings[i].name)))
                i++;
        if (streq(argument, "security-freeze"))
                command_want(c, "security_freeze", "on");
        else if (streq(argument, "standby,now"))
                command_note(c, "smartctl -s standby,now acts once and is not a setting; see spindown_time");
        else if (i == ELEMENTSOF(settings))
                command_note(c, "drivekeep has no setting for smartctl -s %.40s", argument);
        else if (STR_IN_SET(value, "on", "off") ||
                 (settings[i].max > 0 && read_number(value, 10, &number) && number <= settings[i].max))
                command_want(c, settings[i].key, "%s", value);
        else
                import_comment_out(c->rule, "smartctl -s %.40s is not translated", argument);
}

/* Adds a time limit of `n` tenths of a second. */
static void want_limit(Command *c, const char *key, long long n) {
        if (n == 0)
                command_want(c, key, "off");
        else
                command_want_ms(c, key, n * 100);
}

static void read_log(Command *c, const char *argument) {
        char reading[4], writing[4];
        int n = 0;

        if (!starts_with(argument, "scterc,"))
                return;
        if (script_is_open(argument))
                command_note(c, "the values of -l scterc are known only when the command runs");
        else if (sscanf(argument, "scterc,%3[0-9],%3[0-9]%n", reading, writing, &n) < 2 ||
                 !STR_IN_SET(argument + n, "", ",p"))
                command_note(c, "smartctl -l %.40s is not translated", argument);
        else if (streq(reading, writing))
                want_limit(c, "error_recovery", strtoll(reading, NULL, 10));
        else {
                want_limit(c, "error_recovery_read", strtoll(reading, NULL, 10));
                want_limit(c, "error_recovery_write", strtoll(writing, NULL, 10));
        }
}

void smartctl_command(Command *c) {
        const char *type = "auto", *value;

        for (size_t i = 0; i < c->n_words; i++)
                if (take_option(c, &i, 's', "--set", &value))
                        read_set(c, value);
                else if (take_option(c, &i, 'l', "--log", &value))
                        read_log(c, value);
                else if (take_option(c, &i, 'd', "--device", &value))
                        type = value;
                else if (take_option(c, &i, 'o', "--offlineauto", &value) ||
                         take_option(c, &i, 'S', "--saveauto", &value))
                        command_note(c, "drivekeep has no setting for smartctl -o or -S");
                else if (STR_IN_SET(c->words[i], "-h", "-V", "--help", "--usage", "--version", "--license",
                                    "--copyright"))
                        command_shows(c);
                else if (!starts_with(c->words[i], "/dev/nvme")) /* smartctl has no NVMe settings */
                        read_operand(c, c->words[i]);

        /* If -d has a type that is not listed here, the node may belong to a RAID controller, and the command may set a drive behind the
         * controller. */
        if (c->rule->n_wishes > 0 &&
            !STR_IN_SET(type, "auto", "ata", "sat", "sat,auto", "sat,12", "sat,16", "scsi", "nvme", "removable"))
                import_comment_out_drives(
                                c->rule,
                                "drivekeep cannot reach a drive behind a RAID controller, which -d %.40s may name",
                                type);
}

/* ---- sdparm --set and --clear (its field names: sdparm_data.c, 1.12) ---- */

/* clang-format off */
static const struct {
        const char *name, *key;
        const char *words[2]; /* the values for 0 and 1 */
} fields[] = {
        { "WCE",  "write_cache",           { "off", "on"  } },
        { "RCD",  "read_cache",            { "on",  "off" } },
        { "DRA",  "lookahead",             { "on",  "off" } },
        { "AWRE", "auto_reallocate_write", { "off", "on"  } },
        { "ARRE", "auto_reallocate_read",  { "off", "on"  } },
};

/* Fields of the power conditions. `bits`: names of the field that enables the timer. `times`: names of the field with the time in tenths
 * of a second. Each field has an older name and a newer name. */
static const struct {
        const char *key, *bits[2], *times[2];
} conditions[] = {
        { "idle_a",    { "IDLE",      "IDLE_A"    }, { "ICT",  "IACT" } },
        { "idle_b",    { "IDLE_B",    "IDLE_B"    }, { "IBCT", "IBCT" } },
        { "idle_c",    { "IDLE_C",    "IDLE_C"    }, { "ICCT", "ICCT" } },
        { "standby_y", { "STANDBY_Y", "STANDBY_Y" }, { "SYCT", "SYCT" } },
        { "standby_z", { "STANDBY",   "STANDBY_Z" }, { "SCT",  "SZCT" } },
};
/* clang-format on */

/* A field in the argument of --set or --clear. */
typedef struct Field {
        const char *name, *text; /* `name` NULL: the field is absent; `text` NULL: the field has no value */
        unsigned long value;
} Field;

typedef struct Conditions {
        Field bits[ELEMENTSOF(conditions)], times[ELEMENTSOF(conditions)];
} Conditions;

static bool is_one_of(const char *const names[2], const char *name) {
        return strcasecmp(names[0], name) == 0 || strcasecmp(names[1], name) == 0;
}

static void note_field(Command *c, const Field *f) {
        command_note(c, "sdparm's %.40s%s%.20s is not translated", f->name, f->text ? "=" : "", f->text ?: "");
}

/* Reads one field in the argument of --set or --clear. A field without "=VALUE" gets the value `bit`, which is 1 for --set and 0 for
 * --clear. */
static void read_field(Command *c, Conditions *found, char *text, unsigned long bit) {
        const char *name = strsep(&text, "=");
        Field f = { name, text, bit };
        bool known = !text || read_number(text, 10, &f.value);
        size_t i = 0;

        for (size_t k = 0; k < ELEMENTSOF(conditions) && known; k++)
                if (is_one_of(conditions[k].bits, name) && f.value <= 1) {
                        found->bits[k] = f;
                        return;
                } else if (is_one_of(conditions[k].times, name) && text) {
                        found->times[k] = f;
                        return;
                }
        while (i < ELEMENTSOF(fields) && strcasecmp(fields[i].name, name) != 0)
                i++;
        if (i < ELEMENTSOF(fields) && known && f.value <= 1)
                command_want(c, fields[i].key, "%s", fields[i].words[f.value]);
        else
                note_field(c, &f);
}

/* Adds the wishes for power conditions. An enable bit of 0 is the value "off". An enable bit of 1 is translated only together with a time,
 * because the drive's own time is not known here. A time without an enable bit is not translated, since the timer may be disabled. */
static void want_conditions(Command *c, const Conditions *found) {
        for (size_t i = 0; i < ELEMENTSOF(conditions); i++) {
                const Field *bit = &found->bits[i], *time = &found->times[i];

                if (bit->name && bit->value == 0)
                        command_want(c, conditions[i].key, "off");
                else if (bit->name && time->name)
                        command_want_ms(c, conditions[i].key, (long long) time->value * 100);
                else if (bit->name)
                        note_field(c, bit);
                if (time->name && (!bit->name || bit->value == 0))
                        note_field(c, time);
        }
}

/* clang-format off */
/* sdparm_shows: options with which sdparm writes no settings. sdparm_plain: options that need no translation. */
static const char sdparm_shows[] = "@(-h|-V|-d|-e|-r|-w|--help|--version|--dummy|--enumerate|--readonly|--wscan)";
static const char sdparm_plain[] = "@(-[SfqB6vlaHnEiI]|--@(save|flexible|quiet|dbd|six|verbose|long|all|hex|num-desc|examine|inquiry|page=*|transport=*|"
                                   "vendor=*|get=*))";
/* clang-format on */

void sdparm_command(Command *c) {
        Words lists = {};
        Conditions found = {};
        const char *value;

        for (size_t i = 0; i < c->n_words; i++) {
                bool set = take_option(c, &i, 's', "--set", &value);

                if (set || take_option(c, &i, 'c', "--clear", &value)) {
                        words_add(&lists, value, strlen(value));
                        for (char *rest = lists.items[lists.n_items - 1], *field; (field = strsep(&rest, ","));)
                                read_field(c, &found, field, set);
                } else if (fnmatch(sdparm_shows, c->words[i], FNM_EXTMATCH) == 0) {
                        command_shows(c);
                        found = (Conditions){};
                } else if (take_option(c, &i, 'C', "--command", &value)) {
                        if (STR_IN_SET(value, "start", "stop", "load", "eject", "unlock", "sync"))
                                command_note(c, "sdparm --command=%s acts once and is not a setting", value);
                } else if (STR_IN_SET(c->words[i], "-p", "-t", "-M", "-g", "--page", "--transport", "--vendor",
                                      "--get"))
                        i++;
                else if (c->words[i][0] == '-' && fnmatch(sdparm_plain, c->words[i], FNM_EXTMATCH) != 0)
                        import_comment_out(c->rule, "sdparm %.40s is not understood", c->words[i]);
                else
                        read_operand(c, c->words[i]);
        }
        want_conditions(c, &found);
        words_done(&lists);
}

/* ---- nvme set-feature DEVICE -f FID -v VALUE (NVM Express Base 2.0, 5.27.1) ---- */

#define KELVIN 273U

static bool is_thermal(unsigned long kelvin) {
        return kelvin == 0 || kelvin >= KELVIN;
}

static void want_thermal(Command *c, const char *key, unsigned long kelvin) {
        if (kelvin == 0)
                command_want(c, key, "off");
        else
                command_want(c, key, "%luC", kelvin - KELVIN);
}

void nvme_command(Command *c) {
        const char *value, *feature_text = "", *value_text = "";
        unsigned long feature, v;
        bool known;

        if (c->n_words > 1 &&
            fnmatch("@(format|sanitize*|reset|subsystem-reset|admin-passthru|io-passthru|set-property|security-*|lockdown|*-fw*|"
                    "fw-*|capacity-mgmt)",
                    c->words[0], FNM_EXTMATCH) == 0)
                command_note(c, "drivekeep has no setting for nvme %.40s", c->words[0]);
        if (c->n_words == 0 || !streq(c->words[0], "set-feature"))
                return;

        for (size_t i = 1; i < c->n_words; i++)
                if (take_option(c, &i, 'f', "--feature-id", &value))
                        feature_text = value;
                else if (take_option(c, &i, 'v', "--value", &value) || take_option(c, &i, 'V', "--value", &value))
                        value_text = value;
                else
                        read_operand(c, c->words[i]);

        known = read_number(feature_text, 0, &feature) && read_number(value_text, 0, &v);
        if (known && feature == 0x02)
                command_want(c, "power_state", "%lu", v & 0x1f);
        else if (known && feature == 0x06)
                command_want(c, "write_cache", v & 1 ? "on" : "off");
        else if (known && feature == 0x11)
                command_want(c, "non_operational_permissive_mode", v & 1 ? "on" : "off");
        else if (known && feature == 0x0c && !(v & 1))
                command_want(c, "apst_latency", "off");
        else if (known && feature == 0x0d && !(v & 1))
                command_want(c, "hmb", "off");
        else if (known && feature == 0x04 && v >= KELVIN && v <= UINT16_MAX) /* composite temperature, in kelvins */
                command_want(c, "temperature_threshold", "%luC", v - KELVIN);
        else if (known && feature == 0x05 && v <= UINT16_MAX)
                want_limit(c, "error_recovery", (long long) v);
        else if (known && feature == 0x08 && v <= UINT16_MAX) {
                command_want(c, "interrupt_coalescing_threshold", "%lu", (v & 0xff) + 1);
                if (v >> 8 > 0)
                        command_want(c, "interrupt_coalescing_time", "%luus", (v >> 8) * 100);
                else
                        command_want(c, "interrupt_coalescing_time", "off");
        } else if (known && feature == 0x10 && v <= UINT32_MAX && is_thermal(v >> 16) && is_thermal(v & UINT16_MAX)) {
                want_thermal(c, "thermal_light", v >> 16);
                want_thermal(c, "thermal_heavy", v & UINT16_MAX);
        } else
                command_note(c, "nvme set-feature -f %.20s -v %.20s is not translated", feature_text, value_text);
}

/* ---- idle3ctl(8) of idle3-tools ---- */

void idle3_command(Command *c) {
        for (size_t i = 0; i < c->n_words; i++)
                if (STR_IN_SET(c->words[i], "-s", "-d"))
                        command_note(c, "idle3ctl %s changes the drive permanently and is not a setting", c->words[i]);
}

/* ---- powertop(8), 2.14: --auto-tune sets all disks, and all SATA ports ---- */

void powertop_command(Command *c) {
        bool tunes = false;

        for (size_t i = 0; i < c->n_words; i++)
                tunes = tunes || streq(c->words[i], "--auto-tune");
        if (!tunes)
                return;
        (void) import_match(c->rule, MATCH_NODE, "/dev/sd*");
        command_want(c, "runtime_pm", "auto");
        command_settle(c);

        c->rule = import_add_rule(c->place->import, c->line);
        (void) import_match(c->rule, MATCH_TRANSPORT, "sata");
        command_want(c, "link_power_management", "med_power_with_dipm");
}

/* ---- blockdev(8) ---- */

void blockdev_command(Command *c) {
        unsigned long sectors;

        for (size_t i = 0; i < c->n_words; i++) {
                const char *w = c->words[i];

                if (streq(w, "--setra") && i + 1 < c->n_words) {
                        if (read_number(c->words[++i], 10, &sectors))
                                command_want(c, "read_ahead_sect", "%lu", sectors);
                        else
                                command_note(c,
                                             script_is_open(c->words[i])
                                                             ? "the value of --setra is known only when the command runs"
                                                             : "the value of --setra is not a number");
                } else if (streq(w, "--setro") || streq(w, "--setrw"))
                        command_want(c, "read_only", streq(w, "--setro") ? "on" : "off");
                else if (STR_IN_SET(w, "-h", "-V", "--help", "--version"))
                        command_shows(c);
                else if (starts_with(w, "--set"))
                        command_note(c, "blockdev %.40s is not translated", w);
                else
                        read_operand(c, w);
        }
}

/* ---- Seagate's openSeaChest_PowerControl and openSeaChest_Configure, and the SeaChest tools (--help of openSeaChest 25.05) ---- */

/* clang-format off */
static const struct {
        const char *option, *key;
        bool timer; /* the argument may be a number of milliseconds instead of a word */
        const char *word; /* the value of an option that has no argument; NULL: the option has an argument */
} seachest_options[] = {
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

/* seachest_narrow: options that exclude drives. seachest_shows: options that only print something. seachest_plain: options that need no
 * translation. seachest_once: options that act once. */
static const char seachest_narrow[] = "--@(modelMatch|fwMatch|childModelMatch|childFWMatch|onlySeagate|onlyFW|onlyModel)*";
static const char seachest_shows[] = "@(-h|-V|-s|-S|-F|-i|--help|--version|--license|--scan*|--Scan*|--deviceInfo|--llInfo|--SATInfo|--show*|--check*|"
                            "--testUnitReady|--usbChildInfo)";
static const char seachest_plain[] = "@(-q|-v|--quiet|--verbose|--noBanner|--echoCommandLine|--enableLegacyUSB|--force*|--volatile|--fastDiscovery|[0-4])";
static const char seachest_once[] = "--@(transitionPower|spinDown|transitionPowerState)";
/* clang-format on */

static void seachest_read_value(Command *c, size_t row, const char *value) {
        if (seachest_options[row].timer && *value && !value[strspn(value, "0123456789")])
                /* The timers have a resolution of a tenth of a second. */
                command_want_ms(c, seachest_options[row].key, strtoll(value, NULL, 10) / 100 * 100);
        else if (streq(seachest_options[row].key, "apm") && *value && !value[strspn(value, "0123456789")])
                command_want(c, "apm", "%s", value);
        else if (streq(value, "disable") || (streq(value, "enable") && !seachest_options[row].timer))
                command_want(c, seachest_options[row].key, streq(value, "enable") ? "on" : "off");
        else
                command_note(c, "%s %.30s is not translated", seachest_options[row].option, value);
}

void seachest_command(Command *c) {
        for (size_t i = 0; i < c->n_words; i++) {
                const char *w = c->words[i], *sign = strchr(w, '='), *value = NULL;
                _cleanup_free_ char *option = must_format("%.*s", sign ? (int) (sign - w) : (int) strlen(w), w);
                size_t row = 0;

                while (row < ELEMENTSOF(seachest_options) && !streq(option, seachest_options[row].option))
                        row++;
                if (row < ELEMENTSOF(seachest_options) && seachest_options[row].word) {
                        command_want(c, seachest_options[row].key, "%s", seachest_options[row].word);
                        continue;
                }
                if (row < ELEMENTSOF(seachest_options) || STR_IN_SET(option, "-d", "--device"))
                        value = sign ? sign + 1 : i + 1 < c->n_words ? c->words[++i] : "";
                if (row < ELEMENTSOF(seachest_options))
                        seachest_read_value(c, row, value);
                else if (value && *value != '/' && !script_is_open(value))
                        import_comment_out_drives(c->rule, "\"-d %.40s\" is not a drive node", value);
                else if (value)
                        command_device(c, value);
                else if (*w == '/' && i > 0) /* a loop has expanded "-d $disk" to several nodes */
                        command_device(c, w);
                else if (fnmatch(seachest_narrow, w, FNM_EXTMATCH) == 0)
                        import_comment_out_drives(c->rule, "%.40s selects the drives when the command runs", w);
                else if (fnmatch(seachest_shows, w, FNM_EXTMATCH) == 0)
                        command_shows(c);
                else if (fnmatch(seachest_once, option, FNM_EXTMATCH) == 0)
                        command_note(c, "%s acts once and is not a setting", option);
                else if (fnmatch(seachest_plain, w, FNM_EXTMATCH) != 0 && *w == '-')
                        command_note(c, "not understood: %.40s of openSeaChest", w);
        }
}
