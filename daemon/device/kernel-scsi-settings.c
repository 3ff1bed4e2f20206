/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the kernel's SCSI devices hold: of SATA, SAS and USB drives. What a SCSI drive holds itself: scsi-settings.c. */

#include "attribute.h"
#include "cache.h"
#include "plan.h"
#include "settings.h"
#include "sysfs.h"

#define NEVER (-1)

/* These values forbid the kernel to suspend the drive. */
static bool runtime_resumes(const Value *v) {
        return v->type == VALUE_NAME ? streq(v->name, "on") : v->number == NEVER;
}

/* The kernel passes it on to an ATA drive, by SET FEATURES. */
static int cdl_permit(Device *d, const Setting *s, const Value *v) {
        int r;

        r = d->drive->ata ? power_look(d, BACKEND_ATA) : 0;
        if (r >= 0 && d->drive->ata && d->power != POWER_AWAKE && !d->wake)
                r = device_fail(d, END_DEFERRED,
                                "the drive sleeps, and the kernel would wake it for this; it is set the next time the drive is used");
        return r < 0 ? r : sysfs_setting_permit(d, s, v);
}

/* ---- the link's power saving ----
 *
 * A policy of the drive's port. On a port that is meant for plugging, the kernel may not see a drive come any more while the
 * link sleeps. */

#define LINK_HOST "device/../../scsi_host/*/"

/* AHCI 1.3.1, 3.3.7 (PxCMD) and 3.1.1 (CAP). */
#define PORT_HOT_PLUG (1U << 18)
#define PORT_EXTERNAL (1U << 21)
#define HOST_SUPPORTS_EXTERNAL (1U << 5)

static uint32_t read_register(Device *d, const char *path) {
        char text[32];

        return sysfs_read(d, path, text, sizeof text) < 0 ? 0 : strtoul(text, NULL, 16);
}

/* Is the controller itself something that is plugged in (Thunderbolt, ExpressCard)? PCI says so of the device or of a port
 * above it. */
static bool controller_is_removable(Device *d) {
        const char *path = d->drive->syspath;
        char text[32];

        for (size_t n = strlen(path); n > 0; n--)
                if (path[n] == '/' && attribute_read(text, sizeof text, "%.*s/removable", (int) n, path) >= 0 &&
                    streq(text, "removable"))
                        return true;

        return false;
}

/* May a drive be plugged in at this port at any time, as far as the kernel tells? */
static bool is_for_plugging(Device *d) {
        uint32_t port = read_register(d, LINK_HOST "ahci_port_cmd");

        return (port & PORT_HOT_PLUG) || controller_is_removable(d) ||
               ((port & PORT_EXTERNAL) && (read_register(d, LINK_HOST "ahci_host_caps") & HOST_SUPPORTS_EXTERNAL));
}

static int link_power_read(Device *d, const Setting *s, Reading *ret) {
        int r = sysfs_setting_read(d, s, ret);

        if (r >= 0 && !ret->supported)
                return device_fail(d, END_UNSUPPORTED,
                                   "the kernel says that the link of its port has no state that saves power");
        return r;
}

static int link_power_permit(Device *d, const Setting *s, const Value *v) {
        if (!streq(v->name, "max_performance") && !d->allow_dangerous && is_for_plugging(d))
                return device_fail(
                                d, END_FORBIDDEN,
                                "its port is one for hot-plug, is external (eSATA) or is on a controller that can be "
                                "unplugged, and may miss a drive that is plugged in while the link sleeps; "
                                "allow_dangerous = true in the block says that it is meant");

        return sysfs_setting_permit(d, s, v);
}

/* Data sheets of large drives say 15 to 25 s from standby. */
const Harm spin_up_harm = {
        .to = 20000 - 1,
        .scope = HARM_TURNING,
        .why = "a drive that has to spin up answers later than that, and is reset again and again; 30s is the kernel's own",
};

static const Remedy io_timeout_remedy = { "io_timeout is what an NVMe drive has",
                                          { "io_timeout" },
                                          1U << BACKEND_NVME };

/* clang-format off */
static const Remedy split = { "manage_system_start_stop, manage_runtime_start_stop and manage_shutdown have taken its place",
                              { "manage_system_start_stop", "manage_runtime_start_stop", "manage_shutdown" } };
static const Remedy whole = { "manage_start_stop is what it has", { "manage_start_stop" } };

static const ValueWord max_retries_words[] = { { "unlimited", -1 }, {} };
static const ValueWord link_power_words[] = {
        { "max_performance", 0 }, { "medium_power", 0 }, { "med_power_with_dipm", 0 }, { "min_power_with_partial", 0 },
        { "min_power", 0 }, {},
};
static const ValueWord runtime_pm_words[] = { { "auto", 0 }, { "on", 0 }, {} };
static const ValueWord autosuspend_words[] = { { "never", NEVER }, {} };

/* What all rows have in common, and those that the kernel alone holds; `from` is its file that tells of it. */
#define ROW(key, order_, lost, how, from, what) \
        .name = key, .backend = BACKEND_SCSI, .order = order_, .lost_by = lost, .summary = what, .equivalent = how, \
        .source = "Linux drivers/" from
#define KERNEL(...) ROW(__VA_ARGS__), .flags = SETTING_KERNEL

/* A time that the SCSI device has in a file of the setting's name; or a file of its SCSI disk's with that name, where members
 * of the SysfsAttribute follow the summary. */
#define DEVICE(key, order_, what) \
        KERNEL(key, order_, "re-add", "/sys/block/*/device/" key, "scsi/scsi_sysfs.c", what), .range = RANGE_SECONDS, \
        SYSFS_ROW(.path = "device/" key, .scale = 1000)
#define DISK(key, order_, kernels, what, ...) \
        KERNEL(key, order_, "re-add", "/sys/class/scsi_disk/*/" key, "scsi/sd.c" kernels, what), \
        SYSFS_ROW(.path = "device/scsi_disk/*/" key, __VA_ARGS__)
#define MANAGE(key, brief_, order_, kernels, remedy_, what) \
        { .brief = brief_, DISK(key, order_, kernels, "whether the kernel " what), .range = RANGE_BOOL, .remedy = &remedy_ }
#define POWER(key, order_, file, what) \
        KERNEL(key, order_, "re-add", "/sys/block/*/" file, "base/power/sysfs.c", what), .resumes = runtime_resumes, \
        SYSFS_ROW(.path = file)
/* The kernel does not check what is stored there (sdev_store_timeout()): this range is our own. */
#define RANGE_SECONDS { .type = VALUE_DURATION, .min = 1000, .max = 3600 * 1000, .step = 1000 }

const Setting kernel_scsi_settings[] = {
        { .brief = "how long a command may take", .also = "command_timeout scsi_timeout",
          DEVICE("timeout", 20, "how long the kernel waits for a command before it resets the drive"),
          .remedy = &io_timeout_remedy,
          .excludes = "io_timeout", /* the same number, by another path */
          .harm = &spin_up_harm },
        /* Before nr_requests, which it resets. */
        { .brief = "commands at once; 1: no NCQ", .also = "ncq ncq_depth tagged_queueing",
          KERNEL("queue_depth", 30, "re-add", "hdparm -Q", "scsi/scsi_sysfs.c, drivers/ata/libata-sata.c",
                 "commands outstanding at the drive at once; 1 turns NCQ off"),
          .range = { .type = VALUE_INT, .min = 1, .max = 65535 },
          SYSFS_ROW(.path = "device/queue_depth") },
        { .brief = "timeout during error handling",
          DEVICE("eh_timeout", 21, "how long the kernel waits for each command of its error handling") },
        { .brief = "how often to try again",
          DISK("max_retries", 22, "", "how often the kernel tries a failed read or write again"),
          .range = { .type = VALUE_INT, .min = 0, .max = 5, .words = max_retries_words } },
        { .brief = "start a drive that was stopped",
          DISK("allow_restart", 23, "", "whether the kernel starts a drive that says it was stopped"), .range = RANGE_BOOL },
        /* Before ncq_prio_enable, which cannot be had together with it. */
        { .brief = "command duration limits",
          ROW("cdl_enable", 31, "re-add", "/sys/block/*/device/cdl_enable", "scsi/scsi_sysfs.c (6.5)",
              "command duration limits, asked for by I/O priorities"),
          .range = RANGE_BOOL,
          SYSFS_ROW_BY(sysfs_setting_read, cdl_permit, sysfs_setting_write, .path = "device/cdl_enable", .support = "device/cdl_supported") },
        { .brief = "real-time I/O first",
          KERNEL("ncq_prio_enable", 32, "re-add", "/sys/block/*/device/ncq_prio_enable, sas_ncq_prio_enable",
                 "ata/libata-sata.c, drivers/scsi/mpt3sas", "high NCQ priority for I/O of the real-time class"),
          .range = RANGE_BOOL,
          SYSFS_ROW(.path = "device/*ncq_prio_enable", .support = "device/*ncq_prio_supported") },
        /* Set by the kernel's error handling: before the drive's own settings. */
        { .brief = "power saving of the SATA link", .also = "alpm lpm link_power link_power_management_policy",
          KERNEL("link_power_management", 90, "reload of the driver", "/sys/class/scsi_host/*/link_power_management_policy",
                 "ata/libata-sata.c, libahci.c", "power saving on the SATA link of the drive's port"),
          .range = { .type = VALUE_NAME, .words = link_power_words },
          SYSFS_ROW_BY(link_power_read, link_power_permit, sysfs_setting_write, .path = LINK_HOST "link_power_management_policy",
                       .support = LINK_HOST "link_power_management_supported") },
        /* After the drive's own settings. Without the word before it the kernel would change the drive itself. */
        { .brief = "the kernel's view of the cache",
          ROW("cache_type", 400, "re-add", "\"temporary ...\" into /sys/class/scsi_disk/*/cache_type", "scsi/sd.c",
              "what the kernel's SCSI disk believes of the write cache; the drive is left alone"),
          .range = { .type = VALUE_NAME, .words = cache_words },
          .danger = "this is the kernel's belief and not the drive's cache, and without flushes a power cut loses data",
          .remedy = &drive_cache_remedy,
          SYSFS_ROW_BY(cache_belief_read, sysfs_setting_permit, cache_belief_write, .path = "device/scsi_disk/*/cache_type", .prefix = "temporary ") },
        MANAGE("manage_start_stop", "stop and start with the machine", 410, "", split, "stops and starts the drive with the machine (up to 6.5)"),
        MANAGE("manage_system_start_stop", "stop it when suspending", 411, " (6.6)", whole,
               "stops the drive when the machine is suspended, and starts it again"),
        MANAGE("manage_runtime_start_stop", "stop it when idle", 412, " (6.6)", whole,
               "stops the drive when it is idle for autosuspend_delay, and starts it again"),
        MANAGE("manage_shutdown", "stop it when powering off", 413, " (6.6)", whole, "stops the drive when the machine is switched off"),
        /* Before runtime_pm, which makes it count. */
        { .brief = "idle time until it is suspended", .also = "autosuspend autosuspend_delay_ms",
          POWER("autosuspend_delay", 420, "device/power/autosuspend_delay_ms",
                "how long the drive is idle before the kernel suspends it"),
          .range = { .type = VALUE_DURATION, .min = 1000, .max = 7LL * 24 * 3600 * 1000, .step = 1,
                     .words = autosuspend_words } },
        { .brief = "auto: the kernel may suspend it", .also = "power_control",
          POWER("runtime_pm", 421, "device/power/control",
                "whether the kernel may suspend the idle drive: auto it may, on it stays on"),
          .range = { .type = VALUE_NAME, .words = runtime_pm_words,
                     .yes_is = "\"auto\" lets the kernel suspend the drive, \"on\" never does" } },
        {},
};
/* clang-format on */
