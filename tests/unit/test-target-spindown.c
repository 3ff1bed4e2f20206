/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Drives that the service spins down: which, when, with which others, and what is made of what comes of it. */

#include "fake-standby.h"
#include "target-spindown.h"

#define BY(who) "{ match = {}; spindown_time = \"20min\"; spindown_by = \"" who "\"; }"
#define SERVICE BY("service")
#define AUTO BY("auto")
#define COMMANDS "{ match = {}; spindown_time = \"20min\"; spindown_by = \"service\"; commands_are_use = true; }"
#define TIME (1200 * SECOND)

static const char *const *group; /* NULL: each drive is alone */
static int group_error;

int __wrap_stack_group(const char *classdir, const char *btrfsdir, const char *name, char ***ret);
int __wrap_stack_group(_unused_ const char *classdir, _unused_ const char *btrfsdir, const char *name, char ***ret) {
        *ret = NULL;
        if (group_error < 0)
                return group_error;
        ck_assert_int_ge(names_add(ret, name), 0);
        for (const char *const *n = group; n && *n; n++)
                ck_assert_int_ge(names_add(ret, *n), 0);
        return 0;
}

static Target *look_after_service(void) {
        Target *t = look_after(SERVICE, WAKE_LOG_AUTO);

        n_steps_told = 0;
        return t;
}

/* Until it is told to sleep. */
static void wait_for_sleep(Target *t) {
        for (unsigned i = 0; i < 4 && !next_look(t); i++)
                ;
        ck_assert(t->visit.job && visitor.events);
        ck_assert_int_eq(t->visit.pending.reason, VISIT_SLEEP);
        ck_assert_uint_eq(n_wishes, 1);
}

static void put_to_sleep(Target *t) {
        wait_for_sleep(t);
        sleep_ends(t, VERDICT_APPLIED, "");
        ck_assert(t->standby.asleep);
}

/* ---- which drives ---- */

static const struct {
        const char *drives;
        Transport transport;
        bool flash, ignores;
        Verdict verdict; /* of the row */
        bool by_service;
        const char *note; /* NULL: nothing spins it down */
} whose[] = {
        { SERVICE, TRANSPORT_SATA, .by_service = true, .note = "20 min, by the service" },
        { BY("drive"), TRANSPORT_SATA, .note = "20 min" },
        { AUTO, TRANSPORT_SATA, .verdict = VERDICT_UNVERIFIABLE, .note = "20 min" },
        { AUTO, TRANSPORT_SATA, .verdict = VERDICT_UNVERIFIABLE, .ignores = true, .by_service = true,
          .note = "20 min, by the service" },
        { BY("drive"), TRANSPORT_SATA, .ignores = true, .note = "20 min" },
        /* What was refused. */
        { AUTO, TRANSPORT_SATA, .verdict = VERDICT_UNCHANGED, .by_service = true, .note = "20 min, by the service" },
        /* What no verdict says to be in force. */
        { AUTO, TRANSPORT_SATA, .verdict = VERDICT_DEFERRED },
        { BY("drive"), TRANSPORT_SATA, .verdict = VERDICT_UNSUPPORTED },
        { BY("drive"), TRANSPORT_SATA, .verdict = VERDICT_REFUSED },
        { SERVICE, TRANSPORT_SATA, .verdict = VERDICT_FORBIDDEN },
        { SERVICE, TRANSPORT_SATA, .flash = true },
        { "{ match = {}; spindown_time = \"off\"; spindown_by = \"service\"; }", TRANSPORT_SATA },
        { "{ match = {}; standby_z = \"30min\"; spindown_by = \"service\"; }", TRANSPORT_SAS, .by_service = true,
          .note = "30 min, by the service" },
        /* The shortest counts, and who does that. */
        { "{ match = {}; standby_z = \"30min\"; spindown_by = \"service\"; }, { match = {}; spindown_time = \"20min\"; }",
          TRANSPORT_SATA, .note = "20 min" },
        { "{ match = {}; apm = 127; }", TRANSPORT_SATA },
};

START_TEST(test_whose) {
        Target *t = look_after_other(whose[_i].drives, WAKE_LOG_OFF, whose[_i].transport, !whose[_i].flash);
        SettingRecord *s;

        ck_assert_int_ge(drive_record_add(t->record, "spindown_time", &s), 0);
        (void) string_replace(&s->actual, NULL);
        s->verdict = whose[_i].verdict;
        s->by_service = s->verdict == VERDICT_UNCHANGED;
        s->read.known = false;
        s->sent = (KnownNumber){ whose[_i].verdict == VERDICT_UNVERIFIABLE, 240 };
        t->record->ignores_timer = whose[_i].ignores;
        target_standby_rested(t);
        ck_assert(target_spins_down(t) == whose[_i].by_service);
        ck_assert(streq_ptr(t->record->spindown, whose[_i].note));
        ck_assert(t->record->spindown_served == whose[_i].by_service);
        ck_assert(is_due(t) == whose[_i].by_service);
        leave(t);
}
END_TEST

/* ---- when ---- */

/* While it is used the service looks four times in that time; then once more, and at its end. */
START_TEST(test_when) {
        uint64_t since = monotonic_usec(), last;
        Target *t = look_after_service();

        for (unsigned i = 0; i < 6; i++) {
                assert_look(t, since, TIME / 4);
                activity++;
                since = monotonic_usec();
                ck_assert(!next_look(t));
        }
        assert_look(t, since, TIME / 4);
        last = since;
        ck_assert(!next_look(t));
        assert_look(t, last, TIME);
        ck_assert(next_look(t));
        ck_assert_int_eq(t->visit.pending.reason, VISIT_SLEEP);
        ck_assert_uint_eq(n_wishes, 1);
        sleep_ends(t, VERDICT_APPLIED, "");

        /* Nothing more until somebody wakes it; nobody is told. */
        ck_assert(t->standby.asleep && !is_due(t));
        ck_assert_str_eq(all_done(), "watch ");
        ck_assert_int_eq(t->record->power, POWER_STANDBY);
        ck_assert_uint_eq(n_told + n_logged + n_spindowns_told + n_steps_told, 0);
        leave(t);
}
END_TEST

static const struct {
        const char *wanted;
        uint64_t usec;
} shortest[] = { { "5s", SPINDOWN_SOONEST_USEC }, { "1min", 60 * SECOND }, { "65s", 65 * SECOND } };

START_TEST(test_soonest) {
        char drives[128];
        Target *t;

        (void) snprintf(drives, sizeof drives, "{ match = {}; spindown_time = \"%s\"; spindown_by = \"service\"; }",
                        shortest[_i].wanted);
        t = look_after(drives, WAKE_LOG_AUTO);
        ck_assert_uint_eq(t->standby.patience, shortest[_i].usec);
        leave(t);
}
END_TEST

/* A read that takes long is use as long as it takes. */
START_TEST(test_in_flight) {
        Target *t = look_after_service();

        ck_assert(!next_look(t));
        in_flight = true;
        for (unsigned i = 0; i < 5; i++)
                ck_assert(!next_look(t));
        in_flight = false;
        ck_assert(next_look(t));
        sleep_ends(t, VERDICT_APPLIED, "");
        leave(t);
}
END_TEST

/* What other programs send it is use where the files say so; what the service sends is not, over a restart of the service, too. */
START_TEST(test_commands) {
        Target *t = look_after(_i ? COMMANDS : SERVICE, WAKE_LOG_AUTO);
        uint64_t used;

        ck_assert(!next_look(t));
        commands++;
        ck_assert(next_look(t) == !_i);
        if (_i) {
                /* A program sends one each time, and then no more. */
                for (unsigned i = 0; i < 4; i++, commands++)
                        ck_assert(!next_look(t));
                ck_assert(!next_look(t));
                ck_assert(!next_look(t));
                ck_assert(next_look(t));
        }
        ck_assert_int_eq(t->visit.pending.reason, VISIT_SLEEP);
        visitor.events->ready(t);
        commands += 3;
        ck_assert_int_ge(target_used(t, &used), 0);
        ck_assert_uint_eq(used, t->standby.used);
        sleep_over(t, VERDICT_DEFERRED, "a self-test runs");
        ck_assert_int_ge(target_used(t, &used), 0);
        ck_assert_uint_eq(used, t->standby.used);
        ck_assert_uint_eq(t->record->own_commands, _i ? 3 : 0);
        ck_assert(next_look(t));
        leave(t);
}
END_TEST

/* It waited for a file system check, say, and was used, or may have been. */
START_TEST(test_used_meanwhile) {
        Target *t = look_after_service();

        wait_for_sleep(t);
        if (_i)
                uncounted[0] = -ENODATA;
        else
                activity++;
        visitor.events->ready(t);
        ck_assert_uint_eq(t->visit.selected.n_items, 0);
        visitor.events->ended(t, VISIT_OVER, NULL);
        ck_assert(!t->standby.asleep && is_due(t));
        ck_assert(!next_look(t));
        if (_i) {
                uncounted[0] = 0;
                ck_assert(!next_look(t));
        }
        put_to_sleep(t);
        leave(t);
}
END_TEST

/* The same, and a look has found that meanwhile: its time without use has begun anew. */
START_TEST(test_found_used_meanwhile) {
        Target *t = look_after_service();

        wait_for_sleep(t);
        activity++;
        passed += (time_t) (TIME / SECOND);
        target_tick(t);
        ck_assert_uint_eq(t->standby.used, activity);
        visitor.events->ready(t);
        ck_assert_uint_eq(t->visit.selected.n_items, 0);
        visitor.events->ended(t, VISIT_OVER, NULL);
        ck_assert(!next_look(t));
        put_to_sleep(t);
        leave(t);
}
END_TEST

/* Its worker takes so long that it is time once more; and then the drive is used. */
START_TEST(test_used_before_the_next) {
        Target *t = look_after_service();

        wait_for_sleep(t);
        visitor.events->ready(t);
        for (unsigned i = 0; i < 4 && !pending_any(&t->pending); i++) {
                passed += (time_t) (TIME / SECOND);
                target_tick(t);
        }
        ck_assert(t->pending.work & WORK_SPIN_DOWN);
        sleep_over(t, VERDICT_DEFERRED, "a self-test runs");
        ck_assert(t->visit.job && t->visit.sleeps);
        activity++;
        visitor.events->ready(t);
        ck_assert_uint_eq(t->visit.selected.n_items, 0);
        leave(t);
}
END_TEST

/* It was used, no worker could be made, and then the visit begins anew with another one: nobody has asked for its spin-down. */
START_TEST(test_used_and_withdrawn) {
        Target *t = look_after_service();

        wait_for_sleep(t);
        activity++;
        has_places = false;
        visitor.events->ready(t);
        work_error = -EAGAIN;
        ck_assert_int_eq(target_work(t), -EAGAIN);
        work_error = 0;
        has_places = true;

        target_visit(t, VISIT_REQUEST);
        ck_assert_int_eq(t->visit.pending.reason, VISIT_REQUEST);
        ck_assert_uint_eq(n_wishes, 1);
        ck_assert(!t->visit.sleeps);
        visitor.events->ready(t);
        tell(t, VERDICT_UNCHANGED);
        visitor.events->ended(t, VISIT_OVER, NULL);
        ck_assert(!t->visit.job);
        leave(t);
}
END_TEST

/* While it waits for its worker the files are read anew, and want no spin-down any more; whether it was used is not known. */
START_TEST(test_unwanted_meanwhile) {
        Target *t = look_after_service();

        wait_for_sleep(t);
        files_become(APM);
        target_reconfigure(t, VISIT_RELOAD);
        activity = 0;
        visitor.events->ready(t);
        ck_assert(visitor.working);
        ck_assert(!t->visit.sleeps);
        ck_assert_uint_eq(t->visit.selected.n_items, 1);
        ck_assert_str_eq(t->visit.selected.items->name, "apm");
        leave(t);
}
END_TEST

/* Reads and writes that the kernel does not count (iostats) would be no use to see: the drive is left awake, and that is said once. When
 * they are counted again its time without use begins. */
START_TEST(test_uncounted) {
        uint64_t since;
        Target *t;

        uncounted[0] = _i == 1 ? -ENODATA : 0;
        t = look_after_service();
        ck_assert(_i == 1 || !next_look(t));
        uncounted[0] = -ENODATA;
        ck_assert(!next_look(t));
        for (unsigned i = 0; i < 40; i++) {
                since = monotonic_usec();
                assert_look(t, since - SECOND, TIME / 4);
                ck_assert(!next_look(t));
        }
        ck_assert_uint_eq(n_spindowns_told, 1);
        ck_assert_ptr_nonnull(strstr(spindown_told, "the service does not spin it down"));
        ck_assert_ptr_nonnull(strstr(t->record->awake_reason, "does not count"));
        ck_assert_uint_eq(t->record->quiet_since, 0);

        uncounted[0] = 0;
        since = monotonic_usec();
        ck_assert(!next_look(t));
        ck_assert_uint_ge(t->standby.quiet_since, since);
        ck_assert_ptr_null(t->record->awake_reason);
        ck_assert_uint_eq(n_spindowns_told, 2);
        ck_assert_ptr_nonnull(strstr(spindown_told, "again"));
        wait_for_sleep(t);
        ck_assert_uint_ge(monotonic_usec(), since + TIME);
        sleep_ends(t, VERDICT_APPLIED, "");
        ck_assert(t->standby.asleep);
        ck_assert_uint_eq(n_spindowns_told, 2);
        leave(t);
}
END_TEST

/* Commands are counted all the same, and reads and writes are commands. */
START_TEST(test_uncounted_commands) {
        Target *t = look_after(COMMANDS, WAKE_LOG_AUTO);

        uncounted[0] = -ENODATA;
        for (unsigned i = 0; i < 12; i++, commands++)
                ck_assert(!next_look(t));
        put_to_sleep(t);
        ck_assert_uint_eq(n_spindowns_told, 0);
        uncounted[0] = 0;
        leave(t);
}
END_TEST

/* Nobody tells any more whether a drive that was put into standby still is. */
START_TEST(test_uncounted_asleep) {
        Target *t = look_after_service();

        watch_error = -EIO;
        wait_for_sleep(t);
        sleep_ends(t, VERDICT_APPLIED, "");
        ck_assert_int_eq(t->record->power, POWER_STANDBY);
        uncounted[0] = -ENODATA;
        ck_assert(!next_look(t));
        ck_assert_int_eq(t->record->power, POWER_UNKNOWN);
        uncounted[0] = 0;
        watch_error = 0;
        leave(t);
}
END_TEST

/* The service does not spin it down any more, so that nothing keeps it from that. */
START_TEST(test_uncounted_by_drive) {
        Target *t = look_after_service();

        uncounted[0] = -ENODATA;
        ck_assert(!next_look(t));
        ck_assert_ptr_nonnull(t->record->awake_reason);
        files_become(BY("drive"));
        target_reconfigure(t, VISIT_RELOAD);
        answer(t, POWER_AWAKE);
        ck_assert_ptr_null(t->record->awake_reason);
        uncounted[0] = 0;
        leave(t);
}
END_TEST

/* A run of the daemon before this one has seen how long nobody has used it. */
START_TEST(test_goes_on) {
        static const struct {
                uint64_t ago, used; /* s */
                uint64_t left;
        } states[] = { { 1000, 1, 200 }, { 1000, 2, 300 }, { 5000, 1, 0 }, { 10, 1, 300 } };
        Target *t = watch(SERVICE, TRANSPORT_SATA);
        uint64_t now;

        passed += 6000;
        now = monotonic_usec();
        t->record->quiet_since = now - states[_i].ago * SECOND;
        t->record->quiet_used = states[_i].used;
        t->drive->rotational = true;
        visit_whole(t, VISIT_BOOT);
        ck_assert_uint_ge(target_standby_due(t), now + states[_i].left * SECOND);
        ck_assert_uint_le(target_standby_due(t), now + (states[_i].left + 1) * SECOND);
        leave(t);
}
END_TEST

/* After that it was awake, whatever it was before; and so it is after it has slept with the machine. */
START_TEST(test_resume) {
        Target *t = look_after_service();
        uint64_t since;

        if (_i)
                put_to_sleep(t);
        passed += 150;
        since = monotonic_usec();
        target_visit(t, VISIT_RESUME);
        ck_assert(visitor.ask_power == _i);
        answer(t, _i ? POWER_AWAKE : POWER_UNKNOWN);
        ck_assert(!t->standby.asleep);
        assert_look(t, since, TIME / 4);
        ck_assert_uint_ge(t->standby.quiet_since, since);
        ck_assert_uint_eq(t->spindown.n_short, 0);
        leave(t);
}
END_TEST

/* ---- what comes of it ---- */

static const struct {
        Verdict verdict;
        const char *reason;
        bool asleep, again, told; /* the drive is asked again before it is used */
        uint64_t next;
        PowerMode power;
} ends[] = {
        { VERDICT_APPLIED, "", .asleep = true, .power = POWER_STANDBY },
        { VERDICT_UNCHANGED, "", .asleep = true, .power = POWER_STANDBY },
        { VERDICT_UNVERIFIABLE, "accepted; it cannot be read back", .next = TIME },
        { VERDICT_DEFERRED, "a self-test runs", .again = true, .next = TIME / 4 },
        { VERDICT_REFUSED, "no", .told = true, .next = TIME },
        { VERDICT_UNSUPPORTED, "no", .told = true, .next = TIME },
        { VERDICT_IGNORED, "no", .told = true, .next = TIME },
        { VERDICT_FAILED, "no", .told = true, .next = TIME },
        { VERDICT_VANISHED, "no", .again = true, .next = TIME },
};

START_TEST(test_end) {
        Target *t = look_after_service();
        bool fine = ends[_i].asleep || ends[_i].verdict == VERDICT_VANISHED;
        uint64_t since;

        for (unsigned turn = 0; turn < 2; turn++) {
                wait_for_sleep(t);
                since = monotonic_usec();
                sleep_ends(t, ends[_i].verdict, ends[_i].reason);
                ck_assert(t->standby.asleep == ends[_i].asleep);
                ck_assert(turn > 0 || t->record->power == ends[_i].power);
                ck_assert(streq_ptr(t->record->awake_reason, fine ? NULL : ends[_i].reason));
                ck_assert_uint_eq(n_spindowns_told, ends[_i].told); /* once */
                ck_assert_uint_eq(n_steps_told + n_told, 0);
                if (ends[_i].asleep)
                        break;
                assert_look(t, since - SECOND, ends[_i].next);
                ck_assert(next_look(t) == ends[_i].again);
                if (ends[_i].again)
                        sleep_ends(t, ends[_i].verdict, ends[_i].reason);
                else
                        ck_assert(!next_look(t));

                /* Whoever uses it begins anew. */
                activity++;
                ck_assert(!next_look(t));
        }
        ck_assert_ptr_null(drive_record_find(t->record, "standby"));
        leave(t);
}
END_TEST

/* Each failure is logged once, until it ends another way. */
START_TEST(test_failures) {
        static const struct {
                Verdict verdict;
                const char *reason;
                bool told;
        } failures[] = {
                { VERDICT_REFUSED, "no", true },         { VERDICT_REFUSED, "no", false },
                { VERDICT_FAILED, "no answer", true },   { VERDICT_FAILED, "no answer", false },
                { VERDICT_UNVERIFIABLE, "sent", false }, { VERDICT_FAILED, "no answer", true },
        };
        Target *t = look_after_service();
        unsigned n = 0;

        for (size_t i = 0; i < ELEMENTSOF(failures); i++) {
                wait_for_sleep(t);
                sleep_ends(t, failures[i].verdict, failures[i].reason);
                n += failures[i].told;
                ck_assert_uint_eq(n_spindowns_told, n);
                ck_assert_str_eq(t->record->awake_reason, failures[i].reason);
                activity++;
                ck_assert(!next_look(t));
        }
        leave(t);
}
END_TEST

/* Somebody asks for it, of a drive that nobody would spin down. */
START_TEST(test_asked) {
        static const char *const files[] = { SERVICE, BY("drive"), APM, "{ match = \"/dev/sdx\"; apm = 1; }",
                                             "{ match = {}; standby = true; }" };
        Target *t = look_after_other(files[_i], WAKE_LOG_OFF, TRANSPORT_SATA, true);

        target_visit(t, VISIT_SLEEP);
        ck_assert_int_eq(t->visit.pending.reason, VISIT_SLEEP);
        ck_assert_uint_eq(n_wishes, 1);
        activity++; /* that does not matter to them */
        sleep_ends(t, VERDICT_APPLIED, "");
        ck_assert_int_eq(t->record->power, POWER_STANDBY);
        ck_assert_ptr_null(t->record->awake_reason);

        target_visit(t, VISIT_SLEEP);
        sleep_ends(t, VERDICT_REFUSED, "the drive refused it");
        ck_assert_str_eq(t->record->awake_reason, "the drive refused it");
        leave(t);
}
END_TEST

/* … while the service's own spin-down waits, or before: the drive's use does not matter to them then, either. */
START_TEST(test_asked_meanwhile) {
        Target *t = look_after_service();

        if (_i == 0) {
                wait_for_sleep(t);
                target_visit(t, VISIT_SLEEP);
        } else {
                ck_assert(!next_look(t));
                target_visit(t, VISIT_SLEEP);
                ck_assert(!next_look(t));
        }
        activity++;
        sleep_ends(t, VERDICT_APPLIED, "");
        ck_assert_int_eq(t->record->power, POWER_STANDBY);
        leave(t);
}
END_TEST

/* A file system check comes in between: what was asked for is done after it, and the service's own spin-down is not. */
START_TEST(test_asked_and_interrupted) {
        Target *t = look_after_service();

        if (_i)
                wait_for_sleep(t);
        else
                target_visit(t, VISIT_SLEEP);
        visitor.events->ready(t);
        visitor.events->ended(t, VISIT_INTERRUPTED, NULL);
        ck_assert(!!t->visit.job == !_i);
        if (t->visit.job)
                sleep_ends(t, VERDICT_APPLIED, "");
        leave(t);
}
END_TEST

/* From then on it is watched, until somebody wakes it: after that nobody knows. */
START_TEST(test_asked_and_woken) {
        Target *t = look_after(APM, WAKE_LOG_AUTO);

        ck_assert(!is_due(t));
        target_visit(t, VISIT_SLEEP);
        sleep_ends(t, VERDICT_APPLIED, "");
        ck_assert(t->standby.asleep);
        ck_assert_int_eq(t->record->power, POWER_STANDBY);
        target_standby_woken(t, &(Wake){ .kind = WAKE_READ });
        ck_assert_uint_eq(n_wakes_told, 1);
        ck_assert_int_eq(t->record->power, POWER_UNKNOWN);
        ck_assert_str_eq(all_done(), "watch unwatch:8:0 ");
        ck_assert(!is_due(t));
        leave(t);
}
END_TEST

/* That is no spin-down of the service's, which might cost more than it saves. */
START_TEST(test_asked_often) {
        Target *t = look_after_service();

        for (unsigned i = 0; i < 2 * SPINDOWN_SHORT_MAX; i++) {
                target_visit(t, VISIT_SLEEP);
                sleep_ends(t, VERDICT_APPLIED, "");
                target_standby_woken(t, &(Wake){ .kind = WAKE_READ });
        }
        ck_assert_uint_eq(n_left_awake, 0);
        put_to_sleep(t);
        leave(t);
}
END_TEST

/* With another visit it is the last of what that does. */
START_TEST(test_asked_as_well) {
        Target *t = look_after("{ match = {}; read_ahead_kb = 512; standby = true; }", WAKE_LOG_AUTO);

        target_visit(t, VISIT_REQUEST);
        target_visit(t, VISIT_SLEEP);
        ck_assert_int_eq(t->visit.pending.reason, VISIT_REQUEST);
        ck_assert_uint_eq(n_wishes, 2);
        ck_assert_str_eq(t->visit.selected.items[0].name, "read_ahead_kb");
        visitor.events->ready(t);
        visitor.events->step(t, &(Step){ .wish = t->visit.selected.items, .verdict = VERDICT_UNCHANGED });
        visitor.events->step(t, &(Step){ .wish = t->visit.selected.items + 1, .verdict = VERDICT_APPLIED });
        visitor.events->ended(t, VISIT_OVER, NULL);
        ck_assert_int_eq(t->record->power, POWER_STANDBY);
        ck_assert_uint_eq(n_told, 1);
        ck_assert_uint_eq(told_summary.n_settings, 1);
        leave(t);
}
END_TEST

/* ---- the drive that should do it ---- */

START_TEST(test_auto) {
        uint64_t since = monotonic_usec();
        Target *t = look_after(AUTO, WAKE_LOG_AUTO);
        SettingRecord *s;

        ck_assert_int_ge(drive_record_add(t->record, "spindown_time", &s), 0);
        s->verdict = VERDICT_UNVERIFIABLE;
        s->sent.known = true;
        assert_patience(t, since, SPIN_PATIENCE);
        ck_assert(wait_out(t));
        ck_assert_int_eq(t->visit.pending.reason, VISIT_STANDBY);
        since = monotonic_usec();
        activity += _i == 1;
        answer(t, _i == 2 ? POWER_STANDBY : POWER_AWAKE);
        ck_assert_uint_eq(n_spindowns_told, _i == 0);
        ck_assert(target_spins_down(t) == (_i == 0));
        if (_i == 0) {
                ck_assert_ptr_nonnull(strstr(spindown_told, "it took spindown_time = 20 min"));
                ck_assert_str_eq(t->record->spindown, "20 min, by the service");
                /* The journal may have to be written to this drive first. */
                assert_look(t, since, TIME / 4);
                put_to_sleep(t);

                /* Said once. */
                target_standby_woken(t, &(Wake){ .kind = WAKE_READ });
                put_to_sleep(t);
                ck_assert_uint_eq(n_spindowns_told, 1);
        }
        leave(t);
}
END_TEST

/* It waits for a file system check, and whoever has asked for it does not wait for that. */
START_TEST(test_asked_while_checked) {
        Target *t = look_after_service();
        unsigned before;

        target_visit(t, VISIT_SLEEP);
        before = n_rested;
        visitor.events->waiting(t, check_x, false);
        ck_assert_uint_eq(n_rested, before + 1);
        sleep_ends(t, VERDICT_APPLIED, "");
        ck_assert(t->standby.asleep);
        leave(t);
}
END_TEST

/* Any other visit that finds it awake says nothing of its timer. */
START_TEST(test_auto_by_chance) {
        Target *t = look_after(AUTO, WAKE_LOG_AUTO);

        target_visit(t, VISIT_REQUEST);
        answer(t, POWER_AWAKE);
        ck_assert(!t->record->ignores_timer);
        ck_assert_int_eq(t->record->power, POWER_AWAKE);
        leave(t);
}
END_TEST

/* ---- it is woken ---- */

/* Each letter is a sleep: s: woken soon by a read, S: late, n: soon, nobody knows by whom (the machine slept, say). L: now it is left
 * awake for an hour. */
static const struct {
        const char *sleeps;
        bool watched;
} wakes[] = {
        { "ss", true },    { "sssL", true },  { "ssSs", true },     { "ssSsssL", true },
        { "ssnsL", true }, { "nnnn", true },  { "sssLssSs", true }, { "sssLsssL", true },
        { "ss", false },   { "sssL", false }, { "ssSss", false },   { "sssLsssL", false },
};

static void sleep_and_wake(Target *t, char how, bool is_watched) {
        while (!t->visit.job)
                (void) next_look(t);
        sleep_ends(t, VERDICT_APPLIED, "");
        ck_assert(t->standby.asleep == is_watched);
        ck_assert_ptr_null(t->record->awake_reason);

        if (how == 'S')
                passed += 700;
        if (how == 'n') {
                target_visit(t, VISIT_REQUEST);
                answer(t, POWER_AWAKE);
        } else if (is_watched)
                target_standby_woken(t, &(Wake){ .kind = WAKE_READ });
        else {
                activity++;
                passed += 60;
                target_tick(t);
        }
        ck_assert_int_eq(t->record->power, POWER_AWAKE);
        ck_assert(!t->standby.asleep && t->spindown.stopped_at == 0);
}

START_TEST(test_wears) {
        Target *t = look_after("{ match = {}; spindown_time = \"1min\"; spindown_by = \"service\"; }",
                               wakes[_i].watched ? WAKE_LOG_AUTO : WAKE_LOG_OFF);
        unsigned left = 0;

        for (const char *c = wakes[_i].sleeps; *c; c++) {
                uint64_t until = monotonic_usec() + SPINDOWN_AWAKE_USEC;

                if (*c != 'L') {
                        sleep_and_wake(t, *c, wakes[_i].watched);
                        continue;
                }
                ck_assert_uint_eq(n_left_awake, ++left);
                ck_assert_ptr_nonnull(strstr(t->record->awake_reason, "left awake for an hour"));
                while (!t->visit.job)
                        (void) next_look(t);
                ck_assert_uint_ge(monotonic_usec(), until - SECOND);
                ck_assert_uint_le(monotonic_usec(), until + 60 * SECOND);
        }
        ck_assert_uint_eq(n_left_awake, left);
        leave(t);
}
END_TEST

/* ---- with others ---- */

/* A drive of this letter, behind the others in the list. */
static Target *look_after_another(char letter) {
        Drive *d = disk(TRANSPORT_SATA, NULL);
        Target *t, **end = &env.drives;

        d->name[2] = d->node[7] = d->syspath[strlen(d->syspath) - 1] = letter;
        d->rotational = true;
        ck_assert_int_eq(target_new(&env, d, &t), 0);
        visit_whole(t, VISIT_BOOT);
        while (*end)
                end = &(*end)->next;
        *end = t;
        return t;
}

/* All that are in the list. */
static void leave_all(void) {
        Target *first = env.drives;

        for (Target *t = first->next, *next; t; t = next) {
                next = t->next;
                (void) target_free(t);
        }
        env.drives = NULL;
        leave(first);
}

static const struct {
        bool grouped;
        int error;
        bool spent; /* the second one refuses */
        bool together;
        int uncounted; /* nobody knows whether the second one is in use */
} groups[] = { { true, 0, false, true },
               { false, 0, false, false },
               { true, -EIO, false, false },
               { true, 0, true, false },
               { true, 0, false, true, -ENODATA },
               { true, 0, false, true, -ENOENT },
               { false, 0, false, false, -ENODATA } };

/* The one that is used for longer keeps the other awake. */
START_TEST(test_group) {
        static const char *const both[] = { "sda", "sdb", "sdz", NULL };
        Target *t = look_after_service(), *second;
        unsigned n_asked = 0;

        env.drives = t;
        second = look_after_another('b');
        group = groups[_i].grouped ? both : NULL;
        group_error = groups[_i].error;
        second->spindown.spent = groups[_i].spent;
        second->standby.quiet_since = t->standby.quiet_since + 500 * SECOND;

        passed += 1201;
        uncounted[1] = groups[_i].uncounted;
        target_tick(t);
        ck_assert(!!t->visit.job != groups[_i].together);
        if (groups[_i].together && groups[_i].uncounted < 0) {
                for (unsigned i = 0; i < 12; i++) {
                        ck_assert(!next_look(t));
                        target_tick(second);
                        ck_assert(!second->visit.job);
                }
                uncounted[1] = 0;
                passed += 301;
                target_tick(second);
                passed += 1201;
                target_tick(second);
                target_tick(t);
        } else if (groups[_i].together) {
                ck_assert_uint_eq(target_standby_due(t), second->standby.quiet_since + TIME);
                passed += 501;
                target_tick(t);
        }
        ck_assert_int_eq(t->visit.pending.reason, VISIT_SLEEP);
        n_asked += second->visit.job && second->visit.pending.reason == VISIT_SLEEP;
        ck_assert_uint_eq(n_asked, groups[_i].together);
        ck_assert_uint_eq(n_spindowns_told, groups[_i].error < 0               ? 1
                                            : groups[_i].uncounted == -ENODATA ? 2 * groups[_i].together
                                                                               : 0);
        uncounted[1] = 0;
        leave_all();
}
END_TEST

/* ---- others are woken with it ---- */

#define TOGETHER "{ match = {}; spindown_time = \"20min\"; wake_together = true; }"

/* So many drives of one array sleep, from sda on, and the drives of `others`, which are in no array. One at a time may spin up. */
static Target *look_after_array(const char *drives, unsigned n, const char *others) {
        static const char *const names[] = { "sda", "sdb", "sdc", "sdd", NULL };
        static const char *members[ELEMENTSOF(names)];
        Target *t = look_after(drives, WAKE_LOG_AUTO);

        env.drives = t;
        for (unsigned i = 1; i < n; i++)
                (void) look_after_another((char) ('a' + i));
        for (const char *c = others; *c; c++)
                (void) look_after_another(*c);
        for (Target *each = t; each; each = each->next) {
                each->standby.asleep = true;
                each->standby.look_at = 0;
        }
        (void) memcpy(members, names, n * sizeof *names);
        members[n] = NULL;
        group = members;
        env.files->config->spin_up_at_once = 1;
        n_wakes_told = 0;
        return t;
}

/* It has spun up. */
static void ends_up(Target *t) {
        ck_assert_int_eq(t->visit.pending.reason, VISIT_SPIN_UP);
        ck_assert(!t->visit.sleeps && t->visit.selected.n_items == 0);
        visitor.working = true;
        t->visit.ready = false;
        visitor.events->power(t, POWER_AWAKE);
        visitor.events->ended(t, VISIT_OVER, NULL);
        ck_assert(!t->standby.asleep && !t->visit.job);
}

static unsigned count_spinning(void) {
        unsigned n = 0;

        for (const Target *t = env.drives; t; t = t->next)
                n += t->visit.job && (t->visit.pending.work & WORK_SPIN_UP);
        return n;
}

static const struct {
        const char *drives;
        WakeKind kind;
        unsigned at_once, begun, all; /* that spin up: at first, and in the end */
} togethers[] = {
        { TOGETHER, WAKE_READ, 0, 3, 3 },
        { TOGETHER, WAKE_MD, 0, 3, 3 },
        { TOGETHER, WAKE_READ, 1, 1, 4 },
        { TOGETHER, WAKE_FLUSH, 3, 3, 4 },
        { TOGETHER, WAKE_SWAP, 9, 4, 4 },
        /* That is about one drive. */
        { TOGETHER, WAKE_UDEV, 0, 0, 0 },
        { TOGETHER, WAKE_TOGETHER, 0, 0, 0 },
        { SPIN, WAKE_READ, 0, 0, 0 },
};

START_TEST(test_together) {
        Target *t = look_after_array(togethers[_i].drives, 4, "e");
        const Wake w = { .kind = togethers[_i].kind, .process = { .pid = 7, .comm = "du" }, .has_sector = true };
        unsigned up = 0, told;

        env.files->config->spin_up_at_once = togethers[_i].at_once;

        target_standby_woken(t, &w);
        told = n_wakes_told;
        ck_assert_uint_eq(told, 1);
        ck_assert_uint_eq(count_spinning(), togethers[_i].begun);
        /* The one that was used is the first of those that are counted. */
        ck_assert(!!t->visit.job == (togethers[_i].at_once > 0));
        while (count_spinning() > 0) {
                Target *first = t;

                ck_assert_uint_le(count_spinning(), togethers[_i].at_once ?: 4);
                while (!first->visit.job)
                        first = first->next;
                ends_up(first);
                up++;
                /* With a bound the next one does so a little later. */
                if (target_spindown_due(first) != UINT64_MAX) {
                        unsigned spinning = count_spinning();

                        ck_assert_uint_eq(togethers[_i].at_once, spinning + 1);
                        target_tick(first);
                        ck_assert_uint_eq(count_spinning(), spinning);
                        ck_assert_uint_le(target_due(first), monotonic_usec() + SPINDOWN_TURN_USEC);
                        passed += 2;
                        target_tick(first);
                        ck_assert_uint_eq(target_spindown_due(first), UINT64_MAX);
                }
                /* Whoever used one of them has woken all. */
                if (first != t) {
                        ck_assert_uint_eq(n_wakes_told, ++told);
                        ck_assert(wake_told.kind == WAKE_TOGETHER && wake_told.process.pid == 7 &&
                                  !wake_told.has_sector);
                }
        }
        ck_assert_uint_eq(up, togethers[_i].all);
        for (Target *other = t->next; other; other = other->next)
                ck_assert(other->standby.asleep == (togethers[_i].all == 0 || streq(other->drive->name, "sde")));
        leave_all();
}
END_TEST

/* One of them is pulled while it spins up: the next has its turn. */
START_TEST(test_together_pulled) {
        Target *t = look_after_array(TOGETHER, 2, ""), *other = t->next;

        target_standby_woken(t, &(Wake){ .kind = WAKE_READ });
        ck_assert(t->visit.job && !other->visit.job);
        target_leave(t);
        ck_assert(other->visit.job && other->visit.pending.reason == VISIT_SPIN_UP);
        ends_up(other);
        leave_all();
}
END_TEST

/* Whoever read from the first goes on to one that has not had its turn: that counts, is begun by nobody else, and is told of as read. */
START_TEST(test_together_goes_on) {
        Target *t = look_after_array(TOGETHER, 3, ""), *second = t->next, *third = second->next;

        target_standby_woken(t, &(Wake){ .kind = WAKE_READ });
        ends_up(t);
        ck_assert_uint_eq(count_spinning(), 0);
        target_standby_woken(third, &(Wake){ .kind = WAKE_READ });
        ck_assert_int_eq(wake_told.kind, WAKE_READ);
        ck_assert(third->visit.job && !third->spindown.spins_up);
        passed += 2;
        target_tick(t);
        ck_assert_uint_eq(count_spinning(), 1);

        /* That is the last one: nobody waits for it. */
        target_standby_woken(second, &(Wake){ .kind = WAKE_READ });
        ck_assert(!second->visit.job && !second->spindown.spins_up);
        ends_up(third);
        ck_assert_uint_eq(target_spindown_due(third), UINT64_MAX);
        ck_assert_uint_eq(count_spinning(), 0);
        leave_all();
}
END_TEST

/* One that waits for its turn is gone: it is not begun. */
START_TEST(test_together_left) {
        Target *t = look_after_array(TOGETHER, 2, ""), *other = t->next;

        target_standby_woken(t, &(Wake){ .kind = WAKE_READ });
        ck_assert(other->spindown.spins_up);
        ends_up(t);
        target_leave(other);
        passed += 2;
        target_tick(t);
        ck_assert(!other->visit.job && !pending_any(&other->pending));
        leave_all();
}
END_TEST

/* Its visit waits for a file system check for too long, alone or with another reason: the next has its turn. */
START_TEST(test_together_deferred) {
        Target *t = look_after_array(TOGETHER, 2, ""), *second = t->next;

        if (_i)
                target_visit(t, VISIT_REQUEST);
        target_standby_woken(t, &(Wake){ .kind = WAKE_READ });
        ck_assert((t->visit.pending.work & WORK_SPIN_UP) && !second->visit.job);
        visitor.events->waiting(t, check_x, true);
        ck_assert(second->visit.job && second->visit.pending.reason == VISIT_SPIN_UP);
        ends_up(second);
        leave_all();
}
END_TEST

/* None of them may be visited: none is waited for. */
START_TEST(test_together_held_back) {
        Target *t = look_after_array(TOGETHER, 4, "");

        held_back = true;
        target_standby_woken(t, &(Wake){ .kind = WAKE_READ });
        for (; t; t = t->next)
                ck_assert(!t->visit.job && !t->spindown.spins_up);
        leave_all();
}
END_TEST

/* The files are read anew, and want no more that it is woken with the others: neither when it has its turn, nor when it waits. */
START_TEST(test_together_unwanted) {
        Target *t = look_after_array(TOGETHER, 3, ""), *second = t->next, *third = second->next;

        env.files->config->spin_up_at_once = 2;
        target_standby_woken(t, &(Wake){ .kind = WAKE_READ });
        ck_assert(t->visit.job && second->visit.job && third->spindown.spins_up);
        files_become(SERVICE);
        /* Or nobody knows any more whether it sleeps. */
        if (_i)
                target_standby_lost(second);
        target_reconfigure(second, VISIT_RELOAD);
        ck_assert(second->visit.pending.reason == VISIT_RELOAD && !(second->visit.pending.work & WORK_SPIN_UP));
        target_reconfigure(third, VISIT_RELOAD);
        ck_assert(third->visit.pending.reason == VISIT_RELOAD && !(third->visit.pending.work & WORK_SPIN_UP));
        ck_assert(!third->spindown.spins_up);
        ends_up(t);
        leave_all();
}
END_TEST

int main(void) {
        TCase *t = tcase_create("target-spindown");

        tcase_add_checked_fixture(t, setup, scratch_remove);
        tcase_add_loop_test(t, test_whose, 0, ELEMENTSOF(whose));
        tcase_add_test(t, test_when);
        tcase_add_loop_test(t, test_soonest, 0, ELEMENTSOF(shortest));
        tcase_add_test(t, test_in_flight);
        tcase_add_loop_test(t, test_commands, 0, 2);
        tcase_add_loop_test(t, test_used_meanwhile, 0, 2);
        tcase_add_loop_test(t, test_uncounted, 0, 2);
        tcase_add_test(t, test_uncounted_commands);
        tcase_add_test(t, test_uncounted_asleep);
        tcase_add_test(t, test_uncounted_by_drive);
        tcase_add_test(t, test_found_used_meanwhile);
        tcase_add_test(t, test_used_before_the_next);
        tcase_add_test(t, test_used_and_withdrawn);
        tcase_add_test(t, test_unwanted_meanwhile);
        tcase_add_loop_test(t, test_goes_on, 0, 4);
        tcase_add_loop_test(t, test_resume, 0, 2);
        tcase_add_loop_test(t, test_end, 0, ELEMENTSOF(ends));
        tcase_add_test(t, test_failures);
        tcase_add_loop_test(t, test_asked, 0, 5);
        tcase_add_loop_test(t, test_asked_meanwhile, 0, 2);
        tcase_add_loop_test(t, test_asked_and_interrupted, 0, 2);
        tcase_add_test(t, test_asked_and_woken);
        tcase_add_test(t, test_asked_often);
        tcase_add_test(t, test_asked_while_checked);
        tcase_add_test(t, test_asked_as_well);
        tcase_add_loop_test(t, test_auto, 0, 3);
        tcase_add_test(t, test_auto_by_chance);
        tcase_add_loop_test(t, test_wears, 0, ELEMENTSOF(wakes));
        tcase_add_loop_test(t, test_group, 0, ELEMENTSOF(groups));
        tcase_add_loop_test(t, test_together, 0, ELEMENTSOF(togethers));
        tcase_add_test(t, test_together_pulled);
        tcase_add_test(t, test_together_goes_on);
        tcase_add_test(t, test_together_left);
        tcase_add_loop_test(t, test_together_deferred, 0, 2);
        tcase_add_test(t, test_together_held_back);
        tcase_add_loop_test(t, test_together_unwanted, 0, 2);

        return test_main("target-spindown", t);
}
