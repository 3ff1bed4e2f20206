/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Attacks that an attacker in control of a process would try, for the scenario "sandbox".
 *     attack NAME SANDBOX VICTIM [NODE OWN]
 * applies a sandbox to itself ("worker", "proxy", "tracer", or "unit" for only the unit's sandbox), then tries each attack below. It prints
 * a line for each attack: "yes ATTACK", or "no ATTACK: ERROR". Two attacks request PID 1 to run "touch /NAME.bus" and "touch /NAME.private"
 * as root; others try to kill the process VICTIM. */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <systemd/sd-bus.h>

#include "sandbox.h"

#define TRACING "/sys/kernel/tracing/"

static const char *name;
static pid_t victim;

/* ---- PID 1 ---- */

static int start_unit(sd_bus *bus, const char *way) {
        char unit[64], path[64];

        (void) snprintf(unit, sizeof unit, "%s-%s.service", name, way);
        (void) snprintf(path, sizeof path, "/%s.%s", name, way);
        return sd_bus_call_method(bus, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                                  "org.freedesktop.systemd1.Manager", "StartTransientUnit", NULL, NULL,
                                  "ssa(sv)a(sa(sv))", unit, "fail", 1, "ExecStart", "a(sasb)", 1, "/usr/bin/touch", 2,
                                  "/usr/bin/touch", path, 0, 0);
}

static int try_bus(void) {
        sd_bus *bus;
        int r = sd_bus_open_system(&bus);

        return r < 0 ? r : start_unit(bus, "bus");
}

static int try_private(void) {
        sd_bus *bus;
        int r = sd_bus_new(&bus);

        if (r >= 0)
                r = sd_bus_set_address(bus, "unix:path=/run/systemd/private");
        if (r >= 0)
                r = sd_bus_start(bus);
        return r < 0 ? r : start_unit(bus, "private");
}

/* ---- other processes ---- */

static int try_kill(void) {
        return kill(victim, 0) < 0 ? -errno : 0;
}

/* When data arrives at a socket, the kernel sends a signal to the socket's owner. These attacks make the victim the owner. */
static int pair[2];

static int try_owner(void) {
        return fcntl(pair[0], F_SETOWN, victim) < 0 ? -errno : 0;
}

static int try_owner_ex(void) {
        const struct f_owner_ex owner = { .type = F_OWNER_PID, .pid = victim };

        return fcntl(pair[0], F_SETOWN_EX, &owner) < 0 ? -errno : 0;
}

static int try_async(void) {
        return fcntl(pair[0], F_SETSIG, SIGKILL) < 0 || fcntl(pair[0], F_SETFL, O_ASYNC) < 0 ||
                                               write(pair[1], "x", 1) < 0
                               ? -errno
                               : 0;
}

/* A process that may set any PID as the sender in SCM_CREDENTIALS could forge journal messages. */
static int try_sender(void) {
        union {
                struct cmsghdr align;
                char bytes[CMSG_SPACE(sizeof(struct ucred))];
        } control = {};
        const struct ucred sender = { .pid = victim };
        struct iovec iov = { .iov_base = (char[]){ "x" }, .iov_len = 1 };
        struct msghdr m = { .msg_iov = &iov,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof control };
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);

        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_CREDENTIALS;
        c->cmsg_len = CMSG_LEN(sizeof sender);
        memcpy(CMSG_DATA(c), &sender, sizeof sender);
        return sendmsg(pair[0], &m, 0) < 0 ? -errno : 0;
}

/* ---- files ---- */

static int write_one(const char *path) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);

        return fd < 0 || write(fd, "1", 1) < 0 ? -errno : 0;
}

static int try_shadow(void) {
        return open("/etc/shadow", O_RDONLY | O_CLOEXEC) < 0 ? -errno : 0;
}

static int try_instance(void) {
        return mkdir(TRACING "instances/other", 0700) < 0 ? -errno : 0;
}

static int try_other(void) {
        return write_one(TRACING "instances/neighbour/tracing_on");
}

static int try_global(void) {
        return write_one(TRACING "tracing_on");
}

static int try_own(void) {
        return write_one(TRACING "instances/drivekeep/tracing_on");
}

static const struct {
        const char *name;
        int (*attack)(void);
} attacks[] = {
        { "bus", try_bus },     { "private", try_private },   { "kill", try_kill },     { "sender", try_sender },
        { "owner", try_owner }, { "owner_ex", try_owner_ex }, { "async", try_async },   { "shadow", try_shadow },
        { "other", try_other }, { "instance", try_instance }, { "global", try_global }, { "own", try_own },
};

static int confine(char **argv) {
        if (streq(argv[2], "proxy"))
                return sandbox_proxy();
        if (streq(argv[2], "tracer"))
                return sandbox_tracer(TRACING "instances/drivekeep");
        return streq(argv[2], "worker") ? sandbox_worker(argv[4], NULL, argv[5]) : 0;
}

int main(int argc, char **argv) {
        if (argc < 4 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
                return EXIT_FAILURE;
        name = argv[1];
        victim = atoi(argv[3]);
        if (confine(argv) < 0)
                return EXIT_FAILURE;

        for (size_t i = 0; i < ELEMENTSOF(attacks); i++) {
                int r = attacks[i].attack();

                if (r < 0)
                        printf("no %s: %s\n", attacks[i].name, strerror(-r));
                else
                        printf("yes %s\n", attacks[i].name);
        }
        return 0;
}
