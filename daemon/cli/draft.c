/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "draft.h"
#include "output.h"
#include "settings.h"
#include "verb.h"

int draft_check(const char *const *roots, const ConfigDraft *draft, Config **ret) {
        _cleanup_(config_freep) Config *c = NULL;
        int status;

        must_work(config_new(&c));
        must_work(config_load_draft(c, &all_settings, roots, draft));
        must_work(config_check(c, &all_settings));
        must_work(config_check_names(c));

        for (size_t i = 0; i < c->complaints.n_items; i++) {
                const Complaint *x = c->complaints.items + i;

                if (x->level == COMPLAINT_ERROR || streq(x->file, draft->path))
                        warn_complaint(x);
        }

        status = c->complaints.n_errors > 0 ? EXIT_BAD_INPUT : EXIT_WANTED;
        *ret = TAKE_PTR(c);
        return status;
}
