/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "ata-identify.h"
#include "identify-image.h"
#include "script.h"
#include "settings.h"
#include "suite.h"
#include "probe.h"

typedef struct Found {
        const char *name;
        bool complete; /* true if the probe gave no reason for a missing value */
        char reason[256];
        Reading reading;
} Found;

static void store_probed(void *userdata, const Probed *s) {
        Found *f = userdata;

        if (streq(s->setting->name, f->name)) {
                f->complete = !s->reason;
                (void) snprintf(f->reason, sizeof f->reason, "%s", s->reason ?: "");
                f->reading = s->reading;
        }
}

static void probe_drive(const Drive *drive, unsigned backends, const DeviceIO *io, ProbeFn each, void *userdata) {
        Device d;

        device_init(&d, drive, io);
        probe(&d, backends, &all_settings, each, userdata);
        device_done(&d);
}

static Drive disk = { .name = (char *) "sda",
                      .node = (char *) "/dev/sda",
                      .syspath = (char *) "/nonexistent",
                      .transport = TRANSPORT_SATA,
                      .rotational = true,
                      .ata = true };

/* A drive in standby gets no command except the power mode probe, so apm is not read. */
START_TEST(test_standby_is_not_read) {
        static const Row rows[] = {
                { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00",
                  .sense = "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 00 00 00 00 00 00 00 40 50" },
        };
        Script script = { .rows = rows, .n_rows = ELEMENTSOF(rows) };
        DeviceIO io = script_io(&script);
        Found apm = { .name = "apm", .complete = true };

        probe_drive(&disk, 1U << BACKEND_ATA, &io, store_probed, &apm);
        ck_assert(!apm.complete && !apm.reading.supported);
        script_done(&script);
}
END_TEST

static uid_t user;

uid_t geteuid(void) {
        return user;
}

static int open_refused(_unused_ void *userdata, _unused_ const Drive *drive) {
        return -EACCES;
}

/* If the device node cannot be opened, the reason is "needs root" for other users, and the error of open() for root. */
START_TEST(test_not_root) {
        const DeviceIO io = { .open_node = open_refused };
        const Drive nvme = { .name = (char *) "nvme0n1",
                             .node = (char *) "/dev/nvme0n1",
                             .syspath = (char *) "/nonexistent" };
        Found apm = { .name = "apm" }, nvme_cache = { .name = "interrupt_coalescing_time" };

        user = _i ? 1000 : 0;
        probe_drive(&disk, 1U << BACKEND_ATA, &io, store_probed, &apm);
        ck_assert_str_eq(apm.reason, _i ? "needs root" : "/dev/sda cannot be opened: Permission denied");
        probe_drive(&nvme, 1U << BACKEND_NVME, &io, store_probed, &nvme_cache);
        ck_assert_msg(strstr(nvme_cache.reason, _i ? "needs root" : "cannot be opened: Permission denied"), "%s",
                      nvme_cache.reason);
}
END_TEST

/* If the bridge rejects the power mode probe, no setting is read, and each setting reports the cause. */
START_TEST(test_no_passthrough) {
        static const Row rows[] = {
                { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00",
                  .sense = "70 00 05 00 00 00 00 0a 00 00 00 00 20 00 00 00 00 00" },
                { .cdb = "a1 06 20 00 00 00 00 00 40 e5 00 00",
                  .sense = "70 00 05 00 00 00 00 0a 00 00 00 00 20 00 00 00 00 00" },
        };
        Drive dock = disk;
        Script script = SCRIPT(rows);
        DeviceIO io = script_io(&script);
        Found apm = { .name = "apm" };

        dock.transport = TRANSPORT_USB;
        probe_drive(&dock, 1U << BACKEND_ATA, &io, store_probed, &apm);
        ck_assert_str_eq(apm.reason, "the bridge does not pass ATA commands to its drive");
        script_done(&script);
}
END_TEST

/* IDENTIFY is sent once, and its failure is reported for each setting. */
START_TEST(test_identify_fails) {
        static const char *const names[] = { "lookahead", "apm", "security_freeze" };
        static const uint8_t zeroes[512];
        static const Row rows[] = {
                { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00",
                  .sense = "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 ff 00 00 00 00 00 00 40 50" },
                { .cdb = "85 08 0e 00 00 00 01 00 00 00 00 00 00 40 ec 00", .data = zeroes, .data_len = sizeof zeroes },
        };

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                Script script = SCRIPT(rows);
                DeviceIO io = script_io(&script);
                Found found = { .name = names[i] };

                probe_drive(&disk, 1U << BACKEND_ATA, &io, store_probed, &found);
                ck_assert_msg(strstr(found.reason, "is empty or has a wrong checksum"), "%s: '%s'", names[i],
                              found.reason);
                script_done(&script);
        }
}
END_TEST

START_TEST(test_image) {
        Image image = image_make(true, false, 127, -1);
        Found apm = { .name = "apm" }, acoustic = { .name = "acoustic_management" },
              timer = { .name = "spindown_time" };
        uint16_t id[256];
        DeviceIO io = { .image = id };

        ck_assert_int_eq(identify_image_parse((const char *) image.words, sizeof image.words, id), 0);
        probe_drive(&disk, 1U << BACKEND_ATA, &io, store_probed, &apm);
        probe_drive(&disk, 1U << BACKEND_ATA, &io, store_probed, &acoustic);
        probe_drive(&disk, 1U << BACKEND_ATA, &io, store_probed, &timer);
        ck_assert(apm.complete && apm.reading.known && apm.reading.value.number == 127);
        ck_assert(acoustic.reading.supported && acoustic.reading.value.number == 0);
        ck_assert(timer.reading.supported && !timer.reading.known && !timer.complete);
}
END_TEST

/* _i == 1: word 83 has no validity mark (drives before ATA-4), so lookahead is not supported. _i == 0: word 87 has no
 * validity mark, so lookahead is supported, but its value is not known. */
START_TEST(test_image_unmarked) {
        Image image = image_make(true, true, 127, -1);
        Found lookahead = { .name = "lookahead", .complete = true };
        uint16_t id[256];
        DeviceIO io = { .image = id };

        image.words[_i ? 83 : 87] = 0;
        image_seal(&image);
        ck_assert_int_eq(identify_image_parse((const char *) image.words, sizeof image.words, id), 0);
        probe_drive(&disk, 1U << BACKEND_ATA, &io, store_probed, &lookahead);
        ck_assert(!lookahead.reading.known && lookahead.reading.supported == !_i);
}
END_TEST

/* The state of EPC can be read from an IDENTIFY image. The EPC timers cannot be read, because IDENTIFY does not report
 * them. */
START_TEST(test_image_of_timers) {
        Image image = image_make(true, false, -1, -1);
        Found epc = { .name = "epc" }, timer = { .name = "idle_b", .complete = true };
        uint16_t id[256];
        DeviceIO io = { .image = id };

        image.words[84] = htole16(0x4000 | 1 << 5);
        image.words[86] |= htole16(1 << 15);
        image.words[119] = image.words[120] = htole16(0x4000 | 1 << 7);
        image_seal(&image);
        ck_assert_int_eq(identify_image_parse((const char *) image.words, sizeof image.words, id), 0);
        probe_drive(&disk, 1U << BACKEND_ATA, &io, store_probed, &epc);
        probe_drive(&disk, 1U << BACKEND_ATA, &io, store_probed, &timer);
        ck_assert(epc.complete && epc.reading.supported && epc.reading.value.number == 1);
        ck_assert(!timer.complete && !timer.reading.supported && !timer.reading.known);
}
END_TEST

/* clang-format off */
#define WORDS8 "0040 3fff c837 0010 0000 0000 003f 0000 "
#define WORDS64 WORDS8 "\n" WORDS8 "\n" WORDS8 "\n" WORDS8 "\n" WORDS8 "\n" WORDS8 "\n" WORDS8 "\n" WORDS8 "\n"
#define WORDS192 WORDS64 WORDS64 WORDS64
static const struct {
        const char *text;
        int r;
} texts[] = {
        { WORDS192 WORDS64, 0 },
        { "\n/dev/sda:\n" WORDS192 WORDS64 "\n", 0 },
        { "\r\n" WORDS192 WORDS64, 0 },
        { "", -EBADMSG },
        { WORDS192, -EBADMSG },
        { WORDS192 WORDS64 "0000", -EBADMSG },
        { WORDS192 WORDS64 "\n00000", -EBADMSG },
        { WORDS192 "004 ", -EBADMSG },
        { "no image at all\n", -EBADMSG },
        { "\xff\xfe", -EBADMSG },
};
/* clang-format on */

START_TEST(test_text) {
        uint16_t id[256];

        ck_assert_int_eq(identify_image_parse(texts[_i].text, strlen(texts[_i].text), id), texts[_i].r);
        if (texts[_i].r == 0)
                ck_assert(id[0] == 0x0040 && id[1] == 0x3FFF && id[254] == 0x003F);
}
END_TEST

/* clang-format off */
static const struct {
        const char *fill; /* text that fills the 512 bytes; NULL: a valid image */
        uint16_t general; /* word 0 */
        bool swapped;
        const char *reason_part; /* part of the expected objection; NULL: accepted */
} objections[] = {
        { .general = 0x0040 },
        { .general = 0x7FFF },
        { .general = 0x848A },
        { .general = 0x844A },
        { .general = 0x85C0, .reason_part = "ATAPI" },
        { .general = 0x8000, .reason_part = "ATAPI" },
        { .general = 0xBFFF, .reason_part = "ATAPI" },
        { .general = 0xC000, .reason_part = "no known kind of device" },
        { .general = 0xC45A, .reason_part = "no known kind of device" },
        { .general = 0x0040, .swapped = true, .reason_part = "wrong order" },
        { .fill = "\xFF", .reason_part = "all words" },
        { .fill = "", .reason_part = "all words" },
        { .fill = "A", .reason_part = "all words" },
        { .fill = "domain\t53/tcp\n", .reason_part = "text" },
        { .fill = "Größe\r\n", .reason_part = "text" },
};
/* clang-format on */

START_TEST(test_objection) {
        size_t n = objections[_i].fill ? strlen(objections[_i].fill) + (objections[_i].fill[0] == '\0') : 0;
        Image image = image_make(true, false, 127, -1);
        char *bytes = (char *) image.words;
        const char *objection;
        uint16_t id[256];

        image.words[0] = htole16(objections[_i].general);
        image_seal(&image);
        for (size_t i = 0; i < sizeof image.words && n > 0; i++)
                bytes[i] = objections[_i].fill[i % n];

        ck_assert_int_eq(identify_image_parse(bytes, sizeof image.words, id), 0);
        for (size_t i = 0; i < 256 && objections[_i].swapped; i++)
                id[i] = (uint16_t) (id[i] << 8 | id[i] >> 8);

        objection = identify_image_problem(id);
        if (objections[_i].reason_part)
                ck_assert_msg(objection && strstr(objection, objections[_i].reason_part), "%i: %s", _i, objection);
        else
                ck_assert_ptr_null(objection);
}
END_TEST

/* clang-format off */
static const struct {
        uint16_t features, small, large, sector_size; /* words 83, 60, 100, 106 */
        uint64_t sectors;
} sizes[] = {
        { 0x4000, 1000, 9000, 0x0000, 1000 },
        { 0x4400, 1000, 9000, 0x0000, 9000 },
        { 0x4400, 1000,    0, 0x0000, 1000 },
        { 0x0400, 1000, 9000, 0x0000, 1000 },
        { 0x4400, 1000, 9000, 0x5000, (uint64_t) 9000 * 8 },
};
/* clang-format on */

START_TEST(test_size) {
        uint16_t id[256] = { [117] = 2048 };
        _cleanup_(drive_freep) Drive *d = NULL;

        id[83] = sizes[_i].features;
        id[60] = sizes[_i].small;
        id[100] = sizes[_i].large;
        id[106] = sizes[_i].sector_size;
        ck_assert_int_eq(identify_image_drive(id, "x", &d), 0);
        ck_assert_uint_eq(d->size, sizes[_i].sectors * 512);
}
END_TEST

/* clang-format off */
static const struct {
        uint16_t rate;
        bool rotational, untold;
} rotations[] = {
        { 0x0001, false, false }, { 7200, true, false }, { 0x0000, true, true }, { 0x0400, true, true }, { 0x0401, true, false }, { 0xFFFE, true, false }, { 0x0002, true, true }, { 0xFFFF, true, true },
};
/* clang-format on */

START_TEST(test_rotation) {
        _cleanup_(drive_freep) Drive *d = NULL;
        uint16_t id[256] = { [217] = rotations[_i].rate };

        ck_assert_int_eq(identify_image_drive(id, "x", &d), 0);
        ck_assert(d->rotational == rotations[_i].rotational && d->rotational_unknown == rotations[_i].untold);
}
END_TEST

/* The image is incomplete, since the drive had not spun up. apm may be supported, although the image does not report
 * apm. */
START_TEST(test_not_spun_up) {
        Image image = image_make(true, false, -1, -1);
        Found apm = { .name = "apm", .complete = true };
        uint16_t id[256];
        DeviceIO io = { .image = id };

        image.words[0] |= htole16(1 << 2);
        image.words[2] = htole16(0x37C8);
        image_seal(&image);
        ck_assert_int_eq(identify_image_parse((const char *) image.words, sizeof image.words, id), 0);
        probe_drive(&disk, 1U << BACKEND_ATA, &io, store_probed, &apm);
        ck_assert(!apm.complete && !apm.reading.supported && !apm.reading.known);
}
END_TEST

/* Any 512 bytes are accepted as an image, and cause no invalid memory access. */
START_TEST(test_any_bytes) {
        char bytes[512];
        uint16_t id[256];
        Drive *d;
        DeviceIO io = { .image = id };
        Found none = { .name = "" };

        srand((unsigned) _i);
        for (size_t i = 0; i < sizeof bytes; i++)
                bytes[i] = (char) (_i == 0 ? 0 : _i == 1 ? 0xFF : rand());

        ck_assert_int_eq(identify_image_parse(bytes, sizeof bytes, id), 0);
        ck_assert_int_eq(identify_image_drive(id, "x", &d), 0);
        probe_drive(d, 1U << BACKEND_ATA, &io, store_probed, &none);
        (void) drive_free(d);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("probe");
        TCase *t = tcase_create("probe");

        tcase_add_test(t, test_standby_is_not_read);
        tcase_add_loop_test(t, test_not_root, 0, 2);
        tcase_add_test(t, test_no_passthrough);
        tcase_add_test(t, test_identify_fails);
        tcase_add_test(t, test_image);
        tcase_add_loop_test(t, test_image_unmarked, 0, 2);
        tcase_add_test(t, test_image_of_timers);
        tcase_add_loop_test(t, test_text, 0, ELEMENTSOF(texts));
        tcase_add_loop_test(t, test_objection, 0, ELEMENTSOF(objections));
        tcase_add_loop_test(t, test_size, 0, ELEMENTSOF(sizes));
        tcase_add_loop_test(t, test_rotation, 0, ELEMENTSOF(rotations));
        tcase_add_test(t, test_not_spun_up);
        tcase_add_loop_test(t, test_any_bytes, 0, 50);
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
