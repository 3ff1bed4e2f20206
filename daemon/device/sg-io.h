/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One SCSI command through the SG_IO ioctl, and what came back, decoded. Linux include/scsi/sg.h; sense data by SPC. */

#include "macro.h"

/* Generous on purpose: when it runs out the kernel's error handling resets the link, which costs settings. Our own
 * patience with a drive is another number (service/worker.h) and aborts nothing. */
#define SG_TIMEOUT_MS 15000U
#define SG_TIMEOUT_SPINUP_MS 30000U
#define SG_TIMEOUT_FLUSH_MS 60000U

#define UNIT_ATTENTION_RETRIES 3U /* at once */

#define SG_SENSE_MAX 64U

typedef enum SgDirection {
        SG_NONE,
        SG_FROM_DEVICE,
        SG_TO_DEVICE,
} SgDirection;

typedef struct SgRequest {
        uint8_t cdb[16];
        uint8_t cdb_len;
        SgDirection direction;
        void *data;
        uint32_t data_len;
        uint32_t timeout_ms;

        /* Filled in by the transport. */
        uint8_t status; /* SCSI status: 0 good, 2 check condition */
        uint16_t host_status, driver_status;
        uint8_t sense[SG_SENSE_MAX];
        uint8_t sense_len;
        int32_t resid;
} SgRequest;

int sg_io_real(void *userdata, int fd, SgRequest *request);

/* Sense data, either format. `valid` is false for none, all zero, or an unknown response code. */
typedef struct Sense {
        bool valid;
        bool descriptor_format;
        uint8_t key, asc, ascq;
} Sense;

Sense sense_parse(const uint8_t *sense, size_t len);

/* The descriptor of that type in descriptor-format sense data, NULL when there is none; *ret_len counts its header. */
const uint8_t *sense_find_descriptor(const uint8_t *sense, size_t len, uint8_t type, size_t *ret_len);
