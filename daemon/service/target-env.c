/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <syslog.h>

#include "machine.h"
#include "readers.h"
#include "settings.h"
#include "target-active.h"
#include "target-controller.h"
#include "target-env.h"
#include "target-guard.h"
#include "target-keep-active.h"
#include "target-temporary.h"
#include "target-life.h"
#include "target-power.h"
#include "target-rewrite.h"
#include "target-spin-down.h"
#include "target-together.h"
#include "target-trace.h"
#include "target-use.h"

/* The order matters. trace_part must log a spin-up before together_part spins up other drives. active_part must follow trace_part, which
 * has the tracer's data, and spindown_part, which decides whether the service spins the drive down. guard_part must be attached first and
 * freed last, since it stores data of other parts across boots. */
static const TargetPart *const parts[] = {
        &guard_part, &controller_part, &temporary_part,   &power_part,   &trace_part,   &spindown_part, &active_part,
        &use_part,   &together_part,   &keep_active_part, &rewrite_part, &readers_part, NULL,
};

int target_env_init(TargetEnv *e) {
        sd_id128_t boot;
        int r;

        e->parts = parts;
        e->settings = &all_settings;
        e->forbidden_by = kernel_command_line_forbids(KERNEL_LINE);
        if (e->forbidden_by)
                journal_log(LOG_WARNING,
                            "The kernel command line has %s: no setting is written to any drive in this boot.",
                            e->forbidden_by);

        r = sd_id128_get_boot(&boot);
        if (r < 0)
                return r;
        (void) sd_id128_to_string(boot, e->boot_id);

        r = guard_new(e->event, GUARD_DIR, e->boot_id, e->settings, target_guard_stored, &e->guard);
        if (r >= 0)
                r = fsck_wait_new(e->event, e->broker, &e->fsck_wait);
        return r < 0 ? r : tracer_new(e->event, TRACER_SOCKET, &target_tracer_events, e, &e->tracer);
}

void target_env_done(TargetEnv *e) {
        while (e->drives) {
                Target *t = e->drives;

                e->drives = t->next;
                (void) target_free(t);
        }
        (void) tracer_free(e->tracer);
        (void) fsck_wait_free(e->fsck_wait);
        (void) guard_free(e->guard);
        (void) files_unref(e->files);
}
