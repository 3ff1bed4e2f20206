/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep report`: prints a text for the developers, from which tests/unit/test-reports.c builds a model of the drive. */

#include <inttypes.h>
#include <sys/utsname.h>

#include "choice.h"
#include "kernel-view.h"
#include "known-device.h"
#include "nvme.h"
#include "output.h"
#include "power-mode.h"
#include "probe.h"
#include "redact.h"
#include "report.h"
#include "request.h"
#include "settings.h"
#include "stack.h"
#include "sysfs.h"
#include "verb.h"
#include "wear-read.h"

/* Backends whose drives report their power mode. */
#define STATE_BACKENDS (1U << BACKEND_ATA | 1U << BACKEND_SCSI_MODE)

typedef struct Report {
        FILE *f;
        Redaction redaction;
} Report;

/* Prints "KEY: TEXT", with the secrets replaced. Prints nothing for NULL and empty texts. */
static void put(const Report *r, const char *key, const char *text) {
        _cleanup_free_ char *copy = must(strdup(text ?: "")), *shown = NULL;

        if (!*copy)
                return;
        redact_text(&r->redaction, copy);
        shown = format_escaped("%s", copy);
        (void) fprintf(r->f, "%s: %s\n", key, shown);
}

/* ---- what is known before the first command ---- */

static void put_identity(const Report *r, const Drive *d) {
        char driver[64] = "";

        put(r, "name", d->name);
        put(r, "transport", transport_to_string(d->transport));
        (void) stack_scsi_host_read(d->syspath, "proc_name", driver, sizeof driver);
        put(r, "driver", driver);
        put(r, "vendor", d->vendor);
        put(r, "model", d->model);
        put(r, "firmware", d->firmware);
        put(r, "serial", d->serial);
        put(r, "wwn", d->wwn);
        put(r, "dock_model", d->dock_model);
        put(r, "dock_serial", d->dock_serial);
        if (d->transport == TRANSPORT_USB) {
                put(r, "usb_vendor", drive_property(d, "ID_USB_VENDOR_ID") ?: drive_property(d, "ID_VENDOR_ID"));
                put(r, "usb_product", drive_property(d, "ID_USB_MODEL_ID") ?: drive_property(d, "ID_MODEL_ID"));
                put(r, "usb_driver", drive_property(d, "ID_USB_DRIVER"));
        }
        (void) fprintf(r->f, "size: %" PRIu64 "\n", d->size);
}

static void put_flags(const Report *r, const Drive *d, bool active, const Bridge *b) {
        const struct {
                const char *key;
                bool is_true;
        } flags[] = {
                { "rotational", d->rotational },
                { "removable", d->removable },
                { "optical", d->optical },
                { "ata", d->ata },
                { "identified", d->identified },
                { "active", active },
                { "bridge_queried", b->queried },
                { "bridge_identified", b->identified },
                { "bridge_without_sat", b->without_sat },
                { "bridge_uas_blocks", b->uas_blocks },
                { "bridge_without_registers", b->without_registers },
                { "bridge_repeats_identify", b->repeats_identify },
                { "bridge_fragile", b->fragile },
        };

        for (size_t i = 0; i < ELEMENTSOF(flags); i++)
                put(r, flags[i].key, flags[i].is_true ? "yes" : NULL);
        if (b->cdb > 0)
                (void) fprintf(r->f, "bridge_cdb: %" PRIu64 "\n", b->cdb);
}

/* ---- settings ---- */

static const char *cell(const Probed *s, bool known, const Value *v, char buf[static VALUE_TEXT_MAX]) {
        return known && s->reading.supported ? value_format(&s->setting->range, v, buf) : "-";
}

typedef struct ReadSettings {
        char *lines;
        FILE *f;     /* writes to `lines` */
        char **same; /* names and values for Rewrite() */
        size_t n_same;
} ReadSettings;

static void read_settings_done(ReadSettings *r) {
        free(r->lines);
        strv_freep(&r->same);
}

static void add_same(ReadSettings *r, const char *text) {
        r->same = must(reallocarray(r->same, r->n_same + 2, sizeof *r->same));
        r->same[r->n_same++] = must(strdup(text));
        r->same[r->n_same] = NULL;
}

static void add_setting(void *userdata, const Probed *s) {
        _cleanup_free_ char *reason = format_escaped("%s", s->reason ?: "-");
        char value[VALUE_TEXT_MAX], saved[VALUE_TEXT_MAX];
        ReadSettings *r = userdata;

        (void) fprintf(r->f, "setting: %s; %s; %s; %s; %s; %s\n", s->setting->name,
                       backend_to_string(s->setting->backend),
                       s->reading.supported ? "yes"
                       : s->reason          ? "-"
                                            : "no",
                       cell(s, s->reading.known, &s->reading.value, value),
                       cell(s, s->reading.saved_known, &s->reading.saved, saved), reason);
        if (s->reading.supported && s->reading.known && setting_may_rewrite(s->setting) &&
            value_has_exact_text(&s->setting->range, &s->reading.value)) {
                add_same(r, s->setting->name);
                add_same(r, value_format(&s->setting->range, &s->reading.value, value));
        }
}

/* Reads everything that drivekeep reads from a drive. */
static void read_all(Device *d, ReadSettings *ret) {
        /* The device code reads these attributes without sysfs_read(). */
        static const char *const attributes[] = { "ro", "queue/minimum_io_size", "queue/optimal_io_size" };
        unsigned backends = drive_backends(d->drive);
        bool testing;
        char text[64];
        size_t size;
        Wear wear;

        ret->f = must(open_memstream(&ret->lines, &size));
        probe(d, backends, &all_settings, add_setting, ret);
        must_close(ret->f);
        for (size_t i = 0; i < ELEMENTSOF(attributes); i++)
                (void) sysfs_read(d, attributes[i], text, sizeof text);
        if (d->power == POWER_ACTIVE && (backends & STATE_BACKENDS))
                (void) wear_and_test_read(d, power_backend(backends), &wear, &testing);
        else if (backends & 1U << BACKEND_NVME)
                (void) nvme_is_testing(d, &testing);
}

static void put_settings(const Report *r, char *settings) {
        char *rest = NULL;

        for (char *line = strtok_r(settings, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                redact_text(&r->redaction, line);
                (void) fprintf(r->f, "%s\n", line);
        }
}

/* ---- commands and answers ---- */

static void put_bytes(FILE *f, const char *key, const uint8_t *bytes, size_t n) {
        (void) fprintf(f, "%s:", key);
        for (size_t i = 0; i < n; i++)
                (void) fprintf(f, " %02x", bytes[i]);
        (void) fputc('\n', f);
}

/* Prints the data in lines of 16 bytes, each with its offset, and omits lines of zeros. */
static void put_data(FILE *f, const char *key, const uint8_t *data, size_t n) {
        static const uint8_t zero[16] = {};
        char offset[32];

        if (n == 0)
                return;
        (void) fprintf(f, "  %s: %zu\n", key, n);
        for (size_t at = 0; at < n; at += 16) {
                size_t len = MIN(n - at, sizeof zero);

                if (memcmp(data + at, zero, len) == 0)
                        continue;
                (void) snprintf(offset, sizeof offset, "    %04zx", at);
                put_bytes(f, offset, data + at, len);
        }
}

static void put_number(FILE *f, const char *key, int64_t n) {
        if (n != 0)
                (void) fprintf(f, "  %s: %" PRId64 "\n", key, n);
}

static void put_exchange(FILE *f, const Exchange *x) {
        if (x->is_nvme) {
                const struct nvme_passthru_cmd *c = &x->nvme;

                (void) fprintf(f, "admin: %02x %08x %08x %08x %08x %08x %08x %08x\n", c->opcode, c->nsid, c->cdw10,
                               c->cdw11, c->cdw12, c->cdw13, c->cdw14, c->cdw15);
                put_number(f, "result", c->result);
        } else
                put_bytes(f, "command", x->sg.cdb, x->sg.cdb_len);
        put_number(f, x->result < 0 ? "error" : "nvme_status", x->result);

        if (!x->is_nvme && x->result >= 0) {
                put_number(f, "status", x->sg.status);
                put_number(f, "host_status", x->sg.host_status);
                put_number(f, "residual", x->sg.resid);
                if (x->sg.sense_len > 0)
                        put_bytes(f, "  sense", x->sg.sense, MIN(x->sg.sense_len, (uint8_t) SG_SENSE_MAX));
        }
        put_data(f, x->sg.to_device ? "sent" : "data", x->data, x->data_len);
}

/* ---- values written again ---- */

static int request_rewrite(sd_bus *bus, const Drive *d, char **values, sd_bus_message **ret, sd_bus_error *error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, DAEMON, "Rewrite");
        if (r >= 0)
                r = sd_bus_message_append(m, "s", d->name);
        if (r >= 0)
                r = sd_bus_message_append_strv(m, values);
        return r < 0 ? r : sd_bus_call(bus, m, VISIT_TIMEOUT_USEC, error, ret);
}

static ExitStatus explain_rewrite(const Drive *d, int r, const sd_bus_error *error) {
        if (sd_bus_error_has_name(error, "org.drivekeep1.Error.NotNow")) {
                warn_escaped("%s: no value was written again: another 'drivekeep report --try' for this drive has not ended; try again later",
                             d->name);
                return EXIT_LATER;
        }
        if (sd_bus_error_get_errno(error) != ENODEV)
                return request_explain(r, error);
        warn_escaped("%s: the drive was unplugged before all values were written again", d->name);
        return EXIT_NOT_WANTED;
}

/* The drive's reaction to a value is no failure of the command. */
static ExitStatus exit_of_rewrite(Verdict v) {
        if (verdict_is_pending(v))
                return EXIT_LATER;
        return v == VERDICT_FAILED || v == VERDICT_VANISHED ? EXIT_NOT_WANTED : EXIT_WANTED;
}

static const char *dash(const char *text) {
        return *text ? text : "-";
}

/* Makes the service write the values again, and prints the verdicts. */
static ExitStatus put_rewritten(const Report *r, sd_bus *bus, const Drive *d, const ReadSettings *settings) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        const char *name, *verdict, *now, *reason;
        int k, status = EXIT_WANTED;

        (void) fputs("\n# Settings written again: name, value, verdict, value read back, remark\n", r->f);
        if (settings->n_same == 0) {
                warn_escaped("%s: no value was written again: the drive has no harmless setting with a known value",
                             d->name);
                return EXIT_WANTED;
        }
        k = request_rewrite(bus, d, settings->same, &reply, &error);
        if (k >= 0)
                k = sd_bus_message_enter_container(reply, 'a', "(ssss)");
        if (k < 0)
                return explain_rewrite(d, k, &error);

        while ((k = sd_bus_message_read(reply, "(ssss)", &name, &verdict, &now, &reason)) > 0) {
                char *const *value = settings->same;
                _cleanup_free_ char *line = NULL;

                while (*value && !streq(*value, name))
                        value += 2;
                line = must_format("%s; %s; %s; %s; %s", name, *value ? value[1] : "-", verdict, dash(now),
                                   dash(reason));
                put(r, "try", line);
                status = exit_worse(status, exit_of_rewrite(verdict_from_string(verdict)));
        }
        return k < 0 ? (int) request_explain(k, &error) : status;
}

/* ---- the report ---- */

static int learn_secrets(Redaction *r, const Drive *d, const Recorder *recorder) {
        int k;

        /* The WWN comes first, because udev's serial number of a SCSI drive consists of the digits of the WWN. */
        k = redact_add_wwn(r, d->wwn);
        if (k >= 0)
                k = redact_add_serial(r, d->serial);
        if (k >= 0)
                k = redact_add_serial(r, d->dock_serial);
        for (size_t i = 0; k >= 0 && i < recorder->n_exchanges; i++)
                k = redact_learn(r, recorder->exchanges + i);
        return k;
}

static void put_report(const Report *r, const Device *before, const Device *after, Recorder *recorder, char *settings) {
        struct utsname kernel = {};

        (void) uname(&kernel);
        (void) fputs("# Read this report before you send it. Serial numbers and WWNs are replaced by hashes of this machine, and\n"
                     "# vendor-specific fields of identity data by zeros. The report has no data of the disk and no names of files.\n",
                     r->f);
        put(r, "format", REPORT_FORMAT);
        put(r, "version", DRIVEKEEP_VERSION);
        put(r, "kernel", kernel.release);
        put(r, "machine", kernel.machine);
        put_identity(r, before->drive);
        put_flags(r, before->drive, before->active, &before->bridge);
        put(r, "state", power_state(after));

        (void) fputs("\n# Settings: name, backend, supported, value, saved value, remark\n", r->f);
        put_settings(r, settings);
        (void) fputs("\n# Attributes of the kernel\n", r->f);
        for (size_t i = 0; i < recorder->n_attributes; i++) {
                _cleanup_free_ char *line =
                                must_format("%s=%s", recorder->attributes[i].path, recorder->attributes[i].text);

                put(r, "attribute", line);
        }
        (void) fputs("\n# Commands and answers; lines of zeros are omitted\n", r->f);
        for (size_t i = 0; i < recorder->n_exchanges; i++) {
                redact_exchange(&r->redaction, recorder->exchanges + i);
                put_exchange(r->f, recorder->exchanges + i);
        }
}

int report_write(FILE *f, Device *device, sd_bus *bus) {
        const Drive *d = device->drive;
        const Device before = *device;
        _cleanup_(recorder_done) Recorder recorder;
        _cleanup_(read_settings_done) ReadSettings settings = {};
        Report r = { .f = f };
        int k, status = EXIT_WANTED;

        recorder_init(&recorder);
        device->observer = &recorder.observer;
        read_all(device, &settings);
        device->observer = NULL;
        if (power_mode_in_standby(device->power)) {
                warn_escaped("%s: no report: the drive is in standby; run 'drivekeep report %s%s' again when it is active",
                             d->name, bus ? "--try " : "", d->name);
                return EXIT_LATER;
        }

        k = learn_secrets(&r.redaction, d, &recorder);
        if (k >= 0)
                put_report(&r, &before, device, &recorder, settings.lines);
        if (k >= 0 && bus)
                status = put_rewritten(&r, bus, d, &settings);
        redact_done(&r.redaction);
        if (k < 0) {
                warnx("no report: cannot read the machine ID, the key for hashes of serial numbers: %s; "
                      "'systemd-machine-id-setup' creates the machine ID",
                      strerror(-k));
                return EXIT_BAD_INPUT;
        }
        return status;
}

static int report_run(const Options *o) {
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(records_done) Records records = {};
        _cleanup_(permission_done) Permission permission = {};
        Device device;
        size_t n;
        int r;

        if (!o->names || o->names[1]) {
                warnx("a report is about one drive: 'drivekeep report DRIVE'");
                return EXIT_BAD_INPUT;
        }
        r = records_read_drives(o->state_dir, &inventory, &records);
        if (r >= 0)
                r = drives_choose(inventory.drives, inventory.n_drives, o->names, &n);
        if (r != EXIT_WANTED)
                return r;
        if (probe_needs_root(-EACCES)) {
                warnx("a report needs root, to send commands to the drive");
                return EXIT_BAD_INPUT;
        }

        r = permission_get(&permission, o->state_dir, inventory.drives, 1);
        if (r != EXIT_WANTED)
                return r;
        device_init_known(&device, inventory.drives[0], records_of(&records, inventory.drives[0]), &permission.io);
        r = report_write(stdout, &device, o->rewrite ? permission.bus : NULL);
        device_done(&device);
        if (r == EXIT_WANTED && o->rewrite && !permission.bus)
                r = request_explain(-ENOENT, &SD_BUS_ERROR_NULL);
        return r;
}

const Verb verb_report = {
        .name = "report",
        .summary = "Print a report about a drive, for the developers",
        .arguments = "DRIVE",
        .help = "Print what drivekeep reads from a drive: the settings, and the drive's answers to each command. Change no value, and wake no "
                "drive. Serial numbers and WWNs are replaced by hashes. Needs root."
                "\v" DRIVE_IS ".",
        .options = OPTION_REWRITE | OPTION_STATE_DIR,
        .run = report_run,
};
