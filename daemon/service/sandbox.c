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

/* ---- files and processes: Landlock ---- */

#define READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITING (READING | LANDLOCK_ACCESS_FS_WRITE_FILE)
/* All rights of Landlock's first version; a right that is not allowed below is forbidden. The filters of system calls limit ioctl() and
 * truncation, which are rights of later versions. */
#define HANDLED ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

/* Linux 6.12 has these; the headers may be older. An older kernel takes the longer structure if the members that it does not know are 0. */
#define SCOPE_VERSION 6
#ifndef LANDLOCK_SCOPE_SIGNAL
#define LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)
#define LANDLOCK_SCOPE_SIGNAL (1ULL << 1)
#endif
typedef struct RulesetAttr {
        uint64_t handled_access_fs, handled_access_net, scoped;
} RulesetAttr;

static long landlock_version(void) {
        return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

bool sandbox_lacks_landlock(void) {
        return landlock_version() < 0 && (errno == ENOSYS || errno == EOPNOTSUPP);
}

/* Rules that allow nothing yet; *ret is negative where the kernel has no Landlock. From Linux 6.12 on the process can signal no process
 * outside, nor connect to its abstract sockets. Landlock does not cover sockets with a path. */
static int rules_new(int *ret) {
        const uint64_t scopes = LANDLOCK_SCOPE_SIGNAL | LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET;
        const RulesetAttr attr = { .handled_access_fs = HANDLED,
                                   .scoped = landlock_version() >= SCOPE_VERSION ? scopes : 0 };

        *ret = syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
        return *ret >= 0 || errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -errno;
}

/* What is not there need not be allowed. */
static int rules_allow(int rules, const char *path, uint64_t access) {
        _cleanup_close_ int fd = -EBADF;
        struct landlock_path_beneath_attr attr = { .allowed_access = access };

        if (rules < 0)
                return 0;
        fd = open(path, O_PATH | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT || errno == ENODEV || errno == ENXIO ? 0 : -errno;

        attr.parent_fd = fd;
        return syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0 ? -errno : 0;
}

static int sandbox_close(int rules, CallUser user) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return -errno;
        if (rules >= 0 && syscall(SYS_landlock_restrict_self, rules, 0) < 0)
                return -errno;
        return call_filter_load(user);
}

/* ---- common to workers and askers ---- */

int sandbox_prepare(void) {
        int r;

        r = call_filter_prepare(CALLS_WORKER);
        return r < 0 ? r : call_filter_prepare(CALLS_ASKER);
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

static int rules_allow_worker(int rules, const char *node, char *const *partitions, const char *syspath) {
        _cleanup_free_ char *own = strndup(syspath, sandbox_own(syspath));
        const struct {
                const char *path;
                uint64_t access;
        } allowed_paths[] = {
                { "/sys", READING },
                { "/proc", READING }, /* tells what is mounted */
                { own, WRITING },
                { node, LANDLOCK_ACCESS_FS_READ_FILE },
        };
        char path[PATH_MAX];
        int r;

        if (!own)
                return -ENOMEM;
        r = rules_allow_controllers(rules, own, WRITING);
        /* The link "bdi" leads to a directory elsewhere in sysfs. */
        (void) snprintf(path, sizeof path, "%s/bdi", syspath);
        if (r >= 0 && *syspath)
                r = rules_allow(rules, path, WRITING);
        for (size_t i = 0; i < ELEMENTSOF(allowed_paths) && r >= 0; i++)
                r = rules_allow(rules, allowed_paths[i].path, allowed_paths[i].access);
        for (; r >= 0 && partitions && *partitions; partitions++) {
                (void) snprintf(path, sizeof path, "/dev/%s", *partitions);
                r = rules_allow(rules, path, LANDLOCK_ACCESS_FS_READ_FILE);
        }
        return r;
}

int sandbox_worker(const char *node, char *const *partitions, const char *syspath) {
        _cleanup_close_ int rules = -EBADF;
        int r;

        r = rules_new(&rules);
        if (r >= 0)
                r = rules_allow_worker(rules, node, partitions, syspath);
        return r < 0 ? r : sandbox_close(rules, CALLS_WORKER);
}

/* ---- the asker ---- */

int sandbox_asker(void) {
        const struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
        _cleanup_close_ int rules = -EBADF;
        int r;

        if (syscall(SYS_capset, &header, none) < 0)
                return -errno;
        r = rules_new(&rules);
        return r < 0 ? r : sandbox_close(rules, CALLS_ASKER);
}

/* ---- the tracer ---- */

/* The rest of tracefs lies below /sys/kernel, which stays closed. */
int sandbox_tracer(const char *instance) {
        static const char *const read_paths[] = { "/proc", "/sys/class/block", "/sys/devices", "/sys/fs/cgroup" };
        _cleanup_close_ int rules = -EBADF;
        int r;

        r = rules_new(&rules);
        for (size_t i = 0; i < ELEMENTSOF(read_paths) && r >= 0; i++)
                r = rules_allow(rules, read_paths[i], READING);
        if (r >= 0)
                r = rules_allow(rules, instance, WRITING);
        return r < 0 ? r : sandbox_close(rules, CALLS_TRACER);
}
