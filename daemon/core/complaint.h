/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is wrong with the files: `file:line:column: level: sentence`, collected, so that one run tells all of it. */

#include "macro.h"

typedef enum ComplaintLevel {
        COMPLAINT_ERROR,   /* something is not applied, or the file is not as libconfig's grammar has it */
        COMPLAINT_WARNING, /* applied, but perhaps not as meant */
        COMPLAINT_NOTICE,
} ComplaintLevel;

typedef struct Complaint {
        ComplaintLevel level;
        char *file;
        unsigned line, column; /* from 1; 0: the file as a whole */
        char *sentence;
} Complaint;

typedef struct Complaints {
        GROWING_ARRAY(Complaint, items);
        size_t n_errors;
        int error; /* -ENOMEM: not all of them are here, nor what was read with them */
} Complaints;

const char *complaint_level_to_string(ComplaintLevel l);

/* Puts it where it belongs: by file in order of first mention, then line and column. Returns c->error. */
int complain(Complaints *c, ComplaintLevel level, const char *file, unsigned line, unsigned column, const char *format,
             ...) _printf_(6, 7);
/* Is there already a complaint about this place that ends so? One rule may match many drives. */
bool complaints_have(const Complaints *c, const char *file, unsigned line, unsigned column, const char *end);
/* Is there an error in the file? And without all complaints about it. */
bool complaints_have_error(const Complaints *c, const char *file);
void complaints_drop(Complaints *c, const char *file);
void complaints_done(Complaints *c);

/* "file:line:column: error: sentence", without a newline. The caller frees it; NULL on -ENOMEM. */
char *complaint_format(const Complaint *c);
