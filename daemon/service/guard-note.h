/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Structures of guard.c, for it and for tests. */

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
        bool logged; /* the journal knows that the directory is of no use */
};
