/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads mdadm.conf(5): when an array starts, mdadm writes the values of a SYSFS line to the array's files in sysfs. */

#include <ctype.h>

#include "command.h"

/* Returns the UUID as udev has it in MD_UUID: four groups of eight digits. Returns NULL if the text is not a UUID. mdadm permits other
 * separators. */
static char *format_uuid(const char *text) {
        char digits[33] = "";
        size_t n = 0;

        for (; *text && n < 32; text++)
                if (isxdigit((unsigned char) *text))
                        digits[n++] = (char) tolower((unsigned char) *text);
                else if (!strchr(":.- ", *text))
                        return NULL;
        if (n < 32 || *text)
                return NULL;
        return must_format("%.8s:%.8s:%.8s:%.8s", digits, digits + 8, digits + 16, digits + 24);
}

/* Adds the array of a SYSFS line to the match. mdadm ignores the name if there is a UUID. */
static void add_array(const Words *words, Match *m) {
        _cleanup_free_ char *uuid = NULL;
        const char *name = NULL;

        for (size_t i = 1; i < words->n_items; i++)
                if (!uuid && strncasecmp(words->items[i], "uuid=", 5) == 0)
                        uuid = format_uuid(words->items[i] + 5);
                else if (!name && strncasecmp(words->items[i], "name=/dev/md/", 13) == 0)
                        name = words->items[i] + 5;
        if ((uuid && import_match_add(m, MATCH_PROPERTY, "MD_UUID", uuid)) ||
            (!uuid && name && import_match_add(m, MATCH_NODE, NULL, name)))
                (void) import_match_add(m, MATCH_TRANSPORT, NULL, "virtual");
}

static void read_sysfs(Import *import, unsigned line, const Words *words) {
        _cleanup_(match_done) Match array = {};
        const Place place = { .import = import, .match = &array };

        add_array(words, &array);
        if (array.n_criteria == 0) {
                import_note(import, line, "mdadm ignores a SYSFS line without a valid uuid= or name=/dev/md/NAME");
                return;
        }
        for (size_t i = 1; i < words->n_items; i++) {
                const char *word = words->items[i], *value = strchr(word, '=');
                _cleanup_free_ char *path = NULL;

                if (!value || !value[1] || strncasecmp(word, "uuid=", 5) == 0 || strncasecmp(word, "name=", 5) == 0)
                        continue;
                path = must_format("/sys/block/" RULE_DRIVE "/md/%.*s", (int) (value - word), word);
                command_write(&place, line, path, value + 1);
        }
}

/* A line continues the line before it if it begins with a blank. '#' at the beginning of a word begins a comment. */
void mdadm_conf_read(const char *text, Import *ret) {
        _cleanup_free_ char *line = NULL;
        Lines l = { .next = text };
        _cleanup_(words_done) Words words = {};
        unsigned first = 0;
        bool more;

        do {
                bool continued = *l.next == ' ' || *l.next == '\t';
                _cleanup_(words_done) Words found = {};

                more = lines_next(&l, false, &line);
                if (!more || !continued) {
                        /* Keywords may be abbreviated to three letters. */
                        if (words.n_items > 0 && strlen(words.items[0]) >= 3 &&
                            strncasecmp(words.items[0], "sysfs", strlen(words.items[0])) == 0)
                                read_sysfs(ret, first, &words);
                        words_done(&words);
                        words = (Words){};
                        first = l.line;
                }
                if (more)
                        words_split(&found, line);
                for (size_t i = 0; i < found.n_items && *found.items[i] != '#'; i++)
                        words_add(&words, found.items[i], strlen(found.items[i]));
        } while (more);
}
