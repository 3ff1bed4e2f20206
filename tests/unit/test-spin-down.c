/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests which timer is reported to spin a drive down, for each verdict that the drive's record may have for the timer. */

#include "standby-timer.h"
#include "suite.h"

#define ATA (1U << BACKEND_ATA)
#define SCSI (1U << BACKEND_SCSI_MODE)
#define SECOND 1000000ULL
#define MINUTE (60 * SECOND)
#define RANGE_TIMER \
        { .type = VALUE_STANDBY_TIMER, .has_off = true }
#define RANGE_TIME \
        { .type = VALUE_DURATION, .min = 100, .max = INT64_C(1) << 40, .has_off = true }

/* clang-format off */
static const Setting ata[] = {
        { .name = "spindown_time", .backend = BACKEND_ATA, .range = RANGE_TIMER, .spins_down = true },
        { .name = "standby_y", .backend = BACKEND_ATA, .range = RANGE_TIME, .spins_down = true },
        { .name = "standby_z", .backend = BACKEND_ATA, .range = RANGE_TIME, .spins_down = true },
        { .name = "idle_a", .backend = BACKEND_ATA, .range = RANGE_TIME },
        {},
};
static const Setting scsi[] = {
        { .name = "spindown_time", .backend = BACKEND_SCSI_MODE, .range = RANGE_TIMER, .spins_down = true },
        { .name = "standby_z", .backend = BACKEND_SCSI_MODE, .range = RANGE_TIME, .spins_down = true },
        {},
};
static const Setting kernel[] = {
        { .name = "autosuspend_delay", .backend = BACKEND_SCSI, .range = { .type = VALUE_DURATION } },
        {},
};
/* clang-format on */
static const SettingTable table = { { ata, scsi, kernel, NULL } };

#define TIMER(code) .wish = { .name = "spindown_time", .value = { .type = VALUE_STANDBY_TIMER, .number = (code) } }
#define TIME(key, ms) .wish = { .name = (key), .value = { .type = VALUE_DURATION, .number = (ms) } }
#define BY(who) .by = SPINDOWN_BY_##who
#define SENT(n) .sent = { true, n }
#define READ(n) .read = { true, n }

/* A wanted setting and its record. */
typedef struct Item {
        Wish wish;
        SpindownBy by;
        bool unvisited, by_service;
        Verdict verdict;
        const char *actual;
        KnownNumber sent, read;
} Item;

typedef struct Case {
        Item items[5];
        unsigned backends; /* mask of 1 << Backend; 0: BACKEND_ATA */
        bool flash, ignores;
        uint64_t kernel; /* idle time after which runtime PM spins the drive down; 0: never */
        uint64_t usec;   /* expected timer; 0: none */
        bool pending;
        const char *text; /* expected text about the timer in force; NULL: no timer is in force */
} Case;

static SpinDown find(const Case *c, DriveRecord *r, Wishes *w, Drive *d, SpinDown *ret_in_force) {
        unsigned backends = (c->backends ?: ATA) | 1U << BACKEND_SCSI;

        r->ignores_timer = c->ignores;
        *d = (Drive){ .rotational = !c->flash,
                      .ata = backends & ATA,
                      .transport = backends & ATA ? TRANSPORT_SATA : TRANSPORT_SAS };
        for (const Item *i = c->items; i < c->items + ELEMENTSOF(c->items) && i->wish.name; i++) {
                SettingRecord *s;

                w->items[w->n_items] = i->wish;
                w->items[w->n_items++].spindown_by = i->by;
                if (i->unvisited)
                        continue;
                ck_assert_int_eq(drive_record_add(r, i->wish.name, &s), 0);
                ck_assert_int_eq(string_replace(&s->actual, i->actual), 0);
                s->verdict = i->verdict;
                s->sent = i->sent;
                s->read = i->read;
                s->by_service = i->by_service;
        }

        *ret_in_force = spin_down_in_force(r, w, &table, d, backends, c->kernel ?: UINT64_MAX);
        return spin_down_timer(r, w, &table, d, backends);
}

static void check_case(const Case *c) {
        _cleanup_(drive_record_freep) DriveRecord *r = calloc(1, sizeof *r);
        Wish items[ELEMENTSOF(c->items)];
        Wishes w = { .items = items };
        char buf[SPIN_DOWN_TEXT_MAX];
        SpinDown timer, now;
        Drive d;

        ck_assert_ptr_nonnull(r);
        timer = find(c, r, &w, &d, &now);
        ck_assert_uint_eq(timer.usec, c->usec ?: UINT64_MAX);
        ck_assert(!timer.wish == !c->usec);
        ck_assert(timer.pending == c->pending);
        ck_assert_pstr_eq(spin_down_format(&now, buf), c->text);
        ck_assert(!spin_down_key(&now, buf) == !c->text);
}

/* ---- verdicts of one setting ---- */

static const Case verdicts[] = {
        { { { TIMER(240), .unvisited = true } }, .usec = 20 * MINUTE, .pending = true },
        { { { TIMER(240), .verdict = VERDICT_UNVERIFIABLE, SENT(240) } }, .usec = 20 * MINUTE, .text = "20 min" },
        /* No value is known to be in the drive: the wanted timer is pending. */
        { { { TIMER(240), .verdict = VERDICT_UNVERIFIABLE } }, .usec = 20 * MINUTE, .pending = true },
        { { { TIMER(240), .verdict = VERDICT_DEFERRED } }, .usec = 20 * MINUTE, .pending = true },
        { { { TIMER(240), .verdict = VERDICT_FAILED } }, .usec = 20 * MINUTE, .pending = true },
        { { { TIMER(240), .verdict = VERDICT_VANISHED } }, .usec = 20 * MINUTE, .pending = true },
        { { { TIMER(240), .verdict = _VERDICT_INVALID } }, .usec = 20 * MINUTE, .pending = true },
        { { { TIMER(240), .verdict = VERDICT_UNSUPPORTED } } },
        { { { TIMER(240), .verdict = VERDICT_REFUSED } } },
        { { { TIMER(240), .verdict = VERDICT_FORBIDDEN } } },
        { { { TIMER(240), .verdict = VERDICT_QUARANTINED } } },
        { { { TIMER(0), .verdict = VERDICT_UNVERIFIABLE, SENT(0) } } },
        /* The value that an earlier visit sent or read is in force, and not the wanted value. */
        { { { TIMER(240), .verdict = VERDICT_DEFERRED, SENT(120) } }, .usec = 10 * MINUTE, .text = "10 min" },
        { { { TIME("standby_z", 1200000), .verdict = VERDICT_DEFERRED, READ(600000) } },
          .usec = 10 * MINUTE,
          .text = "10 min, by standby_z" },
        { { { TIME("standby_z", 1200000), .verdict = VERDICT_APPLIED, READ(1200000) } },
          .usec = 20 * MINUTE,
          .text = "20 min, by standby_z" },
        { { { TIME("standby_z", 1200000), .verdict = VERDICT_UNCHANGED, .actual = "20 min" } },
          .usec = 20 * MINUTE,
          .text = "20 min, by standby_z" },
        { { { TIME("standby_z", 1200000), .verdict = VERDICT_ADJUSTED, READ(900000) } },
          .usec = 15 * MINUTE,
          .text = "15 min, by standby_z" },
        { { { TIME("standby_z", 1200000), .verdict = VERDICT_ADJUSTED, READ(0) } } },
        { { { TIME("standby_z", 1200000), .verdict = VERDICT_ADJUSTED, SENT(1200000) } } },
        { { { TIME("standby_z", 1200000), .verdict = VERDICT_IGNORED, READ(900000) } },
          .usec = 15 * MINUTE,
          .text = "15 min, by standby_z" },
        { { { TIME("standby_z", 1200000), .verdict = VERDICT_IGNORED } } },
        { { { TIME("standby_z", 1200000), .verdict = VERDICT_DRIFTED, READ(0) } } },
};

/* ---- drive or service ---- */

static const Case actors[] = {
        { { { TIMER(240), BY(SERVICE), .verdict = VERDICT_UNCHANGED } },
          .usec = 20 * MINUTE,
          .text = "20 min, by the service" },
        { { { TIMER(240), BY(SERVICE), .unvisited = true } }, .usec = 20 * MINUTE, .text = "20 min, by the service" },
        { { { TIMER(240), BY(SERVICE), .verdict = VERDICT_FORBIDDEN } } },
        { { { TIMER(240), BY(SERVICE), .verdict = VERDICT_UNCHANGED } }, .flash = true },
        { { { TIME("standby_z", 1800000), BY(SERVICE), .verdict = VERDICT_UNCHANGED } },
          .backends = SCSI,
          .usec = 30 * MINUTE,
          .text = "30 min, by the service" },
        /* by_service: the drive rejects or ignores the timer, so the service spins the drive down. */
        { { { TIMER(240), BY(AUTO), .verdict = VERDICT_UNCHANGED, .by_service = true } },
          .usec = 20 * MINUTE,
          .text = "20 min, by the service" },
        { { { TIMER(240), BY(DRIVE), .verdict = VERDICT_UNCHANGED, .by_service = true } },
          .usec = 20 * MINUTE,
          .text = "20 min" }, /* not "by the service": after the visit, the rule changed to spindown_by = "drive" */
        { { { TIMER(240), BY(AUTO), .verdict = VERDICT_UNCHANGED } }, .usec = 20 * MINUTE, .text = "20 min" },
        { { { TIMER(240), BY(AUTO), .verdict = VERDICT_UNCHANGED, SENT(240) } },
          .usec = 20 * MINUTE,
          .text = "20 min" },
        { { { TIME("standby_z", 1200000), BY(AUTO), .verdict = VERDICT_UNCHANGED, .actual = "20 min" } },
          .usec = 20 * MINUTE,
          .text = "20 min, by standby_z" },
        { { { TIMER(240), BY(AUTO), .verdict = VERDICT_UNVERIFIABLE, SENT(240) } },
          .usec = 20 * MINUTE,
          .text = "20 min" },
        { { { TIMER(240), BY(AUTO), .verdict = VERDICT_UNVERIFIABLE, SENT(240) } },
          .ignores = true,
          .usec = 20 * MINUTE,
          .text = "20 min, by the service" },
        { { { TIMER(240), BY(DRIVE), .verdict = VERDICT_UNVERIFIABLE, SENT(240) } },
          .ignores = true,
          .usec = 20 * MINUTE,
          .text = "20 min" },
        { { { TIMER(240), BY(AUTO), .unvisited = true } },
          .ignores = true,
          .usec = 20 * MINUTE,
          .text = "20 min, by the service" },
        { { { TIMER(240), BY(AUTO), .unvisited = true } }, .usec = 20 * MINUTE, .pending = true },
};

/* ---- several timers ---- */

#define SAS_TIMER \
        { TIMER(240), .verdict = VERDICT_UNSUPPORTED }

static const Case several[] = {
        { {} },
        { { SAS_TIMER }, .backends = SCSI },
        { { SAS_TIMER, { TIME("standby_z", 900000), .verdict = VERDICT_APPLIED } },
          .backends = SCSI,
          .usec = 15 * MINUTE,
          .text = "15 min, by standby_z" },
        { { SAS_TIMER, { TIME("standby_z", 3600000), .verdict = VERDICT_APPLIED } },
          .backends = SCSI,
          .usec = 60 * MINUTE,
          .text = "1 h, by standby_z" },
        /* Of several timers, the shortest is reported. */
        { { { TIME("standby_y", 9000), .verdict = VERDICT_APPLIED },
            { TIME("standby_z", 7000), .verdict = VERDICT_APPLIED } },
          .usec = 7 * SECOND,
          .text = "7 s, by standby_z" },
        { { { TIME("standby_y", 5000), .verdict = VERDICT_APPLIED },
            { TIME("standby_z", 7000), .verdict = VERDICT_APPLIED } },
          .usec = 5 * SECOND,
          .text = "5 s, by standby_y" },
        { { { TIME("standby_y", 0), .verdict = VERDICT_APPLIED },
            { TIME("standby_z", 7000), .verdict = VERDICT_APPLIED } },
          .usec = 7 * SECOND,
          .text = "7 s, by standby_z" },
        /* A timer in force is reported, even if a shorter timer is pending. */
        { { { TIME("standby_y", 5000), .unvisited = true }, { TIME("standby_z", 7000), .verdict = VERDICT_APPLIED } },
          .usec = 7 * SECOND,
          .text = "7 s, by standby_z" },
        { { { TIME("standby_z", 7000), .verdict = VERDICT_APPLIED }, { TIME("standby_y", 5000), .unvisited = true } },
          .usec = 7 * SECOND,
          .text = "7 s, by standby_z" },
        { { { TIME("idle_a", 1000), .verdict = VERDICT_APPLIED } } },
        { { { TIME("nonesuch", 1000), .verdict = VERDICT_APPLIED } } },
        { { { .wish = { .name = "standby_z", .withheld = true }, .verdict = VERDICT_FORBIDDEN } } },
        { { { TIME("standby_z", 2000), .verdict = VERDICT_APPLIED } }, .backends = 1U << BACKEND_NVME },
        /* Each timer code is reported as its time. */
        { { { TIMER(1), .verdict = VERDICT_UNVERIFIABLE, SENT(1) } }, .usec = 5 * SECOND, .text = "5 s" },
        { { { TIMER(241), .verdict = VERDICT_UNVERIFIABLE, SENT(241) } }, .usec = 30 * MINUTE, .text = "30 min" },
        { { { TIMER(252), .verdict = VERDICT_UNVERIFIABLE, SENT(252) } }, .usec = 21 * MINUTE, .text = "21 min" },
        { { { TIME("standby_z", INT64_C(0xFFFFFFFF) * 100), .unvisited = true } },
          .usec = UINT64_C(0xFFFFFFFF) * 100000,
          .pending = true },
};

/* ---- the kernel ---- */

#define DRIVE_20 \
        { TIMER(240), .verdict = VERDICT_UNVERIFIABLE, SENT(240) }

static const Case kernels[] = {
        { { DRIVE_20 }, .kernel = 5 * MINUTE, .usec = 20 * MINUTE, .text = "5 min, by autosuspend_delay" },
        /* A program other than drivekeep may have set the delay, so there need not be a wish. */
        { .kernel = 5 * MINUTE, .text = "5 min, by autosuspend_delay" },
        { { SAS_TIMER }, .kernel = 5 * MINUTE, .backends = SCSI, .text = "5 min, by autosuspend_delay" },
        /* The drive's timer is in force if it is shorter than the kernel's delay. A pending timer of the drive is not in force. */
        { { DRIVE_20 }, .kernel = 30 * MINUTE, .usec = 20 * MINUTE, .text = "20 min" },
        { { { TIMER(12), .unvisited = true } },
          .kernel = 30 * MINUTE,
          .usec = MINUTE,
          .pending = true,
          .text = "30 min, by autosuspend_delay" },
        { .kernel = 5 * MINUTE, .flash = true },
};

START_TEST(test_verdict) {
        check_case(verdicts + _i);
}
END_TEST

START_TEST(test_actor) {
        check_case(actors + _i);
}
END_TEST

START_TEST(test_several) {
        check_case(several + _i);
}
END_TEST

START_TEST(test_kernel) {
        check_case(kernels + _i);
}
END_TEST

START_TEST(test_key) {
        static const Wish wish = {};
        static const Setting setting = { .name = "standby_z" };
        static const char *const keys[] = {
                [SPIN_DOWN_BY_DRIVE] = "drive standby_z 7000000",
                [SPIN_DOWN_BY_SERVICE] = "service standby_z 7000000",
                [SPIN_DOWN_BY_KERNEL] = "kernel standby_z 7000000",
        };
        const SpinDown s = { .wish = &wish, .setting = &setting, .usec = 7 * SECOND, .by = (SpinDownActor) _i };
        char buf[SPIN_DOWN_TEXT_MAX];

        ck_assert_str_eq(spin_down_key(&s, buf), keys[_i]);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("spin-down");
        TCase *t = tcase_create("spin-down");

        tcase_add_loop_test(t, test_verdict, 0, ELEMENTSOF(verdicts));
        tcase_add_loop_test(t, test_actor, 0, ELEMENTSOF(actors));
        tcase_add_loop_test(t, test_several, 0, ELEMENTSOF(several));
        tcase_add_loop_test(t, test_kernel, 0, ELEMENTSOF(kernels));
        tcase_add_loop_test(t, test_key, 0, 3);
        suite_add_tcase(suite, t);
        return suite_run(suite);
}
