/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "drive-command.h"

/* The effect of a command on a drive in standby. WAKES: every drive spins up. QUIET: no drive spins up. DOUBTFUL: only
 * some drives spin up. MEDIUM marks the commands that the block layer sends for I/O. */
typedef enum Effect { WAKES = 0, QUIET = 1 << 0, MEDIUM = 1 << 1, DOUBTFUL = 1 << 2 } Effect;

typedef struct Command {
        uint8_t code;
        const char *name;
        Effect effect;
} Command;

static const Command scsi_commands[] = {
        { 0x00, "TEST UNIT READY", QUIET },
        { 0x03, "REQUEST SENSE", QUIET },
        { 0x08, "READ", MEDIUM },
        { 0x0a, "WRITE", MEDIUM },
        { 0x12, "INQUIRY", QUIET },
        { 0x15, "MODE SELECT", WAKES },
        { 0x1a, "MODE SENSE", WAKES },
        { 0x1b, "START STOP UNIT", WAKES },
        { 0x1c, "RECEIVE DIAGNOSTIC RESULTS", WAKES },
        { 0x1d, "SEND DIAGNOSTIC", WAKES },
        { 0x25, "READ CAPACITY", WAKES },
        { 0x28, "READ", MEDIUM },
        { 0x2a, "WRITE", MEDIUM },
        { 0x2e, "WRITE AND VERIFY", MEDIUM },
        { 0x2f, "VERIFY", MEDIUM },
        { 0x35, "SYNCHRONIZE CACHE", MEDIUM | DOUBTFUL },
        { 0x37, "READ DEFECT DATA", WAKES },
        { 0x41, "WRITE SAME", MEDIUM },
        { 0x42, "UNMAP", MEDIUM | DOUBTFUL },
        { 0x4c, "LOG SELECT", WAKES },
        { 0x4d, "LOG SENSE", WAKES },
        { 0x55, "MODE SELECT", WAKES },
        { 0x5a, "MODE SENSE", WAKES },
        { 0x5e, "PERSISTENT RESERVE IN", WAKES },
        { 0x5f, "PERSISTENT RESERVE OUT", WAKES },
        { 0x85, "ATA PASS-THROUGH", WAKES },
        { 0x88, "READ", MEDIUM },
        { 0x8a, "WRITE", MEDIUM },
        { 0x8e, "WRITE AND VERIFY", MEDIUM },
        { 0x8f, "VERIFY", MEDIUM },
        { 0x91, "SYNCHRONIZE CACHE", MEDIUM | DOUBTFUL },
        { 0x93, "WRITE SAME", MEDIUM },
        { 0xa0, "REPORT LUNS", QUIET },
        { 0xa1, "ATA PASS-THROUGH", WAKES },
        { 0xa8, "READ", MEDIUM },
        { 0xaa, "WRITE", MEDIUM },
        { 0xae, "WRITE AND VERIFY", MEDIUM },
        { 0xaf, "VERIFY", MEDIUM },
        { 0xb6, "SET STREAMING", WAKES },
        { 0xb7, "READ DEFECT DATA", WAKES },
        { 0xbb, "SET CD SPEED", WAKES },
};

static const Command ata_commands[] = {
        { 0x20, "READ SECTORS", WAKES },
        { 0x24, "READ SECTORS EXT", WAKES },
        { 0x25, "READ DMA EXT", WAKES },
        { 0x27, "READ NATIVE MAX ADDRESS EXT", WAKES },
        { 0x2f, "READ LOG EXT", WAKES },
        { 0x35, "WRITE DMA EXT", WAKES },
        { 0x40, "READ VERIFY SECTORS", WAKES },
        { 0x42, "READ VERIFY SECTORS EXT", WAKES },
        { 0x47, "READ LOG DMA EXT", WAKES },
        { 0x94, "STANDBY IMMEDIATE", QUIET },
        { 0x95, "IDLE IMMEDIATE", WAKES },
        { 0x96, "STANDBY", QUIET },
        { 0x97, "IDLE", WAKES },
        { 0x98, "CHECK POWER MODE", QUIET },
        { 0x99, "SLEEP", QUIET },
        { 0xa1, "IDENTIFY PACKET DEVICE", DOUBTFUL },
        { 0xb1, "DEVICE CONFIGURATION", WAKES },
        { 0xb4, "SANITIZE DEVICE", WAKES },
        { 0xc6, "SET MULTIPLE MODE", WAKES },
        { 0xc8, "READ DMA", WAKES },
        { 0xca, "WRITE DMA", WAKES },
        { 0xe0, "STANDBY IMMEDIATE", QUIET },
        { 0xe1, "IDLE IMMEDIATE", WAKES },
        { 0xe2, "STANDBY", QUIET },
        { 0xe3, "IDLE", WAKES },
        { 0xe5, "CHECK POWER MODE", QUIET },
        { 0xe6, "SLEEP", QUIET },
        { 0xe7, "FLUSH CACHE", DOUBTFUL },
        { 0xea, "FLUSH CACHE EXT", DOUBTFUL },
        { 0xec, "IDENTIFY DEVICE", DOUBTFUL },
        { 0xef, "SET FEATURES", WAKES },
        { 0xf5, "SECURITY FREEZE LOCK", WAKES },
        { 0xf8, "READ NATIVE MAX ADDRESS", WAKES },
};

/* SMART subcommands, by the value of the features register. */
static const Command smart_commands[] = {
        { 0xd0, "SMART READ DATA", WAKES },          { 0xd1, "SMART READ THRESHOLDS", WAKES },
        { 0xd2, "SMART ATTRIBUTE AUTOSAVE", WAKES }, { 0xd4, "SMART EXECUTE OFF-LINE IMMEDIATE", WAKES },
        { 0xd5, "SMART READ LOG", WAKES },           { 0xd6, "SMART WRITE LOG", WAKES },
        { 0xd8, "SMART ENABLE OPERATIONS", WAKES },  { 0xd9, "SMART DISABLE OPERATIONS", WAKES },
        { 0xda, "SMART RETURN STATUS", WAKES },
};

static const Command *command_find(const Command *table, size_t n, uint8_t code) {
        for (size_t i = 0; i < n; i++)
                if (table[i].code == code)
                        return table + i;

        return NULL;
}
#define FIND(table, code) command_find(table, ELEMENTSOF(table), code)

/* Extracts the ATA command and features register from an ATA PASS-THROUGH command of SAT. */
static bool get_passed_ata_command(const uint8_t *cdb, size_t len, uint8_t *ret_command, uint8_t *ret_features) {
        if (len >= 16 && cdb[0] == 0x85) {
                *ret_command = cdb[14];
                *ret_features = cdb[4];
        } else if (len >= 12 && cdb[0] == 0xa1) {
                *ret_command = cdb[9];
                *ret_features = cdb[3];
        } else
                return false;

        return true;
}

const char *command_name(const uint8_t *cdb, size_t len, char buf[static COMMAND_NAME_MAX]) {
        const Command *c;
        const char *kind;
        uint8_t code, features;

        if (len == 0)
                return "a command";

        if (!get_passed_ata_command(cdb, len, &code, &features)) {
                code = cdb[0];
                kind = "SCSI command";
                /* READ CAPACITY(16) is a service action of SERVICE ACTION IN, and shares the table row of READ CAPACITY(10). */
                if (code == 0x9e && len > 1 && (cdb[1] & 0x1f) == 0x10)
                        code = 0x25;
                c = FIND(scsi_commands, code);
        } else if (code == 0xb0) {
                code = features;
                kind = "SMART subcommand";
                c = FIND(smart_commands, code);
        } else {
                kind = "ATA command";
                c = FIND(ata_commands, code);
        }

        if (c)
                return c->name;

        snprintf(buf, COMMAND_NAME_MAX, "%s %02Xh", kind, code);
        return buf;
}

const char *command_describe(const uint8_t *cdb, size_t len, char buf[static COMMAND_NAME_MAX]) {
        char name[COMMAND_NAME_MAX];
        uint8_t code, features;

        if (get_passed_ata_command(cdb, len, &code, &features) && (code == 0xb1 || code == 0xb4 || code == 0xef))
                snprintf(buf, COMMAND_NAME_MAX, "%s %02Xh", command_name(cdb, len, name), features);
        else
                snprintf(buf, COMMAND_NAME_MAX, "%s", command_name(cdb, len, name));
        return buf;
}

static Effect effect_of(const uint8_t *cdb, size_t len) {
        uint8_t code, features;
        const Command *c;

        if (len == 0)
                return WAKES;
        c = get_passed_ata_command(cdb, len, &code, &features) ? FIND(ata_commands, code) : FIND(scsi_commands, cdb[0]);
        return c ? c->effect : WAKES;
}

bool command_is_quiet(const uint8_t *cdb, size_t len) {
        if (len == 0)
                return false;

        /* START STOP UNIT is quiet if it stops the drive, or sets POWER CONDITION 3h (standby) or Bh (standby at once,
         * by a timer of zero). POWER CONDITION 2h (idle) spins up a drive in standby, like the ATA command IDLE
         * IMMEDIATE. */
        if (cdb[0] == 0x1b && len >= 5) {
                unsigned condition = cdb[4] >> 4;

                return condition == 0 ? (cdb[4] & 1) == 0 : condition == 0x3 || condition == 0xb;
        }

        return effect_of(cdb, len) & QUIET;
}

bool command_may_spin_up(const uint8_t *cdb, size_t len) {
        return effect_of(cdb, len) & DOUBTFUL;
}

bool command_is_medium(const uint8_t *cdb, size_t len) {
        /* The 32-byte forms of READ, VERIFY, WRITE, WRITE AND VERIFY and WRITE SAME: service actions 0009h to 000Dh of
         * SBC-4. */
        if (len >= 10 && cdb[0] == 0x7f)
                return cdb[8] == 0 && cdb[9] >= 0x09 && cdb[9] <= 0x0d;

        return effect_of(cdb, len) & MEDIUM;
}

/* ---- sense data ---- */

const char *sense_key_name(uint8_t key) {
        static const char *const names[16] = {
                "no sense",       "recovered error", "not ready",      "medium error",
                "hardware error", "illegal request", "unit attention", "data protect",
                "blank check",    "vendor specific", "copy aborted",   "aborted command",
                "reserved",       "volume overflow", "miscompare",     "completed",
        };

        return names[key & 0xf];
}

/* Additional sense codes that are more specific than the sense key. */
static const Command additional_codes[] = {
        { 0x1a, "parameter list length error", 0 },
        { 0x20, "invalid command operation code", 0 },
        { 0x24, "invalid field in CDB", 0 },
        { 0x25, "logical unit not supported", 0 },
        { 0x26, "invalid field in parameter list", 0 },
        { 0x27, "write protected", 0 },
        { 0x2c, "command sequence error", 0 },
        { 0x39, "saving parameters not supported", 0 },
        { 0x3a, "medium not present", 0 },
        { 0x44, "internal target failure", 0 },
        { 0x5e, "low power condition", 0 },
};

const char *sense_describe(uint8_t key, uint8_t asc, uint8_t ascq, char buf[static SENSE_TEXT_MAX]) {
        const Command *c = FIND(additional_codes, asc);

        snprintf(buf, SENSE_TEXT_MAX, "%s%s%s, sense %Xh %02Xh/%02Xh", sense_key_name(key), c ? ": " : "",
                 c ? c->name : "", key & 0xfU, asc, ascq);
        return buf;
}
