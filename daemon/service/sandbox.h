/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The sandbox that a process enters by itself, in addition to the sandbox of its unit. A worker enters the sandbox
 * before it opens its drive. The proxy and the tracer enter their sandboxes before they read a message. On a kernel
 * without Landlock (before 5.13), only the unit's sandbox limits access to files. The service then logs a warning. */

#include <linux/filter.h>

#include "macro.h"

/* Prepares the system call filters of workers and proxies, once for all children of this process. */
int sandbox_prepare(void);

/* Enters the sandbox of a worker. The process can read `node`, the nodes of `partitions` (kernel names;
 * NULL-terminated, or NULL), /sys and /proc, and can use the ioctl()s of drives. It can write below the directory that
 * sandbox_own() finds in the disk's `syspath`, below the NVMe controllers that this directory links to, and below the
 * disk's link "bdi". If `syspath` is "", the process can write nothing. It cannot start a process or program, connect to
 * a socket, or signal a process. */
int sandbox_worker(const char *node, char *const *partitions, const char *syspath);

/* Enters the sandbox of the proxy. The process has no capabilities, and cannot open a file, start a process, or signal a process. It can
 * connect to sockets. */
int sandbox_proxy(void);

/* Enters the sandbox of the tracer. The process can read /proc and those parts of /sys that describe drives. It can
 * read and write this instance of tracefs. It cannot connect to a socket, start a process, or signal a process. */
int sandbox_tracer(const char *instance);

/* Returns true if the kernel lacks Landlock, or if Landlock is disabled (lsm= on the kernel command line). In that
 * case, only the unit's sandbox limits which drives and files a worker can open. The other limits of the sandbox still
 * apply. */
bool sandbox_lacks_landlock(void);

/* Returns the length of the prefix of `syspath` that ends at the drive's ATA port, NVMe controller or NVMe subsystem.
 * For other drives, the prefix ends at the parent directory of "block". Exported for tests. */
size_t sandbox_own(const char *syspath);

/* ---- system calls ---- */

/* The system calls that each process may make: seccomp filters from one table. fcntl() and ioctl() are allowed command by command, since
 * fcntl() can make the kernel signal any process, and ioctl() can write to a drive. All other calls fail with EPERM. */
typedef enum CallUser {
        CALLS_WORKER,
        CALLS_PROXY,
        CALLS_TRACER,
        _CALL_USER_MAX,
} CallUser;

/* Creates the filter in the kernel's format for an architecture (SCMP_ARCH_NATIVE: the architecture of this machine).
 * The caller frees the instructions. Exported for tests. */
int call_filter_make(uint32_t architecture, CallUser user, struct sock_fprog *ret);
