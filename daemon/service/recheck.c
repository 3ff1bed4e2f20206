/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <syslog.h>

#include "clock.h"
#include "kernel-view.h"
#include "recheck.h"
#include "target-power.h"
#include "target-trigger.h"
#include "timer.h"

/* Coarse on purpose, so that it goes with some wake-up of somebody else's. */
#define WAKE_USEC (30ULL * 1000 * 1000)
/* A drive that the kernel suspends soon is resumed only for so long: it is polled twice in that time, but not more often than that. */
#define RESUMED_USEC (1ULL * 1000 * 1000)
/* A drive that is used within that time is kept awake by its user, and hardly longer by us. */
#define BUSY_USEC (10ULL * 1000 * 1000)

/* The kernel may say a lot. */
#define LOG_USEC (1000ULL * 1000)
/* What libata does to a link takes several messages: all of them are one loss of the link. Longer than LOG_USEC, so that none is read
 * too late for that. */
#define LIBATA_QUIET_USEC (2000ULL * 1000)
#define LIBATA_MAX_USEC (10ULL * 1000 * 1000) /* also where it never ends */
/* The kernel gives out one record at a time, and none of it to whoever has no room for the whole (CONSOLE_EXT_LOG_MAX,
 * PRINTK_MESSAGE_MAX). */
#define RECORD_MAX 8192U

#define DEBIAN_RULES "85-hdparm.rules"
/* Drives that come together, each of which has the other program write to all. */
#define MEDDLED_USEC (2ULL * 1000 * 1000)

struct Recheck {
        sd_event *event; /* borrowed */
        Manager *manager;
        sd_event_source *wake, *recheck, *busy, *meddled, *links;
        sd_event_source *record; /* NULL: there is no log to read */
        uint64_t wake_usec;      /* what the timer `wake` was started with */
        uint64_t recheck_usec;
        uint64_t links_due; /* on the monotonic clock: by then the links are looked at, also while libata goes on */
};

static void recheck_start(Recheck *p, sd_event_source **timer, uint64_t usec, uint64_t accuracy_usec,
                          sd_event_time_handler_t handler) {
        int r = timer_start(p->event, timer, usec, accuracy_usec, handler, p);

        if (r < 0)
                journal_log(LOG_WARNING, "No timer: what no event tells is noticed at the next visit: %s",
                            strerror(-r));
}

/* ---- drives that sleep ---- */

static int on_wake(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Recheck *p = userdata;

        for (Target *t = manager_first(p->manager); t; t = t->next) {
                if (!target_has_deferred(t))
                        continue;
                if (target_poll_active(t))
                        target_visit(t, VISIT_WAKE);
                recheck_rested(p, t);
        }
        return 0;
}

static uint64_t wake_usec(const Target *t) {
        if (!target_was_suspended(t))
                return WAKE_USEC;
        return MIN(MAX(activity_autosuspend_usec(t->drive->syspath) / 2, RESUMED_USEC), WAKE_USEC);
}

void recheck_rested(Recheck *p, const Target *t) {
        uint64_t usec = wake_usec(t);

        if (!target_has_deferred(t) || (timer_runs(p->wake) && usec >= p->wake_usec))
                return;
        p->wake_usec = usec;
        recheck_start(p, &p->wake, usec, usec / 2, on_wake);
}

/* ---- links ---- */

bool recheck_links(Recheck *p) {
        bool again = false;

        for (Target *t = manager_first(p->manager); t; t = t->next)
                again = target_poll_link(t, false) || again;
        return again;
}

bool recheck_is_libata(const char *record) {
        const char *text = strchr(record, ';');
        char *end;

        /* The syslog facility stands above the three bits of the priority; the kernel's own is 0. */
        if (!text || strtoul(record, &end, 10) > 7 || *end != ',')
                return false;
        text++;
        return starts_with(text, "ata") && isdigit((unsigned char) text[3]);
}

/* Reads all that there is. Returns whether libata has said something. */
static bool recheck_drain(int kmsg) {
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
                libata = libata || n < 0 || recheck_is_libata(record);
        }
}

static int on_links(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Recheck *p = userdata;

        if (recheck_links(p))
                recheck_start(p, &p->links, LIBATA_QUIET_USEC, LIBATA_QUIET_USEC / 10, on_links);
        return 0;
}

static int on_record(sd_event_source *source _unused_, int kmsg, uint32_t revents _unused_, void *userdata) {
        Recheck *p = userdata;

        if (!recheck_drain(kmsg))
                return 0;

        if (!timer_runs(p->links))
                p->links_due = monotonic_usec() + LIBATA_MAX_USEC;
        if (monotonic_usec() < p->links_due)
                recheck_start(p, &p->links, LIBATA_QUIET_USEC, LIBATA_QUIET_USEC / 10, on_links);
        return 0;
}

static int listen_to_kernel(Recheck *p, int kmsg) {
        struct stat st;
        int r;

        if (fstat(kmsg, &st) < 0)
                return -errno;
        /* Documentation/admin-guide/devices.txt */
        if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, 11))
                return -ENODEV;
        if (fcntl(kmsg, F_SETFL, O_NONBLOCK) < 0 || lseek(kmsg, 0, SEEK_END) < 0)
                return -errno;

        r = sd_event_add_io(p->event, &p->record, kmsg, EPOLLIN, on_record, p);
        return r < 0 ? r : sd_event_source_set_ratelimit(p->record, LOG_USEC, 1);
}

/* ---- rechecks ---- */

static int on_busy(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Recheck *p = userdata;

        /* Of one that sleeps, every use is to be noticed by those who look out for it. */
        for (Target *t = manager_first(p->manager); t; t = t->next)
                target_recheck(t, !target_has_deferred(t) && target_poll_active(t));
        return 0;
}

static int on_recheck(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Recheck *p = userdata;

        for (Target *t = manager_first(p->manager); t; t = t->next)
                if (!t->visit.job && !target_has_deferred(t))
                        (void) target_poll_active(t);

        recheck_start(p, &p->busy, BUSY_USEC, BUSY_USEC / 10, on_busy);
        recheck_start(p, &p->recheck, p->recheck_usec, p->recheck_usec / 10, on_recheck);
        return 0;
}

/* ---- other programs ---- */

/* Debian's rule is for these, and its script writes to these. */
static bool is_in_reach(const char *name) {
        return fnmatch("[hs]d[a-z]", name, 0) == 0;
}

bool recheck_meets_debian(const char *root) {
        char path[256];
        struct stat st;

        /* Masked as udev has it: by an empty file, or by a link to /dev/null, which has no size either. */
        (void) snprintf(path, sizeof path, "%s/etc/udev/rules.d/" DEBIAN_RULES, root);
        if (stat(path, &st) == 0 && st.st_size == 0)
                return false;

        /* Since the merge of /usr that is /usr/lib. */
        (void) snprintf(path, sizeof path, "%s/lib/udev/rules.d/" DEBIAN_RULES, root);
        return access(path, F_OK) == 0;
}

static int on_meddled(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Recheck *p = userdata;

        for (Target *t = manager_first(p->manager); t; t = t->next)
                if (is_in_reach(t->drive->name))
                        target_meddled(t);
        return 0;
}

void recheck_attached(Recheck *p, const char *name) {
        if (is_in_reach(name) && recheck_meets_debian(""))
                recheck_start(p, &p->meddled, MEDDLED_USEC, MEDDLED_USEC / 10, on_meddled);
}

void recheck_recheck_every(Recheck *p, uint64_t usec) {
        if (usec == p->recheck_usec)
                return;

        p->recheck_usec = usec;
        p->recheck = sd_event_source_disable_unref(p->recheck);
        p->busy = sd_event_source_disable_unref(p->busy);
        if (usec > 0)
                recheck_start(p, &p->recheck, usec, usec / 10, on_recheck);
}

int recheck_new(sd_event *event, Manager *m, int kmsg, Recheck **ret) {
        Recheck *p;
        int r;

        p = calloc(1, sizeof *p);
        if (!p)
                return -ENOMEM;

        *p = (Recheck){ .event = event, .manager = m };

        r = listen_to_kernel(p, kmsg);
        if (r < 0)
                journal_log(LOG_NOTICE,
                            "No kernel log on standard input (%s): an ATA drive that loses its power for seconds gets its settings back at its next visit.",
                            strerror(-r));

        *ret = p;
        return 0;
}

Recheck *recheck_free(Recheck *p) {
        if (!p)
                return NULL;

        sd_event_source_disable_unref(p->record);
        sd_event_source_disable_unref(p->links);
        sd_event_source_disable_unref(p->wake);
        sd_event_source_disable_unref(p->recheck);
        sd_event_source_disable_unref(p->busy);
        sd_event_source_disable_unref(p->meddled);
        free(p);
        return NULL;
}
