/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Looks up SCSI and ATA commands by their CDB: the name of a command, and whether it spins up a drive in standby. Sends
 * no command. Sources: SPC-5, SBC-4, SAT-5, ACS-4. */

#include "macro.h"

#define COMMAND_NAME_MAX 64U
#define SENSE_TEXT_MAX 96U

/* Returns the name of a command: "LOG SENSE". SAT pass-through commands have the name of their ATA command or SMART subcommand: "SMART READ
 * DATA", "ATA command F6h". The name is in `buf`, or is a constant. */
const char *command_name(const uint8_t *cdb, size_t len, char buf[static COMMAND_NAME_MAX]);

/* Like command_name(), but adds the features register to commands with many functions: "SET FEATURES 05h". */
const char *command_describe(const uint8_t *cdb, size_t len, char buf[static COMMAND_NAME_MAX]);

/* Describes sense data: "illegal request: invalid field in CDB, sense 5h 24h/00h". */
const char *sense_describe(uint8_t key, uint8_t asc, uint8_t ascq, char buf[static SENSE_TEXT_MAX]);

/* Returns the name of a sense key: "aborted command". All 16 keys of SPC-4 have a name. */
const char *sense_key_name(uint8_t key);

/* Returns true if no drive in standby spins up for the command: CHECK POWER MODE, REQUEST SENSE, TEST UNIT READY, INQUIRY, REPORT LUNS, and
 * commands that spin a drive down. */
bool command_is_quiet(const uint8_t *cdb, size_t len);

/* Returns true if only some drives in standby spin up for the command: IDENTIFY DEVICE, cache flushes and discards. */
bool command_may_spin_up(const uint8_t *cdb, size_t len);

/* Returns true if the kernel's block layer sends this kind of command: reads, writes, verifies, cache flushes and
 * discards. */
bool command_is_medium(const uint8_t *cdb, size_t len);
