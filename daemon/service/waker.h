/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which process woke a drive: collects the trace events of one drive and of the devices above it, until a command reaches the drive that
 * may wake it. A name that is not certain stays empty. Pure, but for ProcessLookup. */

#include "wake.h"

/* ---- a line of the trace ---- */

/* One line of the kernel's trace_pipe (Documentation/trace/ftrace.rst), for the events that the tracer enables: their formats are in
 * include/trace/events/{block,scsi,writeback}.h. A process may put any character into its own name in the line. */

typedef enum TraceKind {
        TRACE_BIO,     /* block_bio_queue: a request to a block device */
        TRACE_COMMAND, /* scsi_dispatch_cmd_start: a command to a SCSI device */
        TRACE_RESUME,  /* rpm_resume: a SCSI device must resume */
        TRACE_DIRTY,   /* writeback_dirty_folio, writeback_mark_inode_dirty: a file was changed in memory */
        _TRACE_KIND_MAX,
} TraceKind;

typedef struct TraceEvent {
        TraceKind kind;
        pid_t pid;                /* of the thread; 0: not known, in an interrupt */
        char comm[WAKE_COMM_MAX]; /* the thread's name at that time; "": not known ("<...>") */

        unsigned major, minor; /* TRACE_BIO: the block device, not a partition; TRACE_DIRTY: the file's; 0:N is btrfs-N */
        bool write;            /* TRACE_BIO: a write, flush or discard, not a read */
        uint64_t sector;       /* TRACE_BIO */
        uint32_t n_sectors;    /* TRACE_BIO; 0: a flush alone */
        uint64_t inode;        /* TRACE_DIRTY */
        bool content; /* TRACE_DIRTY: the file's content changed; false: only its inode, as by a read (atime) or a new size */

        unsigned host, channel, id; /* TRACE_COMMAND, TRACE_RESUME: the SCSI address … */
        uint64_t lun;
        uint8_t cdb[WAKE_CDB_MAX]; /* … and the command */
        unsigned cdb_len;
} TraceEvent;

/* `line`: without its newline. Returns false for any other event, for a malformed line, and for a "bdi" of neither a block device nor a
 * btrfs. */
bool trace_line_parse(const char *line, TraceEvent *ret);

/* ---- a watched drive ---- */

#define WATCH_ABOVE_MAX 16U
#define WATCH_SWAP_MAX 8U

/* A block device's number. A btrfs has no number; the kernel names it "btrfs-N", which is WATCH_BTRFS and N here. */
typedef struct WatchDevice {
        unsigned major, minor;
} WatchDevice;

#define WATCH_BTRFS 0U

static inline bool watch_device_equal(WatchDevice a, WatchDevice b) {
        return a.major == b.major && a.minor == b.minor;
}

/* Which drive the tracer watches. */
typedef struct WatchDrive {
        WatchDevice disk;
        unsigned host, channel, id;
        uint64_t lun;
        WatchDevice above[WATCH_ABOVE_MAX]; /* md and device-mapper devices and btrfs on the drive */
        unsigned n_above;
} WatchDrive;

/* Finds the process of a thread. -ESRCH: the thread has ended. For a kernel thread *ret_kernel is true, and only pid and comm are set. */
typedef int (*ProcessLookup)(void *userdata, pid_t tid, WakeProcess *ret, bool *ret_kernel);

/* One event on the drive or on a device above it, and the process that caused it. */
typedef struct Touch {
        bool is_set, kernel;
        WakeProcess process; /* of a kernel thread: pid and comm only */
        WatchDevice device;
        bool write, content;
        uint64_t sector, inode;
        uint32_t n_sectors;
} Touch;

typedef struct Watch {
        WatchDrive drive;
        struct {
                uint64_t start, size; /* sectors of the drive that are swap space */
        } swap[WATCH_SWAP_MAX];
        unsigned n_swap;
        bool swap_above[WATCH_ABOVE_MAX]; /* this device above the drive is swap space */

        Touch bio; /* the first request to the drive itself; a flush only if no request moves data */
        Touch above; /* the last request to a device above the drive before `bio`; a kernel thread's only if no process sent one */
        Touch resume; /* the last process that needed the drive to resume */
        Touch dirty;  /* the first change of a file: the kernel writes the oldest first */
} Watch;

/* Processes an event. Returns true, with the waker, for a command that wakes the drive or may wake it. Ignores events of other devices. */
bool watch_feed(Watch *w, const TraceEvent *e, ProcessLookup lookup, void *userdata, Wake *ret);

/* The wake was reported: forgets the events up to now. */
void watch_reset(Watch *w);
