/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep cat`: prints the configuration, file by file, as `systemctl cat` prints units. Then prints the temporary values that
 * override the configuration. */

#include "config.h"
#include "output.h"
#include "records.h"
#include "safe-file.h"
#include "settings.h"
#include "try-values.h"
#include "verb.h"

/* Prints the file unchanged, so that the output is valid configuration. The text needs no escaping: config_load() rejects files that
 * other users can write. */
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

/* Prints the temporary values of the drive as configuration blocks. Returns true if there are any. */
static bool cat_print_temporary(const Drive *d, const TemporaryValues *t, bool until_boot, bool first) {
        _cleanup_free_ char *blocks = try_values_format_blocks(d, t, until_boot);

        if (*blocks)
                printf("%s# %s, %s: %s\ndrives = (\n%s);\n", first ? "" : "\n",
                       until_boot ? TEMPORARY_RULE_BOOT : TEMPORARY_RULE_CLIENT, d->name,
                       until_boot ? "until the next boot" : "until the measurement ends", blocks);
        return *blocks;
}

/* Prints the temporary values of all drives. Returns 1 if there are any, 0 if not, or a negative errno. */
static int cat_print_all_temporary(const char *state_dir, bool first) {
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(records_done) Records records = {};
        int r = records_read_drives(state_dir, &inventory, &records);

        for (size_t i = 0; i < inventory.n_drives && r >= 0; i++) {
                const Drive *d = inventory.drives[i];
                _cleanup_(temporary_freep) TemporaryValues *t = NULL;

                (void) must_not_fail(temporary_read(state_dir, d, &all_settings, &t));
                for (int client = 0; t && client <= 1; client++)
                        first = !cat_print_temporary(d, t, !client, first) && first;
        }
        return r < 0 ? r : !first;
}

static int cat_run(const Options *o) {
        _cleanup_(config_freep) Config *c = NULL;
        int r;

        must_work(config_new(&c));
        must_work(config_load(c, &all_settings, o->roots));
        if (c->complaints.n_errors > 0)
                warnx("the configuration has errors; 'drivekeep check' shows them");

        for (size_t i = 0; i < c->n_files; i++) {
                if (i > 0)
                        (void) putchar('\n');
                cat_print(c->files[i]);
        }

        r = o->n_roots > 0 ? 0 : cat_print_all_temporary(o->state_dir, c->n_files == 0);
        if (r == 0 && c->n_files == 0 && c->complaints.n_errors == 0)
                warnx("there is no configuration, so no setting is written");
        return r < 0 ? r : EXIT_WANTED;
}

const Verb verb_cat = {
        .name = "cat",
        .paged = true,
        .summary = "Show the configuration, file by file",
        .help = "Show the configuration files in the order of reading, each below its name. "
                "An empty file that masks others is shown by its name alone. "
                "The temporary values of 'drivekeep try' and 'drivekeep tune' come last.",
        .options = OPTION_CONFIG_ROOT | OPTION_STATE_DIR,
        .run = cat_run,
};
