/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Emulates Debian 12's parser of /etc/hdparm.conf, including its errors (the shell function hdparm_options of hdparm 9.65+ds-1). Accepts
 * any bytes except NUL. */

#include "macro.h"

typedef struct DebianDrive {
        const char *node; /* $DEVNAME: /dev/sda; "": a drive that no file can name */
        bool apm;         /* udev reports APM, and the drive is not on USB or FireWire */
        bool on_battery;  /* the machine runs on battery */

        /* Where the symbolic link `path` leads (as readlink -m has it), malloc'ed in *ret; 0 when it is no link, or a
         * negative errno. */
        int (*follow)(void *userdata, const char *path, char **ret);
        void *userdata;
} DebianDrive;

typedef struct DebianAnswer {
        int status;       /* exit status of the function: 1 after an error */
        char *output;     /* standard output without newline: the options, or an error; "": none */
        char *error;      /* standard error */
        unsigned gave_up; /* line of the error; 0: no error */
} DebianAnswer;

/* -E2BIG: more than 8 KiB of options. */
int debian_options(const char *text, size_t size, const DebianDrive *d, DebianAnswer *ret);
void debian_answer_done(DebianAnswer *a);
