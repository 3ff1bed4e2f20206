/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "choice.h"
#include "clock.h"
#include "must.h"
#include "visited.h"

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
