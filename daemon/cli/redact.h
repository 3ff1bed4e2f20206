/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Replaces the serial numbers and WWNs of a drive by hashes of the same length, in the drive's answers and in texts. A hash depends on the
 * machine ID: a drive has the same hash in all reports of a machine, and a guessed serial number cannot be compared with a hash. */

#include "recorder.h"

#define SECRET_MAX 256U /* the kernel's WWN of an NVMe drive without EUI64 is long */

typedef struct Secret {
        uint8_t bytes[SECRET_MAX], hash[SECRET_MAX];
        size_t n;
        bool number; /* a WWN as a binary number. The comparison ignores the last four bits, which differ for each port of a SAS drive */
} Secret;

typedef struct Redaction {
        GROWING_ARRAY(Secret, secrets); /* the longest first, because a secret may be a part of a longer one */
} Redaction;

/* Adds a serial number, or a WWN as text ("0x5000…", "eui.0025…"). NULL and blank texts are ignored. Returns a negative errno if there is no
 * machine ID. */
int redact_add_serial(Redaction *r, const char *serial);
int redact_add_wwn(Redaction *r, const char *wwn);

/* Adds the serial number and the WWN in the answer, if the command is IDENTIFY DEVICE or NVMe Identify. */
int redact_learn(Redaction *r, const Exchange *x);

/* Replaces all secrets in the text. */
void redact_text(const Redaction *r, char *text);

/* Replaces all secrets in the data of the command, and overwrites fields with zeros: identifiers, vendor-specific fields of identity data,
 * and all data of commands for which no field is known. */
void redact_exchange(const Redaction *r, Exchange *x);

void redact_done(Redaction *r);
