/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* SMART Command Transport: a command table written to log E0h. Only the action codes named here are ever sent: others
 * erase the disk (Write Same). */

#include "ata.h"

typedef enum SctErcSelection {
        SCT_ERC_READ = 1,
        SCT_ERC_WRITE = 2,
} SctErcSelection;

/* The limit of now, or that of every power-on, which drives by ACS-4 can be given. */
typedef enum SctErcTime {
        SCT_ERC_CURRENT = 0,
        SCT_ERC_POWER_ON = 2, /* how far its functions are behind those of now */
} SctErcTime;

/* The limit in units of 100 ms; 0: none. -ENODATA: the registers that carry the answer did not come back. */
int sct_erc_get(Device *d, SctErcTime time, SctErcSelection which, uint16_t *ret);
int sct_erc_set(Device *d, SctErcTime time, SctErcSelection which, uint16_t limit);

typedef enum SctFeature {
        SCT_WRITE_CACHE = 1,
        SCT_WRITE_CACHE_REORDERING = 2,
} SctFeature;

typedef enum SctWriteCache {
        SCT_CACHE_NORMAL = 1, /* SET FEATURES decides */
        SCT_CACHE_ON = 2,
        SCT_CACHE_OFF = 3,
} SctWriteCache;

/* SCT Feature Control. `saved`: the state outlives the loss of power. -ENODATA as above. */
bool sct_has_features(Device *d);
int sct_feature_get(Device *d, SctFeature feature, uint16_t *ret);
int sct_feature_is_saved(Device *d, SctFeature feature, bool *ret);
int sct_feature_set(Device *d, SctFeature feature, uint16_t state, bool saved);
