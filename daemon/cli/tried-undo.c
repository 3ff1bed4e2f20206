/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep try` of what is being tried: it is listed, or undone. */

#include <dirent.h>

#include "choice.h"
#include "machine.h"
#include "output.h"
#include "request.h"
#include "settings.h"
#include "tried.h"

/* ---- what is being tried ---- */

static int is_tried(const struct dirent *e) {
        return starts_with(e->d_name, TRIED_PREFIX) && ends_with(e->d_name, ".conf") &&
               strlen(e->d_name) > strlen(TRIED_PREFIX) + strlen(".conf");
}

/* The drive that it is for; NULL: it is not here. */
static const Drive *find_drive(const Inventory *inventory, const Tried *t) {
        for (size_t i = 0; i < inventory->n_drives; i++)
                if (t->rule->n_blocks > 0 && match_drive(&t->rule->blocks[0].match, inventory->drives[i], NULL))
                        return inventory->drives[i];
        return NULL;
}

static const char *format_value(const Assignment *a, char buf[static VALUE_TEXT_MAX]) {
        return a ? value_format(&setting_find(&all_settings, a->name)->range, &a->value, buf) : NULL;
}

/* clang-format off */
static const Column columns[] = {
        { "drive", "DRIVE" },
        { "name", "SETTING" },
        { "tried", "TRIED" },
        { "before", "BEFORE" },
        { "rule", "RULE", .wrap = true, .path = true },
};
/* clang-format on */

static int list(Output *output, const Drive *d, const Tried *t) {
        TRIED_FOREACH(a, t->rule) {
                char tried[VALUE_TEXT_MAX], before[VALUE_TEXT_MAX];

                output_row(output);
                output_text(output, "drive", d ? d->name : NULL);
                output_text(output, "name", a->name);
                output_text(output, "tried", format_value(a, tried));
                output_text(output, "before", format_value(tried_find(t->before, a->name), before));
                output_textf(output, "rule", "%s:%u", t->path, a->line);
                output_end(output);
        }
        return EXIT_WANTED;
}

/* ---- undoing it ---- */

/* Whether the drive got the tried value. One that equals the value before counts as got. */
static bool was_written(const Tried *t, const DriveRecord *record, const Assignment *a) {
        const SettingRecord *s = record ? drive_record_find(record, a->name) : NULL;
        const Assignment *before = tried_find(t->before, a->name);

        if (!s || (before && value_equal(&before->value, &a->value)))
                return true;
        if (s->sent.known && s->sent.number == a->value.number)
                return true;
        return !verdict_is_pending(s->verdict) && !tried_is_in_vain(s);
}

/* Drops the values that were never written: they need no undo. */
static void drop_unwritten(const Options *o, const Drive *d, Tried *t) {
        _cleanup_free_ char *blocks = tried_format_blocks(d, t->rule, NULL);
        _cleanup_(config_freep) Config *all = tried_parse(blocks);
        _cleanup_(records_done) Records records = {};
        const DriveRecord *record;

        (void) records_read(o->state_dir, &records);
        record = records_find(&records, d->name);
        TRIED_FOREACH(a, all) {
                if (was_written(t, record, a))
                        continue;
                printf("%s: %s was not changed\n", d->name, a->name);
                tried_drop(t->rule, a->name);
                tried_drop(t->before, a->name);
        }
}

/* Says what became of the values from before. *ret_pending: some are still to come. */
static int tell_put_back(const Options *o, const Drive *d, const Tried *t, bool *ret_pending) {
        _cleanup_(records_done) Records records = {};
        const DriveRecord *record;
        int status = EXIT_WANTED;

        (void) records_read(o->state_dir, &records);
        record = records_find(&records, d->name);
        TRIED_FOREACH(a, t->before) {
                const SettingRecord *s = record ? drive_record_find(record, a->name) : NULL;
                const Assignment *tried = tried_find(t->rule, a->name);
                bool pending = !s || verdict_is_pending(s->verdict);
                char buf[VALUE_TEXT_MAX];

                if (s && verdict_is_wanted(s->verdict)) {
                        printf("%s: %s is %s%s\n", d->name, a->name, format_value(a, buf),
                               tried && value_equal(&tried->value, &a->value) ? ", as before" : " again");
                        continue;
                }
                warn_escaped("%s: %s is not %s%s again%s%s", d->name, a->name, pending ? "yet " : "",
                             format_value(a, buf), s && s->reason ? ": " : "", s && s->reason ? s->reason : "");
                *ret_pending = *ret_pending || pending;
                status = exit_worse(status, pending ? EXIT_LATER : EXIT_NOT_WANTED);
        }
        return status;
}

/* Has the service write what was there before, by a rule in the place of what was tried. */
static int put_back(const Options *o, sd_bus *bus, const Drive *d, const Tried *t, bool *ret_pending) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_free_ char *blocks = tried_format_blocks(d, t->before, NULL), *text = NULL;
        _cleanup_(strv_freep) char **visited = NULL;
        int status, r;

        text = tried_format_file(d, false, blocks);
        status = tried_write(t->path, text);
        if (status == EXIT_WANTED)
                status = request_reload(bus, false);
        if (status != EXIT_WANTED)
                return status;

        r = request_visit(bus, "Apply", (char *const[]){ d->name, NULL }, &visited, &error);
        if (r < 0)
                return request_explain(r, &error);

        status = tell_put_back(o, d, t, ret_pending);
        if (*ret_pending)
                warn_escaped("%s: the rule that puts it back stays until the next boot, or until 'drivekeep try --undo %s' once more",
                             d->name, d->name);
        return status;
}

/* Of what could not be read before. */
static int tell_unknown(const Options *o, const Drive *d, const Tried *t) {
        _cleanup_(config_freep) Config *c = NULL;
        _cleanup_(wishes_done) Wishes wishes = {};
        int status = EXIT_WANTED;

        must_work(config_new(&c));
        must_work(config_load(c, &all_settings, o->roots));
        must_work(config_resolve(c, d, power_on_battery(POWER_SUPPLY_CLASSDIR) > 0, &wishes));

        TRIED_FOREACH(a, t->rule) {
                const Wish *w = wishes_find(&wishes, a->name);
                char buf[VALUE_TEXT_MAX];

                if (tried_find(t->before, a->name))
                        continue;
                if (w) {
                        printf("%s: %s:%u sets %s again\n", d->name, w->file, w->line, a->name);
                        continue;
                }
                warn_escaped("%s: what %s was before is not known, so it stays %s until the drive loses it; "
                             "'drivekeep try %s %s=VALUE' sets another value",
                             d->name, a->name, format_value(a, buf), d->name, a->name);
                status = EXIT_NOT_WANTED;
        }
        return status;
}

static int undo(const Options *o, sd_bus *bus, const Drive *d, Tried *t) {
        _cleanup_free_ char *blocks = NULL;
        int status = EXIT_WANTED, s;
        bool pending = false;

        if (d) {
                drop_unwritten(o, d, t);
                blocks = tried_format_blocks(d, t->before, NULL);
        }
        if (blocks && *blocks)
                status = put_back(o, bus, d, t, &pending);
        if (pending || (status != EXIT_WANTED && status != EXIT_NOT_WANTED))
                return status;

        s = tried_write(t->path, NULL);
        if (s == EXIT_WANTED)
                s = tried_write(t->before_path, NULL);
        if (s == EXIT_WANTED)
                s = request_reload(bus, true);
        if (s != EXIT_WANTED)
                return s;

        if (d)
                s = tell_unknown(o, d, t);
        else
                printf("%s: the drive is not here; the rule is taken away\n", base_name(t->path));
        return status == EXIT_WANTED ? s : status;
}

/* `bus`: to undo it; NULL: to list it. */
static int go_through(const Options *o, const Inventory *inventory, sd_bus *bus) {
        _cleanup_(output_freep) Output *output = output_new(false, columns, ELEMENTSOF(columns));
        _cleanup_free_ char *directory = must_format("%s/" CONFIG_DROP_IN_DIRECTORY, o->roots[1]);
        _cleanup_free_ struct dirent **entries = NULL;
        const Drive *chosen = o->names ? inventory->drives[0] : NULL;
        int n = scandir(directory, &entries, is_tried, alphasort), result = EXIT_WANTED;
        bool any = false;

        for (int i = 0; i < n; i++) {
                const Drive *d;
                Tried t;

                tried_read_name(o->roots, entries[i]->d_name, &t);
                free(entries[i]);
                d = find_drive(inventory, &t);
                if (!chosen || d == chosen) {
                        int status = bus ? undo(o, bus, d, &t) : list(output, d, &t);

                        any = true;
                        result = result == EXIT_WANTED ? status : result;
                }
                tried_done(&t);
        }
        output_print(output);

        if (any)
                return result;
        warn_escaped("nothing is being tried%s%s", chosen ? " on " : "", chosen ? chosen->name : "");
        return chosen ? EXIT_BAD_INPUT : EXIT_WANTED;
}

int tried_list(const Options *o) {
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(records_done) Records records = {};
        int r = records_read_drives(o->state_dir, &inventory, &records);

        return r < 0 ? r : go_through(o, &inventory, NULL);
}

int tried_undo(const Options *o) {
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
        return r < 0 ? (int) request_explain(r, &SD_BUS_ERROR_NULL) : go_through(o, &inventory, bus);
}
