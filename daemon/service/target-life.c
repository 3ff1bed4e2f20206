/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clock.h"
#include "kernel-view.h"
#include "state-file.h"
#include "target-life.h"
#include "target-visit.h"
#include "target-wishes.h"

/* ---- parts ---- */

static size_t count_parts(const TargetEnv *env) {
        size_t n = 0;

        while (env->parts[n])
                n++;
        return n;
}

int target_attach_parts(Target *t, bool again) {
        int r = 0;

        FOREACH_PART(part, t)
        if ((*part)->attach && r >= 0)
                r = (*part)->attach(t, again);
        return r;
}

/* ---- attach ---- */

static Target *target_allocate(const TargetEnv *env) {
        size_t n = count_parts(env);
        Target *t;

        t = calloc(1, sizeof *t + n * sizeof *t->parts);
        if (!t)
                return NULL;

        t->env = env;
        t->files = files_ref(env->files);
        for (size_t i = 0; i < n; i++) {
                t->parts[i] = calloc(1, MAX(env->parts[i]->size, 1U));
                if (!t->parts[i])
                        return target_free(t);
        }
        return t;
}

int target_adopt(Target *t, Drive *drive) {
        int r;

        (void) drive_free(t->drive);
        t->drive = drive;
        r = drive_record_reveal(t->record, drive);
        return r < 0 ? r : drive_record_set_identity(t->record, drive, t->env->boot_id);
}

int target_new(const TargetEnv *env, Drive *drive, Target **ret) {
        Target *t;
        int r;

        t = target_allocate(env);
        if (!t)
                return -ENOMEM;

        if (state_read(STATE_DIR, drive->name, &t->record) < 0 ||
            !drive_record_continues(t->record, drive, env->boot_id)) {
                (void) drive_record_free(t->record);
                t->record = calloc(1, sizeof *t->record);
        } else
                drive_record_begin_run(t->record);

        r = t->record ? target_adopt(t, drive) : -ENOMEM;
        if (r >= 0)
                r = target_attach_parts(t, false);
        if (r >= 0)
                r = target_find_wishes(t, &t->wishes);
        if (r < 0) {
                t->drive = NULL;
                (void) target_free(t);
                return r;
        }

        /* Treats all settings as lost if the link was reset or the machine was suspended while no service ran. */
        if (link_last_event(drive->syspath, &t->record->link_since) != LINK_UNCHANGED)
                drive_record_forget(t->record, env->settings);
        if (suspended_usec() > t->record->suspended_usec + SUSPENDED_JITTER_USEC)
                drive_record_resume(t->record, env->settings);

        *ret = t;
        return 0;
}

Target *target_free(Target *t) {
        if (!t)
                return NULL;

        for (size_t i = count_parts(t->env); i-- > 0;) {
                if (t->env->parts[i]->done && t->parts[i])
                        t->env->parts[i]->done(t);
                free(t->parts[i]);
        }
        target_visit_free(t);
        wishes_done(&t->wishes);
        (void) files_unref(t->files);
        (void) drive_record_free(t->record);
        (void) drive_free(t->drive);
        (void) drive_free(t->update.drive);
        free(t);
        return NULL;
}

/* ---- detach ---- */

void target_detach(Target *t) {
        target_abandon(t);
        t->pending = (Pending){};
        for (size_t i = count_parts(t->env); i-- > 0;)
                if (t->env->parts[i]->detach)
                        t->env->parts[i]->detach(t);
}
