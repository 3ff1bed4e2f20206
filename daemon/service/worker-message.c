/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <fnmatch.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "text.h"
#include "worker-message.h"

/* ---- a request: fields ---- */

/* The size of a text field in a request, with its NUL. Longer texts are cut. */
#define TEXT_MAX 512U

/* clang-format off */
/* udev's properties and links are not transmitted. */
static const WireField drive_fields[] = {
        WIRE_POINTER(Drive, name, TEXT_MAX),
        WIRE_POINTER(Drive, node, TEXT_MAX),
        WIRE_POINTER(Drive, syspath, TEXT_MAX),
        WIRE_POINTER(Drive, model, TEXT_MAX),
        WIRE_POINTER(Drive, serial, TEXT_MAX),
        WIRE_POINTER(Drive, wwn, TEXT_MAX),
        WIRE_POINTER(Drive, firmware, TEXT_MAX),
        WIRE_POINTER(Drive, vendor, TEXT_MAX),
        WIRE_POINTER(Drive, dock_model, TEXT_MAX),
        WIRE_POINTER(Drive, dock_serial, TEXT_MAX),
        WIRE_WORD(Drive, transport, _TRANSPORT_MAX),
        WIRE(Drive, rotational, WIRE_BOOL),
        WIRE(Drive, removable, WIRE_BOOL),
        WIRE(Drive, rotational_unknown, WIRE_BOOL),
        WIRE(Drive, removable_unknown, WIRE_BOOL),
        WIRE(Drive, raid, WIRE_BOOL),
        WIRE(Drive, optical, WIRE_BOOL),
        WIRE(Drive, ata, WIRE_BOOL),
        WIRE(Drive, size, WIRE_NUMBER),
        WIRE(Drive, diskseq, WIRE_NUMBER),
        WIRE(Drive, plugged, WIRE_BOOL),
        WIRE(Drive, identified, WIRE_BOOL),
        {}
};

static const WireField visit_fields[] = {
        WIRE_WORD(Visit, work, _WORK_MAX),
        WIRE(Visit, active, WIRE_BOOL),
        WIRE(Visit, ata_sleep, WIRE_BOOL),
        {}
};

static const WireField wishes_fields[] = {
        WIRE(Wishes, n_items, WIRE_SIZE),
        {}
};

static const WireField wish_fields[] = {
        WIRE_POINTER(Wish, name, 64),
        WIRE_PART(Wish, value, wire_value),
        WIRE(Wish, withheld, WIRE_BOOL),
        WIRE(Wish, rewrite, WIRE_BOOL),
        WIRE(Wish, allow_dangerous, WIRE_BOOL),
        WIRE(Wish, permanent, WIRE_BOOL),
        WIRE(Wish, optional, WIRE_BOOL),
        WIRE(Wish, wake, WIRE_BOOL),
        WIRE_WORD(Wish, spindown_by, _SPINDOWN_BY_MAX),
        WIRE(Wish, wake_together, WIRE_BOOL),
        WIRE(Wish, commands_are_use, WIRE_BOOL),
        WIRE_POINTER(Wish, file, TEXT_MAX),
        WIRE(Wish, line, WIRE_INT),
        WIRE(Wish, column, WIRE_INT),
        {}
};

static const WireField memory_fields[] = {
        WIRE_PART(Memory, sent, wire_known),
        WIRE_PART(Memory, settled, wire_known),
        WIRE_PART(Memory, read, wire_known),
        WIRE_ARRAY(Memory, overruled),
        WIRE_ARRAY(Memory, quarantined),
        {}
};
/* clang-format on */

const char *build_identity(void) {
        static char identity[BUILD_MAX];
        struct stat st = {};

        if (identity[0])
                return identity;

        /* The file of each build has its own inode. stat() works even if the file was removed. */
        (void) stat("/proc/self/exe", &st);
        (void) snprintf(identity, sizeof identity, DRIVEKEEP_VERSION " (build %jx-%jx)", (uintmax_t) st.st_ino,
                        (uintmax_t) st.st_mtim.tv_sec * 1000000000 + (uintmax_t) st.st_mtim.tv_nsec);
        return identity;
}

/* A request consists of the build identity (which comes first in all versions of the program), the drive, its bridge,
 * the visit, the number of wishes, and each wish with its Memory. */
static size_t request_size(size_t n_wishes) {
        return BUILD_MAX + wire_size(drive_fields) + wire_size(wire_bridge) + wire_size(visit_fields) +
               wire_size(wishes_fields) + n_wishes * (wire_size(wish_fields) + wire_size(memory_fields));
}

/* ---- a request: writing ---- */

int visit_request_new(const Visit *v, void **ret, size_t *ret_size) {
        size_t size = request_size(v->wishes->n_items);
        uint8_t *request, *at;

        if (size > VISIT_REQUEST_MAX_BYTES)
                return -E2BIG;
        request = calloc(1, size);
        if (!request)
                return -ENOMEM;

        (void) strcpy((char *) request, build_identity());
        at = wire_write(drive_fields, v->drive, request + BUILD_MAX);
        at = wire_write(wire_bridge, v->bridge ?: &(const Bridge){}, at);
        at = wire_write(visit_fields, v, at);
        at = wire_write(wishes_fields, v->wishes, at);
        for (size_t i = 0; i < v->wishes->n_items; i++) {
                at = wire_write(wish_fields, v->wishes->items + i, at);
                at = wire_write(memory_fields, v->memories ? v->memories + i : &(const Memory){}, at);
        }

        *ret = request;
        *ret_size = size;
        return 0;
}

/* ---- a request: reading ---- */

/* Returns true if `path` is the path of a whole disk. Disks are below "block", NVMe namespaces are directly below a controller or
 * subsystem. Partitions, which are below a disk, do not match. */
static bool syspath_is_valid(const char *path) {
        static const char disk[] = "/sys/devices/*/@(block|nvme+([0-9])|nvme-subsys+([0-9]))/+([!/])";

        return fnmatch(disk, path, FNM_EXTMATCH) == 0 && !strstr(path, "//") && !strstr(path, "/./") &&
               !strstr(path, "/../");
}

/* Returns true if the drive's paths have the form that device/inventory.c gives them. */
static bool drive_paths_are_valid(const Drive *d) {
        return d->name && d->node && d->syspath && syspath_is_valid(d->syspath) &&
               streq(base_name(d->syspath), d->name) && text_is_name(d->name) && drive_name_is_managed(d->name) &&
               starts_with(d->node, "/dev/") && streq(d->node + strlen("/dev/"), d->name);
}

/* Returns true if a configuration file can contain this wish. The manager read the wish from a file, and the worker checks the wish
 * again. */
static bool wish_is_valid(Wish *w, const SettingTable *settings, const Drive *d) {
        const Setting *s = w->name ? setting_find(settings, w->name) : NULL;

        if (!s)
                return false;
        w->name = s->name;
        w->file = w->file ?: "";
        s = setting_for_backends(settings, s->name, drive_backends(d));
        return !s || w->withheld || value_has_exact_text(&s->range, &w->value);
}

int visit_request_parse(const void *request, size_t size, const SettingTable *settings, VisitRequest *ret) {
        const uint8_t *at = (const uint8_t *) request + BUILD_MAX;

        if (size < BUILD_MAX)
                return -EBADMSG;
        if (strncmp(request, build_identity(), BUILD_MAX) != 0)
                return -EPROTONOSUPPORT;
        if (size < request_size(0))
                return -EBADMSG;

        *ret = (VisitRequest){ .wishes.items = ret->items };
        ret->visit = (Visit){ .drive = &ret->drive,
                              .wishes = &ret->wishes,
                              .memories = ret->memories,
                              .settings = settings,
                              .bridge = &ret->bridge };
        at = wire_read(drive_fields, at, &ret->drive);
        at = at ? wire_read(wire_bridge, at, &ret->bridge) : NULL;
        at = at ? wire_read(visit_fields, at, &ret->visit) : NULL;
        at = at ? wire_read(wishes_fields, at, &ret->wishes) : NULL;
        if (!at || ret->wishes.n_items > ELEMENTSOF(ret->items) || size != request_size(ret->wishes.n_items) ||
            !drive_paths_are_valid(&ret->drive) || !bridge_is_valid(&ret->bridge))
                return -EBADMSG;

        for (size_t i = 0; i < ret->wishes.n_items; i++) {
                at = wire_read(wish_fields, at, ret->items + i);
                at = at ? wire_read(memory_fields, at, ret->memories + i) : NULL;
                if (!at || !wish_is_valid(ret->items + i, settings, &ret->drive))
                        return -EBADMSG;
        }
        return 0;
}

/* ---- the manager's half ---- */

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

        /* The request is sent before the worker is started: if the request cannot be sent, no worker is needed. */
        if (send(ours, request, size, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t) size)
                return -errno;
        r = broker_fork(broker, BROKER_WORKER, theirs);
        return r < 0 ? r : TAKE_FD(ours);
}

WorkerState worker_state_after(WorkerState s, WorkerMessageType type) {
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

        return table[s][type];
}

/* ---- messages ---- */

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

/* The fields that each type of message has after the common head. */
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
                       (!m->identity.serial[0] || (m->bridge.queried && m->bridge.identified));
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

        /* With MSG_TRUNC recv() returns the full size of the datagram, so that a longer datagram is detected. */
        n = recv(fd, message, sizeof message, MSG_DONTWAIT | MSG_TRUNC);
        /* If the worker ended with an unread order in its socket, the first recv() fails. The next recv() gets the
         * worker's own messages. */
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
