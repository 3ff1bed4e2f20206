/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files that say what is to be written below /sys: tmpfiles.d(5)'s "w" lines, and sysfsutils' sysfs.conf(5). */

#include <stdio.h>

#include "commands.h"
#include "lines.h"
#include "rival.h"

#define SYS_BLOCK "/sys/block/"
#define SYS "/sys/"

typedef struct Look {
        const Rivals *rivals;
        Claim claim;
        int (*read)(const struct Look *look, char *line);
} Look;

/* "/sys/block/sda/queue/scheduler": the drive, which may be a glob, and the attribute. */
static int claim_attribute(const Look *look, const char *path, const char *value) {
        _cleanup_(match_done) Match match = {};
        _cleanup_free_ char *node = NULL, *ours = NULL;
        Claim c = look->claim;
        const char *name, *key;
        size_t n;
        int k;

        if (strncmp(path, SYS_BLOCK, strlen(SYS_BLOCK)) != 0 || !value)
                return 0;
        name = path + strlen(SYS_BLOCK);
        n = strcspn(name, "/");

        k = sysfs_setting(name + n + (name[n] == '/'), value, &key, &ours);
        if (k < 0 || !key)
                return k;
        if (asprintf(&node, "/dev/%.*s", (int) n, name) < 0) {
                node = NULL;
                return -ENOMEM;
        }
        k = match_add(&match, MATCH_NODE, NULL, node);
        if (k < 0)
                return k == -ENOMEM ? k : 0;

        c.match = &match;
        c.key = key;
        c.value = ours;
        return claim_check(look->rivals, &c);
}

/* Type, path, mode, user, group, age, argument. */
static int read_tmpfiles(const Look *look, char *line) {
        char *field[6], *saved, *argument;

        for (size_t i = 0; i < ELEMENTSOF(field); i++) {
                field[i] = strtok_r(i == 0 ? line : NULL, " \t", &saved);
                if (!field[i])
                        return 0;
        }
        argument = strtok_r(NULL, "", &saved);
        if (field[0][0] != 'w' || !argument)
                return 0;
        return claim_attribute(look, field[1], argument + strspn(argument, " \t"));
}

/* block/sda/queue/scheduler = bfq */
static int read_sysfs_conf(const Look *look, char *line) {
        _cleanup_free_ char *path = NULL;
        char *value = strchr(line, '=');

        if (!value)
                return 0;
        *value++ = '\0';
        line[strcspn(line, " \t")] = '\0';
        if (asprintf(&path, SYS "%s", line) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        return claim_attribute(look, path, value + strspn(value, " \t"));
}

static int check_file(void *userdata, const char *path) {
        _cleanup_free_ char *text = NULL, *line = NULL;
        Look look = *(const Look *) userdata;
        Lines lines = {};
        size_t size;
        int k;

        k = tree_read(look.rivals->tree, path, &text, &size);
        if (k <= 0)
                return k;

        look.claim.file = path;
        look.claim.text = lines.next = text;
        for (k = lines_next(&lines, false, &line); k > 0; k = lines_next(&lines, false, &line)) {
                if (*line == '#')
                        continue;
                look.claim.line = lines.line;
                k = look.read(&look, line);
                if (k < 0)
                        break;
        }

        return k;
}

int rival_sysfs(const Rivals *r) {
        static const char *const tmpfiles[] = { "/etc/tmpfiles.d", "/run/tmpfiles.d", "/usr/local/lib/tmpfiles.d",
                                                "/usr/lib/tmpfiles.d", NULL };
        static const char *const sysfs[] = { "/etc/sysfs.d", NULL };
        Look look = {
                .rivals = r,
                .claim = {
                        .level = COMPLAINT_WARNING,
                        .who = "systemd-tmpfiles",
                        .when = "by this line at boot",
                        .cure = "take this line out",
                },
                .read = read_tmpfiles,
        };
        int k;

        k = tree_each(r->tree, tmpfiles, ".conf", check_file, &look);
        if (k < 0)
                return k;

        look.claim.who = "sysfsutils";
        look.read = read_sysfs_conf;
        claim_by_presence(&look.claim,
                          tree_exists(r->tree, "/etc/init.d/sysfsutils") ? PRESENCE_ACTIVE : PRESENCE_ABSENT);
        k = tree_each(r->tree, sysfs, ".conf", check_file, &look);
        return k < 0 ? k : check_file(&look, "/etc/sysfs.conf");
}
