/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One visit from its beginning to its end: what its worker is told, what becomes of what it tells, and what its user hears of that. */

#include "fake-visitor.h"

/* The setting of this name that is wanted. */
static const Wish *wish(const Target *t, const char *name) {
        const Wish *w = wishes_find(&t->wishes, name);

        ck_assert_ptr_nonnull(w);
        return w;
}

static Step step_of(const Target *t, const char *name, Verdict verdict, int64_t before) {
        const Wish *w = wish(t, name);

        return (Step){ .wish = w,
                       .setting = setting_for_backends(&all_settings, name, drive_backends(t->drive)),
                       .wanted = w->value,
                       .before = { .supported = true, .known = true, .value = { .type = VALUE_INT, .number = before } },
                       .verdict = verdict };
}

static void visit_over(VisitEnd end) {
        visitor.events->ended(visitor.userdata, end, NULL);
}

/* ---- it begins ---- */

static const struct {
        bool active, no_wake, look, permanent, patient;
} reasons[_VISIT_REASON_MAX] = {
        [VISIT_ATTACH] = { .active = true },        [VISIT_RESUME] = { .active = true },
        [VISIT_RESET] = { .active = true },         [VISIT_WAKE] = { .active = true },
        [VISIT_PERMANENT] = { .permanent = true },  [VISIT_RETRY] = { .patient = true },
        [VISIT_PARAMETERS] = { .no_wake = true },   [VISIT_RECHECK] = { .no_wake = true, .look = true },
        [VISIT_REVALIDATION] = { .no_wake = true }, [VISIT_SLEEP] = { .active = true },
};

/* What the worker is told of the reason, and who asks for the drive's state. */
START_TEST(test_reason) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        t->files->config->fsck_wait_ms = 7;
        visit_whole(t, VISIT_BOOT);
        guard_told[0] = '\0';
        if (_i == VISIT_RECHECK)
                target_recheck(t, false);
        else
                target_visit(t, (VisitReason) _i);
        ck_assert_str_eq(t->record->visit_reason,
                         visit_reason_to_string(_i >= VISIT_STANDBY ? VISIT_BOOT : (VisitReason) _i));
        ck_assert(visitor.ask_power == (_i == VISIT_STANDBY || _i == VISIT_WEAR));
        ck_assert(visitor.no_wake == reasons[_i].no_wake);
        ck_assert(visitor.look == reasons[_i].look);
        ck_assert(visitor.permanent == reasons[_i].permanent);
        ck_assert(!visitor.ata_sleep);
        ck_assert_uint_eq(visitor.patience, reasons[_i].patient ? UINT64_MAX : 7000);
        ck_assert_str_eq(guard_told, "hesitates holds ");

        visitor.events->ready(t);
        ck_assert(visitor.active == reasons[_i].active);
        ck_assert(!t->visit.ready);
        ck_assert_int_eq(written_state, DRIVE_VISITING);
        ck_assert_str_eq(guard_told, "hesitates holds remember begins ");
        visit_over(VISIT_OVER);
        ck_assert_str_eq(guard_told, "hesitates holds remember begins ended ");
        end(t);
}
END_TEST

/* With on_drift = "restore" a recheck writes. */
START_TEST(test_restores) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        t->files->config->on_drift = ON_DRIFT_RESTORE;
        visit_whole(t, VISIT_ATTACH);
        target_recheck(t, false);
        ck_assert(!visitor.look && visitor.no_wake);
        end(t);
}
END_TEST

/* But not where somebody asks what the drive holds; then that is noted as read. */
START_TEST(test_read) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        t->files->config->on_drift = ON_DRIFT_RESTORE;
        visit_whole(t, VISIT_ATTACH);
        t->record->settings[0].when = 1;
        n_wishes = 0;
        target_read(t);
        ck_assert(visitor.look && visitor.no_wake);
        ck_assert_uint_eq(n_wishes, 2);
        visitor.events->ready(t);
        ck_assert(!visitor.active);
        visitor.events->step(t, &(const Step){ .wish = t->visit.selected.items,
                                               .setting = setting_find(&all_settings, t->visit.selected.items[0].name),
                                               .before = { .supported = true, .known = true },
                                               .verdict = VERDICT_UNCHANGED });
        ck_assert_uint_gt(drive_record_find(t->record, t->visit.selected.items[0].name)->when, 1);
        visit_over(VISIT_OVER);
        end(t);
}
END_TEST

/* Between two visits its user made so many reads and writes; the visit's own are none of these. */
static const struct {
        uint64_t used; /* 0: nobody knows */
        bool busy, slept;
        bool active, sleeps;
} uses[] = {
        { .used = 3, .slept = true, .sleeps = true },
        { .used = 3 },
        { .used = 4, .slept = true, .active = true },
        { .used = 3, .busy = true, .active = true },
        /* Nobody knows. */
        { .used = 0, .slept = true, .sleeps = true },
};

START_TEST(test_use) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        target_visit(t, VISIT_ATTACH);
        visitor.events->ready(t);
        activity = 3;
        tell(t, VERDICT_UNCHANGED);
        t->record->ata_sleep = uses[_i].slept;
        visit_over(VISIT_OVER);
        ck_assert(t->record->ata_sleep == uses[_i].slept);

        activity = uses[_i].used;
        if (uses[_i].busy)
                target_recheck(t, true);
        else
                target_visit(t, VISIT_CHANGE);
        ck_assert(visitor.ata_sleep == uses[_i].sleeps);
        visitor.events->ready(t);
        ck_assert(visitor.active == uses[_i].active);
        end(t);
        activity = 1;
}
END_TEST

/* The crash guard holds it back, or it cannot be made: said only if that is news. */
START_TEST(test_no_visit) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        held_back = _i == 0;
        visit_error = _i == 1 ? -ENOMEM : 0;
        n_visits = n_logged = 0;
        target_visit(t, VISIT_ATTACH);
        ck_assert_ptr_null(t->visit.job);
        ck_assert_uint_eq(n_visits, 0);
        ck_assert_uint_eq(n_logged, _i);
        ck_assert(!is_due(t));

        held_back = false;
        visit_error = 0;
        visit_whole(t, VISIT_REQUEST);
        ck_assert_uint_eq(n_visits, 1);
        ck_assert_uint_eq(n_logged, _i);
        end(t);
}
END_TEST

/* A rule for an array is for each drive below: that is said of each setting when all of them are visited for. */
START_TEST(test_stacked) {
        Drive *d = disk(TRANSPORT_SATA, NULL);
        Target *t;

        ck_assert_int_eq(drive_add_link(d, "/dev/md0", LINK_STACKED), 0);
        files_become("{ match = \"/dev/md0\"; apm = 128; read_ahead_kb = 512; }, "
                     "{ match = \"/dev/sda\"; lookahead = true; }");
        n_logged = 0;
        ck_assert_int_eq(target_new(&env, d, &t), 0);
        visit_whole(t, VISIT_ATTACH);
        ck_assert_uint_eq(n_logged, 2);
        visit_whole(t, VISIT_REVALIDATION);
        ck_assert_uint_eq(n_logged, 2);
        end(t);
}
END_TEST

/* ---- namespaces of one NVMe controller ---- */

static Target *watch_namespace(const char *controller, const char *name) {
        Drive *d = calloc(1, sizeof *d);
        Target *t;

        ck_assert_ptr_nonnull(d);
        *d = (Drive){ .name = strdup(name), .transport = TRANSPORT_NVME };
        ck_assert_int_ge(asprintf(&d->node, "/dev/%s", name), 0);
        ck_assert_int_ge(asprintf(&d->syspath, "/sys/devices/nvme/%s/%s", controller, name), 0);
        ck_assert_int_eq(target_new(&env, d, &t), 0);
        return t;
}

#define FIRST_NAMESPACE "{ match = \"/dev/nvme0n1\"; write_cache = true; read_ahead_kb = 512; },"
#define SECOND_NAMESPACE(cache) "{ match = \"/dev/nvme0n2\"; write_cache = " cache "; read_ahead_kb = 128; }"

static const struct {
        const char *second; /* what is wanted of the second */
        const char *controller;
        bool second_visited, withheld;
        Verdict told;                  /* … to the second */
        bool waits, works;             /* its visit has no worker yet; has one */
        bool overruled, visited_again; /* … the second is, when itself, or the first, is visited */
} namespaces[] = {
        { SECOND_NAMESPACE("false"), "nvme0", .second_visited = true, .overruled = true },
        { SECOND_NAMESPACE("true"), "nvme0", .second_visited = true },
        { SECOND_NAMESPACE("false"), "nvme1", .second_visited = true },
        { SECOND_NAMESPACE("false"), "nvme0", .second_visited = true, .withheld = true },
        { "{ match = \"/dev/nvme0n2\"; read_ahead_kb = 128; }", "nvme0", .second_visited = true },
        { SECOND_NAMESPACE("false"), "nvme0", .told = VERDICT_APPLIED, .visited_again = true },
        { SECOND_NAMESPACE("false"), "nvme0", .told = _VERDICT_INVALID, .visited_again = true },
        { SECOND_NAMESPACE("false"), "nvme0", .told = VERDICT_FORBIDDEN },
        { SECOND_NAMESPACE("false"), "nvme0", .told = VERDICT_APPLIED, .waits = true },
        { SECOND_NAMESPACE("false"), "nvme0", .told = VERDICT_FORBIDDEN, .works = true, .visited_again = true },
        { SECOND_NAMESPACE("true"), "nvme0", .told = VERDICT_APPLIED },
        { SECOND_NAMESPACE("false"), "nvme1", .told = VERDICT_APPLIED },
        { SECOND_NAMESPACE("false"), "nvme0", .told = VERDICT_APPLIED, .withheld = true },
};

/* Of two that disagree the first by name has its way, and the other one is told, now or by another visit. */
START_TEST(test_namespaces) {
        struct VisitJob others = { .working = namespaces[_i].works };
        char rules[256];
        Target *first, *second, *t;

        (void) snprintf(rules, sizeof rules, FIRST_NAMESPACE "%s", namespaces[_i].second);
        files_become(rules);
        second = watch_namespace(namespaces[_i].controller, "nvme0n2");
        first = watch_namespace("nvme0", "nvme0n1");
        second->next = first;
        env.drives = second;
        t = namespaces[_i].second_visited ? second : first;
        /* Of either of them. */
        for (size_t i = 0; i < first->wishes.n_items && namespaces[_i].withheld; i++)
                *(t == second ? &first->wishes.items[i].withheld : &second->wishes.items[i].withheld) = true;
        if (t == first && namespaces[_i].told >= 0) {
                Step s = step_of(second, "write_cache", namespaces[_i].told, 0);

                ck_assert_int_eq(drive_record_step(second->record, &s, 1), 0);
        }
        if (namespaces[_i].waits || namespaces[_i].works)
                second->visit.job = &others;

        n_visits = 0;
        target_visit(t, VISIT_ATTACH);
        visitor.events->ready(t);
        ck_assert(visitor.working);
        for (size_t i = 0; i < t->visit.selected.n_items; i++) {
                const char *overruled = t->visit.memories[i].overruled;

                if (t == second && namespaces[_i].overruled && streq(t->visit.selected.items[i].name, "write_cache"))
                        ck_assert_str_eq(overruled, "nvme0n1 wants another value of it (f:1)");
                else
                        ck_assert_str_eq(overruled, "");
        }
        if (namespaces[_i].works)
                ck_assert(pending_any(&second->pending) && second->pending.reason == VISIT_CHANGE);
        else
                ck_assert_uint_eq(n_visits, 1 + namespaces[_i].visited_again);
        ck_assert(pending_any(&second->pending) == namespaces[_i].works);

        env.drives = NULL;
        (void) target_free(second);
        end(first);
}
END_TEST

/* ---- it waits ---- */

static const struct {
        VisitReason reason;
        Wait first, then;
        bool deferred; /* then */
        unsigned n_told, n_rested;
        VisitReason next; /* what the visit is called then */
} waits[] = {
        { VISIT_ATTACH, { WAIT_UDEV }, { WAIT_UDEV }, false, 0, 0, VISIT_ATTACH },
        { VISIT_ATTACH, { WAIT_UDEV }, { WAIT_CHECK, "a" }, false, 1, 0, VISIT_ATTACH },
        { VISIT_ATTACH, { WAIT_CHECK, "a" }, { WAIT_CHECK, "a" }, false, 1, 0, VISIT_ATTACH },
        { VISIT_ATTACH, { WAIT_CHECK, "a" }, { WAIT_CHECK, "b" }, false, 2, 0, VISIT_ATTACH },
        { VISIT_ATTACH, { WAIT_CHECK, "a" }, { WAIT_CHECK, "a" }, true, 2, 0, VISIT_RETRY },
        { VISIT_ATTACH, { WAIT_UDEV }, { WAIT_SYSTEMD }, true, 1, 0, VISIT_RETRY },
        { VISIT_RECHECK, { WAIT_UDEV }, { WAIT_SYSTEMD }, true, 1, 0, VISIT_RECHECK },
        { VISIT_RETRY, { WAIT_UDEV }, { WAIT_CHECK, "a" }, false, 0, 1, VISIT_RETRY },
        { VISIT_RETRY, { WAIT_CHECK, "a" }, { WAIT_CHECK, "a" }, true, 1, 1, VISIT_RETRY },
        { VISIT_PERMANENT, { WAIT_UDEV }, { WAIT_UDEV }, true, 1, 0, VISIT_RETRY },
};

/* What it waits for is told when it is news, and when it is for longer than allowed; it can be read at any time. */
START_TEST(test_waiting) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        visit_whole(t, VISIT_BOOT);
        for (unsigned visit = 0; visit < 2; visit++) {
                n_waits_told = n_rested = 0;
                target_visit(t, waits[_i].reason);
                visitor.events->waiting(t, waits[_i].first, false);
                ck_assert_int_eq(t->record->waiting_kind, waits[_i].first.kind);
                visitor.events->waiting(t, waits[_i].then, waits[_i].deferred);
                ck_assert_int_eq(t->record->waiting_kind, waits[_i].then.kind);
                ck_assert_int_eq(written_state, DRIVE_WAITING);
                ck_assert_uint_eq(n_waits_told, waits[_i].n_told);
                ck_assert_uint_eq(n_rested, waits[_i].n_rested);
                ck_assert_int_eq(t->visit.pending.reason, waits[_i].next);
                ck_assert(!!(t->visit.pending.work & WORK_PERMANENT) == (waits[_i].reason == VISIT_PERMANENT));
                ck_assert_uint_eq(visit_reason_work(waits[_i].next) & WORK_ANY & ~t->visit.pending.work, 0);

                /* Once it is over, a later wait is news again. */
                visitor.events->ready(t);
                ck_assert_int_eq(t->record->waiting_kind, WAIT_NOTHING);
                visit_over(VISIT_OVER);
                ck_assert_ptr_null(t->visit.job);
        }
        end(t);
}
END_TEST

/* Nothing is wanted of it any more while it waits: it does not wait any more. */
START_TEST(test_waits_in_vain) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        target_visit(t, VISIT_ATTACH);
        visitor.events->waiting(t, check_x, false);
        ck_assert_int_eq(t->record->waiting_kind, WAIT_CHECK);
        files_become("{ match = \"/dev/sdx\"; apm = 1; }");
        target_reconfigure(t, VISIT_RELOAD);
        ck_assert_ptr_null(t->visit.job);
        ck_assert_int_eq(t->record->waiting_kind, WAIT_NOTHING);
        ck_assert_uint_eq(n_rested, 1);
        end(t);
}
END_TEST

/* All is deferred: whoever waits for the visit does so no longer, though it goes on. */
START_TEST(test_all_deferred) {
        Target *t = watch(TWO, TRANSPORT_SATA);
        Step s;

        target_visit(t, VISIT_ATTACH);
        visitor.events->waiting(t, check_x, true);
        s = step_of(t, "apm", VERDICT_DEFERRED, 1);
        n_written = 0;
        visitor.events->step(t, &s);
        ck_assert_uint_eq(n_rested + n_written, 0);
        s = step_of(t, "read_ahead_kb", VERDICT_DEFERRED, 1);
        visitor.events->step(t, &s);
        ck_assert_uint_eq(n_rested, 1);
        ck_assert_uint_eq(n_written, 1);
        ck_assert_ptr_nonnull(t->visit.job);

        /* What its worker defers later is told at its end. */
        visitor.events->ready(t);
        tell(t, VERDICT_DEFERRED);
        ck_assert_uint_eq(n_rested, 1);
        end(t);
}
END_TEST

/* ---- what the worker tells ---- */

static const struct {
        VisitReason reason;
        Verdict verdict;
        bool written, failed, unknown;
        int64_t before; /* it was left at 128 */
        bool told;
} drifts[] = {
        { VISIT_RECHECK, VERDICT_DRIFTED, .before = 100, .told = true },
        { VISIT_RECHECK, VERDICT_UNCHANGED, .before = 128 },
        { VISIT_RECHECK, VERDICT_UNCHANGED, .before = 100 },
        { VISIT_RECHECK, VERDICT_DRIFTED, .unknown = true },
        { VISIT_REVALIDATION, VERDICT_APPLIED, .written = true, .before = 100, .told = true },
        { VISIT_PARAMETERS, VERDICT_APPLIED, .written = true, .before = 100, .told = true },
        { VISIT_PARAMETERS, VERDICT_REFUSED, .failed = true, .before = 100, .told = true },
        { VISIT_PARAMETERS, VERDICT_APPLIED, .written = true, .before = 128 },
        { VISIT_PARAMETERS, VERDICT_DEFERRED, .before = 100 },
        { VISIT_CHANGE, VERDICT_APPLIED, .written = true, .before = 100 },
        { VISIT_RESET, VERDICT_APPLIED, .written = true, .before = 100 },
};

/* Found otherwise than it was left, and nothing explains that. */
START_TEST(test_drift) {
        Target *t = watch(TWO, TRANSPORT_SATA);
        Step s;

        visit_whole(t, VISIT_ATTACH);
        target_visit_for(t, drifts[_i].reason, visit_reason_work(drifts[_i].reason) | WORK_DRIVE);
        visitor.events->ready(t);
        s = step_of(t, "apm", drifts[_i].verdict, drifts[_i].before);
        s.written = drifts[_i].written;
        s.failed = drifts[_i].failed;
        s.before.known = !drifts[_i].unknown;
        n_drifts_told = 0;
        visitor.events->step(t, &s);
        ck_assert_uint_eq(n_drifts_told, drifts[_i].told);
        ck_assert((drive_record_find(t->record, "apm")->drift_when > 0) == drifts[_i].told);
        end(t);
}
END_TEST

/* What is told at the end is counted; of a look after what was in order, only what is news. */
START_TEST(test_summary) {
        bool recheck = _i == 1;
        Target *t = watch(TWO, TRANSPORT_SATA);
        Step s;

        visit_whole(t, VISIT_ATTACH);
        if (recheck)
                target_read(t);
        else
                target_visit(t, VISIT_CHANGE);
        visitor.events->ready(t);
        n_steps_told = n_told = 0;
        tell(t, VERDICT_UNCHANGED);
        ck_assert_uint_eq(n_steps_told, recheck ? 0 : 2);
        s = step_of(t, "apm", VERDICT_APPLIED, 1);
        s.written = true;
        visitor.events->step(t, &s);
        ck_assert_uint_eq(n_steps_told, recheck ? 1 : 3);
        visit_over(VISIT_OVER);

        ck_assert_uint_eq(n_told, 1);
        ck_assert_uint_eq(told_summary.n_settings, 3);
        ck_assert_uint_eq(told_summary.n_written, 1);
        ck_assert_uint_eq(told_summary.n_verdicts[VERDICT_UNCHANGED], recheck ? 0 : 2);
        ck_assert_uint_eq(told_summary.n_verdicts[VERDICT_APPLIED], 1);
        ck_assert_int_eq(drive_record_find(t->record, "apm")->verdict, VERDICT_APPLIED);
        ck_assert_uint_eq(t->n_disturbances, 0);
        ck_assert_uint_eq(n_verdicts_told, 2);

        /* The next one begins from nothing. */
        visit_whole(t, VISIT_CHANGE);
        ck_assert_uint_eq(told_summary.n_settings, 2);
        ck_assert_uint_eq(told_summary.n_written, 0);
        ck_assert_uint_eq(n_verdicts_told, 3);
        visit_whole(t, VISIT_CHANGE);
        /* The same verdicts once more are no news. */
        ck_assert_uint_eq(n_verdicts_told, 3);

        ck_assert_str_eq(t->record->visits, recheck ? "attach 1 recheck 1 change 2" : "attach 1 change 3");
        ck_assert_uint_gt(t->record->visit_when, 0);
        end(t);
}
END_TEST

/* It had to set something back that the kernel holds: who does so again and again is a disturbance. */
START_TEST(test_set_back) {
        Target *t = watch(TWO, TRANSPORT_SATA);
        Step s;

        visit_whole(t, VISIT_ATTACH);
        visit_whole(t, VISIT_REVALIDATION);
        ck_assert_uint_eq(t->n_disturbances, 0);
        target_visit(t, VISIT_REVALIDATION);
        visitor.events->ready(t);
        s = step_of(t, "read_ahead_kb", VERDICT_APPLIED, 1);
        s.written = true;
        visitor.events->step(t, &s);
        visit_over(VISIT_OVER);
        ck_assert_uint_eq(t->n_disturbances, 1);
        visit_whole(t, VISIT_RESUME);
        ck_assert_uint_eq(t->n_disturbances, 0);
        end(t);
}
END_TEST

/* It is gone: the guard is told at once, and of nothing else. */
START_TEST(test_vanished) {
        Target *t = watch(TWO, TRANSPORT_SATA);
        Step s;

        target_visit(t, VISIT_ATTACH);
        visitor.events->ready(t);
        guard_told[0] = '\0';
        s = step_of(t, "apm", VERDICT_FAILED, 1);
        visitor.events->step(t, &s);
        ck_assert_str_eq(guard_told, "");
        s = step_of(t, "apm", VERDICT_VANISHED, 1);
        visitor.events->step(t, &s);
        ck_assert_str_eq(guard_told, "lost ");
        end(t);
}
END_TEST

/* No answer for long: said, and nobody waits. So it is when the worker dies. */
START_TEST(test_silent) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        target_visit(t, VISIT_ATTACH);
        visitor.events->ready(t);
        n_workers_told = n_rested = 0;
        visitor.events->silent(t, 20);
        ck_assert_uint_eq(n_workers_told, 1);
        ck_assert_uint_eq(n_rested, 1);
        visit_over(VISIT_OVER);
        ck_assert_uint_eq(n_workers_told, 1);
        ck_assert_uint_eq(n_rested, 2);
        end(t);
}
END_TEST

/* A bridge that did not survive a command: said when it is news. */
START_TEST(test_bridge_fell) {
        static const Bridge sound = { .asked = true, .cdb = 12 }, fell = { .asked = true, .fragile = true };
        Target *t = watch(TWO, TRANSPORT_USB);

        target_visit(t, VISIT_ATTACH);
        visitor.events->ready(t);
        n_logged = 0;
        visitor.events->bridged(t, &sound, NULL);
        ck_assert_uint_eq(n_logged, 0);
        ck_assert_uint_eq(t->record->bridge.cdb, 12);
        for (unsigned i = 0; i < 2; i++) {
                visitor.events->bridged(t, &fell, NULL);
                ck_assert_uint_eq(n_logged, 1);
                ck_assert(t->record->bridge.fragile);
        }
        visit_over(VISIT_OVER);
        ck_assert_ptr_null(t->visit.job);
        end(t);
}
END_TEST

/* ---- what is known of it ---- */

static const struct {
        Verdict known;
        bool read, sent; /* 128 was */
        Step step;
        int64_t before;
        bool news;
        VisitReason reason; /* VISIT_BOOT, unless told */
} findings[] = {
        { VERDICT_UNCHANGED, true, false, { .verdict = VERDICT_UNCHANGED }, 128, false },
        { VERDICT_APPLIED, true, false, { .verdict = VERDICT_UNCHANGED }, 128, false },
        { VERDICT_UNCHANGED, true, false, { .verdict = VERDICT_UNCHANGED }, 127, true },
        /* An action that is done once was undone since. */
        { VERDICT_APPLIED, true, false, { .verdict = VERDICT_APPLIED }, 128, false },
        { VERDICT_APPLIED, true, false, { .verdict = VERDICT_APPLIED }, 127, true },
        { VERDICT_UNCHANGED, true, false, { .verdict = VERDICT_APPLIED }, 127, true },
        { VERDICT_UNCHANGED, false, false, { .verdict = VERDICT_UNCHANGED }, 128, false },
        { VERDICT_FAILED, true, false, { .verdict = VERDICT_UNCHANGED }, 128, true },
        { VERDICT_UNCHANGED, true, false, { .verdict = VERDICT_UNCHANGED, .written = true }, 128, true },
        { VERDICT_UNCHANGED, true, false, { .verdict = VERDICT_UNCHANGED, .failed = true }, 128, true },
        { VERDICT_UNVERIFIABLE, false, true, { .verdict = VERDICT_UNVERIFIABLE }, 0, false },
        { VERDICT_UNVERIFIABLE, false, true, { .verdict = VERDICT_UNVERIFIABLE, .lost = true }, 0, true },
        { VERDICT_UNVERIFIABLE, false, false, { .verdict = VERDICT_UNVERIFIABLE, .lost = true }, 0, false },
        { VERDICT_APPLIED, false, true, { .verdict = VERDICT_UNVERIFIABLE }, 0, true },
        { VERDICT_ADJUSTED, true, false, { .verdict = VERDICT_ADJUSTED }, 128, false },
        { VERDICT_UNCHANGED, true, false, { .verdict = VERDICT_ADJUSTED }, 128, true },
        { VERDICT_DRIFTED, true, false, { .verdict = VERDICT_DRIFTED }, 128, false },
        { VERDICT_DRIFTED, true, false, { .verdict = VERDICT_DRIFTED }, 127, true },
        { VERDICT_UNCHANGED, true, false, { .verdict = VERDICT_DRIFTED }, 128, true },
        { VERDICT_UNCHANGED, true, false, { .verdict = VERDICT_DEFERRED }, 128, true },
        { VERDICT_UNCHANGED, true, false, { .verdict = VERDICT_DEFERRED }, 128, false, VISIT_RECHECK },
        { VERDICT_REFUSED, true, false, { .verdict = VERDICT_REFUSED }, 128, true },
        { VERDICT_UNCHANGED, true, false, { .verdict = _VERDICT_INVALID }, 128, true },
};

START_TEST(test_news) {
        Target *t = watch(TWO, TRANSPORT_SATA);
        Step s = step_of(t, "apm", findings[_i].step.verdict, findings[_i].before);
        SettingRecord *known;

        ck_assert(target_finds_news(t, visit_reason_work(findings[_i].reason), &s));
        ck_assert_int_eq(drive_record_add(t->record, "apm", &known), 0);
        known->verdict = findings[_i].known;
        known->read = (KnownNumber){ .known = findings[_i].read, .number = 128 };
        known->sent = (KnownNumber){ .known = findings[_i].sent, .number = 128 };
        ck_assert_int_eq(string_replace(&known->actual, "128"), 0);
        s.written = findings[_i].step.written;
        s.failed = findings[_i].step.failed;
        s.lost = findings[_i].step.lost;
        ck_assert(target_finds_news(t, visit_reason_work(findings[_i].reason), &s) == findings[_i].news);
        s.setting = NULL;
        if (s.verdict == VERDICT_DRIFTED)
                ck_assert(target_finds_news(t, visit_reason_work(findings[_i].reason), &s));
        end(t);
}
END_TEST

/* Has it been used more since the last look? One that the kernel has put to sleep is not looked at. */
START_TEST(test_look) {
        Target *t = watch(TWO, TRANSPORT_SATA);

        activity = 5;
        suspended = true;
        ck_assert(!target_look(t));
        ck_assert_uint_eq(t->record->used_when, 0);
        suspended = false;
        ck_assert(target_look(t));
        ck_assert_uint_eq(t->record->used, 5);
        /* It was resumed, for something that the kernel does not count, or while nothing is counted. */
        ck_assert(!target_look(t));
        suspended = true;
        ck_assert(!target_look(t));
        suspended = false;
        ck_assert(target_look(t));
        ck_assert(!target_look(t));
        ck_assert_uint_gt(t->record->used_when, 0);
        t->record->ata_sleep = true;
        ck_assert(!target_look(t));
        ck_assert(t->record->ata_sleep);
        activity = 0;
        ck_assert(!target_look(t));
        ck_assert_uint_eq(t->record->used, 5);
        activity = 6;
        ck_assert(target_look(t));
        ck_assert(!t->record->ata_sleep);
        activity = 1;
        end(t);
}
END_TEST

/* Something is put off until its user wakes it, and no visit is at that. */
START_TEST(test_deferred) {
        Target *t = watch(TWO, TRANSPORT_SATA);
        Step s;

        visit_whole(t, VISIT_ATTACH);
        ck_assert(!target_has_deferred(t));
        target_visit(t, VISIT_CHANGE);
        visitor.events->ready(t);
        s = step_of(t, "read_ahead_kb", VERDICT_DEFERRED, 1);
        visitor.events->step(t, &s);
        ck_assert(!target_has_deferred(t));
        visit_over(VISIT_OVER);
        ck_assert(target_has_deferred(t));
        end(t);

        /* Which drive it is is not asked where nothing may be written. */
        t = watch("{ match = \"/dev/sdx\"; apm = 1; }, { match = { serial = \"S1\"; }; apm = 2; }", TRANSPORT_USB);
        ck_assert(target_has_deferred(t));
        env.forbidden_by = "drivekeep=0";
        ck_assert(!target_has_deferred(t));
        env.forbidden_by = NULL;
        t->record->bridge.asked = true;
        ck_assert(!target_has_deferred(t));
        end(t);
}
END_TEST

int main(void) {
        Suite *s = suite_create("target-visit");
        TCase *t = tcase_create("target-visit");

        tcase_add_loop_test(t, test_reason, 0, _VISIT_REASON_MAX);
        tcase_add_test(t, test_restores);
        tcase_add_test(t, test_read);
        tcase_add_loop_test(t, test_use, 0, ELEMENTSOF(uses));
        tcase_add_loop_test(t, test_no_visit, 0, 2);
        tcase_add_test(t, test_stacked);
        tcase_add_loop_test(t, test_namespaces, 0, ELEMENTSOF(namespaces));
        tcase_add_loop_test(t, test_waiting, 0, ELEMENTSOF(waits));
        tcase_add_test(t, test_waits_in_vain);
        tcase_add_test(t, test_all_deferred);
        tcase_add_loop_test(t, test_drift, 0, ELEMENTSOF(drifts));
        tcase_add_loop_test(t, test_summary, 0, 2);
        tcase_add_test(t, test_set_back);
        tcase_add_test(t, test_vanished);
        tcase_add_test(t, test_silent);
        tcase_add_test(t, test_bridge_fell);
        tcase_add_loop_test(t, test_news, 0, ELEMENTSOF(findings));
        tcase_add_test(t, test_look);
        tcase_add_test(t, test_deferred);
        suite_add_tcase(s, t);

        return suite_run(s);
}
