/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "attribute.h"
#include "must.h"
#include "stack.h"
#include "sysfs.h"
#include "tunable.h"

/* clang-format off */
static const char *const read_ahead[] = { "128KiB", "256KiB", "512KiB", "1MiB", "2MiB", "4MiB", "8MiB", NULL };
static const char *const requests[] = { "16", "32", "64", "128", "256", "512", "1024", NULL };
static const char *const depths[] = { "1", "2", "4", "8", "16", "32", NULL };
static const char *const sectors[] = { "128KiB", "256KiB", "512KiB", "1MiB", "2MiB", "4MiB", NULL };
static const char *const levels[] = { "64", "127", "128", "192", "254", NULL };
static const char *const timers[] = { "off", "1s", "5s", "10s", NULL };
static const char *const latencies[] = { "off", "5ms", "25ms", "100ms", NULL };
static const char *const states[] = { "0", "1", "2", "3", "4", NULL };
static const char *const switches[] = { "off", "on", NULL };
static const char *const lateness[] = { "off", "2ms", "10ms", "75ms", NULL };

/* elevator_switch(), scsi_change_queue_depth() and queue_limits_commit_update(): as the rows of these settings say. */
static const char *const of_scheduler[] = { "nr_requests", "wbt_lat_usec", NULL };
static const char *const of_depth[] = { "nr_requests", NULL };
static const char *const of_limits[] = { "read_ahead_kb", NULL };

static const char unflushed[] = "what a cache holds that no file system has had flushed is lost when the power fails";
static const char held_back[] = "the kernel holds back writes for that, and how much slower they are is not measured";

#define SAVES_POWER(setting, values) { setting, "first_read", .ordered = true, .ladder = values, .saves_power = true }

const Tunable tunables[] = {
        { "read_ahead_kb", "buffered", "mapped_latency", .ordered = true, .ladder = read_ahead, .stripes = true },
        { "scheduler", "deep_rate", "deep_latency_p99", .attribute = "scheduler", .resets = of_scheduler },
        { "queue_depth", "deep_rate", "deep_latency_p99", .ordered = true, .ladder = depths, .resets = of_depth },
        { "nr_requests", "deep_rate", "deep_latency_p99", .ordered = true, .ladder = requests },
        { "max_sectors_kb", "sequential_start", .ordered = true, .ladder = sectors, .attribute = "max_hw_sectors_kb",
          .resets = of_limits },
        { "lookahead", "sequential_small", "random_latency", .ladder = switches },
        { "write_cache", "mixed_rate", "fsync_latency", .ladder = switches, .resets = of_limits, .caution = unflushed },
        { "wbt_lat_usec", "throttled_latency", .ladder = lateness, .caution = held_back },
        SAVES_POWER("apm", levels),
        SAVES_POWER("idle_a", timers),
        SAVES_POWER("idle_b", timers),
        SAVES_POWER("idle_c", timers),
        SAVES_POWER("standby_y", timers),
        SAVES_POWER("standby_z", timers),
        SAVES_POWER("apst_latency", latencies),
        SAVES_POWER("power_state", states),
        {},
};
/* clang-format on */

const Tunable *tunable_find(const char *setting) {
        TUNABLES_FOREACH(t)
                if (streq(t->setting, setting))
                        return t;
        return NULL;
}

bool tunable_writes(const Tunable *t) {
        return job_writes(figure_job(figure_find(t->goal)));
}

static void add(Values *v, const Value *value) {
        for (size_t i = 0; i < v->n_items; i++)
                if (value_equal(v->items + i, value))
                        return;
        must_grow(v, items);
        v->items[v->n_items++] = *value;
}

static uint64_t read_limit(const char *classdir, const Drive *d, const char *attribute) {
        char text[256];

        (void) attribute_read(text, sizeof text, "%s/%s/queue/%s", classdir, d->name, attribute);
        return strtoull(text, NULL, 10);
}

static void add_ladder(Values *v, const Tunable *t, const Setting *s, uint64_t limit) {
        for (const char *const *text = t->ladder; *text; text++) {
                Value value;

                must_work(value_parse(&s->range, *text, &value));
                if (!t->attribute || (uint64_t) value.number <= limit)
                        add(v, &value);
        }
}

char **tunable_names(const char *classdir, const Drive *d, const char *attribute) {
        char text[256], *rest = text, *word, **names = NULL;

        (void) attribute_read(text, sizeof text, "%s/%s/queue/%s", classdir, d->name, attribute);
        while ((word = strsep(&rest, " []")))
                if (*word)
                        must_work(names_add(&names, word));
        return names;
}

static void add_listed(Values *v, const Tunable *t, const Setting *s, const char *classdir, const Drive *d) {
        _cleanup_(names_freep) char **names = tunable_names(classdir, d, t->attribute);

        for (char **name = names; name && *name; name++) {
                Value value;

                if (value_parse(&s->range, *name, &value) == 0)
                        add(v, &value);
        }
}

static void add_stripes(Values *v, const Drive *d) {
        int64_t stripe = sysfs_stripe(d);

        for (unsigned n = 1; n <= 8 && stripe > 0; n *= 2)
                add(v, &(Value){ .type = VALUE_SIZE, .number = n * stripe });
}

static int compare_values(const void *a, const void *b) {
        int64_t x = ((const Value *) a)->number, y = ((const Value *) b)->number;

        return (x > y) - (x < y);
}

Values tunable_values(const Tunable *t, const Setting *s, const char *classdir, const Drive *d, const Value *current) {
        Values v = {};

        add(&v, current);
        if (t->ladder)
                add_ladder(&v, t, s, t->attribute ? 1024 * read_limit(classdir, d, t->attribute) : 0);
        else
                add_listed(&v, t, s, classdir, d);
        if (t->stripes)
                add_stripes(&v, d);

        if (t->ordered)
                qsort(v.items, v.n_items, sizeof *v.items, compare_values);
        for (size_t i = 0; i < v.n_items; i++)
                if (value_equal(v.items + i, current))
                        v.current = i;
        return v;
}
