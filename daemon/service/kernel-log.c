/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "kernel-log.h"
#include "timer.h"

#define TICK_USEC (1000ULL * 1000)
/* The kernel gives out one record at a time, and none of it to whoever has no room for the whole (CONSOLE_EXT_LOG_MAX,
 * PRINTK_MESSAGE_MAX). */
#define RECORD_MAX 8192U

struct KernelLog {
        int fd;
        sd_event_source *source, *timer;
        bool pending; /* the handler is to be called */
        KernelLogHandler handler;
        void *userdata;
};

bool kernel_log_is_libata(const char *record) {
        const char *text = strchr(record, ';');
        char *end;

        /* The syslog facility stands above the three bits of the priority; the kernel's own is 0. */
        if (!text || strtoul(record, &end, 10) > 7 || *end != ',')
                return false;
        text++;
        return starts_with(text, "ata") && isdigit((unsigned char) text[3]);
}

/* Reads all that there is. */
static void drain(KernelLog *l, bool *ret_any, bool *ret_libata) {
        char record[RECORD_MAX + 1];

        *ret_any = *ret_libata = false;
        for (;;) {
                ssize_t n = read(l->fd, record, RECORD_MAX);

                if (n < 0 && errno == EINTR)
                        continue;
                /* EPIPE: some were overwritten before they were read, and what follows can be read. */
                if (n == 0 || (n < 0 && errno != EPIPE))
                        return;
                *ret_any = true;
                record[MAX(n, 0)] = '\0';
                *ret_libata = *ret_libata || n < 0 || kernel_log_is_libata(record);
        }
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata);

static int tick(KernelLog *l) {
        sd_event *event = sd_event_source_get_event(l->source);
        int r = timer_start(event, &l->timer, TICK_USEC, TICK_USEC / 10, on_tick, l);

        return r < 0 ? r : sd_event_source_set_enabled(l->source, SD_EVENT_OFF);
}

static int on_tick(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        KernelLog *l = userdata;
        bool any, libata;

        drain(l, &any, &libata);
        if (l->pending || libata)
                l->pending = l->handler(l->userdata);
        return any || l->pending ? tick(l) : sd_event_source_set_enabled(l->source, SD_EVENT_ON);
}

static int on_record(sd_event_source *source _unused_, int fd _unused_, uint32_t revents _unused_, void *userdata) {
        KernelLog *l = userdata;
        bool any, libata;

        drain(l, &any, &libata);
        l->pending = l->pending || libata;
        return tick(l);
}

int kernel_log_new(sd_event *event, int fd, KernelLogHandler handler, void *userdata, KernelLog **ret) {
        _cleanup_(kernel_log_freep) KernelLog *l = NULL;
        struct stat st;
        int r;

        if (fstat(fd, &st) < 0)
                return -errno;
        /* Documentation/admin-guide/devices.txt */
        if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, 11))
                return -ENODEV;
        if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0 || lseek(fd, 0, SEEK_END) < 0)
                return -errno;

        l = calloc(1, sizeof *l);
        if (!l)
                return -ENOMEM;
        *l = (KernelLog){ .fd = fd, .handler = handler, .userdata = userdata };

        r = sd_event_add_io(event, &l->source, fd, EPOLLIN, on_record, l);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(l);
        return 0;
}

KernelLog *kernel_log_free(KernelLog *l) {
        if (!l)
                return NULL;

        sd_event_source_disable_unref(l->source);
        sd_event_source_disable_unref(l->timer);
        free(l);
        return NULL;
}
