/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep wakes --summary`: prints the number of wakes per waker, and advice. */

#include <fnmatch.h>

#include "output.h"
#include "wakes.h"
#include "words.h"

/* ---- advice for known wakers: only what their manuals document ---- */

/* clang-format off */
static const struct {
        const char *process, *unit; /* patterns for fnmatch(3): the advice fits if one of them matches; NULL matches nothing */
        const char *kind;           /* the advice also fits wakes of this kind; NULL matches nothing */
        const char *advice;
} advices[] = {
        /* The first match counts. A program that calls another program of this list is therefore listed before that program. */
        { "@(node_exporter|prometheus-node|smartctl_export|prometheus-smar)*",
          "@(*node[-_]exporter*|*smartctl[-_]exporter*).service", NULL,
          "make the exporter, or its collector script, skip drives in standby: smartctl does so with -n standby" },
        { "@(pvestatd|pvedaemon|pveproxy|pvescheduler)*", "@(pvestatd|pvedaemon|pveproxy|pvescheduler).service", NULL,
          "Proxmox VE scans its storages: hide the drive from LVM by global_filter in /etc/lvm/lvm.conf, and disable unused Proxmox "
          "storages on this drive" },
        { "smartd", "@(smartd|smartmontools).service", NULL,
          "add -n standby,q to the drive's line in smartd.conf(5), so that smartd skips the drive in standby" },
        { "smartctl", NULL, NULL,
          "make the program that calls smartctl pass it -n standby, so that smartctl skips drives in standby" },
        { "udisksd", "udisks2.service", NULL,
          "udisksd reads SMART data every ten minutes, but not from drives in standby: the drive was woken by another request, for "
          "example from a desktop program" },
        { "@(lvm|pvs|vgs|lvs|pvscan|vgscan|lvscan|pvdisplay|vgdisplay|lvdisplay|pvchange|vgchange|lvchange|lvmdevices|lvmdbusd)",
          "lvm2-*.service", NULL,
          "LVM's tools read every drive that they may use: exclude this drive by global_filter in /etc/lvm/lvm.conf, or by a devices "
          "file that does not list the drive (lvmdevices(8))" },
        { "@(dockerd|containerd)*", "@(docker|containerd).service", NULL,
          "images, containers and their logs are in Docker's data-root: move it to another drive by data-root in "
          "/etc/docker/daemon.json" },
        { "hd-idle", "hd-idle.service", NULL,
          "disable hd-idle.service: spindown_time in drivekeep.conf(5) replaces it" },
        { "updatedb*", "*updatedb*.service", NULL,
          "add the drive's mount point to PRUNEPATHS in /etc/updatedb.conf, so that updatedb does not search the drive" },
        { "hddtemp", "hddtemp.service", NULL,
          "hddtemp -w wakes drives: call hddtemp without -w, or exclude this drive" },
        { "@(smbd|nmbd)*", "@(smbd|nmbd|smb|nmb|samba*).service", NULL,
          "smbstatus(1) shows which clients of Samba have files open on the drive" },
        { "systemd-journal*", "systemd-journald*.service", NULL,
          "the journal is on this drive: move /var/log/journal to another drive, or set Storage=volatile in journald.conf(5)" },
        /* Advice for any waker, by the kind of wake. */
        { NULL, NULL, "udev",
          "a program opened the drive for writing and closed it, or triggered a udev event; this made udev's rules read the drive" },
        { NULL, NULL, "swap",
          "swap space is on this drive: move it to another drive; 'swapon --show' lists it" },
        { NULL, NULL, "md",
          "perhaps a check of the array: mdcheck_start.timer starts checks; on Debian, a cron job does, unless "
          "/etc/default/mdadm has AUTOCHECK=false" },
};
/* clang-format on */

static bool wake_advice_fits(const char *pattern, const char *text) {
        return pattern && text && fnmatch(pattern, text, FNM_EXTMATCH) == 0;
}

const char *wake_advice(const WakeRecord *w) {
        for (size_t i = 0; i < ELEMENTSOF(advices); i++)
                if (wake_advice_fits(advices[i].process, w->process) || wake_advice_fits(advices[i].unit, w->unit) ||
                    wake_advice_fits(advices[i].kind, w->kind))
                        return advices[i].advice;
        /* The advice does not fit if the program changed the content of a file: then the flush would also occur without access
         * times. */
        if (w->process && !w->content && streq_ptr(w->kind, "flush"))
                return "a program that only reads files writes their access times; the mount option noatime prevents such writes";
        return NULL;
}

/* ---- the table ---- */

/* clang-format off */
static const Column columns[] = {
        { "wakes", "WAKES", .right = true },
        { "drives", "DRIVES", .wrap = true },
        { "last", "LAST" },
        { "waker", "WAKER", .wrap = true },
        { "unit", "UNIT" },
};
/* clang-format on */

/* A row of the summary: one waker, identified by its unit or by its name. */
typedef struct WakerRow {
        const char *unit; /* NULL if the waker has no unit, or if the unit does not identify the waker */
        Words names, drives;
        size_t n_wakes;
        uint64_t last;
        const char *advice;
} WakerRow;

typedef struct Wakers {
        GROWING_ARRAY(WakerRow, items);
} Wakers;

static void wakers_done(Wakers *c) {
        for (size_t i = 0; i < c->n_items; i++) {
                words_done(&c->items[i].names);
                words_done(&c->items[i].drives);
        }
        free(c->items);
}

/* Returns the unit, or NULL for session scopes: each login has a new scope, so the process name identifies the waker. */
static const char *waker_unit(const WakeRecord *w) {
        return w->unit && fnmatch("session-*.scope", w->unit, 0) != 0 ? w->unit : NULL;
}

/* Returns the name of the waker. Numbers of kernel workers are omitted: they do not identify the work. */
static const char *waker_name(const WakeRecord *w) {
        return !w->process && w->thread && starts_with(w->thread, "kworker/") ? "kernel: kworker" : w->waker;
}

const char *wake_waker(const WakeRecord *w) {
        return waker_unit(w) ?: waker_name(w);
}

static WakerRow *waker_row_of(Wakers *c, const WakeRecord *w) {
        const char *unit = waker_unit(w);

        for (WakerRow *i = c->items; i < c->items + c->n_items; i++)
                if (streq_ptr(i->unit, unit) && (unit || streq(i->names.items[0], waker_name(w))))
                        return i;

        must_grow(c, items);
        c->items[c->n_items] = (WakerRow){ .unit = unit };
        return c->items + c->n_items++;
}

static int summary_compare(const void *a, const void *b) {
        const WakerRow *x = a, *y = b;

        if (x->n_wakes != y->n_wakes)
                return x->n_wakes > y->n_wakes ? -1 : 1;
        return x->last > y->last ? -1 : x->last < y->last;
}

static void summary_print(Output *o, const WakerRow *c, bool json) {
        _cleanup_free_ char *names = words_join(&c->names, 0, ", "), *drives = words_join(&c->drives, 0, ", "),
                            *wakes = must_format("%zu", c->n_wakes);

        output_row(o);
        output_text(o, "waker", c->unit ?: names);
        output_cell(o, "waker", names);
        output_text(o, "unit", c->unit);
        output_number(o, "wakes", true, (int64_t) c->n_wakes);
        output_cell(o, "wakes", wakes);
        if (json) {
                output_array(o, "programs");
                for (size_t i = 0; i < c->names.n_items; i++)
                        output_text(o, NULL, c->names.items[i]);
                output_end(o);
                output_array(o, "drives");
                for (size_t i = 0; i < c->drives.n_items; i++)
                        output_text(o, NULL, c->drives.items[i]);
                output_end(o);
        } else
                output_cell(o, "drives", drives);
        output_time(o, "last", c->last);
        output_text(o, "advice", c->advice);
        output_end(o);

        if (c->advice)
                output_note(o, "%s: %s", c->unit ?: names, c->advice);
}

void wake_summary_print(const WakeRecords *records, bool json) {
        _cleanup_(output_freep) Output *o = output_new(json, columns, ELEMENTSOF(columns));
        _cleanup_(wakers_done) Wakers wakers = {};

        for (const WakeRecord *w = records->items; w < records->items + records->n_items; w++) {
                WakerRow *c = waker_row_of(&wakers, w);

                words_add_new(&c->names, waker_name(w));
                words_add_new(&c->drives, w->drive);
                c->n_wakes++;
                c->last = MAX(c->last, w->when);
                c->advice = wake_advice(w) ?: c->advice;
        }
        if (wakers.n_items > 0)
                qsort(wakers.items, wakers.n_items, sizeof *wakers.items, summary_compare);

        output_document(o, "wakers");
        for (size_t i = 0; i < wakers.n_items; i++)
                summary_print(o, wakers.items + i, json);
        output_print(o);
}
