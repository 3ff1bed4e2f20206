/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One row is one KEY=value line of a state file: where it lives in a structure, and in which form. A key whose value is
 * NULL, 0, false or no word is not written, and a key that is absent leaves just that. Part of drive-record.c. */

#include "value.h"

typedef enum FieldType {
        FIELD_TEXT,     /* char * */
        FIELD_UNSIGNED, /* uint64_t, at most `max` */
        FIELD_KNOWN,    /* KnownNumber; not known: no line */
        FIELD_NUMBERS,  /* `max` times uint64_t in a row, "3 0 17"; all 0: no line */
        FIELD_BOOL,     /* bool, "1" */
        FIELD_WORD,     /* an enum that has a word for each number from 0 or 1 up; an item without the line has -1 */
} FieldType;

/* A list of them ends with {}. */
typedef struct Field {
        const char *key;
        FieldType type;
        size_t offset;
        uint64_t max;                   /* 0: UINT64_MAX */
        const char *(*word)(int value); /* of an enum that has a negative number, too; NULL: no such number */
} Field;

void fields_free(const Field *fields, void *object);

/* A whole state file: "VERSION=number", the object's lines, and a list of items: their number ("SETTINGS=2"), then each
 * item's lines, which begin with `prefix` and its index ("SETTING_0_NAME=apm"). */
typedef struct FieldFile {
        unsigned version;
        size_t max_bytes;
        const Field *fields;

        const char *count, *prefix;
        const Field *item_fields;
        size_t item_size, max_items;
        size_t items_offset, n_items_offset; /* in the object: the pointer to the items, and their number as size_t */
} FieldFile;

void field_file_free(const FieldFile *file, void *object);

/* One more item behind the others, which is zeroed. -E2BIG: there are `max_items`; -ENOMEM. */
int field_item_add(const FieldFile *file, void *object);
void field_item_drop(const FieldFile *file, void *object, size_t i);

/* Fills a zeroed object, which is the caller's to free whatever comes back. What is cut short, too long, of another version
 * or no KEY=value is -EBADMSG. */
int field_file_parse(const FieldFile *file, const char *text, size_t size, void *object);

/* -E2BIG: it would be longer than can be read again. */
int field_file_serialize(const FieldFile *file, const void *object, char **ret);
