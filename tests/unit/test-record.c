/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "drive-record.h"
#include "safe-file.h"
#include "suite.h"

static const char good[] = "VERSION=1\n"
                           "NAME=sda\n"
                           "NODE=/dev/sda\n"
                           "MODEL=ST2000DL003-9VT166\n"
                           "SERIAL=5YD\\x1b[31m\\x5c\\xff\n"
                           "WWN=0x5000c5002f8ebf71\n"
                           "FIRMWARE=CC32\n"
                           "TRANSPORT=usb\n"
                           "IDENTITY=wwn\n"
                           "DOCK_MODEL=SATA_Bridge\n"
                           "DOCK_SERIAL=DOCK0001\n"
                           "BRIDGE_QUERIED=1\n"
                           "BRIDGE_IDENTIFIED=1\n"
                           "BRIDGE_WITHOUT_REGISTERS=1\n"
                           "BRIDGE_CDB=12\n"
                           "DISKSEQ=18446744073709551615\n"
                           "BOOT_ID=2f1e9f3ab0d64b3f8f1a2e3d4c5b6a79\n"
                           "USED=446\n"
                           "USED_WHEN=1200000000\n"
                           "ATA_SLEEP=1\n"
                           "POWER=active/idle\n"
                           "POWER_WHEN=1763692751123456\n"
                           "POWER_SEEN=1763692761123456\n"
                           "ACTIVE_REASON=the drive has refused it\n"
                           "QUIET_SINCE=5000000\n"
                           "QUIET_USED=77\n"
                           "OWN_COMMANDS=12\n"
                           "TRACING=no-events\n"
                           "IGNORES_TIMER=1\n"
                           "SPINDOWN=20min, by the service\n"
                           "SPINDOWN_KEY=service spindown_time 1200000000\nSPINDOWN_SERVED=1\n"
                           "USE_SETTING=20min, by the service\n"
                           "USE_KEY=service spindown_time 1200000000\n"
                           "USE_SINCE=1763692751123456\n"
                           "USE_WATCHED=86400\n"
                           "USE_KNOWN_FROM=2400\n"
                           "USE_GAPS=0 0 0 0 0 0 0 1500 0 0 0 0 0 0 0 0 0 2000\n"
                           "USE_GAP_TIMES=0 0 0 0 0 0 0 3000 0 0 0 0 0 0 0 0 0 200000\n"
                           "USE_SPIN_UPS=17\n"
                           "USE_STANDBY=70000\n"
                           "FIRST_WEAR_WHEN=1763692751123456\n"
                           "FIRST_WEAR_LOAD_CYCLES=1000\n"
                           "FIRST_WEAR_START_STOPS=900\n"
                           "WEAR_WHEN=1763792751123456\n"
                           "WEAR_LOAD_CYCLES=1017\n"
                           "WEAR_START_STOPS=917\n"
                           "WEAR_RATED_LOAD_CYCLES=300000\n"
                           "WEAR_RATED_START_STOPS=50000\n"
                           "WEAR_TEMPERATURE=35\n"
                           "USE_WARNED=1\n"
                           "STATE=waiting\n"
                           "WAITING_KIND=check\n"
                           "WAITING_FOR=systemd-fsck@dev-disk-by\\x5cx2dlabel-data.service\n"
                           "VISIT_REASON=boot\n"
                           "VISITS=boot 1 wake 3\n"
                           "VISIT_WHEN=1763692751123456\n"
                           "WAKES=smartd.service 2 kernel 1\n"
                           "SETTINGS=2\n"
                           "SETTING_0_NAME=apm\n"
                           "SETTING_0_WANTED=128\n"
                           "SETTING_0_BEFORE=off\n"
                           "SETTING_0_ACTUAL=128\n"
                           "SETTING_0_VERDICT=applied\n"
                           "SETTING_0_RULE=/etc/drivekeep/drivekeep.conf:12\n"
                           "SETTING_0_OPTIONAL=1\n"
                           "SETTING_0_REMEDIABLE=1\n"
                           "SETTING_0_BY_SERVICE=1\n"
                           "SETTING_0_WHEN=1763692751123456\n"
                           "SETTING_1_NAME=spindown_time\n"
                           "SETTING_1_WANTED=20 min\n"
                           "SETTING_1_VERDICT=unverifiable\n"
                           "SETTING_1_REASON=accepted; the value cannot be read back\n"
                           "SETTING_1_ACCEPTED=1\n"
                           "SETTING_1_DRIFT_FROM=20 min\n"
                           "SETTING_1_DRIFT_TO=off\n"
                           "SETTING_1_DRIFT_WHEN=1763692751123456\n"
                           "SETTING_1_SENT_NUMBER=-9223372036854775808\n"
                           "SETTING_1_SETTLED_NUMBER=9223372036854775807\n"
                           "SETTING_1_READ_NUMBER=0\n";

/* The words for power modes in the state file must not change, since other versions of drivekeep read the file, too. */
static const struct {
        const char *line;
        PowerMode power;
        bool sleeps;
} powers[] = {
        { "", POWER_UNKNOWN, false },
        { "POWER=active/idle\n", POWER_ACTIVE, false },
        { "POWER=standby\n", POWER_STANDBY, true },
        { "POWER=suspended\n", POWER_SUSPENDED, true },
        { "POWER=sleep\n", POWER_ATA_SLEEP, true },
};

START_TEST(test_power) {
        _cleanup_(drive_record_freep) DriveRecord *r = NULL;
        _cleanup_free_ char *again = NULL;
        char text[128];

        (void) snprintf(text, sizeof text, "VERSION=1\nNAME=sda\n%sSETTINGS=0\n", powers[_i].line);
        ck_assert_int_eq(drive_record_parse(text, strlen(text), &r), 0);
        ck_assert_int_eq(r->power, powers[_i].power);
        ck_assert(drive_record_in_standby(r) == powers[_i].sleeps);
        ck_assert_int_eq(drive_record_serialize(r, &again), 0);
        ck_assert_ptr_nonnull(strstr(again, powers[_i].line));
}
END_TEST

START_TEST(test_parse) {
        _cleanup_(drive_record_freep) DriveRecord *r = NULL;

        ck_assert_int_eq(drive_record_parse(good, strlen(good), &r), 0);
        ck_assert_str_eq(r->name, "sda");
        ck_assert_str_eq(r->serial, "5YD\x1b[31m\\\xff");
        ck_assert_int_eq(r->waiting_kind, WAIT_CHECK);
        ck_assert_str_eq(r->waiting_for, "systemd-fsck@dev-disk-by\\x2dlabel-data.service");
        ck_assert_str_eq(r->dock_serial, "DOCK0001");
        ck_assert(r->bridge.identified && r->bridge.without_registers && !r->bridge.fragile);
        ck_assert_uint_eq(r->bridge.cdb, 12);
        ck_assert_int_eq(r->state, DRIVE_WAITING);
        ck_assert_int_eq(r->power, POWER_ACTIVE);
        ck_assert(!drive_record_in_standby(r));
        ck_assert_int_eq(r->tracing, TRACING_NO_EVENTS);
        drive_record_begin_run(r);
        ck_assert(r->tracing == TRACING_FINE && !r->active_reason);
        ck_assert_int_eq(string_replace(&r->active_reason, "the drive has refused it"), 0);
        r->power = POWER_SUSPENDED;
        ck_assert(drive_record_in_standby(r));
        r->power = POWER_UNKNOWN;
        ck_assert(!drive_record_in_standby(r));
        r->power = POWER_ACTIVE;
        ck_assert_uint_eq(r->power_when, UINT64_C(1763692751123456));
        ck_assert_str_eq(r->active_reason, "the drive has refused it");
        ck_assert_str_eq(r->spindown, "20min, by the service");
        ck_assert(r->spindown_served);
        ck_assert_uint_eq(r->use.gaps[7], 1500);
        ck_assert_uint_eq(r->use.gap_times[USE_TIMERS - 1], 200000);
        ck_assert_int_eq(r->use.wear.load_cycles.number, 1017);
        ck_assert_uint_eq(r->diskseq, UINT64_MAX);
        ck_assert_str_eq(r->transport, "usb");
        ck_assert_str_eq(r->visits, "boot 1 wake 3");
        ck_assert_uint_eq(r->visit_when, UINT64_C(1763692751123456));
        ck_assert_str_eq(r->wakes, "smartd.service 2 kernel 1");
        ck_assert_uint_eq(r->n_settings, 2);
        ck_assert_str_eq(r->settings[0].before, "off");
        ck_assert_int_eq(r->settings[0].verdict, VERDICT_APPLIED);
        ck_assert_uint_eq(r->settings[0].when, UINT64_C(1763692751123456));
        ck_assert_ptr_null(r->settings[0].reason);
        ck_assert(r->settings[0].optional && !r->settings[1].optional);
        ck_assert(!r->settings[0].sent.known);
        ck_assert(r->settings[1].sent.known);
        ck_assert_int_eq(r->settings[1].sent.number, INT64_MIN);
        ck_assert_ptr_null(r->settings[1].actual);
}
END_TEST

START_TEST(test_serialize) {
        _cleanup_(drive_record_freep) DriveRecord *r = NULL;
        _cleanup_free_ char *text = NULL;

        ck_assert_int_eq(drive_record_parse(good, strlen(good), &r), 0);
        ck_assert_int_eq(drive_record_serialize(r, &text), 0);
        ck_assert_str_eq(text, good);
}
END_TEST

/* A record that is written and parsed again keeps the difference between an absent text and an empty text. */
START_TEST(test_round_trip_sparse) {
        _cleanup_(drive_record_freep) DriveRecord *r = NULL, *again = NULL;
        _cleanup_free_ char *text = NULL;
        SettingRecord *s;

        r = calloc(1, sizeof *r);
        r->name = strdup("sda");
        r->model = strdup("");
        r->firmware = strdup("line\nNAME=sdb\n");
        ck_assert_int_eq(drive_record_add(r, "apm", &s), 0);
        s->reason = strdup("=\r\n\\");

        ck_assert_int_eq(drive_record_serialize(r, &text), 0);
        ck_assert_int_eq(drive_record_parse(text, strlen(text), &again), 0);
        ck_assert_str_eq(again->name, r->name);
        ck_assert_str_eq(again->firmware, r->firmware);
        ck_assert_str_eq(again->model, "");
        ck_assert_ptr_null(again->serial);
        ck_assert_int_eq(again->state, DRIVE_IDLE);
        ck_assert_uint_eq(again->n_settings, 1);
        ck_assert_str_eq(again->settings[0].reason, s->reason);
        ck_assert_int_eq(again->settings[0].verdict, _VERDICT_INVALID);
}
END_TEST

START_TEST(test_add_and_find) {
        _cleanup_(drive_record_freep) DriveRecord *r = NULL;
        SettingRecord *s, *again;

        r = calloc(1, sizeof *r);
        r->name = strdup("sda");
        ck_assert_ptr_null(drive_record_find(r, "apm"));

        for (unsigned i = 0; i < RECORD_MAX_SETTINGS; i++) {
                char name[16];

                (void) snprintf(name, sizeof name, "s%u", i);
                ck_assert_int_eq(drive_record_add(r, name, &s), 0);
        }

        ck_assert_int_eq(drive_record_add(r, "s255", &again), 0);
        ck_assert_ptr_eq(again, s);
        ck_assert_ptr_eq(drive_record_find(r, "s255"), s);
        ck_assert_int_eq(drive_record_add(r, "one_too_many", &s), -E2BIG);
}
END_TEST

/* If the drive chose a value that is a text, this value is not stored as `settled`. A text has the number 0, which a
 * later visit would take for "off", so the visit would not turn the cache on. */
START_TEST(test_settled) {
        const Setting setting = { .name = "write_cache", .range = { .type = VALUE_BOOL } };
        Wish wish = { .name = "write_cache", .value = VALUE_BOOLEAN(true), .file = "f", .line = 1 };
        Wishes w = { &wish, 1 };
        Step s = { .wish = &wish,
                   .setting = &setting,
                   .before = { .supported = true, .known = true, .value = VALUE_BOOLEAN(false) },
                   .after = { .supported = true, .known = true, .value = { VALUE_NAME, 0, "on, but not quite" } },
                   .written = true,
                   .verdict = VERDICT_ADJUSTED };
        _cleanup_(drive_record_freep) DriveRecord *r = calloc(1, sizeof *r);
        _cleanup_free_ Memory *memories = NULL;

        ck_assert_int_eq(drive_record_step(r, &s, 1), 0);
        ck_assert_int_eq(drive_record_memories(r, &w, &memories), 0);
        ck_assert(!memories[0].settled.known);

        free(TAKE_PTR(memories));
        s.after.value = VALUE_BOOLEAN(false);
        ck_assert_int_eq(drive_record_step(r, &s, 1), 0);
        ck_assert_int_eq(drive_record_memories(r, &w, &memories), 0);
        ck_assert(memories[0].settled.known);
}
END_TEST

START_TEST(test_serialize_too_big) {
        _cleanup_(drive_record_freep) DriveRecord *r = NULL;
        char *text;

        r = calloc(1, sizeof *r);
        r->name = malloc(RECORD_MAX_BYTES);
        memset(r->name, 'x', RECORD_MAX_BYTES - 1);
        r->name[RECORD_MAX_BYTES - 1] = '\0';
        ck_assert_int_eq(drive_record_serialize(r, &text), -E2BIG);
}
END_TEST

#define HEAD "VERSION=1\nNAME=sda\n"

static const char *const bad[] = {
        "",
        "VERSION=1\n", /* no name */
        "NAME=sda\n",  /* no version */
        "VERSION=2\nNAME=sda\n",
        "VERSION=01\nNAME=sda\n",
        "VERSION=1\nNAME=sda", /* truncated: no newline */
        "VERSION=1\nNAME=\n",
        "VERSION=1\nNAME=sda\\x0aTo: x\n",
        "VERSION=1\nNAME=../sda\n",
        HEAD "SETTINGS=1\nSETTING_0_NAME=~!sh\n",
        HEAD "\n",
        HEAD "words\n",
        HEAD "MODEL=a\\b\n",
        HEAD "DISKSEQ=\n",
        HEAD "DISKSEQ=+1\n",
        HEAD "DISKSEQ=-1\n",
        HEAD "DISKSEQ= 1\n",
        HEAD "DISKSEQ=1 \n",
        HEAD "DISKSEQ=0x10\n",
        HEAD "DISKSEQ=18446744073709551616\n",
        HEAD "POWER_WHEN=253402300800000000\n", /* the year 10000 */
        HEAD "USE_GAPS=1 2\n",
        HEAD "USE_GAPS=0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", /* one number too many */
        HEAD "USE_GAPS=0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 x\n",
        HEAD "USE_GAPS=0  0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
        HEAD "USE_GAPS=\n",
        HEAD "USE_GAPS=00000000000000000000000000000000 0\n",
        HEAD "STATE=asleep\n",
        HEAD "SETTINGS=257\n",
        HEAD "SETTINGS=-1\n",
        HEAD "SETTINGS=2\nSETTING_0_NAME=apm\n",
        HEAD "SETTINGS=1\n",         /* SETTINGS counts one setting, which is missing */
        HEAD "SETTING_0_NAME=apm\n", /* a setting without the count SETTINGS */
        HEAD "SETTINGS=1\nSETTING_1_NAME=apm\n",
        HEAD "SETTINGS=1\nSETTING__NAME=apm\n",
        HEAD "SETTINGS=1\nSETTING_0=apm\n",
        HEAD "SETTINGS=1\nSETTING_-0_NAME=apm\n",
        HEAD "SETTINGS=1\nSETTING_99999999999999999999_NAME=apm\n",
        HEAD "SETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_VERDICT=fine\n",
        HEAD "SETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_SENT_NUMBER=yes\n",
        HEAD "SETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_SENT_NUMBER=9223372036854775808\n",
        HEAD "SETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_SENT_NUMBER=--1\n",
        HEAD "SETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_WHEN=253402300800000000\n", /* the year 10000 */
};

START_TEST(test_bad) {
        DriveRecord *r;

        ck_assert_int_eq(drive_record_parse(bad[_i], strlen(bad[_i]), &r), -EBADMSG);
}
END_TEST

START_TEST(test_bad_bytes) {
        _cleanup_free_ char *big = NULL;
        DriveRecord *r;

        ck_assert_int_eq(drive_record_parse(HEAD "MODEL=\0\n", sizeof HEAD "MODEL=\0\n" - 1, &r), -EBADMSG);

        big = malloc(RECORD_MAX_BYTES + 1);
        memset(big, '\n', RECORD_MAX_BYTES + 1);
        memcpy(big, HEAD, strlen(HEAD));
        ck_assert_int_eq(drive_record_parse(big, RECORD_MAX_BYTES + 1, &r), -EBADMSG);
}
END_TEST

START_TEST(test_too_many_settings) {
        char text[32 * RECORD_MAX_SETTINGS];
        DriveRecord *r = NULL;
        int n;

        for (unsigned most = RECORD_MAX_SETTINGS; most <= RECORD_MAX_SETTINGS + 1; most++) {
                n = snprintf(text, sizeof text, HEAD "SETTINGS=%u\n", most);
                for (unsigned i = 0; i < most; i++)
                        n += snprintf(text + n, sizeof text - n, "SETTING_%u_NAME=s%u\n", i, i);
                ck_assert_int_eq(drive_record_parse(text, n, &r), most > RECORD_MAX_SETTINGS ? -EBADMSG : 0);
        }
        ck_assert_uint_eq(r->n_settings, RECORD_MAX_SETTINGS);
        drive_record_free(r);
}
END_TEST

START_TEST(test_unknown_keys_are_skipped) {
        static const char later[] = HEAD "COLOUR=red\nSETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_MOOD=good\n"
                                         "SETTING_0_NAME=acoustic_management\n";
        _cleanup_(drive_record_freep) DriveRecord *r = NULL;

        ck_assert_int_eq(drive_record_parse(later, strlen(later), &r), 0);
        ck_assert_str_eq(r->settings[0].name, "acoustic_management");
}
END_TEST

/* Parses a copy of exactly `size` bytes, so that ASan detects reads beyond the end. A record that is accepted must also
 * be accepted after it is written and parsed again. */
static void parse_hostile(const char *text, size_t size) {
        _cleanup_(drive_record_freep) DriveRecord *r = NULL, *again = NULL;
        _cleanup_free_ char *copy = NULL, *written = NULL;

        copy = malloc(MAX(size, 1U));
        memcpy(copy, text, size);

        if (drive_record_parse(copy, size, &r) < 0) {
                ck_assert_ptr_null(r);
                return;
        }

        ck_assert_int_eq(drive_record_serialize(r, &written), 0);
        ck_assert_int_eq(drive_record_parse(written, strlen(written), &again), 0);
        ck_assert_uint_eq(again->n_settings, r->n_settings);
}

START_TEST(test_truncated) {
        for (size_t n = 0; n < sizeof good; n++)
                parse_hostile(good, n);
}
END_TEST

/* Replaces random bytes of a valid file. The seed is the loop index, so that a failure can be reproduced. */
START_TEST(test_mutated) {
        static const char interesting[] = "\0\n=_\\x0129-\xff\x80 SNV";
        uint32_t random = (uint32_t) _i * 2654435761U + 1;

        for (unsigned round = 0; round < 500; round++) {
                char text[sizeof good];
                unsigned n;

                memcpy(text, good, sizeof good);
                random = random * 1664525U + 1013904223U;
                n = 1 + (random >> 24) % 8;

                for (unsigned i = 0; i < n; i++) {
                        size_t at;

                        random = random * 1664525U + 1013904223U;
                        at = (random >> 8) % (sizeof good - 1);
                        random = random * 1664525U + 1013904223U;
                        text[at] = random & 0x80000000U ? interesting[(random >> 8) % (sizeof interesting - 1)]
                                                        : (char) (random >> 8);
                }

                parse_hostile(text, sizeof good - 1);
        }
}
END_TEST

/* If the I/O counter has grown within five minutes since the last poll, the drive is active. After a longer time, the
 * drive may be in standby again. */
START_TEST(test_in_use) {
        DriveRecord r = { .used = 100, .used_when = 1000 };

        ck_assert(!drive_record_had_io(NULL, 0, 5));
        ck_assert(drive_record_had_io(NULL, 1, 5));
        ck_assert(!drive_record_had_io(&r, 100, 2000));
        ck_assert(drive_record_had_io(&r, 101, 2000));
        ck_assert(!drive_record_had_io(&r, 101, UINT64_C(1000) * 1000 * 1000));
        ck_assert(!drive_record_had_io(&r, 101, 500)); /* the poll is later than now, so it was in another boot */
        r.used_when = 0;
        ck_assert(drive_record_had_io(&r, 100, UINT64_C(1000) * 1000 * 1000));
}
END_TEST

/* After SLEEP was sent, the drive counts as sleeping until its I/O counter grows. A write of another setting does not
 * end this state. */
START_TEST(test_ata_sleep) {
        static const Setting sleep = { .name = "sleep", .range = { .type = VALUE_BOOL }, .flags = SETTING_ATA_SLEEP },
                             other = { .name = "other", .range = { .type = VALUE_BOOL } };
        const Wish wishes[] = { { .name = "sleep", .file = "f" }, { .name = "other", .file = "f" } };
        Step steps[] = { { .wish = wishes, .setting = &sleep, .written = true },
                         { .wish = wishes + 1, .setting = &other, .written = true } };
        const uint64_t same = 100, more = 101;
        DriveRecord *r = calloc(1, sizeof *r);

        ck_assert_ptr_nonnull(r);
        r->used = same;
        ck_assert_int_eq(drive_record_step(r, steps + 1, 1), 0);
        ck_assert(!drive_record_in_ata_sleep(r, &same));
        ck_assert(!drive_record_in_ata_sleep(r, NULL));
        ck_assert_int_eq(drive_record_step(r, steps, 1), 0);
        steps[0].written = false;
        ck_assert_int_eq(drive_record_step(r, steps, 2), 0);
        ck_assert_int_eq(drive_record_step(r, steps + 1, 2), 0);
        ck_assert(drive_record_in_ata_sleep(r, &same));
        ck_assert(!drive_record_in_ata_sleep(r, &more));
        ck_assert(drive_record_in_ata_sleep(r, NULL));
        ck_assert(!drive_record_in_ata_sleep(NULL, &same));
        drive_record_free(r);
}
END_TEST

/* An earlier record of a drive is continued only in the same boot, and only for the same diskseq, model, serial number
 * and WWN. The kernel name may differ. */
static const struct {
        DriveRecord record;
        bool continues;
} attaches[] = {
        { { .boot_id = (char *) "b", .diskseq = 5, .model = (char *) "M", .serial = (char *) "S", .wwn = (char *) "W" },
          true },
        { { .boot_id = (char *) "a", .diskseq = 5, .model = (char *) "M", .serial = (char *) "S", .wwn = (char *) "W" },
          false },
        { { .diskseq = 5, .model = (char *) "M", .serial = (char *) "S", .wwn = (char *) "W" }, false },
        { { .boot_id = (char *) "b", .diskseq = 6, .model = (char *) "M", .serial = (char *) "S", .wwn = (char *) "W" },
          false },
        { { .boot_id = (char *) "b", .diskseq = 5, .model = (char *) "M", .serial = (char *) "S" }, false },
        { { .boot_id = (char *) "b", .diskseq = 5, .model = (char *) "M", .wwn = (char *) "W" }, false },
        { { .boot_id = (char *) "b", .diskseq = 5, .model = (char *) "N", .serial = (char *) "S", .wwn = (char *) "W" },
          false },
};

START_TEST(test_continues) {
        const Drive drive = { .diskseq = 5, .model = (char *) "M", .serial = (char *) "S", .wwn = (char *) "W" };

        ck_assert_int_eq(drive_record_continues(&attaches[_i].record, &drive, "b"), attaches[_i].continues);
}
END_TEST

/* For a drive behind a bridge, udev reports the bridge's identity. An earlier record is continued only if its
 * dock_model and dock_serial equal this identity. */
START_TEST(test_continues_behind_a_bridge) {
        const Drive dock = { .transport = TRANSPORT_USB, .model = (char *) "Dock", .serial = (char *) "D1" };
        DriveRecord r = { .boot_id = (char *) "b",
                          .model = (char *) "M",
                          .serial = (char *) "S",
                          .dock_model = (char *) "Dock",
                          .dock_serial = (char *) "D1",
                          .bridge = { .identified = true } };

        ck_assert(drive_record_continues(&r, &dock, "b"));
        r.dock_serial = (char *) "D2";
        ck_assert(!drive_record_continues(&r, &dock, "b"));
        r.dock_serial = (char *) "D1";
        r.dock_model = (char *) "Other";
        ck_assert(!drive_record_continues(&r, &dock, "b"));
}
END_TEST

/* If the drive behind the bridge was identified, the drive's identity from the record replaces the bridge's identity,
 * which udev reports. */
START_TEST(test_reveal) {
        Drive *d = calloc(1, sizeof *d);
        DriveRecord r = { .model = (char *) "M", .serial = (char *) "S" };

        ck_assert_ptr_nonnull(d);
        d->transport = TRANSPORT_USB;
        d->model = strdup("Dock");
        ck_assert_int_eq(drive_record_reveal(&r, d), 0);
        ck_assert_str_eq(d->model, "Dock");
        r.bridge.identified = true;
        ck_assert_int_eq(drive_record_reveal(&r, d), 0);
        ck_assert_str_eq(d->model, "M");
        ck_assert_str_eq(d->serial, "S");
        ck_assert_str_eq(d->dock_model, "Dock");
        ck_assert_ptr_null(d->wwn);
        drive_free(d);
        ck_assert_ptr_null(drive_free(NULL));
        ck_assert_ptr_null(drive_record_free(NULL));
}
END_TEST

/* What a visit stores about a setting for the next visit. */
static const struct {
        SettingFlags flags;
        bool before, written;
        Verdict verdict;
        ValueType after;
        bool sent, settled; /* expected in the record after the visit */
        bool lost, unsettled;
} visits[] = {
        { 0, false, true, VERDICT_APPLIED, VALUE_INT, false, false },
        { 0, false, true, VERDICT_UNVERIFIABLE, VALUE_INT, true, false },
        { 0, false, true, VERDICT_ADJUSTED, VALUE_INT, true, true },
        { 0, false, true, VERDICT_ADJUSTED, VALUE_NAME, true, false }, /* a text is not stored for later */
        /* If a visit does not write a setting, the earlier results stay valid only with the verdicts `unverifiable`,
         * `adjusted` and `deferred`. */
        { 0, true, false, VERDICT_UNVERIFIABLE, VALUE_INT, true, true },
        { 0, true, false, VERDICT_ADJUSTED, VALUE_INT, true, true },
        { 0, true, false, VERDICT_DEFERRED, VALUE_INT, true, true },
        { 0, true, false, VERDICT_UNCHANGED, VALUE_INT, false, false },
        { 0, true, false, VERDICT_FAILED, VALUE_INT, false, false },
        /* If the drive lost another setting (`lost`), a setting that this visit did not write counts as not sent. Only
         * a setting with a value that the drive chose earlier (`unsettled` is false) still counts as sent. */
        { 0, true, false, VERDICT_UNVERIFIABLE, VALUE_INT, false, false, .lost = true, .unsettled = true },
        { 0, true, false, VERDICT_DEFERRED, VALUE_INT, false, false, .lost = true, .unsettled = true },
        { 0, true, true, VERDICT_UNVERIFIABLE, VALUE_INT, true, false, .lost = true, .unsettled = true },
        { 0, true, false, VERDICT_ADJUSTED, VALUE_INT, true, true, .lost = true },
        /* An action (SETTING_AT_ATTACH) counts as sent if the drive reported the wanted value. */
        { SETTING_AT_ATTACH, false, true, VERDICT_APPLIED, VALUE_INT, true, false },
        { SETTING_AT_ATTACH, false, false, VERDICT_UNCHANGED, VALUE_INT, true, false },
        { SETTING_AT_ATTACH, false, true, VERDICT_IGNORED, VALUE_INT, false, false },
};

START_TEST(test_note_sent) {
        const Setting row = { .name = "apm", .range = { .type = VALUE_INT, .max = 255 }, .flags = visits[_i].flags };
        const Wish wish = { .name = "apm", .file = "f", .value = { VALUE_INT, 127, "" } };
        const Step step = { .wish = &wish,
                            .setting = &row,
                            .written = visits[_i].written,
                            .lost = visits[_i].lost,
                            .verdict = visits[_i].verdict,
                            .after = { .supported = true, .known = true, .value = { visits[_i].after, 96, "" } } };
        _cleanup_(drive_record_freep) DriveRecord *r = calloc(1, sizeof *r);
        SettingRecord *s;

        ck_assert_int_eq(drive_record_add(r, "apm", &s), 0);
        s->sent.known = visits[_i].before;
        s->settled.known = visits[_i].before && !visits[_i].unsettled;
        ck_assert_int_eq(drive_record_step(r, &step, 1), 0);
        s = drive_record_find(r, "apm");
        ck_assert_int_eq(s->sent.known, visits[_i].sent);
        ck_assert_int_eq(s->settled.known, visits[_i].settled);
        ck_assert_int_eq(s->settled.known && visits[_i].written ? s->settled.number : 96, 96);
}
END_TEST

/* A failed write is recorded with the wanted value and the value read afterwards. A withheld setting is recorded
 * without values. */
START_TEST(test_failed_step) {
        static const Setting row = { .name = "apm", .range = { .type = VALUE_INT, .max = 255 } };
        Wish wish = { .name = "apm", .file = "f", .value = { VALUE_INT, 127, "" } };
        Step step = { .wish = &wish,
                      .setting = &row,
                      .failed = true,
                      .accepted = true,
                      .by_service = true,
                      .verdict = VERDICT_FAILED,
                      .reason = "no answer",
                      .before = { .supported = true, .known = true, .value = { VALUE_INT, 128, "" } },
                      .after = { .supported = true, .known = true, .value = { VALUE_INT, 64, "" } } };
        _cleanup_(drive_record_freep) DriveRecord *r = calloc(1, sizeof *r);

        ck_assert_int_eq(drive_record_step(r, &step, 1), 0);
        ck_assert_str_eq(r->settings[0].wanted, "127");
        ck_assert_str_eq(r->settings[0].actual, "64");
        ck_assert_str_eq(r->settings[0].reason, "no answer");
        ck_assert(r->settings[0].accepted && r->settings[0].by_service);
        /* Without a line number, `rule` has only the name of the source. */
        ck_assert_str_eq(r->settings[0].rule, "f");
        wish.line = 7;
        wish.withheld = true;
        step.after.known = false;
        step.reason[0] = '\0';
        step.accepted = step.by_service = false;
        ck_assert_int_eq(drive_record_step(r, &step, 2), 0);
        ck_assert(!r->settings[0].accepted && !r->settings[0].by_service);
        ck_assert_ptr_null(r->settings[0].wanted);
        ck_assert_ptr_null(r->settings[0].actual);
        ck_assert_ptr_null(r->settings[0].reason);
        ck_assert_str_eq(r->settings[0].rule, "f:7");
}
END_TEST

/* `rule` is "FILE:LINE", or only the source of the value if the source is not a file, as for a temporary value. */
START_TEST(test_rule) {
        Wish wish = { .name = "apm", .file = "/etc/f", .line = 3, .value = { VALUE_INT, 127, "" } };
        const Step step = { .wish = &wish, .verdict = VERDICT_UNSUPPORTED };
        _cleanup_(drive_record_freep) DriveRecord *r = calloc(1, sizeof *r);

        ck_assert_int_eq(drive_record_step(r, &step, 1), 0);
        ck_assert_str_eq(r->settings[0].rule, "/etc/f:3");
        ck_assert_int_eq(r->settings[0].temporary, TEMPORARY_NO);
        wish.file = "drivekeep tune";
        wish.line = 0;
        wish.temporary = TEMPORARY_TUNE;
        ck_assert_int_eq(drive_record_step(r, &step, 2), 0);
        ck_assert_str_eq(r->settings[0].rule, "drivekeep tune");
        ck_assert_int_eq(r->settings[0].temporary, TEMPORARY_TUNE);
}
END_TEST

/* Drift is also detected for a setting whose values are words, such as "off". */
START_TEST(test_drift_of_words) {
        static const Setting row = { .name = "lookahead", .range = { .type = VALUE_BOOL, .max = 1 } };
        static const Wish wish = { .name = "lookahead", .file = "f", .value = { VALUE_BOOL, 1, "" } };
        Step step = { .wish = &wish,
                      .setting = &row,
                      .verdict = VERDICT_APPLIED,
                      .written = true,
                      .after = { .supported = true, .known = true, .value = { VALUE_BOOL, 1, "" } } };
        _cleanup_(drive_record_freep) DriveRecord *r = calloc(1, sizeof *r);

        ck_assert_int_eq(drive_record_step(r, &step, 1), 0);
        step.before = (Reading){ .supported = true, .known = true, .value = { VALUE_BOOL, 1, "" } };
        ck_assert_int_eq(drive_record_drift(r, &step, 2), 0);
        step.before.value.number = 0;
        ck_assert_int_eq(drive_record_drift(r, &step, 3), 1);
        ck_assert_str_eq(r->settings[0].drift_from, "on");
        ck_assert_str_eq(r->settings[0].drift_to, "off");
}
END_TEST

/* Drift is reported if the recorded value and the current value are both known and differ. */
START_TEST(test_drift) {
        static const Setting row = { .name = "apm", .range = { .type = VALUE_INT, .max = 255 } };
        static const Wish wish = { .name = "apm", .file = "f", .value = { VALUE_INT, 127, "" } };
        const Wishes others = {};
        Step step = { .wish = &wish,
                      .setting = &row,
                      .verdict = VERDICT_APPLIED,
                      .written = true,
                      .after = { .supported = true, .value = { VALUE_INT, 127, "" } } };
        _cleanup_(drive_record_freep) DriveRecord *r = calloc(1, sizeof *r);

        step.before = (Reading){ .supported = true, .known = true, .value = { VALUE_INT, 128, "" } };
        ck_assert_int_eq(drive_record_drift(r, &step, 1), 0); /* the setting has no record yet */
        ck_assert_int_eq(drive_record_step(r, &step, 1), 0);
        ck_assert_int_eq(drive_record_drift(r, &step, 2), 0); /* the record contains no known value of the setting */
        step.after.known = true;
        ck_assert_int_eq(drive_record_step(r, &step, 3), 0);
        ck_assert_int_eq(drive_record_drift(r, &step, 4), 1);
        ck_assert_str_eq(r->settings[0].drift_from, "127");
        ck_assert_str_eq(r->settings[0].drift_to, "128");
        step.before.value.number = 127;
        ck_assert_int_eq(drive_record_drift(r, &step, 5), 0);
        step.before = (Reading){ .supported = true };
        ck_assert_int_eq(drive_record_drift(r, &step, 6), 0);
        step.setting = NULL;
        ck_assert_int_eq(drive_record_drift(r, &step, 7), 0);
        ck_assert_uint_eq(r->settings[0].drift_when, 4);

        drive_record_seen(r, &step, 8); /* the setting could not be read, so `when` stays */
        ck_assert_uint_eq(r->settings[0].when, 3);
        step.before.known = true;
        drive_record_seen(r, &step, 9);
        ck_assert_uint_eq(r->settings[0].when, 9);

        drive_record_drop_unwanted(r, &others);
        ck_assert_uint_eq(r->n_settings, 0);
}
END_TEST

/* After a visit, the record contains the last value that was read. If a value was written and not read back, the record
 * contains no value. */
static const struct {
        bool written, before, after;
        ValueType type;
        bool read;
        int64_t value; /* expected value in the record */
} readings[] = {
        { false, true, false, VALUE_INT, true, 128 },
        { true, true, true, VALUE_INT, true, 64 },
        { true, true, false, VALUE_INT, false, 0 },
        { false, false, false, VALUE_INT, true, 7 }, /* nothing was read, so the earlier value 7 stays */
        { true, true, true, VALUE_NAME, false, 0 },
};

START_TEST(test_readings) {
        const Setting row = { .name = "apm", .range = { .type = VALUE_INT, .max = 255 } };
        const Wish wish = { .name = "apm", .file = "f", .value = { readings[_i].type, 127, "" } };
        const Wishes w = { (Wish *) &wish, 1 };
        const SettingTable table = { .tables = { (const Setting[]){ row, {} } } };
        const Step step = { .wish = &wish,
                            .setting = &row,
                            .written = readings[_i].written,
                            .verdict = VERDICT_IGNORED,
                            .before = { .known = readings[_i].before, .value = { readings[_i].type, 128, "" } },
                            .after = { .known = readings[_i].after, .value = { readings[_i].type, 64, "" } } };
        _cleanup_(drive_record_freep) DriveRecord *r = calloc(1, sizeof *r);
        _cleanup_free_ Memory *memories = NULL, *forgotten = NULL;
        SettingRecord *s;

        ck_assert_int_eq(drive_record_add(r, "apm", &s), 0);
        s->read = (KnownNumber){ true, 7 };
        ck_assert_int_eq(drive_record_step(r, &step, 1), 0);
        ck_assert_int_eq(drive_record_memories(r, &w, &memories), 0);
        ck_assert(memories[0].read.known == readings[_i].read);
        ck_assert_int_eq(memories[0].read.known ? memories[0].read.number : 0, readings[_i].value);

        drive_record_forget(r, &table);
        ck_assert_int_eq(drive_record_memories(r, &w, &forgotten), 0);
        ck_assert(!forgotten[0].read.known);
}
END_TEST

/* drive_record_forget() marks all settings except actions (SETTING_AT_ATTACH) as not sent. drive_record_resume() also
 * marks an action with the value "resume" as not sent, so that the service repeats the action. */
START_TEST(test_resume) {
        const Setting rows[] = { { .name = "timer" }, { .name = "standby", .flags = SETTING_AT_ATTACH }, {} };
        const SettingTable table = { .tables = { rows } };
        _cleanup_(drive_record_freep) DriveRecord *r = calloc(1, sizeof *r);
        SettingRecord *timer, *standby;

        ck_assert_int_eq(drive_record_add(r, "standby", &standby), 0);
        ck_assert_int_eq(drive_record_add(r, "timer", &timer), 0);
        standby = drive_record_find(r, "standby");
        timer->sent.known = standby->sent.known = true;
        timer->sent.number = standby->sent.number = _i;
        drive_record_forget(r, &table);
        ck_assert(!timer->sent.known && standby->sent.known);
        timer->sent.known = true;
        drive_record_resume(r, &table);
        ck_assert(!timer->sent.known && standby->sent.known == (_i != AT_RESUME));
}
END_TEST

/* drive_record_resend_unreadable() marks a setting that cannot be read as not sent, so that it is sent again. A setting
 * with a value that the drive chose, and an action (SETTING_AT_ATTACH), still count as sent. */
START_TEST(test_distrust) {
        const Setting rows[] = { { .name = "timer" },
                                 { .name = "adjusted" },
                                 { .name = "sleep", .flags = SETTING_AT_ATTACH },
                                 {} };
        const SettingTable table = { .tables = { rows } };
        _cleanup_(drive_record_freep) DriveRecord *r = calloc(1, sizeof *r);

        for (const Setting *row = rows; row->name; row++) {
                SettingRecord *s;

                ck_assert_int_eq(drive_record_add(r, row->name, &s), 0);
                s->sent.known = true;
                s->settled.known = streq(row->name, "adjusted");
        }
        drive_record_resend_unreadable(r, &table);
        ck_assert(!drive_record_find(r, "timer")->sent.known);
        ck_assert(drive_record_find(r, "adjusted")->sent.known);
        ck_assert(drive_record_find(r, "sleep")->sent.known);
}
END_TEST

/* drive_record_memories() returns what earlier visits found only for settings whose value is a single number. */
START_TEST(test_memories) {
        Wish wishes[] = { { .name = "a", .value = { .type = VALUE_INT } },
                          { .name = "b", .value = { .type = VALUE_NAME } },
                          { .name = "c", .value = { .type = VALUE_STRIPES } },
                          { .name = "never seen" } };
        const Wishes w = { wishes, ELEMENTSOF(wishes) };
        _cleanup_(drive_record_freep) DriveRecord *r = calloc(1, sizeof *r);
        _cleanup_free_ Memory *memories = NULL;

        for (size_t i = 0; i < 3; i++) {
                SettingRecord *s;

                ck_assert_int_eq(drive_record_add(r, wishes[i].name, &s), 0);
                s->sent.known = true;
        }
        ck_assert_int_eq(drive_record_memories(r, &w, &memories), 0);
        for (size_t i = 0; i < w.n_items; i++)
                ck_assert_int_eq(memories[i].sent.known, i == 0);
}
END_TEST

/* Readers of state files reject everything except a small regular file whose owner also owns the directory. */
static const struct {
        const char *make; /* shell command that makes the file "f" */
        int r;
        bool by_root;
} files[] = {
        { "printf 'ten bytes!' >f", 0, false },
        { ": >f", 0, false },
        { "printf 'eleven byte' >f", -EBADMSG, false },
        { "true", -ENOENT, false },
        { "mkdir f", -EBADMSG, false },
        { "mkfifo f", -EBADMSG, false },
        { "printf x >g; ln -s g f", -ELOOP, false },
        { "printf x >f; chown 65534 f", -EBADMSG, true },
        { "printf 'ten bytes!' >f; chown 65534 f .", 0, true },
        { "printf x >f; chown 65533 f; chown 65534 .", -EBADMSG, true },
};

START_TEST(test_file) {
        char dir[] = "/tmp/drivekeep-test-XXXXXX", command[128];
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        int fd;

        if (files[_i].by_root && geteuid() != 0)
                return;
        ck_assert_ptr_nonnull(mkdtemp(dir));
        fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(fd, 0);
        (void) snprintf(command, sizeof command, "cd %s && { %s; }", dir, files[_i].make);
        ck_assert_int_eq(system(command), 0);

        ck_assert_msg(record_file_read(fd, "f", 10, &text, &size) == files[_i].r, "%s", files[_i].make);
        ck_assert_int_eq(text != NULL, files[_i].r == 0);
        ck_assert(size == 0 || (size == 10 && memcmp(text, "ten bytes!", 10) == 0));
        (void) close(fd);
        (void) snprintf(command, sizeof command, "rm -r %s", dir);
        ck_assert_int_eq(system(command), 0);
}
END_TEST

/* A file that grows while it is read is rejected: /proc/self/maps has size 0, but more content than the limit. */
START_TEST(test_file_grows) {
        char *text = NULL;
        size_t size;

        ck_assert_int_eq(record_file_read(AT_FDCWD, "/proc/self/maps", 10, &text, &size), -EBADMSG);
        ck_assert_ptr_null(text);
}
END_TEST

START_TEST(test_verdicts) {
        for (Verdict v = 0; v < _VERDICT_MAX; v++)
                ck_assert_int_eq(verdict_from_string(verdict_to_string(v)), v);
        ck_assert_int_eq(verdict_from_string("fine"), _VERDICT_INVALID);
        ck_assert(verdict_is_wanted(VERDICT_APPLIED) && !verdict_is_wanted(VERDICT_IGNORED));
        ck_assert(verdict_is_absent(VERDICT_UNSUPPORTED, true) && !verdict_is_absent(VERDICT_UNSUPPORTED, false));
        for (Verdict v = _VERDICT_INVALID; v < _VERDICT_MAX; v++)
                ck_assert_int_eq(verdict_is_pending(v), v == VERDICT_DEFERRED || v == _VERDICT_INVALID);
        ck_assert(verdict_is_fine(VERDICT_UNSUPPORTED, true) && !verdict_is_fine(VERDICT_UNSUPPORTED, false));
        ck_assert(verdict_is_fine(VERDICT_APPLIED, false) && !verdict_is_fine(VERDICT_REFUSED, true));

        for (int i = 0; i < 2; i++) {
                const Verdict none = i == 0 ? _VERDICT_INVALID : _VERDICT_MAX;

                ck_assert_ptr_null(verdict_to_string(none));
                ck_assert(!verdict_is_wanted(none));
        }
}
END_TEST

START_TEST(test_states) {
        for (DriveState s = 0; s < _DRIVE_STATE_MAX; s++)
                ck_assert_ptr_nonnull(drive_state_to_string(s));

        ck_assert_ptr_null(drive_state_to_string(_DRIVE_STATE_MAX));
        ck_assert_ptr_null(drive_state_to_string(_DRIVE_STATE_INVALID));
}
END_TEST

/* The directory is locked as long as the returned descriptor is open. A lock file left by an earlier writer does not count as a lock. */
START_TEST(test_lock) {
        char dir[] = "/tmp/test-record-XXXXXX";
        int dir_fd, lock;

        ck_assert_ptr_nonnull(mkdtemp(dir));
        dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ck_assert(!record_directory_is_locked(dir_fd));
        for (unsigned i = 0; i < 2; i++) {
                lock = record_directory_lock(dir);
                ck_assert_int_ge(lock, 0);
                ck_assert(record_directory_is_locked(dir_fd));
                (void) close(lock);
                ck_assert(!record_directory_is_locked(dir_fd));
        }

        ck_assert(unlinkat(dir_fd, ".lock", 0) == 0 && mkdirat(dir_fd, ".lock", 0700) == 0);
        ck_assert_int_eq(record_directory_lock(dir), -EISDIR);
        ck_assert(!record_directory_is_locked(dir_fd));
        ck_assert(unlinkat(dir_fd, ".lock", AT_REMOVEDIR) == 0 && rmdir(dir) == 0);
        ck_assert_int_eq(record_directory_lock(dir), -ENOENT);
        (void) close(dir_fd);
}
END_TEST

/* ---- tallies ---- */

static char *tally_entries(const char *tally) {
        static char text[512];
        size_t n = 0;
        TallyEntry e;

        text[0] = '\0';
        while (tally_next(&tally, &e))
                n += (size_t) snprintf(text + n, sizeof text - n, "%.*s:%llu ", (int) e.len, e.word,
                                       (unsigned long long) e.n);
        return text;
}

START_TEST(test_tally_add) {
        static const char *const words[] = { "boot", "resume", "boot", "boo", "a b\n", "boot" };
        _cleanup_free_ char *tally = NULL;

        ck_assert_str_eq(tally_entries(NULL), "");
        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                ck_assert_int_eq(tally_add(&tally, words[i]), 0);
        ck_assert_str_eq(tally, "boot 3 resume 1 boo 1 a\\x20b\\x0a 1");
        ck_assert_str_eq(tally_entries(tally), "boot:3 resume:1 boo:1 a\\x20b\\x0a:1 ");
}
END_TEST

/* A tally has at most TALLY_WORDS_MAX words. Further words are counted together as TALLY_REST. */
START_TEST(test_tally_many) {
        _cleanup_free_ char *tally = NULL;
        const char *rest;
        TallyEntry e;
        size_t n = 0;
        char word[32];

        for (unsigned i = 0; i < 1000; i++) {
                (void) snprintf(word, sizeof word, "run-%u.scope", i);
                ck_assert_int_eq(tally_add(&tally, word), 0);
        }
        ck_assert_int_eq(tally_add(&tally, "run-0.scope"), 0);

        rest = tally;
        while (tally_next(&rest, &e)) {
                bool is_rest = e.len == strlen(TALLY_REST) && starts_with(e.word, TALLY_REST);

                ck_assert_uint_eq(e.n, is_rest ? 1000 - TALLY_WORDS_MAX : n == 0 ? 2 : 1);
                n++;
        }
        ck_assert_uint_eq(n, TALLY_WORDS_MAX + 1);
}
END_TEST

/* clang-format off */
static const struct { const char *tally, *entries; } hostile_tallies[] = {
        { "", "" },
        { " ", "" },
        { " 3", "" },
        { "boot", "" },
        { "boot ", "" },
        { "boot x", "" },
        { "boot -1", "" },
        { "boot 1x", "" },
        { "boot  1", "" },
        { "boot 1 ", "boot:1 " },
        { "boot 1 resume", "boot:1 " },
        { "boot 99999999999999999999", "boot:18446744073709551615 " },
};
/* clang-format on */

START_TEST(test_tally_hostile) {
        _cleanup_free_ char *tally = strdup(hostile_tallies[_i].tally);

        ck_assert_str_eq(tally_entries(tally), hostile_tallies[_i].entries);
        ck_assert_int_eq(tally_add(&tally, "wake"), 0);
        ck_assert(ends_with(tally_entries(tally), "wake:1 "));
}
END_TEST

int main(void) {
        Suite *s = suite_create("record");
        TCase *t = tcase_create("record");

        tcase_add_test(t, test_parse);
        tcase_add_loop_test(t, test_power, 0, ELEMENTSOF(powers));
        tcase_add_test(t, test_serialize);
        tcase_add_test(t, test_round_trip_sparse);
        tcase_add_test(t, test_add_and_find);
        tcase_add_test(t, test_serialize_too_big);
        tcase_add_test(t, test_settled);
        tcase_add_loop_test(t, test_bad, 0, ELEMENTSOF(bad));
        tcase_add_test(t, test_bad_bytes);
        tcase_add_test(t, test_too_many_settings);
        tcase_add_test(t, test_unknown_keys_are_skipped);
        tcase_add_test(t, test_truncated);
        tcase_add_loop_test(t, test_mutated, 0, 20);
        tcase_add_test(t, test_in_use);
        tcase_add_test(t, test_ata_sleep);
        tcase_add_loop_test(t, test_continues, 0, ELEMENTSOF(attaches));
        tcase_add_test(t, test_continues_behind_a_bridge);
        tcase_add_test(t, test_reveal);
        tcase_add_loop_test(t, test_note_sent, 0, ELEMENTSOF(visits));
        tcase_add_test(t, test_failed_step);
        tcase_add_test(t, test_rule);
        tcase_add_test(t, test_drift);
        tcase_add_test(t, test_drift_of_words);
        tcase_add_loop_test(t, test_readings, 0, ELEMENTSOF(readings));
        tcase_add_loop_test(t, test_resume, 1, AT_RESUME + 1);
        tcase_add_test(t, test_distrust);
        tcase_add_test(t, test_memories);
        tcase_add_loop_test(t, test_file, 0, ELEMENTSOF(files));
        tcase_add_test(t, test_file_grows);
        tcase_add_test(t, test_lock);
        tcase_add_test(t, test_verdicts);
        tcase_add_test(t, test_states);
        tcase_add_test(t, test_tally_add);
        tcase_add_test(t, test_tally_many);
        tcase_add_loop_test(t, test_tally_hostile, 0, ELEMENTSOF(hostile_tallies));
        suite_add_tcase(s, t);

        return suite_run(s);
}
