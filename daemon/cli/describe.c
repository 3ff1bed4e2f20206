/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "choice.h"
#include "match.h"
#include "output.h"
#include "verb.h"

static int set_text(char **field, const char *value) {
        if (*field)
                return -EEXIST;

        *field = must(strdup(value));
        return 0;
}

static int set_boolean(bool *field, bool *untold, const char *value) {
        if (!*untold)
                return -EEXIST;
        if (!STR_IN_SET(value, "true", "false"))
                return -EINVAL;

        *field = streq(value, "true");
        *untold = false;
        return 0;
}

/* -EEXIST: this was said before, and a drive has one of it; -EINVAL: it is nothing that can be said of a drive. */
static int set_fact(Drive *d, const char *key, const char *value) {
        bool raid_untold = !d->raid;

        /* No key of a match. */
        if (streq(key, "raid"))
                return set_boolean(&d->raid, &raid_untold, value);

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
                if (d->transport != TRANSPORT_UNKNOWN)
                        return -EEXIST;
                d->transport = transport_from_string(value);
                return d->transport == _TRANSPORT_INVALID ? -EINVAL : 0;
        case MATCH_ROTATIONAL:
                return set_boolean(&d->rotational, &d->rotational_untold, value);
        case MATCH_REMOVABLE:
                return set_boolean(&d->removable, &d->removable_untold, value);
        case MATCH_PROPERTY:
                return drive_property(d, key) ? -EEXIST : drive_add_property(d, key, value);
        case _MATCH_KEY_MAX:
        case _MATCH_KEY_INVALID:
                break;
        }

        return -EINVAL;
}

int drive_describe(const char *description, Drive **ret) {
        _cleanup_free_ char *copy = must(strdup(description));
        _cleanup_(drive_freep) Drive *d = must(calloc(1, sizeof *d));
        char *saved;

        d->rotational_untold = d->removable_untold = true;
        for (char *key = strtok_r(copy, ",", &saved); key; key = strtok_r(NULL, ",", &saved)) {
                char *value;
                int r;

                key += strspn(key, " ");
                value = strchr(key, '=');
                if (value)
                        *value++ = '\0';

                r = must_not_fail(value ? set_fact(d, key, value) : -EINVAL);
                if (r >= 0)
                        continue;

                if (r == -EEXIST)
                        warn_escaped("--as says %s twice, and a drive has one of them", key);
                else
                        warn_escaped("'%s%s%s' is nothing that can be said of a drive: write KEY=VALUE, with the keys of match in drivekeep.conf(5)",
                                     key, value ? "=" : "", value ?: "");
                return EXIT_BAD_INPUT;
        }

        if (!d->node)
                d->node = must(strdup("a drive"));
        *ret = TAKE_PTR(d);
        return EXIT_WANTED;
}
