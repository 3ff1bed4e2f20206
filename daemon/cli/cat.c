/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep cat`: the configuration that is in force, file by file, as systemctl(1) shows a unit. */

#include "config.h"
#include "output.h"
#include "safe-file.h"
#include "settings.h"
#include "verb.h"

/* As it is, so that it can be read again. The file has just been read as the configuration, which it is not where others could have
 * written it. */
static void cat_print(const char *path) {
        _cleanup_free_ char *text = NULL;
        const char *objection;
        size_t size = 0;
        int r;

        r = must_not_fail(text_file_read(path, &text, &size, &objection));
        if (r != 0)
                warn_escaped("%s: %s", path, r < 0 ? strerror(-r) : objection);
        else {
                (void) printf("# %s\n", path);
                (void) fwrite(text, 1, size, stdout);
        }
        if (r == 0 && size > 0 && text[size - 1] != '\n')
                (void) putchar('\n');
}

static int cat_run(const Options *o) {
        _cleanup_(config_freep) Config *c = NULL;

        must_work(config_new(&c));
        must_work(config_load(c, &all_settings, o->roots));
        if (c->complaints.n_errors > 0)
                warnx("the configuration has errors, which 'drivekeep check' shows");

        for (size_t i = 0; i < c->n_files; i++) {
                if (i > 0)
                        (void) putchar('\n');
                cat_print(c->files[i]);
        }
        if (c->n_files == 0 && c->complaints.n_errors == 0)
                warnx("there is no configuration, so nothing is ever written");
        return EXIT_WANTED;
}

const Verb verb_cat = {
        .name = "cat",
        .paged = true,
        .summary = "Show the configuration that is in force, file by file",
        .help = "Shows the files of the configuration as they are read, one after the other, each below its name. "
                "A file that masks others and is empty has a name only.",
        .options = OPTION_CONFIG_ROOT,
        .run = cat_run,
};
