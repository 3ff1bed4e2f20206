/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whether a drive is looked at, and when, and that it is watched once it sleeps. */

#include "fake-standby.h"

/* ---- whether it is looked at ---- */

static const struct {
        const char *drives;
        WakeLog log;
        Transport transport;
        bool flash, no_tracer, no_counter;
        uint64_t patience; /* 0: it is not */
} armings[] = {
        { SPIN, WAKE_LOG_AUTO, TRANSPORT_SATA, .patience = SPIN_PATIENCE },
        { SPIN, WAKE_LOG_ON, TRANSPORT_SATA, .patience = SPIN_PATIENCE },
        { SPIN, WAKE_LOG_OFF, TRANSPORT_SATA },
        { APM, WAKE_LOG_AUTO, TRANSPORT_SATA },
        { APM, WAKE_LOG_ON, TRANSPORT_SATA, .patience = 300 * SECOND },
        { APM, WAKE_LOG_OFF, TRANSPORT_SATA },
        { "{ match = {}; force_spindown_time = \"20min\"; }", WAKE_LOG_AUTO, TRANSPORT_SATA,
          .patience = SPIN_PATIENCE },
        { "{ match = {}; standby_z = \"16min\"; }", WAKE_LOG_AUTO, TRANSPORT_SATA, .patience = 1025 * SECOND },
        { "{ match = {}; standby_y = \"16min\"; }", WAKE_LOG_AUTO, TRANSPORT_SATA, .patience = 1025 * SECOND },
        { "{ match = {}; standby_y = \"16min\"; }", WAKE_LOG_AUTO, TRANSPORT_SAS, .patience = 1025 * SECOND },
        { "{ match = {}; idle_c = \"16min\"; }", WAKE_LOG_AUTO, TRANSPORT_SATA },
        /* The drive has no such timer; the service may count in its place. */
        { SPIN, WAKE_LOG_AUTO, TRANSPORT_SAS, .patience = SPIN_PATIENCE },
        /* Nobody means so short a time, or the drive does not know it. */
        { "{ match = {}; spindown_time = \"5s\"; }", WAKE_LOG_AUTO, TRANSPORT_SATA, .patience = 35312500 },
        { "{ match = {}; spindown_time = \"off\"; }", WAKE_LOG_AUTO, TRANSPORT_SATA },
        { "{ match = {}; spindown_time = \"off\"; }", WAKE_LOG_ON, TRANSPORT_SATA, .patience = 300 * SECOND },
        { "{ match = \"/dev/sdx\"; spindown_time = \"20min\"; }", WAKE_LOG_ON, TRANSPORT_SATA },
        /* Nothing that could sleep, or be asked whether it does. */
        { SPIN, WAKE_LOG_ON, TRANSPORT_SATA, .flash = true },
        { "{ match = {}; read_ahead_kb = 512; }", WAKE_LOG_ON, TRANSPORT_NVME },
        { "{ match = {}; read_ahead_kb = 512; }", WAKE_LOG_ON, TRANSPORT_VIRTIO },
        { SPIN, WAKE_LOG_ON, TRANSPORT_SATA, .no_tracer = true },
        { SPIN, WAKE_LOG_ON, TRANSPORT_SATA, .no_counter = true },
};

START_TEST(test_arming) {
        uint64_t since = monotonic_usec();
        Target *t;

        if (armings[_i].no_tracer)
                env.tracer = NULL;
        activity = !armings[_i].no_counter;
        t = look_after_other(armings[_i].drives, armings[_i].log, armings[_i].transport, !armings[_i].flash);
        if (armings[_i].patience > 0)
                assert_patience(t, since, armings[_i].patience);
        else
                ck_assert_uint_eq(target_standby_due(t), UINT64_MAX);

        /* Where it is, what any visit finds out is heeded. */
        target_visit(t, VISIT_REQUEST);
        if (t->visit.job)
                answer(t, POWER_STANDBY);
        ck_assert_str_eq(all_done(), armings[_i].patience > 0 || armings[_i].no_counter ? "watch " : "");
        leave(t);
}
END_TEST

/* The time that is set does not begin anew with each visit. */
START_TEST(test_armed_already) {
        Target *t = look_after(SPIN, WAKE_LOG_AUTO);
        uint64_t due = target_standby_due(t);

        passed += 100;
        visit_whole(t, VISIT_REQUEST);
        ck_assert_uint_eq(target_standby_due(t), due);
        leave(t);
}
END_TEST

/* The files want something else: then it is looked at, or no more. */
START_TEST(test_reconfigured) {
        Target *t = look_after(APM, WAKE_LOG_AUTO);
        uint64_t since = monotonic_usec();

        ck_assert_uint_eq(target_standby_due(t), UINT64_MAX);
        files_become(SPIN);
        target_reconfigure(t, VISIT_RELOAD);
        answer(t, POWER_UNKNOWN);
        assert_patience(t, since, SPIN_PATIENCE);

        /* Nothing is to be visited for that. */
        files_become(SPIN);
        env.files->config->wake_log = WAKE_LOG_OFF;
        target_reconfigure(t, VISIT_RELOAD);
        if (t->visit.job)
                answer(t, POWER_STANDBY);
        ck_assert_uint_eq(target_standby_due(t), UINT64_MAX);
        ck_assert_str_eq(all_done(), "");
        leave(t);
}
END_TEST

/* ---- looks ---- */

/* One that is not counted may be in use, or fall asleep, at any time: it is asked as long as that is so, and less and less often. */
START_TEST(test_uncounted) {
        Target *t = look_after(SPIN, WAKE_LOG_ON);
        uint64_t since;

        uncounted[0] = -ENODATA;
        (void) next_look(t);
        ck_assert(t->standby.uncounted && !t->visit.job);
        for (unsigned i = 0; i < STANDBY_LOOKS_MAX + 3; i++) {
                since = monotonic_usec();
                while (!next_look(t))
                        ;
                ck_assert_int_eq(t->visit.pending.reason, VISIT_STANDBY);
                ck_assert_uint_ge(monotonic_usec() - since, (SPIN_PATIENCE << MIN(i, STANDBY_LOOKS_MAX)) / 2);
                answer(t, POWER_AWAKE);
        }
        ck_assert_uint_eq(n_spindowns_told, 0);
        ck_assert_ptr_null(t->record->awake_reason);
        while (!next_look(t))
                ;
        answer(t, POWER_STANDBY);
        ck_assert(t->standby.asleep);
        ck_assert_str_eq(all_done(), "watch ");
        uncounted[0] = 0;
        leave(t);
}
END_TEST

/* After 1, 2, 4 and 8 times the time without use it is visited; then only the counter is looked at. Whoever uses it begins anew. */
START_TEST(test_ladder) {
        uint64_t patience = _i ? 300 * SECOND : SPIN_PATIENCE, since = monotonic_usec();
        Target *t = look_after(_i ? APM : SPIN, WAKE_LOG_ON);

        for (unsigned turn = 0; turn < 2; turn++) {
                assert_patience(t, since, patience);
                for (unsigned i = 0; i < STANDBY_LOOKS_MAX; i++) {
                        ck_assert(wait_out(t));
                        ck_assert_int_eq(t->visit.pending.reason, VISIT_STANDBY);
                        ck_assert(visitor.ask_power);
                        ck_assert_uint_eq(n_wishes, 0);
                        assert_patience(t, since, patience << (i + 1));
                        answer(t, POWER_AWAKE);
                        assert_patience(t, since, patience << (i + 1));
                }
                for (unsigned i = 0; i < 3; i++) {
                        since = monotonic_usec();
                        ck_assert(!wait_out(t));
                        assert_patience(t, since, patience << STANDBY_LOOKS_MAX);
                }
                t->wear_asked = now_usec();
                activity++;
                since = monotonic_usec();
                ck_assert(!wait_out(t));
        }

        ck_assert_str_eq(all_done(), "");
        ck_assert_uint_eq(n_told, 0); /* nobody is told of such visits */
        leave(t);
}
END_TEST

/* Used in between, before any of the looks. */
START_TEST(test_used) {
        Target *t = look_after(SPIN, WAKE_LOG_AUTO);
        uint64_t since;

        for (int i = 0; i < _i; i++) {
                ck_assert(wait_out(t));
                answer(t, POWER_AWAKE);
        }
        for (unsigned i = 0; i < 3; i++) {
                activity++;
                since = monotonic_usec();
                ck_assert(!wait_out(t));
                assert_patience(t, since, SPIN_PATIENCE);
        }
        ck_assert(wait_out(t));
        leave(t);
}
END_TEST

/* The kernel counts no more. */
START_TEST(test_no_counter) {
        Target *t = look_after(SPIN, WAKE_LOG_AUTO);

        activity = 0;
        ck_assert(!wait_out(t));
        ck_assert_uint_eq(target_standby_due(t), UINT64_MAX);
        leave(t);
}
END_TEST

/* What is pending for other reasons is about that, too: it is asked as well. */
START_TEST(test_asks_as_well) {
        Target *t = look_after(KERNEL, WAKE_LOG_AUTO);

        target_visit(t, VISIT_REVALIDATION);
        ck_assert(!visitor.ask_power);
        ck_assert_uint_eq(n_wishes, 1);
        if (_i)
                visitor.events->ready(t);
        ck_assert(wait_out(t) == !_i);
        if (_i)
                visitor.events->ended(t, VISIT_OVER, NULL);
        ck_assert_ptr_nonnull(t->visit.job);
        ck_assert(visitor.ask_power);
        ck_assert_int_eq(t->visit.pending.reason, _i ? VISIT_STANDBY : VISIT_REVALIDATION);
        ck_assert_uint_eq(n_wishes, !_i);
        answer(t, POWER_STANDBY);
        ck_assert_str_eq(all_done(), "watch ");
        leave(t);
}
END_TEST

/* ---- it sleeps ---- */

START_TEST(test_sleeps) {
        Target *t = look_after(SPIN, WAKE_LOG_AUTO);

        file_make("sda/holders/dm-3", NULL);
        file_make("dm-3/dev", "253:3\n");
        ck_assert(wait_out(t));
        answer(t, _i == 0 ? POWER_STANDBY : _i == 1 ? POWER_SUSPENDED : POWER_ASLEEP);
        ck_assert_int_eq(t->record->power, _i == 1 ? POWER_SUSPENDED : POWER_STANDBY);
        ck_assert(drive_record_sleeps(t->record));
        ck_assert_str_eq(all_done(), "watch ");
        ck_assert(watched.disk.major == 8 && watched.disk.minor == 0 && watched.host == 2 && watched.channel == 0 &&
                  watched.id == 1 && watched.lun == 3 && watched.n_above == 1 && watched.above[0].major == 253 &&
                  watched.above[0].minor == 3);

        /* From now on nothing is done. */
        ck_assert(!is_due(t));
        passed += 1000000;
        target_tick(t);
        visit_whole(t, VISIT_REQUEST);
        target_visit(t, VISIT_REQUEST);
        answer(t, POWER_STANDBY);
        ck_assert(!is_due(t) && t->standby.asleep);
        ck_assert_str_eq(all_done(), "");

        /* It goes, or nobody looks after it any more. */
        leave(t);
        ck_assert_str_eq(all_done(), "unwatch:8:0 ");
        ck_assert_uint_eq(n_wakes_told, 0);
}
END_TEST

static const struct {
        int watch, above;
        const char *dev;
        bool logged;
        const char *done;
} unwatchable[] = {
        { -EBUSY, 0, "8:0\n", false, "watch " }, /* which was told when it began */
        { -ENOSPC, 0, "8:0\n", true, "watch " },
        { 0, -EIO, "8:0\n", true, "" },
        { 0, 0, "\n", true, "" },
};

/* Its time goes on, as nothing will tell when it wakes. */
START_TEST(test_not_watched) {
        uint64_t since = monotonic_usec();
        Target *t = look_after(SPIN, WAKE_LOG_AUTO);

        watch_error = unwatchable[_i].watch;
        above_error = unwatchable[_i].above;
        file_write("sda/dev", unwatchable[_i].dev);
        tracing = unwatchable[_i].watch == -EBUSY ? TRACING_UNMOUNTED : TRACING_FINE;
        for (unsigned i = 0; i < 2; i++) {
                n_logged = 0;
                ck_assert(wait_out(t));
                answer(t, POWER_STANDBY);
                ck_assert(!t->standby.asleep);
                ck_assert_uint_eq(n_logged, unwatchable[_i].logged);
                ck_assert_str_eq(all_done(), unwatchable[_i].done);
                ck_assert_int_eq(t->record->tracing, tracing);
                assert_patience(t, since, SPIN_PATIENCE << (i + 1));
        }

        /* Later it can be. */
        watch_error = above_error = 0;
        file_write("sda/dev", "8:0\n");
        ck_assert(wait_out(t));
        answer(t, POWER_STANDBY);
        ck_assert(t->standby.asleep);
        leave(t);
}
END_TEST

/* The time at which the drive was last found awake is recorded after an answer or I/O, not after a poll that shows no change. */
START_TEST(test_seen) {
        Target *t = look_after(SPIN, WAKE_LOG_ON);
        uint64_t seen;

        target_visit(t, VISIT_REQUEST);
        answer(t, POWER_AWAKE);
        seen = t->record->power_seen;
        ck_assert_uint_gt(seen, 0);

        ck_assert(!next_look(t));
        ck_assert_int_eq(t->record->power, POWER_AWAKE);
        ck_assert_uint_eq(t->record->power_seen, seen);
        activity++;
        ck_assert(!next_look(t));
        ck_assert_uint_gt(t->record->power_seen, seen);
        ck_assert_uint_le(t->record->power_when, seen);
        ck_assert(wait_out(t));
        seen = t->record->power_seen;
        answer(t, POWER_AWAKE);
        ck_assert_uint_gt(t->record->power_seen, seen);
        leave(t);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("target-standby");

        tcase_add_checked_fixture(t, setup, scratch_remove);
        tcase_add_loop_test(t, test_arming, 0, ELEMENTSOF(armings));
        tcase_add_test(t, test_armed_already);
        tcase_add_test(t, test_reconfigured);
        tcase_add_test(t, test_uncounted);
        tcase_add_loop_test(t, test_ladder, 0, 2);
        tcase_add_loop_test(t, test_used, 0, STANDBY_LOOKS_MAX);
        tcase_add_test(t, test_no_counter);
        tcase_add_loop_test(t, test_asks_as_well, 0, 2);
        tcase_add_loop_test(t, test_sleeps, 0, 3);
        tcase_add_test(t, test_seen);
        tcase_add_loop_test(t, test_not_watched, 0, ELEMENTSOF(unwatchable));

        return test_main("target-standby", t);
}
