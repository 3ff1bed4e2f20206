/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Admin commands of an NVMe controller (NVMe 1.4). */

#include "device.h"

enum {
        NVME_ADMIN_GET_LOG_PAGE = 0x02,
        NVME_ADMIN_IDENTIFY = 0x06,
        NVME_ADMIN_SET_FEATURES = 0x09,
        NVME_ADMIN_GET_FEATURES = 0x0A,

        /* Byte offsets in Identify Controller (CNS 01h). */
        NVME_ID_CTRATT = 96,  /* bit 1: non-operational power state permissive mode */
        NVME_ID_OACS = 256,   /* bit 4: Device Self-test is supported */
        NVME_ID_NPSS = 263,   /* number of the highest power state */
        NVME_ID_APSTA = 265,  /* bit 0: autonomous power state transitions (APST) */
        NVME_ID_WCTEMP = 266, /* the warning temperature in Kelvin; 0: not reported */
        NVME_ID_HCTMA = 322,  /* bit 0: host controlled thermal management */
        NVME_ID_MNTMT = 324,  /* lowest temperature of thermal management, in Kelvin; 0: not reported */
        NVME_ID_MXTMT = 326,  /* highest temperature of thermal management, in Kelvin; 0: not reported */
        NVME_ID_ONCS = 520,   /* bit 4: Set Features has a save bit, and Get Features a select field */
        NVME_ID_VWC = 525,    /* bit 0: volatile write cache */
        NVME_ID_PSD = 2048,   /* power state descriptors of 32 bytes; byte 3, bit 1: non-operational */
};

struct nvme_passthru_cmd;

/* Returns 0 if commands may be sent. END_DEFERRED: the controller is being reset or connected, and the kernel would hold commands back.
 * END_VANISHED: the controller is being removed. -EIO: the kernel has given up on the controller. A drive with several controllers
 * (multipathing) needs only one live controller. `alone`: the command is for a single controller. END_FORBIDDEN: `alone` is true, but the
 * drive has several controllers, and the kernel would choose which of them gets the command. */
int nvme_check_live(Device *d, bool alone);

/* Sends an admin command. Returns 0, or an error with a reason that contains `what` (the name of the command). `whole`: true if the command
 * concerns the whole controller, false if it concerns only the drive's namespace. */
int nvme_admin(Device *d, const char *what, bool whole, struct nvme_passthru_cmd *cmd);

/* Reads Identify Controller into d->nvme_identify, once per visit. */
int nvme_identify(Device *d);

/* Returns the 16-bit number at byte `at` of Identify Controller. */
uint16_t nvme_identify_word(const Device *d, unsigned at);

/* Reads from log page 06h, Device Self-test, whether a self-test is running. END_UNSUPPORTED: the drive has no self-test. */
int nvme_is_testing(Device *d, bool *ret);
