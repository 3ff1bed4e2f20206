/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <syslog.h>

#include "clock.h"
#include "link-watch.h"
#include "target-trigger.h"
#include "timer.h"

/* The kernel may log a lot. */
#define LOG_USEC (1000ULL * 1000)
/* What libata does to a link takes several messages: all of them are one loss of the link. Longer than LOG_USEC, so that none is read
 * too late for that. */
#define QUIET_USEC (2000ULL * 1000)
#define MAX_USEC (10ULL * 1000 * 1000) /* also where it never ends */
/* The kernel gives out one record at a time, and none of it to a reader that has no room for the whole (CONSOLE_EXT_LOG_MAX,
 * PRINTK_MESSAGE_MAX). */
#define RECORD_MAX 8192U

struct LinkWatch {
        sd_event *event; /* borrowed */
        Manager *manager;
        sd_event_source *record; /* NULL: there is no log to read */
        sd_event_source *timer;
        uint64_t until; /* CLOCK_MONOTONIC, µs: by then the links are polled, also while libata goes on */
};

bool link_watch_poll(LinkWatch *w) {
        bool again = false;

        for (Target *t = manager_first(w->manager); t; t = t->next)
                again = target_poll_link(t, false) || again;
        return again;
}

/* Is a record of /dev/kmsg (Documentation/ABI/testing/dev-kmsg) one of the kernel's own and libata's: "ata3.00: …"? Programs can write
 * records, too, but not in the kernel's name. */
static bool is_libata(const char *record) {
        const char *text = strchr(record, ';');
        char *end;

        /* The syslog facility stands above the three bits of the priority; the kernel's own is 0. */
        if (!text || strtoul(record, &end, 10) > 7 || *end != ',')
                return false;
        text++;
        return starts_with(text, "ata") && isdigit((unsigned char) text[3]);
}

/* Reads all that there is. Returns whether libata has said something. */
static bool read_records(int kmsg) {
        char record[RECORD_MAX + 1];
        bool libata = false;

        for (;;) {
                ssize_t n = read(kmsg, record, RECORD_MAX);

                if (n < 0 && errno == EINTR)
                        continue;
                /* EPIPE: some were overwritten before they were read, and what follows can be read. */
                if (n == 0 || (n < 0 && errno != EPIPE))
                        return libata;
                record[MAX(n, 0)] = '\0';
                libata = libata || n < 0 || is_libata(record);
        }
}

static void link_watch_wait(LinkWatch *w);

static int on_timer(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        LinkWatch *w = userdata;

        if (link_watch_poll(w))
                link_watch_wait(w);
        return 0;
}

/* Until libata is quiet. */
static void link_watch_wait(LinkWatch *w) {
        int r = timer_start(w->event, &w->timer, QUIET_USEC, QUIET_USEC / 10, on_timer, w);

        if (r < 0)
                journal_log(LOG_WARNING,
                            "A timer cannot be started, a link reset is noticed only at the next visit: %s",
                            strerror(-r));
}

static int on_record(sd_event_source *source _unused_, int kmsg, uint32_t revents _unused_, void *userdata) {
        LinkWatch *w = userdata;

        if (!read_records(kmsg))
                return 0;

        if (!timer_runs(w->timer))
                w->until = monotonic_usec() + MAX_USEC;
        if (monotonic_usec() < w->until)
                link_watch_wait(w);
        return 0;
}

static int watch_kernel_log(LinkWatch *w, int kmsg) {
        struct stat st;
        int r;

        if (fstat(kmsg, &st) < 0)
                return -errno;
        /* Documentation/admin-guide/devices.txt */
        if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, 11))
                return -ENODEV;
        if (fcntl(kmsg, F_SETFL, O_NONBLOCK) < 0 || lseek(kmsg, 0, SEEK_END) < 0)
                return -errno;

        r = sd_event_add_io(w->event, &w->record, kmsg, EPOLLIN, on_record, w);
        return r < 0 ? r : sd_event_source_set_ratelimit(w->record, LOG_USEC, 1);
}

int link_watch_new(sd_event *event, Manager *m, int kmsg, LinkWatch **ret) {
        LinkWatch *w;
        int r;

        w = calloc(1, sizeof *w);
        if (!w)
                return -ENOMEM;

        *w = (LinkWatch){ .event = event, .manager = m };
        r = watch_kernel_log(w, kmsg);
        if (r < 0)
                journal_log(LOG_NOTICE,
                            "No kernel log on standard input (%s): an ATA drive that loses power briefly gets its settings back only at its next visit.",
                            strerror(-r));

        *ret = w;
        return 0;
}

LinkWatch *link_watch_free(LinkWatch *w) {
        if (!w)
                return NULL;

        sd_event_source_disable_unref(w->record);
        sd_event_source_disable_unref(w->timer);
        free(w);
        return NULL;
}
