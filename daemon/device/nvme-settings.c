/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The settings an NVMe controller holds: features (NVMe 1.4). What the kernel writes itself (HMB, APST) goes by the kernel's
 * files. */

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "cache.h"
#include "nvme.h"
#include "plan.h"
#include "settings.h"
#include "sysfs.h"

/* A setting that is a part of a feature's register of 32 bits: Setting.detail of these rows. */
typedef struct NvmeFeature {
        uint8_t fid;
        uint8_t shift;             /* where in the register the value is … */
        uint32_t mask;             /* … and its bits, at the right end */
        uint32_t keep;             /* the other bits, which are written back as they are; 0: there are none */
        int64_t scale;             /* what one unit of the register counts in the value's own unit; 0: 1 */
        int64_t bias;              /* the value of 0 */
        bool namespace;            /* each namespace has its own */
        uint16_t id_word, id_bits; /* what Identify Controller has where there is such a feature; 0, 0: always */
} NvmeFeature;

static Value feature_value(const Setting *s, const NvmeFeature *f, uint32_t reg) {
        return (Value){
                .type = s->range.type,
                .number = (int64_t) (reg >> f->shift & f->mask) * MAX(f->scale, 1) + f->bias,
        };
}

/* The number of the namespace that this drive is, for features that each namespace has for itself; else 0. */
static int feature_namespace(Device *d, const NvmeFeature *f, uint32_t *ret) {
        int64_t n = 0;
        int r;

        r = f->namespace ? sysfs_number(d, "nsid", &n) : 0;
        if (r >= 0 && f->namespace && n <= 0)
                r = device_fail(d, -EBADMSG, "nsid reads %" PRIi64 ", which is no namespace", n);
        if (r >= 0)
                *ret = (uint32_t) n;
        return r;
}

static int feature_get(Device *d, const NvmeFeature *f, NvmeSelect select, uint32_t *ret) {
        uint32_t nsid = 0;
        int r;

        r = feature_namespace(d, f, &nsid);
        return r < 0 ? r : nvme_get_feature(d, f->fid, select, nsid, ret);
}

/* Can the controller save it? Not asked of one without the save bit. */
static int feature_can_save(Device *d, const NvmeFeature *f, bool *ret) {
        uint32_t capabilities = 0;
        int r;

        r = nvme_identify(d);
        if (r >= 0 && (nvme_identify_word(d, NVME_ID_ONCS) & 1 << 4))
                r = feature_get(d, f, NVME_SELECT_CAPABILITIES, &capabilities);
        /* "Not for this feature" is an answer too. */
        if (r < 0 && r != STEP_REFUSED && r != STEP_UNSUPPORTED)
                return r;

        *ret = capabilities & NVME_CAPABILITY_SAVEABLE;
        return 0;
}

static int feature_read(Device *d, const Setting *s, Reading *ret) {
        const NvmeFeature *f = s->detail;
        bool supported, saveable = false;
        uint32_t reg = 0;
        int r;

        r = nvme_identify(d);
        if (r < 0)
                return r;
        supported = f->id_bits == 0 || (nvme_identify_word(d, f->id_word) & f->id_bits);
        if (supported)
                r = feature_get(d, f, NVME_SELECT_CURRENT, &reg);
        if (r < 0)
                return r;

        *ret = (Reading){ .supported = supported, .known = true, .value = feature_value(s, f, reg) };
        if (supported && d->permanent)
                r = feature_can_save(d, f, &saveable);
        if (saveable)
                r = feature_get(d, f, NVME_SELECT_SAVED, &reg);
        if (r < 0 || !saveable)
                return r;

        ret->saved_known = true;
        ret->saved = feature_value(s, f, reg);
        return 0;
}

/* Writes `bits`, and the register's bits of `keep` as they are. Saves too where device->save is set and the controller can. */
static int feature_store(Device *d, const NvmeFeature *f, uint32_t keep, uint32_t bits) {
        uint32_t nsid = 0, old = 0;
        bool save = false;
        int r;

        r = f->namespace ? feature_namespace(d, f, &nsid) : nvme_check_controller(d);
        if (r >= 0 && keep != 0)
                r = feature_get(d, f, NVME_SELECT_CURRENT, &old);
        if (r >= 0 && d->save)
                r = feature_can_save(d, f, &save);
        return r < 0 ? r : nvme_set_feature(d, f->fid, save, nsid, (old & keep) | bits);
}

static int feature_write(Device *d, const Setting *s, const Value *v) {
        const NvmeFeature *f = s->detail;
        uint32_t field = (uint32_t) ((v->number - f->bias) / MAX(f->scale, 1)) & f->mask;

        return feature_store(d, f, f->keep, field << f->shift);
}

static int write_cache_read(Device *d, const Setting *s, Reading *ret) {
        int r;

        r = feature_read(d, s, ret);
        if (r >= 0)
                cache_reading_judge(d, ret);
        return r;
}

/* The kernel knows from Identify Controller that there is a cache, and never asks whether it is on: it sends flushes, unless
 * somebody has turned them off (queue/write_cache). */
static int write_cache_write(Device *d, const Setting *s, const Value *v) {
        int r;

        if (!v->number || cache_kernel_view(d) != 0)
                return feature_write(d, s, v);

        r = sysfs_write(d, "queue/write_cache", CACHE_WRITE_BACK);
        if (r == STEP_DEFERRED || r == STEP_VANISHED)
                return r;
        if (cache_kernel_view(d) != 0)
                return feature_write(d, s, v);

        r = feature_write(d, s, &VALUE_BOOLEAN(false));
        return r < 0 ? r
                     : device_fail(d, STEP_FORBIDDEN,
                                   "the kernel goes on believing that there is no cache and would not flush it, so it is off");
}

static int apst_enabled(Device *d, bool *ret) {
        uint32_t reg = 0;
        int r;

        r = nvme_identify(d);
        if (r >= 0 && (d->nvme_identify[NVME_ID_APSTA] & 1))
                r = nvme_get_feature(d, NVME_FEATURE_APST, NVME_SELECT_CURRENT, 0, &reg);
        *ret = r >= 0 && (reg & 1);
        return r;
}

static bool is_idle_state(const Device *d, int64_t state) {
        return d->nvme_identify[NVME_ID_PSD + 32 * state + 3] & 1 << 1;
}

static int power_state_read(Device *d, const Setting *s, Reading *ret) {
        bool apst;
        int r;

        r = feature_read(d, s, ret);
        if (r < 0 || !is_idle_state(d, ret->value.number))
                return r;

        r = apst_enabled(d, &apst);
        if (r < 0)
                return r;

        /* APST has moved it there. At the next I/O it returns to the state that was set, which cannot be read now. */
        ret->known = !apst;
        return 0;
}

static int power_state_write(Device *d, const Setting *s, const Value *v) {
        bool apst;
        int r;

        if (v->number > d->nvme_identify[NVME_ID_NPSS])
                return device_fail(d, STEP_UNSUPPORTED, "the controller's power states are 0…%u",
                                   d->nvme_identify[NVME_ID_NPSS]);

        r = apst_enabled(d, &apst);
        if (r < 0)
                return r;

        /* APST and any I/O move the controller to another state. */
        if (is_idle_state(d, v->number))
                (void) snprintf(d->note, sizeof d->note,
                                "accepted; it does no I/O in state %i, so the next I/O ends it", (int) v->number);
        else if (apst)
                (void) snprintf(d->note, sizeof d->note,
                                "accepted; with APST on it leaves this state by itself when idle (apst_latency = \"off\" turns that off)");
        return feature_write(d, s, v);
}

#define THERMAL_LIGHT_SHIFT 16

static bool thermal_is_taken(const Device *d, uint32_t field) {
        uint32_t min = nvme_identify_word(d, NVME_ID_MNTMT), max = nvme_identify_word(d, NVME_ID_MXTMT);

        return field == 0 || ((min == 0 || field >= min) && (max == 0 || field <= max));
}

/* What this visit goes on to write there, if the controller takes it, or what is there now. */
static uint32_t thermal_wanted(const Device *d, const char *name, uint32_t now) {
        const Step *s = device_planned(d, name);
        uint32_t field = s ? (uint32_t) (s->wanted.number + NVME_KELVIN) : 0;

        return s && !s->failed && thermal_is_taken(d, field) ? field : now;
}

/* Two settings in one register: the temperatures of light and of heavy throttling, the first below the second. Both at once:
 * one after the other, the first might be refused for what the second is only about to become. */
static int thermal_write(Device *d, const Setting *s, const Value *v) {
        const NvmeFeature *f = s->detail;
        uint32_t now, light, heavy, field = (uint32_t) (v->number + NVME_KELVIN);
        int r;

        if (!thermal_is_taken(d, field))
                return device_fail(d, STEP_UNSUPPORTED, "the controller takes %i…%i °C for it",
                                   nvme_identify_word(d, NVME_ID_MNTMT) - NVME_KELVIN,
                                   nvme_identify_word(d, NVME_ID_MXTMT) - NVME_KELVIN);

        r = nvme_get_feature(d, f->fid, NVME_SELECT_CURRENT, 0, &now);
        if (r < 0)
                return r;

        light = f->shift == THERMAL_LIGHT_SHIFT ? field
                                                : thermal_wanted(d, "thermal_light", now >> THERMAL_LIGHT_SHIFT);
        heavy = f->shift == THERMAL_LIGHT_SHIFT ? thermal_wanted(d, "thermal_heavy", now & f->mask) : field;
        if (light != 0 && heavy != 0 && light >= heavy)
                return device_fail(d, STEP_FORBIDDEN, "thermal_light (%i °C) has to be below thermal_heavy (%i °C)",
                                   (int) light - NVME_KELVIN, (int) heavy - NVME_KELVIN);

        return feature_store(d, f, 0, light << THERMAL_LIGHT_SHIFT | heavy);
}

static int controller_file_read(Device *d, const Setting *s, Reading *ret) {
        int r = nvme_check_controller(d);

        return r < 0 ? r : sysfs_setting_read(d, s, ret);
}

static int controller_file_write(Device *d, const Setting *s, const Value *v) {
        int r;

        r = nvme_check_live(d);
        if (r >= 0)
                r = nvme_check_controller(d);
        return r < 0 ? r : sysfs_setting_write(d, s, v);
}

/* The kernel rewrites the controller's table whenever this latency changes, and at every start of the controller. */
#define LATENCY_ANY INT32_MAX
#define LATENCY_AUTO (-1)

static const ValueWord latency_words[] = { { "any", LATENCY_ANY }, { "auto", LATENCY_AUTO }, {} };

static int apst_latency_read(Device *d, const Setting *s, Reading *ret) {
        bool enabled;
        int r;

        r = nvme_identify(d);
        if (r < 0)
                return r;
        if (!(d->nvme_identify[NVME_ID_APSTA] & 1)) {
                *ret = (Reading){ .known = true, .value.type = s->range.type };
                return 0;
        }

        r = controller_file_read(d, s, ret);
        if (r < 0 || ret->value.number != 0)
                return r;

        /* The kernel's wish is not yet the controller's state. */
        r = apst_enabled(d, &enabled);
        if (r >= 0 && enabled) {
                ret->value = (Value){ .type = VALUE_NAME };
                (void) strcpy(ret->value.name, "off, but still on in the controller");
        }
        return r;
}

static int apst_latency_write(Device *d, const Setting *s, const Value *v) {
        bool enabled;
        int r;

        r = controller_file_write(d, s, v);
        if (r < 0 || v->number == 0)
                return r;

        r = apst_enabled(d, &enabled);
        if (r >= 0 && !enabled)
                (void) snprintf(d->note, sizeof d->note,
                                "the kernel took it, and APST is off all the same: no power state is left as quickly as that");
        return r;
}

/* clang-format off */
/* What rows have in common that are features, of the whole controller or (0) of a namespace; the arguments behind the
 * functions are the members of the NvmeFeature. */
#define FEATURE(key, whose, option, from, read_, write_, ...) \
        .name = key, .backend = BACKEND_NVME, .flags = SETTING_SAVEABLE | (whose), \
        .equivalent = "nvme set-feature -f " option, .lost_by = "power, controller reset", .source = "NVMe 1.4 feature " from, \
        .read = read_, .write = write_, .detail = &(const NvmeFeature) { __VA_ARGS__ }

#define THERMAL(key, shift_, order_, what) \
        { \
                FEATURE(key, SETTING_CONTROLLER, "0x10", "10h", feature_read, thermal_write, \
                        .fid = NVME_FEATURE_THERMAL_MANAGEMENT, .shift = shift_, .mask = 0xFFFF, .bias = -NVME_KELVIN, \
                        .id_word = NVME_ID_HCTMA, .id_bits = 1), \
                .range = { .type = VALUE_CELSIUS, .min = 0, .max = 150, .has_off = true, .off = -NVME_KELVIN }, \
                .order = order_, .summary = "temperature from which on the controller slows down " what \
        }

const Setting nvme_settings[] = {
        {
                FEATURE("write_cache", SETTING_CONTROLLER, "6", "06h", write_cache_read, write_cache_write,
                        .fid = NVME_FEATURE_VOLATILE_WRITE_CACHE, .mask = 1, .id_word = NVME_ID_VWC, .id_bits = 1),
                .range = RANGE_BOOL,
                .order = 100,
                .summary = "volatile write cache",
        },
        {
                FEATURE("error_recovery", 0, "5", "05h, TLER", feature_read, feature_write,
                        .fid = NVME_FEATURE_ERROR_RECOVERY, .mask = 0xFFFF, .keep = 1U << 16, .scale = 100, .namespace = true),
                .range = RANGE_RECOVERY,
                .order = 130,
                .summary = "how long the drive tries to recover a sector before it reports an error (time limited error recovery)",
        },
        {
                /* Kept: the hysteresis of NVMe 2.0. */
                FEATURE("temperature_threshold", SETTING_CONTROLLER, "4, hwmon temp1_max",
                        "04h, over temperature of the composite sensor", feature_read, feature_write,
                        .fid = NVME_FEATURE_TEMPERATURE_THRESHOLD, .mask = 0xFFFF, .keep = 7U << 22, .bias = -NVME_KELVIN,
                        .id_word = NVME_ID_WCTEMP, .id_bits = 0xFFFF),
                .range = { .type = VALUE_CELSIUS, .min = 0, .max = 150 },
                .order = 300,
                .summary = "composite temperature from which on the controller warns",
        },
        THERMAL("thermal_light", THERMAL_LIGHT_SHIFT, 310, "a little (HCTM, TMT1)"),
        THERMAL("thermal_heavy", 0, 311, "however much it takes (HCTM, TMT2)"),
        {
                FEATURE("interrupt_coalescing_threshold", SETTING_CONTROLLER, "8", "08h, THR", feature_read, feature_write,
                        .fid = NVME_FEATURE_INTERRUPT_COALESCING, .mask = 0xFF, .keep = 0xFF00, .bias = 1),
                .range = { .type = VALUE_INT, .min = 1, .max = 256 },
                .order = 320,
                .summary = "completions that the controller gathers for one interrupt; 1 gathers none",
        },
        {
                FEATURE("interrupt_coalescing_time", SETTING_CONTROLLER, "8", "08h, TIME", feature_read, feature_write,
                        .fid = NVME_FEATURE_INTERRUPT_COALESCING, .shift = 8, .mask = 0xFF, .keep = 0xFF, .scale = 100),
                .range = { .type = VALUE_MICROSECONDS, .min = 100, .max = 25500, .step = 100, .has_off = true, .off = 0 },
                .order = 321,
                .summary = "how long the controller gathers completions for one interrupt at most",
        },
        {
                .name = "hmb",
                .backend = BACKEND_NVME,
                .range = RANGE_BOOL,
                .flags = SETTING_CONTROLLER,
                .order = 330,
                .summary = "memory of the machine that the kernel lends to a controller without its own (Host Memory Buffer)",
                .equivalent = "/sys/class/nvme/nvme*/hmb",
                .lost_by = "re-add, controller reset",
                .source = "Linux drivers/nvme/host/pci.c",
                SYSFS_ROW_BY(controller_file_read, controller_file_write, .path = "device/hmb"),
        },
        {
                .name = "apst_latency",
                .backend = BACKEND_NVME,
                .range = { .type = VALUE_MICROSECONDS, .min = 1, .max = INT32_MAX - 1, .has_off = true, .off = 0,
                           .words = latency_words },
                .flags = SETTING_CONTROLLER,
                .order = 400,
                .summary = "time that a power state of the controller's own choice may take to enter and leave; off: no such states (APST)",
                .equivalent = "/sys/class/nvme/nvme*/power/pm_qos_latency_tolerance_us",
                .lost_by = "re-add",
                .source = "Linux drivers/nvme/host/core.c, drivers/base/power/sysfs.c",
                SYSFS_ROW_BY(apst_latency_read, apst_latency_write,
                             .path = "device/power/pm_qos_latency_tolerance_us", .words = latency_words),
        },
        {
                /* Kept: the workload hint. */
                FEATURE("power_state", SETTING_CONTROLLER, "2", "02h", power_state_read, power_state_write,
                        .fid = NVME_FEATURE_POWER_MANAGEMENT, .mask = 0x1F, .keep = 7U << 5),
                .range = { .type = VALUE_INT, .min = 0, .max = 31 },
                .order = 410, /* after APST, which moves the controller between states too */
                .summary = "power state of the controller: 0 takes most power, the higher the less",
        },
        {},
};
/* clang-format on */
