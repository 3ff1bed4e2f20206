/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep tune`: measures a drive with several values of a setting, in turns, and tells which is best. Only the service sets them, and
 * sets the drive back as soon as this command is gone, however that comes about. */

#include <err.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "choice.h"
#include "clock.h"
#include "known-device.h"
#include "output.h"
#include "settings.h"
#include "stop.h"
#include "tuning.h"
#include "wear-read.h"

#define BLOCK 4096U /* no drive has larger ones */

/* ---- what the drive holds ---- */

/* An NVMe controller may be in a power state of its own choice, and tells the one that was set only behind a read. */
static void end_rest(const Drive *d) {
        _cleanup_close_ int fd = open(d->node, O_RDONLY | O_DIRECT | O_CLOEXEC);
        _cleanup_free_ void *block = must(aligned_alloc(BLOCK, BLOCK));

        /* Anywhere: a drive may have one place in its cache. */
        if (fd >= 0)
                (void) !pread(fd, block, BLOCK, (off_t) (monotonic_usec() % (d->size / BLOCK) * BLOCK));
}

/* In any case device_done() is to follow. */
static int read_row(const Subject *s, const Setting *row, Device *device, Reading *ret) {
        *ret = (Reading){};
        if (row->backend == BACKEND_NVME)
                end_rest(s->drive);
        device_init_known(device, s->drive, records_of(&s->records, s->drive), &s->leave.io);
        return row->read(device, row, ret);
}

static int read_value(const Subject *s, const Setting *row, Value *ret, char **ret_why) {
        Reading reading;
        Device device;
        int r;

        r = read_row(s, row, &device, &reading);
        if (r < 0)
                *ret_why = must(strdup(device.error));
        else if (!reading.supported || !reading.known)
                *ret_why = must(strdup("the drive does not have it, or it cannot be read"));
        device_done(&device);
        if (*ret_why)
                return -ENODATA;
        *ret = reading.value;
        return 0;
}

/* ---- having the service set it ---- */

static int ask(Tuning *t, int r, const sd_bus_error *error) {
        if (r < 0)
                t->status = request_explain(r, error);
        return r < 0 ? -ECANCELED : 0;
}

/* Begun by a call that has changed what is wanted of the drive: returns when the visit for that is over. */
static int wait_for_visit(Tuning *t) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_(strv_freep) char **visited = NULL;
        const Subject *s = t->subject;

        return ask(t, request_visit(s->leave.bus, "Read", (char *const[]){ s->drive->name, NULL }, &visited, &error),
                   &error);
}

/* Returns what says so to tune_run(). */
static int leave_out(Tuning *t, size_t value, const char *verdict, const char *reason) {
        char text[VALUE_TEXT_MAX], *longer;

        /* Later it is one round that lacks it. */
        if (t->tune.n_rounds > 1)
                return 1;
        longer = must_format("%s%s%s: %s%s%s", t->left_out ?: "", t->left_out ? "; " : "",
                             value_format(&t->setting->range, t->values.items + value, text), verdict,
                             reason ? ", " : "", reason ?: "");
        free(t->left_out);
        t->left_out = longer;
        return value == t->values.current ? -EIO : 1;
}

static int hold(Tuning *t, const Setting *row, const Value *value, const Value *before) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        const Subject *s = t->subject;
        char text[VALUE_TEXT_MAX], old[VALUE_TEXT_MAX];
        int r;

        r = sd_bus_call_method(s->leave.bus, DAEMON, "Hold", &error, NULL, "ssss", s->drive->name, setting_state(row),
                               value_format(&row->range, value, text), value_format(&row->range, before, old));
        return ask(t, r, &error);
}

static const Value *present(const Tuning *t) {
        return t->values.items + t->values.current;
}

/* What a change of the setting would reset is held from the beginning. */
static int hold_beside(Tuning *t) {
        int r = 0;

        for (const Beside *b = t->beside; b < t->beside + t->n_beside && r == 0; b++)
                r = hold(t, b->setting, &b->value, &b->value);
        return r;
}

static int set_value(void *userdata, size_t value) {
        Tuning *t = userdata;
        _cleanup_(drive_record_freep) DriveRecord *record = NULL;
        char text[VALUE_TEXT_MAX];
        const SettingRecord *told;
        bool begins = t->held == SIZE_MAX;
        int r;

        if (value == t->held && !t->is_lost)
                return 0;
        t->is_lost = false;

        /* From here on it is to be set back. */
        t->held = value;
        r = begins ? hold_beside(t) : 0;
        if (r == 0)
                r = hold(t, t->setting, t->values.items + value, present(t));
        if (r == 0)
                r = wait_for_visit(t);
        if (r < 0)
                return r;

        (void) value_format(&t->setting->range, t->values.items + value, text);
        (void) must_not_fail(record_read(t->subject->options->state_dir, t->subject->drive->name, &record));
        told = record ? drive_record_find(record, t->tunable->setting) : NULL;
        if (told && streq_ptr(told->wanted, text) && streq_ptr(told->actual, text) && verdict_is_wanted(told->verdict))
                return 0;
        return leave_out(t, value, told ? verdict_to_string(told->verdict) : "nothing is known of it",
                         told ? told->reason : NULL);
}

/* Behind a read, so that the drive is awake. */
static int look_again(void *userdata, KnownNumber *ret_cycles) {
        Tuning *t = userdata;
        const Subject *s = t->subject;
        unsigned asked = drive_backends(s->drive) & (1U << BACKEND_ATA | 1U << BACKEND_SCSI_MODE);
        Reading reading;
        Device device;
        Wear w = {};
        int r;

        r = read_row(s, t->setting, &device, &reading);
        if (asked)
                (void) wear_read(&device, power_backend(asked), &w);
        device_done(&device);

        *ret_cycles = w.load_cycles;
        /* What cannot be read just now may be as it was. */
        t->is_lost = r >= 0 && reading.known && !value_equal(&reading.value, t->values.items + t->held);
        return t->is_lost ? leave_out(t, t->held, "the drive does not keep it", NULL) : 0;
}

/* Has the drive this value again? */
static bool is_back(const Tuning *t, const Setting *row, const Value *before) {
        char then[VALUE_TEXT_MAX], now[VALUE_TEXT_MAX];
        const Subject *s = t->subject;
        _cleanup_free_ char *why = NULL;
        Value value = {};

        if (read_value(s, row, &value, &why) >= 0 && value_equal(&value, before))
                return true;
        warn_escaped("%s of %s is %s, and was %s: drivekeep.service sets it back as soon as it can", setting_state(row),
                     s->drive->name, why ?: value_format(&row->range, &value, now),
                     value_format(&row->range, before, then));
        return false;
}

/* Returns EXIT_WANTED when the drive has again what it had. */
static int set_back(Tuning *t) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        const Subject *s = t->subject;
        bool back;
        int r;

        if (t->held == SIZE_MAX)
                return EXIT_WANTED;
        /* The user may have ended it in a time without use. The drive was awake before, and one that sleeps would be left as it is. */
        if (t->tunable->saves_power)
                end_rest(s->drive);
        r = sd_bus_call_method(s->leave.bus, DAEMON, "LetGo", &error, NULL, "s", s->drive->name);
        /* Where the service is gone that was said already. */
        if (t->status == EXIT_WANTED)
                r = ask(t, r, &error);
        if (r >= 0)
                (void) wait_for_visit(t);

        back = is_back(t, t->setting, present(t));
        for (const Beside *b = t->beside; b < t->beside + t->n_beside; b++)
                back = is_back(t, b->setting, &b->value) && back;
        return back ? EXIT_WANTED : EXIT_NOT_WANTED;
}

/* ---- one setting ---- */

static int tune_setting(Tuning *t, uint64_t budget) {
        Subject *s = t->subject;
        TuneTask task = { .bench = subject_task(s),
                          .goal = t->goal,
                          .cost = t->cost,
                          .ordered = t->tunable->ordered,
                          .n_values = t->values.n_items,
                          .current = t->values.current,
                          .among_others = s->options->force,
                          .set = set_value,
                          .userdata = t };
        uint64_t begun = monotonic_usec();
        int r, back;

        task.bench.budget = budget;
        if (t->tunable->saves_power) {
                task.n_idle = idle_times_fit(budget, t->values.n_items, tuning_wake_seconds(t));
                task.look = look_again;
        }
        r = tune_run(&task, &t->tune);
        back = set_back(t);
        s->spent += monotonic_usec() - begun;
        if (r == -EBUSY)
                t->lacking = must_format("%s is used by others too much; --force has it measured all the same",
                                         s->drive->name);
        else if (r == -EIO)
                t->lacking = must(strdup(t->left_out));
        if (t->lacking) {
                warn_escaped("%s of %s is not measured: %s", t->tunable->setting, s->drive->name, t->lacking);
                return EXIT_BAD_INPUT;
        }
        if (t->status)
                return t->status;
        return r != 0 ? r : back;
}

static void find_beside(Tuning *t) {
        const Subject *s = t->subject;

        for (const char *const *name = t->tunable->resets; name && *name; name++) {
                const Setting *row = setting_for_backends(&all_settings, *name, drive_backends(s->drive));
                _cleanup_free_ char *why = NULL;
                Value value;

                if (!row || read_value(s, row, &value, &why) < 0 || !value_has_exact_text(&row->range, &value))
                        continue;
                t->beside = must(reallocarray(t->beside, t->n_beside + 1, sizeof *t->beside));
                t->beside[t->n_beside++] = (Beside){ row, value };
        }
}

/* Why there is nothing to measure; NULL: there is. */
static char *prepare(Tuning *t) {
        const Subject *s = t->subject;
        char *why = NULL, text[VALUE_TEXT_MAX];
        Value now;

        t->setting = setting_for_backends(&all_settings, t->tunable->setting, drive_backends(s->drive));
        if (!t->setting)
                return must(strdup("it is not a setting of this kind of drive"));
        if (read_value(s, t->setting, &now, &why) < 0)
                return why;
        if (!value_has_exact_text(&t->setting->range, &now))
                return must_format("it is '%s', which it could not be set back to",
                                   value_format(&t->setting->range, &now, text));

        find_beside(t);
        t->goal = figure_find(t->tunable->goal);
        t->cost = t->tunable->cost ? figure_find(t->tunable->cost) : NULL;
        t->values = tunable_values(t->tunable, t->setting, INVENTORY_CLASSDIR, s->drive, &now);
        return t->values.n_items < 2 ? must(strdup("there is no other value to be had")) : NULL;
}

/* ---- all of them ---- */

static void add_setting(Tunings *all, Subject *s, const Tunable *t) {
        must_grow(all->items, all->n_items);
        all->items[all->n_items++] = (Tuning){ .subject = s, .tunable = t, .held = SIZE_MAX };
}

static const char *why_unmeasured(const Setting *row) {
        static const struct {
                SettingFlags flags;
                const char *why;
        } reasons[] = {
                { SETTING_DEAD | SETTING_EXCLUDED, "drivekeep never sets it" },
                { SETTING_AT_ATTACH, "it is done once, and is nothing that a drive has" },
                { SETTING_UNREADABLE, "it cannot be read, so nobody knows what to set it back to" },
                { SETTING_NONVOLATILE, "the drive keeps it without power, so it is not set for a while" },
        };

        for (size_t i = 0; i < ELEMENTSOF(reasons); i++)
                if (row->flags & reasons[i].flags)
                        return reasons[i].why;
        return row->danger ? "it is dangerous, so it is not set for a while"
                           : "no value of it makes reads faster or slower";
}

static int choose_settings(const Options *o, Subject *s, Tunings *ret) {
        int status = EXIT_WANTED;
        bool writes = false;

        if (!o->names[1]) {
                TUNABLES_FOREACH(t)
                        if (!t->saves_power && (!tunable_writes(t) || o->file))
                                add_setting(ret, s, t);
                return EXIT_WANTED;
        }
        for (char **name = o->names + 1; *name; name++) {
                const Setting *row = setting_find(&all_settings, *name);
                const Tunable *t = row ? tunable_find(setting_state(row)) : NULL;

                if (t && tunable_writes(t) && !o->file) {
                        warnx("%s is measured by writing to a file: --file=DIR says where", t->setting);
                        status = EXIT_BAD_INPUT;
                } else if (t) {
                        writes = writes || tunable_writes(t);
                        add_setting(ret, s, t);
                } else {
                        status = EXIT_BAD_INPUT;
                        if (setting_choose(&all_settings, *name) == EXIT_WANTED && row)
                                warn_escaped("there is nothing to measure of %s: %s", *name, why_unmeasured(row));
                }
        }
        if (status == EXIT_WANTED && o->file && !writes) {
                warnx("--file is for what is measured by writing, and none of these settings is");
                status = EXIT_BAD_INPUT;
        }
        return status;
}

static void tunings_done(Tunings *all) {
        for (Tuning *t = all->items; t < all->items + all->n_items; t++) {
                free(t->values.items);
                free(t->beside);
                tune_done(&t->tune);
                free(t->left_out);
                free(t->lacking);
        }
        free(all->items);
}

static int prepare_settings(Subject *s, Tunings *all) {
        bool writes = false;

        for (Tuning *t = all->items; t < all->items + all->n_items; t++) {
                t->lacking = prepare(t);
                writes = writes || (!t->lacking && tunable_writes(t->tunable));
        }
        return writes ? subject_make_file(s) : EXIT_WANTED;
}

/* Each has the same part of the time that is left. What keeps one from being measured may not keep the next. */
static int tune_settings(Subject *s, Tunings *all) {
        size_t n_left = 0;
        int status = EXIT_WANTED;

        for (const Tuning *t = all->items; t < all->items + all->n_items; t++)
                n_left += !t->lacking;
        for (Tuning *t = all->items; t < all->items + all->n_items && !stop_is_wanted(s->stop_fd); t++) {
                uint64_t left = s->budget - MIN(s->budget, s->spent);
                int r;

                if (t->lacking)
                        continue;
                r = tune_setting(t, left / MAX(n_left, 1U));
                n_left--;
                if (r != EXIT_WANTED)
                        status = r;
                if (r != EXIT_WANTED && !t->lacking)
                        break;
        }
        subject_hide_progress(s);
        return status;
}

static bool any_is_measured(const Tunings *all) {
        for (const Tuning *t = all->items; t < all->items + all->n_items; t++)
                if (tuning_is_measured(t))
                        return true;
        return false;
}

static int tune(const Options *o, Subject *s) {
        Tunings all = {};
        int status;

        if (!s->leave.bus)
                return request_explain(-ENOENT, &SD_BUS_ERROR_NULL);
        status = choose_settings(o, s, &all);
        if (status == EXIT_WANTED)
                status = prepare_settings(s, &all);
        if (status == EXIT_WANTED)
                status = tune_settings(s, &all);
        if (status == EXIT_WANTED || any_is_measured(&all))
                tune_show(o, s, &all);
        if (status == EXIT_WANTED && o->svg)
                status = tune_write_svg(s, &all);
        if (status == EXIT_WANTED && o->write && stop_is_wanted(s->stop_fd)) {
                warnx("it was interrupted, so nothing is written");
                status = EXIT_BAD_INPUT;
        } else if (status == EXIT_WANTED && o->write)
                status = tune_write(s, &all);
        tunings_done(&all);
        return status;
}

static int run(const Options *o) {
        Subject s;
        int r;

        if (!o->names) {
                warnx("say which drive: 'drivekeep tune DRIVE [SETTING...]'");
                return EXIT_BAD_INPUT;
        }
        (void) umask(0022);
        r = subject_open(o, "tune", "10min", &s);
        if (r == EXIT_WANTED)
                r = tune(o, &s);
        subject_close(&s);
        return r;
}

const Verb verb_tune = {
        .name = "tune",
        .changes = true,
        .summary = "Measure which value of a setting is best",
        .arguments = "DRIVE [SETTING...]",
        .help = "Measures a drive with several values of each setting in turns, by reads alone (with --file also by writes to a file), for ten "
                "minutes, and prints the block for the configuration with those that are better. The drive has its own values again at "
                "the end, whatever happens. Needs fio."
                "\v" DRIVE_IS ". "
                "Without SETTING: all that have a best value, with --file also write_cache and wbt_lat_usec. A setting that saves power has "
                "none, and is measured where it is named: how long the first read takes after times without use, with each value. Needs "
                "root, and drivekeep.service.",
        .options = OPTION_TUNE | OPTION_MEASURE | OPTION_SVG | OPTION_JSON | OPTION_STATE_DIR | OPTION_CONFIG_ROOT,
        .run = run,
};
