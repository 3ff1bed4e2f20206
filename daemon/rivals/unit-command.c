/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fnmatch.h>
#include <stdio.h>

#include "tree.h"
#include "unit.h"

/* 'A=b "C=d e"' */
static void add_words(UnitLines *e, const UnitLine *l) {
        _cleanup_free_ char *text = must(strdup(l->value));

        for (char *p = text + strspn(text, " \t"), *end; *p; p = end + strspn(end, " \t")) {
                char quote = *p == '"' || *p == '\'' ? *p++ : '\0', *value;

                end = p + (quote ? strcspn(p, (char[]){ quote, '\0' }) : strcspn(p, " \t"));
                if (*end)
                        *end++ = '\0';
                value = strchr(p, '=');
                if (value) {
                        *value++ = '\0';
                        unit_lines_add(e, l->file, l->line, p, value);
                }
        }
}

bool unit_read_variables(const char *root, Unit *u) {
        UnitLines *ret = &u->variables;

        UNIT_LINES_FOREACH(l, &u->lines)
                if (streq(l->key, "Environment"))
                        add_words(ret, l);
        UNIT_LINES_FOREACH(l, &u->lines) {
                bool may_miss = *l->value == '-';
                _cleanup_(words_done) Words files = {};

                if (!streq(l->key, "EnvironmentFile"))
                        continue;
                files = tree_glob(root, l->value + may_miss, "", "");
                /* What is below /run may be made until then. */
                if (files.n_items == 0 && !may_miss && !starts_with(l->value, "/run/") && !strchr(l->value, '%'))
                        return false;
                for (size_t i = 0; i < files.n_items; i++) {
                        _cleanup_free_ char *text = tree_read(root, files.items[i], false);
                        _cleanup_(pairs_done) Pairs pairs = pairs_read(text ?: "", true);

                        for (const Pair *p = pairs.items; p < pairs.items + pairs.n_items; p++)
                                if (p->value && *p->name != ';')
                                        unit_lines_add(ret, files.items[i], p->line, p->name, p->value);
                }
        }
        return true;
}

/* The length of a variable here, as systemd takes it: "${NAME}" anywhere, "$NAME" as a word of its own; 0: there is none. */
static size_t take_variable(const char *text, const char *at, const char **ret_name, size_t *ret_n) {
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
        bool braces = at[0] == '$' && at[1] == '{';

        *ret_name = at + 1 + braces;
        *ret_n = strspn(*ret_name, letters);
        if (*at != '$' || *ret_n == 0 || (braces && (*ret_name)[*ret_n] != '}') ||
            (!braces && ((at > text && !strchr(" \t", at[-1])) || !strchr(" \t", (*ret_name)[*ret_n]))))
                return 0;
        return 1 + *ret_n + 2 * braces;
}

UnitLine unit_command(const Unit *u, const UnitLine *l) {
        const UnitLine *from = l;
        const char *name;
        char *text = NULL;
        size_t size, n;
        FILE *f;

        f = must(open_memstream(&text, &size));
        for (const char *p = l->value; *p;) {
                size_t length = take_variable(l->value, p, &name, &n);
                const UnitLine *found = NULL;

                if (p[0] == '$' && p[1] == '$') {
                        fputs("$$", f);
                        p += 2;
                        continue;
                }
                UNIT_LINES_FOREACH(v, &u->variables)
                        if (length > 0 && strncmp(v->key, name, n) == 0 && v->key[n] == '\0')
                                found = v;
                if (found) {
                        fputs(found->value, f);
                        from = *found->value ? found : from;
                } else if (length == 0)
                        fputc(*p, f);
                p += MAX(length, 1U);
        }
        must_close(f);
        return (UnitLine){ must(strdup(from->file)), must(strdup(l->key)), text, from->line };
}

bool command_runs(const char *command, const char *program) {
        const char *start = command + strspn(command, " \t@-:+!|");
        _cleanup_free_ char *path = must(strndup(start, strcspn(start, " \t")));

        return fnmatch(program, base_name(path), FNM_EXTMATCH) == 0;
}

char *command_option(const char *command, const char *letter, const char *name) {
        _cleanup_(words_done) Words words = {};
        char *found = NULL;

        words_split(&words, command);
        for (size_t i = 0; i < words.n_items; i++) {
                const char *word = words.items[i], *value = NULL;
                size_t n = strlen(name);

                if (letter && starts_with(word, letter))
                        value = word + strlen(letter);
                else if (starts_with(word, name) && (word[n] == '=' || !word[n]))
                        value = word + n + (word[n] == '=');
                if (!value)
                        continue;
                free(found);
                found = must(strdup(*value || i + 1 == words.n_items ? value : words.items[i + 1]));
        }
        return found;
}

const Unit *units_find_command(const Units *units, const char *program, UnitLine *ret) {
        for (const Unit *u = units->services; u < units->services + units->n_services; u++)
                UNIT_LINES_FOREACH(l, &u->lines)
                        if (streq(l->key, "ExecStart") && command_runs(l->value, program)) {
                                *ret = unit_command(u, l);
                                return u;
                        }
        return NULL;
}
