/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the identity of a process, and the swap space on a drive, from files that the test supplies. */

#include <systemd/sd-login.h>

#include "test-cli.h"
#include "watch-read.h"

/* ---- systemd ---- */

static const char *unit, *user_unit; /* units that the functions below report; NULL: none */

int sd_pid_get_unit(pid_t pid, char **ret) {
        ck_assert_int_eq(pid, getpid());
        *ret = unit ? strdup(unit) : NULL;
        return unit ? 0 : -ENODATA;
}
int sd_pid_get_user_unit(pid_t pid, char **ret) {
        ck_assert_int_eq(pid, getpid());
        *ret = user_unit ? strdup(user_unit) : NULL;
        return user_unit ? 0 : -ENODATA;
}

/* ---- files ---- */

static void make_bytes(const char *path, const char *bytes, size_t n) {
        FILE *f;

        make_parents(path);
        f = fopen(path, "we");
        ck_assert_ptr_nonnull(f);
        ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
        ck_assert_int_eq(fclose(f), 0);
}

static void make(const char *path, const char *text) {
        make_bytes(path, text, strlen(text));
}

/* ---- processes ---- */

#define STATUS(name, tgid) "Name:\t" name "\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t" tgid "\nNgid:\t0\nPid:\t7\n"
#define STAT(name, flags) "812 (" name ") S 1 812 812 34816 -1 " flags " 137 0 0 0 0 0 0 0 20 0 1 0 5\n"
#define USER "4194560"
#define KERNEL "2129984"

static const struct {
        const char *status, *stat,
                        *comm; /* text of thread 7's status, and of process 812's stat and comm; NULL: no such file */
        const char *cmdline;
        size_t cmdline_len;
        int r;
        bool kernel;
        const char *name, *words;
} processes[] = {
#define WORDS(s) s, sizeof(s) - 1
        { STATUS("smartd", "812"), STAT("smartd", USER), "smartd\n", WORDS("/usr/sbin/smartd\0-n\0"), 0, false,
          "smartd", "/usr/sbin/smartd -n" },
        { STATUS("x", "812"), STAT("smartd", USER), "smartd\n", WORDS("smartd"), 0, false, "smartd", "smartd" },
        /* The name of a kernel thread may include its current work, and is truncated. The command line of a kernel
         * thread is ignored. */
        { STATUS("kworker/u8:2-flush-8:0", "812"), STAT("kworker/u8:2-flush-8:0", KERNEL), "kworker/u8:2-flush-8:0\n",
          WORDS("x\0"), 0, true, "kworker/u8:2-fl", "" },
        { STATUS("kswapd0", "812"), STAT("kswapd0", "69238880"), "kswapd0\n", WORDS(""), 0, true, "kswapd0", "" },
        /* A process may choose a name that looks like other fields of the files. */
        { STATUS("a) R 1 (b", "812"), STAT("a) R 1 (b", USER), "a) R 1 (b\n", WORDS("a\0"), 0, false, "a) R 1 (b",
          "a" },
        { STATUS("0 0 0 " KERNEL ")", "812"), STAT("0 0 0 " KERNEL ")", USER), "0 0 0 " KERNEL ")\n", WORDS("a\0"), 0,
          false, "0 0 0 " KERNEL ")", "a" },
        { STATUS("a\\nTgid:\\t9", "812"), STAT("a\\nTgid:\\t9", USER), "a\nTgid:\t9\n", WORDS("a\0"), 0, false, "a",
          "a" },
        { STATUS("Tgid:", "812"), STAT("Tgid:", USER), "Tgid:\n", WORDS("a\0"), 0, false, "Tgid:", "a" },
        { STATUS("", "812"), STAT("", USER), "\n", WORDS("a\0"), 0, false, "", "a" },
        /* A process may choose any command line, for example with empty words, without words, or with NULs at the
         * end. */
        { STATUS("x", "812"), STAT("x", USER), "x\n", WORDS("a\0\0b c\0\0\0"), 0, false, "x", "a  b c" },
        { STATUS("x", "812"), STAT("x", USER), "x\n", WORDS("a\nb\0"), 0, false, "x", "a\nb" },
        { STATUS("x", "812"), STAT("x", USER), "x\n", WORDS("\0\0\0"), 0, false, "x", "" },
        { STATUS("x", "812"), STAT("x", USER), "x\n", NULL, 0, 0, false, "x", "" },
        /* The lookup of a process that has ended, or that ends during the read, returns -ESRCH. */
        { NULL, STAT("x", USER), "x\n", WORDS("x"), -ESRCH },
        { "", STAT("x", USER), "x\n", WORDS("x"), -ESRCH },
        { "Name:\tx\nPid:\t7\n", STAT("x", USER), "x\n", WORDS("x"), -ESRCH },
        { STATUS("x", "0"), STAT("x", USER), "x\n", WORDS("x"), -ESRCH },
        { STATUS("x", "813"), STAT("x", USER), "x\n", WORDS("x"), -ESRCH },
        { STATUS("x", "812"), NULL, "x\n", WORDS("x"), -ESRCH },
        { STATUS("x", "812"), "", "x\n", WORDS("x"), -ESRCH },
        { STATUS("x", "812"), "812 (x) S 1 812", "x\n", WORDS("x"), -ESRCH },
        { STATUS("x", "812"), STAT("x", USER), NULL, WORDS("x"), -ESRCH },
        { STATUS("x", "812"), STAT("x", KERNEL), NULL, WORDS("x"), -ESRCH },
#undef WORDS
};

START_TEST(test_process) {
        WakeProcess p = { .pid = 5, .comm = "before" };
        bool kernel = !processes[_i].kernel;

        if (processes[_i].status)
                make("7/status", processes[_i].status);
        if (processes[_i].stat)
                make("812/stat", processes[_i].stat);
        if (processes[_i].comm)
                make("812/comm", processes[_i].comm);
        if (processes[_i].cmdline)
                make_bytes("812/cmdline", processes[_i].cmdline, processes[_i].cmdline_len);

        ck_assert_int_eq(process_lookup_at(scratch, 7, &p, &kernel), processes[_i].r);
        if (processes[_i].r < 0) {
                ck_assert_int_eq(p.pid, 5);
                ck_assert_str_eq(p.comm, "before");
                return;
        }
        ck_assert(kernel == processes[_i].kernel);
        ck_assert_int_eq(p.pid, 812);
        ck_assert_str_eq(p.comm, processes[_i].name);
        ck_assert_str_eq(p.command_line, processes[_i].words);
        ck_assert_str_eq(p.unit, "");
}
END_TEST

/* A command line that is too long is truncated. A NUL shortly before the limit is kept as a space only if text follows within the limit. */
START_TEST(test_long) {
        char bytes[3 * WAKE_COMMAND_LINE_MAX];
        size_t n = WAKE_COMMAND_LINE_MAX - 3 + (size_t) _i;
        WakeProcess p;
        bool kernel;

        (void) memset(bytes, 'x', sizeof bytes);
        bytes[n] = '\0';
        make("7/status", STATUS("x", "812"));
        make("812/stat", STAT("x", USER));
        make("812/comm", "x\n");
        make_bytes("812/cmdline", bytes, sizeof bytes);
        ck_assert_int_eq(process_lookup_at(scratch, 7, &p, &kernel), 0);
        bytes[n] = n + 2 < WAKE_COMMAND_LINE_MAX ? ' ' : n + 1 < WAKE_COMMAND_LINE_MAX ? '\0' : 'x';
        bytes[WAKE_COMMAND_LINE_MAX - 1] = '\0';
        ck_assert_str_eq(p.command_line, bytes);
}
END_TEST

static char long_unit[WAKE_UNIT_MAX + 50];

static const struct {
        const char *unit, *user_unit, *expected;
} units[] = {
        { NULL, NULL, "" },
        { NULL, "app.service", "" },
        { "smartd.service", NULL, "smartd.service" },
        { "smartd.service", "app.service", "smartd.service" },
        { "user@1000.service", "app.service", "app.service" },
        { "user@1000.service", NULL, "user@1000.service" },
        { long_unit, NULL, long_unit },
        { "user@1000.service", long_unit, long_unit },
};

/* The unit of a process is its user unit if the system unit is user@.service, otherwise the system unit. */
START_TEST(test_unit) {
        char comm[64], expected[WAKE_UNIT_MAX];
        WakeProcess p;
        bool kernel;

        (void) memset(long_unit, 'u', sizeof long_unit - 1);
        (void) snprintf(expected, sizeof expected, "%.*s", (int) sizeof expected - 1, units[_i].expected);
        unit = units[_i].unit;
        user_unit = units[_i].user_unit;
        ck_assert_int_eq(process_lookup(NULL, getpid(), &p, &kernel), 0);
        file_read("/proc/self/comm", comm, sizeof comm);
        comm[strcspn(comm, "\n")] = '\0';
        ck_assert_str_eq(p.comm, comm);
        ck_assert_int_eq(p.pid, getpid());
        ck_assert(!kernel);
        ck_assert(p.command_line[0]);
        ck_assert_str_eq(p.unit, expected);
}
END_TEST

/* A PID above the maximum (proc_sys_kernel(5), pid_max) belongs to no process, so the lookup returns -ESRCH. */
START_TEST(test_no_process) {
        WakeProcess p;
        bool kernel;

        unit = "x.service";
        ck_assert_int_eq(process_lookup(NULL, (1 << 22) + 1, &p, &kernel), -ESRCH);
}
END_TEST

/* ---- swap space ---- */

#define HEAD "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
#define LINE(path, type) path "                               " type "\t1048572\t\t0\t\t-2\n"

/* Creates the disks sda with sda1 and sda2, and sdb with sdb1. Creates dm-0, dm-1, and sdx1, whose disk sdx has no
 * device number. */
static void make_disks(void) {
        static const char *const files[][2] = {
                { "sda/dev", "8:0\n" },          { "sda/size", "100000\n" },
                { "sda/sda1/partition", "1\n" }, { "sda/sda1/dev", "8:1\n" },
                { "sda/sda1/start", "2048\n" },  { "sda/sda1/size", "4096\n" },
                { "sda/sda2/partition", "2\n" }, { "sda/sda2/dev", "8:2\n" },
                { "sda/sda2/start", "6144\n" },  { "sda/sda2/size", "18446744073709551615\n" },
                { "sdb/dev", "8:16\n" },         { "sdb/size", "5000\n" },
                { "sdb/sdb1/partition", "1\n" }, { "sdb/sdb1/dev", "8:17\n" },
                { "dm-0/dev", "253:0\n" },       { "dm-0/size", "700\n" },
                { "dm-1/dev", "253:1\n" },       { "sdx/sdx1/partition", "1\n" },
                { "sdx/sdx1/dev", "8:0\n" },     { "sdy/dev", "nonsense\n" },
        };
        static const char *const partitions[] = { "sda1", "sda2", "sdb1", "sdx1" };

        for (size_t i = 0; i < ELEMENTSOF(files); i++)
                make(files[i][0], files[i][1]);
        for (size_t i = 0; i < ELEMENTSOF(partitions); i++) {
                char target[16];

                (void) snprintf(target, sizeof target, "%.3s/%s", partitions[i], partitions[i]);
                ck_assert_int_eq(symlink(target, partitions[i]), 0);
        }
}

static const struct {
        const char *swaps; /* NULL: the file is missing */
        unsigned minor;    /* minor number of the disk */
        const char *found; /* expected: "START+SIZE" in sectors, or "^I" for swap on watch.above[I] */
} swaps[] = {
        { NULL, 0, "" },
        { "", 0, "" },
        { HEAD, 0, "" },
        { HEAD LINE("/dev/sda1", "partition"), 0, "2048+4096 " },
        { HEAD LINE("/dev/sda1", "partition"), 16, "" },
        { HEAD LINE("/dev/sda1", "file"), 0, "" },
        { HEAD LINE("/dev/sda1", "partition") LINE("/dev/sda2", "partition"), 0,
          "2048+4096 6144+18446744073709551615 " },
        { HEAD LINE("/dev/sdb", "partition"), 16, "0+5000 " },
        { HEAD LINE("/dev/sdb1", "partition"), 16, "0+0 " },
        { HEAD LINE("/dev/dm-0", "partition"), 0, "^1 " },
        { HEAD LINE("/dev/dm-0", "partition") LINE("/dev/dm-1", "partition") LINE("/other/sda1", "partition"), 0,
          "2048+4096 ^1 " },
        /* Swap files, deleted devices, names with escaped blanks, and malformed lines are ignored. The remaining lines
         * count. */
        { HEAD LINE("/swap\\040file", "file") LINE("/dev/sda1\\040(deleted)", "partition")
                          LINE("/dev/zram0", "partition") LINE("/dev/sda2", "partition"),
          0, "6144+18446744073709551615 " },
        { HEAD LINE("/dev/sdx1", "partition") LINE("/dev/sdy", "partition") LINE("/", "partition") "/dev/sda1\n\n", 0,
          "" },
        { HEAD "/dev/sda1 partition", 0, "2048+4096 " },
};

START_TEST(test_swap) {
        Watch w = { .drive = { .disk = { 8, swaps[_i].minor }, .above = { { 9, 0 }, { 253, 0 } }, .n_above = 2 } };
        char found[256] = "";
        size_t n = 0;

        make_disks();
        if (swaps[_i].swaps)
                make("swaps", swaps[_i].swaps);
        process_find_swap("swaps", scratch, &w);
        for (unsigned i = 0; i < w.n_swap; i++)
                n += (size_t) snprintf(found + n, sizeof found - n, "%llu+%llu ", (unsigned long long) w.swap[i].start,
                                       (unsigned long long) w.swap[i].size);
        for (unsigned i = 0; i < WATCH_ABOVE_MAX; i++)
                if (w.swap_above[i])
                        n += (size_t) snprintf(found + n, sizeof found - n, "^%u ", i);
        ck_assert_str_eq(found, swaps[_i].found);
}
END_TEST

/* Swap areas beyond WATCH_SWAP_MAX per drive are ignored. */
START_TEST(test_swap_many) {
        Watch w = { .drive = { .disk = { 8, 0 } } };
        char text[2048] = HEAD;

        make_disks();
        for (unsigned i = 0; i < WATCH_SWAP_MAX + 3; i++)
                (void) strcat(text, LINE("/dev/sda1", "partition"));
        make("swaps", text);
        process_find_swap("swaps", scratch, &w);
        ck_assert_uint_eq(w.n_swap, WATCH_SWAP_MAX);
}
END_TEST

/* The machine's own /proc/swaps has no swap space on disk 4095:77, which does not exist. */
START_TEST(test_swap_here) {
        Watch w = { .drive = { .disk = { 4095, 77 } } };

        process_find_swap("/proc/swaps", "/sys/class/block", &w);
        ck_assert_uint_eq(w.n_swap, 0);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("process");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_loop_test(t, test_process, 0, ELEMENTSOF(processes));
        tcase_add_loop_test(t, test_long, 0, 5);
        tcase_add_loop_test(t, test_unit, 0, ELEMENTSOF(units));
        tcase_add_test(t, test_no_process);
        tcase_add_loop_test(t, test_swap, 0, ELEMENTSOF(swaps));
        tcase_add_test(t, test_swap_many);
        tcase_add_test(t, test_swap_here);
        return test_main("process", t);
}
