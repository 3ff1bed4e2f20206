/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep try`: sets values until the next boot or --undo. The service treats these values like those of a rule: the same
 * restrictions apply. */

#include <sys/stat.h>

#include "choice.h"
#include "draft.h"
#include "dry-visit.h"
#include "machine.h"
#include "output.h"
#include "reader.h"
#include "request.h"
#include "settings.h"
#include "status-table.h"
#include "try-values.h"

#define USAGE                                                                                                 \
        "give a drive and the values to try: 'drivekeep try DRIVE SETTING=VALUE', 'drivekeep try --undo' or " \
        "'drivekeep try --keep DRIVE'"

/* ---- requested values ---- */

static int put_word(FILE *f, const char *word) {
        size_t n = strcspn(word, "=");
        _cleanup_free_ char *name = must(strndup(word, n));
        const char *value = word + n + 1;

        if (n == 0 || word[n] == '\0' || *value == '\0') {
                warn_escaped("'%s' is not of the form SETTING=VALUE", word);
                return EXIT_BAD_INPUT;
        }
        if (streq(name, "allow_dangerous") || streq(name, "wake")) {
                if (!streq(value, "true")) {
                        warn_escaped("'%s' is not valid: write %s=true, or omit %s", word, name, name);
                        return EXIT_BAD_INPUT;
                }
                fprintf(f, "%s;\n", word);
                return EXIT_WANTED;
        }
        if (setting_choose(&all_settings, name) != EXIT_WANTED)
                return EXIT_BAD_INPUT;
        if (streq(value, "keep") || setting_find(&all_settings, name)->flags & SETTING_ON_BATTERY) {
                warn_escaped("'%s' cannot be tried, because it would write nothing now; set it in the configuration",
                             word);
                return EXIT_BAD_INPUT;
        }

        emit_wish(f, &all_settings, &(ImportWish){ .key = name, .value = (char *) value });
        fputc('\n', f);
        return EXIT_WANTED;
}

/* Parses the words SETTING=VALUE as a configuration block for this drive; without words, there is no block. `warns`: print the warnings
 * of `drivekeep check`, too. */
static int read_words(const Drive *d, char *const *words, bool warns, Config **ret) {
        _cleanup_(config_freep) Config *c = NULL;
        _cleanup_free_ char *text = NULL;
        int status = EXIT_WANTED;
        bool any = *words;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        fputs("drives = (\n", f);
        try_values_put_head(f, d, false, false);
        for (; *words && status == EXIT_WANTED; words++)
                status = put_word(f, *words);
        fputs("} );\n", f);
        must_close(f);
        if (status != EXIT_WANTED)
                return status;

        must_work(config_new(&c));
        if (any)
                must_work(config_parse(c, &all_settings, "", text, size));
        if (warns && c->complaints.n_errors == 0)
                must_work(config_check(c, &all_settings));
        for (size_t i = 0; i < c->complaints.n_items; i++)
                warn_escaped("%s", c->complaints.items[i].sentence);
        if (c->complaints.n_errors > 0)
                return EXIT_BAD_INPUT;
        *ret = TAKE_PTR(c);
        return EXIT_WANTED;
}

/* ---- previous values ---- */

typedef struct Trial {
        const Options *options;
        const Drive *drive;
        const DriveRecord *record;
        const Config *words;        /* the command line as configuration */
        TemporaryValues *requested; /* requested values, except those that are known to have no effect */
        TemporaryValues *earlier;   /* values of earlier trials */
        bool on_battery;
} Trial;

static void warn_unreadable(const Drive *d, const Step *s) {
        /* For a deferred setting, `s->reason` explains why the setting was not written, but not why it cannot be read. */
        const char *reason = s->verdict == VERDICT_DEFERRED                           ? "the drive cannot be read now"
                             : s->reason[0]                                           ? s->reason
                             : s->setting && (s->setting->flags & SETTING_UNREADABLE) ? "no command reads this setting"
                                                                                      : "the setting cannot be read";

        /* A value that will not be written needs no undo. */
        if (!temporary_is_barred(s->verdict))
                warn_escaped("%s: the current value of %s is not known (%s), so 'drivekeep try --undo' cannot restore it",
                             d->name, s->wish->name, reason);
}

static void store_before(const Trial *t, const Step *s) {
        TemporaryValue *v = temporary_find(t->requested, s->wish->name, true);
        char before[VALUE_TEXT_MAX];

        if (!s->before.known || !value_has_exact_text(&v->setting->range, &s->before.value)) {
                warn_unreadable(t->drive, s);
                return;
        }
        v->before = s->before.value;
        v->before_text = must(strdup(value_format(&v->setting->range, &v->before, before)));
}

/* Reads the current values into t->requested. For a setting that is being tried already, keeps the value that was read when the trial
 * began. Does not wake the drive. */
static int read_before(const Trial *t, const DeviceIO *io) {
        _cleanup_(wishes_done) Wishes all = {};
        _cleanup_(plan_done) Plan plan = {};
        Wishes wishes = {};
        Visit v = dry_visit(t->drive, t->record, &wishes, io);
        int r;

        must_work(config_resolve(t->words, t->drive, t->on_battery, &all));
        for (const Wish *w = all.items; w < all.items + all.n_items; w++)
                if (!temporary_find(t->earlier, w->name, true)) {
                        must_grow(&wishes, items);
                        wishes.items[wishes.n_items++] = *w;
                }
        v.work &= ~WORK_WAKE;
        r = wishes.n_items > 0 ? must_not_fail(visit_run(&v, &plan)) : 0;
        if (r < 0)
                warn_escaped("%s cannot be read: %s", t->drive->name, strerror(-r));
        for (const Step *s = plan.steps; s < plan.steps + plan.n_steps; s++)
                store_before(t, s);
        free(wishes.items);
        return r < 0 ? EXIT_BAD_INPUT : EXIT_WANTED;
}

/* ---- trying the values ---- */

/* Makes the service set the values. If `name` is not NULL, the service sets only the value of this setting. */
static int request_try(sd_bus *bus, const Drive *d, const TemporaryValues *t, const char *name) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        bool allow_dangerous = false, wake = false;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, DAEMON, "Try");
        if (r >= 0)
                r = sd_bus_message_append(m, "s", d->name);
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'a', "s");
        for (const TemporaryValue *v = t->items; v < t->items + t->n_items && r >= 0; v++) {
                if (name && !streq(v->name, name))
                        continue;
                allow_dangerous = v->allow_dangerous;
                wake = v->wake;
                for (size_t i = 0; i < 3 && r >= 0; i++)
                        r = sd_bus_message_append(m, "s",
                                                  (const char *[]){ v->name, v->text, v->before_text ?: "" }[i]);
        }
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        if (r >= 0)
                r = sd_bus_message_append(m, "bb", (int) allow_dangerous, (int) wake);
        if (r >= 0)
                r = sd_bus_call(bus, m, 0, &error, NULL);
        return r < 0 ? (int) request_explain(r, &error) : EXIT_WANTED;
}

/* Returns true if the drive does not have the value and will not get it. */
static bool has_no_effect(const Trial *t, const Records *records, const char *name) {
        const DriveRecord *record = records_find(records, t->drive->name);
        const SettingRecord *s = record ? drive_record_find(record, name) : NULL;

        return s && temporary_has_no_effect(s->verdict, streq_ptr(s->before, s->actual));
}

/* Drops values that were not written, so that --undo and --keep do not use these values. With `bus`, also makes the service end the
 * trial of each dropped value. If an earlier trial has set the same setting, the service sets the earlier value again.
 * Returns true if a value was dropped. */
static bool drop_without_effect(Trial *t, sd_bus *bus, int *status) {
        _cleanup_(records_done) Records records = {};
        bool any = false;

        (void) records_read(t->options->state_dir, &records);
        for (size_t i = 0; i < t->requested->n_items;) {
                TemporaryValue *v = t->requested->items + i;
                const TemporaryValue *older = temporary_find(t->earlier, v->name, true);

                if (!has_no_effect(t, &records, v->name)) {
                        i++;
                        continue;
                }
                printf("%s%s = %s was not written, so %s\n", any ? "" : "\n", v->name, v->text,
                       bus ? "the trial of this value has ended" : "this value is not kept");
                any = true;
                if (bus)
                        *status = exit_worse(*status, older && !older->restoring
                                                                      ? (ExitStatus) request_try(bus, t->drive,
                                                                                                 t->earlier, v->name)
                                                                      : try_end(bus, t->drive->name, v->name));
                temporary_drop(t->requested, v);
        }
        return any;
}

static int run_trial(Trial *t, sd_bus *bus) {
        char *const names[] = { t->drive->name, NULL };
        _cleanup_free_ char *blocks = NULL;
        int status, s = EXIT_WANTED;

        status = request_try(bus, t->drive, t->requested, NULL);
        if (status != EXIT_WANTED)
                return status;
        status = visit_drives(t->options, bus, "Apply", names, visited_show_status);
        (void) drop_without_effect(t, bus, &s);
        try_values_add(t->earlier, t->requested);
        blocks = try_values_format_blocks(t->drive, t->earlier, true);
        if (*blocks)
                printf("\nThe trial ends at the next boot, or with 'drivekeep try --undo %s'.\n"
                       "To keep the values, run 'drivekeep try --keep %s', or add this to the configuration:\n\n%s",
                       t->drive->name, t->drive->name, blocks);
        return s == EXIT_WANTED ? status : s;
}

/* ---- --keep ---- */

/* Reports each value that was tried with allow_dangerous=true and is not on the command line, and then returns false. The service's user
 * can write to the file with the values of earlier trials, so the command line must have each dangerous value. */
static bool check_dangerous(const Trial *t) {
        bool fine = true;

        for (const TemporaryValue *v = t->earlier->items; v < t->earlier->items + t->earlier->n_items; v++)
                if (v->allow_dangerous && !temporary_find(t->requested, v->name, true)) {
                        warn_escaped("%s: %s was tried with allow_dangerous=true; to keep the value, run 'drivekeep try --keep %s allow_dangerous=true %s%s=\"%s\"'",
                                     t->drive->name, v->name, t->drive->name, v->wake ? "wake=true " : "", v->name,
                                     v->text);
                        fine = false;
                }
        return fine;
}

/* Merges the values in the drive's file of kept values, the values of earlier trials, and the requested values. */
static TemporaryValues *merge_values(const Trial *t, const Config *kept) {
        TemporaryValues *all = try_values_of_config(kept);

        try_values_add(all, t->earlier);
        try_values_add(all, t->requested);
        return all;
}

/* Reports an error if another file overrides one of the kept values. */
static int check_later(const Trial *t, const Config *c, const TemporaryValues *all, const char *path) {
        _cleanup_(wishes_done) Wishes wishes = {};

        must_work(config_resolve(c, t->drive, t->on_battery, &wishes));
        for (const Wish *w = wishes.items; w < wishes.items + wishes.n_items; w++)
                if (temporary_find(all, w->name, true) && !streq(w->file, path)) {
                        warn_escaped("%s: change %s in %s:%u, which overrides %s", t->drive->name, w->name, w->file,
                                     w->line, path);
                        return EXIT_BAD_INPUT;
                }
        return EXIT_WANTED;
}

static int write_and_reload(sd_bus *bus, const char *path, const char *text, bool wait) {
        int status = draft_write(path, text);

        return status == EXIT_WANTED ? (int) request_reload(bus, wait) : status;
}

static int run_keep(Trial *t, sd_bus *bus) {
        char *const names[] = { t->drive->name, NULL };
        _cleanup_free_ char *path = try_values_kept_path(t->options, t->drive), *text = NULL, *old = NULL,
                            *blocks = NULL;
        _cleanup_(config_freep) Config *kept = NULL, *c = NULL;
        _cleanup_(temporary_freep) TemporaryValues *before = NULL, *all = NULL;
        int status, s = EXIT_WANTED;

        if (!check_dangerous(t))
                return EXIT_BAD_INPUT;
        must_work(config_new(&kept));
        if (access(path, F_OK) >= 0)
                must_work(config_load_file(kept, &all_settings, path));
        if (kept->n_files > 0 && (kept->complaints.n_errors > 0 || !try_values_is_ours(path))) {
                warn_escaped(kept->complaints.n_errors > 0
                                             ? "%s is not changed, because it has an error; 'drivekeep check' shows the error"
                                             : "%s is not changed, because 'drivekeep try --keep' has not written it; add the values yourself",
                             path);
                return EXIT_BAD_INPUT;
        }
        before = try_values_of_config(kept);
        old = try_values_format_file(t->drive, before);
        all = merge_values(t, kept);
        text = try_values_format_file(t->drive, all);
        status = draft_check(t->options->roots, &(ConfigDraft){ path, text, strlen(text) }, t->words, &c);
        if (status == EXIT_WANTED)
                status = check_later(t, c, all, path);
        if (status != EXIT_WANTED)
                return status;

        status = write_and_reload(bus, path, text, false);
        if (status != EXIT_WANTED) {
                (void) draft_write(path, old);
                return status;
        }
        /* The configuration now has the values, so the trial can end. */
        if (t->earlier->n_items > 0)
                s = try_end(bus, t->drive->name, "");
        status = visit_drives(t->options, bus, "Apply", names, visited_show_status);
        if (drop_without_effect(t, NULL, NULL)) {
                (void) temporary_free(all);
                all = merge_values(t, kept);
                free(text);
                text = try_values_format_file(t->drive, all);
                s = exit_worse(s, write_and_reload(bus, path, text, true));
        }
        blocks = try_values_format_blocks(t->drive, all, true);
        if (*blocks)
                printf("\nKept in %s:\n\n%s", path, blocks);
        return s == EXIT_WANTED ? status : s;
}

static int try_words(const Options *o) {
        _cleanup_(temporary_freep) TemporaryValues *earlier = NULL, *requested = NULL;
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(records_done) Records records = {};
        _cleanup_(config_freep) Config *words = NULL;
        Permission permission = {};
        int on_battery, status;
        const Drive *d;
        size_t n;

        status = records_read_drives(o->state_dir, &inventory, &records);
        if (status < 0)
                return status;
        status = drives_choose(inventory.drives, inventory.n_drives, (char *[]){ o->names[0], NULL }, &n);
        if (status == EXIT_WANTED)
                status = read_words(inventory.drives[0], o->names + 1, !o->keep, &words);
        if (status != EXIT_WANTED)
                return status;
        on_battery = power_on_battery(POWER_SUPPLY_CLASSDIR);
        if (on_battery < 0)
                return on_battery;

        d = inventory.drives[0];
        earlier = try_values_read(o->state_dir, d);
        for (size_t i = earlier->n_items; i > 0 && o->keep; i--)
                if (earlier->items[i - 1].restoring)
                        temporary_drop(earlier, earlier->items + i - 1);
        requested = try_values_of_config(words);
        Trial t = { .options = o,
                    .drive = d,
                    .record = records_of(&records, d),
                    .words = words,
                    .requested = requested,
                    .earlier = earlier,
                    .on_battery = on_battery };

        status = permission_get(&permission, o->state_dir, inventory.drives, n);
        if (status == EXIT_WANTED && !permission.bus)
                status = request_explain(-ENOENT, &SD_BUS_ERROR_NULL);
        if (status == EXIT_WANTED && !o->keep)
                status = read_before(&t, &permission.io);
        /* Allows visits to the drive again. */
        permission_done(&permission);
        if (status != EXIT_WANTED)
                return status;
        if (requested->n_items == 0 && !o->keep) {
                warnx(USAGE);
                return EXIT_BAD_INPUT;
        }
        if (requested->n_items == 0 && earlier->n_items == 0) {
                warn_escaped("no values are being tried on %s, so there is nothing to keep", d->name);
                return EXIT_BAD_INPUT;
        }

        status = request_open(&bus);
        if (status < 0)
                return request_explain(status, &SD_BUS_ERROR_NULL);
        return o->keep ? run_keep(&t, bus) : run_trial(&t, bus);
}

static int try_run(const Options *o) {
        size_t n = 0;

        while (o->names && o->names[n])
                n++;
        if ((o->undo && (o->keep || n > 1)) || (o->keep && n == 0) || (n == 1 && !o->keep && !o->undo)) {
                warnx(USAGE);
                return EXIT_BAD_INPUT;
        }
        if ((n > 0 || o->undo) && geteuid() != 0) {
                warnx("only root may try settings");
                return EXIT_BAD_INPUT;
        }

        /* The service runs as another user, and must be able to read the file of --keep. */
        (void) umask(0022);
        return o->undo ? try_undo(o) : n == 0 ? try_list(o) : try_words(o);
}

const Verb verb_try = {
        .name = "try",
        .changes = true,
        .summary = "Try values until the next boot",
        .arguments = "[DRIVE SETTING=VALUE...]\n--keep DRIVE [SETTING=VALUE...]\n--undo [DRIVE]",
        .help = "Make drivekeep.service apply the values now, until the next boot or --undo. Print a configuration block that would keep "
                "the values. Without arguments: show the values being tried."
                "\v" DRIVE_IS ". "
                "--keep writes the values to a file in /etc/drivekeep/drivekeep.conf.d. Needs root.",
        .options = OPTION_TRY | OPTION_STATE_DIR,
        .run = try_run,
};
