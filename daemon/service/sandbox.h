/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The sandbox that a process closes around itself: a worker before it opens its drive, the proxy and the tracer before they read a message.
 * Their units have sandboxes, too. On a kernel without Landlock (before 5.13) only the unit's limits access to files, and the service logs
 * that once. */

#include <linux/filter.h>

#include "macro.h"

/* Prepares what workers and proxies have in common, once for all children of this process. */
int sandbox_prepare(void);

/* From now on it can open this node, those of the partitions (kernel names; the list ends with NULL, or is NULL) and what is below /sys
 * and /proc for reading. For writing: files below sandbox_own() of the disk's `syspath`, below the NVMe controllers linked there, and below
 * the disk's link "bdi"; with "" none. No new process, program, connection or signal, and of ioctl() only the drives' own. */
int sandbox_worker(const char *node, char *const *partitions, const char *syspath);

/* From now on this process has no capability, can open no file, start no process and signal none; it can connect to sockets. */
int sandbox_proxy(void);

/* From now on this process can read /proc, the drives' part of /sys and this instance of tracefs, and write to the instance; it can make no
 * connection, start no process and signal none. */
int sandbox_tracer(const char *instance);

/* Does this kernel have no Landlock, or has it been switched off (lsm= on its command line)? Then a worker can open other drives and
 * files than its own, as far as its unit lets it; all else holds. */
bool sandbox_lacks_landlock(void);

/* The directory in sysfs of what the drive hangs on by itself: its port, host or controller. `syspath` is the disk's; returns
 * the length of the path. Exported for tests. */
size_t sandbox_own(const char *syspath);

/* ---- system calls ---- */

/* The system calls that workers, the proxy and the tracer may make: seccomp filters, made from one table. A call with many commands is
 * allowed command by command, since fcntl() can have the kernel signal any process, and ioctl() can write to a drive. All other calls fail
 * with EPERM. */
typedef enum CallUser {
        CALLS_WORKER,
        CALLS_PROXY,
        CALLS_TRACER,
        _CALL_USER_MAX,
} CallUser;

/* The filter as the kernel takes it, for an architecture (SCMP_ARCH_NATIVE: this one). The caller frees its instructions. Exported for
 * tests. */
int call_filter_make(uint32_t architecture, CallUser user, struct sock_fprog *ret);
