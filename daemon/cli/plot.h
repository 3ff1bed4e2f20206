/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* `drivekeep show --plot` and `--svg`: the last seven days of drives as a picture, from the journal and the state files. No drive is
 * asked. */

#include "strip.h"
#include "verb.h"

/* Of the drives that are named, or else of those of which anything is known. Returns as Verb.run() does. */
int plot_show(const Options *o);

/* plot-text.c: to stdout, a line for each day, as wide as the terminal has room for; without a head and a legend if so wished. */
void plot_text_print(const Strip *strips, size_t n, uint64_t now, bool legend);

/* plot-svg.c: the picture as a text; the caller frees it. */
char *plot_svg_format(const Strip *strips, size_t n, uint64_t now);
