/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <syslog.h>

#include "clock.h"
#include "device.h"
#include "state-file.h"
#include "drive-record.h"
#include "target.h"

/* Delay before writing the record again, for example after /run was full. */
#define SAVE_AGAIN_USEC (60ULL * 1000 * 1000)

void *target_part(const Target *t, const TargetPart *part) {
        size_t i = 0;

        while (t->env->parts[i] != part) {
                assert(t->env->parts[i]);
                i++;
        }
        return t->parts[i];
}

/* ---- requests ---- */

void target_visit_later(Target *t, VisitReason reason, VisitWork work, uint64_t not_before) {
        pending_add(&t->pending, reason, work, not_before);
        t->env->events->requested(t, work);
}

void target_visit_for(Target *t, VisitReason reason, VisitWork work) {
        target_visit_later(t, reason, work, 0);
}

void target_visit(Target *t, VisitReason reason) {
        target_visit_for(t, reason, visit_reason_work(reason));
}

void target_reconfigure(Target *t, VisitReason reason) {
        pending_add(&t->update.files, reason, visit_reason_work(reason), 0);
        t->env->events->requested(t, 0);
}

/* ---- state ---- */

bool target_has_standby(const Target *t) {
        return drive_has_standby(t->drive, drive_backends(t->drive));
}

SpinDown target_spin_down(const Target *t) {
        return spin_down_timer(t->record, &t->wishes, t->env->settings, t->drive, drive_backends(t->drive));
}

bool target_spins_down(const Target *t) {
        SpinDown d = target_spin_down(t);

        return d.wish && d.by == SPIN_DOWN_BY_SERVICE;
}

bool target_wants_identity(const Target *t) {
        const Config *c = t->files->config;

        if (t->record->bridge.queried || !drive_is_behind_bridge(t->drive))
                return false;

        for (size_t i = 0; i < c->n_blocks; i++)
                if (match_needs_identity(&c->blocks[i].match))
                        return true;
        return false;
}

bool target_has_deferred(const Target *t) {
        if (t->visit.job)
                return false;

        for (size_t i = 0; i < t->record->n_settings; i++)
                if (t->record->settings[i].verdict == VERDICT_DEFERRED)
                        return true;
        /* A drive behind a USB bridge can be identified only while it is active. Until then the wishes for the drive are not known. */
        return !t->env->forbidden_by && target_wants_identity(t);
}

/* ---- the record ---- */

static void update_state(Target *t) {
        t->record->state = t->record->waiting_kind != WAIT_NOTHING ? DRIVE_WAITING
                           : !t->visit.job                         ? DRIVE_IDLE
                           : target_has_worker(t)                  ? DRIVE_VISITING
                                                                   : DRIVE_QUEUED;
}

void target_save(Target *t) {
        int r;

        update_state(t);
        t->saving.shows_visit = t->record->state != DRIVE_IDLE;
        t->record->suspended_usec = suspended_usec();
        r = state_write(STATE_DIR, t->record);
        if (r < 0 && t->saving.again_at == 0)
                journal_log(LOG_WARNING,
                            "%s: 'drivekeep status' does not show the drive's current state, since " STATE_DIR
                            " cannot be written: %s",
                            t->drive->name, strerror(-r));

        if (r >= 0 && t->saving.new_verdicts) {
                state_notify(STATE_DIR, STATE_VERDICTS);
                t->saving.new_verdicts = false;
        }
        t->saving.again_at = r < 0 ? monotonic_usec() + SAVE_AGAIN_USEC : 0;
        target_changed(t);
}

void target_save_progress(Target *t, VisitWork work) {
        if (work != WORK_KEEP_ACTIVE || t->saving.new_verdicts || t->saving.shows_visit)
                target_save(t);
        else {
                update_state(t);
                target_changed(t);
        }
}

int target_note_step(Target *t, const Step *s) {
        const SettingRecord *known = drive_record_find(t->record, s->wish->name);

        t->saving.new_verdicts = t->saving.new_verdicts || !known || known->verdict != s->verdict;
        return drive_record_step(t->record, s, now_usec());
}

static void log_no_memory(const Target *t) {
        journal_log(LOG_ERR, "Out of memory for the record of %s", t->drive->name);
}

void target_note_text(Target *t, char **field, const char *text) {
        if (string_replace(field, text) < 0)
                log_no_memory(t);
}

void target_count(const Target *t, char **tally, const char *word) {
        if (tally_add(tally, word) < 0)
                log_no_memory(t);
}

bool target_should_report(const Target *t, VisitWork work, const Step *s) {
        const SettingRecord *known = drive_record_find(t->record, s->wish->name);
        char now[VALUE_TEXT_MAX];

        /* A setting that is written at each interval is reported only when its verdict changes. */
        if (s->setting && s->setting->keeps_active)
                return !known || known->verdict != s->verdict;
        if (!known || s->written || s->failed)
                return true;

        switch (s->verdict) {
        case VERDICT_UNCHANGED:
                return !verdict_is_wanted(known->verdict) ||
                       (known->read.known && known->read.number != s->before.value.number);
        case VERDICT_APPLIED: /* this visit wrote nothing, since the setting is written only at attach or resume */
                return known->verdict != VERDICT_APPLIED || !known->read.known ||
                       known->read.number != s->before.value.number;
        case VERDICT_UNVERIFIABLE:
                return known->verdict != VERDICT_UNVERIFIABLE || (s->lost && known->sent.known);
        case VERDICT_ADJUSTED:
                return known->verdict != VERDICT_ADJUSTED;
        case VERDICT_DRIFTED:
                return known->verdict != VERDICT_DRIFTED || !s->setting ||
                       !streq_ptr(known->actual, value_format(&s->setting->range, &s->before.value, now));
        case VERDICT_DEFERRED:
                return work & WORK_RETRY;
        default:
                return true;
        }
}
