/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdio.h>

#include "record-field.h"
#include "drive-record.h"
#include "temporary.h"
#include "text.h"

#define FOREACH_SETTING(s, r) for (SettingRecord *s = (r)->settings; s < (r)->settings + (r)->n_settings; s++)

/* The last microsecond of the year 9999, the latest time that RFC 3339 can express. */
#define WHEN_MAX UINT64_C(253402300799999999)

/* clang-format off */
static const Field drive_fields[] = {
        { "NAME",                       FIELD_TEXT,     offsetof(DriveRecord, name) },
        { "NODE",                       FIELD_TEXT,     offsetof(DriveRecord, node) },
        { "MODEL",                      FIELD_TEXT,     offsetof(DriveRecord, model) },
        { "SERIAL",                     FIELD_TEXT,     offsetof(DriveRecord, serial) },
        { "WWN",                        FIELD_TEXT,     offsetof(DriveRecord, wwn) },
        { "FIRMWARE",                   FIELD_TEXT,     offsetof(DriveRecord, firmware) },
        { "TRANSPORT",                  FIELD_TEXT,     offsetof(DriveRecord, transport) },
        { "IDENTITY",                   FIELD_WORD,     offsetof(DriveRecord, identity), .word = identity_kind_to_string },
        { "DOCK_MODEL",                 FIELD_TEXT,     offsetof(DriveRecord, dock_model) },
        { "DOCK_SERIAL",                FIELD_TEXT,     offsetof(DriveRecord, dock_serial) },
        { "BRIDGE_QUERIED",             FIELD_BOOL,     offsetof(DriveRecord, bridge.queried) },
        { "BRIDGE_IDENTIFIED",          FIELD_BOOL,     offsetof(DriveRecord, bridge.identified) },
        { "BRIDGE_WITHOUT_SAT",         FIELD_BOOL,     offsetof(DriveRecord, bridge.without_sat) },
        { "BRIDGE_UAS_BLOCKS",          FIELD_BOOL,     offsetof(DriveRecord, bridge.uas_blocks) },
        { "BRIDGE_WITHOUT_REGISTERS",   FIELD_BOOL,     offsetof(DriveRecord, bridge.without_registers) },
        { "BRIDGE_REPEATS_IDENTIFY",    FIELD_BOOL,     offsetof(DriveRecord, bridge.repeats_identify) },
        { "BRIDGE_FRAGILE",             FIELD_BOOL,     offsetof(DriveRecord, bridge.fragile) },
        { "BRIDGE_CDB",                 FIELD_UNSIGNED, offsetof(DriveRecord, bridge.cdb), 16 },
        { "DISKSEQ",                    FIELD_UNSIGNED, offsetof(DriveRecord, diskseq) },
        { "BOOT_ID",                    FIELD_TEXT,     offsetof(DriveRecord, boot_id) },
        { "USED",                       FIELD_UNSIGNED, offsetof(DriveRecord, used) },
        { "USED_WHEN",                  FIELD_UNSIGNED, offsetof(DriveRecord, used_when) },
        { "LINK_SINCE",                 FIELD_UNSIGNED, offsetof(DriveRecord, link_since) },
        { "SUSPENDED_USEC",             FIELD_UNSIGNED, offsetof(DriveRecord, suspended_usec) },
        { "ATA_SLEEP",                  FIELD_BOOL,     offsetof(DriveRecord, ata_sleep) },
        { "POWER",                      FIELD_WORD,     offsetof(DriveRecord, power), .word = power_mode_to_string },
        { "POWER_WHEN",                 FIELD_UNSIGNED, offsetof(DriveRecord, power_when), WHEN_MAX },
        { "POWER_SEEN",                 FIELD_UNSIGNED, offsetof(DriveRecord, power_seen), WHEN_MAX },
        { "RUNTIME_SUSPENDED_WHEN",     FIELD_UNSIGNED, offsetof(DriveRecord, runtime_suspended_when), WHEN_MAX },
        { "RUNTIME_ACTIVE_TIME",        FIELD_UNSIGNED, offsetof(DriveRecord, runtime_active_time) },
        { "ACTIVE_REASON",              FIELD_TEXT,     offsetof(DriveRecord, active_reason) },
        { "QUIET_SINCE",                FIELD_UNSIGNED, offsetof(DriveRecord, quiet_since) },
        { "QUIET_USED",                 FIELD_UNSIGNED, offsetof(DriveRecord, quiet_used) },
        { "OWN_COMMANDS",               FIELD_UNSIGNED, offsetof(DriveRecord, own_commands) },
        { "TRACING",                    FIELD_WORD,     offsetof(DriveRecord, tracing), .word = tracing_to_string },
        { "IGNORES_TIMER",              FIELD_BOOL,     offsetof(DriveRecord, ignores_timer) },
        { "SPINDOWN",                   FIELD_TEXT,     offsetof(DriveRecord, spindown) },
        { "SPINDOWN_KEY",               FIELD_TEXT,     offsetof(DriveRecord, spindown_key) },
        { "SPINDOWN_SERVED",            FIELD_BOOL,     offsetof(DriveRecord, spindown_served) },
        { "USE_SETTING",                FIELD_TEXT,     offsetof(DriveRecord, use.setting) },
        { "USE_KEY",                    FIELD_TEXT,     offsetof(DriveRecord, use.key) },
        { "USE_SINCE",                  FIELD_UNSIGNED, offsetof(DriveRecord, use.since), WHEN_MAX },
        { "USE_WATCHED",                FIELD_UNSIGNED, offsetof(DriveRecord, use.watched) },
        { "USE_KNOWN_FROM",             FIELD_UNSIGNED, offsetof(DriveRecord, use.known_from) },
        { "USE_GAPS",                   FIELD_NUMBERS,  offsetof(DriveRecord, use.gaps), USE_TIMERS },
        { "USE_GAP_TIMES",              FIELD_NUMBERS,  offsetof(DriveRecord, use.gap_times), USE_TIMERS },
        { "USE_SPIN_UPS",               FIELD_UNSIGNED, offsetof(DriveRecord, use.spin_ups) },
        { "USE_STANDBY",                 FIELD_UNSIGNED, offsetof(DriveRecord, use.standby) },
        { "FIRST_WEAR_WHEN",            FIELD_UNSIGNED, offsetof(DriveRecord, use.first_wear_when), WHEN_MAX },
        { "FIRST_WEAR_LOAD_CYCLES",     FIELD_KNOWN,    offsetof(DriveRecord, use.first_wear.load_cycles) },
        { "FIRST_WEAR_START_STOPS",     FIELD_KNOWN,    offsetof(DriveRecord, use.first_wear.start_stops) },
        { "WEAR_WHEN",                  FIELD_UNSIGNED, offsetof(DriveRecord, use.wear_when), WHEN_MAX },
        { "WEAR_LOAD_CYCLES",           FIELD_KNOWN,    offsetof(DriveRecord, use.wear.load_cycles) },
        { "WEAR_START_STOPS",           FIELD_KNOWN,    offsetof(DriveRecord, use.wear.start_stops) },
        { "WEAR_RATED_LOAD_CYCLES",     FIELD_KNOWN,    offsetof(DriveRecord, use.wear.rated_load_cycles) },
        { "WEAR_RATED_START_STOPS",     FIELD_KNOWN,    offsetof(DriveRecord, use.wear.rated_start_stops) },
        { "WEAR_TEMPERATURE",           FIELD_KNOWN,    offsetof(DriveRecord, use.wear.temperature) },
        { "USE_WARNED",                 FIELD_BOOL,     offsetof(DriveRecord, use.warned) },
        { "STATE",                      FIELD_WORD,     offsetof(DriveRecord, state), .word = drive_state_to_string },
        { "WAITING_KIND",               FIELD_WORD,     offsetof(DriveRecord, waiting_kind), .word = wait_kind_to_string },
        { "WAITING_FOR",                FIELD_TEXT,     offsetof(DriveRecord, waiting_for) },
        { "VISIT_REASON",               FIELD_TEXT,     offsetof(DriveRecord, visit_reason) },
        { "VISITS",                     FIELD_TEXT,     offsetof(DriveRecord, visits) },
        { "VISIT_WHEN",                 FIELD_UNSIGNED, offsetof(DriveRecord, visit_when), WHEN_MAX },
        { "WAKES",                      FIELD_TEXT,     offsetof(DriveRecord, wakes) },
        { "KEPT_WHEN",                  FIELD_UNSIGNED, offsetof(DriveRecord, kept_when), WHEN_MAX },
        {}
};

static const Field setting_fields[] = {
        { "NAME",                       FIELD_TEXT,     offsetof(SettingRecord, name) },
        { "WANTED",                     FIELD_TEXT,     offsetof(SettingRecord, wanted) },
        { "BEFORE",                     FIELD_TEXT,     offsetof(SettingRecord, before) },
        { "ACTUAL",                     FIELD_TEXT,     offsetof(SettingRecord, actual) },
        { "VERDICT",                    FIELD_WORD,     offsetof(SettingRecord, verdict), .word = verdict_to_string },
        { "REASON",                     FIELD_TEXT,     offsetof(SettingRecord, reason) },
        { "RULE",                       FIELD_TEXT,     offsetof(SettingRecord, rule) },
        { "TEMPORARY",                  FIELD_WORD,     offsetof(SettingRecord, temporary), .word = temporary_to_string },
        { "OPTIONAL",                   FIELD_BOOL,     offsetof(SettingRecord, optional) },
        { "REMEDIABLE",                 FIELD_BOOL,     offsetof(SettingRecord, remediable) },
        { "ACCEPTED",                   FIELD_BOOL,     offsetof(SettingRecord, accepted) },
        { "BY_SERVICE",                 FIELD_BOOL,     offsetof(SettingRecord, by_service) },
        { "WHEN",                       FIELD_UNSIGNED, offsetof(SettingRecord, when), WHEN_MAX },
        { "DRIFT_FROM",                 FIELD_TEXT,     offsetof(SettingRecord, drift_from) },
        { "DRIFT_TO",                   FIELD_TEXT,     offsetof(SettingRecord, drift_to) },
        { "DRIFT_WHEN",                 FIELD_UNSIGNED, offsetof(SettingRecord, drift_when), WHEN_MAX },
        { "SENT_NUMBER",                FIELD_KNOWN,    offsetof(SettingRecord, sent) },
        { "SETTLED_NUMBER",             FIELD_KNOWN,    offsetof(SettingRecord, settled) },
        { "READ_NUMBER",                FIELD_KNOWN,    offsetof(SettingRecord, read) },
        {}
};
/* clang-format on */

static const FieldFile record_file = {
        .version = RECORD_VERSION,
        .max_bytes = RECORD_MAX_BYTES,
        .fields = drive_fields,
        .count = "SETTINGS",
        .prefix = "SETTING_",
        .item_fields = setting_fields,
        .item_size = sizeof(SettingRecord),
        .max_items = RECORD_MAX_SETTINGS,
        .items_offset = offsetof(DriveRecord, settings),
        .n_items_offset = offsetof(DriveRecord, n_settings),
};

static const char *const drive_state_table[_DRIVE_STATE_MAX] = {
        [DRIVE_IDLE] = "idle",
        [DRIVE_QUEUED] = "queued",
        [DRIVE_WAITING] = "waiting",
        [DRIVE_VISITING] = "visiting",
};

const char *drive_state_to_string(DriveState s) {
        return s >= 0 && s < _DRIVE_STATE_MAX ? drive_state_table[s] : NULL;
}

DriveRecord *drive_record_free(DriveRecord *r) {
        field_file_free(&record_file, r);
        return NULL;
}

int drive_record_parse(const char *text, size_t size, DriveRecord **ret) {
        _cleanup_(drive_record_freep) DriveRecord *r = calloc(1, sizeof *r);
        int k = r ? field_file_parse(&record_file, text, size, r) : -ENOMEM;

        if (k < 0)
                return k;

        if (!r->name || !text_is_name(r->name))
                return -EBADMSG;
        FOREACH_SETTING(s, r)
        if (!s->name || !text_is_name(s->name))
                return -EBADMSG;

        *ret = TAKE_PTR(r);
        return 0;
}

int drive_record_serialize(const DriveRecord *r, char **ret) {
        return field_file_serialize(&record_file, r, ret);
}

SettingRecord *drive_record_find(const DriveRecord *r, const char *name) {
        FOREACH_SETTING(s, r)
        if (streq(s->name, name))
                return s;

        return NULL;
}

int drive_record_add(DriveRecord *r, const char *name, SettingRecord **ret) {
        SettingRecord *s = drive_record_find(r, name);
        _cleanup_free_ char *copy = NULL;
        int k;

        if (!s) {
                copy = strdup(name);
                k = copy ? field_item_add(&record_file, r) : -ENOMEM;
                if (k < 0)
                        return k;
                s = r->settings + r->n_settings - 1;
                s->name = TAKE_PTR(copy);
        }

        *ret = s;
        return 0;
}

bool drive_record_continues(const DriveRecord *r, const Drive *d, const char *boot_id) {
        if (!streq_ptr(r->boot_id, boot_id) || r->diskseq != d->diskseq)
                return false;
        /* Behind a bridge, udev's properties describe the bridge. */
        if (r->bridge.identified && drive_is_behind_bridge(d))
                return streq_ptr(r->dock_serial, d->serial) && streq_ptr(r->dock_model, d->model);
        return streq_ptr(r->serial, d->serial) && streq_ptr(r->wwn, d->wwn) && streq_ptr(r->model, d->model);
}

int drive_record_reveal(const DriveRecord *r, Drive *d) {
        DriveIdentity i;

        if (!r->bridge.identified)
                return 0;

        (void) snprintf(i.model, sizeof i.model, "%s", r->model ?: "");
        (void) snprintf(i.serial, sizeof i.serial, "%s", r->serial ?: "");
        (void) snprintf(i.firmware, sizeof i.firmware, "%s", r->firmware ?: "");
        (void) snprintf(i.wwn, sizeof i.wwn, "%s", r->wwn ?: "");
        return drive_reveal(d, &i);
}

/* Maximum age of the last poll for drive_record_had_io(). If the last poll is older, the drive may have spun down since the I/O. */
#define RECENT_USEC (5ULL * 60 * 1000 * 1000)

bool drive_record_had_io(const DriveRecord *r, uint64_t used, uint64_t now) {
        if (!r || r->used_when == 0)
                return used > 0;

        return used != r->used && now >= r->used_when && now - r->used_when < RECENT_USEC;
}

void drive_record_begin_run(DriveRecord *r) {
        (void) string_replace(&r->active_reason, NULL);
        r->tracing = TRACING_FINE;
}

bool drive_record_in_standby(const DriveRecord *r) {
        return power_mode_in_standby(r->power);
}

bool drive_record_in_ata_sleep(const DriveRecord *r, const uint64_t *used) {
        return r && r->ata_sleep && (!used || *used == r->used);
}

int drive_record_memories(const DriveRecord *r, const Wishes *w, Memory **ret) {
        Memory *m;

        m = calloc(MAX(w->n_items, 1U), sizeof *m);
        if (!m)
                return -ENOMEM;

        for (size_t i = 0; i < w->n_items; i++) {
                const SettingRecord *s = drive_record_find(r, w->items[i].name);
                ValueType type = w->items[i].value.type;

                /* Settings with names or stripes as values need no Memory: they can be read back. */
                if (s && type != VALUE_NAME && type != VALUE_STRIPES)
                        m[i] = (Memory){ .sent = s->sent, .settled = s->settled, .read = s->read };
        }

        *ret = m;
        return 0;
}

/* ---- changes by a visit ---- */

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
                { &record->transport, transport_to_string(d->transport) },
                { &record->boot_id, boot_id },
        };

        record->identity = drive_identity_kind(d);
        record->diskseq = d->diskseq;
        return replace_all(texts, ELEMENTSOF(texts));
}

/* Returns true if the setting is sent only once per attach. A power loss does not make such a setting due again. */
static bool is_sent_once_per_attach(const SettingTable *table, const SettingRecord *record) {
        const Setting *s = setting_find(table, record->name);

        return s && (s->flags & SETTING_AT_ATTACH);
}

void drive_record_forget(DriveRecord *record, const SettingTable *table) {
        record->ata_sleep = false;
        record->quiet_since = 0;
        FOREACH_SETTING(s, record)
        if (!is_sent_once_per_attach(table, s))
                s->sent.known = s->settled.known = s->read.known = false;
}

void drive_record_resume(DriveRecord *record, const SettingTable *table) {
        drive_record_forget(record, table);
        FOREACH_SETTING(s, record)
        if (is_sent_once_per_attach(table, s) && s->sent.number == AT_RESUME)
                s->sent.known = false;
}

void drive_record_resend_unreadable(DriveRecord *record, const SettingTable *table) {
        FOREACH_SETTING(s, record)
        if (!s->settled.known && !is_sent_once_per_attach(table, s))
                s->sent.known = false;
}

void drive_record_drop_unwanted(DriveRecord *record, const Wishes *wishes) {
        for (size_t i = record->n_settings; i-- > 0;)
                if (!wishes_find(wishes, record->settings[i].name))
                        field_item_drop(&record_file, record, i);
}

/* Stores the value that was sent, so that it is not sent again until the drive loses power. */
static void record_note_sent(SettingRecord *record, const Step *s) {
        /* A setting that is sent once per attach counts as sent when its verdict is a success. */
        if (s->setting && (s->setting->flags & SETTING_AT_ATTACH) && verdict_is_wanted(s->verdict)) {
                record->sent = (KnownNumber){ true, s->wish->value.number };
                return;
        }

        if (!s->written) {
                /* This visit sent nothing: `sent` and `settled` stay valid only for the verdicts that rely on them. If the
                 * drive lost its settings, both stay valid only if the drive itself has reported a value (`settled`). */
                if ((s->lost && !record->settled.known) ||
                    (s->verdict != VERDICT_UNVERIFIABLE && s->verdict != VERDICT_ADJUSTED &&
                     s->verdict != VERDICT_DEFERRED))
                        record->sent.known = record->settled.known = false;
                return;
        }

        record->sent.known = s->verdict == VERDICT_UNVERIFIABLE || s->verdict == VERDICT_ADJUSTED;
        record->sent.number = s->wish->value.number;
        /* An adjusted value of another type is stored only as text, not as a number. */
        record->settled.known = s->verdict == VERDICT_ADJUSTED && s->after.value.type == s->wish->value.type;
        record->settled.number = s->after.value.number;
}

/* Stores the value read, for comparison at a later visit. If this visit sent a value and could not read it back, the value
 * read earlier is no longer valid. */
static void record_note_reading(SettingRecord *record, const Step *s, const Reading *now) {
        if (now->known && now->value.type == s->wish->value.type)
                record->read = (KnownNumber){ true, now->value.number };
        else if (s->written || s->failed)
                record->read.known = false;
}

int drive_record_step(DriveRecord *drive, const Step *s, uint64_t when) {
        char wanted[VALUE_TEXT_MAX], before[VALUE_TEXT_MAX], actual[VALUE_TEXT_MAX];
        _cleanup_free_ char *rule = wish_format_rule(s->wish);
        const Reading *now = s->written || s->failed ? &s->after : &s->before;
        const ValueRange *range = s->setting ? &s->setting->range : NULL;
        SettingRecord *record;
        int r;

        r = rule ? drive_record_add(drive, s->wish->name, &record) : -ENOMEM;
        if (r < 0)
                return r;

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
        record->temporary = s->wish->temporary;
        record->optional = s->wish->optional;
        record->remediable = s->remediable;
        record->accepted = s->accepted;
        record->by_service = s->by_service;
        record->when = when;
        record_note_sent(record, s);
        record_note_reading(record, s, now);
        if (s->written && s->setting && (s->setting->flags & SETTING_ATA_SLEEP))
                drive->ata_sleep = true;
        return 0;
}

void drive_record_seen(DriveRecord *drive, const Step *s, uint64_t when) {
        SettingRecord *record = drive_record_find(drive, s->wish->name);

        if (record && s->before.known)
                record->when = when;
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

/* ---- tallies ---- */

bool tally_next(const char **rest, TallyEntry *ret) {
        const char *word = *rest, *number;
        unsigned long long n;
        size_t len, digits;

        if (!word)
                return false;
        len = strcspn(word, " ");
        number = word + len + (word[len] == ' ');
        digits = strspn(number, "0123456789");
        if (len == 0 || digits == 0 || (number[digits] != ' ' && number[digits] != '\0'))
                return false;

        n = strtoull(number, NULL, 10);
        *ret = (TallyEntry){ .word = word, .len = len, .n = n };
        *rest = number + digits + (number[digits] == ' ');
        return true;
}

static bool tally_entry_is(const TallyEntry *e, const char *word) {
        return e->len == strlen(word) && starts_with(e->word, word);
}

/* Returns the word itself if the tally has it or has room for it, else TALLY_REST. */
static const char *tally_counted_as(const char *tally, const char *word) {
        TallyEntry e;
        size_t n = 0;

        while (tally_next(&tally, &e)) {
                if (tally_entry_is(&e, word))
                        return word;
                n++;
        }
        return n < TALLY_WORDS_MAX ? word : TALLY_REST;
}

int tally_add(char **tally, const char *word) {
        _cleanup_free_ char *escaped = text_escape(word, " "), *text = NULL;
        const char *rest = *tally;
        bool found = false;
        size_t size;
        TallyEntry e;
        FILE *f;

        f = escaped ? open_memstream(&text, &size) : NULL;
        if (!f)
                return -ENOMEM;

        word = tally_counted_as(*tally, escaped);
        while (tally_next(&rest, &e)) {
                bool same = tally_entry_is(&e, word);

                fprintf(f, "%s%.*s %" PRIu64, ftell(f) > 0 ? " " : "", (int) e.len, e.word, e.n + same);
                found = found || same;
        }
        if (!found)
                fprintf(f, "%s%s 1", ftell(f) > 0 ? " " : "", word);
        if (fclose(f) != 0)
                return -ENOMEM;

        free(*tally);
        *tally = TAKE_PTR(text);
        return 0;
}
