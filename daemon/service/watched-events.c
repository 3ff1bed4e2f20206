/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <syslog.h>

#include "activity.h"
#include "clock.h"
#include "device.h"
#include "health.h"
#include "link-news.h"
#include "visit.h"
#include "watched.h"

/* ---- the counters ---- */

bool watched_look(Watched *w) {
        uint64_t used;
        bool more;

        if (activity_is_suspended(w->drive->syspath) || activity_read(w->drive->syspath, &used) < 0)
                return false;

        more = used != w->record->used;
        /* Whoever used it had the kernel reset it. */
        w->record->deaf = drive_record_is_deaf(w->record, used);
        w->record->used = used;
        w->record->used_when = monotonic_usec();
        return more;
}

bool watched_link_changed(Watched *w) {
        return link_news(w->drive->syspath, &w->record->link_since) != LINK_SAME;
}

bool watched_look_at_link(Watched *w, bool visited) {
        uint64_t since = w->record->link_since;
        LinkNews news;

        if (watched_has_worker(w))
                return false;

        news = link_news(w->drive->syspath, &since);
        if (news != LINK_SAME && !visited && link_is_recovering(w->drive->syspath))
                return true;
        w->record->link_since = since;
        /* It may be about to go away: then udev tells. */
        if (news < (visited ? LINK_LOST : LINK_RESET) || health_read(w->drive->syspath) < 0)
                return false;
        watched_disturbed(w, VISIT_RESET, 0);
        return false;
}

bool watched_is_active(const Watched *w) {
        uint64_t used;

        if (monotonic_usec() < w->active_until || (w->visit.reason == VISIT_RECHECK && w->visit.pending.busy))
                return true;

        switch (w->visit.reason) {
        case VISIT_ATTACH: /* the kernel has read its partitions, or made it spin up */
        case VISIT_RESUME:
        case VISIT_RESET:
        case VISIT_WAKE:
                return true;
        default:
                return activity_read(w->drive->syspath, &used) >= 0 &&
                       drive_record_in_use(w->record, used, monotonic_usec());
        }
}

bool watched_is_deaf(const Watched *w) {
        uint64_t used;

        return activity_read(w->drive->syspath, &used) >= 0 && drive_record_is_deaf(w->record, used);
}

bool watched_has_deferred(const Watched *w) {
        if (w->visit.visitor)
                return false;

        for (size_t i = 0; i < w->record->n_settings; i++)
                if (w->record->settings[i].verdict == VERDICT_DEFERRED)
                        return true;
        /* Which drive it is it tells awake, and so long nobody knows what is wanted of it. */
        return !w->env->forbidden_by && watched_wants_identity(w);
}

void watched_recheck(Watched *w, bool busy) {
        /* A visit that is under way sees all that this one could. */
        if (w->visit.visitor)
                return;

        w->pending.reads = w->pending.busy = busy;
        watched_visit(w, VISIT_RECHECK);
}

void watched_meddled(Watched *w) {
        /* A visit that has not begun yet sees all that this one could; another one may have looked before. */
        if (w->visit.visitor && !watched_has_worker(w))
                return;

        if (w->files->config->on_drift == ON_DRIFT_RESTORE) {
                /* What cannot be read may have been written, too. */
                watched_distrust(w);
                watched_visit(w, VISIT_PARAMETERS);
                return;
        }
        w->pending.reads = true;
        watched_visit(w, VISIT_RECHECK);
}

/* ---- somebody asks ---- */

void watched_distrust(Watched *w) {
        CurrentVisit *v = &w->visit;

        drive_record_distrust(w->record, w->env->settings);
        for (size_t i = 0; v->memories && i < v->selected.n_items; i++) {
                const SettingRecord *s = drive_record_find(w->record, v->selected.items[i].name);

                v->memories[i].sent = v->memories[i].sent && s && s->sent;
        }
}

/* ---- what happens again and again ---- */

void watched_visited(Watched *w) {
        bool deaf = w->record->deaf;

        if (!w->visit.settles)
                watched_settles(w);
        /* What the visit itself did is no use of the drive's user's. */
        (void) watched_look(w);
        w->record->deaf = deaf;

        /* Two that set the same thing differently would do so for ever. */
        if (w->visit.reason == VISIT_REVALIDATION && w->visit.summary.n_written > 0)
                rate_limit_count(&w->disturbances, monotonic_usec());
}

void watched_settles(void *userdata) {
        Watched *w = userdata;

        w->visit.settles = true;
        if (visit_reason_forgets(w->visit.reason))
                w->made_up = activity_last_event();
}

/* A drive that was reset while the machine slept tells so at the first command of the visit that is for that. */
static bool is_made_up(const Watched *w, uint64_t seqnum) {
        return (w->visit.visitor && visit_reason_forgets(w->visit.reason) && !w->visit.settles) || seqnum <= w->made_up;
}

void watched_resumed(Watched *w) {
        w->disturbances = DISTURBANCES;
        w->told_storm = false;
}

static int open_nothing(void *userdata _unused_, const Drive *drive _unused_) {
        return -EPERM;
}

/* The kernel looked at it anew, or only said so, as it does whenever something that was open for writing is closed: is what the
 * kernel holds still as it was left? That is read from here, from the same files of sysfs as the drive's identity, and needs no
 * process of its own. */
static bool was_revalidated(const Watched *w) {
        static const DeviceIO io = { .open_node = open_nothing };
        _cleanup_free_ Memory *memories = NULL;
        Wishes selected;
        bool news = true;
        Plan p;

        if (scope_select(SCOPE_KERNEL, &w->wishes, w->env->settings, drive_backends(w->drive), w->record, &selected) <
            0)
                return true;

        if (drive_record_memories(w->record, &selected, &memories) >= 0 &&
            visit_dry_run(
                            &(Visit){
                                            .drive = w->drive,
                                            .wishes = &selected,
                                            .memories = memories,
                                            .settings = w->env->settings,
                                            .io = &io,
                            },
                            &p) >= 0) {
                news = false;
                for (size_t i = 0; i < p.n_steps; i++)
                        news = news || watched_finds_news(w, p.steps + i);
                plan_done(&p);
        }

        scope_done(&selected);
        return news;
}

void watched_disturbed(Watched *w, VisitReason reason, uint64_t seqnum) {
        uint64_t now = monotonic_usec();

        if (reason == VISIT_REVALIDATION && !was_revalidated(w))
                return;
        if (visit_reason_forgets(reason) && seqnum != 0 && is_made_up(w, seqnum))
                return;
        /* The visit that was put off is for this, too. */
        if (w->pending.put_off) {
                watched_visit_later(w, reason, UINT64_MAX);
                return;
        }

        if (rate_limit_allows(&w->disturbances, now)) {
                /* Quiet for as long as it takes to be sure. */
                if (now >= rate_limit_end(&w->disturbances) + DISTURBANCES_USEC)
                        w->told_storm = false;
                /* A look at what the kernel holds costs nothing; that something had to be written counts (above). */
                if (reason != VISIT_REVALIDATION)
                        rate_limit_count(&w->disturbances, now);
                watched_visit(w, reason);
                return;
        }

        if (!w->told_storm)
                journal_storm(w->drive, reason, DISTURBANCES_USEC / 60000000);
        w->told_storm = w->pending.put_off = true;
        watched_visit_later(w, reason, rate_limit_end(&w->disturbances));
}
