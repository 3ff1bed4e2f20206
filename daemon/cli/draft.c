/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "draft.h"
#include "output.h"
#include "settings.h"
#include "verb.h"

static bool sets(const Config *c, const Assignment *a) {
        for (const Block *b = c->blocks; b < c->blocks + c->n_blocks; b++)
                if (block_find(b, a->name, a->on_battery))
                        return true;
        return false;
}

/* Is it about a setting of the draft that is not new? */
static bool is_known(const Config *c, const Complaint *x, const Config *fresh) {
        for (const Block *b = c->blocks; b < c->blocks + c->n_blocks; b++)
                for (const Assignment *a = b->assignments; a < b->assignments + b->n_assignments; a++)
                        if (streq(b->file, x->file) && a->line == x->line)
                                return !sets(fresh, a);
        return false;
}

int draft_check(const char *const *roots, const ConfigDraft *draft, const Config *fresh, Config **ret) {
        _cleanup_(config_freep) Config *c = NULL;
        int status;

        must_work(config_new(&c));
        must_work(config_load_draft(c, &all_settings, roots, draft));
        must_work(config_check(c, &all_settings));
        must_work(config_check_names(c, NULL, 0));

        for (size_t i = 0; i < c->complaints.n_items; i++) {
                const Complaint *x = c->complaints.items + i;

                if (x->level == COMPLAINT_ERROR || (streq(x->file, draft->path) && !(fresh && is_known(c, x, fresh))))
                        warn_complaint(x);
        }

        status = c->complaints.n_errors > 0 ? EXIT_BAD_INPUT : EXIT_WANTED;
        *ret = TAKE_PTR(c);
        return status;
}
