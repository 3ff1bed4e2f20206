/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Settings stored in an NVMe controller: features (NVMe 1.4), set by admin commands. HMB and APST, which the kernel writes itself, are
 * set through the kernel's files. */

#include <linux/nvme_ioctl.h>
#include <stdio.h>

#include "cache.h"
#include "nvme.h"
#include "plan.h"
#include "power-mode.h"
#include "settings.h"
#include "sysfs.h"

enum {
        /* Select field of Get Features. */
        NVME_SELECT_CURRENT = 0,
        NVME_SELECT_SAVED = 2,        /* value after the next power-on */
        NVME_SELECT_CAPABILITIES = 3, /* the answer has the bits NVME_CAPABILITY_… */
        NVME_CAPABILITY_SAVEABLE = 1 << 0,

        NVME_KELVIN = 273, /* 0 °C is 273 K, as rounded by the standard and the kernel */
        THERMAL_LIGHT_SHIFT = 16,
};

/* Setting.detail of a setting that is an NVMe feature: a field of the feature's 32-bit register. */
typedef struct NvmeFeature {
        uint8_t fid;
        uint8_t shift; /* position of the field in the register */
        uint32_t mask; /* mask of the field, shifted to bit 0 */
        uint32_t keep; /* bits of the register that are written back unchanged; 0: none */
        int64_t scale; /* factor from register units to units of the value; 0 means 1 */
        int64_t bias;  /* value of the setting when the register field is 0 */
        uint16_t id_word,
                        id_bits; /* byte and bits of Identify Controller that report the feature; 0, 0: every controller has the feature */
} NvmeFeature;

static Value feature_value(const Setting *s, uint32_t reg) {
        const NvmeFeature *f = s->detail;

        return (Value){
                .type = s->range.type,
                .number = (int64_t) (reg >> f->shift & f->mask) * MAX(f->scale, 1) + f->bias,
        };
}

static int feature_get(Device *d, const Setting *s, uint32_t select, uint32_t *ret) {
        const NvmeFeature *f = s->detail;
        struct nvme_passthru_cmd cmd = {
                .opcode = NVME_ADMIN_GET_FEATURES,
                .cdw10 = f->fid | select << 8,
        };
        char what[64];
        int r;

        (void) snprintf(what, sizeof what, "feature %02Xh", f->fid);
        r = nvme_admin(d, what, s->flags & SETTING_CONTROLLER, &cmd);
        if (r >= 0)
                *ret = cmd.result;
        return r;
}

/* Reads whether the controller can save the feature. Sends no command if the controller's ONCS field lacks the save bit. */
static int feature_can_save(Device *d, const Setting *s, bool *ret) {
        uint32_t capabilities = 0;
        int r = 0;

        if (nvme_identify_word(d, NVME_ID_ONCS) & 1 << 4)
                r = feature_get(d, s, NVME_SELECT_CAPABILITIES, &capabilities);
        /* If the controller rejects the query, this feature cannot be saved. */
        if (r < 0 && r != END_REFUSED && r != END_UNSUPPORTED)
                return r;

        *ret = capabilities & NVME_CAPABILITY_SAVEABLE;
        return 0;
}

static int feature_read(Device *d, const Setting *s, Reading *ret) {
        const NvmeFeature *f = s->detail;
        uint32_t reg = 0;
        bool supported;
        int r;

        r = nvme_identify(d);
        if (r < 0)
                return r;
        supported = f->id_bits == 0 || (nvme_identify_word(d, f->id_word) & f->id_bits);
        if (supported)
                r = feature_get(d, s, NVME_SELECT_CURRENT, &reg);
        if (r < 0)
                return r;

        *ret = (Reading){ .supported = supported, .known = true, .value = feature_value(s, reg) };
        if (supported && d->permanent)
                r = feature_can_save(d, s, &ret->saved_known);
        if (ret->saved_known)
                r = feature_get(d, s, NVME_SELECT_SAVED, &reg);
        ret->saved = feature_value(s, reg);
        return r;
}

/* Writes `bits` to the register, and leaves the bits in the mask `keep` unchanged. Also saves the value if d->save is set and the
 * controller can save the feature. */
static int feature_store(Device *d, const Setting *s, uint32_t keep, uint32_t bits) {
        const NvmeFeature *f = s->detail;
        struct nvme_passthru_cmd cmd = { .opcode = NVME_ADMIN_SET_FEATURES };
        uint32_t old = 0;
        bool save = false;
        char what[64];
        int r = 0;

        if (keep != 0)
                r = feature_get(d, s, NVME_SELECT_CURRENT, &old);
        if (r >= 0 && d->save)
                r = feature_can_save(d, s, &save);
        if (r < 0)
                return r;

        cmd.cdw10 = f->fid | (save ? 1U << 31 : 0);
        cmd.cdw11 = (old & keep) | bits;
        (void) snprintf(what, sizeof what, "feature %02Xh = %Xh", f->fid, cmd.cdw11);
        return nvme_admin(d, what, s->flags & SETTING_CONTROLLER, &cmd);
}

static int feature_write(Device *d, const Setting *s, const Value *v) {
        const NvmeFeature *f = s->detail;
        uint32_t field = (uint32_t) ((v->number - f->bias) / MAX(f->scale, 1)) & f->mask;

        return feature_store(d, s, f->keep, field << f->shift);
}

static int write_cache_read(Device *d, const Setting *s, Reading *ret) {
        return feature_read(d, s, ret) ?: cache_check_kernel_view(d, ret);
}

/* The kernel does not read whether the cache is on: it sends flushes to each controller that has a cache, unless queue/write_cache was set
 * to "write through". */
static int write_cache_write(Device *d, const Setting *s, const Value *v) {
        int r = 0;

        if (v->number && cache_kernel_view(d) == 0)
                r = sysfs_write(d, "queue/write_cache", CACHE_WRITE_BACK);
        if (r == END_DEFERRED || r == END_VANISHED)
                return r;
        if (!v->number || cache_kernel_view(d) != 0)
                return feature_write(d, s, v);

        r = feature_write(d, s, &VALUE_BOOLEAN(false));
        return r < 0 ? r : cache_fail_turned_off(d);
}

/* Returns 1 if the controller has APST enabled, 0 if not, or a negative error. */
static int apst_enabled(Device *d) {
        uint8_t table[256] = {}; /* buffer for the APST table that the command returns; its content is not used */
        struct nvme_passthru_cmd cmd = {
                .opcode = NVME_ADMIN_GET_FEATURES,
                .cdw10 = 0x0C,
                .addr = (uintptr_t) table,
                .data_len = sizeof table,
        };
        int r = 0;

        if (d->nvme_identify[NVME_ID_APSTA] & 1)
                r = nvme_admin(d, "feature 0Ch", true, &cmd);
        return r < 0 ? r : (int) (cmd.result & 1);
}

static bool is_idle_state(const Device *d, int64_t state) {
        return d->nvme_identify[NVME_ID_PSD + 32 * state + 3] & 1 << 1;
}

static int power_state_read(Device *d, const Setting *s, Reading *ret) {
        int r;

        r = feature_read(d, s, ret);
        if (r < 0 || !is_idle_state(d, ret->value.number))
                return r;

        /* APST may have put the controller into this idle state. The power state that was set before cannot be read during the idle state.
         * The next I/O restores that power state. */
        r = apst_enabled(d);
        ret->known = r == 0;
        return MIN(r, 0);
}

static int power_state_write(Device *d, const Setting *s, const Value *v) {
        int r;

        if (v->number > d->nvme_identify[NVME_ID_NPSS])
                return device_fail(d, END_UNSUPPORTED, "the controller has only the power states 0...%u",
                                   d->nvme_identify[NVME_ID_NPSS]);

        /* APST and I/O can move the controller from the wanted power state to another power state. d->note reports this to the user. */
        r = apst_enabled(d);
        if (r < 0)
                return r;
        if (is_idle_state(d, v->number))
                (void) snprintf(d->note, sizeof d->note,
                                "accepted; state %i is non-operational, so the next I/O ends it", (int) v->number);
        else if (r > 0)
                (void) snprintf(d->note, sizeof d->note,
                                "accepted, but APST changes the power state when the controller is idle (apst_latency = \"off\" disables APST)");
        return feature_write(d, s, v);
}

static bool thermal_is_taken(const Device *d, uint32_t field) {
        uint32_t min = nvme_identify_word(d, NVME_ID_MNTMT), max = nvme_identify_word(d, NVME_ID_MXTMT);

        return field == 0 || ((min == 0 || field >= min) && (max == 0 || field <= max));
}

/* thermal_light and thermal_heavy share a register, and thermal_light must be the lower temperature. If this visit sets both temperatures,
 * a single command writes both, because one new temperature together with one old temperature may be invalid. */
static int thermal_write(Device *d, const Setting *s, const Value *v) {
        const NvmeFeature *f = s->detail;
        unsigned mine = f->shift / THERMAL_LIGHT_SHIFT;
        const Step *other = device_planned(d, mine ? "thermal_heavy" : "thermal_light");
        uint32_t now, both[2], field = (uint32_t) (v->number + NVME_KELVIN);
        int r;

        if (!thermal_is_taken(d, field))
                return device_fail(d, END_UNSUPPORTED, "the controller accepts only %i...%i C",
                                   nvme_identify_word(d, NVME_ID_MNTMT) - NVME_KELVIN,
                                   nvme_identify_word(d, NVME_ID_MXTMT) - NVME_KELVIN);

        r = feature_get(d, s, NVME_SELECT_CURRENT, &now);
        if (r < 0)
                return r;

        both[0] = now & f->mask;
        both[1] = now >> THERMAL_LIGHT_SHIFT;
        both[mine] = field;
        if (other && !other->failed && thermal_is_taken(d, (uint32_t) (other->wanted.number + NVME_KELVIN)))
                both[!mine] = (uint32_t) (other->wanted.number + NVME_KELVIN);
        if (both[0] != 0 && both[1] != 0 && both[1] >= both[0])
                return device_fail(d, END_FORBIDDEN, "thermal_light (%i C) must be below thermal_heavy (%i C)",
                                   (int) both[1] - NVME_KELVIN, (int) both[0] - NVME_KELVIN);

        return feature_store(d, s, 0, both[1] << THERMAL_LIGHT_SHIFT | both[0]);
}

static int controller_file_read(Device *d, const Setting *s, Reading *ret) {
        return nvme_check_live(d, true) ?: sysfs_setting_read(d, s, ret);
}

static int controller_file_write(Device *d, const Setting *s, const Value *v) {
        return nvme_check_live(d, true) ?: sysfs_setting_write(d, s, v);
}

/* Words in the kernel's file for the latency that APST may cause. The kernel writes the controller's APST table when this latency changes
 * and when the controller starts, so the latency outlasts a controller reset. */
static const ValueWord latency_words[] = { { "any", INT32_MAX }, { "auto", -1 }, {} };

static int apst_latency_read(Device *d, const Setting *s, Reading *ret) {
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

        /* The kernel's file can report that APST is off while APST is still on in the controller. */
        r = apst_enabled(d);
        if (r > 0)
                ret->value = (Value){ .type = VALUE_NAME, .name = "off, but still on in the controller" };
        return MIN(r, 0);
}

static int apst_latency_write(Device *d, const Setting *s, const Value *v) {
        int r;

        r = controller_file_write(d, s, v);
        if (r < 0 || v->number == 0)
                return r;

        r = apst_enabled(d);
        if (r == 0)
                (void) snprintf(d->note, sizeof d->note,
                                "the kernel accepted the latency, but APST stays off: no power state has such a short latency");
        return MIN(r, 0);
}

/* clang-format off */
/* ROW: members common to all NVMe settings. FEATURE: a setting that is an NVMe feature; the arguments after `write_` are members of
 * NvmeFeature. `whose`: SETTING_CONTROLLER for the whole controller, 0 for a namespace. */
#define ROW(key, whose, order_, what, how, lost, from) \
        .name = key, .backend = BACKEND_NVME, .flags = whose, .order = order_, .summary = what, .equivalent = how, \
        .lost_by = lost, .source = from
#define FEATURE(key, whose, order_, what, option, from, read_, write_, ...) \
        ROW(key, SETTING_SAVEABLE | (whose), order_, what, "nvme set-feature -f " option, "power, controller reset", \
            "NVMe 1.4 feature " from), \
        .read = read_, .write = write_, .detail = &(const NvmeFeature) { __VA_ARGS__ }

#define THERMAL(key, brief_, shift_, order_, what) \
        { .brief = brief_, FEATURE(key, SETTING_CONTROLLER, order_, "temperature at which the controller throttles " what, "0x10", "10h", \
                  feature_read, thermal_write, .fid = 0x10, .shift = shift_, .mask = 0xFFFF, \
                  .bias = -NVME_KELVIN, .id_word = NVME_ID_HCTMA, .id_bits = 1), \
          .range = { .type = VALUE_CELSIUS, .max = 150, .has_off = true, .off = -NVME_KELVIN } }

const Setting nvme_settings[] = {
        { .brief = "the drive's write cache", FEATURE("write_cache", SETTING_CONTROLLER, 100, "volatile write cache", "6", "06h",
                  write_cache_read, write_cache_write, .fid = 0x06, .mask = 1, .id_word = NVME_ID_VWC, .id_bits = 1),
          .range = RANGE_BOOL },
        { .brief = "how long to retry a bad sector", FEATURE("error_recovery", 0, 130,
                  "how long the drive tries to recover a sector before it reports an error (time limited error recovery)",
                  "5", "05h, TLER", feature_read, feature_write,
                  .fid = 0x05, .mask = 0xFFFF, .keep = 1U << 16, .scale = 100),
          .range = RANGE_RECOVERY },
        /* The member `keep` leaves the hysteresis of NVMe 2.0 unchanged in the register. */
        { .brief = "warning temperature", .also = "tmpth",
          FEATURE("temperature_threshold", SETTING_CONTROLLER, 300, "composite temperature at which the controller warns",
                  "4, hwmon temp1_max", "04h, over temperature of the composite sensor", feature_read, feature_write,
                  .fid = 0x04, .mask = 0xFFFF, .keep = 7U << 22, .bias = -NVME_KELVIN,
                  .id_word = NVME_ID_WCTEMP, .id_bits = 0xFFFF),
          .range = { .type = VALUE_CELSIUS, .max = 150 } },
        THERMAL("thermal_light", "temperature for light throttling", THERMAL_LIGHT_SHIFT, 310, "lightly (HCTM, TMT1)"),
        THERMAL("thermal_heavy", "temperature for heavy throttling", 0, 311, "as much as necessary (HCTM, TMT2)"),
        { .brief = "completions per interrupt", FEATURE("interrupt_coalescing_threshold", SETTING_CONTROLLER, 320,
                  "completions that the controller combines into one interrupt; 1: no coalescing", "8", "08h, THR",
                  feature_read, feature_write,
                  .fid = 0x08, .mask = 0xFF, .keep = 0xFF00, .bias = 1),
          .range = { .type = VALUE_INT, .min = 1, .max = 256 } },
        { .brief = "longest delay of an interrupt", FEATURE("interrupt_coalescing_time", SETTING_CONTROLLER, 321,
                  "how long the controller may delay an interrupt to combine completions", "8", "08h, TIME",
                  feature_read, feature_write,
                  .fid = 0x08, .shift = 8, .mask = 0xFF, .keep = 0xFF, .scale = 100),
          .range = { .type = VALUE_MICROSECONDS, .min = 100, .max = 25500, .step = 100, .has_off = true } },
        { .brief = "background work in idle states", .also = "noppme",
          FEATURE("non_operational_permissive_mode", SETTING_CONTROLLER, 325,
                  "whether background work may exceed the power limit of a non-operational power state for a short time", "0x11",
                  "11h, NOPPME", feature_read, feature_write,
                  .fid = 0x11, .mask = 1, .id_word = NVME_ID_CTRATT, .id_bits = 1 << 1),
          .range = RANGE_BOOL },
        { .brief = "lend memory to the controller", .also = "host_memory_buffer", ROW("hmb", SETTING_CONTROLLER, 330,
              "whether the kernel lends host memory to a controller without memory of its own (Host Memory Buffer)",
              "/sys/class/nvme/nvme*/hmb", "re-add, controller reset", "Linux drivers/nvme/host/pci.c"),
          .range = RANGE_BOOL,
          SYSFS_ROW_BY(controller_file_read, sysfs_setting_permit, controller_file_write, .path = "device/hmb") },
        { .brief = "latency limit of power states", .also = "apst ps_max_latency_us default_ps_max_latency_us", ROW("apst_latency", SETTING_CONTROLLER, 400,
              "longest latency of the power states that the controller enters by itself (APST); off disables APST",
              "/sys/class/nvme/nvme*/power/pm_qos_latency_tolerance_us", "re-add",
              "Linux drivers/nvme/host/core.c, drivers/base/power/sysfs.c"),
          .range = { .type = VALUE_MICROSECONDS, .min = 1, .max = INT32_MAX - 1, .has_off = true, .words = latency_words },
          .off_without = 1U << BACKEND_NVME,
          SYSFS_ROW_BY(apst_latency_read, sysfs_setting_permit, apst_latency_write,
                       .path = "device/power/pm_qos_latency_tolerance_us", .words = latency_words) },
        /* Written after APST, which also changes the power state. The member `keep` leaves the workload hint unchanged in the register. */
        { .brief = "power state: 0 is full power", .also = "ps", FEATURE("power_state", SETTING_CONTROLLER, 410,
                  "power state of the controller: 0 uses most power, higher numbers use less", "2", "02h",
                  power_state_read, power_state_write, .fid = 0x02, .mask = 0x1F, .keep = 7U << 5),
          .range = { .type = VALUE_INT, .min = 0, .max = 31 } },
        {},
};
/* clang-format on */
