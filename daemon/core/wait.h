/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What keeps a drive from being visited. The words are the same in the journal, the state files, JSON and the man pages. */

#include "macro.h"

typedef enum WaitKind {
        WAIT_NOTHING,
        WAIT_CHECK,      /* a file system check, queued or running on it; the one kind with a name, of its unit */
        WAIT_UDEV,       /* udev or systemd does not know all its partitions yet, nor which checks there are to be */
        WAIT_SYSTEMD,    /* systemd cannot be asked at present */
        WAIT_MEMORY,     /* there is no memory to find it out */
        WAIT_CONNECTION, /* it was lost while it was being written to */
        _WAIT_KIND_MAX,
        _WAIT_KIND_INVALID = -1,
} WaitKind;

typedef struct Wait {
        WaitKind kind;
        const char *name; /* NULL: it has none */
} Wait;

const char *wait_kind_to_string(WaitKind k);

/* The end of a sentence that says "waits for". */
const char *wait_describe(Wait w);
