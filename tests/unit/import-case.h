/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Directories of hdparm.conf files, each with the recorded output of Debian 12's parser: EXPECTED-debian12.json, an array of {conf,
 * disk, link, apm_supported, on_battery, exit, stdout, stderr}. tests/data/import belongs to the project.
 * ../shared/corpus/hdparm.conf has files of real machines, and may be absent. */

#include <check.h>
#include <json-c/json.h>
#include <stdio.h>
#include <unistd.h>

#include "macro.h"
#include "safe-file.h"

static const char *const import_directories[] = { "tests/data/import", "../shared/corpus/hdparm.conf" };

typedef struct ImportCase {
        const char *conf, *disk, *link, *output, *error;
        bool apm, on_battery;
        int status;
        char *text;
        size_t size;
} ImportCase;

static inline const char *case_string(json_object *o, const char *key) {
        json_object *value;

        ck_assert(json_object_object_get_ex(o, key, &value));
        return json_object_get_string(value);
}

static inline int case_number(json_object *o, const char *key) {
        json_object *value;

        ck_assert(json_object_object_get_ex(o, key, &value));
        return json_object_get_int(value);
}

/* Calls `each` for every case of the directory. Returns the number of cases. If a directory in ../shared
 * is absent, prints a message and returns 0. */
static inline size_t import_cases(const char *directory, void (*each)(const ImportCase *c)) {
        char path[256];
        json_object *cases;
        size_t n;

        (void) snprintf(path, sizeof path, "%s/EXPECTED-debian12.json", directory);
        if (access(path, R_OK) < 0 && strncmp(directory, "../shared", 9) == 0) {
                printf("skipped: %s is not here\n", directory);
                return 0;
        }

        cases = json_object_from_file(path);
        ck_assert_msg(cases, "%s", path);
        n = json_object_array_length(cases);
        for (size_t i = 0; i < n; i++) {
                json_object *o = json_object_array_get_idx(cases, i);
                _cleanup_free_ char *text = NULL;
                const char *objection;
                ImportCase c = {
                        .conf = case_string(o, "conf"),
                        .disk = case_string(o, "disk"),
                        .link = case_string(o, "link"),
                        .output = case_string(o, "stdout"),
                        .error = case_string(o, "stderr"),
                        .apm = case_number(o, "apm_supported"),
                        .on_battery = case_number(o, "on_battery"),
                        .status = case_number(o, "exit"),
                };

                (void) snprintf(path, sizeof path, "%s/%s", directory, c.conf);
                ck_assert_msg(text_file_read(path, &text, &c.size, &objection) == 0, "%s", path);
                c.text = text;
                each(&c);
        }

        json_object_put(cases);
        return n;
}
