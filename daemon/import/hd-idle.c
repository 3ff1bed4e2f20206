/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads hd-idle's options from its command line and from /etc/default/hd-idle (hd-idle(8), 1.05 and 1.21). -a names a drive, and -i sets
 * the idle time. An -i after an -a is for the drive of this -a. An -i before the first -a is for all drives that no -a names. */

#include "command.h"

/* Adds the rules for hd-idle's options. `open`: reason why all these rules must be commented out; NULL: no reason is known yet. */
static void read_options(Import *import, unsigned line, const Words *words, const char *open) {
        size_t first = import->n_rules;
        const char *reason = open;
        ImportRule *rule;

        /* The rule for drives that no -a names comes first, so that the rules for named drives win; 600 s is hd-idle's default. */
        rule = import_add_rule(import, line);
        (void) import_match(rule, MATCH_ROTATIONAL, "true");
        rule->spindown_by_service = true;
        import_want(rule, line, "spindown_time", "600s");
        for (size_t i = 0; i < words->n_items; i++) {
                const char *option = words->items[i], *value = option[0] ? option + 2 : "";
                char letter = option[0] == '-' ? option[1] : '\0';

                if (letter && strchr("aicslpt", letter) && !*value && i + 1 < words->n_items)
                        value = words->items[++i];
                if (letter == 'h' || (letter && !strchr("aicslptdI", letter)) || letter == 't') {
                        /* With -h, -t or an unknown option, hd-idle sets no timer: it prints help, puts one drive into standby, or
                         * fails. */
                        if (letter == 't')
                                import_note(import, line,
                                            "hd-idle -t acts once and is not a setting; see spindown_time");
                        else if (letter != 'h' && !STR_IN_SET(option, "--help", "--version", "-V", "-v"))
                                import_not_understood(import, line, "hd-idle rejects", option);
                        while (import->n_rules > first)
                                import_drop_rule(import);
                        return;
                }
                if (letter == 'a') {
                        rule = import_add_rule(import, line);
                        (void) import_match(rule, MATCH_NODE, "%s%s", *value == '/' ? "" : "/dev/", value);
                        if (!*value || strpbrk(value, "$`%{"))
                                reason = reason ?: "the drives of hd-idle -a are known only when hd-idle runs";
                } else if (letter == 'i' && import->n_rules == first + 1 && streq(value, "0"))
                        import_drop_wish(rule, "spindown_time", false);
                else if (letter == 'i') {
                        rule->spindown_by_service = !streq(value, "0");
                        import_want(rule, line, "spindown_time", streq(value, "0") ? "off" : "%ss", value);
                        if (value[strspn(value, "0123456789")] || !*value)
                                reason = reason ?: "the times of hd-idle -i are known only when hd-idle runs";
                } else if (!letter)
                        reason = reason ?: "some options of hd-idle are known only when hd-idle runs";
        }
        /* If any option is not known, all rules are commented out. Otherwise the rule for drives that no -a names would match too many
         * drives. */
        for (size_t i = first; i < import->n_rules && reason; i++)
                import_comment_out_drives(&import->rules[i], "%s", reason);
}

bool hd_idle_options(const Place *p, unsigned line, const Words *words) {
        size_t first = p->import->n_rules, n_open = 0;

        for (size_t i = 0; i < words->n_items; i++)
                n_open += words->items[i][0] == '$';
        if (n_open > 0 && n_open == words->n_items)
                return false;

        read_options(p->import, line, words, p->match ? "hd-idle applies to more drives than the udev rule" : NULL);
        for (size_t i = first; i < p->import->n_rules && p->comment_reason; i++)
                import_comment_out(&p->import->rules[i], "%s", p->comment_reason);
        return true;
}

void hd_idle_read(const char *text, Import *ret) {
        _cleanup_(pairs_done) Pairs pairs = pairs_read(text, true);
        const Pair *starts = pairs_last(&pairs, NULL, "START_HD_IDLE");
        const Pair *options = NULL;
        _cleanup_(words_done) Words words = {};
        _cleanup_free_ char *open = NULL;

        if (starts && !streq(starts->value, "true"))
                return;

        /* If only a shell can compute the value of HD_IDLE_OPTS, the value is not known: systemd reads the file without a shell. */
        for (const Pair *p = pairs.items; p < pairs.items + pairs.n_items; p++) {
                if (p->value && streq(p->name, "HD_IDLE_OPTS"))
                        options = p;
                if (!p->value || starts_with(p->name, "HD_IDLE_OPTS+") || (options == p && script_is_open(p->value)))
                        import_set_reason(&open,
                                          "only a shell can compute HD_IDLE_OPTS, because of line %u: %.60s%s%.60s",
                                          p->line, p->name, p->value ? "=" : "", p->value ?: "");
        }
        if (!options)
                return;
        words_split(&words, options->value);
        read_options(ret, options->line, &words, open);
}
