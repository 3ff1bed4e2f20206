/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The parts of a visit, each of which reads, writes and verifies its settings before the next begins; and what one setting has to
 * wait for. */

#include "plan.h"

/* What changes the readings of others goes first. What is needed only where another setting cannot be had waits until
 * that has its verdict; and what puts the drive to sleep, until nothing else is to be read back. */
typedef enum Turn {
        TURN_FIRST,
        TURN_MAIN,
        TURN_SPARE,
        TURN_DEED,
        _TURN_MAX,
} Turn;

/* Settings that exclude each other have the same turn: which one is written shows when both have been read. */
Turn plan_turn(const Plan *p, const Step *s);

/* The step that wants this state, or NULL. Where its parts are wanted one by one: of them one that does not hold, if there
 * is any. */
const Step *plan_find_state(const Plan *p, const char *name);
