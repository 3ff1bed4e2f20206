/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks which name a command gets from its CDB, and whether the command spins up a drive in standby. */

#include "drive-command.h"
#include "suite.h"

#define ATA16(command, features) { 0x85, 0x08, 0x0e, 0, features, 0, 1, 0, 0, 0, 0x4f, 0, 0xc2, 0, command, 0 }, 16
#define ATA12(command, features) { 0xa1, 0x08, 0x0e, features, 1, 0, 0x4f, 0xc2, 0, command, 0, 0 }, 12

/* QUIET: command_is_quiet() returns true. MEDIUM: command_is_medium() returns true. WAKES: both functions return
 * false. */
typedef enum Effect { WAKES, QUIET, MEDIUM } Effect;

static const struct {
        uint8_t cdb[32];
        size_t len;
        const char *name;
        Effect effect;
} commands[] = {
        { ATA16(0xe5, 0), "CHECK POWER MODE", QUIET },
        { ATA12(0xe5, 0), "CHECK POWER MODE", QUIET },
        { ATA16(0x98, 0), "CHECK POWER MODE", QUIET },
        { ATA16(0xe0, 0), "STANDBY IMMEDIATE", QUIET },
        { ATA12(0x94, 0), "STANDBY IMMEDIATE", QUIET },
        { ATA16(0xe2, 0), "STANDBY", QUIET },
        { ATA16(0x96, 0), "STANDBY", QUIET },
        { ATA16(0xe6, 0), "SLEEP", QUIET },
        { ATA16(0x99, 0), "SLEEP", QUIET },
        /* ATA commands that may spin the drive up. */
        { ATA16(0xe1, 0), "IDLE IMMEDIATE", WAKES },
        { ATA16(0x95, 0), "IDLE IMMEDIATE", WAKES },
        { ATA12(0xe3, 0), "IDLE", WAKES },
        { ATA16(0x97, 0), "IDLE", WAKES },
        { ATA16(0xec, 0), "IDENTIFY DEVICE", WAKES },
        { ATA12(0xec, 0), "IDENTIFY DEVICE", WAKES },
        { ATA16(0xa1, 0), "IDENTIFY PACKET DEVICE", WAKES },
        { ATA16(0xb0, 0xd0), "SMART READ DATA", WAKES },
        { ATA12(0xb0, 0xd0), "SMART READ DATA", WAKES },
        { ATA16(0xb0, 0xd1), "SMART READ THRESHOLDS", WAKES },
        { ATA16(0xb0, 0xd2), "SMART ATTRIBUTE AUTOSAVE", WAKES },
        { ATA16(0xb0, 0xd4), "SMART EXECUTE OFF-LINE IMMEDIATE", WAKES },
        { ATA12(0xb0, 0xd5), "SMART READ LOG", WAKES },
        { ATA16(0xb0, 0xd6), "SMART WRITE LOG", WAKES },
        { ATA16(0xb0, 0xd8), "SMART ENABLE OPERATIONS", WAKES },
        { ATA16(0xb0, 0xd9), "SMART DISABLE OPERATIONS", WAKES },
        { ATA16(0xb0, 0xda), "SMART RETURN STATUS", WAKES },
        { ATA16(0xb0, 0xe5), "SMART subcommand E5h", WAKES },
        { ATA16(0x2f, 0), "READ LOG EXT", WAKES },
        { ATA16(0x47, 0), "READ LOG DMA EXT", WAKES },
        { ATA16(0xe7, 0), "FLUSH CACHE", WAKES },
        { ATA16(0xea, 0), "FLUSH CACHE EXT", WAKES },
        { ATA16(0xef, 0x85), "SET FEATURES", WAKES },
        { ATA16(0x25, 0), "READ DMA EXT", WAKES },
        { ATA16(0x35, 0), "WRITE DMA EXT", WAKES },
        { ATA16(0xc8, 0), "READ DMA", WAKES },
        { ATA16(0xca, 0), "WRITE DMA", WAKES },
        { ATA16(0x20, 0), "READ SECTORS", WAKES },
        { ATA16(0x24, 0), "READ SECTORS EXT", WAKES },
        { ATA16(0x40, 0), "READ VERIFY SECTORS", WAKES },
        { ATA16(0x42, 0), "READ VERIFY SECTORS EXT", WAKES },
        { ATA16(0xf8, 0), "READ NATIVE MAX ADDRESS", WAKES },
        { ATA16(0x27, 0), "READ NATIVE MAX ADDRESS EXT", WAKES },
        { ATA16(0xf5, 0), "SECURITY FREEZE LOCK", WAKES },
        { ATA16(0xb1, 0xc1), "DEVICE CONFIGURATION", WAKES },
        { ATA16(0xb4, 0), "SANITIZE DEVICE", WAKES },
        { ATA16(0xc6, 0), "SET MULTIPLE MODE", WAKES },
        { ATA16(0xf6, 0), "ATA command F6h", WAKES },
        { ATA12(0x00, 0), "ATA command 00h", WAKES },
        /* If a CDB is too short for its operation code, the ATA command in the CDB is not read. */
        { { 0x85, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xe5 }, 15, "ATA PASS-THROUGH", WAKES },
        { { 0xa1, 0, 0, 0, 0, 0, 0, 0, 0, 0xe5 }, 11, "ATA PASS-THROUGH", WAKES },

        { { 0x00 }, 6, "TEST UNIT READY", QUIET },
        { { 0x00 }, 1, "TEST UNIT READY", QUIET },
        { { 0x03 }, 6, "REQUEST SENSE", QUIET },
        { { 0x12, 1, 0x80 }, 6, "INQUIRY", QUIET },
        { { 0xa0 }, 12, "REPORT LUNS", QUIET },
        { { 0x1b, 0, 0, 0, 0x00 }, 6, "START STOP UNIT", QUIET },
        { { 0x1b, 1, 0, 0, 0x02 }, 6, "START STOP UNIT", QUIET }, /* LOEJ: ejects the medium */
        { { 0x1b, 0, 0, 0, 0x30 }, 6, "START STOP UNIT", QUIET },
        { { 0x1b, 0, 0, 0, 0x31 }, 6, "START STOP UNIT", QUIET }, /* drives ignore START if a POWER CONDITION is set */
        { { 0x1b, 0, 0, 0, 0xb0 }, 6, "START STOP UNIT", QUIET },
        { { 0x1b, 0, 0, 0, 0x01 }, 6, "START STOP UNIT", WAKES },
        { { 0x1b, 0, 0, 0, 0x10 }, 6, "START STOP UNIT", WAKES },
        { { 0x1b, 0, 0, 0, 0x20 }, 6, "START STOP UNIT", WAKES },
        { { 0x1b, 0, 0, 0, 0xa0 }, 6, "START STOP UNIT", WAKES },
        { { 0x1b, 0, 0, 0 }, 4, "START STOP UNIT", WAKES },
        { { 0x15 }, 6, "MODE SELECT", WAKES },
        { { 0x55 }, 10, "MODE SELECT", WAKES },
        { { 0x1a, 0, 0x08 }, 6, "MODE SENSE", WAKES },
        { { 0x5a }, 10, "MODE SENSE", WAKES },
        { { 0x1c }, 6, "RECEIVE DIAGNOSTIC RESULTS", WAKES },
        { { 0x1d }, 6, "SEND DIAGNOSTIC", WAKES },
        { { 0x25 }, 10, "READ CAPACITY", WAKES },
        { { 0x9e, 0x10 }, 16, "READ CAPACITY", WAKES },
        { { 0x9e, 0x12 }, 16, "SCSI command 9Eh", WAKES },
        { { 0x9e }, 1, "SCSI command 9Eh", WAKES },
        { { 0x37 }, 10, "READ DEFECT DATA", WAKES },
        { { 0xb7 }, 12, "READ DEFECT DATA", WAKES },
        { { 0x4c }, 10, "LOG SELECT", WAKES },
        { { 0x4d, 0, 0x2f }, 10, "LOG SENSE", WAKES },
        { { 0x5e }, 10, "PERSISTENT RESERVE IN", WAKES },
        { { 0x5f }, 10, "PERSISTENT RESERVE OUT", WAKES },
        { { 0xc1 }, 10, "SCSI command C1h", WAKES },
        { { 0xff }, 1, "SCSI command FFh", WAKES },
        { {}, 0, "a command", WAKES },

        { { 0x28 }, 10, "READ", MEDIUM },
        { { 0x88 }, 16, "READ", MEDIUM },
        { { 0x08 }, 6, "READ", MEDIUM },
        { { 0xa8 }, 12, "READ", MEDIUM },
        { { 0x2a }, 10, "WRITE", MEDIUM },
        { { 0x8a }, 16, "WRITE", MEDIUM },
        { { 0x0a }, 6, "WRITE", MEDIUM },
        { { 0xaa }, 12, "WRITE", MEDIUM },
        { { 0x2e }, 10, "WRITE AND VERIFY", MEDIUM },
        { { 0x2f }, 10, "VERIFY", MEDIUM },
        { { 0x8f }, 16, "VERIFY", MEDIUM },
        { { 0x35 }, 10, "SYNCHRONIZE CACHE", MEDIUM },
        { { 0x91 }, 16, "SYNCHRONIZE CACHE", MEDIUM },
        { { 0x41 }, 10, "WRITE SAME", MEDIUM },
        { { 0x93 }, 16, "WRITE SAME", MEDIUM },
        { { 0x42 }, 10, "UNMAP", MEDIUM },
        { { 0x7f, 0, 0, 0, 0, 0, 0, 0x18, 0x00, 0x09 }, 32, "SCSI command 7Fh", MEDIUM },
        { { 0x7f, 0, 0, 0, 0, 0, 0, 0x18, 0x00, 0x0d }, 32, "SCSI command 7Fh", MEDIUM },
        { { 0x7f, 0, 0, 0, 0, 0, 0, 0x18, 0x00, 0x0e }, 32, "SCSI command 7Fh", WAKES },
        { { 0x7f, 0, 0, 0, 0, 0, 0, 0x18, 0x01, 0x09 }, 32, "SCSI command 7Fh", WAKES },
        { { 0x7f, 0, 0, 0, 0, 0, 0, 0x18, 0x00 }, 9, "SCSI command 7Fh", WAKES },
};

START_TEST(test_command) {
        char buf[COMMAND_NAME_MAX];
        /* The copy is exactly as long as the CDB, so that the sanitizer detects reads beyond the end. */
        uint8_t *cdb = memcpy(malloc(commands[_i].len), commands[_i].cdb, commands[_i].len);
        Effect effect = command_is_quiet(cdb, commands[_i].len)    ? QUIET
                        : command_is_medium(cdb, commands[_i].len) ? MEDIUM
                                                                   : WAKES;

        ck_assert_str_eq(command_name(cdb, commands[_i].len, buf), commands[_i].name);
        ck_assert_msg(effect == commands[_i].effect, "%s: effect %d", commands[_i].name, (int) effect);
        ck_assert(command_may_spin_up(cdb, commands[_i].len) ==
                  STR_IN_SET(commands[_i].name, "IDENTIFY DEVICE", "IDENTIFY PACKET DEVICE", "FLUSH CACHE",
                             "FLUSH CACHE EXT", "SYNCHRONIZE CACHE", "UNMAP"));
        free(cdb);
}
END_TEST

/* A CDB with any operation code and length has a name. No CDB is both quiet and a medium command. */
START_TEST(test_any_command) {
        char buf[COMMAND_NAME_MAX];

        for (size_t len = 1; len <= 32; len++) {
                uint8_t *cdb = malloc(len);

                for (unsigned op = 0; op < 256; op++) {
                        memset(cdb, 0, len);
                        cdb[0] = (uint8_t) op;
                        ck_assert(*command_name(cdb, len, buf));
                        ck_assert(!command_is_quiet(cdb, len) || !command_is_medium(cdb, len));
                }
                free(cdb);
        }
}
END_TEST

/* For ATA commands with many functions, command_describe() appends the FEATURES register to the name. */
static const struct {
        uint8_t cdb[16];
        size_t len;
        const char *text;
} descriptions[] = {
        { ATA16(0xef, 0x05), "SET FEATURES 05h" },
        { ATA12(0xef, 0x85), "SET FEATURES 85h" },
        { ATA16(0xb1, 0xc1), "DEVICE CONFIGURATION C1h" },
        { ATA16(0xb4, 0x20), "SANITIZE DEVICE 20h" },
        { ATA16(0xb0, 0xd6), "SMART WRITE LOG" },
        { ATA16(0xe3, 0xff), "IDLE" },
        { ATA16(0xf6, 0x11), "ATA command F6h" },
        { { 0x55 }, 10, "MODE SELECT" },
        { { 0xb6 }, 12, "SET STREAMING" },
        { { 0xbb }, 12, "SET CD SPEED" },
        { { 0xb1 }, 12, "SCSI command B1h" },
};

START_TEST(test_describe) {
        char buf[COMMAND_NAME_MAX];

        ck_assert_str_eq(command_describe(descriptions[_i].cdb, descriptions[_i].len, buf), descriptions[_i].text);
}
END_TEST

static const struct {
        uint8_t key, asc, ascq;
        const char *text;
} senses[] = {
        { 0xb, 0x00, 0x00, "aborted command, sense Bh 00h/00h" },
        { 0x5, 0x24, 0x00, "illegal request: invalid field in CDB, sense 5h 24h/00h" },
        { 0x5, 0x26, 0x01, "illegal request: invalid field in parameter list, sense 5h 26h/01h" },
        { 0x4, 0x3e, 0x01, "hardware error, sense 4h 3Eh/01h" },
        { 0x7, 0x27, 0x00, "data protect: write protected, sense 7h 27h/00h" },
};

START_TEST(test_sense) {
        char buf[SENSE_TEXT_MAX];

        ck_assert_str_eq(sense_describe(senses[_i].key, senses[_i].asc, senses[_i].ascq, buf), senses[_i].text);
        for (unsigned key = 0; key < 16; key++)
                ck_assert(sense_key_name((uint8_t) key) && *sense_key_name((uint8_t) key));
}
END_TEST

int main(void) {
        Suite *s = suite_create("drive-command");
        TCase *t = tcase_create("drive-command");

        tcase_add_loop_test(t, test_command, 0, ELEMENTSOF(commands));
        tcase_add_test(t, test_any_command);
        tcase_add_loop_test(t, test_describe, 0, ELEMENTSOF(descriptions));
        tcase_add_loop_test(t, test_sense, 0, ELEMENTSOF(senses));
        suite_add_tcase(s, t);
        return suite_run(s);
}
