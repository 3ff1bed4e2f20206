/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"
#include "inventory.h"
#include "kernel-view.h"
#include "metrics.h"
#include "outlet.h"
#include "output.h"
#include "safe-file.h"
#include "settings.h"
#include "stack.h"

typedef struct Label {
        const char *name, *value; /* `value` NULL: the label is empty */
} Label;

/* Writes the label. text_escape() escapes newlines and control characters as \xNN. After that, quotes and backslashes get a backslash, as
 * the format requires. */
static void label_print(FILE *f, const Label *l) {
        _cleanup_free_ char *value = must(text_escape(l->value ?: "", NULL));

        fprintf(f, "%s=\"", l->name);
        for (const char *c = value; *c; c++)
                fprintf(f, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        fputc('"', f);
}

static void sample_print(FILE *f, const char *name, double value, const Label *labels) {
        fputs(name, f);
        for (const Label *l = labels; l->name; l++) {
                fputc(l == labels ? '{' : ',', f);
                label_print(f, l);
        }
        /* 16 digits are enough for sizes in bytes and times in µs. */
        fprintf(f, "%s %.16g\n", labels->name ? "}" : "", value);
}

/* Prints a sample of a drive. Arguments after `d`: labels in addition to the device. */
#define sample(f, name, value, d, ...) \
        sample_print(f, name, value, (const Label[]){ { "device", (d)->name }, ##__VA_ARGS__, {} })

/* ---- metrics of a drive ---- */

static void put_info(FILE *f, const char *name, const DriveRecord *d) {
        sample(f, name, 1, d, { "wwn", d->wwn }, { "serial", d->serial }, { "model", d->model },
               { "transport", d->transport }, { "firmware", d->firmware });
}

static void put_standby(FILE *f, const char *name, const DriveRecord *d) {
        if (d->power != POWER_UNKNOWN)
                sample(f, name, drive_record_in_standby(d), d);
}

/* Reads sysfs, so that the sample does not depend on the age of the record. Drives that the kernel never suspends have no sample. */
static void put_suspended(FILE *f, const char *name, const DriveRecord *d) {
        _cleanup_free_ char *syspath = must_format("/sys/block/%s", d->name);

        if (activity_may_be_suspended(syspath) || activity_is_suspended(syspath))
                sample(f, name, activity_is_suspended(syspath), d);
}

static void put_suspended_when(FILE *f, const char *name, const DriveRecord *d) {
        KnownPower power = records_power(false, d->name, d, 0);

        if (power.since > 0)
                sample(f, name, (double) power.since / 1e6, d);
}

static void put_last_visit(FILE *f, const char *name, const DriveRecord *d) {
        if (d->visit_when > 0)
                sample(f, name, (double) d->visit_when / 1e6, d);
}

static void put_tally(FILE *f, const char *name, const DriveRecord *d, const char *tally, const char *label) {
        TallyEntry e;

        while (tally_next(&tally, &e)) {
                _cleanup_free_ char *word = must(strndup(e.word, e.len));

                sample(f, name, (double) e.n, d, { label, word });
        }
}

static void put_visits(FILE *f, const char *name, const DriveRecord *d) {
        put_tally(f, name, d, d->visits, "reason");
}

static void put_wakes(FILE *f, const char *name, const DriveRecord *d) {
        put_tally(f, name, d, d->wakes, "unit");
}

static void put_load_cycles(FILE *f, const char *name, const DriveRecord *d) {
        if (d->use.wear.load_cycles.known)
                sample(f, name, (double) d->use.wear.load_cycles.number, d);
}

static void put_load_cycles_rated(FILE *f, const char *name, const DriveRecord *d) {
        KnownNumber rated = d->use.wear.rated_load_cycles;

        if (d->use.wear.load_cycles.known)
                sample(f, name, rated.known ? (double) rated.number : USE_RATED_LOAD_CYCLES, d);
}

/* ---- metrics of a setting ---- */

static void put_ok(FILE *f, const char *name, const DriveRecord *d, const SettingRecord *s) {
        sample(f, name, verdict_is_fine(s->verdict, s->optional), d, { "setting", s->name });
}

static void put_verdict(FILE *f, const char *name, const DriveRecord *d, const SettingRecord *s) {
        sample(f, name, 1, d, { "setting", s->name }, { "verdict", verdict_to_string(s->verdict) ?: "pending" });
}

/* Parses a value as a number in base units. Returns false for words such as "off", "default" or a scheduler's name. */
static bool find_number(const SettingRecord *s, const char *text, double *ret) {
        const Setting *row = setting_find(&all_settings, s->name);
        ValueRange any;
        Value v;

        if (!row || !text)
                return false;
        /* Accepts any number, since other programs may have set values outside the setting's range. */
        any = row->range;
        any.min = INT64_MIN;
        any.max = INT64_MAX;
        any.step = 0;
        if (value_parse(&any, text, &v) < 0 || value_word(&any, v.number))
                return false;

        switch (v.type) {
        case VALUE_BOOL:
        case VALUE_INT:
        case VALUE_SIZE:
        case VALUE_CELSIUS:
                *ret = (double) v.number;
                return true;
        case VALUE_DURATION:
                *ret = (double) v.number / 1e3;
                return true;
        case VALUE_MICROSECONDS:
                *ret = (double) v.number / 1e6;
                return true;
        case VALUE_STANDBY_TIMER:
                *ret = (double) standby_timer_to_seconds((uint8_t) v.number);
                return v.number != STANDBY_TIMER_VENDOR;
        default:
                return false;
        }
}

static void put_number(FILE *f, const char *name, const DriveRecord *d, const SettingRecord *s, const char *text) {
        double number;

        if (find_number(s, text, &number))
                sample(f, name, number, d, { "setting", s->name });
}

static void put_wanted(FILE *f, const char *name, const DriveRecord *d, const SettingRecord *s) {
        put_number(f, name, d, s, s->wanted);
}

static void put_actual(FILE *f, const char *name, const DriveRecord *d, const SettingRecord *s) {
        put_number(f, name, d, s, s->actual);
}

/* ---- all metrics ---- */

/* clang-format off */
static const struct {
        const char *name, *type, *help;
        void (*of_drive)(FILE *f, const char *name, const DriveRecord *d);
        void (*of_setting)(FILE *f, const char *name, const DriveRecord *d, const SettingRecord *s);
} families[] = {
        { "drivekeep_drive_info",                    "gauge",   "A drive, with its identity in the labels.",                                            .of_drive = put_info },
        { "drivekeep_drive_standby",                  "gauge",   "Whether the drive was in standby or runtime-suspended when its state was last known.",                .of_drive = put_standby },
        { "drivekeep_drive_suspended",               "gauge",   "Whether the kernel has runtime-suspended the drive; only for drives that the kernel may suspend.", .of_drive = put_suspended },
        { "drivekeep_drive_suspended_timestamp_seconds", "gauge", "When the service noticed the suspend of a suspended drive, in Unix time.",    .of_drive = put_suspended_when },
        { "drivekeep_visits_total",                  "counter", "Visits to the drive since it was attached, by reason.",               .of_drive = put_visits },
        { "drivekeep_last_visit_timestamp_seconds",  "gauge",   "When the last visit to the drive ended, in Unix time.",                          .of_drive = put_last_visit },
        { "drivekeep_wakes_total",                   "counter", "Wakes of the drive from standby since it was attached, by the systemd unit of the waker.", .of_drive = put_wakes },
        { "drivekeep_load_cycles_total",             "counter", "Load cycles, as counted by the drive.",                                         .of_drive = put_load_cycles },
        { "drivekeep_load_cycles_rated",             "gauge",   "Load cycles that the drive is rated for; 600,000 if the drive reports no rating.",         .of_drive = put_load_cycles_rated },
        { "drivekeep_setting_ok",                    "gauge",   "Whether the setting is as wanted.",                                              .of_setting = put_ok },
        { "drivekeep_setting_verdict",               "gauge",   "The verdict on the setting, in the label verdict.",                        .of_setting = put_verdict },
        { "drivekeep_setting_wanted",                "gauge",   "The wanted value of the setting, if it is a number: in seconds, bytes, degrees Celsius, or 1 for on.", .of_setting = put_wanted },
        { "drivekeep_setting_actual",                "gauge",   "The current value of the setting, in the same units as the wanted value.",                 .of_setting = put_actual },
};
/* clang-format on */

static void family_begin(FILE *f, const char *name, const char *type, const char *help) {
        fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_service(FILE *f, const Records *records, size_t n_errors) {
        family_begin(f, "drivekeep_build_info", "gauge", "The version of drivekeep.");
        sample_print(f, "drivekeep_build_info", 1, (const Label[]){ { "version", DRIVEKEEP_VERSION }, {} });
        family_begin(f, "drivekeep_up", "gauge", "Whether drivekeep.service runs.");
        sample_print(f, "drivekeep_up", records->served, (const Label[]){ {} });
        family_begin(f, "drivekeep_configuration_errors", "gauge", "Errors in the configuration files.");
        sample_print(f, "drivekeep_configuration_errors", (double) n_errors, (const Label[]){ {} });
}

/* Returns the metrics of the first `n` records in Prometheus text format 0.0.4. The caller frees the text. */
static char *metrics_format(const Records *records, size_t n, size_t n_errors) {
        char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        put_service(f, records, n_errors);
        for (size_t i = 0; i < ELEMENTSOF(families); i++) {
                family_begin(f, families[i].name, families[i].type, families[i].help);
                for (DriveRecord *const *d = records->items; d < records->items + n; d++) {
                        if (families[i].of_drive)
                                families[i].of_drive(f, families[i].name, *d);
                        for (size_t k = 0; families[i].of_setting && k < (*d)->n_settings; k++)
                                families[i].of_setting(f, families[i].name, *d, (*d)->settings + k);
                }
        }

        must_close(f);
        return text;
}

/* ---- output to stdout or a file ---- */

static size_t count_config_errors(const Options *o) {
        _cleanup_(config_freep) Config *c = NULL;

        must_work(config_new(&c));
        must_work(config_load(c, &all_settings, o->roots));
        must_work(config_check(c, &all_settings));
        return c->complaints.n_errors;
}

/* Returns true if a write would wake the drive. */
static bool is_in_standby(const DriveRecord *d) {
        _cleanup_free_ char *syspath = must_format("/sys/block/%s", d->name);

        return drive_record_in_standby(d) || activity_is_suspended(syspath);
}

/* Returns the name of a drive in standby that stores this directory. Returns NULL if no such drive is in standby, or if the drives are not
 * known (btrfs, ZFS). */
static const char *find_standby(const Records *records, int dir_fd) {
        _cleanup_(names_freep) char **disks = NULL;
        _cleanup_free_ char *device = NULL;
        struct stat st;

        if (fstat(dir_fd, &st) < 0 || must_not_fail(stack_name(st.st_dev, &device)) < 0)
                return NULL;
        (void) must_not_fail(stack_disks_below(INVENTORY_CLASSDIR, device, &disks));
        for (size_t i = 0; disks && i < records->n_items; i++)
                if (names_contain(disks, records->items[i]->name) && is_in_standby(records->items[i]))
                        return records->items[i]->name;
        return NULL;
}

static int metrics_write(const Records *records, const char *text, const Options *o) {
        const char *path = o->output;
        _cleanup_free_ char *parent = must_directory(path);
        _cleanup_close_ int fd = directory_open(parent);
        const char *standby = find_standby(records, fd);
        int r;

        if (standby) {
                /* With --quiet, as in drivekeep-metrics.service, no message is written: the journal may be on the same drive. */
                if (!o->quiet)
                        warn_escaped("%s is not updated: it is on %s, which is in standby", path, standby);
                return EXIT_WANTED;
        }
        r = fd < 0 ? fd : must_not_fail(file_replace(fd, base_name(path), text, false));
        if (r == -ENOENT) {
                warn_escaped("%s cannot be written: " OUTLET_NO_DIRECTORY, path, parent);
                return EXIT_BAD_INPUT;
        }
        if (r < 0) {
                warn_escaped("%s cannot be written: %s", path, directory_error(r));
                return EXIT_BAD_INPUT;
        }
        return EXIT_WANTED;
}

int metrics_show(const Records *records, size_t n, const Options *o) {
        _cleanup_free_ char *text = metrics_format(records, n, count_config_errors(o));

        if (o->output)
                return metrics_write(records, text, o);
        (void) fputs(text, stdout);
        return EXIT_WANTED;
}
