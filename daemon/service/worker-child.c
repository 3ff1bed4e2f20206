/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <limits.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>

#include "clock.h"
#include "inventory.h"
#include "journal.h"
#include "sandbox.h"
#include "settings.h"
#include "stack.h"
#include "worker-message.h"

/* If the worker has sent no message for this time, it sends MESSAGE_ALIVE before its next command. The manager treats a
 * silent worker as stuck, even if only the drive is slow. */
#define ALIVE_USEC (5ULL * 1000 * 1000)
/* From this command on, a unit attention reports a reset during the visit. If a drive was reset before the visit, it
 * reports that reset at the first command, so before the third command. */
#define SETTLED_COMMANDS 3U

typedef struct Child {
        int fd;
        const Wishes *wishes;
        size_t writing, reported; /* `writing`: index of the wish that is written now. `reported`: index in the last
                                   * MESSAGE_SENDS. Either may be NO_WISH. */
        unsigned n_commands;
        uint64_t sent_usec;
        bool stopped;
} Child;

static void child_send(Child *c, const WorkerMessage *m) {
        uint8_t message[WORKER_MESSAGE_MAX_BYTES];
        size_t size = worker_message_write(m, message);

        /* If the message cannot be sent, the manager has disconnected. */
        if (send(c->fd, message, size, MSG_NOSIGNAL) != (ssize_t) size)
                _exit(EXIT_FAILURE);
        c->sent_usec = monotonic_usec();
}

/* Receives an order. Returns false if MSG_DONTWAIT is set and no order is waiting. */
static bool child_receive(Child *c, int flags, WorkerOrder *ret) {
        int r = wire_receive(c->fd, worker_order_fields, ret, flags);

        if (r == -EAGAIN && flags & MSG_DONTWAIT)
                return false;
        if (r <= 0)
                _exit(EXIT_FAILURE);
        c->stopped = c->stopped || *ret == ORDER_STOP;
        return true;
}

static int child_gate(void *userdata, const Drive *drive _unused_, const char **ret_why) {
        Child *c = userdata;
        WorkerOrder order;

        if (!c->stopped && child_receive(c, MSG_DONTWAIT, &order) && order != ORDER_STOP)
                _exit(EXIT_FAILURE);
        if (c->stopped) {
                *ret_why = "stopped: the machine suspends, or the service stops";
                return END_DEFERRED;
        }

        if (c->writing != c->reported) {
                c->reported = c->writing;
                child_send(c, &(WorkerMessage){ .type = MESSAGE_SENDS, .wish = c->writing });
        }
        if (++c->n_commands == SETTLED_COMMANDS || monotonic_usec() - c->sent_usec >= ALIVE_USEC)
                child_send(c, &(WorkerMessage){ .type = MESSAGE_ALIVE });
        return 0;
}

static size_t child_wish(const Child *c, const Step *s) {
        return s ? (size_t) (s->wish - c->wishes->items) : NO_WISH;
}

static int child_intend(void *userdata, const Step *s) {
        Child *c = userdata;
        WorkerOrder order;

        /* After the order to stop, the worker writes nothing. */
        if (c->stopped)
                return 0;

        child_send(c, &(WorkerMessage){ .type = MESSAGE_INTENDS, .wish = child_wish(c, s) });
        do
                (void) child_receive(c, 0, &order);
        while (order == ORDER_STOP);
        return order == ORDER_GO ? 0 : -EIO;
}

static void child_writing(void *userdata, const Step *s) {
        Child *c = userdata;

        c->writing = child_wish(c, s);
}

static void child_ended(void *userdata, const Step *s) {
        Child *c = userdata;

        child_send(c, &(WorkerMessage){ .type = MESSAGE_STEP, .wish = child_wish(c, s), .step = *s });
}

static void child_power(void *userdata, PowerMode power) {
        child_send(userdata, &(WorkerMessage){ .type = MESSAGE_POWER, .power = power });
}

static void child_wear(void *userdata, const Wear *w) {
        child_send(userdata, &(WorkerMessage){ .type = MESSAGE_WEAR, .wear = *w });
}

static void child_bridge_learned(void *userdata, const Bridge *bridge, const DriveIdentity *identity) {
        WorkerMessage m = { .type = MESSAGE_BRIDGE, .bridge = *bridge };

        if (identity)
                m.identity = *identity;
        child_send(userdata, &m);
}

/* Returns true if `syspath` is the drive's real path, to which the kernel's link in /sys/class/block points. */
static bool is_in_place(const Drive *d) {
        char link[PATH_MAX], target[PATH_MAX] = "";

        (void) snprintf(link, sizeof link, INVENTORY_CLASSDIR "/%s", d->name);
        return readlink(link, target, sizeof target - 1) >= 0 && starts_with(target, "../../devices/") &&
               streq(target + strlen("../.."), d->syspath + strlen("/sys"));
}

static int child_confine(const Visit *v) {
        _cleanup_(names_freep) char **partitions = NULL;
        struct stat st;
        int r;

        if (stat(v->drive->node, &st) >= 0 && !S_ISBLK(st.st_mode))
                return -ENOTBLK;

        /* Each partition has its own read-only flag, so the setting read_only needs access to the nodes of all partitions. */
        r = wishes_find(v->wishes, "read_only") ? stack_partitions(INVENTORY_CLASSDIR, v->drive->name, &partitions) : 0;
        /* If the drive's syspath is not its real path, the worker gets no write access to sysfs. */
        return r < 0 ? r : sandbox_worker(v->drive->node, partitions, is_in_place(v->drive) ? v->drive->syspath : "");
}

_Noreturn void worker_main(int fd) {
        static char request[VISIT_REQUEST_MAX_BYTES];
        static VisitRequest q;
        Child c = { .fd = fd, .writing = NO_WISH, .reported = NO_WISH, .sent_usec = monotonic_usec() };
        DeviceIO io = device_io_real;
        char name[32];
        ssize_t n;
        Visit *v = &q.visit;
        Plan p;
        int r;

        /* With MSG_TRUNC recv() returns the full size of the datagram, so that a longer datagram is detected. */
        n = recv(fd, request, sizeof request, MSG_TRUNC);
        if (n < 0 || n > (ssize_t) sizeof request)
                _exit(EXIT_FAILURE);
        r = visit_request_parse(request, n, &all_settings, &q);
        if (r == -EPROTONOSUPPORT)
                journal_log(LOG_ERR,
                            "drivekeep.service and this worker (%s) are different builds, so the drive is not visited; "
                            "run 'systemctl restart drivekeep'.",
                            build_identity());
        if (r < 0)
                _exit(EXIT_FAILURE);
        c.wishes = v->wishes;
        (void) snprintf(name, sizeof name, "keep-%s", v->drive->name);
        (void) prctl(PR_SET_NAME, name);
        if (child_confine(v) < 0)
                _exit(EXIT_FAILURE);

        io.gate = child_gate;
        io.userdata = &c;
        v->io = &io;
        v->ended = child_ended;
        v->bridge_learned = child_bridge_learned;
        v->power = child_power;
        v->wear = child_wear;
        v->intend = child_intend;
        v->writing = child_writing;
        v->userdata = &c;

        if (visit_run(v, &p) < 0)
                _exit(EXIT_FAILURE);

        child_send(&c, &(WorkerMessage){ .type = MESSAGE_END });
        /* exit() would flush stdio buffers and run exit handlers, which this process has inherited from the broker. */
        _exit(EXIT_SUCCESS);
}
