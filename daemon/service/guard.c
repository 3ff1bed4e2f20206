/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <syslog.h>

#include "clock.h"
#include "guard-key.h"
#include "guard-note.h"
#include "journal.h"
#include "record.h"

/* ---- visits ---- */

int guarded_intend(GuardedDrive *d, const char *setting, const char *value) {
        GuardNote *n = d->note;
        int r;

        /* Its file is not waited for twice. */
        if (n->late)
                return -ETIMEDOUT;
        if (n->unreadable)
                return -EBADMSG;

        r = string_replace(&n->record->boot_id, n->guard->boot_id);
        if (r >= 0 && setting)
                r = guard_record_intend(n->record, setting, value, NULL, now_usec());
        if (r >= 0)
                r = guard_note_await(n, d);
        if (r < 0)
                return r;

        n->record->visiting = true;
        n->record->diskseq = d->diskseq;
        guard_note_write(n);
        return 0;
}

void guarded_forget_call(GuardedDrive *d) {
        d->awaited = NULL;
}

void guarded_visit(GuardedDrive *d, bool begins) {
        GuardNote *n = d->note;

        n->n_visits += begins ? 1 : -1U;
        if (n->n_visits == 0 && guard_record_visited(n->record))
                guard_note_write(n);
}

void guarded_underway(GuardedDrive *d, const char *setting, const char *value) {
        GuardEntry now = {};

        /* Without memory for it nothing is blamed. */
        (void) guard_entry_set(&now, setting, value, NULL);
        guard_record_underway(d->note->record, &d->underway, &now);
        (void) guard_entry_set(&d->underway, NULL, NULL, NULL);
        d->underway = now;
}

bool guarded_clear(GuardedDrive *d) {
        if (d->note->n_visits > 0)
                return false;
        if (guard_record_clear(d->note->record, NULL))
                guard_note_write(d->note);
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

        if (guard_record_judge(n->record, n->guard->boot_id, n->continues, now) == 0)
                return;

        tell_quarantined(n->record, now);
        if (guard_record_alone(n->record) && !alone)
                journal_alone(n->record);
        guard_note_write(n);
}

void guard_judge(Guard *g) {
        g->judged = true;
        for (GuardNote *n = g->notes; n; n = n->next)
                note_judge(n);
}

const GuardRecord *guarded_record(const GuardedDrive *d) {
        return d->note->record;
}

const char *guarded_quarantined(const GuardedDrive *d, const char *setting, const char *value) {
        const GuardEntry *e = guard_record_find(d->note->record, setting, value, NULL);

        return e && e->quarantined ? e->why : NULL;
}

bool guarded_alone(const GuardedDrive *d) {
        return guard_record_alone(d->note->record);
}

void guarded_lost(GuardedDrive *d) {
        GuardRecord *r = d->note->record;
        bool intends = guard_record_intends(r);
        uint64_t now = now_usec();
        int n;

        n = guard_record_lost(r, &d->underway, NULL, now);
        (void) guard_entry_set(&d->underway, NULL, NULL, NULL);
        if (n > 0)
                tell_quarantined(r, now);
        if (n != 0 || intends)
                guard_note_write(d->note);
}

/* ---- drives that come and go ---- */

void *guarded_other_path(const GuardedDrive *d) {
        for (const GuardedDrive *other = d->note->drives; other; other = other->next)
                if (other != d)
                        return other->userdata;
        return NULL;
}

unsigned guarded_release(GuardedDrive *d, const char *setting) {
        GuardNote *n = d->note;
        unsigned count = guard_record_release(n->record, setting, NULL) + n->unreadable;

        if (count == 0)
                return 0;

        n->unreadable = false;
        /* Nor is it held against one that comes later and says that it is this drive. */
        for (GuardNote *other = n->guard->notes; other; other = other->next)
                other->anyones = other->anyones && !streq_ptr(other->identity, n->identity);
        guard_note_write(n);
        return count;
}

/* With what its file says. `error`: of looking for that; 0: none. Nobody who cannot read that may think that there is nothing
 * against the drive. */
static int guard_note_add(Guard *g, const char *key, int error, GuardNote **ret) {
        _cleanup_(guard_record_freep) GuardRecord *record = NULL;
        GuardNote *n;
        int r;

        if (error >= 0)
                error = guard_file_read(g->dir, key, &record);
        if (error == -ENOMEM)
                return error;

        if (!record) {
                record = calloc(1, sizeof *record);
                if (!record)
                        return -ENOMEM;
                r = string_replace(&record->key, key);
                if (r < 0)
                        return r;
        }

        n = malloc(sizeof *n);
        if (!n)
                return -ENOMEM;

        *n = (GuardNote){ .guard = g, .unreadable = error < 0, .next = g->notes };
        g->notes = n;
        n->record = TAKE_PTR(record);
        if (guard_record_forgive(n->record, g->settings))
                guard_note_write(n);
        if (error < 0)
                journal_log(LOG_ERR,
                            "%s/%s cannot be read: dangerous settings are not written to its drive until 'drivekeep release' "
                            "removes it: %s",
                            g->dir, key, strerror(-error));
        *ret = n;
        return 0;
}

static GuardNote *guard_find(Guard *g, const char *key) {
        for (GuardNote *n = g->notes; n; n = n->next)
                if (streq(n->record->key, key))
                        return n;
        return NULL;
}

static void swap_texts(char **a, char **b) {
        char *text = *a;

        *a = *b;
        *b = text;
}

/* ---- drives that say that they are the same ---- */

static bool note_is(const GuardNote *n, const char *place, const char *ports) {
        return streq(n->place, place) || (n->ports && streq_ptr(n->ports, ports));
}

/* From now on it is known by its place, and so is what was known of it. */
static int note_settle(GuardNote *n) {
        _cleanup_(guard_record_freep) GuardRecord *record = NULL;
        GuardNote *former, **end;
        int r;

        /* A file that cannot be read stays where it is. */
        if (n->unreadable || streq(n->record->key, n->place))
                return 0;

        record = calloc(1, sizeof *record);
        former = malloc(sizeof *former);
        r = record && former ? string_replace(&record->key, n->place) : -ENOMEM;
        if (r < 0) {
                free(former);
                return r;
        }

        *former = (GuardNote){ .guard = n->guard, .moved = true, .dirty = true };
        former->record = TAKE_PTR(record);
        swap_texts(&former->record->key, &n->record->key);

        /* Removed after the new file is written, so that what is in it is always in one of them. */
        for (end = &n->guard->notes; *end; end = &(*end)->next)
                ;
        *end = former;
        n->dirty = n->dirty || !guard_record_is_empty(n->record);
        return 0;
}

/* Those that are there and say that they are this drive, and are not. Returns one of them, or NULL. */
static GuardNote *guard_twin(Guard *g, const char *identity, const char *place, const char *ports) {
        for (GuardNote *n = g->notes; n; n = n->next)
                if (n->drives && streq(n->identity, identity) && !note_is(n, place, ports))
                        return n;
        return NULL;
}

static int guard_part(Guard *g, const Drive *drive, const char *identity, const char *place, const char *ports,
                      bool *ret) {
        GuardNote *twin = guard_twin(g, identity, place, ports);
        int r = 0;

        *ret = twin;
        if (!twin || streq(twin->record->key, twin->place))
                return 0;

        if (!twin->told)
                journal_log(LOG_NOTICE,
                            "%s and %s say that they are one drive (WWN, or model and serial number): the crash guard tells "
                            "them apart by where they are plugged in.",
                            twin->name, drive->name);
        twin->told = true;
        for (GuardNote *n = g->notes; n && r >= 0; n = n->next)
                if (n->drives && streq(n->identity, identity))
                        r = note_settle(n);
        return r;
}

/* It has no file of its own yet, and what was found of one of its twins may be about it; not what that is sent now. */
static int note_share(GuardNote *n, const char *identity) {
        Guard *g = n->guard;
        const GuardNote *twin = g->notes;
        _cleanup_(guard_record_freep) GuardRecord *record = NULL;
        _cleanup_free_ char *text = NULL;
        int r;

        while (twin && !(twin->drives && twin->anyones && streq(twin->identity, identity)))
                twin = twin->next;
        if (!twin || n->unreadable || !guard_record_is_empty(n->record))
                return 0;

        r = guard_record_serialize(twin->record, &text);
        if (r >= 0)
                r = guard_record_parse(text, strlen(text), &record);
        if (r >= 0)
                r = string_replace(&record->key, n->record->key);
        if (r < 0)
                return r;

        if (g->judged || (twin->continues && streq_ptr(record->boot_id, g->boot_id))) {
                (void) guard_record_clear(record, NULL);
                record->visiting = false;
        }
        (void) guard_record_free(n->record);
        n->record = TAKE_PTR(record);
        n->anyones = true;
        n->unreadable = twin->unreadable;
        n->dirty = !n->unreadable && !guard_record_is_empty(n->record);
        return 0;
}

/* Returns 1 when it was not known before. */
static int guard_look_up(Guard *g, const Drive *drive, const char *identity, const char *place, const char *ports,
                         GuardNote **ret) {
        int r, exists = 0;
        const char *key;
        bool has_twin;

        for (GuardNote *n = g->notes; n; n = n->next)
                if (n->drives && streq(n->identity, identity) && note_is(n, place, ports)) {
                        *ret = n;
                        return 0;
                }

        r = guard_part(g, drive, identity, place, ports, &has_twin);
        if (r < 0)
                return r;

        if (!has_twin && !guard_find(g, place))
                exists = guard_file_exists(g->dir, place);
        key = has_twin || guard_find(g, place) || exists > 0 ? place : identity;
        *ret = guard_find(g, key);
        if (*ret)
                return 0;
        r = guard_note_add(g, key, MIN(exists, 0), ret);
        if (r >= 0 && has_twin)
                r = note_share(*ret, identity);
        if (r < 0)
                guard_sweep(g); /* it is read again when it comes again */
        return r < 0 ? r : 1;
}

static int key_at_place(const char *identity, const Drive *drive, char **ret) {
        _cleanup_free_ char *place = NULL;
        int r;

        r = guard_place(drive, &place);
        if (r < 0)
                return r;
        return asprintf(ret, "%s-at-%s", identity, place) < 0 ? -ENOMEM : 0;
}

static GuardedDrive *guarded_free(GuardedDrive *d) {
        if (!d)
                return NULL;

        (void) guard_entry_set(&d->underway, NULL, NULL, NULL);
        free(d);
        return NULL;
}
DEFINE_CLEANUP(GuardedDrive *, guarded_free);

int guard_attach(Guard *g, const Drive *drive, void *userdata, GuardedDrive **ret) {
        _cleanup_(guarded_freep) GuardedDrive *d = calloc(1, sizeof *d);
        _cleanup_free_ char *identity = NULL, *place = NULL, *ports = NULL;
        GuardNote *n;
        int r, is_new;

        r = d ? guard_key(drive, &identity) : -ENOMEM;
        if (r >= 0)
                r = key_at_place(identity, drive, &place);
        if (r >= 0)
                r = guard_ports(drive, &ports);
        if (r < 0)
                return r;

        r = is_new = guard_look_up(g, drive, identity, place, ports, &n);
        if (r >= 0)
                r = string_replace(&n->record->model, drive->model);
        if (r >= 0)
                r = string_replace(&n->record->serial, drive->serial);
        if (r >= 0)
                r = string_replace(&n->name, drive->name);
        if (r < 0)
                return r;

        if (!n->drives && streq(n->record->key, identity))
                n->anyones = n->unreadable || !guard_record_is_empty(n->record);
        swap_texts(&n->identity, &identity);
        swap_texts(&n->place, &place);
        swap_texts(&n->ports, &ports);
        d->note = n;
        d->userdata = userdata;
        d->diskseq = drive->diskseq;
        d->next = n->drives;
        n->drives = d;
        n->continues = n->continues || n->record->diskseq == drive->diskseq;
        if (is_new && g->judged)
                note_judge(n);
        guard_write(g); /* both of twins at once */
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

int guard_new(sd_event *event, const char *dir, const char *boot_id, const SettingTable *settings, GuardFn stored,
              Guard **ret) {
        _cleanup_(guard_freep) Guard *g = NULL;

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

        *ret = TAKE_PTR(g);
        return 0;
}

Guard *guard_free(Guard *g) {
        if (!g)
                return NULL;

        while (g->notes) {
                GuardNote *n = g->notes;

                g->notes = n->next;
                while (n->drives) {
                        GuardedDrive *d = n->drives;

                        n->drives = d->next;
                        (void) guarded_free(d);
                }
                (void) guard_note_free(n);
        }
        sd_event_source_disable_unref(g->writer);
        sd_event_source_disable_unref(g->again);
        free(g->dir);
        sd_event_unref(g->event);
        free(g);
        return NULL;
}
