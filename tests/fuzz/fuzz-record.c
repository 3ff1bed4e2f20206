/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Fuzzes the readers of files in /run/drivekeep and /var/lib/drivekeep. If a record was read, it must be
 * possible to write the record, and to read the same record again. */

#include <stdlib.h>

#include "guard-rules.h"
#include "drive-record.h"
#include "settings.h"
#include "temporary.h"

static void drive_record(const char *data, size_t size) {
        _cleanup_(drive_record_freep) DriveRecord *first = NULL, *second = NULL;
        _cleanup_free_ char *text = NULL, *again = NULL;

        if (drive_record_parse(data, size, &first) < 0)
                return;
        if (drive_record_serialize(first, &text) < 0 || drive_record_parse(text, strlen(text), &second) < 0 ||
            drive_record_serialize(second, &again) < 0 || strcmp(text, again) != 0)
                abort();
}

static void guard_record(const char *data, size_t size) {
        _cleanup_(guard_record_freep) GuardRecord *first = NULL, *second = NULL;
        _cleanup_free_ char *text = NULL, *again = NULL;

        if (guard_record_parse(data, size, &all_settings, &first) < 0)
                return;
        if (guard_record_serialize(first, &text) < 0 ||
            guard_record_parse(text, strlen(text), &all_settings, &second) < 0 ||
            guard_record_serialize(second, &again) < 0 || strcmp(text, again) != 0)
                abort();
}

static void temporary_values(const char *data, size_t size) {
        _cleanup_(temporary_freep) TemporaryValues *first = NULL, *second = NULL;
        _cleanup_free_ char *text = NULL, *again = NULL;

        if (temporary_parse(data, size, &all_settings, &first) < 0)
                return;
        if (temporary_serialize(first, &text) < 0 || temporary_parse(text, strlen(text), &all_settings, &second) < 0 ||
            temporary_serialize(second, &again) < 0 || strcmp(text, again) != 0 || first->n_items != second->n_items)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        drive_record((const char *) data, size);
        guard_record((const char *) data, size);
        temporary_values((const char *) data, size);
        return 0;
}
