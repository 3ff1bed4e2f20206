/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "human.h"
#include "json-add.h"
#include "report.h"

/* The shapes below are documented in drivekeep(1) and stay as they are; more keys may be added. */
static int setting_json(const SettingRecord *s, struct json_object **ret) {
        char when[HUMAN_MAX], drift_when[HUMAN_MAX];
        const JsonText texts[] = {
                { "name", s->name },
                { "wanted", s->wanted },
                { "before", s->before },
                { "actual", s->actual },
                { "verdict", verdict_to_string(s->verdict) },
                { "reason", s->reason },
                { "rule", s->rule },
                { "when", time_format_rfc3339(s->when, when) },
                { "drift_from", s->drift_from },
                { "drift_to", s->drift_to },
                { "drift_when", time_format_rfc3339(s->drift_when, drift_when) },
        };

        return json_object_of_texts(texts, ELEMENTSOF(texts), ret);
}

static int drive_json(const DriveRecord *d, struct json_object **ret) {
        _cleanup_(json_putp) struct json_object *o = NULL;
        struct json_object *settings;
        int r;
        const JsonText texts[] = {
                { "name", d->name },
                { "node", d->node },
                { "model", d->model },
                { "serial", d->serial },
                { "wwn", d->wwn },
                { "dock_model", d->dock_model },
                { "dock_serial", d->dock_serial },
                { "identity", d->identity },
                { "state", drive_state_to_string(d->state) },
                { "waiting_kind", d->waiting_kind == WAIT_NOTHING ? NULL : wait_kind_to_string(d->waiting_kind) },
                { "waiting_for", d->waiting_for },
                { "visit_reason", d->visit_reason },
        };

        r = json_object_of_texts(texts, ELEMENTSOF(texts), &o);
        if (r < 0)
                return r;

        settings = json_object_new_array();
        r = json_add(o, "settings", settings);
        if (r < 0)
                return r;

        for (size_t i = 0; i < d->n_settings; i++) {
                struct json_object *s;

                r = setting_json(d->settings + i, &s);
                if (r >= 0)
                        r = json_append(settings, s);
                if (r < 0)
                        return r;
        }

        *ret = TAKE_PTR(o);
        return 0;
}

int report_json(const Records *records, const bool *chosen, struct json_object **ret) {
        _cleanup_(json_putp) struct json_object *array = NULL;

        array = json_object_new_array();
        if (!array)
                return -ENOMEM;

        for (size_t i = 0; i < records->n_items; i++) {
                struct json_object *o = NULL;
                int r;

                if (!chosen[i])
                        continue;

                r = drive_json(records->items[i], &o);
                if (r >= 0)
                        r = json_append(array, o);
                if (r < 0)
                        return r;
        }

        *ret = TAKE_PTR(array);
        return 0;
}
