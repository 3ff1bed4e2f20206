/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Generates invalid values of message fields. */

#include <limits.h>

#include "macro.h"

typedef enum Kind {
        KIND_BOOL,
        KIND_ENUM, /* int; `limit` is the first invalid value */
        KIND_TEXT, /* `limit` is the size of the buffer; the invalid text has no NUL */
        KIND_CDB,  /* uint64_t size of a command; only 0, 12 and 16 are valid */
} Kind;

typedef struct Field {
        const char *name;
        void *at; /* address of the field in the structure from which the message is made */
        Kind kind;
        size_t limit;
} Field;

/* Writes the nth invalid value to `at`. Returns false if there are no more. */
static inline bool make_wrong(const Field *f, uint8_t *at, unsigned nth) {
        const int64_t enums[] = { -1, (int64_t) f->limit, INT_MAX, INT_MIN };
        static const uint64_t cdbs[] = { 1, 10, 13, 32, UINT64_MAX };
        int number;

        switch (f->kind) {
        case KIND_BOOL:
                *at = (uint8_t) (2 + nth);
                return 2 + nth <= UINT8_MAX;
        case KIND_ENUM:
                if (nth >= ELEMENTSOF(enums))
                        return false;
                number = (int) enums[nth];
                memcpy(at, &number, sizeof number);
                return true;
        case KIND_TEXT:
                memset(at, 'x', f->limit);
                return nth < 1;
        case KIND_CDB:
                if (nth < ELEMENTSOF(cdbs))
                        memcpy(at, cdbs + nth, sizeof *cdbs);
                return nth < ELEMENTSOF(cdbs);
        }
        return false;
}

/* Returns the first offset at which two messages of this size differ; `size` if they are equal. */
static size_t first_difference(const uint8_t *a, const uint8_t *b, size_t size) {
        size_t at = 0;

        while (at < size && a[at] == b[at])
                at++;
        return at;
}
