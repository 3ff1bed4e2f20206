/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The messages of a worker during a visit, its reaction to each order, and the rights that it drops before the visit. A script
 * of the test replaces the visit, a function that records its arguments replaces the sandbox, and the test plays the manager. */

#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "done-log.h"
#include "own-clock.h"
#include "sandbox.h"
#include "settings.h"
#include "suite.h"
#include "worker-message.h"

/* ---- replacements, in the worker's process ---- */

/* The actions of the scripted visit, one letter each. */
typedef enum Action {
        COMMAND = 'g',
        INTENDS = 'i',
        INTENDS_HARMLESS = 'h',
        WRITES = 'w',
        READS = 'r',
        ENDS = 'e',
        BRIDGED = 'b',
        REVEALED = 'B',
        WAITS_SHORTLY = 't', /* 4.999999 s pass, after which a command sends no message */
        WAITS_LONG = 'T',    /* 5 s pass, after which a command sends MESSAGE_ALIVE */
        FAILS = '!',
} Action;

static const char *actions;

/* What the worker's process did, shared with the test. */
static struct {
        char syspath[PATH_MAX], node[64], partitions[64];
        bool confined, visited;
} * shared;

static int sandbox_error;

int sandbox_worker(const char *node, char *const *partitions, const char *syspath) {
        (void) snprintf(shared->syspath, sizeof shared->syspath, "%s", syspath);
        (void) snprintf(shared->node, sizeof shared->node, "%s", node);
        for (; partitions && *partitions; partitions++)
                (void) strcat(strcat(shared->partitions, *partitions), " ");
        shared->confined = true;
        return sandbox_error;
}

/* Ends the step of the second wish. `error`: result of gate() or intend(); 0: the setting was applied. */
static void end_step(const Visit *v, int error, const char *reason) {
        Step s = { .wish = v->wishes->items + 1,
                   .setting = setting_find(v->settings, "apm"),
                   .end = end_to_verdict(error),
                   .error = end_to_verdict(error) == VERDICT_FAILED ? error : 0 };

        (void) snprintf(s.reason, sizeof s.reason, "%s", reason);
        v->ended(v->userdata, &s);
}

static void do_deed(const Visit *v, Action action) {
        static const DriveIdentity identity = { .serial = "S1" };
        const Step second = { .wish = v->wishes->items + 1 };
        const Bridge bridge = { .queried = true, .identified = action == REVEALED, .cdb = 12 };
        const char *why = "";
        int r = 0;

        switch (action) {
        case COMMAND:
                r = v->io->gate(v->io->userdata, v->drive, &why);
                if (r != 0)
                        end_step(v, r, why);
                break;
        case INTENDS:
        case INTENDS_HARMLESS:
                r = v->intend(v->userdata, action == INTENDS ? &second : NULL);
                end_step(v, r, "");
                break;
        case WRITES:
        case READS:
                v->writing(v->userdata, action == WRITES ? &second : NULL);
                break;
        case ENDS:
                end_step(v, 0, "done");
                break;
        case BRIDGED:
        case REVEALED:
                v->bridge_learned(v->userdata, &bridge, action == REVEALED ? &identity : NULL);
                break;
        case WAITS_SHORTLY:
        case WAITS_LONG:
                passed_usec += 5 * 1000 * 1000 - (action == WAITS_SHORTLY);
                break;
        case FAILS:
                break;
        }
}

int visit_run(const Visit *v, _unused_ Plan *ret) {
        shared->visited = true;
        for (const char *d = actions; *d; d++) {
                if (*d == FAILS)
                        return -ENOMEM;
                do_deed(v, (Action) *d);
        }
        return 0;
}

/* ---- the manager ---- */

static Drive drive = { .name = (char *) "sdzz",
                       .node = (char *) "/dev/sdzz",
                       .syspath = (char *) "/sys/devices/ata9/block/sdzz",
                       .transport = TRANSPORT_SATA,
                       .ata = true };
static Wish wish_items[] = {
        { .name = "read_only", .value = { .type = VALUE_BOOL }, .file = "f" },
        { .name = "apm", .value = { .type = VALUE_INT, .number = 127 }, .file = "f" },
};
static Wishes wishes = { .items = wish_items, .n_items = ELEMENTSOF(wish_items) };

static void send_request(int fd) {
        _cleanup_free_ void *request = NULL;
        size_t size;

        ck_assert_int_eq(visit_request_new(&(Visit){ .drive = &drive, .wishes = &wishes }, &request, &size), 0);
        ck_assert_int_eq(send(fd, request, size, MSG_NOSIGNAL), (ssize_t) size);
}

/* Sends orders, one letter each: G: go; U: unguarded; S: stop; ?: an unknown order; 1: an order that is too short; 0: the manager exits. */
static void send_orders(int fd, const char *letters) {
        for (; *letters; letters++)
                switch (*letters) {
                case 'G':
                        ck_assert_int_eq(worker_order(fd, ORDER_GO), 0);
                        break;
                case 'U':
                        ck_assert_int_eq(worker_order(fd, ORDER_UNGUARDED), 0);
                        break;
                case 'S':
                        ck_assert_int_eq(worker_order(fd, ORDER_STOP), 0);
                        break;
                case '?':
                        ck_assert_int_eq(worker_order(fd, _ORDER_MAX), 0);
                        break;
                case '1':
                        ck_assert_int_eq(send(fd, "", 1, MSG_NOSIGNAL), 1);
                        break;
                case '0':
                        ck_assert_int_eq(shutdown(fd, SHUT_RDWR), 0);
                        break;
                }
}

static void note_wish(const char *what, size_t wish) {
        if (wish == NO_WISH)
                note("%s", what);
        else
                note("%s%zu", what, wish);
}

static void note_step(const Step *s) {
        note("step:%s",
             s->error == 0 ? s->end == VERDICT_APPLIED ? "ok" : verdict_to_string(s->end) : strerror(-s->error));
        if (s->end == VERDICT_DEFERRED)
                ck_assert(starts_with(s->reason, "stopped: "));
}

/* Receives all messages until the worker closes its end of the socket. Sends all orders in `answers` after each announced write. */
static void receive_messages(int fd, const char *answers) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        WorkerMessage m;

        while (poll(&p, 1, -1) == 1 && worker_receive(fd, wishes.n_items, &m) > 0)
                switch (m.type) {
                case MESSAGE_ALIVE:
                        note("goes-on");
                        break;
                case MESSAGE_SENDS:
                        note_wish("sends", m.wish);
                        break;
                case MESSAGE_INTENDS:
                        note_wish("intends", m.wish);
                        send_orders(fd, answers);
                        break;
                case MESSAGE_STEP:
                        ck_assert_uint_eq(m.wish, 1);
                        note_step(&m.step);
                        break;
                case MESSAGE_POWER:
                        note("power:%s", m.power == POWER_ACTIVE ? "awake" : "asleep");
                        break;
                case MESSAGE_WEAR:
                        note("wear:%" PRIi64, m.wear.load_cycles.number);
                        break;
                case MESSAGE_BRIDGE:
                        ck_assert(m.bridge.queried && m.bridge.cdb == 12);
                        note("bridge:%s", m.identity.serial);
                        break;
                case MESSAGE_END:
                        note("end");
                        break;
                case _MESSAGE_MAX:
                        ck_abort();
                }
}

static void setup(void) {
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ck_assert_ptr_ne(shared, MAP_FAILED);
}

static void teardown(void) {
        ck_assert_int_eq(munmap(shared, sizeof *shared), 0);
}

/* ---- messages ---- */

static const struct {
        /* before: orders that are sent before the worker starts; answers: orders that are sent after each announced write. */
        const char *actions, *before, *answers;
        const char *said;
        bool fails;
} cases[] = {
        { "", "", "", "end " },
        /* The worker sends MESSAGE_ALIVE (goes-on) at its third command, and at no other command. */
        { "gg", "", "", "end " },
        { "ggg", "", "", "goes-on end " },
        { "ggggggggg", "", "", "goes-on end " },
        /* A command long after the last message makes the worker send MESSAGE_ALIVE. */
        { "Tg", "", "", "goes-on end " },
        { "T", "", "", "end " },
        { "tg", "", "", "end " },
        { "tgTgtgtg", "", "", "goes-on goes-on end " },
        { "gggtggTg", "", "", "goes-on goes-on end " },
        { "tetg", "", "", "step:ok end " },
        { "twgtg", "", "", "sends1 end " },
        { "tbtg", "", "", "bridge: end " },
        /* The written setting is reported only with the first command of the write. */
        { "g", "", "", "end " },
        { "w", "", "", "end " },
        { "wgg", "", "", "sends1 end " },
        { "wgrg", "", "", "sends1 sends end " },
        { "wrg", "", "", "end " },
        { "wgwrwg", "", "", "sends1 end " },
        /* Verdicts and the description of a bridge are reported. */
        { "ee", "", "", "step:ok step:ok end " },
        { "b", "", "", "bridge: end " },
        { "B", "", "", "bridge:S1 end " },
        /* After the worker has announced a write, the worker waits for an order. G: the manager has stored a note about the write;
         * U: the manager could not store the note. */
        { "ig", "", "G", "intends1 step:ok end " },
        { "hg", "", "G", "intends step:ok end " },
        { "ig", "", "U", "intends1 step:Input/output error end " },
        { "ihg", "", "G", "intends1 step:ok intends step:ok end " },
        { "iwgg", "", "G", "intends1 step:ok sends1 end " },
        /* After the order to stop (S), the worker sends no commands and announces no writes, but waits for the answer to an announced
         * write. */
        { "g", "S", "", "step:deferred end " },
        { "ggwg", "S", "", "step:deferred step:deferred step:deferred end " },
        { "gig", "S", "", "step:deferred step:ok step:deferred end " },
        { "gi", "SS", "", "step:deferred step:ok end " },
        { "gTge", "S", "", "step:deferred step:deferred step:ok end " },
        { "ig", "", "SG", "intends1 step:ok step:deferred end " },
        { "ig", "GS", "", "intends1 step:ok step:deferred end " },
        { "ii", "", "SSG", "intends1 step:ok step:ok end " },
        { "ig", "", "SU", "intends1 step:Input/output error step:deferred end " },
        /* Orders that a manager never sends make the worker exit. */
        { "g", "G", "", "", true },
        { "g", "U", "", "", true },
        { "g", "?", "", "", true },
        { "g", "1", "", "", true },
        { "i", "", "?", "intends1 ", true },
        { "i", "", "1", "intends1 ", true },
        { "i", "", "S1", "intends1 ", true },
        { "ig", "GG", "", "intends1 step:ok ", true },
        /* If the manager has exited, the worker exits. */
        { "i", "", "0", "intends1 ", true },
        { "i", "", "S0", "intends1 ", true },
        { "g", "0", "", "", true },
        { "e", "0", "", "", true },
        { "b", "0", "", "", true },
        /* If the visit fails, the worker exits without its last message. */
        { "e!", "", "", "step:ok ", true },
};

START_TEST(test_messages) {
        int fds[2], status;
        pid_t pid;

        actions = cases[_i].actions;
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        send_request(fds[0]);
        send_orders(fds[0], cases[_i].before);
        pid = fork();
        if (pid == 0) {
                (void) close(fds[0]);
                worker_main(fds[1]);
        }
        (void) close(fds[1]);
        receive_messages(fds[0], cases[_i].answers);
        ck_assert_str_eq(all_done(), cases[_i].said);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), cases[_i].fails ? EXIT_FAILURE : EXIT_SUCCESS);
        (void) close(fds[0]);
}
END_TEST

/* ---- dropped rights ---- */

#define IS_SKIPPED 77

static char tree[] = "/tmp/test-worker-child-XXXXXX";

static void shell(const char *command) {
        char line[512];

        (void) snprintf(line, sizeof line, "cd %s && %s", tree, command);
        ck_assert_int_eq(system(line), 0);
}

/* Creates /sys and /dev of a machine with one drive, visible only to the worker. */
static void enter_machine(void) {
        char path[64];

        if ((unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) ||
            mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                _exit(IS_SKIPPED);
        (void) snprintf(path, sizeof path, "%s/sys", tree);
        if (mount(path, "/sys", NULL, MS_BIND, NULL) < 0)
                _exit(IS_SKIPPED);
        (void) snprintf(path, sizeof path, "%s/dev", tree);
        if (mount(path, "/dev", NULL, MS_BIND, NULL) < 0)
                _exit(IS_SKIPPED);
}

#define DISK "/sys/devices/ata9/block/sdzz"
#define LINK_TO(path) "ln -s " path " sys/class/block/sdzz"

static const struct {
        const char *make;
        bool read_only; /* true if the visit writes read_only */
        int error;      /* error of the simulated sandbox */
        const char *syspath, *partitions;
        bool fails, unconfined;
} places[] = {
        { LINK_TO("../../devices/ata9/block/sdzz"), false, 0, DISK, "", false, false },
        /* A visit that writes read_only also writes the flags of the partitions, so the sandbox permits the partitions. */
        { LINK_TO("../../devices/ata9/block/sdzz"), true, 0, DISK, "sdzz1 sdzz2 ", false, false },
        /* The drive is gone, another drive has its name, or the path is not a drive: the sandbox permits no sysfs directory. */
        { "true", false, 0, "", "", false, false },
        { LINK_TO("../../devices/ata8/block/sdzz"), false, 0, "", "", false, false },
        { LINK_TO("../../devices/ata9/block"), false, 0, "", "", false, false },
        { LINK_TO("../../devices/ata9/block/sdzz/sdzz1"), false, 0, "", "", false, false },
        { LINK_TO("sdzz"), false, 0, "", "", false, false },
        { "mkdir sys/class/block/sdzz", false, 0, "", "", false, false },
        /* If the sandbox fails, the worker exits. */
        { LINK_TO("../../devices/ata9/block/sdzz"), false, -EPERM, DISK, "", true, false },
        { LINK_TO("../../devices/ata9/block/sdzz") " && touch dev/sdzz", false, 0, "", "", true, true },
        { LINK_TO("../../devices/ata9/block/sdzz") " && mkdir dev/sdzz", false, 0, "", "", true, true },
};

START_TEST(test_confined) {
        int fds[2], status;
        pid_t pid;

        actions = "e";
        (void) strcpy(tree, "/tmp/test-worker-child-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(tree));
        shell("mkdir -p sys/devices/ata8/block/sdzz sys/devices/ata9/block/sdzz/sdzz1 sys/devices/ata9/block/sdzz/sdzz2 "
              "sys/devices/ata9/block/sdzz/queue1 sys/class/block dev");
        shell("cd sys/devices/ata9/block/sdzz && touch sdzz1/partition sdzz2/partition");
        shell(places[_i].make);
        sandbox_error = places[_i].error;
        if (!places[_i].read_only) {
                wishes.items++;
                wishes.n_items--;
        }

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        actions = "";
        send_request(fds[0]);
        pid = fork();
        if (pid == 0) {
                (void) close(fds[0]);
                enter_machine();
                worker_main(fds[1]);
        }
        (void) close(fds[1]);
        receive_messages(fds[0], "");
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        shell("rm -r sys dev");
        ck_assert_int_eq(rmdir(tree), 0);
        (void) close(fds[0]);

        ck_assert(WIFEXITED(status));
        if (WEXITSTATUS(status) == IS_SKIPPED) {
                printf("skipped: a worker with a /sys of its own, which may not be made here\n");
                return;
        }
        ck_assert_int_eq(WEXITSTATUS(status), places[_i].fails ? EXIT_FAILURE : EXIT_SUCCESS);
        ck_assert_str_eq(all_done(), places[_i].fails ? "" : "end ");
        ck_assert(shared->visited == !places[_i].fails);
        ck_assert(shared->confined == !places[_i].unconfined);
        ck_assert_str_eq(shared->syspath, places[_i].syspath);
        ck_assert_uint_eq(strlen(shared->partitions), strlen(places[_i].partitions));
        if (places[_i].partitions[0]) /* the order of partitions is not defined */
                ck_assert(strstr(shared->partitions, "sdzz1 ") && strstr(shared->partitions, "sdzz2 "));
        if (shared->confined)
                ck_assert_str_eq(shared->node, "/dev/sdzz");
}
END_TEST

/* Without a manager (_i = 0), or without a socket, the worker exits before it confines itself. */
START_TEST(test_no_request) {
        int fds[2], status;
        pid_t pid;

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        pid = fork();
        if (pid == 0) {
                (void) close(fds[0]);
                worker_main(_i == 0 ? fds[1] : -EBADF);
        }
        (void) close(fds[1]);
        (void) close(fds[0]);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE);
        ck_assert(!shared->confined && !shared->visited);
}
END_TEST

int main(void) {
        Suite *s = suite_create("worker-child");
        TCase *t = tcase_create("worker-child");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_messages, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_confined, 0, ELEMENTSOF(places));
        tcase_add_loop_test(t, test_no_request, 0, 2);
        suite_add_tcase(s, t);

        return suite_run(s);
}
