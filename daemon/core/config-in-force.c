/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Formats the list of the configuration files in force, and compares the list with the files on disk. Each line has a
 * hash of the file's text and the path of the file, such as "0123456789abcdef /etc/drivekeep/drivekeep.conf". */

#include <inttypes.h>
#include <stdio.h>

#include "config.h"
#include "text.h"

#define HASH_LENGTH 16U

/* Formats the line for file `i` of the configuration, without a newline. */
static int format_line(const Config *c, size_t i, char **ret) {
        _cleanup_free_ char *file = text_escape(c->files[i], "\\");

        if (file && asprintf(ret, "%016" PRIx64 " %s", c->hashes[i], file) >= 0)
                return 0;
        *ret = NULL;
        return -ENOMEM;
}

int config_format_in_force(const Config *c, char **ret) {
        _cleanup_free_ char *text = strdup("");

        if (!text)
                return -ENOMEM;
        for (size_t i = 0; i < c->n_files; i++) {
                _cleanup_free_ char *before = TAKE_PTR(text), *line = NULL;
                int r;

                r = format_line(c, i, &line);
                if (r < 0)
                        return r;
                if (asprintf(&text, "%s%s\n", before, line) < 0) {
                        text = NULL;
                        return -ENOMEM;
                }
        }
        *ret = TAKE_PTR(text);
        return 0;
}

/* Finds the line in `text` that has the same file name as `line`. NULL: no such line. */
static const char *find_line(const char *text, const char *line) {
        const char *name = line + HASH_LENGTH;
        size_t n = strlen(name);

        for (const char *end; (end = strchr(text, '\n')); text = end + 1)
                if ((size_t) (end - text) == HASH_LENGTH + n && memcmp(text + HASH_LENGTH, name, n) == 0)
                        return text;
        return NULL;
}

int config_compare_in_force(const Config *c, const char *in_force, char **ret_file) {
        _cleanup_free_ char *now = NULL;
        int r;

        for (size_t i = 0; i < c->n_files; i++) {
                _cleanup_free_ char *line = NULL;
                const char *then;

                r = format_line(c, i, &line);
                if (r < 0)
                        return r;
                then = find_line(in_force, line);
                if (then && memcmp(then, line, HASH_LENGTH) == 0)
                        continue;
                *ret_file = strdup(c->files[i]);
                return !*ret_file ? -ENOMEM : then ? CONFIG_CHANGED : CONFIG_NEW;
        }

        r = config_format_in_force(c, &now);
        if (r < 0)
                return r;
        for (const char *end; (end = strchr(in_force, '\n')); in_force = end + 1) {
                _cleanup_free_ char *line = strndup(in_force, (size_t) (end - in_force));

                if (!line)
                        return -ENOMEM;
                if (strlen(line) <= HASH_LENGTH + 1 || find_line(now, line))
                        continue;
                r = text_unescape(line + HASH_LENGTH + 1, ret_file);
                return r < 0 ? r : CONFIG_GONE;
        }
        return CONFIG_SAME;
}
