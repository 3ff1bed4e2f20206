/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>

#include "record-field.h"
#include "text.h"

int unsigned_parse(const char *s, uint64_t max, uint64_t *ret) {
        unsigned long long n;

        if (*s == '\0' || s[strspn(s, "0123456789")] != '\0')
                return -EBADMSG;

        errno = 0;
        n = strtoull(s, NULL, 10);
        if (errno != 0 || n > max)
                return -EBADMSG;

        *ret = n;
        return 0;
}

static int signed_parse(const char *s, int64_t *ret) {
        bool negative = *s == '-';
        uint64_t n;
        int r;

        r = unsigned_parse(s + negative, (uint64_t) INT64_MAX + negative, &n);
        if (r < 0)
                return r;

        /* Negated as unsigned, where the smallest number does not overflow. */
        *ret = (int64_t) (negative ? -n : n);
        return 0;
}

static int field_parse(const Field *f, void *object, const char *value) {
        void *p = (char *) object + f->offset;

        switch (f->type) {

        case FIELD_TEXT: {
                char *text;
                int r;

                r = text_unescape(value, &text);
                if (r < 0)
                        return r;

                free(*(char **) p);
                *(char **) p = text;
                return 0;
        }

        case FIELD_UNSIGNED:
                return unsigned_parse(value, f->max, p);

        case FIELD_SIGNED:
                return signed_parse(value, p);

        case FIELD_BOOL:
                if (!streq(value, "1"))
                        return -EBADMSG;
                *(bool *) p = true;
                return 0;

        case FIELD_WORD:
                for (int word = 0; word < f->words->n; word++)
                        if (streq(f->words->to_string(word), value)) {
                                *(int *) p = word;
                                return 0;
                        }
                return -EBADMSG;
        }

        return -EBADMSG;
}

/* A key that is none of ours is a later version's, and skipped. */
static int fields_parse(const Field *fields, size_t n, void *object, const char *key, const char *value) {
        for (size_t i = 0; i < n; i++)
                if (streq(fields[i].key, key))
                        return field_parse(fields + i, object, value);

        return 0;
}

static int field_write(FILE *f, const Field *field, const void *object, const char *prefix) {
        const void *p = (const char *) object + field->offset;

        switch (field->type) {

        case FIELD_TEXT: {
                const char *text = *(char *const *) p;
                _cleanup_free_ char *escaped = NULL;

                if (!text)
                        return 0;
                escaped = text_escape(text, "\\");
                if (!escaped)
                        return -ENOMEM;
                fprintf(f, "%s%s=%s\n", prefix, field->key, escaped);
                return 0;
        }

        case FIELD_UNSIGNED:
                if (*(const uint64_t *) p > field->max)
                        return -ERANGE;
                if (*(const uint64_t *) p != 0)
                        fprintf(f, "%s%s=%" PRIu64 "\n", prefix, field->key, *(const uint64_t *) p);
                return 0;

        case FIELD_SIGNED:
                if (*(const int64_t *) p != 0)
                        fprintf(f, "%s%s=%" PRIi64 "\n", prefix, field->key, *(const int64_t *) p);
                return 0;

        case FIELD_BOOL:
                if (*(const bool *) p)
                        fprintf(f, "%s%s=1\n", prefix, field->key);
                return 0;

        case FIELD_WORD:
                if (*(const int *) p != field->words->none)
                        fprintf(f, "%s%s=%s\n", prefix, field->key, field->words->to_string(*(const int *) p));
                return 0;
        }

        return 0;
}

static int fields_write(const Field *fields, size_t n, const void *object, const char *prefix, FILE *f) {
        for (size_t i = 0; i < n; i++) {
                int r;

                r = field_write(f, fields + i, object, prefix);
                if (r < 0)
                        return r;
        }

        return 0;
}

void fields_free(const Field *fields, size_t n, void *object) {
        for (size_t i = 0; i < n; i++)
                if (fields[i].type == FIELD_TEXT)
                        free(*(char **) ((char *) object + fields[i].offset));
}

/* Pointers of different types may not be read through one another. */
static char *items_of(const FieldFile *file, const void *object) {
        char *items;

        memcpy(&items, (const char *) object + file->items_offset, sizeof items);
        return items;
}

static size_t *n_items_of(const FieldFile *file, const void *object) {
        return (size_t *) ((char *) object + file->n_items_offset);
}

/* The number of items comes before the items, and once. */
static int items_allocate(const FieldFile *file, void *object, const char *value) {
        char *items;
        uint64_t n;
        int r;

        r = unsigned_parse(value, file->max_items, &n);
        if (r < 0)
                return r;
        if (items_of(file, object))
                return -EBADMSG;
        if (n == 0)
                return 0;

        items = calloc(n, file->item_size);
        if (!items)
                return -ENOMEM;

        for (size_t i = 0; i < n; i++)
                for (const Field *f = file->item_fields; f < file->item_fields + file->n_item_fields; f++)
                        if (f->type == FIELD_WORD)
                                *(int *) (items + i * file->item_size + f->offset) = f->words->none;

        *(char **) ((char *) object + file->items_offset) = items;
        *n_items_of(file, object) = n;
        return 0;
}

/* `key` is what stands behind the prefix: "3_NAME". */
static int item_parse(const FieldFile *file, void *object, char *key, const char *value) {
        size_t n = *n_items_of(file, object);
        char *field;
        uint64_t i;
        int r;

        field = strchr(key, '_');
        if (!field || n == 0)
                return -EBADMSG;
        *field++ = '\0';

        r = unsigned_parse(key, n - 1, &i);
        if (r < 0)
                return r;

        return fields_parse(file->item_fields, file->n_item_fields, items_of(file, object) + i * file->item_size, field,
                            value);
}

static int line_parse(const FieldFile *file, void *object, char *key, const char *value) {
        if (streq(key, file->count))
                return items_allocate(file, object, value);
        if (strncmp(key, file->prefix, strlen(file->prefix)) == 0)
                return item_parse(file, object, key + strlen(file->prefix), value);

        return fields_parse(file->fields, file->n_fields, object, key, value);
}

int field_file_parse(const FieldFile *file, const char *text, size_t size, void *object) {
        _cleanup_free_ char *copy = NULL, *head = NULL;

        if (size > file->max_bytes || memchr(text, '\0', size))
                return -EBADMSG;

        copy = strndup(text, size);
        if (!copy)
                return -ENOMEM;

        if (asprintf(&head, "VERSION=%u", file->version) < 0) {
                head = NULL;
                return -ENOMEM;
        }

        for (char *line = copy, *next; *line; line = next) {
                char *value;
                int r;

                /* Every line ends in a newline, the last one too: a file cut short is not taken for a whole one. */
                next = strchr(line, '\n');
                if (!next)
                        return -EBADMSG;
                *next++ = '\0';

                if (line == copy) {
                        if (!streq(line, head))
                                return -EBADMSG;
                        continue;
                }

                value = strchr(line, '=');
                if (!value)
                        return -EBADMSG;
                *value++ = '\0';

                r = line_parse(file, object, line, value);
                if (r < 0)
                        return r;
        }

        return 0;
}

static int object_write(const FieldFile *file, const void *object, FILE *f) {
        size_t n = *n_items_of(file, object);
        int r;

        fprintf(f, "VERSION=%u\n", file->version);
        r = fields_write(file->fields, file->n_fields, object, "", f);
        if (r < 0)
                return r;

        fprintf(f, "%s=%zu\n", file->count, n);
        for (size_t i = 0; i < n; i++) {
                char prefix[64];

                (void) snprintf(prefix, sizeof prefix, "%s%zu_", file->prefix, i);
                r = fields_write(file->item_fields, file->n_item_fields, items_of(file, object) + i * file->item_size,
                                 prefix, f);
                if (r < 0)
                        return r;
        }

        return ferror(f) ? -ENOMEM : 0;
}

int field_file_serialize(const FieldFile *file, const void *object, char **ret) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f;
        int r;

        f = open_memstream(&text, &size);
        if (!f)
                return -ENOMEM;

        r = object_write(file, object, f);
        if (fclose(f) != 0 && r >= 0)
                r = -ENOMEM;
        if (r < 0)
                return r;
        if (size > file->max_bytes)
                return -E2BIG;

        *ret = TAKE_PTR(text);
        return 0;
}
