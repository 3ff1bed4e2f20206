/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads and writes state files by tables. One row (Field) describes one KEY=value line: the member of a structure that holds the value,
 * and the form of the value. NULL, 0, false, and a number for which Field.word() returns NULL are stored by omitting the line.
 * If a line is missing, the parser leaves the member unchanged. */

#include "value.h"

typedef enum FieldType {
        FIELD_TEXT,     /* char * */
        FIELD_UNSIGNED, /* uint64_t, at most `max` */
        FIELD_KNOWN,    /* KnownNumber; no line if not known */
        FIELD_NUMBERS,  /* array of `max` uint64_t, "3 0 17"; no line if all are 0 */
        FIELD_BOOL,     /* bool: "1"; no line if false */
        FIELD_WORD,     /* enum, stored as a word; the first word is for 0 or 1. In an item, a missing line gives -1 */
} FieldType;

/* An array of Fields ends with {}. */
typedef struct Field {
        const char *key;
        FieldType type;
        size_t offset;
        uint64_t max; /* largest number of FIELD_UNSIGNED (0: no limit), or length of the array of FIELD_NUMBERS */
        const char *(*word)(int value); /* FIELD_WORD: returns a number's word; NULL: the number has no word */
} Field;

void fields_free(const Field *fields, void *object);

/* A state file: "VERSION=number", the lines of the object, the number of items ("SETTINGS=2"), and the lines of each item, which begin
 * with `prefix` and the index of the item ("SETTING_0_NAME=apm"). */
typedef struct FieldFile {
        unsigned version;
        size_t max_bytes;
        const Field *fields;

        const char *count, *prefix;
        const Field *item_fields;
        size_t item_size, max_items;
        /* Offsets of two members of the object: the pointer to the items, and the number of items (size_t). */
        size_t items_offset, n_items_offset;
} FieldFile;

void field_file_free(const FieldFile *file, void *object);

/* Appends a zeroed item. -E2BIG: the object has `max_items` items already; -ENOMEM. */
int field_item_add(const FieldFile *file, void *object);
void field_item_drop(const FieldFile *file, void *object, size_t i);

/* Fills a zeroed object. The caller frees the object, also after an error. -EBADMSG: the text is truncated, too long, of another
 * version, or has a line that is not KEY=value. */
int field_file_parse(const FieldFile *file, const char *text, size_t size, void *object);

/* Writes the text of the file to *ret. -E2BIG: the text is longer than `max_bytes`, so that field_file_parse() would reject it. */
int field_file_serialize(const FieldFile *file, const void *object, char **ret);
