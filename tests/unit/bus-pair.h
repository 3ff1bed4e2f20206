/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A D-Bus connection with both ends in the test: one end for the code under test, and one end that plays PID 1, logind or a bus. */

#include <check.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>

#include "macro.h"

/* Creates one end of a connection. If `event` is not NULL, the end is attached to this event loop. */
static inline sd_bus *bus_end(sd_event *event, int fd, bool server) {
        sd_id128_t id = SD_ID128_NULL;
        sd_bus *bus;

        ck_assert(sd_bus_new(&bus) >= 0 && sd_bus_set_fd(bus, fd, fd) >= 0 && sd_bus_set_server(bus, server, id) >= 0 &&
                  sd_bus_negotiate_fds(bus, true) >= 0 && sd_bus_start(bus) >= 0);
        if (event)
                ck_assert_int_ge(sd_bus_attach_event(bus, event, SD_EVENT_PRIORITY_NORMAL), 0);
        return bus;
}

/* Creates both ends of a connection. Returns the server's end, which is attached to the event loop. *ret_client gets
 * the client's end, which is not attached. */
static inline sd_bus *bus_pair(sd_event *event, sd_bus **ret_client) {
        int fds[2];

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
        *ret_client = bus_end(NULL, fds[1], false);
        return bus_end(event, fds[0], true);
}

/* Runs the event loop until no message is pending. */
static inline void bus_settle(sd_event *event) {
        while (sd_event_run(event, 100 * 1000) > 0)
                ;
}

/* Starts a child process that replies to calls, since the caller blocks. The child exits when *ret, the caller's end of
 * the connection, is closed. */
static inline _unused_ pid_t bus_play(sd_bus_message_handler_t on_call, void *userdata, int *ret) {
        int fds[2];
        pid_t pid;

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                sd_bus *bus;

                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                (void) close(fds[0]);
                bus = bus_end(NULL, fds[1], true);
                if (sd_bus_add_filter(bus, NULL, on_call, userdata) >= 0)
                        while (sd_bus_process(bus, NULL) >= 0 && sd_bus_wait(bus, UINT64_MAX) >= 0)
                                ;
                _exit(EXIT_SUCCESS);
        }
        (void) close(fds[1]);
        *ret = fds[0];
        return pid;
}

/* Ends the event loop, which then accepts no more event sources. */
static inline void bus_loop_ends(sd_event *event) {
        ck_assert_int_ge(sd_event_exit(event, 0), 0);
        ck_assert_int_eq(sd_event_loop(event), 0);
}
