/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Imports the input as a file of the given kind. The output must be a configuration without errors. */

#include <stdio.h>

#include "config.h"
#include "reader.h"
#include "settings.h"

static inline void fuzz_import(ImportKind kind, const char *data, size_t size) {
        _cleanup_free_ char *text = malloc(size + 1), *out = NULL;
        _cleanup_(config_freep) Config *config = NULL;
        _cleanup_(import_done) Import import = {};
        const char *objection;
        size_t out_size;
        FILE *f;

        memcpy(text, data, size);
        text[size] = '\0';
        if (import_read("fuzz", text, size, kind, &import, &objection) != 0)
                return;

        f = open_memstream(&out, &out_size);
        if (emit(f, &import, 1, &all_settings) < 0)
                abort();
        (void) fclose(f);

        if (out_size > CONFIG_FILE_MAX || config_new(&config) < 0 ||
            config_parse(config, &all_settings, "fuzz", out, out_size) < 0 || config_check(config, &all_settings) < 0)
                return;
        if (config->complaints.n_errors > 0) {
                for (size_t i = 0; i < config->complaints.n_items; i++) {
                        _cleanup_free_ char *line = complaint_format(&config->complaints.items[i]);

                        fprintf(stderr, "%s\n", line);
                }
                fputs(out, stderr);
                abort();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
