/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Warns of valid lines that are probably mistakes: config_check(), config_check_names() and config_check_drive(). */

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>

#include "config.h"
#include "standby-timer.h"
#include "text.h"

/* From this APM level on, a drive does not spin down by itself (ACS-4, SET FEATURES, APM levels). */
#define APM_FIRST_WITHOUT_STANDBY 128
/* ms. Without an error recovery limit, a drive may retry for two minutes or more (https://raid.wiki.kernel.org, Timeout Mismatch). */
#define LONG_TIMEOUT_MS (2 * 60 * 1000)
/* Adds a warning about `at`, a block or an assignment, in the file of `b`. */
#define warn(c, b, at, ...) \
        complain(&(c)->complaints, COMPLAINT_WARNING, (b)->file, (at)->line, (at)->column, __VA_ARGS__)
/* With more blocks than this, no pair of blocks is compared, because the time grows with the square of the number. No
 * one writes so many blocks by hand. */
#define COMPARED_MAX 2000U

static bool block_includes(const Block *wide, const Block *narrow) {
        return match_includes(&wide->match, &narrow->match) && (!wide->only_in_raid || narrow->only_in_raid);
}

/* Returns the assignment that decides the value of setting `name` for all drives of the block. It is the last assignment in
 * this block, or in a block whose match includes all drives of this block. *ret is the index of the block with the
 * assignment. On battery, an assignment outside on_battery also counts. NULL: no such assignment. */
static const Assignment *find_deciding(const Config *c, size_t block, const char *name, bool on_battery, size_t *ret) {
        for (size_t i = c->n_blocks; i-- > 0;) {
                const Block *b = &c->blocks[i];
                const Assignment *a = on_battery ? block_find(b, name, true) : NULL;

                a = a ?: block_find(b, name, false);
                if (a && (i == block || block_includes(b, &c->blocks[block]))) {
                        *ret = i;
                        return a;
                }
        }

        return NULL;
}

static void check_overridden(Config *c, size_t block, const Assignment *a) {
        const Assignment *winner;
        size_t i = block;

        winner = find_deciding(c, block, a->name, a->on_battery, &i);
        if (winner && i != block && !c->blocks[i].broken)
                warn(c, &c->blocks[block], a,
                     "%s has no effect here: %s:%u overrides it for all drives of this block; put general rules first",
                     a->name, c->blocks[i].file, winner->line);
}

static bool is_in_force(const Assignment *a) {
        return !a->keep && !a->withheld;
}

/* Searches the block for an assignment that excludes the earlier assignment `a`. NULL: no such assignment. An
 * assignment on battery does not exclude an assignment on mains. */
static const Assignment *find_excluding(const Block *b, const Assignment *a) {
        bool inside = a >= b->assignments && a < b->assignments + b->n_assignments;

        for (const Assignment *x = inside ? a + 1 : b->assignments; x < b->assignments + b->n_assignments; x++)
                if (is_in_force(x) && x->on_battery <= a->on_battery && (!inside || x->on_battery == a->on_battery) &&
                    settings_exclude(x->row, &x->value, a->row, &a->value))
                        return x;

        return NULL;
}

/* Reports an assignment that is not written because a later assignment excludes it. The report is a warning if every
 * drive supports both settings or neither (SETTING_SAME), and an error if a drive should both spin down and stay active.
 * Otherwise the report is a notice: a drive may support only one of the two settings. */
static void check_excluded(Config *c, size_t block, const Assignment *a) {
        const Block *b = &c->blocks[block];
        size_t own;

        /* An assignment that a later block overrides or cancels is never written: do not report that another setting excludes it. */
        if (find_deciding(c, block, a->name, a->on_battery, &own) != a)
                return;
        for (size_t i = block; i < c->n_blocks; i++) {
                const Block *later = &c->blocks[i];
                const Assignment *x = later->broken || !block_includes(later, b) ? NULL : find_excluding(later, a);
                size_t deciding;

                if (!x || find_deciding(c, block, x->name, a->on_battery, &deciding) != x)
                        continue;
                if (a->row->keeps_active || x->row->keeps_active) {
                        complain(&c->complaints, COMPLAINT_ERROR, b->file, a->line, a->column,
                                 "%s and %s (%s:%u) exclude each other: no drive can spin down and stay active; remove one",
                                 a->name, x->name, later->file, x->line);
                        return;
                }
                complain(&c->complaints,
                         (a->row->flags | x->row->flags) & SETTING_SAME ? COMPLAINT_WARNING : COMPLAINT_NOTICE, b->file,
                         a->line, a->column,
                         "%s is not written to drives that support %s: the two exclude each other, and the later one (%s:%u) wins",
                         a->name, x->name, later->file, x->line);
                return;
        }
}

/* Returns true if the blocks have settings that exclude each other. Such blocks are not duplicates: each block is for the drives that
 * support its setting. */
static bool blocks_exclude(const Block *before, const Block *b) {
        for (const Assignment *a = before->assignments; a < before->assignments + before->n_assignments; a++)
                if (is_in_force(a) && find_excluding(b, a))
                        return true;

        return false;
}

static void check_duplicate(Config *c, size_t block) {
        const Block *b = &c->blocks[block];

        for (size_t i = 0; i < block; i++) {
                const Block *before = &c->blocks[i];

                /* Drop-ins add to the blocks of other files, so only blocks of one file are duplicates. */
                if (before->broken || !streq(before->file, b->file) || !block_includes(before, b) ||
                    !block_includes(b, before))
                        continue;
                /* These options apply to a whole block, so blocks with different options cannot be merged. */
                if (before->allow_dangerous != b->allow_dangerous || before->permanent != b->permanent ||
                    before->wake != b->wake || before->spindown_by != b->spindown_by ||
                    before->wake_together != b->wake_together || before->commands_are_use != b->commands_are_use ||
                    blocks_exclude(before, b))
                        continue;
                warn(c, b, b, "this block matches the same drives as the one in %s:%u; merge the two blocks",
                     before->file, before->line);
                return;
        }
}

static bool rows_have(const SettingTable *t, const char *name, SettingFlags flag) {
        SETTING_TABLE_FOREACH(s, t)
                if (streq(s->name, name) && (s->flags & flag))
                        return true;

        return false;
}

static void check_permanent(Config *c, const SettingTable *t, const Block *b) {
        bool saves = !b->permanent;

        for (size_t i = 0; i < b->n_assignments; i++)
                saves = saves || rows_have(t, b->assignments[i].name, SETTING_SAVEABLE);
        if (!saves)
                warn(c, b, b, "permanent = true has no effect here: no drive can save the settings of this block");
}

static bool rows_spin_down(const SettingTable *t, const char *name) {
        SETTING_TABLE_FOREACH(s, t)
                if (streq(s->name, name) && s->spins_down)
                        return true;

        return false;
}

static void check_spindown(Config *c, const SettingTable *t, const Block *b) {
        const char *key = b->spindown_by != SPINDOWN_BY_DRIVE ? "spindown_by"
                          : b->wake_together                  ? "wake_together"
                          : b->commands_are_use               ? "commands_are_use"
                                                              : NULL;
        bool spins_down = !key;

        for (size_t i = 0; i < b->n_assignments; i++)
                spins_down = spins_down || rows_spin_down(t, b->assignments[i].name);
        if (!spins_down)
                warn(c, b, b, "%s has no effect here: this block sets no spindown_time, standby_y or standby_z", key);
}

static bool timers_clash(const Value *apm, const Value *timer _unused_) {
        return apm->number >= 1 && apm->number < APM_FIRST_WITHOUT_STANDBY;
}

static bool temperatures_clash(const Value *light, const Value *heavy) {
        return heavy->number >= 0 && light->number >= heavy->number;
}

static bool timeouts_clash(const Value *timeout, const Value *recovery) {
        return timeout->number <= recovery->number;
}

static bool caches_clash(const Value *cache, const Value *forced) {
        return streq(forced->name, cache->number ? "off" : "on");
}

static bool io_is_hidden(const Value *timer, const Value *counts) {
        return timer->number > 0 && !counts->number;
}

#define HIDDEN_IO \
        "spin-down by the service needs the kernel's I/O counters: remove this setting, or remove iostats = false at"

/* Pairs of settings that conflict. The warning is at the place of the first setting, and ends with the place of the second. */
static const struct {
        const char *first, *second;
        bool (*clash)(const Value *first, const Value *second);
        const char *sentence;
        bool by_service; /* checked only if the service spins the drive down, and commands do not count as I/O */
} pairs[] = {
        { "apm", "spindown_time", timers_clash,
          "apm below 128 (unlike 128 or more) lets the drive spin down by an APM timer, perhaps long before the spindown_time of" },
        { "thermal_light", "thermal_heavy", temperatures_clash,
          "thermal_light is not written: it must be below the thermal_heavy of" },
        { "timeout", "error_recovery", timeouts_clash,
          "the kernel resets the drive after this timeout, which must be longer than the error_recovery of" },
        { "write_cache", "write_cache_forced", caches_clash,
          "write_cache has no effect here: the drive obeys the write_cache_forced at" },
        { "spindown_time", "iostats", io_is_hidden, HIDDEN_IO, .by_service = true },
        { "standby_y", "iostats", io_is_hidden, HIDDEN_IO, .by_service = true },
        { "standby_z", "iostats", io_is_hidden, HIDDEN_IO, .by_service = true },
};

/* Like find_deciding(), but returns NULL if the deciding assignment is in a block after `block`, or is not written. */
static const Assignment *find_value(const Config *c, size_t block, const char *name, bool on_battery, size_t *ret) {
        const Assignment *a = find_deciding(c, block, name, on_battery, ret);

        return !a || *ret > block || c->blocks[*ret].broken || a->withheld || a->keep ? NULL : a;
}

/* Checks one pair of settings. `a` assigns one of the two settings; the assignment of the other setting may be in an earlier block. */
static void check_pair(Config *c, size_t block, const Assignment *a, size_t pair, bool on_battery) {
        const Assignment *first, *second;
        size_t i, k;

        first = find_value(c, block, pairs[pair].first, on_battery, &i);
        second = first ? find_value(c, block, pairs[pair].second, on_battery, &k) : NULL;
        if (!second || (a != first && (a != second || i == block)) || !pairs[pair].clash(&first->value, &second->value))
                return;
        if (pairs[pair].by_service && (c->blocks[i].spindown_by == SPINDOWN_BY_DRIVE || c->blocks[i].commands_are_use))
                return;
        /* If both assignments are outside on_battery, the check for mains power has already reported the pair. */
        if (on_battery && !first->on_battery && !second->on_battery)
                return;
        warn(c, &c->blocks[i], first, "%s %s:%u", pairs[pair].sentence, c->blocks[k].file, second->line);
}

static void check_pairs(Config *c, size_t block, const Assignment *a) {
        for (size_t i = 0; i < ELEMENTSOF(pairs); i++)
                if (streq(a->name, pairs[i].first) || streq(a->name, pairs[i].second)) {
                        check_pair(c, block, a, i, false);
                        check_pair(c, block, a, i, true);
                }
}

/* ---- values that are written and can do harm (Setting.harm) ---- */

/* Returns the harm that the table of settings defines for this value. NULL: harmless. */
static const Harm *find_harm(const SettingTable *t, const char *name, const Value *v) {
        SETTING_TABLE_FOREACH(s, t)
                if (s->harm && streq(s->name, name) && v->type == s->range.type && v->number >= s->harm->from &&
                    v->number <= s->harm->to)
                        return s->harm;

        return NULL;
}

/* Returns true if each criterion matches every drive. */
static bool match_is_universal(const Match *m) {
        for (size_t i = 0; i < m->n_criteria; i++) {
                const Criterion *c = &m->criteria[i];
                bool any = false;

                for (size_t k = 0; k < c->n_patterns; k++)
                        any = any || STR_IN_SET(c->patterns[k], "*", "/dev/*");
                if (!any)
                        return false;
        }

        return true;
}

/* Returns false if the match excludes rotational drives. A match by name or model may include rotational drives. */
static bool match_may_rotate(const Match *m) {
        for (size_t i = 0; i < m->n_criteria; i++) {
                const Criterion *c = &m->criteria[i];

                if (c->n_patterns == 1 &&
                    ((c->key == MATCH_ROTATIONAL && streq(c->patterns[0], "false")) ||
                     (c->key == MATCH_TRANSPORT && streq(c->patterns[0], transport_to_string(TRANSPORT_NVME)))))
                        return false;
        }

        return true;
}

static bool is_long_timeout(const char *name, const Value *v) {
        return STR_IN_SET(name, "error_recovery_fallback_timeout", "timeout", "io_timeout") &&
               v->type == VALUE_DURATION && v->number >= LONG_TIMEOUT_MS;
}

static bool block_has_long_timeout(const Block *b) {
        for (size_t i = 0; i < b->n_assignments; i++) {
                const Assignment *a = b->assignments + i;

                if (!a->keep && !a->on_battery && is_long_timeout(a->name, &a->value))
                        return true;
        }

        return false;
}

static bool harms(const Harm *h, const Block *b) {
        switch (h->scope) {
        case HARM_ANY:
                return true;
        case HARM_ROTATIONAL:
                return match_may_rotate(&b->match);
        case HARM_MEMBER:
                return b->only_in_raid && !block_has_long_timeout(b);
        case HARM_UNIVERSAL:
                return !b->only_in_raid && match_is_universal(&b->match);
        }

        return false;
}

/* ---- checks of one assignment and one block ---- */

/* Warns of a name that is not built into Linux, such as a mistyped scheduler. The name is written nevertheless, because
 * a kernel module may provide it. */
static void check_known_name(Config *c, const Block *b, const Assignment *a) {
        Nearest near = { .typed = a->value.name };
        const char *const *name = a->row->known;

        for (; name && *name; name++) {
                if (streq(*name, a->value.name))
                        return;
                nearest_offer(&near, *name);
        }
        if (a->row->known)
                warn(c, b, a, "%s \"%s\" is not built into Linux; did you mean \"%s\"?", a->name, a->value.name,
                     near.word ?: *a->row->known);
}

/* Warns if a setting has the name of a match key: the user may have meant to write the key in the match. There is no
 * warning if the match already has the key, or names single drives. */
static void check_misplaced_key(Config *c, const Block *b, const Assignment *a) {
        MatchKey key = match_key_from_string(a->row->name);

        if (key < 0 || key == MATCH_PROPERTY || !match_is_general(&b->match))
                return;
        for (size_t i = 0; i < b->match.n_criteria; i++)
                if (b->match.criteria[i].key == key)
                        return;
        warn(c, b, a,
             "%s is written to all drives of this block; to select drives by %s, write the key inside match = { ... }",
             a->row->name, a->row->name);
}

/* Checks a single value. The table of settings has one row of the same name for each kind of drive. A value that is
 * dangerous for one kind of drive causes a warning. */
static void check_value(Config *c, const SettingTable *t, const Block *b, const Assignment *a) {
        const Harm *h = find_harm(t, a->name, &a->value);

        SETTING_TABLE_FOREACH(s, t)
                if (!b->allow_dangerous && streq(s->name, a->name) && setting_is_dangerous(s, &a->value)) {
                        warn(c, b, a, "%s is not written without allow_dangerous = true in this block: %s", a->name,
                             s->danger);
                        break;
                }

        if (rows_have(t, a->name, SETTING_NONVOLATILE))
                complain(&c->complaints, COMPLAINT_NOTICE, b->file, a->line, a->column,
                         "the drive stores %s permanently, so the service only checks the value; 'drivekeep apply --permanent' writes it",
                         a->name);
        check_known_name(c, b, a);
        check_misplaced_key(c, b, a);
        if (h && harms(h, b))
                warn(c, b, a, "%s can do harm here: %s", a->name, h->why);
}

static void check_block(Config *c, const SettingTable *t, size_t block) {
        const Block *b = &c->blocks[block];
        bool compare = c->n_blocks <= COMPARED_MAX;

        if (compare)
                check_duplicate(c, block);
        check_permanent(c, t, b);
        check_spindown(c, t, b);

        for (const Assignment *a = b->assignments; a < b->assignments + b->n_assignments; a++) {
                if (compare && !a->withheld)
                        check_overridden(c, block, a);
                if (a->withheld || a->keep)
                        continue;
                if (compare) {
                        check_pairs(c, block, a);
                        check_excluded(c, block, a);
                }
                check_value(c, t, b, a);
        }
}

/* ---- settings that a kind of drive does not support, if another setting has the same effect (Remedy) ---- */

/* Returns true if the setting needs no support by the drive: the service spins the drive down, or the value is "off",
 * which is how drives without the setting behave. */
static bool needs_no_support(const SettingTable *t, const char *name, const Value *v, SpindownBy by) {
        const Setting *s = setting_find(t, name);

        return (by != SPINDOWN_BY_DRIVE && s->spins_down) || (s->off_without && !setting_is_active(s, v));
}

/* If no transport in the match supports the setting, returns the advice for that case. NULL: the match names no transport,
 * a transport in the match may support the setting, or there is no advice. */
static const Remedy *find_remedy(const SettingTable *t, const Match *m, const char *name) {
        const Remedy *r = NULL;

        for (size_t i = 0; i < m->n_criteria; i++) {
                const Criterion *c = &m->criteria[i];

                for (size_t k = 0; c->key == MATCH_TRANSPORT && k < c->n_patterns; k++) {
                        Transport transport = transport_from_string(c->patterns[k]);
                        const Drive d = { .transport = transport,
                                          .ata = transport == TRANSPORT_SATA || transport == TRANSPORT_PATA };

                        r = transport >= 0 ? setting_kind_remedy(t, name, drive_backends(&d)) : NULL;
                        if (!r)
                                return NULL;
                }
        }

        return r;
}

/* Returns true if one of the settings in `r` is set for all drives of the block. */
static bool is_remedied(const Config *c, const Block *b, const Remedy *r) {
        for (const Block *wide = c->blocks; wide < c->blocks + c->n_blocks; wide++)
                for (size_t k = 0; k < ELEMENTSOF(r->settings) && r->settings[k]; k++)
                        if (block_find(wide, r->settings[k], false) && block_includes(wide, b))
                                return true;

        return false;
}

static void check_kind(Config *c, const SettingTable *t) {
        for (const Block *b = c->blocks; b < c->blocks + c->n_blocks; b++)
                for (const Assignment *a = b->assignments; !b->broken && a < b->assignments + b->n_assignments; a++) {
                        const Remedy *r = a->withheld || a->keep ? NULL : find_remedy(t, &b->match, a->name);

                        if (r && !needs_no_support(t, a->name, &a->value, b->spindown_by) && !is_remedied(c, b, r))
                                warn(c, b, a, "%s is unsupported by drives of this transport: %s", a->name, r->how);
                }
}

static void check_drive_kind(Config *c, const SettingTable *t, const Drive *d, const Wishes *w) {
        for (const Wish *x = w->items; x < w->items + w->n_items; x++) {
                const Remedy *r = x->withheld ? NULL : setting_kind_remedy(t, x->name, drive_backends(d));

                if (r && !needs_no_support(t, x->name, &x->value, x->spindown_by) && !wishes_remedy(w, r) &&
                    !complaints_have(&c->complaints, x->file, x->line, x->column, r->how))
                        warn(c, x, x, "%s is unsupported by %s: %s", x->name, d->node, r->how);
        }
}

/* ---- the checks of the files, and of one drive ---- */

int config_check(Config *c, const SettingTable *t) {
        /* Broken blocks need no check: they were reported, and are not applied. */
        for (size_t i = 0; i < c->n_blocks; i++)
                if (!c->blocks[i].broken)
                        check_block(c, t, i);

        check_kind(c, t);
        return c->complaints.error;
}

static void check_member(Config *c, const SettingTable *t, const Drive *d, const Wishes *w) {
        for (const Wish *x = w->items; x < w->items + w->n_items; x++)
                if (!x->withheld && is_long_timeout(x->name, &x->value))
                        return;

        for (const Wish *x = w->items; x < w->items + w->n_items; x++) {
                const Harm *h = x->withheld ? NULL : find_harm(t, x->name, &x->value);

                if (h && h->scope == HARM_MEMBER &&
                    !complaints_have(&c->complaints, x->file, x->line, x->column, h->why))
                        warn(c, x, x, "%s can do harm to %s, which is a member of an array: %s", x->name, d->node,
                             h->why);
        }
}

/* Warns if the service should spin the drive down, but `iostats = false` hides the drive's I/O from the service. Unlike config_check(),
 * this also detects two rules that share only some of their drives. */
static int check_hidden_io(Config *c, const SettingTable *t, const Drive *d, const Wishes *w) {
        const Wish *counts = wishes_find(w, "iostats");

        for (const Wish *x = w->items; counts && !counts->withheld && x < w->items + w->n_items; x++) {
                _cleanup_free_ char *place = NULL;

                if (x->withheld || !rows_spin_down(t, x->name) || x->spindown_by == SPINDOWN_BY_DRIVE ||
                    x->commands_are_use || !io_is_hidden(&x->value, &counts->value))
                        continue;
                if (asprintf(&place, "iostats = false at %s:%u", counts->file, counts->line) < 0)
                        return -ENOMEM;
                if (!complaints_have(&c->complaints, x->file, x->line, x->column, place))
                        warn(c, x, x,
                             "spin-down of %s by the service needs the kernel's I/O counters: remove this setting, or remove %s",
                             d->node, place);
        }

        return 0;
}

/* Warns if runtime PM stops the idle drive, and another setting also decides when the drive spins down. */
static int check_runtime_pm(Config *c, const SettingTable *t, const Drive *d, const Wishes *w) {
        const Wish *pm = wishes_find(w, "runtime_pm"), *delay = wishes_find(w, "autosuspend_delay");
        const Wish *stops = wishes_find(w, "manage_runtime_start_stop") ?: wishes_find(w, "manage_start_stop");
        const Wish *disturbed = wishes_find_disturbed(w, t);
        _cleanup_free_ char *place = NULL;

        /* A negative delay: the kernel never suspends the drive. libata, unlike USB and SAS drivers, sets the switch for the stop
         * (drivers/ata/libata-scsi.c). */
        if (!pm || pm->withheld || !streq(pm->value.name, "auto") || !delay || delay->withheld ||
            delay->value.number < 0 || !disturbed || !drive_has_standby(d, drive_backends(d)) ||
            !(stops && !stops->withheld ? stops->value.number : d->ata && d->transport != TRANSPORT_USB))
                return 0;
        if (asprintf(&place, "the %s at %s:%u", disturbed->name, disturbed->file, disturbed->line) < 0)
                return -ENOMEM;
        if (!complaints_have(&c->complaints, pm->file, pm->line, pm->column, place))
                warn(c, pm, pm,
                     "with runtime_pm = \"auto\" the kernel stops %s after autosuspend_delay: remove this setting, or %s",
                     d->node, place);
        return 0;
}

/* Checks that depend on the power source. */
static int check_power_source(Config *c, const SettingTable *t, const Drive *d, bool on_battery) {
        _cleanup_(wishes_done) Wishes w = {};
        int r;

        r = config_resolve(c, d, on_battery, &w);
        return r < 0 ? r : check_runtime_pm(c, t, d, &w);
}

int config_check_drive(Config *c, const SettingTable *t, const Drive *d) {
        _cleanup_(wishes_done) Wishes w = {};
        int r;

        r = config_resolve(c, d, false, &w);
        if (r < 0)
                return r;

        if (d->raid)
                check_member(c, t, d, &w);
        check_drive_kind(c, t, d, &w);
        r = check_hidden_io(c, t, d, &w);
        for (int on_battery = false; r >= 0 && on_battery <= true; on_battery++)
                r = check_power_source(c, t, d, on_battery);
        return r < 0 ? r : c->complaints.error;
}

/* ---- device names in a match: can a drive have the name, and is it the same drive after a reboot? ---- */

#define LINKS "/dev/disk/"
#define warn_match(c, b, ...) \
        complain(&(c)->complaints, COMPLAINT_WARNING, (b)->file, (b)->match_at.line, (b)->match_at.column, __VA_ARGS__)

/* Directories below /dev/disk that the udev rules of systemd, ZFS and Ubuntu create. */
static const char *const link_directories[] = {
        "by-id",      "by-path", "by-uuid",  "by-label",      "by-partuuid", "by-partlabel",
        "by-diskseq", "by-vdev", "by-dname", "by-loop-inode", "by-loop-ref", "by-designator",
};

/* Patterns for the kernel's names of disks and partitions. Users may copy the placeholder sdX from manuals. */
#define LETTERED "@(sd|hd|vd|xvd)+([a-z])"
#define NUMBERED "@(nvme+([0-9])n|mmcblk|md|md_d)+([0-9])"
#define DISK "/dev/@(" LETTERED "|" NUMBERED "|@(sr|dm-)+([0-9])|sdX)"
/* Links named by numbers that the kernel assigns in the order of detection. */
#define COUNTED "@(" LINKS "by-diskseq|/dev/block)/+([0-9:])"
#define PARTITION "@(/dev/@(" LETTERED "|" NUMBERED "p)|" LINKS "*-part)+([0-9])"

/* If `path` names a partition, returns the length of the name of its disk; otherwise 0. */
static size_t find_partition(const char *path) {
        size_t n = strlen(path);

        if (fnmatch(PARTITION, path, FNM_EXTMATCH) != 0)
                return 0;
        while (isdigit((unsigned char) path[n - 1]))
                n--;
        if (starts_with(path, LINKS))
                return n - strlen("-part");
        return n - (isdigit((unsigned char) path[n - 2]) && path[n - 1] == 'p');
}

/* Returns true if the directory name is a glob pattern: the pattern may match an existing directory. */
static bool is_pattern(const char *s, size_t n) {
        return memchr(s, '*', n) || memchr(s, '?', n) || memchr(s, '[', n);
}

static void check_directory(Config *c, const Block *b, const char *path) {
        const char *name = path + strlen(LINKS);
        size_t n = strcspn(name, "/");
        _cleanup_free_ char *directory = strndup(name, n);
        Nearest near = { .typed = directory };

        if (!directory) {
                c->complaints.error = -ENOMEM;
                return;
        }
        for (size_t i = 0; i < ELEMENTSOF(link_directories); i++)
                nearest_offer(&near, link_directories[i]);

        if (is_pattern(name, n) || (near.word && near.distance == 0 && streq(near.word, directory)))
                return;
        if (near.word)
                warn_match(c, b,
                           "udev makes no directory " LINKS "%s, so \"%s\" matches no drive; did you mean \"" LINKS
                           "%s%s\"?",
                           directory, path, near.word, name + n);
        else
                warn_match(c, b,
                           "udev makes no directory " LINKS
                           "%s, so \"%s\" matches no drive; use by-id or by-path, for example",
                           directory, path);
}

typedef struct Present {
        Drive *const *drives;
        size_t n;
} Present;

/* Returns a stable link of the attached drive that has this name. NULL: no such drive, or no stable link. */
static const char *find_stable_link(const Present *p, const char *path) {
        for (size_t i = 0; i < p->n; i++) {
                const Drive *d = p->drives[i];
                bool named = streq(d->node, path);

                for (size_t k = 0; !named && k < d->n_links; k++)
                        named = d->links[k].via == LINK_OWN && streq(d->links[k].path, path);
                if (named)
                        return drive_stable_link(d);
        }

        return NULL;
}

static void check_name(Config *c, const Block *b, const char *path, const Present *p) {
        size_t partitioned = find_partition(path);
        _cleanup_free_ char *disk = partitioned > 0 ? strndup(path, partitioned) : NULL;
        const char *stable = find_stable_link(p, disk ?: path);

        if (partitioned > 0 && !disk)
                c->complaints.error = -ENOMEM;
        if (starts_with(path, LINKS))
                check_directory(c, b, path);
        if (disk)
                warn_match(c, b, "\"%s\" is a partition, and settings are for the whole drive; write \"%s\"", path,
                           stable ?: disk);
        else if (fnmatch(DISK, path, FNM_EXTMATCH) != 0 && fnmatch(COUNTED, path, FNM_EXTMATCH) != 0)
                return;
        else if (stable)
                warn_match(c, b,
                           "\"%s\" may be another drive after the next boot; for the drive that has this name now, write \"%s\"",
                           path, stable);
        else
                warn_match(c, b, "\"%s\" may be another drive after the next boot; write a link below " LINKS "by-id%s",
                           path,
                           fnmatch("/dev/@(md|dm-)*", path, FNM_EXTMATCH) == 0 ? ""
                                                                               : ", or a match by model or serial");
}

int config_check_names(Config *c, Drive *const *drives, size_t n_drives) {
        const Present present = { drives, n_drives };

        for (size_t i = 0; i < c->n_blocks; i++) {
                const Block *b = &c->blocks[i];

                for (size_t k = 0; !b->broken && k < b->match.n_criteria; k++)
                        for (size_t n = 0;
                             b->match.criteria[k].key == MATCH_NODE && n < b->match.criteria[k].n_patterns; n++)
                                check_name(c, b, b->match.criteria[k].patterns[n], &present);
        }

        return c->complaints.error;
}
