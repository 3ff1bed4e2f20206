/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "visit-reason.h"

/* The work of a visit that handles all settings. */
#define FULL (WORK_APPLY | WORK_RETRY | WORK_REPORT | WORK_NO_DRIFT)

/* clang-format off */
static const struct {
        const char *name;
        VisitWork work;
} reasons[_VISIT_REASON_MAX] = {
        [VISIT_BOOT]         = { "boot",         FULL | WORK_ATTACHED },
        /* WORK_ACTIVE is set, since the kernel has just read the drive's partitions, or spun the drive up. */
        [VISIT_ATTACH]       = { "attach",       FULL | WORK_ATTACHED | WORK_ACTIVE },
        [VISIT_CHANGE]       = { "change",       FULL },
        [VISIT_RESUME]       = { "resume",       FULL | WORK_LOST | WORK_RESUMED | WORK_ACTIVE },
        [VISIT_RELOAD]       = { "reload",       FULL },
        [VISIT_POWER]        = { "power",        FULL },
        [VISIT_REQUEST]      = { "request",      FULL | WORK_NOW | WORK_RESEND },
        [VISIT_PERMANENT]    = { "permanent",    FULL | WORK_NOW | WORK_RESEND | WORK_PERMANENT },
        [VISIT_RETRY]        = { "retry",        FULL & ~WORK_REPORT },
        [VISIT_REVALIDATION] = { "revalidation", WORK_KERNEL | WORK_WRITE_KERNEL | WORK_RETRY | WORK_REPORT },
        [VISIT_RESET]        = { "reset",        FULL | WORK_LOST | WORK_ACTIVE },
        [VISIT_CONTROLLER]   = { "controller",   FULL | WORK_LOST },
        /* Without WORK_WAKE and WORK_NO_DRIFT: this visit checks for changes by other programs, and must not spin up a drive. */
        [VISIT_PARAMETERS]   = { "parameters",   FULL & ~(WORK_WAKE | WORK_NO_DRIFT) },
        [VISIT_WAKE]         = { "wake",         FULL | WORK_ACTIVE },
        [VISIT_RECHECK]      = { "recheck",      WORK_KERNEL | WORK_WRITE_KERNEL | WORK_WRITE | WORK_REPORT },
        [VISIT_STANDBY]      = { "standby",      WORK_POWER | WORK_REPORT },
        [VISIT_SPIN_UP]      = { "spin-up",      WORK_SPIN_UP | WORK_REPORT },
        [VISIT_SPIN_DOWN]        = { "spin-down",    WORK_SPIN_DOWN | WORK_DESPITE_IO | WORK_REPORT },
        [VISIT_WEAR]         = { "wear",         WORK_WEAR | WORK_REPORT },
        [VISIT_KEEP_ACTIVE]  = { "keep-active",  WORK_KEEP_ACTIVE },
        [VISIT_REWRITE]      = { "rewrite",      WORK_REWRITE | WORK_NOW | WORK_REPORT },
};
/* clang-format on */

const char *visit_reason_to_string(VisitReason r) {
        return r < _VISIT_REASON_MAX ? reasons[r].name : NULL;
}

VisitWork visit_reason_work(VisitReason r) {
        return reasons[r].work;
}

VisitReason visit_reason_merge(VisitReason a, VisitReason b) {
        const unsigned mask = WORK_SETTINGS | WORK_PERMANENT | WORK_LOST;
        unsigned x = reasons[a].work & mask, y = reasons[b].work & mask;

        return x != y ? (x > y ? a : b) : MIN(a, b);
}

static const struct {
        const char *word, *text;
} waits[_WAIT_KIND_MAX] = {
        [WAIT_NOTHING] = { "nothing", "nothing" },
        [WAIT_CHECK] = { "check", "a file system check" },
        [WAIT_UDEV] = { "udev", "udev and systemd to process its partitions" },
        [WAIT_SYSTEMD] = { "systemd", "systemd to answer" },
        [WAIT_MEMORY] = { "memory", "memory" },
        [WAIT_CONNECTION] = { "connection", "a steady connection" },
};

const char *wait_kind_to_string(WaitKind k) {
        return k >= 0 && k < _WAIT_KIND_MAX ? waits[k].word : NULL;
}

const char *wait_describe(Wait w) {
        return w.name ?: waits[w.kind].text;
}
