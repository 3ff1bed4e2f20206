/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The kernel's log, as the one sign of what libata does to a drive that it keeps: no udev event tells of a reset, nor of a link
 * that was gone for some seconds. What the messages say is not parsed: any of libata's is a reason to look at what it noted
 * in sysfs (device/kernel-view.h). Between two messages of the kernel there is no wake-up, and of messages in quick succession no
 * more than one a second. */

#include <systemd/sd-event.h>

#include "macro.h"

typedef struct KernelLog KernelLog;

/* libata has said something within the last second. It may still be at it: returns true to be called again in a second. */
typedef bool (*KernelLogHandler)(void *userdata);

/* From the messages after this moment on. `fd`: /dev/kmsg, which the service manager opened, as the daemon may not; stays the
 * caller's. -ENODEV: it is something else. */
int kernel_log_new(sd_event *event, int fd, KernelLogHandler handler, void *userdata, KernelLog **ret);
KernelLog *kernel_log_free(KernelLog *l);
DEFINE_CLEANUP(KernelLog *, kernel_log_free);

/* Is a record of /dev/kmsg (Documentation/ABI/testing/dev-kmsg) one of the kernel's own and libata's: "ata3.00: …"? Programs
 * can write records, too, but not in the kernel's name. Exported for tests. */
bool kernel_log_is_libata(const char *record);
