/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The message that requests a visit, the broker that starts a process for the visit, and the sandbox of that process. */

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/landlock.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "broker.h"
#include "sandbox.h"
#include "settings.h"
#include "suite.h"
#include "visit-job.h"
#include "worker-message.h"

static Drive *drive_make(void) {
        Drive *d = calloc(1, sizeof *d);

        d->name = strdup("sda");
        d->node = strdup("/dev/sda");
        d->syspath = strdup("/sys/devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda");
        d->model = strdup("MODEL");
        d->serial = strdup("");
        d->transport = TRANSPORT_SATA;
        d->ata = d->rotational = d->identified = true;
        d->diskseq = 7;
        ck_assert_int_eq(drive_add_property(d, "ID_ATA", "1"), 0);
        ck_assert_int_eq(drive_add_link(d, "/dev/disk/by-id/x", LINK_OWN), 0);
        return d;
}

static Wish wish_items[] = {
        { .name = "apm", .value = { .type = VALUE_INT, .number = 127 }, .wake = true, .file = "/etc/f", .line = 3 },
        { .name = "spindown_time",
          .value = { .type = VALUE_STANDBY_TIMER, .number = 240 },
          .withheld = true,
          .file = "g" },
        { .name = "lookahead", .value = { .type = VALUE_BOOL, .number = 1 }, .rewrite = true, .file = "h" },
};

static Memory memories[] = { { .sent = { true, 1 } }, { .quarantined = "the machine went down" }, {} };

static void request_make(const Drive *d, void **ret, size_t *ret_size) {
        const Bridge bridge = { .queried = true };
        const Wishes w = { .items = wish_items, .n_items = ELEMENTSOF(wish_items) };
        const Visit v = { .drive = d,
                          .wishes = &w,
                          .memories = memories,
                          .work = WORK_APPLY | WORK_PERMANENT,
                          .ata_sleep = true,
                          .bridge = &bridge };

        ck_assert_int_eq(visit_request_new(&v, ret, ret_size), 0);
}

START_TEST(test_round_trip) {
        _cleanup_(drive_freep) Drive *d = drive_make();
        _cleanup_free_ void *request = NULL;
        VisitRequest r;
        size_t size;

        request_make(d, &request, &size);
        ck_assert_int_eq(visit_request_parse(request, size, &all_settings, &r), 0);
        ck_assert_str_eq(r.visit.drive->syspath, d->syspath);
        ck_assert_str_eq(r.visit.drive->model, "MODEL");
        ck_assert_ptr_null(r.visit.drive->serial);
        ck_assert_ptr_null(r.visit.drive->wwn);
        ck_assert_uint_eq(r.visit.drive->diskseq, 7);
        ck_assert_int_eq(r.visit.drive->transport, TRANSPORT_SATA);
        ck_assert(r.visit.drive->ata && r.visit.drive->rotational && !r.visit.drive->raid);
        ck_assert(r.visit.drive->identified);
        ck_assert_ptr_null(drive_property(r.visit.drive, "ID_ATA"));
        ck_assert_uint_eq(r.visit.drive->n_links, 0);
        ck_assert_uint_eq(drive_backends(r.visit.drive), drive_backends(d));
        ck_assert(wishes_equal(r.visit.wishes, &(Wishes){ .items = wish_items, .n_items = ELEMENTSOF(wish_items) },
                               &all_settings));
        ck_assert_str_eq(r.visit.wishes->items[0].file, "/etc/f");
        ck_assert_uint_eq(r.visit.wishes->items[0].line, 3);
        ck_assert(!r.visit.wishes->items[0].rewrite && r.visit.wishes->items[2].rewrite);
        ck_assert(r.visit.memories[0].sent.known);
        ck_assert_str_eq(r.visit.memories[1].quarantined, "the machine went down");
        ck_assert(r.visit.work == (WORK_APPLY | WORK_PERMANENT) && r.visit.ata_sleep && !r.visit.active &&
                  r.visit.bridge->queried);
}
END_TEST

/* The worker rejects these requests, which a compromised manager might send. */
static const struct {
        const char *name, *node, *syspath; /* if `syspath` is NULL, the request has the path of the existing drive */
        int64_t apm;
} refused[] = {
        { "", "/dev/", NULL, 127 },
        { ".", "/dev/.", "/sys/devices/ata1/.", 127 },
        { "..", "/dev/..", "/sys/devices/ata1/..", 127 },
        { "sda", "/dev/..", NULL, 127 },
        { "sda", "/dev/.", NULL, 127 },
        { "sda", "/dev/", NULL, 127 },
        { "sda", "/dev", NULL, 127 },
        { "sda", "", NULL, 127 },
        { "sda", "/dev//sda", NULL, 127 },
        { "sda", "/dev/sda/", NULL, 127 },
        { "sda", "/dev/sda/..", NULL, 127 },
        { "sda", "/dev/fd/3", NULL, 127 },
        { "sda", "/dev/sdb", NULL, 127 },
        { "sda", "/dev/sda1", NULL, 127 },
        { "sda", "sda", NULL, 127 },
        { "sda", "/dev/shm/sda", NULL, 127 },
        { "fd/3", "/dev/fd/3", NULL, 127 },
        /* Devices that the inventory excludes, so that the manager never requests a visit to them. */
        { "fd/3", "/dev/fd/3", "/sys/devices/ata1/fd!3", 127 },
        { "fd/3", "/dev/fd/3", "/sys/devices/ata1/block/fd!3", 127 },
        { "sd/3", "/dev/sd/3", "/sys/devices/ata1/block/sd!3", 127 },
        { "disk/by-id/ata-x", "/dev/disk/by-id/ata-x", "/sys/devices/ata1/disk!by-id!ata-x", 127 },
        { "disk/by-id/ata-x", "/dev/disk/by-id/ata-x", "/sys/devices/ata1/block/disk!by-id!ata-x", 127 },
        { "cciss/c0d0", "/dev/cciss/c0d0", "/sys/devices/pci0000:00/cciss0/c0d0/block/cciss!c0d0", 127 },
        { "mem", "/dev/mem", "/sys/devices/virtual/mem/mem", 127 },
        { "mem", "/dev/mem", "/sys/devices/virtual/block/mem", 127 },
        { "loop0", "/dev/loop0", "/sys/devices/virtual/block/loop0", 127 },
        { "mmcblk0boot0", "/dev/mmcblk0boot0", "/sys/devices/mmc0/mmc0:aaaa/block/mmcblk0boot0", 127 },
        { "sda1", "/dev/sda1", "/sys/devices/ata1/block/sda/sda1", 127 },
        { "sda1", "/dev/sda1", "/sys/devices/ata1/sda1", 127 },
        { "nvme0n1p1", "/dev/nvme0n1p1", "/sys/devices/pci0000:00/nvme/nvme0/nvme0n1/nvme0n1p1", 127 },
        { "sda", "/dev/sda", "/sys/devices/ata1/nvme/sda", 127 },
        { "sda", "/dev/sda", "/sys/devices/ata1/nvme0x/sda", 127 },
        { "sda", "/dev/sda", "/sys/devices/block", 127 },
        { "sd a", "/dev/sd a", "/sys/devices/ata1/block/sd a", 127 },
        { "sda\n", "/dev/sda\n", "/sys/devices/ata1/block/sda\n", 127 },
        { "sd\xc3\xa4", "/dev/sd\xc3\xa4", "/sys/devices/ata1/block/sd\xc3\xa4", 127 },
        { "-sda", "/dev/-sda", "/sys/devices/ata1/block/-sda", 127 },
        { "c/../d", "/dev/c/../d", "/sys/devices/ata1/c!..!d", 127 },
        { "c//d", "/dev/c//d", "/sys/devices/ata1/c!!d", 127 },
        { "c/", "/dev/c/", "/sys/devices/ata1/c!", 127 },
        { "/c", "/dev//c", "/sys/devices/ata1/!c", 127 },
        { "sda", "/dev/sda", "", 127 },
        { "sda", "/dev/sda", "sda", 127 },
        { "sda", "/dev/sda", "/sys/devices", 127 },
        { "sda", "/dev/sda", "/sys/devices/", 127 },
        { "sda", "/dev/sda", "/sys/devices/sda", 127 },
        { "sda", "/dev/sda", "/sys/devices/..", 127 },
        { "sda", "/dev/sda", "/sys/devices/../sda", 127 },
        { "sda", "/dev/sda", "/sys/devices/../../sda", 127 },
        { "sda", "/dev/sda", "/sys/devices/ata1/../block/sda", 127 },
        { "sda", "/dev/sda", "/sys/devices/ata1/./block/sda", 127 },
        { "sda", "/dev/sda", "/sys/devices/ata1//block/sda", 127 },
        { "sda", "/dev/sda", "/sys/devices//sda", 127 },
        { "sda", "/dev/sda", "/sys/devices/ata1/block/sda/", 127 },
        { "sda", "/dev/sda", "/sys/devices/ata1/block/sda/.", 127 },
        { "sda", "/dev/sda", "/sys/devices/ata1/block/sda/..", 127 },
        { "sda", "/dev/sda", "/sys/devices/ata1/block/sdb", 127 },
        { "sda", "/dev/sda", "/sys/devices/ata1/block/sdaa", 127 },
        { "sda", "/dev/sda", "/sys/devices/ata1/block/sd", 127 },
        { "sda", "/dev/sda", "/sys/block/sda", 127 },
        { "sda", "/dev/sda", "/sys/devicesata1/block/sda", 127 },
        { "sda", "/dev/../etc/shadow", NULL, 127 },
        { "sda", "/etc/shadow", NULL, 127 },
        { "sda", "/dev/sda", "/sys/devices/../../etc", 127 },
        { "sda", "/dev/sda", "/etc", 127 },
        { "../sda", "/dev/sda", NULL, 127 },
        { "sda", "/dev/sda", NULL, 300 },
        { "sda", "/dev/sda", NULL, -1 },
};

static const char *const taken[][3] = {
        { "sda", "/dev/sda", "/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda" },
        { "nvme10n1", "/dev/nvme10n1", "/sys/devices/virtual/nvme-subsystem/nvme-subsys10/nvme10n1" },
        { "mmcblk0", "/dev/mmcblk0", "/sys/devices/platform/soc/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0" },
        { "dm-0", "/dev/dm-0", "/sys/devices/virtual/block/dm-0" },
        { "md_d0", "/dev/md_d0", "/sys/devices/virtual/block/md_d0" },
        { "nvme0n1", "/dev/nvme0n1", "/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1" },
        { "nvme2n1", "/dev/nvme2n1", "/sys/devices/virtual/nvme-fabrics/ctl/nvme2/nvme2n1" },
        { "sr0", "/dev/sr0", "/sys/devices/pci0000:00/0000:00:1f.2/ata2/host1/target1:0:0/1:0:0:0/block/sr0" },
        { "vda", "/dev/vda", "/sys/devices/pci0000:00/0000:00:05.0/virtio2/block/vda" },
        { "xvda1", "/dev/xvda1", "/sys/devices/vbd-51713/block/xvda1" },
};

START_TEST(test_accepted) {
        _cleanup_(drive_freep) Drive *d = drive_make();
        _cleanup_free_ void *request = NULL;
        VisitRequest r;
        size_t size;

        ck_assert_int_eq(string_replace(&d->name, taken[_i][0]), 0);
        ck_assert_int_eq(string_replace(&d->node, taken[_i][1]), 0);
        ck_assert_int_eq(string_replace(&d->syspath, taken[_i][2]), 0);
        request_make(d, &request, &size);
        ck_assert_int_eq(visit_request_parse(request, size, &all_settings, &r), 0);
        ck_assert_str_eq(r.visit.drive->node, d->node);
}
END_TEST

START_TEST(test_refused) {
        _cleanup_(drive_freep) Drive *d = drive_make();
        _cleanup_free_ void *request = NULL;
        VisitRequest r;
        size_t size;

        free(d->name);
        d->name = strdup(refused[_i].name);
        free(d->node);
        d->node = strdup(refused[_i].node);
        if (refused[_i].syspath) {
                free(d->syspath);
                d->syspath = strdup(refused[_i].syspath);
        }
        wish_items[0].value.number = refused[_i].apm;
        request_make(d, &request, &size);
        wish_items[0].value.number = 127;
        ck_assert_int_eq(visit_request_parse(request, size, &all_settings, &r), -EBADMSG);
}
END_TEST

/* A request that is cut, is extended, or has changed bytes gives an error or a visit, and never a crash. */
START_TEST(test_hostile) {
        _cleanup_(drive_freep) Drive *d = drive_make();
        _cleanup_free_ void *request = NULL;
        VisitRequest r;
        size_t size;

        request_make(d, &request, &size);
        for (size_t n = 0; n < size; n++)
                ck_assert_int_eq(visit_request_parse(request, n, &all_settings, &r), -EBADMSG);
        ck_assert_int_eq(visit_request_parse(request, size + 1, &all_settings, &r), -EBADMSG);
        for (size_t n = 0; n < size; n++)
                for (unsigned bit = 1; bit < 256; bit <<= 1) {
                        ((uint8_t *) request)[n] ^= bit;
                        if (visit_request_parse(request, size, &all_settings, &r) >= 0)
                                ((uint8_t *) request)[n] ^= bit;
                }
}
END_TEST

static const struct {
        const char *syspath, *own;
} places[] = {
        { "/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda",
          "/sys/devices/pci0000:00/0000:00:1f.2/ata1" },
        { "/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdb",
          "/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0" },
        { "/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1",
          "/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0" },
        { "/sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1",
          "/sys/devices/virtual/nvme-subsystem/nvme-subsys0" },
        { "/sys/devices/pci0000:00/0000:00:05.0/virtio2/block/vda", "/sys/devices/pci0000:00/0000:00:05.0/virtio2" },
};

START_TEST(test_own) {
        _cleanup_free_ char *own = strndup(places[_i].syspath, sandbox_own(places[_i].syspath));

        ck_assert_str_eq(own, places[_i].own);
}
END_TEST

/* ---- processes ---- */

/* The directory has a name like an NVMe subsystem in sysfs. */
static char dir[] = "/tmp/nvme-subsys-XXXXXX", inside[64], outside[64], linked[64];

static bool confined; /* true if the worker enters its sandbox */

/* Runs in place of a worker. Sends one byte for each action: '+' if the sandbox permits the action, '-' if not. */
static void fake_worker(BrokerChild child _unused_, int fd) {
        char *const partitions[] = { (char *) "zero", NULL };
        char out[12] = {};
        int k = 0, null;

        if (confined && sandbox_worker("/dev/null", partitions, dir) < 0)
                _exit(EXIT_FAILURE);

        null = open("/dev/null", O_RDONLY);
        out[0] = null >= 0 ? '+' : '-';
        k = open("/etc/passwd", O_RDONLY);
        out[1] = k >= 0 ? '+' : '-';
        k = open("/sys/kernel/uevent_seqnum", O_RDONLY);
        out[2] = k >= 0 ? '+' : '-';
        k = open(inside, O_WRONLY);
        out[3] = k >= 0 ? '+' : '-';
        k = open(outside, O_WRONLY);
        out[4] = k >= 0 ? '+' : '-';
        k = socket(AF_UNIX, SOCK_STREAM, 0);
        out[5] = k >= 0 ? '+' : '-';
        k = vfork();
        if (k == 0)
                _exit(0);
        out[6] = k >= 0 ? '+' : '-';
        /* The sandbox permits BLKROSET, which sets the read-only flag of a disk or partition, and blocks BLKFLSBUF. /dev/null
         * implements no ioctl(), so a permitted ioctl() fails with ENOTTY. */
        out[7] = open("/dev/zero", O_RDONLY) >= 0 && ioctl(null, BLKROSET, &k) < 0 && errno == ENOTTY ? '+' : '-';
        out[8] = open(linked, O_WRONLY) >= 0 ? '+' : '-';
        out[9] = ioctl(null, BLKFLSBUF, 0) < 0 && errno == ENOTTY ? '+' : '-';
        out[10] = syscall(SYS_tgkill, getpid(), getpid(), 0) >= 0 ? '+' : '-';
        (void) send(fd, out, sizeof out, 0);
        _exit(0);
}

static pid_t serve(const char *path) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        pid_t pid;

        (void) strncpy(address.sun_path, path, sizeof address.sun_path - 1);
        ck_assert_int_eq(bind(listener, (const struct sockaddr *) &address, sizeof address), 0);
        ck_assert_int_eq(listen(listener, 4), 0);
        pid = fork();
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;) {
                        int fd = accept(listener, NULL, NULL);

                        if (broker_serve(fd, BROKER_IDLE_MS, fake_worker) < 0)
                                (void) close(fd);
                        (void) close(fd);
                }
        }
        (void) close(listener);
        return pid;
}

static void processes_make(void) {
        char link[64];
        int fd;

        (void) snprintf(dir, sizeof dir, "/tmp/nvme-subsys-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(dir));
        (void) snprintf(inside, sizeof inside, "%s/inside", dir);
        (void) snprintf(outside, sizeof outside, "%s.outside", dir);
        fd = open(inside, O_CREAT | O_WRONLY, 0644);
        ck_assert_int_ge(fd, 0);
        (void) close(fd);
        /* An NVMe subsystem has links to its controllers. */
        (void) snprintf(linked, sizeof linked, "%s.nvme7", dir);
        ck_assert_int_eq(mkdir(linked, 0755), 0);
        (void) snprintf(link, sizeof link, "%s/nvme7", dir);
        ck_assert_int_eq(symlink(linked, link), 0);
        (void) snprintf(linked, sizeof linked, "%s.nvme7/file", dir);
        fd = open(linked, O_CREAT | O_WRONLY, 0644);
        ck_assert_int_ge(fd, 0);
        (void) close(fd);
        fd = open(outside, O_CREAT | O_WRONLY, 0644);
        ck_assert_int_ge(fd, 0);
        (void) close(fd);
}

static void processes_remove(void) {
        char command[160];

        (void) snprintf(command, sizeof command, "rm -rf %s %s.nvme7 %s", dir, dir, outside);
        ck_assert_int_eq(system(command), 0);
}

/* Returns true if the kernel has Landlock. Runs in a child, since a sandbox is permanent. */
static bool has_landlock(void) {
        return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

START_TEST(test_broker) {
        _cleanup_(broker_freep) Broker *b = NULL;
        char path[64], out[12] = "";
        pid_t pid;

        processes_make();
        (void) snprintf(path, sizeof path, "%s/broker", dir);
        confined = _i;
        pid = serve(path);
        ck_assert_int_eq(broker_new(path, &b), 0);

        for (int turn = 0; turn < 3; turn++) {
                int fds[2];

                ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
                ck_assert_int_eq(broker_fork(b, BROKER_WORKER, fds[1]), 0);
                (void) close(fds[1]);
                ck_assert_int_eq(recv(fds[0], out, sizeof out, 0), sizeof out);
                if (!confined)
                        ck_assert_str_eq(out, "+++++++++++");
                else {
                        ck_assert_str_eq(out + 5, "--++--");
                        if (has_landlock())
                                ck_assert_str_eq(out, "+-++---++--");
                }
                ck_assert_int_eq(recv(fds[0], out, sizeof out, 0), 0);
                (void) close(fds[0]);
        }

        (void) kill(pid, SIGKILL);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        processes_remove();
}
END_TEST

/* If a client sends anything but a request, the broker closes the connection and serves the next manager. */
START_TEST(test_broker_hostile) {
        static const char *const junk[] = { "", "x", "far too long for any request that there is" };
        int fds[2];
        pid_t pid;
        char c;

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        pid = fork();
        if (pid == 0)
                _exit(broker_serve(fds[1], BROKER_IDLE_MS, fake_worker) == -EBADMSG ? 1 : 0);
        (void) close(fds[1]);
        ck_assert_int_ge(send(fds[0], junk[_i], strlen(junk[_i]), MSG_NOSIGNAL), 0);
        ck_assert_int_eq(recv(fds[0], &c, 1, 0), 0);
        (void) close(fds[0]);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

/* A worker that runs until the other end of its socket is closed. */
static void waiting_worker(BrokerChild child _unused_, int fd) {
        char c = '+';

        (void) send(fd, &c, 1, 0);
        (void) recv(fd, &c, 1, 0);
        _exit(0);
}

static int listener_make(char path[static 108]) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

        (void) snprintf(path, 108, "/tmp/test-broker-%d", (int) getpid());
        (void) strcpy(address.sun_path, path);
        ck_assert_int_eq(bind(fd, (const struct sockaddr *) &address, sizeof address), 0);
        ck_assert_int_eq(listen(fd, 4), 0);
        return fd;
}

/* A broker that is idle exits, but not before its last worker has exited. The next request starts another broker. */
START_TEST(test_broker_idle) {
        _cleanup_(broker_freep) Broker *b = NULL;
        char path[108], c;
        int listener = listener_make(path), fds[2], status;
        pid_t pid;

        ck_assert_int_eq(broker_new(path, &b), 0);
        for (int turn = 0; turn < 2; turn++) {
                ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
                ck_assert_int_eq(broker_fork(b, BROKER_WORKER, fds[1]), 0);
                pid = fork();
                if (pid == 0) {
                        (void) close(fds[0]);
                        (void) close(fds[1]);
                        _exit(broker_serve(accept(listener, NULL, NULL), 100, waiting_worker) == 1 ? 0 : 1);
                }
                (void) close(fds[1]);

                ck_assert_int_eq(recv(fds[0], &c, 1, 0), 1);
                (void) usleep(500 * 1000);
                ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0);
                (void) close(fds[0]);
                ck_assert_int_eq(waitpid(pid, &status, 0), pid);
                ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }

        (void) close(listener);
        (void) unlink(path);
}
END_TEST

typedef struct Told {
        BrokerChild child;
        int fd;
        uint64_t open; /* open descriptors, as a mask of their numbers */
} Told;

/* A worker that reports its descriptors and kind, and never exits by itself. */
static void reporting_worker(BrokerChild child, int fd) {
        Told told = { .child = child, .fd = fd };

        for (int i = 0; i < 64; i++)
                told.open |= (uint64_t) (fcntl(i, F_GETFD) >= 0) << i;
        (void) send(fd, &told, sizeof told, 0);
        for (;;)
                (void) pause();
}

/* A child of the broker has only its socket and the standard streams, knows its kind, and does not outlive the broker. */
START_TEST(test_broker_children) {
        _cleanup_(broker_freep) Broker *b = NULL;
        int listener, fds[_BROKER_CHILD_MAX][2];
        char path[108];
        Told told;
        pid_t pid;

        listener = listener_make(path);
        pid = fork();
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                _exit(broker_run(listener, reporting_worker) == 0 ? 0 : 1);
        }
        (void) close(listener);
        ck_assert_int_eq(broker_new(path, &b), 0);
        for (BrokerChild child = 0; child < _BROKER_CHILD_MAX; child++) {
                ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds[child]), 0);
                ck_assert_int_eq(broker_fork(b, child, fds[child][1]), 0);
                (void) close(fds[child][1]);
                ck_assert_int_eq(recv(fds[child][0], &told, sizeof told, 0), sizeof told);
                ck_assert_int_eq(told.child, child);
                ck_assert_int_eq(told.fd, STDERR_FILENO + 1);
                ck_assert_uint_eq(told.open, 0x0F);
        }
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        for (BrokerChild child = 0; child < _BROKER_CHILD_MAX; child++) {
                ck_assert_int_eq(recv(fds[child][0], &told, sizeof told, 0), 0);
                (void) close(fds[child][0]);
        }
        (void) unlink(path);
}
END_TEST

static char fifo[120];

/* A worker that is blocked in the kernel until a writer opens the FIFO with the path `fifo`, even if the worker's manager has
 * exited. */
static void stuck_worker(BrokerChild child _unused_, int fd) {
        pid_t broker = getppid();

        (void) send(fd, &broker, sizeof broker, 0);
        (void) open(fifo, O_RDONLY);
        _exit(0);
}

static void stuck_start(const char *path, pid_t broker) {
        _cleanup_(broker_freep) Broker *b = NULL;
        int fds[2];
        pid_t pid;

        ck_assert_int_eq(broker_new(path, &b), 0);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(broker_fork(b, BROKER_WORKER, fds[1]), 0);
        (void) close(fds[1]);
        ck_assert_int_eq(recv(fds[0], &pid, sizeof pid, 0), sizeof pid);
        ck_assert_int_eq(pid, broker);
        (void) close(fds[0]);
}

static bool replaced; /* true if the program's file was replaced by another build */

ssize_t readlink(const char *path, char *buf, size_t size) {
        if (!replaced || !streq(path, "/proc/self/exe"))
                return (ssize_t) syscall(SYS_readlink, path, buf, size);
        return snprintf(buf, size, "/usr/libexec/drivekeepd (deleted)");
}

/* The broker waits for a worker that outlives its manager, does not kill the worker, and serves the next manager without delay. A manager
 * of another build gets another broker. */
START_TEST(test_broker_outlives_manager) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int manager = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), drive = -EBADF;
        char path[108];
        int listener = listener_make(path), status;
        pid_t pid;

        replaced = _i;
        (void) snprintf(fifo, sizeof fifo, "%s.fifo", path);
        ck_assert_int_eq(mkfifo(fifo, 0600), 0);
        pid = fork();
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                _exit(broker_run(listener, stuck_worker) == 0 ? 0 : 1);
        }

        stuck_start(path, pid);
        if (replaced) {
                (void) strcpy(address.sun_path, path);
                ck_assert_int_eq(connect(manager, (const struct sockaddr *) &address, sizeof address), 0);
        } else {
                stuck_start(path, pid);
                /* If the manager still ran, the broker would kill a released worker after five seconds. The manager has
                 * exited, so the worker still runs after seven seconds. */
                (void) sleep(7);
                ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0);
                drive = open(fifo, O_RDWR);
                ck_assert_int_ge(drive, 0);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);

        (void) close(listener);
        (void) unlink(fifo);
        (void) unlink(path);
}
END_TEST

static time_t *now; /* time of a clock that only the test advances, shared by all processes of a test; NULL: the real clock */

int clock_gettime(clockid_t clock, struct timespec *ret) {
        if (!now)
                return (int) syscall(SYS_clock_gettime, clock, ret);

        *ret = (struct timespec){ .tv_sec = *now };
        return 0;
}

/* While nothing listens on the socket, each request fails. After more than 30 seconds the error is -ESHUTDOWN, which
 * makes the service restart. */
START_TEST(test_broker_refused) {
        _cleanup_(broker_freep) Broker *b = NULL;
        char path[108], too_long[256] = "/tmp/";
        int listener = -EBADF, error = -ENOENT;
        time_t clock = 1000;

        now = &clock;
        listener = listener_make(path);
        (void) close(listener);
        (void) unlink(path);
        ck_assert_int_eq(broker_new(path, &b), 0);
        for (unsigned turn = 0; turn < 2; turn++) {
                ck_assert_int_eq(broker_fork(b, BROKER_WORKER, STDIN_FILENO), error);
                clock += 20;
                ck_assert_int_eq(broker_fork(b, BROKER_WORKER, STDIN_FILENO), error);
                clock += 10;
                ck_assert_int_eq(broker_fork(b, BROKER_WORKER, STDIN_FILENO), error);
                clock += 1;
                ck_assert_int_eq(broker_fork(b, BROKER_WORKER, STDIN_FILENO), -ESHUTDOWN);
                if (turn > 0)
                        break;

                /* The socket listens again temporarily. */
                listener = listener_make(path);
                ck_assert_int_eq(broker_fork(b, BROKER_WORKER, STDIN_FILENO), 0);
                ck_assert_int_eq(broker_fork(b, BROKER_WORKER, STDIN_FILENO), 0);
                (void) close(listener);
                error = -ECONNREFUSED;
        }
        (void) unlink(path);

        b = broker_free(b);
        memset(too_long + strlen(too_long), 'x', sizeof((struct sockaddr_un *) NULL)->sun_path);
        ck_assert_int_eq(broker_new(too_long, &b), 0);
        for (unsigned turn = 0; turn < 3; turn++, clock += 100)
                ck_assert_int_eq(broker_fork(b, BROKER_WORKER, STDIN_FILENO), -ENAMETOOLONG);
        now = NULL;
}
END_TEST

/* An invalid message ends the connection, and a socket that was sent with the message is closed. */
static const struct {
        const char *bytes;
        size_t size, n_fds;
        int type;
} junk_requests[] = {
        { "", 1, 0, SCM_RIGHTS },      { "", 1, 2, SCM_RIGHTS },   { "\2", 1, 1, SCM_RIGHTS },
        { "\377", 1, 1, SCM_RIGHTS },  { "\0", 2, 1, SCM_RIGHTS }, { "", 0, 1, SCM_RIGHTS },
        { "", 1, 0, SCM_CREDENTIALS },
};

static void junk_send(int fd, size_t i, int theirs) {
        const struct ucred self = { .pid = getpid(), .uid = getuid(), .gid = getgid() };
        union {
                struct cmsghdr align;
                char bytes[CMSG_SPACE(sizeof self)];
        } control = {};
        const int fds[2] = { theirs, theirs };
        struct iovec iov = { .iov_base = (char *) junk_requests[i].bytes, .iov_len = junk_requests[i].size };
        struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control };
        struct cmsghdr *c = &control.align;

        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = junk_requests[i].type;
        c->cmsg_len = CMSG_LEN(c->cmsg_type == SCM_RIGHTS ? junk_requests[i].n_fds * sizeof theirs : sizeof self);
        if (c->cmsg_type == SCM_RIGHTS)
                memcpy(CMSG_DATA(c), fds, sizeof fds);
        else
                memcpy(CMSG_DATA(c), &self, sizeof self);
        m.msg_controllen = junk_requests[i].n_fds > 0 || c->cmsg_type == SCM_CREDENTIALS ? CMSG_ALIGN(c->cmsg_len) : 0;
        ck_assert_int_eq(sendmsg(fd, &m, MSG_NOSIGNAL), (ssize_t) junk_requests[i].size);
}

START_TEST(test_broker_junk) {
        int fds[2], passed[2];
        char c;

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, passed), 0);
        if (junk_requests[_i].type == SCM_CREDENTIALS)
                ck_assert_int_eq(setsockopt(fds[1], SOL_SOCKET, SO_PASSCRED, &(int){ 1 }, sizeof(int)), 0);
        junk_send(fds[0], _i, passed[1]);
        (void) close(passed[1]);
        ck_assert_int_eq(broker_serve(fds[1], BROKER_IDLE_MS, fake_worker), -EBADMSG);
        if (junk_requests[_i].n_fds < 2)
                ck_assert_int_eq(recv(passed[0], &c, 1, MSG_DONTWAIT), 0);
        (void) close(passed[0]);
        (void) close(fds[0]);
        (void) close(fds[1]);
}
END_TEST

static bool hides;

/* A compromised worker that never exits. If `hides` is true, it also closes its end of the socket, as if it had exited. */
static void endless_worker(BrokerChild child _unused_, int fd) {
        pid_t pid = getpid();

        (void) send(fd, &pid, sizeof pid, 0);
        if (hides)
                (void) close(fd);
        for (;;)
                (void) pause();
}

static bool is_there(pid_t pid, unsigned seconds) {
        for (unsigned i = 0; i < seconds * 10 && kill(pid, 0) >= 0; i++)
                (void) usleep(100 * 1000);
        return kill(pid, 0) >= 0;
}

/* Runs a manager that starts one worker and then exits. */
static void manager_run(const char *path) {
        _cleanup_(broker_freep) Broker *b = NULL;
        pid_t worker;
        int fds[2];

        ck_assert_int_eq(broker_new(path, &b), 0);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(broker_fork(b, BROKER_WORKER, fds[1]), 0);
        (void) close(fds[1]);
        ck_assert_int_eq(recv(fds[0], &worker, sizeof worker, 0), sizeof worker);
        (void) close(fds[0]);
}

typedef enum LettingGo {
        CLOSES,         /* the manager closes the socket to the worker, as after a protocol error */
        CLOSES_ON_LIAR, /* the worker closes its end of the socket, and then the manager closes the other end */
        SHUTS_DOWN,     /* the manager shuts the socket down, as after the last message or the loss of the drive */
        GOES,           /* the manager exits */
        GOES_EARLIER,   /* the manager exits, and so do two later managers */
        _LETTING_GO_MAX,
} LettingGo;

/* The broker kills a worker after the manager has released the worker, and no process is left. */
START_TEST(test_broker_ends_workers) {
        _cleanup_(broker_freep) Broker *b = NULL;
        char path[108], c;
        int listener = listener_make(path), fds[2], status;
        pid_t pid, worker;

        now = mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ck_assert_ptr_ne(now, MAP_FAILED);
        *now = 1000;
        hides = _i == CLOSES_ON_LIAR;
        pid = fork();
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                _exit(broker_run(listener, endless_worker) == 0 ? 0 : 1);
        }

        ck_assert_int_eq(broker_new(path, &b), 0);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(broker_fork(b, BROKER_WORKER, fds[1]), 0);
        (void) close(fds[1]);
        ck_assert_int_eq(recv(fds[0], &worker, sizeof worker, 0), sizeof worker);
        ck_assert(is_there(worker, 1));
        ck_assert_int_lt(recv(fds[0], &c, 1, MSG_DONTWAIT), 0);

        if (_i == SHUTS_DOWN)
                ck_assert_int_eq(shutdown(fds[0], SHUT_WR), 0);
        else
                (void) close(fds[0]);
        if (_i >= GOES)
                b = broker_free(b);
        ck_assert(is_there(worker, 1));
        for (unsigned n = 0; _i == GOES_EARLIER && n < 2; n++) {
                manager_run(path);
                *now += 250;
        }
        *now += _i == GOES ? 599 : _i == GOES_EARLIER ? 99 : 4;
        ck_assert(is_there(worker, 1));
        *now += 2;
        ck_assert(!is_there(worker, 20));
        *now += 10000;
        if (_i == SHUTS_DOWN)
                ck_assert_int_eq(recv(fds[0], &c, 1, 0), 0);

        b = broker_free(b);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        (void) close(listener);
        (void) unlink(path);
        ck_assert_int_eq(munmap(now, sizeof *now), 0);
        now = NULL;
}
END_TEST

/* A worker that echoes messages until the other end of its socket is closed, and never exits. */
static void echoing_worker(BrokerChild child _unused_, int fd) {
        pid_t pid = getpid();

        do
                (void) send(fd, &pid, sizeof pid, 0);
        while (recv(fd, &pid, sizeof pid, 0) > 0);
        for (;;)
                (void) pause();
}

typedef struct Echo {
        int fd, pidfd;
        pid_t pid;
} Echo;

static void echo_start(Broker *b, Echo *ret) {
        int fds[2];

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(broker_fork(b, BROKER_WORKER, fds[1]), 0);
        (void) close(fds[1]);
        ret->fd = fds[0];
        ck_assert_int_eq(recv(ret->fd, &ret->pid, sizeof ret->pid, 0), sizeof ret->pid);
        ret->pidfd = (int) syscall(SYS_pidfd_open, ret->pid, 0);
        ck_assert_int_ge(ret->pidfd, 0);
}

/* Checks that the worker still echoes a message. */
static void echo_answers(const Echo *e) {
        pid_t pid = e->pid;

        ck_assert_int_eq(send(e->fd, &pid, sizeof pid, MSG_NOSIGNAL), sizeof pid);
        ck_assert_int_eq(recv(e->fd, &pid, sizeof pid, 0), sizeof pid);
        ck_assert_int_eq(pid, e->pid);
}

static void echo_dies(const Echo *e) {
        struct pollfd p = { .fd = e->pidfd, .events = POLLIN };

        ck_assert_int_eq(poll(&p, 1, -1), 1);
        (void) close(e->pidfd);
}

/* A released worker has five seconds to exit, and no other worker is affected. After the manager's exit, all workers of
 * that manager have ten minutes, and the next manager is served without delay. The test sends a request after each
 * change of the clock, since the broker reads the clock at each request. */
START_TEST(test_broker_several) {
        Broker *b, *next;
        char path[108];
        int listener = listener_make(path);
        Echo echoes[6], later[2];
        pid_t pid;

        now = mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ck_assert_ptr_ne(now, MAP_FAILED);
        *now = 1000;
        pid = fork();
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                _exit(broker_run(listener, echoing_worker) == 0 ? 0 : 1);
        }
        (void) close(listener);

        ck_assert_int_eq(broker_new(path, &b), 0);
        for (unsigned i = 0; i < 3; i++)
                echo_start(b, echoes + i);
        (void) close(echoes[_i].fd);
        echo_start(b, echoes + 3);
        *now += 4;
        echo_start(b, echoes + 4);
        ck_assert_int_eq(kill(echoes[_i].pid, 0), 0);
        *now += 1;
        echo_start(b, echoes + 5);
        echo_dies(echoes + _i);
        for (int i = 0; i < (int) ELEMENTSOF(echoes); i++)
                if (i != _i)
                        echo_answers(echoes + i);

        b = broker_free(b);
        ck_assert_int_eq(broker_new(path, &next), 0);
        echo_start(next, later);
        *now += 599;
        echo_start(next, later + 1);
        for (int i = 0; i < (int) ELEMENTSOF(echoes); i++)
                if (i != _i)
                        echo_answers(echoes + i);
        *now += 1;
        echo_start(next, echoes + _i);
        for (int i = 0; i < (int) ELEMENTSOF(echoes); i++)
                if (i != _i) {
                        echo_dies(echoes + i);
                        (void) close(echoes[i].fd);
                }
        echo_answers(later);
        echo_answers(later + 1);
        echo_answers(echoes + _i);

        (void) kill(pid, SIGKILL);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        (void) broker_free(next);
        (void) unlink(path);
        ck_assert_int_eq(munmap(now, sizeof *now), 0);
        now = NULL;
}
END_TEST

static useconds_t kept_from_running; /* time for which the manager sleeps after its next connect(), µs */

int connect(int fd, const struct sockaddr *address, socklen_t size) {
        int r = (int) syscall(SYS_connect, fd, address, size);

        (void) usleep(kept_from_running);
        kept_from_running = 0;
        return r;
}

/* A request starts a worker at any time, even while the broker decides to exit, or long after the manager connected. */
START_TEST(test_broker_race) {
        _cleanup_(broker_freep) Broker *b = NULL;
        char path[108], c;
        int listener = listener_make(path), fds[2];
        pid_t pid;

        pid = fork();
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;) {
                        int fd = accept(listener, NULL, NULL);

                        if (broker_serve(fd, 1, waiting_worker) < 0)
                                _exit(EXIT_FAILURE);
                        (void) close(fd);
                }
        }

        ck_assert_int_eq(broker_new(path, &b), 0);
        for (unsigned turn = 0; turn < 500; turn++) {
                ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
                (void) usleep(700 + turn * 7 % 900);
                kept_from_running = turn % 50 == 0 ? 50 * 1000 : 0;
                ck_assert_int_eq(broker_fork(b, BROKER_WORKER, fds[1]), 0);
                (void) close(fds[1]);
                ck_assert_int_eq(recv(fds[0], &c, 1, 0), 1);
                (void) close(fds[0]);
        }

        (void) kill(pid, SIGKILL);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        (void) close(listener);
        (void) unlink(path);
}
END_TEST

/* ---- verdicts if a drive, or only its disc, disappears during a visit ---- */
int fsck_wait_request(_unused_ FsckWait *g, _unused_ const Drive *drive, _unused_ FsckWaitFn fn,
                      _unused_ void *userdata, FsckTicket **ret) {
        *ret = NULL;
        return 0;
}
FsckTicket *fsck_ticket_free(_unused_ FsckTicket *t) {
        return NULL;
}
Wait fsck_ticket_waits(_unused_ const FsckTicket *t) {
        return (Wait){ WAIT_NOTHING };
}

static const struct {
        const char *diskseq; /* diskseq of the current medium; NULL: no such file */
        bool removable;
        Verdict verdict;
} leavings[] = {
        { "4", true, VERDICT_DEFERRED },
        { "3", true, VERDICT_VANISHED },
        { NULL, true, VERDICT_VANISHED },
        { "4", false, VERDICT_VANISHED },
};

static void on_leaving_step(void *userdata, const Step *s) {
        *(Verdict *) userdata = s->verdict;
        ck_assert(s->reason[0]);
}

START_TEST(test_removed) {
        static const VisitJobEvents events = { .step = on_leaving_step };
        Wish wish = { .name = "apm", .value = VALUE_BOOLEAN(true), .file = "f" };
        const Wishes wishes = { &wish, 1 };
        char path[] = "/tmp/test-worker-XXXXXX", file[64];
        const Drive d = { .name = (char *) "sr0", .syspath = path, .diskseq = 3, .removable = leavings[_i].removable };
        Verdict verdict = _VERDICT_INVALID;
        VisitJob *v;

        ck_assert_ptr_nonnull(mkdtemp(path));
        (void) snprintf(file, sizeof file, "%s/diskseq", path);
        if (leavings[_i].diskseq) {
                FILE *f = fopen(file, "w");

                ck_assert_ptr_nonnull(f);
                fprintf(f, "%s\n", leavings[_i].diskseq);
                fclose(f);
        }
        ck_assert_int_eq(visit_job_new(NULL, NULL, NULL,
                                       &(Visit){ .drive = &d, .wishes = &wishes, .settings = &all_settings }, 0,
                                       &events, &verdict, &v),
                         0);
        visit_job_vanish(v);
        ck_assert_int_eq(verdict, leavings[_i].verdict);
        (void) visit_job_free(v);
        (void) unlink(file);
        ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

int main(void) {
        Suite *s = suite_create("worker");
        TCase *t = tcase_create("worker");

        tcase_set_timeout(t, 120);
        tcase_add_test(t, test_round_trip);
        tcase_add_loop_test(t, test_accepted, 0, ELEMENTSOF(taken));
        tcase_add_loop_test(t, test_refused, 0, ELEMENTSOF(refused));
        tcase_add_test(t, test_hostile);
        tcase_add_loop_test(t, test_own, 0, ELEMENTSOF(places));
        tcase_add_loop_test(t, test_broker, 0, 2);
        tcase_add_loop_test(t, test_removed, 0, ELEMENTSOF(leavings));
        tcase_add_loop_test(t, test_broker_hostile, 0, 3);
        tcase_add_loop_test(t, test_broker_junk, 0, ELEMENTSOF(junk_requests));
        tcase_add_test(t, test_broker_children);
        tcase_add_test(t, test_broker_refused);
        tcase_add_test(t, test_broker_idle);
        tcase_add_loop_test(t, test_broker_outlives_manager, 0, 2);
        tcase_add_loop_test(t, test_broker_ends_workers, 0, _LETTING_GO_MAX);
        tcase_add_loop_test(t, test_broker_several, 0, 3);
        tcase_add_test(t, test_broker_race);
        suite_add_tcase(s, t);

        return suite_run(s);
}
