/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <syslog.h>

#include "journal.h"
#include "rivals-child.h"
#include "rivals.h"
#include "settings.h"

/* A disk that hangs, or files without end: what was found by then is lost, and nothing else. */
#define CHILD_SECONDS 60U

static _Noreturn void child_main(Config *c, Drive *const *drives, size_t n_drives) {
        size_t first = c->complaints.n_items;

        if (rivals_check("/", c, &all_settings, drives, n_drives) < 0)
                _exit(EXIT_FAILURE);

        for (size_t i = first; i < c->complaints.n_items; i++)
                journal_complaint(&c->complaints.items[i]);
        journal_finish();
        /* Not exit(): the parent's buffers and handlers are not ours to run. */
        _exit(EXIT_SUCCESS);
}

/* With userdata: it was told to end. */
static int on_exit_child(sd_event_source *source _unused_, const siginfo_t *si, void *userdata) {
        if (userdata)
                return 0;
        if (si->si_code != CLD_EXITED || si->si_status != EXIT_SUCCESS)
                journal_log(LOG_NOTICE, "The search for other programs that change drives' settings did not end: "
                                        "'drivekeep check' does it again.");
        return 0;
}

int rivals_child_start(sd_event *event, Config *c, Drive *const *drives, size_t n_drives, sd_event_source **child) {
        pid_t pid, parent = getpid();
        sigset_t none;
        int r;

        if (*child && sd_event_source_get_enabled(*child, NULL) > 0) {
                (void) sd_event_source_set_userdata(*child, *child);
                (void) sd_event_source_send_child_signal(*child, SIGKILL, NULL, 0);
                return -EBUSY;
        }
        *child = sd_event_source_disable_unref(*child);

        pid = fork();
        if (pid < 0)
                return -errno;
        if (pid == 0) {
                (void) prctl(PR_SET_NAME, "keep-rivals");
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (getppid() != parent)
                        _exit(EXIT_FAILURE);
                (void) sigemptyset(&none);
                (void) sigprocmask(SIG_SETMASK, &none, NULL);
                (void) alarm(CHILD_SECONDS);
                journal_speak_for(parent);
                child_main(c, drives, n_drives);
        }

        r = sd_event_add_child(event, child, pid, WEXITED, on_exit_child, NULL);
        if (r < 0) {
                (void) kill(pid, SIGKILL);
                (void) waitpid(pid, NULL, 0);
        }
        return r;
}
