/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "human.h"
#include "json-add.h"
#include "list-view.h"
#include "report.h"
#include "table.h"

int list_view_table(Drive *const *drives, size_t n, const Records *records, Table **ret) {
        /* clang-format off */
        static const Column columns[] = {
                { .name = "NAME" },
                { .name = "MODEL", .wrap = true },
                { .name = "SERIAL" },
                { .name = "FIRMWARE", .spared = true },
                { .name = "TRANSPORT" },
                { .name = "SIZE", .right = true },
                { .name = "WWN", .spared = true },
                { .name = "SETTINGS" },
        };
        /* clang-format on */
        _cleanup_(table_freep) Table *t = NULL;
        int r;

        r = table_new(columns, ELEMENTSOF(columns), &t);
        if (r < 0)
                return r;

        for (size_t i = 0; i < n; i++) {
                const Drive *d = drives[i];
                const DriveRecord *record = records_find(records, d->name);
                _cleanup_free_ char *summary = NULL;
                char size[HUMAN_MAX];

                r = record ? record_summarize(record, &summary) : 0;
                if (r >= 0)
                        r = table_add(t, (const char *const[ELEMENTSOF(columns)]){
                                                         d->name, d->model, d->serial, d->firmware,
                                                         transport_to_string(d->transport),
                                                         capacity_format(d->size, size), d->wwn, summary });
                if (r < 0)
                        return r;
        }

        *ret = TAKE_PTR(t);
        return 0;
}

/* NULL record: the service does not run or has not seen the drive, so the counts are not known. */
static int counts_add(struct json_object *o, const DriveRecord *record) {
        int r;

        if (!record) {
                r = json_add_text(o, "settings_kept", NULL);
                return r < 0 ? r : json_add_text(o, "settings_not_kept", NULL);
        }

        r = json_add_number(o, "settings_kept", record_count_kept(record));
        return r < 0 ? r : json_add_number(o, "settings_not_kept", record->n_settings - record_count_kept(record));
}

/* This shape is documented in drivekeep(1) and stays as it is; more keys may be added. */
static int drive_json(const Drive *d, const DriveRecord *record, struct json_object **ret) {
        _cleanup_(json_putp) struct json_object *o = NULL;
        int r;
        const JsonText texts[] = {
                { "name", d->name },
                { "node", d->node },
                { "model", d->model },
                { "serial", d->serial },
                { "wwn", d->wwn },
                { "firmware", d->firmware },
                { "dock_model", d->dock_model },
                { "dock_serial", d->dock_serial },
                { "transport", transport_to_string(d->transport) },
                { "identity", identity_kind_to_string(drive_identity_kind(d)) },
        };

        r = json_object_of_texts(texts, ELEMENTSOF(texts), &o);
        if (r < 0)
                return r;

        r = json_add_number(o, "size", d->size);
        if (r >= 0)
                r = counts_add(o, record);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(o);
        return 0;
}

int list_view_json(Drive *const *drives, size_t n, const Records *records, struct json_object **ret) {
        _cleanup_(json_putp) struct json_object *array = NULL;

        array = json_object_new_array();
        if (!array)
                return -ENOMEM;

        for (size_t i = 0; i < n; i++) {
                struct json_object *o = NULL;
                int r;

                r = drive_json(drives[i], records_find(records, drives[i]->name), &o);
                if (r >= 0)
                        r = json_append(array, o);
                if (r < 0)
                        return r;
        }

        *ret = TAKE_PTR(array);
        return 0;
}

static int list_view_print_json(Drive *const *drives, size_t n, const Records *records) {
        _cleanup_(json_putp) struct json_object *o = NULL;
        int r;

        r = list_view_json(drives, n, records, &o);
        if (r < 0)
                return r;

        return json_print(o);
}

int list_view_print(Drive *const *drives, size_t n, const Records *records, bool json) {
        _cleanup_(table_freep) Table *t = NULL;
        int r;

        if (json)
                return list_view_print_json(drives, n, records);

        r = list_view_table(drives, n, records, &t);
        if (r < 0)
                return r;

        return table_print(t);
}
