/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the sentences that describe wakers. */

#include "suite.h"
#include "wake.h"

START_TEST(test_kinds) {
        static const char *const names[] = { "read", "write",    "flush",   "swap",   "md",
                                             "udev", "together", "command", "unknown" };

        ck_assert_uint_eq(ELEMENTSOF(names), _WAKE_KIND_MAX);
        for (WakeKind k = 0; k < _WAKE_KIND_MAX; k++)
                ck_assert_str_eq(wake_kind_to_string(k), names[k]);
        ck_assert_ptr_null(wake_kind_to_string(_WAKE_KIND_MAX));
        ck_assert_ptr_null(wake_kind_to_string(_WAKE_KIND_INVALID));
}
END_TEST

static const struct {
        Wake wake;
        const char *process, *action;
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
        { { .kind = WAKE_COMMAND,
            .process = { .pid = 8, .comm = "smartctl" },
            .thread = "kworker/0:1",
            .cdb = { 0x1b, 0, 0, 0, 1, 0 },
            .cdb_len = 6 },
          "smartctl (PID 8)",
          "made the kernel resume the drive with START STOP UNIT" },
        { { .kind = WAKE_COMMAND, .cdb = { 0xc7 }, .cdb_len = 1 }, "an unknown process", "sent SCSI command C7h" },
        { { .kind = WAKE_COMMAND, .cdb_len = 99 }, "an unknown process", "sent TEST UNIT READY" },
        { { .kind = WAKE_COMMAND }, "an unknown process", "sent a command" },
        { { .kind = WAKE_UNKNOWN }, "an unknown process", "was not traced" },

        { { .kind = WAKE_READ, .process = { .pid = 5, .comm = "dd" }, .has_sector = true, .sector = 2048 },
          "dd (PID 5)",
          "read sector 2048" },
        { { .kind = WAKE_READ, .process = { .comm = "dd" }, .has_sector = true }, "dd", "read sector 0" },
        { { .kind = WAKE_READ, .process = { .pid = 5, .unit = "a.service" } },
          "a process (PID 5, a.service)",
          "read from the drive" },
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
        { { .kind = WAKE_WRITE, .process = { .pid = 6, .comm = "sync" } }, "sync (PID 6)", "wrote to the drive" },
        { { .kind = WAKE_WRITE, .process = { .pid = 6, .comm = "sync" }, .thread = "md0_raid1" },
          "sync (PID 6)",
          "wrote to the drive by way of md0_raid1" },

        { { .kind = WAKE_FLUSH, .process = { .pid = 7, .comm = "sh" }, .thread = "kworker/u4:2", .inode = 12 },
          "sh (PID 7)",
          "changed inode 12, and kworker/u4:2 wrote the change to the drive" },
        { { .kind = WAKE_FLUSH, .process = { .pid = 7, .comm = "sh" }, .thread = "kworker/u4:2" },
          "sh (PID 7)",
          "changed a file, and kworker/u4:2 wrote the change to the drive" },
        { { .kind = WAKE_FLUSH, .process = { .pid = 7, .comm = "sh" }, .inode = UINT64_MAX },
          "sh (PID 7)",
          "changed inode 18446744073709551615, and the kernel wrote the change to the drive" },
        { { .kind = WAKE_FLUSH, .thread = "kworker/u4:2", .inode = 12 },
          "the kernel thread kworker/u4:2",
          "wrote data that an unknown process had changed" },
        { { .kind = WAKE_SWAP, .thread = "kswapd0", .has_sector = true, .sector = 9 },
          "the kernel thread kswapd0",
          "needed swap space" },
        { { .kind = WAKE_MD, .thread = "md0_resync" }, "the kernel thread md0_resync", "worked on the drive's array" },
        { { .kind = WAKE_UDEV, .process = { 9, "(udev-worker)", "systemd-udevd.service", "" } },
          "(udev-worker) (PID 9, systemd-udevd.service)",
          "probed the drive, as udev does after a program had the drive open for writing" },
        { { .kind = WAKE_TOGETHER, .process = { 9, "du", "cron.service", "" } },
          "du (PID 9, cron.service)",
          "woke another drive of the same wake_together group" },
        { { .kind = _WAKE_KIND_INVALID }, "an unknown process", "sent an unknown command" },
};

START_TEST(test_sentence) {
        const Wake *w = &sentences[_i].wake;
        char who[WAKE_TEXT_MAX], what[WAKE_TEXT_MAX];

        ck_assert_str_eq(wake_format_process(w, who), sentences[_i].process);
        ck_assert_str_eq(wake_format_action(w, what), sentences[_i].action);
}
END_TEST

/* wake_source() returns the unit, "kernel" or "unknown". */
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

/* Texts of maximum length fit into the buffer. */
START_TEST(test_long) {
        Wake w = { .process = { .pid = 2147483647 }, .has_sector = true, .sector = UINT64_MAX, .inode = UINT64_MAX };
        char buf[WAKE_TEXT_MAX];

        memset(w.process.comm, 'c', sizeof w.process.comm - 1);
        memset(w.process.unit, 'u', sizeof w.process.unit - 1);
        memset(w.thread, 't', sizeof w.thread - 1);
        ck_assert(ends_with(wake_format_process(&w, buf), "u)"));
        ck_assert(ends_with(wake_format_action(&w, buf), "ttt"));
        w.kind = WAKE_FLUSH;
        ck_assert(ends_with(wake_format_action(&w, buf), "ttt wrote the change to the drive"));
}
END_TEST

START_TEST(test_tracing) {
        for (Tracing t = TRACING_FINE; t < _TRACING_MAX; t++) {
                const char *obstacle = tracing_obstacle(t);

                ck_assert_ptr_nonnull(tracing_to_string(t));
                ck_assert(!obstacle == (t == TRACING_FINE));
                /* The text about each obstacle names a command (systemctl, journalctl) that solves the problem or shows the error. */
                ck_assert(!obstacle || strstr(obstacle, "ctl "));
        }
        ck_assert_ptr_null(tracing_to_string(_TRACING_MAX));
        ck_assert_ptr_null(tracing_to_string(_TRACING_INVALID));
        ck_assert_ptr_null(tracing_obstacle(_TRACING_MAX));
        ck_assert_ptr_null(tracing_obstacle(_TRACING_INVALID));
}
END_TEST

#define SECONDS(n) ((n) *UINT64_C(1000000))

static const struct {
        const char *process, *thread, *unit, *action;
        uint64_t times, usec;
        const char *text;
} uses[] = {
        { "dd", NULL, "a.service", "read from the drive", 3, SECONDS(300),
          "dd (a.service) read from the drive, every 100 s" },
        { "dd", "md0_raid1", NULL, "wrote to the drive", 4, SECONDS(480), "dd wrote to the drive, every 2 min" },
        { NULL, "md0_raid1", NULL, "worked on the drive's array", 1, SECONDS(119),
          "the kernel thread md0_raid1 worked on the drive's array, once in 119 s" },
        { NULL, NULL, NULL, "sent SMART", 1, SECONDS(3600), "an unknown process sent SMART, once in 60 min" },
        { "dd", NULL, NULL, "read from the drive", 0, 5, "dd read from the drive, once in 1 s" },
};

START_TEST(test_use) {
        char buf[WAKE_USE_MAX];

        ck_assert_str_eq(wake_format_use(uses[_i].process, uses[_i].thread, uses[_i].unit, uses[_i].action,
                                         uses[_i].times, uses[_i].usec, buf),
                         uses[_i].text);
}
END_TEST

int main(void) {
        Suite *s = suite_create("wake");
        TCase *t = tcase_create("wake");

        tcase_add_test(t, test_kinds);
        tcase_add_loop_test(t, test_sentence, 0, ELEMENTSOF(sentences));
        tcase_add_test(t, test_source);
        tcase_add_test(t, test_long);
        tcase_add_test(t, test_tracing);
        tcase_add_loop_test(t, test_use, 0, ELEMENTSOF(uses));
        suite_add_tcase(s, t);
        return suite_run(s);
}
