/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "guard-record.h"
#include "record-field.h"
#include "record.h"

/* A file name has room for 255 bytes, and gets ".new~" while it is written. */
#define KEY_TEXT_MAX 200U

/* clang-format off */
static const Field guard_fields[] = {
        { "KEY",     FIELD_TEXT,     offsetof(GuardRecord, key),     0          },
        { "MODEL",   FIELD_TEXT,     offsetof(GuardRecord, model),   0          },
        { "SERIAL",  FIELD_TEXT,     offsetof(GuardRecord, serial),  0          },
        { "BOOT_ID", FIELD_TEXT,     offsetof(GuardRecord, boot_id), 0          },
        { "DISKSEQ", FIELD_UNSIGNED, offsetof(GuardRecord, diskseq), UINT64_MAX },
};

static const Field entry_fields[] = {
        { "SETTING",     FIELD_TEXT,     offsetof(GuardEntry, setting),     0                            },
        { "VALUE",       FIELD_TEXT,     offsetof(GuardEntry, value),       0                            },
        { "INTENDED",    FIELD_BOOL,     offsetof(GuardEntry, intended),    0                            },
        { "LOSSES",      FIELD_UNSIGNED, offsetof(GuardEntry, losses),      GUARD_MAX_LOSSES             },
        { "QUARANTINED", FIELD_BOOL,     offsetof(GuardEntry, quarantined), 0                            },
        { "WHY",         FIELD_TEXT,     offsetof(GuardEntry, why),         0                            },
        { "WHEN",        FIELD_UNSIGNED, offsetof(GuardEntry, when),        UINT64_C(253402300799999999) },
};

static const FieldFile guard_file = {
        .version = GUARD_VERSION,
        .max_bytes = GUARD_MAX_BYTES,
        .fields = guard_fields,
        .n_fields = ELEMENTSOF(guard_fields),
        .count = "ENTRIES",
        .prefix = "ENTRY_",
        .item_fields = entry_fields,
        .n_item_fields = ELEMENTSOF(entry_fields),
        .item_size = sizeof(GuardEntry),
        .max_items = GUARD_MAX_ENTRIES,
        .items_offset = offsetof(GuardRecord, entries),
        .n_items_offset = offsetof(GuardRecord, n_entries),
};
/* clang-format on */

static void entry_done(GuardEntry *e) {
        fields_free(entry_fields, ELEMENTSOF(entry_fields), e);
}

GuardRecord *guard_record_free(GuardRecord *r) {
        if (!r)
                return NULL;

        for (size_t i = 0; i < r->n_entries; i++)
                entry_done(r->entries + i);
        free(r->entries);
        fields_free(guard_fields, ELEMENTSOF(guard_fields), r);
        free(r);
        return NULL;
}

int guard_record_parse(const char *text, size_t size, GuardRecord **ret) {
        _cleanup_(guard_record_freep) GuardRecord *r = NULL;
        int k;

        r = calloc(1, sizeof *r);
        if (!r)
                return -ENOMEM;

        k = field_file_parse(&guard_file, text, size, r);
        if (k < 0)
                return k;

        if (!r->key)
                return -EBADMSG;
        for (size_t i = 0; i < r->n_entries; i++) {
                GuardEntry *e = r->entries + i;

                if (!e->setting || !e->value)
                        return -EBADMSG;
                /* Whoever intended it is gone, and nobody knows how far it had come. */
                e->begun = e->intended;
        }

        *ret = TAKE_PTR(r);
        return 0;
}

int guard_record_serialize(const GuardRecord *r, char **ret) {
        return field_file_serialize(&guard_file, r, ret);
}

int guard_key(const Drive *d, char **ret) {
        _cleanup_free_ char *identity = NULL;
        uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a: tells apart what looks alike as a file name */
        char text[KEY_TEXT_MAX + 1];
        size_t n;
        int r = -1;

        switch (drive_identity_kind(d)) {
        case IDENTITY_WWN:
                r = asprintf(&identity, "wwn-%s", d->wwn);
                break;
        case IDENTITY_SERIAL:
                r = asprintf(&identity, "serial-%s-%s", d->model, d->serial);
                break;
        case IDENTITY_PATH:
                r = asprintf(&identity, "path-%s", d->syspath);
                break;
        }
        if (r < 0) {
                identity = NULL;
                return -ENOMEM;
        }

        for (n = 0; identity[n]; n++) {
                unsigned char c = identity[n];

                hash = (hash ^ c) * UINT64_C(0x100000001b3);
                if (n < KEY_TEXT_MAX)
                        text[n] = c < 0x80 && isalnum(c) ? (char) c : c == '-' || c == '.' ? (char) c : '_';
        }
        text[MIN(n, KEY_TEXT_MAX)] = '\0';

        return asprintf(ret, "%s-%016" PRIx64, text, hash) < 0 ? -ENOMEM : 0;
}

GuardEntry *guard_record_find(const GuardRecord *r, const char *setting, const char *value) {
        for (size_t i = 0; i < r->n_entries; i++)
                if (streq(r->entries[i].setting, setting) && streq(r->entries[i].value, value))
                        return r->entries + i;

        return NULL;
}

static int entry_add(GuardRecord *r, const char *setting, const char *value, GuardEntry **ret) {
        _cleanup_free_ char *s = NULL, *v = NULL;
        GuardEntry *e;

        if (r->n_entries >= GUARD_MAX_ENTRIES)
                return -E2BIG;

        s = strdup(setting);
        v = strdup(value);
        e = reallocarray(r->entries, r->n_entries + 1, sizeof *e);
        if (e)
                r->entries = e;
        if (!s || !v || !e)
                return -ENOMEM;

        e += r->n_entries++;
        *e = (GuardEntry){ .setting = TAKE_PTR(s), .value = TAKE_PTR(v) };
        *ret = e;
        return 0;
}

static void entry_drop(GuardRecord *r, size_t i) {
        entry_done(r->entries + i);
        memmove(r->entries + i, r->entries + i + 1, (--r->n_entries - i) * sizeof *r->entries);
        /* Most drives have none for weeks. */
        if (r->n_entries == 0) {
                free(r->entries);
                r->entries = NULL;
        }
}

int guard_record_intend(GuardRecord *r, const char *setting, const char *value, uint64_t when) {
        GuardEntry *e;
        int k;

        e = guard_record_find(r, setting, value);
        if (!e) {
                k = entry_add(r, setting, value, &e);
                if (k < 0)
                        return k;
        }

        e->intended = true;
        e->when = when;
        return 0;
}

bool guard_record_clear(GuardRecord *r) {
        bool changed = false;

        for (size_t i = r->n_entries; i-- > 0;) {
                GuardEntry *e = r->entries + i;

                changed = changed || !e->quarantined || e->intended;
                if (!e->quarantined)
                        entry_drop(r, i);
                else
                        e->intended = e->begun = e->underway = false;
        }

        return changed;
}

int guard_entry_quarantine(GuardEntry *e, uint64_t when, const char *why) {
        int k;

        k = string_replace(&e->why, why);
        if (k < 0)
                return k;

        e->when = when;
        e->quarantined = true;
        e->intended = e->begun = e->underway = false;
        return 0;
}

int guard_record_judge(GuardRecord *r, const char *boot_id, bool continues, uint64_t when) {
        bool same_boot = streq_ptr(r->boot_id, boot_id);
        int n = 0;

        if (same_boot && continues)
                return 0;

        for (size_t i = 0; i < r->n_entries; i++) {
                int k;

                if (!r->entries[i].intended)
                        continue;
                k = guard_entry_quarantine(r->entries + i, when,
                                           same_boot ? "the drive was lost when it was written"
                                                     : "the machine went down without a shutdown when it was written");
                if (k < 0)
                        return k;
                n++;
        }

        return n;
}

int guard_record_lost(GuardRecord *r, uint64_t when) {
        int n = 0;

        for (size_t i = r->n_entries; i-- > 0;) {
                GuardEntry *e = r->entries + i;
                const char *why = NULL;

                if (!e->intended)
                        continue;

                if (e->underway)
                        why = "the drive was lost while it was written";
                else if (e->begun && ++e->losses >= GUARD_MAX_LOSSES)
                        why = "the drive was lost soon after it was written, twice";
                e->intended = e->begun = false;

                if (why) {
                        int k = guard_entry_quarantine(e, when, why);
                        if (k < 0)
                                return k;
                        n++;
                } else if (e->losses == 0 && !e->quarantined)
                        entry_drop(r, i);
        }

        return n;
}

bool guard_record_suspects(const GuardRecord *r) {
        for (size_t i = 0; i < r->n_entries; i++)
                if (r->entries[i].losses > 0 && !r->entries[i].quarantined)
                        return true;

        return false;
}

bool guard_record_intends(const GuardRecord *r) {
        for (size_t i = 0; i < r->n_entries; i++)
                if (r->entries[i].intended)
                        return true;

        return false;
}

unsigned guard_record_release(GuardRecord *r, const char *setting) {
        unsigned n = 0;

        for (size_t i = r->n_entries; i-- > 0;)
                if (r->entries[i].quarantined && (!setting || streq(r->entries[i].setting, setting))) {
                        entry_drop(r, i);
                        n++;
                }

        return n;
}
