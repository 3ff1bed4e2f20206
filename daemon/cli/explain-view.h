/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Why a drive has the settings it has: rule by rule, and setting by setting. */

#include <json.h>
#include <stdio.h>

#include "config.h"

/* `setting`: only that state; NULL: all. */
typedef struct Explanation {
        const Config *config;
        const SettingTable *settings;
        const Drive *drive;
        bool on_battery;
        const char *setting;
} Explanation;

int explain_print(const Explanation *e, FILE *f);
int explain_json(const Explanation *e, struct json_object **ret);
