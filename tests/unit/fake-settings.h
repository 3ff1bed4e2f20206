/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Rows of a settings table for unit tests. The function pointers of the rows are NULL. */

#include "setting.h"

/* clang-format off */
static const Setting fake_ata[] = {
        { .name = "apm", .also = "apm_level power_saving", .backend = BACKEND_ATA,
          .range = { .type = VALUE_INT, .min = 1, .max = 255, .has_off = true, .off = 255 } },
        { .name = "apm_battery", .alias_of = "apm", .backend = BACKEND_ATA, .flags = SETTING_ON_BATTERY,
          .range = { .type = VALUE_INT, .min = 1, .max = 255, .has_off = true, .off = 255 } },
        { .name = "standby", .backend = BACKEND_ATA, .range = { .type = VALUE_BOOL } },
        { .name = "spindown_time", .also = "standby idle_time", .backend = BACKEND_ATA, .range = { .type = VALUE_STANDBY_TIMER, .max = 255, .has_off = true },
          .flags = SETTING_UNREADABLE, .spins_down = true },
        { .name = "keep_active", .backend = BACKEND_ATA, .range = { .type = VALUE_DURATION, .min = 5000, .max = 600000, .has_off = true },
          .keeps_active = true },
        { .name = "iostats", .backend = BACKEND_BLOCK, .range = { .type = VALUE_BOOL } },
        { .name = "write_cache", .backend = BACKEND_ATA, .range = { .type = VALUE_BOOL } },
        { .name = "write_cache_forced", .backend = BACKEND_ATA,
          .range = { .type = VALUE_NAME, .words = (const ValueWord[]) { { "normal", 0 }, { "on", 0 }, { "off", 0 }, {} } } },
        { .name = "lookahead", .backend = BACKEND_ATA, .range = { .type = VALUE_BOOL } },
        { .name = "acoustic_management", .backend = BACKEND_ATA,
          .range = { .type = VALUE_INT, .min = 1, .max = 254, .has_off = true, .off = 0 } },
        { .name = "error_recovery", .backend = BACKEND_ATA,
          .range = { .type = VALUE_DURATION, .min = 100, .max = 6553400, .step = 100, .has_off = true, .off = 0 } },
        { .name = "recovery_read", .backend = BACKEND_ATA, .flags = SETTING_SAME, .excludes = "error_recovery",
          .range = { .type = VALUE_DURATION, .min = 100, .max = 6553400, .step = 100, .has_off = true, .off = 0 } },
        { .name = "epc", .backend = BACKEND_ATA, .range = { .type = VALUE_BOOL }, .excludes = "apm" },
        { .name = "poweron_standby", .backend = BACKEND_ATA, .range = { .type = VALUE_BOOL },
          .flags = SETTING_NONVOLATILE, .danger = "it may never come up" },
        { .name = "idle_a", .backend = BACKEND_ATA, .flags = SETTING_SAVEABLE,
          .range = { .type = VALUE_DURATION, .max = 60000, .has_off = true, .off = 0 } },
        { .name = "chipset_pio_mode", .backend = BACKEND_ATA, .range = { .type = VALUE_ANY }, .flags = SETTING_DEAD,
          .instead = "the kernel chooses it" },
        { .name = "security_unlock", .backend = BACKEND_ATA, .range = { .type = VALUE_ANY },
          .flags = SETTING_EXCLUDED, .instead = "a password does not belong here" },
        { .name = "user-master", .backend = BACKEND_ATA, .range = { .type = VALUE_ANY },
          .flags = SETTING_EXCLUDED, .instead = "a password does not belong here" },
        {}
};

static const Setting fake_nvme[] = {
        { .name = "write_cache", .backend = BACKEND_NVME, .range = { .type = VALUE_BOOL } },
        { .name = "thermal_light", .backend = BACKEND_NVME,
          .range = { .type = VALUE_CELSIUS, .min = 0, .max = 150, .has_off = true, .off = -273 } },
        { .name = "thermal_heavy", .backend = BACKEND_NVME,
          .range = { .type = VALUE_CELSIUS, .min = 0, .max = 150, .has_off = true, .off = -273 } },
        { .name = "latency", .backend = BACKEND_NVME,
          .range = { .type = VALUE_MICROSECONDS, .min = 100, .max = 25500, .step = 100, .has_off = true, .off = 0 } },
        {}
};

static const Setting fake_kernel[] = {
        { .name = "read_ahead_kb", .backend = BACKEND_BLOCK,
          .range = { .type = VALUE_SIZE, .min = 0, .max = INT64_C(1) << 30, .unit = 1024, .step = 1024 } },
        { .name = "read_ahead_sect", .alias_of = "read_ahead_kb", .backend = BACKEND_BLOCK,
          .range = { .type = VALUE_SIZE, .min = 0, .max = INT64_C(1) << 30, .unit = 512, .step = 1024 } },
        { .name = "scheduler", .backend = BACKEND_BLOCK, .range = { .type = VALUE_NAME },
          .known = (const char *const[]) { "none", "mq-deadline", "bfq", NULL } },
        { .name = "rotational", .backend = BACKEND_BLOCK, .range = { .type = VALUE_BOOL } },
        { .name = "cd_speed", .backend = BACKEND_OPTICAL, .range = { .type = VALUE_INT, .min = 1, .max = 255 } },
        { .name = "runtime_pm", .backend = BACKEND_SCSI,
          .range = { .type = VALUE_NAME, .words = (const ValueWord[]) { { "auto", 0 }, { "on", 0 }, {} },
                     .yes_is = "\"auto\" may, \"on\" never" } },
        { .name = "queue_depth", .backend = BACKEND_SCSI, .range = { .type = VALUE_INT, .min = 1, .max = 1024 } },
        { .name = "timeout", .backend = BACKEND_SCSI,
          .range = { .type = VALUE_DURATION, .min = 1000, .max = 600000, .step = 1000 } },
        {}
};
/* clang-format on */

static const SettingTable fake_table = { .tables = { fake_ata, fake_nvme, fake_kernel } };
