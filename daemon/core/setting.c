/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <strings.h>

#include "setting.h"

static const char *const backend_table[_BACKEND_MAX] = {
        [BACKEND_ATA] = "ata",   [BACKEND_NVME] = "nvme",   [BACKEND_SCSI_MODE] = "scsi-mode",
        [BACKEND_SCSI] = "scsi", [BACKEND_BLOCK] = "block", [BACKEND_OPTICAL] = "optical",
};

const char *backend_to_string(Backend b) {
        return (size_t) b < _BACKEND_MAX ? backend_table[b] : NULL;
}

const char *setting_state(const Setting *s) {
        return s->alias_of ?: s->name;
}

const Setting *setting_find(const SettingTable *t, const char *name) {
        SETTING_TABLE_FOREACH(s, t)
                if (streq(s->name, name))
                        return s;

        return NULL;
}

const Setting *setting_for_backends(const SettingTable *t, const char *name, unsigned backends) {
        const Setting *found = setting_find(t, name);
        const char *state;

        if (!found)
                return NULL;

        state = setting_state(found);
        SETTING_TABLE_FOREACH(s, t)
                if (!s->alias_of && streq(s->name, state) &&
                    ((backends & 1U << s->backend) || (s->flags & (SETTING_DEAD | SETTING_EXCLUDED))))
                        return s;

        return NULL;
}

const Remedy *setting_kind_remedy(const SettingTable *t, const char *name, unsigned backends) {
        const Setting *row = setting_for_backends(t, name, backends);

        if (row)
                return row->flags & SETTING_ABSENT ? row->remedy : NULL;
        SETTING_TABLE_FOREACH(s, t)
                if (streq(s->name, name) && s->remedy && (s->remedy->backends & backends))
                        return s->remedy;

        return NULL;
}

bool setting_is_active(const Setting *s, const Value *v) {
        if (v->type == VALUE_BOOL)
                return v->number;
        if (v->type == VALUE_NAME)
                return !streq(v->name, s->inert ?: "off");
        return !(s->range.has_off && v->number == s->range.off);
}

uint64_t setting_spin_down_ms(const Setting *s, const Value *v) {
        if (!s->spins_down || !setting_is_active(s, v))
                return UINT64_MAX;
        return v->type == VALUE_STANDBY_TIMER ? standby_timer_to_seconds((uint8_t) v->number) * 1000
                                              : (uint64_t) v->number;
}

static bool rules_out(const Setting *s, const Value *v, const Setting *other, const Value *w) {
        if (s->keeps_active && other->spins_down)
                return setting_is_active(s, v) && setting_is_active(other, w);
        return s->excludes && streq(s->excludes, setting_state(other)) &&
               ((s->flags & SETTING_SAME) || (setting_is_active(s, v) && setting_is_active(other, w)));
}

bool settings_exclude(const Setting *a, const Value *v, const Setting *b, const Value *w) {
        return rules_out(a, v, b, w) || rules_out(b, w, a, v);
}

bool setting_is_dangerous(const Setting *s, const Value *v) {
        return s->danger && setting_is_active(s, v);
}

bool setting_may_rewrite(const Setting *s) {
        const SettingFlags unfit = SETTING_UNREADABLE | SETTING_KERNEL | SETTING_NONVOLATILE | SETTING_AT_ATTACH |
                                   SETTING_DEAD | SETTING_EXCLUDED | SETTING_ATA_SLEEP;

        return !s->alias_of && !s->danger && !s->permit && !s->spins_down && !s->keeps_active && !(s->flags & unfit);
}

const Setting *setting_called(const SettingTable *t, const char *name) {
        SETTING_TABLE_FOREACH(s, t)
                if (s->also && text_has_word(s->also, name))
                        return s;

        return NULL;
}

void setting_offer(const SettingTable *t, Nearest *n) {
        const Setting *called = setting_called(t, n->typed);

        SETTING_TABLE_FOREACH(s, t)
                nearest_offer(n, s->name);
        if (called && (!n->word || n->distance > 0)) {
                n->word = called->name;
                n->distance = 0;
        }
}

const char *setting_nearest(const SettingTable *t, const char *name) {
        Nearest n = { .typed = name };

        setting_offer(t, &n);
        return n.word;
}

const char *setting_nearest_value(const ValueRange *range, const char *typed) {
        static const struct {
                const char *typed, *word;
        } words[] = {
                { "never", "off" },    { "none", "off" },      { "disabled", "off" }, { "disable", "off" },
                { "inactive", "off" }, { "unlimited", "off" }, { "enabled", "on" },   { "enable", "on" },
                { "always", "on" },    { "active", "on" },
        };
        Nearest n = { .typed = typed };
        Value v;

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (strcasecmp(words[i].typed, typed) == 0 && value_parse(range, words[i].word, &v) == 0)
                        return words[i].word;
        for (const ValueWord *w = range->words; w && w->word; w++)
                nearest_offer(&n, w->word);
        if (range->type == VALUE_BOOL) {
                nearest_offer(&n, "true");
                nearest_offer(&n, "false");
        }
        return n.word;
}
