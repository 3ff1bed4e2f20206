/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The journal's socket (https://systemd.io/JOURNAL_NATIVE_PROTOCOL), without waiting: sd_journal_sendv() hangs while journald is stuck.
 * Records that journald does not take at once are queued here. When the queue is full, records are lost, and their number is logged
 * afterwards. */

#include <systemd/sd-event.h>

#include "macro.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

/* The limit of the queue, in bytes. */
#define JOURNAL_WAITING_MAX (1024U * 1024U)

typedef struct JournalSocket {
        const char *path; /* JOURNAL_SOCKET */
        int fd;           /* -EBADF in the beginning: it is opened for the first record */

        GROWING_ARRAY(char *, waiting);
        size_t n_bytes;
        unsigned n_lost; /* after the queue became full */
        sd_event *event;
        sd_event_source *io; /* while records wait */
} JournalSocket;

void journal_socket_done(JournalSocket *j);

/* `record`: lines "FIELD=value". -EAFNOSUPPORT: this process may not open such a socket, and the record was not queued. Otherwise 0. */
int journal_socket_send(JournalSocket *j, const char *record);

/* From now on this loop sends waiting records. Without a loop they are sent with the next record. */
void journal_socket_attach(JournalSocket *j, sd_event *event);

/* Tries to send waiting records for so long at most, and detaches from the loop. */
void journal_socket_finish(JournalSocket *j, unsigned ms);
