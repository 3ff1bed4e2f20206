/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <endian.h>

#include "ata-identify.h"
#include "ata.h"

enum {
        SMART_READ_LOG = 0xD5,
        SMART_WRITE_LOG = 0xD6,
        SCT_LOG_COMMAND_STATUS = 0xE0,
        SCT_ACTION_ERROR_RECOVERY = 3,
        SCT_ACTION_FEATURE_CONTROL = 4,
        SCT_ERC_SET = 1,
        SCT_ERC_GET = 2,
        SCT_FEATURE_SET = 1,
        SCT_FEATURE_GET = 2,
        SCT_FEATURE_GET_OPTIONS = 3,
        SCT_FEATURE_SAVED = 1, /* of the options */
        SCT_STATUS_RUNNING = 0xFFFF,
};

static Taskfile sct_taskfile(uint8_t subcommand) {
        return (Taskfile){
                .command = ATA_CMD_SMART,
                .feature = subcommand,
                .count = 1,
                .lbal = SCT_LOG_COMMAND_STATUS,
                .lbam = 0x4F, /* the SMART signature */
                .lbah = 0xC2,
        };
}

/* A drive runs one SCT command at a time, and a new table would break into a running one (a write-same, say). Asked
 * once per visit. */
static int sct_check_free(Device *d) {
        uint8_t data[512] = {};
        Taskfile tf = sct_taskfile(SMART_READ_LOG);
        unsigned format, extended;
        int r;

        if (d->sct_checked)
                return 0;

        r = ata_command(d, &tf, SG_FROM_DEVICE, data, sizeof data, NULL);
        if (r < 0)
                return r;

        format = data[0] | data[1] << 8;
        extended = data[14] | data[15] << 8;
        if (format != 2 && format != 3)
                return device_fail(d, -EBADMSG, "its SCT status has format %u, not 2 or 3", format);
        if (extended == SCT_STATUS_RUNNING)
                return device_fail(d, -EBUSY, "another SCT command is running in the drive");

        d->sct_checked = true;
        return 0;
}

/* The key, four words of the table, and what comes back in COUNT and LBA 7:0. */
static int sct_command(Device *d, const uint16_t words[static 5], Registers *ret) {
        uint16_t table[256] = {};
        Taskfile tf = sct_taskfile(SMART_WRITE_LOG);
        int r;

        r = sct_check_free(d);
        if (r < 0)
                return r;

        for (size_t i = 0; i < 5; i++)
                table[i] = htole16(words[i]);
        tf.want_registers = true;
        return ata_command(d, &tf, SG_TO_DEVICE, table, sizeof table, ret);
}

static int sct_query(Device *d, const uint16_t words[static 5], uint16_t *ret) {
        Registers regs;
        uint16_t value;
        int r;

        r = sct_command(d, words, &regs);
        if (r < 0)
                return r;

        /* Registers that stand as they were sent come from a bridge that never fetched them (smartmontools knows it). */
        value = regs.count | regs.lbal << 8;
        if (!regs.valid || value == (SCT_LOG_COMMAND_STATUS << 8 | 1))
                return -ENODATA;

        *ret = value;
        return 0;
}

int sct_erc_get(Device *d, SctErcTime time, SctErcSelection which, uint16_t *ret) {
        return sct_query(d, (uint16_t[5]){ SCT_ACTION_ERROR_RECOVERY, SCT_ERC_GET + time, which }, ret);
}

int sct_erc_set(Device *d, SctErcTime time, SctErcSelection which, uint16_t limit) {
        return sct_command(d, (uint16_t[5]){ SCT_ACTION_ERROR_RECOVERY, SCT_ERC_SET + time, which, limit }, NULL);
}

bool sct_has_features(Device *d) {
        return identify_bit(d->identify, 206, 0) && identify_bit(d->identify, 206, 4);
}

int sct_feature_get(Device *d, SctFeature feature, uint16_t *ret) {
        return sct_query(d, (uint16_t[5]){ SCT_ACTION_FEATURE_CONTROL, SCT_FEATURE_GET, feature }, ret);
}

int sct_feature_is_saved(Device *d, SctFeature feature, bool *ret) {
        uint16_t options;
        int r;

        r = sct_query(d, (uint16_t[5]){ SCT_ACTION_FEATURE_CONTROL, SCT_FEATURE_GET_OPTIONS, feature }, &options);
        if (r >= 0)
                *ret = options & SCT_FEATURE_SAVED;
        return r;
}

int sct_feature_set(Device *d, SctFeature feature, uint16_t state, bool saved) {
        return sct_command(d,
                           (uint16_t[5]){ SCT_ACTION_FEATURE_CONTROL, SCT_FEATURE_SET, feature, state,
                                          saved ? SCT_FEATURE_SAVED : 0 },
                           NULL);
}
