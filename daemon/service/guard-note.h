/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Part of guard.c: what is known of drives, and the files below the guard's directory that say so. They are written by a process that
 * is made for that, one at a time, which writes all that has changed. */

#include "guard.h"

typedef struct GuardNote GuardNote;

/* A drive that is there, by one path. */
struct GuardedDrive {
        GuardNote *note;
        GuardNote *awaited; /* this is to be on stable storage before the drive is written to; NULL: nobody waits */
        void *userdata;
        char *name;  /* the kernel's */
        char *place; /* guard_place() */
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

        char *kept;   /* guarded_keep(): to be written, too; NULL: nothing is */
        bool changed; /* the file is to be written, or removed … */
        bool writing; /* … and is, as the record was when the writer was started */

        GuardNote *next;
};

struct Guard {
        sd_event *event;
        char *dir;
        const char *boot_id;
        const SettingTable *settings;
        GuardFn stored;
        GuardNote *notes;  /* of those whose drives are not there, the one whose drive went last comes first */
        GuardNote *visits; /* one of them, and no drive's: visits that write are under way at all */
        bool judged;       /* what earlier runs left of the drives that were there at the start */
        bool cautious;     /* the machine went down during visits: each drive's visit is noted on its own */

        sd_event_source *writer; /* the process that writes; NULL: none does */
        sd_event_source *
                        timer; /* runs while it writes, but not for too long; then, when that has failed, until it is tried again */
        bool told;             /* the journal knows that the directory is of no use */
};

/* With what the file says. -ENOMEM. Whether that could be read is in `unreadable`. */
int guard_note_new(Guard *g, const char *key, GuardNote **ret);
GuardNote *guard_note_free(GuardNote *n);
DEFINE_CLEANUP(GuardNote *, guard_note_free);
GuardedDrive *guarded_free(GuardedDrive *d);
DEFINE_CLEANUP(GuardedDrive *, guarded_free);

/* The record has changed: brings it to its file, after what is being written now. Then Guard.stored is called for the drives that
 * await it, never from within. Errors are told, and the file is written later. */
int guard_note_write(GuardNote *n);

/* The directory is of no use: said once, until it is again. */
void guard_tell(Guard *g, int error);
