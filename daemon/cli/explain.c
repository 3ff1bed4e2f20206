/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep explain`: prints which rules apply to a drive, where each value comes from, and the effect of the drive's spin-down timer.
 * Sends no command to the drive. */

#include <err.h>
#include <stdio.h>

#include "advice.h"
#include "choice.h"
#include "clock.h"
#include "config.h"
#include "kept.h"
#include "output.h"
#include "machine.h"
#include "records.h"
#include "settings.h"
#include "temporary.h"
#include "verb.h"

typedef struct MatchedAssignment {
        const char *file;
        const Assignment *assignment;
} MatchedAssignment;

/* All assignments in force from the blocks that match the drive, in the order of the files. */
typedef struct MatchedAssignments {
        GROWING_ARRAY(MatchedAssignment, items);
} MatchedAssignments;

/* ---- rules ---- */

static const char *criterion_name(const Criterion *c) {
        return c->property ?: match_key_to_string(c->key);
}

/* Prints why the criterion does not match: "its transport is "sata", not "usb" or "nvme"". */
static void put_failing(FILE *f, const Criterion *c, const Drive *d) {
        const char *fact = match_fact(c, d), *name = criterion_name(c);

        if (c->key == MATCH_NODE)
                fputs("neither its node nor a link to it is ", f);
        else if (fact)
                fprintf(f, "its %s is \"%s\", not ", name, fact);
        else
                fprintf(f, d->name ? "it has no %s, and " : "its %s is not known, and ", name);

        for (size_t i = 0; i < c->n_patterns; i++)
                fprintf(f, "%s\"%s\"", i == 0 ? "" : i + 1 < c->n_patterns ? ", " : " or ", c->patterns[i]);

        if (c->key != MATCH_NODE && !fact)
                fputs(" is required", f);
        if (c->key != MATCH_NODE && !fact && !d->name)
                fprintf(f, "; add %s=... to --as", name);
}

/* Prints why the block matches. `link`: the matching link of the drive; NULL if the block matches without a link. */
static void put_fitting(FILE *f, const Block *b, const Drive *d, const DriveLink *link) {
        const Match *m = &b->match;

        if (m->n_criteria == 0)
                fputs("it matches every drive", f);

        for (size_t i = 0; i < m->n_criteria; i++) {
                const Criterion *c = &m->criteria[i];

                fputs(i == 0 ? "" : ", ", f);
                if (c->key != MATCH_NODE)
                        fprintf(f, "%s is \"%s\"", criterion_name(c), match_fact(c, d));
                else
                        fprintf(f, "%s%s", link ? link->path : d->node,
                                link && link->via == LINK_STACKED     ? ", which lies on the drive"
                                : link && link->via == LINK_PARTITION ? " is a partition of the drive"
                                                                      : " is a name of the drive");
        }

        if (b->only_in_raid)
                fputs(", the drive is in an array", f);
        if (b->broken)
                fputs("; the rule has an error, so its settings are not changed", f);
}

static bool block_fits(const Block *b, const Drive *d) {
        return match_drive(&b->match, d, NULL) && (!b->only_in_raid || d->raid);
}

static void print_rule(Output *o, const Block *b, const Drive *d) {
        const DriveLink *link = NULL;
        const Criterion *failing = match_failing(&b->match, d, &link);
        bool fits = block_fits(b, d);
        _cleanup_free_ char *reason = NULL;
        size_t size;
        FILE *f = must(open_memstream(&reason, &size));

        if (failing)
                put_failing(f, failing, d);
        else if (fits)
                put_fitting(f, b, d, link);
        else
                fputs(d->name ? "only_in_raid is set, and the drive is in no array"
                              : "only_in_raid is set, and --as lacks raid=true",
                      f);
        must_close(f);

        output_object(o, NULL);
        output_textf(o, "rule", "%s:%u", b->file, b->line);
        output_text(o, "reason", reason);
        output_boolean(o, "matches", fits);
        output_end(o);
        output_line(o, "  %s:%u: %s: %s", b->file, b->line, fits ? "applies" : "does not apply", reason);
}

/* ---- settings ---- */

/* Formats the assigned value. Returns NULL if the assignment has an error. */
static const char *assignment_format(const Assignment *a, char buf[static VALUE_TEXT_MAX]) {
        if (a->withheld)
                return NULL;
        if (a->keep)
                return "keep";
        return value_format(&setting_find(&all_settings, a->name)->range, &a->value, buf);
}

static MatchedAssignments find_matched(const Config *c, const Drive *d, bool on_battery) {
        MatchedAssignments found = {};

        for (const Block *b = c->blocks; b < c->blocks + c->n_blocks; b++) {
                if (!block_fits(b, d))
                        continue;
                for (const Assignment *a = b->assignments; a < b->assignments + b->n_assignments; a++) {
                        if (a->on_battery && !on_battery)
                                continue;
                        must_grow(&found, items);
                        found.items[found.n_items++] = (MatchedAssignment){ b->file, a };
                }
        }
        return found;
}

/* Prints the setting's verdict of the last visit. If there is no verdict, prints whether drives of this kind lack the setting. `record`
 * is NULL if the service has no record of the drive. */
static void print_verdict(Output *o, const DriveRecord *record, const Wish *w, const Drive *d) {
        const SettingRecord *s = record ? drive_record_find(record, w->name) : NULL;
        const char *verdict = s ? verdict_to_string(s->verdict) : NULL, *reason = verdict ? s->reason : NULL;
        const Remedy *remedy = verdict || !d || w->spindown_by != SPINDOWN_BY_DRIVE
                                               ? NULL
                                               : setting_kind_remedy(&all_settings, w->name, drive_backends(d));

        if (remedy)
                reason = remedy->how;
        output_text(o, "verdict", verdict);
        output_text(o, "reason", reason);
        if (verdict || reason)
                output_line(o, "    %s%s%s", verdict ?: "drives of this kind do not have this setting",
                            reason ? ": " : "", reason ?: "");
}

/* Prints each setting that follows `w` in `wishes` and excludes `w`. A drive that supports such a setting does not get `w`. */
static void print_excluding(Output *o, const Wishes *wishes, const Wish *w) {
        output_array(o, "excluded_by");
        for (const Wish *x = w + 1; x < wishes->items + wishes->n_items; x++) {
                _cleanup_free_ char *rule = must(wish_format_rule(x));

                if (!wishes_exclude(w, x, &all_settings))
                        continue;
                output_object(o, NULL);
                output_text(o, "name", x->name);
                output_text(o, "rule", rule);
                output_end(o);
                output_line(o, "    not written if the drive supports %s, which %s sets", x->name, rule);
        }
        output_end(o);
}

/* Prints the setting and the values that it overrides. `value` is NULL if the rule has an error. `d` is NULL if the rule has an error or
 * the value is "keep". */
static void print_wish(Output *o, const MatchedAssignments *matched, const Wishes *wishes, const Wish *w,
                       const char *value, const Drive *d, const DriveRecord *record) {
        _cleanup_free_ char *rule = must(wish_format_rule(w));

        output_object(o, NULL);
        output_text(o, "name", w->name);
        output_text(o, "value", value);
        output_text(o, "rule", rule);
        output_text(o, "temporary", temporary_to_string(w->temporary));
        output_line(o, "  %s = %s, from %s", w->name, value ?: "(not changed, since the rule has an error)", rule);
        print_verdict(o, record, w, d);
        print_excluding(o, wishes, w);
        output_array(o, "overridden");
        for (const MatchedAssignment *s = matched->items; s < matched->items + matched->n_items; s++) {
                const Assignment *a = s->assignment;
                char buf[VALUE_TEXT_MAX];
                const char *lost;

                if (!streq(a->name, w->name) || (s->file == w->file && a->line == w->line && a->column == w->column))
                        continue;

                lost = assignment_format(a, buf);
                output_object(o, NULL);
                output_text(o, "value", lost);
                output_textf(o, "rule", "%s:%u", s->file, a->line);
                output_end(o);
                output_line(o, "    overrides %s, from %s:%u", lost ?: "a value in error", s->file, a->line);
        }
        output_end(o);
        output_end(o);
}

/* While the machine is on mains, prints the values that apply on battery only. Returns false if there are no such values. */
static bool print_on_battery(Output *o, const Config *c, const TemporaryValues *temporary, const Drive *d,
                             const char *setting, const Wishes *mains) {
        _cleanup_(wishes_done) Wishes w = {};
        char buf[VALUE_TEXT_MAX];
        bool any = false;

        must_work(config_resolve(c, d, true, &w));
        must_work(temporary_overlay(temporary, &w));
        for (const Wish *x = w.items; x < w.items + w.n_items; x++) {
                const Wish *same = wishes_find(mains, x->name);

                if ((setting && !streq(x->name, setting)) || x->withheld ||
                    (same && same->file == x->file && same->line == x->line && same->column == x->column))
                        continue;
                output_line(o, "  on battery: %s = %s, from %s:%u", x->name,
                            value_format(&setting_find(&all_settings, x->name)->range, &x->value, buf), x->file,
                            x->line);
                any = true;
        }

        return any;
}

/* Prints the programs that keep the drive from its spin-down. */
static void print_kept(Output *o, const Records *records, const DriveRecord *r) {
        _cleanup_(wake_records_done) WakeRecords kept = {};
        _cleanup_(changed_files_done) ChangedFiles files = {};
        char when[HUMAN_MAX];

        kept_read(records, r, &kept);
        for (size_t i = 0; i < kept.n_items; i++)
                changed_files_add(&files, records, kept.items + i);
        changed_files_find(&files, "/proc", INVENTORY_CLASSDIR);
        kept_print_json(o, r, &kept, records, &files);
        if (!r || kept.n_items == 0)
                return;
        output_line(o, "%s", "");
        output_line(o, "Kept active by (%s):", time_format_short(r->kept_when, now_usec(), when));
        for (size_t i = 0; i < kept.n_items; i++) {
                _cleanup_free_ char *text = kept_format(kept.items + i);
                const char *advice = kept_advice(r, kept.items + i);
                const char *path = changed_files_path(&files, records, kept.items + i);

                output_line(o, "  %s", text);
                if (path)
                        output_line(o, "    changed file: %s", path);
                if (advice)
                        output_line(o, "    %s", advice);
        }
}

/* Prints one setting, or all if `setting` is NULL. */
static void explain_print(Output *o, const Config *c, const TemporaryValues *temporary, const Drive *d,
                          const Records *records, const char *setting, bool on_battery) {
        /* A drive described by --as has no record. */
        const DriveRecord *record = d->name ? records_of(records, d) : NULL;
        char text[SPIN_DOWN_TEXT_MAX];
        const char *spindown = records_spindown(records, d, record, text);
        MatchedAssignments matched;
        _cleanup_(wishes_done) Wishes w = {};
        char buf[VALUE_TEXT_MAX];
        bool any = false, spins_down = false;
        size_t n_wished;

        assert(d);

        must_work(config_resolve(c, d, on_battery, &w));
        must_work(temporary_overlay(temporary, &w));
        /* Adds the settings whose last assignment is "keep". config_resolve() omits such settings, but `explain` prints them, too. */
        matched = find_matched(c, d, on_battery);
        n_wished = w.n_items;
        for (size_t i = 0; i < matched.n_items; i++) {
                const Assignment *a = matched.items[i].assignment;
                bool last = true;

                for (size_t k = i + 1; k < matched.n_items; k++)
                        last = last && !streq(matched.items[k].assignment->name, a->name);
                if (!last || !a->keep || wishes_find(&w, a->name))
                        continue;
                must_grow(&w, items);
                w.items[w.n_items++] =
                                (Wish){ a->name, .file = matched.items[i].file, .line = a->line, .column = a->column };
        }

        output_document(o, NULL);
        output_text(o, "node", d->node);
        output_text(o, "model", d->model);
        output_text(o, "serial", d->serial);
        output_text(o, "transport", transport_to_string(d->transport));
        output_boolean(o, "on_battery", on_battery);
        output_line(o, "%s (model %s, serial %s, transport %s%s)", strna(d->node), strna(d->model), strna(d->serial),
                    transport_to_string(d->transport), on_battery ? ", on battery" : "");

        output_array(o, "rules");
        output_line(o, "%s", "");
        output_line(o, "Rules:");
        for (size_t i = 0; i < c->n_blocks; i++)
                print_rule(o, c->blocks + i, d);
        if (c->n_blocks == 0)
                output_line(o, "  none");
        output_end(o);

        output_array(o, "settings");
        output_line(o, "%s", "");
        output_line(o, "Settings:");
        for (size_t i = 0; i < w.n_items; i++) {
                const Wish *x = w.items + i;
                const Setting *s = setting_find(&all_settings, x->name);

                if (setting && !streq(x->name, setting))
                        continue;
                any = true;
                spins_down = spins_down || (i < n_wished && setting_spin_down_ms(s, &x->value) != UINT64_MAX);
                print_wish(o, &matched, &(Wishes){ .items = w.items, .n_items = n_wished }, x,
                           i >= n_wished ? "keep"
                           : x->withheld ? NULL
                                         : value_format(&s->range, &x->value, buf),
                           i < n_wished && !x->withheld ? d : NULL, record);
        }
        if ((on_battery || !print_on_battery(o, c, temporary, d, setting, &w)) && !any)
                output_line(o, "  no rule sets %s", setting ?: "anything");
        output_end(o);
        output_text(o, "spindown", spindown);
        if (spins_down && record) {
                output_line(o, "%s", "");
                output_line(o, "Spin-down: %s", spindown ?: "none");
        }
        print_kept(o, records, spins_down ? record : NULL);
        advice_print(o, spins_down ? record : NULL, now_usec());
        output_print(o);
        free(matched.items);
}

/* ---- the command ---- */

static int explain_run(const Options *o) {
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(records_done) Records records = {};
        _cleanup_(temporary_freep) TemporaryValues *temporary = NULL;
        _cleanup_(drive_freep) Drive *described = NULL;
        _cleanup_(output_freep) Output *out = output_new(o->json, NULL, 0);
        _cleanup_(config_freep) Config *c = NULL;
        char *none = NULL, **names = o->names ?: &none, *name = o->as ? NULL : *names;
        const char *setting = name ? names[1] : *names;
        size_t n;
        int r;

        if ((!o->as && !name) || (setting && names[name ? 2 : 1])) {
                warnx("give one drive, and at most one setting; usage: 'drivekeep explain DRIVE [SETTING]'");
                return EXIT_BAD_INPUT;
        }

        r = setting ? setting_choose(&all_settings, setting) : EXIT_WANTED;
        if (r == EXIT_WANTED)
                r = name ? records_read_drives(o->state_dir, &inventory, &records) : drive_describe(o->as, &described);
        if (r == EXIT_WANTED && name)
                r = drives_choose(inventory.drives, inventory.n_drives, (char *[]){ name, NULL }, &n);
        if (r != EXIT_WANTED)
                return r;

        must_work(config_new(&c));
        must_work(config_load(c, &all_settings, o->roots));
        if (c->complaints.n_errors > 0)
                warnx("the configuration has errors, and settings in error are not written; 'drivekeep check' shows the errors");

        /* With --config-root or --as, no temporary values are read: temporary values override only the installed configuration, and only
         * for attached drives. */
        if (name && o->n_roots == 0)
                (void) must_not_fail(temporary_read(o->state_dir, inventory.drives[0], &all_settings, &temporary));
        explain_print(out, c, temporary, name ? inventory.drives[0] : described, &records,
                      setting ? setting_state(setting_find(&all_settings, setting)) : NULL,
                      power_on_battery(POWER_SUPPLY_CLASSDIR) > 0);
        return EXIT_WANTED;
}

const Verb verb_explain = {
        .name = "explain",
        .paged = true,
        .summary = "Show which rules apply to a drive, and where its values come from",
        .arguments = "DRIVE [SETTING]\n--as KEY=VALUE,... [SETTING]",
        .help = "Show which rules apply to a drive, which do not and why, and where each value comes from. "
                "For a spin-down timer, also show the programs that keep the drive active, the counted spin-ups and standby time, "
                "and estimates of both for other timers."
                "\v" DRIVE_IS ".",
        .options = OPTION_AS | OPTION_JSON | OPTION_CONFIG_ROOT | OPTION_STATE_DIR,
        .run = explain_run,
};
