/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Prometheus metrics of drives and their settings. drivekeep-fleet(7) documents their names, labels and units, which are stable. Data
 * comes from the records and the configuration files: no command is sent to drives. */

#include "records.h"

/* `drivekeep status --metrics`: prints to stdout, or atomically replaces the file of --output. Does not write the file while a drive
 * that stores the file is in standby. Returns EXIT_WANTED, or EXIT_BAD_INPUT after it has reported the error. */
int metrics_show(const Records *records, size_t n, const Options *o);
