/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Readers of hdparm commands and of hdparm.conf. */

#include <ctype.h>
#include <strings.h>

#include "command.h"
#include "text.h"

/* clang-format off */
/* Keywords and flags from hdparm.conf(5) and hdparm(8) of hdparm 9.65. */
static const Keyword keywords[] = {
        { "read_ahead_sect",          false, 'a', 2048, "read_ahead_sect"          },
        { "lookahead",                false, 'A', 1,    "lookahead"                },
        { "bus",                      false, 'b', 2,    "bus"                      },
        { "apm",                      false, 'B', 255,  "apm"                      },
        { "apm_battery",              false, 0,   0,    "apm_battery"              },
        { "io32_support",             false, 'c', 3,    "io32_support"             },
        { "dma",                      false, 'd', 1,    "dma"                      },
        { "defect_mana",              false, 'D', 1,    "defect_mana"              },
        { "cd_speed",                 false, 'E', 255,  "cd_speed"                 },
        { "mult_sect_io",             false, 'm', 64,   "mult_sect_io"             },
        { "prefetch_sect",            false, 'P', 255,  "prefetch_sect"            },
        { "read_only",                false, 'r', 1,    "read_only"                },
        { "write_read_verify",        false, 'R', 3,    "write_read_verify"        },
        { "spindown_time",            false, 'S', 255,  "spindown_time"            },
        { "force_spindown_time",      false, 0,   0,    "spindown_time"            },
        { "poweron_standby",          false, 's', 1,    "poweron_standby"          },
        { "interrupt_unmask",         false, 'u', 1,    "interrupt_unmask"         },
        { "write_cache",              false, 'W', 1,    "write_cache"              },
        { "transfer_mode",            false, 'X', 0,    "transfer_mode"            },
        { "acoustic_management",      false, 'M', 255,  "acoustic_management"      },
        { "keep_settings_over_reset", false, 'k', 1,    "keep_settings_over_reset" },
        { "keep_features_over_reset", false, 'K', 1,    "keep_features_over_reset" },
        { "chipset_pio_mode",         false, 'p', 0,    "chipset_pio_mode"         },
        { "ROOTFS",                   false, 0,   0,    NULL                       },
        { "quiet",                    true,  0,   0,    NULL                       },
        { "standby",                  true,  0,   0,    "standby"                  },
        { "sleep",                    true,  0,   0,    "sleep"                    },
        { "disable_seagate",          true,  'Z', 0,    "disable_seagate"          },
        { "security_freeze",          true,  0,   0,    "security_freeze"          },
        { "queue_depth",              false, 'Q', 1024, "queue_depth"              },
        { "",                         false, 'L', 1,    NULL                       },
        { "",                         false, 'n', 1,    NULL                       },
};
/* clang-format on */

const Keyword *keyword_find(const char *name, char letter) {
        for (size_t i = 0; i < ELEMENTSOF(keywords); i++)
                if (name ? streq(keywords[i].name, name) : keywords[i].letter == letter)
                        return &keywords[i];

        return NULL;
}

/* ---- hdparm's flags, parsed as in hdparm's main() (9.65): flags may be combined, and a number may be in the same word or the next ---- */

/* Flags that require a number. Each other flag that accepts a number prints the current value if the number is missing. */
#define NEED_NUMBER "DEKLPsS"

static void read_long(Command *c, const char *name, size_t *i) {
        if (STR_IN_SET(name, "help", "version"))
                command_shows(c);
        else if (streq(name, "security-freeze"))
                command_want(c, "security_freeze", "on");
        else if (strncasecmp(name, "security-", strlen("security-")) == 0 || strcasecmp(name, "user-master") == 0) {
                /* Skips the argument without printing it, since it may be a password. */
                if (*i + 1 < c->n_words && !starts_with(c->words[*i + 1], "/dev/"))
                        ++*i;
                command_note(c, "drivekeep sends no security commands and keeps no passwords");
        } else if (!STR_IN_SET(name, "yes-i-know-what-i-am-doing", "prefer-ata12", "verbose", "direct"))
                command_note(c, "drivekeep has no setting for hdparm --%.40s", name);
}

/* Reads the number of a flag; `s`: the text after the flag's letter. Returns the text after the number, or NULL if hdparm rejects the
 * number. */
static const char *read_number(Command *c, const Keyword *k, const char *s, size_t *i) {
        const char *next = *i + 1 < c->n_words ? c->words[*i + 1] : "", *end;
        unsigned long number;

        if (!*s && (isdigit((unsigned char) *next) || script_is_open(next))) {
                s = next;
                ++*i;
        }
        end = s + strspn(s, "0123456789");
        if (script_is_open(end)) {
                command_note(c, "the value of hdparm -%c is known only when the command runs", k->letter);
                return "";
        }

        number = strtoul(s, NULL, 10);
        if (end > s ? number > k->max : strchr(NEED_NUMBER, k->letter) != NULL)
                return NULL;
        if (end > s && k->key)
                command_want(c, k->key, "%lu", number);
        else if (end > s)
                command_note(c, "hdparm -%c has no effect in current kernels", k->letter);
        return end;
}

/* Reads a word of flags. hdparm exits at a flag that it rejects, so a command with such a flag sets nothing. */
static void read_letters(Command *c, const char *letters, size_t *i) {
        for (const char *s = letters; s && *s;) {
                char letter = *s++;
                const Keyword *k = keyword_find(NULL, letter);

                if (k && k->max > 0)
                        s = read_number(c, k, s, i);
                else if (k && k->alone)
                        command_want(c, k->key, "on");
                else if (strchr("hV", letter)) {
                        command_shows(c);
                        return;
                } else if (strchr("yY", letter)) /* a rule would repeat this action each time the drive appears */
                        command_note(c, "hdparm -%c acts once and is not a setting; see spindown_time", letter);
                else if (!strchr("fFtTwzCgHiIqv", letter))
                        s = NULL;
                if (!s)
                        import_comment_out(c->rule,
                                           strchr("JN", letter) ? "hdparm -%.40s may change the drive permanently"
                                                                : "hdparm -%.40s is not understood",
                                           letters);
        }
}

void hdparm_command(Command *c) {
        bool named = false;

        for (size_t i = 0; i < c->n_words; i++) {
                const char *w = c->words[i];

                if (w[0] != '-') {
                        command_device(c, w);
                        named = true;
                        continue;
                }
                if (named)
                        import_comment_out(c->rule, "flags after a drive apply only to the next drive");
                if (w[1] == '-')
                        read_long(c, w + 2, &i);
                else
                        read_letters(c, w + 1, &i);
        }
}

/* ---- hdparm.conf, read as its writer intended. Debian's parser (hdparm_options in hdparm-functions, hdparm 9.65) ignores some lines;
 * each ignored line gets a note ---- */

#define IGNORED "Debian ignores lines in this form, so this line had no effect"

typedef struct Reader {
        Import *import;
        unsigned line;
        size_t block; /* index of the open block's rule; 0: no block is open, and lines are for all drives */
        bool named;   /* the drive names of a block were read, and the opening brace must follow */
} Reader;

#define note(r, ...) import_note((r)->import, (r)->line, __VA_ARGS__)

static ImportRule *begin_block(Reader *r) {
        r->block = r->import->n_rules;
        return import_add_rule(r->import, r->line);
}

/* Begins a commented-out block. Without this block, the following lines would apply to all drives. */
static void begin_nameless(Reader *r) {
        ImportRule *rule = begin_block(r);

        import_comment_out_drives(rule, "this block names no drive");
}

static void read_names(Reader *r, char *s) {
        ImportRule *rule = r->named ? &r->import->rules[r->block] : begin_block(r);

        r->named = true;
        for (char *saved, *name = strtok_r(s, " \t,", &saved); name; name = strtok_r(NULL, " \t,", &saved)) {
                bool slash = ends_with(name, "/");

                if (*name != '/') {
                        import_comment_out_drives(rule, "the block has a word that is not a drive name");
                        return;
                }
                if (slash)
                        name[strlen(name) - 1] = '\0';
                if (import_match(rule, MATCH_NODE, "%s", name) &&
                    (slash || strpbrk(name, "*?[") || rule->match.criteria[0].n_patterns > 1))
                        note(r, IGNORED);
        }
}

/* Returns true if Debian ignores the key here and uses an earlier value. In the second block of a drive, Debian ignores each key that the
 * first block or the lines for all drives set. */
static bool is_set_before(const Reader *r, const char *key) {
        const ImportRule *global = r->import->rules, *block = global + r->block, *first = global + 1;

        while (first < block && !import_same_match(&first->match, &block->match))
                first++;
        return first < block && !block->drives_unknown &&
               (import_find_wish(first, key, false) || import_find_wish(global, key, false));
}

static void want(Reader *r, const Keyword *k, const char *value) {
        ImportRule *global = r->import->rules, *rule = global + r->block;
        const ImportWish *battery = import_find_wish(global, "apm_battery", false);

        if (!k->key)
                return;
        if (is_set_before(r, k->key)) {
                note(r, "Debian uses the value from the first block of this drive, or from the lines for all drives");
                return;
        }
        /* Rejects a line after a block. A surplus brace may have closed the block too early, and the line is then for the block's drive,
         * not for all drives. */
        if (rule == global && r->import->n_rules > 1) {
                note(r, "Debian ignores lines after a block");
                return;
        }

        import_want(rule, r->line, k->key, "%s", value);
        /* In Debian, an "apm" in a block does not override an "apm_battery" outside of blocks, so this apm_battery is added to the rule. */
        if (rule != global && streq(k->key, "apm") && battery && !import_find_wish(rule, battery->key, false))
                import_want(rule, battery->line, battery->key, "%s", battery->value);
}

/* Reads the text before, between or after braces: names, "KEY = VALUE", or a single word. */
static void read_part(Reader *r, char *s) {
        char *value = s;
        const Keyword *k;
        bool is_assigned;

        if (*s == '/') {
                read_names(r, s);
                return;
        }
        if (!*s)
                return;
        if (r->named)
                import_comment_out(&r->import->rules[r->block], "no opening brace follows the drive name");
        r->named = false;

        is_assigned = line_split(s, &value);
        k = keyword_find(s, '\0');
        if (k && k->alone != is_assigned && !strpbrk(value, " \t"))
                want(r, k, k->alone ? "on" : value);
        else {
                /* The value is not printed: it may be a password. */
                note(r, "\"%.*s\" is not imported in this form", (int) MIN(strcspn(s, " \t=:\"'"), 40U), s);
                /* If the word is a drive's name, the following lines are for that drive, not for all drives. */
                if (!is_assigned && r->block == 0)
                        begin_nameless(r);
        }
}

static void read_line(Reader *r, char *s) {
        const char *brace;

        for (char *c = strchr(s, '#'); c; c = strchr(c + 1, '#'))
                if (c == s || isblank((unsigned char) c[-1]))
                        *c = '\0';
        if (starts_with(s, "//"))
                return;
        s = text_strip(s);

        /* Debian requires "NAME {" and "}" on lines of their own, so a brace in another place gets a note. */
        brace = strpbrk(s, "{}");
        if (brace && (brace[1] || (*brace == '{') == (brace == s)))
                note(r, IGNORED);

        while (*s) {
                size_t n = strcspn(s, "{}");
                char sign = s[n];

                s[n] = '\0';
                read_part(r, text_strip(s));
                if (sign == '{' && !r->named)
                        begin_nameless(r);
                if (sign == '}')
                        r->block = 0;
                r->named = r->named && !sign;
                s += n + (sign != '\0');
        }
}

static bool has_pattern(const ImportRule *rule) {
        const Criterion *nodes = import_nodes(&rule->match);

        for (size_t i = 0; nodes && i < nodes->n_patterns; i++)
                if (strpbrk(nodes->patterns[i], "*?["))
                        return true;
        return false;
}

/* Moves blocks with a pattern before all other blocks. Debian never applied such blocks, but in drivekeep they would override the blocks
 * before them. An empty earlier block may stand for a drive that the pattern must not change: the block with the pattern is then commented
 * out. */
static void order_patterns(Import *import) {
        for (size_t i = 2; i < import->n_rules; i++) {
                ImportRule rule = import->rules[i];

                if (!has_pattern(&rule))
                        continue;
                for (size_t k = 1; k < i; k++)
                        if (import->rules[k].n_wishes == 0)
                                import_comment_out(
                                                &rule,
                                                "the block in line %u sets nothing, and may be an exception to this block",
                                                import->rules[k].line);
                memmove(import->rules + 2, import->rules + 1, (i - 1) * sizeof rule);
                import->rules[1] = rule;
        }
}

void hdparm_conf_read(const char *text, Import *ret) {
        _cleanup_free_ char *line = NULL;
        Reader r = { .import = ret };
        Lines l = { .next = text };

        /* The first rule is for all drives that Debian's udev rule matches. The rules of the blocks come later and win. */
        (void) import_match(import_add_rule(ret, 1), MATCH_NODE, "/dev/[sh]d[a-z]");
        while (lines_next(&l, true, &line)) {
                r.line = l.line;
                read_line(&r, line);
        }
        order_patterns(ret);
}
