/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Settings stored in the kernel. Each test is a visit to a test directory: initial content, wanted value, verdict, and final content.
 * Unlike the kernel's files, these files accept any text. Some tests make a file read-only. */

#include "identify-image.h"
#include "script.h"
#include "settings.h"
#include "suite.h"
#include "sysfs-tree.h"
#include "visit.h"

typedef struct Case {
        const char *name, *value;
        Verdict verdict;
        const char *file;      /* path below the disk's directory; "device/" is the directory of the SCSI device */
        const char *before;    /* initial content of the file; NULL: no such file */
        const char *after;     /* expected final content; NULL: unchanged */
        const char *others[4]; /* initial content of other files, as "path=text" */
        Transport transport;
        bool allow_dangerous;
        const char *reason_part; /* expected part of the reason */
        const Row *rows;
        size_t n_rows;
        bool wake;
} Case;

static Image cached, uncached;

/* clang-format off */
#define ACTIVE { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00", \
                .sense = "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 ff 00 00 00 00 00 00 40 50" }
#define IN_STANDBY { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00", \
                 .sense = "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 00 00 00 00 00 00 00 40 50" }
#define ID(image) { .cdb = "85 08 0e 00 00 00 01 00 00 00 00 00 00 40 ec 00", .data = &(image), .data_len = 512 }
static const Row cache_is_off[] = { ACTIVE, ID(uncached) };
static const Row cache_off_read_back[] = { ACTIVE, ID(uncached), ID(uncached) };
static const Row cache_is_live[] = { ACTIVE, ID(cached) };
static const Row cache_live_twice[] = { ACTIVE, ID(cached), ID(cached) };
static const Row active[] = { ACTIVE };
static const Row cache_in_standby[] = { IN_STANDBY };
#define NOT_LET_THROUGH { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00", \
                          .sense = "70 00 05 00 00 00 00 0a 00 00 00 00 24 00 00 00 00 00" }
static const Row cache_refused[] = { NOT_LET_THROUGH, NOT_LET_THROUGH };
#define ROWS(r) .rows = (r), .n_rows = ELEMENTSOF(r)

#define SCSI .transport = TRANSPORT_SCSI
#define MD .transport = TRANSPORT_VIRTUAL
#define SATA .transport = TRANSPORT_SATA
#define DISK "device/scsi_disk/0:0:0:0/"
#define HOST "device/../../scsi_host/host0/"
#define POLICY HOST "link_power_management_policy"

#define DEADLINE "queue/scheduler=[mq-deadline] bfq none"
#define BFQ "queue/scheduler=mq-deadline [bfq] none"

static const Case cases[] = {
        { "scheduler", "mq-deadline", VERDICT_UNCHANGED, "queue/scheduler", "[mq-deadline] kyber none", NULL, {}, SCSI },
        { "scheduler", "deadline", VERDICT_UNCHANGED, "queue/scheduler", "[mq-deadline] kyber none", NULL, {}, SCSI },
        { "scheduler", "deadline", VERDICT_APPLIED, "queue/scheduler", "mq-deadline [none]", "mq-deadline", {}, SCSI },
        { "scheduler", "noop", VERDICT_UNCHANGED, "queue/scheduler", "mq-deadline [none]", NULL, {}, SCSI },
        { "scheduler", "noop", VERDICT_UNCHANGED, "queue/scheduler", "none", NULL, {}, SCSI },
        { "scheduler", "noop", VERDICT_APPLIED, "queue/scheduler", "[bfq] none", "none", {}, SCSI },
        { "scheduler", "kyber", VERDICT_APPLIED, "queue/scheduler", "[bfq] kyber none", "kyber", {}, SCSI },
        { "nr_requests", "256", VERDICT_APPLIED, "queue/nr_requests", "64", "256", {}, SCSI },
        { "nr_requests", "256", VERDICT_UNSUPPORTED, "queue/nr_requests", "128", NULL, {}, MD, .reason_part = "the disks below" },
        /* Accepted: a multipath device with hardware queues (mq/). */
        { "nr_requests", "256", VERDICT_APPLIED, "queue/nr_requests", "128", "256", { "mq/0/cpu_list=0" }, MD },
        { "nr_requests", "64", VERDICT_UNCHANGED, "queue/nr_requests", "64", NULL, {}, SCSI },
        { "nr_requests", "64", VERDICT_UNSUPPORTED, "queue/nr_requests", NULL, NULL, {}, SCSI, .reason_part = "queue/nr_requests" },
        { "rotational", "off", VERDICT_APPLIED, "queue/rotational", "1", "0", {}, MD },
        { "add_random", "on", VERDICT_APPLIED, "queue/add_random", "0", "1", {}, MD },
        { "iostats", "off", VERDICT_APPLIED, "queue/iostats", "1", "0", {}, MD },
        { "rq_affinity", "2", VERDICT_APPLIED, "queue/rq_affinity", "1", "2", {}, SCSI },
        { "nomerges", "1", VERDICT_APPLIED, "queue/nomerges", "0", "1", {}, SCSI },
        { "io_timeout", "90s", VERDICT_APPLIED, "queue/io_timeout", "30000", "90000", {}, SCSI },
        { "discard_max_bytes", "1MiB", VERDICT_APPLIED, "queue/discard_max_bytes", "0", "1048576",
          { "queue/discard_max_hw_bytes=4294966784" }, SCSI },
        { "discard_max_bytes", "off", VERDICT_APPLIED, "queue/discard_max_bytes", "1048576", "0",
          { "queue/discard_max_hw_bytes=4294966784" }, SCSI },
        { "discard_max_bytes", "1MiB", VERDICT_UNSUPPORTED, "queue/discard_max_bytes", "0", NULL,
          { "queue/discard_max_hw_bytes=0" }, SCSI, .reason_part = "has no discard_max_bytes" },
        { "discard_max_bytes", "off", VERDICT_UNCHANGED, "queue/discard_max_bytes", "0", NULL,
          { "queue/discard_max_hw_bytes=0" }, SCSI, .reason_part = "counts as off" },
        { "wbt_lat_usec", "20ms", VERDICT_APPLIED, "queue/wbt_lat_usec", "75000", "20000", {}, SCSI },
        { "wbt_lat_usec", "off", VERDICT_APPLIED, "queue/wbt_lat_usec", "75000", "0", {}, SCSI },
        { "wbt_lat_usec", "default", VERDICT_UNCHANGED, "queue/wbt_lat_usec", "75000", NULL, { "queue/rotational=1" }, SCSI },
        { "wbt_lat_usec", "default", VERDICT_UNCHANGED, "queue/wbt_lat_usec", "2000", NULL, { "queue/rotational=0" }, SCSI },
        { "wbt_lat_usec", "default", VERDICT_ADJUSTED, "queue/wbt_lat_usec", "0", "-1", { "queue/rotational=1" }, SCSI },
        { "max_sectors_kb", "512", VERDICT_APPLIED, "queue/max_sectors_kb", "1280", "512", { "queue/max_hw_sectors_kb=32767" }, SCSI },
        { "max_sectors_kb", "default", VERDICT_UNCHANGED, "queue/max_sectors_kb", "1280", NULL, { "queue/max_hw_sectors_kb=32767" }, SCSI },
        { "max_sectors_kb", "default", VERDICT_UNCHANGED, "queue/max_sectors_kb", "4096", NULL, { "queue/max_hw_sectors_kb=32767" }, SCSI },
        { "max_sectors_kb", "default", VERDICT_UNCHANGED, "queue/max_sectors_kb", "120", NULL, { "queue/max_hw_sectors_kb=120" }, SCSI },
        /* The value already is the default, which is the optimal I/O size here: the verdict is "unchanged". */
        { "max_sectors_kb", "default", VERDICT_UNCHANGED, "queue/max_sectors_kb", "8192", NULL,
          { "queue/max_hw_sectors_kb=32767", "queue/optimal_io_size=8388608" }, SCSI },
        { "max_sectors_kb", "default", VERDICT_UNSUPPORTED, "queue/max_sectors_kb", "1280", NULL, {}, SCSI, .reason_part = "max_hw_sectors_kb" },
        { "wbt_lat_usec", "default", VERDICT_UNSUPPORTED, "queue/wbt_lat_usec", "75000", NULL, {}, SCSI, .reason_part = "queue/rotational" },
        { "max_sectors_kb", "default", VERDICT_ADJUSTED, "queue/max_sectors_kb", "64", "0", { "queue/max_hw_sectors_kb=32767" }, SCSI },

        /* Chunks of 64 KiB on three data disks: a stripe has 192 KiB. */
        { "read_ahead_kb", "2 stripes", VERDICT_APPLIED, "queue/read_ahead_kb", "128", "384",
          { "queue/minimum_io_size=65536", "queue/optimal_io_size=196608" }, MD },
        { "read_ahead_kb", "2 stripes", VERDICT_UNCHANGED, "queue/read_ahead_kb", "384", NULL,
          { "queue/minimum_io_size=65536", "queue/optimal_io_size=196608" }, MD },
        { "read_ahead_kb", "2 stripes", VERDICT_UNSUPPORTED, "queue/read_ahead_kb", "128", NULL,
          { "queue/minimum_io_size=512", "queue/optimal_io_size=0" }, MD, .reason_part = "not a striped array" },
        /* Rejected: the sizes are those of a USB bridge. */
        { "read_ahead_kb", "2 stripes", VERDICT_UNSUPPORTED, "queue/read_ahead_kb", "128", NULL,
          { "queue/minimum_io_size=4096", "queue/optimal_io_size=33553920" }, SCSI, .reason_part = "not a striped array" },

        /* Rejected: the sizes are those of a dm device on a disk. */
        { "read_ahead_kb", "2 stripes", VERDICT_UNSUPPORTED, "queue/read_ahead_kb", "128", NULL,
          { "queue/minimum_io_size=512", "queue/optimal_io_size=33553920" }, MD, .reason_part = "not a striped array" },
        /* Rejected: the stripe is not a multiple of the chunk. */
        { "read_ahead_kb", "2 stripes", VERDICT_UNSUPPORTED, "queue/read_ahead_kb", "128", NULL,
          { "queue/minimum_io_size=65536", "queue/optimal_io_size=100000" }, MD, .reason_part = "not a striped array" },
        /* Rejected: only one data disk. */
        { "read_ahead_kb", "2 stripes", VERDICT_UNSUPPORTED, "queue/read_ahead_kb", "128", NULL,
          { "queue/minimum_io_size=65536", "queue/optimal_io_size=65536" }, MD, .reason_part = "not a striped array" },
        { "read_ahead_kb", "2 stripes", VERDICT_UNSUPPORTED, "queue/read_ahead_kb", "128", NULL,
          { "queue/minimum_io_size=0", "queue/optimal_io_size=65536" }, MD, .reason_part = "not a striped array" },

        { "strict_limit", "on", VERDICT_APPLIED, "bdi/strict_limit", "0", "1", {}, SCSI },
        { "strict_limit", "on", VERDICT_UNSUPPORTED, "bdi/strict_limit", NULL, NULL, {}, SCSI, .reason_part = "no bdi/strict_limit" },
        { "max_ratio", "5", VERDICT_APPLIED, "bdi/max_ratio", "100", "5", {}, SCSI },
        { "max_ratio", "0", VERDICT_APPLIED, "bdi/max_ratio", "100", "0", {}, MD },
        { "max_ratio", "5", VERDICT_UNSUPPORTED, "bdi/max_ratio", NULL, NULL, {}, SCSI, .reason_part = "no bdi/max_ratio" },
        /* The kernel does not keep the bytes, so even the wanted number is written. */
        { "max_bytes", "64MiB", VERDICT_UNVERIFIABLE, "bdi/max_bytes", "67108864", "67108864", {}, SCSI, .reason_part = "cannot be read back" },
        { "max_bytes", "64MiB", VERDICT_UNVERIFIABLE, "bdi/max_bytes", "823140352", "67108864", {}, SCSI, .reason_part = "cannot be read back" },
        { "max_bytes", "64MiB", VERDICT_UNSUPPORTED, "bdi/max_bytes", NULL, NULL, {}, SCSI, .reason_part = "no bdi/max_bytes" },
        { "stripe_cache_size", "8192", VERDICT_APPLIED, "md/stripe_cache_size", "256", "8192", {}, MD },
        { "stripe_cache_size", "8192", VERDICT_UNSUPPORTED, "md/stripe_cache_size", NULL, NULL, {}, MD, .reason_part = "no md/stripe_cache_size" },
        { "group_thread_cnt", "4", VERDICT_APPLIED, "md/group_thread_cnt", "0", "4", {}, MD },
        { "group_thread_cnt", "0", VERDICT_UNCHANGED, "md/group_thread_cnt", "0", NULL, {}, MD },
        /* The kernel's file shows the speed limit of all arrays if the array has no limit of its own. This test's file shows a written
         * value without "(local)", so the read-back fails. */
        { "sync_speed_min", "5000", VERDICT_UNCHANGED, "md/sync_speed_min", "5000 (local)", NULL, {}, MD },
        { "sync_speed_min", "1000", VERDICT_FAILED, "md/sync_speed_min", "1000 (system)", "1000", {}, MD, .reason_part = "not a speed" },
        { "sync_speed_max", "50MiB", VERDICT_FAILED, "md/sync_speed_max", "200000 (system)", "51200", {}, MD, .reason_part = "not a speed" },
        { "sync_speed_max", "system", VERDICT_UNCHANGED, "md/sync_speed_max", "200000 (system)", NULL, {}, MD },
        { "sync_speed_max", "system", VERDICT_FAILED, "md/sync_speed_max", "5000 (local)", "system", {}, MD, .reason_part = "not a speed" },
        { "sync_speed_max", "5000", VERDICT_FAILED, "md/sync_speed_max", "many (local)", NULL, {}, MD, .reason_part = "reads 'many (local)'" },
        { "sync_speed_max", "5000", VERDICT_UNSUPPORTED, "md/sync_speed_max", NULL, NULL, {}, MD, .reason_part = "no md/sync_speed_max" },

        /* Only the scheduler in force has its settings. */
        { "read_expire", "250ms", VERDICT_APPLIED, "queue/iosched/read_expire", "500", "250", { DEADLINE }, SCSI },
        { "read_expire", "250ms", VERDICT_UNCHANGED, "queue/iosched/read_expire", "252", NULL, { DEADLINE }, SCSI },
        { "read_expire", "250ms", VERDICT_APPLIED, "queue/iosched/read_expire", "260", "250", { DEADLINE }, SCSI },
        { "read_expire", "250ms", VERDICT_APPLIED, "queue/iosched/read_expire", "249", "250", { DEADLINE }, SCSI },
        { "fifo_batch", "32", VERDICT_UNCHANGED, "queue/iosched/fifo_batch", "32", NULL, { DEADLINE }, SCSI },
        { "read_expire", "250ms", VERDICT_UNSUPPORTED, "queue/iosched/read_expire", NULL, NULL, { "queue/scheduler=mq-deadline [bfq] none" }, SCSI,
          .reason_part = "belongs to the I/O scheduler mq-deadline, and bfq is in force" },
        { "low_latency", "off", VERDICT_UNSUPPORTED, "queue/iosched/low_latency", NULL, NULL, { "queue/scheduler=none" }, MD,
          .reason_part = "the I/O scheduler bfq, and none is in force" },
        { "low_latency", "off", VERDICT_UNSUPPORTED, "queue/iosched/low_latency", NULL, NULL, {}, SCSI, .reason_part = "no queue/scheduler" },
        { "prio_aging_expire", "10s", VERDICT_UNSUPPORTED, "queue/iosched/prio_aging_expire", NULL, NULL, { DEADLINE }, SCSI,
          .reason_part = "no queue/iosched/prio_aging_expire" },
        { "low_latency", "off", VERDICT_APPLIED, "queue/iosched/low_latency", "1", "0", { BFQ }, SCSI },
        { "slice_idle", "off", VERDICT_APPLIED, "queue/iosched/slice_idle_us", "8000", "0", { BFQ }, SCSI },
        { "slice_idle", "4ms", VERDICT_APPLIED, "queue/iosched/slice_idle_us", "8000", "4000", { BFQ }, SCSI },
        { "max_budget", "4MiB", VERDICT_APPLIED, "queue/iosched/max_budget", "0", "8192", { BFQ }, SCSI },
        { "max_budget", "auto", VERDICT_APPLIED, "queue/iosched/max_budget", "8192", "0", { BFQ }, SCSI },
        { "back_seek_max", "8MiB", VERDICT_APPLIED, "queue/iosched/back_seek_max", "16384", "8192", { BFQ }, SCSI },
        { "read_lat_nsec", "1000000", VERDICT_APPLIED, "queue/iosched/read_lat_nsec", "2000000", "1000000", { "queue/scheduler=[kyber] none" }, SCSI },

        /* A file with invalid content gives the verdict `failed`. */
        { "nr_requests", "64", VERDICT_FAILED, "queue/nr_requests", "64x", NULL, {}, SCSI, .reason_part = "reads '64x', which is not a number" },
        { "nr_requests", "64", VERDICT_FAILED, "queue/nr_requests", "", NULL, {}, SCSI, .reason_part = "reads '', which is not a number" },
        { "nr_requests", "64", VERDICT_FAILED, "queue/nr_requests", "9223372036854775808", NULL, {}, SCSI, .reason_part = "not a number" },
        { "io_timeout", "90s", VERDICT_FAILED, "queue/io_timeout", "soon", NULL, {}, SCSI, .reason_part = "queue/io_timeout reads 'soon'" },
        { "scheduler", "none", VERDICT_FAILED, "queue/scheduler", "[a-word-that-is-longer-than-any-of-the-kernel] none", NULL, {}, SCSI,
          .reason_part = "reads 'a-word-" },

        { "eh_timeout", "20s", VERDICT_APPLIED, "device/eh_timeout", "10", "20", {}, SCSI },
        { "max_retries", "unlimited", VERDICT_APPLIED, DISK "max_retries", "5", "-1", {}, SCSI },
        { "max_retries", "0", VERDICT_APPLIED, DISK "max_retries", "-1", "0", {}, SCSI },
        { "allow_restart", "on", VERDICT_APPLIED, DISK "allow_restart", "0", "1", {}, SCSI },
        { "cdl_enable", "on", VERDICT_APPLIED, "device/cdl_enable", "0", "1", { "device/cdl_supported=1" }, SCSI },
        { "cdl_enable", "on", VERDICT_APPLIED, "device/cdl_enable", "0", "1", { "device/cdl_supported=1" }, SATA, ROWS(active) },
        { "cdl_enable", "on", VERDICT_DEFERRED, "device/cdl_enable", "0", NULL, { "device/cdl_supported=1" }, SATA, .reason_part = "spin it up",
          ROWS(cache_in_standby) },
        { "cdl_enable", "on", VERDICT_DEFERRED, "device/cdl_enable", "0", NULL,
          { "device/cdl_supported=1", "device/power/runtime_status=suspended" }, SATA, .reason_part = "spin it up" },
        { "cdl_enable", "on", VERDICT_UNSUPPORTED, "device/cdl_enable", "0", NULL, { "device/cdl_supported=0" }, SCSI },
        { "ncq_prio_enable", "on", VERDICT_APPLIED, "device/ncq_prio_enable", "0", "1", { "device/ncq_prio_supported=1" }, SATA },
        { "ncq_prio_enable", "on", VERDICT_APPLIED, "device/sas_ncq_prio_enable", "0", "1", { "device/sas_ncq_prio_supported=1" }, SCSI },
        { "cdl_enable", "off", VERDICT_UNCHANGED, "device/cdl_enable", "0", NULL, { "device/cdl_supported=0" }, SCSI },
        { "ncq_prio_enable", "off", VERDICT_UNCHANGED, "device/ncq_prio_enable", "0", NULL, { "device/ncq_prio_supported=0" }, SATA },
        { "ncq_prio_enable", "on", VERDICT_UNSUPPORTED, "device/ncq_prio_enable", "0", NULL, { "device/ncq_prio_supported=0" }, SATA },

        /* Kernels before and since Linux 6.6 have different files for manage_start_stop. */
        { "manage_start_stop", "on", VERDICT_APPLIED, DISK "manage_start_stop", "0", "1", {}, SCSI },
        { "manage_start_stop", "on", VERDICT_UNSUPPORTED, DISK "manage_start_stop", "!0", NULL, {}, SCSI, .reason_part = "manage_shutdown" },
        { "manage_shutdown", "off", VERDICT_APPLIED, DISK "manage_shutdown", "1", "0", {}, SCSI },
        { "manage_system_start_stop", "on", VERDICT_APPLIED, DISK "manage_system_start_stop", "0", "1", {}, SCSI },
        { "manage_runtime_start_stop", "on", VERDICT_APPLIED, DISK "manage_runtime_start_stop", "0", "1", {}, SCSI },
        { "manage_runtime_start_stop", "on", VERDICT_UNSUPPORTED, DISK "manage_runtime_start_stop", NULL, NULL,
          { DISK "manage_start_stop=0" }, SCSI, .reason_part = "use manage_start_stop" },

        { "autosuspend_delay", "10min", VERDICT_APPLIED, "device/power/autosuspend_delay_ms", "-1", "600000", {}, SCSI },
        { "autosuspend_delay", "never", VERDICT_APPLIED, "device/power/autosuspend_delay_ms", "600000", "-1", {}, SCSI },
        { "autosuspend_delay", "never", VERDICT_DEFERRED, "device/power/autosuspend_delay_ms", "600000", NULL,
          { "device/power/runtime_status=suspended" }, SCSI, .reason_part = "after the drive resumes" },
        { "autosuspend_delay", "never", VERDICT_APPLIED, "device/power/autosuspend_delay_ms", "600000", "-1",
          { "device/power/runtime_status=suspended" }, SCSI, .wake = true },
        { "autosuspend_delay", "never", VERDICT_UNCHANGED, "device/power/autosuspend_delay_ms", "-1", NULL,
          { "device/power/runtime_status=suspended" }, SCSI },
        { "runtime_pm", "auto", VERDICT_APPLIED, "device/power/control", "on", "auto", { "device/power/runtime_status=active" }, SCSI },
        { "runtime_pm", "on", VERDICT_APPLIED, "device/power/control", "auto", "on", { "device/power/runtime_status=active" }, SCSI },
        { "runtime_pm", "on", VERDICT_DEFERRED, "device/power/control", "auto", NULL,
          { "device/power/runtime_status=suspended" }, SCSI, .reason_part = "after the drive resumes" },
        { "runtime_pm", "on", VERDICT_APPLIED, "device/power/control", "auto", "on",
          { "device/power/runtime_status=suspended" }, SCSI, .wake = true },
        /* A value that does not resume a suspended drive is written immediately. */
        { "runtime_pm", "auto", VERDICT_APPLIED, "device/power/control", "on", "auto",
          { "device/power/runtime_status=suspended" }, SCSI },
        { "autosuspend_delay", "10min", VERDICT_APPLIED, "device/power/autosuspend_delay_ms", "5000", "600000",
          { "device/power/runtime_status=suspended" }, SATA },
        { "scheduler", "none", VERDICT_APPLIED, "queue/scheduler", "[mq-deadline] none", "none",
          { "device/power/runtime_status=suspended" }, SATA },
        { "timeout", "60s", VERDICT_APPLIED, "device/timeout", "30", "60", { "device/power/runtime_status=suspended" }, SATA },
        { "manage_runtime_start_stop", "on", VERDICT_APPLIED, DISK "manage_runtime_start_stop", "0", "1",
          { "device/power/runtime_status=suspended" }, SATA },

        { "link_power_management", "med_power_with_dipm", VERDICT_APPLIED, POLICY, "max_performance", "med_power_with_dipm",
          { HOST "ahci_port_cmd=6017" }, SATA },
        { "link_power_management", "min_power", VERDICT_FORBIDDEN, POLICY, "max_performance", NULL,
          { HOST "ahci_port_cmd=46017" }, SATA, .reason_part = "hot-pluggable" },
        { "link_power_management", "min_power", VERDICT_APPLIED, POLICY, "max_performance", "min_power",
          { HOST "ahci_port_cmd=46017" }, SATA, .allow_dangerous = true },
        { "link_power_management", "max_performance", VERDICT_APPLIED, POLICY, "min_power", "max_performance",
          { HOST "ahci_port_cmd=46017" }, SATA },
        { "link_power_management", "min_power", VERDICT_FORBIDDEN, POLICY, "max_performance", NULL,
          { HOST "ahci_port_cmd=206017", HOST "ahci_host_caps=6020" }, SATA, .reason_part = "eSATA" },
        /* Without the host's eSATA capability, the port's eSATA bit is not valid, so the value is written. */
        { "link_power_management", "min_power", VERDICT_APPLIED, POLICY, "max_performance", "min_power",
          { HOST "ahci_port_cmd=206017", HOST "ahci_host_caps=c734ff01" }, SATA },
        { "link_power_management", "min_power", VERDICT_FORBIDDEN, POLICY, "max_performance", NULL,
          { "device/../../../../removable=removable" }, SATA, .reason_part = "removable controller" },
        /* The reason says why the link has no power management. */
        { "link_power_management", "min_power", VERDICT_UNSUPPORTED, POLICY, "max_performance", NULL,
          { HOST "link_power_management_supported=0", HOST "ahci_host_caps=c734ff01" }, SATA, .reason_part = "turns off link power management for this drive or controller; journalctl" },
        { "link_power_management", "min_power", VERDICT_UNSUPPORTED, POLICY, "max_performance", NULL,
          { HOST "link_power_management_supported=0", HOST "ahci_port_cmd=46017" }, SATA, true, .reason_part = "hot-plug or external (eSATA) port at full power" },
        { "link_power_management", "min_power", VERDICT_UNSUPPORTED, POLICY, "max_performance", NULL,
          { HOST "ahci_port_cmd=46017", HOST "ahci_host_caps=c7309f01", HOST "ahci_host_cap2=0" }, SATA, true, .reason_part = "PSC and SSC are 0" },
        { "link_power_management", "min_power", VERDICT_APPLIED, POLICY, "max_performance", "min_power",
          { HOST "ahci_host_caps=c730bf01" }, SATA },
        { "link_power_management", "min_power", VERDICT_APPLIED, POLICY, "max_performance", "min_power",
          { HOST "ahci_host_caps=c730df01" }, SATA },
        { "link_power_management", "min_power", VERDICT_APPLIED, POLICY, "max_performance", "min_power",
          { HOST "ahci_host_caps=c7309f01", HOST "ahci_host_cap2=8" }, SATA },
        { "link_power_management", "min_power", VERDICT_UNSUPPORTED, POLICY, NULL, NULL,
          { HOST "proc_name=ata_piix", "device/../../../../class=0x01018a" }, SATA, .reason_part = "IDE mode" },
        { "link_power_management", "min_power", VERDICT_UNSUPPORTED, POLICY, NULL, NULL,
          { HOST "proc_name=sata_mv", "device/../../../../class=0x010000" }, SATA, .reason_part = "driver sata_mv of the drive's port" },
        { "link_power_management", "min_power", VERDICT_UNSUPPORTED, POLICY, NULL, NULL, {}, SATA, .reason_part = "the kernel has no device/../../scsi_host" },

        /* The cache type that the kernel assumes must not be "write through" while the drive's cache is on. */
        { "queue_write_cache", "write through", VERDICT_FORBIDDEN, "queue/write_cache", "write back", NULL, {}, SATA, .reason_part = "dangerous" },
        { "queue_write_cache", "write through", VERDICT_APPLIED, "queue/write_cache", "write back", "write through", {}, SATA, true,
          ROWS(cache_off_read_back) },
        { "queue_write_cache", "write through", VERDICT_UNCHANGED, "queue/write_cache", "write through", NULL, {}, SATA, true,
          ROWS(cache_is_off) },
        { "queue_write_cache", "write through", VERDICT_FORBIDDEN, "queue/write_cache", "write back", NULL, {}, SATA, true,
          "cache is on", ROWS(cache_is_live) },
        /* After a power loss the drive's cache is on again: the kernel's "write through" must be corrected. */
        { "queue_write_cache", "write through", VERDICT_FORBIDDEN, "queue/write_cache", "write through", "write back", {}, SATA, true,
          "cache is on", ROWS(cache_live_twice) },
        { "queue_write_cache", "write through", VERDICT_DEFERRED, "queue/write_cache", "write back", NULL, {}, SATA, true,
          "in standby", ROWS(cache_in_standby) },
        { "queue_write_cache", "write through", VERDICT_DEFERRED, "queue/write_cache", "write through", NULL, {}, SATA, true,
          "in standby", ROWS(cache_in_standby) },
        /* The file already has the wanted content, but the drive does not report its cache state: the verdict is `forbidden`. */
        { "queue_write_cache", "write through", VERDICT_FORBIDDEN, "queue/write_cache", "write through", "write back", {}, SATA, true,
          "does not report", ROWS(cache_refused) },
        { "queue_write_cache", "write back", VERDICT_APPLIED, "queue/write_cache", "write through", "write back", {}, SATA, true,
          NULL, ROWS(cache_is_live) },
        { "queue_write_cache", "write through", VERDICT_FORBIDDEN, "queue/write_cache", "write back", NULL, {}, MD, true, "does not report" },
        { "cache_type", "write through", VERDICT_FORBIDDEN, DISK "cache_type", "write back", NULL, {}, SATA, true,
          "cache is on", ROWS(cache_is_live) },
        /* The kernel shows "write through" without the prefix "temporary". This test's file keeps the prefix, so the verdict is
         * "adjusted". */
        { "cache_type", "write through", VERDICT_ADJUSTED, DISK "cache_type", "write back", "temporary write through", {}, SATA, true,
          NULL, ROWS(cache_is_off) },
};
/* clang-format on */

START_TEST(test_row) {
        const Case *c = cases + _i;
        const Setting *s = setting_find(&all_settings, c->name);
        char path[PATH_MAX], text[64] = "", shown[256];
        Drive d = { .name = (char *) "sda",
                    .node = (char *) "/dev/sda",
                    .transport = c->transport,
                    .rotational = true };
        Script script = { .rows = c->rows, .n_rows = c->n_rows };
        DeviceIO io = script_io(&script);
        Wish wish = { .name = c->name, .file = "f", .line = 1, .allow_dangerous = c->allow_dangerous, .wake = c->wake };
        Wishes w = { &wish, 1 };
        Visit v = { .drive = &d, .wishes = &w, .settings = &all_settings, .io = &io, .work = WORK_APPLY };
        FILE *f;
        Plan p;

        snprintf(shown, sizeof shown, "%s = %s, was %s, case %d", c->name, c->value, c->before ?: "missing", _i);
        ck_assert_ptr_nonnull(s);
        ck_assert_msg(value_parse(&s->range, c->value, &wish.value) == 0, "%s: no value", shown);

        make_tree(&d);
        d.ata = c->transport == TRANSPORT_SATA;
        if (c->before)
                put(c->file, c->before);
        for (size_t i = 0; i < ELEMENTSOF(c->others) && c->others[i]; i++) {
                char other[PATH_MAX];
                char *sign;

                snprintf(other, sizeof other, "%s", c->others[i]);
                sign = strchr(other, '=');
                *sign = '\0';
                put(other, sign + 1);
        }

        /* A dry run reports a read-only file in the same way as a visit. */
        if (c->before && *c->before == '!') {
                v.dry = true;
                ck_assert_int_eq(visit_run(&v, &p), 0);
                ck_assert_msg(p.steps[0].verdict == c->verdict && !p.steps[0].write && p.steps[0].remediable,
                              "%s: the dry run would write it", shown);
                plan_done(&p);
                v.dry = false;
        }
        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_msg(p.steps[0].verdict == c->verdict, "%s: expected %s, got %s (%s)", shown,
                      verdict_to_string(c->verdict), verdict_to_string(p.steps[0].verdict), p.steps[0].reason);
        ck_assert_msg(!c->reason_part || strstr(p.steps[0].reason, c->reason_part), "%s: reason '%s'", shown,
                      p.steps[0].reason);
        script_done(&script);
        plan_done(&p);

        path_of(c->file, path);
        f = fopen(path, "r");
        ck_assert(!f == !c->before);
        if (f) {
                ck_assert_ptr_nonnull(fgets(text, sizeof text, f));
                fclose(f);
                text[strcspn(text, "\n")] = '\0';
                ck_assert_msg(streq(text, c->after ?: c->before + (*c->before == '!')), "%s: the file has '%s'", shown,
                              text);
        }

        drop_tree(&d);
}
END_TEST

/* A visit writes the scheduler first, and then the scheduler's settings, whose files did not exist before. A dry run reports both. */
START_TEST(test_setting_of_new_scheduler) {
        Drive d = { .name = (char *) "sda", .node = (char *) "/dev/sda", .transport = TRANSPORT_VIRTIO };
        Script script = {};
        DeviceIO io = script_io(&script);
        Wish wishes[] = { { .name = "low_latency", .value = VALUE_BOOLEAN(false), .file = "f" },
                          { .name = "read_expire", .value = { VALUE_DURATION, 100, "" }, .file = "f" },
                          { .name = "scheduler", .value = { VALUE_NAME, 0, "bfq" }, .file = "f" } };
        Wishes w = { wishes, ELEMENTSOF(wishes) };
        Visit v = { .drive = &d, .wishes = &w, .settings = &all_settings, .io = &io, .work = WORK_APPLY, .dry = true };
        char path[PATH_MAX];
        Plan p;

        make_tree(&d);
        put("queue/scheduler", "[mq-deadline] bfq none");
        put("queue/iosched/read_expire", "500");

        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_str_eq(p.steps[0].wish->name, "scheduler");
        ck_assert_str_eq(p.steps[2].wish->name, "low_latency");
        ck_assert(p.steps[0].write && p.steps[2].write);
        plan_done(&p);

        path_of("queue/iosched/read_expire", path);
        ck_assert_int_eq(unlink(path), 0);
        put("queue/iosched/low_latency", "1");
        v.dry = false;
        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_int_eq(p.steps[0].verdict, VERDICT_APPLIED);
        ck_assert_int_eq(p.steps[1].verdict, VERDICT_UNSUPPORTED);
        ck_assert_int_eq(p.steps[2].verdict, VERDICT_APPLIED);
        check_text("queue/iosched/low_latency", "0");
        plan_done(&p);
        drop_tree(&d);
}
END_TEST

/* When the kernel commits max_sectors_kb, it also raises read_ahead_kb, which may have had the wanted value before. To
 * simulate this effect, max_sectors_kb is a link to read_ahead_kb. */
START_TEST(test_setting_reset_during_visit) {
        Drive d = { .name = (char *) "sda", .node = (char *) "/dev/sda", .transport = TRANSPORT_VIRTIO };
        Script script = {};
        DeviceIO io = script_io(&script);
        Wish wishes[] = { { .name = "read_ahead_kb", .value = { VALUE_SIZE, 64 * 1024, "" }, .file = "f" },
                          { .name = "max_sectors_kb", .value = { VALUE_SIZE, 512 * 1024, "" }, .file = "f" } };
        Wishes w = { wishes, ELEMENTSOF(wishes) };
        Visit v = { .drive = &d, .wishes = &w, .settings = &all_settings, .io = &io, .work = WORK_APPLY, .dry = true };
        char path[PATH_MAX];
        Plan p;

        make_tree(&d);
        put("queue/read_ahead_kb", "64");
        path_of("queue/max_sectors_kb", path);
        ck_assert_int_eq(symlink("read_ahead_kb", path), 0);

        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_str_eq(p.steps[1].wish->name, "read_ahead_kb");
        ck_assert_int_eq(p.steps[1].verdict, VERDICT_UNCHANGED);
        plan_done(&p);

        v.dry = false;
        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_int_eq(p.steps[1].verdict, VERDICT_APPLIED);
        check_text("queue/read_ahead_kb", "64");
        plan_done(&p);
        drop_tree(&d);
}
END_TEST

/* If one setting of a visit may resume a suspended drive, the whole visit may resume the drive. If no setting may
 * resume the drive, settings of the drive are deferred, and kernel settings are written immediately. */
static const struct {
        bool wake, no_wake;
        Verdict runtime_pm, cache;
} resumes[] = {
        { false, false, VERDICT_DEFERRED, VERDICT_DEFERRED },
        { true, false, VERDICT_APPLIED, VERDICT_UNCHANGED },
        { true, true, VERDICT_DEFERRED, VERDICT_DEFERRED },
};

START_TEST(test_suspended) {
        Drive d = { .name = (char *) "sda", .node = (char *) "/dev/sda", .transport = TRANSPORT_SATA, .ata = true };
        const Row rows[] = { ID(cached) };
        bool resumed = resumes[_i].runtime_pm == VERDICT_APPLIED;
        Script script = { .rows = rows, .n_rows = resumed };
        DeviceIO io = script_io(&script);
        Wish wishes[] = {
                { .name = "write_cache", .value = VALUE_BOOLEAN(true), .file = "f" },
                { .name = "timeout", .value = { VALUE_DURATION, 60000 }, .file = "f" },
                { .name = "runtime_pm", .value = { VALUE_NAME, 0, "on" }, .file = "f", .wake = resumes[_i].wake }
        };
        Wishes w = { wishes, ELEMENTSOF(wishes) };
        Visit v = { .drive = &d,
                    .wishes = &w,
                    .settings = &all_settings,
                    .io = &io,
                    .work = WORK_APPLY & ~(resumes[_i].no_wake ? WORK_WAKE : 0) };
        Plan p;

        make_tree(&d);
        put("device/power/runtime_status", "suspended");
        put("device/power/control", "auto");
        put("device/timeout", "30");

        ck_assert_int_eq(visit_run(&v, &p), 0);
        for (size_t i = 0; i < p.n_steps; i++) {
                const Step *s = p.steps + i;

                ck_assert_int_eq(s->verdict, streq(s->wish->name, "timeout")      ? VERDICT_APPLIED
                                             : streq(s->wish->name, "runtime_pm") ? resumes[_i].runtime_pm
                                                                                  : resumes[_i].cache);
        }
        check_text("device/timeout", "60");
        check_text("device/power/control", resumed ? "on" : "auto");
        script_done(&script);
        plan_done(&p);
        drop_tree(&d);
}
END_TEST

/* Answers commands for the drive. When the drive's cache is turned off, the kernel changes its cache type to "write
 * through", although the wanted cache type is "write back". */
static int sg_turns_cache_off(void *userdata, int fd, SgRequest *q) {
        int r = script_sg(userdata, fd, q);

        if (q->cdb[14] == 0xEF)
                put("queue/write_cache", "write through");
        return r;
}

START_TEST(test_kernel_view_changes_during_visit) {
        Drive d = { .name = (char *) "sda", .node = (char *) "/dev/sda", .transport = TRANSPORT_SATA, .ata = true };
        const Row rows[] = { ACTIVE,
                             ID(cached),
                             { .cdb = "85 06 20 00 82 00 00 00 00 00 00 00 00 40 ef 00" },
                             { .cdb = "85 07 20 00 00 00 00 00 00 00 00 00 00 40 ea 00" },
                             ID(uncached),
                             ID(uncached) };
        Script script = SCRIPT(rows);
        DeviceIO io = script_io(&script);
        Wish wishes[] = { { .name = "write_cache", .value = VALUE_BOOLEAN(false), .file = "f" },
                          { .name = "queue_write_cache",
                            .value = { VALUE_NAME, 0, "write back" },
                            .file = "f",
                            .allow_dangerous = true } };
        Wishes w = { wishes, ELEMENTSOF(wishes) };
        Visit v = { .drive = &d, .wishes = &w, .settings = &all_settings, .io = &io, .work = WORK_APPLY };
        Plan p;

        make_tree(&d);
        put("queue/write_cache", "write back");
        io.sg = sg_turns_cache_off;

        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_int_eq(p.steps[0].verdict, VERDICT_APPLIED);
        ck_assert_int_eq(p.steps[1].verdict, VERDICT_APPLIED);
        check_text("queue/write_cache", "write back");
        script_done(&script);
        plan_done(&p);
        drop_tree(&d);
}
END_TEST

static int flag_result;
static int set_flag(void *userdata _unused_, const char *name, bool on) {
        char path[64];

        snprintf(path, sizeof path, streq(name, "sda") ? "ro" : "%s/ro", name);
        if (flag_result == 0)
                put(path, on ? "1" : "0");
        return flag_result;
}

static const char *claimed; /* name of the device that is open exclusively; NULL: none */
static int claim_error;
static int is_claimed(void *userdata _unused_, const char *name) {
        if (claim_error < 0)
                return claim_error;
        return claimed && starts_with(claimed, name); /* an open partition also claims its disk */
}

static const struct {
        const char *mounts;
        bool wanted, allow_dangerous;
        const char *disk, *partition; /* read-only flags before the visit */
        int result;
        Verdict verdict;
        const char *after, *reason_part; /* `after`: read-only flag of the disk and the partition after the visit */
        const char *array;               /* state of the array that uses the partition; NULL: none */
        const char *claimed;
        int claim_error;
} flags[] = {
        { "", true, false, "0", "0", 0, VERDICT_APPLIED, "1", NULL },
        { "", true, false, "1", "0", 0, VERDICT_APPLIED, "1", NULL },
        { "", true, false, "1", "1", 0, VERDICT_UNCHANGED, "1", NULL },
        { "", false, false, "1", "1", 0, VERDICT_APPLIED, "0", NULL },
        { "", true, false, "0", "0", -EACCES, VERDICT_REFUSED, "0", "Permission denied" },
        { "30 1 8:1 / /srv rw,noatime shared:1 - ext4 /dev/sda1 rw,errors=continue\n", true, false, "0", "0", 0,
          VERDICT_FORBIDDEN, "0", "/srv" },
        { "30 1 8:1 / /srv ro,noatime - ext4 /dev/sda1 rw\n", true, false, "0", "0", 0, VERDICT_FORBIDDEN, "0",
          "/srv" },
        { "30 1 8:1 / /srv ro,noatime shared:1 - ext4 /dev/sda1 ro,errors=continue\n", true, false, "0", "0", 0,
          VERDICT_APPLIED, "1", NULL },
        { "30 1 253:0 / /srv rw - xfs /dev/mapper/x rw,attr2\n", true, false, "0", "0", 0, VERDICT_FORBIDDEN, "0",
          "/srv" },
        { "30 1 8:16 / /srv rw - xfs /dev/sdb rw\n", true, false, "0", "0", 0, VERDICT_APPLIED, "1", NULL },
        { "30 1 8:1 / /srv rw - ext4 /dev/sda1 rw\n", true, true, "0", "0", 0, VERDICT_APPLIED, "1", NULL },
        { "", true, false, "0", "0", 0, VERDICT_FORBIDDEN, "0", "the array md0",
          "clean" }, /* forbidden although the array is not mounted */
        { "", true, false, "0", "0", 0, VERDICT_APPLIED, "1", NULL, "read-auto" },
        { "", true, true, "0", "0", 0, VERDICT_APPLIED, "1", NULL, "active" },
        { "30 1 8:1 / /srv rw - ext4 /dev/sda1 rw\n", false, false, "1", "1", 0, VERDICT_APPLIED, "0", NULL },
        { "", true, false, "0", "0", 0, VERDICT_FORBIDDEN, "0", "the array md0", "active" },
        { "", true, false, "0", "0", 0, VERDICT_FORBIDDEN, "0", "the array md0", "write-pending" },
        { "", true, false, "0", "0", 0, VERDICT_FORBIDDEN, "0", "the array md0", "active-idle" },
        { "", true, false, "0", "0", 0, VERDICT_APPLIED, "1", NULL, "inactive" },
        /* sdb is mounted at /x, and sda at /srv: only the mount of sda forbids the flag. */
        { "29 1 8:16 / /x rw - xfs /dev/sdb rw\n30 1 8:0 / /srv rw - xfs /dev/sda rw\n", true, false, "0", "0", 0,
          VERDICT_FORBIDDEN, "0", "(/srv)" },
        /* Malformed lines do not count as mounts. */
        { "30 1 8:1 / /srv rw ext4 /dev/sda1 rw\n\n8:1 - rw\n", true, false, "0", "0", 0, VERDICT_APPLIED, "1", NULL },
        /* If the list of mounts cannot be read, the verdict is `failed` without allow_dangerous. */
        { NULL, true, false, "0", "0", 0, VERDICT_FAILED, "0",
          "search for writers of the drive failed: No such file or directory" },
        { NULL, true, true, "0", "0", 0, VERDICT_APPLIED, "1", NULL },
        /* A device that is open exclusively forbids the read-only flag. If a read-only mount or a read-only array uses the
         * device, the flag is set. */
        { "", true, false, "0", "0", 0, VERDICT_FORBIDDEN, "0", "(sda is open exclusively)", NULL, "sda" },
        { "", true, false, "0", "0", 0, VERDICT_FORBIDDEN, "0", "(sda is open exclusively)", NULL, "sda1" },
        { "", true, true, "0", "0", 0, VERDICT_APPLIED, "1", NULL, NULL, "sda1" },
        { "", false, false, "1", "1", 0, VERDICT_APPLIED, "0", NULL, NULL, "sda1" },
        { "30 1 8:1 / /srv ro - ext4 /dev/sda1 ro\n", true, false, "0", "0", 0, VERDICT_APPLIED, "1", NULL, NULL,
          "sda1" },
        { "30 1 8:16 / /srv ro - ext4 /dev/sdb ro\n", true, false, "0", "0", 0, VERDICT_FORBIDDEN, "0",
          "(sda is open exclusively)", NULL, "sda1" },
        { "30 1 8:0 / /srv ro - ext4 /dev/sda ro\n", true, false, "0", "0", 0, VERDICT_FORBIDDEN, "0",
          "(sda1 is open exclusively)", NULL, "sda1" },
        { "30 1 8:1 / /srv ro - ext4 /dev/sda1 ro\n30 1 8:1 / /mnt ro - ext4 /dev/sda1 rw\n", true, false, "0", "0", 0,
          VERDICT_FORBIDDEN, "0", "(/mnt)", NULL, "sda1" },
        { "", true, false, "0", "0", 0, VERDICT_APPLIED, "1", NULL, "read-auto", "sda1" },
        { "", true, false, "0", "0", 0, VERDICT_APPLIED, "1", NULL, NULL, NULL, -ENOENT },
        { "", true, false, "0", "0", 0, VERDICT_FAILED, "0",
          "search for writers of the drive failed: Permission denied", NULL, NULL, -EACCES },
        /* The partition is missing when its flag is set, but the partition's file is present for the read-back: the verdict
         * is `ignored`. */
        { "", true, false, "0", "0", -ENODEV, VERDICT_IGNORED, "0", NULL },
        { "", true, false, "0", "0", -ENXIO, VERDICT_IGNORED, "0", NULL },
        { "", true, false, "0", "0", -ENOENT, VERDICT_IGNORED, "0", NULL },
};

START_TEST(test_read_only) {
        Drive d = { .name = (char *) "sda", .node = (char *) "/dev/sda", .transport = TRANSPORT_SCSI };
        Script script = {};
        DeviceIO io = script_io(&script);
        Wish wish = { .name = "read_only",
                      .value = VALUE_BOOLEAN(flags[_i].wanted),
                      .file = "f",
                      .line = 1,
                      .allow_dangerous = flags[_i].allow_dangerous };
        Wishes w = { &wish, 1 };
        Visit v = { .drive = &d, .wishes = &w, .settings = &all_settings, .io = &io, .work = WORK_APPLY };
        char path[PATH_MAX];
        Plan p;

        make_tree(&d);
        put("dev", "8:0");
        put("ro", flags[_i].disk);
        put("sda1/dev", "8:1");
        put("sda1/partition", "1");
        put("sda1/ro", flags[_i].partition);
        put("sda1/holders/dm-0/dev", "253:0"); /* the partition has a holder, such as dm-crypt */
        if (flags[_i].array) {
                put("sda1/holders/md0/dev", "9:0");
                put("sda1/holders/md0/md/array_state", flags[_i].array);
        }
        put("power/ro", "0"); /* power/ is not a partition */
        if (flags[_i].mounts)
                put("mountinfo", flags[_i].mounts);
        path_of("mountinfo", path);
        io.mountinfo = path;
        io.set_read_only = set_flag;
        io.is_claimed = is_claimed;
        flag_result = flags[_i].result;
        claimed = flags[_i].claimed;
        claim_error = flags[_i].claim_error;

        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_msg(p.steps[0].verdict == flags[_i].verdict, "%d: got %s (%s)", _i,
                      verdict_to_string(p.steps[0].verdict), p.steps[0].reason);
        ck_assert(!flags[_i].reason_part || strstr(p.steps[0].reason, flags[_i].reason_part));
        check_text("ro", flags[_i].after);
        check_text("sda1/ro", flags[_i].after);
        plan_done(&p);
        drop_tree(&d);
}
END_TEST

/* The service's sandbox blocks the nodes of drives with these transports. Visits and dry runs report read_only as
 * unsupported, and do not try to write. */
START_TEST(test_read_only_elsewhere) {
        static const Transport transports[] = { TRANSPORT_VIRTIO, TRANSPORT_MMC, TRANSPORT_VIRTUAL, TRANSPORT_UNKNOWN };
        Drive d = { .name = (char *) "vda", .node = (char *) "/dev/vda", .transport = transports[_i] };
        Script script = {};
        DeviceIO io = script_io(&script);
        Wish wish = { .name = "read_only", .value = VALUE_BOOLEAN(true), .file = "f", .line = 1 };
        Wishes w = { &wish, 1 };
        Visit v = { .drive = &d, .wishes = &w, .settings = &all_settings, .io = &io, .work = WORK_APPLY, .dry = true };
        Plan p;

        make_tree(&d);
        put("ro", "0");
        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_int_eq(p.steps[0].verdict, VERDICT_UNSUPPORTED);
        ck_assert_ptr_nonnull(
                        strstr(p.steps[0].reason, "the service can open only SATA, SAS, SCSI, USB and NVMe drives"));
        plan_done(&p);

        v.dry = false;
        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_int_eq(p.steps[0].verdict, VERDICT_UNSUPPORTED);
        ck_assert(!p.steps[0].written && !p.steps[0].failed);
        plan_done(&p);

        put("ro", "1");
        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_int_eq(p.steps[0].verdict, VERDICT_UNCHANGED);
        plan_done(&p);
        drop_tree(&d);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("sysfs");
        TCase *t = tcase_create("sysfs");

        cached = image_make(true, true, -1, -1);
        uncached = image_make(false, true, -1, -1);
        tcase_set_timeout(t, 60);
        tcase_add_loop_test(t, test_row, 0, ELEMENTSOF(cases));
        tcase_add_test(t, test_setting_reset_during_visit);
        tcase_add_test(t, test_setting_of_new_scheduler);
        tcase_add_loop_test(t, test_suspended, 0, ELEMENTSOF(resumes));
        tcase_add_test(t, test_kernel_view_changes_during_visit);
        tcase_add_loop_test(t, test_read_only, 0, ELEMENTSOF(flags));
        tcase_add_loop_test(t, test_read_only_elsewhere, 0, 4);
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
