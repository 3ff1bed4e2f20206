/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who wakes a sleeping drive: what the kernel traces of one drive, and of what lies on it, is put together until a command
 * reaches the drive that may wake it. Never a wrong name: what is not known stays empty. Pure, but for the question who a process
 * is. */

#include "wake.h"

/* ---- a line of the trace ---- */

/* One line of the kernel's trace_pipe (Documentation/trace/ftrace.rst), of the events that the tracer asks for: their texts are
 * in include/trace/events/{block,scsi,writeback}.h. Pure. A line is not to be trusted in what a process can choose, which is
 * the name it has given itself: that may hold any character. */

typedef enum TraceKind {
        TRACE_BIO,     /* block_bio_queue: somebody asks a block device for data */
        TRACE_COMMAND, /* scsi_dispatch_cmd_start: a command goes to a SCSI device */
        TRACE_RESUME,  /* rpm_resume: somebody wants the kernel to resume a SCSI device */
        TRACE_DIRTY,   /* writeback_dirty_folio, writeback_mark_inode_dirty: somebody has changed a file in memory */
        _TRACE_KIND_MAX,
} TraceKind;

typedef struct TraceEvent {
        TraceKind kind;
        pid_t pid;                /* of the thread that did it; 0: not known, as it was in an interrupt */
        char comm[WAKE_COMM_MAX]; /* its name then; "": not known ("<...>") */

        unsigned major, minor; /* TRACE_BIO: the block device, a whole one; TRACE_DIRTY: where the file lies, 0:N is btrfs-N */
        bool write;            /* TRACE_BIO: it writes, flushes or discards; else it reads */
        uint64_t sector;    /* TRACE_BIO */
        uint32_t n_sectors; /* TRACE_BIO; 0: it only flushes */
        uint64_t inode;     /* TRACE_DIRTY */
        bool content; /* TRACE_DIRTY: the file's content changed; else only its inode, as by a read (atime) or a new size */

        unsigned host, channel, id; /* TRACE_COMMAND, TRACE_RESUME: the SCSI address … */
        uint64_t lun;
        uint8_t cdb[WAKE_CDB_MAX]; /* … and the command */
        unsigned cdb_len;
} TraceEvent;

/* `line`: without its newline. Returns false for anything that is not such an event, whole and well-formed; a "bdi" that is neither
 * a block device's nor a btrfs's is none either. */
bool trace_line_parse(const char *line, TraceEvent *ret);

/* ---- a watched drive ---- */

#define WATCH_ABOVE_MAX 16U
#define WATCH_SWAP_MAX 8U

/* By its number. A btrfs, which has none of its own, has the kernel's name for it, "btrfs-N", as WATCH_BTRFS and N. */
typedef struct WatchDevice {
        unsigned major, minor;
} WatchDevice;

#define WATCH_BTRFS 0U

static inline bool watch_device_equal(WatchDevice a, WatchDevice b) {
        return a.major == b.major && a.minor == b.minor;
}

/* Plain data: the manager sends it to the tracer. */
typedef struct WatchDrive {
        WatchDevice disk;
        unsigned host, channel, id;
        uint64_t lun;
        WatchDevice above[WATCH_ABOVE_MAX]; /* md and device-mapper devices and btrfs that lie on it */
        unsigned n_above;
} WatchDrive;

/* What a thread with this ID is now. Returns -ESRCH when there is none any more. `comm` is the process's, and the unit too; for a
 * kernel thread, `kernel` is true, and only pid and comm are set. */
typedef int (*ProcessLookup)(void *userdata, pid_t tid, WakeProcess *ret, bool *ret_kernel);

/* Somebody who has had to do with the drive, or with what lies on it, since it is watched. */
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
        bool swap_above[WATCH_ABOVE_MAX]; /* that device is swap space */

        Touch bio; /* the first request to the drive itself; one that moves data rather than a flush */
        Touch above; /* the last request to something that lies on it that came before `bio`; a process's rather than a kernel thread's */
        Touch resume; /* the last process that wanted the kernel to resume the drive */
        Touch dirty;  /* the first change of a file: what is oldest is written first */
} Watch;

/* Takes in an event. Returns true when the drive is woken by it, or may be, and by whom: a command that is not quiet has gone to it.
 * Events that are not about the drive change nothing. */
bool watch_feed(Watch *w, const TraceEvent *e, ProcessLookup lookup, void *userdata, Wake *ret);

/* What was found has been told of: who comes next is asked for anew. */
void watch_reset(Watch *w);
