/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a visit leaves in a drive's record. */

#include <stdio.h>

#include "record.h"

int string_replace(char **field, const char *value) {
        char *copy = NULL;

        if (value) {
                copy = strdup(value);
                if (!copy)
                        return -ENOMEM;
        }

        free(*field);
        *field = copy;
        return 0;
}

typedef struct Text {
        char **field;
        const char *value;
} Text;

static int replace_all(const Text *texts, size_t n) {
        int r = 0;

        for (size_t i = 0; i < n && r >= 0; i++)
                r = string_replace(texts[i].field, texts[i].value);

        return r;
}

int drive_record_wait(DriveRecord *r, Wait w) {
        r->waiting_kind = w.kind;
        return string_replace(&r->waiting_for, w.name);
}

int drive_record_set_identity(DriveRecord *record, const Drive *d, const char *boot_id) {
        const Text texts[] = {
                { &record->name, d->name },
                { &record->node, d->node },
                { &record->model, d->model },
                { &record->serial, d->serial },
                { &record->wwn, d->wwn },
                { &record->firmware, d->firmware },
                { &record->dock_model, d->dock_model },
                { &record->dock_serial, d->dock_serial },
                { &record->identity, identity_kind_to_string(drive_identity_kind(d)) },
                { &record->boot_id, boot_id },
        };

        record->diskseq = d->diskseq;
        return replace_all(texts, ELEMENTSOF(texts));
}

/* What is done once per attach is not undone by a loss. */
static bool is_done_once(const SettingTable *table, const SettingRecord *record) {
        const Setting *s = setting_find(table, record->name);

        return s && (s->flags & SETTING_AT_ATTACH);
}

void drive_record_forget(DriveRecord *record, const SettingTable *table) {
        record->ata_sleep = false;
        for (size_t i = 0; i < record->n_settings; i++) {
                SettingRecord *s = record->settings + i;

                if (!is_done_once(table, s))
                        s->sent.known = s->settled.known = s->read.known = false;
        }
}

void drive_record_distrust(DriveRecord *record, const SettingTable *table) {
        for (size_t i = 0; i < record->n_settings; i++) {
                SettingRecord *s = record->settings + i;

                if (!s->settled.known && !is_done_once(table, s))
                        s->sent.known = false;
        }
}

void drive_record_drop_unwanted(DriveRecord *record, const Wishes *wishes) {
        for (size_t i = record->n_settings; i-- > 0;)
                if (!wishes_find(wishes, record->settings[i].name))
                        drive_record_drop(record, i);
}

/* What need not be sent again as long as the drive keeps its power. */
static void record_remember(SettingRecord *record, const Step *s) {
        /* What is done once per attach is done when it has come true. */
        if (s->setting && (s->setting->flags & SETTING_AT_ATTACH) && verdict_is_wanted(s->verdict)) {
                record->sent = (KnownNumber){ true, s->wish->value.number };
                return;
        }

        if (!s->written) {
                /* A reading that says otherwise makes the memory void; where none can, another setting's does. */
                if ((s->lost && !record->settled.known) ||
                    (s->verdict != VERDICT_UNVERIFIABLE && s->verdict != VERDICT_ADJUSTED &&
                     s->verdict != VERDICT_DEFERRED))
                        record->sent.known = record->settled.known = false;
                return;
        }

        record->sent.known = s->verdict == VERDICT_UNVERIFIABLE || s->verdict == VERDICT_ADJUSTED;
        record->sent.number = s->wish->value.number;
        /* A state that only a sentence describes has no number to be known by again. */
        record->settled.known = s->verdict == VERDICT_ADJUSTED && s->after.value.type == s->wish->value.type;
        record->settled.number = s->after.value.number;
}

/* What a later reading is compared with. One that sleeps was left as it was. */
static void record_read(SettingRecord *record, const Step *s, const Reading *now) {
        bool nameless = s->wish->value.type != VALUE_NAME && s->wish->value.type != VALUE_STRIPES;

        if (now->known && nameless && now->value.type == s->wish->value.type)
                record->read = (KnownNumber){ true, now->value.number };
        else if (s->written || s->failed)
                record->read.known = false;
}

int drive_record_step(DriveRecord *drive, const Step *s, uint64_t when) {
        char wanted[VALUE_TEXT_MAX], before[VALUE_TEXT_MAX], actual[VALUE_TEXT_MAX], rule[512];
        const Reading *now = s->written || s->failed ? &s->after : &s->before;
        const ValueRange *range = s->setting ? &s->setting->range : NULL;
        SettingRecord *record;
        int r;

        r = drive_record_add(drive, s->wish->name, &record);
        if (r < 0)
                return r;

        (void) snprintf(rule, sizeof rule, "%s:%u", s->wish->file, s->wish->line);
        const Text texts[] = {
                { &record->wanted, range && !s->wish->withheld ? value_format(range, &s->wish->value, wanted) : NULL },
                { &record->before, range && s->before.known ? value_format(range, &s->before.value, before) : NULL },
                { &record->actual, range && now->known ? value_format(range, &now->value, actual) : NULL },
                { &record->reason, s->reason[0] ? s->reason : NULL },
                { &record->rule, rule },
        };
        r = replace_all(texts, ELEMENTSOF(texts));
        if (r < 0)
                return r;

        record->verdict = s->verdict;
        record->when = when;
        record_remember(record, s);
        record_read(record, s, now);
        if (s->written && s->setting && (s->setting->flags & SETTING_ATA_SLEEP))
                drive->ata_sleep = true;
        return 0;
}

int drive_record_drift(DriveRecord *drive, const Step *s, uint64_t when) {
        SettingRecord *record = drive_record_find(drive, s->wish->name);
        char now[VALUE_TEXT_MAX];
        int r;

        if (!record || !record->actual || !s->setting || !s->before.known)
                return 0;

        (void) value_format(&s->setting->range, &s->before.value, now);
        if (streq(record->actual, now))
                return 0;

        r = replace_all((Text[]){ { &record->drift_from, record->actual }, { &record->drift_to, now } }, 2);
        if (r < 0)
                return r;

        record->drift_when = when;
        return 1;
}
