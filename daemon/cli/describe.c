/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "describe.h"
#include "match.h"
#include "warning.h"

static int set_text(char **field, const char *value) {
        char *copy = strdup(value);

        if (!copy)
                return -ENOMEM;
        free(*field);
        *field = copy;
        return 0;
}

static int set_boolean(bool *field, bool *untold, const char *value) {
        if (!streq(value, "true") && !streq(value, "false"))
                return -EINVAL;
        *field = streq(value, "true");
        *untold = false;
        return 0;
}

static int set_fact(Drive *d, const char *key, const char *value) {
        bool none;

        if (streq(key, "raid"))
                return set_boolean(&d->raid, &none, value);

        switch (match_key_from_string(key)) {
        case MATCH_NODE:
                /* More of them are its links. */
                return d->node ? drive_add_link(d, value, LINK_OWN) : set_text(&d->node, value);
        case MATCH_MODEL:
                return set_text(&d->model, value);
        case MATCH_SERIAL:
                return set_text(&d->serial, value);
        case MATCH_WWN:
                return set_text(&d->wwn, value);
        case MATCH_FIRMWARE:
                return set_text(&d->firmware, value);
        case MATCH_VENDOR:
                return set_text(&d->vendor, value);
        case MATCH_TRANSPORT:
                d->transport = transport_from_string(value);
                return d->transport == _TRANSPORT_INVALID ? -EINVAL : 0;
        case MATCH_ROTATIONAL:
                return set_boolean(&d->rotational, &d->rotational_untold, value);
        case MATCH_REMOVABLE:
                return set_boolean(&d->removable, &d->removable_untold, value);
        case MATCH_PROPERTY:
        case _MATCH_KEY_MAX:
        case _MATCH_KEY_INVALID:
                break;
        }

        /* udev's are in capitals. */
        return strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(key) && *key
                               ? drive_add_property(d, key, value)
                               : -EINVAL;
}

/* A drive has one of each, but many names. `said`: a bit for each fact that there was. */
static bool is_said_again(const Drive *d, const char *key, unsigned *said) {
        MatchKey k = streq(key, "raid") ? _MATCH_KEY_MAX : match_key_from_string(key);
        unsigned bit;

        if (k == MATCH_NODE)
                return false;
        if (k == MATCH_PROPERTY || k == _MATCH_KEY_INVALID)
                return drive_property(d, key);

        bit = 1U << k;
        if (*said & bit)
                return true;
        *said |= bit;
        return false;
}

int drive_describe(const char *description, Drive **ret) {
        _cleanup_free_ char *copy = strdup(description);
        _cleanup_(drive_freep) Drive *d = calloc(1, sizeof *d);
        char *saved, *word;
        unsigned said = 0;
        int r = 0;

        if (!copy || !d)
                return -ENOMEM;

        d->rotational_untold = d->removable_untold = true;
        for (word = strtok_r(copy, ",", &saved); word && r >= 0; word = strtok_r(NULL, ",", &saved)) {
                char *value;

                word += strspn(word, " ");
                value = strchr(word, '=');
                if (value)
                        *value++ = '\0';
                if (value && is_said_again(d, word, &said)) {
                        warn_escaped("--as says %s twice, and a drive has one of them", word);
                        return -EINVAL;
                }
                r = value ? set_fact(d, word, value) : -EINVAL;
                if (r == -EINVAL)
                        warn_escaped("'%s%s%s' is nothing that can be said of a drive: write KEY=VALUE, with the keys of match in drivekeep.conf(5)",
                                     word, value ? "=" : "", value ?: "");
        }

        if (r >= 0 && !d->node)
                r = set_text(&d->node, "a drive");
        if (r < 0)
                return r;

        *ret = TAKE_PTR(d);
        return 0;
}
