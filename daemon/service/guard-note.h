/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Part of guard.c: the files of drives, each named by its key, how the records of drives come to them, and who waits for that. One note
 * writer at a time, for all that has to be written when it begins. */

#include "guard.h"

typedef struct GuardNote GuardNote;

/* A drive that is there, by one path. */
struct GuardedDrive {
        GuardNote *note;
        GuardNote *awaited; /* this is to be on stable storage before the drive is written to; NULL: nobody waits */
        void *userdata;
        char *name;          /* the kernel's */
        char *place, *ports; /* guard-key.h */
        uint64_t diskseq;
        GuardEntry underway; /* is being sent now */
        GuardedDrive *next;
};

struct GuardNote {
        Guard *guard;
        GuardRecord *record;
        GuardedDrive *drives; /* paths to one drive, or drives that say that they are the same (twins) */
        unsigned n_visits;

        bool continues;  /* the drive is there, as it was when the intents of an earlier run were written */
        bool unreadable; /* the file cannot be read: it stays, and what is dangerous is not written */
        bool twins;      /* some of `drives` are, or were, and the journal knows */

        bool dirty;   /* the record is to be written … */
        bool writing; /* … by the note writer at work, as it was when that began … */
        bool written; /* … which has ended, and those who wait are to be told */
        bool late;    /* … or takes too long */
        bool failed;  /* it could not be written, or the file not be removed: that is tried again */
        sd_event_source *patience;

        GuardNote *next;
};

struct Guard {
        sd_event *event;
        char *dir;
        const char *boot_id;
        const SettingTable *settings;
        GuardFn stored;
        GuardNote *notes;        /* of those whose drives are not there, the one whose drive went last comes first */
        bool judged;             /* what earlier runs left of the drives that were there at the start */
        sd_event_source *writer; /* one at a time, for all that has to be written when it begins */
        sd_event_source *again;  /* … or what has failed, later */
        bool stores;             /* it does not only remove files, for which there is room also where there is none */
        bool told;               /* the journal knows that the directory is of no use */
};

/* With what the file says. -ENOMEM. Whether that could be read is in `unreadable`. */
int guard_note_new(Guard *g, const char *key, GuardNote **ret);
GuardNote *guard_note_free(GuardNote *n);

/* The record has changed: brings it to its file, after what is being written now. */
void guard_note_write(GuardNote *n);
void guard_write(Guard *g); /* all whose `dirty` is set */

/* Guard.stored is called for `d` when the record as it is now is on stable storage, or has not been for too long; guard_note_write()
 * follows. Never calls it from within. */
int guard_note_await(GuardNote *n, GuardedDrive *d);

/* The directory is of no use: said once, until it is again. */
void guard_tell(Guard *g, int error);

/* Forgets notes of drives that are not there: all of which nothing but the file is to be known, and of the others the ones that
 * were seen least recently, so that no number of drives that come and go fills the memory. */
void guard_sweep(Guard *g);
