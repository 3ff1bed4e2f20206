/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The commands that drives are sent, by their CDB: what they are called, and which of them wake a drive. Pure. (SPC-5, SBC-4, SAT-5,
 * ACS-4) */

#include "macro.h"

#define COMMAND_NAME_MAX 64U
#define SENSE_TEXT_MAX 96U

/* The name of a command, by its CDB: what the pass-through commands of SAT carry by the name of the ATA command, and of the
 * subcommand where that says more: "SMART READ DATA", "LOG SENSE", "ATA command F6h". */
const char *command_name(const uint8_t *cdb, size_t len, char buf[static COMMAND_NAME_MAX]);

/* The same for messages about an answer: where one command does many things, by its features register: "SET FEATURES 05h". */
const char *command_describe(const uint8_t *cdb, size_t len, char buf[static COMMAND_NAME_MAX]);

/* What sense data says: "illegal request: invalid field in CDB, sense 5h 24h/00h". */
const char *sense_describe(uint8_t key, uint8_t asc, uint8_t ascq, char buf[static SENSE_TEXT_MAX]);

/* The sense key alone: "aborted command". Of SPC-4's 16 keys all have a name. */
const char *sense_key_name(uint8_t key);

/* Is this a command that no drive in standby spins up for: CHECK POWER MODE, REQUEST SENSE, TEST UNIT READY, INQUIRY, REPORT
 * LUNS, and those that put a drive to sleep? */
bool command_is_quiet(const uint8_t *cdb, size_t len);

/* Is this a command that some drives in standby spin up for, and others do not: IDENTIFY DEVICE, and what only flushes the
 * drive's cache or discards sectors? */
bool command_is_doubtful(const uint8_t *cdb, size_t len);

/* Is this a command of the kernel's block layer, one that moves data of the medium or flushes the drive's cache? */
bool command_is_medium(const uint8_t *cdb, size_t len);
