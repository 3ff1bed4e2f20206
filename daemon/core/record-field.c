/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdio.h>

#include "macro.h"
#include "record-field.h"
#include "text.h"

/* Parses a number of digits only: strtoull() would also accept blanks, signs and an empty string. */
static int unsigned_parse(const char *s, uint64_t max, uint64_t *ret) {
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

/* Parses exactly `n` numbers. Rejects fewer or more numbers, as a file of another version may have. */
static int numbers_parse(const char *value, size_t n, uint64_t *ret) {
        for (size_t i = 0; i < n; i++) {
                size_t len = strcspn(value, " ");
                char number[32];

                if (len >= sizeof number || (value[len] == '\0') != (i + 1 == n))
                        return -EBADMSG;
                (void) snprintf(number, sizeof number, "%.*s", (int) len, value);
                if (unsigned_parse(number, UINT64_MAX, ret + i) < 0)
                        return -EBADMSG;
                value += len + 1;
        }
        return 0;
}

static int field_parse(const Field *f, void *object, const char *value) {
        void *p = (char *) object + f->offset;
        bool negative = *value == '-';
        uint64_t n = 0;
        char *text;
        int r;

        switch (f->type) {
        case FIELD_TEXT:
                r = text_unescape(value, &text);
                if (r < 0)
                        return r;
                free(*(char **) p);
                *(char **) p = text;
                return 0;

        case FIELD_UNSIGNED:
                return unsigned_parse(value, f->max ?: UINT64_MAX, p);

        case FIELD_KNOWN:
                r = unsigned_parse(value + negative, (uint64_t) INT64_MAX + negative, &n);
                /* Negates as unsigned, so that INT64_MIN does not overflow. */
                *(KnownNumber *) p = (KnownNumber){ .known = r >= 0, .number = (int64_t) (negative ? -n : n) };
                return r;

        case FIELD_NUMBERS:
                return numbers_parse(value, f->max, p);

        case FIELD_BOOL:
                *(bool *) p = streq(value, "1");
                return *(bool *) p ? 0 : -EBADMSG;

        case FIELD_WORD:
                /* The first word belongs to 0 or 1: without a word for 0, the search continues at 1. */
                for (int word = 0; word == 0 || f->word(word); word++)
                        if (streq_ptr(f->word(word), value)) {
                                *(int *) p = word;
                                return 0;
                        }
        }

        return -EBADMSG;
}

/* Parses one line. Skips an unknown key: the file may be from a later version. */
static int fields_parse(const Field *fields, void *object, const char *key, const char *value) {
        for (const Field *f = fields; f->key; f++)
                if (streq(f->key, key))
                        return field_parse(f, object, value);

        return 0;
}

static void numbers_write(const char *prefix, const char *key, const uint64_t *numbers, size_t n, FILE *f) {
        bool any = false;

        for (size_t i = 0; i < n; i++)
                any = any || numbers[i] != 0;
        if (!any)
                return;
        fprintf(f, "%s%s=", prefix, key);
        for (size_t i = 0; i < n; i++)
                fprintf(f, "%" PRIu64 "%c", numbers[i], i + 1 < n ? ' ' : '\n');
}

static int field_write(const Field *field, const void *object, const char *prefix, FILE *f) {
        const void *p = (const char *) object + field->offset;
        const KnownNumber *known = p;
        _cleanup_free_ char *escaped = NULL;
        const char *text = NULL;

        switch (field->type) {
        case FIELD_TEXT:
                text = escaped = *(char *const *) p ? text_escape(*(char *const *) p, "\\") : NULL;
                if (*(char *const *) p && !text)
                        return -ENOMEM;
                break;

        case FIELD_UNSIGNED:
                if (*(const uint64_t *) p != 0)
                        fprintf(f, "%s%s=%" PRIu64 "\n", prefix, field->key, *(const uint64_t *) p);
                break;

        case FIELD_KNOWN:
                if (known->known)
                        fprintf(f, "%s%s=%" PRIi64 "\n", prefix, field->key, known->number);
                break;

        case FIELD_NUMBERS:
                numbers_write(prefix, field->key, p, field->max, f);
                break;

        case FIELD_BOOL:
                text = *(const bool *) p ? "1" : NULL;
                break;

        case FIELD_WORD:
                text = field->word(*(const int *) p);
                break;
        }

        if (text)
                fprintf(f, "%s%s=%s\n", prefix, field->key, text);
        return 0;
}

static int fields_write(const Field *fields, const void *object, const char *prefix, FILE *f) {
        int r = 0;

        for (const Field *field = fields; field->key && r >= 0; field++)
                r = field_write(field, object, prefix, f);

        return r;
}

static char **items_of(const FieldFile *file, const void *object) {
        return (char **) ((char *) object + file->items_offset);
}

static size_t *n_items_of(const FieldFile *file, const void *object) {
        return (size_t *) ((char *) object + file->n_items_offset);
}

static char *item_of(const FieldFile *file, const void *object, size_t i) {
        return *items_of(file, object) + i * file->item_size;
}

void fields_free(const Field *fields, void *object) {
        for (const Field *f = fields; f->key; f++)
                if (f->type == FIELD_TEXT)
                        free(*(char **) ((char *) object + f->offset));
}

void field_file_free(const FieldFile *file, void *object) {
        if (!object)
                return;

        for (size_t i = 0; i < *n_items_of(file, object); i++)
                fields_free(file->item_fields, item_of(file, object, i));
        free(*items_of(file, object));
        fields_free(file->fields, object);
        free(object);
}

void field_item_drop(const FieldFile *file, void *object, size_t i) {
        char *item = item_of(file, object, i);

        fields_free(file->item_fields, item);
        memmove(item, item + file->item_size, (--*n_items_of(file, object) - i) * file->item_size);
}

int field_item_add(const FieldFile *file, void *object) {
        char **items = items_of(file, object), *p;
        size_t *n = n_items_of(file, object);

        if (*n >= file->max_items)
                return -E2BIG;
        p = reallocarray(*items, *n + 1, file->item_size);
        if (!p)
                return -ENOMEM;
        *items = p;

        p = memset(p + *n * file->item_size, 0, file->item_size);
        for (const Field *f = file->item_fields; f->key; f++)
                if (f->type == FIELD_WORD)
                        *(int *) (p + f->offset) = -1;

        *n += 1;
        return 0;
}

/* Parses one line of an item. `key`: the part after the prefix: "3_NAME". */
static int item_parse(const FieldFile *file, void *object, char *key, const char *value) {
        size_t n = *n_items_of(file, object);
        char *field = strchr(key, '_');
        uint64_t i;
        int r = 0;

        if (!field)
                return -EBADMSG;
        *field++ = '\0';

        /* The items are in order. If the index equals the number of items so far, the line begins a new item. */
        if (unsigned_parse(key, MIN(n, file->max_items - 1), &i) < 0)
                return -EBADMSG;
        if (i == n)
                r = field_item_add(file, object);
        return r < 0 ? r : fields_parse(file->item_fields, item_of(file, object, i), field, value);
}

int field_file_parse(const FieldFile *file, const char *text, size_t size, void *object) {
        _cleanup_free_ char *copy = NULL;
        uint64_t n_items = 0;
        char head[32], *next;
        int r = 0;

        if (size > file->max_bytes || memchr(text, '\0', size))
                return -EBADMSG;

        copy = strndup(text, size);
        if (!copy)
                return -ENOMEM;

        (void) snprintf(head, sizeof head, "VERSION=%u\n", file->version);
        if (!starts_with(copy, head))
                return -EBADMSG;

        for (char *line = copy + strlen(head), *value; *line && r >= 0; line = next) {
                /* Every line, also the last one, must end in a newline: this detects a truncated file. */
                next = strchr(line, '\n');
                value = strchr(line, '=');
                if (!next || !value || value > next)
                        return -EBADMSG;
                *next++ = '\0';
                *value++ = '\0';

                if (streq(line, file->count))
                        r = unsigned_parse(value, UINT64_MAX, &n_items);
                else if (starts_with(line, file->prefix))
                        r = item_parse(file, object, line + strlen(file->prefix), value);
                else
                        r = fields_parse(file->fields, object, line, value);
        }

        if (r >= 0 && n_items != *n_items_of(file, object))
                return -EBADMSG;
        return r;
}

int field_file_serialize(const FieldFile *file, const void *object, char **ret) {
        size_t n = *n_items_of(file, object), size;
        _cleanup_free_ char *text = NULL;
        char prefix[64];
        bool failed;
        FILE *f;
        int r;

        f = open_memstream(&text, &size);
        if (!f)
                return -ENOMEM;

        fprintf(f, "VERSION=%u\n", file->version);
        r = fields_write(file->fields, object, "", f);
        fprintf(f, "%s=%zu\n", file->count, n);
        for (size_t i = 0; i < n && r >= 0; i++) {
                (void) snprintf(prefix, sizeof prefix, "%s%zu_", file->prefix, i);
                r = fields_write(file->item_fields, item_of(file, object, i), prefix, f);
        }
        failed = ferror(f);
        if ((fclose(f) != 0 || failed) && r >= 0)
                r = -ENOMEM; /* the only error of a stream into memory */
        if (r < 0)
                return r;
        if (size > file->max_bytes)
                return -E2BIG;

        *ret = TAKE_PTR(text);
        return 0;
}
