/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Sends one SCSI command by the SG_IO ioctl, and decodes the answer. Sources: Linux include/scsi/sg.h; sense data: SPC-4. */

#include "device.h"

/* Command timeouts. They are long, because the kernel's error handling resets the link at a timeout, which loses settings. The service's
 * separate timeout for a worker (service/visit-job.c) aborts no command. */
#define SG_TIMEOUT_MS 15000U
#define SG_TIMEOUT_SPINUP_MS 30000U
#define SG_TIMEOUT_FLUSH_MS 60000U

#define UNIT_ATTENTION_RETRIES 3U /* retries without delay */

#define SG_SENSE_MAX 64U

typedef struct SgRequest {
        uint8_t cdb[16];
        uint8_t cdb_len;
        void *data;
        uint32_t data_len;   /* 0: no data */
        bool to_device;      /* direction of the data; false: from the device */
        uint32_t timeout_ms; /* 0: SG_TIMEOUT_MS */

        /* Results of the command, filled in by the transport. */
        uint8_t status; /* SCSI status, STATUS_… */
        uint16_t host_status;
        uint8_t sense[SG_SENSE_MAX];
        uint8_t sense_len;
        int32_t resid;
        uint64_t took_ms; /* duration of the last transmission, set by scsi_command() */
} SgRequest;

int sg_io_real(void *userdata, int fd, SgRequest *request);

/* Sends the command, and repeats it after a unit attention. Returns 0 or an error, with a reason that names the command. END_REFUSED:
 * the drive answered with an error, decoded by sg_sense(). */
int scsi_command(Device *d, SgRequest *q);

/* SPC-4's SCSI status codes, sense keys, and additional sense codes. */
enum {
        STATUS_GOOD = 0x00,
        STATUS_CHECK_CONDITION = 0x02,

        SENSE_NONE = 0x0,
        SENSE_RECOVERED_ERROR = 0x1,
        SENSE_NOT_READY = 0x2,
        SENSE_ILLEGAL_REQUEST = 0x5,
        SENSE_UNIT_ATTENTION = 0x6,
        SENSE_ABORTED_COMMAND = 0xB,

        ASC_NOT_READY = 0x04,
        ASC_INVALID_OPCODE = 0x20,
        ASC_INVALID_FIELD_IN_CDB = 0x24,
        ASC_SAVING_NOT_SUPPORTED = 0x39,
        ASC_NO_MEDIUM = 0x3A,
        ASC_LOW_POWER_CONDITION = 0x5E,
};

/* Sense data in fixed or descriptor format. `valid` is false for missing or all-zero data, or an unknown response code. */
typedef struct Sense {
        bool valid;
        bool descriptor_format;
        uint8_t key, asc, ascq;
} Sense;

Sense sense_parse(const uint8_t *sense, size_t len);
Sense sg_sense(const SgRequest *q);

/* Returns true if the drive rejected the command as an illegal request with this additional sense code. */
bool sg_is_illegal(const SgRequest *q, uint8_t asc);

/* Returns the number of data bytes received, as far as the transport reports it. */
size_t sg_received(const SgRequest *q);
