/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <sys/wait.h>

#include "check-readable.h"

/* What stands in the way of one file. */
typedef struct Obstacle {
        size_t file;
        size_t length; /* of its path: the whole is the file itself, less is a directory above it */
} Obstacle;

/* The first directory from the top that cannot be entered, or the last one, which is listed as well. */
static size_t find_obstacle(const char *path) {
        char above[PATH_MAX];
        size_t n = strlen(path);

        for (const char *slash = strchr(path + 1, '/'); slash && n < sizeof above; slash = strchr(slash + 1, '/')) {
                size_t length = slash - path;

                memcpy(above, path, length);
                above[length] = '\0';
                if (access(above, strchr(slash + 1, '/') ? X_OK : R_OK | X_OK) < 0)
                        return length;
        }
        return n;
}

/* As that user: the kernel knows of more than modes. */
static _Noreturn void child_main(int fd, const struct passwd *user, const Config *c) {
        if (initgroups(user->pw_name, user->pw_gid) < 0 || setgid(user->pw_gid) < 0 || setuid(user->pw_uid) < 0)
                _exit(EXIT_FAILURE);

        for (size_t i = 0; i < c->n_files; i++) {
                int file = open(c->files[i], O_RDONLY | O_NONBLOCK | O_CLOEXEC);
                Obstacle o = { .file = i };

                if (file >= 0) {
                        (void) close(file);
                        continue;
                }
                if (errno != EACCES)
                        continue;
                o.length = find_obstacle(c->files[i]);
                if (write(fd, &o, sizeof o) != sizeof o)
                        _exit(EXIT_FAILURE);
        }
        _exit(EXIT_SUCCESS);
}

static int complain_obstacle(Config *c, const Obstacle *o) {
        const char *path = c->files[o->file];
        bool directory = path[o->length] != '\0';

        return complain(&c->complaints, COMPLAINT_WARNING, path, 0, 0,
                        "the service cannot read this file, which its user \"" SERVICE_USER "\" has no right to; "
                        "'chmod %s %.*s' mends it",
                        directory ? "o+rx" : "o+r", (int) o->length, path);
}

int check_readable(Config *c) {
        const struct passwd *user = geteuid() == 0 ? getpwnam(SERVICE_USER) : NULL;
        int fds[2], r = 0;
        Obstacle o;
        pid_t pid;

        if (!user)
                return 0;
        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;

        pid = fork();
        if (pid < 0)
                r = -errno;
        else if (pid == 0)
                child_main(fds[1], user, c);

        (void) close(fds[1]);
        while (r >= 0 && read(fds[0], &o, sizeof o) == sizeof o)
                r = complain_obstacle(c, &o);
        (void) close(fds[0]);
        if (pid > 0)
                (void) waitpid(pid, NULL, 0);
        return r;
}
