/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Commands in the files of those who run them at set times: systemd's units and crontabs. */

#include "import.h"

int unit_file_read(const char *text, size_t size, Import *ret);
int crontab_read(const char *text, size_t size, Import *ret);
