/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep plan` as a whole, with stand-ins for udev, the files and the drives. */

#include "inventory.h"
#include "kernel-view.h"
#include "machine.h"
#include "settings.h"
#include "test-cli.h"
#include "unit-status.h"
#include "verb.h"
#include "visit.h"

static const Setting rows[] = {
        { .name = "apm", .range = { .type = VALUE_INT, .min = 1, .max = 254 } },
        { .name = "lookahead", .range = { .type = VALUE_BOOL, .max = 1 } },
        {},
};
const SettingTable all_settings = { .tables = { rows } };

static Drive drives[] = {
        { .name = (char *) "sda", .node = (char *) "/dev/sda", .serial = (char *) "5YD1" },
        { .name = (char *) "sdb", .node = (char *) "/dev/sdb" },
};
static Drive *found[] = { drives, drives + 1 };

/* What the stand-ins do. */
static uid_t user;
static bool all_kept, sleeps, config_in_error, config_missing, drives_missing, drive_is_dead, on_battery,
                asks_permanent;
static const char *roots_seen;
static bool written;    /* there is nothing to write */
static bool for_class;  /* the rule that the drive cannot follow is for a class of drives */
static bool has_record; /* the service's, of sda */

uid_t geteuid(void) {
        return user;
}

int inventory_read(Inventory *ret) {
        *ret = (Inventory){ .drives = found, .n_drives = drives_missing ? 0 : ELEMENTSOF(found) };
        return 0;
}

void inventory_done(_unused_ Inventory *i) {
}

int config_new(Config **ret) {
        *ret = calloc(1, sizeof **ret);
        return *ret ? 0 : -ENOMEM;
}

Config *config_free(Config *c) {
        free(c);
        return NULL;
}

int config_load(Config *c, _unused_ const SettingTable *t, const char *const *roots) {
        static Complaint complaint = { .file = (char *) "/etc/drivekeep/drivekeep.conf", .line = 3, .column = 5 };

        roots_seen = roots[0];
        c->n_files = !config_missing;
        if (config_in_error)
                c->complaints = (Complaints){ .items = &complaint, .n_items = 1, .n_errors = 1 };
        return 0;
}

/* Of the files of the command line: the names, and what stands in them. */
static char drafts_seen[256];

int config_parse(Config *c, const SettingTable *t, const char *file, const char *text, size_t size) {
        size_t used = strlen(drafts_seen);

        ck_assert_ptr_eq(t, &all_settings);
        ck_assert_uint_eq(strlen(text), size);
        (void) snprintf(drafts_seen + used, sizeof drafts_seen - used, "%s: %s\n", file, text);
        c->n_files++;
        return 0;
}

char *complaint_format(const Complaint *c) {
        char *line;

        return asprintf(&line, "%s:%u:%u: error: there is no setting 'a\x1b[pm'", c->file, c->line, c->column) < 0
                               ? NULL
                               : line;
}

int power_on_battery(const char *classdir) {
        ck_assert_str_eq(classdir, "/sys/class/power_supply");
        return on_battery;
}

int activity_read(_unused_ const char *syspath, uint64_t *ret) {
        *ret = 446;
        return 0;
}

int config_resolve(_unused_ const Config *c, const Drive *d, bool battery, Wishes *ret) {
        static const Wish wishes[] = {
                { .name = "apm", .value = { .type = VALUE_INT, .number = 128 }, .file = "/etc/a.conf", .line = 12 },
                { .name = "lookahead", .value = VALUE_BOOLEAN(1), .file = "/etc/a.conf", .line = 13 },
        };

        *ret = (Wishes){ .items = calloc(2, sizeof(Wish)), .n_items = d == drives ? 2 : 0 };
        memcpy(ret->items, wishes, sizeof wishes);
        ret->items[1].optional = for_class;
        if (battery)
                ret->items[0].value.number = 1;
        return 0;
}

void wishes_done(Wishes *w) {
        free(w->items);
}

Wish *wishes_find(_unused_ const Wishes *w, _unused_ const char *name) {
        return NULL;
}

const DeviceIO device_io_real = {};

int systemd_find_fsck(_unused_ char **ret_unit) {
        return 0;
}

int systemd_open_socket(_unused_ const char *address, _unused_ sd_bus **ret) {
        return -ECONNREFUSED;
}

int visit_run(const Visit *v, Plan *ret) {
        const Wishes *w = v->wishes;

        if (drive_is_dead)
                return -EIO;
        /* A drive that is in use, as its counters tell, is taken to be awake as the service takes it. */
        ck_assert(v->active == !(has_record && v->drive == drives));
        ck_assert(v->dry && v->settings == &all_settings);
        if (has_record && v->drive == drives) {
                ck_assert(v->ata_sleep);
                ck_assert_uint_eq(v->bridge->cdb, 12);
                ck_assert(v->memories[0].sent.known && !v->memories[1].sent.known);
                ck_assert_int_eq(v->memories[0].sent.number, 128);
        } else
                ck_assert(!v->ata_sleep && !v->bridge && !v->memories);
        ck_assert(!!(v->work & WORK_PERMANENT) == asks_permanent);

        *ret = (Plan){ .steps = calloc(2, sizeof(Step)), .n_steps = w->n_items };
        ret->steps[0] = (Step){ .wish = w->items,
                                .setting = rows,
                                .before = { .supported = true, .known = true, .value = { VALUE_INT, 254, "" } },
                                .write = true,
                                .verdict = _VERDICT_INVALID };
        ret->steps[1] = (Step){ .wish = w->items + 1, .verdict = VERDICT_UNSUPPORTED, .reason = "not \x1b[2J here" };
        if (written) {
                ret->steps[0].write = false;
                ret->steps[0].verdict = VERDICT_UNCHANGED;
        }
        if (all_kept)
                ret->steps[0] = ret->steps[1] =
                                (Step){ .wish = w->items, .setting = rows, .verdict = VERDICT_UNCHANGED };
        if (sleeps)
                ret->steps[1].verdict = VERDICT_DEFERRED;
        return 0;
}

static int plan_words(const char *const *words, char **ret_out, char **ret_err) {
        char *argv[8] = { (char *) "drivekeep plan" };
        FILE *out = catch_begin(stdout), *err = catch_begin(stderr);
        int argc = 1, r;

        for (; *words; words++)
                argv[argc++] = (char *) *words;
        r = verb_run(&verb_plan, argc, argv);

        *ret_out = catch_end(stdout, out);
        *ret_err = catch_end(stderr, err);
        return r;
}

static int plan(const char *second, const char *third, char **ret_out, char **ret_err) {
        return plan_words((const char *const[]){ second, third, NULL }, ret_out, ret_err);
}

START_TEST(test_table) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(plan(NULL, NULL, &out, &err), EXIT_NOT_WANTED);
        ck_assert_str_eq(out, "DRIVE SETTING   WANTED PRESENT ACTION      RULE\n"
                              "sda   apm       128    254     write       a.conf:12\n"
                              "sda   lookahead on     -       unsupported a.conf:13\n"
                              "sda lookahead: not \\x1b[2J here\n");
        ck_assert_str_eq(err, "");
        ck_assert_str_eq(roots_seen, "/etc");
}
END_TEST

/* What waits until the drive is in use has not failed, and nothing else is left to be done. */
START_TEST(test_asleep) {
        _cleanup_free_ char *out = NULL, *err = NULL, *out2 = NULL, *err2 = NULL;

        sleeps = true;
        ck_assert_int_eq(plan(NULL, NULL, &out, &err), EXIT_NOT_WANTED);
        all_kept = true;
        ck_assert_int_eq(plan(NULL, NULL, &out2, &err2), EXIT_LATER);
}
END_TEST

START_TEST(test_on_battery) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        on_battery = true;
        ck_assert_int_eq(plan(NULL, NULL, &out, &err), EXIT_NOT_WANTED);
        ck_assert_ptr_nonnull(strstr(out, "sda   apm       1      254     write       a.conf:12\n"));
}
END_TEST

START_TEST(test_as_if_on_battery) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(plan("--on-battery", "sda", &out, &err), EXIT_NOT_WANTED);
        ck_assert_ptr_nonnull(strstr(out, "sda   apm       1      254     write       a.conf:12\n"));
}
END_TEST

/* Files are planned in place of the system's, wherever they stand among the drives; anybody's will do. */
START_TEST(test_file) {
        _cleanup_free_ char *out = NULL, *err = NULL, *all = NULL, *none = NULL;

        scratch_make();
        file_write("new.conf", "first");
        file_write("more.conf", "second");
        ck_assert_int_eq(chmod("new.conf", 0666), 0);
        ck_assert_int_eq(plan_words((const char *const[]){ "new.conf", "sdb", "./more.conf", "sda", NULL }, &out, &err),
                         EXIT_NOT_WANTED);
        ck_assert_str_eq(err, "");
        ck_assert_str_eq(drafts_seen, "new.conf: first\n./more.conf: second\n");
        ck_assert_ptr_null(roots_seen);
        ck_assert_ptr_nonnull(strstr(out, "sda   apm       128    254     write       a.conf:12\n"));

        ck_assert_int_eq(plan("more.conf", NULL, &all, &none), EXIT_NOT_WANTED);
        ck_assert_str_eq(all, out);
        scratch_remove();
}
END_TEST

START_TEST(test_file_refused) {
        _cleanup_free_ char *out = NULL, *err = NULL, *large = NULL, *larger = NULL;
        char bytes[64] = {};
        FILE *f;

        scratch_make();
        file_write("new.conf", "");
        ck_assert_int_eq(plan("new.conf", "--config-root=/tmp", &out, &err), EXIT_BAD_INPUT);
        ck_assert_ptr_nonnull(
                        strstr(err, "'new.conf' is a file, which is planned in place of what --config-root names"));

        f = fopen("new.conf", "we");
        ck_assert_ptr_nonnull(f);
        for (size_t i = 0; i <= (1024 * 1024) / sizeof bytes; i++)
                ck_assert_uint_eq(fwrite(bytes, 1, sizeof bytes, f), sizeof bytes);
        (void) fclose(f);
        ck_assert_int_eq(plan("new.conf", NULL, &large, &larger), EXIT_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(larger, "new.conf cannot be read: the file is larger than 1 MiB"));
        ck_assert_str_eq(drafts_seen, "");
        scratch_remove();
}
END_TEST

START_TEST(test_permanent) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        asks_permanent = true;
        ck_assert_int_eq(plan("--permanent", "sda", &out, &err), EXIT_NOT_WANTED);
        ck_assert_ptr_nonnull(strstr(out, "sda   apm       128    254     write       a.conf:12\n"));
}
END_TEST

/* What the service knows of a drive counts: what was sent, its bridge, that it has not been used since, and that it sleeps. A
 * record of another attach is of another drive. */
START_TEST(test_record) {
        static const char record[] =
                        "VERSION=1\nNAME=sda\nSERIAL=5YD1\nDISKSEQ=%u\nBRIDGE_CDB=12\nUSED=446\nUSED_WHEN=1\n"
                        "ATA_SLEEP=1\nBOOT_ID=x\nSETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_SENT_NUMBER=128\n";
        _cleanup_free_ char *out = NULL, *err = NULL, *out2 = NULL, *err2 = NULL;
        char text[sizeof record + 10];

        scratch_make();
        (void) snprintf(text, sizeof text, record, 7U);
        file_write("sda", text);
        ck_assert_int_eq(plan("--state-dir=.", NULL, &out, &err), EXIT_NOT_WANTED);

        (void) snprintf(text, sizeof text, record, 0U);
        file_write("sda", text);
        has_record = true;
        ck_assert_int_eq(plan("--state-dir=.", NULL, &out2, &err2), EXIT_NOT_WANTED);
        ck_assert_str_eq(out, out2);
        scratch_remove();
}
END_TEST

START_TEST(test_json) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(plan("--json", NULL, &out, &err), EXIT_NOT_WANTED);
        json_take_list(&out, "drives");
        ck_assert_str_eq(out, "[\n"
                              "  {\n"
                              "    \"name\": \"sda\",\n"
                              "    \"node\": \"/dev/sda\",\n"
                              "    \"model\": null,\n"
                              "    \"serial\": \"5YD1\",\n"
                              "    \"wwn\": null,\n"
                              "    \"settings\": [\n"
                              "      {\n"
                              "        \"name\": \"apm\",\n"
                              "        \"wanted\": \"128\",\n"
                              "        \"present\": \"254\",\n"
                              "        \"action\": \"write\",\n"
                              "        \"reason\": null,\n"
                              "        \"rule\": \"/etc/a.conf:12\",\n"
                              "        \"optional\": false,\n"
                              "        \"remediable\": false\n"
                              "      },\n"
                              "      {\n"
                              "        \"name\": \"lookahead\",\n"
                              "        \"wanted\": \"on\",\n"
                              "        \"present\": null,\n"
                              "        \"action\": \"unsupported\",\n"
                              "        \"reason\": \"not \\\\x1b[2J here\",\n"
                              "        \"rule\": \"/etc/a.conf:13\",\n"
                              "        \"optional\": false,\n"
                              "        \"remediable\": false\n"
                              "      }\n"
                              "    ]\n"
                              "  },\n"
                              "  {\n"
                              "    \"name\": \"sdb\",\n"
                              "    \"node\": \"/dev/sdb\",\n"
                              "    \"model\": null,\n"
                              "    \"serial\": null,\n"
                              "    \"wwn\": null,\n"
                              "    \"settings\": " JSON_EMPTY("    ") "\n"
                                                                      "  }\n"
                                                                      "]\n");
}
END_TEST

START_TEST(test_nothing_to_do) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        all_kept = true;
        ck_assert_int_eq(plan("5YD1", NULL, &out, &err), EXIT_WANTED);
}
END_TEST

/* What a drive does not have, and need not have, is nothing that is left to be done. */
START_TEST(test_optional) {
        static const char note[] = "sda lookahead: not \\x1b[2J here\n";
        _cleanup_free_ char *out = NULL, *err = NULL, *out2 = NULL, *err2 = NULL, *out3 = NULL, *err3 = NULL;

        for_class = written = true;
        ck_assert_int_eq(plan("sda", NULL, &out, &err), EXIT_WANTED);
        ck_assert_ptr_null(strstr(out, "lookahead"));
        ck_assert_int_eq(plan("sda", "-v", &out2, &err2), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(out2, "sda   lookahead on     -       unsupported a.conf:13\n"));
        ck_assert_ptr_nonnull(strstr(out2, note));
        ck_assert_int_eq(plan("sda", "--json", &out3, &err3), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(out3, "\"optional\": true"));
}
END_TEST

START_TEST(test_drive_without_rules) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(plan("sdb", NULL, &out, &err), EXIT_WANTED);
        ck_assert_str_eq(out, "");
        ck_assert_ptr_nonnull(strstr(err, "no rule of the configuration is for any of these drives"));
}
END_TEST

/* The plan is shown all the same: a typo costs a block, not the answer. */
START_TEST(test_config_in_error) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        config_in_error = true;
        ck_assert_int_eq(plan(NULL, NULL, &out, &err), EXIT_BAD_INPUT);
        ck_assert_str_eq(err, "/etc/drivekeep/drivekeep.conf:3:5: error: there is no setting 'a\\x1b[pm'\n");
        ck_assert_ptr_nonnull(strstr(out, "write"));
}
END_TEST

START_TEST(test_drive_is_dead) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        drive_is_dead = true;
        ck_assert_int_eq(plan(NULL, NULL, &out, &err), EXIT_NOT_WANTED);
        ck_assert_ptr_nonnull(strstr(err, "sda cannot be read: Input/output error"));
        ck_assert_ptr_nonnull(strstr(err, "sdb cannot be read: Input/output error"));
}
END_TEST

START_TEST(test_unknown_drive) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(plan("sdq", NULL, &out, &err), EXIT_BAD_INPUT);
        ck_assert_str_eq(out, "");
}
END_TEST

START_TEST(test_config_root) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        (void) plan("--config-root=/tmp", "--config-root=/", &out, &err);
        ck_assert_str_eq(roots_seen, "/tmp");
}
END_TEST

START_TEST(test_config_root_missing) {
        char *argv[] = { (char *) "drivekeep plan", (char *) "--config-root=/nope", NULL };

        (void) verb_run(&verb_plan, 2, argv);
}
END_TEST

/* A plan of nothing says why. */
START_TEST(test_nothing_there) {
        _cleanup_free_ char *out = NULL, *err = NULL, *out2 = NULL, *err2 = NULL;

        all_kept = config_missing = true;
        ck_assert_int_eq(plan(NULL, NULL, &out, &err), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(err, "there is no configuration"));
        drives_missing = true;
        ck_assert_int_eq(plan(NULL, NULL, &out2, &err2), EXIT_WANTED);
        ck_assert_str_eq(out2, "");
        ck_assert_ptr_nonnull(strstr(err2, "there is no drive"));
}
END_TEST

START_TEST(test_not_root) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        user = 1000;
        ck_assert_int_eq(plan(NULL, NULL, &out, &err), EXIT_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(err, "reading the drives needs root"));
}
END_TEST

int main(void) {
        TCase *t = tcase_create("plan");

        tcase_add_test(t, test_table);
        tcase_add_test(t, test_asleep);
        tcase_add_test(t, test_on_battery);
        tcase_add_test(t, test_as_if_on_battery);
        tcase_add_test(t, test_file);
        tcase_add_test(t, test_file_refused);
        tcase_add_test(t, test_permanent);
        tcase_add_test(t, test_record);
        tcase_add_test(t, test_json);
        tcase_add_test(t, test_nothing_to_do);
        tcase_add_test(t, test_optional);
        tcase_add_test(t, test_drive_without_rules);
        tcase_add_test(t, test_config_in_error);
        tcase_add_test(t, test_drive_is_dead);
        tcase_add_test(t, test_unknown_drive);
        tcase_add_test(t, test_config_root);
        tcase_add_exit_test(t, test_config_root_missing, EXIT_BAD_INPUT);
        tcase_add_test(t, test_nothing_there);
        tcase_add_test(t, test_not_root);
        return test_main("cli-plan", t);
}
