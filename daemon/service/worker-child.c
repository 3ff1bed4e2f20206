/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>

#include "build.h"
#include "inventory.h"
#include "journal.h"
#include "sandbox.h"
#include "settings.h"
#include "stack.h"
#include "visit-request.h"
#include "worker.h"

/* The child's half. */
typedef struct Child {
        int fd;
        const Wishes *wishes;
        size_t writing;      /* index of the wish, or WORKER_READS */
        WorkerAnswer answer; /* the last one; anything but WORKER_GO holds for the rest of the visit */
} Child;

static void child_send(Child *c, const WorkerMessage *m) {
        /* Without a manager there is nobody to work for. */
        if (send(c->fd, m, sizeof *m, MSG_NOSIGNAL) != (ssize_t) sizeof *m)
                _exit(EXIT_FAILURE);
}

/* Sends a question, and returns the answer: one that there is to this question. */
static WorkerAnswer child_ask(Child *c, const WorkerMessage *question) {
        WorkerAnswer answer;

        child_send(c, question);
        /* With MSG_TRUNC it is told how long the answer was. */
        if (recv(c->fd, &answer, sizeof answer, MSG_TRUNC) != (ssize_t) sizeof answer ||
            (answer != WORKER_GO &&
             (question->type == WORKER_INTENDS ? answer != WORKER_UNGUARDED
                                               : answer != WORKER_DEFER && answer != WORKER_STOP)))
                _exit(EXIT_FAILURE);
        return answer;
}

static int child_gate(void *userdata, const Drive *drive _unused_, const char **ret_why) {
        static const char *const why[_WORKER_ANSWER_MAX] = {
                [WORKER_DEFER] = "not now: it waits for leave to go on",
                [WORKER_STOP] = "not now: the machine goes to sleep, or the service stops",
        };
        Child *c = userdata;

        if (c->answer == WORKER_GO)
                c->answer = child_ask(c, &(WorkerMessage){ .type = WORKER_ASKS, .wish = c->writing });

        if (c->answer == WORKER_GO)
                return 0;

        *ret_why = why[c->answer];
        return STEP_DEFERRED;
}

static int child_intend(void *userdata, const Step *const *steps, size_t n) {
        WorkerMessage m = { .type = WORKER_INTENDS };
        Child *c = userdata;

        /* A visit that was told to end writes nothing any more. */
        if (c->answer != WORKER_GO)
                return 0;

        for (size_t i = 0; i < n; i++) {
                size_t wish = steps[i]->wish - c->wishes->items;

                if (wish >= RECORD_MAX_SETTINGS)
                        return -E2BIG;
                m.wishes[wish / 8] |= 1U << wish % 8;
        }

        return child_ask(c, &m) == WORKER_GO ? 0 : -EIO;
}

static void child_writing(void *userdata, const Step *s) {
        Child *c = userdata;

        c->writing = s ? (size_t) (s->wish - c->wishes->items) : WORKER_READS;
}

static void child_ended(void *userdata, const Step *s) {
        Child *c = userdata;
        WorkerMessage m = {
                .type = WORKER_STEP,
                .wish = s->wish - c->wishes->items,
                .written = s->written,
                .failed = s->failed,
                .lost = s->lost,
                .error = s->error,
                .before = s->before,
                .after = s->after,
                .verdict = s->verdict,
        };

        memcpy(m.reason, s->reason, sizeof m.reason);
        child_send(c, &m);
}

static void child_bridged(void *userdata, const Bridge *bridge, const DriveIdentity *identity) {
        WorkerMessage m = { .type = WORKER_BRIDGE, .bridge = *bridge, .identified = identity };

        if (identity)
                m.identity = *identity;
        child_send(userdata, &m);
}

static bool wants_read_only(const Visit *v) {
        for (size_t i = 0; i < v->wishes->n_items; i++)
                if (streq(v->wishes->items[i].name, "read_only"))
                        return true;

        return false;
}

/* What it may open: the drive; and its partitions, which have a read-only flag each. */
static int child_nodes(const Visit *v, char ***ret) {
        _cleanup_(names_freep) char **nodes = NULL, **partitions = NULL;
        struct stat st;
        size_t n = 0;
        int r;

        if (stat(v->drive->node, &st) >= 0 && !S_ISBLK(st.st_mode))
                return -ENOTBLK;

        r = wants_read_only(v) ? stack_partitions("/sys/class/block", v->drive->name, &partitions) : 0;
        if (r < 0)
                return r;
        while (partitions && partitions[n])
                n++;

        nodes = calloc(n + 2, sizeof *nodes);
        if (!nodes)
                return -ENOMEM;
        nodes[0] = strdup(v->drive->node);
        r = nodes[0] ? 0 : -ENOMEM;
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = device_node(partitions[i], nodes + i + 1);
        if (r >= 0)
                *ret = TAKE_PTR(nodes);
        return r;
}

/* Is the drive there, and there? */
static bool is_in_place(const Drive *d) {
        _cleanup_free_ char *link = NULL, *real = NULL;

        if (asprintf(&link, INVENTORY_CLASSDIR "/%s", d->name) < 0) {
                link = NULL;
                return false;
        }
        real = realpath(link, NULL);
        return real && streq(real, d->syspath);
}

static int child_confine(const Visit *v, const Sandbox *sandbox) {
        _cleanup_(names_freep) char **nodes = NULL;
        _cleanup_free_ char *own = NULL;
        int r;

        /* Where it is not, the path may be anybody's, and nothing below it is to be written. */
        own = strndup(v->drive->syspath, is_in_place(v->drive) ? sandbox_own(v->drive->syspath) : 0);
        if (!own)
                return -ENOMEM;
        r = child_nodes(v, &nodes);
        return r < 0 ? r : sandbox_worker(sandbox, nodes, own);
}

static int child_read_request(int fd, RequestedVisit *ret) {
        _cleanup_free_ void *request = NULL;
        ssize_t n;

        request = malloc(VISIT_REQUEST_MAX_BYTES);
        if (!request)
                return -ENOMEM;

        n = recv(fd, request, VISIT_REQUEST_MAX_BYTES, MSG_TRUNC);
        if (n < 0)
                return -errno;
        if (n > VISIT_REQUEST_MAX_BYTES)
                return -EBADMSG;
        return visit_request_parse(request, n, &all_settings, ret);
}

void worker_main(int fd, const void *sandbox) {
        Child c = { .fd = fd, .writing = WORKER_READS };
        DeviceIO io = device_io_real;
        RequestedVisit requested;
        Visit v;
        Plan p;
        int r;

        r = child_read_request(fd, &requested);
        if (r == -EPROTONOSUPPORT)
                journal_log(LOG_ERR,
                            "drivekeep.service runs another build of the program than this one, %s, so its drive is not visited; 'systemctl restart drivekeep' starts both anew.",
                            build_identity());
        if (r < 0)
                _exit(EXIT_FAILURE);
        v = requested.visit;
        c.wishes = v.wishes;
        if (child_confine(&v, sandbox) < 0)
                _exit(EXIT_FAILURE);

        io.gate = child_gate;
        io.userdata = &c;
        v.io = &io;
        v.ended = child_ended;
        v.bridged = child_bridged;
        v.intend = child_intend;
        v.writing = child_writing;
        v.userdata = &c;

        if (visit_run(&v, &p) < 0)
                _exit(EXIT_FAILURE);

        child_send(&c, &(WorkerMessage){ .type = WORKER_END });
        /* Not exit(): the parent's buffers and handlers are not ours to run. */
        _exit(EXIT_SUCCESS);
}
