/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a drive supports and has at present, row by row. Changes nothing and wakes nothing. */

#include "device.h"

typedef struct Probed {
        const Setting *setting;
        Reading reading;
        const char *reason; /* why more is not known, as a sentence's end; NULL: all is said */
} Probed;

typedef int (*ProbeFn)(void *userdata, const Probed *s);

/* Calls `each` for every row of these backends (a mask of 1 << Backend, such as drive_backends()), in the order of the table;
 * aliases, rows that are never written, and deeds are left out. Returns what `each` returned when that is negative. */
int probe(const Drive *drive, unsigned backends, const SettingTable *t, const DeviceIO *io, ProbeFn each,
          void *userdata);

/* The drive that an IDENTIFY DEVICE image is of: an ATA drive with its texts, size and rotation. DeviceIO.image stands for it. */
int identify_image_drive(const uint16_t id[static 256], const char *name, Drive **ret);

/* Why it cannot be an image of a drive that has these rows, as what follows its name in a sentence; NULL: it can. */
const char *identify_image_objection(const uint16_t id[static 256]);

/* Reads 512 bytes as the drive sends them (words are little-endian), or 256 words as hexadecimal text, as `hdparm --Istdout`
 * and the kernel's /sys/class/ata_device have them, with or without a heading. text[size] is NUL, as text_file_read() leaves
 * it. -EBADMSG: it is neither. */
int identify_image_parse(const char *text, size_t size, uint16_t ret[static 256]);
