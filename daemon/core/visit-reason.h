/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The reasons for visits, the work of a visit, and the obstacles that delay a visit. */

#include "macro.h"

/* The reason of a visit, for the journal and the state files. The reason determines the VisitWork, and only VisitWork determines what the
 * visit does. */
typedef enum VisitReason {
        VISIT_BOOT,         /* the drive was attached at the start of the service */
        VISIT_ATTACH,       /* udev reports a new drive */
        VISIT_CHANGE,       /* udev reports a change of the drive, and the rules now set other values */
        VISIT_RESUME,       /* the machine resumed from sleep */
        VISIT_RELOAD,       /* the configuration changed */
        VISIT_POWER,        /* the machine switched to battery or to mains power */
        VISIT_REQUEST,      /* a user ran 'drivekeep apply' */
        VISIT_PERMANENT,    /* a user ran 'drivekeep apply --permanent' */
        VISIT_RETRY,        /* deferred settings are tried again */
        VISIT_REVALIDATION, /* the kernel revalidated the drive and may have reset the kernel's settings */
        VISIT_RESET,        /* the drive or the kernel reports a power-on or a reset (SCSI unit attention, libata) */
        VISIT_CONTROLLER,   /* the NVMe controller was reset */
        VISIT_PARAMETERS,   /* another program changed, or may have changed, mode parameters (SCSI unit attention) */
        VISIT_WAKE,         /* the drive became active, and has deferred settings */
        VISIT_RECHECK,      /* the interval of `recheck` has passed, or a user requests the current settings */
        VISIT_STANDBY,      /* the drive may have entered or left standby */
        VISIT_SPIN_UP,      /* another drive of the same array spins up */
        VISIT_SPIN_DOWN,    /* the drive should spin down */
        VISIT_WEAR,         /* the wear counters are due for reading */
        VISIT_KEEP_ACTIVE,  /* the interval of `keep_active` has passed without I/O */
        VISIT_REWRITE,      /* a user ran 'drivekeep report --try' */
        _VISIT_REASON_MAX,
} VisitReason;

const char *visit_reason_to_string(VisitReason r);

/* The work of a visit. A visit for several requests has the flags of all of them. The worker gets the flags of its
 * visit. */
typedef enum VisitWork {
        /* Flags that select the settings to read. */
        WORK_KERNEL = 1 << 0, /* kernel-held settings with a successful verdict (verdict_is_in_order()) */
        WORK_DRIVE = 1 << 1,  /* with WORK_KERNEL: also drive-held settings with a successful verdict */
        WORK_ALL = 1 << 2,    /* all settings */

        /* Flags for the handling of the selected settings. To find the reason of a merged visit, visit_reason_merge()
         * compares the flags from WORK_KERNEL to WORK_LOST. */
        WORK_PERMANENT = 1 << 3, /* the drive saves the values that the configuration marks as permanent */
        WORK_LOST = 1 << 4,      /* the drive lost its volatile settings: send unreadable settings again */
        WORK_RESUMED = 1 << 5,   /* with WORK_LOST: the machine resumed from sleep */
        WORK_WRITE_KERNEL =
                        1
                        << 6, /* write kernel-held settings with an unwanted value; without this flag, report a drift */
        WORK_WRITE = 1 << 7,  /* write drive-held settings with an unwanted value; without this flag, report a drift */
        WORK_WAKE = 1 << 8,   /* for wishes with `wake = true`, spin up a drive in standby */

        /* Flags for work other than settings. */
        WORK_POWER = 1 << 9,        /* probe the power condition */
        WORK_SPIN_UP = 1 << 10,     /* spin the drive up */
        WORK_SPIN_DOWN = 1 << 11,   /* spin the drive down, unless I/O followed the request */
        WORK_DESPITE_IO = 1 << 12,  /* with WORK_SPIN_DOWN: spin down even after I/O, as a user requested it */
        WORK_WEAR = 1 << 13,        /* read the wear counters of an active drive */
        WORK_KEEP_ACTIVE = 1 << 14, /* write the setting with Setting.keeps_active, which reads one sector */
        WORK_REWRITE = 1 << 15, /* write values that the drive has already (Wish.rewrite), unless there is other work */

        /* Flags for the start of the visit, and for reports. */
        WORK_NOW = 1 << 16,      /* a user waits: start the visit without the usual delays */
        WORK_RESEND = 1 << 17,   /* send unreadable settings, even if they were already sent */
        WORK_ATTACHED = 1 << 18, /* the drive was attached; if it was lost during a write, watch the connection first */
        WORK_ACTIVE = 1 << 19,   /* the drive is active, so commands are safe even if the drive reports no power mode */
        WORK_RETRY = 1 << 20,    /* retry deferred settings, and the settings of a visit whose worker died */
        WORK_REPORT = 1 << 21,   /* report a long wait for permission as deferred */
        WORK_NO_DRIFT = 1 << 22, /* the drive or the configuration changed, so a changed value does not count as
                                  * drift */
        _WORK_MAX = 1 << 23,
} VisitWork;

#define WORK_SETTINGS (WORK_KERNEL | WORK_DRIVE | WORK_ALL)
#define WORK_APPLY (WORK_SETTINGS | WORK_WRITE_KERNEL | WORK_WRITE | WORK_WAKE)
/* A visit needs at least one of these flags. */
#define WORK_ANY \
        (WORK_SETTINGS | WORK_POWER | WORK_SPIN_UP | WORK_SPIN_DOWN | WORK_WEAR | WORK_KEEP_ACTIVE | WORK_REWRITE)
/* A visit that waits for its worker starts again if a new request has flags of this mask that the visit lacks. */
#define WORK_DONE (WORK_NOW - 1)

VisitWork visit_reason_work(VisitReason r);

/* Returns the reason of a visit for two requests with the reasons `a` and `b`. Compares their flags from WORK_KERNEL to
 * WORK_LOST as numbers, and returns the reason with the greater number. If the numbers are equal, returns the reason
 * that comes first in the enum. */
VisitReason visit_reason_merge(VisitReason a, VisitReason b);

/* The obstacles that delay a visit. The words are the same in the journal, the state files, JSON and the manual pages. */
typedef enum WaitKind {
        WAIT_NOTHING,
        WAIT_CHECK,      /* a file system check of the drive is queued or running; Wait.name is its unit */
        WAIT_UDEV,       /* udev or systemd has not processed all partitions yet, so more checks may follow */
        WAIT_SYSTEMD,    /* systemd does not answer */
        WAIT_MEMORY,     /* not enough memory to determine the obstacles */
        WAIT_CONNECTION, /* the drive was lost during a write, so its connection is watched first */
        _WAIT_KIND_MAX,
        _WAIT_KIND_INVALID = -1,
} WaitKind;

typedef struct Wait {
        WaitKind kind;
        const char *name; /* WAIT_CHECK: the unit of the check; NULL: none */
} Wait;

const char *wait_kind_to_string(WaitKind k);

/* Returns the text that follows "waits for". */
const char *wait_describe(Wait w);
