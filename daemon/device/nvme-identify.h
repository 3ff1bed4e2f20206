/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What of NVMe's Identify Controller data structure (NVM Express Base, CNS 01h; 4096 bytes, little-endian) the rows need. Pure. */

#include "macro.h"

#define NVME_IDENTIFY_SIZE 4096U
#define NVME_KELVIN 273 /* the standard's own rounding, and the kernel's: 0 °C is 273 K */

typedef struct NvmeController {
        bool valid;
        bool save_features;                /* ONCS: the save bit of Set Features, and the selections of Get Features */
        bool write_cache;                  /* VWC: there is a volatile one */
        bool apst;                         /* APSTA: it can change its power state by itself */
        bool thermal;                      /* HCTMA: host controlled thermal management */
        uint8_t power_states;              /* NPSS: the highest number of one */
        uint32_t idle_states;              /* by number: it does no I/O in this one (NOPS) */
        uint16_t warning;                  /* WCTEMP, in Kelvin; 0: not reported */
        uint16_t thermal_min, thermal_max; /* MNTMT, MXTMT, in Kelvin; 0: not reported */
} NvmeController;

NvmeController nvme_controller_parse(const uint8_t id[static NVME_IDENTIFY_SIZE]);
