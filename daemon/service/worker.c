/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <sys/socket.h>

#include "validate.h"
#include "visit-request.h"
#include "worker.h"

int worker_start(Broker *broker, const Visit *visit) {
        _cleanup_close_ int ours = -EBADF, theirs = -EBADF;
        _cleanup_free_ void *request = NULL;
        int fds[2], r;
        size_t size;

        r = visit_request_new(visit, &request, &size);
        if (r < 0)
                return r;

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
                return -errno;
        ours = fds[0];
        theirs = fds[1];

        /* It waits there until the worker asks for it: a request that cannot be sent needs no worker. */
        if (send(ours, request, size, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t) size)
                return -errno;
        r = broker_fork(broker, BROKER_WORKER, theirs);
        return r < 0 ? r : TAKE_FD(ours);
}

WorkerState worker_state_after(WorkerState s, WorkerMessageType said) {
        static const WorkerState table[_WORKER_STATE_MAX][_WORKER_MESSAGE_MAX] = {
                [WORKER_VISITS] = {
                        [WORKER_GOES_ON] = WORKER_VISITS,
                        [WORKER_SENDS] = WORKER_VISITS,
                        [WORKER_INTENDS] = WORKER_WAITS,
                        [WORKER_STEP] = WORKER_VISITS,
                        [WORKER_POWER] = WORKER_VISITS,
                        [WORKER_WEAR] = WORKER_VISITS,
                        [WORKER_BRIDGE] = WORKER_BRIDGED,
                        [WORKER_END] = WORKER_ENDED,
                },
                [WORKER_BRIDGED] = { [WORKER_END] = WORKER_ENDED },
        };

        return table[s][said];
}

static bool step_is_valid(const Step *s) {
        return !s->wish && !s->setting && !s->remedy && bools_are_valid(&s->remembered, &s->failed) &&
               value_is_valid(&s->wanted) && reading_is_valid(&s->before) && reading_is_valid(&s->after) &&
               s->error <= 0 && s->verdict >= 0 && s->verdict < _VERDICT_MAX && text_ends(s->note, sizeof s->note) &&
               text_ends(s->reason, sizeof s->reason);
}

static bool message_is_valid(const WorkerMessage *m, size_t n_wishes) {
        switch (m->type) {
        case WORKER_GOES_ON:
        case WORKER_END:
                return true;
        case WORKER_SENDS:
        case WORKER_INTENDS:
                return m->wish < n_wishes || m->wish == WORKER_READS;
        case WORKER_STEP:
                return m->wish < n_wishes && step_is_valid(&m->step);
        case WORKER_POWER:
                return m->power == POWER_AWAKE || m->power == POWER_STANDBY || m->power == POWER_SUSPENDED ||
                       m->power == POWER_ASLEEP;
        case WORKER_WEAR:
                return wear_is_valid(&m->wear);
        case WORKER_BRIDGE:
                return bridge_is_valid(&m->bridge) && identity_is_valid(&m->identity) &&
                       (!m->identity.serial[0] || (m->bridge.asked && m->bridge.identified));
        case _WORKER_MESSAGE_MAX:
                break;
        }
        return false;
}

int worker_receive(int fd, size_t n_wishes, WorkerMessage *ret) {
        WorkerMessage m;
        ssize_t n;

        /* With MSG_TRUNC it is told how long the message was. */
        n = recv(fd, &m, sizeof m, MSG_DONTWAIT | MSG_TRUNC);
        /* It has ended without reading an order; what it said before that is still to come. */
        if (n < 0 && errno == ECONNRESET)
                n = recv(fd, &m, sizeof m, MSG_DONTWAIT | MSG_TRUNC);
        if (n < 0)
                return -errno;
        if (n == 0)
                return 0;
        if (n != (ssize_t) sizeof m || !message_is_valid(&m, n_wishes))
                return -EBADMSG;

        *ret = m;
        return 1;
}

int worker_order(int fd, WorkerOrder order) {
        if (send(fd, &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
                return -errno;
        return 0;
}
