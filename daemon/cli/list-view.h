/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What `drivekeep list` shows: drives, and beside each the count of its record's settings. */

#include <json.h>

#include "drive.h"
#include "records.h"
#include "table.h"

int list_view_table(Drive *const *drives, size_t n, const Records *records, Table **ret);
int list_view_json(Drive *const *drives, size_t n, const Records *records, struct json_object **ret);

/* To stdout. */
int list_view_print(Drive *const *drives, size_t n, const Records *records, bool json);
