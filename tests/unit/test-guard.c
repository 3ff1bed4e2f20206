/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "guard-rules.h"
#include "kernel-view.h"
#include "machine.h"
#include "suite.h"
#include "visit.h"

#define HEAD "VERSION=2\nKEY=wwn-1\n"

static const char good[] = "VERSION=2\n"
                           "KEY=wwn-0x5000c5002f8ebf71-0123456789abcdef\n"
                           "MODEL=ST2000\\x0aDL003\n"
                           "BOOT_ID=2f1e9f3ab0d64b3f8f1a2e3d4c5b6a79\n"
                           "DISKSEQ=18446744073709551615\n"
                           "VISITING=1\n"
                           "DEATHS=1\n"
                           "ENTRIES=2\n"
                           "ENTRY_0_SETTING=apm\n"
                           "ENTRY_0_VALUE=127\n"
                           "ENTRY_0_INTENDED=1\n"
                           "ENTRY_0_WHEN=1763692751123456\n"
                           "ENTRY_1_SETTING=spindown_time\n"
                           "ENTRY_1_VALUE=20 min\n"
                           "ENTRY_1_QUARANTINED=1\n"
                           "ENTRY_1_WHY=the machine went down\n"
                           "ENTRY_1_WHEN=1\n";

static const Setting rows_none[] = { {} };
static const SettingTable no_settings = { .tables = { rows_none } };

static GuardRecord *record_new(const char *boot_id) {
        GuardRecord *r = calloc(1, sizeof *r);

        r->key = strdup("key");
        r->boot_id = strdup(boot_id);
        ck_assert_int_eq(guard_record_intend(r, "apm", "127", NULL, 5), 0);
        ck_assert_int_eq(guard_record_intend(r, "lookahead", "on", NULL, 5), 0);
        ck_assert_int_eq(guard_record_intend(r, "spindown_time", "20 min", NULL, 5), 0);
        return r;
}

START_TEST(test_round_trip) {
        _cleanup_(guard_record_freep) GuardRecord *r = NULL;
        _cleanup_free_ char *text = NULL;

        ck_assert_int_eq(guard_record_parse(good, strlen(good), &no_settings, &r), 0);
        ck_assert_uint_eq(r->n_entries, 2);
        ck_assert_int_eq(guard_record_serialize(r, &text), 0);
        ck_assert_str_eq(text, good);
}
END_TEST

static const char *const bad[] = {
        "",
        "VERSION=3\nKEY=x\n",
        "VERSION=0\nKEY=x\n",
        "VERSION=2\nENTRIES=0\n", /* no key */
        "VERSION=1\nENTRIES=0\n",
        HEAD "DEATHS=3\n",
        HEAD "ENTRIES=257\n",
        HEAD "ENTRIES=-1\n",
        HEAD "ENTRIES=1\nENTRIES=1\n",
        HEAD "ENTRIES=1\n",
        HEAD "ENTRIES=1\nENTRY_0_SETTING=apm\n",
        HEAD "ENTRIES=1\nENTRY_1_SETTING=apm\n",
        HEAD "ENTRY_0_SETTING=apm\n",
        HEAD "ENTRIES=1\nENTRY_0_SETTING=apm\nENTRY_0_VALUE=1\nENTRY_0_INTENDED=2\n",
        HEAD "ENTRIES=1\nENTRY_0_SETTING=apm\nENTRY_0_VALUE=\\x\n",
        HEAD "ENTRIES=1\nENTRY_0_SETTING=apm\nENTRY_0_VALUE=1", /* truncated: no newline */
        HEAD "what is this\n",
};

START_TEST(test_bad) {
        GuardRecord *r;

        ck_assert_int_eq(guard_record_parse(bad[_i], strlen(bad[_i]), &no_settings, &r), -EBADMSG);
}
END_TEST

/* A file that is truncated at any byte, or has any byte replaced, causes an error or a valid record, but no crash. */
START_TEST(test_hostile) {
        for (size_t n = 0; n < strlen(good); n++)
                for (unsigned c = 0; c < 256; c += 17) {
                        _cleanup_(guard_record_freep) GuardRecord *r = NULL;
                        char text[sizeof good];

                        memcpy(text, good, sizeof good);
                        text[n] ^= c;
                        (void) guard_record_parse(text, c == 0 ? n : sizeof good - 1, &no_settings, &r);
                }
}
END_TEST

START_TEST(test_keys) {
        /* clang-format off */
        Drive drives[] = {
                { .wwn = (char *) "0x5000", .serial = (char *) "S", .model = (char *) "M", .syspath = (char *) "/sys/a" },
                { .serial = (char *) "S", .model = (char *) "M", .syspath = (char *) "/sys/a" },
                { .serial = (char *) "../..", .model = (char *) "M M", .syspath = (char *) "/sys/a" },
                { .serial = (char *) "__/__", .model = (char *) "M_M", .syspath = (char *) "/sys/a" },
                { .serial = (char *) "S", .syspath = (char *) "/sys/a" },
                { .model = (char *) "M", .syspath = (char *) "/sys/b" },
        };
        /* clang-format on */
        char *keys[ELEMENTSOF(drives)], serial[600];

        for (size_t i = 0; i < ELEMENTSOF(drives); i++) {
                ck_assert_int_eq(guard_key(drives + i, keys + i), 0);
                ck_assert_ptr_null(strchr(keys[i], '/'));
                ck_assert_int_ne(keys[i][0], '.');
                for (size_t j = 0; j < i; j++)
                        ck_assert_str_ne(keys[i], keys[j]);
        }

        memset(serial, 'x', sizeof serial - 1);
        serial[sizeof serial - 1] = '\0';
        drives[0] = (Drive){ .wwn = serial };
        free(keys[0]);
        ck_assert_int_eq(guard_key(drives, keys), 0);
        ck_assert_uint_lt(strlen(keys[0]), 240);

        for (size_t i = 0; i < ELEMENTSOF(drives); i++)
                free(keys[i]);
}
END_TEST

/* Two drives have the same place if they are at the same port, even if their host number and kernel name differ. */
static const struct {
        const char *path_a, *path_b, *syspath_a, *syspath_b; /* path_a, path_b: udev's ID_PATH; NULL: not set */
        bool same;
} places[] = {
#define PCI "pci-0000:00:14.0-usb-0:"
#define SYS "/sys/devices/pci0000:00/0000:00:14.0/usb2/"
        { PCI "1:1.0-scsi-0:0:0:0", PCI "1:1.0-scsi-0:0:0:0", SYS "2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdb",
          SYS "2-1/2-1:1.0/host11/target11:0:0/11:0:0:0/block/sdx", true },
        { PCI "1:1.0-scsi-0:0:0:0", PCI "2:1.0-scsi-0:0:0:0", SYS "2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdb",
          SYS "2-2/2-2:1.0/host6/target6:0:0/6:0:0:0/block/sdb", false },
        { PCI "1:1.0-scsi-0:0:0:0", PCI "1:1.0-scsi-0:0:0:1", SYS "2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdb",
          SYS "2-1/2-1:1.0/host6/target6:0:0/6:0:0:1/block/sdc", false },
        { NULL, NULL, "/sys/devices/virtual/block/md0", "/sys/devices/virtual/block/md0", true },
        { NULL, NULL, "/sys/devices/virtual/block/md0", "/sys/devices/virtual/block/md1", false },
};

static void set_path(Drive *d, const char *path) {
        if (path)
                ck_assert_int_eq(drive_add_property(d, "ID_PATH", path), 0);
}

START_TEST(test_places) {
        Drive a = { .syspath = (char *) places[_i].syspath_a }, b = { .syspath = (char *) places[_i].syspath_b };
        _cleanup_free_ char *x = NULL, *y = NULL;

        set_path(&a, places[_i].path_a);
        set_path(&b, places[_i].path_b);
        ck_assert_int_eq(guard_place(&a, &x), 0);
        ck_assert_int_eq(guard_place(&b, &y), 0);
        ck_assert_msg(streq(x, y) == places[_i].same, "%s %s", x, y);
        free(a.properties);
        free(b.properties);
}
END_TEST

/* guard_record_judge() for a record of an earlier run. If boot_id is "this", the machine has not rebooted since that
 * run. `continues`: the drive stayed attached. `intends`: the record contains three dangerous values that the service
 * intended to write. `visiting`: a visit had not ended. `deaths`: number of earlier crashes. `changes`: expected to be
 * true if the record must be written again. */
static const struct {
        const char *boot_id;
        bool continues, intends, visiting;
        unsigned deaths;
        bool changes;
        const char *why;       /* why the intended values are quarantined; NULL: these values are not quarantined */
        unsigned deaths_after; /* GUARD_MAX_DEATHS: the drive is no longer visited */
} starts[] = {
        /* After a restart of the daemon in the same boot, the intended values are quarantined only if the drive was
         * lost. */
        { "this", true, true, true, 0, true, NULL, 0 },
        { "this", true, true, false, 0, false, NULL, 0 },
        { "this", false, true, true, 0, true, "the drive was lost", 0 },
        { "this", false, false, true, 0, true, NULL, 0 },
        { "this", true, false, true, 1, true, NULL, 1 },
        { "this", true, false, false, 1, false, NULL, 1 },
        /* In a new boot of the machine, the intended values are quarantined, even if the visit had ended. An unfinished
         * visit counts as a crash. */
        { "other", true, true, true, 0, true, "the machine went down", 1 },
        { "other", false, true, true, 0, true, "the machine went down", 1 },
        { "other", true, true, false, 0, true, "the machine went down", 0 },
        { "other", true, false, true, 0, true, NULL, 1 },
        /* Only crashes in consecutive boots count: a boot without an unfinished visit resets the number of crashes. */
        { "other", true, false, false, 1, true, NULL, 0 },
        { "other", true, false, true, 1, true, NULL, 2 },
        { "other", true, true, true, 1, true, "the machine went down", 2 },
        /* After two crashes, the drive is not visited until the user releases it. */
        { "other", true, false, false, 2, false, NULL, 2 },
        { "this", true, false, false, 2, false, NULL, 2 },
};

START_TEST(test_judge) {
        _cleanup_(guard_record_freep) GuardRecord *r = record_new(starts[_i].boot_id);

        if (!starts[_i].intends)
                (void) guard_record_clear(r, NULL);
        r->visiting = starts[_i].visiting;
        r->deaths = starts[_i].deaths;
        ck_assert_int_eq(guard_record_judge(r, "this", starts[_i].continues, 7), starts[_i].changes);
        for (size_t i = 0; i < r->n_entries; i++) {
                ck_assert(r->entries[i].quarantined == !!starts[_i].why);
                ck_assert(r->entries[i].intended == !starts[_i].why);
                ck_assert(r->entries[i].begun == !starts[_i].why);
                if (starts[_i].why)
                        ck_assert_ptr_nonnull(strstr(r->entries[i].why, starts[_i].why));
        }
        ck_assert_uint_eq(r->deaths, starts[_i].deaths_after);
        ck_assert(guard_record_excludes(r) == (starts[_i].deaths_after == GUARD_MAX_DEATHS));
        ck_assert(!r->visiting);

        /* A second call changes nothing. */
        ck_assert_int_eq(guard_record_judge(r, "this", true, 8), 0);
        ck_assert_uint_eq(r->deaths, starts[_i].deaths_after);

        ck_assert_uint_eq(guard_record_release(r, NULL, NULL),
                          (starts[_i].why ? 3 : 0) + (starts[_i].deaths_after == GUARD_MAX_DEATHS));
        ck_assert(!guard_record_excludes(r));
}
END_TEST

/* Within a boot, only the successful end of a visit that wrote a setting resets the number of crashes. */
START_TEST(test_visited) {
        _cleanup_(guard_record_freep) GuardRecord *r = calloc(1, sizeof *r);

        ck_assert(guard_record_is_empty(r));
        r->deaths = 1;
        ck_assert(!guard_record_is_empty(r));
        ck_assert(!guard_record_visited(r));
        ck_assert_uint_eq(r->deaths, 1);
        r->visiting = true;
        ck_assert(guard_record_visited(r));
        ck_assert(guard_record_is_empty(r));
}
END_TEST

/* Tells the record that the next command sends `value` for `setting`. If `setting` is NULL, tells the record that the
 * last command ended and no value is being sent. */
static void send_next(GuardRecord *r, GuardEntry *underway, const char *setting, const char *value) {
        guard_record_underway(r, underway, setting, value, NULL);
}

static unsigned lose(GuardRecord *r, GuardEntry *underway, uint64_t when) {
        unsigned n = guard_record_lost(r, underway, NULL, when);

        ck_assert_ptr_null(underway->setting);
        return n;
}

/* The drive is lost while lookahead is being written. lookahead is quarantined, and so is apm, which was written just
 * before. spindown_time was not sent and is not quarantined. All three values are dangerous. */
START_TEST(test_lost) {
        _cleanup_(guard_record_freep) GuardRecord *r = record_new("this");
        GuardEntry underway = {};

        send_next(r, &underway, "apm", "127");
        send_next(r, &underway, "lookahead", "on");
        ck_assert_uint_eq(lose(r, &underway, 6), 2);
        ck_assert_str_eq(guard_record_find(r, "lookahead", "on", NULL)->why,
                         "the drive was lost while this value was being written");
        ck_assert_str_eq(guard_record_find(r, "apm", "127", NULL)->why,
                         "the drive was lost within ten seconds after this value was written");
        ck_assert_ptr_null(guard_record_find(r, "spindown_time", "20 min", NULL));
        ck_assert(!guard_record_intends(r) && !guard_record_suspects(r));
        ck_assert_uint_eq(lose(r, &underway, 6), 0);

        /* A quarantine concerns one value of a setting. Another value of apm is not quarantined. */
        ck_assert_ptr_null(guard_record_find(r, "apm", "128", NULL));

        /* A quarantined value stays in quarantine if the service intends to write it again, but does not send it. */
        ck_assert_int_eq(guard_record_intend(r, "apm", "127", NULL, 7), 0);
        ck_assert_uint_eq(lose(r, &underway, 8), 0);
        ck_assert(guard_record_find(r, "apm", "127", NULL)->quarantined);

        ck_assert_uint_eq(guard_record_release(r, "spindown_time", NULL), 0);
        ck_assert_uint_eq(guard_record_release(r, "apm", NULL), 1);
        ck_assert_ptr_null(guard_record_find(r, "apm", "127", NULL));
        ck_assert_uint_eq(guard_record_release(r, NULL, NULL), 1);
        ck_assert(guard_record_is_empty(r));
        ck_assert_ptr_null(guard_record_free(NULL));
}
END_TEST

/* Harmless values are written, and the drive is lost during or after a write. Events: "+apm": apm is sent; "-": the
 * command ended; "!": the drive is lost; "ok": the drive has worked for ten seconds. */
static const struct {
        const char *name, *events[12];
        bool suspects, quarantined; /* expected state of apm = 127 after the events */
} losses[] = {
        { "unplugged after the command", { "+apm", "-", "!", "+apm", "-", "!" }, false, false },
        { "unplugged during another command", { "+apm", "+timer", "!" }, true, false },
        { "unplugged during the command, once", { "+apm", "!" }, true, false },
        { "one loss reported several times", { "+apm", "!", "!", "!" }, true, false },
        { "unplugged during the command, twice in a row", { "+apm", "!", "+apm", "!" }, false, true },
        { "twice in a row, after another command", { "+apm", "!", "+timer", "+apm", "!" }, false, true },
        { "a successful write in between", { "+apm", "!", "+apm", "+timer", "-", "+apm", "!" }, true, false },
        { "a loss during another command in between", { "+apm", "!", "+timer", "!", "+apm", "!" }, true, false },
        { "ten seconds without a loss in between", { "+apm", "!", "ok", "+apm", "!" }, true, false },
};

START_TEST(test_harmless) {
        _cleanup_(guard_record_freep) GuardRecord *r = calloc(1, sizeof *r);
        _cleanup_free_ char *text = NULL;
        GuardEntry underway = {};
        const GuardEntry *e;

        r->key = strdup("key");
        for (const char *const *event = losses[_i].events; *event; event++)
                switch (**event) {
                case '+':
                        send_next(r, &underway, *event + 1, "127");
                        break;
                case '-':
                        send_next(r, &underway, NULL, NULL);
                        break;
                case 'o':
                        ck_assert(!guard_record_clear(r, NULL));
                        break;
                default:
                        (void) lose(r, &underway, 9);
                }

        e = guard_record_find(r, "apm", "127", NULL);
        ck_assert_msg(guard_record_suspects(r) == losses[_i].suspects, "%s", losses[_i].name);
        ck_assert_msg(!!e == losses[_i].quarantined, "%s", losses[_i].name);
        ck_assert(!e || (e->quarantined &&
                         streq(e->why, "the drive was lost while this value was being written, twice in a row")));

        /* The file contains a quarantined value. A value that is suspected but not yet quarantined is not in the
         * file. */
        ck_assert(guard_record_is_empty(r) == !e);
        ck_assert_int_eq(guard_record_serialize(r, &text), 0);
        ck_assert(!!strstr(text, "apm") == !!e);
        guard_entry_done(&underway);
}
END_TEST

START_TEST(test_clear) {
        _cleanup_(guard_record_freep) GuardRecord *r = record_new("this");

        guard_entry_quarantine(guard_record_find(r, "apm", "127", NULL), 6, "x");
        ck_assert(guard_record_clear(r, NULL));
        ck_assert_uint_eq(r->n_entries, 1);
        ck_assert(!guard_record_clear(r, NULL));
}
END_TEST

/* In a file of version 1, a single power cut could cause a quarantine of a harmless value. Such quarantines are
 * dropped, and quarantines of dangerous values are kept. */
START_TEST(test_version_1) {
        static const Setting old_rows[] = {
                { .name = "apm", .backend = BACKEND_ATA },
                { .name = "nap", .backend = BACKEND_ATA, .danger = "it never wakes" },
                { .name = "nap_on_battery", .alias_of = "nap", .backend = BACKEND_ATA },
                {},
        };
        static const SettingTable table = { .tables = { old_rows } };
        static const char text[] = "VERSION=1\nKEY=wwn-1\nBOOT_ID=b\nENTRIES=5\n"
                                   "ENTRY_0_SETTING=apm\nENTRY_0_VALUE=127\nENTRY_0_QUARANTINED=1\nENTRY_0_WHY=x\n"
                                   "ENTRY_1_SETTING=nap\nENTRY_1_VALUE=on\nENTRY_1_QUARANTINED=1\nENTRY_1_WHY=y\n"
                                   "ENTRY_2_SETTING=apm\nENTRY_2_VALUE=128\nENTRY_2_INTENDED=1\nENTRY_2_LOSSES=1\n"
                                   "ENTRY_3_SETTING=nap_on_battery\nENTRY_3_VALUE=on\nENTRY_3_INTENDED=1\n"
                                   "ENTRY_4_SETTING=gone\nENTRY_4_VALUE=on\nENTRY_4_INTENDED=1\n";
        _cleanup_(guard_record_freep) GuardRecord *r = NULL, *new = NULL;
        _cleanup_free_ char *written = NULL;

        ck_assert_int_eq(guard_record_parse(text, strlen(text), &table, &r), 1);
        ck_assert_uint_eq(r->n_entries, 2);
        ck_assert_str_eq(r->entries[0].setting, "nap");
        ck_assert_int_eq(guard_record_judge(r, "another", true, 5), 1);
        ck_assert(guard_record_find(r, "nap_on_battery", "on", NULL)->quarantined);

        /* A file of the current version keeps all quarantines. */
        ck_assert_int_eq(guard_record_serialize(r, &written), 0);
        ck_assert_int_eq(guard_record_parse(written, strlen(written), &no_settings, &new), 0);
        ck_assert_uint_eq(new->n_entries, 2);
}
END_TEST

START_TEST(test_too_large) {
        _cleanup_(guard_record_freep) GuardRecord *r = record_new("this");
        _cleanup_free_ char *why = NULL;
        char *text = NULL;

        why = malloc(GUARD_MAX_BYTES + 1);
        memset(why, 'x', GUARD_MAX_BYTES);
        why[GUARD_MAX_BYTES] = '\0';
        guard_entry_quarantine(r->entries, 5, why);
        ck_assert_int_eq(guard_record_serialize(r, &text), -E2BIG);
        ck_assert_ptr_null(text);
}
END_TEST

START_TEST(test_full) {
        _cleanup_(guard_record_freep) GuardRecord *r = record_new("this");
        char value[16];

        for (unsigned i = 3; i < GUARD_MAX_ENTRIES; i++) {
                (void) snprintf(value, sizeof value, "%u", i);
                ck_assert_int_eq(guard_record_intend(r, "s", value, NULL, 1), 0);
        }
        ck_assert_int_eq(guard_record_intend(r, "s", "one too many", NULL, 1), -E2BIG);
        ck_assert_int_eq(guard_record_intend(r, "apm", "127", NULL, 1), 0);
}
END_TEST

START_TEST(test_health) {
        ck_assert_int_eq(health_parse("running"), 1);
        ck_assert_int_eq(health_parse("live"), 1);
        ck_assert_int_eq(health_parse("blocked"), 0);
        ck_assert_int_eq(health_parse("resetting"), 0);
        ck_assert_int_eq(health_parse("offline"), -ENODEV);
        ck_assert_int_eq(health_parse("dead"), -ENODEV);
        ck_assert_int_eq(health_read("/no/such/drive"), -ENODEV);
        ck_assert_int_eq(health_read("/"), 1);
}
END_TEST

static const struct {
        const char *line, *word;
} lines[] = {
        { "", NULL },
        { "root=/dev/sda1 ro quiet", NULL },
        { "quiet drivekeep=0 ro\n", "drivekeep=0" },
        { "drivekeep=off", "drivekeep=off" },
        { "ro\tnohdparm\n", "nohdparm" },
        { "nohdparm2 xnohdparm drivekeep=01 drivekeep=1 drivekeep", NULL },
};

START_TEST(test_kernel_line) {
        char path[] = "/tmp/test-guard-XXXXXX";
        _cleanup_close_ int fd = mkstemp(path);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, lines[_i].line, strlen(lines[_i].line)), strlen(lines[_i].line));
        ck_assert_pstr_eq(kernel_command_line_forbids(path), lines[_i].word);
        ck_assert_int_eq(unlink(path), 0);
        ck_assert_ptr_null(kernel_command_line_forbids(path));
}
END_TEST

/* ---- calls of a visit to the guard ---- */

static char calls[512];

static void log_call(const char *what, const char *name) {
        (void) snprintf(calls + strlen(calls), sizeof calls - strlen(calls), "%s%s%s ", what, *name ? ":" : "", name);
}

static int row_read(Device *d _unused_, const Setting *s, Reading *ret) {
        log_call("read", s->name);
        *ret = (Reading){ .supported = true, .known = true, .value = VALUE_BOOLEAN(streq(s->name, "on")) };
        return 0;
}

static int row_write(Device *d _unused_, const Setting *s, const Value *v _unused_) {
        log_call("write", s->name);
        return 0;
}

#define ROW(n, o)                                                                                           \
        .name = n, .backend = BACKEND_BLOCK, .order = o, .range = { .type = VALUE_BOOL }, .read = row_read, \
        .write = row_write

static const Setting rows[] = {
        { ROW("on", 1) },
        { ROW("plain", 2) },
        { ROW("kernel", 3), .flags = SETTING_KERNEL },
        { ROW("risky", 4), .danger = "it may hurt" },
        { ROW("other", 5) },
        { ROW("riskier", 6), .danger = "it will hurt", .flags = SETTING_KERNEL },
        {},
};

static int on_intend(void *userdata, const Step *s) {
        log_call("intend", s ? s->wish->name : "-");
        return *(int *) userdata;
}

static void on_writing(void *userdata _unused_, const Step *s) {
        log_call("writing", s ? s->wish->name : "-");
}

static Verdict verdicts[16];

static void on_ended(void *userdata _unused_, const Step *s) {
        verdicts[s->wish->line] = s->verdict;
}

static const struct {
        const char *name;
        const char *wishes[8];
        int guard;
        const char *calls;
        Verdict first; /* expected verdict of the first wanted setting */
} visits[] = {
        { "a visit without writes stores no intent", { "on" }, 0, "read:on ", VERDICT_UNCHANGED },
        { "a harmless kernel setting needs no intent",
          { "kernel" },
          0,
          "read:kernel writing:kernel write:kernel writing:- read:kernel ",
          VERDICT_IGNORED },
        { "one intent for all harmless settings, before the first write",
          { "plain", "on", "other", "kernel" },
          0,
          "read:on read:plain read:kernel read:other intend:- writing:plain write:plain writing:kernel "
          "write:kernel writing:other write:other writing:- read:plain read:kernel read:other ",
          VERDICT_IGNORED },
        { "one intent for each dangerous setting, also of the kernel",
          { "risky", "plain", "riskier" },
          0,
          "read:plain read:risky read:riskier intend:- writing:plain write:plain intend:risky writing:risky "
          "write:risky intend:riskier writing:riskier write:riskier writing:- read:plain read:risky read:riskier ",
          VERDICT_IGNORED },
        { "without a stored intent, dangerous settings are not written",
          { "risky", "plain" },
          -EROFS,
          "read:plain read:risky intend:- writing:plain write:plain intend:risky writing:- read:plain ",
          VERDICT_FORBIDDEN },
};

START_TEST(test_visit) {
        const SettingTable table = { .tables = { rows } };
        const Drive drive = { .name = (char *) "sdx",
                              .syspath = (char *) "/nonexistent",
                              .transport = TRANSPORT_VIRTIO };
        const DeviceIO io = {};
        int guard = visits[_i].guard;
        Wish wishes[8] = {};
        Wishes w = { .items = wishes };
        Visit v = { .drive = &drive,
                    .wishes = &w,
                    .work = WORK_APPLY,
                    .settings = &table,
                    .io = &io,
                    .ended = on_ended,
                    .intend = on_intend,
                    .writing = on_writing,
                    .userdata = &guard };
        Plan p;

        for (; visits[_i].wishes[w.n_items]; w.n_items++)
                wishes[w.n_items] = (Wish){ .name = visits[_i].wishes[w.n_items],
                                            .value = VALUE_BOOLEAN(true),
                                            .allow_dangerous = true,
                                            .file = "f",
                                            .line = w.n_items };

        calls[0] = '\0';
        ck_assert_int_eq(visit_run(&v, &p), 0);
        plan_done(&p);
        ck_assert_str_eq(calls, visits[_i].calls);
        ck_assert_int_eq(verdicts[0], visits[_i].first);
}
END_TEST

/* A quarantined value is not written, but the setting is read: its verdict is `unchanged` if the drive already has the value. */
START_TEST(test_quarantined) {
        const Memory memory = { .quarantined = "the machine went down" };
        Wish wish = { .name = "plain", .value = VALUE_BOOLEAN(true) };
        Step s = { .wish = &wish,
                   .setting = rows + 1,
                   .wanted = VALUE_BOOLEAN(true),
                   .verdict = _VERDICT_INVALID,
                   .before = { .supported = true, .known = true, .value = VALUE_BOOLEAN(false) } };

        step_decide(&s, &memory, 0);
        ck_assert_int_eq(s.verdict, VERDICT_QUARANTINED);
        ck_assert_ptr_nonnull(
                        strstr(s.reason, "the machine went down; to write the value again, run 'drivekeep release'"));
        ck_assert(!s.write);

        s.verdict = _VERDICT_INVALID;
        s.reason[0] = '\0';
        s.before.value = VALUE_BOOLEAN(true);
        step_decide(&s, &memory, 0);
        ck_assert_int_eq(s.verdict, VERDICT_UNCHANGED);
}
END_TEST

/* clang-format off */
#define SAME { .wwn = (char *) "5000c500a1b2c3d4", .serial = (char *) "S1", .model = (char *) "M1", .size = 1000, .transport = TRANSPORT_SAS }
static const struct {
        Drive a, b;
        bool same;
} twins[] = {
        { SAME, SAME, true },
        { { .wwn = (char *) "w", .size = 1, .transport = TRANSPORT_NVME }, { .wwn = (char *) "w", .size = 1, .transport = TRANSPORT_NVME }, true },
        { { .wwn = (char *) "w", .size = 1, .transport = TRANSPORT_SCSI }, { .wwn = (char *) "w", .size = 1, .transport = TRANSPORT_SCSI }, true },
        /* An ATA or USB drive has only one port, so two devices with equal identities are two drives. */
        { { .wwn = (char *) "w", .size = 1, .transport = TRANSPORT_SATA, .ata = true }, { .wwn = (char *) "w", .size = 1, .transport = TRANSPORT_SATA, .ata = true }, false },
        { { .wwn = (char *) "w", .size = 1, .transport = TRANSPORT_SAS, .ata = true }, { .wwn = (char *) "w", .size = 1, .transport = TRANSPORT_SAS, .ata = true }, false },
        { { .wwn = (char *) "w", .size = 1, .transport = TRANSPORT_SAS }, { .wwn = (char *) "w", .size = 1, .transport = TRANSPORT_SAS, .ata = true }, false },
        { { .wwn = (char *) "w", .size = 1, .transport = TRANSPORT_USB }, { .wwn = (char *) "w", .size = 1, .transport = TRANSPORT_USB }, false },
        { SAME, { .wwn = (char *) "5000c500a1b2c3d5", .serial = (char *) "S1", .model = (char *) "M1", .size = 1000, .transport = TRANSPORT_SAS }, false },
        { SAME, { .wwn = (char *) "5000c500a1b2c3d4", .serial = (char *) "S2", .model = (char *) "M1", .size = 1000, .transport = TRANSPORT_SAS }, false },
        { SAME, { .wwn = (char *) "5000c500a1b2c3d4", .serial = (char *) "S1", .model = (char *) "M2", .size = 1000, .transport = TRANSPORT_SAS }, false },
        { SAME, { .wwn = (char *) "5000c500a1b2c3d4", .serial = (char *) "S1", .model = (char *) "M1", .size = 1001, .transport = TRANSPORT_SAS }, false },
        { SAME, { .wwn = (char *) "5000c500a1b2c3d4", .serial = (char *) "S1", .model = (char *) "M1", .size = 1000, .transport = TRANSPORT_SCSI }, false },
        { SAME, { .serial = (char *) "S1", .model = (char *) "M1", .size = 1000, .transport = TRANSPORT_SAS }, false },
        { { .serial = (char *) "S1", .model = (char *) "M1", .size = 1000, .transport = TRANSPORT_SAS }, SAME, false },
};
/* clang-format on */

START_TEST(test_same_drive) {
        Drive x = twins[_i].a, y = twins[_i].b;
        _cleanup_free_ char *a = NULL, *b = NULL;

        x.syspath = (char *) "/sys/devices/a/block/sda";
        y.syspath = (char *) "/sys/devices/b/block/sdb";
        ck_assert_int_eq(guard_place(&x, &a), 0);
        ck_assert_int_eq(guard_place(&y, &b), 0);
        ck_assert(streq(a, b) == twins[_i].same);
}
END_TEST

int main(void) {
        Suite *s = suite_create("guard");
        TCase *t = tcase_create("guard");

        tcase_add_test(t, test_round_trip);
        tcase_add_loop_test(t, test_bad, 0, ELEMENTSOF(bad));
        tcase_add_test(t, test_hostile);
        tcase_add_test(t, test_keys);
        tcase_add_loop_test(t, test_places, 0, ELEMENTSOF(places));
        tcase_add_loop_test(t, test_same_drive, 0, ELEMENTSOF(twins));
        tcase_add_loop_test(t, test_judge, 0, ELEMENTSOF(starts));
        tcase_add_test(t, test_lost);
        tcase_add_loop_test(t, test_harmless, 0, ELEMENTSOF(losses));
        tcase_add_test(t, test_visited);
        tcase_add_test(t, test_version_1);
        tcase_add_test(t, test_clear);
        tcase_add_test(t, test_full);
        tcase_add_test(t, test_too_large);
        tcase_add_test(t, test_health);
        tcase_add_loop_test(t, test_kernel_line, 0, ELEMENTSOF(lines));
        tcase_add_loop_test(t, test_visit, 0, ELEMENTSOF(visits));
        tcase_add_test(t, test_quarantined);
        suite_add_tcase(s, t);

        return suite_run(s);
}
