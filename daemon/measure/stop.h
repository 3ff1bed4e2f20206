/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <poll.h>

#include "macro.h"

/* Waits for so long, in µs, or until the user wants an end: then this descriptor is readable, and stays so. */
static inline bool stop_wait(int stop_fd, uint64_t usec) {
        struct pollfd fd = { .fd = stop_fd, .events = POLLIN };

        return poll(&fd, 1, (int) (usec / 1000)) > 0;
}

static inline bool stop_is_wanted(int stop_fd) {
        return stop_wait(stop_fd, 0);
}
