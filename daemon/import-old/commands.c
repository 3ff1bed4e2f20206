/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "command.h"
#include "commands.h"
#include "shell-condition.h"
#include "shell.h"

#define DEPTH_MAX 4U /* of sh -c "sh -c …" */

typedef struct Finder {
        Place place;
        unsigned depth;
        char *said; /* by an echo that went into no file: for a tee that may stand behind it; NULL: the command before was none */
} Finder;

/* clang-format off */
static const struct {
        const char *name;
        int (*read)(Command *c);
} tools[] = {
        { "hdparm",   hdparm_command   },
        { "smartctl", smartctl_command },
        { "sdparm",   sdparm_command   },
        { "nvme",     nvme_command     },
        { "blockdev", blockdev_command },
};
/* clang-format on */

/* The last word is the one that counts, and which was the last counts too when two settings exclude each other. */
int command_want(Command *c, const char *key, const char *value) {
        ImportWish *w;

        import_drop_wish(c->rule, key);
        return import_add_wish(c->rule, c->line, key, value, &w);
}

int command_want_number(Command *c, const char *key, long long number, const char *unit) {
        char text[64];

        if (streq(unit, "ms") && number % 1000 == 0)
                (void) snprintf(text, sizeof text, "%llds", number / 1000);
        else
                (void) snprintf(text, sizeof text, "%lld%s", number, unit);
        return command_want(c, key, text);
}

/* What udev rules say for the node of the drive that they are for. */
static bool is_own_node(const char *word) {
        static const char *const words[] = {
                "/dev/%k",   "/dev/$kernel", "/dev/$name",    "/dev/$$name",   "$devnode",    "%N",
                "$tempnode", "$DEVNAME",     "$$DEVNAME",     "$env{DEVNAME}", "%E{DEVNAME}", "${DEVNAME}",
                "$root/%k",  "%r/%k",        "$root/$kernel", "$root/$name",
        };

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (streq(words[i], word))
                        return true;

        return false;
}

int command_device(Command *c, const char *word) {
        _cleanup_free_ char *node = NULL;
        size_t n = strlen("/dev/nvme");
        int r;

        if (shell_is_open(word) || strchr(word, '%')) {
                if (c->given && is_own_node(word))
                        return 1;
                c->open = true;
                c->n_open++;
                return remark(&c->rule->remarks, "%.60s is known only when the command runs", word);
        }
        if (starts_with(word, "/dev/sg") || starts_with(word, "/dev/ng") || starts_with(word, "/dev/bsg/")) {
                c->open = true;
                c->n_open++;
                return remark(&c->rule->remarks, "%.60s is a drive's node of another kind, which no match names", word);
        }
        if (strncmp(word, "/dev/", 5) != 0) {
                c->open = c->open || c->given;
                return remark(&c->rule->remarks, "\"%.60s\" is no name below /dev, and is left out", word);
        }

        /* The controller's node means all of its drives. */
        if (strncmp(word, "/dev/nvme", n) == 0 && word[n] && word[n + strspn(word + n, "0123456789-[]*?!^")] == '\0') {
                if (asprintf(&node, "%sn*", word) < 0) {
                        node = NULL;
                        return -ENOMEM;
                }
                word = node;
        }

        r = import_match_node(c->rule, word);
        if (r > 0)
                c->n_devices++;
        return r;
}

const char *command_value(Command *c, size_t *i, size_t n) {
        const char *w = c->words[*i];

        if (strlen(w) > n)
                return w + n;
        return *i + 1 < c->n_words ? c->words[++*i] : NULL;
}

int match_copy(Match *to, const Match *from) {
        int r = 0;

        for (size_t i = 0; i < from->n_criteria; i++)
                for (size_t k = 0; k < from->criteria[i].n_patterns && r >= 0; k++)
                        r = match_add(to, from->criteria[i].key, from->criteria[i].property,
                                      from->criteria[i].patterns[k]);
        return r;
}

int command_guess(Command *c, MatchKey key, const char *pattern) {
        int r;

        match_done(&c->rule->match);
        c->rule->offered = true;
        r = match_add(&c->rule->match, key, NULL, pattern);
        return r < 0 ? r
                     : remark(&c->rule->remarks,
                              "for which drives it is, this file alone does not say: put the match right "
                              "and take the block out of the comment");
}

/* Does the node that the command names, and no other, have the rule's match? */
static bool names_the_same(const Match *given, const Match *named) {
        for (size_t i = 0; i < given->n_criteria; i++) {
                const Criterion *c = &given->criteria[i];

                if (c->key == MATCH_NODE && c->n_patterns == 1 && named->n_criteria == 1 &&
                    named->criteria[0].n_patterns == 1 && streq(c->patterns[0], named->criteria[0].patterns[0]))
                        return true;
        }

        return false;
}

int command_settle(Command *c, const Place *p) {
        int r;

        if (!p->match)
                return c->open || c->n_devices == 0 ? command_guess(c, MATCH_ROTATIONAL, "true")
                                                    : command_settle_nodes(c->rule);

        c->rule->offered = c->rule->offered || p->offered || c->open;
        if (c->n_devices == 0 || names_the_same(p->match, &c->rule->match)) {
                match_done(&c->rule->match);
                r = match_copy(&c->rule->match, p->match);
                return r < 0 ? r : command_settle_nodes(c->rule);
        }

        c->rule->offered = true;
        return remark(&c->rule->remarks,
                      "the command names a drive, whichever drive its rule is for: put the match right and take the "
                      "block out of the comment");
}

/* The words behind `verb`, joined, for the remark above the block. Not what security commands have: passwords. */
static int remark_command(Command *c, const char *tool) {
        _cleanup_free_ char *text = NULL;
        size_t size, length = 0;
        FILE *f;
        int r;

        f = open_memstream(&text, &size);
        if (!f)
                return -ENOMEM;
        fputs(tool, f);
        for (size_t i = 0; i < c->n_words; i++) {
                if (strcasestr(c->words[i], "security-") || strcasestr(c->words[i], "user-master")) {
                        fputs(" …", f);
                        break;
                }
                length += strlen(c->words[i]) + 1;
                if (length > 200) {
                        fputs(" …", f);
                        break;
                }
                fprintf(f, " %s", c->words[i]);
        }
        if (fclose(f) != 0)
                return -ENOMEM;

        r = remark(&c->rule->remarks, "%s", text);
        return r;
}

/* Takes the last rule back when nothing came of it. */
static void drop_rule(Import *import) {
        import_rule_done(&import->rules[--import->n_rules]);
}

/* The settings of the rule before it: a flag of hdparm is for every drive that is named behind it. */
static int copy_wishes(ImportRule *to) {
        const ImportRule *before = to - 1;
        ImportWish *w;
        int r = 0;

        for (size_t i = 0; i < before->n_wishes && r >= 0; i++)
                r = import_add_wish(to, before->wishes[i].line, before->wishes[i].key, before->wishes[i].value, &w);
        return r;
}

/* Without a setting among what is known. A word that is not known can be one, where it does not stand alone for the drive. */
static bool only_shows(const Command *c) {
        bool flags = c->n_words > 0 && (c->words[0][0] == '-' || isalpha((unsigned char) c->words[0][0]));

        return c->n_open == 0 || (flags && c->n_devices == 0);
}

static int read_tool(const Finder *f, const ShellCommand *s, size_t i, size_t tool, size_t *from) {
        Command c = {
                .line = s->line,
                .words = s->words.items + i + 1,
                .n_words = s->words.n_items - i - 1,
                .from = *from,
                .given = f->place.match,
        };
        size_t n_remarks;
        int r;

        r = import_add_rule(f->place.import, s->line, &c.rule);
        if (r >= 0 && *from > 0)
                r = copy_wishes(c.rule);
        if (r >= 0)
                r = remark_command(&c, tools[tool].name);
        if (r < 0)
                return r;

        /* "$HDPARM"; "${HDPARM:-hdparm}" says what it is. */
        if (shell_is_open(s->words.items[i]) && !strstr(s->words.items[i], tools[tool].name)) {
                c.rule->offered = true;
                r = remark(&c.rule->remarks, "which program %.60s is, is known only when the command runs",
                           s->words.items[i]);
                if (r < 0)
                        return r;
        }

        n_remarks = c.rule->remarks.n_items;
        r = tools[tool].read(&c);
        if (r < 0)
                return r;
        *from = c.from;

        if (c.rule->n_wishes == 0 && c.rule->remarks.n_items == n_remarks + c.n_open && only_shows(&c)) {
                drop_rule(f->place.import);
                return 0;
        }

        return c.rule->n_wishes > 0 ? command_settle(&c, &f->place) : 0;
}

static int read_tool_whole(const Finder *f, const ShellCommand *s, size_t i, size_t tool) {
        size_t from = 0;
        int r;

        do
                r = read_tool(f, s, i, tool, &from);
        while (r >= 0 && from > 0);
        return r;
}

/* Words before a tool's name that talk about it, or look for it. */
static bool only_talks(const char *word) {
        static const char talkers[] =
                        "which type hash logger man test [ [[ apt apt-get dpkg grep egrep pgrep pkill killall -v ";

        return word_is_one_of(word, talkers);
}

/* Is it a tool's name, or a variable by that name? */
static bool is_tool(const char *word, const char *name) {
        size_t n = strlen(name), length = strlen(word);

        if (!shell_is_open(word))
                return streq(base_name(word), name);
        while (length > 0 && !isalnum((unsigned char) word[length - 1]))
                length--;
        return length > n && strncasecmp(word + length - n, name, n) == 0;
}

/* What has its words run elsewhere, or at another time. */
static bool is_runner(const char *word) {
        static const char runners[] = "ssh rsh pdsh pssh docker podman nerdctl lxc lxc-attach incus "
                                      "pct kubectl chroot arch-chroot systemd-nspawn ansible machinectl trap at batch ";

        return word_is_one_of(word, runners);
}

/* A command behind one of those is not of this machine and this time: nothing is taken over of it. */
static int skip_runner(const Finder *f, const ShellCommand *s, size_t i, const char *before) {
        _cleanup_free_ char *shown = NULL;
        const char *found = before && condition_names_tool(before) ? before : NULL, *secret;

        for (size_t k = i + 1; k < s->words.n_items && !found; k++)
                if (condition_names_tool(s->words.items[k]))
                        found = s->words.items[k];
        if (!found)
                return 0;
        secret = strcasestr(found, "security-");
        if (asprintf(&shown, "%s … %.*s", s->words.items[i], secret ? (int) MIN(secret - found, 150) : 150, found) <
            0) {
                shown = NULL;
                return -ENOMEM;
        }
        return command_unread(&f->place, shown);
}

/* What a shell is given to run, its name being word `i`: "sh -c TEXT", "bash -o pipefail -lc TEXT"; NULL: nothing. */
static const char *shell_text(const Words *w, size_t i) {
        bool c = false;

        for (i++; i < w->n_items && (w->items[i][0] == '-' || w->items[i][0] == '+'); i++) {
                const char *flags = w->items[i] + 1;

                if (*flags == '-')
                        continue;
                c = c || strchr(flags, 'c');
                if (strpbrk(flags, "oO"))
                        i++; /* the option's name */
        }

        return c && i < w->n_items ? w->items[i] : NULL;
}

static int find_commands(void *userdata, const ShellCommand *s);

static int read_shell(const Finder *f, const char *text, unsigned line) {
        Finder inner = { .place = f->place, .depth = f->depth + 1 };
        int r;

        if (f->depth == DEPTH_MAX)
                return 0;
        r = shell_commands(text, strlen(text), line, find_commands, &inner);
        free(inner.said);
        return r;
}

/* eval WORD…, the name being word `i`. */
static int read_eval(const Finder *f, const ShellCommand *s, size_t i) {
        _cleanup_free_ char *text = words_join(&s->words, i + 1);

        return text ? read_shell(f, text, s->line) : -ENOMEM;
}

static int find_tool(void *userdata, const ShellCommand *s);

/* smartctl -l scterc,70,70 /dev/sda || echo 180 > /sys/block/sda/device/timeout */
static int offer_fallback(Import *i, size_t first, unsigned decided) {
        bool recovers = false;
        int r = 0;

        for (size_t k = 0; k < first; k++)
                recovers = recovers ||
                           (i->rules[k].line == decided && import_find_wish(&i->rules[k], "error_recovery"));

        for (size_t k = first; recovers && k < i->n_rules && r >= 0; k++) {
                const ImportWish *w = import_find_wish(&i->rules[k], "timeout");

                if (w)
                        r = remark(&i->rules[k].remarks,
                                   "if this is for drives that refuse line %u: error_recovery_fallback_timeout = "
                                   "\"%.40s\"; in that block is the same",
                                   decided, w->value);
        }
        return r;
}

static int find_commands(void *userdata, const ShellCommand *s) {
        const Finder *f = userdata;
        size_t first = f->place.import->n_rules;
        int r;

        r = find_tool(userdata, s);
        if (r < 0 || s->decided == 0)
                return r;
        r = offer_fallback(f->place.import, first, s->decided);
        return r < 0 ? r
                     : import_hold(f->place.import, first,
                                   "it runs in one branch only of what line %u decides when the file runs: take the right one "
                                   "out of the comment; for battery power there is on_battery = { … }",
                                   s->decided);
}

static int find_tool(void *userdata, const ShellCommand *s) {
        Finder *f = userdata;
        _cleanup_free_ char *before = TAKE_PTR(f->said);
        int r;

        f->place.line = s->line;
        for (size_t i = 0; i < s->words.n_items; i++) {
                const char *base = base_name(s->words.items[i]), *text;

                if (streq(base, "echo") || streq(base, "printf")) {
                        f->said = echo_said(&s->words, i);
                        return s->output ? command_output(&f->place, f->said, ">", s->output) : 0;
                }
                if (streq(base, "tee"))
                        return tee_command(&f->place, &s->words, i, before);
                if (only_talks(base))
                        break;
                if (is_runner(base)) {
                        r = skip_runner(f, s, i, before);
                        if (r < 0)
                                return r;
                        break;
                }
                if (streq(base, "eval"))
                        return read_eval(f, s, i);

                text = shell_is_name(base) ? shell_text(&s->words, i) : NULL;
                if (shell_is_name(base) && i + 1 == s->words.n_items)
                        text = before;
                if (text)
                        return read_shell(f, text, s->line);

                for (size_t k = 0; k < ELEMENTSOF(tools); k++)
                        if (is_tool(s->words.items[i], tools[k].name))
                                return read_tool_whole(f, s, i, k);
        }

        return s->output ? command_output(&f->place, NULL, ">", s->output) : 0;
}

int commands_read_for(const char *text, size_t size, unsigned line, const Match *match, bool offered, Import *import) {
        Finder f = { .place = { .import = import, .match = match, .offered = offered } };
        int r;

        r = shell_commands(text, size, line, find_commands, &f);
        free(f.said);
        return r;
}

int commands_read(const char *text, size_t size, unsigned line, Import *import) {
        return commands_read_for(text, size, line, NULL, false, import);
}
