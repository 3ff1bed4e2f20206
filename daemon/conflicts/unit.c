/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "tree.h"
#include "unit.h"

void unit_done(Unit *u) {
        unit_lines_done(&u->lines);
        unit_lines_done(&u->variables);
        free(u->name);
        *u = (Unit){};
}

/* ---- the unit's file and its drop-ins ---- */

/* A drop-in of a unit, such as "/usr/lib/systemd/system/a-b.service.d/x.conf". */
typedef struct DropIn {
        const char *path, *directory, *base;
        size_t n; /* length of the directory's name, without ".d" */
} DropIn;

static DropIn drop_in_split(const char *path) {
        DropIn d = { .path = path, .base = base_name(path) };

        for (d.directory = d.base - 1; d.directory[-1] != '/'; d.directory--)
                ;
        d.n = (size_t) (d.base - d.directory) - strlen(".d/");
        return d;
}

/* Returns true if the drop-in is for all units of this type: "service.d". */
static bool is_for_type(const DropIn *d, const char *name) {
        const char *type = strrchr(name, '.') + 1;

        return strncmp(d->directory, type, d->n) == 0 && type[d->n] == '\0';
}

/* Returns true if the drop-in is for the unit. Its directory then has the unit's name, the name of the unit's template
 * ("a@.service.d"), or a beginning of the unit's name that ends with '-' ("a-.service.d"). */
static bool is_for_name(const DropIn *d, const char *name) {
        const char *type = strrchr(name, '.') ?: "";
        size_t stem = d->n > strlen(type) ? d->n - strlen(type) : 0;

        return (strncmp(d->directory, name, d->n) == 0 && name[d->n] == '\0') ||
               (stem > 0 && strncmp(d->directory + stem, type, strlen(type)) == 0 &&
                strncmp(d->directory, name, stem) == 0 && strchr("-@", name[stem - 1]));
}

/* Compares two drop-ins with the same file name. Returns true if `other` has precedence over `d`. Drop-ins for a whole type have the
 * lowest precedence. If both drop-ins are below the same directory, such as /etc/systemd/system, the drop-in with the longer
 * directory name has precedence. Otherwise `d` has precedence, because the caller begins with the directory of the highest
 * precedence. */
static bool is_behind(const DropIn *d, const DropIn *other, const char *name) {
        size_t place = (size_t) (d->directory - d->path);

        if (is_for_type(d, name) != is_for_type(other, name))
                return is_for_type(d, name);
        return place == (size_t) (other->directory - other->path) && strncmp(d->path, other->path, place) == 0 &&
               other->n > d->n;
}

static int compare_names(const void *a, const void *b) {
        const DropIn *x = a, *y = b;

        return strcmp(x->base, y->base);
}

typedef struct DropIns {
        GROWING_ARRAY(DropIn, items);
} DropIns;

static void add_drop_in(DropIns *to, const DropIn *d, const char *name) {
        for (size_t i = 0; i < to->n_items; i++)
                if (streq(to->items[i].base, d->base)) {
                        if (is_behind(&to->items[i], d, name))
                                to->items[i] = *d;
                        return;
                }
        must_grow(to, items);
        to->items[to->n_items++] = *d;
}

/* Adds the drop-ins for all names of the unit, in the order in which systemd reads them. */
static void add_drop_ins(const Units *units, Unit *u, const Words *names) {
        DropIns found = {};

        for (size_t i = 0; i < units->drop_ins.n_items; i++) {
                const DropIn d = drop_in_split(units->drop_ins.items[i]);
                bool wanted = is_for_type(&d, u->name);

                for (size_t k = 0; k < names->n_items; k++)
                        wanted = wanted || is_for_name(&d, names->items[k]);
                if (wanted)
                        add_drop_in(&found, &d, u->name);
        }
        if (found.n_items > 0)
                qsort(found.items, found.n_items, sizeof *found.items, compare_names);
        for (size_t i = 0; i < found.n_items; i++) {
                _cleanup_free_ char *text = tree_read(units->root, found.items[i].path, false);

                unit_lines_read(&u->lines, found.items[i].path, text ?: "");
        }
        free(found.items);
}

/* Returns true if the path is an alias: a link to a unit of another name. */
static bool is_alias(const char *root, const char *path) {
        _cleanup_free_ char *target = tree_target(root, path);

        return target && !streq(base_name(target), base_name(path)) && !tree_masks(root, path);
}

static void unit_read_file(const Units *units, const char *path, const char *name, Unit *ret) {
        _cleanup_free_ char *text = tree_read(units->root, path, false);
        _cleanup_(words_done) Words names = {};

        *ret = (Unit){ .name = must(strdup(name)) };
        words_add(&names, ret->name, strlen(ret->name));
        unit_lines_read(&ret->lines, path, text ?: "");
        UNIT_LINES_FOREACH(l, &ret->lines)
                if (streq(l->key, "Alias"))
                        words_split(&names, l->value);
        add_drop_ins(units, ret, &names);
}

const UnitLine *unit_last(const UnitLines *lines, const char *key) {
        const UnitLine *last = NULL;

        UNIT_LINES_FOREACH(l, lines)
                if (streq(l->key, key))
                        last = l;
        return last;
}

/* ---- units that are started ---- */

/* Returns true if the link enables a unit whose name matches `name`. Names of units may contain backslashes. */
static bool is_link(const char *link, const char *name) {
        return fnmatch(name, base_name(link), FNM_NOESCAPE) == 0;
}

bool unit_is_active(const Units *u, const char *name, const char *type) {
        bool is_path = strchr(name, '/');
        _cleanup_(words_done) Words found = tree_glob(u->root, is_path ? "" : UNITS, name, is_path ? "" : type);
        const char *path = found.n_items > 0 ? found.items[0] : NULL;
        _cleanup_free_ char *text = path ? tree_read(u->root, path, false) : NULL, *link = NULL;

        if (!text || !*text)
                return false;
        /* A unit without [Install] cannot be enabled: another unit starts it. */
        if (is_path || !strstr(text, "\n[Install]"))
                return true;
        /* The template "name@.service" is enabled as, for example, "name@sda.service". */
        link = ends_with(name, "@") ? must_format("%s*%s", name, type) : must(strdup(base_name(path)));
        for (size_t i = 0; i < u->links.n_items; i++)
                if (is_link(u->links.items[i], link))
                        return true;
        return false;
}

/* Returns true if the unit is enabled, or started by a timer, path or socket of the same name. */
static bool is_wanted(const Units *u, const char *name) {
        static const char *const starters[] = { ".timer", ".path", ".socket" };
        const char *type = strrchr(name, '.');
        _cleanup_free_ char *stem = must_format("%.*s", (int) (type - name), name);

        if (unit_is_active(u, stem, type))
                return true;
        for (size_t i = 0; i < ELEMENTSOF(starters) && streq(type, ".service"); i++)
                if (unit_is_active(u, stem, starters[i]))
                        return true;
        return false;
}

/* Adds the variables of a line such as Environment=A=b "C=d e". */
static void unit_add_variables(UnitLines *e, const UnitLine *l) {
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

/* Reads Environment= and EnvironmentFile= into u->variables. Returns false if a required file is missing, because systemd does not
 * start such a unit. */
static bool unit_read_variables(const char *root, Unit *u) {
        UnitLines *ret = &u->variables;

        UNIT_LINES_FOREACH(l, &u->lines)
                if (streq(l->key, "Environment"))
                        unit_add_variables(ret, l);
        UNIT_LINES_FOREACH(l, &u->lines) {
                bool may_miss = *l->value == '-';
                _cleanup_(words_done) Words files = {};

                if (!streq(l->key, "EnvironmentFile"))
                        continue;
                files = tree_glob(root, l->value + may_miss, "", "");
                /* A missing file below /run is ignored, because it may be created before the unit starts. */
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

/* Returns false if a condition on a path is not met. Other conditions are not evaluated. */
static bool is_possible(const char *root, const Unit *u) {
        UNIT_LINES_FOREACH(l, &u->lines) {
                bool not = *l->value == '!';
                const char *path = l->value + not ;
                _cleanup_(words_done) Words found = {};

                if (!STR_IN_SET(l->key, "ConditionPathExists", "AssertPathExists") || *path != '/')
                        continue;
                found = tree_glob(root, path, "", "");
                if ((found.n_items > 0) == not )
                        return false;
        }
        return true;
}

/* Returns the path of the unit's file. NULL: there is no such unit, the unit is masked, or the unit is not enabled and no timer,
 * path or socket unit starts it. The caller frees the path. */
static char *find_started(const Units *u, const char *name) {
        _cleanup_(words_done) Words found = tree_glob(u->root, UNITS, name, "");
        const char *path = found.n_items > 0 ? found.items[0] : NULL;

        return path && !tree_masks(u->root, path) && is_wanted(u, base_name(path)) ? must(strdup(path)) : NULL;
}

static bool read_possible(const Units *u, const char *path, const char *name, Unit *ret) {
        unit_read_file(u, path, name, ret);
        if (is_possible(u->root, ret) && unit_read_variables(u->root, ret))
                return true;
        unit_done(ret);
        return false;
}

bool unit_read_started(const Units *u, const char *name, Unit *ret) {
        _cleanup_free_ char *path = find_started(u, name);

        return path && read_possible(u, path, base_name(path), ret);
}

/* Adds the unit. For a template, adds its enabled instances, or the template itself if no instance is enabled. */
static void add_services(Units *u, const char *name) {
        _cleanup_free_ char *path = find_started(u, name), *instances = NULL;
        _cleanup_(words_done) Words names = {};

        if (!path)
                return;
        if (ends_with(name, "@.service"))
                instances = must_format("%.*s?*.service", (int) (strlen(name) - strlen(".service")), name);
        for (size_t i = 0; i < u->links.n_items && instances; i++)
                if (is_link(u->links.items[i], instances))
                        (void) words_add_new(&names, base_name(u->links.items[i]));
        if (names.n_items == 0)
                words_add(&names, name, strlen(name));
        for (size_t i = 0; i < names.n_items; i++) {
                must_grow(u, services);
                if (read_possible(u, path, names.items[i], &u->services[u->n_services]))
                        u->n_services++;
        }
}

Units units_find(const char *root) {
        return (Units){ .root = root,
                        .drop_ins = tree_glob(root, UNITS, "*.d/*.conf", ""),
                        .links = tree_glob(root, UNITS, "*.{wants,requires}/*", "") };
}

Units units_read(const char *root) {
        Units u = units_find(root);
        _cleanup_(words_done) Words files = tree_glob(root, UNITS, "*.service", "");

        for (size_t i = 0; i < files.n_items; i++) {
                const char *name = base_name(files.items[i]);
                bool seen = is_alias(root, files.items[i]);

                for (size_t k = 0; k < i && !seen; k++)
                        seen = streq(base_name(files.items[k]), name);
                if (!seen)
                        add_services(&u, name);
        }
        return u;
}

void units_done(Units *u) {
        for (size_t i = 0; i < u->n_services; i++)
                unit_done(&u->services[i]);
        free(u->services);
        words_done(&u->drop_ins);
        words_done(&u->links);
        *u = (Units){};
}

/* ---- commands ---- */

/* Returns the length of the variable at `at`, or 0 if there is no variable. "${NAME}" may be a part of a word, but
 * "$NAME" must be a separate word. */
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
