/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fnmatch.h>
#include <sys/stat.h>
#include <syslog.h>

#include "debian-rule.h"
#include "target-trigger.h"
#include "timer.h"

#define RULES "85-hdparm.rules"
/* Delay before the check, so that several disks that are attached together lead to one check. */
#define TOGETHER_USEC (2ULL * 1000 * 1000)

/* Returns true if Debian's rule matches the disk. The rule's script writes only to disks that the rule matches. */
static bool is_affected(const char *name) {
        return fnmatch("[hs]d[a-z]", name, 0) == 0;
}

static bool is_installed(void) {
        struct stat st;

        /* A rule is masked by an empty file or a link to /dev/null (udev(7)). */
        if (stat("/etc/udev/rules.d/" RULES, &st) == 0 && st.st_size == 0)
                return false;

        /* This path also works with merged /usr, where /lib is a link to /usr/lib. */
        return access("/lib/udev/rules.d/" RULES, F_OK) == 0;
}

static int on_timer(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        DebianRule *d = userdata;

        for (Target *t = manager_first(d->manager); t; t = t->next)
                if (is_affected(t->drive->name))
                        target_changed_by_other(t);
        return 0;
}

void debian_rule_attached(DebianRule *d, const char *name) {
        int r;

        if (!is_affected(name) || !is_installed())
                return;
        r = timer_start(d->event, &d->timer, TOGETHER_USEC, TOGETHER_USEC / 10, on_timer, d);
        if (r < 0)
                journal_log(LOG_WARNING,
                            "Failed to start a timer: %s; changes by Debian's " RULES
                            " are detected only at the next visit.",
                            strerror(-r));
}

void debian_rule_done(DebianRule *d) {
        sd_event_source_disable_unref(d->timer);
}
