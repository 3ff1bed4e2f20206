/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>

#include "journal.h"
#include "rivals-child.h"
#include "rivals.h"
#include "settings.h"

/* A disk that hangs, or files without end: what was found by then is lost, and nothing else. */
#define CHILD_SECONDS 60U

typedef struct Search {
        int fd; /* what it found, for the parent to tell: the child may have ended before journald finds out whose it was */
        bool told_to_end;
} Search;

static void search_free(void *userdata) {
        Search *s = userdata;

        closep(&s->fd);
        free(s);
}

static _Noreturn void child_main(int fd, Config *c, Drive *const *drives, size_t n_drives) {
        size_t first = c->complaints.n_items;

        if (rivals_check("/", c, &all_settings, drives, n_drives) < 0)
                _exit(EXIT_FAILURE);

        for (size_t i = first; i < c->complaints.n_items; i++) {
                const Complaint *x = c->complaints.items + i;

                if (dprintf(fd, "%i %u %u %s%c%s%c", x->level, x->line, x->column, x->file, '\0', x->sentence, '\0') <
                    0)
                        _exit(EXIT_FAILURE);
        }
        /* Not exit(): the parent's buffers and handlers are not ours to run. */
        _exit(EXIT_SUCCESS);
}

/* Of what begins at `p`; returns what begins behind it, NULL: nothing. */
static const char *tell(const char *p, const char *end) {
        int level, n = 0;
        const char *sentence;
        Complaint x = {};

        /* Numbers that were printed from these types fit. */
        /* NOLINTNEXTLINE(cert-err34-c) */
        if (p == end || sscanf(p, "%i %u %u %n", &level, &x.line, &x.column, &n) != 3 || n == 0 ||
            level < COMPLAINT_ERROR || level > COMPLAINT_NOTICE)
                return NULL;
        sentence = p + strlen(p) + 1;
        if (sentence >= end)
                return NULL;

        x.level = (ComplaintLevel) level;
        x.file = (char *) p + n;
        x.sentence = (char *) sentence;
        journal_complaint(&x);
        return sentence + strlen(sentence) + 1;
}

static void search_tell(const Search *s) {
        const char *text;
        struct stat st;

        if (fstat(s->fd, &st) < 0 || st.st_size == 0)
                return;
        text = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, s->fd, 0);
        if (text == MAP_FAILED)
                return;

        /* Else it was not written to its end. */
        if (text[st.st_size - 1] == '\0')
                for (const char *p = text; p;)
                        p = tell(p, text + st.st_size);
        (void) munmap((void *) text, st.st_size);
}

static int on_exit_child(sd_event_source *source _unused_, const siginfo_t *si, void *userdata) {
        const Search *s = userdata;

        if (s->told_to_end)
                return 0;
        if (si->si_code == CLD_EXITED && si->si_status == EXIT_SUCCESS)
                search_tell(s);
        else
                journal_log(LOG_NOTICE, "The search for other programs that change drives' settings did not end: "
                                        "'drivekeep check' does it again.");
        return 0;
}

int rivals_child_start(sd_event *event, Config *c, Drive *const *drives, size_t n_drives, sd_event_source **child) {
        pid_t pid, parent = getpid();
        sigset_t none;
        Search *s;
        int r;

        if (*child && sd_event_source_get_enabled(*child, NULL) > 0) {
                ((Search *) sd_event_source_get_userdata(*child))->told_to_end = true;
                (void) sd_event_source_send_child_signal(*child, SIGKILL, NULL, 0);
                return -EBUSY;
        }
        *child = sd_event_source_disable_unref(*child);

        s = calloc(1, sizeof *s);
        if (!s)
                return -ENOMEM;
        s->fd = memfd_create("rivals", MFD_CLOEXEC);
        pid = s->fd < 0 ? -1 : fork();
        if (pid < 0) {
                r = -errno;
                search_free(s);
                return r;
        }
        if (pid == 0) {
                (void) prctl(PR_SET_NAME, "keep-rivals");
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (getppid() != parent)
                        _exit(EXIT_FAILURE);
                (void) sigemptyset(&none);
                (void) sigprocmask(SIG_SETMASK, &none, NULL);
                (void) alarm(CHILD_SECONDS);
                child_main(s->fd, c, drives, n_drives);
        }

        r = sd_event_add_child(event, child, pid, WEXITED, on_exit_child, s);
        if (r < 0) {
                (void) kill(pid, SIGKILL);
                (void) waitpid(pid, NULL, 0);
                search_free(s);
                return r;
        }
        (void) sd_event_source_set_destroy_callback(*child, search_free);
        return 0;
}
