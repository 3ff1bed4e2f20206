/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Settings that the kernel stores for a drive, in files below /sys. */

#include "attribute.h"
#include "cache.h"
#include "power-mode.h"
#include "provisioning.h"
#include "settings.h"
#include "sysfs.h"

/* ---- SCSI devices: SATA, SAS and USB drives. Settings stored in SCSI drives: scsi-settings.c ---- */

#define NEVER (-1)

/* Returns true if the value forbids runtime suspend, so that the kernel resumes a suspended drive. */
static bool runtime_resumes(const Value *v) {
        return v->type == VALUE_NAME ? streq(v->name, "on") : v->number == NEVER;
}

/* Defers the setting while an ATA drive is in standby, because the kernel would send SET FEATURES to the drive. */
static int cdl_permit(Device *d, const Setting *s, const Value *v) {
        int r;

        r = d->drive->ata ? power_probe(d, BACKEND_ATA) : 0;
        if (r >= 0 && d->drive->ata && d->power != POWER_ACTIVE && !d->wake)
                r = device_fail(d, END_DEFERRED,
                                "the drive is in standby, and the kernel would spin it up for this; deferred until the drive is active");
        return r < 0 ? r : sysfs_setting_permit(d, s, v);
}

/* ---- power saving of the SATA link ----
 *
 * The policy belongs to the drive's port. On a hot-plug port, the kernel may not detect a new drive while the link saves power. */

#define LINK_HOST "device/../../scsi_host/*/"
#define LINK_POLICY LINK_HOST "link_power_management_policy"

/* AHCI 1.3.1, 3.3.7 (PxCMD), 3.1.1 (CAP) and 3.1.10 (CAP2). */
#define PORT_HOT_PLUG (1U << 18)
#define PORT_EXTERNAL (1U << 21)
#define HOST_SUPPORTS_EXTERNAL (1U << 5)
#define HOST_SUPPORTS_PARTIAL (1U << 13)
#define HOST_SUPPORTS_SLUMBER (1U << 14)
#define HOST_SUPPORTS_DEVSLEEP (1U << 3)

#define PCI_CLASS_IDE "0x0101" /* base class and subclass, as the kernel prints them */

static uint32_t read_register(Device *d, const char *path) {
        char text[32];

        return sysfs_read(d, path, text, sizeof text) < 0 ? 0 : strtoul(text, NULL, 16);
}

/* Returns true if the controller is removable (Thunderbolt, ExpressCard). The kernel marks the PCI device, or a port above it, as
 * removable. */
static bool controller_is_removable(Device *d) {
        const char *path = d->drive->syspath;
        char text[32];

        for (size_t n = strlen(path); n > 0; n--)
                if (path[n] == '/' && attribute_read(text, sizeof text, "%.*s/removable", (int) n, path) >= 0 &&
                    streq(text, "removable"))
                        return true;

        return false;
}

/* Returns true if the kernel reports a hot-plug or external port (ahci_mark_external_port()). */
static bool port_is_for_plugging(Device *d) {
        uint32_t port = read_register(d, LINK_HOST "ahci_port_cmd");

        return (port & PORT_HOT_PLUG) ||
               ((port & PORT_EXTERNAL) && (read_register(d, LINK_HOST "ahci_host_caps") & HOST_SUPPORTS_EXTERNAL));
}

/* Returns true if the controller reports that its links have no power-saving states. Older kernels accept a policy for such links, without
 * any effect. */
static bool has_no_states(Device *d) {
        char caps[32];

        return sysfs_read(d, LINK_HOST "ahci_host_caps", caps, sizeof caps) >= 0 &&
               !(strtoul(caps, NULL, 16) & (HOST_SUPPORTS_PARTIAL | HOST_SUPPORTS_SLUMBER)) &&
               !(read_register(d, LINK_HOST "ahci_host_cap2") & HOST_SUPPORTS_DEVSLEEP);
}

/* Fails with the reason why the link of the drive's port has no power management. Keeps the reason in Device.failure if no other reason is
 * known. */
static int link_power_fail(Device *d) {
        char text[64];

        if (sysfs_read(d, "device/../../../../class", text, sizeof text) >= 0 && starts_with(text, PCI_CLASS_IDE))
                return device_fail(
                                d, END_UNSUPPORTED,
                                "the controller is in IDE mode, without link power management; select AHCI in the firmware's setup");
        if (sysfs_read(d, LINK_POLICY, text, sizeof text) < 0)
                return sysfs_read(d, LINK_HOST "proc_name", text, sizeof text) < 0
                                       ? END_UNSUPPORTED
                                       : device_fail(d, END_UNSUPPORTED,
                                                     "the kernel's driver %s of the drive's port has no link power management",
                                                     text);
        if (has_no_states(d))
                return device_fail(
                                d, END_UNSUPPORTED,
                                "the controller reports no power-saving link states (AHCI CAP: PSC and SSC are 0); only the controller's firmware can change this");
        if (port_is_for_plugging(d))
                return device_fail(
                                d, END_UNSUPPORTED,
                                "the kernel keeps the link of a hot-plug or external (eSATA) port at full power; the firmware's setup may turn hot-plug off");
        return device_fail(d, END_UNSUPPORTED,
                           "the kernel turns off link power management for this drive or controller; "
                           "journalctl --dmesg --grep='LPM|Link Power' shows why");
}

/* The kernel has the file link_power_management_supported since Linux 6.17. Before Linux 6.18.8, it says 1 for some links without support,
 * but 0 is always right (ata_scsi_lpm_supported()). */
static int link_power_read(Device *d, const Setting *s, Reading *ret) {
        int r = sysfs_setting_read(d, s, ret);

        return r == END_UNSUPPORTED || (r >= 0 && (!ret->supported || has_no_states(d))) ? link_power_fail(d) : r;
}

static int link_power_permit(Device *d, const Setting *s, const Value *v) {
        if (!streq(v->name, "max_performance") && !d->allow_dangerous &&
            (port_is_for_plugging(d) || controller_is_removable(d)))
                return device_fail(
                                d, END_FORBIDDEN,
                                "the port is hot-pluggable, external (eSATA) or on a removable controller, and may not detect a new drive "
                                "while the link saves power; allow_dangerous = true in the block permits the value");

        return sysfs_setting_permit(d, s, v);
}

/* Timeouts below 20 s cause a warning: data sheets of large drives give 15 to 25 s for a spin-up from standby. */
const Harm spin_up_harm = {
        .to = 20000 - 1,
        .scope = HARM_ROTATIONAL,
        .why = "a drive takes longer than this to spin up, and the kernel then resets it repeatedly; the kernel's default is 30s",
};

static const Remedy io_timeout_remedy = { "NVMe drives have io_timeout instead", { "io_timeout" }, 1U << BACKEND_NVME };

/* clang-format off */
static const Remedy split_remedy = { "manage_system_start_stop, manage_runtime_start_stop and manage_shutdown replace it",
                              { "manage_system_start_stop", "manage_runtime_start_stop", "manage_shutdown" } };
static const Remedy whole_remedy = { "use manage_start_stop instead", { "manage_start_stop" } };

static const ValueWord max_retries_words[] = { { "unlimited", -1 }, {} };
static const ValueWord link_power_words[] = {
        { "max_performance", 0 }, { "medium_power", 0 }, { "med_power_with_dipm", 0 }, { "min_power_with_partial", 0 },
        { "min_power", 0 }, {},
};
static const ValueWord provisioning_words[] = {
        { "full", 0 }, { "unmap", 0 }, { "writesame_16", 0 }, { "writesame_10", 0 }, { "writesame_zero", 0 }, { "disabled", 0 }, {},
};
static const ValueWord runtime_pm_words[] = { { "auto", 0 }, { "on", 0 }, {} };
static const ValueWord autosuspend_words[] = { { "never", NEVER }, {} };

/* ROW: members common to all settings of BACKEND_SCSI; `from` is the kernel's source file. KERNEL: a setting that only the kernel
 * stores. */
#define ROW(key, order_, lost, how, from, what) \
        .name = key, .backend = BACKEND_SCSI, .order = order_, .lost_by = lost, .summary = what, .equivalent = how, \
        .source = "Linux drivers/" from
#define KERNEL(...) ROW(__VA_ARGS__), .flags = SETTING_KERNEL

/* DEVICE: a timeout in the SCSI device's file `key`. DISK: a setting in the SCSI disk's file `key`; the arguments after `what` are members
 * of SysfsAttribute. */
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
/* The kernel accepts any number (sdev_store_timeout()). This range is drivekeep's own. */
#define RANGE_SECONDS { .type = VALUE_DURATION, .min = 1000, .max = 3600 * 1000, .step = 1000 }

const Setting kernel_scsi_settings[] = {
        { .brief = "how long a command may take", .also = "command_timeout scsi_timeout",
          DEVICE("timeout", 20, "how long the kernel waits for a command before it resets the drive"),
          .remedy = &io_timeout_remedy,
          .excludes = "io_timeout", /* the files of timeout and io_timeout hold the same timeout */
          .harm = &spin_up_harm },
        /* Written before nr_requests, because a write to queue_depth resets nr_requests. */
        { .brief = "commands in flight; 1: no NCQ", .also = "ncq ncq_depth tagged_queueing",
          KERNEL("queue_depth", 30, "re-add", "hdparm -Q", "scsi/scsi_sysfs.c, drivers/ata/libata-sata.c",
                 "highest number of outstanding commands at the drive; 1 disables NCQ"),
          .range = { .type = VALUE_INT, .min = 1, .max = 65535 },
          SYSFS_ROW(.path = "device/queue_depth") },
        { .brief = "timeout during error handling",
          DEVICE("eh_timeout", 21, "how long the kernel waits for each command of error handling") },
        { .brief = "retries of failed I/O",
          DISK("max_retries", 22, "", "how often the kernel retries a failed read or write"),
          .range = { .type = VALUE_INT, .min = 0, .max = 5, .words = max_retries_words } },
        { .brief = "start a stopped drive",
          DISK("allow_restart", 23, "", "whether the kernel starts a drive that reports that it is stopped"), .range = RANGE_BOOL },
        /* Written before ncq_prio_enable, because the kernel does not allow cdl_enable and ncq_prio_enable at the same time. */
        { .brief = "command duration limits",
          ROW("cdl_enable", 31, "re-add", "/sys/block/*/device/cdl_enable", "scsi/scsi_sysfs.c (6.5)",
              "command duration limits, selected by I/O priorities"),
          .range = RANGE_BOOL,
          SYSFS_ROW_BY(sysfs_setting_read, cdl_permit, sysfs_setting_write, .path = "device/cdl_enable", .support = "device/cdl_supported") },
        { .brief = "NCQ priority for real-time I/O",
          KERNEL("ncq_prio_enable", 32, "re-add", "/sys/block/*/device/ncq_prio_enable, sas_ncq_prio_enable",
                 "ata/libata-sata.c, drivers/scsi/mpt3sas", "high NCQ priority for I/O of the real-time class"),
          .range = RANGE_BOOL,
          SYSFS_ROW(.path = "device/*ncq_prio_enable", .support = "device/*ncq_prio_supported") },
        /* Written before the drive's own settings, because the kernel's error handling applies the link's power policy. */
        { .brief = "power saving of the SATA link", .also = "alpm lpm link_power link_power_management_policy",
          KERNEL("link_power_management", 90, "reload of the driver", "/sys/class/scsi_host/*/link_power_management_policy",
                 "ata/libata-sata.c, libahci.c", "power saving on the SATA link of the drive's port"),
          .range = { .type = VALUE_NAME, .words = link_power_words },
          SYSFS_ROW_BY(link_power_read, link_power_permit, sysfs_setting_write, .path = LINK_POLICY,
                       .support = LINK_HOST "link_power_management_supported") },
        /* Written after the drive's own settings. Without "temporary" before the word, the kernel would change the drive's cache. */
        { .brief = "the kernel's view of the cache",
          ROW("cache_type", 400, "re-add", "\"temporary ...\" into /sys/class/scsi_disk/*/cache_type", "scsi/sd.c",
              "cache type that the kernel's SCSI disk driver assumes; the drive is not changed"),
          .range = { .type = VALUE_NAME, .words = cache_words },
          .danger = "this changes the kernel's assumption, not the drive's cache; without flushes a power cut loses data",
          .remedy = &drive_cache_remedy,
          SYSFS_ROW_BY(cache_view_read, sysfs_setting_permit, cache_view_write, .path = "device/scsi_disk/*/cache_type", .prefix = "temporary ") },
        MANAGE("manage_start_stop", "stop and start with the machine", 410, "", split_remedy, "stops and starts the drive with the machine (up to Linux 6.5)"),
        MANAGE("manage_system_start_stop", "stop when the machine suspends", 411, " (6.6)", whole_remedy,
               "stops the drive when the machine is suspended, and starts it again"),
        MANAGE("manage_runtime_start_stop", "stop when idle", 412, " (6.6)", whole_remedy,
               "stops the drive when it is idle for autosuspend_delay, and starts it again"),
        MANAGE("manage_shutdown", "stop when powering off", 413, " (6.6)", whole_remedy, "stops the drive when the machine is switched off"),
        /* Written before runtime_pm, because runtime_pm puts the delay into effect. */
        { .brief = "idle time before suspend", .also = "autosuspend autosuspend_delay_ms",
          POWER("autosuspend_delay", 420, "device/power/autosuspend_delay_ms",
                "how long the drive is idle before the kernel suspends it"),
          .range = { .type = VALUE_DURATION, .min = 1000, .max = 7LL * 24 * 3600 * 1000, .step = 1,
                     .words = autosuspend_words } },
        { .brief = "auto: the kernel may suspend it", .also = "power_control",
          POWER("runtime_pm", 421, "device/power/control",
                "whether the kernel may suspend an idle drive: auto allows this, on forbids it"),
          .range = { .type = VALUE_NAME, .words = runtime_pm_words,
                     .yes_is = "\"auto\" lets the kernel suspend the drive, \"on\" prevents it" } },
        /* Written after write_cache, which causes a revalidation, and before discard_max_bytes, whose limit depends on this setting. */
        { .brief = "the kernel's command for TRIM", .also = "trim discard thin_provisioning",
          KERNEL("provisioning_mode", 700, "re-add, revalidation, a discard that the drive rejects",
                 "/sys/class/scsi_disk/*/provisioning_mode", "scsi/sd.c",
                 "command by which the kernel discards blocks (TRIM); full, disabled: no TRIM; a command that the drive does not report "
                 "needs allow_dangerous = true"),
          .range = { .type = VALUE_NAME, .words = provisioning_words },
          SYSFS_ROW_BY(sysfs_setting_read, provisioning_permit, provisioning_write,
                       .path = "device/scsi_disk/*/provisioning_mode") },
        {},
};
/* clang-format on */

/* ---- the request queue of each block device ---- */

#define DEFAULT (-1) /* stands for the word "default", the kernel's own choice */

/* Translates scheduler names of old guides. Linux accepts "deadline" for mq-deadline (block/mq-deadline.c), but does not load the module
 * mq-deadline for the name "deadline". "noop" was a scheduler until Linux 5.0, and "none" replaces it. */
static int scheduler_localize(Device *d _unused_, const Setting *s _unused_, Value *v) {
        if (streq(v->name, "deadline"))
                (void) strcpy(v->name, "mq-deadline");
        else if (streq(v->name, "noop"))
                (void) strcpy(v->name, "none");
        return 0;
}

static int read_ahead_localize(Device *d, const Setting *s _unused_, Value *v) {
        int64_t stripe, bytes;

        if (v->type != VALUE_STRIPES)
                return 0;
        stripe = sysfs_stripe(d->drive);
        if (stripe == 0)
                return device_fail(d, END_UNSUPPORTED,
                                   "the device is not a striped array: give a size instead of stripes");
        if (__builtin_mul_overflow(stripe, v->number, &bytes))
                return device_fail(d, END_REFUSED, "that many stripes exceed the largest read-ahead of the kernel");

        *v = (Value){ .type = VALUE_SIZE, .number = bytes };
        return 0;
}

/* Reads only whether the kernel has the file max_bytes. The kernel stores a share of the memory that may hold dirty pages, and computes the
 * file's content from the share (bdi_get_max_bytes()). The content therefore changes with the free memory. */
static int share_read(Device *d, const Setting *s, Reading *ret) {
        int r = sysfs_setting_read(d, s, ret);

        ret->known = false;
        return r;
}

/* Replaces "default" by the number that blk_validate_limits() computes: the hardware's limit or a cap, whichever is smaller. An optimal I/O
 * size above the cap replaces the cap. The cap is 4 MiB in newer kernels and 1280 KiB in older kernels. If a cap of 4 MiB gives the current
 * value, the function uses this cap. Otherwise it uses 1280 KiB. */
static int max_sectors_localize(Device *d, const Setting *s _unused_, Value *v) {
        static const int64_t caps[] = { 4096, 1280 };
        int64_t hardware, now, optimal = 0, limit = 0;
        int r;

        if (v->number != DEFAULT)
                return 0;

        r = sysfs_number(d, "queue/max_hw_sectors_kb", &hardware);
        if (r >= 0)
                r = sysfs_number(d, "queue/max_sectors_kb", &now);
        if (r < 0)
                return r;
        (void) sysfs_number(d, "queue/optimal_io_size", &optimal);

        for (size_t i = 0; i < ELEMENTSOF(caps) && limit != now; i++)
                limit = MIN(hardware, MAX(caps[i], optimal / 1024));
        *v = (Value){ .type = v->type, .number = limit * 1024, .name = "default" };
        return 0;
}

/* Replaces "default" by the latency that the kernel would choose (wbt_default_latency_nsec()). */
static int wbt_localize(Device *d, const Setting *s _unused_, Value *v) {
        int64_t rotational;
        int r;

        if (v->number != DEFAULT)
                return 0;
        r = sysfs_number(d, "queue/rotational", &rotational);
        if (r < 0)
                return r;

        *v = (Value){ .type = v->type, .number = rotational ? 75000 : 2000, .name = "default" };
        return 0;
}

/* The speed limit of an array without a limit of its own. */
#define SYSTEM (-1)

/* Reads "5000 (local)", or "1000 (system)" if the array has no limit of its own (sync_min_show()). */
static int sync_speed_read(Device *d, const Setting *s, Reading *ret) {
        const SysfsAttribute *a = s->detail;
        char text[64], *end;
        int64_t kib;
        int r;

        r = sysfs_read(d, a->path, text, sizeof text);
        if (r < 0)
                return sysfs_unreadable(d, a->path, r);

        kib = strtoll(text, &end, 10);
        if (kib < 0 || kib > INT32_MAX || !STR_IN_SET(end, " (local)", " (system)"))
                return device_fail(d, -EBADMSG, "%s reads '%s', which is not a speed", a->path, text);

        *ret = (Reading){
                .supported = true,
                .known = true,
                .value = { .type = s->range.type, .number = streq(end, " (system)") ? SYSTEM : kib * a->scale },
        };
        return 0;
}

/* clang-format off */
/* QUEUE: a setting in the request queue's file `key`. `from` is the kernel's source file; the arguments after `what` are members of
 * SysfsAttribute. */
#define QUEUE(key, order_, lost, from, what, ...) \
        .name = key, .backend = BACKEND_BLOCK, .flags = SETTING_KERNEL, .order = order_, .lost_by = lost, .summary = what, \
        .equivalent = "/sys/block/*/queue/" key, .source = "Linux block/" from, SYSFS_ROW(.path = "queue/" key, __VA_ARGS__)
#define READ_AHEAD(key, unit_, what, how, from, ...) \
        .name = key, .backend = BACKEND_BLOCK, .flags = SETTING_KERNEL, .order = 900, .lost_by = "re-add, revalidation", \
        .range = { .type = VALUE_SIZE, .max = 1LL << 40, .unit = unit_, .step = SYSFS_PAGE, __VA_ARGS__ }, \
        .summary = what, .equivalent = how, .source = from

/* MD: a setting in the file `key` of an md array. */
#define MD(key, order_, lost, from, what) \
        .name = key, .backend = BACKEND_BLOCK, .flags = SETTING_KERNEL, .order = order_, .lost_by = "start of the array" lost, \
        .summary = what, .equivalent = "/sys/block/md*/md/" key, .source = "Linux drivers/md/" from
#define SYNC_SPEED(key, order_, what) \
        MD(key, order_, "", "md.c", what), \
        .range = { .type = VALUE_SIZE, .min = 1024, .max = INT32_MAX * 1024LL, .unit = 1024, .step = 1024, .words = speed_words }, \
        SYSFS_ROW_BY(sync_speed_read, sysfs_setting_permit, sysfs_setting_write, .path = "md/" key, .scale = 1024, .words = speed_words)

#define RANGE_CHOICE { .type = VALUE_INT, .max = 2 }
static const ValueWord default_words[] = { { "default", DEFAULT }, {} };
static const ValueWord speed_words[] = { { "system", SYSTEM }, {} };
static const char *const schedulers[] = { "none", "mq-deadline", "kyber", "bfq", "noop", "deadline", NULL };

const Setting kernel_block_settings[] = {
        /* Written first, because a change of the scheduler resets nr_requests, wbt_lat_usec and the settings of iosched-settings.c
         * (elevator_switch()). */
        { .brief = "I/O scheduler of the kernel", .also = "elevator iosched io_scheduler",
          .name = "scheduler", .backend = BACKEND_BLOCK, .flags = SETTING_KERNEL | SETTING_FIRST, .order = 10, .lost_by = "re-add",
          .summary = "I/O scheduler of the kernel's request queue; deadline means mq-deadline, noop means none",
          .equivalent = "/sys/block/*/queue/scheduler", .source = "Linux block/elevator.c",
          .range = { .type = VALUE_NAME },
          SYSFS_ROW(.path = "queue/scheduler"),
          .known = schedulers,
          .localize = scheduler_localize },
        /* Written after scheduler and queue_depth, which both reset nr_requests. */
        { .brief = "length of the kernel's queue",
          QUEUE("nr_requests", 35, "re-add, change of scheduler or queue_depth", "blk-sysfs.c, block/blk-mq.c",
                "requests in the kernel's queue, for each direction", .requests = true),
          .range = { .type = VALUE_INT, .min = 4, .max = 65536 } },
        /* Written after scheduler, because the scheduler bfq turns throttling off. */
        { .brief = "throttle writes when reads lag", .also = "wbt wbt_latency",
          QUEUE("wbt_lat_usec", 40, "re-add, change of scheduler", "blk-wbt.c",
                "read latency above which the kernel throttles buffered writes",
                .reset = "-1", .requests = true, .unset = true),
          .range = { .type = VALUE_MICROSECONDS, .min = 1, .max = 60 * 1000 * 1000, .unit = 1, .has_off = true,
                     .words = default_words },
          .localize = wbt_localize },
        /* This setting and the settings below it are written before read_ahead_kb, because they commit queue limits. A commit may reset
         * read_ahead_kb. */
        { .brief = "treat as a rotating disk",
          QUEUE("rotational", 800, "re-add, revalidation", "blk-sysfs.c",
                "whether the kernel treats the drive as a rotating disk"),
          .range = RANGE_BOOL },
        { .brief = "I/O timing feeds random numbers",
          QUEUE("add_random", 801, "re-add, revalidation", "blk-sysfs.c",
                "whether I/O timing feeds the kernel's random number generator"),
          .range = RANGE_BOOL },
        { .brief = "count reads and writes",
          QUEUE("iostats", 802, "re-add", "blk-sysfs.c", "whether the kernel counts reads and writes; spin-down by the service needs "
                                                         "these counters"),
          .range = RANGE_BOOL },
        { .brief = "which CPU completes a request",
          QUEUE("rq_affinity", 803, "re-add", "blk-sysfs.c",
                "which CPU completes a request: 0 any, 1 one in the group of the submitting CPU, 2 the submitting CPU",
                .requests = true),
          .range = RANGE_CHOICE },
        { .brief = "merge requests: 0 all, 2 none",
          QUEUE("nomerges", 804, "re-add", "blk-sysfs.c", "merging of requests: 0 all, 1 only the simplest, 2 none",
                .requests = true),
          .range = RANGE_CHOICE },
        /* The kernel accepts any number except 0. This range is drivekeep's own. */
        { .brief = "how long a request may take",
          QUEUE("io_timeout", 805, "re-add", "blk-sysfs.c",
                "how long the kernel waits for a request; for SCSI drives the same as timeout", .requests = true),
          .range = { .type = VALUE_DURATION, .min = 1000, .max = 3600 * 1000, .step = 1 },
          .excludes = "error_recovery_fallback_timeout", /* io_timeout and error_recovery_fallback_timeout set the same timeout */
          .harm = &spin_up_harm },
        { .brief = "largest discard (TRIM, UNMAP)",
          .name = "discard_max_bytes", .backend = BACKEND_BLOCK, .flags = SETTING_KERNEL, .order = 806,
          .lost_by = "re-add, revalidation", .summary = "how much the kernel discards (TRIM, UNMAP) in one request",
          .equivalent = "/sys/block/*/queue/discard_max_bytes", .source = "Linux block/blk-sysfs.c",
          .range = { .type = VALUE_SIZE, .min = 512, .max = 0xFFFFFFFFLL << 9, .unit = 1, .has_off = true },
          SYSFS_ROW_BY(discard_read, discard_permit, sysfs_setting_write, .path = "queue/discard_max_bytes",
                       .support = "queue/discard_max_hw_bytes") },
        { .brief = "largest request of the kernel",
          QUEUE("max_sectors_kb", 810, "re-add, revalidation", "blk-sysfs.c, block/blk-settings.c",
                "size of the kernel's largest request", .scale = 1024, .reset = "0"),
          .range = { .type = VALUE_SIZE, .min = 4096, .max = 1LL << 41, .unit = 1024, .step = 1024,
                     .words = default_words },
          .localize = max_sectors_localize },
        /* Written after write_cache and cache_type, which overwrite the queue's cache mode. */
        { .brief = "the queue's view of the cache",
          .name = "queue_write_cache", .backend = BACKEND_BLOCK, .order = 820, .lost_by = "re-add, revalidation",
          .summary = "cache type that the block layer assumes; it sends flushes only for write back",
          .equivalent = "/sys/block/*/queue/write_cache", .source = "Linux block/blk-sysfs.c",
          .range = { .type = VALUE_NAME, .words = cache_words },
          .danger = "this changes the kernel's assumption, not the drive's cache; without flushes a power cut loses data",
          .remedy = &drive_cache_remedy,
          SYSFS_ROW_BY(cache_view_read, sysfs_setting_permit, cache_view_write, .path = "queue/write_cache") },
        { .brief = "limit dirty pages to a share", .also = "strictlimit bdi_strict_limit",
          .name = "strict_limit", .backend = BACKEND_BLOCK, .flags = SETTING_KERNEL, .order = 830, .lost_by = "re-add",
          .summary = "whether the drive's dirty pages are limited to its share of all dirty pages even while memory is free (Linux 6.2)",
          .equivalent = "/sys/block/*/bdi/strict_limit", .source = "Linux mm/backing-dev.c",
          .range = RANGE_BOOL,
          SYSFS_ROW(.path = "bdi/strict_limit") },
        { .brief = "share of dirty pages, in percent", .also = "maxratio bdi_max_ratio",
          .name = "max_ratio", .backend = BACKEND_BLOCK, .flags = SETTING_KERNEL, .order = 831, .lost_by = "re-add",
          .summary = "highest share of all dirty pages that the drive may have, in percent; strict_limit applies it even while memory is free",
          .equivalent = "/sys/block/*/bdi/max_ratio", .source = "Linux mm/backing-dev.c",
          .range = { .type = VALUE_INT, .max = 100 },
          SYSFS_ROW(.path = "bdi/max_ratio") },
        { .brief = "max_ratio, in bytes", .also = "maxbytes bdi_max_bytes",
          .name = "max_bytes", .backend = BACKEND_BLOCK, .flags = SETTING_KERNEL | SETTING_UNREADABLE, .order = 831,
          .lost_by = "re-add",
          .summary = "max_ratio in bytes (Linux 6.2); the kernel converts the bytes to a share of the memory when they are written",
          .equivalent = "/sys/block/*/bdi/max_bytes", .source = "Linux mm/backing-dev.c, mm/page-writeback.c",
          .range = { .type = VALUE_SIZE, .min = SYSFS_PAGE, .max = 1LL << 40, .unit = 1 },
          .excludes = "max_ratio",
          SYSFS_ROW_BY(share_read, sysfs_setting_permit, sysfs_setting_write, .path = "bdi/max_bytes") },
        /* The limits 17 and 32768 are those of the kernel (raid5_set_cache_size()). */
        { .brief = "stripes of RAID 5 in memory",
          MD("stripe_cache_size", 840, ", change of its level", "raid5.c",
             "stripes that a RAID 4, 5 or 6 array caches in memory, each with one page per disk"),
          .range = { .type = VALUE_INT, .min = 17, .max = 32768 },
          SYSFS_ROW(.path = "md/stripe_cache_size") },
        /* The limit 8192 is that of the kernel (raid5_store_group_thread_cnt()). */
        { .brief = "threads of RAID 5; 0: only one",
          MD("group_thread_cnt", 841, ", change of its level", "raid5.c",
             "threads per NUMA node that a RAID 4, 5 or 6 array uses besides its main thread"),
          .range = { .type = VALUE_INT, .max = 8192 },
          SYSFS_ROW(.path = "md/group_thread_cnt") },
        { .brief = "resync speed, even under load", .also = "speed_limit_min",
          SYNC_SPEED("sync_speed_min", 842, "data per second that a resync of the array moves even while programs use the array; "
                                            "system: the limit of all arrays") },
        { .brief = "resync speed at most", .also = "speed_limit_max",
          SYNC_SPEED("sync_speed_max", 843, "data per second that a resync of the array moves at most; system: the limit of all arrays") },
        /* Written last, because each commit of queue limits may reset the read-ahead. */
        { .brief = "how far the kernel reads ahead", .also = "readahead setra ra bdev_read_ahead",
          READ_AHEAD("read_ahead_kb", 1024, "how far the kernel reads ahead of a sequential reader",
                     "hdparm -a, blockdev --setra", "Linux block/blk-sysfs.c", .stripes = true),
          .localize = read_ahead_localize,
          SYSFS_ROW(.path = "queue/read_ahead_kb", .scale = 1024) },
        { .brief = "read_ahead_kb, in sectors",
          READ_AHEAD("read_ahead_sect", 512, "read_ahead_kb in sectors of 512 bytes, as in hdparm.conf",
                     "hdparm -a", "hdparm.conf(5)"),
          .alias_of = "read_ahead_kb" },
        {},
};
/* clang-format on */
