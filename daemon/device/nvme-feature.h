/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A setting that is a part of an NVMe feature's register of 32 bits: the functions that most rows share. */

#include "nvme.h"

/* A row's detail. */
typedef struct NvmeFeature {
        uint8_t fid;
        uint8_t shift;  /* where in the register the value is … */
        uint32_t mask;  /* … and its bits, at the right end */
        uint32_t keep;  /* the other bits, which are written back as they are; 0: there are none */
        int64_t scale;  /* what one unit of the register counts in the value's own unit; 0: 1 */
        int64_t bias;   /* the value of 0 */
        bool namespace; /* each namespace has its own */
        bool (*supported)(const NvmeController *c); /* NULL: every controller has it */
} NvmeFeature;

int nvme_feature_read(Device *d, const Setting *s, Reading *ret);
int nvme_feature_write(Device *d, const Setting *s, const Value *v);

/* The value's bits, where the register has them. */
uint32_t nvme_feature_field(const NvmeFeature *f, const Value *v);

/* Writes `bits`, and of the register's other bits those in `keep` as they are. Saves too where device->save is set and the
 * controller can. */
int nvme_feature_store(Device *d, const NvmeFeature *f, uint32_t keep, uint32_t bits);
