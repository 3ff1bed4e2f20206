/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Receives the messages of sd_notify(3) in place of the service manager. */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "macro.h"

/* Sets $NOTIFY_SOCKET for this process and its later children. */
static inline int notify_listen(void) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        socklen_t size = sizeof address;
        char name[32];

        /* The kernel chooses an abstract address. */
        ck_assert_int_eq(bind(fd, (const struct sockaddr *) &address, sizeof address.sun_family), 0);
        ck_assert_int_eq(getsockname(fd, (struct sockaddr *) &address, &size), 0);
        (void) snprintf(name, sizeof name, "@%.*s", (int) (size - sizeof address.sun_family - 1), address.sun_path + 1);
        ck_assert_int_eq(setenv("NOTIFY_SOCKET", name, 1), 0);
        return fd;
}

/* Returns the next message; "": no message is left. */
static inline const char *notify_next(int fd) {
        static char message[64];
        ssize_t n = recv(fd, message, sizeof message - 1, MSG_DONTWAIT);

        message[MAX(n, 0)] = '\0';
        return message;
}
