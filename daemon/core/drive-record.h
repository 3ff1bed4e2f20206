/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is known of one drive and of each of its settings, as it stands in /run/drivekeep/drives/NAME: the daemon writes
 * it, anybody reads it. Text of KEY=value lines; values are escaped so that one never holds a newline. Pure: text in,
 * text out. Files are read as hostile: lengths and counts are bounded, unknown keys skipped, a bad line is -EBADMSG. */

#include "drive.h"
#include "plan.h"
#include "use.h"
#include "visit-reason.h"
#include "wake.h"

#define RECORD_VERSION 1U
#define RECORD_MAX_BYTES (256U * 1024U)
#define RECORD_MAX_SETTINGS 256U /* a drive has one wish for each state in the table, which has fewer of them */

typedef enum DriveState {
        DRIVE_IDLE,     /* nothing to do */
        DRIVE_QUEUED,   /* waits for a free worker */
        DRIVE_WAITING,  /* something keeps it from being visited */
        DRIVE_VISITING, /* a worker is at it */
        _DRIVE_STATE_MAX,
        _DRIVE_STATE_INVALID = -1,
} DriveState;

const char *drive_state_to_string(DriveState s);

typedef struct SettingRecord {
        char *name;
        char *wanted, *before, *actual; /* formatted (value_format()); NULL: not known */
        Verdict verdict;
        char *reason;                          /* NULL: none */
        char *rule;                            /* file:line … */
        bool optional;                         /* … of a rule for a class of drives (Wish.optional) */
        bool remediable, accepted, by_service; /* Step has them */
        uint64_t when;                   /* of the verdict, or the last look that found it so; CLOCK_REALTIME, µs */
        KnownNumber sent, settled, read; /* Memory has them; of this attach, and this power-on */
        char *drift_from, *drift_to;     /* what it was found changed from and to by others, last; NULL: never */
        uint64_t drift_when;             /* CLOCK_REALTIME, µs */
} SettingRecord;

typedef struct DriveRecord {
        char *name, *node, *model, *serial, *wwn, *firmware;
        char *transport; /* transport_to_string() */
        IdentityKind identity;
        char *dock_model, *dock_serial; /* of the USB bridge, where the others are the drive's behind it */
        Bridge bridge;
        uint64_t diskseq;
        char *boot_id;
        uint64_t used; /* the kernel's count of reads and writes, when it was looked at last (device/kernel-view.h) … */
        uint64_t used_when;  /* … CLOCK_MONOTONIC, µs; 0: never */
        uint64_t link_since; /* the kernel's note of an error on its link that was seen last (device/kernel-view.h) */
        uint64_t slept; /* µs that the machine had slept in this boot, as far as this record takes account of it */
        bool ata_sleep; /* it was put into ATA's Sleep mode, and nothing has used it since as far as the kernel counts */
        PowerMode power;     /* what it was found to be last, never POWER_UNCLEAR */
        uint64_t power_when; /* since when `power` is known; CLOCK_REALTIME, µs */
        uint64_t power_seen; /* when `power` was last confirmed; CLOCK_REALTIME, µs */
        char *awake_reason; /* why the service could not spin it down when it was last to, or does not know it: a clause; NULL: none */
        uint64_t quiet_since;  /* no use of it is known since then, CLOCK_MONOTONIC, µs; 0: never looked … */
        uint64_t quiet_used;   /* … as the kernel's count has been this since */
        uint64_t own_commands; /* of those that the kernel counts, the service's own (target-power.h) */
        Tracing tracing;       /* whether the tracer could watch the drive when it last slept */
        bool ignores_timer;    /* it took its standby timer, and was found awake after it (SPINDOWN_BY_AUTO) */
        char *spindown; /* what spins it down, and when: "20 min, by the service" (spin_down_format()); NULL: nothing … */
        char *spindown_key;   /* … to compare by (spin_down_key()) … */
        bool spindown_served; /* … and it does so only while the service runs */
        DriveUse use;
        DriveState state;
        WaitKind waiting_kind;
        char *waiting_for;   /* Wait.name, or NULL */
        char *visit_reason;  /* of the last visit; NULL: none yet */
        char *visits;        /* how many have ended, by their reasons (tally_add()) … */
        uint64_t visit_when; /* … and when the last one has; CLOCK_REALTIME, µs; 0: none has */
        char *wakes;         /* how often it was woken, by the units of those who did it (tally_add(), wake_source()) */
        SettingRecord *settings;
        size_t n_settings;
} DriveRecord;

DriveRecord *drive_record_free(DriveRecord *r);
DEFINE_CLEANUP(DriveRecord *, drive_record_free);

/* -EBADMSG: it is no record, or has a name of a drive or a setting that is none (text_is_name()). */
int drive_record_parse(const char *text, size_t size, DriveRecord **ret);
int drive_record_serialize(const DriveRecord *r, char **ret);

/* Notes what it waits for; the kind even without memory for the name. */
int drive_record_wait(DriveRecord *r, Wait w);

/* The record of `name`, or NULL. */
SettingRecord *drive_record_find(const DriveRecord *r, const char *name);
int drive_record_add(DriveRecord *r, const char *name, SettingRecord **ret); /* the old one when it is there */

/* Is this record of the same attach of the same drive, so that what it remembers still holds? */
bool drive_record_continues(const DriveRecord *r, const Drive *d, const char *boot_id);

/* Tells the drive behind a bridge, which a later event describes by the bridge again, what this attach has shown. */
int drive_record_reveal(const DriveRecord *r, Drive *d);

/* What the record knows, one Memory per wish, in their order. The caller frees it. */
int drive_record_memories(const DriveRecord *r, const Wishes *w, Memory **ret);

/* Has the drive been in use just now, so that it cannot be asleep? `used`: the kernel's count as it is now; `now`:
 * CLOCK_MONOTONIC, µs. Without an earlier look (or record: NULL) any use at all counts. */
bool drive_record_had_io(const DriveRecord *r, uint64_t used, uint64_t now);

/* Forgets what each run of the service finds out anew: why it could not spin the drive down, or could not trace it. */
void drive_record_begin_run(DriveRecord *r);

/* Was it in standby, or suspended by the kernel, when that was last known? */
bool drive_record_in_standby(const DriveRecord *r);

/* May the drive still be in ATA's Sleep mode (SETTING_ATA_SLEEP), so that no command may be sent? `used`: as above; NULL: not known. */
bool drive_record_in_ata_sleep(const DriveRecord *r, const uint64_t *used);

/* What the daemon does to a record. Failures are -ENOMEM. */
int drive_record_set_identity(DriveRecord *r, const Drive *d, const char *boot_id);
int drive_record_step(DriveRecord *r, const Step *s, uint64_t when); /* a setting has its verdict */
/* The setting was read, and is as the record says. */
void drive_record_seen(DriveRecord *r, const Step *s, uint64_t when);
/* The setting was found to be `now`, and nobody knows why: what is known of it so far says that it was left otherwise.
 * Returns 1 when that is news, and it is noted then. */
int drive_record_drift(DriveRecord *r, const Step *s, uint64_t when);
/* The drive may have lost its state: what was sent to it, and cannot be read, is taken for lost. */
void drive_record_forget(DriveRecord *r, const SettingTable *table);
/* The same after a resume of the machine: actions with AT_RESUME become due again. */
void drive_record_resume(DriveRecord *r, const SettingTable *table);
/* Somebody wants what cannot be read to be sent, whatever was sent before. */
void drive_record_distrust(DriveRecord *r, const SettingTable *table);
void drive_record_drop_unwanted(DriveRecord *r, const Wishes *w); /* nobody asks for these any more */

/* ---- how often each of some words has come up, as one text of the record: "boot 1 resume 3" ---- */

/* Words beyond that number are counted together, as this one. */
#define TALLY_WORDS_MAX 24U
#define TALLY_REST "other"

typedef struct TallyEntry {
        const char *word; /* of the text, without a NUL behind it */
        size_t len;
        uint64_t n;
} TallyEntry;

/* One more of this word; *tally is NULL, or a text that is freed. A blank in the word stands as \x20. -ENOMEM: nothing is changed. */
int tally_add(char **tally, const char *word);

/* The entry that *rest (NULL: none) begins with; *rest is then what follows. False: there is none, or the text is not a tally. */
bool tally_next(const char **rest, TallyEntry *ret);
