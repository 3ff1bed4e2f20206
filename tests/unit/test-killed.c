/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A process performs the steps of the daemon and its worker for one drive, with the crash guard's files and the state
 * file. The test kills the process before and after each command, note and line that the process writes, and then
 * starts the process again. At the end the drive must have the configured settings. No correct setting may be written
 * twice, no dangerous setting may be written without a note on the disk, and no wrong note may remain. */

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "guard.h"
#include "journal.h"
#include "model-drive.h"
#include "settings.h"
#include "state-file.h"
#include "test-cli.h"
#include "visit.h"

#define GUARDED "guarded"
#define STATES "states"

/* State of the test, in memory that remains when the test kills the process. */
typedef struct Shared {
        ModelDrive drive;
        unsigned n_unguarded;
        unsigned n_quarantined;
        bool survived; /* the visit has ended, and the drive continued to work */
        Verdict verdicts[RECORD_MAX_SETTINGS];
} Shared;

static Shared *shared;

/* Replacements for the functions that write to the journal. */
void journal_quarantined(const GuardRecord *d _unused_, const GuardEntry *e) {
        ck_assert_ptr_nonnull(e);
        shared->n_quarantined++;
}

void journal_log(int priority _unused_, const char *format, ...) {
        ck_abort_msg("%s", format);
}

static Drive disk = { .name = (char *) "sda",
                      .node = (char *) "/dev/sda",
                      .syspath = (char *) "/nonexistent",
                      .model = (char *) "M",
                      .serial = (char *) "S",
                      .transport = TRANSPORT_SATA,
                      .ata = true,
                      .diskseq = 3 };

static Wish wish_items[] = {
        { .name = "write_cache", .value = { .type = VALUE_BOOL, .number = 0 }, .file = "f", .line = 0 },
        { .name = "lookahead", .value = { .type = VALUE_BOOL, .number = 1 }, .file = "f", .line = 1 },
        { .name = "apm",
          .value = { .type = VALUE_INT, .number = 127 },
          .allow_dangerous = true,
          .file = "f",
          .line = 2 },
        { .name = "spindown_time", .value = { .type = VALUE_STANDBY_TIMER, .number = 120 }, .file = "f", .line = 3 },
};

/* The table of settings has one row, apm, which is dangerous in this test. */
static Setting apm[2];
static SettingTable settings;

static const Wishes wishes = { .items = wish_items, .n_items = ELEMENTSOF(wish_items) };

/* ---- a run of the daemon ---- */

typedef struct Run {
        ModelDrive *drive;
        sd_event *event;
        Guard *guard;
        GuardedDrive *guarded;
        int answer; /* < 0: error from on_stored(); 0: the note is written; 1: no result yet */
        DriveRecord *record;
        unsigned left; /* remaining steps before the kill; 0: no kill */
} Run;

static void step(Run *r) {
        if (r->left > 0 && --r->left == 0)
                (void) kill(getpid(), SIGKILL);
}

/* Returns true if a note on the disk contains the text `what`. If `what` is "", returns true if any note exists. */
static bool is_noted(const char *what) {
        DIR *d = opendir(GUARDED);
        const struct dirent *e;
        bool found = false;

        while ((e = readdir(d))) {
                char text[4096] = "";
                int fd;

                if (strchr(".~", e->d_name[strlen(e->d_name) - 1]))
                        continue;
                fd = openat(dirfd(d), e->d_name, O_RDONLY | O_CLOEXEC);
                (void) !read(fd, text, sizeof text - 1);
                (void) close(fd);
                found = found || strstr(text, what);
        }
        (void) closedir(d);
        return found;
}

static int on_sg(void *userdata, int fd, SgRequest *q) {
        Run *run = userdata;
        int r;

        step(run);
        if ((q->cdb[14] == 0xEF || q->cdb[14] == 0xE3) && !is_noted("VISITING"))
                shared->n_unguarded++;
        if (q->cdb[14] == 0xEF && q->cdb[4] == 0x05 && !is_noted("INTENDED"))
                shared->n_unguarded++;
        r = model_sg(userdata, fd, q);
        step(run);
        return r;
}

static void on_stored(void *userdata, int error) {
        *(int *) userdata = error;
}

static int on_intend(void *userdata, const Step *s) {
        char value[VALUE_TEXT_MAX];
        Run *r = userdata;
        int k;

        step(r);
        r->answer = 1;
        k = s ? guarded_intend(r->guarded, s->wish->name, value_format(&s->setting->range, &s->wish->value, value))
              : guarded_intend(r->guarded, NULL, NULL);
        if (k < 0)
                _exit(3);
        step(r);
        while (k == 0 && r->answer > 0)
                (void) sd_event_run(r->event, 100 * 1000);
        step(r);
        return k == 0 ? r->answer : 0;
}

static void on_ended(void *userdata, const Step *s) {
        Run *r = userdata;

        shared->verdicts[s->wish->line] = s->verdict;
        step(r);
        if (drive_record_step(r->record, s, 1) < 0 || state_write(STATES, r->record) < 0)
                _exit(4);
        step(r);
}

static _Noreturn void run(unsigned left, const char *boot_id) {
        const DeviceIO io = { .open_node = model_open, .sg = on_sg };
        Run r = { .drive = &shared->drive, .left = left };
        Memory *memories;
        sigset_t mask;
        Plan p;

        (void) sigemptyset(&mask);
        (void) sigaddset(&mask, SIGCHLD);
        (void) sigprocmask(SIG_BLOCK, &mask, NULL);

        if (sd_event_new(&r.event) < 0 || guard_new(r.event, GUARDED, boot_id, &settings, on_stored, &r.guard) < 0 ||
            guard_attach(r.guard, &disk, &r.answer, &r.guarded) < 0)
                _exit(2);
        guard_judge(r.guard);

        if (state_read(STATES, "sda", &r.record) < 0 || !drive_record_continues(r.record, &disk, boot_id)) {
                (void) drive_record_free(r.record);
                r.record = calloc(1, sizeof *r.record);
        }
        if (drive_record_set_identity(r.record, &disk, boot_id) < 0 ||
            drive_record_memories(r.record, &wishes, &memories) < 0)
                _exit(2);
        for (size_t i = 0; i < wishes.n_items; i++) {
                char value[VALUE_TEXT_MAX];
                const Setting *s = setting_find(&settings, wish_items[i].name);
                const char *why = guarded_quarantined(r.guarded, s->name,
                                                      value_format(&s->range, &wish_items[i].value, value));

                (void) snprintf(memories[i].quarantined, sizeof memories[i].quarantined, "%s", why ?: "");
        }

        guarded_visit(r.guarded, true);
        if (visit_run(&(Visit){ .drive = &disk,
                                .wishes = &wishes,
                                .work = WORK_APPLY,
                                .memories = memories,
                                .settings = &settings,
                                .io = &(DeviceIO){ .open_node = io.open_node, .sg = io.sg, .userdata = &r },
                                .active = true,
                                .ended = on_ended,
                                .intend = on_intend,
                                .userdata = &r },
                      &p) < 0)
                _exit(5);
        guarded_visit(r.guarded, false);

        /* The drive has continued to work after the dangerous write, so the note is cleared. */
        step(&r);
        shared->survived = true;
        guarded_clear(r.guarded);
        step(&r);
        guard_flush(r.guard, UINT64_MAX);
        _exit(r.left > 0 ? 0 : left > 0 ? 6 : 0);
}

/* Runs the process, and returns true if the process was killed. Also waits for the crash guard's processes that write
 * notes, because they may outlive the killed process. */
static bool run_process(unsigned left, const char *boot_id) {
        bool killed = false;
        pid_t pid, child;
        int status;

        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0)
                run(left, boot_id);

        while ((child = waitpid(-1, &status, 0)) > 0)
                if (child == pid) {
                        killed = WIFSIGNALED(status);
                        ck_assert_msg(killed ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0, "status %x",
                                      status);
                }
        return killed;
}

static void all_as_wanted(void) {
        const ModelDrive *d = &shared->drive;

        ck_assert(!d->cache && d->lookahead);
        ck_assert_int_eq(d->apm, 127);
        ck_assert_int_eq(d->timer, 120);
        ck_assert_uint_eq(d->n_again, 0);
        ck_assert_uint_eq(shared->n_unguarded, 0);
}

static void setup(void) {
        const Setting *s = setting_find(&all_settings, "apm");

        apm[0] = *s;
        apm[0].danger = "it may hang the machine";
        settings.tables[0] = apm;
        (void) memcpy(settings.tables + 1, all_settings.tables, sizeof settings.tables - sizeof settings.tables[0]);
        scratch_make();
        ck_assert_int_eq(mkdir(GUARDED, 0755), 0);
        ck_assert_int_eq(mkdir(STATES, 0755), 0);
        ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ck_assert(shared != MAP_FAILED);
}

static void forget_all(void) {
        ck_assert_int_eq(system("rm -f " GUARDED "/* " STATES "/*"), 0);
        *shared = (Shared){ .drive = MODEL_DRIVE_COLD };
}

/* ---- the tests ---- */

/* The daemon is killed at each step and started again while the drive stays attached. No value is quarantined, and no note remains. */
START_TEST(test_started_again) {
        unsigned n;

        for (n = 1;; n++) {
                forget_all();
                if (!run_process(n, "boot"))
                        break;
                ck_assert(!run_process(0, "boot"));
                all_as_wanted();
                ck_assert_uint_eq(shared->n_quarantined, 0);
                ck_assert_msg(!is_noted(""), "killed at step %u: a note is left", n);
                for (size_t i = 0; i < wishes.n_items; i++)
                        ck_assert_msg(verdict_is_wanted(shared->verdicts[i]), "killed at step %u: %s is %s", n,
                                      wish_items[i].name, verdict_to_string(shared->verdicts[i]));
        }
        printf("killed at each of %u steps\n", n - 1);
        ck_assert_uint_gt(n, 20);
        all_as_wanted();
}
END_TEST

/* The machine crashes at each step. In the next boot, a dangerous value that has a note is quarantined. All other
 * settings get their configured values. */
START_TEST(test_machine_lost) {
        unsigned n, n_guarded = 0, n_sent = 0;

        for (n = 1;; n++) {
                bool noted;

                forget_all();
                if (!run_process(n, "boot"))
                        break;
                noted = is_noted("INTENDED");
                ck_assert_msg(noted || shared->drive.apm != 127 || shared->survived,
                              "killed at step %u: something dangerous was written, and no note is left of it", n);
                n_sent += shared->drive.n_set > 0 && !noted;
                shared->drive = MODEL_DRIVE_COLD;
                ck_assert(!run_process(0, "another boot"));
                ck_assert_uint_eq(shared->n_quarantined, noted);
                ck_assert_uint_eq(shared->n_unguarded, 0);
                for (size_t i = 0; i < wishes.n_items; i++)
                        ck_assert_msg(noted && streq(wish_items[i].name, "apm")
                                                      ? shared->verdicts[i] == VERDICT_QUARANTINED
                                                      : verdict_is_wanted(shared->verdicts[i]),
                                      "killed at step %u: %s is %s", n, wish_items[i].name,
                                      verdict_to_string(shared->verdicts[i]));
                ck_assert_uint_eq(shared->drive.n_set, wishes.n_items - noted);
                n_guarded += noted;
        }
        ck_assert_uint_gt(n_guarded, 10);
        ck_assert_uint_gt(n_sent, 5);
}
END_TEST

int main(void) {
        Suite *s = suite_create("killed");
        TCase *t = tcase_create("killed");

        tcase_set_timeout(t, 240);
        tcase_add_checked_fixture(t, setup, scratch_remove);
        tcase_add_test(t, test_started_again);
        tcase_add_test(t, test_machine_lost);
        suite_add_tcase(s, t);

        return suite_run(s);
}
