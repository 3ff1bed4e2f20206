/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* hd-idle's options in /etc/default/hd-idle (hd-idle(8), 1.05 and 1.21). */

#include "command.h"

/* -a names a drive, and -i is the idle time of the one named before it, or of all others. */
void hd_idle_read(const char *text, Import *ret) {
        _cleanup_(pairs_done) Pairs pairs = pairs_read(text, true);
        const Pair *starts = pairs_last(&pairs, NULL, "START_HD_IDLE");
        const Pair *options = pairs_last(&pairs, NULL, "HD_IDLE_OPTS");
        _cleanup_(words_done) Words words = {};
        ImportRule *rule;

        if (!options || (starts && !streq(starts->value, "true")))
                return;

        /* The rule for all others comes first, so that those of drives win; 600 is the default. */
        words_split(&words, "-i 600");
        words_split(&words, options->value);
        rule = import_add_rule(ret, options->line);
        (void) import_match(rule, MATCH_ROTATIONAL, "true");
        for (size_t i = 0; i < words.n_items; i++) {
                const char *option = words.items[i], *value;

                if (!starts_with(option, "-a") && !starts_with(option, "-i"))
                        continue;

                value = option[2] ? option + 2 : i + 1 < words.n_items ? words.items[++i] : "";
                if (option[1] == 'a') {
                        rule = import_add_rule(ret, options->line);
                        (void) import_match(rule, MATCH_NODE, "%s%s", *value == '/' ? "" : "/dev/", value);
                } else if (ret->n_rules == 1 && streq(value, "0"))
                        import_drop_wish(rule, "spindown_time", false);
                else {
                        rule->spindown_by_service = !streq(value, "0");
                        import_want(rule, options->line, "spindown_time", streq(value, "0") ? "off" : "%ss", value);
                }
        }
}
