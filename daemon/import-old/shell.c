/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <stdio.h>

#include "shell-branches.h"
#include "shell-variables.h"
#include "shell-word.h"
#include "shell.h"

#define OUTPUTS_MAX 512U     /* of all commands together: more than any script means */
#define OUTPUT_WORDS_MAX 64U /* of a command that is handed on for each of them */
#define READINGS 3U          /* what stands behind, what it calls, and what is handed on */

typedef struct Shell {
        ShellText text;
        Variables variables;
        Branches branches;
        bool learns;
        size_t n_outputs;

        /* The command that is being read. */
        Words words, outputs;
        unsigned first_line;

        Words heres; /* what ends the texts that begin in the next line; '-' in front: tabs may stand before it */

        int (*each)(void *userdata, const ShellCommand *c);
        void *userdata;
} Shell;

static void command_done(Shell *s) {
        words_done(&s->words);
        words_done(&s->outputs);
}

static void shell_done(Shell *s) {
        variables_done(&s->variables);
        branches_done(&s->branches);
        command_done(s);
        words_done(&s->heres);
}

bool shell_is_name(const char *word) {
        return word_is_one_of(word, "sh bash dash ash ");
}

bool shell_is_open(const char *word) {
        return strpbrk(word, "$`");
}

/* "for NAME in WORD…"; without a list it is what the script is given, and with select what its user takes. */
static int set_loop_variable(Shell *s, size_t first) {
        _cleanup_(words_done) Words values = {};
        char *const *words = s->words.items + first;
        size_t n_words = s->words.n_items - first;
        int r = 0;

        if (n_words < 3 || !streq(words[1], "in") || !streq(words[-1], "for"))
                return variables_command(&s->variables, words, 1, "read");

        for (size_t i = 2; i < n_words && r >= 0; i++)
                r = words_add(&values, words[i], strlen(words[i]));
        return r < 0 ? r : variables_set(&s->variables, words[0], strlen(words[0]), &values, true);
}

/* Once for each of the files that it writes to in a loop. */
static int hand_on(Shell *s, size_t first) {
        ShellCommand c = {
                .words = { .items = s->words.items + first, .n_items = s->words.n_items - first },
                .line = s->first_line,
                .decided = branches_decided(&s->branches),
        };
        size_t i = 0;
        int r;

        if (s->learns)
                return 0;
        do {
                c.output = i < s->outputs.n_items ? s->outputs.items[i] : NULL;
                r = s->each(s->userdata, &c);
        } while (r >= 0 && ++i < s->outputs.n_items && c.words.n_items <= OUTPUT_WORDS_MAX);

        return r;
}

static bool starts_list(const char *word) {
        return streq(word, "for") || streq(word, "select");
}

/* At the end of a command: hands it on, unless it is the shell's own. */
static int end_command(Shell *s, ShellEnd end) {
        size_t first = 0, n_words = s->words.n_items;
        const char *before;
        bool sysfs = false;
        int r;

        r = branches_enter(&s->branches, &s->words, s->first_line, &first);
        before = first > 0 ? s->words.items[first - 1] : "";
        if (r >= 0 && first < n_words && starts_list(before)) {
                r = set_loop_variable(s, first);
                first = n_words;
        }
        if (r >= 0 && first < n_words)
                r = variables_command(&s->variables, s->words.items + first, n_words - first, before);
        while (first < n_words && assignment_length(s->words.items[first]) > 0)
                first++;

        if (r >= 0 && first < n_words)
                r = hand_on(s, first);
        if (r >= 0 && first < n_words) {
                for (size_t i = 0; i < s->outputs.n_items; i++)
                        sysfs = sysfs || strncmp(s->outputs.items[i], "/sys/", 5) == 0;
                branches_command(&s->branches, s->words.items + first, n_words - first, sysfs, s->first_line);
        }
        if (r >= 0)
                r = branches_leave(&s->branches, end, s->first_line);

        command_done(s);
        return r;
}

/* "<< WORD", from the word on. What a shell is given so is read as what it is. */
static int read_here(Shell *s) {
        _cleanup_free_ char *word = NULL, *end = NULL;
        bool tabs = text_peek(&s->text, 0) == '-';
        int r;

        if (tabs)
                (void) text_next(&s->text);
        while (s->text.at < s->text.end && (*s->text.at == ' ' || *s->text.at == '\t'))
                (void) text_next(&s->text);
        r = shell_word(&s->text, &word);
        if (r < 0)
                return r;
        /* ((1 << 2)) */
        if (isdigit((unsigned char) *word))
                return 0;
        for (size_t i = 0; i < MIN(s->words.n_items, 2U); i++)
                if (shell_is_name(base_name(s->words.items[i])))
                        return 0;

        if (asprintf(&end, "%c%s", tabs ? '-' : ' ', word) < 0) {
                end = NULL;
                return -ENOMEM;
        }
        return words_add(&s->heres, end, strlen(end));
}

/* At the beginning of a line: goes behind the texts that are no commands. */
static void skip_heres(Shell *s) {
        for (size_t i = 0; i < s->heres.n_items; i++) {
                const char *end = s->heres.items[i];
                bool found = false;

                while (s->text.at < s->text.end && !found) {
                        const char *line;

                        while (*end == '-' && s->text.at < s->text.end && *s->text.at == '\t')
                                s->text.at++;
                        line = s->text.at;
                        while (s->text.at < s->text.end && *s->text.at != '\n')
                                s->text.at++;
                        found = strlen(end + 1) == (size_t) (s->text.at - line) &&
                                memcmp(end + 1, line, strlen(end + 1)) == 0;
                        if (s->text.at < s->text.end)
                                (void) text_next(&s->text);
                }
        }
        words_done(&s->heres);
}

/* "> FILE": kept for what is written by echo. What else is said (descriptor 2) goes elsewhere. */
static int read_redirection(Shell *s, bool standard) {
        _cleanup_free_ char *file = NULL;
        bool out = *s->text.at == '>' && standard, copies = false;
        const char *sign = s->text.at;
        int r;

        while (s->text.at < s->text.end && strchr("<>&|", *s->text.at))
                copies = text_next(&s->text) == '&';
        if (s->text.at - sign == 2 && strncmp(sign, "<<", 2) == 0)
                return read_here(s);
        while (s->text.at < s->text.end && (*s->text.at == ' ' || *s->text.at == '\t'))
                (void) text_next(&s->text);
        r = shell_word(&s->text, &file);
        if (r < 0 || !out)
                return r;
        /* ">&2", ">&-" */
        if (copies && strspn(file, "0123456789-") == strlen(file))
                return 0;

        words_done(&s->outputs);
        if (s->n_outputs < OUTPUTS_MAX)
                r = variables_put_in(&s->variables, file, &s->outputs);
        if (r >= 0 && s->outputs.n_items == 0)
                r = words_add(&s->outputs, file, strlen(file));
        s->n_outputs += s->outputs.n_items;
        return r;
}

/* "NAME ()" */
static bool begins_function(const Shell *s) {
        const char *p = s->text.at + 1;

        while (p < s->text.end && (*p == ' ' || *p == '\t'))
                p++;
        return s->words.n_items == 1 && p < s->text.end && *p == ')' && !strchr(s->words.items[0], '=');
}

static int read_function(Shell *s) {
        int r;

        while (text_next(&s->text) != ')')
                ;
        r = branches_function(&s->branches, s->words.items[0]);
        command_done(s);
        return r;
}

/* What ends a command; s->text.at goes behind it. */
static ShellEnd read_end(Shell *s) {
        char c = text_next(&s->text), again = text_peek(&s->text, 0);

        if (c == '\n')
                skip_heres(s);
        if (c == '(')
                return SHELL_END_OPEN;
        if (c == ')')
                return SHELL_END_CLOSE;
        if (c == '\n' || (c == '&' && again != '&') || (c == ';' && again != ';' && again != '&'))
                return SHELL_END_COMMAND;
        if (c == '|' && again != '|')
                return SHELL_END_PIPE;

        (void) text_next(&s->text);
        if (c == ';' && again == ';' && text_peek(&s->text, 0) == '&')
                (void) text_next(&s->text);
        return c == '&' ? SHELL_END_AND : c == '|' ? SHELL_END_OR : SHELL_END_BRANCH;
}

static int read_one(Shell *s) {
        _cleanup_free_ char *word = NULL;
        char c = *s->text.at;
        int r;

        if (c == '\n' || strchr(";&|()", c)) {
                if (c == '&' && text_peek(&s->text, 1) == '>') {
                        (void) text_next(&s->text);
                        return read_redirection(s, true);
                }
                if (c == '(' && begins_function(s))
                        return read_function(s);
                return end_command(s, read_end(s));
        }
        if (isspace((unsigned char) c) || (c == '\\' && text_peek(&s->text, 1) == '\n')) {
                if (c == '\\')
                        (void) text_next(&s->text);
                (void) text_next(&s->text);
                return 0;
        }
        if (c == '#') {
                while (s->text.at < s->text.end && *s->text.at != '\n')
                        s->text.at++;
                return 0;
        }
        if (c == '<' || c == '>')
                return read_redirection(s, true);

        if (s->words.n_items == 0)
                s->first_line = s->text.line;
        r = shell_word(&s->text, &word);
        if (r >= 0 && assignment_length(word) > 0 && word[strcspn(word, "=") + 1] == '\0' &&
            text_peek(&s->text, 0) == '(')
                r = shell_array(&s->text, &word);
        if (r < 0)
                return r;

        /* "2>/dev/null" */
        if (*word && s->text.at < s->text.end && (*s->text.at == '>' || *s->text.at == '<') &&
            strspn(word, "0123456789") == strlen(word))
                return read_redirection(s, streq(word, "1"));
        if (words_are_many(&s->words))
                return 0;
        r = variables_put_in(&s->variables, word, &s->words);
        /* What variables are in what begins here is not what they were before it. */
        if (r >= 0 && s->words.n_items == 1 && (streq(word, "else") || streq(word, "{")))
                r = end_command(s, SHELL_END_COMMAND);
        return r;
}

static int read_text(Shell *s, const char *text, size_t size, unsigned line) {
        int r;

        s->text.at = text;
        s->text.end = text + size;
        s->text.line = s->first_line = line;
        s->n_outputs = 0;
        words_done(&s->heres);
        variables_begin(&s->variables);

        r = branches_begin(&s->branches);
        while (r >= 0 && s->text.at < s->text.end)
                r = read_one(s);
        return r < 0 ? r : end_command(s, SHELL_END_COMMAND);
}

int shell_commands(const char *text, size_t size, unsigned line, int (*each)(void *userdata, const ShellCommand *c),
                   void *userdata) {
        _cleanup_(shell_done) Shell s = { .each = each, .userdata = userdata };
        int r = 0;

        s.variables.branches = &s.branches;
        for (unsigned i = 1; i <= READINGS && r >= 0; i++) {
                s.learns = i < READINGS;
                r = read_text(&s, text, size, line);
        }

        return r;
}
