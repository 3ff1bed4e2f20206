/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fnmatch.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

#include "text.h"
#include "visit-request.h"
#include "wire.h"

/* A longer text is cut: none that anything but a message depends on is as long. */
#define TEXT_MAX 512U

/* clang-format off */
/* udev's properties and links stay behind. */
static const WireField drive_fields[] = {
        WIRE_POINTER(Drive, name, TEXT_MAX),
        WIRE_POINTER(Drive, node, TEXT_MAX),
        WIRE_POINTER(Drive, syspath, TEXT_MAX),
        WIRE_POINTER(Drive, model, TEXT_MAX),
        WIRE_POINTER(Drive, serial, TEXT_MAX),
        WIRE_POINTER(Drive, wwn, TEXT_MAX),
        WIRE_POINTER(Drive, firmware, TEXT_MAX),
        WIRE_POINTER(Drive, vendor, TEXT_MAX),
        WIRE_POINTER(Drive, dock_model, TEXT_MAX),
        WIRE_POINTER(Drive, dock_serial, TEXT_MAX),
        WIRE_WORD(Drive, transport, _TRANSPORT_MAX),
        WIRE(Drive, rotational, WIRE_BOOL),
        WIRE(Drive, removable, WIRE_BOOL),
        WIRE(Drive, rotational_untold, WIRE_BOOL),
        WIRE(Drive, removable_untold, WIRE_BOOL),
        WIRE(Drive, raid, WIRE_BOOL),
        WIRE(Drive, optical, WIRE_BOOL),
        WIRE(Drive, ata, WIRE_BOOL),
        WIRE(Drive, size, WIRE_NUMBER),
        WIRE(Drive, diskseq, WIRE_NUMBER),
        WIRE(Drive, plugged, WIRE_BOOL),
        WIRE(Drive, identified, WIRE_BOOL),
        {}
};

static const WireField visit_fields[] = {
        WIRE_WORD(Visit, work, _WORK_MAX),
        WIRE(Visit, active, WIRE_BOOL),
        WIRE(Visit, ata_sleep, WIRE_BOOL),
        {}
};

static const WireField wishes_fields[] = {
        WIRE(Wishes, n_items, WIRE_SIZE),
        {}
};

static const WireField wish_fields[] = {
        WIRE_POINTER(Wish, name, 64),
        WIRE_PART(Wish, value, wire_value),
        WIRE(Wish, withheld, WIRE_BOOL),
        WIRE(Wish, allow_dangerous, WIRE_BOOL),
        WIRE(Wish, permanent, WIRE_BOOL),
        WIRE(Wish, optional, WIRE_BOOL),
        WIRE(Wish, wake, WIRE_BOOL),
        WIRE_WORD(Wish, spindown_by, _SPINDOWN_BY_MAX),
        WIRE(Wish, wake_together, WIRE_BOOL),
        WIRE(Wish, commands_are_use, WIRE_BOOL),
        WIRE_POINTER(Wish, file, TEXT_MAX),
        WIRE(Wish, line, WIRE_INT),
        WIRE(Wish, column, WIRE_INT),
        {}
};

static const WireField memory_fields[] = {
        WIRE_PART(Memory, sent, wire_known),
        WIRE_PART(Memory, settled, wire_known),
        WIRE_PART(Memory, read, wire_known),
        WIRE_ARRAY(Memory, overruled),
        WIRE_ARRAY(Memory, quarantined),
        {}
};
/* clang-format on */

const char *build_identity(void) {
        static char identity[BUILD_MAX];
        struct stat st = {};

        if (identity[0])
                return identity;

        /* Another build is another file, also while this one has no name any more. */
        (void) stat("/proc/self/exe", &st);
        (void) snprintf(identity, sizeof identity, DRIVEKEEP_VERSION " (build %jx-%jx)", (uintmax_t) st.st_ino,
                        (uintmax_t) st.st_mtim.tv_sec * 1000000000 + (uintmax_t) st.st_mtim.tv_nsec);
        return identity;
}

/* The build, which comes first in every build; the drive, its bridge, the visit, the number of wishes, and each wish with its memory. */
static size_t request_size(size_t n_wishes) {
        return BUILD_MAX + wire_size(drive_fields) + wire_size(wire_bridge) + wire_size(visit_fields) +
               wire_size(wishes_fields) + n_wishes * (wire_size(wish_fields) + wire_size(memory_fields));
}

/* ---- writing ---- */

int visit_request_new(const Visit *v, void **ret, size_t *ret_size) {
        size_t size = request_size(v->wishes->n_items);
        uint8_t *request, *at;

        if (size > VISIT_REQUEST_MAX_BYTES)
                return -E2BIG;
        request = calloc(1, size);
        if (!request)
                return -ENOMEM;

        (void) strcpy((char *) request, build_identity());
        at = wire_write(drive_fields, v->drive, request + BUILD_MAX);
        at = wire_write(wire_bridge, v->bridge ?: &(const Bridge){}, at);
        at = wire_write(visit_fields, v, at);
        at = wire_write(wishes_fields, v->wishes, at);
        for (size_t i = 0; i < v->wishes->n_items; i++) {
                at = wire_write(wish_fields, v->wishes->items + i, at);
                at = wire_write(memory_fields, v->memories ? v->memories + i : &(const Memory){}, at);
        }

        *ret = request;
        *ret_size = size;
        return 0;
}

/* ---- reading ---- */

/* A disk is below "block", and a namespace right below its controller or subsystem. A partition is below its disk. */
static bool syspath_is_valid(const char *path) {
        static const char disk[] = "/sys/devices/*/@(block|nvme+([0-9])|nvme-subsys+([0-9]))/+([!/])";

        return fnmatch(disk, path, FNM_EXTMATCH) == 0 && !strstr(path, "//") && !strstr(path, "/./") &&
               !strstr(path, "/../");
}

/* Such paths as the inventory makes. */
static bool drive_paths_are_valid(const Drive *d) {
        return d->name && d->node && d->syspath && syspath_is_valid(d->syspath) &&
               streq(base_name(d->syspath), d->name) && text_is_name(d->name) && drive_name_is_kept(d->name) &&
               starts_with(d->node, "/dev/") && streq(d->node + strlen("/dev/"), d->name);
}

/* The manager read the value from a file. The worker checks again that a file can name it. */
static bool wish_is_valid(Wish *w, const SettingTable *settings, const Drive *d) {
        const Setting *s = w->name ? setting_find(settings, w->name) : NULL;

        if (!s)
                return false;
        w->name = s->name;
        w->file = w->file ?: "";
        s = setting_for_backends(settings, s->name, drive_backends(d));
        return !s || w->withheld || value_has_exact_text(&s->range, &w->value);
}

int visit_request_parse(const void *request, size_t size, const SettingTable *settings, VisitRequest *ret) {
        const uint8_t *at = (const uint8_t *) request + BUILD_MAX;

        if (size < BUILD_MAX)
                return -EBADMSG;
        if (strncmp(request, build_identity(), BUILD_MAX) != 0)
                return -EPROTONOSUPPORT;
        if (size < request_size(0))
                return -EBADMSG;

        *ret = (VisitRequest){ .wishes.items = ret->items };
        ret->visit = (Visit){ .drive = &ret->drive,
                              .wishes = &ret->wishes,
                              .memories = ret->memories,
                              .settings = settings,
                              .bridge = &ret->bridge };
        at = wire_read(drive_fields, at, &ret->drive);
        at = at ? wire_read(wire_bridge, at, &ret->bridge) : NULL;
        at = at ? wire_read(visit_fields, at, &ret->visit) : NULL;
        at = at ? wire_read(wishes_fields, at, &ret->wishes) : NULL;
        if (!at || ret->wishes.n_items > ELEMENTSOF(ret->items) || size != request_size(ret->wishes.n_items) ||
            !drive_paths_are_valid(&ret->drive) || !bridge_is_valid(&ret->bridge))
                return -EBADMSG;

        for (size_t i = 0; i < ret->wishes.n_items; i++) {
                at = wire_read(wish_fields, at, ret->items + i);
                at = at ? wire_read(memory_fields, at, ret->memories + i) : NULL;
                if (!at || !wish_is_valid(ret->items + i, settings, &ret->drive))
                        return -EBADMSG;
        }
        return 0;
}
