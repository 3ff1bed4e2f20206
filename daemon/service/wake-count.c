/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdlib.h>

#include "drive-command.h"
#include "wake-count.h"

/* Removes all members that differ between two uses by the same program. The numbers of kernel workers are removed: they do not identify the
 * work. */
static Wake wake_in_general(const Wake *w) {
        Wake g = *w;

        g.process.pid = 0;
        g.process.command_line[0] = '\0';
        g.has_sector = false;
        g.sector = 0;
        if (starts_with(g.thread, "kworker/"))
                (void) strcpy(g.thread, "kworker");
        return g;
}

bool wake_same_program(const Wake *a, const Wake *b) {
        const char *unit = a->process.unit, *other = b->process.unit;

        return a->kind == b->kind && streq(a->process.comm, b->process.comm) &&
               (a->process.comm[0] ? streq(unit, other) || !*unit || !*other : streq(a->thread, b->thread));
}

static WakeCount *find(WakeCounts *c, const Wake *w) {
        WakeCount *least = c->items;

        for (WakeCount *i = c->items; i < c->items + c->n_items; i++) {
                if (wake_same_program(&i->wake, w))
                        return i;
                if (i->times < least->times)
                        least = i;
        }

        if (c->n_items < WAKE_COUNTS_MAX)
                least = c->items + c->n_items++;
        *least = (WakeCount){ .wake = *w };
        return least;
}

void wake_counts_add(WakeCounts *c, const Wake *w, uint64_t usec) {
        Wake g = wake_in_general(w);
        WakeCount *i = find(c, &g);

        c->n_commands++;
        /* The clocks of two processors differ slightly, so a later command can have an earlier time. */
        if (i->times == 0 || MAX(usec, i->usec) - MIN(usec, i->usec) >= WAKE_COUNT_USEC) {
                i->times++;
                i->usec = usec;
        }
        if (!i->wake.process.unit[0])
                memcpy(i->wake.process.unit, g.process.unit, sizeof g.process.unit);
        if (i->wake.inode != g.inode)
                i->wake.inode = 0;
        i->wake.content = i->wake.content || g.content;
        /* Programs send IDENTIFY DEVICE before the command that they need. */
        if (command_may_spin_up(i->wake.cdb, i->wake.cdb_len) && !command_may_spin_up(g.cdb, g.cdb_len)) {
                memcpy(i->wake.cdb, g.cdb, sizeof g.cdb);
                i->wake.cdb_len = g.cdb_len;
        }
}

static int count_compare(const void *a, const void *b) {
        const WakeCount *x = a, *y = b;

        return x->times == y->times ? 0 : x->times > y->times ? -1 : 1;
}

void wake_counts_sort(WakeCounts *c) {
        qsort(c->items, c->n_items, sizeof *c->items, count_compare);
}
