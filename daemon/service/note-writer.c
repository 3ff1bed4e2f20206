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

static int write_all(int fd, const char *text) {
        for (size_t left = strlen(text); left > 0;) {
                ssize_t n = write(fd, text, left);

                if (n < 0)
                        return -errno;
                text += n;
                left -= n;
        }

        return fsync(fd) < 0 ? -errno : 0;
}

static int file_replace(int dir_fd, const char *name, const char *text) {
        _cleanup_free_ char *temporary = NULL;
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (asprintf(&temporary, "%s.new~", name) < 0) {
                temporary = NULL;
                return -ENOMEM;
        }

        fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (fd < 0)
                return -errno;

        r = write_all(fd, text);
        if (r >= 0 && renameat(dir_fd, temporary, dir_fd, name) < 0)
                r = -errno;
        if (r < 0)
                (void) unlinkat(dir_fd, temporary, 0);
        return r;
}

static int note_writer_main(const char *dir, const char *name, const char *text) {
        _cleanup_close_ int dir_fd = -EBADF;
        int r = 0;

        /* A process that hangs must not hold what the manager thinks is closed. */
        if (close_range(STDERR_FILENO + 1, ~0U, 0) < 0)
                return -errno;

        dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir_fd < 0)
                return -errno;

        if (text)
                r = file_replace(dir_fd, name, text);
        else if (unlinkat(dir_fd, name, 0) < 0 && errno != ENOENT)
                r = -errno;
        /* Until the directory is written, too, a power cut would bring back what was there before. */
        return r < 0 ? r : fsync(dir_fd) < 0 ? -errno : 0;
}

int note_writer_start(const char *dir, const char *name, const char *text, pid_t *ret) {
        pid_t pid;

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
                _exit(-note_writer_main(dir, name, text));
        }

        *ret = pid;
        return 0;
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
