/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tools that read their words as getopt_long(3) does, and a few settings each: smartctl, sdparm, nvme and blockdev. */

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "command.h"

/* Is word *i the option "-x" or "--name"? *ret is what it is given, in the same word or the next one, to which *i goes. */
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

/* Is all of it a number of 32 bits? */
static bool read_number(const char *text, int base, unsigned long *ret) {
        char *end;

        *ret = strtoul(text, &end, base);
        return isdigit((unsigned char) *text) && *end == '\0' && *ret <= UINT32_MAX;
}

/* A word that is no option: a drive, or the value of an option that sets nothing. */
static void read_operand(Command *c, const char *word) {
        if (word[0] == '/' || (word[0] != '-' && script_is_open(word)))
                command_device(c, word);
}

/* ---- smartctl -s NAME,VALUE and -l scterc,READ,WRITE (smartctl(8), 7.3) ---- */

/* clang-format off */
static const struct {
        const char *name, *key;
        unsigned max; /* of a number; 0: on and off only */
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
                command_note(c, "smartctl -s standby,now is done once, and is no setting: see spindown_time");
        else if (i == ELEMENTSOF(settings))
                command_note(c, "drivekeep has nothing like smartctl -s %.40s", argument);
        else if (STR_IN_SET(value, "on", "off") ||
                 (settings[i].max > 0 && read_number(value, 10, &number) && number <= settings[i].max))
                command_want(c, settings[i].key, "%s", value);
        else
                import_hold(c->rule, "smartctl -s %.40s is not translated", argument);
}

static void want_limit(Command *c, const char *key, const char *tenths) {
        long long n = strtoll(tenths, NULL, 10);

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
        if (sscanf(argument, "scterc,%3[0-9],%3[0-9]%n", reading, writing, &n) < 2 ||
            !STR_IN_SET(argument + n, "", ",p"))
                command_note(c, "the values of -l scterc are known only when it runs, or out of its range");
        else if (streq(reading, writing))
                want_limit(c, "error_recovery", reading);
        else {
                want_limit(c, "error_recovery_read", reading);
                want_limit(c, "error_recovery_write", writing);
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
                else if (!starts_with(c->words[i], "/dev/nvme")) /* of NVMe drives it sets nothing */
                        read_operand(c, c->words[i]);

        /* With other types the node may be a controller's, or that of any drive on it. */
        if (c->rule->n_wishes > 0 &&
            !STR_IN_SET(type, "auto", "ata", "sat", "sat,auto", "sat,12", "sat,16", "scsi", "nvme", "removable"))
                import_hold_drives(c->rule, "-d %.40s may mean a drive behind a RAID controller, which no rule reaches",
                                   type);
}

/* ---- sdparm --set and --clear (its field names: sdparm_data.c, 1.12) ---- */

/* clang-format off */
static const struct {
        const char *name, *key;
        const char *words[2]; /* what 0 and 1 mean; NULL: it is in tenths of a second, or they say it */
} fields[] = {
        { "WCE",       "write_cache",           { "off", "on"  } },
        { "RCD",       "read_cache",            { "on",  "off" } },
        { "DRA",       "lookahead",             { "on",  "off" } },
        { "AWRE",      "auto_reallocate_write", { "off", "on"  } },
        { "ARRE",      "auto_reallocate_read",  { "off", "on"  } },
        { "STANDBY",   "standby_z",             { "off", NULL  } },
        { "STANDBY_Z", "standby_z",             { "off", NULL  } },
        { "SCT",       "standby_z",             { NULL,  NULL  } },
        { "SZCT",      "standby_z",             { NULL,  NULL  } },
};
/* clang-format on */

/* `bit`: what a field without a value gets. */
static void read_field(Command *c, char *text, unsigned long bit) {
        const char *name = strsep(&text, "="), *const * words;
        unsigned long value = bit;
        size_t i = 0;

        while (i < ELEMENTSOF(fields) && strcasecmp(fields[i].name, name) != 0)
                i++;
        words = i < ELEMENTSOF(fields) && (!text || read_number(text, 10, &value)) ? fields[i].words : NULL;

        if (words && words[0] && value <= 1) {
                if (words[value])
                        command_want(c, fields[i].key, "%s", words[value]);
        } else if (words && !words[0] && text && !import_find_wish(c->rule, fields[i].key, false))
                /* Not where the timer has been turned off. */
                command_want_ms(c, fields[i].key, (long long) value * 100);
        else
                command_note(c, "sdparm's %.40s%s%.20s is not translated", name, text ? "=" : "", text ?: "");
}

/* "WCE=1,SCT=900", "WCE" */
static void read_fields(Command *c, const char *list, unsigned long bit) {
        _cleanup_free_ char *copy = must(strdup(list));
        char *rest = copy, *field;

        while ((field = strsep(&rest, ",")))
                read_field(c, field, bit);
}

void sdparm_command(Command *c) {
        const char *value;

        for (size_t i = 0; i < c->n_words; i++)
                if (take_option(c, &i, 's', "--set", &value))
                        read_fields(c, value, 1);
                else if (take_option(c, &i, 'c', "--clear", &value))
                        read_fields(c, value, 0);
                else
                        read_operand(c, c->words[i]);
}

/* ---- nvme set-feature DEVICE -f FID -v VALUE (NVM Express Base 2.0, 5.27.1) ---- */

void nvme_command(Command *c) {
        const char *value, *feature_text = "", *value_text = "";
        unsigned long feature, v;
        bool known;

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
        else if (known && feature == 0x0c && !(v & 1))
                command_want(c, "apst_latency", "off");
        else
                command_note(c, "nvme set-feature -f %.20s -v %.20s is not translated", feature_text, value_text);
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
                                command_note(c, "the value of --setra is known only when it runs, or is no number");
                } else if (streq(w, "--setro") || streq(w, "--setrw"))
                        command_want(c, "read_only", streq(w, "--setro") ? "on" : "off");
                else
                        read_operand(c, w);
        }
}
