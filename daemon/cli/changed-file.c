/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "attribute.h"
#include "changed-file.h"
#include "must.h"
#include "stack.h"

/* The maximum number of files of a drive. Limits the length of the find command. */
#define FILES_MAX 8U
/* The maximum number of descriptors that are examined, so that the search ends within about a second. */
#define DESCRIPTORS_MAX 100000U

/* ---- find commands ---- */

static bool has_number(const char *classdir, char *const *devices, const char *number) {
        for (; devices && *devices; devices++) {
                char text[32];
                unsigned major, minor;

                if (stack_number(classdir, *devices, &major, &minor) < 0)
                        continue;
                (void) snprintf(text, sizeof text, "%u:%u", major, minor);
                if (streq(text, number))
                        return true;
        }
        return false;
}

/* Returns true if the source of a btrfs mount is one of the devices. Paths that can leave /dev are not looked up, since they can be on a
 * drive in standby or on a network file system. */
static bool is_source(char *const *devices, const char *source) {
        _cleanup_free_ char *path = NULL;

        if (!starts_with(source, "/dev/") || strstr(source, "/../"))
                return false;
        path = realpath(source, NULL);
        return names_contain(devices, base_name(path ?: source));
}

/* A line of mountinfo (proc(5)). */
typedef struct Mount {
        unsigned id;
        char number[32]; /* device number */
        char root[PATH_MAX], point[PATH_MAX], type[32], source[PATH_MAX];
} Mount;

static bool mount_parse(const char *line, Mount *ret) {
        const char *rest = strstr(line, " - ");

        /* sscanf() is safe, since the kernel's numbers cannot overflow. */
        /* NOLINTNEXTLINE(cert-err34-c) */
        return rest && sscanf(line, "%u %*s %31s %4095s %4095s", &ret->id, ret->number, ret->root, ret->point) == 4 &&
               sscanf(rest, " - %31s %4095s", ret->type, ret->source) == 2;
}

/* The mounts of btrfs have device numbers that belong to no block device, so only the source tells the device. Other file systems without a
 * block device, such as tmpfs and FUSE, can have any text as source and any inode numbers. */
static bool mount_is_btrfs(const Mount *m) {
        return streq(m->type, "btrfs");
}

static bool mount_is_on(const Mount *m, const char *classdir, char *const *devices) {
        return mount_is_btrfs(m) ? is_source(devices, m->source) : has_number(classdir, devices, m->number);
}

/* Returns the drive and all devices stacked on the drive. */
static char **drive_devices(const char *classdir, const char *drive) {
        char **devices = NULL;

        (void) must_not_fail(stack_above(classdir, drive, &devices));
        (void) must_not_fail(names_add(&devices, drive));
        return devices;
}

/* Returns the first mount point of each whole file system in mountinfo. Omits mount points with blanks or with characters that a shell
 * interprets. Blanks are recognized by their backslash: mountinfo writes a blank as "\040". */
static char **mount_points(const char *mountinfo, const char *classdir, char *const *devices) {
        _cleanup_(names_freep) char **numbers = NULL;
        _cleanup_free_ char *line = NULL;
        char **points = NULL;
        size_t size = 0;
        FILE *f;

        f = fopen(mountinfo, "re");
        while (f && getline(&line, &size, f) > 0) {
                Mount m;

                if (!mount_parse(line, &m) || m.point[strcspn(m.point, "\\'\"$`*?[;&|<>()#!~")] != '\0' ||
                    !mount_is_on(&m, classdir, devices))
                        continue;
                if (mount_is_btrfs(&m) || (streq(m.root, "/") && !names_contain(numbers, m.number))) {
                        (void) must_not_fail(names_add(&numbers, m.number));
                        (void) must_not_fail(names_add(&points, m.point));
                }
        }
        if (f)
                (void) fclose(f);
        return points;
}

char *changed_file_command(const char *mountinfo, const char *classdir, const char *drive, const uint64_t *inodes,
                           size_t n_inodes) {
        _cleanup_(names_freep) char **devices = NULL, **points = NULL;
        char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        if (drive) {
                devices = drive_devices(classdir, drive);
                points = mount_points(mountinfo, classdir, devices);
        }

        fputs("find", f);
        for (char **p = points; p && *p; p++)
                fprintf(f, " %s", *p);
        fputs(points ? " -xdev" : " MOUNTPOINT -xdev", f);
        for (size_t i = 0; i < n_inodes; i++)
                fprintf(f, "%s -inum %" PRIu64, i > 0 ? " -o" : "", inodes[i]);
        must_close(f);
        return text;
}

/* ---- the files of records ---- */

/* Returns the current kernel name of the record's drive, or NULL if the drive is not attached. */
static const char *find_here(const Records *here, const WakeRecord *w) {
        for (size_t i = 0; i < here->n_items; i++)
                if (wake_record_is_of(w, here->items[i]->name, here->items[i]->serial))
                        return here->items[i]->name;
        return NULL;
}

void changed_files_add(ChangedFiles *f, const Records *here, const WakeRecord *w) {
        ChangedFile new = { .process = w->process, .inode = (uint64_t) w->inode.number };
        size_t n = 0;

        if (!w->inode.known)
                return;
        new.drive = find_here(here, w);
        new.attached = new.drive;
        new.drive = new.drive ?: w->drive;
        for (const ChangedFile *i = f->items; i < f->items + f->n_items; i++)
                if (i->attached == new.attached && streq(i->drive, new.drive)) {
                        if (i->inode == new.inode)
                                return;
                        n++;
                }
        if (n == FILES_MAX)
                return;
        must_grow(f, items);
        f->items[f->n_items++] = new;
}

void changed_files_done(ChangedFiles *f) {
        for (size_t i = 0; i < f->n_items; i++)
                free(f->items[i].path);
        free(f->items);
        *f = (ChangedFiles){};
}

const char *changed_files_path(const ChangedFiles *f, const Records *here, const WakeRecord *w) {
        const char *drive = f->n_items > 0 && w->inode.known ? find_here(here, w) : NULL;

        for (size_t i = 0; drive && i < f->n_items; i++)
                if (f->items[i].attached && f->items[i].inode == (uint64_t) w->inode.number &&
                    streq(f->items[i].drive, drive))
                        return f->items[i].path;
        return NULL;
}

void changed_files_print(const ChangedFiles *f, Output *o) {
        for (const ChangedFile *i = f->items; i < f->items + f->n_items; i++) {
                _cleanup_free_ char *command = NULL;
                uint64_t inodes[FILES_MAX];
                size_t n = 0;
                bool first = true;

                if (i->path)
                        output_note(o, "%s: inode %" PRIu64 " is the open file %s", i->drive, i->inode, i->path);
                for (const ChangedFile *k = f->items; k < f->items + f->n_items; k++)
                        if (!k->path && k->attached == i->attached && streq(k->drive, i->drive)) {
                                first = first && k >= i;
                                inodes[n++] = k->inode;
                        }
                if (i->path || !first)
                        continue;
                command = changed_file_command("/proc/self/mountinfo", INVENTORY_CLASSDIR,
                                               i->attached ? i->drive : NULL, inodes, n);
                output_note(o, "%s: '%s' finds the changed files by inode number, but wakes a drive in standby",
                            i->drive, command);
        }
}

/* ---- open files ---- */

/* Finds the mount with this ID in the mount namespace of a process. */
static bool find_mount(const char *proc, const char *pid, unsigned id, Mount *ret) {
        _cleanup_free_ char *path = must_format("%s/%s/mountinfo", proc, pid), *line = NULL;
        bool found = false;
        size_t size = 0;
        FILE *f;

        f = fopen(path, "re");
        while (f && !found && getline(&line, &size, f) > 0)
                found = mount_parse(line, ret) && ret->id == id;
        if (f)
                (void) fclose(f);
        return found;
}

/* Returns true if the process has the name that is in the record. Names in records are escaped. */
static bool has_name(const char *proc, const char *pid, const char *name) {
        _cleanup_free_ char *shown = NULL;
        char comm[64];

        if (!name || attribute_read(comm, sizeof comm, "%s/%s/comm", proc, pid) < 0)
                return false;
        shown = must(text_escape(comm, NULL));
        return streq(shown, name);
}

/* Examines one open file of a process. */
static void examine(ChangedFiles *f, const char *proc, const char *pid, const char *fd, const char *classdir) {
        char text[256], path[PATH_MAX];
        unsigned mount;
        uint64_t inode;

        /* stat(2) by way of /proc/PID/fd could wait for the server of a network file system. fdinfo only reads the kernel's memory. It
         * contains the inode since Linux 5.14. */
        if (attribute_read_all(text, sizeof text, "%s/%s/fdinfo/%s", proc, pid, fd) < 0)
                return;
        /* sscanf() is safe, since the kernel's numbers cannot overflow. */
        /* NOLINTNEXTLINE(cert-err34-c) */
        if (sscanf(text, "pos: %*s flags: %*s mnt_id: %u ino: %" SCNu64, &mount, &inode) != 2)
                return;

        for (ChangedFile *i = f->items; i < f->items + f->n_items; i++) {
                _cleanup_(names_freep) char **devices = NULL;
                _cleanup_free_ char *link = NULL;
                ssize_t n;
                Mount m;

                if (i->path || !i->attached || i->inode != inode || !find_mount(proc, pid, mount, &m))
                        continue;
                devices = drive_devices(classdir, i->drive);
                /* Files of several subvolumes of a btrfs can have the same inode number. Only the file of the recorded program counts. */
                if (!mount_is_on(&m, classdir, devices) || (mount_is_btrfs(&m) && !has_name(proc, pid, i->process)))
                        continue;
                link = must_format("%s/%s/fd/%s", proc, pid, fd);
                n = readlink(link, path, sizeof path);
                if (n > 0)
                        i->path = must(strndup(path, (size_t) n));
        }
}

void changed_files_find(ChangedFiles *f, const char *proc, const char *classdir) {
        unsigned left = DESCRIPTORS_MAX;
        const struct dirent *process, *fd;
        DIR *processes, *fds;

        if (f->n_items == 0 || geteuid() != 0)
                return;

        processes = opendir(proc);
        while (processes && left > 0 && (process = readdir(processes))) {
                _cleanup_free_ char *path = must_format("%s/%s/fdinfo", proc, process->d_name);

                fds = isdigit((unsigned char) process->d_name[0]) ? opendir(path) : NULL;
                for (; fds && left > 0 && (fd = readdir(fds)); left--)
                        if (isdigit((unsigned char) fd->d_name[0]))
                                examine(f, proc, process->d_name, fd->d_name, classdir);
                if (fds)
                        (void) closedir(fds);
        }
        if (processes)
                (void) closedir(processes);
}
