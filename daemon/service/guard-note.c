/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>

#include "clock.h"
#include "file-replace.h"
#include "guard-note.h"
#include "journal.h"
#include "record.h"
#include "text-file.h"
#include "timer.h"

/* A file system that is busy writes back for some seconds; a visit waits no longer. */
#define GUARD_PATIENCE_USEC (5ULL * 1000 * 1000)

/* Whoever has filled /var up, or lost it, is at it for a while. */
#define GUARD_AGAIN_USEC (30ULL * 1000 * 1000)

/* ---- what an earlier run left ---- */

int guard_note_new(Guard *g, const char *key, GuardNote **ret) {
        _cleanup_(guard_note_freep) GuardNote *n = NULL;
        _cleanup_free_ char *text = NULL;
        char path[PATH_MAX];
        int r, known;
        size_t size;

        n = calloc(1, sizeof *n);
        if (!n)
                return -ENOMEM;

        n->guard = g;
        (void) snprintf(path, sizeof path, "%s/%s", g->dir, key);
        known = record_file_read(AT_FDCWD, path, GUARD_MAX_BYTES, &text, &size);
        if (known >= 0)
                known = guard_record_parse(text, size, g->settings, &n->record);
        if (known >= 0 && !streq(n->record->key, key))
                known = -EBADMSG;
        if (known == -ENOMEM)
                return known;

        if (known < 0) {
                n->unreadable = known != -ENOENT;
                (void) guard_record_free(n->record);
                n->record = calloc(1, sizeof *n->record);
                r = n->record ? string_replace(&n->record->key, key) : -ENOMEM;
                if (r < 0)
                        return r;
        }

        n->next = g->notes;
        g->notes = n;
        /* Some of what the file says is no longer so. */
        if (known > 0)
                (void) guard_note_write(n);
        *ret = TAKE_PTR(n);
        return 0;
}

GuardedDrive *guarded_free(GuardedDrive *d) {
        if (!d)
                return NULL;

        guard_entry_done(&d->underway);
        free(d->name);
        free(d->place);
        free(d);
        return NULL;
}

GuardNote *guard_note_free(GuardNote *n) {
        if (!n)
                return NULL;

        while (n->drives) {
                GuardedDrive *d = n->drives;

                n->drives = d->next;
                (void) guarded_free(d);
        }
        (void) guard_record_free(n->record);
        free(n->kept);
        free(n);
        return NULL;
}

/* Below the guard's own: whoever looks for notes finds nothing else there. */
#define KEPT_DIR "drives"

static void guard_kept_name(const GuardNote *n, char ret[static NAME_MAX + 1]) {
        (void) snprintf(ret, NAME_MAX + 1, KEPT_DIR "/%s", n->record->key);
}

char *guarded_kept(const GuardedDrive *d) {
        const Guard *g = d->note->guard;
        _cleanup_close_ int dir_fd = open(g->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char name[NAME_MAX + 1], *text;
        size_t size;

        guard_kept_name(d->note, name);
        return dir_fd >= 0 && record_file_read(dir_fd, name, RECORD_MAX_BYTES, &text, &size) >= 0 ? text : NULL;
}

void guarded_keep(GuardedDrive *d, char *text) {
        GuardNote *n = d->note;

        free(n->kept);
        n->kept = text;
        (void) guard_note_write(n);
}

/* ---- the process that writes ---- */

static int kept_store(const GuardNote *n, int dir_fd) {
        char name[NAME_MAX + 1];

        if (!n->kept)
                return 0;
        if (mkdirat(dir_fd, KEPT_DIR, 0755) < 0 && errno != EEXIST)
                return -errno;
        guard_kept_name(n, name);
        return file_replace(dir_fd, name, n->kept, true);
}

static int note_store(const GuardNote *n, int dir_fd) {
        _cleanup_free_ char *text = NULL;
        int r;

        r = kept_store(n, dir_fd);
        if (r < 0)
                return r;

        if (guard_record_is_empty(n->record))
                return unlinkat(dir_fd, n->record->key, 0) < 0 && errno != ENOENT ? -errno : 0;

        r = guard_record_serialize(n->record, &text);
        return r < 0 ? r : file_replace(dir_fd, n->record->key, text, true);
}

static int writer_main(const Guard *g) {
        _cleanup_close_ int dir_fd = -EBADF;
        int error = 0;

        /* A process that hangs must not hold what the manager thinks is closed. */
        if (close_range(STDERR_FILENO + 1, ~0U, 0) < 0)
                return -errno;

        dir_fd = open(g->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir_fd < 0)
                return -errno;

        for (const GuardNote *n = g->notes; n; n = n->next) {
                int r = n->changed ? note_store(n, dir_fd) : 0;

                error = MIN(error, r);
        }
        /* Until the directory is written, too, a power cut would bring back what was there before. */
        return fsync(dir_fd) < 0 ? -errno : error;
}

static int on_writer(sd_event_source *source, const siginfo_t *si, void *userdata);
static int on_timer(sd_event_source *source, uint64_t usec, void *userdata);

/* Starts it where there is something to write, and nobody is at that. */
static int guard_start_writer(Guard *g) {
        const GuardNote *n = g->notes;
        pid_t pid;
        int r;

        while (n && !n->changed)
                n = n->next;
        if (g->writer || !n)
                return 0;

        pid = fork();
        if (pid < 0)
                return -errno;
        if (pid == 0) {
                sigset_t none;

                (void) prctl(PR_SET_NAME, "keep-note");
                /* Who tells the whole unit to reload ("systemctl kill -s HUP") does not want this process to end. */
                (void) signal(SIGHUP, SIG_IGN);
                (void) sigemptyset(&none);
                (void) sigprocmask(SIG_SETMASK, &none, NULL);
                _exit(-writer_main(g));
        }

        r = sd_event_add_child(g->event, &g->writer, pid, WEXITED, on_writer, g);
        if (r < 0)
                return r;
        for (GuardNote *each = g->notes; each; each = each->next) {
                each->writing = each->changed;
                each->changed = false;
        }
        return timer_start(g->event, &g->timer, GUARD_PATIENCE_USEC, 0, on_timer, g);
}

/* ---- what comes of it ---- */

void guard_tell(Guard *g, int error) {
        if (!g->told)
                journal_log(LOG_WARNING,
                            "%s cannot be written, so dangerous settings are not written to drives, and the others are "
                            "without the crash guard: %s",
                            g->dir, strerror(-error));
        g->told = true;
}

/* Answers all drives that wait; without an error, those only whose note is on stable storage as it is now. */
static void guard_answer(Guard *g, int error) {
        for (GuardNote *n = g->notes; n; n = n->next)
                for (GuardedDrive *d = n->drives; d; d = d->next)
                        if (d->awaited && (error < 0 || (!d->awaited->changed && !d->awaited->writing))) {
                                d->awaited = NULL;
                                g->stored(d->userdata, error);
                        }
}

/* A file that stays where it should not is held against the drive at the next boot. */
static void guard_failed(Guard *g, int error) {
        guard_tell(g, error);
        if (!g->writer)
                (void) timer_start(g->event, &g->timer, GUARD_AGAIN_USEC, 0, on_timer, g);
}

static int on_timer(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Guard *g = userdata;
        int r;

        if (g->writer) {
                guard_tell(g, -ETIMEDOUT);
                guard_answer(g, -ETIMEDOUT);
                return 0;
        }

        r = guard_start_writer(g);
        if (r < 0)
                guard_failed(g, r);
        return 0;
}

static int on_writer(sd_event_source *source _unused_, const siginfo_t *si, void *userdata) {
        int error = si->si_code == CLD_EXITED ? -si->si_status : -EIO;
        Guard *g = userdata;

        g->writer = sd_event_source_disable_unref(g->writer);
        g->timer = sd_event_source_disable_unref(g->timer);
        for (GuardNote *n = g->notes; n; n = n->next) {
                bool written = n->writing && error >= 0;

                /* There is room, and not only for removing files. */
                if (written && !n->changed && !guard_record_is_empty(n->record))
                        g->told = false;
                /* It is not tried again: nothing hangs on it, and it is written anew every day. */
                if (n->writing && !n->changed) {
                        free(n->kept);
                        n->kept = NULL;
                }
                n->changed = n->changed || (n->writing && error < 0);
                n->writing = false;
        }

        if (error >= 0)
                error = guard_start_writer(g);
        if (error < 0)
                guard_failed(g, error);
        guard_answer(g, error);
        return 0;
}

int guard_note_write(GuardNote *n) {
        int r;

        if (n->unreadable)
                return -EBADMSG;

        n->changed = true;
        r = guard_start_writer(n->guard);
        if (r < 0)
                guard_failed(n->guard, r);
        return r;
}

void guard_flush(Guard *g, uint64_t until) {
        int r;

        r = guard_start_writer(g);
        while (r >= 0 && g->writer) {
                uint64_t now = monotonic_usec(), ms = (until - MIN(now, until) + 999) / 1000;
                struct pollfd p = { .fd = sd_event_source_get_child_pidfd(g->writer), .events = POLLIN };
                siginfo_t si = {};

                r = poll(&p, 1, (int) MIN(ms, (uint64_t) INT_MAX));
                if (r == 0)
                        r = -ETIMEDOUT;
                else if (r < 0 || waitid(P_PIDFD, p.fd, &si, WEXITED) < 0)
                        r = errno == EINTR ? 0 : -errno;
                else
                        (void) on_writer(g->writer, &si, g);
        }
        if (r < 0)
                guard_tell(g, r);
}
