/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Replaces outlets_check(), which checks the units that write metrics and send mail. */

#include "outlet.h"

/* Missing program that is needed to send mail; NULL: no program is missing. */
static const char *lacking;
void outlets_check(const char *root, Complaints *to) {
        ck_assert_str_eq(root, "");
        if (lacking)
                ck_assert_int_eq(complain(to, COMPLAINT_NOTICE, "/x.service", 3, 1, "no alerts are sent: %s", lacking),
                                 0);
}
