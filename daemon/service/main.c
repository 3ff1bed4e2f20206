/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <syslog.h>
#include <systemd/sd-daemon.h>

#include "daemon.h"
#include "journal.h"
#include "proxy.h"
#include "sandbox.h"
#include "state-file.h"
#include "tracer.h"
#include "worker-message.h"

/* Gives the autogroup of this process's session the nice value of the process. With autogroups (sched_autogroup_enabled, sched(7)),
 * Nice= of a unit has effect only within the session. Kernels without autogroups have no such file. */
static void session_set_nice(void) {
        _cleanup_close_ int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
        int nice = getpriority(PRIO_PROCESS, 0);

        if (fd >= 0 && nice > 0)
                (void) dprintf(fd, "%d", nice);
}

static void broker_child(BrokerChild child, int fd) {
        if (child == BROKER_PROXY)
                proxy_main(fd);
        worker_main(fd);
}

/* Runs the broker. Its unit, drivekeep-broker.service, has the right to send commands to drives. */
static int run_broker(void) {
        int r;

        if (sd_listen_fds(true) != 1)
                return -EINVAL;
        r = sandbox_prepare();
        if (r < 0)
                return r;
        return broker_run(SD_LISTEN_FDS_START, broker_child);
}

/* Runs the tracer. Its unit, drivekeep-tracer.service, may read the kernel's trace. */
static int run_tracer(void) {
        if (sd_listen_fds(true) != 1)
                return -EINVAL;
        return tracer_run(SD_LISTEN_FDS_START, TRACER_INSTANCE);
}

static int run_service(void) {
        _cleanup_close_ int state = state_lock(STATE_DIR);
        _cleanup_(broker_freep) Broker *broker = NULL;
        _cleanup_(daemon_freep) Daemon *d = NULL;
        sd_event *event = NULL;
        sigset_t mask;
        int r;

        (void) sigemptyset(&mask);
        (void) sigaddset(&mask, SIGTERM);
        (void) sigaddset(&mask, SIGINT);
        (void) sigaddset(&mask, SIGHUP);
        (void) sigaddset(&mask, SIGCHLD);
        if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
                return -errno;

        if (state < 0)
                journal_log(LOG_WARNING,
                            STATE_DIR
                            " cannot be locked: %s; 'drivekeep status' reports that the service is not running.",
                            strerror(-state));

        r = broker_new(BROKER_SOCKET, &broker);
        if (r >= 0)
                r = sd_event_default(&event);
        if (r >= 0) {
                journal_attach(event);
                r = daemon_new(event, broker, &d);
        }
        if (r >= 0) {
                (void) sd_notify(false, "READY=1");
                r = sd_event_loop(event);
        }

        d = daemon_free(d);
        (void) sd_event_unref(event);
        return r;
}

int main(int argc, char *argv[]) {
        bool is_broker = argc == 2 && streq(argv[1], "--broker");
        bool is_tracer = argc == 2 && streq(argv[1], "--tracer");
        int r;

        if (argc > 1 && !is_broker && !is_tracer)
                errx(EXIT_FAILURE,
                     "version " DRIVEKEEP_VERSION ", started by systemd as drivekeep.service; see drivekeepd(8)");

        session_set_nice();
        r = is_broker ? run_broker() : is_tracer ? run_tracer() : run_service();
        if (r < 0)
                journal_log(LOG_ERR, "drivekeepd failed: %s", strerror(-r));
        journal_finish();
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
