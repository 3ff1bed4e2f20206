/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Drives behind USB bridges: the first visit may be for finding out which drive it is, and what is found out is kept in the
 * record for as long as it is attached. */

#include <syslog.h>

#include "clock.h"
#include "device.h"
#include "stack.h"
#include "watched.h"

/* A bridge that crashed is back so soon. Somebody who pulls a plug and pushes it in again takes longer, and wants another
 * try. */
#define BACK_BY_ITSELF_USEC (20ULL * 1000 * 1000)

bool watched_wants_identity(const Watched *w) {
        const Config *c = w->files->config;

        if (w->record->bridge.asked || !drive_is_veiled(w->drive))
                return false;

        for (size_t i = 0; i < c->n_blocks; i++)
                if (match_asks_identity(&c->blocks[i].match))
                        return true;
        return false;
}

void watched_bridged(void *userdata, const Bridge *bridge, const DriveIdentity *identity) {
        Watched *w = userdata;
        bool fell = bridge->fragile && !w->record->bridge.fragile;

        w->record->bridge = *bridge;
        if (fell)
                journal_log(LOG_WARNING,
                            "%s: the bridge did not survive an ATA command, and is sent no more of them until it is plugged in again.",
                            w->drive->name);
        if (!identity)
                return;

        if (drive_reveal(w->drive, identity) < 0 ||
            drive_record_set_identity(w->record, w->drive, w->env->boot_id) < 0) {
                journal_log(LOG_ERR, "Out of memory for the identity of %s", w->drive->name);
                return;
        }

        journal_log(LOG_INFO, "%s: behind the USB bridge %s (serial %s) is %s (serial %s).", w->drive->name,
                    strna(w->drive->dock_model), strna(w->drive->dock_serial), w->drive->model, w->drive->serial);
        w->unveiled = true;
}

/* Up to the SCSI host, which has another number each time: the USB port. 0: there is none. */
static size_t port_length(const Watched *w) {
        const char *host;

        return stack_scsi_host(w->drive->syspath, &host) > 0 ? (size_t) (host - w->drive->syspath) : 0;
}

static bool tries_bridge(const Watched *w) {
        return w->drive->transport == TRANSPORT_USB && w->record->bridge.cdb == 0 && !w->record->bridge.asked &&
               (w->record->bridge.fragile || (w->visitor && visitor_has_worker(w->visitor)));
}

void watched_note_fall(const Watched *w, BridgeFall *fall) {
        size_t n = port_length(w);

        if (n == 0 || !tries_bridge(w) || drive_medium_changed(w->drive))
                return;
        free(fall->port);
        *fall = (BridgeFall){ strndup(w->drive->syspath, n), monotonic_usec() };
}

void watched_spare_bridge(Watched *w, const BridgeFall *fall) {
        size_t n = port_length(w);

        if (!fall->port || strlen(fall->port) != n || strncmp(fall->port, w->drive->syspath, n) != 0 ||
            monotonic_usec() - fall->usec >= BACK_BY_ITSELF_USEC)
                return;

        w->record->bridge.asked = w->record->bridge.fragile = true;
        journal_log(LOG_WARNING,
                    "%s: its bridge fell off the bus at an ATA command a moment ago, and is sent no more of them until it is plugged in again.",
                    w->drive->name);
}
