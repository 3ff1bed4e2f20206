/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* NVMe admin commands: Identify Controller, Get Features, Set Features (NVMe 1.4). Each returns 0,
 * a STEP_… error or a negative errno, with a sentence. */

#include "device.h"

enum {
        NVME_FEATURE_POWER_MANAGEMENT = 0x02,
        NVME_FEATURE_TEMPERATURE_THRESHOLD = 0x04,
        NVME_FEATURE_ERROR_RECOVERY = 0x05,
        NVME_FEATURE_VOLATILE_WRITE_CACHE = 0x06,
        NVME_FEATURE_INTERRUPT_COALESCING = 0x08,
        NVME_FEATURE_APST = 0x0C,
        NVME_FEATURE_THERMAL_MANAGEMENT = 0x10,
};

typedef enum NvmeSelect {
        NVME_SELECT_CURRENT = 0,
        NVME_SELECT_SAVED = 2,        /* what it will have after its next power-on */
        NVME_SELECT_CAPABILITIES = 3, /* NVME_CAPABILITY_… */
} NvmeSelect;

#define NVME_CAPABILITY_SAVEABLE (1U << 0)

/* May a command be sent? STEP_DEFERRED while the controller is being reset or connected, STEP_VANISHED while it is removed,
 * -EIO when the kernel has given it up. Asks the kernel only. */
int nvme_check_live(Device *d);

/* Into d->nvme, once per visit. */
int nvme_identify(Device *d);

/* `nsid`: 0 for what belongs to the whole controller. */
int nvme_get_feature(Device *d, uint8_t fid, NvmeSelect select, uint32_t nsid, uint32_t *ret);
int nvme_set_feature(Device *d, uint8_t fid, bool save, uint32_t nsid, uint32_t cdw11);

/* Can the controller save it? Not asked of one without the save bit. */
int nvme_can_save(Device *d, uint8_t fid, uint32_t nsid, bool *ret);

/* The number of the namespace that this drive is. */
int nvme_namespace(Device *d, uint32_t *ret);

/* The path of the controller's directory below the disk's. STEP_FORBIDDEN: the disk is reached through several controllers,
 * and which of them a command gets is the kernel's choice. */
int nvme_controller_path(Device *d, char *buf, size_t size);
