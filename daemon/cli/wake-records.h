/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The journal's records of drives that were woken, as drivekeepd writes them. What is in a record is believed to be text, and
 * nothing else: a field may be missing, and a number may be none. */

#include "macro.h"
#include "value.h"

typedef struct sd_journal sd_journal;

/* What is not known is NULL. */
typedef struct WakeRecord {
        uint64_t when; /* CLOCK_REALTIME in µs */
        char *drive;   /* the kernel name that it had then; never NULL */
        char *serial, *wwn, *model, *kind, *process, *unit, *command_line, *thread, *what, *command, *message;
        char *boot_id;                           /* of the boot in which it was written */
        char *content;                           /* the file's content was changed */
        char *waker;                             /* for people: the process, or "kernel: md0_resync", or "unknown" */
        KnownNumber pid, sector, inode, standby; /* slept: in µs, at least */
} WakeRecord;

typedef struct WakeRecords {
        GROWING_ARRAY(WakeRecord, items); /* in order of time */
} WakeRecords;

/* More is not read: older records stay in the journal. */
#define WAKE_RECORDS_MAX 10000U

void wake_record_done(WakeRecord *w);
void wake_records_done(WakeRecords *w);

/* The system's journal, or of it the records of wakes by drivekeep.service. -EACCES: this user may not read it; -ENOENT: there is
 * no journal. */
int wake_journal_open(sd_journal **ret);
void wake_journal_closep(sd_journal **j);

/* The last ones there are. */
int wake_records_read(sd_journal *j, WakeRecords *ret);

/* The newest one of that drive (wake_record_is_of()), which is then the caller's. Returns 1; 0: there is none. */
int wake_record_last(sd_journal *j, const char *name, const char *serial, WakeRecord *ret);

/* The first one behind those that were read; waits for it. */
int wake_record_wait(sd_journal *j, WakeRecord *ret);

/* Is it about that drive: of that serial number where both are known, or else of that name? */
bool wake_record_is_of(const WakeRecord *w, const char *name, const char *serial);
