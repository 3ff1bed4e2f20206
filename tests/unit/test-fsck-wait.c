/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the gate says that a drive waits for. PID 1's and udev's answers are ours. */

#include "fsck-devices.h"
#include "fsck-wait.h"
#include "stack.h"
#include "suite.h"

/* ---- stand-ins ---- */

static struct {
        int error;          /* PID 1 cannot be asked */
        const char *unit;   /* queued or running */
        bool root;          /* … it checks the root file system */
        bool covers;        /* … that lies on the disk */
        bool settled;       /* udev knows the disk's partitions */
        bool out_of_memory; /* what lies on the disk cannot be found out */
} world;

static FsckStatusFn status_fn;
static void *status_userdata;

const Pid1Ways pid1_ways;
static Pid1NewsFn news_fn;
static void *news_userdata;

int pid1_new(_unused_ sd_event *event, _unused_ const Pid1Ways *ways, Pid1NewsFn news, void *userdata, Pid1 **ret) {
        news_fn = news;
        news_userdata = userdata;
        *ret = NULL;
        return 0;
}
Pid1 *pid1_free(_unused_ Pid1 *p) {
        return NULL;
}
static unsigned n_disconnected;
void pid1_disconnect(_unused_ Pid1 *p) {
        n_disconnected++;
}
static int ask_error;
int pid1_ask_fsck_status(_unused_ Pid1 *p, _unused_ char *const *device_units, FsckStatusFn fn, void *userdata) {
        if (ask_error < 0)
                return ask_error;
        status_fn = fn;
        status_userdata = userdata;
        return 0;
}

int fsck_devices_add(_unused_ FsckDevices *d, _unused_ const char *disk) {
        return 0;
}
void fsck_devices_done(_unused_ FsckDevices *d) {
}
int fsck_devices_units(_unused_ const FsckDevices *d, char ***ret) {
        *ret = NULL;
        return 0;
}
bool disk_is_settled(_unused_ const FsckDevices *d, _unused_ const FsckStatus *s, _unused_ const char *disk,
                     _unused_ char *const *above) {
        return world.settled;
}
bool unit_covers(_unused_ const FsckDevices *d, _unused_ const FsckStatus *s, _unused_ const FsckUnit *u,
                 _unused_ const char *disk, _unused_ char *const *above) {
        return world.covers;
}
char **names_free(char **names) {
        free(names);
        return NULL;
}
int stack_above(_unused_ const char *classdir, _unused_ const char *name, char ***ret) {
        *ret = NULL;
        return world.out_of_memory ? -ENOMEM : 0;
}

/* ---- the gate ---- */

static unsigned n_told;
static WaitKind told_kind;
static char *told_name;

static void on_leave(_unused_ void *userdata, Wait w) {
        n_told++;
        told_kind = w.kind;
        free(told_name);
        told_name = w.name ? strdup(w.name) : NULL;
}

/* PID 1 answers, twice where the first answer makes the gate ask about all devices. */
static void pid1_answers(void) {
        FsckUnit unit = { (char *) world.unit, world.root ? NULL : (char *) "sda1", world.root };
        const FsckStatus s = { &unit, world.unit ? 1 : 0, NULL }, none = {};
        FsckStatusFn fn = status_fn;

        status_fn = NULL;
        ck_assert_ptr_nonnull(fn);
        fn(status_userdata, world.error, world.error < 0 ? &none : &s);
}

#define UNIT "systemd-fsck@dev-sda1.service"

static const struct {
        int error;
        const char *unit;
        bool root, covers, settled, out_of_memory;
        WaitKind kind;
        const char *name;
} rows[] = {
        { .settled = true, .kind = WAIT_NOTHING },
        { .unit = UNIT, .settled = true, .kind = WAIT_NOTHING }, /* of another disk */
        { .unit = UNIT, .covers = true, .settled = true, .kind = WAIT_CHECK, .name = UNIT },
        { .unit = "systemd-fsck-root.service",
          .root = true,
          .covers = true,
          .settled = true,
          .kind = WAIT_CHECK,
          .name = "systemd-fsck-root.service" },
        { .kind = WAIT_UDEV },
        { .error = -EIO, .settled = true, .kind = WAIT_SYSTEMD },
        { .settled = true, .out_of_memory = true, .kind = WAIT_MEMORY },
};

/* A kind each, and a name where it is a unit's; told once, however often the answer is the same. */
START_TEST(test_kinds) {
        sd_event *event = NULL;
        FsckTicket *t;
        FsckWait *g;

        n_told = 0;
        world.error = rows[_i].error;
        world.unit = rows[_i].unit;
        world.root = rows[_i].root;
        world.covers = rows[_i].covers;
        world.settled = rows[_i].settled;
        world.out_of_memory = rows[_i].out_of_memory;

        ck_assert_int_eq(sd_event_new(&event), 0);
        ck_assert_int_eq(fsck_wait_new(event, &g), 0);
        ck_assert_int_eq(fsck_wait_ask(g, "sda", true, on_leave, NULL, &t), 0);
        ck_assert_uint_eq(n_told, 0);
        pid1_answers();
        ck_assert_uint_eq(n_told, 1);
        ck_assert_int_eq(told_kind, rows[_i].kind);
        if (rows[_i].name)
                ck_assert_str_eq(told_name, rows[_i].name);
        else
                ck_assert_ptr_null(told_name);

        if (rows[_i].kind != WAIT_NOTHING) {
                fsck_wait_poke(g);
                pid1_answers();
                ck_assert_uint_eq(n_told, 1);
        }

        free(TAKE_PTR(told_name));
        (void) fsck_wait_free(g);
        sd_event_unref(event);
}
END_TEST

static bool is_asked(void) {
        return status_fn;
}

/* Leave lasts until a check is queued, or PID 1 cannot be asked any more; it is given again when that is over. What cannot take it
 * back asks nobody. */
START_TEST(test_leave) {
        sd_event *event = NULL;
        FsckTicket *t;
        FsckWait *g;

        n_told = 0;
        world = (typeof(world)){ .settled = true, .covers = true };
        ck_assert_int_eq(sd_event_new(&event), 0);
        ck_assert_int_eq(fsck_wait_new(event, &g), 0);
        news_fn(news_userdata, PID1_CHECK_QUEUED);
        ck_assert(!is_asked());

        ck_assert_int_eq(fsck_wait_ask(g, "sda", true, on_leave, NULL, &t), 0);
        pid1_answers();
        ck_assert_uint_eq(n_told, 1);
        ck_assert_int_eq(told_kind, WAIT_NOTHING);

        /* udev looks at the drive; a check of another one ends, or is queued. */
        world.settled = false;
        fsck_wait_poke(g);
        ck_assert(!is_asked());
        news_fn(news_userdata, PID1_CHECK_ENDED);
        ck_assert(!is_asked());
        news_fn(news_userdata, PID1_DEVICE);
        pid1_answers();
        world.unit = UNIT;
        world.covers = false;
        news_fn(news_userdata, PID1_CHECK_QUEUED);
        pid1_answers();
        ck_assert_uint_eq(n_told, 1);

        for (int i = 0; i < 3; i++) {
                static const Pid1News news[] = { PID1_CHECK_QUEUED, PID1_DEVICE, PID1_DISCONNECTED };

                world.covers = true;
                world.settled = true;
                world.error = news[i] == PID1_DISCONNECTED ? -EIO : 0;
                news_fn(news_userdata, news[i]);
                pid1_answers();
                ck_assert_uint_eq(n_told, 2U + 2U * (unsigned) i);
                ck_assert_int_eq(told_kind, world.error ? WAIT_SYSTEMD : WAIT_CHECK);

                world.error = 0;
                world.unit = NULL;
                news_fn(news_userdata, PID1_CHECK_ENDED);
                pid1_answers();
                ck_assert_uint_eq(n_told, 3U + 2U * (unsigned) i);
                ck_assert_int_eq(told_kind, WAIT_NOTHING);
                world.unit = UNIT;
        }

        /* Nobody is told who has gone. */
        news_fn(news_userdata, PID1_CHECK_QUEUED);
        (void) fsck_ticket_free(t);
        pid1_answers();
        ck_assert_uint_eq(n_told, 7);
        news_fn(news_userdata, PID1_CHECK_QUEUED);
        ck_assert(!is_asked());

        free(TAKE_PTR(told_name));
        (void) fsck_wait_free(g);
        sd_event_unref(event);
}
END_TEST

/* A check is queued, and there is no memory to ask about it: that is made good, also for those who have leave. */
START_TEST(test_ask_again) {
        sd_event *event = NULL;
        FsckTicket *t;
        FsckWait *g;

        n_told = 0;
        world = (typeof(world)){ .settled = true, .covers = true };
        ck_assert_int_eq(sd_event_new(&event), 0);
        ck_assert_int_eq(fsck_wait_new(event, &g), 0);
        ck_assert_int_eq(fsck_wait_ask(g, "sda", true, on_leave, NULL, &t), 0);
        pid1_answers();
        ask_error = -ENOMEM;
        world.unit = UNIT;
        news_fn(news_userdata, PID1_CHECK_QUEUED);
        ask_error = 0;
        while (!is_asked())
                ck_assert_int_ge(sd_event_run(event, UINT64_MAX), 0);
        pid1_answers();
        ck_assert_int_eq(told_kind, WAIT_CHECK);

        free(TAKE_PTR(told_name));
        (void) fsck_wait_free(g);
        sd_event_unref(event);
}
END_TEST

/* When the last leave is given back the connection is closed, so that nothing wakes the service any more. */
START_TEST(test_rest) {
        sd_event *event = NULL;
        FsckTicket *t;
        FsckWait *g;

        world = (typeof(world)){ .settled = true };
        ck_assert_int_eq(sd_event_new(&event), 0);
        ck_assert_int_eq(fsck_wait_new(event, &g), 0);
        ck_assert_int_eq(fsck_wait_ask(g, "sda", true, on_leave, NULL, &t), 0);
        if (_i == 0)
                pid1_answers();
        n_disconnected = 0;
        (void) fsck_ticket_free(t);
        ck_assert_uint_eq(n_disconnected, 0);
        if (_i == 1)
                pid1_answers();
        while (n_disconnected == 0)
                ck_assert_int_ge(sd_event_run(event, UINT64_MAX), 0);

        (void) fsck_wait_free(g);
        sd_event_unref(event);
}
END_TEST

/* Each kind can be said. */
START_TEST(test_words) {
        for (WaitKind k = 0; k < _WAIT_KIND_MAX; k++) {
                ck_assert_ptr_nonnull(wait_kind_to_string(k));
                ck_assert_ptr_nonnull(wait_describe((Wait){ k }));
        }
        ck_assert_ptr_null(wait_kind_to_string(_WAIT_KIND_MAX));
        ck_assert_str_eq(wait_describe((Wait){ WAIT_CHECK, UNIT }), UNIT);
        ck_assert_str_eq(wait_describe((Wait){ WAIT_CHECK }), "a file system check");
}
END_TEST

int main(void) {
        Suite *s = suite_create("fsck-wait");
        TCase *t = tcase_create("fsck-wait");

        tcase_add_loop_test(t, test_kinds, 0, ELEMENTSOF(rows));
        tcase_add_test(t, test_leave);
        tcase_add_test(t, test_ask_again);
        tcase_add_loop_test(t, test_rest, 0, 2);
        tcase_add_test(t, test_words);
        suite_add_tcase(s, t);

        return suite_run(s);
}
