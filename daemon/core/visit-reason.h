/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Why a drive is visited, what the visit does, and what it waits for. Pure. */

#include "macro.h"

/* For the journal and the state files, whose words are the names of these. What a visit does follows from its VisitWork alone. */
typedef enum VisitReason {
        VISIT_BOOT,         /* found at the daemon's start */
        VISIT_ATTACH,       /* udev reports a new drive */
        VISIT_CHANGE,       /* udev reports a change, and the drive's wishes changed with it */
        VISIT_RESUME,       /* the machine slept */
        VISIT_RELOAD,       /* the files changed */
        VISIT_POWER,        /* the machine went on or off battery */
        VISIT_REQUEST,      /* drivekeep apply */
        VISIT_PERMANENT,    /* drivekeep apply --permanent */
        VISIT_RETRY,        /* deferred settings are tried again */
        VISIT_REVALIDATION, /* the kernel revalidated the drive, and may have reset its own settings */
        VISIT_RESET,        /* the drive or the kernel reports a power-on or a reset (SCSI unit attention, libata) */
        VISIT_CONTROLLER,   /* the NVMe controller was reset */
        VISIT_PARAMETERS,   /* another program changed mode parameters (SCSI unit attention), or may have */
        VISIT_WAKE,         /* the drive became active, and has deferred settings */
        VISIT_RECHECK,      /* recheck_interval is over, or a user asks for the settings in force */
        VISIT_STANDBY,      /* the drive may have entered or left standby */
        VISIT_SPIN_UP,      /* another drive of the same array spins up */
        VISIT_SPIN_DOWN,    /* the drive should spin down */
        VISIT_WEAR,         /* its wear counters are due */
        _VISIT_REASON_MAX,
} VisitReason;

const char *visit_reason_to_string(VisitReason r);

/* What a visit does. Requests merge by joining their flags, and the worker gets the same flags. */
typedef enum VisitWork {
        /* Which of the drive's settings are read. */
        WORK_KERNEL = 1 << 0, /* those that the kernel holds, as far as they were in order */
        WORK_DRIVE = 1 << 1,  /* with WORK_KERNEL: those that the drive holds, too, as far as they were in order */
        WORK_ALL = 1 << 2,    /* all, in order or not */

        /* What is done about them. The highest of the flags up to here names the reason of merged requests. */
        WORK_PERMANENT = 1 << 3,    /* the drive saves what the file marks as permanent */
        WORK_LOST = 1 << 4,         /* the drive lost its volatile settings: those that cannot be read are sent again */
        WORK_RESUMED = 1 << 5,      /* with WORK_LOST: since the machine slept */
        WORK_WRITE_KERNEL = 1 << 6, /* settings of the kernel that differ are written … */
        WORK_WRITE = 1 << 7, /* … and those of the drive. Without these flags, settings that differ have drifted */
        WORK_WAKE = 1 << 8,  /* a drive in standby is woken where the file allows that */

        /* What is done beside the settings. */
        WORK_POWER = 1 << 9,        /* probe the power condition */
        WORK_SPIN_UP = 1 << 10,     /* spin the drive up */
        WORK_SPIN_DOWN = 1 << 11,   /* spin it down, unless there was I/O since the request */
        WORK_EVEN_IN_USE = 1 << 12, /* with WORK_SPIN_DOWN: also after I/O, since a user asks for it */
        WORK_WEAR = 1 << 13,        /* read the wear counters of an active drive */

        /* When the visit begins, and what is reported. */
        WORK_NOW = 1 << 14, /* a user waits for it: it begins before any time that was set */
        WORK_DISTRUST = 1
                        << 15, /* settings that cannot be read are sent again. Done at once, when the request comes in */
        WORK_ATTACHED = 1 << 16, /* the drive was just attached: one that was lost during a write is watched first */
        WORK_ACTIVE = 1 << 17, /* the drive is active now: one that does not report its power condition gets commands */
        WORK_RETRY = 1 << 18,  /* what is deferred, or lost with the worker, is tried again */
        WORK_REPORT = 1 << 19, /* a wait for permission that takes too long is reported as deferred */
        WORK_NO_DRIFT = 1 << 20, /* a difference is no drift: the drive or the files changed */
        _WORK_MAX = 1 << 21,
} VisitWork;

#define WORK_SETTINGS (WORK_KERNEL | WORK_DRIVE | WORK_ALL)
#define WORK_APPLY (WORK_SETTINGS | WORK_WRITE_KERNEL | WORK_WRITE | WORK_WAKE)
/* There is a visit only where one of these is to be done. */
#define WORK_ANY (WORK_SETTINGS | WORK_POWER | WORK_SPIN_UP | WORK_SPIN_DOWN | WORK_WEAR)
/* A visit that does not yet have all of these of a new request begins anew. */
#define WORK_DONE (WORK_NOW - 1)

VisitWork visit_reason_work(VisitReason r);

/* The reason of the two that the merged visit has: its work is the greater; of equals, the first in the enum. */
VisitReason visit_reason_greater(VisitReason a, VisitReason b);

/* What keeps a drive from being visited. The words are the same in the journal, the state files, JSON and the man pages. */
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
