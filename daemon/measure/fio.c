/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <json.h>
#include <json_pointer.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#include "fio.h"
#include "must.h"

#define STOP_MS 3000 /* for an end once it was asked for */

extern char **environ;

/* In a process group of its own: the terminal's Ctrl-C is for us alone, and we tell it. */
static int fio_start(char *const *arguments, int out, pid_t *ret) {
        posix_spawn_file_actions_t files;
        posix_spawnattr_t attributes;
        sigset_t none;
        int r;

        (void) sigemptyset(&none);
        must_work(-posix_spawn_file_actions_init(&files));
        must_work(-posix_spawnattr_init(&attributes));
        must_work(-posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO));
        must_work(-posix_spawn_file_actions_adddup2(&files, out, STDERR_FILENO));
        (void) posix_spawnattr_setsigmask(&attributes, &none);
        (void) posix_spawnattr_setpgroup(&attributes, 0);
        (void) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);

        r = posix_spawnp(ret, arguments[0], &files, &attributes, arguments, environ);

        (void) posix_spawnattr_destroy(&attributes);
        (void) posix_spawn_file_actions_destroy(&files);
        return -r;
}

typedef enum Heard {
        HEARD_ALL,
        HEARD_STOP, /* it was told to end, and has done so */
        HEARD_NO_END,
} Heard;

/* All that it says, until it has ended, or has not ended in time after it was told to. */
static Heard fio_listen(pid_t pid, int in, int stop_fd, FILE *text) {
        struct pollfd fds[] = { { in, POLLIN, 0 }, { stop_fd, POLLIN, 0 } };
        bool stopped = false;

        for (;;) {
                char buf[4096];
                ssize_t n;
                int r;

                r = poll(fds, ELEMENTSOF(fds), stopped ? STOP_MS : -1);
                if (r == 0)
                        return HEARD_NO_END;
                if (r < 0)
                        continue;
                if (fds[1].revents) {
                        stopped = true;
                        fds[1].fd = -1;
                        (void) kill(pid, SIGTERM);
                }
                if (!fds[0].revents)
                        continue;
                n = read(in, buf, sizeof buf);
                if (n <= 0)
                        return stopped ? HEARD_STOP : HEARD_ALL;
                (void) fwrite(buf, 1, (size_t) n, text);
        }
}

/* Before the JSON it may say other things. */
static struct json_object *fio_parse(const char *text) {
        const char *start = *text == '{' ? text : strstr(text, "\n{");

        return start ? json_tokener_parse(start) : NULL;
}

/* What it says beside JSON, which is no sentence. */
static char *first_line(const char *text, int status) {
        size_t n = strcspn(text, "\n");

        if (n == 0 || *text == '{')
                return must_format("it ended with %s %d", WIFEXITED(status) ? "exit status" : "signal",
                                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
        return must(strndup(text, n));
}

int fio_run(char *const *arguments, int stop_fd, struct json_object **ret, char **ret_complaint) {
        _cleanup_close_ int in = -EBADF, out = -EBADF;
        struct json_object *told;
        _cleanup_free_ char *text = NULL;
        int ends[2], status = 0, r;
        double error;
        size_t size;
        Heard heard;
        FILE *f;
        pid_t pid;

        if (pipe2(ends, O_CLOEXEC) < 0)
                return -errno;
        in = ends[0];
        out = ends[1];
        r = fio_start(arguments, out, &pid);
        if (r < 0)
                return r;
        (void) close(TAKE_FD(out));

        f = must(open_memstream(&text, &size));
        heard = fio_listen(pid, in, stop_fd, f);
        must_close(f);
        if (heard == HEARD_NO_END)
                (void) kill(pid, SIGKILL);
        /* One that waits for the drive dies once that has answered. */
        while (waitpid(pid, &status, heard == HEARD_NO_END ? WNOHANG : 0) < 0 && errno == EINTR)
                continue;
        if (heard != HEARD_ALL)
                return -ECANCELED;

        told = fio_parse(text);
        error = told ? fio_number(told, "error") : NAN;
        if (error == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
                *ret = told;
                return 0;
        }

        (void) json_object_put(told);
        *ret_complaint = error > 0 ? must(strdup(strerror((int) error))) : first_line(text, status);
        return -EIO;
}

bool fio_is_installed(void) {
        char *const arguments[] = { (char *) "fio", (char *) "--version", NULL };
        _cleanup_close_ int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
        pid_t pid;

        if (fio_start(arguments, out, &pid) < 0)
                return false;
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                continue;
        return true;
}

double fio_number(struct json_object *told, const char *path) {
        _cleanup_free_ char *pointer = must_format("/jobs/0/%s", path);
        struct json_object *number = NULL;

        (void) json_pointer_get(told, pointer, &number);
        if (!json_object_is_type(number, json_type_int) && !json_object_is_type(number, json_type_double))
                return NAN;
        return json_object_get_double(number);
}
