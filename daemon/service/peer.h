/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who is at the other end of a connection that was accepted. */

#include "macro.h"

/* Is it the user that the listening socket's file belongs to (SocketUser= of its unit)? That needs no lookup of names; the file
 * must be where nobody else can put another. */
bool peer_owns_socket(int fd);
