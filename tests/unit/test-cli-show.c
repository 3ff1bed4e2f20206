/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep show` as a whole: images of IDENTIFY as they are, with stand-ins for udev, the service and what a drive says. */

#include <fcntl.h>

#include "identify-image.h"
#include "inventory.h"
#include "nvme.h"
#include "plan.h"
#include "probe.h"
#include "request.h"
#include "settings.h"
#include "sg-io.h"
#include "test-cli.h"
#include "wear-read.h"

/* ---- stand-ins ---- */

static Drive drives[] = {
        { .name = (char *) "sda",
          .node = (char *) "/dev/sda",
          .model = (char *) "ST\x1b[2J",
          .serial = (char *) "5YD1",
          .firmware = (char *) "CC32",
          .wwn = (char *) "0x5000",
          .syspath = (char *) "sda.sysfs",
          .transport = TRANSPORT_SATA,
          .ata = true,
          .size = UINT64_C(2000398934016),
          .rotational = true },
        { .name = (char *) "sdb",
          .node = (char *) "/dev/sdb",
          .syspath = (char *) "sdb.sysfs",
          .transport = TRANSPORT_USB,
          .size = 512 },
        { .name = (char *) "sdc",
          .node = (char *) "/dev/sdc",
          .syspath = (char *) "sdc.sysfs",
          .transport = TRANSPORT_SATA,
          .ata = true,
          .rotational = true },
        { .name = (char *) "nvme0n1",
          .node = (char *) "/dev/nvme0n1",
          .syspath = (char *) "nvme0n1.sysfs",
          .transport = TRANSPORT_NVME },
};
static Drive *found[] = { drives, drives + 1, drives + 2, drives + 3 };
static int inventory_error, leave_status;
static unsigned n_left;
static size_t n_found = 2;

static uid_t user;

uid_t geteuid(void) {
        return user;
}

/* What the drives were sent: their names. */
static char asked[64];

bool probe_needs_root(int error) {
        return error == -EACCES && user != 0;
}

static int open_node(_unused_ void *userdata, const Drive *drive) {
        (void) snprintf(asked + strlen(asked), sizeof asked - strlen(asked), "%s ", drive->name);
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* sda is awake, and another one sleeps. */
static int answer_power_mode(_unused_ void *userdata, _unused_ int fd, SgRequest *q) {
        const uint8_t sense[] = { 0x72, 1, 0, 0x1D, 0, 0, 0,    14,  9, 12, 0, 0, 0, streq(asked, "sda ") ? 0xFF : 0,
                                  0,    0, 0, 0,    0, 0, 0x40, 0x50 };

        ck_assert_uint_eq(q->cdb[14], 0xE5);
        q->status = STATUS_CHECK_CONDITION;
        memcpy(q->sense, sense, sizeof sense);
        q->sense_len = sizeof sense;
        return 0;
}

int inventory_read(Inventory *ret) {
        *ret = (Inventory){ .drives = found, .n_drives = n_found };
        return inventory_error;
}
void inventory_done(_unused_ Inventory *i) {
}

int leave_get(Leave *l, const char *state_dir, Drive *const *wanted, size_t n) {
        ck_assert_str_eq(state_dir, "records");
        for (size_t i = 0; i < n; i++)
                ck_assert(wanted[i] == drives || wanted[i] == drives + 1 || wanted[i] == drives + 3);
        l->io.userdata = drives;
        l->io.open_node = open_node;
        l->io.sg = answer_power_mode;
        n_left += n;
        return leave_status;
}
void leave_done(_unused_ Leave *l) {
}

void probe(Device *d, unsigned backends, const SettingTable *t, ProbeFn each, void *userdata) {
        const Drive *drive = d->drive;
        const DeviceIO *io = &d->io;

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
        if (io->image) {
                memcpy(d->identify, io->image, sizeof d->identify);
                d->identify_valid = true;
                d->power = POWER_AWAKE;
        } else if (drive == drives && user == 0) {
                d->power = POWER_AWAKE;
                d->power_told = true;
        }
        for (size_t i = 0; i < (drive == drives + 1 ? 1 : ELEMENTSOF(found_there)); i++)
                each(userdata, found_there + i);
}

static int show(const char *const *words, char **ret_out, char **ret_err) {
        return verb_catch(&verb_show, "records", words, ret_out, ret_err);
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
        "     state: active/idle\n" \
        TABLE MORE
#define SDB \
        "     drive: /dev/sdb\n" \
        "      size: 512 B\n" \
        "   rotates: no\n" \
        TABLE

#define JSON_SETTING(name, by, value, saved, reason, supported, exact) \
        "      {\n        \"name\": \"" name "\",\n        \"transport\": \"" by "\",\n        \"value\": " value \
        ",\n        \"saved\": " saved ",\n        \"reason\": " reason ",\n        \"supported\": " supported ",\n        \"exact\": " exact "\n      }"
#define JSON_DRIVE(name, key, node, model, serial, firmware, wwn, size, rotational) \
        "  {\n    \"name\": \"" name "\",\n    \"key\": \"" key "\",\n    \"node\": \"" node "\",\n    \"model\": " model ",\n    \"serial\": " serial ",\n    \"firmware\": " firmware \
        ",\n    \"wwn\": " wwn ",\n    \"size\": " size ",\n    \"rotational\": " rotational ",\n    \"spindown\": null,\n    \"settings\": [\n"
#define JSON_APM JSON_SETTING("apm", "ata", "\"127\"", "\"254\"", "null", "true", "true")
#define JSON_ALL \
        JSON_APM ",\n" \
        JSON_SETTING("apm", "ata", "null", "null", "\"nothing can \\\\x1b[31mread it\"", "true", "null") ",\n" \
        JSON_SETTING("apm", "ata", "null", "null", "null", "false", "null") ",\n" \
        JSON_SETTING("timeout", "scsi", "null", "null", "\"it sleeps\"", "null", "null")
#define JSON_END(state) "\n    ],\n    \"state\": " state ",\n    \"reason\": null,\n    \"ata\": null,\n    \"use\": null\n  }"
#define JSON_ATA_END \
        "\n    ],\n    \"state\": null,\n    \"reason\": null,\n    \"ata\": {\n" \
        "      \"rotation\": null,\n      \"form_factor\": null,\n      \"sectors\": \"512 B logical\",\n" \
        "      \"link\": null,\n      \"link_power\": null,\n      \"trim\": null,\n" \
        "      \"standby_timer\": \"values as in the standard\",\n      \"acoustic\": \"128 recommended\",\n" \
        "      \"security\": null\n    },\n    \"use\": null\n  }"
#define IMAGE_FACTS \
        "   sectors: 512 B logical\n" \
        "     timer: values as in the standard\n" \
        "  acoustic: 128 recommended\n"
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
        json_take_list(&out, "drives");
        ck_assert_str_eq(out, "[\n" JSON_DRIVE("sda", "0x5000", "/dev/sda", "\"ST\\\\x1b[2J\"", "\"5YD1\"", "\"CC32\"",
                                               "\"0x5000\"", "2000398934016", "true")
                                              JSON_ALL JSON_END("\"active/idle\"") ",\n" JSON_DRIVE(
                                                              "sdb", "sdb", "/dev/sdb", "null", "null", "null", "null",
                                                              "512", "false") JSON_APM JSON_END("null") "\n]\n");
        ck_assert_str_eq(err, "");
}
END_TEST

/* ---- which drive it is ---- */

/* By what it is known again, as `drivekeep bench` keeps it. */
static const struct {
        const char *wwn, *serial, *property, *value, *key;
} keys[] = {
        { "0x5", "S", NULL, NULL, "0x5" },           { NULL, "S", NULL, NULL, "S" },
        { NULL, NULL, NULL, NULL, "sdb" },           { "0x5", "S", "DM_UUID", "LVM-x", "LVM-x" },
        { NULL, NULL, "MD_UUID", "12:34", "12:34" },
};

static struct json_object *show_one(const char *drive) {
        _cleanup_free_ char *out = NULL, *err = NULL;
        static struct json_object *told; /* stays, for the caller */

        ck_assert_int_eq(show((const char *const[]){ "--json", drive, NULL }, &out, &err), EXIT_WANTED);
        told = json_tokener_parse(out);
        return json_object_array_get_idx(json_object_object_get(told, "drives"), 0);
}

static const char *text_of(struct json_object *o, const char *key) {
        return json_object_get_string(json_object_object_get(o, key));
}

START_TEST(test_key) {
        drives[1].wwn = (char *) keys[_i].wwn;
        drives[1].serial = (char *) keys[_i].serial;
        if (keys[_i].property)
                ck_assert_int_eq(drive_add_property(drives + 1, keys[_i].property, keys[_i].value), 0);
        ck_assert_str_eq(text_of(show_one("sdb"), "key"), keys[_i].key);
}
END_TEST

/* By whom the service has found behind the bridge. */
START_TEST(test_bridge) {
        struct json_object *o;

        file_make("records/sdb",
                  "VERSION=1\nNAME=sdb\nSERIAL=B1\nFIRMWARE=F\nDOCK_SERIAL=D1\nBRIDGE_ASKED=1\nBRIDGE_IDENTIFIED=1\n");
        drives[1].serial = strdup("D1");
        o = show_one("B1");
        ck_assert_str_eq(text_of(o, "name"), "sdb");
        ck_assert_str_eq(text_of(o, "serial"), "B1");
        ck_assert_str_eq(text_of(o, "firmware"), "F");
}
END_TEST

/* ---- how warm and worn they are ---- */

static Wear wear;
static bool tests_itself;

int __wrap_wear_and_test_read(Device *d, Backend by, Wear *ret, bool *ret_testing);
int __wrap_wear_and_test_read(_unused_ Device *d, Backend by, Wear *ret, bool *ret_testing) {
        ck_assert_int_eq(by, BACKEND_ATA);
        *ret = wear;
        *ret_testing = tests_itself;
        return 0;
}

int __wrap_nvme_is_testing(Device *d, bool *ret);
int __wrap_nvme_is_testing(_unused_ Device *d, bool *ret) {
        *ret = tests_itself;
        return 0;
}

/* The text, and the JSON's object. */
static const struct {
        const char *drive, *heat, *most; /* of an NVMe drive, in thousandths of a degree */
        Wear wear;
        bool tests_itself;
        const char *text, *json;
} wears[] = {
        { "sda", .wear = { .temperature = { true, 41 }, .load_cycles = { true, 7 }, .start_stops = { true, 0 } },
          .tests_itself = true, .text = "   celsius: 41\nload cycles: 7\nstart-stops: 0\n self-test: runs\n",
          .json = "{ \"celsius\": 41, \"celsius_max\": null, \"load_cycles\": 7, \"start_stops\": 0, \"testing\": true }" },
        { "sda", .text = "",
          .json = "{ \"celsius\": null, \"celsius_max\": null, \"load_cycles\": null, \"start_stops\": null, \"testing\": false }" },
        { "nvme0n1", "81850", "80850", .text = "   celsius: 82\nwarns above: 81\n",
          .json = "{ \"celsius\": 82, \"celsius_max\": 81, \"load_cycles\": null, \"start_stops\": null, \"testing\": false }" },
};

START_TEST(test_wear) {
        _cleanup_free_ char *out = NULL, *err = NULL, *json = NULL;
        struct json_object *told, *o;

        wear = wears[_i].wear;
        tests_itself = wears[_i].tests_itself;
        n_found = 4;
        if (wears[_i].heat) {
                file_make("nvme0n1.sysfs/device/hwmon1/temp1_input", wears[_i].heat);
                file_make("nvme0n1.sysfs/device/hwmon1/temp1_max", wears[_i].most);
        }
        ck_assert_int_eq(show((const char *const[]){ "--wear", wears[_i].drive, NULL }, &out, &err), EXIT_WANTED);
        ck_assert_msg(strstr(out, wears[_i].text), "%s", out);
        ck_assert_int_eq(show((const char *const[]){ "--wear", "--json", wears[_i].drive, NULL }, &json, &err),
                         EXIT_WANTED);
        told = json_tokener_parse(json);
        o = json_object_object_get(json_object_array_get_idx(json_object_object_get(told, "drives"), 0), "wear");
        ck_assert_str_eq(json_object_to_json_string(o), wears[_i].json);
        (void) json_object_put(told);
}
END_TEST

START_TEST(test_wear_of_all) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(show((const char *const[]){ "--wear", NULL }, &out, &err), EXIT_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(err, "say which drives are to be asked: 'drivekeep show --wear DRIVE...'"));
        ck_assert_str_eq(asked, "");
}
END_TEST

/* Who may not ask a drive is told so. */
START_TEST(test_not_root) {
        _cleanup_free_ char *out = NULL, *err = NULL, *json = NULL, *none = NULL;

        user = 1000;
        ck_assert_int_eq(show((const char *const[]){ "sda", NULL }, &out, &err), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(out, "     state: needs root\n"));
        ck_assert_int_eq(show((const char *const[]){ "sda", "--json", NULL }, &json, &none), EXIT_WANTED);
        json_take_list(&json, "drives");
        ck_assert_ptr_nonnull(strstr(json, "\"state\": null,\n    \"reason\": \"needs root\",\n    \"ata\": null"));
}
END_TEST

/* The drive does not know what spins it down: the service does. */
START_TEST(test_spindown) {
        _cleanup_free_ char *out = NULL, *err = NULL, *json = NULL, *none = NULL;

        file_write("records/sda", "VERSION=1\nNAME=sda\nMODEL=ST\\x1b[2J\nSERIAL=5YD1\nWWN=0x5000\nBOOT_ID=x\n"
                                  "SPINDOWN=20 min, by the service\nSETTINGS=0\n");
        ck_assert_int_eq(show((const char *const[]){ "sda", NULL }, &out, &err), EXIT_WANTED);
        ck_assert_ptr_nonnull(
                        strstr(out, "   rotates: yes\n  spindown: 20 min, by the service\n     state: active/idle\n"));
        ck_assert_int_eq(show((const char *const[]){ "sda", "--json", NULL }, &json, &none), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(json, "\"spindown\": \"20 min, by the service\",\n"));
}
END_TEST

/* ---- all drives ---- */

static void records_write(void) {
        file_write("records/sda",
                   "VERSION=1\nNAME=sda\nMODEL=ST\\x1b[2J\nSERIAL=5YD1\nWWN=0x5000\nBOOT_ID=x\nSETTINGS=3\n"
                   "SETTING_0_NAME=apm\nSETTING_0_WANTED=254\nSETTING_0_VERDICT=applied\n"
                   "SETTING_1_NAME=lookahead\nSETTING_1_WANTED=on\nSETTING_1_VERDICT=ignored\n"
                   "SETTING_2_NAME=write_cache\n");
        file_write("records/sdc", "VERSION=1\nNAME=sdc\nBOOT_ID=x\nSETTINGS=0\n");
}

/* A line each; a USB bridge that nobody has tried yet is sent nothing. */
START_TEST(test_all) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        n_found = 4;
        records_write();
        ck_assert_int_eq(show((const char *const[]){ NULL }, &out, &err), EXIT_WANTED);
        ck_assert_str_eq(out,
                         "NAME    MODEL     STATE       SET\n"
                         "sda     ST\\x1b[2J active/idle apm 254, lookahead on (ignored), write_cache n/a (pending)\n"
                         "sdb     -         -           -\n"
                         "sdc     -         standby     none\n"
                         "nvme0n1 -         -           -\n");
        ck_assert_str_eq(err, "");
        ck_assert_str_eq(asked, "sda sdc ");
        ck_assert_uint_eq(n_left, 0);
}
END_TEST

START_TEST(test_all_json) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        records_write();
        ck_assert_int_eq(show((const char *const[]){ "--json", NULL }, &out, &err), EXIT_WANTED);
        json_take_list(&out, "drives");
        ck_assert_str_eq(
                        out,
                        "[\n  {\n    \"name\": \"sda\",\n    \"node\": \"/dev/sda\",\n    \"model\": \"ST\\\\x1b[2J\",\n"
                        "    \"state\": \"active/idle\",\n    \"reason\": null,\n    \"settings\": [\n"
                        "      {\n        \"name\": \"apm\",\n        \"wanted\": \"254\",\n        \"verdict\": \"applied\"\n      },\n"
                        "      {\n        \"name\": \"lookahead\",\n        \"wanted\": \"on\",\n        \"verdict\": \"ignored\"\n      },\n"
                        "      {\n        \"name\": \"write_cache\",\n        \"wanted\": null,\n        \"verdict\": null\n      }\n"
                        "    ]\n  },\n"
                        "  {\n    \"name\": \"sdb\",\n    \"node\": \"/dev/sdb\",\n    \"model\": null,\n    \"state\": null,\n"
                        "    \"reason\": null,\n    \"settings\": " JSON_EMPTY("    ") "\n  }\n]\n");
}
END_TEST

/* What a class rule asks for in vain is no more marked than what is kept; what was named is. */
START_TEST(test_all_absent) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        file_write("records/sda",
                   "VERSION=1\nNAME=sda\nMODEL=ST\\x1b[2J\nSERIAL=5YD1\nWWN=0x5000\nBOOT_ID=x\nSETTINGS=3\n"
                   "SETTING_0_NAME=apm\nSETTING_0_WANTED=254\nSETTING_0_VERDICT=unsupported\nSETTING_0_OPTIONAL=1\n"
                   "SETTING_1_NAME=lookahead\nSETTING_1_WANTED=on\nSETTING_1_VERDICT=unsupported\n"
                   "SETTING_2_NAME=write_cache\nSETTING_2_WANTED=on\nSETTING_2_VERDICT=refused\nSETTING_2_OPTIONAL=1\n");
        ck_assert_int_eq(show((const char *const[]){ NULL }, &out, &err), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(out, " apm 254, lookahead on (unsupported), write_cache on (refused)\n"));
}
END_TEST

/* What one must not or may not ask is left out, and the kernel's word needs no asking. */
START_TEST(test_all_unasked) {
        _cleanup_free_ char *out = NULL, *err = NULL, *out2 = NULL, *err2 = NULL, *out3 = NULL, *err3 = NULL;

        n_found = 3;
        ck_assert_int_eq(mkdir("sdc.sysfs", 0755), 0);
        ck_assert_int_eq(mkdir("sdc.sysfs/device", 0755), 0);
        ck_assert_int_eq(mkdir("sdc.sysfs/device/power", 0755), 0);
        file_write("sdc.sysfs/device/power/runtime_status", "suspended\n");

        user = 1000;
        ck_assert_int_eq(show((const char *const[]){ NULL }, &out, &err), EXIT_WANTED);
        ck_assert_str_eq(out, "NAME MODEL     STATE      SET\n"
                              "sda  ST\\x1b[2J needs root -\n"
                              "sdb  -         -          -\n"
                              "sdc  -         suspended  -\n");

        /* While a file system is checked, say, no drive is asked. */
        user = 0;
        leave_status = EXIT_NOT_WANTED;
        ck_assert_int_eq(show((const char *const[]){ NULL }, &out2, &err2), EXIT_NOT_WANTED);
        ck_assert_ptr_nonnull(strstr(out2, "sda  ST\\x1b[2J -         -\n"));

        /* At a drive that the service is at, nobody waits. */
        leave_status = EXIT_WANTED;
        file_write("records/sda",
                   "VERSION=1\nNAME=sda\nMODEL=ST\\x1b[2J\nSERIAL=5YD1\nWWN=0x5000\nBOOT_ID=x\nSTATE=visiting\nSETTINGS=0\n");
        ck_assert_int_eq(show((const char *const[]){ NULL }, &out3, &err3), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(out3, "sda  ST\\x1b[2J visiting  none\n"));
        ck_assert_str_eq(asked, "");
}
END_TEST

/* A drive in ATA's Sleep mode would be reset to answer: the service has noted that, and it is left alone, also where nobody knows whether
 * it was used since. */
START_TEST(test_all_ata_sleep) {
        static const char *const stats[] = { "40 0 0 0 6 0 0 0 0 0 0\n", "" };
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(mkdir("sda.sysfs", 0755), 0);
        file_write("sda.sysfs/stat", stats[_i]);
        file_write("records/sda",
                   "VERSION=1\nNAME=sda\nMODEL=ST\\x1b[2J\nSERIAL=5YD1\nWWN=0x5000\nBOOT_ID=x\nUSED=46\nUSED_WHEN=1\nATA_SLEEP=1\n"
                   "SETTINGS=0\n");
        ck_assert_int_eq(show((const char *const[]){ NULL }, &out, &err), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(out, "sda  ST\\x1b[2J sleep none\n"));
        ck_assert_str_eq(asked, "");
}
END_TEST

START_TEST(test_no_drives) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        n_found = 0;
        ck_assert_int_eq(show((const char *const[]){ NULL }, &out, &err), EXIT_WANTED);
        ck_assert_str_eq(out, "");
        ck_assert_ptr_nonnull(strstr(err, "there is no drive here"));
}
END_TEST

/* clang-format off */
static const struct {
        const char *words[4];
        int inventory_error, leave_status, status;
        unsigned n_left;
        const char *said;
} refusals[] = {
        { { "sda", "--identify", "x" },                 0,      EXIT_WANTED,     EXIT_BAD_INPUT,  0, "say which drive, or which image" },
        { { "sdq" },                                    0,      EXIT_WANTED,     EXIT_BAD_INPUT,  0, "sdq" },
        { {},                                           -EMFILE, EXIT_WANTED,    -EMFILE,         0, "" },
        { {},                                           0,      -EIO,            -EIO,            0, "" },
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
        ck_assert_int_eq(mkdir("records", 0755), 0);
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
        ck_assert_str_eq(out, "     drive: image\n" IMAGE_FACTS TABLE MORE);
        ck_assert_str_eq(err, "");

        /* Whether it rotates is not in this image. */
        ck_assert_ptr_nonnull(freopen("image", "re", stdin));
        ck_assert_int_eq(show((const char *const[]){ "--json", "--identify", "-", NULL }, &json, &none), EXIT_WANTED);
        json_take_list(&json, "drives");
        ck_assert_str_eq(json, "[\n" JSON_DRIVE("-", "-", "-", "null", "null", "null", "null", "0", "null")
                                               JSON_ALL JSON_ATA_END "\n]\n");
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
        tcase_add_loop_test(t, test_wear, 0, ELEMENTSOF(wears));
        tcase_add_test(t, test_wear_of_all);
        tcase_add_loop_test(t, test_key, 0, ELEMENTSOF(keys));
        tcase_add_test(t, test_bridge);
        tcase_add_test(t, test_not_root);
        tcase_add_test(t, test_spindown);
        tcase_add_test(t, test_all);
        tcase_add_test(t, test_all_json);
        tcase_add_test(t, test_all_absent);
        tcase_add_test(t, test_all_unasked);
        tcase_add_loop_test(t, test_all_ata_sleep, 0, 2);
        tcase_add_test(t, test_no_drives);
        tcase_add_loop_test(t, test_refused, 0, ELEMENTSOF(refusals));
        tcase_add_test(t, test_image);
        tcase_add_test(t, test_pipe);
        return test_main("cli-show", t);
}
