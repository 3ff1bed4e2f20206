/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clock.h"
#include "guard-file.h"
#include "guard-store.h"
#include "journal.h"
#include "record.h"

static int guard_add(Guard *g, GuardRecord *record, GuardedDrive **ret) {
        GuardedDrive *d;

        d = malloc(sizeof *d);
        if (!d)
                return -ENOMEM;

        *d = (GuardedDrive){ .guard = g, .record = record, .next = g->drives };
        g->drives = d;
        *ret = d;
        return 0;
}

static int on_record(void *userdata, GuardRecord *record) {
        Guard *g = userdata;
        GuardedDrive *d;
        int r;

        r = guard_add(g, record, &d);
        if (r >= 0)
                d->dirty = guard_record_forgive(record, g->settings);
        return r;
}

int guarded_intend(GuardedDrive *d, uint64_t diskseq, const Intent *intents, size_t n, GuardFn fn, void *userdata) {
        int r;

        /* Its file is not waited for twice. */
        if (d->late)
                return -ETIMEDOUT;

        r = string_replace(&d->record->boot_id, d->guard->boot_id);
        for (size_t i = 0; i < n && r >= 0; i++)
                r = guard_record_intend(d->record, intents[i].setting, intents[i].value, now_usec());
        if (r >= 0)
                r = guarded_wait(d, fn, userdata);
        if (r < 0)
                return r;

        d->record->visiting = true;
        d->record->diskseq = diskseq;
        guarded_write(d);
        return 0;
}

void guarded_visit(GuardedDrive *d, bool begins) {
        d->n_visits += begins ? 1 : -1U;
        if (d->n_visits == 0 && guard_record_visited(d->record))
                guarded_write(d);
}

/* ---- what is known ---- */

static void guarded_tell_quarantined(const GuardedDrive *d, uint64_t when) {
        for (size_t i = 0; i < d->record->n_entries; i++) {
                const GuardEntry *e = d->record->entries + i;

                if (e->quarantined && e->when >= when)
                        journal_quarantined(d->record, e);
        }
}

int guard_attach(Guard *g, const Drive *drive, GuardedDrive **ret) {
        _cleanup_(guard_record_freep) GuardRecord *record = NULL;
        _cleanup_free_ char *key = NULL;
        GuardedDrive *d;
        int r;

        r = guard_key(drive, &key);
        if (r < 0)
                return r;

        for (d = g->drives; d; d = d->next)
                if (streq(d->record->key, key))
                        break;

        if (!d) {
                record = calloc(1, sizeof *record);
                if (!record)
                        return -ENOMEM;
                record->key = TAKE_PTR(key);
                r = guard_add(g, record, &d);
                if (r < 0)
                        return r;
                TAKE_PTR(record);
        }

        r = string_replace(&d->record->model, drive->model);
        if (r >= 0)
                r = string_replace(&d->record->serial, drive->serial);
        if (r < 0)
                return r;

        d->continues = d->continues || d->record->diskseq == drive->diskseq;
        *ret = d;
        return 0;
}

static void guarded_judge(GuardedDrive *d) {
        bool alone = guard_record_alone(d->record);
        uint64_t now = now_usec();

        if (guard_record_judge(d->record, d->guard->boot_id, d->continues, now) == 0)
                return;

        guarded_tell_quarantined(d, now);
        if (guard_record_alone(d->record) && !alone)
                journal_alone(d->record);
        guarded_write(d);
}

void guard_judge(Guard *g) {
        for (GuardedDrive *d = g->drives; d; d = d->next)
                guarded_judge(d);
        guard_write(g);
}

const GuardRecord *guarded_record(const GuardedDrive *d) {
        return d->record;
}

const char *guarded_quarantined(const GuardedDrive *d, const char *setting, const char *value) {
        const GuardEntry *e = guard_record_find(d->record, setting, value);

        return e && e->quarantined ? e->why : NULL;
}

bool guarded_alone(const GuardedDrive *d) {
        return guard_record_alone(d->record);
}

void guarded_underway(GuardedDrive *d, const char *setting, const char *value) {
        /* Without memory for it nothing is blamed. */
        (void) guard_record_underway(d->record, setting, value);
}

bool guarded_clear(GuardedDrive *d) {
        if (d->n_visits > 0)
                return false;
        if (guard_record_clear(d->record))
                guarded_write(d);
        return true;
}

void guarded_lost(GuardedDrive *d) {
        bool intends = guard_record_intends(d->record);
        uint64_t now = now_usec();
        int n;

        n = guard_record_lost(d->record, now);
        if (n > 0)
                guarded_tell_quarantined(d, now);
        if (n != 0 || intends)
                guarded_write(d);
}

unsigned guarded_release(GuardedDrive *d, const char *setting) {
        unsigned n = guard_record_release(d->record, setting);

        if (n > 0)
                guarded_write(d);
        return n;
}

int guard_new(sd_event *event, const char *dir, const char *boot_id, const SettingTable *settings, Guard **ret) {
        _cleanup_(guard_freep) Guard *g = NULL;
        int r;

        g = calloc(1, sizeof *g);
        if (!g)
                return -ENOMEM;

        g->event = sd_event_ref(event);
        g->boot_id = boot_id;
        g->settings = settings;
        g->dir = strdup(dir);
        if (!g->dir)
                return -ENOMEM;

        r = guard_files_read(dir, on_record, g);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                guard_tell(g, r);

        *ret = TAKE_PTR(g);
        return 0;
}

Guard *guard_free(Guard *g) {
        if (!g)
                return NULL;

        while (g->drives) {
                GuardedDrive *d = g->drives;

                g->drives = d->next;
                (void) guarded_free(d);
        }
        sd_event_source_disable_unref(g->scribe);
        free(g->dir);
        sd_event_unref(g->event);
        free(g);
        return NULL;
}
