/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A stand-in for the check of the units for metrics and mail. */

#include "outlet.h"

/* The program that mail needs and that is missing; NULL: none is missing. */
static const char *lacking;
void outlets_check(const char *root, Complaints *to) {
        ck_assert_str_eq(root, "");
        if (lacking)
                ck_assert_int_eq(complain(to, COMPLAINT_NOTICE, "/x.service", 3, 1, "no alerts are sent: %s", lacking),
                                 0);
}
