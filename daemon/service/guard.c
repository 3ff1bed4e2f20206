/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <signal.h>
#include <sys/wait.h>
#include <syslog.h>

#include "clock.h"
#include "guard-file.h"
#include "guard.h"
#include "journal.h"
#include "record.h"
#include "scribe.h"

/* A file system that is busy writes back for some seconds; a visit waits no longer. */
#define GUARD_PATIENCE_USEC (5ULL * 1000 * 1000)

/* Somebody waits for the record as it is now to be on stable storage. */
typedef struct Waiter Waiter;
struct Waiter {
        GuardFn fn;
        void *userdata;
        Waiter *next;
};

struct GuardedDrive {
        Guard *guard;
        GuardRecord *record;
        bool continues; /* the drive is there, as it was when the intents of an earlier run were written */
        unsigned n_visits;

        bool dirty;   /* the record is to be written … */
        bool writing; /* … by the scribe at work, as it was when that began … */
        bool written; /* … which has ended, and those who wait are to be told */
        bool late;    /* … or takes too long */
        sd_event_source *patience;
        Waiter *waiters;

        GuardedDrive *next;
};

struct Guard {
        sd_event *event;
        char *dir;
        const char *boot_id;
        GuardedDrive *drives;
        sd_event_source *scribe; /* one at a time, for all that has to be written when it begins */
        bool told;               /* the journal knows that the directory is of no use */
};

/* ---- the drives' files ---- */

static GuardedDrive *guarded_free(GuardedDrive *d) {
        if (!d)
                return NULL;

        sd_event_source_disable_unref(d->patience);
        while (d->waiters) {
                Waiter *w = d->waiters;

                d->waiters = w->next;
                free(w);
        }
        (void) guard_record_free(d->record);
        free(d);
        return NULL;
}

static int guard_add(Guard *g, GuardRecord *record, GuardedDrive **ret) {
        GuardedDrive *d;

        d = malloc(sizeof *d);
        if (!d)
                return -ENOMEM;

        *d = (GuardedDrive){ .guard = g, .record = record, .next = g->drives };
        g->drives = d;
        *ret = d;
        return 0;
}

static void guard_tell(Guard *g, int error) {
        if (!g->told)
                journal_log(LOG_WARNING,
                            "%s cannot be written, so dangerous settings are not written to drives, and the others are "
                            "without the crash guard: %s",
                            g->dir, strerror(-error));
        g->told = true;
}

static int on_record(void *userdata, GuardRecord *record) {
        GuardedDrive *d;

        return guard_add(userdata, record, &d);
}

/* ---- writing them ---- */

static void guard_write(Guard *g);

static void guarded_answer(GuardedDrive *d, int error) {
        Waiter *waiters = TAKE_PTR(d->waiters);

        d->patience = sd_event_source_disable_unref(d->patience);
        if (error < 0)
                guard_tell(d->guard, error);

        while (waiters) {
                _cleanup_free_ Waiter *w = waiters;

                waiters = w->next;
                w->fn(w->userdata, error);
        }
}

static GuardedDrive *guard_written(Guard *g) {
        for (GuardedDrive *d = g->drives; d; d = d->next)
                if (d->written)
                        return d;
        return NULL;
}

static int on_scribe(sd_event_source *source _unused_, const siginfo_t *si, void *userdata) {
        Guard *g = userdata;
        int error = si->si_code == CLD_EXITED ? -si->si_status : -EIO;

        g->scribe = sd_event_source_disable_unref(g->scribe);
        if (error == 0)
                g->told = false;

        for (GuardedDrive *d = g->drives; d; d = d->next) {
                if (!d->writing)
                        continue;
                d->writing = d->late = false;
                d->written = !d->dirty; /* else those who wait do so for what it did not write yet */
        }
        guard_write(g);

        /* Whoever is told may want more, so the list is begun from the top each time. */
        for (GuardedDrive *d; (d = guard_written(g));) {
                d->written = false;
                guarded_answer(d, error);
        }
        return 0;
}

static int on_patience(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        GuardedDrive *d = userdata;

        d->late = true;
        guarded_answer(d, -ETIMEDOUT);
        return 0;
}

static int on_failed_start(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        guarded_answer(userdata, -EAGAIN);
        return 0;
}

static void guarded_fail(GuardedDrive *d, int error) {
        d->dirty = d->writing = d->late = false;
        d->patience = sd_event_source_disable_unref(d->patience);
        if (d->waiters &&
            sd_event_add_time_relative(d->guard->event, &d->patience, CLOCK_MONOTONIC, 0, 0, on_failed_start, d) < 0)
                guarded_answer(d, error);
}

/* A scribe for what has to be written, or for as much of it as one takes. */
static int guard_start(Guard *g, pid_t after, pid_t *ret) {
        GuardedDrive *drives[SCRIBE_FILES_MAX];
        ScribeFile files[SCRIBE_FILES_MAX];
        char *texts[SCRIBE_FILES_MAX];
        size_t n = 0;
        int r = 0;

        for (GuardedDrive *d = g->drives; d && n < SCRIBE_FILES_MAX && r >= 0; d = d->next) {
                if (!d->dirty)
                        continue;

                texts[n] = NULL;
                if (d->record->n_entries > 0)
                        r = guard_record_serialize(d->record, &texts[n]);
                files[n] = (ScribeFile){ d->record->key, texts[n] };
                drives[n++] = d;
        }

        if (r >= 0)
                r = scribe_start(g->dir, files, n, after, ret);
        for (size_t i = 0; i < n; i++) {
                free(texts[i]);
                drives[i]->writing = drives[i]->writing || r >= 0;
                drives[i]->dirty = r < 0;
        }
        return r;
}

static bool guard_is_dirty(const Guard *g) {
        for (const GuardedDrive *d = g->drives; d; d = d->next)
                if (d->dirty)
                        return true;
        return false;
}

/* Brings what has changed to its files, after what is being written now. */
static void guard_write(Guard *g) {
        pid_t pid;
        int r;

        if (g->scribe || !guard_is_dirty(g))
                return;

        r = guard_start(g, 0, &pid);
        if (r >= 0)
                r = sd_event_add_child(g->event, &g->scribe, pid, WEXITED, on_scribe, g);
        if (r >= 0)
                return;

        guard_tell(g, r);
        for (GuardedDrive *d = g->drives; d; d = d->next)
                if (d->dirty || d->writing)
                        guarded_fail(d, r);
}

void guard_flush(Guard *g, uint64_t usec) {
        pid_t pid = 0;
        int r = 0;

        if (g->scribe)
                (void) sd_event_source_get_child_pid(g->scribe, &pid);
        while (r >= 0 && guard_is_dirty(g))
                r = guard_start(g, pid, &pid);
        /* The last one waits for those before it. */
        if (r >= 0 && pid > 0)
                r = scribe_wait(pid, usec);
        if (r < 0)
                guard_tell(g, r);
}

static void guarded_write(GuardedDrive *d) {
        d->dirty = true;
        guard_write(d->guard);
}

int guarded_intend(GuardedDrive *d, uint64_t diskseq, const Intent *intents, size_t n, GuardFn fn, void *userdata) {
        Waiter *w;
        int r;

        /* Its file is not waited for twice. */
        if (d->late)
                return -ETIMEDOUT;

        r = streq_ptr(d->record->boot_id, d->guard->boot_id) ? 0
                                                             : string_replace(&d->record->boot_id, d->guard->boot_id);
        for (size_t i = 0; i < n && r >= 0; i++)
                r = guard_record_intend(d->record, intents[i].setting, intents[i].value, now_usec());
        if (r >= 0 && !d->patience)
                r = sd_event_add_time_relative(d->guard->event, &d->patience, CLOCK_MONOTONIC, GUARD_PATIENCE_USEC, 0,
                                               on_patience, d);
        if (r < 0)
                return r;

        w = malloc(sizeof *w);
        if (!w)
                return -ENOMEM;
        *w = (Waiter){ .fn = fn, .userdata = userdata, .next = d->waiters };
        d->waiters = w;
        d->record->diskseq = diskseq;
        guarded_write(d);
        return 0;
}

void guarded_forget_call(GuardedDrive *d, const void *userdata) {
        for (Waiter **p = &d->waiters; *p;) {
                Waiter *w = *p;

                if (w->userdata != userdata) {
                        p = &w->next;
                        continue;
                }
                *p = w->next;
                free(w);
        }
}

void guarded_visit(GuardedDrive *d, bool begins) {
        d->n_visits += begins ? 1 : -1U;
}

/* ---- what is known ---- */

static void guarded_tell_quarantined(const GuardedDrive *d, uint64_t when) {
        for (size_t i = 0; i < d->record->n_entries; i++) {
                const GuardEntry *e = d->record->entries + i;

                if (e->quarantined && e->when >= when)
                        journal_quarantined(d->record, e);
        }
}

int guard_attach(Guard *g, const Drive *drive, GuardedDrive **ret) {
        _cleanup_(guard_record_freep) GuardRecord *record = NULL;
        _cleanup_free_ char *key = NULL;
        GuardedDrive *d;
        int r;

        r = guard_key(drive, &key);
        if (r < 0)
                return r;

        for (d = g->drives; d; d = d->next)
                if (streq(d->record->key, key))
                        break;

        if (!d) {
                record = calloc(1, sizeof *record);
                if (!record)
                        return -ENOMEM;
                record->key = TAKE_PTR(key);
                r = guard_add(g, record, &d);
                if (r < 0)
                        return r;
                TAKE_PTR(record);
        }

        r = string_replace(&d->record->model, drive->model);
        if (r >= 0)
                r = string_replace(&d->record->serial, drive->serial);
        if (r < 0)
                return r;

        d->continues = d->continues || d->record->diskseq == drive->diskseq;
        *ret = d;
        return 0;
}

void guard_judge(Guard *g) {
        uint64_t now = now_usec();

        for (GuardedDrive *d = g->drives; d; d = d->next)
                if (guard_record_judge(d->record, g->boot_id, d->continues, now) > 0) {
                        guarded_tell_quarantined(d, now);
                        guarded_write(d);
                }
}

const GuardRecord *guarded_record(const GuardedDrive *d) {
        return d->record;
}

const char *guarded_quarantined(const GuardedDrive *d, const char *setting, const char *value) {
        const GuardEntry *e = guard_record_find(d->record, setting, value);

        return e && e->quarantined ? e->why : NULL;
}

void guarded_underway(GuardedDrive *d, const char *setting, const char *value) {
        for (size_t i = 0; i < d->record->n_entries; i++)
                d->record->entries[i].underway = false;

        if (setting) {
                GuardEntry *e = guard_record_find(d->record, setting, value);

                if (e && e->intended)
                        e->begun = e->underway = true;
        }
}

bool guarded_clear(GuardedDrive *d) {
        if (d->n_visits > 0)
                return false;
        if (guard_record_clear(d->record))
                guarded_write(d);
        return true;
}

void guarded_lost(GuardedDrive *d) {
        uint64_t now = now_usec();

        if (!guard_record_intends(d->record))
                return;
        if (guard_record_lost(d->record, now) > 0)
                guarded_tell_quarantined(d, now);
        guarded_write(d);
}

unsigned guarded_release(GuardedDrive *d, const char *setting) {
        unsigned n = guard_record_release(d->record, setting);

        if (n > 0)
                guarded_write(d);
        return n;
}

int guard_new(sd_event *event, const char *dir, const char *boot_id, Guard **ret) {
        _cleanup_(guard_freep) Guard *g = NULL;
        int r;

        g = calloc(1, sizeof *g);
        if (!g)
                return -ENOMEM;

        g->event = sd_event_ref(event);
        g->boot_id = boot_id;
        g->dir = strdup(dir);
        if (!g->dir)
                return -ENOMEM;

        r = guard_files_read(dir, on_record, g);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                guard_tell(g, r);

        *ret = TAKE_PTR(g);
        return 0;
}

Guard *guard_free(Guard *g) {
        if (!g)
                return NULL;

        while (g->drives) {
                GuardedDrive *d = g->drives;

                g->drives = d->next;
                (void) guarded_free(d);
        }
        sd_event_source_disable_unref(g->scribe);
        free(g->dir);
        sd_event_unref(g->event);
        free(g);
        return NULL;
}
