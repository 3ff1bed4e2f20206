/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <strings.h>

#include "commands.h"
#include "hdparm-args.h"
#include "hdparm-blocks.h"
#include "hdparm-conf.h"
#include "hdparm-debian.h"
#include "hdparm-keyword.h"
#include "hdparm-remarks.h"
#include "words.h"

/* What stands behind a block is lost. */
static void note_sent(Reader *r, const Keyword *k) {
        if (k->option && k->power != KEYWORD_ON_BATTERY && (r->block > 0 || r->last_block == 0))
                r->blocks[r->block].sends = true;
}

/* *ret is NULL when what is there already stands. */
static int want(Reader *r, const Keyword *k, const char *value, unsigned line, ImportWish **ret) {
        bool outside = r->block == 0 && r->last_block > 0;
        ImportRule *rule = reader_rule(r);
        ImportWish *w;
        char *copy;
        int n;

        w = import_find_wish(rule, k->key);
        if (w && w->offered) {
                import_drop_wish(rule, k->key);
                w = NULL;
        }
        *ret = NULL;
        if (w && outside && w->line < r->last_block)
                return remark(&w->remarks, "line %u says %.40s, but stands behind a block, where Debian loses it", line,
                              value);
        if (!w) {
                n = import_add_wish(rule, line, k->key, value, &w);
                if (n < 0)
                        return n;
        } else {
                n = remark(&w->remarks, "line %u says it again; the last one counts, before it was %.40s", line,
                           w->value);
                copy = strdup(value);
                if (n < 0 || !copy)
                        return -ENOMEM;
                free(w->value);
                w->value = copy;
                w->line = line;
        }

        *ret = w;
        return hdparm_remark_wish(w, k, outside);
}

/* The value without what people put around it. */
static char *value_text(char *value) {
        size_t n;

        /* The shell takes them away. */
        for (char *from = value, *to = value;; from++)
                if (*from != '\\' && !(*to++ = *from))
                        break;

        n = strlen(value);
        if (n > 0 && strchr(";,", value[n - 1]))
                value[--n] = '\0';
        return conf_unquote(value);
}

/* A setting of ours that Debian's file has not: "scheduler". */
static int find_ours(const char *name, const char **ret) {
        static const char *const directories[] = { "queue", "device" };
        int k = 0;

        *ret = NULL;
        for (size_t i = 0; i < ELEMENTSOF(directories) && k >= 0 && !*ret; i++) {
                _cleanup_free_ char *value = NULL;
                char attribute[64];

                (void) snprintf(attribute, sizeof attribute, "%s/%s", directories[i], name);
                k = sysfs_setting(attribute, "", ret, &value);
        }

        return k;
}

static int read_unknown(Reader *r, const char *name, const char *value, unsigned line) {
        const Keyword *exact = keyword_find(name), *near = exact ?: keyword_nearest(name);
        const char *key;
        ImportWish *w;
        int k;

        k = find_ours(name, &key);
        if (k < 0)
                return k;
        key = key ?: near ? near->key : NULL;
        if (!key || !value)
                return remark(&r->import->remarks, "line %u: \"%.60s\" is nothing that hdparm.conf knows%s", line, name,
                              exact ? " in this form" : "");

        /* What is in doubt comes as an offer, and only where nothing plain stands. */
        if (import_find_wish(reader_rule(r), key))
                return 0;
        k = import_add_wish(reader_rule(r), line, key, value, &w);
        if (k < 0)
                return k;
        w->offered = true;
        return remark(&w->remarks,
                      "hdparm.conf knows no \"%.60s\"%s; if this is what was meant, take it out of the comment", name,
                      exact ? " in this form" : "");
}

static int read_secret(Reader *r, const Keyword *k, unsigned line) {
        note_sent(r, k);
        return remark(&reader_rule(r)->remarks,
                      "line %u: %s is not taken over: drivekeep sends no security commands and keeps no passwords; "
                      "Debian lost its text on the way to hdparm, so that it never worked",
                      line, k->name);
}

/* `first`: it begins its line. */
static int read_assignment(Reader *r, const char *name, char *value, bool first, bool comment_behind, unsigned line) {
        const Keyword *k = keyword_find(name);
        ImportWish *w;
        bool dressed = strpbrk(value, "\"';,");
        int n;

        value = value_text(value);

        if (!k || k->form == KEYWORD_FLAG)
                return read_unknown(r, name, value, line);

        if (first)
                note_sent(r, k);
        if (!k->key)
                return 0;

        n = want(r, k, value, line, &w);
        if (n < 0 || !w)
                return n;
        if (!first)
                return remark(&w->remarks, "Debian wants each setting on a line of its own: it never saw this one");
        if (dressed)
                return remark(&w->remarks, "Debian took the quotes, semicolon or comma for part of the value");
        if (comment_behind && k->form == KEYWORD_BOOLEAN && *value && strstr("on off 0 1", value))
                return remark(&w->remarks, "Debian took the words behind the value for hdparm's flag, and set nothing");
        return 0;
}

static int read_flag(Reader *r, const Keyword *k, unsigned line) {
        ImportWish *w;

        note_sent(r, k);
        return k->key ? want(r, k, "on", line, &w) : 0;
}

static bool looks_like_value(const char *word) {
        return isdigit((unsigned char) *word) || starts_with(word, "on") || starts_with(word, "off");
}

static bool is_name(const char *word) {
        word += *word == '"' || *word == '\'';
        return *word == '/' || (fnmatch("[hs]d[a-z]*", word, 0) == 0 && (!word[3] || word[3] == ','));
}

/* One line of words, with "{", "}" and "=" as words of their own. */
static int read_words(Reader *r, char **words, size_t n, unsigned line) {
        bool braced = false; /* "X { a = 1 ; b = 2 }" */
        int k = 0;

        for (size_t i = 0; i < n && k >= 0; i++) {
                const Keyword *flag, *secret;
                const char *next = i + 1 < n ? words[i + 1] : "";

                if (braced && words[i][0] == ';') {
                        if (!words[i][1])
                                continue;
                        memmove(words[i], words[i] + 1, strlen(words[i]));
                }
                if (conf_is_comment(words[i]))
                        break;
                braced = braced || streq(words[i], "{") || streq(next, "{");
                flag = keyword_find(words[i]);
                secret = keyword_secret(words[i]);
                if (secret) {
                        k = read_secret(r, secret, line);
                        while (i + 1 < n && !streq(words[i + 1], "}"))
                                i++;
                        continue;
                }

                if (streq(words[i], "{")) {
                        if (r->headers.n_items > 0)
                                k = reader_begin_block(r, r->header_line, NULL);
                        else {
                                k = remark(&r->import->remarks, "line %u: this { has no name before it", line);
                                k = k < 0 ? k : reader_begin_block(r, line, "");
                        }
                } else if (streq(words[i], "}"))
                        k = reader_end_block(r, line, n == 1);
                else if (streq(next, "{")) {
                        k = reader_begin_block(r, line, words[i]);
                        i++;
                } else if (streq(next, "=") && i + 3 < n && streq(words[i + 3], "{") && !keyword_find(words[i])) {
                        k = reader_begin_tagged(r, line, words[i], conf_unquote(words[i + 2]));
                        i += 3;
                } else if (streq(next, "=")) {
                        bool has_value = i + 2 < n && words[i + 2][0] != '}';
                        char none[] = "";

                        k = reader_begin_unbraced(r);
                        if (k < 0)
                                return k;
                        k = read_assignment(r, words[i], has_value ? words[i + 2] : none, i == 0,
                                            has_value && i + 3 < n && words[i + 3][0] != '}', line);
                        i += has_value ? 2 : 1;
                        /* Other words behind a value mean nothing to Debian, and are most often a comment. */
                        while (i + 1 < n && !streq(words[i + 1], "}") && !streq(words[i + 1], "{") &&
                               !(i + 2 < n && streq(words[i + 2], "=")) && !conf_is_comment(words[i + 1]))
                                i++;
                } else if (flag && flag->form == KEYWORD_FLAG) {
                        k = flag->key ? reader_begin_unbraced(r) : 0;
                        k = k < 0 ? k : read_flag(r, flag, line);
                } else if (is_name(words[i]))
                        k = reader_add_header(r, words[i], line);
                else {
                        /* "apm 127", "apm : 127" */
                        size_t value = streq(next, ":") ? i + 2 : i + 1;

                        if (value < n && looks_like_value(words[value])) {
                                k = reader_begin_unbraced(r);
                                k = k < 0 ? k : read_unknown(r, words[i], value_text(words[value]), line);
                                i = value;
                        } else
                                k = read_unknown(r, words[i], NULL, line);
                }
        }

        return k;
}

/* "command_line {", with what may stand behind it; *ret_text is what is behind the brace. */
static bool is_command_line(const char *s, const char **ret_text) {
        s += strspn(s, " \t");
        if (strncmp(s, "command_line", strlen("command_line")) != 0)
                return false;
        s += strlen("command_line");
        s += strspn(s, " \t");
        *ret_text = s + 1;
        return *s == '{';
}

static int read_command(Reader *r, const char *s, size_t n, unsigned line) {
        size_t first = r->import->n_rules;
        int k;

        k = commands_read(s, n, line, r->import);
        for (size_t i = first; i < r->import->n_rules && k >= 0; i++)
                k = remark(&r->import->rules[i].remarks,
                           "today's Debian ignores command_line { … }: nothing of this was set since 2012");
        return k;
}

/* "apm = 127" or "standby" in command_line { … }: nothing that a shell has, and Debian reads it. */
static bool is_default(const char *s, const Words *words) {
        const Keyword *k = words->n_items > 0 ? keyword_find(words->items[0]) : NULL;

        if (!k || strchr(s, '}'))
                return false;
        return k->form == KEYWORD_FLAG ? words->n_items == 1
                                       : words->n_items > 1 && streq(words->items[1], "=") && strstr(s, " = ");
}

static int read_default(Reader *r, const Words *words, unsigned line) {
        int k;

        k = read_words(r, words->items, words->n_items, line);
        return k < 0 ? k
                     : remark(&reader_rule(r)->remarks,
                              "line %u stands in command_line { … }; Debian takes it for all drives without a block "
                              "above it",
                              line);
}

static int read_line(Reader *r, char *s, unsigned line) {
        _cleanup_(words_done) Words words = {};
        const char *behind;
        size_t n;
        int k;

        if (!r->commands && hdparm_args_fits(s))
                return hdparm_args_read(s, line, r->import);

        if (!r->commands && is_command_line(s, &behind)) {
                r->commands = true;
                s += behind - s;
                /* What comes now is behind no block for Debian. */
                r->block = 0;
                r->last_block = 0;
        } else {
                k = words_split_conf(s, &words);
                if (k >= 0 && !r->commands)
                        return read_words(r, words.items, words.n_items, line);
                if (k >= 0 && is_default(s, &words))
                        return read_default(r, &words, line);
                if (k < 0)
                        return k;
        }

        n = strlen(s);
        while (n > 0 && isspace((unsigned char) s[n - 1]))
                n--;
        if (n > 0 && s[n - 1] == '}' && !memchr(s, '{', n - 1)) {
                r->commands = false;
                n--;
        }
        return read_command(r, s, n, line);
}

/* Takes the end of a line away, and the comments behind it, as grep and the shell's `read` do. The next end of a line. */
static char *join_lines(char *end, unsigned *line) {
        for (;;) {
                char *s = end + 1;

                *end = ' ';
                ++*line;
                s += strspn(s, " \t\v\f\r");
                end = strchr(s, '\n');
                if (!end || (*s != '#' && *s != '\n'))
                        return end;
                memset(s, ' ', (size_t) (end - s));
        }
}

/* Debian gives up there, mostly; which is told where it matters. */
static int remark_comment(Reader *r, unsigned line) {
        if (r->commented)
                return 0;
        r->commented = true;
        return remark(&r->import->remarks,
                      "line %u is read as a comment, as are all that begin with ';' or \"//\"; Debian takes only '#' for one",
                      line);
}

static int read_lines(Reader *r, const char *text, size_t size) {
        _cleanup_free_ char *copy = strndup(text, size);
        unsigned line = 1;
        int k = 0;

        if (!copy)
                return -ENOMEM;

        r->import->empty = true;
        for (char *s = copy, *next; s && k >= 0; s = next) {
                unsigned first = line++;
                char *end;

                next = strchr(s, '\n');
                while (next && next > s && next[-1] == '\\') {
                        next[-1] = ' ';
                        next = join_lines(next, &line);
                }
                end = next ? next : s + strlen(s);
                if (next)
                        *next++ = '\0';
                if (end > s && end[-1] == '\r')
                        end[-1] = '\0';

                s += strspn(s, " \t\v\f\r");
                if (*s == '\0' || *s == '#')
                        continue;
                r->import->empty = false;
                k = conf_is_comment(s) ? remark_comment(r, first) : read_line(r, s, first);
        }

        return k;
}

int hdparm_conf_read(const char *text, size_t size, const Links *links, Import *ret) {
        _cleanup_(reader_done) Reader r = { .import = ret };
        ImportRule *rule;
        unsigned gives_up;
        int k;

        k = debian_gives_up(text, size, &gives_up);
        if (k == -E2BIG) /* what no command line can hold; it never came so far */
                gives_up = 1;
        else if (k < 0)
                return k;

        /* The first rule is for all drives, whatever is found for it, so that the others win. */
        k = reader_add_rule(&r, 1, &rule);
        if (k >= 0)
                k = match_add(&rule->match, MATCH_NODE, NULL, HDPARM_NODES);
        if (k >= 0)
                k = read_lines(&r, text, size);
        if (k >= 0)
                k = reader_drop_headers(&r);
        if (k >= 0)
                k = reader_grow(&r);
        if (k < 0)
                return k;

        const HdparmFile file = {
                .import = ret,
                .blocks = r.blocks,
                .gives_up = gives_up,
                .links = links,
        };
        return hdparm_remark_file(&file);
}
