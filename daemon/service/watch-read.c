/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdio.h>
#include <systemd/sd-login.h>

#include "attribute.h"
#include "stack.h"
#include "watch-read.h"

/* ---- the drive ---- */

static void add_btrfs(WatchDrive *w, const char *btrfsdir, const char *name) {
        unsigned number;

        if (w->n_above < WATCH_ABOVE_MAX && stack_btrfs(btrfsdir, name, &number) >= 0)
                w->above[w->n_above++] = (WatchDevice){ WATCH_BTRFS, number };
}

int watch_drive_read(const char *classdir, const char *btrfsdir, const Drive *d, WatchDrive *ret) {
        _cleanup_(names_freep) char **above = NULL;
        WatchDrive w = {};
        const char *name;
        int r;

        r = stack_number(classdir, d->name, &w.disk.major, &w.disk.minor);
        if (r < 0)
                return r;

        /* The path ends like "/2:0:0:0/block/sda". sscanf() is safe, since the kernel's numbers cannot overflow. */
        name = strstr(d->syspath, "/block/");
        while (name && name > d->syspath && name[-1] != '/')
                name--;
        /* NOLINTNEXTLINE(cert-err34-c) */
        if (!name || sscanf(name, "%u:%u:%u:%" SCNu64 "/", &w.host, &w.channel, &w.id, &w.lun) != 4)
                return -ENODEV;

        add_btrfs(&w, btrfsdir, d->name);
        r = stack_above(classdir, d->name, &above);
        for (char **n = above; r >= 0 && n && *n && w.n_above < WATCH_ABOVE_MAX; n++) {
                WatchDevice *a = w.above + w.n_above;

                /* Skips partitions, since the kernel traces requests to a partition as requests to its disk. */
                if (!attribute_exists("%s/%s/partition", classdir, *n) &&
                    stack_number(classdir, *n, &a->major, &a->minor) >= 0)
                        w.n_above++;
                add_btrfs(&w, btrfsdir, *n);
        }
        if (r < 0)
                return r;

        *ret = w;
        return 0;
}

/* ---- processes ---- */

#define PF_KTHREAD 0x00200000UL /* include/linux/sched.h */

/* Reads the process (thread group) ID of a thread. */
static int read_tgid(const char *proc, pid_t tid, pid_t *ret) {
        char status[2048];
        const char *line;
        int r;

        r = attribute_read_all(status, sizeof status, "%s/%d/status", proc, tid);
        if (r < 0)
                return -ESRCH;
        /* The process name, which comes first in the file, cannot contain a fake "Tgid:" line: the kernel escapes line feeds in the name
         * (proc_pid_status()). */
        line = strstr(status, "\nTgid:");
        *ret = line ? (pid_t) strtol(line + strlen("\nTgid:"), NULL, 10) : 0;
        return *ret > 0 ? 0 : -ESRCH;
}

/* Reads the process flags from /proc/PID/stat (proc(5)): the seventh word after the name. The name is in parentheses
 * and may contain any character. */
static int is_kernel_thread(const char *proc, pid_t pid) {
        unsigned long flags;
        char stat[1024];
        const char *tail;
        int r;

        r = attribute_read_all(stat, sizeof stat, "%s/%d/stat", proc, pid);
        tail = r >= 0 ? strrchr(stat, ')') : NULL;
        /* sscanf() is safe, since the kernel's numbers cannot overflow. */
        /* NOLINTNEXTLINE(cert-err34-c) */
        if (!tail || sscanf(tail + 1, " %*c %*d %*d %*d %*d %*d %lu", &flags) != 1)
                return -ESRCH;
        return !!(flags & PF_KTHREAD);
}

/* Reads as much of the command line as fits. The NULs between the words become spaces. */
static void read_command_line(const char *proc, pid_t pid, char *buf, size_t size) {
        char path[64];
        FILE *f;
        size_t n;

        (void) snprintf(path, sizeof path, "%s/%d/cmdline", proc, pid);
        f = fopen(path, "re");
        n = f ? fread(buf, 1, size - 1, f) : 0;
        if (f)
                (void) fclose(f);

        while (n > 0 && buf[n - 1] == '\0')
                n--;
        for (size_t i = 0; i < n; i++)
                if (buf[i] == '\0')
                        buf[i] = ' ';
        buf[n] = '\0';
}

int process_lookup_at(const char *proc, pid_t tid, WakeProcess *ret, bool *ret_kernel) {
        WakeProcess p = {};
        int r;

        r = read_tgid(proc, tid, &p.pid);
        if (r >= 0)
                r = is_kernel_thread(proc, p.pid);
        if (r < 0)
                return r;
        *ret_kernel = r;

        if (attribute_read(p.comm, sizeof p.comm, "%s/%d/comm", proc, p.pid) < 0)
                return -ESRCH;
        if (!*ret_kernel)
                read_command_line(proc, p.pid, p.command_line, sizeof p.command_line);
        *ret = p;
        return 0;
}

/* Finds the unit of a process. For a service of a user's manager (user@UID.service), this is the user unit. */
static void find_unit(WakeProcess *p) {
        _cleanup_free_ char *unit = NULL, *user_unit = NULL;

        if (sd_pid_get_unit(p->pid, &unit) < 0)
                return;
        if (starts_with(unit, "user@") && sd_pid_get_user_unit(p->pid, &user_unit) >= 0)
                (void) snprintf(p->unit, sizeof p->unit, "%s", user_unit);
        else
                (void) snprintf(p->unit, sizeof p->unit, "%s", unit);
}

int process_lookup(void *userdata _unused_, pid_t tid, WakeProcess *ret, bool *ret_kernel) {
        int r;

        r = process_lookup_at("/proc", tid, ret, ret_kernel);
        if (r >= 0 && !*ret_kernel)
                find_unit(ret);
        return r;
}

/* ---- swap space ---- */

static uint64_t read_number(const char *classdir, const char *name, const char *attribute) {
        char text[32];

        return attribute_read(text, sizeof text, "%s/%s/%s", classdir, name, attribute) < 0 ? 0
                                                                                            : strtoull(text, NULL, 10);
}

/* Adds the block device `name`, which is swap space, to the watch. */
static void add_swap(const char *classdir, const char *name, Watch *w) {
        char whole[WAKE_TEXT_MAX];
        WatchDevice d, disk;

        if (stack_number(classdir, name, &d.major, &d.minor) < 0)
                return;
        for (unsigned i = 0; i < w->drive.n_above; i++)
                if (watch_device_equal(w->drive.above[i], d))
                        w->swap_above[i] = true;

        /* Finds the directory of the whole disk. If `name` is a partition, this is the parent of the partition's
         * directory. */
        (void) snprintf(whole, sizeof whole, "%s%s", name,
                        attribute_exists("%s/%s/partition", classdir, name) ? "/.." : "");
        if (stack_number(classdir, whole, &disk.major, &disk.minor) < 0 || !watch_device_equal(disk, w->drive.disk) ||
            w->n_swap == WATCH_SWAP_MAX)
                return;
        w->swap[w->n_swap].start = read_number(classdir, name, "start");
        w->swap[w->n_swap++].size = read_number(classdir, name, "size");
}

/* Uses only the last component of each path, since this process may see another /dev than the kernel. */
void process_find_swap(const char *swaps, const char *classdir, Watch *w) {
        char line[512], path[256], type[16];
        FILE *f;

        f = fopen(swaps, "re");
        while (f && fgets(line, sizeof line, f))
                if (sscanf(line, "%255s %15s", path, type) == 2 && streq(type, "partition"))
                        add_swap(classdir, base_name(path), w);
        if (f)
                (void) fclose(f);
}
