/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The wakers of drives, as found by the tracer and recorded in the journal. The words for each WakeKind are the same in
 * the journal, in JSON and in the manual pages. */

#include <sys/types.h>

#include "macro.h"

typedef enum WakeKind {
        WAKE_READ,  /* a process read from the drive */
        WAKE_WRITE, /* a process wrote to the drive, by direct I/O or fsync() */
        WAKE_FLUSH, /* writeback of pages that a process changed earlier */
        WAKE_SWAP,  /* pages were read from or written to swap space */
        WAKE_MD,    /* I/O of the md driver: resync, check, superblock */
        WAKE_UDEV, /* udev probed the drive after a program closed a writable descriptor of its node, or on a user's request */
        WAKE_TOGETHER, /* a process used another drive of the same wake_together group */
        WAKE_COMMAND,  /* a command of a program (SG_IO) or of the kernel, for example to resume the drive */
        WAKE_UNKNOWN,  /* the trace does not show the waker */
        _WAKE_KIND_MAX,
        _WAKE_KIND_INVALID = -1,
} WakeKind;

/* Returns "read", "write", "flush", "swap", "md", "udev", "together", "command" or "unknown". */
const char *wake_kind_to_string(WakeKind k);

/* The obstacle that keeps the tracer from finding wakers, if there is one. */
typedef enum Tracing {
        TRACING_FINE,      /* no obstacle is known */
        TRACING_UNMOUNTED, /* tracefs is not mounted */
        TRACING_NO_EVENTS, /* the kernel lacks a trace event */
        TRACING_DENIED,    /* tracefs cannot be read or written */
        TRACING_NO_SOCKET, /* the tracer cannot be started */
        TRACING_ENDED,     /* the tracer failed */
        _TRACING_MAX,
        _TRACING_INVALID = -1,
} Tracing;

const char *tracing_to_string(Tracing t); /* returns "fine", "unmounted", "no-events", …; NULL: not known */

/* Returns the obstacle and how to remove it, as a clause. NULL: no obstacle. */
const char *tracing_obstacle(Tracing t);

#define WAKE_COMM_MAX 16U /* the kernel's TASK_COMM_LEN */
#define WAKE_UNIT_MAX 256U
#define WAKE_COMMAND_LINE_MAX 256U
#define WAKE_CDB_MAX 32U
#define WAKE_TEXT_MAX 512U
#define WAKE_USE_MAX 1024U

/* A user-space process. The process can choose these texts freely: escape them before printing. */
typedef struct WakeProcess {
        pid_t pid; /* 0: not known */
        char comm[WAKE_COMM_MAX];
        char unit[WAKE_UNIT_MAX]; /* systemd unit of the process; "": not known, as the process had ended */
        char command_line[WAKE_COMMAND_LINE_MAX]; /* words separated by spaces, truncated; "": not known */
} WakeProcess;

/* One spin-up and its waker. Plain data that processes exchange. */
typedef struct Wake {
        WakeKind kind;
        WakeProcess process;        /* the process that caused the spin-up */
        char thread[WAKE_COMM_MAX]; /* the kernel thread that sent the I/O; "": the process itself sent it */
        /* has_sector: `sector` is known. content: the file's content changed; false: only the file's inode changed. */
        bool has_sector, content;
        uint64_t sector;           /* sector of the drive, in units of 512 bytes */
        uint64_t inode;            /* inode number of the changed file, on a file system of the drive; 0: not known */
        uint8_t cdb[WAKE_CDB_MAX]; /* CDB of the command that reached the drive */
        unsigned cdb_len;
} Wake;

/* Returns the key by which spin-ups are counted: the unit, "kernel" or "unknown". */
const char *wake_source(const Wake *w);

/* Format the two parts of "PROCESS ACTION", as in "smartctl (PID 812, smartd.service) sent SMART READ DATA". */
const char *wake_format_process(const Wake *w, char buf[static WAKE_TEXT_MAX]);
const char *wake_format_action(const Wake *w, char buf[static WAKE_TEXT_MAX]);

/* Formats a clause about one of the programs that use an active drive: "smartctl (smartd.service) sent SMART READ DATA, every 15 s".
 * `process`, `thread`, `unit`, `action`: as in the journal; NULL: not known. `times`: number of uses in `usec` µs. */
const char *wake_format_use(const char *process, const char *thread, const char *unit, const char *action,
                            uint64_t times, uint64_t usec, char buf[static WAKE_USE_MAX]);
