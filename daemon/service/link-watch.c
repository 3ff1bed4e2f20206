/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <syslog.h>

#include "clock.h"
#include "link-watch.h"
#include "target-power.h"
#include "target-trigger.h"
#include "timer.h"

/* Reads the log at most this often, since the kernel may log a lot. */
#define LOG_USEC (1000ULL * 1000)
/* The links are polled when libata has logged nothing for this time, since libata logs several messages per reset. The
 * time is longer than LOG_USEC, so that the log is read again before the links are polled. */
#define QUIET_USEC (2000ULL * 1000)
#define MAX_USEC (10ULL * 1000 * 1000) /* messages of libata postpone the poll of the links for at most this time */
/* Each read() returns one record, and fails if the buffer is smaller than the record (CONSOLE_EXT_LOG_MAX,
 * PRINTK_MESSAGE_MAX). */
#define RECORD_MAX 8192U

struct LinkWatch {
        sd_event *event; /* borrowed */
        Manager *manager;
        sd_event_source *record; /* event source of the kernel log; NULL if the log cannot be read */
        sd_event_source *timer;
        uint64_t until; /* until this time, each message of libata postpones the poll of the links; CLOCK_MONOTONIC, µs */
};

bool link_watch_poll(LinkWatch *w) {
        bool again = false;

        for (Target *t = manager_first(w->manager); t; t = t->next)
                again = target_poll_link(t, false) || again;
        return again;
}

/* Polls the runtime PM of all drives. Returns true while the kernel is suspending a drive: call again soon. */
static bool poll_runtime(LinkWatch *w) {
        bool again = false;

        for (Target *t = manager_first(w->manager); t; t = t->next)
                again = target_poll_runtime(t) || again;
        return again;
}

typedef enum Sender {
        SENDER_LIBATA = 1 << 0, /* "ata3.00: …" */
        SENDER_SD = 1 << 1, /* the driver of SCSI disks, for example at each runtime suspend: "sd 2:0:0:0: [sda] …" */
} Sender;

/* Returns the sender of a record of /dev/kmsg (Documentation/ABI/testing/dev-kmsg). 0: another sender. Programs can write records, too,
 * but not with the facility of the kernel. */
static unsigned record_sender(const char *record) {
        const char *text = strchr(record, ';');
        char *end;

        /* The record begins with a number: the syslog facility, shifted left by 3, plus the priority. The kernel's facility is 0. */
        if (!text || strtoul(record, &end, 10) > 7 || *end != ',')
                return 0;
        text++;
        if (starts_with(text, "sd "))
                return SENDER_SD;
        return starts_with(text, "ata") && isdigit((unsigned char) text[3]) ? SENDER_LIBATA : 0;
}

/* Reads all new records. Returns a mask of their senders; all senders if records were lost. */
static unsigned read_records(int kmsg) {
        char record[RECORD_MAX + 1];
        unsigned senders = 0;

        for (;;) {
                ssize_t n = read(kmsg, record, RECORD_MAX);

                if (n < 0 && errno == EINTR)
                        continue;
                /* EPIPE: records were overwritten before they were read. The next read() returns the oldest remaining
                 * record. */
                if (n == 0 || (n < 0 && errno != EPIPE))
                        return senders;
                record[MAX(n, 0)] = '\0';
                senders |= n < 0 ? SENDER_LIBATA | SENDER_SD : record_sender(record);
        }
}

static void link_watch_wait(LinkWatch *w);

static int on_timer(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        LinkWatch *w = userdata;
        bool again = link_watch_poll(w);

        again = poll_runtime(w) || again;
        if (again)
                link_watch_wait(w);
        return 0;
}

/* Polls the links after the delay QUIET_USEC. Each call restarts the delay. */
static void link_watch_wait(LinkWatch *w) {
        int r = timer_start(w->event, &w->timer, QUIET_USEC, QUIET_USEC / 10, on_timer, w);

        if (r < 0)
                journal_log(LOG_WARNING,
                            "Failed to start a timer: %s; a link reset is detected only at the next visit.",
                            strerror(-r));
}

static int on_record(sd_event_source *source _unused_, int kmsg, uint32_t revents _unused_, void *userdata) {
        LinkWatch *w = userdata;
        unsigned senders = read_records(kmsg);
        bool suspending = (senders & SENDER_SD) && poll_runtime(w);

        if (!(senders & SENDER_LIBATA) && !suspending)
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
        /* /dev/kmsg has the device number 1:11 (Documentation/admin-guide/devices.txt). */
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
                            "Failed to read the kernel log: %s; if an ATA drive loses power for a moment, it gets its settings "
                            "back only at its next visit.",
                            strerror(-r));

        *ret = w;
        return 0;
}

bool link_watch_is_reading(const LinkWatch *w) {
        return w->record;
}

LinkWatch *link_watch_free(LinkWatch *w) {
        if (!w)
                return NULL;

        sd_event_source_disable_unref(w->record);
        sd_event_source_disable_unref(w->timer);
        free(w);
        return NULL;
}
