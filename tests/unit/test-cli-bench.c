/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep bench` as a whole, with stand-ins for udev, the service, the drives and the measurement: what is refused, what is shown and
 * kept, and what is said of two measurements. */

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>

#include "attribute.h"
#include "inventory.h"
#include "plan.h"
#include "probe.h"
#include "request.h"
#include "result.h"
#include "settings.h"
#include "stack.h"
#include "statistics.h"
#include "test-cli.h"

/* ---- stand-ins ---- */

#define GIB (UINT64_C(1) << 30)

static Drive drives[] = {
        { .name = (char *) "md0",
          .node = (char *) "/dev/md0",
          .syspath = (char *) "md0",
          .transport = TRANSPORT_VIRTUAL,
          .size = 9 * GIB },
        { .name = (char *) "sda",
          .node = (char *) "/dev/sda",
          .syspath = (char *) "sda",
          .model = (char *) "ST2000",
          .serial = (char *) "5YD1",
          .wwn = (char *) "0x5000",
          .transport = TRANSPORT_SATA,
          .ata = true,
          .size = 9 * GIB },
        { .name = (char *) "sdb",
          .node = (char *) "/dev/sdb",
          .syspath = (char *) "sdb",
          .transport = TRANSPORT_SATA,
          .ata = true,
          .size = 9 * GIB },
        { .name = (char *) "sdc",
          .node = (char *) "/dev/sdc",
          .syspath = (char *) "sdc",
          .transport = TRANSPORT_USB,
          .size = 0 },
        { .name = (char *) "sr0",
          .node = (char *) "/dev/sr0",
          .syspath = (char *) "sr0",
          .transport = TRANSPORT_SATA,
          .optical = true,
          .size = GIB },
        { .name = (char *) "nvme0n1",
          .node = (char *) "/dev/nvme0n1",
          .syspath = (char *) "nvme0n1",
          .transport = TRANSPORT_NVME,
          .size = 9 * GIB },
};
static Drive *found[] = { drives, drives + 1, drives + 2, drives + 3, drives + 4, drives + 5 };

int inventory_read(Inventory *ret) {
        *ret = (Inventory){ .drives = found, .n_drives = ELEMENTSOF(found) };
        return 0;
}

void inventory_done(_unused_ Inventory *i) {
}

static uid_t user;

uid_t geteuid(void) {
        return user;
}

static int leave_status, gate_error;

static int gate(_unused_ void *userdata, const Drive *d, const char **ret_why) {
        ck_assert(d > drives && d != drives + 4);
        *ret_why = "a visit to it takes long";
        return gate_error;
}

int leave_get(Leave *l, _unused_ const char *state_dir, _unused_ Drive *const *wanted, _unused_ size_t n) {
        *l = (Leave){ .io = { .gate = gate } };
        return leave_status;
}

void leave_done(_unused_ Leave *l) {
}

/* sda and sdb are md0. */
int __wrap_stack_disks_below(const char *classdir, const char *name, char ***ret);
int __wrap_stack_disks_below(_unused_ const char *classdir, const char *name, char ***ret) {
        char **names = NULL;

        if (streq(name, "md0")) {
                ck_assert_int_ge(names_add(&names, "sda"), 0);
                name = "sdb";
        }
        ck_assert_int_ge(names_add(&names, name), 0);
        *ret = names;
        return 0;
}

int __wrap_stack_above(const char *classdir, const char *name, char ***ret);
int __wrap_stack_above(_unused_ const char *classdir, const char *name, char ***ret) {
        *ret = NULL;
        return streq(name, "sda") || streq(name, "sdb") ? names_add(ret, "md0") : 0;
}

static const char *sync_action = "idle";

/* What is looked for by a pattern is in the scratch directory. */
int __real_attribute_read(char *buf, size_t size, const char *format, ...);
int __wrap_attribute_read(char *buf, size_t size, const char *format, ...) _printf_(3, 4);
int __wrap_attribute_read(char *buf, size_t size, const char *format, ...) {
        const char *path;
        va_list ap;

        if (!streq(format, "%s")) {
                (void) snprintf(buf, size, "%s", sync_action);
                return 0;
        }
        va_start(ap, format);
        path = va_arg(ap, const char *);
        va_end(ap);
        return __real_attribute_read(buf, size, "%s", path);
}

static const char *sleeper;
static int power_error;
static bool fio_here;

bool __wrap_fio_is_installed(void);
bool __wrap_fio_is_installed(void) {
        return fio_here;
}

int __wrap_power_look(Device *d, Backend by);
int __wrap_power_look(Device *d, _unused_ Backend by) {
        d->power = streq_ptr(d->drive->name, sleeper) ? POWER_STANDBY : POWER_AWAKE;
        return power_error;
}

static bool nvme_tests, nvme_tells;

int __wrap_nvme_is_testing(Device *d, bool *ret);
int __wrap_nvme_is_testing(_unused_ Device *d, bool *ret) {
        if (!nvme_tells)
                return END_UNSUPPORTED;
        *ret = nvme_tests;
        return 0;
}

static const char *apm = "254";

void __wrap_probe(Device *d, unsigned backends, const SettingTable *t, ProbeFn each, void *userdata);
void __wrap_probe(Device *d, _unused_ unsigned backends, const SettingTable *t, ProbeFn each, void *userdata) {
        Probed p = { .setting = setting_find(t, "apm"), .reading = { .supported = true, .known = true } };

        if (d->drive->transport == TRANSPORT_VIRTUAL)
                return;
        ck_assert_int_eq(value_parse(&p.setting->range, apm, &p.reading.value), 0);
        each(userdata, &p);
        p.reading.known = false;
        each(userdata, &p);
}

static unsigned n_run;
static int raised;
static bool stopped;
static double level = 1;
static size_t n_samples = 12;
static BenchTask asked;
static char below[64];

int __wrap_bench_run(const BenchTask *t, Bench *ret);
int __wrap_bench_run(const BenchTask *t, Bench *ret) {
        static const double spread[] = { 1, 1.004, 0.996, 1.002, 0.998, 1.001 };
        Measured *m;

        asked = *t;
        below[0] = '\0';
        for (char *const *b = t->below; b && *b; b++)
                (void) strcat(strcat(below, *b), " ");
        n_run++;
        if (raised) {
                struct pollfd fd = { .fd = t->stop_fd, .events = POLLIN };

                ck_assert_int_eq(raise(raised), 0);
                stopped = poll(&fd, 1, 0) > 0;
        }
        t->tell(t->userdata, t->budget / 2);
        *ret = (Bench){ .counted = level < 10 };
        m = bench_add(ret, figure_find("sequential_start"));
        for (size_t i = 0; i < n_samples; i++)
                measured_add(m, 150e6 * level * spread[i % 6]);
        m->n_others = 2;
        m->n_cached = 1;
        m = bench_add(ret, figure_find("random_latency"));
        for (size_t i = 0; i < n_samples; i++)
                measured_add(m, 0.008 / level * spread[i % 6]);
        m = bench_add(ret, figure_find("random_rate"));
        for (size_t i = 0; i < n_samples; i++)
                measured_add(m, 120 * spread[i % 6]);
        m = bench_add(ret, figure_find("buffered"));
        m->n_failed = 4;
        m->complaint = strdup("Input/output error");
        return t->may_go_on(t->userdata);
}

static bool is_terminal;

int isatty(int fd) {
        return fd == STDERR_FILENO && is_terminal;
}

static uint64_t clock_now = 1764190865;

int clock_gettime(_unused_ clockid_t clock, struct timespec *ts) {
        *ts = (struct timespec){ .tv_sec = (time_t) clock_now++ };
        return 0;
}

static void setup(void) {
        scratch_make();
        ck_assert_int_eq(setenv("TZ", "UTC", 1), 0);
        sleeper = NULL;
        sync_action = "idle";
        apm = "254";
        level = 1;
        n_samples = 12;
        user = 0;
        leave_status = gate_error = power_error = 0;
        fio_here = true;
        n_run = 0;
        is_terminal = false;
}

static int bench(char **ret_out, char **ret_err, const char *a, const char *b, const char *c) {
        return verb_catch(&verb_bench, "none", (const char *const[]){ "--results=kept", a, b, c, NULL }, ret_out,
                          ret_err);
}

static void measure(const char *drive) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(bench(&out, &err, drive, NULL, NULL), EXIT_WANTED);
        ck_assert_str_eq(err, "");
}

/* ---- measuring ---- */

/* clang-format off */
#define TABLE \
        "MEASURED                         MEDIAN       95 % INTERVAL SAMPLES LEFT OUT\n" \
        "sequential, start (outer zone) 150 MB/s 149.1 to 150.9 MB/s      12 2 (others used the drive), 1 (in the page cache)\n" \
        "random 4 KiB, median latency    8.00 ms   7.922 to 8.079 ms      12 -\n" \
        "random 4 KiB, 32 at once         120 /s   119.3 to 120.7 /s      12 -\n" \
        "sequential, by read-ahead             -                   -       0 4 (Input/output error)\n" \
        "\n" \
        "Kept as sda-20251126-"
/* clang-format on */

START_TEST(test_show) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(bench(&out, &err, "sda", NULL, NULL), EXIT_WANTED);
        ck_assert_str_eq(err, "");
        ck_assert_msg(starts_with(out, TABLE), "%s", out);
        ck_assert_uint_eq(asked.budget, 180ULL * 1000 * 1000);
        ck_assert_uint_eq(asked.samples_max, SAMPLES_MAX);
        ck_assert_str_eq(asked.node, "/dev/sda");
        ck_assert_uint_eq(asked.size, 9 * GIB);
        ck_assert_str_eq(below, "");
        ck_assert_int_lt(asked.file, 0);
}
END_TEST

START_TEST(test_json) {
        _cleanup_free_ char *out = NULL, *err = NULL;
        _cleanup_(result_done) Result r = {};
        char host[HOST_NAME_MAX + 1];

        ck_assert_int_eq(bench(&out, &err, "5YD1", "--json", "--budget=1h"), EXIT_WANTED);
        ck_assert_uint_eq(asked.budget, 3600ULL * 1000 * 1000);
        ck_assert_int_eq(result_parse(out, &r), 0);
        ck_assert_int_eq(gethostname(host, sizeof host), 0);
        ck_assert_str_eq(r.host, host);
        ck_assert_uint_eq(strlen(r.boot_id), 32);
        ck_assert_uint_eq(r.n_settings, 1);
        ck_assert_str_eq(r.settings[0].drive, "sda");
        ck_assert_str_eq(r.settings[0].name, "apm");
        ck_assert_str_eq(r.settings[0].value, "254");
}
END_TEST

START_TEST(test_array) {
        _cleanup_free_ char *out = NULL, *err = NULL;
        _cleanup_(result_done) Result r = {};

        ck_assert_int_eq(bench(&out, &err, "md0", "--json", NULL), EXIT_WANTED);
        ck_assert_str_eq(below, "sda sdb ");
        ck_assert_int_eq(result_parse(out, &r), 0);
        ck_assert_uint_eq(r.n_settings, 2);
}
END_TEST

/* By whom the service has found behind the bridge. */
START_TEST(test_bridge) {
        _cleanup_free_ char *out = NULL, *err = NULL;
        _cleanup_(result_done) Result r = {};

        file_make("none/sdc",
                  "VERSION=1\nNAME=sdc\nSERIAL=B1\nFIRMWARE=F\nDOCK_SERIAL=D1\nBRIDGE_ASKED=1\nBRIDGE_IDENTIFIED=1\n");
        drives[3].serial = strdup("D1");
        drives[3].size = 9 * GIB;
        ck_assert_int_eq(bench(&out, &err, "B1", "--json", NULL), EXIT_WANTED);
        ck_assert_int_eq(result_parse(out, &r), 0);
        ck_assert_str_eq(r.serial, "B1");
        ck_assert_str_eq(r.firmware, "F");
}
END_TEST

/* On a terminal, and gone when it has ended. */
START_TEST(test_progress) {
        _cleanup_free_ char *out = NULL, *err = NULL, *none = NULL, *quiet = NULL;

        is_terminal = true;
        ck_assert_int_eq(bench(&out, &err, "sda", NULL, NULL), EXIT_WANTED);
        ck_assert_str_eq(err, "\rsda [###############               ]  50 %, 1 min 30 s left\033[K\r\033[K");
        ck_assert_int_eq(bench(&none, &quiet, "sda", "--quiet", NULL), EXIT_WANTED);
        ck_assert_str_eq(quiet, "");
}
END_TEST

/* What ends a command ends the measurement, and no more; what is ignored, as by nohup(1), does not. */
static const struct {
        int signal;
        bool ignored;
} signals[] = { { SIGINT, false }, { SIGTERM, false }, { SIGHUP, false }, { SIGHUP, true }, { SIGINT, true } };

START_TEST(test_signal) {
        /* These tests may be run by nohup(1), too. */
        ck_assert_ptr_ne(signal(signals[_i].signal, signals[_i].ignored ? SIG_IGN : SIG_DFL), SIG_ERR);
        raised = signals[_i].signal;
        measure("sda");
        ck_assert_int_eq(stopped, !signals[_i].ignored);
}
END_TEST

START_TEST(test_uncounted) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        level = 10;
        ck_assert_int_eq(bench(&out, &err, "sda", NULL, NULL), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(out, "the kernel does not count what sda is used for"));
}
END_TEST

static const struct {
        const char *words[2];
        const char *sleeper, *sync;
        uid_t user;
        int leave, power;
        bool no_fio;
        int status;
        const char *err; /* a part of it */
} refused[] = {
        { { "sda", NULL }, .user = 1000, .status = EXIT_BAD_INPUT, .err = "only root may measure drives" },
        { { "sdx", NULL }, .status = EXIT_BAD_INPUT, .err = "'sdx' is no drive that drivekeep knows" },
        { { "sda", "sdb" }, .status = EXIT_BAD_INPUT, .err = "one drive is measured at a time" },
        { { "sr0", NULL }, .status = EXIT_BAD_INPUT, .err = "sr0 is not measured: it reads discs" },
        { { "sdc", NULL },
          .status = EXIT_BAD_INPUT,
          .err = "sdc is not measured: it has less than 4 GiB, or no medium" },
        { { "sda", NULL }, .sleeper = "sda", .status = EXIT_BAD_INPUT, .err = "sda is not measured: sda sleeps" },
        { { "md0", NULL }, .sleeper = "sdb", .status = EXIT_BAD_INPUT, .err = "md0 is not measured: sdb sleeps" },
        { { "sda", NULL },
          .sync = "resync",
          .status = EXIT_BAD_INPUT,
          .err = "sda is not measured: md0 is busy with 'resync'" },
        { { "md0", NULL },
          .sync = "check",
          .status = EXIT_BAD_INPUT,
          .err = "md0 is not measured: md0 is busy with 'check'" },
        { { "sda", "--budget=9s" }, .status = EXIT_BAD_INPUT, .err = "'9s' is no time to measure for" },
        { { "sda", "--budget=long" }, .status = EXIT_BAD_INPUT, .err = "'long' is no time to measure for" },
        { { "sda", "--file=none" },
          .status = EXIT_BAD_INPUT,
          .err = "'none' is no directory: --file wants one that is on sda" },
        { { "sda", "--file=/proc" }, .status = EXIT_BAD_INPUT, .err = "'/proc' is on no drive that can be told" },
        { { "--budget=1min", NULL }, .status = EXIT_BAD_INPUT, .err = "--budget and --file are for a measurement" },
        { { "--compare", "--file=." }, .status = EXIT_BAD_INPUT, .err = "--budget and --file are for a measurement" },
        { { "sda", NULL },
          .no_fio = true,
          .status = EXIT_BAD_INPUT,
          .err = "drivekeep bench needs fio: install the package 'fio'" },
        { { "sda", NULL }, .power = -EIO, .status = EXIT_BAD_INPUT, .err = "sda is not measured: sda does not answer" },
        { { "sda", NULL }, .leave = EXIT_NOT_WANTED, .status = EXIT_NOT_WANTED, .err = "" },
};

START_TEST(test_refused) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        user = refused[_i].user;
        sleeper = refused[_i].sleeper;
        sync_action = refused[_i].sync ?: "idle";
        leave_status = refused[_i].leave;
        power_error = refused[_i].power;
        fio_here = !refused[_i].no_fio;
        ck_assert_int_eq(bench(&out, &err, refused[_i].words[0], refused[_i].words[1], NULL), refused[_i].status);
        ck_assert_msg(strstr(err, refused[_i].err), "%s", err);
        ck_assert_str_eq(out, "");
        ck_assert_uint_eq(n_run, 0);
        ck_assert_int_eq(access("kept", F_OK), -1);
}
END_TEST

/* An NVMe drive, whose kernel driver may tell how warm it is, in thousandths of a degree. */
static const struct {
        const char *directory, *heat, *most;
        bool refused;
} heats[] = {
        { "nvme0n1/device/hwmon1", "35850", "80850", false }, { "nvme0n1/device/hwmon1", "80850", "80850", false },
        { "nvme0n1/device/hwmon1", "81850", "80850", true },  { "nvme0n1/device/nvme2/hwmon1", "81850", "80850", true },
        { "nvme0n1/device/hwmon1", "81850", NULL, false },    { "nvme0n1/device/hwmon1", NULL, "80850", false },
        { "nvme0n1/device", "81850", "80850", false },
};

static void make_heat(const char *name, const char *directory, const char *text) {
        char path[64];

        (void) snprintf(path, sizeof path, "%s/%s", directory, name);
        if (text)
                file_make(path, text);
}

START_TEST(test_nvme_tests) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        nvme_tells = true;
        measure("nvme0n1");
        nvme_tests = true;
        ck_assert_int_eq(bench(&out, &err, "nvme0n1", NULL, NULL), EXIT_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(err, "nvme0n1 is not measured: nvme0n1 tests itself\n"));
}
END_TEST

START_TEST(test_heat) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        make_heat("temp1_input", heats[_i].directory, heats[_i].heat);
        make_heat("temp1_max", heats[_i].directory, heats[_i].most);
        ck_assert_int_eq(bench(&out, &err, "nvme0n1", NULL, NULL), heats[_i].refused ? EXIT_BAD_INPUT : EXIT_WANTED);
        if (heats[_i].refused)
                ck_assert_ptr_nonnull(
                                strstr(err, "nvme0n1 is not measured: nvme0n1 has 82 C, and warns of more than 81\n"));
}
END_TEST

/* The service has to visit the drive: what there is by then is shown and kept. */
START_TEST(test_ended) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        gate_error = END_DEFERRED;
        ck_assert_int_eq(bench(&out, &err, "sda", NULL, NULL), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(err, "sda cannot be measured any longer: a visit to it takes long"));
        ck_assert_ptr_nonnull(strstr(out, "Kept as"));
}
END_TEST

START_TEST(test_nothing) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        n_samples = 0;
        ck_assert_int_eq(bench(&out, &err, "sda", NULL, NULL), EXIT_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(err, "nothing was measured of sda, so nothing is kept"));
        ck_assert_ptr_nonnull(strstr(out, "4 (Input/output error)"));
        ck_assert_int_eq(access("kept", F_OK), -1);
}
END_TEST

START_TEST(test_not_kept) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        file_make("kept", "no directory");
        ck_assert_int_eq(bench(&out, &err, "sda", NULL, NULL), EXIT_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(err, "the measurement cannot be kept in kept: Not a directory"));
        ck_assert_ptr_nonnull(strstr(out, "150 MB/s"));
}
END_TEST

/* ---- what is kept ---- */

START_TEST(test_list) {
        _cleanup_free_ char *out = NULL, *err = NULL, *json = NULL, *none = NULL;

        ck_assert_int_eq(bench(&out, &err, NULL, NULL, NULL), EXIT_WANTED);
        ck_assert_str_eq(out, "");
        ck_assert_ptr_nonnull(strstr(err, "nothing is kept in kept; 'drivekeep bench DRIVE' measures a drive"));
        free(out);
        out = NULL;
        free(err);
        err = NULL;

        measure("sda");
        measure("sdb");
        ck_assert_int_eq(bench(&out, &err, NULL, NULL, NULL), EXIT_WANTED);
        ck_assert(starts_with(out, "NAME"));
        ck_assert_ptr_nonnull(strstr(out, "\nsda-20251126-"));
        ck_assert_ptr_nonnull(strstr(out, "\nsdb-20251126-"));
        ck_assert_ptr_nonnull(strstr(out, " 36\n"));
        ck_assert_int_eq(bench(&json, &none, "--json", NULL, NULL), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(json, "\"samples\": 36"));
}
END_TEST

/* ---- comparing ---- */

/* clang-format off */
#define DIFFERENCES \
        "MEASURED                         BEFORE    AFTER DIFFERENCE\n" \
        "sequential, start (outer zone) 150 MB/s 158 MB/s 5.0 % faster (3.7 to 6.3 %)\n" \
        "random 4 KiB, median latency    8.00 ms  7.62 ms 4.8 % shorter (2.9 to 6.6 %)\n" \
        "random 4 KiB, 32 at once         120 /s   120 /s no difference that 12 samples could show\n" \
        "sequential, by read-ahead             -        - not known: it takes 6 samples of each\n" \
        "before: sda-20251126-"
/* clang-format on */

START_TEST(test_compare) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        measure("sda");
        measure("sdb");
        level = 1.05;
        apm = "128";
        measure("sda");
        ck_assert_int_eq(bench(&out, &err, "--compare", NULL, NULL), EXIT_WANTED);
        ck_assert_str_eq(err, "");
        ck_assert_msg(starts_with(out, DIFFERENCES), "%s", out);
        ck_assert_ptr_nonnull(strstr(out, "\nsda, apm: 254 before, 128 after\n"));
        ck_assert_ptr_null(strstr(out, "kernel"));
}
END_TEST

START_TEST(test_compare_named) {
        _cleanup_free_ char *out = NULL, *err = NULL, *json = NULL, *none = NULL;
        _cleanup_(results_done) Results all = {};

        level = 1.3;
        measure("sda");
        level = 1;
        measure("sda");
        measure("sdb");
        ck_assert_int_eq(results_load("kept", &all), 0);
        ck_assert_int_eq(bench(&out, &err, "--compare", all.items[0].name, all.items[2].name), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(out, "195 MB/s 150 MB/s 23 % slower (2"));
        ck_assert_ptr_nonnull(strstr(out, "30 % longer (2"));
        ck_assert_ptr_nonnull(strstr(out, "\ndrive: 0x5000 before, sdb after\n"));

        /* The last two of a drive. */
        ck_assert_int_eq(verb_catch(&verb_bench, "none",
                                    (const char *const[]){ "--results=kept", "--compare", "--json", "sda", NULL },
                                    &json, &none),
                         EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(json, "\"differs\": true"));
        ck_assert_ptr_nonnull(strstr(json, "\"differs\": false"));
        ck_assert_ptr_nonnull(strstr(json, "\"differs\": null"));
        ck_assert_ptr_nonnull(strstr(json, all.items[1].name));
        ck_assert_ptr_nonnull(strstr(json, "\"factor\": 0.769"));
}
END_TEST

static const struct {
        const char *words[3];
        const char *err;
} not_compared[] = {
        { { "--compare", NULL, NULL }, "there are no two measurements of sda in kept" },
        { { "--compare", "sdx", NULL }, "'sdx' is no drive that drivekeep knows" },
        { { "--compare", "5YD1", NULL }, "there are no two measurements of 5YD1 in kept" },
        { { "--compare", "sdb", NULL }, "there are no two measurements of sdb in kept" },
        { { "--compare", "a", "b" }, "the measurement 'a' cannot be read: No such file or directory" },
        { { "--compare", "kept/bad.json", "b" },
          "'kept/bad.json' is no measurement that 'drivekeep bench' has written" },
};

START_TEST(test_not_compared) {
        _cleanup_free_ char *out = NULL, *err = NULL;
        const char *const *w = not_compared[_i].words;

        measure("sda");
        file_make("kept/bad.json", "{}");
        ck_assert_int_eq(bench(&out, &err, w[0], w[1], w[2]), EXIT_BAD_INPUT);
        ck_assert_msg(strstr(err, not_compared[_i].err), "%s", err);
        ck_assert_str_eq(out, "");
}
END_TEST

int main(void) {
        TCase *c = tcase_create("cli-bench");

        tcase_add_checked_fixture(c, setup, scratch_remove);
        tcase_add_test(c, test_show);
        tcase_add_test(c, test_json);
        tcase_add_test(c, test_array);
        tcase_add_test(c, test_bridge);
        tcase_add_test(c, test_progress);
        tcase_add_loop_test(c, test_signal, 0, ELEMENTSOF(signals));
        tcase_add_test(c, test_uncounted);
        tcase_add_loop_test(c, test_refused, 0, ELEMENTSOF(refused));
        tcase_add_test(c, test_nothing);
        tcase_add_test(c, test_nvme_tests);
        tcase_add_loop_test(c, test_heat, 0, ELEMENTSOF(heats));
        tcase_add_test(c, test_ended);
        tcase_add_test(c, test_not_kept);
        tcase_add_test(c, test_list);
        tcase_add_test(c, test_compare);
        tcase_add_test(c, test_compare_named);
        tcase_add_loop_test(c, test_not_compared, 0, ELEMENTSOF(not_compared));
        return test_main("cli-bench", c);
}
