/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "nvme-feature.h"
#include "plan.h"

static Value feature_value(const Setting *s, const NvmeFeature *f, uint32_t reg) {
        return (Value){
                .type = s->range.type,
                .number = (int64_t) (reg >> f->shift & f->mask) * MAX(f->scale, 1) + f->bias,
        };
}

uint32_t nvme_feature_field(const NvmeFeature *f, const Value *v) {
        return ((uint32_t) ((v->number - f->bias) / MAX(f->scale, 1)) & f->mask) << f->shift;
}

static int feature_namespace(Device *d, const NvmeFeature *f, uint32_t *ret) {
        *ret = 0;
        return f->namespace ? nvme_namespace(d, ret) : 0;
}

static int feature_read_saved(Device *d, const Setting *s, uint32_t nsid, Reading *reading) {
        const NvmeFeature *f = s->detail;
        uint32_t reg;
        bool can;
        int r;

        r = nvme_can_save(d, f->fid, nsid, &can);
        if (r < 0 || !can)
                return r;

        r = nvme_get_feature(d, f->fid, NVME_SELECT_SAVED, nsid, &reg);
        if (r < 0)
                return r;

        reading->saved_known = true;
        reading->saved = feature_value(s, f, reg);
        return 0;
}

int nvme_feature_read(Device *d, const Setting *s, Reading *ret) {
        const NvmeFeature *f = s->detail;
        uint32_t reg, nsid;
        int r;

        r = nvme_identify(d);
        if (r < 0)
                return r;

        *ret = (Reading){ .supported = !f->supported || f->supported(&d->nvme), .value.type = s->range.type };
        if (!ret->supported) {
                ret->known = true;
                ret->value = feature_value(s, f, 0);
                return 0;
        }

        r = feature_namespace(d, f, &nsid);
        if (r >= 0)
                r = nvme_get_feature(d, f->fid, NVME_SELECT_CURRENT, nsid, &reg);
        if (r < 0)
                return r;

        ret->known = true;
        ret->value = feature_value(s, f, reg);
        return d->permanent ? feature_read_saved(d, s, nsid, ret) : 0;
}

/* Writes `bits`, and what else the register holds as it is. */
int nvme_feature_store(Device *d, const NvmeFeature *f, uint32_t keep, uint32_t bits) {
        uint32_t nsid, old = 0;
        bool save = false;
        char path[64];
        int r;

        r = f->namespace ? 0 : nvme_controller_path(d, path, sizeof path);
        if (r == STEP_FORBIDDEN)
                return r;
        r = feature_namespace(d, f, &nsid);
        if (r >= 0 && keep != 0)
                r = nvme_get_feature(d, f->fid, NVME_SELECT_CURRENT, nsid, &old);
        if (r >= 0 && d->save)
                r = nvme_can_save(d, f->fid, nsid, &save);
        if (r < 0)
                return r;

        return nvme_set_feature(d, f->fid, save, nsid, (old & keep) | bits);
}

int nvme_feature_write(Device *d, const Setting *s, const Value *v) {
        const NvmeFeature *f = s->detail;

        return nvme_feature_store(d, f, f->keep, nvme_feature_field(f, v));
}
