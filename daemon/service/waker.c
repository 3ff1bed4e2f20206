/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <limits.h>

#include "drive-command.h"
#include "waker.h"

/* ---- a line of the trace ---- */

/* The kernel pads a thread's name on the left to exactly this width. A name therefore cannot imitate the fields that
 * follow it. If a name contains a line break, trace_line_parse() rejects both parts of the line. */
#define COMM_WIDTH 16U

/* Skips the expected text. Returns false if it is not there. */
static bool skip_text(const char **p, const char *expected) {
        bool there = starts_with(*p, expected);

        *p += there ? strlen(expected) : 0;
        return there;
}

static bool take_number(const char **p, uint64_t max, uint64_t *ret) {
        bool number = isdigit((unsigned char) **p);
        char *end;

        errno = 0;
        *ret = strtoull(*p, &end, 10);
        *p = end;
        return number && errno == 0 && *ret <= max;
}

static bool take_unsigned(const char **p, unsigned *ret) {
        uint64_t v;
        bool r = take_number(p, UINT_MAX, &v);

        *ret = (unsigned) v;
        return r;
}

/* Parses "COMM-PID [CPU] FLAGS TIME: ". *ret_named is false if the third flag marks an interrupt, since the interrupted
 * thread did not cause the event. */
static bool take_head(const char **p, TraceEvent *e, bool *ret_named) {
        const char *name = *p + strspn(*p, " "), *flags;
        uint64_t pid, ignored, seconds, usec;
        size_t n;

        if (**p != ' ' || strnlen(*p, COMM_WIDTH) < COMM_WIDTH || name > *p + COMM_WIDTH)
                return false;

        n = (size_t) (*p + COMM_WIDTH - name);
        *p += COMM_WIDTH;
        if (!skip_text(p, "-") || !take_number(p, INT_MAX, &pid) || !skip_text(p, " "))
                return false;

        *p += strspn(*p, " ");
        if (!skip_text(p, "[") || !take_number(p, UINT_MAX, &ignored) || !skip_text(p, "] "))
                return false;

        for (flags = *p; isalnum((unsigned char) **p) || **p == '.'; ++*p)
                ;
        if (*p - flags < 4 || !skip_text(p, " "))
                return false;

        *ret_named = pid > 0 && flags[2] == '.';
        if (*ret_named) {
                e->pid = (pid_t) pid;
                if (n != strlen("<...>") || !starts_with(name, "<...>"))
                        memcpy(e->comm, name, n);
        }

        *p += strspn(*p, " ");
        if (!take_number(p, UINT64_MAX / 2000000, &seconds) || !skip_text(p, ".") ||
            !take_number(p, UINT64_MAX / 2, &usec) || !skip_text(p, ": "))
                return false;
        e->usec = seconds * 1000000 + usec;
        return true;
}

/* Parses "8,16 WS 2048 + 8 [COMM]", in which COMM is the exact name of the thread. */
static bool parse_bio(const char *p, TraceEvent *e, bool named) {
        const char *flags;
        size_t n;

        if (!take_unsigned(&p, &e->major) || !skip_text(&p, ",") || !take_unsigned(&p, &e->minor) ||
            !skip_text(&p, " "))
                return false;

        for (flags = p; isupper((unsigned char) *p); p++)
                ;
        if (p == flags || !skip_text(&p, " ") || !take_number(&p, UINT64_MAX, &e->sector) || !skip_text(&p, " + ") ||
            !take_unsigned(&p, &e->n_sectors) || !skip_text(&p, " ["))
                return false;

        n = strlen(p);
        if (n == 0 || n > WAKE_COMM_MAX || p[n - 1] != ']')
                return false;

        if (named && n > 1)
                *(char *) mempcpy(e->comm, p, n - 1) = '\0';
        e->write = strchr("WDFZ", *flags); /* letters of write, discard, flush and zone operations */
        return true;
}

static bool find_number(const char *p, const char *key, unsigned *ret) {
        const char *found = strstr(p, key);

        return found && skip_text(&found, key) && take_unsigned(&found, ret) && *found == ' ';
}

/* Parses "host_no=2 channel=0 id=0 lun=0 … cmnd=(READ_10 lba=2048 … raw=28 00 00)". */
static bool parse_command(const char *p, TraceEvent *e) {
        const char *raw = strstr(p, " raw=");
        unsigned lun, n = 0;

        if (!starts_with(p, "host_no=") || !find_number(p, "host_no=", &e->host) ||
            !find_number(p, " channel=", &e->channel) || !find_number(p, " id=", &e->id) ||
            !find_number(p, " lun=", &lun) || !raw || raw[strlen(" raw=")] == ')')
                return false;

        e->lun = lun;
        for (raw += strlen(" raw"); *raw == (n == 0 ? '=' : ' '); raw += 3, n++) {
                if (!isxdigit((unsigned char) raw[1]) || !isxdigit((unsigned char) raw[2]))
                        return false;
                if (n < WAKE_CDB_MAX)
                        e->cdb[n] = (uint8_t) strtoul((char[]){ raw[1], raw[2], '\0' }, NULL, 16);
        }

        e->cdb_len = MIN(n, WAKE_CDB_MAX);
        return streq(raw, ")");
}

/* Parses "2:0:1:3 flags-4 cnt-0  dep-0  auto-1 p-0 irq-0 child-0". */
static bool parse_resume(const char *p, TraceEvent *e) {
        return take_unsigned(&p, &e->host) && skip_text(&p, ":") && take_unsigned(&p, &e->channel) &&
               skip_text(&p, ":") && take_unsigned(&p, &e->id) && skip_text(&p, ":") &&
               take_number(&p, UINT64_MAX, &e->lun) && skip_text(&p, " flags-");
}

/* Parses "bdi 8:16: ino=12 index=0" and "bdi btrfs-1: ino=257 index=0". */
static bool parse_dirty(const char *p, TraceEvent *e) {
        bool device = skip_text(&p, "bdi ") && (skip_text(&p, "btrfs-") ||
                                                (take_unsigned(&p, &e->major) && e->major != 0 && skip_text(&p, ":")));

        return device && take_unsigned(&p, &e->minor) && skip_text(&p, ": ino=") &&
               take_number(&p, UINT64_MAX, &e->inode) && *p == ' ';
}

bool trace_line_parse(const char *line, TraceEvent *ret) {
        TraceEvent e = {};
        bool named, whole;

        if (!take_head(&line, &e, &named))
                return false;

        if (skip_text(&line, "block_bio_queue: ")) {
                e.kind = TRACE_BIO;
                whole = parse_bio(line, &e, named);
        } else if (skip_text(&line, "scsi_dispatch_cmd_start: ")) {
                e.kind = TRACE_COMMAND;
                whole = parse_command(line, &e);
        } else if (skip_text(&line, "rpm_resume: ")) {
                e.kind = TRACE_RESUME;
                whole = parse_resume(line, &e);
        } else {
                e.kind = TRACE_DIRTY;
                e.content = skip_text(&line, "writeback_dirty_folio: ") || skip_text(&line, "writeback_dirty_page: ");
                whole = (e.content || skip_text(&line, "writeback_mark_inode_dirty: ")) && parse_dirty(line, &e);
        }

        if (whole)
                *ret = e;
        return whole;
}

/* ---- a watched drive ---- */

/* Width of the minor number in the kernel's device numbers. The inode number of a block device is its device number. */
#define DEVICE_MINOR_BITS 20U
#define DEVICE_MAJOR_EXTENDED 259U
#define SCSI_START_STOP_UNIT 0x1B
/* The inode of all btrfs metadata (BTRFS_BTREE_INODE_OBJECTID). */
#define BTRFS_BTREES 1U

static bool begins_with_number(const char *comm, const char *prefix) {
        return starts_with(comm, prefix) && isdigit((unsigned char) comm[strlen(prefix)]);
}

/* Returns true if the name is that of a kernel thread. Used for threads that have ended. The programs mdadm and
 * xfs_repair must not match. */
static bool is_kernel_name(const char *comm) {
        return starts_with(comm, "kworker/") || starts_with(comm, "jbd2/") || begins_with_number(comm, "md") ||
               starts_with(comm, "md_") || begins_with_number(comm, "kswapd") || starts_with(comm, "dm-") ||
               starts_with(comm, "dmcrypt_write/") || starts_with(comm, "xfsaild/") || starts_with(comm, "xfs-") ||
               STR_IN_SET(comm, "btrfs-transacti", "btrfs-cleaner");
}

/* Returns true for the md driver's resync thread, which serves no requests of processes. */
static bool is_resync(const char *comm) {
        return ends_with(comm, "_resync");
}

/* Returns true for any thread of the md driver, such as md0_raid1, md_home_raid5, and mdX_raid6 of device-mapper. */
static bool is_md(const char *comm) {
        return begins_with_number(comm, "md") || starts_with(comm, "md_") || starts_with(comm, "mdX_");
}

/* Returns true if the thread of the event is one of the last kernel threads. A thread with another name is another thread. */
static bool is_recent(const Watch *w, const TraceEvent *e) {
        for (unsigned i = 0; e->comm[0] && i < WATCH_THREADS_MAX; i++)
                if (w->threads[i].pid == e->pid && streq(w->threads[i].comm, e->comm))
                        return true;
        return false;
}

/* Finds the process of the event. Remembers kernel threads, which cause many events, so that the process is not read from /proc again. */
static void find_process(Watch *w, const TraceEvent *e, ProcessLookup lookup, void *userdata, Touch *ret) {
        WakeProcess p = {};
        bool kernel = false;

        if (is_recent(w, e)) {
                ret->process.pid = e->pid;
                memcpy(ret->process.comm, e->comm, sizeof e->comm);
                ret->kernel = true;
                return;
        }

        if (lookup(userdata, e->pid, &p, &kernel) < 0) {
                p = (WakeProcess){ .pid = e->pid };
                kernel = is_kernel_name(e->comm);
        } else if (kernel) {
                w->threads[w->next_thread].pid = e->pid;
                memcpy(w->threads[w->next_thread].comm, e->comm, sizeof e->comm);
                w->next_thread = (w->next_thread + 1) % WATCH_THREADS_MAX;
        }
        /* /proc appends the current work to a kernel thread's name, so the name in the event is preferred. */
        if (e->comm[0] && (kernel || !p.comm[0]))
                memcpy(p.comm, e->comm, sizeof p.comm);

        ret->process = p;
        ret->kernel = kernel;
}

static Touch touch(Watch *w, const TraceEvent *e, ProcessLookup lookup, void *userdata) {
        Touch t = {
                .is_set = true,
                .device = { e->major, e->minor },
                .write = e->write,
                .sector = e->sector,
                .n_sectors = e->n_sectors,
                .inode = e->inode,
                .content = e->content,
        };

        /* Drops the inode of file system metadata or of the block device itself, since it is not the inode of a
         * file. */
        if (e->major == WATCH_BTRFS ? e->inode == BTRFS_BTREES
                                    : e->inode >> DEVICE_MINOR_BITS == e->major ||
                                                      e->inode >> DEVICE_MINOR_BITS == DEVICE_MAJOR_EXTENDED)
                t.inode = 0;

        /* An event in an interrupt has no known process. */
        if (e->pid <= 0) {
                t.kernel = true;
                return t;
        }

        find_process(w, e, lookup, userdata, &t);
        return t;
}

static int above_index(const WatchDrive *d, WatchDevice device) {
        for (unsigned i = 0; i < d->n_above; i++)
                if (watch_device_equal(d->above[i], device))
                        return (int) i;

        return -1;
}

/* Returns true if the request was for swap space. */
static bool is_swap(const Watch *w, const Touch *by) {
        const Touch *above = &w->above;
        int i = above->is_set ? above_index(&w->drive, above->device) : -1;

        if (w->bio.is_set && w->bio.n_sectors > 0)
                for (unsigned k = 0; k < w->n_swap; k++)
                        if (w->bio.sector >= w->swap[k].start && w->bio.sector - w->swap[k].start < w->swap[k].size)
                                return true;

        return i >= 0 && w->swap_above[i] &&
               (by->kernel ? above->kernel : !above->kernel && by->process.pid == above->process.pid);
}

/* Returns true for processes of udev that read drives. "(udev-synth)": since systemd 262, this process reads the partitions of a drive
 * after a write. */
static bool is_udev(const WakeProcess *p) {
        return STR_IN_SET(p->comm, "systemd-udevd", "(udev-worker)", "(udev-synth)") &&
               (!p->unit[0] || streq(p->unit, "systemd-udevd.service"));
}

/* Finds the waker: the sender of the request for which the kernel sent the command. */
static void find_waker(const Watch *w, Wake *wake) {
        const Touch *did = w->bio.is_set ? &w->bio : &w->above, *wanted = NULL;
        const char *thread = did->process.comm;

        if (!did->kernel)
                wanted = did;
        /* If the drive was written, a process that only read from a stacked device is not the waker. */
        else if (!starts_with(thread, "kswapd") && !is_resync(thread) && w->above.is_set && !w->above.kernel &&
                 (w->above.write || !did->write))
                wanted = &w->above;

        if (did->kernel)
                memcpy(wake->thread, thread, sizeof wake->thread);
        if (w->bio.is_set && w->bio.n_sectors > 0) {
                wake->has_sector = true;
                wake->sector = w->bio.sector;
        }

        if (wanted) {
                wake->process = wanted->process;
                wake->kind = !did->write && is_udev(&wanted->process) ? WAKE_UDEV
                             : is_swap(w, wanted)                     ? WAKE_SWAP
                             : did->write                             ? WAKE_WRITE
                                                                      : WAKE_READ;
        } else if (starts_with(thread, "kswapd") || (!is_resync(thread) && is_swap(w, did)))
                wake->kind = WAKE_SWAP;
        else if (is_resync(thread) || (is_md(thread) && !w->dirty.is_set))
                wake->kind = WAKE_MD;
        else if (did->write) {
                wake->kind = WAKE_FLUSH;
                if (w->dirty.is_set && !w->dirty.kernel) {
                        wake->process = w->dirty.process;
                        wake->inode = w->dirty.inode;
                        wake->content = w->dirty.content;
                }
        } else
                wake->kind = WAKE_READ;
}

static bool is_at(const TraceEvent *e, const WatchDrive *d) {
        return e->host == d->host && e->channel == d->channel && e->id == d->id && e->lun == d->lun;
}

/* Returns true if the command is part of a resume: the kernel resumes a suspended drive by START STOP UNIT, and the process that needs the
 * drive waits for the resume. */
static bool is_resume(const TraceEvent *e, const Touch *by) {
        return e->cdb_len > 0 && e->cdb[0] == SCSI_START_STOP_UNIT && by->kernel &&
               starts_with(by->process.comm, "kworker/");
}

bool watch_has(const Watch *w, const TraceEvent *e) {
        const WatchDevice device = { e->major, e->minor };

        if (e->kind == TRACE_COMMAND || e->kind == TRACE_RESUME)
                return is_at(e, &w->drive);
        return watch_device_equal(w->drive.disk, device) || above_index(&w->drive, device) >= 0;
}

static bool feed_command(Watch *w, const TraceEvent *e, ProcessLookup lookup, void *userdata, Wake *ret) {
        const WatchDrive *d = &w->drive;
        Wake wake = { .kind = WAKE_COMMAND, .cdb_len = MIN(e->cdb_len, WAKE_CDB_MAX) };

        if (!is_at(e, d) || command_is_quiet(e->cdb, e->cdb_len))
                return false;
        /* The requests of an active drive are counted when they are queued: many requests may be queued before the first command. */
        if (w->counts && command_is_medium(e->cdb, e->cdb_len))
                return false;

        memcpy(wake.cdb, e->cdb, wake.cdb_len);
        if (command_is_medium(e->cdb, e->cdb_len) && (w->bio.is_set || w->above.is_set))
                find_waker(w, &wake);
        else {
                Touch t = touch(w, e, lookup, userdata);

                if (is_resume(e, &t) && (w->bio.is_set || w->above.is_set)) {
                        find_waker(w, &wake);
                        *ret = wake;
                        return true;
                }
                if (t.kernel)
                        memcpy(wake.thread, t.process.comm, sizeof wake.thread);
                if (is_resume(e, &t))
                        wake.process = w->resume.process;
                else if (!t.kernel)
                        wake.process = t.process;
        }

        *ret = wake;
        return true;
}

/* Handles a request to an active drive. */
static void feed_request(Watch *w, const Touch *t, Wake *ret) {
        Wake wake = {};

        w->bio = *t;
        find_waker(w, &wake);
        w->bio = (Touch){};
        /* Later writeback counts for the same process, until the next change of a file replaces `dirty`. */
        w->written = w->written || wake.kind == WAKE_FLUSH;
        *ret = wake;
}

bool watch_feed(Watch *w, const TraceEvent *e, ProcessLookup lookup, void *userdata, Wake *ret) {
        const WatchDevice device = { e->major, e->minor };
        bool disk, above;
        Touch t;

        if (e->kind == TRACE_COMMAND)
                return feed_command(w, e, lookup, userdata, ret);

        if (e->kind == TRACE_RESUME) {
                t = is_at(e, &w->drive) ? touch(w, e, lookup, userdata) : (Touch){ .kernel = true };
                if (!t.kernel)
                        w->resume = t;
                return false;
        }

        disk = watch_device_equal(w->drive.disk, device);
        above = !disk && above_index(&w->drive, device) >= 0;

        if (e->kind == TRACE_DIRTY && (disk || above) && (!w->dirty.is_set || w->dirty.kernel || w->written)) {
                t = touch(w, e, lookup, userdata);
                if (!w->dirty.is_set || !t.kernel) {
                        w->dirty = t;
                        w->written = false;
                }
        } else if (e->kind == TRACE_DIRTY && watch_device_equal(w->dirty.device, device) && e->inode == w->dirty.inode)
                /* A write to a file changes the inode before the content. */
                w->dirty.content = w->dirty.content || e->content;
        else if (e->kind == TRACE_BIO && (disk || above) && (!w->bio.is_set || w->bio.n_sectors == 0)) {
                t = touch(w, e, lookup, userdata);
                if (disk && w->counts) {
                        feed_request(w, &t, ret);
                        return true;
                }
                if (disk)
                        w->bio = t;
                else if (w->counts || !w->above.is_set || w->above.kernel || !t.kernel)
                        w->above = t;
        }

        return false;
}

void watch_reset(Watch *w) {
        w->bio = w->above = w->resume = w->dirty = (Touch){};
}
