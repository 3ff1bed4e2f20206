/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "choice.h"
#include "inventory.h"
#include "match.h"
#include "output.h"
#include "verb.h"

/* Returns the kernel name of a disk, or NULL if there is no such disk. `argument`: kernel name or device node of the disk or of one of
 * its partitions, or a link to such a node. */
static char *disk_name(const char *argument, const char *root) {
        _cleanup_free_ char *dev = must_format("%s/dev/", root), *path = NULL, *node = NULL, *device = NULL,
                            *directory = NULL, *mark = NULL;

        if (strchr(argument, '/')) {
                path = must_format("%s%s", *argument == '/' ? root : "", argument);
                node = realpath(path, NULL);
                if (!node || !starts_with(node, dev))
                        return NULL;
                argument = node + strlen(dev);
                /* The kernel name of /dev/cciss/c0d0 is cciss!c0d0. */
                for (char *p = strchr(node + strlen(dev), '/'); p; p = strchr(p, '/'))
                        *p = '!';
        }

        device = must_format("%s/sys/class/block/%s", root, argument);
        directory = realpath(device, NULL);
        if (!directory)
                return NULL;

        mark = must_format("%s/partition", directory);
        if (access(mark, F_OK) == 0)
                *strrchr(directory, '/') = '\0'; /* a partition's directory is in its disk's directory */
        return must(strdup(base_name(directory)));
}

/* Escapes the serial number before the comparison, so that `argument` can be a copy from drivekeep's output. */
static bool serial_matches(const char *serial, const char *argument) {
        _cleanup_free_ char *shown = serial ? must(text_escape(serial, NULL)) : NULL;

        return shown && streq(shown, argument);
}

/* Skips the prefixes of a WWN, which can be written 0x5000c500…, naa.5000c500…, wwn-0x5000c500… or 5000C500…. */
static const char *wwn_digits(const char *wwn) {
        static const char *const prefixes[] = { "wwn-", "nvme-", "naa.", "eui.", "0x" };

        for (size_t i = 0; i < ELEMENTSOF(prefixes); i++)
                if (strncasecmp(wwn, prefixes[i], strlen(prefixes[i])) == 0)
                        wwn += strlen(prefixes[i]);

        return wwn;
}

static bool wwn_matches(const char *wwn, const char *argument) {
        return wwn && strcasecmp(wwn_digits(wwn), wwn_digits(argument)) == 0;
}

int candidate_find(const Candidate *candidates, size_t n, const char *argument, const char *root) {
        _cleanup_free_ char *disk = disk_name(argument, root);
        int found = -ENODEV;

        for (size_t i = 0; i < n; i++)
                if (streq(candidates[i].name, argument) || streq_ptr(candidates[i].name, disk))
                        return (int) i;

        for (size_t i = 0; i < n; i++)
                if (serial_matches(candidates[i].serial, argument) || wwn_matches(candidates[i].wwn, argument))
                        found = found == -ENODEV ? (int) i : -ENOTUNIQ;
        return found;
}

/* Returns the name, serial number or WWN that is most similar to `argument`, or NULL if none is similar. Returns a word of up to four
 * letters only if it equals `argument` apart from case, '-' and '_', because all short kernel names are similar to each other. */
static const char *candidate_nearest(const Candidate *candidates, size_t n, const char *argument) {
        Nearest nearest = { .typed = starts_with(argument, "/dev/") ? argument + strlen("/dev/") : argument };

        for (const Candidate *c = candidates; c < candidates + n; c++) {
                nearest_offer(&nearest, c->name);
                nearest_offer(&nearest, c->serial ?: "");
                nearest_offer(&nearest, c->wwn ?: "");
        }
        return nearest.word && (nearest.distance == 0 || strlen(nearest.word) > 4) ? nearest.word : NULL;
}

/* Returns the kernel name of a drive that is attached, but that udev has not identified. NULL: no such drive. */
static char *unidentified_name(const char *argument, const char *root) {
        char *disk = disk_name(argument, root);
        Readiness r;

        if (disk && drive_name_is_managed(disk) && inventory_readiness(disk, &r) >= 0 && !r.initialized)
                return disk;
        free(disk);
        return NULL;
}

int candidates_choose(Candidate *candidates, size_t n, char *const *arguments, const char *root, size_t *ret_n) {
        int status = EXIT_WANTED;

        for (size_t i = 0; i < n; i++)
                candidates[i].chosen = !arguments;

        for (; arguments && *arguments; arguments++) {
                int i = candidate_find(candidates, n, *arguments, root);
                _cleanup_free_ char *unidentified = NULL;
                const char *nearest;

                if (i >= 0) {
                        candidates[i].chosen = true;
                        continue;
                }
                unidentified = unidentified_name(*arguments, root);
                nearest = candidate_nearest(candidates, n, *arguments);
                if (i == -ENOTUNIQ)
                        warn_escaped("several drives have the serial number or WWN '%s'; name the drive by its node",
                                     *arguments);
                else if (unidentified)
                        warn_escaped("%s: udev has not identified the drive; 'udevadm trigger /dev/%s' tries again",
                                     *arguments, unidentified);
                else if (nearest)
                        warn_escaped("there is no drive '%s'; did you mean '%s'?", *arguments, nearest);
                else
                        warn_escaped("there is no drive '%s'; 'drivekeep list' shows all drives", *arguments);
                status = EXIT_BAD_INPUT;
        }

        *ret_n = 0;
        for (size_t i = 0; i < n; i++)
                if (candidates[i].chosen) {
                        Candidate c = candidates[i];

                        candidates[i] = candidates[*ret_n];
                        candidates[(*ret_n)++] = c;
                }
        return status;
}

int drives_choose(Drive **drives, size_t n, char *const *arguments, size_t *ret_n) {
        _cleanup_free_ Candidate *candidates = must(calloc(MAX(n, 1U), sizeof *candidates));
        int status;

        for (size_t i = 0; i < n; i++)
                candidates[i] = (Candidate){ drives[i]->name, drives[i]->serial, drives[i]->wwn, .item = drives[i] };
        status = candidates_choose(candidates, n, arguments, "", ret_n);
        for (size_t i = 0; i < n; i++)
                drives[i] = candidates[i].item;
        return status;
}

int records_choose(Records *records, char *const *arguments, size_t *ret_n) {
        _cleanup_free_ Candidate *candidates = must(calloc(MAX(records->n_items, 1U), sizeof *candidates));
        int status;

        for (size_t i = 0; i < records->n_items; i++) {
                DriveRecord *d = records->items[i];

                candidates[i] = (Candidate){ d->name, d->serial, d->wwn, .item = d };
        }
        status = candidates_choose(candidates, records->n_items, arguments, "", ret_n);
        for (size_t i = 0; i < records->n_items; i++)
                records->items[i] = candidates[i].item;
        return status;
}

int setting_choose(const SettingTable *t, const char *name) {
        const char *nearest;

        if (setting_find(t, name))
                return EXIT_WANTED;

        nearest = setting_nearest(t, name);
        if (nearest)
                warn_escaped("there is no setting '%s'; did you mean '%s'?", name, nearest);
        else
                warn_escaped("there is no setting '%s'; 'drivekeep settings' lists all settings", name);
        return EXIT_BAD_INPUT;
}

/* ---- --as: a drive from its description ---- */

static int describe_boolean(bool *field, const char *value) {
        *field = streq(value, "true");
        return *field || streq(value, "false") ? 0 : -EINVAL;
}

/* Sets one property. Returns -EEXIST if the property is set already, or -EINVAL for an unknown key or an invalid value. */
static int describe_fact(Drive *d, char *key, const char *value) {
        const Criterion c = { .key = match_key_from_string(key), .property = key };

        /* The key "raid" exists for --as only, and not in `match`. */
        if (streq(key, "raid"))
                return d->raid ? -EEXIST : describe_boolean(&d->raid, value);
        if (c.key == _MATCH_KEY_INVALID)
                return -EINVAL;
        if (c.key == MATCH_TRANSPORT ? d->transport != TRANSPORT_UNKNOWN : match_fact(&c, d) != NULL)
                return -EEXIST;

        switch (c.key) {
        case MATCH_NODE:
                /* The first node is the drive's node; further nodes become links of the drive. */
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
                d->rotational_unknown = false;
                return describe_boolean(&d->rotational, value);
        case MATCH_REMOVABLE:
                d->removable_unknown = false;
                return describe_boolean(&d->removable, value);
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

        d->rotational_unknown = d->removable_unknown = true;
        for (char *key = strtok_r(copy, ",", &saved); key; key = strtok_r(NULL, ",", &saved)) {
                char *value;
                int r;

                key += strspn(key, " ");
                value = strchr(key, '=');
                if (value)
                        *value++ = '\0';

                r = must_not_fail(value ? describe_fact(d, key, value) : -EINVAL);
                if (r >= 0)
                        continue;

                if (r == -EEXIST)
                        warn_escaped("--as: %s is given twice", key);
                else
                        warn_escaped("--as: '%s%s%s' is not a valid KEY=VALUE; drivekeep.conf(5) describes the keys under match",
                                     key, value ? "=" : "", value ?: "");
                return EXIT_BAD_INPUT;
        }

        if (!d->node)
                d->node = must(strdup("a drive"));
        *ret = TAKE_PTR(d);
        return EXIT_WANTED;
}
