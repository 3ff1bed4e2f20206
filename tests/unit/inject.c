/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "inject.h"

/* Shared with forked processes. */
static struct {
        Injected kind;
        size_t left; /* 1: the next call fails; 2: the call after the next; and so on; 0: no call fails */
        bool stays, failed;
} * state;

int (*inject_ioctl)(int fd, unsigned long request, void *argument);

void inject_arm(Injected what, size_t nth) {
        if (!state)
                state = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ck_assert_ptr_ne(state, MAP_FAILED);
        state->kind = what;
        state->stays = state->failed = false;
        state->left = nth;
}

void inject_stay(void) {
        state->stays = true;
}

bool inject_disarm(void) {
        state->left = 0;
        return state->failed;
}

static bool is_its_turn(Injected what) {
        if (!state || what != state->kind || state->left == 0 || --state->left > 0)
                return false;
        state->failed = true;
        if (state->stays)
                state->left = 1;
        return true;
}

static bool no_memory(void) {
        if (!is_its_turn(INJECT_MEMORY))
                return false;
        errno = ENOMEM;
        return true;
}

static bool no_file(void) {
        if (!is_its_turn(INJECT_ERRORS))
                return false;
        errno = EIO;
        return true;
}

/* Returns true if a call that may block must fail. */
static bool no_answer(void) {
        if (no_file())
                return true;
        if (!is_its_turn(INJECT_INTERRUPT))
                return false;
        errno = EINTR;
        return true;
}

/* Returns the result of a call that changes something; or -1 if the call must fail after it took effect. */
static ssize_t late(ssize_t answer) {
        if (answer < 0 || !is_its_turn(INJECT_LATE))
                return answer;
        errno = EIO;
        return -1;
}

/* STAND_IN(type, function, (parameters), (arguments), fails, answer): the replacement returns `answer` if
 * the function `fails` returns true. */
#define STAND_IN(type, f, parameters, arguments, fails, answer)   \
        type __real_##f parameters;                               \
        type __wrap_##f parameters;                               \
        type __wrap_##f parameters {                              \
                return fails() ? (answer) : __real_##f arguments; \
        }

/* clang-format off */
STAND_IN(void *, malloc, (size_t size), (size), no_memory, NULL)
STAND_IN(void *, calloc, (size_t n, size_t size), (n, size), no_memory, NULL)
STAND_IN(void *, realloc, (void *p, size_t size), (p, size), no_memory, NULL)
STAND_IN(void *, reallocarray, (void *p, size_t n, size_t size), (p, n, size), no_memory, NULL)
STAND_IN(char *, strdup, (const char *s), (s), no_memory, NULL)
STAND_IN(char *, strndup, (const char *s, size_t n), (s, n), no_memory, NULL)
STAND_IN(FILE *, open_memstream, (char **text, size_t *size), (text, size), no_memory, NULL)
STAND_IN(int, open64, (const char *path, int flags, mode_t mode), (path, flags, mode), no_answer, -1)
STAND_IN(int, openat64, (int at, const char *path, int flags, mode_t mode), (at, path, flags, mode), no_answer, -1)
STAND_IN(FILE *, fopen64, (const char *path, const char *mode), (path, mode), no_file, NULL)
STAND_IN(FILE *, fdopen, (int fd, const char *mode), (fd, mode), no_file, NULL)
STAND_IN(DIR *, opendir, (const char *path), (path), no_file, NULL)
STAND_IN(DIR *, fdopendir, (int fd), (fd), no_file, NULL)
STAND_IN(struct dirent64 *, readdir64, (DIR *dir), (dir), no_file, NULL)
STAND_IN(int, scandir64, (const char *path, struct dirent64 ***ret, int (*take)(const struct dirent64 *),
         int (*compare)(const struct dirent64 **, const struct dirent64 **)), (path, ret, take, compare), no_file, -1)
STAND_IN(int, fstat64, (int fd, struct stat64 *ret), (fd, ret), no_file, -1)
STAND_IN(int, stat64, (const char *path, struct stat64 *ret), (path, ret), no_file, -1)
STAND_IN(int, lstat64, (const char *path, struct stat64 *ret), (path, ret), no_file, -1)
STAND_IN(char *, realpath, (const char *path, char *ret), (path, ret), no_file, NULL)
STAND_IN(ssize_t, getline, (char **line, size_t *size, FILE *f), (line, size, f), no_file, -1)
STAND_IN(char *, fgets, (char *line, int size, FILE *f), (line, size, f), no_file, NULL)
STAND_IN(int, socketpair, (int domain, int type, int protocol, int fds[2]), (domain, type, protocol, fds), no_file, -1)
STAND_IN(int, socket, (int domain, int type, int protocol), (domain, type, protocol), no_file, -1)
STAND_IN(int, connect, (int fd, const struct sockaddr *address, socklen_t size), (fd, address, size), no_answer, -1)
STAND_IN(pid_t, fork, (void), (), no_file, -1)
STAND_IN(ssize_t, recv, (int fd, void *buf, size_t size, int flags), (fd, buf, size, flags), no_answer, -1)
/* clang-format on */

int __real_vasprintf(char **ret, const char *format, va_list arguments);
int __wrap_vasprintf(char **ret, const char *format, va_list arguments);
int __wrap_vasprintf(char **ret, const char *format, va_list arguments) {
        return no_memory() ? -1 : __real_vasprintf(ret, format, arguments);
}

int __wrap_asprintf(char **ret, const char *format, ...) _printf_(2, 3);
int __wrap_asprintf(char **ret, const char *format, ...) {
        va_list arguments;
        int r;

        if (no_memory())
                return -1;
        va_start(arguments, format);
        r = __real_vasprintf(ret, format, arguments);
        va_end(arguments);
        return r;
}

/* A memory stream allocates while it is written to. A failed allocation is reported by fclose() at the latest. */
int __real_fclose(FILE *f);
int __wrap_fclose(FILE *f);
int __wrap_fclose(FILE *f) {
        bool in_memory = fileno(f) < 0;

        if (__real_fclose(f) != 0)
                return EOF;
        return (in_memory && no_memory()) ? EOF : 0;
}

ssize_t __real_read(int fd, void *buf, size_t size);
ssize_t __wrap_read(int fd, void *buf, size_t size);
ssize_t __wrap_read(int fd, void *buf, size_t size) {
        if (no_answer())
                return -1;
        return __real_read(fd, buf, size > 1 && is_its_turn(INJECT_SHORT) ? size / 2 : size);
}

ssize_t __real_write(int fd, const void *buf, size_t size);
ssize_t __wrap_write(int fd, const void *buf, size_t size);
ssize_t __wrap_write(int fd, const void *buf, size_t size) {
        if (no_answer())
                return -1;
        return late(__real_write(fd, buf, size > 1 && is_its_turn(INJECT_SHORT) ? size / 2 : size));
}

/* STAND_IN_LATE(type, function, (parameters), (arguments), fails): the replacement may also fail after the call took effect. */
#define STAND_IN_LATE(type, f, parameters, arguments, fails)      \
        type __real_##f parameters;                               \
        type __wrap_##f parameters;                               \
        type __wrap_##f parameters {                              \
                return fails() ? -1 : late(__real_##f arguments); \
        }

/* clang-format off */
STAND_IN_LATE(int, fsync, (int fd), (fd), no_answer)
STAND_IN_LATE(int, rename, (const char *from, const char *to), (from, to), no_file)
STAND_IN_LATE(int, renameat, (int at, const char *from, int to_at, const char *to), (at, from, to_at, to), no_file)
STAND_IN_LATE(ssize_t, send, (int fd, const void *buf, size_t size, int flags), (fd, buf, size, flags), no_answer)
STAND_IN_LATE(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags), no_answer)
/* clang-format on */

/* ---- variants of these functions that the C library uses to check sizes (_FORTIFY_SOURCE) ---- */

int __wrap___vasprintf_chk(char **ret, int flag, const char *format, va_list arguments);
int __wrap___vasprintf_chk(char **ret, int flag _unused_, const char *format, va_list arguments) {
        return __wrap_vasprintf(ret, format, arguments);
}

int __wrap___asprintf_chk(char **ret, int flag, const char *format, ...) _printf_(3, 4);
int __wrap___asprintf_chk(char **ret, int flag _unused_, const char *format, ...) {
        va_list arguments;
        int r;

        va_start(arguments, format);
        r = __wrap_vasprintf(ret, format, arguments);
        va_end(arguments);
        return r;
}

/* STAND_IN_CHECKED(type, name, function, (parameters), (arguments)): `name` is the variant of `function`
 * that checks sizes. */
#define STAND_IN_CHECKED(type, name, f, parameters, arguments) \
        type __wrap_##name parameters;                         \
        type __wrap_##name parameters {                        \
                return __wrap_##f arguments;                   \
        }

/* clang-format off */
STAND_IN_CHECKED(int, __open64_2, open64, (const char *path, int flags), (path, flags, 0))
STAND_IN_CHECKED(int, __openat64_2, openat64, (int at, const char *path, int flags), (at, path, flags, 0))
STAND_IN_CHECKED(ssize_t, __read_chk, read, (int fd, void *buf, size_t size, size_t room _unused_), (fd, buf, size))
STAND_IN_CHECKED(char *, __fgets_chk, fgets, (char *line, size_t room _unused_, int size, FILE *f), (line, size, f))
STAND_IN_CHECKED(char *, __realpath_chk, realpath, (const char *path, char *ret, size_t room _unused_), (path, ret))
STAND_IN_CHECKED(ssize_t, __recv_chk, recv, (int fd, void *buf, size_t size, size_t room _unused_, int flags), (fd, buf, size, flags))
/* clang-format on */

int __real_ioctl(int fd, unsigned long request, void *argument);
int __wrap_ioctl(int fd, unsigned long request, void *argument);
int __wrap_ioctl(int fd, unsigned long request, void *argument) {
        if (no_answer())
                return -1;
        return late(inject_ioctl ? inject_ioctl(fd, request, argument) : __real_ioctl(fd, request, argument));
}
