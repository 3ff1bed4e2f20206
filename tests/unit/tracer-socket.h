/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Shared by test-tracer.c and test-tracer-process.c: the tracer's socket, drives, and the number of log messages. */

#include <sys/socket.h>
#include <sys/un.h>

#include "journal.h"
#include "test-cli.h"
#include "tracer.h"

static unsigned n_logged;

void journal_log(_unused_ int priority, _unused_ const char *format, ...) {
        n_logged++;
}

static int listener;

static void listen_there(void) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        (void) snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", scratch);
        listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        ck_assert_int_eq(bind(listener, (const struct sockaddr *) &address, sizeof address), 0);
        ck_assert_int_eq(listen(listener, 8), 0);
}

static WatchDrive disk(unsigned minor) {
        return (WatchDrive){ .disk = { 8, minor }, .host = 2, .id = minor };
}
