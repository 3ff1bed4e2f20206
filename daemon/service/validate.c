/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <regex.h>

#include "validate.h"

bool bools_are_valid(const void *base, const size_t *offsets, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (((const uint8_t *) base)[offsets[i]] > 1)
                        return false;
        return true;
}

static bool text_ends(const char *text, size_t size) {
        return memchr(text, '\0', size);
}

bool value_is_valid(const Value *v) {
        return v->type >= 0 && v->type < _VALUE_TYPE_MAX && text_ends(v->name, sizeof v->name);
}

bool reading_is_valid(const Reading *r) {
        static const size_t bools[] = {
                offsetof(Reading, supported),
                offsetof(Reading, known),
                offsetof(Reading, repeated),
                offsetof(Reading, saved_known),
        };

        return bools_are_valid(r, bools, ELEMENTSOF(bools)) && value_is_valid(&r->value) && value_is_valid(&r->saved);
}

bool memory_is_valid(const Memory *m) {
        static const size_t bools[] = { offsetof(Memory, sent.known), offsetof(Memory, settled.known),
                                        offsetof(Memory, read.known) };

        return bools_are_valid(m, bools, ELEMENTSOF(bools)) && text_ends(m->overruled, sizeof m->overruled) &&
               text_ends(m->quarantined, sizeof m->quarantined);
}

bool bridge_is_valid(const Bridge *b) {
        static const size_t bools[] = {
                offsetof(Bridge, asked),
                offsetof(Bridge, identified),
                offsetof(Bridge, without_sat),
                offsetof(Bridge, without_registers),
                offsetof(Bridge, repeats_identify),
                offsetof(Bridge, fragile),
        };

        return bools_are_valid(b, bools, ELEMENTSOF(bools)) && (b->cdb == 0 || b->cdb == 12 || b->cdb == 16);
}

bool identity_is_valid(const DriveIdentity *i) {
        return text_ends(i->model, sizeof i->model) && text_ends(i->serial, sizeof i->serial) &&
               text_ends(i->firmware, sizeof i->firmware) && text_ends(i->wwn, sizeof i->wwn);
}

/* The kernel's names of disks: "sda", "nvme0n1", "md_d0". */
static bool name_is_valid(const char *name) {
        static const char more[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";

        return isalnum((unsigned char) *name) && !name[strspn(name, more)] && drive_name_is_kept(name);
}

/* A disk is below "block", and a namespace right below its controller or subsystem. A partition is below its disk. */
static bool syspath_is_valid(const char *path, const char *name) {
        static const char disk[] = "^/sys/devices/([^/]+/)*(block|nvme[0-9]+|nvme-subsys[0-9]+)/[^/]+$";
        regex_t regex;
        bool matches;

        if (regcomp(&regex, disk, REG_EXTENDED | REG_NOSUB) != 0)
                return false;
        matches = regexec(&regex, path, 0, NULL, 0) == 0;
        regfree(&regex);
        return matches && !strstr(path, "/./") && !strstr(path, "/../") && streq(base_name(path), name);
}

bool drive_paths_are_valid(const Drive *d) {
        return d->name && d->node && d->syspath && name_is_valid(d->name) && starts_with(d->node, "/dev/") &&
               streq(d->node + strlen("/dev/"), d->name) && syspath_is_valid(d->syspath, d->name);
}
