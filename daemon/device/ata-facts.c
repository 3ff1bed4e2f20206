/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "ata-facts.h"
#include "ata-identify.h"

/* Behind what is there, after a comma. What has no room is a fault of this file, and left out. */
_printf_(2, 3) static void add(char text[static IDENTIFY_FACT_MAX], const char *format, ...) {
        size_t used = strlen(text);
        va_list ap;

        if (used > 0)
                used += (size_t) snprintf(text + used, IDENTIFY_FACT_MAX - used, ", ");
        if (used >= IDENTIFY_FACT_MAX)
                return;
        va_start(ap, format);
        (void) vsnprintf(text + used, IDENTIFY_FACT_MAX - used, format, ap);
        va_end(ap);
}

/* 1 is for a drive that does not rotate, which is said elsewhere. */
static void tell_rotation(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        if (id[217] >= 0x0401 && id[217] != 0xFFFF)
                add(text, "%u rpm", id[217]);
}

static void tell_form_factor(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        static const char *const names[] = {
                NULL,    "5.25 inch", "3.5 inch", "2.5 inch", "1.8 inch", "less than 1.8 inch",
                "mSATA", "M.2",       "MicroSSD", "CFast",
        };

        if (id[168] < ELEMENTSOF(names) && names[id[168]])
                add(text, "%s", names[id[168]]);
}

static void tell_sectors(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        uint64_t logical = identify_sector_size(id);

        add(text, "%" PRIu64 " B logical", logical);
        /* Word 106: several logical ones in a physical one. */
        if ((id[106] & 0xC000) == 0x4000)
                add(text, "%" PRIu64 " B physical", id[106] & 1U << 13 ? logical << (id[106] & 0xF) : logical);
}

/* Word 76 has a bit for each generation, word 77 the number of the one in use. */
static void tell_link(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        static const char *const speeds[] = { NULL, "1.5 Gb/s", "3.0 Gb/s", "6.0 Gb/s" };
        uint64_t now = identify_field(id, &(IdentifyField){ 77, 1, 3 });

        for (uint8_t generation = 3; generation > 0 && !*text; generation--)
                if (identify_bit(id, 76, generation))
                        add(text, "up to %s", speeds[generation]);
        if (now > 0 && now < ELEMENTSOF(speeds))
                add(text, "now %s", speeds[now]);
}

/* Started by the host, where the kernel decides; by the drive; and DevSleep. */
static void tell_link_power(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        if (identify_bit(id, 76, 9))
                add(text, "HIPM");
        if (identify_bit(id, 78, 3))
                add(text, "DIPM %s", identify_bit(id, 79, 3) ? "on" : "off");
        if (identify_bit(id, 78, 8))
                add(text, "DEVSLP %s", identify_bit(id, 79, 8) ? "on" : "off");
}

/* What a trimmed sector reads as: by word 69, and nobody knows without its bit 14. */
static void tell_trim(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        if (!(id[169] & 1U << 0))
                return;
        add(text, "yes");
        if (id[69] & 1U << 14)
                add(text, id[69] & 1U << 5 ? "reads zeros then (RZAT)" : "reads the same each time then (DRAT)");
}

static void tell_standby_timer(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        add(text, id[49] & 1U << 13 ? "values as in the standard" : "values of the vendor's own");
        if (identify_bit(id, 50, 0))
                add(text, "has a minimum");
}

static void tell_acoustic(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        if (identify_bit(id, 83, 9))
                add(text, "%u recommended", id[94] >> 8);
}

static void tell_security(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        static const struct {
                uint8_t bit;
                const char *yes, *no;
        } states[] = {
                { 1, "enabled", "not enabled" },
                { 2, "locked", NULL },
                { 3, "frozen", "not frozen" },
                { 4, "out of attempts", NULL },
        };

        if (!(id[128] & 1U << 0) || id[128] == 0xFFFF)
                return;
        for (size_t i = 0; i < ELEMENTSOF(states); i++) {
                const char *word = id[128] & 1U << states[i].bit ? states[i].yes : states[i].no;

                if (word)
                        add(text, "%s", word);
        }
}

/* clang-format off */
const IdentifyFact identify_facts[] = {
        { "rotation",      "rotation",   tell_rotation },
        { "form_factor",   "form",       tell_form_factor },
        { "sectors",       "sectors",    tell_sectors },
        { "link",          "link",       tell_link },
        { "link_power",    "link power", tell_link_power },
        { "trim",          "trim",       tell_trim },
        { "standby_timer", "timer",      tell_standby_timer },
        { "acoustic",      "acoustic",   tell_acoustic },
        { "security",      "security",   tell_security },
        {}
};
/* clang-format on */
