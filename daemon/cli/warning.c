/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdarg.h>

#include "must.h"
#include "text.h"
#include "warning.h"

void warn_escaped(const char *format, ...) {
        _cleanup_free_ char *text = NULL, *shown = NULL;
        va_list ap;

        va_start(ap, format);
        text = must(vasprintf(&text, format, ap) < 0 ? NULL : text);
        va_end(ap);

        shown = must(text_escape(text, NULL));
        warnx("%s", shown);
}
