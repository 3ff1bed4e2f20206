/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Translates writes to files below /sys, from echo and tee, udev's ATTR, tmpfiles.d and sysfs.conf. */

#include <fnmatch.h>

#include "command-rule.h"

/* Pattern for paths below a SCSI device. The name of the block device is not in such a path. */
#define SCSI_DEVICE "/sys/@(class/scsi_device/*|class/scsi_generic/*|bus/scsi/devices/*|devices/*/target*)/*"

/* clang-format off */
/* Attributes whose file name is the drivekeep key. They belong to a drive's queue, bdi, array, device, NVMe controller or SCSI disk. */
static const char *const same_name[] = {
        "queue/scheduler", "queue/nr_requests", "queue/read_ahead_kb", "bdi/read_ahead_kb", "queue/max_sectors_kb",
        "queue/wbt_lat_usec", "queue/rotational", "queue/add_random", "queue/rq_affinity", "queue/nomerges",
        "queue/iostats", "queue/discard_max_bytes", "queue_depth", "ncq_prio_enable", "cdl_enable", "hmb", "allow_restart",
        "bdi/strict_limit", "strict_limit", "bdi/max_ratio", "max_ratio", "bdi/max_bytes", "max_bytes", "read_ahead_kb",
        "md/stripe_cache_size", "md/group_thread_cnt", "md/sync_speed_min", "md/sync_speed_max", "provisioning_mode",
        "max_retries", "manage_start_stop", "manage_system_start_stop", "manage_runtime_start_stop", "manage_shutdown",
        "queue/iosched/fifo_batch", "queue/iosched/writes_starved", "queue/iosched/front_merges", "queue/iosched/low_latency",
        "queue/iosched/strict_guarantees", "queue/iosched/max_budget", "queue/iosched/back_seek_max",
        "queue/iosched/back_seek_penalty", "queue/iosched/read_lat_nsec", "queue/iosched/write_lat_nsec",
        NULL,
};
/* Attributes whose file name is not the drivekeep key, or whose value needs a unit. */
static const struct {
        const char *attribute, *key, *unit;
} others[] = {
        { "queue/write_cache",                 "queue_write_cache",     ""   },
        { "queue/io_timeout",                  "io_timeout",            "ms" },
        { "queue/iosched/read_expire",         "read_expire",           "ms" },
        { "queue/iosched/write_expire",        "write_expire",          "ms" },
        { "queue/iosched/prio_aging_expire",   "prio_aging_expire",     "ms" },
        { "queue/iosched/timeout_sync",        "timeout_sync",          "ms" },
        { "queue/iosched/fifo_expire_sync",    "fifo_expire_sync",      "ms" },
        { "queue/iosched/fifo_expire_async",   "fifo_expire_async",     "ms" },
        { "queue/iosched/slice_idle",          "slice_idle",            "ms" },
        { "queue/iosched/slice_idle_us",       "slice_idle",            "us" },
        { "timeout",                           "timeout",               "s"  },
        { "eh_timeout",                        "eh_timeout",            "s"  },
        { "sas_ncq_prio_enable",               "ncq_prio_enable",       ""   },
        { "link_power_management_policy",      "link_power_management", ""   },
        { "cache_type",                        "write_cache",           ""   },
        { "power/control",                     "runtime_pm",            ""   },
        { "power/autosuspend_delay_ms",        "autosuspend_delay",     "ms" },
        { "power/pm_qos_latency_tolerance_us", "apst_latency",          "us" },
};
/* clang-format on */

/* Returns true if the path appears to belong to drives. */
static bool is_about_drives(const char *path) {
        static const char *const parts[] = { "/block/", "/bdi/", "/md/",     "/nvme",      "/scsi",
                                             "/sas_",   "/ata",  "/libata/", "/enclosure/" };

        for (size_t i = 0; i < ELEMENTSOF(parts); i++)
                if ((starts_with(path, "/sys/") || script_is_open(path)) && strstr(path, parts[i]))
                        return true;

        return false;
}

/* Splits a path into the drive's node and the attribute. Returns the node, which may have variables; the caller frees the node. The
 * attribute is spelled as in the tables `same_name` and `others`. Returns NULL if the path has no such drive or attribute. */
static char *split_path(const char *path, const char **ret_attribute) {
        static const char *const directories[] = { "/queue/", "/device/", "/bdi/", "/md/" };
        const char *block = strstr(path, "/block/"), *nvme = strstr(path, "/nvme/"), *name = path, *attribute = NULL;
        bool known = !block && nvme;

        if (starts_with(path, "/sys/") && (block || nvme)) {
                name = block ? block + strlen("/block/") : nvme + strlen("/nvme/");
                attribute = strchr(name, '/');
        }
        for (size_t i = 0; i < ELEMENTSOF(directories) && !attribute; i++)
                if (script_is_open(path)) /* the path may begin with a variable: "$disk/queue/scheduler" */
                        attribute = strstr(path, directories[i]);
        for (size_t i = 0; i < ELEMENTSOF(directories) && attribute; i++)
                known = known || starts_with(attribute, directories[i]);
        if (!attribute || !known)
                return NULL;

        *ret_attribute = attribute + 1;
        if (starts_with(attribute, "/device/"))
                *ret_attribute += strlen("device/");
        if (starts_with(*ret_attribute, "scsi_disk/"))
                *ret_attribute = base_name(*ret_attribute);
        return must_format("/dev/%.*s", (int) (attribute - name), name);
}

/* Finds the attribute in a path with a device number, such as /sys/class/scsi_device/0:0:0:0/device/timeout. Returns NULL for unknown
 * attributes. */
static const char *find_numbered(const char *path) {
        for (size_t i = 0; i < ELEMENTSOF(others); i++) {
                size_t n = strlen(path), m = strlen(others[i].attribute);

                if (n > m && path[n - m - 1] == '/' && streq(path + n - m, others[i].attribute))
                        return others[i].attribute;
        }

        return str_in_set(base_name(path), same_name) ? base_name(path) : NULL;
}

void command_write(const Place *p, unsigned line, const char *path, const char *value) {
        Command c = { .place = p, .line = line };
        _cleanup_free_ char *node = NULL;
        const char *attribute = base_name(path), *key, *unit = "";

        if (!starts_with(path, "/sys/class/scsi_disk/") && !starts_with(path, "/sys/class/bdi/") &&
            !streq(attribute, "link_power_management_policy")) {
                node = split_path(path, &attribute);
                if (!node && fnmatch(SCSI_DEVICE, path, FNM_EXTMATCH) == 0)
                        attribute = find_numbered(path);
                else if (!node)
                        attribute = NULL;
                if (!attribute && is_about_drives(path))
                        command_note(&c, "drivekeep has no setting for %.60s", base_name(path));
                if (!attribute)
                        return;
        }

        key = str_in_set(attribute, same_name) ? base_name(attribute) : NULL;
        for (size_t i = 0; i < ELEMENTSOF(others) && !key; i++)
                if (streq(others[i].attribute, attribute)) {
                        key = others[i].key;
                        unit = others[i].unit;
                }
        if (!key) {
                command_note(&c, "drivekeep has no setting for %.60s", base_name(attribute));
                return;
        }
        if (!value || script_is_open(value)) {
                command_note(&c, "the value of %s is known only when the command runs", key);
                return;
        }
        if (streq(key, "write_cache"))
                value = streq(value, "write back") ? "on" : streq(value, "write through") ? "off" : value;

        c.rule = import_add_rule(p->import, line);
        if (node)
                command_device(&c, node);
        else
                import_comment_out_drives(
                                c.rule,
                                "the path has a number instead of the name of a drive; name the drives in match");
        if (value[strspn(value, "0123456789")])
                unit = "";
        if (streq(unit, "ms"))
                command_want_ms(&c, key, strtoll(value, NULL, 10));
        else
                command_want(&c, key, "%s%s", value, unit);
        command_settle(&c);
}
