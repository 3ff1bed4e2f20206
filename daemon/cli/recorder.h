/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Records the commands to a drive with the drive's answers, and the attributes that are read from sysfs. */

#include <linux/nvme_ioctl.h>

#include "sg-io.h"

/* One command. `data` is a copy of the received or sent data; the pointers in `sg` and `nvme` are not valid. */
typedef struct Exchange {
        bool is_nvme;
        SgRequest sg;
        struct nvme_passthru_cmd nvme;
        int result; /* 0, the NVMe status, or the negative errno of the system call */
        uint8_t *data;
        uint32_t data_len;
} Exchange;

typedef struct Attribute {
        char *path, *text; /* path: relative to the drive's directory in sysfs */
} Attribute;

typedef struct Recorder {
        GROWING_ARRAY(Exchange, exchanges);
        GROWING_ARRAY(Attribute, attributes); /* each path once */
        Observer observer;                    /* for Device.observer */
} Recorder;

/* `observer` points to the recorder: do not move the recorder. */
void recorder_init(Recorder *r);
void recorder_done(Recorder *r);
