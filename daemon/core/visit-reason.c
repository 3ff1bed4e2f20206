/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Why a drive is visited, and what a visit waits for: the words for both, and which reason is the strongest. */

#include "plan.h"

/* clang-format off */
static const struct {
        const char *name;
        unsigned rank;
} reasons[_VISIT_REASON_MAX] = {
        /* What was thought to be known is lost. */
        [VISIT_RESUME] = { "resume", 4 },   [VISIT_RESET] = { "reset", 4 },     [VISIT_CONTROLLER] = { "controller", 4 },
        /* What drives keep themselves is written only where somebody asked for that. */
        [VISIT_PERMANENT] = { "permanent", 3 },
        [VISIT_BOOT] = { "boot", 2 },       [VISIT_ATTACH] = { "attach", 2 },   [VISIT_CHANGE] = { "change", 2 },
        [VISIT_RELOAD] = { "reload", 2 },   [VISIT_POWER] = { "power", 2 },     [VISIT_REQUEST] = { "request", 2 },
        [VISIT_RETRY] = { "retry", 2 },     [VISIT_WAKE] = { "wake", 2 },       [VISIT_PARAMETERS] = { "parameters", 2 },
        /* About a part of the settings only. */
        [VISIT_REVALIDATION] = { "revalidation", 1 },                           [VISIT_RECHECK] = { "recheck", 0 },
        [VISIT_STANDBY] = { "standby", 0 },                                     [VISIT_SLEEP] = { "sleep", 0 },
        [VISIT_SPIN_UP] = { "spin-up", 0 },                                     [VISIT_WEAR] = { "wear", 0 },
};
/* clang-format on */

const char *visit_reason_to_string(VisitReason r) {
        return r < _VISIT_REASON_MAX ? reasons[r].name : NULL;
}

unsigned visit_reason_rank(VisitReason r) {
        return reasons[r].rank;
}

bool visit_reason_forgets(VisitReason r) {
        return reasons[r].rank == 4;
}

static const struct {
        const char *word, *text;
} waits[_WAIT_KIND_MAX] = {
        [WAIT_NOTHING] = { "nothing", "nothing" },
        [WAIT_CHECK] = { "check", "a file system check" },
        [WAIT_UDEV] = { "udev", "udev and systemd to know its partitions" },
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
