/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* nvme set-feature DEVICE -f FID -v VALUE (catalogue 4.7). */

#include <ctype.h>
#include <stdio.h>

#include "command.h"

#define KELVIN 273

static int want_temperature(Command *c, const char *key, unsigned kelvin) {
        return kelvin == 0 ? command_want(c, key, "off") : command_want_number(c, key, (long) kelvin - KELVIN, "C");
}

static int read_feature(Command *c, unsigned long feature, unsigned long v) {
        int r;

        switch (feature) {
        case 0x02:
                return command_want_number(c, "power_state", v & 0x1f, "");
        case 0x04:
                if (v >> 16)
                        break;
                return want_temperature(c, "temperature_threshold", v & 0xffff);
        case 0x05:
                return v & 0xffff ? command_want_number(c, "error_recovery", (long long) (v & 0xffff) * 100, "ms")
                                  : command_want(c, "error_recovery", "off");
        case 0x06:
                return command_want(c, "write_cache", v & 1 ? "on" : "off");
        case 0x08:
                /* The register counts from 0, where 1 is meant. */
                r = command_want_number(c, "interrupt_coalescing_threshold", (long long) (v & 0xff) + 1, "");
                if (r < 0)
                        return r;
                return command_want_number(c, "interrupt_coalescing_time", (long long) (v >> 8 & 0xff) * 100, "us");
        case 0x0c:
                if (v & 1)
                        return remark(&c->rule->remarks, "feature 0Ch with a table of power states: drivekeep has "
                                                         "apst_latency, of which the kernel makes such a table");
                return command_want(c, "apst_latency", "off");
        case 0x0d:
                return command_want(c, "hmb", v & 1 ? "on" : "off");
        case 0x10:
                r = want_temperature(c, "thermal_light", v >> 16 & 0xffff);
                return r < 0 ? r : want_temperature(c, "thermal_heavy", v & 0xffff);
        }

        return remark(&c->rule->remarks, "feature %02lXh with the value %lXh: drivekeep has nothing like it", feature,
                      v);
}

static bool is_option(const char *w, const char *letter, const char *name, size_t *ret_n) {
        size_t n = strlen(name);

        if (strncmp(w, name, n) == 0 && (w[n] == '=' || w[n] == '\0')) {
                *ret_n = n + (w[n] == '=');
                return true;
        }
        *ret_n = 2;
        return strncmp(w, letter, 2) == 0 && w[1] != '-';
}

/* Not what is a variable, or no number at all. */
static bool read_number(const char *text, unsigned long *ret) {
        char *end;

        if (!text || !isxdigit((unsigned char) *text))
                return false;
        *ret = strtoul(text, &end, 0);
        return *end == '\0';
}

int nvme_command(Command *c) {
        unsigned long feature = 0, value = 0;
        bool has_feature = false, has_value = false;
        int r = 0;

        if (c->n_words == 0 || !streq(c->words[0], "set-feature"))
                return 0;

        for (size_t i = 1; i < c->n_words && r >= 0; i++) {
                const char *w = c->words[i], *text;
                size_t n;

                if (w[0] != '-')
                        r = command_device(c, w);
                else if (is_option(w, "-f", "--feature-id", &n)) {
                        text = command_value(c, &i, n);
                        has_feature = read_number(text, &feature);
                } else if (is_option(w, "-v", "--value", &n) || is_option(w, "-V", "--value", &n)) {
                        text = command_value(c, &i, n);
                        has_value = read_number(text, &value);
                } else if (is_option(w, "-s", "--save", &n))
                        r = remark(&c->rule->remarks, "--save has the drive keep it; drivekeep sets it whenever the "
                                                      "drive comes, and saves nothing unless permanent = true says so");
                else if (is_option(w, "-n", "--namespace-id", &n) || is_option(w, "-l", "--data-len", &n) ||
                         is_option(w, "-d", "--data", &n) || is_option(w, "-c", "--cdw12", &n))
                        (void) command_value(c, &i, n);
        }
        if (r < 0)
                return r;

        if (!has_feature || !has_value)
                return remark(&c->rule->remarks, "which feature and which value is known only when the command runs");
        return read_feature(c, feature, value);
}
