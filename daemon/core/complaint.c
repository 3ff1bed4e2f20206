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
        return level_table[l];
}

static bool is_after(const Complaint *c, unsigned line, unsigned column) {
        return c->line > line || (c->line == line && c->column > column);
}

int complain(Complaints *c, ComplaintLevel level, const char *file, unsigned line, unsigned column, const char *format,
             ...) {
        _cleanup_free_ char *raw = NULL, *sentence = NULL, *name = NULL;
        va_list ap;
        size_t i;
        int n;

        va_start(ap, format);
        n = vasprintf(&raw, format, ap);
        va_end(ap);
        if (n < 0) {
                raw = NULL; /* vasprintf() leaves the pointer undefined */
                return c->error = -ENOMEM;
        }

        /* Sentences quote untrusted files. Escape control characters, which could move the cursor of a terminal or split a line. */
        sentence = text_escape(raw, NULL);
        name = text_escape(file, NULL);
        if (!sentence || !name || !GREW(c, items))
                return c->error = -ENOMEM;

        /* Search backwards: consecutive complaints are usually about the same file. */
        for (i = c->n_items; i > 0 && !streq(c->items[i - 1].file, name); i--)
                ;
        if (i == 0)
                i = c->n_items;
        else
                while (i > 0 && streq(c->items[i - 1].file, name) && is_after(&c->items[i - 1], line, column))
                        i--;

        memmove(c->items + i + 1, c->items + i, (c->n_items - i) * sizeof(Complaint));
        c->items[i] = (Complaint){
                .level = level,
                .file = TAKE_PTR(name),
                .line = line,
                .column = column,
                .sentence = TAKE_PTR(sentence),
        };
        c->n_items++;
        if (level == COMPLAINT_ERROR)
                c->n_errors++;

        return c->error;
}

static void complaint_done(Complaint *c) {
        free(c->file);
        free(c->sentence);
}

bool complaints_have(const Complaints *c, const char *file, unsigned line, unsigned column, const char *end) {
        for (size_t i = 0; i < c->n_items; i++)
                if (c->items[i].line == line && c->items[i].column == column && streq(c->items[i].file, file) &&
                    ends_with(c->items[i].sentence, end))
                        return true;

        return false;
}

bool complaints_have_error(const Complaints *c, const char *file) {
        for (size_t i = 0; i < c->n_items; i++)
                if (c->items[i].level == COMPLAINT_ERROR && streq(c->items[i].file, file))
                        return true;

        return false;
}

void complaints_drop(Complaints *c, const char *file) {
        size_t n = 0;

        for (size_t i = 0; i < c->n_items; i++)
                if (streq(c->items[i].file, file)) {
                        c->n_errors -= c->items[i].level == COMPLAINT_ERROR;
                        complaint_done(&c->items[i]);
                } else
                        c->items[n++] = c->items[i];
        c->n_items = n;
}

void complaints_done(Complaints *c) {
        for (size_t i = 0; i < c->n_items; i++)
                complaint_done(&c->items[i]);
        free(c->items);
        *c = (Complaints){};
}

char *complaint_format(const Complaint *c) {
        char *s, place[32] = "";

        if (c->line > 0)
                (void) snprintf(place, sizeof place, "%u:%u:", c->line, c->column);
        return asprintf(&s, "%s:%s %s: %s", c->file, place, complaint_level_to_string(c->level), c->sentence) < 0 ? NULL
                                                                                                                  : s;
}
