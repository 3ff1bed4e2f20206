/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What has been told of which drive, and when, so that nothing is told twice and nobody is told too often; and the file that it is kept in.
 * Pure, but for that file. */

#include "record.h"

/* Of one drive nobody is told more often. */
#define ALERT_PAUSE_USEC (60ULL * 60 * 1000 * 1000)

typedef struct AlertNote {
        char *drive;   /* its WWN, or else its serial number and its name */
        uint64_t when; /* it was told of last; CLOCK_REALTIME, µs */
        char *told;    /* "apm=refused;lookahead=ignored": what was told, and is not mended since */
} AlertNote;

typedef struct AlertNotes {
        AlertNote *items;
        size_t n_items;
} AlertNotes;

/* A file that is not there, or cannot be understood, is as good as an empty one. The caller frees *ret. */
int alert_notes_read(const char *path, AlertNotes **ret);
char *alert_notes_format(const AlertNotes *notes); /* the text of the file; the caller frees it */
AlertNotes *alert_notes_free(AlertNotes *notes);
DEFINE_CLEANUP(AlertNotes *, alert_notes_free);

typedef enum AlertDue {
        ALERT_NOTHING, /* there is no news */
        ALERT_NOW,
        ALERT_LATER, /* there is, but the drive was told of within the hour */
} AlertDue;

/* Is there news of a drive? Takes note of what is mended: when it breaks again, that is news. */
AlertDue alert_notes_judge(AlertNotes *notes, const DriveRecord *d, uint64_t now);

/* What is wrong with it has been told. */
void alert_notes_told(AlertNotes *notes, const DriveRecord *d, uint64_t now);

/* Drops notes that are about nothing any more. */
void alert_notes_tidy(AlertNotes *notes, uint64_t now);
