/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Builds the rule for one command, with the command's drives and wishes. */

#include <fnmatch.h>

#include "command-rule.h"

void command_want_ms(Command *c, const char *key, long long ms) {
        if (ms % 1000 == 0)
                command_want(c, key, "%llds", ms / 1000);
        else
                command_want(c, key, "%lldms", ms);
}

void command_device(Command *c, const char *word) {
        if (c->place->match && streq(word, "/dev/" RULE_DRIVE))
                import_match_copy(&c->rule->match, c->place->match);
        else if (strstr(word, RULE_DRIVE))
                import_comment_out_drives(c->rule, "the rule does not say which drives it applies to");
        else if (script_is_open(word) || strpbrk(word, "%{}()"))
                import_comment_out_drives(c->rule, "the drive \"%.40s\" is known only when the command runs", word);
        else if (starts_with(word, "/dev/sg") || starts_with(word, "/dev/ng") || starts_with(word, "/dev/bsg/"))
                import_comment_out_drives(c->rule, "drivekeep has no match for %.60s, which is not a block device",
                                          word);
        else {
                /* The node of an NVMe controller means all its namespaces. */
                const char *number = starts_with(word, "/dev/nvme") ? word + strlen("/dev/nvme") : "";

                (void) import_match(c->rule, MATCH_NODE, "%s%s", word,
                                    *number && !number[strspn(number, "0123456789-[]*?")] ? "n*" : "");
        }
}

/* Limits or comments out a rule that names arrays or partitions. A command applies only to the device that it names, but a match with an array
 * includes the array's member drives, and a match with a partition includes the whole drive. */
static void settle_nodes(ImportRule *rule) {
        const Criterion *nodes = import_nodes(&rule->match);
        size_t arrays = 0, parts = 0;

        for (size_t i = 0; nodes && i < nodes->n_patterns; i++) {
                arrays += fnmatch("/dev/@(md|dm-|mapper/)*", nodes->patterns[i], FNM_EXTMATCH) == 0;
                parts += fnmatch("/dev/@(sd*[0-9]|nvme*p*|disk/by-@(uuid|label|partuuid)/*|*-part*)",
                                 nodes->patterns[i], FNM_EXTMATCH) == 0;
        }

        if (arrays > 0 && arrays == nodes->n_patterns)
                (void) import_match(rule, MATCH_TRANSPORT, "virtual");
        else if (arrays > 0)
                import_comment_out_drives(
                                rule,
                                "the command also names an array, and a match with the array includes its member drives");
        else if (parts > 0 && import_find_wish(rule, "read_only", false))
                import_comment_out(rule, "the command sets a partition; read_only applies to the whole drive");
}

void command_settle(Command *c) {
        ImportRule *rule = c->rule;

        if (rule->n_wishes == 0) {
                if (rule->comment_reason)
                        command_note(c, "%s", rule->comment_reason);
                import_drop_rule(c->place->import);
                return;
        }

        if (c->place->match && !import_same_match(&rule->match, c->place->match))
                import_comment_out(rule, "the command and the udev rule name different drives");
        else if (!c->place->match && rule->match.n_criteria == 0)
                import_comment_out_drives(rule, "the command names no drive");
        settle_nodes(rule);
        if (c->place->comment_reason) {
                rule->drives_unknown = rule->drives_unknown || c->place->drives_unknown;
                import_comment_out(rule, "%s", c->place->comment_reason);
        }
}

void command_read(const Place *p, CommandReader reader, const Words *words, unsigned line) {
        Command c = { .place = p, .line = line, .words = words->items, .n_words = words->n_items };

        c.rule = import_add_rule(p->import, line);
        reader(&c);
        command_settle(&c);
}

void command_shows(Command *c) {
        while (c->rule->n_wishes > 0)
                import_drop_wish(c->rule, c->rule->wishes[0].key, c->rule->wishes[0].on_battery);
        c->n_words = 0;
}

bool command_is_for(const ImportRule *r, const char *path) {
        const Criterion *nodes = import_nodes(&r->match);
        const char *name = strstr(path, "/block/");
        _cleanup_free_ char *node = name ? must_format("/dev/%.*s", (int) strcspn(name + strlen("/block/"), "/"),
                                                       name + strlen("/block/"))
                                         : must(strdup(path));
        size_t n = strlen(node);

        /* The pattern of all namespaces, such as /dev/nvme0n*, also stands for the controller's node, /dev/nvme0. */
        for (size_t i = 0; nodes && i < nodes->n_patterns; i++)
                if (fnmatch(nodes->patterns[i], node, 0) == 0 ||
                    (starts_with(nodes->patterns[i], node) && streq(nodes->patterns[i] + n, "n*")))
                        return true;
        return !starts_with(node, "/dev/") || strstr(node, RULE_DRIVE);
}
