/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-id128.h>

#include "bus.h"
#include "inventory.h"
#include "manager.h"
#include "monitor.h"
#include "settings.h"
#include "stack.h"
#include "state.h"

/* Enough to hide the latency of many drives; few enough that a machine with a thousand does not fork itself to death. */
#define WORKERS_MAX 16U

/* Slow drives need ten seconds to spin up. */
#define RULES_CHECK_USEC (30ULL * 1000 * 1000)

struct Manager {
        WatchedEnv env;
        Config *config;
        Gate *gate;
        Monitor *monitor;
        Bus *bus;
        Watched *drives;
        Watched *leaving; /* unplugged, with a worker still at them */
        sd_event_source *scan, *status, *schedule, *rules_check;
        char boot_id[SD_ID128_STRING_MAX];
};

static const char *const config_roots[] = { "/etc", "/run", "/usr/lib", NULL };

/* ---- the list ---- */

Watched *manager_first(Manager *m) {
        return m->drives;
}

Watched *manager_find(Manager *m, const char *name) {
        for (Watched *w = m->drives; w; w = w->next)
                if (streq(w->drive->name, name))
                        return w;
        return NULL;
}

static void list_remove(Watched **list, Watched *w) {
        for (; *list; list = &(*list)->next)
                if (*list == w) {
                        *list = w->next;
                        w->next = NULL;
                        return;
                }
}

/* ---- visits ---- */

/* Called when the loop has nothing more urgent: many drives change at once, and one line tells of all. */
static int on_status(sd_event_source *source, void *userdata) {
        Manager *m = userdata;
        unsigned n_verdicts[_VERDICT_MAX] = {}, n_drives = 0, n_kept = 0, n_visits = 0;
        char rest[256] = "";
        size_t n = 0;

        (void) sd_event_source_set_enabled(source, SD_EVENT_OFF);

        for (Watched *w = m->drives; w; w = w->next) {
                n_drives++;
                n_visits += !!w->visitor;
                for (size_t i = 0; i < w->record->n_settings; i++)
                        if (w->record->settings[i].verdict >= 0)
                                n_verdicts[w->record->settings[i].verdict]++;
        }

        for (Verdict v = 0; v < _VERDICT_MAX; v++)
                if (verdict_is_wanted(v))
                        n_kept += n_verdicts[v];
                else if (n_verdicts[v] > 0)
                        n += snprintf(rest + n, sizeof rest - n, ", %u %s", n_verdicts[v], verdict_to_string(v));
        if (n_visits > 0)
                (void) snprintf(rest + n, sizeof rest - n, "; %u being visited", n_visits);

        (void) sd_notifyf(false, "STATUS=%u drive%s, %u setting%s kept%s", n_drives, n_drives == 1 ? "" : "s", n_kept,
                          n_kept == 1 ? "" : "s", rest);
        return 0;
}

static void manager_changed(Manager *m) {
        (void) sd_event_source_set_enabled(m->status, SD_EVENT_ONESHOT);
}

/* A worker at the gate sends nothing, so it takes no place. */
static unsigned count_busy(const Manager *m) {
        unsigned n = 0;

        for (const Watched *w = m->drives; w; w = w->next)
                n += w->visitor && visitor_is_busy(w->visitor);
        return n;
}

static int on_schedule(sd_event_source *source, void *userdata) {
        Manager *m = userdata;
        unsigned busy = count_busy(m);

        (void) sd_event_source_set_enabled(source, SD_EVENT_OFF);

        for (Watched *w = m->drives; w && busy < WORKERS_MAX; w = w->next) {
                int r;

                if (!w->ready)
                        continue;

                r = watched_work(w);
                if (r < 0) {
                        journal_log(LOG_ERR, "No worker process for %s, trying again at its next event: %s",
                                    w->drive->name, strerror(-r));
                        w->visitor = visitor_free(w->visitor);
                } else
                        busy++;
        }

        return 0;
}

static void on_wants_worker(void *userdata, Watched *w _unused_) {
        Manager *m = userdata;

        (void) sd_event_source_set_enabled(m->schedule, SD_EVENT_ONESHOT);
}

static void on_rested(void *userdata, Watched *w) {
        Manager *m = userdata;

        (void) sd_event_source_set_enabled(m->schedule, SD_EVENT_ONESHOT);
        manager_changed(m);
        if (m->bus)
                bus_drive_rested(m->bus, w);

        if (w->gone && !w->visitor) {
                list_remove(&m->leaving, w);
                (void) watched_free(w);
        }
}

void manager_visit(Manager *m, Watched *w, VisitReason reason) {
        int r;

        r = watched_visit(w, reason);
        if (r < 0)
                journal_log(LOG_ERR, "%s cannot be visited: %s", w->drive->name, strerror(-r));
        manager_changed(m);
}

/* ---- drives come and go ---- */

static void manager_remove(Manager *m, Watched *w) {
        list_remove(&m->drives, w);
        (void) state_remove(STATE_DIR, w->drive->name);
        w->gone = true;
        manager_changed(m);
        if (m->bus)
                bus_drive_rested(m->bus, w);

        /* Its worker finds out by itself, and still has something to tell. */
        if (w->visitor && visitor_has_worker(w->visitor)) {
                w->next = m->leaving;
                m->leaving = w;
        } else
                (void) watched_free(w);
}

/* Returns the new one; NULL when it was known already, or there is no memory for it. */
static Watched *manager_add(Manager *m, Drive *drive) {
        Watched *w, **end;
        int r;

        w = manager_find(m, drive->name);
        if (w && drive_same(w->drive, drive)) {
                r = watched_update(w, drive);
                if (r < 0)
                        journal_log(LOG_ERR, "%s cannot be updated: %s", w->drive->name, strerror(-r));
                manager_changed(m);
                return NULL;
        }
        /* Another drive has taken over the name. */
        if (w)
                manager_remove(m, w);

        r = watched_new(&m->env, drive, &w);
        if (r < 0) {
                journal_log(LOG_ERR, "%s cannot be looked after: %s", drive->name, strerror(-r));
                (void) drive_free(drive);
                return NULL;
        }

        for (end = &m->drives; *end; end = &(*end)->next)
                ;
        *end = w;
        return w;
}

static void on_drive(void *userdata, Drive *drive) {
        Manager *m = userdata;
        Watched *w;

        w = manager_add(m, drive);
        if (w)
                manager_visit(m, w, VISIT_ATTACH);
        gate_poke(m->gate);
}

static void on_removed(void *userdata, const char *name) {
        Manager *m = userdata;
        Watched *w;

        w = manager_find(m, name);
        if (w)
                manager_remove(m, w);
        gate_poke(m->gate);
}

/* The links of a partition or of something stacked are links of the drives below: match them again. */
static void on_other(void *userdata, const char *name, bool removed) {
        Manager *m = userdata;
        _cleanup_(names_freep) char **disks = NULL;

        gate_poke(m->gate);

        if (removed || stack_disks_below(INVENTORY_CLASSDIR, name, &disks) < 0)
                return;

        for (char **n = disks; n && *n; n++) {
                Watched *w = manager_find(m, *n);
                Drive *drive;

                if (w && !streq(*n, name) && inventory_drive_by_name(*n, &drive) >= 0)
                        (void) manager_add(m, drive);
        }
}

static bool keep_state(void *userdata, const char *name) {
        return manager_find(userdata, name);
}

/* Returns by ret_new how many drives were not known before; they are visited for `reason`. */
static int manager_enumerate(Manager *m, VisitReason reason) {
        _cleanup_(inventory_done) Inventory i = {};
        Watched *next;
        int r;

        r = inventory_read(&i);
        if (r < 0)
                return r;

        for (Watched *w = m->drives; w; w = next) {
                bool there = false;

                next = w->next;
                for (size_t k = 0; k < i.n_drives && !there; k++)
                        there = streq(i.drives[k]->name, w->drive->name);
                if (!there)
                        manager_remove(m, w);
        }

        for (size_t k = 0; k < i.n_drives; k++) {
                Watched *w = manager_add(m, TAKE_PTR(i.drives[k]));

                if (w)
                        manager_visit(m, w, reason);
        }

        return 0;
}

static void on_lost(void *userdata) {
        Manager *m = userdata;
        int r;

        journal_log(LOG_NOTICE, "Some events of udev's were lost; looking at all drives anew.");
        r = manager_enumerate(m, VISIT_ATTACH);
        if (r < 0)
                journal_log(LOG_ERR, "The drives cannot be enumerated: %s", strerror(-r));
}

static const MonitorEvents monitor_events = {
        .drive = on_drive,
        .removed = on_removed,
        .other = on_other,
        .lost = on_lost,
};

/* ---- the files ---- */

/* Rules for drives that have not come by then are told of once; while a machine boots drives come late. */
static int on_rules_check(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Manager *m = userdata;

        m->rules_check = sd_event_source_disable_unref(m->rules_check);

        for (size_t b = 0; b < m->config->n_blocks; b++) {
                const Block *block = m->config->blocks + b;
                bool fits = false;

                for (const Watched *w = m->drives; w && !fits; w = w->next)
                        fits = match_drive(&block->match, w->drive, NULL);
                if (!fits)
                        journal_log(LOG_NOTICE, "%s:%u:%u: notice: no drive that is present fits this rule",
                                    block->file, block->line, block->column);
        }

        return 0;
}

static int manager_load(Manager *m) {
        int r;

        r = config_new(&m->config);
        if (r >= 0)
                r = config_load(m->config, &all_settings, config_roots);
        if (r >= 0)
                r = complaints_sort(&m->config->complaints);
        if (r < 0)
                return r;

        for (size_t k = 0; k < m->config->complaints.n_items; k++)
                journal_complaint(m->config->complaints.items + k);

        m->env.config = m->config;
        return 0;
}

/* ---- start and end ---- */

static int on_scan(sd_event_source *source _unused_, void *userdata) {
        Manager *m = userdata;
        size_t n = 0;
        int r;

        m->scan = sd_event_source_disable_unref(m->scan);
        r = manager_enumerate(m, VISIT_BOOT);
        if (r < 0)
                return r;

        (void) state_prune(STATE_DIR, keep_state, m);

        for (Watched *w = m->drives; w; w = w->next)
                n++;
        journal_started(n, m->config->n_blocks);
        return 0;
}

static int add_source(sd_event *event, sd_event_source **ret, sd_event_handler_t handler, int64_t priority,
                      Manager *m) {
        int r;

        r = sd_event_add_defer(event, ret, handler, m);
        if (r >= 0)
                r = sd_event_source_set_priority(*ret, priority);
        if (r >= 0)
                r = sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
        return r;
}

int manager_new(sd_event *event, Manager **ret) {
        _cleanup_(manager_freep) Manager *m = NULL;
        sd_id128_t boot;
        int r;

        m = calloc(1, sizeof *m);
        if (!m)
                return -ENOMEM;

        r = sd_id128_get_boot(&boot);
        if (r < 0)
                return r;
        (void) sd_id128_to_string(boot, m->boot_id);

        (void) mkdir("/run/drivekeep", 0755);
        if (mkdir(STATE_DIR, 0755) < 0 && errno != EEXIST)
                journal_log(LOG_WARNING, STATE_DIR " cannot be made, ignoring: %s", strerror(errno));

        m->env = (WatchedEnv){
                .event = event,
                .settings = &all_settings,
                .state_dir = STATE_DIR,
                .boot_id = m->boot_id,
                .wants_worker = on_wants_worker,
                .rested = on_rested,
                .userdata = m,
        };

        /* What udev says from now on waits in its socket until everything that is there already is known. */
        r = monitor_new(event, &monitor_events, m, &m->monitor);
        if (r >= 0)
                r = gate_new(event, &m->gate);
        if (r >= 0)
                r = manager_load(m);
        if (r >= 0)
                r = add_source(event, &m->schedule, on_schedule, SD_EVENT_PRIORITY_NORMAL, m);
        if (r >= 0)
                r = add_source(event, &m->status, on_status, SD_EVENT_PRIORITY_IDLE, m);
        if (r >= 0)
                r = add_source(event, &m->scan, on_scan, SD_EVENT_PRIORITY_IMPORTANT, m);
        if (r >= 0)
                r = sd_event_add_time_relative(event, &m->rules_check, CLOCK_MONOTONIC, RULES_CHECK_USEC, 0,
                                               on_rules_check, m);
        if (r < 0)
                return r;

        m->env.gate = m->gate;
        (void) sd_event_source_set_enabled(m->scan, SD_EVENT_ONESHOT);
        manager_changed(m);

        /* Without a bus nobody can ask for anything; all else works. */
        r = bus_new(event, m, &m->bus);
        if (r < 0)
                journal_log(LOG_NOTICE, "No system bus, so 'drivekeep apply' cannot be heard: %s", strerror(-r));

        *ret = TAKE_PTR(m);
        return 0;
}

Manager *manager_free(Manager *m) {
        if (!m)
                return NULL;

        (void) bus_free(m->bus);
        while (m->drives) {
                Watched *w = m->drives;

                m->drives = w->next;
                (void) watched_free(w);
        }
        while (m->leaving) {
                Watched *w = m->leaving;

                m->leaving = w->next;
                (void) watched_free(w);
        }
        (void) monitor_free(m->monitor);
        (void) gate_free(m->gate);
        (void) config_free(m->config);
        sd_event_source_disable_unref(m->scan);
        sd_event_source_disable_unref(m->status);
        sd_event_source_disable_unref(m->schedule);
        sd_event_source_disable_unref(m->rules_check);
        free(m);
        return NULL;
}
