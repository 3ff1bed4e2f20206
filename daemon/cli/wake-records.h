/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Journal records of wakes and of other events of drives, as written by drivekeepd. Only the drive's name must be present: any other
 * missing field or invalid number counts as unknown. */

#include <poll.h>

#include "macro.h"
#include "value.h"

typedef struct sd_journal sd_journal;

typedef enum RecordKind {
        RECORDS_OF_WAKES,  /* wakes of all boots */
        RECORDS_OF_ACTIVE, /* programs that keep drives active, of all boots */
        RECORDS_OF_EVENTS, /* wakes, verdicts, drift, attach and removal in this boot */
} RecordKind;

/* A wake or another event, as recorded in the journal. Texts are NULL if unknown, or if records with this message ID do not have them. */
typedef struct WakeRecord {
        uint64_t when;    /* time of the event; CLOCK_REALTIME, µs */
        char *drive;      /* kernel name of the drive at the time of the event; never NULL */
        char *message_id; /* JOURNAL_ID_WAKE or another ID of journal-id.h */
        char *setting, *verdict, *wanted, *before, *after, *reason, *rule, *visit, *drift_from, *drift_to;
        char *serial, *wwn, *model, *kind, *process, *unit, *command_line, *thread, *what, *command, *message;
        char *boot_id;                           /* boot ID of the record */
        char *content;                           /* set if the content of a file was written, and not only the inode */
        char *waker;                             /* printed name: the process, "kernel: md0_resync", or "unknown" */
        KnownNumber pid, sector, inode, standby; /* standby: minimum time in standby, µs */
        KnownNumber times, usec; /* JOURNAL_ID_ACTIVE: the program used the drive `times` times in `usec` µs */
} WakeRecord;

typedef struct WakeRecords {
        GROWING_ARRAY(WakeRecord, items); /* ordered by time */
} WakeRecords;

/* Maximum number of records that are read. If there are more, the oldest records are skipped. */
#define WAKE_RECORDS_MAX 10000U

void wake_record_done(WakeRecord *w);
void wake_records_done(WakeRecords *w);

/* Opens the system journal, limited to records of this kind that drivekeep.service wrote. `match`: another condition ("FIELD=value"); NULL:
 * none. Returns -EACCES if this user may not read the journal, or -ENOENT if there is no journal. */
int wake_journal_open(RecordKind kind, const char *match, sd_journal **ret);
void wake_journal_closep(sd_journal **j);

/* Reads the last WAKE_RECORDS_MAX records. */
int wake_records_read(sd_journal *j, WakeRecords *ret);

/* Reads the newest record for which wake_record_is_of() returns true. The caller frees the record. Returns 1, or 0 if there is no such
 * record. */
int wake_record_last(sd_journal *j, const char *name, const char *serial, WakeRecord *ret);

/* Waits for the next record, or for an event on the descriptors fds[1] to fds[n - 1]. Uses fds[0] for the journal. Returns 1 if there is a
 * record, or 0 if another descriptor has an event. */
int wake_record_wait(sd_journal *j, struct pollfd *fds, size_t n, WakeRecord *ret);

/* Returns true if the record is about the drive with this name and serial number. Compares the serial numbers if both are known.
 * Otherwise compares the names. */
bool wake_record_is_of(const WakeRecord *w, const char *name, const char *serial);
