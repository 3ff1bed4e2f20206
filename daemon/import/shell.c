/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <limits.h>

#include "shell.h"

/* ---- words: removal of quotes, and expansion of variables ---- */

#define SPLIT "\x1f" /* stands for a blank in the value of an unquoted variable */
#define VALUE_MAX 4096U

typedef struct ShellText {
        const char *at;
        Words variables; /* "NAME=VALUE"; the last assignment to a name wins; a value with '$' is not known */
} ShellText;

static size_t name_length(const char *s) {
        size_t n = 0;

        while (isalnum((unsigned char) s[n]) || s[n] == '_')
                n++;
        return isdigit((unsigned char) *s) ? 0 : n;
}

/* Returns the length of the name in NAME=VALUE or NAME+=VALUE; 0: not an assignment. */
static size_t shell_assignment_length(const char *word) {
        size_t n = name_length(word);

        return word[n + (word[n] == '+')] == '=' ? n : 0;
}

/* Returns "NAME=VALUE" of a variable; NULL: the variable was not set. */
static const char *shell_find_variable(const ShellText *s, const char *name, size_t n) {
        for (size_t i = s->variables.n_items; i-- > 0;)
                if (strncmp(s->variables.items[i], name, n) == 0 && s->variables.items[i][n] == '=')
                        return s->variables.items[i];

        return NULL;
}

static void shell_set_variable(ShellText *s, const char *name, size_t n, const char *value) {
        _cleanup_free_ char *pair = must_format("%.*s=%s", (int) n, name, value);

        words_add(&s->variables, pair, strlen(pair));
}

/* Writes the value of $NAME or ${NAME}, or "$NAME" if the value is not known. */
static void put_variable(ShellText *s, FILE *word, bool quoted) {
        bool braces = s->at[1] == '{';
        const char *name = s->at + 1 + braces, *pair;
        size_t n = name_length(name);

        pair = n > 0 && (!braces || name[n] == '}') ? shell_find_variable(s, name, n) : NULL;
        s->at = name + (braces ? strcspn(name, "}\n") : n);
        s->at += braces && *s->at == '}';
        if (!pair || script_is_open(pair) || strlen(pair) + (size_t) ftell(word) > VALUE_MAX) {
                fprintf(word, "$%.*s", (int) n, name);
                return;
        }
        for (const char *p = pair + n + 1; *p; p++)
                fputc(!quoted && isspace((unsigned char) *p) ? *SPLIT : *p, word);
}

/* Copies ( ... ), (( ... )) and $( ... ) unchanged, and ` ... ` as $( ... ). */
static void put_substitution(ShellText *s, FILE *word) {
        bool group = *s->at == '(', tick = *s->at == '`';
        const char *begin = s->at + (group || tick ? 1 : 2), *p;
        unsigned depth = 1;

        begin += strspn(begin, " \t");
        for (p = begin; *p && depth > 0; p++) {
                p = starts_with(p, "case") && isspace((unsigned char) p[4]) ? strstr(p, "esac") ?: p
                    : *p == '#' && isspace((unsigned char) p[-1])           ? strchr(p, '\n') ?: p
                    : *p == '"' || *p == '\''                               ? strchr(p + 1, *p) ?: p
                    : *p == '\\' && p[1]                                    ? p + 1
                                                                            : p;
                depth += *p == '(' && !tick;
                depth -= *p == (tick ? '`' : ')');
        }
        /* Arithmetic may set any variable, so all variables become unknown. */
        if (*begin == '(' &&
            (group || memchr(begin, '=', (size_t) (p - begin)) || memmem(begin, (size_t) (p - begin), "++", 2) ||
             memmem(begin, (size_t) (p - begin), "--", 2)))
                words_done(&s->variables);
        fprintf(word, "%s(%.*s)", group ? "" : "$", (int) (p - begin) - (depth == 0), begin);
        s->at = p;
}

static void put_word(ShellText *s, FILE *word) {
        char quote = '\0';

        while (*s->at && (quote || !strchr(" \t\r\n;&|)<>", *s->at))) {
                char c = *s->at;

                if (c == '(' && !quote) {
                        put_substitution(s, word);
                        return; /* "()" ends the word, as in "f(){" */
                }
                if (quote != '\'' && (c == '$' || c == '`')) {
                        (s->at[1] == '(' || c == '`') ? put_substitution(s, word) : put_variable(s, word, quote);
                        continue;
                }

                s->at++;
                if (c == quote)
                        quote = '\0';
                else if (!quote && (c == '"' || c == '\''))
                        quote = c;
                else if (c == '\\' && quote != '\'' && *s->at) {
                        c = *s->at++;
                        if (quote && !strchr("\\\"$`\n", c))
                                fputc('\\', word);
                        if (c != '\n')
                                fputc(c, word);
                } else
                        fputc(c, word);
        }
}

/* Adds the word at s->at. Unquoted variables may split the word; paths with braces are expanded. */
static void shell_read_words(ShellText *s, Words *to) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        put_word(s, f);
        must_close(f);

        /* Adds an assignment as one word: its value is split and expanded where the variable is used. */
        if (shell_assignment_length(text) > 0) {
                words_add(to, text, size);
                return;
        }
        for (char *rest = text, *part; (part = strsep(&rest, SPLIT));)
                if ((*part == '/' || starts_with(part, "{/")) && !strpbrk(part, " \t\n"))
                        words_add_braces(to, part);
                else if (*part)
                        words_add(to, part, strlen(part));
}

/* ---- simple commands ----
 *
 * Branches, functions and conditions are not evaluated: their commands are reported with the line of the condition. There are two
 * exceptions, which are frequent in scripts for drives: tests for the presence of a program or drive, and `for` over plain words. */

#define PRESENCES_MAX 64U

/* What happens to a command when the script runs, provided that the programs and drives that the script tests for are present. */
typedef enum Run {
        RUNS,
        SKIPPED,
        PASSED, /* the command is skipped, since an earlier branch of the same block ran */
        OPEN,   /* whether the command runs is known only when the script runs */
        CALLED, /* the command is in the body of a function, and runs where the function is called */
} Run;

typedef struct Script {
        ShellText shell;
        const char *counted; /* the position whose line number is `line` */
        unsigned line;
        Words functions;           /* names of the script's functions */
        ScriptCommand command;     /* the command being read */
        unsigned text;             /* ScriptCommand.text of the next command */
        bool test, negated;        /* `test`: the command is a test ("["); `negated`: the command follows "!" */
        bool pattern;              /* the position is in a pattern of `case` */
        Run run;                   /* whether the command being read runs */
        Run status;                /* whether a command after "&&" would run, given the last command's result */
        unsigned status_line;      /* line of the last command */
        unsigned status_number;    /* ScriptCommand.number of the last command; 0: the last command is a test */
        bool inverted;             /* the last command followed "!" */
        unsigned count;            /* number of commands so far, without tests */
        ScriptPresences presences; /* ScriptCommand.presences of the next command */
        bool begins_list;          /* the next command begins a list of commands joined by "&&" and "||" */

        /* Values of ScriptCommand.unless. `inside`: for the commands in each open block. `otherwise`: for the commands after the "else" of
         * each open block. */
        unsigned unless, inside[64], otherwise[64];

        unsigned depth;  /* nesting of blocks: "if", "for", "case", "{", "(" */
        char blocks[64]; /* first letter of the keyword of each open block; [1]: the outermost block */
        /* The next three members describe the outermost block that the script may skip. */
        unsigned condition_line; /* the line that decides whether the block runs; 0: no block may be skipped */
        unsigned condition_depth;
        Run condition_run;

        void (*each)(void *userdata, const ScriptCommand *c);
        void *userdata;
} Script;

static void command_done(ScriptCommand *c) {
        words_done(&c->words);
        words_done(&c->outputs);
        *c = (ScriptCommand){};
}

/* ---- variables ---- */

/* Reads "for NAME in WORD...": in the loop, the variable has the value "{WORD,...}". */
static void begin_for(Script *s) {
        const Words *w = &s->command.words;
        _cleanup_(words_done) Words list = {};
        _cleanup_free_ char *words = NULL, *value = NULL;
        bool plain = w->n_items > 3 && streq(w->items[0], "for") && streq(w->items[2], "in") &&
                     !strstr(s->shell.at, "break");

        for (size_t i = 3; i < w->n_items; i++)
                words_add_braces(&list, w->items[i]);
        for (size_t i = 0; i < list.n_items; i++)
                plain = plain && !strpbrk(list.items[i], "$`{}, \t\n");
        s->status = plain ? s->run : OPEN;
        words = words_join(&list, 0, ",");
        value = must_format(list.n_items > 1 ? "{%s}" : "%s", words);
        if (w->n_items > 1)
                shell_set_variable(&s->shell, w->items[1], strlen(w->items[1]), plain ? value : "$");
}

/* Marks loop variables as unknown after the loop. */
static void end_for(Script *s) {
        for (size_t i = 0; i < s->shell.variables.n_items; i++) {
                char *list = strchr(s->shell.variables.items[i], '{');

                if (list)
                        *list = '$';
        }
}

/* Reads leading assignments and returns their number. */
static size_t read_assignments(Script *s) {
        const Words *w = &s->command.words;
        size_t n = 0;

        while (n < w->n_items && shell_assignment_length(w->items[n]) > 0)
                n++;
        if (n < w->n_items && STR_IN_SET(w->items[n], ".", "source", "eval", "read", "unset", "let", "getopts",
                                         "mapfile", "readarray", "declare", "typeset"))
                words_done(&s->shell.variables);
        /* An assignment before a command, "T=1 command", applies to that command only. */
        for (size_t i = 0; i < n && n == w->n_items; i++) {
                const char *word = w->items[i], *value = strchr(word, '=') + 1, *before;
                size_t length = shell_assignment_length(word);

                before = shell_find_variable(&s->shell, word, length);
                /* The value is unknown if it is a list, or set in a condition, a function or a subshell. */
                if (s->command.condition_line > 0 || word[length] == '+' || *value == '(' ||
                    memchr(s->blocks, '(', MIN(s->depth + 1, sizeof s->blocks)) || (before && script_is_open(before)))
                        value = "$";
                shell_set_variable(&s->shell, word, length, value);
        }
        return n;
}

/* ---- tests for the presence of programs and drives ---- */

static void add_presence(Script *s, const char *path) {
        must_grow(&s->presences, items);
        s->presences.items[s->presences.n_items++] = (ScriptPresence){ must(strdup(path)), s->command.line, UINT_MAX };
}

/* Lets each recorded test for presence apply at least to the end of the open block at this depth. `depth` 0: to the end of the script. */
static void extend_presences(Script *s, unsigned depth) {
        for (size_t i = 0; i < s->presences.n_items; i++)
                s->presences.items[i].depth = MIN(s->presences.items[i].depth, depth);
}

/* Drops each recorded test for presence that applies only to the end of a block deeper than `depth`. */
static void drop_presences(Script *s, unsigned depth) {
        size_t n = 0;

        for (size_t i = 0; i < s->presences.n_items; i++)
                if (s->presences.items[i].depth > depth)
                        free(s->presences.items[i].path);
                else
                        s->presences.items[n++] = s->presences.items[i];
        s->presences.n_items = n;
}

static void begin_list(Script *s) {
        if (s->begins_list)
                drop_presences(s, UINT_MAX - 1);
        s->begins_list = false;
}

/* ---- conditions ---- */

/* Returns true if the command only tests for programs or drives, or always succeeds. Records the tests. */
static bool tests_presence(Script *s) {
        const Words *w = &s->command.words;
        bool tests = STR_IN_SET(w->items[0], "-x", "-e", "-f", "-b", "-d", "-L") &&
                     s->presences.n_items + w->n_items < PRESENCES_MAX;

        if (!s->test)
                return STR_IN_SET(base_name(w->items[0]), "which", "type", "hash", "sleep", "true", "echo", "logger") ||
                       (w->n_items > 1 && streq(w->items[0], "command") && streq(w->items[1], "-v"));
        for (size_t i = 1; i < w->n_items; i++)
                tests = tests && (word_is_program_or_drive(w->items[i]) || *w->items[i] == ']');
        for (size_t i = 1; i < w->n_items && tests; i++)
                add_presence(s, w->items[i]);
        return tests;
}

/* Makes the following commands conditional, up to the end of the open block at this depth. `depth` 0: up to the end of the script. If there
 * are several conditions, the line of the first condition is reported. */
static void set_condition(Script *s, Run run, unsigned line, unsigned depth) {
        if (run == RUNS)
                return;
        s->condition_depth = s->condition_line > 0 ? MIN(s->condition_depth, depth) : depth;
        s->condition_run = s->condition_line > 0 ? s->condition_run : run;
        s->condition_line = s->condition_line ?: line;
}

/* Reads a reserved word at the beginning of a command. Returns false for any other word. Also returns false for the words `for` and
 * `select`, which are read with their arguments. */
static bool read_control(Script *s, const char *word) {
        size_t inner = (s->depth + 1) % ELEMENTSOF(s->inside), outer = s->depth % ELEMENTSOF(s->inside);
        bool begins = STR_IN_SET(word, "if", "for", "while", "until", "select", "case", "{", "(");
        bool ends = STR_IN_SET(word, "fi", "done", "esac", "}", ")");

        s->test = s->test || STR_IN_SET(word, "[", "[[", "test");
        s->negated = s->negated != STR_IN_SET(word, "!", "until");
        if (!begins && !ends && !STR_IN_SET(word, "then", "elif", "else", "do"))
                return STR_IN_SET(word, "[", "[[", "test", "!", "time", "export", "readonly", "local");

        s->pattern = streq(word, "case");
        if (begins) {
                begin_list(s);
                extend_presences(s, s->depth + 1);
                s->blocks[++s->depth % sizeof s->blocks] = *word;
                set_condition(s, streq(word, "case") ? OPEN : s->run, s->command.line, s->depth);
                s->inside[inner] = s->unless;
                s->otherwise[inner] = 0;
        } else if (STR_IN_SET(word, "then", "do")) {
                set_condition(s, s->status, s->status_line, s->depth);
                extend_presences(s, s->depth);
                s->inside[outer] = s->inverted ? s->status_number : 0;
                s->otherwise[outer] = s->inverted ? 0 : s->status_number;
        } else if (STR_IN_SET(word, "elif", "else")) {
                s->inside[outer] = s->otherwise[outer];
                if (s->condition_run == SKIPPED && s->condition_depth == s->depth)
                        s->condition_run = OPEN;
                set_condition(s, PASSED, s->command.line, s->depth);
        }
        s->depth -= ends && s->depth > 0;
        if (ends && s->depth < s->condition_depth)
                s->condition_line = 0;
        if (ends)
                drop_presences(s, s->depth);
        if (streq(word, "done"))
                end_for(s);
        s->run = RUNS;
        s->status = OPEN;
        return !STR_IN_SET(word, "for", "select");
}

/* ---- commands ---- */

static void run_command(Script *s) {
        ScriptCommand c = s->command;
        const char *subshell = memrchr(s->blocks, '(', MIN(s->depth + 1, sizeof s->blocks));
        unsigned depth;
        size_t n;

        begin_list(s);
        s->command.condition_line = c.condition_line = s->condition_line > 0 ? s->condition_line
                                                       : s->run != RUNS      ? c.line
                                                                             : 0;
        s->status_line = c.line;
        s->inverted = s->negated;
        s->status_number = s->test ? 0 : ++s->count;
        c.number = s->status_number;
        c.unless = s->unless ?: s->inside[s->depth % ELEMENTSOF(s->inside)];
        if (s->run == RUNS)
                s->status = !tests_presence(s) ? OPEN : s->negated ? SKIPPED : RUNS;
        else if (s->run == OPEN)
                s->status = OPEN;
        if (s->test)
                return;
        if (STR_IN_SET(c.words.items[0], "for", "select")) {
                begin_for(s);
                return;
        }
        n = read_assignments(s);
        c.text = s->text;
        c.presences = s->presences;
        if (n == c.words.n_items) {
                c.assigns = true;
                s->each(s->userdata, &c);
                return;
        }

        if (STR_IN_SET(c.words.items[n], "exit", "return", "break", "continue") ||
            (streq(c.words.items[n], "exec") && n + 1 < c.words.n_items)) {
                bool called = s->condition_line > 0 && s->condition_run == CALLED,
                     returns = streq(c.words.items[n], "return");

                depth = subshell ? (unsigned) (subshell - s->blocks)
                                 : s->depth > 0 && STR_IN_SET(c.words.items[n], "break", "continue");
                if (s->run != SKIPPED && (s->condition_line == 0 || s->condition_run == OPEN || (called && !returns)))
                        set_condition(s, OPEN, c.line, depth);
                else if (!called || !returns) /* the script ends if the tested program or drive is absent */
                        extend_presences(s, depth);
        }
        c.calls_function = words_have(&s->functions, c.words.items[n]);
        c.words.items += n;
        c.words.n_items -= n;
        s->each(s->userdata, &c);
}

/* ---- the text ---- */

/* Reads "> FILE", "2>&1" or "<<END"; `digits`: the number of digits before the operator. */
static void read_redirection(Script *s, size_t digits) {
        const char *sign = s->shell.at + digits;
        size_t n = strspn(sign, "<>&|");
        Words files = {};

        s->shell.at = sign + n;
        s->shell.at += strspn(s->shell.at, " \t");
        shell_read_words(&s->shell, &files);
        if (*sign == '>' && sign[n - 1] != '&' && (digits == 0 || sign[-1] == '1')) {
                words_done(&s->command.outputs);
                s->command.outputs = files;
        } else
                words_done(&files);
        /* The text of a here-document is read like commands, so all following commands are uncertain. */
        if (n == 2 && starts_with(sign, "<<")) {
                set_condition(s, OPEN, s->command.line, 0);
                s->text = s->text ?: s->command.line;
        }
}

/* Ends a command at "&", "&&", "|", "||", ";", ")" or the end of the line. */
static void end_command(Script *s) {
        char c = *s->shell.at;
        bool any = s->command.words.n_items > 0, piped = s->command.piped;
        bool doubled = (c == '&' || c == '|') && s->shell.at[1] == c, pipe = c == '|' && !doubled;
        bool in_case = s->blocks[s->depth % sizeof s->blocks] == 'c';

        s->shell.at += doubled || (pipe && s->shell.at[1] == '&') ? 2 : c != '\0';
        if (any && !s->pattern)
                run_command(s);
        if (in_case && (c == ')' || (c == ';' && (*s->shell.at == ';' || *s->shell.at == '&'))))
                s->pattern = c == ';';
        if (c == ')' && s->blocks[s->depth % sizeof s->blocks] == '(')
                (void) read_control(s, ")");
        if (doubled) {
                s->unless = (c == '|') != s->inverted ? s->status_number : 0;
                s->run = c == '&' || s->status == OPEN ? s->status : s->status == RUNS ? SKIPPED : RUNS;
        } else if (!pipe && (any || c != '\n')) { /* a list may continue on the line after "||" */
                s->run = RUNS;
                s->unless = 0;
                s->begins_list = true;
        }
        s->negated = s->negated && pipe;
        s->test = false;
        command_done(&s->command);
        s->command.piped = any ? pipe : piped;
}

/* Returns true for "NAME()", "NAME ()" and "function NAME". */
static bool is_function(const Words *w) {
        return (w->n_items == 1 && ends_with(w->items[0], "()")) ||
               (w->n_items == 2 && (streq(w->items[1], "()") || streq(w->items[0], "function")));
}

static void read_one(Script *s) {
        Words *w = &s->command.words;
        size_t digits = strspn(s->shell.at, "0123456789");

        if (s->shell.at[digits] == '<' || s->shell.at[digits] == '>')
                read_redirection(s, digits);
        else if (strchr("\n;&|)", *s->shell.at))
                end_command(s);
        else if (strchr(" \t\r#", *s->shell.at) || starts_with(s->shell.at, "\\\n"))
                s->shell.at += *s->shell.at == '#' ? strcspn(s->shell.at, "\n") : *s->shell.at == '\\' ? 2 : 1;
        else {
                for (; s->counted < s->shell.at; s->counted++)
                        s->line += *s->counted == '\n';
                if (w->n_items == 0)
                        s->command.line = s->line;
                if (s->pattern && *s->shell.at == '(')
                        s->shell.at++;
                /* A '(' here begins a subshell, unless it belongs to "((" or to the "()" of a function. */
                else if (w->n_items == 0 && !s->test && *s->shell.at == '(' && s->shell.at[1] != '(' &&
                         s->shell.at[1 + strspn(s->shell.at + 1, " \t")] != ')')
                        words_add(w, s->shell.at++, 1);
                else
                        shell_read_words(&s->shell, w);
                if (is_function(w)) {
                        const char *name = w->items[w->n_items == 2 && streq(w->items[0], "function")];

                        words_add(&s->functions, name, strcspn(name, "("));
                        set_condition(s, CALLED, s->command.line, s->depth + 1);
                }
                /* In a `case`, a word such as "fi)" is a pattern, and is not read as a keyword. */
                if (is_function(w) ||
                    (w->n_items == 1 && (*s->shell.at != ')' || s->blocks[s->depth % sizeof s->blocks] != 'c') &&
                     (!s->pattern || streq(w->items[0], "esac")) && read_control(s, w->items[0])))
                        words_done(w);
        }
}

void script_read(const char *text, unsigned line, void (*each)(void *userdata, const ScriptCommand *c),
                 void *userdata) {
        Script s = { { .at = text }, .counted = text, .line = line, .each = each, .userdata = userdata };

        while (*s.shell.at)
                read_one(&s);
        end_command(&s); /* ends the last command, since the text may end without a newline */
        for (size_t i = 0; i < s.presences.n_items; i++)
                free(s.presences.items[i].path);
        free(s.presences.items);
        words_done(&s.functions);
        words_done(&s.shell.variables);
}

bool script_is_open(const char *word) {
        return strpbrk(word, "$`");
}
