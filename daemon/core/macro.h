/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Cleanup attributes and ownership transfer, as in systemd.
 *
 * Error policy of the whole program: functions return 0 (or a non-negative result) on success and a negative
 * errno on failure; output parameters are named ret_… and written only on success. A function either logs an
 * error or returns it, never both. */

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _printf_(a, b) __attribute__((format(printf, a, b)))
#define _unused_ __attribute__((unused))
#define _fallthrough_ __attribute__((fallthrough))

#define ELEMENTSOF(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#define TAKE_PTR(p)                     \
        ({                              \
                typeof(p) *_p = &(p);   \
                typeof(p) _taken = *_p; \
                *_p = NULL;             \
                _taken;                 \
        })

#define TAKE_FD(fd)                \
        ({                         \
                int *_fd = &(fd);  \
                int _taken = *_fd; \
                *_fd = -EBADF;     \
                _taken;            \
        })

/* For destructors that take and return a pointer: DEFINE_CLEANUP(Drive *, drive_free) declares drive_freep(). */
#define DEFINE_CLEANUP(type, function)                     \
        static inline _unused_ void function##p(type *p) { \
                if (*p)                                    \
                        *p = function(*p);                 \
        }

static inline void freep(void *p) {
        free(*(void **) p);
}
#define _cleanup_free_ _cleanup_(freep)

static inline void closep(const int *fd) {
        if (*fd >= 0)
                (void) close(*fd);
}
#define _cleanup_close_ _cleanup_(closep)

/* The members of an array that GREW() can extend: a pointer, the number of elements, and the number of elements that fit into the
 * memory. Only GREW() writes `room_…`. In an array that other code allocated, `room_…` is 0, and GREW() moves the array. */
#define GROWING_ARRAY(type, name) \
        type *name;               \
        size_t n_##name, room_##name

static inline bool grew(void **items, size_t n, size_t *room, size_t size) {
        size_t wanted = MAX(n * 2, 1U);
        void *moved;

        if (*items && n < *room)
                return true;
        moved = reallocarray(*items, wanted, size);
        if (!moved)
                return false;
        *items = moved;
        *room = wanted;
        return true;
}

/* Makes room for one more element of owner->name, a GROWING_ARRAY(). Doubles the size of a full array. Returns false if memory ran out;
 * the array is then unchanged. */
#define GREW(owner, name) \
        grew((void **) &(owner)->name, (owner)->n_##name, &(owner)->room_##name, sizeof *(owner)->name)

static inline bool streq(const char *a, const char *b) {
        return strcmp(a, b) == 0;
}

/* NULL equals only NULL. */
static inline bool streq_ptr(const char *a, const char *b) {
        return a && b ? streq(a, b) : a == b;
}

static inline bool str_in_set(const char *s, const char *const *set) {
        for (; *set; set++)
                if (streq(s, *set))
                        return true;
        return false;
}

/* True if `s` equals one of the words: STR_IN_SET(level, "raid1", "raid10"). */
#define STR_IN_SET(s, ...) str_in_set(s, (const char *const[]){ __VA_ARGS__, NULL })

static inline bool starts_with(const char *s, const char *prefix) {
        return strncmp(s, prefix, strlen(prefix)) == 0;
}

static inline bool ends_with(const char *s, const char *suffix) {
        size_t n = strlen(s), k = strlen(suffix);

        return n >= k && streq(s + n - k, suffix);
}

/* Returns the part of the path after the last '/'. */
static inline const char *base_name(const char *path) {
        const char *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}

static inline const char *strna(const char *s) {
        return s ?: "n/a";
}
