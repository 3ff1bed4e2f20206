/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What Debian 12 would have done with an /etc/hdparm.conf: its own parser's rules, accidents included (the shell function
 * hdparm_options of hdparm 9.65+ds-1). Any bytes without a NUL are fine as input. */

#include "macro.h"

typedef struct DebianDrive {
        const char *node; /* $DEVNAME: /dev/sda; "": no drive that a file can name */
        bool apm;         /* udev says that it has APM, and it is not on USB or FireWire */
        bool on_battery;  /* the machine */

        /* Where the symbolic link `path` leads (as readlink -m has it), malloc'ed in *ret; 0 when it is no link, or a
         * negative errno. */
        int (*follow)(void *userdata, const char *path, char **ret);
        void *userdata;
} DebianDrive;

typedef struct DebianAnswer {
        int status;       /* the function's: 1 when it gave up */
        char *output;     /* what it prints: the options, or why it gave up; without a newline; "": nothing */
        char *error;      /* what it prints on standard error */
        unsigned gave_up; /* in this line; 0: it did not */
} DebianAnswer;

/* -E2BIG: more than 8 KiB of options. */
int debian_options(const char *text, size_t size, const DebianDrive *d, DebianAnswer *ret);
void debian_answer_done(DebianAnswer *a);
