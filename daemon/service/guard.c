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
#include "guard-note.h"
#include "guard.h"
#include "journal.h"
#include "drive-record.h"
#include "safe-file.h"
#include "timer.h"

/* How long a visit waits for its note. Writeback on a busy file system takes some seconds. */
#define GUARD_TIMEOUT_USEC (5ULL * 1000 * 1000)

/* The time between attempts to write the notes. A full or lost /var is rarely repaired sooner. */
#define GUARD_RETRY_USEC (30ULL * 1000 * 1000)

/* The file of the common note, which says that visits are under way. The files of drives have longer names, so the names cannot clash. */
#define GUARD_VISITS "visits"

/* At most this many notes of detached drives stay in memory. The limit is enough for a disk shelf that loses power during visits. Without a
 * limit, hot-plugged drives would fill the memory over time. */
#define GUARD_ABSENT_MAX 256U

/* ---- notes: files below the guard's directory ---- */

static GuardedDrive *guarded_free(GuardedDrive *d) {
        if (!d)
                return NULL;

        guard_entry_done(&d->underway);
        free(d->name);
        free(d->place);
        free(d);
        return NULL;
}
DEFINE_CLEANUP(GuardedDrive *, guarded_free);

static GuardNote *guard_note_free(GuardNote *n) {
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
DEFINE_CLEANUP(GuardNote *, guard_note_free);

static int guard_note_write(GuardNote *n);

/* Creates a note and reads the note's file. If the file cannot be read, sets `unreadable`. Returns 0 or -ENOMEM. */
static int guard_note_new(Guard *g, const char *key, GuardNote **ret) {
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
        /* The file had expired entries, which were dropped, so the file must be written again. */
        if (known > 0)
                (void) guard_note_write(n);
        *ret = TAKE_PTR(n);
        return 0;
}

/* Subdirectory for the texts of guarded_keep(). A drive's text and a drive's note are files of the same name: the text
 * is in this subdirectory, and the note in the guard's directory itself. */
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

/* ---- the writer: at most one process, which writes all changed files ---- */

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

        /* A writer that hangs must not keep the manager's sockets open. */
        if (close_range(STDERR_FILENO + 1, ~0U, 0) < 0)
                return -errno;

        dir_fd = open(g->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir_fd < 0)
                return -errno;

        for (const GuardNote *n = g->notes; n; n = n->next) {
                int r = n->changed ? note_store(n, dir_fd) : 0;

                error = MIN(error, r);
        }
        /* Makes the renames durable: without this a power cut could restore the old files. */
        return fsync(dir_fd) < 0 ? -errno : error;
}

static int on_writer(sd_event_source *source, const siginfo_t *si, void *userdata);
static int on_timer(sd_event_source *source, uint64_t usec, void *userdata);

/* Starts the writer if none is running and a file must be written. */
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
                /* A reload by "systemctl kill -s HUP" signals all processes of the service. The writer must survive this signal. */
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
        return timer_start(g->event, &g->timer, GUARD_TIMEOUT_USEC, 0, on_timer, g);
}

/* ---- the writer's result ---- */

/* Logs that the directory cannot be written, unless this was logged since the last successful write. */
static void guard_log_error(Guard *g, int error) {
        if (!g->logged)
                journal_log(LOG_WARNING,
                            "%s cannot be written: %s; dangerous settings are not written to drives, and other settings are written "
                            "without the crash guard.",
                            g->dir, strerror(-error));
        g->logged = true;
}

/* Calls GuardFn for each drive that waits for a note, if the note is on stable storage. After an error, calls GuardFn
 * for every drive that waits. */
static void guard_answer(Guard *g, int error) {
        for (GuardNote *n = g->notes; n; n = n->next)
                for (GuardedDrive *d = n->drives; d; d = d->next)
                        if (d->awaited && (error < 0 || (!d->awaited->changed && !d->awaited->writing))) {
                                d->awaited = NULL;
                                g->stored(d->userdata, error);
                        }
}

/* Schedules another attempt to write the notes: an outdated note would count against its drive at the next boot. */
static void guard_failed(Guard *g, int error) {
        guard_log_error(g, error);
        if (!g->writer)
                (void) timer_start(g->event, &g->timer, GUARD_RETRY_USEC, 0, on_timer, g);
}

static int on_timer(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Guard *g = userdata;
        int r;

        if (g->writer) {
                guard_log_error(g, -ETIMEDOUT);
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

                /* A file was written, so the storage has space again, and the next failure must be logged. A mere removal of a file does
                 * not prove that there is space. */
                if (written && !n->changed && !guard_record_is_empty(n->record))
                        g->logged = false;
                /* If the text of guarded_keep() cannot be written, the write is not retried: nothing depends on the text, and the text is
                 * stored every day. */
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

/* Writes a changed record to its file, after the current writer has ended. Afterwards Guard.stored is called for each drive whose visit
 * waits for a note, but never from within this function. Errors are logged, and the write is retried. */
static int guard_note_write(GuardNote *n) {
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
                guard_log_error(g, r);
}

/* ---- visits ---- */

int guarded_intend(GuardedDrive *d, const char *setting, const char *value) {
        Guard *g = d->note->guard;
        /* If the machine crashed during visits, each visit is recorded in the drive's own note, until a visit to the drive has ended
         * well. */
        GuardNote *n = setting || d->note->record->deaths > 0 ? d->note : g->visits;
        bool noted = !setting && n->record->visiting && !n->changed;
        int r;

        if (n->unreadable)
                return -EBADMSG;
        if (noted && !n->writing)
                return 1;
        /* The writer has already exceeded its time limit. */
        if (g->writer && !timer_runs(g->timer))
                return -ETIMEDOUT;

        if (!noted) {
                r = string_replace(&n->record->boot_id, g->boot_id);
                if (r >= 0 && setting)
                        r = guard_record_intend(n->record, setting, value, n->twins ? d->place : NULL, now_usec());
                if (r < 0)
                        return r;

                n->record->visiting = true;
                n->record->diskseq = d->diskseq;
                r = guard_note_write(n);
                if (r < 0)
                        return r;
        }

        d->awaited = n;
        return 0;
}

static void note_visit(GuardNote *n, bool begins) {
        n->n_visits += begins ? 1 : -1U;
        if (n->n_visits == 0 && guard_record_visited(n->record))
                (void) guard_note_write(n);
}

void guarded_visit(GuardedDrive *d, bool begins) {
        d->awaited = NULL;
        note_visit(d->note, begins);
        note_visit(d->note->guard->visits, begins);
}

void guarded_underway(GuardedDrive *d, const char *setting, const char *value) {
        guard_record_underway(d->note->record, &d->underway, setting, value, d->note->twins ? d->place : NULL);
}

bool guarded_clear(GuardedDrive *d) {
        if (d->note->n_visits > 0)
                return false;
        if (guard_record_clear(d->note->record, d->place))
                (void) guard_note_write(d->note);
        return true;
}

/* ---- judgement ---- */

static void log_quarantined(const GuardRecord *r, uint64_t since) {
        for (size_t i = 0; i < r->n_entries; i++)
                if (r->entries[i].quarantined && r->entries[i].when >= since)
                        journal_quarantined(r, r->entries + i);
}

static void note_judge(GuardNote *n) {
        bool was_excluded = guard_record_excludes(n->record);
        uint64_t now = now_usec();

        if (guard_record_judge(n->record, n->guard->boot_id, n->continues, now) != 0) {
                log_quarantined(n->record, now);
                if (guard_record_excludes(n->record) && !was_excluded)
                        journal_quarantined(n->record, NULL);
                (void) guard_note_write(n);
        }

        /* The previous boot ended during a visit, and no note says which drive was visited, so every drive is suspect. */
        if (n->guard->cautious && n->record->deaths == 0)
                n->record->deaths = 1;
}

void guard_judge(Guard *g) {
        GuardNote *v = g->visits;

        if (guard_record_judge(v->record, g->boot_id, true, now_usec()) != 0 || v->unreadable) {
                g->cautious = v->record->deaths > 0 || v->unreadable;
                v->record->deaths = 0;
                v->unreadable = false;
                (void) guard_note_write(v);
        }

        g->judged = true;
        for (GuardNote *n = g->notes; n; n = n->next)
                if (n != v)
                        note_judge(n);
}

const GuardRecord *guarded_record(const GuardedDrive *d) {
        return d->note->record;
}

const char *guarded_quarantined(const GuardedDrive *d, const char *setting, const char *value) {
        const GuardEntry *e = guard_record_find(d->note->record, setting, value, d->place);

        return e && e->quarantined ? strna(e->why) : NULL;
}

void guarded_lost(GuardedDrive *d) {
        GuardRecord *r = d->note->record;
        bool intends = guard_record_intends(r);
        uint64_t now = now_usec();
        unsigned n = guard_record_lost(r, &d->underway, d->place, now);

        if (n > 0)
                log_quarantined(r, now);
        if (n > 0 || intends)
                (void) guard_note_write(d->note);
}

/* ---- drives that come and go ---- */

void *guarded_other_path(const GuardedDrive *d) {
        for (const GuardedDrive *other = d->note->drives; other; other = other->next)
                if (other != d && streq(other->place, d->place))
                        return other->userdata;
        return NULL;
}

unsigned guarded_release(GuardedDrive *d, const char *setting) {
        unsigned n = guard_record_release(d->note->record, setting, d->place) + d->note->unreadable;

        if (n == 0)
                return 0;

        d->note->unreadable = false;
        (void) guard_note_write(d->note);
        return n;
}

static bool note_matters(const GuardNote *n) {
        return n->changed || n->writing || guard_record_suspects(n->record) || guard_record_intends(n->record);
}

/* Frees notes of detached drives. Keeps only notes for which note_matters() is true, and of these only the latest GUARD_ABSENT_MAX. Without
 * this limit, drives that come and go would fill the memory. When a drive returns, its freed note is read from the file again. */
static void guard_sweep(Guard *g) {
        unsigned n_absent = 0;

        for (GuardNote **p = &g->notes; *p;) {
                GuardNote *n = *p;

                if (n->drives || n == g->visits || (note_matters(n) && ++n_absent <= GUARD_ABSENT_MAX)) {
                        p = &n->next;
                        continue;
                }
                *p = n->next;
                (void) guard_note_free(n);
        }
}

/* If the new drive is a twin of an attached drive, gives both drives separate entries from now on. */
static void note_separate_twins(GuardNote *n, const GuardedDrive *d) {
        const GuardedDrive *twin = n->drives;

        while (twin && streq(twin->place, d->place))
                twin = twin->next;
        if (!twin || n->twins)
                return;

        /* Before guard_judge(), the note may list intended writes of an earlier run. Such writes are not assigned to a port, since either
         * twin may have caused them. */
        if (n->guard->judged)
                guard_record_part(n->record, twin->place);
        journal_log(LOG_NOTICE,
                    "%s and %s report the same identity (WWN, or model and serial number), so the crash guard "
                    "distinguishes the drives by their ports.",
                    twin->name, d->name);
        n->twins = true;
        if (!guard_record_is_empty(n->record))
                (void) guard_note_write(n);
}

int guard_attach(Guard *g, const Drive *drive, void *userdata, GuardedDrive **ret) {
        _cleanup_(guarded_freep) GuardedDrive *d = NULL;
        _cleanup_free_ char *key = NULL;
        GuardNote *n = g->notes;
        bool is_new;
        int r;

        d = malloc(sizeof *d);
        if (!d)
                return -ENOMEM;

        *d = (GuardedDrive){ .userdata = userdata, .diskseq = drive->diskseq };
        r = guard_key(drive, &key);
        if (r >= 0)
                r = string_replace(&d->name, drive->name);
        if (r >= 0)
                r = guard_place(drive, &d->place);
        if (r < 0)
                return r;

        while (n && !streq(n->record->key, key))
                n = n->next;
        is_new = !n;
        if (is_new) {
                r = guard_note_new(g, key, &n);
                if (r < 0)
                        return r;
                if (n->unreadable)
                        journal_log(LOG_ERR,
                                    "%s/%s cannot be read; dangerous settings are not written to the drive until 'drivekeep release' "
                                    "removes this file.",
                                    g->dir, key);
        }

        /* Model and serial number are only for people who read the file. */
        (void) string_replace(&n->record->model, drive->model);
        (void) string_replace(&n->record->serial, drive->serial);
        note_separate_twins(n, d);

        d->note = n;
        d->next = n->drives;
        n->drives = d;
        n->continues = n->continues || n->record->diskseq == drive->diskseq;
        if (is_new && g->judged)
                note_judge(n);
        *ret = TAKE_PTR(d);
        return 0;
}

void guarded_detach(GuardedDrive *d) {
        GuardNote *n = d->note;
        Guard *g = n->guard;

        for (GuardedDrive **p = &n->drives; *p; p = &(*p)->next)
                if (*p == d) {
                        *p = d->next;
                        break;
                }
        (void) guarded_free(d);
        if (n->drives)
                return;

        for (GuardNote **p = &g->notes; *p; p = &(*p)->next)
                if (*p == n) {
                        *p = n->next;
                        break;
                }
        n->next = g->notes;
        g->notes = n;
        guard_sweep(g);
}

/* ---- creation and end ---- */

int guard_new(sd_event *event, const char *dir, const char *boot_id, const SettingTable *settings, GuardFn stored,
              Guard **ret) {
        _cleanup_(guard_freep) Guard *g = NULL;
        int r;

        g = calloc(1, sizeof *g);
        if (!g)
                return -ENOMEM;

        g->event = sd_event_ref(event);
        g->boot_id = boot_id;
        g->settings = settings;
        g->stored = stored;
        g->dir = strdup(dir);
        if (!g->dir)
                return -ENOMEM;

        if (access(dir, R_OK | W_OK | X_OK) < 0)
                guard_log_error(g, -errno);
        r = guard_note_new(g, GUARD_VISITS, &g->visits);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(g);
        return 0;
}

Guard *guard_free(Guard *g) {
        if (!g)
                return NULL;

        while (g->notes) {
                GuardNote *n = g->notes;

                g->notes = n->next;
                (void) guard_note_free(n);
        }
        sd_event_source_disable_unref(g->writer);
        sd_event_source_disable_unref(g->timer);
        sd_event_unref(g->event);
        free(g->dir);
        free(g);
        return NULL;
}
