/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

int config_new(Config **ret) {
        Config *c;

        c = calloc(1, sizeof *c);
        if (!c)
                return -ENOMEM;

        c->fsck_wait_ms = CONFIG_FSCK_WAIT_DEFAULT_MS;
        *ret = c;
        return 0;
}

void block_done(Block *b) {
        match_done(&b->match);
        free(b->assignments);
        *b = (Block){};
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
        complaints_done(&c->complaints);
        free(c);

        return NULL;
}

int config_add_file(Config *c, const char *file, const char **ret) {
        char **files;

        files = reallocarray(c->files, c->n_files + 2, sizeof(char *));
        if (!files)
                return -ENOMEM;

        c->files = files;
        files[c->n_files] = strdup(file);
        if (!files[c->n_files])
                return -ENOMEM;

        *ret = files[c->n_files++];
        files[c->n_files] = NULL;
        return 0;
}

int config_add_block(Config *c, Block *b) {
        if (!GREW(c->blocks, c->n_blocks))
                return -ENOMEM;

        c->blocks[c->n_blocks++] = *b;
        *b = (Block){};
        return 0;
}
