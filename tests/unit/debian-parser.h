/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Emulates Debian 12's parser of /etc/hdparm.conf, including its errors (the shell function hdparm_options of hdparm 9.65+ds-1). Accepts
 * any bytes except NUL. */

#include "macro.h"

typedef struct DebianDrive {
        const char *node; /* $DEVNAME, such as /dev/sda; "": no block of hdparm.conf can match the drive */
        bool apm;         /* true if udev reports APM and the drive is not on USB or FireWire */
        bool on_battery;  /* true if the machine runs on battery */

        /* Resolves the symbolic link `path` like readlink -m. *ret gets the target, malloc'ed; unchanged if `path` is not a link. Returns a
         * negative errno on failure. */
        int (*follow)(void *userdata, const char *path, char **ret);
        void *userdata;
} DebianDrive;

typedef struct DebianAnswer {
        int status;       /* exit status of the function; 1 after an error */
        char *output;     /* the function's standard output without the newline: the options or an error message */
        char *error;      /* the function's standard error */
        unsigned gave_up; /* number of the line with the error; 0: no error */
} DebianAnswer;

/* Returns -E2BIG if there are more than 8 KiB of options. */
int debian_options(const char *text, size_t size, const DebianDrive *d, DebianAnswer *ret);
void debian_answer_done(DebianAnswer *a);
