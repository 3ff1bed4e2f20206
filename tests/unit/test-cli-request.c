/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the message and the exit status of the command if the service cannot be reached or rejects a request. */

#include "request.h"
#include "test-cli.h"

/* clang-format off */
static const struct {
        int result;
        const char *error, *message;
        ExitStatus status;
        const char *expected_message;
} cases[] = {
        { -ENOENT,       NULL, NULL,                             EXIT_NO_SERVICE, "does not run"               },
        { -ECONNREFUSED, NULL, NULL,                             EXIT_NO_SERVICE, "does not run"               },
        { -EHOSTUNREACH, SD_BUS_ERROR_SERVICE_UNKNOWN, "x",      EXIT_NO_SERVICE, "does not run"               },
        { -ENXIO,        SD_BUS_ERROR_NAME_HAS_NO_OWNER, "x",    EXIT_NO_SERVICE, "does not run"               },
        { -ECONNRESET,   NULL, NULL,                             EXIT_NO_SERVICE, "does not answer"           },
        { -ENOTCONN,     NULL, NULL,                             EXIT_NO_SERVICE, "does not answer"           },
        { -ETIMEDOUT,    NULL, NULL,                             EXIT_NO_SERVICE, "does not answer"           },
        { -EIO,          SD_BUS_ERROR_NO_REPLY, "x",             EXIT_NO_SERVICE, "does not answer"           },
        { -EACCES,       NULL, NULL,                             EXIT_BAD_INPUT,  "only root"                  },
        { -EACCES,       SD_BUS_ERROR_ACCESS_DENIED, "x",        EXIT_BAD_INPUT,  "only root"                  },
        { -EACCES,       SD_BUS_ERROR_FAILED, "its rule is bad", EXIT_BAD_INPUT,  "request: its rule is bad"   },
        { -EINVAL,       SD_BUS_ERROR_INVALID_ARGS, "bad \x1b[", EXIT_BAD_INPUT,  "rejected the request: bad \\x1b[" },
        /* An ENOENT error with a D-Bus error name comes from the running service, so the message does not claim that no service runs. */
        { -ENOENT,       SD_BUS_ERROR_FILE_NOT_FOUND, "no sdq",  EXIT_BAD_INPUT,  "rejected the request: no sdq"     },
        { -EIO,          NULL, NULL,                             EXIT_BAD_INPUT,  "Input/output error"         },
};
/* clang-format on */

START_TEST(test_explain) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_free_ char *expected_message = NULL;
        FILE *f = catch_begin(stderr);

        if (cases[_i].error)
                (void) sd_bus_error_set(&error, cases[_i].error, cases[_i].message);
        ck_assert_int_eq(request_explain(cases[_i].result, &error), cases[_i].status);
        expected_message = catch_end(stderr, f);
        ck_assert_ptr_nonnull(strstr(expected_message, cases[_i].expected_message));
}
END_TEST

int main(void) {
        TCase *t = tcase_create("request");

        tcase_add_loop_test(t, test_explain, 0, ELEMENTSOF(cases));
        return test_main("cli-request", t);
}
