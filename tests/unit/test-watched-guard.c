/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the crash guard makes of a drive that comes and goes, with its files; the visits are ours. */

#include <sys/wait.h>

#include "clock.h"
#include "health.h"
#include "state.h"
#include "test-cli.h"
#include "watched-guard.h"

/* ---- stand-ins ---- */

static unsigned n_quarantined, n_visits;

void journal_quarantined(_unused_ const GuardRecord *d, _unused_ const GuardEntry *e) {
        n_quarantined++;
}
static unsigned n_alone;
void journal_alone(_unused_ const GuardRecord *d) {
        n_alone++;
}
void journal_log(_unused_ int priority, _unused_ const char *format, ...) {
}
void journal_worker(_unused_ const Drive *d, _unused_ const char *format, ...) {
}
static WaitKind told_waiting;
void journal_waiting(_unused_ const Drive *d, Wait w, _unused_ bool deferred) {
        told_waiting = w.kind;
}
void watched_save(_unused_ Watched *w) {
}
void watched_visit(_unused_ Watched *w, _unused_ VisitReason reason) {
        n_visits++;
}
static int intended;
void visitor_intended(_unused_ Visitor *v, int error) {
        intended = error;
}
static unsigned n_woken;
static void on_wake(_unused_ void *userdata, _unused_ Watched *w) {
        n_woken++;
}
static Watched *paths[2]; /* as the manager lists them */
static Watched *on_next(_unused_ void *userdata, const Watched *w) {
        return !w ? paths[0] : w == paths[0] ? paths[1] : NULL;
}
int health_read(_unused_ const char *syspath) {
        return 1;
}

/* ---- a drive ---- */

static const Setting rows[] = {
        { .name = "apm", .backend = BACKEND_ATA, .range = { .type = VALUE_INT, .min = 1, .max = 255 } },
        { .name = "nap", .backend = BACKEND_ATA, .range = { .type = VALUE_BOOL }, .danger = "it may never wake" },
        {},
};
static const SettingTable table = { .tables = { rows } };
static Wish wish_items[] = {
        { .name = "apm", .value = { .type = VALUE_INT, .number = 127 }, .file = "f" },
        { .name = "nap", .value = { .type = VALUE_BOOL, .number = 1 }, .file = "f", .allow_dangerous = true },
};
static Drive disk = { .name = (char *) "sda",
                      .syspath = (char *) "/sys/s",
                      .model = (char *) "M",
                      .serial = (char *) "S",
                      .transport = TRANSPORT_SATA,
                      .ata = true,
                      .diskseq = 3 };
static DriveRecord record;
static WatchedEnv env;

static void env_make_guard(const char *boot_id) {
        ck_assert_int_eq(guard_new(env.event, ".", boot_id, &table, &env.guard), 0);
}

static void env_free_guard(void) {
        env.guard = guard_free(env.guard);
        /* Scribes that are still at it. */
        while (waitpid(-1, NULL, 0) > 0)
                ;
}

static void env_make(void) {
        sigset_t mask;

        scratch_make();
        (void) sigemptyset(&mask);
        (void) sigaddset(&mask, SIGCHLD);
        ck_assert_int_eq(sigprocmask(SIG_BLOCK, &mask, NULL), 0);
        env.settings = &table;
        env.next = on_next;
        env.wake = on_wake;
        ck_assert_int_eq(sd_event_new(&env.event), 0);
        env_make_guard("boot");
}

static void env_free(void) {
        env_free_guard();
        env.event = sd_event_unref(env.event);
        drive_record_wait(&record, (Wait){ WAIT_NOTHING });
        scratch_remove();
}

static Watched plug(void) {
        Watched w = { .env = &env,
                      .drive = &disk,
                      .record = &record,
                      .wishes = { wish_items, ELEMENTSOF(wish_items) },
                      .visit.selected = { wish_items, ELEMENTSOF(wish_items) } };

        ck_assert_int_eq(watched_guard_attach(&w), 0);
        return w;
}

static void run_until_answered(void) {
        while (intended > 0)
                ck_assert_int_ge(sd_event_run(env.event, UINT64_MAX), 0);
        ck_assert_int_eq(intended, 0);
}

/* A visit, as far as this wish's command. */
static void visit_sends(Watched *w, size_t wish) {
        const WorkerMessage m = { .type = WORKER_INTENDS, .wishes = { 1U << wish } };

        intended = 1;
        w->visit.visitor = (Visitor *) w; /* any */
        watched_guard_begins(w);
        watched_guard_intends(w, &m);
        run_until_answered();
        watched_guard_writing(w, wish);
}

/* One that writes what is dangerous, and is over. */
static void visit_writes(Watched *w) {
        visit_sends(w, 1);
        watched_guard_ended(w);
        ck_assert_uint_gt(w->guard.healthy_at, 0);
}

static void pull(Watched *w) {
        watched_guard_leaves(w);
}

static void ask(Watched *w, VisitReason reason) {
        pending_add(&w->pending, reason, 0);
        watched_guard_hesitates(w);
}

/* Harmless, and lost while it is sent, back, and lost again: its being there until it is visited clears it of nothing. */
START_TEST(test_lost_twice) {
        Watched w = plug();

        ask(&w, VISIT_ATTACH);
        ck_assert_uint_eq(w.guard.steady_until, 0);
        visit_sends(&w, 0);
        pull(&w);
        ck_assert_uint_eq(n_quarantined, 0);

        w = plug();
        ck_assert_uint_eq(w.guard.healthy_at, 0);
        ask(&w, VISIT_ATTACH);
        ck_assert_uint_gt(w.guard.steady_until, monotonic_usec());
        ck_assert_int_eq(record.waiting_kind, WAIT_CONNECTION);
        ck_assert_int_eq(told_waiting, WAIT_CONNECTION);
        ck_assert_ptr_null(record.waiting_for);
        visit_sends(&w, 0);
        pull(&w);
        ck_assert_uint_eq(n_quarantined, 1);

        w = plug();
        ck_assert_ptr_nonnull(guarded_quarantined(w.guard.drive, "apm", "127"));
        ask(&w, VISIT_ATTACH);
        ck_assert_uint_eq(w.guard.steady_until, 0);
        pull(&w);
}
END_TEST

/* Pulled after the command had ended, or the visit, again and again: nothing that is harmless is held against it, and it is
 * visited at once. What is dangerous is quarantined at once. */
static const struct {
        size_t wish;
        bool visit_ended;
        unsigned n_quarantined;
} pulls[] = { { 0, false, 0 }, { 0, true, 0 }, { 1, false, 1 }, { 1, true, 1 } };

START_TEST(test_pulled) {
        Watched w;

        for (unsigned i = 0; i < 3; i++) {
                w = plug();
                ask(&w, VISIT_ATTACH);
                ck_assert_uint_eq(w.guard.steady_until, 0);
                visit_sends(&w, pulls[_i].wish);
                watched_guard_writing(&w, WORKER_READS);
                if (pulls[_i].visit_ended) {
                        watched_guard_ended(&w);
                        ck_assert((w.guard.healthy_at > 0) == (pulls[_i].wish == 1));
                }
                pull(&w);
                ck_assert_uint_eq(n_quarantined, pulls[_i].n_quarantined);
                if (n_quarantined > 0)
                        break;
        }
}
END_TEST

/* The machine went down in two visits: nothing is asked or written, and it is said why of each setting. */
START_TEST(test_alone) {
        Watched w;

        for (unsigned i = 0; i < 2; i++) {
                env_free_guard();
                env_make_guard(i == 0 ? "first" : "second");
                w = plug();
                guard_judge(env.guard);
                ck_assert(!watched_guard_holds(&w));
                visit_sends(&w, 0);
                watched_guard_done(&w); /* the end of all */
        }

        env_free_guard();
        env_make_guard("third");
        w = plug();
        guard_judge(env.guard);
        ck_assert_uint_eq(n_alone, 1);
        ck_assert(watched_guard_holds(&w));
        ck_assert(watched_guard_holds(&w));
        ck_assert_uint_eq(record.n_settings, ELEMENTSOF(wish_items));
        for (size_t i = 0; i < record.n_settings; i++) {
                ck_assert_int_eq(record.settings[i].verdict, VERDICT_QUARANTINED);
                ck_assert_ptr_nonnull(strstr(record.settings[i].reason, "twice in a row"));
                ck_assert_ptr_nonnull(strstr(record.settings[i].reason, "drivekeep release"));
        }

        n_visits = 0;
        ck_assert_uint_eq(watched_release(&w, NULL), 1);
        ck_assert_uint_eq(n_visits, 1);
        ck_assert(!watched_guard_holds(&w));
        watched_guard_done(&w);
}
END_TEST

/* In good order: a visit that is over, or was never begun, leaves nothing; a worker that is stuck leaves its note. */
START_TEST(test_rest) {
        Watched w = plug();

        visit_sends(&w, 1);
        if (_i == 0)
                watched_guard_ended(&w);
        watched_guard_rest(&w);
        ck_assert(guarded_record(w.guard.drive)->visiting == (_i == 1));
        ck_assert(guard_record_intends(guarded_record(w.guard.drive)) == (_i == 1));
        watched_guard_done(&w);
}
END_TEST

/* What an earlier run of the daemon left goes when the drive stays. */
START_TEST(test_left_behind) {
        Watched w = plug();

        visit_writes(&w);
        watched_guard_done(&w);
        w = plug();
        ck_assert_uint_gt(w.guard.healthy_at, 0);
        watched_guard_done(&w);
}
END_TEST

/* Whatever udev tells of it meanwhile. */
START_TEST(test_told_of_again) {
        Watched w = plug();
        uint64_t before;

        visit_writes(&w);
        before = w.guard.healthy_at;
        (void) usleep(2000);
        ck_assert_int_eq(watched_guard_attach(&w), 0);
        ck_assert_uint_eq(w.guard.healthy_at, before);

        /* Where there is no such time, what is noted gets one. */
        w.guard.healthy_at = 0;
        ck_assert_int_eq(watched_guard_attach(&w), 0);
        ck_assert_uint_gt(w.guard.healthy_at, before);
        watched_guard_done(&w);
}
END_TEST

/* A USB drive is asked who it is, and from then on is known by that: what was noted of it before is not held against it. */
START_TEST(test_known_by_another_name) {
        Watched w = plug();
        GuardedDrive *before = w.guard.drive;

        visit_writes(&w);
        ck_assert(guard_record_intends(guarded_record(before)));
        disk.serial = (char *) "S2";
        ck_assert_int_eq(watched_guard_attach(&w), 0);
        disk.serial = (char *) "S";
        ck_assert_ptr_ne(w.guard.drive, before);
        ck_assert(!guard_record_intends(guarded_record(before)));
        watched_guard_done(&w);
}
END_TEST

static void run_a_while(void) {
        for (unsigned i = 0; i < 20; i++)
                ck_assert_int_ge(sd_event_run(env.event, 10000), 0);
}

/* What its worker said before it heard that the drive was pulled is noted nowhere, and touches no note of the next visit's. */
START_TEST(test_worker_of_one_gone) {
        const WorkerMessage m = { .type = WORKER_INTENDS, .wishes = { 2 } };
        const GuardEntry *e;
        Watched w, back;

        w = plug();
        watched_guard_begins(&w);
        watched_guard_leaves(&w);
        w.gone = true;
        watched_guard_intends(&w, &m);
        ck_assert_int_eq(intended, -ENODEV);
        ck_assert_ptr_null(w.guard.drive);

        back = plug();
        watched_guard_begins(&back);
        watched_guard_intends(&back, &m);
        watched_guard_writing(&back, 1);
        watched_guard_writing(&w, WORKER_READS);
        watched_guard_lost(&w);
        watched_guard_ended(&w);
        e = guard_record_find(guarded_record(back.guard.drive), "nap", "on");
        ck_assert(e && e->intended && e->begun);
        ck_assert_str_eq(guarded_record(back.guard.drive)->underway.setting, "nap");
        watched_guard_done(&w);
        watched_guard_done(&back);
}
END_TEST

/* Pulled with its worker stuck, plugged in again, written to, and well. */
START_TEST(test_stuck_and_back) {
        Watched old = plug(), new;

        watched_guard_begins(&old);
        watched_guard_leaves(&old);
        old.gone = true;
        new = plug();
        visit_writes(&new);
        watched_guard_look(&new);
        run_a_while();
        ck_assert(!guard_record_intends(guarded_record(new.guard.drive)));
        ck_assert_uint_eq(new.guard.healthy_at, 0);
        watched_guard_done(&old);
        watched_guard_done(&new);
}
END_TEST

/* By another path to the same drive a visit is still under way. */
START_TEST(test_two_paths) {
        Watched busy = plug(), w = plug();

        watched_guard_begins(&busy);
        visit_writes(&w);
        watched_guard_look(&w);
        run_a_while();
        ck_assert(guard_record_intends(guarded_record(w.guard.drive)));
        ck_assert_uint_gt(w.guard.healthy_at, 0);

        watched_guard_ended(&busy);
        watched_guard_look(&w);
        run_a_while();
        ck_assert(!guard_record_intends(guarded_record(w.guard.drive)));
        watched_guard_done(&busy);
        watched_guard_done(&w);
}
END_TEST

/* One of two paths is pulled within the ten seconds: the drive is there, and what is noted of it stays until the other
 * path has shown that it is well, or is pulled, too. */
START_TEST(test_one_path_leaves) {
        Watched w = plug(), other = plug();

        paths[0] = &w;
        paths[1] = &other;
        visit_sends(&w, 1);
        if (_i > 0)
                watched_guard_ended(&w);
        pull(&w);
        w.gone = true;
        ck_assert_uint_eq(n_quarantined, 0);
        ck_assert_ptr_null(w.guard.drive);
        ck_assert(guard_record_intends(guarded_record(other.guard.drive)));
        ck_assert_uint_gt(other.guard.healthy_at, 0);

        if (_i == 2) {
                watched_guard_look(&other);
                run_a_while();
                ck_assert(!guard_record_intends(guarded_record(other.guard.drive)));
        }
        pull(&other);
        ck_assert_uint_eq(n_quarantined, _i < 2);
        paths[0] = paths[1] = NULL;
}
END_TEST

/* Another disc in an optical drive is an attach of its own, and no loss, however often, and also when it comes while something is
 * sent. */
START_TEST(test_another_medium) {
        const GuardRecord *r;
        Watched w;

        disk.syspath = (char *) ".";
        disk.removable = _i < 2;
        for (disk.diskseq = 3; disk.diskseq < 6; disk.diskseq++) {
                file_write("diskseq", disk.diskseq == 3 ? "3\n" : disk.diskseq == 4 ? "4\n" : "5\n");
                w = plug();
                ask(&w, VISIT_ATTACH);
                ck_assert_uint_eq(w.guard.steady_until, 0);
                visit_sends(&w, _i == 1 ? 1 : 0);
                file_write("diskseq", "6\n");
                watched_guard_leaves(&w);
                w = plug();
                r = guarded_record(w.guard.drive);
                ck_assert(guard_record_suspects(r) == !disk.removable);
                ck_assert(guard_record_intends(r) == (_i == 1));
                watched_guard_done(&w);
                if (!disk.removable)
                        break;
        }
        ck_assert_uint_eq(n_quarantined, 0);
}
END_TEST

int main(void) {
        Suite *s = suite_create("watched-guard");
        TCase *t = tcase_create("watched-guard");

        tcase_add_checked_fixture(t, env_make, env_free);
        tcase_add_test(t, test_lost_twice);
        tcase_add_loop_test(t, test_pulled, 0, ELEMENTSOF(pulls));
        tcase_add_test(t, test_alone);
        tcase_add_loop_test(t, test_rest, 0, 2);
        tcase_add_test(t, test_left_behind);
        tcase_add_test(t, test_told_of_again);
        tcase_add_test(t, test_known_by_another_name);
        tcase_add_loop_test(t, test_another_medium, 0, 3);
        tcase_add_test(t, test_worker_of_one_gone);
        tcase_add_test(t, test_stuck_and_back);
        tcase_add_test(t, test_two_paths);
        tcase_add_loop_test(t, test_one_path_leaves, 0, 3);
        suite_add_tcase(s, t);

        return suite_run(s);
}
