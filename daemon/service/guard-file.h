/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The crash guard's file of one drive, named by its key, as an earlier run left it. */

#include "guard-record.h"

/* NULL: there is none. -ENOMEM; any other error: it is there, and nobody knows what it says. */
int guard_file_read(const char *dir, const char *key, GuardRecord **ret);

/* 1: there is one; 0: there is none; negative: nobody knows. */
int guard_file_exists(const char *dir, const char *key);
