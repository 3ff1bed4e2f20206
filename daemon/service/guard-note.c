/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>

#include "guard-note.h"
#include "journal.h"
#include "note-writer.h"
#include "record-file.h"

/* A file system that is busy writes back for some seconds; a visit waits no longer. */
#define GUARD_PATIENCE_USEC (5ULL * 1000 * 1000)

/* Whoever has filled /var up, or lost it, is at it for a while. */
#define GUARD_AGAIN_USEC (30ULL * 1000 * 1000)

/* A shelf that loses its power in the middle of its visits; or what comes and goes for a year. */
#define GUARD_ABSENT_MAX 256U

/* ---- what an earlier run left ---- */

int guard_file_exists(const char *dir, const char *key) {
        _cleanup_free_ char *path = NULL;
        struct stat st;

        if (asprintf(&path, "%s/%s", dir, key) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        if (lstat(path, &st) >= 0)
                return 1;
        return errno == ENOENT ? 0 : -errno;
}

int guard_file_read(const char *dir, const char *key, GuardRecord **ret) {
        _cleanup_(guard_record_freep) GuardRecord *record = NULL;
        _cleanup_free_ char *path = NULL, *text = NULL;
        size_t size;
        int r;

        if (asprintf(&path, "%s/%s", dir, key) < 0) {
                path = NULL;
                return -ENOMEM;
        }

        r = record_file_read(AT_FDCWD, path, GUARD_MAX_BYTES, &text, &size);
        if (r == -ENOENT) {
                *ret = NULL;
                return 0;
        }
        if (r >= 0)
                r = guard_record_parse(text, size, &record);
        if (r < 0)
                return r;
        if (!streq(record->key, key))
                return -EBADMSG;

        *ret = TAKE_PTR(record);
        return 0;
}

/* ---- its way to stable storage ---- */

/* Somebody waits for the record as it is now to be on stable storage. */
struct Waiter {
        GuardFn fn;
        void *userdata;
        Waiter *next;
};

GuardedDrive *guarded_free(GuardedDrive *d) {
        if (!d)
                return NULL;

        sd_event_source_disable_unref(d->patience);
        while (d->waiters) {
                Waiter *w = d->waiters;

                d->waiters = w->next;
                free(w);
        }
        (void) guard_entry_set(&d->underway, NULL, NULL, NULL);
        (void) guard_record_free(d->record);
        free(d->identity);
        free(d->place);
        free(d->ports);
        free(d->name);
        free(d);
        return NULL;
}

static bool guarded_matters(const GuardedDrive *d) {
        return d->dirty || d->failed || d->writing || d->written || d->waiters || guard_record_suspects(d->record) ||
               guard_record_intends(d->record);
}

void guard_sweep(Guard *g) {
        unsigned n = 0;

        for (GuardedDrive **p = &g->drives; *p;) {
                GuardedDrive *d = *p;

                if (d->n_attached > 0 || (guarded_matters(d) && ++n <= GUARD_ABSENT_MAX)) {
                        p = &d->next;
                        continue;
                }
                *p = d->next;
                (void) guarded_free(d);
        }
}

void guard_tell(Guard *g, int error) {
        if (!g->told)
                journal_log(LOG_WARNING,
                            "%s cannot be written, so dangerous settings are not written to drives, and the others are "
                            "without the crash guard: %s",
                            g->dir, strerror(-error));
        g->told = true;
}

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

static void guard_again(Guard *g) {
        for (GuardedDrive *d = g->drives; d; d = d->next) {
                d->dirty = d->dirty || d->failed;
                d->failed = false;
        }
}

static int on_again(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Guard *g = userdata;

        g->again = sd_event_source_disable_unref(g->again);
        guard_again(g);
        guard_write(g);
        return 0;
}

/* A file that stays where it should not is held against the drive at the next boot. */
static void guarded_keep_failed(GuardedDrive *d) {
        Guard *g = d->guard;

        d->failed = true;
        if (!g->again)
                (void) sd_event_add_time_relative(g->event, &g->again, CLOCK_MONOTONIC, GUARD_AGAIN_USEC, 0, on_again,
                                                  g);
}

static int on_note_written(sd_event_source *source _unused_, const siginfo_t *si, void *userdata) {
        Guard *g = userdata;
        int error = si->si_code == CLD_EXITED ? -si->si_status : -EIO;

        g->writer = sd_event_source_disable_unref(g->writer);
        if (error == 0 && g->stores)
                g->told = false;

        for (GuardedDrive *d = g->drives; d; d = d->next) {
                /* It may be waiting for what has failed, too. */
                if (error < 0 && d->moved && d->dirty && !d->waiters) {
                        d->dirty = false;
                        guarded_keep_failed(d);
                }
                if (!d->writing)
                        continue;
                d->writing = d->late = false;
                d->written = !d->dirty; /* else those who wait do so for what it did not write yet */
                if (error < 0 && !d->dirty)
                        guarded_keep_failed(d);
        }
        guard_write(g);

        /* Whoever is told may want more, so the list is begun from the top each time. */
        for (GuardedDrive *d; (d = guard_written(g));) {
                d->written = false;
                guarded_answer(d, error);
        }
        guard_sweep(g);
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
        guarded_keep_failed(d);
        d->patience = sd_event_source_disable_unref(d->patience);
        if (d->waiters &&
            sd_event_add_time_relative(d->guard->event, &d->patience, CLOCK_MONOTONIC, 0, 0, on_failed_start, d) < 0)
                guarded_answer(d, error);
}

/* A note writer for what has to be written, or for as much of it as one takes. */
static int guard_start(Guard *g, pid_t after, pid_t *ret) {
        GuardedDrive *drives[NOTE_FILES_MAX];
        NoteFile files[NOTE_FILES_MAX];
        char *texts[NOTE_FILES_MAX];
        size_t n = 0;
        int r = 0;

        g->stores = false;
        for (GuardedDrive *d = g->drives; d && n < NOTE_FILES_MAX && r >= 0; d = d->next) {
                if (!d->dirty)
                        continue;

                texts[n] = NULL;
                if (!guard_record_is_empty(d->record))
                        r = guard_record_serialize(d->record, &texts[n]);
                g->stores = g->stores || texts[n];
                files[n] = (NoteFile){ d->record->key, texts[n], d->moved };
                drives[n++] = d;
        }

        if (r >= 0)
                r = note_writer_start(g->dir, files, n, after, ret);
        for (size_t i = 0; i < n; i++) {
                free(texts[i]);
                drives[i]->writing = drives[i]->writing || r >= 0;
                drives[i]->dirty = r < 0;
                drives[i]->failed = false;
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
void guard_write(Guard *g) {
        pid_t pid;
        int r;

        if (g->writer || !guard_is_dirty(g))
                return;

        r = guard_start(g, 0, &pid);
        if (r >= 0)
                r = sd_event_add_child(g->event, &g->writer, pid, WEXITED, on_note_written, g);
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

        if (g->writer)
                (void) sd_event_source_get_child_pid(g->writer, &pid);
        guard_again(g);
        while (r >= 0 && guard_is_dirty(g))
                r = guard_start(g, pid, &pid);
        /* The last one waits for those before it. */
        if (r >= 0 && pid > 0)
                r = note_writer_wait(pid, usec);
        if (r < 0)
                guard_tell(g, r);
}

void guarded_write(GuardedDrive *d) {
        if (d->unreadable)
                return;
        d->dirty = true;
        guard_write(d->guard);
}

int guarded_wait(GuardedDrive *d, GuardFn fn, void *userdata) {
        _cleanup_free_ Waiter *w = NULL;
        int r;

        w = malloc(sizeof *w);
        if (!w)
                return -ENOMEM;

        /* After all else that can fail: when it runs out, the journal is told that the file could not be written. */
        r = d->patience ? 0
                        : sd_event_add_time_relative(d->guard->event, &d->patience, CLOCK_MONOTONIC,
                                                     GUARD_PATIENCE_USEC, 0, on_patience, d);
        if (r < 0)
                return r;

        *w = (Waiter){ .fn = fn, .userdata = userdata, .next = d->waiters };
        d->waiters = TAKE_PTR(w);
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
