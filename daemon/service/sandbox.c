/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "call-filter.h"
#include "sandbox.h"

/* ---- files: Landlock ---- */

#define READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
/* All of Landlock's first version; what is not allowed below is forbidden. */
#define HANDLED ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

bool sandbox_lacks_landlock(void) {
        return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 0 &&
               (errno == ENOSYS || errno == EOPNOTSUPP);
}

/* What is not there need not be allowed. */
static int rules_allow(int rules, const char *path, uint64_t access) {
        _cleanup_close_ int fd = -EBADF;
        struct landlock_path_beneath_attr attr = { .allowed_access = access };

        fd = open(path, O_PATH | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT || errno == ENODEV || errno == ENXIO ? 0 : -errno;

        attr.parent_fd = fd;
        return syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0 ? -errno : 0;
}

int sandbox_prepare(void) {
        return call_filter_prepare();
}

/* ---- workers ---- */

size_t sandbox_own(const char *syspath) {
        static const char *const ports[] = { "/ata", "/nvme", "/nvme-subsys" };
        const char *end;

        for (const char *p = strchr(syspath, '/'); p; p = strchr(p + 1, '/'))
                for (size_t i = 0; i < ELEMENTSOF(ports); i++)
                        if (starts_with(p, ports[i]) && isdigit((unsigned char) p[strlen(ports[i])]))
                                return p + 1 + strcspn(p + 1, "/") - syspath;

        /* What else there is has a directory of its own, above "block". */
        end = strstr(syspath, "/block/");
        return end ? (size_t) (end - syspath) : strlen(syspath);
}

/* With the kernel's own multipathing a disk hangs on its subsystem, which has a link to each controller. */
static int rules_allow_controllers(int rules, const char *own, uint64_t access) {
        char pattern[PATH_MAX];
        glob_t found = {};
        int r = 0;

        if (!starts_with(base_name(own), "nvme-subsys"))
                return 0;

        (void) snprintf(pattern, sizeof pattern, "%s/nvme[0-9]*", own);
        if (glob(pattern, GLOB_NOSORT, NULL, &found) == GLOB_NOSPACE)
                r = -ENOMEM;
        for (size_t i = 0; i < found.gl_pathc && r >= 0; i++)
                r = rules_allow(rules, found.gl_pathv[i], access);
        globfree(&found);
        return r;
}

static int rules_allow_worker(int rules, const char *node, char *const *partitions, const char *own) {
        const uint64_t writing = READING | LANDLOCK_ACCESS_FS_WRITE_FILE;
        const struct {
                const char *path;
                uint64_t access;
        } allowed_paths[] = {
                { "/sys", READING },
                { "/proc", READING }, /* tells what is mounted */
                { own, writing },
                { node, LANDLOCK_ACCESS_FS_READ_FILE },
        };
        char path[PATH_MAX];
        int r;

        r = rules_allow_controllers(rules, own, writing);
        for (size_t i = 0; i < ELEMENTSOF(allowed_paths) && r >= 0; i++)
                r = rules_allow(rules, allowed_paths[i].path, allowed_paths[i].access);
        for (; r >= 0 && partitions && *partitions; partitions++) {
                (void) snprintf(path, sizeof path, "/dev/%s", *partitions);
                r = rules_allow(rules, path, LANDLOCK_ACCESS_FS_READ_FILE);
        }
        return r;
}

/* Without a node no file at all may be opened. Connecting to a socket is none of Landlock's first version. */
static int limit_files(const char *node, char *const *partitions, const char *own) {
        const struct landlock_ruleset_attr attr = { .handled_access_fs = HANDLED };
        _cleanup_close_ int rules = -EBADF;
        int r = 0;

        rules = syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
        if (rules < 0)
                return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -errno;

        if (node)
                r = rules_allow_worker(rules, node, partitions, own);
        if (r < 0)
                return r;
        return syscall(SYS_landlock_restrict_self, rules, 0) < 0 ? -errno : 0;
}

int sandbox_worker(const char *node, char *const *partitions, const char *own) {
        int r;

        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return -errno;
        r = limit_files(node, partitions, own);
        return r < 0 ? r : call_filter_load();
}

/* ---- the asker ---- */

int sandbox_asker(void) {
        const struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

        if (syscall(SYS_capset, &header, none) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return -errno;
        return limit_files(NULL, NULL, NULL);
}
