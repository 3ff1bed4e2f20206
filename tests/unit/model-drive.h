/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A model of a drive with write cache, look-ahead, APM and standby timer, for unit tests. The model counts redundant commands. ModelDrive
 * is plain data, so that it can be in shared memory. */

#include "device.h"
#include "identify-image.h"
#include "sg-io.h"

typedef struct ModelDrive {
        bool cache, lookahead;
        int apm;          /* APM level; -1: off */
        int timer;        /* code of the standby timer; -1: not set since power-on */
        unsigned n_sent;  /* number of commands */
        unsigned n_set;   /* number of commands that set a value */
        unsigned n_again; /* number of commands that set a readable value to its current value */
        unsigned n_flushed;
} ModelDrive;

/* State after power-on. No setting has the value that a test wants. */
#define MODEL_DRIVE_COLD ((ModelDrive){ .cache = true, .apm = 128, .timer = -1 })

static inline void model_set(ModelDrive *m, bool *what, bool value) {
        m->n_set++;
        m->n_again += *what == value;
        *what = value;
}

static inline void model_set_level(ModelDrive *m, int *what, int value) {
        m->n_set++;
        m->n_again += *what == value;
        *what = value;
}

/* Executes a command. Returns false for an unsupported command. */
static inline bool model_obey(ModelDrive *m, SgRequest *q) {
        uint8_t feature = q->cdb[4], count = q->cdb[6];

        switch (q->cdb[14]) {
        case 0xE5:
        case 0xEA:
                m->n_flushed += q->cdb[14] == 0xEA;
                return true;
        case 0xE3:
                m->n_set++;
                m->timer = count;
                return true;
        case 0xEC: {
                Image i = image_make(m->cache, m->lookahead, m->apm, -1);

                memcpy(q->data, &i, MIN(sizeof i, q->data_len));
                return true;
        }
        case 0xEF:
                break;
        default:
                return false;
        }

        switch (feature) {
        case 0x02:
        case 0x82:
                model_set(m, &m->cache, feature == 0x02);
                return true;
        case 0xAA:
        case 0x55:
                model_set(m, &m->lookahead, feature == 0xAA);
                return true;
        case 0x05:
        case 0x85:
                model_set_level(m, &m->apm, feature == 0x05 ? count : -1);
                return true;
        default:
                return false;
        }
}

/* Functions of DeviceIO; `userdata` begins with a ModelDrive *. */
static inline int model_sg(void *userdata, int fd _unused_, SgRequest *q) {
        ModelDrive *m = *(ModelDrive **) userdata;
        bool obeyed = model_obey(m, q);
        /* Sense data in descriptor format with the ATA registers. FFh in COUNT reports the power mode "active". */
        const uint8_t sense[] = { 0x72, obeyed ? 0x01 : 0x0B, 0, 0x1D, 0, 0, 0, 0x0E, 0x09, 0x0C,
                                  0,    obeyed ? 0 : 0x04,    0, 0xFF, 0, 0, 0, 0,    0,    0,
                                  0x40, obeyed ? 0x50 : 0x51 };

        m->n_sent++;
        if (obeyed && q->data_len > 0)
                return 0;
        memcpy(q->sense, sense, sizeof sense);
        q->sense_len = sizeof sense;
        q->status = 2;
        return 0;
}

static inline int model_open(void *userdata _unused_, const Drive *drive _unused_) {
        return 1000; /* a descriptor number that is not open, so close() in device_done() fails harmlessly */
}
