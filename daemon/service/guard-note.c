/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>

#include "clock.h"
#include "guard-note.h"
#include "journal.h"
#include "note-writer.h"
#include "record-file.h"
#include "record.h"

/* A file system that is busy writes back for some seconds; a visit waits no longer. */
#define GUARD_PATIENCE_USEC (5ULL * 1000 * 1000)

/* Whoever has filled /var up, or lost it, is at it for a while. */
#define GUARD_AGAIN_USEC (30ULL * 1000 * 1000)

/* A shelf that loses its power in the middle of its visits; or what comes and goes for a year. */
#define GUARD_ABSENT_MAX 256U

/* ---- what an earlier run left ---- */

/* *ret NULL: there is no file. -ENOMEM; any other error: there is a file, and nobody knows what it says. */
static int note_read(const char *dir, const char *key, GuardRecord **ret) {
        _cleanup_(guard_record_freep) GuardRecord *record = NULL;
        _cleanup_free_ char *path = NULL, *text = NULL;
        size_t size;
        int r;

        if (asprintf(&path, "%s/%s", dir, key) < 0) {
                path = NULL;
                return -ENOMEM;
        }

        r = record_file_read(AT_FDCWD, path, GUARD_MAX_BYTES, &text, &size);
        if (r == -ENOENT)
                return 0;
        if (r >= 0)
                r = guard_record_parse(text, size, &record);
        if (r < 0)
                return r;
        if (!streq(record->key, key))
                return -EBADMSG;

        *ret = TAKE_PTR(record);
        return 0;
}

int guard_note_new(Guard *g, const char *key, GuardNote **ret) {
        _cleanup_(guard_record_freep) GuardRecord *record = NULL;
        GuardNote *n;
        int r, error;

        error = note_read(g->dir, key, &record);
        if (error == -ENOMEM)
                return error;

        if (!record) {
                record = calloc(1, sizeof *record);
                r = record ? string_replace(&record->key, key) : -ENOMEM;
                if (r < 0)
                        return r;
        }

        n = malloc(sizeof *n);
        if (!n)
                return -ENOMEM;

        *n = (GuardNote){ .guard = g, .record = TAKE_PTR(record), .unreadable = error < 0, .next = g->notes };
        g->notes = n;
        if (guard_record_forgive(n->record, g->settings))
                guard_note_write(n);
        *ret = n;
        return 0;
}

/* ---- its way to stable storage ---- */

GuardNote *guard_note_free(GuardNote *n) {
        if (!n)
                return NULL;

        sd_event_source_disable_unref(n->patience);
        (void) guard_record_free(n->record);
        free(n);
        return NULL;
}

static bool note_matters(const GuardNote *n) {
        return n->dirty || n->failed || n->writing || n->written || guard_record_suspects(n->record) ||
               guard_record_intends(n->record);
}

void guard_sweep(Guard *g) {
        unsigned n_absent = 0;

        for (GuardNote **p = &g->notes; *p;) {
                GuardNote *n = *p;

                if (n->drives || (note_matters(n) && ++n_absent <= GUARD_ABSENT_MAX)) {
                        p = &n->next;
                        continue;
                }
                *p = n->next;
                (void) guard_note_free(n);
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

/* Tells all drives that wait for it. */
static void note_stored(GuardNote *n, int error) {
        n->patience = sd_event_source_disable_unref(n->patience);
        if (error < 0)
                guard_tell(n->guard, error);

        for (GuardedDrive *d = n->drives; d; d = d->next)
                if (d->awaited == n) {
                        d->awaited = NULL;
                        n->guard->stored(d->userdata, error);
                }
}

static bool note_is_awaited(const GuardNote *n) {
        for (const GuardedDrive *d = n->drives; d; d = d->next)
                if (d->awaited == n)
                        return true;
        return false;
}

static GuardNote *guard_written(Guard *g) {
        for (GuardNote *n = g->notes; n; n = n->next)
                if (n->written)
                        return n;
        return NULL;
}

static void guard_again(Guard *g) {
        for (GuardNote *n = g->notes; n; n = n->next) {
                n->dirty = n->dirty || n->failed;
                n->failed = false;
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
static void note_failed(GuardNote *n) {
        Guard *g = n->guard;

        n->failed = true;
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

        for (GuardNote *n = g->notes; n; n = n->next) {
                if (!n->writing)
                        continue;
                n->writing = n->late = false;
                n->written = !n->dirty; /* else those who wait do so for what it did not write yet */
                if (error < 0 && !n->dirty)
                        note_failed(n);
        }
        guard_write(g);

        /* Whoever is told may want more, so the list is begun from the top each time. */
        for (GuardNote *n; (n = guard_written(g));) {
                n->written = false;
                note_stored(n, error);
        }
        guard_sweep(g);
        return 0;
}

static int on_patience(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        GuardNote *n = userdata;

        n->late = true;
        note_stored(n, -ETIMEDOUT);
        return 0;
}

static int on_failed_start(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        note_stored(userdata, -EAGAIN);
        return 0;
}

static void note_fail(GuardNote *n, int error) {
        n->dirty = n->writing = n->late = false;
        note_failed(n);
        n->patience = sd_event_source_disable_unref(n->patience);
        if (note_is_awaited(n) &&
            sd_event_add_time_relative(n->guard->event, &n->patience, CLOCK_MONOTONIC, 0, 0, on_failed_start, n) < 0)
                note_stored(n, error);
}

/* A note writer for what has to be written, or for as much of it as one takes. */
static int guard_start(Guard *g, pid_t after, pid_t *ret) {
        GuardNote *notes[NOTE_FILES_MAX];
        NoteFile files[NOTE_FILES_MAX];
        char *texts[NOTE_FILES_MAX];
        size_t count = 0;
        int r = 0;

        g->stores = false;
        for (GuardNote *n = g->notes; n && count < NOTE_FILES_MAX && r >= 0; n = n->next) {
                if (!n->dirty)
                        continue;

                texts[count] = NULL;
                if (!guard_record_is_empty(n->record))
                        r = guard_record_serialize(n->record, &texts[count]);
                g->stores = g->stores || texts[count];
                files[count] = (NoteFile){ .name = n->record->key, .text = texts[count] };
                notes[count++] = n;
        }

        if (r >= 0)
                r = note_writer_start(g->dir, files, count, after, ret);
        for (size_t i = 0; i < count; i++) {
                free(texts[i]);
                notes[i]->writing = notes[i]->writing || r >= 0;
                notes[i]->dirty = r < 0;
                notes[i]->failed = false;
        }
        return r;
}

static bool guard_is_dirty(const Guard *g) {
        for (const GuardNote *n = g->notes; n; n = n->next)
                if (n->dirty)
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
        for (GuardNote *n = g->notes; n; n = n->next)
                if (n->dirty || n->writing)
                        note_fail(n, r);
}

void guard_flush(Guard *g, uint64_t usec) {
        uint64_t now = monotonic_usec();
        pid_t pid = 0;
        int r = 0;

        if (g->writer)
                (void) sd_event_source_get_child_pid(g->writer, &pid);
        guard_again(g);
        while (r >= 0 && guard_is_dirty(g))
                r = guard_start(g, pid, &pid);
        /* The last one waits for those before it. */
        if (r >= 0 && pid > 0)
                r = note_writer_wait(pid, now + MIN(usec, UINT64_MAX - now));
        if (r < 0)
                guard_tell(g, r);
}

void guard_note_write(GuardNote *n) {
        if (n->unreadable)
                return;
        n->dirty = true;
        guard_write(n->guard);
}

int guard_note_await(GuardNote *n, GuardedDrive *d) {
        int r;

        /* After all else that can fail: when it runs out, the journal is told that the file could not be written. */
        r = n->patience ? 0
                        : sd_event_add_time_relative(n->guard->event, &n->patience, CLOCK_MONOTONIC,
                                                     GUARD_PATIENCE_USEC, 0, on_patience, n);
        if (r >= 0)
                d->awaited = n;
        return r;
}
