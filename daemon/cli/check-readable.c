/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/wait.h>

#include "check-readable.h"
#include "must.h"

/* What stands in the way of one file, or of one directory of them, whose path ends with a slash. */
typedef struct Obstacle {
        size_t path;
        size_t length; /* of the path: the whole is the file itself, less is a directory */
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
static _Noreturn void child_main(int fd, const struct passwd *user, char *const *paths) {
        if (initgroups(user->pw_name, user->pw_gid) < 0 || setgid(user->pw_gid) < 0 || setuid(user->pw_uid) < 0)
                _exit(EXIT_FAILURE);

        for (size_t i = 0; paths[i]; i++) {
                int file = open(paths[i], O_RDONLY | O_NONBLOCK | O_CLOEXEC);
                Obstacle o = { .path = i };

                if (file >= 0) {
                        (void) close(file);
                        continue;
                }
                if (errno != EACCES)
                        continue;
                o.length = find_obstacle(paths[i]);
                if (write(fd, &o, sizeof o) != sizeof o)
                        _exit(EXIT_FAILURE);
        }
        _exit(EXIT_SUCCESS);
}

static int complain_obstacle(Config *c, const char *path, const char *obstacle) {
        bool directory = strlen(obstacle) < strlen(path);

        return complain(&c->complaints, COMPLAINT_ERROR, obstacle, 0, 0,
                        "the service cannot read this %s, which its user \"" SERVICE_USER "\" has no right to; "
                        "'chmod %s %s' mends it",
                        directory ? "directory" : "file", directory ? "o+rx" : "o+r", obstacle);
}

static void paths_freep(char ***paths) {
        for (size_t i = 0; *paths && (*paths)[i]; i++)
                free((*paths)[i]);
        free(*paths);
}

/* The files that were read, and the directories that any others would be in. */
static char **all_paths(const Config *c, const char *const *roots) {
        char **paths = NULL;
        size_t n = 0;

        for (; *roots; roots++) {
                must_grow(paths, n);
                paths[n++] = must_format("%s/" CONFIG_DROP_IN_DIRECTORY "/", *roots);
        }
        for (size_t i = 0; i < c->n_files; i++) {
                must_grow(paths, n);
                paths[n++] = must(strdup(c->files[i]));
        }
        must_grow(paths, n);
        paths[n] = NULL;
        return paths;
}

int check_readable(Config *c, const char *const *roots) {
        const struct passwd *user = geteuid() == 0 ? getpwnam(SERVICE_USER) : NULL;
        _cleanup_(paths_freep) char **paths = NULL;
        _cleanup_free_ char *told = NULL;
        int fds[2], r = 0;
        Obstacle o;
        pid_t pid;

        if (!user)
                return 0;
        paths = all_paths(c, roots);
        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;

        pid = fork();
        if (pid < 0)
                r = -errno;
        else if (pid == 0)
                child_main(fds[1], user, paths);

        (void) close(fds[1]);
        while (r >= 0 && read(fds[0], &o, sizeof o) == sizeof o) {
                char *obstacle = must(strndup(paths[o.path], o.length));

                /* One directory may be in the way of many files. */
                if (!streq_ptr(obstacle, told))
                        r = complain_obstacle(c, paths[o.path], obstacle);
                free(told);
                told = obstacle;
        }
        (void) close(fds[0]);
        if (pid > 0)
                (void) waitpid(pid, NULL, 0);
        return r;
}
