/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One row is one KEY=value line of a state file: where it lives in a structure, and in which form. A key whose value is
 * NULL, 0, false or invalid is not written, and a key that is absent leaves just that. Part of record.c. */

#include <stdio.h>

#include "macro.h"

typedef enum FieldType {
        FIELD_TEXT,     /* char * */
        FIELD_UNSIGNED, /* uint64_t, at most `max` */
        FIELD_SIGNED,   /* int64_t */
        FIELD_BOOL,     /* bool, "1" */
        FIELD_STATE,    /* DriveState, always written */
        FIELD_VERDICT,  /* Verdict */
} FieldType;

typedef struct Field {
        const char *key;
        FieldType type;
        size_t offset;
        uint64_t max;
} Field;

/* Sets the field of that key; a key that is none of ours is a later version's, and skipped. */
int fields_parse(const Field *fields, size_t n, void *object, const char *key, const char *value);

/* One line per field that has a value, each key after `prefix`. */
int fields_write(const Field *fields, size_t n, const void *object, const char *prefix, FILE *f);

void fields_free(const Field *fields, size_t n, void *object);

/* Digits and nothing else: strtoull() would also take blanks, signs and an empty string. -EBADMSG otherwise. */
int unsigned_parse(const char *s, uint64_t max, uint64_t *ret);
