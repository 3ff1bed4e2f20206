/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <stdio.h>

#include "shell-variables.h"
#include "shell.h"

/* Of one command, or values of one variable: more than any means. */
#define WORDS_MAX 4096U
#define BYTES_MAX (256U * 1024)
#define WORD_MAX 4096U /* bytes of one in which variables are put */
#define VARIABLES_MAX 256U
#define WORK_MAX \
        (4U * 1024 * 1024) /* bytes of all words in which variables were put: behind that they stay as they are */

#define EACH '\v' /* between the values that a loop makes of one */

struct Variable {
        char *name;
        Words values;
        BranchPlace place; /* from where on it has them */
        bool known;
        bool list;     /* its values come one after the other */
        bool met;      /* in this reading it was set */
        bool again;    /* it is set more than once, */
        bool plain;    /* and not by loops alone */
        bool called;   /* a function sets it, */
        bool function; /* and what it has it has from one */
};

void variables_done(Variables *v) {
        for (size_t i = 0; i < v->n_items; i++) {
                free(v->items[i].name);
                words_done(&v->items[i].values);
        }
        free(v->items);
        *v = (Variables){};
}

void variables_begin(Variables *v) {
        for (size_t i = 0; i < v->n_items; i++)
                v->items[i].known = v->items[i].met = false;
        v->work = 0;
}

static Variable *find_variable(const Variables *v, const char *name, size_t n) {
        for (size_t i = 0; i < v->n_items; i++)
                if (strlen(v->items[i].name) == n && memcmp(v->items[i].name, name, n) == 0)
                        return &v->items[i];

        return NULL;
}

/* NULL: which value it has here is known only when the script runs. */
static Variable *find_known(const Variables *v, const char *name, size_t n) {
        Variable *variable = find_variable(v, name, n);
        bool again;

        if (!variable || !variable->known || (variable->called && !variable->function) ||
            !branches_hold(v->branches, &variable->place, &again))
                return NULL;
        return again && variable->again && variable->plain ? NULL : variable;
}

static int add_variable(Variables *v, const char *name, size_t n, Variable **ret) {
        Variable *items;

        *ret = find_variable(v, name, n);
        if (*ret || v->n_items == VARIABLES_MAX)
                return 0;

        items = reallocarray(v->items, v->n_items + 1, sizeof(Variable));
        if (!items)
                return -ENOMEM;
        v->items = items;
        *ret = &v->items[v->n_items];
        **ret = (Variable){ .name = strndup(name, n) };
        if (!(*ret)->name)
                return -ENOMEM;
        v->n_items++;
        return 0;
}

int variables_set(Variables *v, const char *name, size_t n, Words *values, bool list) {
        Variable *variable;
        int r;

        r = add_variable(v, name, n, &variable);
        if (r < 0 || !variable)
                return r;

        variable->again = variable->again || variable->met;
        variable->plain = variable->plain || !list;
        variable->function = v->branches->n_open[FRAME_FUNCTION] > 0;
        variable->called = variable->called || variable->function;
        variable->met = true;
        variable->list = list;
        variable->known = branches_place(v->branches, &variable->place);

        words_done(&variable->values);
        variable->values = *values;
        *values = (Words){};
        return 0;
}

/* It becomes what is known only when the script runs. */
static int set_open(Variables *v, const char *name, size_t n) {
        Variable *variable;
        Words none = {};
        int r;

        if (n == 0)
                return 0;
        r = variables_set(v, name, n, &none, false);
        variable = find_variable(v, name, n);
        if (variable)
                variable->known = false;
        return r;
}

static size_t name_length(const char *s) {
        size_t n = 0;

        if (isdigit((unsigned char) *s))
                return 0;
        while (isalnum((unsigned char) s[n]) || s[n] == '_')
                n++;
        return n;
}

typedef struct Use {
        const char *name;
        size_t n_name;
        bool base; /* of each value the last part of the path */
} Use;

/* A variable's use at `s`, "$NAME", "${NAME}", "${NAME[@]}" or what makes sda of /dev/sda: its length, or 0. */
static size_t use_length(const char *s, Use *ret) {
        /* As a word has them that has lost its backslashes. */
        static const char *const makes_base[] = { "##*/}", "#/dev/}", "//dev/}", "//dev//}" };
        bool braces = s[0] == '$' && s[1] == '{';
        const char *end;

        if (s[0] != '$')
                return 0;
        *ret = (Use){ .name = s + 1 + braces };
        ret->n_name = name_length(ret->name);
        end = ret->name + ret->n_name;
        if (ret->n_name == 0)
                return 0;
        if (!braces)
                return (size_t) (end - s);

        if (starts_with(end, "[@]") || starts_with(end, "[*]"))
                end += strlen("[@]");
        for (size_t i = 0; i < ELEMENTSOF(makes_base); i++)
                if (starts_with(end, makes_base[i])) {
                        ret->base = true;
                        return (size_t) (end - s) + strlen(makes_base[i]);
                }
        return *end == '}' ? (size_t) (end - s) + 1 : 0;
}

bool words_are_many(const Words *w) {
        return w->n_items >= WORDS_MAX || w->n_bytes >= BYTES_MAX;
}

static int add_expanded(void *userdata, const char *word) {
        Words *w = userdata;

        return words_are_many(w) ? 0 : words_add(w, word, strlen(word));
}

/* Of a number that a setting is given one value after the other, the last stays. */
static bool last_counts(const Variable *v, const char *word) {
        return v->list && v->values.n_items > 0 && word[0] != '-' && !strchr(word, '/') &&
               isdigit((unsigned char) v->values.items[v->values.n_items - 1][0]);
}

/* The word with its first known variable put in, once for each of its values; then the others in the same way. `whole`: it
 * is an assignment, in which nothing is split. */
static int expand(Variables *known, const char *word, Words *ret, bool whole, unsigned depth) {
        bool fits = depth < 8 && known->work < WORK_MAX && strlen(word) < WORD_MAX;

        /* Variables that hold each other could grow without end. */
        for (const char *p = word; fits && (p = strchr(p, '$')); p++) {
                _cleanup_(words_done) Words joined = {};
                const Words *values;
                Variable *v;
                size_t used;
                Use use;

                used = use_length(p, &use);
                v = used > 0 ? find_known(known, use.name, use.n_name) : NULL;
                if (!v)
                        continue;

                values = &v->values;
                if (whole && !v->list) {
                        _cleanup_free_ char *text = words_join(values, 0);

                        if (!text || words_add(&joined, text, strlen(text)) < 0)
                                return -ENOMEM;
                        values = &joined;
                }
                /* With many values, used many times in one word, it is not the word's length alone that grows. */
                for (size_t i = !whole && last_counts(v, word) ? values->n_items - 1 : 0;
                     i < values->n_items && !words_are_many(ret) && known->work < WORK_MAX; i++) {
                        /* Of what is open, no part is known either. */
                        const char *item = values->items[i];
                        const char *value = use.base && !shell_is_open(item) ? base_name(item) : item;
                        _cleanup_free_ char *put = NULL;
                        int r;

                        r = asprintf(&put, "%.*s%s%s", (int) (p - word), word, value, p + used);
                        if (r < 0) {
                                put = NULL;
                                return -ENOMEM;
                        }
                        known->work += (size_t) r + 1;
                        r = expand(known, put, ret, whole, depth + 1);
                        if (r < 0)
                                return r;
                }
                return 0;
        }

        return whole ? add_expanded(ret, word) : words_expand_braces(word, strlen(word), add_expanded, ret);
}

size_t assignment_length(const char *word) {
        size_t n = name_length(word);

        return n > 0 && word[n + (word[n] == '+')] == '=' ? n : 0;
}

/* All that a loop makes of an assignment stays one word. */
static int put_in_assignment(Variables *v, const char *word, size_t n, Words *ret) {
        _cleanup_(words_done) Words each = {};
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f;
        int r;

        r = expand(v, word, &each, true, 0);
        if (r < 0)
                return r;
        f = open_memstream(&text, &size);
        if (!f)
                return -ENOMEM;
        for (size_t i = 0; i < each.n_items; i++) {
                if (i > 0)
                        fputc(EACH, f);
                fputs(each.items[i] + (i > 0 ? n + 1 : 0), f);
        }
        return fclose(f) != 0 ? -ENOMEM : words_add(ret, text, size);
}

int variables_put_in(Variables *v, const char *word, Words *ret) {
        size_t n = assignment_length(word);

        return n > 0 ? put_in_assignment(v, word, n, ret) : expand(v, word, ret, false, 0);
}

static int assign(Variables *v, const char *word, size_t n) {
        static const char blanks[] = { ' ', '\t', '\n', EACH, '\0' };
        _cleanup_(words_done) Words values = {};
        const char *value = word + n + 1;

        /* What another command says has no better name than the variable's own. */
        if (word[n] == '+' || starts_with(value, "$("))
                return set_open(v, word, n);

        while (*value) {
                size_t length;
                int r;

                value += strspn(value, blanks);
                length = strcspn(value, blanks);
                if (length == 0)
                        break;
                r = words_add(&values, value, length);
                if (r < 0)
                        return r;
                value += length;
        }

        return variables_set(v, word, n, &values, strchr(word, EACH));
}

/* ((i++)), (( i = 1 )): between the brackets a variable's name begins what looks like a command. */
static bool is_counted(const Variables *v, const char *word, const char **ret_name, size_t *ret_n) {
        *ret_name = word + strspn(word, "+-");
        *ret_n = name_length(*ret_name);
        return *ret_n > 0 && find_variable(v, *ret_name, *ret_n);
}

int variables_command(Variables *v, char *const *words, size_t n_words, const char *before) {
        static const char declarers[] = "export readonly local declare typeset ";
        static const char setters[] = "read unset getopts let mapfile readarray ";
        static const char runners[] = ". source eval ";
        const char *by = before, *name;
        size_t i = 0, n = 0, n_name;
        int r = 0;

        if (n_words > 0 && (word_is_one_of(words[0], declarers) || word_is_one_of(words[0], setters)))
                by = words[i++];
        while (n < n_words && assignment_length(words[n]) > 0)
                n++;

        if (word_is_one_of(by, declarers) || word_is_one_of(by, setters))
                for (; i < n_words && r >= 0; i++) {
                        bool assigns = assignment_length(words[i]) > 0 && !word_is_one_of(by, setters);

                        n = name_length(words[i]);
                        if (assigns)
                                r = assign(v, words[i], n);
                        else if (!streq(by, "export") && !streq(by, "readonly"))
                                r = set_open(v, words[i], n);
                }
        else if (n == n_words)
                /* In front of a command they are for that alone. */
                for (; i < n && r >= 0; i++)
                        r = assign(v, words[i], assignment_length(words[i]));
        else if (is_counted(v, words[n], &name, &n_name))
                r = set_open(v, name, n_name);
        else if (word_is_one_of(words[n], runners) && !(n + 1 < n_words && strstr(words[n + 1], "functions")))
                for (i = 0; i < v->n_items; i++) {
                        if (v->items[i].known)
                                v->items[i].again = v->items[i].plain = true;
                        v->items[i].known = false;
                }

        return r;
}
