/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* NVMe admin commands: Identify Controller, Get Features, Set Features (NVMe 1.4). Each returns 0,
 * a STEP_… error or a negative errno, with a sentence. */

#include "device.h"

#define NVME_FEATURE_APST 0x0C

/* Bytes of Identify Controller (CNS 01h). */
enum {
        NVME_ID_NPSS = 263,   /* the highest number of a power state */
        NVME_ID_APSTA = 265,  /* bit 0: it can change its power state by itself */
        NVME_ID_WCTEMP = 266, /* the warning temperature in Kelvin; 0: not reported */
        NVME_ID_HCTMA = 322,  /* bit 0: host controlled thermal management … */
        NVME_ID_MNTMT = 324,  /* … from here, in Kelvin; 0: not reported … */
        NVME_ID_MXTMT = 326,  /* … to here */
        NVME_ID_ONCS = 520,   /* bit 4: the save bit of Set Features, and the selections of Get Features */
        NVME_ID_VWC = 525,    /* bit 0: there is a volatile write cache */
        NVME_ID_PSD = 2048, /* a descriptor of 32 bytes for each power state; byte 3, bit 1: it does no I/O in this one */
};

typedef enum NvmeSelect {
        NVME_SELECT_CURRENT = 0,
        NVME_SELECT_SAVED = 2,        /* what it will have after its next power-on */
        NVME_SELECT_CAPABILITIES = 3, /* NVME_CAPABILITY_… */
} NvmeSelect;

#define NVME_CAPABILITY_SAVEABLE (1U << 0)
#define NVME_KELVIN 273 /* the standard's own rounding, and the kernel's: 0 °C is 273 K */

/* May a command be sent? STEP_DEFERRED while the controller is being reset or connected, STEP_VANISHED while it is removed,
 * -EIO when the kernel has given it up. `alone`: it is for one controller; STEP_FORBIDDEN: the disk is reached through several,
 * and which of them a command gets is the kernel's choice. Asks the kernel only. */
int nvme_check_live(Device *d, bool alone);

/* Identify Controller into d->nvme_identify, once per visit. */
int nvme_identify(Device *d);

/* The 16 bits at this byte of it, little-endian. */
uint16_t nvme_identify_word(const Device *d, unsigned at);

/* `whole`: it belongs to the whole controller; else each namespace has its own, and the drive's is meant. */
int nvme_get_feature(Device *d, uint8_t fid, NvmeSelect select, bool whole, uint32_t *ret);
int nvme_set_feature(Device *d, uint8_t fid, bool save, bool whole, uint32_t value);
