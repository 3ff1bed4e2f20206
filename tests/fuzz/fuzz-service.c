/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Fuzzes the state machine of the service as a whole. The input is a list of steps: one byte selects the event, and further bytes give its
 * details. After each step the service must satisfy the invariants of MUST(). After the last step the service must become idle. With
 * DRIVEKEEP_FUZZ_STEPS in the environment each step is printed, for example with: DRIVEKEEP_FUZZ_STEPS=1
 * build-tests/fuzz/tests/fuzz/fuzz-service FILE */

#include "link-watch.h"
#include "recheck.h"
#include "service-worker.h"
#include "target-temporary.h"
#include "target-guard.h"
#include "target-decide.h"
#include "target-trigger.h"

/* ---- the input ---- */

static struct {
        const uint8_t *bytes;
        size_t n;
        unsigned depth; /* nesting depth of steps; a step may run while another step is in progress */
} input;
static unsigned long n_steps; /* number of steps in all inputs */

static bool input_left(void) {
        return input.n > 0;
}

static uint8_t take(void) {
        if (input.n == 0)
                return 0;
        input.n--;
        return *input.bytes++;
}

static Disk *take_disk(void) {
        return disks + take() % ELEMENTSOF(disks);
}

/* ---- the service ---- */

static sd_event *event;
static Manager *manager;
static LinkWatch *links;
static Recheck *recheck;
static Files *files;
static bool on_battery, paused, ended;

static void on_visit_finished(_unused_ void *userdata, const Target *t) {
        recheck_visit_finished(recheck, t);
}

static void on_quiet(_unused_ void *userdata) {
        MUST(paused, "the service reports quiet without a pause");
}

static void on_writing(_unused_ void *userdata) {
        MUST(!paused, "a worker starts while the service is paused");
}

static const ManagerEvents manager_events = {
        .writing = on_writing,
        .visit_finished = on_visit_finished,
        .quiet = on_quiet,
};

/* Most values occur in one configuration only, so that a value identifies its configuration. */
static const char *const configurations[] = {
        "drives = ( { match = {}; read_ahead_kb = 256; lookahead = true; },"
        "           { match = { transport = \"sata\"; }; apm = 100; spindown_time = \"20min\"; spindown_by = \"service\"; } );",
        "drives = ( { match = {}; read_ahead_kb = 512; apm = 127; on_battery = { apm = 1; }; },"
        "           { match = { serial = \"*sdc*\"; }; lookahead = true; spindown_time = \"5min\"; } );",
        "wake_log = true; recheck = \"1h\"; on_drift = \"restore\";"
        "drives = ( { match = {}; spindown_time = \"1min\"; wake_together = true; commands_are_use = true; wake = true;"
        "             spindown_by = \"service\"; read_ahead_kb = 1024; apm = 128; lookahead = true; } );",
        "fsck_wait = \"5s\"; spin_up_at_once = 1;"
        "drives = ( { match = {}; queue_write_cache = \"write back\"; allow_dangerous = true; apm = 129; write_cache = true;"
        "             spindown_time = \"30s\"; wake_together = true; spindown_by = \"service\"; timeout = \"60s\"; },"
        "           { match = \"/dev/nvme0n1\"; write_cache = false; } );",
        "drives = ( { match = {}; queue_write_cache = \"write through\"; allow_dangerous = true; write_cache = false; lookahead = false; } );",
        "wake_log = true; recheck = \"30min\"; spin_up_at_once = 2;"
        "drives = ( { match = \"/dev/md0\"; standby = true; apm = 130; read_ahead_kb = 2048; spindown_time = \"10min\"; wake_together = true; } );",
        "drives = ( );",
};

static Files *files_of(const char *text) {
        Files *f = calloc(1, sizeof *f);

        if (!f || config_new(&f->config) < 0 || config_parse(f->config, &all_settings, "f", text, strlen(text)) < 0)
                abort();
        MUST(f->config->complaints.n_errors == 0, "a built-in configuration has errors");
        f->n_ref = 1;
        return f;
}

static void service_start(void) {
        if (sd_event_new(&event) < 0 || manager_new(event, NULL, files, &manager_events, NULL, &manager) < 0 ||
            recheck_new(event, manager, false, &recheck) < 0 || link_watch_new(event, manager, -EBADF, &links) < 0)
                abort();
        paused = ended = false;
        manager_reconfigure(manager, NULL, on_battery, VISIT_BOOT);
        recheck_every(recheck, files->config->recheck_ms * 1000);
        if (manager_enumerate(manager, VISIT_BOOT) < 0)
                abort();
}

static bool has_temporary(const Disk *d) {
        char line[64];

        (void) snprintf(line, sizeof line, "\nDRIVE=%s ", d->name);
        for (size_t i = 0; i < run_files.n_files; i++)
                if (starts_with(run_files.files[i].name, TEMPORARY_PREFIX) && run_files.files[i].text &&
                    strstr(run_files.files[i].text, line))
                        return true;
        return false;
}

/* Ends the service. `orderly`: true for SIGTERM, false for a kill. */
static void service_stop(bool orderly) {
        if (orderly)
                manager_finish(manager, now.monotonic + SECOND);
        links = link_watch_free(links);
        recheck = recheck_free(recheck);
        manager = manager_free(manager);
        event = sd_event_unref(event);
        notes.source = NULL;
        FOREACH_DISK(d) {
                if (!has_temporary(d))
                        d->n_temporary = d->n_until_boot = 0;
        }
}

/* ---- invariants ---- */

static const struct {
        const char *setting, *value, *before;
} tries[] = {
        { "lookahead", "off", "on" },
        { "read_ahead_kb", "8KiB", "16KiB" },
        { "apm", "77", "78" },
};

static bool is_value(const Setting *s, const char *text, const Value *v) {
        Value value;

        return value_parse(&s->range, text, &value) == 0 && value_equal(&value, v);
}

/* Returns true if the wanted value is a temporary value of a client, or the value that is restored when the temporary value ends. */
static bool is_temporary(const Disk *d, const Target *t, const Wish *w) {
        const Setting *s = setting_find(&all_settings, w->name);

        for (size_t i = 0; s && i < ELEMENTSOF(tries); i++)
                if (d->n_until_boot & 1U << i && streq(w->name, tries[i].setting))
                        return is_value(s, tries[i].before, &w->value) || is_value(s, tries[i].value, &w->value);
                else if (d->n_temporary & 1U << i && streq(w->name, tries[i].setting))
                        return is_value(s, target_temporary_returns(t) ? tries[i].before : tries[i].value, &w->value);
        return false;
}

static bool same_wish(const Wish *a, const Wish *b) {
        return value_equal(&a->value, &b->value) && a->withheld == b->withheld &&
               a->allow_dangerous == b->allow_dangerous && a->permanent == b->permanent && a->wake == b->wake;
}

static bool any_spins_down(const Target *t) {
        return target_spin_down(t).wish;
}

static bool any_wakes_together(void) {
        for (size_t i = 0; i < files->config->n_blocks; i++)
                if (files->config->blocks[i].wake_together)
                        return true;
        return false;
}

static void check_wishes(const Visit *v) {
        const Target *t = manager_find(manager, v->drive->name);
        _cleanup_(wishes_done) Wishes named = {};
        const Disk *d = disk_find(v->drive->name);

        MUST(t, "%s is visited although the service does not manage it", v->drive->name);
        MUST(!(pid1.checked & 1U << (d - disks)) || pid1.silent, "%s is visited during a file system check", d->name);
        if (config_resolve(files->config, t->drive, on_battery, &named) < 0)
                abort();
        MUST(!(v->work & WORK_SPIN_UP) || any_wakes_together(),
             "%s must spin up with others although no rule requests that", d->name);
        for (size_t i = 0; i < v->wishes->n_items; i++) {
                const Wish *w = v->wishes->items + i, *rule = wishes_find(&named, w->name);

                log_step("    %s: worker for %s\n", d->name, w->name);
                if (target_is_about(t, WORK_SPIN_DOWN) && i == v->wishes->n_items - 1 &&
                    streq(w->name, SETTING_STANDBY))
                        MUST(d->standby_requested || any_spins_down(t),
                             "%s is put into standby without a request or rule", d->name);
                else if (w->line == 0)
                        MUST(is_temporary(d, t, w), "%s gets a value of %s that no client set", d->name, w->name);
                else
                        MUST(rule && same_wish(w, rule), "%s gets a value of %s that no rule contains", d->name,
                             w->name);
        }
}

/* Runs the event loop until no event is pending. The clock does not advance. */
static void run(void) {
        unsigned n = 0;
        int r = 0;

        while (!ended && (r = sd_event_run(event, 0)) > 0)
                MUST(++n < 3000, "the event loop does not become idle at this moment");
        ended = ended || r < 0;
}

static void check_times(void) {
        for (const Target *t = manager_first(manager); t && !ended; t = t->next)
                MUST(target_due(t) > now.monotonic, "%s was due %" PRIu64 " µs ago and still is", t->drive->name,
                     now.monotonic - target_due(t));
}

static void settle(void) {
        do
                run();
        while ((!pid1.silent && !ended && pid1_answer(0)) || (!notes.slow && !ended && notes_written()));
        check_times();
        if (!ended)
                return;
        /* The service ended because the broker was unreachable; systemd restarts the service and the broker. */
        log_step("  the service ends\n");
        service_stop(false);
        broker_error = 0;
        service_start();
        settle();
}

/* ---- steps ---- */

static void step_time(void) {
        static const uint64_t times[] = { 10 * MS,      100 * MS,      SECOND,        3 * SECOND,     6 * SECOND,
                                          11 * SECOND,  21 * SECOND,   31 * SECOND,   61 * SECOND,    301 * SECOND,
                                          601 * SECOND, 1300 * SECOND, 3601 * SECOND, 90000 * SECOND, 300000 * SECOND };
        uint64_t usec = times[take() % ELEMENTSOF(times)];

        log_step("%" PRIu64 " ms pass\n", usec / MS);
        pass(usec);
}

/* Advances the clock to the time at which the next target is due. */
static void step_due(void) {
        uint64_t due = UINT64_MAX;

        for (const Target *t = manager_first(manager); t; t = t->next)
                due = MIN(due, target_due(t));
        log_step("until something is due\n");
        if (due != UINT64_MAX && due > now.monotonic)
                pass(due - now.monotonic);
}

static void step_calendar(void) {
        uint8_t b = take();

        log_step("the calendar is set\n");
        now.realtime = b & 1 ? now.realtime + b * 3600 * SECOND : now.realtime - MIN(now.realtime, b * 86400 * SECOND);
}

static void step_worker(void) {
        Worker *w = worker_nth(take() % 4);
        uint8_t how = take();

        if (!w)
                return;
        switch (how % 6) {
        case 0:
                log_step("%s: worker\n", w->disk->name);
                worker_visit(w, 0, how / 6);
                break;
        case 1:
                log_step("%s: worker, which dies after %d messages\n", w->disk->name, how / 6 + 1);
                worker_visit(w, how / 6 + 1, 0);
                break;
        case 2:
                log_step("%s: the worker dies at once\n", w->disk->name);
                worker_done(w);
                break;
        case 3:
                log_step("%s: the worker sends random messages\n", w->disk->name);
                w->hostile = true;
                for (unsigned i = 0; i < how / 6 % 8U + 1; i++)
                        worker_says_anything(w);
                break;
        case 4:
                log_step("%s: the worker sends a message twice\n", w->disk->name);
                w->hostile = true;
                for (unsigned i = 0; i < 100; i++) {
                        uint8_t message[WORKER_MESSAGE_MAX_BYTES];
                        WorkerMessage m = { .type = how / 6 % _MESSAGE_MAX };

                        (void) send(w->fd, message, worker_message_write(&m, message), MSG_NOSIGNAL | MSG_DONTWAIT);
                        run();
                }
                break;
        default:
                log_step("%s: the worker hangs for 21 s\n", w->disk->name);
                pass(21 * SECOND);
        }
}

static void step_workers(void) {
        log_step("all workers\n");
        (void) workers_visit();
}

static void plug(Disk *d) {
        if (manager)
                manager_plugged(manager, (struct udev_device *) d);
}

static void step_udev(void) {
        Disk *d = take_disk();

        last_event++;
        switch (take() % 5) {
        case 0:
                log_step("%s: plugged in\n", d->name);
                if (!d->present) {
                        d->present = true;
                        d->diskseq = ++last_diskseq;
                        d->model = MODEL_DRIVE_COLD;
                        d->used = 1;
                        d->commands = 0;
                        d->standby = d->suspended = d->standby_requested = d->uncounted = d->unreadable = d->in_flight =
                                        false;
                        d->last_use = 0;
                        d->health = 1;
                }
                plug(d);
                break;
        case 1:
                log_step("%s: changed\n", d->name);
                plug(d);
                break;
        case 2:
                log_step("%s: pulled\n", d->name);
                d->present = false;
                d->n_temporary = 0;
                manager_unplugged(manager, d->name);
                break;
        case 3:
                log_step("%s: exchanged\n", d->name);
                d->present = true;
                d->serial++;
                d->diskseq = ++last_diskseq;
                d->n_temporary = 0;
                d->model = MODEL_DRIVE_COLD;
                d->used = 0;
                d->last_use = 0;
                d->standby_requested = false;
                plug(d);
                break;
        default:
                log_step("%s: unplugged, and the udev event follows later\n", d->name);
                d->present = false;
        }
}

static void step_stack(void) {
        uint8_t b = take();

        log_step("md0: %s\n", b & 1 ? "gone" : "changed");
        manager_stack_changed(manager, "md0", b & 1);
}

static void step_enumerate(void) {
        log_step("udev events were lost\n");
        FOREACH_DISK(d) {
                if (!d->present)
                        d->n_temporary = 0;
        }
        if (manager_enumerate(manager, VISIT_ATTACH) < 0)
                abort();
        manager_visit_all(manager, VISIT_RESET);
}

static void step_disturbed(void) {
        static const VisitReason reasons[] = { VISIT_RESET, VISIT_REVALIDATION, VISIT_CONTROLLER, VISIT_PARAMETERS };
        const Disk *d = take_disk();
        uint8_t b = take();
        VisitReason reason = reasons[b % ELEMENTSOF(reasons)];
        char path[PATH_MAX];

        log_step("%s: %s\n", d->name, visit_reason_to_string(reason));
        (void) snprintf(path, sizeof path, "/sys/devices/%s", b & 128 ? "pci0" : d->path);
        if (reason == VISIT_PARAMETERS) {
                Target *t = manager_find(manager, d->name);

                if (t)
                        target_changed_by_other(t);
        } else
                manager_disturbed(manager, path, reason, b & 64 ? 0 : last_event + !(b & 32));
        last_event++;
}

static void step_reload(void) {
        uint8_t b = take() % ELEMENTSOF(configurations);

        log_step("reload: configuration %u\n", b);
        (void) files_unref(files);
        files = files_of(configurations[b]);
        manager_reconfigure(manager, files, on_battery, VISIT_RELOAD);
        recheck_every(recheck, files->config->recheck_ms * 1000);
}

static void step_battery(void) {
        on_battery = !on_battery;
        log_step("on %s\n", on_battery ? "battery" : "mains");
        manager_reconfigure(manager, NULL, on_battery, VISIT_POWER);
}

static void step_request(void) {
        Disk *d = take_disk();
        Target *t = manager_find(manager, d->name);

        if (!t)
                return;
        switch (take() % 5) {
        case 0:
                log_step("%s: apply\n", d->name);
                target_visit(t, VISIT_REQUEST);
                break;
        case 1:
                log_step("%s: apply --permanent\n", d->name);
                target_visit(t, VISIT_PERMANENT);
                break;
        case 2:
                log_step("%s: status --now\n", d->name);
                target_read(t);
                break;
        case 3:
                log_step("%s: sleep\n", d->name);
                d->standby_requested = true;
                target_visit(t, VISIT_SPIN_DOWN);
                break;
        default:
                log_step("%s: release\n", d->name);
                (void) target_release(t, NULL);
        }
}

static void step_hold_value(void) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        static char holders[2];
        Disk *d = take_disk();
        Target *t = manager_find(manager, d->name);
        uint8_t b = take();
        size_t i = b / 4 % ELEMENTSOF(tries);
        char *const words[] = { (char *) tries[i].setting, (char *) tries[i].value, (char *) tries[i].before, NULL };

        if (!t)
                return;
        if (b / 16 % 4 == 1) {
                log_step("%s: temporary until boot: %s\n", d->name, tries[i].setting);
                FOREACH_DISK(other)
                other->n_until_boot |= 1U << i;
                (void) target_temporary_try(t, words, b & 1, b & 2, &error);
                return;
        }
        if (b / 16 % 4 == 2) {
                log_step("%s: undone: %s\n", d->name, b & 1 ? tries[i].setting : "all");
                (void) target_temporary_undo(t, b & 1 ? tries[i].setting : NULL, &error);
                return;
        }
        if (b & 1) {
                log_step("%s: a client disconnects\n", d->name);
                target_temporary_end(t, (const sd_bus *) (holders + (b / 2 & 1)));
                return;
        }
        log_step("%s: try %s\n", d->name, tries[i].setting);
        d->n_temporary |= 1U << i;
        (void) target_temporary_set(t, (const sd_bus *) (holders + (b / 2 & 1)), tries[i].setting, tries[i].value,
                                    tries[i].before, &error);
}

static void step_hold(void) {
        paused = !paused;
        log_step("the service is %s\n", paused ? "paused" : "resumed");
        manager_pause(manager, paused);
}

static void step_suspend(void) {
        uint8_t b = take();

        log_step("the machine suspends\n");
        now.slept += b * 60 * SECOND;
        now.realtime += b * 60 * SECOND;
        FOREACH_DISK(d) {
                d->model.lookahead = false;
                d->model.apm = 128;
        }
        paused = false;
        manager_pause(manager, false);
        manager_visit_all(manager, VISIT_RESUME);
}

static void step_use(void) {
        Disk *d = take_disk();

        log_step("%s: I/O\n", d->name);
        disk_read(d, take() * 64U + 1);
}

static void step_standby(void) {
        Disk *d = take_disk();
        uint8_t b = take();

        /* A drive with a worker does not enter standby, since the worker may have found the drive active. */
        if (d->transport == TRANSPORT_NVME || d->n_workers > 0)
                return;
        log_step("%s: %s\n", d->name, b & 1 ? "runtime-suspended" : "enters standby");
        d->suspended = b & 1;
        d->standby = true;
}

static void step_counters(void) {
        Disk *d = take_disk();

        switch (take() % 5) {
        case 0:
                log_step("%s: the counters can%s be read\n", d->name, d->unreadable ? "" : "not");
                d->unreadable = !d->unreadable;
                break;
        case 1:
                log_step("%s: the counters %s\n", d->name, d->uncounted ? "count" : "stop counting");
                d->uncounted = !d->uncounted;
                break;
        case 2:
                log_step("%s: the counters go back\n", d->name);
                d->used /= 2;
                d->commands /= 2;
                break;
        case 3:
                log_step("%s: the counter is at its maximum\n", d->name);
                d->used = UINT64_MAX;
                break;
        default:
                log_step("%s: %s\n", d->name, d->in_flight ? "no request under way" : "a request under way");
                d->in_flight = !d->in_flight;
        }
}

static void step_drift(void) {
        Disk *d = take_disk();

        log_step("%s: another program changes its settings\n", d->name);
        if (d->standby || d->suspended)
                return;
        d->model.apm = take();
        d->model.lookahead = !d->model.lookahead;
        attribute_put(d, "queue/read_ahead_kb", "64");
}

static void step_link(void) {
        Disk *d = take_disk();
        uint8_t b = take();

        log_step("%s: link event\n", d->name);
        d->recovering = b & 4;
        d->news = (LinkEvent) (b % 3);
        d->news_at = now.monotonic;
        (void) link_watch_poll(links);
}

static void step_health(void) {
        Disk *d = take_disk();
        static const int healths[] = { 1, 0, -ENODEV };

        d->health = healths[take() % ELEMENTSOF(healths)];
        log_step("%s: health %d\n", d->name, d->health);
}

static void step_pid1(void) {
        uint8_t b = take();

        switch (b % 6) {
        case 0:
                pid1.checked = b / 6;
                log_step("PID 1: checks of %#x\n", pid1.checked);
                break;
        case 1:
                pid1.silent = !pid1.silent;
                log_step("PID 1: %s\n", pid1.silent ? "silent" : "replies");
                break;
        case 2:
                pid1.broken = !pid1.broken;
                log_step("PID 1: %s\n", pid1.broken ? "not reachable" : "reachable");
                break;
        case 3:
                pid1.unsettled = !pid1.unsettled;
                log_step("udev: %s\n", pid1.unsettled ? "busy" : "settled");
                break;
        case 4:
                log_step("PID 1: an error\n");
                (void) pid1_answer(b & 64 ? -ENOMEM : -EIO);
                break;
        default:
                log_step("PID 1: signal\n");
        }
        if (pid1.userdata)
                pid1.news(pid1.userdata);
}

static void step_storage(void) {
        uint8_t b = take();

        switch (b % 6) {
        case 0:
                run_full = !run_full;
                break;
        case 1:
                notes.slow = !notes.slow;
                break;
        case 2:
                notes.error = notes.error ? 0 : ENOSPC;
                break;
        case 3:
                notes.unreadable = !notes.unreadable;
                break;
        case 4:
                notes.no_process = !notes.no_process;
                break;
        default:
                (void) notes_written();
        }
        log_step("storage: run_full %d, slow %d, error %d, unreadable %d, no_process %d\n", run_full, notes.slow,
                 notes.error, notes.unreadable, notes.no_process);
}

static void step_tracer(void) {
        static const uint8_t cdbs[][16] = {
                { 0x28 },                      /* READ(10) */
                { 0x85, [14] = ATA_IDENTIFY }, /* IDENTIFY DEVICE: wakes only some drives */
                { 0x35 },                      /* SYNCHRONIZE CACHE(10): wakes only some drives */
                { 0x4D },                      /* LOG SENSE */
                { 0x85, [14] = ATA_SMART },
                { 0xFF },
        };
        uint8_t message[WIRE_MESSAGE_MAX_BYTES], b = take();
        TracerAnswer a = {};

        while (tracer_fd >= 0 && recv(tracer_fd, message, sizeof message, MSG_DONTWAIT) > 0)
                ;
        a.disk = (WatchDevice){ 8, take() % (ELEMENTSOF(disks) + 1) };
        switch (b % 8) {
        case 0:
                log_step("the tracer disconnects\n");
                closep(&tracer_fd);
                tracer_fd = -EBADF;
                return;
        case 1:
                log_step("the tracer sends random messages\n");
                memset(message, take(), sizeof message);
                (void) send(tracer_fd, message, take() & 1 ? wire_size(tracer_answer_fields) : take(),
                            MSG_NOSIGNAL | MSG_DONTWAIT);
                return;
        case 2:
                no_tracer = !no_tracer;
                return;
        case 3:
                log_step("the tracer watches drive %u\n", a.disk.minor);
                break;
        default:
                a.woken = !(b & 128);
                a.counted = b & 128;
                a.times = b & 64 ? take() : 0;
                a.wake.kind = take() % _WAKE_KIND_MAX;
                a.wake.cdb_len = 16;
                memcpy(a.wake.cdb, cdbs[take() % ELEMENTSOF(cdbs)], 16);
                (void) strcpy(a.wake.process.comm, "cat");
                log_step("the tracer: drive %u is woken\n", a.disk.minor);
                if (b & 64 && a.disk.minor < ELEMENTSOF(disks) && disks[a.disk.minor].n_workers == 0)
                        disk_read(disks + a.disk.minor, 1);
        }
        (void) wire_send(tracer_fd, tracer_answer_fields, &a, MSG_DONTWAIT);
}

static void step_restart(void) {
        uint8_t b = take();

        log_step("the service %s\n", b & 1 ? "is killed" : "ends");
        service_stop(!(b & 1));
        if (b & 2) {
                log_step("the machine reboots\n");
                if (b & 4)
                        notes_reach_storage();
                boot++;
                STORED_DONE(run_files);
                for (Worker *w = workers; w < workers + ELEMENTSOF(workers); w++)
                        if (w->fd >= 0)
                                worker_kill(w);
                FOREACH_DISK(d) {
                        d->model = MODEL_DRIVE_COLD;
                        d->diskseq = (uint64_t) (d - disks) + 1;
                        d->used = 1;
                        d->last_use = 0;
                        d->n_temporary = 0;
                        d->standby_requested = d->standby = d->suspended = false;
                        for (size_t i = 0; i < ELEMENTSOF(attributes); i++)
                                attribute_put(d, attributes[i].path, attributes[i].text);
                }
                now.monotonic = 10 * SECOND;
                now.slept = 0;
                forbidden_by = b & 8 ? "drivekeep=0" : NULL;
        }
        service_start();
}

static void step_broker(void) {
        uint8_t b = take();

        broker_error = broker_error ? 0 : b % 8 == 7 ? -ESHUTDOWN : -EAGAIN;
        log_step("the broker %s workers\n", broker_error ? "starts no" : "starts");
}

/* The order is part of the format of inputs, since a byte selects the step. Random bytes select earlier steps more often. */
static void (*const steps[])(void) = {
        step_workers,  step_time,    step_due,       step_worker,     step_udev,     step_request, step_reload,
        step_use,      step_standby, step_disturbed, step_hold_value, step_pid1,     step_storage, step_tracer,
        step_counters, step_restart, step_battery,   step_suspend,    step_hold,     step_link,    step_drift,
        step_health,   step_broker,  step_stack,     step_enumerate,  step_calendar,
};

/* Clears standby_requested for drives whose spin-down is no longer pending. */
static void forget_requests(void) {
        for (const Target *t = manager_first(manager); t; t = t->next)
                if (!target_is_about(t, WORK_SPIN_DOWN))
                        disk_find(t->drive->name)->standby_requested = false;
}

static void step(void) {
        if (!input_left() || input.depth >= 3)
                return;
        input.depth++;
        n_steps++;
        steps[take() % ELEMENTSOF(steps)]();
        settle();
        forget_requests();
        input.depth--;
}

/* ---- the end ---- */

static void print_steps(void) {
        (void) fprintf(stderr, "fuzz-service: %lu steps\n", n_steps);
}

/* Returns the first drive with pending work, or NULL if there is none. */
static const Target *find_pending(void) {
        const Target *t = manager_first(manager);

        while (t && !t->visit.job && !pending_any(&t->pending) && t->saving.again_at == 0)
                t = t->next;
        return t;
}

/* Checks that the service becomes idle. Called when no simulated failure remains. */
static void become_idle(void) {
        unsigned n = 0, n_calm = 0;

        do {
                const Target *pending;

                settle();
                if (!workers_visit() || n % 8 == 7)
                        pass(31 * SECOND);
                pending = find_pending();
                n_calm = pending ? 0 : n_calm + 1;
                MUST(++n < 400 || !pending, "%s does not become idle: visit %d, pending %#x", pending->drive->name,
                     !!pending->visit.job, pending->pending.work);
        } while (n_calm < 3);
}

/* Returns true if the service sends no commands to the drive. */
static bool gets_no_commands(const Target *t) {
        return forbidden_by || target_guard_excludes(t);
}

static void check_verdicts(void) {
        for (const Target *t = manager_first(manager); t; t = t->next) {
                MUST(!target_temporary_returns(t) || gets_no_commands(t),
                     "%s does not get its previous value back after a temporary value", t->drive->name);
                for (size_t i = 0; i < t->wishes.n_items; i++) {
                        const Wish *w = t->wishes.items + i;
                        const SettingRecord *s = drive_record_find(t->record, w->name);
                        const Disk *d = disk_find(t->drive->name);

                        MUST(s && s->verdict >= 0, "%s of %s has no verdict", w->name, d->name);
                        MUST(s->verdict != VERDICT_DEFERRED || d->standby, "%s of %s stays deferred", w->name, d->name);
                        if (!verdict_is_in_order(s->verdict) || !s->actual || d->transport == TRANSPORT_SAS)
                                continue;
                        if (streq(w->name, "lookahead"))
                                MUST(d->model.lookahead == (bool) w->value.number,
                                     "%s: lookahead does not match its verdict", d->name);
                        else if (streq(w->name, "apm"))
                                MUST(d->model.apm == (int) w->value.number, "%s: apm does not match its verdict",
                                     d->name);
                        else if (streq(w->name, "read_ahead_kb"))
                                MUST(attribute_get(d, "queue/read_ahead_kb") * INT64_C(1024) == w->value.number,
                                     "%s: read_ahead_kb does not match its verdict", d->name);
                }
        }
}

static void check_asleep(void) {
        for (const Target *t = manager_first(manager); t; t = t->next) {
                const Bridge *b = &t->record->bridge;

                if (t->drive->transport == TRANSPORT_NVME || b->fragile || b->without_sat || gets_no_commands(t))
                        continue;
                MUST(disk_find(t->drive->name)->standby, "%s is not put into standby on request", t->drive->name);
        }
}

static void end(void) {
        log_step("no more steps\n");
        for (Worker *w = workers; w < workers + ELEMENTSOF(workers); w++)
                if (w->fd >= 0)
                        worker_done(w);
        pid1.checked = 0;
        pid1.silent = pid1.broken = pid1.unsettled = false;
        notes.slow = notes.unreadable = notes.no_process = false;
        notes.error = broker_error = 0;
        run_full = false;
        FOREACH_DISK(d) {
                d->health = 1;
                d->unreadable = d->uncounted = d->recovering = d->in_flight = false;
                disk_read(d, 1);
        }
        if (manager_enumerate(manager, VISIT_ATTACH) < 0)
                abort();
        if (paused)
                step_hold();
        become_idle();

        log_step("apply\n");
        FOREACH_DISK(d) {
                disk_read(d, 1);
        }
        settle();
        manager_visit_all(manager, VISIT_REQUEST);
        become_idle();
        check_verdicts();

        log_step("sleep\n");
        for (Target *t = manager_first(manager); t; t = t->next) {
                disk_find(t->drive->name)->standby_requested = true;
                target_visit(t, VISIT_SPIN_DOWN);
        }
        become_idle();
        check_asleep();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static bool begun;

        if (!begun) {
                begun = true;
                verbose = getenv("DRIVEKEEP_FUZZ_STEPS");
                clock_keep_alarm();
                sysfs_make();
                (void) atexit(print_steps);
                for (Worker *w = workers; w < workers + ELEMENTSOF(workers); w++)
                        w->fd = -EBADF;
        }

        machine_reset();
        broker_error = 0;
        on_battery = false;
        input = (typeof(input)){ data, size, 0 };
        files = files_of(configurations[take() % ELEMENTSOF(configurations)]);
        service_start();
        settle();
        for (unsigned n = 0; input_left() && n < 100; n++)
                step();
        end();

        service_stop(true);
        files = files_unref(files);
        for (Worker *w = workers; w < workers + ELEMENTSOF(workers); w++)
                if (w->fd >= 0)
                        worker_done(w);
        machine_done();
        return 0;
}
