/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The state file of one drive, /run/drivekeep/drives/NAME: what is known of the drive and its settings. The daemon writes the file, and
 * every user may read it. The format is lines KEY=value, with escaped values that never contain a newline. This module converts between
 * text and structure only. Input is not trusted: lengths and counts are bounded, unknown keys are skipped, and an invalid line is
 * -EBADMSG. */

#include "drive.h"
#include "plan.h"
#include "use.h"
#include "visit-reason.h"
#include "wake.h"

#define RECORD_VERSION 1U
#define RECORD_MAX_BYTES (256U * 1024U)
#define RECORD_MAX_SETTINGS 256U /* more than there are settings; a drive has at most one record for each setting */

typedef enum DriveState {
        DRIVE_IDLE,     /* no visit is due */
        DRIVE_QUEUED,   /* the visit waits for a free worker */
        DRIVE_WAITING,  /* the visit waits for the end of the obstacle in `waiting_kind` */
        DRIVE_VISITING, /* a worker visits the drive */
        _DRIVE_STATE_MAX,
        _DRIVE_STATE_INVALID = -1,
} DriveState;

const char *drive_state_to_string(DriveState s);

typedef struct SettingRecord {
        char *name;
        char *wanted, *before, *actual; /* texts of the values (value_format()); NULL: not known */
        Verdict verdict;
        char *reason;                          /* explanation of the verdict; NULL: none */
        char *rule;                            /* file:line of the rule that sets the value */
        Temporary temporary;                   /* copied from Wish */
        bool optional;                         /* the rule is for a class of drives (Wish.optional) */
        bool remediable, accepted, by_service; /* copied from the members of Step with these names */
        uint64_t when;                         /* last time the verdict was reached or confirmed; CLOCK_REALTIME, µs */
        KnownNumber sent, settled, read;       /* as in Memory; valid for the current attach and power cycle */
        char *drift_from, *drift_to;           /* the values before and after the last drift; NULL: no drift yet */
        uint64_t drift_when;                   /* time of the last drift; CLOCK_REALTIME, µs */
} SettingRecord;

typedef struct DriveRecord {
        char *name, *node, *model, *serial, *wwn, *firmware;
        char *transport; /* transport_to_string() */
        IdentityKind identity;
        /* Identity of the USB bridge, if the members above are the identity of the drive behind the bridge. */
        char *dock_model, *dock_serial;
        Bridge bridge;
        uint64_t diskseq;
        char *boot_id;
        uint64_t used;      /* the kernel's count of reads and writes at the last poll (device/kernel-view.h) */
        uint64_t used_when; /* time of the last poll; CLOCK_MONOTONIC, µs; 0: no poll yet */
        uint64_t link_since; /* time of the last link error that link_last_event() found, by the clock in the kernel's list of errors; µs */
        uint64_t suspended_usec; /* suspended_usec() when the file was last written; if it is greater now, the machine has resumed since */
        bool ata_sleep;  /* the drive was put into ATA Sleep mode, and the kernel has counted no I/O since */
        PowerMode power; /* last known power mode, never POWER_UNCLEAR */
        uint64_t power_when; /* when `power` last changed; a suspend of a drive in standby is no change; CLOCK_REALTIME, µs */
        uint64_t power_seen;             /* when `power` was last confirmed; CLOCK_REALTIME, µs */
        uint64_t runtime_suspended_when; /* when the service last noticed a runtime suspend; CLOCK_REALTIME, µs; 0: never */
        uint64_t runtime_active_time; /* activity_active_time() at that time: another value shows that a resume followed */
        char *active_reason; /* why the last spin-down by the service failed or may have failed, as a clause; NULL: none */
        uint64_t quiet_since; /* no I/O was seen after this time; CLOCK_MONOTONIC, µs; 0: not polled yet */
        uint64_t quiet_used;  /* the kernel's count of I/O at `quiet_since` */
        uint64_t own_commands; /* number of the service's own commands in the kernel's count of commands (target-power.h) */
        Tracing tracing; /* what kept the tracer from working in the last standby of the drive; TRACING_FINE: nothing */
        bool ignores_timer; /* the drive accepted a standby timer, but was still active after the timer's end (SPINDOWN_BY_AUTO) */
        char *spindown; /* when and by what the drive is spun down: "20 min, by the service" (spin_down_format()); NULL: never */
        char *spindown_key; /* spin_down_key() of `spindown`, for comparison */
        bool spindown_served; /* the service spins the drive down, so the text in `spindown` is valid only while the service runs */
        DriveUse use;
        DriveState state;
        WaitKind waiting_kind;
        char *waiting_for;   /* unit that the visit waits for (Wait.name); NULL: none */
        char *visit_reason;  /* reason of the last visit; NULL: no visit yet */
        char *visits;        /* tally of finished visits by their reason (tally_add()) */
        uint64_t visit_when; /* end of the last visit; CLOCK_REALTIME, µs; 0: no visit yet */
        char *wakes;         /* tally of spin-ups by the unit of the waker (tally_add(), wake_source()) */
        uint64_t kept_when; /* DRIVEKEEP_ACTIVE_WHEN of the journal's records about the programs that keep the drive active
                             * (journal_active()); CLOCK_REALTIME, µs; 0: none, or the drive was in standby since */
        SettingRecord *settings;
        size_t n_settings;
} DriveRecord;

DriveRecord *drive_record_free(DriveRecord *r);
DEFINE_CLEANUP(DriveRecord *, drive_record_free);

/* Parses a record. -EBADMSG: not a record, or the name of the drive or a setting is invalid (text_is_name()). */
int drive_record_parse(const char *text, size_t size, DriveRecord **ret);
int drive_record_serialize(const DriveRecord *r, char **ret);

/* Stores what the drive waits for. On -ENOMEM, stores only Wait.kind, without the name. */
int drive_record_wait(DriveRecord *r, Wait w);

/* Returns the record of the setting; NULL: the drive's record has none. */
SettingRecord *drive_record_find(const DriveRecord *r, const char *name);
/* Returns the record of the setting, and adds one if there is none. */
int drive_record_add(DriveRecord *r, const char *name, SettingRecord **ret);

/* Returns true if the record is about the same attach of the same drive, so that the recorded values are still
 * valid. */
bool drive_record_continues(const DriveRecord *r, const Drive *d, const char *boot_id);

/* Copies the identity of a drive behind a bridge from the record to `d`. A `d` made from an event of udev has only the
 * identity of the bridge. */
int drive_record_reveal(const DriveRecord *r, Drive *d);

/* Returns one Memory per wish, in the order of the wishes. The caller frees the array. */
int drive_record_memories(const DriveRecord *r, const Wishes *w, Memory **ret);

/* Returns true if the drive had I/O within the last five minutes, and therefore cannot be in standby. `used`: the kernel's current count of
 * I/O; `now`: CLOCK_MONOTONIC, µs. If `r` is NULL, or has no earlier poll, any I/O since boot counts. */
bool drive_record_had_io(const DriveRecord *r, uint64_t used, uint64_t now);

/* Resets the members that each run of the service determines anew: why a spin-down failed, and whether the drive can be
 * traced. */
void drive_record_begin_run(DriveRecord *r);

/* Returns true if the last known power mode is standby, ATA Sleep or runtime-suspended. */
bool drive_record_in_standby(const DriveRecord *r);

/* Returns true if the drive may still be in ATA Sleep mode (SETTING_ATA_SLEEP), so that no command may be sent. `used`: the kernel's
 * current count of I/O; NULL: not known. */
bool drive_record_in_ata_sleep(const DriveRecord *r, const uint64_t *used);

/* ---- changes to a record by the daemon; errors are -ENOMEM ---- */

int drive_record_set_identity(DriveRecord *r, const Drive *d, const char *boot_id);
int drive_record_step(DriveRecord *r, const Step *s, uint64_t when); /* stores the verdict of a setting */
/* Updates SettingRecord.when of a setting that was read and is unchanged. */
void drive_record_seen(DriveRecord *r, const Step *s, uint64_t when);
/* Stores a drift if the value read differs from the recorded value. Returns 1 if the values differ, else 0. */
int drive_record_drift(DriveRecord *r, const Step *s, uint64_t when);
/* Invalidates the values that were sent and read, because the drive may have lost its settings. Keeps settings that are
 * sent once per attach. */
void drive_record_forget(DriveRecord *r, const SettingTable *table);
/* Call this function after the machine resumed. Like drive_record_forget(), but also makes actions with the value AT_RESUME
 * due again. */
void drive_record_resume(DriveRecord *r, const SettingTable *table);
/* On a user's request, marks unreadable settings as due again, even if they were sent before. */
void drive_record_resend_unreadable(DriveRecord *r, const SettingTable *table);
/* Removes the records of settings without a wish. */
void drive_record_drop_unwanted(DriveRecord *r, const Wishes *w);

/* ---- tallies: counts of words as one text, "boot 1 resume 3" ---- */

/* Maximum number of different words in a tally. All further words are counted as TALLY_REST. */
#define TALLY_WORDS_MAX 24U
#define TALLY_REST "other"

typedef struct TallyEntry {
        const char *word; /* points into the text; not terminated by NUL */
        size_t len;
        uint64_t n;
} TallyEntry;

/* Increments the count of a word. *tally is NULL or a text, which is freed and replaced. A space in the word is escaped as \x20. -ENOMEM:
 * *tally is unchanged. */
int tally_add(char **tally, const char *word);

/* Reads the first entry of *rest, and advances *rest past the entry. *rest may be NULL. Returns false if *rest has no
 * entry, or is not a tally. */
bool tally_next(const char **rest, TallyEntry *ret);
