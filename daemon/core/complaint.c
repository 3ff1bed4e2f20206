/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdarg.h>
#include <stdio.h>

#include "complaint.h"
#include "text.h"

static const char *const level_table[] = {
        [COMPLAINT_ERROR] = "error",
        [COMPLAINT_WARNING] = "warning",
        [COMPLAINT_NOTICE] = "notice",
};

const char *complaint_level_to_string(ComplaintLevel l) {
        return (size_t) l < ELEMENTSOF(level_table) ? level_table[l] : NULL;
}

int complain(Complaints *c, ComplaintLevel level, const char *file, unsigned line, unsigned column, const char *format,
             ...) {
        _cleanup_free_ char *raw = NULL, *sentence = NULL, *name = NULL;
        va_list ap;
        int n;

        va_start(ap, format);
        n = vasprintf(&raw, format, ap);
        va_end(ap);
        if (n < 0) {
                raw = NULL; /* undefined after a failure */
                return -ENOMEM;
        }

        /* Sentences quote what hostile files hold: nothing of that may move a terminal's cursor or split a line. */
        sentence = text_escape(raw, NULL);
        name = text_escape(file, NULL);
        if (!sentence || !name || !GREW(c->items, c->n_items))
                return -ENOMEM;

        c->items[c->n_items++] = (Complaint){
                .level = level,
                .file = TAKE_PTR(name),
                .line = line,
                .column = column,
                .sentence = TAKE_PTR(sentence),
        };
        if (level == COMPLAINT_ERROR)
                c->n_errors++;

        return 0;
}

typedef struct SortKey {
        Complaint complaint;
        size_t file, index;
} SortKey;

static int sort_key_compare(const void *a, const void *b) {
        const SortKey *x = a, *y = b;

        if (x->file != y->file)
                return x->file < y->file ? -1 : 1;
        if (x->complaint.line != y->complaint.line)
                return x->complaint.line < y->complaint.line ? -1 : 1;
        if (x->complaint.column != y->complaint.column)
                return x->complaint.column < y->complaint.column ? -1 : 1;
        return x->index < y->index ? -1 : 1;
}

int complaints_sort(Complaints *c) {
        _cleanup_free_ SortKey *keys = NULL;

        keys = calloc(MAX(c->n_items, 1U), sizeof(SortKey));
        if (!keys)
                return -ENOMEM;

        for (size_t i = 0; i < c->n_items; i++) {
                size_t k;

                /* The first one of the same file; most often that of the one before. */
                if (i > 0 && streq(c->items[i].file, c->items[i - 1].file))
                        k = keys[i - 1].file;
                else
                        for (k = 0; !streq(c->items[k].file, c->items[i].file); k++)
                                ;
                keys[i] = (SortKey){ .complaint = c->items[i], .file = k, .index = i };
        }

        qsort(keys, c->n_items, sizeof(SortKey), sort_key_compare);
        for (size_t i = 0; i < c->n_items; i++)
                c->items[i] = keys[i].complaint;

        return 0;
}

void complaints_done(Complaints *c) {
        for (size_t i = 0; i < c->n_items; i++) {
                free(c->items[i].file);
                free(c->items[i].sentence);
        }
        free(c->items);
        *c = (Complaints){};
}

char *complaint_format(const Complaint *c) {
        const char *level = complaint_level_to_string(c->level);
        char *s;
        int n;

        if (c->line == 0)
                n = asprintf(&s, "%s: %s: %s", c->file, level, c->sentence);
        else
                n = asprintf(&s, "%s:%u:%u: %s: %s", c->file, c->line, c->column, level, c->sentence);

        return n < 0 ? NULL : s;
}
