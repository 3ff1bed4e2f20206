/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A model of a drive from a report of `drivekeep report`. The model answers each command of the report as the drive did, accepts all
 * commands that write, and changes no value. */

#include <check.h>
#include <ctype.h>
#include <sys/stat.h>

#include "device.h"
#include "must.h"
#include "recorder.h"
#include "report.h"
#include "scratch.h"
#include "text.h"

typedef struct ReportSetting {
        char *name, *backend, *supported, *value, *saved;
} ReportSetting;

typedef struct ReportFile {
        char *text;    /* the members below point into this copy of the report */
        char root[32]; /* directory in place of sysfs */
        Drive drive;
        Bridge bridge;
        bool active;
        GROWING_ARRAY(ReportSetting, settings);
        GROWING_ARRAY(Exchange, exchanges);
        size_t next;        /* the search for the answer to a command begins at this exchange */
        unsigned n_written; /* number of commands that write, and are not in the report */
} ReportFile;

/* ---- the model ---- */

/* Returns the next exchange with this command. If the command was sent more often than in the report, the search starts again. */
static inline const Exchange *report_find(ReportFile *r, const Exchange *wanted) {
        for (size_t i = 0; i < r->n_exchanges; i++) {
                size_t at = (r->next + i) % r->n_exchanges;
                const Exchange *x = r->exchanges + at;

                if (x->is_nvme != wanted->is_nvme ||
                    (x->is_nvme ? x->nvme.opcode != wanted->nvme.opcode || x->nvme.nsid != wanted->nvme.nsid ||
                                                     memcmp(&x->nvme.cdw10, &wanted->nvme.cdw10, 24) != 0
                                : x->sg.cdb_len != wanted->sg.cdb_len ||
                                                     memcmp(x->sg.cdb, wanted->sg.cdb, x->sg.cdb_len) != 0))
                        continue;
                if (wanted->sg.to_device &&
                    (x->data_len != wanted->data_len || memcmp(x->data, wanted->data, x->data_len) != 0))
                        continue;
                r->next = at + 1;
                return x;
        }
        return NULL;
}

/* Descriptor-format sense data with the registers of an ATA drive: success, or "aborted". */
static const uint8_t report_good[] = { 0x72, 0x01, 0, 0x1D, 0, 0, 0, 0x0E, 0x09, 0x0C, 0,
                                       0,    0,    0, 0,    0, 0, 0, 0,    0,    0x40, 0x50 };
static const uint8_t report_aborted[] = { 0x72, 0x0B, 0, 0x1D, 0, 0, 0, 0x0E, 0x09, 0x0C, 0,
                                          0x04, 0,    0, 0,    0, 0, 0, 0,    0,    0x40, 0x51 };
static const uint8_t report_illegal[] = { 0x72, 0x05, 0x20, 0, 0, 0, 0, 0 };

static inline int report_sg(void *userdata, int fd _unused_, SgRequest *q) {
        ReportFile *r = userdata;
        const Exchange *x = report_find(r, &(Exchange){ .sg = *q, .data = q->data, .data_len = q->data_len });
        bool is_ata = q->cdb[0] == 0x85 || q->cdb[0] == 0xA1, writes = q->to_device || q->data_len == 0;
        const uint8_t *sense = writes ? report_good : is_ata ? report_aborted : report_illegal;

        q->status = 2;
        q->sense_len = sense == report_illegal ? sizeof report_illegal : sizeof report_good;
        if (x) {
                q->status = x->sg.status;
                q->host_status = x->sg.host_status;
                q->resid = x->sg.resid;
                q->sense_len = x->sg.sense_len;
                sense = x->sg.sense;
                if (!q->to_device && x->data_len > 0)
                        memcpy(q->data, x->data, MIN(x->data_len, q->data_len));
        } else if (writes) {
                r->n_written++;
                q->status = is_ata ? 2 : 0;
                q->sense_len = is_ata ? q->sense_len : 0;
        }
        memcpy(q->sense, sense, q->sense_len);
        return x ? x->result : 0;
}

static inline int report_nvme(void *userdata, int fd _unused_, struct nvme_passthru_cmd *cmd) {
        ReportFile *r = userdata;
        const Exchange *x = report_find(r, &(Exchange){ .is_nvme = true, .nvme = *cmd });

        if (!x) {
                r->n_written += cmd->opcode == 0x09; /* Set Features */
                return cmd->opcode == 0x09 ? 0 : 0x4002 /* Invalid Field, Do Not Retry */;
        }
        cmd->result = x->nvme.result;
        if (x->data_len > 0)
                memcpy((void *) (uintptr_t) cmd->addr, x->data, MIN(x->data_len, cmd->data_len));
        return x->result;
}

static inline int report_open(void *userdata _unused_, const Drive *drive _unused_) {
        return 1000; /* a descriptor number that is not open, so close() in device_done() fails harmlessly */
}

static inline int report_is_claimed(void *userdata _unused_, const char *name _unused_) {
        return 0;
}

static inline DeviceIO report_io(ReportFile *r) {
        return (DeviceIO){ .open_node = report_open,
                           .sg = report_sg,
                           .nvme_admin = report_nvme,
                           .is_claimed = report_is_claimed,
                           .userdata = r };
}

static inline void report_device(ReportFile *r, Device *ret) {
        const DeviceIO io = report_io(r);

        device_init(ret, &r->drive, &io);
        ret->bridge = r->bridge;
        ret->active = r->active;
}

/* ---- the parser ---- */

static inline size_t report_hex(const char *text, uint8_t *buf, size_t size) {
        size_t n = 0;
        unsigned byte;
        int used;

        for (; sscanf(text, " %2x%n", &byte, &used) == 1; text += used) {
                ck_assert_uint_lt(n, size);
                buf[n++] = (uint8_t) byte;
        }
        return n;
}

static inline Exchange *report_add_exchange(ReportFile *r) {
        must_grow(r, exchanges);
        r->exchanges[r->n_exchanges] = (Exchange){};
        return r->exchanges + r->n_exchanges++;
}

/* Parses a line of the last exchange. */
static inline void report_parse_answer(ReportFile *r, const char *key, const char *value) {
        Exchange *x = r->exchanges + r->n_exchanges - 1;
        long n = strtol(value, NULL, 10);
        unsigned offset;

        ck_assert_uint_gt(r->n_exchanges, 0);
        if (STR_IN_SET(key, "error", "nvme_status"))
                x->result = (int) n;
        else if (streq(key, "result"))
                x->nvme.result = (uint32_t) n;
        else if (streq(key, "status"))
                x->sg.status = (uint8_t) n;
        else if (streq(key, "host_status"))
                x->sg.host_status = (uint16_t) n;
        else if (streq(key, "residual"))
                x->sg.resid = (int32_t) n;
        else if (streq(key, "sense"))
                x->sg.sense_len = (uint8_t) report_hex(value, x->sg.sense, sizeof x->sg.sense);
        else if (STR_IN_SET(key, "data", "sent")) {
                x->data_len = (uint32_t) n;
                x->data = must(calloc(1, (size_t) n));
                x->sg.to_device = streq(key, "sent");
        } else {
                ck_assert_msg(sscanf(key, "%x", &offset) == 1 && offset < x->data_len, "%s", key);
                (void) report_hex(value, x->data + offset, x->data_len - offset);
        }
}

static inline void report_put_attribute(ReportFile *r, const char *path, const char *text) {
        char name[PATH_MAX];
        FILE *f;

        ck_assert_int_lt(snprintf(name, sizeof name, "%s/%s", r->drive.syspath, path), (int) sizeof name);
        make_parents(name);
        f = must(fopen(name, "we"));
        (void) fprintf(f, "%s\n", text);
        ck_assert_int_eq(fclose(f), 0);
}

/* Makes the drive's directory, which has the USB interface as parent. */
static inline void report_make_tree(ReportFile *r, const char *name) {
        char *path;

        strcpy(r->root, "/tmp/drivekeep-test-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(r->root));
        r->drive.syspath = must_format("%s/interface/host0/target/lun/block/%s", r->root, name);
        path = must_format("%s/device/", r->drive.syspath);
        make_parents(path);
        free(path);
}

static inline void report_parse_setting(ReportFile *r, char *line) {
        ReportSetting s = {};
        char **const fields[] = { &s.name, &s.backend, &s.supported, &s.value, &s.saved };

        for (size_t i = 0; i < ELEMENTSOF(fields); i++) {
                char *end = strstr(line, "; ");

                ck_assert_msg(end, "%s", line);
                *end = '\0';
                *fields[i] = line;
                line = end + 2;
        }
        must_grow(r, settings);
        r->settings[r->n_settings++] = s;
}

static inline void report_parse_line(ReportFile *r, const char *key, char *value) {
        Drive *d = &r->drive;
        Bridge *b = &r->bridge;
        const struct {
                const char *key;
                char **text;
                bool *flag;
        } facts[] = {
                { "vendor", &d->vendor, NULL },
                { "model", &d->model, NULL },
                { "firmware", &d->firmware, NULL },
                { "serial", &d->serial, NULL },
                { "wwn", &d->wwn, NULL },
                { "dock_model", &d->dock_model, NULL },
                { "dock_serial", &d->dock_serial, NULL },
                { "rotational", NULL, &d->rotational },
                { "removable", NULL, &d->removable },
                { "optical", NULL, &d->optical },
                { "ata", NULL, &d->ata },
                { "identified", NULL, &d->identified },
                { "active", NULL, &r->active },
                { "bridge_queried", NULL, &b->queried },
                { "bridge_identified", NULL, &b->identified },
                { "bridge_without_sat", NULL, &b->without_sat },
                { "bridge_uas_blocks", NULL, &b->uas_blocks },
                { "bridge_without_registers", NULL, &b->without_registers },
                { "bridge_repeats_identify", NULL, &b->repeats_identify },
                { "bridge_fragile", NULL, &b->fragile },
        };
        struct nvme_passthru_cmd *c;
        unsigned opcode;
        char *path;

        for (size_t i = 0; i < ELEMENTSOF(facts); i++)
                if (streq(facts[i].key, key)) {
                        if (facts[i].flag)
                                *facts[i].flag = true;
                        else
                                *facts[i].text = value;
                        return;
                }

        if (streq(key, "format"))
                ck_assert_str_eq(value, REPORT_FORMAT);
        else if (streq(key, "name")) {
                d->name = value;
                d->node = must_format("/dev/%s", value);
                report_make_tree(r, value);
        } else if (streq(key, "transport"))
                d->transport = transport_from_string(value);
        else if (streq(key, "size"))
                d->size = strtoull(value, NULL, 10);
        else if (streq(key, "bridge_cdb"))
                b->cdb = strtoull(value, NULL, 10);
        else if (streq(key, "usb_driver")) {
                path = must_format("%s/interface/driver", r->root);
                ck_assert_int_eq(symlink(value, path), 0);
                free(path);
        } else if (streq(key, "setting"))
                report_parse_setting(r, value);
        else if (streq(key, "attribute")) {
                path = strsep(&value, "=");
                report_put_attribute(r, path, value);
        } else if (streq(key, "command")) {
                Exchange *x = report_add_exchange(r);

                x->sg.cdb_len = (uint8_t) report_hex(value, x->sg.cdb, sizeof x->sg.cdb);
        } else if (streq(key, "admin")) {
                Exchange *x = report_add_exchange(r);

                x->is_nvme = true;
                c = &x->nvme;
                ck_assert_int_eq(sscanf(value, "%x %x %x %x %x %x %x %x", &opcode, &c->nsid, &c->cdw10, &c->cdw11,
                                        &c->cdw12, &c->cdw13, &c->cdw14, &c->cdw15),
                                 8);
                c->opcode = (uint8_t) opcode;
        } else
                ck_assert_msg(STR_IN_SET(key, "version", "kernel", "machine", "driver", "usb_vendor", "usb_product",
                                         "state", "try"),
                              "%s", key);
}

/* Parses a report, and takes ownership of the text. */
static inline void report_parse(ReportFile *r, char *text) {
        char *rest = NULL;

        *r = (ReportFile){ .text = text };
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                char *value = strchr(line, ':');
                const char *key = line + strspn(line, " ");

                if (*line == '#')
                        continue;
                ck_assert_msg(value, "%s", line);
                *value++ = '\0';
                value += strspn(value, " ");
                if (*line == ' ')
                        report_parse_answer(r, key, value);
                else
                        report_parse_line(r, key, value);
        }
        ck_assert_ptr_nonnull(r->drive.name);
}

static inline void report_done(ReportFile *r) {
        for (size_t i = 0; i < r->n_exchanges; i++)
                free(r->exchanges[i].data);
        free(r->exchanges);
        free(r->settings);
        free(r->drive.node);
        free(r->drive.syspath);
        free(r->text);
        tree_remove(r->root);
}
