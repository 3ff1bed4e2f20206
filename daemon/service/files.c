/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <stdio.h>

#include "config.h"
#include "files.h"
#include "journal.h"
#include "safe-file.h"
#include "settings.h"

static const char *const roots[] = { "/etc", "/run", "/usr/lib", NULL };

int files_load(Files **ret) {
        _cleanup_(config_freep) Config *c = NULL;
        Files *f;
        int r;

        r = config_new(&c);
        if (r >= 0)
                r = config_load(c, &all_settings, roots);
        if (r >= 0)
                r = config_check(c, &all_settings);
        if (r < 0)
                return r;

        for (size_t i = 0; i < c->complaints.n_items; i++)
                journal_complaint(c->complaints.items + i);

        f = malloc(sizeof *f);
        if (!f)
                return -ENOMEM;

        *f = (Files){ .n_ref = 1, .config = TAKE_PTR(c) };
        *ret = f;
        return 0;
}

Files *files_ref(Files *f) {
        f->n_ref++;
        return f;
}

Files *files_unref(Files *f) {
        if (!f || --f->n_ref > 0)
                return NULL;

        (void) config_free(f->config);
        free(f);
        return NULL;
}

void files_write_in_force(const Files *f, const char *dir) {
        _cleanup_free_ char *path = NULL, *text = NULL;

        if (asprintf(&path, "%s/" CONFIG_IN_FORCE_FILE, dir) < 0) {
                path = NULL;
                return;
        }
        if (config_format_in_force(f->config, &text) < 0 || file_replace(AT_FDCWD, path, text, false) < 0)
                (void) unlink(path);
}

char *files_first_error(const Files *f) {
        const Complaints *c = &f->config->complaints;
        _cleanup_free_ char *first = NULL;
        char *sentence;

        for (size_t i = 0; i < c->n_items && !first; i++)
                if (c->items[i].level == COMPLAINT_ERROR)
                        first = complaint_format(c->items + i);

        if (!first || c->n_errors == 1)
                return TAKE_PTR(first);
        return asprintf(&sentence, "%s (and %zu more)", first, c->n_errors - 1) < 0 ? NULL : sentence;
}
