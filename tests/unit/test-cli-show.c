/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep show` as a whole: images of IDENTIFY as they are, with stand-ins for udev, the service and what a drive says. */

#include <fcntl.h>

#include "identify-image.h"
#include "inventory.h"
#include "plan.h"
#include "probe.h"
#include "request.h"
#include "settings.h"
#include "test-cli.h"

/* ---- stand-ins ---- */

static Drive drives[] = {
        { .name = (char *) "sda",
          .node = (char *) "/dev/sda",
          .model = (char *) "ST\x1b[2J",
          .serial = (char *) "5YD1",
          .firmware = (char *) "CC32",
          .wwn = (char *) "0x5000",
          .transport = TRANSPORT_SATA,
          .ata = true,
          .size = UINT64_C(2000398934016),
          .rotational = true },
        { .name = (char *) "sdb", .node = (char *) "/dev/sdb", .transport = TRANSPORT_USB, .size = 512 },
};
static Drive *found[] = { drives, drives + 1 };
static int inventory_error, leave_status;
static unsigned n_left;

int inventory_read(Inventory *ret) {
        *ret = (Inventory){ .drives = found, .n_drives = ELEMENTSOF(found) };
        return inventory_error;
}
void inventory_done(_unused_ Inventory *i) {
}

int leave_get(Leave *l, const char *state_dir, Drive *const *wanted, size_t n) {
        ck_assert_str_eq(state_dir, "/run/drivekeep/drives");
        for (size_t i = 0; i < n; i++)
                ck_assert(wanted[i] == drives || wanted[i] == drives + 1);
        l->io.userdata = drives;
        n_left += n;
        return leave_status;
}
void leave_done(_unused_ Leave *l) {
}

void probe(const Drive *drive, unsigned backends, const SettingTable *t, const DeviceIO *io, ProbeFn each,
           void *userdata) {
        static const Setting apm = { .name = "apm",
                                     .backend = BACKEND_ATA,
                                     .range = { .type = VALUE_INT, .max = 254 } },
                             timeout = { .name = "timeout",
                                         .backend = BACKEND_SCSI,
                                         .range = { .type = VALUE_DURATION, .min = 1, .max = INT64_MAX } };
        const Probed found_there[] = {
                { &apm, { true, true, { VALUE_INT, 127, "" }, false, true, { VALUE_INT, 254, "" } }, NULL },
                { &apm, { .supported = true, .value.type = VALUE_INT }, "nothing can \x1b[31mread it" },
                { &apm, { .known = true, .value.type = VALUE_INT }, NULL },
                { &timeout, { .value.type = VALUE_DURATION }, "it sleeps" },
        };

        ck_assert_ptr_eq(t, &all_settings);
        if (io->image)
                ck_assert(backends == 1U << BACKEND_ATA && io->image[0] == 0x0040);
        else
                ck_assert(backends == drive_backends(drive) && io->userdata == drives);
        for (size_t i = 0; i < (drive == drives + 1 ? 1 : ELEMENTSOF(found_there)); i++)
                each(userdata, found_there + i);
}

static int show(const char *const *words, char **ret_out, char **ret_err) {
        char *argv[6] = { (char *) "drivekeep show" };
        FILE *out = catch_begin(stdout), *err = catch_begin(stderr);
        int argc = 1, r;

        for (; *words; words++)
                argv[argc++] = (char *) *words;
        r = verb_run(&verb_show, argc, argv);

        *ret_out = catch_end(stdout, out);
        *ret_err = catch_end(stderr, err);
        return r;
}

/* ---- drives ---- */

/* clang-format off */
#define TABLE \
        "SETTING HELD BY SUPPORTED VALUE SAVED REMARK\n" \
        "apm     ata     yes       127   254   -\n"
#define MORE \
        "apm     ata     yes       -     -     nothing can \\x1b[31mread it\n" \
        "apm     ata     no        -     -     -\n" \
        "timeout scsi    -         -     -     it sleeps\n"
#define SDA \
        "     drive: /dev/sda\n" \
        "     model: ST\\x1b[2J\n" \
        "    serial: 5YD1\n" \
        "  firmware: CC32\n" \
        "       wwn: 0x5000\n" \
        "      size: 2.0 TB\n" \
        "   rotates: yes\n" \
        TABLE MORE
#define SDB \
        "     drive: /dev/sdb\n" \
        "      size: 512 B\n" \
        "   rotates: no\n" \
        TABLE

#define JSON_SETTING(name, by, value, saved, reason, supported) \
        "      {\n        \"name\": \"" name "\",\n        \"transport\": \"" by "\",\n        \"value\": " value \
        ",\n        \"saved\": " saved ",\n        \"reason\": " reason ",\n        \"supported\": " supported "\n      }"
#define JSON_DRIVE(node, model, serial, firmware, wwn, size, rotational) \
        "  {\n    \"node\": \"" node "\",\n    \"model\": " model ",\n    \"serial\": " serial ",\n    \"firmware\": " firmware \
        ",\n    \"wwn\": " wwn ",\n    \"size\": " size ",\n    \"rotational\": " rotational ",\n    \"settings\": [\n"
#define JSON_APM JSON_SETTING("apm", "ata", "\"127\"", "\"254\"", "null", "true")
#define JSON_ALL \
        JSON_APM ",\n" \
        JSON_SETTING("apm", "ata", "null", "null", "\"nothing can \\\\x1b[31mread it\"", "true") ",\n" \
        JSON_SETTING("apm", "ata", "null", "null", "null", "false") ",\n" \
        JSON_SETTING("timeout", "scsi", "null", "null", "\"it sleeps\"", "null")
#define JSON_END "\n    ]\n  }"
/* clang-format on */

START_TEST(test_drives) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(show((const char *const[]){ "sda", "sdb", NULL }, &out, &err), EXIT_WANTED);
        ck_assert_str_eq(out, SDA "\n" SDB);
        ck_assert_str_eq(err, "");
        ck_assert_uint_eq(n_left, 2);
}
END_TEST

START_TEST(test_json) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(show((const char *const[]){ "sda", "--json", "sdb", NULL }, &out, &err), EXIT_WANTED);
        ck_assert_str_eq(out, "[\n" JSON_DRIVE("/dev/sda", "\"ST\\\\x1b[2J\"", "\"5YD1\"", "\"CC32\"", "\"0x5000\"",
                                               "2000398934016", "true") JSON_ALL JSON_END
                         ",\n" JSON_DRIVE("/dev/sdb", "null", "null", "null", "null", "512", "false") JSON_APM JSON_END
                         "\n]\n");
        ck_assert_str_eq(err, "");
}
END_TEST

/* clang-format off */
static const struct {
        const char *words[4];
        int inventory_error, leave_status, status;
        unsigned n_left;
        const char *said;
} refusals[] = {
        { {},                                           0,      EXIT_WANTED,     EXIT_BAD_INPUT,  0, "say which drive, or which image" },
        { { "sda", "--identify", "x" },                 0,      EXIT_WANTED,     EXIT_BAD_INPUT,  0, "say which drive, or which image" },
        { { "sdq" },                                    0,      EXIT_WANTED,     EXIT_BAD_INPUT,  0, "sdq" },
        { { "sda" },                                    -EMFILE, EXIT_WANTED,    -EMFILE,         0, "" },
        { { "sda" },                                    0,      EXIT_NOT_WANTED, EXIT_NOT_WANTED, 1, "" },
        { { "sda" },                                    0,      -EIO,            -EIO,            1, "" },
        { { "--identify", "missing" },                  0,      EXIT_WANTED,     EXIT_BAD_INPUT,  0, "missing: the file cannot be read: No such file or directory\n" },
        { { "--identify", "." },                        0,      EXIT_WANTED,     EXIT_BAD_INPUT,  0, ".: this is neither a file nor a pipe\n" },
        { { "--identify", "/dev/null" },                0,      EXIT_WANTED,     EXIT_BAD_INPUT,  0, "/dev/null: this is neither a file nor a pipe\n" },
        { { "--identify", "short" },                    0,      EXIT_WANTED,     EXIT_BAD_INPUT,  0, "short is no IDENTIFY DEVICE image: that is 512 bytes" },
        { { "--identify", "atapi" },                    0,      EXIT_WANTED,     EXIT_BAD_INPUT,  0, "atapi is of an ATAPI device" },
};
/* clang-format on */

static void image_write(const char *path, uint16_t general, bool sealed) {
        Image image = image_make(true, false, 127, -1);
        FILE *f = fopen(path, "we");

        image.words[0] = htole16(general);
        image_seal(&image);
        image.words[255] ^= htole16(sealed ? 0 : 1 << 8);
        ck_assert_ptr_nonnull(f);
        ck_assert_uint_eq(fwrite(image.words, 1, sizeof image.words, f), 512);
        (void) fclose(f);
}

static void setup(void) {
        scratch_make();
        image_write("image", 0x0040, true);
        image_write("wrong", 0x0040, false);
        image_write("atapi", 0x85C0, true);
        file_write("short", "0040 3fff\n");
}

START_TEST(test_refused) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        inventory_error = refusals[_i].inventory_error;
        leave_status = refusals[_i].leave_status;
        ck_assert_int_eq(show(refusals[_i].words, &out, &err), refusals[_i].status);
        ck_assert_str_eq(out, "");
        ck_assert_msg(strstr(err, refusals[_i].said), "%s", err);
        ck_assert(*refusals[_i].said || *err == '\0');
        ck_assert_uint_eq(n_left, refusals[_i].n_left);
}
END_TEST

/* ---- images ---- */

START_TEST(test_image) {
        _cleanup_free_ char *out = NULL, *err = NULL, *json = NULL, *none = NULL;

        ck_assert_int_eq(show((const char *const[]){ "--identify", "image", NULL }, &out, &err), EXIT_WANTED);
        ck_assert_str_eq(out, "     drive: image\n" TABLE MORE);
        ck_assert_str_eq(err, "");

        /* Whether it rotates is not in this image. */
        ck_assert_ptr_nonnull(freopen("image", "re", stdin));
        ck_assert_int_eq(show((const char *const[]){ "--json", "--identify", "-", NULL }, &json, &none), EXIT_WANTED);
        ck_assert_str_eq(json,
                         "[\n" JSON_DRIVE("-", "null", "null", "null", "null", "0", "null") JSON_ALL JSON_END "\n]\n");
        ck_assert_str_eq(none, "");
        ck_assert_uint_eq(n_left, 0);
}
END_TEST

/* As process substitution of a shell gives it. */
START_TEST(test_pipe) {
        _cleanup_free_ char *out = NULL, *err = NULL;
        char path[32], bytes[512];
        int fds[2], fd = open("wrong", O_RDONLY | O_CLOEXEC);

        ck_assert(fd >= 0 && pipe2(fds, O_CLOEXEC) >= 0);
        ck_assert_int_eq(read(fd, bytes, sizeof bytes), sizeof bytes);
        ck_assert_int_eq(write(fds[1], bytes, sizeof bytes), sizeof bytes);
        closep(&fd);
        closep(&fds[1]);

        (void) snprintf(path, sizeof path, "/proc/self/fd/%d", fds[0]);
        ck_assert_int_eq(show((const char *const[]){ "--identify", path, NULL }, &out, &err), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(out, TABLE));
        ck_assert_ptr_nonnull(strstr(err, " has a wrong checksum: what it says may not be what the drive said\n"));
        closep(&fds[0]);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("show");

        tcase_add_checked_fixture(t, setup, scratch_remove);
        tcase_add_test(t, test_drives);
        tcase_add_test(t, test_json);
        tcase_add_loop_test(t, test_refused, 0, ELEMENTSOF(refusals));
        tcase_add_test(t, test_image);
        tcase_add_test(t, test_pipe);
        return test_main("cli-show", t);
}
