/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The drive's write cache and the kernel's cache type, for all kinds of drives. Whatever the initial state and the wanted value, after a
 * visit the kernel never assumes write-through for a cache that is on. The test plays the drive and the kernel: it answers commands,
 * and changes the kernel's files. */

#include <fcntl.h>

#include "identify-image.h"
#include "script.h"
#include "settings.h"
#include "suite.h"
#include "sysfs-tree.h"
#include "visit.h"

#define SET_FEATURES 0xEF

/* How the kernel notices a change of the cache. */
typedef enum Kernel {
        BY_ITSELF, /* libata revalidates after SET FEATURES */
        BY_RESCAN, /* on a rescan, the kernel queries the bridge or controller */
        NEVER,     /* the bridge or controller keeps reporting the old state */
} Kernel;

typedef struct World {
        Kernel kernel;
        bool cache;       /* the drive's own cache */
        bool enabled;     /* the state that SET FEATURES has set; only with `sct` */
        unsigned sct;     /* SCT Feature Control: 1: the cache obeys SET FEATURES, 2: on, 3: off; 0: not supported */
        bool queue_off;   /* the queue keeps "write through" until "write back" is stored (Linux 6.11 and later) */
        bool flushed;     /* true if the last flush succeeded, with the cache already off */
        bool unflushed;   /* true if the cache may still hold data from a time when the kernel sent no flushes */
        bool flush_fails; /* the drive rejects the flush */
        bool loses_read_back; /* the drive answers no reads after a write */
        bool written;
        unsigned n_gates,
                        gate_closes_at; /* from the gate call with this number on, all gate calls answer "not now"; 0: never */
        int rescan;                     /* the FIFO device/rescan, non-blocking */
} World;

static bool file_is_write_back(const char *attribute) {
        char path[PATH_MAX], text[64] = "";
        FILE *f;

        path_of(attribute, path);
        f = fopen(path, "r");
        ck_assert_ptr_nonnull(f);
        ck_assert_ptr_nonnull(fgets(text, sizeof text, f));
        fclose(f);
        return strncmp(text, "write back", 10) == 0;
}

static void kernel_set_cache(World *w, bool cache) {
        w->queue_off = w->queue_off && !file_is_write_back("queue/write_cache");
        put(SYSFS_DISK "cache_type", cache ? "write back" : "write through");
        put("queue/write_cache", cache && !w->queue_off ? "write back" : "write through");
}

static bool kernel_flushes(void) {
        return file_is_write_back(SYSFS_DISK "cache_type") && file_is_write_back("queue/write_cache");
}

/* Returns whether the drive reports a cache that is on: IDENTIFY word 85 does not depend on SCT. */
static bool reported(const World *w) {
        return w->sct ? w->enabled : w->cache;
}

/* Handles a write to device/rescan. The real kernel handles the write before write() returns. */
static void kernel_rescan(World *w) {
        char buf[8];

        if (read(w->rescan, buf, sizeof buf) > 0 && w->kernel == BY_RESCAN)
                kernel_set_cache(w, reported(w));
}

/* The state of the drive and the kernel in the current visit. */
static World *world;

/* Replaces usleep(): a visit sleeps only to wait for the kernel. */
int usleep(useconds_t usec _unused_) {
        kernel_rescan(world);
        return 0;
}

static void answer(SgRequest *q, bool good) {
        static const char *const senses[] = {
                "72 0b 00 00 00 00 00 0e 09 0c 00 04 00 00 00 00 00 00 00 00 40 51",
                "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 ff 00 00 00 00 00 00 40 50",
        };

        q->sense_len = script_bytes(senses[good], q->sense, sizeof q->sense);
        q->status = 2;
}

static bool cache_is_on(const World *w) {
        return w->sct > 1 ? w->sct == 2 : w->enabled;
}

static void world_written(World *w) {
        w->cache = cache_is_on(w);
        w->written = true;
        w->unflushed = w->unflushed || (w->cache && !kernel_flushes());
}

static void world_set(World *w, bool cache) {
        w->enabled = cache;
        world_written(w);
        if (w->kernel == BY_ITSELF)
                kernel_set_cache(w, reported(w));
}

/* Answers the SCT command Feature Control for the write cache. The kernel notices nothing. */
static void world_sct(World *w, SgRequest *q) {
        static const char *const states[] = {
                "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 01 00 00 00 4f 00 c2 40 50",
                "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 02 00 00 00 4f 00 c2 40 50",
                "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 03 00 00 00 4f 00 c2 40 50",
        };
        const uint8_t *table = q->data;

        ck_assert(table[0] == 4 && table[4] == 1);
        if (table[2] == 1) {
                w->sct = table[6];
                world_written(w);
        }
        q->sense_len = script_bytes(states[w->sct - 1], q->sense, sizeof q->sense);
        q->status = 2;
}

static void world_flush(World *w) {
        w->flushed = !w->cache && !w->flush_fails;
        w->unflushed = w->unflushed && (w->cache ? !kernel_flushes() : w->flush_fails);
}

static bool is_silent(const World *w) {
        return w->loses_read_back && w->written;
}

static void refuse(SgRequest *q) {
        q->sense_len = script_bytes("72 04 44 00 00 00 00 00", q->sense, sizeof q->sense);
        q->status = 2;
}

/* A SCSI disk with a caching page in which only WCE can be changed. */
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
                image = image_make(reported(w), true, -1, -1);
                image.words[206] = w->sct ? 0x11 : 0;
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
        case 0xB0:
                ck_assert(w->sct && (q->cdb[4] == 0xD5 || q->cdb[4] == 0xD6));
                if (q->cdb[4] == 0xD6)
                        world_sct(w, q);
                else
                        memcpy(q->data, "\3", 2);
                break;
        default:
                ck_abort_msg("command %02Xh", q->cdb[14]);
        }
        return 0;
}

static int drive_sg(void *userdata, int fd _unused_, SgRequest *q) {
        World *w = userdata;

        kernel_rescan(w);
        return q->cdb[0] == 0x85 ? ata_sg(w, q) : disk_sg(w, q);
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
        bool queue; /* true if queue/write_cache may have "write through" while the disk's cache_type has "write back" */
} ways[] = {
        { "SATA",                                  TRANSPORT_SATA, BY_ITSELF },
        { "SATA, with a kernel that revalidates too late",     TRANSPORT_SATA, NEVER     },
        { "a USB bridge",                          TRANSPORT_USB,  BY_RESCAN },
        { "a USB bridge that reports its old answer",     TRANSPORT_USB,  NEVER     },
        { "an HBA",                                TRANSPORT_SAS,  BY_RESCAN },
        { "an HBA that reports its old answer",           TRANSPORT_SAS,  NEVER     },
        { "a SAS disk",                            TRANSPORT_SAS,  BY_RESCAN, true },
        { "a SAS disk, with a kernel that revalidates too late", TRANSPORT_SAS, NEVER,    true },
        { "SATA, write-through by the queue",                    TRANSPORT_SATA, BY_ITSELF, .queue = true },
        { "a USB bridge, write-through by the queue",            TRANSPORT_USB,  BY_RESCAN, .queue = true },
        { "a SAS disk, write-through by the queue",              TRANSPORT_SAS,  BY_RESCAN, true, true },
};
/* clang-format on */

/* Number of cases for each kind of drive. Each case is a number of five bits: the cache is on; the kernel assumes a cache; the wanted value
 * is "on"; the flush fails; the drive answers no reads after a write. */
#define STATES 32

/* A visit that sets write_cache to `wanted`, or write_cache_forced to `forced`. */
static void visit_one(World *w, size_t way, bool wanted, const char *forced, Verdict *ret,
                      char reason[static STEP_REASON_MAX]) {
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

        if (forced) {
                wish.name = "write_cache_forced";
                wish.value = (Value){ .type = VALUE_NAME };
                strcpy(wish.value.name, forced);
                wish.allow_dangerous = true;
        }
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

/* Prepares the kernel's files, and runs one visit. */
static void visit_world(World *w, size_t way, bool kernel_cache, bool wanted, const char *forced, Verdict *ret,
                        char reason[static STEP_REASON_MAX]) {
        char path[PATH_MAX];

        put("queue/write_cache", "write through");
        w->queue_off = ways[way].queue && !kernel_cache;
        kernel_set_cache(w, kernel_cache || (w->queue_off && w->cache));
        path_of("device/rescan", path);
        ck_assert_int_eq(mkfifo(path, 0600), 0);
        /* Opened for reading and writing, so that neither this open() nor the visit's open() waits for another process. */
        w->rescan = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
        ck_assert_int_ge(w->rescan, 0);
        world = w;

        visit_one(w, way, wanted, forced, ret, reason);

        kernel_rescan(w);
        close(w->rescan);
}

START_TEST(test_never_unflushed) {
        const Kernel kernel = ways[_i / STATES].kernel;
        bool cache = _i & 1, kernel_cache = _i & 2, wanted = _i & 4, flush_fails = _i & 8, loses_read_back = _i & 16;
        World w = { .kernel = kernel, .cache = cache, .flush_fails = flush_fails, .loses_read_back = loses_read_back };
        char what[256], reason[STEP_REASON_MAX];
        Verdict verdict;
        Drive d = {};

        snprintf(what, sizeof what, "%s: cache %d, the kernel believes %d, wanted %d%s%s", ways[_i / STATES].name,
                 cache, kernel_cache, wanted, flush_fails ? ", no flush" : "", loses_read_back ? ", no read-back" : "");
        make_tree(&d);
        visit_world(&w, _i / STATES, kernel_cache, wanted, NULL, &verdict, reason);

        ck_assert_msg(!w.cache || kernel_flushes(), "%s: no flushes over a live cache (%s, %s)", what,
                      verdict_to_string(verdict), reason);
        ck_assert_msg(!w.unflushed || flush_fails, "%s: data from before the revalidation is not flushed", what);
        /* If the visit turned the cache off without a flush, the verdict must be `refused`. */
        if (cache && !w.cache)
                ck_assert_msg(w.flushed || verdict == VERDICT_REFUSED, "%s: %s, not flushed", what,
                              verdict_to_string(verdict));
        if (verdict == VERDICT_APPLIED || verdict == VERDICT_UNCHANGED)
                ck_assert_msg(w.cache == wanted, "%s: %s, and the cache is %d", what, verdict_to_string(verdict),
                              w.cache);
        else
                ck_assert_msg(reason[0], "%s: %s without a reason", what, verdict_to_string(verdict));
        if (w.written && loses_read_back)
                ck_assert_msg(verdict != VERDICT_APPLIED && verdict != VERDICT_UNCHANGED, "%s: %s without a read-back",
                              what, verdict_to_string(verdict));
        else if (!flush_fails)
                ck_assert_msg(verdict == (wanted && !kernel_cache && kernel == NEVER     ? VERDICT_FORBIDDEN
                                          : cache == wanted && (kernel_cache || !wanted) ? VERDICT_UNCHANGED
                                                                                         : VERDICT_APPLIED),
                              "%s: %s (%s)", what, verdict_to_string(verdict), reason);
        drop_tree(&d);
}
END_TEST

/* A suspend or a file system check begins at one of the first GATES gate calls of the visit. Each of these calls has a test. */
#define GATES 8

START_TEST(test_never_half) {
        size_t way = (size_t) _i / GATES / 8;
        bool cache = _i & 1, kernel_cache = _i & 2, wanted = _i & 4;
        World w = { .kernel = ways[way].kernel, .cache = cache, .gate_closes_at = (unsigned) _i / 8 % GATES + 1 };
        char what[256], reason[STEP_REASON_MAX];
        Verdict verdict;
        Drive d = {};

        snprintf(what, sizeof what, "%s: cache %d, the kernel believes %d, wanted %d, not now at question %u",
                 ways[way].name, cache, kernel_cache, wanted, w.gate_closes_at);
        make_tree(&d);
        visit_world(&w, way, kernel_cache, wanted, NULL, &verdict, reason);

        if (!w.written)
                ck_assert_msg(w.cache == cache, "%s", what);
        else {
                ck_assert_msg(!w.cache || kernel_flushes(), "%s: no flushes over a live cache (%s, %s)", what,
                              verdict_to_string(verdict), reason);
                ck_assert_msg(!w.unflushed, "%s: data from before the revalidation is not flushed", what);
                ck_assert_msg(!cache || w.cache || w.flushed, "%s: %s, not flushed", what, verdict_to_string(verdict));
        }
        drop_tree(&d);
}
END_TEST

/* The setting write_cache_forced, for all initial states. The gate closes at the call with the number _i; 0: never. */
START_TEST(test_forced) {
        static const char *const words[] = { "normal", "on", "off" };

        for (unsigned n = 0; n < 3 * 3 * 32; n++) {
                const char *wanted = words[n / 32 % 3];
                World w = {
                        .kernel = n & 1 ? NEVER : BY_ITSELF,
                        .enabled = n & 2,
                        .sct = n / 96 + 1,
                        .flush_fails = n & 8,
                        .loses_read_back = n & 16,
                        .gate_closes_at = (unsigned) _i,
                };
                char what[256], reason[STEP_REASON_MAX];
                bool kernel_cache = n & 4, before;
                Verdict verdict;
                Drive d = {};

                before = w.cache = cache_is_on(&w);
                snprintf(what, sizeof what, "SCT %u, SET FEATURES %d, the kernel believes %d, wanted %s, case %u",
                         w.sct, w.enabled, kernel_cache, wanted, n);
                make_tree(&d);
                visit_world(&w, 0, kernel_cache, false, wanted, &verdict, reason);

                if (!w.written)
                        ck_assert_msg(w.cache == before, "%s", what);
                else {
                        ck_assert_msg(!w.cache || kernel_flushes(), "%s: no flushes over a live cache (%s, %s)", what,
                                      verdict_to_string(verdict), reason);
                        ck_assert_msg(!w.unflushed || w.flush_fails,
                                      "%s: data from before the revalidation is not flushed", what);
                }
                if (verdict == VERDICT_APPLIED || verdict == VERDICT_UNCHANGED)
                        ck_assert_msg(streq(words[w.sct - 1], wanted), "%s: %s", what, verdict_to_string(verdict));
                drop_tree(&d);
        }
}
END_TEST

int main(void) {
        Suite *suite = suite_create("write-cache");
        TCase *t = tcase_create("write-cache");

        tcase_set_timeout(t, 60);
        tcase_add_loop_test(t, test_never_unflushed, 0, STATES * ELEMENTSOF(ways));
        tcase_add_loop_test(t, test_never_half, 0, 8 * GATES * ELEMENTSOF(ways));
        tcase_add_loop_test(t, test_forced, 0, GATES + 1);
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
