/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Gentoo's and others' /etc/conf.d/hdparm: NAME_args="FLAGS", where a name is a drive's, or "all", "sata_all", "pata_all". */

#include "import.h"

/* Is it such a line? */
bool hdparm_args_fits(const char *s);

int hdparm_args_read(char *s, unsigned line, Import *ret);
