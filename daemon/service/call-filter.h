/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The system calls that a worker may make once it has closed its sandbox: a seccomp filter. All others fail with EPERM. */

#include "macro.h"

/* Makes the filter for this process and its children, once. */
int call_filter_prepare(void);

/* From now on this process makes no other calls. It needs PR_SET_NO_NEW_PRIVS. */
int call_filter_load(void);
