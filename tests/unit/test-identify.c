/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <stdio.h>

#include "ata-identify.h"
#include "identify-image.h"
#include "suite.h"

START_TEST(test_checksum) {
        Image i = image_make(true, true, 128, 254), bad = i, unmarked = i, empty = {};

        bad.words[60] ^= 0x0100;
        unmarked.words[255] = 0; /* drives before ATA-5 */
        ck_assert(identify_checksum_ok(i.words));
        ck_assert(!identify_checksum_ok(bad.words));
        ck_assert(identify_checksum_ok(unmarked.words));
        ck_assert(!identify_checksum_ok(empty.words));
        memset(empty.words, 0xFF, sizeof empty.words);
        ck_assert(!identify_checksum_ok(empty.words));
}
END_TEST

/* identify_bit() returns true for a bit of `word` only if the bits `mark` in the word `mark_word` mark `word` as
 * valid. */
/* clang-format off */
static const struct {
        unsigned word, mark_word;
        uint16_t mark;
        bool valid;
} validity[] = {
        { 82, 83, 0x4000, true },  { 82, 83, 0x0000, false }, { 82, 83, 0xC000, false }, { 85, 87, 0x4000, true },
        { 86, 87, 0xFFFF, false }, { 78, 76, 0x0002, true },  { 78, 76, 0x0000, false }, { 78, 76, 0xFFFF, false },
        { 84, 83, 0x4000, false }, { 84, 84, 0x4000, true },
        { 206, 0, 0, true },       { 206, 206, 0xFFFF, false }, { 206, 206, 0xFFDF, false },
        { 83, 83, 0x4000, true },  { 83, 83, 0x8000, false }, { 87, 87, 0x4000, true },  { 87, 87, 0x0000, false },
        { 77, 76, 0x0002, true },  { 79, 76, 0x0002, true },  { 79, 76, 0x0000, false }, { 77, 76, 0x0000, false },
        { 50, 50, 0x4000, true },  { 50, 50, 0x0000, false }, { 120, 86, 0x8000, false }, { 85, 87, 0x8000, false },
        /* These words lie next to words whose bits count only with a validity mark. The bits of these words always
         * count. */
        { 75, 76, 0x0000, true },  { 80, 76, 0x0000, true },  { 81, 83, 0x0000, true },  { 88, 87, 0x0000, true },
        { 49, 50, 0x0000, true },  { 51, 50, 0x0000, true },  { 118, 86, 0x0000, true }, { 121, 86, 0x0000, true },
};
/* clang-format on */

START_TEST(test_validity) {
        uint16_t id[256] = {};

        id[validity[_i].mark_word] |= validity[_i].mark;
        id[validity[_i].word] |= 1 << 5;
        ck_assert(identify_bit(id, validity[_i].word, 5) == validity[_i].valid);
        ck_assert(!identify_bit(id, validity[_i].word, 4) || validity[_i].mark == 0xFFFF);
}
END_TEST

/* Word 119 is valid only if bit 15 of word 86 is set and the mark in word 119 is valid, since real drives have random
 * data in word 119. */
START_TEST(test_words_119_120) {
        uint16_t id[256] = { [119] = 0x4002, [120] = 0x4002 };

        ck_assert(!identify_bit(id, 119, 1));
        id[86] = 0x8000;
        ck_assert(identify_bit(id, 119, 1) && identify_bit(id, 120, 1));
        id[119] = 0xFFFF;
        ck_assert(!identify_bit(id, 119, 1));
}
END_TEST

/* clang-format off */
static const struct {
        const char *in_drive, *in_udev; /* in_drive: 20 characters, padded with blanks */
        bool agrees;
} serials[] = {
        { "     WD-WCC4E0123456", "WD-WCC4E0123456", true },
        { "WD-WCC4E0123456     ", "WD-WCC4E0123456", true },
        { "WD-WCC4E0123456     ", "WD-WCC4E0123457", false },
        { "WD-WCC4E0123456     ", "WD-WCC4E012345", false },
        { "WD-WCC4E012345      ", "WD-WCC4E0123456", false },
        { "OCZ  0123 45        ", "OCZ_0123_45", true },
        { "OCZ0123             ", "OCZ_0123", false },
        { "12/34#5             ", "12_34#5", true },
        { "12/34#5             ", "12_34#6", false },
        { "                    ", "", true },
        { "                    ", "S1", true }, /* an empty serial number is not compared */
};
/* clang-format on */

START_TEST(test_serial) {
        uint16_t id[256] = {};

        for (size_t i = 0; i < 10; i++)
                id[10 + i] = (uint16_t) ((uint8_t) serials[_i].in_drive[2 * i] << 8 |
                                         (uint8_t) serials[_i].in_drive[2 * i + 1]);
        ck_assert_msg(identify_serial_agrees(id, serials[_i].in_udev) == serials[_i].agrees, "'%s' and '%s'",
                      serials[_i].in_drive, serials[_i].in_udev);
}
END_TEST

/* clang-format off */
static const struct {
        const char in_drive[9], *text; /* raw and expected firmware; model and serial number are read in the same way */
} texts[] = {
        { "RVT01B6Q", "RVT01B6Q" },
        { "  1.04  ", "1.04" },
        { " 1.04\0  ", "1.04" },
        { "1.04 \0\0\0", "1.04" },
        { "1.04 \0X ", "1.04" },
        { "\0\0 1.04 ", "1.04" },
        { "\0\0\0\0\0\0\0\0", "" },
        { "1.0\t4   ", "" },
        { "1.0\x7f" "4   ", "" },
        { "~!~ 0 ~!", "~!~ 0 ~!" },
};
/* clang-format on */

START_TEST(test_texts) {
        uint16_t id[256] = {};
        DriveIdentity identity;

        for (size_t i = 0; i < 4; i++)
                id[23 + i] = (uint16_t) ((uint8_t) texts[_i].in_drive[2 * i] << 8 |
                                         (uint8_t) texts[_i].in_drive[2 * i + 1]);
        identify_drive(id, &identity);
        ck_assert_str_eq(identity.firmware, texts[_i].text);
}
END_TEST

/* clang-format off */
static const struct {
        uint16_t supported, enabled, first; /* words 84, 87, 108 */
        const char *wwn;
} wwns[] = {
        { 0x4100, 0x4100, 0x5002, "0x5002538f4372dd3a" },
        { 0x4000, 0x4100, 0x5002, "0x5002538f4372dd3a" },
        { 0x4100, 0x4000, 0x5002, "0x5002538f4372dd3a" },
        { 0x4000, 0x4000, 0x5002, "" },
        { 0x4100, 0x4100, 0x0000, "" },
        { 0x4100, 0x4100, 0xFFFF, "" },
        { 0x0100, 0x4000, 0x5002, "" }, /* word 84 without its validity mark (bit 14) */
};
/* clang-format on */

START_TEST(test_wwn) {
        uint16_t id[256] = { [83] = 0x4000, [109] = 0x538F, [110] = 0x4372, [111] = 0xDD3A };
        DriveIdentity identity;

        id[84] = wwns[_i].supported;
        id[87] = wwns[_i].enabled;
        id[108] = wwns[_i].first;
        identify_drive(id, &identity);
        ck_assert_str_eq(identity.wwn, wwns[_i].wwn);
}
END_TEST

/* clang-format off */
static const struct {
        const char *key;
        struct { uint8_t word; uint16_t value; } words[5];
        const char *text; /* "": the drive does not report the fact */
} facts[] = {
        { "rotation", { { 217, 7200 } }, "7200 rpm" },
        { "rotation", { { 217, 0x0401 } }, "1025 rpm" },
        { "rotation", { { 217, 0x0400 } }, "" },
        { "rotation", { { 217, 1 } }, "" },
        { "rotation", { { 217, 0xFFFF } }, "" },
        { "form_factor", { { 168, 0 } }, "" },
        { "form_factor", { { 168, 2 } }, "3.5 inch" },
        { "form_factor", { { 168, 9 } }, "CFast" },
        { "form_factor", { { 168, 10 } }, "" },
        { "form_factor", { { 168, 0xFFFF } }, "" },
        { "sectors", { { 106, 0 } }, "512 B logical" },
        { "sectors", { { 106, 0x4000 } }, "512 B logical, 512 B physical" },
        { "sectors", { { 106, 0x6003 } }, "512 B logical, 4096 B physical" },
        { "sectors", { { 106, 0x4003 } }, "512 B logical, 512 B physical" },
        { "sectors", { { 106, 0x5000 }, { 117, 2048 } }, "4096 B logical, 4096 B physical" },
        { "sectors", { { 106, 0x700F }, { 117, 0xFFFF }, { 118, 0xFFFF } }, "8589934590 B logical, 281474976645120 B physical" },
        { "sectors", { { 106, 0xFFFF }, { 117, 2048 } }, "512 B logical" },
        { "link", { { 76, 0x000E }, { 77, 3 << 1 } }, "up to 6.0 Gb/s, now 6.0 Gb/s" },
        { "link", { { 76, 0x0006 }, { 77, 1 << 1 } }, "up to 3.0 Gb/s, now 1.5 Gb/s" },
        { "link", { { 76, 0x0002 } }, "up to 1.5 Gb/s" },
        { "link", { { 76, 0x0002 }, { 77, 7 << 1 } }, "up to 1.5 Gb/s" },
        { "link", { { 76, 0xFFFF }, { 77, 0xFFFF } }, "" },
        { "link_power", { { 76, 0x0202 } }, "HIPM" },
        { "link_power", { { 76, 0x0002 }, { 78, 0x0108 }, { 79, 0x0008 } }, "DIPM on, DEVSLP off" },
        { "link_power", { { 76, 0x0202 }, { 78, 0x0108 }, { 79, 0x0100 } }, "HIPM, DIPM off, DEVSLP on" },
        { "link_power", { { 76, 0 }, { 78, 0x0108 } }, "" },
        { "trim", { { 169, 0 }, { 69, 0x4020 } }, "" },
        { "trim", { { 169, 1 } }, "yes" },
        { "trim", { { 169, 1 }, { 69, 0x0020 } }, "yes" },
        { "trim", { { 169, 1 }, { 69, 0x4000 } }, "yes, trimmed sectors read the same each time (DRAT)" },
        { "trim", { { 169, 1 }, { 69, 0x4020 } }, "yes, trimmed sectors read as zeros (RZAT)" },
        { "standby_timer", { { 49, 0x2000 }, { 50, 0x4000 } }, "standard values" },
        { "standby_timer", { { 49, 0 }, { 50, 0x4001 } }, "vendor-specific values, has a minimum" },
        { "standby_timer", { { 49, 0x2000 }, { 50, 0x0001 } }, "standard values" },
        { "acoustic", { { 83, 0x4200 }, { 94, 0xFE80 } }, "254 recommended" },
        { "acoustic", { { 83, 0x4000 }, { 94, 0xFE80 } }, "" },
        { "security", { { 128, 0 } }, "" },
        { "security", { { 128, 0xFFFF } }, "" },
        { "security", { { 128, 0x0008 } }, "" },
        { "security", { { 128, 0x0001 } }, "not enabled, not frozen" },
        { "security", { { 128, 0x0009 } }, "not enabled, frozen" },
        { "security", { { 128, 0x001F } }, "enabled, locked, frozen, out of attempts" },
};
/* clang-format on */

START_TEST(test_facts) {
        char text[IDENTIFY_FACT_MAX] = "";
        const IdentifyFact *f = identify_facts;
        uint16_t id[256] = {};

        for (size_t i = 0; facts[_i].words[i].word; i++)
                id[facts[_i].words[i].word] = facts[_i].words[i].value;
        while (f->key && strcmp(f->key, facts[_i].key) != 0)
                f++;
        ck_assert_ptr_nonnull(f->key);
        f->print(id, text);
        ck_assert_str_eq(text, facts[_i].text);
}
END_TEST

/* Returns the directory with IDENTIFY images of real drives. The directory is outside the project. */
static const char *corpus(void) {
        return getenv("DRIVEKEEP_IDENTIFY_CORPUS") ?: "../shared/corpus/identify";
}

/* clang-format off */
static const struct {
        const char *file;
        bool checksum_ok, apm, acoustic, erc;
} images[] = {
        { "Hitachi_HUA722010CLA330--JP4OA3EA.bin", false, true, false, true },
        { "Hitachi_HDS721010CLA632--JP4OA41A.bin", true, false, false, true },
        { "WDC_WD20EARS-00MVWB0--50.0AB50.bin", true, false, true, false },
        { "WDC_WD5000BPKX-22HPJT0--01.01A01.bin", true, true, false, false },
        { "Samsung_SSD_860_EVO_500GB--RVT01B6Q.bin", true, false, false, true },
        { "TOSHIBA_MK1651GSY--LD001D.bin", true, true, true, true },
        { "SAMSUNG_HD501LJ--CR100-12.bin", true, false, true, true },
        { "INTEL_SSDSA2MH080G1GC--045C8820.bin", true, false, false, false },
};
/* clang-format on */

static bool read_image(const char *file, uint16_t words[static 256]) {
        char path[512];
        FILE *f;
        size_t n;

        snprintf(path, sizeof path, "%s/%s", corpus(), file);
        f = fopen(path, "r");
        if (!f)
                return false;
        n = fread(words, 2, 256, f);
        fclose(f);
        return n == 256;
}

START_TEST(test_image) {
        uint16_t id[256];

        ck_assert_msg(read_image(images[_i].file, id), "%s", images[_i].file);
        ck_assert_msg(identify_checksum_ok(id) == images[_i].checksum_ok, "%s: checksum", images[_i].file);
        ck_assert_msg(identify_bit(id, 83, 3) == images[_i].apm, "%s: APM", images[_i].file);
        ck_assert_msg(identify_bit(id, 83, 9) == images[_i].acoustic, "%s: AAM", images[_i].file);
        ck_assert_msg((identify_bit(id, 206, 0) && identify_bit(id, 206, 3)) == images[_i].erc, "%s: ERC",
                      images[_i].file);
}
END_TEST

/* All images have a correct checksum, except one that is known to be broken. */
START_TEST(test_all_images) {
        struct dirent *e;
        unsigned n = 0, n_bad = 0;
        DIR *d = opendir(corpus());

        ck_assert_ptr_nonnull(d);
        while ((e = readdir(d))) {
                uint16_t id[256];

                if (e->d_name[0] == '.' || !strstr(e->d_name, ".bin"))
                        continue;
                ck_assert_msg(read_image(e->d_name, id), "%s", e->d_name);
                n++;
                n_bad += !identify_checksum_ok(id);
        }
        closedir(d);
        ck_assert_uint_ge(n, 30);
        ck_assert_uint_eq(n_bad, 1);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("identify");
        TCase *t = tcase_create("identify");

        tcase_add_test(t, test_checksum);
        tcase_add_loop_test(t, test_validity, 0, ELEMENTSOF(validity));
        tcase_add_test(t, test_words_119_120);
        tcase_add_loop_test(t, test_serial, 0, ELEMENTSOF(serials));
        tcase_add_loop_test(t, test_texts, 0, ELEMENTSOF(texts));
        tcase_add_loop_test(t, test_facts, 0, ELEMENTSOF(facts));
        tcase_add_loop_test(t, test_wwn, 0, ELEMENTSOF(wwns));
        suite_add_tcase(suite, t);

        if (access(corpus(), R_OK) == 0) {
                TCase *real = tcase_create("images");

                tcase_add_loop_test(real, test_image, 0, ELEMENTSOF(images));
                tcase_add_test(real, test_all_images);
                suite_add_tcase(suite, real);
        } else
                printf("skipped: %zu cases with IDENTIFY images of real drives, which are not here (%s)\n",
                       ELEMENTSOF(images) + 1, corpus());

        return suite_run(suite);
}
