/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A value as libconfig reads it, and what is wrong with it. */

#include <libconfig.h>
#include <stdio.h>

#include "config-reader.h"

#define RANGE_TEXT_MAX 256U
/* Five of them, and their quotes, fit in RANGE_TEXT_MAX. */
#define QUANTITY_MAX 32U

/* What a token may need besides its own characters twice: a blank, quotes, a number's digits. */
#define TOKEN_ROOM 32U

/* Both put something at `p`, and return its end. */

/* Escapes that libconfig would decode (\x20) or does not know (\*) keep their backslash. */
static char *put_string(char *p, const char *s, size_t n) {
        for (size_t i = 0; i < n; i++) {
                if (s[i] == '\\' && i + 1 < n) {
                        if (!strchr("\\\"nrtf", s[i + 1]))
                                *p++ = '\\';
                        *p++ = s[i++];
                }
                *p++ = s[i];
        }
        return p;
}

/* libconfig has 32 bits without the L and wraps silently in both. */
static char *put_integer(char *p, const ConfigText *t, size_t token) {
        char digits[TOKEN_TEXT_MAX];
        long long v;

        token_copy(t, token, digits);
        errno = 0;
        v = strtoll(digits, NULL, digits[1] == 'x' || digits[1] == 'X' ? 16 : 10);
        if (errno == 0)
                return p + sprintf(p, "%lldL", v);

        /* As a string it is out of every range, and the complaint can quote it. */
        return p + sprintf(p, "\"%.*s\"", (int) strcspn(digits, "L"), digits);
}

/* The value in the form that libconfig 1.5 reads as it is meant: escapes such as \x20 kept as they are written, integers that 64 bits
 * do not hold as strings, a comma behind the last value left out. NULL: out of memory. */
static char *value_to_text(const ConfigText *t, const Statement *st) {
        size_t size = sizeof "value = ;";
        char *text, *p;

        for (size_t i = st->value; i < st->end; i++)
                size += 2 * t->tokens[i].length + TOKEN_ROOM;
        text = malloc(size);
        if (!text)
                return NULL;

        p = stpcpy(text, "value =");
        for (size_t i = st->value; i < st->end; i++) {
                const Token *k = &t->tokens[i];

                if (k->type == TOKEN_COMMA && (k[1].type == TOKEN_LIST_END || k[1].type == TOKEN_ARRAY_END))
                        continue;
                *p++ = ' ';
                if (k->type == TOKEN_STRING)
                        p = put_string(p, t->text + k->offset, k->length);
                else if (k->type == TOKEN_INTEGER)
                        p = put_integer(p, t, i);
                else
                        p = mempcpy(p, t->text + k->offset, k->length);
        }
        (void) strcpy(p, ";");

        return text;
}

/* NULL: there is none. What is returned belongs to `config`, which is initialized. */
static config_setting_t *value_load(ConfigText *t, const Statement *st, config_t *config) {
        _cleanup_free_ char *text = NULL;

        text = value_to_text(t, st);
        if (!text)
                t->error = -ENOMEM;
        else if (config_read_string(config, text))
                return config_setting_get_elem(config_root_setting(config), 0);
        /* Our own reading finds nearly all errors first, and with a column. */
        else if (strstr(config_error_text(config), "mismatched"))
                config_text_error(t, st->value, "the values in [ ] must all be of one type");
        else
                config_text_error(t, st->value, "libconfig does not read this: %s", config_error_text(config));

        return NULL;
}

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

/* `error` is value_parse()'s. */
static bool complain_value(ConfigText *t, size_t token, const char *name, const ValueRange *range, int error) {
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

bool complain_word(const Reader *r, size_t token) {
        const char *word = TOKEN_QUOTED(r->text, token);
        char name[TOKEN_TEXT_MAX];
        const Setting *row = setting_find(r->table, token_copy(r->text, r->name, name));
        Value v;
        int k = 0;

        if (*word == '\'' || starts_with(word, "\xe2\x80")) /* U+2018, U+201C and the like */
                return config_text_error(r->text, token, "a string has straight double quotes: \"…\"");

        if (row && !streq(word, "keep"))
                k = value_parse(&row->range, word, &v);
        if (k < 0) /* quotes would not make it one */
                return complain_value(r->text, token, name, &row->range, k);
        return config_text_error(r->text, token, "%s must be in quotes: write \"%s\"", word, word);
}

static bool complain_pattern(ConfigText *t, size_t token, MatchKey key) {
        switch (key) {
        case MATCH_NODE:
                return config_text_error(t, token,
                                         "a node or link begins with /dev/ (for every drive write match = {})");
        case MATCH_TRANSPORT:
                return config_text_error(t, token,
                                         "\"%s\" is no transport; there are sata, pata, usb, sas, scsi, nvme, "
                                         "mmc, virtio, virtual and unknown",
                                         TOKEN_QUOTED(t, token));
        case MATCH_ROTATIONAL:
        case MATCH_REMOVABLE:
                return config_text_error(t, token, "%s is true or false", match_key_to_string(key));
        default:
                return config_text_error(t, token, "a pattern has between 1 and 512 characters");
        }
}

/* What shells and others take for a pattern, and fnmatch(3) takes for itself. */
static void warn_literal(ConfigText *t, size_t token, const char *pattern) {
        const char *brace = strchr(pattern, '{'), *bracket = strrchr(pattern, '[');

        if (brace && strchr(brace, ',') && strchr(brace, '}'))
                config_text_warning(t, token,
                                    "braces stand for themselves in a pattern; for any of several write a list: "
                                    "(\"...\", \"...\")");
        else if (bracket && !strchr(bracket, ']') && (bracket == pattern || bracket[-1] != '\\'))
                config_text_warning(t, token,
                                    "this pattern has a \"[\" without its \"]\"; it fits nothing, or just a \"[\"");
}

/* One pattern: a string, or a boolean where that is a fact of drives. */
static bool read_pattern(ConfigText *t, const config_setting_t *s, size_t token, MatchKey key, const char *property,
                         Match *m) {
        bool fact = key == MATCH_ROTATIONAL || key == MATCH_REMOVABLE;
        char buf[TOKEN_TEXT_MAX];
        const char *pattern;
        int r;

        if (config_setting_type(s) == CONFIG_TYPE_STRING)
                pattern = config_setting_get_string(s);
        else if (fact)
                pattern = token_copy(t, token, buf); /* true, 0, …, or in error */
        else
                return config_text_error(t, token, "a pattern is a string, in quotes");

        r = match_add(m, key, property, pattern);
        if (r == -EINVAL)
                return complain_pattern(t, token, key);
        if (r < 0) {
                t->error = r;
                return false;
        }

        warn_literal(t, token, pattern);
        return true;
}

/* One pattern, or a list or an array of them: any of these. */
static bool read_patterns(ConfigText *t, const Statement *st, MatchKey key, const char *property, Match *m) {
        _cleanup_(config_destroy) config_t config = {};
        const config_setting_t *s;
        size_t token = st->value;
        bool ok = true;

        config_init(&config);
        s = value_load(t, st, &config);
        if (!s)
                return false;

        if (!config_setting_is_list(s) && !config_setting_is_array(s))
                return read_pattern(t, s, token, key, property, m);

        if (config_setting_length(s) == 0)
                return config_text_error(t, token, "an empty list fits no drive");

        for (int i = 0; i < config_setting_length(s); i++) {
                const config_setting_t *element = config_setting_get_elem(s, i);

                ok = read_pattern(t, element, ++token, key, property, m) && ok;

                /* Its commas are its own. */
                if (config_setting_is_aggregate(element))
                        return false;
                while (token < st->end && t->tokens[token].type != TOKEN_COMMA)
                        token++;
        }

        return ok;
}

/* One statement of a match = { … }. */
static bool read_criterion(ConfigText *t, const Statement *st, Match *m) {
        char name[TOKEN_TEXT_MAX];
        MatchKey key = match_key_from_string(token_copy(t, st->name, name));
        const char *nearest = match_key_nearest(name);
        size_t n = m->n_criteria;

        if (key >= 0)
                return read_patterns(t, st, key, key == MATCH_PROPERTY ? name : NULL, m) &&
                       (m->n_criteria > n || config_text_error(t, st->name, "\"%s\" stands here a second time", name));
        if (nearest)
                return config_text_error(t, st->name, "drives are not matched by \"%s\"; did you mean \"%s\"?", name,
                                         nearest);

        return config_text_error(t, st->name,
                                 "drives are not matched by \"%s\"; there are node, model, serial, wwn, "
                                 "firmware, vendor, transport, rotational, removable and udev's properties in capitals",
                                 name);
}

/* The statements of a match = { … }. */
static bool read_criteria(const Reader *r, const Statement *match, Match *m) {
        const Statement *end = r->statements + r->n_statements;
        bool sound = true;

        for (const Statement *st = match + 1; st < end && st->name < match->end; st++)
                if (st->group == match->name)
                        sound = read_criterion(r->text, st, m) && sound;

        return sound;
}

bool statement_read_match(const Reader *r, const Statement *st, Match *ret) {
        _cleanup_(match_done) Match m = {};

        if (!st->sound || !(token_type(r, st->value) == TOKEN_GROUP ? read_criteria(r, st, &m)
                                                                    : read_patterns(r->text, st, MATCH_NODE, NULL, &m)))
                return false;

        *ret = m;
        m = (Match){};
        return true;
}

bool statement_read_boolean(ConfigText *t, const Statement *st, const char *name, bool *ret) {
        static const ValueRange boolean = { .type = VALUE_BOOL };
        Value v = {};

        if (!statement_read_value(t, st, name, &boolean, &v, NULL))
                return false;

        *ret = v.number != 0;
        return true;
}

/* Of the scalar's type; 1 for inexact. */
static int read_scalar(const config_setting_t *s, const ValueRange *range, Value *ret) {
        switch (config_setting_type(s)) {
        case CONFIG_TYPE_INT64:
                return value_from_integer(range, config_setting_get_int64(s), ret);
        case CONFIG_TYPE_BOOL:
                return value_from_boolean(range, config_setting_get_bool(s), ret);
        case CONFIG_TYPE_STRING:
                return value_parse(range, config_setting_get_string(s), ret);
        case CONFIG_TYPE_FLOAT:
                return range->type == VALUE_DURATION ? -ENOMSG : -EINVAL;
        default:
                return -EINVAL;
        }
}

bool statement_read_value(ConfigText *t, const Statement *st, const char *name, const ValueRange *range, Value *ret,
                          bool *ret_keep) {
        _cleanup_(config_destroy) config_t config = {};
        const config_setting_t *s = NULL;
        char text[VALUE_TEXT_MAX];
        Value v = {};
        bool keep;
        int r = 0;

        config_init(&config);
        if (st->sound)
                s = value_load(t, st, &config);
        if (!s)
                return false;

        if (config_setting_is_aggregate(s))
                return config_text_error(t, st->value, "%s has one value, no group or list", name);

        keep = ret_keep && config_setting_type(s) == CONFIG_TYPE_STRING && streq(config_setting_get_string(s), "keep");
        if (!keep)
                r = read_scalar(s, range, &v);
        if (r < 0)
                return complain_value(t, st->value, name, range, r);
        if (r > 0)
                config_text_warning(t, st->value, "%s cannot be exactly \"%s\", it becomes %s", name,
                                    TOKEN_QUOTED(t, st->value), value_format(range, &v, text));

        *ret = v;
        if (ret_keep)
                *ret_keep = keep;
        return true;
}
