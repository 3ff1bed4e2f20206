/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Sends records to the journal's socket (https://systemd.io/JOURNAL_NATIVE_PROTOCOL) without blocking: sd_journal_sendv() hangs while
 * journald is stuck. Records that journald does not accept at once are queued here. When the queue is full, records are lost, and their
 * number is logged later. */

#include <systemd/sd-event.h>

#include "macro.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

/* The limit of the queue, in bytes. */
#define JOURNAL_WAITING_MAX (1024U * 1024U)

typedef struct JournalSocket {
        const char *path; /* the path of the socket; JOURNAL_SOCKET outside tests */
        int fd;           /* -EBADF until the first record opens the socket */

        GROWING_ARRAY(char *, waiting);
        size_t n_bytes;
        unsigned n_lost; /* number of records that were lost since such a number was last logged */
        sd_event *event;
        sd_event_source *io; /* reports when the socket accepts records again; NULL if no record waits */
} JournalSocket;

void journal_socket_done(JournalSocket *j);

/* Sends or queues `record`, which consists of lines "FIELD=value". Returns 0, or -EAFNOSUPPORT if this process may not open the socket; the
 * record is then not queued. */
int journal_socket_send(JournalSocket *j, const char *record);

/* From now on, this event loop sends waiting records. Without an event loop, waiting records are sent together with the next record. */
void journal_socket_attach(JournalSocket *j, sd_event *event);

/* Tries to send waiting records for at most `ms` milliseconds, and detaches from the event loop. */
void journal_socket_finish(JournalSocket *j, unsigned ms);
