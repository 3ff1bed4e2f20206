/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The process that does one visit: a process of its own, because opening, SG_IO and sysfs can block for minutes. It asks over its
 * socket before every command, and tells every verdict as soon as there is one. */

#include "broker.h"
#include "record.h"
#include "visit.h"

typedef enum WorkerMessageType {
        WORKER_ASKS,    /* may a command go to the drive? Answered with one WorkerAnswer */
        WORKER_INTENDS, /* `wishes` are about to be written. Answered, when that is on stable storage or cannot be */
        WORKER_STEP,    /* `step` has its verdict */
        WORKER_BRIDGE,  /* more is known of the USB bridge before the drive */
        WORKER_END,     /* all steps were told */
} WorkerMessageType;

/* Plain data in one datagram; what points elsewhere in a Step is given by number. */
typedef struct WorkerMessage {
        WorkerMessageType type;
        size_t wish; /* index in the visit's wishes; WORKER_ASKS: what is being written, or WORKER_READS */
        uint8_t wishes[RECORD_MAX_SETTINGS / 8]; /* a bit for each */
        bool written, failed, lost;
        int error;
        Reading before, after;
        Verdict verdict;
        char reason[STEP_REASON_MAX];
        Bridge bridge;
        bool identified; /* … and of the drive behind it */
        DriveIdentity identity;
} WorkerMessage;

#define WORKER_READS SIZE_MAX

typedef enum WorkerAnswer {
        WORKER_GO,
        WORKER_UNGUARDED, /* what was intended is not on stable storage: write nothing dangerous of it */
        WORKER_DEFER,     /* a check takes longer than allowed: end the visit */
        WORKER_STOP,      /* the machine goes to sleep, or the service ends: end the visit */
        _WORKER_ANSWER_MAX,
} WorkerAnswer;

typedef struct Worker {
        int fd; /* its end is closed when the process has ended */
} Worker;

/* Of the visit, `io`, `userdata` and all functions are the worker's own. Does not wait for the process. */
int worker_start(Broker *broker, const Visit *visit, Worker *ret);

/* The worker itself, at its end of the socket; never returns. */
void worker_main(int fd, const void *sandbox);

/* 1 and a message; 0: the other end is closed; -EAGAIN: nothing now. A malformed message is -EBADMSG. */
int worker_receive(const Worker *w, size_t n_wishes, WorkerMessage *ret);
static inline bool worker_message_has(const WorkerMessage *m, size_t wish) {
        return m->wishes[wish / 8] & 1U << wish % 8;
}

int worker_answer(const Worker *w, WorkerAnswer answer);
