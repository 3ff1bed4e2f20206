/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/* The length in bytes of the character at the start of `s`, 0 when there is no sound UTF-8 character. */
size_t utf8_length(const char *s, size_t size);
