/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "units.h"

const char *const unit_directories[] = {
        "/etc/systemd/system",     "/run/systemd/system", "/usr/local/lib/systemd/system",
        "/usr/lib/systemd/system", "/lib/systemd/system", NULL,
};

static bool has_suffix(const char *s, const char *suffix) {
        return ends_with(s, suffix) && !streq(s, suffix);
}

/* "name@.service" is wanted as "name@sda.service". */
static bool is_instance(const char *name, const char *unit) {
        const char *at = strchr(unit, '@');
        size_t n = at ? (size_t) (at - unit) + 1 : 0;

        if (!at || at[1] != '.')
                return streq(name, unit);
        return strncmp(name, unit, n) == 0 && has_suffix(name, at + 1);
}

/* Is it in TARGET.wants or its like? */
static int is_wanted(const Tree *t, const char *directory, const char *unit) {
        _cleanup_(words_done) Words entries = {};
        int r = tree_list(t, directory, &entries);

        for (size_t i = 0; i < entries.n_items && r == 0; i++) {
                _cleanup_(words_done) Words links = {};
                _cleanup_free_ char *path = NULL;

                if (!has_suffix(entries.items[i], ".wants") && !has_suffix(entries.items[i], ".requires") &&
                    !has_suffix(entries.items[i], ".upholds"))
                        continue;
                if (asprintf(&path, "%s/%s", directory, entries.items[i]) < 0) {
                        path = NULL;
                        return -ENOMEM;
                }
                r = tree_list(t, path, &links);
                for (size_t k = 0; k < links.n_items && r == 0; k++)
                        r = is_instance(links.items[k], unit);
        }

        return r;
}

static bool has_install(const char *text) {
        for (const char *s = strstr(text, "[Install]"); s; s = strstr(s + 1, "[Install]"))
                if (s == text || s[-1] == '\n')
                        return true;

        return false;
}

static int timer_state(const Tree *t, const char *unit, UnitState *ret) {
        _cleanup_free_ char *timer = NULL;

        if (!has_suffix(unit, ".service")) {
                *ret = UNIT_ABSENT;
                return 0;
        }
        if (asprintf(&timer, "%.*s.timer", (int) (strlen(unit) - strlen(".service")), unit) < 0) {
                timer = NULL;
                return -ENOMEM;
        }
        return unit_state(t, timer, ret);
}

int unit_state(const Tree *t, const char *name, UnitState *ret) {
        _cleanup_free_ char *text = NULL;
        UnitState timer;
        size_t size;
        int r = 0;

        for (const char *const *d = unit_directories; *d && !text; d++) {
                _cleanup_free_ char *path = NULL;

                if (asprintf(&path, "%s/%s", *d, name) < 0) {
                        path = NULL;
                        return -ENOMEM;
                }
                if (tree_masked(t, path)) {
                        *ret = UNIT_MASKED;
                        return 0;
                }
                r = tree_read(t, path, &text, &size);
                if (r < 0)
                        return r;
        }
        if (!text) {
                *ret = UNIT_ABSENT;
                return 0;
        }

        r = 0;
        for (const char *const *d = unit_directories; *d && r == 0; d++)
                r = is_wanted(t, *d, name);
        if (r < 0)
                return r;
        if (r > 0) {
                *ret = UNIT_ENABLED;
                return 0;
        }

        r = timer_state(t, name, &timer);
        if (r < 0)
                return r;
        if (timer == UNIT_ENABLED)
                *ret = UNIT_ENABLED;
        else
                *ret = timer != UNIT_ABSENT || has_install(text) ? UNIT_DISABLED : UNIT_STATIC;
        return 0;
}
