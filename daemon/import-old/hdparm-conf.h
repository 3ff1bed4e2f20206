/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the writer of an /etc/hdparm.conf meant, with remarks wherever Debian 12 would have done something else
 * (hdparm-debian.h). Takes the grammar as people write it: braces and "=" where they like, comments behind a value. */

#include "import.h"
#include "links.h"

/* Fills `ret`, which is empty. `links` may be NULL: nothing is known of this machine. */
int hdparm_conf_read(const char *text, size_t size, const Links *links, Import *ret);
