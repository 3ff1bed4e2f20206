/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fake-settings.h"
#include "scope.h"
#include "suite.h"

#define STANDBY_WISHES_MAX 20
#define BACKENDS (1U << BACKEND_ATA | 1U << BACKEND_SCSI | 1U << BACKEND_BLOCK)

/* clang-format off */
static const Setting rows[] = {
        { .name = "apm", .backend = BACKEND_ATA },
        { .name = "spindown_time", .backend = BACKEND_ATA, .flags = SETTING_UNREADABLE },
        { .name = "sleep", .backend = BACKEND_ATA, .flags = SETTING_UNREADABLE | SETTING_AT_ATTACH },
        { .name = "lookahead", .backend = BACKEND_ATA },
        { .name = "idle", .backend = BACKEND_ATA },
        { .name = "keep_active", .backend = BACKEND_ATA, .keeps_active = true },
        { .name = "read_ahead_kb", .backend = BACKEND_BLOCK, .flags = SETTING_KERNEL },
        { .name = "scheduler", .backend = BACKEND_BLOCK, .flags = SETTING_KERNEL },
        { .name = "fallback", .backend = BACKEND_SCSI, .flags = SETTING_KERNEL, .unless = "apm" },
        { .name = "write_cache", .backend = BACKEND_NVME },
        {}
};
/* clang-format on */

static const struct {
        const char *name;
        Verdict verdict;
        /* true if the setting must be selected. `kernel`: for a revalidation; `readable`: for a visit with WORK_KERNEL and WORK_DRIVE. */
        bool kernel, readable;
} cases[] = {
        { "apm", VERDICT_APPLIED, false, true },
        { "spindown_time", VERDICT_UNVERIFIABLE, false, true }, /* selected because apm is selected */
        { "sleep", VERDICT_UNVERIFIABLE, false, false },        /* not selected: an action is done only once */
        { "idle", VERDICT_ADJUSTED, false, true },              /* selected: the drive has the nearest value */
        { "keep_active", VERDICT_APPLIED, false, false }, /* not selected: only VISIT_KEEP_ACTIVE repeats the read */
        { "lookahead", VERDICT_REFUSED, false, false },   /* not selected: rejected by the drive at the last visit */
        { "read_ahead_kb", VERDICT_DRIFTED, true, true }, /* selected: may have the wanted value again */
        { "scheduler", VERDICT_UNSUPPORTED, false, false },
        { "fallback", VERDICT_APPLIED, false, false },    /* not selected: needed only if apm is not in force */
        { "write_cache", VERDICT_APPLIED, false, false }, /* not selected: has no row for drives of this kind */
        { "timeout", VERDICT_APPLIED, false, false },     /* not selected: test_scopes marks it as withheld */
};

START_TEST(test_scopes) {
        const SettingTable table = { .tables = { rows, fake_kernel } };
        _cleanup_(drive_record_freep) DriveRecord *record = NULL;
        Wish items[ELEMENTSOF(cases)] = {};
        const Wishes all = { items, ELEMENTSOF(cases) };
        Wishes whole, kernel, recheck, readable, active, none;

        record = calloc(1, sizeof *record);
        for (size_t i = 0; i < all.n_items; i++) {
                SettingRecord *s;

                items[i].name = cases[i].name;
                items[i].withheld = streq(cases[i].name, "timeout");
                ck_assert_int_eq(drive_record_add(record, cases[i].name, &s), 0);
                s->verdict = cases[i].verdict;
        }

        ck_assert_int_eq(scope_select(WORK_ALL, &all, &table, BACKENDS, record, &whole), 0);
        ck_assert_int_eq(scope_select(visit_reason_work(VISIT_REVALIDATION), &all, &table, BACKENDS, record, &kernel),
                         0);
        ck_assert_int_eq(scope_select(WORK_KERNEL | WORK_DRIVE, &all, &table, BACKENDS, record, &readable), 0);
        ck_assert_int_eq(scope_select(visit_reason_work(VISIT_RECHECK), &all, &table, BACKENDS, record, &recheck), 0);
        ck_assert_uint_eq(whole.n_items, all.n_items);
        ck_assert_int_eq(scope_select(visit_reason_work(VISIT_KEEP_ACTIVE), &all, &table, BACKENDS, record, &active),
                         0);
        ck_assert_uint_eq(active.n_items, 1);
        ck_assert_str_eq(active.items[0].name, "keep_active");
        free(active.items);
        /* Visits for VISIT_STANDBY and the reasons after it, up to VISIT_WEAR, handle no settings. */
        for (VisitReason r = VISIT_STANDBY; r <= VISIT_WEAR; r++) {
                ck_assert_int_eq(scope_select(visit_reason_work(r), &all, &table, BACKENDS, record, &none), 0);
                ck_assert_uint_eq(none.n_items, 0);
                free(none.items);
        }
        ck_assert(wishes_equal(&recheck, &kernel,
                               &table)); /* a recheck sends no commands, since the drive may be in standby */
        for (size_t i = 0; i < all.n_items; i++) {
                ck_assert_msg(!!wishes_find(&kernel, cases[i].name) == cases[i].kernel, "kernel: %s", cases[i].name);
                ck_assert_msg(!!wishes_find(&readable, cases[i].name) == cases[i].readable, "readable: %s",
                              cases[i].name);
        }

        /* All readable settings of the drive have failed: only the kernel setting read_ahead_kb is selected. */
        free(readable.items);
        drive_record_find(record, "apm")->verdict = drive_record_find(record, "idle")->verdict = VERDICT_FAILED;
        ck_assert_int_eq(scope_select(WORK_KERNEL | WORK_DRIVE, &all, &table, BACKENDS, record, &readable), 0);
        ck_assert_uint_eq(readable.n_items, 1);
        ck_assert_str_eq(readable.items[0].name, "read_ahead_kb");

        /* The record of a drive that was never visited is empty: no setting is selected. */
        free(readable.items);
        drive_record_drop_unwanted(record, &(Wishes){});
        ck_assert_int_eq(scope_select(WORK_KERNEL | WORK_DRIVE, &all, &table, BACKENDS, record, &readable), 0);
        ck_assert_uint_eq(readable.n_items, 0);

        free(whole.items);
        free(kernel.items);
        free(recheck.items);
        free(readable.items);
}
END_TEST

/* scope_add_standby() adds a wish for standby at the end. If the wishes already have one for standby, the new wish
 * replaces it. The number of other wishes does not matter. */
START_TEST(test_add_standby) {
        static const size_t no_standby = SIZE_MAX;
        const size_t n = _i / 3, old = (size_t[]){ no_standby, 0, n - 1 }[_i % 3];
        const SettingTable table = { .tables = { rows, fake_kernel } };
        Wish items[STANDBY_WISHES_MAX] = {};
        Wishes selected;

        for (size_t i = 0; i < n; i++)
                items[i] = (Wish){ .name = i == old ? "standby" : "apm", .value = VALUE_BOOLEAN(false), .line = 7 };
        ck_assert_int_eq(scope_select(WORK_ALL, &(Wishes){ .items = items, .n_items = n }, &table, BACKENDS, NULL,
                                      &selected),
                         0);
        ck_assert_int_eq(scope_add_standby(&selected), 0);

        ck_assert_uint_eq(selected.n_items, n + (old >= n));
        for (size_t i = 0; i < selected.n_items; i++) {
                bool last = i + 1 == selected.n_items;

                ck_assert_str_eq(selected.items[i].name, last ? "standby" : "apm");
                ck_assert_int_eq(selected.items[i].value.number, last);
                ck_assert_uint_eq(selected.items[i].line, last ? 0 : 7);
        }
        free(selected.items);
}
END_TEST

int main(void) {
        Suite *s = suite_create("scope");
        TCase *t = tcase_create("scope");

        tcase_add_test(t, test_scopes);
        tcase_add_loop_test(t, test_add_standby, 0, 3 * (STANDBY_WISHES_MAX + 1));
        suite_add_tcase(s, t);
        return suite_run(s);
}
