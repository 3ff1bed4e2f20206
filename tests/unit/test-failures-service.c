/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes each allocation and each system call for the service's files and messages fail in turn. The failed call has an
 * effect, has no effect, is interrupted, or transfers only part of the data. A state file or a file of the crash guard
 * must then be the whole old version or the whole new version. The guard may report that a note is written only if the
 * note is on the disk. Partial messages must be rejected, and no descriptor may stay open. */

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "guard.h"
#include "inject.h"
#include "journal.h"
#include "settings.h"
#include "state-file.h"
#include "test-cli.h"
#include "worker-message.h"

/* Replacements for the functions that write to the journal. */
void journal_quarantined(const GuardRecord *d _unused_, const GuardEntry *e _unused_) {
}

static unsigned n_logged;
void journal_log(int priority _unused_, const char *format _unused_, ...) {
        n_logged++;
}

static size_t count_entries(const char *path) {
        DIR *dir = opendir(path);
        struct dirent *e;
        size_t n = 0;

        ck_assert_ptr_nonnull(dir);
        while ((e = readdir(dir)))
                n += e->d_name[0] != '.';
        closedir(dir);
        return n;
}

static size_t count_open(void) {
        return count_entries("/proc/self/fd");
}

/* ---- state files ---- */

static DriveRecord *record_make(const char *model) {
        DriveRecord *r = record_of("VERSION=1\nNAME=sda\nNODE=/dev/sda\nSTATE=idle\nSETTINGS=1\nSETTING_0_NAME=apm\n"
                                   "SETTING_0_VERDICT=applied\n");

        ck_assert_int_eq(string_replace(&r->model, model), 0);
        return r;
}

static bool state_once(Injected what, size_t nth) {
        _cleanup_(drive_record_freep) DriveRecord *old = record_make("old"), *new = record_make("new"), *read = NULL,
                                                  *found = NULL;
        size_t n_open = count_open();
        int written, known;
        bool failed;

        ck_assert_int_eq(state_write(".", old), 0);
        inject_arm(what, nth);
        written = state_write(".", new);
        known = state_read(".", "sda", &read);
        failed = inject_disarm();

        ck_assert_uint_eq(count_open(), n_open);
        ck_assert_uint_eq(count_entries("."), 1); /* the state file; no partial file is left */
        ck_assert_int_eq(state_read(".", "sda", &found), 0);
        ck_assert_uint_eq(found->n_settings, 1);
        if (written >= 0)
                ck_assert_str_eq(found->model, "new");
        else
                ck_assert(failed &&
                          (streq(found->model, "old") || (what == INJECT_LATE && streq(found->model, "new"))));
        if (known >= 0)
                ck_assert_str_eq(read->model, found->model);
        else
                ck_assert(failed && !read);
        if (!failed || what == INJECT_SHORT)
                ck_assert(written >= 0 && known >= 0);
        return failed;
}

START_TEST(test_state) {
        ck_assert_uint_gt(inject_each(state_once, (Injected) _i), 1);
}
END_TEST

/* ---- the crash guard ---- */

static Drive drive = { .name = (char *) "sda",
                       .node = (char *) "/dev/sda",
                       .syspath = (char *) "/sys/devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda",
                       .transport = TRANSPORT_SATA,
                       .model = (char *) "M",
                       .serial = (char *) "A",
                       .diskseq = 3 };

/* Number of five-second timers that the guard started. The guard must not leave such a timer running when
 * guarded_intend() fails. */
static unsigned n_timers;

int sd_event_add_time_relative(sd_event *e, sd_event_source **source, clockid_t clock, uint64_t usec, uint64_t accuracy,
                               sd_event_time_handler_t callback, void *userdata) {
        int (*real)(sd_event *, sd_event_source **, clockid_t, uint64_t, uint64_t, sd_event_time_handler_t, void *);

        n_timers += usec == 5 * 1000 * 1000;
        *(void **) &real = dlsym(RTLD_NEXT, "sd_event_add_time_relative");
        return real(e, source, clock, usec, accuracy, callback, userdata);
}

static void on_stored(void *userdata, int error) {
        *(int *) userdata = error;
}

/* Returns true if the daemon, when it is started again, finds apm = `value` in the drive's note. */
static bool guard_knows(const char *value) {
        _cleanup_(guard_freep) Guard *g = NULL;
        sd_event *event;
        GuardedDrive *d;
        int answer;
        bool known;

        ck_assert_int_eq(sd_event_new(&event), 0);
        ck_assert_int_eq(guard_new(event, ".", "later", &all_settings, on_stored, &g), 0);
        ck_assert_int_eq(guard_attach(g, &drive, &answer, &d), 0);
        known = guard_record_find(guarded_record(d), "apm", value, NULL);
        sd_event_unref(event);
        return known;
}

static void guard_block_children(void) {
        sigset_t mask;

        (void) sigemptyset(&mask);
        (void) sigaddset(&mask, SIGCHLD);
        ck_assert_int_eq(sigprocmask(SIG_BLOCK, &mask, NULL), 0);
}

static bool guard_knows_any(void) {
        return system("ls | grep -q .") == 0;
}

static void guard_forget(void) {
        (void) !system("rm -f ./*");
}

static bool guard_once(Injected what, size_t nth) {
        static const char *const values[] = { "127", "128" };
        size_t n_open = count_open();
        unsigned n_started = 0;
        int r, answer, answers[] = { 1, 1 };
        GuardedDrive *d;
        Guard *g = NULL;
        sd_event *event;
        bool failed;

        guard_forget();
        ck_assert_int_eq(sd_event_new(&event), 0);
        inject_arm(what, nth);
        r = guard_new(event, ".", "boot", &all_settings, on_stored, &g);
        if (r >= 0)
                r = guard_attach(g, &drive, &answer, &d);
        /* For the second value, the file with the first value already exists. */
        for (size_t i = 0; i < ELEMENTSOF(values) && r >= 0; i++) {
                n_timers = 0;
                answer = 1;
                r = guarded_intend(d, "apm", values[i]);
                n_started += r < 0 ? n_timers : 0;
                for (int turn = 0; turn < 100 && r >= 0 && answer == 1; turn++)
                        (void) sd_event_run(event, 100 * 1000);
                answers[i] = answer;
        }
        failed = inject_disarm();
        (void) guard_free(g);
        sd_event_unref(event);
        while (waitpid(-1, NULL, 0) > 0)
                ;

        ck_assert_uint_eq(count_open(), n_open);
        ck_assert_msg(n_started == 0, "call %zu: it failed, and its timer runs on", nth);
        for (size_t i = 0; i < ELEMENTSOF(values); i++) {
                ck_assert_msg(r < 0 || answers[i] <= 0, "call %zu: no answer about %s", nth, values[i]);
                if (answers[i] == 0)
                        ck_assert_msg(guard_knows(values[i]), "call %zu: %s was promised", nth, values[i]);
        }
        if (r < 0 || answers[0] < 0 || answers[1] < 0)
                ck_assert(failed);
        return failed;
}

/* If fsync() fails after the removal of a note, the failure is logged, since a power cut may then restore the note. */
START_TEST(test_guard_removed) {
        sd_event *event;
        GuardedDrive *d;
        int answer = 1;
        Guard *g;

        guard_block_children();
        guard_forget();
        ck_assert_int_eq(sd_event_new(&event), 0);
        ck_assert_int_eq(guard_new(event, ".", "boot", &all_settings, on_stored, &g), 0);
        ck_assert_int_eq(guard_attach(g, &drive, &answer, &d), 0);
        guarded_visit(d, true);
        ck_assert_int_eq(guarded_intend(d, NULL, NULL), 0);
        while (answer > 0)
                ck_assert_int_ge(sd_event_run(event, UINT64_MAX), 0);
        ck_assert_int_eq(answer, 0);

        /* Makes the fsync() after the removal of the note report an error. */
        n_logged = 0;
        inject_arm(INJECT_LATE, 1);
        guarded_visit(d, false);
        while (n_logged == 0 && sd_event_run(event, 5 * 1000 * 1000) > 0)
                ;
        ck_assert(inject_disarm());
        ck_assert_uint_eq(n_logged, 1);
        ck_assert(!guard_knows_any());
        (void) guard_free(g);
        sd_event_unref(event);
}
END_TEST

/* Reads the notes while one call fails. If this failure makes the notes unreadable, no dangerous value may be
 * written. */
static bool guard_read_once(Injected what, size_t nth) {
        size_t n_open = count_open();
        int r, answer = 1;
        GuardedDrive *d;
        Guard *g = NULL;
        sd_event *event;
        bool failed;

        guard_forget();
        ck_assert_int_eq(sd_event_new(&event), 0);
        ck_assert_int_eq(guard_new(event, ".", "boot", &all_settings, on_stored, &g), 0);
        ck_assert_int_eq(guard_attach(g, &drive, &answer, &d), 0);
        ck_assert_int_eq(guarded_intend(d, "apm", "127"), 0);
        for (int turn = 0; turn < 100 && answer == 1; turn++)
                (void) sd_event_run(event, 100 * 1000);
        ck_assert_int_eq(answer, 0);
        g = guard_free(g);

        inject_arm(what, nth);
        r = guard_new(event, ".", "another", &all_settings, on_stored, &g);
        if (r >= 0)
                r = guard_attach(g, &drive, &answer, &d);
        failed = inject_disarm();
        if (r < 0)
                ck_assert(failed && r == -ENOMEM);
        else {
                const GuardEntry *e = guard_record_find(guarded_record(d), "apm", "127", NULL);

                ck_assert(e ? e->intended : failed);
                if (what == INJECT_SHORT)
                        ck_assert_ptr_nonnull(e);
                /* Without the content of the note, the guard must reject a dangerous value. */
                if (!e)
                        ck_assert_int_eq(guarded_intend(d, "apm", "127"), -EBADMSG);
        }
        (void) guard_free(g);
        sd_event_unref(event);
        ck_assert_uint_eq(count_open(), n_open);
        return failed;
}

START_TEST(test_guard) {
        guard_block_children();
        ck_assert_uint_gt(inject_each(guard_once, (Injected) _i), 1);
}
END_TEST

START_TEST(test_guard_read) {
        guard_block_children();
        if (_i != INJECT_LATE) /* a read modifies nothing */
                (void) inject_each(guard_read_once, (Injected) _i);
}
END_TEST

/* ---- a complete visit ---- */

/* held: the value that the drive holds for the test's dangerous setting; unnoted: true if this value was written
 * without a note on the disk */
static bool held, unnoted;
static char *note; /* path of the crash guard's note about the drive */

static int danger_read(Device *d _unused_, const Setting *s _unused_, Reading *ret) {
        *ret = (Reading){ .supported = true, .known = true, .value = VALUE_BOOLEAN(held) };
        return 0;
}

static int danger_write(Device *d _unused_, const Setting *s _unused_, const Value *v) {
        unnoted = unnoted || access(note, F_OK) < 0;
        held = v->number;
        return 0;
}

static const Setting danger_rows[] = {
        { .name = "danger",
          .backend = BACKEND_BLOCK,
          .range = { .type = VALUE_BOOL },
          .danger = "it may never come up",
          .read = danger_read,
          .write = danger_write },
        {},
};

static const SettingTable danger_table = { .tables = { danger_rows } };
static Wish danger_items[] = {
        { .name = "danger", .value = { VALUE_BOOL, 1, "" }, .allow_dangerous = true, .file = "f", .line = 1 },
};
static const Wishes danger_wishes = { danger_items, ELEMENTSOF(danger_items) };

typedef struct Life {
        sd_event *event;
        Guard *guard;
        GuardedDrive *guarded;
        DriveRecord *record;
        int answer; /* error from on_stored(), 0: the note is written, 1: no result yet */
        int error;  /* < 0: the state file could not be written */
} Life;

static int life_intend(void *userdata, const Step *s _unused_) {
        Life *l = userdata;
        int r;

        l->answer = 1;
        r = guarded_intend(l->guarded, "danger", "on");
        for (int turn = 0; turn < 100 && r >= 0 && l->answer == 1; turn++)
                (void) sd_event_run(l->event, 100 * 1000);
        return r < 0 ? r : l->answer;
}

static void life_ended(void *userdata, const Step *s) {
        Life *l = userdata;

        l->error = drive_record_step(l->record, s, 1);
        if (l->error >= 0)
                l->error = state_write("states", l->record);
}

/* Performs the steps of the daemon and its worker for one drive. */
static int life_live(Life *l, Plan *ret) {
        const Visit v = { .drive = &drive,
                          .wishes = &danger_wishes,
                          .work = WORK_APPLY,
                          .settings = &danger_table,
                          .io = &(DeviceIO){},
                          .active = true,
                          .intend = life_intend,
                          .ended = life_ended,
                          .userdata = l };
        int r;

        r = guard_new(l->event, "guarded", "boot", &danger_table, on_stored, &l->guard);
        if (r >= 0)
                r = guard_attach(l->guard, &drive, &l->answer, &l->guarded);
        if (r < 0)
                return r;
        guard_judge(l->guard);

        r = state_read("states", "sda", &l->record);
        if (r < 0) {
                l->record = calloc(1, sizeof *l->record);
                if (!l->record)
                        return -ENOMEM;
        }
        r = drive_record_set_identity(l->record, &drive, "boot");
        if (r < 0)
                return r;

        guarded_visit(l->guarded, true);
        r = visit_run(&v, ret);
        guarded_visit(l->guarded, false);
        guarded_clear(l->guarded);
        guard_flush(l->guard, UINT64_MAX);
        return r;
}

static bool life_run(Injected what, size_t nth, bool *ret_wanted) {
        Life l = {};
        bool failed;
        Plan p = {};
        int r;

        ck_assert_int_eq(sd_event_new(&l.event), 0);
        inject_arm(what, nth);
        r = life_live(&l, &p);
        failed = inject_disarm();
        (void) guard_free(l.guard);
        (void) drive_record_free(l.record);
        sd_event_unref(l.event);
        while (waitpid(-1, NULL, 0) > 0)
                ;

        ck_assert(r >= 0 || failed);
        ck_assert_msg(!unnoted, "call %zu: written, and no note of it", nth);
        if (r >= 0 && p.steps[0].verdict != VERDICT_FORBIDDEN)
                ck_assert_msg(held && verdict_is_wanted(p.steps[0].verdict), "call %zu: %s", nth,
                              verdict_to_string(p.steps[0].verdict));
        *ret_wanted = r >= 0 && l.error >= 0 && verdict_is_wanted(p.steps[0].verdict);
        plan_done(&p);
        return failed;
}

static bool life_once(Injected what, size_t nth) {
        size_t n_open = count_open();
        bool failed, wanted;

        ck_assert_int_eq(system("rm -rf states guarded; mkdir states guarded"), 0);
        held = unnoted = false;
        failed = life_run(what, nth, &wanted);
        ck_assert(wanted || failed);

        /* No call fails in the next run. If the first run did not write the value, the next run must write the
         * value. */
        ck_assert(!life_run(what, 0, &wanted));
        ck_assert_msg(wanted && held, "call %zu: not made good by the next run", nth);
        ck_assert_msg(access(note, F_OK) < 0, "call %zu: a note is left", nth);
        ck_assert_uint_eq(count_open(), n_open);
        return failed;
}

START_TEST(test_life) {
        _cleanup_free_ char *key = NULL;

        guard_block_children();
        ck_assert_int_eq(guard_key(&drive, &key), 0);
        ck_assert_int_ge(asprintf(&note, "guarded/%s", key), 0);
        ck_assert_uint_gt(inject_each(life_once, (Injected) _i), 1);
        free(note);
}
END_TEST

/* ---- messages ---- */

static Wish wish_items[] = {
        { .name = "apm", .value = { .type = VALUE_INT, .number = 127 }, .file = "/etc/f", .line = 3 },
        { .name = "write_cache", .value = { .type = VALUE_BOOL, .number = 0 }, .file = "/etc/f", .line = 4 },
};
static const Wishes wishes = { wish_items, ELEMENTSOF(wish_items) };

static bool request_once(Injected what, size_t nth) {
        const Visit v = { .drive = &drive, .wishes = &wishes };
        _cleanup_free_ void *request = NULL;
        VisitRequest requested;
        bool failed;
        size_t size;
        int r;

        inject_arm(what, nth);
        r = visit_request_new(&v, &request, &size);
        if (r >= 0)
                r = visit_request_parse(request, size, &all_settings, &requested);
        failed = inject_disarm();
        ck_assert_int_eq(r, failed ? -ENOMEM : 0);
        if (r >= 0)
                ck_assert(wishes_equal(requested.visit.wishes, &wishes, &all_settings));
        return failed;
}

START_TEST(test_request) {
        ck_assert_uint_gt(inject_each(request_once, INJECT_MEMORY), 0);
}
END_TEST

/* Creates the listening socket of a broker that never answers. */
static int listen_here(void) {
        struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "broker" };
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(bind(fd, (const struct sockaddr *) &address, sizeof address), 0);
        ck_assert_int_eq(listen(fd, 4096), 0);
        return fd;
}

static bool worker_once(Injected what, size_t nth) {
        const Visit v = { .drive = &drive, .wishes = &wishes };
        size_t n_open = count_open();
        Broker *b = NULL;
        bool failed;
        int r;

        inject_arm(what, nth);
        r = broker_new("broker", &b);
        if (r >= 0)
                r = worker_start(b, &v);
        failed = inject_disarm();
        if (r >= 0)
                (void) close(r);
        else
                ck_assert(failed);
        (void) broker_free(b);
        ck_assert_uint_eq(count_open(), n_open);
        return failed;
}

START_TEST(test_worker) {
        int fd = listen_here();

        if (_i != INJECT_SHORT) /* datagrams are never partial */
                ck_assert_uint_gt(inject_each(worker_once, (Injected) _i), 1);
        (void) close(fd);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("service");
        Suite *s = suite_create("failures-service");

        tcase_set_timeout(t, 240);
        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_loop_test(t, test_state, 0, _INJECTED_MAX);
        tcase_add_loop_test(t, test_guard, 0, _INJECTED_MAX);
        tcase_add_test(t, test_guard_removed);
        tcase_add_loop_test(t, test_guard_read, 0, _INJECTED_MAX);
        tcase_add_loop_test(t, test_life, 0, _INJECTED_MAX);
        tcase_add_test(t, test_request);
        tcase_add_loop_test(t, test_worker, 0, _INJECTED_MAX);
        suite_add_tcase(s, t);
        return suite_run(s);
}
