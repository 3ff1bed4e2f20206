/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "safe-file.h"
#include "tree.h"

char *tree_read(const char *root, const char *path, bool executable) {
        _cleanup_free_ char *below_root = must_format("%s%s", root, path);
        /* O_PATH does not open the file itself, so opening a pipe or a device has no effect on it. */
        _cleanup_close_ int node = open(below_root, O_PATH | O_CLOEXEC), fd = -EBADF;
        _cleanup_free_ char *text = NULL;
        const char *objection;
        struct stat st;
        char name[32];
        size_t size;

        if (node < 0 || fstat(node, &st) < 0 || !S_ISREG(st.st_mode) || (executable && !(st.st_mode & 0111)))
                return NULL;
        (void) snprintf(name, sizeof name, "/proc/self/fd/%d", node);
        fd = open(name, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || must_not_fail(text_descriptor_read(fd, &text, &size, &objection)) != 0)
                return NULL;
        return memchr(text, '\0', size) ? NULL : TAKE_PTR(text);
}

Words tree_glob(const char *root, const char *before, const char *name, const char *behind) {
        char pattern[PATH_MAX];
        int n = snprintf(pattern, sizeof pattern, "%s%s%s%s", root, before, name, behind);
        glob_t found = {};
        Words paths = {};

        /* GLOB_NOESCAPE, because the names of units may contain backslashes. */
        if (n < PATH_MAX && glob(pattern, GLOB_BRACE | GLOB_NOESCAPE, NULL, &found) == GLOB_NOSPACE)
                (void) must(NULL);
        for (size_t i = 0; i < found.gl_pathc; i++)
                words_add(&paths, found.gl_pathv[i] + strlen(root), PATH_MAX);
        globfree(&found);
        return paths;
}

char *tree_target(const char *root, const char *path) {
        _cleanup_free_ char *below_root = must_format("%s%s", root, path);
        char target[PATH_MAX];
        ssize_t n = readlink(below_root, target, sizeof target - 1);

        return n > 0 ? must(strndup(target, (size_t) n)) : NULL;
}

bool tree_masks(const char *root, const char *path) {
        _cleanup_free_ char *target = tree_target(root, path), *text = tree_read(root, path, false);

        return streq_ptr(target, "/dev/null") || (text && !*text);
}
