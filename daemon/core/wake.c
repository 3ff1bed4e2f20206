/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdio.h>

#include "drive-command.h"
#include "wake.h"

static const char *const kind_table[_WAKE_KIND_MAX] = {
        [WAKE_READ] = "read",         [WAKE_WRITE] = "write",     [WAKE_FLUSH] = "flush",
        [WAKE_SWAP] = "swap",         [WAKE_MD] = "md",           [WAKE_UDEV] = "udev",
        [WAKE_TOGETHER] = "together", [WAKE_COMMAND] = "command", [WAKE_UNKNOWN] = "unknown",
};

const char *wake_kind_to_string(WakeKind k) {
        return k >= 0 && k < _WAKE_KIND_MAX ? kind_table[k] : NULL;
}

/* ---- tracing ---- */

static const struct {
        const char *word, *obstacle;
} tracing_table[_TRACING_MAX] = {
        [TRACING_FINE] = { "fine", NULL },
        [TRACING_UNMOUNTED] = { "unmounted",
                                "tracefs is not mounted; 'systemctl start sys-kernel-tracing.mount' mounts it" },
        [TRACING_NO_EVENTS] = { "no-events", "the kernel lacks a needed trace event (CONFIG_EVENT_TRACING); "
                                             "'journalctl -u drivekeep-tracer.service' shows which one" },
        [TRACING_DENIED] = { "denied",
                             "the kernel refused to trace; 'journalctl -u drivekeep-tracer.service' shows the error" },
        [TRACING_NO_SOCKET] = { "no-socket",
                                "drivekeep-tracer.socket does not listen; unmask the socket if needed, and run "
                                "'systemctl start drivekeep-tracer.socket'" },
        [TRACING_ENDED] = { "ended",
                            "drivekeep-tracer.service has failed; 'journalctl -u drivekeep-tracer.service' shows why" },
};

const char *tracing_to_string(Tracing t) {
        return t >= 0 && t < _TRACING_MAX ? tracing_table[t].word : NULL;
}

const char *tracing_obstacle(Tracing t) {
        return t >= 0 && t < _TRACING_MAX ? tracing_table[t].obstacle : NULL;
}

static bool has_process(const Wake *w) {
        return w->process.pid > 0 || w->process.comm[0];
}

const char *wake_source(const Wake *w) {
        if (w->process.unit[0])
                return w->process.unit;
        return w->thread[0] && !has_process(w) ? "kernel" : "unknown";
}

const char *wake_format_process(const Wake *w, char buf[static WAKE_TEXT_MAX]) {
        const WakeProcess *p = &w->process;
        const char *name = p->comm[0] ? p->comm : "a process";

        if (p->pid > 0 && p->unit[0])
                snprintf(buf, WAKE_TEXT_MAX, "%s (PID %d, %s)", name, (int) p->pid, p->unit);
        else if (p->pid > 0)
                snprintf(buf, WAKE_TEXT_MAX, "%s (PID %d)", name, (int) p->pid);
        else if (has_process(w))
                snprintf(buf, WAKE_TEXT_MAX, "%s", name);
        else if (w->thread[0])
                snprintf(buf, WAKE_TEXT_MAX, "the kernel thread %s", w->thread);
        else
                snprintf(buf, WAKE_TEXT_MAX, "an unknown process");

        return buf;
}

const char *wake_format_action(const Wake *w, char buf[static WAKE_TEXT_MAX]) {
        bool writes = w->kind == WAKE_WRITE, by_thread = has_process(w) && w->thread[0];
        char name[COMMAND_NAME_MAX], where[48], file[48];

        switch (w->kind) {
        case WAKE_READ:
        case WAKE_WRITE:
                if (w->has_sector)
                        snprintf(where, sizeof where, "%s sector %" PRIu64, writes ? "wrote" : "read", w->sector);
                else
                        snprintf(where, sizeof where, "%s the drive", writes ? "wrote to" : "read from");
                snprintf(buf, WAKE_TEXT_MAX, "%s%s%s", where, by_thread ? " by way of " : "",
                         by_thread ? w->thread : "");
                return buf;
        case WAKE_FLUSH:
                if (!has_process(w))
                        return "wrote data that an unknown process had changed";
                if (w->inode != 0)
                        snprintf(file, sizeof file, "inode %" PRIu64, w->inode);
                else
                        snprintf(file, sizeof file, "a file");
                snprintf(buf, WAKE_TEXT_MAX, "changed %s, and %s wrote the change to the drive", file,
                         w->thread[0] ? w->thread : "the kernel");
                return buf;
        case WAKE_SWAP:
                return "needed swap space";
        case WAKE_MD:
                return "worked on the drive's array";
        case WAKE_UDEV:
                return "probed the drive, as udev does after a program had the drive open for writing";
        case WAKE_TOGETHER:
                return "woke another drive of the same wake_together group";
        case WAKE_COMMAND:
                snprintf(buf, WAKE_TEXT_MAX, "%s %s", by_thread ? "made the kernel resume the drive with" : "sent",
                         command_name(w->cdb, MIN(w->cdb_len, WAKE_CDB_MAX), name));
                return buf;
        case WAKE_UNKNOWN:
                return "was not traced";
        default:
                return "sent an unknown command";
        }
}

const char *wake_format_use(const char *process, const char *thread, const char *unit, const char *action,
                            uint64_t times, uint64_t usec, char buf[static WAKE_USE_MAX]) {
        uint64_t seconds = MAX(usec / MAX(times, 1U) / 1000000, 1U);
        bool in_minutes = seconds >= 120;

        (void) snprintf(buf, WAKE_USE_MAX, "%s%s%s%s%s %s, %s %" PRIu64 " %s",
                        process || !thread ? "" : "the kernel thread ", process ?: thread ?: "an unknown process",
                        unit ? " (" : "", unit ?: "", unit ? ")" : "", strna(action), times > 1 ? "every" : "once in",
                        in_minutes ? seconds / 60 : seconds, in_minutes ? "min" : "s");
        return buf;
}
