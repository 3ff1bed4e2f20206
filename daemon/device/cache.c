/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>

#include "cache.h"
#include "power-mode.h"
#include "settings.h"
#include "sysfs.h"

#define QUEUE_WRITE_CACHE "queue/write_cache"
#define KERNEL_POLLS 20
#define KERNEL_POLL_USEC (100 * 1000)

const ValueWord cache_words[] = { { CACHE_WRITE_BACK, 0 }, { CACHE_WRITE_THROUGH, 0 }, {} };

int cache_kernel_view(Device *d) {
        static const char *const places[] = { "device/scsi_disk/*/cache_type", QUEUE_WRITE_CACHE };
        int view = -ENOENT;

        for (size_t i = 0; i < ELEMENTSOF(places); i++) {
                char type[64];

                if (sysfs_read(d, places[i], type, sizeof type) < 0)
                        continue;
                /* "write back, no read (daft)" counts as write back. */
                if (strncmp(type, CACHE_WRITE_BACK, strlen(CACHE_WRITE_BACK)) != 0)
                        return 0;
                view = 1;
        }

        return view;
}

int cache_check_kernel_view(Device *d, Reading *r) {
        bool on = r->value.type == VALUE_NAME ? streq(r->value.name, "on") : r->value.number;

        if (r->known && on && cache_kernel_view(d) == 0)
                r->value = (Value){ .type = VALUE_NAME, .name = "on, unknown to the kernel" };
        return 0;
}

/* Waits until the kernel has noticed the new cache state. Drivers other than libata's do not notice the change, and need a rescan.
 * -ETIME: the kernel still assumes the old state. */
static int kernel_wait_for_cache(Device *d, bool enabled) {
        int r;

        /* Since Linux 6.11, a "write through" that was stored in the queue's file stays in effect, whatever the drive reports. Linux 6.5 to
         * 6.10 reject "write back" until the driver has noticed the cache. These kernels then set "write back" themselves. */
        if (enabled && cache_kernel_view(d) == 0) {
                r = sysfs_write(d, QUEUE_WRITE_CACHE, CACHE_WRITE_BACK);
                if (r == END_DEFERRED || r == END_VANISHED)
                        return r;
        }

        if (d->drive->transport != TRANSPORT_SATA && d->drive->transport != TRANSPORT_PATA) {
                r = sysfs_write(d, "device/rescan", "1");
                if (r == END_DEFERRED || r == END_VANISHED)
                        return r;
        }

        for (unsigned i = 0; i < KERNEL_POLLS; i++) {
                r = cache_kernel_view(d);
                if (r < 0 || r == enabled)
                        return 0;
                (void) usleep(KERNEL_POLL_USEC);
        }

        return -ETIME;
}

int cache_settle(Device *d, bool enabled, bool was_unknown, int (*flush)(Device *d)) {
        int r;

        assert(flush);
        d->committed = true;

        /* Once the kernel assumes write-through, it sends no more flushes. Data that is still in the cache must be flushed now. */
        if (!enabled) {
                r = flush(d);
                if (r < 0)
                        return r;
        }

        r = kernel_wait_for_cache(d, enabled);
        if (r == 0 && enabled && was_unknown) {
                r = flush(d);
                /* Other errors of the flush are ignored: the cache is on, and the kernel flushes it from now on. */
                return r == END_DEFERRED || r == END_VANISHED ? r : 0;
        }
        /* If the cache is off and the kernel still assumes write-back, the kernel sends needless flushes, which do no harm. */
        return r == -ETIME && !enabled ? 0 : r;
}

int cache_fail_turned_off(Device *d) {
        return device_fail(
                        d, END_FORBIDDEN,
                        "the write cache was turned off again: the kernel still assumes write-through, and would not flush the cache");
}

/* Returns 0 if the drive reports that its cache is off. END_FORBIDDEN: the cache is on, or its state is not known. Other errors: a command
 * failed. */
static int cache_known_off(Device *d) {
        const Setting *s = setting_for_backends(&all_settings, "write_cache", drive_backends(d->drive));
        Reading reading = {};
        int r = 0;

        /* Reading the cache state would spin up a drive in standby. */
        if (s && (s->backend == BACKEND_ATA || s->backend == BACKEND_SCSI_MODE)) {
                r = power_probe(d, s->backend);
                if (r >= 0 && d->power != POWER_ACTIVE && !d->wake)
                        return device_fail(
                                        d, END_DEFERRED,
                                        "the drive is in standby; the state of its cache can be read only when the drive is active");
        }

        if (s && r >= 0) {
                device_refresh(d);
                r = s->read(d, s, &reading);
        }
        if (r == END_DEFERRED || r == END_VANISHED)
                return r;
        if (r < 0 || !reading.supported || !reading.known)
                return device_fail(
                                d, END_FORBIDDEN,
                                "the drive does not report whether its cache is off; if the cache is on, this setting loses data");
        if (reading.value.type != VALUE_BOOL || reading.value.number)
                return device_fail(
                                d, END_FORBIDDEN,
                                "the drive's cache is on, and a power cut would lose data: set write_cache = false first");
        return 0;
}

const Remedy drive_cache_remedy = { "use write_cache for the drive's own cache", { "write_cache" } };

int cache_view_read(Device *d, const Setting *s, Reading *ret) {
        int r;

        r = sysfs_setting_read(d, s, ret);
        if (r < 0 || !streq(ret->value.name, CACHE_WRITE_THROUGH))
                return r;

        /* After a power loss the drive's cache is on again, but the kernel keeps assuming write-through. */
        r = cache_known_off(d);
        if (r != END_FORBIDDEN)
                return r;

        (void) strcpy(ret->value.name, CACHE_WRITE_THROUGH ", with the cache on");
        return 0;
}

int cache_view_write(Device *d, const Setting *s, const Value *v) {
        static const Value safe = { .type = VALUE_NAME, .name = CACHE_WRITE_BACK };
        int r, stored = 0;

        r = streq(v->name, CACHE_WRITE_BACK) ? 0 : cache_known_off(d);
        if (r == 0)
                return sysfs_setting_write(d, s, v);

        if (r == END_FORBIDDEN && cache_kernel_view(d) == 0)
                stored = sysfs_setting_write(d, s, &safe);
        return stored < 0 ? stored : r;
}
