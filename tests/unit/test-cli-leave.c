/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whether `plan` and `show` may send commands, with stand-ins for the service and for PID 1. */

#include <stdarg.h>

#include "plan.h"
#include "request.h"
#include "test-cli.h"
#include "text-file.h"
#include "unit-status.h"

static Drive sdb = { .name = (char *) "sdb" };
static Drive *const drives[] = { &sdb };

const DeviceIO device_io_real = {};

/* What the stand-ins do, and what they were asked. */
static uid_t user;
static bool check_runs;
static int service_error; /* of a call to it */
static const char *service_message;
static unsigned n_questions;

uid_t geteuid(void) {
        return user;
}

int systemd_find_fsck(char **ret_unit) {
        *ret_unit = check_runs ? strdup("systemd-fsck@x.service") : NULL;
        return check_runs;
}

int systemd_open_socket(_unused_ const char *address, sd_bus **ret) {
        *ret = NULL;
        return service_error == -ECONNREFUSED ? service_error : 0;
}

int sd_bus_open_system(_unused_ sd_bus **ret) {
        return -ECONNREFUSED;
}

int sd_bus_call_method(_unused_ sd_bus *bus, _unused_ const char *destination, _unused_ const char *path,
                       _unused_ const char *interface, const char *member, sd_bus_error *ret_error,
                       _unused_ sd_bus_message **ret_reply, const char *types, ...) {
        va_list ap;

        if (streq(member, "CatchUp"))
                return 0;

        ck_assert_str_eq(member, "MayRead");
        ck_assert_str_eq(types, "s");
        va_start(ap, types);
        ck_assert_str_eq(va_arg(ap, const char *), "sdb");
        va_end(ap);
        n_questions++;
        return service_message ? sd_bus_error_set(ret_error, "org.drivekeep1.Error.NotNow", service_message)
                               : service_error;
}

/* clang-format off */
static const struct {
        uid_t user;
        bool locked, check_runs;
        int error;
        const char *message;
        int status;
        unsigned n_questions;
        const char *said;
} cases[] = {
        { 0,    true,  true,  0,             NULL,                  EXIT_WANTED,     1, "" },
        { 0,    true,  false, 0,             "it waits for x",      EXIT_LATER, 1, "sdb cannot be read now: it waits for x; try again later\n" },
        { 0,    true,  false, -ETIMEDOUT,    NULL,                  EXIT_LATER, 1, "sdb cannot be read now: a visit to it takes long; try again later\n" },
        { 0,    true,  false, -ECONNREFUSED, NULL,                  EXIT_NO_SERVICE, 0, "drivekeep.service does not run" },
        { 0,    false, false, 0,             NULL,                  EXIT_WANTED,     0, "" },
        { 0,    false, true,  0,             NULL,                  EXIT_LATER, 0, "systemd-fsck@x.service is queued or running" },
        { 1000, true,  false, 0,             NULL,                  EXIT_WANTED,     0, "" }, /* can send nothing */
};
/* clang-format on */

START_TEST(test_leave) {
        FILE *f = catch_begin(stderr);
        _cleanup_free_ char *said = NULL;
        int lock = -EBADF, status;
        Leave leave;

        user = cases[_i].user;
        check_runs = cases[_i].check_runs;
        service_error = cases[_i].error;
        service_message = cases[_i].message;
        if (cases[_i].locked)
                lock = record_directory_lock(".");

        status = leave_get(&leave, ".", drives, ELEMENTSOF(drives));
        leave_done(&leave);
        said = catch_end(stderr, f);

        ck_assert_int_eq(status, cases[_i].status);
        ck_assert_uint_eq(n_questions, cases[_i].n_questions);
        ck_assert_ptr_nonnull(strstr(said, cases[_i].said));
        if (cases[_i].said[0] == '\0')
                ck_assert_str_eq(said, "");
        closep(&lock);
}
END_TEST

/* Before each command anew: what was allowed a moment ago may not be any more. */
START_TEST(test_gate) {
        int lock = record_directory_lock(".");
        const char *why = NULL;
        Leave leave;

        ck_assert_int_eq(leave_get(&leave, ".", drives, ELEMENTSOF(drives)), EXIT_WANTED);
        ck_assert_int_eq(leave.io.gate(leave.io.userdata, &sdb, &why), 0);
        service_message = "it waits for x";
        ck_assert_int_eq(leave.io.gate(leave.io.userdata, &sdb, &why), END_DEFERRED);
        ck_assert_str_eq(why, "it waits for x");
        ck_assert_uint_eq(n_questions, 3);
        leave_done(&leave);
        closep(&lock);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("leave");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_loop_test(t, test_leave, 0, ELEMENTSOF(cases));
        tcase_add_test(t, test_gate);
        return test_main("cli-leave", t);
}
