/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads match = …, which selects the drives of a block. */

#include <fnmatch.h>

#include "config-reader.h"
#include "text.h"

/* Complains about a pattern that is not a path, and proposes a path if the pattern is the name of a disk or a link. */
static bool complain_node(ConfigText *t, size_t token, const char *pattern) {
        static const struct {
                const char *glob, *directory;
        } names[] = {
                { "disk/by-*", "/dev/" },
                { "by-*/*", "/dev/disk/" },
                { "@(ata|mmc|nvme|scsi|usb|wwn)-*", "/dev/disk/by-id/" },
                { "@(sd|hd|vd|xvd)[][a-z*?]*", "/dev/" },
                { "@(nvme|mmcblk|md|sr)[0-9]*", "/dev/" },
        };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (fnmatch(names[i].glob, pattern, FNM_EXTMATCH) == 0 && !t->tokens[token].secret)
                        return config_text_error(t, token, "a node or link begins with /dev/: write \"%s%s\"",
                                                 names[i].directory, pattern);

        return config_text_error(t, token, "a node or link begins with /dev/ (for every drive write match = {})");
}

static bool complain_transport(ConfigText *t, size_t token, const char *pattern) {
        Nearest n = { .typed = pattern };

        for (Transport i = 0; i < _TRANSPORT_MAX; i++)
                nearest_offer(&n, transport_to_string(i));
        if (n.word)
                return config_text_error(t, token, "\"%s\" is not a transport; did you mean \"%s\"?",
                                         TOKEN_QUOTED(t, token), n.word);

        return config_text_error(
                        t, token,
                        "\"%s\" is not a transport; the transports are sata, pata, usb, sas, scsi, nvme, mmc, virtio, "
                        "virtual and unknown",
                        TOKEN_QUOTED(t, token));
}

static bool complain_key(ConfigText *t, size_t token, const char *name) {
        /* The names that lsblk, udev, smartctl and other programs have for each match key. */
        static const struct {
                const char *words;
                MatchKey key;
        } others[] = {
                { "bus tran type interface protocol subsystem connection", MATCH_TRANSPORT },
                { "device dev disk drive path name kname kernel id link by_id devlinks", MATCH_NODE },
                { "hdd rota rotating spinning", MATCH_ROTATIONAL },
                { "product model_name device_model", MATCH_MODEL },
                { "manufacturer make", MATCH_VENDOR },
                { "sn serial_number", MATCH_SERIAL },
                { "rev revision fw firmware_version", MATCH_FIRMWARE },
                { "hotplug removeable", MATCH_REMOVABLE },
        };
        Nearest n = { .typed = name };

        for (MatchKey k = 0; k < MATCH_PROPERTY; k++)
                nearest_offer(&n, match_key_to_string(k));
        for (size_t i = 0; !n.word && i < ELEMENTSOF(others); i++)
                if (text_has_word(others[i].words, name))
                        n.word = match_key_to_string(others[i].key);
        if (n.word)
                return config_text_error(t, token, "\"%s\" is not a match key; did you mean \"%s\"?", name, n.word);

        return config_text_error(t, token,
                                 "\"%s\" is not a match key; the keys are node, model, serial, wwn, firmware, "
                                 "vendor, transport, rotational, removable and udev properties in capitals",
                                 name);
}

static bool complain_pattern(ConfigText *t, size_t token, MatchKey key, const char *pattern) {
        /* Adjacent strings form one value, so a missing comma between two patterns makes an invalid pattern. */
        if (t->tokens[token + 1].type == TOKEN_STRING)
                return config_text_error(t, token + 1, "a comma is missing before this pattern");

        switch (key) {
        case MATCH_NODE:
                return complain_node(t, token, pattern);
        case MATCH_TRANSPORT:
                return complain_transport(t, token, pattern);
        default:
                return config_text_error(t, token, "a pattern has between 1 and 512 characters");
        }
}

/* Reads one pattern: a string, or a boolean for keys such as rotational. */
static bool read_pattern(Reader *r, size_t token, MatchKey key, const char *property, Match *m) {
        static const ValueRange boolean = { .type = VALUE_BOOL };
        _cleanup_free_ char *text = NULL;
        const char *pattern, *brace;
        Value v;
        int k;

        if (key == MATCH_ROTATIONAL || key == MATCH_REMOVABLE) {
                if (!reader_value(r, token, match_key_to_string(key), &boolean, &v, NULL))
                        return false;
                pattern = v.number ? "true" : "false";
        } else {
                pattern = text = reader_string(r, token);
                if (!text)
                        return false;
        }

        k = match_add(m, key, property, pattern);
        if (k == -EINVAL)
                return complain_pattern(r->text, token, key, pattern);
        if (k < 0) {
                r->config->complaints.error = k;
                return false;
        }

        /* Warn of characters that are special in a shell or a regular expression, but literal in fnmatch(3). */
        brace = strchr(pattern, '{');
        if (brace && strchr(brace, ',') && strchr(brace, '}'))
                config_text_warning(r->text, token,
                                    "braces have no special meaning in a pattern; write alternatives as a list: "
                                    "(\"...\", \"...\")");
        else if (key != MATCH_NODE && strchr(pattern, '|'))
                config_text_warning(r->text, token,
                                    "\"|\" has no special meaning in a pattern; write alternatives as a list: "
                                    "(\"...\", \"...\")");
        else if (key != MATCH_NODE && (strstr(pattern, ".*") || *pattern == '^'))
                config_text_warning(r->text, token,
                                    "a pattern is a glob, not a regular expression: \"*\" alone matches any text");
        return true;
}

/* Reads the patterns of a criterion: one pattern, a list or an array. A drive matches if one of the patterns matches. */
static bool read_patterns(Reader *r, size_t value, MatchKey key, const char *property, Match *m) {
        TokenType end = token_type(r, value) == TOKEN_LIST ? TOKEN_LIST_END : TOKEN_ARRAY_END;

        if (token_type(r, value) >= TOKEN_END)
                return read_pattern(r, value, key, property, m);
        if (token_type(r, value + 1) == end)
                return config_text_error(r->text, value, "an empty list matches no drive");

        for (size_t i = value + 1; token_type(r, i) != end;) {
                if (token_type(r, i) == TOKEN_COMMA)
                        return reader_is_twice(r, i) ? reader_complain_twice(r, i)
                                                     : config_text_error(r->text, i,
                                                                         "a pattern is missing before this comma");
                if (!read_pattern(r, i++, key, property, m))
                        return false;
                if (token_type(r, i) == TOKEN_STRING)
                        config_text_warning(
                                        r->text, i,
                                        "this string is joined to the previous one; is a comma missing between them?");
                while (token_type(r, i) == TOKEN_STRING)
                        i++;

                if (token_type(r, i) == TOKEN_COMMA)
                        i++;
                else if (token_type(r, i) != end)
                        return config_text_error(r->text, i, "a comma is missing before this pattern");
        }

        return true;
}

/* Reads one statement of match = { … }. */
static bool read_criterion(Reader *r, size_t name, size_t value, Match *m) {
        char text[TOKEN_TEXT_MAX];
        MatchKey key = match_key_from_string(token_copy(r->text, name, text));
        size_t n = m->n_criteria;

        if (key >= 0)
                return read_patterns(r, value, key, key == MATCH_PROPERTY ? text : NULL, m) &&
                       (m->n_criteria > n ||
                        config_text_error(r->text, name, "\"%s\" is given twice in this match", text));

        return complain_key(r->text, name, text);
}

/* Reads the statements of match = { … }. */
static bool read_criteria(Reader *r, size_t i, size_t end, Match *m) {
        bool sound = true;

        while ((i = skip_separators(r, i)) < end) {
                size_t name = i;

                i = reader_statement(r, name, end);
                if (i == 0)
                        return false;
                sound = read_criterion(r, name, name + 2, m) && sound;
        }

        return sound;
}

bool reader_match(Reader *r, size_t value, Match *m) {
        if (token_type(r, value) == TOKEN_GROUP)
                return read_criteria(r, value + 1, reader_find_closing(r, value + 1), m);
        return read_patterns(r, value, MATCH_NODE, NULL, m);
}
