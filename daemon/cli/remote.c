/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "must.h"
#include "output.h"
#include "remote.h"

/* A word as the shell on the other machine takes it for one: in quotes, but for quotes themselves. */
static void print_word(FILE *f, const char *word) {
        fputs(" '", f);
        for (const char *c = word; *c; c++)
                fputs(*c == '\'' ? "'\\''" : (char[]){ *c, '\0' }, f);
        fputc('\'', f);
}

static char *make_command(const Options *o) {
        const struct {
                bool given;
                const char *option;
        } options[] = {
                { o->json, "--json" },
                { o->failed, "--failed" },
                { o->wait, "--wait" },
                { o->now, "--now" },
                { o->verbose, "-v" },
                { o->quiet, "-q" },
                { o->no_legend, "--no-legend" },
                { o->metrics, "--metrics" },
        };
        char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        fputs("drivekeep status", f);
        for (size_t i = 0; i < ELEMENTSOF(options); i++)
                if (options[i].given)
                        fprintf(f, " %s", options[i].option);
        if (o->names)
                fputs(" --", f);
        for (char *const *name = o->names; name && *name; name++)
                print_word(f, *name);
        must_close(f);
        return text;
}

int remote_status(const Options *o) {
        _cleanup_free_ char *command = make_command(o);
        /* Neither X11 nor a terminal; what begins with a dash is no option of ssh's. */
        char *const words[] = { (char *) "ssh", (char *) "-xT", (char *) "--", (char *) o->host, command, NULL };

        (void) fflush(stdout);
        (void) execvp(words[0], words);
        warn_escaped("ssh, by which %s is asked, cannot be started: %s", o->host, strerror(errno));
        return EXIT_BAD_INPUT;
}
