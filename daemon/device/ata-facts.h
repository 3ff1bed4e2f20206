/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What IDENTIFY DEVICE says of a drive beside its settings (ACS-4, 7.13.6), as `hdparm -I` shows it, as texts for people.
 * Pure. */

#include "macro.h"

#define IDENTIFY_FACT_MAX 96U

typedef struct IdentifyFact {
        const char *key, *title;
        /* Into `text`, which is empty, and stays so where the drive does not say it. */
        void (*tell)(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]);
} IdentifyFact;

extern const IdentifyFact identify_facts[]; /* ends with {} */
