/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Makes calls fail on request. The linker's --wrap redirects the calls in this program's own objects to the functions
 * in inject.c. These functions call the real function, except for the call that must fail. Calls within libraries are
 * not redirected. */

#include <check.h>

#include "macro.h"

typedef enum Injected {
        INJECT_MEMORY,    /* allocations fail with ENOMEM */
        INJECT_ERRORS,    /* system calls on files, drives and sockets fail with EIO, without effect */
        INJECT_SHORT,     /* read() and write() transfer only half of the bytes */
        INJECT_INTERRUPT, /* system calls that may block fail with EINTR, without effect */
        INJECT_LATE,      /* calls that change something take effect, and then fail with EIO */
        _INJECTED_MAX,
} Injected;

void inject_arm(Injected what, size_t nth); /* makes the nth call fail (1: the first), also in processes forked later */
void inject_stay(void);                     /* makes all calls after the failed call fail, too */
bool inject_disarm(void);                   /* ends the failures; returns true if a call has failed */

/* If not NULL, this function replaces the real ioctl(). It is not called for an ioctl() that must fail without effect. */
extern int (*inject_ioctl)(int fd, unsigned long request, void *argument);

/* Runs `scenario` repeatedly: first without a failure, then with a failure of the first call, then of the second call, and so on, until no
 * call is left. `scenario` calls inject_arm(what, nth), runs the code under test, and returns inject_disarm(). Assertions must follow
 * inject_disarm(), since the calls of Check would also be counted. */
static inline size_t inject_each(bool (*scenario)(Injected what, size_t nth), Injected what) {
        size_t nth = 1;

        ck_assert(!scenario(what, 0));
        while (scenario(what, nth))
                nth++;
        ck_assert_msg(nth > 1, "nothing could fail: the test tests nothing");
        return nth - 1;
}
