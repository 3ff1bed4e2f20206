/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is written into files below /sys: echo, tee, and ATTR of udev rules. */

#include <ctype.h>
#include <stdio.h>

#include "command.h"
#include "commands.h"
#include "shell.h"

typedef enum AttributeClass {
        CLASS_BLOCK,
        CLASS_SCSI_DISK, /* in …/scsi_disk/DIRECTORY, or below "device" */
        CLASS_NVME,      /* in …/nvme/DIRECTORY, or below "device" */
} AttributeClass;

/* clang-format off */
/* Those below /sys/block/NAME, and in the directories of its SCSI disk and of its NVMe controller. */
static const struct {
        const char *key; /* NULL: as the last part of the attribute's name */
        char attribute[36], unit[3];
        AttributeClass class : 8;
} attributes[] = {
        { NULL,                "/queue/scheduler" },
        { NULL,                "/queue/nr_requests" },
        { NULL,                "/queue/read_ahead_kb" },
        { NULL,                "/bdi/read_ahead_kb" },
        { NULL,                "/queue/max_sectors_kb" },
        { NULL,                "/queue/wbt_lat_usec",                 "us" },
        { NULL,                "/queue/rotational" },
        { NULL,                "/queue/add_random" },
        { NULL,                "/queue/rq_affinity" },
        { NULL,                "/queue/nomerges" },
        { NULL,                "/queue/iostats" },
        { NULL,                "/queue/io_timeout",                   "ms" },
        { NULL,                "/device/timeout",                     "s" },
        { NULL,                "/device/eh_timeout",                  "s" },
        { NULL,                "/device/queue_depth" },
        { NULL,                "/device/ncq_prio_enable" },
        { "ncq_prio_enable",   "/device/sas_ncq_prio_enable" },
        { NULL,                "/device/cdl_enable" },
        { "runtime_pm",        "/device/power/control" },
        { "autosuspend_delay", "/device/power/autosuspend_delay_ms",  "ms" },
        { NULL,                "/queue/discard_max_bytes" },
        { "queue_write_cache", "/queue/write_cache" },
        { NULL,                "/cache_type",                         "",   CLASS_SCSI_DISK },
        { NULL,                "/allow_restart",                      "",   CLASS_SCSI_DISK },
        { NULL,                "/max_retries",                        "",   CLASS_SCSI_DISK },
        { NULL,                "/manage_start_stop",                  "",   CLASS_SCSI_DISK },
        { NULL,                "/manage_system_start_stop",           "",   CLASS_SCSI_DISK },
        { NULL,                "/manage_runtime_start_stop",          "",   CLASS_SCSI_DISK },
        { NULL,                "/manage_shutdown",                    "",   CLASS_SCSI_DISK },
        { NULL,                "/hmb",                                "",   CLASS_NVME },
        { "apst_latency",      "/power/pm_qos_latency_tolerance_us",  "us", CLASS_NVME },
};
/* clang-format on */

static bool ends_at(const char *path, size_t length, const char *word) {
        size_t n = strlen(word);

        return length >= n && memcmp(path + length - n, word, n) == 0;
}

/* The file is HEAD/ATTRIBUTE, where HEAD is what says which drive is meant. Of SCSI disks that is what is before
 * "device/scsi_disk/…", if that is there. */
static bool is_attribute(size_t row, const char *path, size_t *ret_head) {
        const char *class = attributes[row].class == CLASS_NVME ? "/nvme" : "/scsi_disk", *directory;
        size_t n = strlen(path);

        if (!ends_at(path, n, attributes[row].attribute))
                return false;
        *ret_head = n -= strlen(attributes[row].attribute);
        if (attributes[row].class == CLASS_BLOCK)
                return true;

        directory = memrchr(path, '/', n);
        if (directory && ends_at(path, (size_t) (directory - path), class)) {
                n = (size_t) (directory - path) - strlen(class);
                if (!ends_at(path, n, "/device"))
                        return true;
        }
        *ret_head = n - strlen("/device");
        return ends_at(path, n, "/device");
}

/* The attribute that the path ends with, or ELEMENTSOF(attributes). */
static size_t find_attribute(const char *path, size_t *ret_head) {
        size_t i = 0;

        while (i < ELEMENTSOF(attributes) && !is_attribute(i, path, ret_head))
                i++;
        return i;
}

static const char *attribute_key(size_t row) {
        return attributes[row].key ?: base_name(attributes[row].attribute);
}

static int attribute_setting(size_t row, const char *value, const char **ret_key, char **ret_value) {
        static const char temporary[] = "temporary ";
        const char *key = attribute_key(row), *unit = attributes[row].unit;

        if (streq(key, "cache_type")) {
                /* Without that word the kernel sets the drive. */
                if (starts_with(value, temporary))
                        value += strlen(temporary);
                else {
                        key = "write_cache";
                        value = streq(value, "write back") ? "on" : streq(value, "write through") ? "off" : value;
                }
        }
        if (streq(value, "-1") && streq(key, "autosuspend_delay"))
                value = "never";
        else if (streq(value, "-1") && streq(key, "max_retries"))
                value = "unlimited";

        *ret_key = key;
        return asprintf(ret_value, "%s%s", value, isalpha((unsigned char) *value) ? "" : unit) < 0 ? -ENOMEM : 0;
}

int sysfs_setting(const char *attribute, const char *value, const char **ret_key, char **ret_value) {
        _cleanup_free_ char *path = NULL;
        size_t row, head;

        *ret_key = NULL;
        *ret_value = NULL;
        if (asprintf(&path, "/%s", attribute) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        row = find_attribute(path, &head);
        return row < ELEMENTSOF(attributes) && head == 0 ? attribute_setting(row, value, ret_key, ret_value) : 0;
}

static bool is_one_of(const char *s, size_t n, const char *const *words) {
        for (; *words; words++)
                if (strlen(*words) == n && memcmp(s, *words, n) == 0)
                        return true;

        return false;
}

/* Is "HEAD" in HEAD/queue/scheduler what udev rules say for the directory of the drive that they are for? */
static bool is_own_drive(const char *head, size_t n) {
        static const char *const names[] = { "%k", "$kernel", "$name", "$$name", NULL };
        static const char *const paths[] = { "%p",         "$devpath",      "$DEVPATH",    "$$DEVPATH",
                                             "${DEVPATH}", "$env{DEVPATH}", "%E{DEVPATH}", NULL };
        static const char *const below[] = { "/sys/block/", "/sys/class/block/" };
        static const char *const roots[] = { "/sys/", "/sys", "$sys", "%S" };

        for (size_t i = 0; i < ELEMENTSOF(below); i++)
                if (n > strlen(below[i]) && starts_with(head, below[i]))
                        return is_one_of(head + strlen(below[i]), n - strlen(below[i]), names);
        for (size_t i = 0; i < ELEMENTSOF(roots); i++)
                if (n > strlen(roots[i]) && starts_with(head, roots[i]) &&
                    is_one_of(head + strlen(roots[i]), n - strlen(roots[i]), paths))
                        return true;

        return false;
}

/* Is it a file that belongs to a drive, or to the adapter on which drives hang? */
static bool is_about_drives(const char *path) {
        static const char *const starts[] = {
                "/sys/block/",           "/sys/class/block/",       "/sys/class/scsi_disk/",
                "/sys/class/scsi_host/", "/sys/class/scsi_device/", "/sys/class/nvme/",
                "/sys/class/ata_",       "/sys/bus/scsi/"
        };
        static const char *const pieces[] = { "/block/", "/host", "/ata", "/nvme/", "/scsi_disk/" };

        for (size_t i = 0; i < ELEMENTSOF(starts); i++)
                if (starts_with(path, starts[i]))
                        return true;
        for (size_t i = 0; i < ELEMENTSOF(pieces) && starts_with(path, "/sys/devices/"); i++)
                if (strstr(path, pieces[i]))
                        return true;

        return false;
}

int command_unread(const Place *p, const char *shown) {
        ImportRule *rule;
        int r;

        r = import_add_rule(p->import, p->line, &rule);
        return r < 0 ? r : remark(&rule->remarks, "%.200s: drivekeep does not read this", shown);
}

int command_write_host(const Place *p, const char *attribute, const char *value, const char *shown) {
        Command c = { .line = p->line };
        int r;

        if (!streq(attribute, "link_power_management_policy"))
                return 0;

        r = import_add_rule(p->import, p->line, &c.rule);
        if (r >= 0)
                r = remark(&c.rule->remarks, "%.200s", shown);
        if (r >= 0)
                r = remark(&c.rule->remarks, "this is the adapter's, and means all drives that hang on it");
        if (r >= 0)
                r = command_want(&c, "link_power_management", value);
        if (r >= 0)
                r = command_guess(&c, MATCH_TRANSPORT, "sata");
        return r < 0 ? r : 1;
}

/* HEAD/queue/scheduler: the drive that HEAD stands for. */
static int head_device(Command *c, const char *head, size_t n) {
        _cleanup_free_ char *node = NULL, *copy = strndup(head, n);
        const char *name;

        if (!copy)
                return -ENOMEM;
        if (c->given && is_own_drive(head, n))
                return 0;

        /* "…/block/NAME", "…/nvme/NAME". Of a rule's command, what is open here is not the rule's own drive. */
        name = strrchr(copy, '/');
        if (name &&
            (ends_at(copy, (size_t) (name - copy), "/block") || ends_at(copy, (size_t) (name - copy), "/nvme")) &&
            !(c->given && (shell_is_open(name) || strchr(name, '%')))) {
                if (asprintf(&node, "/dev%s", name) < 0) {
                        node = NULL;
                        return -ENOMEM;
                }
                return command_device(c, node);
        }

        c->open = true;
        return remark(&c->rule->remarks, "which drive %.60s is, is known only when the command runs", copy);
}

int command_write(const Place *p, const char *path, const char *value, const char *shown) {
        _cleanup_free_ char *ours = NULL;
        const char *base = strrchr(path, '/'), *key;
        size_t head, row = find_attribute(path, &head);
        Command c = { .line = p->line, .given = p->match };
        bool below = starts_with(path, "/sys/") || (base && (shell_is_open(path) || strchr(path, '%')));
        int r;

        if (!below || !base)
                return 0;
        if (row < ELEMENTSOF(attributes) && (!value || shell_is_open(value))) {
                r = import_add_rule(p->import, p->line, &c.rule);
                return r < 0 ? r
                             : remark(&c.rule->remarks, "%.200s: the value of %s is known only when the command runs",
                                      shown, attribute_key(row));
        }
        if (!value || shell_is_open(value) || *value == '\0')
                return row < ELEMENTSOF(attributes) || is_about_drives(path) ? command_unread(p, shown) : 0;

        r = command_write_host(p, base + 1, value, shown);
        if (r != 0)
                return r < 0 ? r : 0;
        if (row == ELEMENTSOF(attributes)) {
                bool own = p->match && (starts_with(path, "/sys%") || starts_with(path, "/sys$") ||
                                        starts_with(path, "/sys/%") || starts_with(path, "/sys/$"));

                return own || is_about_drives(path) ? command_unread(p, shown) : 0;
        }

        r = attribute_setting(row, value, &key, &ours);
        if (r >= 0)
                r = import_add_rule(p->import, p->line, &c.rule);
        if (r >= 0)
                r = remark(&c.rule->remarks, "%.200s", shown);
        if (r >= 0)
                r = head_device(&c, path, head);
        if (r >= 0)
                r = command_want(&c, key, ours);
        return r < 0 ? r : command_settle(&c, p);
}

char *echo_said(const Words *w, size_t i) {
        bool echo = !strstr(w->items[i++], "printf");
        char *text;
        size_t n;

        while (echo && i < w->n_items && w->items[i][0] == '-' && w->items[i][1] &&
               w->items[i][1 + strspn(w->items[i] + 1, "neE")] == '\0')
                i++;
        if (!echo && i + 2 == w->n_items && (streq(w->items[i], "%s") || streq(w->items[i], "%s\\n")))
                i++;
        else if (!echo && (i + 1 != w->n_items || strchr(w->items[i], '%')))
                return NULL;

        text = words_join(w, i);
        if (!text)
                return NULL;

        n = strlen(text);
        if (n > 2 && streq(text + n - 2, "\\n"))
                text[n - 2] = '\0';
        return text;
}

int command_output(const Place *p, const char *said, const char *with, const char *file) {
        _cleanup_free_ char *shown = NULL;

        if (asprintf(&shown, "%s%.40s%s%s %.100s", said ? "echo " : "", said ?: "", said ? " " : "", with, file) < 0) {
                shown = NULL;
                return -ENOMEM;
        }
        return command_write(p, file, said, shown);
}

/* The shell's reader ends a command at a '|' as it does at a ';'. */
int tee_command(const Place *p, const Words *w, size_t i, const char *said) {
        int r = 0;

        for (i++; i < w->n_items && r >= 0; i++)
                if (w->items[i][0] != '-')
                        r = command_output(p, said, said ? "| tee" : "tee", w->items[i]);
        return r;
}
