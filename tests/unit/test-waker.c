/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The choice of the waker: from the events that are traced before a command reaches the drive to the process that is reported. */

#include <stdio.h>

#include "drive-command.h"
#include "suite.h"
#include "wake-count.h"
#include "waker.h"

/* Existing threads. All other threads have ended. */
static const struct {
        pid_t tid;
        WakeProcess process;
        bool kernel;
} threads[] = {
        { 10, { .pid = 10, .comm = "kworker/u4:2-fl" }, true },
        { 11, { .pid = 11, .comm = "kswapd0" }, true },
        { 12, { .pid = 12, .comm = "md0_raid1" }, true },
        { 13, { .pid = 13, .comm = "md0_resync" }, true },
        { 14, { .pid = 14, .comm = "jbd2/sdb1-8" }, true },
        { 15, { .pid = 15, .comm = "dmcrypt_write/2" }, true },
        { 16, { .pid = 16, .comm = "nfsd" }, true },
        { 17, { .pid = 17, .comm = "mdX_raid6" }, true },
        { 100, { 100, "dd", "backup.service", "dd if=/dev/sdb" }, false },
        { 101, { 100, "dd", "backup.service", "dd if=/dev/sdb" }, false }, /* a second thread of process 100 */
        { 102, { 102, "sh", "user@0.service", "sh" }, false },
        { 103, { 103, "kswapd0", "evil.service", "kswapd0" }, false },
        { 104, { 104, "md0_resync", "evil.service", "md0_resync" }, false },
        { 105, { .pid = 105, .unit = "quiet.service" }, false },
        { 200, { 200, "(udev-worker)", "systemd-udevd.service", "(udev-worker)" }, false },
        { 204, { 204, "(udev-synth)", "systemd-udevd.service", "(udev-synth)" }, false },
        { 201, { 201, "(udev-worker)", "evil.service", "(udev-worker)" }, false },
        { 202, { 202, "systemd-udevd", "systemd-udevd.service", "" }, false },
        { 203, { 203, "blkid", "systemd-udevd.service", "" }, false },
};

static unsigned n_lookups;

static int lookup(void *userdata, pid_t tid, WakeProcess *ret, bool *ret_kernel) {
        ck_assert_ptr_eq(userdata, &n_lookups);
        ck_assert_int_gt(tid, 0);
        n_lookups++;
        for (size_t i = 0; i < ELEMENTSOF(threads); i++)
                if (threads[i].tid == tid) {
                        *ret = threads[i].process;
                        *ret_kernel = threads[i].kernel;
                        return 0;
                }
        return -ESRCH;
}

static const Watch fresh = {
        .drive = { .disk = { 8, 16 },
                   .host = 2,
                   .id = 1,
                   .above = { { 9, 0 }, { 253, 0 }, { 253, 1 }, { WATCH_BTRFS, 3 } },
                   .n_above = 4 },
        .swap = { { 5000, 10 }, { 1000, 100 } },
        .n_swap = 2,
        .swap_above = { false, true, false },
};

#define DISK .major = 8, .minor = 16
#define MD0 .major = 9
#define MD1 .major = 9, .minor = 1
#define BTRFS .major = WATCH_BTRFS, .minor = 3
#define DM_SWAP .major = 253
#define DM_1 .major = 253, .minor = 1
#define OTHER .major = 8

#define BIO(tid, name, dev, writes, at) \
        { .kind = TRACE_BIO, .pid = tid, .comm = name, dev, .write = writes, .sector = at, .n_sectors = 8 }
#define BARRIER(tid, name, dev) \
        { .kind = TRACE_BIO, .pid = tid, .comm = name, dev, .write = true }
#define DIRTY(tid, name, dev, ino) \
        { .kind = TRACE_DIRTY, .pid = tid, .comm = name, dev, .inode = ino }
#define CONTENT(tid, name, dev, ino) \
        { .kind = TRACE_DIRTY, .pid = tid, .comm = name, dev, .inode = ino, .content = true }
#define COMMAND(tid, name, ...) \
        { .kind = TRACE_COMMAND, .pid = tid, .comm = name, .host = 2, .id = 1, .cdb = { __VA_ARGS__ }, .cdb_len = 10 }
#define READ_10(tid, name) COMMAND(tid, name, 0x28)
#define WRITE_10(tid, name) COMMAND(tid, name, 0x2a)
#define RESUME(tid, name) \
        { .kind = TRACE_RESUME, .pid = tid, .comm = name, .host = 2, .id = 1 }
#define START(tid, name) COMMAND(tid, name, 0x1b, 0, 0, 0, 1)
#define DISPATCH READ_10(10, "kworker/1:1H")
#define NOWHERE UINT64_MAX

static const struct {
        const char *rule;
        TraceEvent events[6]; /* the last event is the command that reaches the drive */
        struct {
                WakeKind kind;
                pid_t pid;
                const char *comm, *thread;
                uint64_t sector, inode;
                bool content;
        } wake;
} cases[] = {
        { "a process reads", { BIO(100, "dd", DISK, false, 2048), DISPATCH }, { WAKE_READ, 100, "dd", "", 2048, 0 } },
        { "a process writes, past the page cache",
          { BIO(100, "dd", DISK, true, 0), DISPATCH },
          { WAKE_WRITE, 100, "dd", "", 0, 0 } },
        { "fsync() of a change by another process",
          { DIRTY(102, "sh", DISK, 12), BARRIER(100, "dd", DISK), COMMAND(10, "", 0x35) },
          { WAKE_WRITE, 100, "dd", "", NOWHERE, 0 } },
        { "a thread of a process",
          { BIO(101, "tokio-worker", DISK, false, 8), DISPATCH },
          { WAKE_READ, 100, "dd", "", 8, 0 } },
        { "a process whose name is not in the event",
          { BIO(105, "known", DISK, false, 8), DISPATCH },
          { WAKE_READ, 105, "known", "", 8, 0 } },
        { "a process that has ended",
          { BIO(900, "cat", DISK, false, 8), DISPATCH },
          { WAKE_READ, 900, "cat", "", 8, 0 } },
        { "an ended process without a name",
          { BIO(900, "", DISK, false, 8), DISPATCH },
          { WAKE_READ, 900, "", "", 8, 0 } },
        { "an ended mdadm is not a kernel thread despite its name",
          { BIO(900, "mdadm", DISK, true, 8), DISPATCH },
          { WAKE_WRITE, 900, "mdadm", "", 8, 0 } },
        { "an ended xfs_repair is not a kernel thread",
          { BIO(900, "xfs_repair", DISK, true, 8), DISPATCH },
          { WAKE_WRITE, 900, "xfs_repair", "", 8, 0 } },
        { "the first request is the cause",
          { BIO(100, "dd", DISK, false, 8), BIO(102, "sh", DISK, true, 16), DISPATCH },
          { WAKE_READ, 100, "dd", "", 8, 0 } },
        { "requests to other drives are ignored",
          { BIO(100, "dd", OTHER, false, 8), BIO(102, "sh", DISK, false, 16), DISPATCH },
          { WAKE_READ, 102, "sh", "", 16, 0 } },

        { "udev",
          { BIO(200, "(udev-worker)", DISK, false, 0), DISPATCH },
          { WAKE_UDEV, 200, "(udev-worker)", "", 0, 0 } },
        { "udev before systemd 262",
          { BIO(202, "systemd-udevd", DISK, false, 0), DISPATCH },
          { WAKE_UDEV, 202, "systemd-udevd", "", 0, 0 } },
        { "an ended process of udev",
          { BIO(900, "(udev-worker)", DISK, false, 0), DISPATCH },
          { WAKE_UDEV, 900, "(udev-worker)", "", 0, 0 } },
        { "udev, after a close of a drive that was open for writing",
          { BIO(204, "(udev-synth)", DISK, false, 0), DISPATCH },
          { WAKE_UDEV, 204, "(udev-synth)", "", 0, 0 } },
        { "not udev: another unit",
          { BIO(201, "(udev-worker)", DISK, false, 0), DISPATCH },
          { WAKE_READ, 201, "(udev-worker)", "", 0, 0 } },
        { "not udev: another name",
          { BIO(203, "blkid", DISK, false, 0), DISPATCH },
          { WAKE_READ, 203, "blkid", "", 0, 0 } },
        { "udev reads the drive",
          { BIO(200, "(udev-worker)", DISK, true, 0), DISPATCH },
          { WAKE_WRITE, 200, "(udev-worker)", "", 0, 0 } },
        { "udev reads swap space",
          { BIO(200, "(udev-worker)", DISK, false, 1000), DISPATCH },
          { WAKE_UDEV, 200, "(udev-worker)", "", 1000, 0 } },
        { "udev reads a stacked device",
          { BIO(200, "(udev-worker)", DM_1, false, 0), BIO(10, "kworker/u4:2", DISK, false, 64), DISPATCH },
          { WAKE_UDEV, 200, "(udev-worker)", "kworker/u4:2", 64, 0 } },

        { "swap, first sector",
          { BIO(100, "dd", DISK, false, 1000), DISPATCH },
          { WAKE_SWAP, 100, "dd", "", 1000, 0 } },
        { "swap, second area", { BIO(100, "dd", DISK, false, 5009), DISPATCH }, { WAKE_SWAP, 100, "dd", "", 5009, 0 } },
        { "swap, last sector", { BIO(100, "dd", DISK, false, 1099), DISPATCH }, { WAKE_SWAP, 100, "dd", "", 1099, 0 } },
        { "before swap", { BIO(100, "dd", DISK, false, 999), DISPATCH }, { WAKE_READ, 100, "dd", "", 999, 0 } },
        { "after swap", { BIO(100, "dd", DISK, false, 1100), DISPATCH }, { WAKE_READ, 100, "dd", "", 1100, 0 } },
        { "swap on a stacked device, by a process",
          { BIO(100, "dd", DM_SWAP, false, 8), BIO(100, "dd", DISK, false, 64), DISPATCH },
          { WAKE_SWAP, 100, "dd", "", 64, 0 } },
        { "swap on a stacked device, by another process",
          { BIO(100, "dd", DM_SWAP, false, 8), BIO(102, "sh", DISK, false, 64), DISPATCH },
          { WAKE_READ, 102, "sh", "", 64, 0 } },
        { "swap on an encrypted stacked device",
          { BIO(100, "dd", DM_SWAP, false, 8), BIO(10, "kworker/u4:2", DISK, false, 64), DISPATCH },
          { WAKE_SWAP, 100, "dd", "kworker/u4:2", 64, 0 } },
        { "kswapd",
          { DIRTY(102, "sh", DISK, 12), BIO(11, "kswapd0", DISK, true, 1000), DISPATCH },
          { WAKE_SWAP, 0, "", "kswapd0", 1000, 0 } },
        { "kswapd after a request of a process",
          { BIO(100, "dd", MD0, true, 8), BIO(11, "kswapd0", DISK, true, 1000), DISPATCH },
          { WAKE_SWAP, 0, "", "kswapd0", 1000, 0 } },
        { "kswapd, encrypted swap",
          { DIRTY(102, "sh", DISK, 12), BIO(11, "kswapd0", DM_SWAP, true, 8),
            BIO(15, "dmcrypt_write/2", DISK, true, 64), WRITE_10(10, "") },
          { WAKE_SWAP, 0, "", "dmcrypt_write/2", 64, 0 } },
        { "another kernel thread writes to swap space, which is not a file",
          { DIRTY(102, "sh", DISK, 12), BIO(10, "kworker/u4:2", DISK, true, 1008), DISPATCH },
          { WAKE_SWAP, 0, "", "kworker/u4:2", 1008, 0 } },
        { "a flush has no sector", { BARRIER(100, "dd", DISK), DISPATCH }, { WAKE_WRITE, 100, "dd", "", NOWHERE, 0 } },
        { "a process named kswapd0",
          { BIO(103, "kswapd0", DISK, false, 8), DISPATCH },
          { WAKE_READ, 103, "kswapd0", "", 8, 0 } },

        { "a resync", { BIO(13, "md0_resync", DISK, false, 8), DISPATCH }, { WAKE_MD, 0, "", "md0_resync", 8, 0 } },
        { "a resync of an array that has swap space on this drive",
          { BIO(13, "md0_resync", DISK, false, 1000), DISPATCH },
          { WAKE_MD, 0, "", "md0_resync", 1000, 0 } },
        { "a resync while processes use the array",
          { DIRTY(102, "sh", MD0, 12), BIO(100, "dd", MD0, true, 0), BIO(13, "md0_resync", DISK, true, 8), DISPATCH },
          { WAKE_MD, 0, "", "md0_resync", 8, 0 } },
        { "a superblock written by md",
          { BIO(12, "md0_raid1", DISK, true, 8), DISPATCH },
          { WAKE_MD, 0, "", "md0_raid1", 8, 0 } },
        { "a superblock written by device-mapper",
          { BIO(17, "mdX_raid6", DISK, true, 8), DISPATCH },
          { WAKE_MD, 0, "", "mdX_raid6", 8, 0 } },
        { "an ended thread of md",
          { BIO(900, "md127_raid5", DISK, true, 8), DISPATCH },
          { WAKE_MD, 0, "", "md127_raid5", 8, 0 } },
        { "a superblock after a process has only read",
          { BIO(100, "dd", MD0, false, 0), BIO(12, "md0_raid1", DISK, true, 8), DISPATCH },
          { WAKE_MD, 0, "", "md0_raid1", 8, 0 } },
        { "a process writes to the array",
          { BIO(100, "dd", MD0, true, 0), BIO(12, "md0_raid1", DISK, true, 8), DISPATCH },
          { WAKE_WRITE, 100, "dd", "md0_raid1", 8, 0 } },
        { "a process reads from the array",
          { BIO(100, "dd", MD0, false, 0), BIO(12, "md0_raid1", DISK, false, 8), DISPATCH },
          { WAKE_READ, 100, "dd", "md0_raid1", 8, 0 } },
        { "a partial stripe write reads the other blocks first",
          { BIO(100, "dd", MD0, true, 0), BIO(12, "md0_raid1", DISK, false, 8), DISPATCH },
          { WAKE_READ, 100, "dd", "md0_raid1", 8, 0 } },
        { "a file on the array was changed",
          { DIRTY(102, "sh", MD0, 12), BIO(10, "kworker/u4:2", MD0, true, 0), BIO(12, "md0_raid1", DISK, true, 8),
            DISPATCH },
          { WAKE_FLUSH, 102, "sh", "md0_raid1", 8, 12 } },
        { "the array's thread reads after a change: the process is not known",
          { DIRTY(102, "sh", MD0, 12), BIO(12, "md0_raid1", DISK, false, 8), DISPATCH },
          { WAKE_READ, 0, "", "md0_raid1", 8, 0 } },
        { "a process named md0_resync",
          { BIO(104, "md0_resync", DISK, true, 8), DISPATCH },
          { WAKE_WRITE, 104, "md0_resync", "", 8, 0 } },

        { "encrypted, read",
          { BIO(100, "dd", DM_1, false, 0), BIO(10, "kworker/u4:2", DISK, false, 64), DISPATCH },
          { WAKE_READ, 100, "dd", "kworker/u4:2", 64, 0 } },
        { "encrypted, written",
          { BIO(102, "sh", DM_1, true, 0), BIO(15, "dmcrypt_write/2", DISK, true, 64), DISPATCH },
          { WAKE_WRITE, 102, "sh", "dmcrypt_write/2", 64, 0 } },
        { "the latest request to a stacked device is the cause",
          { BIO(100, "dd", DM_1, false, 0), BIO(102, "sh", MD0, false, 0), BIO(10, "kworker/u4:2", DISK, false, 64),
            DISPATCH },
          { WAKE_READ, 102, "sh", "kworker/u4:2", 64, 0 } },
        { "a process's request takes precedence over a later one of a kernel thread",
          { BIO(100, "dd", DM_1, true, 0), BIO(14, "jbd2/sdb1-8", DM_1, true, 0),
            BIO(15, "dmcrypt_write/2", DISK, true, 64), DISPATCH },
          { WAKE_WRITE, 100, "dd", "dmcrypt_write/2", 64, 0 } },
        { "a later request of a process takes precedence over one of a kernel thread",
          { BIO(14, "jbd2/sdb1-8", DM_1, true, 0), BIO(100, "dd", DM_1, true, 0),
            BIO(15, "dmcrypt_write/2", DISK, true, 64), DISPATCH },
          { WAKE_WRITE, 100, "dd", "dmcrypt_write/2", 64, 0 } },
        { "a request to a stacked device after the drive's request is not the cause",
          { BIO(10, "kworker/u4:2", DISK, false, 64), BIO(100, "dd", DM_1, false, 0), DISPATCH },
          { WAKE_READ, 0, "", "kworker/u4:2", 64, 0 } },
        { "only a request to a stacked device is known",
          { BIO(100, "dd", DM_1, false, 7), DISPATCH },
          { WAKE_READ, 100, "dd", "", NOWHERE, 0 } },
        { "only a request to a stacked device is known, by a kernel thread",
          { DIRTY(102, "sh", DM_1, 12), BIO(10, "kworker/u4:2", DM_1, true, 7), DISPATCH },
          { WAKE_FLUSH, 102, "sh", "kworker/u4:2", NOWHERE, 12 } },

        { "writeback of a change",
          { DIRTY(102, "sh", DISK, 12), BIO(10, "kworker/u4:2", DISK, true, 8), WRITE_10(10, "") },
          { WAKE_FLUSH, 102, "sh", "kworker/u4:2", 8, 12 } },
        { "writeback of a change of inode and content",
          { DIRTY(102, "sh", DISK, 12), CONTENT(102, "sh", DISK, 12), BIO(10, "kworker/u4:2", DISK, true, 8),
            WRITE_10(10, "") },
          { WAKE_FLUSH, 102, "sh", "kworker/u4:2", 8, 12, true } },
        { "writeback of a change of the content alone",
          { CONTENT(102, "sh", DISK, 12), DIRTY(102, "sh", DISK, 12), BIO(10, "kworker/u4:2", DISK, true, 8),
            WRITE_10(10, "") },
          { WAKE_FLUSH, 102, "sh", "kworker/u4:2", 8, 12, true } },
        { "the content of another file changed",
          { DIRTY(102, "sh", DISK, 12), CONTENT(100, "dd", DISK, 13), CONTENT(100, "dd", BTRFS, 12),
            BIO(10, "kworker/u4:2", DISK, true, 8), WRITE_10(10, "") },
          { WAKE_FLUSH, 102, "sh", "kworker/u4:2", 8, 12 } },
        { "the first change is the cause",
          { DIRTY(102, "sh", DISK, 12), DIRTY(100, "dd", DISK, 13), BIO(10, "kworker/u4:2", DISK, true, 8), DISPATCH },
          { WAKE_FLUSH, 102, "sh", "kworker/u4:2", 8, 12 } },
        { "a process's change takes precedence over a kernel thread's",
          { DIRTY(16, "nfsd", DISK, 11), DIRTY(16, "nfsd", DISK, 12), DIRTY(100, "dd", DISK, 13),
            BIO(10, "kworker/u4:2", DISK, true, 8), DISPATCH },
          { WAKE_FLUSH, 100, "dd", "kworker/u4:2", 8, 13 } },
        { "only a kernel thread changed a file",
          { DIRTY(16, "nfsd", DISK, 12), BIO(10, "kworker/u4:2", DISK, true, 8), DISPATCH },
          { WAKE_FLUSH, 0, "", "kworker/u4:2", 8, 0 } },
        { "the process that changed the file has ended",
          { DIRTY(900, "cp", DISK, 12), BIO(10, "kworker/u4:2", DISK, true, 8), DISPATCH },
          { WAKE_FLUSH, 900, "cp", "kworker/u4:2", 8, 12 } },
        { "file system metadata has no inode number in the report",
          { DIRTY(102, "sh", DISK, (8 << 20) + 17), BIO(10, "kworker/u4:2", DISK, true, 8), DISPATCH },
          { WAKE_FLUSH, 102, "sh", "kworker/u4:2", 8, 0 } },
        { "metadata on the 17th partition",
          { DIRTY(102, "sh", DISK, (259 << 20) + 3), BIO(10, "kworker/u4:2", DISK, true, 8), DISPATCH },
          { WAKE_FLUSH, 102, "sh", "kworker/u4:2", 8, 0 } },
        { "a file on btrfs",
          { DIRTY(102, "sh", BTRFS, 257), BIO(10, "kworker/u4:2", DISK, true, 8), DISPATCH },
          { WAKE_FLUSH, 102, "sh", "kworker/u4:2", 8, 257 } },
        { "metadata of btrfs",
          { DIRTY(102, "sh", BTRFS, 1), BIO(900, "btrfs-transacti", DISK, true, 8), DISPATCH },
          { WAKE_FLUSH, 102, "sh", "btrfs-transacti", 8, 0 } },
        { "another btrfs",
          { DIRTY(102, "sh", .minor = 4, 257), BIO(10, "kworker/u4:2", DISK, true, 8), DISPATCH },
          { WAKE_FLUSH, 0, "", "kworker/u4:2", 8, 0 } },
        { "a change on another device is ignored",
          { DIRTY(102, "sh", OTHER, 12), BIO(10, "kworker/u4:2", DISK, true, 8), DISPATCH },
          { WAKE_FLUSH, 0, "", "kworker/u4:2", 8, 0 } },
        { "writeback without a known change",
          { BARRIER(14, "jbd2/sdb1-8", DISK), COMMAND(10, "", 0x91) },
          { WAKE_FLUSH, 0, "", "jbd2/sdb1-8", NOWHERE, 0 } },
        { "a read is not writeback",
          { DIRTY(102, "sh", DISK, 12), BIO(10, "kworker/u4:2", DISK, false, 8), DISPATCH },
          { WAKE_READ, 0, "", "kworker/u4:2", 8, 0 } },
        { "an ended kworker",
          { DIRTY(102, "sh", DISK, 12), BIO(900, "kworker/u8:1", DISK, true, 8), DISPATCH },
          { WAKE_FLUSH, 102, "sh", "kworker/u8:1", 8, 12 } },
        { "a kernel thread whose name is not in the event",
          { BIO(14, "", DISK, true, 8), DISPATCH },
          { WAKE_FLUSH, 0, "", "jbd2/sdb1-8", 8, 0 } },

        { "no process is reported in an interrupt",
          { BIO(0, "", DISK, false, 8), DISPATCH },
          { WAKE_READ, 0, "", "", 8, 0 } },
        { "an interrupt after a write to a stacked device",
          { BIO(100, "dd", MD0, true, 0), BIO(0, "", DISK, true, 8), DISPATCH },
          { WAKE_WRITE, 100, "dd", "", 8, 0 } },
        { "an interrupt after a change of a file",
          { DIRTY(102, "sh", DISK, 12), BIO(0, "", DISK, true, 8), DISPATCH },
          { WAKE_FLUSH, 102, "sh", "", 8, 12 } },

        { "a command of a program",
          { BIO(102, "sh", DISK, false, 8), COMMAND(100, "dd", 0x4d) },
          { WAKE_COMMAND, 100, "dd", "", NOWHERE, 0 } },
        { "SMART by ATA PASS-THROUGH",
          { BIO(102, "sh", DISK, false, 8), COMMAND(900, "smartctl", 0x85, 8, 0, 0, 0xd0) },
          { WAKE_COMMAND, 900, "smartctl", "", NOWHERE, 0 } },
        { "a command of a kernel thread",
          { DIRTY(102, "sh", DISK, 12), COMMAND(10, "kworker/0:1", 0x1b, 0, 0, 0, 1) },
          { WAKE_COMMAND, 0, "", "kworker/0:1", NOWHERE, 0 } },
        /* The kernel had suspended the drive, and resumes it for a process. */
        { "resumed for a process that reads",
          { BIO(100, "dd", DISK, false, 2048), RESUME(100, "dd"), START(10, "kworker/0:1") },
          { WAKE_READ, 100, "dd", "", 2048, 0 } },
        { "resumed for writeback",
          { DIRTY(102, "sh", DISK, 12), BIO(10, "kworker/u4:2", DISK, true, 8), RESUME(10, "kworker/u4:2"),
            START(10, "kworker/0:1") },
          { WAKE_FLUSH, 102, "sh", "kworker/u4:2", 8, 12 } },
        { "resumed for a stacked device",
          { BIO(100, "dd", MD0, false, 0), BIO(12, "md0_raid1", DISK, false, 8), START(10, "kworker/0:1") },
          { WAKE_READ, 100, "dd", "md0_raid1", 8, 0 } },
        { "resumed for a command",
          { RESUME(100, "dd"), RESUME(10, "kworker/0:1"), START(10, "kworker/0:1") },
          { WAKE_COMMAND, 100, "dd", "kworker/0:1", NOWHERE, 0 } },
        { "the last process before the resume",
          { RESUME(102, "sh"), RESUME(900, "smartctl"), START(10, "kworker/0:1") },
          { WAKE_COMMAND, 900, "smartctl", "kworker/0:1", NOWHERE, 0 } },
        { "resumed by the kernel alone",
          { RESUME(10, "kworker/0:1"), START(10, "kworker/0:1") },
          { WAKE_COMMAND, 0, "", "kworker/0:1", NOWHERE, 0 } },
        { "resumed by a process itself",
          { RESUME(102, "sh"), START(100, "dd") },
          { WAKE_COMMAND, 100, "dd", "", NOWHERE, 0 } },
        { "resumed in an interrupt: no process is reported",
          { RESUME(102, "sh"), START(0, "") },
          { WAKE_COMMAND, 0, "", "", NOWHERE, 0 } },
        { "another command of the kernel",
          { RESUME(102, "sh"), COMMAND(10, "kworker/0:1", 0x85) },
          { WAKE_COMMAND, 0, "", "kworker/0:1", NOWHERE, 0 } },
        { "another drive was resumed",
          { { .kind = TRACE_RESUME, .pid = 100, .comm = "dd", .host = 3, .id = 1 }, START(10, "kworker/0:1") },
          { WAKE_COMMAND, 0, "", "kworker/0:1", NOWHERE, 0 } },
        { "a read without a request",
          { DIRTY(102, "sh", DISK, 12), READ_10(100, "sg_dd") },
          { WAKE_COMMAND, 100, "dd", "", NOWHERE, 0 } },
        { "a command in an interrupt", { READ_10(0, "") }, { WAKE_COMMAND, 0, "", "", NOWHERE, 0 } },
};

START_TEST(test_waker) {
        const TraceEvent *e = cases[_i].events;
        Watch w = fresh;
        Wake wake;

        memset(&wake, 0xaa, sizeof wake);
        for (; e->kind != TRACE_COMMAND; e++)
                ck_assert(!watch_feed(&w, e, lookup, &n_lookups, &wake));
        ck_assert(watch_feed(&w, e, lookup, &n_lookups, &wake));

        ck_assert_msg(wake.kind == cases[_i].wake.kind, "%s: %s", cases[_i].rule, wake_kind_to_string(wake.kind));
        ck_assert_msg(wake.process.pid == cases[_i].wake.pid, "%s: PID %d", cases[_i].rule, (int) wake.process.pid);
        ck_assert_str_eq(wake.process.comm, cases[_i].wake.comm);
        ck_assert_str_eq(wake.thread, cases[_i].wake.thread);
        ck_assert_int_eq(wake.has_sector, cases[_i].wake.sector != NOWHERE);
        if (wake.has_sector)
                ck_assert_uint_eq(wake.sector, cases[_i].wake.sector);
        ck_assert_uint_eq(wake.inode, cases[_i].wake.inode);
        ck_assert_int_eq(wake.content, cases[_i].wake.content);
        ck_assert_uint_eq(wake.cdb_len, e->cdb_len);
        ck_assert_mem_eq(wake.cdb, e->cdb, sizeof wake.cdb);

        /* The report has no unit and no command line if the process has ended, or if there is no process. */
        if (wake.process.pid == 0 || wake.process.pid == 900)
                ck_assert(!wake.process.unit[0] && !wake.process.command_line[0]);
        else
                ck_assert(wake.process.unit[0]);

        /* watch_reset() forgets the events, but not the drive. */
        watch_reset(&w);
        ck_assert_mem_eq(&w.drive, &fresh.drive, sizeof w.drive);
        ck_assert(watch_feed(&w, &(TraceEvent) READ_10(100, "dd"), lookup, &n_lookups, &wake));
        ck_assert_int_eq(wake.kind, WAKE_COMMAND);
        ck_assert(!wake.has_sector);
}
END_TEST

/* Events that report no waker: commands that wake no drive, and events of other drives. */
static const TraceEvent silent[] = {
        COMMAND(100, "hdparm", 0x00),
        COMMAND(100, "hdparm", 0x03),
        COMMAND(100, "hdparm", 0x12),
        COMMAND(100, "hdparm", 0x1b, 0, 0, 0, 0),
        { .kind = TRACE_COMMAND, .pid = 100, .host = 2, .id = 1, .cdb = { [0] = 0x85, [14] = 0xe5 }, .cdb_len = 16 },
        { .kind = TRACE_COMMAND, .pid = 100, .host = 3, .id = 1, .cdb = { 0x28 }, .cdb_len = 10 },
        { .kind = TRACE_COMMAND, .pid = 100, .host = 2, .id = 0, .cdb = { 0x28 }, .cdb_len = 10 },
        { .kind = TRACE_COMMAND, .pid = 100, .host = 2, .id = 1, .channel = 1, .cdb = { 0x28 }, .cdb_len = 10 },
        { .kind = TRACE_COMMAND, .pid = 100, .host = 2, .id = 1, .lun = 1, .cdb = { 0x28 }, .cdb_len = 10 },
        BIO(100, "dd", OTHER, false, 8),
        BIO(100, "dd", MD1, false, 8),
        DIRTY(100, "dd", OTHER, 12),
        { .kind = _TRACE_KIND_MAX, .pid = 100, .major = 8, .minor = 16 },
};

START_TEST(test_silent) {
        Watch w = fresh;
        Wake wake = { .inode = 99 };

        n_lookups = 0;
        ck_assert(!watch_feed(&w, &silent[_i], lookup, &n_lookups, &wake));
        ck_assert(!w.bio.is_set && !w.above.is_set && !w.dirty.is_set);
        ck_assert_uint_eq(n_lookups, 0);
        ck_assert_uint_eq(wake.inode, 99);
}
END_TEST

/* When an event arrives, its process is looked up if the event is kept. An event that is not kept causes no lookup. */
START_TEST(test_lookups) {
        static const struct {
                TraceEvent event;
                unsigned n;
        } steps[] = {
                { DIRTY(102, "sh", DISK, 12), 1 },           { DIRTY(102, "sh", DISK, 13), 1 },
                { BIO(100, "dd", MD0, false, 0), 2 },        { BIO(102, "sh", MD0, false, 0), 3 },
                { BIO(12, "md0_raid1", DISK, false, 0), 4 }, { BIO(12, "md0_raid1", DISK, false, 8), 4 },
                { BIO(102, "sh", MD0, false, 8), 4 },        { DISPATCH, 4 },
        };
        Watch w = fresh;
        Wake wake;

        n_lookups = 0;
        for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
                watch_feed(&w, &steps[i].event, lookup, &n_lookups, &wake);
                ck_assert_uint_eq(n_lookups, steps[i].n);
        }
}
END_TEST

/* Kernel threads that change files again and again are looked up once each, also by turns. */
START_TEST(test_kernel_lookups) {
        static const TraceEvent turns[] = {
                DIRTY(10, "kworker/u4:2", DISK, 12),
                DIRTY(14, "jbd2/sdb1-8", DISK, 13),
                DIRTY(16, "nfsd", DISK, 14),
        };
        Watch w = fresh;
        Wake wake;

        n_lookups = 0;
        for (size_t i = 0; i < 100 * ELEMENTSOF(turns); i++)
                watch_feed(&w, turns + i % ELEMENTSOF(turns), lookup, &n_lookups, &wake);
        ck_assert_uint_eq(n_lookups, ELEMENTSOF(turns));
        ck_assert(w.dirty.kernel);

        /* Another name or no name: the number may now be that of another thread. */
        watch_feed(&w, &(TraceEvent) DIRTY(14, "jbd2/sda1-8", DISK, 13), lookup, &n_lookups, &wake);
        watch_feed(&w, &(TraceEvent) DIRTY(14, "", DISK, 13), lookup, &n_lookups, &wake);
        ck_assert_uint_eq(n_lookups, ELEMENTSOF(turns) + 2);

        /* Many threads take turns: the last ones are remembered, and each event still has the right thread. */
        for (pid_t tid = 10; tid <= 17; tid++) {
                TraceEvent e = DIRTY(tid, "", DISK, 12);

                (void) snprintf(e.comm, sizeof e.comm, "kworker/%d:0", tid);
                watch_feed(&w, &e, lookup, &n_lookups, &wake);
        }
        ck_assert_uint_eq(n_lookups, ELEMENTSOF(turns) + 10);

        /* A process replaces the kernel thread. After the write of the change, a remembered thread is not looked up again. */
        watch_feed(&w, &(TraceEvent) DIRTY(102, "sh", DISK, 15), lookup, &n_lookups, &wake);
        ck_assert(!w.dirty.kernel);
        ck_assert_uint_eq(w.dirty.inode, 15);
        ck_assert_uint_eq(n_lookups, ELEMENTSOF(turns) + 11);
        w.written = true;
        for (unsigned i = 0; i < 100; i++)
                watch_feed(&w, &(TraceEvent) DIRTY(17, "kworker/17:0", DISK, 16), lookup, &n_lookups, &wake);
        ck_assert_uint_eq(n_lookups, ELEMENTSOF(turns) + 11);
        ck_assert_uint_eq(w.dirty.inode, 15);
}
END_TEST

/* ---- active drives ---- */

#define SMART(tid, name)                                                             \
        {                                                                            \
                .kind = TRACE_COMMAND, .pid = tid, .comm = name, .host = 2, .id = 1, \
                .cdb = { 0x85, [4] = 0xd0, [14] = 0xb0 }, .cdb_len = 16              \
        }
#define IDENTIFY(tid, name)                                                                                        \
        {                                                                                                          \
                .kind = TRACE_COMMAND, .pid = tid, .comm = name, .host = 2, .id = 1, .cdb = { 0x85, [14] = 0xec }, \
                .cdb_len = 16                                                                                      \
        }
#define CHECK_POWER(tid, name)                                                                                     \
        {                                                                                                          \
                .kind = TRACE_COMMAND, .pid = tid, .comm = name, .host = 2, .id = 1, .cdb = { 0x85, [14] = 0xe5 }, \
                .cdb_len = 16                                                                                      \
        }

static const struct {
        const char *rule;
        TraceEvent events[8];
        const char *counts; /* "KIND PROCESS THREAD INODE NAME OF THE COMMAND;" for each program */
} counted[] = {
        { "two requests before the first command",
          { BIO(100, "dd", DISK, false, 8), BIO(102, "sh", DISK, true, 8), DISPATCH, DISPATCH },
          "read dd - 0 a command; write sh - 0 a command; " },
        { "commands of a program, but not CHECK POWER MODE",
          { IDENTIFY(100, "dd"), SMART(100, "dd"), CHECK_POWER(102, "sh") },
          "command dd - 0 SMART READ DATA; " },
        { "a change of a file, and the requests that write the change",
          { DIRTY(102, "sh", DISK, 12), BIO(14, "jbd2/sdb1-8", DISK, true, 8),
            BIO(10, "kworker/u4:2", DISK, true, 16) },
          "flush sh jbd2/sdb1-8 12 a command; " },
        { "a change by another process, after the first change was written",
          { DIRTY(102, "sh", DISK, 12), BIO(14, "jbd2/sdb1-8", DISK, true, 8), CONTENT(100, "dd", DISK, 13),
            BIO(14, "jbd2/sdb1-8", DISK, true, 8) },
          "flush sh jbd2/sdb1-8 12 a command; flush dd jbd2/sdb1-8 13 a command; " },
        { "two files of one process",
          { DIRTY(102, "sh", DISK, 12), BIO(14, "jbd2/sdb1-8", DISK, true, 8), DIRTY(102, "sh", DISK, 13),
            BIO(14, "jbd2/sdb1-8", DISK, true, 8) },
          "flush sh jbd2/sdb1-8 0 a command; " },
        { "a program whose process has ended counts as the program of the same name",
          { BIO(901, "dd", DISK, false, 8), BIO(100, "dd", DISK, false, 8), BIO(900, "dd", DISK, false, 8),
            BIO(900, "cat", DISK, false, 8) },
          "read dd - 0 a command; read cat - 0 a command; " },
        { "kernel workers count as one",
          { BIO(10, "kworker/u4:2-fl", DISK, true, 8), BIO(900, "kworker/u4:9", DISK, true, 8) },
          "flush - kworker 0 a command; " },
        { "requests to a stacked device",
          { BIO(100, "dd", MD0, true, 0), BIO(12, "md0_raid1", DISK, true, 0), BIO(102, "sh", MD0, true, 0),
            BIO(12, "md0_raid1", DISK, true, 0) },
          "write dd md0_raid1 0 a command; write sh md0_raid1 0 a command; " },
        { "swap space", { BIO(11, "kswapd0", DISK, true, 1000) }, "swap - kswapd0 0 a command; " },
        { "other drives",
          { BIO(100, "dd", OTHER, false, 8), { .kind = TRACE_COMMAND, .host = 3, .cdb = { 0x85 }, .cdb_len = 16 } },
          "" },
};

START_TEST(test_counted) {
        WakeCounts counts = {};
        Watch w = fresh;
        char text[512] = "", name[COMMAND_NAME_MAX];

        w.counts = &counts;
        for (const TraceEvent *e = counted[_i].events; e->pid > 0 || e->cdb_len > 0; e++) {
                Wake wake;

                if (watch_feed(&w, e, lookup, &n_lookups, &wake))
                        wake_counts_add(&counts, &wake, 0);
        }
        for (const WakeCount *c = counts.items; c < counts.items + counts.n_items; c++) {
                size_t n = strlen(text);

                ck_assert_int_eq(c->wake.process.pid, 0);
                if (streq(c->wake.process.comm, "dd"))
                        ck_assert_str_eq(c->wake.process.unit, "backup.service");
                ck_assert(!c->wake.has_sector);
                (void) snprintf(text + n, sizeof text - n, "%s %s %s %u %s; ", wake_kind_to_string(c->wake.kind),
                                c->wake.process.comm[0] ? c->wake.process.comm : "-",
                                c->wake.thread[0] ? c->wake.thread : "-", (unsigned) c->wake.inode,
                                command_name(c->wake.cdb, c->wake.cdb_len, name));
        }
        ck_assert_msg(streq(text, counted[_i].counts), "%s: %s", counted[_i].rule, text);
}
END_TEST

/* Commands in a row count as one use. Each program is counted, however many there are, if it uses the drive often. */
START_TEST(test_times) {
        WakeCounts counts = {};
        Wake often = { .kind = WAKE_COMMAND, .process.comm = "often" }, seldom = { .kind = WAKE_READ };

        for (unsigned i = 0; i < 60; i++) {
                for (unsigned k = 0; k < 5; k++)
                        wake_counts_add(&counts, &often, i * 15000000ULL + k * 399999);
                (void) snprintf(seldom.process.comm, sizeof seldom.process.comm, "seldom%u", i);
                wake_counts_add(&counts, &seldom, i * 15000000ULL);
        }
        wake_counts_sort(&counts);
        ck_assert_uint_eq(counts.n_items, WAKE_COUNTS_MAX);
        ck_assert_str_eq(counts.items[0].wake.process.comm, "often");
        ck_assert_uint_eq(counts.items[0].times, 60);
        ck_assert_uint_eq(counts.items[1].times, 1);
        ck_assert_uint_eq(counts.n_commands, 360);
        ck_assert(!wake_counts_full(&counts));

        /* A program that always uses the drive counts every two seconds. */
        counts = (WakeCounts){};
        for (unsigned i = 0; i < WAKE_COUNT_COMMANDS_MAX; i++) {
                ck_assert(!wake_counts_full(&counts));
                wake_counts_add(&counts, &often, i * 10000ULL);
        }
        ck_assert_uint_eq(counts.items[0].times, 5);
        ck_assert(wake_counts_full(&counts));
}
END_TEST

/* The clocks of two processors differ by some microseconds, so a later command can have an earlier time. */
START_TEST(test_clock_runs_back) {
        static const uint64_t usec[] = { 5000000, 4999990, 5000010, 4999995, 9000000, 8999000, 20000000 };
        static const unsigned times[] = { 1, 1, 1, 1, 2, 2, 3 };
        Wake w = { .kind = WAKE_COMMAND, .process.comm = "smartctl" };
        WakeCounts counts = {};

        for (size_t i = 0; i < ELEMENTSOF(usec); i++) {
                wake_counts_add(&counts, &w, usec[i]);
                ck_assert_uint_eq(counts.items[0].times, times[i]);
        }
}
END_TEST

/* The report includes the unit and command line of an existing process. */
START_TEST(test_whole_process) {
        Watch w = fresh;
        Wake wake;

        ck_assert(!watch_feed(&w, &(TraceEvent) BIO(101, "worker", DISK, false, 8), lookup, &n_lookups, &wake));
        ck_assert(watch_feed(&w, &(TraceEvent) DISPATCH, lookup, &n_lookups, &wake));
        ck_assert_str_eq(wake.process.unit, "backup.service");
        ck_assert_str_eq(wake.process.command_line, "dd if=/dev/sdb");
}
END_TEST

int main(void) {
        Suite *s = suite_create("waker");
        TCase *t = tcase_create("waker");

        tcase_add_loop_test(t, test_waker, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_counted, 0, ELEMENTSOF(counted));
        tcase_add_test(t, test_times);
        tcase_add_test(t, test_clock_runs_back);
        tcase_add_loop_test(t, test_silent, 0, ELEMENTSOF(silent));
        tcase_add_test(t, test_lookups);
        tcase_add_test(t, test_kernel_lookups);
        tcase_add_test(t, test_whole_process);
        suite_add_tcase(s, t);
        return suite_run(s);
}
