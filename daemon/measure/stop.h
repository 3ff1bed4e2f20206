/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <poll.h>

#include "macro.h"

/* Does the user want an end? Then this descriptor is readable, and stays so. */
static inline bool stop_is_wanted(int stop_fd) {
        struct pollfd fd = { .fd = stop_fd, .events = POLLIN };

        return poll(&fd, 1, 0) > 0;
}
