/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The crash guard's files, written from the daemon's event loop. */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "clock.h"
#include "guard-note.h"
#include "guard.h"
#include "journal.h"
#include "suite.h"
#include "timer.h"

static char dir[] = "/tmp/test-guard-store-XXXXXX";
static unsigned n_quarantined, n_alone, n_warnings;

/* Replacements for the functions that write to the journal. */
void journal_quarantined(const GuardRecord *d _unused_, const GuardEntry *e) {
        *(e ? &n_quarantined : &n_alone) += 1;
}

void journal_log(int priority _unused_, const char *format _unused_, ...) {
        n_warnings++;
}

static const Setting rows[] = { { .name = "apm", .danger = "none in truth" }, { .name = "lookahead" }, {} };
static const SettingTable table = { .tables = { rows } };
static Drive drive_a = { .name = (char *) "sda",
                         .model = (char *) "M",
                         .serial = (char *) "A",
                         .syspath = (char *) "/sys/a",
                         .diskseq = 3 };

/* Simulates storage that hangs: while this pipe exists, the writer waits for a reader of the pipe. */
static char stuck[sizeof dir + 6];

static void storage_stuck(void) {
        (void) snprintf(stuck, sizeof stuck, "%s.stuck", dir);
        ck_assert_int_eq(mkfifo(stuck, 0600), 0);
}

static void storage_answers(void) {
        ck_assert_int_ge(open(stuck, O_RDONLY | O_NONBLOCK | O_CLOEXEC), 0);
        ck_assert_int_eq(unlink(stuck), 0);
}

int __real_file_replace(int dir_fd, const char *name, const char *text, bool sync);
int __wrap_file_replace(int dir_fd, const char *name, const char *text, bool sync);
int __wrap_file_replace(int dir_fd, const char *name, const char *text, bool sync) {
        _cleanup_close_ int fd = open(stuck, O_WRONLY | O_CLOEXEC);

        return __real_file_replace(dir_fd, name, text, sync);
}

/* Result of the last guarded_intend(); 1: no result yet. on_stored() stores the result here, since the tests pass
 * &answer to guard_attach(). */
static int answer;

static void on_stored(void *userdata, int error) {
        *(int *) userdata = error;
}

typedef struct Run {
        sd_event *event;
        Guard *guard;
        GuardedDrive *drive;
} Run;

static Run run_start(const char *boot_id, const Drive *d) {
        Run r = {};
        sigset_t mask;

        (void) sigemptyset(&mask);
        (void) sigaddset(&mask, SIGCHLD);
        ck_assert_int_eq(sigprocmask(SIG_BLOCK, &mask, NULL), 0);
        ck_assert_int_eq(sd_event_new(&r.event), 0);
        ck_assert_int_eq(guard_new(r.event, dir, boot_id, &table, on_stored, &r.guard), 0);
        if (d)
                ck_assert_int_eq(guard_attach(r.guard, d, &answer, &r.drive), 0);
        guard_judge(r.guard);
        return r;
}

/* Runs the event loop, without a time limit, until every writer process has ended and its end was handled. */
static void run_to_rest(Run *r) {
        siginfo_t si;

        do {
                while (sd_event_run(r->event, 10 * 1000) > 0)
                        ;
        } while (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) >= 0);
}

static void run_end(Run *r) {
        (void) guard_free(r->guard);
        sd_event_unref(r->event);
        /* Waits for writers that are still running. */
        while (waitpid(-1, NULL, 0) > 0)
                ;
}

static int intend(Run *r, const char *setting, const char *value) {
        int k;

        answer = 1;
        k = guarded_intend(r->drive, setting, value);
        if (k != 0)
                return MIN(k, 0);
        ck_assert_int_eq(answer, 1); /* guarded_intend() does not call on_stored() itself */
        for (int turn = 0; turn < 100 && answer == 1; turn++)
                ck_assert_int_ge(sd_event_run(r->event, 100 * 1000), 0);
        return answer;
}

static unsigned count_files(void) {
        FILE *f;
        unsigned n;
        char command[64];

        (void) snprintf(command, sizeof command, "ls %s | wc -l", dir);
        f = popen(command, "r");
        ck_assert_int_eq(fscanf(f, "%u", &n), 1);
        (void) pclose(f);
        return n;
}

static void setup(void) {
        (void) snprintf(dir, sizeof dir, "/tmp/test-guard-store-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(dir));
        n_quarantined = n_alone = n_warnings = 0;
}

static void teardown(void) {
        char command[64];

        (void) snprintf(command, sizeof command, "rm -rf %s", dir);
        ck_assert_int_eq(system(command), 0);
}

START_TEST(test_life) {
        Run r = run_start("boot", &drive_a);

        guarded_visit(r.drive, true);
        ck_assert_int_eq(intend(&r, "apm", "127"), 0);
        ck_assert_uint_eq(count_files(), 1);
        ck_assert_ptr_null(guarded_quarantined(r.drive, "apm", "127"));

        /* guarded_clear() has no effect during a visit: the note stays. */
        guarded_clear(r.drive);
        run_to_rest(&r);
        ck_assert_uint_eq(count_files(), 1);
        guarded_visit(r.drive, false);
        run_to_rest(&r);
        ck_assert_uint_eq(count_files(), 1);
        guarded_clear(r.drive);
        run_to_rest(&r);
        ck_assert_uint_eq(count_files(), 0);
        ck_assert_uint_eq(n_quarantined + n_warnings, 0);
        run_end(&r);
}
END_TEST

static const struct {
        const char *boot_id;
        bool present;
        uint64_t diskseq;
        bool quarantined;
} restarts[] = {
        { "boot", true, 3, false },
        { "boot", true, 4, true },
        { "boot", false, 0, true },
        { "other", true, 3, true },
};

START_TEST(test_restart) {
        Drive again = drive_a;
        Run r = run_start("boot", &drive_a);

        ck_assert_int_eq(intend(&r, "apm", "127"), 0);
        run_end(&r); /* like a kill of the daemon, this clears no note */

        again.diskseq = restarts[_i].diskseq;
        r = run_start(restarts[_i].boot_id, restarts[_i].present ? &again : NULL);
        /* The note of an absent drive causes a quarantine only when the drive appears. */
        ck_assert_uint_eq(n_quarantined, restarts[_i].quarantined && restarts[_i].present);
        run_to_rest(&r);
        run_end(&r);

        /* The quarantine persists, and is logged once. */
        r = run_start("a later boot", &again);
        if (restarts[_i].quarantined) {
                ck_assert_uint_eq(n_quarantined, 1);
                ck_assert_ptr_nonnull(guarded_quarantined(r.drive, "apm", "127"));
                ck_assert_ptr_null(guarded_quarantined(r.drive, "apm", "128"));
                ck_assert_uint_eq(guarded_release(r.drive, "lookahead"), 0);
                ck_assert_uint_eq(guarded_release(r.drive, "apm"), 1);
                ck_assert_ptr_null(guarded_quarantined(r.drive, "apm", "127"));
                run_to_rest(&r);
                /* If the drive was absent in the second run, its note also counts a crash of the machine. This note
                 * stays until the next boot, even after the value is released. */
                ck_assert_uint_eq(count_files(), !restarts[_i].present);
        }
        run_end(&r);
}
END_TEST

/* The daemon is killed during the write of a dangerous value. After the restart of the daemon, the drive disappears,
 * either at once or after a visit has noted the value again. The value is quarantined. */
START_TEST(test_restart_and_lost) {
        Run r = run_start("boot", &drive_a);

        guarded_visit(r.drive, true);
        ck_assert_int_eq(intend(&r, "apm", "127"), 0);
        guarded_underway(r.drive, "apm", "127");
        run_end(&r);

        r = run_start("boot", &drive_a);
        if (_i == 1) {
                guarded_visit(r.drive, true);
                ck_assert_int_eq(intend(&r, "apm", "127"), 0);
        }
        guarded_lost(r.drive);
        ck_assert_uint_eq(n_quarantined, 1);
        ck_assert_ptr_nonnull(guarded_quarantined(r.drive, "apm", "127"));
        run_to_rest(&r);
        ck_assert_uint_eq(count_files(), 1);
        run_end(&r);
}
END_TEST

/* guarded_keep() stores a text about a drive in a separate file. A new text replaces the earlier text. A failed write
 * is not repeated. */
START_TEST(test_kept) {
        _cleanup_free_ char *kept = NULL;
        Run r = run_start("boot", &drive_a);

        ck_assert_ptr_null(guarded_kept(r.drive));
        guarded_keep(r.drive, strdup("first\n"));
        guarded_keep(r.drive, strdup("second\n")); /* replaces the first text, which is being written */
        run_to_rest(&r);
        ck_assert_uint_eq(count_files(), 1);
        run_end(&r);

        r = run_start("another boot", &drive_a);
        kept = guarded_kept(r.drive);
        ck_assert_str_eq(kept, "second\n");
        guarded_visit(r.drive, true);
        ck_assert_int_eq(intend(&r, "apm", "127"), 0);
        ck_assert_uint_eq(count_files(), 2);
        guarded_visit(r.drive, false);
        ck_assert(guarded_clear(r.drive));
        run_to_rest(&r);
        ck_assert_uint_eq(count_files(), 1);
        run_end(&r);
}
END_TEST

START_TEST(test_kept_fails) {
        char elsewhere[sizeof dir + 2];
        Run r = run_start("boot", &drive_a);

        (void) snprintf(elsewhere, sizeof elsewhere, "%s.x", dir);
        ck_assert_int_eq(rename(dir, elsewhere), 0);
        guarded_keep(r.drive, strdup("text\n"));
        guard_flush(r.guard, monotonic_usec() + 60000000);
        ck_assert_uint_gt(n_warnings, 0);
        ck_assert_int_eq(rename(elsewhere, dir), 0);
        guard_flush(r.guard, monotonic_usec() + 60000000);
        ck_assert_uint_eq(count_files(), 0);
        run_end(&r);
}
END_TEST

static const char quarantine[] = "VERSION=2\nKEY=%s\nENTRIES=1\n"
                                 "ENTRY_0_SETTING=apm\nENTRY_0_VALUE=127\nENTRY_0_QUARANTINED=1\nENTRY_0_WHY=x\n";

static void note_write(const Drive *d) {
        _cleanup_free_ char *key = NULL, *path = NULL;
        FILE *f;

        ck_assert_int_eq(guard_key(d, &key), 0);
        ck_assert_int_ge(asprintf(&path, "%s/%s", dir, key), 0);
        f = fopen(path, "w");
        ck_assert_ptr_nonnull(f);
        ck_assert_int_gt(fprintf(f, quarantine, key), 0);
        ck_assert_int_eq(fclose(f), 0);
}

/* Two block devices with the same key of the crash guard. If `one` is true, they are two paths to one drive; otherwise
 * they are two drives ("twins"). */
#define PATH_A "/sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda"
#define PATH_B "/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdb"
#define PLUG_B "ID_PATH=pci-0000:00:14.0-usb-0:1:1.0-scsi-0:0:0:0"
#define PATH_B_AGAIN "/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host9/target9:0:0/9:0:0:0/block/sdf"
static const struct {
        const char *name, *wwn, *other_serial;
        Transport transport, other;
        uint64_t other_size;
        bool ata, one;
} twins[] = {
        { "SAS, two ports", "0x5000", "A", TRANSPORT_SAS, TRANSPORT_SAS, 7, false, true },
        { "Fibre Channel, iSCSI", "0x5000", "A", TRANSPORT_SCSI, TRANSPORT_SCSI, 7, false, true },
        { "NVMe, two controllers", "eui.1", "A", TRANSPORT_NVME, TRANSPORT_NVME, 7, false, true },
        { "SAS, another serial number", "0x5000", "B", TRANSPORT_SAS, TRANSPORT_SAS, 7, false, false },
        { "SAS, another size", "0x5000", "A", TRANSPORT_SAS, TRANSPORT_SAS, 8, false, false },
        { "SAS, no WWN", NULL, "A", TRANSPORT_SAS, TRANSPORT_SAS, 7, false, false },
        { "SATA behind SAS", "0x5000", "A", TRANSPORT_SAS, TRANSPORT_SAS, 7, true, false },
        { "SATA, one WWN for all", "0x5000", "B", TRANSPORT_SATA, TRANSPORT_SATA, 7, true, false },
        { "bridges", NULL, "A", TRANSPORT_USB, TRANSPORT_USB, 7, false, false },
        { "a disk and a stick", NULL, "A", TRANSPORT_SATA, TRANSPORT_USB, 7, true, false },
};

static void twins_make(unsigned i, Drive *a, Drive *b) {
        *a = drive_a;
        a->wwn = (char *) twins[i].wwn;
        a->transport = twins[i].transport;
        a->ata = twins[i].ata;
        a->size = 7;
        a->syspath = (char *) PATH_A;

        *b = *a;
        b->name = (char *) "sdb";
        b->syspath = (char *) PATH_B;
        b->properties = (char *) PLUG_B;
        b->properties_size = sizeof PLUG_B;
        b->diskseq = 9;
        b->transport = twins[i].other;
        b->size = twins[i].other_size;
        b->serial = (char *) twins[i].other_serial;
}

/* Starts the daemon in a new boot in which `first` and then `second` appear. `first` is NULL if only `second` appears.
 * Returns true if apm = 127 is quarantined for `second`. */
static bool is_quarantined(const Drive *first, const Drive *second) {
        GuardedDrive *d;
        bool found;
        Run r = run_start("later", NULL);

        if (first)
                ck_assert_int_eq(guard_attach(r.guard, first, &answer, &d), 0);
        ck_assert_int_eq(guard_attach(r.guard, second, &answer, &d), 0);
        found = guarded_quarantined(d, "apm", "127");
        guard_flush(r.guard, UINT64_MAX);
        run_end(&r);
        return found;
}

START_TEST(test_twins) {
        bool one = twins[_i].one;
        GuardedDrive *second;
        Drive a, b;
        Run r;

        twins_make(_i, &a, &b);
        r = run_start("boot", &a);
        guarded_visit(r.drive, true);
        ck_assert_int_eq(intend(&r, "apm", "128"), 0);
        ck_assert_uint_eq(count_files(), 1);

        /* The second drive or path appears while the first drive or path has a note. */
        ck_assert_int_eq(guard_attach(r.guard, &b, &answer, &second), 0);
        ck_assert_msg((guarded_other_path(second) != NULL) == one, "%s", twins[_i].name);
        ck_assert_uint_eq(n_warnings, !one);
        if (!one) {
                GuardedDrive *first = r.drive;

                /* The second drive is unplugged during a dangerous write. The value is quarantined, and is still
                 * quarantined when the drive is plugged in again. */
                guarded_visit(second, true);
                r.drive = second;
                ck_assert_int_eq(intend(&r, "apm", "127"), 0);
                ck_assert_uint_eq(count_files(), 1);
                guarded_underway(second, "apm", "127");
                guarded_lost(second);
                guarded_visit(second, false);
                guarded_detach(second);
                ck_assert_uint_eq(n_quarantined, 1);
                b.syspath = (char *) PATH_B_AGAIN;
                ck_assert_int_eq(guard_attach(r.guard, &b, &answer, &second), 0);
                ck_assert_ptr_nonnull(guarded_quarantined(second, "apm", "127"));

                /* The value is not quarantined for the first drive, whose note stays. The warning that the two drives
                 * have the same identity is logged only once. */
                ck_assert_ptr_null(guarded_quarantined(first, "apm", "127"));
                ck_assert(guarded_record(first)->visiting && guard_record_intends(guarded_record(first)));
                ck_assert_uint_eq(n_warnings, 1);
                guarded_visit(first, false);
                guarded_clear(first);
                guard_flush(r.guard, UINT64_MAX);
                run_end(&r);

                /* After a reboot, the value is quarantined only for the second drive. The order in which the two drives
                 * appear, and the absence of one drive, make no difference. */
                ck_assert(!is_quarantined(&b, &a) && !is_quarantined(NULL, &a));
                ck_assert(is_quarantined(&a, &b) && is_quarantined(NULL, &b));
                return;
        }
        run_end(&r);

        /* After a restart of the daemon, the second path to the drive appears first. Both paths share one record.
         * Nothing is quarantined, since the drive was attached all the time. */
        r = (Run){};
        ck_assert_int_eq(sd_event_new(&r.event), 0);
        ck_assert_int_eq(guard_new(r.event, dir, "boot", &table, on_stored, &r.guard), 0);
        ck_assert_int_eq(guard_attach(r.guard, &b, &answer, &r.drive), 0);
        ck_assert_int_eq(guard_attach(r.guard, &a, &answer, &second), 0);
        ck_assert_ptr_eq(guarded_record(r.drive), guarded_record(second));
        guard_judge(r.guard);
        ck_assert_uint_eq(n_quarantined, 0);
        run_end(&r);
}
END_TEST

/* Two drives have the same identity. The note was written while only one of them was known, but may concern either
 * drive. The value stays quarantined for both drives, in whichever order they appear. */
START_TEST(test_twin_comes) {
        Drive a, b;

        twins_make(_i, &a, &b);
        if (twins[_i].one)
                return;
        note_write(&a);
        ck_assert(is_quarantined(NULL, &a));
        ck_assert(is_quarantined(&a, &b));
        ck_assert_uint_eq(count_files(), 1);
        ck_assert(is_quarantined(NULL, &a) && is_quarantined(NULL, &b));
        ck_assert(is_quarantined(&b, &a) && is_quarantined(&a, &b));
        ck_assert_uint_eq(count_files(), 1);
}
END_TEST

/* Three drives have the same identity, and one of them has a note when the machine crashes. In the next boot, the value
 * is quarantined for all three drives. */
START_TEST(test_twins_judged) {
        GuardedDrive *drives[4];
        Drive twin[4];
        Run r = {};

        twins_make(8, &twin[0], &twin[1]);
        twin[2] = twin[3] = twin[0];
        twin[2].syspath = (char *) "/sys/devices/c/block/sdc";
        twin[2].diskseq = 11;
        twin[3].syspath = (char *) "/sys/devices/d/block/sdd";
        r = run_start("boot", &twin[1]);
        guarded_visit(r.drive, true);
        ck_assert_int_eq(intend(&r, "apm", "127"), 0);
        run_end(&r);

        ck_assert_int_eq(sd_event_new(&r.event), 0);
        ck_assert_int_eq(guard_new(r.event, dir, "later", &table, on_stored, &r.guard), 0);
        for (unsigned i = 0; i < 2; i++)
                ck_assert_int_eq(guard_attach(r.guard, &twin[i], &answer, &drives[i]), 0);
        guard_judge(r.guard);
        r.drive = drives[0];
        ck_assert_int_eq(intend(&r, "apm", "128"), 0);
        ck_assert_int_eq(guard_attach(r.guard, &twin[2], &answer, &drives[2]), 0);
        for (unsigned i = 0; i < 3; i++) {
                ck_assert_ptr_nonnull(guarded_quarantined(drives[i], "apm", "127"));
                ck_assert(!!guard_record_find(guarded_record(drives[i]), "apm", "128", drives[i]->place) == (i == 0));
                ck_assert_ptr_null(guarded_quarantined(drives[i], "apm", "128"));
        }

        /* A release of the value for one drive also releases the value for the other drives with the same identity,
         * since the note may concern any of these drives. */
        ck_assert_uint_eq(guarded_release(drives[2], NULL), 1);
        guarded_detach(drives[2]);
        run_to_rest(&r);
        ck_assert_int_eq(guard_attach(r.guard, &twin[2], &answer, &drives[2]), 0);
        ck_assert_int_eq(guard_attach(r.guard, &twin[3], &answer, &drives[3]), 0);
        ck_assert_ptr_null(guarded_quarantined(drives[2], "apm", "127"));
        ck_assert_ptr_null(guarded_quarantined(drives[3], "apm", "127"));
        ck_assert_ptr_null(guarded_quarantined(drives[1], "apm", "127"));
        run_end(&r);
}
END_TEST

/* The unreadable note of two drives with the same identity may concern either drive, so a dangerous value is rejected
 * for both drives. One warning about the note and one warning about the same identity are logged. */
START_TEST(test_twin_unreadable) {
        _cleanup_free_ char *key = NULL, *command = NULL;
        GuardedDrive *second;
        Drive a, b;
        Run r;

        twins_make(8, &a, &b);
        ck_assert_int_eq(guard_key(&a, &key), 0);
        ck_assert_int_ge(asprintf(&command, "printf VERSION > '%s/%s'", dir, key), 0);
        ck_assert_int_eq(system(command), 0);

        r = run_start("boot", &a);
        for (unsigned n = 0; n < 3; n++) {
                ck_assert_int_eq(guard_attach(r.guard, &b, &answer, &second), 0);
                ck_assert_uint_eq(n_warnings, 2);
                ck_assert_int_eq(guarded_intend(r.drive, "apm", "127"), -EBADMSG);
                ck_assert_int_eq(guarded_intend(second, "apm", "127"), -EBADMSG);
                ck_assert_uint_eq(count_files(), 1);
                if (n < 2)
                        guarded_detach(second);
        }

        ck_assert_uint_eq(guarded_release(second, NULL), 1);
        guarded_detach(second);
        ck_assert_int_eq(guard_attach(r.guard, &b, &answer, &second), 0);
        r.drive = second;
        ck_assert_int_eq(intend(&r, "apm", "127"), 0);
        ck_assert_uint_eq(n_warnings, 2);
        run_end(&r);
}
END_TEST

/* A visit that writes only harmless settings has a note until the visit ends. After crashes of the machine during
 * visits in two consecutive boots, no more commands are sent to the drive. After a boot without a crash during a visit,
 * the count of crashes starts again. */
static const struct {
        /* "visit": crash during the visit; "visited": the visit ends; "idle": no visit; "again": the daemon is restarted in a visit. */
        const char *boots[6];
        bool alone;
} rows_of_boots[] = {
        { { "visit" }, false },
        { { "visit", "visit" }, true },
        { { "visited", "visited", "visited" }, false },
        { { "visit", "visited", "visit" }, false },
        { { "visit", "idle", "visit" }, false },
        { { "visit", "visit", "idle", "idle" }, true },
        { { "visit", "again", "again", "again" }, false }, /* a killed daemon is not a crash */
        { { "visit", "again", "visit" }, true },
};

START_TEST(test_boots) {
        char boot[8] = "0";
        Run r;

        for (const char *const *b = rows_of_boots[_i].boots; *b; b++) {
                if (!streq(*b, "again"))
                        boot[0]++;
                r = run_start(boot, &drive_a);
                if (!streq(*b, "idle")) {
                        guarded_visit(r.drive, true);
                        ck_assert_int_eq(intend(&r, NULL, NULL), 0);
                        ck_assert_uint_eq(count_files(), 1);
                }
                if (streq(*b, "visited"))
                        guarded_visit(r.drive, false);
                run_to_rest(&r);
                if (streq(*b, "visited"))
                        ck_assert_uint_eq(count_files(), 0);
                run_end(&r);
        }

        /* That no more commands are sent to the drive is logged once. This state lasts until the user releases the
         * drive. */
        for (unsigned i = 0; i < 2; i++) {
                boot[0]++;
                r = run_start(boot, &drive_a);
                ck_assert(guard_record_excludes(guarded_record(r.drive)) == rows_of_boots[_i].alone);
                ck_assert_uint_eq(n_alone, rows_of_boots[_i].alone);
                ck_assert_ptr_null(guarded_quarantined(r.drive, "apm", "127"));
                run_to_rest(&r);
                if (i == 1) {
                        ck_assert_uint_eq(guarded_release(r.drive, "apm"), rows_of_boots[_i].alone);
                        ck_assert(!guard_record_excludes(guarded_record(r.drive)));
                        run_to_rest(&r);
                        ck_assert_uint_eq(count_files(), 0);
                }
                run_end(&r);
        }
        ck_assert_uint_eq(n_quarantined + n_warnings, 0);
}
END_TEST

#define MANY 150U

/* Calls guarded_intend() with the same value for many drives, and waits until all notes are written. */
static void intend_many(Run *r, GuardedDrive **drives) {
        int errors[MANY];

        for (size_t i = 0; i < MANY; i++) {
                char serial[16];
                Drive d = drive_a;

                (void) snprintf(serial, sizeof serial, "S%zu", i);
                d.serial = serial;
                errors[i] = 1;
                ck_assert_int_eq(guard_attach(r->guard, &d, &errors[i], &drives[i]), 0);
                guarded_visit(drives[i], true);
                ck_assert_int_eq(guarded_intend(drives[i], "apm", "127"), 0);
        }

        for (size_t i = 0; i < MANY; i++) {
                while (errors[i] > 0)
                        ck_assert_int_ge(sd_event_run(r->event, UINT64_MAX), 0);
                ck_assert_int_eq(errors[i], 0);
        }
        ck_assert_uint_eq(count_files(), MANY);
}

static void end_many(GuardedDrive **drives) {
        for (size_t i = 0; i < MANY; i++) {
                guarded_visit(drives[i], false);
                guarded_clear(drives[i]);
        }
}

START_TEST(test_many) {
        GuardedDrive *drives[MANY];
        Run r = run_start("boot", NULL);

        intend_many(&r, drives);

        end_many(drives);
        run_to_rest(&r);
        ck_assert_uint_eq(count_files(), 0);
        run_end(&r);
}
END_TEST

/* guard_flush() returns only after all cleared notes were removed, so that no writer outlives the daemon. */
START_TEST(test_flush) {
        GuardedDrive *drives[MANY];
        Run r = run_start("boot", NULL);

        intend_many(&r, drives);

        /* Starts to write a note. guard_flush() must wait for the end of this write. */
        ck_assert_int_eq(guarded_intend(drives[0], "lookahead", "on"), 0);
        end_many(drives);
        guard_flush(r.guard, UINT64_MAX);
        ck_assert_uint_eq(count_files(), 0);
        run_end(&r);
}
END_TEST

/* Even if the storage hangs, guard_flush() returns at its time limit, so that the daemon can exit. */
START_TEST(test_flush_stuck) {
        uint64_t began, took;
        Run r = run_start("boot", &drive_a);

        ck_assert_int_eq(intend(&r, "apm", "127"), 0);
        storage_stuck();
        ck_assert_int_eq(guarded_intend(r.drive, "lookahead", "on"), 0);

        began = monotonic_usec();
        guard_flush(r.guard, began + 100 * 1000);
        took = monotonic_usec() - began;
        ck_assert_uint_ge(took, 100 * 1000);
        ck_assert_uint_ge(n_warnings, 1);

        /* With a time limit in the past, guard_flush() returns at once. */
        guard_flush(r.guard, began);

        storage_answers();
        run_end(&r);
}
END_TEST

/* A note that changes during its write is written again before on_stored() gets the result. */
START_TEST(test_changed_during_write) {
        Run r = run_start("boot", &drive_a);

        answer = 1;
        ck_assert_int_eq(guarded_intend(r.drive, "apm", "127"), 0);
        ck_assert_int_eq(guarded_intend(r.drive, "lookahead", "on"), 0);
        run_to_rest(&r);
        ck_assert_int_eq(answer, 0);
        run_end(&r);

        r = run_start("other", &drive_a);
        ck_assert_ptr_nonnull(guarded_quarantined(r.drive, "apm", "127"));
        ck_assert_ptr_nonnull(guarded_quarantined(r.drive, "lookahead", "on"));
        run_end(&r);
}
END_TEST

/* Visits that write only harmless settings share one note for all drives. The note is removed after the last of these
 * visits. */
START_TEST(test_visits) {
        GuardedDrive *first, *second;
        Drive b = drive_a;
        int other = 1;
        pid_t writer, later;
        Run r = run_start("boot", &drive_a);

        b.serial = (char *) "B";
        first = r.drive;
        ck_assert_int_eq(guard_attach(r.guard, &b, &other, &second), 0);
        guarded_visit(first, true);
        guarded_visit(second, true);
        answer = 1;
        ck_assert_int_eq(guarded_intend(first, NULL, NULL), 0);
        ck_assert_int_eq(guarded_intend(second, NULL, NULL), 0);
        ck_assert_int_eq(sd_event_source_get_child_pid(r.guard->writer, &writer), 0);
        while (answer > 0 || other > 0) {
                /* The same process stores the notes of both visits. */
                ck_assert_int_eq(sd_event_source_get_child_pid(r.guard->writer, &later), 0);
                ck_assert_int_eq(later, writer);
                ck_assert_int_ge(sd_event_run(r.event, UINT64_MAX), 0);
        }
        ck_assert_int_eq(answer + other, 0);
        ck_assert_int_eq(guarded_intend(first, NULL, NULL), 1);
        ck_assert_int_eq(guarded_intend(second, NULL, NULL), 1);
        ck_assert_uint_eq(count_files(), 1);

        guarded_visit(first, false);
        run_to_rest(&r);
        ck_assert_uint_eq(count_files(), 1);
        guarded_visit(second, false);
        run_to_rest(&r);
        ck_assert_uint_eq(count_files(), 0);
        run_end(&r);
}
END_TEST

/* If the directory is missing, each guarded_intend() fails with -ENOENT, and one warning is logged for all calls. */
START_TEST(test_no_directory) {
        Run r;

        ck_assert_int_eq(rmdir(dir), 0);
        r = run_start("boot", &drive_a);
        ck_assert_uint_eq(n_warnings, 1);
        ck_assert_int_eq(intend(&r, "apm", "127"), -ENOENT);
        ck_assert_int_eq(intend(&r, "apm", "128"), -ENOENT);
        ck_assert_uint_eq(n_warnings, 1);

        /* A failure after a successful write is logged again. The directory is created for the write, and then
         * removed. */
        ck_assert_int_eq(mkdir(dir, 0755), 0);
        ck_assert_int_eq(intend(&r, "apm", "129"), 0);
        ck_assert_uint_eq(count_files(), 1);
        teardown();
        ck_assert_int_eq(intend(&r, "apm", "130"), -ENOENT);
        ck_assert_uint_eq(n_warnings, 2);
        run_end(&r);
        ck_assert_int_eq(mkdir(dir, 0755), 0);
}
END_TEST

/* If notes cannot be written for lack of space, one warning is logged, even if removals of notes succeed in between. */
START_TEST(test_full) {
        _cleanup_free_ char *key = NULL, *path = NULL;
        Run r = run_start("boot", &drive_a);

        /* Makes each write fail: a directory has the path of the temporary file. */
        ck_assert_int_eq(guard_key(&drive_a, &key), 0);
        ck_assert_int_ge(asprintf(&path, "%s/%s.new~", dir, key), 0);
        ck_assert_int_eq(mkdir(path, 0700), 0);
        for (unsigned n = 0; n < 3; n++) {
                guarded_visit(r.drive, true);
                ck_assert_int_lt(intend(&r, "apm", "127"), 0);
                guarded_visit(r.drive, false);
                guarded_clear(r.drive);
                run_to_rest(&r);
        }
        ck_assert_uint_eq(n_warnings, 1);

        /* A failure after a successful write causes a second warning. */
        ck_assert_int_eq(rmdir(path), 0);
        ck_assert_int_eq(intend(&r, "apm", "127"), 0);
        ck_assert_int_eq(mkdir(path, 0700), 0);
        ck_assert_int_lt(intend(&r, "apm", "128"), 0);
        ck_assert_uint_eq(n_warnings, 2);
        run_end(&r);
}
END_TEST

static void dir_rename(const char *from, const char *to) {
        char command[160];

        (void) snprintf(command, sizeof command, "mv %s%s %s%s", dir, from, dir, to);
        ck_assert_int_eq(system(command), 0);
}

/* A note whose removal failed is removed by a timer or by guard_flush(), so that the next boot does not find the note. */
START_TEST(test_removed_later) {
        Run r = run_start("boot", &drive_a);

        guarded_visit(r.drive, true);
        ck_assert_int_eq(intend(&r, "apm", "127"), 0);
        guarded_visit(r.drive, false);
        run_to_rest(&r);

        dir_rename("", ".away");
        guarded_clear(r.drive);
        run_to_rest(&r);
        ck_assert_uint_eq(n_warnings, 1);
        if (_i == 0) {
                for (unsigned n = 0; n < 2; n++) {
                        ck_assert_int_eq(sd_event_source_set_time_relative(r.guard->timer, 0), 0);
                        run_to_rest(&r);
                        ck_assert(timer_runs(r.guard->timer));
                }
        }
        /* Detaching the drive must not prevent the later removal of its note. */
        if (_i == 1)
                guarded_detach(r.drive);

        dir_rename(".away", "");
        ck_assert_uint_eq(count_files(), 1);
        if (_i == 0) {
                ck_assert_int_eq(sd_event_source_set_time_relative(r.guard->timer, 0), 0);
                run_to_rest(&r);
                ck_assert(!timer_runs(r.guard->timer));
        } else
                guard_flush(r.guard, UINT64_MAX);
        ck_assert_uint_eq(count_files(), 0);
        ck_assert_uint_eq(n_warnings, 1);
        run_end(&r);
}
END_TEST

START_TEST(test_stuck) {
        Run r = run_start("boot", &drive_a);

        storage_stuck();
        ck_assert_int_eq(intend(&r, "apm", "127"), -ETIMEDOUT);
        ck_assert_uint_eq(n_warnings, 1);

        /* While the storage hangs, a further guarded_intend() fails at once instead of waiting for the timeout. */
        ck_assert_int_eq(guarded_intend(r.drive, "apm", "128"), -ETIMEDOUT);

        /* When the storage works again, guarded_intend() succeeds again. */
        storage_answers();
        run_to_rest(&r);
        ck_assert_int_eq(intend(&r, "apm", "129"), 0);
        run_end(&r);
}
END_TEST

/* Finds the text `line` in /proc/PID/FILE. Returns the part of the file from this text to the end of its line. */
static const char *process_line(pid_t pid, const char *file, const char *line) {
        static char text[4096];
        char path[64], *found;
        FILE *f;
        size_t n;

        (void) snprintf(path, sizeof path, "/proc/%d/%s", (int) pid, file);
        f = fopen(path, "re");
        ck_assert_ptr_nonnull(f);
        n = fread(text, 1, sizeof text - 1, f);
        text[n] = '\0';
        (void) fclose(f);
        found = strstr(text, line);
        ck_assert_ptr_nonnull(found);
        found[strcspn(found, "\n")] = '\0';
        return found;
}

/* Returns the target of the link /proc/PID/fd/FD, or "" if the process has no such descriptor. */
static const char *process_fd(pid_t pid, unsigned fd) {
        static char target[128];
        char path[64];

        (void) snprintf(path, sizeof path, "/proc/%d/fd/%u", (int) pid, fd);
        memset(target, 0, sizeof target);
        (void) !readlink(path, target, sizeof target - 1);
        return target;
}

/* The process that writes notes has closed the daemon's descriptors, and has one descriptor of its own, for the
 * directory. The process ignores SIGHUP, which may be sent to the whole unit. Unlike the daemon, this process blocks no
 * signal. */
START_TEST(test_writer) {
        unsigned long long ignored;
        sigset_t mask;
        pid_t pid;
        Run r = run_start("boot", &drive_a);

        (void) sigemptyset(&mask);
        (void) sigaddset(&mask, SIGTERM);
        (void) sigaddset(&mask, SIGHUP);
        ck_assert_int_eq(sigprocmask(SIG_BLOCK, &mask, NULL), 0);
        storage_stuck();
        ck_assert_int_eq(guarded_intend(r.drive, "apm", "127"), 0);
        answer = 1;
        ck_assert_int_eq(sd_event_source_get_child_pid(r.guard->writer, &pid), 0);
        /* Waits until the writer process has closed the daemon's descriptors and opened the directory. */
        while (!streq(process_fd(pid, STDERR_FILENO + 1), dir))
                (void) usleep(1000);

        ck_assert_str_eq(process_line(pid, "comm", ""), "keep-note");
        ck_assert_str_eq(process_line(pid, "status", "SigBlk:"), "SigBlk:\t0000000000000000");
        ignored = strtoull(process_line(pid, "status", "SigIgn:") + strlen("SigIgn:"), NULL, 16);
        ck_assert_uint_eq(ignored & 1ULL << (SIGHUP - 1), 1ULL << (SIGHUP - 1));
        for (unsigned fd = 0; fd < 64; fd++)
                ck_assert(streq(process_fd(pid, fd), "") == (fd > STDERR_FILENO + 1));
        ck_assert_int_eq(kill(pid, SIGTERM), 0);
        while (answer > 0)
                ck_assert_int_ge(sd_event_run(r.event, UINT64_MAX), 0);
        ck_assert_int_eq(answer, -EIO);
        ck_assert_uint_eq(n_warnings, 1);
        ck_assert_int_eq(unlink(stuck), 0);
        run_end(&r);
}
END_TEST

/* A note of an earlier version contains every setting, also harmless settings. When the guard reads such a note, it
 * removes the harmless settings from the file. */
#define ENTRY(n, setting) \
        "ENTRY_" n "_SETTING=" setting "\nENTRY_" n "_VALUE=1\nENTRY_" n "_QUARANTINED=1\nENTRY_" n "_WHY=x\n"
static const struct {
        const char *entries;
        bool changed, kept;
} old_notes[] = {
        { "ENTRIES=1\n" ENTRY("0", "apm"), false, true },
        { "ENTRIES=2\n" ENTRY("0", "apm") ENTRY("1", "lookahead"), true, true },
        { "ENTRIES=1\n" ENTRY("0", "lookahead"), true, false },
};

START_TEST(test_old_note) {
        _cleanup_free_ char *key = NULL, *path = NULL;
        struct stat before, after;
        FILE *f;
        Run r;

        ck_assert_int_eq(guard_key(&drive_a, &key), 0);
        ck_assert_int_ge(asprintf(&path, "%s/%s", dir, key), 0);
        f = fopen(path, "we");
        ck_assert_ptr_nonnull(f);
        ck_assert_int_gt(fprintf(f, "VERSION=1\nKEY=%s\n%s", key, old_notes[_i].entries), 0);
        ck_assert_int_eq(fclose(f), 0);
        ck_assert_int_eq(stat(path, &before), 0);

        r = run_start("boot", &drive_a);
        run_to_rest(&r);
        ck_assert_int_eq(stat(path, &after) == 0, old_notes[_i].kept);
        if (old_notes[_i].kept)
                ck_assert((after.st_ino != before.st_ino) == old_notes[_i].changed);
        ck_assert(!!guarded_quarantined(r.drive, "apm", "1") == old_notes[_i].kept);
        ck_assert_ptr_null(guarded_quarantined(r.drive, "lookahead", "1"));
        ck_assert_uint_eq(n_warnings, 0);
        run_end(&r);
}
END_TEST

/* While the note of a drive is unreadable, no dangerous value is written to the drive. The unreadable file stays until
 * the user releases the drive. */
#define MAKE(content) "printf '" content "' > %s/%s"
static const char *const unreadable[] = {
        MAKE(""),
        MAKE("VERSION=3\nKEY=x\nENTRIES=0\n"),
        MAKE("VERSION=2\nKEY=somebody-else\nENTRIES=0\n"),
        MAKE("VERSION=2\nKEY=some"),
        MAKE("\\377\\000\n"),
        "ln -s /dev/zero %s/%s",
        "mkfifo %s/%s",
};

START_TEST(test_unreadable) {
        _cleanup_free_ char *key = NULL, *path = NULL, *command = NULL;
        struct stat before, after;
        Run r;

        ck_assert_int_eq(guard_key(&drive_a, &key), 0);
        ck_assert_int_ge(asprintf(&path, "%s/%s", dir, key), 0);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        ck_assert_int_ge(asprintf(&command, unreadable[_i], dir, key), 0);
#pragma GCC diagnostic pop
        ck_assert_int_eq(system(command), 0);
        ck_assert_int_eq(lstat(path, &before), 0);

        for (unsigned boot = 0; boot < 2; boot++) {
                r = run_start(boot == 0 ? "boot" : "another", &drive_a);
                ck_assert_uint_eq(n_warnings, boot + 1);
                guarded_visit(r.drive, true);
                ck_assert_int_eq(guarded_intend(r.drive, "apm", "127"), -EBADMSG);
                guarded_visit(r.drive, false);
                guarded_clear(r.drive);
                guarded_lost(r.drive);
                guard_flush(r.guard, UINT64_MAX);
                ck_assert_int_eq(lstat(path, &after), 0);
                ck_assert(before.st_ino == after.st_ino && before.st_size == after.st_size);
                run_end(&r);
        }

        r = run_start("a third", &drive_a);
        ck_assert_uint_eq(guarded_release(r.drive, NULL), 1);
        ck_assert_uint_eq(guarded_release(r.drive, NULL), 0);
        ck_assert_int_eq(intend(&r, "apm", "127"), 0);
        ck_assert_uint_eq(n_quarantined, 0);
        run_end(&r);
        r = run_start("a fourth", &drive_a);
        ck_assert_uint_eq(n_quarantined, 1);
        run_end(&r);
}
END_TEST

/* ---- many notes ---- */

static Drive numbered(char serial[static 16], unsigned n) {
        Drive d = drive_a;

        (void) snprintf(serial, 16, "N%u", n);
        d.serial = serial;
        return d;
}

static unsigned count_drives(const Guard *g) {
        unsigned n = 0;

        for (const GuardNote *d = g->notes; d; d = d->next)
                n += d != g->visits;
        return n;
}

/* With 9000 notes on the disk, the guard reads only the note of the attached drive, and forgets the note when the drive is detached. */
START_TEST(test_notes) {
        char serial[16];
        Run r;

        for (unsigned n = 0; n < 9000; n++) {
                Drive d = numbered(serial, n);

                note_write(&d);
        }

        r = run_start("boot", NULL);
        ck_assert_uint_eq(count_drives(r.guard), 0);
        for (unsigned n = 0; n < 9000; n += 100) {
                Drive d = numbered(serial, n);
                GuardedDrive *guarded;

                ck_assert_int_eq(guard_attach(r.guard, &d, &answer, &guarded), 0);
                ck_assert_ptr_nonnull(guarded_quarantined(guarded, "apm", "127"));
                guarded_detach(guarded);
                ck_assert_uint_eq(count_drives(r.guard), 0);
        }
        run_end(&r);
        ck_assert_uint_eq(count_files(), 9000);
}
END_TEST

/* If 20,000 drives appear, are lost during a command, and never return, only the records of the latest 256 stay in memory. */
START_TEST(test_hotplug) {
        const unsigned n_known = 256, n_come = 20000;
        GuardedDrive *guarded;
        unsigned most = 0;
        char serial[16];
        Drive d;
        Run r = run_start("boot", &drive_a);

        guarded_underway(r.drive, "lookahead", "on");
        for (unsigned n = 0; n < n_come; n++) {
                d = numbered(serial, n);
                ck_assert_int_eq(guard_attach(r.guard, &d, &answer, &guarded), 0);
                if (_i == 1) {
                        guarded_underway(guarded, "lookahead", "on");
                        guarded_lost(guarded);
                }
                guarded_detach(guarded);
                most = MAX(most, count_drives(r.guard));
        }
        ck_assert_uint_eq(most, _i == 1 ? n_known + 1 : 1);

        d = numbered(serial, n_come - n_known - 1);
        ck_assert_int_eq(guard_attach(r.guard, &d, &answer, &guarded), 0);
        ck_assert(!guard_record_suspects(guarded_record(guarded)));
        guarded_detach(guarded);
        for (unsigned n = n_come - 1; _i == 1 && n >= n_come - 200; n--) {
                d = numbered(serial, n);
                ck_assert_int_eq(guard_attach(r.guard, &d, &answer, &guarded), 0);
                ck_assert(guard_record_suspects(guarded_record(guarded)));
                guarded_detach(guarded);
        }

        /* The record of a drive that stayed attached is still in memory. */
        guarded_lost(r.drive);
        ck_assert(guard_record_suspects(guarded_record(r.drive)));
        ck_assert_uint_eq(count_files(), 0);
        run_end(&r);
}
END_TEST

int main(void) {
        Suite *s = suite_create("guard-store");
        TCase *t = tcase_create("guard-store");

        tcase_set_timeout(t, 60);
        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_test(t, test_life);
        tcase_add_loop_test(t, test_restart, 0, ELEMENTSOF(restarts));
        tcase_add_loop_test(t, test_restart_and_lost, 0, 2);
        tcase_add_test(t, test_kept);
        tcase_add_test(t, test_kept_fails);
        tcase_add_loop_test(t, test_twins, 0, ELEMENTSOF(twins));
        tcase_add_loop_test(t, test_twin_comes, 0, ELEMENTSOF(twins));
        tcase_add_test(t, test_twins_judged);
        tcase_add_test(t, test_twin_unreadable);
        tcase_add_loop_test(t, test_boots, 0, ELEMENTSOF(rows_of_boots));
        tcase_add_test(t, test_many);
        tcase_add_test(t, test_flush);
        tcase_add_test(t, test_flush_stuck);
        tcase_add_test(t, test_changed_during_write);
        tcase_add_test(t, test_visits);
        tcase_add_test(t, test_no_directory);
        tcase_add_test(t, test_full);
        tcase_add_loop_test(t, test_removed_later, 0, 2);
        tcase_add_test(t, test_stuck);
        tcase_add_test(t, test_writer);
        tcase_add_loop_test(t, test_old_note, 0, ELEMENTSOF(old_notes));
        tcase_add_loop_test(t, test_unreadable, 0, ELEMENTSOF(unreadable));
        tcase_add_test(t, test_notes);
        tcase_add_loop_test(t, test_hotplug, 0, 2);
        suite_add_tcase(s, t);

        return suite_run(s);
}
