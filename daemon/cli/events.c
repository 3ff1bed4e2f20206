/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep events`: prints the events of drives. The journal has all events but one: the service does not log that a drive
 * enters standby, because the record would wake the drive that contains the journal. The record of a wake shows the standby before that
 * wake. The drive's state file, which is in memory, shows a present standby. */

#include <err.h>
#include <stdio.h>

#include "clock.h"
#include "journal-id.h"
#include "must.h"
#include "output.h"
#include "verb.h"
#include "wake-history.h"
#include "wakes.h"

/* clang-format off */
static const Column columns[] = {
        { "time", "TIME" },
        { "drive", "DRIVE" },
        { "event", "EVENT" },
        { "text", "DETAILS", .wrap = true },
};

static const struct {
        const char *message_id, *event;
        bool by_message; /* the details are the message; false: the model of the drive */
} words[] = {
        { JOURNAL_ID_WAKE,        "active",   true  },
        { JOURNAL_ID_SETTING,     "verdict",  true  },
        { JOURNAL_ID_QUARANTINED, "verdict",  true  },
        { JOURNAL_ID_DRIFT,       "drift",    true  },
        { JOURNAL_ID_ATTACHED,    "attached", false },
        { JOURNAL_ID_GONE,        "gone",     false },
};
/* clang-format on */

typedef struct Event {
        uint64_t when;
        const char *event;
        const WakeRecord *record; /* the journal's record, or the drive alone; borrowed */
        const char *text;         /* for people; borrowed */
} Event;

typedef struct Events {
        GROWING_ARRAY(Event, items);
} Events;

/* Returns the message without the name of the drive, which has a column of its own. */
static const char *message_text(const WakeRecord *w) {
        size_t n = strlen(w->drive);

        return w->message && starts_with(w->message, w->drive) && starts_with(w->message + n, ": ") ? w->message + n + 2
                                                                                                    : w->message;
}

/* Returns the event of a journal record. Event.event is NULL if the record is no event: each resume and each `apply` confirms all values. */
static Event event_of_record(const WakeRecord *w) {
        if (streq_ptr(w->verdict, verdict_to_string(VERDICT_UNCHANGED)))
                return (Event){ .record = w };
        for (size_t i = 0; w->message_id && i < ELEMENTSOF(words); i++)
                if (streq(words[i].message_id, w->message_id))
                        return (Event){ w->when, words[i].event, w, words[i].by_message ? message_text(w) : w->model };
        return (Event){ .record = w };
}

/* Returns the drive of a state file as a record that has only the properties of the drive, escaped as in the journal. */
static WakeRecord record_of_drive(const DriveRecord *d) {
        return (WakeRecord){
                .drive = must(strdup(d->name)),
                .serial = d->serial ? must(text_escape(d->serial, NULL)) : NULL,
                .wwn = d->wwn ? must(text_escape(d->wwn, NULL)) : NULL,
                .model = d->model ? must(text_escape(d->model, NULL)) : NULL,
                .boot_id = d->boot_id ? must(strdup(d->boot_id)) : NULL,
        };
}

/* ---- output ---- */

static void event_print(Output *o, const Event *e, uint64_t now) {
        static const WakeRecord no_wake = {};
        const WakeRecord *w = e->record;
        char when[HUMAN_MAX], when_short[HUMAN_MAX];

        output_row(o);
        output_text(o, "time", time_format_rfc3339(e->when, when));
        output_cell(o, "time", time_format_short(e->when, now, when_short));
        output_text(o, "boot_id", w->boot_id);
        output_text(o, "event", e->event);
        output_text(o, "drive", w->drive);
        output_text(o, "serial", w->serial);
        output_text(o, "model", w->model);
        output_text(o, "wwn", w->wwn);
        output_text(o, "setting", w->setting);
        output_text(o, "wanted", w->wanted);
        output_text(o, "before", w->before);
        output_text(o, "actual", w->after);
        output_text(o, "verdict", w->verdict);
        output_text(o, "reason", w->reason);
        output_text(o, "rule", w->rule);
        output_text(o, "visit_reason", w->visit);
        output_text(o, "drift_from", w->drift_from);
        output_text(o, "drift_to", w->drift_to);
        wake_print(o, streq(e->event, "active") ? w : &no_wake);
        output_cell(o, "text", e->text);
        output_end(o);
}

static int event_print_line(const Options *o, const Event *e) {
        _cleanup_(output_freep) Output *out = output_new(o->json, NULL, 0);
        char when[HUMAN_MAX];

        output_document(out, "events");
        if (o->json)
                event_print(out, e, e->when);
        else
                output_line(out, "%s %s: %s%s%s", strna(time_format_short(e->when, now_usec(), when)), e->record->drive,
                            e->event, e->text ? ": " : "", e->text ?: "");
        return output_print_line(out);
}

/* ---- past events ---- */

static void events_add(Events *events, Event e) {
        must_grow(events, items);
        events->items[events->n_items++] = e;
}

static int event_compare(const void *a, const void *b) {
        const Event *x = a, *y = b;

        return x->when != y->when ? (x->when > y->when ? 1 : -1) : (x->record > y->record) - (x->record < y->record);
}

static void events_show(const WakeHistory *h, const Options *o) {
        _cleanup_(output_freep) Output *out = output_new(o->json, columns, ELEMENTSOF(columns));
        WakeRecord *drives = must(calloc(MAX(h->n_chosen, 1U), sizeof *drives));
        uint64_t now = now_usec();
        Events events = {};

        for (const WakeRecord *w = h->records.items; w < h->records.items + h->records.n_items; w++) {
                Event e = event_of_record(w);

                if (!e.event || !wake_history_means(h, o, w))
                        continue;
                if (w->standby.known)
                        events_add(&events,
                                   (Event){ w->when - MIN(w->when, (uint64_t) w->standby.number), "standby", w, NULL });
                events_add(&events, e);
        }
        for (size_t i = 0; i < h->n_chosen; i++) {
                const DriveRecord *d = h->drives[i].item;

                if (!d || !drive_record_in_standby(d))
                        continue;
                drives[i] = record_of_drive(d);
                events_add(&events, (Event){ d->power_when, "standby", drives + i, NULL });
        }
        if (events.n_items > 0)
                qsort(events.items, events.n_items, sizeof *events.items, event_compare);
        else
                warnx("no event%s has been recorded since boot", o->names ? " of these drives" : "");

        output_document(out, NULL);
        output_array(out, "events");
        for (size_t i = 0; i < events.n_items; i++)
                event_print(out, events.items + i, now);
        output_end(out);
        output_print(out);

        for (size_t i = 0; i < h->n_chosen; i++)
                wake_record_done(drives + i);
        free(drives);
        free(events.items);
}

/* ---- new events ---- */

/* Returns the event that changed the state file from `old` to `new`. `old`: NULL if there was no file. Event.event is NULL if there was no
 * event, or if the journal has the event. `served`: the service runs, so the files are up to date. */
static Event event_of_change(const DriveRecord *old, const DriveRecord *new, bool served) {
        bool was = old && drive_record_in_standby(old), is = served && drive_record_in_standby(new);
        /* If the service counted a wake, the journal has the record of the wake. */
        bool counted = old && !streq_ptr(old->wakes, new->wakes);

        /* The drive may have left and entered standby since `old` was read. */
        if (is)
                return (Event){ new->power_when, was && !counted ? NULL : "standby" };
        if (!was || counted)
                return (Event){};
        return !served || new->power == POWER_UNKNOWN ? (Event){ now_usec(), "unknown" }
                                                      : (Event){ new->power_when, "active" };
}

/* Reads the state files again, and prints the changes. The first call prints the drives in standby. */
static int follow_states(const WakeHistory *h, const Options *o, Records *states) {
        _cleanup_(records_done) Records old = *states;
        int r;

        *states = (Records){};
        r = records_read(o->state_dir, states);
        for (size_t i = 0; r >= 0 && i < states->n_items; i++) {
                const DriveRecord *d = states->items[i], *before = records_find(&old, d->name);
                _cleanup_(wake_record_done) WakeRecord w = record_of_drive(d);
                Event e = event_of_change(before && before->diskseq == d->diskseq ? before : NULL, d, states->served);

                e.record = &w;
                if (e.event && wake_history_means(h, o, &w))
                        r = event_print_line(o, &e);
        }
        return r;
}

/* Runs until a signal arrives, or until nobody reads the output. */
static int follow(const WakeHistory *h, const Options *o) {
        _cleanup_(records_done) Records states = {};
        _cleanup_close_ int watch = -EBADF;
        int r;

        /* Watches before the first read, so that no change is lost. */
        r = records_watch(o->state_dir, &watch);
        if (r == -ENOENT) {
                warnx("drivekeep.service has not run since boot; 'systemctl start drivekeep.service' starts it");
                return EXIT_NO_SERVICE;
        }
        if (r >= 0)
                r = follow_states(h, o, &states);

        while (r >= 0) {
                struct pollfd fds[] = { {}, { .fd = watch, .events = POLLIN }, { .fd = STDOUT_FILENO } };
                _cleanup_(wake_record_done) WakeRecord w = {};
                char changes[4096];

                r = wake_record_wait(h->journal, fds, ELEMENTSOF(fds), &w);
                if (r > 0) {
                        Event e = event_of_record(&w);

                        r = e.event && wake_history_means(h, o, &w) ? event_print_line(o, &e) : 0;
                } else if (r == 0 && fds[2].revents)
                        return EXIT_WANTED;
                else if (r == 0)
                        r = read(watch, changes, sizeof changes) < 0 ? -errno : follow_states(h, o, &states);
        }
        return r;
}

static int events_run(const Options *o) {
        _cleanup_(wake_history_done) WakeHistory history = {};
        int r;

        r = wake_history_read(&history, RECORDS_OF_EVENTS, o);
        if (r != EXIT_WANTED)
                return r;
        wake_history_print_untraced(&history.here);
        if (o->watch)
                return follow(&history, o);

        events_show(&history, o);
        return EXIT_WANTED;
}

const Verb verb_events = {
        .name = "events",
        .paged = true,
        .summary = "Show what has happened to the drives",
        .arguments = "[DRIVE...]",
        .help = "Show the events of drives since boot: standby, wakes, new or changed verdicts, drift, attach and removal."
                "\v" DRIVE_IS
                "; without DRIVE: all drives. Only root and members of the groups systemd-journal and adm can read "
                "the journal.",
        .options = OPTION_EVENTS | OPTION_JSON | OPTION_STATE_DIR,
        .run = events_run,
};
