/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What leads to a visit, and what becomes of that while another is under way: no reason takes the place of one that is about
 * more. The visitor, the guard, the counters and the state file are ours. */

#include <inttypes.h>

#include "fake-visitor.h"
#include "sysfs-tree.h"

#define SERIAL "{ match = { serial = \"S1\"; }; write_cache = true; }"

/* ---- the tests ---- */

static const struct {
        bool successor, stale, deferred;
        int again; /* -1: nothing */
        VisitReason next;
} endings[] = {
        { .again = VISIT_RESET, .next = VISIT_RESET },
        { .successor = true, .again = VISIT_RESET, .next = VISIT_RESET },
        { .stale = true, .again = VISIT_RESET, .next = VISIT_RESET },
        { .stale = true, .successor = true, .again = VISIT_PERMANENT, .next = VISIT_PERMANENT },
        { .successor = true, .deferred = true, .again = -1, .next = VISIT_RETRY },
        { .deferred = true, .again = VISIT_REVALIDATION, .next = VISIT_RETRY },
        { .deferred = true, .again = VISIT_RESUME, .next = VISIT_RESUME },
        { .successor = true, .again = -1, .next = VISIT_REVALIDATION },
};

START_TEST(test_endings) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        visit_whole(t, VISIT_ATTACH);
        target_visit(t, VISIT_CHANGE);
        visitor.events->ready(t);
        ck_assert(visitor.working);

        if (endings[_i].successor)
                target_update(t, disk(TRANSPORT_SATA, NULL));
        if (endings[_i].stale)
                target_reconfigure(t, VISIT_RELOAD);
        if (endings[_i].again >= 0)
                target_visit(t, (VisitReason) endings[_i].again);
        tell(t, VERDICT_UNCHANGED);
        visitor.events->ended(t, endings[_i].deferred ? VISIT_DEFERRED : VISIT_OVER, NULL);

        ck_assert_ptr_nonnull(t->visit.job);
        ck_assert_str_eq(visit_reason_to_string(t->visit.pending.reason), visit_reason_to_string(endings[_i].next));
        ck_assert_uint_eq(n_wishes, endings[_i].next == VISIT_REVALIDATION ? 1 : 2);
        ck_assert(!is_due(t));
        end(t);
}
END_TEST

/* The link of a rule comes while a visit waits that is only about what the kernel holds. */
START_TEST(test_new_wish_in_narrow_visit) {
        Target *t = watch("{ match = \"/dev/sda\"; read_ahead_kb = 512; }, { match = \"/dev/a\"; apm = 128; }",
                          TRANSPORT_SATA);

        visit_whole(t, VISIT_ATTACH);
        target_visit(t, VISIT_REVALIDATION);
        target_update(t, disk(TRANSPORT_SATA, "/dev/a"));
        ck_assert_uint_eq(n_wishes, 2);
        end(t);
}
END_TEST

/* … and somebody asks for all while one waits for its check. */
START_TEST(test_request_in_narrow_visit) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        visit_whole(t, VISIT_ATTACH);
        target_visit(t, VISIT_REVALIDATION);
        ck_assert_uint_eq(n_wishes, 1);
        visitor.events->waiting(t, check_x, true);
        ck_assert_int_eq(t->visit.pending.reason, VISIT_RETRY);

        target_visit(t, VISIT_REVALIDATION);
        ck_assert_uint_eq(n_wishes, 1);
        target_visit(t, VISIT_REQUEST);
        ck_assert_uint_eq(n_wishes, 2);
        end(t);
}
END_TEST

/* … and whoever asks for all does not wait as long as a check takes with what it made the visit leave undone. */
START_TEST(test_request_and_check_in_mid_visit) {
        Target *t = watch(TWO, TRANSPORT_SATA);
        unsigned before;

        target_visit(t, VISIT_REQUEST);
        visitor.events->ready(t);
        visitor.events->waiting(t, check_x, false);
        visitor.events->waiting(t, check_x, true);
        tell(t, VERDICT_DEFERRED);
        visitor.events->ended(t, VISIT_DEFERRED, NULL);
        ck_assert_int_eq(t->visit.pending.reason, VISIT_RETRY);

        before = n_rested;
        visitor.events->waiting(t, (Wait){ WAIT_UDEV }, false);
        ck_assert_uint_eq(n_rested, before);
        visitor.events->waiting(t, check_x, false);
        ck_assert_uint_eq(n_rested, before + 1);
        end(t);
}
END_TEST

/* What drives keep themselves is saved when somebody has asked for that, whatever comes between. */
static const struct {
        int before, then; /* -1: nothing */
        bool reload, working;
} permanents[] = {
        { -1, -1 },
        { VISIT_RESUME, -1 },
        { VISIT_CONTROLLER, -1 },
        { -1, VISIT_RESET },
        { -1, VISIT_REQUEST },
        { -1, -1, .reload = true },
        { VISIT_RESUME, VISIT_REQUEST, .reload = true },
        { VISIT_RESUME, -1, .working = true },
        { VISIT_REQUEST, VISIT_RESUME, .working = true },
        { VISIT_REQUEST, -1, .reload = true, .working = true },
};

START_TEST(test_permanent) {
        int before = permanents[_i].before, then = permanents[_i].then;
        Target *t = watch(TWO, TRANSPORT_SATA);

        visit_whole(t, VISIT_ATTACH);
        if (before >= 0)
                target_visit(t, (VisitReason) before);
        if (permanents[_i].working)
                visitor.events->ready(t);
        target_visit(t, VISIT_PERMANENT);
        if (then >= 0)
                target_visit(t, (VisitReason) then);
        if (permanents[_i].reload)
                target_reconfigure(t, VISIT_RELOAD);
        if (permanents[_i].working)
                visitor.events->ended(t, VISIT_OVER, NULL);

        ck_assert_ptr_nonnull(t->visit.job);
        ck_assert(visitor.permanent);
        visitor.events->ready(t);
        tell(t, VERDICT_UNCHANGED);
        visitor.events->ended(t, VISIT_OVER, NULL);

        /* Once. */
        ck_assert(!t->visit.job || !visitor.permanent);
        if (!t->visit.job)
                target_visit(t, VISIT_REQUEST);
        ck_assert(!visitor.permanent);
        end(t);
}
END_TEST

/* Of a drive that nothing is wanted of there is nothing to save, later either. */
START_TEST(test_permanent_nothing) {
        Target *t = watch("{ match = \"/dev/sdx\"; apm = 1; }", TRANSPORT_SATA);

        target_visit(t, VISIT_PERMANENT);
        ck_assert_ptr_null(t->visit.job);
        files_become(TWO);
        target_reconfigure(t, VISIT_RELOAD);
        ck_assert_ptr_nonnull(t->visit.job);
        ck_assert(!visitor.permanent);
        end(t);
}
END_TEST

/* A check comes in mid-visit: the visit begins anew, for all that it was for; but what was lost is forgotten once, and a recheck has
 * its time. */
static const struct {
        VisitReason reason;
        int next; /* -1: there is none */
        bool permanent;
} interrupted[] = {
        { VISIT_ATTACH, VISIT_ATTACH },
        { VISIT_REQUEST, VISIT_REQUEST },
        { VISIT_PERMANENT, VISIT_PERMANENT, .permanent = true },
        { VISIT_RESUME, VISIT_CHANGE },
        { VISIT_RECHECK, -1 },
};

START_TEST(test_interrupted) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        visit_whole(t, VISIT_ATTACH);
        target_visit(t, interrupted[_i].reason);
        visitor.events->ready(t);
        ck_assert(visitor.working);
        n_told = 0;
        visitor.events->ended(t, VISIT_INTERRUPTED, NULL);
        ck_assert_uint_eq(n_told, 0);

        ck_assert_int_eq(t->visit.job != NULL, interrupted[_i].next >= 0);
        if (interrupted[_i].next >= 0) {
                ck_assert_int_eq((int) t->visit.pending.reason, interrupted[_i].next);
                ck_assert(visitor.permanent == interrupted[_i].permanent);
                ck_assert_uint_eq(n_wishes, 2);
        }
        end(t);
}
END_TEST

/* Leave is taken back before there is a worker: none is made before it is given again. */
START_TEST(test_not_ready) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        n_places = 0;
        has_places = false;
        target_visit(t, VISIT_ATTACH);
        visitor.events->ready(t);
        ck_assert_uint_eq(n_places, 1);
        ck_assert(t->visit.ready);
        visitor.events->waiting(t, check_x, false);
        ck_assert(!t->visit.ready);
        has_places = true;
        visitor.events->ready(t);
        ck_assert(visitor.working);
        end(t);
}
END_TEST

/* A rule for a serial number, for a drive that has not yet been asked for its own. */
START_TEST(test_rule_for_unknown_drive) {
        Target *t = watch("{ match = \"/dev/sdx\"; apm = 1; }", TRANSPORT_USB);

        target_visit(t, VISIT_ATTACH);
        ck_assert_ptr_null(t->visit.job);
        ck_assert(!target_has_deferred(t));

        files_become(SERIAL);
        target_reconfigure(t, VISIT_RELOAD);
        ck_assert_ptr_nonnull(t->visit.job);

        /* Who waits for it is told that it is deferred, although there is no setting to say it of. */
        visitor.events->waiting(t, check_x, true);
        ck_assert_uint_eq(n_rested, 1);

        /* It slept: as soon as its user wakes it, it is asked again. */
        visitor.events->ready(t);
        visitor.events->ended(t, VISIT_OVER, NULL);
        ck_assert_ptr_null(t->visit.job);
        ck_assert(target_has_deferred(t));
        end(t);
}
END_TEST

/* A visit finds out which drive it is, and another reason came meanwhile. */
START_TEST(test_revealed) {
        static const Bridge bridge = { .asked = true, .identified = true };
        static const DriveIdentity identity = { .model = "M", .serial = "S1" };
        Target *t = watch(SERIAL, TRANSPORT_USB);

        target_visit(t, VISIT_RECHECK);
        visitor.events->ready(t);
        if (_i)
                target_visit(t, VISIT_RESET);
        visitor.events->bridged(t, &bridge, &identity);
        visitor.events->ended(t, VISIT_OVER, NULL);

        ck_assert_ptr_nonnull(t->visit.job);
        ck_assert_int_eq(t->visit.pending.reason, _i ? VISIT_RESET : VISIT_CHANGE);
        ck_assert_uint_eq(n_wishes, 1);
        end(t);
}
END_TEST

/* All that the visit was for is still to be done. */
START_TEST(test_revealed_on_request) {
        static const VisitReason requests[] = { VISIT_SLEEP, VISIT_PERMANENT };
        static const Bridge bridge = { .asked = true, .identified = true };
        static const DriveIdentity identity = { .model = "M", .serial = "S1" };
        Target *t = watch(SERIAL, TRANSPORT_USB);

        target_visit(t, VISIT_RESUME);
        target_visit(t, requests[_i]);
        visitor.events->ready(t);
        visitor.events->bridged(t, &bridge, &identity);
        visitor.events->ended(t, VISIT_OVER, NULL);

        ck_assert_ptr_nonnull(t->visit.job);
        ck_assert_uint_eq(visit_reason_work(requests[_i]) & ~t->visit.pending.work, 0);
        ck_assert(visitor.permanent == (requests[_i] == VISIT_PERMANENT));
        ck_assert(t->visit.sleeps == (requests[_i] == VISIT_SLEEP));
        end(t);
}
END_TEST

/* A drive that was in use when a visit found out which one it is does not sleep at the next, and at the one after that it may. */
START_TEST(test_revealed_in_use) {
        static const Bridge bridge = { .asked = true, .identified = true };
        static const DriveIdentity identity = { .model = "M", .serial = "S1" };
        Target *t = watch(SERIAL, TRANSPORT_USB);

        if (_i)
                (void) target_look(t);
        target_visit(t, _i ? VISIT_CHANGE : VISIT_BOOT);
        visitor.events->ready(t);
        ck_assert_int_eq(target_work(t), 0);
        ck_assert(visitor.active == !_i);
        visitor.events->bridged(t, &bridge, &identity);
        visitor.events->ended(t, VISIT_OVER, NULL);

        visitor.events->ready(t);
        ck_assert_int_eq(target_work(t), 0);
        ck_assert(visitor.active == !_i);
        visitor.events->ended(t, VISIT_OVER, NULL);

        target_visit(t, VISIT_CHANGE);
        visitor.events->ready(t);
        ck_assert_int_eq(target_work(t), 0);
        ck_assert(!visitor.active);
        visitor.events->ended(t, VISIT_OVER, NULL);
        end(t);
}
END_TEST

/* A visit begins, and its worker dies after so many verdicts. */
static void visit_lost(Target *t, VisitReason reason) {
        target_visit(t, reason);
        visitor.events->ready(t);
        tell(t, VERDICT_FAILED);
        visitor.events->ended(t, VISIT_OVER, "died");
        ck_assert_ptr_null(t->visit.job);
}

/* Once more after a few seconds, then at the next event, and then, too, only once it has gone well in between. */
START_TEST(test_dead_worker) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        visit_lost(t, VISIT_ATTACH);
        pass(t, 2);
        ck_assert_ptr_null(t->visit.job);
        pass(t, 28);
        ck_assert_ptr_nonnull(t->visit.job);
        ck_assert_int_eq(t->visit.pending.reason, VISIT_RETRY);
        ck_assert_uint_eq(n_wishes, 2);
        visitor.events->ready(t);
        if (_i) {
                tell(t, VERDICT_FAILED);
                visitor.events->ended(t, VISIT_OVER, "died");
                ck_assert(!is_due(t));
                visit_lost(t, VISIT_RESET);
                ck_assert(!is_due(t));
        } else {
                tell(t, VERDICT_APPLIED);
                visitor.events->ended(t, VISIT_OVER, NULL);
                ck_assert(!is_due(t));
        }

        visit_whole(t, VISIT_CHANGE);
        visit_lost(t, VISIT_RESUME);
        ck_assert(is_due(t));
        /* A visit to all of it that goes well makes up for it. */
        visit_whole(t, VISIT_REQUEST);
        ck_assert(!is_due(t));
        end(t);
}
END_TEST

/* What the crash guard is told, from the drive's coming to its going. */
START_TEST(test_guard) {
        Target *t;

        guard_told[0] = '\0';
        t = watch(TWO, TRANSPORT_SATA);
        visit_whole(t, VISIT_ATTACH);
        ck_assert_str_eq(guard_told, "attach hesitates holds remember begins ended ");

        /* It looks after the drive at its time, and not before. */
        guard_told[0] = '\0';
        t->guard.healthy_at = monotonic_usec() + 10 * 1000 * 1000;
        ck_assert_uint_eq(target_due(t), t->guard.healthy_at);
        target_tick(t);
        passed += 9;
        target_tick(t);
        ck_assert_str_eq(guard_told, "");
        passed += 2;
        target_tick(t);
        ck_assert_str_eq(guard_told, "look ");
        ck_assert(!is_due(t));

        guard_told[0] = '\0';
        target_leave(t);
        end(t);
        ck_assert_str_eq(guard_told, "leaves done ");
}
END_TEST

/* The first of all that it waits for; what it cannot do while a worker is at it, it does not wait for. */
START_TEST(test_due) {
        Target *t = watch(TWO, TRANSPORT_SATA);
        uint64_t now = monotonic_usec();

        visit_whole(t, VISIT_ATTACH);
        ck_assert_uint_eq(target_due(t), UINT64_MAX);
        for (unsigned first = 0; first < 3; first++) {
                const uint64_t at = now + 1000 * 1000 * 1000;

                t->pending = (Pending){ .work = WORK_APPLY, .reason = VISIT_CHANGE, .not_before = at - (first == 0) };
                t->guard.healthy_at = at - (first == 1);
                t->save_again = at - (first == 2);
                ck_assert_uint_eq(target_due(t), at - 1);
                target_tick(t);
                ck_assert_ptr_null(t->visit.job);
                ck_assert_uint_eq(target_due(t), at - 1);
        }
        t->guard.healthy_at = t->save_again = 0;
        t->pending = (Pending){};

        target_visit(t, VISIT_REQUEST);
        visitor.events->ready(t);
        target_visit(t, VISIT_RESET);
        ck_assert_uint_eq(target_due(t), UINT64_MAX);
        end(t);
}
END_TEST

/* Without the guard, a new drive is not looked after, and one that is known keeps its settings: that is said. */
START_TEST(test_unguarded) {
        static const Bridge bridge = { .asked = true, .identified = true };
        static const DriveIdentity identity = { .model = "M", .serial = "S1" };
        Drive *d = disk(TRANSPORT_SATA, NULL);
        Target *t = watch(SERIAL ", " TWO, TRANSPORT_USB), *other;

        attach_error = -ENOMEM;
        ck_assert_int_eq(target_new(&env, d, &other), -ENOMEM);
        (void) drive_free(d);

        visit_whole(t, VISIT_ATTACH);
        n_logged = n_visits = 0;
        target_update(t, disk(TRANSPORT_USB, "/dev/a"));
        ck_assert_uint_eq(n_logged, 1);
        ck_assert_uint_eq(n_visits, 0);

        target_visit(t, VISIT_REQUEST);
        visitor.events->ready(t);
        visitor.events->bridged(t, &bridge, &identity);
        n_logged = 0;
        visitor.events->ended(t, VISIT_OVER, NULL);
        ck_assert_uint_eq(n_logged, 1);
        ck_assert_ptr_null(wishes_find(&t->wishes, "write_cache"));
        attach_error = 0;
        end(t);
}
END_TEST

/* It goes: what its worker has not told is told, if it has one. */
START_TEST(test_leave) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        n_told = n_vanished = 0;
        target_visit(t, VISIT_ATTACH);
        if (_i)
                visitor.events->ready(t);
        target_leave(t);
        ck_assert_ptr_null(t->visit.job);
        ck_assert_uint_eq(n_told, _i);
        ck_assert_uint_eq(n_vanished, _i);
        end(t);
}
END_TEST

/* It goes away in between. */
START_TEST(test_dead_worker_gone_drive) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        visit_lost(t, VISIT_ATTACH);
        target_leave(t);
        ck_assert_ptr_null(t->visit.job);
        end(t);
}
END_TEST

/* A recheck is made again at its time. */
START_TEST(test_dead_recheck) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        visit_whole(t, VISIT_ATTACH);
        visit_lost(t, VISIT_RECHECK);
        ck_assert(!is_due(t));
        end(t);
}
END_TEST

/* The daemon may be killed while the drive waits for its worker: what was lost is not remembered as sent. */
START_TEST(test_forgotten_on_disk) {
        Target *t = watch("{ match = \"/dev/sda\"; spindown_time = \"20min\"; }", TRANSPORT_SATA);
        Step s;

        target_visit(t, VISIT_ATTACH);
        visitor.events->ready(t);
        s = (Step){ .wish = t->visit.selected.items,
                    .setting = setting_find(&all_settings, "spindown_time"),
                    .wanted = t->visit.selected.items[0].value,
                    .written = true,
                    .verdict = VERDICT_UNVERIFIABLE };
        visitor.events->step(t, &s);
        visitor.events->ended(t, VISIT_OVER, NULL);
        ck_assert(written_sent);
        ck_assert_int_eq(written_state, DRIVE_IDLE);

        target_visit(t, VISIT_RESUME);
        ck_assert(!written_sent);
        ck_assert_int_eq(written_state, DRIVE_QUEUED);
        visitor.events->ready(t);
        ck_assert_int_eq(written_state, DRIVE_VISITING);
        visitor.events->ended(t, VISIT_OVER, NULL);
        end(t);
}
END_TEST

#define TIMER "{ match = \"/dev/sda\"; spindown_time = \"20min\"; apm = 128; }"

static Memory memory_of(const Target *t, const char *name) {
        for (size_t i = 0; i < t->visit.selected.n_items; i++)
                if (streq(t->visit.selected.items[i].name, name))
                        return t->visit.memories[i];
        ck_abort_msg("%s is not what this visit is about", name);
}

/* All that was wanted was done: the timer was sent. */
static Target *watch_with_timer(void) {
        Target *t = watch(TIMER, TRANSPORT_SATA);

        target_visit(t, VISIT_ATTACH);
        visitor.events->ready(t);
        for (size_t i = 0; i < t->visit.selected.n_items; i++) {
                const Wish *wish = t->visit.selected.items + i;
                bool unreadable = streq(wish->name, "spindown_time");

                visitor.events->step(t,
                                     &(const Step){ .wish = wish,
                                                    .setting = setting_find(&all_settings, wish->name),
                                                    .written = true,
                                                    .after = { .known = !unreadable, .value = wish->value },
                                                    .verdict = unreadable ? VERDICT_UNVERIFIABLE : VERDICT_APPLIED });
        }
        visitor.events->ended(t, VISIT_OVER, NULL);
        return t;
}

/* Whoever asks for a visit wants the timer sent, also when a visit is about to begin or under way; what others visit for
 * trusts what was sent. */
static const struct {
        int before, then; /* -1: nothing */
        bool working, sent;
} trusts[] = {
        { -1, VISIT_CHANGE, .sent = true },
        { -1, VISIT_BOOT, .sent = true },
        { -1, VISIT_REQUEST },
        { -1, VISIT_PERMANENT },
        { VISIT_CHANGE, VISIT_REQUEST },
        { VISIT_CHANGE, VISIT_REQUEST, .working = true },
        { VISIT_CHANGE, VISIT_RETRY, .working = true, .sent = true },
};

START_TEST(test_trust) {
        Target *t = watch_with_timer();

        if (trusts[_i].before >= 0)
                target_visit(t, (VisitReason) trusts[_i].before);
        if (trusts[_i].working)
                visitor.events->ready(t);
        target_visit(t, (VisitReason) trusts[_i].then);
        if (trusts[_i].working) {
                for (size_t i = 0; i < t->visit.selected.n_items; i++)
                        visitor.events->step(t, &(const Step){ .wish = t->visit.selected.items + i,
                                                               .setting = setting_find(&all_settings,
                                                                                       t->visit.selected.items[i].name),
                                                               .verdict = VERDICT_UNVERIFIABLE });
                visitor.events->ended(t, VISIT_OVER, NULL);
        }
        ck_assert_ptr_nonnull(t->visit.job);
        ck_assert(memory_of(t, "spindown_time").sent.known == trusts[_i].sent);
        ck_assert(memory_of(t, "apm").read.known);
        ck_assert_int_eq(memory_of(t, "apm").read.number, 128);
        end(t);
}
END_TEST

/* A recheck that may not write finds apm changed: of the timer nobody knows any more, which is said once. */
START_TEST(test_doubt) {
        Target *t = watch_with_timer();

        for (int i = 0; i < 2; i++) {
                Step s;

                target_recheck(t, true);
                visitor.events->ready(t);
                ck_assert_uint_eq(n_wishes, 2);
                ck_assert(memory_of(t, "spindown_time").sent.known == !i);
                s = (Step){ .wish = wishes_find(&t->visit.selected, "spindown_time"),
                            .setting = setting_find(&all_settings, "spindown_time"),
                            .lost = true,
                            .verdict = VERDICT_UNVERIFIABLE };
                ck_assert(target_finds_news(t, visit_reason_work(VISIT_RECHECK), &s) == !i);
                visitor.events->step(t, &s);
                visitor.events->ended(t, VISIT_OVER, NULL);
        }
        end(t);
}
END_TEST

/* udev tells of a drive again and again, as it does whenever something that was open for writing is closed: that costs no
 * visit, so no process, before what the kernel holds is not as it was left. */
START_TEST(test_storm_of_nothing) {
        Drive tree, *again;
        Target *t;

        make_tree(&tree);
        put("queue/read_ahead_kb", "512");
        files_become(TWO);
        for (int i = -1; i < 1500; i++) {
                again = disk(TRANSPORT_SATA, NULL);
                free(again->syspath);
                again->syspath = strdup(tree.syspath);
                ck_assert_ptr_nonnull(again->syspath);
                if (i < 0) {
                        ck_assert_int_eq(target_new(&env, again, &t), 0);
                        visit_whole(t, VISIT_ATTACH);
                        n_visits = 0;
                        target_visit(t, VISIT_CHANGE);
                        visitor.events->ready(t);
                        continue;
                }
                /* Some of them come while there is a worker at it. */
                if (i == 500) {
                        tell(t, VERDICT_UNCHANGED);
                        visitor.events->ended(t, VISIT_OVER, NULL);
                }
                target_update(t, again);
        }
        ck_assert_uint_eq(n_visits, 1);
        ck_assert_ptr_null(t->visit.job);

        put("queue/read_ahead_kb", "128");
        target_disturbed(t, VISIT_REVALIDATION, 0);
        check_text("queue/read_ahead_kb", "128");
        ck_assert_uint_eq(n_visits, 2);
        ck_assert_int_eq(t->visit.pending.reason, VISIT_REVALIDATION);
        ck_assert_uint_eq(n_wishes, 1);
        end(t);
        drop_tree(&tree);
}
END_TEST

/* The machine slept, and a USB drive was reset by that: it says so at the first command of the visit that is for the sleep. A
 * reset after that is another one. */
static const struct {
        enum { WAITING, BEGUN, SETTLED, OVER, OVER_AT_ONCE } when;
        uint64_t seqnum;
        VisitReason visited, told;
        bool again;
} echoes[] = {
        { WAITING, 90, VISIT_RESUME, VISIT_RESET, false },
        { BEGUN, 101, VISIT_RESUME, VISIT_RESET, false },
        { SETTLED, 102, VISIT_RESUME, VISIT_RESET, false },
        { SETTLED, 103, VISIT_RESUME, VISIT_RESET, true },
        { OVER, 102, VISIT_RESUME, VISIT_RESET, false },
        { OVER, 103, VISIT_RESUME, VISIT_RESET, true },
        { OVER_AT_ONCE, 104, VISIT_RESUME, VISIT_RESET, false },
        { OVER_AT_ONCE, 105, VISIT_RESUME, VISIT_RESET, true },
        { OVER, 102, VISIT_RESET, VISIT_RESET, false },
        { OVER, 102, VISIT_RESET, VISIT_CONTROLLER, false },
        { OVER, 102, VISIT_CHANGE, VISIT_RESET, true },
        { SETTLED, 102, VISIT_CHANGE, VISIT_RESET, true },
        { BEGUN, 102, VISIT_CHANGE, VISIT_RESET, true },
        { OVER, 102, VISIT_RESUME, VISIT_PARAMETERS, true },
        { OVER, 0, VISIT_RESUME, VISIT_RESET, true }, /* of no event */
};

START_TEST(test_echo) {
        Target *t = watch_with_timer();

        last_event = 100;
        target_visit(t, echoes[_i].visited);
        if (echoes[_i].when >= BEGUN)
                visitor.events->ready(t);
        last_event = 102;
        if (echoes[_i].when == SETTLED || echoes[_i].when == OVER)
                visitor.events->settling(t);
        last_event = 104;
        if (echoes[_i].when >= OVER) {
                tell(t, VERDICT_UNCHANGED);
                visitor.events->ended(t, VISIT_OVER, NULL);
        }
        target_disturbed(t, echoes[_i].told, echoes[_i].seqnum);
        if (echoes[_i].when < OVER) {
                visitor.events->ready(t);
                tell(t, VERDICT_UNCHANGED);
                visitor.events->ended(t, VISIT_OVER, NULL);
        }
        ck_assert_int_eq(!!t->visit.job, echoes[_i].again);
        ck_assert_uint_eq(t->n_disturbances, echoes[_i].again);
        end(t);
}
END_TEST

/* However often the machine sleeps: a real reset is answered at once. */
START_TEST(test_sleeps_are_no_storm) {
        Target *t = watch_with_timer();

        for (int i = 0; i < 20; i++) {
                visit_whole(t, VISIT_RESUME);
                /* Told too late to be known for what it is. */
                target_disturbed(t, VISIT_RESET, last_event + 1);
                ck_assert_ptr_nonnull(t->visit.job);
                visitor.events->ready(t);
                tell(t, VERDICT_UNCHANGED);
                visitor.events->ended(t, VISIT_OVER, NULL);
                ck_assert(!is_due(t));
        }
        end(t);
}
END_TEST

/* Somebody may ask for it before there is a worker for it. */
START_TEST(test_new_is_found) {
        Target *t = watch(_i == 0 ? TWO : SERIAL, TRANSPORT_SATA);

        n_written = 0;
        target_visit(t, VISIT_ATTACH);
        ck_assert_uint_eq(n_written, 1);
        ck_assert_int_eq(written_state, _i == 0 ? DRIVE_QUEUED : DRIVE_IDLE);
        end(t);
}
END_TEST

/* Too many: told once, and then one visit makes up for all that come until it has been quiet; whoever asks is served at once, and
 * that makes up for them, too. */
START_TEST(test_storm) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        visit_whole(t, VISIT_ATTACH);
        n_visits = n_storms = 0;
        for (int i = 0; i < 50; i++) {
                target_disturbed(t, i == 40 ? VISIT_RESET : VISIT_PARAMETERS, 0);
                if (t->visit.job) {
                        visitor.events->ready(t);
                        tell(t, VERDICT_UNCHANGED);
                        visitor.events->ended(t, VISIT_OVER, NULL);
                }
        }
        ck_assert_uint_eq(n_visits, 5);
        ck_assert_uint_eq(n_storms, 1);

        if (_i == 1) {
                visit_whole(t, VISIT_REQUEST);
                ck_assert(!is_due(t));
                target_disturbed(t, VISIT_PARAMETERS, 0);
                ck_assert_ptr_null(t->visit.job);
        }
        pass(t, 9 * 60);
        ck_assert_ptr_null(t->visit.job);
        pass(t, 61);
        ck_assert_ptr_nonnull(t->visit.job);
        ck_assert_int_eq(t->visit.pending.reason, _i == 1 ? VISIT_PARAMETERS : VISIT_RESET);
        visitor.events->ready(t);
        tell(t, VERDICT_UNCHANGED);
        visitor.events->ended(t, VISIT_OVER, NULL);

        /* It goes on: one visit in ten minutes. */
        target_disturbed(t, VISIT_RESET, 0);
        ck_assert_ptr_null(t->visit.job);
        ck_assert(is_due(t));
        ck_assert_uint_eq(n_storms, 1);
        end(t);
}
END_TEST

/* A drive that was lost while it was written to is visited when it has stayed for a while, for all that came up until then; at once
 * when somebody asks. */
START_TEST(test_steady) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        t->guard.steady_until = monotonic_usec() + 10 * 1000 * 1000;
        target_visit(t, VISIT_ATTACH);
        target_visit(t, VISIT_RESET);
        target_disturbed(t, VISIT_PARAMETERS, 0);
        ck_assert_ptr_null(t->visit.job);
        if (_i == 0)
                pass(t, 11);
        else
                target_visit(t, VISIT_REQUEST);
        ck_assert_ptr_nonnull(t->visit.job);
        ck_assert_int_eq(t->visit.pending.reason, VISIT_RESET);
        visitor.events->ready(t);
        visitor.events->ended(t, VISIT_OVER, NULL);
        ck_assert_ptr_null(t->visit.job);
        ck_assert(!is_due(t));
        end(t);
}
END_TEST

/* What was released is visited; where nothing was, nothing happens. */
START_TEST(test_release) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        visit_whole(t, VISIT_ATTACH);
        n_quarantined = _i;
        ck_assert_uint_eq(target_release(t, NULL), _i);
        ck_assert_int_eq(t->visit.job != NULL, _i);
        end(t);
}
END_TEST

/* Another program wrote to it: what the drive holds is read as well, by a visit that takes nothing for granted; one that is
 * under way may have read before. */
START_TEST(test_meddled) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        visit_whole(t, VISIT_ATTACH);
        n_wishes = 0;
        target_recheck(t, false);
        ck_assert_uint_eq(n_wishes, 1);
        visitor.events->ready(t);
        target_meddled(t);
        tell(t, VERDICT_UNCHANGED);
        visitor.events->ended(t, VISIT_OVER, NULL);

        ck_assert_int_eq(t->visit.pending.reason, VISIT_RECHECK);
        ck_assert_uint_eq(n_wishes, 2);
        visitor.events->ready(t);
        ck_assert(!visitor.active);
        visitor.events->ended(t, VISIT_OVER, NULL);
        ck_assert_ptr_null(t->visit.job);
        end(t);
}
END_TEST

/* What the other program changed is set back, also what cannot be read; but nobody is woken for that. */
START_TEST(test_meddled_restore) {
        Target *t = watch_with_timer();

        ck_assert(!visitor.no_wake);
        t->files->config->on_drift = ON_DRIFT_RESTORE;
        target_meddled(t);
        ck_assert_int_eq(t->visit.pending.reason, VISIT_PARAMETERS);
        ck_assert(visitor.no_wake);
        ck_assert(!memory_of(t, "spindown_time").sent.known);
        end(t);
}
END_TEST

/* A visit that has not begun yet believes in what was sent no more, either. */
START_TEST(test_meddled_waiting) {
        Target *t = watch_with_timer();

        t->files->config->on_drift = ON_DRIFT_RESTORE;
        target_visit(t, VISIT_CHANGE);
        ck_assert(memory_of(t, "spindown_time").sent.known);
        target_meddled(t);
        ck_assert(!memory_of(t, "spindown_time").sent.known);
        end(t);
}
END_TEST

/* A link that was gone for a moment, or was reset by the kernel. What the commands of a visit led to is none of it. */
static const struct {
        LinkNews news;
        bool recovering, gone, mid_visit;
        bool again, visited; /* look again soon; it is visited (after the visit under way) */
} links[] = {
        { .news = LINK_SAME },
        { .news = LINK_SAME, .recovering = true },
        { .news = LINK_RESET, .visited = true },
        { .news = LINK_LOST, .visited = true },
        { .news = LINK_LOST, .recovering = true, .again = true },
        { .news = LINK_LOST, .gone = true },
        { .news = LINK_RESET, .mid_visit = true },
        { .news = LINK_LOST, .mid_visit = true, .visited = true },
};

START_TEST(test_link) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        visit_whole(t, VISIT_ATTACH);
        t->record->link_since = 0;
        noted = links[_i].news;
        recovering = links[_i].recovering;
        if (!links[_i].gone) { /* its directory is there */
                free(t->drive->syspath);
                t->drive->syspath = strdup("/");
        }
        if (links[_i].mid_visit) {
                target_visit(t, VISIT_REQUEST);
                visitor.events->ready(t);
        }
        ck_assert_int_eq(target_look_at_link(t, false), links[_i].again);
        if (links[_i].mid_visit) {
                ck_assert_int_eq(t->visit.pending.reason, VISIT_REQUEST);
                tell(t, VERDICT_UNCHANGED);
                visitor.events->ended(t, VISIT_OVER, NULL);
        }
        ck_assert_int_eq(t->visit.job != NULL, links[_i].visited);
        if (links[_i].visited)
                ck_assert_int_eq(t->visit.pending.reason, VISIT_RESET);
        if (links[_i].again) {
                recovering = false;
                ck_assert(!target_look_at_link(t, false));
                ck_assert_int_eq(t->visit.pending.reason, VISIT_RESET);
        }

        /* And no more than once. */
        n_wishes = 0;
        ck_assert(!target_look_at_link(t, false));
        ck_assert_uint_eq(n_wishes, 0);
        noted = LINK_SAME;
        end(t);
}
END_TEST

/* What an earlier run of the service has written down. A sleep that nobody noticed took what was sent; what that run waited for
 * is over. A service that others keep from running is awake. */
START_TEST(test_earlier_run) {
        _cleanup_free_ char *text = NULL;
        Target *t;

        ck_assert_int_ge(
                        asprintf(&text,
                                 "VERSION=1\nNAME=sda\nNODE=/dev/sda\nTRANSPORT=sata\nIDENTITY=path\nBOOT_ID=b\n"
                                 "SLEPT=%" PRIu64
                                 "\nATA_SLEEP=1\nSTATE=waiting\nWAITING_KIND=check\nWAITING_FOR=systemd-fsck@x.service\n"
                                 "SETTINGS=1\nSETTING_0_NAME=spindown_time\n"
                                 "SETTING_0_SENT_NUMBER=1200000\n",
                                 slept_usec()),
                        0);
        state_file = text;
        env.boot_id = "b";
        slept = _i == 1;
        preempted = _i == 2;
        noted = _i == 3 ? LINK_LOST : LINK_SAME;
        t = watch("{ match = \"/dev/sdx\"; apm = 1; }", TRANSPORT_SATA);
        slept = 0;
        noted = LINK_SAME;
        state_file = NULL;
        ck_assert_uint_eq(t->record->n_settings, 1);
        ck_assert(t->record->settings[0].sent.known == (_i != 1 && _i != 3));
        ck_assert(t->record->ata_sleep == (_i != 1 && _i != 3));

        target_visit(t, VISIT_BOOT);
        ck_assert_int_eq(written_state, DRIVE_IDLE);
        end(t);
}
END_TEST

/* What a drive never took it does not keep. */
static const struct {
        const char *wish;
        Verdict verdict;
        bool known;
        unsigned n_told;
} released[] = {
        { "apm = 128", VERDICT_APPLIED, true, 1 },
        { "apm = 128", VERDICT_UNCHANGED, true, 1 },
        { "apm = \"off\"", VERDICT_UNCHANGED, false, 0 }, /* there is no such thing */
        { "apm = 128", VERDICT_ADJUSTED, true, 1 },
        { "apm = 128", VERDICT_UNVERIFIABLE, false, 1 },
        { "apm = 128", VERDICT_UNSUPPORTED, false, 0 },
        { "apm = 128", VERDICT_REFUSED, true, 0 },
        { "apm = 128", VERDICT_IGNORED, true, 0 },
        { "apm = 128", VERDICT_FORBIDDEN, false, 0 },
        { "apm = 128", VERDICT_QUARANTINED, true, 0 },
        { "apm = 128", VERDICT_FAILED, false, 0 },
        { "standby = true", VERDICT_APPLIED, true, 0 }, /* a deed */
        { "apm = 128; lookahead = true", VERDICT_APPLIED, true, 2 },
        { "apm = 128; read_ahead_kb = 128", VERDICT_APPLIED, true, 1 }, /* the other one is still wanted */
};

START_TEST(test_released) {
        char rule[128];
        Target *t;

        snprintf(rule, sizeof rule, "{ match = \"/dev/sda\"; %s; }", released[_i].wish);
        t = watch(rule, TRANSPORT_SATA);
        target_visit(t, VISIT_ATTACH);
        visitor.events->ready(t);
        tell_known(t, released[_i].verdict, released[_i].known);
        visitor.events->ended(t, VISIT_OVER, NULL);

        n_logged = 0;
        files_become("{ match = \"/dev/sda\"; read_ahead_kb = 512; }");
        target_reconfigure(t, VISIT_RELOAD);
        ck_assert_msg(n_logged == released[_i].n_told, "%s, %s", released[_i].wish,
                      verdict_to_string(released[_i].verdict));
        end(t);
}
END_TEST

/* No room for its state file: said once, and tried again until there is. */
START_TEST(test_unsaved) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        state_error = -ENOSPC;
        n_logged = 0;
        visit_whole(t, VISIT_ATTACH);
        ck_assert_uint_eq(n_logged, 1);
        ck_assert(is_due(t));
        n_written = 0;
        pass(t, 50);
        target_tick(t);
        ck_assert_uint_eq(n_written, 0);
        pass(t, 40);
        ck_assert_uint_eq(n_written, 1);
        ck_assert_uint_eq(n_logged, 1);
        ck_assert(is_due(t));

        state_error = 0;
        pass(t, 90);
        ck_assert(!is_due(t));
        end(t);
}
END_TEST

int main(void) {
        Suite *s = suite_create("target");
        TCase *t = tcase_create("target");

        tcase_add_loop_test(t, test_endings, 0, ELEMENTSOF(endings));
        tcase_add_test(t, test_new_wish_in_narrow_visit);
        tcase_add_test(t, test_request_in_narrow_visit);
        tcase_add_test(t, test_request_and_check_in_mid_visit);
        tcase_add_loop_test(t, test_permanent, 0, ELEMENTSOF(permanents));
        tcase_add_test(t, test_permanent_nothing);
        tcase_add_loop_test(t, test_interrupted, 0, ELEMENTSOF(interrupted));
        tcase_add_test(t, test_not_ready);
        tcase_add_loop_test(t, test_earlier_run, 0, 4);
        tcase_add_test(t, test_meddled);
        tcase_add_test(t, test_meddled_restore);
        tcase_add_test(t, test_meddled_waiting);
        tcase_add_loop_test(t, test_link, 0, ELEMENTSOF(links));
        tcase_add_test(t, test_rule_for_unknown_drive);
        tcase_add_loop_test(t, test_revealed, 0, 2);
        tcase_add_loop_test(t, test_revealed_on_request, 0, 2);
        tcase_add_loop_test(t, test_revealed_in_use, 0, 2);
        tcase_add_loop_test(t, test_dead_worker, 0, 2);
        tcase_add_test(t, test_dead_worker_gone_drive);
        tcase_add_test(t, test_guard);
        tcase_add_test(t, test_due);
        tcase_add_test(t, test_unguarded);
        tcase_add_loop_test(t, test_leave, 0, 2);
        tcase_add_test(t, test_dead_recheck);
        tcase_add_test(t, test_forgotten_on_disk);
        tcase_add_loop_test(t, test_trust, 0, ELEMENTSOF(trusts));
        tcase_add_test(t, test_doubt);
        tcase_add_test(t, test_storm_of_nothing);
        tcase_add_loop_test(t, test_echo, 0, ELEMENTSOF(echoes));
        tcase_add_test(t, test_sleeps_are_no_storm);
        tcase_add_loop_test(t, test_storm, 0, 2);
        tcase_add_loop_test(t, test_steady, 0, 2);
        tcase_add_loop_test(t, test_release, 0, 2);
        tcase_add_loop_test(t, test_new_is_found, 0, 2);
        tcase_add_test(t, test_unsaved);
        tcase_add_loop_test(t, test_released, 0, ELEMENTSOF(released));
        suite_add_tcase(s, t);

        return suite_run(s);
}
