/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep standby`: asks the daemon to put drives into standby now, and prints the resulting power modes. Only the daemon knows which
 * drives must stay active, such as a drive whose file system is being checked. */

#include <err.h>

#include "output.h"
#include "request.h"

/* Returns why the drive is not in standby, as a clause, or NULL if the cause is not known. The caller frees the text. */
static char *standby_failure(const DriveRecord *d) {
        /* The cause of an earlier failure does not matter while the visit is still pending. */
        if (d->state == DRIVE_WAITING)
                return must_format("the drive waits for %s", wait_describe((Wait){ d->waiting_kind, d->waiting_for }));
        return d->active_reason ? must(strdup(d->active_reason)) : NULL;
}

/* Prints the power mode. Returns true if the drive is in standby. */
static bool print_drive(Output *o, const DriveRecord *d) {
        bool in_standby = drive_record_in_standby(d);
        _cleanup_free_ char *reason = in_standby ? NULL : standby_failure(d);
        const char *colon = reason ? ": " : "";

        output_object(o, NULL);
        output_text(o, "name", d->name);
        output_text(o, "power", power_mode_to_string(d->power));
        output_time(o, "since", d->power != POWER_UNKNOWN ? d->power_when : 0);
        output_text(o, "reason", reason);
        output_end(o);

        if (in_standby)
                output_line(o, "%s is %s.", d->name,
                            d->power == POWER_SUSPENDED ? "suspended by the kernel" : "in standby");
        else if (d->power == POWER_ACTIVE)
                output_line(o, "%s is active%s%s.", d->name, colon, reason ?: "");
        else
                output_line(o, "The power mode of %s is not known%s%s.", d->name, colon, reason ?: "");
        return in_standby;
}

static int standby_show(const Options *o, const Records *records, size_t n, _unused_ uint64_t requested) {
        _cleanup_(output_freep) Output *out = output_new(o->json, NULL, 0);
        int status = EXIT_WANTED;

        output_document(out, "drives");
        for (size_t i = 0; i < n; i++)
                if (!print_drive(out, records->items[i]))
                        status = EXIT_NOT_WANTED;
        output_print(out);
        return status;
}

static int standby_run(const Options *o) {
        if (!o->names) {
                warnx("no drive given; usage: 'drivekeep standby DRIVE...'");
                return EXIT_BAD_INPUT;
        }
        return visit_named_drives(o, "SpinDown", standby_show);
}

const Verb verb_standby = {
        .name = "standby",
        .changes = true,
        .summary = "Put drives into standby now",
        .arguments = "DRIVE...",
        .help = "Make drivekeep.service put the drives into standby now, wait for completion, and show their power modes."
                "\v" DRIVE_IS ". The next I/O of a drive wakes it; 'drivekeep wakes' shows the waker. Needs root.",
        .options = OPTION_JSON | OPTION_STATE_DIR,
        .run = standby_run,
};
