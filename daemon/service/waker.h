/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Finds the process that woke a drive. Collects the trace events of one drive and of the devices stacked on the drive, until a command
 * arrives that may wake the drive. Names that are not certain stay empty. Pure, except for ProcessLookup. */

#include "wake.h"

/* ---- a line of the trace ---- */

/* One line of the kernel's trace_pipe (Documentation/trace/ftrace.rst), for the events that the tracer enables. The formats are in
 * include/trace/events/{block,scsi,writeback}.h. The name of a process in the line may contain any character. */

typedef enum TraceKind {
        TRACE_BIO,     /* block_bio_queue: a request to a block device */
        TRACE_COMMAND, /* scsi_dispatch_cmd_start: a command to a SCSI device */
        TRACE_RESUME,  /* rpm_resume: a SCSI device must resume */
        TRACE_DIRTY,   /* writeback_dirty_folio, writeback_mark_inode_dirty: a file was changed in memory */
        _TRACE_KIND_MAX,
} TraceKind;

typedef struct TraceEvent {
        TraceKind kind;
        pid_t pid;                /* thread ID; 0: not known, since the event occurred in an interrupt */
        char comm[WAKE_COMM_MAX]; /* the thread's name at the time of the event; "": not known ("<...>") */

        unsigned major, minor; /* TRACE_BIO: the block device, not a partition; TRACE_DIRTY: the device of the file; 0:N is btrfs-N */
        bool write;         /* TRACE_BIO: a write, flush or discard, not a read */
        uint64_t sector;    /* TRACE_BIO: the first sector */
        uint32_t n_sectors; /* TRACE_BIO: the number of sectors; 0: a flush without data */
        uint64_t inode;     /* TRACE_DIRTY: the inode of the file */
        bool content; /* TRACE_DIRTY: the file's content changed; false: only the inode changed, as by a read (atime) or a new size */

        unsigned host, channel, id; /* TRACE_COMMAND, TRACE_RESUME: the SCSI address */
        uint64_t lun;
        uint8_t cdb[WAKE_CDB_MAX]; /* TRACE_COMMAND: the command */
        unsigned cdb_len;
} TraceEvent;

/* Parses a line without its newline. Returns false for other events, for malformed lines, and for a "bdi" that is neither a block device
 * nor a btrfs. */
bool trace_line_parse(const char *line, TraceEvent *ret);

/* ---- a watched drive ---- */

#define WATCH_ABOVE_MAX 16U
#define WATCH_SWAP_MAX 8U

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
        struct {
                uint64_t start, size; /* a range of sectors of the drive that is swap space */
        } swap[WATCH_SWAP_MAX];
        unsigned n_swap;
        bool swap_above[WATCH_ABOVE_MAX]; /* the stacked device drive.above[i] is swap space */

        Touch bio; /* the first request to the drive itself; a flush only if no request transfers data */
        Touch above; /* the last request to a stacked device before `bio`; sent by a kernel thread only if no process sent one */
        Touch resume; /* the last process that needed the drive to resume */
        Touch dirty;  /* the first change of a file, since the kernel writes the oldest change first */
} Watch;

/* Processes an event, and ignores events of other devices. Returns true and the waker for a command that wakes or may wake the drive. */
bool watch_feed(Watch *w, const TraceEvent *e, ProcessLookup lookup, void *userdata, Wake *ret);

/* Forgets the events so far. Must be called after a wake was reported. */
void watch_reset(Watch *w);
