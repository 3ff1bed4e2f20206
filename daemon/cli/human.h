/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Numbers as people say them, and times as people and programs do. */

#include "macro.h"

#define HUMAN_MAX 32U

/* In the drive makers' units, powers of 1000: "2.0 TB". NULL for 0: not known. */
const char *capacity_format(uint64_t bytes, char buf[static HUMAN_MAX]);

/* Local time, as short as ps(1) has it: "02:39" on the day of `now`, "Nov 20" in its year, "2024" before. Both are
 * CLOCK_REALTIME in µs. NULL for 0: never. */
const char *time_format_short(uint64_t when, uint64_t now, char buf[static HUMAN_MAX]);

/* RFC 3339, UTC, whole seconds: "2025-11-21T02:39:11Z". NULL for 0. */
const char *time_format_rfc3339(uint64_t when, char buf[static HUMAN_MAX]);
