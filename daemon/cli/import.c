/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep import`: turns what others keep drives by into drivekeep configuration, on standard output. Touches nothing. */

#include <err.h>
#include <stdio.h>

#include "output.h"
#include "reader.h"
#include "settings.h"
#include "text-file.h"
#include "verb.h"

typedef struct Imports {
        Import *items;
        size_t n_items;
        bool failed; /* something could not be read; said on stderr */
} Imports;

static void imports_done(Imports *m) {
        for (size_t i = 0; i < m->n_items; i++)
                import_done(&m->items[i]);
        free(m->items);
}

/* NULL: it cannot be read, and that was said. The caller frees the text. */
static char *read_file(const char *path, size_t *ret_size) {
        char *text = NULL;
        const char *objection;
        int r;

        r = streq(path, "-") ? text_descriptor_read(STDIN_FILENO, &text, ret_size, &objection)
                             : text_file_read(path, &text, ret_size, &objection);
        if (must_not_fail(r) < 0)
                warn_escaped("%s: the file cannot be read: %s", path, strerror(-r));
        else if (r > 0)
                warn_escaped("%s: %s", path, objection);
        return r == 0 ? text : NULL;
}

/* What is not understood costs itself, and not the others. */
static void import_text(Imports *m, const char *name, const char *text, size_t size, ImportKind kind) {
        const char *objection;

        must_grow(m->items, m->n_items);
        if (import_read(name, text, size, kind, &m->items[m->n_items], &objection) == 0)
                m->n_items++;
        else {
                warn_escaped("%s: %s", name, objection);
                m->failed = true;
        }
}

static int run(const Options *o) {
        ImportKind kind = o->format ? import_kind_from_string(o->format) : _IMPORT_KIND_INVALID;
        _cleanup_(imports_done) Imports imports = {};
        int r = 0;

        if (o->format && kind == _IMPORT_KIND_INVALID) {
                warn_escaped("there is no format '%s'; 'drivekeep import --help' lists them", o->format);
                return EXIT_BAD_INPUT;
        }

        if (!o->names && o->n_commands == 0) {
                warnx("say which files, as in 'drivekeep import /etc/hdparm.conf'");
                return EXIT_BAD_INPUT;
        }

        for (size_t i = 0; i < o->n_commands; i++)
                import_text(&imports, "--command", o->commands[i], strlen(o->commands[i]), IMPORT_SCRIPT);
        for (char **path = o->names; path && *path; path++) {
                size_t size;
                _cleanup_free_ char *text = read_file(*path, &size);

                if (text)
                        import_text(&imports, *path, text, size, kind);
                else
                        imports.failed = true;
        }
        if (imports.n_items > 0)
                r = emit(stdout, imports.items, imports.n_items, &all_settings, "/dev/disk/by-id");

        return r < 0 ? r : imports.failed ? EXIT_BAD_INPUT : EXIT_WANTED;
}

const Verb verb_import = {
        .name = "import",
        .summary = "Turn other programs' files and commands into drivekeep configuration",
        .arguments = "[FILE...]",
        .help = "Reads the configuration of hdparm, udisks2, TLP, tuned, smartd and hd-idle, and commands (hdparm, smartctl, sdparm, "
                "nvme, blockdev) in scripts, crontabs, units and udev rules, and writes drivekeep configuration to standard "
                "output. Changes nothing."
                "\vFILE - is standard input.",
        .options = OPTION_FORMAT | OPTION_COMMAND,
        .run = run,
};
