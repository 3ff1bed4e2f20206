/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <syslog.h>

#include "bridge-fall.h"
#include "clock.h"
#include "device.h"
#include "stack.h"

/* A bridge that crashed reconnects within this time. A person who reconnects the cable takes longer, and expects the
 * service to probe the bridge again. */
#define BACK_BY_ITSELF_USEC (20ULL * 1000 * 1000)

/* Returns the length of the USB port's path, which is the part of the drive's syspath before the SCSI host. Returns 0 if there is no SCSI
 * host. */
static size_t port_length(const Target *t) {
        const char *host;

        return stack_scsi_host(t->drive->syspath, &host) > 0 ? (size_t) (host - t->drive->syspath) : 0;
}

static bool is_probing_bridge(const Target *t) {
        return t->drive->transport == TRANSPORT_USB && t->record->bridge.cdb == 0 && !t->record->bridge.queried &&
               (t->record->bridge.fragile || target_has_worker(t));
}

void bridge_fall_note(BridgeFall *fall, const Target *t) {
        size_t n = port_length(t);

        if (n == 0 || !is_probing_bridge(t) || drive_medium_changed(t->drive))
                return;
        free(fall->port);
        *fall = (BridgeFall){ strndup(t->drive->syspath, n), monotonic_usec() };
}

void bridge_fall_restore(const BridgeFall *fall, Target *t) {
        size_t n = port_length(t);

        if (!fall->port || strlen(fall->port) != n || strncmp(fall->port, t->drive->syspath, n) != 0 ||
            monotonic_usec() - fall->usec >= BACK_BY_ITSELF_USEC)
                return;

        t->record->bridge.queried = t->record->bridge.fragile = true;
        journal_log(LOG_WARNING,
                    "%s: the USB bridge disconnected during an ATA command; no further ATA commands are sent until the bridge is plugged in again.",
                    t->drive->name);
}
