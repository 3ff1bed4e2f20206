/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A list of errors, warnings and notices about configuration files, each printed as "file:line:column: level: sentence". One run reports
 * all of them. */

#include "macro.h"

typedef enum ComplaintLevel {
        COMPLAINT_ERROR,   /* text that is not applied, or that violates libconfig's grammar */
        COMPLAINT_WARNING, /* text that is applied, but is probably not what the user intended */
        COMPLAINT_NOTICE,
} ComplaintLevel;

typedef struct Complaint {
        ComplaintLevel level;
        char *file;
        unsigned line, column; /* count from 1; 0: the complaint is about the whole file */
        char *sentence;
} Complaint;

typedef struct Complaints {
        GROWING_ARRAY(Complaint, items);
        size_t n_errors;
        int error; /* -ENOMEM: memory ran out, so the list and the configuration are incomplete */
} Complaints;

const char *complaint_level_to_string(ComplaintLevel l);

/* Adds a complaint. The list is sorted by file (the file with the earliest complaint first), then by line and column. Returns c->error. */
int complain(Complaints *c, ComplaintLevel level, const char *file, unsigned line, unsigned column, const char *format,
             ...) _printf_(6, 7);
/* Returns true if a complaint about this file, line and column ends with `end`. Used to report a rule only once if the rule matches many
 * drives. */
bool complaints_have(const Complaints *c, const char *file, unsigned line, unsigned column, const char *end);
/* Returns true if the file has an error. */
bool complaints_have_error(const Complaints *c, const char *file);
/* Removes all complaints about the file. */
void complaints_drop(Complaints *c, const char *file);
void complaints_done(Complaints *c);

/* Returns "file:line:column: error: sentence" without a newline, or NULL if memory runs out. The caller frees the text. */
char *complaint_format(const Complaint *c);
