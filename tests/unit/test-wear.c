/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Wear counters: the commands that read them, byte by byte, and the results. */

#include <inttypes.h>

#include "identify-image.h"
#include "script.h"
#include "suite.h"
#include "sysfs-tree.h"
#include "wear-read.h"

typedef struct Case {
        const char *name;
        const Row *rows;
        int r;
        const char *reason_part; /* expected part of the reason; NULL: no reason */
        Wear wear;
        bool active, wake;
} Case;

/* clang-format off */
#define ROWS(...) (const Row[]){ __VA_ARGS__, {} }
#define BYTES(...) .data = (const uint8_t[]) { __VA_ARGS__ }, .data_len = sizeof((const uint8_t[]) { __VA_ARGS__ })
#define IS(n) { .known = true, .number = n }
#define NO_OPCODE "70 00 05 00 00 00 00 0a 00 00 00 00 20 00 00 00 00 00"
#define NO_FIELD "72 05 24 00 00 00 00 00"
#define FAILED "72 04 44 00 00 00 00 00"
#define ATTENTION "70 00 06 00 00 00 00 0a 00 00 00 00 29 00 00 00 00 00"
/* clang-format on */

static Drive drive;

static void setup(void) {
        make_disk(&drive, TRANSPORT_SAS);
}

static void teardown(void) {
        drop_tree(&drive);
}

/* Formats the known numbers, such as "970 364 - - 29". */
static void format_wear(const Wear *w, char ret[static 160]) {
        const KnownNumber n[] = { w->load_cycles, w->start_stops, w->rated_load_cycles, w->rated_start_stops,
                                  w->temperature };
        size_t at = 0;

        for (size_t i = 0; i < ELEMENTSOF(n); i++)
                at += n[i].known ? sprintf(ret + at, "%" PRId64 " ", n[i].number) : sprintf(ret + at, "- ");
}

/* Checks the result of wear_read(). On failure the numbers must remain unchanged. */
static void check(const Case *c, Backend by, const Bridge *bridge, PowerMode power) {
        static const Wear before = { .load_cycles = IS(-7), .temperature = IS(-7) };
        Script script = { .rows = c->rows };
        DeviceIO io = script_io(&script);
        Wear w = before;
        char found[160], expected[160];
        Device d;
        int r;

        while (c->rows && script.rows[script.n_rows].cdb)
                script.n_rows++;

        device_init(&d, &drive, &io);
        d.active = c->active;
        d.wake = c->wake;
        d.power = power;
        if (bridge)
                d.bridge = *bridge;
        r = wear_read(&d, by, &w);
        format_wear(&w, found);
        format_wear(r < 0 ? &before : &c->wear, expected);
        ck_assert_msg(r == c->r, "%s: returned %d (%s)", c->name, r, d.failure.why);
        ck_assert_msg(streq(found, expected), "%s: expected %s, found %s", c->name, expected, found);
        if (r < 0)
                ck_assert_msg(strstr(d.failure.why, c->reason_part), "%s: reason '%s'", c->name, d.failure.why);
        script_done(&script);
        device_done(&d);
}

/* ---- ATA ---- */

/* clang-format off */
#define REGISTERS(count) "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 " count " 00 00 00 00 00 00 40 50"
#define CHECK_POWER(...) { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00", __VA_ARGS__ }
#define ACTIVE CHECK_POWER(.sense = REGISTERS("ff"))
#define ID(image) { .cdb = "85 08 0e 00 00 00 01 00 00 00 00 00 00 40 ec 00", .data = &(image), .data_len = 512 }
#define ABORTED "72 0b 00 00 00 00 00 0e 09 0c 00 04 00 00 00 00 00 00 00 00 40 51"
#define READ_DATA(...) { .cdb = "85 08 0e 00 d0 00 01 00 00 00 4f 00 c2 40 b0 00", __VA_ARGS__ }
#define DATA(which) READ_DATA(.data = smart_data[which], .data_len = 512)
#define READ(which) ROWS(ACTIVE, ID(with_smart), DATA(which))

enum { USUAL, OLD, BOTH, PACKED, FULL, LARGEST, LAST, BEHIND, TWICE, NONE, COLD, HOT, UNSENSED, TENTHS, WDC, HITACHI, BELOW, TORN, N_DATA };
typedef struct Attribute {
        size_t place; /* index in the attribute table */
        uint8_t id, raw[6];
} Attribute;
static const Attribute attributes[N_DATA][4] = {
        [USUAL] = { { 0, 4, { 0x34, 0x12 } }, { 1, 193, { 0x01, 0x02, 0x03 } }, { 2, 194, { 35, 0, 12, 50 } } },
        [OLD] = { { 0, 225, { 9 } }, { 3, 12, { 5 } } },
        [BOTH] = { { 0, 225, { 9 } }, { 1, 193, { 8 } } },
        /* Each attribute holds two numbers: attribute 225 has loads in the upper bytes and unloads in the lower bytes.
         * Attribute 193 takes precedence over attribute 225. */
        [PACKED] = { { 0, 193, { 8, 0, 0, 9 } }, { 1, 225, { 0, 0, 0, 0, 0, 1 } }, { 2, 4, { 1, 0, 0, 0, 2 } } },
        [FULL] = { { 0, 193, { 255, 255, 255, 255, 255, 255 } }, { 1, 4, { 255, 255, 255, 255 } }, { 2, 225, { 255, 255, 255 } } },
        [LARGEST] = { { 0, 193, { 0xFE, 0xFF, 0xFF } }, { 1, 4, { 0, 0, 0, 1 } } },
        [LAST] = { { 29, 193, { 7 } } },
        [BEHIND] = { { 30, 193, { 7 } } },
        [TWICE] = { { 0, 4, { 1 } }, { 1, 4, { 2 } } },
        [COLD] = { { 0, 194, { 1 } } },
        [HOT] = { { 0, 194, { 100 } } },
        [UNSENSED] = { { 0, 194, { 0 } } },
        [TENTHS] = { { 0, 194, { 0x45, 0x01 } } },
        [WDC] = { { 0, 194, { 36, 19, 45 } } },
        [HITACHI] = { { 0, 194, { 36, 0, 2, 0, 56 } } },
        [BELOW] = { { 0, 194, { 0xFB, 0xFF } } },
        [TORN] = { { 0, 193, { 7 } } },
};

static uint8_t smart_data[N_DATA][512];
static Image with_smart, without_smart, torn_image;

static const Case ata[] = {
        { "all attributes", READ(USUAL), .wear = { .load_cycles = IS(0x030201), .start_stops = IS(0x1234), .temperature = IS(35) } },
        { "older drive with attribute 225", READ(OLD), .wear = { .load_cycles = IS(9) } },
        { "both", READ(BOTH), .wear = { .load_cycles = IS(8) } },
        { "two numbers in one attribute", READ(PACKED) },
        { "unused counter with all bits set", READ(FULL) },
        { "largest valid number, and one above", READ(LARGEST), .wear = { .load_cycles = IS(0xFFFFFE) } },
        { "attribute at the end of the table", READ(LAST), .wear = { .load_cycles = IS(7) } },
        { "attribute after the end of the table", READ(BEHIND) },
        { "twice", READ(TWICE), .wear = { .start_stops = IS(1) } },
        { "no attributes", READ(NONE) },
        { "cold", READ(COLD), .wear = { .temperature = IS(1) } },
        { "hot", READ(HOT), .wear = { .temperature = IS(100) } },
        { "ATA drive without a temperature sensor", READ(UNSENSED) },
        { "temperature in tenths of a degree", READ(TENTHS) },
        { "temperature with lowest and highest in the next bytes", READ(WDC), .wear = { .temperature = IS(36) } },
        { "temperature with lowest and highest in separate bytes", READ(HITACHI), .wear = { .temperature = IS(36) } },
        { "temperature below zero", READ(BELOW) },

        { "wrong checksum", READ(TORN), END_UNSUPPORTED, "the drive's SMART data has a wrong checksum" },
        { "SMART is disabled", ROWS(ACTIVE, ID(without_smart)), END_UNSUPPORTED, "the drive has no SMART, or SMART is disabled" },
        { "IDENTIFY with a wrong checksum", ROWS(ACTIVE, ID(torn_image)), END_UNSUPPORTED, "IDENTIFY data is empty or has a wrong checksum" },
        { "refused", ROWS(ACTIVE, ID(with_smart), READ_DATA(.sense = ABORTED)), END_UNSUPPORTED, "the drive rejected SMART READ DATA (aborted command, " },
        { "gone", ROWS(ACTIVE, ID(with_smart), READ_DATA(.host_status = 1)), END_VANISHED, "the drive is gone" },
        { "silent", ROWS(ACTIVE, ID(with_smart), READ_DATA(.host_status = 3)), -ETIMEDOUT, "did not answer" },

        /* A drive that is in standby, or may be in standby, gets no further command. */
        { "ATA drive in standby", ROWS(CHECK_POWER(.sense = REGISTERS("00"))), END_DEFERRED, "the drive is in standby, or its power mode", .active = true },
        { "ATA drive in standby that may be spun up", ROWS(CHECK_POWER(.sense = REGISTERS("00"))), END_DEFERRED, "power mode is not known", .wake = true },
        { "ATA power mode not known", ROWS(CHECK_POWER()), END_DEFERRED, "power mode is not known" },
        { "power mode not known, of a drive that may be spun up", ROWS(CHECK_POWER()), END_DEFERRED, "power mode is not known", .wake = true },
        { "ATA power mode not known, with recent I/O", ROWS(CHECK_POWER(), ID(with_smart), DATA(OLD)), .wear = { .load_cycles = IS(9) }, .active = true },
        { "idle", ROWS(CHECK_POWER(.sense = REGISTERS("80")), ID(with_smart), DATA(OLD)), .wear = { .load_cycles = IS(9) } },
        { "ATA drive vanished before the command", ROWS(CHECK_POWER(.host_status = 1)), END_VANISHED, "the drive is gone" },
};
/* clang-format on */

static void fill(void) {
        with_smart = without_smart = image_make(true, false, 128, -1);
        with_smart.words[82] |= htole16(1);
        with_smart.words[85] |= htole16(1);
        image_seal(&with_smart);
        torn_image = with_smart;
        torn_image.words[1] ^= htole16(1);

        for (size_t i = 0; i < N_DATA; i++) {
                uint8_t sum = 0, *data = smart_data[i];

                memset(data, 0, 512);
                for (const Attribute *a = attributes[i]; a < attributes[i] + 4 && a->id; a++) {
                        data[2 + 12 * a->place] = a->id;
                        /* Fills the flags, the value and the worst value. */
                        memset(data + 2 + 12 * a->place + 1, 100, 4);
                        memcpy(data + 2 + 12 * a->place + 5, a->raw, 6);
                        data[2 + 12 * a->place + 11] = 0xFF;
                }
                for (size_t k = 0; k < 511; k++)
                        sum += data[k];
                data[511] = -sum + (i == TORN);
        }
}

static void setup_ata(void) {
        make_disk(&drive, TRANSPORT_SATA);
        drive.ata = true;
        fill();
}

START_TEST(test_ata) {
        check(ata + _i, BACKEND_ATA, NULL, POWER_UNKNOWN);
}
END_TEST

/* A power mode that is known is not probed again. */
START_TEST(test_known) {
        const Case active = { "known", ROWS(ID(with_smart), DATA(OLD)), .wear = { .load_cycles = IS(9) } };
        static const Case in_standby = { "known", NULL, END_DEFERRED, "the drive is in standby" };

        check(&active, BACKEND_ATA, NULL, POWER_ACTIVE);
        check(&in_standby, BACKEND_ATA, NULL, POWER_STANDBY);
        check(&in_standby, BACKEND_ATA, NULL, POWER_SUSPENDED);
        check(&in_standby, BACKEND_ATA, NULL, POWER_UNCLEAR);
        check(&in_standby, BACKEND_SCSI_MODE, NULL, POWER_STANDBY);

        put("device/power/runtime_status", "suspended");
        check(&in_standby, BACKEND_ATA, NULL, POWER_UNKNOWN);
}
END_TEST

START_TEST(test_no_hard_disk) {
        static const Case c = { "not a hard disk", NULL, END_UNSUPPORTED, "the drive is not a hard disk",
                                .active = true };

        drive.rotational = false;
        check(&c, BACKEND_ATA, NULL, POWER_UNKNOWN);
        check(&c, BACKEND_SCSI_MODE, NULL, POWER_ACTIVE);
        drive.rotational = drive.optical = true;
        check(&c, BACKEND_SCSI_MODE, NULL, POWER_ACTIVE);
}
END_TEST

/* A bridge that fails at ATA commands, or does not pass them, gets no ATA command. */
START_TEST(test_bridge) {
        static const Bridge fragile = { .queried = true, .fragile = true },
                            without_sat = { .queried = true, .without_sat = true };
        static const Case fell = { "fragile", NULL, END_FORBIDDEN, "failed during its first ATA command",
                                   .active = true };
        static const Case no_ata = { "bridge without ATA commands", NULL, END_UNSUPPORTED, "does not pass ATA commands",
                                     .active = true };

        drive.transport = TRANSPORT_USB;
        drive.ata = false;
        check(&fell, BACKEND_ATA, &fragile, POWER_UNKNOWN);
        check(&fell, BACKEND_ATA, &fragile, POWER_ACTIVE);
        check(&no_ata, BACKEND_ATA, &without_sat, POWER_UNKNOWN);
}
END_TEST

/* ---- SCSI ---- */

/* clang-format off */
#define REQUEST_SENSE(key, asc, ascq) \
        { .cdb = "03 00 00 00 fc 00", BYTES(0x70, 0, key, 0, 0, 0, 0, 10, 0, 0, 0, 0, asc, ascq, 0, 0, 0, 0) }
#define UP REQUEST_SENSE(0, 0, 0)
#define LOG(page, ...) { .cdb = "4d 00 4" page " 00 00 00 00 00 fc 00", __VA_ARGS__ }
#define STARTS(...) LOG("e", __VA_ARGS__)
#define WARMTH(...) LOG("d", __VA_ARGS__)
#define MADE 0, 1, 0x03, 6, '2', '0', '2', '6', '1', '7'
#define COUNT(code, a, b, c, d) 0, code, 0x03, 4, a, b, c, d
/* The log page of start-stops (0Eh) with all parameters, 56 bytes, and the log page of temperatures (0Dh), 16 bytes. */
#define ALL_STARTS 0x0E, 0, 0, 52, MADE, 0, 2, 0x03, 6, ' ', ' ', ' ', ' ', ' ', ' ', \
        COUNT(3, 0, 0, 0xC3, 0x50), COUNT(4, 0, 0, 1, 0x6C), COUNT(5, 0, 9, 0x27, 0xC0), COUNT(6, 0, 0, 3, 0xCA)
#define ALL_WARMTH 0x0D, 0, 0, 12, 0, 0, 0x03, 2, 0, 29, 0, 1, 0x03, 2, 0, 85
#define NO_WARMTH WARMTH(.sense = NO_FIELD)
#define ONLY(...) ROWS(UP, STARTS(BYTES(__VA_ARGS__)), NO_WARMTH)
#define ONLY_WARMTH(...) ROWS(UP, STARTS(.sense = NO_FIELD), WARMTH(BYTES(__VA_ARGS__)))

static const Case scsi[] = {
        { "all log pages", ROWS(UP, STARTS(BYTES(ALL_STARTS)), WARMTH(BYTES(ALL_WARMTH))),
          .wear = { IS(970), IS(364), IS(600000), IS(50000), IS(29) } },
        { "a unit attention before the answer", ROWS(UP, STARTS(.sense = ATTENTION), STARTS(BYTES(ALL_STARTS)), WARMTH(BYTES(ALL_WARMTH))),
          .wear = { IS(970), IS(364), IS(600000), IS(50000), IS(29) } },
        { "no log pages are supported", ROWS(UP, STARTS(.sense = NO_OPCODE), WARMTH(.sense = NO_OPCODE)) },
        { "only the temperature page is supported", ONLY_WARMTH(ALL_WARMTH), .wear = { .temperature = IS(29) } },
        { "DS is set", ONLY(0x8E, 0, 0, 8, COUNT(6, 0, 0, 0, 5)), .wear = { .load_cycles = IS(5) } },
        { "parameters in another order", ONLY(0x0E, 0, 0, 42, COUNT(6, 0, 0, 0, 5), COUNT(3, 0, 0, 0, 9), MADE, COUNT(5, 0, 0, 0, 7), COUNT(4, 0, 0, 0, 6)),
          .wear = { IS(5), IS(6), IS(7), IS(9) } },
        { "only load cycles are reported", ONLY(0x0E, 0, 0, 8, COUNT(6, 0, 0, 0, 5)), .wear = { .load_cycles = IS(5) } },
        { "counters at zero", ONLY(0x0E, 0, 0, 32, COUNT(3, 0, 0, 0, 0), COUNT(4, 0, 0, 0, 0), COUNT(5, 0, 0, 0, 0), COUNT(6, 0, 0, 0, 0)),
          .wear = { .load_cycles = IS(0), .start_stops = IS(0) } },
        { "rated numbers not specified, counters unused", ONLY(0x0E, 0, 0, 32, COUNT(3, 255, 255, 255, 255), COUNT(4, 255, 255, 255, 255),
                                               COUNT(5, 255, 255, 255, 255), COUNT(6, 255, 255, 255, 255)) },
        { "counters too large to be valid", ONLY(0x0E, 0, 0, 16, COUNT(6, 0, 0xFF, 0xFF, 0xFF), COUNT(4, 0, 0xFF, 0xFF, 0xFE)), .wear = { .start_stops = IS(0xFFFFFE) } },
        { "parameter codes with two bytes", ONLY(0x0E, 0, 0, 16, 1, 6, 3, 4, 0, 0, 0, 1, COUNT(6, 0, 0, 0, 5)), .wear = { .load_cycles = IS(5) } },
        { "twice", ONLY(0x0E, 0, 0, 16, COUNT(6, 0, 0, 0, 5), COUNT(6, 0, 0, 0, 6)), .wear = { .load_cycles = IS(5) } },

        /* Only complete parameters of the right length are used, even if the page ends within a parameter. */
        { "an empty page", ONLY(0x0E, 0, 0, 0, COUNT(6, 0, 0, 0, 5)) },
        { "page length beyond the received data", ROWS(UP, STARTS(.resid = 252 - 20, BYTES(0x0E, 0, 255, 255, COUNT(4, 0, 0, 0, 6), COUNT(6, 0, 0, 0, 5))), NO_WARMTH),
          .wear = { .load_cycles = IS(5), .start_stops = IS(6) } },
        { "page length one byte beyond the received data", ROWS(UP, STARTS(.resid = 252 - 19, BYTES(0x0E, 0, 0, 16, COUNT(4, 0, 0, 0, 6), COUNT(6, 0, 0, 0, 5))), NO_WARMTH),
          .wear = { .start_stops = IS(6) } },
        { "page length beyond the data, with no length from the transport", ONLY(0x0E, 0, 255, 255, COUNT(6, 0, 0, 0, 5)), .wear = { .load_cycles = IS(5) } },
        { "the page ends in a value", ONLY(0x0E, 0, 0, 15, COUNT(4, 0, 0, 0, 6), COUNT(6, 0, 0, 0, 5)), .wear = { .start_stops = IS(6) } },
        { "the page ends in a header", ONLY(0x0E, 0, 0, 11, COUNT(4, 0, 0, 0, 6), COUNT(6, 0, 0, 0, 5)), .wear = { .start_stops = IS(6) } },
        { "a parameter longer than the page", ONLY(0x0E, 0, 0, 16, 0, 9, 3, 255, 0, 0, 0, 1, COUNT(6, 0, 0, 0, 5)) },
        { "value with too many bytes", ONLY(0x0E, 0, 0, 12, 0, 6, 3, 8, 0, 0, 0, 0, 0, 0, 0, 5) },
        { "value with too few bytes", ONLY(0x0E, 0, 0, 14, 0, 6, 3, 2, 0, 5, COUNT(4, 0, 0, 0, 6)), .wear = { .start_stops = IS(6) } },
        { "empty parameters", ONLY(0x0E, 0, 0, 16, 0, 6, 3, 0, 0, 7, 3, 0, COUNT(4, 0, 0, 0, 6)), .wear = { .start_stops = IS(6) } },
        { "residual larger than the request", ROWS(UP, STARTS(.resid = 1000, BYTES(ALL_STARTS))), -EBADMSG, "the drive answered LOG SENSE without page 0Eh" },
        { "negative residual", ROWS(UP, STARTS(.resid = -8, BYTES(ALL_STARTS)), NO_WARMTH), .wear = { IS(970), IS(364), IS(600000), IS(50000) } },
        { "empty answer", ROWS(UP, STARTS(.resid = 252)), -EBADMSG, "without page 0Eh" },
        { "another page", ROWS(UP, STARTS(BYTES(ALL_WARMTH))), -EBADMSG, "without page 0Eh" },
        { "a subpage", ROWS(UP, STARTS(BYTES(0x4E, 1, 0, 8, COUNT(6, 0, 0, 0, 5)))), -EBADMSG, "without page 0Eh" },
        { "zeros", ROWS(UP, STARTS(BYTES(ALL_STARTS)), WARMTH()), -EBADMSG, "without page 0Dh" },

        { "cold", ONLY_WARMTH(0x0D, 0, 0, 6, 0, 0, 3, 2, 0, 1), .wear = { .temperature = IS(1) } },
        { "hot", ONLY_WARMTH(0x0D, 0, 0, 6, 0, 0, 3, 2, 0, 100), .wear = { .temperature = IS(100) } },
        { "implausibly high temperature", ONLY_WARMTH(0x0D, 0, 0, 6, 0, 0, 3, 2, 0, 101) },
        { "SCSI drive without a temperature sensor", ONLY_WARMTH(0x0D, 0, 0, 6, 0, 0, 3, 2, 0, 255) },
        { "implausible temperature of zero", ONLY_WARMTH(0x0D, 0, 0, 6, 0, 0, 3, 2, 0, 0) },
        { "reserved byte is not zero", ONLY_WARMTH(0x0D, 0, 0, 6, 0, 0, 3, 2, 1, 30), .wear = { .temperature = IS(30) } },
        { "only the reference temperature is reported", ONLY_WARMTH(0x0D, 0, 0, 6, 0, 1, 3, 2, 0, 85) },

        { "refused", ROWS(UP, STARTS(.sense = FAILED)), END_REFUSED, "the drive rejected LOG SENSE (hardware error: internal target failure, sense 4h 44h/00h)" },
        { "second log page is rejected", ROWS(UP, STARTS(BYTES(ALL_STARTS)), WARMTH(.sense = FAILED)), END_REFUSED, "rejected LOG SENSE" },
        { "illegal request with another sense code", ROWS(UP, STARTS(.sense = "72 05 25 00 00 00 00 00")), END_REFUSED, "rejected LOG SENSE" },
        { "gone", ROWS(UP, STARTS(.host_status = 1)), END_VANISHED, "the drive is gone (LOG SENSE)" },

        { "SCSI drive in standby", ROWS(REQUEST_SENSE(0, 0x5E, 0x04)), END_DEFERRED, "the drive is in standby", .active = true },
        { "stopped", ROWS(REQUEST_SENSE(2, 0x04, 0x02)), END_DEFERRED, "the drive is in standby", .active = true, .wake = true },
        { "SCSI power mode not known", ROWS(REQUEST_SENSE(4, 0, 0)), END_DEFERRED, "power mode is not known" },
        { "SCSI power mode not known, with recent I/O", ROWS(REQUEST_SENSE(4, 0, 0), STARTS(BYTES(ALL_STARTS)), NO_WARMTH),
          .wear = { IS(970), IS(364), IS(600000), IS(50000) }, .active = true },
        { "SCSI drive vanished before the command", ROWS({ .cdb = "03 00 00 00 fc 00", .host_status = 1 }), END_VANISHED, "the drive is gone" },
};
/* clang-format on */

START_TEST(test_scsi) {
        check(scsi + _i, BACKEND_SCSI_MODE, NULL, POWER_UNKNOWN);
}
END_TEST

/* ---- self-tests ---- */

static int read_testing(const Row *rows, size_t n, Backend by, bool *ret) {
        Script script = { .rows = rows, .n_rows = n };
        DeviceIO io = script_io(&script);
        Wear w = {};
        Device d;
        int r;

        device_init(&d, &drive, &io);
        r = wear_and_test_read(&d, by, &w, ret);
        script_done(&script);
        device_done(&d);
        return r;
}

/* While a self-test runs, the upper four bits of the self-test status are 15. The lower four bits show how much of the
 * self-test remains. */
START_TEST(test_ata_testing) {
        static const struct {
                uint8_t status;
                bool testing;
        } cases[] = { { 0x00, false }, { 0xF9, true }, { 0xF0, true }, { 0x0F, false }, { 0x79, false } };
        const Row rows[] = { ACTIVE, ID(with_smart), DATA(USUAL) };
        uint8_t *data = smart_data[USUAL];
        bool testing = !cases[_i].testing;

        data[363] = cases[_i].status;
        data[511] = (uint8_t) (data[511] - cases[_i].status);
        ck_assert_int_eq(read_testing(rows, ELEMENTSOF(rows), BACKEND_ATA, &testing), 0);
        ck_assert(testing == cases[_i].testing);
}
END_TEST

/* clang-format off */
#define SELF_TESTS(...) { .cdb = "4d 00 50 00 00 00 00 00 fc 00", __VA_ARGS__ }
#define RESULT(n) 0x10, 0, 0, 20, 0, 1, 0x03, 16, n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
#define TESTS(...) ROWS(UP, STARTS(.sense = NO_FIELD), NO_WARMTH, SELF_TESTS(__VA_ARGS__))

static const struct {
        const Row *rows;
        bool testing;
} scsi_testing[] = {
        { TESTS(BYTES(RESULT(0x2F))), true },
        { TESTS(BYTES(RESULT(0x20))), false },
        { TESTS(BYTES(RESULT(0xF7))), false },
        /* false: the page ends before the first result */
        { TESTS(BYTES(0x10, 0, 0, 0, 0, 0, 0, 0, 0x2F)), false },
        { TESTS(.sense = NO_FIELD), false },
};
/* clang-format on */

START_TEST(test_scsi_testing) {
        bool testing = !scsi_testing[_i].testing;

        ck_assert_int_eq(read_testing(scsi_testing[_i].rows, 4, BACKEND_SCSI_MODE, &testing), 0);
        ck_assert(testing == scsi_testing[_i].testing);
}
END_TEST

int main(void) {
        Suite *s = suite_create("wear");
        TCase *t = tcase_create("ata");

        tcase_add_checked_fixture(t, setup_ata, teardown);
        tcase_add_loop_test(t, test_ata, 0, ELEMENTSOF(ata));
        tcase_add_loop_test(t, test_ata_testing, 0, 5);
        tcase_add_test(t, test_known);
        tcase_add_test(t, test_no_hard_disk);
        tcase_add_test(t, test_bridge);
        suite_add_tcase(s, t);

        t = tcase_create("scsi");
        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_scsi_testing, 0, 5);
        tcase_add_loop_test(t, test_scsi, 0, ELEMENTSOF(scsi));
        suite_add_tcase(s, t);

        return suite_run(s);
}
