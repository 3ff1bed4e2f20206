/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Journal records of wakes, as written by drivekeepd. Only the drive's name must be present: any other missing field or
 * invalid number counts as unknown. */

#include "macro.h"
#include "value.h"

typedef struct sd_journal sd_journal;

/* A wake, as recorded in the journal. Texts are NULL if unknown. */
typedef struct WakeRecord {
        uint64_t when; /* time of the wake; CLOCK_REALTIME, µs */
        char *drive;   /* kernel name of the drive at the time of the wake; never NULL */
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

/* Opens the system journal, limited to the records of wakes that drivekeep.service wrote. If `kept_when` is not 0, opens the records about
 * the programs that keep drives active instead, with this _ACTIVE_WHEN (journal_active()). Returns -EACCES if this user may not read the
 * journal, or -ENOENT if there is no journal. */
int wake_journal_open(uint64_t kept_when, sd_journal **ret);
void wake_journal_closep(sd_journal **j);

/* Reads the last WAKE_RECORDS_MAX records. */
int wake_records_read(sd_journal *j, WakeRecords *ret);

/* Reads the newest record for which wake_record_is_of() returns true. The caller frees the record. Returns 1, or 0 if there is no such
 * record. */
int wake_record_last(sd_journal *j, const char *name, const char *serial, WakeRecord *ret);

/* Waits for the next record. */
int wake_record_wait(sd_journal *j, WakeRecord *ret);

/* Returns true if the record is about the drive with this name and serial number. Compares the serial numbers if both are known.
 * Otherwise compares the names. */
bool wake_record_is_of(const WakeRecord *w, const char *name, const char *serial);
