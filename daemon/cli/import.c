/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep import`: turns what others keep drives by into drivekeep configuration, on standard output. Touches nothing. */

#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "emit.h"
#include "hdparm-debian.h"
#include "inventory.h"
#include "options.h"
#include "reader.h"
#include "settings.h"
#include "text.h"
#include "text-file.h"
#include "verb.h"
#include "warning.h"

#define BY_ID_DIRECTORY "/dev/disk/by-id"
#define HDPARM_CONF "/etc/hdparm.conf"

enum {
        KEY_FORMAT = OPTION_KEY_CONFIG_ROOT + 1,
        KEY_COMMAND,
        KEY_AS_DEBIAN,
        KEY_APM,
        KEY_BATTERY,
        KEY_LINK,
};

typedef struct ImportOptions {
        Options common;
        ImportKind kind;
        Import *imports;
        size_t n_imports;
        const char *as_debian; /* NULL: plain import */
        int apm;               /* -1: as udev says */
        bool on_battery;
        Links links; /* as --link says */
        char **commands;
        size_t n_commands;
} ImportOptions;

static const struct argp_option options[] = {
        { "format", KEY_FORMAT, "KIND", 0,
          "What the files are: hdparm.conf, udisks2, script, crontab, unit or udev-rules; else it is found out", 0 },
        { "command", 'c', "COMMAND", 0, "A command line instead of a file; may be given again", 0 },
        { "as-debian", KEY_AS_DEBIAN, "DRIVE", 0,
          "Print the hdparm options that Debian 12 would use for this drive, by its own parser's rules", 0 },
        { "apm", KEY_APM, "yes|no", 0, "With --as-debian: the drive has APM, or has not; else as udev says", 0 },
        { "battery", KEY_BATTERY, NULL, 0, "With --as-debian: the machine runs on battery", 0 },
        { "link", KEY_LINK, "LINK=NODE", 0,
          "Let this link lead there, as it does on the machine that the files are from; may be given again", 0 },
        OPTION_HELP,
        {},
};

static void import_options_done(ImportOptions *o) {
        for (size_t i = 0; i < o->n_imports; i++)
                import_done(&o->imports[i]);
        free(o->imports);
        free(o->commands);
        links_done(&o->links);
}

static int add_link(ImportOptions *o, const char *argument) {
        _cleanup_free_ char *link = NULL;
        const char *equals = strrchr(argument, '=');

        if (!equals || argument[0] != '/' || equals[1] != '/')
                return -EINVAL;
        link = strndup(argument, (size_t) (equals - argument));
        return link ? links_add(&o->links, link, equals + 1) : -ENOMEM;
}

static int add_command(ImportOptions *o, char *argument) {
        char **commands = reallocarray(o->commands, o->n_commands + 1, sizeof(char *));

        if (!commands)
                return -ENOMEM;
        o->commands = commands;
        o->commands[o->n_commands++] = argument;
        return 0;
}

static void refuse(const struct argp_state *state, const char *objection, const char *argument) {
        _cleanup_free_ char *shown = text_escape(argument, NULL);

        argp_error(state, "%s '%s'", objection, strna(shown));
}

static error_t parse(int key, char *argument, struct argp_state *state) {
        ImportOptions *o = state->input;
        int r;

        switch (key) {
        case KEY_FORMAT:
                o->kind = import_kind_from_string(argument);
                if (o->kind == _IMPORT_KIND_INVALID)
                        refuse(state, "there is no format", argument);
                return 0;
        case 'c':
                return -add_command(o, argument);
        case KEY_AS_DEBIAN:
                o->as_debian = argument;
                return 0;
        case KEY_APM:
                if (!streq(argument, "yes") && !streq(argument, "no"))
                        refuse(state, "--apm is yes or no, not", argument);
                o->apm = streq(argument, "yes");
                return 0;
        case KEY_BATTERY:
                o->on_battery = true;
                return 0;
        case KEY_LINK:
                r = add_link(o, argument);
                if (r == -EINVAL)
                        refuse(state, "--link is LINK=NODE, both with their whole path, not", argument);
                return r == -EINVAL ? 0 : -r;
        default:
                return options_parse(key, argument, state);
        }
}

static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "[FILE...]",
        .doc = "Reads an hdparm.conf, udisks2 drive files, and commands (hdparm, smartctl, sdparm, nvme, blockdev) in scripts, "
               "crontabs, units and udev rules, and writes drivekeep configuration to standard output. Changes nothing."
               "\vFILE - is standard input.",
};

/* 1, or 0 when it cannot be read and that was said. */
static int read_file(const char *path, char **ret_text, size_t *ret_size) {
        const char *objection;
        int r;

        if (streq(path, "-"))
                r = text_descriptor_read(STDIN_FILENO, ret_text, ret_size, &objection);
        else
                r = text_file_read(path, ret_text, ret_size, &objection);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                warn_escaped("%s: the file cannot be read: %s", path, strerror(-r));
        else if (r > 0)
                warn_escaped("%s: %s", path, objection);
        return r == 0;
}

static int import_text(ImportOptions *o, const char *name, const char *text, size_t size, ImportKind kind,
                       const Links *links) {
        const char *objection;
        Import *imports;
        int r;

        imports = reallocarray(o->imports, o->n_imports + 1, sizeof(Import));
        if (!imports)
                return -ENOMEM;
        o->imports = imports;
        o->imports[o->n_imports] = (Import){};

        r = import_read(name, text, size, kind, links, &o->imports[o->n_imports], &objection);
        if (r < 0)
                return r;
        if (r > 0) {
                warn_escaped("%s: %s", name, objection);
                return 0;
        }

        o->n_imports++;
        return 1;
}

/* Everything or nothing: what is left out silently would be missed by nobody. */
static int import_all(ImportOptions *o) {
        static char *none[] = { NULL };
        int r;

        r = links_read(&o->links, BY_ID_DIRECTORY);
        for (size_t i = 0; i < o->n_commands && r >= 0; i++) {
                r = import_text(o, "--command", o->commands[i], strlen(o->commands[i]), IMPORT_SCRIPT, &o->links);
                if (r == 0)
                        return EXIT_BAD_INPUT;
        }

        for (char **path = o->common.names ?: none; *path && r >= 0; path++) {
                _cleanup_free_ char *text = NULL;
                size_t size;

                r = read_file(*path, &text, &size);
                if (r > 0)
                        r = import_text(o, *path, text, size, o->kind, &o->links);
                if (r == 0)
                        return EXIT_BAD_INPUT;
        }
        if (r >= 0)
                r = emit(stdout, o->imports, o->n_imports, &all_settings, &o->links);

        return r < 0 ? r : EXIT_WANTED;
}

/* readlink -m: whether or not what it leads to is there. */
static int follow(void *userdata, const char *path, char **ret) {
        const Links *links = userdata;
        const char *target = links_target(links, path);
        char found[PATH_MAX] = "";
        struct stat st;

        if (target) {
                *ret = strdup(target);
                return *ret ? 1 : -ENOMEM;
        }
        if (lstat(path, &st) < 0 || !S_ISLNK(st.st_mode))
                return 0;

        /* Where nothing is there, glibc says how far it came. */
        if (!realpath(path, found) && (errno != ENOENT || !*found))
                return 0;
        *ret = strdup(found);
        return *ret ? 1 : -ENOMEM;
}

/* A drive that is not here most likely has it. */
static int find_apm(const char *node, bool *ret) {
        _cleanup_(inventory_done) Inventory inventory = {};
        int r;

        *ret = true;
        r = inventory_read(NULL, &inventory);
        if (r < 0)
                return r;

        for (size_t i = 0; i < inventory.n_drives; i++) {
                const Drive *d = inventory.drives[i];

                if (streq(d->node, node))
                        *ret = debian_finds_apm(d);
        }

        return 0;
}

static int as_debian(ImportOptions *o) {
        _cleanup_(debian_answer_done) DebianAnswer answer = {};
        _cleanup_free_ char *text = NULL, *node = NULL, *output = NULL, *error = NULL;
        const char *path = o->common.names ? o->common.names[0] : HDPARM_CONF;
        DebianDrive drive = { .apm = o->apm > 0, .on_battery = o->on_battery, .follow = follow, .userdata = &o->links };
        size_t size;
        int r;

        if ((o->common.names && o->common.names[1]) || o->n_commands > 0) {
                warnx("--as-debian takes one hdparm.conf");
                return EXIT_BAD_INPUT;
        }
        if (!*o->as_debian) {
                warnx("--as-debian takes the name of a drive");
                return EXIT_BAD_INPUT;
        }

        r = follow(&o->links, o->as_debian, &node);
        if (r == 0 && asprintf(&node, "%s%s", strchr(o->as_debian, '/') ? "" : "/dev/", o->as_debian) < 0) {
                node = NULL;
                r = -ENOMEM;
        }
        if (r >= 0 && o->apm < 0)
                r = find_apm(node, &drive.apm);
        if (r < 0)
                return r;

        r = read_file(path, &text, &size);
        if (r <= 0)
                return r < 0 ? r : EXIT_BAD_INPUT;
        if (memchr(text, '\0', size)) {
                warn_escaped("%s: there is a NUL byte in it: this is no text file", path);
                return EXIT_BAD_INPUT;
        }

        drive.node = node;
        r = debian_options(text, size, &drive, &answer);
        if (r == -E2BIG) {
                warn_escaped("%s: what stands in it for one drive or for all comes to more than 8 KiB of options, and is followed no further",
                             path);
                return EXIT_BAD_INPUT;
        }
        if (r < 0)
                return r;

        output = text_escape(answer.output, NULL);
        error = text_escape(answer.error, NULL);
        if (!output || !error)
                return -ENOMEM;
        if (*output)
                puts(output);
        if (*error)
                fprintf(stderr, "%.200s\n", error);
        return answer.status == 0 ? EXIT_WANTED : EXIT_BAD_INPUT;
}

static int run(int argc, char *argv[]) {
        _cleanup_(import_options_done) ImportOptions o = {
                .common = { .takes_names = true },
                .kind = _IMPORT_KIND_INVALID,
                .apm = -1,
        };

        (void) argp_parse(&argp, argc, argv, 0, NULL, &o);

        if (o.as_debian)
                return as_debian(&o);
        if (!o.common.names && o.n_commands == 0) {
                warnx("say which files, as in 'drivekeep import " HDPARM_CONF "'");
                return EXIT_BAD_INPUT;
        }

        return import_all(&o);
}

const Verb verb_import = {
        .name = "import",
        .summary = "Turn hdparm.conf, udisks2 files and commands into drivekeep configuration",
        .run = run,
};
