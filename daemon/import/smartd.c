/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* smartd.conf: -e and -l scterc of a line are smartctl's -s and -l scterc for its drive (smartd.conf(5), 7.3). */

#include "command.h"

static void read_directives(Import *import, unsigned line, const char *directives, const char *device) {
        static const Match every = {};
        _cleanup_(words_done) Words words = {}, options = {};
        Place place = { .import = import };

        if (streq(device, "DEVICESCAN")) {
                place.match = &every;
                place.held = import->n_rules > 0 ? "it is for the drives that no line names: say which" : NULL;
                device = "/dev/" OWN;
        }
        words_split(&words, directives);
        for (size_t i = 0; i + 1 < words.n_items; i++) {
                const char *option = words.items[i], *value = words.items[i + 1];

                if (!STR_IN_SET(option, "-e", "-d") && !(streq(option, "-l") && starts_with(value, "scterc,")))
                        continue;
                words_add(&options, streq(option, "-e") ? "-s" : option, 2);
                words_add(&options, value, strlen(value));
        }
        words_add(&options, device, strlen(device));
        command_read(&place, smartctl_command, &options, line);
}

void smartd_read(const char *text, Import *ret) {
        _cleanup_free_ char *line = NULL, *defaults = NULL;
        Lines l = { .next = text };

        /* Behind DEVICESCAN it reads nothing. */
        while (!streq(line ?: "", "DEVICESCAN") && lines_next(&l, true, &line)) {
                _cleanup_free_ char *directives = NULL;
                size_t n;

                line[strcspn(line, "#")] = '\0';
                n = strcspn(line, " \t");
                /* The line's own directive counts, where a default says something else. */
                directives = must_format("%s %s", starts_with(line, "DEFAULT") ? "" : defaults ?: "", line + n);
                line[n] = '\0';
                if (streq(line, "DEFAULT")) {
                        free(defaults);
                        defaults = TAKE_PTR(directives);
                } else if (n > 0)
                        read_directives(ret, l.line, directives, line);
        }
}
