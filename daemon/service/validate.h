/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What has come from another process, which may have been taken over: is it what one of ours could have sent? Before this was
 * asked nothing but bytes is there: to look at a bool that is neither 0 nor 1 is undefined behaviour. */

#include "drive.h"
#include "plan.h"
#include "wear.h"

/* All from the first to the last of these members, which are bools of one structure, are 0 or 1. */
bool bools_are_valid(const bool *first, const bool *last);

bool text_ends(const char *text, size_t size);

/* Types are known, and texts end within their array. */
bool value_is_valid(const Value *v);
bool reading_is_valid(const Reading *r);
bool memory_is_valid(const Memory *m);
bool wear_is_valid(const Wear *w); /* and no number is negative */
bool bridge_is_valid(const Bridge *b);
bool identity_is_valid(const DriveIdentity *i);

/* Name, node and syspath are such as the inventory makes: "sda", "/dev/sda", "/sys/devices/…/sda". */
bool drive_paths_are_valid(const Drive *d);
