/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep tune`: measures a drive with several values of a setting, in turns, and tells which is best. Only the service sets them, and
 * sets the drive back as soon as this command is gone, however that comes about. */

#include <err.h>
#include <sys/stat.h>

#include "choice.h"
#include "clock.h"
#include "output.h"
#include "settings.h"
#include "stop.h"
#include "tuning.h"

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
                          .set = tune_set_value,
                          .userdata = t };
        uint64_t begun = monotonic_usec();
        int r, back;

        task.bench.budget = budget;
        if (t->tunable->saves_power) {
                task.n_idle = idle_times_fit(budget, t->values.n_items, tuning_wake_seconds(t));
                task.look = tune_look_again;
        }
        r = tune_run(&task, &t->tune);
        back = tune_set_back(t);
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

/* Why there is nothing to measure; NULL: there is. */
static char *prepare(Tuning *t) {
        const Subject *s = t->subject;
        char *why = NULL, text[VALUE_TEXT_MAX];
        Value now;

        t->setting = setting_for_backends(&all_settings, t->tunable->setting, drive_backends(s->drive));
        if (!t->setting)
                return must(strdup("it is not a setting of this kind of drive"));
        if (tune_read_value(s, t->setting, &now, &why) < 0)
                return why;
        if (!value_has_exact_text(&t->setting->range, &now))
                return must_format("it is '%s', which it could not be set back to",
                                   value_format(&t->setting->range, &now, text));

        tune_find_beside(t);
        t->goal = figure_find(t->tunable->goal);
        t->cost = t->tunable->cost ? figure_find(t->tunable->cost) : NULL;
        t->values = tunable_values(t->tunable, t->setting, INVENTORY_CLASSDIR, s->drive, &now);
        return t->values.n_items < 2 ? must(strdup("there is no other value to be had")) : NULL;
}

/* ---- all of them ---- */

static void add_setting(Tunings *all, Subject *s, const Tunable *t) {
        must_grow(all, items);
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

/* Each has a share of the time that is left. What keeps one from being measured may not keep the next. */
static int tune_settings(Subject *s, Tunings *all) {
        uint64_t shares = 0;
        int status = EXIT_WANTED;

        for (const Tuning *t = all->items; t < all->items + all->n_items; t++)
                shares += tuning_share(t);
        for (Tuning *t = all->items; t < all->items + all->n_items && !stop_is_wanted(s->stop_fd); t++) {
                uint64_t left = s->budget - MIN(s->budget, s->spent), share = tuning_share(t);
                int r;

                if (share == 0)
                        continue;
                r = tune_setting(t, left * share / shares);
                shares -= share;
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

/* The one may fail without the other. */
static int write_files(const Options *o, const Subject *s, const Tunings *all) {
        int written = EXIT_WANTED, drawn = EXIT_WANTED;

        if (o->write && stop_is_wanted(s->stop_fd)) {
                warnx("it was interrupted, so nothing is written");
                written = EXIT_BAD_INPUT;
        } else if (o->write)
                written = tune_write(s, all);
        if (o->svg)
                drawn = tune_write_svg(s, all);
        return written != EXIT_WANTED ? written : drawn;
}

static int tune(const Options *o, Subject *s) {
        Tunings all = {};
        int status;

        if (!s->leave.bus)
                return request_explain(-ENOENT, &SD_BUS_ERROR_NULL);
        status = choose_settings(o, s, &all);
        /* Before ten minutes are spent. */
        if (status == EXIT_WANTED && o->write)
                status = tune_may_write(s);
        if (status == EXIT_WANTED)
                status = prepare_settings(s, &all);
        if (status == EXIT_WANTED)
                status = tune_settings(s, &all);
        if (status == EXIT_WANTED || any_is_measured(&all))
                tune_show(o, s, &all);
        if (status == EXIT_WANTED)
                status = write_files(o, s, &all);
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
