/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Links that libata resets. The kernel's log is the one sign of what libata does to a drive that it keeps. The messages are not parsed:
 * any of libata's is a reason to read the errors that it notes in sysfs (device/kernel-view.h). Without a message nothing runs;
 * messages in quick succession are read together, once a second, and the links are polled when libata has been quiet for two
 * seconds. */

#include "manager.h"

typedef struct LinkWatch LinkWatch;

/* `kmsg`: /dev/kmsg, which the service manager opened, as the service may not; stays the caller's. It is read from this moment on.
 * Something else is no error, but logged. */
int link_watch_new(sd_event *event, Manager *m, int kmsg, LinkWatch **ret);
LinkWatch *link_watch_free(LinkWatch *w);
DEFINE_CLEANUP(LinkWatch *, link_watch_free);

/* Polls all links. True: the kernel is still at one, call again soon. Exported for the fuzzer. */
bool link_watch_poll(LinkWatch *w);
