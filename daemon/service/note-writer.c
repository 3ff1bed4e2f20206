/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>

#include "clock.h"
#include "note-writer.h"

static char *temporary_name(const char *name) {
        char *temporary;

        return asprintf(&temporary, "%s.new~", name) < 0 ? NULL : temporary;
}

/* Returns its descriptor. */
static int temporary_write(int dir_fd, const NoteFile *f) {
        _cleanup_free_ char *temporary = NULL;
        _cleanup_close_ int fd = -EBADF;
        const char *text = f->text;

        temporary = temporary_name(f->name);
        if (!temporary)
                return -ENOMEM;

        fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (fd < 0)
                return -errno;

        for (size_t left = strlen(text); left > 0;) {
                ssize_t n = write(fd, text, left);

                if (n < 0)
                        return -errno;
                text += n;
                left -= n;
        }

        return TAKE_FD(fd);
}

static int temporary_rename(int dir_fd, const NoteFile *f) {
        _cleanup_free_ char *temporary = NULL;

        temporary = temporary_name(f->name);
        if (!temporary)
                return -ENOMEM;
        return renameat(dir_fd, temporary, dir_fd, f->name) < 0 ? -errno : 0;
}

static void temporary_remove(int dir_fd, const NoteFile *f) {
        _cleanup_free_ char *temporary = NULL;

        temporary = temporary_name(f->name);
        if (temporary)
                (void) unlinkat(dir_fd, temporary, 0);
}

/* Step by step with all of them: what the first fsync() writes down for a journalling file system, the others need not. */
static int write_durably(int dir_fd, const NoteFile *files, size_t n) {
        int fds[NOTE_FILES_MAX], r = 0;

        for (size_t i = 0; i < n && r >= 0; i++)
                r = fds[i] = temporary_write(dir_fd, files + i);
        for (size_t i = 0; i < n && r >= 0; i++)
                r = fsync(fds[i]) < 0 ? -errno : 0;
        for (size_t i = 0; i < n && r >= 0; i++)
                r = temporary_rename(dir_fd, files + i);
        if (r >= 0 && n > 0)
                r = fsync(dir_fd) < 0 ? -errno : 0;

        for (size_t i = 0; i < n && r < 0; i++)
                temporary_remove(dir_fd, files + i);
        return r;
}

/* Until the directory is written, too, a power cut would bring them back. */
static int remove_durably(int dir_fd, const NoteFile *files, size_t n, bool all_written) {
        int r = 0;

        for (size_t i = 0; i < n; i++)
                if (!files[i].text && (all_written || !files[i].moved) && unlinkat(dir_fd, files[i].name, 0) < 0 &&
                    errno != ENOENT)
                        r = -errno;

        return fsync(dir_fd) < 0 ? -errno : r;
}

int note_writer_wait(pid_t pid, uint64_t until_usec) {
        _cleanup_close_ int fd = -EBADF;
        struct pollfd p;
        int r;

        fd = pidfd_open(pid, 0);
        if (fd < 0)
                return errno == ESRCH ? 0 : -errno; /* no such process: it has ended */

        p = (struct pollfd){ .fd = fd, .events = POLLIN };
        do {
                uint64_t now = monotonic_usec(), ms = (until_usec - MIN(now, until_usec) + 999) / 1000;

                r = poll(&p, 1, (int) MIN(ms, (uint64_t) INT_MAX));
        } while (r < 0 && errno == EINTR);
        return r < 0 ? -errno : r == 0 ? -ETIMEDOUT : 0;
}

static int note_writer_main(const char *dir, const NoteFile *files, size_t n, pid_t after) {
        NoteFile written[NOTE_FILES_MAX];
        _cleanup_close_ int dir_fd = -EBADF;
        size_t n_written = 0;
        int r, k;

        /* One that hangs must not hold what the manager thinks is closed. */
        if (close_range(STDERR_FILENO + 1, ~0U, 0) < 0)
                return -errno;

        if (after > 0)
                (void) note_writer_wait(after, UINT64_MAX);

        dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir_fd < 0)
                return -errno;

        for (size_t i = 0; i < n; i++)
                if (files[i].text)
                        written[n_written++] = files[i];

        r = write_durably(dir_fd, written, n_written);
        k = n_written < n ? remove_durably(dir_fd, files, n, r >= 0) : 0;
        return r < 0 ? r : k;
}

int note_writer_start(const char *dir, const NoteFile *files, size_t n, pid_t after, pid_t *ret) {
        pid_t pid;

        if (n > NOTE_FILES_MAX)
                return -E2BIG;

        pid = fork();
        if (pid < 0)
                return -errno;

        if (pid == 0) {
                sigset_t none;

                (void) prctl(PR_SET_NAME, "keep-note");
                /* Who tells the whole unit to reload ("systemctl kill -s HUP") does not want it to end. */
                (void) signal(SIGHUP, SIG_IGN);
                (void) sigemptyset(&none);
                (void) sigprocmask(SIG_SETMASK, &none, NULL);
                _exit(-note_writer_main(dir, files, n, after));
        }

        *ret = pid;
        return 0;
}
