/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep status`: what became of every setting. From the state files alone, so that it needs neither privileges nor
 * a bus; with --now the service reads the drives first. */

#include <err.h>
#include <sys/inotify.h>

#include "choice.h"
#include "clock.h"
#include "in-force.h"
#include "metrics.h"
#include "outlet.h"
#include "output.h"
#include "remote.h"
#include "request.h"
#include "status-table.h"
#include "wake-history.h"

static bool status_is_busy(const Records *records, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (records->items[i]->state != DRIVE_IDLE)
                        return true;
        return false;
}

/* The service renames each record into its place, and with its end the kernel closes the file that it has locked there. */
static int watch_records(const char *dir, int *ret_fd) {
        _cleanup_close_ int fd = inotify_init1(IN_CLOEXEC);

        if (fd < 0 || inotify_add_watch(fd, dir, IN_MOVED_TO | IN_DELETE | IN_CLOSE_WRITE | IN_ONLYDIR) < 0)
                return -errno;
        *ret_fd = TAKE_FD(fd);
        return 0;
}

/* The records that are asked for; with `watch`, as soon as no visit to these drives is under way or to come. */
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

/* Does one of the drives spin down, so that its wakers matter? */
static bool wants_wakes(const Records *records, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (records->items[i]->spindown || records->items[i]->tracing != TRACING_FINE)
                        return true;
        return false;
}

/* Notes for people: JSON is read by programs, whose units' journals they would fill. */
static void status_print_notes(const Options *o, const Records *records, size_t n) {
        _cleanup_(complaints_done) Complaints found = {};

        if (o->json)
                return;
        if (records->served && wants_wakes(records, n))
                wake_history_tell_untraced(records);
        in_force_tell(o->state_dir, o->roots);
        if (records->served)
                outlets_check("", &found);
        for (size_t i = 0; i < found.n_items; i++)
                warn_escaped("%s", found.items[i].sentence);
}

static int status_run(const Options *o) {
        _cleanup_(records_done) Records records = {};
        _cleanup_close_ int watch = -EBADF;
        int r = 0;
        size_t n;

        if ((o->output && !o->metrics) || (o->metrics && (o->now || o->json || o->failed))) {
                warnx("--output is for --metrics, which prints all that is known, without --now, --json and --failed");
                return EXIT_BAD_INPUT;
        }
        if (o->host && o->output) {
                warnx("--output is for metrics of this machine, not of another one");
                return EXIT_BAD_INPUT;
        }
        if (o->host)
                return remote_status(o);
        if (o->now) {
                if (!o->json)
                        in_force_tell(o->state_dir, o->roots);
                return visit_named_drives(o, "Read", visited_show_status);
        }
        if (o->wait)
                r = watch_records(o->state_dir, &watch);
        if (r >= 0)
                r = read_records(o, watch, &records, &n);
        if (r == -ENOENT && o->metrics)
                return metrics_show(&records, 0, o);
        if (r == -ENOENT) {
                warnx("drivekeep.service does not run, so nothing is known; 'systemctl start drivekeep.service' "
                      "starts it");
                return EXIT_NO_SERVICE;
        }
        if (r != EXIT_WANTED)
                return r;
        if (o->metrics)
                return metrics_show(&records, n, o);

        if (!records.served)
                warnx("drivekeep.service does not run, and this is what it knew when it ended; "
                      "'systemctl start drivekeep.service' starts it");
        status_print_notes(o, &records, n);
        r = status_print(&records, n, now_usec(), o);
        return records.served ? r : EXIT_NO_SERVICE;
}

const Verb verb_status = {
        .name = "status",
        .paged = true,
        .summary = "Show what became of every setting",
        .arguments = "[DRIVE...]",
        .help = "Shows every setting of the drives: wanted, actual, verdict, when, by which rule, and why."
                "\v" DRIVE_IS "; none means all drives.",
        .options = OPTION_FAILED | OPTION_WAIT | OPTION_NOW | OPTION_VERBOSE | OPTION_JSON | OPTION_METRICS |
                   OPTION_HOST | OPTION_STATE_DIR,
        .run = status_run,
};
