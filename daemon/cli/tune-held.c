/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a drive has while it is measured, and has again afterwards. The service sets it. */

#include <fcntl.h>

#include "choice.h"
#include "clock.h"
#include "known-device.h"
#include "settings.h"
#include "tuning.h"
#include "wear-read.h"

#define BLOCK 4096U /* no drive has larger ones */

/* ---- what the drive holds ---- */

/* An NVMe controller may be in a power state of its own choice, and tells the one that was set only behind a read. */
static void end_rest(const Drive *d) {
        _cleanup_close_ int fd = open(d->node, O_RDONLY | O_DIRECT | O_CLOEXEC);
        _cleanup_free_ void *block = must(aligned_alloc(BLOCK, BLOCK));

        /* Anywhere: a drive may have one place in its cache. */
        if (fd >= 0)
                (void) !pread(fd, block, BLOCK, (off_t) (monotonic_usec() % (d->size / BLOCK) * BLOCK));
}

/* In any case device_done() is to follow. */
static int read_row(const Subject *s, const Setting *row, Device *device, Reading *ret) {
        *ret = (Reading){};
        if (row->backend == BACKEND_NVME)
                end_rest(s->drive);
        device_init_known(device, s->drive, records_of(&s->records, s->drive), &s->leave.io);
        return row->read(device, row, ret);
}

int tune_read_value(const Subject *s, const Setting *row, Value *ret, char **ret_why) {
        Reading reading;
        Device device;
        int r;

        r = read_row(s, row, &device, &reading);
        if (r < 0)
                *ret_why = must(strdup(device.failure.why));
        else if (!reading.supported || !reading.known)
                *ret_why = must(strdup("the drive does not have it, or it cannot be read"));
        device_done(&device);
        if (*ret_why)
                return -ENODATA;
        *ret = reading.value;
        return 0;
}

void tune_find_beside(Tuning *t) {
        const Subject *s = t->subject;

        for (const char *const *name = t->tunable->resets; name && *name; name++) {
                const Setting *row = setting_for_backends(&all_settings, *name, drive_backends(s->drive));
                _cleanup_free_ char *why = NULL;
                Value value;

                if (!row || tune_read_value(s, row, &value, &why) < 0 || !value_has_exact_text(&row->range, &value))
                        continue;
                t->beside = must(reallocarray(t->beside, t->n_beside + 1, sizeof *t->beside));
                t->beside[t->n_beside++] = (Beside){ row, value };
        }
}

/* ---- having the service set it ---- */

static int ask(Tuning *t, int r, const sd_bus_error *error) {
        if (r < 0)
                t->status = request_explain(r, error);
        return r < 0 ? -ECANCELED : 0;
}

/* Begun by a call that has changed what is wanted of the drive: returns when the visit for that is over. */
static int wait_for_visit(Tuning *t) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_(strv_freep) char **visited = NULL;
        const Subject *s = t->subject;

        return ask(t, request_visit(s->leave.bus, "Read", (char *const[]){ s->drive->name, NULL }, &visited, &error),
                   &error);
}

/* Returns what says so to tune_run(). */
static int leave_out(Tuning *t, size_t value, const char *verdict, const char *reason) {
        char text[VALUE_TEXT_MAX], *longer;

        /* Later it is one round that lacks it. */
        if (t->tune.n_rounds > 1)
                return 1;
        longer = must_format("%s%s%s: %s%s%s", t->left_out ?: "", t->left_out ? "; " : "",
                             value_format(&t->setting->range, t->values.items + value, text), verdict,
                             reason ? ", " : "", reason ?: "");
        free(t->left_out);
        t->left_out = longer;
        return value == t->values.current ? -EIO : 1;
}

static int hold(Tuning *t, const Setting *row, const Value *value, const Value *before) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        const Subject *s = t->subject;
        char text[VALUE_TEXT_MAX], old[VALUE_TEXT_MAX];
        int r;

        r = sd_bus_call_method(s->leave.bus, DAEMON, "Hold", &error, NULL, "ssss", s->drive->name, setting_state(row),
                               value_format(&row->range, value, text), value_format(&row->range, before, old));
        return ask(t, r, &error);
}

static DriveRecord *read_record(const Tuning *t) {
        DriveRecord *record = NULL;

        (void) must_not_fail(record_read(t->subject->options->state_dir, t->subject->drive->name, &record));
        return record;
}

static const Value *present(const Tuning *t) {
        return t->values.items + t->values.current;
}

/* What a change of the setting would reset is held from the beginning. */
static int hold_beside(Tuning *t) {
        int r = 0;

        for (const Beside *b = t->beside; b < t->beside + t->n_beside && r == 0; b++)
                r = hold(t, b->setting, &b->value, &b->value);
        return r;
}

int tune_set_value(void *userdata, size_t value) {
        Tuning *t = userdata;
        _cleanup_(drive_record_freep) DriveRecord *record = NULL;
        char text[VALUE_TEXT_MAX];
        const SettingRecord *told;
        bool begins = t->held == SIZE_MAX;
        int r;

        if (value == t->held && !t->is_lost)
                return 0;
        t->status = subject_stays(t->subject);
        if (t->status != EXIT_WANTED)
                return -ECANCELED;
        t->is_lost = false;

        /* From here on it is to be set back. */
        t->held = value;
        r = begins ? hold_beside(t) : 0;
        if (r == 0)
                r = hold(t, t->setting, t->values.items + value, present(t));
        if (r == 0)
                r = wait_for_visit(t);
        if (r < 0)
                return r;

        (void) value_format(&t->setting->range, t->values.items + value, text);
        record = read_record(t);
        told = record ? drive_record_find(record, t->tunable->setting) : NULL;
        if (told && streq_ptr(told->wanted, text) && streq_ptr(told->actual, text) && verdict_is_wanted(told->verdict))
                return 0;
        return leave_out(t, value, told ? verdict_to_string(told->verdict) : "nothing is known of it",
                         told ? told->reason : NULL);
}

/* Behind a read, so that the drive is awake. */
int tune_look_again(void *userdata, KnownNumber *ret_cycles) {
        Tuning *t = userdata;
        const Subject *s = t->subject;
        unsigned asked = drive_backends(s->drive) & (1U << BACKEND_ATA | 1U << BACKEND_SCSI_MODE);
        Reading reading;
        Device device;
        Wear w = {};
        int r;

        r = read_row(s, t->setting, &device, &reading);
        if (asked)
                (void) wear_read(&device, power_backend(asked), &w);
        device_done(&device);

        *ret_cycles = w.load_cycles;
        /* What cannot be read just now may be as it was. */
        t->is_lost = r >= 0 && reading.known && !value_equal(&reading.value, t->values.items + t->held);
        return t->is_lost ? leave_out(t, t->held, "the drive does not keep it", NULL) : 0;
}

/* Is that what came of what a file wants? That may be written otherwise: "default", "2 stripes". */
static bool is_of_file(const SettingRecord *told, const char *value) {
        return told->rule && !streq(told->rule, RECORD_RULE_TUNE) && told->verdict != VERDICT_DEFERRED &&
               streq_ptr(told->actual, value);
}

/* Has the drive this value again, or that which the files want in its place? `record` (NULL: none) is of a visit behind LetGo. */
static bool is_back(const Tuning *t, const Setting *row, const Value *before, const DriveRecord *record) {
        const SettingRecord *told = record ? drive_record_find(record, setting_state(row)) : NULL;
        char then[VALUE_TEXT_MAX], now[VALUE_TEXT_MAX];
        _cleanup_free_ char *why = NULL;
        const Subject *s = t->subject;
        Value value;

        (void) value_format(&row->range, before, then);
        if (tune_read_value(s, row, &value, &why) < 0) {
                warn_escaped("%s of %s cannot be read now (%s), and was %s: drivekeep.service sets it back as soon as it can",
                             setting_state(row), s->drive->name, why, then);
                return false;
        }
        (void) value_format(&row->range, &value, now);
        if (value_equal(&value, before) || (told && is_of_file(told, now)))
                return true;
        warn_escaped("%s of %s is %s, and was %s: drivekeep.service sets it back as soon as it can", setting_state(row),
                     s->drive->name, now, then);
        return false;
}

int tune_set_back(Tuning *t) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_(drive_record_freep) DriveRecord *record = NULL;
        const Subject *s = t->subject;
        char text[VALUE_TEXT_MAX];
        bool back;
        int r;

        if (t->held == SIZE_MAX)
                return EXIT_WANTED;
        /* Another drive that has its name has held nothing. */
        if (!subject_is_here(s)) {
                warn_escaped("%s is gone, and its %s could not be set back: it was %s", s->drive->name,
                             setting_state(t->setting), value_format(&t->setting->range, present(t), text));
                return EXIT_BAD_INPUT;
        }
        /* The user may have ended it in a time without use. The drive was awake before, and one that sleeps would be left as it is. */
        if (t->tunable->saves_power)
                end_rest(s->drive);
        r = sd_bus_call_method(s->leave.bus, DAEMON, "LetGo", &error, NULL, "s", s->drive->name);
        /* Where the service is gone that was said already. */
        if (t->status == EXIT_WANTED)
                r = ask(t, r, &error);
        if (r >= 0 && wait_for_visit(t) == 0)
                record = read_record(t);

        back = is_back(t, t->setting, present(t), record);
        for (const Beside *b = t->beside; b < t->beside + t->n_beside; b++)
                back = is_back(t, b->setting, &b->value, record) && back;
        return back ? EXIT_WANTED : EXIT_NOT_WANTED;
}
