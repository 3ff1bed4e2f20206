/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "must.h"
#include "pager.h"

#define LESS "less"

/* Returns the command line of the pager; NULL: no pager. */
static const char *pager_wanted(void) {
        static const char *const variables[] = { "DRIVEKEEP_PAGER", "SYSTEMD_PAGER", "PAGER" };
        const char *term = getenv("TERM"), *wanted = NULL;

        if (!isatty(STDOUT_FILENO) || !term || streq(term, "dumb"))
                return NULL;

        for (size_t i = 0; i < ELEMENTSOF(variables) && !wanted; i++)
                wanted = getenv(variables[i]);
        if (wanted && (*wanted == '\0' || streq(wanted, "cat")))
                return NULL;

        /* As root or under sudo, only less is started: LESSSECURE (below) prevents less from starting programs and writing files. */
        return wanted && geteuid() != 0 && !getenv("SUDO_UID") ? wanted : LESS;
}

/* Starts the pager with the file `text` as standard input. `words` end with NULL; the program is looked up in $PATH. Returns false on
 * failure. */
static bool pager_start(char *const *words, int text, pid_t *ret) {
        posix_spawn_file_actions_t actions;
        int r;

        if (lseek(text, 0, SEEK_SET) < 0)
                return false;
        must_work(-posix_spawn_file_actions_init(&actions));
        must_work(-posix_spawn_file_actions_adddup2(&actions, text, STDIN_FILENO));
        r = posix_spawnp(ret, words[0], &actions, NULL, words, environ);
        (void) posix_spawn_file_actions_destroy(&actions);
        return r == 0;
}

/* Starts the pager without a shell, and waits until the pager ends. Returns false if the pager cannot be started. */
static bool pager_show(const char *command, int text) {
        _cleanup_free_ char *copy = must(strdup(command)), **words = NULL;
        char *rest = NULL;
        size_t n = 0;
        void (*old)(int);
        pid_t pid;

        /* A command of n bytes has at most n / 2 + 1 words. The array also holds the final NULL. */
        words = must(calloc(strlen(command) / 2 + 2, sizeof *words));
        for (char *word = strtok_r(copy, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
                words[n++] = word;
        if (n == 0)
                return false;

        if (!pager_start(words, text, &pid))
                return false;

        /* Ignores Ctrl+C, which is meant for the pager. If this process ended, the shell would compete with the pager for the keyboard. */
        old = signal(SIGINT, SIG_IGN);
        (void) TEMP_FAILURE_RETRY(waitpid(pid, NULL, 0));
        (void) signal(SIGINT, old);
        return true;
}

/* Collects the whole output before the pager starts, so that messages on stderr come first and do not disturb the pager. Meanwhile
 * descriptor 1 stays the terminal, which determines width and colours. */
int pager_run(const Verb *verb, const Options *o) {
        const char *command = verb->paged && !o->no_pager && !o->watch ? pager_wanted() : NULL;
        FILE *terminal = stdout, *text = NULL;
        int r, c;

        if (command)
                text = fdopen(memfd_create("output", MFD_CLOEXEC), "w+");
        if (!text)
                return verb->run(o);

        stdout = text;
        r = verb->run(o);
        stdout = terminal;

        must_work(fflush(text));
        must_work(setenv("LESS", getenv("SYSTEMD_LESS") ?: "FRXMK", true));
        must_work(setenv("LESSCHARSET", "utf-8", true)); /* UTF-8 in every locale, like the output (main.c) */
        must_work(setenv("LESSSECURE", "1", true));
        if (ftell(text) > 0 && !pager_show(command, fileno(text)) && !pager_show(LESS, fileno(text)))
                for (rewind(text); (c = getc(text)) != EOF;)
                        (void) putchar(c);
        (void) fclose(text);
        return r;
}
