/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Parser for the 256 words of ATA IDENTIFY DEVICE (ACS-4), in host byte order, with the rules for the validity of each word. The
 * functions send no command and have no side effects. */

#include "drive.h"

/* If the low byte of word 255 is A5h, the high byte is a checksum: the sum of all 512 bytes must be 0. If the low byte has another value,
 * the data counts as correct, because drives before ATA-5 have no checksum. Data with 256 equal words is rejected. */
#define IDENTIFY_CHECKSUM_MARK 0xA5
bool identify_checksum_ok(const uint16_t id[static 256]);

/* Returns true if the word is valid. */
bool identify_word_valid(const uint16_t id[static 256], unsigned word);

typedef struct IdentifyField {
        uint8_t word, bit;
        uint8_t bits; /* number of bits, at most 48; 0 means 1 bit. A long field continues in the following words */
} IdentifyField;

/* Returns the value of the field, or 0 if its word is not valid (words 50, 76…79, 82/83, 84, 85…87, 119/120 and 206 have rules for
 * validity). */
uint64_t identify_field(const uint16_t id[static 256], const IdentifyField *f);
bool identify_bit(const uint16_t id[static 256], uint8_t word, uint8_t bit);

/* Reads model, serial number, firmware and WWN (words 27…46, 10…19, 23…26, 108…111). The spelling is that of udev's ID_MODEL and ID_WWN,
 * except that blanks are kept. Texts with control or non-ASCII characters are left empty. */
void identify_drive(const uint16_t id[static 256], DriveIdentity *ret);

/* Returns true if udev's serial number equals that of IDENTIFY, or if IDENTIFY has no serial number. All characters except letters and
 * digits count as equal, because udev replaces some of them. */
bool identify_serial_agrees(const uint16_t id[static 256], const char *udev_serial);

/* Creates an ATA drive with the names, size and rotation of an IDENTIFY DEVICE image. To read the drive's settings, set DeviceIO.image to
 * the same image. */
int identify_image_drive(const uint16_t id[static 256], const char *name, Drive **ret);

/* Returns why the data is not an image of an ATA drive, as a phrase to print after the file name. Returns NULL if the data is an image. */
const char *identify_image_problem(const uint16_t id[static 256]);

/* Reads 512 bytes as the drive sends them (little-endian words), or 256 words of hexadecimal text with or without a heading, as printed
 * by `hdparm --Istdout` and the kernel's /sys/class/ata_device. text[size] must be NUL, as text_file_read() leaves it. -EBADMSG: neither
 * format. */
int identify_image_parse(const char *text, size_t size, uint16_t ret[static 256]);

/* ---- facts about the drive other than settings, in words, like the output of `hdparm -I` (ACS-4, 7.13.6) ---- */

#define IDENTIFY_FACT_MAX 96U

typedef struct IdentifyFact {
        const char *key, *title;
        /* Writes to `text`, which is empty at first and remains empty if the drive does not report the fact. */
        void (*print)(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]);
} IdentifyFact;

extern const IdentifyFact identify_facts[]; /* ends with {} */
