/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What woke a drive: names of commands, which of them wake at all, and the sentence that is made of it. */

#include "suite.h"
#include "wake.h"

START_TEST(test_kinds) {
        static const char *const names[] = { "read", "write", "flush", "swap", "md", "udev", "together", "command" };

        ck_assert_uint_eq(ELEMENTSOF(names), _WAKE_KIND_MAX);
        for (WakeKind k = 0; k < _WAKE_KIND_MAX; k++)
                ck_assert_str_eq(wake_kind_to_string(k), names[k]);
        ck_assert_ptr_null(wake_kind_to_string(_WAKE_KIND_MAX));
        ck_assert_ptr_null(wake_kind_to_string(_WAKE_KIND_INVALID));
}
END_TEST

#define ATA16(command, features) { 0x85, 0x08, 0x0e, 0, features, 0, 1, 0, 0, 0, 0x4f, 0, 0xc2, 0, command, 0 }, 16
#define ATA12(command, features) { 0xa1, 0x08, 0x0e, features, 1, 0, 0x4f, 0xc2, 0, command, 0, 0 }, 12

/* Of what a command is known to be: that it wakes is what is left. */
typedef enum Effect { WAKES, QUIET, MEDIUM } Effect;

static const struct {
        uint8_t cdb[WAKE_CDB_MAX];
        size_t len;
        const char *name;
        Effect effect;
} commands[] = {
        { ATA16(0xe5, 0), "CHECK POWER MODE", QUIET },
        { ATA12(0xe5, 0), "CHECK POWER MODE", QUIET },
        { ATA16(0x98, 0), "CHECK POWER MODE", QUIET },
        { ATA16(0xe0, 0), "STANDBY IMMEDIATE", QUIET },
        { ATA12(0x94, 0), "STANDBY IMMEDIATE", QUIET },
        { ATA16(0xe2, 0), "STANDBY", QUIET },
        { ATA16(0x96, 0), "STANDBY", QUIET },
        { ATA16(0xe6, 0), "SLEEP", QUIET },
        { ATA16(0x99, 0), "SLEEP", QUIET },
        /* These spin it up. */
        { ATA16(0xe1, 0), "IDLE IMMEDIATE", WAKES },
        { ATA16(0x95, 0), "IDLE IMMEDIATE", WAKES },
        { ATA12(0xe3, 0), "IDLE", WAKES },
        { ATA16(0x97, 0), "IDLE", WAKES },
        { ATA16(0xec, 0), "IDENTIFY DEVICE", WAKES },
        { ATA12(0xec, 0), "IDENTIFY DEVICE", WAKES },
        { ATA16(0xa1, 0), "IDENTIFY PACKET DEVICE", WAKES },
        { ATA16(0xb0, 0xd0), "SMART READ DATA", WAKES },
        { ATA12(0xb0, 0xd0), "SMART READ DATA", WAKES },
        { ATA16(0xb0, 0xd1), "SMART READ THRESHOLDS", WAKES },
        { ATA16(0xb0, 0xd2), "SMART ATTRIBUTE AUTOSAVE", WAKES },
        { ATA16(0xb0, 0xd4), "SMART EXECUTE OFF-LINE IMMEDIATE", WAKES },
        { ATA12(0xb0, 0xd5), "SMART READ LOG", WAKES },
        { ATA16(0xb0, 0xd6), "SMART WRITE LOG", WAKES },
        { ATA16(0xb0, 0xd8), "SMART ENABLE OPERATIONS", WAKES },
        { ATA16(0xb0, 0xd9), "SMART DISABLE OPERATIONS", WAKES },
        { ATA16(0xb0, 0xda), "SMART RETURN STATUS", WAKES },
        { ATA16(0xb0, 0xe5), "SMART subcommand E5h", WAKES },
        { ATA16(0x2f, 0), "READ LOG EXT", WAKES },
        { ATA16(0x47, 0), "READ LOG DMA EXT", WAKES },
        { ATA16(0xe7, 0), "FLUSH CACHE", WAKES },
        { ATA16(0xea, 0), "FLUSH CACHE EXT", WAKES },
        { ATA16(0xef, 0x85), "SET FEATURES", WAKES },
        { ATA16(0x25, 0), "READ DMA EXT", WAKES },
        { ATA16(0x35, 0), "WRITE DMA EXT", WAKES },
        { ATA16(0xc8, 0), "READ DMA", WAKES },
        { ATA16(0xca, 0), "WRITE DMA", WAKES },
        { ATA16(0x20, 0), "READ SECTORS", WAKES },
        { ATA16(0x24, 0), "READ SECTORS EXT", WAKES },
        { ATA16(0x40, 0), "READ VERIFY SECTORS", WAKES },
        { ATA16(0x42, 0), "READ VERIFY SECTORS EXT", WAKES },
        { ATA16(0xf8, 0), "READ NATIVE MAX ADDRESS", WAKES },
        { ATA16(0x27, 0), "READ NATIVE MAX ADDRESS EXT", WAKES },
        { ATA16(0xf5, 0), "ATA command F5h", WAKES },
        { ATA12(0x00, 0), "ATA command 00h", WAKES },
        /* Too short for what it says it is. */
        { { 0x85, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xe5 }, 15, "ATA PASS-THROUGH", WAKES },
        { { 0xa1, 0, 0, 0, 0, 0, 0, 0, 0, 0xe5 }, 11, "ATA PASS-THROUGH", WAKES },

        { { 0x00 }, 6, "TEST UNIT READY", QUIET },
        { { 0x00 }, 1, "TEST UNIT READY", QUIET },
        { { 0x03 }, 6, "REQUEST SENSE", QUIET },
        { { 0x12, 1, 0x80 }, 6, "INQUIRY", QUIET },
        { { 0xa0 }, 12, "REPORT LUNS", QUIET },
        { { 0x1b, 0, 0, 0, 0x00 }, 6, "START STOP UNIT", QUIET },
        { { 0x1b, 1, 0, 0, 0x02 }, 6, "START STOP UNIT", QUIET }, /* ejects */
        { { 0x1b, 0, 0, 0, 0x30 }, 6, "START STOP UNIT", QUIET },
        { { 0x1b, 0, 0, 0, 0x31 }, 6, "START STOP UNIT", QUIET }, /* START counts only without a condition */
        { { 0x1b, 0, 0, 0, 0xb0 }, 6, "START STOP UNIT", QUIET },
        { { 0x1b, 0, 0, 0, 0x01 }, 6, "START STOP UNIT", WAKES },
        { { 0x1b, 0, 0, 0, 0x10 }, 6, "START STOP UNIT", WAKES },
        { { 0x1b, 0, 0, 0, 0x20 }, 6, "START STOP UNIT", WAKES },
        { { 0x1b, 0, 0, 0, 0xa0 }, 6, "START STOP UNIT", WAKES },
        { { 0x1b, 0, 0, 0 }, 4, "START STOP UNIT", WAKES },
        { { 0x15 }, 6, "MODE SELECT", WAKES },
        { { 0x55 }, 10, "MODE SELECT", WAKES },
        { { 0x1a, 0, 0x08 }, 6, "MODE SENSE", WAKES },
        { { 0x5a }, 10, "MODE SENSE", WAKES },
        { { 0x1c }, 6, "RECEIVE DIAGNOSTIC RESULTS", WAKES },
        { { 0x1d }, 6, "SEND DIAGNOSTIC", WAKES },
        { { 0x25 }, 10, "READ CAPACITY", WAKES },
        { { 0x9e, 0x10 }, 16, "READ CAPACITY", WAKES },
        { { 0x9e, 0x12 }, 16, "SCSI command 9Eh", WAKES },
        { { 0x9e }, 1, "SCSI command 9Eh", WAKES },
        { { 0x37 }, 10, "READ DEFECT DATA", WAKES },
        { { 0xb7 }, 12, "READ DEFECT DATA", WAKES },
        { { 0x4c }, 10, "LOG SELECT", WAKES },
        { { 0x4d, 0, 0x2f }, 10, "LOG SENSE", WAKES },
        { { 0x5e }, 10, "PERSISTENT RESERVE IN", WAKES },
        { { 0x5f }, 10, "PERSISTENT RESERVE OUT", WAKES },
        { { 0xc1 }, 10, "SCSI command C1h", WAKES },
        { { 0xff }, 1, "SCSI command FFh", WAKES },
        { {}, 0, "a command", WAKES },

        { { 0x28 }, 10, "READ", MEDIUM },
        { { 0x88 }, 16, "READ", MEDIUM },
        { { 0x08 }, 6, "READ", MEDIUM },
        { { 0xa8 }, 12, "READ", MEDIUM },
        { { 0x2a }, 10, "WRITE", MEDIUM },
        { { 0x8a }, 16, "WRITE", MEDIUM },
        { { 0x0a }, 6, "WRITE", MEDIUM },
        { { 0xaa }, 12, "WRITE", MEDIUM },
        { { 0x2e }, 10, "WRITE AND VERIFY", MEDIUM },
        { { 0x2f }, 10, "VERIFY", MEDIUM },
        { { 0x8f }, 16, "VERIFY", MEDIUM },
        { { 0x35 }, 10, "SYNCHRONIZE CACHE", MEDIUM },
        { { 0x91 }, 16, "SYNCHRONIZE CACHE", MEDIUM },
        { { 0x41 }, 10, "WRITE SAME", MEDIUM },
        { { 0x93 }, 16, "WRITE SAME", MEDIUM },
        { { 0x42 }, 10, "UNMAP", MEDIUM },
        { { 0x7f, 0, 0, 0, 0, 0, 0, 0x18, 0x00, 0x09 }, 32, "SCSI command 7Fh", MEDIUM },
        { { 0x7f, 0, 0, 0, 0, 0, 0, 0x18, 0x00, 0x0d }, 32, "SCSI command 7Fh", MEDIUM },
        { { 0x7f, 0, 0, 0, 0, 0, 0, 0x18, 0x00, 0x0e }, 32, "SCSI command 7Fh", WAKES },
        { { 0x7f, 0, 0, 0, 0, 0, 0, 0x18, 0x01, 0x09 }, 32, "SCSI command 7Fh", WAKES },
        { { 0x7f, 0, 0, 0, 0, 0, 0, 0x18, 0x00 }, 9, "SCSI command 7Fh", WAKES },
};

START_TEST(test_command) {
        char buf[WAKE_TEXT_MAX];
        /* What is read beyond the end is noticed. */
        uint8_t *cdb = memcpy(malloc(commands[_i].len), commands[_i].cdb, commands[_i].len);
        Effect effect = command_is_quiet(cdb, commands[_i].len)    ? QUIET
                        : command_is_medium(cdb, commands[_i].len) ? MEDIUM
                                                                   : WAKES;

        ck_assert_str_eq(command_name(cdb, commands[_i].len, buf), commands[_i].name);
        ck_assert_msg(effect == commands[_i].effect, "%s: effect %d", commands[_i].name, (int) effect);
        ck_assert(command_is_doubtful(cdb, commands[_i].len) ==
                  STR_IN_SET(commands[_i].name, "IDENTIFY DEVICE", "IDENTIFY PACKET DEVICE", "FLUSH CACHE",
                             "FLUSH CACHE EXT", "SYNCHRONIZE CACHE", "UNMAP"));
        free(cdb);
}
END_TEST

/* Every command has a name, cut short wherever it is, and none is both quiet and of the medium. */
START_TEST(test_any_command) {
        char buf[WAKE_TEXT_MAX];

        for (size_t len = 1; len <= WAKE_CDB_MAX; len++) {
                uint8_t *cdb = malloc(len);

                for (unsigned op = 0; op < 256; op++) {
                        memset(cdb, 0, len);
                        cdb[0] = (uint8_t) op;
                        ck_assert(*command_name(cdb, len, buf));
                        ck_assert(!command_is_quiet(cdb, len) || !command_is_medium(cdb, len));
                }
                free(cdb);
        }
}
END_TEST

static const struct {
        Wake wake;
        const char *who, *what;
} sentences[] = {
        { { .kind = WAKE_COMMAND,
            .process = { 812, "smartctl", "smartd.service", "smartctl -a /dev/sda" },
            .cdb = { 0xa1, 0, 0, 0xd0, 0, 0, 0, 0, 0, 0xb0, 0, 0 },
            .cdb_len = 12 },
          "smartctl (PID 812, smartd.service)",
          "sent SMART READ DATA" },
        { { .kind = WAKE_COMMAND, .thread = "kworker/0:1", .cdb = { 0x1b, 0, 0, 0, 1, 0 }, .cdb_len = 6 },
          "the kernel thread kworker/0:1",
          "sent START STOP UNIT" },
        { { .kind = WAKE_COMMAND, .cdb = { 0xc7 }, .cdb_len = 1 }, "something unknown", "sent SCSI command C7h" },
        { { .kind = WAKE_COMMAND, .cdb_len = 99 }, "something unknown", "sent TEST UNIT READY" },
        { { .kind = WAKE_COMMAND }, "something unknown", "sent a command" },

        { { .kind = WAKE_READ, .process = { .pid = 5, .comm = "dd" }, .has_sector = true, .sector = 2048 },
          "dd (PID 5)",
          "read sector 2048" },
        { { .kind = WAKE_READ, .process = { .comm = "dd" }, .has_sector = true }, "dd", "read sector 0" },
        { { .kind = WAKE_READ, .process = { .pid = 5, .unit = "a.service" } },
          "a process (PID 5, a.service)",
          "read from it" },
        { { .kind = WAKE_READ, .process = { .pid = 5 }, .has_sector = true, .sector = UINT64_MAX },
          "a process (PID 5)",
          "read sector 18446744073709551615" },
        { { .kind = WAKE_READ,
            .process = { 5, "ls", "user@0.service", "" },
            .thread = "dm_crypt-thread",
            .has_sector = true,
            .sector = 2048 },
          "ls (PID 5, user@0.service)",
          "read sector 2048 by way of dm_crypt-thread" },
        { { .kind = WAKE_READ, .thread = "jbd2/sda1-8", .has_sector = true, .sector = 8 },
          "the kernel thread jbd2/sda1-8",
          "read sector 8" },
        { { .kind = WAKE_WRITE, .process = { .pid = 6, .comm = "dd" }, .has_sector = true, .sector = 1 },
          "dd (PID 6)",
          "wrote sector 1" },
        { { .kind = WAKE_WRITE, .process = { .pid = 6, .comm = "sync" } }, "sync (PID 6)", "wrote to it" },
        { { .kind = WAKE_WRITE, .process = { .pid = 6, .comm = "sync" }, .thread = "md0_raid1" },
          "sync (PID 6)",
          "wrote to it by way of md0_raid1" },

        { { .kind = WAKE_FLUSH, .process = { .pid = 7, .comm = "sh" }, .thread = "kworker/u4:2", .inode = 12 },
          "sh (PID 7)",
          "changed inode 12, which kworker/u4:2 wrote out" },
        { { .kind = WAKE_FLUSH, .process = { .pid = 7, .comm = "sh" }, .thread = "kworker/u4:2" },
          "sh (PID 7)",
          "changed a file, which kworker/u4:2 wrote out" },
        { { .kind = WAKE_FLUSH, .process = { .pid = 7, .comm = "sh" }, .inode = UINT64_MAX },
          "sh (PID 7)",
          "changed inode 18446744073709551615, which the kernel wrote out" },
        { { .kind = WAKE_FLUSH, .thread = "kworker/u4:2", .inode = 12 },
          "the kernel thread kworker/u4:2",
          "wrote out what somebody unknown had changed" },
        { { .kind = WAKE_SWAP, .thread = "kswapd0", .has_sector = true, .sector = 9 },
          "the kernel thread kswapd0",
          "needed swap space" },
        { { .kind = WAKE_MD, .thread = "md0_resync" }, "the kernel thread md0_resync", "worked on its array" },
        { { .kind = WAKE_UDEV, .process = { 9, "(udev-worker)", "systemd-udevd.service", "" } },
          "(udev-worker) (PID 9, systemd-udevd.service)",
          "looked at it, as it does when a device node that was open for writing is closed" },
        { { .kind = WAKE_TOGETHER, .process = { 9, "du", "cron.service", "" } },
          "du (PID 9, cron.service)",
          "used a drive with which it is woken" },
        { { .kind = _WAKE_KIND_INVALID }, "something unknown", "did something unknown" },
};

START_TEST(test_sentence) {
        const Wake *w = &sentences[_i].wake;
        char who[WAKE_TEXT_MAX], what[WAKE_TEXT_MAX];

        ck_assert_str_eq(wake_who(w, who), sentences[_i].who);
        ck_assert_str_eq(wake_what(w, what), sentences[_i].what);
}
END_TEST

/* By what a wake is counted. */
START_TEST(test_source) {
        static const struct {
                Wake wake;
                const char *source;
        } sources[] = {
                { { .process = { 812, "smartctl", "smartd.service", "" } }, "smartd.service" },
                { { .process = { 812, "dd", "cron.service", "" }, .thread = "kworker/u4:2" }, "cron.service" },
                { { .thread = "md0_resync" }, "kernel" },
                { { .process = { .pid = 5, .comm = "dd" } }, "unknown" },
                { { .process = { .comm = "dd" }, .thread = "jbd2/sda1-8" }, "unknown" },
                { {}, "unknown" },
        };

        for (size_t i = 0; i < ELEMENTSOF(sources); i++)
                ck_assert_str_eq(wake_source(&sources[i].wake), sources[i].source);
}
END_TEST

/* The longest of everything has room. */
START_TEST(test_long) {
        Wake w = { .process = { .pid = 2147483647 }, .has_sector = true, .sector = UINT64_MAX, .inode = UINT64_MAX };
        char buf[WAKE_TEXT_MAX];

        memset(w.process.comm, 'c', sizeof w.process.comm - 1);
        memset(w.process.unit, 'u', sizeof w.process.unit - 1);
        memset(w.thread, 't', sizeof w.thread - 1);
        ck_assert(ends_with(wake_who(&w, buf), "u)"));
        ck_assert(ends_with(wake_what(&w, buf), "ttt"));
        w.kind = WAKE_FLUSH;
        ck_assert(ends_with(wake_what(&w, buf), "ttt wrote out"));
}
END_TEST

int main(void) {
        Suite *s = suite_create("wake");
        TCase *t = tcase_create("wake");

        tcase_add_test(t, test_kinds);
        tcase_add_loop_test(t, test_command, 0, ELEMENTSOF(commands));
        tcase_add_test(t, test_any_command);
        tcase_add_loop_test(t, test_sentence, 0, ELEMENTSOF(sentences));
        tcase_add_test(t, test_source);
        tcase_add_test(t, test_long);
        suite_add_tcase(s, t);
        return suite_run(s);
}
