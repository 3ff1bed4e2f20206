/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <err.h>

#include "must.h"
#include "tracefs.h"
#include "wake-history.h"

void wake_history_done(WakeHistory *h) {
        free(h->drives);
        records_done(&h->here);
        wake_records_done(&h->records);
        wake_journal_closep(&h->journal);
}

static void drives_add(WakeHistory *h, Candidate drive) {
        must_grow(h, drives);
        h->drives[h->n_drives++] = drive;
}

static bool drives_have(const WakeHistory *h, size_t n, const WakeRecord *w) {
        for (size_t i = 0; i < n; i++)
                if (wake_record_is_of(w, h->drives[i].name, h->drives[i].serial))
                        return true;
        return false;
}

/* Selects drives by name. The name of an attached drive is its current kernel name. The name of a detached drive is its
 * last kernel name in the journal. */
static int drives_choose_of(WakeHistory *h, char *const *names) {
        for (size_t i = 0; i < h->here.n_items; i++) {
                DriveRecord *d = h->here.items[i];

                drives_add(h, (Candidate){ d->name, d->serial, d->wwn, .item = d });
        }
        for (size_t i = h->records.n_items; i-- > 0;) {
                const WakeRecord *w = h->records.items + i;

                if (!drives_have(h, h->n_drives, w))
                        drives_add(h, (Candidate){ w->drive, w->serial, w->wwn });
        }
        return candidates_choose(h->drives, h->n_drives, names, "", &h->n_chosen);
}

int wake_history_read(WakeHistory *h, RecordKind kind, const Options *o) {
        int r;

        r = must_not_fail(wake_journal_open(kind, NULL, &h->journal));
        if (r == -EACCES)
                warnx("the journal cannot be read: only root and members of the groups systemd-journal and adm can read it");
        if (r == -ENOENT)
                warnx("there is no system journal: see Storage= in journald.conf(5)");
        if (r == -EACCES || r == -ENOENT)
                return EXIT_BAD_INPUT;
        if (r >= 0)
                r = must_not_fail(wake_records_read(h->journal, &h->records));
        if (r < 0)
                return r;

        (void) records_read(o->state_dir, &h->here);
        return drives_choose_of(h, o->names);
}

/* Without names all drives are selected, including drives that h->drives lacks. */
bool wake_history_means(const WakeHistory *h, const Options *o, const WakeRecord *w) {
        return !o->names || drives_have(h, h->n_chosen, w);
}

void wake_history_print_untraced(const Records *here) {
        const char *obstacle = tracefs_obstacle("");

        /* Ignores TRACING_UNMOUNTED, which may be outdated: tracefs_obstacle() has just checked the mount. */
        for (size_t i = 0; here->served && i < here->n_items && !obstacle; i++)
                if (here->items[i]->tracing != TRACING_UNMOUNTED)
                        obstacle = tracing_obstacle(here->items[i]->tracing);
        if (obstacle)
                warnx("wakers are not recorded: %s", obstacle);
}

void wake_history_print_empty(const Options *o) {
        warnx("no wake%s has been recorded; drivekeepd records only wakes of drives with a spin-down setting: "
              "see wake_log in drivekeep.conf(5)",
              o->names ? " of these drives" : "");
}
