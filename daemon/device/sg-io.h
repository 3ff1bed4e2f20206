/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One SCSI command through the SG_IO ioctl, and what came back, decoded. Linux include/scsi/sg.h; sense data by SPC-4. */

#include "device.h"

/* Generous on purpose: when it runs out the kernel's error handling resets the link, which costs settings. How long
 * the service waits for a worker is another number (service/visit-job.c) and aborts nothing. */
#define SG_TIMEOUT_MS 15000U
#define SG_TIMEOUT_SPINUP_MS 30000U
#define SG_TIMEOUT_FLUSH_MS 60000U

#define UNIT_ATTENTION_RETRIES 3U /* at once */

#define SG_SENSE_MAX 64U

typedef struct SgRequest {
        uint8_t cdb[16];
        uint8_t cdb_len;
        void *data;
        uint32_t data_len;   /* 0: none */
        bool to_device;      /* the data; else it is what comes back */
        uint32_t timeout_ms; /* 0: SG_TIMEOUT_MS */

        /* Filled in by the transport. */
        uint8_t status; /* STATUS_… */
        uint16_t host_status;
        uint8_t sense[SG_SENSE_MAX];
        uint8_t sense_len;
        int32_t resid;
        uint64_t took_ms; /* by scsi_command(), of the last time that it was sent */
} SgRequest;

int sg_io_real(void *userdata, int fd, SgRequest *request);

/* Sends it, again where a unit attention came before it: 0, or the step's end, with a sentence that names the command.
 * END_REFUSED: the drive answered with an error, and sg_sense() tells which. */
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

/* Sense data, either format. `valid` is false for none, all zero, or an unknown response code. */
typedef struct Sense {
        bool valid;
        bool descriptor_format;
        uint8_t key, asc, ascq;
} Sense;

Sense sense_parse(const uint8_t *sense, size_t len);
Sense sg_sense(const SgRequest *q);

/* Did the drive refuse it as an illegal request, and for this reason? */
bool sg_is_illegal(const SgRequest *q, uint8_t asc);

/* How many bytes of data came back, as far as the transport tells. */
size_t sg_received(const SgRequest *q);
