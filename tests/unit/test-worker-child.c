/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a worker says in its visit and what it makes of each order; and what it gives up before. The visit is a script of this test's,
 * the sandbox notes what it is told, and the manager is this test, at its end of the socket. */

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

/* ---- stand-ins, in the worker's process ---- */

/* A letter for each deed of the visit. */
typedef enum Deed {
        COMMAND = 'g',
        INTENDS = 'i',
        INTENDS_HARMLESS = 'h',
        WRITES = 'w',
        READS = 'r',
        ENDS = 'e',
        BRIDGED = 'b',
        REVEALED = 'B',
        WAITS_SHORTLY = 't', /* almost as long as the manager may hear nothing */
        WAITS_LONG = 'T',    /* just as long */
        FAILS = '!',
} Deed;

static const char *deeds;

/* What the test is to know of the worker's process. */
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

/* Tells it of the second wish. What an order has led to is its error. */
static void end_step(const Visit *v, int error, const char *reason) {
        Step s = { .wish = v->wishes->items + 1,
                   .setting = setting_find(v->settings, "apm"),
                   .end = end_to_verdict(error),
                   .error = end_to_verdict(error) == VERDICT_FAILED ? error : 0 };

        (void) snprintf(s.reason, sizeof s.reason, "%s", reason);
        v->ended(v->userdata, &s);
}

static void do_deed(const Visit *v, Deed deed) {
        static const DriveIdentity identity = { .serial = "S1" };
        const Step second = { .wish = v->wishes->items + 1 };
        const Bridge bridge = { .asked = true, .identified = deed == REVEALED, .cdb = 12 };
        const char *why = "";
        int r = 0;

        switch (deed) {
        case COMMAND:
                r = v->io->gate(v->io->userdata, v->drive, &why);
                if (r != 0)
                        end_step(v, r, why);
                break;
        case INTENDS:
        case INTENDS_HARMLESS:
                r = v->intend(v->userdata, deed == INTENDS ? &second : NULL);
                end_step(v, r, "");
                break;
        case WRITES:
        case READS:
                v->writing(v->userdata, deed == WRITES ? &second : NULL);
                break;
        case ENDS:
                end_step(v, 0, "done");
                break;
        case BRIDGED:
        case REVEALED:
                v->bridged(v->userdata, &bridge, deed == REVEALED ? &identity : NULL);
                break;
        case WAITS_SHORTLY:
        case WAITS_LONG:
                passed_usec += 5 * 1000 * 1000 - (deed == WAITS_SHORTLY);
                break;
        case FAILS:
                break;
        }
}

int visit_run(const Visit *v, _unused_ Plan *ret) {
        shared->visited = true;
        for (const char *d = deeds; *d; d++) {
                if (*d == FAILS)
                        return -ENOMEM;
                do_deed(v, (Deed) *d);
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

static void ask(int fd) {
        _cleanup_free_ void *request = NULL;
        size_t size;

        ck_assert_int_eq(visit_request_new(&(Visit){ .drive = &drive, .wishes = &wishes }, &request, &size), 0);
        ck_assert_int_eq(send(fd, request, size, MSG_NOSIGNAL), (ssize_t) size);
}

/* A letter for each order: go, unguarded, stop; one that there is not, one that is too short, and the end of the manager. */
static void give(int fd, const char *letters) {
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

/* All that it says until its end of the socket is closed; at each question, these orders are given. */
static void hear(int fd, const char *answers) {
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
                        give(fd, answers);
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
                        ck_assert(m.bridge.asked && m.bridge.cdb == 12);
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

/* ---- what is said ---- */

static const struct {
        const char *deeds, *before, *answers; /* before: what it is told before it begins */
        const char *said;
        bool fails;
} cases[] = {
        { "", "", "", "end " },
        /* Its third command, and no other. */
        { "gg", "", "", "end " },
        { "ggg", "", "", "goes-on end " },
        { "ggggggggg", "", "", "goes-on end " },
        /* Nothing was said for a while, and now there is a command. */
        { "Tg", "", "", "goes-on end " },
        { "T", "", "", "end " },
        { "tg", "", "", "end " },
        { "tgTgtgtg", "", "", "goes-on goes-on end " },
        { "gggtggTg", "", "", "goes-on goes-on end " },
        { "tetg", "", "", "step:ok end " },
        { "twgtg", "", "", "sends1 end " },
        { "tbtg", "", "", "bridge: end " },
        /* What is sent is told with the first command, and no more. */
        { "g", "", "", "end " },
        { "w", "", "", "end " },
        { "wgg", "", "", "sends1 end " },
        { "wgrg", "", "", "sends1 sends end " },
        { "wrg", "", "", "end " },
        { "wgwrwg", "", "", "sends1 end " },
        /* Verdicts, and what is known of a bridge. */
        { "ee", "", "", "step:ok step:ok end " },
        { "b", "", "", "bridge: end " },
        { "B", "", "", "bridge:S1 end " },
        /* Before it writes it waits for the note of that, or that there is none. */
        { "ig", "", "G", "intends1 step:ok end " },
        { "hg", "", "G", "intends step:ok end " },
        { "ig", "", "U", "intends1 step:Input/output error end " },
        { "ihg", "", "G", "intends1 step:ok intends step:ok end " },
        { "iwgg", "", "G", "intends1 step:ok sends1 end " },
        /* Told to stop, it sends nothing any more, and asks nothing; but it waits for the answer that it has asked for. */
        { "g", "S", "", "step:deferred end " },
        { "ggwg", "S", "", "step:deferred step:deferred step:deferred end " },
        { "gig", "S", "", "step:deferred step:ok step:deferred end " },
        { "gi", "SS", "", "step:deferred step:ok end " },
        { "gTge", "S", "", "step:deferred step:deferred step:ok end " },
        { "ig", "", "SG", "intends1 step:ok step:deferred end " },
        { "ig", "GS", "", "intends1 step:ok step:deferred end " },
        { "ii", "", "SSG", "intends1 step:ok step:ok end " },
        { "ig", "", "SU", "intends1 step:Input/output error step:deferred end " },
        /* What no manager says. */
        { "g", "G", "", "", true },
        { "g", "U", "", "", true },
        { "g", "?", "", "", true },
        { "g", "1", "", "", true },
        { "i", "", "?", "intends1 ", true },
        { "i", "", "1", "intends1 ", true },
        { "i", "", "S1", "intends1 ", true },
        { "ig", "GG", "", "intends1 step:ok ", true },
        /* Without a manager there is nothing to do. */
        { "i", "", "0", "intends1 ", true },
        { "i", "", "S0", "intends1 ", true },
        { "g", "0", "", "", true },
        { "e", "0", "", "", true },
        { "b", "0", "", "", true },
        /* It cannot do its work: then it has not told all. */
        { "e!", "", "", "step:ok ", true },
};

START_TEST(test_says) {
        int fds[2], status;
        pid_t pid;

        deeds = cases[_i].deeds;
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        ask(fds[0]);
        give(fds[0], cases[_i].before);
        pid = fork();
        if (pid == 0) {
                (void) close(fds[0]);
                worker_main(fds[1]);
        }
        (void) close(fds[1]);
        hear(fds[0], cases[_i].answers);
        ck_assert_str_eq(all_done(), cases[_i].said);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), cases[_i].fails ? EXIT_FAILURE : EXIT_SUCCESS);
        (void) close(fds[0]);
}
END_TEST

/* ---- what is given up ---- */

#define IS_SKIPPED 77

static char tree[] = "/tmp/test-worker-child-XXXXXX";

static void shell(const char *command) {
        char line[512];

        (void) snprintf(line, sizeof line, "cd %s && %s", tree, command);
        ck_assert_int_eq(system(line), 0);
}

/* A machine with one drive, for the worker alone: its own /sys and /dev. */
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
        bool read_only; /* is wanted of it */
        int error;      /* of the sandbox */
        const char *syspath, *partitions;
        bool fails, unconfined;
} places[] = {
        { LINK_TO("../../devices/ata9/block/sdzz"), false, 0, DISK, "", false, false },
        /* The flag of each partition is written, too. */
        { LINK_TO("../../devices/ata9/block/sdzz"), true, 0, DISK, "sdzz1 sdzz2 ", false, false },
        /* The drive is gone, or another one has its name, or what has it is no drive. */
        { "true", false, 0, "", "", false, false },
        { LINK_TO("../../devices/ata8/block/sdzz"), false, 0, "", "", false, false },
        { LINK_TO("../../devices/ata9/block"), false, 0, "", "", false, false },
        { LINK_TO("../../devices/ata9/block/sdzz/sdzz1"), false, 0, "", "", false, false },
        { LINK_TO("sdzz"), false, 0, "", "", false, false },
        { "mkdir sys/class/block/sdzz", false, 0, "", "", false, false },
        /* Without its sandbox it does nothing. */
        { LINK_TO("../../devices/ata9/block/sdzz"), false, -EPERM, DISK, "", true, false },
        { LINK_TO("../../devices/ata9/block/sdzz") " && touch dev/sdzz", false, 0, "", "", true, true },
        { LINK_TO("../../devices/ata9/block/sdzz") " && mkdir dev/sdzz", false, 0, "", "", true, true },
};

START_TEST(test_confined) {
        int fds[2], status;
        pid_t pid;

        deeds = "e";
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
        deeds = "";
        ask(fds[0]);
        pid = fork();
        if (pid == 0) {
                (void) close(fds[0]);
                enter_machine();
                worker_main(fds[1]);
        }
        (void) close(fds[1]);
        hear(fds[0], "");
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
        if (places[_i].partitions[0]) /* in whichever order */
                ck_assert(strstr(shared->partitions, "sdzz1 ") && strstr(shared->partitions, "sdzz2 "));
        if (shared->confined)
                ck_assert_str_eq(shared->node, "/dev/sdzz");
}
END_TEST

/* No manager, or one that asks for nothing. */
START_TEST(test_unasked) {
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
        tcase_add_loop_test(t, test_says, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_confined, 0, ELEMENTSOF(places));
        tcase_add_loop_test(t, test_unasked, 0, 2);
        suite_add_tcase(s, t);

        return suite_run(s);
}
