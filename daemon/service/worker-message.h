/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The worker: a process that performs one visit, since open(), SG_IO and sysfs can block for minutes. The worker reports each verdict at
 * once, and checks for the order to stop before each command. The worker waits for the manager only before a write, for the crash guard's
 * note. */
#include "broker.h"
#include "drive-record.h"
#include "visit.h"
#include "wire.h"

typedef enum WorkerMessageType {
        MESSAGE_ALIVE,   /* the worker sends its third command, or its first command after a time without messages */
        MESSAGE_SENDS,   /* the following commands write `wish`; NO_WISH: the commands read */
        MESSAGE_INTENDS, /* the worker is about to write `wish`, which is dangerous; NO_WISH: harmless settings. Waits
                          * for ORDER_GO or ORDER_UNGUARDED */
        MESSAGE_STEP,    /* `wish` has its verdict */
        MESSAGE_POWER,   /* at the end: the power mode (visit.h) */
        MESSAGE_WEAR,    /* at the end: the wear counters (visit.h) */
        MESSAGE_BRIDGE,  /* at the end: the USB bridge; if `identity` has a serial number, also the drive behind the
                         * bridge */
        MESSAGE_END,     /* the visit is over */
        _MESSAGE_MAX,
} WorkerMessageType;

/* The manager's view of a worker. For each state, the table in worker_state_after() lists the allowed messages, and the
 * next state after each of them. After a message that is not allowed, the manager stops reading. */
typedef enum WorkerState {
        WORKER_BROKE, /* the worker sent a message that is not allowed */
        WORKER_VISITS,
        WORKER_WAITS, /* the worker waits until worker_order() sends the reply to MESSAGE_INTENDS */
        WORKER_BRIDGED,
        WORKER_ENDED,
        _WORKER_STATE_MAX,
} WorkerState;

WorkerState worker_state_after(WorkerState s, WorkerMessageType type);

/* One datagram, which contains only the fields of its type (worker-message.c). The pointers in `step` are not
 * transmitted, since `wish` identifies the setting. */
typedef struct WorkerMessage {
        WorkerMessageType type;
        size_t wish;     /* index in the visit's wishes */
        Step step;       /* for MESSAGE_STEP */
        PowerMode power; /* for MESSAGE_POWER */
        Wear wear;       /* for MESSAGE_WEAR */
        Bridge bridge;
        DriveIdentity identity; /* for MESSAGE_BRIDGE; without a serial number: the drive behind the bridge is not
                                 * identified */
} WorkerMessage;

#define NO_WISH SIZE_MAX

typedef enum WorkerOrder {
        ORDER_GO,        /* the crash guard's note of the write is on stable storage */
        ORDER_UNGUARDED, /* the note is not on stable storage: write no dangerous setting */
        ORDER_STOP,      /* may come at any time: send no more commands, and end the visit */
        _ORDER_MAX,
} WorkerOrder;

/* Starts a worker for this visit. Ignores `io`, `userdata` and the functions of the visit, since the worker has its own. Does not wait for
 * the process. Returns a socket, whose other end closes when the process ends. */
int worker_start(Broker *broker, const Visit *visit);

/* The worker's main function. `fd`: the worker's end of the socket. */
_Noreturn void worker_main(int fd);

#define WORKER_MESSAGE_MAX_BYTES 2048U

/* Encodes the message, and returns the size of the datagram. */
size_t worker_message_write(const WorkerMessage *m, uint8_t ret[static WORKER_MESSAGE_MAX_BYTES]);

/* Receives a message. Returns 1 after success, 0 if the other end is closed, -EAGAIN if no message is waiting, and -EBADMSG for a malformed
 * message. */
int worker_receive(int fd, size_t n_wishes, WorkerMessage *ret);
int worker_order(int fd, WorkerOrder order);
extern const WireField worker_order_fields[];

/* ---- a request ---- */

/* A Visit as one message: the drive, the work, the wishes, and the known state of their settings. The worker does not
 * trust the message: tables in worker-message.c list the valid numbers, paths must have the form that
 * device/inventory.h describes, and a wish must have a value that its setting accepts. */

/* Identifies the running program's file, as "0.1.0 (build 40f1c-18a2…)". During an upgrade the service and its workers may be different
 * builds, whose messages have different fields. */
const char *build_identity(void);
#define BUILD_MAX 64U

/* The size limit of a request. A socket can hold more: about 200 KiB. */
#define VISIT_REQUEST_MAX_BYTES (160U * 1024U)

/* Encodes the visit; the caller frees *ret. Returns -E2BIG if one message cannot contain all wishes. */
int visit_request_new(const Visit *v, void **ret, size_t *ret_size);

typedef struct VisitRequest {
        Visit visit; /* points to the members below */
        Drive drive;
        Bridge bridge;
        Wishes wishes;
        Wish items[RECORD_MAX_SETTINGS];
        Memory memories[RECORD_MAX_SETTINGS];
} VisitRequest;

/* Decodes a request. *ret points to texts in `request`, which must outlive *ret. Returns -EPROTONOSUPPORT for a request of another build,
 * and -EBADMSG for a malformed request. */
int visit_request_parse(const void *request, size_t size, const SettingTable *settings, VisitRequest *ret);
