/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Bytes from another process that a structure is made of: is each what its type can be? Used by both ends of the tracer's socket. */

#include "macro.h"

/* All bools from the first to the last, which lie side by side. */
bool bools_are_valid(const bool *first, const bool *last);

/* Has the array an end? */
bool text_ends(const char *text, size_t size);
