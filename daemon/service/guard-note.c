/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>

#include "clock.h"
#include "guard-note.h"
#include "journal.h"
#include "note-writer.h"
#include "record.h"
#include "text-file.h"

/* A file system that is busy writes back for some seconds; a visit waits no longer. */
#define GUARD_PATIENCE_USEC (5ULL * 1000 * 1000)

/* Whoever has filled /var up, or lost it, is at it for a while. */
#define GUARD_AGAIN_USEC (30ULL * 1000 * 1000)

/* ---- what an earlier run left ---- */

/* *ret NULL: there is no file. 1: it is to be written anew. -ENOMEM; any other error: there is a file, and nobody knows what it says. */
static int note_read(const Guard *g, const char *key, GuardRecord **ret) {
        _cleanup_(guard_record_freep) GuardRecord *record = NULL;
        _cleanup_free_ char *path = NULL, *text = NULL;
        size_t size;
        int r;

        if (asprintf(&path, "%s/%s", g->dir, key) < 0) {
                path = NULL;
                return -ENOMEM;
        }

        r = record_file_read(AT_FDCWD, path, GUARD_MAX_BYTES, &text, &size);
        if (r == -ENOENT)
                return 0;
        if (r >= 0)
                r = guard_record_parse(text, size, g->settings, &record);
        if (r < 0)
                return r;
        if (!streq(record->key, key))
                return -EBADMSG;

        *ret = TAKE_PTR(record);
        return r;
}

int guard_note_new(Guard *g, const char *key, GuardNote **ret) {
        _cleanup_(guard_record_freep) GuardRecord *record = NULL;
        GuardNote *n;
        int r, known;

        known = note_read(g, key, &record);
        if (known == -ENOMEM)
                return known;

        if (!record) {
                record = calloc(1, sizeof *record);
                r = record ? string_replace(&record->key, key) : -ENOMEM;
                if (r < 0)
                        return r;
        }

        n = malloc(sizeof *n);
        if (!n)
                return -ENOMEM;

        *n = (GuardNote){ .guard = g, .record = TAKE_PTR(record), .unreadable = known < 0 };
        if (known > 0)
                (void) guard_note_write(n);
        *ret = n;
        return 0;
}

GuardNote *guard_note_free(GuardNote *n) {
        if (!n)
                return NULL;

        sd_event_source_disable_unref(n->writer);
        sd_event_source_disable_unref(n->patience);
        (void) guard_record_free(n->record);
        free(n);
        return NULL;
}

/* ---- its way to stable storage ---- */

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

        for (GuardNote *other = n->guard->notes; other; other = other->next)
                for (GuardedDrive *d = other->drives; d; d = d->next)
                        if (d->awaited == n) {
                                d->awaited = NULL;
                                n->guard->stored(d->userdata, error);
                        }
}

static int on_again(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Guard *g = userdata;

        g->again = sd_event_source_disable_unref(g->again);
        for (GuardNote *n = g->notes; n; n = n->next)
                if (n->failed)
                        (void) guard_note_write(n);
        if (g->visits->failed)
                (void) guard_note_write(g->visits);
        return 0;
}

/* A file that stays where it should not is held against the drive at the next boot. */
static void note_failed(GuardNote *n, int error) {
        Guard *g = n->guard;

        guard_tell(g, error);
        n->failed = true;
        if (!g->again)
                (void) sd_event_add_time_relative(g->event, &g->again, CLOCK_MONOTONIC, GUARD_AGAIN_USEC, 0, on_again,
                                                  g);
}

static int on_written(sd_event_source *source _unused_, const siginfo_t *si, void *userdata) {
        int error = si->si_code == CLD_EXITED ? -si->si_status : -EIO;
        GuardNote *n = userdata;

        n->writer = sd_event_source_disable_unref(n->writer);
        n->late = false;
        /* Those who wait do so for what was not written yet. */
        if (n->dirty)
                error = guard_note_write(n);
        else if (error < 0)
                note_failed(n, error);
        else if (!guard_record_is_empty(n->record))
                n->guard->told = false; /* there is room, and not only for removing files */
        if (!n->writer)
                note_stored(n, error);
        return 0;
}

static int on_patience(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        GuardNote *n = userdata;

        n->late = true;
        guard_tell(n->guard, -ETIMEDOUT);
        note_stored(n, -ETIMEDOUT);
        return 0;
}

static int note_start(GuardNote *n) {
        _cleanup_free_ char *text = NULL;
        pid_t pid;
        int r = 0;

        if (!guard_record_is_empty(n->record))
                r = guard_record_serialize(n->record, &text);
        if (r >= 0)
                r = note_writer_start(n->guard->dir, n->record->key, text, &pid);
        return r < 0 ? r : sd_event_add_child(n->guard->event, &n->writer, pid, WEXITED, on_written, n);
}

int guard_note_write(GuardNote *n) {
        int r;

        if (n->unreadable)
                return -EBADMSG;
        n->dirty = true;
        n->failed = false;
        if (n->writer)
                return 0;

        n->dirty = false;
        r = note_start(n);
        if (r < 0)
                note_failed(n, r);
        return r;
}

int guard_note_await(GuardNote *n, GuardedDrive *d) {
        int r = 0;

        if (!n->patience)
                r = sd_event_add_time_relative(n->guard->event, &n->patience, CLOCK_MONOTONIC, GUARD_PATIENCE_USEC, 0,
                                               on_patience, n);
        if (r >= 0)
                d->awaited = n;
        return r;
}
