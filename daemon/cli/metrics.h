/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Prints Prometheus metrics of drives and their settings. The names, labels and units of the metrics are stable; drivekeep-fleet(7)
 * documents them. The data comes from the records and the configuration files, so no command is sent to drives. */

#include "records.h"

/* `drivekeep status --metrics`: prints to stdout, or atomically replaces the file of --output. Does not write the file while a drive
 * that stores the file is in standby. Returns EXIT_WANTED, or EXIT_BAD_INPUT after it has reported the error. */
int metrics_show(const Records *records, size_t n, const Options *o);
