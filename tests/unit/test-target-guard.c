/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the crash guard makes of a drive that comes and goes, with its files; the visits are ours. */

#include <glob.h>
#include <limits.h>
#include <sys/wait.h>

#include "clock.h"
#include "kernel-view.h"
#include "own-clock.h"
#include "state.h"
#include "test-cli.h"
#include "target-guard.h"

/* ---- stand-ins ---- */

static unsigned n_quarantined;

static unsigned n_alone;
void journal_quarantined(_unused_ const GuardRecord *d, const GuardEntry *e) {
        *(e ? &n_quarantined : &n_alone) += 1;
}
void journal_log(_unused_ int priority, _unused_ const char *format, ...) {
}
void journal_worker(_unused_ const Drive *d, _unused_ const char *format, ...) {
}
static WaitKind told_waiting;
void journal_waiting(_unused_ const Drive *d, Wait t, _unused_ bool deferred) {
        told_waiting = t.kind;
}
int target_note_step(Target *t, const Step *s) {
        return drive_record_step(t->record, s, 1);
}
void target_save(_unused_ Target *t) {
}
static int intended;
void visit_job_intended(_unused_ VisitJob *v, int error) {
        intended = error;
}
static unsigned n_woken;
static void on_changed(_unused_ void *userdata, _unused_ Target *t) {
        n_woken++;
}
static int health = 1;
int health_read(_unused_ const char *syspath) {
        return health;
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
static TargetEnv env;

static void env_make_guard(const char *boot_id) {
        ck_assert_int_eq(guard_new(env.event, ".", boot_id, &table, target_guard_stored, &env.guard), 0);
}

static void env_free_guard(void) {
        env.guard = guard_free(env.guard);
        /* Note writers that are still at it. */
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
        env.changed = on_changed;
        ck_assert_int_eq(sd_event_new(&env.event), 0);
        env_make_guard("boot");
}

static void env_free(void) {
        env_free_guard();
        env.event = sd_event_unref(env.event);
        drive_record_wait(&record, (Wait){ WAIT_NOTHING });
        scratch_remove();
}

static void plug(Target *t) {
        *t = (Target){ .env = &env,
                       .drive = &disk,
                       .record = &record,
                       .wishes = { wish_items, ELEMENTSOF(wish_items) },
                       .visit.selected = { wish_items, ELEMENTSOF(wish_items) } };

        ck_assert_int_eq(target_guard_attach(t), 0);
}

static void run_until_answered(void) {
        while (intended > 0)
                ck_assert_int_ge(sd_event_run(env.event, UINT64_MAX), 0);
        ck_assert_int_eq(intended, 0);
}

/* A visit, as far as this wish's command. */
static void visit_sends(Target *t, size_t wish) {
        intended = 1;
        t->visit.job = (VisitJob *) t; /* any */
        target_guard_begins(t);
        target_guard_intends(t, wish);
        run_until_answered();
        target_guard_writing(t, wish);
}

/* One that writes what is dangerous, and is over. */
static void visit_writes(Target *t) {
        visit_sends(t, 1);
        target_guard_ended(t);
        ck_assert_uint_gt(t->guard.healthy_at, 0);
}

static void pull(Target *t) {
        target_guard_leaves(t);
}

static void ask(Target *t, VisitReason reason) {
        pending_add(&t->pending, reason, visit_reason_work(reason), 0);
        target_guard_hesitates(t);
}

/* Harmless, and lost while it is sent, back, and lost again: its being there until it is visited clears it of nothing. */
START_TEST(test_lost_twice) {
        Target t;

        plug(&t);
        ask(&t, VISIT_ATTACH);
        ck_assert_uint_eq(t.guard.steady_until, 0);
        visit_sends(&t, 0);
        pull(&t);
        ck_assert_uint_eq(n_quarantined, 0);

        plug(&t);
        ck_assert_uint_eq(t.guard.healthy_at, 0);
        ask(&t, VISIT_ATTACH);
        ck_assert_uint_gt(t.guard.steady_until, monotonic_usec());
        ck_assert_int_eq(record.waiting_kind, WAIT_CONNECTION);
        ck_assert_int_eq(told_waiting, WAIT_CONNECTION);
        ck_assert_ptr_null(record.waiting_for);
        visit_sends(&t, 0);
        pull(&t);
        ck_assert_uint_eq(n_quarantined, 1);

        plug(&t);
        ck_assert_ptr_nonnull(guarded_quarantined(t.guard.drive, "apm", "127"));
        ask(&t, VISIT_ATTACH);
        ck_assert_uint_eq(t.guard.steady_until, 0);
        pull(&t);
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
        Target t;

        for (unsigned i = 0; i < 3; i++) {
                plug(&t);
                ask(&t, VISIT_ATTACH);
                ck_assert_uint_eq(t.guard.steady_until, 0);
                visit_sends(&t, pulls[_i].wish);
                target_guard_writing(&t, NO_WISH);
                if (pulls[_i].visit_ended) {
                        target_guard_ended(&t);
                        ck_assert((t.guard.healthy_at > 0) == (pulls[_i].wish == 1));
                }
                pull(&t);
                ck_assert_uint_eq(n_quarantined, pulls[_i].n_quarantined);
                if (n_quarantined > 0)
                        break;
        }
}
END_TEST

/* The machine went down in two visits: nothing is asked or written, and it is said why of each setting. */
START_TEST(test_alone) {
        Target t;

        for (unsigned i = 0; i < 2; i++) {
                env_free_guard();
                env_make_guard(i == 0 ? "first" : "second");
                plug(&t);
                guard_judge(env.guard);
                ck_assert(!target_guard_holds(&t));
                visit_sends(&t, 0);
                target_guard_done(&t); /* the end of all */
        }

        env_free_guard();
        env_make_guard("third");
        plug(&t);
        guard_judge(env.guard);
        ck_assert_uint_eq(n_alone, 1);
        ck_assert(target_guard_holds(&t));
        ck_assert(target_guard_holds(&t));
        ck_assert_uint_eq(record.n_settings, ELEMENTSOF(wish_items));
        for (size_t i = 0; i < record.n_settings; i++) {
                ck_assert_int_eq(record.settings[i].verdict, VERDICT_QUARANTINED);
                ck_assert_ptr_nonnull(strstr(record.settings[i].reason, "twice in a row"));
                ck_assert_ptr_nonnull(strstr(record.settings[i].reason, "drivekeep release"));
        }

        ck_assert_uint_eq(guarded_release(t.guard.drive, NULL), 1);
        ck_assert(!target_guard_holds(&t));
        target_guard_done(&t);
}
END_TEST

/* In good order: a visit that is over, or was never begun, leaves nothing; a worker that is stuck leaves its note. */
START_TEST(test_rest) {
        Target t;

        plug(&t);
        visit_sends(&t, 1);
        if (_i == 0)
                target_guard_ended(&t);
        target_guard_rest(&t);
        ck_assert(guarded_record(t.guard.drive)->visiting == (_i == 1));
        ck_assert(guard_record_intends(guarded_record(t.guard.drive)) == (_i == 1));
        target_guard_done(&t);
}
END_TEST

/* What an earlier run of the daemon left goes when the drive stays. */
START_TEST(test_left_behind) {
        Target t;

        plug(&t);
        visit_writes(&t);
        target_guard_done(&t);
        plug(&t);
        ck_assert_uint_gt(t.guard.healthy_at, 0);
        target_guard_done(&t);
}
END_TEST

/* Whatever udev tells of it meanwhile. */
START_TEST(test_told_of_again) {
        uint64_t before;
        Target t;

        plug(&t);
        visit_writes(&t);
        before = t.guard.healthy_at;
        passed_usec += 2000;
        ck_assert_int_eq(target_guard_attach(&t), 0);
        ck_assert_uint_eq(t.guard.healthy_at, before);

        /* Where there is no such time, what is noted gets one. */
        t.guard.healthy_at = 0;
        ck_assert_int_eq(target_guard_attach(&t), 0);
        ck_assert_uint_gt(t.guard.healthy_at, before);
        target_guard_done(&t);
}
END_TEST

/* A USB drive is asked who it is, and from then on is known by that: what was noted of it before is not held against it. */
START_TEST(test_known_by_another_name) {
        const GuardRecord *before;
        Target t;

        plug(&t);
        before = guarded_record(t.guard.drive);
        visit_writes(&t);
        ck_assert(guard_record_intends(before));
        disk.serial = (char *) "S2";
        ck_assert_int_eq(target_guard_attach(&t), 0);
        disk.serial = (char *) "S";
        ck_assert_ptr_ne(guarded_record(t.guard.drive), before);
        ck_assert(!guard_record_intends(before));
        target_guard_done(&t);
}
END_TEST

static void run_a_while(void) {
        for (unsigned i = 0; i < 20; i++)
                ck_assert_int_ge(sd_event_run(env.event, 10000), 0);
}

/* Pulled with its worker stuck, plugged in again, written to, and well. */
START_TEST(test_stuck_and_back) {
        Target old, new;

        plug(&old);

        target_guard_begins(&old);
        target_guard_leaves(&old);
        plug(&new);
        visit_writes(&new);
        target_guard_look(&new);
        run_a_while();
        ck_assert(!guard_record_intends(guarded_record(new.guard.drive)));
        ck_assert_uint_eq(new.guard.healthy_at, 0);
        target_guard_done(&old);
        target_guard_done(&new);
}
END_TEST

/* Its ten seconds are over: it is well, or gone, or nobody can say yet. */
static const struct {
        int health;
        bool again;
        unsigned n_quarantined;
} healths[] = { { 1, false, 0 }, { 0, true, 0 }, { -ENODEV, false, 1 } };

START_TEST(test_health) {
        uint64_t before;
        Target t;

        plug(&t);
        visit_writes(&t);
        before = t.guard.healthy_at;
        ck_assert_uint_eq(before, monotonic_usec() + 10 * 1000 * 1000);
        health = healths[_i].health;
        n_woken = 0;
        target_guard_look(&t);
        health = 1;
        ck_assert((t.guard.healthy_at >= before && n_woken == 1) == healths[_i].again);
        ck_assert(healths[_i].again || (t.guard.healthy_at == 0 && n_woken == 0));
        ck_assert_uint_eq(n_quarantined, healths[_i].n_quarantined);
        ck_assert(guard_record_intends(guarded_record(t.guard.drive)) == healths[_i].again);
        pull(&t);
}
END_TEST

/* … and it is visited again: the end of that sets another time. */
START_TEST(test_health_in_visit) {
        Target t;

        plug(&t);
        visit_writes(&t);
        visit_sends(&t, 1);
        health = -ENODEV;
        target_guard_look(&t);
        health = 1;
        ck_assert_uint_eq(t.guard.healthy_at, 0);
        ck_assert_uint_eq(n_quarantined, 0);
        target_guard_ended(&t);
        ck_assert_uint_gt(t.guard.healthy_at, 0);
        pull(&t);
}
END_TEST

/* What is in quarantine, the worker is told: this value, where it is to be written. */
static const struct {
        int64_t value;
        bool withheld, told;
} quarantines[] = { { 1, false, true }, { 0, false, false }, { 1, true, false } };

START_TEST(test_remember) {
        Memory memories[ELEMENTSOF(wish_items)] = { { .quarantined = "of another visit" } };
        Target t;

        plug(&t);
        visit_sends(&t, 1);
        pull(&t);
        plug(&t);
        t.visit.memories = memories;
        wish_items[1].value.number = quarantines[_i].value;
        wish_items[1].withheld = quarantines[_i].withheld;
        target_guard_remember(&t);
        wish_items[1].value.number = 1;
        wish_items[1].withheld = false;
        ck_assert_str_eq(memories[0].quarantined, "");
        ck_assert((memories[1].quarantined[0] != '\0') == quarantines[_i].told);

        /* Of what no row is for there is nothing to say. */
        env.settings = &(SettingTable){};
        target_guard_remember(&t);
        ck_assert_str_eq(memories[1].quarantined, "");
        env.settings = &table;
        pull(&t);
}
END_TEST

/* One that was lost is not visited at once when it is back; but when somebody asks for it, and on any other occasion. */
static const struct {
        VisitReason first, then; /* then: also */
        bool steady, told;
} hesitations[] = {
        { VISIT_ATTACH, VISIT_ATTACH, true, true },   { VISIT_BOOT, VISIT_BOOT, true, true },
        { VISIT_ATTACH, VISIT_RESET, true, true },    { VISIT_RESET, VISIT_CHANGE, false, false },
        { VISIT_REQUEST, VISIT_ATTACH, true, false },
};

START_TEST(test_hesitates) {
        uint64_t before;
        Target t;

        plug(&t);
        visit_sends(&t, 0);
        pull(&t);
        plug(&t);
        told_waiting = WAIT_NOTHING;
        pending_add(&t.pending, hesitations[_i].first, visit_reason_work(hesitations[_i].first), 0);
        ask(&t, hesitations[_i].then);
        before = t.guard.steady_until;
        ck_assert_uint_eq(before, hesitations[_i].steady ? monotonic_usec() + 10 * 1000 * 1000 : 0);
        ck_assert((told_waiting == WAIT_CONNECTION) == hesitations[_i].told);

        /* Whatever comes then, that time stays. */
        told_waiting = WAIT_NOTHING;
        passed_usec += 2000;
        ask(&t, hesitations[_i].then);
        ck_assert_uint_eq(t.guard.steady_until, before);
        ck_assert_int_eq(told_waiting, WAIT_NOTHING);
        pull(&t);
}
END_TEST

/* The kernel's command line forbids all writing: so it is said of each setting that is wanted, and of no other. */
START_TEST(test_forbidden) {
        SettingRecord *unwanted;
        Target t;

        plug(&t);
        ck_assert_int_eq(drive_record_add(&record, "standby", &unwanted), 0);
        env.forbidden_by = "drivekeep=0";
        ck_assert(target_guard_holds(&t));
        env.forbidden_by = NULL;
        ck_assert_uint_eq(record.n_settings, ELEMENTSOF(wish_items));
        for (size_t i = 0; i < record.n_settings; i++) {
                ck_assert_int_eq(record.settings[i].verdict, VERDICT_FORBIDDEN);
                ck_assert_str_eq(record.settings[i].reason,
                                 "nothing is written in this boot: the kernel's command line says drivekeep=0");
        }
        ck_assert(!target_guard_holds(&t));
        pull(&t);
}
END_TEST

/* A note that is on the disk already is waited for no longer, and one that cannot be written neither. */
START_TEST(test_answered_at_once) {
        Target t;

        plug(&t);
        visit_sends(&t, 0);
        if (_i == 1) { /* nobody can read it */
                pull(&t);
                env_free_guard();
                file_write("visits", "");
                env_make_guard("boot");
                plug(&t);
                t.visit.job = (VisitJob *) &t;
                target_guard_begins(&t);
        }
        intended = INT_MAX;
        target_guard_intends(&t, _i == 0 ? 0 : NO_WISH);
        ck_assert_int_eq(intended, _i == 0 ? 1 : -EBADMSG);
        target_guard_ended(&t);
        pull(&t);
}
END_TEST

/* No note is made of a drive's going to standby: it may lie on the drive, which its removal would wake. */
START_TEST(test_no_note) {
        VisitReason reason = _i ? VISIT_SLEEP : VISIT_REQUEST;
        glob_t notes;
        Target t;

        plug(&t);
        t.visit.pending.work = visit_reason_work(reason);
        visit_sends(&t, 0);
        ck_assert_int_eq(glob("*", 0, NULL, &notes), reason == VISIT_SLEEP ? GLOB_NOMATCH : 0);
        globfree(&notes);
        target_guard_ended(&t);
        pull(&t);
}
END_TEST

/* By another path to the same drive a visit is still under way. */
START_TEST(test_two_paths) {
        Target busy, t;

        plug(&busy);
        plug(&t);

        target_guard_begins(&busy);
        visit_writes(&t);
        target_guard_look(&t);
        run_a_while();
        ck_assert(guard_record_intends(guarded_record(t.guard.drive)));
        ck_assert_uint_gt(t.guard.healthy_at, 0);

        target_guard_ended(&busy);
        target_guard_look(&t);
        run_a_while();
        ck_assert(!guard_record_intends(guarded_record(t.guard.drive)));
        target_guard_done(&busy);
        target_guard_done(&t);
}
END_TEST

/* One of two paths is pulled within the ten seconds: the drive is there, and what is noted of it stays until the other
 * path has shown that it is well, or is pulled, too. */
START_TEST(test_one_path_leaves) {
        Target t, other;

        plug(&t);
        plug(&other);

        visit_sends(&t, 1);
        if (_i > 0)
                target_guard_ended(&t);
        pull(&t);
        ck_assert_uint_eq(n_quarantined, 0);
        ck_assert_ptr_null(t.guard.drive);
        ck_assert(guard_record_intends(guarded_record(other.guard.drive)));
        ck_assert_uint_gt(other.guard.healthy_at, 0);

        if (_i == 2) {
                target_guard_look(&other);
                run_a_while();
                ck_assert(!guard_record_intends(guarded_record(other.guard.drive)));
        }
        pull(&other);
        ck_assert_uint_eq(n_quarantined, _i < 2);
}
END_TEST

/* Another disc in an optical drive is an attach of its own, and no loss, however often, and also when it comes while something is
 * sent. */
START_TEST(test_another_medium) {
        const GuardRecord *r;
        Target t;

        disk.syspath = (char *) ".";
        disk.removable = _i < 2;
        for (disk.diskseq = 3; disk.diskseq < 6; disk.diskseq++) {
                file_write("diskseq", disk.diskseq == 3 ? "3\n" : disk.diskseq == 4 ? "4\n" : "5\n");
                plug(&t);
                ask(&t, VISIT_ATTACH);
                ck_assert_uint_eq(t.guard.steady_until, 0);
                visit_sends(&t, _i == 1 ? 1 : 0);
                file_write("diskseq", "6\n");
                target_guard_leaves(&t);
                plug(&t);
                r = guarded_record(t.guard.drive);
                ck_assert(guard_record_suspects(r) == !disk.removable);
                ck_assert(guard_record_intends(r) == (_i == 1));
                target_guard_done(&t);
                if (!disk.removable)
                        break;
        }
        ck_assert_uint_eq(n_quarantined, 0);
}
END_TEST

int main(void) {
        Suite *s = suite_create("target-guard");
        TCase *t = tcase_create("target-guard");

        tcase_add_checked_fixture(t, env_make, env_free);
        tcase_add_test(t, test_lost_twice);
        tcase_add_loop_test(t, test_pulled, 0, ELEMENTSOF(pulls));
        tcase_add_test(t, test_alone);
        tcase_add_loop_test(t, test_rest, 0, 2);
        tcase_add_test(t, test_left_behind);
        tcase_add_test(t, test_told_of_again);
        tcase_add_test(t, test_known_by_another_name);
        tcase_add_loop_test(t, test_another_medium, 0, 3);
        tcase_add_test(t, test_stuck_and_back);
        tcase_add_loop_test(t, test_health, 0, ELEMENTSOF(healths));
        tcase_add_test(t, test_health_in_visit);
        tcase_add_loop_test(t, test_remember, 0, ELEMENTSOF(quarantines));
        tcase_add_loop_test(t, test_hesitates, 0, ELEMENTSOF(hesitations));
        tcase_add_test(t, test_forbidden);
        tcase_add_loop_test(t, test_answered_at_once, 0, 2);
        tcase_add_loop_test(t, test_no_note, 0, 2);
        tcase_add_test(t, test_two_paths);
        tcase_add_loop_test(t, test_one_path_leaves, 0, 3);
        suite_add_tcase(s, t);

        return suite_run(s);
}
