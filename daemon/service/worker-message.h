/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The process that does one visit, since opening a drive, SG_IO and sysfs can block for minutes. The worker reports each verdict at once and
 * checks for the order to stop before each command. It waits for the manager only before it writes, for the crash guard's note. */
#include "broker.h"
#include "drive-record.h"
#include "visit.h"
#include "wire.h"

typedef enum WorkerMessageType {
        MESSAGE_ALIVE, /* sends its third command, or is still sending commands after a while without a message */
        MESSAGE_SENDS, /* the following commands write `wish`; NO_WISH: they read */
        MESSAGE_INTENDS, /* is about to write `wish`, which is dangerous; NO_WISH: harmless settings. Waits for ORDER_GO or
                          * ORDER_UNGUARDED */
        MESSAGE_STEP,    /* `wish` has its verdict */
        MESSAGE_POWER,  /* at the end: the power mode (visit.h) */
        MESSAGE_WEAR,   /* at the end: the wear counters (visit.h) */
        MESSAGE_BRIDGE, /* at the end: the USB bridge; with a serial number: the drive behind it */
        MESSAGE_END,    /* the visit is over */
        _MESSAGE_MAX,
} WorkerMessageType;

/* The manager's view of a worker. The table of worker_state_after() has the messages that each state allows, and the state that follows.
 * After any other message the manager reads no more. */
typedef enum WorkerState {
        WORKER_BROKE, /* it sent a message that is not allowed */
        WORKER_VISITS,
        WORKER_WAITS, /* for the answer to MESSAGE_INTENDS, which is worker_order()'s to give */
        WORKER_BRIDGED,
        WORKER_ENDED,
        _WORKER_STATE_MAX,
} WorkerState;

WorkerState worker_state_after(WorkerState s, WorkerMessageType type);

/* One datagram, which has the fields of its type alone (worker-message.c). The pointers of `step` do not cross: `wish` says what it is about. */
typedef struct WorkerMessage {
        WorkerMessageType type;
        size_t wish;     /* index in the visit's wishes */
        Step step;       /* MESSAGE_STEP */
        PowerMode power; /* MESSAGE_POWER */
        Wear wear;       /* MESSAGE_WEAR */
        Bridge bridge;
        DriveIdentity identity; /* without a serial number it is not known */
} WorkerMessage;

#define NO_WISH SIZE_MAX

typedef enum WorkerOrder {
        ORDER_GO,        /* the crash guard's note is on stable storage */
        ORDER_UNGUARDED, /* the note is not on stable storage: write no dangerous setting */
        ORDER_STOP,      /* at any time: send no more commands, and end the visit */
        _ORDER_MAX,
} WorkerOrder;

/* Ignores `io`, `userdata` and the functions of the visit, as the worker has its own. Does not wait for the process. Returns a socket, whose
 * other end closes with the process. */
int worker_start(Broker *broker, const Visit *visit);

/* The worker's main function, with its end of the socket. */
_Noreturn void worker_main(int fd);

#define WORKER_MESSAGE_MAX_BYTES 2048U

/* Returns the size of the datagram. */
size_t worker_message_write(const WorkerMessage *m, uint8_t ret[static WORKER_MESSAGE_MAX_BYTES]);

/* 1 and a message; 0: the other end is closed; -EAGAIN: nothing now. A malformed message is -EBADMSG. */
int worker_receive(int fd, size_t n_wishes, WorkerMessage *ret);
int worker_order(int fd, WorkerOrder order);
extern const WireField worker_order_fields[];

/* ---- a request ---- */

/* A Visit as one message: the drive, the work, the wishes, and what is known of their settings. The worker does not trust it: tables in
 * worker-message.c have the valid fields, paths must have the inventory's form, and the setting's row must allow the value. */

/* The running program's file, as "0.1.0 (build 40f1c-18a2…)". During an upgrade the service and its workers may be two builds, whose
 * messages have different fields. */
const char *build_identity(void);
#define BUILD_MAX 64U

/* A socket takes about 200 KiB at once. */
#define VISIT_REQUEST_MAX_BYTES (160U * 1024U)

/* The caller frees *ret. -E2BIG: too many wishes for one message. */
int visit_request_new(const Visit *v, void **ret, size_t *ret_size);

typedef struct VisitRequest {
        Visit visit; /* points to the following */
        Drive drive;
        Bridge bridge;
        Wishes wishes;
        Wish items[RECORD_MAX_SETTINGS];
        Memory memories[RECORD_MAX_SETTINGS];
} VisitRequest;

/* Reads the request. Texts stay in `request`, which must outlive *ret. -EPROTONOSUPPORT: the request is of another build; -EBADMSG: it is
 * malformed. */
int visit_request_parse(const void *request, size_t size, const SettingTable *settings, VisitRequest *ret);
