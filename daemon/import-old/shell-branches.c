/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shell-branches.h"
#include "shell-frames.h"

#define FUNCTIONS_MAX 256U

static Function *find_function(const Branches *b, const char *name) {
        for (size_t i = 0; i < b->n_functions; i++)
                if (streq(b->functions[i].name, name))
                        return &b->functions[i];

        return NULL;
}

/* The braces behind "NAME ()". It is reached where it is called from. */
static int push_function(Branches *b, unsigned line) {
        Function *f = find_function(b, b->function), *functions;
        Frame *frame;
        int r;

        if (!f && b->n_functions == FUNCTIONS_MAX)
                return frame_push(b, FRAME_BRACES);
        if (!f) {
                functions = reallocarray(b->functions, b->n_functions + 1, sizeof(Function));
                if (!functions)
                        return -ENOMEM;
                b->functions = functions;
                f = &b->functions[b->n_functions++];
                /* Whoever reads the file calls those for its verbs. */
                *f = (Function){ .called = condition_is_usual(b->function) };
                f->name = TAKE_PTR(b->function);
        }

        r = frame_push(b, FRAME_FUNCTION);
        if (r < 0)
                return r;
        frame = frame_innermost(b);
        frame->decision = (size_t) (f - b->functions);
        frame->decided = frame->outer = f->called ? f->decided : line;
        frame->missing = frame->outer_missing = false;
        return 0;
}

static int enter_braces(Branches *b, unsigned line) {
        int r = b->function ? push_function(b, line) : frame_push(b, FRAME_BRACES);

        free(b->function);
        b->function = NULL;
        return r;
}

/* "then", "else" and "elif", with what was asked before them. */
static void enter_branch(Branches *b, char which, unsigned line) {
        Frame *f = frame_innermost(b);
        Chance c;

        while (b->n_open[FRAME_IF] > 0 && f->kind != FRAME_IF) {
                frame_pop(b, line);
                f = frame_innermost(b);
        }
        if (f->kind != FRAME_IF)
                return;

        if (which == 't' && f->asked)
                return;
        if (which == 't') {
                c = f->chance = f->list.last;
                f->asked = true;
                f->line = line;
        } else {
                b->decisions[f->decision].several = true;
                c = which == 'e' ? chance_opposite(f->chance) : CHANCE_OPEN;
        }

        frame_end_branch(b);
        f->missing = f->missing || c == CHANCE_MISSING;
        f->maybe = c != CHANCE_GIVEN || b->decisions[f->decision].several;
        if (!f->decided && f->maybe)
                f->decided = f->line;
}

static int enter_case(Branches *b, const Words *words, size_t first, unsigned line) {
        int r;

        r = frame_push_decision(b, FRAME_CASE);
        if (r < 0)
                return r;
        frame_innermost(b)->line = line;
        frame_innermost(b)->patterns = frame_innermost(b)->usual = true;
        frame_innermost(b)->own = first < words->n_items && (strncmp(words->items[first], "$1", 2) == 0 ||
                                                             strncmp(words->items[first], "${1", 3) == 0);
        return 0;
}

static void add_pattern(Frame *f, const char *pattern) {
        f->usual = f->usual && condition_is_usual(pattern);
}

/* The branches of a usual verb do what drivekeep does by itself, where no other branch does something else. */
static void leave_patterns(Branches *b) {
        Frame *f = frame_innermost(b);
        bool alone = b->decisions[f->decision].n_setting <= 1;

        f->patterns = false;
        f->maybe = !(f->own && f->usual && alone);
        if (!f->decided && f->maybe)
                f->decided = f->line;
}

static int enter_word(Branches *b, const char *word, unsigned line) {
        if (streq(word, "if")) {
                int r = frame_push_decision(b, FRAME_IF);

                if (r >= 0)
                        frame_innermost(b)->line = line;
                return r;
        }
        if (streq(word, "for") || streq(word, "select") || streq(word, "while") || streq(word, "until"))
                return frame_push(b, FRAME_LOOP);
        if (streq(word, "{"))
                return enter_braces(b, line);

        if (streq(word, "then") || streq(word, "else"))
                enter_branch(b, word[0], line);
        else if (streq(word, "elif"))
                enter_branch(b, 'i', line);
        else if (streq(word, "fi"))
                frame_pop_kind(b, FRAME_IF, FRAME_IF, line);
        else if (streq(word, "esac"))
                frame_pop_kind(b, FRAME_CASE, FRAME_CASE, line);
        else if (streq(word, "done"))
                frame_pop_kind(b, FRAME_LOOP, FRAME_LOOP, line);
        else if (streq(word, "}"))
                frame_pop_kind(b, FRAME_BRACES, FRAME_FUNCTION, line);
        else if (streq(word, "!"))
                frame_innermost(b)->list.negated = !frame_innermost(b)->list.negated;
        return 0;
}

static bool is_control_word(const char *word) {
        static const char words[] = "if then else elif fi for select do done while until ! { } esac export local time ";

        return word_is_one_of(word, words);
}

int branches_enter(Branches *b, const Words *words, unsigned line, size_t *ret_first) {
        size_t i = 0, n = words->n_items;
        int r = 0;

        if (frame_innermost(b)->patterns && n > 0 && streq(words->items[0], "esac")) {
                frame_pop_kind(b, FRAME_CASE, FRAME_CASE, line);
                i = 1;
        }
        for (; i < n && r >= 0 && !frame_innermost(b)->patterns; i++) {
                const char *word = words->items[i];

                if (streq(word, "case")) {
                        r = enter_case(b, words, i + 1, line);
                        while (i < n && !streq(words->items[i], "in"))
                                i++;
                        continue;
                }
                if (streq(word, "function") && i + 1 < n) {
                        r = branches_function(b, words->items[++i]);
                        continue;
                }
                if (!is_control_word(word))
                        break;
                r = enter_word(b, word, line);
                /* What stands behind it are no commands. */
                if (streq(word, "for") || streq(word, "select")) {
                        i++;
                        break;
                }
        }

        if (frame_innermost(b)->patterns)
                for (; i < n; i++)
                        if (!streq(words->items[i], "in"))
                                add_pattern(frame_innermost(b), words->items[i]);
        *ret_first = MIN(i, n);
        return r;
}

static void leave_for_good(Branches *b, unsigned how, unsigned line) {
        Frame *f = frame_innermost(b);

        if (frame_is_missing(f))
                return;
        if (!f->cut)
                f->cut_line = line;
        f->cut |= how;
}

static void call(Branches *b, Function *f, unsigned line) {
        f->called = true;
        if (!f->found)
                f->found = branches_decided(b);
        frame_innermost(b)->sets = frame_innermost(b)->sets || f->sets;
        if (f->exits)
                leave_for_good(b, CUT_SHELL, line);
}

void branches_command(Branches *b, char *const *words, size_t n_words, bool output, unsigned line) {
        static const struct {
                const char *word;
                unsigned how;
        } ends[] = { { "exit", CUT_SHELL },
                     { "return", CUT_FUNCTION },
                     { "break", CUT_LOOP },
                     { "continue", CUT_LOOP } };
        Frame *f = frame_innermost(b);

        if (n_words > 0) {
                free(b->function);
                b->function = NULL;
        }

        f->sets = f->sets || output || condition_sets(words, n_words);
        for (size_t i = 0; i < b->n_functions; i++)
                for (size_t k = 0; k < MIN(n_words, 4U); k++)
                        if (streq(b->functions[i].name, words[k])) {
                                call(b, &b->functions[i], line);
                                break;
                        }
        for (size_t i = 0; i < ELEMENTSOF(ends) && n_words > 0; i++)
                if (streq(ends[i].word, words[0]))
                        leave_for_good(b, ends[i].how, line);

        b->chance = condition_chance(words, n_words);
        b->commanded = true;
}

static void leave_branch(Branches *b, unsigned line) {
        while (b->n_open[FRAME_CASE] > 0 && frame_innermost(b)->kind != FRAME_CASE)
                frame_pop(b, line);
        if (frame_innermost(b)->kind != FRAME_CASE)
                return;
        frame_end_branch(b);
        frame_innermost(b)->patterns = frame_innermost(b)->usual = true;
}

int branches_leave(Branches *b, ShellEnd end, unsigned line) {
        List *l = &frame_innermost(b)->list;

        if (frame_innermost(b)->patterns) {
                if (end == SHELL_END_CLOSE)
                        leave_patterns(b);
                return 0;
        }

        /* Of a pipe the last command's success is the whole one's. */
        if (b->commanded && end != SHELL_END_PIPE)
                list_add(l, b->chance, line);
        b->commanded = false;

        switch (end) {
        case SHELL_END_COMMAND:
                list_end(l);
                break;
        case SHELL_END_AND:
                list_join(l, '&');
                break;
        case SHELL_END_OR:
                list_join(l, '|');
                break;
        case SHELL_END_PIPE:
                l->continued = true;
                break;
        case SHELL_END_BRANCH:
                leave_branch(b, line);
                break;
        case SHELL_END_OPEN:
                return frame_push(b, FRAME_SUBSHELL);
        case SHELL_END_CLOSE:
                frame_pop_kind(b, FRAME_SUBSHELL, FRAME_SUBSHELL, line);
                break;
        }

        return 0;
}

int branches_function(Branches *b, const char *name) {
        free(b->function);
        b->function = strdup(name);
        return b->function ? 0 : -ENOMEM;
}

int branches_begin(Branches *b) {
        b->n_frames = b->n_met = 0;
        memset(b->n_open, 0, sizeof b->n_open);
        free(b->function);
        b->function = NULL;
        b->commanded = false;
        for (size_t i = 0; i < b->n_functions; i++) {
                b->functions[i].decided = b->functions[i].found;
                b->functions[i].found = 0;
        }
        return frame_push(b, FRAME_FILE);
}

void branches_done(Branches *b) {
        for (size_t i = 0; i < b->n_functions; i++)
                free(b->functions[i].name);
        free(b->functions);
        free(b->function);
        free(b->decisions);
        free(b->frames);
        *b = (Branches){};
}
