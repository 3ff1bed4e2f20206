/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests `drivekeep show` with unmodified IDENTIFY images, and stand-ins for udev, the service and the drives. */

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
static int inventory_error, permission_status;
static unsigned n_permitted;
static size_t n_found = 2;

static uid_t user;

uid_t geteuid(void) {
        return user;
}

static unsigned n_single;

/* Names of the drives that were opened for a command, each followed by a blank. */
static char queried[64];

bool probe_needs_root(int error) {
        return error == -EACCES && user != 0;
}

static int open_node(_unused_ void *userdata, const Drive *drive) {
        (void) snprintf(queried + strlen(queried), sizeof queried - strlen(queried), "%s ", drive->name);
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* sda is active, and the other drives are in standby. */
static int answer_power_mode(_unused_ void *userdata, _unused_ int fd, SgRequest *q) {
        const uint8_t sense[] = { 0x72, 1, 0, 0x1D, 0, 0, 0,    14,  9, 12, 0, 0, 0, streq(queried, "sda ") ? 0xFF : 0,
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
int inventory_readiness(_unused_ const char *name, _unused_ Readiness *ret) {
        return -ENODEV;
}

void inventory_done(_unused_ Inventory *i) {
}

int permission_get(Permission *l, const char *state_dir, Drive *const *wanted, size_t n) {
        ck_assert_str_eq(state_dir, "records");
        for (size_t i = 0; i < n; i++)
                ck_assert(wanted[i] == drives || wanted[i] == drives + 1 || wanted[i] == drives + 3);
        l->io.userdata = drives;
        l->io.open_node = open_node;
        l->io.sg = answer_power_mode;
        n_permitted += n;
        return permission_status;
}
void permission_done(_unused_ Permission *l) {
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
                { &timeout,
                  { .supported = true,
                    .known = true,
                    .value = { VALUE_DURATION, 60000, "" },
                    .limited = true,
                    .fixed = true,
                    .min = 5000,
                    .max = 1200000 },
                  NULL },
        };

        /* With --setting=apm, the table of the settings to probe has only the row of apm. */
        if (t != &all_settings) {
                n_single++;
                ck_assert_str_eq(t->tables[0][0].name, "apm");
                ck_assert_ptr_null(t->tables[0][1].name);
                ck_assert_ptr_null(t->tables[1]);
                each(userdata, &(Probed){ .setting = t->tables[0] });
                return;
        }
        if (io->image)
                ck_assert(backends == 1U << BACKEND_ATA && io->image[0] == 0x0040);
        else
                ck_assert(backends == drive_backends(drive) && io->userdata == drives);
        if (io->image) {
                memcpy(d->identify, io->image, sizeof d->identify);
                d->identify_valid = true;
                d->power = POWER_ACTIVE;
        } else if (drive == drives && user == 0) {
                d->power = POWER_ACTIVE;
                d->power_reported = true;
        }
        for (size_t i = 0; i < (drive == drives + 1 ? 1 : ELEMENTSOF(found_there)); i++)
                each(userdata, found_there + i);
}

static int show(const char *const *words, char **ret_out, char **ret_err) {
        return verb_catch(&verb_show, "records", words, ret_out, ret_err);
}

/* ---- identity of the drive ---- */

/* The persistent key of a drive, under which `drivekeep bench` stores results. */
static const struct {
        const char *wwn, *serial, *property, *value, *key;
} keys[] = {
        { "0x5", "S", NULL, NULL, "0x5" },           { NULL, "S", NULL, NULL, "S" },
        { NULL, NULL, NULL, NULL, "sdb" },           { "0x5", "S", "DM_UUID", "LVM-x", "LVM-x" },
        { NULL, NULL, "MD_UUID", "12:34", "12:34" },
};

static struct json_object *show_one(const char *drive) {
        _cleanup_free_ char *out = NULL, *err = NULL;
        static struct json_object *document; /* owns the object that the caller gets */

        ck_assert_int_eq(show((const char *const[]){ "--json", drive, NULL }, &out, &err), EXIT_WANTED);
        document = json_tokener_parse(out);
        return json_object_array_get_idx(json_object_object_get(document, "drives"), 0);
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

/* A drive behind a bridge is shown with its identity from the service's state file, not with that of the bridge. */
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

/* The drive's own range of a setting is a remark in the table, and has its own keys in JSON. */
START_TEST(test_range) {
        _cleanup_free_ char *out = NULL, *err = NULL;
        struct json_object *settings, *last;

        ck_assert_int_eq(show((const char *const[]){ "sda", NULL }, &out, &err), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(out, "range: 5 s to 20 min; the value cannot be changed\n"));

        settings = json_object_object_get(show_one("sda"), "settings");
        last = json_object_array_get_idx(settings, json_object_array_length(settings) - 1);
        ck_assert_str_eq(text_of(last, "range"), "5 s to 20 min");
        ck_assert_str_eq(text_of(last, "changeable"), "false");
        ck_assert_ptr_null(text_of(last, "reason"));
        ck_assert_ptr_null(text_of(json_object_array_get_idx(settings, 0), "range"));
        ck_assert_ptr_null(text_of(json_object_array_get_idx(settings, 0), "changeable"));
}
END_TEST

/* ---- temperature, wear and self-test ---- */

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

/* The drive reports `wear` and `tests_itself`. The output must contain `text`, or the object "wear" with the content `json`. */
static const struct {
        const char *drive, *heat, *most; /* NVMe: current temperature and warning limit, 1/1000 °C */
        Wear wear;
        bool tests_itself;
        const char *text, *json;
} wears[] = {
        { "sda", .wear = { .temperature = { true, 41 }, .load_cycles = { true, 7 }, .start_stops = { true, 0 } },
          .tests_itself = true, .text = "   celsius: 41\nload cycles: 7\nstart-stops: 0\n self-test: in progress\n",
          .json = "{ \"celsius\": 41, \"celsius_max\": null, \"load_cycles\": 7, \"start_stops\": 0, \"testing\": true }" },
        { "sda", .text = "",
          .json = "{ \"celsius\": null, \"celsius_max\": null, \"load_cycles\": null, \"start_stops\": null, \"testing\": false }" },
        { "nvme0n1", "81850", "80850", .text = "   celsius: 82\nwarns above: 81\n",
          .json = "{ \"celsius\": 82, \"celsius_max\": 81, \"load_cycles\": null, \"start_stops\": null, \"testing\": false }" },
};

START_TEST(test_wear) {
        _cleanup_free_ char *out = NULL, *err = NULL, *json = NULL, *none = NULL;
        struct json_object *document, *o;

        wear = wears[_i].wear;
        tests_itself = wears[_i].tests_itself;
        n_found = 4;
        if (wears[_i].heat) {
                file_make("nvme0n1.sysfs/device/hwmon1/temp1_input", wears[_i].heat);
                file_make("nvme0n1.sysfs/device/hwmon1/temp1_max", wears[_i].most);
        }
        ck_assert_int_eq(show((const char *const[]){ "--wear", wears[_i].drive, NULL }, &out, &err), EXIT_WANTED);
        ck_assert_msg(strstr(out, wears[_i].text), "%s", out);
        ck_assert_int_eq(show((const char *const[]){ "--wear", "--json", wears[_i].drive, NULL }, &json, &none),
                         EXIT_WANTED);
        document = json_tokener_parse(json);
        o = json_object_object_get(json_object_array_get_idx(json_object_object_get(document, "drives"), 0), "wear");
        ck_assert_str_eq(json_object_to_json_string(o), wears[_i].json);
        (void) json_object_put(document);
}
END_TEST

static const struct {
        const char *drive, *setting;
        int status;
        unsigned n_single;
        const char *text;
} one_setting[] = {
        { "sda", "--setting=apm", EXIT_WANTED, 1, "apm     ata     no" },
        { "nvme0n1", "--setting=apm", EXIT_WANTED, 0, "drive: /dev/nvme0n1" },
        { "sda", "--setting=amp", EXIT_BAD_INPUT, 0, "there is no setting 'amp'; did you mean 'apm'?" },
        { NULL, "--setting=apm", EXIT_BAD_INPUT, 0, "--wear and --setting need a drive" },
};

START_TEST(test_one_setting) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        n_found = 4;
        ck_assert_int_eq(
                        show((const char *const[]){ one_setting[_i].setting, one_setting[_i].drive, NULL }, &out, &err),
                        one_setting[_i].status);
        ck_assert_uint_eq(n_single, one_setting[_i].n_single);
        ck_assert_msg(strstr(one_setting[_i].status == EXIT_WANTED ? out : err, one_setting[_i].text), "%s%s", out,
                      err);
}
END_TEST

START_TEST(test_wear_without_drive) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(show((const char *const[]){ "--wear", NULL }, &out, &err), EXIT_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(err, "--wear and --setting need a drive: 'drivekeep show --wear DRIVE...'"));
        ck_assert_str_eq(queried, "");
}
END_TEST

static void setup(void) {
        scratch_make();
        ck_assert_int_eq(mkdir("records", 0755), 0);
}

int main(void) {
        TCase *t = tcase_create("show");

        tcase_add_checked_fixture(t, setup, scratch_remove);
        tcase_add_loop_test(t, test_wear, 0, ELEMENTSOF(wears));
        tcase_add_test(t, test_wear_without_drive);
        tcase_add_loop_test(t, test_one_setting, 0, ELEMENTSOF(one_setting));
        tcase_add_loop_test(t, test_key, 0, ELEMENTSOF(keys));
        tcase_add_test(t, test_range);
        tcase_add_test(t, test_bridge);
        return test_main("cli-show", t);
}
