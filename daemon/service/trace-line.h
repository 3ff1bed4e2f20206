/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One line of the kernel's trace_pipe (Documentation/trace/ftrace.rst), of the events that the tracer asks for: their texts are
 * in include/trace/events/{block,scsi,writeback}.h. Pure. A line is not to be trusted in what a process can choose, which is
 * the name it has given itself: that may hold any character. */

#include "wake.h"

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
