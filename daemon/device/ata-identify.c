/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "ata-identify.h"
#include "text.h"

#define BLANK " \t\r\n"
#define HEXADECIMAL "0123456789abcdefABCDEF"
#define ALPHANUMERIC "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

static bool identify_is_empty(const uint16_t id[static 256]) {
        for (size_t i = 1; i < 256; i++)
                if (id[i] != id[0])
                        return false;

        return true;
}

bool identify_checksum_ok(const uint16_t id[static 256]) {
        uint8_t sum = 0;

        for (size_t i = 0; i < 256; i++)
                sum += (id[i] & 0xFF) + (id[i] >> 8);

        return !identify_is_empty(id) && ((id[255] & 0xFF) != IDENTIFY_CHECKSUM_MARK || sum == 0);
}

/* True if bits 15:14 mark the word as valid (01b). Old drives leave the word at 0000h or FFFFh. */
static bool word_is_marked(uint16_t word) {
        return (word & 0xC000) == 0x4000;
}

bool identify_word_valid(const uint16_t id[static 256], unsigned word) {
        switch (word) {
        case 82:
        case 83:
                return word_is_marked(id[83]);
        case 85 ... 87:
                return word_is_marked(id[87]);
        case 119 ... 120:
                return (id[86] & 0x8000) && word_is_marked(id[word]);
        case 76 ... 79:
                return id[76] != 0x0000 && id[76] != 0xFFFF;
        case 50:
        case 84:
                return word_is_marked(id[word]);
        case 206:
                return id[206] != 0xFFFF;
        default:
                return true;
        }
}

uint64_t identify_field(const uint16_t id[static 256], const IdentifyField *f) {
        unsigned bits = MAX(f->bits, 1);
        uint64_t words = 0;

        assert(bits <= 48);
        if (!identify_word_valid(id, f->word))
                return 0;
        for (unsigned i = 0; 16 * i < bits; i++)
                words |= (uint64_t) id[f->word + i] << 16 * i;
        return words >> f->bit & ((UINT64_C(1) << bits) - 1);
}

bool identify_bit(const uint16_t id[static 256], uint8_t word, uint8_t bit) {
        return identify_field(id, &(IdentifyField){ word, bit, 1 });
}

/* Copies a text of `size - 1` characters to *ret and strips surrounding blanks. Leaves *ret empty if any character is not printable
 * ASCII. */
static void identify_text(const uint16_t *words, char *ret, size_t size) {
        char text[64] = {}, *start = text;

        /* Each word holds its first character in the high byte. */
        for (size_t i = 0; i < size - 1; i++)
                text[i] = (char) (i % 2 == 0 ? words[i / 2] >> 8 : words[i / 2] & 0xFF);

        /* A text ends at a NUL, as in udev. Leading NULs are skipped. */
        while (start < text + size - 1 && (*start == ' ' || *start == '\0'))
                start++;
        start = text_strip(start);

        memset(ret, 0, size);
        for (const char *p = start; *p; p++)
                if (*p < ' ' || *p > '~')
                        return;
        (void) strcpy(ret, start); /* at most size - 1 characters */
}

void identify_drive(const uint16_t id[static 256], DriveIdentity *ret) {
        *ret = (DriveIdentity){};
        identify_text(id + 27, ret->model, sizeof ret->model);
        identify_text(id + 10, ret->serial, sizeof ret->serial);
        identify_text(id + 23, ret->firmware, sizeof ret->firmware);

        /* The drive has a WWN if bit 8 of word 84 or 87 is set. The only defined NAA format is 5, but some drives report 0. */
        if ((identify_bit(id, 84, 8) || identify_bit(id, 87, 8)) && id[108] >> 12 == 5)
                (void) snprintf(ret->wwn, sizeof ret->wwn, "0x%04x%04x%04x%04x", id[108], id[109], id[110], id[111]);
}

bool identify_serial_agrees(const uint16_t id[static 256], const char *udev_serial) {
        char serial[21];
        const char *a = serial, *b = udev_serial;

        identify_text(id + 10, serial, sizeof serial);
        while (*a) {
                size_t n = strspn(a, ALPHANUMERIC);

                if (n != strspn(b, ALPHANUMERIC) || memcmp(a, b, n) != 0)
                        return false;
                a += n + strcspn(a + n, ALPHANUMERIC);
                b += n + strcspn(b + n, ALPHANUMERIC);
        }

        /* If IDENTIFY has no serial number, udev's serial number comes from another source. It then counts as equal. */
        return *b == '\0' || !serial[0];
}

/* Returns the size of a logical sector in bytes. */
static uint64_t identify_sector_size(const uint16_t id[static 256]) {
        static const IdentifyField words = { 117, 0, 32 };

        /* Word 106 is valid if bits 15:14 are 01b. If bit 12 is set, logical sectors are larger than 512 bytes, and words 117 and 118 hold
         * their size in 16-bit words. */
        return (id[106] & 0xD000) == 0x5000 ? 2 * identify_field(id, &words) : 512;
}

static uint64_t image_size(const uint16_t *id) {
        static const IdentifyField sectors28 = { 60, 0, 32 }, sectors48 = { 100, 0, 48 };
        uint64_t sectors = 0, bytes;

        /* Some drives report 48-bit support, but 0 in the 48-bit capacity. */
        if (identify_bit(id, 83, 10))
                sectors = identify_field(id, &sectors48);
        if (sectors == 0)
                sectors = identify_field(id, &sectors28);

        return __builtin_mul_overflow(sectors, identify_sector_size(id), &bytes) ? 0 : bytes;
}

static bool image_is_text(const uint16_t id[static 256]) {
        for (const uint8_t *b = (const uint8_t *) id; b < (const uint8_t *) (id + 256); b++)
                if (*b < ' ' && !isspace(*b))
                        return false;

        return true;
}

const char *identify_image_problem(const uint16_t id[static 256]) {
        if (identify_is_empty(id))
                return "holds no IDENTIFY data: all words are equal";
        if (image_is_text(id))
                return "holds text instead of IDENTIFY data";
        if ((id[255] & 0xFF) != IDENTIFY_CHECKSUM_MARK && id[255] >> 8 == IDENTIFY_CHECKSUM_MARK)
                return "has the two bytes of each word in the wrong order";

        /* Word 0 of CompactFlash cards is 848Ah or 844Ah. In the data of other devices, bit 15 means "not an ATA drive". */
        if (!(id[0] & 0x8000) || id[0] == 0x848A || id[0] == 0x844A)
                return NULL;
        return id[0] & 0x4000 ? "is not from an ATA drive: word 0 names no known kind of device"
                              : "is from an ATAPI device, such as a DVD drive, and drivekeep sends no ATA commands to such devices";
}

static int copy_text(char **field, const char *text) {
        if (*text == '\0')
                return 0;
        *field = strdup(text);
        return *field ? 0 : -ENOMEM;
}

int identify_image_drive(const uint16_t id[static 256], const char *name, Drive **ret) {
        _cleanup_(drive_freep) Drive *d = calloc(1, sizeof *d);
        DriveIdentity identity;

        if (!d)
                return -ENOMEM;

        identify_drive(id, &identity);
        d->transport = TRANSPORT_SATA;
        d->ata = true;
        /* Word 217 is 1 for a non-rotating drive. Values from 0401h are revolutions per minute. */
        d->rotational = id[217] != 1;
        d->rotational_unknown = d->rotational && (id[217] < 0x0401 || id[217] == 0xFFFF);
        d->size = image_size(id);

        /* The drive of an image gets a sysfs path that does not exist, so that settings in the kernel's files find no attributes. */
        if (copy_text(&d->name, name) < 0 || copy_text(&d->node, name) < 0 ||
            copy_text(&d->syspath, "/nonexistent") < 0 || copy_text(&d->model, identity.model) < 0 ||
            copy_text(&d->serial, identity.serial) < 0 || copy_text(&d->firmware, identity.firmware) < 0 ||
            copy_text(&d->wwn, identity.wwn) < 0)
                return -ENOMEM;

        *ret = TAKE_PTR(d);
        return 0;
}

int identify_image_parse(const char *text, size_t size, uint16_t ret[static 256]) {
        size_t n = 0, len;

        if (size == 512) {
                for (size_t i = 0; i < 256; i++)
                        ret[i] = (uint16_t) ((uint8_t) text[2 * i] | (uint8_t) text[2 * i + 1] << 8);
                return 0;
        }

        for (const char *p = text + strspn(text, BLANK); *p; p += len + strspn(p + len, BLANK)) {
                len = strcspn(p, BLANK);
                if (strspn(p, HEXADECIMAL) < len) /* part of a heading such as "/dev/sda:" */
                        continue;
                if (len != 4 || n == 256)
                        return -EBADMSG;
                ret[n++] = (uint16_t) strtoul(p, NULL, 16);
        }

        return n == 256 ? 0 : -EBADMSG;
}

/* ---- facts as texts for people ---- */

/* Appends a fact to the text, with a comma before the fact if the text is not empty. A fact that does not fit is cut off. */
_printf_(2, 3) static void fact_add(char text[static IDENTIFY_FACT_MAX], const char *format, ...) {
        size_t used = strlen(text);
        va_list ap;

        if (used > 0)
                used += (size_t) snprintf(text + used, IDENTIFY_FACT_MAX - used, ", ");
        if (used >= IDENTIFY_FACT_MAX)
                return;
        va_start(ap, format);
        (void) vsnprintf(text + used, IDENTIFY_FACT_MAX - used, format, ap);
        va_end(ap);
}

/* Prints nothing for the value 1 (non-rotating). */
static void print_rotation(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        if (id[217] >= 0x0401 && id[217] != 0xFFFF)
                fact_add(text, "%u rpm", id[217]);
}

static void print_form_factor(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        static const char *const names[] = {
                NULL,    "5.25 inch", "3.5 inch", "2.5 inch", "1.8 inch", "less than 1.8 inch",
                "mSATA", "M.2",       "MicroSSD", "CFast",
        };

        if (id[168] < ELEMENTSOF(names) && names[id[168]])
                fact_add(text, "%s", names[id[168]]);
}

static void print_sectors(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        uint64_t logical = identify_sector_size(id);

        fact_add(text, "%" PRIu64 " B logical", logical);
        /* Word 106, bit 13: a physical sector holds several logical sectors. */
        if ((id[106] & 0xC000) == 0x4000)
                fact_add(text, "%" PRIu64 " B physical", id[106] & 1U << 13 ? logical << (id[106] & 0xF) : logical);
}

/* Word 76 has a bit for each supported generation; word 77 holds the number of the current generation. */
static void print_link(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        static const char *const speeds[] = { NULL, "1.5 Gb/s", "3.0 Gb/s", "6.0 Gb/s" };
        uint64_t now = identify_field(id, &(IdentifyField){ 77, 1, 3 });

        for (uint8_t generation = 3; generation > 0 && !*text; generation--)
                if (identify_bit(id, 76, generation))
                        fact_add(text, "up to %s", speeds[generation]);
        if (now > 0 && now < ELEMENTSOF(speeds))
                fact_add(text, "now %s", speeds[now]);
}

/* HIPM: power saving initiated by the host. DIPM: power saving initiated by the drive. DEVSLP: Device Sleep. */
static void print_link_power(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        if (identify_bit(id, 76, 9))
                fact_add(text, "HIPM");
        if (identify_bit(id, 78, 3))
                fact_add(text, "DIPM %s", identify_bit(id, 79, 3) ? "on" : "off");
        if (identify_bit(id, 78, 8))
                fact_add(text, "DEVSLP %s", identify_bit(id, 79, 8) ? "on" : "off");
}

/* Bit 14 of word 69 means that a trimmed sector reads the same each time. If bit 5 is set, too, the sector reads as zeros. Without bit 14,
 * the content of the sector is undefined. */
static void print_trim(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        if (!(id[169] & 1U << 0))
                return;
        fact_add(text, "yes");
        if (id[69] & 1U << 14)
                fact_add(text, id[69] & 1U << 5 ? "trimmed sectors read as zeros (RZAT)"
                                                : "trimmed sectors read the same each time (DRAT)");
}

static void print_standby_timer(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        fact_add(text, id[49] & 1U << 13 ? "standard values" : "vendor-specific values");
        if (identify_bit(id, 50, 0))
                fact_add(text, "has a minimum");
}

static void print_acoustic(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        if (identify_bit(id, 83, 9))
                fact_add(text, "%u recommended", id[94] >> 8);
}

static void print_security(const uint16_t id[static 256], char text[static IDENTIFY_FACT_MAX]) {
        static const struct {
                uint8_t bit;
                const char *yes, *no;
        } states[] = {
                { 1, "enabled", "not enabled" },
                { 2, "locked", NULL },
                { 3, "frozen", "not frozen" },
                { 4, "out of attempts", NULL },
        };

        if (!(id[128] & 1U << 0) || id[128] == 0xFFFF)
                return;
        for (size_t i = 0; i < ELEMENTSOF(states); i++) {
                const char *word = id[128] & 1U << states[i].bit ? states[i].yes : states[i].no;

                if (word)
                        fact_add(text, "%s", word);
        }
}

/* clang-format off */
const IdentifyFact identify_facts[] = {
        { "rotation",      "rotation",   print_rotation },
        { "form_factor",   "form",       print_form_factor },
        { "sectors",       "sectors",    print_sectors },
        { "link",          "link",       print_link },
        { "link_power",    "link power", print_link_power },
        { "trim",          "trim",       print_trim },
        { "standby_timer", "timer",      print_standby_timer },
        { "acoustic",      "acoustic",   print_acoustic },
        { "security",      "security",   print_security },
        {}
};
/* clang-format on */
