/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Finds the process that woke a drive. Collects the trace events of one drive and of the devices stacked on the drive,
 * until a command arrives that may wake the drive. If the process is not certain, names no process. Pure, except for
 * ProcessLookup. */

#include "wake.h"

/* ---- a line of the trace ---- */

/* One line of the kernel's trace_pipe (Documentation/trace/ftrace.rst), for the events that the tracer enables. The
 * formats are in include/trace/events/{block,scsi,rpm,writeback}.h. The name of a process in the line may contain any
 * character. */

typedef enum TraceKind {
        TRACE_BIO,     /* block_bio_queue: a request to a block device */
        TRACE_COMMAND, /* scsi_dispatch_cmd_start: a command to a SCSI device */
        TRACE_RESUME,  /* rpm_resume: a SCSI device must resume */
        TRACE_DIRTY,   /* writeback_dirty_folio, writeback_mark_inode_dirty: a file was changed in memory */
        _TRACE_KIND_MAX,
} TraceKind;

typedef struct TraceEvent {
        TraceKind kind;
        uint64_t usec;            /* time of the event, by the clock of the trace; µs */
        pid_t pid;                /* thread ID; 0: not known, since the event occurred in an interrupt */
        char comm[WAKE_COMM_MAX]; /* the thread's name at the time of the event; "": the line has "<...>" instead of a name */

        /* For TRACE_BIO: the block device, not a partition. For TRACE_DIRTY: the device of the file. Major 0 and minor
         * N mean btrfs-N. */
        unsigned major, minor;
        bool write;         /* for TRACE_BIO: the request is a write, flush or discard; false: a read */
        uint64_t sector;    /* for TRACE_BIO: the first sector */
        uint32_t n_sectors; /* for TRACE_BIO: the number of sectors; 0: a flush without data */
        uint64_t inode;     /* for TRACE_DIRTY: the inode of the file */
        bool content; /* for TRACE_DIRTY: the file's content changed; false: only the inode changed, such as its access time or size */

        unsigned host, channel, id; /* for TRACE_COMMAND and TRACE_RESUME: the SCSI address */
        uint64_t lun;
        uint8_t cdb[WAKE_CDB_MAX]; /* for TRACE_COMMAND: the command */
        unsigned cdb_len;
} TraceEvent;

/* Parses a line without its newline. Returns false in three cases: the line is malformed, the event is not of a
 * TraceKind, or the field "bdi" has another name than that of a block device or a btrfs. */
bool trace_line_parse(const char *line, TraceEvent *ret);

/* ---- a watched drive ---- */

#define WATCH_ABOVE_MAX 16U
#define WATCH_SWAP_MAX 8U
#define WATCH_THREADS_MAX 4U

/* The number of a block device. A btrfs has no device number: "btrfs-N" of the kernel is stored as WATCH_BTRFS and N. */
typedef struct WatchDevice {
        unsigned major, minor;
} WatchDevice;

#define WATCH_BTRFS 0U

static inline bool watch_device_equal(WatchDevice a, WatchDevice b) {
        return a.major == b.major && a.minor == b.minor;
}

/* A drive that the tracer watches. */
typedef struct WatchDrive {
        WatchDevice disk;
        unsigned host, channel, id;
        uint64_t lun;
        WatchDevice above[WATCH_ABOVE_MAX]; /* md and device-mapper devices and btrfs file systems on the drive */
        unsigned n_above;
} WatchDrive;

/* Finds the process of a thread. Returns -ESRCH if the thread has ended. For a kernel thread *ret_kernel is true, and only pid and comm are
 * set. */
typedef int (*ProcessLookup)(void *userdata, pid_t tid, WakeProcess *ret, bool *ret_kernel);

/* One event on the drive or on a device stacked on the drive, and the process that caused the event. */
typedef struct Touch {
        bool is_set, kernel;
        WakeProcess process; /* for a kernel thread: only pid and comm */
        WatchDevice device;
        bool write, content;
        uint64_t sector, inode;
        uint32_t n_sectors;
} Touch;

typedef struct Watch {
        WatchDrive drive;
        struct WakeCounts *counts; /* set if the drive is active, so that each of its requests counts; owned */
        struct {
                uint64_t start, size; /* swap space on the drive: first sector and number of sectors; 512 bytes each */
        } swap[WATCH_SWAP_MAX];
        unsigned n_swap;
        bool swap_above[WATCH_ABOVE_MAX]; /* the stacked device drive.above[i] is swap space */
        struct {
                pid_t pid;
                char comm[WAKE_COMM_MAX]; /* the name in the event */
        } threads[WATCH_THREADS_MAX];     /* the last kernel threads that were looked up; used in turn */
        unsigned next_thread;

        Touch bio;    /* the first request to the drive itself that transfers data; if there is none, the last flush */
        Touch above;  /* the last request of a process to a stacked device, before the request in `bio`. If there is
                       * none: the last request of a kernel thread */
        Touch resume; /* the last process that needed the drive to resume */
        Touch dirty;  /* the first change of a file: the kernel writes the oldest change first */
        bool written; /* active drive: the kernel has begun to write the change in `dirty` */
} Watch;

/* Returns true if the event is of the drive or of a device stacked on the drive. */
bool watch_has(const Watch *w, const TraceEvent *e);

/* Processes an event of the drive or of a device stacked on the drive, and ignores all other events. If the event is a
 * command that wakes or may wake the drive, returns true, and the waker in *ret. For an active drive, returns true for each request and for
 * each command that restarts a standby timer, and the process that caused the request or command in *ret. For an active drive, does not
 * report reads and writes that a program sends by SG_IO. */
bool watch_feed(Watch *w, const TraceEvent *e, ProcessLookup lookup, void *userdata, Wake *ret);

/* Forgets the events so far. Must be called after the report of a command that certainly wakes the drive. */
void watch_reset(Watch *w);
