/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is known of one drive and of each of its settings, as it stands in /run/drivekeep/drives/NAME: the daemon writes
 * it, anybody reads it. Text of KEY=value lines; values are escaped so that one never holds a newline. Pure: text in,
 * text out. Files are read as hostile: lengths and counts are bounded, unknown keys skipped, a bad line is -EBADMSG. */

#include "plan.h"

#define RECORD_VERSION 1U
#define RECORD_MAX_BYTES (256U * 1024U)
#define RECORD_MAX_SETTINGS 256U

typedef enum DriveState {
        DRIVE_IDLE,     /* nothing to do */
        DRIVE_QUEUED,   /* waits for a free worker */
        DRIVE_WAITING,  /* waits for an fsck; waiting_for names it */
        DRIVE_VISITING, /* a worker is at it */
        _DRIVE_STATE_MAX,
        _DRIVE_STATE_INVALID = -1,
} DriveState;

const char *drive_state_to_string(DriveState s);
DriveState drive_state_from_string(const char *s);

typedef struct SettingRecord {
        char *name;
        char *wanted, *before, *actual; /* formatted (value_format()); NULL: not known */
        Verdict verdict;
        char *reason;  /* NULL: none */
        char *rule;    /* file:line */
        uint64_t when; /* CLOCK_REALTIME, µs */
        bool sent;     /* unreadable: sent_value was sent to this attach, in this power-on */
        int64_t sent_value;
        bool settled; /* … and the drive made settled_value of it (VERDICT_ADJUSTED) */
        int64_t settled_value;
} SettingRecord;

typedef struct DriveRecord {
        char *name, *node, *model, *serial, *wwn, *firmware, *transport;
        char *identity; /* which identity it is known by: "wwn", "serial", "path" */
        uint64_t size, diskseq;
        char *boot_id;
        DriveState state;
        char *waiting_for;  /* unit name, or NULL */
        char *visit_reason; /* of the last visit; NULL: none yet */
        SettingRecord *settings;
        size_t n_settings;
} DriveRecord;

DriveRecord *drive_record_free(DriveRecord *r);
DEFINE_CLEANUP(DriveRecord *, drive_record_free);

int drive_record_parse(const char *text, size_t size, DriveRecord **ret);
int drive_record_serialize(const DriveRecord *r, char **ret);

/* The record of `name`, or NULL. */
SettingRecord *drive_record_find(const DriveRecord *r, const char *name);
int drive_record_add(DriveRecord *r, const char *name, SettingRecord **ret); /* the old one when it is there */
void drive_record_drop(DriveRecord *r, size_t i);                            /* removes settings[i] */

/* Is this record of the same attach of the same drive, so that what it remembers still holds? */
bool drive_record_continues(const DriveRecord *r, const Drive *d, const char *boot_id);

/* What the record knows, one Memory per wish, in their order. The caller frees it. */
int drive_record_memories(const DriveRecord *r, const Wishes *w, Memory **ret);

/* record-update.c: what the daemon does to a record. Failures are -ENOMEM. */
int drive_record_set_identity(DriveRecord *r, const Drive *d, const char *boot_id);
int drive_record_step(DriveRecord *r, const Step *s, uint64_t when); /* a setting has its verdict */
void drive_record_drop_unwanted(DriveRecord *r, const Wishes *w);    /* nobody asks for these any more */
int string_replace(char **field, const char *value);                 /* a copy; NULL: none */
