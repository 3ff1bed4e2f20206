/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What all pictures in SVG have in common. */

#include <stdio.h>

/* The first element, with its title, on white; in pixels. The caller ends it by "</svg>". */
void svg_begin(FILE *f, unsigned width, unsigned height, const char *title);

/* As the terminal would show it, and fit for XML. */
void svg_put_text(FILE *f, const char *text);

/* To this file, which is replaced as a whole, or to standard output ("-"). Returns EXIT_WANTED, or EXIT_BAD_INPUT, having said why. */
int svg_write(const char *path, const char *text);
