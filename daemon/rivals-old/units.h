/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What becomes of systemd's units, as far as their files tell. */

#include "tree.h"

typedef enum UnitState {
        UNIT_ABSENT,
        UNIT_MASKED,
        UNIT_DISABLED, /* it could be enabled, and is not */
        UNIT_STATIC,   /* nothing to enable: others start it */
        UNIT_ENABLED,  /* something wants it, or its timer */
} UnitState;

extern const char *const unit_directories[]; /* in the order of their precedence; NULL-terminated */

/* 0 or -ENOMEM. */
int unit_state(const Tree *t, const char *name, UnitState *ret);
