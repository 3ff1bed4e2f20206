/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep plan`: reads configuration and drives, and shows what the daemon would write. Writes nothing. */

#include <err.h>
#include <systemd/sd-id128.h>

#include "activity.h"
#include "choice.h"
#include "clock.h"
#include "inventory.h"
#include "leave.h"
#include "output.h"
#include "power-supply.h"
#include "records.h"
#include "settings.h"
#include "text.h"
#include "verb.h"
#include "visit.h"

static const struct argp_option options[] = {
        { "permanent", OPTION_KEY_PERMANENT, NULL, 0, "What 'drivekeep apply --permanent' would write", 0 },
        OPTION_JSON,
        OPTION_STATE_DIR,
        OPTION_CONFIG_ROOT,
        OPTION_HELP,
        {},
};

typedef struct DrivePlan {
        const Drive *drive; /* borrowed */
        Wishes wishes;
        Plan plan; /* its steps point into `wishes`, so a DrivePlan stays where it is */
} DrivePlan;

typedef struct Plans {
        DrivePlan *items;
        size_t n_items;
        bool unread; /* a drive could not be read; said on stderr */
} Plans;

static void plans_done(Plans *p) {
        for (size_t i = 0; i < p->n_items; i++) {
                plan_done(&p->items[i].plan);
                wishes_done(&p->items[i].wishes);
        }
        free(p->items);
}

/* Of drives that are there, nothing is wanted. */
static bool plans_are_empty(const Plans *p) {
        for (size_t i = 0; i < p->n_items; i++)
                if (p->items[i].wishes.n_items > 0)
                        return false;

        return p->n_items > 0;
}

static int complaints_print(const Complaints *c) {
        for (size_t i = 0; i < c->n_items; i++) {
                _cleanup_free_ char *line = NULL, *escaped = NULL;

                line = complaint_format(c->items + i);
                escaped = line ? text_escape(line, NULL) : NULL;
                if (!escaped)
                        return -ENOMEM;
                fprintf(stderr, "%s\n", escaped);
        }

        return 0;
}

/* The service's record of this attach of the drive, or NULL. */
static const DriveRecord *find_record(const Records *records, const Drive *drive) {
        const DriveRecord *record = records_find(records, drive->name);
        char boot_id[SD_ID128_STRING_MAX];
        sd_id128_t boot;

        if (!record || sd_id128_get_boot(&boot) < 0 ||
            !drive_record_continues(record, drive, sd_id128_to_string(boot, boot_id)))
                return NULL;
        return record;
}

static bool drive_is_active(const DriveRecord *record, const Drive *drive) {
        uint64_t used;

        return activity_read(drive->syspath, &used) >= 0 && drive_record_in_use(record, used, monotonic_usec());
}

static bool drive_is_deaf(const DriveRecord *record, const Drive *drive) {
        uint64_t used;

        return activity_read(drive->syspath, &used) >= 0 && drive_record_is_deaf(record, used);
}

static int plan_make(const Records *records, const Config *config, bool on_battery, const DeviceIO *io, bool permanent,
                     DrivePlan *p) {
        const DriveRecord *record = find_record(records, p->drive);
        _cleanup_free_ Memory *memories = NULL;
        int r;

        r = config_resolve(config, p->drive, on_battery, &p->wishes);
        /* What the service has sent and nobody can read, it would not send again; without its records, it would. */
        if (r >= 0 && record)
                r = drive_record_memories(record, &p->wishes, &memories);
        if (r < 0)
                return r;

        const Visit v = { .drive = p->drive,
                          .wishes = &p->wishes,
                          .memories = memories,
                          .bridge = record ? &record->bridge : NULL,
                          .settings = &all_settings,
                          .io = io,
                          .permanent = permanent,
                          .active = drive_is_active(record, p->drive),
                          .deaf = drive_is_deaf(record, p->drive) };
        return visit_dry_run(&v, &p->plan);
}

static int plans_make(const Inventory *inventory, const bool *chosen, const Config *config, const Records *records,
                      const DeviceIO *io, bool permanent, Plans *ret) {
        _cleanup_(plans_done) Plans plans = {};
        int on_battery;

        on_battery = power_on_battery(POWER_SUPPLY_CLASSDIR);
        if (on_battery < 0)
                return on_battery;

        plans.items = calloc(MAX(inventory->n_drives, 1U), sizeof *plans.items);
        if (!plans.items)
                return -ENOMEM;

        for (size_t i = 0; i < inventory->n_drives; i++) {
                DrivePlan *p = plans.items + plans.n_items;
                int r;

                if (!chosen[i])
                        continue;

                p->drive = inventory->drives[i];
                plans.n_items++;
                r = plan_make(records, config, on_battery, io, permanent, p);
                if (r == -ENOMEM)
                        return r;
                if (r < 0) {
                        warnx("%s cannot be read: %s", p->drive->name, strerror(-r));
                        plans.unread = true;
                }
        }

        *ret = plans;
        plans = (Plans){};
        return 0;
}

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

static void tell_step(Output *o, const Drive *d, const Step *s) {
        /* The range of some row, where none is for this kind of drive. */
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
        output_textf(o, "rule", "%s:%u", s->wish->file, s->wish->line);
        output_end(o);

        if (s->reason[0])
                output_note(o, "%s %s: %s", d->name, s->wish->name, s->reason);
}

/* Returns EXIT_WANTED when nothing is left to be done, EXIT_NOT_WANTED, or a negative errno. */
static int plans_print(const Plans *plans, bool json) {
        _cleanup_(output_freep) Output *o = NULL;
        bool wanted = true;
        int r;

        r = output_new(json, columns, ELEMENTSOF(columns), &o);
        if (r < 0)
                return r;

        output_array(o, NULL);
        for (size_t i = 0; i < plans->n_items; i++) {
                const DrivePlan *p = plans->items + i;

                output_object(o, NULL);
                output_text(o, "name", p->drive->name);
                output_text(o, "node", p->drive->node);
                output_text(o, "model", p->drive->model);
                output_text(o, "serial", p->drive->serial);
                output_text(o, "wwn", p->drive->wwn);
                output_array(o, "settings");
                for (size_t j = 0; j < p->plan.n_steps; j++) {
                        const Step *s = p->plan.steps + j;

                        tell_step(o, p->drive, s);
                        wanted = wanted && !s->write && verdict_is_wanted(s->verdict);
                }
                output_end(o);
                output_end(o);
        }

        r = output_print(o);
        if (r < 0)
                return r;
        return wanted ? EXIT_WANTED : EXIT_NOT_WANTED;
}

static int run(const Options *o) {
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(config_freep) Config *config = NULL;
        _cleanup_(plans_done) Plans plans = {};
        _cleanup_(records_done) Records records = {};
        _cleanup_free_ bool *chosen = NULL;
        _cleanup_(leave_done) Leave leave = {};
        int r;

        if (geteuid() != 0) {
                warnx("reading the drives needs root; try 'sudo drivekeep plan'");
                return EXIT_BAD_INPUT;
        }

        r = config_new(&config);
        if (r >= 0)
                r = config_load(config, &all_settings, options_roots(o));
        if (r >= 0)
                r = complaints_print(&config->complaints);
        if (r >= 0)
                r = inventory_read(NULL, &inventory);
        if (r < 0)
                return r;
        (void) records_read(o->state_dir, &records);
        r = records_reveal(&records, inventory.drives, inventory.n_drives);
        if (r < 0)
                return r;

        r = drives_choose(inventory.drives, inventory.n_drives, o->names, &chosen);
        if (r == -EINVAL)
                return EXIT_BAD_INPUT;
        if (r < 0)
                return r;

        if (inventory.n_drives == 0)
                warnx(NO_DRIVES);
        else if (config->n_files == 0 && config->complaints.n_errors == 0)
                warnx("there is no configuration, so nothing is ever written");

        r = leave_get(&leave, o->state_dir, inventory.drives, chosen, inventory.n_drives);
        if (r != EXIT_WANTED)
                return r;

        r = plans_make(&inventory, chosen, config, &records, &leave.io, o->permanent, &plans);
        if (r >= 0 && config->n_files > 0 && config->complaints.n_errors == 0 && plans_are_empty(&plans))
                warnx(NO_RULES);
        if (r >= 0)
                r = plans_print(&plans, o->json);
        if (r < 0)
                return r;

        if (config->complaints.n_errors > 0)
                return EXIT_BAD_INPUT;

        return plans.unread ? EXIT_NOT_WANTED : r;
}

const Verb verb_plan = {
        .name = "plan",
        .summary = "Show what would be written, and write nothing",
        .arguments = "[DRIVE...]",
        .help = "Shows what would be written to the drives and why. Writes nothing, and needs root to read them."
                "\vDRIVE is a kernel name, a node, a link to it, a serial number or a WWN; none means all drives.",
        .options = options,
        .run = run,
};
