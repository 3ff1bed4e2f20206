/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The content of each journal record, field by field. The test replaces the functions of the journal's socket. */

#include <stdio.h>
#include <syslog.h>

#include "done-log.h"
#include "inject.h"
#include "journal-socket.h"
#include "journal.h"
#include "suite.h"

/* ---- the journal ---- */

static char last_record[2048];
static unsigned n_told;
static JournalSocket used; /* the socket to which the record was sent */

int journal_socket_send(JournalSocket *j, const char *record) {
        used = *j;
        (void) snprintf(last_record, sizeof last_record, "%s", record);
        n_told++;
        return 0;
}
void journal_socket_attach(_unused_ JournalSocket *j, sd_event *event) {
        note("attach:%d", event == (sd_event *) last_record);
}
void journal_socket_finish(_unused_ JournalSocket *j, unsigned ms) {
        note("finish:%u", ms);
}
void journal_socket_done(_unused_ JournalSocket *j) {
        note("done");
}

/* Checks that exactly one record was sent. The record must have this priority and message ID, and continue with exactly
 * `rest`. */
static void expect(int priority, const char *id, const char *rest) {
        char all[sizeof last_record];

        (void) snprintf(all, sizeof all, "PRIORITY=%d\nSYSLOG_IDENTIFIER=drivekeepd\n%s%s%s%s", priority,
                        id ? "MESSAGE_ID=" : "", id ?: "", id ? "\n" : "", rest);
        ck_assert_str_eq(last_record, all);
        ck_assert_str_eq(used.path, "/run/systemd/journal/socket");
        ck_assert_int_lt(used.fd, 0);
        ck_assert_uint_eq(n_told, 1);
        n_told = 0;
}

static const Drive disk = { .name = (char *) "sda",
                            .model = (char *) "M",
                            .serial = (char *) "S",
                            .wwn = (char *) "0x5" },
                   bare = { .name = (char *) "sdb" };

#define DISK "DRIVEKEEP_DRIVE=sda\nDRIVEKEEP_SERIAL=S\nDRIVEKEEP_WWN=0x5\nDRIVEKEEP_MODEL=M\n"

/* ---- a setting ---- */

static const Setting row = { .name = "apm", .range = { .type = VALUE_INT, .min = 1, .max = 254 } };
static const Wish wish = { .name = "apm", .value = { .type = VALUE_INT, .number = 127 }, .file = "/etc/f", .line = 3 },
                  optional = { .name = "apm", .optional = true, .file = "/etc/f", .line = 3 },
                  withheld = { .name = "apm", .withheld = true, .file = "/etc/f", .line = 3 },
                  of_no_file = { .name = "apm",
                                 .value = { .type = VALUE_INT, .number = 127 },
                                 .file = "drivekeep tune" };

#define OF(verdict, visit)                                                                  \
        DISK "DRIVEKEEP_SETTING=apm\nDRIVEKEEP_VERDICT=" verdict "\nDRIVEKEEP_VISIT=" visit \
             "\nDRIVEKEEP_RULE=/etc/f:3\n"
#define KNOWN(n)                                                                               \
        {                                                                                      \
                .supported = true, .known = true, .value = {.type = VALUE_INT, .number = (n) } \
        }

static const struct {
        Step step;
        const char *record;
} steps[] = {
        { { .wish = &wish,
            .setting = &row,
            .verdict = VERDICT_APPLIED,
            .before = KNOWN(254),
            .after = KNOWN(127),
            .written = true },
          "MESSAGE=sda: apm = 127: applied (was 254)\n" OF(
                          "applied", "boot") "DRIVEKEEP_WANTED=127\nDRIVEKEEP_BEFORE=254\nDRIVEKEEP_AFTER=127\n" },
        { { .wish = &wish, .setting = &row, .verdict = VERDICT_APPLIED, .written = true },
          "MESSAGE=sda: apm = 127: applied\n" OF("applied", "boot") "DRIVEKEEP_WANTED=127\n" },
        { { .wish = &wish,
            .setting = &row,
            .verdict = VERDICT_REFUSED,
            .before = KNOWN(254),
            .failed = true,
            .reason = "it says so" },
          "MESSAGE=sda: apm = 127: refused: it says so\n" OF(
                          "refused",
                          "boot") "DRIVEKEEP_WANTED=127\nDRIVEKEEP_BEFORE=254\nDRIVEKEEP_REASON=it says so\n" },
        /* If a setting was read and not written, the value before the visit is also reported as DRIVEKEEP_AFTER. */
        { { .wish = &wish, .setting = &row, .verdict = VERDICT_UNCHANGED, .before = KNOWN(127) },
          "MESSAGE=sda: apm = 127: unchanged (was 127)\n" OF(
                          "unchanged", "boot") "DRIVEKEEP_WANTED=127\nDRIVEKEEP_BEFORE=127\nDRIVEKEEP_AFTER=127\n" },
        { { .wish = &wish, .setting = &row, .verdict = VERDICT_UNVERIFIABLE, .before = KNOWN(254), .written = true },
          "MESSAGE=sda: apm = 127: unverifiable (was 254)\n" OF(
                          "unverifiable", "boot") "DRIVEKEEP_WANTED=127\nDRIVEKEEP_BEFORE=254\n" },
        { { .wish = &wish, .verdict = VERDICT_UNSUPPORTED, .reason = "no such thing", .before = KNOWN(1) },
          "MESSAGE=sda: apm = n/a: unsupported: no such thing\n" OF("unsupported",
                                                                    "boot") "DRIVEKEEP_REASON=no such thing\n" },
        { { .wish = &optional, .verdict = VERDICT_UNSUPPORTED, .reason = "no such thing" },
          "MESSAGE=sda: apm = n/a: unsupported: no such thing\n" OF("unsupported",
                                                                    "boot") "DRIVEKEEP_REASON=no such thing\n" },
        { { .wish = &withheld, .setting = &row, .verdict = VERDICT_FORBIDDEN, .reason = "the rule has errors" },
          "MESSAGE=sda: apm: forbidden: the rule has errors\n" OF("forbidden",
                                                                  "boot") "DRIVEKEEP_REASON=the rule has errors\n" },
        { { .wish = &wish, .setting = &row, .verdict = VERDICT_QUARANTINED, .reason = "it went down" },
          "MESSAGE=sda: apm = 127: quarantined: it went down\n" OF(
                          "quarantined", "boot") "DRIVEKEEP_WANTED=127\nDRIVEKEEP_REASON=it went down\n" },
        /* For a setting that comes from no file, DRIVEKEEP_RULE has no line number. */
        { { .wish = &of_no_file, .setting = &row, .verdict = VERDICT_APPLIED, .written = true },
          "MESSAGE=sda: apm = 127: applied\n" DISK
          "DRIVEKEEP_SETTING=apm\nDRIVEKEEP_VERDICT=applied\nDRIVEKEEP_VISIT=boot\n"
          "DRIVEKEEP_RULE=drivekeep tune\nDRIVEKEEP_WANTED=127\n" },
};

/* Returns the expected priority: low for success, high for failure. */
static int priority_of(const Step *s) {
        switch (s->verdict) {
        case VERDICT_UNCHANGED:
                return LOG_DEBUG;
        case VERDICT_UNVERIFIABLE:
                return s->written ? LOG_INFO : LOG_DEBUG;
        case VERDICT_APPLIED:
                return LOG_INFO;
        case VERDICT_ADJUSTED:
        case VERDICT_DRIFTED:
        case VERDICT_DEFERRED:
        case VERDICT_VANISHED:
                return LOG_NOTICE;
        case VERDICT_UNSUPPORTED:
                return s->wish->optional ? LOG_DEBUG : LOG_NOTICE;
        case VERDICT_QUARANTINED:
                return LOG_ERR;
        default:
                return LOG_WARNING;
        }
}

static const char *id_of(Verdict v) {
        return v == VERDICT_QUARANTINED ? JOURNAL_ID_QUARANTINED : JOURNAL_ID_SETTING;
}

START_TEST(test_step) {
        const Step *s = &steps[_i].step;

        journal_step(&disk, VISIT_BOOT, s);
        expect(priority_of(s), id_of(s->verdict), steps[_i].record);
}
END_TEST

/* For each verdict, the record has the expected fields. i == 0: the setting was not written; i == 1: it was written. */
START_TEST(test_verdict) {
        for (unsigned i = 0; i < 2; i++) {
                Step s = { .wish = &wish, .setting = &row, .verdict = (Verdict) _i, .written = i == 1 };
                char record[512];

                (void) snprintf(record, sizeof record,
                                "MESSAGE=sdb: apm = 127: %s\nDRIVEKEEP_DRIVE=sdb\nDRIVEKEEP_SETTING=apm\n"
                                "DRIVEKEEP_VERDICT=%s\nDRIVEKEEP_VISIT=reload\nDRIVEKEEP_RULE=/etc/f:3\n"
                                "DRIVEKEEP_WANTED=127\n",
                                verdict_to_string(s.verdict), verdict_to_string(s.verdict));
                journal_step(&bare, VISIT_RELOAD, &s);
                expect(priority_of(&s), id_of(s.verdict), record);
        }
}
END_TEST

static const struct {
        Verdict verdict;
        const char *reason, *outcome;
} drifts[] = {
        { VERDICT_APPLIED, "", "the value is restored." },
        { VERDICT_ADJUSTED, "to 128", "the value is restored." },
        { VERDICT_UNVERIFIABLE, "", "the value is restored." },
        { VERDICT_DRIFTED, "", "'drivekeep apply' restores the value." },
        { VERDICT_IGNORED, "", "the value could not be restored (ignored)." },
        { VERDICT_REFUSED, "the drive aborted the command",
          "the value could not be restored (refused): the drive aborted the command." },
        { VERDICT_FAILED, "", "restoring the value failed, and the current value is not known." },
        { VERDICT_VANISHED, "pulled", "restoring the value failed, and the current value is not known: pulled." },
};

START_TEST(test_drift) {
        Step s = { .wish = &wish, .setting = &row, .verdict = drifts[_i].verdict };
        _cleanup_free_ char *record = NULL;

        (void) strcpy(s.reason, drifts[_i].reason);
        ck_assert_int_gt(asprintf(&record,
                                  "MESSAGE=sda: apm has drifted from 127 to 254; %s\n" OF(
                                                  "%s", "recheck") "DRIVEKEEP_DRIFT_FROM=127\nDRIVEKEEP_DRIFT_TO=254\n",
                                  drifts[_i].outcome, verdict_to_string(s.verdict)),
                         0);
        journal_drift(&disk, VISIT_RECHECK, &s, "127", "254");
        expect(LOG_WARNING, JOURNAL_ID_DRIFT, record);
}
END_TEST

/* ---- a drive ---- */

static const struct {
        const Drive *drive;
        VisitSummary summary;
        int priority;
        const char *record;
} visits[] = {
        { &bare, {}, LOG_DEBUG, "MESSAGE=sdb (n/a n/a): visited at boot: nothing to do\nDRIVEKEEP_DRIVE=sdb\n" },
        { &disk,
          { .n_verdicts = { [VERDICT_UNCHANGED] = 2 } },
          LOG_DEBUG,
          "MESSAGE=sda (M S): visited at boot: 2 unchanged\n" DISK },
        { &disk,
          { .n_verdicts = { [VERDICT_APPLIED] = 1, [VERDICT_UNCHANGED] = 12 }, .n_written = 1 },
          LOG_INFO,
          "MESSAGE=sda (M S): visited at boot: 1 applied, 12 unchanged\n" DISK },
        { &disk,
          { .n_verdicts = { [VERDICT_REFUSED] = 1, [VERDICT_UNCHANGED] = 1 }, .n_written = 1 },
          LOG_NOTICE,
          "MESSAGE=sda (M S): visited at boot: 1 unchanged, 1 refused\n" DISK },
        { &disk,
          { .n_verdicts = { [VERDICT_VANISHED] = 1 } },
          LOG_NOTICE,
          "MESSAGE=sda (M S): visited at boot: 1 vanished\n" DISK },
};

START_TEST(test_visit) {
        char record[512];

        (void) snprintf(record, sizeof record, "%sDRIVEKEEP_VISIT=boot\n", visits[_i].record);
        journal_visit(visits[_i].drive, VISIT_BOOT, &visits[_i].summary);
        expect(visits[_i].priority, JOURNAL_ID_VISIT, record);
}
END_TEST

#define CHECK "systemd-fsck@x.service"

static const struct {
        Wait wait;
        bool deferred;
        int priority;
        const char *id, *record;
} waits[] = {
        { { WAIT_CHECK, CHECK },
          false,
          LOG_INFO,
          JOURNAL_ID_WAITING,
          "MESSAGE=sda: waiting for " CHECK " before the visit starts.\n" DISK
          "DRIVEKEEP_WAITING_KIND=check\nDRIVEKEEP_WAITING_FOR=" CHECK "\n" },
        { { WAIT_CHECK, CHECK },
          true,
          LOG_WARNING,
          JOURNAL_ID_WAITING,
          "MESSAGE=sda: still waiting for " CHECK "; the drive's settings are deferred until the wait ends.\n" DISK
          "DRIVEKEEP_WAITING_KIND=check\nDRIVEKEEP_WAITING_FOR=" CHECK "\n" },
        { { .kind = WAIT_UDEV }, false, LOG_INFO, JOURNAL_ID_UNREADY, NULL },
        { { .kind = WAIT_SYSTEMD }, true, LOG_WARNING, JOURNAL_ID_UNREADY, NULL },
};

START_TEST(test_waiting) {
        const Wait w = waits[_i].wait;
        char record[512];

        (void) snprintf(record, sizeof record, "MESSAGE=sda: %s %s%s\n" DISK "DRIVEKEEP_WAITING_KIND=%s\n",
                        waits[_i].deferred ? "still waiting for" : "waiting for", wait_describe(w),
                        waits[_i].deferred ? "; the drive's settings are deferred until the wait ends."
                                           : " before the visit starts.",
                        wait_kind_to_string(w.kind));
        journal_waiting(&disk, w, waits[_i].deferred);
        expect(waits[_i].priority, waits[_i].id, waits[_i].record ?: record);
}
END_TEST

#define SMART \
        { 0x85, 8, 0x0e, 0, 0xd0, 0, 1, 0, 0, 0, 0x4f, 0, 0xc2, 0, 0xb0, 0 }
#define SECOND UINT64_C(1000000)

static const struct {
        const Drive *drive;
        Wake wake;
        uint64_t slept;
        const char *record;
} wakes[] = {
        /* A wake with all fields. */
        { &disk,
          { .kind = WAKE_WRITE,
            .process = { .pid = 812, .comm = "dd", .unit = "backup.service", .command_line = "dd if=a of=b" },
            .thread = "md0_raid1",
            .has_sector = true,
            .content = true,
            .sector = 2048,
            .inode = 12,
            .cdb = { 0x2a, 0, 0, 0, 8, 0, 0, 0, 8, 0 },
            .cdb_len = 10 },
          11279 * SECOND,
          "MESSAGE=sda: woken after at least 3 h 7 min in standby: dd (PID 812, backup.service) wrote sector 2048 "
          "by way of md0_raid1.\n" DISK "DRIVEKEEP_STANDBY_USEC=11279000000\nDRIVEKEEP_WAKE_KIND=write\n"
          "DRIVEKEEP_WAKE_WHAT=wrote sector 2048 by way of md0_raid1\nDRIVEKEEP_WAKE_PROCESS=dd\n"
          "DRIVEKEEP_WAKE_PID=812\nDRIVEKEEP_WAKE_UNIT=backup.service\n"
          "DRIVEKEEP_WAKE_COMMAND_LINE=dd if=a of=b\nDRIVEKEEP_WAKE_THREAD=md0_raid1\nDRIVEKEEP_WAKE_SENT=WRITE\n"
          "DRIVEKEEP_WAKE_SECTOR=2048\nDRIVEKEEP_WAKE_INODE=12\nDRIVEKEEP_WAKE_CONTENT=1\n" },
        /* A wake without any optional field. */
        { &bare,
          { .kind = WAKE_READ },
          0,
          "MESSAGE=sdb: woken after at least 0 s in standby: an unknown process read from the drive.\n"
          "DRIVEKEEP_DRIVE=sdb\nDRIVEKEEP_STANDBY_USEC=0\nDRIVEKEEP_WAKE_KIND=read\n"
          "DRIVEKEEP_WAKE_WHAT=read from the drive\n" },
        /* For a process that has ended, the record has only PID and name. Sector 0 is reported like any other
         * sector. */
        { &bare,
          { .kind = WAKE_READ, .process = { .pid = 7, .comm = "cat" }, .has_sector = true },
          120 * SECOND - 1,
          "MESSAGE=sdb: woken after at least 119 s in standby: cat (PID 7) read sector 0.\n"
          "DRIVEKEEP_DRIVE=sdb\nDRIVEKEEP_STANDBY_USEC=119999999\nDRIVEKEEP_WAKE_KIND=read\n"
          "DRIVEKEEP_WAKE_WHAT=read sector 0\nDRIVEKEEP_WAKE_PROCESS=cat\nDRIVEKEEP_WAKE_PID=7\n"
          "DRIVEKEEP_WAKE_SECTOR=0\n" },
        { &bare,
          { .kind = WAKE_COMMAND,
            .process = { .pid = 7, .unit = "smartd.service", .command_line = "/usr/sbin/smartd -n" },
            .cdb = SMART,
            .cdb_len = 16 },
          120 * SECOND,
          "MESSAGE=sdb: woken after at least 2 min in standby: a process (PID 7, smartd.service) sent SMART READ DATA.\n"
          "DRIVEKEEP_DRIVE=sdb\nDRIVEKEEP_STANDBY_USEC=120000000\nDRIVEKEEP_WAKE_KIND=command\n"
          "DRIVEKEEP_WAKE_WHAT=sent SMART READ DATA\nDRIVEKEEP_WAKE_PID=7\nDRIVEKEEP_WAKE_UNIT=smartd.service\n"
          "DRIVEKEEP_WAKE_COMMAND_LINE=/usr/sbin/smartd -n\nDRIVEKEEP_WAKE_SENT=SMART READ DATA\n" },
        { &bare,
          { .kind = WAKE_FLUSH, .process = { .comm = "vim" }, .thread = "kworker/u8:2", .inode = UINT64_MAX },
          7200 * SECOND - 1,
          "MESSAGE=sdb: woken after at least 119 min in standby: vim changed inode 18446744073709551615, and "
          "kworker/u8:2 wrote the change to the drive.\n"
          "DRIVEKEEP_DRIVE=sdb\nDRIVEKEEP_STANDBY_USEC=7199999999\nDRIVEKEEP_WAKE_KIND=flush\n"
          "DRIVEKEEP_WAKE_WHAT=changed inode 18446744073709551615, and kworker/u8:2 wrote the change to the drive\n"
          "DRIVEKEEP_WAKE_PROCESS=vim\nDRIVEKEEP_WAKE_THREAD=kworker/u8:2\n"
          "DRIVEKEEP_WAKE_INODE=18446744073709551615\n" },
        { &bare,
          { .kind = WAKE_FLUSH, .thread = "jbd2/sdb1-8" },
          60 * SECOND,
          "MESSAGE=sdb: woken after at least 60 s in standby: the kernel thread jbd2/sdb1-8 wrote data that an "
          "unknown process had changed.\n"
          "DRIVEKEEP_DRIVE=sdb\nDRIVEKEEP_STANDBY_USEC=60000000\nDRIVEKEEP_WAKE_KIND=flush\n"
          "DRIVEKEEP_WAKE_WHAT=wrote data that an unknown process had changed\nDRIVEKEEP_WAKE_THREAD=jbd2/sdb1-8\n" },
        { &bare,
          { .kind = WAKE_SWAP, .thread = "kswapd0" },
          7200 * SECOND,
          "MESSAGE=sdb: woken after at least 2 h 0 min in standby: the kernel thread kswapd0 needed swap space.\n"
          "DRIVEKEEP_DRIVE=sdb\nDRIVEKEEP_STANDBY_USEC=7200000000\nDRIVEKEEP_WAKE_KIND=swap\n"
          "DRIVEKEEP_WAKE_WHAT=needed swap space\nDRIVEKEEP_WAKE_THREAD=kswapd0\n" },
        { &bare,
          { .kind = WAKE_MD, .thread = "md0_resync", .has_sector = true, .sector = UINT64_MAX },
          270000 * SECOND,
          "MESSAGE=sdb: woken after at least 75 h 0 min in standby: the kernel thread md0_resync worked on the drive's array.\n"
          "DRIVEKEEP_DRIVE=sdb\nDRIVEKEEP_STANDBY_USEC=270000000000\nDRIVEKEEP_WAKE_KIND=md\n"
          "DRIVEKEEP_WAKE_WHAT=worked on the drive's array\nDRIVEKEEP_WAKE_THREAD=md0_resync\n"
          "DRIVEKEEP_WAKE_SECTOR=18446744073709551615\n" },
        { &bare,
          { .kind = WAKE_UDEV, .process = { .pid = 300, .comm = "(udev-worker)", .unit = "systemd-udevd.service" } },
          SECOND,
          "MESSAGE=sdb: woken after at least 1 s in standby: (udev-worker) (PID 300, systemd-udevd.service) probed the drive, as "
          "udev does after a program had the drive open for writing.\n"
          "DRIVEKEEP_DRIVE=sdb\nDRIVEKEEP_STANDBY_USEC=1000000\nDRIVEKEEP_WAKE_KIND=udev\n"
          "DRIVEKEEP_WAKE_WHAT=probed the drive, as udev does after a program had the drive open for writing\n"
          "DRIVEKEEP_WAKE_PROCESS=(udev-worker)\nDRIVEKEEP_WAKE_PID=300\n"
          "DRIVEKEEP_WAKE_UNIT=systemd-udevd.service\n" },
        /* A line feed in the name of a process must not begin a new field. */
        { &bare,
          { .kind = WAKE_READ,
            .process = { .pid = 7, .comm = "a\nMESSAGE=b", .command_line = "a\nPRIORITY=0\t\x1b" },
            .thread = "c\nd" },
          0,
          "MESSAGE=sdb: woken after at least 0 s in standby: a\\x0aMESSAGE=b (PID 7) read from the drive by way of c\\x0ad.\n"
          "DRIVEKEEP_DRIVE=sdb\nDRIVEKEEP_STANDBY_USEC=0\nDRIVEKEEP_WAKE_KIND=read\n"
          "DRIVEKEEP_WAKE_WHAT=read from the drive by way of c\\x0ad\nDRIVEKEEP_WAKE_PROCESS=a\\x0aMESSAGE=b\n"
          "DRIVEKEEP_WAKE_PID=7\nDRIVEKEEP_WAKE_COMMAND_LINE=a\\x0aPRIORITY=0\\x09\\x1b\n"
          "DRIVEKEEP_WAKE_THREAD=c\\x0ad\n" },
};

START_TEST(test_wake) {
        journal_wake(wakes[_i].drive, &wakes[_i].wake, wakes[_i].slept);
        expect(LOG_INFO, JOURNAL_ID_WAKE, wakes[_i].record);
}
END_TEST

/* The record about a program that keeps a drive active has the time by which the command finds the records of one count. */
START_TEST(test_active) {
        const Wake w = { .kind = WAKE_COMMAND,
                         .process = { .comm = "smartctl", .unit = "smartd.service" },
                         .cdb = { 0x85, [4] = 0xd0, [14] = 0xb0 },
                         .cdb_len = 16 },
                   kernel = { .kind = WAKE_SWAP, .thread = "kswapd0" };

        journal_active(&disk, &w, 170, 2560 * 1000000ULL, 1763692600000000);
        expect(LOG_INFO, JOURNAL_ID_ACTIVE,
               "MESSAGE=sda: kept active: smartctl (smartd.service) sent SMART READ DATA, every 15 s.\n" DISK
               "DRIVEKEEP_ACTIVE_WHEN=1763692600000000\nDRIVEKEEP_ACTIVE_USEC=2560000000\nDRIVEKEEP_ACTIVE_TIMES=170\n"
               "DRIVEKEEP_WAKE_KIND=command\nDRIVEKEEP_WAKE_WHAT=sent SMART READ DATA\nDRIVEKEEP_WAKE_PROCESS=smartctl\n"
               "DRIVEKEEP_WAKE_UNIT=smartd.service\nDRIVEKEEP_WAKE_SENT=SMART READ DATA\n");
        journal_active(&disk, &kernel, 1, 2560 * 1000000ULL, 1);
        expect(LOG_INFO, JOURNAL_ID_ACTIVE,
               "MESSAGE=sda: kept active: the kernel thread kswapd0 needed swap space, once in 42 min.\n" DISK
               "DRIVEKEEP_ACTIVE_WHEN=1\nDRIVEKEEP_ACTIVE_USEC=2560000000\nDRIVEKEEP_ACTIVE_TIMES=1\n"
               "DRIVEKEEP_WAKE_KIND=swap\nDRIVEKEEP_WAKE_WHAT=needed swap space\nDRIVEKEEP_WAKE_THREAD=kswapd0\n");
}
END_TEST

/* The records about a spin-down by the service have the expected priorities and messages. */
START_TEST(test_spindown) {
        const Wake w = { .kind = WAKE_READ, .process = { .pid = 7, .comm = "du", .unit = "cron.service" } };

        journal_spindown(&disk, LOG_WARNING, "it cannot be put into standby: %s.", "no");
        expect(LOG_WARNING, JOURNAL_ID_SPINDOWN, "MESSAGE=sda: it cannot be put into standby: no.\n" DISK);
        journal_no_spin_down(&disk, &w);
        expect(LOG_NOTICE, JOURNAL_ID_SPINDOWN,
               "MESSAGE=sda: not spun down for the next hour: woken within ten minutes after each of three consecutive spin-downs, last "
               "when du (PID 7, cron.service) read from the drive.\n" DISK);
        journal_no_spin_down(&disk, NULL);
        expect(LOG_NOTICE, JOURNAL_ID_SPINDOWN,
               "MESSAGE=sda: not spun down for the next hour: woken within ten minutes after each of three consecutive spin-downs.\n" DISK);
}
END_TEST

START_TEST(test_storm) {
        journal_storm(&disk, VISIT_RESET, 10);
        expect(LOG_WARNING, JOURNAL_ID_STORM,
               "MESSAGE=sda: visits are limited to one every 10 minutes: the drive was disturbed too often, most recently by a reset.\n" DISK
               "DRIVEKEEP_VISIT=reset\n");
}
END_TEST

/* The record about a quarantined value contains model and serial number. If a drive gets no more commands, and its
 * model and serial number are not known, the record calls it "n/a n/a". */
START_TEST(test_quarantined) {
        const GuardRecord known = { .model = (char *) "M", .serial = (char *) "S" }, unknown = {};
        const GuardEntry e = { .setting = (char *) "apm", .value = (char *) "127", .why = (char *) "it went down" };

        journal_quarantined(&known, &e);
        expect(LOG_ERR, JOURNAL_ID_QUARANTINED,
               "MESSAGE=M S: apm = 127 is quarantined, because it went down; run 'drivekeep release', or configure another "
               "value.\nDRIVEKEEP_SERIAL=S\nDRIVEKEEP_MODEL=M\n"
               "DRIVEKEEP_VERDICT=quarantined\nDRIVEKEEP_REASON=it went down\nDRIVEKEEP_SETTING=apm\n"
               "DRIVEKEEP_WANTED=127\n");
        journal_quarantined(&unknown, NULL);
        expect(LOG_ERR, JOURNAL_ID_EXCLUDED,
               "MESSAGE=n/a n/a: no commands are sent until 'drivekeep release': " GUARD_EXCLUDED_REASON
               ".\nDRIVEKEEP_VERDICT=quarantined\n"
               "DRIVEKEEP_REASON=" GUARD_EXCLUDED_REASON "\n");
}
END_TEST

/* The kernel logs the same events, so the records have the lowest level. */
START_TEST(test_presence) {
        journal_attached(&disk);
        expect(LOG_DEBUG, JOURNAL_ID_ATTACHED, "MESSAGE=sda (M S): attached\n" DISK);
        journal_gone(&bare);
        expect(LOG_DEBUG, JOURNAL_ID_GONE, "MESSAGE=sdb (n/a n/a): no longer attached\nDRIVEKEEP_DRIVE=sdb\n");
}
END_TEST

START_TEST(test_worker) {
        journal_worker(&disk, "it ended by signal %d", 9);
        expect(LOG_ERR, JOURNAL_ID_WORKER, "MESSAGE=sda: it ended by signal 9\n" DISK);
}
END_TEST

/* ---- the service ---- */

static const struct {
        size_t n_drives, n_rules;
        const char *message;
} starts[] = {
        { 0, 1, "MESSAGE=Managing 0 drives with 1 rule.\n" },
        { 1, 2, "MESSAGE=Managing 1 drive with 2 rules.\n" },
};

START_TEST(test_started) {
        journal_started(starts[_i].n_drives, starts[_i].n_rules);
        expect(LOG_INFO, JOURNAL_ID_STARTED, starts[_i].message);
}
END_TEST

static const struct {
        ComplaintLevel level;
        int priority;
        const char *word;
} levels[] = {
        { COMPLAINT_ERROR, LOG_ERR, "error" },
        { COMPLAINT_WARNING, LOG_WARNING, "warning" },
        { COMPLAINT_NOTICE, LOG_NOTICE, "notice" },
};

START_TEST(test_complaint) {
        const Complaint c = { .level = levels[_i].level,
                              .file = (char *) "/etc/f",
                              .line = 3,
                              .column = 7,
                              .sentence = (char *) "It is wrong." };
        char record[128];

        (void) snprintf(record, sizeof record, "MESSAGE=/etc/f:3:7: %s: It is wrong.\nDRIVEKEEP_RULE=/etc/f:3\n",
                        levels[_i].word);
        journal_complaint(&c);
        expect(levels[_i].priority, JOURNAL_ID_CONFIGURATION, record);
}
END_TEST

/* A line feed in a message must not begin another field of the record. The record has the priority that the caller
 * chooses. */
START_TEST(test_log) {
        journal_log(_i, "%s\nDRIVEKEEP_DRIVE=%d", "one", 2);
        expect(_i, NULL, "MESSAGE=one\\x0aDRIVEKEEP_DRIVE=2\n");
}
END_TEST

static bool log_once(Injected what, size_t nth) {
        bool failed;

        n_told = 0;
        inject_arm(what, nth);
        journal_log(LOG_ERR, "%s", "one");
        failed = inject_disarm();
        ck_assert_uint_eq(n_told, 1);
        if (!failed)
                expect(LOG_ERR, NULL, "MESSAGE=one\n");
        else
                ck_assert(ends_with(last_record, "\n") &&
                          !streq(last_record, "PRIORITY=3\nSYSLOG_IDENTIFIER=drivekeepd\nMESSAGE=one\n"));
        return failed;
}

/* If memory runs out for one field, only this field is missing. If memory runs out for the message or for everything,
 * the record is lost. */
START_TEST(test_no_memory) {
        const Complaint c = { .level = COMPLAINT_ERROR, .file = (char *) "f", .sentence = (char *) "It is wrong." };

        ck_assert_uint_gt(inject_each(log_once, INJECT_MEMORY), 6);
        n_told = 0;
        inject_arm(INJECT_MEMORY, 1);
        journal_complaint(&c);
        ck_assert(inject_disarm());
        inject_arm(INJECT_MEMORY, 1);
        inject_stay();
        journal_log(LOG_ERR, "one");
        ck_assert(inject_disarm());
        ck_assert_uint_eq(n_told, 0);
}
END_TEST

/* journal_finish() waits for half a second and closes the socket. */
START_TEST(test_socket) {
        journal_attach((sd_event *) last_record);
        journal_finish();
        ck_assert_str_eq(all_done(), "attach:1 finish:500 done ");
}
END_TEST

int main(void) {
        Suite *s = suite_create("journal-records");
        TCase *t = tcase_create("journal-records");

        tcase_add_loop_test(t, test_step, 0, ELEMENTSOF(steps));
        tcase_add_loop_test(t, test_verdict, 0, _VERDICT_MAX);
        tcase_add_loop_test(t, test_drift, 0, ELEMENTSOF(drifts));
        tcase_add_loop_test(t, test_visit, 0, ELEMENTSOF(visits));
        tcase_add_loop_test(t, test_waiting, 0, ELEMENTSOF(waits));
        tcase_add_loop_test(t, test_wake, 0, ELEMENTSOF(wakes));
        tcase_add_test(t, test_active);
        tcase_add_test(t, test_spindown);
        tcase_add_test(t, test_storm);
        tcase_add_test(t, test_quarantined);
        tcase_add_test(t, test_presence);
        tcase_add_test(t, test_worker);
        tcase_add_loop_test(t, test_started, 0, ELEMENTSOF(starts));
        tcase_add_loop_test(t, test_complaint, 0, ELEMENTSOF(levels));
        tcase_add_loop_test(t, test_log, LOG_EMERG, LOG_DEBUG + 1);
        tcase_add_test(t, test_no_memory);
        tcase_add_test(t, test_socket);
        suite_add_tcase(s, t);

        return suite_run(s);
}
