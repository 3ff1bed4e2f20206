/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "commands.h"
#include "scripts.h"
#include "shell.h"

int runner_claim(const Runner *runner, const char *file, const char *text, const Import *import, bool conditions) {
        _cleanup_free_ char *cure = NULL;
        Claim c = {
                .level = runner->useless ? COMPLAINT_NOTICE : COMPLAINT_WARNING,
                .who = "this line",
                .when = runner->when,
                .cure = runner->useless,
                .file = file,
                .text = text,
        };

        if (!runner->useless) {
                if (asprintf(&cure, "take it out; 'drivekeep import %s' makes configuration of it", file) < 0) {
                        cure = NULL;
                        return -ENOMEM;
                }
                c.cure = cure;
        }
        return claim_import(runner->rivals, &c, import, conditions);
}

static bool is_known(const Words *w, const char *path) {
        for (size_t i = 0; i < w->n_items; i++)
                if (streq(w->items[i], path))
                        return true;

        return false;
}

int runner_script(const Runner *runner, const char *path) {
        _cleanup_(import_done) Import import = {};
        _cleanup_free_ char *text = NULL;
        Words *known = runner->rivals->scripts;
        size_t size;
        int k;

        /* Also what keeps two that call each other from going on for ever. */
        if (is_known(known, path))
                return 0;
        k = words_add(known, path, strlen(path));
        if (k < 0)
                return k;

        k = tree_read(runner->rivals->tree, path, &text, &size);
        if (k <= 0 || strncmp(text, "#!", 2) != 0)
                return k;

        k = commands_read(text, size, 1, &import);
        if (k >= 0)
                k = runner_claim(runner, path, text, &import, false);
        return k < 0 ? k : runner_follow(runner, text, size);
}

/* The distribution's own programs are rivals of a kind of their own, or none. */
static bool is_own(const char *path) {
        static const char *const others[] = { "/usr/bin/", "/usr/sbin/", "/usr/lib/", "/usr/share/", "/bin/",
                                              "/sbin/",    "/lib/",      "/dev/",     "/sys/",       "/proc/" };

        for (size_t i = 0; i < ELEMENTSOF(others); i++)
                if (strncmp(path, others[i], strlen(others[i])) == 0)
                        return false;

        return path[0] == '/' && !shell_is_open(path);
}

static int run_parts(const Runner *runner, const char *directory) {
        _cleanup_(words_done) Words names = {};
        int k;

        k = tree_list(runner->rivals->tree, directory, &names);
        for (size_t i = 0; i < names.n_items && k >= 0; i++) {
                _cleanup_free_ char *path = NULL;

                if (asprintf(&path, "%s/%s", directory, names.items[i]) < 0) {
                        path = NULL;
                        return -ENOMEM;
                }
                if (tree_executable(runner->rivals->tree, path))
                        k = runner_script(runner, path);
        }

        return k;
}

static int follow_command(void *userdata, const ShellCommand *s) {
        const Runner *runner = userdata;
        bool parts = false;
        int k = 0;

        /* Behind it stand what it is given, and in front of it perhaps who runs it: "nice sh /opt/x". */
        for (size_t i = 0; i < MIN(s->words.n_items, 4U) && k >= 0; i++) {
                const char *w = s->words.items[i];

                parts = parts || streq(base_name(w), "run-parts");
                if (is_own(w))
                        k = parts ? run_parts(runner, w) : runner_script(runner, w);
        }

        return k;
}

int runner_follow(const Runner *runner, const char *text, size_t size) {
        return shell_commands(text, size, 1, follow_command, (void *) runner);
}
