/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The 256 words of ATA IDENTIFY DEVICE, in host byte order, and which of them may be believed (ACS-4).
 * Pure. */

#include "drive.h"

/* Word 255: the low byte A5h marks a checksum in the high byte, by which all 512 bytes sum to 0. Drives before ATA-5
 * have no mark; words that are all equal are no IDENTIFY data at all. */
#define IDENTIFY_CHECKSUM_MARK 0xA5
bool identify_checksum_ok(const uint16_t id[static 256]);

/* May the word be believed? */
bool identify_word_valid(const uint16_t id[static 256], unsigned word);

typedef struct IdentifyField {
        uint8_t word, bit;
        uint8_t bits; /* how many, 48 at most; 0: one. They go on in the words behind it */
} IdentifyField;

/* The field's number, or 0 where the word that holds it is not valid (82/83, 84, 85…87, 119/120, 76…79, 50 have rules of their own). */
uint64_t identify_field(const uint16_t id[static 256], const IdentifyField *f);
bool identify_bit(const uint16_t id[static 256], uint8_t word, uint8_t bit);

/* Model, serial number, firmware and WWN (words 27…46, 10…19, 23…26, 108…111), as udev spells them in ID_MODEL and ID_WWN but
 * with their blanks. What has a control character or is no ASCII is left empty. */
void identify_drive(const uint16_t id[static 256], DriveIdentity *ret);

/* Is that the serial number that udev has from the same words? Whatever is between letters and digits is one: udev spells other
 * characters otherwise. */
bool identify_serial_agrees(const uint16_t id[static 256], const char *udev_serial);

/* The drive that an IDENTIFY DEVICE image is of: an ATA drive with its texts, size and rotation. DeviceIO.image stands for it. */
int identify_image_drive(const uint16_t id[static 256], const char *name, Drive **ret);

/* Why it cannot be an image of a drive that has these rows, as what follows its name in a sentence; NULL: it can. */
const char *identify_image_objection(const uint16_t id[static 256]);

/* Reads 512 bytes as the drive sends them (words are little-endian), or 256 words as hexadecimal text, as `hdparm --Istdout`
 * and the kernel's /sys/class/ata_device have them, with or without a heading. text[size] is NUL, as text_file_read() leaves
 * it. -EBADMSG: it is neither. */
int identify_image_parse(const char *text, size_t size, uint16_t ret[static 256]);

/* ---- what it says of a drive beside its settings (ACS-4, 7.13.6), as `hdparm -I` shows it, as texts for people ---- */

#define IDENTIFY_FACT_MAX 96U

typedef struct IdentifyFact {
        const char *key, *title;
        /* Into `text`, which is empty, and stays so where the drive does not say it. */
        void (*tell)(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]);
} IdentifyFact;

extern const IdentifyFact identify_facts[]; /* ends with {} */
