/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <stdio.h>
#include <systemd/sd-bus.h>

#include "device.h"
#include "safe-file.h"
#include "state-file.h"
#include "target-guard.h"
#include "target-temporary.h"
#include "temporary.h"

#define RETRIES_MAX 3U

typedef struct TargetTemporary {
        TemporaryValues *values; /* NULL if the drive has no temporary values */
        char *path;              /* path of the file with the values */
        const sd_bus *client; /* the client that set values; used only for comparison; NULL after the client has disconnected */
        unsigned n_retries; /* number of visits that could not restore all values */
} TargetTemporary;

static TargetTemporary *values_of(const Target *t) {
        return target_part(t, &temporary_part);
}

/* ---- the file ---- */

/* Searches the list of Targets, beginning at `from`, for another path to the same drive. NULL: there is none. All paths
 * to a drive share one file, and the same values until the next boot. */
static Target *next_path(const Target *t, Target *from) {
        for (; from; from = from->next)
                if (from != t && target_guard_is_same_drive(from, t))
                        break;
        return from;
}

static int values_write(Target *t, TemporaryValues *h) {
        Target *other = next_path(t, t->env->drives);
        _cleanup_free_ char *name = NULL, *path = NULL, *text = NULL;
        int r;

        if (h->n_items == 0 && other && values_of(other)->values && values_of(other)->values->n_items > 0)
                return values_write(other, values_of(other)->values);
        r = temporary_name(t->drive, &name);
        if (r < 0)
                return r;
        if (asprintf(&path, STATE_DIR "/%s", name) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        if (h->n_items == 0)
                return unlink(path) < 0 && errno != ENOENT ? -errno : 0;

        free(TAKE_PTR(h->drive));
        if (asprintf(&h->drive, "%s (model %s, serial %s)", t->drive->name, strna(t->drive->model),
                     strna(t->drive->serial)) < 0) {
                h->drive = NULL;
                return -ENOMEM;
        }
        h->diskseq = t->drive->diskseq;
        r = temporary_serialize(h, &text);
        if (r >= 0)
                r = file_replace(AT_FDCWD, path, text, false);
        if (r < 0)
                return r;

        /* The name of the file changes when the drive behind a USB bridge is identified. */
        if (values_of(t)->path && !streq(values_of(t)->path, path))
                (void) unlink(values_of(t)->path);
        free(values_of(t)->path);
        values_of(t)->path = TAKE_PTR(path);
        return 0;
}

/* Writes the values of `t` to the file after those of another path. The file must also keep the values that a client set for `t`. */
static int values_write_again(Target *t) {
        return values_of(t)->values ? values_write(t, values_of(t)->values) : 0;
}

static void values_replace(Target *t, TemporaryValues *h) {
        (void) temporary_free(values_of(t)->values);
        values_of(t)->values = h && h->n_items > 0 ? h : temporary_free(h);
}

/* Replaces the temporary values by `h`, and takes ownership of `h`. Saves the values before the drive gets them, so
 * that the next run of the service can restore the previous values. */
static int values_change(Target *t, TemporaryValues *h, sd_bus_error *error) {
        if (values_write(t, h) < 0) {
                (void) temporary_free(h);
                return sd_bus_error_set(error, SD_BUS_ERROR_FAILED, "The previous value cannot be saved in /run.");
        }

        values_replace(t, h);
        target_reconfigure(t, VISIT_REQUEST);
        return 0;
}

/* ---- permitted values ---- */

static int refuse(sd_bus_error *error, const char *setting, const char *why) {
        (void) sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "%s %s.", setting, why);
        return -EINVAL;
}

/* Parses a value and the previous value ("": not known). A value that ends when the client disconnects must be
 * restorable and not dangerous. A value until the next boot has no such limits here: the visit checks it in the same
 * way as the value of a rule. */
static int values_parse(const Target *t, bool until_boot, const char *setting, const char *value, const char *before,
                        TemporaryValue *ret, sd_bus_error *error) {
        const SettingFlags unfit =
                        SETTING_UNREADABLE | SETTING_NONVOLATILE | SETTING_AT_ATTACH | SETTING_DEAD | SETTING_EXCLUDED;
        const Setting *s = until_boot ? setting_find(t->env->settings, setting)
                                      : setting_for_backends(t->env->settings, setting, drive_backends(t->drive));
        TemporaryValue v = { .setting = s, .until_boot = until_boot };

        if (!s || s->alias_of)
                return refuse(error, setting, "is not a setting of this kind of drive");
        if (until_boot && (s->flags & (SETTING_DEAD | SETTING_EXCLUDED)))
                return refuse(error, setting, "is never written");
        if (!until_boot && (s->flags & unfit))
                return refuse(error, setting, "cannot be restored, so it cannot be set temporarily");
        v.before_text = until_boot && !*before ? NULL : (char *) before;
        if (value_parse(&s->range, value, &v.value) != 0 ||
            (v.before_text && value_parse(&s->range, before, &v.before) != 0))
                return refuse(error, setting, "does not accept this value");
        if (!until_boot && (setting_is_dangerous(s, &v.value) || setting_is_dangerous(s, &v.before)))
                return refuse(error, setting, "is dangerous, so it cannot be set temporarily");
        *ret = v;
        return 0;
}

/* Adds the temporary value `v` to `h`. If the setting already has a temporary value, its stored previous value stays. */
static int values_add(const Target *t, TemporaryValues *h, TemporaryValue *v, sd_bus_error *error) {
        const char *name = setting_state(v->setting);
        const TemporaryValue *old = v->until_boot ? temporary_find(h, name, true) : NULL,
                             *first = old || !v->until_boot ? old : temporary_find(h, name, false);
        const Wish *wish = wishes_find(&t->wishes, name);

        if (wish && wish->withheld)
                return sd_bus_error_setf(error, SD_BUS_ERROR_FAILED,
                                         "%s cannot be set: its rule at %s:%u has an error.", name, wish->file,
                                         wish->line);
        if (first) {
                v->before_text = first->before_text;
                v->before = first->before;
        }
        v->accepted = old && old->accepted;
        return temporary_set(h, v);
}

/* Sets all values or none. `values` is a list of setting, value and previous value. `like` holds the options of the new
 * values: until_boot, allow_dangerous and wake. */
static int values_set(Target *t, char *const *values, const TemporaryValue *like, sd_bus_error *error) {
        _cleanup_(temporary_freep) TemporaryValues *h = NULL;
        int r;

        r = temporary_copy(values_of(t)->values, t->env->settings, &h);
        for (; values && *values && r >= 0; values += 3) {
                TemporaryValue v;

                if (!values[1] || !values[2])
                        return -EINVAL;
                r = values_parse(t, like->until_boot, values[0], values[1], values[2], &v, error);
                v.allow_dangerous = like->allow_dangerous;
                v.wake = like->wake;
                if (r >= 0)
                        r = values_add(t, h, &v, error);
        }
        return r < 0 ? r : values_change(t, TAKE_PTR(h), error);
}

/* ---- while a client is connected ---- */

/* Returns the first value that a client set, or NULL if there is none. */
static const TemporaryValue *values_of_client(const Target *t) {
        const TemporaryValues *h = values_of(t)->values;

        for (size_t i = 0; h && i < h->n_items; i++)
                if (!h->items[i].until_boot)
                        return h->items + i;
        return NULL;
}

int target_temporary_set(Target *t, const sd_bus *client, const char *setting, const char *value, const char *before,
                         sd_bus_error *error) {
        char *const values[] = { (char *) setting, (char *) value, (char *) before, NULL };
        const TemporaryValue *other = values_of_client(t);
        int r;

        if (other && values_of(t)->client != client)
                return sd_bus_error_setf(error, SD_BUS_ERROR_FAILED, "%s of this drive is %s.", other->name,
                                         values_of(t)->client ? "already set by another client"
                                                              : "still being restored");
        r = values_set(t, values, &(TemporaryValue){}, error);
        if (r >= 0)
                values_of(t)->client = client;
        return r;
}

void target_temporary_end(Target *t, const sd_bus *client) {
        TemporaryValues *h = values_of(t)->values;

        if (!values_of_client(t) || !values_of(t)->client || values_of(t)->client != client)
                return;

        values_of(t)->client = NULL;
        values_of(t)->n_retries = 0;
        for (size_t i = 0; i < h->n_items; i++)
                h->items[i].restoring = h->items[i].restoring || !h->items[i].until_boot;
        target_reconfigure(t, VISIT_REQUEST);
}

/* ---- until the next boot ---- */

int target_temporary_try(Target *t, char *const *values, bool allow_dangerous, bool wake, sd_bus_error *error) {
        const TemporaryValue like = { .until_boot = true, .allow_dangerous = allow_dangerous, .wake = wake };
        int r = values_set(t, values, &like, error);

        for (Target *p = next_path(t, t->env->drives); p && r >= 0; p = next_path(t, p->next)) {
                (void) values_set(p, values, &like, NULL);
                r = values_write_again(t);
        }
        return r;
}

static int undo_one(Target *t, const char *setting, sd_bus_error *error) {
        _cleanup_(temporary_freep) TemporaryValues *h = NULL;
        bool any = false;
        int r;

        r = temporary_copy(values_of(t)->values, t->env->settings, &h);
        if (r < 0)
                return r;
        for (size_t i = h->n_items; i > 0; i--) {
                TemporaryValue *v = h->items + i - 1;

                if (!v->until_boot || (setting && !streq(v->name, setting)))
                        continue;
                any = true;
                if (v->unaccepted || !v->before_text)
                        temporary_drop(h, v);
                else
                        v->restoring = true;
        }
        values_of(t)->n_retries = 0;
        return any ? values_change(t, TAKE_PTR(h), error) : 0;
}

int target_temporary_undo(Target *t, const char *setting, sd_bus_error *error) {
        int r = undo_one(t, setting, error);

        for (Target *p = next_path(t, t->env->drives); p && r >= 0; p = next_path(t, p->next)) {
                (void) undo_one(p, setting, NULL);
                r = values_write_again(t);
        }
        return r;
}

/* ---- attach and detach ---- */

/* Reads the stored values. They may be from an earlier run of the service, or from before the drive was last
 * unplugged. */
static int values_attach(Target *t, bool again) {
        _cleanup_(temporary_freep) TemporaryValues *h = NULL;
        bool unknown = drive_is_behind_bridge(t->drive) && !t->record->bridge.identified, same;
        int r;

        if (again)
                return 0;
        /* The drive behind a USB bridge is identified now, so the name of the file changes. */
        if (values_of(t)->values)
                return values_write(t, values_of(t)->values);
        r = temporary_read(STATE_DIR, t->drive, t->env->settings, &h);
        if (r < 0 || !h)
                return r == -ENOMEM ? r : 0;

        same = h->diskseq == t->drive->diskseq;
        for (size_t i = h->n_items; i > 0; i--) {
                TemporaryValue *v = h->items + i - 1, parsed;

                v->restoring = v->restoring || !v->until_boot;
                /* Drops invalid values. Also drops all values if the bridge may have another drive now: the bridge was
                 * attached again, and the drive behind the bridge is not identified. */
                if ((unknown && !same) ||
                    values_parse(t, v->until_boot, v->name, v->text, v->before_text ?: "", &parsed, NULL) < 0)
                        temporary_drop(h, v);
        }
        /* Does not write the file if it has another diskseq. It may then hold a client's values for another path to
         * this drive, or for another drive with the same identity. */
        r = same || unknown ? values_write(t, h) : 0;
        values_replace(t, TAKE_PTR(h));
        return r == -ENOMEM ? r : 0;
}

static void values_detach(Target *t) {
        TemporaryValues *h = values_of(t)->values;

        if (!values_of_client(t))
                return;
        for (size_t i = h->n_items; i > 0; i--)
                if (!h->items[i - 1].until_boot)
                        temporary_drop(h, h->items + i - 1);
        (void) values_write(t, h);
}

static void values_done(Target *t) {
        values_replace(t, NULL);
        free(TAKE_PTR(values_of(t)->path));
}

/* ---- results of a visit ---- */

/* Returns true if a temporary value has ended, and its previous value is not restored yet. `until_boot`: true for values
 * until the next boot, false for values of a client. */
static bool values_returns(const Target *t, bool until_boot) {
        const TemporaryValues *h = values_of(t)->values;

        for (size_t i = 0; h && i < h->n_items; i++)
                if (h->items[i].until_boot == until_boot && h->items[i].restoring && !h->items[i].restored)
                        return true;
        return false;
}

bool target_temporary_returns(const Target *t) {
        return values_returns(t, false) || values_returns(t, true);
}

bool target_temporary_must_retry(Target *t) {
        return target_temporary_returns(t) && values_of(t)->n_retries++ < RETRIES_MAX;
}

/* Notes whether the drive accepted the value. */
static void note_accepted(Target *t, TemporaryValue *v, const Step *s) {
        bool same = !(s->written || s->failed) ||
                    (s->before.known == s->after.known &&
                     (!s->before.known || value_equal(&s->before.value, &s->after.value)));
        bool not_yet = verdict_is_pending(s->verdict) || temporary_has_no_effect(s->verdict, same);
        bool accepted = v->accepted || !not_yet, unaccepted = not_yet && !v->accepted;

        if (v->accepted == accepted && v->unaccepted == unaccepted)
                return;
        v->accepted = accepted;
        v->unaccepted = unaccepted;
        (void) values_write(t, values_of(t)->values);
}

void target_temporary_step(Target *t, const Step *s) {
        /* If a new configuration waits in t->update, the wishes of this visit are out of date. */
        if (pending_any(&t->update.files))
                return;

        for (int until_boot = 0; until_boot <= 1; until_boot++) {
                TemporaryValue *v = temporary_find(values_of(t)->values, s->wish->name, until_boot);
                bool mine = v && s->wish->line == 0 && streq(s->wish->file, temporary_rule(v));

                if (mine && v->restoring)
                        v->restored = verdict_is_wanted(s->verdict) || s->verdict == VERDICT_UNSUPPORTED;
                else if (mine && until_boot)
                        note_accepted(t, v, s);
                /* In two cases the previous value need not be restored: a rule now sets the setting, or a client's
                 * value has ended while a value until the next boot is in force. */
                else if (v && !mine && v->restoring && (s->wish->line > 0 || !until_boot))
                        v->restored = s->verdict != VERDICT_DEFERRED;
        }
}

/* If the previous values of all ended values are restored, drops the ended values. `until_boot`: true for values until
 * the next boot, false for values of a client. Does not drop the values one by one, since restoring a value may reset
 * another value. */
static bool drop_returned(Target *t, bool until_boot) {
        TemporaryValues *h = values_of(t)->values;
        bool any = false;

        if (values_returns(t, until_boot))
                return false;
        for (size_t i = h ? h->n_items : 0; i > 0; i--)
                if (h->items[i - 1].until_boot == until_boot && h->items[i - 1].restored) {
                        temporary_drop(h, h->items + i - 1);
                        any = true;
                }
        return any;
}

bool target_temporary_ended(Target *t) {
        bool client = drop_returned(t, false), boot = drop_returned(t, true);

        if (!client && !boot)
                return false;
        (void) values_write(t, values_of(t)->values);
        values_replace(t, values_of(t)->values->n_items > 0 ? TAKE_PTR(values_of(t)->values) : NULL);
        return true;
}

int target_temporary_overlay(const Target *t, Wishes *w) {
        return temporary_overlay(values_of(t)->values, w);
}

const TargetPart temporary_part = {
        .size = sizeof(TargetTemporary),
        .attach = values_attach,
        .detach = values_detach,
        .done = values_done,
};
