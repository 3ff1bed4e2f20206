/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>

#include "config-hidden.h"

bool gap_is_blank(const ConfigText *t, size_t token) {
        const Token *k = &t->tokens[token];

        for (size_t i = k->offset + k->length; i < k[1].offset; i++)
                if (!isspace((unsigned char) t->text[i]))
                        return false;

        return true;
}

bool token_is_wordy(const ConfigText *t, size_t token) {
        TokenType type = t->tokens[token].type;

        return type == TOKEN_NAME || type == TOKEN_WORD || type == TOKEN_STRING || type == TOKEN_UNCLOSED ||
               type == TOKEN_REFUSED;
}

/* Whether there is a "name =" that is no statement of the block, nor inside its match: in a bracket too many, say. */
static bool has_stray_assignment(const ConfigText *t, const Section *section, const Statements *statements) {
        size_t k = 0;

        for (size_t i = section->inside; i < section->end; i++) {
                const Statement *st = k < statements->n_items ? &statements->items[k] : NULL;

                if (st && st->name == i) {
                        k++;
                        if (st->sound && token_is_name(t, i, "match"))
                                i = st->end - 1;
                        else
                                i++;
                } else if (t->tokens[i].type == TOKEN_EQUALS && t->tokens[i - 1].type != TOKEN_EQUALS)
                        return true; /* one that is only typed twice hides nothing */
        }

        return false;
}

/* Whether a broken block's statements may stand in what is now a string (for want of a quote) or, in one whose bounds
 * are a guess, a comment. */
static bool in_string_or_comment(const ConfigText *t, const Section *section, const Statements *statements) {
        /* Cut off within a statement: the others may stand behind it. */
        if (section->broken && statements->n_items > 0 && !statements->items[statements->n_items - 1].sound)
                return true;

        for (size_t i = section->start; i < section->end; i++) {
                const Token *k = &t->tokens[i];
                size_t end = k->offset + k->length;

                if (token_is_wordy(t, i) && memchr(t->text + k->offset, '=', k->length))
                        return true;
                if (section->broken && memchr(t->text + end, '=', k[1].offset - end))
                        return true;
        }

        return false;
}

bool section_hides_statements(const ConfigText *t, const Section *section, const Statements *statements) {
        return has_stray_assignment(t, section, statements) || in_string_or_comment(t, section, statements);
}
