/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Detects two events that only the kernel log reports, as udev sends no event: resets of ATA links by libata that the drive survives, and
 * runtime suspends and resumes of SCSI disks. The messages are not parsed: after any message of libata or of the driver sd, the state in
 * sysfs is read (device/kernel-view.h). The log is read at most once a second, and the links are polled when libata has logged nothing for
 * two seconds. Without messages no timer runs. */

#include "manager.h"

typedef struct LinkWatch LinkWatch;

/* Starts to watch the kernel log from its end. `kmsg`: a descriptor of /dev/kmsg. The service manager opens it, since the service may not;
 * the caller keeps ownership. If the kernel log cannot be read from `kmsg`, logs this and returns 0. */
int link_watch_new(sd_event *event, Manager *m, int kmsg, LinkWatch **ret);
LinkWatch *link_watch_free(LinkWatch *w);
DEFINE_CLEANUP(LinkWatch *, link_watch_free);

/* Returns true if the kernel log can be read. */
bool link_watch_is_reading(const LinkWatch *w);

/* Polls all links. Returns true while the kernel is recovering a link: call again soon. Exported for the fuzzer. */
bool link_watch_poll(LinkWatch *w);
