/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The 256 words of ATA IDENTIFY DEVICE, in host byte order, and which of them may be believed (catalogue section 2).
 * Pure. */

#include "macro.h"

/* Word 255: the low byte A5h marks a checksum in the high byte, by which all 512 bytes sum to 0. Drives before ATA-5
 * have no mark; words that are all equal are no IDENTIFY data at all. */
bool identify_checksum_ok(const uint16_t id[static 256]);

/* The bit, or false where the word that holds it is not valid (82…84, 85…87, 119/120, 76…79, 50 have rules of their own). */
bool identify_bit(const uint16_t id[static 256], unsigned word, unsigned bit);
