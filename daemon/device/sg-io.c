/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <scsi/sg.h>
#include <sys/ioctl.h>

#include "clock.h"
#include "drive-command.h"
#include "sg-io.h"

enum {
        HOST_NO_CONNECT = 1,
        HOST_TIME_OUT = 3,
};

int sg_io_real(void *userdata _unused_, int fd, SgRequest *q) {
        struct sg_io_hdr h = {
                .interface_id = 'S',
                .dxfer_direction = q->data_len == 0 ? SG_DXFER_NONE
                                   : q->to_device   ? SG_DXFER_TO_DEV
                                                    : SG_DXFER_FROM_DEV,
                .cmd_len = q->cdb_len,
                .mx_sb_len = sizeof q->sense,
                .dxfer_len = q->data_len,
                .dxferp = q->data,
                .cmdp = q->cdb,
                .sbp = q->sense,
                .timeout = q->timeout_ms,
        };

        memset(q->sense, 0, sizeof q->sense);
        if (ioctl(fd, SG_IO, &h) < 0)
                return -errno;

        q->status = h.status;
        q->host_status = h.host_status;
        q->sense_len = h.sb_len_wr;
        q->resid = h.resid;
        return 0;
}

/* Sends the command once. Returns 0 whatever the drive answers, or the error if the command could not be sent. */
static int sg_send(Device *d, SgRequest *q, const char *name) {
        uint64_t started;
        int fd, r;

        assert(q->cdb_len > 0);

        fd = device_begin(d);
        if (fd < 0)
                return fd;

        started = monotonic_usec();
        r = d->io.sg(d->io.userdata, fd, q);
        q->took_ms = (monotonic_usec() - started) / 1000;
        if (d->observer)
                d->observer->sg(d->observer->userdata, q, r);

        if (r == -ENODEV || r == -ENXIO)
                return device_fail(d, END_VANISHED, "the drive is gone (%s)", name);
        if (r == -ENOTTY || r == -EINVAL || r == -EOPNOTSUPP)
                return device_fail(d, END_UNSUPPORTED, "the kernel does not pass such commands to the drive (%s)",
                                   name);
        if (r < 0)
                return device_fail(d, r, "%s could not be sent: %s", name, strerror(-r));
        return 0;
}

Sense sense_parse(const uint8_t *b, size_t len) {
        uint8_t code = len < 4 ? 0 : b[0] & 0x7F;

        if (code == 0x72 || code == 0x73)
                return (Sense){ .valid = true,
                                .descriptor_format = true,
                                .key = b[1] & 0x0F,
                                .asc = b[2],
                                .ascq = b[3] };
        if (code != 0x70 && code != 0x71)
                return (Sense){};
        return (Sense){
                .valid = true,
                .key = b[2] & 0x0F,
                .asc = len < 14 ? 0 : b[12],
                .ascq = len < 14 ? 0 : b[13],
        };
}

Sense sg_sense(const SgRequest *q) {
        return sense_parse(q->sense, MIN(q->sense_len, (uint8_t) SG_SENSE_MAX));
}

bool sg_is_illegal(const SgRequest *q, uint8_t asc) {
        Sense s = sg_sense(q);

        return s.key == SENSE_ILLEGAL_REQUEST && s.asc == asc;
}

size_t sg_received(const SgRequest *q) {
        return q->data_len - MIN((uint32_t) MAX(q->resid, 0), q->data_len);
}

/* Converts the answer to 0 or an error. -EINTR: the command must be repeated. */
static int scsi_result(Device *d, const SgRequest *q, const char *name) {
        char sense_text[SENSE_TEXT_MAX];
        Sense s = sg_sense(q);
        int r;

        switch (q->host_status) {
        case 0:
                break;
        case HOST_NO_CONNECT:
                return device_fail(d, END_VANISHED, "the drive is gone (%s)", name);
        case HOST_TIME_OUT:
                return device_fail(d, -ETIMEDOUT, "the drive did not answer %s in %u s", name, q->timeout_ms / 1000);
        default:
                return device_fail(d, -EIO, "%s did not reach the drive (host status %02Xh)", name, q->host_status);
        }

        if (q->status == STATUS_GOOD)
                return 0;
        if (q->status != STATUS_CHECK_CONDITION)
                return device_fail(d, END_REFUSED, "the drive answered %s with SCSI status %02Xh", name, q->status);
        if (!s.valid)
                return device_fail(d, -EBADMSG, "the drive answered %s without usable sense data", name);

        switch (s.key) {
        case SENSE_NONE:
        case SENSE_RECOVERED_ERROR: /* for example a rounded parameter, which the read-back shows */
                return 0;
        case SENSE_UNIT_ATTENTION:
                return -EINTR;
        default:
                r = device_fail(d, END_REFUSED, "the drive rejected %s (%s)", name,
                                sense_describe(s.key, s.asc, s.ascq, sense_text));
                d->failure.rejected = s.key == SENSE_ILLEGAL_REQUEST;
                return r;
        }
}

int scsi_command(Device *d, SgRequest *q) {
        char buf[COMMAND_NAME_MAX];
        const char *name = command_describe(q->cdb, q->cdb_len, buf);
        int r = -EINTR;

        q->timeout_ms = q->timeout_ms ?: SG_TIMEOUT_MS;
        for (unsigned i = 0; r == -EINTR && i <= UNIT_ATTENTION_RETRIES; i++) {
                r = sg_send(d, q, name);
                if (r >= 0)
                        r = scsi_result(d, q, name);
        }

        return r == -EINTR ? device_fail(d, -EIO, "the drive keeps answering with unit attention") : r;
}
