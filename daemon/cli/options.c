/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <argp.h>

#include "output.h"
#include "pager.h"
#include "verb.h"

/* clang-format off */
#define COMMON 0 /* for options that every verb accepts, such as --quiet */

static const struct {
        OptionFlags flag;
        struct argp_option row; /* a key above 0xff: the option has no short form */
        size_t field; /* offset of a member of Options: a bool, or a string if the option takes an argument; 0: options_parse() has code
                       * for the option */
} table[] = {
        { OPTION_JSON, { "json", 'j', NULL, 0, "Print JSON; drivekeep(1) names its schema", 0 }, offsetof(Options, json) },
        { OPTION_STATE_DIR, { "state-dir", 0x100, "DIR", 0, "Read the state files in DIR instead of " STATE_DIR " (for testing)", 0 },
          offsetof(Options, state_dir) },
        { OPTION_CONFIG_ROOT, { "config-root", 0x101, "DIR", 0, "Read DIR/drivekeep instead of the drivekeep directories in /etc, /run and /usr/lib; "
                                "may be repeated: earlier DIRs mask later ones", 0 }, 0 },
        { OPTION_PERMANENT, { "permanent", 0x102, NULL, 0, "Also write settings that drives keep over power cycles, and make drives save "
                              "settings from configuration blocks with permanent = true", 0 }, offsetof(Options, permanent) },
        { OPTION_ON_BATTERY, { "on-battery", 0x109, NULL, 0, "Plan as if the machine were on battery", 0 },
          offsetof(Options, on_battery) },
        { OPTION_STRICT, { "strict", 0x103, NULL, 0, "Exit with status 2 if there are warnings", 0 }, offsetof(Options, strict) },
        { OPTION_VERBOSE, { "verbose", 'v', NULL, 0, "Also show optional settings that a drive does not have, and drives without a rule", 0 }, offsetof(Options, verbose) },
        { OPTION_FAILED, { "failed", 0x10a, NULL, 0, "Show only settings that are not as wanted", 0 }, offsetof(Options, failed) },
        { OPTION_WAIT, { "wait", 0x10b, NULL, 0, "Wait until all visits to these drives have finished, including queued ones", 0 },
          offsetof(Options, wait) },
        { OPTION_NOW, { "now", 0x10e, NULL, 0, "First make the service read the drives that are not in standby; needs root", 0 },
          offsetof(Options, now) },
        { OPTION_TRY, { "keep", 0x10c, NULL, 0, "Write the values of the trial to a file below /etc", 0 }, offsetof(Options, keep) },
        { OPTION_TRY, { "undo", 0x10d, NULL, 0, "Restore the previous values, and end the trial", 0 },
          offsetof(Options, undo) },
        { OPTION_WEAR, { "wear", 0x11e, NULL, 0, "Also read temperature, wear and self-test state from the drives; these reads "
                         "restart the drives' standby timers", 0 }, offsetof(Options, wear) },
        { OPTION_WEAR, { "setting", 0x11f, "SETTING", 0, "Read only this setting", 0 }, offsetof(Options, setting) },
        { OPTION_REWRITE, { "try", 0x121, NULL, 0, "Also write the current values of harmless settings again, to find out whether the "
                            "drive accepts them", 0 }, offsetof(Options, rewrite) },
        { OPTION_WAKES, { "summary", 0x10f, NULL, 0, "Show one line for each waker, with advice", 0 },
          offsetof(Options, summary) },
        { OPTION_WAKES, { "watch", 0x110, NULL, 0, "Show only new wakes, as they are recorded, until interrupted", 0 },
          offsetof(Options, watch) },
        { OPTION_EVENTS, { "follow", 0x120, NULL, 0, "Show the drives in standby, and then new events as they happen, until interrupted", 0 },
          offsetof(Options, watch) },
        { OPTION_PLOT, { "plot", 0x111, NULL, 0, "Draw the standby and active times and the wakes of the last seven days, without "
                         "access to the drives", 0 }, offsetof(Options, plot) },
        { OPTION_SVG, { "svg", 0x112, "FILE", 0, "Draw an SVG picture in FILE; - is standard output", 0 },
          offsetof(Options, svg) },
        { OPTION_MEASURE, { "budget", 0x113, "TIME", 0, "Measure for TIME: 10s to 12h", 0 }, offsetof(Options, budget) },
        { OPTION_MEASURE, { "file", 0x114, "DIR", 0, "Also measure writes, to a temporary file without a name in DIR, a directory on "
                          "the drive", 0 }, offsetof(Options, file) },
        { OPTION_BENCH, { "compare", 0x115, NULL, 0, "Compare two measurements, and measure nothing", 0 }, offsetof(Options, compare) },
        { OPTION_MEASURE, { "results", 0x116, "DIR", 0, "Use DIR for the files of measurements, instead of the command's directory in /var/lib/drivekeep", 0 },
          offsetof(Options, results) },
        { OPTION_TUNE, { "force", 0x117, NULL, 0, "Measure even if other programs use the drive most of the time", 0 }, offsetof(Options, force) },
        { OPTION_TUNE, { "write", 0x118, NULL, 0, "Write the better values to drivekeep.conf.d/60-tuned.conf below /etc, and reload", 0 },
          offsetof(Options, write) },
        { OPTION_TUNE, { "plot", 0x11d, "FILE", 0, "Draw the result in FILE, a picture whose name ends with .svg, .png or .pdf", 0 },
          offsetof(Options, picture) },
        { OPTION_METRICS, { "metrics", 0x119, NULL, 0, "Print metrics in Prometheus text format; drivekeep-fleet(7) describes them", 0 },
          offsetof(Options, metrics) },
        { OPTION_METRICS, { "output", 0x11a, "FILE", 0, "Write the metrics to FILE, but not to a drive in standby", 0 }, offsetof(Options, output) },
        { OPTION_HOST, { "host", 'H', "[USER@]HOST", 0, "Show the status of HOST, by ssh", 0 }, offsetof(Options, host) },
        { OPTION_AS, { "as", 0x104, "KEY=VALUE,...", 0, "Explain the rules for a drive with these properties, even if it is not attached. "
                       "KEY is a key of match; the key node gives the drive's name", 0 }, offsetof(Options, as) },
        { OPTION_IDENTIFY, { "identify", 0x105, "FILE", 0, "Show the contents of an IDENTIFY DEVICE image: 512 bytes, or the output of "
                             "'hdparm --Istdout'; - is standard input", 0 }, offsetof(Options, identify) },
        { OPTION_FORMAT, { "format", 0x106, "KIND", 0, "Read the files as KIND; by default, detect the kind from names and first lines", 0 }, offsetof(Options, format) },
        { OPTION_IMPORT, { "write", 0x11b, "NAME", 0, "Write the configuration to drivekeep.conf.d/NAME.conf below /etc; needs root", 0 }, offsetof(Options, write_to) },
        { OPTION_IMPORT, { "force", 0x11c, NULL, 0, "Let --write replace an existing file", 0 }, offsetof(Options, force) },
        { COMMON, { "quiet", 'q', NULL, 0, "Print errors only", -1 }, offsetof(Options, quiet) },
        { COMMON, { "no-legend", 0x107, NULL, 0, "Print no headings and no notes", -1 }, offsetof(Options, no_legend) },
        { COMMON, { "no-pager", 0x108, NULL, 0, "Do not use a pager", -1 }, offsetof(Options, no_pager) },
        { OPTION_COMMAND, { "command", 'c', "COMMAND", 0, "Import a command line instead of a file; may be repeated", 0 }, 0 },
};
/* clang-format on */

static int add_root(Options *o, const char *root, struct argp_state *state) {
        /* Rejects a missing directory: a mistyped root would look like an empty configuration. */
        if (access(root, F_OK) < 0) {
                _cleanup_free_ char *shown = format_escaped("%s", root);

                argp_failure(state, EXIT_BAD_INPUT, errno, "--config-root=%s", shown);
        } else if (o->n_roots == CONFIG_ROOTS_MAX)
                argp_error(state, "at most %u --config-root options are allowed", CONFIG_ROOTS_MAX);
        else {
                o->roots[o->n_roots++] = root;
                o->roots[o->n_roots] = NULL; /* replaces the default roots */
        }
        return 0;
}

static error_t options_parse(int key, char *argument, struct argp_state *state) {
        Options *o = state->input;

        switch (key) {
        case 'c':
                must_grow(o, commands);
                o->commands[o->n_commands++] = argument;
                return 0;
        case 'h':
                argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
                return 0;
        case ARGP_KEY_ARGS:
                if (!o->takes_names)
                        return ARGP_ERR_UNKNOWN;
                o->names = state->argv + state->next;
                return 0;
        }

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                void *field = (char *) o + table[i].field;

                if (table[i].row.key != key)
                        continue;
                if (table[i].flag == OPTION_CONFIG_ROOT)
                        return add_root(o, argument, state);
                if (table[i].row.arg)
                        *(const char **) field = argument;
                else
                        *(bool *) field = true;
                return 0;
        }
        return ARGP_ERR_UNKNOWN;
}

static void add_word(char ***words, size_t *n, char *word) {
        *words = must(reallocarray(*words, *n + 1, sizeof **words));
        (*words)[(*n)++] = word;
}

static char *option_format(const struct argp_option *row, const char *argument) {
        return must_format("--%s%s%s", row->name, argument ? "=" : "", argument ?: "");
}

char **options_to_words(const Options *o, const Verb *verb, const char *program) {
        char **words = NULL;
        size_t n = 0;

        add_word(&words, &n, must(strdup(program)));
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                const struct argp_option *row = &table[i].row;
                const void *field = (const char *) o + table[i].field;

                if (table[i].flag != COMMON && !(verb->options & table[i].flag))
                        continue;
                if (table[i].flag == OPTION_CONFIG_ROOT)
                        for (size_t k = 0; k < o->n_roots; k++)
                                add_word(&words, &n, option_format(row, o->roots[k]));
                else if (row->arg && *(const char *const *) field)
                        add_word(&words, &n, option_format(row, *(const char *const *) field));
                else if (!row->arg && *(const bool *) field)
                        add_word(&words, &n, option_format(row, NULL));
        }
        add_word(&words, &n, must(strdup("--")));
        add_word(&words, &n, must(strdup(verb->name)));
        for (char *const *name = o->names; name && *name; name++)
                add_word(&words, &n, must(strdup(*name)));
        add_word(&words, &n, NULL);
        return words;
}

void words_free(char **words) {
        for (char **word = words; *word; word++)
                free(*word);
        free(words);
}

/* Returns true if the option takes the next word as its argument. If options of several verbs share the name, returns true only if each of
 * these options takes an argument. */
static bool takes_next_word(const char *option) {
        bool takes = false;

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                const struct argp_option *row = &table[i].row;
                const char *letter = option[1] != '-' && row->key < 0x100 ? strchr(option, row->key) : NULL;

                /* A short option's argument may be in the same word. argp accepts abbreviated long options, too. */
                if (row->arg &&
                    ((letter && letter[1] == '\0') || (option[1] == '-' && starts_with(row->name, option + 2))))
                        takes = true;
                else if (option[1] == '-' && streq(row->name, option + 2))
                        return false;
        }
        return takes;
}

char **verb_find_word(char **words) {
        for (; *words && !streq(*words, "--"); words++) {
                if (**words != '-')
                        return words;
                if (takes_next_word(*words) && words[1])
                        words++;
        }
        return NULL;
}

/* Adds a heading and a list of verbs. `that_change`: lists the verbs that change something if true, or all other verbs if false. */
static size_t add_commands(struct argp_option *rows, const Verb *const *verbs, bool that_change, int group) {
        size_t n = 0;

        rows[n++] = (struct argp_option){ .doc = that_change ? "Commands that change something:"
                                                             : "Commands that show something:",
                                          .group = group };
        for (; *verbs; verbs++)
                if ((*verbs)->changes == that_change)
                        rows[n++] = (struct argp_option){ .name = (*verbs)->name,
                                                          .doc = (*verbs)->summary,
                                                          .flags = OPTION_DOC | OPTION_NO_USAGE,
                                                          .group = group };
        return n;
}

int verb_run(const Verb *verb, int argc, char *argv[]) {
        struct argp_option rows[ELEMENTSOF(table) + COMMANDS_MAX + 4] = { { .key = 'h', .flags = OPTION_HIDDEN } };
        const struct argp argp = {
                .options = rows,
                .parser = options_parse,
                .args_doc = verb->arguments,
                .doc = verb->help,
        };
        Options o = { .takes_names = verb->arguments != NULL,
                      .state_dir = STATE_DIR,
                      .roots = { "/etc", "/run", "/usr/lib" } };
        size_t n = 1;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                if (table[i].flag == COMMON || verb->options & table[i].flag) {
                        rows[n] = table[i].row;
                        /* The help that lists all verbs shows only options that all verbs accept. */
                        if (verb->commands && table[i].flag != COMMON)
                                rows[n].flags |= OPTION_HIDDEN;
                        n++;
                }
        if (verb->commands) {
                n += add_commands(rows + n, verb->commands, false, 1);
                n += add_commands(rows + n, verb->commands, true, 2);
        }

        r = -argp_parse(&argp, argc, argv, 0, NULL, &o);
        if (o.no_legend)
                output_hide_legend();
        if (r >= 0 && o.quiet && !freopen("/dev/null", "we", stdout))
                r = -errno;
        if (r >= 0)
                r = pager_run(verb, &o);
        /* The verb may have ended before it could read a drive. With --follow and --watch, each event is a
         * document: without an event, there is none. */
        if (o.json && !o.watch && (r == EXIT_NO_SERVICE || r == EXIT_LATER))
                output_print_empty("drives");
        free(o.commands);
        return r;
}
