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
        GROWING_ARRAY(Import, items);
} Imports;

static void imports_done(Imports *m) {
        for (size_t i = 0; i < m->n_items; i++)
                import_done(&m->items[i]);
        free(m->items);
}

/* What is not understood costs itself, and not the others. False: so it is, and that was said. */
static bool import_text(Imports *m, const char *name, const char *text, size_t size, ImportKind kind) {
        const char *objection;

        must_grow(m, items);
        if (import_read(name, text, size, kind, &m->items[m->n_items], &objection) == 0) {
                m->n_items++;
                return true;
        }
        warn_escaped("%s: %s", name, objection);
        return false;
}

static bool import_file(Imports *m, const char *path, ImportKind kind) {
        _cleanup_free_ char *text = NULL;
        const char *objection;
        size_t size;
        int r;

        r = must_not_fail(streq(path, "-") ? text_descriptor_read(STDIN_FILENO, &text, &size, &objection)
                                           : text_file_read(path, &text, &size, &objection));
        if (r == 0)
                return import_text(m, path, text, size, kind);
        warn_escaped("%s: %s%s", path, r < 0 ? "the file cannot be read: " : "", r < 0 ? strerror(-r) : objection);
        return false;
}

static int run(const Options *o) {
        ImportKind kind = o->format ? import_kind_from_string(o->format) : _IMPORT_KIND_INVALID;
        _cleanup_(imports_done) Imports imports = {};
        bool ok = true;
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
                ok &= import_text(&imports, "--command", o->commands[i], strlen(o->commands[i]), IMPORT_SCRIPT);
        for (char **path = o->names; path && *path; path++)
                ok &= import_file(&imports, *path, kind);
        if (imports.n_items > 0)
                r = emit(stdout, imports.items, imports.n_items, &all_settings);

        return r < 0 ? r : ok ? EXIT_WANTED : EXIT_BAD_INPUT;
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
