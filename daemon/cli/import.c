/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep import`: turns what others keep drives by into drivekeep configuration, on standard output. Touches nothing. */

#include <err.h>
#include <stdio.h>

#include "emit.h"
#include "kind.h"
#include "must.h"
#include "options.h"
#include "settings.h"
#include "text.h"
#include "text-file.h"
#include "verb.h"
#include "warning.h"

enum {
        KEY_FORMAT = OPTION_KEY_CONFIG_ROOT + 1,
};

typedef struct ImportOptions {
        Options common;
        ImportKind kind;
        Import *imports;
        size_t n_imports;
        char **commands;
        size_t n_commands;
        bool failed;
} ImportOptions;

static const struct argp_option options[] = {
        { "format", KEY_FORMAT,
          "hdparm.conf|conf.d|udisks2|tlp|tuned|smartd.conf|hd-idle|script|crontab|unit|udev-rules|tmpfiles|sysfs.conf",
          0, "What the files are; without it their names and first lines say so", 0 },
        { "command", 'c', "COMMAND", 0, "A command line instead of a file; may be given again", 0 },
        OPTION_HELP,
        {},
};

static void import_options_done(ImportOptions *o) {
        for (size_t i = 0; i < o->n_imports; i++)
                import_done(&o->imports[i]);
        free(o->imports);
        free(o->commands);
}

static void add_command(ImportOptions *o, char *argument) {
        o->commands = must_grow(o->commands, o->n_commands, sizeof(char *));
        o->commands[o->n_commands++] = argument;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
        ImportOptions *o = state->input;

        switch (key) {
        case KEY_FORMAT:
                o->kind = import_kind_from_string(argument);
                if (o->kind == _IMPORT_KIND_INVALID) {
                        _cleanup_free_ char *shown = text_escape(argument, NULL);

                        argp_error(state, "there is no format '%s'", strna(shown));
                }
                return 0;
        case 'c':
                add_command(o, argument);
                return 0;
        default:
                return options_parse(key, argument, state);
        }
}

static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "[FILE...]",
        .doc = "Reads the configuration of hdparm, udisks2, TLP, tuned, smartd and hd-idle, and commands (hdparm, smartctl, sdparm, "
               "nvme, blockdev) in scripts, crontabs, units and udev rules, and writes drivekeep configuration to standard "
               "output. Changes nothing."
               "\vFILE - is standard input.",
};

/* NULL: it cannot be read, and that was said. The caller frees the text. */
static char *read_file(const char *path, size_t *ret_size) {
        char *text = NULL;
        const char *objection;
        int r;

        if (streq(path, "-"))
                r = text_descriptor_read(STDIN_FILENO, &text, ret_size, &objection);
        else
                r = text_file_read(path, &text, ret_size, &objection);
        if (must_not_fail(r) < 0)
                warn_escaped("%s: the file cannot be read: %s", path, strerror(-r));
        else if (r > 0)
                warn_escaped("%s: %s", path, objection);
        return r == 0 ? text : NULL;
}

/* What is not understood costs itself, and not the others. */
static void import_text(ImportOptions *o, const char *name, const char *text, size_t size, ImportKind kind) {
        _cleanup_free_ char *objection = NULL;

        o->imports = must_grow(o->imports, o->n_imports, sizeof(Import));
        if (import_read(name, text, size, kind, &o->imports[o->n_imports], &objection) == 0)
                o->n_imports++;
        else {
                warn_escaped("%s: %s", name, objection);
                o->failed = true;
        }
}

static int import_all(ImportOptions *o) {
        static char *none[] = { NULL };
        int r = 0;

        for (size_t i = 0; i < o->n_commands; i++)
                import_text(o, "--command", o->commands[i], strlen(o->commands[i]), IMPORT_SCRIPT);
        for (char **path = o->common.names ?: none; *path; path++) {
                size_t size;
                _cleanup_free_ char *text = read_file(*path, &size);

                if (text)
                        import_text(o, *path, text, size, o->kind);
                else
                        o->failed = true;
        }
        if (o->n_imports > 0)
                r = emit(stdout, o->imports, o->n_imports, &all_settings, "/dev/disk/by-id");

        return r < 0 ? r : o->failed ? EXIT_BAD_INPUT : EXIT_WANTED;
}

static int run(int argc, char *argv[]) {
        _cleanup_(import_options_done) ImportOptions o = {
                .common = { .takes_names = true },
                .kind = _IMPORT_KIND_INVALID,
        };

        (void) argp_parse(&argp, argc, argv, 0, NULL, &o);

        if (!o.common.names && o.n_commands == 0) {
                warnx("say which files, as in 'drivekeep import /etc/hdparm.conf'");
                return EXIT_BAD_INPUT;
        }
        return import_all(&o);
}

const Verb verb_import = {
        .name = "import",
        .summary = "Turn other programs' files and commands into drivekeep configuration",
        .run = run,
};
