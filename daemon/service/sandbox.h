/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The sandbox that a process closes around itself: a worker before it opens its drive, the proxy and the tracer before they read a message.
 * Their units have sandboxes, too. On a kernel without Landlock (before 5.13) only the unit's limits access to files, and the service logs
 * that once. */

#include <linux/filter.h>

#include "macro.h"

/* Makes the filters of workers and proxies, once for all children of this process. */
int sandbox_prepare(void);

/* From now on this process can read this node, the nodes of the partitions (kernel names; a list that ends with NULL, or NULL), /sys and
 * /proc. It can write below sandbox_own() of the disk's `syspath`, below the NVMe controllers linked there, and below the disk's link "bdi";
 * nothing with `syspath` "". It can start no process or program, connect to nothing, signal no process, and use the ioctl()s of drives. */
int sandbox_worker(const char *node, char *const *partitions, const char *syspath);

/* From now on this process has no capabilities, opens no file, starts no process and signals none; it can connect to sockets. */
int sandbox_proxy(void);

/* From now on this process can read /proc and the drives' part of /sys, and read and write this instance of tracefs. It connects to nothing,
 * starts no process and signals none. */
int sandbox_tracer(const char *instance);

/* Does the kernel lack Landlock, or is it off (lsm= on the command line)? Then only the unit limits which drives and files a worker opens. All
 * other limits hold. */
bool sandbox_lacks_landlock(void);

/* The directory in sysfs of the port, host or controller that has this drive alone, as a length of the disk's `syspath`. Exported for
 * tests. */
size_t sandbox_own(const char *syspath);

/* ---- system calls ---- */

/* Which system calls each process may make: seccomp filters from one table. fcntl() and ioctl() are allowed command by command, since fcntl()
 * can have the kernel signal any process, and ioctl() can write to a drive. All other calls fail with EPERM. */
typedef enum CallUser {
        CALLS_WORKER,
        CALLS_PROXY,
        CALLS_TRACER,
        _CALL_USER_MAX,
} CallUser;

/* The filter as the kernel takes it, for an architecture (SCMP_ARCH_NATIVE: this one). The caller frees its instructions. Exported for
 * tests. */
int call_filter_make(uint32_t architecture, CallUser user, struct sock_fprog *ret);
