/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>

#include "wish-conflict.h"
#include "tree.h"
#include "udev-fit.h"

/* Returns true if the rule may apply to this drive. A rule whose drives are not known may apply to any drive. In a tuned profile, an
 * unknown condition can only shorten the rule's list of devices, so the drive must be in this list. */
static bool may_apply(const ConflictCheck *r, const Source *s, const ImportRule *rule, const Drive *d) {
        if (s->row->kind == IMPORT_UDEV_RULES)
                return udev_applies(r->root, &s->import, rule, d);
        if (rule->except.n_criteria > 0 && match_drive(&rule->except, d, NULL))
                return false;
        return (rule->drives_unknown && s->row->kind != IMPORT_TUNED) || match_drive(&rule->match, d, NULL);
}

/* Returns true if a later rule overrides the setting for this drive. A later apm_battery also overrides apm, because Debian's hdparm
 * package does not set apm if apm_battery is set. */
static bool is_overridden(const Import *import, size_t i, const ImportWish *w, const Drive *d) {
        for (i++; i < import->n_rules; i++) {
                const ImportRule *rule = &import->rules[i];

                if (!rule->comment_reason && match_drive(&rule->match, d, NULL) &&
                    (import_find_wish(rule, w->key, w->on_battery) ||
                     (streq(w->key, "apm") && import_find_wish(rule, "apm_battery", false))))
                        return true;
        }
        return false;
}

/* Finds where line `wanted` of the joined texts comes from. Returns the file's name, and the line and column in that file. */
static const char *find_line(const Source *s, unsigned wanted, unsigned *ret_line, unsigned *ret_column) {
        const char *text = s->lines ? NULL : s->texts.items[0];
        size_t file = 0;

        if (s->lines) {
                *ret_line = s->lines[wanted - 1].line;
                *ret_column = 1;
                return s->lines[wanted - 1].file;
        }
        for (*ret_line = 1; wanted > 1; wanted--) {
                const char *end = strchr(text, '\n');

                if (!end && file + 1 == s->texts.n_items)
                        break;
                text = end ? end + 1 : s->texts.items[++file];
                *ret_line = end ? *ret_line + 1 : 1;
        }
        *ret_column = (unsigned) strspn(text, " \t") + 1;
        return s->files[file];
}

/* Returns the level of a complaint: a notice about a line that is a package's default, a warning about any other line. */
static ComplaintLevel find_level(const ConflictCheck *r, const Source *s, const char *file) {
        _cleanup_free_ char *mode =
                        s->row->kind == IMPORT_TUNED ? tree_read(r->root, "/etc/tuned/profile_mode", false) : NULL;
        bool packaged = starts_with(file, "/usr/");

        if (s->row->kind == IMPORT_HDPARM_CONF)
                packaged = ends_with(file, ".rules");
        else if (s->row->kind == IMPORT_TUNED)
                packaged = packaged && mode && starts_with(mode, "auto");
        else
                packaged = packaged && s->row->kind == IMPORT_TLP;
        return packaged ? COMPLAINT_NOTICE : COMPLAINT_WARNING;
}

static void conflict_complain(const ConflictCheck *r, const Source *s, const ImportWish *w, const Setting *setting,
                              const Drive *d, const Wish *wish) {
        const char *file, *theirs = w->comment_reason ? "" : w->value, *ours;
        char their_buf[VALUE_TEXT_MAX], our_buf[VALUE_TEXT_MAX];
        const Setting *row = setting_find(r->table, setting_state(setting)) ?: setting;
        unsigned line, column;
        Value v;

        /* A valid value is shown in drivekeep's format. */
        if (value_parse(&setting->range, theirs, &v) >= 0)
                theirs = value_format(&setting->range, &v, their_buf);
        ours = value_format(&row->range, &wish->value, our_buf);
        file = find_line(s, w->line, &line, &column);
        must_work(complain(&r->config->complaints, find_level(r, s, file), file, line, column,
                           "%s sets %s%s%.63s %s%s, and %s:%u wants %s for %s: %s", s->row->program_name, w->key,
                           *theirs ? " to " : "", theirs, w->on_battery ? "on battery " : "", s->row->when, wish->file,
                           wish->line, streq(theirs, ours) ? "the same" : ours, d->node,
                           s->row->remedy ?: "remove the line; 'drivekeep import' translates this file"));
}

/* ---- runtime PM: the kernel stops an idle drive ---- */

/* Returns true if the other program or sysfs sets an autosuspend delay for the drive. Without a delay, the kernel never suspends the
 * drive. */
static bool has_delay(const ConflictCheck *r, const Source *s, const Drive *d) {
        _cleanup_free_ char *path = must_format("%s/device/power/autosuspend_delay_ms", strna(d->syspath));
        _cleanup_free_ char *text = d->syspath ? tree_read(r->root, path, false) : NULL;

        /* TLP always sets a delay: without a configured delay, TLP uses its default. */
        if (s->row->kind == IMPORT_TLP || (text && *text != '-'))
                return true;
        for (const ImportRule *rule = s->import.rules; rule < s->import.rules + s->import.n_rules; rule++)
                for (size_t i = 0; i < rule->n_wishes && may_apply(r, s, rule, d); i++)
                        if (streq(rule->wishes[i].key, "autosuspend_delay") &&
                            isdigit((uint8_t) *rule->wishes[i].value))
                                return true;
        return false;
}

/* Adds a complaint about runtime PM. Returns false without a complaint if the kernel would not stop the drive, or if the stop would
 * conflict with no wish for the drive. */
static bool check_suspending(const ConflictCheck *r, const Source *s, const ImportWish *w, const Drive *d,
                             const Wishes *wishes) {
        const Wish *wish = streq(w->key, "runtime_pm") && streq(w->value, "auto")
                                           ? wishes_find_disturbed(wishes, r->table)
                                           : NULL;
        char value[VALUE_TEXT_MAX];
        unsigned line, column;
        const char *file;

        if (!wish || !has_delay(r, s, d))
                return false;
        file = find_line(s, w->line, &line, &column);
        must_work(complain(&r->config->complaints, find_level(r, s, file), file, line, column,
                           "%s sets runtime_pm to auto%s, so the kernel stops the idle drive, and %s:%u wants "
                           "%s of %s for %s: %s",
                           s->row->program_name, w->on_battery ? " on battery" : "", wish->file, wish->line, wish->name,
                           value_format(&setting_find(r->table, wish->name)->range, &wish->value, value), d->node,
                           s->row->remedy ?: "remove the line"));
        return true;
}

void conflict_check(const ConflictCheck *r, const Source *s, size_t i, const ImportWish *w) {
        const Setting *setting = setting_find(r->table, w->key);
        const ImportRule *rule = &s->import.rules[i];
        ImportKind kind = s->row->kind;

        /* Ignores lines that `drivekeep import` comments out (comment_reason), because udisks2 and Debian's hdparm reject such
         * lines. */
        if (!setting || !*w->value ||
            ((rule->comment_reason || w->comment_reason) && (kind == IMPORT_UDISKS || kind == IMPORT_HDPARM_CONF)))
                return;

        /* Tries each drive with the settings for mains, then with the settings for battery. */
        for (size_t n = 0; n < 2 * r->n_drives; n++) {
                _cleanup_(wishes_done) Wishes wishes = {};
                const Drive *d = r->drives[n / 2];
                const Wish *wish;

                if (!may_apply(r, s, rule, d) || is_overridden(&s->import, i, w, d))
                        continue;
                must_work(config_resolve(r->config, d, n % 2, &wishes));
                wish = wishes_find(&wishes, setting_state(setting));
                if (wish && !wish->withheld)
                        conflict_complain(r, s, w, setting, d, wish);
                else if (!check_suspending(r, s, w, d, &wishes))
                        continue;
                return;
        }
}
