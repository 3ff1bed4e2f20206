/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdarg.h>

#include "color.h"
#include "human.h"
#include "report.h"
#include "table.h"
#include "text.h"

int report_table(const Records *records, const bool *chosen, uint64_t now, Table **ret) {
        /* clang-format off */
        static const Column columns[] = {
                { .name = "DRIVE" },
                { .name = "SETTING" },
                { .name = "WANTED" },
                { .name = "ACTUAL" },
                { .name = "VERDICT", .color = verdict_color },
                { .name = "WHEN" },
                { .name = "RULE", .wrap = true },
        };
        /* clang-format on */
        _cleanup_(table_freep) Table *t = NULL;
        int r;

        r = table_new(columns, ELEMENTSOF(columns), &t);
        if (r < 0)
                return r;

        for (size_t i = 0; i < records->n_items; i++) {
                const DriveRecord *d = records->items[i];

                if (!chosen[i])
                        continue;

                /* A drive without settings has a row too, so that nobody looks for it in vain. */
                if (d->n_settings == 0 || d->state != DRIVE_IDLE) {
                        const char *state = d->state == DRIVE_IDLE ? NULL : drive_state_to_string(d->state);

                        r = table_add(t, (const char *const[ELEMENTSOF(columns)]){ d->name, [4] = state });
                        if (r < 0)
                                return r;
                }

                for (size_t j = 0; j < d->n_settings; j++) {
                        const SettingRecord *s = d->settings + j;
                        char when[HUMAN_MAX];

                        r = table_add(t,
                                      (const char *const[ELEMENTSOF(columns)]){ d->name, s->name, s->wanted, s->actual,
                                                                                verdict_to_string(s->verdict),
                                                                                time_format_short(s->when, now, when),
                                                                                rule_format_short(s->rule) });
                        if (r < 0)
                                return r;
                }
        }

        *ret = TAKE_PTR(t);
        return 0;
}

_printf_(2, 3) static int note_print(FILE *f, const char *format, ...) {
        _cleanup_free_ char *note = NULL, *escaped = NULL;
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&note, format, ap);
        va_end(ap);
        if (r < 0) {
                note = NULL;
                return -ENOMEM;
        }

        escaped = text_escape(note, NULL);
        if (!escaped)
                return -ENOMEM;

        fprintf(f, "%s\n", escaped);
        return 0;
}

static int state_note_print(FILE *f, const DriveRecord *d) {
        switch (d->state) {
        case DRIVE_WAITING:
                return note_print(f, "%s: waits for %s", d->name,
                                  wait_describe((Wait){ d->waiting_kind, d->waiting_for }));
        case DRIVE_QUEUED:
                return note_print(f, "%s: waits for its turn", d->name);
        case DRIVE_VISITING:
                return note_print(f, "%s: is being visited now", d->name);
        case DRIVE_IDLE:
        case _DRIVE_STATE_MAX:
        case _DRIVE_STATE_INVALID:
                break;
        }

        return 0;
}

/* Only the weak ones: a drive without a name of its own is whatever sits at that place. */
static int identity_note_print(FILE *f, const DriveRecord *d) {
        if (d->n_settings == 0 || !d->identity)
                return 0;
        if (streq(d->identity, "serial"))
                return note_print(f, "%s: known by serial number and model, as it has no WWN", d->name);
        if (streq(d->identity, "path"))
                return note_print(f, "%s: known only by where it is attached, as it has no WWN and no serial number",
                                  d->name);
        return 0;
}

static int dock_note_print(FILE *f, const DriveRecord *d) {
        if (!d->dock_model && !d->dock_serial)
                return 0;
        return note_print(f, "%s: %s (serial %s), behind the USB bridge %s (serial %s)", d->name, strna(d->model),
                          strna(d->serial), strna(d->dock_model), strna(d->dock_serial));
}

int report_notes(const Records *records, const bool *chosen, FILE *f) {
        for (size_t i = 0; i < records->n_items; i++) {
                const DriveRecord *d = records->items[i];
                int r;

                if (!chosen[i])
                        continue;

                r = state_note_print(f, d);
                if (r >= 0)
                        r = dock_note_print(f, d);
                if (r >= 0)
                        r = identity_note_print(f, d);
                if (r < 0)
                        return r;

                for (size_t j = 0; j < d->n_settings; j++) {
                        const SettingRecord *s = d->settings + j;
                        char when[HUMAN_MAX];

                        r = 0;
                        if (s->reason)
                                r = note_print(f, "%s %s: %s", d->name, s->name, s->reason);
                        if (r >= 0 && s->drift_to)
                                r = note_print(f,
                                               "%s %s: something changed it from %s to %s, noticed at %s; 'drivekeep check' names programs that do",
                                               d->name, s->name, strna(s->drift_from), s->drift_to,
                                               strna(time_format_rfc3339(s->drift_when, when)));
                        if (r < 0)
                                return r;
                }
        }

        return 0;
}
