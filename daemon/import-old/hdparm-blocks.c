/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "hdparm-blocks.h"

#define NAMES_MAX 64U /* before one brace */

void reader_done(Reader *r) {
        free(r->blocks);
        words_done(&r->headers);
}

ImportRule *reader_rule(Reader *r) {
        return &r->import->rules[r->block];
}

int reader_grow(Reader *r) {
        HdparmBlock *blocks;

        blocks = reallocarray(r->blocks, r->import->n_rules, sizeof(HdparmBlock));
        if (!blocks)
                return -ENOMEM;
        r->blocks = blocks;
        while (r->n_blocks < r->import->n_rules)
                r->blocks[r->n_blocks++] = (HdparmBlock){};
        return 0;
}

int reader_add_rule(Reader *r, unsigned line, ImportRule **ret) {
        int k;

        k = import_add_rule(r->import, line, ret);
        return k < 0 ? k : reader_grow(r);
}

int reader_drop_headers(Reader *r) {
        int k = 0;

        for (size_t i = 0; i < r->headers.n_items && k >= 0; i++)
                k = remark(&r->import->remarks, "\"%.60s\" is followed by no block up to line %u", r->headers.items[i],
                           r->header_line);
        words_done(&r->headers);
        return k;
}

int reader_add_header(Reader *r, const char *name, unsigned line) {
        int k = 0;

        if (r->headers.n_items >= NAMES_MAX)
                k = reader_drop_headers(r);
        if (k < 0)
                return k;
        r->header_line = line;
        return words_add(&r->headers, name, strlen(name));
}

int reader_begin_block(Reader *r, unsigned line, const char *header) {
        ImportRule *rule;
        HdparmBlock *b;
        int k = 0;

        /* "/dev/sda /dev/sdb {" */
        if (header && r->header_line != line)
                k = reader_drop_headers(r);
        if (k >= 0 && header)
                k = reader_add_header(r, header, line);
        if (k >= 0 && r->block > 0)
                k = remark(&reader_rule(r)->remarks,
                           "this block is not closed before the next begins in line %u; Debian ignored it", line);
        if (k >= 0)
                k = reader_add_rule(r, line, &rule);
        if (k < 0)
                return k;

        r->block = r->import->n_rules - 1;
        r->last_block = line;
        b = &r->blocks[r->block];
        *b = (HdparmBlock){ .line = line, .sends = r->blocks[0].sends };
        for (size_t i = 0; i < r->headers.n_items && k >= 0; i++) {
                k = hdparm_add_header(rule, r->headers.items[i]);
                b->exact = k > 0 && i == 0 && r->headers.n_items == 1;
        }
        words_done(&r->headers);
        return k;
}

int reader_begin_unbraced(Reader *r) {
        int k;

        if (r->headers.n_items == 0)
                return 0;
        k = reader_begin_block(r, r->header_line, NULL);
        return k < 0 ? k
                     : remark(&reader_rule(r)->remarks, "there is no { behind this name: Debian stopped reading here");
}

int reader_begin_tagged(Reader *r, unsigned line, const char *tag, const char *value) {
        _cleanup_free_ char *node = NULL;
        int k;

        k = hdparm_tag_node(tag, value, &node);
        if (k >= 0)
                k = reader_begin_block(r, line, node);
        if (k < 0)
                return k;
        r->blocks[r->block].exact = false;
        return remark(&reader_rule(r)->remarks, "Debian took %.20s=%.60s for no name of a drive", tag, value);
}

int reader_end_block(Reader *r, unsigned line, bool alone) {
        if (r->block == 0)
                return remark(&r->import->remarks, "line %u: this } closes nothing", line);

        if (alone)
                r->blocks[r->block].end = line;
        r->block = 0;
        return 0;
}
