/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Workers of the fuzzed service, in its own process. An honest worker performs a real visit (device/visit.c) to a simulated drive, and
 * sends the messages of worker-child.c. Other workers die, hang, or send any message. */

#include "service-machine.h"
#include "settings.h"
#include "worker-message.h"

static uint8_t take(void);    /* returns the next byte of the input; 0: the input has ended */
static bool input_left(void); /* returns true if the input has more bytes */
static void settle(void);     /* runs the service until it waits for the clock or for the next step */
static void step(void);       /* performs the next step of the input */

typedef struct Worker {
        int fd; /* the worker's end of its socket; negative: this entry of workers[] is free */
        Disk *disk;
        uint64_t diskseq, since;
        bool runs, hostile;
} Worker;

static Worker workers[16];
static int broker_error; /* < 0: requests for a worker fail with this error */

static void worker_done(Worker *w) {
        closep(&w->fd);
        if (w->disk)
                w->disk->n_workers--;
        *w = (Worker){ .fd = -EBADF };
}

/* Closes the worker's socket. A worker in the middle of a visit then ends. */
static void worker_kill(Worker *w) {
        if (w->runs)
                (void) shutdown(w->fd, SHUT_RDWR);
        else
                worker_done(w);
}

/* ---- responses of drives to commands ---- */

typedef struct Child {
        Worker *worker;
        const Visit *visit;
        bool may_wake, may_sleep; /* may_wake: the visit may wake the drive. may_sleep: the visit may spin down a drive in use. */
        bool stopped, dead;
        size_t writing, reported;
        unsigned n_commands, n_said;
        unsigned dies_after;     /* number of messages before the worker dies; 0: the worker does not die */
        unsigned interrupted_at; /* number of the command before which the next step of the input is performed; 0: none */
} Child;

/* Converts a pass-through command to its 16-byte form, since model-drive.h uses the field offsets of this form. */
static void command_widen(SgRequest *q) {
        const uint8_t c[12] = { q->cdb[0], q->cdb[1], q->cdb[2], q->cdb[3], q->cdb[4],  q->cdb[5],
                                q->cdb[6], q->cdb[7], q->cdb[8], q->cdb[9], q->cdb[10], q->cdb[11] };

        if (q->cdb_len == 12) {
                q->cdb[4] = c[3];
                q->cdb[6] = c[4];
                q->cdb[14] = c[9];
        }
}

enum {
        ATA_READ_VERIFY = 0x40,
        ATA_SMART = 0xB0,
        ATA_STANDBY_IMMEDIATE = 0xE0,
        ATA_STANDBY = 0xE2,
        ATA_CHECK_POWER_MODE = 0xE5,
        ATA_IDENTIFY = 0xEC,
        SCSI_REQUEST_SENSE = 0x03,
        SCSI_START_STOP_UNIT = 0x1B,
        SCSI_STANDBY = 0x30,
};

static bool ata_obey(Disk *d, SgRequest *q) {
        uint8_t sum = 0, *data = q->data;

        switch (q->cdb[14]) {
        case ATA_CHECK_POWER_MODE:
        case ATA_READ_VERIFY:
                return true;
        case ATA_STANDBY:
                d->model.timer = q->cdb[6];
                d->standby = true;
                return true;
        case ATA_STANDBY_IMMEDIATE:
                d->standby = true;
                return true;
        case ATA_SMART:
                if (q->data_len != 512 || q->to_device)
                        return false;
                memset(data, 0, 512);
                data[2] = 193; /* ID of the attribute for load cycles */
                data[7] = (uint8_t) (d->used * 10);
                data[8] = (uint8_t) (d->used * 10 >> 8);
                for (size_t i = 0; i < 511; i++)
                        sum -= data[i];
                data[511] = sum;
                return true;
        case ATA_IDENTIFY: {
                Image i = image_make(d->model.cache, d->model.lookahead, d->model.apm, -1);
                char serial[21];

                (void) snprintf(serial, sizeof serial, "%*s%s%u", 14, "S", d->name, d->serial);
                for (size_t k = 0; k < 10; k++)
                        i.words[10 + k] = htole16((uint16_t) (serial[2 * k] << 8 | serial[2 * k + 1]));
                image_seal(&i);
                memcpy(data, &i, MIN(sizeof i, q->data_len));
                return true;
        }
        default:
                return model_obey(&d->model, q);
        }
}

static void ata_answer(Disk *d, SgRequest *q) {
        bool cache = d->model.cache, obeyed = ata_obey(d, q);
        /* Sense data in descriptor format with the ATA registers; the count register holds the power mode. */
        const uint8_t sense[] = { 0x72, obeyed ? 0x01 : 0x0B,
                                  0,    0x1D,
                                  0,    0,
                                  0,    0x0E,
                                  0x09, 0x0C,
                                  0,    obeyed ? 0 : 0x04,
                                  0,    d->standby ? 0x00 : 0xFF,
                                  0,    0,
                                  0,    0,
                                  0,    0,
                                  0x40, obeyed ? 0x50 : 0x51 };

        if (cache != d->model.cache)
                attribute_put(d, "queue/write_cache", d->model.cache ? "write back" : "write through");
        if (obeyed && q->data_len > 0)
                return;
        memcpy(q->sense, sense, sizeof sense);
        q->sense_len = sizeof sense;
        q->status = STATUS_CHECK_CONDITION;
}

/* Responds as a drive without mode pages. */
static void scsi_answer(Disk *d, SgRequest *q) {
        uint8_t *data = q->data;

        switch (q->cdb[0]) {
        case SCSI_REQUEST_SENSE:
                memset(data, 0, q->data_len);
                data[0] = 0x70;
                data[7] = 10;
                if (d->standby) {
                        data[12] = 0x5E; /* ASC 5Eh, ASCQ 43h: standby_z condition, entered by command */
                        data[13] = 0x43;
                }
                return;
        case SCSI_START_STOP_UNIT:
                d->standby = q->cdb[4] != 1;
                return;
        default:
                q->status = STATUS_CHECK_CONDITION;
                q->sense_len = 18;
                memcpy(q->sense, (const uint8_t[18]){ 0x70, [2] = 5, [7] = 10, [12] = 0x20 }, 18);
        }
}

static bool spins_down(const Disk *d, const SgRequest *q) {
        return d->transport == TRANSPORT_SAS ? q->cdb[0] == SCSI_START_STOP_UNIT && q->cdb[4] != 1
                                             : q->cdb[14] == ATA_STANDBY_IMMEDIATE;
}

static bool wakes(const Disk *d, const SgRequest *q) {
        if (spins_down(d, q) || d->transport == TRANSPORT_SAS)
                return !spins_down(d, q) && q->cdb[0] != SCSI_REQUEST_SENSE;
        return q->cdb[14] != ATA_CHECK_POWER_MODE && q->cdb[14] != ATA_STANDBY;
}

static int child_sg(void *userdata, _unused_ int fd, SgRequest *q) {
        Child *c = userdata;
        Disk *d = c->worker->disk;

        /* A worker sends no commands after its death, or after the manager has closed the socket. */
        if (c->dead || recv(c->worker->fd, &(char){ 0 }, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
                return -ENODEV;
        if (!d->present || d->diskseq != c->worker->diskseq)
                return -ENODEV;
        command_widen(q);
        log_step("    %s: command %02Xh\n", d->name, d->transport == TRANSPORT_SAS ? q->cdb[0] : q->cdb[14]);

        /* A suspended drive gets no command that wakes it. */
        MUST(c->may_wake || !d->suspended, "%s is runtime-suspended, and gets a command", d->name);
        MUST(c->may_wake || !d->standby || !wakes(d, q), "%s is in standby, and gets a command that wakes it", d->name);
        if (spins_down(d, q)) {
                /* A drive in use is not spun down without a request. */
                MUST(c->may_sleep || d->standby_requested || d->last_use == 0 || d->last_use >= c->worker->since ||
                                     c->worker->since - d->last_use >= 60 * SECOND,
                     "%s was used %" PRIu64 " s ago, and is spun down", d->name,
                     (c->worker->since - d->last_use) / SECOND);
        }

        d->commands++;
        d->suspended = false;
        if (wakes(d, q))
                d->standby = false;
        if (d->transport == TRANSPORT_SAS)
                scsi_answer(d, q);
        else
                ata_answer(d, q);
        return 0;
}

static int child_nvme_admin(_unused_ void *userdata, _unused_ int fd, _unused_ struct nvme_passthru_cmd *cmd) {
        return -EIO;
}

static int child_open_node(void *userdata, const Drive *drive) {
        const Child *c = userdata;
        const Disk *d = c->worker->disk;

        MUST(streq(d->name, drive->name), "a worker opens another drive");
        return d->present && d->diskseq == c->worker->diskseq ? 1000 : -ENODEV;
}

/* ---- messages of an honest worker ---- */

static void child_say(Child *c, const WorkerMessage *m) {
        uint8_t message[WORKER_MESSAGE_MAX_BYTES];
        size_t size = worker_message_write(m, message);

        if (c->dead)
                return;
        c->dead = send(c->worker->fd, message, size, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t) size ||
                  ++c->n_said == c->dies_after;
}

/* Receives an order. Returns false if no order has arrived, or if the worker dies. */
static bool child_receive(Child *c, WorkerOrder *ret) {
        ssize_t n = recv(c->worker->fd, ret, sizeof *ret, MSG_DONTWAIT | MSG_TRUNC);

        if (n < 0 && errno == EAGAIN)
                return false;
        c->dead = c->dead || n != (ssize_t) sizeof *ret;
        c->stopped = c->stopped || (!c->dead && *ret == ORDER_STOP);
        return !c->dead;
}

static int child_gate(void *userdata, _unused_ const Drive *drive, const char **ret_why) {
        Child *c = userdata;
        WorkerOrder order;

        if (++c->n_commands == c->interrupted_at)
                step();
        if (!c->dead && !c->stopped && child_receive(c, &order))
                MUST(order == ORDER_STOP, "a worker without a question gets the order %d", order);
        if (c->dead || c->stopped) {
                *ret_why = "not now";
                return END_DEFERRED;
        }

        if (c->writing != c->reported) {
                c->reported = c->writing;
                child_say(c, &(WorkerMessage){ .type = MESSAGE_SENDS, .wish = c->writing });
        }
        if (c->n_commands == 3)
                child_say(c, &(WorkerMessage){ .type = MESSAGE_ALIVE });
        return 0;
}

static size_t child_wish(const Child *c, const Step *s) {
        return s ? (size_t) (s->wish - c->visit->wishes->items) : NO_WISH;
}

/* Announces a write, and waits for the service's reply. The service replies when its note about the write is on storage, or when the
 * time limit for the note has expired. */
static int child_intend(void *userdata, const Step *s) {
        Child *c = userdata;
        WorkerOrder order = ORDER_STOP;

        if (c->stopped)
                return 0;
        child_say(c, &(WorkerMessage){ .type = MESSAGE_INTENDS, .wish = child_wish(c, s) });
        for (unsigned i = 0; i < 4 && !c->dead && order == ORDER_STOP; i++) {
                while (child_receive(c, &order) && order == ORDER_STOP)
                        ;
                if (order != ORDER_STOP || c->dead)
                        break;
                if (i == 1)
                        pass(6 * SECOND);
                settle();
                order = ORDER_STOP;
        }
        if (c->dead)
                return -EIO;
        MUST(order == ORDER_GO || order == ORDER_UNGUARDED, "a worker waits for permission to write and gets none");
        return order == ORDER_GO ? 0 : -EIO;
}

static void child_writing(void *userdata, const Step *s) {
        Child *c = userdata;

        c->writing = child_wish(c, s);
}

static void child_ended(void *userdata, const Step *s) {
        child_say(userdata, &(WorkerMessage){ .type = MESSAGE_STEP, .wish = child_wish(userdata, s), .step = *s });
}

static void child_power(void *userdata, PowerMode power) {
        child_say(userdata, &(WorkerMessage){ .type = MESSAGE_POWER, .power = power });
}

static void child_wear(void *userdata, const Wear *w) {
        child_say(userdata, &(WorkerMessage){ .type = MESSAGE_WEAR, .wear = *w });
}

static void child_bridge_learned(void *userdata, const Bridge *bridge, const DriveIdentity *identity) {
        WorkerMessage m = { .type = MESSAGE_BRIDGE, .bridge = *bridge };

        if (identity)
                m.identity = *identity;
        child_say(userdata, &m);
}

/* Receives the worker's request, which the caller frees. Returns NULL if the manager has released the worker. */
static void *worker_request(const Worker *w, int flags, VisitRequest *ret) {
        char *request = malloc(VISIT_REQUEST_MAX_BYTES);
        ssize_t n;

        if (!request)
                abort();
        n = recv(w->fd, request, VISIT_REQUEST_MAX_BYTES, MSG_DONTWAIT | flags);
        if (n < 0) {
                free(request);
                return NULL;
        }
        MUST(visit_request_parse(request, (size_t) n, &all_settings, ret) >= 0,
             "the worker rejects the manager's request");
        return request;
}

static void worker_visit(Worker *w, unsigned dies_after, unsigned interrupted_at) {
        Child c = { .worker = w,
                    .writing = NO_WISH,
                    .reported = NO_WISH,
                    .dies_after = dies_after,
                    .interrupted_at = interrupted_at };
        const DeviceIO io = { .open_node = child_open_node,
                              .sg = child_sg,
                              .nvme_admin = child_nvme_admin,
                              .gate = child_gate,
                              .userdata = &c };
        _cleanup_free_ void *request = NULL;
        VisitRequest q;
        Visit *v = &q.visit;
        Plan p;

        /* A compromised worker performs no visit. */
        request = w->hostile ? NULL : worker_request(w, 0, &q);
        if (!request) {
                worker_done(w);
                return;
        }
        c.visit = v;
        c.may_wake = v->work & WORK_SPIN_UP;
        for (const Wish *i = v->wishes->items; i < v->wishes->items + v->wishes->n_items; i++) {
                c.may_wake = c.may_wake || (i->wake && (v->work & WORK_WAKE));
                c.may_sleep = c.may_sleep || (i->line > 0 && streq(i->name, SETTING_STANDBY));
        }

        v->io = &io;
        v->ended = child_ended;
        v->bridge_learned = child_bridge_learned;
        v->power = child_power;
        v->wear = child_wear;
        v->intend = child_intend;
        v->writing = child_writing;
        v->userdata = &c;
        w->runs = true;
        if (visit_run(v, &p) >= 0)
                plan_done(&p);
        child_say(&c, &(WorkerMessage){ .type = MESSAGE_END });
        worker_done(w);
}

/* ---- messages of a compromised worker ---- */

static uint64_t take_number(void) {
        uint64_t n = take();

        return n < 128 ? n : n < 192 ? n << 8 | take() : UINT64_MAX - take();
}

static void take_text(char *text, size_t size) {
        size_t n = take() % (size + 1);

        memset(text, 'x', n);
        if (n > 0)
                text[0] = (char) take();
}

static void worker_says_anything(Worker *w) {
        WorkerMessage m = { .type = take() % _MESSAGE_MAX, .wish = take_number() % 9 };
        uint8_t message[WORKER_MESSAGE_MAX_BYTES], where = take();
        size_t size;

        if (m.wish == 8)
                m.wish = NO_WISH;
        switch (m.type) {
        case MESSAGE_STEP:
                m.step = (Step){ .verdict = take() % (_VERDICT_MAX + 1),
                                 .end = take() % (_VERDICT_MAX + 1),
                                 .error = -(int) (take() % 64) };
                m.step.written = take() & 1;
                m.step.failed = take() & 1;
                m.step.lost = take() & 1;
                m.step.before = (Reading){ .supported = true,
                                           .known = take() & 1,
                                           .value.number = (int64_t) take_number() };
                m.step.after = m.step.before;
                m.step.wanted.number = (int64_t) take_number();
                take_text(m.step.reason, sizeof m.step.reason);
                break;
        case MESSAGE_POWER:
                m.power = take() % 6;
                break;
        case MESSAGE_WEAR:
                m.wear.load_cycles = (KnownNumber){ .known = take() & 1, .number = (int64_t) take_number() };
                m.wear.rated_load_cycles = (KnownNumber){ .known = take() & 1, .number = (int64_t) take_number() };
                break;
        case MESSAGE_BRIDGE:
                m.bridge = (Bridge){ .queried = take() & 1,
                                     .identified = take() & 1,
                                     .fragile = take() & 1,
                                     .cdb = take_number() % 18 };
                take_text(m.identity.serial, sizeof m.identity.serial);
                take_text(m.identity.model, sizeof m.identity.model);
                break;
        default:
                break;
        }
        size = worker_message_write(&m, message);
        /* May change a byte of the encoded message, so that the message has a value that worker_message_write() never produces. */
        if (take() == 0xFF)
                message[where % size] = take();
        (void) send(w->fd, message, take() == 0xFF ? MIN(take(), size) : size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- in the broker's place (broker.c) ---- */

/* Checks that each wanted setting of the visit is in the configuration files, is a temporary value, or is a spin-down. */
static void check_wishes(const Visit *v);

int broker_fork(_unused_ Broker *b, BrokerChild child, int fd) {
        _cleanup_free_ void *request = NULL;
        Worker *w = workers;
        VisitRequest q;

        MUST(child == BROKER_WORKER, "the manager requests a child that is not a worker");
        while (w < workers + ELEMENTSOF(workers) && w->fd >= 0)
                w++;
        if (broker_error < 0 || w == workers + ELEMENTSOF(workers))
                return broker_error < 0 ? broker_error : -EAGAIN;

        *w = (Worker){ .fd = dup(fd), .since = now.monotonic };
        /* The socket must not block, since the manager at the other end runs in the same process. */
        request = worker_request(w, MSG_PEEK, &q);
        MUST(request, "a worker starts without a request");
        w->disk = disk_find(q.visit.drive->name);
        w->diskseq = q.visit.drive->diskseq;
        w->disk->n_workers++;
        check_wishes(&q.visit);
        return 0;
}

static Worker *worker_nth(unsigned n) {
        for (Worker *w = workers; w < workers + ELEMENTSOF(workers); w++)
                if (w->fd >= 0 && !w->runs && n-- == 0)
                        return w;
        return NULL;
}

/* Lets all workers perform their visits. Returns false if there are no workers. */
static bool workers_visit(void) {
        const Worker *any = worker_nth(0);
        Worker *w;

        while ((w = worker_nth(0))) {
                worker_visit(w, 0, 0);
                settle();
        }
        return any;
}
