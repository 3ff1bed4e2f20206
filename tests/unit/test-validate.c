/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Messages between the manager, its workers and the tracer. Any of these processes may be compromised, so the test
 * gives each field of each message each wrong value, in both directions. The sender's own functions encode a message,
 * which the test then changes byte by byte. */

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "sandbox.h"
#include "settings.h"
#include "suite.h"
#include "tracer.h"
#include "worker-message.h"
#include "wrong-values.h"

/* ---- to the worker: a request ---- */

static Drive drive = { .name = (char *) "sdzz",
                       .node = (char *) "/dev/sdzz",
                       .syspath = (char *) "/sys/devices/ata9/block/sdzz",
                       .transport = TRANSPORT_SATA,
                       .ata = true,
                       .size = UINT64_MAX,
                       .diskseq = UINT64_MAX };
static Bridge bridge = { .cdb = 16 };
static Wish wish_items[] = {
        { .name = "apm", .value = { .type = VALUE_INT, .number = 127 }, .file = "f", .line = UINT_MAX },
        { .name = "acoustic_management", .withheld = true, .file = "/etc/file" },
};
static const Wishes wishes = { .items = wish_items, .n_items = ELEMENTSOF(wish_items) };
static Memory memories[] = {
        { .sent = { .known = true } },
        { .sent = { .number = INT64_MAX },
          .settled = { .number = INT64_MAX },
          .read = { .number = INT64_MAX },
          .overruled = "overruled",
          .quarantined = "quarantined" },
};
static Visit visit = { .drive = &drive, .wishes = &wishes, .memories = memories, .settings = &all_settings };

static const Field request_fields[] = {
        { "drive.transport", &drive.transport, KIND_ENUM, _TRANSPORT_MAX },
        { "drive.rotational", &drive.rotational, KIND_BOOL, 0 },
        { "drive.removable", &drive.removable, KIND_BOOL, 0 },
        { "drive.rotational_unknown", &drive.rotational_unknown, KIND_BOOL, 0 },
        { "drive.removable_unknown", &drive.removable_unknown, KIND_BOOL, 0 },
        { "drive.raid", &drive.raid, KIND_BOOL, 0 },
        { "drive.optical", &drive.optical, KIND_BOOL, 0 },
        { "drive.ata", &drive.ata, KIND_BOOL, 0 },
        { "drive.plugged", &drive.plugged, KIND_BOOL, 0 },
        { "drive.identified", &drive.identified, KIND_BOOL, 0 },
        { "bridge.queried", &bridge.queried, KIND_BOOL, 0 },
        { "bridge.identified", &bridge.identified, KIND_BOOL, 0 },
        { "bridge.without_sat", &bridge.without_sat, KIND_BOOL, 0 },
        { "bridge.uas_blocks", &bridge.uas_blocks, KIND_BOOL, 0 },
        { "bridge.without_registers", &bridge.without_registers, KIND_BOOL, 0 },
        { "bridge.repeats_identify", &bridge.repeats_identify, KIND_BOOL, 0 },
        { "bridge.fragile", &bridge.fragile, KIND_BOOL, 0 },
        { "bridge.cdb", &bridge.cdb, KIND_CDB, 0 },
        { "work", &visit.work, KIND_ENUM, _WORK_MAX },
        { "active", &visit.active, KIND_BOOL, 0 },
        { "ata_sleep", &visit.ata_sleep, KIND_BOOL, 0 },
        { "wish.value.type", &wish_items[0].value.type, KIND_ENUM, _VALUE_TYPE_MAX },
        { "wish.value.name", &wish_items[0].value.name, KIND_TEXT, VALUE_NAME_MAX },
        { "withheld wish.value.type", &wish_items[1].value.type, KIND_ENUM, _VALUE_TYPE_MAX },
        { "withheld wish.value.name", &wish_items[1].value.name, KIND_TEXT, VALUE_NAME_MAX },
        { "wish.withheld", &wish_items[0].withheld, KIND_BOOL, 0 },
        { "wish.allow_dangerous", &wish_items[0].allow_dangerous, KIND_BOOL, 0 },
        { "wish.permanent", &wish_items[0].permanent, KIND_BOOL, 0 },
        { "wish.optional", &wish_items[0].optional, KIND_BOOL, 0 },
        { "wish.wake", &wish_items[0].wake, KIND_BOOL, 0 },
        { "wish.spindown_by", &wish_items[0].spindown_by, KIND_ENUM, _SPINDOWN_BY_MAX },
        { "wish.wake_together", &wish_items[0].wake_together, KIND_BOOL, 0 },
        { "wish.commands_are_use", &wish_items[0].commands_are_use, KIND_BOOL, 0 },
        { "memory.sent", &memories[1].sent.known, KIND_BOOL, 0 },
        { "memory.settled", &memories[1].settled.known, KIND_BOOL, 0 },
        { "memory.read", &memories[1].read.known, KIND_BOOL, 0 },
        { "memory.overruled", &memories[1].overruled, KIND_TEXT, sizeof memories->overruled },
        { "memory.quarantined", &memories[1].quarantined, KIND_TEXT, sizeof memories->quarantined },
};

static uint8_t *request_make(size_t *ret_size) {
        void *request;

        ck_assert_int_eq(visit_request_new(&visit, &request, ret_size), 0);
        return request;
}

/* Returns the offset of this field in the message: the first byte that changes when the field changes. */
static size_t find_field(const Field *f) {
        _cleanup_free_ uint8_t *with = NULL, *without = NULL;
        size_t size, other_size, at;
        uint8_t *byte = f->at, before = *byte;

        without = request_make(&size);
        *byte = !before;
        with = request_make(&other_size);
        *byte = before;

        ck_assert_uint_eq(size, other_size);
        at = first_difference(with, without, size);
        ck_assert_msg(at < size, "%s does not cross", f->name);
        return at;
}

START_TEST(test_request) {
        const Field *f = request_fields + _i;
        _cleanup_free_ uint8_t *request = NULL;
        VisitRequest r;
        size_t size, at;

        visit.bridge = &bridge;
        at = find_field(f);
        request = request_make(&size);
        ck_assert_int_eq(visit_request_parse(request, size, &all_settings, &r), 0);

        for (unsigned nth = 0; make_wrong(f, request + at, nth); nth++)
                ck_assert_msg(visit_request_parse(request, size, &all_settings, &r) == -EBADMSG, "%s, wrong value %u",
                              f->name, nth);
}
END_TEST

/* A text without a terminating NUL is rejected. */
START_TEST(test_request_text) {
        static const struct {
                const char *text;
                size_t size;
        } texts[] = { { "/dev/sdzz", 512 }, { "acoustic_management", 64 }, { "/etc/file", 512 } };
        _cleanup_free_ uint8_t *request = NULL;
        size_t size;
        VisitRequest r;

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                uint8_t *at;

                free(request);
                request = request_make(&size);
                at = memmem(request, size, texts[i].text, strlen(texts[i].text));
                ck_assert_ptr_nonnull(at);
                ck_assert_int_eq(visit_request_parse(request, size, &all_settings, &r), 0);
                memset(at, 'x', texts[i].size);
                ck_assert_int_eq(visit_request_parse(request, size, &all_settings, &r), -EBADMSG);
        }
}
END_TEST

/* Values that the setting's row accepts or rejects. */
static const struct {
        const char *setting;
        Value value;
        bool taken;
} values[] = {
        { "apm", { VALUE_INT, 1, "" }, true },
        { "apm", { VALUE_INT, 254, "" }, true },
        { "apm", { VALUE_INT, 255, "" }, true }, /* 255: off */
        { "apm", { VALUE_INT, 0, "" }, false },
        { "apm", { VALUE_INT, 256, "" }, false },
        { "apm", { VALUE_BOOL, 1, "" }, false },
        { "apm", { VALUE_STRIPES, 1, "" }, false },
        { "acoustic_management", { VALUE_INT, 254, "" }, true },
        { "acoustic_management", { VALUE_INT, 0, "" }, true }, /* 0: off */
        { "acoustic_management", { VALUE_INT, 255, "" }, false },
        { "acoustic_management", { VALUE_INT, -1, "" }, false },
        { "write_cache", { VALUE_BOOL, 0, "" }, true },
        { "write_cache", { VALUE_BOOL, 1, "" }, true },
        { "write_cache", { VALUE_BOOL, 2, "" }, false },
        { "write_cache", { VALUE_BOOL, -1, "" }, false },
        { "write_cache", { VALUE_INT, 1, "" }, false },
        { "spindown_time", { VALUE_STANDBY_TIMER, 0, "" }, true },
        { "spindown_time", { VALUE_STANDBY_TIMER, 255, "" }, true },
        { "spindown_time", { VALUE_STANDBY_TIMER, 256, "" }, false },
        { "spindown_time", { VALUE_STANDBY_TIMER, -1, "" }, false },
        { "scheduler", { VALUE_NAME, 0, "mq-deadline" }, true },
        { "scheduler", { VALUE_NAME, 0, "" }, false },
        { "scheduler", { VALUE_NAME, 0, "../none" }, false },
        { "scheduler", { VALUE_NAME, 0, "none\n" }, false },
        { "read_ahead_kb", { VALUE_SIZE, 0, "" }, true },
        { "read_ahead_kb", { VALUE_SIZE, -1, "" }, false },
        { "read_ahead_kb", { VALUE_STRIPES, 1, "" }, true },
        { "read_ahead_kb", { VALUE_STRIPES, VALUE_STRIPES_MAX, "" }, true },
        { "read_ahead_kb", { VALUE_STRIPES, 0, "" }, false },
        { "read_ahead_kb", { VALUE_STRIPES, VALUE_STRIPES_MAX + 1, "" }, false },
        { "spindown_time", { VALUE_STANDBY_TIMER, 254, "" }, false }, /* reserved timer code */
        { "scheduler", { VALUE_NAME, 0, "a,b" }, false },
        { "write_cache_forced", { VALUE_NAME, 3, "off" }, true },
        { "write_cache_forced", { VALUE_NAME, 3, "of" }, false },
        { "write_cache_forced", { VALUE_NAME, 3, "off " }, false },
        { "write_cache_reordering", { VALUE_BOOL, 1, "" }, true },
        { "link_power_management", { VALUE_NAME, 0, "max_performance" }, true },
        { "link_power_management", { VALUE_NAME, 0, "none" }, false },
        { "runtime_pm", { VALUE_NAME, 0, "auto" }, true },
        { "runtime_pm", { VALUE_NAME, 0, "mq-deadline" }, false },
        { "error_recovery", { VALUE_DURATION, 7000, "" }, true },
        { "error_recovery", { VALUE_DURATION, 7001, "" }, false }, /* not a multiple of 100 ms */
        { "chipset_pio_mode", { VALUE_ANY, 0, "" }, true },
        { "cd_speed", { VALUE_NAME, 0, "" }, true }, /* accepted: this drive does not have the setting */
        { "nonesuch", { VALUE_BOOL, 0, "" }, false },
        { "", { VALUE_BOOL, 0, "" }, false },
};

START_TEST(test_request_value) {
        Wish item = { .name = values[_i].setting, .value = values[_i].value, .file = "f" };
        Wishes one = { .items = &item, .n_items = 1 };
        _cleanup_free_ uint8_t *request = NULL;
        size_t size;
        VisitRequest r;

        visit.wishes = &one;
        for (unsigned withheld = 0; withheld < 2; withheld++) {
                bool known = setting_find(&all_settings, item.name);

                item.withheld = withheld;
                free(request);
                request = request_make(&size);
                ck_assert_msg((visit_request_parse(request, size, &all_settings, &r) >= 0) ==
                                              (values[_i].taken || (withheld && known)),
                              "%s, %d", item.name, (int) item.value.number);
        }
}
END_TEST

/* The manager cuts text that is too long for a message, and the worker accepts the message. */
START_TEST(test_request_long_text) {
        char file[1024] = "", model[1024] = "";
        Wish item = { .name = "apm", .value = { .type = VALUE_INT, .number = 127 }, .file = file };
        Wishes one = { .items = &item, .n_items = 1 };
        _cleanup_free_ uint8_t *request = NULL;
        size_t size;
        VisitRequest r;

        memset(file, 'f', sizeof file - 1);
        memset(model, 'm', sizeof model - 1);
        drive.model = model;
        visit.wishes = &one;
        visit.memories = NULL;
        request = request_make(&size);
        ck_assert_int_eq(visit_request_parse(request, size, &all_settings, &r), 0);
        ck_assert_uint_eq(strlen(r.visit.wishes->items[0].file), 511);
        ck_assert_uint_eq(strlen(r.visit.drive->model), 511);
        ck_assert(!r.visit.memories[0].sent.known && !r.visit.bridge->queried && r.visit.work == 0);
}
END_TEST

/* A request is rejected if its count of wishes does not match its size, or exceeds RECORD_MAX_SETTINGS. */
START_TEST(test_request_count) {
        static const size_t counts[] = {
                0, 1, 3, RECORD_MAX_SETTINGS, RECORD_MAX_SETTINGS + 1, SIZE_MAX / 2, SIZE_MAX
        };
        _cleanup_free_ uint8_t *request = NULL, *other = NULL;
        size_t size, other_size, at = 0, each;
        Wishes one = { .items = wish_items, .n_items = 1 };
        VisitRequest r;

        request = request_make(&size);
        visit.wishes = &one;
        other = request_make(&other_size);
        each = size - other_size;
        while (request[at] == other[at])
                at++;
        for (size_t i = 0; i < ELEMENTSOF(counts); i++) {
                memcpy(request + at, counts + i, sizeof *counts);
                ck_assert_int_eq(visit_request_parse(request, size, &all_settings, &r), -EBADMSG);
        }

        for (size_t n = RECORD_MAX_SETTINGS; n <= RECORD_MAX_SETTINGS + 1; n++) {
                uint8_t *many = calloc(1, other_size + n * each);

                memcpy(many, other, other_size);
                memcpy(many + at, &n, sizeof n);
                for (size_t i = 1; i < n; i++)
                        memcpy(many + other_size + (i - 1) * each, other + other_size - each, each);
                ck_assert_int_eq(visit_request_parse(many, other_size + (n - 1) * each, &all_settings, &r),
                                 n <= RECORD_MAX_SETTINGS ? 0 : -EBADMSG);
                free(many);
        }
}
END_TEST

/* After an upgrade, the new broker rejects a request of the old service, which has another build identity. */
START_TEST(test_other_build) {
        _cleanup_free_ uint8_t *request = NULL;
        VisitRequest r;
        size_t size;

        request = request_make(&size);
        ck_assert_str_eq((const char *) request, build_identity());
        for (size_t i = 0; i < BUILD_MAX; i++) {
                bool beyond = i > strlen(build_identity());

                request[i] ^= 1;
                ck_assert_int_eq(visit_request_parse(request, size, &all_settings, &r), beyond ? 0 : -EPROTONOSUPPORT);
                request[i] ^= 1;
        }
        /* A request of another build may have another layout and size, so only its build identity must be complete. */
        request[0] ^= 1;
        ck_assert_int_eq(visit_request_parse(request, BUILD_MAX, &all_settings, &r), -EPROTONOSUPPORT);
        ck_assert_int_eq(visit_request_parse(request, BUILD_MAX - 1, &all_settings, &r), -EBADMSG);
}
END_TEST

/* The build identity contains the inode and the time of the program's file, which differ between two builds of one version. */
START_TEST(test_build_id) {
        char build[BUILD_MAX], started[64];
        struct stat st;

        ck_assert_int_eq(stat("/proc/self/exe", &st), 0);
        (void) snprintf(build, sizeof build, "%s (build %jx-", DRIVEKEEP_VERSION, (uintmax_t) st.st_ino);
        ck_assert_ptr_eq(strstr(build_identity(), build), build_identity());
        (void) snprintf(started, sizeof started, "%jx)",
                        (uintmax_t) st.st_mtim.tv_sec * 1000000000 + (uintmax_t) st.st_mtim.tv_nsec);
        ck_assert_str_eq(build_identity() + strlen(build), started);
}
END_TEST

/* ---- to the worker: an order ---- */

static const struct {
        int64_t order;
        size_t size;
        bool taken;
} orders[] = {
        { ORDER_STOP, sizeof(WorkerOrder), true },
        { ORDER_GO, sizeof(WorkerOrder), false }, /* a reply, although the worker asked no question */
        { ORDER_UNGUARDED, sizeof(WorkerOrder), false },
        { _ORDER_MAX, sizeof(WorkerOrder), false },
        { -1, sizeof(WorkerOrder), false },
        { INT_MAX, sizeof(WorkerOrder), false },
        { INT_MIN, sizeof(WorkerOrder), false },
        { ORDER_STOP, sizeof(WorkerOrder) - 1, false },
        { ORDER_STOP, sizeof(WorkerOrder) + 1, false },
        { ORDER_STOP, 1, false },
};

/* Starts a worker in a child, without a sandbox, for a drive that does not exist. The worker's output goes to a file. */
static pid_t worker_make(const void *data, size_t data_size, int *ret_fd, FILE **ret_printed) {
        _cleanup_free_ uint8_t *request = NULL;
        size_t size;
        int fds[2];
        pid_t pid;

        request = request_make(&size);
        *ret_printed = tmpfile();
        ck_assert_ptr_nonnull(*ret_printed);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(send(fds[0], request, size, MSG_NOSIGNAL), (ssize_t) size);
        if (data)
                ck_assert_int_eq(send(fds[0], data, data_size, MSG_NOSIGNAL), (ssize_t) data_size);
        pid = fork();
        if (pid == 0) {
                (void) close(fds[0]);
                (void) dup2(fileno(*ret_printed), STDERR_FILENO);
                worker_main(fds[1]);
        }
        (void) close(fds[1]);
        *ret_fd = fds[0];
        return pid;
}

/* Waits for the worker's exit, and checks that the worker printed nothing. */
static void worker_done(pid_t pid, int fd, FILE *printed, int wanted) {
        int status;

        (void) close(fd);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), wanted);
        ck_assert_int_eq(fseek(printed, 0, SEEK_END), 0);
        ck_assert_int_eq(ftell(printed), 0);
        (void) fclose(printed);
}

/* Replaces the sandbox, which would confine the test. */
int sandbox_worker(_unused_ const char *node, _unused_ char *const *partitions, _unused_ const char *own) {
        return 0;
}
size_t sandbox_own(_unused_ const char *syspath) {
        return 0;
}

static void check_name(pid_t pid) {
        char path[64], name[32] = "";
        FILE *f;

        (void) snprintf(path, sizeof path, "/proc/%d/comm", (int) pid);
        f = fopen(path, "r");
        ck_assert_ptr_nonnull(f);
        ck_assert_ptr_nonnull(fgets(name, sizeof name, f));
        ck_assert_str_eq(name, "keep-sdzz\n");
        (void) fclose(f);
}

/* Waits for the next message. */
static int receive_from(int fd, WorkerMessage *ret) {
        struct pollfd p = { .fd = fd, .events = POLLIN };

        ck_assert_int_eq(poll(&p, 1, -1), 1);
        return worker_receive(fd, wishes.n_items, ret);
}

/* If the order to stop arrives before the worker's first command, the worker sends no command, and reports each setting as deferred. A
 * malformed order ends the worker. The name of the worker's process contains the drive's name. */
START_TEST(test_order) {
        struct {
                int order;
                char more[8];
        } o = { .order = (int) orders[_i].order };
        FILE *printed;
        WorkerMessage m;
        unsigned n = 0;
        pid_t pid;
        int fd;

        pid = worker_make(&o, orders[_i].size, &fd, &printed);
        for (; receive_from(fd, &m) == 1 && m.type == MESSAGE_STEP; n++)
                if (m.wish == 0 && orders[_i].taken)
                        ck_assert_int_eq(m.step.verdict, VERDICT_DEFERRED);
        if (orders[_i].taken) {
                ck_assert_uint_eq(n, wishes.n_items);
                ck_assert_int_eq(m.type, MESSAGE_END);
                check_name(pid);
        }
        worker_done(pid, fd, printed, orders[_i].taken ? EXIT_SUCCESS : EXIT_FAILURE);
}
END_TEST

/* Forbids sockets, as in a worker's sandbox, so that log messages go to standard error. */
int socket(_unused_ int domain, _unused_ int type, _unused_ int protocol) {
        errno = EAFNOSUPPORT;
        return -1;
}

/* A worker that gets a request of another build logs an error with its own build identity, and sends no message. */
START_TEST(test_other_build_is_logged) {
        _cleanup_free_ uint8_t *request = NULL;
        char text[512] = "";
        FILE *printed = tmpfile();
        int fds[2], status;
        size_t size;
        pid_t pid;
        char c;

        request = request_make(&size);
        request[0] ^= 1;
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(send(fds[0], request, size, MSG_NOSIGNAL), (ssize_t) size);
        pid = fork();
        if (pid == 0) {
                (void) close(fds[0]);
                (void) dup2(fileno(printed), STDERR_FILENO);
                worker_main(fds[1]);
        }
        (void) close(fds[1]);
        ck_assert_int_eq(recv(fds[0], &c, 1, 0), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE);
        rewind(printed);
        ck_assert_uint_gt(fread(text, 1, sizeof text - 1, printed), 0);
        ck_assert_ptr_eq(strstr(text, "<3>drivekeep.service and this worker ("), text);
        ck_assert_ptr_nonnull(strstr(text, build_identity()));
        (void) fclose(printed);
        (void) close(fds[0]);
}
END_TEST

/* If the node is not a disk, or the request is longer than any valid request, the worker exits without a message. */
START_TEST(test_no_visit) {
        static uint8_t junk[VISIT_REQUEST_MAX_BYTES + 1];
        FILE *printed = tmpfile();
        int fds[2];
        char c;
        pid_t pid;

        if (_i == 0) {
                drive.name = (char *) "null";
                drive.node = (char *) "/dev/null";
                drive.syspath = (char *) "/sys/devices/virtual/mem/null";
                (void) fclose(printed);
                pid = worker_make(NULL, 0, fds, &printed);
        } else {
                _cleanup_free_ uint8_t *request = NULL;
                size_t size;

                request = request_make(&size);
                memcpy(junk, request, size);
                ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
                ck_assert_int_eq(send(fds[0], junk, sizeof junk, MSG_NOSIGNAL), sizeof junk);
                pid = fork();
                if (pid == 0)
                        worker_main(fds[1]);
                (void) close(fds[1]);
        }
        ck_assert_int_eq(recv(fds[0], &c, 1, 0), 0);
        worker_done(pid, fds[0], printed, EXIT_FAILURE);
}
END_TEST

/* ---- to the manager ---- */

static WorkerMessage message = {
        .step = { .end = VERDICT_FAILED,
                  .error = -5,
                  .wanted = { VALUE_NAME, INT64_MAX, "wanted" },
                  .before = { .value = { VALUE_NAME, INT64_MAX, "before" },
                              .saved = { VALUE_NAME, INT64_MAX, "saved" } },
                  .after = { .value = { VALUE_NAME, INT64_MAX, "after" }, .saved = { VALUE_NAME, INT64_MAX, "saved" } },
                  .note = "note",
                  .reason = "reason" },
        .bridge = { .queried = true, .identified = true, .cdb = 16 },
        .identity.serial = "S",
};

static const struct {
        Field field;
        WorkerMessageType type;
} message_fields[] = {
        { { "type", &message.type, KIND_ENUM, _MESSAGE_MAX }, MESSAGE_END },
        { { "verdict", &message.step.verdict, KIND_ENUM, _VERDICT_MAX }, MESSAGE_STEP },
        { { "end", &message.step.end, KIND_ENUM, _VERDICT_MAX }, MESSAGE_STEP },
        { { "written", &message.step.written, KIND_BOOL, 0 }, MESSAGE_STEP },
        { { "failed", &message.step.failed, KIND_BOOL, 0 }, MESSAGE_STEP },
        { { "lost", &message.step.lost, KIND_BOOL, 0 }, MESSAGE_STEP },
        { { "remembered", &message.step.remembered, KIND_BOOL, 0 }, MESSAGE_STEP },
        { { "write", &message.step.write, KIND_BOOL, 0 }, MESSAGE_STEP },
        { { "saving", &message.step.saving, KIND_BOOL, 0 }, MESSAGE_STEP },
        { { "accepted", &message.step.accepted, KIND_BOOL, 0 }, MESSAGE_STEP },
        { { "by_service", &message.step.by_service, KIND_BOOL, 0 }, MESSAGE_STEP },
        { { "wanted.type", &message.step.wanted.type, KIND_ENUM, _VALUE_TYPE_MAX }, MESSAGE_STEP },
        { { "wanted.name", &message.step.wanted.name, KIND_TEXT, VALUE_NAME_MAX }, MESSAGE_STEP },
        { { "note", &message.step.note, KIND_TEXT, STEP_NOTE_MAX }, MESSAGE_STEP },
        { { "reason", &message.step.reason, KIND_TEXT, STEP_REASON_MAX }, MESSAGE_STEP },
        { { "before.supported", &message.step.before.supported, KIND_BOOL, 0 }, MESSAGE_STEP },
        { { "before.known", &message.step.before.known, KIND_BOOL, 0 }, MESSAGE_STEP },
        { { "before.value.type", &message.step.before.value.type, KIND_ENUM, _VALUE_TYPE_MAX }, MESSAGE_STEP },
        { { "before.value.name", &message.step.before.value.name, KIND_TEXT, VALUE_NAME_MAX }, MESSAGE_STEP },
        { { "before.repeated", &message.step.before.repeated, KIND_BOOL, 0 }, MESSAGE_STEP },
        { { "before.saved_known", &message.step.before.saved_known, KIND_BOOL, 0 }, MESSAGE_STEP },
        { { "before.saved.type", &message.step.before.saved.type, KIND_ENUM, _VALUE_TYPE_MAX }, MESSAGE_STEP },
        { { "before.saved.name", &message.step.before.saved.name, KIND_TEXT, VALUE_NAME_MAX }, MESSAGE_STEP },
        { { "after.supported", &message.step.after.supported, KIND_BOOL, 0 }, MESSAGE_STEP },
        { { "after.known", &message.step.after.known, KIND_BOOL, 0 }, MESSAGE_STEP },
        { { "after.value.type", &message.step.after.value.type, KIND_ENUM, _VALUE_TYPE_MAX }, MESSAGE_STEP },
        { { "after.value.name", &message.step.after.value.name, KIND_TEXT, VALUE_NAME_MAX }, MESSAGE_STEP },
        { { "after.repeated", &message.step.after.repeated, KIND_BOOL, 0 }, MESSAGE_STEP },
        { { "after.saved_known", &message.step.after.saved_known, KIND_BOOL, 0 }, MESSAGE_STEP },
        { { "after.saved.type", &message.step.after.saved.type, KIND_ENUM, _VALUE_TYPE_MAX }, MESSAGE_STEP },
        { { "after.saved.name", &message.step.after.saved.name, KIND_TEXT, VALUE_NAME_MAX }, MESSAGE_STEP },
        { { "wear.load_cycles", &message.wear.load_cycles.known, KIND_BOOL, 0 }, MESSAGE_WEAR },
        { { "wear.start_stops", &message.wear.start_stops.known, KIND_BOOL, 0 }, MESSAGE_WEAR },
        { { "wear.rated_load_cycles", &message.wear.rated_load_cycles.known, KIND_BOOL, 0 }, MESSAGE_WEAR },
        { { "wear.rated_start_stops", &message.wear.rated_start_stops.known, KIND_BOOL, 0 }, MESSAGE_WEAR },
        { { "wear.temperature", &message.wear.temperature.known, KIND_BOOL, 0 }, MESSAGE_WEAR },
        { { "bridge.queried", &message.bridge.queried, KIND_BOOL, 0 }, MESSAGE_BRIDGE },
        { { "bridge.identified", &message.bridge.identified, KIND_BOOL, 0 }, MESSAGE_BRIDGE },
        { { "bridge.without_sat", &message.bridge.without_sat, KIND_BOOL, 0 }, MESSAGE_BRIDGE },
        { { "bridge.uas_blocks", &message.bridge.uas_blocks, KIND_BOOL, 0 }, MESSAGE_BRIDGE },
        { { "bridge.without_registers", &message.bridge.without_registers, KIND_BOOL, 0 }, MESSAGE_BRIDGE },
        { { "bridge.repeats_identify", &message.bridge.repeats_identify, KIND_BOOL, 0 }, MESSAGE_BRIDGE },
        { { "bridge.fragile", &message.bridge.fragile, KIND_BOOL, 0 }, MESSAGE_BRIDGE },
        { { "bridge.cdb", &message.bridge.cdb, KIND_CDB, 0 }, MESSAGE_BRIDGE },
        { { "identity.model", &message.identity.model, KIND_TEXT, sizeof message.identity.model }, MESSAGE_BRIDGE },
        { { "identity.serial", &message.identity.serial, KIND_TEXT, sizeof message.identity.serial }, MESSAGE_BRIDGE },
        { { "identity.firmware", &message.identity.firmware, KIND_TEXT, sizeof message.identity.firmware },
          MESSAGE_BRIDGE },
        { { "identity.wwn", &message.identity.wwn, KIND_TEXT, sizeof message.identity.wwn }, MESSAGE_BRIDGE },
};

/* Each flag of a visit is transmitted, and changes no other flag. */
START_TEST(test_flags) {
        Visit expected = visit;
        VisitRequest r;
        uint8_t *request;
        size_t size;

        expected.work = 1 << _i;
        ck_assert_int_eq(visit_request_new(&expected, (void **) &request, &size), 0);
        ck_assert_int_eq(visit_request_parse(request, size, &all_settings, &r), 0);
        ck_assert_uint_eq(r.visit.work, expected.work);
        free(request);
}
END_TEST

/* Rejected: messages about wishes that do not exist, and messages with an invalid error number. */
static const WorkerMessage wrong_messages[] = {
        { .type = MESSAGE_SENDS, .wish = 2 },
        { .type = MESSAGE_SENDS, .wish = NO_WISH - 1 },
        { .type = MESSAGE_STEP, .wish = 2 },
        { .type = MESSAGE_STEP, .wish = NO_WISH },
        { .type = MESSAGE_STEP, .step.error = 1 },
        { .type = MESSAGE_STEP, .step.end = _VERDICT_MAX },
        { .type = MESSAGE_STEP, .step.end = _VERDICT_INVALID },
        { .type = MESSAGE_INTENDS, .wish = 2 },
        { .type = MESSAGE_INTENDS, .wish = NO_WISH - 1 },
        { .type = MESSAGE_POWER, .power = POWER_UNKNOWN },
        { .type = MESSAGE_POWER, .power = POWER_UNCLEAR },
        { .type = MESSAGE_POWER, .power = POWER_ATA_SLEEP + 1 },
        { .type = MESSAGE_WEAR, .wear.load_cycles.number = -1 },
        { .type = MESSAGE_WEAR, .wear.rated_start_stops.number = INT64_MIN },
        { .type = MESSAGE_BRIDGE, .bridge = { .queried = true }, .identity = { .serial = "S" } },
        { .type = MESSAGE_BRIDGE, .bridge = { .identified = true }, .identity = { .serial = "S" } },
};

/* Sends the bytes as a worker, and receives them as the manager. */
static int receive(const uint8_t *bytes, size_t size, WorkerMessage *ret) {
        int fds[2], r;

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(send(fds[1], bytes, size, MSG_NOSIGNAL), (ssize_t) size);
        r = worker_receive(fds[0], wishes.n_items, ret);
        (void) close(fds[0]);
        (void) close(fds[1]);
        return r;
}

START_TEST(test_message) {
        const Field *f = &message_fields[_i].field;
        uint8_t bytes[WORKER_MESSAGE_MAX_BYTES], other[WORKER_MESSAGE_MAX_BYTES], *byte = f->at;
        WorkerMessage data;
        size_t size, at = 0;

        message.type = message_fields[_i].type;
        size = worker_message_write(&message, bytes);
        ck_assert_int_eq(receive(bytes, size, &data), 1);
        if (byte != (uint8_t *) &message.type) {
                *byte ^= 1;
                ck_assert_uint_eq(worker_message_write(&message, other), size);
                *byte ^= 1;
                at = first_difference(bytes, other, size);
                ck_assert_msg(at < size, "%s does not cross", f->name);
        }
        for (unsigned nth = 0; make_wrong(f, bytes + at, nth); nth++)
                ck_assert_msg(receive(bytes, size, &data) == -EBADMSG, "%s, wrong value %u", f->name, nth);
}
END_TEST

/* Each type of message has its own size. Shorter and longer messages are rejected. */
START_TEST(test_message_size) {
        static const WorkerMessageType types[] = { MESSAGE_ALIVE, MESSAGE_SENDS, MESSAGE_STEP,
                                                   MESSAGE_POWER, MESSAGE_WEAR,  MESSAGE_BRIDGE };
        uint8_t bytes[WORKER_MESSAGE_MAX_BYTES + 1] = {};
        WorkerMessage data;
        size_t size;

        message.type = types[_i];
        message.power = POWER_STANDBY;
        size = worker_message_write(&message, bytes);
        ck_assert_int_eq(receive(bytes, size, &data), 1);
        ck_assert_int_eq(data.type, types[_i]);
        for (size_t n = 1; n < size; n++)
                ck_assert_int_eq(receive(bytes, n, &data), -EBADMSG);
        ck_assert_int_eq(receive(bytes, size + 1, &data), -EBADMSG);
        ck_assert_int_eq(receive(bytes, sizeof bytes, &data), -EBADMSG);
}
END_TEST

START_TEST(test_wrong_message) {
        uint8_t bytes[WORKER_MESSAGE_MAX_BYTES];
        size_t size = worker_message_write(wrong_messages + _i, bytes);
        WorkerMessage data;

        ck_assert_int_eq(receive(bytes, size, &data), -EBADMSG);
}
END_TEST

/* If the worker has sent all messages and exited, with an unread order in its socket, the manager still receives the messages. */
START_TEST(test_ended_unread) {
        uint8_t end[WORKER_MESSAGE_MAX_BYTES];
        size_t size = worker_message_write(&(const WorkerMessage){ .type = MESSAGE_END }, end);
        WorkerMessage m;
        int fds[2];

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(worker_receive(fds[0], wishes.n_items, &m), -EAGAIN);
        ck_assert_int_eq(worker_order(fds[0], ORDER_STOP), 0);
        ck_assert_int_eq(send(fds[1], end, size, MSG_NOSIGNAL), (ssize_t) size);
        (void) close(fds[1]);
        ck_assert_int_eq(worker_receive(fds[0], wishes.n_items, &m), 1);
        ck_assert_int_eq(m.type, MESSAGE_END);
        ck_assert_int_eq(worker_receive(fds[0], wishes.n_items, &m), 0);
        ck_assert_int_eq(worker_order(fds[0], ORDER_STOP), -EPIPE);
        (void) close(fds[0]);
        ck_assert_int_eq(worker_receive(fds[0], wishes.n_items, &m), -EBADF);
}
END_TEST

/* ---- messages to and from the tracer ---- */

static TracerRequest watch_request = { .drive.n_above = 1 };
static TracerAnswer answer = { .wake = { .process = { .comm = "comm", .unit = "unit", .command_line = "command line" },
                                         .thread = "thread" } };

static const Field tracer_fields[] = {
        { "request.watch", &watch_request.watch, KIND_BOOL, 0 },
        { "request.active", &watch_request.active, KIND_BOOL, 0 },
        { "request.disk.major", &watch_request.drive.disk.major, KIND_ENUM, 1 << 12 },
        { "request.disk.minor", &watch_request.drive.disk.minor, KIND_ENUM, 1 << 20 },
        { "request.above.major", &watch_request.drive.above[0].major, KIND_ENUM, 1 << 12 },
        { "request.last above.major", &watch_request.drive.above[WATCH_ABOVE_MAX - 1].major, KIND_ENUM, 1 << 12 },
        { "request.n_above", &watch_request.drive.n_above, KIND_ENUM, WATCH_ABOVE_MAX + 1 },
        { "answer.disk.major", &answer.disk.major, KIND_ENUM, 1 << 12 },
        { "answer.disk.minor", &answer.disk.minor, KIND_ENUM, 1 << 20 },
        { "answer.tracing", &answer.tracing, KIND_ENUM, _TRACING_MAX },
        { "answer.woken", &answer.woken, KIND_BOOL, 0 },
        { "answer.counted", &answer.counted, KIND_BOOL, 0 },
        { "answer.kind", &answer.wake.kind, KIND_ENUM, _WAKE_KIND_MAX },
        { "answer.comm", answer.wake.process.comm, KIND_TEXT, WAKE_COMM_MAX },
        { "answer.unit", answer.wake.process.unit, KIND_TEXT, WAKE_UNIT_MAX },
        { "answer.command_line", answer.wake.process.command_line, KIND_TEXT, WAKE_COMMAND_LINE_MAX },
        { "answer.thread", answer.wake.thread, KIND_TEXT, WAKE_COMM_MAX },
        { "answer.has_sector", &answer.wake.has_sector, KIND_BOOL, 0 },
        { "answer.content", &answer.wake.content, KIND_BOOL, 0 },
        { "answer.cdb_len", &answer.wake.cdb_len, KIND_ENUM, WAKE_CDB_MAX + 1 },
};

/* Fields in which any value is valid. */
static const Field tracer_numbers[] = {
        { .name = "request.host", .at = &watch_request.drive.host },
        { .name = "request.channel", .at = &watch_request.drive.channel },
        { .name = "request.id", .at = &watch_request.drive.id },
        { .name = "request.lun", .at = &watch_request.drive.lun },
        { .name = "request.above.minor", .at = &watch_request.drive.above[1].minor },
        { .name = "request.last above.minor", .at = &watch_request.drive.above[WATCH_ABOVE_MAX - 1].minor },
        { .name = "answer.pid", .at = &answer.wake.process.pid },
        { .name = "answer.sector", .at = &answer.wake.sector },
        { .name = "answer.inode", .at = &answer.wake.inode },
        { .name = "answer.cdb", .at = &answer.wake.cdb },
        { .name = "answer.last byte of cdb", .at = answer.wake.cdb + WAKE_CDB_MAX - 1 },
};

static int receive_wire(const WireField *fields, const uint8_t *bytes, size_t size) {
        union {
                TracerRequest request;
                TracerAnswer answer;
        } got = {};
        int fds[2], r;

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(send(fds[1], bytes, size, MSG_NOSIGNAL), (ssize_t) size);
        r = wire_receive(fds[0], fields, &got, MSG_DONTWAIT);
        (void) close(fds[0]);
        (void) close(fds[1]);
        return r;
}

/* Returns the offset of the first byte of this field in the tracer's message, which is stored in `bytes`. */
static size_t find_tracer_field(const Field *f, const WireField *fields, const void *object, uint8_t *bytes) {
        uint8_t other[WIRE_MESSAGE_MAX_BYTES], *byte = f->at;
        size_t size = wire_size(fields), at;

        *byte ^= 1;
        (void) wire_write(fields, object, other);
        *byte ^= 1;
        (void) wire_write(fields, object, bytes);
        at = first_difference(bytes, other, size);
        ck_assert_msg(at < size, "%s does not cross", f->name);
        return at;
}

START_TEST(test_tracer) {
        bool wrong = _i < (int) ELEMENTSOF(tracer_fields);
        const Field *f = wrong ? tracer_fields + _i : tracer_numbers + _i - ELEMENTSOF(tracer_fields);
        bool request = starts_with(f->name, "request");
        const WireField *fields = request ? tracer_request_fields : tracer_answer_fields;
        uint8_t bytes[WIRE_MESSAGE_MAX_BYTES];
        size_t size = wire_size(fields), at;

        at = find_tracer_field(f, fields, request ? (void *) &watch_request : &answer, bytes);
        ck_assert_int_eq(receive_wire(fields, bytes, size), 1);
        for (unsigned nth = 0; wrong && make_wrong(f, bytes + at, nth); nth++)
                ck_assert_msg(receive_wire(fields, bytes, size) == -EBADMSG, "%s, wrong value %u", f->name, nth);
        for (unsigned value = 0; !wrong && value <= UINT8_MAX; value++) {
                bytes[at] = (uint8_t) value;
                ck_assert_msg(receive_wire(fields, bytes, size) == 1, "%s, value %u", f->name, value);
        }
}
END_TEST

/* Messages that are cut at any byte, and longer messages, are rejected. */
START_TEST(test_tracer_size) {
        const WireField *fields = _i ? tracer_answer_fields : tracer_request_fields;
        uint8_t bytes[WIRE_MESSAGE_MAX_BYTES + 1] = {};
        size_t size = wire_size(fields);

        ck_assert_int_eq(receive_wire(fields, bytes, size), 1);
        for (size_t n = 1; n < size; n++)
                ck_assert_int_eq(receive_wire(fields, bytes, n), -EBADMSG);
        ck_assert_int_eq(receive_wire(fields, bytes, size + 1), -EBADMSG);
        ck_assert_int_eq(receive_wire(fields, bytes, sizeof bytes), -EBADMSG);
}
END_TEST

int main(void) {
        Suite *s = suite_create("validate");
        TCase *t = tcase_create("validate");

        tcase_add_loop_test(t, test_request, 0, ELEMENTSOF(request_fields));
        tcase_add_test(t, test_request_text);
        tcase_add_loop_test(t, test_request_value, 0, ELEMENTSOF(values));
        tcase_add_test(t, test_request_long_text);
        tcase_add_test(t, test_ended_unread);
        tcase_add_test(t, test_request_count);
        tcase_add_test(t, test_other_build);
        tcase_add_test(t, test_build_id);
        tcase_add_loop_test(t, test_order, 0, ELEMENTSOF(orders));
        tcase_add_test(t, test_other_build_is_logged);
        tcase_add_loop_test(t, test_no_visit, 0, 2);
        tcase_add_loop_test(t, test_message, 0, ELEMENTSOF(message_fields));
        tcase_add_loop_test(t, test_flags, 0, __builtin_ctz(_WORK_MAX));
        tcase_add_loop_test(t, test_message_size, 0, 6);
        tcase_add_loop_test(t, test_wrong_message, 0, ELEMENTSOF(wrong_messages));
        tcase_add_loop_test(t, test_tracer, 0, ELEMENTSOF(tracer_fields) + ELEMENTSOF(tracer_numbers));
        tcase_add_loop_test(t, test_tracer_size, 0, 2);
        suite_add_tcase(s, t);

        return suite_run(s);
}
