/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <scsi/sg.h>
#include <sys/ioctl.h>

#include "sg-io.h"

int sg_io_real(void *userdata _unused_, int fd, SgRequest *q) {
        static const int directions[] = {
                [SG_NONE] = SG_DXFER_NONE,
                [SG_FROM_DEVICE] = SG_DXFER_FROM_DEV,
                [SG_TO_DEVICE] = SG_DXFER_TO_DEV,
        };
        struct sg_io_hdr h = {
                .interface_id = 'S',
                .dxfer_direction = directions[q->direction],
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
        q->driver_status = h.driver_status;
        q->sense_len = h.sb_len_wr;
        q->resid = h.resid;
        return 0;
}

Sense sense_parse(const uint8_t *b, size_t len) {
        Sense s = {};

        if (len < 4)
                return s;

        switch (b[0] & 0x7F) {
        case 0x72:
        case 0x73:
                s = (Sense){ .valid = true, .descriptor_format = true, .key = b[1] & 0x0F, .asc = b[2], .ascq = b[3] };
                break;
        case 0x70:
        case 0x71:
                s = (Sense){ .valid = true, .key = b[2] & 0x0F };
                if (len >= 14) {
                        s.asc = b[12];
                        s.ascq = b[13];
                }
                break;
        }

        return s;
}

const uint8_t *sense_find_descriptor(const uint8_t *b, size_t len, uint8_t type, size_t *ret_len) {
        size_t end;

        if (len < 8)
                return NULL;

        end = MIN(len, 8U + b[7]);
        for (size_t i = 8; i + 2 <= end;) {
                size_t n = 2U + b[i + 1];

                if (i + n > end)
                        return NULL;
                if (b[i] == type) {
                        *ret_len = n;
                        return b + i;
                }
                i += n;
        }

        return NULL;
}
