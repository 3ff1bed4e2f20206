/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Failures on order. The linker leads every call that our objects make to what is listed in inject.c to a stand-in
 * (--wrap), which passes it on until it is the turn of the one that is to fail. What libraries call themselves is not ours,
 * and is left alone. */

#include <check.h>

#include "macro.h"

typedef enum Injected {
        INJECT_MEMORY,    /* allocations: -ENOMEM */
        INJECT_ERRORS,    /* system calls on files, drives and sockets: -EIO, and nothing is done */
        INJECT_SHORT,     /* read() ends early, write() takes a part only */
        INJECT_INTERRUPT, /* system calls that may take long: -EINTR, and nothing is done */
        INJECT_LATE,      /* what changes something: it is done, and then it is -EIO all the same */
        _INJECTED_MAX,
} Injected;

void inject_arm(Injected what, size_t nth); /* the first is 1; also in processes forked from here on */
void inject_stay(void);                     /* armed as it is: from that one on they all fail */
bool inject_disarm(void);                   /* has it failed? */

/* In the place of ioctl(), once it has not failed; NULL: the real one. */
extern int (*inject_ioctl)(int fd, unsigned long request, void *argument);

/* Runs `scenario` again and again, the first time with nothing failing, then with the first call failing, then the second,
 * …, until none is left. It arms what it wants to try with inject_arm(what, nth) and returns inject_disarm(). Claims come
 * after that: Check's own calls would be counted too. */
static inline size_t inject_each(bool (*scenario)(Injected what, size_t nth), Injected what) {
        size_t nth = 1;

        ck_assert(!scenario(what, 0));
        while (scenario(what, nth))
                nth++;
        ck_assert_msg(nth > 1, "nothing could fail: the test tests nothing");
        return nth - 1;
}
