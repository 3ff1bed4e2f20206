/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What woke a drive, as the tracer finds it out and the journal has it. Pure. The words are the same in the journal, in JSON
 * and in the manual pages. */

#include <sys/types.h>

#include "macro.h"

/* The journal's message ID of a record of a wake. */
#define JOURNAL_ID_WAKE "b2d3f4a1c6e84d0f9a7b5c3e1d2f4a68"

typedef enum WakeKind {
        WAKE_READ,  /* a process read from the drive */
        WAKE_WRITE, /* a process wrote to the drive, past the page cache or by fsync() */
        WAKE_FLUSH, /* the kernel wrote what a process had changed in memory before */
        WAKE_SWAP,  /* a part of memory was read from or written to swap space */
        WAKE_MD,    /* the md driver's own: resync, check, superblock */
        WAKE_UDEV, /* udev looked at the drive, as a device node was opened for writing and closed, or somebody asked for it */
        WAKE_TOGETHER, /* a process used another drive, with which it is woken (wake_together) */
        WAKE_COMMAND, /* a command that the kernel passed through from a program (SG_IO), or sent by itself, maybe to resume the drive */
        WAKE_UNKNOWN, /* the drive was woken, and the trace does not show by whom */
        _WAKE_KIND_MAX,
        _WAKE_KIND_INVALID = -1,
} WakeKind;

const char *wake_kind_to_string(
                WakeKind k); /* "read", "write", "flush", "swap", "md", "udev", "together", "command", "unknown" */

/* Can the kernel's trace show who wakes a drive? */
typedef enum Tracing {
        TRACING_FINE,      /* as far as is known */
        TRACING_UNMOUNTED, /* tracefs is not mounted */
        TRACING_NO_EVENTS, /* the kernel lacks a trace event */
        TRACING_DENIED,    /* tracefs cannot be read or written */
        TRACING_NO_SOCKET, /* the tracer cannot be started */
        TRACING_ENDED,     /* the tracer has ended by itself */
        _TRACING_MAX,
        _TRACING_INVALID = -1,
} Tracing;

const char *tracing_to_string(Tracing t); /* "fine", "unmounted", "no-events", "denied", "no-socket", "ended" */

/* The obstacle and the remedy: a clause. NULL: there is no obstacle. */
const char *tracing_obstacle(Tracing t);

#define WAKE_COMM_MAX 16U /* the kernel's TASK_COMM_LEN */
#define WAKE_UNIT_MAX 256U
#define WAKE_COMMAND_LINE_MAX 256U
#define WAKE_CDB_MAX 32U
#define WAKE_TEXT_MAX 512U

/* A process of a user's. Its texts are what it calls itself: escape them before they are shown. */
typedef struct WakeProcess {
        pid_t pid; /* 0: not known which */
        char comm[WAKE_COMM_MAX];
        char unit[WAKE_UNIT_MAX];                 /* its systemd unit; "": not known, as it had ended */
        char command_line[WAKE_COMMAND_LINE_MAX]; /* words with spaces between, cut; "": not known */
} WakeProcess;

/* Plain data: it crosses from one process to another. */
typedef struct Wake {
        WakeKind kind;
        WakeProcess process; /* who wanted it */
        char thread[WAKE_COMM_MAX]; /* the kernel thread that did it, for the process or for the kernel; "": the process itself */
        bool has_sector, content;  /* content: the content of the file `inode` was changed, not the inode alone */
        uint64_t sector;           /* of the drive, in units of 512 bytes */
        uint64_t inode;            /* the changed file's number, on a file system of the drive; 0: not known */
        uint8_t cdb[WAKE_CDB_MAX]; /* of the command that reached the drive */
        unsigned cdb_len;
} Wake;

/* By what its wakes are counted: the unit, or "kernel", or "unknown". */
const char *wake_source(const Wake *w);

/* The two halves of "woken by WHO, which WHAT": "smartctl (PID 812, smartd.service)", "sent SMART READ DATA". */
const char *wake_format_process(const Wake *w, char buf[static WAKE_TEXT_MAX]);
const char *wake_format_action(const Wake *w, char buf[static WAKE_TEXT_MAX]);
