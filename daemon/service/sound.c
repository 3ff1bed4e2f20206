/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>

#include "sound.h"

bool bools_are_sound(const void *base, const size_t *offsets, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (((const uint8_t *) base)[offsets[i]] > 1)
                        return false;
        return true;
}

static bool text_ends(const char *text, size_t size) {
        return memchr(text, '\0', size);
}

bool value_is_sound(const Value *v) {
        return v->type >= 0 && v->type < _VALUE_TYPE_MAX && text_ends(v->name, sizeof v->name);
}

bool reading_is_sound(const Reading *r) {
        static const size_t bools[] = {
                offsetof(Reading, supported),
                offsetof(Reading, known),
                offsetof(Reading, repeated),
                offsetof(Reading, saved_known),
        };

        return bools_are_sound(r, bools, ELEMENTSOF(bools)) && value_is_sound(&r->value) && value_is_sound(&r->saved);
}

bool memory_is_sound(const Memory *m) {
        static const size_t bools[] = { offsetof(Memory, sent), offsetof(Memory, adjusted), offsetof(Memory, read) };

        return bools_are_sound(m, bools, ELEMENTSOF(bools)) && value_is_sound(&m->value) &&
               value_is_sound(&m->settled) && text_ends(m->overruled, sizeof m->overruled) &&
               text_ends(m->quarantined, sizeof m->quarantined);
}

bool bridge_is_sound(const Bridge *b) {
        static const size_t bools[] = {
                offsetof(Bridge, asked),
                offsetof(Bridge, identified),
                offsetof(Bridge, without_sat),
                offsetof(Bridge, without_registers),
                offsetof(Bridge, repeats_identify),
                offsetof(Bridge, fragile),
        };

        return bools_are_sound(b, bools, ELEMENTSOF(bools)) && (b->cdb == 0 || b->cdb == 12 || b->cdb == 16);
}

bool identity_is_sound(const DriveIdentity *i) {
        return text_ends(i->model, sizeof i->model) && text_ends(i->serial, sizeof i->serial) &&
               text_ends(i->firmware, sizeof i->firmware) && text_ends(i->wwn, sizeof i->wwn);
}

/* ---- paths ---- */

#define DEVICES "/sys/devices/"

/* The kernel's names of disks: "sda", "nvme0n1", "cciss/c0d0", "etherd/e1.0". */
static bool name_is_sound(const char *name) {
        for (const char *p = name;; p++) {
                if (!isalnum((unsigned char) *p))
                        return false;
                p += strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-");
                if (*p != '/')
                        return *p == '\0';
        }
}

/* No step is empty, ".", or "..". Returns the last one. */
static const char *last_step(const char *path) {
        for (;;) {
                size_t n = strcspn(path, "/");

                if (n == 0 || (n <= 2 && strncmp(path, "..", n) == 0))
                        return NULL;
                if (!path[n])
                        return path;
                path += n + 1;
        }
}

/* In sysfs "cciss/c0d0" is "cciss!c0d0". */
static bool is_step_of(const char *step, const char *name) {
        for (; *step && *name; step++, name++)
                if (*step != (*name == '/' ? '!' : *name))
                        return false;
        return *step == *name;
}

bool drive_paths_are_sound(const Drive *d) {
        const char *step;

        if (!d->name || !d->node || !d->syspath || !name_is_sound(d->name) || !starts_with(d->node, "/dev/") ||
            !streq(d->node + strlen("/dev/"), d->name) || !starts_with(d->syspath, DEVICES))
                return false;

        /* What it hangs on comes first. */
        step = last_step(d->syspath + strlen(DEVICES));
        return step && step > d->syspath + strlen(DEVICES) && is_step_of(step, d->name);
}
