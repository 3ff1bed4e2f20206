/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <stddef.h>
#include <sys/socket.h>

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
        static const WorkerState table[_WORKER_STATE_MAX][_MESSAGE_MAX] = {
                [WORKER_VISITS] = {
                        [MESSAGE_ALIVE] = WORKER_VISITS,
                        [MESSAGE_SENDS] = WORKER_VISITS,
                        [MESSAGE_INTENDS] = WORKER_WAITS,
                        [MESSAGE_STEP] = WORKER_VISITS,
                        [MESSAGE_POWER] = WORKER_VISITS,
                        [MESSAGE_WEAR] = WORKER_VISITS,
                        [MESSAGE_BRIDGE] = WORKER_BRIDGED,
                        [MESSAGE_END] = WORKER_ENDED,
                },
                [WORKER_BRIDGED] = { [MESSAGE_END] = WORKER_ENDED },
        };

        return table[s][said];
}

/* clang-format off */
static const WireField step_fields[] = {
        WIRE_PART(Step, wanted, wire_value),
        WIRE_PART(Step, before, wire_reading),
        WIRE_PART(Step, after, wire_reading),
        WIRE(Step, remembered, WIRE_BOOL),
        WIRE(Step, lost, WIRE_BOOL),
        WIRE(Step, remedied, WIRE_BOOL),
        WIRE(Step, remediable, WIRE_BOOL),
        WIRE(Step, write, WIRE_BOOL),
        WIRE(Step, saving, WIRE_BOOL),
        WIRE(Step, written, WIRE_BOOL),
        WIRE(Step, failed, WIRE_BOOL),
        WIRE(Step, accepted, WIRE_BOOL),
        WIRE(Step, by_service, WIRE_BOOL),
        WIRE_WORD(Step, end, _VERDICT_MAX),
        WIRE(Step, error, WIRE_INT),
        WIRE_WORD(Step, verdict, _VERDICT_MAX),
        WIRE_ARRAY(Step, note),
        WIRE_ARRAY(Step, reason),
        {}
};

static const WireField wear_fields[] = {
        WIRE_PART(Wear, load_cycles, wire_known),
        WIRE_PART(Wear, start_stops, wire_known),
        WIRE_PART(Wear, rated_load_cycles, wire_known),
        WIRE_PART(Wear, rated_start_stops, wire_known),
        WIRE_PART(Wear, temperature, wire_known),
        {}
};

static const WireField identity_fields[] = {
        WIRE_ARRAY(DriveIdentity, model),
        WIRE_ARRAY(DriveIdentity, serial),
        WIRE_ARRAY(DriveIdentity, firmware),
        WIRE_ARRAY(DriveIdentity, wwn),
        {}
};

static const WireField head_fields[] = {
        WIRE_WORD(WorkerMessage, type, _MESSAGE_MAX),
        WIRE(WorkerMessage, wish, WIRE_SIZE),
        {}
};

/* What comes behind the head. */
static const WireField body_fields[_MESSAGE_MAX][3] = {
        [MESSAGE_STEP] = { WIRE_PART(WorkerMessage, step, step_fields) },
        [MESSAGE_POWER] = { WIRE_WORD(WorkerMessage, power, _POWER_MODE_MAX) },
        [MESSAGE_WEAR] = { WIRE_PART(WorkerMessage, wear, wear_fields) },
        [MESSAGE_BRIDGE] = { WIRE_PART(WorkerMessage, bridge, wire_bridge), WIRE_PART(WorkerMessage, identity, identity_fields) },
};
/* clang-format on */

size_t worker_message_write(const WorkerMessage *m, uint8_t ret[static WORKER_MESSAGE_MAX_BYTES]) {
        uint8_t *end;

        assert(wire_size(head_fields) + wire_size(body_fields[m->type]) <= WORKER_MESSAGE_MAX_BYTES);
        end = wire_write(head_fields, m, ret);
        return wire_write(body_fields[m->type], m, end) - ret;
}

static bool wear_is_valid(const Wear *w) {
        return w->load_cycles.number >= 0 && w->start_stops.number >= 0 && w->rated_load_cycles.number >= 0 &&
               w->rated_start_stops.number >= 0;
}

static bool message_is_valid(const WorkerMessage *m, size_t n_wishes) {
        switch (m->type) {
        case MESSAGE_ALIVE:
        case MESSAGE_END:
                return true;
        case MESSAGE_SENDS:
        case MESSAGE_INTENDS:
                return m->wish < n_wishes || m->wish == NO_WISH;
        case MESSAGE_STEP:
                return m->wish < n_wishes && m->step.error <= 0;
        case MESSAGE_POWER:
                return m->power != POWER_UNKNOWN && m->power != POWER_UNCLEAR;
        case MESSAGE_WEAR:
                return wear_is_valid(&m->wear);
        case MESSAGE_BRIDGE:
                return bridge_is_valid(&m->bridge) &&
                       (!m->identity.serial[0] || (m->bridge.asked && m->bridge.identified));
        case _MESSAGE_MAX:
                break;
        }
        return false;
}

static int message_read(const uint8_t *at, size_t size, WorkerMessage *ret) {
        size_t head = wire_size(head_fields);

        if (size < head || !wire_read(head_fields, at, ret) || size != head + wire_size(body_fields[ret->type]) ||
            !wire_read(body_fields[ret->type], at + head, ret))
                return -EBADMSG;
        return 0;
}

int worker_receive(int fd, size_t n_wishes, WorkerMessage *ret) {
        uint8_t message[WORKER_MESSAGE_MAX_BYTES];
        WorkerMessage m = {};
        ssize_t n;

        /* With MSG_TRUNC it is told how long the message was. */
        n = recv(fd, message, sizeof message, MSG_DONTWAIT | MSG_TRUNC);
        /* It has ended without reading an order; what it said before that is still to come. */
        if (n < 0 && errno == ECONNRESET)
                n = recv(fd, message, sizeof message, MSG_DONTWAIT | MSG_TRUNC);
        if (n < 0)
                return -errno;
        if (n == 0)
                return 0;
        if (n > (ssize_t) sizeof message || message_read(message, n, &m) < 0 || !message_is_valid(&m, n_wishes))
                return -EBADMSG;

        *ret = m;
        return 1;
}

const WireField worker_order_fields[] = { { "order", WIRE_ENUM, 0, _ORDER_MAX }, {} };

int worker_order(int fd, WorkerOrder order) {
        return wire_send(fd, worker_order_fields, &order, MSG_DONTWAIT);
}
