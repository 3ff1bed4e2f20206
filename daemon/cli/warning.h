/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Sentences with words of the user's, who may have copied them from anywhere, or of a drive's: what would steer the terminal
 * stands as \xNN. */

#include "must.h"
#include "text.h"

/* must_format(), escaped. */
#define format_escaped(...)                                           \
        ({                                                            \
                _cleanup_free_ char *_raw = must_format(__VA_ARGS__); \
                (char *) must(text_escape(_raw, NULL));               \
        })

/* warnx(3) */
#define warn_escaped(...)                                                  \
        ({                                                                 \
                _cleanup_free_ char *_shown = format_escaped(__VA_ARGS__); \
                warnx("%s", _shown);                                       \
        })
