/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config-check.h"

/* From here up a drive does not spin down by its APM level (ACS-4, SET FEATURES, APM levels). */
#define APM_FIRST_WITHOUT_STANDBY 128
#define APM_OFF 255
/* `at`: the block or an assignment in it. */
#define warn(c, b, at, ...) \
        complain(&(c)->complaints, COMPLAINT_WARNING, (b)->file, (at)->line, (at)->column, __VA_ARGS__)
/* More than anybody writes by hand; each is compared with each. */
#define COMPARED_MAX 2000U

static bool block_includes(const Block *wide, const Block *narrow) {
        return match_includes(&wide->match, &narrow->match) && (!wide->only_in_raid || narrow->only_in_raid);
}

static const Assignment *find_assignment(const Block *b, const char *name, bool on_battery) {
        for (size_t i = 0; i < b->n_assignments; i++)
                if (b->assignments[i].on_battery == on_battery && streq(b->assignments[i].name, name))
                        return &b->assignments[i];

        return NULL;
}

/* The value that the drives of this block have, off battery or on it, and which block they have it from: this one, or
 * an earlier one for more drives. What is not said for battery goes for both. */
static const Assignment *value_for(const Config *c, size_t block, const char *name, bool on_battery,
                                   const Block **ret) {
        bool compare = c->n_blocks <= COMPARED_MAX;

        for (size_t i = compare ? c->n_blocks : block + 1; i-- > (compare ? 0 : block);) {
                const Block *b = &c->blocks[i];
                const Assignment *a = on_battery ? find_assignment(b, name, true) : NULL;

                a = a ?: find_assignment(b, name, false);
                if (!a || (i != block && !block_includes(b, &c->blocks[block])))
                        continue;

                *ret = b;
                return i > block || b->broken || a->withheld || a->keep ? NULL : a;
        }

        return NULL;
}

/* A later block that takes every drive of this one its value for this state. */
static const Block *find_winner(const Config *c, size_t block, const Assignment *a, const Assignment **ret) {
        for (size_t i = block + 1; i < c->n_blocks; i++) {
                const Block *b = &c->blocks[i];
                const Assignment *later = find_assignment(b, a->name, false);

                /* On battery a plain value of a later block wins, too. */
                if (!later && a->on_battery)
                        later = find_assignment(b, a->name, true);
                if (later && !b->broken && block_includes(b, &c->blocks[block])) {
                        *ret = later;
                        return b;
                }
        }

        return NULL;
}

static int check_wins(Config *c, size_t block, const Assignment *a) {
        const Block *b = &c->blocks[block], *winner;
        const Assignment *later;

        winner = find_winner(c, block, a, &later);
        if (!winner)
                return 0;

        return warn(c, b, a, "%s never wins here: %s:%u sets it for all drives of this block; general rules come first",
                    a->name, winner->file, later->line);
}

/* What a block says of all of its settings is a reason for another. */
static bool block_says_same(const Block *a, const Block *b) {
        return a->allow_dangerous == b->allow_dangerous && a->permanent == b->permanent && a->wake == b->wake;
}

static int check_twin(Config *c, size_t block) {
        const Block *b = &c->blocks[block];

        for (size_t i = 0; i < block; i++) {
                const Block *before = &c->blocks[i];

                /* A drop-in is there to add to what other files say. */
                if (before->broken || !streq(before->file, b->file) || !block_says_same(before, b) ||
                    !block_includes(before, b) || !block_includes(b, before))
                        continue;
                return warn(c, b, b, "this block is for the same drives as the one in %s:%u; one block would do",
                            before->file, before->line);
        }

        return 0;
}

/* Of the rows that share the name: danger in any of them is worth the word. */
static int check_danger(Config *c, const SettingTable *t, const Block *b, const Assignment *a) {
        SETTING_TABLE_FOREACH(s, t)
                if (!b->allow_dangerous && streq(s->name, a->name) && setting_is_dangerous(s, &a->value))
                        return warn(c, b, a,
                                    "%s is dangerous (%s), so it is not written without allow_dangerous = true in this block",
                                    a->name, s->danger);

        return 0;
}

static bool rows_have(const SettingTable *t, const char *name, SettingFlags flag) {
        SETTING_TABLE_FOREACH(s, t)
                if (streq(s->name, name) && (s->flags & flag))
                        return true;

        return false;
}

static int check_nonvolatile(Config *c, const SettingTable *t, const Block *b, const Assignment *a) {
        if (!rows_have(t, a->name, SETTING_NONVOLATILE))
                return 0;

        return complain(&c->complaints, COMPLAINT_NOTICE, b->file, a->line, a->column,
                        "the drive itself keeps %s, so it is compared at every visit, and written only by 'drivekeep apply "
                        "--permanent'",
                        a->name);
}

static int check_permanent(Config *c, const SettingTable *t, const Block *b) {
        if (!b->permanent)
                return 0;

        for (size_t i = 0; i < b->n_assignments; i++)
                if (rows_have(t, b->assignments[i].name, SETTING_SAVEABLE))
                        return 0;

        return warn(c, b, b, "permanent = true changes nothing here: no drive can save what this block sets");
}

static bool timers_clash(const Value *apm, const Value *timer _unused_) {
        return apm->number >= 1 && apm->number < APM_FIRST_WITHOUT_STANDBY;
}

static bool epc_clashes(const Value *apm, const Value *epc) {
        return apm->number < APM_OFF && epc->number;
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

/* Each is sensible alone. The sentence stands at the first, and ends with the place of the second. What excludes another
 * within one block is an error there already (config-block.c). */
static const struct {
        const char *first, *second;
        bool (*clash)(const Value *first, const Value *second);
        const char *sentence;
} pairs[] = {
        { "apm", "spindown_time", timers_clash,
          "apm below 128 has a timer of its own (128 or more leaves that to spindown_time), and the drive may spin down long "
          "before the spindown_time of" },
        { "apm", "epc", epc_clashes, "apm is not written to drives that are to have the epc of" },
        { "thermal_light", "thermal_heavy", temperatures_clash,
          "thermal_light is not written, as it is not below the thermal_heavy of" },
        { "timeout", "error_recovery", timeouts_clash,
          "the kernel resets the drive after this timeout, and has to wait longer than the error_recovery of" },
        { "write_cache", "write_cache_forced", caches_clash,
          "a drive takes no notice of this write_cache while it has the write_cache_forced of" },
};

/* Else it is a matter of other blocks. Asked first, as to look through those takes long. */
static bool names_either(const Block *b, const char *first, const char *second) {
        for (size_t i = 0; i < b->n_assignments; i++) {
                const Assignment *a = &b->assignments[i];

                if (streq(a->name, first) || streq(a->name, second))
                        return true;
        }

        return false;
}

static int check_pair(Config *c, size_t block, size_t pair, bool on_battery) {
        const Block *first_block, *second_block, *b = &c->blocks[block];
        const Assignment *first, *second;

        if (!names_either(b, pairs[pair].first, pairs[pair].second))
                return 0;

        first = value_for(c, block, pairs[pair].first, on_battery, &first_block);
        second = first ? value_for(c, block, pairs[pair].second, on_battery, &second_block) : NULL;
        if (!second || (first_block != b && second_block != b) || !pairs[pair].clash(&first->value, &second->value))
                return 0;
        /* What is the same on battery was said before. */
        if (on_battery && !first->on_battery && !second->on_battery)
                return 0;

        if (first_block == second_block)
                return warn(c, first_block, first, "%s line %u", pairs[pair].sentence, second->line);

        return warn(c, first_block, first, "%s %s:%u", pairs[pair].sentence, second_block->file, second->line);
}

static int check_block(Config *c, const SettingTable *t, size_t block, bool battery) {
        const Block *b = &c->blocks[block];
        bool compare = c->n_blocks <= COMPARED_MAX;
        int r;

        r = compare ? check_twin(c, block) : 0;
        if (r >= 0)
                r = check_permanent(c, t, b);
        for (size_t i = 0; i < ELEMENTSOF(pairs) && r >= 0; i++) {
                r = check_pair(c, block, i, false);
                if (r >= 0 && battery)
                        r = check_pair(c, block, i, true);
        }

        for (size_t i = 0; i < b->n_assignments && r >= 0; i++) {
                const Assignment *a = &b->assignments[i];

                if (a->withheld)
                        continue;
                r = compare ? check_wins(c, block, a) : 0;
                if (r >= 0 && !a->keep)
                        r = check_danger(c, t, b, a);
                if (r >= 0 && !a->keep)
                        r = check_nonvolatile(c, t, b, a);
                if (r >= 0 && !a->keep)
                        r = config_check_harm(c, t, b, a);
        }

        return r;
}

int config_check(Config *c, const SettingTable *t) {
        bool battery = config_uses_battery(c);

        if (c->on_drift == ON_DRIFT_RESTORE && c->recheck_ms == 0) {
                int r = complain(&c->complaints, COMPLAINT_WARNING, c->on_drift_file, c->on_drift_line,
                                 c->on_drift_column,
                                 "on_drift changes nothing without recheck, which says how often to look");

                if (r < 0)
                        return r;
        }

        for (size_t i = 0; i < c->n_blocks; i++) {
                int r;

                /* What is in error was said, and nothing of it is applied. */
                if (c->blocks[i].broken)
                        continue;

                r = check_block(c, t, i, battery);
                if (r < 0)
                        return r;
        }

        return 0;
}
