/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "guard-rules.h"
#include "record-field.h"
#include "text.h"

/* clang-format off */
static const Field guard_fields[] = {
        { "KEY",      FIELD_TEXT,     offsetof(GuardRecord, key),      0                },
        { "MODEL",    FIELD_TEXT,     offsetof(GuardRecord, model),    0                },
        { "SERIAL",   FIELD_TEXT,     offsetof(GuardRecord, serial),   0                },
        { "BOOT_ID",  FIELD_TEXT,     offsetof(GuardRecord, boot_id),  0                },
        { "DISKSEQ",  FIELD_UNSIGNED, offsetof(GuardRecord, diskseq),  UINT64_MAX       },
        { "VISITING", FIELD_BOOL,     offsetof(GuardRecord, visiting), 0                },
        { "DEATHS",   FIELD_UNSIGNED, offsetof(GuardRecord, deaths),   GUARD_MAX_DEATHS },
        {}
};

static const Field entry_fields[] = {
        { "SETTING",     FIELD_TEXT,     offsetof(GuardEntry, setting),     0                            },
        { "VALUE",       FIELD_TEXT,     offsetof(GuardEntry, value),       0                            },
        { "PLACE",       FIELD_TEXT,     offsetof(GuardEntry, place),       0                            },
        { "INTENDED",    FIELD_BOOL,     offsetof(GuardEntry, intended),    0                            },
        { "QUARANTINED", FIELD_BOOL,     offsetof(GuardEntry, quarantined), 0                            },
        { "WHY",         FIELD_TEXT,     offsetof(GuardEntry, why),         0                            },
        { "WHEN",        FIELD_UNSIGNED, offsetof(GuardEntry, when),        UINT64_C(253402300799999999) },
        {}
};

static const FieldFile guard_file = {
        .version = GUARD_VERSION,
        .max_bytes = GUARD_MAX_BYTES,
        .fields = guard_fields,
        .count = "ENTRIES",
        .prefix = "ENTRY_",
        .item_fields = entry_fields,
        .item_size = sizeof(GuardEntry),
        .max_items = GUARD_MAX_ENTRIES,
        .items_offset = offsetof(GuardRecord, entries),
        .n_items_offset = offsetof(GuardRecord, n_entries),
};
/* clang-format on */

void guard_entry_done(GuardEntry *e) {
        fields_free(entry_fields, e);
        *e = (GuardEntry){};
}

/* Fills in an entry. On -ENOMEM the entry is empty. */
static int entry_set(GuardEntry *e, const char *setting, const char *value, const char *place) {
        int k;

        guard_entry_done(e);
        k = string_replace(&e->setting, setting);
        if (k >= 0)
                k = string_replace(&e->value, value);
        if (k >= 0)
                k = string_replace(&e->place, place);
        if (k < 0)
                guard_entry_done(e);
        return k;
}

GuardRecord *guard_record_free(GuardRecord *r) {
        if (!r)
                return NULL;

        guard_entry_done(&r->lost);
        field_file_free(&guard_file, r);
        return NULL;
}

static bool has_dangerous_row(const SettingTable *settings, const char *name) {
        const Setting *known = setting_find(settings, name);

        SETTING_TABLE_FOREACH(s, settings)
                if (known && s->danger && streq(s->name, setting_state(known)))
                        return true;

        return false;
}

int guard_record_parse(const char *text, size_t size, const SettingTable *settings, GuardRecord **ret) {
        static const char old_version[] = "VERSION=1\n";
        _cleanup_(guard_record_freep) GuardRecord *r = calloc(1, sizeof *r);
        bool old = size > strlen(old_version) && memcmp(text, old_version, strlen(old_version)) == 0;
        FieldFile file = guard_file;
        size_t n;
        int k;

        file.version = old ? 1 : GUARD_VERSION;
        k = r ? field_file_parse(&file, text, size, r) : -ENOMEM;
        if (k < 0)
                return k;

        if (!r->key)
                return -EBADMSG;
        n = r->n_entries;
        for (size_t i = n; i-- > 0;) {
                if (!r->entries[i].setting || !r->entries[i].value)
                        return -EBADMSG;
                if (old && !has_dangerous_row(settings, r->entries[i].setting))
                        field_item_drop(&guard_file, r, i);
        }

        k = r->n_entries < n;
        *ret = TAKE_PTR(r);
        return k;
}

int guard_record_serialize(const GuardRecord *r, char **ret) {
        return field_file_serialize(&guard_file, r, ret);
}

bool guard_record_is_empty(const GuardRecord *r) {
        return r->n_entries == 0 && !r->visiting && r->deaths == 0;
}

static bool entry_is_for(const GuardEntry *e, const char *place) {
        return !e->place || !place || streq(e->place, place);
}

GuardEntry *guard_record_find(const GuardRecord *r, const char *setting, const char *value, const char *place) {
        for (size_t i = 0; i < r->n_entries; i++) {
                GuardEntry *e = r->entries + i;

                if (streq(e->setting, setting) && streq(e->value, value) && entry_is_for(e, place))
                        return e;
        }

        return NULL;
}

static int entry_add(GuardRecord *r, const char *setting, const char *value, const char *place, GuardEntry **ret) {
        int k = field_item_add(&guard_file, r);

        if (k < 0)
                return k;

        *ret = r->entries + r->n_entries - 1;
        k = entry_set(*ret, setting, value, place);
        if (k < 0)
                r->n_entries--;
        return k;
}

int guard_record_intend(GuardRecord *r, const char *setting, const char *value, const char *place, uint64_t when) {
        GuardEntry *e = guard_record_find(r, setting, value, place);
        int k = e ? 0 : entry_add(r, setting, value, place, &e);

        if (k < 0)
                return k;

        e->intended = true;
        e->when = when;
        return 0;
}

static bool entries_equal(const GuardEntry *a, const GuardEntry *b) {
        return streq_ptr(a->setting, b->setting) && streq_ptr(a->value, b->value) && streq_ptr(a->place, b->place);
}

void guard_record_underway(GuardRecord *r, GuardEntry *underway, const char *setting, const char *value,
                           const char *place) {
        GuardEntry *e;

        if (entries_equal(underway, &r->lost))
                guard_entry_done(&r->lost);

        (void) entry_set(underway, setting, value, place);
        e = underway->setting ? guard_record_find(r, setting, value, place) : NULL;
        if (e)
                e->begun = true;
}

bool guard_record_visited(GuardRecord *r) {
        if (!r->visiting)
                return false;

        r->visiting = false;
        r->deaths = 0;
        return true;
}

/* Removes the intent of entry `i`. Returns true if the entry had an intent. */
static bool drop_intent(GuardRecord *r, size_t i) {
        GuardEntry *e = r->entries + i;
        bool intended = e->intended;

        e->intended = e->begun = false;
        if (!e->quarantined)
                field_item_drop(&guard_file, r, i);
        return intended;
}

bool guard_record_clear(GuardRecord *r, const char *place) {
        bool changed = false;

        guard_entry_done(&r->lost);
        for (size_t i = r->n_entries; i-- > 0;)
                if (entry_is_for(r->entries + i, place))
                        changed = drop_intent(r, i) || changed;
        return changed;
}

void guard_entry_quarantine(GuardEntry *e, uint64_t when, const char *why) {
        /* If memory runs out, the value is quarantined without a reason. */
        (void) string_replace(&e->why, why);
        e->when = when;
        e->quarantined = true;
        e->intended = e->begun = false;
}

int guard_record_judge(GuardRecord *r, const char *boot_id, bool continues, uint64_t when) {
        bool same_boot = streq_ptr(r->boot_id, boot_id), changed = r->visiting;
        uint64_t deaths = r->deaths;
        int k;

        for (size_t i = 0; i < r->n_entries; i++) {
                GuardEntry *e = r->entries + i;

                if (!e->intended)
                        continue;
                /* The daemon restarted: its previous worker may have sent the value, or may be sending it now. */
                if (same_boot && continues) {
                        e->begun = true;
                        continue;
                }
                guard_entry_quarantine(
                                e, when,
                                same_boot ? "the drive was lost when this value was written"
                                          : "the machine went down without a shutdown when this value was written");
                changed = true;
        }

        /* Count crashes during visits. A drive that is excluded from visits remains excluded until guard_record_release(). */
        if (!same_boot && !guard_record_excludes(r))
                r->deaths = r->visiting ? r->deaths + 1 : 0;
        r->visiting = false;

        k = string_replace(&r->boot_id, boot_id);
        return k < 0 ? k : changed || r->deaths != deaths;
}

/* Handles the loss of a drive while a harmless value was being sent: the second loss in a row with the same value quarantines the value. */
static bool suspect_harmless(GuardRecord *r, const GuardEntry *underway, uint64_t when) {
        GuardEntry *e;

        if (!entries_equal(underway, &r->lost)) {
                (void) entry_set(&r->lost, underway->setting, underway->value, underway->place);
                return false;
        }

        guard_entry_done(&r->lost);
        if (entry_add(r, underway->setting, underway->value, underway->place, &e) < 0)
                return false;
        guard_entry_quarantine(e, when, "the drive was lost while this value was being written, twice in a row");
        return true;
}

unsigned guard_record_lost(GuardRecord *r, GuardEntry *underway, const char *place, uint64_t when) {
        bool harmless = underway->setting && !guard_record_find(r, underway->setting, underway->value, place);
        unsigned n = 0;

        for (size_t i = r->n_entries; i-- > 0;) {
                GuardEntry *e = r->entries + i;

                if (!e->intended || !entry_is_for(e, place))
                        continue;
                if (!e->begun) {
                        (void) drop_intent(r, i);
                        continue;
                }
                guard_entry_quarantine(
                                e, when,
                                streq_ptr(e->setting, underway->setting) && streq_ptr(e->value, underway->value)
                                                ? "the drive was lost while this value was being written"
                                                : "the drive was lost within ten seconds after this value was written");
                n++;
        }

        if (harmless)
                n += suspect_harmless(r, underway, when);
        guard_entry_done(underway);
        return n;
}

void guard_record_part(GuardRecord *r, const char *place) {
        for (size_t i = 0; i < r->n_entries; i++) {
                GuardEntry *e = r->entries + i;

                /* If memory runs out, the place stays NULL, and the intent applies to every drive that shares this record. */
                if (e->intended && !e->quarantined && !e->place)
                        (void) string_replace(&e->place, place);
        }
}

bool guard_record_suspects(const GuardRecord *r) {
        return r->lost.setting;
}

bool guard_record_intends(const GuardRecord *r) {
        for (size_t i = 0; i < r->n_entries; i++)
                if (r->entries[i].intended)
                        return true;

        return false;
}

bool guard_record_excludes(const GuardRecord *r) {
        return r->deaths >= GUARD_MAX_DEATHS;
}

unsigned guard_record_release(GuardRecord *r, const char *setting, const char *place) {
        unsigned n = 0;

        if (guard_record_excludes(r)) {
                r->deaths = 0;
                n++;
        }

        for (size_t i = r->n_entries; i-- > 0;) {
                const GuardEntry *e = r->entries + i;

                if (!e->quarantined || (setting && !streq(e->setting, setting)) || !entry_is_for(e, place))
                        continue;
                field_item_drop(&guard_file, r, i);
                n++;
        }

        return n;
}

/* ---- identity of a drive ---- */

/* A file name can have 255 bytes, and has the suffix ".new~" while the file is written. */
#define KEY_TEXT_MAX 200

int guard_key(const Drive *d, char **ret) {
        _cleanup_free_ char *identity = NULL, *key = NULL;
        int r;

        if (d->wwn)
                r = asprintf(&identity, "wwn-%s", d->wwn);
        else if (d->serial && d->model)
                r = asprintf(&identity, "serial-%s-%s", d->model, d->serial);
        else
                r = asprintf(&identity, "path-%s", d->syspath);
        if (r < 0) {
                identity = NULL;
                return -ENOMEM;
        }

        if (asprintf(&key, "%.*s-%016" PRIx64, KEY_TEXT_MAX, identity, text_hash(identity, strlen(identity))) < 0) {
                key = NULL;
                return -ENOMEM;
        }
        for (char *c = key; *c; c++)
                if ((unsigned char) *c >= 0x80 || (!isalnum((unsigned char) *c) && !strchr("-.", *c)))
                        *c = '_';

        *ret = TAKE_PTR(key);
        return 0;
}

int guard_place(const Drive *d, char **ret) {
        bool has_ports = d->wwn && !d->ata &&
                         (d->transport == TRANSPORT_SAS || d->transport == TRANSPORT_SCSI ||
                          d->transport == TRANSPORT_NVME);
        const char *plug = drive_property(d, "ID_PATH") ?: d->syspath;
        _cleanup_free_ char *text = NULL;

        if (has_ports && asprintf(&text, "%s %s %s %" PRIu64 " %d", d->wwn, strna(d->model), strna(d->serial), d->size,
                                  (int) d->transport) < 0) {
                text = NULL;
                return -ENOMEM;
        }

        return asprintf(ret, "%016" PRIx64, text_hash(text ?: plug, strlen(text ?: plug))) < 0 ? -ENOMEM : 0;
}
