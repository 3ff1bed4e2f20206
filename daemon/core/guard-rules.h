/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The crash guard's record of one drive. The record has dangerous values that are about to be written (intents), and
 * notes whether a visit with writes is in progress. It also has values that are not written again, because the machine
 * or the drive went down (quarantine). This module has the rules, and converts between text and structure. Input is not
 * trusted, as in drive-record.h.
 *
 * Rules: An intent is stored before the command is sent. If the machine or the drive goes down between that moment and
 * ten seconds after the write, the dangerous value is quarantined. A harmless value is quarantined if the drive is lost
 * twice in a row while this value is being sent. If the machine goes down twice in a row during visits, the second time
 * during a visit to this drive, the drive is no longer visited. */

#include "drive.h"
#include "setting.h"

#define GUARD_VERSION 2U
#define GUARD_MAX_BYTES (128U * 1024U)
#define GUARD_MAX_ENTRIES 256U

/* One value of one setting. A setting can have several values in quarantine. */
typedef struct GuardEntry {
        char *setting, *value; /* `value` in the form of value_format() */
        char *place;           /* guard_place() of a drive; NULL: every drive that shares this record */
        bool intended; /* an intent: a dangerous value that is being written, or was written less than ten seconds ago */
        bool quarantined;
        char *why;     /* reason of the quarantine, a clause: "the machine went down …" */
        uint64_t when; /* time of the intent or of the quarantine; CLOCK_REALTIME, µs */

        bool begun; /* the value may have been sent to the drive; this member is not in the file */
} GuardEntry;

/* If GuardRecord.deaths reaches this number, the drive is no longer visited. A single power cut during a visit is no sign of a fault. */
#define GUARD_MAX_DEATHS 2U

typedef struct GuardRecord {
        char *key;            /* name of the record's file (guard_key()) */
        char *model, *serial; /* for display; may be NULL */
        char *boot_id;        /* ID of the boot in which the members below were last changed */
        uint64_t diskseq;     /* diskseq of the drive when the intents (entries with `intended`) were stored */
        bool visiting;        /* a visit with writes is in progress */
        uint64_t deaths;      /* number of consecutive boots in which the machine went down while `visiting` was set */
        GuardEntry *entries;
        size_t n_entries;

        GuardEntry lost; /* the harmless value that was being sent when the drive was last lost; if `setting` is NULL, there is no
                          * such value. This member is not in the file */
} GuardRecord;

void guard_entry_done(GuardEntry *e);

GuardRecord *guard_record_free(GuardRecord *r);
DEFINE_CLEANUP(GuardRecord *, guard_record_free);

/* Parses a record. -EBADMSG: not a record, or an unknown version. Version 1 also quarantined harmless values. Such
 * values are dropped, and 1 is returned if there were any. */
int guard_record_parse(const char *text, size_t size, const SettingTable *settings, GuardRecord **ret);
int guard_record_serialize(const GuardRecord *r, char **ret);

/* Returns true if the record has no content to store, so that its file can be deleted. */
bool guard_record_is_empty(const GuardRecord *r);

/* Finds the entry of a value. `place`, here and below: guard_place() of the drive; NULL: every drive that shares this record (same
 * guard_key()). */
GuardEntry *guard_record_find(const GuardRecord *r, const char *setting, const char *value, const char *place);

/* Stores the intent to write a dangerous value. Adds an entry if there is none. */
int guard_record_intend(GuardRecord *r, const char *setting, const char *value, const char *place, uint64_t when);

/* Stores in `underway` the value that is being sent now. The drive survived the previous value in `underway`, so that
 * value is no longer suspected. A NULL setting means that no value is being sent. If memory runs out, `underway` has no
 * setting. */
void guard_record_underway(GuardRecord *r, GuardEntry *underway, const char *setting, const char *value,
                           const char *place);

/* Notes that the visit has ended without a crash of the machine. Returns true if the file must be written. */
bool guard_record_visited(GuardRecord *r);

/* Removes the intents and `lost`. Call this function if their values did no harm, or were not sent. Keeps quarantines and `visiting`.
 * Returns true if the file must be written. */
bool guard_record_clear(GuardRecord *r, const char *place);

void guard_entry_quarantine(GuardEntry *e, uint64_t when, const char *why);

/* Applies the rules to a record read from a file, when the daemon starts or the drive appears. `continues`: the drive has
 * stayed attached since the intents were stored (same diskseq). A crash of the daemon alone quarantines nothing. Returns 1 if the file
 * must be written, else 0; -ENOMEM. */
int guard_record_judge(GuardRecord *r, const char *boot_id, bool continues, uint64_t when);

/* Applies the rules when the drive disappears while `underway` is being sent, and clears `underway`. Returns the number of entries that
 * were newly quarantined. */
unsigned guard_record_lost(GuardRecord *r, GuardEntry *underway, const char *place, uint64_t when);

/* Stores `place` in the intents that have no place yet. Call this function when a second drive that shares this record appears. */
void guard_record_part(GuardRecord *r, const char *place);

/* Returns true if the drive was lost while a harmless value was being sent, and this value has not been sent since. */
bool guard_record_suspects(const GuardRecord *r);
bool guard_record_intends(const GuardRecord *r);

/* The reason why guard_record_excludes() is true: a clause. */
#define GUARD_EXCLUDED_REASON "the machine went down twice in a row, the second time during a visit to this drive"
/* Returns true if the drive must not be visited at all. */
bool guard_record_excludes(const GuardRecord *r);

/* Releases a setting (NULL: all) from quarantine, and permits visits to the drive again. Returns the number of released values, plus one if
 * visits had been forbidden. An entry whose place is NULL is released for every drive that shares this record. */
unsigned guard_record_release(GuardRecord *r, const char *setting, const char *place);

/* Formats the name of the file by which the crash guard recognizes a drive after a reboot. Returns 0 or -ENOMEM. */
int guard_key(const Drive *d, char **ret);

/* Formats a text that distinguishes a drive from others with the same guard_key(). The text usually stands for the
 * drive's connector (udev's ID_PATH). A drive with several ports (SAS, Fibre Channel, iSCSI, NVMe) is distinguished by
 * its whole identity instead, which is the same on all paths to the drive. SATA drives, also behind SAS, and USB drives
 * have one port. Returns 0 or -ENOMEM. */
int guard_place(const Drive *d, char **ret);
