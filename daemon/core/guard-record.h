/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The crash guard's memory of one drive: what is about to be written to it (intents), and what is not written again
 * because that once took the machine or the drive down (quarantine). Pure: text in, text out, and the rules. Files are
 * read as hostile, like those of record.h. */

#include "drive.h"
#include "setting.h"

#define GUARD_VERSION 1U
#define GUARD_MAX_BYTES (128U * 1024U)
#define GUARD_MAX_ENTRIES 256U

/* One value of one setting. Several values of one setting can be in quarantine. */
typedef struct GuardEntry {
        char *setting, *value; /* value as value_format() says it */
        bool intended;         /* an intent: being written, or not yet known to have done no harm */
        uint64_t losses;       /* how often the drive was lost soon after it; GUARD_MAX_LOSSES are too many */
        bool quarantined;
        char *why;     /* of the quarantine: a clause, "the machine went down …" */
        uint64_t when; /* CLOCK_REALTIME, µs: of the intent, or of the quarantine */

        /* Not in the file. */
        bool begun;    /* the drive may have been sent it */
        bool underway; /* it is being sent now */
} GuardEntry;

/* A cable that is pulled looks like this, once. */
#define GUARD_MAX_LOSSES 2U

typedef struct GuardRecord {
        char *key;            /* guard_key() of the drive */
        char *model, *serial; /* for people; may be NULL */
        char *boot_id;        /* of the intents */
        uint64_t diskseq;     /* of the intents: the drive as it was attached then */
        GuardEntry *entries;
        size_t n_entries;
} GuardRecord;

GuardRecord *guard_record_free(GuardRecord *r);
DEFINE_CLEANUP(GuardRecord *, guard_record_free);

int guard_record_parse(const char *text, size_t size, GuardRecord **ret);
int guard_record_serialize(const GuardRecord *r, char **ret);

/* By what the drive is known over boots, as a file name: -ENOMEM, or 0. */
int guard_key(const Drive *d, char **ret);

GuardEntry *guard_record_find(const GuardRecord *r, const char *setting, const char *value);

/* Marks it as about to be written; the entry is there already, or is made. */
int guard_record_intend(GuardRecord *r, const char *setting, const char *value, uint64_t when);

/* What was intended did no harm, or was not begun: forgets all that is no quarantine. Returns whether that changed
 * anything. */
bool guard_record_clear(GuardRecord *r);

/* Quarantines one entry. */
int guard_entry_quarantine(GuardEntry *e, uint64_t when, const char *why);

/* The daemon starts, and finds intents. `continues`: the drive is there, with the diskseq of the intents. Returns how many
 * entries went into quarantine: none when only the daemon had died. */
int guard_record_judge(GuardRecord *r, const char *boot_id, bool continues, uint64_t when);

/* The drive went away while the daemon was there. What was being written is quarantined; what had been written is
 * suspected, and quarantined the second time; what had not begun is forgotten. Returns how many are in quarantine now that
 * were not. */
int guard_record_lost(GuardRecord *r, uint64_t when);

/* Is something suspected, but not in quarantine? */
bool guard_record_suspects(const GuardRecord *r);
bool guard_record_intends(const GuardRecord *r);

/* Takes a setting (NULL: all) out of quarantine; returns how many values that were. */
unsigned guard_record_release(GuardRecord *r, const char *setting);
