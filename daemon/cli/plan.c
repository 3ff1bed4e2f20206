/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep plan`: reads the configuration and the drives, and prints what the daemon would write. Writes nothing. */

#include <err.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "choice.h"
#include "dry-visit.h"
#include "machine.h"
#include "output.h"
#include "records.h"
#include "request.h"
#include "safe-file.h"
#include "settings.h"
#include "status-table.h"
#include "temporary.h"
#include "verb.h"

/* clang-format off */
static const Column columns[] = {
        { "drive", "DRIVE" },
        { "name", "SETTING" },
        { "wanted", "WANTED" },
        { "present", "PRESENT" },
        { "action", "ACTION", .verdict = true },
        { "rule", "RULE", .wrap = true, .path = true },
};
/* clang-format on */

static void print_step(Output *o, const Drive *d, const Step *s) {
        _cleanup_free_ char *rule = must(wish_format_rule(s->wish));
        /* If this kind of drive lacks the setting, formats the value as for another kind of drive that has the setting. */
        const Setting *setting = s->setting ?: setting_find(&all_settings, s->wish->name);
        char wanted[VALUE_TEXT_MAX], present[VALUE_TEXT_MAX];

        output_row(o);
        output_cell(o, "drive", d->name);
        output_text(o, "name", s->wish->name);
        output_text(o, "wanted",
                    setting && !s->wish->withheld ? value_format(&setting->range, &s->wish->value, wanted) : NULL);
        output_text(o, "present",
                    setting && s->before.known ? value_format(&setting->range, &s->before.value, present) : NULL);
        output_text(o, "action", s->write ? "write" : verdict_to_string(s->verdict));
        output_text(o, "reason", s->reason[0] ? s->reason : NULL);
        output_text(o, "rule", rule);
        output_text(o, "temporary", temporary_to_string(s->wish->temporary));
        output_boolean(o, "optional", s->wish->optional);
        output_boolean(o, "remediable", s->remediable);
        output_end(o);

        if (s->reason[0])
                output_note(o, "%s %s: %s", d->name, s->wish->name, s->reason);
}

typedef struct Planner {
        const Config *config;
        const Records *records;
        const DeviceIO *io;
        Output *output;
        const char *state_dir; /* directory of temporary values; NULL: the plan is made without temporary values */
        bool on_battery, permanent;
        Lacking lacking;
        bool absent;       /* also print optional settings that a drive lacks */
        bool any;          /* at least one drive has a wanted setting */
        ExitStatus status; /* EXIT_WANTED if each value is as wanted and none would be written; otherwise another status */
} Planner;

static int plan_drive(Planner *p, const Drive *d, Plan *plan, Wishes *wishes) {
        const DriveRecord *record = records_of(p->records, d);
        _cleanup_(temporary_freep) TemporaryValues *temporary = NULL;
        _cleanup_free_ Memory *memories = NULL;
        Visit v = dry_visit(d, record, wishes, p->io);

        must_work(config_resolve(p->config, d, p->on_battery, wishes));
        if (p->state_dir)
                (void) must_not_fail(temporary_read(p->state_dir, d, &all_settings, &temporary));
        must_work(temporary_overlay(temporary, wishes));
        /* If the service has sent a value that cannot be read back, the value is not planned again: the record lists the sent values. */
        if (record)
                must_work(drive_record_memories(record, wishes, &memories));

        v.memories = memories;
        v.work |= p->permanent ? WORK_PERMANENT : 0;
        return must_not_fail(visit_run(&v, plan));
}

static void print_drive(Planner *p, const Drive *d) {
        _cleanup_(wishes_done) Wishes wishes = {};
        _cleanup_(plan_done) Plan plan = {}; /* steps point into `wishes` */
        Output *o = p->output;
        int r;

        r = plan_drive(p, d, &plan, &wishes);
        if (r < 0) {
                warnx("%s cannot be read: %s", d->name, strerror(-r));
                p->status = EXIT_NOT_WANTED;
        }
        p->any = p->any || wishes.n_items > 0;

        output_object(o, NULL);
        output_text(o, "name", d->name);
        output_text(o, "node", d->node);
        output_text(o, "model", d->model);
        output_text(o, "serial", d->serial);
        output_text(o, "wwn", d->wwn);
        output_array(o, "settings");
        for (size_t i = 0; i < plan.n_steps; i++) {
                const Step *s = plan.steps + i;

                if (p->absent || !verdict_is_absent(s->verdict, s->wish->optional))
                        print_step(o, d, s);
                else if (s->remediable) {
                        _cleanup_free_ char *rule = must(wish_format_rule(s->wish));

                        lacking_add(&p->lacking, rule, s->wish->name, d->name, s->reason);
                }
                p->status = exit_worse(p->status,
                                       s->write ? EXIT_NOT_WANTED : exit_of_verdict(s->verdict, s->wish->optional));
        }
        output_end(o);
        output_end(o);
}

/* Moves the names of drives before the names of configuration files, and returns the number of drives. The order within both groups stays.
 * The path of a regular file counts as the name of a configuration file. */
static size_t names_part(char **names) {
        size_t n_drives = 0;

        for (size_t i = 0; names[i]; i++) {
                struct stat st;
                char *name = names[i];

                if (stat(name, &st) >= 0 && S_ISREG(st.st_mode))
                        continue;
                memmove(names + n_drives + 1, names + n_drives, (i - n_drives) * sizeof *names);
                names[n_drives++] = name;
        }
        return n_drives;
}

/* Loads a FILE of the command line. Any user may own the file, since `plan` writes nothing. */
static int load_file(Config *c, const char *path) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        _cleanup_free_ char *text = NULL;
        const char *objection = NULL;
        size_t size = 0;
        int r;

        r = fd < 0 ? -errno : must_not_fail(text_descriptor_read(fd, &text, &size, &objection));
        if (r != 0) {
                warn_escaped("%s cannot be read: %s", path, r < 0 ? strerror(-r) : objection);
                return EXIT_BAD_INPUT;
        }

        must_work(config_parse(c, &all_settings, path, text, size));
        return EXIT_WANTED;
}

/* Loads `files`. If there are none, loads the installed configuration. */
static int plan_load(Config *c, const Options *o, char *const *files) {
        int r = EXIT_WANTED;

        if (!*files) {
                must_work(config_load(c, &all_settings, o->roots));
                return EXIT_WANTED;
        }
        if (o->n_roots > 0) {
                warn_escaped("give either the file '%s' or --config-root, not both", *files);
                return EXIT_BAD_INPUT;
        }

        for (; *files && r == EXIT_WANTED; files++)
                r = load_file(c, *files);
        return r;
}

static int plan_run(const Options *o) {
        char *none = NULL, **names = o->names ?: &none;
        size_t n_drives = names_part(names), n;
        const char *state_dir = names[n_drives] || o->n_roots > 0 ? NULL : o->state_dir;
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(config_freep) Config *config = NULL;
        _cleanup_(records_done) Records records = {};
        _cleanup_(output_freep) Output *output = output_new(o->json, columns, ELEMENTSOF(columns));
        _cleanup_(permission_done) Permission permission = {};
        int on_battery, r;

        if (geteuid() != 0) {
                warnx("reading the drives needs root");
                return EXIT_BAD_INPUT;
        }

        must_work(config_new(&config));
        r = plan_load(config, o, names + n_drives);
        if (r != EXIT_WANTED)
                return r;
        for (size_t i = 0; i < config->complaints.n_items; i++)
                warn_complaint(config->complaints.items + i);
        names[n_drives] = NULL;

        r = records_read_drives(o->state_dir, &inventory, &records);
        if (r < 0)
                return r;

        r = drives_choose(inventory.drives, inventory.n_drives, n_drives > 0 ? names : NULL, &n);
        if (r != EXIT_WANTED)
                return r;

        r = permission_get(&permission, o->state_dir, inventory.drives, n);
        if (r != EXIT_WANTED)
                return r;

        on_battery = o->on_battery ? 1 : power_on_battery(POWER_SUPPLY_CLASSDIR);
        if (on_battery < 0)
                return on_battery;

        Planner p = { .config = config,
                      .records = &records,
                      .io = &permission.io,
                      .output = output,
                      .state_dir = state_dir,
                      .on_battery = on_battery,
                      .permanent = o->permanent,
                      .absent = o->json || o->verbose };

        output_document(output, "drives");
        for (size_t i = 0; i < n; i++)
                print_drive(&p, inventory.drives[i]);
        lacking_print(&p.lacking, output);
        lacking_done(&p.lacking);
        if (inventory.n_drives == 0)
                warnx(NO_DRIVES);
        else if (config->n_files == 0 && config->complaints.n_errors == 0)
                warnx("there is no configuration, so no setting is written");
        else if (!p.any && config->complaints.n_errors == 0)
                warnx(NO_RULES);
        output_print(output);

        if (config->complaints.n_errors > 0)
                return EXIT_BAD_INPUT;
        return p.status;
}

const Verb verb_plan = {
        .name = "plan",
        .paged = true,
        .summary = "Show what would be written to the drives",
        .arguments = "[DRIVE...]\nFILE... [DRIVE...]",
        .help = "Show what would be written to the drives, and why. Write nothing. Reading the drives needs root."
                "\v" DRIVE_IS "; without DRIVE: all drives. "
                "With FILE, plan for these files instead of the installed configuration.",
        .options = OPTION_ON_BATTERY | OPTION_PERMANENT | OPTION_VERBOSE | OPTION_JSON | OPTION_STATE_DIR |
                   OPTION_CONFIG_ROOT,
        .run = plan_run,
};
