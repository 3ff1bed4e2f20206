/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The process that does one visit: a process of its own, because opening, SG_IO and sysfs can block for minutes. It speaks, and
 * the manager listens: the worker tells every verdict as soon as there is one, and looks before every command whether it was told
 * to stop. It waits for the manager only before it writes, for the crash guard's note. */

#include "broker.h"
#include "record.h"
#include "visit.h"

typedef enum WorkerMessageType {
        WORKER_GOES_ON, /* sends its third command, or sends commands and has said nothing for a while */
        WORKER_SENDS,   /* the commands that follow are to write `wish`; WORKER_READS: to read */
        WORKER_INTENDS, /* `wish` is about to be written, which is dangerous; WORKER_READS: what is not. Answered, when that
                          * is on stable storage or cannot be */
        WORKER_STEP,  /* `wish` has its verdict */
        WORKER_POWER, /* at the end: whether the drive sleeps (visit.h) */
        WORKER_WEAR,  /* at the end: how worn it is (visit.h) */
        WORKER_BRIDGE, /* at the end: more is known of the USB bridge; or (with a serial number) which drive is behind it */
        WORKER_END, /* all was told */
        _WORKER_MESSAGE_MAX,
} WorkerMessageType;

/* Where a worker is, as the manager knows. What it may say in each state, and the state that follows, is the table of
 * worker_state_after(); whatever else it says, it is heard no more. */
typedef enum WorkerState {
        WORKER_BROKE, /* it has said what it may not */
        WORKER_VISITS,
        WORKER_WAITS, /* for the answer to WORKER_INTENDS, which is worker_order()'s to give */
        WORKER_BRIDGED,
        WORKER_ENDED,
        _WORKER_STATE_MAX,
} WorkerState;

WorkerState worker_state_after(WorkerState s, WorkerMessageType said);

/* One datagram, which has the fields of its type alone (worker.c). The pointers of `step` do not cross: `wish` says what it is about. */
typedef struct WorkerMessage {
        WorkerMessageType type;
        size_t wish;     /* index in the visit's wishes */
        Step step;       /* WORKER_STEP */
        PowerMode power; /* WORKER_POWER */
        Wear wear;       /* WORKER_WEAR */
        Bridge bridge;
        DriveIdentity identity; /* without a serial number it is not known */
} WorkerMessage;

#define WORKER_READS SIZE_MAX

typedef enum WorkerOrder {
        WORKER_GO,        /* what was intended is on stable storage */
        WORKER_UNGUARDED, /* … is not: write nothing dangerous of it */
        WORKER_STOP,      /* at any time: send no more commands, and end the visit */
        _WORKER_ORDER_MAX,
} WorkerOrder;

/* Of the visit, `io`, `userdata` and all functions are the worker's own. Does not wait for the process. Returns a socket, whose other
 * end is closed when the process has ended. */
int worker_start(Broker *broker, const Visit *visit);

/* The worker itself, at its end of the socket; never returns. */
_Noreturn void worker_main(int fd);

#define WORKER_MESSAGE_MAX_BYTES 2048U

/* Returns the size of the datagram. */
size_t worker_message_write(const WorkerMessage *m, uint8_t ret[static WORKER_MESSAGE_MAX_BYTES]);

/* 1 and a message; 0: the other end is closed; -EAGAIN: nothing now. A malformed message is -EBADMSG. */
int worker_receive(int fd, size_t n_wishes, WorkerMessage *ret);
int worker_order(int fd, WorkerOrder order);
