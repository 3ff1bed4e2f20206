/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep check`: reports all errors in the configuration files, in the format of a compiler. Also reports other programs on this
 * machine that conflict with the settings. Changes nothing, and needs no privileges. */

#include <grp.h>
#include <pwd.h>
#include <stdio.h>

#include "ata.h"
#include "config.h"
#include "known-device.h"
#include "outlet.h"
#include "output.h"
#include "reader.h"
#include "records.h"
#include "conflicts.h"
#include "safe-file.h"
#include "settings.h"
#include "standby-timer.h"
#include "tracefs.h"
#include "tune-evidence.h"
#include "verb.h"

#define SERVICE_USER "drivekeep" /* created by units/drivekeep.sysusers */
#define STANDARD_INPUT "-"

/* ---- what the service can read ---- */

/* Reports a path that the current user cannot access. Skips paths below an inaccessible directory, since the directory is reported
 * already. `mode`: as for access(2). */
static void check_access(Config *c, const char *path, int mode) {
        _cleanup_free_ char *parent = must_directory(path);

        if (access(path, mode) == 0 || errno != EACCES || access(parent, X_OK) < 0)
                return;
        must_work(complain(&c->complaints, COMPLAINT_ERROR, path, 0, 0,
                           "the service's user \"" SERVICE_USER "\" may not read this %s; 'chmod %s %s' allows it",
                           mode & X_OK ? "directory" : "file", mode & X_OK ? "o+rx" : "o+r", path));
}

/* Reports configuration files and their directories that the service cannot read. Only root can check this. Does nothing if the service's
 * user does not exist. */
static int check_readable(Config *c, const char *const *roots) {
        const struct passwd *user = geteuid() == 0 ? getpwnam(SERVICE_USER) : NULL;

        if (!user)
                return 0;
        /* Checks access as the service's user, since access rights depend on more than the mode. Does nothing where root cannot switch
         * to another user, as in some containers. */
        if (initgroups(user->pw_name, user->pw_gid) < 0 || setresgid(user->pw_gid, user->pw_gid, 0) < 0 ||
            setresuid(user->pw_uid, user->pw_uid, 0) < 0)
                return setresgid(0, 0, 0) < 0 ? -errno : 0;

        for (; *roots; roots++) {
                _cleanup_free_ char *directory = must_format("%s/drivekeep", *roots);
                _cleanup_free_ char *drop_ins = must_format("%s/" CONFIG_DROP_IN_DIRECTORY, *roots);

                check_access(c, *roots, X_OK);
                check_access(c, directory, X_OK);
                check_access(c, drop_ins, R_OK | X_OK);
        }
        for (size_t i = 0; i < c->n_files; i++)
                check_access(c, c->files[i], R_OK);

        return setresuid(0, 0, 0) < 0 || setresgid(0, 0, 0) < 0 ? -errno : 0;
}

/* ---- the files ---- */

/* Keeps the text of standard input, which can be read only once. */
typedef struct Input {
        char *text; /* NULL if standard input was not read yet */
        size_t size;
} Input;

static void input_done(Input *i) {
        free(i->text);
}

static int input_load(Input *i, Config *c) {
        const char *objection;
        int r;

        r = i->text ? 0 : must_not_fail(text_descriptor_read(STDIN_FILENO, &i->text, &i->size, &objection));
        if (r == 0)
                return config_parse(c, &all_settings, STANDARD_INPUT, i->text, i->size);
        return complain(&c->complaints, COMPLAINT_ERROR, STANDARD_INPUT, 0, 0, "%s%s",
                        r < 0 ? "the file cannot be read: " : "", r < 0 ? strerror(-r) : objection);
}

/* Describes the first line that has an error and is written in the syntax of another program. Returns NULL if there is no such line. */
static char *describe_line(const Config *c, const char *file, const char *text, unsigned *ret_line) {
        char *sentence = NULL;

        for (const Complaint *x = c->complaints.items; !sentence && x < c->complaints.items + c->complaints.n_items;
             x++)
                if (x->level == COMPLAINT_ERROR && x->line > 0 && streq(x->file, file)) {
                        *ret_line = x->line;
                        sentence = import_describe_line(file, text, x->line);
                }
        return sentence;
}

/* Replaces all errors of a file by a single error, if the file belongs to another program or has lines of another program's file. */
static void check_foreign(Config *c, const Input *input) {
        for (size_t i = 0; i < c->n_files; i++) {
                _cleanup_free_ char *found = NULL, *sentence = NULL;
                const char *file = c->files[i], *text = input->text, *objection;
                size_t size = input->size;
                unsigned line = 0;

                if (!complaints_have_error(&c->complaints, file))
                        continue;
                if (!streq(file, STANDARD_INPUT)) {
                        if (must_not_fail(text_file_read(file, &found, &size, &objection)) != 0)
                                continue;
                        text = found;
                }
                sentence = import_describe(file, text, size) ?: describe_line(c, file, text, &line);
                if (!sentence)
                        continue;
                complaints_drop(&c->complaints, file);
                must_work(complain(&c->complaints, COMPLAINT_ERROR, file, line, line > 0, "%s", sentence));
        }
}

static bool matches_any(const Block *b, const Inventory *inventory) {
        for (size_t i = 0; i < inventory->n_drives; i++)
                if (match_drive(&b->match, inventory->drives[i], NULL))
                        return true;

        return false;
}

/* If wakers cannot be recorded, adds a notice at the first rule that makes a drive spin down. The notice is not an error, because settings
 * work without records of wakers. */
static void check_tracing(Config *c, const Inventory *inventory, const Records *records) {
        const char *obstacle = c->wake_log == WAKE_LOG_OFF ? NULL : tracefs_obstacle("");

        for (size_t i = 0; i < inventory->n_drives && obstacle; i++) {
                _cleanup_(wishes_done) Wishes w = {};
                const Drive *d = inventory->drives[i];
                const DriveRecord *record = records_of(records, d) ?: &(DriveRecord){};
                const Wish *wish;

                must_work(config_resolve(c, d, false, &w));
                wish = spin_down_timer(record, &w, &all_settings, d, drive_backends(d)).wish;
                if (!wish || !drive_has_standby(d, drive_backends(d)))
                        continue;
                must_work(complain(&c->complaints, COMPLAINT_NOTICE, wish->file, wish->line, 1,
                                   "wakers of this rule's drives cannot be recorded: %s", obstacle));
                return;
        }
}

/* If the kernel blocks ATA commands to the drive's USB bridge and there is a remedy, adds a complaint at the first rule for an ATA setting of
 * the drive. Sends no command: the record shows what the service has learned about the bridge. */
static void check_bridge(Config *c, const Drive *d, const DriveRecord *record, const Wishes *w) {
        static const DeviceIO no_io = {};
        Device device;

        if (!record)
                return;
        device_init_known(&device, d, record, &no_io);
        if (bridge_check(&device) < 0 && device.failure.remediable)
                for (size_t i = 0; i < w->n_items; i++) {
                        const Wish *wish = &w->items[i];
                        const Setting *s = setting_for_backends(&all_settings, wish->name, drive_backends(d));

                        if (!s || s->backend != BACKEND_ATA || wish->withheld)
                                continue;
                        must_work(complain(&c->complaints, wish->optional ? COMPLAINT_NOTICE : COMPLAINT_WARNING,
                                           wish->file, wish->line, wish->column, "%s cannot be set on %s: %s",
                                           wish->name, d->node, device.failure.why));
                        break;
                }
        device_done(&device);
}

static void check_drives(Config *c, const Inventory *inventory, const Records *records, bool verbose) {
        /* If there are no drives, as on a build machine or in a container, no block can match, and no notice is added. */
        for (size_t i = 0; inventory->n_drives > 0 && i < c->n_blocks; i++) {
                const Block *b = c->blocks + i;

                /* Skips blocks with errors, whose match may be incomplete. */
                if (!b->broken && !matches_any(b, inventory))
                        must_work(complain(&c->complaints, COMPLAINT_NOTICE, b->file, b->line, b->column,
                                           "this rule matches no attached drive"));
        }

        for (size_t i = 0; i < inventory->n_drives; i++) {
                _cleanup_(wishes_done) Wishes w = {};
                const Drive *d = inventory->drives[i];

                must_work(config_check_drive(c, &all_settings, d));
                must_work(config_resolve(c, d, false, &w));
                check_bridge(c, d, records_of(records, d), &w);
                if (verbose && w.n_items == 0)
                        must_work(complain(&c->complaints, COMPLAINT_NOTICE, d->node, 0, 0,
                                           "no rule matches this drive (%s, serial %s): it is not managed",
                                           strna(d->model), strna(d->serial)));
        }
        evidence_check(c, inventory);
        check_tracing(c, inventory, records);
}

/* Prints the complaints, and the number of errors and warnings. Returns the number of warnings. */
static size_t check_print(const Config *c, const Options *options) {
        _cleanup_(output_freep) Output *o = output_new(options->json, NULL, 0);
        size_t n_warnings = 0;

        output_document(o, "complaints");
        for (size_t i = 0; i < c->complaints.n_items; i++) {
                const Complaint *x = c->complaints.items + i;
                _cleanup_free_ char *line = must(complaint_format(x));

                output_object(o, NULL);
                output_text(o, "file", x->file);
                output_text(o, "level", complaint_level_to_string(x->level));
                output_text(o, "sentence", x->sentence);
                output_number(o, "line", true, x->line);
                output_number(o, "column", true, x->column);
                output_end(o);
                output_line(o, "%s", line);
                n_warnings += x->level == COMPLAINT_WARNING;
        }
        output_print(o);

        /* The totals are printed on stderr, so that editors parse only the complaints on stdout. */
        if (options->json || options->quiet)
                return n_warnings;
        if (c->n_files == 0 && c->complaints.n_errors == 0)
                fprintf(stderr, "There is no configuration, so no setting is written.\n");
        else
                fprintf(stderr, "%zu file%s, %zu rule%s: %zu error%s, %zu warning%s.\n", c->n_files,
                        c->n_files == 1 ? "" : "s", c->n_blocks, c->n_blocks == 1 ? "" : "s", c->complaints.n_errors,
                        c->complaints.n_errors == 1 ? "" : "s", n_warnings, n_warnings == 1 ? "" : "s");
        return n_warnings;
}

static int check_run(const Options *o) {
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(records_done) Records records = {};
        _cleanup_(config_freep) Config *c = NULL;
        _cleanup_(input_done) Input input = {};
        size_t n_warnings;
        int r = 0;

        must_work(config_new(&c));
        for (char *const *file = o->names; file && *file; file++)
                must_work(streq(*file, STANDARD_INPUT) ? input_load(&input, c)
                                                       : config_load_file(c, &all_settings, *file));
        if (!o->names) {
                must_work(config_load(c, &all_settings, o->roots));
                r = check_readable(c, o->roots);
        }
        if (r < 0)
                return r;
        must_work(config_check(c, &all_settings));

        /* A failure here does not end the check: without udev, as on a build machine or in a container, the files can still be checked. */
        r = records_read_drives(o->state_dir, &inventory, &records);
        must_work(config_check_names(c, inventory.drives, inventory.n_drives));
        if (r >= 0)
                check_drives(c, &inventory, &records, o->verbose);
        check_foreign(c, &input);
        conflicts_check("", c, &all_settings, inventory.drives, inventory.n_drives);
        outlets_check("", &c->complaints);

        n_warnings = check_print(c, o);
        if (c->complaints.n_errors > 0)
                return EXIT_BAD_INPUT;
        return o->strict && n_warnings > 0 ? EXIT_NOT_WANTED : EXIT_WANTED;
}

const Verb verb_check = {
        .name = "check",
        .summary = "Check the configuration for errors",
        .arguments = "[FILE...]",
        .help = "Check the configuration, or the FILEs instead, and show all errors and warnings."
                "\vFILE - is standard input.\n"
                "\n"
                "The exit status is 1 if there are errors, 0 otherwise.",
        .options = OPTION_STRICT | OPTION_VERBOSE | OPTION_JSON | OPTION_STATE_DIR | OPTION_CONFIG_ROOT,
        .run = check_run,
};
