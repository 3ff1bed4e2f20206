/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Colour for people at a terminal. It says nothing that the words beside it do not say. */

#include "macro.h"

/* Is `fd` a terminal that shows colour, to somebody who has not said no to it (https://no-color.org)? */
bool color_is_welcome(int fd);

/* The name by which libsmartcols knows the colour of a verdict: green for what is as wanted, yellow for what may become so
 * or is by nature of the drive, red for what went wrong. NULL for any other text. */
const char *verdict_color(const char *text);
