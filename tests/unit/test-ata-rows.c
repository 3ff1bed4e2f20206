/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the settings of ATA drives by visits. A visit must send exactly the expected commands, and end with the expected verdicts. */

#include "identify-image.h"
#include "script.h"
#include "settings.h"
#include "suite.h"
#include "visit.h"

/* clang-format off */
#define COMMAND(bytes) { .cdb = "85 06 20 00 " bytes, .sense = GOOD }
#define GOOD REGISTERS("00")
#define REGISTERS(count) "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 " count " 00 00 00 00 00 00 40 50"
#define ABORTED "72 0b 00 00 00 00 00 0e 09 0c 00 04 00 00 00 00 00 00 00 00 40 51"
#define FAULT "72 04 44 00 00 00 00 0e 09 0c 00 00 00 00 00 00 00 00 00 00 40 70"
/* "Aborted command" in fixed-format sense data, as from a bridge that does not return registers. */
#define FIXED_ABORT "70 00 0b 00 00 00 00 0a 00 00 00 00 00 00 00 00 00 00"
#define ACTIVE { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00", .sense = REGISTERS("ff") }
#define IN_STANDBY { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00", .sense = REGISTERS("00") }
#define ID(image) { .cdb = "85 08 0e 00 00 00 01 00 00 00 00 00 00 40 ec 00", .data = &(image), .data_len = 512 }
#define SCT_STATUS { .cdb = "85 08 0e 00 d5 00 01 00 e0 00 4f 00 c2 40 b0 00", .data = sct_idle, .data_len = 512 }
#define SCT(table) { .cdb = "85 0a 26 00 d6 00 01 00 e0 00 4f 00 c2 40 b0 00", .out = table, .sense = GOOD }
#define SCT_ANSWER(table, low, high) \
        { .cdb = "85 0a 26 00 d6 00 01 00 e0 00 4f 00 c2 40 b0 00", .out = table, \
          .sense = "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 " low " 00 " high " 00 4f 00 c2 40 50" }
#define SCT_REFUSED(table) { .cdb = "85 0a 26 00 d6 00 01 00 e0 00 4f 00 c2 40 b0 00", .out = table, .sense = ABORTED }
#define STANDBY COMMAND("00 00 00 00 00 00 00 00 00 40 e0 00")
#define SMART_DATA(data_) { .cdb = "85 08 0e 00 d0 00 01 00 00 00 4f 00 c2 40 b0 00", .data = data_, .data_len = 512 }
#define SMART_FAILS(...) { .cdb = "85 08 0e 00 d0 00 01 00 00 00 4f 00 c2 40 b0 00", __VA_ARGS__ }
#define EPC_LOG(log) { .cdb = "85 09 0e 00 00 00 02 00 08 00 00 00 00 40 2f 00", .data = log, .data_len = 1024 }
#define SANITIZE(answer) { .cdb = "85 07 20 00 00 00 00 00 00 00 00 00 00 40 b4 00", .sense = answer }
#define SANITIZE_COUNT(high) "72 01 00 1d 00 00 00 0e 09 0c 01 00 " high " 00 00 00 00 00 00 00 40 50"

/* Bits that are set in an IDENTIFY image in addition to the bits of `plain`. `plain` is the image of a drive whose
 * write cache and APM are on, and whose other features are off. */
typedef struct Change {
        uint8_t word;
        uint16_t bits;
} Change;

static Image plain, without_epc, apm_127, bare, silent, uncached, vendor_timer, changed[12];
static const uint8_t sct_idle[512] = { [0] = 3 };
static uint8_t dco_data[512], epc_off[1024], epc_on[1024], epc_saved[1024], epc_each[1024],
        epc_fixed[1024], epc_unsaved[1024], epc_ranged[1024], epc_highest[1024];
static uint8_t smart_idle[512], smart_tests[512], smart_tested[512], smart_collects[512], smart_collects_itself[512], smart_torn[512];

enum { WRV_ALL, WRV_3, PUIS, MULTIPLE, SSP, FREE_FALL, FROZEN, EPC, ACOUSTIC_0, APM_255, WRV_0, SMART };
static const Change changes[][3] = {
        [WRV_ALL] = { { 120, 1 << 1 } },
        [WRV_3] = { { 120, 1 << 1 }, { 220, 3 }, { 210, 2048 } },
        [PUIS] = { { 86, 1 << 5 } },
        [MULTIPLE] = { { 59, 0x0108 } },
        [SSP] = { { 79, 1 << 6 }, { 120, 1 << 9 } },
        [FREE_FALL] = { { 120, 1 << 5 }, { 53, 0x4000 } },
        [FROZEN] = { { 128, 1 << 3 } },
        [EPC] = { { 120, 1 << 7 } },
        [ACOUSTIC_0] = { { 86, 1 << 9 } },
        [APM_255] = { { 91, 0x00FF } },
        [SMART] = { { 85, 1 << 0 } },
        [WRV_0] = { { 120, 1 << 1 }, { 220, 3 } },
};

typedef struct Outcome {
        const char *key, *value; /* setting and wanted value, as in a configuration file */
        Verdict verdict;
        const char *reason_part; /* part of the reason; NULL: any reason */
} Outcome;

typedef struct Case {
        const char *name;
        Outcome outcomes[4];
        const Row *rows;
        bool dangerous, permanent, apply_permanent, dry, ata_sleep, active;
        Memory memory, second; /* what earlier visits stored: `memory` for outcomes[0], `second` for outcomes[1] */
        Bridge bridge;         /* cdb != 0: the drive is behind this bridge */
} Case;

#define ROWS(...) (const Row[]){ __VA_ARGS__, {} }

static const Case cases[] = {
        { "write-read-verify is forbidden without allow_dangerous", { { "write_read_verify", "on", VERDICT_FORBIDDEN, "twice as long" } } },
        { "write-read-verify \"on\" verifies all sectors: mode 0 in LBA", { { "write_read_verify", "on", VERDICT_APPLIED } }, .dangerous = true,
          .rows = ROWS(ACTIVE, ID(plain), COMMAND("0b 00 00 00 00 00 00 00 00 40 ef 00"), ID(changed[WRV_ALL])) },
        { "write-read-verify of 2048 sectors: mode 3 in LBA, 2 in COUNT", { { "write_read_verify", "2048", VERDICT_APPLIED } }, .dangerous = true,
          .rows = ROWS(ACTIVE, ID(plain), COMMAND("0b 00 02 00 03 00 00 00 00 40 ef 00"), ID(changed[WRV_3])) },
        { "write-read-verify \"first\" sends mode 1, and a drive that chooses \"all\" adjusts it", { { "write_read_verify", "first", VERDICT_ADJUSTED } }, .dangerous = true,
          .rows = ROWS(ACTIVE, ID(plain), COMMAND("0b 00 00 00 01 00 00 00 00 40 ef 00"), ID(changed[WRV_ALL])) },
        { "write-read-verify \"off\" needs no allow_dangerous", { { "write_read_verify", "off", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(changed[WRV_3]), COMMAND("8b 00 00 00 00 00 00 00 00 40 ef 00"), ID(plain)) },
        { "write-read-verify of 0 sectors does not count as off", { { "write_read_verify", "off", VERDICT_IGNORED, "value is still 0" } },
          .rows = ROWS(ACTIVE, ID(changed[WRV_0]), COMMAND("8b 00 00 00 00 00 00 00 00 40 ef 00"), ID(changed[WRV_0])) },
        { "acoustic management enabled at level 0 does not count as off", { { "acoustic_management", "off", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(changed[ACOUSTIC_0]), COMMAND("c2 00 00 00 00 00 00 00 00 40 ef 00"), ID(plain)) },
        { "acoustic management that remains enabled at level 0 is reported as 0", { { "acoustic_management", "0", VERDICT_IGNORED, "off was accepted, but the value is still 0" } },
          .rows = ROWS(ACTIVE, ID(changed[ACOUSTIC_0]), COMMAND("c2 00 00 00 00 00 00 00 00 40 ef 00"), ID(changed[ACOUSTIC_0])) },
        { "APM enabled at level 255 does not count as off", { { "apm", "off", VERDICT_ADJUSTED, "off was accepted, but the drive chose 128" } },
          .rows = ROWS(ACTIVE, ID(changed[APM_255]), COMMAND("85 00 00 00 00 00 00 00 00 40 ef 00"), ID(plain)) },
        { "a drive that sets APM to level 255 adjusts the value", { { "apm", "254", VERDICT_ADJUSTED, "254 was accepted, but the drive chose 255" } },
          .rows = ROWS(ACTIVE, ID(plain), COMMAND("05 00 fe 00 00 00 00 00 00 40 ef 00"), ID(changed[APM_255])) },
        { "PUIS is not written without apply --permanent", { { "poweron_standby", "on", VERDICT_FORBIDDEN, "apply --permanent" } },
          .dangerous = true, .rows = ROWS(ACTIVE, ID(plain)) },
        { "PUIS by apply --permanent", { { "poweron_standby", "on", VERDICT_APPLIED } }, .dangerous = true, .apply_permanent = true,
          .rows = ROWS(ACTIVE, ID(plain), COMMAND("06 00 00 00 00 00 00 00 00 40 ef 00"), ID(changed[PUIS])) },
        { "PUIS off", { { "poweron_standby", "off", VERDICT_APPLIED } }, .apply_permanent = true,
          .rows = ROWS(ACTIVE, ID(changed[PUIS]), COMMAND("86 00 00 00 00 00 00 00 00 40 ef 00"), ID(plain)) },
        { "SET MULTIPLE", { { "mult_sect_io", "8", VERDICT_APPLIED } }, .dangerous = true,
          .rows = ROWS(ACTIVE, ID(plain), COMMAND("00 00 08 00 00 00 00 00 00 40 c6 00"), ID(changed[MULTIPLE])) },
        { "keep_features_over_reset cannot be read back", { { "keep_features_over_reset", "on", VERDICT_UNVERIFIABLE } },
          .rows = ROWS(ACTIVE, ID(plain), COMMAND("66 00 00 00 00 00 00 00 00 40 ef 00")) },
        { "settings preservation is written before statistics notification",
          { { "device_statistics_notification", "on", VERDICT_APPLIED }, { "software_settings_preservation", "on", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(plain), COMMAND("10 00 06 00 00 00 00 00 00 40 ef 00"),
                       COMMAND("63 00 01 00 00 00 00 00 00 40 ef 00"), ID(changed[SSP])) },
        { "settings preservation and statistics notification are turned off", { { "device_statistics_notification", "off", VERDICT_APPLIED }, { "software_settings_preservation", "off", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(changed[SSP]), COMMAND("90 00 06 00 00 00 00 00 00 40 ef 00"),
                       COMMAND("63 00 02 00 00 00 00 00 00 40 ef 00"), ID(plain)) },
        { "free-fall control is enabled with its level", { { "free_fall_control", "64", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(plain), COMMAND("41 00 40 00 00 00 00 00 00 40 ef 00"), ID(changed[FREE_FALL])) },
        { "free-fall control is disabled", { { "free_fall_control", "off", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(changed[FREE_FALL]), COMMAND("c1 00 00 00 00 00 00 00 00 40 ef 00"), ID(plain)) },

        { "security freeze", { { "security_freeze", "on", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(plain), COMMAND("00 00 00 00 00 00 00 00 00 40 f5 00"), ID(changed[FROZEN])) },
        { "security freeze cannot be undone", { { "security_freeze", "off", VERDICT_UNSUPPORTED, "power cycle" } },
          .rows = ROWS(ACTIVE, ID(changed[FROZEN]), ID(changed[FROZEN])) },
        { "DCO freeze: an abort by the drive proves the freeze", { { "dco_freeze", "on", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(plain), { .cdb = "85 08 2e 00 c2 00 01 00 00 00 00 00 00 40 b1 00", .data = dco_data, .data_len = 512, .sense = GOOD },
                       COMMAND("c1 00 00 00 00 00 00 00 00 40 b1 00"), ID(plain),
                       { .cdb = "85 08 2e 00 c2 00 01 00 00 00 00 00 00 40 b1 00", .sense = ABORTED }) },
        { "DCO freeze: a rejection or zeros from a bridge prove nothing", { { "dco_freeze", "on", VERDICT_UNVERIFIABLE } },
          .rows = ROWS(ACTIVE, ID(plain), { .cdb = "85 08 2e 00 c2 00 01 00 00 00 00 00 00 40 b1 00", .sense = "70 00 05 00 00 00 00 0a 00 00 00 00 20 00 00 00 00 00" },
                       COMMAND("c1 00 00 00 00 00 00 00 00 40 b1 00"), ID(plain), { .cdb = "85 08 2e 00 c2 00 01 00 00 00 00 00 00 40 b1 00" }) },
        { "DCO freeze: the drive is already frozen, and no registers are returned", { { "dco_freeze", "on", VERDICT_UNVERIFIABLE, "probably set already" } },
          .rows = ROWS(ACTIVE, ID(plain), { .cdb = "85 08 2e 00 c2 00 01 00 00 00 00 00 00 40 b1 00", .sense = FIXED_ABORT },
                       { .cdb = "85 06 20 00 c1 00 00 00 00 00 00 00 00 40 b1 00", .sense = FIXED_ABORT },
                       { .cdb = "85 08 2e 00 c2 00 01 00 00 00 00 00 00 40 b1 00", .sense = FIXED_ABORT }, ID(plain),
                       { .cdb = "85 08 2e 00 c2 00 01 00 00 00 00 00 00 40 b1 00", .sense = FIXED_ABORT }) },
        { "sanitize freeze", { { "sanitize_freeze", "on", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(plain), SANITIZE(SANITIZE_COUNT("00")),
                       { .cdb = "85 07 20 00 20 00 00 46 6b 00 4c 00 72 40 b4 00", .sense = GOOD }, ID(plain), SANITIZE(SANITIZE_COUNT("20"))) },
        { "sanitize freeze: the upper half of the registers is not returned", { { "sanitize_freeze", "on", VERDICT_UNVERIFIABLE } },
          .rows = ROWS(ACTIVE, ID(plain), SANITIZE("70 00 01 00 50 40 00 0a c0 00 00 00 00 1d 00 00 00 00"),
                       { .cdb = "85 07 20 00 20 00 00 46 6b 00 4c 00 72 40 b4 00", .sense = GOOD }, ID(plain), SANITIZE(NULL)) },

        { "EPC is not written without apply --permanent", { { "epc", "on", VERDICT_FORBIDDEN, "apply --permanent" } }, .rows = ROWS(ACTIVE, ID(plain)) },
        { "EPC is enabled first, and its timers are read afterwards",
          { { "idle_b", "10min", VERDICT_UNCHANGED }, { "epc", "on", VERDICT_APPLIED }, { "standby_z", "off", VERDICT_APPLIED } },
          .apply_permanent = true,
          .rows = ROWS(ACTIVE, ID(plain), COMMAND("4a 00 00 00 04 00 00 00 00 40 ef 00"), ID(changed[EPC]), EPC_LOG(epc_on), EPC_LOG(epc_on),
                       EPC_LOG(epc_on), COMMAND("4a 00 00 00 03 00 00 00 00 40 ef 00"), ID(changed[EPC]), EPC_LOG(epc_off)) },
        { "EPC timer in units of 100 ms", { { "idle_b", "90s", VERDICT_ADJUSTED, "10 min" } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_off), EPC_LOG(epc_off), COMMAND("4a 00 82 00 22 00 84 00 03 40 ef 00"), ID(changed[EPC]), EPC_LOG(epc_on)) },
        { "EPC timer in minutes, saved", { { "idle_b", "2h", VERDICT_APPLIED } }, .permanent = true, .apply_permanent = true,
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_on), EPC_LOG(epc_on), COMMAND("4a 00 82 00 b2 00 78 00 00 40 ef 00"), ID(changed[EPC]), EPC_LOG(epc_saved)) },
        /* Each EPC timer has its own offset in the Power Conditions log and its own power condition ID. */
        { "EPC: idle_a is unchanged", { { "idle_a", "1s", VERDICT_UNCHANGED } }, .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_each)) },
        { "EPC: idle_b is unchanged", { { "idle_b", "2s", VERDICT_UNCHANGED } }, .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_each)) },
        { "EPC: idle_c is unchanged", { { "idle_c", "3s", VERDICT_UNCHANGED } }, .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_each)) },
        { "EPC: standby_y is unchanged", { { "standby_y", "4s", VERDICT_UNCHANGED } }, .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_each)) },
        { "EPC: standby_z is unchanged", { { "standby_z", "5s", VERDICT_UNCHANGED } }, .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_each)) },
        { "EPC: idle_a off", { { "idle_a", "off", VERDICT_IGNORED } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_each), EPC_LOG(epc_each), COMMAND("4a 00 81 00 03 00 00 00 00 40 ef 00"),
                       ID(changed[EPC]), EPC_LOG(epc_each)) },
        { "EPC: idle_c off", { { "idle_c", "off", VERDICT_IGNORED } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_each), EPC_LOG(epc_each), COMMAND("4a 00 83 00 03 00 00 00 00 40 ef 00"),
                       ID(changed[EPC]), EPC_LOG(epc_each)) },
        { "EPC: standby_y off", { { "standby_y", "off", VERDICT_IGNORED } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_each), EPC_LOG(epc_each), COMMAND("4a 00 01 00 03 00 00 00 00 40 ef 00"),
                       ID(changed[EPC]), EPC_LOG(epc_each)) },
        { "longest EPC timer in units of 100 ms", { { "idle_b", "6553500ms", VERDICT_IGNORED } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_each), EPC_LOG(epc_each), COMMAND("4a 00 82 00 22 00 ff 00 ff 40 ef 00"),
                       ID(changed[EPC]), EPC_LOG(epc_each)) },
        { "longest EPC timer in minutes", { { "idle_b", "65535min", VERDICT_IGNORED } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_each), EPC_LOG(epc_each), COMMAND("4a 00 82 00 a2 00 ff 00 ff 40 ef 00"),
                       ID(changed[EPC]), EPC_LOG(epc_each)) },
        { "EPC timer that is too long", { { "idle_b", "65536min", VERDICT_UNSUPPORTED, "end at 65535 minutes" } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_each), EPC_LOG(epc_each), ID(changed[EPC]), EPC_LOG(epc_each)) },
        { "EPC timer above the drive's range: the drive chooses its highest time",
          { { "idle_b", "2h", VERDICT_ADJUSTED, "2 h was accepted, but the drive chose 1 h; the drive's range is 2 min to 1 h" } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_ranged), EPC_LOG(epc_ranged), COMMAND("4a 00 82 00 a2 00 78 00 00 40 ef 00"),
                       ID(changed[EPC]), EPC_LOG(epc_highest)) },
        { "EPC timer below the drive's range: the drive rejects the time",
          { { "idle_b", "1s", VERDICT_REFUSED, "rejected the time, which is outside its range of 2 min to 1 h; the nearest time is 2 min" } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_ranged), EPC_LOG(epc_ranged),
                       { .cdb = "85 06 20 00 4a 00 82 00 22 00 0a 00 00 40 ef 00", .sense = ABORTED }, ID(changed[EPC]), EPC_LOG(epc_ranged)) },
        { "EPC timer within the drive's range: the drive rejects the time for another cause",
          { { "idle_b", "3min", VERDICT_REFUSED, "rejected SET FEATURES 4Ah" } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_ranged), EPC_LOG(epc_ranged),
                       { .cdb = "85 06 20 00 4a 00 82 00 22 00 08 00 07 40 ef 00", .sense = ABORTED }, ID(changed[EPC]), EPC_LOG(epc_ranged)) },
        { "EPC timer that cannot be changed", { { "idle_b", "10min", VERDICT_UNSUPPORTED, "cannot be changed" } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_fixed), EPC_LOG(epc_fixed), ID(changed[EPC]), EPC_LOG(epc_fixed)) },
        { "EPC timer that the drive cannot save", { { "idle_b", "1h", VERDICT_IGNORED } }, .permanent = true, .apply_permanent = true,
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_unsaved), EPC_LOG(epc_unsaved), COMMAND("4a 00 82 00 22 00 a0 00 8c 40 ef 00"),
                       ID(changed[EPC]), EPC_LOG(epc_unsaved)) },
        { "drive with EPC, but without the Power Conditions log", { { "idle_b", "10min", VERDICT_REFUSED, "the drive rejected READ LOG EXT (aborted command, status 51h, error 04h)" } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), { .cdb = "85 09 0e 00 00 00 02 00 08 00 00 00 00 40 2f 00", .sense = ABORTED }) },
        { "EPC timer while EPC is disabled", { { "idle_b", "2h", VERDICT_UNSUPPORTED, "epc = true" } },
          .rows = ROWS(ACTIVE, ID(plain), EPC_LOG(epc_on)) },
        { "EPC timer turned off permanently while EPC is disabled", { { "idle_b", "off", VERDICT_UNSUPPORTED, "epc = true" } }, .permanent = true,
          .apply_permanent = true, .rows = ROWS(ACTIVE, ID(plain), EPC_LOG(epc_saved), ID(plain), EPC_LOG(epc_saved)) },
        { "EPC timer that is off while EPC is disabled", { { "idle_b", "off", VERDICT_UNCHANGED } }, .rows = ROWS(ACTIVE, ID(plain), EPC_LOG(epc_on)) },
        { "a dry run reports that EPC timers need epc = true", { { "epc", "on", VERDICT_FORBIDDEN, "apply --permanent" }, { "idle_b", "2h", VERDICT_UNSUPPORTED, "epc = true" } },
          .dry = true, .rows = ROWS(ACTIVE, ID(plain), EPC_LOG(epc_on)) },
        { "a dry run that enables EPC compares with the saved timers",
          { { "epc", "on", _VERDICT_INVALID }, { "idle_b", "2h", VERDICT_UNCHANGED }, { "standby_z", "off", VERDICT_UNCHANGED } },
          .dry = true, .apply_permanent = true, .rows = ROWS(ACTIVE, ID(plain), EPC_LOG(epc_saved), EPC_LOG(epc_saved)) },
        { "APM is rejected while EPC is enabled", { { "apm", "127", VERDICT_REFUSED, "its extended power conditions (EPC) are enabled" } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), { .cdb = "85 06 20 00 05 00 7f 00 00 00 00 00 00 40 ef 00", .sense = ABORTED }, ID(changed[EPC])) },

        /* If two settings exclude each other and the drive supports both, the later setting wins. */
        { "epc in a later block excludes apm", { { "apm", "127", VERDICT_FORBIDDEN, "epc (f:2) comes later, so apm (f:1) is not written" }, { "epc", "on", VERDICT_FORBIDDEN, "apply --permanent" } },
          .rows = ROWS(ACTIVE, ID(plain)) },
        { "apm in a later block excludes epc", { { "epc", "on", VERDICT_FORBIDDEN, "apm (f:2) comes later, so epc (f:1) is not written" }, { "apm", "127", VERDICT_UNCHANGED } },
          .apply_permanent = true, .rows = ROWS(ACTIVE, ID(apm_127)) },
        { "a later epc does not exclude apm on a drive without EPC", { { "apm", "127", VERDICT_APPLIED }, { "epc", "on", VERDICT_UNSUPPORTED } },
          .rows = ROWS(ACTIVE, ID(without_epc), COMMAND("05 00 7f 00 00 00 00 00 00 40 ef 00"), ID(apm_127)) },
        { "a later standby_z does not exclude spindown_time on a drive without EPC", { { "spindown_time", "20min", VERDICT_UNVERIFIABLE }, { "standby_z", "20min", VERDICT_UNSUPPORTED } },
          .rows = ROWS(ACTIVE, ID(without_epc), COMMAND("00 00 f0 00 00 00 00 00 00 40 e3 00")) },
        { "a later spindown_time applies on a drive without EPC", { { "standby_z", "20min", VERDICT_UNSUPPORTED }, { "spindown_time", "20min", VERDICT_UNVERIFIABLE } },
          .rows = ROWS(ACTIVE, ID(without_epc), COMMAND("00 00 f0 00 00 00 00 00 00 40 e3 00")) },
        { "a later standby_z excludes spindown_time on a drive with EPC", { { "spindown_time", "20min", VERDICT_FORBIDDEN, "standby_z (f:2) comes later, so spindown_time (f:1) is not written" }, { "standby_z", "1h", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_off), EPC_LOG(epc_off), COMMAND("4a 00 00 00 22 00 a0 00 8c 40 ef 00"), ID(changed[EPC]), EPC_LOG(epc_on)) },
        { "a later spindown_time excludes standby_z on a drive with EPC", { { "standby_z", "1h", VERDICT_FORBIDDEN, "spindown_time (f:2) comes later" }, { "spindown_time", "20min", VERDICT_UNVERIFIABLE } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_off), COMMAND("00 00 f0 00 00 00 00 00 00 40 e3 00")) },
        { "spindown_time applies while EPC is disabled", { { "spindown_time", "20min", VERDICT_UNVERIFIABLE }, { "standby_z", "20min", VERDICT_UNSUPPORTED, "epc = true" } },
          .rows = ROWS(ACTIVE, ID(plain), EPC_LOG(epc_on), COMMAND("00 00 f0 00 00 00 00 00 00 40 e3 00")) },
        { "spindown_time applies if the Power Conditions log cannot be read", { { "spindown_time", "20min", VERDICT_UNVERIFIABLE }, { "standby_z", "20min", VERDICT_REFUSED } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), { .cdb = "85 09 0e 00 00 00 02 00 08 00 00 00 00 40 2f 00", .sense = ABORTED },
                       COMMAND("00 00 f0 00 00 00 00 00 00 40 e3 00")) },
        { "standby_z excludes a spindown_time that was sent before", { { "spindown_time", "240", VERDICT_FORBIDDEN, "standby_z (f:2)" }, { "standby_z", "1h", VERDICT_UNCHANGED } },
          .memory = { .sent = { true, 240 } }, .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_on)) },
        { "a spindown_time that was sent before remains on a drive without EPC", { { "spindown_time", "240", VERDICT_UNVERIFIABLE, "already sent" }, { "standby_z", "1h", VERDICT_UNSUPPORTED } },
          .memory = { .sent = { true, 240 } }, .rows = ROWS(ACTIVE, ID(without_epc)) },
        { "a drive in standby defers both timers", { { "spindown_time", "20min", VERDICT_DEFERRED, "the supported settings are known only when the drive is active" }, { "standby_z", "20min", VERDICT_DEFERRED } }, .rows = ROWS(IN_STANDBY) },
        { "spindown_time off does not stop a standby_z that is on", { { "standby_z", "1h", VERDICT_UNCHANGED }, { "spindown_time", "off", VERDICT_UNCHANGED, "shares its timer with standby_z, which is on" } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_on)) },
        { "standby_z off does not stop a spindown_time that is on", { { "standby_z", "off", VERDICT_UNCHANGED, "shares its timer with spindown_time, which is on" }, { "spindown_time", "20min", VERDICT_UNVERIFIABLE } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_on), COMMAND("00 00 f0 00 00 00 00 00 00 40 e3 00")) },
        { "both timers are turned off", { { "standby_z", "off", VERDICT_UNCHANGED }, { "spindown_time", "off", VERDICT_UNVERIFIABLE } },
          .rows = ROWS(ACTIVE, ID(changed[EPC]), EPC_LOG(epc_off), COMMAND("00 00 00 00 00 00 00 00 00 40 e3 00")) },
        { "spindown_time off is sent to a drive without EPC", { { "standby_z", "1h", VERDICT_UNSUPPORTED }, { "spindown_time", "off", VERDICT_UNVERIFIABLE } },
          .rows = ROWS(ACTIVE, ID(without_epc), COMMAND("00 00 00 00 00 00 00 00 00 40 e3 00")) },
        { "a dry run plans spindown_time for a drive without EPC", { { "spindown_time", "20min", _VERDICT_INVALID }, { "standby_z", "20min", VERDICT_UNSUPPORTED } }, .dry = true,
          .rows = ROWS(ACTIVE, ID(without_epc)) },
        { "a drive that vanishes ends the other settings, except a timer that was sent before", { { "spindown_time", "240", VERDICT_UNVERIFIABLE }, { "standby_z", "1h", VERDICT_VANISHED }, { "apm", "127", VERDICT_VANISHED } },
          .memory = { .sent = { true, 240 } }, .rows = ROWS(ACTIVE, { .cdb = "85 08 0e 00 00 00 01 00 00 00 00 00 00 40 ec 00", .host_status = 1 }) },
        { "a forbidden sleep does not exclude standby", { { "standby", "on", VERDICT_APPLIED }, { "sleep", "on", VERDICT_FORBIDDEN, "dangerous" } },
          .rows = ROWS(ACTIVE, ID(plain), STANDBY, IN_STANDBY) },
        { "a permitted sleep excludes standby", { { "standby", "on", VERDICT_FORBIDDEN, "sleep (f:2)" }, { "sleep", "on", VERDICT_UNVERIFIABLE } }, .dangerous = true,
          .rows = ROWS(ACTIVE, COMMAND("00 00 00 00 00 00 00 00 00 40 e6 00")) },
        { "the drive rejects the APM level",
          { { "apm", "127", VERDICT_REFUSED, "(aborted command, status 51h, error 04h): value not supported; try another value, or apm = \"keep\" for" } },
          .rows = ROWS(ACTIVE, ID(plain), { .cdb = "85 06 20 00 05 00 7f 00 00 00 00 00 00 40 ef 00", .sense = ABORTED }, ID(plain)) },
        { "a device fault suggests no other APM level", { { "apm", "127", VERDICT_REFUSED, "SET FEATURES 05h (device fault, status 70h, error 00h)" } },
          .rows = ROWS(ACTIVE, ID(plain), { .cdb = "85 06 20 00 05 00 7f 00 00 00 00 00 00 40 ef 00", .sense = FAULT }, ID(plain)) },

        { "standby is read back by CHECK POWER MODE", { { "standby", "on", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(changed[SMART]), SMART_DATA(smart_idle), STANDBY, IN_STANDBY) },
        { "standby after another setting has read IDENTIFY", { { "standby", "on", VERDICT_APPLIED }, { "apm", "128", VERDICT_UNCHANGED } },
          .rows = ROWS(ACTIVE, ID(changed[SMART]), SMART_DATA(smart_idle), STANDBY, IN_STANDBY) },
        { "standby through a bridge that returns no registers, after recent I/O", { { "standby", "on", VERDICT_UNVERIFIABLE, "cannot be read back" } },
          .active = true, .bridge = { .cdb = 16, .queried = true, .without_registers = true },
          .rows = ROWS(ID(changed[SMART]), SMART_DATA(smart_idle), { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e0 00" }) },
        { "standby through a bridge that returns no registers, without recent I/O", { { "standby", "on", VERDICT_DEFERRED, "the power mode of the drive is not known" } },
          .bridge = { .cdb = 16, .queried = true, .without_registers = true } },
        { "standby is not sent during a self-test", { { "standby", "on", VERDICT_DEFERRED, "a self-test is running, and a spin-down would abort it" } },
          .rows = ROWS(ACTIVE, ID(changed[SMART]), SMART_DATA(smart_tests)) },
        { "standby after an aborted self-test", { { "standby", "on", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(changed[SMART]), SMART_DATA(smart_tested), STANDBY, IN_STANDBY) },
        { "standby is not sent during an off-line data collection", { { "standby", "on", VERDICT_DEFERRED, "an off-line data collection is running" } },
          .rows = ROWS(ACTIVE, ID(changed[SMART]), SMART_DATA(smart_collects)) },
        { "standby is sent during the drive's automatic data collection", { { "standby", "on", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(changed[SMART]), SMART_DATA(smart_collects_itself), STANDBY, IN_STANDBY) },
        { "standby is sent if SMART data with a self-test has a wrong checksum", { { "standby", "on", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(changed[SMART]), SMART_DATA(smart_torn), STANDBY, IN_STANDBY) },
        { "standby is sent if the drive rejects SMART READ DATA", { { "standby", "on", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(changed[SMART]), SMART_FAILS(.sense = ABORTED), STANDBY, IN_STANDBY) },
        { "standby of a drive that vanishes at SMART READ DATA", { { "standby", "on", VERDICT_VANISHED } },
          .rows = ROWS(ACTIVE, ID(changed[SMART]), SMART_FAILS(.host_status = 1)) },
        { "standby of a drive that has SMART disabled", { { "standby", "on", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(plain), STANDBY, IN_STANDBY) },
        { "standby of a drive that rejects IDENTIFY", { { "standby", "on", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, { .cdb = "85 08 0e 00 00 00 01 00 00 00 00 00 00 40 ec 00", .sense = ABORTED }, STANDBY, IN_STANDBY) },
        { "the drive rejects STANDBY IMMEDIATE", { { "standby", "on", VERDICT_REFUSED, "not supported; standby = \"keep\" leaves the setting unchanged" } },
          .rows = ROWS(ACTIVE, ID(plain), { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e0 00", .sense = ABORTED }, ACTIVE) },
        { "the drive accepts STANDBY IMMEDIATE, but remains active", { { "standby", "on", VERDICT_IGNORED } }, .rows = ROWS(ACTIVE, ID(plain), STANDBY, ACTIVE) },
        { "standby is sent after the other settings are read back", { { "standby", "on", VERDICT_APPLIED }, { "free_fall_control", "64", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(plain), COMMAND("41 00 40 00 00 00 00 00 00 40 ef 00"), ID(changed[FREE_FALL]),
                       STANDBY, IN_STANDBY) },
        { "standby of a drive that then rejects CHECK POWER MODE", { { "standby", "on", VERDICT_UNVERIFIABLE, "cannot be read back" } },
          .active = true,
          .rows = ROWS(ACTIVE, ID(plain), STANDBY, { .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00", .sense = ABORTED }) },
        { "standby off does not spin up a drive in standby", { { "standby", "off", VERDICT_UNSUPPORTED, "off does nothing" } }, .rows = ROWS(IN_STANDBY) },
        { "standby of a drive that is already in standby", { { "standby", "on", VERDICT_UNCHANGED } }, .rows = ROWS(IN_STANDBY) },
        { "standby was sent before, and the drive is still in standby", { { "standby", "on", VERDICT_UNCHANGED } }, .memory = { .sent = { true, 1 } }, .rows = ROWS(IN_STANDBY) },
        { "standby was sent before, and the drive was spun up since", { { "standby", "on", VERDICT_APPLIED, "attached; the drive became active later" } },
          .memory = { .sent = { true, 1 } }, .rows = ROWS(ACTIVE) },
        { "standby was sent before, and the drive does not report its power mode", { { "standby", "on", VERDICT_UNVERIFIABLE, "not known" } },
          .memory = { .sent = { true, 1 } }, .rows = ROWS({ .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00", .sense = ABORTED }) },
        { "standby was sent before, and the drive has vanished", { { "standby", "on", VERDICT_VANISHED } },
          .memory = { .sent = { true, 1 } }, .rows = ROWS({ .cdb = "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00", .host_status = 1 }) },
        { "standby at each resume", { { "standby", "resume", VERDICT_APPLIED } }, .rows = ROWS(ACTIVE, ID(plain), STANDBY, IN_STANDBY) },
        { "standby at each resume, of a drive already in standby", { { "standby", "resume", VERDICT_UNCHANGED } }, .rows = ROWS(IN_STANDBY) },
        { "standby at each resume, of a drive spun up since", { { "standby", "resume", VERDICT_APPLIED, "resumed; the drive became active later" } },
          .memory = { .sent = { true, 2 } }, .rows = ROWS(ACTIVE) },
        { "standby at each resume is sent again after the attach", { { "standby", "resume", VERDICT_APPLIED } },
          .memory = { .sent = { true, 1 } }, .rows = ROWS(ACTIVE, ID(plain), STANDBY, IN_STANDBY) },
        { "after SLEEP no command is sent", { { "sleep", "on", VERDICT_UNVERIFIABLE } }, .dangerous = true,
          .rows = ROWS(ACTIVE, COMMAND("00 00 00 00 00 00 00 00 00 40 e6 00")) },
        { "after SLEEP later visits send no command, not even CHECK POWER MODE",
          { { "free_fall_control", "64", VERDICT_DEFERRED, "in standby" }, { "sleep", "on", VERDICT_UNVERIFIABLE }, { "spindown_time", "240", VERDICT_DEFERRED } },
          .dangerous = true, .ata_sleep = true, .second = { .sent = { true, 1 } } },

        { "error recovery limit for reads", { { "error_recovery_read", "7s", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(plain), SCT_STATUS, SCT_ANSWER("03 00 02 00 01 00 00 00", "00", "00"), SCT("03 00 01 00 01 00 46 00"), ID(plain),
                       SCT_ANSWER("03 00 02 00 01 00 00 00", "46", "00")) },
        { "a later error_recovery_write excludes error_recovery", { { "error_recovery", "off", VERDICT_FORBIDDEN }, { "error_recovery_write", "off", VERDICT_UNCHANGED } },
          .rows = ROWS(ACTIVE, ID(plain), SCT_STATUS, SCT_ANSWER("03 00 02 00 01 00 00 00", "00", "00"), SCT_ANSWER("03 00 02 00 02 00 00 00", "00", "00"),
                       SCT_ANSWER("03 00 02 00 02 00 00 00", "00", "00")) },
        { "error recovery limits are saved by functions 3 and 4", { { "error_recovery", "7s", VERDICT_APPLIED } }, .permanent = true, .apply_permanent = true,
          .rows = ROWS(ACTIVE, ID(plain), SCT_STATUS, SCT_ANSWER("03 00 02 00 01 00 00 00", "46", "00"), SCT_ANSWER("03 00 02 00 02 00 00 00", "46", "00"),
                       SCT_ANSWER("03 00 04 00 01 00 00 00", "00", "00"), SCT_ANSWER("03 00 04 00 02 00 00 00", "00", "00"),
                       SCT("03 00 01 00 01 00 46 00"), SCT("03 00 01 00 02 00 46 00"),
                       SCT_ANSWER("03 00 04 00 01 00 00 00", "00", "00"), SCT_ANSWER("03 00 04 00 02 00 00 00", "00", "00"),
                       SCT("03 00 03 00 01 00 46 00"), SCT("03 00 03 00 02 00 46 00"), ID(plain),
                       SCT_ANSWER("03 00 02 00 01 00 00 00", "46", "00"), SCT_ANSWER("03 00 02 00 02 00 00 00", "46", "00"),
                       SCT_ANSWER("03 00 04 00 01 00 00 00", "46", "00"), SCT_ANSWER("03 00 04 00 02 00 00 00", "46", "00")) },
        { "error recovery limit that the drive cannot save", { { "error_recovery_read", "7s", VERDICT_UNCHANGED, "cannot save the value" } }, .permanent = true,
          .apply_permanent = true,
          .rows = ROWS(ACTIVE, ID(plain), SCT_STATUS, SCT_ANSWER("03 00 02 00 01 00 00 00", "46", "00"), SCT_REFUSED("03 00 04 00 01 00 00 00")) },

        { "a write cache forced on ignores write_cache", { { "write_cache", "off", VERDICT_IGNORED, "write_cache_forced" } },
          .rows = ROWS(ACTIVE, ID(plain), SCT_STATUS, SCT_ANSWER("04 00 02 00 01 00 00 00", "02", "00"), ID(plain)) },
        { "write_cache_reordering is turned off", { { "write_cache_reordering", "off", VERDICT_APPLIED } },
          .rows = ROWS(ACTIVE, ID(plain), SCT_STATUS, SCT_ANSWER("04 00 02 00 02 00 00 00", "01", "00"), SCT("04 00 01 00 02 00 02 00 00 00"), ID(plain),
                       SCT_ANSWER("04 00 02 00 02 00 00 00", "02", "00")) },
        { "write_cache_reordering is already saved", { { "write_cache_reordering", "on", VERDICT_UNCHANGED } }, .permanent = true, .apply_permanent = true,
          .rows = ROWS(ACTIVE, ID(plain), SCT_STATUS, SCT_ANSWER("04 00 02 00 02 00 00 00", "01", "00"), SCT_ANSWER("04 00 03 00 02 00 00 00", "01", "00")) },
        { "write_cache_forced is forbidden without allow_dangerous", { { "write_cache_forced", "off", VERDICT_FORBIDDEN, "ignores cache commands" } } },
        { "write_cache_forced = normal needs no allow_dangerous", { { "write_cache_forced", "normal", VERDICT_UNCHANGED } },
          .rows = ROWS(ACTIVE, ID(plain), SCT_STATUS, SCT_ANSWER("04 00 02 00 01 00 00 00", "01", "00")) },
        { "write_cache_forced is saved, and SET FEATURES makes the kernel revalidate", { { "write_cache_forced", "on", VERDICT_APPLIED } }, .dangerous = true,
          .permanent = true, .apply_permanent = true,
          .rows = ROWS(ACTIVE, ID(plain), SCT_STATUS, SCT_ANSWER("04 00 02 00 01 00 00 00", "01", "00"), SCT_ANSWER("04 00 03 00 01 00 00 00", "00", "00"),
                       SCT("04 00 01 00 01 00 02 00 01 00"), ID(plain), COMMAND("02 00 00 00 00 00 00 00 00 40 ef 00"), ID(plain),
                       SCT_ANSWER("04 00 02 00 01 00 00 00", "02", "00"), SCT_ANSWER("04 00 03 00 01 00 00 00", "01", "00")) },
        { "write_cache_forced is reported to the kernel even if IDENTIFY does not change", { { "write_cache_forced", "on", VERDICT_APPLIED } },
          .dangerous = true,
          .rows = ROWS(ACTIVE, ID(uncached), SCT_STATUS, SCT_ANSWER("04 00 02 00 01 00 00 00", "01", "00"),
                       SCT("04 00 01 00 01 00 02 00 00 00"), ID(uncached), COMMAND("02 00 00 00 00 00 00 00 00 40 ef 00"), ID(uncached),
                       SCT_ANSWER("04 00 02 00 01 00 00 00", "02", "00")) },
        { "spindown_time with vendor-specific timer values", { { "spindown_time", "10min", VERDICT_UNVERIFIABLE, "word 49" } },
          .rows = ROWS(ACTIVE, ID(vendor_timer), COMMAND("00 00 78 00 00 00 00 00 00 40 e3 00")) },
        { "spindown_time off does not depend on vendor-specific values", { { "spindown_time", "off", VERDICT_UNVERIFIABLE, "cannot be read back" } },
          .rows = ROWS(ACTIVE, ID(vendor_timer), COMMAND("00 00 00 00 00 00 00 00 00 40 e3 00")) },
        { "security_freeze behind a bridge that caches IDENTIFY", { { "security_freeze", "on", VERDICT_UNVERIFIABLE, "bridge" } },
          .bridge = { .cdb = 16, .queried = true, .repeats_identify = true },
          .rows = ROWS(ACTIVE, ID(changed[FROZEN]), COMMAND("00 00 00 00 00 00 00 00 00 40 f5 00"), ID(changed[FROZEN])) },
        { "write_read_verify behind a bridge that caches IDENTIFY", { { "write_read_verify", "on", VERDICT_UNVERIFIABLE, "bridge" } }, .dangerous = true,
          .bridge = { .cdb = 16, .queried = true, .repeats_identify = true },
          .rows = ROWS(ACTIVE, ID(changed[WRV_ALL]), COMMAND("0b 00 00 00 00 00 00 00 00 40 ef 00"), ID(changed[WRV_ALL])) },
        { "security_freeze behind a bridge not yet known to cache IDENTIFY", { { "security_freeze", "on", VERDICT_UNVERIFIABLE, "IDENTIFY data did not change" } },
          .bridge = { .cdb = 16, .queried = true },
          .rows = ROWS(ACTIVE, ID(plain), COMMAND("00 00 00 00 00 00 00 00 00 40 f5 00"), ID(plain)) },

        { "an unsupported feature counts as off", { { "apm", "off", VERDICT_UNCHANGED, "has no apm, which counts as off" }, { "acoustic_management", "off", VERDICT_UNCHANGED },
          { "lookahead", "off", VERDICT_UNCHANGED }, { "write_cache", "off", VERDICT_UNCHANGED } }, .rows = ROWS(ACTIVE, ID(bare)) },
        { "unsupported free fall, statistics, preservation and verify count as off", { { "free_fall_control", "off", VERDICT_UNCHANGED }, { "device_statistics_notification", "off", VERDICT_UNCHANGED },
          { "software_settings_preservation", "off", VERDICT_UNCHANGED }, { "write_read_verify", "off", VERDICT_UNCHANGED } }, .rows = ROWS(ACTIVE, ID(bare)) },
        { "unsupported PIO sectors, PUIS, EPC and timers count as off", { { "mult_sect_io", "off", VERDICT_UNCHANGED }, { "poweron_standby", "off", VERDICT_UNCHANGED },
          { "epc", "off", VERDICT_UNCHANGED }, { "idle_b", "off", VERDICT_UNCHANGED } }, .rows = ROWS(ACTIVE, ID(bare)) },
        { "unsupported standby timer, error recovery and cache forcing count as off", { { "spindown_time", "off", VERDICT_UNCHANGED }, { "error_recovery", "off", VERDICT_UNCHANGED },
          { "write_cache_forced", "normal", VERDICT_UNCHANGED, "counts as normal" } }, .rows = ROWS(ACTIVE, ID(bare)) },
        { "unsupported locks count as off", { { "security_freeze", "off", VERDICT_UNCHANGED }, { "dco_freeze", "off", VERDICT_UNCHANGED },
          { "sanitize_freeze", "off", VERDICT_UNCHANGED } }, .rows = ROWS(ACTIVE, ID(bare)) },
        { "an unsupported feature cannot be turned on", { { "apm", "254", VERDICT_UNSUPPORTED, "has no apm" }, { "spindown_time", "10min", VERDICT_UNSUPPORTED },
          { "idle_b", "10min", VERDICT_UNSUPPORTED }, { "write_cache_reordering", "off", VERDICT_UNSUPPORTED } }, .rows = ROWS(ACTIVE, ID(bare)) },
        { "a drive before ATA-4 does not report its features", { { "apm", "off", VERDICT_UNSUPPORTED }, { "write_cache", "off", VERDICT_UNSUPPORTED },
          { "spindown_time", "off", VERDICT_UNSUPPORTED }, { "error_recovery", "off", VERDICT_UNSUPPORTED } }, .rows = ROWS(ACTIVE, ID(silent)) },
        { "keys without effect and excluded keys", { { "dma", "1", VERDICT_UNSUPPORTED, "libata.force" }, { "user-master", "u", VERDICT_FORBIDDEN, "password" } } },
};
/* clang-format on */

static void descriptor(uint8_t log[static 1024], unsigned offset, uint8_t flags, uint32_t usual, uint32_t saved,
                       uint32_t current) {
        uint8_t *p = log + offset;

        p[1] = flags;
        memcpy(p + 4, &(uint32_t){ htole32(usual) }, 4);
        memcpy(p + 8, &(uint32_t){ htole32(saved) }, 4);
        memcpy(p + 12, &(uint32_t){ htole32(current) }, 4);
}

static void range(uint8_t log[static 1024], unsigned offset, uint32_t min, uint32_t max) {
        memcpy(log + offset + 20, &(uint32_t){ htole32(min) }, 4);
        memcpy(log + offset + 24, &(uint32_t){ htole32(max) }, 4);
}

static void smart(uint8_t data[static 512], uint8_t collection, uint8_t test) {
        data[362] = collection;
        data[363] = test;
        data[511] = -(collection + test);
}

static void setup(void) {
        uint8_t sum = 0;

        plain = image_make(true, false, 128, -1);
        plain.words[47] = htole16(0x8010);
        plain.words[59] = htole16(1 << 12);
        plain.words[76] = htole16(0x0100);
        plain.words[78] = htole16(1 << 6);
        plain.words[82] |= htole16(1 << 1);
        plain.words[83] |= htole16(1 << 5 | 1 << 11);
        plain.words[84] = htole16(0x4000 | 1 << 5);
        plain.words[86] |= htole16(1 << 15);
        plain.words[119] = htole16(0x4000 | 1 << 1 | 1 << 5 | 1 << 7 | 1 << 9);
        plain.words[120] = htole16(0x4000);
        plain.words[128] = htole16(1);
        plain.words[206] |= htole16(1 << 4);
        image_seal(&plain);

        uncached = vendor_timer = plain;
        uncached.words[85] &= htole16(~(1 << 5) & 0xFFFF);
        image_seal(&uncached);
        vendor_timer.words[49] = 0;
        image_seal(&vendor_timer);

        bare.words[0] = htole16(0x0040);
        bare.words[49] = htole16(0x2000);
        silent = bare;
        bare.words[83] = bare.words[87] = htole16(0x4000);
        image_seal(&bare);
        image_seal(&silent);

        for (size_t i = 0; i < ELEMENTSOF(changed); i++) {
                changed[i] = plain;
                for (const Change *c = changes[i]; c < changes[i] + 3 && c->word; c++)
                        changed[i].words[c->word] |= htole16(c->bits);
                if (i == ACOUSTIC_0)
                        changed[i].words[94] = htole16(0xFE00);
                image_seal(&changed[i]);
        }

        without_epc = plain;
        without_epc.words[119] &= htole16(0xFF7F);
        image_seal(&without_epc);
        apm_127 = plain;
        apm_127.words[86] |= htole16(1U << 3);
        apm_127.words[91] = htole16(127);
        image_seal(&apm_127);

        dco_data[0] = 2;
        dco_data[510] = 0xA5;
        for (size_t i = 0; i < 511; i++)
                sum += dco_data[i];
        dco_data[511] = -sum;

        smart(smart_idle, 0x82, 0x00);
        smart(smart_tests, 0x00, 0xF9);
        smart(smart_tested, 0x00, 0x1F);
        smart(smart_collects, 0x03, 0x00);
        smart(smart_collects_itself, 0x83, 0x00);
        smart(smart_torn, 0x00, 0xF9);
        smart_torn[0] = 1;

        descriptor(epc_on, 64, 0xE0 | 1 << 2, 6000, 0, 6000);
        descriptor(epc_on, 512 + 448, 0xE0 | 1 << 2, 36000, 0, 36000);
        descriptor(epc_off, 64, 0xE0, 6000, 0, 6000);
        descriptor(epc_off, 512 + 448, 0xE0, 36000, 0, 36000);
        descriptor(epc_saved, 64, 0xE0 | 1 << 2 | 1 << 3, 6000, 72000, 72000);
        descriptor(epc_saved, 512 + 448, 0xE0, 36000, 0, 36000);
        descriptor(epc_each, 0, 0xA0 | 1 << 2, 0, 0, 10);
        descriptor(epc_each, 64, 0xA0 | 1 << 2, 0, 0, 20);
        descriptor(epc_each, 128, 0xA0 | 1 << 2, 0, 0, 30);
        descriptor(epc_each, 512 + 384, 0xA0 | 1 << 2, 0, 0, 40);
        descriptor(epc_each, 512 + 448, 0xA0 | 1 << 2, 0, 0, 50);
        descriptor(epc_fixed, 64, 0xC0, 6000, 0, 6000);
        descriptor(epc_ranged, 64, 0xE0 | 1 << 2, 6000, 0, 6000);
        range(epc_ranged, 64, 1200, 36000);
        descriptor(epc_highest, 64, 0xE0 | 1 << 2, 6000, 0, 36000);
        range(epc_highest, 64, 1200, 36000);
        descriptor(epc_unsaved, 64, 0xA0, 6000, 0, 6000);
}

static const Drive drive = { .name = (char *) "sda",
                             .node = (char *) "/dev/sda",
                             .syspath = (char *) "/nonexistent",
                             .transport = TRANSPORT_SATA,
                             .rotational = true,
                             .ata = true };

START_TEST(test_row) {
        const Case *c = cases + _i;
        Script script = { .rows = c->rows };
        DeviceIO io = script_io(&script);
        Drive behind = drive;
        Memory memories[4] = { c->memory, c->second };
        Wish wishes[4] = {};
        Wishes w = { .items = wishes };
        Visit v = {
                .drive = c->bridge.cdb ? &behind : &drive,
                .bridge = c->bridge.cdb ? &c->bridge : NULL,
                .wishes = &w,
                .memories = memories,
                .settings = &all_settings,
                .io = &io,
                .work = WORK_APPLY | (c->apply_permanent ? WORK_PERMANENT : 0),
                .ata_sleep = c->ata_sleep,
                .dry = c->dry,
                .active = c->active,
        };
        Plan p;

        behind.transport = TRANSPORT_USB;
        for (const Row *row = c->rows; row && row->cdb; row++)
                script.n_rows++;
        for (; w.n_items < 4 && c->outcomes[w.n_items].key; w.n_items++) {
                const Setting *s = setting_find(&all_settings, c->outcomes[w.n_items].key);

                ck_assert_ptr_nonnull(s);
                wishes[w.n_items] = (Wish){ .name = s->name,
                                            .allow_dangerous = c->dangerous,
                                            .permanent = c->permanent,
                                            .file = "f",
                                            .line = w.n_items + 1 };
                ck_assert_int_eq(value_parse(&s->range, c->outcomes[w.n_items].value, &wishes[w.n_items].value), 0);
        }

        ck_assert_int_eq(visit_run(&v, &p), 0);
        for (size_t i = 0; i < p.n_steps; i++) {
                const Step *s = p.steps + i;
                const Outcome *o = c->outcomes + (s->wish - wishes);

                ck_assert_msg(s->verdict == o->verdict, "%s: %s: expected %s, got %s (%s)", c->name, o->key,
                              verdict_to_string(o->verdict), verdict_to_string(s->verdict), s->reason);
                ck_assert_msg(!o->reason_part || strstr(s->reason, o->reason_part), "%s: %s: %s", c->name, o->key,
                              s->reason);
        }
        script_done(&script);
        plan_done(&p);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("ata-rows");
        TCase *t = tcase_create("ata-rows");

        setup();
        tcase_add_loop_test(t, test_row, 0, ELEMENTSOF(cases));
        suite_add_tcase(suite, t);

        return suite_run(suite);
}
