/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>

#include "plan.h"
#include "scsi.h"

#define MODE_DATA_MAX 252U

enum {
        SYNCHRONIZE_CACHE_10 = 0x35,
        MODE_SELECT_6 = 0x15,
        MODE_SENSE_6 = 0x1A,
        MODE_SELECT_10 = 0x55,
        MODE_SENSE_10 = 0x5A,
};

#define PAGE_FORMAT 0x10
#define SAVE_PAGES 0x01
#define NO_BLOCK_DESCRIPTORS 0x08
#define PARAMETERS_SAVEABLE 0x80
#define SUBPAGE_FORMAT 0x40

/* -EINTR: it has to be sent again. */
static int scsi_result(Device *d, const SgRequest *q, const char *name) {
        Sense s;
        int r;

        r = sg_reached(d, q, name);
        if (r < 0)
                return r;

        switch (q->status) {
        case STATUS_GOOD:
                return 0;
        case STATUS_RESERVATION_CONFLICT:
                return device_fail(d, STEP_REFUSED, "another host has reserved the drive (%s)", name);
        case STATUS_CHECK_CONDITION:
                break;
        default:
                return device_fail(d, STEP_REFUSED, "%s was answered with SCSI status %02Xh", name, q->status);
        }

        s = sg_sense(q);
        if (!s.valid)
                return device_fail(d, -EBADMSG, "%s was answered without usable sense data", name);

        switch (s.key) {
        case SENSE_NONE:
        case SENSE_RECOVERED_ERROR: /* a rounded parameter, among others: reading it back tells */
                return 0;
        case SENSE_UNIT_ATTENTION:
                return device_fail(d, -EINTR, "unit attention (%02Xh/%02Xh)", s.asc, s.ascq);
        case SENSE_NOT_READY:
                return device_fail(d, STEP_REFUSED, "the drive is not ready for %s (%02Xh/%02Xh)", name, s.asc, s.ascq);
        default:
                return device_fail(d, STEP_REFUSED, "the drive refused %s (sense %Xh %02Xh/%02Xh)", name, s.key, s.asc,
                                   s.ascq);
        }
}

int scsi_command(Device *d, SgRequest *q, const char *name) {
        for (unsigned i = 0;; i++) {
                int r;

                r = sg_send(d, q, "SCSI", name);
                if (r < 0)
                        return r;

                r = scsi_result(d, q, name);
                if (r == -EINTR && i < UNIT_ATTENTION_RETRIES)
                        continue;
                if (r == -EINTR)
                        return device_fail(d, -EIO, "the drive keeps answering with unit attention");
                return r;
        }
}

/* How much of the data the drive sent, as far as the transport tells: what is behind that is ours, and no page of it may be
 * written back. */
static size_t received(const SgRequest *q) {
        return q->resid > 0 ? q->data_len - MIN((uint32_t) q->resid, q->data_len) : q->data_len;
}

/* The page in what came back: header, block descriptors that were not asked for, page. */
static int mode_page_find(Device *d, const uint8_t *data, size_t size, uint8_t page, bool six, ModePage *ret) {
        size_t header = six ? 4 : 8, total = six ? data[0] + 1U : (data[0] << 8 | data[1]) + 2U;
        size_t at = header + (six ? data[3] : (unsigned) (data[6] << 8 | data[7])), len;

        if (total > size)
                total = size;
        if (at + 2 > total || (data[at] & 0x3F) != page || (data[at] & SUBPAGE_FORMAT))
                return device_fail(d, -EBADMSG, "MODE SENSE was answered without page %02Xh", page);

        len = data[at + 1] + 2U;
        if (at + len > total || len > sizeof ret->bytes)
                return device_fail(d, -EBADMSG, "MODE SENSE was answered with a part of page %02Xh", page);

        *ret = (ModePage){ .len = len, .saveable = data[at] & PARAMETERS_SAVEABLE, .by_six = six };
        memcpy(ret->bytes, data + at, len);
        ret->bytes[0] &= 0x3F;
        return 0;
}

static bool is_illegal(const SgRequest *q, uint8_t asc) {
        Sense s = sg_sense(q);

        return s.key == SENSE_ILLEGAL_REQUEST && s.asc == asc;
}

int mode_sense(Device *d, uint8_t page, ModeControl control, size_t least, ModePage *ret) {
        uint8_t data[MODE_DATA_MAX] = {};
        SgRequest q = {
                .cdb = { MODE_SENSE_10, NO_BLOCK_DESCRIPTORS, control << 6 | page, [8] = sizeof data },
                .cdb_len = 10,
                .direction = SG_FROM_DEVICE,
                .data = data,
                .data_len = sizeof data,
                .timeout_ms = SG_TIMEOUT_MS,
        };
        int r;

        r = scsi_command(d, &q, "MODE SENSE");
        if (r == STEP_REFUSED && is_illegal(&q, ASC_INVALID_OPCODE)) {
                q.cdb[0] = MODE_SENSE_6;
                q.cdb[4] = sizeof data;
                q.cdb[8] = 0;
                q.cdb_len = 6;
                memset(data, 0, sizeof data);
                r = scsi_command(d, &q, "MODE SENSE");
        }
        if (r == STEP_REFUSED && (is_illegal(&q, ASC_INVALID_OPCODE) || is_illegal(&q, ASC_INVALID_FIELD_IN_CDB) ||
                                  is_illegal(&q, ASC_SAVING_NOT_SUPPORTED)))
                return device_fail(d, STEP_UNSUPPORTED, "the drive has no %smode page %02Xh",
                                   control == MODE_SAVED ? "saved " : "", page);
        if (r < 0)
                return r;

        r = mode_page_find(d, data, received(&q), page, q.cdb_len == 6, ret);
        if (r >= 0 && ret->len < least)
                return device_fail(d, STEP_UNSUPPORTED, "the drive's mode page %02Xh is too short to have it", page);
        return r;
}

int mode_select(Device *d, const ModePage *page, bool save) {
        bool six = page->by_six;
        size_t header = six ? 4 : 8, len = header + page->len;
        uint8_t data[8 + sizeof page->bytes] = {};
        SgRequest q = {
                .cdb = { six ? MODE_SELECT_6 : MODE_SELECT_10, PAGE_FORMAT | (save ? SAVE_PAGES : 0) },
                .cdb_len = six ? 6 : 10,
                .direction = SG_TO_DEVICE,
                .data = data,
                .data_len = len,
                /* Turning a cache off writes out what is in it. */
                .timeout_ms = SG_TIMEOUT_FLUSH_MS,
        };

        assert(page->len <= sizeof page->bytes);
        /* The header stays zero: length, medium type and block descriptors are reserved, or no drive reads them. */
        memcpy(data + header, page->bytes, page->len);
        if (!six)
                q.cdb[7] = len >> 8;
        q.cdb[six ? 4 : 8] = len;
        return scsi_command(d, &q, "MODE SELECT");
}

int scsi_synchronize_cache(Device *d) {
        SgRequest q = {
                .cdb = { SYNCHRONIZE_CACHE_10 },
                .cdb_len = 10,
                .direction = SG_NONE,
                .timeout_ms = SG_TIMEOUT_FLUSH_MS,
        };

        return scsi_command(d, &q, "SYNCHRONIZE CACHE");
}
