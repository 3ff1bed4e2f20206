/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "text-file.h"
#include "tree.h"

int tree_open(const char *root, Tree *ret) {
        int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0)
                return -errno;
        *ret = (Tree){ .fd = fd, .whole = streq(root, "/") };
        return 0;
}

void tree_done(Tree *t) {
        if (t->fd > 0)
                (void) close(t->fd);
}

/* Opens nothing but the name: a pipe or a device is not touched. The service has no openat2(): RestrictSUIDSGID= takes it. */
static int tree_path(const Tree *t, const char *path, uint64_t flags) {
        struct open_how how = { .flags = O_PATH | O_CLOEXEC | flags, .resolve = RESOLVE_IN_ROOT };
        long fd;

        fd = t->whole ? open(path, (int) how.flags) : syscall(SYS_openat2, t->fd, path, &how, sizeof how);
        return fd < 0 ? -errno : (int) fd;
}

static int tree_reopen(int fd, int flags) {
        char path[32];
        int r;

        (void) snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        r = open(path, flags | O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        return r < 0 ? -errno : r;
}

static int tree_stat(const Tree *t, const char *path, struct stat *ret) {
        _cleanup_close_ int fd = tree_path(t, path, 0);

        if (fd < 0)
                return fd;
        return fstat(fd, ret) < 0 ? -errno : 0;
}

int tree_read(const Tree *t, const char *path, char **ret_text, size_t *ret_size) {
        _cleanup_close_ int node = tree_path(t, path, 0), fd = -EBADF;
        _cleanup_free_ char *text = NULL;
        const char *objection;
        struct stat st;
        size_t size;
        int r;

        if (node < 0 || fstat(node, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > TEXT_FILE_MAX)
                return 0;
        fd = tree_reopen(node, 0);
        if (fd < 0)
                return 0;

        r = text_descriptor_read(fd, &text, &size, &objection);
        if (r == -ENOMEM)
                return r;
        if (r != 0 || memchr(text, '\0', size))
                return 0;

        *ret_text = TAKE_PTR(text);
        *ret_size = size;
        return 1;
}

static int compare(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

int tree_list(const Tree *t, const char *directory, Words *ret) {
        _cleanup_close_ int node = tree_path(t, directory, 0);
        int fd, r = 0;
        DIR *d;

        fd = node < 0 ? node : tree_reopen(node, O_DIRECTORY);
        d = fd < 0 ? NULL : fdopendir(fd);
        if (!d) {
                if (fd >= 0)
                        (void) close(fd);
                return 0;
        }

        for (const struct dirent *e = readdir(d); e && r >= 0; e = readdir(d))
                if (e->d_name[0] != '.')
                        r = words_add(ret, e->d_name, strlen(e->d_name));
        (void) closedir(d);

        if (ret->n_items > 1)
                qsort(ret->items, ret->n_items, sizeof(char *), compare);
        return r;
}

bool tree_exists(const Tree *t, const char *path) {
        struct stat st;

        return tree_stat(t, path, &st) >= 0;
}

bool tree_executable(const Tree *t, const char *path) {
        struct stat st;

        return tree_stat(t, path, &st) >= 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111);
}

bool tree_masked(const Tree *t, const char *path) {
        _cleanup_close_ int fd = tree_path(t, path, O_NOFOLLOW);
        char target[16];
        struct stat st;
        ssize_t n;

        /* The link's text: an image has no /dev. */
        if (fd < 0 || fstat(fd, &st) < 0)
                return false;
        if (!S_ISLNK(st.st_mode))
                return S_ISREG(st.st_mode) && st.st_size == 0;

        n = readlinkat(fd, "", target, sizeof target);
        return n == (ssize_t) strlen("/dev/null") && memcmp(target, "/dev/null", (size_t) n) == 0;
}

static int join(const char *directory, const char *name, char **ret) {
        return asprintf(ret, "%s/%s", directory, name) < 0 ? -ENOMEM : 0;
}

int tree_each(const Tree *t, const char *const *directories, const char *suffix,
              int (*each)(void *userdata, const char *path), void *userdata) {
        _cleanup_(words_done) Words names = {};
        int r = 0;

        for (const char *const *d = directories; *d && r >= 0; d++)
                r = tree_list(t, *d, &names);
        if (r < 0)
                return r;
        if (names.n_items > 1)
                qsort(names.items, names.n_items, sizeof(char *), compare);

        for (size_t i = 0; i < names.n_items && r >= 0; i++) {
                if (!ends_with(names.items[i], suffix) || (i > 0 && streq(names.items[i], names.items[i - 1])))
                        continue;
                for (const char *const *d = directories; *d && r >= 0; d++) {
                        _cleanup_free_ char *path = NULL;
                        bool masked;

                        r = join(*d, names.items[i], &path);
                        if (r < 0)
                                return r;
                        masked = tree_masked(t, path);
                        if (!masked && !tree_exists(t, path))
                                continue;
                        if (!masked)
                                r = each(userdata, path);
                        break;
                }
        }

        return r;
}
