/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "choice.h"
#include "match.h"
#include "output.h"
#include "verb.h"

static int set_boolean(bool *field, const char *value) {
        *field = streq(value, "true");
        return *field || streq(value, "false") ? 0 : -EINVAL;
}

/* -EEXIST: this was said before, and a drive has one of it; -EINVAL: it is nothing that can be said of a drive. */
static int set_fact(Drive *d, char *key, const char *value) {
        const Criterion c = { .key = match_key_from_string(key), .property = key };

        /* No key of a match. */
        if (streq(key, "raid"))
                return d->raid ? -EEXIST : set_boolean(&d->raid, value);
        if (c.key == _MATCH_KEY_INVALID)
                return -EINVAL;
        if (c.key == MATCH_TRANSPORT ? d->transport != TRANSPORT_UNKNOWN : match_fact(&c, d) != NULL)
                return -EEXIST;

        switch (c.key) {
        case MATCH_NODE:
                /* More of them are its links. */
                return d->node ? drive_add_link(d, value, LINK_OWN) : string_replace(&d->node, value);
        case MATCH_MODEL:
                return string_replace(&d->model, value);
        case MATCH_SERIAL:
                return string_replace(&d->serial, value);
        case MATCH_WWN:
                return string_replace(&d->wwn, value);
        case MATCH_FIRMWARE:
                return string_replace(&d->firmware, value);
        case MATCH_VENDOR:
                return string_replace(&d->vendor, value);
        case MATCH_TRANSPORT:
                d->transport = transport_from_string(value);
                return d->transport == _TRANSPORT_INVALID ? -EINVAL : 0;
        case MATCH_ROTATIONAL:
                d->rotational_untold = false;
                return set_boolean(&d->rotational, value);
        case MATCH_REMOVABLE:
                d->removable_untold = false;
                return set_boolean(&d->removable, value);
        case MATCH_PROPERTY:
                return drive_add_property(d, key, value);
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
