/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* File access of the command: absolute paths are redirected below world_root. */

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "must.h"
#include "transcript-parts.h"
#include "transcript-world.h"

char world_root[PATH_MAX];
uid_t world_user;

static const char *redirect(const char *path, char buf[static PATH_MAX]) {
        static const char *const outside[] = { "/dev/null", "/dev/full", "/proc/self/fd/" };

        for (size_t i = 0; i < ELEMENTSOF(outside); i++)
                if (starts_with(path, outside[i]))
                        return path;
        if (*path != '/' || starts_with(path, world_root))
                return path;
        (void) snprintf(buf, PATH_MAX, "%s%s", world_root, path);
        return buf;
}

#define REDIRECT(path) redirect(path, (char[PATH_MAX]){ 0 })

/* Returns true if the file's mode denies access to world_user. The kernel denies nothing if the test runs as root. */
static bool is_denied(int dir_fd, const char *path) {
        struct stat st;

        if (world_user == 0 || fstatat(dir_fd, path, &st, 0) < 0 || !(S_ISREG(st.st_mode) || S_ISBLK(st.st_mode)) ||
            st.st_mode & S_IROTH)
                return false;
        errno = EACCES;
        return true;
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...) {
        va_list ap;
        mode_t mode;

        va_start(ap, flags);
        mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
        va_end(ap);
        path = REDIRECT(path);
        return is_denied(AT_FDCWD, path) ? -1 : __real_open64(path, flags, mode);
}

int __real_openat64(int dir_fd, const char *path, int flags, ...);
int __wrap_openat64(int dir_fd, const char *path, int flags, ...);
int __wrap_openat64(int dir_fd, const char *path, int flags, ...) {
        va_list ap;
        mode_t mode;

        va_start(ap, flags);
        mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
        va_end(ap);
        path = REDIRECT(path);
        return is_denied(dir_fd, path) ? -1 : __real_openat64(dir_fd, path, flags, mode);
}

WRAPPED(FILE *, fopen64, const char *path, const char *mode) {
        path = REDIRECT(path);
        return is_denied(AT_FDCWD, path) ? NULL : __real_fopen64(path, mode);
}

/* All files belong to root, whichever user runs the test. */
static int own(int r, struct stat *st) {
        st->st_uid = st->st_gid = 0;
        return r;
}

WRAPPED(int, stat64, const char *path, struct stat *st) {
        return own(__real_stat64(REDIRECT(path), st), st);
}
WRAPPED(int, lstat64, const char *path, struct stat *st) {
        return own(__real_lstat64(REDIRECT(path), st), st);
}
WRAPPED(int, fstat64, int fd, struct stat *st) {
        return own(__real_fstat64(fd, st), st);
}
WRAPPED(int, fstatat64, int dir_fd, const char *path, struct stat *st, int flags) {
        return own(__real_fstatat64(dir_fd, REDIRECT(path), st, flags), st);
}
WRAPPED(int, access, const char *path, int mode) {
        path = REDIRECT(path);
        return is_denied(AT_FDCWD, path) ? -1 : __real_access(path, mode);
}
WRAPPED(int, faccessat, int dir_fd, const char *path, int mode, int flags) {
        return __real_faccessat(dir_fd, REDIRECT(path), mode, flags);
}
WRAPPED(int, statfs64, const char *path, struct statfs *st) {
        return __real_statfs64(REDIRECT(path), st);
}
WRAPPED(int, mkdir, const char *path, mode_t mode) {
        return __real_mkdir(REDIRECT(path), mode);
}
WRAPPED(int, unlink, const char *path) {
        return __real_unlink(REDIRECT(path));
}
WRAPPED(int, unlinkat, int dir_fd, const char *path, int flags) {
        return __real_unlinkat(dir_fd, REDIRECT(path), flags);
}
WRAPPED(int, renameat, int from_fd, const char *from, int to_fd, const char *to) {
        return __real_renameat(from_fd, REDIRECT(from), to_fd, REDIRECT(to));
}
WRAPPED(ssize_t, readlink, const char *path, char *target, size_t size) {
        return __real_readlink(REDIRECT(path), target, size);
}
WRAPPED(int, scandir64, const char *path, struct dirent ***ret, int (*filter)(const struct dirent *),
        int (*compare)(const struct dirent **, const struct dirent **)) {
        return __real_scandir64(REDIRECT(path), ret, filter, compare);
}
WRAPPED(DIR *, opendir, const char *path) {
        return __real_opendir(REDIRECT(path));
}
WRAPPED(int, inotify_add_watch, int fd, const char *path, uint32_t mask) {
        return __real_inotify_add_watch(fd, REDIRECT(path), mask);
}

/* If the command starts a program, redirects the paths in the program's arguments. */
WRAPPED(int, posix_spawnp, pid_t *ret, const char *file, const posix_spawn_file_actions_t *actions,
        const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]) {
        char paths[8][PATH_MAX], *redirected[ELEMENTSOF(paths) + 1] = { argv[0] };

        for (size_t i = 1; argv[i] && i < ELEMENTSOF(paths); i++)
                redirected[i] = (char *) redirect(argv[i], paths[i]);
        return __real_posix_spawnp(ret, file, actions, attributes, redirected, envp);
}

/* Removes world_root from a path that a library function returns. */
static char *cut_root(char *path) {
        size_t n = strlen(world_root);

        if (path && starts_with(path, world_root))
                memmove(path, path[n] ? path + n : "/", strlen(path) - n + 1);
        return path;
}

WRAPPED(char *, realpath, const char *path, char *resolved) {
        return cut_root(__real_realpath(REDIRECT(path), resolved));
}
/* A pattern that begins with alternatives, as in "{/etc,/run}/x", gets the prefix world_root. */
WRAPPED(int, glob64, const char *pattern, int flags, int (*on_error)(const char *, int), glob_t *g) {
        _cleanup_free_ char *redirected = must_format("%s%s", *pattern == '{' ? world_root : "", REDIRECT(pattern));
        int r = __real_glob64(redirected, flags, on_error, g);

        for (size_t i = 0; r == 0 && i < g->gl_pathc; i++)
                (void) cut_root(g->gl_pathv[i]);
        return r;
}
