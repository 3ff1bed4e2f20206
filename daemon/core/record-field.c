/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>

#include "record-field.h"
#include "record.h"
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

        case FIELD_STATE: {
                DriveState s = drive_state_from_string(value);

                if (s < 0)
                        return -EBADMSG;
                *(DriveState *) p = s;
                return 0;
        }

        case FIELD_VERDICT: {
                Verdict v = verdict_from_string(value);

                if (v < 0)
                        return -EBADMSG;
                *(Verdict *) p = v;
                return 0;
        }
        }

        return -EBADMSG;
}

int fields_parse(const Field *fields, size_t n, void *object, const char *key, const char *value) {
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

        case FIELD_STATE:
                fprintf(f, "%s%s=%s\n", prefix, field->key, drive_state_to_string(*(const DriveState *) p));
                return 0;

        case FIELD_VERDICT:
                if (*(const Verdict *) p != _VERDICT_INVALID)
                        fprintf(f, "%s%s=%s\n", prefix, field->key, verdict_to_string(*(const Verdict *) p));
                return 0;
        }

        return 0;
}

int fields_write(const Field *fields, size_t n, const void *object, const char *prefix, FILE *f) {
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
