/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep list`: prints the drives that udev knows. Power mode, spin-down timer, temperature and the number of kept settings come from
 * the state files, if the service has written them. */

#include <err.h>

#include "attribute.h"
#include "choice.h"
#include "clock.h"
#include "output.h"
#include "record-sum.h"
#include "stack.h"
#include "status-table.h"
#include "verb.h"

/* clang-format off */
static const Column columns[] = {
        { "name", "NAME" },
        { "model", "MODEL", .wrap = true },
        { "serial", "SERIAL" },
        { "firmware", "FIRMWARE", .hide_rank = 2 },
        { "transport", "TRANSPORT" },
        { "size", "SIZE", .right = true },
        { "power", "POWER", .hide_rank = 4 },
        { "spindown", "SPINDOWN", .hide_rank = 3 },
        { "wwn", "WWN", .hide_rank = 1 },
        { "settings", "SETTINGS" },
        { "bay", "BAY" }, /* the last column, which list_run() omits if no drive has a known bay */
};
/* clang-format on */

#define MINUTE_USEC (60ULL * 1000 * 1000)

/* Prints the power mode. The table shows how long a drive has been in standby ("standby 2 h"), or the age of the poll that found the drive
 * active ("active/idle 3 min ago"). */
static void print_power(Output *o, KnownPower power, uint64_t now) {
        const char *word = power_mode_to_string(power.mode);
        bool active = power.mode == POWER_ACTIVE;
        uint64_t from = active ? power.as_of : power.since, usec = now - MIN(from, now);
        char duration[VALUE_TEXT_MAX];
        _cleanup_free_ char *text = NULL;

        output_text(o, "power", word);
        output_time(o, "power_since", power.since);
        output_time(o, "power_as_of", power.as_of);
        /* Times in the future are left out: the clock may have been set back. */
        if (active && from > 0 && usec >= MINUTE_USEC)
                text = must_format("%s %s ago", word, duration_format_short(usec - usec % MINUTE_USEC, duration));
        else if (!active && from > 0 && from <= now)
                text = must_format("%s %s", word, duration_format_short(usec, duration));
        output_cell(o, "power", text ?: word);
}

/* Prints one drive. The counts of settings are unknown without a record. If the service does not run, the record does not show the current
 * power mode. */
static void print_drive(Output *o, const Drive *d, const Records *records, uint64_t now) {
        const DriveRecord *record = records_find(records, d->name);
        char size[HUMAN_MAX], text[RECORD_SUM_MAX], spindown[SPIN_DOWN_TEXT_MAX];
        const char *settings = NULL;
        const KnownNumber temperature = record ? record->use.wear.temperature : (KnownNumber){};
        _cleanup_free_ char *bay = NULL;
        RecordSum sum = {};

        (void) must_not_fail(stack_bay(d->syspath, &bay));
        if (record) {
                record_sum_add(&sum, record);
                settings = record_sum_format_settings(&sum, text);
        }

        output_row(o);
        output_text(o, "name", d->name);
        output_text(o, "node", d->node);
        output_text(o, "model", d->model);
        output_text(o, "serial", d->serial);
        output_text(o, "wwn", d->wwn);
        output_text(o, "firmware", d->firmware);
        output_text(o, "dock_model", d->dock_model);
        output_text(o, "dock_serial", d->dock_serial);
        output_text(o, "transport", transport_to_string(d->transport));
        output_text(o, "identity", identity_kind_to_string(drive_identity_kind(d)));
        output_text(o, "path", drive_property(d, "ID_PATH"));
        output_text(o, "bay", bay);
        output_number(o, "size", true, d->size);
        output_cell(o, "size", capacity_format(d->size, size));
        print_power(o, records_power(records->served, d->name, record, now), now);
        output_number(o, "temperature", temperature.known, temperature.number);
        output_time(o, "temperature_as_of", temperature.known ? record->use.wear_when : 0);
        output_text(o, "spindown", records_spindown(records, d, record, spindown));
        output_number(o, "settings_kept", record, (int64_t) sum.n_kept);
        output_number(o, "settings_not_kept", record, (int64_t) record_sum_missed(&sum));
        output_cell(o, "settings", settings);
        output_end(o);
}

static int list_run(const Options *o) {
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(records_done) Records records = {};
        bool has_bays = attribute_exists("/sys/block/*/device/enclosure_device:*");
        _cleanup_(output_freep) Output *out = output_new(o->json, columns, ELEMENTSOF(columns) - !has_bays);
        uint64_t now = now_usec();
        int r;

        r = records_read_drives(o->state_dir, &inventory, &records);
        if (r < 0)
                return r;

        if (inventory.n_drives == 0)
                warnx(NO_DRIVES);
        else if (records.n_items > 0)
                status_print_empty(&records, records.n_items);

        output_document(out, NULL);
        output_time(out, "time", now);
        output_array(out, "drives");
        for (size_t i = 0; i < inventory.n_drives; i++)
                print_drive(out, inventory.drives[i], &records, now);
        output_end(out);
        output_print(out);
        return EXIT_WANTED;
}

const Verb verb_list = {
        .name = "list",
        .paged = true,
        .summary = "Show the drives, their power modes, and how many of their settings are kept",
        .help = "Show the drives that drivekeep supports, whether or not its service runs.",
        .options = OPTION_JSON | OPTION_STATE_DIR,
        .run = list_run,
};
