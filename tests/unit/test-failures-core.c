/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each allocation and each file operation of the code in daemon/core fails in turn. The result must be a complaint, or
 * -ENOMEM without a leak (checked by the leak sanitizer). A partial result is a fault. */

#include <fcntl.h>

#include "config-dump.h"
#include "config.h"
#include "facts.h"
#include "guard-rules.h"
#include "inject.h"
#include "drive-record.h"
#include "safe-file.h"
#include "scope.h"
#include "temporary.h"
#include "test-cli.h"

/* A failed allocation must be reported as -ENOMEM, not as another error or as success. */
static bool memory_end(int r) {
        bool failed = inject_disarm();

        ck_assert_msg(r == (failed ? -ENOMEM : 0), "%s", strerror(-r));
        return failed;
}

/* clang-format off */
static const char *const texts[] = {
        /* A valid file with all kinds of criteria and values. */
        "fsck_wait = \"5min\";\n"
        "drives = ({ match = {}; apm = 127; on_battery = { apm = 1 }; },\n"
        "{ match = [\"/dev/sda\", \"/dev/disk/by-id/*\"]; timeout = \"180s\"; scheduler = \"none\"; allow_dangerous = true; },\n"
        "{ match = { serial = \"S\\x31\"; model = [\"A*\", \"B\"]; transport = \"sata\"; rotational = true;\n"
        "  property = { ID_BUS = \"ata\"; }; }; lookahead = true; write_cache = \"keep\"; read_ahead_kb = \"1 MiB\"; });\n",
        /* Files with all kinds of errors. BROKEN adds valid blocks before and after the errors. */
        BROKEN("{ match = \"/dev/sda\"; amp = 3; apm = 300; apm = 2; lookahead = maybe; }"),
        BROKEN("{ match = { modle = \"x\"; transport = \"sato\"; serial = 7; }; }"),
        BROKEN("{ match = \"/dev/sda\"; apm = = 2; }"),
        BROKEN("{ match = [ \"/dev/sda\", 3 ]; apm = 2;"),
        BROKEN("{ match = \"/dev/sda\"; master_password = \"secret\"; scheduler = \"a\\q\"; timeout = [1, \"2\"]; }"),
        BROKEN("{ match = \"/dev/sda\"; property = ; apm = 2; } @include \"x\""),
        "drivs = (); drives = 3; drives = ( { match = {} apm = 1 ) }\n/* open",
        "drives = {{ match = {}; apm = 1; }; lookahead = true; { match = {}; apm = 1; }; foo }; drives ( { match = {} } );",
        "drives = [ { match = {}; epc = true; apm = 5; }, (({ match = {}; apm = 1 } } ] , { match = {} ); \nfsck_wait = \"1s\";",
        "{ match = {}; apm = 1; }, { match = {} } {{ match = {} }; ) ( { } drives = ( 1; } , { match = \"x\" \"y\"; \"z\"; apm = \"1\" \"2\"",
        BROKEN("{ match = [ \"/dev/sda\" \"/dev/sdb\" ]; apm = 2; security_unlock = \"x\"; property = { ID_BUS = [ \"a\", { } ] }; }"),
        BROKEN("{ match = [ \"/dev/sda\" \"/dev/sdb\", \"/dev/sdc\" ]; apm = 2 ( 3; lookahead = [ true ]; timeout = { }; }"),
        "drives = ({ match = {}; apm = 1; apm_battery = 2; \xff\x01 = 1; });\nfsck_wait = \"soon\"; recheck = true;",
};
/* clang-format on */

static const char *text; /* text parsed in this iteration */
static char *expected;   /* meaning of `text` when no call fails */

static char *meaning(const Config *c) {
        _cleanup_free_ char *blocks = config_dump(c);
        char *all;
        size_t size;
        FILE *f = open_memstream(&all, &size);

        ck_assert_ptr_nonnull(f);
        fputs(blocks, f);
        for (size_t i = 0; i < c->complaints.n_items; i++) {
                _cleanup_free_ char *line = complaint_format(&c->complaints.items[i]);

                fprintf(f, "%s\n", line);
        }
        ck_assert_int_eq(fclose(f), 0);
        return all;
}

static void expect(char *what) {
        if (!expected)
                expected = what;
        else {
                ck_assert_str_eq(what, expected);
                free(what);
        }
}

static bool parse_once(Injected what, size_t nth) {
        _cleanup_(config_freep) Config *c = NULL;
        bool failed;
        int r;

        inject_arm(what, nth);
        r = config_new(&c);
        if (r >= 0)
                r = config_parse(c, &fake_table, "f", text, strlen(text));
        failed = memory_end(r);
        if (!failed)
                expect(meaning(c));
        return failed;
}

START_TEST(test_parse) {
        text = texts[_i];
        (void) inject_each(parse_once, INJECT_MEMORY);
        free(expected);
}
END_TEST

/* Creates a main file and drop-ins. One of the drop-ins is a directory, so it cannot be read. */
static void files_make(void) {
        scratch_make();
        ck_assert_int_eq(mkdir("drivekeep", 0755), 0);
        ck_assert_int_eq(mkdir("drivekeep/drivekeep.conf.d", 0755), 0);
        file_write("drivekeep/drivekeep.conf", texts[0]);
        file_write("drivekeep/drivekeep.conf.d/20-b.conf", texts[1]);
        file_write("drivekeep/drivekeep.conf.d/10-a.conf", GOOD "drives = ();");
        ck_assert_int_eq(mkdir("drivekeep/drivekeep.conf.d/30-c.conf", 0755), 0);
}

static bool load_once(Injected what, size_t nth) {
        static const char *const roots[] = { ".", "./nowhere", NULL };
        _cleanup_(config_freep) Config *c = NULL;
        bool failed;
        int r;

        ck_assert_int_eq(config_new(&c), 0);
        inject_arm(what, nth);
        r = config_load(c, &fake_table, roots);
        if (what == INJECT_MEMORY)
                failed = memory_end(r);
        else {
                failed = inject_disarm();
                ck_assert_int_eq(r, 0);
        }

        if (!failed || what == INJECT_SHORT)
                expect(meaning(c));
        else if (what != INJECT_MEMORY) {
                /* A read error must cause a complaint. If an interrupted read is repeated, the configuration must be
                 * the same as without a failure. */
                _cleanup_free_ char *all = meaning(c);

                if (what == INJECT_INTERRUPT && streq(all, expected))
                        return true;
                ck_assert_msg(strstr(all, strerror(what == INJECT_INTERRUPT ? EINTR : EIO)), "call %zu: %s", nth, all);
                ck_assert_uint_gt(c->complaints.n_errors, 0);
        }
        return failed;
}

START_TEST(test_load) {
        (void) inject_each(load_once, _i);
        free(expected);
}
END_TEST

/* clang-format off */
static const Fact sata[] = {
        { "ID_MODEL", "WDC_WD40EFRX" }, { "ID_SERIAL_SHORT", "S1" }, { "ID_WWN", "0x50014ee2b0000001" },
        { "ID_REVISION", "82.00A82" }, { "device/model", "WDC WD40EFRX-68N" }, { "device/vendor", "ATA     " },
        { "queue/rotational", "1" }, { "removable", "0" }, { "size", "7814037168" }, { "diskseq", "9" }, {},
};
static const Fact bridge[] = { { "ID_MODEL", "Bridge" }, { "ID_SERIAL_SHORT", "B1" }, { "device/vendor", "JMicron" }, {} };
static const Fact bare[] = { {} };
/* clang-format on */

static int drive_make(const char *syspath, const Fact *facts, Drive **ret) {
        const DriveLookup lookup = { fact, (void *) facts };
        _cleanup_(drive_freep) Drive *d = NULL;
        int r;

        r = drive_new("sda", "/dev/sda", syspath, &lookup, &d);
        if (r >= 0)
                r = drive_add_link(d, "/dev/disk/by-id/ata-one", LINK_OWN);
        if (r >= 0)
                r = drive_add_link(d, "/dev/disk/by-id/ata-one", LINK_OWN);
        if (r >= 0)
                r = drive_add_link(d, "/dev/sda1", LINK_PARTITION);
        if (r >= 0)
                r = drive_add_link(d, "/dev/md0", LINK_STACKED);
        if (r >= 0)
                r = drive_add_property(d, "ID_BUS", "ata");
        if (r >= 0)
                r = drive_add_property(d, "ID_PATH", "pci-0000:00:1f.2");
        if (r >= 0)
                *ret = TAKE_PTR(d);
        return r;
}

static bool drive_once(Injected what, size_t nth) {
        static const DriveIdentity inside = { .model = "WD10", .serial = "W1", .firmware = "1", .wwn = "0x5001" };
        _cleanup_(drive_freep) Drive *one = NULL, *behind = NULL, *unknown = NULL;
        bool failed;
        int r;

        inject_arm(what, nth);
        r = drive_make("/sys/devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda", sata, &one);
        if (r >= 0)
                r = drive_make("/sys/devices/pci0000:00/usb2/2-1/host6/target6:0:0/6:0:0:0/block/sda", bridge, &behind);
        if (r >= 0)
                r = drive_reveal(behind, &inside);
        if (r >= 0)
                r = drive_make("/sys/devices/pci0000:00/usb2/2-1/host6/target6:0:0/6:0:0:0/block/sda", bare, &unknown);
        if (r >= 0)
                r = drive_reveal(unknown, &inside);
        failed = memory_end(r);
        if (!failed) {
                ck_assert_str_eq(drive_property(one, "ID_BUS"), "ata");
                ck_assert_str_eq(behind->model, "WD10");
                ck_assert_str_eq(behind->dock_serial, "B1");
                ck_assert_str_eq(unknown->serial, "W1");
        } else if (behind)
                /* After a failure, the drive has either the identity of the bridge or the identity of the drive behind
                 * it, never a mixture of both. */
                ck_assert(!behind->dock_model == (!behind->model || streq(behind->model, "Bridge")));
        return failed;
}

START_TEST(test_drive) {
        (void) inject_each(drive_once, INJECT_MEMORY);
}
END_TEST

static Config *config;
static Drive *drive;

static void drive_and_config_make(void) {
        text = texts[0];
        ck_assert_int_eq(config_new(&config), 0);
        ck_assert_int_eq(config_parse(config, &fake_table, "f", text, strlen(text)), 0);
        ck_assert_int_eq(drive_make("/sys/devices/pci0000:00/ata1/host0/block/sda", sata, &drive), 0);
}

static void drive_and_config_free(void) {
        config_freep(&config);
        drive_freep(&drive);
}

static bool plan_once(Injected what, size_t nth) {
        _cleanup_(wishes_done) Wishes wishes = {};
        _cleanup_(plan_done) Plan plan = {};
        bool failed;
        int r;

        inject_arm(what, nth);
        r = config_resolve(config, drive, true, &wishes);
        if (r >= 0)
                r = plan_new(&wishes, &fake_table, 1U << BACKEND_ATA | 1U << BACKEND_BLOCK, &plan);
        failed = memory_end(r);
        if (!failed)
                ck_assert_uint_eq(plan.n_steps, wishes.n_items);
        return failed;
}

START_TEST(test_plan) {
        drive_and_config_make();
        (void) inject_each(plan_once, INJECT_MEMORY);
        drive_and_config_free();
}
END_TEST

/* Performs all changes that the service makes to a record while a drive is attached. */
static int record_live(DriveRecord *record, const Wishes *wishes, Plan *plan) {
        int r;

        r = drive_record_set_identity(record, drive, "boot");
        for (size_t i = 0; r >= 0 && i < plan->n_steps; i++) {
                Step *s = plan->steps + i;

                s->verdict = s->setting ? VERDICT_APPLIED : VERDICT_UNSUPPORTED;
                s->written = s->setting;
                if (s->setting)
                        s->before = s->after = (Reading){ .supported = true, .known = true, .value = s->wanted };
                (void) strcpy(s->reason, "because");
                r = drive_record_step(record, s, 1);
                if (r < 0 || !s->setting || s->wanted.type != VALUE_INT)
                        continue;
                s->before.value.number++;
                r = drive_record_drift(record, s, 2);
        }
        if (r >= 0)
                drive_record_drop_unwanted(record, wishes);
        return r < 0 ? r : drive_record_wait(record, (Wait){ WAIT_CHECK, "systemd-fsck-root.service" });
}

static bool record_once(Injected what, size_t nth) {
        _cleanup_(drive_record_freep) DriveRecord *record = calloc(1, sizeof *record), *again = NULL;
        _cleanup_(wishes_done) Wishes wishes = {};
        _cleanup_(plan_done) Plan plan = {};
        _cleanup_free_ Memory *memories = NULL;
        _cleanup_free_ char *written = NULL;
        bool failed;
        int r;

        ck_assert_ptr_nonnull(record);
        ck_assert_int_eq(config_resolve(config, drive, true, &wishes), 0);
        ck_assert_int_eq(plan_new(&wishes, &fake_table, 1U << BACKEND_ATA, &plan), 0);

        inject_arm(what, nth);
        r = record_live(record, &wishes, &plan);
        if (r >= 0)
                r = drive_record_serialize(record, &written);
        if (r >= 0)
                r = drive_record_parse(written, strlen(written), &again);
        if (r >= 0)
                r = drive_record_memories(again, &wishes, &memories);
        failed = memory_end(r);
        if (!failed) {
                _cleanup_free_ char *copy = NULL;

                ck_assert_int_eq(drive_record_serialize(again, &copy), 0);
                ck_assert_str_eq(copy, written);
        }
        return failed;
}

START_TEST(test_record) {
        drive_and_config_make();
        (void) inject_each(record_once, INJECT_MEMORY);
        drive_and_config_free();
}
END_TEST

/* If the reset of the statistics fails, all statistics keep their values. */
static bool use_once(Injected what, size_t nth) {
        DriveUse u = { .setting = strdup("20 min"), .since = 1, .spin_ups = 7 };
        bool failed;

        inject_arm(what, nth);
        failed = memory_end(drive_use_begin(&u, "30 min", "drive 30", 2));
        ck_assert_str_eq(u.setting, failed ? "20 min" : "30 min");
        ck_assert(u.since == (failed ? 1 : 2) && u.spin_ups == (failed ? 7 : 0));
        drive_use_done(&u);
        return failed;
}

START_TEST(test_use) {
        ck_assert_uint_gt(inject_each(use_once, INJECT_MEMORY), 0);
}
END_TEST

/* If a change of temporary values fails, no temporary value is changed. */
static bool temporary_once(Injected what, size_t nth) {
        TemporaryValue v = { .setting = setting_find(&fake_table, "apm"),
                             .before_text = (char *) "254",
                             .until_boot = true };
        TemporaryValues *t = calloc(1, sizeof *t), *copy = NULL;
        char *name = NULL;
        bool failed;
        int r;

        ck_assert_int_eq(value_parse(&v.setting->range, "128", &v.value), 0);
        ck_assert_int_eq(value_parse(&v.setting->range, "254", &v.before), 0);
        inject_arm(what, nth);
        r = temporary_set(t, &v);
        if (r >= 0)
                r = temporary_set(t, &v);
        if (r >= 0)
                r = temporary_copy(t, &fake_table, &copy);
        if (r >= 0)
                r = temporary_name(drive, &name);
        failed = memory_end(r);
        ck_assert_uint_le(t->n_items, 1);
        ck_assert(failed || copy->n_items == 1);
        (void) temporary_free(t);
        (void) temporary_free(copy);
        free(name);
        return failed;
}

START_TEST(test_temporary) {
        drive_and_config_make();
        ck_assert_uint_gt(inject_each(temporary_once, INJECT_MEMORY), 0);
        drive_and_config_free();
}
END_TEST

/* If memory runs out in the crash guard, no entry of the guard's record loses its value. The value that was being sent
 * when the drive was lost is quarantined, but the reason of the quarantine may be missing. */
static bool guard_once(Injected what, size_t nth) {
        _cleanup_(guard_record_freep) GuardRecord *g = calloc(1, sizeof *g), *again = NULL;
        _cleanup_free_ char *written = NULL;
        GuardEntry underway = {};
        unsigned lost = 0;
        int r, judged = 0;
        bool begun = false, failed;

        ck_assert_ptr_nonnull(g);
        inject_arm(what, nth);
        r = guard_key(drive, &g->key);
        if (r >= 0)
                r = guard_record_intend(g, "apm", "127", NULL, 1);
        if (r >= 0)
                r = guard_record_intend(g, "lookahead", "on", NULL, 1);
        if (r >= 0)
                r = string_replace(&g->boot_id, "one");
        if (r >= 0) {
                g->entries[0].begun = true;
                guard_record_underway(g, &underway, "lookahead", "on", NULL);
                lost = guard_record_lost(g, &underway, NULL, 3);
                begun = true;
        }
        for (unsigned i = 0; i < 2 && r >= 0; i++) {
                guard_record_underway(g, &underway, "write_cache", "off", NULL);
                (void) guard_record_lost(g, &underway, NULL, 3);
        }
        if (r >= 0)
                r = guard_record_intend(g, "epc", "on", NULL, 4);
        if (r >= 0)
                r = judged = guard_record_judge(g, "two", true, 5);
        if (r >= 0)
                r = guard_record_serialize(g, &written);
        if (r >= 0)
                r = guard_record_parse(written, strlen(written), &fake_table, &again);
        failed = inject_disarm();
        ck_assert(r == 0 || (failed && r == -ENOMEM));
        ck_assert(!begun || g->entries[0].quarantined);
        guard_entry_done(&underway);

        for (size_t i = 0; i < g->n_entries; i++)
                ck_assert(g->entries[i].setting && g->entries[i].value &&
                          (g->entries[i].quarantined || !g->entries[i].why));
        if (!failed) {
                ck_assert_uint_eq(lost, 2);
                ck_assert_int_eq(judged, 1);
                ck_assert_uint_eq(again->n_entries, 4);
                ck_assert_uint_eq(guard_record_release(again, NULL, NULL), 4);
        }
        return failed;
}

START_TEST(test_guard) {
        drive_and_config_make();
        (void) inject_each(guard_once, INJECT_MEMORY);
        drive_and_config_free();
}
END_TEST

static bool match_once(Injected what, size_t nth) {
        bool failed;
        Match m = {};
        int r;

        inject_arm(what, nth);
        r = match_add(&m, MATCH_PROPERTY, "ID_BUS", "a?a");
        if (r >= 0)
                r = match_add(&m, MATCH_NODE, NULL, "/dev/disk/by-id/ata-one");
        if (r >= 0)
                r = match_add(&m, MATCH_MODEL, NULL, "WDC*");
        if (r >= 0) {
                failed = inject_disarm();
                ck_assert(!failed && match_drive(&m, drive, NULL));
        } else
                failed = memory_end(r);
        match_done(&m);
        return failed;
}

START_TEST(test_match) {
        drive_and_config_make();
        ck_assert_int_eq(drive_add_property(drive, "ID_BUS", "ata"), 0);
        ck_assert_int_eq(drive_add_link(drive, "/dev/disk/by-id/ata-on\\x65", LINK_OWN), 0);
        (void) inject_each(match_once, INJECT_MEMORY);
        drive_and_config_free();
}
END_TEST

static bool check_once(Injected what, size_t nth) {
        _cleanup_(config_freep) Config *c = NULL;
        _cleanup_(wishes_done) Wishes selected = {};
        const Wishes none = {};
        DriveRecord record = {};
        bool failed;
        int r;

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_parse(c, &fake_table, "f", text, strlen(text)), 0);
        inject_arm(what, nth);
        r = config_check(c, &fake_table);
        if (r >= 0)
                r = scope_select(WORK_ALL, &none, &fake_table, 1U << BACKEND_ATA, &record, &selected);
        failed = memory_end(r);
        if (!failed)
                expect(meaning(c));
        return failed;
}

START_TEST(test_check) {
        text = "drives = ({ match = \"/dev/sda\"; apm = 2; spindown_time = \"20min\"; permanent = true; },\n"
               "{ match = \"/dev/sda\"; poweron_standby = true; on_battery = { spindown_time = \"5min\"; }; },\n"
               "{ match = {}; spindown_time = \"5min\"; apm = 3; },\n"
               "{ match = {}; spindown_time = \"5min\"; apm = 254; on_battery = { apm = 3; }; });";
        (void) inject_each(check_once, INJECT_MEMORY);
        free(expected);
}
END_TEST

static bool record_file_once(Injected what, size_t nth) {
        _cleanup_free_ char *read = NULL;
        size_t size = 0;
        bool failed;
        int r;

        inject_arm(what, nth);
        r = record_file_read(AT_FDCWD, "drivekeep/drivekeep.conf", RECORD_MAX_BYTES, &read, &size);
        failed = inject_disarm();
        if (r == 0)
                ck_assert(size == strlen(texts[0]) && memcmp(read, texts[0], size) == 0);
        else
                ck_assert(failed && what != INJECT_SHORT && !read);
        return failed;
}

START_TEST(test_record_file) {
        ck_assert_uint_gt(inject_each(record_file_once, (Injected) _i), 0);
}
END_TEST

/* Formats the list of the loaded configuration files. Compares the list with a configuration in which the last of the
 * three files is missing. */
static bool in_force_once(Injected what, size_t nth) {
        static const char *const then[] = { "a", "b", "c" };
        _cleanup_free_ char *in_force = NULL, *file = NULL;
        _cleanup_(config_freep) Config *c = NULL, *less = NULL;
        bool failed;
        int r;

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_new(&less), 0);
        for (size_t i = 0; i < ELEMENTSOF(then); i++) {
                ck_assert_int_eq(config_parse(c, &fake_table, then[i], "", 0), 0);
                if (i < 2)
                        ck_assert_int_eq(config_parse(less, &fake_table, then[i], "", 0), 0);
        }
        inject_arm(what, nth);
        r = config_format_in_force(c, &in_force);
        if (r >= 0)
                r = config_compare_in_force(less, in_force, &file);
        failed = inject_disarm();
        ck_assert_int_eq(r, failed ? -ENOMEM : (int) CONFIG_GONE);
        return failed;
}

static bool in_force_new_once(Injected what, size_t nth) {
        _cleanup_(config_freep) Config *c = NULL;
        _cleanup_free_ char *file = NULL;
        bool failed;
        int r;

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_parse(c, &fake_table, "a", "", 0), 0);
        inject_arm(what, nth);
        r = config_compare_in_force(c, "", &file);
        failed = inject_disarm();
        ck_assert_int_eq(r, failed ? -ENOMEM : (int) CONFIG_NEW);
        return failed;
}

START_TEST(test_in_force) {
        (void) inject_each(in_force_once, INJECT_MEMORY);
        (void) inject_each(in_force_new_once, INJECT_MEMORY);
}
END_TEST

static bool complaint_once(Injected what, size_t nth) {
        static const Complaint c = { .file = (char *) "f", .line = 1, .sentence = (char *) "no" };
        _cleanup_free_ char *line = NULL;
        bool failed;

        inject_arm(what, nth);
        line = complaint_format(&c);
        failed = inject_disarm();
        ck_assert(failed == !line);
        return failed;
}

START_TEST(test_complaint) {
        (void) inject_each(complaint_once, INJECT_MEMORY);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("failures"), *files = tcase_create("files");
        Suite *s = suite_create("failures-core");

        tcase_add_loop_test(t, test_parse, 0, ELEMENTSOF(texts));
        tcase_add_test(t, test_drive);
        tcase_add_test(t, test_plan);
        tcase_add_test(t, test_record);
        tcase_add_test(t, test_use);
        tcase_add_test(t, test_temporary);
        tcase_add_test(t, test_guard);
        tcase_add_test(t, test_match);
        tcase_add_test(t, test_check);
        tcase_add_test(t, test_in_force);
        tcase_add_test(t, test_complaint);
        tcase_add_checked_fixture(files, files_make, scratch_remove);
        tcase_add_loop_test(files, test_load, INJECT_MEMORY, INJECT_INTERRUPT + 1);
        tcase_add_loop_test(files, test_record_file, INJECT_MEMORY, INJECT_INTERRUPT + 1);
        suite_add_tcase(s, t);
        suite_add_tcase(s, files);
        return suite_run(s);
}
