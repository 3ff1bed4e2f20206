/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "wait.h"

static const struct {
        const char *word, *text;
} kinds[_WAIT_KIND_MAX] = {
        [WAIT_NOTHING] = { "nothing", "nothing" },
        [WAIT_CHECK] = { "check", "a file system check" },
        [WAIT_UDEV] = { "udev", "udev and systemd to know its partitions" },
        [WAIT_SYSTEMD] = { "systemd", "systemd to answer" },
        [WAIT_MEMORY] = { "memory", "memory" },
        [WAIT_CONNECTION] = { "connection", "a steady connection" },
};

const char *wait_kind_to_string(WaitKind k) {
        return k >= 0 && k < _WAIT_KIND_MAX ? kinds[k].word : NULL;
}

const char *wait_describe(Wait w) {
        return w.name ?: kinds[w.kind].text;
}
