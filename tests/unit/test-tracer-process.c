/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The tracer process, with a tracefs of regular files. The test plays the manager. */

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tracer-socket.h"
#include "wake-count.h"

/* Directories of the trace events, in the order in which the tracer opens them. */
static const char *const names[] = { "block/block_bio_queue", "scsi/scsi_dispatch_cmd_start",
                                     "writeback/writeback_dirty_folio", "writeback/writeback_mark_inode_dirty",
                                     "rpm/rpm_resume" };
#define RESUME 4
#define OLD_DIRTY "writeback/writeback_dirty_page"

static int manager = -EBADF, trace = -EBADF;
static pid_t tracer_pid;

static const char *event_file(const char *name, const char *file) {
        static char text[128];

        (void) snprintf(text, sizeof text, "instance/events/%s/%s", name, file);
        return text;
}

static void make_event(const char *name) {
        make_parents(event_file(name, "x"));
        file_write(event_file(name, "filter"), "");
        file_write(event_file(name, "enable"), "");
}

static void process_setup(void) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        scratch_make();
        listen_there();
        (void) snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", scratch);
        manager = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        ck_assert_int_eq(connect(manager, (const struct sockaddr *) &address, sizeof address), 0);

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                make_event(names[i]);
        file_write("instance/buffer_size_kb", "");
        ck_assert_int_eq(mkfifo("instance/trace_pipe", 0600), 0);
        /* Keeps the other end of the pipe open, as the kernel does for trace_pipe. */
        trace = open("instance/trace_pipe", O_RDWR | O_CLOEXEC);
        ck_assert_int_ge(trace, 0);
}

static void process_teardown(void) {
        closep(&manager);
        closep(&listener);
        closep(&trace);
        manager = listener = trace = -EBADF;
        scratch_remove();
}

static void begin_at(const char *instance) {
        tracer_pid = fork();
        ck_assert_int_ge(tracer_pid, 0);
        if (tracer_pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                (void) close(manager);
                _exit(-tracer_run(listener, instance));
        }
}

static void begin(void) {
        begin_at("instance");
}

/* Expects that the process exits by itself with this error. */
static void assert_ends(int error) {
        int status;

        ck_assert_int_eq(waitpid(tracer_pid, &status, 0), tracer_pid);
        ck_assert(WIFEXITED(status));
        ck_assert_msg(WEXITSTATUS(status) == error, "%s", strerror(WEXITSTATUS(status)));
}

static void finish(void) {
        closep(&manager);
        manager = -EBADF;
        assert_ends(0);
}

static void send_request(bool watch, const WatchDrive *d) {
        const TracerRequest q = { .watch = watch, .drive = *d };

        ck_assert_int_eq(wire_send(manager, tracer_request_fields, &q, 0), 0);
}

static TracerAnswer receive_answer(void) {
        TracerAnswer a = {};

        ck_assert_int_eq(wire_receive(manager, tracer_answer_fields, &a, 0), 1);
        return a;
}

/* Expects that the next message confirms the watch. */
static void expect_watched(WatchDevice d) {
        TracerAnswer a = receive_answer();

        ck_assert(!a.woken);
        ck_assert(a.disk.major == d.major && a.disk.minor == d.minor);
}

static void request_watch(const WatchDrive *d) {
        send_request(true, d);
        expect_watched(d->disk);
}

/* Empties the files, so that later writes are visible. */
static void clear_files(void) {
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                file_write(event_file(names[i], "filter"), "");
                file_write(event_file(names[i], "enable"), "");
        }
        file_write("instance/buffer_size_kb", "");
}

static void assert_file(const char *file, const char *expected) {
        char text[8192];

        file_read(file, text, sizeof text);
        ck_assert_msg(streq(text, expected), "%s: \"%.200s\" ... is not \"%.200s\" ..., or what follows", file, text,
                      expected);
}

/* ---- filters ---- */

#define SDA \
        { .disk = { 8, 0 }, .host = 2, .channel = 0, .id = 1, .lun = 3 }
#define SDB \
        { .disk = { 8, 16 }, .host = 10, .channel = 1, .id = 7, .lun = 0 }

static const struct {
        WatchDrive drives[3];
        int unwatch; /* index of the drive whose watch ends after all drives are watched; -1: none */
        const char *bio, *command, *dirty;
} filters[] = {
        { { SDA }, -1, "dev==8388608", "(host_no==2&&channel==0&&id==1&&lun==3)", "name==\"8:0\"" },
        { { { .disk = { 4095, 1048575 },
              .host = 4294967295,
              .channel = 4294967295,
              .id = 4294967295,
              .lun = UINT64_MAX } },
          -1,
          "dev==4294967295",
          "(host_no==4294967295&&channel==4294967295&&id==4294967295&&lun==18446744073709551615)",
          "name==\"4095:1048575\"" },
        { { { .disk = { 8, 0 }, .host = 2, .id = 1, .above = { { 9, 127 }, { 253, 2 } }, .n_above = 2 } },
          -1,
          "dev==8388608||dev==9437311||dev==265289730",
          "(host_no==2&&channel==0&&id==1&&lun==0)",
          "name==\"8:0\"||name==\"9:127\"||name==\"253:2\"" },
        { { { .disk = { 8, 0 }, .host = 2, .id = 1, .above = { { WATCH_BTRFS, 13 }, { 9, 127 } }, .n_above = 2 } },
          -1,
          "dev==8388608||dev==9437311",
          "(host_no==2&&channel==0&&id==1&&lun==0)",
          "name==\"8:0\"||name==\"btrfs-13\"||name==\"9:127\"" },
        { { SDA, SDB },
          -1,
          "dev==8388608||dev==8388624",
          "(host_no==2&&channel==0&&id==1&&lun==3)||(host_no==10&&channel==1&&id==7&&lun==0)",
          "name==\"8:0\"||name==\"8:16\"" },
        /* The filter lists all drives first. The devices stored on the drives come last, because the space may end
         * before the last device. */
        { { { .disk = { 8, 0 }, .host = 2, .above = { { 253, 0 } }, .n_above = 1 },
            { .disk = { 8, 16 }, .host = 3, .above = { { 253, 1 }, { 253, 0 } }, .n_above = 2 } },
          -1,
          "dev==8388608||dev==8388624||dev==265289728||dev==265289729||dev==265289728",
          "(host_no==2&&channel==0&&id==0&&lun==0)||(host_no==3&&channel==0&&id==0&&lun==0)",
          "name==\"8:0\"||name==\"8:16\"||name==\"253:0\"||name==\"253:1\"||name==\"253:0\"" },
        /* The address and devices of a watched drive have changed: the second request replaces the first request. */
        { { { .disk = { 8, 0 }, .host = 2, .above = { { 253, 0 } }, .n_above = 1 },
            { .disk = { 8, 0 }, .host = 3, .above = { { 9, 0 } }, .n_above = 1 } },
          -1,
          "dev==8388608||dev==9437184",
          "(host_no==3&&channel==0&&id==0&&lun==0)",
          "name==\"8:0\"||name==\"9:0\"" },
        { { SDA, SDB }, 0, "dev==8388624", "(host_no==10&&channel==1&&id==7&&lun==0)", "name==\"8:16\"" },
        { { SDA, SDB }, 1, "dev==8388608", "(host_no==2&&channel==0&&id==1&&lun==3)", "name==\"8:0\"" },
        { { SDA, SDB, { .disk = { 65, 0 } } },
          0,
          "dev==68157440||dev==8388624",
          "(host_no==0&&channel==0&&id==0&&lun==0)||(host_no==10&&channel==1&&id==7&&lun==0)",
          "name==\"65:0\"||name==\"8:16\"" },
};

START_TEST(test_filters) {
        const WatchDrive *drives = filters[_i].drives;

        begin();
        for (size_t i = 0; i < ELEMENTSOF(filters[_i].drives) && drives[i].disk.major > 0; i++) {
                clear_files();
                request_watch(drives + i);
                /* the first request sets the buffer size, later requests do not */
                assert_file("instance/buffer_size_kb", i == 0 ? "16" : "");
        }
        if (filters[_i].unwatch >= 0) {
                clear_files();
                send_request(false, drives + filters[_i].unwatch);
        }
        finish();

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                if (i != RESUME)
                        assert_file(event_file(names[i], "filter"), i == 0   ? filters[_i].bio
                                                                    : i == 1 ? filters[_i].command
                                                                             : filters[_i].dirty);
                assert_file(event_file(names[i], "enable"), "1");
        }
}
END_TEST

/* The filter of rpm_resume consists of the names of the watched SCSI devices. */
START_TEST(test_filter_resume) {
        const WatchDrive a = { .disk = { 8, 0 }, .host = 2, .id = 1, .lun = 3, .above = { { 9, 0 } }, .n_above = 1 },
                         b = SDB;

        begin();
        request_watch(&a);
        assert_file(event_file(names[RESUME], "filter"), "name==\"2:0:1:3\"");
        file_write(event_file(names[RESUME], "filter"), "");
        request_watch(&b);
        assert_file(event_file(names[RESUME], "filter"), "name==\"2:0:1:3\"||name==\"10:1:7:0\"");
        finish();
}
END_TEST

/* Events are disabled when no watch is left, whichever watch ends first. A request to end an unknown watch is ignored. */
START_TEST(test_disabled) {
        const WatchDrive a = SDA, b = SDB, c = disk(99);

        begin();
        request_watch(&a);
        request_watch(&b);
        send_request(false, &c);
        send_request(false, _i ? &a : &b);
        request_watch(_i ? &b : &a);
        clear_files();
        send_request(false, _i ? &b : &a);
        finish();
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                assert_file(event_file(names[i], "filter"), "");
                assert_file(event_file(names[i], "enable"), "0");
        }
}
END_TEST

/* Before Linux 5.18, writeback_dirty_folio is named writeback_dirty_page. */
START_TEST(test_old_kernel) {
        const WatchDrive a = SDA;

        make_event(OLD_DIRTY);
        ck_assert_int_eq(unlink(event_file(names[2], "filter")), 0);
        ck_assert_int_eq(unlink(event_file(names[2], "enable")), 0);
        begin();
        request_watch(&a);
        assert_file(event_file(OLD_DIRTY, "filter"), "name==\"8:0\"");
        assert_file(event_file(OLD_DIRTY, "enable"), "1");
        file_write(event_file(OLD_DIRTY, "enable"), "");
        send_request(false, &a);
        finish();
        assert_file(event_file(OLD_DIRTY, "enable"), "0");
        ck_assert_int_lt(access(event_file(names[2], "filter"), F_OK), 0);
}
END_TEST

/* If the kernel has both writeback_dirty_folio and writeback_dirty_page, the tracer uses writeback_dirty_folio. */
START_TEST(test_both_names) {
        const WatchDrive a = SDA;

        make_event(OLD_DIRTY);
        begin();
        request_watch(&a);
        finish();
        assert_file(event_file(OLD_DIRTY, "filter"), "");
        assert_file(event_file(names[2], "filter"), "name==\"8:0\"");
}
END_TEST

#define FILTER_SIZE 4096U

/* Builds the expected filter: as many alternatives as fit into the buffer together with the final NUL. */
static void oracle(char *text, const WatchDrive *drives, unsigned n_drives, bool bio) {
        size_t n = 0;

        for (unsigned i = 0; i < n_drives * (1 + WATCH_ABOVE_MAX); i++) {
                const WatchDrive *w = i < n_drives ? drives + i : drives + (i - n_drives) / WATCH_ABOVE_MAX;
                unsigned k = (i - n_drives) % WATCH_ABOVE_MAX;
                const WatchDevice *d = i < n_drives ? &w->disk : w->above + k;
                char item[64];

                if (i >= n_drives && k >= w->n_above)
                        continue;
                if (bio)
                        (void) snprintf(item, sizeof item, "%sdev==%u", n > 0 ? "||" : "", d->major << 20 | d->minor);
                else
                        (void) snprintf(item, sizeof item, "%sname==\"%u:%u\"", n > 0 ? "||" : "", d->major, d->minor);
                if (n + strlen(item) < FILTER_SIZE) {
                        (void) strcpy(text + n, item);
                        n += strlen(item);
                }
        }
}

/* Too many devices are stored on the drives: the filter has only some of them, and each of these is complete. To fill the
 * filter to different numbers of bytes, _i devices have numbers with eight digits, and the others with seven digits. */
START_TEST(test_much_above) {
        static WatchDrive drives[18];
        char bio[FILTER_SIZE] = "", dirty[FILTER_SIZE] = "";

        for (unsigned i = 0; i < ELEMENTSOF(drives); i++) {
                drives[i] = disk(i);
                for (unsigned k = 0; k < WATCH_ABOVE_MAX; k++)
                        drives[i].above[k] = (WatchDevice){ i * WATCH_ABOVE_MAX + k < (unsigned) _i ? 10 : 9, k };
                drives[i].n_above = WATCH_ABOVE_MAX;
        }
        oracle(bio, drives, ELEMENTSOF(drives), true);
        oracle(dirty, drives, ELEMENTSOF(drives), false);
        ck_assert_uint_ge(strlen(bio), FILTER_SIZE - 16);

        begin();
        for (unsigned i = 0; i < ELEMENTSOF(drives); i++) {
                clear_files();
                request_watch(drives + i);
        }
        finish();
        assert_file(event_file(names[0], "filter"), bio);
        assert_file(event_file(names[2], "filter"), dirty);
}
END_TEST

/* While events arrive faster than the tracer reads them, the tracer still serves requests. The test replaces trace_pipe
 * by a file that takes hours to read. */
START_TEST(test_flood) {
        WatchDrive d = disk(0), other = disk(1);

        ck_assert_int_eq(unlink("instance/trace_pipe"), 0);
        file_write("instance/trace_pipe", "");
        ck_assert_int_eq(truncate("instance/trace_pipe", (off_t) 1 << 40), 0);
        begin();
        request_watch(&d);
        request_watch(&other);
        send_request(false, &d);
        finish();
}
END_TEST

/* If a drive does not fit into the filter, the process exits with ENOSPC. If a device stacked on a drive (dm, md, loop) does
 * not fit, that device is left out of the filter. */
START_TEST(test_no_room) {
        WatchDrive d = { .host = UINT32_MAX, .channel = UINT32_MAX, .id = UINT32_MAX, .lun = UINT64_MAX };
        unsigned n = FILTER_SIZE / strlen("(host_no==4294967295&&channel==4294967295&&id==4294967295&&"
                                          "lun==18446744073709551615)||");

        begin();
        for (unsigned i = 0; i < n; i++) {
                d.disk = (WatchDevice){ 8, i };
                request_watch(&d);
        }
        d.disk = (WatchDevice){ 8, n };
        send_request(true, &d);
        assert_ends(ENOSPC);
}
END_TEST

/* ---- events ---- */

/* The line names thread 4194305, which does not exist (proc_sys_kernel(5), pid_max), so the report has only what the line contains. */
#define HEAD(comm) comm "-4194305 [001] ..... 12.345678: "
#define BIO HEAD("          smartd") "block_bio_queue: 8,0 R 2048 + 8 [smartd]"
#define OTHER_BIO HEAD("             cat") "block_bio_queue: 8,0 R 4096 + 8 [cat]"
#define COMMAND_BEGIN \
        HEAD("          smartd") "scsi_dispatch_cmd_start: host_no=2 channel=0 id=1 lun=3 data_sgl=1 prot_sgl=0 "
#define COMMAND_END \
        "prot_op=SCSI_PROT_NORMAL cmnd=(READ_10 lba=2048 txlen=8 protect=0 raw=28 00 00 00 08 00 00 00 08 00)"
#define COMMAND COMMAND_BEGIN COMMAND_END
#define QUIET COMMAND_BEGIN "cmnd=(TEST_UNIT_READY raw=00 00 00 00 00 00)"

static void happen(const char *text, size_t n) {
        ck_assert_int_eq(write(trace, text, n), (ssize_t) n);
}

static void happen_line(const char *line) {
        happen(line, strlen(line));
        happen("\n", 1);
}

/* Waits until all events are read, and checks that none was reported. */
static void assert_nothing_reported(void) {
        const WatchDrive b = SDB;

        request_watch(&b);
}

static void expect_read(const char *comm, uint64_t sector) {
        TracerAnswer a = receive_answer();

        ck_assert(a.woken && a.disk.major == 8 && a.disk.minor == 0);
        ck_assert_int_eq(a.wake.kind, WAKE_READ);
        ck_assert_str_eq(a.wake.process.comm, comm);
        ck_assert_int_eq(a.wake.process.pid, 4194305);
        ck_assert(a.wake.has_sector);
        ck_assert_uint_eq(a.wake.sector, sector);
        ck_assert_uint_eq(a.wake.cdb_len, 10);
        ck_assert_uint_eq(a.wake.cdb[0], 0x28);
}

static void begin_watching(void) {
        const WatchDrive a = SDA;

        begin();
        request_watch(&a);
        assert_nothing_reported();
}

START_TEST(test_woken) {
        begin_watching();
        happen_line(BIO);
        assert_nothing_reported();
        happen_line(QUIET);
        assert_nothing_reported();
        happen_line(COMMAND);
        expect_read("smartd", 2048);

        /* The next wake is reported with its own waker `cat`, and not with the previous waker. */
        happen_line(OTHER_BIO);
        happen_line(COMMAND);
        expect_read("cat", 4096);
        assert_nothing_reported();
        finish();
}
END_TEST

/* ---- active drives ---- */

static void send_active(bool watch) {
        const TracerRequest q = { .watch = watch, .active = true, .drive = SDA };

        ck_assert_int_eq(wire_send(manager, tracer_request_fields, &q, 0), 0);
        if (watch)
                expect_watched(q.drive.disk);
}

static void expect_counted(const char *comm, unsigned times) {
        TracerAnswer a = receive_answer();

        ck_assert(a.counted && !a.woken && a.disk.major == 8 && a.disk.minor == 0);
        ck_assert_uint_eq(a.times, times);
        ck_assert_str_eq(a.wake.process.comm, comm);
        ck_assert_int_eq(a.wake.process.pid, 0);
}

/* The requests of an active drive are counted, and are reported on request. Then the drive is no longer watched. */
START_TEST(test_counted) {
        begin();
        for (unsigned i = 0; i < 2; i++) {
                send_active(true);
                assert_nothing_reported();
                happen_line(OTHER_BIO);
                happen_line(BIO);
                happen_line(COMMAND);
                happen_line(QUIET);
                happen_line(BIO);
                assert_nothing_reported();
                send_active(false);
                expect_counted("cat", 1);
                expect_counted("smartd", 1);
                expect_counted("", 0);
        }
        happen_line(BIO);
        happen_line(COMMAND);
        send_active(false);
        assert_nothing_reported();
        finish();
}
END_TEST

/* A drive in heavy use is reported without a request, and is no longer watched. Other drives are still watched. */
START_TEST(test_heavy_use) {
        begin();
        send_active(true);
        assert_nothing_reported();
        for (unsigned i = 0; i < WAKE_COUNT_COMMANDS_MAX; i++)
                happen_line(BIO);
        expect_counted("smartd", 1);
        expect_counted("", 0);
        happen_line(BIO);
        assert_nothing_reported();
        finish();
}
END_TEST

/* Events of drives without a watch are not reported. A new watch does not report events that happened before the watch began. */
START_TEST(test_unwatched) {
        const WatchDrive a = SDA;

        begin_watching();
        send_request(false, &a);
        assert_nothing_reported();
        happen_line(BIO);
        happen_line(COMMAND);
        assert_nothing_reported();
        request_watch(&a);
        happen_line(BIO);
        assert_nothing_reported();
        request_watch(&a);
        happen_line(OTHER_BIO);
        happen_line(COMMAND);
        expect_read("cat", 4096);
        finish();
}
END_TEST

/* A line that is split into two reads at any byte is parsed as one line. */
START_TEST(test_split) {
        static const char text[] = BIO "\n" COMMAND "\n";

        begin_watching();
        for (size_t i = 1; i < sizeof text - 2; i += 3) {
                happen(text, i);
                assert_nothing_reported();
                happen(text + i, sizeof text - 1 - i);
                expect_read("smartd", 2048);
        }
        finish();
}
END_TEST

/* No event is lost if one read returns many events with malformed lines in between. */
START_TEST(test_burst) {
        static const char text[] = "\n\nCPU:1 [LOST 7 EVENTS]\n" BIO "\n" OTHER_BIO "\nx\n" COMMAND "\n";
        static char all[40 * sizeof text];
        size_t n = 0;

        for (unsigned i = 0; i < 40; i++)
                n += (size_t) snprintf(all + n, sizeof all - n, "%s", text);
        begin_watching();
        happen(all, n);
        for (unsigned i = 0; i < 40; i++)
                expect_read("smartd", 2048);
        assert_nothing_reported();
        finish();
}
END_TEST

static const struct {
        size_t length;
        bool whole;
} lengths[] = { { 510, true },   { 511, true },   { 512, false },  { 513, false },
                { 1024, false }, { 1025, false }, { 20000, false } };

/* A line that is too long is skipped, and the next line is parsed. */
START_TEST(test_long) {
        static char line[20001];
        size_t n = lengths[_i].length, begin = strlen(COMMAND_BEGIN), end = strlen(COMMAND_END);

        (void) memset(line, ' ', n);
        (void) memcpy(line, COMMAND_BEGIN, begin);
        (void) memcpy(line + n - end, COMMAND_END, end);
        line[n] = '\0';
        begin_watching();
        happen_line(BIO);
        happen_line(line);
        if (lengths[_i].whole)
                expect_read("smartd", 2048);
        assert_nothing_reported();

        /* The end of a long line is not parsed as a line of its own, even if the long line arrives in parts. */
        (void) memcpy(line, "x", 1);
        happen(line, n / 2);
        assert_nothing_reported();
        happen(line + n / 2, n - n / 2);
        happen("\n", 1);
        assert_nothing_reported();
        happen_line(BIO);
        happen_line(COMMAND);
        expect_read("smartd", 2048);
        finish();
}
END_TEST

/* ---- requests and exit ---- */

static const struct {
        TracerRequest request;
        int more;  /* number of additional bytes in the message; negative: bytes removed */
        int watch; /* value that replaces the field `watch` (one byte) in the message; -1: unchanged */
        int error; /* error with which the process exits; 0: the request is answered */
} requests[] = {
#define WHOLE 0, -1
        { { .watch = true, .drive = SDA }, WHOLE, 0 },
        { { .watch = true, .drive = { .disk = { 4095, 1048575 }, .n_above = WATCH_ABOVE_MAX } }, WHOLE, 0 },
        { { .watch = true, .drive = SDA }, -1, -1, EBADMSG },
        { { .watch = true, .drive = SDA }, 1, -1, EBADMSG },
        { { .watch = true, .drive = SDA }, -1000, -1, EBADMSG }, /* one byte remains */
        { { .watch = true, .drive = SDA }, 0, 2, EBADMSG },
        { { .watch = true, .drive = SDA }, 0, 255, EBADMSG },
        { { .watch = true, .drive = { .n_above = WATCH_ABOVE_MAX + 1 } }, WHOLE, EBADMSG },
        { { .watch = true, .drive = { .n_above = UINT32_MAX } }, WHOLE, EBADMSG },
        { { .watch = true, .drive = { .disk = { 4096, 0 } } }, WHOLE, EBADMSG },
        { { .watch = true, .drive = { .disk = { 8, 1048576 } } }, WHOLE, EBADMSG },
        { { .watch = false, .drive = { .n_above = WATCH_ABOVE_MAX + 1 } }, WHOLE, EBADMSG },
        { { .watch = false, .drive = { .disk = { 4096, 0 } } }, WHOLE, EBADMSG },
#undef WHOLE
};

START_TEST(test_requests) {
        uint8_t request[WIRE_MESSAGE_MAX_BYTES] = {};
        ssize_t whole = (ssize_t) wire_size(tracer_request_fields), size = MAX(whole + requests[_i].more, 1);

        (void) wire_write(tracer_request_fields, &requests[_i].request, request);
        if (requests[_i].watch >= 0)
                request[0] = (uint8_t) requests[_i].watch;
        begin();
        ck_assert_int_eq(send(manager, request, size, MSG_NOSIGNAL), size);
        if (requests[_i].error) {
                assert_ends(requests[_i].error);
                assert_file(event_file(names[0], "enable"), "");
                return;
        }
        expect_watched(requests[_i].request.drive.disk);
        finish();
}
END_TEST

START_TEST(test_too_many) {
        WatchDrive d;

        begin();
        for (unsigned i = 0; i < TRACER_DRIVES_MAX; i++) {
                d = disk(i);
                request_watch(&d);
        }
        request_watch(&d);
        d = disk(TRACER_DRIVES_MAX);
        send_request(true, &d);
        assert_ends(EBADMSG);
}
END_TEST

/* If the manager disconnects before its first request, or before a report, the process exits without an error. */
START_TEST(test_manager_disconnects) {
        if (_i == 0)
                begin();
        else
                begin_watching();
        if (_i == 2)
                for (unsigned i = 0; i < 20; i++)
                        happen_line(COMMAND);
        finish();
}
END_TEST

static const struct {
        const char *change; /* shell command that changes the socket's file */
        bool by_root;
} owners[] = { { "chown 65534 socket", true }, { "rm socket", false }, { "rm socket; : >socket", false } };

/* The tracer serves only the owner of the socket's file. If the file belongs to another user, is missing or is another
 * file, the process exits with EPERM. */
START_TEST(test_owner) {
        const WatchDrive a = SDA;

        if (owners[_i].by_root && geteuid() != 0)
                return;
        ck_assert_int_eq(system(owners[_i].change), 0);
        send_request(true, &a);
        begin();
        assert_ends(EPERM);
        assert_file("instance/buffer_size_kb", "");
}
END_TEST

static const struct {
        const char *change; /* shell command that changes the tracefs instance */
        const char *instance;
        Tracing told;
        int error;
} instances[] = {
        { "true", "none/instance", TRACING_UNMOUNTED, 0 },  /* no tracefs: reported, and not a failure */
        { "true", "other", TRACING_UNMOUNTED, 0 },          /* no instance: reported; only the unit creates instances */
        { "mkdir other", "other", TRACING_DENIED, ENOENT }, /* an empty directory is not a tracefs instance */
        { "rm instance/buffer_size_kb", "instance", TRACING_DENIED, ENOENT },
        { "rm instance/trace_pipe", "instance", TRACING_DENIED, ENOENT },
        /* A missing required event is reported, but is not a failure. The writeback events are optional. */
        { "rm instance/events/block/block_bio_queue/filter", "instance", TRACING_NO_EVENTS, 0 },
        { "rm instance/events/block/block_bio_queue/enable", "instance", TRACING_NO_EVENTS, 0 },
        { "rm -r instance/events/scsi", "instance", TRACING_NO_EVENTS, 0 },
        { "rm -r instance/events/writeback; rm instance/events/block/block_bio_queue/enable", "instance",
          TRACING_NO_EVENTS, 0 },
        /* If trace_pipe can be opened but not read, the process exits with the error of read(). */
        { "rm instance/trace_pipe; mkdir instance/trace_pipe", "instance", TRACING_FINE, EISDIR },
};

/* Tracing works without the writeback events, although some wakers stay unknown. */
START_TEST(test_no_writeback) {
        const WatchDrive a = SDA;

        ck_assert_int_eq(system(_i == 0   ? "rm -r instance/events/writeback instance/events/rpm"
                                : _i == 1 ? "rm -r instance/events/writeback/writeback_dirty_folio"
                                          : "rm instance/events/writeback/*/enable"),
                         0);
        begin();
        request_watch(&a);
        assert_file(event_file(names[0], "enable"), "1");
        assert_file(event_file(names[1], "enable"), "1");
        finish();
}
END_TEST

START_TEST(test_instance) {
        const WatchDrive a = SDA;

        ck_assert_int_eq(system(instances[_i].change), 0);
        begin_at(instances[_i].instance);
        send_request(true, &a);
        assert_ends(instances[_i].error);
        ck_assert_int_eq(receive_answer().tracing, instances[_i].told);
        ck_assert_int_eq(access(instances[_i].instance, F_OK), instances[_i].told == TRACING_UNMOUNTED ? -1 : 0);
}
END_TEST

START_TEST(test_no_listener) {
        ck_assert_int_eq(tracer_run(-EBADF, "instance"), -EBADF);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("process");

        tcase_add_checked_fixture(t, process_setup, process_teardown);
        tcase_add_loop_test(t, test_filters, 0, ELEMENTSOF(filters));
        tcase_add_test(t, test_filter_resume);
        tcase_add_loop_test(t, test_disabled, 0, 2);
        tcase_add_test(t, test_old_kernel);
        tcase_add_test(t, test_both_names);
        tcase_add_loop_test(t, test_much_above, 0, 16);
        tcase_add_test(t, test_flood);
        tcase_add_test(t, test_no_room);
        tcase_add_test(t, test_woken);
        tcase_add_test(t, test_counted);
        tcase_add_test(t, test_heavy_use);
        tcase_add_test(t, test_unwatched);
        tcase_add_test(t, test_split);
        tcase_add_test(t, test_burst);
        tcase_add_loop_test(t, test_long, 0, ELEMENTSOF(lengths));
        tcase_add_loop_test(t, test_requests, 0, ELEMENTSOF(requests));
        tcase_add_test(t, test_too_many);
        tcase_add_loop_test(t, test_manager_disconnects, 0, 3);
        tcase_add_loop_test(t, test_owner, 0, ELEMENTSOF(owners));
        tcase_add_loop_test(t, test_instance, 0, ELEMENTSOF(instances));
        tcase_add_loop_test(t, test_no_writeback, 0, 3);
        tcase_add_test(t, test_no_listener);

        return test_main("tracer-process", t);
}
