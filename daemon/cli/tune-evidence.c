/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "attribute.h"
#include "output.h"
#include "safe-file.h"
#include "tune-evidence.h"
#include "words.h"

static int compare_words(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

/* Returns the drive's schedulers in alphabetical order, such as "bfq mq-deadline none". The order in the kernel's file depends on the
 * active scheduler (elv_iosched_show()). */
static char *format_schedulers(const Drive *d) {
        _cleanup_(words_done) Words names = {};
        char text[256];

        (void) attribute_read(text, sizeof text, INVENTORY_CLASSDIR "/%s/queue/scheduler", d->name);
        for (char *p = text; (p = strpbrk(p, "[]"));)
                *p = ' ';
        words_split(&names, text);
        if (names.n_items > 0)
                qsort(names.items, names.n_items, sizeof *names.items, compare_words);
        return words_join(&names, 0, " ");
}

/* Returns the current conditions in the format of measure/block.py: "firmware CC32, schedulers mq-deadline none". */
static char *evidence_format(const Drive *d, const char *setting) {
        _cleanup_free_ char *firmware = format_escaped("%s", d->firmware ?: "not known"), *schedulers = NULL;

        /* Cuts the firmware's name at the first delimiter of the format, as measure/block.py does. */
        firmware[strcspn(firmware, ",:")] = '\0';
        if (!streq(setting, "scheduler"))
                return must_format("firmware %s", firmware);

        schedulers = format_schedulers(d);
        return must_format("firmware %s, schedulers %s", firmware, schedulers);
}

/* Returns a copy of a line, or NULL if there is no such line. `line`: counted from 1. */
static char *copy_line(const char *text, unsigned line) {
        while (--line > 0 && (text = strchr(text, '\n')))
                text++;
        return text ? must(strndup(text, strcspn(text, "\n"))) : NULL;
}

/* Returns the conditions in the comment above `line`: the text between "measured DATE, " and the colon. Returns NULL if there is no such
 * comment. */
static char *find_evidence(const char *text, unsigned line) {
        _cleanup_free_ char *copy = line > 1 ? copy_line(text, line - 1) : NULL;
        const char *begin = copy ? strstr(copy, "// measured ") : NULL;

        begin = begin ? strstr(begin, ", ") : NULL;
        return begin ? must(strndup(begin + 2, strcspn(begin + 2, ":"))) : NULL;
}

static void check_assignment(Config *c, const Block *b, const Assignment *a, const char *text, const Drive *d) {
        _cleanup_free_ char *then = find_evidence(text, a->line), *now = evidence_format(d, a->name);

        if (then && !streq(then, now))
                must_work(complain(&c->complaints, COMPLAINT_WARNING, b->file, a->line, a->column,
                                   "%s was measured with %s, but %s has %s; 'drivekeep tune %s %s' measures it again",
                                   a->name, then, d->name, now, d->name, a->name));
}

void evidence_check(Config *c, const Inventory *inventory) {
        for (const Block *b = c->blocks; b < c->blocks + c->n_blocks; b++) {
                _cleanup_free_ char *text = NULL;
                const char *objection;
                size_t size;

                if (!streq(base_name(b->file), "60-tuned.conf") || b->broken ||
                    must_not_fail(text_file_read(b->file, &text, &size, &objection)) != 0)
                        continue;
                for (size_t i = 0; i < inventory->n_drives; i++)
                        if (match_drive(&b->match, inventory->drives[i], NULL))
                                for (size_t k = 0; k < b->n_assignments; k++)
                                        check_assignment(c, b, b->assignments + k, text, inventory->drives[i]);
        }
}
