/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Detects resets of ATA links by libata. If the drive survives the reset, udev sends no event, and only the kernel log reports the
 * reset. The messages are not parsed: after any message of libata, the errors that libata notes in sysfs are read
 * (device/kernel-view.h). The log is read at most once a second, and the links are polled when libata has logged nothing for two
 * seconds. Without messages no timer runs. */

#include "manager.h"

typedef struct LinkWatch LinkWatch;

/* Starts to watch the kernel log from its end. `kmsg`: a descriptor of /dev/kmsg. The service manager opens it, since the service may not;
 * the caller keeps ownership. If the kernel log cannot be read from `kmsg`, logs this and returns 0. */
int link_watch_new(sd_event *event, Manager *m, int kmsg, LinkWatch **ret);
LinkWatch *link_watch_free(LinkWatch *w);
DEFINE_CLEANUP(LinkWatch *, link_watch_free);

/* Polls all links. Returns true while the kernel is recovering a link: call again soon. Exported for the fuzzer. */
bool link_watch_poll(LinkWatch *w);
