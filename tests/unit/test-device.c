/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Access to a drive: its backends and identity, its node, and the system calls. */

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <stdarg.h>
#include <sys/ioctl.h>

#include "plan.h"
#include "sg-io.h"
#include "suite.h"
#include "sysfs-tree.h"

/* ---- identity of the drive ---- */

/* diskseq: the known diskseq of the drive; 0: not known. now: the diskseq that the kernel reports; NULL: none.
 * exchanged: expected result. */
static const struct {
        uint64_t diskseq;
        const char *now;
        bool exchanged;
} counts[] = {
        { 7, "7", false },
        { 7, "8", true },
        { 7, NULL, false },
        { 0, "8", false },
};

START_TEST(test_exchanged) {
        Drive d = { .diskseq = counts[_i].diskseq };

        make_tree(&d);
        if (counts[_i].now)
                put("diskseq", counts[_i].now);
        ck_assert(drive_was_replaced(&d) == counts[_i].exchanged);
        ck_assert(!drive_medium_changed(&d));
        d.removable = true;
        ck_assert(drive_medium_changed(&d) == counts[_i].exchanged);
        drop_tree(&d);
}
END_TEST

START_TEST(test_node) {
        _cleanup_free_ char *node = NULL;

        ck_assert_int_eq(device_node("nvme0n1", &node), 0);
        ck_assert_str_eq(node, "/dev/nvme0n1");
}
END_TEST

/* ---- before a command ---- */

static int gate_says, node_says;
static unsigned n_gates, n_opened;

static int gate(_unused_ void *userdata, _unused_ const Drive *drive, const char **ret_why) {
        n_gates++;
        *ret_why = "it is not the time";
        return gate_says;
}

static int open_node(_unused_ void *userdata, _unused_ const Drive *drive) {
        n_opened++;
        return node_says < 0 ? node_says : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static const struct {
        int gate, node, r;
        const char *why;
} beginnings[] = {
        { END_DEFERRED, 0, END_DEFERRED, "it is not the time" },
        { -ECANCELED, 0, -ECANCELED, "" },
        { 0, -ENXIO, END_VANISHED, "/dev/sda is gone, or now belongs to another drive or medium" },
        { 0, -ENODEV, END_VANISHED, "/dev/sda is gone, or now belongs to another drive or medium" },
        { 0, -ENOENT, END_VANISHED, "/dev/sda is gone, or now belongs to another drive or medium" },
        { 0, -EACCES, -EACCES, "/dev/sda cannot be opened: Permission denied" },
};

static const Drive sda = { .name = (char *) "sda", .node = (char *) "/dev/sda" };

START_TEST(test_refused) {
        const DeviceIO io = { .gate = gate, .open_node = open_node };
        Device d;

        gate_says = beginnings[_i].gate;
        node_says = beginnings[_i].node;
        device_init(&d, &sda, &io);
        ck_assert_int_eq(device_begin(&d), beginnings[_i].r);
        ck_assert_str_eq(d.failure.why, beginnings[_i].why);
        ck_assert_uint_eq(n_opened, beginnings[_i].gate == 0);
        ck_assert_int_lt(d.fd, 0);
        device_done(&d);
}
END_TEST

/* device_begin() opens the node only once. It calls the callback `gate` before each command, except before a command
 * that completes an earlier command (`committed`). */
START_TEST(test_begin) {
        const DeviceIO io = { .gate = gate, .open_node = open_node };
        Device d;
        int fd;

        device_init(&d, &sda, &io);
        fd = device_begin(&d);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(device_begin(&d), fd);
        ck_assert(n_gates == 2 && n_opened == 1);
        d.committed = true;
        ck_assert_int_eq(device_begin(&d), fd);
        ck_assert(n_gates == 2 && n_opened == 1);
        device_done(&d);
        ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
        ck_assert_int_lt(d.fd, 0);
}
END_TEST

/* A device that is only an IDENTIFY image takes no commands. */
START_TEST(test_image) {
        const uint16_t image[256] = {};
        const DeviceIO io = { .gate = gate, .open_node = open_node, .image = image };
        Device d;

        device_init(&d, &sda, &io);
        ck_assert_int_eq(device_begin(&d), -ENODATA);
        ck_assert_str_eq(d.failure.why, "not part of the IDENTIFY image");
        ck_assert(n_gates == 0 && n_opened == 0);
        device_done(&d);
}
END_TEST

/* ---- system calls ---- */

static int kernel_error;
static unsigned long request;
static uint64_t kernel_diskseq;
static int read_only;
static struct sg_io_hdr header;

/* Replaces ioctl() of the C library. */
int ioctl(int fd, unsigned long what, ...) {
        va_list ap;
        void *p;

        va_start(ap, what);
        p = va_arg(ap, void *);
        va_end(ap);

        /* Nodes are always opened read-only. */
        ck_assert_int_eq(fcntl(fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK), O_RDONLY | O_NONBLOCK);
        request = what;
        errno = kernel_error;
        if (kernel_error)
                return -1;
        switch (what) {
        case BLKGETDISKSEQ:
                memcpy(p, &kernel_diskseq, sizeof kernel_diskseq);
                return 0;
        case BLKROSET:
                memcpy(&read_only, p, sizeof read_only);
                return 0;
        case SG_IO:
                memcpy(&header, p, sizeof header);
                header.sbp[0] = 0x72;
                ((struct sg_io_hdr *) p)->status = 2;
                ((struct sg_io_hdr *) p)->host_status = 3;
                ((struct sg_io_hdr *) p)->sb_len_wr = 22;
                ((struct sg_io_hdr *) p)->resid = -5;
                return 0;
        case NVME_IOCTL_ADMIN_CMD:
                ((struct nvme_passthru_cmd *) p)->result = 11;
                return 0x4002;
        default:
                ck_abort_msg("%lx", what);
        }
}

static Drive tree;
static char node[PATH_MAX];

static void setup(void) {
        make_tree(&tree);
        put("node", "");
        (void) snprintf(node, sizeof node, "%s/node", tree.syspath);
}

static void teardown(void) {
        drop_tree(&tree);
}

/* If the kernel reports another diskseq than the drive's diskseq, the node is not opened. If the kernel reports no
 * diskseq, or the drive's diskseq is not known, the node is opened. */
START_TEST(test_open_node) {
        Drive d = { .node = node, .diskseq = 7 };
        int fd;

        kernel_diskseq = 8;
        ck_assert_int_eq(device_io_real.open_node(NULL, &d), -ENODEV);
        kernel_diskseq = 7;
        fd = device_io_real.open_node(NULL, &d);
        ck_assert_int_ge(fd, 0);
        ck_assert_uint_eq(request, BLKGETDISKSEQ);
        ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
        closep(&fd);

        kernel_diskseq = 8;
        kernel_error = ENOTTY;
        fd = device_io_real.open_node(NULL, &d);
        ck_assert_int_ge(fd, 0);
        closep(&fd);

        kernel_error = 0;
        request = 0;
        d.diskseq = 0;
        fd = device_io_real.open_node(NULL, &d);
        ck_assert_int_ge(fd, 0);
        ck_assert_uint_eq(request, 0);
        closep(&fd);

        d.node = (char *) "/nonexistent";
        ck_assert_int_eq(device_io_real.open_node(NULL, &d), -ENOENT);
}
END_TEST

START_TEST(test_read_only) {
        char name[PATH_MAX + 2];

        (void) snprintf(name, sizeof name, "..%s", node);
        read_only = -1;
        ck_assert_int_eq(device_io_real.set_read_only(NULL, name, true), 0);
        ck_assert_int_eq(read_only, 1);
        ck_assert_int_eq(device_io_real.set_read_only(NULL, name, false), 0);
        ck_assert_int_eq(read_only, 0);
        ck_assert_uint_eq(request, BLKROSET);

        kernel_error = EACCES;
        ck_assert_int_eq(device_io_real.set_read_only(NULL, name, true), -EACCES);
        ck_assert_int_eq(device_io_real.set_read_only(NULL, "../nonexistent", true), -ENOENT);
        ck_assert_int_eq(device_io_real.is_claimed(NULL, name), 0);
        ck_assert_int_eq(device_io_real.is_claimed(NULL, "../nonexistent"), -ENOENT);
}
END_TEST

START_TEST(test_nvme) {
        _cleanup_close_ int fd = open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        struct nvme_passthru_cmd c = {};

        ck_assert_int_eq(device_io_real.nvme_admin(NULL, fd, &c), 0x4002);
        ck_assert_uint_eq(request, NVME_IOCTL_ADMIN_CMD);
        ck_assert_uint_eq(c.result, 11);
        kernel_error = ENOTTY;
        ck_assert_int_eq(device_io_real.nvme_admin(NULL, fd, &c), -ENOTTY);
}
END_TEST

static uint8_t data[512];

static const struct {
        uint32_t len;
        bool to_device;
        int direction;
} transfers[] = {
        { 0, false, SG_DXFER_NONE },
        { 0, true, SG_DXFER_NONE },
        { 512, false, SG_DXFER_FROM_DEV },
        { 512, true, SG_DXFER_TO_DEV },
};

START_TEST(test_sg) {
        _cleanup_close_ int fd = open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        SgRequest q = { .cdb = { 0x85 },
                        .cdb_len = 12,
                        .data = data,
                        .data_len = transfers[_i].len,
                        .to_device = transfers[_i].to_device,
                        .timeout_ms = 1234,
                        .sense = { 1, 2, 3 } };

        ck_assert_int_eq(device_io_real.sg(NULL, fd, &q), 0);
        ck_assert_int_eq(header.interface_id, 'S');
        ck_assert_int_eq(header.dxfer_direction, transfers[_i].direction);
        ck_assert(header.cmdp == q.cdb && header.cmd_len == 12);
        ck_assert(header.dxferp == data && header.dxfer_len == transfers[_i].len);
        ck_assert(header.sbp == q.sense && header.mx_sb_len == SG_SENSE_MAX);
        ck_assert_uint_eq(header.timeout, 1234);
        ck_assert_uint_eq(header.flags, 0);

        /* The answer overwrites the sense data of an earlier answer. */
        ck_assert(q.sense[0] == 0x72 && q.sense[1] == 0 && q.sense_len == 22);
        ck_assert(q.status == 2 && q.host_status == 3 && q.resid == -5);

        kernel_error = ENODEV;
        ck_assert_int_eq(device_io_real.sg(NULL, fd, &q), -ENODEV);
}
END_TEST

/* ---- answers to a SCSI command ---- */

typedef struct Answer {
        int error; /* negative errno if the request fails; 0: the drive answers */
        uint8_t status, host_status, sense[18], sense_len;
} Answer;

static unsigned n_sent;
static uint32_t timeout_ms;

static int answer_next(void *userdata, _unused_ int fd, SgRequest *q) {
        const Answer *a = (const Answer *) userdata + MIN(n_sent, 4U);

        n_sent++;
        timeout_ms = q->timeout_ms;
        q->status = a->status;
        q->host_status = a->host_status;
        q->sense_len = a->sense_len;
        memcpy(q->sense, a->sense, sizeof a->sense);
        return a->error;
}

#define SENSE(key) .status = 2, .sense = { 0x72, key, 0x29, 0x04 }, .sense_len = 8
#define ATTENTION \
        { SENSE(6) }

/* clang-format off */
static const struct {
        Answer answers[5];
        int r;
        unsigned n_sent;
        const char *says;
} scsi_answers[] = {
        { { { .status = 0 } },                                  0,                1, "" },
        { { { SENSE(0) } },                                     0,                1, "" },
        { { { SENSE(1) } },                                     0,                1, "" },
        { { { SENSE(3) } },                                     END_REFUSED,     1, "the drive rejected TEST UNIT READY (medium error, sense 3h 29h/04h)" },
        { { { .status = 8 } },                                  END_REFUSED,     1, "the drive answered TEST UNIT READY with SCSI status 08h" },
        { { { .status = 2 } },                                  -EBADMSG,         1, "the drive answered TEST UNIT READY without usable sense data" },
        { { { .host_status = 1 } },                             END_VANISHED,    1, "the drive is gone (TEST UNIT READY)" },
        { { { .host_status = 3 } },                             -ETIMEDOUT,       1, "the drive did not answer TEST UNIT READY in 15 s" },
        { { { .host_status = 2 } },                             -EIO,             1, "TEST UNIT READY did not reach the drive (host status 02h)" },
        { { ATTENTION, ATTENTION, ATTENTION, {} },              0,                4, "" },
        { { ATTENTION, ATTENTION, ATTENTION, ATTENTION, {} },   -EIO,             4, "the drive keeps answering with unit attention" },
        { { { -ENODEV } },                                      END_VANISHED,    1, "the drive is gone (TEST UNIT READY)" },
        { { { -ENXIO } },                                       END_VANISHED,    1, "the drive is gone (TEST UNIT READY)" },
        { { { -ENOTTY } },                                      END_UNSUPPORTED, 1, "the kernel does not pass such commands to the drive (TEST UNIT READY)" },
        { { { -EINVAL } },                                      END_UNSUPPORTED, 1, "the kernel does not pass such commands to the drive (TEST UNIT READY)" },
        { { { -EOPNOTSUPP } },                                  END_UNSUPPORTED, 1, "the kernel does not pass such commands to the drive (TEST UNIT READY)" },
        { { { -ENOMEM } },                                      -ENOMEM,          1, "TEST UNIT READY could not be sent: Cannot allocate memory" },
};
/* clang-format on */

START_TEST(test_scsi) {
        const DeviceIO io = { .open_node = open_node,
                              .sg = answer_next,
                              .userdata = (void *) scsi_answers[_i].answers };
        SgRequest q = { .cdb_len = 6 };
        Device d;

        device_init(&d, &sda, &io);
        ck_assert_int_eq(scsi_command(&d, &q), scsi_answers[_i].r);
        ck_assert_str_eq(d.failure.why, scsi_answers[_i].says);
        ck_assert_uint_eq(n_sent, scsi_answers[_i].n_sent);
        ck_assert_uint_eq(timeout_ms, SG_TIMEOUT_MS);
        q.timeout_ms = SG_TIMEOUT_FLUSH_MS;
        (void) scsi_command(&d, &q);
        ck_assert_uint_eq(timeout_ms, SG_TIMEOUT_FLUSH_MS);
        device_done(&d);
}
END_TEST

static const struct {
        uint8_t bytes[18];
        size_t len;
        Sense sense;
} senses[] = {
        { { 0x72, 0xF5, 0x24, 0x01 }, 8, { true, true, 5, 0x24, 0x01 } },
        { { 0x73, 0x05, 0x24, 0x01 }, 4, { true, true, 5, 0x24, 0x01 } },
        { { 0x72, 0x05, 0x24, 0x01 }, 3, {} },
        { { 0x70, 0, 0xF5, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x24, 0x01 }, 18, { true, false, 5, 0x24, 0x01 } },
        { { 0xF1, 0, 0x05, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x24, 0x01 }, 14, { true, false, 5, 0x24, 0x01 } },
        { { 0x70, 0, 0x05, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x24, 0x01 }, 13, { true, false, 5, 0, 0 } },
        { { 0x74, 5, 5, 5 }, 18, {} },
        { { 0x6F, 5, 5, 5 }, 18, {} },
        { { 0 }, 18, {} },
};

START_TEST(test_sense) {
        Sense s = sense_parse(senses[_i].bytes, senses[_i].len);

        ck_assert(s.valid == senses[_i].sense.valid && s.descriptor_format == senses[_i].sense.descriptor_format);
        ck_assert_uint_eq(s.key, senses[_i].sense.key);
        ck_assert_uint_eq(s.asc, senses[_i].sense.asc);
        ck_assert_uint_eq(s.ascq, senses[_i].sense.ascq);
}
END_TEST

int main(void) {
        Suite *s = suite_create("device");
        TCase *t = tcase_create("device"), *k = tcase_create("kernel");

        tcase_add_loop_test(t, test_exchanged, 0, ELEMENTSOF(counts));
        tcase_add_test(t, test_node);
        tcase_add_loop_test(t, test_refused, 0, ELEMENTSOF(beginnings));
        tcase_add_test(t, test_begin);
        tcase_add_test(t, test_image);
        tcase_add_loop_test(t, test_scsi, 0, ELEMENTSOF(scsi_answers));
        tcase_add_loop_test(t, test_sense, 0, ELEMENTSOF(senses));
        suite_add_tcase(s, t);

        tcase_add_checked_fixture(k, setup, teardown);
        tcase_add_test(k, test_open_node);
        tcase_add_test(k, test_read_only);
        tcase_add_test(k, test_nvme);
        tcase_add_loop_test(k, test_sg, 0, ELEMENTSOF(transfers));
        suite_add_tcase(s, k);

        return suite_run(s);
}
