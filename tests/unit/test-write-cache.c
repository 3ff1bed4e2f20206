/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A drive's write cache and what the kernel believes of it, on all ways to a drive: whatever was so before and whatever is
 * wanted, no visit leaves the kernel believing that there is no cache over one that is on. Here both sides are played: the
 * drive by answering commands, the kernel by what it does to its files. */

#include <fcntl.h>
#include <pthread.h>
#include <time.h>

#include "identify-image.h"
#include "script.h"
#include "settings.h"
#include "suite.h"
#include "sysfs-tree.h"
#include "visit.h"

#define SET_FEATURES 0xEF

/* How the kernel comes to know of a change. */
typedef enum Kernel {
        BY_ITSELF, /* libata looks when it sees SET FEATURES pass */
        BY_RESCAN, /* it asks the bridge or controller when it is told to */
        NEVER,     /* that tells it what it always told */
} Kernel;

typedef struct World {
        Kernel kernel;
        bool cache;     /* the drive's own */
        bool queue_off; /* the queue keeps its "write through" until "write back" is written to it: Linux 6.11 and later */
        bool flushed;      /* since the cache was last on */
        bool unflushed;    /* it was on while the kernel sent no flushes, and none has come since */
        bool flush_fails;  /* the drive has an error to report */
        bool falls_silent; /* once it was told something, it does not say what it is set to */
        bool told;
        unsigned n_gates,
                        gate_closes_at; /* the how-maniest question is answered "not now", and all later ones; 0: none */
        pthread_mutex_t lock;
        bool over;
} World;

/* In place of libc's. Only the kernel that rescans changes its files meanwhile, in a thread, and it is quicker than a real one. */
static bool kernel_follows;

int usleep(useconds_t usec) {
        return kernel_follows ? nanosleep(&(const struct timespec){ .tv_nsec = (long) usec * 1000 / 20 }, NULL) : 0;
}

static bool says_write_back(const char *attribute) {
        char path[PATH_MAX], text[64] = "";
        FILE *f;

        path_of(attribute, path);
        f = fopen(path, "r");
        ck_assert_ptr_nonnull(f);
        ck_assert_ptr_nonnull(fgets(text, sizeof text, f));
        fclose(f);
        return strncmp(text, "write back", 10) == 0;
}

static void kernel_believes(World *w, bool cache) {
        w->queue_off = w->queue_off && !says_write_back("queue/write_cache");
        put(SYSFS_DISK "cache_type", cache ? "write back" : "write through");
        put("queue/write_cache", cache && !w->queue_off ? "write back" : "write through");
}

static bool kernel_flushes(void) {
        return says_write_back(SYSFS_DISK "cache_type") && says_write_back("queue/write_cache");
}

/* The kernel's end of device/rescan. */
static void *rescan(void *userdata) {
        World *w = userdata;
        char path[PATH_MAX], buf[8];

        path_of("device/rescan", path);
        for (;;) {
                int fd = open(path, O_RDONLY);
                ssize_t n = fd < 0 ? 0 : read(fd, buf, sizeof buf);

                if (fd >= 0)
                        close(fd);
                pthread_mutex_lock(&w->lock);
                if (w->over) {
                        pthread_mutex_unlock(&w->lock);
                        return NULL;
                }
                if (n > 0 && w->kernel == BY_RESCAN)
                        kernel_believes(w, w->cache);
                pthread_mutex_unlock(&w->lock);
        }
}

static void answer(SgRequest *q, bool good) {
        static const char *const senses[] = {
                "72 0b 00 00 00 00 00 0e 09 0c 00 04 00 00 00 00 00 00 00 00 40 51",
                "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 ff 00 00 00 00 00 00 40 50",
        };

        q->sense_len = script_bytes(senses[good], q->sense, sizeof q->sense);
        q->status = 2;
}

static void world_set(World *w, bool cache) {
        w->cache = cache;
        w->told = true;
        w->unflushed = w->unflushed || (w->cache && !kernel_flushes());
        if (w->kernel == BY_ITSELF)
                kernel_believes(w, w->cache);
}

static void world_flush(World *w) {
        w->flushed = !w->cache && !w->flush_fails;
        w->unflushed = w->unflushed && (w->cache ? !kernel_flushes() : w->flush_fails);
}

static bool is_silent(const World *w) {
        return w->falls_silent && w->told;
}

static void refuse(SgRequest *q) {
        q->sense_len = script_bytes("72 04 44 00 00 00 00 00", q->sense, sizeof q->sense);
        q->status = 2;
}

/* A SCSI disk: its caching page, of which WCE alone is of interest, and can be changed. */
static int disk_sg(World *w, SgRequest *q) {
        uint8_t *data = q->data;

        switch (q->cdb[0]) {
        case 0x03:
                memcpy(data, "\x70\0\0\0\0\0\0\x0a", 8);
                return 0;
        case 0x5A:
                ck_assert_uint_eq(q->cdb[2] & 0x3F, 0x08);
                if (is_silent(w)) {
                        refuse(q);
                        return 0;
                }
                memset(data, 0, q->data_len);
                data[1] = 6 + 20;
                data[8] = 0x08;
                data[9] = 18;
                data[10] = q->cdb[2] >> 6 == 1 || w->cache ? 0x04 : 0;
                return 0;
        case 0x55:
                ck_assert_uint_eq(data[8], 0x08);
                world_set(w, data[10] & 0x04);
                return 0;
        case 0x35:
                world_flush(w);
                if (w->flush_fails)
                        refuse(q);
                return 0;
        default:
                ck_abort_msg("command %02Xh", q->cdb[0]);
        }
}

static int ata_sg(World *w, SgRequest *q) {
        Image image;

        switch (q->cdb[14]) {
        case 0xEC:
                if (is_silent(w)) {
                        answer(q, false);
                        break;
                }
                image = image_make(w->cache, true, -1, -1);
                image.words[206] = 0;
                image_seal(&image);
                memcpy(q->data, &image, 512);
                break;
        case 0xE5:
                answer(q, true);
                break;
        case 0xE7:
        case 0xEA:
                world_flush(w);
                answer(q, !w->flush_fails);
                break;
        case SET_FEATURES:
                ck_assert(q->cdb[4] == 0x02 || q->cdb[4] == 0x82);
                world_set(w, q->cdb[4] == 0x02);
                answer(q, true);
                break;
        default:
                ck_abort_msg("command %02Xh", q->cdb[14]);
        }
        return 0;
}

static int drive_sg(void *userdata, int fd _unused_, SgRequest *q) {
        World *w = userdata;
        int r;

        pthread_mutex_lock(&w->lock);
        r = q->cdb[0] == 0x85 ? ata_sg(w, q) : disk_sg(w, q);
        pthread_mutex_unlock(&w->lock);
        return r;
}

static int drive_gate(void *userdata, const Drive *drive _unused_, const char **ret_why) {
        World *w = userdata;

        w->n_gates++;
        *ret_why = "not now";
        return w->gate_closes_at && w->n_gates >= w->gate_closes_at ? END_DEFERRED : 0;
}

/* clang-format off */
static const struct {
        const char *name;
        Transport transport;
        Kernel kernel;
        bool scsi;
        bool queue; /* where the kernel believes that there is no cache, it is the queue that was told so */
} ways[] = {
        { "SATA",                                  TRANSPORT_SATA, BY_ITSELF },
        { "SATA, whose kernel looks too late",     TRANSPORT_SATA, NEVER     },
        { "a USB bridge",                          TRANSPORT_USB,  BY_RESCAN },
        { "a USB bridge that does not follow",     TRANSPORT_USB,  NEVER     },
        { "an HBA",                                TRANSPORT_SAS,  BY_RESCAN },
        { "an HBA that does not follow",           TRANSPORT_SAS,  NEVER     },
        { "a SAS disk",                            TRANSPORT_SAS,  BY_RESCAN, true },
        { "a SAS disk, whose kernel looks too late", TRANSPORT_SAS, NEVER,    true },
        { "SATA, by the queue",                    TRANSPORT_SATA, BY_ITSELF, .queue = true },
        { "a USB bridge, by the queue",            TRANSPORT_USB,  BY_RESCAN, .queue = true },
        { "a SAS disk, by the queue",              TRANSPORT_SAS,  BY_RESCAN, true, true },
};
/* clang-format on */

/* Of each way: the cache, the kernel's belief and the wish, on and off; a flush that fails; and a read-back that is lost. */
#define STATES 32

static void visit_one(World *w, size_t way, bool wanted, Verdict *ret, char reason[static STEP_REASON_MAX]) {
        Drive d = { .name = (char *) "sda",
                    .node = (char *) "/dev/sda",
                    .transport = ways[way].transport,
                    .ata = !ways[way].scsi };
        Script unused = {};
        DeviceIO io = script_io(&unused);
        Wish wish = { .name = "write_cache", .value = VALUE_BOOLEAN(wanted), .file = "f", .line = 1 };
        Wishes wishes = { &wish, 1 };
        char path[PATH_MAX];
        Visit v = { .drive = &d,
                    .wishes = &wishes,
                    .settings = &all_settings,
                    .io = &io,
                    .work = WORK_APPLY,
                    .active = true };
        Plan p;

        io.sg = drive_sg;
        io.gate = drive_gate;
        io.userdata = w;
        snprintf(path, sizeof path, "%s/" SYSPATH, root);
        d.syspath = path;
        ck_assert_int_eq(visit_run(&v, &p), 0);
        *ret = p.steps[0].verdict;
        strcpy(reason, p.steps[0].reason);
        plan_done(&p);
}

/* One visit in a tree of its own, with the kernel's end of it. */
static void visit_world(World *w, size_t way, bool belief, bool wanted, Verdict *ret,
                        char reason[static STEP_REASON_MAX]) {
        char path[PATH_MAX];
        pthread_t thread;
        int fd;

        put("queue/write_cache", "write through");
        kernel_follows = w->kernel == BY_RESCAN;
        w->queue_off = ways[way].queue && !belief;
        kernel_believes(w, belief || (w->queue_off && w->cache));
        path_of("device/rescan", path);
        ck_assert_int_eq(mkfifo(path, 0600), 0);
        ck_assert_int_eq(pthread_create(&thread, NULL, rescan, w), 0);

        visit_one(w, way, wanted, ret, reason);

        pthread_mutex_lock(&w->lock);
        w->over = true;
        pthread_mutex_unlock(&w->lock);
        /* A writer for as long as it takes: the thread may be between two readings. */
        fd = open(path, O_RDWR);
        ck_assert_int_eq(write(fd, "", 1), 1);
        pthread_join(thread, NULL);
        close(fd);
}

START_TEST(test_never_unflushed) {
        const Kernel kernel = ways[_i / STATES].kernel;
        bool cache = _i & 1, belief = _i & 2, wanted = _i & 4, flush_fails = _i & 8, falls_silent = _i & 16;
        World w = { .kernel = kernel,
                    .cache = cache,
                    .flush_fails = flush_fails,
                    .falls_silent = falls_silent,
                    .lock = PTHREAD_MUTEX_INITIALIZER };
        char what[256], reason[STEP_REASON_MAX];
        Verdict verdict;
        Drive d = {};

        snprintf(what, sizeof what, "%s: cache %d, the kernel believes %d, wanted %d%s%s", ways[_i / STATES].name,
                 cache, belief, wanted, flush_fails ? ", no flush" : "", falls_silent ? ", no read-back" : "");
        make_tree(&d);
        visit_world(&w, _i / STATES, belief, wanted, &verdict, reason);

        ck_assert_msg(!w.cache || kernel_flushes(), "%s: no flushes over a live cache (%s, %s)", what,
                      verdict_to_string(verdict), reason);
        ck_assert_msg(!w.unflushed || flush_fails, "%s: what was written before the kernel looked stays in the cache",
                      what);
        /* What was in it has got out, or that is not called a success. */
        if (cache && !w.cache)
                ck_assert_msg(w.flushed || verdict == VERDICT_REFUSED, "%s: %s, not flushed", what,
                              verdict_to_string(verdict));
        if (verdict == VERDICT_APPLIED || verdict == VERDICT_UNCHANGED)
                ck_assert_msg(w.cache == wanted, "%s: %s, and the cache is %d", what, verdict_to_string(verdict),
                              w.cache);
        else
                ck_assert_msg(reason[0], "%s: %s without a reason", what, verdict_to_string(verdict));
        if (w.told && falls_silent)
                ck_assert_msg(verdict != VERDICT_APPLIED && verdict != VERDICT_UNCHANGED, "%s: %s without a read-back",
                              what, verdict_to_string(verdict));
        else if (!flush_fails)
                ck_assert_msg(verdict == (wanted && !belief && kernel == NEVER     ? VERDICT_FORBIDDEN
                                          : cache == wanted && (belief || !wanted) ? VERDICT_UNCHANGED
                                                                                   : VERDICT_APPLIED),
                              "%s: %s (%s)", what, verdict_to_string(verdict), reason);
        drop_tree(&d);
}
END_TEST

/* The machine goes to sleep, or a file system check begins, at any moment of a visit. */
#define GATES 8

START_TEST(test_never_half) {
        size_t way = (size_t) _i / GATES / 8;
        bool cache = _i & 1, belief = _i & 2, wanted = _i & 4;
        World w = { .kernel = ways[way].kernel,
                    .cache = cache,
                    .gate_closes_at = (unsigned) _i / 8 % GATES + 1,
                    .lock = PTHREAD_MUTEX_INITIALIZER };
        char what[256], reason[STEP_REASON_MAX];
        Verdict verdict;
        Drive d = {};

        snprintf(what, sizeof what, "%s: cache %d, the kernel believes %d, wanted %d, not now at question %u",
                 ways[way].name, cache, belief, wanted, w.gate_closes_at);
        make_tree(&d);
        visit_world(&w, way, belief, wanted, &verdict, reason);

        if (!w.told)
                ck_assert_msg(w.cache == cache, "%s", what);
        else {
                ck_assert_msg(!w.cache || kernel_flushes(), "%s: no flushes over a live cache (%s, %s)", what,
                              verdict_to_string(verdict), reason);
                ck_assert_msg(!w.unflushed, "%s: what was written before the kernel looked stays in the cache", what);
                ck_assert_msg(!cache || w.cache || w.flushed, "%s: %s, not flushed", what, verdict_to_string(verdict));
        }
        drop_tree(&d);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("write-cache");
        TCase *t = tcase_create("write-cache");

        tcase_set_timeout(t, 60);
        tcase_add_loop_test(t, test_never_unflushed, 0, STATES * ELEMENTSOF(ways));
        tcase_add_loop_test(t, test_never_half, 0, 8 * GATES * ELEMENTSOF(ways));
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
