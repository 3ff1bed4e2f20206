/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fnmatch.h>
#include <stdio.h>

#include "debian-parser.h"
#include "debian-keyword.h"
#include "debian-line.h"

#define OPTIONS_MAX 8192U /* bytes */
#define PATTERN_MAX 256U

/* The variables of the shell function hdparm_options, with the same names. */
typedef struct Function {
        const DebianDrive *drive;
        char *disc, *options, *defaults;
        bool opt_quiet, def_quiet, command_line;
        DebianAnswer answer;
        bool ended;
} Function;

static void function_done(Function *f) {
        free(f->disc);
        free(f->options);
        free(f->defaults);
        debian_answer_done(&f->answer);
}

void debian_answer_done(DebianAnswer *a) {
        free(a->output);
        free(a->error);
        *a = (DebianAnswer){};
}

static int string_set(char **s, const char *value) {
        char *copy;

        copy = strdup(value);
        if (!copy)
                return -ENOMEM;
        free(*s);
        *s = copy;
        return 0;
}

/* Interprets backslash escapes in place, like dash's echo. */
static void echo_unescape(char *s) {
        static const char from[] = "abefnrtv\\", to[] = "\a\b\033\f\n\r\t\v\\";
        char *out = s;

        while (*s) {
                const char *known;

                if (*s != '\\') {
                        *out++ = *s++;
                        continue;
                }
                s++;
                if (*s == 'c')
                        break;

                known = *s ? strchr(from, *s) : NULL;
                if (known) {
                        *out++ = to[known - from];
                        s++;
                } else if (*s >= '0' && *s <= '7') {
                        unsigned c = 0;

                        s += *s == '0';
                        for (size_t n = 0; n < 3 && *s >= '0' && *s <= '7'; n++)
                                c = c * 8 + (unsigned) (*s++ - '0');
                        *out++ = (char) c;
                } else
                        *out++ = '\\';
        }
        *out = '\0';
}

/* Emulates both `return` and `exit`. In a loop after a pipe, both commands only end the subshell of the loop. */
static int function_end(Function *f, int status, unsigned line, const char *output, const char *error) {
        f->ended = true;
        f->answer.status = status;
        f->answer.gave_up = status == 0 ? 0 : line;
        f->answer.output = strdup(output);
        f->answer.error = strdup(error);
        if (!f->answer.output || !f->answer.error)
                return -ENOMEM;

        echo_unescape(f->answer.output);
        echo_unescape(f->answer.error);
        return 0;
}

static int function_fail(Function *f, unsigned line, bool on_stdout, const char *what, const char *word) {
        _cleanup_free_ char *said = NULL;

        if (asprintf(&said, "%s%s", what, word) < 0) {
                said = NULL;
                return -ENOMEM;
        }

        return function_end(f, 1, line, on_stdout ? said : "", on_stdout ? "" : said);
}

/* Returns the length of ${i%${i#??}}. The shell takes the text after the first two bytes of $i as a pattern, and
 * removes the shortest match of this pattern from the end of $i. */
static size_t head_length(const char *i) {
        size_t n = strlen(i), n_backslashes = 0;
        char pattern[PATTERN_MAX + 2];

        /* Texts longer than PATTERN_MAX are treated as literal, since the time of fnmatch(3) may grow with the product
         * of the lengths of text and pattern. */
        if (n <= 2 || n > PATTERN_MAX || !strpbrk(i + 2, "*?[\\"))
                return MIN(n, 2U);

        strcpy(pattern, i + 2);
        while (n_backslashes < n - 2 && i[n - 1 - n_backslashes] == '\\')
                n_backslashes++;
        if (n_backslashes % 2 == 1)
                strcat(pattern, "\\"); /* a trailing backslash is literal */

        for (size_t k = n + 1; k > 0; k--)
                if (fnmatch(pattern, i + k - 1, 0) == 0)
                        return k - 1;

        return n;
}

static bool same_head(const char *a, const char *b) {
        size_t n = head_length(a);

        return n == head_length(b) && memcmp(a, b, n) == 0;
}

/* Emulates the shell function hdparm_set_option. */
static int set_option(Function *f, const char *option) {
        char **which = f->disc && *f->disc ? &f->options : &f->defaults;
        bool quiet = which == &f->options ? f->opt_quiet : f->def_quiet;
        _cleanup_free_ char *old = *which, *fresh = NULL;
        size_t n = 0;

        *which = NULL;
        fresh = malloc((old ? 2 * strlen(old) : 0) + strlen(option) + 8);
        if (!fresh)
                return -ENOMEM;

        for (char *saved, *i = old ? strtok_r(old, " ", &saved) : NULL; i; i = strtok_r(NULL, " ", &saved))
                if (!same_head(i, option)) {
                        fresh[n++] = ' ';
                        n = (size_t) (stpcpy(fresh + n, i) - fresh);
                } else if (n >= 2 && memcmp(fresh + n - 2, "-q", 2) == 0)
                        n -= 2;

        fresh[n++] = ' ';
        if (quiet)
                n = (size_t) (stpcpy(fresh + n, "-q") - fresh);
        fresh[n++] = ' ';
        n = (size_t) (stpcpy(fresh + n, option) - fresh);
        fresh[n] = '\0';
        if (n > OPTIONS_MAX)
                return -E2BIG;

        *which = TAKE_PTR(fresh);
        return 0;
}

/* Returns field n of an unquoted $VALUE, malloc'ed; 0 is the first field. Returns NULL if the value has fewer
 * fields. */
static char *value_field(const char *value, size_t n) {
        for (;; n--) {
                size_t length;

                value += strspn(value, " \t\n");
                length = strcspn(value, " \t\n");
                if (length == 0)
                        return NULL;
                if (n == 0)
                        return strndup(value, length);
                value += length;
        }
}

static int set_joined(Function *f, const char *option, const char *value) {
        _cleanup_free_ char *joined = NULL;

        if (asprintf(&joined, "%s%s", option, value) < 0) {
                joined = NULL;
                return -ENOMEM;
        }

        /* The shell function does not quote "-B $VALUE", so that only the first word is used. */
        joined[strcspn(joined, " \t\n")] = '\0';
        return set_option(f, joined);
}

/* Emulates hdparm_eval_value $VALUE -W: a second word in the unquoted value takes the place of the option. */
static int eval_value(Function *f, const ShellLine *l, const DebianKeyword *k) {
        _cleanup_free_ char *first = value_field(l->value, 0), *second = value_field(l->value, 1);
        const char *value = first ?: k->option, *option = first ? (second ?: k->option) : "";

        if (streq(value, "off") || streq(value, "0"))
                return set_joined(f, option, "0");
        if (streq(value, "on") || streq(value, "1"))
                return set_joined(f, option, "1");

        /* The shell function calls log_failure_msg, which does not exist. */
        return function_fail(f, l->line, false, "log_failure_msg: not found", "");
}

static int read_assignment(Function *f, const ShellLine *l) {
        const DebianKeyword *k = debian_keyword(l->key);

        if (!k || k->form == KEYWORD_FLAG)
                return function_fail(f, l->line, true, "Unknown option ", l->key);
        if (!k->option)
                return 0;
        if ((k->power == KEYWORD_ON_MAINS && f->drive->on_battery) ||
            (k->power == KEYWORD_ON_BATTERY && !f->drive->on_battery))
                return 0;

        switch (k->form) {
        case KEYWORD_BOOLEAN:
                return eval_value(f, l, k);
        case KEYWORD_TEXT:
                return set_joined(f, k->option, l->value);
        case KEYWORD_SECRET: /* hdparm_set_option uses only $1: the password is dropped */
                return set_option(f, k->option);
        case KEYWORD_FLAG:
                break;
        }

        return 0;
}

static int begin_block(Function *f, const ShellLine *l) {
        _cleanup_free_ char *target = NULL;
        int r;

        if (streq(l->key, "command_line")) {
                free(TAKE_PTR(f->disc));
                free(TAKE_PTR(f->options));
                f->opt_quiet = false;
                f->command_line = true;
                return 0;
        }

        r = f->drive->follow ? f->drive->follow(f->drive->userdata, l->key, &target) : 0;
        if (r < 0)
                return r;
        if (target)
                target[strcspn(target, "0123456789")] = '\0';

        f->opt_quiet = f->def_quiet;
        r = string_set(&f->disc, target ?: l->key);
        if (r >= 0)
                r = string_set(&f->options, f->defaults ?: "");
        return r;
}

/* Emulates echo $OPTIONS, which separates the words by single blanks. */
static int print_options(Function *f, const char *options) {
        _cleanup_free_ char *line = malloc(strlen(options) + 1);
        size_t n = 0;

        if (!line)
                return -ENOMEM;
        for (const char *p = options; *p; p++)
                if (*p != ' ')
                        line[n++] = *p;
                else if (n > 0 && line[n - 1] != ' ')
                        line[n++] = ' ';
        while (n > 0 && line[n - 1] == ' ')
                n--;
        line[n] = '\0';

        return function_end(f, 0, 0, line, "");
}

static int end_block(Function *f, const ShellLine *l) {
        if (!(f->disc && *f->disc) && !f->command_line)
                return function_fail(f, l->line, false, "No disk enabled. Exiting", "");

        if (f->options && *f->options && streq(f->disc ?: "", f->drive->node))
                return print_options(f, f->options);

        f->command_line = false;
        return 0;
}

static int read_word(Function *f, const ShellLine *l) {
        const DebianKeyword *k;

        if (streq(l->key, "}"))
                return end_block(f, l);

        if (streq(l->key, "quiet")) {
                if (f->disc && *f->disc)
                        f->opt_quiet = true;
                else
                        f->def_quiet = true;
                return 0;
        }

        k = debian_keyword(l->key);
        if (k && k->form == KEYWORD_FLAG)
                return set_option(f, k->option);

        return f->command_line ? 0 : function_fail(f, l->line, false, "unknown option ", l->key);
}

static int read_line(Function *f, const ShellLine *l) {
        if (streq(l->sep, "{"))
                return begin_block(f, l);
        if (streq(l->sep, "="))
                return read_assignment(f, l);
        if (streq(l->sep, ""))
                return read_word(f, l);

        return f->command_line ? 0 : function_fail(f, l->line, false, "unknown separator ", l->sep);
}

/* Sets Debian's defaults for drives with APM. Called before the first line is read. */
static int set_unasked(Function *f) {
        int r;

        if (!f->drive->apm)
                return 0;
        if (!f->drive->on_battery)
                return set_option(f, "-B254");

        r = set_option(f, "-B128");
        return r < 0 ? r : set_option(f, "-S36");
}

int debian_options(const char *text, size_t size, const DebianDrive *d, DebianAnswer *ret) {
        _cleanup_(function_done) Function f = { .drive = d };
        _cleanup_(shell_line_done) ShellLine line = {};
        ShellReader reader = { .text = text, .size = size };
        int r;

        r = set_unasked(&f);
        while (r >= 0 && !f.ended) {
                r = shell_read(&reader, &line);
                if (r <= 0)
                        break;
                r = read_line(&f, &line);
        }
        if (r >= 0 && !f.ended)
                r = print_options(&f, f.defaults ?: "");
        if (r < 0)
                return r;

        *ret = f.answer;
        f.answer = (DebianAnswer){};
        return 0;
}
