/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Finds files by their inode numbers: the kernel's trace names a changed file by its inode only. */

#include "output.h"
#include "records.h"
#include "wake-records.h"

typedef struct ChangedFile {
        const char *drive;   /* kernel name: now if the drive is attached, else at the time of the record */
        const char *process; /* program that changed the file; NULL: not known */
        uint64_t inode;
        char *path; /* NULL: not found; owned */
        bool attached;
} ChangedFile;

/* Zeroed: no file. The strings belong to the records. */
typedef struct ChangedFiles {
        GROWING_ARRAY(ChangedFile, items);
} ChangedFiles;

/* Adds the changed file of the record, if there is one. Adds each file once, and at most eight files of a drive, so that the find command
 * is short. `here`: the state files of the attached drives. */
void changed_files_add(ChangedFiles *f, const Records *here, const WakeRecord *w);
void changed_files_done(ChangedFiles *f);

/* Finds the paths of the files that processes have open, without I/O to a drive. Finds nothing if the user is not root. `proc`: path of
 * /proc; `classdir`: as in stack.h. Each path is valid in the mount namespace of the process. */
void changed_files_find(ChangedFiles *f, const char *proc, const char *classdir);

/* Returns the path of the record's file, or NULL if the path was not found. */
const char *changed_files_path(const ChangedFiles *f, const Records *here, const WakeRecord *w);

/* Prints the paths of the files below the table, and a find(1) command for the other files of each drive. */
void changed_files_print(const ChangedFiles *f, Output *o);

/* Returns a find(1) command that finds the files of these inodes on the drive's mounted file systems. The command is printed and never
 * run, since the search wakes the drive. `drive`: kernel name, or NULL if the drive is not attached. `mountinfo`: as
 * /proc/self/mountinfo; `classdir`: as in stack.h. */
char *changed_file_command(const char *mountinfo, const char *classdir, const char *drive, const uint64_t *inodes,
                           size_t n_inodes);
