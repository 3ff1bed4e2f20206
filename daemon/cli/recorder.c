/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "must.h"
#include "recorder.h"

static void add(Recorder *r, Exchange x, const void *data) {
        x.data = must(calloc(1, x.data_len + 1));
        if (x.data_len > 0)
                memcpy(x.data, data, x.data_len);
        must_grow(r, exchanges);
        r->exchanges[r->n_exchanges++] = x;
}

static void record_sg(void *userdata, const SgRequest *q, int result) {
        add(userdata, (Exchange){ .sg = *q, .result = result, .data_len = q->data_len }, q->data);
}

static void record_nvme(void *userdata, const struct nvme_passthru_cmd *cmd, int result) {
        add(userdata, (Exchange){ .is_nvme = true, .nvme = *cmd, .result = result, .data_len = cmd->data_len },
            (const void *) (uintptr_t) cmd->addr);
}

static void record_attribute(void *userdata, const char *path, const char *text) {
        Recorder *r = userdata;

        for (size_t i = 0; i < r->n_attributes; i++)
                if (streq(r->attributes[i].path, path))
                        return;
        must_grow(r, attributes);
        r->attributes[r->n_attributes++] = (Attribute){ must(strdup(path)), must(strdup(text)) };
}

void recorder_init(Recorder *r) {
        *r = (Recorder){ .observer = { record_sg, record_nvme, record_attribute, r } };
}

void recorder_done(Recorder *r) {
        for (size_t i = 0; i < r->n_exchanges; i++)
                free(r->exchanges[i].data);
        for (size_t i = 0; i < r->n_attributes; i++) {
                free(r->attributes[i].path);
                free(r->attributes[i].text);
        }
        free(r->exchanges);
        free(r->attributes);
}
