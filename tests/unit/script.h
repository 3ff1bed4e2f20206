/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A scripted drive for unit tests: the expected commands, byte by byte, and their answers. A command out of order, or a missing command,
 * fails the test. */

#include <check.h>
#include <linux/nvme_ioctl.h>
#include <stdio.h>

#include "device.h"
#include "plan.h"
#include "sg-io.h"

typedef struct Row {
        const char *cdb;  /* expected bytes of the command, such as "85 06 20 …" */
        const char *out;  /* expected first bytes of the sent data; NULL: no data */
        const void *data; /* returned data */
        size_t data_len;
        const char *sense; /* returned sense data; NULL: good status without sense data */
        uint16_t host_status;
        int32_t resid; /* residual count reported by the transport */
        int error;     /* errno of the ioctl */

        /* A row is an NVMe admin command if opcode != 0. */
        uint8_t opcode;
        uint32_t nsid, cdw10, cdw11, result;
        int status;
} Row;

typedef struct Script {
        const Row *rows;
        size_t n_rows, next;
        unsigned n_gates;
        unsigned gate_closes_at; /* DeviceIO.gate answers "not now" from this call on (1: the first call); 0: never */
} Script;

static inline size_t script_bytes(const char *hex, uint8_t *buf, size_t size) {
        size_t n = 0;
        int used;
        unsigned b;

        for (; hex && sscanf(hex, " %2x%n", &b, &used) == 1; hex += used) {
                ck_assert_uint_lt(n, size);
                buf[n++] = b;
        }
        return n;
}

static inline const Row *script_next(Script *s, const char *what) {
        ck_assert_msg(s->next < s->n_rows, "command %zu, %s, is not in the script", s->next, what);
        return s->rows + s->next++;
}

static inline int script_sg(void *userdata, int fd _unused_, SgRequest *q) {
        Script *s = userdata;
        uint8_t expected[16], out[64];
        char text[64] = "";
        const Row *row;
        size_t n;

        for (size_t i = 0; i < q->cdb_len; i++)
                sprintf(text + i * 3, "%02x ", q->cdb[i]);
        row = script_next(s, text);

        n = script_bytes(row->cdb, expected, sizeof expected);
        ck_assert_msg(n == q->cdb_len && memcmp(expected, q->cdb, n) == 0, "command %zu: expected %s, sent %s",
                      s->next - 1, row->cdb ?: "(NVMe)", text);
        ck_assert_uint_ge(q->timeout_ms, SG_TIMEOUT_MS);

        n = script_bytes(row->out, out, sizeof out);
        if (q->to_device)
                ck_assert_mem_eq(q->data, out, n);
        else
                ck_assert_uint_eq(n, 0);

        if (row->error)
                return row->error;

        if (row->data)
                memcpy(q->data, row->data, MIN(row->data_len, q->data_len));
        q->host_status = row->host_status;
        q->resid = row->resid;
        q->sense_len = script_bytes(row->sense, q->sense, sizeof q->sense);
        q->status = row->sense ? 2 : 0;
        return 0;
}

static inline int script_nvme(void *userdata, int fd _unused_, struct nvme_passthru_cmd *cmd) {
        Script *s = userdata;
        const Row *row = script_next(s, "an NVMe admin command");

        ck_assert_uint_eq(cmd->opcode, row->opcode);
        ck_assert_uint_eq(cmd->nsid, row->nsid);
        ck_assert_uint_eq(cmd->cdw10, row->cdw10);
        ck_assert_uint_eq(cmd->cdw11, row->cdw11);
        if (row->data)
                memcpy((void *) (uintptr_t) cmd->addr, row->data, MIN(row->data_len, cmd->data_len));
        cmd->result = row->result;
        return row->error ?: row->status;
}

static inline int script_open(void *userdata _unused_, const Drive *drive _unused_) {
        return 1000; /* a descriptor number that is not open, so close() in device_done() fails harmlessly */
}

static inline int script_gate(void *userdata, const Drive *drive _unused_, const char **ret_why) {
        Script *s = userdata;

        s->n_gates++;
        *ret_why = "not now";
        return s->gate_closes_at && s->n_gates >= s->gate_closes_at ? END_DEFERRED : 0;
}

static inline DeviceIO script_io(Script *s) {
        return (DeviceIO){
                .open_node = script_open,
                .sg = script_sg,
                .nvme_admin = script_nvme,
                .gate = script_gate,
                .userdata = s,
        };
}

static inline void script_done(const Script *s) {
        ck_assert_msg(s->next == s->n_rows, "%zu of %zu expected commands were sent", s->next, s->n_rows);
}

#define SCRIPT(r) \
        { .rows = (r), .n_rows = ELEMENTSOF(r) }
