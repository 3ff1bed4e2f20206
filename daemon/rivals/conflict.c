/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "rival.h"

/* Does a later rule say something else for this drive? Debian's package sets no apm where there is an apm_battery. */
static bool is_overridden(const Import *import, size_t i, const ImportWish *w, const Drive *d) {
        for (i++; i < import->n_rules; i++) {
                const ImportRule *rule = &import->rules[i];

                if (!rule->held && match_drive(&rule->match, d, NULL) &&
                    (import_find_wish(rule, w->key, w->on_battery) ||
                     (streq(w->key, "apm") && import_find_wish(rule, "apm_battery", false))))
                        return true;
        }
        return false;
}

/* The first drive for which the configuration wants that setting, too; *ret: how. NULL: there is none. */
static const Drive *find_meeting(const Rivals *r, const Source *s, size_t i, const ImportWish *w, const char *state,
                                 Wish *ret) {
        const ImportRule *rule = &s->import.rules[i];
        /* The conditions of a udev rule hold, whatever else has to. */
        const Match any = {}, *match = rule->partial && s->row->kind != IMPORT_UDEV_RULES ? &any : &rule->match;

        for (size_t n = 0; n < r->n_drives; n++) {
                const Drive *d = r->drives[n];

                if (!match_drive(match, d, NULL))
                        continue;
                /* On mains or else on battery. */
                for (unsigned k = 0; k < 2 && !is_overridden(&s->import, i, w, d); k++) {
                        _cleanup_(wishes_done) Wishes wishes = {};
                        const Wish *ours;

                        (void) must_not_fail(config_resolve(r->config, d, k == 1, &wishes));
                        ours = wishes_find(&wishes, state);
                        if (!ours || ours->withheld)
                                continue;
                        *ret = (Wish){ .file = ours->file, .line = ours->line, .value = ours->value };
                        return d;
                }
        }
        return NULL;
}

/* Which line of which file is that, and where does its text begin? */
static const char *find_line(const Source *s, unsigned wanted, unsigned *ret_line, unsigned *ret_column) {
        const char *text = s->texts.items[0];
        size_t file = 0;

        *ret_line = 1;
        for (unsigned n = 1; n < wanted; n++) {
                text += strcspn(text, "\n");
                ++*ret_line;
                if (*text)
                        text++;
                else if (file + 1 < s->texts.n_items) {
                        text = s->texts.items[++file];
                        *ret_line = 1;
                }
        }
        *ret_column = (unsigned) strspn(text, " \t") + 1;
        return s->files[file];
}

void conflict_check(const Rivals *r, const Source *s, size_t i, const ImportWish *w) {
        const Setting *setting = setting_find(r->table, w->key), *row;
        const char *file, *theirs = w->held || s->row->polls ? "" : w->value, *ours;
        char their_buf[VALUE_TEXT_MAX], our_buf[VALUE_TEXT_MAX];
        ImportKind kind = s->row->kind;
        unsigned line, column;
        const Drive *d;
        bool unasked;
        Wish wish;
        Value v;

        /* What its own program does not take. */
        if ((s->import.rules[i].held || w->held) && (kind == IMPORT_UDISKS || kind == IMPORT_HDPARM_CONF))
                return;
        d = *w->value && setting ? find_meeting(r, s, i, w, setting_state(setting), &wish) : NULL;
        if (!d ||
            (s->row->polls && standby_timer_to_seconds((uint8_t) wish.value.number) < strtoul(w->value, NULL, 10)))
                return;

        /* As ours would be written, where it is one. */
        if (value_parse(&setting->range, theirs, &v) >= 0)
                theirs = value_format(&setting->range, &v, their_buf);
        row = setting_find(r->table, setting_state(setting)) ?: setting;
        ours = value_format(&row->range, &wish.value, our_buf);
        file = find_line(s, w->line, &line, &column);
        unasked = kind == IMPORT_HDPARM_CONF && ends_with(file, ".rules");
        (void) must_not_fail(
                        complain(&r->config->complaints, unasked ? COMPLAINT_NOTICE : COMPLAINT_WARNING, file, line,
                                 column, "%s %s %s%s%.63s %s%s, and %s:%u wants %s for %s: %s", s->row->who,
                                 s->row->polls ? "disturbs" : "sets", w->key, *theirs ? " to " : "", theirs,
                                 w->on_battery ? "on battery " : "", s->row->when, wish.file, wish.line,
                                 streq(theirs, ours) ? "the same" : ours, d->node,
                                 s->row->cure ?: "take it out; 'drivekeep import' makes configuration of this file"));
}
