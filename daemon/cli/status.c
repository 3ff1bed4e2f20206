/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep status`: prints the verdict on every setting. Reads only files, and needs neither privileges nor a bus. With --now, the service
 * first reads the drives. */

#include <err.h>
#include <fcntl.h>

#include "choice.h"
#include "clock.h"
#include "config.h"
#include "conflicts.h"
#include "metrics.h"
#include "outlet.h"
#include "output.h"
#include "request.h"
#include "settings.h"
#include "status-table.h"
#include "wake-history.h"

/* ---- --host: another machine ---- */

/* Prints the word in single quotes, for the shell on the remote machine. */
static void remote_print_word(FILE *f, const char *word) {
        fputs(" '", f);
        for (const char *c = word; *c; c++)
                fputs(*c == '\'' ? "'\\''" : (char[]){ *c, '\0' }, f);
        fputc('\'', f);
}

static char *remote_command(const Options *o) {
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
                remote_print_word(f, *name);
        must_close(f);
        return text;
}

/* `drivekeep status --host`: replaces this process by ssh, which runs drivekeep on the remote machine. Returns only if ssh cannot be
 * started, after reporting the error. */
static int remote_status(const Options *o) {
        _cleanup_free_ char *command = remote_command(o);
        /* -x: no X11; -T: no terminal. After --, a host that begins with a dash is not an option. */
        char *const words[] = { (char *) "ssh", (char *) "-xT", (char *) "--", (char *) o->host, command, NULL };

        (void) fflush(stdout);
        (void) execvp(words[0], words);
        warn_escaped("ssh to %s cannot be started: %s", o->host, strerror(errno));
        return EXIT_BAD_INPUT;
}

/* ---- is the configuration in force? ---- */

static char *read_in_force(const char *state_dir) {
        _cleanup_close_ int fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char *text = NULL;
        size_t size;

        if (fd < 0 || !record_directory_is_locked(fd) ||
            must_not_fail(record_file_read(fd, CONFIG_IN_FORCE_FILE, TEXT_FILE_MAX, &text, &size)) < 0)
                return NULL;
        return text;
}

/* Returns true if this user can read all configuration files. Some files may be readable only for the service. */
static bool in_force_may_read(const Config *c) {
        for (const Complaint *x = c->complaints.items; x < c->complaints.items + c->complaints.n_items; x++)
                if (x->line == 0 && access(x->file, R_OK) < 0 && errno == EACCES)
                        return false;
        return true;
}

static void in_force_print_errors(const Config *c, bool changed) {
        const Complaint *x = c->complaints.items;
        size_t n = c->complaints.n_errors;

        while (x->level != COMPLAINT_ERROR)
                x++;
        warn_complaint(x);
        if (changed)
                warnx("the configuration has %zu error%s, so the previous configuration stays in force; "
                      "'drivekeep check' shows all errors",
                      n, n == 1 ? "" : "s");
        else
                warnx("the configuration has %zu error%s, and %s not in force; 'drivekeep check' shows all errors", n,
                      n == 1 ? "" : "s", n == 1 ? "the part in error is" : "the parts in error are");
}

/* Returns NULL if this user cannot read all configuration files. */
static Config *read_config(const char *const *roots) {
        _cleanup_(config_freep) Config *c = NULL;

        must_work(config_new(&c));
        must_work(config_load(c, &all_settings, roots));
        return in_force_may_read(c) ? TAKE_PTR(c) : NULL;
}

/* Prints a warning on stderr if the configuration files are not in force. The service lists the files in force in `state_dir`. Does nothing
 * if the service does not run. */
static void in_force_print(const char *state_dir, const Config *c) {
        static const char *const changes[] = {
                [CONFIG_CHANGED] = "has changed since drivekeep.service read it; the old content stays in force",
                [CONFIG_NEW] = "is a new file, and is not in force",
                [CONFIG_GONE] = "was removed, but its old content stays in force",
        };
        _cleanup_free_ char *in_force = read_in_force(state_dir), *file = NULL;
        int r;

        if (!in_force)
                return;

        r = must_not_fail(config_compare_in_force(c, in_force, &file));
        if (r < 0)
                return;
        if (c->complaints.n_errors > 0)
                in_force_print_errors(c, r != CONFIG_SAME);
        else if (r != CONFIG_SAME)
                warn_escaped("%s %s until 'drivekeep reload'", file, changes[r]);
}

/* ---- conflicts with other programs ---- */

/* Prints the number of warnings of 'drivekeep check' about other programs. Does nothing if the configuration has errors, since it then
 * lacks the settings in error. Replaces the complaints of the configuration. */
static void conflicts_print(const Records *records, Config *c) {
        _cleanup_(inventory_done) Inventory inventory = {};
        size_t n = 0;

        if (c->complaints.n_errors > 0 || inventory_read(&inventory) < 0)
                return;

        records_reveal_drives(records, &inventory);
        complaints_done(&c->complaints);
        conflicts_check("", c, &all_settings, inventory.drives, inventory.n_drives);
        for (size_t i = 0; i < c->complaints.n_items; i++)
                n += c->complaints.items[i].level == COMPLAINT_WARNING;
        if (n > 0)
                warnx("%zu conflict%s with other programs; 'drivekeep check' names each conflict and the remedy", n,
                      n == 1 ? "" : "s");
}

/* ---- the records ---- */

static bool status_is_busy(const Records *records, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (records->items[i]->state != DRIVE_IDLE)
                        return true;
        return false;
}

/* Reads the selected records. With `watch`, waits until no selected drive has a running or pending visit. */
static int read_records(const Options *o, int watch, Records *ret, size_t *ret_n) {
        char events[4096];

        for (;;) {
                int r = records_read(o->state_dir, ret);

                if (r >= 0)
                        r = records_choose(ret, o->names, ret_n);
                if (r != EXIT_WANTED || watch < 0 || !ret->served || !status_is_busy(ret, *ret_n))
                        return r;

                records_done(ret);
                if (read(watch, events, sizeof events) < 0 && errno != EINTR)
                        return -errno;
        }
}

/* Returns true if a drive spins down, or if the wakers of a drive cannot be traced. */
static bool needs_wakers(const Records *records, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (records->items[i]->spindown || records->items[i]->tracing != TRACING_FINE)
                        return true;
        return false;
}

/* Prints warnings, except with --json: a program that reads the JSON again and again would fill its journal with the warnings. */
static void status_print_notes(const Options *o, const Records *records, size_t n) {
        _cleanup_(complaints_done) Complaints found = {};
        _cleanup_(config_freep) Config *c = NULL;

        if (o->json)
                return;
        if (records->served && needs_wakers(records, n))
                wake_history_print_untraced(records);
        if (records->served)
                c = read_config(o->roots);
        if (c)
                in_force_print(o->state_dir, c);
        if (c && !o->names)
                conflicts_print(records, c);
        if (records->served)
                outlets_check("", &found);
        for (size_t i = 0; i < found.n_items; i++)
                warn_escaped("%s", found.items[i].sentence);
        for (size_t i = 0; i < n && records->served; i++)
                if (records->items[i]->kept_when > 0)
                        warnx("%s: programs keep the drive from its spin-down; 'drivekeep wakes %s' names them and the remedies",
                              records->items[i]->name, records->items[i]->name);
}

static int status_run(const Options *o) {
        _cleanup_(records_done) Records records = {};
        _cleanup_close_ int watch = -EBADF;
        int r = 0;
        size_t n;

        if (o->output && !o->metrics) {
                warnx("--output needs --metrics");
                return EXIT_BAD_INPUT;
        }
        if (o->metrics && (o->now || o->json || o->failed)) {
                warnx("--metrics cannot be used with --now, --json or --failed");
                return EXIT_BAD_INPUT;
        }
        if (o->host && o->output) {
                warnx("--output and --host exclude each other");
                return EXIT_BAD_INPUT;
        }
        if (o->host)
                return remote_status(o);
        if (o->now) {
                _cleanup_(config_freep) Config *c = o->json ? NULL : read_config(o->roots);

                if (c)
                        in_force_print(o->state_dir, c);
                return visit_named_drives(o, "Read", visited_show_status);
        }
        if (o->wait)
                r = records_watch(o->state_dir, &watch);
        if (r >= 0)
                r = read_records(o, watch, &records, &n);
        if (r == -ENOENT && o->metrics)
                return metrics_show(&records, 0, o);
        if (r == -ENOENT) {
                warnx("drivekeep.service does not run, and has left no records; 'systemctl start drivekeep.service' "
                      "starts it");
                return EXIT_NO_SERVICE;
        }
        if (r != EXIT_WANTED)
                return r;
        if (o->metrics)
                return metrics_show(&records, n, o);

        if (!records.served)
                warnx("drivekeep.service does not run: these are its last records; "
                      "'systemctl start drivekeep.service' starts it");
        status_print_notes(o, &records, n);
        r = status_print(&records, n, now_usec(), o);
        return records.served ? r : EXIT_NO_SERVICE;
}

const Verb verb_status = {
        .name = "status",
        .paged = true,
        .summary = "Show the verdict on every setting",
        .arguments = "[DRIVE...]",
        .help = "Show every setting of the drives: wanted and actual value, verdict, time, rule, and reason."
                "\v" DRIVE_IS "; without DRIVE: all drives.",
        .options = OPTION_FAILED | OPTION_WAIT | OPTION_NOW | OPTION_VERBOSE | OPTION_JSON | OPTION_METRICS |
                   OPTION_HOST | OPTION_STATE_DIR,
        .run = status_run,
};
