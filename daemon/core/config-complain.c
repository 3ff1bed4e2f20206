/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "config-reader.h"

#define RANGE_TEXT_MAX 256U
/* Five of them, and their quotes, fit in RANGE_TEXT_MAX. */
#define QUANTITY_MAX 32U

/* Proposes only what would be taken. Drives count many durations in steps, as "smartctl -l scterc,70" does. */
static bool complain_unit(ConfigText *t, size_t token, const char *name, const ValueRange *range) {
        static const char *const units[] = { "us", "ms", "s", "min", "h" };
        char proposals[RANGE_TEXT_MAX] = "", text[RANGE_TEXT_MAX], quantity[QUANTITY_MAX];
        ValueRange steps = *range;
        size_t n = 0;
        Value v;

        for (size_t i = 0; i < ELEMENTSOF(units); i++)
                if (snprintf(quantity, sizeof quantity, "%s %s", TOKEN_QUOTED(t, token), units[i]) <
                                    (int) sizeof quantity &&
                    value_parse(range, quantity, &v) == 0)
                        n += snprintf(proposals + n, sizeof proposals - n, "%s\"%s\"", n == 0 ? "" : " or ", quantity);
        if (n == 0)
                return config_text_error(t, token, "%s needs a unit, in quotes: %s", name,
                                         value_range_format(range, text, sizeof text));

        (void) snprintf(quantity, sizeof quantity, "%s", TOKEN_QUOTED(t, token));
        steps.unit = range->step;
        if (range->step % 1000 != 0 && value_parse(&steps, quantity, &v) == 0)
                (void) snprintf(proposals + n, sizeof proposals - n, ", or for as many of the drive's steps \"%s\"",
                                value_format(range, &v, text));

        return config_text_error(t, token, "%s needs a unit: write %s, in quotes", name, proposals);
}

bool complain_value(ConfigText *t, size_t token, const char *name, const ValueRange *range, int error) {
        char text[RANGE_TEXT_MAX];

        switch (error) {
        case -ENOMSG:
                return complain_unit(t, token, name, range);
        case -ENOTUNIQ:
                return config_text_error(t, token, "%s could mean either here: %s = %s", TOKEN_QUOTED(t, token), name,
                                         range->yes_is);
        case -ERANGE:
                return config_text_error(t, token, "%s is out of range for %s: %s", TOKEN_QUOTED(t, token), name,
                                         value_range_format(range, text, sizeof text));
        default:
                return config_text_error(t, token, "\"%s\" is no value for %s: %s", TOKEN_QUOTED(t, token), name,
                                         value_range_format(range, text, sizeof text));
        }
}

/* Bytes of the quote at `s` that is none here: \', or one of U+2018…U+201F; 0: there is none. */
static int quote_length(const char *s) {
        if (*s == '\'')
                return 1;
        return s[0] == '\xe2' && s[1] == '\x80' && (s[2] & 0xf8) == 0x98 ? 3 : 0;
}

bool complain_word(const Reader *r, size_t token) {
        static const char *const switches[] = { "on", "yes", "off", "no" };
        ConfigText *t = r->text;
        const char *word = TOKEN_QUOTED(t, token);
        int n = (int) strlen(word), quote = n > 2 ? quote_length(word) : 0, k;
        char name[TOKEN_TEXT_MAX];
        const Setting *row;
        Value v;

        row = setting_find(r->table, token_copy(t, r->name, name));
        if (row && quote == 0 && !streq(word, "keep")) {
                /* Quotes would not make it one. */
                k = value_parse(&row->range, word, &v);
                if (k < 0)
                        return complain_value(t, token, name, &row->range, k);
        }

        for (size_t i = 0; i < ELEMENTSOF(switches); i++)
                if (strcasecmp(word, switches[i]) == 0)
                        return config_text_error(t, token, "%s must be in quotes: write \"%s\", or %s without quotes",
                                                 switches[i], switches[i], i < 2 ? "true" : "false");

        if (quote > 0 && n > 2 * quote && quote_length(word + n - quote) == quote)
                return config_text_error(t, token, "a string has straight double quotes: write \"%.*s\"", n - 2 * quote,
                                         word + quote);
        if (quote > 0)
                return config_text_error(t, token, "a string has straight double quotes: \"…\"");

        /* Secret, or cut. */
        if ((uint32_t) n < t->tokens[token].length)
                return config_text_error(t, token, "a string must be in quotes: \"…\"");
        return config_text_error(t, token, "%s must be in quotes: write \"%s\"", word, word);
}

bool complain_behind(const Reader *r, size_t token) {
        TokenType before = token_type(r, token - 1), type = token_type(r, token);
        ConfigText *t = r->text;

        if ((before == TOKEN_INTEGER || before == TOKEN_FLOAT) && type == TOKEN_NAME)
                return config_text_error(t, token,
                                         "a number with a unit must be in quotes (\"%s %s\"), or a \";\" is missing "
                                         "before \"%s\"",
                                         TOKEN_QUOTED(t, token - 1), TOKEN_QUOTED(t, token), TOKEN_QUOTED(t, token));

        if (type == TOKEN_REFUSED)
                return false;

        return config_text_error(t, token, "\"%s\" does not belong here, behind the value of \"%s\"",
                                 TOKEN_QUOTED(t, token), TOKEN_QUOTED(t, r->name));
}
