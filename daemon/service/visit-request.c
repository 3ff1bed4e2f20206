/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

#include "record.h"
#include "validate.h"
#include "visit-request.h"

/* The drive's texts (udev's properties stay behind). */
static const size_t drive_texts[] = {
        offsetof(Drive, name),       offsetof(Drive, node),        offsetof(Drive, syspath),  offsetof(Drive, model),
        offsetof(Drive, serial),     offsetof(Drive, wwn),         offsetof(Drive, firmware), offsetof(Drive, vendor),
        offsetof(Drive, dock_model), offsetof(Drive, dock_serial),
};

/* A longer text is cut: none that anything but a message depends on is as long. One that is not there is empty. */
#define TEXT_MAX 512U

/* Both ends are one build of the program: plain data crosses as it is, texts in arrays, and every pointer in it is NULL. */
typedef struct Request {
        char build[BUILD_MAX]; /* comes first in every build */
        Drive drive;
        char drive_texts[ELEMENTSOF(drive_texts)][TEXT_MAX];
        Bridge bridge;
        Wishes wishes;
        VisitWork work;
        bool active, ata_sleep;
} Request;

/* Behind it are, each as many times as there are wishes, a Wish, a Memory, and the texts of a wish. */
typedef struct WishTexts {
        char name[64], file[TEXT_MAX];
} WishTexts;

static size_t request_size(size_t n_wishes) {
        return sizeof(Request) + n_wishes * (sizeof(Wish) + sizeof(Memory) + sizeof(WishTexts));
}

static Wish *request_wishes(Request *q) {
        return (Wish *) (q + 1);
}

static Memory *request_memories(Request *q) {
        return (Memory *) (request_wishes(q) + q->wishes.n_items);
}

static WishTexts *request_texts(Request *q) {
        return (WishTexts *) (request_memories(q) + q->wishes.n_items);
}

/* Where the drive's texts are now; NULL: nowhere. */
static void drive_point(Drive *d, char (*texts)[TEXT_MAX]) {
        for (size_t i = 0; i < ELEMENTSOF(drive_texts); i++)
                *(char **) ((char *) d + drive_texts[i]) = texts && texts[i][0] ? texts[i] : NULL;
        d->properties = NULL;
        d->properties_size = 0;
        d->links = NULL;
        d->n_links = d->room_links = 0;
}

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

/* ---- writing ---- */

int visit_request_new(const Visit *v, void **ret, size_t *ret_size) {
        size_t size = request_size(v->wishes->n_items);
        Request *q;

        if (size > VISIT_REQUEST_MAX_BYTES)
                return -E2BIG;
        q = calloc(1, size);
        if (!q)
                return -ENOMEM;

        (void) strcpy(q->build, build_identity());
        q->drive = *v->drive;
        drive_point(&q->drive, NULL);
        for (size_t i = 0; i < ELEMENTSOF(drive_texts); i++) {
                const char *text = *(char *const *) ((const char *) v->drive + drive_texts[i]);

                (void) snprintf(q->drive_texts[i], sizeof q->drive_texts[i], "%s", text ?: "");
        }
        if (v->bridge)
                q->bridge = *v->bridge;
        q->wishes.n_items = v->wishes->n_items;
        q->work = v->work;
        q->active = v->active;
        q->ata_sleep = v->ata_sleep;

        for (size_t i = 0; i < v->wishes->n_items; i++) {
                const Wish *from = v->wishes->items + i;
                Wish *w = request_wishes(q) + i;
                WishTexts *texts = request_texts(q) + i;

                *w = *from;
                w->name = w->file = NULL;
                w->via_stacked = NULL;
                (void) snprintf(texts->name, sizeof texts->name, "%s", from->name);
                (void) snprintf(texts->file, sizeof texts->file, "%s", from->file ?: "");
                if (v->memories)
                        request_memories(q)[i] = v->memories[i];
        }

        *ret = q;
        *ret_size = size;
        return 0;
}

/* ---- reading ---- */

static bool drive_is_valid(const Drive *d, char (*texts)[TEXT_MAX]) {
        for (size_t i = 0; i < ELEMENTSOF(drive_texts); i++)
                if (!text_ends(texts[i], sizeof texts[i]))
                        return false;

        return bools_are_valid(&d->rotational, &d->ata) && bools_are_valid(&d->identified, &d->identified) &&
               d->transport >= 0 && d->transport < _TRANSPORT_MAX;
}

static int wish_read(Wish *w, WishTexts *texts, const SettingTable *settings, const Drive *d) {
        const Setting *s;

        if (!bools_are_valid(&w->withheld, &w->wake) || w->spindown_by >= _SPINDOWN_BY_MAX ||
            !bools_are_valid(&w->wake_together, &w->commands_are_use) || !value_is_valid(&w->value) ||
            !text_ends(texts->name, sizeof texts->name) || !text_ends(texts->file, sizeof texts->file))
                return -EBADMSG;
        s = setting_find(settings, texts->name);
        if (!s)
                return -EBADMSG;
        w->name = s->name;
        w->file = texts->file;
        w->via_stacked = NULL;

        s = setting_for_backends(settings, s->name, drive_backends(d));
        /* The manager read the value from a file. The worker checks again that a file can name it. */
        return s && !w->withheld && !value_has_exact_text(&s->range, &w->value) ? -EBADMSG : 0;
}

int visit_request_parse(void *request, size_t size, const SettingTable *settings, Visit *ret) {
        Request *q = request;

        if (size < sizeof q->build)
                return -EBADMSG;
        if (strncmp(q->build, build_identity(), sizeof q->build) != 0)
                return -EPROTONOSUPPORT;
        if (size < sizeof *q || q->wishes.n_items > RECORD_MAX_SETTINGS || size != request_size(q->wishes.n_items))
                return -EBADMSG;

        if (!drive_is_valid(&q->drive, q->drive_texts) || !bridge_is_valid(&q->bridge) ||
            (unsigned) q->work >= _WORK_MAX || !bools_are_valid(&q->active, &q->ata_sleep))
                return -EBADMSG;
        drive_point(&q->drive, q->drive_texts);
        if (!drive_paths_are_valid(&q->drive))
                return -EBADMSG;

        q->wishes.items = request_wishes(q);
        for (size_t i = 0; i < q->wishes.n_items; i++) {
                int r;

                if (!memory_is_valid(request_memories(q) + i))
                        return -EBADMSG;
                r = wish_read(q->wishes.items + i, request_texts(q) + i, settings, &q->drive);
                if (r < 0)
                        return r;
        }

        *ret = (Visit){
                .drive = &q->drive,
                .wishes = &q->wishes,
                .memories = request_memories(q),
                .settings = settings,
                .work = q->work,
                .active = q->active,
                .ata_sleep = q->ata_sleep,
                .bridge = &q->bridge,
        };
        return 0;
}
