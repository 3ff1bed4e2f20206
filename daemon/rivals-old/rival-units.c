/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* systemd's services, with their drop-ins. */

#include <stdio.h>

#include "lines.h"
#include "rival.h"
#include "scripts.h"
#include "unit-file.h"

static int follow_unit(const Runner *runner, const char *text) {
        _cleanup_free_ char *line = NULL;
        Lines lines = { .next = text };
        int k;

        for (k = lines_next(&lines, true, &line); k > 0; k = lines_next(&lines, true, &line)) {
                const char *value = strncmp(line, "ExecStart", strlen("ExecStart")) == 0 ? strchr(line, '=') : NULL;

                if (!value)
                        continue;
                value++;
                value += strspn(value, " \t@-:+!");
                k = runner_follow(runner, value, strlen(value));
                if (k < 0)
                        break;
        }

        return k;
}

static int check_text(const Runner *runner, const char *path) {
        _cleanup_(import_done) Import import = {};
        _cleanup_free_ char *text = NULL;
        size_t size;
        int k;

        k = tree_read(runner->rivals->tree, path, &text, &size);
        if (k <= 0)
                return k;
        k = unit_file_read(text, size, &import);
        if (k >= 0)
                k = runner_claim(runner, path, text, &import, false);
        return k < 0 ? k : follow_unit(runner, text);
}

/* Is there anything that could run a tool or a script of the machine's owner? Most units have nothing like it. */
static int is_interesting(const Rivals *r, const char *path, bool *ret) {
        static const char *const words[] = { "hdparm",     "smartctl", "sdparm", "nvme",        "blockdev",
                                             "/sys/block", "/etc/",    "/opt/",  "/usr/local/", "/root/",
                                             "/srv/",      "/home/",   "/var/" };
        _cleanup_free_ char *text = NULL;
        size_t size;
        int k;

        k = tree_read(r->tree, path, &text, &size);
        if (k < 0)
                return k;
        for (size_t i = 0; i < ELEMENTSOF(words) && k > 0; i++)
                *ret = *ret || strstr(text, words[i]);
        return 0;
}

static int check_unit(void *userdata, const char *path) {
        const Rivals *r = userdata;
        const char *name = strrchr(path, '/') + 1;
        _cleanup_(words_done) Words drop_ins = {};
        Runner runner = { .rivals = r, .when = "whenever this unit is started" };
        bool interesting = false;
        UnitState state;
        int k = 0;

        for (const char *const *d = unit_directories; *d && k >= 0; d++) {
                _cleanup_(words_done) Words names = {};
                _cleanup_free_ char *directory = NULL;

                if (asprintf(&directory, "%s/%s.d", *d, name) < 0) {
                        directory = NULL;
                        return -ENOMEM;
                }
                k = tree_list(r->tree, directory, &names);
                for (size_t i = 0; i < names.n_items && k >= 0; i++) {
                        _cleanup_free_ char *file = NULL;

                        if (asprintf(&file, "%s/%s", directory, names.items[i]) < 0) {
                                file = NULL;
                                return -ENOMEM;
                        }
                        k = words_add(&drop_ins, file, strlen(file));
                        if (k >= 0)
                                k = is_interesting(r, file, &interesting);
                }
        }
        if (k >= 0)
                k = is_interesting(r, path, &interesting);
        if (k < 0 || !interesting)
                return k;

        k = unit_state(r->tree, name, &state);
        if (k < 0)
                return k;
        /* One that nothing could enable was written to be started by something else: by its owner, in /etc. */
        if (state != UNIT_ENABLED && !(state == UNIT_STATIC && strncmp(path, "/etc/", 5) == 0))
                return 0;

        k = check_text(&runner, path);
        for (size_t i = 0; i < drop_ins.n_items && k >= 0; i++)
                k = check_text(&runner, drop_ins.items[i]);
        return k;
}

int rival_units(const Rivals *r) {
        return tree_each(r->tree, unit_directories, ".service", check_unit, (void *) r);
}
