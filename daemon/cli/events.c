/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep events`: prints the events of drives. The journal has all events but one: the service does not log that a drive
 * enters standby, because the record would wake the drive that contains the journal. The record of a wake shows the standby before that
 * wake. The drive's state file, which is in memory, shows a present standby. */

#include <err.h>
#include <stdio.h>
#include <sys/timerfd.h>

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
                .waker = must(strdup("unknown")),
        };
}

/* ---- output ---- */

static void event_print(Output *o, const Event *e) {
        static const WakeRecord no_wake = {};
        const WakeRecord *w = e->record;

        output_row(o);
        output_time(o, "time", e->when);
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
                event_print(out, e);
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
                event_print(out, events.items + i);
        output_end(out);
        output_print(out);

        for (size_t i = 0; i < h->n_chosen; i++)
                wake_record_done(drives + i);
        free(drives);
        free(events.items);
}

/* ---- new events ---- */

/* How long the event of a wake waits for the journal's record, which names the waker. The journal may have dropped the record. */
#define RECORD_USEC (10ULL * 1000 * 1000)

/* The event was printed without the record, which may still arrive. */
#define WAIT_ENDED UINT64_MAX

/* The last known state of the drives. Each drive is a state file as last read, with two exceptions: `power` is the last printed mode, and
 * `power_when` of an active drive is the time of the last record of a wake (0: the state file was read later). */
typedef struct Known {
        Records drives;
        uint64_t *waits; /* for each drive: the end of the wait for the record of a wake; CLOCK_MONOTONIC, µs; 0: no wait; or WAIT_ENDED */
        int timer; /* timerfd; expires at the first end of a wait */
} Known;

/* Updates the last known state of a drive from the state file `new`, and returns the event. Event.event is NULL if there was no event, or
 * if the event comes from the journal. `old`: NULL if there was no file. `wait`: the element of Known.waits. */
static Event event_of_change(bool served, DriveRecord *old, DriveRecord *new, uint64_t *wait) {
        bool was = old && drive_record_in_standby(old), counted = old && !streq_ptr(old->wakes, new->wakes);
        uint64_t when = new->power_when ?: now_usec(), until = *wait;

        *wait = 0;
        /* The service updates the files only while it runs. */
        if (!served)
                new->power = POWER_UNKNOWN;
        if (drive_record_in_standby(new)) {
                if (was)
                        return (Event){};
                if (!old || old->power_when <= new->power_when)
                        return (Event){ when, "standby" };
                /* The file is older than the record of the wake. */
                new->power = old->power;
                new->power_when = old->power_when;
                return (Event){};
        }

        new->power_when = 0;
        if (!was) {
                *wait = until;
                return (Event){};
        }
        if (served && counted && (until == 0 || until > monotonic_usec())) {
                new->power = old->power;
                free(new->wakes);
                new->wakes = TAKE_PTR(old->wakes);
                *wait = until ?: monotonic_usec() + RECORD_USEC;
                return (Event){};
        }
        if (!served || (new->power == POWER_UNKNOWN && !counted))
                return (Event){ now_usec(), "unknown" };
        *wait = counted ? WAIT_ENDED : 0;
        return (Event){ when, "active" };
}

/* Reads the state files again, and prints the changes. The first call prints the drives in standby. */
static int follow_states(Known *k, const WakeHistory *h, const Options *o) {
        _cleanup_(records_done) Records old = k->drives;
        _cleanup_free_ uint64_t *waits = k->waits;
        struct itimerspec timer = {};
        uint64_t first = 0;
        int r;

        k->drives = (Records){};
        r = records_read(o->state_dir, &k->drives);
        k->waits = must(calloc(MAX(k->drives.n_items, 1U), sizeof *k->waits));
        for (size_t i = 0; r >= 0 && i < k->drives.n_items; i++) {
                DriveRecord *d = k->drives.items[i], *before = NULL;
                _cleanup_(wake_record_done) WakeRecord w = record_of_drive(d);
                Event e;

                for (size_t j = 0; j < old.n_items && !before; j++)
                        if (streq(old.items[j]->name, d->name) && old.items[j]->diskseq == d->diskseq) {
                                before = old.items[j];
                                k->waits[i] = waits[j];
                        }
                e = event_of_change(k->drives.served, before, d, k->waits + i);
                if (k->waits[i] > 0 && k->waits[i] < WAIT_ENDED && (first == 0 || k->waits[i] < first))
                        first = k->waits[i];

                e.record = &w;
                if (e.event && wake_history_means(h, o, &w))
                        r = event_print_line(o, &e);
        }
        /* 0 stops the timer. */
        timer.it_value.tv_sec = (time_t) (first / 1000000);
        timer.it_value.tv_nsec = (long) (first % 1000000 * 1000);
        if (r >= 0 && timerfd_settime(k->timer, TFD_TIMER_ABSTIME, &timer, NULL) < 0)
                return -errno;
        return r;
}

static int follow_record(Known *k, const WakeHistory *h, const Options *o, const WakeRecord *w) {
        Event e = event_of_record(w);
        bool is_wake = streq_ptr(e.event, "active"), printed = false;
        int r;

        for (size_t i = 0; is_wake && i < k->drives.n_items; i++) {
                DriveRecord *d = k->drives.items[i];

                if (!wake_record_is_of(w, d->name, d->serial))
                        continue;
                printed = printed || k->waits[i] == WAIT_ENDED;
                k->waits[i] = 0;
                d->power = POWER_ACTIVE;
                d->power_when = w->when;
        }
        r = e.event && !printed && wake_history_means(h, o, w) ? event_print_line(o, &e) : 0;
        if (r < 0 || !is_wake)
                return r;
        /* The state file may show another standby after the wake. */
        return follow_states(k, h, o);
}

/* Runs until a signal arrives, or until nobody reads the output. */
static int follow(const WakeHistory *h, const Options *o) {
        _cleanup_close_ int watch = -EBADF, timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
        Known known = { .timer = timer };
        int r;

        if (timer < 0)
                return -errno;
        /* Watches before the first read, so that no change is lost. */
        r = records_watch(o->state_dir, &watch);
        if (r == -ENOENT) {
                warnx("drivekeep.service has not run since boot; 'systemctl start drivekeep.service' starts it");
                return EXIT_NO_SERVICE;
        }
        if (r >= 0)
                r = follow_states(&known, h, o);

        while (r >= 0) {
                struct pollfd fds[] = {
                        {},
                        { .fd = watch, .events = POLLIN },
                        { .fd = timer, .events = POLLIN },
                        { .fd = STDOUT_FILENO },
                };
                _cleanup_(wake_record_done) WakeRecord w = {};
                char changes[4096];

                r = wake_record_wait(h->journal, fds, ELEMENTSOF(fds), &w);
                if (r > 0)
                        r = follow_record(&known, h, o, &w);
                else if (r == 0 && fds[3].revents)
                        break;
                else if (r == 0 && fds[1].revents && read(watch, changes, sizeof changes) < 0)
                        r = -errno;
                else if (r == 0)
                        r = follow_states(&known, h, o);
        }
        records_done(&known.drives);
        free(known.waits);
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
