/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep plan`: reads configuration and drives, and shows what the daemon would write. Writes nothing. */

#include <err.h>
#include <systemd/sd-id128.h>

#include "check-running.h"
#include "choice.h"
#include "inventory.h"
#include "options.h"
#include "plan-view.h"
#include "power-supply.h"
#include "records.h"
#include "settings.h"
#include "text.h"
#include "visit.h"

#define CONFIG_ROOTS_MAX 8U

typedef struct PlanOptions {
        Options common; /* first: options_parse() sees only this */
        const char *roots[CONFIG_ROOTS_MAX + 1];
        size_t n_roots;
} PlanOptions;

static const struct argp_option options[] = {
        OPTION_JSON,
        OPTION_STATE_DIR,
        { "config-root", OPTION_KEY_CONFIG_ROOT, "DIR", 0,
          "Read DIR/drivekeep instead of that of /etc, /run and /usr/lib; given again: what stands first masks", 0 },
        OPTION_HELP,
        {},
};

static error_t parse(int key, char *argument, struct argp_state *state) {
        PlanOptions *o = state->input;

        if (key != OPTION_KEY_CONFIG_ROOT)
                return options_parse(key, argument, state);

        if (o->n_roots == CONFIG_ROOTS_MAX)
                argp_error(state, "there may be no more than %u of --config-root", CONFIG_ROOTS_MAX);
        else
                o->roots[o->n_roots++] = argument;
        return 0;
}

static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "[DRIVE...]",
        .doc = "Shows what would be written to the drives and why. Writes nothing, and needs root to read them."
               "\vDRIVE is a kernel name, a node, a link to it, a serial number or a WWN; none means all drives.",
};

typedef struct Plans {
        DrivePlan *items;
        size_t n_items;
        bool unread; /* a drive could not be read; said on stderr */
} Plans;

static void plans_done(Plans *p) {
        for (size_t i = 0; i < p->n_items; i++)
                drive_plan_done(p->items + i);
        free(p->items);
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

static int choose(const Inventory *inventory, char *const *names, bool **ret) {
        _cleanup_free_ Candidate *candidates = NULL;

        candidates = calloc(MAX(inventory->n_drives, 1U), sizeof *candidates);
        if (!candidates)
                return -ENOMEM;

        for (size_t i = 0; i < inventory->n_drives; i++) {
                const Drive *d = inventory->drives[i];

                candidates[i] = (Candidate){ .name = d->name, .serial = d->serial, .wwn = d->wwn };
        }

        return candidates_choose(candidates, inventory->n_drives, names, "", ret);
}

/* What the service has sent and nobody can read, it would not send again; without its records, it would. */
static int read_memories(const Records *records, const DrivePlan *p, Memory **ret) {
        const DriveRecord *record = records_find(records, p->drive->name);
        char boot_id[SD_ID128_STRING_MAX];
        sd_id128_t boot;

        if (!record || sd_id128_get_boot(&boot) < 0 ||
            !drive_record_continues(record, p->drive, sd_id128_to_string(boot, boot_id))) {
                *ret = NULL;
                return 0;
        }

        return drive_record_memories(record, &p->wishes, ret);
}

static int plan_make(const Records *records, const Config *config, bool on_battery, DrivePlan *p) {
        _cleanup_free_ Memory *memories = NULL;
        int r;

        r = config_resolve(config, p->drive, on_battery, &p->wishes);
        if (r >= 0)
                r = read_memories(records, p, &memories);
        if (r < 0)
                return r;

        const Visit v = { .drive = p->drive, .wishes = &p->wishes, .memories = memories, .settings = &all_settings };
        return visit_dry_run(&v, &p->plan);
}

static int plans_make(const Inventory *inventory, const bool *chosen, const Config *config, const char *state_dir,
                      Plans *ret) {
        _cleanup_(plans_done) Plans plans = {};
        _cleanup_(records_done) Records records = {};
        int on_battery;

        on_battery = power_on_battery(POWER_SUPPLY_CLASSDIR);
        if (on_battery < 0)
                return on_battery;

        (void) records_read(state_dir, &records);

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
                r = plan_make(&records, config, on_battery, p);
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

static int run(int argc, char *argv[]) {
        static const char *const default_roots[] = { "/etc", "/run", "/usr/lib", NULL };
        PlanOptions o = { .common = { .state_dir = STATE_DIR, .takes_names = true } };
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(config_freep) Config *config = NULL;
        _cleanup_(plans_done) Plans plans = {};
        _cleanup_free_ bool *chosen = NULL;
        _cleanup_free_ char *unit = NULL;
        int r;

        (void) argp_parse(&argp, argc, argv, 0, NULL, &o);

        if (geteuid() != 0) {
                warnx("reading the drives needs root; try 'sudo drivekeep plan'");
                return EXIT_BAD_INPUT;
        }

        r = check_running(&unit);
        if (r == -ENOMEM)
                return r;
        if (r > 0) {
                warnx("%s is queued or running, and no drive is asked anything before it has ended; try again then",
                      unit);
                return EXIT_NOT_WANTED;
        }

        r = config_new(&config);
        if (r >= 0)
                r = config_load(config, &all_settings, o.n_roots > 0 ? o.roots : default_roots);
        if (r >= 0)
                r = complaints_print(&config->complaints);
        if (r >= 0)
                r = inventory_read(&inventory);
        if (r < 0)
                return r;

        r = choose(&inventory, o.common.names, &chosen);
        if (r == -EINVAL)
                return EXIT_BAD_INPUT;
        if (r < 0)
                return r;

        r = plans_make(&inventory, chosen, config, o.common.state_dir, &plans);
        if (r >= 0)
                r = plan_view_print(plans.items, plans.n_items, &all_settings, o.common.json);
        if (r < 0)
                return r;

        if (config->complaints.n_errors > 0)
                return EXIT_BAD_INPUT;

        return plans.unread ? EXIT_NOT_WANTED : r;
}

const Verb verb_plan = {
        .name = "plan",
        .summary = "Show what would be written, and write nothing",
        .run = run,
};
