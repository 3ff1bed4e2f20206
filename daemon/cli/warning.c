/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <err.h>
#include <stdarg.h>
#include <stdio.h>

#include "text.h"
#include "warning.h"

void warn_escaped(const char *format, ...) {
        _cleanup_free_ char *text = NULL, *shown = NULL;
        va_list ap;

        va_start(ap, format);
        if (vasprintf(&text, format, ap) < 0)
                text = NULL;
        va_end(ap);

        shown = text ? text_escape(text, NULL) : NULL;
        warnx("%s", shown ?: strerror(ENOMEM));
}
