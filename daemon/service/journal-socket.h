/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The journal's socket (https://systemd.io/JOURNAL_NATIVE_PROTOCOL), without ever waiting for it: journald may be stuck, and then
 * sd_journal_sendv() is, too. What it does not take at once waits here for the event loop; what is too much for that is lost, and
 * told of when journald takes records again. */

#include <systemd/sd-event.h>

#include "macro.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

/* So many bytes of records may wait. */
#define JOURNAL_WAITING_MAX (1024U * 1024U)

typedef struct JournalSocket {
        const char *path; /* JOURNAL_SOCKET */
        int fd;           /* -EBADF in the beginning: it is opened for the first record */

        GROWING_ARRAY(char *, waiting);
        size_t n_bytes;
        unsigned n_lost; /* after all that wait */
        sd_event *event;
        sd_event_source *io; /* tells when the journal takes records again; NULL: nobody waits for that */
} JournalSocket;

void journal_socket_done(JournalSocket *j);

/* `record`: lines "FIELD=value". -EAFNOSUPPORT: this process may have no such socket, and nothing was kept. All else is no
 * error of the caller's. */
int journal_socket_send(JournalSocket *j, const char *record);

/* From now on what waits is sent by this loop. Without one, what waits is sent with the next record. */
void journal_socket_attach(JournalSocket *j, sd_event *event);

/* Gives what waits a last chance, for so long at most, and leaves the loop. */
void journal_socket_finish(JournalSocket *j, unsigned ms);
