/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The sockets at which systemd starts the processes that have rights: how the service reaches them, and how they know the service. */

#include "macro.h"

/* Connects to a socket of messages (SOCK_SEQPACKET), which has systemd start the process behind it. Returns a descriptor. */
int unix_connect(const char *path);

/* Is the user at the other end the one that the listening socket's file belongs to (SocketUser= of its unit)? That needs no lookup of
 * names; the file must be where nobody else can put another. */
bool unix_knows_peer(int fd);
