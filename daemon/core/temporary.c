/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <stdio.h>

#include "plan.h"
#include "record-field.h"
#include "temporary.h"

/* clang-format off */
static const Field drive_fields[] = {
        { "DRIVE",              FIELD_TEXT,     offsetof(TemporaryValues, drive) },
        { "DISKSEQ",            FIELD_UNSIGNED, offsetof(TemporaryValues, diskseq) },
        {}
};

static const Field value_fields[] = {
        { "NAME",               FIELD_TEXT,     offsetof(TemporaryValue, name) },
        { "TEXT",               FIELD_TEXT,     offsetof(TemporaryValue, text) },
        { "BEFORE",             FIELD_TEXT,     offsetof(TemporaryValue, before_text) },
        { "UNTIL_BOOT",         FIELD_BOOL,     offsetof(TemporaryValue, until_boot) },
        { "ALLOW_DANGEROUS",    FIELD_BOOL,     offsetof(TemporaryValue, allow_dangerous) },
        { "WAKE",               FIELD_BOOL,     offsetof(TemporaryValue, wake) },
        { "RESTORING",          FIELD_BOOL,     offsetof(TemporaryValue, restoring) },
        { "ACCEPTED",           FIELD_BOOL,     offsetof(TemporaryValue, accepted) },
        { "UNACCEPTED",         FIELD_BOOL,     offsetof(TemporaryValue, unaccepted) },
        {}
};
/* clang-format on */

static const FieldFile temporary_file = {
        .version = 1,
        .max_bytes = 64U * 1024U,
        .fields = drive_fields,
        .count = "VALUES",
        .prefix = "VALUE_",
        .item_fields = value_fields,
        .item_size = sizeof(TemporaryValue),
        .max_items = 256,
        .items_offset = offsetof(TemporaryValues, items),
        .n_items_offset = offsetof(TemporaryValues, n_items),
};

TemporaryValues *temporary_free(TemporaryValues *t) {
        field_file_free(&temporary_file, t);
        return NULL;
}

/* ---- text ---- */

/* Parses the texts of a value. Returns false if a text is not valid, or if the setting does not exist or is never
 * written. */
static bool value_resolve(TemporaryValue *v, const SettingTable *settings) {
        v->setting = v->name && v->text ? setting_find(settings, v->name) : NULL;
        return v->setting && !v->setting->alias_of && !(v->setting->flags & (SETTING_DEAD | SETTING_EXCLUDED)) &&
               value_parse(&v->setting->range, v->text, &v->value) == 0 &&
               (!v->before_text || value_parse(&v->setting->range, v->before_text, &v->before) == 0);
}

int temporary_parse(const char *text, size_t size, const SettingTable *settings, TemporaryValues **ret) {
        _cleanup_(temporary_freep) TemporaryValues *t = calloc(1, sizeof *t);
        int r = t ? field_file_parse(&temporary_file, text, size, t) : -ENOMEM;

        if (r < 0)
                return r;
        for (size_t i = t->n_items; i > 0; i--)
                if (!value_resolve(t->items + i - 1, settings))
                        temporary_drop(t, t->items + i - 1);
        *ret = TAKE_PTR(t);
        return 0;
}

int temporary_serialize(const TemporaryValues *t, char **ret) {
        return field_file_serialize(&temporary_file, t, ret);
}

int temporary_copy(const TemporaryValues *t, const SettingTable *settings, TemporaryValues **ret) {
        _cleanup_free_ char *text = NULL;
        int r;

        r = temporary_serialize(t ?: &(TemporaryValues){}, &text);
        return r < 0 ? r : temporary_parse(text, strlen(text), settings, ret);
}

int temporary_name(const Drive *d, char **ret) {
        _cleanup_free_ char *key = NULL;
        int r = guard_key(d, &key);

        if (r < 0)
                return r;
        return asprintf(ret, TEMPORARY_PREFIX "%s", key) < 0 ? -ENOMEM : 0;
}

int temporary_read_file(const char *dir, const char *name, const SettingTable *settings, TemporaryValues **ret) {
        _cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        int r;

        *ret = NULL;
        r = fd < 0 ? -errno : record_file_read(fd, name, temporary_file.max_bytes, &text, &size);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        return temporary_parse(text, size, settings, ret);
}

int temporary_read(const char *dir, const Drive *d, const SettingTable *settings, TemporaryValues **ret) {
        _cleanup_free_ char *name = NULL;
        int r = temporary_name(d, &name);

        if (r >= 0)
                r = temporary_read_file(dir, name, settings, ret);
        if (r < 0 || !*ret || (*ret)->diskseq == d->diskseq)
                return r;
        for (size_t i = (*ret)->n_items; i > 0; i--)
                if (!(*ret)->items[i - 1].until_boot)
                        temporary_drop(*ret, (*ret)->items + i - 1);
        return 0;
}

/* ---- values ---- */

TemporaryValue *temporary_find(const TemporaryValues *t, const char *name, bool until_boot) {
        for (size_t i = 0; t && i < t->n_items; i++)
                if (t->items[i].until_boot == until_boot && streq(t->items[i].name, name))
                        return t->items + i;
        return NULL;
}

int temporary_set(TemporaryValues *t, const TemporaryValue *v) {
        char text[VALUE_TEXT_MAX], before[VALUE_TEXT_MAX];
        TemporaryValue new = *v, *old;
        int r = 0;

        new.name = strdup(setting_state(v->setting));
        new.text = strdup(value_format(&v->setting->range, &v->value, text));
        new.before_text = v->before_text ? strdup(value_format(&v->setting->range, &v->before, before)) : NULL;
        if (!new.name || !new.text || (v->before_text && !new.before_text))
                r = -ENOMEM;
        old = r >= 0 ? temporary_find(t, new.name, new.until_boot) : NULL;
        if (old)
                temporary_drop(t, old);
        if (r >= 0)
                r = field_item_add(&temporary_file, t);
        if (r >= 0)
                t->items[t->n_items - 1] = new;
        else
                fields_free(value_fields, &new);
        return r;
}

void temporary_drop(TemporaryValues *t, TemporaryValue *v) {
        field_item_drop(&temporary_file, t, (size_t) (v - t->items));
}

bool temporary_is_barred(Verdict v) {
        return v == VERDICT_UNSUPPORTED || v == VERDICT_FORBIDDEN || v == VERDICT_QUARANTINED;
}

bool temporary_has_no_effect(Verdict v, bool same) {
        /* A drive that rejects a value may nevertheless change its own value. A rejected value therefore counts as
         * without effect only if the drive's value is still the same. */
        return temporary_is_barred(v) || ((v == VERDICT_REFUSED || v == VERDICT_IGNORED) && same);
}

/* ---- wishes ---- */

const char *temporary_to_string(int temporary) {
        return temporary == TEMPORARY_TRY ? "try" : temporary == TEMPORARY_TUNE ? "tune" : NULL;
}

const char *temporary_rule(const TemporaryValue *v) {
        return v->until_boot ? TEMPORARY_RULE_BOOT : TEMPORARY_RULE_CLIENT;
}

static int overlay(const TemporaryValue *v, Wishes *w) {
        const Wish *old = wishes_find(w, v->name);
        /* A client's value inherits the options of the rule that it overrides, but the drive must not save the value. A value
         * until the next boot has options of its own. */
        Wish wish = old && !v->until_boot ? *old
                                          : (Wish){ .name = setting_state(v->setting),
                                                    .allow_dangerous = v->allow_dangerous,
                                                    .wake = v->wake };

        /* If a rule without an error sets the setting, the rule's value is restored instead of `before`. */
        if (v->restoring && (!v->before_text || (old && !old->withheld)))
                return 0;
        wish.via_stacked = NULL;
        wish.value = v->restoring ? v->before : v->value;
        wish.withheld = wish.permanent = false;
        wish.file = temporary_rule(v);
        wish.line = wish.column = 0;
        wish.temporary = v->restoring ? TEMPORARY_NO : v->until_boot ? TEMPORARY_TRY : TEMPORARY_TUNE;
        return wishes_add(w, &wish);
}

int temporary_overlay(const TemporaryValues *t, Wishes *w) {
        int r = 0;

        for (int until_boot = 1; until_boot >= 0; until_boot--)
                for (size_t i = 0; t && i < t->n_items && r >= 0; i++)
                        if (t->items[i].until_boot == until_boot)
                                r = overlay(t->items + i, w);
        return r;
}
