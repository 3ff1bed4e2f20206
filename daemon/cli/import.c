/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep import`: converts configuration and commands of other programs to drivekeep configuration, on standard output or in a new
 * file. */

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "draft.h"
#include "output.h"
#include "reader.h"
#include "safe-file.h"
#include "settings.h"

typedef struct Imports {
        GROWING_ARRAY(Import, items);
} Imports;

static void imports_done(Imports *m) {
        for (size_t i = 0; i < m->n_items; i++)
                import_done(&m->items[i]);
        free(m->items);
}

/* Imports one text. Returns false after it has reported an error on stderr; other texts are still imported. */
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

static int write_file(const Options *o, Imports *imports, const char *path) {
        _cleanup_(config_freep) Config *c = NULL;
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f;
        int r;

        if (!o->force && faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) >= 0) {
                warn_escaped("%s exists already; --force replaces it", path);
                return EXIT_BAD_INPUT;
        }
        f = must(open_memstream(&text, &size));
        r = emit(f, imports->items, imports->n_items, &all_settings);
        must_close(f);
        if (r < 0)
                return r;

        r = draft_check(o->roots, &(ConfigDraft){ path, text, size }, NULL, &c);
        /* Lets the service, which runs as another user, read the file. */
        (void) umask(0022);
        if (r == EXIT_WANTED)
                r = draft_write(path, text);
        if (r == EXIT_WANTED)
                printf("Written to %s. Review the file, then run 'drivekeep check' and 'drivekeep reload'.\n", path);
        return r;
}

static int import_run(const Options *o) {
        ImportKind kind = o->format ? import_kind_from_string(o->format) : _IMPORT_KIND_INVALID;
        _cleanup_free_ char *target = NULL;
        _cleanup_(imports_done) Imports imports = {};
        bool ok = true;
        int r = 0;

        if (o->format && kind == _IMPORT_KIND_INVALID) {
                warn_escaped("there is no format '%s'; 'drivekeep import --help' lists all formats", o->format);
                return EXIT_BAD_INPUT;
        }

        if (!o->names && o->n_commands == 0) {
                warnx("no file given; name the files to import, as in 'drivekeep import /etc/hdparm.conf'");
                return EXIT_BAD_INPUT;
        }
        if (o->write_to && o->n_roots == 0 && geteuid() != 0) {
                warnx("only root may change the configuration");
                return EXIT_BAD_INPUT;
        }
        if (o->write_to) {
                _cleanup_free_ char *name =
                                must_format("%s%s", o->write_to, ends_with(o->write_to, ".conf") ? "" : ".conf");

                target = draft_path(o, name);
                if (!target)
                        return EXIT_BAD_INPUT;
        }

        for (size_t i = 0; i < o->n_commands; i++)
                ok &= import_text(&imports, "--command", o->commands[i], strlen(o->commands[i]), IMPORT_SCRIPT);
        for (char **path = o->names; path && *path; path++)
                ok &= import_file(&imports, *path, kind);
        if (target && !ok) {
                warn_escaped("%s is not written: some of the input cannot be imported", target);
                return EXIT_BAD_INPUT;
        }
        if (target)
                return write_file(o, &imports, target);
        if (imports.n_items > 0) {
                printf("// --write=NAME writes this to a file in %s/" CONFIG_DROP_IN_DIRECTORY ".\n", o->roots[0]);
                r = emit(stdout, imports.items, imports.n_items, &all_settings);
        }

        return r < 0 ? r : ok ? EXIT_WANTED : EXIT_BAD_INPUT;
}

const Verb verb_import = {
        .name = "import",
        .summary = "Convert other programs' files and commands to drivekeep configuration",
        .arguments = "[FILE...]",
        .help = "Read the configuration of hdparm, udisks2, TLP, laptop-mode-tools, tuned, smartd, mdadm and hd-idle, and commands (hdparm, smartctl, sdparm, "
                "nvme, blockdev, openSeaChest, hd-idle) in scripts, crontabs, units and udev rules, and print drivekeep "
                "configuration, or write it to a drop-in with --write. Change nothing else."
                "\vFILE - is standard input.\n"
                "\n"
                "KIND is hdparm.conf, conf.d, udisks2, tlp, laptop-mode, tuned, smartd.conf, hd-idle, mdadm.conf, script, crontab, unit, "
                "udev-rules, tmpfiles or sysfs.conf.",
        .options = OPTION_FORMAT | OPTION_COMMAND | OPTION_IMPORT | OPTION_CONFIG_ROOT,
        .run = import_run,
};
