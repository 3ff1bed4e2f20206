/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fnmatch.h>

#include "text.h"
#include "validate.h"

bool bools_are_valid(const bool *first, const bool *last) {
        for (const uint8_t *p = (const uint8_t *) first; p <= (const uint8_t *) last; p++)
                if (*p > 1)
                        return false;
        return true;
}

bool text_ends(const char *text, size_t size) {
        return memchr(text, '\0', size);
}

bool value_is_valid(const Value *v) {
        return v->type >= 0 && v->type < _VALUE_TYPE_MAX && text_ends(v->name, sizeof v->name);
}

bool reading_is_valid(const Reading *r) {
        return bools_are_valid(&r->supported, &r->known) && bools_are_valid(&r->repeated, &r->saved_known) &&
               value_is_valid(&r->value) && value_is_valid(&r->saved);
}

bool memory_is_valid(const Memory *m) {
        return bools_are_valid(&m->sent.known, &m->sent.known) &&
               bools_are_valid(&m->settled.known, &m->settled.known) &&
               bools_are_valid(&m->read.known, &m->read.known) && text_ends(m->overruled, sizeof m->overruled) &&
               text_ends(m->quarantined, sizeof m->quarantined);
}

bool wear_is_valid(const Wear *w) {
        const KnownNumber *numbers[] = { &w->load_cycles, &w->start_stops, &w->rated_load_cycles,
                                         &w->rated_start_stops };

        for (size_t i = 0; i < ELEMENTSOF(numbers); i++)
                if (!bools_are_valid(&numbers[i]->known, &numbers[i]->known) || numbers[i]->number < 0)
                        return false;
        return bools_are_valid(&w->temperature.known, &w->temperature.known);
}

bool bridge_is_valid(const Bridge *b) {
        return bools_are_valid(&b->asked, &b->fragile) && (b->cdb == 0 || b->cdb == 12 || b->cdb == 16);
}

bool identity_is_valid(const DriveIdentity *i) {
        return text_ends(i->model, sizeof i->model) && text_ends(i->serial, sizeof i->serial) &&
               text_ends(i->firmware, sizeof i->firmware) && text_ends(i->wwn, sizeof i->wwn);
}

/* A disk is below "block", and a namespace right below its controller or subsystem. A partition is below its disk. */
static bool syspath_is_valid(const char *path) {
        static const char disk[] = "/sys/devices/*/@(block|nvme+([0-9])|nvme-subsys+([0-9]))/+([!/])";

        return fnmatch(disk, path, FNM_EXTMATCH) == 0 && !strstr(path, "//") && !strstr(path, "/./") &&
               !strstr(path, "/../");
}

bool drive_paths_are_valid(const Drive *d) {
        return d->name && d->node && d->syspath && syspath_is_valid(d->syspath) &&
               streq(base_name(d->syspath), d->name) && text_is_name(d->name) && drive_name_is_kept(d->name) &&
               starts_with(d->node, "/dev/") && streq(d->node + strlen("/dev/"), d->name);
}
