/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Admin commands of an NVMe controller (NVMe 1.4). */

#include "device.h"

enum {
        NVME_ADMIN_GET_LOG_PAGE = 0x02,
        NVME_ADMIN_IDENTIFY = 0x06,
        NVME_ADMIN_SET_FEATURES = 0x09,
        NVME_ADMIN_GET_FEATURES = 0x0A,

        /* Bytes of Identify Controller (CNS 01h). */
        NVME_ID_OACS = 256,   /* bit 4: it can test itself */
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

struct nvme_passthru_cmd;

/* May a command be sent? END_DEFERRED while the controller is being reset or connected, when the kernel holds commands back for as
 * long as that takes; END_VANISHED while it is removed; -EIO when the kernel has given it up. With the kernel's multipathing the
 * controllers are below the subsystem, and one that is live is enough, unless the command is for one (`alone`): which of them
 * gets it is the kernel's choice. */
int nvme_check_live(Device *d, bool alone);

/* 0, or the end of a step, with a sentence that calls the command `what`. `whole`: it belongs to the whole controller; else each namespace
 * has its own, and the drive's is meant. */
int nvme_admin(Device *d, const char *what, bool whole, struct nvme_passthru_cmd *cmd);

/* Identify Controller into d->nvme_identify, once per visit. */
int nvme_identify(Device *d);

/* The 16 bits at this byte of what it says. */
uint16_t nvme_identify_word(const Device *d, unsigned at);

/* Does the drive test itself just now? By the log page 06h, Device Self-test. END_UNSUPPORTED: it cannot. */
int nvme_is_testing(Device *d, bool *ret);
