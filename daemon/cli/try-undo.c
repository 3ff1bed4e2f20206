/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lists and undoes the values of `drivekeep try`. */

#include <dirent.h>

#include "choice.h"
#include "machine.h"
#include "output.h"
#include "settings.h"
#include "try-values.h"

/* ---- listing ---- */

/* clang-format off */
static const Column columns[] = {
        { "drive", "DRIVE" },
        { "name", "SETTING" },
        { "tried", "TRIED" },
        { "before", "BEFORE" },
};
/* clang-format on */

/* Prints the temporary values of one drive. `d` is NULL if the drive is not attached. */
static void try_show(Output *output, const Drive *d, const TemporaryValues *t) {
        for (const TemporaryValue *v = t->items; v < t->items + t->n_items; v++) {
                output_row(output);
                output_text(output, "drive", d ? d->name : NULL);
                output_text(output, "name", v->name);
                output_text(output, "tried", v->restoring ? v->before_text : v->text);
                output_text(output, "before", v->before_text);
                output_end(output);
        }
}

/* ---- --undo ---- */

ExitStatus try_end(sd_bus *bus, const char *drive, const char *setting) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, DAEMON, "Undo");
        if (r >= 0)
                r = sd_bus_message_append(m, "ss", drive, setting);
        if (r >= 0)
                r = sd_bus_call(bus, m, VISIT_TIMEOUT_USEC, &error, NULL);
        return r < 0 ? request_explain(r, &error) : EXIT_WANTED;
}

/* Warns that the service has not restored the value yet. */
static ExitStatus warn_not_restored(const Drive *d, const TemporaryValue *v, const DriveRecord *record) {
        const SettingRecord *s = record ? drive_record_find(record, v->name) : NULL;
        bool pending = !s || verdict_is_pending(s->verdict) || verdict_is_wanted(s->verdict);

        warn_escaped(pending ? "%s: %s is not yet restored to %s%s%s; drivekeep.service restores it as soon as possible"
                             : "%s: %s could not be restored to %s%s%s; drivekeep.service tries again as soon as possible",
                     d->name, v->name, v->before_text, s && s->reason ? ": " : "", s && s->reason ? s->reason : "");
        return pending ? EXIT_LATER : EXIT_NOT_WANTED;
}

/* Prints the restored value. `wish`: the value in the configuration files, or NULL if the files set no value. */
static ExitStatus print_restored(const Drive *d, const TemporaryValue *v, const Wish *wish) {
        if (wish && !(v->before_text && value_equal(&wish->value, &v->before)))
                printf("%s: %s is set by %s:%u again\n", d->name, v->name, wish->file, wish->line);
        else if (v->before_text)
                printf("%s: %s is %s%s\n", d->name, v->name, v->before_text,
                       !v->restoring && value_equal(&v->value, &v->before) ? ", as before" : " again");
        else {
                warn_escaped("%s: the previous value of %s is not known, so the value %s stays in force until the drive loses the value; "
                             "'drivekeep try %s %s=VALUE' sets another value",
                             d->name, v->name, v->text, d->name, v->name);
                return EXIT_NOT_WANTED;
        }
        return EXIT_WANTED;
}

static int undo(const Options *o, sd_bus *bus, const Drive *d, const TemporaryValues *t) {
        _cleanup_(temporary_freep) TemporaryValues *left = NULL;
        _cleanup_(records_done) Records records = {};
        _cleanup_(wishes_done) Wishes wishes = {};
        _cleanup_(config_freep) Config *c = NULL;
        int status = try_end(bus, d->name, "");

        if (status != EXIT_WANTED)
                return status;

        left = try_values_read(o->state_dir, d);
        (void) records_read(o->state_dir, &records);
        must_work(config_new(&c));
        must_work(config_load(c, &all_settings, o->roots));
        must_work(config_resolve(c, d, power_on_battery(POWER_SUPPLY_CLASSDIR) > 0, &wishes));
        for (const TemporaryValue *v = t->items; v < t->items + t->n_items; v++) {
                const Wish *wish = wishes_find(&wishes, v->name);

                if (v->unaccepted)
                        printf("%s: %s was not changed\n", d->name, v->name);
                else if (temporary_find(left, v->name, true))
                        status = exit_worse(status, warn_not_restored(d, v, records_find(&records, d->name)));
                else
                        status = exit_worse(status, print_restored(d, v, wish && !wish->withheld ? wish : NULL));
        }
        return status;
}

/* ---- all drives ---- */

static int is_temporary(const struct dirent *e) {
        return starts_with(e->d_name, TEMPORARY_PREFIX) && !ends_with(e->d_name, "~");
}

/* Returns the drive whose temporary values are in the file `name`. Returns NULL if the drive is not attached. */
static const Drive *find_drive(const Inventory *inventory, const char *name) {
        for (size_t i = 0; i < inventory->n_drives; i++) {
                _cleanup_free_ char *file_name = NULL;

                must_work(temporary_name(inventory->drives[i], &file_name));
                if (streq(file_name, name))
                        return inventory->drives[i];
        }
        return NULL;
}

/* Removes the file with the temporary values of a drive that is not attached: the service has no other copy of these values. */
static int remove_values(const char *state_dir, const char *name, const TemporaryValues *t) {
        _cleanup_free_ char *path = must_format("%s/%s", state_dir, name),
                            *drive = format_escaped("%s", strna(t->drive));

        if (unlink(path) < 0)
                warn_escaped("%s cannot be removed: %s", path, strerror(errno));
        else
                printf("%s: the trial has ended; no value was restored, because the drive is not attached\n", drive);
        return EXIT_WANTED;
}

/* Undoes the temporary values of the selected drives through `bus`, or lists the values if `bus` is NULL. */
static int list_or_undo(const Options *o, const Inventory *inventory, sd_bus *bus) {
        _cleanup_(output_freep) Output *output = output_new(false, columns, ELEMENTSOF(columns));
        const Drive *chosen = o->names ? inventory->drives[0] : NULL;
        _cleanup_free_ struct dirent **entries = NULL;
        int n = scandir(o->state_dir, &entries, is_temporary, alphasort), result = EXIT_WANTED;
        bool any = false;

        for (int i = 0; i < n; i++) {
                _cleanup_free_ struct dirent *e = entries[i];
                _cleanup_(temporary_freep) TemporaryValues *t = try_values_read_file(o->state_dir, e->d_name);
                const Drive *d = find_drive(inventory, e->d_name);

                if (t->n_items == 0 || (chosen && d != chosen))
                        continue;
                any = true;
                if (!bus)
                        try_show(output, d, t);
                else
                        result = exit_worse(result, d ? undo(o, bus, d, t) : remove_values(o->state_dir, e->d_name, t));
        }
        output_print(output);

        if (any)
                return result;
        warn_escaped("no values are being tried%s%s", chosen ? " on " : "", chosen ? chosen->name : "");
        return chosen ? EXIT_BAD_INPUT : EXIT_WANTED;
}

int try_list(const Options *o) {
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(records_done) Records records = {};
        int r = records_read_drives(o->state_dir, &inventory, &records);

        return r < 0 ? r : list_or_undo(o, &inventory, NULL);
}

int try_undo(const Options *o) {
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(records_done) Records records = {};
        size_t n;
        int r;

        r = records_read_drives(o->state_dir, &inventory, &records);
        if (r < 0)
                return r;
        r = drives_choose(inventory.drives, inventory.n_drives, o->names, &n);
        if (r != EXIT_WANTED)
                return r;

        r = records.served ? request_open(&bus) : -ENOENT;
        return r < 0 ? (int) request_explain(r, &SD_BUS_ERROR_NULL) : list_or_undo(o, &inventory, bus);
}
