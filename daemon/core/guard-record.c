/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <stdio.h>

#include "guard-record.h"
#include "record-field.h"
#include "record.h"

/* clang-format off */
static const Field guard_fields[] = {
        { "KEY",      FIELD_TEXT,     offsetof(GuardRecord, key),      0                },
        { "MODEL",    FIELD_TEXT,     offsetof(GuardRecord, model),    0                },
        { "SERIAL",   FIELD_TEXT,     offsetof(GuardRecord, serial),   0                },
        { "BOOT_ID",  FIELD_TEXT,     offsetof(GuardRecord, boot_id),  0                },
        { "DISKSEQ",  FIELD_UNSIGNED, offsetof(GuardRecord, diskseq),  UINT64_MAX       },
        { "VISITING", FIELD_BOOL,     offsetof(GuardRecord, visiting), 0                },
        { "DEATHS",   FIELD_UNSIGNED, offsetof(GuardRecord, deaths),   GUARD_MAX_DEATHS },
};

static const Field entry_fields[] = {
        { "SETTING",     FIELD_TEXT,     offsetof(GuardEntry, setting),     0                            },
        { "VALUE",       FIELD_TEXT,     offsetof(GuardEntry, value),       0                            },
        { "INTENDED",    FIELD_BOOL,     offsetof(GuardEntry, intended),    0                            },
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

static void value_done(GuardValue *v) {
        free(v->setting);
        free(v->value);
        *v = (GuardValue){};
}

GuardRecord *guard_record_free(GuardRecord *r) {
        if (!r)
                return NULL;

        for (size_t i = 0; i < r->n_entries; i++)
                entry_done(r->entries + i);
        free(r->entries);
        value_done(&r->underway);
        value_done(&r->lost);
        fields_free(guard_fields, ELEMENTSOF(guard_fields), r);
        free(r);
        return NULL;
}

static int parse_version(unsigned version, const char *text, size_t size, GuardRecord **ret) {
        _cleanup_(guard_record_freep) GuardRecord *r = NULL;
        FieldFile file = guard_file;
        int k;

        r = calloc(1, sizeof *r);
        if (!r)
                return -ENOMEM;

        file.version = version;
        k = field_file_parse(&file, text, size, r);
        if (k < 0)
                return k;

        if (!r->key)
                return -EBADMSG;
        for (size_t i = 0; i < r->n_entries; i++)
                if (!r->entries[i].setting || !r->entries[i].value)
                        return -EBADMSG;

        r->old = version < GUARD_VERSION;
        *ret = TAKE_PTR(r);
        return 0;
}

int guard_record_parse(const char *text, size_t size, GuardRecord **ret) {
        int r = -EBADMSG;

        for (unsigned version = GUARD_VERSION; version > 0 && r == -EBADMSG; version--)
                r = parse_version(version, text, size, ret);
        return r;
}

int guard_record_serialize(const GuardRecord *r, char **ret) {
        return field_file_serialize(&guard_file, r, ret);
}

bool guard_record_is_empty(const GuardRecord *r) {
        return r->n_entries == 0 && !r->visiting && r->deaths == 0;
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

static bool values_equal(const GuardValue *a, const GuardValue *b) {
        return streq_ptr(a->setting, b->setting) && streq_ptr(a->value, b->value);
}

int guard_record_underway(GuardRecord *r, const char *setting, const char *value) {
        GuardEntry *e = setting ? guard_record_find(r, setting, value) : NULL;

        if (r->underway.setting && values_equal(&r->underway, &r->lost))
                value_done(&r->lost);
        value_done(&r->underway);

        if (e)
                e->begun = true;
        if (!setting)
                return 0;

        r->underway = (GuardValue){ strdup(setting), strdup(value) };
        if (r->underway.setting && r->underway.value)
                return 0;
        value_done(&r->underway);
        return -ENOMEM;
}

bool guard_record_visited(GuardRecord *r) {
        if (!r->visiting)
                return false;

        r->visiting = false;
        r->deaths = 0;
        return true;
}

/* Returns whether there was one. */
static bool drop_intent(GuardRecord *r, size_t i) {
        GuardEntry *e = r->entries + i;
        bool intended = e->intended;

        e->intended = e->begun = false;
        if (!e->quarantined)
                entry_drop(r, i);
        return intended;
}

bool guard_record_clear(GuardRecord *r) {
        bool changed = false;

        value_done(&r->lost);
        for (size_t i = r->n_entries; i-- > 0;)
                changed = drop_intent(r, i) || changed;
        return changed;
}

int guard_entry_quarantine(GuardEntry *e, uint64_t when, const char *why) {
        int k;

        k = string_replace(&e->why, why);
        if (k < 0)
                return k;

        e->when = when;
        e->quarantined = true;
        e->intended = e->begun = false;
        return 0;
}

/* What the machine has gone down with is blamed: what was intended, and the visit. */
static int judge_death(GuardRecord *r, const char *boot_id) {
        int k;

        k = string_replace(&r->boot_id, boot_id);
        if (k < 0)
                return k;

        if (guard_record_alone(r))
                return 0;
        r->deaths = r->visiting ? r->deaths + 1 : 0;
        return 0;
}

int guard_record_judge(GuardRecord *r, const char *boot_id, bool continues, uint64_t when) {
        bool same_boot = streq_ptr(r->boot_id, boot_id), changed = r->visiting;

        for (size_t i = 0; i < r->n_entries; i++) {
                int k;

                if (!r->entries[i].intended)
                        continue;
                /* The daemon before this one may have sent it, and a worker of it may still be at that. */
                if (same_boot && continues) {
                        r->entries[i].begun = true;
                        continue;
                }
                k = guard_entry_quarantine(r->entries + i, when,
                                           same_boot ? "the drive was lost when it was written"
                                                     : "the machine went down without a shutdown when it was written");
                if (k < 0)
                        return k;
                changed = true;
        }

        if (!same_boot) {
                uint64_t deaths = r->deaths;
                int k;

                k = judge_death(r, boot_id);
                if (k < 0)
                        return k;
                changed = changed || r->deaths != deaths;
        }

        r->visiting = false;
        return changed;
}

/* What was being sent when the drive was lost, and is harmless: the second time in a row it is quarantined. */
static int lost_harmless(GuardRecord *r, uint64_t when) {
        GuardEntry *e;
        int k;

        if (!values_equal(&r->underway, &r->lost)) {
                value_done(&r->lost);
                r->lost = r->underway;
                r->underway = (GuardValue){};
                return 0;
        }

        k = guard_record_intend(r, r->lost.setting, r->lost.value, when);
        if (k < 0)
                return k;
        e = guard_record_find(r, r->lost.setting, r->lost.value);
        assert(e);
        k = guard_entry_quarantine(e, when, "the drive was lost while it was written, twice in a row");
        if (k < 0)
                return k;
        value_done(&r->lost);
        return 1;
}

int guard_record_lost(GuardRecord *r, uint64_t when) {
        bool harmless = r->underway.setting && !guard_record_find(r, r->underway.setting, r->underway.value);
        int n = 0, k = 0;

        for (size_t i = r->n_entries; i-- > 0 && k >= 0;) {
                GuardEntry *e = r->entries + i;
                const GuardValue v = { e->setting, e->value };

                if (!e->intended)
                        continue;
                if (!e->begun) {
                        (void) drop_intent(r, i);
                        continue;
                }
                k = guard_entry_quarantine(
                                e, when,
                                values_equal(&v, &r->underway)
                                                ? "the drive was lost while it was written"
                                                : "the drive was lost within ten seconds after it was written");
                n += k >= 0;
        }

        if (harmless && k >= 0) {
                k = lost_harmless(r, when);
                n += k > 0;
        }
        value_done(&r->underway);
        return k < 0 ? k : n;
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

bool guard_record_alone(const GuardRecord *r) {
        return r->deaths >= GUARD_MAX_DEATHS;
}

unsigned guard_record_release(GuardRecord *r, const char *setting) {
        unsigned n = 0;

        if (guard_record_alone(r)) {
                r->deaths = 0;
                n++;
        }

        for (size_t i = r->n_entries; i-- > 0;)
                if (r->entries[i].quarantined && (!setting || streq(r->entries[i].setting, setting))) {
                        entry_drop(r, i);
                        n++;
                }

        return n;
}

static bool setting_can_hurt(const SettingTable *settings, const char *name) {
        const Setting *known = setting_find(settings, name);

        SETTING_TABLE_FOREACH(s, settings)
                if (known && s->danger && streq(s->name, setting_state(known)))
                        return true;

        return false;
}

bool guard_record_forgive(GuardRecord *r, const SettingTable *settings) {
        size_t n = r->n_entries;

        for (size_t i = n; i-- > 0 && r->old;)
                if (!setting_can_hurt(settings, r->entries[i].setting))
                        entry_drop(r, i);

        r->old = false;
        return r->n_entries < n;
}
