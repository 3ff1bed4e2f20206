/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is made of what the tracer tells of a drive that sleeps. */

#include "fake-standby.h"

static Target *asleep_of(const char *drives) {
        Target *t = look_after(drives, WAKE_LOG_ON);

        ck_assert(wait_out(t));
        answer(t, POWER_STANDBY);
        ck_assert(t->standby.asleep);
        ck_assert_str_eq(all_done(), "watch ");
        return t;
}

static Target *asleep(void) {
        return asleep_of(SPIN);
}

/* ---- it wakes ---- */

/* From the beginning. */
static void assert_begun(const Target *t, uint64_t since) {
        ck_assert(!t->standby.asleep);
        ck_assert_ptr_null(t->standby.suspect);
        assert_patience(t, since, SPIN_PATIENCE);
        ck_assert_str_eq(all_done(), "unwatch:8:0 ");
}

/* What leaves no doubt is told at once, without a visit. */
START_TEST(test_certain) {
        Target *t = asleep();
        const Wake w = { .kind = (WakeKind) _i, .sector = 7 };
        unsigned before = n_visits;
        uint64_t since;

        passed += 1000;
        since = monotonic_usec();
        target_standby_woken(t, &w);
        ck_assert_uint_eq(n_wakes_told, 1);
        ck_assert_int_eq(wake_told.kind, _i);
        ck_assert_str_eq(t->record->wakes, "unknown 1");
        ck_assert_uint_eq(wake_told.sector, 7);
        ck_assert_uint_ge(slept_told, 1000 * SECOND);
        ck_assert_uint_lt(slept_told, 2000 * SECOND);
        ck_assert_uint_eq(n_visits, before);
        assert_begun(t, since);

        /* Once. */
        target_standby_woken(t, &w);
        ck_assert_uint_eq(n_wakes_told, 1);
        ck_assert(wait_out(t));
        leave(t);
}
END_TEST

#define ATA_16(feature, command) \
        { .kind = WAKE_COMMAND, .cdb = { 0x85, 0x08, [4] = (feature), [14] = (command) }, .cdb_len = 16 }
static const Wake identify = ATA_16(0, 0xec), smart = ATA_16(0xd0, 0xb0), reading = { .kind = WAKE_READ },
                  flush = { .kind = WAKE_WRITE, .cdb = { 0x35 }, .cdb_len = 10 };

/* Reports: I: IDENTIFY, S: SMART READ DATA, R: somebody read, F: somebody had the drive's cache flushed. Visits that have been asked
 * for: w: it begins to work, a: it finds the drive awake, s: in standby, n: it finds nothing out. O: another visit works; K: another
 * one, of what the kernel holds, waits. */
static const struct {
        const char *happens, *told;
        bool still; /* it sleeps */
} suspicions[] = {
        { "Sa", "S" },
        { "Ia", "I" },
        { "Ss", "", true },
        { "SsSsSa", "S" },
        { "SsIa", "I" },
        /* Most drives do not wake for IDENTIFY, so that what comes later rather woke it. */
        { "ISa", "S" },
        { "IIa", "I" },
        { "SIa", "S" },
        { "ISIa", "S" },
        { "SIs", "", true },
        { "IR", "R" },
        { "IRa", "R" },
        { "SRa", "S" },
        { "SsR", "R" },
        /* Asked already, before the last of them. */
        { "SwIa", "S" },
        { "SwSaa", "S" },
        { "IwSsa", "S" },
        /* What came while the drive said that it sleeps may have woken it since. */
        { "SwRs", "R" },
        { "SwSsa", "S" },
        { "SwIsa", "I" },
        { "SwIss", "", true },
        { "SwRSs", "R" },
        /* Not every drive wakes for that. */
        { "Fa", "F" },
        { "Fs", "", true },
        { "FR", "R" },
        { "FSa", "S" },
        { "OSsa", "S" },
        { "OSnss", "", true },
        { "KSa", "S" },
        { "KSs", "", true },
        /* Nobody knows: that excuses nothing that comes later. */
        { "Sn", "", true },
        { "SnSa", "S" },
        { "SnR", "R" },
        { "SnIa", "I" },
        { "OSnnR", "R" },
};

static void happen(Target *t, char what) {
        switch (what) {
        case 'I':
                target_standby_woken(t, &identify);
                break;
        case 'S':
                target_standby_woken(t, &smart);
                break;
        case 'R':
                target_standby_woken(t, &reading);
                break;
        case 'F':
                target_standby_woken(t, &flush);
                break;
        case 'w':
                visitor.events->ready(t);
                break;
        case 'O':
                target_visit(t, VISIT_REQUEST);
                visitor.events->ready(t);
                break;
        case 'K':
                target_visit(t, VISIT_REVALIDATION);
                ck_assert(t->visit.job && !visitor.ask_power);
                break;
        default:
                if (t->visit.job)
                        answer(t, what == 'a' ? POWER_AWAKE : what == 's' ? POWER_STANDBY : POWER_UNKNOWN);
        }
}

START_TEST(test_suspicion) {
        Target *t = asleep_of(KERNEL);
        uint64_t since = monotonic_usec();

        for (const char *c = suspicions[_i].happens; *c; c++) {
                happen(t, *c);
                if (strchr("ISF", *c) && t->standby.asleep)
                        ck_assert(t->visit.job && (visitor.ask_power || visitor.working));
        }
        if (t->visit.job)
                answer(t, POWER_UNKNOWN);
        ck_assert_ptr_null(t->visit.job);

        ck_assert_uint_eq(n_wakes_told, strlen(suspicions[_i].told));
        if (n_wakes_told > 0) {
                const Wake *w = suspicions[_i].told[0] == 'I'   ? &identify
                                : suspicions[_i].told[0] == 'S' ? &smart
                                : suspicions[_i].told[0] == 'F' ? &flush
                                                                : &reading;

                ck_assert_msg(memcmp(&wake_told, w, sizeof *w) == 0, "%s", suspicions[_i].happens);
        }
        ck_assert(t->standby.asleep == suspicions[_i].still);
        if (!suspicions[_i].still)
                assert_begun(t, since);
        leave(t);
}
END_TEST

/* What did not wake the drive, though it wakes others, is not asked about again while the drive sleeps on. */
START_TEST(test_harmless) {
        Target *t = asleep();
        const Wake *const reports[] = { &identify, &flush, &identify, &flush, &smart, &smart };
        const unsigned asked[] = { 1, 2, 2, 2, 3, 4 };
        unsigned before = n_visits;

        for (size_t i = 0; i < ELEMENTSOF(reports); i++) {
                target_standby_woken(t, reports[i]);
                ck_assert_uint_eq(n_visits - before, asked[i]);
                if (t->visit.job)
                        answer(t, POWER_STANDBY);
        }
        ck_assert(t->standby.asleep);

        /* The next sleep is another one. */
        target_standby_woken(t, &reading);
        ck_assert(wait_out(t));
        answer(t, POWER_STANDBY);
        before = n_visits;
        target_standby_woken(t, &identify);
        ck_assert_uint_eq(n_visits - before, 1);
        leave(t);
}
END_TEST

/* It goes while it is being asked. */
START_TEST(test_suspicion_ends) {
        Target *t = asleep();

        target_standby_woken(t, &smart);
        leave(t);
        ck_assert_str_eq(all_done(), "unwatch:8:0 ");
        ck_assert_uint_eq(n_wakes_told, 0);
}
END_TEST

/* Found awake by chance: nobody knows who it was. */
START_TEST(test_found_awake) {
        Target *t = asleep();
        uint64_t since = monotonic_usec();

        target_visit(t, VISIT_REQUEST);
        answer(t, POWER_AWAKE);
        ck_assert_uint_eq(n_wakes_told, 1);
        ck_assert_int_eq(wake_told.kind, WAKE_UNKNOWN);
        ck_assert_str_eq(t->record->wakes, "unknown 1");
        assert_begun(t, since);
        leave(t);
}
END_TEST

static const struct {
        bool used, counted, awake, in_flight, seen; /* seen: by the tracer, which tells it next */
} begun[] = { { false, true, false },
              { true, true, true },
              { true, false, true },
              { false, true, true, true },
              { true, true, true, .seen = true },
              { false, true, true, true, true } };

/* From then on it is watched. When it was used before, it is asked; who that was is known only if the tracer has seen it. */
START_TEST(test_watched) {
        Target *t = asleep();
        uint64_t since = monotonic_usec();

        activity += begun[_i].used;
        uncounted[0] = begun[_i].counted ? 0 : -ENODATA;
        in_flight = begun[_i].in_flight;
        target_standby_watched(t);
        ck_assert_uint_eq(n_wakes_told, 0);
        ck_assert(t->standby.asleep && done[0] == '\0');
        ck_assert(!t->visit.job == !begun[_i].awake);
        if (!begun[_i].awake) {
                leave(t);
                return;
        }

        ck_assert_int_eq(t->visit.pending.reason, VISIT_STANDBY);
        if (begun[_i].seen)
                target_standby_woken(t, &reading);
        answer(t, POWER_AWAKE);
        ck_assert_uint_eq(n_wakes_told, 1);
        ck_assert_int_eq(wake_told.kind, begun[_i].seen ? WAKE_READ : WAKE_UNKNOWN);
        assert_begun(t, since);

        /* Of one that is awake nothing of this is true any more. */
        target_standby_watched(t);
        target_standby_lost(t);
        ck_assert_str_eq(all_done(), "");
        uncounted[0] = 0;
        leave(t);
}
END_TEST

/* Nobody watches it any more. */
START_TEST(test_lost) {
        Target *t = asleep();
        uint64_t since = monotonic_usec();

        if (_i)
                target_standby_woken(t, &smart);
        tracing = TRACING_NO_EVENTS;
        target_standby_lost(t);
        tracing = TRACING_FINE;
        ck_assert_int_eq(t->record->tracing, TRACING_NO_EVENTS);
        assert_begun(t, since);
        ck_assert_int_eq(t->record->power, POWER_UNKNOWN);
        if (_i)
                answer(t, POWER_AWAKE);
        ck_assert_uint_eq(n_wakes_told, 0);
        leave(t);
}
END_TEST

/* The reason why the drive could not be traced is kept until it can, or need not, be traced. */
START_TEST(test_traced_again) {
        Target *t = asleep();

        t->record->tracing = TRACING_ENDED;
        target_standby_rested(t);
        ck_assert_int_eq(t->record->tracing, TRACING_ENDED);
        if (_i) {
                t->files->config->wake_log = WAKE_LOG_OFF;
                target_standby_rested(t);
        } else
                target_standby_watched(t);
        ck_assert_int_eq(t->record->tracing, TRACING_FINE);
        leave(t);
}
END_TEST

/* While it sleeps its files are changed so that nobody is to be told. */
START_TEST(test_unwanted) {
        Target *t = asleep();

        files_become(SPIN);
        env.files->config->wake_log = WAKE_LOG_OFF;
        target_reconfigure(t, VISIT_RELOAD);
        if (t->visit.job)
                answer(t, POWER_STANDBY);
        ck_assert_str_eq(all_done(), "unwatch:8:0 ");
        ck_assert(!t->standby.asleep && !is_due(t));
        target_standby_woken(t, &reading);
        ck_assert_uint_eq(n_wakes_told, 0);
        leave(t);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("target-wake");

        tcase_add_checked_fixture(t, setup, scratch_remove);
        tcase_add_loop_test(t, test_certain, 0, WAKE_COMMAND);
        tcase_add_loop_test(t, test_suspicion, 0, ELEMENTSOF(suspicions));
        tcase_add_test(t, test_harmless);
        tcase_add_test(t, test_suspicion_ends);
        tcase_add_test(t, test_found_awake);
        tcase_add_loop_test(t, test_watched, 0, ELEMENTSOF(begun));
        tcase_add_loop_test(t, test_lost, 0, 2);
        tcase_add_loop_test(t, test_traced_again, 0, 2);
        tcase_add_test(t, test_unwanted);

        return test_main("target-wake", t);
}
