/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The process that does one visit: forked, because opening, SG_IO and sysfs can block for minutes. It asks over its
 * socket before every command, and tells every verdict as soon as there is one. */

#include "visit.h"

typedef enum WorkerMessageType {
        WORKER_ASKS, /* may a command go to the drive? Answered with one WorkerAnswer */
        WORKER_STEP, /* `step` has its verdict */
        WORKER_END,  /* all steps were told */
} WorkerMessageType;

/* Plain data in one datagram; what points elsewhere in a Step is given by number. */
typedef struct WorkerMessage {
        WorkerMessageType type;
        size_t wish; /* index in the visit's wishes */
        bool written, failed;
        int error;
        Reading before, after;
        Verdict verdict;
        char reason[STEP_REASON_MAX];
} WorkerMessage;

typedef enum WorkerAnswer {
        WORKER_GO,
        WORKER_DEFER, /* a check takes longer than allowed: end the visit */
        WORKER_STOP,  /* the machine goes to sleep, or the service ends: end the visit */
        _WORKER_ANSWER_MAX,
} WorkerAnswer;

typedef struct Worker {
        pid_t pid;
        int fd;
} Worker;

/* Forks. In the child this never returns. */
int worker_start(const Drive *drive, const Wishes *wishes, const Memory *memories, const SettingTable *settings,
                 Worker *ret);

/* 1 and a message; 0: the other end is closed; -EAGAIN: nothing now. A malformed message is -EBADMSG. */
int worker_receive(const Worker *w, size_t n_wishes, WorkerMessage *ret);
int worker_answer(const Worker *w, WorkerAnswer answer);
