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
        GuardNote *awaited; /* the note that must be on stable storage before the visit may write; NULL: the visit does not wait */
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
        GuardedDrive *drives; /* the paths to the drive with this identity, or to several drives with this identity (twins) */
        unsigned n_visits;

        bool continues; /* the drive has stayed attached since an earlier run of the service noted its intended writes */
        bool unreadable; /* the file cannot be read: it is not overwritten, and no dangerous value is sent to the drive */
        bool twins;      /* twins were found among `drives`, and this has been logged */

        char *kept;   /* a text of guarded_keep() that the writer must still store; NULL: none */
        bool changed; /* the file must be written, or removed */
        bool writing; /* the writer is writing the file, from the record as it was when the writer started */

        GuardNote *next;
};

struct Guard {
        sd_event *event;
        char *dir;
        const char *boot_id;
        const SettingTable *settings;
        void (*stored)(void *userdata, int error); /* the GuardFn of guard_new() */
        GuardNote *notes;  /* all notes; notes of detached drives are in the order of removal, latest first */
        GuardNote *visits; /* the common note: it names no drive, and says that some visit is writing */
        bool judged;       /* guard_judge() was called */
        bool cautious;     /* the machine crashed during visits, so each visit is noted in the drive's own file */

        sd_event_source *writer; /* the process that writes the files; NULL if none is running */
        sd_event_source *timer;  /* limits the wait for the writer; after a failure, starts the next attempt */
        bool logged;             /* the failure to write the directory has been logged */
};
