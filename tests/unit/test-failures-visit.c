/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* In a complete visit of the worker, either one call fails, or a certain call and all later calls fail. The calls are
 * allocations, file accesses and drive commands. A failed call may nevertheless take effect, be interrupted, or
 * transfer part of the data. Each setting must get an error or a correct verdict, and no file may remain open. The next
 * visit must write exactly those settings that the first visit did not write. System calls are real except ioctl(),
 * which calls the model drive. */

#include <dirent.h>
#include <linux/fs.h>
#include <scsi/sg.h>
#include <sys/stat.h>

#include "inject.h"
#include "model-drive.h"
#include "settings.h"
#include "suite.h"
#include "sysfs-tree.h"
#include "worker-message.h"

static ModelDrive model;
static Drive disk = { .name = (char *) "sda",
                      .node = (char *) "/dev/null", /* can be opened; ioctl() on this file goes to the model drive */
                      .transport = TRANSPORT_SATA,
                      .diskseq = 7,
                      .ata = true,
                      .rotational = true };

static Wish wish_items[] = {
        { .name = "write_cache", .value = { .type = VALUE_BOOL, .number = 0 }, .file = "f" },
        { .name = "lookahead", .value = { .type = VALUE_BOOL, .number = 1 }, .file = "f" },
        { .name = "apm", .value = { .type = VALUE_INT, .number = 127 }, .file = "f" },
        { .name = "spindown_time", .value = { .type = VALUE_STANDBY_TIMER, .number = 120 }, .file = "f" },
        { .name = "timeout", .value = { .type = VALUE_DURATION, .number = 180000 }, .file = "f" },
        { .name = "read_ahead_kb", .value = { .type = VALUE_SIZE, .number = 512 * 1024 }, .file = "f" },
};
static const Wishes wishes = { .items = wish_items, .n_items = ELEMENTSOF(wish_items) };

static void cold(void) {
        model = MODEL_DRIVE_COLD;
        put("device/timeout", "30");
        put("queue/read_ahead_kb", "128");
        put("diskseq", "7");
}

/* Answers BLKGETDISKSEQ and SG_IO for the model drive as the kernel does. Makes no assertions, since the calls of an
 * assertion would be counted as calls that can fail. */
static int model_ioctl(int fd, unsigned long request, void *argument) {
        ModelDrive *drive = &model;
        sg_io_hdr_t *h = argument;
        SgRequest q = {};

        if (fd < 0 || (request != BLKGETDISKSEQ && request != SG_IO))
                abort();
        if (request == BLKGETDISKSEQ) {
                *(uint64_t *) argument = disk.diskseq;
                return 0;
        }

        memcpy(q.cdb, h->cmdp, h->cmd_len);
        q.cdb_len = h->cmd_len;
        q.to_device = h->dxfer_direction == SG_DXFER_TO_DEV;
        q.data = h->dxferp;
        q.data_len = h->dxfer_len;
        (void) model_sg(&drive, fd, &q);
        memcpy(h->sbp, q.sense, MIN(sizeof q.sense, (size_t) h->mx_sb_len));
        h->sb_len_wr = q.sense_len;
        h->status = q.status;
        h->host_status = h->driver_status = h->resid = 0;
        return 0;
}

static size_t count_open(void) {
        DIR *dir = opendir("/proc/self/fd");
        size_t n = 0;

        ck_assert_ptr_nonnull(dir);
        while (readdir(dir))
                n++;
        closedir(dir);
        return n;
}

static bool is_as_wanted(const char *setting) {
        char path[PATH_MAX], text[16] = "";
        FILE *f;

        if (streq(setting, "write_cache"))
                return !model.cache;
        if (streq(setting, "lookahead"))
                return model.lookahead;
        if (streq(setting, "apm"))
                return model.apm == 127;
        if (streq(setting, "spindown_time"))
                return model.timer == 120;

        path_of(streq(setting, "timeout") ? "device/timeout" : "queue/read_ahead_kb", path);
        f = fopen(path, "r");
        ck_assert_ptr_nonnull(f);
        if (!fgets(text, sizeof text, f)) {
                /* The write failed after the truncation. A file in sysfs would keep its value, so the test restores the old value. */
                put(streq(setting, "timeout") ? "device/timeout" : "queue/read_ahead_kb", "30");
        }
        fclose(f);
        return atoi(text) == (streq(setting, "timeout") ? 180 : 512);
}

static unsigned n_told[ELEMENTSOF(wish_items)];

static void on_ended(void *userdata _unused_, const Step *s) {
        /* Makes no assertions, since the calls of an assertion would be counted as calls that can fail. */
        for (size_t i = 0; i < wishes.n_items; i++)
                n_told[i] += streq(wish_items[i].name, s->wish->name);
}

static void check(const Plan *p, bool failed, size_t nth) {
        ck_assert_uint_eq(p->n_steps, wishes.n_items);
        for (size_t i = 0; i < wishes.n_items; i++)
                ck_assert_msg(n_told[i] == 1, "call %zu: %s is reported %u times", nth, wish_items[i].name, n_told[i]);
        for (size_t i = 0; i < p->n_steps; i++) {
                const Step *s = p->steps + i;
                const char *name = s->wish->name;
                bool right = is_as_wanted(name);

                ck_assert_msg(s->verdict >= 0 && s->verdict < _VERDICT_MAX, "call %zu: no verdict of %s", nth, name);
                if (s->verdict == VERDICT_APPLIED || s->verdict == VERDICT_UNCHANGED)
                        ck_assert_msg(right, "call %zu: %s is not %s", nth, name, verdict_to_string(s->verdict));
                else
                        ck_assert_msg(s->reason[0], "call %zu: %s: no reason", nth, name);
                if (s->verdict == VERDICT_APPLIED)
                        ck_assert(s->written && s->after.known && value_equal(&s->after.value, &s->wanted));
                if (s->verdict == VERDICT_UNVERIFIABLE)
                        ck_assert_msg(right && streq(name, "spindown_time"), "call %zu: %s: unverifiable", nth, name);
                /* The model drive accepts all these settings, so no verdict may blame the drive for an error of the kernel. */
                if (s->verdict == VERDICT_IGNORED || s->verdict == VERDICT_ADJUSTED || s->verdict == VERDICT_DRIFTED ||
                    (s->setting->backend == BACKEND_ATA &&
                     (s->verdict == VERDICT_UNSUPPORTED || s->verdict == VERDICT_REFUSED)))
                        ck_abort_msg("call %zu: %s: the drive is blamed: %s (%s)", nth, name,
                                     verdict_to_string(s->verdict), s->reason);
                if (!failed)
                        ck_assert_msg(right, "%s: %s (%s)", name, verdict_to_string(s->verdict), s->reason);
        }
}

/* Parses and runs a request as the worker does, and counts the verdicts: the service accepts exactly one verdict per
 * setting. */
static int visit(void *message, size_t size, Plan *ret) {
        Drive here;
        VisitRequest q;
        Visit *v = &q.visit;
        int r;

        r = visit_request_parse(message, size, &all_settings, &q);
        if (r < 0)
                return r;
        v->io = &device_io_real;
        /* Sets the test's path and node here, since a request is accepted only with a path below /sys and the node /dev/NAME. */
        here = *v->drive;
        here.syspath = disk.syspath;
        here.node = disk.node;
        v->drive = &here;
        v->ended = on_ended;
        memset(n_told, 0, sizeof n_told);
        return visit_run(v, ret);
}

static void *request;
static size_t request_size;
static bool stays;

static bool visit_once(Injected what, size_t nth) {
        size_t n_open = count_open();
        Plan p = {};
        bool failed;
        int r;

        cold();
        inject_arm(what, nth);
        if (stays)
                inject_stay();
        r = visit(request, request_size, &p);
        failed = inject_disarm();
        ck_assert_uint_eq(count_open(), n_open);
        if (r < 0) {
                ck_assert(failed);
                ck_assert_int_eq(r, what == INJECT_MEMORY ? -ENOMEM : what == INJECT_INTERRUPT ? -EINTR : -EIO);
        } else {
                check(&p, failed, nth);
                plan_done(&p);
        }

        /* The next visit, in which no call fails, must write the settings that the first visit did not write. */
        ck_assert_int_eq(visit(request, request_size, &p), 0);
        check(&p, false, nth);
        ck_assert_uint_eq(model.n_again, 0);
        plan_done(&p);
        return failed;
}

START_TEST(test_visit) {
        Drive request_drive = disk;

        /* Skips permanent interruptions: the worker repeats an interrupted call, and would repeat the call forever. */
        if (_i == _INJECTED_MAX + INJECT_INTERRUPT)
                return;
        inject_ioctl = model_ioctl;
        stays = _i >= _INJECTED_MAX;
        make_tree(&disk);
        request_drive.node = (char *) "/dev/sda";
        request_drive.syspath = (char *) "/sys/devices/ata1/host0/block/sda";
        ck_assert_int_eq(visit_request_new(&(Visit){ .drive = &request_drive,
                                                     .wishes = &wishes,
                                                     .work = WORK_APPLY,
                                                     .active = true },
                                           &request, &request_size),
                         0);
        ck_assert_uint_gt(inject_each(visit_once, (Injected) _i % _INJECTED_MAX), 0);
        free(request);
        drop_tree(&disk);
}
END_TEST

int main(void) {
        Suite *s = suite_create("failures-visit");
        TCase *t = tcase_create("failures-visit");

        tcase_set_timeout(t, 120);
        tcase_add_loop_test(t, test_visit, 0, 2 * _INJECTED_MAX);
        suite_add_tcase(s, t);

        return suite_run(s);
}
