/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a drive counts of its own wear, in its whole life. Pure, and plain data: it crosses from one process to another. */

#include "value.h"

/* ATA: attributes in the data of SMART READ DATA (ACS-3). What an attribute counts is left to the maker there: its ID and its place
 * are those of SFF-8035i, the meaning is that of makers' manuals. SCSI: parameters of the log pages 0Eh, Start-Stop Cycle Counter,
 * and 0Dh, Temperature (SPC-4). */
typedef struct Wear {
        KnownNumber load_cycles; /* the heads were unloaded and loaded again. ATA: 193, else 225 of older drives; SCSI: 0Eh/0006h */
        KnownNumber start_stops;       /* the spindle was started. ATA: 4; SCSI: 0Eh/0004h */
        KnownNumber rated_load_cycles; /* what the drive is made for. ATA drives do not say it; SCSI: 0Eh/0005h */
        KnownNumber rated_start_stops; /* the same of the spindle. SCSI: 0Eh/0003h */
        KnownNumber temperature;       /* °C, of now. ATA: the lowest byte of 194; SCSI: 0Dh/0000h */
} Wear;
