/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Settings of NVMe controllers: the commands that each setting sends, and its verdict with the reason. */

#include <sys/stat.h>

#include "nvme.h"
#include "script.h"
#include "settings.h"
#include "suite.h"
#include "visit.h"

#define LE16(at, n) [at] = (n) &0xFF, [(at) + 1] = (n) >> 8

/* A controller with five power states (states 3 and 4 are non-operational), APST, HCTM from 30 to 90 °C, a cache,
 * permissive mode, and the save bit. */
static const uint8_t controller[4096] = {
        [96] = 2,
        [263] = 4,
        [265] = 1,
        LE16(266, 343),
        LE16(322, 1),
        LE16(324, 303),
        LE16(326, 363),
        LE16(520, 0x10),
        [525] = 1,
        [2048 + 32 * 3 + 3] = 2,
        [2048 + 32 * 4 + 3] = 2,
};
static const uint8_t tester[4096] = { LE16(256, 0x10) };
/* A controller without APST, HCTM, cache and save bit. */
static const uint8_t plain[4096] = { [263] = 0 };

static char dir[] = "/tmp/drivekeep-test-XXXXXX";
static Drive drive = {
        .name = (char *) "nvme0n1", .node = (char *) "/dev/nvme0n1", .syspath = dir, .transport = TRANSPORT_NVME
};

/* clang-format off */
#define CTRL { .opcode = 0x06, .cdw10 = 1, .data = controller, .data_len = 4096 }
#define PLAIN { .opcode = 0x06, .cdw10 = 1, .data = plain, .data_len = 4096 }
#define GET(f, r) { .opcode = 0x0A, .cdw10 = (f), .result = (r) }
#define SET(f, v) { .opcode = 0x09, .cdw10 = (f), .cdw11 = (v) }
#define GET_NS(f, r) { .opcode = 0x0A, .nsid = 7, .cdw10 = (f), .result = (r) }
#define SET_NS(f, v) { .opcode = 0x09, .nsid = 7, .cdw10 = (f), .cdw11 = (v) }
#define CAN_TEST { .opcode = 0x06, .cdw10 = 1, .data = tester, .data_len = 4096 }
#define LOG(s, now) { .opcode = 0x02, .nsid = UINT32_MAX, .cdw10 = 6, .status = (s), .data = (const uint8_t[4]){ now }, .data_len = 4 }
#define SAVE 0x80000000U
#define ROWS(...) (const Row[]){ __VA_ARGS__ }, sizeof((const Row[]){ __VA_ARGS__ }) / sizeof(Row)

typedef struct Outcome {
        const char *name, *wanted;
        Verdict verdict;
        const char *reason; /* part of the reason; NULL: no reason */
} Outcome;

static const struct {
        const char *name;
        Outcome outcomes[2];
        const Row *rows;
        size_t n_rows;
        bool permanent, apply_permanent;
        const char *latency; /* initial content of the kernel's file for the APST latency */
} cases[] = {
        { "power state, with the workload hint kept and APST on",
          { { "power_state", "2", VERDICT_APPLIED, "apst_latency" } },
          ROWS(CTRL, GET(2, 0x20), GET(0x0C, 1), GET(2, 0x20), SET(2, 0x22), GET(2, 0x22)) },
        { "power state with APST off",
          { { "power_state", "1", VERDICT_APPLIED, NULL } },
          ROWS(CTRL, GET(2, 0), GET(0x0C, 0), GET(2, 0), SET(2, 1), GET(2, 1)) },
        { "power state while APST is in a non-operational state: not known",
          { { "power_state", "1", VERDICT_UNVERIFIABLE, "APST" } },
          ROWS(CTRL, GET(2, 4), GET(0x0C, 1), GET(0x0C, 1), GET(2, 4), SET(2, 1), GET(2, 4), GET(0x0C, 1)) },
        { "non-operational power state",
          { { "power_state", "4", VERDICT_APPLIED, "next I/O ends it" } },
          ROWS(CTRL, GET(2, 0), GET(0x0C, 0), GET(2, 0), SET(2, 4), GET(2, 4), GET(0x0C, 0)) },
        { "power state above the highest number",
          { { "power_state", "5", VERDICT_UNSUPPORTED, "power states 0...4" } },
          ROWS(CTRL, GET(2, 0), GET(2, 0)) },
        { "temperature threshold, with the hysteresis kept",
          { { "temperature_threshold", "75 C", VERDICT_APPLIED, NULL } },
          ROWS(CTRL, GET(4, 0x800157), GET(4, 0x800157), SET(4, 0x80015C), GET(4, 0x80015C)) },
        { "controller without a warning temperature",
          { { "temperature_threshold", "75 C", VERDICT_UNSUPPORTED, "no temperature_threshold" } }, ROWS(PLAIN) },
        { "both throttling temperatures at once, with the new light one above the old heavy one",
          { { "thermal_light", "75 C", VERDICT_APPLIED, NULL }, { "thermal_heavy", "85 C", VERDICT_APPLIED, NULL } },
          ROWS(CTRL, GET(0x10, 323U << 16 | 333), GET(0x10, 323U << 16 | 333),
               GET(0x10, 323U << 16 | 333), SET(0x10, 348U << 16 | 358),
               GET(0x10, 348U << 16 | 358), SET(0x10, 348U << 16 | 358),
               GET(0x10, 348U << 16 | 358), GET(0x10, 348U << 16 | 358)) },
        { "light throttling temperature not below the unchanged heavy one",
          { { "thermal_light", "60 C", VERDICT_FORBIDDEN, "thermal_light (60 C) must be below thermal_heavy (60 C)" } },
          ROWS(CTRL, GET(0x10, 323U << 16 | 333), GET(0x10, 323U << 16 | 333), GET(0x10, 323U << 16 | 333)) },
        { "one throttling temperature off, the other one kept",
          { { "thermal_light", "off", VERDICT_APPLIED, NULL } },
          ROWS(CTRL, GET(0x10, 323U << 16 | 333), GET(0x10, 323U << 16 | 333), SET(0x10, 333), GET(0x10, 333)) },
        { "throttling temperature outside the controller's range",
          { { "thermal_heavy", "95 C", VERDICT_UNSUPPORTED, "30...90 C" } },
          ROWS(CTRL, GET(0x10, 0), GET(0x10, 0)) },
        { "a rejected throttling temperature does not block a valid one",
          { { "thermal_light", "75 C", VERDICT_APPLIED, NULL }, { "thermal_heavy", "95 C", VERDICT_UNSUPPORTED, "30...90 C" } },
          ROWS(CTRL, GET(0x10, 323U << 16 | 358), GET(0x10, 323U << 16 | 358), GET(0x10, 323U << 16 | 358), SET(0x10, 348U << 16 | 358),
               GET(0x10, 348U << 16 | 358), GET(0x10, 348U << 16 | 358)) },
        { "controller without host controlled throttling", { { "thermal_heavy", "85 C", VERDICT_UNSUPPORTED, "" } }, ROWS(PLAIN) },
        { "throttling off on a controller without host controlled throttling", { { "thermal_light", "off", VERDICT_UNCHANGED, "counts as off" } }, ROWS(PLAIN) },
        { "error recovery of one namespace, with DULBE kept",
          { { "error_recovery", "7s", VERDICT_APPLIED, NULL } },
          ROWS(CTRL, GET_NS(5, 0x10000), GET_NS(5, 0x10000), SET_NS(5, 0x10046), GET_NS(5, 0x10046)) },
        { "interrupt coalescing, one of its two fields",
          { { "interrupt_coalescing_threshold", "8", VERDICT_APPLIED, NULL } },
          ROWS(CTRL, GET(8, 0x0200), GET(8, 0x0200), SET(8, 0x0207), GET(8, 0x0207)) },
        { "interrupt coalescing, both fields",
          { { "interrupt_coalescing_threshold", "8", VERDICT_APPLIED, NULL },
            { "interrupt_coalescing_time", "500us", VERDICT_APPLIED, NULL } },
          ROWS(CTRL, GET(8, 0), GET(8, 0), GET(8, 0), SET(8, 7), GET(8, 7), SET(8, 0x0507), GET(8, 0x0507), GET(8, 0x0507)) },
        { "permissive mode of non-operational power states",
          { { "non_operational_permissive_mode", "on", VERDICT_APPLIED, NULL } },
          ROWS(CTRL, GET(0x11, 0), SET(0x11, 1), GET(0x11, 1)) },
        { "permissive mode already off",
          { { "non_operational_permissive_mode", "off", VERDICT_UNCHANGED, NULL } },
          ROWS(CTRL, GET(0x11, 0)) },
        { "controller without permissive mode",
          { { "non_operational_permissive_mode", "on", VERDICT_UNSUPPORTED, "no non_operational_permissive_mode" } }, ROWS(PLAIN) },
        { "unknown feature",
          { { "interrupt_coalescing_time", "off", VERDICT_UNSUPPORTED, "does not support feature 08h" } },
          ROWS(CTRL, { .opcode = 0x0A, .cdw10 = 8, .status = 0x4002 }) },
        { "feature that cannot be changed",
          { { "interrupt_coalescing_time", "100us", VERDICT_REFUSED, "(feature not changeable, status 10Eh)" } },
          ROWS(CTRL, GET(8, 0), GET(8, 0), { .opcode = 0x09, .cdw10 = 8, .cdw11 = 0x100, .status = 0x410E }, GET(8, 0)) },
        { "accepted without effect",
          { { "write_cache", "off", VERDICT_IGNORED, "value is still on" } },
          ROWS(CTRL, GET(6, 1), SET(6, 0), GET(6, 1)) },
        { "a value is saved only on request",
          { { "write_cache", "off", VERDICT_UNCHANGED, "has saved on" } },
          ROWS(CTRL, GET(6, 0), GET(0x306, 5), GET(0x206, 1)), .permanent = true },
        { "saved",
          { { "write_cache", "off", VERDICT_APPLIED, NULL } },
          ROWS(CTRL, GET(6, 0), GET(0x306, 5), GET(0x206, 1), GET(0x306, 5), SET(SAVE | 6, 0),
               GET(6, 0), GET(0x306, 5), GET(0x206, 0)), .permanent = true, .apply_permanent = true },
        { "feature that cannot be saved",
          { { "write_cache", "off", VERDICT_APPLIED, "cannot save the value" } },
          ROWS(CTRL, GET(6, 1), GET(0x306, 4), GET(0x306, 4), SET(6, 0), GET(6, 0), GET(0x306, 4)),
          .permanent = true, .apply_permanent = true },
        { "host memory buffer is already on", { { "hmb", "on", VERDICT_UNCHANGED, NULL } }, NULL, 0 },
        { "host memory buffer, off", { { "hmb", "off", VERDICT_APPLIED, NULL } }, NULL, 0 },
        { "APST latency is unchanged", { { "apst_latency", "100 ms", VERDICT_UNCHANGED, NULL } }, ROWS(CTRL) },
        { "APST with another latency",
          { { "apst_latency", "250 ms", VERDICT_APPLIED, NULL } }, ROWS(CTRL, GET(0x0C, 1)) },
        { "APST latency that no power state meets",
          { { "apst_latency", "123456 us", VERDICT_APPLIED, "APST stays off" } }, ROWS(CTRL, GET(0x0C, 0)) },
        { "APST with any latency", { { "apst_latency", "any", VERDICT_APPLIED, NULL } },
          ROWS(CTRL, GET(0x0C, 0), GET(0x0C, 1)), .latency = "000\n" },
        { "APST, off", { { "apst_latency", "off", VERDICT_APPLIED, NULL } }, ROWS(CTRL, GET(0x0C, 0)) },
        { "APST off in the kernel, but on in the controller",
          { { "apst_latency", "off", VERDICT_ADJUSTED, "still on in the controller" } }, ROWS(CTRL, GET(0x0C, 1)) },
        { "controller without APST", { { "apst_latency", "off", VERDICT_UNCHANGED, "counts as off" } }, ROWS(PLAIN) },
        { "APST latency requested on a controller without APST", { { "apst_latency", "100 ms", VERDICT_UNSUPPORTED, "" } }, ROWS(PLAIN) },
};
/* clang-format on */

static void put(const char *path, const char *text) {
        char name[512];
        FILE *f;

        snprintf(name, sizeof name, "%s/%s", dir, path);
        f = fopen(name, "w");
        ck_assert_ptr_nonnull(f);
        fputs(text, f);
        fclose(f);
}

static void make_directory(const char *path) {
        char name[512];

        snprintf(name, sizeof name, "%s/%s", dir, path);
        ck_assert_int_eq(mkdir(name, 0755), 0);
}

static void setup(void) {
        strcpy(strrchr(dir, '-'), "-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(dir));
        make_directory("device");
        put("nsid", "7\n");
        put("device/state", "live\n");
        put("device/hmb", "1\n");
        make_directory("device/power");
}

static void teardown(void) {
        char command[512];

        snprintf(command, sizeof command, "rm -r %s", dir);
        ck_assert_int_eq(system(command), 0);
}

START_TEST(test_feature) {
        Script script = { .rows = cases[_i].rows, .n_rows = cases[_i].n_rows };
        DeviceIO io = script_io(&script);
        Wish wishes[2] = {};
        Wishes w = { .items = wishes };
        Visit v = { .drive = &drive,
                    .wishes = &w,
                    .settings = &all_settings,
                    .io = &io,
                    .work = WORK_APPLY | (cases[_i].apply_permanent ? WORK_PERMANENT : 0) };
        Plan p;

        put("device/power/pm_qos_latency_tolerance_us", cases[_i].latency ?: "100000\n");
        for (; w.n_items < 2 && cases[_i].outcomes[w.n_items].name; w.n_items++) {
                const Outcome *o = cases[_i].outcomes + w.n_items;
                const Setting *s = setting_for_backends(&all_settings, o->name, 1U << BACKEND_NVME);

                ck_assert_ptr_nonnull(s);
                wishes[w.n_items] = (Wish){ .name = s->name, .permanent = cases[_i].permanent, .file = "f", .line = 1 };
                ck_assert_int_ge(value_parse(&s->range, o->wanted, &wishes[w.n_items].value), 0);
        }

        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_uint_eq(p.n_steps, w.n_items);
        for (size_t i = 0; i < p.n_steps; i++) {
                const Step *s = p.steps + i;
                const Outcome *o = cases[_i].outcomes + (s->wish - wishes);

                ck_assert_msg(s->verdict == o->verdict, "%s: %s: expected %s, got %s (%s)", cases[_i].name, o->name,
                              verdict_to_string(o->verdict), verdict_to_string(s->verdict), s->reason);
                ck_assert_msg(o->reason ? !!strstr(s->reason, o->reason) : !s->reason[0], "%s: %s: reason '%s'",
                              cases[_i].name, o->name, s->reason);
        }
        script_done(&script);
        plan_done(&p);
}
END_TEST

static const struct {
        const char *name;
        Row rows[2];
        int r;
        bool testing;
} tests[] = {
        { "none", { CAN_TEST, LOG(0, 0x20) }, 0, false },
        { "short", { CAN_TEST, LOG(0, 0x01) }, 0, true },
        { "vendor-specific self-test", { CAN_TEST, LOG(0, 0x0E) }, 0, true },
        { "no self-test log", { CAN_TEST, LOG(0x4109, 0) }, END_REFUSED, false },
        { "controller without self-test", { CTRL }, END_UNSUPPORTED, false },
};

START_TEST(test_self_test) {
        Script script = { .rows = tests[_i].rows, .n_rows = tests[_i].rows[1].opcode ? 2 : 1 };
        DeviceIO io = script_io(&script);
        bool testing = false;
        Device d;

        device_init(&d, &drive, &io);
        ck_assert_int_eq(nvme_is_testing(&d, &testing), tests[_i].r);
        ck_assert_int_eq(testing, tests[_i].testing);
        device_done(&d);
        script_done(&script);
}
END_TEST

static Verdict visit_cache(const Row *rows, size_t n_rows) {
        Script script = { .rows = rows, .n_rows = n_rows };
        DeviceIO io = script_io(&script);
        Wish wish = { .name = "write_cache", .value = VALUE_BOOLEAN(true), .file = "f", .line = 1 };
        Wishes w = { .items = &wish, .n_items = 1 };
        Visit v = { .drive = &drive, .wishes = &w, .settings = &all_settings, .io = &io, .work = WORK_APPLY };
        Verdict verdict;
        Plan p;

        ck_assert_int_eq(visit_run(&v, &p), 0);
        verdict = p.steps[0].verdict;
        script_done(&script);
        plan_done(&p);
        return verdict;
}

/* If the kernel's file queue/write_cache says "write through", the kernel sends no flushes. A visit that turns the
 * cache on must therefore also write "write back" to this file. */
START_TEST(test_cache_unknown_to_kernel) {
        const Row on[] = { CTRL, GET(6, 1), SET(6, 1), GET(6, 1) }, off[] = { CTRL, GET(6, 1), SET(6, 0), GET(6, 0) };
        char path[64], text[32] = "";
        FILE *f;

        make_directory("queue");
        put("queue/write_cache", "write through\n");
        ck_assert_int_eq(visit_cache(on, ELEMENTSOF(on)), VERDICT_APPLIED);

        snprintf(path, sizeof path, "%s/queue/write_cache", dir);
        f = fopen(path, "r");
        ck_assert_ptr_nonnull(f);
        ck_assert_ptr_nonnull(fgets(text, sizeof text, f));
        fclose(f);
        ck_assert_str_eq(text, "write back");

        /* If the file queue/write_cache cannot be written, the verdict of write_cache is `forbidden`. */
        ck_assert_int_eq(unlink(path), 0);
        ck_assert_int_eq(symlink("/dev/full", path), 0);
        ck_assert_int_eq(visit_cache(off, ELEMENTSOF(off)), VERDICT_FORBIDDEN);
}
END_TEST

/* For a drive with two controllers, the kernel would send a command to only one controller, so settings of controllers
 * are forbidden. */
START_TEST(test_several_controllers) {
        const Row rows[] = { CTRL, GET(6, 1), GET(6, 1), GET_NS(5, 0), GET_NS(5, 0), SET_NS(5, 70), GET_NS(5, 70) };
        Script one = { .rows = rows, .n_rows = 3 }, two = { .rows = rows + 3, .n_rows = 4 };
        const Setting *cache = setting_for_backends(&all_settings, "write_cache", 1U << BACKEND_NVME),
                      *tler = setting_for_backends(&all_settings, "error_recovery", 1U << BACKEND_NVME),
                      *hmb = setting_for_backends(&all_settings, "hmb", 1U << BACKEND_NVME);
        DeviceIO io = script_io(&one);
        Reading reading;
        char path[64];
        Device d;

        device_init(&d, &drive, &io);
        ck_assert_int_eq(hmb->read(&d, hmb, &reading), 0);
        ck_assert_int_eq(reading.value.number, 1);

        snprintf(path, sizeof path, "%s/device/state", dir);
        ck_assert_int_eq(unlink(path), 0);
        snprintf(path, sizeof path, "%s/device/hmb", dir);
        ck_assert_int_eq(unlink(path), 0);
        ck_assert_int_eq(hmb->read(&d, hmb, &reading), END_UNSUPPORTED);
        ck_assert(strstr(d.failure.why, "the kernel has no device/hmb for this drive"));
        make_directory("device/nvme0n1");
        make_directory("device/nvme3");
        put("device/nvme3/state", "live\n");
        put("device/nvme3/hmb", "0\n");
        ck_assert_int_eq(hmb->read(&d, hmb, &reading), 0);
        ck_assert_int_eq(reading.value.number, 0);

        make_directory("device/nvme4");
        put("device/nvme4/state", "live\n");
        ck_assert_int_eq(hmb->read(&d, hmb, &reading), END_FORBIDDEN);
        ck_assert_int_eq(hmb->write(&d, hmb, &VALUE_BOOLEAN(true)), END_FORBIDDEN);
        ck_assert_int_eq(cache->read(&d, cache, &reading), 0);
        ck_assert_int_eq(cache->write(&d, cache, &VALUE_BOOLEAN(false)), END_FORBIDDEN);
        ck_assert(strstr(d.failure.why, "2 controllers"));
        ck_assert_int_eq(cache->read(&d, cache, &reading), 0);
        script_done(&one);

        /* A setting of the namespace is written, because both controllers lead to the same namespace. */
        d.io = script_io(&two);
        ck_assert_int_eq(tler->read(&d, tler, &reading), 0);
        ck_assert_int_eq(tler->write(&d, tler, &(Value){ VALUE_DURATION, 7000, "" }), 0);
        ck_assert_int_eq(tler->read(&d, tler, &reading), 0);
        ck_assert_int_eq(reading.value.number, 7000);
        script_done(&two);
        device_done(&d);
}
END_TEST

/* If two namespaces want different values of a shared feature, the overruled namespace reports the conflict and sends
 * no command. */
START_TEST(test_shared_feature_is_overruled) {
        Script script = {};
        DeviceIO io = script_io(&script);
        Wish wish = { .name = "write_cache", .value = VALUE_BOOLEAN(false), .file = "f", .line = 1 };
        Wishes w = { .items = &wish, .n_items = 1 };
        const Memory memory = { .overruled = "nvme0n1 sets another value (f:2)" };
        Visit v = { .drive = &drive,
                    .wishes = &w,
                    .memories = &memory,
                    .settings = &all_settings,
                    .io = &io,
                    .work = WORK_APPLY };
        Plan p;

        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_int_eq(p.steps[0].verdict, VERDICT_FORBIDDEN);
        ck_assert_str_eq(
                        p.steps[0].reason,
                        "the controller has one write_cache for all its namespaces, and nvme0n1 sets another value (f:2)");
        script_done(&script);
        plan_done(&p);
}
END_TEST

/* clang-format off */
static const struct {
        const char *states[2]; /* states of the drive's controllers; only one state: no multipathing */
        const char *setting;
        Verdict verdict;
        const char *reason;
} states[] = {
        { { "live" },                  "write_cache", VERDICT_UNCHANGED, NULL },
        { { "resetting" },             "write_cache", VERDICT_DEFERRED,  "accepts no commands now (state resetting)" },
        { { "connecting" },            "write_cache", VERDICT_DEFERRED,  "accepts no commands now (state connecting)" },
        { { "new" },                   "write_cache", VERDICT_DEFERRED,  "accepts no commands now (state new)" },
        { { "deleting" },              "write_cache", VERDICT_VANISHED,  "is being removed (state deleting)" },
        { { "deleting (no IO)" },      "write_cache", VERDICT_VANISHED,  "is being removed (state deleting (no IO))" },
        { { "dead" },                  "write_cache", VERDICT_FAILED,    "has given up the drive's NVMe controller (state dead)" },
        /* hmb is set through a file of the kernel. The kernel then sends a command to the controller, so hmb is
         * deferred, too. */
        { { "resetting" },             "hmb",         VERDICT_DEFERRED,  "accepts no commands now (state resetting)" },
        { { "resetting", "live" },     "write_cache", VERDICT_UNCHANGED, NULL },
        { { "live", "dead" },          "write_cache", VERDICT_UNCHANGED, NULL },
        { { "connecting", "resetting" }, "write_cache", VERDICT_DEFERRED, "accepts no commands now" },
};
/* clang-format on */

/* No command is sent if no controller of the drive is live: the script then has no rows. */
START_TEST(test_state) {
        const Row rows[] = { CTRL, GET(6, 0) };
        bool sends = states[_i].verdict == VERDICT_UNCHANGED;
        Script script = { .rows = rows, .n_rows = sends ? ELEMENTSOF(rows) : 0 };
        DeviceIO io = script_io(&script);
        Wish wish = { .name = states[_i].setting, .value = VALUE_BOOLEAN(false), .file = "f", .line = 1 };
        Wishes w = { .items = &wish, .n_items = 1 };
        Visit v = { .drive = &drive, .wishes = &w, .settings = &all_settings, .io = &io, .work = WORK_APPLY };
        char path[64], text[64];
        Plan p;

        if (states[_i].states[1]) {
                snprintf(path, sizeof path, "%s/device/state", dir);
                ck_assert_int_eq(unlink(path), 0);
        }
        for (size_t i = 0; i < 2 && states[_i].states[i]; i++) {
                snprintf(path, sizeof path, "device/nvme%zu", i);
                if (states[_i].states[1])
                        make_directory(path);
                snprintf(path, sizeof path, states[_i].states[1] ? "device/nvme%zu/state" : "device/state", i);
                snprintf(text, sizeof text, "%s\n", states[_i].states[i]);
                put(path, text);
        }

        ck_assert_int_eq(visit_run(&v, &p), 0);
        ck_assert_msg(p.steps[0].verdict == states[_i].verdict, "%s: %s (%s)", states[_i].states[0],
                      verdict_to_string(p.steps[0].verdict), p.steps[0].reason);
        ck_assert_msg(states[_i].reason ? !!strstr(p.steps[0].reason, states[_i].reason) : !p.steps[0].reason[0],
                      "%s: reason '%s'", states[_i].states[0], p.steps[0].reason);
        script_done(&script);
        plan_done(&p);
}
END_TEST

/* A setting has the same range for every kind of drive, since a value in a file is parsed without regard to the kind of
 * drive. */
START_TEST(test_ranges_agree) {
        SETTING_TABLE_FOREACH(s, &all_settings) {
                const Setting *first = setting_find(&all_settings, s->name);
                char a[256], b[256];

                ck_assert_str_eq(value_range_format(&first->range, a, sizeof a),
                                 value_range_format(&s->range, b, sizeof b));
                ck_assert_int_eq(first->range.type, s->range.type);
                ck_assert_int_eq(first->range.step, s->range.step);
                ck_assert_int_eq(first->range.unit, s->range.unit);
        }
}
END_TEST

int main(void) {
        Suite *suite = suite_create("nvme");
        TCase *t = tcase_create("nvme");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_feature, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_self_test, 0, ELEMENTSOF(tests));
        tcase_add_test(t, test_cache_unknown_to_kernel);
        tcase_add_test(t, test_several_controllers);
        tcase_add_test(t, test_shared_feature_is_overruled);
        tcase_add_loop_test(t, test_state, 0, ELEMENTSOF(states));
        tcase_add_test(t, test_ranges_agree);
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
