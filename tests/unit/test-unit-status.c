/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The status of units from PID 1, and the search for a pending file system check. */

#include <sys/un.h>
#include <sys/wait.h>

#include "bus-pair.h"
#include "suite.h"
#include "unit-status.h"

typedef struct Listed {
        const char *name, *active_state; /* name: NULL at the end of the list */
        uint32_t job;
} Listed;

static int append_units(sd_bus_message *m, const Listed *units) {
        int r = sd_bus_message_open_container(m, 'a', UNIT_STATUS_SIGNATURE);

        for (; r >= 0 && units->name; units++)
                r = sd_bus_message_append(m, UNIT_STATUS_SIGNATURE, units->name, "What it is", "loaded",
                                          units->active_state, "dead", "", "/unit", units->job, "start", "/job");
        return r >= 0 ? sd_bus_message_close_container(m) : r;
}

/* ---- reading a list ---- */

static const struct {
        Listed unit;
        bool pending;
} states[] = {
        { { "a.service", "inactive", 0 }, false },  { { "b.service", "inactive", 1 }, true },
        { { "c.service", "active", 0 }, false },    { { "d.service", "active", 4711 }, true },
        { { "e.service", "activating", 0 }, true }, { { "f.service", "deactivating", 0 }, true },
        { { "g.service", "failed", 0 }, false },    { { "h.service", "reloading", 0 }, false },
};

START_TEST(test_read) {
        _cleanup_(sd_bus_close_unrefp) sd_bus *server = NULL, *client = NULL;
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        Listed units[ELEMENTSOF(states) + 1] = {};
        UnitStatus u = {};

        server = bus_pair(NULL, &client);
        for (size_t i = 0; i < ELEMENTSOF(states); i++)
                units[i] = states[i].unit;

        /* Three arguments: an empty list, in which no unit is found; a list of all units; and a number, which is not a list. */
        ck_assert_int_ge(sd_bus_message_new_signal(client, &m, "/unit", "org.example", "Units"), 0);
        ck_assert_int_ge(append_units(m, units + ELEMENTSOF(states)), 0);
        ck_assert_int_ge(append_units(m, units), 0);
        ck_assert_int_ge(sd_bus_message_append(m, "u", 1), 0);
        ck_assert_int_ge(sd_bus_message_seal(m, 1, 0), 0);

        ck_assert_int_gt(sd_bus_message_enter_container(m, 'a', UNIT_STATUS_SIGNATURE), 0);
        ck_assert_int_eq(unit_status_read(m, &u), 0);
        ck_assert(!u.name && !u.pending);
        ck_assert_int_ge(sd_bus_message_exit_container(m), 0);

        ck_assert_int_gt(sd_bus_message_enter_container(m, 'a', UNIT_STATUS_SIGNATURE), 0);
        for (size_t i = 0; i < ELEMENTSOF(states); i++) {
                ck_assert_int_gt(unit_status_read(m, &u), 0);
                ck_assert_str_eq(u.name, states[i].unit.name);
                ck_assert_str_eq(u.active_state, states[i].unit.active_state);
                ck_assert_msg(u.pending == states[i].pending, "%s", u.name);
        }
        ck_assert_int_eq(unit_status_read(m, &u), 0);
        ck_assert_int_ge(sd_bus_message_exit_container(m), 0);
        ck_assert_int_eq(unit_status_read(m, &u), -ENXIO);
}
END_TEST

/* ---- PID 1 at its private socket ---- */

static int pid1 = -EBADF; /* the socket that connect() returns; negative: connections are refused */

/* Replaces connect(), so that the machine's own PID 1 is not queried. */
int connect(int fd, __CONST_SOCKADDR_ARG address, _unused_ socklen_t size) {
        ck_assert_str_eq(address.__sockaddr_un__->sun_path, "/run/systemd/private");
        errno = ECONNREFUSED;
        return pid1 < 0 ? -1 : dup2(pid1, fd) < 0 ? -1 : 0;
}

/* Returns true if the call lists units in any state with exactly the two patterns for file system checks. */
static bool is_for_checks(sd_bus_message *m) {
        const char *first, *second, *last;

        return sd_bus_message_is_method_call(m, "org.freedesktop.systemd1.Manager", "ListUnitsByPatterns") > 0 &&
               streq(sd_bus_message_get_path(m), "/org/freedesktop/systemd1") && sd_bus_message_read(m, "as", 0) > 0 &&
               sd_bus_message_enter_container(m, 'a', "s") > 0 && sd_bus_message_read(m, "s", &first) > 0 &&
               streq(first, "systemd-fsck@*.service") && sd_bus_message_read(m, "s", &second) > 0 &&
               streq(second, "systemd-fsck-*.service") && sd_bus_message_read(m, "s", &last) == 0;
}

static int on_call(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;

        if (!userdata)
                return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED, "It is not for you.");
        if (!is_for_checks(m))
                return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, "What is that?");
        if (sd_bus_message_new_method_return(m, &reply) < 0 || append_units(reply, userdata) < 0)
                return -ENOMEM;
        return sd_bus_send(NULL, reply, NULL);
}

#define CHECK "systemd-fsck@dev-sda1.service"
#define ROOT_CHECK "systemd-fsck-root.service"

static const struct {
        Listed units[4];
        const char *found;
} lists[] = {
        { {}, NULL },
        { { { CHECK, "inactive", 0 }, { ROOT_CHECK, "active", 0 } }, NULL },
        { { { CHECK, "active", 0 }, { ROOT_CHECK, "activating", 0 } }, ROOT_CHECK },
        { { { CHECK, "inactive", 12 }, { ROOT_CHECK, "inactive", 0 } }, CHECK },
        { { { ROOT_CHECK, "active", 0 }, { "systemd-fsck@x.service", "failed", 0 }, { CHECK, "deactivating", 0 } },
          CHECK },
};

START_TEST(test_find) {
        pid_t pid = bus_play(on_call, (void *) lists[_i].units, &pid1);
        _cleanup_free_ char *unit = NULL;

        ck_assert_int_eq(systemd_find_fsck(&unit), lists[_i].found != NULL);
        ck_assert_pstr_eq(unit, lists[_i].found);
        closep(&pid1);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

/* If PID 1 refuses the query, the result is an error. The result must not be "no check", after which the command would read drives. */
START_TEST(test_refused) {
        pid_t pid = bus_play(on_call, NULL, &pid1);
        char *unit = NULL;

        ck_assert_int_eq(systemd_find_fsck(&unit), -EACCES);
        ck_assert_ptr_null(unit);
        closep(&pid1);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(test_away) {
        char *unit = NULL;
        sd_bus *bus = NULL;

        ck_assert_int_eq(systemd_find_fsck(&unit), -ECONNREFUSED);
        ck_assert_ptr_null(unit);
        ck_assert_int_eq(systemd_open_private(&bus), -ECONNREFUSED);
        ck_assert_ptr_null(bus);
}
END_TEST

int main(void) {
        Suite *s = suite_create("unit-status");
        TCase *t = tcase_create("unit-status");

        tcase_add_test(t, test_read);
        tcase_add_loop_test(t, test_find, 0, ELEMENTSOF(lists));
        tcase_add_test(t, test_refused);
        tcase_add_test(t, test_away);
        suite_add_tcase(s, t);

        return suite_run(s);
}
