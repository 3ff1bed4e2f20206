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

/* What decides on this state for the drives of the block, off battery or on it: the last assignment in it, or in a block for more
 * drives. What is not said for battery goes for both. NULL: nothing does. */
static const Assignment *find_deciding(const Config *c, size_t block, const char *name, bool on_battery, size_t *ret) {
        bool compare = c->n_blocks <= COMPARED_MAX;

        for (size_t i = compare ? c->n_blocks : block + 1; i-- > (compare ? 0 : block);) {
                const Block *b = &c->blocks[i];
                const Assignment *a = on_battery ? find_assignment(b, name, true) : NULL;

                a = a ?: find_assignment(b, name, false);
                if (a && (i == block || block_includes(b, &c->blocks[block]))) {
                        *ret = i;
                        return a;
                }
        }

        return NULL;
}

static int check_wins(Config *c, size_t block, const Assignment *a) {
        const Assignment *winner;
        size_t i = block;

        winner = find_deciding(c, block, a->name, a->on_battery, &i);
        if (!winner || i == block || c->blocks[i].broken)
                return 0;

        return warn(c, &c->blocks[block], a,
                    "%s never wins here: %s:%u sets it for all drives of this block; general rules come first", a->name,
                    c->blocks[i].file, winner->line);
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

/* The value that decides in the block, or for it in an earlier one; NULL: there is none that is written. */
static const Assignment *find_value(const Config *c, size_t block, const char *name, bool on_battery, size_t *ret) {
        const Assignment *a = find_deciding(c, block, name, on_battery, ret);

        return !a || *ret > block || c->blocks[*ret].broken || a->withheld || a->keep ? NULL : a;
}

/* `a` is one of the two; the other may stand in an earlier block. */
static int check_pair(Config *c, size_t block, const Assignment *a, size_t pair, bool on_battery) {
        const Assignment *first, *second;
        const Block *b, *other;
        size_t i, k;

        first = find_value(c, block, pairs[pair].first, on_battery, &i);
        second = first ? find_value(c, block, pairs[pair].second, on_battery, &k) : NULL;
        if (!second || (a != first && (a != second || i == block)) || !pairs[pair].clash(&first->value, &second->value))
                return 0;
        /* What is the same on battery was said before. */
        if (on_battery && !first->on_battery && !second->on_battery)
                return 0;

        b = &c->blocks[i];
        other = &c->blocks[k];
        if (b == other)
                return warn(c, b, first, "%s line %u", pairs[pair].sentence, second->line);

        return warn(c, b, first, "%s %s:%u", pairs[pair].sentence, other->file, second->line);
}

static int check_pairs(Config *c, size_t block, const Assignment *a) {
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(pairs) && r >= 0; i++) {
                if (!streq(a->name, pairs[i].first) && !streq(a->name, pairs[i].second))
                        continue;
                r = check_pair(c, block, a, i, false);
                if (r >= 0)
                        r = check_pair(c, block, a, i, true);
        }

        return r;
}

static int check_block(Config *c, const SettingTable *t, size_t block) {
        const Block *b = &c->blocks[block];
        int r;

        r = c->n_blocks <= COMPARED_MAX ? check_twin(c, block) : 0;
        if (r >= 0)
                r = check_permanent(c, t, b);

        for (size_t i = 0; i < b->n_assignments && r >= 0; i++) {
                const Assignment *a = &b->assignments[i];

                if (a->withheld)
                        continue;
                r = check_wins(c, block, a);
                if (a->keep)
                        continue;
                if (r >= 0)
                        r = check_pairs(c, block, a);
                if (r >= 0)
                        r = check_danger(c, t, b, a);
                if (r >= 0)
                        r = check_nonvolatile(c, t, b, a);
                if (r >= 0)
                        r = config_check_harm(c, t, b, a);
        }

        return r;
}

int config_check(Config *c, const SettingTable *t) {
        int r = 0;

        if (c->on_drift == ON_DRIFT_RESTORE && c->recheck_ms == 0)
                r = complain(&c->complaints, COMPLAINT_WARNING, c->on_drift_file, c->on_drift_line, c->on_drift_column,
                             "on_drift changes nothing without recheck, which says how often to look");

        /* What is in error was said, and nothing of it is applied. */
        for (size_t i = 0; i < c->n_blocks && r >= 0; i++)
                if (!c->blocks[i].broken)
                        r = check_block(c, t, i);

        return r;
}
