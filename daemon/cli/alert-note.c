/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>

#include "alert-note.h"
#include "must.h"
#include "record-field.h"
#include "text-file.h"

#define NOTES_MAX 4096U

static const Field no_fields[] = { {} };
static const Field note_fields[] = {
        { "DRIVE", FIELD_TEXT, offsetof(AlertNote, drive) },
        { "WHEN", FIELD_UNSIGNED, offsetof(AlertNote, when) },
        { "TOLD", FIELD_TEXT, offsetof(AlertNote, told) },
        {},
};

static const FieldFile notes_file = {
        .version = 1,
        .max_bytes = 4U * 1024U * 1024U,
        .fields = no_fields,
        .count = "NOTES",
        .prefix = "NOTE_",
        .item_fields = note_fields,
        .item_size = sizeof(AlertNote),
        .max_items = NOTES_MAX,
        .items_offset = offsetof(AlertNotes, items),
        .n_items_offset = offsetof(AlertNotes, n_items),
};

AlertNotes *alert_notes_free(AlertNotes *notes) {
        field_file_free(&notes_file, notes);
        return NULL;
}

static bool is_sound(const AlertNotes *notes) {
        for (size_t i = 0; i < notes->n_items; i++)
                if (!notes->items[i].drive)
                        return false;
        return true;
}

int alert_notes_read(const char *path, AlertNotes **ret) {
        _cleanup_(alert_notes_freep) AlertNotes *notes = must(calloc(1, sizeof *notes));
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r;

        r = must_not_fail(record_file_read(AT_FDCWD, path, notes_file.max_bytes, &text, &size));
        if (r >= 0)
                r = must_not_fail(field_file_parse(&notes_file, text, size, notes));
        if (r == -EBADMSG || (r >= 0 && !is_sound(notes))) {
                (void) alert_notes_free(notes);
                notes = must(calloc(1, sizeof *notes));
                r = 0;
        }
        if (r < 0 && r != -ENOENT)
                return r;
        *ret = TAKE_PTR(notes);
        return 0;
}

void alert_notes_tidy(AlertNotes *notes, uint64_t now) {
        for (size_t i = notes->n_items; i-- > 0;) {
                const AlertNote *n = notes->items + i;

                if ((!n->told || *n->told == '\0') && (now < n->when || now - n->when >= ALERT_PAUSE_USEC))
                        field_item_drop(&notes_file, notes, i);
        }
}

char *alert_notes_format(const AlertNotes *notes) {
        char *text;

        must_work(field_file_serialize(&notes_file, notes, &text));
        return text;
}

/* ---- what was told ---- */

/* Drives behind cheap USB bridges have one serial number: the name tells them apart, at least until the next boot. */
static char *key_of(const DriveRecord *d) {
        return d->wwn ? must(strdup(d->wwn)) : must_format("%s %s", d->serial ?: "-", d->name);
}

static AlertNote *find(const AlertNotes *notes, const DriveRecord *d) {
        _cleanup_free_ char *drive = key_of(d);

        for (AlertNote *n = notes->items; n < notes->items + notes->n_items; n++)
                if (streq(n->drive, drive))
                        return n;
        return NULL;
}

/* How what is wrong with a setting stands among what was told; NULL: nothing is. */
static char *word_of(const SettingRecord *s) {
        return verdict_is_alarming(s->verdict) ? must_format("%s=%s", s->name, verdict_to_string(s->verdict)) : NULL;
}

static bool contains(const char *told, const char *word) {
        size_t len = strlen(word);

        for (const char *p = told; p && *p; p += strcspn(p, ";"), p += *p == ';')
                if (starts_with(p, word) && (p[len] == ';' || p[len] == '\0'))
                        return true;
        return false;
}

static const SettingRecord *setting_of(const DriveRecord *d, const char *word) {
        _cleanup_free_ char *name = must(strndup(word, strcspn(word, "=")));

        return drive_record_find(d, name);
}

/* Of a setting that is not as wanted for another reason, such as a drive that sleeps, or that has no verdict, nobody knows. */
static bool is_mended(const DriveRecord *d, const char *word) {
        const SettingRecord *s = setting_of(d, word);

        return s && verdict_is_fine(s->verdict, s->optional);
}

static bool is_wrong(const DriveRecord *d, const char *word) {
        const SettingRecord *s = setting_of(d, word);

        return s && verdict_is_alarming(s->verdict);
}

/* Takes the words out of what was told for which `gone` says so. */
static void forget(AlertNote *note, const DriveRecord *d, bool (*gone)(const DriveRecord *d, const char *word)) {
        char *to = note->told;

        for (const char *p = note->told, *next; p && *p; p = next) {
                size_t len = strcspn(p, ";");

                next = p + len + (p[len] == ';');
                if (gone(d, p))
                        continue;
                if (to > note->told)
                        *to++ = ';';
                memmove(to, p, len);
                to += len;
        }
        if (to)
                *to = '\0';
}

AlertDue alert_notes_judge(AlertNotes *notes, const DriveRecord *d, uint64_t now) {
        AlertNote *note = find(notes, d);
        bool news = false;

        if (note)
                forget(note, d, is_mended);
        for (const SettingRecord *s = d->settings; s < d->settings + d->n_settings && !news; s++) {
                _cleanup_free_ char *word = word_of(s);

                news = word && !(note && contains(note->told, word));
        }
        if (!news)
                return ALERT_NOTHING;
        /* A clock that was set back is no reason to wait longer. */
        return note && now >= note->when && now - note->when < ALERT_PAUSE_USEC ? ALERT_LATER : ALERT_NOW;
}

static AlertNote *add(AlertNotes *notes, const DriveRecord *d) {
        AlertNote *note;
        size_t oldest = 0;

        for (size_t i = 0; i < notes->n_items; i++)
                if (notes->items[i].when < notes->items[oldest].when)
                        oldest = i;
        if (notes->n_items >= NOTES_MAX)
                field_item_drop(&notes_file, notes, oldest);
        must_work(field_item_add(&notes_file, notes));

        note = notes->items + notes->n_items - 1;
        note->drive = key_of(d);
        return note;
}

void alert_notes_told(AlertNotes *notes, const DriveRecord *d, uint64_t now) {
        AlertNote *note = find(notes, d) ?: add(notes, d);
        char *text = NULL;
        size_t size;
        FILE *f;

        /* What was told before and is not mended, such as of a drive that sleeps now, is not to be told again. */
        forget(note, d, is_wrong);
        f = must(open_memstream(&text, &size));
        fputs(note->told ?: "", f);
        for (const SettingRecord *s = d->settings; s < d->settings + d->n_settings; s++) {
                _cleanup_free_ char *word = word_of(s);

                if (word)
                        fprintf(f, "%s%s", ftell(f) > 0 ? ";" : "", word);
        }
        must_close(f);
        free(note->told);
        note->told = text;
        note->when = now;
}
