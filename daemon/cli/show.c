/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep show`: for a given drive, prints each setting with its support and current value. Without a drive, prints all drives, one
 * line each. With --identify, prints the contents of a saved IDENTIFY image. */

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "advice.h"
#include "ata-identify.h"
#include "choice.h"
#include "clock.h"
#include "kernel-view.h"
#include "known-device.h"
#include "measuring.h"
#include "nvme.h"
#include "output.h"
#include "power-mode.h"
#include "probe.h"
#include "records.h"
#include "request.h"
#include "safe-file.h"
#include "settings.h"
#include "sysfs.h"
#include "try-values.h"
#include "verb.h"
#include "wear-read.h"

/* Backends whose drives report their power mode. */
#define STATE_BACKENDS (1U << BACKEND_ATA | 1U << BACKEND_SCSI_MODE)

/* clang-format off */
static const Column columns[] = {
        { "name", "SETTING" },
        { "transport", "BACKEND", .hide_rank = 1 },
        { "supported", "SUPPORTED" },
        { "value", "VALUE" },
        { "saved", "SAVED", .hide_rank = 1 },
        { "reason", "REMARK", .wrap = true },
};
/* clang-format on */

static const char *reading_format(const Probed *s, bool known, const Value *v, char buf[static VALUE_TEXT_MAX]) {
        return known && s->reading.supported ? value_format(&s->setting->range, v, buf) : NULL;
}

typedef struct Shown {
        Output *o;
        bool named; /* only the setting that the user named is shown */
} Shown;

static void print_setting(void *userdata, const Probed *s) {
        char value[VALUE_TEXT_MAX], saved[VALUE_TEXT_MAX], span[VALUE_SPAN_MAX], *range = NULL;
        _cleanup_free_ char *remark = NULL;
        const Shown *shown = userdata;
        Output *o = shown->o;

        if ((s->setting->flags & SETTING_SCHEDULER) && !s->reading.supported && !shown->named)
                return;

        output_row(o);
        output_text(o, "name", s->setting->name);
        output_text(o, "transport", backend_to_string(s->setting->backend));
        output_text(o, "value", reading_format(s, s->reading.known, &s->reading.value, value));
        output_text(o, "saved", reading_format(s, s->reading.saved_known, &s->reading.saved, saved));
        output_text(o, "reason", s->reason);
        if (s->reading.limited)
                range = value_format_span(s->setting->range.type, s->reading.min, s->reading.max, span);
        if (range && !s->reason) {
                remark = must_format("range: %s%s", range, s->reading.fixed ? "; the value cannot be changed" : "");
                output_cell(o, "reason", remark);
        }
        output_text(o, "range", range);
        output_boolean(o, "changeable", s->reading.limited ? !s->reading.fixed : -1);
        output_boolean(o, "supported", s->reading.supported || !s->reason ? s->reading.supported : -1);
        output_boolean(o, "exact",
                       s->reading.supported && s->reading.known
                                       ? value_has_exact_text(&s->setting->range, &s->reading.value)
                                       : -1);
        output_end(o);
}

static void print_facts(Output *o, const Device *d) {
        if (!d->identify_valid) {
                output_text(o, "ata", NULL);
                return;
        }

        output_object(o, "ata");
        for (const IdentifyFact *f = identify_facts; f->key; f++) {
                char text[IDENTIFY_FACT_MAX] = "";

                f->print(d->identify, text);
                output_fact(o, f->title, f->key, *text ? text : NULL);
        }
        output_end(o);
}

/* ---- --wear: temperature, wear and self-test ---- */

static void print_number(Output *o, const char *title, const char *key, KnownNumber n) {
        _cleanup_free_ char *text = n.known ? must_format("%" PRId64, n.number) : NULL;

        output_number(o, key, n.known, n.number);
        output_fact(o, title, NULL, text);
}

/* Reads a temperature, which the NVMe driver reads from the drive (drivers/nvme/host/hwmon.c). The file is in thousandths of a degree
 * Celsius. The result is rounded, since the controller reports whole kelvins, and the kernel subtracts 273.15. */
static KnownNumber read_hwmon(Device *d, const char *name) {
        _cleanup_free_ char *path = must_format("device/hwmon*/%s", name);
        KnownNumber n = {};

        n.known = sysfs_number(d, path, &n.number) >= 0;
        n.number = (n.number + 500) / 1000;
        return n;
}

/* Reads temperature, wear and self-test state from the drive. Prints JSON null if the drive is in standby. */
static void print_wear(Output *o, Device *device, unsigned backends) {
        unsigned state_backends = backends & STATE_BACKENDS;
        KnownNumber most = {};
        bool testing = false;
        Wear w = {};

        if (state_backends && power_probe(device, power_backend(state_backends)) < 0) {
                output_text(o, "wear", NULL);
                return;
        }
        if (state_backends)
                (void) wear_and_test_read(device, power_backend(state_backends), &w, &testing);
        else if (backends & 1U << BACKEND_NVME) {
                (void) nvme_is_testing(device, &testing);
                w.temperature = read_hwmon(device, "temp1_input");
                most = read_hwmon(device, "temp1_max");
        }

        output_object(o, "wear");
        print_number(o, "celsius", "celsius", w.temperature);
        print_number(o, "warns above", "celsius_max", most);
        print_number(o, "load cycles", "load_cycles", w.load_cycles);
        print_number(o, "start-stops", "start_stops", w.start_stops);
        output_boolean(o, "testing", testing);
        output_fact(o, "self-test", NULL, testing ? "in progress" : NULL);
        output_end(o);
}

/* Returns a key that still identifies the drive after a reboot: the UUID of a volume or an array does not depend on its kernel name. */
static const char *persistent_key(const Drive *d) {
        return drive_property(d, "DM_UUID") ?: drive_property(d, "MD_UUID") ?: d->wwn ?: d->serial ?: d->name;
}

/* Prints a value of `match` for this drive, for use in a configuration block. */
static void print_match(Output *o, const Drive *d) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        try_values_put_match(f, d);
        must_close(f);
        output_text(o, "match", text);
}

/* Prints all settings of these backends. If `name` is not NULL, prints only this setting. */
static void print_settings(Output *o, Device *device, unsigned backends, const char *name) {
        const Setting *row = name ? setting_for_backends(&all_settings, name, backends) : NULL;
        const Setting rows[] = { row ? *row : (Setting){}, {} };
        const SettingTable one = { { rows } };
        Shown shown = { o, name };

        output_array(o, "settings");
        if (row || !name)
                probe(device, backends, name ? &one : &all_settings, print_setting, &shown);
        output_end(o);
}

/* Prints the drive and the settings of the backends in the mask. `record` is NULL if the service has no record of the drive. */
static void print_drive(Output *o, const Options *options, Device *device, unsigned backends, const Records *records,
                        const DriveRecord *record) {
        const Drive *d = device->drive;
        const char *state, *reason = NULL;
        char size[HUMAN_MAX], spindown[SPIN_DOWN_TEXT_MAX];

        output_object(o, NULL);
        output_text(o, "name", d->name);
        output_text(o, "key", persistent_key(d));
        print_match(o, d);
        output_fact(o, "drive", "node", d->node);
        output_fact(o, "model", "model", d->model);
        output_fact(o, "serial", "serial", d->serial);
        output_fact(o, "firmware", "firmware", d->firmware);
        output_fact(o, "wwn", "wwn", d->wwn);
        output_number(o, "size", true, d->size);
        output_fact(o, "size", NULL, capacity_format(d->size, size));
        output_boolean(o, "rotational", d->rotational_unknown ? -1 : d->rotational);
        output_fact(o, "rotates", NULL, d->rotational_unknown ? NULL : d->rotational ? "yes" : "no");
        output_fact(o, "spindown", "spindown", records ? records_spindown(records, d, record, spindown) : NULL);

        if (options->wear)
                print_wear(o, device, backends);

        print_settings(o, device, backends, options->setting);

        state = power_state(device);
        if (device->power == POWER_UNKNOWN && (backends & STATE_BACKENDS) && probe_needs_root(-EACCES))
                reason = PROBE_NEEDS_ROOT;
        output_text(o, "state", state);
        output_text(o, "reason", reason);
        output_fact(o, "state", NULL, state ?: reason);
        print_facts(o, device);
        advice_print(o, record, now_usec());
        output_end(o);
}

/* Like text_file_read(), but the image may be a pipe and may belong to any user, since it is only printed. Device nodes are rejected:
 * opening a disk may wake the disk. */
static int read_image(const char *path, char **ret_text, size_t *ret_size, const char **ret_objection) {
        _cleanup_close_ int fd = -EBADF;
        struct stat st;

        if (streq(path, "-"))
                return text_descriptor_read(STDIN_FILENO, ret_text, ret_size, ret_objection);

        if (stat(path, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode)) {
                *ret_objection = "this is neither a file nor a pipe";
                return 1;
        }

        fd = open(path, O_RDONLY | O_CLOEXEC);
        return fd < 0 ? -errno : text_descriptor_read(fd, ret_text, ret_size, ret_objection);
}

static int show_identify(const Options *o) {
        _cleanup_(output_freep) Output *out = output_new(o->json, columns, ELEMENTSOF(columns));
        _cleanup_(drive_freep) Drive *drive = NULL;
        _cleanup_free_ char *text = NULL;
        const char *objection = NULL;
        Device d;
        uint16_t id[256];
        DeviceIO io = { .image = id };
        size_t size = 0;
        int r;

        r = must_not_fail(read_image(o->identify, &text, &size, &objection));
        if (r != 0) {
                warn_escaped("%s: %s%s", o->identify, r < 0 ? "the file cannot be read: " : "",
                             r < 0 ? strerror(-r) : objection);
                return EXIT_BAD_INPUT;
        }

        objection = identify_image_parse(text, size, id) < 0
                                    ? "is not an IDENTIFY DEVICE image; an image is 512 bytes from a drive, or 256 hexadecimal "
                                      "words from 'hdparm --Istdout'"
                                    : identify_image_problem(id);
        if (objection) {
                warn_escaped("%s %s", o->identify, objection);
                return EXIT_BAD_INPUT;
        }
        if (!identify_checksum_ok(id))
                warn_escaped("%s has a wrong checksum, and may differ from what the drive sent", o->identify);

        must_work(identify_image_drive(id, o->identify, &drive));
        device_init(&d, drive, &io);
        output_document(out, "drives");
        print_drive(out, o, &d, 1U << BACKEND_ATA, NULL, NULL);
        output_print(out);
        return EXIT_WANTED;
}

static int show_drives(const Options *o) {
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(records_done) Records records = {};
        _cleanup_(output_freep) Output *out = NULL;
        _cleanup_(permission_done) Permission permission = {};
        size_t n;
        int r;

        r = records_read_drives(o->state_dir, &inventory, &records);
        if (r >= 0)
                r = drives_choose(inventory.drives, inventory.n_drives, o->names, &n);
        if (r != EXIT_WANTED)
                return r;

        r = permission_get(&permission, o->state_dir, inventory.drives, n);
        if (r != EXIT_WANTED)
                return r;

        for (size_t i = 0; i < n; i++) {
                const Drive *drive = inventory.drives[i];
                const DriveRecord *record = records_of(&records, drive);
                Device d;

                /* In text output each drive has a separate table. */
                if (i == 0 || !o->json) {
                        (void) output_free(out);
                        out = output_new(o->json, columns, ELEMENTSOF(columns));
                        output_document(out, "drives");
                }
                if (i > 0)
                        output_line(out, "%s", "");
                device_init_known(&d, drive, record, &permission.io);
                print_drive(out, o, &d, drive_backends(drive), &records, record);
                device_done(&d);
                if (!o->json || i + 1 == n)
                        output_print(out);
        }
        return EXIT_WANTED;
}

/* ---- all drives, one line each ---- */

/* clang-format off */
static const Column overview_columns[] = {
        { "name", "NAME" },
        { "model", "MODEL", .wrap = true },
        { "state", "STATE" },
        { "settings", "SETTINGS", .wrap = true },
};
/* clang-format on */

/* Returns the power state, as reported by the drive or the kernel. Returns NULL if the state is unknown, and may set *ret_reason. The
 * user has not named the drive, so a USB bridge gets a command only if the service knows that the bridge accepts ATA commands. */
static const char *query_state(Device *d, const DriveRecord *record, bool may_query, const char **ret_reason) {
        unsigned backends = drive_backends(d->drive) & STATE_BACKENDS;

        if (d->power == POWER_UNKNOWN && activity_is_suspended(d->drive->syspath))
                d->power = POWER_SUSPENDED;
        if (d->power != POWER_UNKNOWN || backends == 0 || (d->drive->transport == TRANSPORT_USB && d->bridge.cdb == 0))
                return power_state(d);

        if (probe_needs_root(-EACCES))
                *ret_reason = PROBE_NEEDS_ROOT;
        else if (record && record->state != DRIVE_IDLE)
                *ret_reason = drive_state_to_string(record->state);
        else if (may_query)
                (void) power_probe(d, power_backend(backends));
        return power_state(d);
}

static void print_wanted(Output *o, const DriveRecord *record) {
        output_array(o, "settings");
        for (size_t i = 0; record && i < record->n_settings; i++) {
                const SettingRecord *s = record->settings + i;

                output_object(o, NULL);
                output_text(o, "name", s->name);
                output_text(o, "wanted", s->wanted);
                output_text(o, "verdict", verdict_to_string(s->verdict));
                output_end(o);
        }
        output_end(o);
}

/* Formats the wanted values for the table: "apm 254, write_cache off (ignored)". The verdict is shown if the value is not as wanted. */
static void print_wanted_cell(Output *o, const DriveRecord *record) {
        _cleanup_free_ char *text = NULL;

        for (size_t i = 0; record && i < record->n_settings; i++) {
                const SettingRecord *s = record->settings + i;
                const char *verdict = verdict_to_string(s->verdict) ?: "pending";
                bool fine = verdict_is_fine(s->verdict, s->optional);
                char *longer = must_format("%s%s%s %s%s%s%s", text ?: "", text ? ", " : "", s->name, strna(s->wanted),
                                           fine ? "" : " (", fine ? "" : verdict, fine ? "" : ")");

                free(text);
                text = longer;
        }
        output_cell(o, "settings", record && !text ? "none" : text);
}

static int show_all(const Options *o) {
        _cleanup_(output_freep) Output *out = output_new(o->json, overview_columns, ELEMENTSOF(overview_columns));
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(records_done) Records records = {};
        _cleanup_(permission_done) Permission permission = {};
        int status, r;

        r = records_read_drives(o->state_dir, &inventory, &records);
        if (r < 0)
                return r;
        if (inventory.n_drives == 0)
                warnx(NO_DRIVES);

        /* Requests permission for each drive separately: if one drive must wait, only its state is missing. */
        status = permission_get(&permission, o->state_dir, inventory.drives, 0);
        if (status < 0)
                return status;

        output_document(out, "drives");
        for (size_t i = 0; i < inventory.n_drives; i++) {
                const Drive *drive = inventory.drives[i];
                const DriveRecord *record = records_of(&records, drive);
                const char *state, *reason = NULL;
                Device d;

                device_init_known(&d, drive, record, &permission.io);
                state = query_state(&d, record, status == EXIT_WANTED, &reason);
                device_done(&d);

                output_row(out);
                output_text(out, "name", drive->name);
                output_text(out, "node", drive->node);
                output_text(out, "model", drive->model);
                output_text(out, "state", state);
                output_text(out, "reason", reason);
                output_cell(out, "state", state ?: reason);
                print_wanted_cell(out, record);
                if (o->json)
                        print_wanted(out, record);
                output_end(out);
        }
        output_print(out);
        return status;
}

static int show_run(const Options *o) {
        if (o->names && o->identify) {
                warnx("DRIVE and --identify exclude each other: 'drivekeep show DRIVE' or 'drivekeep show --identify FILE'");
                return EXIT_BAD_INPUT;
        }
        if ((o->plot || o->svg) && (o->json || o->identify || (o->plot && o->svg))) {
                warnx(o->plot && o->svg
                                      ? "--plot and --svg exclude each other"
                                      : "--plot and --svg exclude --json and --identify; 'drivekeep wakes --json' shows the standby times");
                return EXIT_BAD_INPUT;
        }
        if ((o->wear || o->setting) && !o->names) {
                warnx("--wear and --setting need a drive: 'drivekeep show --wear DRIVE...'");
                return EXIT_BAD_INPUT;
        }
        if (o->setting && setting_choose(&all_settings, o->setting) != EXIT_WANTED)
                return EXIT_BAD_INPUT;
        if (o->plot || o->svg)
                return measuring_draw(o);

        return o->identify ? show_identify(o) : o->names ? show_drives(o) : show_all(o);
}

const Verb verb_show = {
        .name = "show",
        .paged = true,
        .summary = "Show what a drive supports, and its current values",
        .arguments = "[DRIVE...]\n--identify FILE",
        .help = "Show which settings a drive supports, and their current values. Change nothing, and wake no drive."
                "\v" DRIVE_IS "; without DRIVE: all drives, one line each. "
                "Reading values from the drive itself needs root. "
                "--plot and --svg need the package drivekeep-tune, and read the journal: this needs root or the group systemd-journal or adm.",
        .options = OPTION_IDENTIFY | OPTION_WEAR | OPTION_PLOT | OPTION_SVG | OPTION_JSON | OPTION_STATE_DIR,
        .run = show_run,
};
