/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "human.h"
#include "json-add.h"
#include "show-view.h"
#include "table.h"
#include "text.h"

static const char *supported_word(const Surveyed *s) {
        return s->reading.supported ? "yes" : s->reason ? NULL : "no";
}

static const char *reading_format(const Surveyed *s, bool known, const Value *v, char buf[static VALUE_TEXT_MAX]) {
        return known && s->reading.supported ? value_format(&s->setting->range, v, buf) : NULL;
}

static int add_row(void *userdata, const Surveyed *s) {
        char value[VALUE_TEXT_MAX], saved[VALUE_TEXT_MAX];

        return table_add(userdata, (const char *const[]){
                                                   s->setting->name,
                                                   backend_to_string(s->setting->backend),
                                                   supported_word(s),
                                                   reading_format(s, s->reading.known, &s->reading.value, value),
                                                   reading_format(s, s->reading.saved_known, &s->reading.saved, saved),
                                                   s->reason,
                                   });
}

static int print_fact(const char *title, const char *text) {
        _cleanup_free_ char *escaped = NULL;

        if (!text)
                return 0;
        escaped = text_escape(text, NULL);
        if (!escaped)
                return -ENOMEM;
        printf("%10s: %s\n", title, escaped);
        return 0;
}

static int print_drive(const Drive *d, unsigned backends, const SettingTable *t, const DeviceIO *io) {
        static const Column columns[] = {
                { .name = "SETTING" }, { .name = "HELD BY", .spared = true }, { .name = "SUPPORTED" },
                { .name = "VALUE" },   { .name = "SAVED", .spared = true },   { .name = "REMARK", .wrap = true },
        };
        _cleanup_(table_freep) Table *table = NULL;
        char size[HUMAN_MAX];
        int r;

        r = print_fact("drive", d->node);
        if (r >= 0)
                r = print_fact("model", d->model);
        if (r >= 0)
                r = print_fact("serial", d->serial);
        if (r >= 0)
                r = print_fact("firmware", d->firmware);
        if (r >= 0)
                r = print_fact("wwn", d->wwn);
        if (r >= 0)
                r = print_fact("size", capacity_format(d->size, size));
        if (r >= 0)
                r = print_fact("rotates", d->rotational_untold ? NULL : d->rotational ? "yes" : "no");
        if (r >= 0)
                r = table_new(columns, ELEMENTSOF(columns), &table);
        if (r >= 0)
                r = survey(d, backends, t, io, add_row, table);
        if (r < 0)
                return r;

        return table_print(table);
}

static int append_setting(void *userdata, const Surveyed *s) {
        _cleanup_(json_putp) struct json_object *o = NULL;
        char value[VALUE_TEXT_MAX], saved[VALUE_TEXT_MAX];
        const char *supported = supported_word(s);
        const JsonText texts[] = {
                { "name", s->setting->name },
                { "transport", backend_to_string(s->setting->backend) },
                { "value", reading_format(s, s->reading.known, &s->reading.value, value) },
                { "saved", reading_format(s, s->reading.saved_known, &s->reading.saved, saved) },
                { "reason", s->reason },
        };
        int r;

        r = json_object_of_texts(texts, ELEMENTSOF(texts), &o);
        if (r >= 0)
                r = supported ? json_add(o, "supported", json_object_new_boolean(s->reading.supported))
                              : json_add_text(o, "supported", NULL);
        return r < 0 ? r : json_append(userdata, TAKE_PTR(o));
}

static int append_drive(struct json_object *array, const Drive *d, unsigned backends, const SettingTable *t,
                        const DeviceIO *io) {
        const JsonText texts[] = {
                { "node", d->node },         { "model", d->model }, { "serial", d->serial },
                { "firmware", d->firmware }, { "wwn", d->wwn },
        };
        struct json_object *o, *settings;
        int r;

        r = json_object_of_texts(texts, ELEMENTSOF(texts), &o);
        if (r < 0)
                return r;
        r = json_append(array, o);
        if (r >= 0)
                r = json_add_number(o, "size", d->size);
        if (r >= 0)
                r = d->rotational_untold ? json_add_text(o, "rotational", NULL)
                                         : json_add(o, "rotational", json_object_new_boolean(d->rotational));
        if (r >= 0)
                r = json_add(o, "settings", settings = json_object_new_array());
        return r < 0 ? r : survey(d, backends, t, io, append_setting, settings);
}

int show_view_print(const Drive *const *drives, size_t n, unsigned backends, const SettingTable *t, const DeviceIO *io,
                    bool json) {
        _cleanup_(json_putp) struct json_object *array = NULL;
        unsigned mask;
        int r = 0;

        if (json) {
                array = json_object_new_array();
                if (!array)
                        return -ENOMEM;
        }

        for (size_t i = 0; i < n && r >= 0; i++) {
                if (!json && i > 0)
                        putchar('\n');
                mask = backends & drive_backends(drives[i]);
                r = json ? append_drive(array, drives[i], mask, t, io) : print_drive(drives[i], mask, t, io);
        }

        return r >= 0 && json ? json_print(array) : r;
}
