/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep tune` as a whole, with stand-ins for udev, fio and the service, which sets what it is asked to in a sysfs of our own: what is
 * refused, which value is picked and told, what is written, and that the drive has its own value again whatever happens. */

#include <ctype.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/wait.h>

#include "attribute.h"
#include "bus-pair.h"
#include "fake-fio.h"
#include "inventory.h"
#include "root-files.h"
#include "settings.h"
#include "stack.h"
#include "subject.h"
#include "text-file.h"
#include "tune-evidence.h"
#include "unit-status.h"

/* ---- the drive ---- */

static Drive drives[] = {
        { .name = (char *) "sda",
          .node = (char *) "/dev/none",
          .syspath = (char *) "class/sda",
          .model = (char *) "DISK",
          .serial = (char *) "S1",
          .firmware = (char *) "F1",
          .transport = TRANSPORT_VIRTIO,
          .size = UINT64_C(64) << 30 },
        { .name = (char *) "sr0",
          .node = (char *) "/dev/none",
          .syspath = (char *) "class/sr0",
          .transport = TRANSPORT_SATA,
          .optical = true },
};
static Drive *found[] = { drives, drives + 1 };

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

int __wrap_stack_disks_below(const char *classdir, const char *name, char ***ret);
int __wrap_stack_disks_below(_unused_ const char *classdir, const char *name, char ***ret) {
        *ret = NULL;
        return names_add(ret, name);
}

int __wrap_stack_above(const char *classdir, const char *name, char ***ret);
int __wrap_stack_above(_unused_ const char *classdir, _unused_ const char *name, char ***ret) {
        *ret = NULL;
        return 0;
}

/* What the command looks for in the machine's sysfs is in ours. */
int __real_attribute_read(char *buf, size_t size, const char *format, ...);
int __wrap_attribute_read(char *buf, size_t size, const char *format, ...) _printf_(3, 4);
int __wrap_attribute_read(char *buf, size_t size, const char *format, ...) {
        static const char outside[] = INVENTORY_CLASSDIR "/";
        char path[PATH_MAX];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(path, sizeof path, format, ap);
        va_end(ap);
        return starts_with(path, outside) ? __real_attribute_read(buf, size, "class/%s", path + strlen(outside))
                                          : __real_attribute_read(buf, size, "%s", path);
}

/* The scratch directory is on no drive of ours. */
int __wrap_subject_make_file(Subject *s);
int __wrap_subject_make_file(Subject *s) {
        ck_assert_str_eq(s->options->file, "here");
        s->file = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        return EXIT_WANTED;
}

int systemd_find_fsck(_unused_ char **ret_unit) {
        return 0;
}

/* ---- the service ---- */

static int lock;               /* it runs */
static const char *refusal;    /* of Hold */
static const char *not_had;    /* a value that the drive does not take … */
static const char *gone_with;  /* … one at which it is pulled … */
static const char *not_again;  /* … and one that it does not take any more once it has had another one */
static const char *files_want; /* what it is set to in the end; NULL: what it had before … */
static const char *of_file;    /* … and how that is written there, with the verdict */
static unsigned dies_at;       /* this Hold, … */
static bool dies_after;        /* … or the first visit */
static unsigned may_read;      /* so many times */

typedef struct Held {
        char setting[32], value[VALUE_TEXT_MAX], before[VALUE_TEXT_MAX];
        bool let_go;
} Held;

static void note(const char *format, ...) _printf_(1, 2);
static void note(const char *format, ...) {
        FILE *f = fopen("calls", "ae");
        va_list ap;

        va_start(ap, format);
        vfprintf(f, format, ap);
        va_end(ap);
        (void) fclose(f);
}

/* As the kernel does. */
static void put_value(const char *setting, const char *value) {
        static const char *const schedulers[] = { "none", "mq-deadline", "bfq" };
        char path[64];
        FILE *f;

        (void) snprintf(path, sizeof path, "class/sda/queue/%s", setting);
        if (streq(value, "?")) {
                ck_assert_int_eq(unlink(path), 0);
                return;
        }
        f = fopen(path, "we");
        if (streq(setting, "scheduler"))
                for (size_t i = 0; i < ELEMENTSOF(schedulers); i++)
                        fprintf(f, streq(schedulers[i], value) ? "[%s] " : "%s ", schedulers[i]);
        else
                fprintf(f, "%llu\n", strtoull(value, NULL, 10) * (ends_with(value, " ms") ? 1000 : 1));
        (void) fclose(f);
}

static void visit(const Held *h) {
        const char *wanted = h->let_go ? files_want ?: h->before : h->value;
        bool gone = streq_ptr(wanted, gone_with), refused = streq_ptr(wanted, not_had) || (h->let_go && not_again);
        FILE *f = fopen("state/sda", "we");

        if (gone)
                file_write("class/sda/diskseq", "6\n");
        else if (!refused)
                put_value(h->setting, wanted);
        fprintf(f, "VERSION=1\nNAME=sda\n");
        if (!h->let_go || files_want)
                fprintf(f,
                        "SETTINGS=1\nSETTING_0_NAME=%s\nSETTING_0_WANTED=%s\nSETTING_0_ACTUAL=%s\nSETTING_0_VERDICT=%s\n",
                        h->setting, wanted, gone || refused ? h->before : wanted,
                        gone      ? "vanished"
                        : refused ? "refused"
                                  : "applied");
        if (h->let_go && files_want)
                fprintf(f, "SETTING_0_RULE=a.conf:1\nSETTING_0_WANTED=%s\n", of_file);
        if (refused)
                fputs("SETTING_0_REASON=the kernel says no\n", f);
        (void) fclose(f);
}

static int on_call(sd_bus_message *m, _unused_ void *userdata, sd_bus_error *error) {
        const char *member = sd_bus_message_get_member(m), *drive, *setting, *value, *before;
        static unsigned n_held, n_read;
        static Held held;

        if (streq(member, "MayRead"))
                return n_read++ < may_read ? sd_bus_reply_method_return(m, "")
                                           : sd_bus_error_set(error, "org.drivekeep1.Error.NotNow", "it is visited");
        if (streq(member, "Hold")) {
                (void) sd_bus_message_read(m, "ssss", &drive, &setting, &value, &before);
                note("Hold:%s=%s(%s) ", setting, value, before);
                if (++n_held == dies_at)
                        _exit(EXIT_FAILURE);
                if (refusal)
                        return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, refusal);
                held = (Held){};
                (void) snprintf(held.setting, sizeof held.setting, "%s", setting);
                (void) snprintf(held.value, sizeof held.value, "%s", value);
                (void) snprintf(held.before, sizeof held.before, "%s", before);
        } else if (streq(member, "Read")) {
                note("Read ");
                if (held.setting[0])
                        visit(&held);
                if (dies_after)
                        _exit(EXIT_FAILURE);
                return sd_bus_reply_method_return(m, "as", 1, "sda");
        } else if (STR_IN_SET(member, "LetGo", "Reload"))
                note("%s ", member);
        held.let_go = held.let_go || streq(member, "LetGo");
        return sd_bus_reply_method_return(m, "");
}

int systemd_open_socket(_unused_ const char *address, sd_bus **ret) {
        int fd;

        (void) bus_play(on_call, NULL, &fd);
        *ret = bus_end(NULL, fd, false);
        return 0;
}

/* ---- the command ---- */

#define TUNED "etc/drivekeep/drivekeep.conf.d/60-tuned.conf"

/* bfq is the fastest of three; half of the greatest request is faster than the present one, which is that. */
#define SPEEDS                                       \
        "case $(cat class/sda/queue/scheduler) in\n" \
        "*'[bfq]'*) iops=200;;\n"                    \
        "*'[none]'*) iops=100;;\n"                   \
        "*) iops=150;;\n"                            \
        "esac\n"                                     \
        "[ $(cat class/sda/queue/max_sectors_kb) = 256 ] || bw=3000000\n"
#define ALL_ALIKE "iops=100\n"

static char *out, *err;

static void setup(void) {
        static const char *const directories[] = { "etc", "etc/drivekeep", "state" };

        scratch_make();
        fake_fio_make();
        for (size_t i = 0; i < ELEMENTSOF(directories); i++)
                ck_assert_int_eq(mkdir(directories[i], 0755), 0);
        ck_assert_int_eq(setenv("TZ", "UTC", 1), 0);
        put_value("scheduler", "mq-deadline");
        put_value("max_sectors_kb", "256");
        put_value("max_hw_sectors_kb", "256");
        file_write("behaviour", SPEEDS);
        lock = record_directory_lock("state");
        may_read = UINT32_MAX;
}

static void teardown(void) {
        free(out);
        free(err);
        out = err = NULL;
        closep(&lock);
        scratch_remove();
}

static void tune(ExitStatus expected, const char *a, const char *b, const char *c, const char *d) {
        int status;

        free(out);
        free(err);
        (void) unlink("calls");
        status = verb_catch(&verb_tune, "state", (const char *const[]){ "--config-root=etc", a, b, c, d, NULL }, &out,
                            &err);
        ck_assert_msg(status == (int) expected, "%d\n%s%s", status, out, err);
        while (waitpid(-1, NULL, 0) > 0)
                ;
}

/* Today's date is no matter. */
static char *without_day(char *text) {
        static const char mark[] = "// measured ";

        for (char *at = text; (at = strstr(at, mark));) {
                at += strlen(mark);
                for (size_t i = 0; i < strlen("2026-11-22"); i++)
                        at[i] = isdigit((unsigned char) at[i]) ? '0' : at[i];
        }
        return text;
}

static void assert_in(const char *text, const char *part) {
        ck_assert_msg(strstr(text, part), "%s is not in: %s", part, text);
}

static char *read_calls(void) {
        char *text = calloc(1, 65536);

        file_read("calls", text, 65536);
        return text;
}

/* The drive has what it had, and nothing is held of it. */
static void assert_back(void) {
        _cleanup_free_ char *calls = read_calls();
        char now[64];

        ck_assert_msg(ends_with(calls, "LetGo Read "), "%s", calls);
        file_read("class/sda/queue/scheduler", now, sizeof now);
        ck_assert_str_eq(now, "none [mq-deadline] bfq ");
        file_read("class/sda/queue/max_sectors_kb", now, sizeof now);
        ck_assert_str_eq(now, "256\n");
}

static void assert_file(const char *path, const char *text) {
        char now[4096];

        file_read(path, now, sizeof now);
        ck_assert_str_eq(without_day(now), text);
}

/* ---- measuring ---- */

/* clang-format off */
#define HEAD "    { match = { model = \"DISK\"; serial = \"S1\"; };\n"
#define SCHEDULER \
        "      // measured 0000-00-00, firmware F1, schedulers bfq mq-deadline none: random 4 KiB, 256 at once, " \
        "bfq 200 /s (199.2 to 200.8 /s), mq-deadline 150 /s (149.4 to 150.6 /s); 24 samples\n" \
        "      scheduler = \"bfq\";\n"
#define SECTORS \
        "      // measured 0000-00-00, firmware F1: sequential, start (outer zone), " \
        "128 KiB 3.00 MB/s (2.988 to 3.012 MB/s), 256 KiB 2.00 MB/s (1.992 to 2.008 MB/s); 12 samples\n" \
        "      max_sectors_kb = \"128 KiB\";\n"
#define END "    },\n"
#define BEGIN "// Written by drivekeep tune --write. It writes this file anew when more is measured.\n\ndrives = (\n"
/* clang-format on */

START_TEST(test_pick) {
        _cleanup_free_ char *calls = NULL;

        tune(EXIT_WANTED, "sda", "scheduler", NULL, NULL);
        ck_assert_str_eq(err, "");
        assert_in(out, "scheduler");
        assert_in(out, "mq-deadline now");
        assert_in(out, "bfq best");
        assert_in(out, "scheduler: bfq is better than mq-deadline: random 4 KiB, 256 at once, 33 % more (");
        ck_assert_ptr_null(strstr(out, "beside that"));
        assert_in(without_day(out), "or this in the configuration:\n\ndrives = (\n" HEAD SCHEDULER END ");\n");
        assert_back();
        ck_assert_int_eq(access(TUNED, F_OK), -1);

        /* A value that stands twice in a row is set once. */
        calls = read_calls();
        ck_assert_msg(starts_with(calls,
                                  "Hold:scheduler=mq-deadline(mq-deadline) Read Hold:scheduler=none(mq-deadline) Read "
                                  "Hold:scheduler=bfq(mq-deadline) Read Hold:scheduler=none(mq-deadline) Read "
                                  "Hold:scheduler=mq-deadline(mq-deadline) Read Hold:scheduler=none(mq-deadline) Read "),
                      "%s", calls);
}
END_TEST

START_TEST(test_json) {
        tune(EXIT_WANTED, "S1", "scheduler", "--json", NULL);
        assert_in(out, "\"drive\": \"sda\"");
        assert_in(out, "\"present\": \"mq-deadline\"");
        assert_in(out, "\"picked\": \"bfq\"");
        assert_in(out, "\"reason\": \"better\"");
        assert_in(out, "\"caution\": null");
        assert_in(out, "\"goal\": \"deep_rate\"");
        assert_in(out, "\"cost\": \"deep_latency_p99\"");
        assert_in(out, "\"value\": \"none\"");
        assert_in(out, "\"median\": 200");
        assert_in(out, "scheduler = \\\"bfq\\\";\"");
        assert_in(out, "\"drives = (\"");
        ck_assert_ptr_null(strstr(out, "is better than"));
        assert_back();
}
END_TEST

/* Without a name: all that the drive has. */
START_TEST(test_all) {
        ck_assert_int_eq(unlink("class/sda/queue/read_ahead_kb"), 0);
        tune(EXIT_WANTED, "sda", NULL, NULL, NULL);
        assert_in(out, "read_ahead_kb: not measured: ");
        assert_in(out, "queue_depth: not measured: it is not a setting of this kind of drive\n");
        assert_in(out, "nr_requests: not measured: ");
        assert_in(out, "scheduler: bfq is better than mq-deadline");
        assert_in(out, "max_sectors_kb: 128 KiB is better than 256 KiB: sequential, start (outer zone), 50 % faster (");
        assert_in(without_day(out), "drives = (\n" HEAD SCHEDULER SECTORS END ");\n");
        assert_back();
}
END_TEST

/* Three values in samples of a second have three times as long as two in samples of half of it. */
START_TEST(test_shares) {
        file_write("behaviour", "iops=$((100 + 37 * $(wc -l <log) % 90)) bw=$((iops * 10000))\n");
        tune(EXIT_WANTED, "sda", "scheduler", "max_sectors_kb", "--budget=60s");
        ck_assert_uint_ge(count_runs(" --name=deep "), 2 * count_runs(" --name=start "));
        ck_assert_uint_le(count_runs(" --name=deep "), 4 * count_runs(" --name=start "));
}
END_TEST

/* What is measured by writing: where a directory is named also if no setting is. */
START_TEST(test_file) {
        ck_assert_int_eq(unlink("class/sda/queue/read_ahead_kb"), 0);
        put_value("wbt_lat_usec", "off");
        file_write("behaviour", "[ $(cat class/sda/queue/wbt_lat_usec) = 2000 ] && ns=500000 || ns=1000000\n");
        tune(EXIT_WANTED, "sda", "wbt_lat_usec", "--file=here", NULL);
        ck_assert_str_eq(err, "");
        assert_in(out,
                  "wbt_lat_usec: 2 ms is better than off: random 4 KiB beside writes, median latency, 50 % shorter (");
        assert_in(out,
                  "\nwbt_lat_usec: the kernel holds back writes for that, and how much slower they are is not measured\n");
        assert_in(out, "wbt_lat_usec = \"2 ms\";");
        assert_back();
        tune(EXIT_WANTED, "sda", "wbt_lat_usec", "--file=here", "--json");
        assert_in(out, "\"caution\": \"the kernel holds back writes");

        tune(EXIT_WANTED, "sda", "wbt_lat_usec", "scheduler", "--file=here");
        assert_in(out, "wbt_lat_usec: 2 ms is better than off");
        assert_in(out, "scheduler: leave it as it is");
        tune(EXIT_WANTED, "sda", "--file=here", NULL, NULL);
        assert_in(out, "wbt_lat_usec: 2 ms is better than off");
        assert_in(out, "write_cache: not measured: it is not a setting of this kind of drive\n");
        tune(EXIT_WANTED, "sda", NULL, NULL, NULL);
        ck_assert_ptr_null(strstr(out, "wbt_lat_usec"));
}
END_TEST

/* Then the comment has what decided. */
START_TEST(test_cheaper) {
        file_write("behaviour", ALL_ALIKE
                   "case $(cat class/sda/queue/scheduler) in *'[none]'*) p99=1000 iops=100.1;; *) p99=9000;; esac\n");
        tune(EXIT_WANTED, "sda", "scheduler", NULL, NULL);
        assert_in(out, "scheduler: none is as good as mq-deadline, and costs less: the same, 99 % latency");
        assert_in(without_day(out),
                  "schedulers bfq mq-deadline none: random 4 KiB, 256 at once, none 100 /s (99.7 to 100.5 /s), "
                  "mq-deadline 100 /s (99.6 to 100.4 /s); the same, 99 % latency, none 1.00 us (");
        assert_in(out, " samples\n      scheduler = \"none\";\n");
}
END_TEST

START_TEST(test_present) {
        file_write("behaviour", ALL_ALIKE);
        tune(EXIT_WANTED, "sda", "scheduler", "--write", NULL);
        assert_in(out, " samples show no other value to be better");
        assert_in(out, "All stays as it is.\n");
        assert_in(err, "nothing is better than what the drive has, so nothing is written");
        ck_assert_int_eq(access(TUNED, F_OK), -1);
        assert_back();
}
END_TEST

/* What a change of scheduler resets is held beside it, where it can be set back: drives with few requests have fewer than can be set. */
START_TEST(test_beside) {
        static const char held[] = "Hold:nr_requests=64(64) Hold:scheduler=mq-deadline(mq-deadline) Read ";
        _cleanup_free_ char *calls = NULL, *none = NULL;

        put_value("nr_requests", "64");
        tune(EXIT_WANTED, "sda", "scheduler", NULL, NULL);
        calls = read_calls();
        ck_assert_msg(starts_with(calls, held), "%s", calls);
        put_value("nr_requests", "2");
        tune(EXIT_WANTED, "sda", "scheduler", NULL, NULL);
        none = read_calls();
        ck_assert_ptr_null(strstr(none, "nr_requests"));
        tune(EXIT_WANTED, "sda", "nr_requests", NULL, NULL);
        assert_in(out, "nr_requests: not measured: it is '2', which it could not be set back to\n");
}
END_TEST

/* The drive may have no value but its own. */
START_TEST(test_one_value) {
        put_value("max_hw_sectors_kb", "64");
        put_value("max_sectors_kb", "64");
        tune(EXIT_WANTED, "sda", "max_sectors_kb", NULL, NULL);
        ck_assert_str_eq(out,
                         "max_sectors_kb: not measured: there is no other value to be had\n\nAll stays as it is.\n");
        ck_assert_int_eq(access("calls", F_OK), -1);
}
END_TEST

START_TEST(test_left_out) {
        not_had = "bfq";
        tune(EXIT_WANTED, "sda", "scheduler", NULL, NULL);
        assert_in(out, "values that cannot be had: bfq: refused, the kernel says no");
        assert_in(out, "samples show no other value to be better");
        ck_assert_ptr_null(strstr(out, "bfq best"));
        assert_back();
}
END_TEST

START_TEST(test_left_out_all) {
        not_had = "128 KiB";
        tune(EXIT_WANTED, "sda", "max_sectors_kb", NULL, NULL);
        assert_in(out, "max_sectors_kb: leave it as it is (256 KiB): no other value can be had");
        assert_in(out, "values that cannot be had: 128 KiB: refused, the kernel says no");
        assert_back();
}
END_TEST

START_TEST(test_present_refused) {
        not_had = "mq-deadline";
        tune(EXIT_BAD_INPUT, "sda", "scheduler", NULL, NULL);
        assert_in(err, "scheduler of sda is not measured: mq-deadline: refused, the kernel says no");
        ck_assert_str_eq(out, "");
        assert_back();
}
END_TEST

/* ---- what is refused ---- */

static const struct {
        const char *words[4];
        uid_t user;
        bool no_service, no_fio;
        int status;
        const char *err; /* a part of it */
} refused[] = {
        { { NULL }, .status = EXIT_BAD_INPUT, .err = "say which drive: 'drivekeep tune DRIVE [SETTING...]'" },
        { { "sdx" }, .status = EXIT_BAD_INPUT, .err = "'sdx' is no drive that drivekeep knows" },
        { { "sr0" }, .status = EXIT_BAD_INPUT, .err = "sr0 is not measured: it reads discs" },
        { { "sda", "schedulr" }, .status = EXIT_BAD_INPUT, .err = "did you mean 'scheduler'?" },
        { { "sda", "timeout" },
          .status = EXIT_BAD_INPUT,
          .err = "there is nothing to measure of timeout: no value of it makes reads faster or slower" },
        { { "sda", "spindown_time" }, .status = EXIT_BAD_INPUT, .err = "spindown_time: it cannot be read" },
        { { "sda", "standby" }, .status = EXIT_BAD_INPUT, .err = "standby: it is done once" },
        { { "sda", "epc" }, .status = EXIT_BAD_INPUT, .err = "epc: the drive keeps it without power" },
        { { "sda", "max_sectors" }, .status = EXIT_BAD_INPUT, .err = "max_sectors: drivekeep never sets it" },
        { { "sda", "scheduler", "timeout" },
          .status = EXIT_BAD_INPUT,
          .err = "there is nothing to measure of timeout" },
        { { "sda", "wbt_lat_usec" },
          .status = EXIT_BAD_INPUT,
          .err = "wbt_lat_usec is measured by writing to a file: --file=DIR says where" },
        { { "sda", "scheduler", "--file=here" },
          .status = EXIT_BAD_INPUT,
          .err = "--file is for what is measured by writing, and none of these settings is" },
        { { "sda", "--budget=9s" }, .status = EXIT_BAD_INPUT, .err = "'9s' is no time to measure for" },
        { { "sda", "--budget=13h" }, .status = EXIT_BAD_INPUT, .err = "write --budget=10min, or another one" },
        { { "sda" }, .user = 1000, .status = EXIT_BAD_INPUT, .err = "only root may measure drives" },
        { { "sda" }, .no_fio = true, .status = EXIT_BAD_INPUT, .err = "drivekeep tune needs fio" },
        { { "sda", "scheduler" },
          .no_service = true,
          .status = EXIT_NO_SERVICE,
          .err = "drivekeep.service does not run" },
};

START_TEST(test_refused) {
        const char *const *w = refused[_i].words;
        _cleanup_free_ char *log = NULL;

        user = refused[_i].user;
        if (refused[_i].no_service)
                closep(&lock);
        if (refused[_i].no_fio)
                ck_assert_int_eq(setenv("PATH", "/none", 1), 0);
        tune((ExitStatus) refused[_i].status, w[0], w[1], w[2], w[3]);
        assert_in(err, refused[_i].err);
        ck_assert_str_eq(out, "");
        ck_assert_int_eq(access("calls", F_OK), -1);
        log = read_log();
        ck_assert_ptr_null(strstr(log, "--name="));
        /* Nobody is to close it again. */
        if (refused[_i].no_service)
                lock = -EBADF;
}
END_TEST

/* ---- what comes between ---- */

START_TEST(test_hold_refused) {
        refusal = "another one measures it";
        tune(EXIT_BAD_INPUT, "sda", "scheduler", NULL, NULL);
        assert_in(err, "drivekeep.service cannot do that: another one measures it\n");
        ck_assert_str_eq(out, "");
}
END_TEST

START_TEST(test_service_gone) {
        dies_at = 4;
        tune(EXIT_NO_SERVICE, "sda", "scheduler", NULL, NULL);
        assert_in(err, "drivekeep.service has not answered");
        /* It sets the drive back when it is there again. */
        assert_in(err,
                  "scheduler of sda is bfq, and was mq-deadline: drivekeep.service sets it back as soon as it can");
        /* What there is by then is shown. */
        assert_in(out, "scheduler: leave it as it is (mq-deadline): there are too few samples to tell");
}
END_TEST

/* What it has set, and has not answered for. */
START_TEST(test_service_gone_early) {
        dies_after = true;
        tune(EXIT_NO_SERVICE, "sda", "max_sectors_kb", NULL, NULL);
        assert_in(err, "max_sectors_kb of sda is 128 KiB, and was 256 KiB: drivekeep.service sets it back");
        ck_assert_str_eq(out, "");
}
END_TEST

/* The user wants an end: what there is by then is shown. */
START_TEST(test_stopped) {
        file_write("behaviour", SPEEDS "[ $(wc -l <log) -ne 6 ] || kill -INT $PPID\n");
        tune(EXIT_WANTED, "sda", "scheduler", "max_sectors_kb", NULL);
        assert_in(out, "scheduler: leave it as it is (mq-deadline): there are too few samples to tell");
        assert_in(out, "max_sectors_kb: not measured: it ended before");
        assert_in(out, "All stays as it is.\n");
        assert_back();
}
END_TEST

START_TEST(test_gate) {
        may_read = 6;
        tune(EXIT_BAD_INPUT, "sda", "scheduler", NULL, NULL);
        assert_in(err, "sda cannot be measured any longer: it is visited");
        assert_back();
}
END_TEST

/* What the files want is had again, and not what somebody had set by hand. */
START_TEST(test_files_want) {
        static const char *const written[] = { "64 KiB\nSETTING_0_VERDICT=applied",
                                               "default\nSETTING_0_VERDICT=applied",
                                               "65 KiB\nSETTING_0_VERDICT=adjusted" };

        of_file = written[_i];
        files_want = "64 KiB";
        tune(EXIT_WANTED, "sda", "max_sectors_kb", NULL, NULL);
        ck_assert_str_eq(err, "");
        assert_in(out, "max_sectors_kb: 128 KiB is better than 256 KiB");
}
END_TEST

START_TEST(test_files_deferred) {
        files_want = "64 KiB";
        of_file = "64 KiB\nSETTING_0_VERDICT=deferred";
        tune(EXIT_NOT_WANTED, "sda", "max_sectors_kb", NULL, NULL);
        assert_in(err,
                  "max_sectors_kb of sda is 64 KiB, and was 256 KiB: drivekeep.service sets it back as soon as it can");
}
END_TEST

START_TEST(test_unreadable) {
        of_file = files_want = "?";
        tune(EXIT_NOT_WANTED, "sda", "max_sectors_kb", NULL, NULL);
        assert_in(err, "max_sectors_kb of sda cannot be read now (");
        assert_in(err, "), and was 256 KiB: drivekeep.service sets it back as soon as it can");
}
END_TEST

/* Another drive has its name: that one is not measured, nor set to anything. */
START_TEST(test_gone) {
        _cleanup_free_ char *calls = NULL;

        drives[0].diskseq = 5;
        file_write("class/sda/diskseq", "5\n");
        file_write("behaviour", "[ $(wc -l <log) -lt 7 ] || echo 6 >class/sda/diskseq\n");
        tune(EXIT_BAD_INPUT, "sda", "max_sectors_kb", "scheduler", "--write");
        assert_in(err, "sda cannot be measured any longer: it is gone\n");
        assert_in(err, "sda is gone, and its max_sectors_kb could not be set back: it was 256 KiB\n");
        ck_assert_ptr_null(strstr(err, "sets it back"));
        calls = read_calls();
        ck_assert_ptr_null(strstr(calls, "LetGo"));
        ck_assert_ptr_null(strstr(calls, "scheduler"));
        ck_assert_uint_eq(count_runs(" --name=start "), 6);
}
END_TEST

/* By the visit that sets the one other value. */
START_TEST(test_gone_with_it) {
        drives[0].diskseq = 5;
        file_write("class/sda/diskseq", "5\n");
        file_write("class/sda/queue/scheduler", "none [mq-deadline]\n");
        gone_with = "none";
        tune(EXIT_BAD_INPUT, "sda", "scheduler", NULL, NULL);
        assert_in(err, "sda is gone, and its scheduler could not be set back: it was mq-deadline\n");
}
END_TEST

/* Before anything was set. */
START_TEST(test_gone_early) {
        drives[0].diskseq = 5;
        file_write("class/sda/diskseq", "6\n");
        tune(EXIT_BAD_INPUT, "sda", "scheduler", NULL, NULL);
        assert_in(err, "sda cannot be measured any longer: it is gone\n");
        ck_assert_ptr_null(strstr(err, "set back"));
        ck_assert_int_eq(access("calls", F_OK), -1);
}
END_TEST

/* Then nothing is written, either. */
START_TEST(test_not_again) {
        not_again = "mq-deadline";
        tune(EXIT_NOT_WANTED, "sda", "max_sectors_kb", "--write", NULL);
        assert_in(err,
                  "max_sectors_kb of sda is 128 KiB, and was 256 KiB: drivekeep.service sets it back as soon as it can");
        assert_in(out, "max_sectors_kb: 128 KiB is better than 256 KiB");
        ck_assert_int_eq(access(TUNED, F_OK), -1);
}
END_TEST

START_TEST(test_others) {
        file_write("behaviour", SPEEDS "extra=4096\n");
        tune(EXIT_BAD_INPUT, "sda", "scheduler", NULL, NULL);
        assert_in(err,
                  "scheduler of sda is not measured: sda is used by others too much; --force has it measured all the same");
        assert_back();
        tune(EXIT_WANTED, "sda", "scheduler", "--force", "--budget=20s");
        assert_in(out, "scheduler: leave it as it is (mq-deadline): there are too few samples to tell");
        assert_in(out, "samples that are left out: ");
        assert_back();
}
END_TEST

/* ---- what is written ---- */

START_TEST(test_write) {
        _cleanup_free_ char *calls = NULL;

        tune(EXIT_WANTED, "sda", "scheduler", "--write", NULL);
        ck_assert_str_eq(err, "");
        assert_in(out, "Written to ");
        assert_in(out, TUNED ".\n");
        assert_file(TUNED, BEGIN HEAD SCHEDULER END ");\n");
        calls = read_calls();
        ck_assert_msg(ends_with(calls, "LetGo Read Reload "), "%s", calls);

        /* What was measured of another setting stays, with where that is from; and what is measured again is there once. */
        tune(EXIT_WANTED, "sda", "max_sectors_kb", "--write", "--json");
        ck_assert_ptr_null(strstr(out, "Written"));
        assert_file(TUNED, BEGIN HEAD SCHEDULER SECTORS END ");\n");
        tune(EXIT_WANTED, "sda", "scheduler", "--write", NULL);
        assert_file(TUNED, BEGIN HEAD SECTORS SCHEDULER END ");\n");
}
END_TEST

/* clang-format off */
#define OTHER_1 \
        "    { match = { wwn = \"0x5000\"; };\n" \
        "      // measured 0000-00-00, firmware A: what was\n      read_ahead_kb = \"1 MiB\"; // said\n      apm   = 254;\n    },\n"
#define OTHER_2 "    { match = \"/dev/disk/by-id/x\";\n    },\n"
/* clang-format on */

START_TEST(test_others_kept) {
        file_make(TUNED, BEGIN OTHER_1 HEAD "      wake = true;\n" SCHEDULER END OTHER_2 ");\n");
        tune(EXIT_WANTED, "sda", "max_sectors_kb", "--write", NULL);
        assert_file(TUNED, BEGIN OTHER_1 OTHER_2 HEAD "      wake = true;\n" SCHEDULER SECTORS END ");\n");
}
END_TEST

/* What stands in the file and is best still is measured with the drive as it is now. */
START_TEST(test_confirmed) {
        /* clang-format off */
        static const char old[] = BEGIN HEAD
                "      // measured 2025-01-01, firmware F0: what was\n      max_sectors_kb = \"128 KiB\";\n"
                "      // measured 2025-01-01, firmware F0, schedulers none: what was\n      scheduler = \"mq-deadline\";\n" END ");\n";
        /* clang-format on */

        file_write("behaviour", ALL_ALIKE);
        file_make(TUNED, old);
        tune(EXIT_WANTED, "sda", "max_sectors_kb", "--write", NULL);
        assert_in(err, "nothing is better than what the drive has, so nothing is written");
        tune(EXIT_WANTED, "sda", "scheduler", "--write", "--budget=10s");
        assert_in(out, "there are too few samples to tell");
        assert_in(err, "nothing is better than what the drive has, so nothing is written");

        tune(EXIT_WANTED, "sda", "scheduler", "--write", NULL);
        ck_assert_str_eq(err, "");
        assert_in(out, "Written to ");
        assert_file(TUNED, BEGIN HEAD
                    "      // measured 0000-00-00, firmware F0: what was\n      max_sectors_kb = \"128 KiB\";\n"
                    "      // measured 0000-00-00, firmware F1, schedulers bfq mq-deadline none: random 4 KiB, 256 at once, "
                    "mq-deadline 100 /s (99.6 to 100.4 /s); 24 samples\n"
                    "      scheduler = \"mq-deadline\";\n" END ");\n");
}
END_TEST

static const struct {
        const char *path, *text, *err;
} not_written[] = {
        { TUNED, "// mine\ndrives = (\n);\n", TUNED " is not of 'drivekeep tune' alone, so it is left as it is" },
        { TUNED, "// Written by drivekeep tune --write.\ndrives = (\n  { match = \"/dev/sdx\"; apm = 1; }\n);\n",
          TUNED " was changed by hand, so it is left as it is" },
        { TUNED, BEGIN "    // mine\n" HEAD SCHEDULER END ");\n", TUNED " was changed by hand" },
        { TUNED, BEGIN HEAD SCHEDULER END ");\non_drift = \"restore\";\n", TUNED " was changed by hand" },
        { TUNED, BEGIN HEAD SCHEDULER END HEAD SCHEDULER END ");\n", TUNED " was changed by hand" },
        { "etc/drivekeep/drivekeep.conf.d/90-x.conf", "drives = ( { match = {}; scheduler = \"none\"; } );\n",
          "/90-x.conf:1, which is read later; change it there" },
        { "etc/drivekeep/drivekeep.conf", "drives = (", "drivekeep.conf:1" },
};

START_TEST(test_not_written) {
        file_make(not_written[_i].path, not_written[_i].text);
        tune(EXIT_BAD_INPUT, "sda", "scheduler", "--write", NULL);
        assert_in(err, not_written[_i].err);
        assert_file(not_written[_i].path, not_written[_i].text);
        /* What can be told before is not told ten minutes later. */
        if (streq(not_written[_i].path, TUNED)) {
                ck_assert_str_eq(out, "");
                ck_assert_int_eq(access("calls", F_OK), -1);
                return;
        }
        assert_in(out, "scheduler: bfq is better than mq-deadline");
        ck_assert_int_eq(access(TUNED, F_OK), -1);
        assert_back();
}
END_TEST

/* What an earlier file says is no matter. */
START_TEST(test_earlier_file) {
        file_make("etc/drivekeep/drivekeep.conf.d/10-x.conf", "drives = ( { match = {}; scheduler = \"none\"; } );\n");
        tune(EXIT_WANTED, "sda", "scheduler", "--write", NULL);
        assert_file(TUNED, BEGIN HEAD SCHEDULER END ");\n");
}
END_TEST

/* ---- what it depends on ---- */

static unsigned count_warnings(const char *part) {
        _cleanup_(config_freep) Config *c = NULL;
        unsigned n = 0;

        ck_assert_int_ge(config_new(&c), 0);
        ck_assert_int_ge(config_load(c, &all_settings, (const char *const[]){ "etc", NULL }), 0);
        evidence_check(c, &(Inventory){ .drives = found, .n_drives = ELEMENTSOF(found) });
        for (size_t i = 0; i < c->complaints.n_items; i++)
                n += strstr(c->complaints.items[i].sentence, part) != NULL;
        ck_assert_uint_eq(c->complaints.n_items, n);
        return n;
}

START_TEST(test_evidence) {
        file_make(TUNED, BEGIN HEAD SCHEDULER SECTORS END ");\n");
        file_make("etc/drivekeep/drivekeep.conf.d/10-x.conf", "drives = ( { match = {}; scheduler = \"none\"; } );\n");
        ck_assert_uint_eq(count_warnings(""), 0);
        /* Another one is in force, and older kernels change the order then. */
        file_write("class/sda/queue/scheduler", "[none] mq-deadline bfq \n");
        ck_assert_uint_eq(count_warnings(""), 0);
        file_write("class/sda/queue/scheduler", "[mq-deadline] bfq none\n");
        ck_assert_uint_eq(count_warnings(""), 0);
        file_write("class/sda/queue/scheduler", "[mq-deadline] none\n");
        ck_assert_uint_eq(
                        count_warnings("scheduler was measured with firmware F1, schedulers bfq mq-deadline none, and sda "
                                       "has firmware F1, schedulers mq-deadline none; 'drivekeep tune sda scheduler'"),
                        1);
        drives[0].firmware = (char *) "F2";
        ck_assert_uint_eq(count_warnings("and sda has firmware F2"), 2);
        drives[0].firmware = (char *) "F1";
}
END_TEST

START_TEST(test_svg_fails) {
        tune(EXIT_BAD_INPUT, "sda", "scheduler", "--svg=none/x.svg", "--write");
        assert_in(err, "none/x.svg");
        assert_in(out, "Written to ");
}
END_TEST

/* Each value with its interval, the present one and the best one by name. */
START_TEST(test_svg) {
        tune(EXIT_WANTED, "sda", "scheduler", "--svg=-", NULL);
        assert_in(out, "<svg xmlns=");
        assert_in(out, ">scheduler: random 4 KiB, 256 at once</text>");
        assert_in(out, ">bfq</text>");
        assert_in(out, ">best</text>");
        assert_in(out, ">now</text>");
        assert_in(out, "</svg>\n");
}
END_TEST

int main(void) {
        TCase *c = tcase_create("cli-tune");

        tcase_add_checked_fixture(c, setup, teardown);
        tcase_add_test(c, test_pick);
        tcase_add_test(c, test_json);
        tcase_add_test(c, test_all);
        tcase_add_test(c, test_shares);
        tcase_add_test(c, test_file);
        tcase_add_test(c, test_cheaper);
        tcase_add_test(c, test_present);
        tcase_add_test(c, test_beside);
        tcase_add_test(c, test_one_value);
        tcase_add_test(c, test_left_out);
        tcase_add_test(c, test_left_out_all);
        tcase_add_test(c, test_present_refused);
        tcase_add_loop_test(c, test_refused, 0, ELEMENTSOF(refused));
        tcase_add_test(c, test_hold_refused);
        tcase_add_test(c, test_service_gone);
        tcase_add_test(c, test_service_gone_early);
        tcase_add_test(c, test_stopped);
        tcase_add_test(c, test_gate);
        tcase_add_loop_test(c, test_files_want, 0, 3);
        tcase_add_test(c, test_files_deferred);
        tcase_add_test(c, test_unreadable);
        tcase_add_test(c, test_gone);
        tcase_add_test(c, test_gone_with_it);
        tcase_add_test(c, test_gone_early);
        tcase_add_test(c, test_not_again);
        tcase_add_test(c, test_others);
        tcase_add_test(c, test_write);
        tcase_add_test(c, test_others_kept);
        tcase_add_test(c, test_confirmed);
        tcase_add_loop_test(c, test_not_written, 0, ELEMENTSOF(not_written));
        tcase_add_test(c, test_earlier_file);
        tcase_add_test(c, test_evidence);
        tcase_add_test(c, test_svg_fails);
        tcase_add_test(c, test_svg);
        return test_main("cli-tune", c);
}
