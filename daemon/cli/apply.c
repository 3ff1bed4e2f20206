/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep apply`: asks the daemon to visit drives now, waits until it has, and shows what came of it. `drivekeep status --now` does
 * the same by a visit that only reads. */

#include "choice.h"
#include "clock.h"
#include "must.h"
#include "request.h"
#include "settings.h"

/* Of what did not come true nothing is read by a visit that writes nothing, nor of what only a visit to both can tell. */
static bool was_read(const DriveRecord *d, uint64_t asked) {
        for (const SettingRecord *s = d->settings; s < d->settings + d->n_settings; s++) {
                const Setting *row = setting_find(&all_settings, s->name);

                if (s->actual && s->when < asked && verdict_is_in_order(s->verdict) && row && !row->unless)
                        return false;
        }
        return true;
}

int visited_show_status(const Options *o, const Records *records, size_t n, uint64_t asked) {
        for (size_t i = 0; i < n && o->now; i++)
                if (!was_read(records->items[i], asked))
                        warnx("%s was not asked now, as it sleeps, is being checked or does not answer; what is shown of it was "
                              "read at the time below WHEN",
                              records->items[i]->name);
        return status_print(records, n, now_usec(), o);
}

/* As the visits have left these drives (NULL: none). One that went away in the meantime is told of as a drive that nobody knows. */
static int show_visited(const Options *o, uint64_t asked, char *const *names, VisitedShowFn show) {
        _cleanup_(records_done) Records records = {};
        size_t n = 0;
        bool gone;
        int r;

        r = records_read(o->state_dir, &records);
        if (r < 0)
                return r;

        gone = names && records_choose(&records, names, &n) != EXIT_WANTED;
        r = show(o, &records, n, asked);
        return gone ? EXIT_NOT_WANTED : r;
}

int visit_drives(const Options *o, sd_bus *bus, const char *method, char *const *names, VisitedShowFn show) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_(strv_freep) char **visited = NULL;
        uint64_t asked = now_usec();
        int r;

        r = request_visit(bus, method, names, &visited, &error);
        return r < 0 ? (int) request_explain(r, &error) : show_visited(o, asked, visited, show);
}

int visit_named_drives(const Options *o, const char *method, VisitedShowFn show) {
        _cleanup_(records_done) Records records = {};
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        _cleanup_free_ char **names = NULL;
        int opened, r;
        size_t n;

        /* What stands in the way of asking is told after what is wrong with the question. */
        opened = request_open(&bus);
        /* So that there is a record of a drive that udev has told of a moment ago. */
        if (opened >= 0)
                (void) sd_bus_call_method(bus, DAEMON, "CatchUp", NULL, NULL, "");

        r = records_read(o->state_dir, &records);
        if (r == -ENOENT)
                return request_explain(r, &SD_BUS_ERROR_NULL);
        if (r >= 0)
                r = records_choose(&records, o->names, &n);
        if (r != EXIT_WANTED)
                return r;

        /* Asked for no drive in particular, the daemon visits all: also those that it has no record of yet. */
        names = must(calloc(n + 1, sizeof *names));
        for (size_t i = 0; i < n && o->names; i++)
                names[i] = records.items[i]->name;

        return opened < 0 ? (int) request_explain(opened, &SD_BUS_ERROR_NULL)
                          : visit_drives(o, bus, method, names, show);
}

static int run(const Options *o) {
        return visit_named_drives(o, o->permanent ? "ApplyPermanent" : "Apply", visited_show_status);
}

const Verb verb_apply = {
        .name = "apply",
        .changes = true,
        .summary = "Have the settings applied now, and show what came of it",
        .arguments = "[DRIVE...]",
        .help = "Has drivekeep.service apply the settings of the drives now, waits for it, and shows what came of it."
                "\v" DRIVE_IS "; none means all drives. "
                "A file system check that runs on a drive is waited for. Needs root.",
        .options = OPTION_PERMANENT | OPTION_VERBOSE | OPTION_JSON | OPTION_STATE_DIR,
        .run = run,
};
