/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a worker gives up before it looks at its drive, an asker and the tracer before they read a message. Their unit's sandbox holds them all; this
 * one is of each alone. Where a kernel has no Landlock (before 5.13), the unit's is what there is for files, and the service says so once. */

#include "macro.h"

/* Makes what all workers and askers need alike, for the process that makes them: one of another process does that itself. */
int sandbox_prepare(void);

/* From now on it can open this node, those of the partitions (kernel names; the list ends with NULL, or is NULL) and what is below /sys
 * and /proc for reading, and what is below `own` (in sysfs), or below the NVMe controllers that it has links to, for writing; no new
 * process, program, connection or signal, and of ioctl() only the drives' own. */
int sandbox_worker(const char *node, char *const *partitions, const char *own);

/* From now on this process has no capability, can open no file, start no process and signal none; it can connect to sockets. */
int sandbox_asker(void);

/* From now on this process can read what processes, drives and this instance of tracefs tell, and write to the instance; it can make no
 * connection, start no process and signal none. */
int sandbox_tracer(const char *instance);

/* Does this kernel have no Landlock, or has it been switched off (lsm= on its command line)? Then a worker can open other drives and
 * files than its own, as far as its unit lets it; all else holds. */
bool sandbox_lacks_landlock(void);

/* The directory in sysfs of what the drive hangs on by itself: its port, host or controller. `syspath` is the disk's; returns
 * the length of the path. Exported for tests. */
size_t sandbox_own(const char *syspath);
