/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <syslog.h>

#include "clock.h"
#include "guard-note.h"
#include "journal.h"
#include "record.h"
#include "timer.h"

/* The file that says that visits are under way; no drive's key is as short. */
#define GUARD_VISITS "visits"

/* A shelf that loses its power in the middle of its visits; or what comes and goes for a year. */
#define GUARD_ABSENT_MAX 256U

/* ---- visits ---- */

int guarded_intend(GuardedDrive *d, const char *setting, const char *value) {
        Guard *g = d->note->guard;
        /* The machine did not survive the boot before: each drive has its own note of that, until its visit is survived. */
        GuardNote *n = setting || d->note->record->deaths > 0 ? d->note : g->visits;
        bool noted = !setting && n->record->visiting && !n->changed;
        int r;

        if (n->unreadable)
                return -EBADMSG;
        if (noted && !n->writing)
                return 1;
        /* Storage is not waited for twice. */
        if (g->writer && !timer_runs(g->timer))
                return -ETIMEDOUT;

        if (!noted) {
                r = string_replace(&n->record->boot_id, g->boot_id);
                if (r >= 0 && setting)
                        r = guard_record_intend(n->record, setting, value, n->twins ? d->place : NULL, now_usec());
                if (r < 0)
                        return r;

                n->record->visiting = true;
                n->record->diskseq = d->diskseq;
                r = guard_note_write(n);
                if (r < 0)
                        return r;
        }

        d->awaited = n;
        return 0;
}

static void note_visit(GuardNote *n, bool begins) {
        n->n_visits += begins ? 1 : -1U;
        if (n->n_visits == 0 && guard_record_visited(n->record))
                (void) guard_note_write(n);
}

void guarded_visit(GuardedDrive *d, bool begins) {
        d->awaited = NULL;
        note_visit(d->note, begins);
        note_visit(d->note->guard->visits, begins);
}

void guarded_underway(GuardedDrive *d, const char *setting, const char *value) {
        guard_record_underway(d->note->record, &d->underway, setting, value, d->note->twins ? d->place : NULL);
}

bool guarded_clear(GuardedDrive *d) {
        if (d->note->n_visits > 0)
                return false;
        if (guard_record_clear(d->note->record, d->place))
                (void) guard_note_write(d->note);
        return true;
}

/* ---- what is known ---- */

static void tell_quarantined(const GuardRecord *r, uint64_t since) {
        for (size_t i = 0; i < r->n_entries; i++)
                if (r->entries[i].quarantined && r->entries[i].when >= since)
                        journal_quarantined(r, r->entries + i);
}

static void note_judge(GuardNote *n) {
        bool alone = guard_record_alone(n->record);
        uint64_t now = now_usec();

        if (guard_record_judge(n->record, n->guard->boot_id, n->continues, now) != 0) {
                tell_quarantined(n->record, now);
                if (guard_record_alone(n->record) && !alone)
                        journal_quarantined(n->record, NULL);
                (void) guard_note_write(n);
        }

        /* The boot before has ended in somebody's visit. */
        if (n->guard->cautious && n->record->deaths == 0)
                n->record->deaths = 1;
}

void guard_judge(Guard *g) {
        GuardNote *v = g->visits;

        if (guard_record_judge(v->record, g->boot_id, true, now_usec()) != 0 || v->unreadable) {
                g->cautious = v->record->deaths > 0 || v->unreadable;
                v->record->deaths = 0;
                v->unreadable = false;
                (void) guard_note_write(v);
        }

        g->judged = true;
        for (GuardNote *n = g->notes; n; n = n->next)
                if (n != v)
                        note_judge(n);
}

const GuardRecord *guarded_record(const GuardedDrive *d) {
        return d->note->record;
}

const char *guarded_quarantined(const GuardedDrive *d, const char *setting, const char *value) {
        const GuardEntry *e = guard_record_find(d->note->record, setting, value, d->place);

        return e && e->quarantined ? strna(e->why) : NULL;
}

void guarded_lost(GuardedDrive *d) {
        GuardRecord *r = d->note->record;
        bool intends = guard_record_intends(r);
        uint64_t now = now_usec();
        unsigned n = guard_record_lost(r, &d->underway, d->place, now);

        if (n > 0)
                tell_quarantined(r, now);
        if (n > 0 || intends)
                (void) guard_note_write(d->note);
}

/* ---- drives that come and go ---- */

void *guarded_other_path(const GuardedDrive *d) {
        for (const GuardedDrive *other = d->note->drives; other; other = other->next)
                if (other != d && streq(other->place, d->place))
                        return other->userdata;
        return NULL;
}

unsigned guarded_release(GuardedDrive *d, const char *setting) {
        unsigned n = guard_record_release(d->note->record, setting, d->place) + d->note->unreadable;

        if (n == 0)
                return 0;

        d->note->unreadable = false;
        (void) guard_note_write(d->note);
        return n;
}

static bool note_matters(const GuardNote *n) {
        return n->changed || n->writing || guard_record_suspects(n->record) || guard_record_intends(n->record);
}

/* Forgets notes of drives that are not there: all of which nothing but the file is to be known, and of the others the ones that
 * were seen least recently, so that no number of drives that come and go fills the memory. */
static void guard_sweep(Guard *g) {
        unsigned n_absent = 0;

        for (GuardNote **p = &g->notes; *p;) {
                GuardNote *n = *p;

                if (n->drives || n == g->visits || (note_matters(n) && ++n_absent <= GUARD_ABSENT_MAX)) {
                        p = &n->next;
                        continue;
                }
                *p = n->next;
                (void) guard_note_free(n);
        }
}

/* From now on what comes is noted of each of them, and so is what is under way at the one that was there before. */
static void note_part(GuardNote *n, const GuardedDrive *d) {
        const GuardedDrive *twin = n->drives;

        while (twin && streq(twin->place, d->place))
                twin = twin->next;
        if (!twin || n->twins)
                return;

        /* An intent of an earlier run may have been about any of them. */
        if (n->guard->judged)
                guard_record_part(n->record, twin->place);
        journal_log(LOG_NOTICE,
                    "%s and %s say that they are one drive (WWN, or model and serial number): the crash guard tells "
                    "them apart by where they are plugged in.",
                    twin->name, d->name);
        n->twins = true;
        if (!guard_record_is_empty(n->record))
                (void) guard_note_write(n);
}

int guard_attach(Guard *g, const Drive *drive, void *userdata, GuardedDrive **ret) {
        _cleanup_(guarded_freep) GuardedDrive *d = NULL;
        _cleanup_free_ char *key = NULL;
        GuardNote *n = g->notes;
        bool is_new;
        int r;

        d = malloc(sizeof *d);
        if (!d)
                return -ENOMEM;

        *d = (GuardedDrive){ .userdata = userdata, .diskseq = drive->diskseq };
        r = guard_key(drive, &key);
        if (r >= 0)
                r = string_replace(&d->name, drive->name);
        if (r >= 0)
                r = guard_place(drive, &d->place);
        if (r < 0)
                return r;

        while (n && !streq(n->record->key, key))
                n = n->next;
        is_new = !n;
        if (is_new) {
                r = guard_note_new(g, key, &n);
                if (r < 0)
                        return r;
                if (n->unreadable)
                        journal_log(LOG_ERR,
                                    "%s/%s cannot be read: dangerous settings are not written to its drive until 'drivekeep release' "
                                    "removes it.",
                                    g->dir, key);
        }

        /* They are for people only. */
        (void) string_replace(&n->record->model, drive->model);
        (void) string_replace(&n->record->serial, drive->serial);
        note_part(n, d);

        d->note = n;
        d->next = n->drives;
        n->drives = d;
        n->continues = n->continues || n->record->diskseq == drive->diskseq;
        if (is_new && g->judged)
                note_judge(n);
        *ret = TAKE_PTR(d);
        return 0;
}

void guarded_detach(GuardedDrive *d) {
        GuardNote *n = d->note;
        Guard *g = n->guard;

        for (GuardedDrive **p = &n->drives; *p; p = &(*p)->next)
                if (*p == d) {
                        *p = d->next;
                        break;
                }
        (void) guarded_free(d);
        if (n->drives)
                return;

        for (GuardNote **p = &g->notes; *p; p = &(*p)->next)
                if (*p == n) {
                        *p = n->next;
                        break;
                }
        n->next = g->notes;
        g->notes = n;
        guard_sweep(g);
}

/* ---- begin and end ---- */

int guard_new(sd_event *event, const char *dir, const char *boot_id, const SettingTable *settings, GuardFn stored,
              Guard **ret) {
        _cleanup_(guard_freep) Guard *g = NULL;
        int r;

        g = calloc(1, sizeof *g);
        if (!g)
                return -ENOMEM;

        g->event = sd_event_ref(event);
        g->boot_id = boot_id;
        g->settings = settings;
        g->stored = stored;
        g->dir = strdup(dir);
        if (!g->dir)
                return -ENOMEM;

        if (access(dir, R_OK | W_OK | X_OK) < 0)
                guard_tell(g, -errno);
        r = guard_note_new(g, GUARD_VISITS, &g->visits);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(g);
        return 0;
}

Guard *guard_free(Guard *g) {
        if (!g)
                return NULL;

        while (g->notes) {
                GuardNote *n = g->notes;

                g->notes = n->next;
                (void) guard_note_free(n);
        }
        sd_event_source_disable_unref(g->writer);
        sd_event_source_disable_unref(g->timer);
        sd_event_unref(g->event);
        free(g->dir);
        free(g);
        return NULL;
}
