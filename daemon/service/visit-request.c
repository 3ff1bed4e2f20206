/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

#include "record.h"
#include "validate.h"
#include "visit-request.h"

/* The drive's texts, in the order in which they follow the head (udev's properties stay behind). */
static const size_t drive_texts[] = {
        offsetof(Drive, name),       offsetof(Drive, node),        offsetof(Drive, syspath),  offsetof(Drive, model),
        offsetof(Drive, serial),     offsetof(Drive, wwn),         offsetof(Drive, firmware), offsetof(Drive, vendor),
        offsetof(Drive, dock_model), offsetof(Drive, dock_serial),
};

/* Both ends are one build of the program: plain data crosses as it is, and every pointer in it is NULL. */
typedef struct Head {
        char build[BUILD_MAX]; /* comes first in every build */
        uint32_t n_wishes;
        Drive drive;
        Bridge bridge;
        bool permanent, active, no_wake, ata_sleep, look;
} Head;

typedef struct Item {
        Wish wish; /* its name and file are the texts that follow */
        Memory memory;
} Item;

/* Whoever adds a flag to a Visit finds out here that it must cross. */
_Static_assert(offsetof(Visit, look) - offsetof(Visit, permanent) == 4 * sizeof(bool), "Head has all flags of a Visit");

/* What is between the members of a structure is nobody's, and what points elsewhere crosses as a text. */
static Drive drive_without_pointers(const Drive *d) {
        Drive plain = *d;

        for (size_t i = 0; i < ELEMENTSOF(drive_texts); i++)
                *(char **) ((char *) &plain + drive_texts[i]) = NULL;
        plain.properties = NULL;
        plain.properties_size = 0;
        plain.links = NULL;
        plain.n_links = 0;
        return plain;
}

static Wish wish_without_pointers(const Wish *w) {
        Wish plain = *w;

        plain.name = plain.file = NULL;
        plain.via_stacked = NULL;
        return plain;
}

const char *build_identity(void) {
        static char identity[BUILD_MAX];
        struct stat st = {};

        /* Another build is another file, also while this one has no name any more. */
        (void) stat("/proc/self/exe", &st);
        (void) snprintf(identity, sizeof identity, DRIVEKEEP_VERSION " (build %jx-%jx)", (uintmax_t) st.st_ino,
                        (uintmax_t) st.st_mtim.tv_sec * 1000000000 + (uintmax_t) st.st_mtim.tv_nsec);
        return identity;
}

/* ---- writing ---- */

/* A first byte tells NULL from the empty text. */
static void write_text(FILE *f, const char *text) {
        (void) fputc(text ? '+' : '-', f);
        (void) fwrite(text ?: "", (text ? strlen(text) : 0) + 1, 1, f);
}

static void write_request(FILE *f, const Visit *v) {
        Head h = {
                .n_wishes = v->wishes->n_items,
                .drive = drive_without_pointers(v->drive),
                .permanent = v->permanent,
                .active = v->active,
                .no_wake = v->no_wake,
                .ata_sleep = v->ata_sleep,
                .look = v->look,
        };

        (void) strcpy(h.build, build_identity());
        if (v->bridge)
                h.bridge = *v->bridge;
        (void) fwrite(&h, sizeof h, 1, f);

        for (size_t i = 0; i < ELEMENTSOF(drive_texts); i++)
                write_text(f, *(char *const *) ((const char *) v->drive + drive_texts[i]));

        for (size_t i = 0; i < v->wishes->n_items; i++) {
                const Wish *w = v->wishes->items + i;
                Item item = { .wish = wish_without_pointers(w) };

                if (v->memories)
                        item.memory = v->memories[i];
                (void) fwrite(&item, sizeof item, 1, f);
                write_text(f, w->name);
                write_text(f, w->file);
        }
}

int visit_request_new(const Visit *v, void **ret, size_t *ret_size) {
        _cleanup_free_ char *bytes = NULL;
        bool failed;
        size_t size;
        FILE *f;

        f = open_memstream(&bytes, &size);
        if (!f)
                return -ENOMEM;
        write_request(f, v);
        failed = ferror(f);
        if (fclose(f) != 0 || failed)
                return -ENOMEM;
        if (size > VISIT_REQUEST_MAX_BYTES)
                return -E2BIG;

        *ret = TAKE_PTR(bytes);
        *ret_size = size;
        return 0;
}

/* ---- reading ---- */

typedef struct Cursor {
        const char *at;
        size_t left;
} Cursor;

static int cursor_read(Cursor *c, void *ret, size_t n) {
        if (c->left < n)
                return -EBADMSG;
        memcpy(ret, c->at, n);
        c->at += n;
        c->left -= n;
        return 0;
}

static int cursor_read_text(Cursor *c, const char **ret) {
        const char *end;

        if (c->left < 2 || (*c->at != '+' && *c->at != '-'))
                return -EBADMSG;
        end = memchr(c->at + 1, '\0', c->left - 1);
        if (!end)
                return -EBADMSG;

        *ret = *c->at == '-' ? NULL : c->at + 1;
        c->left -= end + 1 - c->at;
        c->at = end + 1;
        return 0;
}

static bool head_is_valid(const Head *h) {
        const Drive *d = &h->drive;

        return h->n_wishes <= RECORD_MAX_SETTINGS && bools_are_valid(&d->rotational, &d->ata) &&
               bools_are_valid(&d->identified, &d->identified) && d->transport >= 0 && d->transport < _TRANSPORT_MAX &&
               bridge_is_valid(&h->bridge) && bools_are_valid(&h->permanent, &h->look);
}

static bool item_is_valid(const Item *i) {
        return bools_are_valid(&i->wish.withheld, &i->wish.wake) && value_is_valid(&i->wish.value) &&
               memory_is_valid(&i->memory);
}

static int read_drive(Cursor *c, const Head *h, Drive *ret) {
        *ret = drive_without_pointers(&h->drive);
        for (size_t i = 0; i < ELEMENTSOF(drive_texts); i++) {
                int r = cursor_read_text(c, (const char **) ((char *) ret + drive_texts[i]));

                if (r < 0)
                        return r;
        }

        return drive_paths_are_valid(ret) ? 0 : -EBADMSG;
}

/* A value that the row allows: the manager has read it from a file, and a worker does not take its word for that. */
static bool value_is_allowed(const ValueRange *range, const Value *v) {
        if (v->type != range->type)
                return v->type == VALUE_STRIPES && range->stripes && v->number > 0 && v->number <= VALUE_STRIPES_MAX;

        switch (v->type) {
        case VALUE_BOOL:
                return v->number == 0 || v->number == 1;
        case VALUE_STANDBY_TIMER:
                return v->number >= 0 && v->number <= UINT8_MAX;
        case VALUE_NAME:
                return !strchr(v->name, '/') && !strchr(v->name, '\n') && v->name[0];
        case VALUE_ANY:
                return true;
        case VALUE_INT:
        case VALUE_DURATION:
        case VALUE_MICROSECONDS:
        case VALUE_SIZE:
        case VALUE_CELSIUS:
        case VALUE_STRIPES:
        case _VALUE_TYPE_MAX:
                break;
        }

        if ((v->number >= range->min && v->number <= range->max) || (range->has_off && v->number == range->off))
                return true;
        for (const ValueWord *w = range->words; w && w->word; w++)
                if (w->number == v->number)
                        return true;
        return false;
}

static int read_wish(Cursor *c, const SettingTable *settings, const Drive *d, Wish *ret, Memory *ret_memory) {
        const char *name = NULL;
        const Setting *s;
        Item item;
        int r;

        r = cursor_read(c, &item, sizeof item);
        if (r < 0)
                return r;
        if (!item_is_valid(&item))
                return -EBADMSG;
        *ret = wish_without_pointers(&item.wish);
        *ret_memory = item.memory;

        r = cursor_read_text(c, &name);
        if (r >= 0)
                r = cursor_read_text(c, &ret->file);
        if (r < 0)
                return r;

        s = name ? setting_find(settings, name) : NULL;
        if (!s || !ret->file)
                return -EBADMSG;
        ret->name = s->name;

        s = setting_for_backends(settings, s->name, drive_backends(d));
        return s && !ret->withheld && !value_is_allowed(&s->range, &ret->value) ? -EBADMSG : 0;
}

static int request_parse(Cursor *c, const SettingTable *settings, RequestedVisit *r) {
        Head h;
        int k;

        if (c->left < sizeof h.build)
                return -EBADMSG;
        if (strncmp(c->at, build_identity(), sizeof h.build) != 0)
                return -EPROTONOSUPPORT;
        k = cursor_read(c, &h, sizeof h);
        if (k < 0)
                return k;
        if (!head_is_valid(&h))
                return -EBADMSG;
        k = read_drive(c, &h, &r->drive);
        if (k < 0)
                return k;

        r->wishes.items = calloc(MAX(h.n_wishes, 1U), sizeof *r->wishes.items);
        r->memories = calloc(MAX(h.n_wishes, 1U), sizeof *r->memories);
        if (!r->wishes.items || !r->memories)
                return -ENOMEM;
        for (; r->wishes.n_items < h.n_wishes && k >= 0; r->wishes.n_items++)
                k = read_wish(c, settings, &r->drive, r->wishes.items + r->wishes.n_items,
                              r->memories + r->wishes.n_items);
        if (k < 0)
                return k;
        if (c->left > 0)
                return -EBADMSG;

        r->bridge = h.bridge;
        r->visit = (Visit){
                .drive = &r->drive,
                .wishes = &r->wishes,
                .memories = r->memories,
                .settings = settings,
                .permanent = h.permanent,
                .active = h.active,
                .no_wake = h.no_wake,
                .ata_sleep = h.ata_sleep,
                .look = h.look,
                .bridge = &r->bridge,
        };
        return 0;
}

int visit_request_parse(const void *request, size_t size, const SettingTable *settings, RequestedVisit *ret) {
        Cursor c = { .at = request, .left = size };
        int r;

        *ret = (RequestedVisit){};
        r = request_parse(&c, settings, ret);
        if (r < 0)
                requested_visit_done(ret);
        return r;
}

void requested_visit_done(RequestedVisit *r) {
        free(r->wishes.items);
        free(r->memories);
        *r = (RequestedVisit){};
}
