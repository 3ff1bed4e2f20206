/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "rival.h"
#include "text-file.h"

char *tree_read(const Rivals *r, const char *path, bool executable) {
        struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
        _cleanup_close_ int node = -EBADF, fd = -EBADF;
        _cleanup_free_ char *text = NULL;
        const char *objection;
        struct stat st;
        char name[32];
        size_t size;

        /* Opens nothing but the name: a pipe or a device is not touched. */
        node = streq(r->root, "/") ? open(path, (int) how.flags)
                                   : (int) syscall(SYS_openat2, r->root_fd, path, &how, sizeof how);
        if (node < 0 || fstat(node, &st) < 0 || !S_ISREG(st.st_mode) || (executable && !(st.st_mode & 0111)))
                return NULL;
        (void) snprintf(name, sizeof name, "/proc/self/fd/%d", node);
        fd = open(name, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || must_not_fail(text_descriptor_read(fd, &text, &size, &objection)) != 0)
                return NULL;
        return memchr(text, '\0', size) ? NULL : TAKE_PTR(text);
}

Words tree_glob(const Rivals *r, const char *before, const char *name, const char *behind) {
        char pattern[PATH_MAX];
        int n = snprintf(pattern, sizeof pattern, "%s%s%s%s", r->root, before, name, behind);
        glob_t found = {};
        Words paths = {};

        /* Units' names have backslashes. */
        if (n < PATH_MAX && glob(pattern, GLOB_BRACE | GLOB_NOESCAPE, NULL, &found) == GLOB_NOSPACE)
                (void) must(NULL);
        for (size_t i = 0; i < found.gl_pathc; i++)
                words_add(&paths, found.gl_pathv[i] + strlen(r->root), PATH_MAX);
        globfree(&found);
        return paths;
}

bool tree_is_active(const Rivals *r, const char *name) {
        bool unit = !strchr(name, '/');
        _cleanup_(words_done) Words found = tree_glob(r, unit ? UNITS : "", name, unit ? ".service" : ""), wanted = {};
        _cleanup_free_ char *text = found.n_items > 0 ? tree_read(r, found.items[0], false) : NULL;

        /* A link to /dev/null and an empty file mask what has the same name further down. */
        if (!text || !*text)
                return false;
        /* A unit that nothing could enable is started by something else. */
        if (!unit || !strstr(text, "\n[Install]"))
                return true;
        /* "name@.service" is wanted as "name@sda.service". */
        wanted = tree_glob(r, UNITS "*.{wants,requires}/", name, ends_with(name, "@") ? "*.service" : ".service");
        return wanted.n_items > 0;
}
