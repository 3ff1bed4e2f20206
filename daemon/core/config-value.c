/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads a value with libconfig, and complains about invalid values. */

#include <libconfig.h>
#include <stdio.h>

#include "config-reader.h"

#define RANGE_TEXT_MAX 256U
#define TIMER_LIKE_MINUTES_MAX 60
/* Size of a number with its unit, as text. RANGE_TEXT_MAX has room for five such texts in quotes. */
#define QUANTITY_MAX 32U

/* Copies a string. Doubles the backslash of escapes that libconfig would decode (\x20) or does not know (\*). */
static void put_string(FILE *f, const char *s, size_t n) {
        for (size_t i = 0; i < n; i++) {
                if (s[i] == '\\') {
                        if (!strchr("\\\"nrtf", s[i + 1]))
                                fputc('\\', f);
                        fputc(s[i++], f);
                }
                fputc(s[i], f);
        }
}

/* Writes a number with the suffix L: libconfig reads numbers without L as 32 bits, and wraps larger ones silently. strtoll() returns the
 * nearest number of 64 bits for a larger one. No range of a setting has this number. */
static void put_word(FILE *f, const ConfigText *t, size_t token) {
        char word[TOKEN_TEXT_MAX], *end;
        long long n;

        token_copy(t, token, word);
        n = strtoll(word, &end, word[1] == 'x' || word[1] == 'X' ? 16 : 10);
        if (end == word || !(streq(end, "") || streq(end, "L") || streq(end, "LL")))
                fputs(word, f);
        else
                fprintf(f, "%lldL", n);
}

/* Formats the value so that libconfig 1.5 reads it correctly. NULL: out of memory. */
static char *value_to_text(const ConfigText *t, size_t token) {
        char *text = NULL;
        size_t size;
        int failed;
        FILE *f;

        f = open_memstream(&text, &size);
        if (!f)
                return NULL;

        fputs("value = ", f);
        if (t->tokens[token].type != TOKEN_STRING)
                put_word(f, t, token);
        for (; t->tokens[token].type == TOKEN_STRING; token++) /* adjacent strings are one value */
                put_string(f, t->text + t->tokens[token].offset, t->tokens[token].length);
        fputc(';', f);

        /* A memory stream fails only if memory runs out. */
        failed = ferror(f);
        if (fclose(f) == 0 && !failed)
                return text;

        free(text);
        return NULL;
}

/* Parses the value. The result belongs to `config`, which the caller has initialized. NULL: not a value, or out of memory. */
static const config_setting_t *value_load(ConfigText *t, size_t token, config_t *config) {
        _cleanup_free_ char *text = value_to_text(t, token);

        if (!text)
                t->complaints->error = -ENOMEM;
        return text && config_read_string(config, text) ? config_setting_get_elem(config_root_setting(config), 0)
                                                        : NULL;
}

/* Complains about a duration without a unit, and proposes only valid values. Drives count many durations in steps:
 * "smartctl -l scterc,70" means 70 steps of 100 ms. */
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
                (void) snprintf(proposals + n, sizeof proposals - n, ", or \"%s\" for %s steps of the drive",
                                value_format(range, &v, text), quantity);

        return config_text_error(t, token, "%s needs a unit, in quotes: write %s", name, proposals);
}

/* Complains about a value. `error` is the return value of value_parse(). */
static bool complain_value(ConfigText *t, size_t token, const char *name, const ValueRange *range, int error) {
        const char *typed = TOKEN_QUOTED(t, token), *near = setting_nearest_value(range, typed);
        char text[RANGE_TEXT_MAX];

        switch (error) {
        case -ENOMSG:
                return complain_unit(t, token, name, range);
        case -ENOTUNIQ:
                return config_text_error(t, token, "%s could mean two values of %s: %s", typed, name, range->yes_is);
        default:
                if (near)
                        return config_text_error(t, token, "\"%s\" is not a valid value for %s; did you mean \"%s\"?",
                                                 typed, name, near);
                return config_text_error(t, token,
                                         error == -ERANGE ? "%s is out of range for %s: %s"
                                                          : "\"%s\" is not a valid value for %s, which takes %s",
                                         typed, name, value_range_format(range, text, sizeof text));
        }
}

/* Complains about a word in place of a string, a number or a boolean. `range` may be NULL. */
static bool complain_word(Reader *r, size_t token, const char *name, const ValueRange *range) {
        const char *word = TOKEN_QUOTED(r->text, token);
        Value v;
        int k = 0;

        r->broken = true;
        if (token_type(r, token) == TOKEN_REFUSED)
                return false;
        if (*word == '\'' || *word == '`' || starts_with(word, "\xe2\x80") || starts_with(word, "\xc2\xab") ||
            starts_with(word, "\xc2\xbb")) /* typographic quotes: U+2018, U+201C and similar ones, and guillemets */
                return config_text_error(r->text, token, "write straight double quotes around a string: \"...\"");

        if (range && !streq(word, "keep"))
                k = value_parse(range, word, &v);
        if (k < 0) /* quotes would not make the word valid */
                return complain_value(r->text, token, name, range, k);
        if (!r->text->tokens[token].secret && r->text->tokens[token].length >= TOKEN_TEXT_MAX) {
                /* Users copy the proposed text, so print it in full. */
                int n = (int) r->text->tokens[token].length;
                const char *whole = r->text->text + r->text->tokens[token].offset;

                return config_text_error(r->text, token, "%.40s... must be in quotes: write \"%.*s\"", word, n, whole);
        }
        return config_text_error(r->text, token, "%s must be in quotes: write \"%s\"", word, word);
}

char *reader_string(Reader *r, size_t token) {
        _cleanup_(config_destroy) config_t config = {};
        const config_setting_t *s;
        char *text = NULL;

        config_init(&config);
        s = token_type(r, token) == TOKEN_STRING ? value_load(r->text, token, &config) : NULL;
        if (!s) {
                complain_word(r, token, NULL, NULL);
                return NULL;
        }

        text = strdup(config_setting_get_string(s));
        if (!text)
                r->config->complaints.error = -ENOMEM;
        return text;
}

/* Converts a scalar by its type. Returns 1 if the value was rounded. */
static int read_scalar(const config_setting_t *s, const ValueRange *range, Value *ret) {
        switch (config_setting_type(s)) {
        case CONFIG_TYPE_INT64:
                return value_from_integer(range, config_setting_get_int64(s), ret);
        case CONFIG_TYPE_BOOL:
                return value_from_boolean(range, config_setting_get_bool(s), ret);
        case CONFIG_TYPE_STRING:
                return value_parse(range, config_setting_get_string(s), ret);
        default: /* a number with a fraction */
                return range->type == VALUE_DURATION ? -ENOMSG : -EINVAL;
        }
}

/* Explains a small number for the standby timer, which looks like minutes but is in the units of hdparm -S. Larger numbers, such as the
 * common 120 and 240 of hdparm.conf, cause no notice. */
static void notice_timer(ConfigText *t, size_t token, const char *name, const ValueRange *range, const Value *v) {
        char text[VALUE_TEXT_MAX], minutes[VALUE_TEXT_MAX];
        Value meant;

        if (v->number == 0 || v->number > TIMER_LIKE_MINUTES_MAX)
                return;
        (void) snprintf(minutes, sizeof minutes, "%dmin", (int) v->number);
        if (value_parse(range, minutes, &meant) == 0)
                config_text_complain(t, COMPLAINT_NOTICE, t->tokens + token,
                                     "%s = %d is %s in the units of hdparm -S; for %d minutes write \"%s\"", name,
                                     (int) v->number, value_format(range, v, text), (int) v->number, minutes);
        else
                config_text_complain(t, COMPLAINT_NOTICE, t->tokens + token, "%s = %d is %s in the units of hdparm -S",
                                     name, (int) v->number, value_format(range, v, text));
}

bool reader_value(Reader *r, size_t token, const char *name, const ValueRange *range, Value *ret, bool *ret_keep) {
        _cleanup_(config_destroy) config_t config = {};
        char text[VALUE_TEXT_MAX];
        const config_setting_t *s;
        Value v = {};
        bool keep;
        int k = 0;

        if (token_type(r, token) < TOKEN_END)
                return config_text_error(r->text, token, "%s takes one value, not a group or a list", name);

        config_init(&config);
        s = value_load(r->text, token, &config);
        if (!s)
                return complain_word(r, token, name, range);

        keep = ret_keep && config_setting_type(s) == CONFIG_TYPE_STRING && streq(config_setting_get_string(s), "keep");
        if (!keep)
                k = read_scalar(s, range, &v);
        if (k < 0)
                return complain_value(r->text, token, name, range, k);
        if (k > 0)
                config_text_warning(r->text, token, "%s cannot be exactly \"%s\"; it is set to %s", name,
                                    TOKEN_QUOTED(r->text, token), value_format(range, &v, text));
        else if (range->type == VALUE_STANDBY_TIMER && config_setting_type(s) == CONFIG_TYPE_INT64)
                notice_timer(r->text, token, name, range, &v);

        *ret = v;
        if (ret_keep)
                *ret_keep = keep;
        return true;
}
