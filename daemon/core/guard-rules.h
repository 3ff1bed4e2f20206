/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The crash guard's memory of one drive: what dangerous values are about to be written to it (intents), that a visit which writes
 * is under way, and what is not written again because it took the machine or the drive down (quarantine). Pure: text in, text
 * out, and the rules. Files are read as hostile, like those of drive-record.h.
 *
 * The rules: a dangerous value is quarantined when the machine or the drive goes down between the note, which comes before the
 * command, and ten seconds of health. A harmless value is quarantined when the drive was lost twice in a row while just this
 * value was being sent. When the machine has gone down twice in a row during visits, the second time during a visit to this drive, the
 * drive is left alone. */

#include "drive.h"
#include "setting.h"

#define GUARD_VERSION 2U
#define GUARD_MAX_BYTES (128U * 1024U)
#define GUARD_MAX_ENTRIES 256U

/* One value of one setting. Several values of one setting can be in quarantine. */
typedef struct GuardEntry {
        char *setting, *value; /* value as value_format() says it */
        char *place; /* guard_place(): the entry is about the drive there, of several that have this record; NULL: about any */
        bool intended; /* an intent: dangerous, and being written, or not yet known to have done no harm */
        bool quarantined;
        char *why;     /* of the quarantine: a clause, "the machine went down …" */
        uint64_t when; /* CLOCK_REALTIME, µs: of the intent, or of the quarantine */

        bool begun; /* not in the file: the drive may have been sent the value */
} GuardEntry;

/* One power cut can hit anybody. */
#define GUARD_MAX_DEATHS 2U

typedef struct GuardRecord {
        char *key;            /* the file's name: guard_key() */
        char *model, *serial; /* for people; may be NULL */
        char *boot_id;        /* of what follows */
        uint64_t diskseq;     /* of the intents: the drive as it was attached then */
        bool visiting;        /* a visit that writes is under way */
        uint64_t deaths;      /* in so many boots in a row, up to now, the machine went down during such a visit */
        GuardEntry *entries;
        size_t n_entries;

        GuardEntry lost; /* not in the file: harmless, and the drive was lost while it was sent, once. No setting: there is none */
} GuardRecord;

void guard_entry_done(GuardEntry *e);

GuardRecord *guard_record_free(GuardRecord *r);
DEFINE_CLEANUP(GuardRecord *, guard_record_free);

/* -EBADMSG: no such text, or one of a version that is not known. Version 1 quarantined harmless values, too: what is harmless by its
 * row is left out, and when there was any, 1 is returned. */
int guard_record_parse(const char *text, size_t size, const SettingTable *settings, GuardRecord **ret);
int guard_record_serialize(const GuardRecord *r, char **ret);

/* Nothing of it has to be in a file. */
bool guard_record_is_empty(const GuardRecord *r);

/* `place`: of the drive that is asked for (NULL: any), here and below. */
GuardEntry *guard_record_find(const GuardRecord *r, const char *setting, const char *value, const char *place);

/* Marks a dangerous value as about to be written; the entry is there already, or is made, for `place` (NULL: any). */
int guard_record_intend(GuardRecord *r, const char *setting, const char *value, const char *place, uint64_t when);

/* `underway` was being sent until now, and did not take the drive away; from now on it is this value. Either may be about no
 * setting (NULL). Without memory for it nothing is blamed. */
void guard_record_underway(GuardRecord *r, GuardEntry *underway, const char *setting, const char *value,
                           const char *place);

/* The visit has ended, and the machine is still there. Returns whether that changes the file. */
bool guard_record_visited(GuardRecord *r);

/* What was intended did no harm, or was not begun: forgets all that is no quarantine, and no visit. Returns whether that changes
 * the file. */
bool guard_record_clear(GuardRecord *r, const char *place);

void guard_entry_quarantine(GuardEntry *e, uint64_t when, const char *why);

/* The daemon starts, or the drive comes, and there is a file. `continues`: the drive is there, with the diskseq of the intents.
 * When only the daemon had died nothing is held against anybody. Returns whether that changes the file. */
int guard_record_judge(GuardRecord *r, const char *boot_id, bool continues, uint64_t when);

/* The drive went away while the daemon was there, and `underway` was being sent, which is about no setting from now on. Returns how
 * many entries are in quarantine now that were not. */
unsigned guard_record_lost(GuardRecord *r, GuardEntry *underway, const char *place, uint64_t when);

/* Another drive that has this record came: what is intended, and said to be about any, is about the one at `place`. */
void guard_record_part(GuardRecord *r, const char *place);

/* Has the drive been lost while something harmless was sent, and has not been written to since? */
bool guard_record_suspects(const GuardRecord *r);
bool guard_record_intends(const GuardRecord *r);

/* Is nothing to be sent to the drive at all? Because … */
#define GUARD_ALONE_WHY \
        "the machine went down twice in a row during visits, the second time during a visit to this drive"
bool guard_record_alone(const GuardRecord *r);

/* Takes a setting (NULL: all) out of quarantine, and a drive that is left alone out of that; returns how many values, or drives,
 * that were. What was about any drive is released for all of them. */
unsigned guard_record_release(GuardRecord *r, const char *setting, const char *place);

/* By what the crash guard knows a drive over boots, as a file name. Both return -ENOMEM, or 0. */
int guard_key(const Drive *d, char **ret);

/* What tells it from other drives with this key: where it is plugged in, as udev says (ID_PATH). Of a kind that can have more than
 * one port it is all that it says of itself, which two paths to one drive have in common, and two drives have not. More than one
 * have SAS, Fibre Channel, iSCSI and NVMe; never SATA, also behind SAS, nor USB. */
int guard_place(const Drive *d, char **ret);
