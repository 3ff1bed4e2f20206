/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

void block_done(Block *b) {
        match_done(&b->match);
        free(b->assignments);
}

Assignment *block_find(const Block *b, const char *name, bool on_battery) {
        for (Assignment *a = b->assignments; a < b->assignments + b->n_assignments; a++)
                if (a->on_battery == on_battery && streq(a->name, name))
                        return a;

        return NULL;
}

int config_new(Config **ret) {
        Config *c;

        c = calloc(1, sizeof *c);
        if (!c)
                return -ENOMEM;

        c->fsck_wait_ms = CONFIG_FSCK_WAIT_DEFAULT_MS;
        c->wake_log = WAKE_LOG_AUTO;
        *ret = c;
        return 0;
}

Config *config_free(Config *c) {
        if (!c)
                return NULL;

        for (size_t i = 0; i < c->n_blocks; i++)
                block_done(&c->blocks[i]);
        free(c->blocks);
        for (size_t i = 0; i < c->n_files; i++)
                free(c->files[i]);
        free(c->files);
        free(c->hashes);
        complaints_done(&c->complaints);
        free(c);

        return NULL;
}
