/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is known of drives and their settings as metrics of Prometheus: names, labels and units are documented in drivekeep-fleet(7), and
 * stay as they are. From the records and the files of the configuration: no drive is asked. */

#include "records.h"

/* `drivekeep status --metrics`: to stdout, or to the file of --output, which is exchanged as a whole. It stays as it is while a drive that
 * it lies on sleeps. Returns EXIT_WANTED, or EXIT_BAD_INPUT, having said why. */
int metrics_show(const Records *records, size_t n, const Options *o);
