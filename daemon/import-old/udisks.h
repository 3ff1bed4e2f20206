/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* udisks2's drive files, /etc/udisks2/VENDOR-MODEL-SERIAL.conf: the [ATA] group's five keys. The file's name is the
 * drive's. */

#include "import.h"

int udisks_read(const char *file, const char *text, size_t size, Import *ret);
