/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The system calls that workers, the asker and the tracer may make: seccomp filters, made from one table. A call with many commands is
 * allowed command by command, since fcntl() can have the kernel signal any process, and ioctl() can write to a drive. All other calls fail
 * with EPERM. */

#include <linux/filter.h>

#include "macro.h"

typedef enum CallUser {
        CALLS_WORKER,
        CALLS_ASKER,
        CALLS_TRACER,
        _CALL_USER_MAX,
} CallUser;

/* Makes the filter for this process and its children, once. */
int call_filter_prepare(CallUser user);

/* From now on this process makes no other calls. It needs PR_SET_NO_NEW_PRIVS. */
int call_filter_load(CallUser user);

/* The filter as the kernel takes it, for an architecture (SCMP_ARCH_NATIVE: this one). The caller frees its instructions. Exported for
 * tests. */
int call_filter_make(uint32_t architecture, CallUser user, struct sock_fprog *ret);
