/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is known of a drive. Nothing here leads to a visit. */

#include <syslog.h>

#include "clock.h"
#include "device.h"
#include "kernel-view.h"
#include "record.h"
#include "state.h"
#include "target.h"

/* Whoever has filled /run up is at it for a while. */
#define SAVE_AGAIN_USEC (60ULL * 1000 * 1000)

void target_save(Target *t) {
        int r;

        t->record->state = t->record->waiting_kind != WAIT_NOTHING ? DRIVE_WAITING
                           : !t->visit.job                         ? DRIVE_IDLE
                           : target_has_worker(t)                  ? DRIVE_VISITING
                                                                   : DRIVE_QUEUED;

        t->record->slept = slept_usec();
        r = state_write(STATE_DIR, t->record);
        if (r < 0 && t->save_again == 0)
                journal_log(LOG_WARNING,
                            "%s is looked after, but 'drivekeep status' does not know of it until " STATE_DIR
                            " can be written: %s",
                            t->drive->name, strerror(-r));

        if (r >= 0 && t->new_verdicts) {
                state_tell(STATE_DIR, STATE_VERDICTS);
                t->new_verdicts = false;
        }
        t->save_again = r < 0 ? monotonic_usec() + SAVE_AGAIN_USEC : 0;
        t->env->changed(t->env->userdata, t);
}

int target_note_step(Target *t, const Step *s) {
        const SettingRecord *known = drive_record_find(t->record, s->wish->name);

        t->new_verdicts = t->new_verdicts || !known || known->verdict != s->verdict;
        return drive_record_step(t->record, s, now_usec());
}

void target_count(const Target *t, char **tally, const char *word) {
        if (tally_add(tally, word) < 0)
                journal_log(LOG_ERR, "Out of memory for the record of %s", t->drive->name);
}

bool target_wants_identity(const Target *t) {
        const Config *c = t->files->config;

        if (t->record->bridge.asked || !drive_is_behind_bridge(t->drive))
                return false;

        for (size_t i = 0; i < c->n_blocks; i++)
                if (match_asks_identity(&c->blocks[i].match))
                        return true;
        return false;
}

bool target_finds_news(const Target *t, VisitWork work, const Step *s) {
        const SettingRecord *known = drive_record_find(t->record, s->wish->name);
        char now[VALUE_TEXT_MAX];

        if (!known || s->written || s->failed)
                return true;

        switch (s->verdict) {
        case VERDICT_UNCHANGED:
                return !verdict_is_wanted(known->verdict) ||
                       (known->read.known && known->read.number != s->before.value.number);
        case VERDICT_APPLIED: /* done at attach */
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

/* ---- the counters of the kernel ---- */

bool target_look(Target *t) {
        bool resumed = t->suspended, more;
        uint64_t used;

        t->suspended = activity_is_suspended(t->drive->syspath);
        if (t->suspended)
                return false;
        /* The kernel may have resumed the drive for a command, which it does not count. */
        if (activity_read(t->drive->syspath, &used) < 0)
                return resumed;

        more = used != t->record->used || resumed;
        /* Whoever used it had the kernel reset it. */
        t->record->ata_sleep = drive_record_in_ata_sleep(t->record, &used);
        t->record->used = used;
        t->record->used_when = monotonic_usec();
        return more;
}

void target_note_counters(Target *t) {
        bool ata_sleep = t->record->ata_sleep, suspended = t->suspended;

        (void) target_look(t);
        t->record->ata_sleep = ata_sleep;
        /* Resumed during the visit, which had deferred something before: the next poll notices that. */
        t->suspended = t->suspended || suspended;
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

/* ---- what was lost, or is doubted ---- */

void target_count_disturbance(Target *t) {
        uint64_t now = monotonic_usec();

        if (t->n_disturbances == 0 || now >= t->disturbed_since + DISTURBANCES_USEC) {
                t->disturbed_since = now;
                t->n_disturbances = 0;
        }
        t->n_disturbances = MIN(t->n_disturbances + 1, DISTURBANCES);
}
