/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private structures of guard.c, shared only with its tests. */

#include <systemd/sd-event.h>

#include "guard-rules.h"

typedef struct Guard Guard;
typedef struct GuardedDrive GuardedDrive;
typedef struct GuardNote GuardNote;

/* One path to an attached drive. */
struct GuardedDrive {
        GuardNote *note;
        GuardNote *awaited; /* the note that must be on stable storage before a write to the drive; NULL if the visit waits for none */
        void *userdata;
        char *name;  /* the kernel name */
        char *place; /* the port, from guard_place() */
        uint64_t diskseq;
        GuardEntry underway; /* the value that a visit is writing now */
        GuardedDrive *next;
};

struct GuardNote {
        Guard *guard;
        GuardRecord *record;
        GuardedDrive *drives; /* paths to one drive, or drives with the same identity (twins) */
        unsigned n_visits;

        bool continues; /* the drive has stayed attached since an earlier run of the service wrote the intents of the note */
        bool unreadable; /* the file cannot be read: it is not overwritten, and no dangerous value is sent to the drive */
        bool twins;      /* some of `drives` are or were twins, which has been logged */

        char *kept;   /* the text of guarded_keep() that must be written; NULL if no text waits */
        bool changed; /* the file must be written, or removed */
        bool writing; /* the writer is writing the file, with the record's state at the writer's start */

        GuardNote *next;
};

struct Guard {
        sd_event *event;
        char *dir;
        const char *boot_id;
        const SettingTable *settings;
        void (*stored)(void *userdata, int error); /* the GuardFn of guard_new() */
        GuardNote *notes;  /* all notes; those of drives that are not attached are ordered by removal, latest first */
        GuardNote *visits; /* the note without a drive, which says that some visit is writing */
        bool judged;       /* guard_judge() was called */
        bool cautious; /* the machine crashed during visits: each drive's visits are noted in the drive's own file */

        sd_event_source *writer; /* the process that writes the files; NULL if none is running */
        sd_event_source *timer;  /* limits the wait for the writer; after a failure, starts the next attempt */
        bool logged;             /* the failure to write the directory has been logged */
};
