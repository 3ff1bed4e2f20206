/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "record-field.h"
#include "record.h"

/* The last microsecond of the year 9999: what RFC 3339 can still say. */
#define WHEN_MAX UINT64_C(253402300799999999)

/* clang-format off */
static const Field drive_fields[] = {
        { "NAME",         FIELD_TEXT,     offsetof(DriveRecord, name),         0          },
        { "NODE",         FIELD_TEXT,     offsetof(DriveRecord, node),         0          },
        { "MODEL",        FIELD_TEXT,     offsetof(DriveRecord, model),        0          },
        { "SERIAL",       FIELD_TEXT,     offsetof(DriveRecord, serial),       0          },
        { "WWN",          FIELD_TEXT,     offsetof(DriveRecord, wwn),          0          },
        { "FIRMWARE",     FIELD_TEXT,     offsetof(DriveRecord, firmware),     0          },
        { "TRANSPORT",    FIELD_TEXT,     offsetof(DriveRecord, transport),    0          },
        { "IDENTITY",     FIELD_TEXT,     offsetof(DriveRecord, identity),     0          },
        { "SIZE",         FIELD_UNSIGNED, offsetof(DriveRecord, size),         UINT64_MAX },
        { "DISKSEQ",      FIELD_UNSIGNED, offsetof(DriveRecord, diskseq),      UINT64_MAX },
        { "BOOT_ID",      FIELD_TEXT,     offsetof(DriveRecord, boot_id),      0          },
        { "STATE",        FIELD_STATE,    offsetof(DriveRecord, state),        0          },
        { "WAITING_FOR",  FIELD_TEXT,     offsetof(DriveRecord, waiting_for),  0          },
        { "VISIT_REASON", FIELD_TEXT,     offsetof(DriveRecord, visit_reason), 0          },
};

static const Field setting_fields[] = {
        { "NAME",          FIELD_TEXT,     offsetof(SettingRecord, name),          0        },
        { "WANTED",        FIELD_TEXT,     offsetof(SettingRecord, wanted),        0        },
        { "BEFORE",        FIELD_TEXT,     offsetof(SettingRecord, before),        0        },
        { "ACTUAL",        FIELD_TEXT,     offsetof(SettingRecord, actual),        0        },
        { "VERDICT",       FIELD_VERDICT,  offsetof(SettingRecord, verdict),       0        },
        { "REASON",        FIELD_TEXT,     offsetof(SettingRecord, reason),        0        },
        { "RULE",          FIELD_TEXT,     offsetof(SettingRecord, rule),          0        },
        { "WHEN",          FIELD_UNSIGNED, offsetof(SettingRecord, when),          WHEN_MAX },
        { "SENT",          FIELD_BOOL,     offsetof(SettingRecord, sent),          0        },
        { "SENT_VALUE",    FIELD_SIGNED,   offsetof(SettingRecord, sent_value),    0        },
        { "SETTLED",       FIELD_BOOL,     offsetof(SettingRecord, settled),       0        },
        { "SETTLED_VALUE", FIELD_SIGNED,   offsetof(SettingRecord, settled_value), 0        },
};
/* clang-format on */

static const char *const drive_state_table[_DRIVE_STATE_MAX] = {
        [DRIVE_IDLE] = "idle",
        [DRIVE_QUEUED] = "queued",
        [DRIVE_WAITING] = "waiting",
        [DRIVE_VISITING] = "visiting",
};

const char *drive_state_to_string(DriveState s) {
        return s >= 0 && s < _DRIVE_STATE_MAX ? drive_state_table[s] : NULL;
}

DriveState drive_state_from_string(const char *s) {
        for (DriveState i = 0; i < _DRIVE_STATE_MAX; i++)
                if (streq(drive_state_table[i], s))
                        return i;

        return _DRIVE_STATE_INVALID;
}

DriveRecord *drive_record_free(DriveRecord *r) {
        if (!r)
                return NULL;

        for (size_t i = 0; i < r->n_settings; i++)
                fields_free(setting_fields, ELEMENTSOF(setting_fields), r->settings + i);
        free(r->settings);
        fields_free(drive_fields, ELEMENTSOF(drive_fields), r);
        free(r);
        return NULL;
}

/* `key` is what stands behind "SETTING_": the number and the field. */
static int setting_line_parse(DriveRecord *r, char *key, const char *value) {
        char *field;
        uint64_t i;
        int k;

        field = strchr(key, '_');
        if (!field)
                return -EBADMSG;
        *field++ = '\0';

        if (r->n_settings == 0)
                return -EBADMSG;
        k = unsigned_parse(key, r->n_settings - 1, &i);
        if (k < 0)
                return k;

        return fields_parse(setting_fields, ELEMENTSOF(setting_fields), r->settings + i, field, value);
}

/* The number of settings comes before the settings, and once. */
static int settings_allocate(DriveRecord *r, const char *value) {
        uint64_t n;
        int k;

        k = unsigned_parse(value, RECORD_MAX_SETTINGS, &n);
        if (k < 0)
                return k;
        if (r->settings)
                return -EBADMSG;
        if (n == 0)
                return 0;

        r->settings = calloc(n, sizeof(SettingRecord));
        if (!r->settings)
                return -ENOMEM;

        for (size_t i = 0; i < n; i++)
                r->settings[i].verdict = _VERDICT_INVALID;
        r->n_settings = n;
        return 0;
}

static int line_parse(DriveRecord *r, char *line) {
        char *value;

        value = strchr(line, '=');
        if (!value)
                return -EBADMSG;
        *value++ = '\0';

        if (streq(line, "SETTINGS"))
                return settings_allocate(r, value);
        if (strncmp(line, "SETTING_", strlen("SETTING_")) == 0)
                return setting_line_parse(r, line + strlen("SETTING_"), value);

        return fields_parse(drive_fields, ELEMENTSOF(drive_fields), r, line, value);
}

int drive_record_parse(const char *text, size_t size, DriveRecord **ret) {
        _cleanup_(drive_record_freep) DriveRecord *r = NULL;
        _cleanup_free_ char *copy = NULL, *version = NULL;

        if (size > RECORD_MAX_BYTES || memchr(text, '\0', size))
                return -EBADMSG;

        copy = strndup(text, size);
        r = calloc(1, sizeof *r);
        if (!copy || !r)
                return -ENOMEM;

        if (asprintf(&version, "VERSION=%u", RECORD_VERSION) < 0)
                return -ENOMEM;

        for (char *line = copy, *next; *line; line = next) {
                int k;

                /* Every line ends in a newline, the last one too: a file cut short is not taken for a whole one. */
                next = strchr(line, '\n');
                if (!next)
                        return -EBADMSG;
                *next++ = '\0';

                if (line == copy) {
                        if (!streq(line, version))
                                return -EBADMSG;
                        continue;
                }

                k = line_parse(r, line);
                if (k < 0)
                        return k;
        }

        if (!r->name)
                return -EBADMSG;
        for (size_t i = 0; i < r->n_settings; i++)
                if (!r->settings[i].name)
                        return -EBADMSG;

        *ret = TAKE_PTR(r);
        return 0;
}

static int record_write(FILE *f, const DriveRecord *r) {
        int k;

        fprintf(f, "VERSION=%u\n", RECORD_VERSION);
        k = fields_write(drive_fields, ELEMENTSOF(drive_fields), r, "", f);
        if (k < 0)
                return k;

        fprintf(f, "SETTINGS=%zu\n", r->n_settings);
        for (size_t i = 0; i < r->n_settings; i++) {
                char prefix[sizeof "SETTING__" + 3 * sizeof i];

                (void) snprintf(prefix, sizeof prefix, "SETTING_%zu_", i);
                k = fields_write(setting_fields, ELEMENTSOF(setting_fields), r->settings + i, prefix, f);
                if (k < 0)
                        return k;
        }

        return ferror(f) ? -ENOMEM : 0;
}

int drive_record_serialize(const DriveRecord *r, char **ret) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f;
        int k;

        f = open_memstream(&text, &size);
        if (!f)
                return -ENOMEM;

        k = record_write(f, r);
        if (fclose(f) != 0 && k >= 0)
                k = -ENOMEM;
        if (k < 0)
                return k;
        if (size > RECORD_MAX_BYTES)
                return -E2BIG;

        *ret = TAKE_PTR(text);
        return 0;
}

SettingRecord *drive_record_find(const DriveRecord *r, const char *name) {
        for (size_t i = 0; i < r->n_settings; i++)
                if (streq(r->settings[i].name, name))
                        return r->settings + i;

        return NULL;
}

int drive_record_add(DriveRecord *r, const char *name, SettingRecord **ret) {
        SettingRecord *s;
        char *copy;

        s = drive_record_find(r, name);
        if (s) {
                *ret = s;
                return 0;
        }

        if (r->n_settings >= RECORD_MAX_SETTINGS)
                return -E2BIG;

        s = reallocarray(r->settings, r->n_settings + 1, sizeof *s);
        if (!s)
                return -ENOMEM;
        r->settings = s;

        copy = strdup(name);
        if (!copy)
                return -ENOMEM;

        s += r->n_settings++;
        *s = (SettingRecord){ .name = copy, .verdict = _VERDICT_INVALID };
        *ret = s;
        return 0;
}

void drive_record_drop(DriveRecord *r, size_t i) {
        fields_free(setting_fields, ELEMENTSOF(setting_fields), r->settings + i);
        memmove(r->settings + i, r->settings + i + 1, (--r->n_settings - i) * sizeof *r->settings);
}

bool drive_record_continues(const DriveRecord *r, const Drive *d, const char *boot_id) {
        return streq_ptr(r->boot_id, boot_id) && r->diskseq == d->diskseq && streq_ptr(r->serial, d->serial) &&
               streq_ptr(r->wwn, d->wwn) && streq_ptr(r->model, d->model);
}

int drive_record_memories(const DriveRecord *r, const Wishes *w, Memory **ret) {
        Memory *m;

        m = calloc(MAX(w->n_items, 1U), sizeof *m);
        if (!m)
                return -ENOMEM;

        for (size_t i = 0; i < w->n_items; i++) {
                const SettingRecord *s = drive_record_find(r, w->items[i].name);
                ValueType type = w->items[i].value.type;

                /* Names are not remembered: nothing that has one is unreadable. */
                if (s && type != VALUE_NAME)
                        m[i] = (Memory){
                                .sent = s->sent,
                                .value = { .type = type, .number = s->sent_value },
                                .adjusted = s->settled,
                                .settled = { .type = type, .number = s->settled_value },
                        };
        }

        *ret = m;
        return 0;
}
