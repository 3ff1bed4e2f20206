/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The speed setting of CD, DVD and Blu-ray drives, which is set by MMC commands. ATA PASS-THROUGH is never sent to these drives: in MMC,
 * the opcode of its 12-byte form means BLANK, which erases a disc. */

#include <endian.h>

#include "settings.h"
#include "sg-io.h"

#define SET_STREAMING 0xB6
#define SET_CD_SPEED 0xBB
#define RESTORE_DEFAULTS (1U << 26) /* RDD bit in the first byte */
#define CD_1X 177                   /* speed 1x in kB/s */
#define FASTEST 0xFFFF

/* Sets the speed on DVD and newer drives. */
static int set_streaming(Device *d, uint32_t speed) {
        uint32_t size = htobe32(speed * CD_1X), time = htobe32(speed == 0 ? 0 : 1000);
        /* Performance descriptor: flags, start and end of the disc, then kilobytes and milliseconds for reading, then the same for
         * writing. */
        uint32_t p[7] = { htobe32(speed == 0 ? RESTORE_DEFAULTS : 0), 0, UINT32_MAX, size, time, size, time };
        SgRequest q = {
                .cdb = { SET_STREAMING, [10] = sizeof p },
                .cdb_len = 12,
                .data = p,
                .data_len = sizeof p,
                .to_device = true,
        };

        return scsi_command(d, &q);
}

/* Sets the reading speed on CD drives. The writing speed remains the drive's maximum, because burning programs set the writing speed
 * themselves. */
static int set_cd_speed(Device *d, uint32_t speed) {
        uint32_t n = speed == 0 ? FASTEST : speed * CD_1X;
        SgRequest q = {
                .cdb = { SET_CD_SPEED, 0, n >> 8, n & 0xFF, FASTEST >> 8, FASTEST & 0xFF },
                .cdb_len = 12,
        };

        return scsi_command(d, &q);
}

/* Reports the setting as supported. Sends no command, because opening the node would make the kernel look for a disc. */
static int cd_speed_read(Device *d _unused_, const Setting *s, Reading *ret) {
        *ret = (Reading){ .supported = true, .value.type = s->range.type };
        return 0;
}

/* Sends SET STREAMING and SET CD SPEED, because many drives support only one of these commands. */
static int cd_speed_write(Device *d, const Setting *s _unused_, const Value *v) {
        int streaming, cd;

        streaming = set_streaming(d, v->number);
        if (streaming < 0 && streaming != END_REFUSED)
                return streaming;

        cd = set_cd_speed(d, v->number);
        return cd == END_REFUSED && streaming >= 0 ? 0 : cd;
}

/* clang-format off */
static const ValueWord cd_speed_words[] = { { "default", 0 }, {} };

const Setting optical_settings[] = {
        { .brief = "reading speed of a CD or DVD", .also = "cdrom_speed",
          .name = "cd_speed", .backend = BACKEND_OPTICAL, .read = cd_speed_read, .write = cd_speed_write,
          .order = 100, .lost_by = "power, change of disc", .equivalent = "hdparm -E",
          .source = "MMC-6 SET STREAMING B6h, SET CD SPEED BBh",
          .summary = "highest reading speed of a CD, DVD or Blu-ray drive, as a multiple of CD speed (177 kB/s)",
          .range = { .type = VALUE_INT, .min = 1, .max = 255, .words = cd_speed_words },
          .flags = SETTING_UNREADABLE },
        {},
};
/* clang-format on */
