/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <argp.h>
#include <locale.h>

#include "verb.h"

const char *argp_program_version = "drivekeep " DRIVEKEEP_VERSION;
error_t argp_err_exit_status = EXIT_BAD_INPUT;

int main(int argc, char *argv[]) {
        /* Table layout needs the width of UTF-8 characters. All output is UTF-8, whatever the user's locale. */
        if (!setlocale(LC_CTYPE, "C.UTF-8"))
                (void) setlocale(LC_CTYPE, "");

        return verb_dispatch(argc, argv);
}
