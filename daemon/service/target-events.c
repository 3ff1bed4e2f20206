/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <syslog.h>

#include "activity.h"
#include "clock.h"
#include "device.h"
#include "health.h"
#include "link-news.h"
#include "visit.h"
#include "target.h"

/* ---- the counters ---- */

bool target_look(Target *t) {
        uint64_t used;
        bool more;

        if (activity_is_suspended(t->drive->syspath) || activity_read(t->drive->syspath, &used) < 0)
                return false;

        more = used != t->record->used;
        /* Whoever used it had the kernel reset it. */
        t->record->ata_sleep = drive_record_in_ata_sleep(t->record, used);
        t->record->used = used;
        t->record->used_when = monotonic_usec();
        return more;
}

bool target_link_changed(Target *t) {
        return link_news(t->drive->syspath, &t->record->link_since) != LINK_SAME;
}

bool target_look_at_link(Target *t, bool visited) {
        uint64_t since = t->record->link_since;
        LinkNews news;

        if (target_has_worker(t))
                return false;

        news = link_news(t->drive->syspath, &since);
        if (news != LINK_SAME && !visited && link_is_recovering(t->drive->syspath))
                return true;
        t->record->link_since = since;
        /* It may be about to go away: then udev tells. */
        if (news < (visited ? LINK_LOST : LINK_RESET) || health_read(t->drive->syspath) < 0)
                return false;
        target_disturbed(t, VISIT_RESET, 0);
        return false;
}

bool target_is_active(const Target *t) {
        uint64_t used;

        if (monotonic_usec() < t->active_until || (t->visit.reason == VISIT_RECHECK && t->visit.pending.busy))
                return true;

        switch (t->visit.reason) {
        case VISIT_ATTACH: /* the kernel has read its partitions, or made it spin up */
        case VISIT_RESUME:
        case VISIT_RESET:
        case VISIT_WAKE:
                return true;
        default:
                return activity_read(t->drive->syspath, &used) >= 0 &&
                       drive_record_in_use(t->record, used, monotonic_usec());
        }
}

bool target_in_ata_sleep(const Target *t) {
        uint64_t used;

        return activity_read(t->drive->syspath, &used) >= 0 && drive_record_in_ata_sleep(t->record, used);
}

bool target_has_deferred(const Target *t) {
        if (t->visit.job)
                return false;

        for (size_t i = 0; i < t->record->n_settings; i++)
                if (t->record->settings[i].verdict == VERDICT_DEFERRED)
                        return true;
        /* Which drive it is it tells awake, and so long nobody knows what is wanted of it. */
        return !t->env->forbidden_by && target_wants_identity(t);
}

void target_recheck(Target *t, bool busy) {
        /* A visit that is under way sees all that this one could. */
        if (t->visit.job)
                return;

        t->pending.reads = t->pending.busy = busy;
        target_visit(t, VISIT_RECHECK);
}

void target_meddled(Target *t) {
        /* A visit that has not begun yet sees all that this one could; another one may have looked before. */
        if (t->visit.job && !target_has_worker(t))
                return;

        if (t->files->config->on_drift == ON_DRIFT_RESTORE) {
                /* What cannot be read may have been written, too. */
                target_distrust(t);
                target_visit(t, VISIT_PARAMETERS);
                return;
        }
        t->pending.reads = true;
        target_visit(t, VISIT_RECHECK);
}

/* ---- somebody asks ---- */

void target_distrust(Target *t) {
        CurrentVisit *v = &t->visit;

        drive_record_distrust(t->record, t->env->settings);
        for (size_t i = 0; v->memories && i < v->selected.n_items; i++) {
                const SettingRecord *s = drive_record_find(t->record, v->selected.items[i].name);

                v->memories[i].sent = v->memories[i].sent && s && s->sent;
        }
}

/* ---- what happens again and again ---- */

void target_visited(Target *t) {
        bool ata_sleep = t->record->ata_sleep;

        if (!t->visit.settles)
                target_settles(t);
        /* What the visit itself did is no use of the drive's user's. */
        (void) target_look(t);
        t->record->ata_sleep = ata_sleep;

        /* Two that set the same thing differently would do so for ever. */
        if (t->visit.reason == VISIT_REVALIDATION && t->visit.summary.n_written > 0)
                rate_limit_count(&t->disturbances, monotonic_usec());
}

void target_settles(void *userdata) {
        Target *t = userdata;

        t->visit.settles = true;
        if (visit_reason_forgets(t->visit.reason))
                t->made_up = activity_last_event();
}

/* A drive that was reset while the machine slept tells so at the first command of the visit that is for that. */
static bool is_made_up(const Target *t, uint64_t seqnum) {
        return (t->visit.job && visit_reason_forgets(t->visit.reason) && !t->visit.settles) || seqnum <= t->made_up;
}

void target_resumed(Target *t) {
        t->disturbances = DISTURBANCES;
        t->told_storm = false;
}

static int open_nothing(void *userdata _unused_, const Drive *drive _unused_) {
        return -EPERM;
}

/* The kernel looked at it anew, or only said so, as it does whenever something that was open for writing is closed: is what the
 * kernel holds still as it was left? That is read from here, from the same files of sysfs as the drive's identity, and needs no
 * process of its own. */
static bool was_revalidated(const Target *t) {
        static const DeviceIO io = { .open_node = open_nothing };
        _cleanup_free_ Memory *memories = NULL;
        Wishes selected;
        bool news = true;
        Plan p;

        if (scope_select(SCOPE_KERNEL, &t->wishes, t->env->settings, drive_backends(t->drive), t->record, &selected) <
            0)
                return true;

        if (drive_record_memories(t->record, &selected, &memories) >= 0 &&
            visit_dry_run(
                            &(Visit){
                                            .drive = t->drive,
                                            .wishes = &selected,
                                            .memories = memories,
                                            .settings = t->env->settings,
                                            .io = &io,
                            },
                            &p) >= 0) {
                news = false;
                for (size_t i = 0; i < p.n_steps; i++)
                        news = news || target_finds_news(t, p.steps + i);
                plan_done(&p);
        }

        scope_done(&selected);
        return news;
}

void target_disturbed(Target *t, VisitReason reason, uint64_t seqnum) {
        uint64_t now = monotonic_usec();

        if (reason == VISIT_REVALIDATION && !was_revalidated(t))
                return;
        if (visit_reason_forgets(reason) && seqnum != 0 && is_made_up(t, seqnum))
                return;
        /* The visit that was put off is for this, too. */
        if (t->pending.put_off) {
                target_visit_later(t, reason, UINT64_MAX);
                return;
        }

        if (rate_limit_allows(&t->disturbances, now)) {
                /* Quiet for as long as it takes to be sure. */
                if (now >= rate_limit_end(&t->disturbances) + DISTURBANCES_USEC)
                        t->told_storm = false;
                /* A look at what the kernel holds costs nothing; that something had to be written counts (above). */
                if (reason != VISIT_REVALIDATION)
                        rate_limit_count(&t->disturbances, now);
                target_visit(t, reason);
                return;
        }

        if (!t->told_storm)
                journal_storm(t->drive, reason, DISTURBANCES_USEC / 60000000);
        t->told_storm = t->pending.put_off = true;
        target_visit_later(t, reason, rate_limit_end(&t->disturbances));
}
