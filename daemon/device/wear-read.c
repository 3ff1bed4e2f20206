/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads wear counters of a drive. Users trust these numbers, so doubtful values are omitted. */

#include <assert.h>

#include "ata.h"
#include "power-mode.h"
#include "sg-io.h"
#include "wear-read.h"

/* Highest plausible number of cycles: one head unload every 19 seconds for ten years. Larger numbers come from drives that store two
 * 24-bit numbers in one attribute (loads and unloads: Hitachi's DK23), and from unused counters with all bits set. */
#define CYCLES_MAX 0xFFFFFEU

/* Drives without a sensor report 0 or 255. */
#define CELSIUS_MIN 1U
#define CELSIUS_MAX 100U

#define NUMBER_MISSING UINT64_MAX /* all bits are set, so both the number and its lowest byte exceed all limits */

static KnownNumber number_within(uint64_t n, uint64_t min, uint64_t max) {
        if (n < min || n > max)
                return (KnownNumber){};
        return (KnownNumber){ .known = true, .number = n };
}

static KnownNumber cycles(uint64_t n) {
        return number_within(n, 0, CYCLES_MAX);
}

/* Returns the temperature in the lowest byte of `n`. */
static KnownNumber celsius(uint64_t n) {
        return number_within(n & 0xFF, CELSIUS_MIN, CELSIUS_MAX);
}

/* ---- ATA: attributes ---- */

enum {
        ATTRIBUTES_OFFSET = 2,
        ATTRIBUTE_SIZE = 12, /* ID, two bytes of flags, value, worst value, raw value, reserved byte */
        ATTRIBUTE_RAW = 5,
        N_ATTRIBUTES = 30,

        ATTRIBUTE_START_STOPS = 4,
        ATTRIBUTE_LOAD_CYCLES = 193,
        ATTRIBUTE_TEMPERATURE = 194,
        ATTRIBUTE_LOAD_CYCLES_OLD = 225,

        SELF_TEST_STATUS = 363, /* offset in SMART data; the status is in the upper four bits */
};

#define SELF_TEST_RUNNING 0x0FU /* SCSI's self-test results use the same value */

/* Returns the raw value of the SMART attribute `id`, a number of 48 bits. NUMBER_MISSING: `data` has no such attribute. */
static uint64_t attribute_raw(const uint8_t data[static 512], uint8_t id) {
        const uint8_t *a = data + ATTRIBUTES_OFFSET;
        uint64_t raw = 0;

        for (size_t i = 0; i < N_ATTRIBUTES; i++, a += ATTRIBUTE_SIZE) {
                if (a[0] != id)
                        continue;
                for (size_t k = 6; k > 0; k--)
                        raw = raw << 8 | a[ATTRIBUTE_RAW + k - 1];
                return raw;
        }
        return NUMBER_MISSING;
}

/* Returns the least significant byte of the raw value, which is the temperature. Most drives store the minimum and maximum temperature in
 * higher bytes. A raw value of a few hundreds is in tenths of a degree (Samsung's SV0412H), and is not used. */
static KnownNumber attribute_celsius(uint64_t raw) {
        if (raw > 0xFF && raw <= CELSIUS_MAX * 10)
                return (KnownNumber){};
        return celsius(raw);
}

static int ata_wear(Device *d, Wear *ret, bool *ret_testing) {
        uint8_t data[512] = {};
        int r;

        r = smart_read_data(d, data);
        if (r < 0)
                return r;

        ret->start_stops = cycles(attribute_raw(data, ATTRIBUTE_START_STOPS));
        ret->load_cycles = cycles(attribute_raw(data, ATTRIBUTE_LOAD_CYCLES));
        if (!ret->load_cycles.known)
                ret->load_cycles = cycles(attribute_raw(data, ATTRIBUTE_LOAD_CYCLES_OLD));
        ret->temperature = attribute_celsius(attribute_raw(data, ATTRIBUTE_TEMPERATURE));
        if (ret_testing)
                *ret_testing = data[SELF_TEST_STATUS] >> 4 == SELF_TEST_RUNNING;
        return 0;
}

/* ---- SCSI: log pages ---- */

enum {
        LOG_SENSE = 0x4D,
        CUMULATIVE_VALUES = 0x40, /* page control field (SPC-4) */

        /* LOG_PAGE_CODE and LOG_SUBPAGE_FORMAT: masks of the first byte of a log page. LOG_HEADER and LOG_PARAMETER_HEADER: lengths of
         * the headers in bytes. */
        LOG_PAGE_CODE = 0x3F,
        LOG_SUBPAGE_FORMAT = 0x40,
        LOG_HEADER = 4,
        LOG_PARAMETER_HEADER = 4,

        LOG_TEMPERATURE = 0x0D,
        LOG_START_STOPS = 0x0E,
        LOG_SELF_TESTS = 0x10,
        LOG_SELF_TEST_RESULT =
                        LOG_HEADER + LOG_PARAMETER_HEADER, /* result of the latest self-test, in the lower four bits */
};

typedef struct LogPage {
        uint8_t bytes[252];
        size_t len; /* length of the drive's data; 0: the drive has no such page */
} LogPage;

static int log_sense(Device *d, uint8_t page, LogPage *ret) {
        SgRequest q = {
                .cdb = { LOG_SENSE, [2] = CUMULATIVE_VALUES | page, [8] = sizeof ret->bytes },
                .cdb_len = 10,
                .data = ret->bytes,
                .data_len = sizeof ret->bytes,
        };
        int r;

        *ret = (LogPage){};
        r = scsi_command(d, &q);
        if (r == END_REFUSED && (sg_is_illegal(&q, ASC_INVALID_OPCODE) || sg_is_illegal(&q, ASC_INVALID_FIELD_IN_CDB)))
                return 0;
        if (r < 0)
                return r;

        if (sg_received(&q) < LOG_HEADER || (ret->bytes[0] & (LOG_PAGE_CODE | LOG_SUBPAGE_FORMAT)) != page)
                return device_fail(d, -EBADMSG, "the drive answered LOG SENSE without page %02Xh", page);
        ret->len = MIN((size_t) (ret->bytes[2] << 8 | ret->bytes[3]) + LOG_HEADER, sg_received(&q));
        return 0;
}

/* Returns the parameter's number, or NUMBER_MISSING if the page has no such parameter with `len` bytes. */
static uint64_t log_parameter(const LogPage *p, uint16_t code, uint8_t len) {
        uint64_t n = 0;
        size_t end;

        for (size_t at = LOG_HEADER; at + LOG_PARAMETER_HEADER <= p->len; at = end) {
                const uint8_t *b = p->bytes + at;

                end = at + LOG_PARAMETER_HEADER + b[3];
                if ((b[0] << 8 | b[1]) != code)
                        continue;
                if (b[3] != len || end > p->len)
                        break;
                for (size_t i = end - len; i < end; i++)
                        n = n << 8 | p->bytes[i];
                return n;
        }
        return NUMBER_MISSING;
}

/* All parameters of the start-stop page have four bytes. */
static KnownNumber log_cycles(const LogPage *p, uint16_t code) {
        return cycles(log_parameter(p, code, 4));
}

static KnownNumber log_rated(const LogPage *p, uint16_t code) {
        return number_within(log_parameter(p, code, 4), 1, CYCLES_MAX);
}

static int scsi_wear(Device *d, Wear *ret, bool *ret_testing) {
        LogPage starts, temperature, tests = {};
        int r;

        r = log_sense(d, LOG_START_STOPS, &starts);
        if (r >= 0)
                r = log_sense(d, LOG_TEMPERATURE, &temperature);
        if (r >= 0 && ret_testing)
                r = log_sense(d, LOG_SELF_TESTS, &tests);
        if (r < 0)
                return r;

        if (ret_testing)
                *ret_testing = tests.len > LOG_SELF_TEST_RESULT &&
                               (tests.bytes[LOG_SELF_TEST_RESULT] & 0x0F) == SELF_TEST_RUNNING;

        *ret = (Wear){
                .load_cycles = log_cycles(&starts, 6),
                .start_stops = log_cycles(&starts, 4),
                .rated_load_cycles = log_rated(&starts, 5),
                .rated_start_stops = log_rated(&starts, 3),
                /* The temperature parameter has two bytes; the first is reserved. */
                .temperature = celsius(log_parameter(&temperature, 0, 2)),
        };
        return 0;
}

int wear_and_test_read(Device *d, Backend by, Wear *ret, bool *ret_testing) {
        Wear w = {};
        int r;

        assert(by == BACKEND_ATA || by == BACKEND_SCSI_MODE);

        if (!d->drive->rotational || d->drive->optical)
                return device_fail(d, END_UNSUPPORTED, "the drive is not a hard disk, and has no heads to unload");

        r = power_probe(d, by);
        if (r < 0)
                return r;
        /* d->wake is ignored: no user needs these numbers immediately. */
        if (d->power != POWER_ACTIVE)
                return device_fail(d, END_DEFERRED, "the drive is in standby, or its power mode is not known");

        r = by == BACKEND_ATA ? ata_wear(d, &w, ret_testing) : scsi_wear(d, &w, ret_testing);
        if (r >= 0)
                *ret = w;
        return r;
}

int wear_read(Device *d, Backend by, Wear *ret) {
        return wear_and_test_read(d, by, ret, NULL);
}
