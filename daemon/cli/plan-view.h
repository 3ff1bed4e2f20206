/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What `drivekeep plan` shows: the plans of drives that were read and not written. */

#include <json.h>
#include <stdio.h>

#include "plan.h"
#include "table.h"
#include "verb.h"

typedef struct DrivePlan {
        const Drive *drive; /* borrowed */
        Wishes wishes;
        Plan plan; /* its steps point into `wishes`, so a DrivePlan stays where it is */
} DrivePlan;

void drive_plan_done(DrivePlan *p);

/* "write", or the word of the verdict that the step has without being written. */
const char *step_action(const Step *s);

/* The settings table lends its range to steps that no row of the drive's own kind fits. */
int plan_view_table(const DrivePlan *plans, size_t n, const SettingTable *t, Table **ret);
int plan_view_json(const DrivePlan *plans, size_t n, const SettingTable *t, struct json_object **ret);
int plan_view_notes(const DrivePlan *plans, size_t n, FILE *f);

/* To stdout. Returns EXIT_WANTED when nothing is left to be done, EXIT_NOT_WANTED, or a negative errno. */
int plan_view_print(const DrivePlan *plans, size_t n, const SettingTable *t, bool json);
