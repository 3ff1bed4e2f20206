/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* SMART Command Transport: a command table written to log E0h. Only the action codes named here are ever sent: others
 * erase the disk (catalogue 4.1). */

#include "ata.h"

typedef enum SctErcSelection {
        SCT_ERC_READ = 1,
        SCT_ERC_WRITE = 2,
} SctErcSelection;

/* The limit in units of 100 ms; 0: none. -ENODATA: the registers that carry the answer did not come back. */
int sct_erc_get(Device *d, SctErcSelection which, uint16_t *ret);
int sct_erc_set(Device *d, SctErcSelection which, uint16_t limit);
