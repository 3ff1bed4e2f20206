/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdio.h>

#include "tally.h"
#include "text.h"

bool tally_next(const char **rest, TallyEntry *ret) {
        const char *word = *rest, *number;
        unsigned long long n;
        size_t len, digits;

        if (!word)
                return false;
        len = strcspn(word, " ");
        number = word + len + (word[len] == ' ');
        digits = strspn(number, "0123456789");
        if (len == 0 || digits == 0 || (number[digits] != ' ' && number[digits] != '\0'))
                return false;

        n = strtoull(number, NULL, 10);
        *ret = (TallyEntry){ .word = word, .len = len, .n = n };
        *rest = number + digits + (number[digits] == ' ');
        return true;
}

static bool is_entry_of(const TallyEntry *e, const char *word) {
        return e->len == strlen(word) && starts_with(e->word, word);
}

/* As which word it is counted: as itself where there is room. */
static const char *counted_as(const char *tally, const char *word) {
        TallyEntry e;
        size_t n = 0;

        while (tally_next(&tally, &e)) {
                if (is_entry_of(&e, word))
                        return word;
                n++;
        }
        return n < TALLY_WORDS_MAX ? word : TALLY_REST;
}

int tally_add(char **tally, const char *word) {
        _cleanup_free_ char *escaped = text_escape(word, " "), *text = NULL;
        const char *rest = *tally;
        bool found = false;
        size_t size;
        TallyEntry e;
        FILE *f;

        f = escaped ? open_memstream(&text, &size) : NULL;
        if (!f)
                return -ENOMEM;

        word = counted_as(*tally, escaped);
        while (tally_next(&rest, &e)) {
                bool same = is_entry_of(&e, word);

                fprintf(f, "%s%.*s %" PRIu64, ftell(f) > 0 ? " " : "", (int) e.len, e.word, e.n + same);
                found = found || same;
        }
        if (!found)
                fprintf(f, "%s%s 1", ftell(f) > 0 ? " " : "", word);
        if (fclose(f) != 0)
                return -ENOMEM;

        free(*tally);
        *tally = TAKE_PTR(text);
        return 0;
}
