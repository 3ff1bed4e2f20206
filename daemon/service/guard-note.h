/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Structures of guard.c, for it and for tests. */

#include <systemd/sd-event.h>

#include "guard-rules.h"

typedef struct Guard Guard;
typedef struct GuardedDrive GuardedDrive;
typedef struct GuardNote GuardNote;

/* A drive that is there, by one path. */
struct GuardedDrive {
        GuardNote *note;
        GuardNote *awaited; /* must be on stable storage before the drive is written to; NULL: the visit does not wait */
        void *userdata;
        char *name;  /* the kernel's */
        char *place; /* guard_place() */
        uint64_t diskseq;
        GuardEntry underway; /* is being written now */
        GuardedDrive *next;
};

struct GuardNote {
        Guard *guard;
        GuardRecord *record;
        GuardedDrive *drives; /* paths to one drive, or drives with the same identity (twins) */
        unsigned n_visits;

        bool continues;  /* the drive has been plugged in since an earlier run wrote its intents */
        bool unreadable; /* the file cannot be read: it stays, and no dangerous value is written */
        bool twins;      /* some of `drives` are or were twins, and that is logged */

        char *kept;   /* guarded_keep(): must be written; NULL: none */
        bool changed; /* the file must be written, or removed */
        bool writing; /* the writer writes the file, with the record's state at its start */

        GuardNote *next;
};

struct Guard {
        sd_event *event;
        char *dir;
        const char *boot_id;
        const SettingTable *settings;
        void (*stored)(void *userdata, int error); /* GuardFn */
        GuardNote *notes;  /* among those of absent drives, the drive that went last comes first */
        GuardNote *visits; /* one of them, without a drive: some visit that writes is under way */
        bool judged;       /* guard_judge() was called */
        bool cautious;     /* the machine crashed during visits: each drive's visits are noted on their own */

        sd_event_source *writer; /* the process that writes; NULL: there is none */
        sd_event_source *timer;  /* the limit of the wait for the writer; after a failure, until the next attempt */
        bool logged;             /* that the directory cannot be written */
};
