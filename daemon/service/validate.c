/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>

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

/* ---- paths ---- */

#define DEVICES "/sys/devices/"

/* The kernel's names of disks: "sda", "nvme0n1", "md_d0". */
static bool name_is_valid(const char *name) {
        static const char more[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";

        return isalnum((unsigned char) *name) && !name[strspn(name, more)] && drive_name_is_kept(name);
}

/* No step is empty, ".", or "..". Returns the last one, and the one before it or NULL. */
static const char *last_step(const char *path, const char **ret_before) {
        for (*ret_before = NULL;;) {
                size_t n = strcspn(path, "/");

                if (n == 0 || (n <= 2 && strncmp(path, "..", n) == 0))
                        return NULL;
                if (!path[n])
                        return path;
                *ret_before = path;
                path += n + 1;
        }
}

/* A namespace is right below its controller or subsystem. A partition is below its disk. */
static bool holds_disks(const char *step) {
        static const char *const ports[] = { "nvme", "nvme-subsys" };

        for (size_t i = 0; i < ELEMENTSOF(ports); i++) {
                size_t n = strlen(ports[i]), digits = starts_with(step, ports[i]) ? strspn(step + n, "0123456789") : 0;

                if (digits > 0 && step[n + digits] == '/')
                        return true;
        }
        return starts_with(step, "block/");
}

bool drive_paths_are_valid(const Drive *d) {
        const char *step, *before;

        if (!d->name || !d->node || !d->syspath || !name_is_valid(d->name) || !starts_with(d->node, "/dev/") ||
            !streq(d->node + strlen("/dev/"), d->name) || !starts_with(d->syspath, DEVICES))
                return false;

        step = last_step(d->syspath + strlen(DEVICES), &before);
        return step && before && holds_disks(before) && streq(step, d->name);
}
